"""Which cases of many choices a test runs, and which of those the fast lane has."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

Axis = Mapping[str, Any] | Iterable[Any]
"""Values of one parameter, by the names that they have in the names of cases, or as they are."""


def thorough(cases: Iterable[Any], fast: int = 2) -> list[Any]:
    """Return cases of which the fast lane has the first few."""
    slow = pytest.mark.slow
    return [
        one if place < fast else pytest.param(one, marks=slow) for place, one in enumerate(cases)
    ]


def in_turn(*axes: Axis, fast: int | None = None) -> list[Any]:
    """Return as few cases as have each value of each parameter, of which the fast lane has all or some.

    For choices that do not act on one another: what each does is one test's, what they do together is another's.
    """
    named = [_named(axis) for axis in axes]
    longest = max(map(len, named))
    sharp = _in_fast(longest, fast)
    return [
        _case([axis[place % len(axis)] for axis in named], slow=place not in sharp)
        for place in range(longest)
    ]


def crossed(first: Axis, second: Axis, *others: Axis, fast: int | None = None) -> list[Any]:
    """Return a case for each pair of the first two parameters, with values of the others in turn.

    The fast lane has those that it has of the two `in_turn`.
    """
    rows, columns, *rest = map(_named, (first, second, *others))
    places = _in_fast(max(len(rows), len(columns)), fast)
    sharp = {(place % len(rows), place % len(columns)) for place in places}
    found = []
    for row, column in itertools.product(range(len(rows)), range(len(columns))):
        values, turn = [rows[row], columns[column]], row + column
        for axis in rest:
            turn, place = divmod(turn, len(axis))
            values.append(axis[place])
        found.append(_case(values, slow=(row, column) not in sharp))
    return found


def _in_fast(n_cases: int, fast: int | None) -> range:
    """Return the places of so many cases, as far apart as they can be."""
    if fast is None:
        return range(n_cases)
    return range(0, n_cases, -(-n_cases // fast)) if fast else range(0)


def _named(axis: Axis) -> list[tuple[str, Any]]:
    pairs = axis.items() if isinstance(axis, Mapping) else ((str(one), one) for one in axis)
    return [*pairs]


def _case(values: list[tuple[str, Any]], *, slow: bool = False) -> Any:
    names = "-".join(name for name, _ in values)
    return pytest.param(*(one for _, one in values), id=names, marks=[pytest.mark.slow] * slow)
