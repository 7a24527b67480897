"""Charts of models and segments: values, differences, trade-offs and overlaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe.charts.long_format import (
    WITHOUT_MODELS,
    Intervals,
    Names,
    check_whole,
    interval_words,
    keyed,
    models_in,
    models_of,
    one_metric,
    summary,
)
from recframe.charts.style import (
    LETTER,
    SIDES,
    Canvas,
    Fields,
    Series,
    alt,
    axis_title,
    drawn,
    finished,
    inner_width,
    is_bare,
    layered,
    lines,
    number_format,
    rows_of_models,
    safe,
    spoken,
    tooltips,
)
from recframe.charts.themes import Look
from recframe.errors import RecframeError
from recframe.frames.dtypes import text_of
from recframe.frames.hints import bind
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import Asked, By, Cutoffs

if TYPE_CHECKING:
    from recframe.statistics.options import Correction, Family, Test

STEP = 18
"""Height of a model's row, in pixels."""
STEP_OF_SEGMENTS = 14
"""Height of a model's row in a segment, in pixels."""
HEIGHT = 320
MOST_NAMED = 6
"""Most models with names at their points; more get a legend, since names would overlap."""
NEAR = 0.25
"""The distance at which a name would lie upon a point, as a share of a view's width and height."""
LONGEST = 26
"""Longest name along a heat map, in characters."""
WIDEST_CELL = 80
LEAST_WRITTEN = 24
"""Least cell width for a number, in pixels."""
TURNS = 0.55
"""Value from which a cell is dark enough for the other text colour."""
ROWS_AXIS = {"grid": True, "tickSize": 0}
OVERLAP = {"model": pl.String, "other": pl.String, "value": pl.Float64, "n": pl.Int64}


def _segment_marks(base: alt.Chart, series: Series, title: list[str]) -> list[alt.Chart]:
    """Return the rules, the dots and the diamonds of segments."""
    rule = base.mark_rule(strokeWidth=2, opacity=0.75)
    dots = base.mark_point(filled=True, size=56, opacity=1)
    pooled = base.mark_point(filled=False, size=70, shape="diamond", strokeWidth=1.8)
    return [
        rule.encode(x=alt.X("low:Q", title=title), x2="high:Q"),
        dots.encode(x="value:Q", **series.marks()),
        pooled.encode(x="pooled:Q", shape=alt.ShapeValue("diamond")),
    ]


def with_pooled(data: pl.DataFrame) -> pl.DataFrame:
    """Return segments with the pooled estimates of `slices`: place, model_place, known, n_users, value, std.

    Without NumPy and SciPy there are none; nor has a segment one whose value of the `by` column is null.
    """
    try:
        from recframe.statistics import shrinkage  # noqa: PLC0415  NumPy and SciPy are an extra
        from recframe.statistics.arrays import np, ratio  # noqa: PLC0415
    except RecframeError:
        return data.with_columns(pooled=pl.lit(None, pl.Float64))
    shape = [data[name].n_unique() for name in ("place", "model_place")]
    at = data["place"].to_numpy(), data["model_place"].to_numpy()
    n, mean, variance = np.zeros(shape), np.full(shape, np.nan), np.zeros(shape)
    n[at] = data.select(pl.when("known").then("n_users").otherwise(0)).to_series().to_numpy()
    mean[at] = data["value"].fill_null(float("nan")).to_numpy()
    variance[at] = (data["std"].fill_null(0.0) ** 2).to_numpy()
    borrowed = shrinkage.borrowed_variances(variance, n)
    mean = np.where(n > 0, mean, np.nan)
    found = shrinkage.pooled(mean, np.sqrt(ratio(borrowed, n))).value
    return data.with_columns(pooled=pl.Series(found[at]).fill_nan(None))


def largest(data: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return the segments with the most users, with labels of name and number of users."""
    sizes = data.group_by("place").agg(pl.col("n_users").max()).sort("n_users", "place")
    kept = sizes.tail(most)["place"]
    found = data.filter(pl.col("place").is_in(kept.implode()))
    found = found.with_columns(users=pl.col("n_users").max().over("place"))
    counts = found["users"].unique().to_list()
    written = pl.col("users").replace_strict(
        counts, [f"{count:,}" for count in counts], return_dtype=pl.String
    )
    return found.with_columns(label=pl.format("{} ({})", "segment", written)).drop("users")


def segments_shown(n: int, most: int) -> str:
    """Return the words of a chart that does not show all segments."""
    return f" {most} of {n:,} segments, those with the most users." if n > most else ""


def _rows_compared(data: pl.DataFrame, margin: float | None, *, several: bool) -> pl.DataFrame:
    """Return differences with the words on their rows."""
    start = "relative" if several else "difference"
    words = [pl.col("metric")] * several + [pl.col("segment")] * (data["segment"] != "").any()
    if data["baseline"].n_unique() > 1:
        words.append(pl.format("{} - {}", "model", "baseline"))
    elif not words or data.select("metric", "segment").is_unique().all():
        words += [pl.col("model")] * (not words or data["model"].n_unique() > 1)
    size = pl.lit(margin, pl.Float64) * (1.0 if several else pl.col("baseline_value").abs())
    return data.with_columns(
        row=pl.concat_str(words, separator=" · "),
        difference=pl.col(start),
        low=pl.col(f"{start}_low"),
        high=pl.col(f"{start}_high"),
        margin_low=-size,
        margin_high=size,
    )


def _fields(kind: str) -> Fields:
    """Return the fields of a difference's tooltip."""
    return {
        **{f"{one}:N": one for one in ("model", "baseline", "row")},
        **{f"{one}:Q": (one, kind) for one in ("difference", "low", "high")},
        "verdict:N": "verdict",
        "p_adjusted:Q": ("p, corrected", ".3~g"),
        "n_users:Q": ("users with both", ",d"),
    }


def _unit(metrics: Sequence[Metric[...]]) -> str:
    """Return the name of differences, with their unit and their better end."""
    if len(metrics) > 1:
        return "relative difference (% of the baseline's value)"
    better = {"higher": " (right of 0 is better)", "lower": " (left of 0 is better)"}
    return f"difference in {metrics[0]}{better.get(metrics[0].definition.direction, '')}"


def _margin_band(base: alt.Chart, title: list[str], look: Look) -> alt.Chart:
    low, colour = alt.X("margin_low:Q", title=title), alt.ColorValue(look.colours.band)
    band: alt.Chart = base.mark_bar(opacity=0.8).encode(x=low, x2="margin_high:Q", color=colour)
    return band


def _subtitle(level: str, margin: float | None) -> str:
    words = f"Users' values paired; each interval at {level} by itself. Hollow marks: open, nothing could be shown."
    if margin is None:
        return words
    share = f"{margin * 100:.3g}%"
    return f"{words} Band: within {share} of the baseline's value, which does not matter."


def _of_axes(data: pl.DataFrame, metrics: Sequence[Metric[...]]) -> pl.DataFrame:
    """Return the values of two metrics as columns x and y, a row for each model."""
    x, y = (
        data.filter(pl.col("metric") == str(metric))
        .select("model", pl.col("value", "low", "high").name.prefix(f"{axis}_"))
        .rename({f"{axis}_value": axis})
        for axis, metric in zip("xy", metrics, strict=True)
    )
    return x.join(y, on="model", maintain_order="left")


def _on_front(data: pl.DataFrame, metrics: Sequence[Metric[...]]) -> pl.DataFrame:
    """Return models with whether they are on the Pareto front of x and y: `best`."""
    signs = [{"higher": 1, "lower": -1}.get(metric.definition.direction) for metric in metrics]
    if None in signs:
        return data.with_columns(best=pl.lit(value=False))
    x, y = (pl.col(axis) * sign for axis, sign in zip("xy", signs, strict=True))
    points = data.select(x, y).rows()
    known = [point for point in points if None not in point]
    best = [point in known and not _is_beaten(point, known) for point in points]
    return data.with_columns(best=pl.Series(best, dtype=pl.Boolean))


def _is_beaten(point: tuple[float, ...], others: Sequence[tuple[float, ...]]) -> bool:
    """Whether another point is no worse in both, and better in one."""
    x, y = point
    return any(other != point and other[0] >= x and other[1] >= y for other in others)


def _front(data: pl.DataFrame) -> str:
    """Return the subtitle on the Pareto front, which takes two models to be drawn."""
    best = data.filter("best")["model"].to_list()
    if len(best) > 1:
        return "Dashed: the Pareto front, models that no other beats in both."
    return f"No other model beats {best[0]} in either." if best and len(data) > 1 else ""


def _names(data: pl.DataFrame, series: Series, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Return model labels at their points, inside the view and clear of near points."""
    layers, ground = [], series.look.ground
    for (align, below), rows in placed(data).group_by("align", "below", maintain_order=True):
        text = drawn(rows).encode(x=x, y=y, text="model:N")
        of: dict[str, Any] = {"align": align, "dx": 9 if align == "left" else -9}
        of |= {"dy": 13 if below else -9, "fontSize": 12}
        # on its ground, which keeps what lies below from crossing letters out
        halo = text.mark_text(stroke=ground, strokeWidth=4, strokeJoin="round", color=ground, **of)
        layers += [halo, text.mark_text(**of).encode(color=series.colour(legend=False))]
    return layers


def placed(data: pl.DataFrame) -> pl.DataFrame:
    """Return models with the places of their names: right of a point on the left, and below one that has another above."""
    known = data.drop_nulls(["x", "y"])
    axes = pl.col("x", "y")
    shares = known.select((axes - axes.min()) / (axes.max() - axes.min()).replace(0.0, 1.0))
    across, up = shares.get_columns()
    aligns = ["left" if x <= 0.5 else "right" for x in across]  # noqa: PLR2004  the middle
    near = [
        ((across - x).abs() < NEAR) & (up - y).is_between(0, NEAR)
        for x, y in zip(across, up, strict=True)
    ]
    # a point is near to itself
    return known.with_columns(
        align=pl.Series(aligns, dtype=pl.String),
        below=pl.Series([one.sum() > 1 for one in near], dtype=pl.Boolean),
    )


def _overlaps(rec: Any, metric: Metric[...], profile: str | None) -> tuple[pl.DataFrame, Names]:
    """Return the pairwise overlap of models' lists, and the names of the models."""
    names = models_of(rec)
    if names == WITHOUT_MODELS:
        msg = (
            f"plot.overlap() holds models against one another: {bind(model=repr('model'))}, or a frame for each: "
            "rf.rec({'a': a, 'b': b}, truth=truth)"
        )
        raise RecframeError(msg)
    parts = [pl.DataFrame(schema=OVERLAP)]
    for name in (one for one in names.order if one != names.none):
        result = rec(reference=name).evaluate(metric, tidy=True, profile=profile)
        parts.append(keyed(rec, result).with_columns(other=pl.lit(name)).select(*OVERLAP))
    return pl.concat(parts), names


def _cells(base: alt.Chart, size: float, metric: Metric[...], look: Look) -> list[alt.Chart]:
    """Return the cells of a heat map, with numbers where they are wide enough."""
    colours = look.colours
    scale = {"domain": list(metric.range), "range": list(colours.heat)}
    legend = {"title": str(metric), "orient": "top", "titleLimit": look.width}
    cells = base.mark_rect(stroke=colours.background, strokeWidth=1)
    cells = cells.encode(color=alt.Color("value:Q", scale=scale, legend=legend))
    if size < LEAST_WRITTEN:
        return [cells]
    ink = alt.condition(alt.datum.value > TURNS, alt.value(colours.on_heat), alt.value(colours.ink))
    written = base.mark_text(fontSize=min(12, max(size / 3.2, 7)))
    return [cells, written.encode(text=alt.Text("value:Q", format=".2f"), color=ink)]


class PlotsOfModels(Canvas):
    """Charts of models and segments."""

    def segments(  # noqa: PLR0913  those of summarize, and which segments are shown
        self,
        metric: str | Metric[...],
        *,
        by: By = None,
        k: int | None = None,
        min_users: int = 30,
        most: int = 30,
        level: float = 0.95,
        cluster: str | None = None,
        profile: str | None = None,
    ) -> alt.LayerChart:
        """Draw a metric in each segment, the highest first: dots with intervals, and in brackets the number of users.

        The numbers are those of `summarize(metric, by=by)`. A segment with fewer than `min_users` users has its pooled estimate
        beside the raw one: what `slices` calls `pooled`, drawn towards the other segments by what its few users leave open; it
        takes NumPy, SciPy and four segments, and there is none for a metric that is one function of a segment's lists.

            by: the columns, or none where `group_by` has bound them. most: so many segments are shown, the largest.

        Raises what `summarize` raises, and a RecframeError without a column.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1], "country": ["DE", "FR"]})
        >>> chart = df.rec.plot.segments("mrr", by="country")
        >>> chart.data.select("segment", "value", "n_users").rows()
        [('DE', 1.0, 1), ('FR', 0.5, 1)]
        """
        rec, look = self._rec, self._look
        metric = one_metric("segments", metric, k)
        found = summary(rec, [metric], Intervals(level, cluster, profile), by)
        if not found.by:
            msg = "plot.segments needs the columns that make segments: segments(..., by='country')"
            raise RecframeError(msg)
        series, kind = Series(found.models, look), number_format(metric)
        has_pooled = pl.col("n_users") < min_users if metric.shape != "set" else pl.lit(value=False)
        rows = largest(with_pooled(found.data), most)
        rows = rows.with_columns(
            mean=pl.col("value").mean().over("place"), pooled=pl.when(has_pooled).then("pooled")
        )
        rows = safe(
            rows.sort("mean", "place", descending=[True, False], nulls_last=True).drop("mean")
        )
        names = rows["label"].unique(maintain_order=True).to_list()
        axis, title = {**ROWS_AXIS, "labelPadding": 6}, lines(f"{found.by} (users)", 240)
        row = alt.Y("label:N", sort=names, title=title, axis=axis)
        fields: Fields = {
            "segment:N": spoken(found.by),
            "value:Q": (spoken(str(metric)), kind),
            **{f"{one}:Q": (one, kind) for one in ("low", "high", "pooled")},
            "n_users:Q": ("users", ",d"),
        }
        base = rows_of_models(rows, series, row, series.told(fields), side_by_side=series.named)
        base = base.encode(color=series.colour())
        if not series.named:
            base = base.encode(x=alt.X(scale=alt.Scale(zero=False)))
        height = len(names) * (max(len(series.names), 2) * STEP_OF_SEGMENTS + 6) + 10
        chart = layered(
            rows, *_segment_marks(base, series, axis_title(metric, look)), height=height
        )
        subtitle = f"Dots: means with intervals at {found.level}; in brackets: users."
        if rows["pooled"].count():
            subtitle += (
                f" Diamonds: pooled estimates of segments with fewer than {min_users} users."
            )
        subtitle += segments_shown(found.data["segment"].n_unique(), most)
        empty = found.data.is_empty()
        return finished(chart, look, f"{metric} by {found.by}", subtitle, empty=empty)

    def compare(  # noqa: PLR0913  those of rec.compare
        self,
        *metrics: Asked,
        baseline: object = None,
        k: Cutoffs = None,
        by: By = None,
        level: float = 0.95,
        margin: float | None = None,
        test: Test = "t",
        correction: Correction | None = "holm",
        family: Family = "table",
        cluster: str | None = None,
        profile: str | None = None,
    ) -> alt.LayerChart:
        """Draw the differences of models from a baseline, with their intervals and the margin that does not matter.

        Takes the arguments of `rec.compare`. One metric is drawn in its own unit, several as
        shares of the baseline's values. A filled mark has a verdict, a hollow one is open. It takes recframe[stats].

        >>> import polars as pl, recframe as rf
        >>> old = pl.DataFrame({"user": [1, 2, 3], "item": [1, 2, 9], "rank": 1})
        >>> rec = rf.rec({"new": old.with_columns(item=pl.col("user")), "old": old}, truth=old.select("user", item="user"))
        >>> chart = rec.plot.compare("hit_rate@1", baseline="old")
        >>> chart.data.select("model", "baseline", "difference").rows()
        [('new', 'old', 0.3333333333333333)]
        """
        result = self._rec.compare(
            *metrics,
            baseline=baseline,
            k=k,
            by=by,
            level=level,
            margin=margin,
            test=test,
            correction=correction,
            family=family,
            cluster=cluster,
            profile=profile,
            wide=True,
        )
        compared = registry.asked(registry.each(metrics), k)
        how = Intervals(level, cluster, profile)
        return self._differences(result, compared, how, baseline=baseline, margin=margin)

    def _differences(
        self,
        result: pl.DataFrame,
        metrics: Sequence[Metric[...]],
        how: Intervals,
        *,
        baseline: object,
        margin: float | None,
    ) -> alt.LayerChart:
        """Draw a result of `compare`; differences of several metrics are relative."""
        rec, look = self._rec, self._look
        several, series = len(metrics) > 1, Series(models_in(rec, result).order, look)
        data = safe(_rows_compared(keyed(rec, result), margin, several=several))
        names = data["row"].unique(maintain_order=True).to_list()
        is_open, alone = pl.col("verdict").is_in(["open", "few"]), len(names) == len(data)
        row = alt.Y("row:N", sort=names, title=None, axis=ROWS_AXIS)
        fields = _fields("+.2%" if several else f"+{number_format(metrics[0])}")
        base, filled, hollow = (
            rows_of_models(rows, series, row, fields, side_by_side=not alone)
            for rows in (data, data.filter(~is_open), data.filter(is_open))
        )
        title = lines(_unit(metrics), look.width - SIDES)
        encoded = series.marks(legend=not alone, shown=data["model"].to_list())
        axis = {
            "format": "+%" if several else "+",
            # nothing is no more than it
            "labelExpr": "datum.value === 0 ? '0' : datum.label",
            "tickCount": look.width // 90,
        }
        low = alt.X("low:Q", title=title, axis=axis, scale={"zero": True})
        zero = (
            alt.Chart(pl.DataFrame({"x": [0.0]}))
            .mark_rule(color=look.colours.quiet)
            .encode(x="x:Q")
        )
        rule = base.mark_rule(strokeWidth=2).encode(x=low, x2="high:Q", color=encoded["color"])
        dots = filled.mark_point(filled=True, size=80, opacity=1)
        rings = hollow.mark_point(fill=look.ground, size=60, strokeWidth=2, opacity=1)
        points = [one.encode(x="difference:Q", **encoded) for one in (dots, rings)]
        bands = [] if margin is None else [_margin_band(base, title, look)]
        most: int = data.group_by("row").len()["len"].max() or 1  # type: ignore[assignment]
        height = len(names) * (most * STEP + 12) + 10
        chart = layered(data, *bands, zero, rule, *points, height=height)
        of = "pairwise differences" if baseline is None else f"differences from {text_of(baseline)}"
        heading = f"{', '.join(map(str, metrics))}: {of}"
        subtitle = _subtitle(interval_words(rec, metrics[0], how), margin)
        return finished(chart, look, heading, subtitle, empty=data.is_empty())

    def tradeoff(
        self,
        x: str | Metric[...],
        y: str | Metric[...],
        *,
        k: int | None = None,
        level: float = 0.95,
        cluster: str | None = None,
        profile: str | None = None,
    ) -> alt.LayerChart:
        """Draw models as points of two metrics, with the intervals of both and the Pareto front.

        The numbers are those of `summarize(x, y)`. On the front are the models that no other one beats in one metric without
        being worse in the other, by the metrics' better ends; with a metric that has no direction there is no front.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rec.plot.tradeoff("mrr", "recall@1").data.select("x", "y").rows()
        [(0.75, 0.5)]
        """
        rec, look = self._rec, self._look
        how = Intervals(level, cluster, profile)
        check_whole(rec, "tradeoff()")
        metrics = [one_metric("tradeoff", one, k) for one in (x, y)]
        if metrics[0] == metrics[1]:
            msg = f"tradeoff takes two metrics, and found {str(metrics[0])!r} twice"
            raise RecframeError(msg)
        found = summary(rec, metrics, how)
        series = Series(found.models, look)
        data = safe(_on_front(_of_axes(found.data, metrics), metrics))
        is_named = series.named and len(series.names) <= MOST_NAMED
        marks = series.marks(legend=not is_named)
        told: dict[str, Any] = {}
        for axis, metric in zip("xy", metrics, strict=True):
            kind = number_format(metric)
            told[f"{axis}:Q"] = (spoken(str(metric)), kind)
            told |= {f"{axis}_{end}:Q": (end, kind) for end in ("low", "high")}
        fields = series.told({**told, "best:N": "on the Pareto front"})
        base = drawn(data).encode(color=marks["color"], tooltip=tooltips(fields))
        x_title, y_title = axis_title(metrics[0], look), axis_title(metrics[1], look, length=HEIGHT)
        across = alt.X("x:Q", title=x_title, scale={"zero": False, "padding": 28})
        up = alt.Y("y:Q", title=y_title, scale={"zero": False, "padding": 20})
        rule = base.mark_rule(strokeWidth=1.5, opacity=0.7)
        wide = rule.encode(x="x_low:Q", x2="x_high:Q", y=up)
        tall = rule.encode(y="y_low:Q", y2="y_high:Q", x=across)
        dots = base.mark_point(filled=True, size=90, opacity=1)
        dots = dots.encode(x=across, y=up, shape=marks["shape"])
        names = _names(data, series, across, up) if is_named else []
        front = drawn(data.filter("best").sort("x"))
        front = front.mark_line(color=look.colours.quiet, strokeDash=[4, 3], strokeWidth=1.5)
        layers = [front.encode(x=across, y=up, order="x:Q"), wide, tall, dots, *names]
        chart = layered(data, *layers, height=HEIGHT)
        title, subtitle = "{1} against {0}", f"Crosses: intervals at {found.level}. {_front(data)}"
        empty = is_bare(data, "x", "y")
        return finished(chart, look, title.format(*metrics), subtitle, empty=empty)

    def overlap(
        self,
        metric: str | Metric[...] = "rbo@10",
        *,
        k: int | None = None,
        profile: str | None = None,
    ) -> alt.LayerChart:
        """Draw the pairwise agreement of models' lists as a heat map: rank-biased overlap, or another metric.

        A cell is `evaluate(metric)` of the row's model, with the column's model bound as `reference`: an evaluation for each
        model.

        Raises a RecframeError without models, and for a metric that holds lists against no reference.

        >>> import polars as pl, recframe as rf
        >>> a = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2]})
        >>> rec = rf.rec({"a": a, "b": a.with_columns(item=pl.col("item") + 1)}, truth=a)
        >>> rec.plot.overlap("overlap@2").data.select("model", "other", "value").rows()
        [('a', 'a', 1.0), ('b', 'a', 0.5), ('a', 'b', 0.5), ('b', 'b', 1.0)]

        Source: Webber, Moffat and Zobel 2010, A similarity measure for indefinite rankings.
        """
        rec, look = self._rec, self._look
        check_whole(rec, "overlap()")
        metric = one_metric("overlap", metric, k)
        if "reference" not in metric.definition.needs:
            msg = f"{metric} holds lists against no reference; plot.overlap takes rbo, overlap or unexpectedness"
            raise RecframeError(msg)
        data, models = _overlaps(rec, metric, profile)
        series, data = Series(models.order, look), safe(data)
        names, n = series.names, max(len(series.names), 1)
        longest = min(max(map(len, names), default=1), LONGEST)
        cell = min(inner_width(look, longest * LETTER + 60) / n, WIDEST_CELL)
        fields: Fields = {
            "model:N": "lists of",
            "other:N": "held against",
            "value:Q": (spoken(str(metric)), number_format(metric)),
            "n:Q": ("lists", ",d"),
        }
        axis = {"labelAngle": -40, "tickSize": 0}
        across = alt.X("other:N", sort=names, title="held against", axis=axis)
        up = alt.Y("model:N", sort=names, title="lists of", axis={"tickSize": 0})
        base = drawn(data).encode(x=across, y=up, tooltip=tooltips(fields))
        layers = _cells(base, cell, metric, look)
        chart = layered(data, *layers, height=max(cell, 22) * n)
        title = f"Overlap of the lists: {metric}"
        subtitle = (
            "The mean over the users of how far a model's list agrees with the other model's."
        )
        return finished(chart, look, title, subtitle, empty=data.is_empty())
