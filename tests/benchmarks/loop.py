"""The yardstick: a compiled loop that reads sorted arrays once, on one thread, and checks nothing.

`compiled_loop` is the loop as one writes it: the formulas, a logarithm for each hit, one sort of a user's gains.
`tuned_loop` is what it can be made into: a table of discounts, the best k gains kept by insertion.
"""

from __future__ import annotations

import numba
import numpy as np
from data import Case

N_METRICS = 6


def compiled_loop(case: Case, k: int) -> list[float]:
    """Return hit_rate, precision, recall, map, mrr and ndcg at k, the means over the users.

    The arrays are given to it as it wants them, sorted and without nulls; what that took is not counted.
    """
    return [float(one) for one in _plain_means(*case.arrays, k)]


@numba.njit(error_model="numpy", cache=True)
def _plain_means(user, rank, gain, k):
    sums = np.zeros(N_METRICS)
    gains = np.empty(len(user), dtype=gain.dtype)
    n_users, row = 0, 0
    while row < len(user):
        current = user[row]
        n_relevant, hits, precisions, reciprocal_rank, dcg = 0, 0, 0.0, 0.0, 0.0
        while row < len(user) and user[row] == current:
            if gain[row] > 0:
                gains[n_relevant] = gain[row]
                n_relevant += 1
                if rank[row] <= k:
                    hits += 1
                    precisions += hits / rank[row]
                    dcg += gain[row] / np.log2(rank[row] + 1)
                    if hits == 1:
                        reciprocal_rank = 1.0 / rank[row]
            row += 1
        n_users += 1
        if hits > 0:
            ndcg = dcg / _ideal(gains[:n_relevant], k)
            _add(sums, hits, n_relevant, precisions, reciprocal_rank, ndcg, k)
    return sums / n_users


@numba.njit(error_model="numpy", cache=True)
def _ideal(gains, k):
    best = np.sort(gains)[::-1][:k]
    return (best / np.log2(np.arange(2, len(best) + 2))).sum()


@numba.njit(error_model="numpy", cache=True)
def _add(sums, hits, n_relevant, precisions, reciprocal_rank, ndcg, k):  # noqa: PLR0913, PLR0917  numba takes no records
    sums[0] += 1
    sums[1] += hits / k
    sums[2] += hits / n_relevant
    sums[3] += precisions / n_relevant
    sums[4] += reciprocal_rank
    sums[5] += ndcg


def tuned_loop(case: Case, k: int) -> list[float]:
    """Return the same numbers from the same arrays."""
    discount = np.concatenate(([0.0], 1 / np.log2(np.arange(2.0, k + 2))))
    return [float(one) for one in _tuned_means(*case.arrays, k, discount)]


@numba.njit(error_model="numpy", cache=True)
def _tuned_means(user, rank, gain, k, discount):
    sums = np.zeros(N_METRICS)
    best = np.zeros(k, dtype=gain.dtype)
    n_users, row = 0, 0
    while row < len(user):
        row, n_relevant, hits, precisions, reciprocal_rank, dcg = _one_user(
            user, rank, gain, row, discount, best
        )
        n_users += 1
        if hits > 0:
            ideal = 0.0
            for place in range(min(k, n_relevant)):
                ideal += best[place] * discount[place + 1]
            _add(sums, hits, n_relevant, precisions, reciprocal_rank, dcg / ideal, k)
    return sums / n_users


@numba.njit(error_model="numpy", cache=True)
def _one_user(user, rank, gain, row, discount, best):
    """Read the rows of one user; return the row after them and the user's sums, and leave the largest gains in `best`."""
    current = user[row]
    n_relevant, hits, precisions, reciprocal_rank, dcg = 0, 0, 0.0, 0.0, 0.0
    while row < len(user) and user[row] == current:
        if gain[row] > 0:
            _insert(best, n_relevant, gain[row])
            n_relevant += 1
            if rank[row] <= len(best):
                hits += 1
                precisions += hits / rank[row]
                dcg += gain[row] * discount[rank[row]]
                if hits == 1:
                    reciprocal_rank = 1.0 / rank[row]
        row += 1
    return row, n_relevant, hits, precisions, reciprocal_rank, dcg


@numba.njit(error_model="numpy", cache=True)
def _insert(best, filled, gain):
    """Keep the largest gains of a user in descending order; `filled` gains came before."""
    place = min(filled, len(best))
    if place == len(best):
        if gain <= best[place - 1]:
            return
        place -= 1
    while place > 0 and best[place - 1] < gain:
        best[place] = best[place - 1]
        place -= 1
    best[place] = gain
