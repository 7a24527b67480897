"""Rule by each user's last events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from recframe.audit.split_rows import Order
from recframe.splits.events import PLACE, UNITS, placed
from recframe.splits.log_rows import Log
from recframe.splits.rules import Rule, Scalar, first_that_holds, of_part

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
