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
from recframe.look.themes import FONT, THEMES, Theme

WIDTH, LINE = 330, 21
"""Of the bars, in pixels; names stand beside them, so that a phone shows the whole at a size that can be read."""
OWN = alt.Color("own:N", legend=None, scale=alt.Scale(domain=[True, False]))
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


def speed() -> tuple[alt.Chart, str]:
    """Return seconds of contenders on one judged frame."""
    result = _stored(readme.RESULT)
    rows = [
        {"name": one["name"], "value": one["median"], "label": f"{one['median']:.2f} s"}
        for one in result["contenders"]
    ]
    eager = next(row["value"] for row in rows if row["name"] == "recframe, eager")
    slowest = max(rows, key=lambda row: row["value"])
    text = (
        f"Seconds of {len(rows)} ways to six metrics of {result['rows'][0]:,} rows, on a logarithmic scale: "
        f"recframe takes {eager:.2f}, the slowest, {slowest['name']}, {slowest['value']:.0f}"
    )
    return dots(rows, "seconds, on a logarithmic axis"), text


def apart() -> tuple[alt.Chart, str]:
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


def cases() -> tuple[alt.Chart, str]:
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


def large() -> tuple[alt.Chart, str]:
    """Return peak memory of runs on files."""
    result = _stored(readme.LARGE)
    roads = {
        "collect": "streaming",
        "4 parts": "rec.collect(parts=4)",
        "command line": "recframe evaluate",
    }
    rows = [
        {
            "rows": run["users"] * result["length"] / 1e6,
            "value": run["peak_bytes"] / 1e9,
            "road": roads.get(run["road"], run["road"]),
        }
        for run in result["runs"]
    ]
    most = max(rows, key=lambda row: (row["rows"], row["value"]))
    least = min(rows, key=lambda row: (-row["rows"], row["value"]))
    text = (
        f"Peak memory over the number of rows, a line for each way: at {most['rows']:.0f} million rows "
        f"{most['value']:.1f} GB by {most['road']} and {least['value']:.1f} GB by {least['road']}"
    )
    names = list(dict.fromkeys(row["road"] for row in rows))
    chart = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("rows:Q", title="million rows"),
        y=alt.Y("value:Q", title="peak memory, GB"),
        color=alt.Color("road:N", sort=names, title=None, legend=alt.Legend(orient="top")),
        shape=alt.Shape("road:N", sort=names, title=None),
    )
    line = chart.mark_line() + chart.mark_point(filled=True, size=60, opacity=1)
    return line.properties(width=WIDTH + 120, height=220), text


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


def svg(chart: alt.Chart, theme: Theme) -> str:
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
    return any(layer["encoding"].get("shape") for layer in spec["layer"])


def _stored(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def _path(name: str, ground: str) -> str:
    return f"charts/{name}-{ground}.svg"


CHARTS: dict[str, Callable[[], tuple[Any, str]]] = {
    "speed": speed,
    "cases": cases,
    "large": large,
    "apart": apart,
}
