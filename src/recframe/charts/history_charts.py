"""Chart of a history: values over time, bands, changes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any

import polars as pl

from recframe.charts.formatting import counted
from recframe.charts.forms import (
    ENDS,
    SAID,
    Field,
    canvas,
    curves,
    finished,
    marks,
    of_metric,
    views,
)
from recframe.charts.long_format import OneMetric, one_metric, with_names
from recframe.charts.themes import Look
from recframe.errors import RecframeError, shown, suggestion
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import parse
from recframe.tracking.changed_runs import CHANGED, FEWEST, OPEN
from recframe.tracking.histories import OF_RUN

SUBTITLE = (
    "Bands: intervals of the numbers. Triangles: numbers outside the band of the runs before."
)


def keys_of_changes(found: pl.DataFrame) -> list[str]:
    """Return the columns of segments and models of `rf.changes`."""
    names = found.columns[: found.columns.index("metric")]
    return [name for name in names if name not in OF_RUN]


def splits_of(found: pl.DataFrame, model: str) -> list[tuple[str, ...]]:
    """Return the columns that each number was split by, but models, in the order of their names."""
    names = sorted(name for name in keys_of_changes(found) if name != model)
    known = zip(*(found[name].is_not_null() for name in names), strict=True)
    return [tuple(compress(names, row)) for row in known] or [()] * len(found)


def timeline(
    found: pl.DataFrame,
    metric: str,
    model: str,
    by: Sequence[str] | None,
    look: Look,
    most: int = 6,
) -> Any:
    """Return the chart of a metric over time, of the rows of `rf.changes` that were split by some columns alone.

    Without columns, by the fewest that numbers were split by.
    """
    rows = found.filter(pl.col("metric") == metric)
    splits = splits_of(rows, model)
    known = _metric_of(metric)
    there = sorted({*splits}, key=lambda one: (len(one), one))
    by = there[0] if by is None else tuple(sorted(by))
    if by not in there:
        others = " or ".join(f"by={shown([*one])}" if one else "no by" for one in there)
        raise RecframeError(
            f"the history has no {metric} with by={shown([*by])}; draw what it has, with {others}"
        )
    rows = rows.filter(pl.Series([split == by for split in splits]))
    keys = [*by, *[model] * (model in rows.columns)]
    if rows["name"].n_unique() > 1:
        model = model if model in keys else "name"
        keys = [*keys, "name"]
    numbers = rows.columns[rows.columns.index("metric") :]
    # NOTE: one by one, since some names, such as "^.*$", are patterns to Polars
    rows = pl.DataFrame([rows[name] for name in (*keys, *numbers, "as_of")])
    runs = with_names(rows.rename({"n": "n_users"}), model)
    runs = runs._replace(data=runs.data.sort("place", "model", "as_of"))
    value = of_metric(known) if known else Field("value", f"{metric} {{}}", ends=ENDS, axis=metric)
    expected = Field("expected", "expected {}", ends=("expected_low", "expected_high"))
    told = [Field("as_of", "as of {}"), value, expected, Field("verdict"), Field("note")]
    of = canvas(look, runs, value, told, most=most)
    x = {"field": "as_of", "type": "temporal", "title": None}
    shape = {"expr": "datum.change > 0 ? 'triangle-up' : 'triangle-down'"}
    at = {"x": x, "y": value.along(padding=8), **SAID}
    colours: Any = {"fill": look.colours.warning, "stroke": look.colours.ink}
    changed = f"datum.verdict === '{CHANGED}'"
    flags = marks("point", at, changed, shape=shape, size=150, opacity=1, **colours)
    chart: Any = curves(of, x, flags, zero=False)
    chart = views(chart, of, "label", of.labels, 1) if of.by else chart
    return finished(chart, of, f"{metric} over time", SUBTITLE, _finding(metric, of.data))


def name_of(found: pl.DataFrame, metric: OneMetric, k: Any) -> str:
    """Return a metric's name in a history, users' own metrics included, or raise an error without it."""
    names = found["metric"].unique().sort().to_list()
    name = str(metric if metric in names else one_metric("timeline()", metric, k))
    if name not in names:
        close = suggestion(name, names) or f"; it has {', '.join(names) or 'no numbers'}"
        raise RecframeError(f"the history has nothing of {name!r}{close}")
    return name


def _metric_of(text: str) -> Metric[...] | None:
    """Return the metric of a text, None where it is one of the user's own that is not there now."""
    try:
        return parse(text)
    except RecframeError:
        return None


def _finding(metric: str, rows: pl.DataFrame) -> str:
    """Return how many numbers changed, of those that were judged, and the latest of them."""
    judged = rows.filter(pl.col("verdict") != OPEN)
    latest = rows.filter(verdict=CHANGED)["as_of"]
    if judged.is_empty():
        return f"{metric}: {FEWEST} runs are needed to say what is expected"
    if latest.is_empty():
        return f"{metric}: every number is as before"
    n = counted(len(latest), "number")
    return f"{metric}: {n} of {len(judged):,} changed, the latest of {max(latest):%Y-%m-%d}"
