"""Chart of a history: values over time, bands, changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from recframe.charts.chart_words import Fields, by_value, in_words, said_of
from recframe.charts.formatting import counted
from recframe.charts.long_format import has_own_order, one_metric, with_segments
from recframe.charts.segment_rows import in_order
from recframe.charts.style import (
    HEADING,
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
    safe,
    safe_text,
    spoken,
    tooltips,
)
from recframe.charts.themes import ALL, Look
from recframe.errors import ColumnError, RecframeError, shown, suggestion
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import parse
from recframe.tracking.changed_runs import CHANGED, FEWEST, OPEN
from recframe.tracking.changed_runs import changes as changes_of
from recframe.tracking.histories import OF_RUN

MOST = 6
"""Most segments in one chart."""
GAP = 2.5
"""In steps of which half of them are shorter: between runs further apart no line is drawn."""
HEIGHT, OF_SEGMENT = 260, 130
MOST_POINTS = 60
"""Most runs of a line with visible points."""
SHAPES = {"higher": "triangle-up", "lower": "triangle-down"}
A_HISTORY = "rf.history('history.parquet').rec.plot.timeline('ndcg@10')"
NUMBERS = {
    "low,high": "interval",
    "expected": "expected",
    "expected_low,expected_high": "expected interval",
}
"""The titles of numbers in a tooltip."""
Chart = alt.LayerChart | alt.VConcatChart
DRAWN = (
    *("segment", "model", "as_of", "stretch", "alone", "value", "low", "high", "n"),
    *("expected", "expected_low", "expected_high", "change", "n_runs", "verdict", "note"),
)
"""The columns that a chart holds."""


@dataclass(frozen=True)
class Lines:
    """Runs of a history, with the columns of `rf.changes`, as lines to draw."""

    keys: dict[str, str]
    """Columns of `judged` with segments and models, by their own names."""
    judged: pl.DataFrame
    model: str
    """Column of models, or ""."""
    window: int
    level: float

    @classmethod
    def of(cls, changes: pl.DataFrame, model: str, window: int, level: float) -> Lines:
        """Return the lines of the columns of `rf.changes`, with what each row was `split_by`."""
        names = changes.columns[: changes.columns.index("metric")]
        # some names are patterns to Polars
        keys = {name: f"key {place}" for place, name in enumerate(names) if name not in OF_RUN}
        there = [
            pl.when(pl.col(inside).is_not_null()).then(pl.lit(name))
            for name, inside in keys.items()
        ]
        split = pl.concat_str(there or [pl.lit("")], separator=", ", ignore_nulls=True)
        rows = changes.rename(keys).with_columns(split_by=pl.when(split != "").then(split))
        return cls(keys, rows, model, window, level)

    def splits_of(self, metric: str) -> list[list[str]]:
        """Return the columns that the numbers of a metric were split by, but models: those of few columns first."""
        rows = self.judged.filter(pl.col("metric") == metric)
        found = {tuple(self._columns(one)) for one in rows["split_by"].unique()}
        return sorted(map(list, found), key=lambda one: (len(one), one))

    def chart(self, metric: str, split: Sequence[str], look: Look, most: int = MOST) -> Chart:
        """Return the chart of a metric, by segment where it is split."""
        every = self._of_split(self.judged.filter(pl.col("metric") == metric), split)
        sizes = every.group_by("segment", maintain_order=True).agg(pl.col("n").max())
        sizes = sizes.sort("n", descending=True, nulls_last=True, maintain_order=True)
        shown_segments = sizes.head(most)["segment"]
        data = every.filter(pl.col("segment").is_in(shown_segments.implode()))
        names = data.sort("order", "model", nulls_last=True)["model"].unique(maintain_order=True)
        metric_in_use = metric_of(metric)
        lower = metric_in_use is not None and metric_in_use.direction == "lower"
        data = data.sort("order", "model", "as_of", maintain_order=True)
        data = in_order(data, own=bool(data["has_own_order"].any()), lower=lower)
        told = self._told(data)
        if len(sizes) > most:
            told += f" {most} of {len(sizes):,} segments, those with the most users."
        latest = data.filter(pl.col("as_of") == pl.col("as_of").max())
        series = Series(names.to_list(), look, by_value(safe(latest), lower=lower))
        told += series.words
        return Timeline(_in_stretches(data), series, metric, split).chart(told)

    def _columns(self, split_by: str | None) -> list[str]:
        """Return the columns that a result was split by, but the one of models."""
        return sorted({*(split_by or "").split(", ")} - {self.model, ""})

    def _of_split(self, found: pl.DataFrame, split: Sequence[str]) -> pl.DataFrame:
        """Return the numbers that were split by some columns alone, with their models and segments as text."""
        columns = {one: self._columns(one) for one in found["split_by"].unique().sort()}
        kept = [one for one, of in columns.items() if of == self._columns(", ".join(split))]
        if not kept:
            raise RecframeError(_no_such_split(split, [*columns.values()]))
        rows = found.filter(pl.col("split_by").is_in(kept, nulls_equal=True))
        model = [self.keys[self.model]] if self.model in self.keys else []
        names = [*model, *(["name"] if rows["name"].n_unique() > 1 else [])]
        texts = [pl.col(name).cast(pl.String) for name in names]
        who = pl.concat_str(texts or pl.lit(ALL), separator=" · ", ignore_nulls=True)
        keys = [self.keys[name] for name in split]
        rows = rows.sort(keys, nulls_last=True, maintain_order=True) if keys else rows
        return with_segments(rows, keys).with_columns(
            order=pl.col(model[0]).rank("dense") if model else pl.lit(0),
            model=who.replace("", ALL),
            has_own_order=pl.lit(bool(keys) and has_own_order(rows, *keys)),
        )

    def _told(self, data: pl.DataFrame) -> str:
        """Return the description of the chart, in words."""
        bands = "Bands: intervals of the numbers. " if data["low"].count() else ""
        n_judged = data.filter(pl.col("verdict") != OPEN).height
        if not data["expected"].count():
            return f"{bands}Too few runs to say what is expected: {FEWEST} are needed."
        n = data.filter(verdict=CHANGED).height
        flags = f"{n:,} changed (triangles)" if n else "none changed"
        return (
            f"{bands}Thin lines: the band of up to {self.window} runs before, at {self.level * 100:.6g} %; of {n_judged:,} "
            f"judged, {flags}."
        )


def lines_of(rec: Any, window: int, level: float) -> Lines:
    """Return the runs of a frame that is a history, with the columns of `rf.changes`."""
    kind = rec._kind  # noqa: SLF001  the methods of this room are those of a Rec
    for missing in (one for one in ("as_of", "metric", "value") if one not in kind.columns):
        msg = f"plot.timeline draws a history, {A_HISTORY}; found a frame without the column {missing!r}"
        raise ColumnError(msg)
    model = rec._context.model or "model"  # noqa: SLF001
    return Lines.of(changes_of(kind.frame, window=window, level=level), model, window, level)


def metric_of(text: str) -> Metric[...] | None:
    """Return the metric of a text, None where it is one of the user's own that is not there now."""
    try:
        return parse(text)
    except RecframeError:
        return None


def name_of(found: pl.DataFrame, metric: str | Metric[...], k: Any) -> str:
    """Return a metric's name in the history, users' own metrics included, or raise an error without it."""
    names = found["metric"].unique().sort().to_list()
    if isinstance(metric, str) and metric in names:
        return metric
    name = str(one_metric("timeline()", metric, k))
    if name not in names:
        close = suggestion(name, names) or f"; it has {', '.join(names) or 'no numbers'}"
        msg = f"the history has nothing of {name!r}{close}"
        raise RecframeError(msg)
    return name


def _no_such_split(split: Sequence[str], others: Sequence[Sequence[str]]) -> str:
    asked = f"split by {', '.join(map(repr, split))}" if split else "of all users"
    calls_of = [
        f"by={shown(other[0] if len(other) == 1 else list(other))}" if other else "no by"
        for other in others
    ]
    return f"the history has no such number {asked}; draw those that it has, with {' or '.join(calls_of)}"


def _in_stretches(data: pl.DataFrame) -> pl.DataFrame:
    """Return numbers with the stretch that each is in: a line ends where the next run is far away, or has no value."""
    line = ["segment", "model"]
    step = pl.col("as_of").cast(pl.Datetime("us")).diff().dt.total_microseconds().over(line)
    data = data.with_columns(step=step)
    # NOTE: column by column, since Polars 1 allows no window in another
    data = data.with_columns(usual=pl.col("step").median().over(line))
    far = pl.col("step") > GAP * pl.col("usual")
    begins = far.fill_null(value=False) | pl.col("value").is_null()
    data = data.with_columns(stretch=begins.cast(pl.Int64).cum_sum().over(line))
    return data.with_columns(alone=pl.len().over(*line, "stretch") == 1)


@dataclass(frozen=True)
class Timeline:
    """The drawing of lines: of all data are their axes."""

    rows: pl.DataFrame
    series: Series
    name: str
    by: Sequence[str]

    def chart(self, told: str) -> Chart:
        """Return the chart, a view for each segment."""
        side = pl.when(pl.col("change") > 0).then(pl.lit("higher")).otherwise(pl.lit("lower"))
        data = safe(self.rows.select(*DRAWN, flag=pl.when(verdict=CHANGED).then(side)))
        data, fields = in_words(self.series.in_front(data), self._fields)
        look, title = self.series.look, f"{self.name} over time"
        words: dict[str, Any] = {"empty": is_bare(data, "value"), "finding": self._finding}
        words["numbers"] = self._numbers
        tooltip = tooltips(fields)
        if not self.by:
            return finished(self._panel(data, HEIGHT, tooltip), look, title, told, **words)
        views = []
        for (segment,), rows in data.group_by("segment", maintain_order=True):
            n: Any = rows["n"].max()
            users = "" if n is None else f" ({int(n):,})"
            text = lines(f"{segment}{users}", look.width * 0.8)
            above = alt.TitleParams(text=text, color=look.colours.quiet, **HEADING)
            panel = self._panel(rows, OF_SEGMENT, tooltip)
            views.append(panel.properties(width=inner_width(look), title=above))
        whole = alt.vconcat(*views, spacing=14)
        return finished(whole, look, f"{title}, by {', '.join(self.by)}", told, **words)

    @property
    def _finding(self) -> str:
        """The number of changed runs, of those that were judged, and the latest of them."""
        judged_runs = self.rows.filter(pl.col("verdict") != OPEN)
        found = judged_runs.filter(verdict=CHANGED)
        if not len(found):
            return f"{self.name}: every run is as before" if len(judged_runs) else ""
        latest: Any = found["as_of"].max()
        return f"{self.name}: {counted(len(found), 'run')} changed, the latest of {latest:%Y-%m-%d}"

    @property
    def _numbers(self) -> list[str]:
        """The latest values, for an alternative text."""
        is_latest = pl.col("as_of") == pl.col("as_of").max().over("segment", "model")
        rows = self.rows.filter(is_latest).with_columns(label="segment")
        said = said_of(rows, "value", self._kind)
        return [f"Latest: {said[0]}", *said[1:]] if said else []

    @property
    def _kind(self) -> str:
        metric = metric_of(self.name)
        return number_format(metric) if metric else ",.4~f"

    @property
    def _fields(self) -> Fields:
        """The fields of a run's tooltip: its number, what is expected of it, and whether it changed."""
        fields: dict[str, Any] = {"segment:N": spoken(", ".join(self.by))} if self.by else {}
        fields["as_of:T"] = ("as of", self._format_of_times)
        fields["value:Q"] = (spoken(safe_text(self.name)), self._kind)
        fields |= {f"{field}:Q": (title, self._kind) for field, title in NUMBERS.items()}
        fields |= {f"{one}:N": one for one in ("verdict", "note")}
        fields["n:Q"] = ("users", ",d")
        return self.series.told(fields)

    @property
    def _format_of_times(self) -> str:
        times = self.rows["as_of"].cast(pl.Datetime("us"))
        are_days = (times == times.dt.truncate("1d")).all()
        return "%Y-%m-%d" if are_days else "%Y-%m-%d %H:%M"

    def _panel(self, data: pl.DataFrame, height: int, tooltip: list[Any]) -> alt.LayerChart:
        """Return one view."""
        series, colour, stretch = self.series, self.series.colour(), alt.Detail("stretch:N")
        channels = {**self._channels(height), "tooltip": tooltip}
        base = drawn(data).encode(**channels)
        alone = drawn(data.filter("alone")).encode(**channels)
        along: dict[str, Any] = {"color": colour, "detail": stretch, "order": "as_of:T"}
        title = self._title(height)
        low, high = alt.Y("low:Q", title=title), alt.Y2("high:Q", title=title)
        shown = base.transform_filter(series.is_coloured) if series.others else base
        band = shown.mark_area(opacity=0.16)
        band = band.encode(y=low, y2=high, color=colour, detail=stretch)
        # where a band has no width
        bars = alone.mark_rule(strokeWidth=2, opacity=0.5)
        bars = bars.encode(y=low, y2=high, color=colour)
        thin = shown.mark_line(strokeWidth=1, opacity=0.75, interpolate="step")
        thin = thin.encode(strokeDash=alt.StrokeDashValue([2, 2]), **along)
        ends = [thin.encode(y=f"expected_{end}:Q") for end in ("low", "high")]
        line = base.mark_line(strokeWidth=2).encode(**along)
        if series.others:
            line = line.encode(strokeWidth=series.widths)
        has_few = self.rows["as_of"].n_unique() <= MOST_POINTS
        seen = None if has_few else alt.FieldEqualPredicate(field="alone", equal=True)
        colours = series.look.colours
        triangle: dict[str, Any] = {"fill": colours.warning, "stroke": colours.ink}
        triangle |= {"filled": True, "size": 150, "opacity": 1, "strokeWidth": 1.5}
        flags = [
            drawn(data.filter(flag=side)).encode(**channels).mark_point(shape=shape, **triangle)
            for side, shape in SHAPES.items()
        ]
        bands = [band, bars] if series.has_bands else []
        dots = series.points(base, 30, seen)
        return layered(data, *bands, *ends, line, dots, *flags, height=height)

    def _title(self, height: int) -> list[str]:
        metric = metric_of(self.name)
        # a user's own metric may not be registered now
        if metric is None:
            return lines(self.name, height)
        return axis_title(metric, self.series.look, length=height)

    def _channels(self, height: int) -> dict[str, Any]:
        """Return the axes: that of values has all intervals and all predictions."""
        whole, look = self.rows, self.series.look
        ticks = max(look.width // 90, 2)
        axis: dict[str, Any] = {"grid": False, "tickCount": ticks, "labelOverlap": True}
        if whole["as_of"].n_unique() == 1:
            axis["format"] = self._format_of_times
        numbers = whole.select("value", "low", "high", "expected_low", "expected_high")
        low = numbers.min().min_horizontal()[0] or 0.0
        high = numbers.max().max_horizontal()[0]
        high = 1.0 if high is None else high
        domain = [low, high] if low < high else [low - 0.05, high + 0.05]
        scale = {"zero": False, "padding": 8, "domain": domain}
        return {
            "x": alt.X("as_of:T", title=None, axis=axis, scale={"padding": 8}),
            "y": alt.Y("value:Q", title=self._title(height), scale=scale),
        }
