"""Results of `rec` as the rows of charts: under the names that charts know, with what is to be seen beside the numbers."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.metrics.language.definition import Metric


def of_axis(data: pl.DataFrame, metric: Metric[...], axis: str) -> pl.DataFrame:
    """Return the values of a metric under the names of an axis."""
    named = {"value": axis, "low": f"{axis}_low", "high": f"{axis}_high"}
    columns = (pl.col(name).alias(new) for name, new in named.items())
    return data.filter(pl.col("metric") == str(metric)).select("model", *columns)


def on_front(data: pl.DataFrame, metrics: Sequence[Metric[...]]) -> pl.DataFrame:
    """Return models with whether they are on the Pareto front of x and y."""
    directions = [one.definition.direction for one in metrics]
    if not all(directions):
        return data.with_columns(best=pl.lit(value=False))
    signs = [-1.0 if one == "lower" else 1.0 for one in directions]
    places = data.select(x=pl.col("x") * signs[0], y=pl.col("y") * signs[1]).with_row_index("row")
    x, y, of_x, of_y = (pl.col(name) for name in ("x", "y", "x_other", "y_other"))
    pairs = places.join(places, how="cross", suffix="_other")
    no_worse, better = (of_x >= x) & (of_y >= y), (of_x > x) | (of_y > y)
    beaten = pairs.filter(no_worse & better)["row"].unique()
    known = x.is_not_null() & y.is_not_null()
    best = places.select(best=known & ~pl.col("row").is_in(beaten.implode()))
    return data.with_columns(best.to_series())


def rows_compared(data: pl.DataFrame, *, margin: float | None) -> pl.DataFrame:
    """Return differences with the words on their rows; of several metrics they are relative."""
    several, has_segments = data["metric"].n_unique() > 1, (data["segment"] != "").any()
    start = "relative" if several else "difference"
    pair = pl.format("{} - {}", "model", "baseline")
    words = [pl.col("metric")] * several + [pl.col("segment")] * has_segments
    is_alone = data.select("metric", "segment").is_unique().all()
    many = data["baseline"].n_unique() > 1
    if many or not words:
        words.append(pair if many else pl.col("model"))
    elif is_alone and data["model"].n_unique() > 1:
        words.append(pl.col("model"))
    size = pl.lit(margin, pl.Float64) * (1.0 if several else pl.col("baseline_value").abs())
    return data.with_columns(
        row=pl.concat_str(words, separator=" · "),
        difference=pl.col(start),
        low=pl.col(f"{start}_low"),
        high=pl.col(f"{start}_high"),
        margin_low=-size,
        margin_high=size,
    )
