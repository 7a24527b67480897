"""Rows of a log by role, each user's order, and the k-core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from recframe.errors import ColumnError, RecframeError
from recframe.frames.collecting import check_threads, stream
from recframe.frames.dtypes import check_dtypes, check_time
from recframe.frames.hints import NAMED, bind
from recframe.frames.kinds.kind import Kind
from recframe.frames.options import Context
from recframe.frames.roles import Side, has_relevance, listed
from recframe.frames.rows.joins import distinct_names, joined

FOLD, PART = "fold", "part"
PAIR = ["user", "item"]
ROLES = ("user", "item", "time", "relevance")
"""The roles that a split reads; the last two may be missing."""
NUMBERS = ("relevance",)
"""Roles whose NaN is no missing value."""


@dataclass(frozen=True)
class Log:
    """A log: one row for each interaction."""

    kind: Kind
    names: Mapping[str, str]
    """The log's own names of the roles that are read."""
    rows: pl.LazyFrame
    """The columns of the roles (user, item, and time and relevance if bound), and what gives whole rows back."""
    roles: pl.LazyFrame
    """The columns of the roles alone, by a read of their own.

    NOTE: what is asked of the whole log goes by them. Two branches that share a read hold its rows in memory until both are
    through.
    """
    context: Context
    """The options that are bound."""

    @property
    def schema(self) -> pl.Schema:
        """The columns of `rows` and their dtypes."""
        return self.rows.collect_schema()

    @property
    def has_time(self) -> bool:
        """Whether a column of times is bound."""
        return "time" in self.names

    @property
    def is_lazy(self) -> bool:
        """Whether nothing of the log is at hand before a plan runs."""
        return self.kind.is_lazy

    def require_time(self, call: str) -> pl.DataType:
        """Return the dtype of the times, or say that the split needs them."""
        if self.has_time:
            return self.schema["time"]
        found = f"rec.split.{call}() needs the time of each row"
        msg = f"{found}. Name its column: {bind(time=NAMED)}. It has {listed(self.kind.columns)}"
        raise ColumnError(msg)


def log_of(frame: Any, context: Context, *, min_relevance: float | None = None) -> Log:
    """Return a frame as a log, after checks of its schema."""
    check_threads()
    side = Side("the log", frame, context)
    if side.kind.engine is not None:
        msg = f"rec.split takes frames of Polars, pandas and Arrow, and {side.kind.engine.name} has none"
        raise RecframeError(msg)
    roles = ["user", "item"] + ["time"] * (context.time is not None)
    roles += ["relevance"] * (min_relevance is not None or has_relevance(side))
    hints = {"relevance": f"Name the column that min_relevance= is of: {bind(relevance=NAMED)}"}
    names = {role: side.require(role, hints.get(role, "")) for role in roles}
    rows = side.kind.held_rows(names, NUMBERS)
    schema = rows.collect_schema()
    check_dtypes({"log": schema}, {"log": side})
    check_time(schema.get("time"), side)
    return Log(side.kind, names, rows, side.kind.take(names, names, NUMBERS).lazy(), context)


def check_names(log: Log) -> None:
    """Reject a log with columns of the names that labels get."""
    for name in (FOLD, PART):
        if name in log.kind.columns:
            msg = f"the log has a column {name!r}, which is the name of one that the split adds; rename it first"
            raise ColumnError(msg)


PLACE, UNITS = "place in the user's order", "units of the user"
"""Columns with the place of a row's unit among those of its user, from 0, and with their number."""
USER = "user whose rows count"
"""Column of users, as what is grouped fastest: equal for rows of one user, and null for rows that count for nobody."""
_NUMBER = "keys as one number"


def as_ordered(schema: Mapping[str, pl.DataType], name: str) -> pl.Expr:
    """Return a column as it is ordered: categories as text, so that their codes decide nothing."""
    column = pl.col(name)
    return column.cast(pl.String) if schema[name] in (pl.Categorical, pl.Enum) else column


def placed(rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return rows with the place of their unit in the order of some keys within the user, and with his number of units.

    Rows of a user with the same keys are one unit. Rows without a user, an item or a key count for nobody.
    """
    schema = rows.collect_schema()
    is_null = pl.any_horizontal(pl.col(distinct_names("user", "item", *keys)).is_null())
    rows = rows.with_columns(pl.when(~is_null).then(_code(schema["user"])).alias(USER))
    number = _one_number(schema, keys)
    if number is None:
        order = [as_ordered(schema, key) for key in keys]
        place = pl.struct(keys).rle_id().over(USER, order_by=order)
    else:
        rows = rows.with_columns(number.alias(_NUMBER))
        place = pl.col(_NUMBER).rank("dense").over(USER) - 1
    rows = rows.with_columns(place.cast(pl.Int64).alias(PLACE))
    return rows.with_columns((pl.col(PLACE).max().over(USER) + 1).alias(UNITS))


def _one_number(schema: Mapping[str, pl.DataType], keys: Sequence[str]) -> pl.Expr | None:
    """Return a number in the order of one or two keys, which is sorted in half of their time; None of other dtypes."""
    first, *others = keys
    if not others:
        return pl.col(first)
    if schema[first] == pl.UInt64 or not all(_is_whole(schema[key]) for key in keys):
        return None
    high, low = (pl.col(key).to_physical().cast(pl.Int128) for key in keys)
    return high * pl.lit(1 << 64, dtype=pl.Int128) + low


def _is_whole(dtype: pl.DataType) -> bool:
    """Whether a column is of whole numbers of 64 bits."""
    if dtype.is_integer():
        return dtype not in (pl.Int128, getattr(pl, "UInt128", pl.Int128))
    return dtype in (pl.Date, pl.Datetime)


def _code(dtype: pl.DataType) -> pl.Expr:
    user = pl.col("user")
    if dtype == pl.String:
        return user.cast(pl.Categorical).to_physical()
    return user.to_physical() if dtype in (pl.Categorical, pl.Enum) else user


def core_of(log: Log, least: dict[str, int], rounds: int | None) -> pl.LazyFrame:
    """Return the rows of a log whose users and items have enough rows, in their order.

    A round leaves out users, then items, that have less than `least` of the rows that are left; without a number of rounds
    they go on until none is left out, on counts of pairs, which are collected once.
    """
    pairs = log.roles.select(PAIR).drop_nulls().group_by(PAIR).agg(n=pl.len())
    if rounds is None:
        pairs = _to_the_end(stream(pairs), least).lazy()
    else:
        for _ in range(rounds):
            pairs = _round(pairs, least)
    rows = log.rows
    for role in PAIR:
        kept = pairs.select(role).unique().with_columns(pl.lit(value=True).alias(f"kept {role}"))
        rows = joined(rows, kept, [role], in_order=True)
    return rows.filter(pl.all_horizontal(pl.col(f"kept {role}").is_not_null() for role in PAIR))


def _to_the_end(pairs: pl.DataFrame, least: dict[str, int]) -> pl.DataFrame:
    while True:
        left = stream(_round(pairs.lazy(), least))
        if len(left) == len(pairs):
            return left
        pairs = left


def _round(pairs: pl.LazyFrame, least: dict[str, int]) -> pl.LazyFrame:
    """Return the pairs without users, then without items, of too few rows."""
    for role in PAIR:
        counts = pairs.group_by(role).agg(pl.col("n").sum())
        kept = counts.filter(pl.col("n") >= least[role]).select(role)
        pairs = pairs.join(kept, on=role, how="semi")
    return pairs
