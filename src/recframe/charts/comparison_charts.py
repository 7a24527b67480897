"""Charts of differences of models, and of two metrics of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from recframe.charts.formatting import listed, p_value, per_cent, signed, signed_share
from recframe.charts.forms import (
    ENDS,
    Canvas,
    Charts,
    Field,
    by_value,
    canvas,
    dots,
    finished,
    of_metric,
    plane,
    some_of,
)
from recframe.charts.long_format import Result, at_level, models_of, named, one_metric, summary
from recframe.errors import RecframeError
from recframe.frames.dtypes import text_of
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import By

if TYPE_CHECKING:
    import altair as alt

    from recframe.statistics.options import Correction

VERDICTS = ("better", "higher", "worse", "lower")
MOST_LISTED = 3
"""Most models that a title names."""
DIFFERENCE = Field("difference", write=signed, ends=ENDS)
TOLD = [
    Field("baseline", "compared with {}"),
    Field("metric", "in {}"),
    DIFFERENCE,
    Field("relative", "{} of its value", signed_share),
    Field("verdict"),
    Field("p_adjusted", "p {}", p_value),
]
"""Sentences on a difference."""


class PlotsOfTwo(Charts):
    """Charts of differences, and of two metrics."""

    def compare(  # noqa: PLR0913  those of rec.compare
        self,
        metric: str | Metric[...],
        *,
        baseline: object,
        k: int | None = None,
        by: By = None,
        level: float = 0.95,
        margin: float | None = None,
        correction: Correction | None = "holm",
        cluster: str | None = None,
    ) -> alt.LayerChart:
        """Draw the differences of models from a baseline, with their intervals and the margin that does not matter.

        Takes the arguments of `rec.compare`, whose numbers it draws. Right is better: where lower values are, the axis is
        reversed. A filled mark has a verdict, a hollow one is open. Models are in the order of their values, the best first;
        segments by their users, most first, those of an enum in its own order. It takes recframe[stats].

        >>> import polars as pl, recframe as rf
        >>> old = pl.DataFrame({"user": [1, 2, 3], "item": [1, 2, 9], "rank": 1})
        >>> rec = rf.rec({"new": old.with_columns(item=pl.col("user")), "old": old}, truth=old.select("user", item="user"))
        >>> chart = rec.plot.compare("hit_rate@1", baseline="old")
        >>> chart.data.select("model", "baseline", "difference").rows()
        [('new', 'old', 0.3333333333333333)]
        """
        one, how = one_metric("compare", metric, k), {"level": level, "cluster": cluster}
        options = {
            "baseline": baseline,
            "by": by,
            "margin": margin,
            "correction": correction,
            **how,
        }
        found = named(self._rec, self._rec.compare(one, **options))
        return self._differences(found, one, at_level(**how), text_of(baseline), margin)

    def _differences(
        self, found: Result, metric: Metric[...], at: str, baseline: str, margin: float | None
    ) -> alt.LayerChart:
        """Draw a result of `compare` with a baseline."""
        size = (margin or 0.0) * pl.col("baseline_value").abs()
        is_open = pl.col("verdict").is_in(["open", "few"])
        data = found.data.rename({"difference_low": "low", "difference_high": "high"})
        data = data.with_columns(hollow=is_open, within=size, beyond=-size)
        found = found._replace(data=data, models=models_of(self._rec))
        axis = f"difference in {metric}" + " (right is better)" * bool(metric.direction)
        value = DIFFERENCE._replace(axis=axis, lower=metric.direction == "lower")
        of = canvas(self._look, found, value, TOLD, baseline=baseline)
        words = f"{of.users.capitalize()} with both values; intervals at {at}, each by itself."
        words += " Hollow: open, no difference is shown." * bool(of.data["hollow"].any())
        within = f" Band: within {per_cent(margin or 0)} of its value, which does not matter."
        words += within * (margin is not None)
        row, order = ("label", of.labels) if of.by else ("model", by_value(of.data, value))
        chart, title = dots(of, row, order, zero=True), f"{metric}: differences from {baseline}"
        return finished(chart, of, title, words, _finding(of, baseline))

    def tradeoff(
        self,
        x: str | Metric[...],
        y: str | Metric[...],
        *,
        k: int | None = None,
        level: float = 0.95,
        cluster: str | None = None,
    ) -> alt.LayerChart:
        """Draw models as points of two metrics, with the intervals of both and the Pareto front.

        The numbers are those of `summarize(x, y)`, and the front is that of `rec.pareto(x, y)`: models that no other one equals
        or beats in both metrics and beats in one, by the metrics' better ends. Models that are not on it are hollow: they
        lie behind by their values, which may be chance. With a metric that has no direction there is no front.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rec.plot.tradeoff("mrr", "recall@1").data.select("value", "value_y").rows()
        [(0.75, 0.5)]
        """
        rec, how = self._whole("tradeoff"), {"level": level, "cluster": cluster}
        metrics = [one_metric("tradeoff", one, k) for one in (x, y)]
        if metrics[0] == metrics[1]:
            raise RecframeError(f"tradeoff takes two metrics, and found {str(metrics[0])!r} twice")
        found = summary(rec, metrics, **how)
        data, other = (found.data.filter(metric=str(metric)) for metric in metrics)
        data = data.hstack(other.select(pl.col("value", *ENDS).name.suffix("_y")))
        across, up = of_metric(metrics[0]), of_metric(metrics[1], "value_y", ("low_y", "high_y"))
        # NOTE: the models are in the same order in both results
        has_front = len(data) > 1 and all(one.direction for one in metrics)
        hollow = rec.pareto(metrics)["front"] != "front" if has_front else pl.lit(value=False)
        found = found._replace(data=data.with_columns(hollow=hollow))
        of, said = (
            canvas(self._look, found, across, [across, up]),
            f"Crosses: intervals at {at_level(**how)}.",
        )
        finding, front = "", by_value(of.data.filter(~pl.col("hollow")), across)
        if of.data["hollow"].any():
            said += " Filled: the Pareto front, models that no other equals or beats in both; hollow: behind it by value."
            names = listed(front, MOST_LISTED)
            finding = f"On the front: {names}, which no other model beats in both"
        title = f"{metrics[1]} against {metrics[0]}"
        return finished(plane(of, across, up), of, title, said, finding)


def _finding(of: Canvas, baseline: str) -> str:
    """Return which models are shown to be better than the baseline and worse, or in how many segments the best one is."""
    rows, said = of.data.filter(model=of.ranked[0]) if of.by else of.data, list[str]()
    for verdict in VERDICTS:
        who = rows.filter(verdict=verdict)["model"].to_list()
        names = [*dict.fromkeys(who)]
        be = f"{listed(names, MOST_LISTED)} {'is' if len(names) == 1 else 'are'} {verdict}"
        said += [be + f" than {baseline}" * (not said) + some_of(len(who), of)] * bool(who)
    nobody = f"No model is shown to differ from {baseline}" + " in any segment" * bool(of.by)
    return ", ".join(said) or nobody
