"""Frames in long form from nested lists: list columns, mappings of users to items, arrays with a row for each user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

import polars as pl

from recframe.errors import (
    ColumnError,
    RecframeError,
    dtype_shown,
    fails_if,
    warn,
    worded,
)
from recframe.frames.context import Context
from recframe.frames.kinds.lookup import in_memory, is_frame
from recframe.frames.roles import Side
from recframe.frames.rows.places import by_item
from recframe.ways_in.masked import NO_SCORE
from recframe.ways_in.nesting import Nested, nested

if TYPE_CHECKING:
    import pandas as pd

F = TypeVar("F", bound="pl.DataFrame | pl.LazyFrame | pd.DataFrame")
PLACE = "rank"


@overload
def from_lists(lists: F, *, user: str = ..., item: str = ..., score: str = ...) -> F: ...
@overload
def from_lists(
    lists: Mapping[Any, Any] | Sequence[Any] | Any,
    scores: Any = ...,
    *,
    users: Any = ...,
    items: Any = ...,
    user: str = ...,
    item: str = ...,
    score: str = ...,
) -> pl.DataFrame: ...


def from_lists(  # noqa: PLR0913  what nested lists do not say of themselves
    lists: Any,
    scores: Any = None,
    *,
    users: Any = None,
    items: Any = None,
    user: str = "user",
    item: str = "item",
    score: str = "score",
) -> Any:
    """Return nested recommendations as a frame in long form: user, item, rank and, where there are scores, score.

    The order of a list is its ranking, and the ranks are its places from 1; scores come along and change no rank. What is a
    mapping of items to scores has no other order than these: the best first, equal ones by item, ascending, NaN and None last.

        lists: one of
            a frame with a column of users and a list column of items, and of scores if there is one; a frame of the same kind
                comes back, a LazyFrame for a LazyFrame;
            a mapping of users to lists, tuples, arrays or series of items, to lists of pairs (item, score), or to mappings
                {item: score};
            an array or tensor with a row of items for each user, or a list of such rows; `users` names them.
        scores: beside a mapping or rows of items, the scores in the same form.
        users: the ids of the rows, else their numbers from 0.
        items: the ids of the places that the lists hold in place of ids, as a model gives them that was fitted on a matrix; a
            place below 0 is padding and has no row.
        user, item, score: the names of the columns, in the result and in the frame; its list columns may have the plural.

    A score of minus infinity, or below -3e38, is padding that libraries write, and has no row. A user with an empty list has
    none either, and counts with 0 where the truth has the user. An item that a list repeats stays
    repeated, which `audit()` finds, and a None in a list is a row without an item, which is ignored and keeps its place.

    Raises a RecframeError for sets, which have no order, for ids of several kinds, and where a user has more scores than items
    or fewer; on a LazyFrame the last when it is collected.

    >>> import recframe as rf
    >>> rf.from_lists({"ann": ["emma", "dune"], "bob": ["dune"]})
    shape: (3, 3)
    ┌──────┬──────┬──────┐
    │ user ┆ item ┆ rank │
    │ ---  ┆ ---  ┆ ---  │
    │ str  ┆ str  ┆ i64  │
    ╞══════╪══════╪══════╡
    │ ann  ┆ emma ┆ 1    │
    │ ann  ┆ dune ┆ 2    │
    │ bob  ┆ dune ┆ 1    │
    └──────┴──────┴──────┘
    """
    lists = in_memory(lists)
    if is_frame(lists):
        _check_alone("rf.from_lists", {"scores": scores, "users": users, "items": items})
        return _long(lists, Context(user=user, item=item, score=score), "score", ordered=True)
    found = nested(lists, scores, users, ordered=True, call="rf.from_lists").decoded(items)
    rows = _by_score(found) if found.is_mapping else _in_order(found.frame())
    names = {"user": user, "item": item, "place": PLACE, "number": score}
    return _present(rows, items).select(
        pl.col(name).alias(names[name]) for name in names if name in rows.columns
    )


@overload
def from_truth(truth: F, relevance: str | None = ..., *, user: str = ..., item: str = ...) -> F: ...
@overload
def from_truth(
    truth: Mapping[Any, Any] | Sequence[Any] | Any,
    relevance: Any = ...,
    *,
    users: Any = ...,
    items: Any = ...,
    user: str = ...,
    item: str = ...,
) -> pl.DataFrame: ...
def from_truth(
    truth: Any,
    relevance: Any = None,
    *,
    users: Any = None,
    items: Any = None,
    user: str = "user",
    item: str = "item",
) -> Any:
    """Return nested judgements, or a matrix of them, as a truth in long form: user, item and, with grades, relevance.

        truth: one of
            a frame with a column of users and a list column of items, and of relevances if there is one;
            a mapping of users to sets, lists, tuples, arrays or series of items, to lists of pairs (item, grade), or to
                mappings {item: grade}, as pytrec_eval and ranx take them;
            an array with a row of items for each user, or a list of such rows; `users` names them;
            a SciPy sparse matrix of users x items, whose every stored value is a grade.
        relevance: beside a mapping or rows of items, the grades in the same form; for a frame, the name of their column.
        users, items: the ids of rows, and of the places that the lists hold or that are the columns of the matrix.
        user, item: the names of the columns, in the result and in the frame; its list columns may have the plural.

    A user without an item has no row, and so is not in the truth. Without grades every row is relevant.

    Raises a RecframeError for ids of several kinds, and where a user has more grades than items or fewer.

    >>> import recframe as rf
    >>> rf.from_truth({"ann": {"emma": 2, "ilium": 1}, "bob": {"dune": 0}})
    shape: (3, 3)
    ┌──────┬───────┬───────────┐
    │ user ┆ item  ┆ relevance │
    │ ---  ┆ ---   ┆ ---       │
    │ str  ┆ str   ┆ i64       │
    ╞══════╪═══════╪═══════════╡
    │ ann  ┆ emma  ┆ 2         │
    │ ann  ┆ ilium ┆ 1         │
    │ bob  ┆ dune  ┆ 0         │
    └──────┴───────┴───────────┘
    """
    truth = in_memory(truth)
    if is_frame(truth):
        _check_alone("rf.from_truth", {"users": users, "items": items})
        return _long(
            truth, Context(user=user, item=item, relevance=relevance), "relevance", ordered=False
        )
    if hasattr(truth, "tocsr"):
        if relevance is not None:
            raise RecframeError("a sparse matrix holds its own relevances; leave relevance= out")
        found = _of_matrix(truth, users)
    else:
        found = nested(truth, relevance, users, ordered=False, call="rf.from_truth")
    rows = found.decoded(items).frame()
    names = {"user": user, "item": item, "number": "relevance"}
    return _present(rows, items).select(
        pl.col(name).alias(names[name]) for name in names if name in rows.columns
    )


def _present(rows: pl.DataFrame, items: Any) -> pl.DataFrame:
    """Return the rows that are no padding: those of places below 0, and those whose score says that they are none."""
    if items is not None:
        rows = rows.filter(pl.col("item").is_not_null())
    return rows.filter(_has_a_score("number")) if "number" in rows.columns else rows


def _has_a_score(name: str) -> pl.Expr:
    score = pl.col(name).cast(pl.Float64)
    return (score > NO_SCORE) | score.is_null()  # a NaN is above all numbers


def _check_alone(call: str, given: dict[str, Any]) -> None:
    for name, value in given.items():
        if value is not None:
            msg = f"{name}= goes with mappings, lists and arrays; a frame has a column of its own for it: {call}(frame)"
            raise RecframeError(msg)


def _by_score(found: Nested) -> pl.DataFrame:
    """Return the rows of each list by score; as the places are those of whole lists, they stay where they are."""
    rows = found.frame()
    score = (
        pl.col("number").fill_nan(None) if rows.schema["number"].is_float() else pl.col("number")
    )
    order = [pl.col("list"), score, *by_item(rows.schema)]
    ranked = rows.drop("place").sort(order, descending=[False, True, False], nulls_last=True)
    return ranked.hstack([rows["place"]])


def _in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows, and warn where the scores of a list rise along it."""
    if "number" in rows.columns:
        score, before = pl.col("number"), pl.col("number").shift().over("list")
        rising = rows.filter(_has_a_score("number") & (score > before))
        if len(rising):
            warn(
                f"the list of the user {rising['user'][0]!r} has a score that is higher than the one before it; the order of "
                "a list is its ranking and scores change no rank: sort the lists, or give {user: {item: score}}"
            )
    return rows


def _of_matrix(truth: Any, users: Any) -> Nested:
    from recframe.ways_in.candidates import array_of, cells_of, matrix_of  # noqa: PLC0415  NumPy is loaded with it
    from recframe.ways_in.ids import ids_of  # noqa: PLC0415

    matrix = matrix_of(truth)
    _, columns = cells_of(matrix)
    lengths = (matrix.indptr[1:] - matrix.indptr[:-1]).tolist()
    ids = ids_of(users, "users", matrix.shape[0], "rows of the matrix")
    return Nested(ids, lengths, pl.Series(columns), pl.Series(array_of(matrix.data)))


def _long(frame: Any, context: Context, number: str, *, ordered: bool) -> Any:
    """Return a frame with list columns in long form, as a frame of the same kind."""
    side = Side("the frame of lists", frame, context)
    names = {
        "user": context.name_of("user"),
        "item": context.name_of("item"),
        number: context.name_of(number),
    }
    held = {role: _list_column(side, name) for role, name in names.items() if role != "user"}
    hint = "Name the column of the {0}: {1}(frame, {0}='...')"
    call = "rf.from_lists" if ordered else "rf.from_truth"
    named = {"user": side.require("user", hint.format("user", call))}
    named["item"] = held["item"] or side.require("item", hint.format("item", call))
    if held[number] is not None or getattr(context, number) not in {None, number}:
        named[number] = held[number] or side.require(number, hint.format(number, call))
    taken = _taken(side, named, ordered=ordered).lazy()
    roles = ["item", *([number] if number in named else [])]
    taken = taken.with_columns(
        _as_list(role, taken.collect_schema()[role], named[role]) for role in roles
    )
    rows = _exploded(taken, roles, named)
    if number in named:
        rows = rows.filter(_has_a_score(number))
    rows = rows.select(["user", "item", *([PLACE] if ordered else []), *roles[1:]])
    result = rows.rename({role: names[role] for role in named})
    return side.kind.give(result, {names["user"]: side.kind.source(named["user"])})


def _list_column(side: Side, name: str) -> str | None:
    """Return the name of a list column, which may be in the plural."""
    return next((one for one in (name, f"{name}s") if one in side.columns), None)


def _taken(side: Side, named: dict[str, str], *, ordered: bool) -> pl.DataFrame | pl.LazyFrame:
    objects = side.kind.source(named["item"])
    # Arrow makes lists of them, in any order
    if (
        ordered
        and str(getattr(objects, "dtype", "")) == "object"
        and {*map(type, objects)} & {set, frozenset}
    ):
        msg = f"column {named['item']!r} holds sets, which have no order; give lists, the best item first"
        raise RecframeError(msg)
    try:
        return side.kind.take(named, ids=["user"])
    except ColumnError as error:
        found, mark, _ = str(error).partition("; give it one dtype")
        hint = "; give all lists ids of one kind: frame[name] = [[str(one) for one in ids] for ids in frame[name]]"
        raise ColumnError(found + (hint if mark else "")) from error


def _as_list(role: str, dtype: pl.DataType, name: str) -> pl.Expr:
    """Return a list column as one, or say what it is instead."""
    if isinstance(dtype, pl.Array):
        return pl.col(role).arr.to_list()
    inner = getattr(dtype, "inner", None)
    if dtype == pl.Null:
        return pl.col(role).cast(pl.List(pl.Null))
    if inner is None:
        found = f"column {name!r} is {dtype_shown(dtype)}, not lists"
        msg = f"{found}; where each row has one item, the frame is in long form and needs no more"
        raise ColumnError(msg)
    if inner.is_nested():
        msg = f"column {name!r} is {dtype_shown(dtype)}, not lists of ids or numbers"
        more = (
            f": write frame.explode({name!r}).unnest({name!r}), which makes columns of them"
            if inner == pl.Struct
            else ""
        )
        raise ColumnError(msg + more)
    return pl.col(role)


def _exploded(taken: pl.LazyFrame, roles: list[str], named: dict[str, str]) -> pl.LazyFrame:
    """Return a row for each item of each list, with its place from 1; empty lists have none."""
    length = pl.col("item").list.len().fill_null(0).cast(pl.Int64)
    start = pl.lit(1, dtype=pl.Int64)
    for other in roles[1:]:
        beside = pl.col(other).list.len().fill_null(0)
        found = worded(
            f"a list of {named['item']!r} has ",
            length,
            f" items, and the one of {named[other]!r} beside it ",
            beside,
        )
        words = worded(found, "; give one for each")
        start = start + fails_if(length != beside, words)
    lists = taken.with_columns(start=start, length=length).filter(pl.col("length") > 0)
    places = pl.int_ranges(pl.col("start"), pl.col("length") + pl.col("start"))
    return (
        lists.with_columns(places.alias(PLACE)).select("user", *roles, PLACE).explode(*roles, PLACE)
    )
