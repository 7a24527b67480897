"""`rec.gaps`: the gap between the best and the worst segment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import polars.selectors as cs

from recframe.errors import short
from recframe.metrics.language.definition import Metric
from recframe.statistics.arrays import Numbers, np
from recframe.statistics.estimates import Estimate, Moments, apart, judged, of_mean
from recframe.statistics.segments import Segmenting, segments_of
from recframe.statistics.stored_results import FEW
from recframe.statistics.sums import MODEL, PLACE, USERS


def gaps(
    cells: pl.DataFrame, crossed: Sequence[tuple[str, ...]], how: Segmenting, schema: pl.Schema
) -> pl.DataFrame:
    """Return a row for each column, model and metric, from the sums of cells."""
    rows = []
    on = [*([MODEL] if MODEL in cells.columns else []), PLACE]
    for columns in crossed:
        found = segments_of(cells, columns, how)
        starts = found.select(pl.struct(on).rle_id()).to_series()
        parts = [found.filter(starts == start) for start in range(starts.n_unique())]
        rows += [_row(part, columns[0], how) for part in parts]
        if not parts and MODEL not in schema:
            none = {"by": how.names[columns[0]], "n_segments": 0, "note": "nobody has a value"}
            rows += [none | {"metric": str(one)} for one in how.metrics.values()]
    kept = [tuple(map(row.get, schema)) for row in rows]
    result = pl.DataFrame(kept, schema=schema, orient="row")
    return result.with_columns(cs.float().exclude(MODEL).fill_nan(None))


def _row(part: pl.DataFrame, column: str, how: Segmenting) -> dict[str, Any]:
    """Return the best and the worst segment of a column, and the gap between them.

    The interval has t at level^(1 / m), where m is the number of all pairs of segments of `min_users` users: the two were
    picked among them. The p value is 1 - (1 - p)^m. Both hold for any correlation of the pairs. Where all users of one of the
    two have the same value, nothing is known of its error. Source: Welch 1947; Sidak 1967.
    """
    metric = how.metrics[part[PLACE][0]]
    known = part.filter(pl.col(column).is_not_null())
    users = USERS if USERS in part.columns else "n"
    row: dict[str, Any] = {
        "by": how.names[column],
        MODEL: part[MODEL][0] if MODEL in part.columns else None,
        "metric": str(metric),
        "n_segments": int((known[users] > 0).sum()),
    }
    large = known.filter(pl.col(users) >= max(how.min_users, 1))
    unknown = int(part.filter(pl.col(column).is_null())[users].sum())
    ends: list[int] = []
    if len(large) > 1:
        row |= _gap(large, metric, how, ends)
        for name, place in zip(("best", "worst"), ends, strict=True):
            row |= {name: large[column][place], f"{name}_n_users": int(large[users][place])}
    notes = _note(row, has_users=bool(known[users].sum()), how=how)
    if unknown:
        name = short(repr(how.names[column]))
        notes = [*notes, f"{unknown} users are in no segment, as their {name} is null"]
    return row | {"note": "; ".join(notes) or None}


def _gap(
    large: pl.DataFrame, metric: Metric[...], how: Segmenting, ends: list[int]
) -> dict[str, Any]:
    """Return the gap between two of the segments, whose places `ends` then has."""
    e = of_mean(Moments.of(large))
    sign = -1.0 if metric.direction == "lower" else 1.0
    order = np.argsort(-sign * e.value, kind="stable")
    ends += [int(order[0]), int(order[-1])]
    best, worst = (_one(e, place) for place in ends)
    gap = apart(best, worst)._replace(value=sign * (best.value - worst.value))
    error = np.where((best.error > 0) & (worst.error > 0), gap.error, np.nan)
    n_pairs = len(large) * (len(large) - 1) // 2
    tested = judged(gap._replace(error=error), level=how.level, correction="sidak", tests=n_pairs)
    found = {
        "gap": gap.value,
        "gap_low": tested.low,
        "gap_high": tested.high,
        "p_value": tested.p_adjusted,
        "best_value": best.value,
        "worst_value": worst.value,
    }
    return {name: float(one[0]) for name, one in found.items()}


def _one(e: Estimate, place: int) -> Estimate:
    parts: Sequence[Numbers] = e
    return Estimate(*(part[place : place + 1] for part in parts))


def _note(row: dict[str, Any], *, has_users: bool, how: Segmenting) -> list[str]:
    """Return the note on the gap and its interval that tells most, if there is one."""
    if not has_users:
        return ["nobody has a value"]
    if "gap" not in row:
        return [f"fewer than two segments of at least {how.min_users} users, so no gap"]
    if np.isnan(row["gap_low"]):
        return ["all users of the best or the worst segment have the same value, so no interval"]
    is_rough = min(row["best_n_users"], row["worst_n_users"]) < FEW
    return [f"segments of fewer than {FEW} users, so the interval is rough"] * is_rough
