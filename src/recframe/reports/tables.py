"""Tables of pages: rows of results as cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from recframe.charts.formatting import NONE, count, counted, number, p_value, signed, signed_share
from recframe.tracking.changed_runs import CHANGED

Row = Mapping[str, Any]
NOTHING: Row = {"value": None}
MOST_ROWS = 60
"""Most rows of a table; a note counts the omitted ones."""
MARKS = {"better": "better", "not worse": "better", "worse": "worse", "not better": "worse"}
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
    """A column of a table."""

    title: str
    kind: str = "text"
    """ "text", "number" or "verdict"; with " more" it is left out where there is little room."""


class Table(NamedTuple):
    """Rows whose first cell is their name."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    kind: str = "table"


def measured(
    row: Row, name: str = "value", write: Callable[..., str] = number, mark: str = ""
) -> Cell:
    """Return a row's number with its interval, to two digits of half its width."""
    ends = [row.get(f"{name}_{end}") for end in ("low", "high")]
    if None in ends:
        return Cell(write(row[name]), "", mark)
    return Cell(write(row[name], ends), " to ".join(write(end, ends) for end in ends), mark)


def cut(table: Table, more: str = "{:,} more rows are not shown.") -> Table:
    """Return a table with its first rows, and a note of how many more there are."""
    left = len(table.rows) - MOST_ROWS
    notes = [*table.notes, *[more.format(left)] * (left > 0)]
    return table._replace(rows=table.rows[:MOST_ROWS], notes=notes)


def values_table(
    rows: Sequence[Row], metrics: Sequence[str], caption: str, name: str = "model"
) -> Table:
    """Return models, or what else a column names, by metrics; numbers of a history that changed are marked."""
    found = {(row[name], row["metric"]): row for row in rows}
    lines = []
    for one in dict.fromkeys(row[name] for row in rows):
        of = [found.get((one, metric), NOTHING) for metric in metrics]
        cells = [measured(row, mark="warning" * (row.get("verdict") == CHANGED)) for row in of]
        lines.append([Cell(one), *cells])
    columns = [Column(name), *(Column(metric, "number") for metric in metrics)]
    return Table(caption, columns, lines)


DIFFERENCES = (
    Column("model and metric"),
    Column("difference", "number"),
    Column("relative", "number more"),
    Column("verdict", "verdict"),
    Column("p", "number more"),
    Column("users better / same / worse", "number more"),
)


def differences_table(rows: Sequence[Row], caption: str) -> Table:
    """Return comparisons with one model, which the caption names, with their verdicts, and why a verdict is open."""
    lines = []
    for row in rows:
        verdict = row["verdict"] or NONE
        line = [
            Cell(row["model"], f"{row['metric']}, {counted(row['n_users'], 'user')}"),
            measured(row, "difference", signed),
            Cell(signed_share(row["relative"])),
            Cell(verdict, row["note"] or "", MARKS.get(verdict, "open")),
            Cell(p_value(row["p_adjusted"])),
            Cell(" / ".join(count(row[one]) for one in ("wins", "ties", "losses"))),
        ]
        lines.append(line)
    return cut(Table(caption, DIFFERENCES, lines, [VERDICTS]))
