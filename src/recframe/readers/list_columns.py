"""Frames with list columns, or with lists in text, in long form."""

from __future__ import annotations

from typing import Any

import polars as pl

from recframe.errors import (
    ColumnError,
    dtype_shown,
    fails_if,
    shown_in_plan,
    warn,
    worded,
)
from recframe.frames.eager_data import at_hand
from recframe.frames.hints import NAMED, Either
from recframe.frames.options import Context
from recframe.frames.roles import Side
from recframe.frames.rows.joins import AS_EVER
from recframe.readers.ids import has_a_score, in_own_dtype

TEXT = (pl.String, pl.Categorical, pl.Enum)
A_LIST_IN_TEXT = r"(?s)^(\[[^\[\]]*\]|[({][^(){}]*,[^(){}]*[)}])$"
"""Pattern of a list as Python, JSON or NumPy prints it, as in CSV files of pandas."""


def long(
    frame: Any, context: Context, number: str, *, ordered: bool, separator: str | None = None
) -> Any:
    """Return a frame with list columns in long form, as a frame of the same kind, with its other columns beside each item.

    `number` is the role of the numbers beside the items, "score" or "relevance"; `ordered` says that a list is a ranking.
    """
    side = Side(str(Either("the frame of lists", "the file of lists")), frame, context)
    named = _named(side, number)
    others = [name for name in side.columns if name not in named.values()]
    kept = {f"kept {place}": name for place, name in enumerate(others)}
    objects = side.kind.source(named["item"])
    if ordered and str(getattr(objects, "dtype", "")) == "object" and set in map(type, objects):
        raise ColumnError(
            f"column {named['item']!r} holds sets, which have no order; give lists, the best item first"
        )
    taken = side.kind.take(named | kept, ids=["user"])
    schema, rows = taken.collect_schema(), at_hand(taken)
    for inside, name in kept.items():
        if isinstance(schema[inside], pl.List | pl.Array | pl.Object) or (
            ordered and name == "rank"
        ):
            msg = f"column {name!r} is {dtype_shown(schema[inside])}, and cannot stand beside ranks and items; drop it first"
            raise ColumnError(msg)
    lists = {role: _list(role, named[role], schema[role], separator) for role in [*named][1:]}
    if rows is not None and ordered:  # nothing of a LazyFrame is collected
        _warn_of_two_lists(rows.select("user", *kept), named["user"])
    if rows is not None and separator is not None:
        _warn_of_no_separator(rows["item"], named["item"], separator)
    found = _exploded(taken.lazy().with_columns(**lists), named, number)
    columns = ["user", "item", *(["rank"] if ordered else []), *[*named][2:], *kept]
    return _given(side, found.select(columns), named, kept)


def _named(side: Side, number: str) -> dict[str, str]:
    """Return the columns of users, items and numbers by their roles; those of lists may be in the plural."""
    named, names = {}, side.context.names
    for role in ("user", "item", number):
        plural = f"{names[role]}s"
        is_optional = role == number and getattr(side.context, role) in {None, role}
        if role != "user" and names[role] not in side.columns and plural in side.columns:
            named[role] = plural
        elif not is_optional or names[role] in side.columns:
            several = (
                "; of items in several columns give frame[[...]].to_numpy() and users=frame['user']"
            )
            write = Either(f"{role}={NAMED}{several}", f"--columns {role}=NAME")
            named[role] = side.require(role, f"Name the column of the {role}: {write}")
    return named


def _list(role: str, name: str, dtype: pl.DataType, separator: str | None) -> pl.Expr:
    """Return a column as one of lists, or say what it is instead."""
    inner = getattr(dtype, "inner", pl.Null() if dtype == pl.Null else None)
    if separator is not None and dtype in TEXT:
        return _split(role, name, separator)
    if inner is None or inner.is_nested() or separator is not None:
        words = Either("separator=' '", "--lists-separator ' '")
        raise ColumnError(
            f"column {name!r} is {dtype_shown(dtype)}; lists are those of ids or numbers, or with {words} texts. A frame with "
            f"an item in each row is in long form; structs become columns by frame.explode({name!r}).unnest({name!r})"
        )
    return pl.col(role).cast(pl.List(inner))


def _split(role: str, name: str, separator: str) -> pl.Expr:
    """Return texts as lists of what stands between separators, without white space around it.

    White space in a row separates once; of another separator, nothing between two is a missing item, which keeps its place.
    """
    text = pl.col(role).cast(pl.String).str.strip_chars()
    part = pl.element().str.strip_chars()
    parts = pl.when(part != "").then(part) if separator.strip() else part.filter(part != "")
    lists = pl.when(text != "").then(text).str.split(separator).list.eval(parts)
    is_wrong = text.str.contains(A_LIST_IN_TEXT)
    if role != "item":
        texts, lists = lists, lists.list.eval(pl.element().cast(pl.Float64, strict=False))
        is_wrong |= texts.list.drop_nulls().list.len() > lists.list.drop_nulls().list.len()
    words = worded(
        f"column {name!r} holds ",
        shown_in_plan(text.str.slice(0, 40)),
        f", no values with {separator!r} between; of the text of a list, brackets included, first make lists: in pandas "
        "frame[name].map(ast.literal_eval), in Polars pl.col(name).str.json_decode(pl.List(pl.Int64))",
    )
    # NOTE: a check is 0 or fails; the list has to depend on it, or the check would not run
    return pl.when(fails_if(is_wrong, words) == 0).then(lists)


def _warn_of_two_lists(keys: pl.DataFrame, user: str) -> None:
    """Warn where a user has two lists that no other column tells apart, so that their items share ranks."""
    plain = keys.select(one for one in keys if not one.dtype.is_nested())
    found = keys["user"].filter(plain.is_duplicated()).drop_nulls()
    if len(found):
        warn(
            f"the column {user!r} has the user {found[0]!r} in several rows that no other column distinguishes, so items of "
            "several lists share a rank; keep one list of each user, or add the column that distinguishes the lists, such as "
            "their model, and bind it: rec(model='model')"
        )


def _warn_of_no_separator(items: pl.Series, name: str, separator: str) -> None:
    text = items.cast(pl.String).str.strip_chars()
    if not text.str.contains(separator, literal=True).any() and text.str.len_chars().sum():
        warn(
            f"no text of the column {name!r} has {separator!r} in it, so each list has one item, such as "
            f"{text.drop_nulls().first()!r}; {Either('separator=', '--lists-separator')} takes the text between two ids"
        )


def _exploded(rows: pl.LazyFrame, named: dict[str, str], number: str) -> pl.LazyFrame:
    """Return a row for each item of each list, with its place from 1; empty lists and masked numbers have none."""
    length = pl.col("item").list.len().fill_null(0).cast(pl.Int64)
    start, lists = pl.lit(1, pl.Int64), ["item", "rank"]
    if number in named:
        beside = pl.col(number).list.len().fill_null(0)
        found = worded(f"a list of {named['item']!r} has ", length, " items, and the one of ")
        words = worded(found, f"{named[number]!r} beside it ", beside, "; give one for each")
        start, lists = start + fails_if(length != beside, words), [*lists, number]
    counted = rows.with_columns(start=start, length=length).filter(pl.col("length") > 0)
    ranks = pl.int_ranges(pl.col("start"), pl.col("length") + pl.col("start"))
    long_rows = counted.with_columns(rank=ranks).explode(lists, **AS_EVER)
    if number not in named:
        return long_rows
    return long_rows.with_columns(pl.col(number).cast(pl.Float64)).filter(has_a_score(number))


def _given(side: Side, rows: pl.LazyFrame, named: dict[str, str], kept: dict[str, str]) -> Any:
    """Return long rows as a frame of the kind that came in, under its names."""
    kind, schema = side.kind, rows.collect_schema()
    names = {role: side.context.names[role] for role in named}
    of_users = kind.source(named["user"])
    sources = {name: kind.source(name) for name in kept.values()} | {names["user"]: of_users}
    # NOTE: a source gives a column back in the dtype it had, whatever it is inside the plan
    ids = ["item"] if of_users is not None else ["user", "item"]
    rows = rows.with_columns(in_own_dtype(pl.col(one), schema[one]) for one in ids)
    return kind.give(rows.rename(names | kept), sources)
