"""The estimates of Krichene and Rendle 2020 as they define them: probabilities, and equations solved in fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

COUNTS = {
    "recall": lambda rank: 1.0,  # noqa: ARG005
    "ndcg": lambda rank: 1 / math.log2(rank + 1),
    "mrr": lambda rank: 1 / rank,
}


def probability(above: int, n: int, rank: int, n_items: int) -> Fraction:
    """Of so many items above being drawn, of the rank - 1 there are."""
    ways = math.comb(rank - 1, above) * math.comb(n_items - rank, n - above)
    return Fraction(ways, math.comb(n_items - 1, n))


def exact(metric: str, k: int | None, rank: float) -> float:
    return COUNTS[metric](rank) if k is None or rank <= k else 0.0


@cache
def estimates(
    metric: str, k: int | None, n: int, n_items: int, gamma: float | None
) -> tuple[float, ...]:
    """For 0 to n items above: what is least in squared bias + gamma · variance; without gamma the metric at the mean rank."""
    if gamma is None:
        return tuple(exact(metric, k, 1 + above * (n_items - 1) / n) for above in range(n + 1))
    ranks = range(1, n_items + 1)
    chances = [[probability(above, n, rank, n_items) for above in range(n + 1)] for rank in ranks]
    weight = Fraction(gamma)
    rows = []
    for first in range(n + 1):
        row = [
            (1 - weight) * sum(one[first] * one[second] for one in chances)
            for second in range(n + 1)
        ]
        row[first] += weight * sum(one[first] for one in chances)
        right = sum(
            one[first] * Fraction(exact(metric, k, rank))
            for one, rank in zip(chances, ranks, strict=True)
        )
        rows.append([*row, Fraction(right)])
    return tuple(float(value) for value in solved(rows))


def solved(rows: list[list[Fraction]]) -> list[Fraction]:
    """Gauss and Jordan."""
    for place in range(len(rows)):
        pivot = next(row for row in range(place, len(rows)) if rows[row][place])
        rows[place], rows[pivot] = rows[pivot], rows[place]
        rows[place] = [value / rows[place][place] for value in rows[place]]
        for other in range(len(rows)):
            if other != place:
                factor = rows[other][place]
                rows[other] = [
                    mine - factor * its for mine, its in zip(rows[other], rows[place], strict=True)
                ]
    return [row[-1] for row in rows]
