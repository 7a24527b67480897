"""`rf.dashboard`: all runs of a history in one page that works offline."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe.errors import ColumnError, RecframeError, shown, suggestion
from recframe.frames.collecting import stream
from recframe.frames.kinds.lookup import kind_for
from recframe.look.themes import Look
from recframe.namespace.lines_of_runs import MOST, Lines
from recframe.tracking import kept
from recframe.tracking.changed_runs import changed, judged, runs_of, watched
from recframe.tracking.read_runs import LEVEL, WINDOW
from recframe.tracking.tracked_run import ABOUT, UNSEEN

if TYPE_CHECKING:
    from recframe.look.pages.page import Page

MOST_CHARTS = 12
"""Of metrics, so that a page stays small."""


def dashboard(
    history: Any,
    *,
    window: int = WINDOW,
    level: float = LEVEL,
    title: str = "Runs over time",
    model: str = "model",
) -> Page:
    """Return a page of all runs of a history, which a notebook shows and `.save("dashboard.html")` writes as one file.

    It has the newest numbers with their intervals beside what the runs before predict, all numbers that were ever flagged, a
    chart over time of each metric, metrics that stood for something else from some run on, and the runs: their data by
    fingerprint and which of them are of the same, versions and tags. What is flagged is what `rf.changes` flags.

        history: a frame of `rf.history(...)`, of any kind, or its path.
        window, level: those of `rf.changes`. title: what stands above the page. model: the column of models.

    The file works offline, and asks nothing of any network. Tables of segments hold the flagged ones, those of runs the newest
    200, and there are charts of the first 12 metrics; the page says what is left out. `.data` has the numbers as plain data.

    It needs recframe[report]. Raises a RecframeError for a frame that is no history, and for one without runs.

    >>> import polars as pl, recframe as rf
    >>> days = pl.date_range(pl.date(2026, 11, 1), pl.date(2026, 11, 3), eager=True)
    >>> runs = pl.DataFrame({"as_of": days, "metric": "ndcg@10", "k": 10, "value": [0.30, 0.31, 0.29]})
    >>> rf.dashboard(runs, title="Nightly")
    <Nightly: a page of 5 sections; .save('report.html') writes it>
    """
    from recframe.look.pages.of_runs import Told, page  # noqa: PLC0415  Altair and Jinja2 are extras

    if not isinstance(title, str):
        msg = f"title={shown(title)}: title takes text"
        raise RecframeError(msg)
    how = watched(window, level)
    path = isinstance(history, str | os.PathLike)
    kind = kind_for(kept.runs(history) if path else history, "the first argument of dashboard()")
    runs = runs_of(kind, how)
    found = judged(runs, how)
    if found.is_empty():
        msg = "the history has no numbers yet; track some: rec.track(..., history='history.parquet', as_of='2026-11-22')"
        raise RecframeError(msg)
    if model != "model" and model not in runs.keys:
        close = suggestion(str(model), runs.keys) or f"; it has {', '.join(runs.keys) or 'none'}"
        msg = f"model={shown(model)} is no column of the history that tells models or segments apart{close}"
        raise ColumnError(msg)
    lines = Lines(runs, found, model, window, level)
    names = found["metric"].unique(maintain_order=True).to_list()
    split = {one: lines.splits_of(one)[0] for one in names[:MOST_CHARTS]}
    look = Look("light", 600)
    charts = {one: lines.chart(one, split[one], look, MOST) for one in split}
    flat = changed(runs, found).with_columns(found.select("split_by", "n_users"))
    about = _about(kind)
    return page(Told(flat, runs.keys, about, charts, names, model, window, level, title))


def _about(kind: Any) -> pl.DataFrame:
    """Return what is known of the runs, a row for each of their metrics."""
    tags = [one for one in kind.columns if str(one).startswith("tag_")]
    taken = [one for one in (*ABOUT, *tags, "metric") if one in kind.columns]
    rows = stream(kind.take({one: one for one in taken}).lazy()).unique(maintain_order=True)
    lacking = [one for one in ABOUT if one not in (*rows.columns, *UNSEEN)]
    return rows.with_columns(pl.lit(None, ABOUT[one]).alias(one) for one in lacking)
