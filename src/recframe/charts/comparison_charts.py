"""Charts of differences of models, and of two metrics of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from recframe.charts.formatting import listed, p_value, per_cent, signed, signed_share
from recframe.charts.forms import (
    ENDS,
    HEIGHT,
    USERS,
    Canvas,
    Charts,
    Field,
    dots,
    finished,
    of_metric,
    plane,
    some_of,
    stacked,
)
from recframe.charts.long_format import (
    Intervals,
    check_whole,
    in_columns,
    labelled,
    models_of,
    named,
    one_metric,
    summary,
)
from recframe.errors import RecframeError, worded
from recframe.frames.dtypes import text_of
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import Asked, By, Cutoffs

if TYPE_CHECKING:
    import altair as alt

    from recframe.statistics.options import Correction

VERDICTS = ("better", "higher", "worse", "lower")
MOST_LISTED = 3
"""Most models that a title names."""
DIFFERENCE = Field("difference", write=signed, ends=ENDS, format="+")
TOLD = [
    Field("baseline", "compared with {}"),
    Field("metric", "in {}"),
    DIFFERENCE,
    Field("relative", "{} of its value", signed_share),
    Field("verdict"),
    Field("p_adjusted", "p {}", p_value),
    USERS,
]
"""What is said of a difference."""
RIGHT = {"higher": " (right of 0 is better)", "lower": " (lower is better)"}


class PlotsOfTwo(Charts):
    """Charts of differences, and of two metrics."""

    def compare(  # noqa: PLR0913  those of rec.compare
        self,
        *metrics: Asked,
        baseline: object = None,
        k: Cutoffs = None,
        by: By = None,
        level: float = 0.95,
        margin: float | None = None,
        correction: Correction | None = "holm",
        cluster: str | None = None,
    ) -> alt.LayerChart | alt.VConcatChart:
        """Draw the differences of models from a baseline, with their intervals and the margin that does not matter.

        Takes the arguments of `rec.compare`, whose numbers it draws. Each metric has a panel in its own unit, in which right is
        better: where lower values are, the axis is reversed. A filled mark has a verdict, a hollow one is open. Models and
        segments are in the order of their values, the best first; those that are an enum in its own. It takes recframe[stats].

        >>> import polars as pl, recframe as rf
        >>> old = pl.DataFrame({"user": [1, 2, 3], "item": [1, 2, 9], "rank": 1})
        >>> rec = rf.rec({"new": old.with_columns(item=pl.col("user")), "old": old}, truth=old.select("user", item="user"))
        >>> chart = rec.plot.compare("hit_rate@1", baseline="old")
        >>> chart.data.select("model", "baseline", "difference").rows()
        [('new', 'old', 0.3333333333333333)]
        """
        given = {"k": k, "by": by, "level": level, "margin": margin, "correction": correction}
        result = self._rec.compare(*metrics, baseline=baseline, cluster=cluster, **given)
        compared, how = registry.asked(registry.each(metrics), k), Intervals(level, cluster)
        return self._differences(result, compared, how, baseline=baseline, margin=margin)

    def _differences(
        self,
        result: pl.DataFrame,
        metrics: Sequence[Metric[...]],
        how: Intervals,
        *,
        baseline: object,
        margin: float | None,
    ) -> alt.LayerChart | alt.VConcatChart:
        """Draw a result of `compare`; models have the colours that they have in charts of all of them."""
        found = named(self._rec, result)._replace(models=models_of(self._rec))
        other = "" if baseline is None else text_of(baseline)
        size = pl.lit(margin, pl.Float64) * pl.col("baseline_value").abs()
        pair = pl.col("model") if other else worded(pl.col("model"), " - ", pl.col("baseline"))
        data = labelled(found.data).rename({"difference_low": "low", "difference_high": "high"})
        is_open = pl.col("verdict").is_in(["open", "few"])
        data = data.with_columns(hollow=is_open, within=size, beyond=-size)
        row = pl.col("label") if other else worded(pl.col("label"), " · ", pair)
        found = found._replace(data=data.with_columns(row=row if found.by else pair))
        first = data.filter(metric=str(metrics[0]))
        baselines = first.select(model="baseline", value="baseline_value")
        at = pl.concat([first.select("model", "value"), baselines])
        order = {"at": at, "lower": metrics[0].direction == "lower", "baseline": other}
        of = self._canvas(found, DIFFERENCE, TOLD, most=len(data), **order)
        first = of.data.filter(metric=str(metrics[0]))
        rows_of, panels = first["row"].unique(maintain_order=True).to_list(), {}
        for metric in metrics:
            axis = f"difference in {metric}{RIGHT.get(metric.direction, '')}"
            rows, lower = of.data.filter(metric=str(metric)), metric.direction == "lower"
            panel = of._replace(data=rows, value=DIFFERENCE._replace(axis=axis), lower=lower)
            panels[str(metric)] = dots(panel, "row", rows_of, zero=True, band=margin is not None)
        words = (
            f"{'In brackets: users' if found.by else of.users().capitalize()} with both values; "
        )
        words += f"intervals at {how.words}, each by itself."
        words += " Hollow: open, no difference is shown." * bool(of.data["hollow"].any())
        matter = (
            f" Band: within {per_cent(margin or 0)} of the other's value, which does not matter."
        )
        words += matter * (margin is not None)
        title = f"{', '.join(panels)}: {f'differences from {other}' if other else 'pairwise differences'}"
        title += f", by {found.by}" * bool(found.by)
        finding = _finding(first, of, by_segment=bool(found.by)) if other else ""
        finding += f" in {metrics[0]}" * (len(metrics) > 1 and bool(finding))
        chart = stacked(panels, self._look) if len(panels) > 1 else panels[str(metrics[0])]
        return finished(chart, of, title, words, finding)

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
        >>> df.rec.plot.tradeoff("mrr", "recall@1").data.select("x", "y").rows()
        [(0.75, 0.5)]
        """
        check_whole(self._rec, "tradeoff()")
        metrics, how = [one_metric("tradeoff", one, k) for one in (x, y)], Intervals(level, cluster)
        if metrics[0] == metrics[1]:
            raise RecframeError(f"tradeoff takes two metrics, and found {str(metrics[0])!r} twice")
        found, ends = summary(self._rec, metrics, how), ("", *(f"_{end}" for end in ENDS))
        columns = {
            f"{axis}{end}": (str(metric), column)
            for axis, metric in zip("xy", metrics, strict=True)
            for end, column in zip(ends, ("value", *ENDS), strict=True)
        }
        data = in_columns(found.data, columns)
        front = _front(data, metrics)
        data = data.with_columns(hollow=~pl.col("model").is_in(front) & bool(front))
        across, up = (
            of_metric(metric)._replace(name=axis, ends=(f"{axis}_low", f"{axis}_high"))
            for axis, metric in zip("xy", metrics, strict=True)
        )
        told, lower = [across, up, USERS], metrics[0].direction == "lower"
        of = self._canvas(found._replace(data=data), across, told, lower=lower)
        axes = (
            field.along(length, padding=20, nice=False, reverse=metric.direction == "lower")
            for field, length, metric in zip(told, (of.across, HEIGHT), metrics, strict=False)
        )
        chart = plane(of, *axes)
        subtitle, finding = f"Crosses: intervals at {how.words}.", ""
        if 0 < len(front) < len(data):
            subtitle += " Filled: the Pareto front, models that no other equals or beats in both; hollow: behind it by value."
            finding = f"No other model beats {front[0]} in either" if len(front) == 1 else ""
        if 1 < len(front) <= MOST_LISTED:
            finding = f"{listed(front)} are on the front: none is beaten in both"
        return finished(chart, of, f"{metrics[1]} against {metrics[0]}", subtitle, finding)


def _finding(rows: pl.DataFrame, of: Canvas, *, by_segment: bool) -> str:
    """Return which models are shown to be better than the baseline and worse, or in how many segments the best one is."""
    best = next(one for one in of.ranked if one != of.baseline)
    rows = rows.filter(model=best) if by_segment else rows
    said: list[str] = []
    for verdict in VERDICTS:
        who = rows.filter(verdict=verdict)["model"].to_list()
        many = f"in {some_of(len(who), len(rows))} segments" if by_segment else ""
        be, names = "is" if len({*who}) == 1 else "are", listed([*dict.fromkeys(who)], MOST_LISTED)
        than = f"{verdict} than {of.baseline}" if not said else verdict
        said += [f"{names} {be} {than} {many}".strip()] * bool(who)
    return (
        ", ".join(said)
        or f"No model is shown to differ from {of.baseline}" + " in any segment" * by_segment
    )


def _front(data: pl.DataFrame, metrics: Sequence[Metric[...]]) -> list[str]:
    """Return the models that no other one equals or beats in both metrics and beats in one; none without two better ends."""
    x, y = ({"higher": 1, "lower": -1}.get(metric.direction or "", 0) for metric in metrics)
    each = data.drop_nulls(["x", "y"]).select("model", a=pl.col("x") * x, b=pl.col("y") * y)
    pairs = each.join(each, how="cross", suffix="_other")
    a, b, other_a, other_b = map(pl.col, ("a", "b", "a_other", "b_other"))
    is_beaten = (other_a >= a) & (other_b >= b) & ((other_a > a) | (other_b > b))
    beaten = pairs.filter(is_beaten)["model"]
    return [one for one in each["model"] if x and y and one not in beaten]
