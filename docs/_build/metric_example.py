"""A metric's worked example: the frames that its words ask for, the call, and the numbers that recframe gives at build time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import metric_shop as shop
import polars as pl

import recframe as rf
from recframe.evaluation.required_columns import Needs, is_of_segment, needs_of
from recframe.metrics.language.definition import Metric
from recframe.side_info.aggregation_levels import Level

SIDES = {
    "relevance": "truth",
    "catalogue": "items",
    "propensity": "train",
    "items": "items",
    "train": "train",
    "reference": "reference",
}
"""Which frame gives what a fact needs."""
ORDER = ("truth", "train", "items", "reference")


@dataclass(frozen=True)
class Example:
    """A metric, asked of the shop's users."""

    metric: Metric[...]
    users: tuple[str, ...]
    more: tuple[str, ...] = ()
    """Frames beside those that it needs."""

    @cached_property
    def needs(self) -> Needs:
        """What the metric reads."""
        return needs_of(self.metric)

    @cached_property
    def facts(self) -> set[str]:
        """The names of the facts of side frames that it reads."""
        return {one.builder.build.__name__ for one in self.needs.facts}

    @property
    def judged(self) -> bool:
        """Whether it tells items that were judged not relevant from those that nobody judged."""
        return any("judged" in one or "not_relevant" in one for one in self.needs.columns)

    @property
    def priced(self) -> bool:
        """Whether it reads a number of the items."""
        return "number" in self.facts

    @property
    def by(self) -> str | None:
        """The property of items that it is asked by, where it compares groups of items with each other."""
        return "genre" if Level.ACROSS in self.needs.levels else None

    @cached_property
    def sides(self) -> list[str]:
        """The frames beside the recommendations."""
        asked = {
            SIDES[need] for one in self.needs.facts for need in one.builder.needs if need in SIDES
        }
        asked |= {"truth"} if self.needs.reads_relevance else set()
        asked |= {"items"} if self.by else set()
        return [side for side in ORDER if side in asked.union(self.more)]

    def frame(self, side: str) -> pl.DataFrame:
        """Return a frame of these users."""
        return shop.frame_of(side, self.users, judged=self.judged, priced=self.priced)

    @property
    def rec(self) -> rf.Rec[pl.DataFrame]:
        """The recommendations with the side frames bound."""
        return self.frame("recs").rec(**{side: self.frame(side) for side in self.sides})

    @property
    def call(self) -> str:
        """The call, as it is written behind the frames."""
        bound = ", ".join(f"{side}={side}" for side in self.sides)
        settings = [f"{name}={value!r}" for name, value in self.metric.settings]
        by = [f'by="{self.by}"'] if self.by else []
        told = ", ".join([f"k={self.metric.k}", *settings, *by])
        return f"recs.rec({bound}).{self.metric.name}({told})"

    @property
    def code(self) -> str:
        """The whole example, to be pasted."""
        told = {"judged": self.judged, "priced": self.priced}
        makes = [shop.code_of(one, self.users, **told) for one in ("recs", *self.sides)]
        imports = ["import polars as pl"] * any("pl." in line for line in makes)
        shown = self.call if self.by else f"round({self.call}, 4)"
        return "\n".join([*imports, "import recframe as rf", "", *makes, "", shown])

    @property
    def output(self) -> str:
        """What the example shows."""
        known: dict[str, Any] = {}
        *statements, last = self.code.rpartition("\n")
        exec("".join(statements), known)  # noqa: S102  our own code, that the page shows
        return repr(eval(last, known))  # noqa: S307  likewise


GIVEN: dict[str, dict[str, Any]] = {"corrected": {"n_items": 300, "n_negatives": 4}}
"""Parameters whose defaults are not those of so small a shop."""


def example_of(metric: Metric[...]) -> Example:
    """Return the example of a metric: one list, or for one of all lists together those of three users."""
    given: Any = metric
    metric = given(**GIVEN.get(metric.name, {}))
    return Example(metric @ shop.K, shop.ALL if is_of_segment(metric @ shop.K) else (shop.ME,))
