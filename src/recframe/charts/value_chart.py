"""Chart of the models' values: dots with intervals, the best first."""

from __future__ import annotations

from recframe.charts.long_format import (
    Intervals,
    check_whole,
    noun_of,
    one_metric,
    summary,
    users_of,
)
from recframe.charts.style import (
    Canvas,
    Fields,
    Series,
    alt,
    axis_title,
    finished,
    is_bare,
    layered,
    number_format,
    rows_of_models,
    safe,
    spoken,
)
from recframe.metrics.language.definition import Metric

STEP = 26
"""Height of a model's row, in pixels."""


class PlotsOfValues(Canvas):
    """Charts of the models' values."""

    def models(
        self,
        metric: str | Metric[...],
        *,
        k: int | None = None,
        level: float = 0.95,
        cluster: str | None = None,
        profile: str | None = None,
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
        metric = one_metric("models", metric, k)
        found = summary(rec, [metric], Intervals(level, cluster, profile))
        series, kind = Series(found.models, look), number_format(metric)
        is_lower = metric.definition.direction == "lower"
        data = safe(found.data.sort("value", "model", descending=[not is_lower, False]))
        names = data["model"].to_list()
        axis = {"grid": True, "tickSize": 0, "labels": series.named}
        row = alt.Y("model:N", sort=names, title=None, axis=axis)
        fields: Fields = {
            "value:Q": (spoken(str(metric)), kind),
            **{f"{end}:Q": (end, kind) for end in ("low", "high")},
            "n_users:Q": (f"{noun_of(metric)}s", ",d"),
        }
        base = rows_of_models(data, series, row, series.told(fields), side_by_side=False)
        across = alt.X("low:Q", title=axis_title(metric, look), scale=alt.Scale(zero=False))
        rule = base.mark_rule(strokeWidth=2).encode(
            x=across, x2="high:Q", color=series.colour(legend=False)
        )
        dots = base.mark_point(filled=True, size=90, opacity=1)
        dots = dots.encode(x="value:Q", **series.marks(legend=False))
        chart = layered(data, rule, dots, height=len(names) * STEP + 10)
        subtitle = (
            f"Means over {users_of(data, noun=noun_of(metric))}, with intervals at {found.level}."
        )
        empty = is_bare(data, "value") or data.is_empty()
        title = f"{metric} of each model" if series.named else str(metric)
        return finished(chart, look, title, subtitle, empty=empty)
