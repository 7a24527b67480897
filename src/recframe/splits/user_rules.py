"""Rule by each user's last events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from recframe.audit.split_rows import Order
from recframe.frames.rows.joins import joined
from recframe.splits.events import PLACE, UNITS, placed
from recframe.splits.log_rows import Log
from recframe.splits.rules import Rule, Scalar, first_that_holds, of_part

BLOCK = "block from the end"
"""Column with the number of the block of a user's events that a row is in; null where it is never truth."""
_NUMBER = "number in the log"
_FIRST = "first of the last times"


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

    def prepared(self, rows: pl.LazyFrame, log: Log) -> pl.LazyFrame:
        """Return rows with their block; of a log in memory only the last rows of each user are ordered for it."""
        if log.is_lazy:
            return self._with_blocks(rows)
        names = rows.collect_schema().names()
        numbered = rows.with_row_index(_NUMBER)
        blocks = self._with_blocks(self._last_rows(numbered)).select(_NUMBER, BLOCK)
        return joined(numbered, blocks, [_NUMBER], in_order=True).select(*names, BLOCK)

    def _last_rows(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return each user's rows of so many last times that any row of a block, and what is kept before, is among them."""
        n_times = self.n * self.n_folds + self.keep
        whole = rows.drop_nulls(["user", "item", "time"])
        first = pl.col("time").unique().top_k(n_times).min()
        borders = whole.group_by("user").agg(first.alias(_FIRST))
        found = joined(whole, borders, ["user"], "inner", in_order=True)
        return found.filter(pl.col("time") >= pl.col(_FIRST))

    def _with_blocks(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows with their block.

        A block is one if the user has n events for it and each later one, and `keep` before all of them.
        """
        rows = placed(rows, ["time", "item"])
        rows = rows.with_columns(((pl.col(UNITS) - 1 - pl.col(PLACE)) // self.n).alias(BLOCK))
        is_one = pl.col(UNITS) >= (pl.col(BLOCK) + 1) * self.n + self.keep
        return rows.with_columns(pl.when(is_one).then(BLOCK).alias(BLOCK))

    def part(self, fold: int, scalar: Scalar) -> pl.Expr:
        """Return truth in the fold's block, later in those after it, train elsewhere."""
        del scalar
        own, block = self.n_folds - 1 - fold, pl.col(BLOCK)
        return first_that_holds([(block == own, "truth"), (block < own, "later")], of_part("train"))
