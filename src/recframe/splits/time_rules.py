"""Rules by time: one point, rolling windows, and each user's last events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from recframe.audit.split_rows import Order
from recframe.splits.log_rows import PLACE, UNITS, Log, placed
from recframe.splits.rules import Part, Rule, Scalar, first_that_holds, of_part
from recframe.splits.times import Length, aligned, before

time = pl.col("time")


@dataclass(frozen=True)
class AtPoint(Rule):
    """Train before a point of time, truth from it on; from a second one on, neither."""

    call: ClassVar[str] = "by_time"
    reads_time: ClassVar[bool] = True
    parted_by: ClassVar[Order] = "line"
    n_folds: ClassVar[int] = 1  # type: ignore[misc]  # others have several
    said: str
    at: pl.Expr | None
    """The point; None where a share of the rows says it."""
    until: pl.Expr | None = None
    share: float = 0.0

    @property
    def words(self) -> str:
        """The call that made the split."""
        return self.said

    @property
    def reads_log(self) -> bool:  # type: ignore[override]  # it depends on what was given
        """Whether a share of the rows says the point."""
        return self.at is None

    def scalars(self, log: Log) -> pl.LazyFrame:
        """Return the point: of a share the time of row floor((1 - share) n) + 1 in the order of time."""
        if self.at is not None:
            points = [self.at.alias("train end 0")]
            points += [] if self.until is None else [self.until.alias("until")]
            return pl.select(points).lazy()
        times = log.roles.select("time").drop_nulls().sort("time")
        # rounded, since 10 times 1 - 0.7 is 3.0000000000000004
        place = ((1 - self.share) * pl.len()).round(9).floor().cast(pl.Int64)
        return times.select(time.gather(place).first().alias("train end 0"))

    def part(self, fold: int, scalar: Scalar) -> pl.Expr:
        """Return train before the point, truth from it on, later from the second one on."""
        del fold
        cases: list[tuple[pl.Expr, Part]] = [(time < scalar("train end 0"), "train")]
        if self.until is not None:
            cases.append((time >= scalar("until"), "later"))
        return first_that_holds(cases, of_part("truth"))


@dataclass(frozen=True)
class Rolling(Rule):
    """Windows of truth that step back from the end of the log, each with the train before it."""

    reads_time: ClassVar[bool] = True
    parted_by: ClassVar[Order] = "line"
    reads_log: ClassVar[bool] = True  # type: ignore[misc]  # others may
    call: str  # type: ignore[misc]  # by_time(last=) is the last window alone
    said: str
    dtype: pl.DataType
    n_folds: int
    length: Length
    step: Length | None = None
    """From the end of one window to that of the next; None is the length."""
    gap: Length | None = None
    window: Length | None = None
    """The length of the train; None is all that is before."""
    align: str | None = None

    @property
    def words(self) -> str:
        """The call that made the split."""
        return self.said

    @property
    def horizon(self) -> Length:
        """The length of the window of the truth."""
        return self.length

    @property
    def ends_with_a_row(self) -> bool:
        """Whether the last window ends with the last row of the log, so that borders are last instants and not first ones."""
        return self.align is None

    def scalars(self, log: Log) -> pl.LazyFrame:
        """Return the borders of each fold: where its truth ends and begins, where its train ends and begins.

        NOTE: each step is a `with_columns` of its own, since an expression of an expression is written out twice by each.
        """
        last = time.max()
        end = last if self.align is None else aligned(last, self.align, self.dtype)
        borders = log.roles.select(end.alias(f"end {self.n_folds - 1}"))
        for fold in reversed(range(self.n_folds)):
            borders = self._stepped(borders, f"end {fold}", f"start {fold}", self.length)
            borders = self._stepped(borders, f"start {fold}", f"train end {fold}", self.gap)
            if self.window is not None:
                borders = self._stepped(borders, f"train end {fold}", f"first {fold}", self.window)
            if fold:
                from_, step = (
                    (f"start {fold}", None) if self.step is None else (f"end {fold}", self.step)
                )
                borders = self._stepped(borders, from_, f"end {fold - 1}", step)
        return borders

    def _stepped(
        self, borders: pl.LazyFrame, from_: str, to: str, length: Length | None
    ) -> pl.LazyFrame:
        point = pl.col(from_)
        point = point if length is None else before(point, length, self.dtype)
        return borders.with_columns(point.alias(to))

    def part(self, fold: int, scalar: Scalar) -> pl.Expr:
        """Return the window that a row is in: earlier, train, gap, truth or later."""

        def is_after(border: str) -> pl.Expr:
            point = scalar(f"{border} {fold}")
            return time > point if self.ends_with_a_row else time >= point

        cases: list[tuple[pl.Expr, Part]] = [
            (is_after("end"), "later"),
            (is_after("start"), "truth"),
        ]
        if self.gap is not None:
            cases.append((is_after("train end"), "gap"))
        if self.window is not None:
            cases.append((~is_after("first"), "earlier"))
        return first_that_holds(cases, of_part("train"))


BLOCK = "block from the end"
"""Column with the number of the block of a user's events that a row is in; null where it is never truth."""


@dataclass(frozen=True)
class LastPerUser(Rule):
    """Blocks of each user's last events: a fold's truth is one, those after it are later, all before are train."""

    call: ClassVar[str] = "last_per_user"
    reads_time: ClassVar[bool] = True
    parted_by: ClassVar[Order] = "user"
    said: str
    n: int
    n_folds: int
    keep: int

    @property
    def words(self) -> str:
        """The call that made the split."""
        return self.said

    @property
    def no_truth(self) -> str:
        """The remedy of a split without truth."""
        return f"a user needs {self.n + self.keep} events, n and keep together; write a smaller n"

    def prepared(self, rows: pl.LazyFrame, _log: Log) -> pl.LazyFrame:
        """Return rows with their block: one if the user has n events for it and each later one, and `keep` before them."""
        rows = placed(rows, ["time", "item"])
        rows = rows.with_columns(((pl.col(UNITS) - 1 - pl.col(PLACE)) // self.n).alias(BLOCK))
        is_one = pl.col(UNITS) >= (pl.col(BLOCK) + 1) * self.n + self.keep
        return rows.with_columns(pl.when(is_one).then(BLOCK).alias(BLOCK))

    def part(self, fold: int, scalar: Scalar) -> pl.Expr:
        """Return truth in the fold's block, later in those after it, train elsewhere."""
        del scalar
        own, block = self.n_folds - 1 - fold, pl.col(BLOCK)
        return first_that_holds([(block == own, "truth"), (block < own, "later")], of_part("train"))
