"""Frames with list columns in long form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from recframe.errors import ColumnError, dtype_shown
from recframe.frames.hints import Either
from recframe.frames.options import Context
from recframe.frames.roles import Side
from recframe.frames.rows.joins import AS_EVER
from recframe.readers.ids import NO_SCORE, in_own_dtypes

PLACE = "place in the list"
HINT = (
    "Name the column: user='...', item='...'; of items in several columns give frame[[...]].to_numpy() and "
    "users=frame['user']"
)


def exploded(frame: Any, context: Context, number: str) -> Any:
    """Return a frame with list columns in long form, of the same kind, with its other columns repeated.

    `number` is the role of the items' numbers: "score" where a list is a ranking, "relevance" where it is a truth.
    """
    side = Side("the frame of lists", frame, context)
    kind, named = side.kind, _named(side, number)
    user, *lists = named.values()
    item = lists[0]
    kept = [name for name in side.columns if name not in named.values()]
    rows = kind.take({name: name for name in side.columns}, ids=[user]).lazy()
    if number == "score":
        named = {"user": user, "item": item, "rank": PLACE, **named}
        items = kind.source(item)
        if str(getattr(items, "dtype", "")) == "object" and set in map(type, items):
            raise ColumnError(
                f"column {item!r} holds sets, which have no order; give lists, the best item first"
            )
        if "rank" in kept:
            raise ColumnError(
                "the place in a list is the rank, so column 'rank' cannot stand; drop it first"
            )
    schema = rows.collect_schema()
    rows = rows.with_columns(_lists(name, schema[name], is_id=name == item) for name in lists)
    places = pl.int_ranges(1, pl.col(item).list.len() + 1).alias(PLACE)
    # numbers without items stay, so that they are no fewer in silence
    rows = rows.filter(pl.any_horizontal(pl.col(lists).list.len() > 0)).with_columns(places)
    rows = rows.explode(*lists, PLACE, **AS_EVER)
    sources = {name: kind.source(name) for name in (user, *kept)}
    # NOTE: a source gives users back in the dtype they had, whatever it is inside the plan
    ids = [item] if sources[user] is not None else [user, item]
    return kind.give(in_long_form(rows, named, ids, context, kept), sources)


def in_long_form(
    rows: pl.LazyFrame,
    named: Mapping[str, str],
    ids: Sequence[str],
    context: Context,
    kept: Sequence[str] = (),
) -> pl.LazyFrame:
    """Return rows of an item each under the names of the call, but those whose number is a mask."""
    for role in named.keys() & {"score", "relevance"}:
        number = pl.col(named[role]).cast(pl.Float64)
        # a NaN is above all numbers
        rows = rows.with_columns(number).filter((number > NO_SCORE) | number.is_null())
    columns = (pl.col(name).alias(context.names[role]) for role, name in named.items())
    return rows.with_columns(in_own_dtypes(*ids)).select(*columns, *kept)


def _named(side: Side, number: str) -> dict[str, str]:
    """Return the columns of users, items and numbers by their roles; list columns may have the plural."""
    named = {"user": side.require("user", HINT)}
    for role in ("item", number):
        name = side.context.names[role]
        plural = f"{name}s"
        if name not in side.columns and plural in side.columns:
            named[role] = plural
        elif role == "item" or name in side.columns or name != role:
            named[role] = side.require(role, HINT)
    return named


def _lists(name: str, dtype: pl.DataType, *, is_id: bool) -> pl.Expr:
    """Return a column as lists, or say what it is instead."""
    inner = getattr(dtype, "inner", None)
    if inner is None or inner.is_nested() or (inner == pl.String and not is_id):
        cut = Either(
            ". A frame with an item in each row is in long form; structs become columns by frame.explode(...).unnest(...); "
            "text is cut first, in pandas by frame[...].str.split(), in Polars by pl.col(...).str.extract_all(r'\\S+')",
            "; write a row for each item, or list columns to Parquet or NDJSON",
        )
        raise ColumnError(
            f"column {name!r} is {dtype_shown(dtype)}; lists are those of ids or numbers{cut}"
        )
    return pl.col(name).cast(pl.List(inner))
