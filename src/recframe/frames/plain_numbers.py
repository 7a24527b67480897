"""Conversion of any library's numbers to Python's own."""

from __future__ import annotations

import operator

EXACT = 2**53
"""Largest magnitude up to which floats represent all integers."""


def plain_number(value: object) -> int | float | None:
    """Return a number of any library as Python's, a whole one as an int; None where it is no number."""
    if is_bool(value) or isinstance(value, str):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        pass
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return int(number) if number.is_integer() and abs(number) <= EXACT else number


def is_bool(value: object) -> bool:
    """Return whether a value is a Boolean, NumPy's too, which says that it is an index."""
    return isinstance(value, bool) or type(value).__name__ in {"bool", "bool_"}
