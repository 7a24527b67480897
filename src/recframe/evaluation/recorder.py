"""Recorder of the columns that a metric's words request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from recframe.evaluation import side_rows
from recframe.evaluation.side_rows import BY_WORTH, columns_of_features
from recframe.metrics.language.at import At, Source
from recframe.metrics.language.definition import Metric
from recframe.side_info.aggregation_levels import Levels, place_among

HITS = {"rank", "gain", "discount", "hits_so_far", "place_in_best_order"}
EXPECTED = {"hit", "first_hit", "exp_gain"}
BEST_ORDER = {"ideal_gain", "ideal_rank", "ideal_discount"}
RELEVANT = {"relevant_gain"} | BEST_ORDER
ABOVE = {"misses_above", "judged_misses_above", "graded_misses_above", "hits_above"}
LISTED = {
    "listed_rank",
    "whole_rank",
    "listed_tied",
    "listed_place",
    "listed_judged",
    "relevant_rank",
    *ABOVE,
    *side_rows.LISTED_PROPENSITIES,
}
OF_LISTED_RELEVANT = {"relevant_rank", "listed_tied", *ABOVE, *side_rows.LISTED_PROPENSITIES}
"""Columns of listed rows that only relevant rows need."""
WHOLE = {"whole_rank"}
"""Columns of whole lists, without a cut-off."""
PLACES = {"listed_place"}
PLACED = PLACES | ABOVE
"""Columns of listed rows that depend on other rows of the list."""
DTYPES = {
    "hits_so_far": pl.Int64,
    **dict.fromkeys(("listed_judged", "catalogue_relevant"), pl.Boolean),
}
"""Dtypes of columns other than Float64."""
KINDS = (
    RELEVANT,
    WHOLE,
    PLACES,
    PLACES | {"listed_rank"},
    side_rows.CUT,
    side_rows.CATALOGUE_HITS,
    side_rows.CATALOGUE_RELEVANT,
    side_rows.RELEVANT_PROPENSITIES,
)
"""Columns of one kind of rows, whose values are computed first."""
LIST_IDEAL = "list_ideal_rank@"
TOTALS = ("each_n_relevant", "each_n_not_relevant")


@dataclass
class Recorder:
    """Column source that records requests, so nothing else is built."""

    name: str = ""
    """Metric that is recorded, if only one."""
    asked: set[str] = field(default_factory=set)
    """Row columns that words of `At` read."""
    windows: list[pl.Expr] = field(default_factory=list)
    values: list[pl.Expr] = field(default_factory=list)
    """Values computed first, list by list, from one kind of rows, such as relevant ones."""
    worths: list[pl.Expr] = field(default_factory=list)
    """What relevant rows are worth, of which the most come first."""
    means: list[Metric[...]] = field(default_factory=list)
    """Metrics whose means are requested."""
    levels: Levels = field(default_factory=Levels)
    """Columns requested by words of `AtLists`."""

    def column(self, name: str) -> pl.Expr:
        """Return the column of a name."""
        self.asked.add(name)
        return pl.lit(0) if name == "steepness" else pl.col(name)

    def running(self, expression: pl.Expr) -> pl.Expr:
        """Return the column of a cumulative expression."""
        return pl.col(f"running {place_among(self.windows, expression)}")

    def total(self, value: pl.Expr) -> pl.Expr:
        """Return the sum of a value over the rows."""
        return value.sum()

    def by_worth(self, worth: Callable[[Source], pl.Expr]) -> str:
        """Return the name of the columns of an order of the relevant rows."""
        inner = Recorder()
        expression = worth(inner)
        self.asked |= inner.asked & {"steepness"}
        return f"{BY_WORTH}{place_among(self.worths, expression)}"

    def of_rows(self, value: Callable[[Source], pl.Expr]) -> pl.Expr:
        """Return the sum of a column that has the value on one row of each list."""
        inner = Recorder()
        expression = value(inner)
        names = inner.asked - {"steepness"}
        if (
            inner.windows
            or inner.values
            or not (any(names <= kind for kind in KINDS) or _is_of_an_order(names))
        ):
            return value(self)
        self.asked |= inner.asked - names
        return pl.col(f"of list {place_among(self.values, expression)}").sum()

    def mean(self, metric: Any, at: At) -> pl.Expr:
        """Return the column of another metric's mean."""
        label = f"mean {len(self.means)} of {self.name}"
        self.means.append(replace(metric, label=label, k=at.k))
        return pl.col(label)

    @property
    def read(self) -> set[str]:
        """The columns that are read, for a value or row by row."""
        read = [*self.values, *self.worths]
        return self.asked.union(*[value.meta.root_names() for value in read])

    def reads_relevant_alone(self) -> bool:
        """Return whether all relevant rows are read, and no other: every model then has rows of the same users."""
        others = any(self.values_of(kind) for kind in KINDS if kind is not RELEVANT)
        ideal = {name for name in self.asked if name.startswith(LIST_IDEAL)}
        of_relevant = {*HITS, *EXPECTED, *RELEVANT, *ideal, "steepness"}
        read = bool(self.asked & RELEVANT or self.values_of(RELEVANT))
        return read and not others and self.asked <= of_relevant

    def reads_lists(self) -> bool:
        """Whether a word needs more than the hits and the relevant rows."""
        others = {
            *LISTED,
            *side_rows.OF_LISTS,
            *side_rows.OF_PROPENSITIES,
            "each_n_not_relevant",
            side_rows.USER_WEIGHT,
        }
        return not others.isdisjoint(self.read) or bool(columns_of_features(self.read))

    def values_of(self, names: set[str]) -> list[pl.Expr]:
        """Return the values that are worked out from some columns, each under the name of its own column."""
        numbered = enumerate(self.values)
        return [
            value.alias(f"of list {number}")
            for number, value in numbered
            if names.issuperset(value.meta.root_names())
        ]

    def branches(
        self, keys: Sequence[str], rows: pl.LazyFrame, kind: set[str]
    ) -> list[pl.LazyFrame]:
        """Return the requests for one kind of rows: values per list, and columns read row by row."""
        values, columns = self.values_of(kind), sorted(self.asked & kind)
        branches = [rows.group_by(keys).agg(values)] if values else []
        return [*branches, rows.select(*keys, *columns)] if columns else branches


def _is_of_an_order(names: set[str]) -> bool:
    """Return whether columns are all of one row source by category, or of relevant rows by what they are worth."""
    by_category = [*columns_of_features(names).values()] == [names]
    return by_category or all(name.startswith(BY_WORTH) for name in names)
