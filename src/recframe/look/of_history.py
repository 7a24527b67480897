"""The chart of a history: numbers of runs over time, what the runs before predict of them, and which are flagged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from recframe.look.style import (
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
)
from recframe.look.themes import Look
from recframe.metrics.language.definition import Metric

HEIGHT, OF_SEGMENT = 260, 130
MOST_POINTS = 60
"""Lines of more runs have no points drawn on them."""
SHAPES = {"higher": "triangle-up", "lower": "triangle-down"}


@dataclass(frozen=True)
class Timeline:
    """Which numbers are drawn, and in what words."""

    name: str
    metric: Metric[...] | None
    """None for one of the user's own that is not there now."""
    by: Sequence[str]
    window: int
    level: float
    n_segments: int
    """How many there are, drawn or not."""

    def axis(self, series: Series, height: float) -> list[str]:
        """Return what the numbers are."""
        if self.metric is None:
            return lines(self.name, height)
        return axis_title(self.metric, series.look, length=height)

    @property
    def kind(self) -> str:
        """How numbers are written."""
        return ",.4~f" if self.metric is None else number_format(self.metric)


def timeline(
    data: pl.DataFrame, series: Series, how: Timeline
) -> alt.LayerChart | alt.VConcatChart:
    """Return numbers over time: segment, model, as_of, stretch, alone, and the columns of `changes`."""
    data = safe(_prepared(data))
    panels = data["segment"].unique(maintain_order=True).to_list()
    empty = is_bare(data, "value")
    title, told = f"{how.name} over time", _told(data, how)
    if len(panels) <= 1 and not how.by:
        chart = _panel(data, series, how, data, HEIGHT)
        return finished(chart, series.look, title, told, empty=empty)
    width = inner_width(series.look)
    views = [
        _panel(data.filter(pl.col("segment") == one), series, how, data, OF_SEGMENT).properties(
            width=width, title=_heading(one, series)
        )
        for one in panels
    ]
    whole = alt.vconcat(*views, spacing=14)
    return finished(whole, series.look, f"{title}, by {', '.join(how.by)}", told, empty=empty)


def _heading(segment: str, series: Series) -> alt.TitleParams:
    return alt.TitleParams(
        text=lines(segment, series.look.width * 0.8),
        anchor="start",
        fontSize=12,
        fontWeight="normal",
        color=series.look.colours.quiet,
        offset=4,
    )


def _told(data: pl.DataFrame, how: Timeline) -> str:
    """Return what is drawn, in words."""
    parts = []
    if data["value_low"].count():
        parts.append("Bands: intervals of the numbers.")
    judged = data["flagged"].count()
    if judged:
        n = int(data["flagged"].sum())
        flags = f"{n:,} {'is' if n == 1 else 'are'} flagged (triangles)" if n else "none is flagged"
        parts.append(
            f"Thin lines: what up to {how.window} runs before predict, at {how.level * 100:.6g} % for all numbers of a run; "
            f"of {judged:,} judged, {flags}."
        )
    else:
        parts.append(f"Too few runs to say what is expected: half of {how.window} are needed.")
    shown = data["segment"].n_unique()
    if shown < how.n_segments:
        parts.append(f"{shown} of {how.n_segments:,} segments, those with the most users.")
    return " ".join(parts)


def _prepared(data: pl.DataFrame) -> pl.DataFrame:
    """Return the columns that are drawn, with which side of what is expected a flagged number lies on."""
    side = pl.when(pl.col("change") > 0).then(pl.lit("higher")).otherwise(pl.lit("lower"))
    flag = pl.when("flagged").then(side)
    chosen = ["segment", "model", "as_of", "stretch", "alone", "value", "value_low", "value_high"]
    rest = ["expected", "expected_low", "expected_high", "change", "n_runs", "flagged", "verdict"]
    return data.select(*chosen, *rest, "rule", "note", "n_users", flag=flag)


def _panel(
    data: pl.DataFrame, series: Series, how: Timeline, whole: pl.DataFrame, height: int
) -> alt.LayerChart:
    """Return one view; its axes are those of all data."""
    base = _base(data, series, how, whole, height)
    of_line = alt.Detail("stretch:N")
    band = base.mark_area(opacity=0.16).encode(
        y=alt.Y("value_low:Q", title=how.axis(series, height)),
        y2="value_high:Q",
        color=series.colour(),
        detail=of_line,
    )
    ends = [_end(base, series, of_line, one) for one in ("expected_low", "expected_high")]
    line = base.mark_line(strokeWidth=2).encode(
        color=series.colour(), strokeDash=series.dash(), detail=of_line, order="as_of:T"
    )
    marks = [band, _bars(data, series, how, whole, height), *ends, line]
    points = _points(base, data, series, how, whole, height)
    return layered(data, *marks, *points, height=height)


def _end(base: alt.Chart, series: Series, of_line: alt.Detail, name: str) -> alt.Chart:
    """Return one end of what is expected, as a thin line."""
    thin = base.mark_line(strokeWidth=1, opacity=0.75, interpolate="step", clip=True)
    end: alt.Chart = thin.encode(
        y=f"{name}:Q",
        color=series.colour(),
        strokeDash=alt.StrokeDashValue([2, 2]),
        detail=of_line,
        order="as_of:T",
    )
    return end


def _bars(
    data: pl.DataFrame, series: Series, how: Timeline, whole: pl.DataFrame, height: int
) -> alt.Chart:
    """Return the intervals of runs that stand alone, where a band has no width."""
    alone = _base(data.filter("alone"), series, how, whole, height)
    bars: alt.Chart = alone.mark_rule(strokeWidth=2, opacity=0.5).encode(
        y="value_low:Q", y2="value_high:Q", color=series.colour()
    )
    return bars


def _points(
    base: alt.Chart,
    data: pl.DataFrame,
    series: Series,
    how: Timeline,
    whole: pl.DataFrame,
    height: int,
) -> list[alt.Chart]:
    """Return the runs to point at, and those that are flagged: a triangle up or down, in a colour of its own."""
    few = whole["as_of"].n_unique() <= MOST_POINTS
    alone = alt.condition(alt.datum.alone, alt.value(1.0), alt.value(1.0 if few else 0.0))
    dots = base.mark_point(filled=True, size=30).encode(
        color=series.colour(),
        shape=series.shape(),
        strokeDash=alt.StrokeDashValue([]),
        opacity=alone,
    )
    colours = series.look.colours
    triangles = [
        _base(data.filter(pl.col("flag") == side), series, how, whole, height).mark_point(
            filled=True,
            shape=shape,
            size=150,
            opacity=1,
            fill=colours.severities["warning"],
            stroke=colours.ink,
            strokeWidth=1.5,
        )
        for side, shape in SHAPES.items()
    ]
    return [dots, *triangles]


def _base(
    data: pl.DataFrame, series: Series, how: Timeline, whole: pl.DataFrame, height: int
) -> alt.Chart:
    base: alt.Chart = drawn(data).encode(
        x=alt.X(
            "as_of:T",
            title=None,
            axis=_time_axis(whole, series.look),
            scale=alt.Scale(padding=8),
        ),
        y=alt.Y(
            "value:Q",
            title=how.axis(series, height),
            scale=alt.Scale(zero=False, padding=8, domain=_up(whole)),
        ),
        tooltip=_tooltips(series, how, whole),
    )
    return base


def _tooltips(series: Series, how: Timeline, whole: pl.DataFrame) -> list[alt.Tooltip]:
    """Return what is told of a run: its number, what is expected of it, and by which rule it is flagged."""
    numbers = {
        "value": spoken(safe_text(how.name)),
        "value_low": "low",
        "value_high": "high",
        "expected": "expected",
        "expected_low": "expected from",
        "expected_high": "expected up to",
    }
    words = ("verdict", "rule", "note")
    by = [alt.Tooltip("segment:N", title=spoken(", ".join(how.by)))] if how.by else []
    return series.tooltips(
        *by,
        alt.Tooltip("as_of:T", title="as of", format=_time_format(whole)),
        *(alt.Tooltip(f"{name}:Q", title=one, format=how.kind) for name, one in numbers.items()),
        *(alt.Tooltip(f"{name}:N", title=name) for name in words),
        alt.Tooltip("n_users:Q", title="users", format=",d"),
    )


def _time_format(data: pl.DataFrame) -> str:
    """Return how times are written: as days, where all of them are."""
    times = data["as_of"].cast(pl.Datetime("us"))
    return "%Y-%m-%d" if (times == times.dt.truncate("1d")).all() else "%Y-%m-%d %H:%M"


def _time_axis(data: pl.DataFrame, look: Look) -> alt.Axis:
    """Return the axis of time; of one run it has that one's."""
    one: dict[str, Any] = {"format": _time_format(data)} if data["as_of"].n_unique() == 1 else {}
    return alt.Axis(grid=False, tickCount=max(look.width // 90, 2), labelOverlap=True, **one)


def _up(data: pl.DataFrame) -> Any:
    """Return the ends of the numbers; those of intervals and of what is expected, as far as they are no outliers."""
    numbers = ["value", "value_low", "value_high"]
    found = [data[one].drop_nulls() for one in numbers]
    low = min((float(one.min()) for one in found if len(one)), default=0.0)  # type: ignore[arg-type]
    high = max((float(one.max()) for one in found if len(one)), default=1.0)  # type: ignore[arg-type]
    return [low, high] if low < high else [low - 0.05, high + 0.05]
