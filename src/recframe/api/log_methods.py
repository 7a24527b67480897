"""Methods of `rec` on a log: its splits, and its core."""

from __future__ import annotations

from typing import Any, Generic

from recframe.api import argument_errors
from recframe.api.argument_errors import F
from recframe.api.splits import Splits
from recframe.errors import warn
from recframe.splits.log import core_of, log_of
from recframe.statistics.options import whole


class OfLogs(Generic[F]):
    """Methods of a frame of interactions."""

    @property
    def split(self) -> Splits[F]:
        """Rules that split a log into train and truth: `log.rec(time="bought_at").split.by_time(last="7d")`.

        `split.by_time` and `split.rolling` go by the time line, `split.last_per_user` by each user's last rows, `split.random`
        by chance and `split.by_user` by users. Each returns a `Split`: labels, train, truth, folds, audit and baselines.

        >>> import polars as pl, recframe
        >>> log = pl.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "day": [1, 2, 3]})
        >>> log.rec(time="day").split.by_time(last=1).truth["user"].to_list()
        [2]
        """
        return Splits(self)

    @argument_errors.understood
    def core(
        self,
        users: int = 5,
        items: int = 5,
        *,
        rounds: int | None = None,
        after_split: bool = False,
    ) -> F:
        """Return the rows of a log whose user has at least `users` rows and whose item has at least `items`.

        A round leaves out users of fewer rows, then items of fewer of the rows that are left. Rounds go on until all that are
        left have enough, the k-core; `rounds` says how many there are instead. Rows without a user or an item are left out, the
        others keep their order and columns. The frame is of the kind of the log. A LazyFrame stays lazy with `rounds`; without,
        its counts of (user, item) are collected at the call.

        Of a whole log it warns, since it counts rows that are the future of a split: write `split.by_time(..., min_train=5)`,
        or after the split `split.train.rec().core(after_split=True)`, which does not warn; with several folds for each of
        `split.folds`.

        Raises a ColumnError for a missing column, and a RecframeError for a number below 1.

        >>> import polars as pl, recframe
        >>> train = pl.DataFrame({"user": [1, 1, 2, 2, 3], "item": [10, 11, 10, 11, 10]})
        >>> train.rec().core(users=2, items=2, after_split=True)["user"].to_list()
        [1, 1, 2, 2]
        """
        least = {"user": whole("users", users, 1), "item": whole("items", items, 1)}
        n_rounds = None if rounds is None else whole("rounds", rounds, 1)
        rec: Any = self
        log = log_of(rec._frame, rec._context)  # noqa: SLF001  the methods of this class are those of a Rec
        if not after_split:
            warn(
                "core() of a whole log counts rows that a split puts into truth, so that train knows the future; write "
                "split.by_time(..., min_train=5), or split.train.rec().core(after_split=True) after the split"
            )
        result: F = log.kind.give_held(core_of(log, least, n_rounds), {})
        return result
