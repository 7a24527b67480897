"""`rec.slices`: crossed segments compared with the rest, worst first."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.frames.rows.joins import beside_one_another
from recframe.metrics.language.definition import Metric
from recframe.statistics import summary
from recframe.statistics.arrays import Numbers, np, ratio
from recframe.statistics.p_values import adjusted, p_two_sided, t_statistic
from recframe.statistics.pairs import MODEL
from recframe.statistics.segment_sums import Segmenting, Segments, every_segment
from recframe.statistics.shrinkage import (
    BORROWED_FOR_GAPS,
    borrowed_freedom,
    cautious_variances,
    common_variance,
)
from recframe.statistics.simultaneous import simultaneous_interval

KEYS = summary.columns_of("by segment depth")
COLUMNS = summary.columns_of(
    "metric k n_users value value_low value_high rest difference difference_low difference_high p_value "
    "p_adjusted pooled pooled_low pooled_high note"
)
"""Columns after the keys."""
SHORT = (
    *("metric", "value", "rest", "difference", "difference_low", "difference_high"),
    *("p_adjusted", "pooled", "n_users", "note"),
)
"""Columns after the keys in the short form, without the segment columns, which it summarises as one name."""


def slices(
    cells: pl.DataFrame, metrics: Sequence[Metric[...]], how: Segmenting, schema: pl.Schema
) -> pl.DataFrame:
    """Return a row for each slice, model and metric, the worst pooled first, from the sums of `cells`."""
    found = [_slices(one) for one in every_segment(cells, metrics, how)]
    if not found:
        return pl.DataFrame(schema=schema)
    rows = _with_values(_tested(pl.concat(found, how="vertical_relaxed"), how), how)
    rows = rows.sort("model_place", "metric_place", "worst", nulls_last=True, maintain_order=True)
    return rows.select(pl.col(name).cast(dtype) for name, dtype in schema.items())


def _slices(of: Segments) -> pl.DataFrame:
    """Return the slices of some columns that have users enough, by one metric of one model, each by itself."""
    moments, shrunk, clusters = of.moments, of.pooled, of.clustered
    # where no segment has two users nothing is known of their spread, and each stays as it is
    value = np.where(np.isnan(shrunk.value), moments.mean, shrunk.value)
    columns: dict[str, Numbers] = {
        "n_users": moments.n,
        "value": moments.mean,
        "mean": moments.mean,
        "error": ratio(moments.variance, moments.n) if clusters is None else clusters.mean,
        "freedom": moments.n - 1.0 if clusters is None else clusters.freedom,
        "rest": of.rest.mean,
        **_from_others(of),
        "pooled": value,
        "pooled_low": shrunk.low,
        "pooled_high": shrunk.high,
        "worst": of.sign * value,
    }
    found = pl.DataFrame(columns).fill_nan(None)
    return beside_one_another([_named(of), found]).filter(of.known & of.large)


def _named(of: Segments) -> pl.DataFrame:
    """Return the names of the slices, with their metric and the range of its values, or of their differences."""
    named, metric = of.how.names, of.metric
    low, high = (-np.inf, np.inf) if of.how.of_differences else metric.range
    parts = [pl.format("{}{}", pl.lit(f"{named[name]}="), pl.col(name)) for name in of.columns]
    same = {
        MODEL: of.model,
        "model_place": of.model_place,
        "by": ", ".join(named[name] for name in of.columns),
        "depth": len(of.columns),
        "shared": of.is_shared,
        "metric": str(metric),
        "metric_place": of.number,
        "share": (low, high) == (0.0, 1.0),
        "low": float(low),
        "high": float(high),
    }
    return of.segments.select(
        pl.concat_str(parts, separator=", ").alias("segment"),
        pl.lit(metric.k, pl.Int64).alias("k"),
        **{name: pl.lit(one) for name, one in same.items()},
    )


def _from_others(of: Segments) -> dict[str, Numbers]:
    """Return each segment's difference from its rest, its standard error and degrees of freedom.

    NOTE: no variance is below that of all users. Of 200 equal slices of 30 to 3,000 users, with a hit rate of .005 to .02, some
    slice that happens to have few hits, and so a small variance, was said to be lower in 11 to 33 % of trials, and so in none.
    """
    own, rest, clusters = of.whole, of.rest, of.clustered
    variances = np.stack([own.variance, rest.variance])
    n = np.stack([own.n, rest.n])
    borrowed = ratio(np.maximum(cautious_variances(variances, n), common_variance(variances, n)), n)
    free = borrowed_freedom(n, BORROWED_FOR_GAPS)
    squared = borrowed.sum(axis=0)
    freedom = ratio(squared**2, (borrowed**2 / free).sum(axis=0))
    # of those who all have the same value
    freedom = np.where(np.isnan(freedom), free.min(axis=0), freedom)
    if clusters is not None:
        squared = np.fmax(squared, clusters.difference)
        freedom = np.minimum(freedom, clusters.freedom)
    elif of.is_shared:
        added = np.maximum(borrowed[0] - ratio(own.variance, own.n), 0.0)
        squared, freedom = of.errors_from_rest + added, free.min(axis=0)
    return {
        "difference": own.mean - rest.mean,
        "difference_error": np.sqrt(squared),
        "difference_freedom": freedom,
    }


def _tested(rows: pl.DataFrame, how: Segmenting) -> pl.DataFrame:
    """Return slices with simultaneous p values and intervals of the difference."""
    difference, error, freedom = (
        rows[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        for name in ("difference", "difference_error", "difference_freedom")
    )
    p_value = p_two_sided(t_statistic(difference, error), freedom)
    p_adjusted = p_value if how.correction is None else adjusted(p_value, method=how.correction)
    low, high = simultaneous_interval(difference, error, freedom=freedom, level=how.level)
    found = {
        "p_value": p_value,
        "p_adjusted": p_adjusted,
        "difference_low": low,
        "difference_high": high,
    }
    return rows.with_columns(*pl.DataFrame(found).fill_nan(None))


def _with_values(rows: pl.DataFrame, how: Segmenting) -> pl.DataFrame:
    """Return slices with the intervals of their values, as `summarize` has them, and with notes."""
    whole = rows.with_columns(
        pl.col("n_users").cast(pl.Int64),
        of_each=True,
        few=False,
        n_zero=None,
        own_freedom="freedom",
        n_trainings=None,
    )
    found = summary.with_intervals(whole, how.level)
    notes = [
        pl.when(pl.col("rest").is_null()).then(pl.lit("nobody is outside")),
        pl.when(pl.col("shared")).then(pl.lit("some users are in several segments")),
        pl.when(pl.col("pooled_low").is_null()).then(
            pl.lit("no slice of these columns has two users")
        ),
    ]
    return found.with_columns(note=summary.joined_notes(["note", *notes]))
