"""Simpson's paradox: order of segments reversed within a third column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from recframe.errors import short
from recframe.statistics.arrays import Flags, Numbers, np, ratio, special
from recframe.statistics.segment_sums import Moments
from recframe.statistics.shrinkage import BORROWED_FOR_GAPS, borrowed_variances

MOST = 60
"""Most segments of a column that are compared in pairs, the largest first."""
MOST_OF_USERS = 0.9
"""Share of each segment's users that must be in levels where both segments have enough users."""


class Reversed(NamedTuple):
    """Two segments with reversed order: lower overall, higher within each level."""

    first: int
    second: int
    n_pairs: int
    """Number of segment pairs with such a reversal."""


@dataclass(frozen=True)
class Looking:
    """Options of the search for reversals."""

    min_users: int
    alpha: float
    """False-positive rate over all pairs of segments and all other columns."""


def reversal(whole: Moments, within: Moments, how: Looking, n_columns: int) -> Reversed | None:
    """Return the pair of segments with the most significant reversal within levels, if there is one.

        whole: of the segments, one dimension.
        within: segments x levels; n = 0 where a segment has nobody in a level.
        n_columns: in how many other columns levels are looked for.

    Every level in which both have `min_users` shows the other order; there are two such levels or more, and they hold nine in
    ten users of both. Neither order may be chance: the difference overall, and that of the levels with weights n m / (n + m),
    are both beyond 0 by the normal distribution, at alpha over all pairs of segments and columns. Source: Simpson 1951.
    """
    chosen = np.flatnonzero(whole.n >= how.min_users)
    chosen = np.sort(chosen[np.argsort(-whole.n[chosen], kind="stable")][:MOST])
    levels = np.argsort(-within.n.sum(axis=0), kind="stable")[:MOST]
    if len(chosen) < 2 or len(levels) < 2:  # noqa: PLR2004  pairs
        return None
    whole, within = whole.at(chosen), within.at(np.ix_(chosen, levels))
    z_whole = _of_pairs(whole.mean, _squared_errors(whole))
    z_within, everywhere = _of_levels(whole, within, how.min_users)
    bound = _quantile(how.alpha, len(chosen) * (len(chosen) - 1) // 2 * max(n_columns, 1))
    surely = np.minimum(-z_whole, z_within)
    surely = np.where(everywhere & (surely > bound), surely, -np.inf)
    if not np.isfinite(surely).any():
        return None
    first, second = np.unravel_index(int(np.argmax(surely)), surely.shape)
    return Reversed(int(chosen[first]), int(chosen[second]), int(np.isfinite(surely).sum()))


def _of_levels(whole: Moments, within: Moments, least: int) -> tuple[Numbers, Flags]:
    """Return the z of differences within levels, segments x segments, and whether all levels are above 0."""
    enough = within.n >= least
    both = enough[:, None] & enough[None]
    n = np.where(enough, within.n, 0.0)
    held = ratio((n[:, None] * both).sum(axis=2), whole.n[:, None])
    apart = np.where(both, within.mean[:, None] - within.mean[None], 0.0)
    above = (apart > 0) | ~both
    everywhere = above.all(axis=2) & (both.sum(axis=2) > 1)
    everywhere &= (held >= MOST_OF_USERS) & (held.T >= MOST_OF_USERS)
    weight = np.where(both, ratio(n[:, None] * n[None], n[:, None] + n[None]), 0.0)
    errors = np.where(enough, _squared_errors(within), 0.0)
    squared = (weight**2 * (errors[:, None] + errors[None])).sum(axis=2)
    return _z((weight * apart).sum(axis=2), squared), everywhere


def _squared_errors(of: Moments) -> Numbers:
    """Return the squared standard errors of means, with shrunk variances."""
    flat = borrowed_variances(of.variance.ravel(), of.n.ravel(), borrowed=BORROWED_FOR_GAPS)
    return ratio(flat.reshape(of.n.shape), of.n)


def _of_pairs(mean: Numbers, squared: Numbers) -> Numbers:
    return _z(mean[:, None] - mean[None], squared[:, None] + squared[None])


def _z(difference: Numbers, squared: Numbers) -> Numbers:
    found = ratio(difference, np.sqrt(squared))
    return np.where(np.isnan(found), 0.0, found)


def _quantile(alpha: float, n: int) -> float:
    """Return the normal quantile of alpha / n, two-sided."""
    return float(-special.ndtri(alpha / (2.0 * max(n, 1))))


def named(found: Reversed, segments: Sequence[str], other: str) -> str:
    """Return the words on a reversal; `other` is the column whose levels show it."""
    more = f", and so are {found.n_pairs - 1} other pairs" if found.n_pairs > 1 else ""
    first, second = short(segments[found.first]), short(segments[found.second])
    said = f"{first} is below {second}, but above it in every {short(repr(other))}: a paradox of the mix"
    return said + more
