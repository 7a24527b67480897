"""The chart of models by two metrics, with their Pareto front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from recframe.charts.chart_words import Fields, in_words, written
from recframe.charts.long_format import (
    Intervals,
    Names,
    check_whole,
    one_metric,
    summary,
)
from recframe.charts.style import (
    Canvas,
    Series,
    alt,
    axis_title,
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
from recframe.charts.themes import MOST_COLOURED, Look
from recframe.errors import RecframeError, silent
from recframe.metrics.language.definition import Metric

HEIGHT = 320
MOST_NAMED = 6
"""Most models with names at their points; more get a legend, since names would overlap."""
NEAR = 0.25
"""The distance at which a name would lie upon a point, as a share of a view's width and height."""
STATE = pl.col("state")


def _of_axes(data: pl.DataFrame, metrics: Sequence[Metric[...]]) -> pl.DataFrame:
    """Return the values of two metrics in columns, a row for each model: x and y, with their intervals."""
    across, up = (
        data.filter(pl.col("metric") == str(metric))
        .select("model", pl.col("value", "low", "high").name.prefix(f"{axis}_"))
        .rename({f"{axis}_value": axis})
        for axis, metric in zip("xy", metrics, strict=True)
    )
    return across.join(up, on="model", maintain_order="left")


def _with_states(rec: Any, data: pl.DataFrame, metrics: Sequence[Metric[...]]) -> pl.DataFrame:
    """Return models with their `state` and `dominated_by`, as `rec.pareto` has them; null where a metric has no better end."""
    directed = all(metric.direction for metric in metrics)
    if not directed or len(data) < 2:  # noqa: PLR2004  models to compare
        state = pl.lit("front" if directed else None, pl.String)
        return data.with_columns(state=state, dominated_by=pl.lit(None, pl.String))
    with silent():
        found = rec.pareto(*metrics)
    model = found[rec._context.model].alias("model")  # noqa: SLF001  the methods of this room are those of a Rec
    states = found.select("dominated_by", state="front").with_columns(model)
    states = states.with_columns(Names.of([model]).text(pl.col("model")))
    return data.join(states, on="model", how="left", maintain_order="left")


def _fields_of_axes(metrics: Sequence[Metric[...]], how: Intervals) -> Fields:
    """Return the fields of a tooltip on metrics."""
    fields: dict[str, Any] = {}
    for axis, metric in zip("xy", metrics, strict=True):
        kind, name = number_format(metric), spoken(str(metric))
        fields[f"{axis}:Q"] = (name, kind)
        fields[f"{axis}_low,{axis}_high:Q"] = (f"{how.title} of {name}", kind)
    return {**fields, "state:N": "Pareto front", "dominated_by:N": "behind"}


def _points(data: pl.DataFrame, metrics: Sequence[Metric[...]]) -> list[str]:
    """Return the values of both metrics, for an alternative text."""
    across, up = map(number_format, metrics)
    rows = data.drop_nulls(["x", "y"]).to_dicts()
    return [
        f"{row['model']} {written(row['x'], across)} and {written(row['y'], up)}"
        + f" ({row['state']})" * (row["state"] in {"open", "dominated"})
        for row in rows
    ]


def _words(data: pl.DataFrame, series: Series) -> tuple[str, str]:
    """Return the sentences on the Pareto front and on models behind it, and the finding where one model beats all."""
    best, states = data.filter("best")["model"].to_list(), {*data["state"]}
    both = "Dashed: the Pareto front, models that no other beats in both."
    sentences = [both * (len(best) > 1)]
    sentences += ["Hollow: behind another by value, which may be chance."] * ("open" in states)
    if best and {*best} <= {*series.coloured}:
        sentences += ["Filled grey: shown to be dominated."] * ("dominated" in states)
    else:
        sentences.append(series.words.strip())
    finding = f"No other model beats {best[0]} in either" if len(best) == 1 < len(data) else ""
    return "".join(f" {one}" for one in sentences if one), finding


def _with_front_in_colour(look: Look, data: pl.DataFrame) -> Look:
    """Return a look in which the front of many models stands out, where nobody chose who does."""
    best = data.filter(STATE == "front")["model"].to_list()
    if look.highlight or len(data) <= MOST_COLOURED or not 0 < len(best) <= MOST_COLOURED:
        return look
    return replace(look, highlight=tuple(best))


def _coloured(series: Series, *, legend: bool = False, text: bool = False) -> Any:
    """Return the colour of models, grey where they are dominated."""
    of = series.look.colours
    is_dominated = alt.FieldEqualPredicate(field="state", equal="dominated")
    grey = of.quiet if text else of.others
    return alt.condition(is_dominated, alt.value(grey), series.colour(legend=legend))


def _dots(base: alt.Chart, series: Series, shape: alt.Shape) -> list[alt.Chart]:
    """Return the points of models: hollow ones where they are open."""
    is_open = alt.FieldEqualPredicate(field="state", equal="open")
    is_not: Any = alt.LogicalNotPredicate
    full = base.transform_filter(is_not(**{"not": is_open}))
    filled = full.mark_point(filled=True, size=90, opacity=1)
    hollow = base.transform_filter(is_open).mark_point(size=80, opacity=1, strokeWidth=2)
    hollow.mark.fill = series.look.ground
    return [one.encode(shape=shape) for one in (filled, hollow)]


def _names(data: pl.DataFrame, series: Series, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Return model labels at their points, inside the view and clear of near points."""
    layers, ground = [], series.look.ground
    in_colour = placed(data).filter(pl.col("model").is_in(series.coloured))
    for (align, below), rows in in_colour.group_by("align", "below", maintain_order=True):
        text = drawn(rows).encode(x=x, y=y, text="model:N")
        of: dict[str, Any] = {"align": align, "dx": 9 if align == "left" else -9}
        of |= {"dy": 13 if below else -9, "fontSize": 12}
        # on its ground, which keeps what lies below from crossing letters out
        halo = text.mark_text(stroke=ground, strokeWidth=4, strokeJoin="round", color=ground, **of)
        layers += [halo, text.mark_text(**of).encode(color=_coloured(series, text=True))]
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


def _front_line(data: pl.DataFrame, metrics: Sequence[Metric[...]], series: Series) -> alt.Chart:
    """Return the edge of what the front beats: in steps, since between two models there is none."""
    # from one point to the next it goes first where values are worse
    steps: Any = "step-before" if metrics[0].direction == "higher" else "step-after"
    front = drawn(data.filter("best").sort("x"))
    quiet = series.look.colours.quiet
    line: alt.Chart = front.mark_line(
        color=quiet, strokeDash=[4, 3], strokeWidth=1.5, interpolate=steps
    )
    return line


class PlotsOfFronts(Canvas):
    """The chart of models by two metrics."""

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
        or beats in both metrics and beats in one, by the metrics' better ends. Models that are shown to be dominated are grey,
        and those that lie behind others by value alone are hollow: without recframe[stats] nothing is shown. With a metric that
        has no direction there is no front.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rec.plot.tradeoff("mrr", "recall@1").data.select("x", "y").rows()
        [(0.75, 0.5)]
        """
        rec, look = self._rec, self._look
        check_whole(rec, "tradeoff()")
        metrics = [one_metric("tradeoff", one, k) for one in (x, y)]
        how = Intervals(level, cluster)
        if metrics[0] == metrics[1]:
            msg = f"tradeoff takes two metrics, and found {str(metrics[0])!r} twice"
            raise RecframeError(msg)
        found = summary(rec, metrics, how)
        states = _with_states(rec, _of_axes(found.data, metrics), metrics)
        look = _with_front_in_colour(look, states)
        data = safe(states.with_columns(best=(STATE == "front").fill_null(value=False)))
        series = series_of(found, data, look, "x", lower=metrics[0].direction == "lower")
        is_named = series.named and len(series.coloured) <= MOST_NAMED
        data, fields = in_words(series.in_front(data), series.told(_fields_of_axes(metrics, how)))
        titles = axis_title(metrics[0], look), axis_title(metrics[1], look, length=HEIGHT)
        across = alt.X("x:Q", title=titles[0], scale={"zero": False, "padding": 28})
        up = alt.Y("y:Q", title=titles[1], scale={"zero": False, "padding": 20})
        colour = _coloured(series, legend=not is_named)
        base = drawn(data).encode(color=colour, tooltip=tooltips(fields))
        crosses = base.transform_filter(series.is_coloured) if series.others else base
        rule = crosses.mark_rule(strokeWidth=1.5, opacity=0.7)
        ends = [alt.X2("x_high:Q", title=titles[0]), alt.Y2("y_high:Q", title=titles[1])]
        wide = rule.encode(x=alt.X("x_low:Q", title=titles[0]), x2=ends[0], y=up)
        tall = rule.encode(y=alt.Y("y_low:Q", title=titles[1]), y2=ends[1], x=across)
        placed_at = base.encode(x=across, y=up)
        dots = _dots(placed_at, series, series.shape(legend=not is_named))
        names = _names(data, series, across, up) if is_named else []
        line = _front_line(data, metrics, series).encode(x=across, y=up, order="x:Q")
        chart = layered(data, line, wide, tall, *dots, *names, height=HEIGHT)
        sentences, finding = _words(data, series)
        subtitle = f"Crosses: intervals at {how.words}.{sentences}"
        words: dict[str, Any] = {"finding": finding, "numbers": _points(data, metrics)}
        words["empty"] = is_bare(data, "x", "y")
        return finished(chart, look, f"{metrics[1]} against {metrics[0]}", subtitle, **words)
