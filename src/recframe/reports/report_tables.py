"""Tables of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from recframe.charts.formatting import NONE, count, number, p_value, signed, signed_share
from recframe.metrics.language.definition import Metric
from recframe.reports.headline import VERDICT_MARKS, by_value
from recframe.reports.page_tables import Cell, Column, Row, Table, named, table

MOST_ROWS, MOST_SLICES = 60, 12
"""Most rows of a table; a note counts the omitted ones."""
VERDICTS = (
    "Verdicts: paired t-test, Holm-corrected for the rows of this table. Open means that the data cannot tell, "
    "not that the models are equal."
)
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


def values_table(
    rows: Sequence[Row], metrics: Sequence[Metric[...]], at: str, *, bold: bool
) -> Table:
    """Return models by metrics, ordered by the value of the first one, the best values in bold."""
    columns, best = [_model_column(rows)], {}
    for metric in metrics:
        direction, (low, high) = metric.direction, metric.range
        better = f", {direction} is better" if direction else ""
        columns.append(Column(str(metric), "number", f"{low:g} to {high:g}{better}"))
        known = [row["value"] for row in rows if row["metric"] == str(metric)]
        known = [value for value in known if value is not None]
        if known and direction and bold:
            best[str(metric)] = min(known) if direction == "lower" else max(known)
    users: dict[str, int] = {}
    rows = by_value(rows, metrics[0])
    for row in rows:
        users[row["model"]] = max(users.get(row["model"], 0), row["n_users"])
    lines = _of_models(rows, best)
    lines = [[*line, Cell(count(n))] for line, n in zip(lines, users.values(), strict=True)]
    note = (
        "Bold: the best value. An interval shows where the value lies among all users like these."
    )
    caption = f"Mean of each metric, with its interval at {at}"
    columns.append(Column("users", "number"))
    return Table(caption, columns, lines, [note] if best else [])


def costs_table(rows: Sequence[Row], metrics: Sequence[Metric[...]]) -> Table:
    """Return models by metrics of what accuracy costs."""
    columns = [Column(str(metric), "number", metric.definition.formula) for metric in metrics]
    title = "What the lists are like"
    return Table(title, [_model_column(rows), *columns], _of_models(rows, {}))


def _model_column(rows: Sequence[Row]) -> Column:
    return Column("model" if len({row["model"] for row in rows}) > 1 else "")


def _of_models(rows: Sequence[Row], best: Mapping[str, float]) -> list[list[Cell]]:
    """Return a line of values for each model."""
    lines: dict[str, list[Cell]] = {}
    for row in rows:
        is_best = row["value"] is not None and row["value"] == best.get(row["metric"])
        cell = VALUE.cell({**row, "value_mark": "best" if is_best else ""})
        lines.setdefault(row["model"], [Cell(row["model"])]).append(cell)
    return list(lines.values())


def differences_table(rows: Sequence[Row], at: str, level: float) -> Table:
    """Return the differences of models from one another, with intervals at some level."""
    lines, caption = _with_counts(rows, level), f"Pairwise differences, with intervals at {at}"
    return table(caption, DIFFERENCES, lines, [VERDICTS], MOST_ROWS)


def segments_table(rows: Sequence[Row], names: tuple[str, str], at: str, level: float) -> Table:
    """Return a model less another one in each segment, with intervals at some level."""
    lines = [
        {**row, "segment_small": row["by"], "segment": row["segment"] or NONE}
        for row in _with_counts(rows, level)
    ]
    caption = f"{rows[0]['metric']} of {names[0]} minus that of {names[1]}, the worst segment first; intervals at {at}"
    columns = [Column("segment"), *DIFFERENCES[3:]]
    left = "{:,} more segments are not shown."
    return table(caption, columns, lines, [VERDICTS], MOST_SLICES, left)


def _with_counts(rows: Sequence[Row], level: float) -> Sequence[Row]:
    """Return comparisons with the users better, same and worse in words, and with why a verdict is open."""
    tests = Counter(row.get("by") for row in rows if row["p_adjusted"] is not None)
    lines = []
    for row in rows:
        counts, why = NONE, ""
        if row["wins"] is not None:
            counts = " / ".join(count(row[one]) for one in ("wins", "ties", "losses"))
        p, adjusted = row["p_value"], row["p_adjusted"]
        if row["verdict"] == "open" and None not in (p, adjusted) and p <= 1 - level:
            why = f"not after correcting for {tests[row.get('by')]:,} comparisons"
            if adjusted <= 1 - level:
                why = "too many users have one of the two values alone"
        mark = VERDICT_MARKS.get(row["verdict"], "open")
        lines.append({**row, "counts": counts, "verdict_mark": mark, "verdict_small": why})
    return lines


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
