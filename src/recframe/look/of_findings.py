"""The chart of an audit: its findings by size, in the colours of their severities."""

from __future__ import annotations

import polars as pl

from recframe.audit.data import SEVERITIES
from recframe.look.style import alt, drawn, finished, layered, lines, safe
from recframe.look.themes import Look

STEP = 38
"""The height of a finding, in pixels."""
LEAST = 0.9
"""Where stems begin, on an axis of logarithms."""
SHAPES = ("triangle-up", "diamond", "circle")
TOLD = {
    "check": "check",
    "severity": "severity",
    "frame": "frame",
    "example": "example",
    "treatment": "what recframe does",
    "remedy": "remedy",
}


def audit(data: pl.DataFrame, look: Look) -> alt.LayerChart:
    """Return findings: check, severity, frame, rows, users, example, treatment, remedy, as `audit` has them."""
    data, n = _labelled(safe(data)), len(data)
    base = _base(data, look)
    colours, domain = look.colours.severities, list(SEVERITIES)
    found = [one for one in domain if one in data["severity"]]
    legend = alt.Legend(title=None, orient="top", symbolOpacity=1, values=found)
    scale = alt.Scale(domain=domain, range=[colours[one] for one in domain])
    colour = alt.Color("severity:N", scale=scale, legend=legend)
    shapes = alt.Scale(domain=domain, range=list(SHAPES))
    stems = base.mark_rule(strokeWidth=3).encode(x2=alt.X2Datum(LEAST), color=colour)
    dots = base.mark_point(filled=True, size=80, opacity=1).encode(
        color=colour, shape=alt.Shape("severity:N", scale=shapes, legend=legend)
    )
    words = base.mark_text(align="left", baseline="bottom", dy=-6, limit=look.width - 30)
    words = words.encode(x=alt.value(2), text="label:N")
    chart = layered(data, stems, dots, words, height=max(n, 1) * STEP + 16)
    told = f"{n} finding{'' if n == 1 else 's'} of the audit, the most severe first."
    title = "Findings of the audit" if n else "The audit finds nothing odd"
    return finished(chart, look, title, told if n else "No row of any frame is concerned.")


def _labelled(data: pl.DataFrame) -> pl.DataFrame:
    """Return findings with what is written on each."""
    words = [f"{n:,} row{'' if n == 1 else 's'}" for n in data["rows"]]
    # some checks find something in each of several columns, which the examples name
    alone = pl.when(pl.struct("check", "frame").is_unique()).then("frame")
    column = pl.col("example").str.extract("(column .+)$").fill_null(pl.col("example"))
    where = alone.otherwise(pl.format("{}, {}", "frame", column))
    name = pl.col("check").str.replace_all("_", " ")
    return data.with_columns(
        place=pl.int_range(pl.len()),
        drawn=pl.max_horizontal("rows", 1),
        label=pl.format("{}: {} ({})", name, pl.Series(words, dtype=pl.String), where),
    )


def _base(data: pl.DataFrame, look: Look) -> alt.Chart:
    size = alt.X(
        "drawn:Q",
        title=lines("rows concerned (logarithmic)", look.width - 40),
        scale=alt.Scale(type="log", domainMin=LEAST, padding=4),
        axis=alt.Axis(format="~s", tickCount=5, grid=False),
    )
    base: alt.Chart = drawn(data).encode(
        y=alt.Y("place:O", axis=None),
        x=size,
        tooltip=[
            *(alt.Tooltip(f"{field}:N", title=title) for field, title in TOLD.items()),
            alt.Tooltip("rows:Q", title="rows", format=",d"),
            alt.Tooltip("users:Q", title="users", format=",d"),
        ],
    )
    return base
