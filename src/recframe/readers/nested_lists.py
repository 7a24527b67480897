"""Nested lists, mappings and arrays of ids in long form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

import polars as pl

from recframe.errors import DataError, RecframeError, kind_of, shown, warn
from recframe.frames.collecting import check_threads
from recframe.frames.kinds.lookup import in_memory, is_frame
from recframe.frames.options import Context
from recframe.readers.ids import by_score, column_of, ids_of, in_python
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
    given = _Given(scores, users, items, separator, "rf.from_lists")
    return _long(lists, given, Context(user=user, item=item, score=score), "score")


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
    given = _Given(relevance, users, items, separator, "rf.from_truth")
    name = relevance if isinstance(relevance, str) else None
    return _long(truth, given, Context(user=user, item=item, relevance=name), "relevance")


class _Given(NamedTuple):
    """Arguments beside nested lists, with the name of the call."""

    numbers: Any
    users: Any
    items: Any
    separator: str | None
    call: str


def _long(lists: Any, given: _Given, context: Context, number: str) -> Any:
    """Return nested lists, or a frame with list columns, in long form."""
    check_threads()
    lists, ordered = in_memory(lists), number == "score"
    has_frame = is_frame(lists)
    beside = [given.users, given.items, None if isinstance(given.numbers, str) else given.numbers]
    is_wrong = any(one is not None for one in beside) if has_frame else given.separator is not None
    if is_wrong or given.separator == "":
        msg = (
            "a frame has its numbers, users and items as columns, and it alone has lists in text, of which separator= is the "
            f"text between two ids: {given.call}(frame, separator=' ')"
        )
        raise RecframeError(msg)
    if has_frame:
        return long(lists, context, number, ordered=ordered, separator=given.separator)
    found = long(_nested(lists, given, context.names, number), context, number, ordered=ordered)
    user, item, of_number = (context.names[role] for role in ("user", "item", number))
    if ordered and of_number in found.columns:
        _warn_of_rising(found, user, of_number)
    pairs = found.select(user, item).drop_nulls()
    if not ordered and not isinstance(lists, Mapping) and pairs.is_duplicated().any():
        raise DataError(
            f"a row of ids has one twice{MATRIX}; what fills a row up is no id: leave it out"
        )
    return found if given.items is None else found.drop_nulls(item)


def _nested(lists: Any, given: _Given, names: Mapping[str, str], number: str) -> pl.DataFrame:
    """Return nested lists as a frame with list columns."""
    users, rows, beside = _laid_out(lists, given)
    kinds = {*map(type, rows)}
    is_mapping = bool(kinds) and beside is None and all(issubclass(one, Mapping) for one in kinds)
    if is_mapping:
        rows, beside = [[*row] for row in rows], [[*row.values()] for row in rows]
    rows = _as_lists(rows, users, given.call)
    lengths, held = [*map(len, rows)], [*chain.from_iterable(rows)]
    numbers = None if beside is None else [*chain.from_iterable(beside)]
    if beside is not None and lengths != [*map(len, beside)]:
        raise DataError(
            f"{given.call}: a user has more or fewer numbers than items; give one for each"
        )
    if numbers is None and _are_pairs(held):
        held, numbers = map(list, zip(*held, strict=True))
    list_of = pl.Series([row for row, n in enumerate(lengths) for _ in range(n)], dtype=pl.UInt32)
    flat = pl.DataFrame({"list": list_of, "item": _items(held, given)})
    if numbers is not None:
        flat = flat.with_columns(number=_numbers(numbers, given.call))
    if is_mapping and number == "score":
        flat = by_score(flat, "list", "number")
    of_lists = flat.group_by("list", maintain_order=True).agg(pl.exclude("list"))
    table = pl.DataFrame({"user": users}).with_row_index("list").cast({"list": pl.UInt32})
    found = table.join(of_lists, on="list", how="left", maintain_order="left").drop("list")
    named = {"user": names["user"], "item": names["item"], "number": names[number]}
    return found.rename(named, strict=False)


def _numbers(values: list[Any], call: str) -> pl.Series:
    """Return scores or relevances."""
    kinds = {type(value): value for value in values if value is not None}
    wrong = next((value for kind, value in kinds.items() if not issubclass(kind, Real)), None)
    if wrong is not None:
        msg = (
            f"{call}: an item has a number beside it, a score or a relevance; found {shown(wrong)}"
        )
        raise RecframeError(msg)
    return pl.Series([None if one is None else float(one) for one in values], dtype=pl.Float64)


def _laid_out(lists: Any, given: _Given) -> tuple[pl.Series, list[Any], list[Any] | None]:
    """Return the users, each one's list, and the numbers beside them where there are any."""
    users, rows, numbers = given.users, lists, given.numbers
    if isinstance(lists, Mapping) and users is None:
        users, rows = [*lists], [*lists.values()]
        numbers = [numbers[user] for user in users] if isinstance(numbers, Mapping) else numbers
    is_array = len(getattr(rows, "shape", ())) == 2 and not hasattr(rows, "tocsr")  # noqa: PLR2004  users and places
    if not is_array and not isinstance(rows, list | tuple):
        found = f"{kind_of(rows)} {tuple(getattr(rows, 'shape', ())) or ''}".strip()
        msg = f"{given.call} takes a frame with list columns, a mapping of users to their items, or rows of items with users=; "
        raise RecframeError(f"{msg}found {found}{MATRIX}")
    rows = in_python(rows)
    beside = None if numbers is None else [in_python(row) for row in in_python(numbers)]
    if beside is not None and len(beside) != len(rows):
        msg = f"there are {len(rows):,} lists of items and {len(beside):,} of numbers; give one of each for every user"
        raise RecframeError(msg)
    return ids_of(users, "users", len(rows)), rows, beside


def _as_lists(rows: list[Any], users: pl.Series, call: str) -> list[list[Any]]:
    """Return users' lists as Python holds them."""
    kinds, has_order = {*map(type, rows)}, call == "rf.from_lists"
    unlisted = (str, Mapping, AbstractSet) if has_order else (str, Mapping)
    wrong = {one for one in kinds if issubclass(one, unlisted) or not hasattr(one, "__len__")}
    if wrong:
        place = next(number for number, row in enumerate(rows) if type(row) in wrong)
        found = f"the user {users[place]!r} has {kind_of(rows[place])}"
        msg = f"{found}; give a list of items in their order, or a mapping of items to numbers"
        raise RecframeError(msg)
    return rows if kinds == {list} else [*map(in_python, rows)]


def _are_pairs(held: list[Any]) -> bool:
    """Whether all values are items with their numbers."""
    if {*map(type, held)} != {tuple} or {*map(len, held)} != {2}:
        return False
    kinds = {type(number) for _, number in held}
    return all(issubclass(kind, Real) for kind in kinds)


def _items(values: list[Any], given: _Given) -> pl.Series:
    """Return items as ids, whole where they came as floats; those at places where `items` names these, null below 0."""
    found = column_of(values, "the lists")
    if found.dtype.is_float():
        found = found.fill_nan(None)
        found = found.cast(pl.Int64) if (found == found.floor()).all() else found
    if found.dtype.is_float() or found.dtype == pl.Boolean:
        raise RecframeError(
            f"{given.call}: the lists hold {found[0]}, which is not an item id{MATRIX}"
        )
    if given.items is None:
        return found
    ids, places = ids_of(given.items, "items"), found.cast(pl.Int64)
    highest: Any = places.max()
    if highest is not None and highest >= len(ids):
        msg = f"the lists have the place {highest}, and items= has the ids of {len(ids):,} places, from 0"
        raise DataError(msg)
    return ids.gather(places.set(places < 0, None))


def _warn_of_rising(found: pl.DataFrame, user: str, score: str) -> None:
    """Warn where the scores of a list rise along it."""
    number = pl.col(score).fill_nan(None)
    rising = found.filter(number > number.shift().over(user))
    if len(rising):
        warn(
            f"the list of the user {rising[user][0]!r} has a score that is higher than the one before it; a list's order is "
            "its ranking, whatever the scores: sort the lists, or give {user: {item: score}}"
        )
