"""What Python's containers and arrays hold for each user, laid end to end: lengths, ids and numbers beside them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from numbers import Real
from operator import ne
from typing import Any

import polars as pl

from recframe.errors import DataError, RecframeError, kind_of, shown
from recframe.frames.rows.exploding import AS_EVER
from recframe.ways_in.ids import column_of, ids_of


def nested(
    lists: Any, numbers: Any, users: Any, items: Any, *, ordered: bool, call: str
) -> tuple[pl.DataFrame, bool]:
    """Return a mapping of users to items, or rows of items with `users` beside them, laid end to end.

    There is a row for each item: list, user, place (from 1), item and, where there are some, number, a score or a relevance;
    and it is said whether items were keys, so that the numbers tell what order they stand in.

    `numbers` stand in the form of the items beside them, or None; `items` are the ids of the places that lists hold in place
    of ids; `ordered` says that an order is asked for.
    """
    ids, rows, beside = _laid_out(lists, numbers, users, call)
    values: Iterable[Any] | None = None
    is_mapping = bool(rows) and all(isinstance(one, Mapping) for one in rows)
    if is_mapping and beside is not None:
        raise RecframeError(
            f"the items have numbers of their own, and others beside them; give {call} one of the two"
        )
    if not is_mapping:
        rows = _sequences(rows, ids, ordered=ordered, call=call)
    lengths, held = pl.Series([*map(len, rows)], dtype=pl.Int64), [*chain.from_iterable(rows)]
    if is_mapping:
        values = chain.from_iterable(one.values() for one in rows)
    elif beside is not None:
        beside = _sequences(beside, ids, ordered=True, call=call)
        _check_lengths(lengths.to_list(), list(map(len, beside)), ids)
        values = chain.from_iterable(beside)
    elif _are_pairs(held):
        held, values = map(list, zip(*held, strict=True))
    columns = {"item": _items(held)} | ({} if values is None else {"number": numbers_of(values)})
    columns["item"] = _decoded(columns["item"], items)
    users_of = pl.DataFrame({"user": ids, "length": lengths}).with_row_index("list")
    places = pl.int_ranges(1, pl.col("length") + 1).alias("place")
    longer = users_of.filter(pl.col("length") > 0).select("list", "user", places)
    return longer.explode("place", **AS_EVER).with_columns(**columns), is_mapping


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
    if len({*map(len, rows)}) != 1 or not kinds or not all(issubclass(one, Real) for one in kinds):
        return False
    if any(issubclass(one, bool) for one in kinds) or any(
        value % 1 != 0 for row in rows for value in row if math.isfinite(value)
    ):
        return True
    if any(map(_repeats, rows)):
        raise either("the lists hold", "{user: [item, ...]}", "numpy.array(lists)")
    return False


def either(found: str, ids: str, relevances: str) -> RecframeError:
    """Return the error of numbers that may be ids and may be relevances."""
    msg = f"{found} numbers that may be ids, a row of items for each user, and may be relevances, users x items; "
    return RecframeError(
        f"{msg}for ids write rf.from_truth({ids}), for relevances rf.from_truth({relevances})"
    )


def _laid_out(
    lists: Any, numbers: Any, users: Any, call: str
) -> tuple[pl.Series, list[Any], list[Any] | None]:
    """Return the users, the list of each, and the numbers beside them where there are some."""
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
        msg = f"the lists hold {parts[0]}, which is no id of an item; a matrix of scores goes through rf.from_scores(scores)"
        raise RecframeError(msg)
    return ids.cast(pl.Int64)


def numbers_of(values: Iterable[Any]) -> pl.Series:
    """Return scores or relevances, whole numbers as such where all of them are."""
    held = list(values)
    for dtype in (None, pl.Float64):
        try:
            found = pl.Series(held, dtype=dtype)
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            continue
        if found.dtype.is_numeric() or found.dtype in (pl.Boolean, pl.Null):
            return found
    wrong = next((one for one in held if one is not None and not isinstance(one, Real)), held[:1])
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
    wrong = {one for one in kinds if issubclass(one, unlisted) or not hasattr(one, "__len__")}
    if wrong:
        place = next(number for number, row in enumerate(rows) if type(row) in wrong)
        found = f"the user {users[place]!r} has {kind_of(rows[place])}"
        if isinstance(rows[place], sets):
            hint = "a set has no order, and a list of recommendations is nothing but one: give a list, the best item first; "
            hint += "rf.from_truth takes sets"
        else:
            hint = f"give each user a list of items, or a mapping of items to numbers: {call}({{user: [item, ...]}})"
        raise RecframeError(f"{found}; {hint}")
    # arrays, tensors and series
    listed = {one: getattr(one, "tolist", getattr(one, "to_list", None)) for one in kinds}
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
    """Whether what lists hold are pairs of an item and a number; a number is no part of an id."""
    are_tuples = all(issubclass(one, tuple) for one in {*map(type, held)})
    if not are_tuples or {*map(len, held)} != {2}:
        return False
    seconds = {type(second) for _, second in held}
    return all(issubclass(one, Real) and not issubclass(one, bool) for one in seconds)


def _repeats(row: Any) -> bool:
    """Whether a row has a number twice; those below 0 are padding."""
    present = [value for value in row if value >= 0]
    return len(set(present)) < len(present)
