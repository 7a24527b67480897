"""Nested lists, mappings and arrays of ids in long form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar, overload

import polars as pl

from recframe.errors import DataError, RecframeError, kind_of, shown, warn
from recframe.frames.collecting import check_threads
from recframe.frames.kinds.lookup import in_memory, is_frame
from recframe.frames.options import Context
from recframe.frames.rows.joins import AS_EVER
from recframe.readers.ids import by_score, column_of, has_a_score, ids_of, in_own_dtypes, in_python
from recframe.readers.list_columns import long

if TYPE_CHECKING:
    import pandas as pd

MATRIX = "; a matrix of users x items goes into rf.from_scores(matrix), one of relevances with truth=True"

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
        separator: between ids, if a column of the frame has its lists as text: " " for "a b c". White space around an id is
            removed, and the ids are text.

    Whole numbers as ids are Int64 and categories text, the rank is Int64 and the score Float64, from `from_scores` and
    `from_truth` too, so that `pl.concat` joins the lists of several models; pandas keeps the dtype of its users.

    A score of minus infinity, or below -3e38, is padding by libraries, and has no row. A user with an empty list has no row
    either, and counts as 0 if the truth has the user. Repeated items stay repeated, which `audit()` finds, and a None in a list
    is a row without an item, which is ignored but keeps its place.

    Raises a RecframeError for sets, which have no order, for ids of several kinds, for a column of a frame that cannot be
    repeated, such as further lists, and if a user has more or fewer scores than items; on a LazyFrame the last when it is
    collected. Warns if a user of a frame has several lists that no other column distinguishes.

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
    lists, context = in_memory(lists), Context(user=user, item=item, score=score)
    if is_frame(lists):
        _check_frame("rf.from_lists", separator, scores=scores, users=users, items=items)
        return long(lists, context, "score", ordered=True, separator=separator)
    rows, is_mapping = _flat(lists, scores, users, items, separator, "rf.from_lists")
    if is_mapping:  # the ranks are those of whole lists, masked scores among them
        rows = by_score(rows.drop("rank"), "list", "number").hstack([rows["rank"]])
    elif "number" in rows.columns:
        _warn_of_rising(rows)
    return _of_scores(rows, {"user": user, "item": item, "rank": "rank", "number": score})


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
    """Return nested judgements as a truth in long form: user, item and, with grades, relevance.

        truth: one of
            a frame with a column of users and a list column of items, and of relevances if there is one;
            a mapping of users to sets, lists, tuples, arrays or series of items, to lists of pairs (item, grade), or to
                mappings {item: grade}, as pytrec_eval and ranx take them;
            an array with a row of ids for each user, or a list of such rows; `users` names them.
        relevance: beside a mapping or rows of items, the grades in the same form; for a frame, the name of their column.
        users, items: the ids of rows, and of places in the lists.
        user, item: the names of the columns, in the result and in the frame; its list columns may have the plural.
        separator: between ids, if a column of the frame has its lists as text, as in `from_lists`.

    A matrix of relevances, users x items, is `rf.from_scores(matrix, truth=True)`. Other columns of a frame are kept as
    `from_lists` keeps them, the dtypes of ids are those of `from_lists`, and the relevance is Float64. A user without an item
    has no row, and so is not in the truth. Without grades every row is relevant.

    Raises a RecframeError for matrices, for ids of several kinds, for a column of a frame that cannot be repeated, and if a
    user has more or fewer grades than items.

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
    if is_frame(truth):
        _check_frame("rf.from_truth", separator, users=users, items=items)
        context = Context(user=user, item=item, relevance=relevance)
        return long(truth, context, "relevance", ordered=False, separator=separator)
    rows, _ = _flat(truth, relevance, users, items, separator, "rf.from_truth")
    if not isinstance(truth, Mapping) and rows.select("list", "item").is_duplicated().any():
        raise DataError(
            f"a row of ids has one twice{MATRIX}; what fills a row up is no id: leave it out"
        )
    return _of_scores(rows, {"user": user, "item": item, "number": "relevance"})


def _check_frame(call: str, separator: object, **alone: Any) -> None:
    """Reject arguments that a frame has as columns, and a separator that is none."""
    given = next((name for name, value in alone.items() if value is not None), None)
    if given is not None:
        msg = (
            f"{given}= is for mappings, lists and arrays; a frame has it as a column: {call}(frame)"
        )
        raise RecframeError(msg)
    if separator is not None and (not isinstance(separator, str) or not separator):
        msg = f"separator={shown(separator)}: separator takes the text between two ids: {call}(frame, separator=' ')"
        raise RecframeError(msg)


def _of_scores(rows: pl.DataFrame, names: dict[str, str]) -> pl.DataFrame:
    """Return rows under their names, without those whose number is a mask."""
    if "number" in rows.columns:
        rows = rows.filter(has_a_score("number"))
    return in_own_dtypes(rows, names)


def _flat(
    lists: Any, numbers: Any, users: Any, items: Any, separator: str | None, call: str
) -> tuple[pl.DataFrame, bool]:
    """Return a row for each item of each list: list, user, rank (from 1), item and, where there are some, number.

    The second value says that items were keys, so that the numbers tell their order.
    """
    if separator is not None:
        msg = f"separator= is for a frame with lists in text; split others first: {call}({{user: text.split()}})"
        raise RecframeError(msg)
    ids, rows, beside = _laid_out(lists, numbers, users, call)
    is_mapping = bool(rows) and all(isinstance(row, Mapping) for row in rows)
    if is_mapping:
        if beside is not None:
            msg = f"the items have numbers, and others beside them; give {call} one of the two"
            raise RecframeError(msg)
        rows, beside = [[*row] for row in rows], [[*row.values()] for row in rows]
    rows = [_list(row, user, call) for row, user in zip(rows, ids, strict=True)]
    pairs = [*chain.from_iterable(rows)]
    if beside is None and pairs and all(map(_is_pair, pairs)):
        rows, beside = [[[one[place] for one in row] for row in rows] for place in (0, 1)]
    lengths = [*map(len, rows)]
    listed = pl.DataFrame({"user": ids, "n": pl.Series(lengths, dtype=pl.Int64)})
    listed = listed.with_row_index("list").filter(pl.col("n") > 0)
    ranks = pl.int_ranges(1, pl.col("n") + 1).alias("rank")
    columns = {"item": _items([*chain.from_iterable(rows)], call)}
    if beside is not None:
        beside = [in_python(row) for row in beside]
        for user, n, row in zip(ids, lengths, beside, strict=True):
            if len(row) != n:
                found = f"the user {user!r} has {n} items and {len(row)} numbers beside them"
                raise DataError(f"{found}; give one for each")
        columns["number"] = _numbers([*chain.from_iterable(beside)], call)
    long_rows = listed.select("list", "user", ranks).explode("rank", **AS_EVER)
    return _at_places(long_rows.with_columns(**columns), items), is_mapping


def _laid_out(
    lists: Any, numbers: Any, users: Any, call: str
) -> tuple[pl.Series, list[Any], list[Any] | None]:
    """Return the users, each one's list, and the numbers beside them where there are any."""
    if isinstance(lists, Mapping):
        if users is not None or (numbers is not None and numbers.keys() != lists.keys()):
            msg = f"the users are the keys, of the numbers beside the items too: {call}({{user: [item, ...]}})"
            raise RecframeError(msg)
        beside = None if numbers is None else [numbers[user] for user in lists]
        return column_of([*lists], "the keys"), [*lists.values()], beside
    shape = getattr(lists, "shape", ())
    if hasattr(lists, "tocsr") or not (len(shape) == 2 or isinstance(lists, list | tuple)):  # noqa: PLR2004  users and places
        found = f"an array of the shape {tuple(shape)}" if shape else kind_of(lists)
        msg = f"{call} takes a frame with list columns, a mapping of users to their items, or rows of items with users=; "
        raise RecframeError(f"{msg}found {found}{MATRIX}")
    rows, beside = in_python(lists), None if numbers is None else in_python(numbers)
    if beside is not None and len(beside) != len(rows):
        msg = f"there are {len(rows):,} lists of items and {len(beside):,} of numbers; give one of each for every user"
        raise RecframeError(msg)
    return ids_of(users, "users", len(rows), "lists"), rows, beside


def _list(row: Any, user: object, call: str) -> list[Any]:
    """Return a user's list as Python holds it."""
    is_set = isinstance(row, AbstractSet) and call == "rf.from_lists"
    if is_set or isinstance(row, str | bytes | Mapping) or not hasattr(row, "__len__"):
        msg = f"the user {user!r} has {kind_of(row)}; give a list of items in their order, or a mapping of items to numbers"
        raise RecframeError(msg)
    return in_python(row)


def _is_pair(value: object) -> bool:
    """Whether a value is an item with its number."""
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], Real)  # noqa: PLR2004  as said


def _items(values: list[Any], call: str) -> pl.Series:
    """Return items as ids; whole numbers that came as floats, as they do beside a NaN, are whole again."""
    ids = column_of(values, "the lists")
    if ids.dtype.is_float():
        ids = ids.fill_nan(None)
        is_whole = (ids == ids.floor()).all()
        ids = ids.cast(pl.Int64) if is_whole else ids
    if ids.dtype.is_float() or ids.dtype == pl.Boolean:
        raise RecframeError(f"{call}: the lists hold {ids[0]}, which is not an item id{MATRIX}")
    return ids


def _numbers(values: list[Any], call: str) -> pl.Series:
    """Return scores or relevances."""
    try:
        return pl.Series([None if one is None else float(one) for one in values], dtype=pl.Float64)
    except (TypeError, ValueError) as error:
        msg = f"{call}: an item has a number beside it, a score or a relevance: {error}"
        raise RecframeError(msg) from None


def _at_places(rows: pl.DataFrame, items: Any) -> pl.DataFrame:
    """Return rows with the ids that stand at the places which the items are; a place below 0 is padding."""
    if items is None:
        return rows
    ids, places = ids_of(items, "items"), rows["item"].cast(pl.Int64)
    rows = rows.with_columns(item=places).filter(places >= 0)
    if (places >= len(ids)).any():
        msg = f"the lists have the place {places.max()}, and items= has the ids of {len(ids):,} places, from 0"
        raise DataError(msg)
    return rows.with_columns(item=ids.gather(rows["item"]))


def _warn_of_rising(rows: pl.DataFrame) -> None:
    """Warn where the scores of a list rise along it."""
    before = pl.col("number").shift().over("list")
    rising = rows.filter(has_a_score("number") & (pl.col("number") > before))
    if len(rising):
        warn(
            f"the list of the user {rising['user'][0]!r} has a score that is higher than the one before it; a list's order "
            "is its ranking, whatever the scores: sort the lists, or give {user: {item: score}}"
        )
