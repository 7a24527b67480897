"""Charts of models and segments: values and overlaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from recframe.charts.chart_words import (
    Fields,
    in_words,
    leading,
    said_of,
)
from recframe.charts.long_format import (
    Intervals,
    Names,
    against_each,
    check_models,
    check_reference,
    check_whole,
    keyed,
    models_of,
    noun_of,
    one_metric,
    summary,
    users_of,
)
from recframe.charts.segment_rows import (
    CUT,
    ends_of,
    in_order,
    largest,
    segments_shown,
)
from recframe.charts.style import (
    LETTER,
    ROWS_AXIS,
    Canvas,
    Series,
    alt,
    axis_title,
    best_word,
    drawn,
    finished,
    inner_width,
    is_bare,
    layered,
    lines,
    number_format,
    safe,
    series_of,
    spoken,
    tooltips,
)
from recframe.charts.themes import Look
from recframe.errors import RecframeError
from recframe.frames.hints import Given
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import By

STEP = 26
"""Height of the row of a model by itself, in pixels."""
STEP_OF_SEGMENTS = 14
"""Height of a model's row in a segment, in pixels."""
LONGEST = 26
"""Longest name along a heat map, in characters."""
WIDEST_CELL = 80
LEAST_WRITTEN = 24
"""Least cell width for a number, in pixels."""
TURNS = 0.55
"""Value from which a cell is dark enough for the other text colour."""
OVERLAP = {"model": pl.String, "other": pl.String, "value": pl.Float64, "n": pl.Int64}


def _segment_marks(
    base: alt.Chart, series: Series, title: list[str], ends: Sequence[float] | None
) -> list[alt.Chart]:
    """Return the rules and the dots of segments."""
    if series.named:
        base = base.encode(yOffset=series.offset)
    scale = alt.Scale(domain=ends, padding=6) if ends else alt.Scale(zero=False)
    in_colour = base.transform_filter(series.is_coloured) if series.others else base
    rule = in_colour.mark_rule(strokeWidth=2, opacity=0.75, clip=bool(ends))
    dots = base.mark_point(filled=True, size=56, opacity=1)
    return [
        rule.encode(x=alt.X("low:Q", title=title, scale=scale), x2=alt.X2("high:Q", title=title)),
        dots.encode(x="value:Q", **series.marks()),
    ]


def _overlaps(rec: Any, metric: Metric[...]) -> tuple[pl.DataFrame, Names]:
    """Return the pairwise overlap of models' lists, and the names of the models."""
    names = models_of(rec)
    models = [one for one in names.order if one != names.none]
    results = against_each(rec, [metric], models, tidy=True)
    parts = [pl.DataFrame(schema=OVERLAP)]
    for name, result in zip(models, results, strict=True):
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

    def models(
        self,
        metric: str | Metric[...],
        *,
        k: int | None = None,
        level: float = 0.95,
        cluster: str | None = None,
    ) -> alt.LayerChart:
        """Draw a metric of each model, the best first: a dot with its interval.

        The numbers are those of `summarize(metric)`. Intervals of two models that overlap do not say that the models are alike,
        since both have the same users: `compare` draws their difference.

        Raises what `summarize` raises.

        >>> import polars as pl, recframe as rf
        >>> truth = pl.DataFrame({"user": [1, 2], "item": [1, 2]})
        >>> recs = {name: truth.with_columns(rank=pl.lit(rank)) for name, rank in {"a": 2, "b": 1}.items()}
        >>> rf.rec(recs, truth=truth).plot.models("mrr").data.select("model", "value").rows()
        [('b', 1.0), ('a', 0.5)]
        """
        rec, look = self._rec, self._look
        check_whole(rec, "models()")
        metric, how = one_metric("models", metric, k), Intervals(level, cluster)
        found, lower = summary(rec, [metric], how), metric.direction == "lower"
        keys = ("model_place",) if found.own_order_of_models else ("value", "model")
        turned = [key == "value" and not lower for key in keys]
        data = safe(found.data.sort(keys, descending=turned, nulls_last=True))
        series, kind = series_of(found, data, look, lower=lower), number_format(metric)
        fields: Fields = {
            "value:Q": (spoken(str(metric)), kind),
            "low,high:Q": (how.title, kind),
            "n_users:Q": (f"{noun_of(metric)}s", ",d"),
        }
        finding = leading(data, "place", f"{best_word(metric)} {metric}", "", "", lower=lower)
        numbers = said_of(data, "value", kind)
        data, told = in_words(data, series.told(fields))
        axis = {**ROWS_AXIS, "labels": series.named}
        row = alt.Y("model:N", sort=data["model"].to_list(), title=None, axis=axis)
        base = drawn(data).encode(y=row, tooltip=tooltips(told))
        across_title = axis_title(metric, look)
        across = alt.X("low:Q", title=across_title, scale=alt.Scale(zero=False))
        rule = base.mark_rule(strokeWidth=2).encode(
            x=across, x2=alt.X2("high:Q", title=across_title), color=series.colour(legend=False)
        )
        dots = base.mark_point(filled=True, size=90, opacity=1)
        dots = dots.encode(x="value:Q", **series.marks(legend=False))
        chart = layered(data, rule, dots, height=len(data) * STEP + 10)
        users = users_of(data, noun=noun_of(metric))
        subtitle = f"Means over {users}, with intervals at {how.words}.{series.words}"
        words: dict[str, Any] = {
            "numbers": numbers,
            "empty": is_bare(data, "value") or data.is_empty(),
        }
        words["finding"] = finding
        title = f"{metric} of each model" if series.named else str(metric)
        return finished(chart, look, title, subtitle, **words)

    def segments(
        self,
        metric: str | Metric[...],
        *,
        by: By = None,
        k: int | None = None,
        most: int = 30,
        level: float = 0.95,
        cluster: str | None = None,
    ) -> alt.LayerChart:
        """Draw a metric in each segment, the best first: dots with intervals, and in brackets the number of users.

        The numbers are those of `summarize(metric, by=by)`; `slices` has pooled estimates of small segments.

        Segments are in the order of their values, the best first; those of an enum in its own. Intervals of fewer than ten
        users do not stretch the axis.

            by: the columns, or none where `group_by` has bound them. most: so many segments are shown, the largest.

        Raises what `summarize` raises, and a RecframeError without a column.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1], "country": ["DE", "FR"]})
        >>> chart = df.rec.plot.segments("mrr", by="country")
        >>> chart.data.select("segment", "value", "n_users").rows()
        [('DE', 1.0, 1), ('FR', 0.5, 1)]
        """
        rec, look = self._rec, self._look
        metric, how = one_metric("segments", metric, k), Intervals(level, cluster)
        found = summary(rec, [metric], how, by)
        if not found.by:
            msg = "plot.segments needs the columns that make segments: segments(..., by='country')"
            if by is not None:
                model = rec._context.model  # noqa: SLF001  the methods of this room are those of a Rec
                msg = f"{Given('by', model)}: plot.segments draws segments; compare(...) compares models"
            raise RecframeError(msg)
        lower, kind = metric.direction == "lower", number_format(metric)
        rows = safe(in_order(largest(found.data, most), own=found.own_order, lower=lower))
        series = series_of(found, rows, look, lower=lower)
        names = rows["label"].unique(maintain_order=True)
        n = found.data["segment"].n_unique()
        every = "in every segment" if n <= most else f"in all {most} segments drawn"
        said = f"{best_word(metric)} {metric}", every, "in {} of {} segments"
        finding = leading(rows, "place", *said, lower=lower)
        fields: Fields = {
            "segment:N": spoken(found.by),
            "value:Q": (spoken(str(metric)), kind),
            "low,high:Q": (how.title, kind),
            "n_users:Q": ("users", ",d"),
        }
        numbers = said_of(rows, "value", kind)
        ends = ends_of(rows)
        rows, told = in_words(series.in_front(rows), series.told(fields))
        axis, title = {**ROWS_AXIS, "labelPadding": 6}, lines(f"{found.by} (users)", 240)
        row = alt.Y("label:N", sort=names.to_list(), title=title, axis=axis)
        base = drawn(rows).encode(y=row, tooltip=tooltips(told), color=series.colour())
        height = max(len(names), 1) * (max(len(series.names), 2) * STEP_OF_SEGMENTS + 6) + 10
        layers = _segment_marks(base, series, axis_title(metric, look), ends)
        chart = layered(rows, *layers, height=height)
        subtitle = f"Dots: means with intervals at {how.words}; in brackets: users."
        subtitle += segments_shown(n, most) + (CUT if ends else "") + series.words
        words: dict[str, Any] = {"finding": finding, "numbers": numbers}
        words["empty"] = found.data.is_empty()
        return finished(chart, look, f"{metric} by {found.by}", subtitle, **words)

    def overlap(
        self,
        metric: str | Metric[...] = "rbo@10",
        *,
        k: int | None = None,
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
        check_reference(metric, "plot.overlap")
        check_models(rec, "plot.overlap()")
        data, models = _overlaps(rec, metric)
        series, data = Series(models.order, look), safe(data)
        names, n = series.names, max(len(series.names), 1)
        longest = min(max(map(len, names), default=1), LONGEST)
        cell = min(inner_width(look, longest * LETTER + 60) / n, WIDEST_CELL)
        fields: Fields = {
            "model:N": "lists of",
            "other:N": "compared with",
            "value:Q": (spoken(str(metric)), number_format(metric)),
            "n:Q": ("lists", ",d"),
        }
        axis = {"labelAngle": -40, "tickSize": 0}
        across = alt.X("other:N", sort=names, title="compared with", axis=axis)
        up = alt.Y("model:N", sort=names, title="lists of", axis={"tickSize": 0})
        data, told = in_words(data, fields)
        base = drawn(data).encode(x=across, y=up, tooltip=tooltips(told))
        layers = _cells(base, cell, metric, look)
        chart = layered(data, *layers, height=max(cell, 22) * n)
        title = f"Overlap of the lists: {metric}"
        subtitle = (
            "The mean over the users of how far a model's list agrees with the other model's."
        )
        pairs = data.filter(pl.col("model") < pl.col("other")).drop_nulls("value")
        pairs = pairs.sort("value", descending=True, maintain_order=True)
        numbers = [
            f"{one['model']} and {one['other']} {one['value']:.2f}" for one in pairs.to_dicts()
        ]
        empty, finding = data.is_empty(), ""
        if len(pairs) > 1 and pairs["value"][0] > pairs["value"][1]:
            finding = "{model} and {other} have the most alike lists".format(
                **pairs.row(0, named=True)
            )
        words: dict[str, Any] = {"finding": finding, "numbers": numbers, "empty": empty}
        return finished(chart, look, title, subtitle, **words)
