"""The chart of an audit: its findings by size, in the colours of their severities."""

from __future__ import annotations

import polars as pl

from recframe.audit.rule import SEVERITIES
from recframe.look.style import alt, drawn, finished, layered, lines, safe
from recframe.look.themes import Look

STEP = 38
"""The height of a finding, in pixels."""


def audit(data: pl.DataFrame, look: Look) -> alt.LayerChart:
    """Return findings: check, severity, frame, rows, users, example, treatment, remedy, as `audit` has them."""
    rows = pl.when(pl.col("rows") == 1).then(pl.lit("row")).otherwise(pl.lit("rows"))
    data = safe(data).with_columns(
        place=pl.int_range(pl.len()),
        drawn=pl.max_horizontal("rows", 1),
        label=pl.format(
            "{} ({}): {} {}", pl.col("check").str.replace_all("_", " "), "frame", "rows", rows
        ),
    )
    colours = look.colours.severities
    scale = alt.Scale(domain=list(SEVERITIES), range=[colours[one] for one in SEVERITIES])
    shown = {"check": "check", "severity": "severity", "frame": "frame", "example": "example"}
    shown |= {"treatment": "what recframe does", "remedy": "remedy"}
    base = drawn(data).encode(
        y=alt.Y("place:O", axis=None),
        x=alt.X(
            "drawn:Q",
            title=lines("rows concerned (logarithmic)", look.width - 40),
            scale=alt.Scale(type="log", domainMin=0.9, padding=4),
            axis=alt.Axis(format="~s", tickCount=5),
        ),
        tooltip=[
            *(alt.Tooltip(f"{field}:N", title=title) for field, title in shown.items()),
            alt.Tooltip("rows:Q", title="rows", format=",d"),
            alt.Tooltip("users:Q", title="users", format=",d"),
        ],
    )
    legend = alt.Legend(title=None, orient="top")
    stems = base.mark_rule(strokeWidth=3).encode(
        x2=alt.datum(0.9), color=alt.Color("severity:N", scale=scale, legend=None)
    )
    dots = base.mark_point(filled=True, size=80, opacity=1).encode(
        color=alt.Color("severity:N", scale=scale, legend=legend),
        shape=alt.Shape(
            "severity:N",
            scale=alt.Scale(domain=list(SEVERITIES), range=["triangle-up", "diamond", "circle"]),
            legend=legend,
        ),
    )
    words = base.mark_text(align="left", baseline="bottom", dy=-6).encode(
        x=alt.value(2), text="label:N"
    )
    n = len(data)
    chart = layered(data, stems, dots, words, height=max(n, 1) * STEP + 16)
    told = f"{n} finding{'' if n == 1 else 's'} of the audit, the most severe first."
    title = "Findings of the audit" if n else "The audit finds nothing odd"
    return finished(chart, look, title, told if n else "No row of any frame is concerned.")
