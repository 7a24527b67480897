"""Rules of splits: the part of each row of the log."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, get_args

import polars as pl

from recframe.audit.split_rows import Order
from recframe.splits.log_rows import Log

Part = Literal[
    "train",
    "fold_in",
    "truth",
    "gap",
    "earlier",
    "later",
    "not_target",
    "not_relevant",
    "seen",
    "cold_user",
    "cold_item",
    "null",
]
PARTS: tuple[Part, ...] = get_args(Part)
PART_DTYPE = pl.Enum(list(PARTS))
Scalar = Callable[[str], pl.Expr]
"""Type of functions that give a value of `scalars` by its name."""


class Rule(ABC):
    """A rule of splits: from a log to the part of each row, fold by fold."""

    call: ClassVar[str]
    """The method of `rec.split`."""
    reads_time: ClassVar[bool]
    """Whether a row without a time is in no part."""
    parted_by: ClassVar[Order] = "random"
    """The order by which train and truth are parted: the time line, each user's own rows, or chance."""
    n_folds: int

    @property
    @abstractmethod
    def words(self) -> str:
        """The call that made the split, with the options that differ from their defaults."""

    reads_log: bool = False
    """Whether the scalars are values of the log's rows."""

    def scalars(self, log: Log) -> pl.LazyFrame:
        """Return one row with what the rule asks of the whole log, and as `train end 0`, ... where each train ends."""
        del log
        return pl.LazyFrame({"nothing": [0]})

    def prepared(self, rows: pl.LazyFrame, _log: Log) -> pl.LazyFrame:
        """Return the rows with what the rule reads beside the columns of the log."""
        return rows

    @abstractmethod
    def part(self, fold: int, scalar: Scalar) -> pl.Expr:
        """Return the part of a row without nulls in a fold, by this rule alone."""

    @property
    def asked_share(self) -> float | None:
        """The share of truth that a random rule was asked for; None where none was."""
        return None

    @property
    def no_truth(self) -> str:
        """The remedy of a split without truth."""
        return "write another point or share"

    @property
    def no_train(self) -> str:
        """The reason or remedy of a fold without train."""
        return "every row is truth, or lacks a user or an item"

    @property
    def horizon(self) -> Any:
        """The length of the window of the truth; None where the rule has none."""
        return None


def of_part(part: Part) -> pl.Expr:
    """Return the name of a part as a value of `part`."""
    return pl.lit(part, dtype=PART_DTYPE)


def first_that_holds(cases: Sequence[tuple[pl.Expr, Part]], otherwise: pl.Expr) -> pl.Expr:
    """Return the part of the first case that holds of a row."""
    for holds, part in reversed(cases):
        otherwise = pl.when(holds).then(of_part(part)).otherwise(otherwise)
    return otherwise


def is_in(*parts: Part, column: str = "part") -> pl.Expr:
    """Whether a row is in one of some parts."""
    return pl.any_horizontal([pl.col(column) == of_part(part) for part in parts])
