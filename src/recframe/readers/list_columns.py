"""Frames with list columns, or with lists in text, in long form."""

from __future__ import annotations

from typing import Any

import polars as pl

from recframe.errors import (
    ColumnError,
    RecframeError,
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
    named = _named(side, number, "rf.from_lists" if ordered else "rf.from_truth")
    others = [name for name in side.columns if name not in named.values()]
    kept = {f"kept {place}": name for place, name in enumerate(others)}
    _check_sets(side.kind.source(named["item"]), named["item"], ordered=ordered)
    taken = side.kind.take(named | kept, ids=["user"])
    schema, rows = taken.collect_schema(), at_hand(taken)
    for inside, name in kept.items():
        if isinstance(schema[inside], pl.List | pl.Array | pl.Object) or (
            ordered and name == "rank"
        ):
            msg = f"column {name!r} is {dtype_shown(schema[inside])}, and cannot stand beside ranks and items; drop it first"
            raise ColumnError(msg)
    lists = [*named][1:]
    columns = {role: _list(role, named[role], schema[role], separator) for role in lists}
    if rows is not None and separator is not None:  # nothing of a LazyFrame is collected
        _warn_of_no_separator(rows["item"], named["item"], separator)
    found = _exploded(taken.lazy().with_columns(**columns), {role: named[role] for role in lists})
    if number in named:
        found = found.with_columns(pl.col(number).cast(pl.Float64)).filter(has_a_score(number))
    ranks = ["rank"] if ordered else []
    return _given(side, found.select("user", "item", *ranks, *lists[1:], *kept), named, kept)


def _named(side: Side, number: str, call: str) -> dict[str, str]:
    """Return the columns of users, items and numbers by their roles; those of lists may be in the plural."""
    named = {}
    for role in ("user", "item", number):
        name = side.context.names[role]
        plural = f"{name}s" if role != "user" else name
        found = next((one for one in (name, plural) if one in side.columns), None)
        if found is None and (role != number or getattr(side.context, role) not in {None, role}):
            several = f"{call}(frame[[...]].to_numpy(), users=frame[{name!r}])"
            of_python = (
                f"{call}(frame, {role}={NAMED}); of items in several columns write {several}"
            )
            write = Either(of_python, f"--columns {role}=NAME")
            found = side.require(role, f"Name the column of the {role}: {write}")
        if found is not None:
            named[role] = found
    return named


def _check_sets(items: Any, name: str, *, ordered: bool) -> None:
    """Reject sets in a column of pandas, of which Arrow makes lists in any order."""
    if not ordered or str(getattr(items, "dtype", "")) != "object":
        return
    if {*map(type, items)} & {set, frozenset}:
        msg = f"column {name!r} holds sets, which have no order; give lists, the best item first"
        raise RecframeError(msg)


def _list(role: str, name: str, dtype: pl.DataType, separator: str | None) -> pl.Expr:
    """Return a column as one of lists, or say what it is instead."""
    found, inner = f"column {name!r} is {dtype_shown(dtype)}", getattr(dtype, "inner", None)
    if separator is not None and dtype in TEXT:
        return _split(role, name, separator)
    if separator is not None:
        words = Either(f"separator={separator!r}", f"--lists-separator {separator!r}")
        raise ColumnError(
            f"{words} is for lists that are written as text, and {found}; leave it out"
        )
    if dtype == pl.Null:
        return pl.col(role).cast(pl.List(pl.Null))
    if inner is None or inner.is_nested():
        raise ColumnError(
            f"{found}, not lists of ids or numbers; a frame with an item in each row is in long form already, a text is a "
            f"list with separator=' ', and structs become columns by frame.explode({name!r}).unnest({name!r})"
        )
    return pl.col(role).arr.to_list() if isinstance(dtype, pl.Array) else pl.col(role)


def _split(role: str, name: str, separator: str) -> pl.Expr:
    """Return texts as lists of what stands between separators, without white space around it.

    White space in a row separates once; of another separator, nothing between two is a missing item, which keeps its place.
    """
    text = pl.col(role).cast(pl.String).str.strip_chars()
    part = pl.element().str.strip_chars()
    parts = pl.when(part != "").then(part) if separator.strip() else part.filter(part != "")
    lists = pl.when(text != "").then(text).str.split(separator).list.eval(parts)
    in_brackets = worded(
        f"column {name!r} holds the text of a list, ",
        shown_in_plan(text.str.slice(0, 40)),
        ", brackets included; first make lists of it: in pandas frame[name].map(ast.literal_eval), in Polars "
        "pl.col(name).str.json_decode(pl.List(pl.Int64))",
    )
    is_wrong = fails_if(text.str.contains(A_LIST_IN_TEXT), in_brackets)
    if role != "item":
        texts, lists = lists, lists.list.eval(pl.element().cast(pl.Float64, strict=False))
        is_lost = texts.list.drop_nulls().list.len() > lists.list.drop_nulls().list.len()
        words = worded(f"column {name!r} holds ", shown_in_plan(text), ", not numbers")
        is_wrong = is_wrong + fails_if(is_lost, words)
    # NOTE: a check is 0 or fails; its list has to depend on it, or the check would not run
    return pl.when(is_wrong == 0).then(lists)


def _warn_of_no_separator(items: pl.Series, name: str, separator: str) -> None:
    text = items.cast(pl.String).str.strip_chars()
    if not text.str.contains(separator, literal=True).any() and text.str.len_chars().sum():
        warn(
            f"no text of the column {name!r} has {separator!r} in it, so each list has one item, such as "
            f"{text.drop_nulls().first()!r}; {Either('separator=', '--lists-separator')} takes the text between two ids"
        )


def _exploded(rows: pl.LazyFrame, lists: dict[str, str]) -> pl.LazyFrame:
    """Return a row for each item of each list, with its place from 1; empty lists have none."""
    length, start = pl.col("item").list.len().fill_null(0).cast(pl.Int64), pl.lit(1, pl.Int64)
    for role in [*lists][1:]:
        beside = pl.col(role).list.len().fill_null(0)
        items = worded(f"a list of {lists['item']!r} has ", length, " items, and the one of ")
        words = worded(items, f"{lists[role]!r} beside it ", beside, "; give one for each")
        start = start + fails_if(length != beside, words)
    counted = rows.with_columns(start=start, length=length).filter(pl.col("length") > 0)
    ranks = pl.int_ranges(pl.col("start"), pl.col("length") + pl.col("start"))
    return counted.with_columns(rank=ranks).explode(*lists, "rank", **AS_EVER)


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
