"""Rules by chance: of pairs, and of users."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import polars as pl

from recframe.splits.hashing import hashed, may_collide
from recframe.splits.log_rows import PLACE, UNITS, Log, placed
from recframe.splits.rules import Part, Rule, Scalar, first_that_holds, of_part

Per = Literal["user", "log"]
PER: tuple[Per, ...] = get_args(Per)
FoldInOrder = Literal["time", "random"]
ORDERS: tuple[FoldInOrder, ...] = get_args(FoldInOrder)
KEYS = 1 << 64
"""The number of keys that there are."""
DIGITS = 9
"""Decimals that shares of counts are rounded to: 100 times 0.29 is 28.999999999999996."""
_KEY, _KEY_OF_USER, _FIRST = "key of the pair", "key of the user", "first time of the user"


@dataclass(frozen=True)
class Random(Rule):
    """Pairs of user and item by their keys: all of the log's, or the first places of each user's."""

    call: ClassVar[str] = "random"
    reads_time: ClassVar[bool] = False
    said: str
    seed: int
    n_folds: int
    share: float | None
    n: int | None = None
    """The pairs of each user in a fold's truth; None where a share says it."""
    per: Per = "user"
    keep: int = 1

    @property
    def words(self) -> str:
        """The call that made the split."""
        return self.said

    @property
    def asked_share(self) -> float | None:
        """The share of rows that a fold's truth is asked to have."""
        return self.share

    @property
    def no_truth(self) -> str:
        """The remedy of a split without truth."""
        if self.per == "log":
            return "write a larger share, or another seed"
        enough = f"a user needs more than keep={self.keep} items"
        return f"{enough}, and a share of them that rounds to 1; write a larger share, or n=1"

    def prepared(self, rows: pl.LazyFrame, log: Log) -> pl.LazyFrame:
        """Return rows with the key of their pair, or with its place among those of the user."""
        rows = hashed(rows, ["user", "item"], _KEY, seed=self.seed, at_hand=not log.is_lazy)
        return rows if self.per == "log" else placed(rows, _units(log))

    def part(self, fold: int, scalar: Scalar) -> pl.Expr:
        """Return truth for the fold's range of keys or places, train elsewhere."""
        del scalar
        if self.per == "log":
            is_truth = _in_range(_KEY, fold, self.share or 0.0, self.n_folds)
        else:
            place, units = pl.col(PLACE), pl.col(UNITS)
            is_truth = (place >= self._edge(fold)) & (place < self._edge(fold + 1))
            is_truth &= place < units - self.keep
        return first_that_holds([(is_truth, "truth")], of_part("train"))

    def _edge(self, fold: int) -> pl.Expr:
        """Return the first place of a fold: a share of a user's pairs is rounded, halves up."""
        if self.n is not None:
            return pl.lit(fold * self.n, dtype=pl.Int64)
        exact = (pl.col(UNITS) * (fold * (self.share or 0.0))).round(DIGITS)
        return (exact + 0.5).floor().cast(pl.Int64)


@dataclass(frozen=True)
class ByUser(Rule):
    """Test users by their keys, or new ones: their first events are fold-in, the rest truth; other users' rows are train."""

    call: ClassVar[str] = "by_user"
    said: str
    seed: int
    n_folds: int
    share: float
    fold_in: float
    """A share of each test user's units if below 1, else their number."""
    order: FoldInOrder
    at: pl.Expr | None = None
    """Test users are those whose first row is from this point on."""

    @property
    def words(self) -> str:
        """The call that made the split."""
        return self.said

    @property
    def reads_time(self) -> bool:  # type: ignore[override]  # it depends on what was given
        """Whether rows without a time are in no part."""
        return self.order == "time" or self.at is not None

    @property
    def no_truth(self) -> str:
        """The remedy of a split without truth."""
        return "no test user has rows after those folded in; write a smaller fold_in, a larger share or an earlier at"

    @property
    def no_train(self) -> str:
        """The remedy of a fold whose users are all test users."""
        how = "a smaller share or more folds" if self.at is None else "a later at"
        return f"no other user has rows in it; write {how}"

    def prepared(self, rows: pl.LazyFrame, log: Log) -> pl.LazyFrame:
        """Return rows with what says whether their user is a test user, and with the place of their unit."""
        at_hand = not log.is_lazy
        if self.at is None:
            rows = hashed(rows, ["user"], _KEY_OF_USER, seed=self.seed, at_hand=at_hand)
        else:
            times = pl.when(pl.col("item").is_not_null()).then("time")
            rows = rows.with_columns(times.min().over("user").alias(_FIRST))
        if self.order == "time":
            return placed(rows, ["time", "item"])
        rows = hashed(rows, ["user", "item"], _KEY, seed=self.seed, at_hand=at_hand)
        if self.at is not None:  # rows without a time count for nobody
            rows = rows.with_columns(pl.when(pl.col("time").is_not_null()).then(_KEY).alias(_KEY))
        return placed(rows, _units(log))

    def part(self, fold: int, scalar: Scalar) -> pl.Expr:
        """Return fold_in and truth of test users, and train of others."""
        del scalar
        cases: list[tuple[pl.Expr, Part]] = []
        if self.at is None:
            is_other = ~_in_range(_KEY_OF_USER, fold, self.share, self.n_folds)
        else:
            is_other = pl.col(_FIRST) < self.at
            cases.append((is_other & (pl.col("time") >= self.at), "later"))
        cases += [(is_other, "train"), (pl.col(PLACE) < self._n_fold_in, "fold_in")]
        return first_that_holds(cases, of_part("truth"))

    @property
    def _n_fold_in(self) -> pl.Expr:
        if self.fold_in >= 1:
            return pl.lit(int(self.fold_in), dtype=pl.Int64)
        exact = (pl.col(UNITS) * self.fold_in).round(DIGITS)
        return pl.max_horizontal(exact.floor().cast(pl.Int64), pl.lit(1, dtype=pl.Int64))


def _units(log: Log) -> list[str]:
    """Return what orders a user's pairs: their keys, and where these may be equal the item."""
    return [_KEY, "item"] if may_collide(log.schema["item"]) else [_KEY]


def _in_range(name: str, fold: int, share: float, n_folds: int) -> pl.Expr:
    """Whether a key is in a fold's range: share of all keys, of which the last fold has the rest where folds share all."""
    width, key = int(share * KEYS), pl.col(name)
    is_in = key >= pl.lit(fold * width, dtype=pl.UInt64)
    has_rest = fold == n_folds - 1 and round(share * n_folds, DIGITS) == 1
    return is_in if has_rest else is_in & (key < pl.lit((fold + 1) * width, dtype=pl.UInt64))
