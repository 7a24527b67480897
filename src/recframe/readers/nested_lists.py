"""Nested lists, mappings and arrays of ids in long form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar, overload

import polars as pl

from recframe.errors import DataError, RecframeError, kind_of, warn
from recframe.frames.kinds.kind import check_threads, in_memory, is_frame, run_by_size
from recframe.frames.options import Context
from recframe.readers.ids import column_of, ids_of, in_python
from recframe.readers.list_columns import PLACE, exploded, in_long_form

if TYPE_CHECKING:
    import pandas as pd

MATRIX = "; a matrix of users x items goes into rf.from_scores(matrix), one of relevances with truth=True"
LIST = "number of the list"

F = TypeVar("F", bound="pl.DataFrame | pl.LazyFrame | pd.DataFrame")


@overload
def from_lists(lists: F, *, user: str = ..., item: str = ..., score: str = ...) -> F: ...
@overload
def from_lists(
    lists: Any,
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
    user has more or fewer scores than items, which for a frame Polars says. Two lists of a user that no other column
    distinguishes share their ranks, which `audit()` finds.

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
    context = Context(user=user, item=item, score=score)
    return _long(lists, scores, users, items, context, "score")


@overload
def from_truth(truth: F, relevance: str | None = ..., *, user: str = ..., item: str = ...) -> F: ...
@overload
def from_truth(
    truth: Any,
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
    is_name = isinstance(relevance, str)
    context = Context(user=user, item=item, relevance=relevance if is_name else None)
    return _long(truth, None if is_name else relevance, users, items, context, "relevance")


def _long(nested: Any, numbers: Any, users: Any, items: Any, context: Context, number: str) -> Any:
    """Return nested lists in long form: user, item, the rank of a ranking, and the numbers that there are."""
    check_threads()
    nested = in_memory(nested)
    if is_frame(nested):
        if numbers is users is items is None:
            return exploded(nested, context, number)
        raise RecframeError("a frame has its numbers, users and items as columns: give their names")
    rows = _rows(nested, numbers, users, items, is_ranking=number == "score")
    named = {"user": "user", "item": "item", "rank": PLACE, number: "number"}
    named = {role: name for role, name in named.items() if name in rows.columns}
    plan = in_long_form(rows.lazy(), named, ["user", "item"], context)
    return run_by_size(plan, len(rows))


def _rows(lists: Any, numbers: Any, users: Any, items: Any, *, is_ranking: bool) -> pl.DataFrame:
    """Return a row for each item of nested lists: user, item, its place and, where there are some, number."""
    is_mapping = isinstance(lists, Mapping) and users is None
    if is_mapping:
        users, lists = [*lists], [*lists.values()]
        if isinstance(numbers, Mapping):
            numbers = [numbers[user] for user in users]
    if hasattr(lists, "tocsr") or not hasattr(lists, "__iter__"):
        msg = "give a frame with list columns, a mapping of users to their items, or rows of items with users=; found "
        raise RecframeError(msg + kind_of(lists) + MATRIX)
    given = in_python(lists)
    ids = ids_of(users, "users", len(given))
    held = [_list(row, user, is_ranking=is_ranking) for user, row in zip(ids, given, strict=True)]
    values = [*chain.from_iterable(held)]
    if numbers is not None:
        beside = [*map(in_python, in_python(numbers))]
        if [*map(len, beside)] != [*map(len, held)]:
            raise DataError(
                "a user has more or fewer numbers than items; give a number for each item"
            )
        numbers = [*chain.from_iterable(beside)]
    places = [place for place, row in enumerate(held) for _ in row]
    rows = pl.DataFrame({LIST: places, "user": ids.gather(places), **_columns(values, numbers)})
    if items is not None:
        # those below 0 fill a list up
        rows = rows.cast({"item": pl.Int64}).filter(pl.col("item") >= 0)
        known, chosen = ids_of(items, "items"), rows["item"]
        if len(beyond := chosen.filter(chosen >= len(known))):
            raise DataError(
                f"the lists have the place {beyond[0]}, and items= has the ids of {len(known)} places"
            )
        rows = rows.with_columns(known.gather(chosen).alias("item"))
    if is_ranking:
        return _ranked(rows, by_number=any(isinstance(row, Mapping) for row in given))
    if not is_mapping and rows.select(LIST, "item").drop_nulls().is_duplicated().any():
        raise DataError(
            f"a row of ids has one twice{MATRIX}; what fills a row up is no id: leave it out"
        )
    return rows


def _ranked(rows: pl.DataFrame, *, by_number: bool) -> pl.DataFrame:
    """Return rows with their places in their lists, those of mappings by number: the highest first, equal ones by item."""
    if "number" in rows.columns:
        number = pl.col("number").fill_nan(None)
        if by_number:
            falls = [False, True, False]
            rows = rows.sort(LIST, number, "item", descending=falls, nulls_last=True)
        rising = rows.filter(number > number.shift().over(LIST))["user"]
        if len(rising):
            warn(
                f"the list of the user {rising[0]!r} has a score that is higher than the score before it; a list's order is "
                "its ranking, whatever the scores: sort the lists, or give {user: {item: score}}"
            )
    return rows.with_columns(pl.int_range(1, pl.len() + 1).over(LIST).alias(PLACE))


def _list(row: Any, user: Any, *, is_ranking: bool) -> list[Any]:
    """Return a user's list: items, or pairs of an item and its number."""
    if isinstance(row, Mapping):
        return [*row.items()]
    # a set has no order
    if isinstance(row, (str, AbstractSet) if is_ranking else str) or not hasattr(row, "__len__"):
        raise RecframeError(
            f"the user {user!r} has {kind_of(row)}; give a list of items in their order, or a mapping of items to numbers"
        )
    return in_python(row)


def _columns(values: Sequence[Any], numbers: Any) -> dict[str, Any]:
    """Return items, or places of items, and their numbers, which pairs have themselves."""
    columns = {}
    try:
        if numbers is None and values and isinstance(values[0], tuple):
            values, numbers = zip(*values, strict=True)
        if numbers is not None:
            columns["number"] = pl.Series(numbers, dtype=pl.Float64)
    except (TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise RecframeError(
            f"an item is paired with a number, a score or a relevance: {reason}"
        ) from None
    items = column_of(values, "the lists")
    whole = items.cast(pl.Int64, strict=False) if items.dtype.is_float() else items
    if items.dtype == pl.Boolean or (whole != items).any():
        raise RecframeError(f"the lists hold {items[0]}, which is not an item id{MATRIX}")
    return {"item": whole, **columns}
