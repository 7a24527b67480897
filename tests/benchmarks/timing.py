"""Interleaved repeats, so that noise hits all alike; and the check that all who are timed give the same numbers."""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from data import METRICS, Case

if TYPE_CHECKING:
    # it brings all libraries that are timed
    from contenders import Contender

TOLERANCE = 1e-9


@dataclass
class Timed:
    """A contender's times on a case; `scale` is how many times larger the whole case is."""

    contender: Contender
    case: Case
    scale: float = 1.0
    seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The median of the repeats, scaled to the whole case."""
        return statistics.median(self.seconds) * self.scale

    @property
    def minimum(self) -> float:
        """The fastest of the repeats, scaled to the whole case."""
        return min(self.seconds) * self.scale


def differences(numbers: Sequence[float], expected: Sequence[float]) -> list[str]:
    """Return the metrics in which two results differ, with both values."""
    return [
        f"{name} is {value!r}, not {other!r}"
        for name, value, other in zip(METRICS, numbers, expected, strict=True)
        if not math.isclose(value, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    ]


def check(entries: Sequence[Timed], k: int, reference: Contender) -> dict[str, list[float]]:
    """Run every contender once, untimed, and return their numbers; stop where one differs from the reference."""
    found: dict[str, list[float]] = {}
    for entry in entries:
        numbers = entry.contender.run(entry.case, k)
        wrong = differences(numbers, reference.run(entry.case, k))
        if wrong:
            msg = f"{entry.contender.name} does not give the numbers of the {reference.name}: {'; '.join(wrong)}"
            raise SystemExit(msg)
        found[entry.contender.name] = numbers
    return found


def interleave(
    entries: Sequence[Timed], k: int, repeats: int, tell: Callable[[str], None] = lambda _: None
) -> None:
    """Time every contender once in each round; rounds start with another one each, garbage is collected between runs."""
    for turn in range(repeats):
        tell(f"round {turn + 1} of {repeats}")
        first = turn % len(entries)
        for entry in [*entries[first:], *entries[:first]]:
            entry.seconds.append(_seconds(entry, k))


def _seconds(entry: Timed, k: int) -> float:
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        entry.contender.run(entry.case, k)
        return time.perf_counter() - start
    finally:
        gc.enable()


def seconds_in_turn(
    works: Sequence[Callable[[], object]], repeats: int, calls: int = 1
) -> list[float]:
    """Return the median seconds of one call of each, after one untimed; they take turns, so that noise hits all alike."""
    taken = times_in_turn(works, repeats, [calls] * len(works))
    return [statistics.median(times) for times in taken]


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
