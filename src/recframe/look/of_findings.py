"""The chart of an audit: its findings by size, in the colours of their severities."""

from __future__ import annotations

import polars as pl

from recframe.audit.data import SEVERITIES
from recframe.look.formatting import counted
from recframe.look.style import alt, drawn, finished, layered, lines, safe, tooltips
from recframe.look.themes import Look

STEP = 38
"""The height of a finding, in pixels."""
LEAST = 0.9
"""Where stems begin, on an axis of logarithms."""
SHAPES = ("triangle-up", "diamond", "circle")
TOLD = {
    **{f"{one}:N": one for one in ("check", "severity", "frame", "example")},
    "treatment:N": "what recframe does",
    "remedy:N": "remedy",
}


def audit(data: pl.DataFrame, look: Look) -> alt.LayerChart:
    """Return findings: check, severity, frame, rows, users, example, treatment, remedy, as `audit` has them."""
    data, n = _labelled(safe(data)), len(data)
    size = alt.X(
        "drawn:Q",
        title=lines("rows concerned (logarithmic)", look.width - 40),
        scale={"type": "log", "domainMin": LEAST, "padding": 4},
        axis={"format": "~s", "tickCount": 5, "grid": False},
    )
    told = tooltips({**TOLD, "rows:Q": ("rows", ",d"), "users:Q": ("users", ",d")})
    base = drawn(data).encode(y=alt.Y("place:O", axis=None), x=size, tooltip=told)
    colours, domain = look.colours.severities, list(SEVERITIES)
    found = [one for one in domain if one in data["severity"]]
    legend = alt.Legend(title=None, orient="top", symbolOpacity=1, values=found)
    scale = {"domain": domain, "range": [colours[one] for one in domain]}
    colour = alt.Color("severity:N", scale=scale, legend=legend)
    shapes = {"domain": domain, "range": list(SHAPES)}
    stems = base.mark_rule(strokeWidth=3).encode(x2=alt.X2Datum(LEAST), color=colour)
    dots = base.mark_point(filled=True, size=80, opacity=1).encode(
        color=colour, shape=alt.Shape("severity:N", scale=shapes, legend=legend)
    )
    words = base.mark_text(align="left", baseline="bottom", dy=-6, limit=look.width - 30)
    words = words.encode(x=alt.value(2), text="label:N")
    chart = layered(data, stems, dots, words, height=max(n, 1) * STEP + 16)
    if not n:
        nothing = "The audit finds nothing odd", "No row of any frame is concerned."
        return finished(chart, look, *nothing)
    subtitle = f"{counted(n, 'finding')} of the audit, the most severe first."
    return finished(chart, look, "Findings of the audit", subtitle)


def _labelled(data: pl.DataFrame) -> pl.DataFrame:
    """Return findings with what is written on each."""
    words = [counted(n, "row") for n in data["rows"]]
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
