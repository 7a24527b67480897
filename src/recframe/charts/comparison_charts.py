"""Chart of a comparison: differences of models, a panel for each metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from recframe.charts.chart_words import Fields, by_value, in_words, with_interval
from recframe.charts.formatting import listed, p_value
from recframe.charts.long_format import (
    Intervals,
    Names,
    has_own_order,
    keyed,
    models_in,
    segment_columns,
    users_of,
)
from recframe.charts.segment_rows import CUT, ends_of, in_order, labelled
from recframe.charts.style import (
    HEADING,
    ROWS_AXIS,
    SIDES,
    Canvas,
    Series,
    alt,
    drawn,
    finished,
    inner_width,
    layered,
    lines,
    number_format,
    safe,
    safe_text,
    tooltips,
)
from recframe.frames.dtypes import text_of
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import Asked, By, Cutoffs

if TYPE_CHECKING:
    from recframe.statistics.options import Correction

STEP, BETWEEN_ROWS = 18, 12
"""Height of a model's row, in pixels, and what is added for each row of the axis."""
TURNED = {"better": "worse", "higher": "lower"}
"""The verdicts of models that lose, by those of models that win."""
MOST_LISTED = 3
"""Most models that a title names."""


class Panel(NamedTuple):
    """The rows of one metric."""

    rows: pl.DataFrame
    fields: dict[str, Any]
    """The fields of tooltips."""
    ends: list[float] | None
    """The ends of the axis, where some intervals do not stretch it."""


@dataclass(frozen=True)
class Differences:
    """Rows of a comparison under the names of charts, in the order in which they are drawn."""

    data: pl.DataFrame
    metrics: Sequence[Metric[...]]
    series: Series
    baseline: str | None
    """The model that all others are compared with; None where each row has its own pair."""
    by: str
    """Names of the columns that make the segments, or ""."""
    margin: float | None

    @property
    def names(self) -> list[str]:
        """The names on the axis of rows."""
        return self.data["row"].unique(maintain_order=True).to_list()

    @property
    def height(self) -> int:
        """The height of a panel."""
        n = self.n_models
        return max(len(self.names), 1) * (n * STEP + BETWEEN_ROWS * (n > 1)) + 16

    @property
    def n_models(self) -> int:
        """The number of models in a row."""
        most: Any = self.data.group_by("metric", "row").len()["len"].max() or 1
        return int(most)

    def rows_of(self, metric: Metric[...], how: Intervals) -> Panel:
        """Return the rows of a metric with the fields of their tooltips, and the ends of its axis."""
        kind = f"+{number_format(metric)}"
        fields: Fields = {
            "model:N": "model",
            "baseline:N": "compared with",
            "segment:N": "segment",
            "difference:Q": (f"difference in {metric}", kind),
            "low,high:Q": (how.title, kind),
            "relative:Q": ("of the other's value", "+.1%"),
            "verdict:N": "verdict",
            "p_adjusted:Q": ("p, corrected", p_value),
            "n_users:Q": ("users with both", ",d"),
        }
        if not self.by:
            fields = {name: said for name, said in fields.items() if name != "segment:N"}
        rows = self.data.filter(metric=str(metric))
        ends = ends_of(rows, "difference", zero=True)
        rows = self.series.in_front(rows) if self.n_models > 1 else rows
        return Panel(*in_words(rows, fields), ends)

    def view(self, data: pl.DataFrame, metric: Metric[...], of: Panel) -> alt.LayerChart:
        """Return the view of a metric, in which right is better."""
        look, names = self.series.look, self.names
        is_lower = metric.direction == "lower"
        scale: dict[str, Any] = {"zero": True, "reverse": is_lower}
        scale |= {"domain": of.ends, "padding": 6} if of.ends else {}
        # nothing is no more than it
        axis: dict[str, Any] = {"format": "+", "labelExpr": "datum.value === 0 ? '0' : datum.label"}
        axis |= {"tickCount": look.width // 90}
        x = {
            "title": lines(_axis_title(metric), look.width - SIDES),
            "axis": axis,
            "scale": scale,
        }
        row = alt.Y("row:N", sort=names, title=None, axis=ROWS_AXIS)
        base = drawn(data).encode(y=row, tooltip=tooltips(of.fields))
        if len(self.metrics) > 1:
            of_metric = alt.FieldEqualPredicate(field="metric", equal=str(metric))
            base = base.transform_filter(of_metric)
        if self.n_models > 1:
            base = base.encode(yOffset=self.series.offset)
        layers = self._layers(base, x, clip=of.ends is not None)
        return layered(data, *layers, height=self.height)

    def _layers(self, base: alt.Chart, x: dict[str, Any], *, clip: bool) -> list[alt.Chart]:
        """Return the margin, the line at 0, the intervals, and the dots, of which the open ones are hollow."""
        of, series = self.series.look.colours, self.series
        encoded = series.marks(legend=self.n_models > 1, shown=self.data["model"].to_list())
        zero = alt.Chart(pl.DataFrame({"x": [0.0]})).mark_rule(color=of.quiet).encode(x="x:Q")
        of_one = base.transform_filter(series.is_coloured) if self.n_models > 1 else base
        rule = of_one.mark_rule(strokeWidth=2, clip=clip)
        rule = rule.encode(
            x=alt.X("low:Q", **x), x2=alt.X2("high:Q", title=x["title"]), color=encoded["color"]
        )
        is_open: Any = alt.FieldOneOfPredicate(field="verdict", oneOf=["open", "few"])
        is_shown: Any = {"not": is_open}
        dots = base.transform_filter(is_shown).mark_point(filled=True, size=80, opacity=1)
        rings = base.transform_filter(is_open)
        rings = rings.mark_point(fill=series.look.ground, size=60, strokeWidth=2, opacity=1)
        points = [one.encode(x="difference:Q", **encoded) for one in (dots, rings)]
        layers = [zero, rule, *points]
        if self.margin is None:
            return layers
        band = base.mark_bar(opacity=0.8).encode(color=alt.ColorValue(of.band))
        return [
            band.encode(x=alt.X("margin_low:Q", **x), x2=alt.X2("margin_high:Q", title=x["title"])),
            *layers,
        ]

    @property
    def finding(self) -> str:
        """The finding on the first metric, by its verdicts against the baseline: of models, or in how many segments."""
        metric = self.metrics[0]
        rows = self.data.filter(metric=str(metric))
        better = "better" if metric.direction else "higher"
        found = self._of_segments if self.by else self._of_models
        words = found(rows, better) if len(rows) and self.baseline else ""
        return words + (f" in {metric}" if words and len(self.metrics) > 1 else "")

    def _of_models(self, rows: pl.DataFrame, better: str) -> str:
        """Return which models are shown to be better than the baseline, and which are worse."""
        said: list[str] = []
        for verdict in (better, TURNED[better]):
            models = rows.filter(verdict=verdict)["model"].to_list()
            many = f"{len(models)}" if said else f"{len(models)} of {len(rows)} models"
            who = listed(models) if len(models) <= MOST_LISTED else many
            if models:
                verb = "is" if len(models) == 1 else "are"
                said.append(f"{who} {verb} {verdict}{'' if said else f' than {self.baseline}'}")
        return ", ".join(said) or f"No model is shown to differ from {self.baseline}"

    def _of_segments(self, rows: pl.DataFrame, better: str) -> str:
        """Return in how many segments the best model, by value, is better than the baseline."""
        best = next((one for one in self.series.best if one != self.baseline), "")
        verdicts = rows.filter(model=best)["verdict"].to_list()
        n, won, lost = len(verdicts), verdicts.count(better), verdicts.count(TURNED[better])
        if not won + lost:
            return f"No difference between {best} and {self.baseline} is shown in any segment"
        where = "in every segment" if won == n else f"in {won} of {n} segments"
        also = f", {TURNED[better]} in {lost}" if lost else ""
        return f"{best} is {better} than {self.baseline} {where}{also}"

    @property
    def numbers(self) -> list[str]:
        """The differences, for an alternative text."""
        formats = {str(one): f"+{number_format(one)}" for one in self.metrics}
        said = []
        for row in self.data.to_dicts():
            names = [row["metric"], row["row"], *([row["model"]] if self.by else [])]
            kind = formats[row["metric"]]
            value = with_interval([row[one] for one in ("difference", "low", "high")], kind)
            said.append(f"{', '.join(names)}: {value}, {row['verdict']}")
        return said

    def chart(self, how: Intervals) -> alt.LayerChart | alt.VConcatChart:
        """Return the chart, one view or a panel for each metric."""
        look = self.series.look
        panels = [self.rows_of(metric, how) for metric in self.metrics]
        data = pl.concat([one.rows for one in panels], how="diagonal")
        of = (
            "pairwise differences" if self.baseline is None else f"differences from {self.baseline}"
        )
        users = "In brackets: users" if self.by else users_of(self.data)
        words = f"{users[0].upper()}{users[1:]} with both values; intervals at {how.words}, each by itself."
        words += " Hollow: open, no difference is shown."
        if self.margin is not None:
            words += f" Band: within {self.margin * 100:.3g}% of the other's value, which does not matter."
        words += CUT * any(one.ends for one in panels)
        words += self.series.words * bool({*self.data["model"]} - {*self.series.coloured})
        title = f"{', '.join(map(str, self.metrics))}: {of}{f', by {self.by}' * bool(self.by)}"
        said: dict[str, Any] = {"finding": self.finding, "numbers": self.numbers}
        said["empty"] = data.is_empty()
        views = [self.view(data, *one) for one in zip(self.metrics, panels, strict=True)]
        if len(views) == 1:
            return finished(views[0], look, title, words, **said)
        named = [
            view.properties(
                width=inner_width(look),
                title=alt.TitleParams(text=str(metric), color=look.colours.quiet, **HEADING),
            )
            for metric, view in zip(self.metrics, views, strict=True)
        ]
        return finished(alt.vconcat(*named, data=data, spacing=14), look, title, words, **said)


def _axis_title(metric: Metric[...]) -> str:
    """Return the name of differences, with their better end, which is on the right."""
    better = {
        "higher": " (right of 0 is better)",
        "lower": " (lower is better: axis reversed)",
    }
    return f"difference in {metric}{better.get(metric.direction, '')}"


def _named(data: pl.DataFrame, *, by_pair: bool) -> pl.DataFrame:
    """Return differences with the names of their rows: a segment with its number of users, a pair of models, or a model."""
    has_segments = bool((data["segment"] != "").any())
    words = [pl.col("label")] * has_segments
    if by_pair:
        words.append(pl.format("{} - {}", "model", "baseline"))
    elif not has_segments:
        words.append(pl.col("model"))
    named = labelled(data).with_columns(row=pl.concat_str(words, separator=" · "))
    return named.drop("label")


class PlotsOfDifferences(Canvas):
    """The chart of a comparison."""

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
        result = self._rec.compare(
            *metrics,
            baseline=baseline,
            k=k,
            by=by,
            level=level,
            margin=margin,
            correction=correction,
            cluster=cluster,
        )
        compared = registry.asked(registry.each(metrics), k)
        how = Intervals(level, cluster)
        return self._differences(result, compared, how, baseline=baseline, margin=margin)

    def _differences(  # noqa: PLR0913  what is known of a result
        self,
        result: pl.DataFrame,
        metrics: Sequence[Metric[...]],
        how: Intervals,
        *,
        baseline: object,
        margin: float | None,
        models: Names | None = None,
        worst_first: bool = False,
    ) -> alt.LayerChart | alt.VConcatChart:
        """Draw a result of `compare`; with `models` each has the colour that it has in charts of all of them."""
        rec = self._rec
        models = models or models_in(rec, result)
        data = safe(keyed(rec, result))
        data = data.rename({"difference_low": "low", "difference_high": "high"})
        lower = metrics[0].direction == "lower"
        first = data.filter(metric=str(metrics[0]))
        sides = [
            first.select("model", "value"),
            first.select(model="baseline", value="baseline_value"),
        ]
        best = by_value(pl.concat(sides), lower=lower)
        of_all = None if baseline is None else safe_text(text_of(baseline))
        has_order = isinstance(models.dtype, pl.Enum)
        order = [*map(safe_text, models.order)] if has_order else best
        series = Series(models.order, self._look, best, of_all)
        data = in_front_of(data, order, of_all)
        columns = segment_columns(rec, result)
        own = has_own_order(result, *columns)
        of_first = pl.when(metric=str(metrics[0])).then("difference")
        own, turned = own and not worst_first, lower != worst_first
        data = in_order(data.with_columns(_first=of_first), "_first", own=own, lower=turned)
        size = pl.lit(margin, pl.Float64) * pl.col("baseline_value").abs()
        data = data.drop("_first").with_columns(margin_low=-size, margin_high=size)
        data = _named(data, by_pair=of_all is None)
        by = ", ".join(columns)
        drawn_of = Differences(data, metrics, series, of_all, by, margin)
        return drawn_of.chart(how)


def in_front_of(data: pl.DataFrame, order: Sequence[str], baseline: str | None) -> pl.DataFrame:
    """Return pairs in the order of their models."""
    places = dict(zip(order, range(len(order)), strict=True))
    names = ["model"] if baseline is not None else ["model", "baseline"]
    keys = [
        pl.col(one).replace_strict(places, default=None, return_dtype=pl.Int64) for one in names
    ]
    return data.sort(*keys, maintain_order=True)
