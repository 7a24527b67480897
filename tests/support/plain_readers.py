"""Readers of a list in plain Python: place by place through 1,000 of them, as the papers say."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

DEPTH = 1000
Hits = Sequence[tuple[float, float]]
"""(rank, grade) of the relevant items of a list cut at k, from the best rank down."""


def read(
    hits: Hits,
    goes_on: Callable[[int, float, float], float],
    last: int | None = None,
    max_grade: float = 4,
    min_grade: float = 0,
) -> float:
    """The gain of a place read: `goes_on` has the place, the gain there and the gain so far; the reader stops at `last`.

    Hits of one place, which are tied hits at the last place of their tie, are read together.
    """
    at: dict[int, float] = {}
    for rank, grade in hits:
        gain = (min(max(grade, min_grade), max_grade) - min_grade) / (max_grade - min_grade)
        at[math.ceil(rank)] = at.get(math.ceil(rank), 0.0) + gain
    gained, reached, so_far, read = 0.0, 1.0, 0.0, 0.0
    for r in range(1, min(last or DEPTH, DEPTH) + 1) if at else ():
        h = at.get(r, 0.0)
        so_far += h
        gained, read = gained + reached * h, read + reached
        reached *= goes_on(r, h, so_far)
    return gained / read if read else 0.0


def insq(hits: Hits, _k: int | None = None, target: float = 1, **scale: float) -> float:
    return read(hits, lambda r, _h, _g: ((r + 2 * target - 1) / (r + 2 * target)) ** 2, **scale)


def inst(hits: Hits, _k: int | None = None, target: float = 1, **scale: float) -> float:
    def goes_on(r: int, _h: float, gained: float) -> float:
        return ((r + 2 * target - gained - 1) / (r + 2 * target - gained)) ** 2

    return read(hits, goes_on, **scale)


def bpm(hits: Hits, k: int, target: float = 1, **scale: float) -> float:
    return read(hits, lambda _r, _h, g: float(g < target), k, **scale)


def nerr(hits: Hits, k: int | None, form="patience", p=0.9, target=1, **scale: float) -> float:
    on: Callable[[int], float] = {
        "patience": lambda _: p,
        "target": lambda r: ((r + 2 * target - 1) / (r + 2 * target)) ** 2,
        "discount": lambda r: r / (r + 1),
        "gain": lambda _: 1.0,
    }[form]
    last = k if form in {"discount", "gain"} else None
    return read(hits, lambda r, h, _g: on(r) * (1 - h), last, **scale)


def sdcg(hits: Hits, k: int, **scale: float) -> float:
    return read(hits, lambda r, _h, _g: math.log2(r + 1) / math.log2(r + 2), k, **scale)
