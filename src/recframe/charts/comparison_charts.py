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
    safe_text,
    some_of,
)
from recframe.charts.long_format import (
    Intervals,
    Result,
    models_of,
    named,
    one_metric,
    summary,
    whole,
)
from recframe.errors import RecframeError
from recframe.frames.dtypes import text_of
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import By

if TYPE_CHECKING:
    import altair as alt

    from recframe.frames.options import Correction

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
        metric, how = one_metric("compare", metric, k), Intervals(level, cluster)
        given = {"by": by, "margin": margin, "correction": correction, **how._asdict()}
        result = self._rec.compare(metric, baseline=baseline, **given)
        found = named(self._rec, result)
        return self._differences(found, metric, how, text_of(baseline), margin)

    def _differences(
        self,
        found: Result,
        metric: Metric[...],
        how: Intervals,
        baseline: str,
        margin: float | None,
    ) -> alt.LayerChart:
        """Draw a result of `compare` with a baseline."""
        found = found._replace(models=models_of(self._rec))
        size = (margin or 0.0) * pl.col("baseline_value").abs()
        is_open = pl.col("verdict").is_in(["open", "few"])
        data = found.data.rename({"difference_low": "low", "difference_high": "high"})
        data = data.with_columns(hollow=is_open, within=size, beyond=-size)
        better = {"higher": " (right of 0 is better)", "lower": " (lower is better)"}
        axis = f"difference in {metric}{better.get(metric.direction, '')}"
        lower = metric.direction == "lower"
        value = DIFFERENCE._replace(axis=axis, lower=lower)
        values = pl.concat([data["baseline_value"], data["value"]])
        models = pl.DataFrame(
            {"model": pl.concat([data["baseline"], data["model"]]), "value": values}
        )
        ranked = by_value(models, of_metric(metric))
        found, other = found._replace(data=data), safe_text(baseline)
        of = canvas(self._look, found, value, TOLD, ranked=ranked, baseline=baseline)
        rows = of.labels if of.by else [one for one in of.ranked if one in {*of.data["model"]}]
        row = "label" if of.by else "model"
        words = (
            f"{of.users.capitalize()} with both values; intervals at {how.words}, each by itself."
        )
        words += " Hollow: open, no difference is shown." * bool(of.data["hollow"].any())
        within = f" Band: within {per_cent(margin or 0)} of its value, which does not matter."
        words += within * (margin is not None)
        title = f"{metric}: differences from {baseline}"
        chart = dots(of, row, rows, zero=True, band=margin is not None)
        return finished(chart, of, title, words, _finding(of, other))

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
        rec, how = whole(self._rec, "tradeoff()"), Intervals(level, cluster)
        metrics = [one_metric("tradeoff", one, k) for one in (x, y)]
        if metrics[0] == metrics[1]:
            raise RecframeError(f"tradeoff takes two metrics, and found {str(metrics[0])!r} twice")
        found = summary(rec, metrics, how)
        data, other = (found.data.filter(metric=str(metric)) for metric in metrics)
        data = data.hstack(other.select(pl.col("value", *ENDS).name.suffix("_y")))
        across, up = (
            of_metric(*of)
            for of in zip(metrics, ("value", "value_y"), (ENDS, ("low_y", "high_y")), strict=True)
        )
        # NOTE: the models are in the same order in both results
        has_front = len(data) > 1 and all(one.direction for one in metrics)
        hollow = rec.pareto(metrics)["front"] != "front" if has_front else pl.lit(value=False)
        data = data.with_columns(hollow=hollow)
        of = canvas(self._look, found._replace(data=data), across, [across, up])
        said, finding = f"Crosses: intervals at {how.words}.", ""
        if of.data["hollow"].any():
            front = [
                one for one in of.ranked if one in {*of.data.filter(~pl.col("hollow"))["model"]}
            ]
            said += " Filled: the Pareto front, models that no other equals or beats in both; hollow: behind it by value."
            finding = (
                f"On the front: {listed(front, MOST_LISTED)}, which no other model beats in both"
            )
        return finished(
            plane(of, across, up), of, f"{metrics[1]} against {metrics[0]}", said, finding
        )


def _finding(of: Canvas, baseline: str) -> str:
    """Return which models are shown to be better than the baseline and worse, or in how many segments the best one is."""
    best = [one for one in of.ranked if one != baseline][:1]
    rows, said = of.data.filter(pl.col("model").is_in(best)) if of.by else of.data, list[str]()
    for verdict in VERDICTS:
        who = rows.filter(verdict=verdict)["model"].to_list()
        names = [*dict.fromkeys(who)]
        be = f"{listed(names, MOST_LISTED)} {'is' if len(names) == 1 else 'are'} {verdict}"
        many = some_of(len(who), len(rows), " in {} segments") if of.by else ""
        said += [be + f" than {baseline}" * (not said) + many] * bool(who)
    nobody = f"No model is shown to differ from {baseline}" + " in any segment" * bool(of.by)
    return ", ".join(said) or nobody
