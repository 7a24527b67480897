"""Bootstrap and sign-flip tests, on sums of random groups of users.

Data come as a matrix of groups x columns. A column is a row of the result: a metric of a model in a segment. Its cells hold
the sum of the values (or of the paired differences) of the group's users, and how many of them have one. A group is a set of
users by a stable hash, the same for all columns, so that users who stand in several columns are drawn together; with clusters,
it is a set of whole clusters. With no more users than groups, nearly every user is a group of his own.

NOTE: all columns share the weights and the flips of a group. Sharing is right where columns share users, and where they
do not, as in segments, groups of other users meet by chance alone, as they would with weights rolled by segment.
NOTE: what is drawn depends on the seed and the number of groups, not on the columns: one metric more changes no number, but
where so few groups have users that all of their flips are taken in place of draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, TypeAlias

import polars as pl

from recframe.frames.inputs import GROUP
from recframe.statistics.arrays import Given, Labels, Numbers, np, numbers, ratio
from recframe.statistics.p_values import StepDown, t_statistic

Tell: TypeAlias = Callable[[int, int], None]
"""Type of callbacks with the number of finished resamples and the total."""

MOST_GROUPS = 10_000
"""Most groups of a table without segments; twice as many change no displayed digit."""
MOST_GROUPS_BY_SEGMENT = 2_000
"""Most groups of a table with many segments; they cost a fifth."""
_CELLS = 2**22
"""Weights drawn per block, 32 MB."""
_MOST_ROWS = 512
_MOST_ENUMERATED = 30
"""Most groups for which all sign flips are enumerated."""
_ROUNDING = 1e-12
"""Share of the summands below which a sum is 0."""


class Tested(NamedTuple):
    """P values of each column, unadjusted and by step-down max-t."""

    p_value: Numbers
    p_max_t: Numbers
    skewness: Numbers
    """Skewness |Σ s³| / (Σ s²)^1.5 of group sums s; sign flips assume 0, symmetry about 0."""


def bootstrap_means(
    sums: Given, counts: Given, *, n_resamples: int, seed: int, tell: Tell | None = None
) -> Numbers:
    """Return the means of each resample, resamples x columns.

        sums: groups x columns, 0 where a group has nobody.
        counts: groups x columns, or one dimension where the columns have the same users.
        n_resamples, seed: how many, and what the draws depend on.
        tell: is called after each block of resamples.

    Each group has a Poisson(1) weight w; the mean is sum w s / sum w n. NaN where a resample drew nobody of a column, and for
    a column without users. It holds 8 bytes for each resample and column. Source: Chamandy et al. 2012; Efron 1979.
    """
    drawn = resampled_means(sums, counts, n_resamples=n_resamples, seed=seed, tell=tell)
    means, done = np.empty((n_resamples, numbers(sums).shape[1])), 0
    for block in drawn:
        means[done : done + len(block)] = block
        done += len(block)
    return means


def resampled_means(
    sums: Given, counts: Given, *, n_resamples: int, seed: int, tell: Tell | None = None
) -> Iterator[Numbers]:
    """Yield the means of `bootstrap_means` in blocks of resamples, to save memory."""
    sums, counts = numbers(sums), _columns(counts)
    for weights in _told(_poisson(len(sums), n_resamples, seed), n_resamples, tell):
        yield ratio(weights @ sums, weights @ counts)


def percentile_interval(resampled: Given, *, level: float = 0.95) -> tuple[Numbers, Numbers]:
    """Return the lower and the upper bound of each column: the quantiles of its resamples, NaN aside.

    NaN for a column without a resample. Source: Efron 1979.
    """
    resampled = numbers(resampled)
    ends = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    found = np.quantile(resampled, ends, axis=0)
    # of columns that some resamples say nothing of
    partly = np.isnan(found[0]) & ~np.isnan(resampled).all(axis=0)
    if partly.any():
        found[:, partly] = np.nanquantile(resampled[:, partly], ends, axis=0)
    return found[0], found[1]


def bootstrap_test(
    sums: Given,
    counts: Given,
    *,
    n_resamples: int,
    seed: int,
    families: Given | None = None,
    tell: Tell | None = None,
) -> Tested:
    """Return the p values of means that are 0 under the null, by the shifted bootstrap, on two sides.

        sums, counts: of differences, as in `bootstrap_means`; the other arguments are its own too.
        families: a label of each column for `p_max_t`, whole numbers; None for one family.

    The share of resamples with |m* - m| >= |m|, and no p below 1 / (resamples + 1). For the family, a column's statistic is
    |m* - m| over the standard error of its groups. p is 1 where all differences are 0, the smallest one where all are the
    same, NaN for a column with users in fewer than two groups.
    Source: Efron and Tibshirani 1993, 16.4; Westfall and Young 1993.
    """
    sums, counts = numbers(sums), _columns(counts)
    total = counts.sum(axis=0)
    mean = ratio(sums.sum(axis=0), total)
    rest = sums - mean * counts
    # a spread that is nothing but rounding is none: such a column never reaches its own mean
    rest = np.where(_norm(rest) > _ROUNDING * _norm(sums), rest, 0.0)
    error = ratio(_norm(rest), total)
    stepped = StepDown(_testable(t_statistic(mean, error), counts), families)
    for weights in _told(_poisson(len(sums), n_resamples, seed), n_resamples, tell):
        stepped.add(t_statistic(ratio(weights @ rest, weights @ counts), error))
    return Tested(stepped.p_values(), stepped.p_adjusted(), _skewness(sums))


def sign_flip_test(
    sums: Given,
    counts: Given,
    *,
    n_resamples: int,
    seed: int,
    families: Given | None = None,
    tell: Tell | None = None,
) -> Tested:
    """Return the p values of means that are 0 under the null, by flipping the signs of groups, on two sides.

        sums, counts: of differences, as in `bootstrap_means`; the other arguments as in `bootstrap_test`.

    The share of flips with |sum e s| >= |sum s|, each e being +1 or -1 for a whole group and all columns, and no p below
    1 / (resamples + 1). Where there are no more flips than resamples, each is taken once and p is exact. For the family, a
    column's statistic is |sum e s| over the root of sum s^2, its spread over all flips.

    p is 1 where all differences are 0, and NaN for a column with users in fewer than two groups.
    Source: Fisher 1935; Smucker et al. 2007; Hemerik and Goeman 2018 (flips of groups stay exact).
    """
    sums = numbers(sums)
    norm = _norm(sums)
    scaled = sums / np.where(norm > 0, norm, 1.0)
    filled = scaled[(scaled != 0).any(axis=1)]
    exact = len(filled) < _MOST_ENUMERATED and 2 ** len(filled) <= n_resamples
    if exact:
        scaled, n_resamples = filled, 2 ** len(filled)
    draw = _all_signs(len(scaled)) if exact else _random_signs(len(scaled), n_resamples, seed)
    observed = scaled.sum(axis=0)
    stepped = StepDown(_testable(observed, _columns(counts)), families)
    for positive in _told(draw, n_resamples, tell):
        stepped.add(2.0 * (positive @ scaled) - observed)
    return Tested(stepped.p_values(exact=exact), stepped.p_adjusted(exact=exact), _skewness(sums))


def covariance_of_means(sums: Given, counts: Given) -> Numbers:
    """Return the covariance of the columns' means, columns x columns, by groups that share users.

        sums, counts: as in `bootstrap_means`.

    G / (G - 1) sum r r' over the G groups that have users, r = (s - mean n) / sum n. NaN for a column without users; it wants
    some hundred groups. Source: Liang and Zeger 1986.
    """
    sums, counts = numbers(sums), _columns(counts)
    total = counts.sum(axis=0)
    rest = ratio(sums - ratio(sums.sum(axis=0), total) * counts, total)
    n_groups = np.count_nonzero(counts.any(axis=1))
    return numbers(rest.T @ rest) * ratio(n_groups, n_groups - 1.0)


def _columns(counts: Given) -> Numbers:
    """Return counts as groups x columns, a single one where the columns have the same users."""
    counts = numbers(counts)
    return counts if counts.ndim > 1 else counts[:, None]


def _testable(statistic: Numbers, counts: Numbers) -> Numbers:
    """Return NaN for columns with users in fewer than two groups, which cannot be tested."""
    return np.where(np.count_nonzero(counts, axis=0) > 1, statistic, np.nan)


def _norm(of: Numbers) -> Numbers:
    """Return the root of the sum of squares of each column."""
    return numbers(np.sqrt(np.einsum("ij,ij->j", of, of)))


def _skewness(of: Numbers) -> Numbers:
    """Return the skewness of each column's values about 0; see `Tested`."""
    norm = _norm(of)
    scaled = of / np.where(norm > 0, norm, 1.0)
    return numbers(np.abs(np.einsum("ij,ij,ij->j", scaled, scaled, scaled)))


def _told(blocks: Iterator[Numbers], n: int, tell: Tell | None) -> Iterator[Numbers]:
    """Yield blocks and report progress after each, and the end even if interrupted."""
    done, tell = 0, tell or (lambda _done, _n: None)
    try:
        for block in blocks:
            yield block
            done += len(block)
            tell(done, n)
    finally:
        if done < n:
            tell(n, n)


def _rows(n_groups: int, n: int) -> Iterator[int]:
    """Yield the number of resamples of each block."""
    most = max(1, min(_MOST_ROWS, _CELLS // max(n_groups, 1)))
    for start in range(0, n, most):
        yield min(most, n - start)


@cache
def _poisson_of_16_bits() -> Numbers:
    """Return the Poisson(1) weight of each number of 16 bits: mean 1.0000, variance 1.0003, a sixth of NumPy's time."""
    probability = np.exp(-1.0) / np.cumprod([1.0, *range(1, 12)])
    middles = (np.arange(2**16) + 0.5) / 2**16
    return np.searchsorted(np.cumsum(probability), middles).astype(np.float64)


def _poisson(n_groups: int, n: int, seed: int) -> Iterator[Numbers]:
    """Draw the weights of groups, a block of resamples at a time."""
    draw, table = np.random.default_rng(seed), _poisson_of_16_bits()
    for rows in _rows(n_groups, n):
        yield table[draw.integers(0, 2**16, size=(rows, n_groups), dtype=np.uint16)]


def _random_signs(n_groups: int, n: int, seed: int) -> Iterator[Numbers]:
    """Draw for each group whether it keeps its sign (1) or not (0), a block of resamples at a time."""
    draw = np.random.default_rng(seed)
    for rows in _rows(n_groups, n):
        given = draw.integers(0, 256, size=(rows, -(-n_groups // 8)), dtype=np.uint8)
        yield np.unpackbits(given, axis=1, count=n_groups).astype(np.float64)


def _all_signs(n_groups: int) -> Iterator[Numbers]:
    """Give every pattern of signs once."""
    start = 0
    for rows in _rows(n_groups, 2**n_groups):
        patterns = np.arange(start, start + rows)[:, None]
        yield ((patterns >> np.arange(n_groups)) & 1).astype(np.float64)
        start += rows


PLACE = "row of the result"


@dataclass(frozen=True)
class Groups:
    """Cells of a table of sums, by group and result row."""

    cells: pl.DataFrame
    groups: Labels
    rows: Labels
    n_rows: int

    def matrix(self, names: Iterable[str]) -> Numbers:
        """Return sums as groups x (rows x names), those of clusters of a group added up."""
        columns = self.cells.select(names).to_numpy().astype(np.float64)
        n_groups = int(self.groups.max(initial=-1)) + 1
        found = np.zeros((n_groups * self.n_rows, columns.shape[1]))
        np.add.at(found, self.groups * self.n_rows + self.rows, columns)
        return found.reshape(n_groups, -1)


def groups_of(sums: pl.DataFrame, rows: pl.DataFrame) -> Groups:
    """Return the groups of a table of sums, which has the keys of the result's rows and the random group."""
    if rows.width:
        placed = rows.with_row_index(PLACE)
        sums = sums.join(placed, on=rows.columns, how="inner", nulls_equal=True)
    else:
        sums = sums.with_columns(pl.lit(0).alias(PLACE))
    groups = (sums[GROUP].rank("dense") - 1).cast(pl.Int64).to_numpy()
    return Groups(sums, groups, sums[PLACE].cast(pl.Int64).to_numpy(), max(len(rows), 1))
