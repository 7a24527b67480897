"""`rec.gaps`: the gap between the best and the worst segment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import polars as pl
import polars.selectors as cs

from recframe.errors import short
from recframe.metrics.language.definition import Metric
from recframe.statistics.arrays import np, special
from recframe.statistics.p_values import level_of_all, p_two_sided, t_quantile
from recframe.statistics.pairs import MODEL
from recframe.statistics.segment_sums import Segmenting, Segments, every_segment
from recframe.statistics.summary import columns_of

FEW = 30
"""Users below which a t interval is rough."""
COLUMNS = columns_of(
    "metric best worst gap gap_low gap_high best_value worst_value p_value best_n_users worst_n_users "
    "n_segments note"
)
"""Columns after the keys."""


class Gap(NamedTuple):
    """Gap between the best and the worst segment; NaN where there is no interval."""

    best: int
    worst: int
    value: float
    low: float
    high: float
    p_value: float


def gaps(
    cells: pl.DataFrame, metrics: Sequence[Metric[...]], how: Segmenting, schema: pl.Schema
) -> pl.DataFrame:
    """Return a row for each column, model and metric, from the sums of `cells`."""
    rows = [_row(one) for one in every_segment(cells, metrics, how)]
    kept = [tuple(map(row.get, schema)) for row in rows]
    result = pl.DataFrame(kept, schema=schema, orient="row")
    return result.with_columns(cs.float().exclude(MODEL).fill_nan(None))


def _row(of: Segments) -> dict[str, Any]:
    """Return the best and the worst segment of a column, and the gap between them."""
    moments, found = of.moments, widest(of)
    row: dict[str, Any] = {
        "by": of.how.names[of.columns[0]],
        MODEL: of.model,
        "metric": str(of.metric),
        "n_segments": int(np.count_nonzero(moments.n)),
        "note": "; ".join(_notes(of, found)) or None,
    }
    if found is None:
        return row
    names = of.segments.to_series()
    for end, place in (("best", found.best), ("worst", found.worst)):
        row[end] = names[place]
        row[f"{end}_value"] = float(moments.mean[place])
        row[f"{end}_n_users"] = int(moments.n[place])
    sure = {"gap_low": found.low, "gap_high": found.high, "p_value": found.p_value}
    return row | {"gap": found.value} | sure


def widest(of: Segments) -> Gap | None:
    """Return the gap between the best and the worst segment of at least `min_users` users, None below two of them.

    d ± t sqrt(s² / n + s'² / n'), with Welch's degrees of freedom and t at level^(1 / m), where m is the number of all pairs:
    the two were picked among them. The p value is 1 - (1 - p)^m. Both hold for any correlation of the pairs. Where all users
    of one of the two have the same value, nothing is known of its error. Source: Welch 1947; Sidak 1967.
    """
    places = np.flatnonzero(of.large)
    if len(places) < 2:  # noqa: PLR2004  a gap is between two
        return None
    value = of.sign * of.moments.mean[places]
    order = np.argsort(-value, kind="stable")
    best, worst = (int(place) for place in places[order[[0, -1]]])
    gap, nan = float(value[order[0]] - value[order[-1]]), float("nan")
    squared = of.squared_errors(of.moments.variance)[[best, worst]]
    if not (squared > 0).all():
        return Gap(best, worst, gap, nan, nan, nan)
    n_pairs = len(places) * (len(places) - 1) // 2
    freedom = squared.sum() ** 2 / (squared**2 / of.freedom[[best, worst]]).sum()
    error = np.sqrt(squared.sum())
    half = float(t_quantile(level_of_all(of.how.level, n_pairs), freedom) * error)
    p_value = p_two_sided(gap / error, freedom)
    of_all = -special.expm1(n_pairs * special.log1p(-np.minimum(p_value, 1.0 - 2.0**-53)))
    return Gap(best, worst, gap, gap - half, gap + half, float(of_all))


def _notes(of: Segments, found: Gap | None) -> Iterator[str]:
    """Give the notes on the gap and its interval, and on users without a segment."""
    n, unknown = of.moments.n, of.whole.n[~of.known].sum()
    if not n.sum():
        yield "nobody has a value"
    elif found is None:
        yield f"fewer than two segments of at least {of.how.min_users} users, so no gap"
    elif np.isnan(found.low):
        yield "all users of the best or the worst segment have the same value, so no interval"
    elif min(n[found.best], n[found.worst]) < FEW:
        yield f"segments of fewer than {FEW} users, so the interval is rough"
    if unknown:
        column = of.how.names[of.columns[0]]
        yield f"{int(unknown)} users are in no segment, as their {short(repr(column))} is null"
