"""What the runs before a run predict of it, in plain Python: the definition that `rf.changes` is held against."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import stats


@dataclass
class Band:
    """What is expected of a run."""

    n: int
    expected: float | None = None
    error: float | None = None
    p_value: float | None = None

    def ends(self, level: float, tests: int = 1) -> tuple[float, float]:
        half = stats.t.ppf(1 - (1 - level) / tests / 2, self.n - 1) * self.error
        return self.expected - half, self.expected + half


def bands(
    values: Sequence[float], window: int, errors: Sequence[float] | None = None
) -> list[Band]:
    """Return the band of each run; `errors` are the runs' standard errors, 0 where they are not known."""
    errors = errors or [0.0] * len(values)
    least = math.ceil(window / 2)
    off: list[float | None] = []
    far: list[bool] = []
    found = []
    for place, value in enumerate(values):
        before = range(max(place - window, 0), place)
        kept = [one for one in before if not far[one]]
        kept = kept if len(kept) >= least else [*before]
        n = len(kept)
        if n < least:
            found.append(Band(n))
            off.append(None)
            far.append(False)
            continue
        mean = sum(values[one] for one in kept) / n
        spread = sum((values[one] - mean) ** 2 for one in kept) / (n - 1) * (1 + 1 / n)
        known = [off[one] ** 2 for one in kept if off[one] is not None]
        earlier = sum(known) / len(known) if len(known) >= least else 0.0
        own, theirs = errors[place] ** 2, sum(errors[one] ** 2 for one in kept) / n
        more = max(own - theirs, 0.0)
        error = math.sqrt(max(spread + more, earlier + more, own + theirs / n))
        p_value = 2 * stats.t.sf(abs(value - mean) / error, n - 1)
        found.append(Band(n, mean, error, p_value))
        off.append(value - mean)
        far.append(p_value < 0.001)
    return found
