"""`rec.slices`: crossed segments compared with the rest, worst first."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.frames.rows.joins import beside_one_another
from recframe.statistics.arrays import Numbers, np, ratio
from recframe.statistics.estimates import (
    Estimate,
    Moments,
    apart,
    as_numbers,
    judged,
    of_mean,
    words,
)
from recframe.statistics.segments import REST, Segmenting, segments_of
from recframe.statistics.sums import MODEL, PLACE, USERS

FEWEST_POOLED = 4
"""Fewest segments for shrinkage, which pays off from four on where the mean is estimated too (Stein)."""


def slices(
    cells: pl.DataFrame, crossed: Sequence[tuple[str, ...]], how: Segmenting, schema: pl.Schema
) -> pl.DataFrame:
    """Return a row for each slice, model and metric, the worst pooled first, from the sums of cells."""
    found = [_slices(cells, columns, how) for columns in crossed]
    rows = pl.concat(found, how="vertical_relaxed")
    e = Estimate(*(as_numbers(rows[name]) for name in Estimate._fields))
    tested = judged(e, level=how.level, correction="sidak")
    columns = {
        "difference": e.value,
        "difference_low": tested.low,
        "difference_high": tested.high,
        "p_value": tested.p_value,
        "p_adjusted": tested.p_adjusted,
    }
    rows = rows.drop("value").rename({"own": "value"})
    rows = rows.with_columns(*pl.DataFrame(columns).fill_nan(None))
    order = [*([MODEL] if MODEL in schema else []), PLACE, "worst"]
    rows = rows.sort(order, nulls_last=True, maintain_order=True)
    return rows.select(pl.col(name).cast(dtype) for name, dtype in schema.items())


def _slices(cells: pl.DataFrame, columns: Sequence[str], how: Segmenting) -> pl.DataFrame:
    """Return the slices of some columns that have users enough, each compared with all users outside.

    NOTE: no variance is taken to be below that of all users together, since of slices with sparse values those with few hits
    have a small variance by chance, and would be found lower.
    """
    rows = segments_of(cells, columns, how, with_rest=True)
    own, rest = of_mean(Moments.of(rows)), of_mean(_moments_of_rest(rows))
    together = _variance_of_all(rows)
    own, rest = (_at_least(e, together) for e in (own, rest))
    e = apart(own, rest)
    known = rows.select(pl.all_horizontal(pl.col(*columns).is_not_null())).to_series()
    pooled = _pooled(rows, own, together, known.to_numpy())
    users = USERS if USERS in rows.columns else "n"
    n = as_numbers(rows[users])
    signs = {place: -1.0 if one.direction == "lower" else 1.0 for place, one in how.metrics.items()}
    names = {place: str(one) for place, one in how.metrics.items()}
    found = {
        "n_users": n,
        "own": own.value,
        "rest": rest.value,
        "pooled": pooled,
        "worst": pooled * np.array([signs[place] for place in rows[PLACE]]),
        **e._asdict(),
    }
    note = words({"nobody is outside": np.isnan(rest.value)}, {"": np.zeros(len(rows), dtype=bool)})
    texts = [pl.format("{}{}", pl.lit(f"{how.names[name]}="), pl.col(name)) for name in columns]
    named = rows.select(
        *([MODEL] if MODEL in rows.columns else []),
        PLACE,
        pl.concat_str(texts, separator=", ").alias("segment"),
        pl.Series("metric", [names[place] for place in rows[PLACE]], dtype=pl.String),
        pl.Series("note", [one or None for one in note.tolist()], dtype=pl.String),
    )
    enough = known & (rows[users] >= max(how.min_users, 1))
    numbers = pl.DataFrame(found).fill_nan(None)
    return beside_one_another([named, numbers]).filter(enough)


def _moments_of_rest(rows: pl.DataFrame) -> Moments:
    others = rows.select(pl.col(f"^{REST}.*$").name.map(lambda name: name.removeprefix(REST)))
    return Moments.of(others)


def _variance_of_all(rows: pl.DataFrame) -> Numbers:
    """Return the variance of all users by model and metric, for each slice."""
    n, d, squares = (
        as_numbers(rows[name]) + as_numbers(rows[f"{REST}{name}"]) for name in ("n", "d", "squares")
    )
    return ratio(np.maximum(squares - ratio(d**2, n), 0.0), np.where(n > 1, n - 1.0, np.nan))


def _at_least(e: Estimate, variance: Numbers) -> Estimate:
    """Return means with errors of at least that of users with a variance; one user's error is that."""
    squared = np.fmax(e.error**2, ratio(variance, np.where(e.n > 0, e.n, np.nan)))
    freedom = np.where(np.isnan(e.freedom), 1.0, e.freedom)
    return e._replace(error=np.sqrt(squared), freedom=freedom)


def _pooled(rows: pl.DataFrame, own: Estimate, variance: Numbers, known: Numbers) -> Numbers:
    """Return the values of slices shrunk towards the mean of all slices of the same columns, by their uncertainty.

    centre + B (y - centre) with B = tau² / (tau² + s² / n), s² the variance of all users; 1 - B is taken (k - 3) / (k - 1) of.
    Fewer than four slices stay as they are. Source: Morris 1983; Paule and Mandel 1982 (tau²).
    """
    found = own.value.copy()
    on = [*([MODEL] if MODEL in rows.columns else []), PLACE]
    group = rows.select(pl.struct(on).rank("dense")).to_series().to_numpy()
    for of in np.unique(group):
        places = np.flatnonzero((group == of) & known & (own.n > 0))
        if len(places) >= FEWEST_POOLED:
            found[places] = shrunk(own.value[places], variance[places] / own.n[places])
    return found


def shrunk(means: Numbers, squared: Numbers) -> Numbers:
    """Return means shrunk towards their centre, from their squared errors."""
    if not (squared > 0).all():
        return means
    weight = 1.0 / (squared + variance_between(means, squared))
    centre = (weight * means).sum() / weight.sum()
    k = len(means)
    away = squared * weight * (k - 3.0) / (k - 1.0)
    return np.asarray(means - away * (means - centre))


def variance_between(means: Numbers, squared: Numbers) -> float:
    """Return the tau² at which the weighted squares of means about their centre are k - 1, 0 where none is above 0."""

    def excess(between: float) -> float:
        weight = 1.0 / (squared + between)
        centre = (weight * means).sum() / weight.sum()
        return float((weight * (means - centre) ** 2).sum() - (len(means) - 1.0))

    low, high = 0.0, float(((means - means.mean()) ** 2).sum())
    if excess(0.0) <= 0:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return high
