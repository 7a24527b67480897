"""Frames in long form from nested lists: list columns, mappings of users to items, arrays with a row for each user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

import polars as pl

from recframe.errors import RecframeError, warn
from recframe.frames.context import Context
from recframe.frames.forked import check_threads
from recframe.frames.kinds.lookup import in_memory, is_frame, kind_for
from recframe.frames.rows.places import by_item
from recframe.ways_in.ids import in_own_dtypes
from recframe.ways_in.list_columns import PLACE, long
from recframe.ways_in.masked import has_a_score
from recframe.ways_in.nesting import are_relevances, nested

if TYPE_CHECKING:
    import pandas as pd

F = TypeVar("F", bound="pl.DataFrame | pl.LazyFrame | pd.DataFrame")


@overload
def from_lists(
    lists: F, *, user: str = ..., item: str = ..., score: str = ..., separator: str | None = ...
) -> F: ...
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
    separator: str | None = None,
) -> Any:
    """Return nested recommendations as a frame in long form: user, item, rank and, where there are scores, score.

    The order of a list is its ranking, and the ranks are its places from 1; scores come along and change no rank. What is a
    mapping of items to scores has no other order than these: the best first, equal ones by item, ascending, NaN and None last.

        lists: one of
            a frame with a column of users and a list column of items, and of scores if there is one; a frame of the same kind
                comes back, a LazyFrame for a LazyFrame, with its other columns, such as `model` or `week`, beside each item;
            a mapping of users to lists, tuples, arrays or series of items, to lists of pairs (item, score), or to mappings
                {item: score};
            an array or tensor with a row of items for each user, or a list of such rows; `users` names them.
        scores: beside a mapping or rows of items, the scores in the same form.
        users: the ids of the rows, else their numbers from 0.
        items: the ids of the places that the lists hold in place of ids, as a model gives them that was fitted on a matrix; a
            place below 0 is padding and has no row.
        user, item, score: the names of the columns, in the result and in the frame; its list columns may have the plural.
        separator: what stands between the ids where a column of the frame has its lists as text: " " for "a b c". White space
            around an id is no part of it, and the ids are text.

    Whole numbers as ids are Int64 and categories text, the rank is Int64 and the score Float64, from `from_scores` and
    `from_truth` too, so that `pl.concat` takes the lists of several models; pandas keeps the dtype of its users.

    A score of minus infinity, or below -3e38, is padding that libraries write, and has no row. A user with an empty list has
    none either, and counts with 0 where the truth has the user. An item that a list repeats stays
    repeated, which `audit()` finds, and a None in a list is a row without an item, which is ignored and keeps its place.

    Raises a RecframeError for sets, which have no order, for ids of several kinds, for a column of a frame that cannot be
    repeated, such as further lists, and where a user has more scores than items or fewer; on a LazyFrame the last when it is
    collected. Warns where a user of a frame has several lists that no other column tells apart.

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
    check_threads()
    lists = in_memory(lists)
    if is_frame(lists):
        _check_alone("rf.from_lists", {"scores": scores, "users": users, "items": items})
        context = Context(user=user, item=item, score=score)
        return long(lists, context, "score", ordered=True, separator=separator)
    _check_frame("rf.from_lists", separator)
    rows, is_mapping = nested(lists, scores, users, items, ordered=True, call="rf.from_lists")
    rows = _by_score(rows) if is_mapping else _in_order(rows)
    names = {"user": user, "item": item, "place": PLACE, "number": score}
    return in_own_dtypes(_present(rows, items), names)


@overload
def from_truth(
    truth: F,
    relevance: str | None = ...,
    *,
    user: str = ...,
    item: str = ...,
    separator: str | None = ...,
) -> F: ...
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
def from_truth(  # noqa: PLR0913  what nested judgements do not say of themselves
    truth: Any,
    relevance: Any = None,
    *,
    users: Any = None,
    items: Any = None,
    user: str = "user",
    item: str = "item",
    separator: str | None = None,
) -> Any:
    """Return nested judgements, or a matrix of them, as a truth in long form: user, item and, with grades, relevance.

        truth: one of
            a frame with a column of users and a list column of items, and of relevances if there is one;
            a mapping of users to sets, lists, tuples, arrays or series of items, to lists of pairs (item, grade), or to
                mappings {item: grade}, as pytrec_eval and ranx take them;
            an array with a row of ids for each user, or a list of such rows; `users` names them;
            a matrix of relevances, users x items, as `from_scores` takes one: SciPy sparse, where each value that is stored
                counts, an array or tensor of numbers or Booleans, where each number but NaN does, or a pandas frame with the
                users in its index and the items in its columns. A 0 is judged not relevant, so that a user of zeros is in
                the truth; where 0 means that nothing is known, give `scipy.sparse.csr_array(matrix)`.
        relevance: beside a mapping or rows of items, the grades in the same form; for a frame, the name of their column.
        users, items: the ids of rows, and of the places that the lists hold or that are the columns of the matrix.
        user, item: the names of the columns, in the result and in the frame; its list columns may have the plural.
        separator: what stands between the ids where a column of the frame has its lists as text, as in `from_lists`.

    Its other columns are kept as `from_lists` keeps them, the dtypes of ids are those of `from_lists`, and the relevance is
    Float64. A user without an item has no row, and so is not in the truth. Without grades every row is relevant.

    An array is a matrix if it holds fractions or Booleans, or a number twice in a row; it is ids if it is padded by numbers
    below 0, if `items` are more or fewer than its columns, or if a number is above 100. Nested lists are ids.

    Raises a RecframeError for numbers that may be both, which says how to write either, for ids of several kinds, for a column
    of a frame that cannot be repeated, and where a user has more grades than items or fewer.

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
    check_threads()
    truth = in_memory(truth)
    names = {"user": user, "item": item, "number": "relevance"}
    if _is_matrix(truth, relevance, items, {user, item, f"{item}s"}):
        from recframe.ways_in.judged_matrix import of_matrix  # noqa: PLC0415  NumPy is loaded with it

        found = in_own_dtypes(of_matrix(truth, users, items), names)
        return kind_for(truth).give(found.lazy(), {}) if is_frame(truth) else found
    if is_frame(truth):
        _check_alone("rf.from_truth", {"users": users, "items": items})
        context = Context(user=user, item=item, relevance=relevance)
        return long(truth, context, "relevance", ordered=False, separator=separator)
    _check_frame("rf.from_truth", separator)
    rows, _ = nested(truth, relevance, users, items, ordered=False, call="rf.from_truth")
    return in_own_dtypes(_present(rows, items), names)


def _is_matrix(truth: Any, relevance: Any, items: Any, columns: set[str]) -> bool:
    """Whether a truth is a matrix of relevances, users x items, and not lists of ids."""
    is_sparse = hasattr(truth, "tocsr")
    if relevance is not None:
        if is_sparse:
            raise RecframeError("a sparse matrix holds its own relevances; leave relevance= out")
        return False
    if is_frame(truth) and not hasattr(truth, "axes"):
        return False
    if is_sparse or not hasattr(truth, "shape"):
        return is_sparse or are_relevances(truth)
    from recframe.ways_in.judged_matrix import is_matrix, is_table  # noqa: PLC0415  as above

    return is_table(truth, columns) if is_frame(truth) else is_matrix(truth, items)


def _present(rows: pl.DataFrame, items: Any) -> pl.DataFrame:
    """Return the rows that are no padding: those of places below 0, and those whose score says that they are none."""
    if items is not None:
        rows = rows.filter(pl.col("item").is_not_null())
    return rows.filter(has_a_score("number")) if "number" in rows.columns else rows


def _check_alone(call: str, given: dict[str, Any]) -> None:
    for name, value in given.items():
        if value is not None:
            msg = f"{name}= goes with mappings, lists and arrays; a frame has a column of its own for it: {call}(frame)"
            raise RecframeError(msg)


def _check_frame(call: str, separator: object) -> None:
    """Say so where a separator of texts is given with lists of Python."""
    if separator is not None:
        msg = f"separator= is for a frame with lists in text; split others before: {call}({{user: text.split()}})"
        raise RecframeError(msg)


def _by_score(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of each list by score; as the places are those of whole lists, they stay where they are."""
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
        rising = rows.filter(has_a_score("number") & (score > before))
        if len(rising):
            warn(
                f"the list of the user {rising['user'][0]!r} has a score that is higher than the one before it; the order of "
                "a list is its ranking and scores change no rank: sort the lists, or give {user: {item: score}}"
            )
    return rows
