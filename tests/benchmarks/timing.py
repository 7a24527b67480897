"""One way to time: works take turns, so that noise hits all alike."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence


def times_in_turn(
    works: Sequence[Callable[[], object]],
    repeats: int,
    calls: Sequence[int],
    clock: Callable[[], float] = time.perf_counter,
) -> list[list[float]]:
    """Return the seconds of one call of each in every turn, after one untimed; `calls` are those of a turn.

    What is loaded by then is no garbage: to look through it before each call would take longer than most calls, and in such
    a pause Polars gives its memory back to the system.
    """
    taken: list[list[float]] = [[] for _ in works]
    gc.collect()
    gc.freeze()
    for turn in range(repeats + 1):
        for work, times, n_calls in zip(works, taken, calls, strict=True):
            gc.collect()
            start = clock()
            for _ in range(n_calls):
                work()
            if turn:
                times.append((clock() - start) / n_calls)
    gc.unfreeze()
    return taken
