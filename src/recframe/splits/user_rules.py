"""Rule by each user's last events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import polars as pl

from recframe.audit.split_rows import Order
from recframe.splits.events import (
    NEW_USER,
    PLACE,
    SORTED,
    UNITS,
    at_first,
    at_last,
    differs,
    placed,
)
from recframe.splits.log_rows import Log
from recframe.splits.rules import Rule, Scalar, first_that_holds, of_part

Ties = Literal["item", "together", "row"]
TIES: tuple[Ties, ...] = get_args(Ties)
BLOCK = "block from the end"
"""Column with the number of the block of a user's events that a row is in; null where it is never truth."""
_ROW, _LAST, _START = "number in the file", "last place of its time", "first place of the block"


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
    ties: Ties

    @property
    def words(self) -> str:
        """The call that made the split."""
        return self.said

    @property
    def no_truth(self) -> str:
        """What a split without truth needs."""
        return f"a user needs {self.n + self.keep} events, n and keep together; write a smaller n"

    def prepared(self, rows: pl.LazyFrame, _log: Log) -> pl.LazyFrame:
        """Return rows with their block: that of the last event of their time where ties go together.

        A block is one if the user has n events for it and each later one, and `keep` before all of them.
        """
        by_row = self.ties == "row"
        rows = rows.with_row_index(_ROW) if by_row else rows
        last = pl.col(PLACE)
        if self.ties == "together":
            last = at_last(pl.col(NEW_USER) | differs(f"{SORTED}time"), PLACE)
        place, units = pl.col(_LAST).cast(pl.Int64), pl.col(UNITS).cast(pl.Int64)
        is_start = pl.col(NEW_USER) | differs(BLOCK)
        start, block = pl.col(_START).cast(pl.Int64), pl.col(BLOCK)
        is_one = (start >= self.keep) & (units >= (block + 1) * self.n + self.keep)
        steps: list[dict[str, pl.Expr]] = [
            {_LAST: last},
            {BLOCK: (units - 1 - place) // self.n},
            {_START: at_first(is_start, PLACE)},
            {BLOCK: pl.when(is_one).then(BLOCK)},
        ]
        names = [name for name in rows.collect_schema().names() if name != _ROW]
        found = placed(rows, ["time", _ROW if by_row else "item"], steps, [BLOCK])
        return found.select(*names, BLOCK)

    def part(self, fold: int, scalar: Scalar) -> pl.Expr:
        """Return truth in the fold's block, later in those after it, train elsewhere."""
        del scalar
        own, block = self.n_folds - 1 - fold, pl.col(BLOCK)
        return first_that_holds([(block == own, "truth"), (block < own, "later")], of_part("train"))
