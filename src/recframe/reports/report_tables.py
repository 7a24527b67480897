"""Tables of a report, and its sentences on comparisons and gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recframe.charts.formatting import (
    NONE,
    Column,
    Row,
    Table,
    count,
    counted,
    named,
    number,
    p_value,
    signed,
    signed_share,
    table,
    with_interval,
)
from recframe.charts.themes import ALL
from recframe.metrics.language.definition import Metric

MOST_ROWS, MOST_SLICES = 60, 12
"""Most rows of a table; a note counts the omitted ones."""
MARKS = {
    **dict.fromkeys(("better", "not worse"), "better"),
    **dict.fromkeys(("worse", "not better"), "worse"),
    **dict.fromkeys(("same", "higher", "lower"), "same"),
}
"""The looks of verdicts, by their words."""
VALUE = Column("value", "number", write=number, interval=True)
DIFFERENCES = (
    Column("model"),
    Column("against", field="baseline"),
    Column("metric"),
    Column("verdict", "verdict", write=named),
    Column(
        "difference",
        "number",
        "mean over users with both values, and its interval",
        write=signed,
        interval=True,
    ),
    Column("relative", "number", "difference over the baseline's value", write=signed_share),
    Column(
        "p",
        "number",
        "p value of the paired t test, after Holm's correction for the table",
        "p_adjusted",
        p_value,
    ),
    Column(
        "users better / same / worse",
        "number",
        "users whose value is higher, the same, lower",
        "counts",
    ),
    Column("users", "number", "", "n_users", count),
)
GAPS = (
    Column("by"),
    Column("model"),
    Column("metric"),
    Column(
        "best", "text", "the segment with the best value, of those with enough users", write=named
    ),
    Column("", "number", "", "best_value"),
    Column("worst", write=named),
    Column("", "number", "", "worst_value"),
    Column(
        "gap",
        "number",
        "best minus worst; its interval holds for all pairs of segments at once",
        write=number,
        interval=True,
    ),
    Column("p", "number", "under the hypothesis that no two segments differ", "p_value", p_value),
    Column("segments", "number", "", "n_segments", count),
)
SLICES = (
    Column("segment"),
    Column("model"),
    Column("users", "number", "", "n_users", count),
    VALUE,
    Column("all others", "number", "", "rest", number),
    Column(
        "difference",
        "number",
        "its interval holds for all segments at once",
        write=signed,
        interval=True,
    ),
    Column("p", "number", "after Holm's correction", "p_adjusted", p_value),
)
FINDINGS = (
    Column("finding"),
    Column("severity", "verdict"),
    Column("in", field="frame"),
    Column("rows", "number", write=count),
    Column("users", "number", write=count),
    Column("example"),
    Column("what recframe does", field="treatment"),
    Column("remedy"),
)


def _first_rows(
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Row],
    notes: Sequence[str] = (),
    most: int = MOST_ROWS,
    noun: str = "rows",
) -> Table:
    """Return the first rows as a table that says how many there are more."""
    left = [f"{len(rows) - most:,} more {noun} are not shown."] if len(rows) > most else []
    return table(caption, columns, rows[:most], [*notes, *left])


def differences_table(rows: Sequence[Row], at: str) -> Table:
    """Return the differences of models from one another, with intervals at some level."""
    lines = []
    for row in rows:
        counts = NONE
        if row["wins"] is not None:
            counts = " / ".join(count(row[one]) for one in ("wins", "ties", "losses"))
        mark = MARKS.get(row["verdict"], "open")
        lines.append({**row, "counts": counts, "verdict_mark": mark})
    note = "Verdicts by the paired t test after Holm's correction; open: no difference is shown; the models need not be alike."
    return _first_rows(f"Differences, with their intervals at {at}", DIFFERENCES, lines, [note])


def gaps_table(rows: Sequence[Row], min_users: int, *, several: bool) -> Table:
    """Return the best and the worst segment of each column, of several models or one."""
    lines = []
    for row in rows:
        ends = {"n_segments_small": f"{row['n_small']:,} small" if row["n_small"] else ""}
        for end in ("best", "worst"):
            is_known = row[end] is not None
            ends[f"{end}_value"] = number(row[f"{end}_value"]) if is_known else ""
            users = counted(row[f"{end}_n_users"], "user") if is_known else ""
            ends[f"{end}_value_small"] = users
        lines.append({**row, **ends})
    columns = [one for one in GAPS if several or one.title != "model"]
    note = f"Segments with fewer than {min_users} users are neither best nor worst."
    return _first_rows("The best and the worst segment of each column", columns, lines, [note])


def slices_table(rows: Sequence[Row], *, lower_is_better: bool, several: bool) -> Table:
    """Return the table of the worst segments, compared with all other users."""
    sign = -1 if lower_is_better else 1
    columns = [one for one in SLICES if several or one.title != "model"]
    columns[columns.index(VALUE)] = replace(VALUE, title=rows[0]["metric"], field="value")
    worst = sorted(
        rows, key=lambda one: (one["p_adjusted"] is None, sign * (one["difference"] or 0.0))
    )
    caption = "Segments against all other users, the worst first"
    return _first_rows(caption, columns, worst, most=MOST_SLICES, noun="segments")


def findings_table(rows: Sequence[Row]) -> Table:
    """Return the findings of the audit."""
    lines = [
        {
            **row,
            "finding": row["check"].replace("_", " "),
            "finding_small": row["what"].replace("`", ""),
            "severity_mark": row["severity"],
        }
        for row in rows
    ]
    return table("Findings", FINDINGS, lines)


def first_sentence(metric: Metric[...]) -> str:
    """Return the first sentence of a metric's page."""
    return " ".join((metric.__doc__ or "").strip().partition("\n\n")[0].split())


def verdict_in_words(row: Row) -> str:
    """Return a comparison as a sentence."""
    model, baseline, metric, verdict = (
        row[one] for one in ("model", "baseline", "metric", "verdict")
    )
    users = counted(row["n_users"], "user")
    pair = f"{model} is {'the same as' if verdict == 'same' else f'{verdict} than'} {baseline}"
    if verdict in {"better", "worse", "higher", "lower"}:
        names = ("difference", "difference_low", "difference_high")
        size, *ends = (abs(row[one] or 0.0) for one in names)
        low, high = map(number, sorted(ends))
        return f"{pair} by {number(size)} ({low} to {high}) in {metric}, {users}."
    said = f"{pair} in {metric}"
    if verdict not in MARKS:
        said = f"Whether {model} differs from {baseline} in {metric} is open"
    return f"{said}: a difference of {with_interval(row, 'difference', signed)}, {users}."


def widest_gap(gaps: Sequence[Row]) -> str:
    """Return the widest gap of the first metric as a sentence."""
    known = [one for one in gaps if one["gap"] is not None]
    if not known:
        return "No two segments are large enough to be compared."
    first = [one for one in known if one["metric"] == known[0]["metric"]]
    widest = max(first, key=lambda one: one["gap"])
    of = "" if widest["model"] == ALL else f" with {widest['model']}"
    values = f"{number(widest['best_value'])} against {number(widest['worst_value'])}"
    said = f"By {widest['by']}, {widest['metric']}{of} is the furthest apart between {widest['best']} and {widest['worst']}"
    sure = "" if (widest["gap_low"] or 0) > 0 else ", which may be chance"
    return f"{said}: {values}, a gap of {with_interval(widest, 'gap')}{sure}."
