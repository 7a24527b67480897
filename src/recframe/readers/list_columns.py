"""Frames with list columns in long form."""

from __future__ import annotations

from typing import Any

import polars as pl

from recframe.errors import ColumnError, dtype_shown, fails_if, warn
from recframe.frames.hints import NAMED
from recframe.frames.kinds.kind import at_hand
from recframe.frames.options import Context
from recframe.frames.roles import Side
from recframe.frames.rows.joins import AS_EVER
from recframe.readers.ids import has_a_score, in_own_dtypes

PLACE = "place in the list"
HINT = (
    f"Name the column: user={NAMED}, item={NAMED}; of items in several columns give frame[[...]].to_numpy() and "
    "users=frame['user']"
)


def exploded(frame: Any, context: Context, number: str) -> Any:
    """Return a frame with list columns in long form, of the same kind, with its other columns repeated.

    `number` is the role of the items' numbers: "score" where a list is a ranking, "relevance" where it is a truth.
    """
    side = Side("the frame of lists", frame, context)
    named = _named(side, number)
    user, item, *numbers = named.values()
    kept = [name for name in side.columns if name not in named.values()]
    if number == "score":
        _check_order(side.kind.source(item), item, kept)
    sources = {name: side.kind.source(name) for name in [user, *kept]}
    taken = side.kind.take({name: name for name in side.columns}, ids=[user])
    if number == "score":
        _warn_of_two_lists(at_hand(taken), user, kept)
    rows = taken.lazy()
    schema = rows.collect_schema()
    rows = rows.with_columns(_lists(name, schema[name]) for name in (item, *numbers))
    for name in numbers:
        inner = getattr(schema[name], "inner", None)
        if inner == pl.String:
            msg = f"the lists of column {name!r} hold text; give numbers"
            raise ColumnError(msg)
    size = _size(item)
    for name in numbers:
        words = f"a list of {item!r} has more or fewer items than the list of {name!r} numbers"
        size += fails_if(_size(name) != _size(item), f"{words}; give a number for each item")
    rows = rows.filter(size > 0).with_columns(pl.int_ranges(1, _size(item) + 1).alias(PLACE))
    rows = rows.explode(item, *numbers, PLACE, **AS_EVER)
    for name in numbers:
        rows = rows.with_columns(pl.col(name).cast(pl.Float64)).filter(has_a_score(name))
    # NOTE: a source gives users back in the dtype they had, whatever it is inside the plan
    ids = [item] if sources[user] is not None else [user, item]
    rows = rows.with_columns(in_own_dtypes(*ids))
    rows = rows.select(user, item, *[PLACE] * (number == "score"), *numbers, *kept)
    names = {name: context.names[role] for role, name in named.items()} | {PLACE: "rank"}
    return side.kind.give(rows.rename(names, strict=False), sources)


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


def _check_order(items: Any, name: str, kept: list[str]) -> None:
    """Reject sets, which have no order, and a second column of ranks."""
    if str(getattr(items, "dtype", "")) == "object" and set in map(type, items):
        msg = f"column {name!r} holds sets, which have no order; give lists, the best item first"
        raise ColumnError(msg)
    if "rank" in kept:
        msg = "the place in a list is the rank, so column 'rank' cannot stand; drop it first"
        raise ColumnError(msg)


def _warn_of_two_lists(rows: pl.DataFrame | None, user: str, kept: list[str]) -> None:
    """Warn where a user has two lists that no other column distinguishes, so that their items share ranks."""
    if rows is None:  # nothing of a LazyFrame is collected
        return
    keys = [user, *(name for name in kept if not rows.schema[name].is_nested())]
    users = rows.filter(rows.select(keys).is_duplicated())[user].drop_nulls()
    if len(users):
        warn(
            f"the column {user!r} has the user {users[0]!r} in several rows that no other column distinguishes, so items of "
            "several lists share a rank; keep one list of each user, or add the column of their models: rec(model='model')"
        )


def _lists(name: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column as lists, or say what it is instead."""
    inner = getattr(dtype, "inner", None)
    if inner is None or inner.is_nested():
        msg = (
            f"column {name!r} is {dtype_shown(dtype)}; lists are those of ids or numbers. A frame with an item in each row is "
            f"in long form; structs become columns by frame.explode({name!r}).unnest({name!r}); text is cut first, in pandas "
            f"by frame[{name!r}].str.split(), in Polars by pl.col({name!r}).str.extract_all(r'\\S+')"
        )
        raise ColumnError(msg)
    return pl.col(name).cast(pl.List(inner))


def _size(name: str) -> pl.Expr:
    return pl.col(name).list.len().fill_null(0).cast(pl.Int64)
