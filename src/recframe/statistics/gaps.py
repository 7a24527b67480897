"""`rec.gaps`: gap between the best and worst segment, with tests; Simpson's paradox."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl
import polars.selectors as cs

from recframe.errors import short
from recframe.metrics.language.definition import Metric
from recframe.statistics.arrays import Flags, Numbers, np, ratio, special
from recframe.statistics.pairs import MODEL
from recframe.statistics.resampling import covariance_of_means
from recframe.statistics.segment_sums import (
    MOST_TOGETHER,
    Moments,
    Segmenting,
    Segments,
    every_segment,
)
from recframe.statistics.shrinkage import (
    BORROWED_FOR_GAPS,
    borrowed_variances,
    cautious_variances,
)
from recframe.statistics.simultaneous import NO_GAP, Gap, gap
from recframe.statistics.summary import FEW, columns_of

COLUMNS = columns_of(
    "metric k n_segments n_small best best_value best_n_users worst worst_value worst_n_users gap gap_low "
    "gap_high gap_pooled ratio spread mad p_value note"
)
"""Columns after the keys."""
SHORT = (
    *("metric", "best", "worst", "best_value", "worst_value", "p_value"),
    *("gap", "gap_low", "gap_high", "note"),
)
"""Columns after the keys in the short form."""
MOST_IN_PAIRS = 60
"""Most segments of a column that are compared in pairs, the largest first."""
MOST_OF_USERS = 0.9
"""Share of each segment's users that must be in levels where both segments have enough users."""


def gaps(
    cells: pl.DataFrame, metrics: Sequence[Metric[...]], how: Segmenting, schema: pl.Schema
) -> pl.DataFrame:
    """Return a row for each column, model and metric, from the sums of `cells`."""
    found = list(every_segment(cells, metrics, how))
    rows = [_row(one, found) for one in found if len(one.columns) == 1]
    kept = [tuple(map(row.get, schema)) for row in rows]
    result = pl.DataFrame(kept, schema=schema, orient="row")
    return result.with_columns(cs.float().exclude(MODEL).fill_nan(None))


def _row(of: Segments, every: Sequence[Segments]) -> dict[str, Any]:
    """Return the best and the worst segment of a column, and what is to be known of them."""
    column, moments = of.columns[0], of.moments
    others = [
        one
        for one in every
        if len(one.columns) > 1 and column in one.columns
        if (one.model_place, one.number) == (of.model_place, of.number)
    ]
    found, shrunk = _gap(of), of.pooled
    ends = {"best": found.best, "worst": found.worst} if found.best >= 0 else {}
    value = {name: float(moments.mean[place]) for name, place in ends.items()}
    has_ratio = bool(value) and not of.how.of_differences and value["best"] != 0
    kept = shrunk.value[of.large & ~np.isnan(shrunk.value)]
    there = moments.n > 0
    notes = [*_notes(of, found), *_paradoxes(of, others)]
    return {
        "by": of.how.names[column],
        MODEL: of.model,
        "metric": str(of.metric),
        "k": of.metric.k,
        "n_segments": int(np.count_nonzero(there)),
        "n_small": int(np.count_nonzero(there & ~of.large)),
        **{name: of.texts[place] for name, place in ends.items()},
        **{f"{name}_value": one for name, one in value.items()},
        **{f"{name}_n_users": int(moments.n[place]) for name, place in ends.items()},
        "gap": found.gap,
        "gap_low": found.low,
        "gap_high": found.high,
        "gap_pooled": float(np.ptp(kept)) if ends and kept.size else None,
        "ratio": value["worst"] / value["best"] if has_ratio else None,
        "spread": float(shrunk.spread),
        "mad": _mean_difference(np.sort(moments.mean[of.large])) if ends else None,
        "p_value": found.p_value,
        "note": "; ".join(notes) or None,
    }


def _mean_difference(value: Numbers) -> float:
    """Return the mean absolute difference of the pairs of values, which are in rising order."""
    n = len(value)
    # of its pairs a value is the higher one as often as its place says
    return float(((2.0 * np.arange(n) - n + 1.0) * value).sum() / (n * (n - 1) / 2))


def _gap(of: Segments) -> Gap:
    """The gap between the best and the worst large segment, even without a known spread."""
    moments, places = of.moments, np.flatnonzero(of.large)
    if len(places) < 2:  # noqa: PLR2004  a gap is between two
        return NO_GAP
    value, covariance = of.sign * moments.mean[places], None
    error = of.errors(cautious_variances(moments.variance, moments.n))[places]
    if _are_too_many(of):
        error = np.full_like(error, np.nan)
    elif of.cells is not None:
        # of segments that share users
        covariance = covariance_of_means(*of.groups(places))
        np.fill_diagonal(covariance, error**2)
    freedom = of.freedom(BORROWED_FOR_GAPS)[places]
    found = gap(value, error, freedom=freedom, level=of.how.level, covariance=covariance)
    if found.best < 0:
        order = np.argsort(-value, kind="stable")
        best, worst = int(order[0]), int(order[-1])
        found = found._replace(best=best, worst=worst, gap=float(value[best] - value[worst]))
    return found._replace(best=int(places[found.best]), worst=int(places[found.worst]))


def _are_too_many(of: Segments) -> bool:
    """Return whether so many segments share users that their pairs are not looked at."""
    return of.cells is not None and bool(of.large.sum() > MOST_TOGETHER)


def _notes(of: Segments, found: Gap) -> Iterator[str]:
    """Return the notes of the row."""
    unknown = of.whole.n[~of.known].sum()
    if (of_gap := _note(of, found)) is not None:
        yield of_gap
    if found.least > 0 >= found.low:
        yield f"two other segments are shown to be {found.least:.3g} apart"
    if found.best >= 0 and not of.how.of_differences and not of.moments.mean[found.best]:
        yield "the best value is 0, so no ratio"
    if of.is_shared:
        yield "some users are in several segments"
    if unknown:
        column = of.how.names[of.columns[0]]
        yield f"{int(unknown)} users are in no segment, as their {short(repr(column))} is null"


def _note(of: Segments, found: Gap) -> str | None:
    """Return the note on the gap and its interval."""
    n = of.moments.n
    if not n.sum():
        return "nobody has a value"
    if found.best < 0:
        return f"fewer than two segments of at least {of.how.min_users} users, so no gap"
    if _are_too_many(of):
        return f"more than {MOST_TOGETHER:,} segments share users, so no interval"
    if np.isnan(found.low):
        return "no segment has two users, so no interval"
    if found.low == found.high:
        return "all users of a segment have the same value"
    rough = n[of.large].min() < FEW
    return f"segments of fewer than {FEW} users, so the interval is rough" if rough else None


def _paradoxes(of: Segments, others: Sequence[Segments]) -> Iterator[str]:
    """Give the reversals of segments within the levels of the other columns."""
    how = _Looking(of.how.min_users, 1.0 - of.how.level)
    own, names = of.columns[0], of.texts
    for crossed in others:
        (other,) = set(crossed.columns) - {own}
        found = _reversal(of.moments, _levels(crossed, own, other, names), how, len(others))
        if found is not None:
            yield _words(found, names, of.how.names[other])


def _levels(crossed: Segments, own: str, other: str, names: Sequence[str]) -> Moments:
    """Return the moments of two columns crossed, segments x levels; values that are not known are none."""
    known, of = crossed.known, crossed.whole
    rows = crossed.segments.filter(known)
    segments = rows[own].replace_strict(names, range(len(names)), return_dtype=pl.Int64).to_numpy()
    levels = rows[other].rank("dense").cast(pl.Int64).to_numpy() - 1
    shape = len(names), int(levels.max(initial=-1)) + 1
    placed = [np.zeros(shape) for _ in range(3)]
    for sums, one in zip(placed, (of.n, of.sum, of.square), strict=True):
        sums[segments, levels] = one[known]
    return Moments(*placed)


class _Reversed(NamedTuple):
    """Two segments with reversed order: lower overall, higher within each level."""

    first: int
    second: int
    n_pairs: int
    """Number of segment pairs with such a reversal."""


@dataclass(frozen=True)
class _Looking:
    """Options of the search for reversals."""

    min_users: int
    alpha: float
    """False-positive rate over all pairs of segments and all other columns."""


def _reversal(whole: Moments, within: Moments, how: _Looking, n_columns: int) -> _Reversed | None:
    """Return the pair of segments with the most significant reversal within levels, if there is one.

        whole: of the segments, one dimension.
        within: segments x levels; n = 0 where a segment has nobody in a level.
        n_columns: in how many other columns levels are looked for.

    Every level in which both have `min_users` shows the other order; there are two such levels or more, and they hold nine in
    ten users of both. Neither order may be chance: the difference overall, and that of the levels with weights n m / (n + m),
    are both beyond 0 by the normal distribution, at alpha over all pairs of segments and columns. Source: Simpson 1951.
    """
    chosen = np.flatnonzero(whole.n >= how.min_users)
    chosen = np.sort(chosen[np.argsort(-whole.n[chosen], kind="stable")][:MOST_IN_PAIRS])
    levels = np.argsort(-within.n.sum(axis=0), kind="stable")[:MOST_IN_PAIRS]
    if len(chosen) < 2 or len(levels) < 2:  # noqa: PLR2004  pairs
        return None
    whole, within = whole.at(chosen), within.at(np.ix_(chosen, levels))
    mean, error = whole.mean, _squared_errors(whole)
    z_whole = _z(mean[:, None] - mean[None], error[:, None] + error[None])
    z_within, everywhere = _of_levels(whole, within, how.min_users)
    n_pairs = len(chosen) * (len(chosen) - 1) // 2 * max(n_columns, 1)
    bound = -special.ndtri(how.alpha / (2.0 * n_pairs))
    surely = np.minimum(-z_whole, z_within)
    surely = np.where(everywhere & (surely > bound), surely, -np.inf)
    if not np.isfinite(surely).any():
        return None
    first, second = np.unravel_index(int(np.argmax(surely)), surely.shape)
    return _Reversed(int(chosen[first]), int(chosen[second]), int(np.isfinite(surely).sum()))


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


def _z(difference: Numbers, squared: Numbers) -> Numbers:
    found = ratio(difference, np.sqrt(squared))
    return np.where(np.isnan(found), 0.0, found)


def _words(found: _Reversed, segments: Sequence[str], other: str) -> str:
    """Return the words on a reversal; `other` is the column whose levels show it."""
    more = f", and so are {found.n_pairs - 1} other pairs" if found.n_pairs > 1 else ""
    first, second = short(segments[found.first]), short(segments[found.second])
    said = f"{first} is below {second}, but above it in every {short(repr(other))}: a paradox of the mix"
    return said + more
