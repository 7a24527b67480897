"""Chart of a history: values over time, and flagged changes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any

import polars as pl

from recframe.charts.formatting import counted
from recframe.charts.forms import (
    ENDS,
    HEIGHT,
    OF_VIEW,
    SAID,
    USERS,
    Field,
    canvas,
    curves,
    finished,
    of_metric,
    views,
)
from recframe.charts.long_format import Names, Result, one_metric, with_segments
from recframe.charts.themes import ALL, Look
from recframe.errors import ColumnError, RecframeError, shown, suggestion
from recframe.frames.collecting import stream
from recframe.frames.kinds.kind import Kind
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import parse
from recframe.tracking.changed_runs import changes

MOST = 6
"""Most segments in one chart."""
A_HISTORY = "rf.history('history.parquet').rec.plot.timeline('ndcg@10')"
ABOUT = ["as_of", "name", "fingerprint"]
"""The columns of `rf.changes` before those of segments and models."""


def judged_runs(kind: Kind, window: int, level: float) -> pl.DataFrame:
    """Return `rf.changes` of a history, with the number of users of each number."""
    for missing in (one for one in ("as_of", "metric", "value") if one not in kind.columns):
        msg = f"plot.timeline draws a history, {A_HISTORY}; found a frame without the column {missing!r}"
        raise ColumnError(msg)
    columns = [*map(str, kind.columns)]
    # NOTE: some names, such as "^.*$", are patterns to Polars
    history = stream(kind.take({f"column {at}": one for at, one in enumerate(columns)}).lazy())
    history.columns = columns
    found = changes(history, window=window, level=level)
    on = [name for name in (*ABOUT[:2], *keys_of(found), "metric") if name in columns]
    users = pl.DataFrame([history[name].cast(found.schema[name]) for name in on])
    n = history["n_users"] if "n_users" in columns else pl.lit(None, pl.Int64)
    users = users.with_columns(n_users=n).unique(on, keep="last", maintain_order=True)
    return found.join(users, on=on, how="left", nulls_equal=True, maintain_order="left")


def keys_of(found: pl.DataFrame) -> list[str]:
    """Return the columns of segments and models of `rf.changes`."""
    return found.columns[len(ABOUT) : found.columns.index("metric")]


def splits_of(found: pl.DataFrame, metric: str, model: str) -> list[list[str]]:
    """Return the columns that the numbers of a metric were split by, but models: those of few columns first."""
    rows = found.filter(pl.col("metric") == metric)
    names = [name for name in keys_of(found) if name != model]
    known = pl.DataFrame({name: rows[name].is_not_null() for name in names}).unique()
    splits = [[*compress(names, row)] for row in known.rows()] or [[]]
    return sorted(splits, key=lambda one: (len(one), one))


def timeline(
    found: pl.DataFrame, metric: str, model: str, by: Sequence[str], look: Look, most: int = MOST
) -> Any:
    """Return the chart of a metric over time, of the rows of `judged_runs` that were split by some columns alone."""
    splits, known = splits_of(found, metric, model), _metric_of(metric)
    if sorted(by) not in map(sorted, splits):
        asked = f"split by {', '.join(map(repr, by))}" if by else "of all users"
        calls = [
            f"by={shown(one[0] if len(one) == 1 else one)}" if one else "no by" for one in splits
        ]
        msg = f"the history has no such number {asked}; draw those that it has, with {' or '.join(calls)}"
        raise RecframeError(msg)
    runs = _runs(found.filter(pl.col("metric") == metric), model, by)
    value = of_metric(known) if known else Field("value", f"{metric} {{}}", ends=ENDS, axis=metric)
    expected = Field("expected", "expected {}", ends=("expected_low", "expected_high"))
    told = [Field("as_of", "as of {}"), value, expected, Field("verdict"), Field("note"), USERS]
    lower, latest = known is not None and known.direction == "lower", runs.data["as_of"].max()
    of = canvas(look, runs, value, told, at=runs.data.filter(as_of=latest), lower=lower, most=most)
    x = {"field": "as_of", "type": "temporal", "title": None, "axis": {"grid": False}}
    y = (value._replace(axis=metric) if by else value).along(OF_VIEW if by else HEIGHT, padding=8)
    shape = {"expr": "datum.change > 0 ? 'triangle-up' : 'triangle-down'"}
    flags = of.base(x=x, y=y, **SAID).transform_filter("datum.flagged")
    marks: Any = {
        "fill": look.colours.warning,
        "stroke": look.colours.ink,
        "opacity": 1,
        "size": 150,
    }
    chart: Any = curves(of, x, y, more=[flags.mark_point(shape=shape, **marks)])
    chart = views(chart, look, "label", of.labels, 1) if by else chart
    title = f"{metric} over time" + (f", by {runs.by}" if by else "")
    subtitle = (
        "Bands: intervals of the numbers. Triangles: runs outside what the runs before predict."
    )
    return finished(
        chart, of, title, subtitle, _finding(metric, of.data), of.data.filter(as_of=latest)
    )


def _runs(rows: pl.DataFrame, model: str, by: Sequence[str]) -> Result:
    """Return the rows that were split by some columns alone, with their models and segments as text."""
    for name in keys_of(rows):
        rows = rows.filter(rows[name].is_not_null() == (name in by)) if name != model else rows
    inside = {name: f"key {place}" for place, name in enumerate([*by, model])}
    rows = rows.rename(inside, strict=False)
    *keys, of_model = inside.values()
    told_apart = [of_model] * (of_model in rows.columns) + ["name"] * (rows["name"].n_unique() > 1)
    who = [pl.col(key).cast(pl.String) for key in told_apart] or [pl.lit(ALL)]
    text = pl.concat_str(who, separator=" · ", ignore_nulls=True).replace("", ALL)
    rows = rows.sort(*told_apart, *keys, "as_of", nulls_last=True).with_columns(model=text)
    names = Names(rows["model"].unique(maintain_order=True).to_list())
    rows = (
        with_segments(rows.sort(*keys, maintain_order=True), keys)
        if keys
        else with_segments(rows, keys)
    )
    rows = rows.rename({"value_low": "low", "value_high": "high"})
    own = bool(keys) and all(isinstance(rows.schema[key], pl.Enum) for key in keys)
    return Result(rows, names, ", ".join(by), own)


def name_of(found: pl.DataFrame, metric: str | Metric[...], k: Any) -> str:
    """Return a metric's name in a history, users' own metrics included, or raise an error without it."""
    names = found["metric"].unique().sort().to_list()
    name = (
        metric
        if isinstance(metric, str) and metric in names
        else str(one_metric("timeline()", metric, k))
    )
    if name not in names:
        close = suggestion(name, names) or f"; it has {', '.join(names) or 'no numbers'}"
        msg = f"the history has nothing of {name!r}{close}"
        raise RecframeError(msg)
    return name


def _metric_of(text: str) -> Metric[...] | None:
    """Return the metric of a text, None where it is one of the user's own that is not there now."""
    try:
        return parse(text)
    except RecframeError:
        return None


def _finding(metric: str, rows: pl.DataFrame) -> str:
    """Return how many numbers are flagged, of those that were judged, and the latest of them."""
    judged, flagged = rows["flagged"].count(), rows.filter("flagged")["as_of"]
    if not judged:
        return f"{metric}: too few runs to say what is expected"
    if flagged.is_empty():
        return f"{metric}: all {judged:,} judged runs are as expected"
    n, latest = len(flagged), max(flagged)
    return f"{metric}: {counted(n, 'run')} of {judged:,} {'is' if n == 1 else 'are'} flagged, the latest of {latest:%Y-%m-%d}"
