"""Numbers of any library as Python's own, so that those that are equal are one number wherever they are written."""

from __future__ import annotations

import operator

EXACT = 2**53
"""Up to it a float has every whole number."""


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
