"""How often intervals cover and tests reject, in seeded trials: each count is held against a band by exact binomial bounds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lanes import crossed
from recframe.statistics.shrinkage import borrowed_variances, pooled

SURE = 1e-4
"""A share within its band fails as rarely, were the seeds others."""


def within(events, low, high):
    """Say whether so many events are what a probability between low and high gives."""
    events = np.asarray(events)
    n, seen = events.size, int(events.sum())
    return stats.binom.cdf(seen, n, low) > SURE and stats.binom.sf(seen - 1, n, high) > SURE


@pytest.mark.parametrize(("k", "spread"), crossed([4, 12, 50], [0.0, 0.03, 0.15]))
def test_pooled_values_are_nearer_to_the_truth(k, spread):
    random, trials = np.random.default_rng(9), 400
    n = np.geomspace(5, 200, k).astype(int)[:, None]
    truth = np.clip(random.normal(0.3, spread, (k, trials)), 0.02, 0.98)
    means = random.binomial(n, truth) / n
    variances = borrowed_variances(means * (1 - means) * n / (n - 1), n)

    found = pooled(means, np.sqrt(variances / n))

    nearer = np.mean((found - truth) ** 2) / np.mean((means - truth) ** 2)
    assert nearer < (1.0 if spread > 0.1 else 0.8)
