"""`rec.gaps`: gap between the best and worst segment, with tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl
import polars.selectors as cs

from recframe.errors import short
from recframe.metrics.language.definition import Metric
from recframe.statistics.arrays import Numbers, np
from recframe.statistics.pairs import MODEL
from recframe.statistics.resampling import covariance_of_means
from recframe.statistics.segment_sums import (
    MOST_TOGETHER,
    Moments,
    Segmenting,
    Segments,
    Table,
    every_segment,
)
from recframe.statistics.shrinkage import BORROWED_FOR_GAPS, cautious_variances
from recframe.statistics.simpson import Looking, named, reversal
from recframe.statistics.simultaneous import NO_GAP, Gap, gap
from recframe.statistics.summary import FEW, columns_of

COLUMNS = columns_of(
    "metric k n_segments n_small best best_value best_n_users worst worst_value worst_n_users gap gap_low "
    "gap_high gap_pooled ratio spread p_value note"
)
"""Columns after the keys."""
SHORT = (
    *("metric", "best", "worst", "best_value", "worst_value", "p_value"),
    *("gap", "gap_low", "gap_high", "note"),
)
"""Columns after the keys in the short form."""


def gaps(
    cells: pl.DataFrame, metrics: Sequence[Metric[...]], how: Segmenting, schema: pl.Schema
) -> pl.DataFrame:
    """Return a row for each column, model and metric, from the sums of `cells`."""
    found = every_segment(cells, metrics, how)
    rows = [_row(one, found) for one in found if len(one.table.columns) == 1]
    kept = [tuple(map(row.get, schema)) for row in rows]
    result = pl.DataFrame(kept, schema=schema, orient="row")
    return result.with_columns(cs.float().exclude(MODEL).fill_nan(None))


def _row(of: Segments, every: Sequence[Segments]) -> dict[str, Any]:
    """Return the best and the worst segment of a column, and what is to be known of them."""
    column, moments = of.table.columns[0], of.moments
    others = [
        one.table
        for one in every
        if len(one.table.columns) > 1 and column in one.table.columns
        if (one.table.model, one.number) == (of.table.model, of.number)
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
        MODEL: of.table.model.name,
        "metric": str(of.metric),
        "k": of.metric.k,
        "n_segments": int(np.count_nonzero(there)),
        "n_small": int(np.count_nonzero(there & ~of.large)),
        **{name: of.table.texts[place] for name, place in ends.items()},
        **{f"{name}_value": one for name, one in value.items()},
        **{f"{name}_n_users": int(moments.n[place]) for name, place in ends.items()},
        "gap": found.gap,
        "gap_low": found.low,
        "gap_high": found.high,
        "gap_pooled": float(np.ptp(kept)) if ends and kept.size else None,
        "ratio": value["worst"] / value["best"] if has_ratio else None,
        "spread": float(shrunk.spread),
        "p_value": found.p_value,
        "note": "; ".join(notes) or None,
    }


def _gap(of: Segments) -> Gap:
    """The gap between the best and the worst large segment, even without a known spread."""
    moments, places = of.moments, np.flatnonzero(of.large)
    if len(places) < 2:  # noqa: PLR2004  a gap is between two
        return NO_GAP
    value, covariance = of.sign * moments.mean[places], None
    error = of.errors(cautious_variances(moments.variance, moments.n))[places]
    if _are_too_many(of):
        error = np.full_like(error, np.nan)
    elif of.table.cells is not None:
        # of segments that share users
        covariance = covariance_of_means(*of.table.groups(of.number, places))
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
    return of.table.cells is not None and bool(of.large.sum() > MOST_TOGETHER)


def _notes(of: Segments, found: Gap) -> Iterator[str]:
    """Return the notes of the row."""
    unknown = of.table.moments.n[~of.table.known, of.number].sum()
    if (of_gap := _note(of, found)) is not None:
        yield of_gap
    if found.least > 0 >= found.low:
        yield f"two other segments are shown to be {found.least:.3g} apart"
    if found.best >= 0 and not of.how.of_differences and not of.moments.mean[found.best]:
        yield "the best value is 0, so no ratio"
    if of.table.is_shared:
        yield "users stand in several segments"
    if unknown:
        column = of.how.names[of.table.columns[0]]
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


def _paradoxes(of: Segments, others: Sequence[Table]) -> Iterator[str]:
    """Give the reversals of segments within the levels of the other columns."""
    how = Looking(of.how.min_users, 1.0 - of.how.level)
    own, names = of.table.columns[0], of.table.texts
    for table in others:
        (other,) = set(table.columns) - {own}
        within = _levels(table, own, other, names).at(np.s_[:, :, of.number])
        found = reversal(of.moments, within, how, len(others))
        if found is not None:
            yield named(found, names, of.how.names[other])


def _levels(table: Table, own: str, other: str, names: Sequence[str]) -> Moments:
    """Return the moments of two columns crossed, segments x levels; values that are not known are none."""
    named = {own: names, "segment": range(len(names))}
    places = pl.DataFrame(named, schema={own: pl.String, "segment": pl.Int64})
    rows = table.segments.join(places, on=own, how="left", maintain_order="left")
    rows = rows.with_columns(level=pl.col(other).rank("dense") - 1)
    known = table.known
    first, second = (rows[name].to_numpy()[known].astype(np.int64) for name in ("segment", "level"))
    shape = len(names), int(second.max(initial=-1)) + 1

    def placed(of: Numbers) -> Numbers:
        found = np.zeros((*shape, of.shape[1]))
        found[first, second] = of[known]
        return found

    of = table.moments
    return Moments(*(placed(one) for one in (of.n, of.sum, of.square)))
