"""Chart of a history: values over time, bands, changes."""

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
from recframe.errors import RecframeError, shown, suggestion
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import parse
from recframe.tracking.changed_runs import CHANGED, FEWEST, OPEN
from recframe.tracking.histories import OF_RUN

MOST = 6
"""Most segments in one chart."""
SUBTITLE = (
    "Bands: intervals of the numbers. Triangles: numbers outside the band of the runs before."
)


def keys_of_changes(found: pl.DataFrame) -> list[str]:
    """Return the columns of segments and models of `rf.changes`."""
    names = found.columns[: found.columns.index("metric")]
    return [name for name in names if name not in OF_RUN]


def splits_of(found: pl.DataFrame, metric: str, model: str) -> list[list[str]]:
    """Return the columns that the numbers of a metric were split by, but models: those of few columns first."""
    rows = found.filter(pl.col("metric") == metric)
    names = [name for name in keys_of_changes(found) if name != model]
    known = pl.DataFrame({name: rows[name].is_not_null() for name in names}).unique()
    splits = [[*compress(names, row)] for row in known.rows()] or [[]]
    return sorted(splits, key=lambda one: (len(one), one))


def timeline(
    found: pl.DataFrame, metric: str, model: str, by: Sequence[str], look: Look, most: int = MOST
) -> Any:
    """Return the chart of a metric over time, of the rows of `rf.changes` that were split by some columns alone."""
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
    flags = of.base(x=x, y=y, **SAID).transform_filter(f"datum.verdict === '{CHANGED}'")
    colours: Any = {"fill": look.colours.warning, "stroke": look.colours.ink}
    flags = flags.mark_point(shape=shape, size=150, opacity=1, **colours)
    chart: Any = curves(of, x, y, more=[flags])
    chart = views(chart, look, "label", of.labels, 1) if by else chart
    title = f"{metric} over time" + (f", by {runs.by}" if by else "")
    read = of.data.filter(as_of=latest)
    return finished(chart, of, title, SUBTITLE, _finding(metric, of.data), read)


def _runs(rows: pl.DataFrame, model: str, by: Sequence[str]) -> Result:
    """Return the rows that were split by some columns alone, with their models and segments as text."""
    for name in keys_of_changes(rows):
        rows = rows.filter(rows[name].is_not_null() == (name in by)) if name != model else rows
    # NOTE: some names, such as "^.*$", are patterns to Polars
    inside = {name: f"key {place}" for place, name in enumerate([*by, model])}
    rows = rows.rename({**inside, "n": "n_users"}, strict=False)
    *keys, of_model = inside.values()
    told_apart = [of_model] * (of_model in rows.columns) + ["name"] * (rows["name"].n_unique() > 1)
    who = [pl.col(key).cast(pl.String) for key in told_apart] or [pl.lit(ALL)]
    text = pl.concat_str(who, separator=" · ", ignore_nulls=True).replace("", ALL)
    rows = rows.sort(*told_apart, *keys, "as_of", nulls_last=True).with_columns(model=text)
    names = Names(rows["model"].unique(maintain_order=True).to_list())
    rows = with_segments(rows.sort(*keys, maintain_order=True) if keys else rows, keys)
    own = bool(keys) and all(isinstance(rows.schema[key], pl.Enum) for key in keys)
    return Result(rows, names, ", ".join(by), own)


def name_of(found: pl.DataFrame, metric: str | Metric[...], k: Any) -> str:
    """Return a metric's name in a history, users' own metrics included, or raise an error without it."""
    names = found["metric"].unique().sort().to_list()
    name = metric if metric in names else str(one_metric("timeline()", metric, k))
    if name not in names:
        close = suggestion(str(name), names) or f"; it has {', '.join(names) or 'no numbers'}"
        msg = f"the history has nothing of {str(name)!r}{close}"
        raise RecframeError(msg)
    return str(name)


def _metric_of(text: str) -> Metric[...] | None:
    """Return the metric of a text, None where it is one of the user's own that is not there now."""
    try:
        return parse(text)
    except RecframeError:
        return None


def _finding(metric: str, rows: pl.DataFrame) -> str:
    """Return how many numbers changed, of those that were judged, and the latest of them."""
    judged, latest = rows.filter(pl.col("verdict") != OPEN), rows.filter(verdict=CHANGED)["as_of"]
    if judged.is_empty():
        return f"{metric}: {FEWEST} runs are needed to say what is expected"
    if latest.is_empty():
        return f"{metric}: every run is as before"
    n = counted(len(latest), "run")
    return f"{metric}: {n} of {len(judged):,} changed, the latest of {max(latest):%Y-%m-%d}"
