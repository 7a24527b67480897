"""`rf.dashboard`: all runs of a history in one page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

import recframe
from recframe.charts.formatting import counted, signed, written
from recframe.charts.history_charts import keys_of_changes, timeline
from recframe.charts.themes import ALL, Look
from recframe.errors import ColumnError, RecframeError, shown, suggestion
from recframe.frames import options
from recframe.reports.page import Figure, Page, Section, Text, figure
from recframe.reports.tables import Cell, Column, Row, Table, cut, measured, values_table
from recframe.tracking.changed_runs import CHANGED, FEWEST, LEVEL, WINDOW, runs_of
from recframe.tracking.changed_runs import changes as changes_of

MOST_CHARTS = 12
"""Most charts of metrics, to keep a page small."""
CHANGES = (
    Column("as of"),
    Column("metric"),
    Column("value", "number"),
    Column("expected", "number"),
    Column("change", "number"),
    Column("note", "text more"),
)


def dashboard(
    history: Any,
    *,
    window: int = WINDOW,
    level: float = LEVEL,
    title: str = "Runs over time",
    model: str = "model",
) -> Page:
    """Return a page of all runs of a history, which a notebook shows and `.save("dashboard.html")` writes as one file.

    It has the newest numbers, a row for each model and segment, those that changed marked; all numbers that ever changed, with
    the bands of the runs before; and a chart over time of each metric. What changed is what `rf.changes` says.

        history: a frame of `rf.history(...)`, of any kind, or its path.
        window, level: those of `rf.changes`. title: what stands above the page. model: the column of models.

    The file works offline, and asks nothing of any network. A table holds the first 60 rows, and there are charts of the first
    12 metrics; the page says what is left out. `.data` has the numbers as plain data.

    It needs recframe[report]. Raises a RecframeError for a frame that is no history, and for one without runs.

    >>> import polars as pl, recframe as rf, tempfile
    >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
    >>> folder = tempfile.mkdtemp()
    >>> for day in (1, 2, 3):
    ...     tracked = df.rec.track("ndcg@10", history=folder, as_of=f"2026-11-{day:02}")
    >>> rf.dashboard(folder, title="Nightly")
    <Nightly: 3 sections; .save('report.html') writes it>
    """
    options.text("title", title)
    found = changes_of(runs_of(history, "dashboard"), window=window, level=level)
    if found.is_empty():
        raise RecframeError(
            "the history has no numbers yet; track some: rec.track(..., history='history.parquet', as_of='2026-11-22')"
        )
    keys = keys_of_changes(found)
    if model != "model" and model not in keys:
        close = suggestion(str(model), keys) or f"; it has {', '.join(keys) or 'none'}"
        raise ColumnError(
            f"model={shown(model)} is no column of the history that tells models or segments apart{close}"
        )
    rows = [_numbered(row, keys, model) for row in found.to_dicts()]
    last = {row["name"]: row["as_of"] for row in rows}
    newest = [row for row in rows if row["as_of"] == last[row["name"]]]
    runs = sorted({(row["as_of"], row["name"] or "") for row in rows})
    changes = [row for row in reversed(rows) if row["verdict"] == CHANGED]
    first = written(runs[0][0])
    latest = written(runs[-1][0])
    headline = f"{_newest_lead(newest)} {counted(len(runs), 'run')} from {first} to {latest}."
    sections = [_newest(newest), _changes(changes, window, level), _over_time(found, model)]
    data = {"newest": newest, "changed": changes}
    return Page(title, headline, sections, {}, data, f"Made by recframe {recframe.__version__}.")


def _numbered(row: Row, keys: Sequence[str], model: str) -> dict[str, Any]:
    """Return a number with the users that it covers, in words."""
    parts = [row["name"], row.get(model) if model in keys else None]
    parts += [f"{key}={row[key]}" for key in keys if key != model and row[key] is not None]
    users = " · ".join(str(part) for part in parts if part is not None)
    return {**row, "users": users or ALL, "value_low": row["low"], "value_high": row["high"]}


def _newest_lead(rows: Sequence[Row]) -> str:
    """Return how many numbers of the newest run changed."""
    judged = sum(row["expected"] is not None for row in rows)
    if not judged:
        return f"The newest run has {counted(len(rows), 'number')}, and too few runs before it: {FEWEST} are needed."
    n = sum(row["verdict"] == CHANGED for row in rows)
    return f"{n:,} of {counted(judged, 'number')} of the newest run changed."


def _newest(rows: Sequence[Row]) -> Section:
    """Return the numbers of the newest run, a row for each model and segment, those of segments last."""
    metrics = [*dict.fromkeys(row["metric"] for row in rows)]
    rows = sorted(rows, key=lambda row: ("=" in row["users"], row["users"]))
    caption = "Numbers with their intervals; those that changed are marked"
    table = cut(values_table(rows, metrics, caption, "users"))
    return Section("newest", "The newest run", [table])


def _changes(rows: Sequence[Row], window: int, level: float) -> Section:
    """Return all numbers that changed, the newest first."""
    rule = (
        f"A number changed where it is outside the band of up to {window} runs before, at {level * 100:.6g} %, "
        "or left the range of all runs before it by more than its width. Each number is judged by itself, so about "
        f"one in {1 / (1 - level):.0f} changes by chance."
    )
    lines = [
        [
            Cell(written(row["as_of"])),
            Cell(row["metric"], row["users"]),
            measured(row),
            measured(row, "expected"),
            Cell(signed(row["change"])),
            Cell(row["note"] or ""),
        ]
        for row in rows
    ]
    table = cut(Table("Changes, the newest first", CHANGES, lines), "{:,} earlier left out.")
    lead = f"{counted(len(rows), 'number')} changed."
    return Section("changed", "Changes", [Text([rule]), *[table] * bool(rows)], lead)


def _over_time(found: pl.DataFrame, model: str) -> Section:
    """Return a chart of each metric."""
    metrics = found["metric"].unique(maintain_order=True).to_list()
    parts = list[Figure | Text]()
    for place, metric in enumerate(metrics[:MOST_CHARTS]):

        def draw(width: int, metric: str = metric) -> Any:
            return timeline(found, metric, model, None, Look("light", width))

        parts.append(figure(f"chart-{place}", draw))
    left = ", ".join(metrics[MOST_CHARTS:])
    parts += [Text([f"Without a chart: {left}."])] * bool(left)
    return Section("over-time", "Over time", parts)
