"""`rf.dashboard`: all runs of a history in one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import polars as pl

import recframe
from recframe.charts.formatting import NONE, counted, number, signed
from recframe.charts.history_charts import judged_runs, splits_of, timeline
from recframe.charts.themes import Look
from recframe.errors import ColumnError, RecframeError, shown, suggestion
from recframe.reports.page import Content, Page, Section, Text, figure
from recframe.reports.page_tables import Column, Row, named, table
from recframe.tracking import histories
from recframe.tracking.changed_runs import LEVEL, WINDOW, changed, judged, watched
from recframe.tracking.histories import OF_RUN, TAGS
from recframe.tracking.time_series import runs_of

MOST_CHARTS = 12
"""Most charts of metrics, to keep a page small."""
MOST_CHANGED, MOST_NEWEST, MOST_RUNS = 200, 100, 200
"""Most rows of the tables, to keep a page small."""
MARKS = {"changed": "warning", "open": "open"}


def dashboard(
    history: Any,
    *,
    window: int = WINDOW,
    level: float = LEVEL,
    title: str = "Runs over time",
    model: str = "model",
) -> Page:
    """Return a page of all runs of a history, which a notebook shows and `.save("dashboard.html")` writes as one file.

    It has the newest numbers with their intervals and the bands of the runs before, all numbers that ever changed, a chart over
    time of each metric, and the runs: their data by fingerprint and which of them are of the same, and tags. What changed is
    what `rf.changes` says.

        history: a frame of `rf.history(...)`, of any kind, or its path.
        window, level: those of `rf.changes`. title: what stands above the page. model: the column of models.

    The file works offline, and asks nothing of any network. Tables of segments hold the changed ones, those of runs the newest
    200, and there are charts of the first 12 metrics; the page says what is left out. `.data` has the numbers as plain data.

    It needs recframe[report]. Raises a RecframeError for a frame that is no history, and for one without runs.

    >>> import polars as pl, recframe as rf, tempfile
    >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
    >>> folder = tempfile.mkdtemp()
    >>> for day in (1, 2, 3):
    ...     tracked = df.rec.track("ndcg@10", history=folder, as_of=f"2026-11-{day:02}")
    >>> rf.dashboard(folder, title="Nightly")
    <Nightly: 4 sections; .save('report.html') writes it>
    """
    if not isinstance(title, str):
        msg = f"title={shown(title)}: title takes text"
        raise RecframeError(msg)
    runs = runs_of(history, "dashboard")
    found = changes_of(runs, window=window, level=level)
    if found.is_empty():
        msg = "the history has no numbers yet; track some: rec.track(..., history='history.parquet', as_of='2026-11-22')"
        raise RecframeError(msg)
    lines, look = Lines.of(found, model, window, level), Look("light", 600)
    keys = [*lines.keys]
    if model != "model" and model not in keys:
        close = suggestion(str(model), keys) or f"; it has {', '.join(keys) or 'none'}"
        msg = f"model={shown(model)} is no column of the history that tells models or segments apart{close}"
        raise ColumnError(msg)
    drawn, look = judged_runs(kind, window, level), Look("light", 600)
    metrics = found["metric"].unique(maintain_order=True).to_list()
    charts = {
        metric: timeline(drawn, metric, model, splits_of(drawn, metric, model)[0], look)
        for metric in metrics[:MOST_CHARTS]
    }
    page = Dashboard(found, keys, metrics, model, window, level)
    return Page(page.content(title, charts, _about(runs)))


def _about(runs: pl.DataFrame) -> pl.DataFrame:
    """Return the columns about the runs, a row for each of their metrics."""
    tags = [column for column in runs.columns if column.startswith(TAGS)]
    return runs[[*OF_RUN, *tags, "metric"]].unique(maintain_order=True)


def _time(of: Any) -> str:
    """Return a time as text, the first moment of a day as the day."""
    if isinstance(of, datetime):
        is_day = of.time() == datetime.min.time()
        return of.date().isoformat() if is_day else of.isoformat(" ", timespec="minutes")
    return of.isoformat() if isinstance(of, date) else NONE


def _said(value: Any) -> str:
    return value or NONE


COLUMNS = (
    Column("metric", told="and below it the users that the number covers"),
    Column("value", "number", "the number, and below it its interval", write=number, interval=True),
    Column(
        "expected",
        "number",
        "the mean of the runs before, and below it their band",
        write=number,
        interval=True,
    ),
    Column("change", "number", "the value minus what is expected", write=signed),
    Column("verdict", "verdict"),
    Column("note"),
)


AS_OF = Column("as of", field="as_of", write=_time)


@dataclass(frozen=True)
class Dashboard:
    """The numbers of a history, and the sections that they make."""

    numbers: pl.DataFrame
    """The columns of `changes`."""
    keys: Sequence[str]
    """The columns of segments and models."""
    metrics: Sequence[str]
    model: str
    window: int
    level: float

    def content(self, title: str, charts: dict[str, Any], about: pl.DataFrame) -> Content:
        """Return all of the page; `about` are the runs and their metrics: `histories.OF_RUN` and tags."""
        runs = self.numbers.select("as_of", "name").unique()
        first, last = runs["as_of"].min(), runs["as_of"].max()
        is_newest = pl.col("as_of") == pl.col("as_of").max().over("name")
        newest = self.numbers.filter(is_newest).to_dicts()
        found = self.numbers.filter(verdict=CHANGED)
        every = found.sort("as_of", descending=True, maintain_order=True).to_dicts()
        facts = {"runs": runs.height, "metrics": len(self.metrics), "changed": len(every)}
        return Content(
            title,
            f"{counted(runs.height, 'run')} from {_time(first)} to {_time(last)}.",
            [
                self._newest(newest),
                self._changed(every),
                self._over_time(charts),
                _runs(about, self.numbers),
            ],
            facts=[("newest run", _time(last)), *((name, f"{n:,}") for name, n in facts.items())],
            data={"newest": newest, "changed": every},
            footer=f"Made by recframe {recframe.__version__}.",
        )

    def _newest(self, rows: Sequence[Row]) -> Section:
        changes = [row for row in rows if row["verdict"] == CHANGED]
        judged = sum(row["expected"] is not None for row in rows)
        lead = f"The newest run has {counted(len(rows), 'number')}, and too few runs before it: {FEWEST} are needed."
        if judged:
            lead = f"{len(changes):,} of {counted(judged, 'number')} of the newest run changed."
            left = len(rows) - judged
            lead += f" {left:,} more cannot be judged yet." if left else ""
        # those of segments where there is something to say, behind those of all users
        of_all = [row for row in rows if not self._is_of_segment(row)]
        lines = [*of_all, *filter(self._is_of_segment, changes)][:MOST_NEWEST]
        left = len(rows) - len(lines)
        words = f"{counted(left, 'number')} of segments, as before or open, left out."
        notes = [words] if left else []
        section = Section("newest", "The newest run", lead, missing=[] if lines else notes)
        if lines:
            lines = [*map(self._line, lines)]
            section.parts.append(table("Newest numbers", COLUMNS, lines, notes))
        return section

    def _changed(self, rows: Sequence[Row]) -> Section:
        judged = counted(self.numbers["expected"].count(), "number")
        lead = f"Of {judged} with enough runs before, {len(rows):,} changed."
        rule = (
            f"A number changed where it is outside the band of up to {self.window} runs before, at {self.level * 100:.6g} %, "
            "or left the range of all runs before it by more than its width. Each number is judged by itself, so about "
            f"one in {1 / (1 - self.level):.0f} changes by chance."
        )
        section = Section("changed", "Changes", lead, [Text([rule])])
        if rows:
            left = "{:,} earlier left out."
            caption, lines = "Changes, the newest first", [*map(self._line, rows)]
            section.parts.append(table(caption, [AS_OF, *COLUMNS], lines, [], MOST_CHANGED, left))
        return section

    def _over_time(self, charts: dict[str, Any]) -> Section:
        figures = [figure(f"chart-{place}", one) for place, one in enumerate(charts.values())]
        left = ", ".join(self.metrics[len(figures) :])
        missing = [f"Without a chart: {left}."] if left else []
        lead = f"{counted(len(figures), 'metric')}, run by run."
        return Section("over-time", "Over time", lead, figures, missing=missing)

    def _is_of_segment(self, row: Row) -> bool:
        return any(key != self.model and row[key] is not None for key in self.keys)

    def _line(self, row: Row) -> Row:
        """Return a number with the users that it covers, and how its verdict looks."""
        parts = [row["name"], row.get(self.model) if self.model in self.keys else None]
        about = [str(part) for part in parts if part is not None]
        about += [
            f"{key}={named(row[key])}"
            for key in self.keys
            if key != self.model and row[key] is not None
        ]
        users = " · ".join(about) or "all users"
        ends = {"value_low": row["low"], "value_high": row["high"]}
        mark = MARKS.get(row["verdict"], "same")
        return {**row, **ends, "metric_small": users, "verdict_mark": mark}


def _runs(about: pl.DataFrame, numbers: pl.DataFrame) -> Section:
    """Return the section on the runs: when, of which data, with which tags."""
    tags = [column for column in about.columns if column.startswith(TAGS)]
    key = ["as_of", "name", "fingerprint"]
    runs = about.group_by(key, maintain_order=True).agg(
        pl.col("metric").n_unique().alias("metrics"),
        pl.col(tags).last(),
    )
    runs = runs.sort("as_of", descending=True, nulls_last=True, maintain_order=True)
    is_changed = (pl.col("verdict") == CHANGED).sum().alias("changed")
    changes = numbers.group_by("as_of", "name").agg(is_changed)
    on = ["as_of", "name"]
    runs = runs.join(changes, on=on, how="left", nulls_equal=True, maintain_order="left")
    first = pl.col("as_of").min().over("name", "fingerprint")
    again = pl.col("fingerprint").is_not_null() & (pl.col("as_of") > first)
    runs = runs.with_columns(same_as=pl.when(again).then(first))
    lead = f"{counted(len(runs), 'run')}, the newest first; each with the fingerprint of its data."
    columns = [
        AS_OF,
        Column("name", write=_said),
        Column("data", field="fingerprint", write=_said),
        *(Column(one.removeprefix(TAGS), field=one, write=_said) for one in tags),
        *(Column(one, "number", write=lambda n: f"{n or 0:,}") for one in ("metrics", "changed")),
    ]
    lines = [
        {**row, "fingerprint_small": f"as on {_time(same)}" if same else ""}
        for row, same in zip(runs.to_dicts(), runs["same_as"], strict=True)
    ]
    shown_runs = table("Runs", columns, lines, [], MOST_RUNS, "{:,} earlier left out.")
    section = Section("runs", "Runs", lead, [shown_runs])
    n_again = runs["same_as"].count()
    if n_again:
        are = counted(n_again, "run is", "runs are")
        words = f"{are} of the same data as an earlier one of their name: was the data not updated?"
        section.parts.insert(0, Text([f"{words} They count once in the bands."]))
    return section
