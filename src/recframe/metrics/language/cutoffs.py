"""Cut-offs: what `k` takes, and what a plan works with."""

from __future__ import annotations

import operator
from collections.abc import Iterable

from recframe.errors import RecframeError, shown
from recframe.frames.plain_numbers import EXACT, is_bool


def cutoff(k: object) -> int:
    """Return a cut-off as an int, or say what a cut-off is."""
    try:
        number = 0 if is_bool(k) else operator.index(k)  # type: ignore[arg-type]
    except TypeError:
        number = 0
    if number < 1:
        msg = f"k is a positive whole number, a list or range of them, or None for the whole list; found {shown(k)}"
        raise RecframeError(msg)
    if number > EXACT:
        msg = f"k is at most {EXACT} (2^53), since no larger rank differs from the next one; None is the whole list"
        raise RecframeError(msg)
    return number


def cutoffs(k: object) -> list[int | None]:
    """Return the cut-offs of a `k` argument: an int, a list or range of them, or None."""
    if k is None:
        return [None]
    if not is_many(k):
        return [cutoff(k)]
    ks: list[int | None] = [cutoff(one) for one in k]  # type: ignore[attr-defined]
    return ks or [cutoff(k)]


def is_many(k: object) -> bool:
    """Whether a `k` argument is a list or range of cut-offs."""
    return isinstance(k, Iterable) and not isinstance(k, str) and getattr(k, "ndim", 1) > 0
