"""Nested lists, mappings and arrays in long form."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from numbers import Real
from operator import ne
from typing import TYPE_CHECKING, Any, TypeVar, overload

import polars as pl

from recframe.errors import DataError, RecframeError, kind_of, shown, warn
from recframe.frames.collecting import check_threads
from recframe.frames.kinds.lookup import in_memory, is_frame, kind_for
from recframe.frames.options import Context
from recframe.frames.rows.joins import AS_EVER
from recframe.readers.ids import (
    by_score,
    column_of,
    either,
    has_a_score,
    ids_of,
    in_own_dtypes,
)
from recframe.readers.list_columns import PLACE, long

if TYPE_CHECKING:
    import pandas as pd


def nested(
    lists: Any, numbers: Any, users: Any, items: Any, *, ordered: bool, call: str
) -> tuple[pl.DataFrame, bool]:
    """Flatten a mapping of users to items, or rows of items with separate `users`.

    There is a row for each item: list, user, place (from 1), item and, where there are some, number, a score or a relevance;
    and it is said whether items were keys, so that the numbers tell what order they stand in.

    `numbers` stand in the form of the items beside them, or None; `items` are the ids of the places that lists hold in place
    of ids; `ordered` says that an order is asked for.
    """
    ids, rows, beside = _laid_out(lists, numbers, users, call)
    is_mapping = bool(rows) and all(isinstance(row, Mapping) for row in rows)
    if is_mapping and beside is not None:
        raise RecframeError(
            f"the items have numbers, and others beside them; give {call} one of the two"
        )
    values: list[Any] | None = None
    if is_mapping:
        values = [number for row in rows for number in row.values()]
    else:
        rows = _sequences(rows, ids, ordered=ordered, call=call)
    lengths, items_of = [*map(len, rows)], [*chain.from_iterable(rows)]
    if beside is not None:
        beside = _sequences(beside, ids, ordered=True, call=call)
        _check_lengths(lengths, [*map(len, beside)], ids)
        values = [*chain.from_iterable(beside)]
    elif not is_mapping and _are_pairs(items_of):
        items_of, values = map(list, zip(*items_of, strict=True))
    columns = {"item": _decoded(_items(items_of), items)}
    if values is not None:
        columns["number"] = numbers_of(values)
    users_of = pl.DataFrame({"user": ids, "length": pl.Series(lengths, dtype=pl.Int64)})
    places = pl.int_ranges(1, pl.col("length") + 1).alias("place")
    listed = users_of.with_row_index("list").filter(pl.col("length") > 0)
    longer = listed.select("list", "user", places).explode("place", **AS_EVER)
    return longer.with_columns(**columns), is_mapping


def _decoded(places: pl.Series, items: Any) -> pl.Series:
    """Return the ids that stand at the places which the items are, null below 0, which is padding."""
    if items is None:
        return places
    ids = ids_of(items, "items")
    if not places.dtype.is_integer() and places.count():
        msg = f"the lists hold {places.dtype}, and items= has the ids of places, which are whole numbers from 0; "
        raise RecframeError(msg + "leave items= out where the lists hold ids")
    highest: Any = places.max()
    if highest is not None and highest >= len(ids):
        msg = f"the lists have the place {highest}, and items= has the ids of {len(ids):,} places, from 0"
        raise DataError(msg)
    numbers = places.cast(pl.Int64)
    return ids.gather(numbers.set(numbers < 0, None))


def are_relevances(rows: Any) -> bool:
    """Whether nested lists are a matrix of relevances; where they may be one, and may be ids, say how to write it.

    Rows of one length that hold fractions or Booleans hold no ids. Of ids one row has none twice, as a matrix has its zeros.
    """
    if not isinstance(rows, list | tuple) or not all(isinstance(row, list | tuple) for row in rows):
        return False
    kinds = {*map(type, chain.from_iterable(rows))}
    if (
        len({*map(len, rows)}) != 1
        or not kinds
        or not all(issubclass(kind, Real) for kind in kinds)
    ):
        return False
    finite = filter(math.isfinite, chain.from_iterable(rows))
    if any(issubclass(kind, bool) for kind in kinds) or any(value % 1 != 0 for value in finite):
        return True
    if any(map(_repeats, rows)):
        raise either("the lists hold", "{user: [item, ...]}", "numpy.array(lists)")
    return False


def _laid_out(
    lists: Any, numbers: Any, users: Any, call: str
) -> tuple[pl.Series, list[Any], list[Any] | None]:
    """Return the users, each one's list, and the numbers if there are any."""
    if isinstance(lists, Mapping):
        if users is not None:
            msg = f"users= names the rows of arrays and of lists; here the users are keys: {call}({{user: [item, ...]}})"
            raise RecframeError(msg)
        beside = None if numbers is None else _values_for(lists, numbers)
        return column_of(list(lists), "the keys"), list(lists.values()), beside
    rows = _rows(lists, call)
    beside = None if numbers is None else _rows(numbers, call)
    return ids_of(users, "users", len(rows), "lists"), rows, beside


def _items(values: Sequence[Any]) -> pl.Series:
    """Return items as ids; whole numbers that came as floats, as they do beside a NaN, are whole again."""
    ids = column_of(values, "the lists")
    if not ids.dtype.is_float():
        return ids
    ids = ids.fill_nan(None)
    parts = ids.filter(ids != ids.floor())
    if len(parts):
        msg = f"the lists hold {parts[0]}, which is not an item id; for a matrix of scores write rf.from_scores(scores)"
        raise RecframeError(msg)
    return ids.cast(pl.Int64)


def numbers_of(values: list[Any]) -> pl.Series:
    """Return scores or relevances, whole numbers as such where all of them are."""
    for dtype in (None, pl.Float64):
        try:
            found = pl.Series(values, dtype=dtype)
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            continue
        if found.dtype.is_numeric() or found.dtype in (pl.Boolean, pl.Null):
            return found
    wrong = next(
        (value for value in values if value is not None and not isinstance(value, Real)), values[:1]
    )
    msg = f"an item has a number beside it, a score or a relevance; found {shown(wrong)}"
    raise RecframeError(msg)


def _values_for(lists: Mapping[Any, Any], numbers: Any) -> list[Any]:
    if not isinstance(numbers, Mapping) or numbers.keys() != lists.keys():
        found = "other users" if isinstance(numbers, Mapping) else kind_of(numbers)
        msg = f"the items are a mapping of users, and the numbers beside them are {found}; give a mapping of the same users"
        raise RecframeError(msg)
    return [numbers[user] for user in lists]


def _rows(lists: Any, call: str) -> list[Any]:
    """Return the lists of an array or of a list of lists; a tensor comes from where it is."""
    shape = tuple(getattr(lists, "shape", ()))
    if shape and len(shape) != 2:  # noqa: PLR2004  users and places
        msg = f"the array has the shape {shape}; give one row of items for each user: for one user write array[None, :]"
        raise RecframeError(msg)
    if hasattr(lists, "tolist"):
        rows: list[Any] = lists.tolist()
        return rows
    if not isinstance(lists, Sequence) or isinstance(lists, str | bytes):
        msg = f"{call} takes a frame with list columns, a mapping of users to their items, or rows of items with users=; "
        raise RecframeError(msg + f"found {kind_of(lists)}")
    return list(lists)


def _sequences(rows: list[Any], users: pl.Series, *, ordered: bool, call: str) -> list[Any]:
    """Return lists as Python holds them, or say which user has none."""
    kinds = {*map(type, rows)}
    sets = (set, frozenset) if ordered else ()
    unlisted = (str, bytes, Mapping, *sets)
    wrong = {kind for kind in kinds if issubclass(kind, unlisted) or not hasattr(kind, "__len__")}
    if wrong:
        place = next(number for number, row in enumerate(rows) if type(row) in wrong)
        found = f"the user {users[place]!r} has {kind_of(rows[place])}"
        if isinstance(rows[place], sets):
            hint = (
                "a set has no order, which recommendations need: give a list, the best item first; "
            )
            hint += "rf.from_truth takes sets"
        else:
            hint = f"give each user a list of items, or a mapping of items to numbers: {call}({{user: [item, ...]}})"
        raise RecframeError(f"{found}; {hint}")
    # arrays, tensors and series
    listed = {kind: getattr(kind, "tolist", getattr(kind, "to_list", None)) for kind in kinds}
    if not any(listed.values()):
        return rows
    return [row if (made := listed[type(row)]) is None else made(row) for row in rows]


def _check_lengths(items: list[int], numbers: list[int], users: pl.Series) -> None:
    if len(items) != len(numbers):
        msg = f"there are {len(items):,} lists of items and {len(numbers):,} of numbers; give one of each for every user"
        raise RecframeError(msg)
    if items != numbers:
        place = [*map(ne, items, numbers)].index(True)
        found = f"the user {users[place]!r} has {items[place]} items and {numbers[place]} numbers beside them"
        raise DataError(f"{found}; give one for each")


def _are_pairs(held: list[Any]) -> bool:
    """Whether the lists hold (item, number) pairs; a number is no part of an id."""
    are_tuples = all(issubclass(one, tuple) for one in {*map(type, held)})
    if not are_tuples or {*map(len, held)} != {2}:
        return False
    seconds = {type(second) for _, second in held}
    return all(issubclass(one, Real) and not issubclass(one, bool) for one in seconds)


def _repeats(row: Any) -> bool:
    """Whether a row has a number twice; those below 0 are padding."""
    present = [value for value in row if value >= 0]
    return len(set(present)) < len(present)


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
    context = Context(user=user, item=item, score=score)
    return _long_form(in_memory(lists), scores, users, items, context, separator, ordered=True)


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
                users in its index and the items in its columns. A 0 is judged not relevant, so a user of zeros is in the truth;
                if 0 means unknown, give `scipy.sparse.csr_array(matrix)`.
        relevance: beside a mapping or rows of items, the grades in the same form; for a frame, the name of their column.
        users, items: the ids of rows, and of places in the lists or columns of the matrix.
        user, item: the names of the columns, in the result and in the frame; its list columns may have the plural.
        separator: between ids, if a column of the frame has its lists as text, as in `from_lists`.

    Its other columns are kept as `from_lists` keeps them, the dtypes of ids are those of `from_lists`, and the relevance is
    Float64. A user without an item has no row, and so is not in the truth. Without grades every row is relevant.

    An array is a matrix if it holds fractions or Booleans, or a number twice in a row; it is ids if it is padded by numbers
    below 0, if `items` are more or fewer than its columns, or if a number is above 100. Nested lists are ids.

    Raises a RecframeError for numbers that may be either, which says how to write both, for ids of several kinds, for a column
    of a frame that cannot be repeated, and if a user has more or fewer grades than items.

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
    if _is_matrix(truth, relevance, items, {user, item, f"{item}s"}):
        from recframe.readers.score_cells import of_matrix  # noqa: PLC0415  NumPy is loaded with it

        names = {"user": user, "item": item, "number": "relevance"}
        found = in_own_dtypes(of_matrix(truth, users, items), names)
        return kind_for(truth).give(found.lazy(), {}) if is_frame(truth) else found
    context = Context(user=user, item=item, relevance=relevance)
    return _long_form(truth, relevance, users, items, context, separator, ordered=False)


def _long_form(  # noqa: PLR0913  what nested lists do not say of themselves
    lists: Any,
    numbers: Any,
    users: Any,
    items: Any,
    context: Context,
    separator: str | None,
    *,
    ordered: bool,
) -> Any:
    """Return nested lists, or a frame with list columns, in long form."""
    call, number = ("rf.from_lists", "score") if ordered else ("rf.from_truth", "relevance")
    if is_frame(lists):
        alone = {"scores": numbers} if ordered else {}
        for name, value in (alone | {"users": users, "items": items}).items():
            if value is not None:
                msg = f"{name}= is for mappings, lists and arrays; a frame has it as a column: {call}(frame)"
                raise RecframeError(msg)
        return long(lists, context, number, ordered=ordered, separator=separator)
    if separator is not None:
        msg = f"separator= is for a frame with lists in text; split others first: {call}({{user: text.split()}})"
        raise RecframeError(msg)
    rows, is_mapping = nested(lists, numbers, users, items, ordered=ordered, call=call)
    if ordered:
        rows = _in_order(rows, by_scores=is_mapping)
    if items is not None:  # below 0 is padding
        rows = rows.filter(pl.col("item").is_not_null())
    if "number" in rows.columns:
        rows = rows.filter(has_a_score("number"))
    names = {"user": context.names["user"], "item": context.names["item"]}
    names |= {"place": PLACE, "number": context.names["score"]} if ordered else {"number": number}
    return in_own_dtypes(rows, names)


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
    from recframe.readers.score_cells import is_matrix, is_table  # noqa: PLC0415  as above

    return is_table(truth, columns) if is_frame(truth) else is_matrix(truth, items)


def _in_order(rows: pl.DataFrame, *, by_scores: bool) -> pl.DataFrame:
    """Return rows in the order of their lists or of their scores; warn where the scores of a list rise along it."""
    if by_scores:  # the places are those of whole lists, so that they stay where they are
        return by_score(rows.drop("place"), "list", "number").hstack([rows["place"]])
    if "number" in rows.columns:
        score, before = pl.col("number"), pl.col("number").shift().over("list")
        rising = rows.filter(has_a_score("number") & (score > before))
        if len(rising):
            warn(
                f"the list of the user {rising['user'][0]!r} has a score that is higher than the one before it; a list's "
                "order is its ranking, whatever the scores: sort the lists, or give {user: {item: score}}"
            )
    return rows
