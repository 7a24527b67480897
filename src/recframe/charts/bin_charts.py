"""Chart of users' values in bins."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from recframe.charts.chart_words import Fields, by_value, leading, said_of
from recframe.charts.long_format import (
    Names,
    check_of_users,
    check_whole,
    models_of,
    noun_of,
    one_metric,
    users_of,
    values_of_users,
    warned_of_truth,
)
from recframe.charts.style import (
    LETTER,
    Canvas,
    Series,
    alt,
    axis_title,
    drawn,
    finished,
    inner_width,
    layered,
    lines,
    number_format,
    safe,
    tooltips,
)
from recframe.metrics.language.definition import Metric

HEIGHT = 220
ROW = 20
"""Height of a model's row of zeros, in pixels."""
NARROW_SIDE = 90
ROUNDING = 1e-9
"""Tolerance at the upper end of a bin."""
MODEL = ["model", "model_place"]
VALUE, N, WIDTH, BIN = (pl.col(one) for one in ("value", "n", "width", "bin"))


def _left(series: Series) -> float:
    """Return the width left of the marks, for model names."""
    if not series.named:
        return 100
    longest = max(map(len, series.names), default=0) * LETTER
    return min(longest, max(series.look.width // 3, NARROW_SIDE)) + 50


def _values_in_bins(
    rec: Any, metric: Metric[...], bins: int, names: Names
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return how many users have a value in each bin up to and with its upper end, and how many have 0."""
    inputs, values = values_of_users(rec, metric)
    is_zero = VALUE == 0
    ends = dict(zip(("least", "most"), map(float, metric.range), strict=True))
    if all(map(math.isfinite, ends.values())):
        values = values.with_columns(pl.lit(end).alias(name) for name, end in ends.items())
    else:
        others = pl.when(~is_zero).then(VALUE)
        least, most = pl.min_horizontal(others.min(), 0.0), pl.max_horizontal(others.max(), 0.0)
        values = values.join(values.select(least=least, most=most), how="cross")
    width = (pl.col("most") - pl.col("least")) / bins
    place = ((VALUE - pl.col("least")) / width - ROUNDING).ceil() - 1
    place = place.fill_nan(0.0).clip(0, bins - 1).cast(pl.Int64)
    values = values.with_columns(zero=is_zero, bin=pl.when(~is_zero).then(place), width=width)
    counts = values.group_by(*inputs.model, "zero", "bin")
    ends_of_bins = pl.col("least", "width").first()
    plan = counts.agg(ends_of_bins, n=pl.len().cast(pl.Int64))
    found: pl.DataFrame = rec._kind.give(plan, {}, warned_of_truth(inputs))  # noqa: SLF001
    low = pl.col("least") + BIN * WIDTH
    model = names.model(bound=bool(inputs.model))
    found = found.with_columns(low=low, high=low + WIDTH, model=model)
    found = found.with_columns(model_place=names.place)
    zeros = found.group_by(MODEL).agg(n=N.filter("zero").sum(), users=N.sum()).sort("model_place")
    above = found.filter(~pl.col("zero")).drop("zero").join(zeros["model", "users"], on="model")
    share = N / pl.col("users")
    return above.with_columns(share=share).sort("model_place", "bin"), zeros.with_columns(
        share=share
    )


def _filled(data: pl.DataFrame, bins: int) -> pl.DataFrame:
    """Return bins completed with empty ones, and a final edge for drawing steps."""
    if data.is_empty():
        return data
    start = (pl.col("low") - BIN * WIDTH).first()
    ends = data.group_by(MODEL, maintain_order=True).agg(WIDTH.first(), start=start)
    every = ends.join(pl.DataFrame({"bin": range(bins + 1)}), how="cross")
    found = every.join(data.select(*MODEL, "bin", "share", "n"), on=[*MODEL, "bin"], how="left")
    low = pl.col("start") + BIN * WIDTH
    high = pl.when(bins > BIN).then(low + WIDTH).otherwise(low)
    return found.with_columns(pl.col("share", "n").fill_null(0), low=low, high=high)


def _views(
    zeros: pl.DataFrame, above: pl.DataFrame, metric: Metric[...], series: Series
) -> alt.VConcatChart:
    """Return bars of the users with 0, and below them the lines of all others."""
    look = series.look
    counts: Fields = {"share:Q": ("share of users", ".2%"), "n:Q": ("users", ",d")}
    colour, per_cent = series.colour(legend=False), {"format": "%"}
    width = inner_width(look, _left(series))
    none = lines(f"users with {metric} = 0 (%)", width)
    at_zero = drawn(zeros).encode(
        x=alt.X("share:Q", title=none, axis=per_cent, scale={"domain": [0, 1.1], "nice": False}),
        y=alt.Y(
            "model:N",
            sort=series.by_value,
            title=None,
            axis={"tickSize": 0, "labels": series.named},
        ),
        tooltip=tooltips(series.told(counts)),
    )
    bars = at_zero.mark_bar(height={"band": 0.7}).encode(color=colour)
    shares = at_zero.mark_text(align="left", dx=4, color=look.colours.ink)
    shares = shares.encode(text=alt.Text("share:Q", format=".1%"))
    of_zeros = layered(zeros, bars, shares, height=max(len(series.names), 1) * ROW)
    kind = number_format(metric)
    fields = {"low:Q": ("above", kind), "high:Q": ("up to", kind), **counts}
    steps = drawn(above).mark_line(interpolate="step-after", strokeWidth=2)
    steps = steps.encode(
        x=alt.X(
            "low:Q",
            title=axis_title(metric, look, length=width),
            axis={"grid": False},
            scale={"zero": False, "nice": False},
        ),
        y=alt.Y("share:Q", title="share of users (%)", axis=per_cent),
        order="low:Q",
        color=colour,
        tooltip=tooltips(series.told(fields)),
        **({"strokeWidth": series.widths} if series.others else {}),
    )
    others = layered(above, steps, height=HEIGHT)
    views = [one.properties(width=width) for one in (of_zeros, others)]
    found: alt.VConcatChart = alt.vconcat(*views, spacing=14)
    return found


class PlotsOfBins(Canvas):
    """The chart of users' values."""

    def distribution(
        self,
        metric: str | Metric[...],
        *,
        k: int | None = None,
        bins: int = 20,
    ) -> alt.VConcatChart:
        """Draw how users' values are spread: the share of users with 0 above, and below all others in bins.

        The values are those of `evaluate(metric, by="user")`, which are summed up by bins before they are drawn. A bin has the
        values above its lower and up to its upper end; `bins` of them run over the range of the metric, or where that has no
        end over the values. Users without a value are left out.

        Raises a RecframeError for a metric of which no user has a value, such as coverage.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [0, 1]})
        >>> chart = df.rec.plot.distribution("mrr", bins=2)
        >>> chart.vconcat[0].data.select("n", "share").rows(), chart.vconcat[1].data.select("low", "high", "n").rows()[:2]
        ([(1, 0.5)], [(0.0, 0.5, 1), (0.5, 1.0, 0)])
        """
        rec, look = self._rec, self._look
        check_whole(rec, "distribution()")
        metric = one_metric("distribution", metric, k)
        check_of_users(metric)
        names = models_of(rec)
        data, zeros = _values_in_bins(rec, metric, bins, names)
        series = Series(names.order, look, by_value(safe(zeros), "share", lower=True))
        data, zeros = series.in_front(safe(_filled(data, bins))), safe(zeros)
        chart = _views(zeros, data, metric, series)
        users = users_of(zeros, "users", noun_of(metric))
        subtitle = f"Values of {users}: zeros above, all others below, each bin up to and with its upper end."
        title = f"Distribution of {metric} over users"
        first, *more = said_of(zeros, "share", ".1%", interval=False) or [""]
        words: dict[str, Any] = {"numbers": [f"With 0: {first}", *more], "empty": zeros.is_empty()}
        fewest = f"fewest {noun_of(metric)}s with {metric} = 0"
        of_all = zeros.select("model", value="share", place=0)
        words["finding"] = leading(of_all, "place", fewest, "", "", lower=True)
        return finished(chart, look, title, subtitle + series.words, **words)
