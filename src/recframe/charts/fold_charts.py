"""Chart of a metric over the folds of a split."""

from __future__ import annotations

from typing import Any

import polars as pl

from recframe.charts.chart_words import Fields, best_at, best_in, in_words, said_of
from recframe.charts.long_format import (
    Intervals,
    bounds_of,
    check_whole,
    noun_of,
    one_metric,
    summary,
    words_of_bounds,
)
from recframe.charts.style import (
    Canvas,
    Series,
    alt,
    axis_title,
    best_word,
    drawn,
    finished,
    is_bare,
    layered,
    number_format,
    safe,
    series_of,
    spoken,
    tooltips,
)
from recframe.charts.themes import Look
from recframe.errors import RecframeError
from recframe.metrics.language.definition import Metric

HEIGHT = 260


class PlotsOfFolds(Canvas):
    """Charts of the folds of a split."""

    def folds(
        self,
        metric: str | Metric[...],
        *,
        k: int | None = None,
        level: float = 0.95,
    ) -> alt.LayerChart:
        """Draw a metric of each model in each fold of a split: lines with intervals.

        It is asked of lists that are bound to a split with several folds: `s.rec(lists).plot.folds("ndcg@10")`. The numbers are
        those of `summarize(metric, by="fold")`; an interval is that of other users in the weeks of one fold. A bound, such as
        `oracle`, is a dashed line.

        Raises what `summarize` raises, and a RecframeError where no folds are bound.

        >>> import polars as pl, recframe
        >>> log = pl.DataFrame({"user": [1, 2, 1, 2, 1, 2], "item": [7, 8, 7, 8, 8, 8], "day": [1, 1, 2, 2, 3, 3]})
        >>> split = log.rec(time="day").split.rolling(folds=2, horizon=1)
        >>> chart = split.rec(split.baselines("popular", k=1)).plot.folds("hit_rate@1")
        >>> chart.data.select("model", "segment", "value").rows()
        [('popular', '0', 0.5), ('popular', '1', 0.0)]
        """
        rec, look = self._rec, self._look
        check_whole(rec, "folds()")
        folds = rec._context.folds  # noqa: SLF001  the methods of this room are those of a Rec
        if folds is None:
            msg = (
                "plot.folds() draws the folds of a split, and none are bound: s.rec(lists).plot.folds('ndcg@10'), with "
                "s a split of several folds, such as rec.split.rolling(folds=4, horizon='7d')"
            )
            raise RecframeError(msg)
        metric, how = one_metric("folds", metric, k), Intervals(level)
        found = summary(rec, [metric], how, folds.column)
        lower, kind = metric.direction == "lower", number_format(metric)
        data = safe(found.data.sort("place", "model"))
        series = series_of(found, data, look, lower=lower)
        fields: Fields = {
            "segment:N": spoken(found.by),
            "value:Q": (spoken(str(metric)), kind),
            "low,high:Q": (how.title, kind),
            "n_users:Q": (f"{noun_of(metric)}s", ",d"),
        }
        label = pl.format("fold {}", "segment")
        numbers = said_of(data.with_columns(label=label), "value", kind)
        what = f"{best_word(metric)} {metric}"
        places = best_at(data, "place", lower=lower)
        finding = best_in(places, what, "in every fold", "in {} of {} folds")
        data, told = in_words(series.in_front(data), series.told(fields))
        bounds = safe(bounds_of(rec, metric, folds.column))
        layers = _layers(data, series, metric, told, look)
        layers += _lines_of_bounds(bounds, metric, look) if len(bounds) else []
        subtitle = f"Lines: means of each fold, with intervals at {found.level}."
        subtitle += words_of_bounds(bounds) + series.words
        words: dict[str, Any] = {"numbers": numbers, "empty": is_bare(data, "value")}
        words["finding"] = finding if len(series.names) > 1 else ""
        chart = layered(data, *layers, height=HEIGHT)
        return finished(chart, look, f"{metric} by fold", subtitle, **words)


def _axes(metric: Metric[...], look: Look) -> dict[str, Any]:
    """Return the axes: folds in their order, and values."""
    scale = alt.Scale(type="band", paddingInner=0.7, paddingOuter=0.4)
    order = alt.EncodingSortField(field="place", order="ascending")
    title = axis_title(metric, look, length=HEIGHT)
    return {
        "x": alt.X("segment:O", sort=order, title="fold", axis=alt.Axis(labelAngle=0), scale=scale),
        "y": alt.Y("value:Q", title=title, scale=alt.Scale(zero=False)),
    }


def _layers(
    data: pl.DataFrame, series: Series, metric: Metric[...], told: Any, look: Look
) -> list[Any]:
    """Return the lines of models with their intervals."""
    axes = _axes(metric, look)
    base = drawn(data).encode(x=axes["x"])
    if series.named:
        # side by side, since the intervals of one fold would hide one another
        base = base.encode(xOffset=alt.XOffset("model:N", sort=series.names))
    in_colour = base.transform_filter(series.is_coloured) if series.others else base
    low = alt.Y("low:Q", title=axes["y"]["title"], scale=alt.Scale(zero=False))
    rules = in_colour.mark_rule(strokeWidth=1.5, opacity=0.6)
    rules = rules.encode(y=low, y2="high:Q", color=series.colour())
    marks = base.encode(y=axes["y"], tooltip=tooltips(told))
    return [rules, series.line(marks), series.points(marks, 60)]


def _lines_of_bounds(bounds: pl.DataFrame, metric: Metric[...], look: Look) -> list[Any]:
    """Return the dashed lines of bounds."""
    line = drawn(bounds).mark_line(color=look.colours.quiet, strokeDash=[4, 3], strokeWidth=1.5)
    return [line.encode(**_axes(metric, look), detail="model:N")]
