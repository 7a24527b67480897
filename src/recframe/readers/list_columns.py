"""Frames with list columns in long form."""

from __future__ import annotations

from typing import Any

import polars as pl

from recframe.errors import ColumnError, dtype_shown, fails_if, warn, worded
from recframe.frames.hints import NAMED, Either
from recframe.frames.kinds.kind import at_hand
from recframe.frames.options import Context
from recframe.frames.roles import Side
from recframe.frames.rows.joins import AS_EVER
from recframe.readers.ids import has_a_score, in_own_dtype

PLACE = "place in the list"
LONGEST, UNSEEN = 60, r"[\p{C}\p{Zl}\p{Zp}]"
"""Letters of a text in a message, and those that nobody sees."""


def exploded(frame: Any, context: Context, number: str) -> Any:
    """Return a frame with list columns in long form, of the same kind, with its other columns repeated.

    `number` is the role of the items' numbers: "score" where a list is a ranking, "relevance" where it is a truth.
    """
    side = Side(str(Either("the frame of lists", "the file of lists")), frame, context)
    named = _named(side, number)
    user, *lists = named.values()
    kept = [name for name in side.columns if name not in named.values()]
    sources = {name: side.kind.source(name) for name in [user, *kept]}
    taken = side.kind.take({name: name for name in side.columns}, ids=[user])
    if number == "score":
        _check_order(side.kind.source(lists[0]), lists[0], kept)
        _warn_of_two_lists(at_hand(taken), user, kept)
    schema = taken.collect_schema()
    rows = taken.lazy().with_columns(_lists(name, schema[name]) for name in lists)
    rows = rows.with_columns(_places(*lists)).filter(pl.col(PLACE).list.len() > 0)
    long = rows.explode(*lists, PLACE, **AS_EVER)
    for name in lists[1:]:
        long = long.with_columns(_number(name, schema[name])).filter(has_a_score(name))
    # NOTE: a source gives users back in the dtype they had, whatever it is inside the plan
    ids = [user, lists[0]] if sources[user] is None else lists[:1]
    schema = long.collect_schema()
    long = long.with_columns(in_own_dtype(pl.col(one), schema[one]) for one in ids)
    names = {name: context.names[role] for role, name in named.items()} | {PLACE: "rank"}
    ranks = [PLACE] if number == "score" else []
    ordered = long.select(user, lists[0], *ranks, *lists[1:], *kept)
    return side.kind.give(ordered.rename(names, strict=False), sources)


def _named(side: Side, number: str) -> dict[str, str]:
    """Return the columns of users, items and numbers by their roles; list columns may have the plural."""
    write = Either(
        f"user={NAMED}, item={NAMED}; of items in several columns give frame[[...]].to_numpy() and users=frame['user']",
        "--columns item=NAME",
    )
    hint = f"Name the column: {write}"
    named = {"user": side.require("user", hint)}
    for role in ("item", number):
        name = side.context.names[role]
        plural = f"{name}s"
        if name not in side.columns and plural in side.columns:
            named[role] = plural
        elif role == "item" or name in side.columns or name != role:
            named[role] = side.require(role, hint)
    return named


def _check_order(items: Any, name: str, kept: list[str]) -> None:
    """Reject sets, which have no order, and a second column of ranks."""
    if str(getattr(items, "dtype", "")) == "object" and set in map(type, items):
        msg = f"column {name!r} holds sets, which have no order; give lists, the best item first"
        raise ColumnError(msg)
    if "rank" in kept:
        raise ColumnError(
            "the place in a list is the rank, so column 'rank' cannot stand; drop it first"
        )


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
    inner = getattr(dtype, "inner", pl.Null() if dtype == pl.Null else None)
    if inner is None or inner.is_nested():
        msg = (
            f"column {name!r} is {dtype_shown(dtype)}; lists are those of ids or numbers. A frame with an item in each row is "
            f"in long form; structs become columns by frame.explode({name!r}).unnest({name!r}); text is cut first, in pandas "
            f"by frame[{name!r}].str.split(), in Polars by pl.col({name!r}).str.extract_all(r'\\S+')"
        )
        raise ColumnError(msg)
    return pl.col(name).cast(pl.List(inner))


def _number(name: str, lists: pl.DataType) -> pl.Expr:
    """Return the numbers of lists; fails where a text is none."""
    given, number = pl.col(name), pl.col(name).cast(pl.Float64, strict=False)
    if getattr(lists, "inner", None) != pl.String:
        return given.cast(pl.Float64)
    text = given.str.slice(0, LONGEST).str.replace_all(UNSEEN, "?")
    message = worded(f"column {name!r} has the text ", text, "; give numbers, pl.List(pl.Float64)")
    return number + fails_if(number.is_null() & given.is_not_null(), message)


def _places(item: str, *numbers: str) -> pl.Expr:
    """Return the places of a list's items, from 1; fails where there are more or fewer numbers than items."""
    length, first = pl.col(item).list.len().fill_null(0).cast(pl.Int64), pl.lit(1, pl.Int64)
    for name in numbers:
        other = pl.col(name).list.len().fill_null(0)
        found = worded(
            f"a list of {item!r} has ", length, f" items, and the list of {name!r} ", other
        )
        first += fails_if(length != other, worded(found, "; give a number for each item"))
    return pl.int_ranges(first, length + first).alias(PLACE)
