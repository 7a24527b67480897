"""Draws the charts of the page of benchmarks from what its runs stored, in light and dark, each with a text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import altair as alt
import project  # noqa: F401  it says where readme is
import vl_convert

import readme
from recframe.charts.themes import FONT, THEMES, Theme

GROWING = ("rows", "k", "metrics", "cut-offs", "models")
FEWEST_TICKS = 3
LINEAR = "#808080"
"""Of the line that is linear, on either ground."""
WIDTH, LINE = 330, 21
"""Of the bars, in pixels; names stand beside them, so that a phone shows the whole at a size that can be read."""
OWN = alt.Color("own:N", legend=None, scale=alt.Scale(domain=[True, False]))
Chart = alt.LayerChart | alt.VConcatChart
SEEN = {"light": "only-light", "dark": "only-dark"}
"""The anchors by which the theme shows a picture in one of its two grounds alone."""


def pages() -> dict[str, str]:
    """Return the charts as pictures."""
    return {
        _path(name, ground): svg(chart()[0], THEMES[ground])
        for name, chart in CHARTS.items()
        for ground in ("light", "dark")
    }


def shown(name: str) -> str:
    """Return a chart as a page shows it: one picture for each ground, with the same text."""
    text = CHARTS[name]()[1]
    return "\n".join(
        f"![{text}]({_path(name, ground)}#{anchor})" for ground, anchor in SEEN.items()
    )


def speed() -> tuple[alt.LayerChart, str]:
    """Return seconds of contenders on one judged frame."""
    result = _stored(readme.RESULT)
    rows = [
        {"name": one["name"], "value": one["median"], "label": f"{one['median']:.2f} s"}
        for one in result["contenders"]
    ]
    eager = next(row["value"] for row in rows if row["name"] == "recframe, eager")
    slowest = max(rows, key=lambda row: row["value"])
    text = (
        f"Seconds of {len(rows)} ways to six metrics of {result['rows']:,} rows, on a logarithmic scale: "
        f"recframe takes {eager:.2f}, the slowest, {slowest['name']}, {slowest['value']:.0f}"
    )
    return dots(rows, "seconds, on a logarithmic axis"), text


def apart() -> tuple[alt.LayerChart, str]:
    """Return seconds of libraries from two Polars frames."""
    case = _stored(readme.APART)["cases"][0]
    rows = [
        {"name": one["name"], "value": one["ratio"], "label": f"{one['ratio']:.1f} x"}
        for one in case["contenders"]
    ]
    others = sorted((row["value"], row["name"]) for row in rows if row["name"] != "recframe")
    text = (
        f"The time of other libraries as a multiple of recframe's, on a logarithmic scale: from {others[0][0]:.1f} "
        f"({others[0][1]}) to {others[-1][0]:.0f} ({others[-1][1]})"
    )
    return dots(rows, "times recframe's time, on a logarithmic axis"), text


def cases() -> tuple[alt.LayerChart, str]:
    """Return seconds of pieces of work."""
    result = _stored(readme.CASES)
    rows = [
        {
            "name": one["work"],
            "value": one["seconds"] * 1000,
            "label": f"{one['seconds'] * 1000:.3g} ms",
            "own": True,
        }
        for one in result["cases"]
    ]
    most = max(rows, key=lambda row: row["value"])
    text = f"Milliseconds of {len(rows)} pieces of work; the longest, {most['name']}, takes {most['value']:.0f}"
    return bars(rows, "milliseconds"), text


def large() -> tuple[alt.LayerChart, str]:
    """Return CPU seconds of the ways to read files, by their layout."""
    result = _stored(readme.LARGE)
    rows = [
        {"layout": run["layout"], "way": run["way"], "value": run["cpu_seconds"]}
        for run in result["runs"]
        if "cpu_seconds" in run
    ]
    buckets = {row["layout"]: row["value"] for row in rows if row["way"] == "buckets"}
    most = max(buckets, key=lambda layout: buckets[layout])
    text = (
        f"CPU seconds of one plan, of buckets within {result['memory']} and of DuckDB's SQL on {len(buckets)} layouts of "
        f"files: buckets take from {min(buckets.values()):.1f} to {buckets[most]:.1f} seconds ({most})"
    )
    names = list(dict.fromkeys(row["way"] for row in rows))
    chart = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("value:Q", title="CPU seconds", scale=alt.Scale(zero=True)),
        y=alt.Y("layout:N", title=None, sort=list(buckets)),
        color=alt.Color("way:N", sort=names, title=None, legend=alt.Legend(orient="top")),
        shape=alt.Shape("way:N", sort=names, legend=None),
    )
    line = chart.mark_line(color=LINEAR).encode(
        color=alt.value(LINEAR), shape=alt.Undefined, detail="layout:N"
    )
    points = chart.mark_point(filled=True, size=70, opacity=1)
    return (line + points).properties(width=WIDTH, height=len(buckets) * LINE * 1.4), text


def growth() -> tuple[alt.VConcatChart, str]:
    """Return a panel for each size that grows, time over it, both axes logarithmic."""
    lines = _stored(readme.GROWTH)["lines"]
    rows = [
        {"axis": line["axis"], "frames": line["name"], **point}
        for line in lines
        for point in line["points"]
    ]
    steepest = max((line["steepest"] for line in lines), key=lambda part: part["slope"])
    points = next(line["points"] for line in lines if line["axis"] == "rows")
    first, last = points[0], points[-1]
    text = (
        f"Seconds over the size, a panel for each of {', '.join(GROWING)}, both axes logarithmic, beside a dashed line that is "
        f"linear: the steepest part has a slope of {steepest['slope']:.2f}. One frame of {first['size']:,} to {last['size']:,} "
        f"rows takes {first['minimum']:.2g} to {last['minimum']:.2g} seconds"
    )
    wide, *others = (_panel(rows, axis) for axis in GROWING)
    pairs = [alt.hconcat(*others[at : at + 2], spacing=24) for at in range(0, len(others), 2)]
    return alt.vconcat(wide.properties(width=WIDTH + 82), *pairs, spacing=18), text


def _panel(rows: list[dict[str, Any]], axis: str) -> alt.LayerChart:
    """Return the lines of one axis; all panels have the same seconds."""
    own = [row for row in rows if row["axis"] == axis]
    names = list(dict.fromkeys(row["frames"] for row in rows))
    least, most = (
        min(row["minimum"] for row in rows) / 1.5,
        max(row["minimum"] for row in rows) * 1.5,
    )
    y_scale = alt.Scale(type="log", domain=[least, most], nice=False)
    y_axis = alt.Axis(values=[10.0**power for power in range(-3, 3)], format="~g", grid=True)
    x = _sizes(sorted({row["size"] for row in own}), axis)
    y = alt.Y("minimum:Q", title="seconds", scale=y_scale, axis=y_axis)
    base = alt.Chart(alt.Data(values=own)).encode(
        x=x,
        y=y,
        color=alt.Color("frames:N", sort=names, title=None, legend=alt.Legend(orient="top")),
        shape=alt.Shape("frames:N", sort=names, legend=None),
    )
    dashed = alt.Chart(alt.Data(values=_linear(own, least))).encode(x=x, y=y)
    dashed = dashed.mark_line(strokeDash=[4, 4], strokeWidth=1, color=LINEAR)
    lines = dashed + base.mark_line() + base.mark_point(filled=True, size=40, opacity=1)
    return lines.properties(width=WIDTH // 2, height=150)


def _sizes(sizes: list[int], title: str) -> alt.X:
    """Return the axis of what grows: powers of ten, or where these are few the sizes themselves."""
    powers = [10**power for power in range(8) if sizes[0] <= 10**power <= sizes[-1]]
    axis = alt.Axis(values=powers if len(powers) >= FEWEST_TICKS else sizes, format="~s")
    scale = alt.Scale(type="log", domain=[sizes[0], sizes[-1]], nice=False)
    return alt.X("size:Q", title=title, scale=scale, axis=axis)


def _linear(own: list[dict[str, Any]], least: float) -> list[dict[str, Any]]:
    """Return the ends of a line that is linear and meets the last point of the first line."""
    last = [row for row in own if row["frames"] == own[0]["frames"]][-1]
    a_piece = last["minimum"] / last["size"]
    start = max(min(row["size"] for row in own), least / a_piece)
    return [{"size": size, "minimum": size * a_piece} for size in (start, last["size"])]


def dots(rows: list[dict[str, Any]], title: str) -> alt.LayerChart:
    """Return a dot for each way, on a logarithmic axis, which has no place where bars could begin."""
    least, most = min(row["value"] for row in rows), max(row["value"] for row in rows)
    powers = [10.0**power for power in range(-3, 4) if least / 10 < 10.0**power < most * 10]
    scale = alt.Scale(type="log", domain=[least / 1.5, most * 3], nice=False)
    axis = alt.Axis(values=powers, format="~g")
    base = _named(rows).encode(x=alt.X("value:Q", title=title, scale=scale, axis=axis))
    return _labelled(base, base.mark_circle(size=110, opacity=1).encode(color=OWN), rows)


def bars(rows: list[dict[str, Any]], title: str) -> alt.LayerChart:
    """Return a bar for each piece of work."""
    scale = alt.Scale(domain=[0, max(row["value"] for row in rows) * 1.25], nice=False)
    axis = alt.Axis(labels=False, ticks=False, grid=False)
    base = _named(rows).encode(x=alt.X("value:Q", title=title, scale=scale, axis=axis))
    return _labelled(base, base.mark_bar(height=14).encode(color=OWN), rows)


def _named(rows: list[dict[str, Any]]) -> alt.Chart:
    """Return what both have: rows in their order, those of recframe told apart."""
    values = [{"own": row["name"].startswith("recframe"), **row} for row in rows]
    axis = alt.Axis(labelLimit=260, ticks=False)
    names = alt.Y("name:N", sort=[row["name"] for row in rows], title=None, axis=axis)
    return alt.Chart(alt.Data(values=values)).encode(y=names)


def _labelled(base: alt.Chart, marks: alt.Chart, rows: list[dict[str, Any]]) -> alt.LayerChart:
    labels = base.mark_text(align="left", dx=8).encode(text="label:N")
    return (marks + labels).properties(width=WIDTH, height=LINE * len(rows))


def svg(chart: Chart, theme: Theme) -> str:
    """Return a chart as a picture on the ground of a page."""
    ink = {"labelColor": theme.ink, "titleColor": theme.quiet, "labelFont": FONT, "titleFont": FONT}
    text = {**ink, "labelFontSize": 13, "titleFontSize": 12, "titleFontWeight": "normal"}
    spec = chart.to_dict(validate=False)
    spec["background"] = None
    spec["config"] = {
        "view": {"stroke": None},
        "axis": {**text, "gridColor": theme.grid, "domain": False, "tickColor": theme.grid},
        "axisY": {"grid": False},
        "legend": text,
        "text": {"color": theme.ink, "font": FONT, "fontSize": 12},
        "range": {
            "category": [
                theme.models[0],
                *(theme.models[1:] if _is_of_series(spec) else [theme.quiet]),
            ]
        },
    }
    return vl_convert.vegalite_to_svg(spec)


def _is_of_series(spec: Mapping[str, Any]) -> bool:
    """Tell whether colours stand for series, and not for what is recframe's own."""
    parts = [*spec.get("layer", []), *spec.get("vconcat", []), *spec.get("hconcat", [])]
    return "shape" in spec.get("encoding", {}) or any(map(_is_of_series, parts))


def _stored(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def _path(name: str, ground: str) -> str:
    return f"charts/{name}-{ground}.svg"


CHARTS: dict[str, Callable[[], tuple[Chart, str]]] = {
    "speed": speed,
    "cases": cases,
    "growth": growth,
    "large": large,
    "apart": apart,
}
