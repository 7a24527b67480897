"""Nested lists, mappings and arrays of ids in long form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar, overload

import polars as pl

from recframe.errors import DataError, RecframeError, kind_of, warn
from recframe.frames.collecting import check_threads
from recframe.frames.kinds.kind import in_memory, is_frame
from recframe.frames.options import Context
from recframe.readers.ids import by_score, column_of, has_a_score, ids_of, in_own_dtypes, in_python
from recframe.readers.list_columns import exploded

if TYPE_CHECKING:
    import pandas as pd

MATRIX = "; a matrix of users x items goes into rf.from_scores(matrix), one of relevances with truth=True"

F = TypeVar("F", bound="pl.DataFrame | pl.LazyFrame | pd.DataFrame")


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

    The order of a list is its ranking, and the ranks are its places from 1; scores are kept and change no rank. A mapping of
    items to scores is ranked by score: the best first, ties by item, ascending, NaN and None last.

        lists: one of
            a frame with a column of users and a list column of items, and of scores if there is one; a frame of the same kind
                comes back, a LazyFrame for a LazyFrame, with its other columns, such as `model` or `week`, beside each item;
            a mapping of users to lists, tuples, arrays or series of items, to lists of pairs (item, score), or to mappings
                {item: score};
            an array or tensor with a row of items for each user, or a list of such rows; `users` names them.
        scores: beside a mapping or rows of items, the scores in the same form.
        users: the ids of the rows, else their numbers from 0.
        items: the ids, if the lists hold places instead, as models fitted on a matrix give them; a place below 0 is padding and
            has no row.
        user, item, score: the names of the columns, in the result and in the frame; its list columns may have the plural.

    Whole numbers as ids are Int64 and categories text, the rank is Int64 and the score Float64, from `from_scores` and
    `from_truth` too, so that `pl.concat` joins the lists of several models; pandas keeps the dtype of its users.

    A score of minus infinity, or below -3e38, is padding by libraries, and has no row. A user with an empty list has no row
    either, and counts as 0 if the truth has the user. Repeated items stay repeated, which `audit()` finds, and a None in a list
    is a row without an item, which is ignored but keeps its place.

    Raises a RecframeError for sets, which have no order, for ids of several kinds, for a frame with a column of ranks, and if a
    user has more or fewer scores than items; on a LazyFrame the last when it is collected. Warns if a user of a frame has
    several lists that no other column distinguishes.

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
    names = {"user": user, "item": item, "rank": "rank", "number": score}
    given = {"number": scores, "users": users, "items": items}
    lists = in_memory(lists)
    if is_frame(lists):
        _check_is_alone(given)
        return exploded(lists, Context(user=user, item=item, score=score), "score")
    rows = _rows(lists, **given, is_ordered=True)
    if "number" in rows.columns:
        _warn_of_rising(rows)
    return in_own_dtypes(rows, names)


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
    """Return nested judgements as a truth in long form: user, item and, with grades, relevance.

        truth: one of
            a frame with a column of users and a list column of items, and of relevances if there is one;
            a mapping of users to sets, lists, tuples, arrays or series of items, to lists of pairs (item, grade), or to
                mappings {item: grade}, as pytrec_eval and ranx take them;
            an array with a row of ids for each user, or a list of such rows; `users` names them.
        relevance: beside a mapping or rows of items, the grades in the same form; for a frame, the name of their column.
        users, items: the ids of rows, and of places in the lists.
        user, item: the names of the columns, in the result and in the frame; its list columns may have the plural.

    A matrix of relevances, users x items, is `rf.from_scores(matrix, truth=True)`. Other columns of a frame are kept as
    `from_lists` keeps them, the dtypes of ids are those of `from_lists`, and the relevance is Float64. A user without an item
    has no row, and so is not in the truth. Without grades every row is relevant.

    Raises a RecframeError for matrices, for ids of several kinds, and if a user has more or fewer grades than items.

    >>> import recframe as rf
    >>> rf.from_truth({"ann": {"emma": 2, "ilium": 1}, "bob": {"dune": 0}})
    shape: (3, 3)
    ┌──────┬───────┬───────────┐
    │ user ┆ item  ┆ relevance │
    │ ---  ┆ ---   ┆ ---       │
    │ str  ┆ str   ┆ f64       │
    ╞══════╪═══════╪═══════════╡
    │ ann  ┆ emma  ┆ 2.0       │
    │ ann  ┆ ilium ┆ 1.0       │
    │ bob  ┆ dune  ┆ 0.0       │
    └──────┴───────┴───────────┘
    """
    names = {"user": user, "item": item, "number": "relevance"}
    given = {"number": relevance, "users": users, "items": items}
    truth = in_memory(truth)
    if is_frame(truth):
        name = relevance if isinstance(relevance, str) else None
        _check_is_alone(given if name is None else given | {"number": None})
        return exploded(truth, Context(user=user, item=item, relevance=name), "relevance")
    rows = _rows(truth, **given, is_ordered=False)
    pairs = rows.select("list", "item").drop_nulls()
    if not isinstance(truth, Mapping) and pairs.is_duplicated().any():
        msg = f"a row of ids has one twice{MATRIX}; what fills a row up is no id: leave it out"
        raise DataError(msg)
    return in_own_dtypes(rows, names)


def _check_is_alone(given: Mapping[str, Any]) -> None:
    """Reject arguments that a frame has as columns."""
    if any(value is not None for value in given.values()):
        raise RecframeError("a frame has its numbers, users and items as columns: give their names")


def _rows(lists: Any, number: Any, users: Any, items: Any, *, is_ordered: bool) -> pl.DataFrame:
    """Return a row for each item of nested lists: list, user, item, rank and, where there are some, number."""
    check_threads()
    if isinstance(lists, Mapping) and users is None:
        users, lists = [*lists], [*lists.values()]
        number = [number[user] for user in users] if isinstance(number, Mapping) else number
    is_matrix = len(getattr(lists, "shape", ())) == 2 and not hasattr(lists, "tocsr")  # noqa: PLR2004  users and places
    if not is_matrix and not isinstance(lists, list | tuple):
        shown = f"{kind_of(lists)} {getattr(lists, 'shape', '')}".strip()
        msg = "give a frame with list columns, a mapping of users to their items, or rows of items with users=; "
        raise RecframeError(f"{msg}found {shown}{MATRIX}")
    given = in_python(lists)
    ids = ids_of(users, "users", len(given))
    rows = [_list(row, user, is_ordered=is_ordered) for user, row in zip(ids, given, strict=True)]
    if number is not None:
        rows = _paired(rows, in_python(number))
    places = pl.Series([place for place, row in enumerate(rows) for _ in row], dtype=pl.UInt32)
    columns = _columns([*chain.from_iterable(rows)], items)
    found = pl.DataFrame({"list": places, "user": ids.gather(places), **columns})
    has_numbers = "number" in columns
    if has_numbers and is_ordered and any(isinstance(row, Mapping) for row in given):
        found = by_score(found, "list", "number")
    found = found.with_columns(rank=pl.int_range(1, pl.len() + 1).over("list"))
    found = found.filter(has_a_score("number")) if has_numbers else found
    return found if items is None else found.drop_nulls("item")


def _list(row: Any, user: Any, *, is_ordered: bool) -> list[Any]:
    """Return a user's list: items, or pairs of an item and its number."""
    if isinstance(row, Mapping):
        return [*row.items()]
    is_list = hasattr(row, "__len__") and not isinstance(row, str)
    if not is_list or (is_ordered and isinstance(row, AbstractSet)):
        msg = f"the user {user!r} has {kind_of(row)}; give a list of items in their order, or a mapping of items to numbers"
        raise RecframeError(msg)
    return in_python(row)


def _paired(rows: list[list[Any]], numbers: list[Any]) -> list[list[Any]]:
    """Return lists of items as lists of pairs of an item and its number."""
    try:
        pairs = zip(rows, map(in_python, numbers), strict=True)
        return [[*zip(*pair, strict=True)] for pair in pairs]
    except ValueError:
        msg = "a user has more or fewer numbers than items; give a number for each item"
        raise DataError(msg) from None


def _columns(values: Sequence[Any], items: Any) -> dict[str, pl.Series]:
    """Return items, and the numbers of pairs; `items` has the ids of items that are places."""
    numbers = {}
    if any(isinstance(value, tuple) for value in values):
        try:
            values, given = zip(*values, strict=True)
            floats = [None if one is None else float(one) for one in given]
        except (TypeError, ValueError) as error:
            msg = f"an item is paired with a number, a score or a relevance: {error}"
            raise RecframeError(msg) from None
        numbers["number"] = pl.Series(floats, dtype=pl.Float64)
    found = column_of(values, "the lists")
    whole = found.cast(pl.Int64, strict=False) if found.dtype.is_float() else found
    if found.dtype == pl.Boolean or (whole != found).any():
        raise RecframeError(f"the lists hold {found[0]}, which is not an item id{MATRIX}")
    if items is None:
        return {"item": whole, **numbers}
    ids, places = ids_of(items, "items"), whole.cast(pl.Int64)
    beyond = places.filter(places >= len(ids))
    if len(beyond):
        msg = f"the lists have the place {beyond[0]}, and items= has the ids of {len(ids):,} places"
        raise DataError(msg)
    return {"item": ids.gather(places.set(places < 0, None)), **numbers}


def _warn_of_rising(rows: pl.DataFrame) -> None:
    """Warn where the scores of a list rise along it."""
    score = pl.col("number").fill_nan(None)
    rising = rows.filter(score > score.shift().over("list"))["user"]
    if len(rising):
        warn(
            f"the list of the user {rising[0]!r} has a score that is higher than the score before it; a list's order is its "
            "ranking, whatever the scores: sort the lists, or give {user: {item: score}}"
        )
