"""Joins and aggregations by keys, null-safe, and rows in long form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any, Literal, TypeVar

import polars as pl

from recframe.frames.collecting import IS_POLARS_1

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)
_POLARS = tuple(map(int, pl.__version__.split(".")[:2]))
# the last of Polars 1 warn of the name that those before and after them have
_BESIDE: Any = "horizontal_extend" if (1, 42) <= _POLARS < (2,) else "horizontal"
# NOTE: these leave out sums that nothing reads, and cross joins then have each row that was summed up. A condition reads one.
_LEAVES_OUT = (1, 41) <= _POLARS < (2,)


def beside_one_another(frames: Sequence[Frame]) -> Frame:
    """Return frames of equal height side by side, as one frame."""
    return pl.concat(frames, how=_BESIDE)


def distinct_names(*names: str) -> list[str]:
    """Return distinct names in order."""
    return list(dict.fromkeys(names))


def joined(
    rows: pl.LazyFrame,
    others: pl.LazyFrame,
    keys: Sequence[str],
    how: Literal["left", "inner", "full"] = "left",
    *,
    in_order: bool = False,
) -> pl.LazyFrame:
    """Return rows joined on the keys, or cross-joined without keys; `in_order` keeps the row order."""
    if not keys:
        return rows.join(others, how="cross")
    return rows.join(
        others,
        on=keys,
        how=how,
        nulls_equal=True,
        coalesce=True if how == "full" else None,
        maintain_order="left" if in_order else None,
    )


def aggregate(rows: pl.LazyFrame, keys: Sequence[str], columns: Sequence[pl.Expr]) -> pl.LazyFrame:
    """Aggregate rows by the keys; without keys, over all rows."""
    if keys:
        return rows.group_by(keys).agg(columns)
    sums = rows.select(columns)
    return sums.filter(pl.first().hash() >= 0) if _LEAVES_OUT else sums


def at_best_rank(
    rows: pl.LazyFrame, keys: Sequence[str], *also: pl.Expr, best: pl.Expr | None = None
) -> pl.LazyFrame:
    """Return each item of some keys once: keys, item, its best rank (the lowest, if no other is said), and more."""
    rank = pl.col("rank").min() if best is None else best
    return rows.group_by(distinct_names(*keys, "item")).agg(rank.alias("rank"), *also)


def in_long_form(
    wide: pl.LazyFrame,
    keys: Sequence[str],
    rows: Sequence[Mapping[str, pl.Expr]],
    *,
    in_order: bool = False,
) -> pl.LazyFrame:
    """Return several rows for each row of a frame: the keys, and the columns of each of `rows`, which have the same dtypes.

    With `in_order` those of a row stay together.

    NOTE: then by lists of structs, which take fifty times as long, and few rows have an order.
    """
    if len(rows) == 1:
        return wide.select(*keys, **rows[0])
    if not in_order:
        held = wide.cache()
        return pl.concat([held.select(*keys, **row) for row in rows])
    lists = wide.select(*keys, pl.concat_list(map(_struct, rows)).alias("rows"))
    return lists.explode("rows", **AS_EVER).unnest("rows")


def _struct(columns: Mapping[str, pl.Expr]) -> pl.Expr:
    return pl.struct(column.alias(name) for name, column in columns.items())


# NOTE: a null up to Polars 1, and no row from Polars 2 on; the last of Polars 1 warn where nothing is said. So whoever explodes
# lists leaves empty ones out ahead of it, or nulls behind it.
_IS_WARNED_OF = IS_POLARS_1 and "empty_as_null" in signature(pl.Expr.explode).parameters
AS_EVER: dict[str, Any] = {"empty_as_null": True} if _IS_WARNED_OF else {}
