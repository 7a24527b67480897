"""The chart of an audit: its findings by size, in the colours of their severities."""

from __future__ import annotations

import polars as pl

from recframe.audit.rule import SEVERITIES
from recframe.look.style import alt, drawn, finished, lines, safe
from recframe.look.themes import Look

STEP = 24
"""The height of a finding, in pixels."""


def audit(data: pl.DataFrame, look: Look) -> alt.LayerChart:
    """Return findings: check, severity, frame, rows, users, example, treatment, remedy, as `audit` has them."""
    name = pl.format("{}, {}", "check", "frame")
    data = safe(data).with_columns(
        finding=name,
        rows_drawn=pl.max_horizontal("rows", 1),
        size=pl.when(pl.col("users") > 0)
        .then(pl.format("{} rows, {} users", "rows", "users"))
        .otherwise(pl.format("{} rows", "rows")),
    )
    names = data["finding"].to_list()
    colours = look.colours.severities
    scale = alt.Scale(domain=list(SEVERITIES), range=[colours[one] for one in SEVERITIES])
    told = {"check": "check", "severity": "severity", "frame": "frame", "example": "example"}
    told |= {"treatment": "what recframe does", "remedy": "remedy"}
    base = drawn(data).encode(
        y=alt.Y("finding:N", sort=names, title=None, axis=alt.Axis(tickSize=0)),
        x=alt.X(
            "rows_drawn:Q",
            title=lines("rows concerned (logarithmic)", look.width - 160),
            scale=alt.Scale(type="log", domainMin=0.9, padding=4),
            axis=alt.Axis(format="~s", tickCount=5),
        ),
        tooltip=[
            *(alt.Tooltip(f"{field}:N", title=title) for field, title in told.items()),
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
    chart = alt.layer(stems, dots, data=data).properties(height=max(len(names), 1) * STEP + 10)
    n = len(data)
    words = f"{n} finding{'' if n == 1 else 's'} of the audit, the most severe first."
    title = "Findings of the audit" if n else "The audit finds nothing odd"
    return finished(chart, look, title, words if n else "No row of any frame is concerned.")
