"""Samples of simulated users as segments of a table of sums over pairs, in which thousands of them are asked in one call."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import polars as pl

import recframe as rf
from recframe.statistics.sums import BASELINE, MODEL, PLACE, over_units

METRICS = [rf.mrr]


def reciprocal_ranks(
    random: np.random.Generator, samples: int, users: int, lifts: Sequence[float], *, taste: float
) -> np.ndarray:
    """Draw the values of models of the same users, samples x models x users: a rank of 1 to 5 where there is a hit.

    A user's chance of a hit is of a beta distribution of the mean 1 / (1 + taste), and larger by the model's lift;
    three of four hits or misses of two models go together.
    """
    chance = random.beta(1, taste, (samples, 1, users))
    common = random.random((samples, 1, users))
    shape = (samples, len(lifts), users)
    luck = np.where(random.random(shape) < 0.75**0.5, common, random.random(shape))
    better = 1.0 + np.array(lifts)[None, :, None]
    return np.where(luck < chance * better, 1.0 / random.integers(1, 6, shape), 0.0)


def sums_of(values: np.ndarray) -> pl.DataFrame:
    """Return the sums over all pairs of models, the first of which, `a`, is the baseline; each sample is a segment.

    They are in long form, of one metric whose values are shares.
    """
    found = []
    names = [chr(ord("a") + place) for place in range(values.shape[1])]
    for one, other in itertools.combinations(range(values.shape[1]), 2):
        a, d = values[:, one], values[:, other] - values[:, one]
        n, ties = np.full(len(values), values.shape[2]), (d == 0).sum(axis=1)
        sums = {"n": n, "a": a.sum(axis=1), "d": d.sum(axis=1), "aa": (a * a).sum(axis=1)}
        sums |= {"ad": (a * d).sum(axis=1), "dd": (d * d).sum(axis=1), "size": 0.0 * n}
        sums |= {"wins": (d > 0).sum(axis=1), "ties": ties, "unpaired": 0 * n}
        keys = {"sample": range(len(values)), MODEL: names[other], BASELINE: names[one]}
        found.append(pl.DataFrame(keys | {PLACE: 0} | sums))
    return over_units(pl.concat(found).lazy()).collect()
