"""`rec.slices`: crossed segments compared with the rest, worst first."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.statistics.arrays import np, ratio
from recframe.statistics.estimates import (
    Estimate,
    Sums,
    apart,
    as_columns,
    judged,
    of_mean,
)
from recframe.statistics.gaps import SEGMENT
from recframe.statistics.segments import ALL, REST, Segmenting, segments_of
from recframe.statistics.sums import MODEL, PLACE, USERS

WORST = "worst"


def slices(
    cells: pl.DataFrame, crossed: Sequence[tuple[str, ...]], how: Segmenting, schema: pl.Schema
) -> pl.DataFrame:
    """Return a row for each slice, model and metric, from the sums of cells; first those with the worst end of the interval.

    NOTE: no variance is taken to be below that of all users together, since of slices with sparse values those with few hits
    have a small variance by chance, and would be found lower.
    """
    rows = pl.concat([_crossed(cells, columns, how) for columns in crossed])
    each = [of_mean(Sums(one)) for one in (rows, _of(rows, REST), _of(rows, ALL))]
    own, rest = (_at_least(one, each[-1]) for one in each[:-1])
    e = apart(own, rest)
    tested = judged(e, level=how.level, correction="sidak")
    found = {
        "difference": e.value,
        "difference_low": tested.low,
        "difference_high": tested.high,
        "value": own.value,
        "rest": rest.value,
        "p_value": tested.p_value,
        "p_adjusted": tested.p_adjusted,
        "n_users": rows[USERS],
        "note": np.where(np.isnan(rest.value), "nobody is outside", ""),
        WORST: np.where(rows["higher"], tested.high, -tested.low),
    }
    made = as_columns(found, {name: schema.get(name, pl.Float64) for name in found})
    order = [*([MODEL] if MODEL in schema else []), PLACE]
    result = pl.concat([rows.select(*order, SEGMENT, "metric"), made], how="horizontal")
    return result.sort([*order, WORST], nulls_last=True, maintain_order=True).select(*schema)


def _crossed(cells: pl.DataFrame, columns: Sequence[str], how: Segmenting) -> pl.DataFrame:
    """Return the slices of some columns that have users enough, with their own sums and those of all users outside."""
    rows = segments_of(cells, columns, how, with_rest=True)
    texts = [pl.format("{}{}", pl.lit(f"{how.names[name]}="), pl.col(name)) for name in columns]
    rows = rows.filter(pl.all_horizontal(pl.col(*columns).is_not_null()))
    rows = rows.with_columns(pl.concat_str(texts, separator=", ").alias(SEGMENT))
    return rows.filter(pl.col(USERS) >= max(how.min_users, 1)).drop(columns)


def _of(rows: pl.DataFrame, prefix: str) -> pl.DataFrame:
    """Return the sums under a prefix by their own names."""
    return rows.select(pl.col(f"^{prefix}.*$").name.map(lambda name: name.removeprefix(prefix)))


def _at_least(e: Estimate, every: Estimate) -> Estimate:
    """Return means with errors of at least that of users with the variance of all; one user's error is that."""
    variance = every.error**2 * every.n
    squared = np.fmax(e.error**2, ratio(variance, np.where(e.n > 0, e.n, np.nan)))
    freedom = np.where(np.isnan(e.freedom), 1.0, e.freedom)
    return e._replace(error=np.sqrt(squared), freedom=freedom)
