"""Frames, metrics and samples of a call whose result is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from recframe.evaluation.recorder import EXPECTED, HITS
from recframe.evaluation.required_columns import needs_of
from recframe.evaluation.trainings import is_first
from recframe.frames.collecting import Collect
from recframe.frames.eager_data import at_hand
from recframe.frames.inputs import Inputs, without_models
from recframe.frames.roles import Segment, Side, label_columns
from recframe.metrics.language.definition import Metric

SOME = 1_000
"""Rows that most often tell that there is nothing to warn of."""


def traits_of(inputs: Inputs) -> set[str]:
    """Return traits of frames and options, by which rules that cannot apply are left out."""
    context = inputs.context
    traits = {
        "scores": inputs.scored,
        "ranks": not inputs.scored,
        "fractions": not inputs.scored and inputs.schema["rank"].is_float(),
        "judged": inputs.truth is None,
        "truth": inputs.truth is not None,
        "models": bool(inputs.model),
        "segments": bool(inputs.segments),
        "weights": context.weight is not None,
        "level": context.min_relevance not in {None, "any"} and bool(inputs.judged),
    }
    return {name for name, is_so in traits.items() if is_so}


@dataclass(frozen=True)
class Seen:
    """The frames of a call, its metrics and its result, and a way to collect further plans."""

    inputs: Inputs
    metrics: Sequence[Metric[...]]
    result: pl.DataFrame
    run: Collect
    depths: Mapping[Any, int] | None = None
    """The models whose lists end before others', where they were looked for; see `model_depths.unequal_depths`."""

    @cached_property
    def traits(self) -> set[str]:
        """Traits of the call, by which warnings that cannot apply are left out."""
        inputs, names = (
            self.inputs,
            {"recommendations": "lists", "truth": "truth", "users": "users"},
        )
        found = {f"{names[name]} at hand" for name in inputs.given.keys() & names}
        if inputs.truth is not None or len(inputs.sides) > 1:
            found.add("sides")
        if self.labels:
            found.add("labels")
        return found | traits_of(inputs)

    @property
    def title(self) -> str:
        """The title of the frame that has the lists."""
        return self.main.title

    @property
    def main(self) -> Side:
        """The frame with the lists, including all its columns."""
        return self.inputs.sides["recommendations"]

    @cached_property
    def highest(self) -> dict[Metric[...], float]:
        """The metrics that the result has, each with its largest value, 0 where all are null."""
        columns = {metric: str(metric) for metric in self.metrics}
        found: dict[Metric[...], Any] = {
            one: self.result[name].max()
            for one, name in columns.items()
            if name in self.result.columns
        }
        return {one: value or 0.0 for one, value in found.items()}

    @cached_property
    def counting_hits(self) -> dict[Metric[...], float]:
        """The metrics that are above 0 only where a list has a relevant item, each with its largest value."""
        reads = HITS | EXPECTED
        return {one: value for one, value in self.highest.items() if needs_of(one).columns & reads}

    @property
    def found_nothing(self) -> bool:
        """Whether every metric is 0 or null."""
        return bool(self.highest) and not any(self.highest.values())

    def found_hardly_anything(self, most: float) -> bool:
        """Whether there are metrics that count hits, and all of them are null or below a value."""
        return bool(self.counting_hits) and max(self.counting_hits.values()) < most

    @property
    def found_a_hit(self) -> bool:
        """Whether the result shows that a list has a relevant item."""
        return any(value > 0 for value in self.counting_hits.values())

    @property
    def lists(self) -> pl.DataFrame:
        """The frame of the lists, of calls with the trait "lists at hand"."""
        return self.inputs.given["recommendations"]

    @property
    def truth(self) -> pl.DataFrame:
        """The frame of the truth, of calls with the trait "truth at hand"."""
        return self.inputs.given["truth"]

    @property
    def parts(self) -> list[str]:
        """The segments of the result that both lists and truth have as columns, or a judged frame."""
        return [one for one in self.inputs.inside("row") if one not in self.inputs.units]

    @property
    def n_models(self) -> int:
        """The number of models that the result has, 1 where none is bound."""
        name = self.inputs.context.names["model"]
        if not self.inputs.model:
            return 1
        return self.result[name].drop_nulls().n_unique() if name in self.result.columns else 0

    @property
    def deepest(self) -> int | None:
        """The largest cut-off among the metrics; None where all of them read whole lists."""
        return max((metric.k for metric in self.metrics if metric.k is not None), default=None)

    @cached_property
    def sample(self) -> pl.DataFrame:
        """The first thousand rows of large eager lists and two thousand drawn from all; all rows of others."""
        if len(self.lists) <= 4 * SOME:
            return self.lists
        drawn = self.lists.sample(2 * SOME, with_replacement=True, seed=0)
        return pl.concat([self.lists.head(SOME), drawn])

    @cached_property
    def labels(self) -> list[Segment]:
        """The unbound columns of the lists whose values may name systems."""
        return label_columns(self.main, self.inputs.segments)

    @cached_property
    def some_users(self) -> list[pl.Series]:
        """Masks of eager lists: the rows of the first user, of one in the middle, and of the last one."""
        users = self.lists["user"]
        if not len(users) or users.dtype.is_nested() or users.dtype == pl.Binary:
            return []  # which do not compare with a value
        places = {users[place]: place for place in (0, len(users) // 2, len(users) - 1)}
        return [
            users == users.slice(place, 1) for user, place in places.items() if user is not None
        ]

    @property
    def rows_of_some_users(self) -> pl.DataFrame:
        """All rows of three users of large eager lists; all rows of others."""
        if len(self.lists) <= 4 * SOME:
            return self.lists
        rows = [self.lists.filter(mine) for mine in self.some_users]
        return pl.concat([self.lists.clear(), *rows])

    @cached_property
    def lists_of_some_users(self) -> list[pl.DataFrame]:
        """All rows of a few users, a frame for each: of three users of eager lists, of the first one of others.

        They have user, item, rank or score, and the labels under their names inside the plan.
        """
        training = ["training"] * (self.main.context.training is not None)
        if "lists at hand" in self.traits:
            # with strict=True they stand there already
            others = [label for label in self.labels if label.inside not in self.lists.columns]
            model = self.inputs.model * bool(self.inputs.context.without)
            taken = self.main.take([*model, *training], others) if others or training else None
            taken = None if taken is None else without_models(taken, self.inputs.context)
            labels = None if taken is None else at_hand(taken)
            if labels is not None and training:  # rows are those of one
                labels = labels.filter(is_first([])).drop(training)
            labels = None if labels is None else labels.drop(model)
            rows = self.lists if labels is None else self.lists.hstack(labels)
            return [rows.filter(mine) for mine in self.some_users]
        order = "score" if self.inputs.scored else "rank"
        taken = self.main.take(
            [*self.inputs.model, *training, "user", "item", order], self.labels
        ).lazy()
        taken = taken.filter(is_first(self.inputs.model)) if training else taken
        first = self.run(taken.select("user").head(SOME))["user"].drop_nulls()
        return [self.run(taken.filter(pl.col("user") == first[0]))] if len(first) else []

    def lengths(self) -> tuple[int, int]:
        """Return the number of rows of the lists' frame, and that of its first user."""
        if "lists at hand" in self.traits:
            return len(self.lists), int(self.some_users[0].sum()) if self.some_users else 0
        user = pl.col("user")
        counts = self.inputs.lists.select(rows=pl.len(), own=(user == user.first()).sum())
        n_rows, n_own = self.run(counts).row(0)
        return n_rows, n_own
