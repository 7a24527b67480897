"""How often intervals cover and tests reject, in seeded trials: each count is held against a band by exact binomial bounds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lanes import crossed
from recframe.statistics.p_values import t_quantile
from recframe.statistics.shrinkage import (
    BORROWED_FOR_GAPS,
    BORROWED_USERS,
    borrowed_variances,
    pooled,
)
from recframe.statistics.simultaneous import gap

SURE = 1e-4
"""A share within its band fails as rarely, were the seeds others."""


def within(events, low, high):
    """Say whether so many events are what a probability between low and high gives."""
    events = np.asarray(events)
    n, seen = events.size, int(events.sum())
    return stats.binom.cdf(seen, n, low) > SURE and stats.binom.sf(seen - 1, n, high) > SURE


def of_segments(values):
    """Return the means and variances of segments whose users are on the last axis."""
    return values.mean(axis=-1), values.var(axis=-1, ddof=1)


def test_twelve_equal_segments_have_no_gap_but_seem_to():
    random, n = np.random.default_rng(7), 200
    means, variances = of_segments(random.beta(0.7, 2, (1_000, 12, n)))
    errors = np.sqrt(borrowed_variances(variances.T, n, borrowed=BORROWED_FOR_GAPS).T / n)
    gaps = [
        gap(mean, error, freedom=n - 1 + BORROWED_FOR_GAPS)
        for mean, error in zip(means, errors, strict=True)
    ]

    apart = means.max(axis=1) - means.min(axis=1)
    spread = np.hypot(
        np.take_along_axis(errors, means.argmax(axis=1)[:, None], 1),
        np.take_along_axis(errors, means.argmin(axis=1)[:, None], 1),
    )[:, 0]
    assert within(apart > t_quantile(0.95, np.inf) * spread, 0.35, 0.8)
    assert within([one.low > 0 for one in gaps], 0.0, 0.05)
    assert within([one.least > 0 for one in gaps], 0.035, 0.06)


@pytest.mark.parametrize("sizes", [(30, 30), pytest.param((30, 3_000), marks=pytest.mark.slow)])
def test_sparse_values_in_segments_of_any_size_are_rarely_taken_for_a_gap(sizes):
    # the reciprocal rank of the one hit that every fifth user has
    random, trials = np.random.default_rng(8), 500
    n = np.geomspace(*sizes, 12).astype(int)
    values = [
        of_segments((random.random((trials, one)) < 0.2) / random.integers(1, 11, (trials, one)))
        for one in n
    ]
    means, variances = (np.array(one) for one in zip(*values, strict=True))
    borrowed = borrowed_variances(variances, n[:, None], borrowed=BORROWED_FOR_GAPS)
    errors, freedom = np.sqrt(borrowed / n[:, None]), n - 1 + BORROWED_FOR_GAPS
    found = [
        gap(mean, error, freedom=freedom) for mean, error in zip(means.T, errors.T, strict=True)
    ]

    assert within([one.low > 0 for one in found], 0.0, 0.05)
    assert within([one.p_value <= 0.05 for one in found], 0.0, 0.07)


@pytest.mark.parametrize(("k", "spread"), crossed([4, 12, 50], [0.0, 0.03, 0.15]))
def test_pooled_intervals_cover_and_their_middles_are_nearer(k, spread):
    random, trials = np.random.default_rng(9), 400
    n = np.geomspace(5, 200, k).astype(int)[:, None]
    truth = np.clip(random.normal(0.3, spread, (k, trials)), 0.02, 0.98)
    means = random.binomial(n, truth) / n
    variances = borrowed_variances(means * (1 - means) * n / (n - 1), n)

    found = pooled(means, np.sqrt(variances / n), freedom=n - 1 + BORROWED_USERS)

    covered = ((found.low <= truth) & (truth <= found.high)).mean()
    # near 1 where segments do not differ; trials have k segments each, so that the mean is known to half a point
    assert 0.935 < covered <= 1
    assert spread > 0 or covered > 0.95
    nearer = np.mean((found.value - truth) ** 2) / np.mean((means - truth) ** 2)
    assert nearer < (1.0 if spread > 0.1 else 0.8)
