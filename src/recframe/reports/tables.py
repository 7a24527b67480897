"""Tables of pages: rows of results as cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from recframe.charts.formatting import NONE, count, listed, number, p_value, signed, signed_share
from recframe.metrics.language.definition import Metric

Row = Mapping[str, Any]
MOST_NOTES = 5
MOST_ROWS = 60
"""Most rows of a table; a note counts the omitted ones."""
MARKS = {
    **dict.fromkeys(("better", "not worse"), "better"),
    **dict.fromkeys(("worse", "not better"), "worse"),
    **dict.fromkeys(("same", "higher", "lower", "as before"), "same"),
    "changed": "warning",
}
"""The looks of verdicts, by their words; others are open."""
VERDICTS = (
    "Verdicts: paired t-test, Holm-corrected for the rows of this table. Open means that the data cannot tell, "
    "not that the models are equal."
)


class Cell(NamedTuple):
    """A table's text, with a small one below it, such as an interval, and its style."""

    text: str
    small: str = ""
    mark: str = ""
    """Style: "best", or the colour of a badge."""


class Column(NamedTuple):
    """A column of a table: its title, its kind, and what the title means."""

    title: str
    kind: str = "text"
    """ "text", "number" or "verdict"; with " more" it is left out where there is little room."""
    told: str = ""


class Table(NamedTuple):
    """Rows whose first cell is their name."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    kind = "table"


def measured(row: Row, name: str = "value", write: Callable[..., str] = number, mark: str = "") -> Cell:
    """Return a row's number with its interval, to two digits of half its width."""
    ends = [row.get(f"{name}_{end}") for end in ("low", "high")]
    if None in ends:
        return Cell(write(row[name]), "", mark)
    return Cell(write(row[name], ends), " to ".join(write(end, ends) for end in ends), mark)


def with_interval(row: Row) -> str:
    """Return a row's value with its interval in brackets."""
    cell = measured(row)
    return cell.text + (f" ({cell.small})" if cell.small else "")


def cut(table: Table, more: str = "{:,} more rows are not shown.") -> Table:
    """Return a table with its first rows, and a note of how many more there are."""
    left = len(table.rows) - MOST_ROWS
    notes = [*table.notes, *[more.format(left)] * (left > 0)]
    return table._replace(rows=table.rows[:MOST_ROWS], notes=notes)


def noted(rows: Iterable[tuple[str | None, str]]) -> list[str]:
    """Return each note once, behind its subjects, of rows of a note or None and a subject."""
    subjects: dict[str, dict[str, None]] = {}
    for note, subject in rows:
        if note:
            subjects.setdefault(note, {})[subject] = None
    lines = [f"{listed([*about])}: {note}." for note, about in subjects.items()]
    left = len(lines) - MOST_NOTES
    return lines[:MOST_NOTES] + [f"{left:,} more notes are in the numbers of this page."] * (left > 0)


def values_table(rows: Sequence[Row], metrics: Sequence[Metric[...]], caption: str, *, bold: bool) -> Table:
    """Return models by metrics, of some the best values in bold, and the number of users."""
    columns, lines = [Column("model")], {row["model"]: [Cell(row["model"])] for row in rows}
    for metric in metrics:
        direction, (low, high) = metric.direction, metric.range
        better = f", {direction} is better" if direction else ""
        columns.append(Column(str(metric), "number", f"{low:g} to {high:g}{better}"))
        of = [row for row in rows if row["metric"] == str(metric)]
        known = [row["value"] for row in of if row["value"] is not None and direction and bold]
        best = (min if direction == "lower" else max)(known, default=None)
        for row in of:
            is_best = known and row["value"] == best
            lines[row["model"]].append(measured(row, mark="best" if is_best else ""))
    n = {row["model"]: row.get("n_users") for row in reversed(rows)}
    if None not in n.values():
        columns.append(Column("users", "number"))
        lines = {model: [*line, Cell(count(n[model]))] for model, line in lines.items()}
    return Table(caption, columns, [*lines.values()], ["Bold: the best value."] * bold)


DIFFERENCES = (
    Column("difference", "number", "mean over users with both values, and its interval"),
    Column("relative", "number", "difference over the other model's value"),
    Column("verdict", "verdict"),
    Column("p", "number more", "p value of the paired t test, after Holm's correction for the table"),
    Column("users better / same / worse", "number more", "users with a higher, the same, a lower value"),
    Column("users", "number more"),
)


def differences_table(rows: Sequence[Row], caption: str, head: str, name: Callable[[Row], Cell]) -> Table:
    """Return comparisons with their verdicts, below the names of their rows."""
    lines = []
    for row in rows:
        verdict = row["verdict"] or NONE
        counts = [row[one] for one in ("wins", "ties", "losses")]
        badge = Cell(verdict, "", MARKS.get(verdict, "open"))
        more = (p_value(row["p_adjusted"]), " / ".join(map(count, counts)), count(row["n_users"]))
        numbers = measured(row, "difference", signed), Cell(signed_share(row["relative"]))
        lines.append([name(row), *numbers, badge, *map(Cell, more)])
    return cut(Table(caption, [Column(head), *DIFFERENCES], lines, [VERDICTS]))


def findings_table(rows: Sequence[Row]) -> Table:
    """Return the findings of the audit."""
    heads = ("finding", "severity", "rows", "users more", "what recframe does", "remedy more")
    kinds = ("text", "verdict", "number", "number more", "text", "text more")
    columns = [Column(head.removesuffix(" more"), kind) for head, kind in zip(heads, kinds, strict=True)]
    lines = [
        [
            Cell(row["check"].replace("_", " "), row["what"].replace("`", "")),
            Cell(row["severity"], "", row["severity"]),
            Cell(count(row["rows"]), row["example"] or ""),
            Cell(count(row["users"])),
            *(Cell(row[name] or "") for name in ("treatment", "remedy")),
        ]
        for row in rows
    ]
    return Table("Findings", columns, lines)
