"""What a call has in hand when it has its result: what notices look at, and the first, cheap questions to it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
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
from recframe.plan.trainings import is_first

SOME = 1_000
"""So many rows most often tell that there is nothing to warn of."""
SOME_USERS = 40
"""So many users of a frame cost four times as much to find as one does, and tell most of what all do."""
SHORT_CYCLES = 2 * 3 * 5 * 7
"""The lengths of lists are mostly divisible by one of these, and a step between sampled rows should not be."""


@dataclass(frozen=True)
class Seen:
    """The frames of a call, the metrics asked of them, the result, and a way to collect further plans."""

    inputs: Inputs
    metrics: Sequence[Metric[...]]
    result: pl.DataFrame
    run: Collect
    with_spread: bool = False
    """Whether the result has intervals or tests, which sums of squares and of fourth powers are made of."""
    depths: Mapping[Any, int] | None = None
    """The models whose lists end before others', where they were looked for; see `depths.unequal_depths`."""

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
    def counting_hits(self) -> list[str]:
        """The columns of the result that are above 0 only where a list has a relevant item."""
        return [
            str(one)
            for one in self.metrics
            if needs_of(one).columns & (HITS | EXPECTED) and str(one) in self.result.columns
        ]

    @property
    def found_a_hit(self) -> bool:
        """Whether the result shows that a list has a relevant item."""
        highest: list[Any] = [self.result[name].max() for name in self.counting_hits]
        return any((value or 0) > 0 for value in highest)

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

    @property
    def lists(self) -> pl.DataFrame | None:
        """The frame of the lists, where it is eager."""
        return self.inputs.given.get("recommendations")

    @property
    def truth(self) -> pl.DataFrame | None:
        """The frame of the truth, where one of its own was given and is eager."""
        return self.inputs.given.get("truth")

    @property
    def parts(self) -> list[str]:
        """The segments of the result that both lists and truth have as columns, or a judged frame."""
        return [one for one in self.inputs.inside("row") if one not in self.inputs.units]

    @property
    def models(self) -> pl.Series:
        """The models that the result has; none where it has no such column."""
        name = self.inputs.context.names["model"]
        if name not in self.result.columns:
            return pl.Series("model", [], dtype=self.inputs.schema["model"])
        return self.result[name].alias("model").unique().drop_nulls()

    @property
    def deepest(self) -> int | None:
        """The largest cut-off among the metrics; None where all of them read whole lists."""
        return max((one.k for one in self.metrics if one.k is not None), default=None)

    @cached_property
    def sample(self) -> pl.DataFrame | None:
        """The first thousand rows of eager lists, and two thousand from all over them."""
        if self.lists is None or len(self.lists) <= 4 * SOME:
            return self.lists
        step = len(self.lists) // (2 * SOME)
        while math.gcd(step, SHORT_CYCLES) > 1:
            step += 1
        places = [
            pl.int_range(SOME, eager=True),
            pl.int_range(0, len(self.lists), step, eager=True),
        ]
        # columns answer in a tenth of the time of a frame
        return pl.DataFrame([one.gather(pl.concat(places)) for one in self.lists.get_columns()])

    @property
    def rows_of_some_users(self) -> pl.DataFrame | None:
        """All rows of three users of eager lists."""
        if self.lists is None:
            return None
        return pl.concat([self.lists.clear(), *self.rows_of_each_user()])

    def list_in_one_place(self) -> pl.DataFrame | None:
        """Return the rows of a user in the middle of eager lists where each user's rows seem to be together.

        NOTE: a comparison of all users with one would find rows in other places too, in fifty times as long.
        """
        if self.lists is None or self.inputs.model or self.parts:
            return None
        start = max(0, len(self.lists) // 2 - SOME // 2)
        users = self.lists["user"].slice(start, SOME)
        if users.dtype.is_nested() or users.null_count():
            return None
        runs = users.rle_id()
        mine = runs == runs[len(runs) // 2] if len(runs) else runs
        n_users = users.n_unique()
        if (
            not len(runs)
            or mine[0]
            or mine[-1]
            or runs[-1] + 1 > n_users
            or 2 * n_users > len(runs)
        ):
            return None
        return self.lists.slice(start, SOME).filter(mine)

    def rows_of_each_user(self) -> Iterator[pl.DataFrame]:
        """Give all rows of eager lists of three users, one user after the other."""
        if self.lists is not None:
            yield from (self.lists.filter(mine) for mine in self._some_users())

    def users_all_over(self) -> pl.Series | None:
        """Return some users from all over eager lists, and some from all over the truth."""
        if self.lists is None or self.truth is None:
            return None
        columns = [one["user"] for one in (self.lists, self.truth)]
        if columns[0].dtype != columns[1].dtype or columns[0].dtype.is_nested():
            return None
        some = [one.gather_every(max(1, len(one) // SOME_USERS)) for one in columns]
        return pl.concat(some).drop_nulls().unique()

    @cached_property
    def labels(self) -> list[Segment]:
        """The columns of the lists that nothing is bound to and whose values may be the names of systems."""
        return label_columns(self.main, self.inputs.segments)

    @property
    def main_training(self) -> list[str]:
        """The training, where it is bound: the rows that are seen are of one of them."""
        return ["training"] * (self.main.context.training is not None)

    def of_some_users(self, name: str) -> Iterator[pl.Series]:
        """Give a column's values on the rows of a few users, one user after the other, and of a lazy frame of one.

        NOTE: comparing one column with a value takes a hundredth of a call, and tells whether a frame is worth a question.
        """
        given = self.inputs.given.get("recommendations")
        if given is None:
            yield from (rows[name] for rows in self._rows_of_a_user)
        else:
            yield from (given[name].filter(mine) for mine in self._some_users())

    def rows_with_labels(self) -> pl.DataFrame | None:
        """Return the rows of the same users: user, item, rank or score, and the labels under their names inside the plan.

        None where no row has a user.
        """
        given = self.inputs.given.get("recommendations")
        if given is None:
            return next(iter(self._rows_of_a_user), None)
        # with strict=True they stand there already
        others = [label for label in self.labels if label.inside not in given.columns]
        labels = at_hand(self.main.take(self.main_training, others))
        if labels is not None and self.main_training:  # rows are those of one
            labels = labels.filter(is_first([])).drop(self.main_training)
        rows = given if labels is None else given.hstack(labels)
        found = [rows.filter(mine) for mine in self._some_users()]
        return pl.concat(found) if found else None

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
        roles = [*self.inputs.model, *self.main_training, "user", "item", order]
        rows = self.main.take(roles, self.labels).lazy()
        rows = rows.filter(is_first(self.inputs.model)) if self.main_training else rows
        first = self.run(rows.select("user").head(SOME))["user"].drop_nulls()
        return [self.run(rows.filter(pl.col("user") == first[0]))] if len(first) else []
