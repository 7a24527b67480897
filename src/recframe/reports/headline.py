"""The first screen of a report: headline, facts, sentences.

Each function takes rows of the report's numbers, and knows no frame: a new sentence or tile is a function more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import recframe
from recframe.charts.formatting import Row, counted, number, signed, with_interval
from recframe.charts.long_format import noun_of
from recframe.charts.themes import ALL
from recframe.metrics.language.definition import Metric

VERDICT_MARKS = {
    **dict.fromkeys(("better", "not worse"), "better"),
    **dict.fromkeys(("worse", "not better"), "worse"),
    **dict.fromkeys(("same", "higher", "lower"), "same"),
}
"""The looks of verdicts, by their words; others are open."""


def headline(
    data: Mapping[str, Sequence[Row]], metrics: Sequence[Metric[...]], baseline: str | None
) -> str:
    """Return the headline: the first metric's verdict, or without a comparison its best value."""
    if data["compared"]:
        return verdict_in_words(first_compared(data["compared"], metrics[0], baseline))
    return best_value(data["summary"], metrics[0]) if data["summary"] else ""


def facts(
    data: Mapping[str, Sequence[Row]], models: Sequence[str], **named: str | None
) -> list[tuple[str, str]]:
    """Return the names and values below the title, of what there is."""
    users = max((row["n_users"] for row in data["summary"]), default=None)
    found: dict[str, Any] = {
        "Users": None if users is None else f"{users:,}",
        "Models": f"{len(models):,}" if models else None,
        **named,
        "recframe": recframe.__version__,
    }
    return [(name, value) for name, value in found.items() if value is not None]


def first_compared(rows: Sequence[Row], metric: Metric[...], baseline: str | None) -> Row:
    """Return the comparison for the headline: the first metric's, of the model with the best value."""
    rows = [row for row in rows if row["metric"] == str(metric)] or rows
    rows = [row for row in rows if row["value"] is not None] or rows
    if baseline is None:
        return max(rows, key=lambda one: abs(one["difference"] or 0.0))
    sign = -1 if metric.definition.direction == "lower" else 1
    return max(rows, key=lambda one: sign * (one["value"] or 0.0))


def best_value(rows: Sequence[Row], metric: Metric[...]) -> str:
    """Return the best value of a metric as a sentence."""
    rows = [row for row in rows if row["metric"] == str(metric)]
    known = [row for row in rows if row["value"] is not None]
    if not known:
        return f"No user has a value of {metric}."
    is_lower = metric.definition.direction == "lower"
    best = (min if is_lower else max)(known, key=lambda one: one["value"])
    value = with_interval(best, "value")
    users = counted(best["n_users"], noun_of(metric))
    if len(rows) == 1:
        return f"{metric} is {value}, over {users}."
    extreme = "lowest" if is_lower else "highest"
    return f"{best['model']} has the {extreme} {metric}: {value}, over {users}."


def verdict_in_words(row: Row) -> str:
    """Return a comparison as a sentence."""
    names = ("model", "baseline", "metric", "verdict")
    model, baseline, metric, verdict = (row[name] for name in names)
    users = counted(row["n_users"], "user")
    pair = f"{model} is {'the same as' if verdict == 'same' else f'{verdict} than'} {baseline}"
    if verdict in {"better", "worse", "higher", "lower"}:
        ends = (f"difference{end}" for end in ("", "_low", "_high"))
        size, *bounds = (abs(row[one] or 0.0) for one in ends)
        low, high = map(number, sorted(bounds))
        return f"{pair} by {number(size)} ({low} to {high}) in {metric}, {users}."
    said = f"{pair} in {metric}"
    if verdict not in VERDICT_MARKS:
        said = f"Whether {model} differs from {baseline} in {metric} is open"
    return f"{said}: a difference of {with_interval(row, 'difference', signed)}, {users}."


def widest_gap(gaps: Sequence[Row]) -> str:
    """Return the widest gap of the first metric as a sentence."""
    known = [gap for gap in gaps if gap["gap"] is not None]
    if not known:
        return "No two segments are large enough to be compared."
    first = [one for one in known if one["metric"] == known[0]["metric"]]
    widest = max(first, key=lambda one: one["gap"])
    of = "" if widest["model"] == ALL else f" with {widest['model']}"
    values = f"{number(widest['best_value'])} against {number(widest['worst_value'])}"
    said = f"By {widest['by']}, {widest['metric']}{of} is the furthest apart between {widest['best']} and {widest['worst']}"
    sure = "" if (widest["gap_low"] or 0) > 0 else ", which may be chance"
    return f"{said}: {values}, a gap of {with_interval(widest, 'gap')}{sure}."
