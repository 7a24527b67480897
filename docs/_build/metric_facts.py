"""What a metric is at a glance."""

from __future__ import annotations

import math

from metric_example import Example
from metric_text import code, table

from recframe.evaluation.required_columns import is_of_segment
from recframe.side_info.aggregation_levels import Level
from recframe.statistics.groups import reason_without

BETTER = {"higher": "higher", "lower": "lower", "": "neither: it describes"}
FRAMES = {
    "truth": "`truth=`, or a judged frame",
    "train": "`train=`",
    "items": "`items=`",
    "catalogue": "`items=` for the catalogue (or `train=`, for its items)",
    "reference": "`reference=`",
}


def glance(example: Example) -> str:
    """Return a table of what holds of the metric."""
    about = example.metric.definition
    rows = [
        ("Family", f"[{about.family}](index.md#{about.family})"),
        ("Also called", ", ".join(map(code, about.aliases)) or "-"),
        ("Range", _ranges(example)),
        ("Better", BETTER[about.direction]),
        ("Value of", _shape(example)),
        ("Needs", _needs(example)),
        ("Intervals", _intervals(example)),
        ("Runs on", _runs(example)),
    ]
    (first, family), *others = rows
    kept = [(f"**{title}**", told) for title, told in others if told != "-"]
    return table([first, family], kept)


def _ranges(example: Example) -> str:
    about = example.metric.definition
    others = [
        f"{interval(ends)} with `{name}={_quoted(value)}`"
        for (name, value), ends in about.ranges.items()
    ]
    return "; ".join([interval(about.range), *others])


def interval(ends: tuple[float, float]) -> str:
    """Return a range as it is written, an open end as infinite."""
    low, high = (
        "∞" if one == math.inf else "-∞" if one == -math.inf else f"{one:g}" for one in ends
    )
    return f"{'[' if math.isfinite(ends[0]) else '('}{low}, {high}{']' if math.isfinite(ends[1]) else ')'}"


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _shape(example: Example) -> str:
    about = example.metric.definition
    if about.shape == "set":
        grows = "; it depends on how many users there are" if about.grows else ""
        told = f"all lists of a segment together, not a mean over users{grows}"
    elif is_of_segment(example.metric):
        told = "all users of the truth together, made of their means"
    elif about.over == "lists" and not example.needs.reads_relevance:
        told = "each list; the mean runs over users with a list, in the truth or not"
    elif about.over == "lists":
        told = "each list; the mean runs over the lists of the users in the truth"
    else:
        told = "each user; the mean runs over the users in the truth"
    others = [
        f"with `{name}={_quoted(value)}` {_of(shape)}"
        for (name, value), shape in about.shapes.items()
    ]
    return "; ".join([told, *others])


def _of(shape: str) -> str:
    return (
        "it is one function of all lists" if shape == "set" else "it is a mean of each list's value"
    )


def needed(example: Example) -> list[str]:
    """Return what a metric needs beside the lists."""
    named = [one for one in example.metric.definition.needs if one != "relevance"]
    return ["truth"] * example.needs.reads_relevance + named


def _needs(example: Example) -> str:
    named = needed(example)
    return "; ".join(FRAMES.get(one, code(f"{one}=")) for one in named) or "the lists alone"


def _intervals(example: Example) -> str:
    """Return which intervals `summarize` has."""
    metric = example.metric
    if not is_of_segment(metric):
        return "[yes](../uncertainty.md), of a mean over users"
    reason = reason_without(metric)
    if reason is None:
        return "[yes](../uncertainty.md), for another sample of as many users"
    return f"none: {reason}"


def _runs(example: Example) -> str:
    """Return where the metric is computed, and what streams of it."""
    levels = example.needs.levels
    told = "Polars (eager, lazy, streaming), pandas, Arrow, [Spark and Dask](../engines.md)"
    if Level.PLACE in levels:
        told += "; it ranks the listed items of a segment, which are held in memory"
    if {Level.ALONG, Level.ALONG_ALL} & levels:
        told += "; not in parts, as it compares each list with the others"
    return told
