"""Charts of models and segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recframe.charts.chart_words import (
    Fields,
    in_words,
    leading,
    said_of,
)
from recframe.charts.long_format import (
    Intervals,
    check_whole,
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
    ROWS_AXIS,
    Canvas,
    Series,
    alt,
    axis_title,
    best_word,
    drawn,
    finished,
    is_bare,
    layered,
    lines,
    number_format,
    safe,
    series_of,
    spoken,
    tooltips,
)
from recframe.errors import RecframeError
from recframe.frames.hints import Given
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import By

STEP = 26
"""Height of the row of a model by itself, in pixels."""
STEP_OF_SEGMENTS = 14
"""Height of a model's row in a segment, in pixels."""


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

        The numbers are those of `summarize(metric, by=by)`.

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
