"""What a call has in hand when it has its result: what notices look at, and the first, cheap questions to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from recframe.frames.at_hand import at_hand
from recframe.frames.collecting import Collect
from recframe.frames.inputs import Inputs
from recframe.frames.roles import Segment, Side, label_columns
from recframe.metrics.language.definition import Metric
from recframe.plan.needs import needs_of
from recframe.plan.recorder import EXPECTED, HITS

SOME = 1_000
"""So many rows most often tell that there is nothing to warn of."""
RESULT_COLUMNS = {"n_users", "n_lists"}


@dataclass(frozen=True)
class Seen:
    """The frames of a call, the metrics asked of them, the result, and a way to collect further plans."""

    inputs: Inputs
    metrics: Sequence[Metric[...]]
    result: pl.DataFrame
    run: Collect

    @property
    def title(self) -> str:
        """What the frame is called that has the lists."""
        return self.main.title

    @property
    def main(self) -> Side:
        """The frame that has the lists, with all its columns."""
        return self.inputs.sides["recommendations"]

    @property
    def found_nothing(self) -> bool:
        """Whether every metric came out as 0 or null."""
        return bool(self._largest) and not any(value for _, value in self._largest)

    def found_hardly_anything(self, most: float) -> bool:
        """Whether some metrics count hits, and all that do came out as less than so much, or null."""
        if all(value >= most for _, value in self._largest):
            return False
        counting = [
            value for one, value in self._largest if needs_of(one).columns & (HITS | EXPECTED)
        ]
        return bool(counting) and not any(value >= most for value in counting)

    @cached_property
    def _largest(self) -> list[tuple[Metric[...], float]]:
        """The metrics that the result has, each with its largest value, 0 where all are null."""
        columns, named = self.result.columns, [(one, str(one)) for one in self.metrics]
        found: list[tuple[Metric[...], Any]] = [
            (one, self.result[name].max()) for one, name in named if name in columns
        ]
        return [(one, value or 0.0) for one, value in found]

    def largest(self, metric: Metric[...]) -> float:
        """Return the largest value of a metric, 0 where all are null or the result has none."""
        return next((value for one, value in self._largest if one is metric), 0.0)

    @cached_property
    def labels(self) -> list[Segment]:
        """The columns of the lists that nothing is bound to and whose values may be the names of systems."""
        return label_columns(self.main, self.inputs.segments)

    def of_some_users(self, name: str) -> Iterator[pl.Series]:
        """Give a column's values on the rows of a few users, one user after the other, and of a lazy frame of one.

        NOTE: comparing one column with a value takes a hundredth of a call, and tells whether a frame is worth a question.
        """
        given = self.inputs.given.get("recommendations")
        if given is None:
            yield from (rows[name] for rows in self._rows_of_a_user)
        else:
            yield from (given[name].filter(mine) for mine in self._some_users())

    def rows_with_labels(self) -> pl.DataFrame:
        """Return the rows of the same users: user, item, rank or score, and the labels under their names inside the plan."""
        given = self.inputs.given.get("recommendations")
        if given is None:
            return pl.concat(self._rows_of_a_user)
        # with strict=True they stand there already
        others = [label for label in self.labels if label.inside not in given.columns]
        labels = at_hand(self.main.take([], others))
        rows = given if labels is None else given.hstack(labels)
        return pl.concat([rows.filter(mine) for mine in self._some_users()])

    def _some_users(self) -> Iterator[pl.Series]:
        """Give which rows of an eager frame are the first user's, those of the one in the middle, and the last one's."""
        users = self.inputs.given["recommendations"]["user"]
        if not len(users) or users.dtype.is_nested() or users.dtype == pl.Binary:
            return  # which do not compare with a value
        picked = {users[place]: place for place in (0, len(users) // 2, len(users) - 1)}
        for user, place in picked.items():
            if user is not None:
                if user not in self._rows_of_users:
                    self._rows_of_users[user] = users == users.slice(place, 1)
                yield self._rows_of_users[user]

    @cached_property
    def _rows_of_users(self) -> dict[Any, pl.Series]:
        """Which rows are a user's, of the users that were asked for: several notices ask, and a comparison is what costs."""
        return {}

    def lengths(self) -> tuple[int, int]:
        """Return how many rows the frame of the lists has, and how many of them are the first user's."""
        given = self.inputs.given.get("recommendations")
        if given is not None:
            return len(given), next((int(mine.sum()) for mine in self._some_users()), 0)
        user = pl.col("user")
        counts = self.inputs.lists.select(rows=pl.len(), own=(user == user.first()).sum())
        n_rows, n_own = self.run(counts).row(0)
        return n_rows, n_own

    @cached_property
    def _rows_of_a_user(self) -> list[pl.DataFrame]:
        order = "score" if self.inputs.scored else "rank"
        rows = self.main.take(["user", "item", order], self.labels).lazy()
        first = self.run(rows.select("user").head(SOME))["user"].drop_nulls()
        return [self.run(rows.filter(pl.col("user") == first[0]))] if len(first) else []
