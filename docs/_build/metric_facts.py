"""What a metric is at a glance."""

from __future__ import annotations

import math
from collections.abc import Mapping

from metric_text import code, table, written

from recframe.evaluation.required_columns import has_interval, is_of_segment, needs_of
from recframe.metrics.language.definition import Metric

BETTER = {"higher": "higher", "lower": "lower", "": "neither: it describes"}
FRAMES = {
    "truth": "`truth=`, or a judged frame",
    "catalogue": "`items=` for the catalogue (or `train=`, for its items)",
}
SHAPES = {
    "set": "all lists of a segment together, not a mean over users",
    "user": "a mean of each list's value",
}
K = 5
"""Some cut-off: what a metric needs is the same for all."""


def glance(metric: Metric[...]) -> str:
    """Return a table of what holds of the metric."""
    about = metric.definition
    ranges = {choice: interval(ends) for choice, ends in about.ranges.items()}
    shapes = {choice: SHAPES[shape] for choice, shape in about.shapes.items()}
    rows = {
        "Also called": ", ".join(map(code, about.aliases)),
        "Range": _with_choices(interval(about.range), ranges),
        "Better": BETTER[about.direction],
        "Value of": _with_choices(_value_of(metric), shapes),
        "Needs": "; ".join(FRAMES.get(one, code(f"{one}=")) for one in needed(metric)),
        "Intervals": _intervals(metric),
    }
    family = f"[{about.family}](index.md#{about.family})"
    return table(["Family", family], [(f"**{one}**", text) for one, text in rows.items() if text])


def interval(ends: tuple[float, float]) -> str:
    """Return a range as it is written, an open end as infinite."""
    low, high = (f"{one:g}".replace("inf", "∞") for one in ends)
    left, right = "(["[math.isfinite(ends[0])], ")]"[math.isfinite(ends[1])]
    return f"{left}{low}, {high}{right}"


def needed(metric: Metric[...]) -> list[str]:
    """Return what a metric needs beside the lists."""
    needs = needs_of(metric @ K)
    return ["truth"] * needs.reads_relevance + [*filter("relevance".__ne__, needs.sources)]


def _with_choices(usual: str, others: Mapping[tuple[str, object], str]) -> str:
    """Return what holds, and what else holds with a choice of a parameter."""
    said = [f"{text} with `{name}={written(value)}`" for (name, value), text in others.items()]
    return "; ".join([usual, *said])


def _value_of(metric: Metric[...]) -> str:
    about = metric.definition
    if about.shape == "set":
        return SHAPES["set"]
    if is_of_segment(metric @ K):
        return "all users of the truth together, made of their means"
    users = "in the truth" if "truth" in needed(metric) else "with a list, in the truth or not"
    return f"each {about.over.removesuffix('s')}; the mean runs over the users {users}"


def _intervals(metric: Metric[...]) -> str:
    """Return which intervals `summarize` has."""
    if not has_interval(metric @ K):
        return "none: it compares each list with all others"
    users = "another sample of as many users" if is_of_segment(metric @ K) else "a mean over users"
    return f"[yes](../uncertainty.md), of {users}"
