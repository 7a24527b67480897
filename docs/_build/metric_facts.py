"""What a metric is at a glance, and its empty cases, asked of recframe."""

from __future__ import annotations

import math
from dataclasses import dataclass

import metric_shop as shop
import polars as pl
from metric_example import Example, number, quietly, shown
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
NEW = "zoe"
"""The user of the empty cases."""


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


@dataclass(frozen=True)
class Case:
    """A user of whom there is nothing to measure: their rows in each frame."""

    title: str
    recs: str
    truth: dict[str, int]
    train: str


CASES = {
    "truth": [
        Case("relevant items, and no list", "", {"A": 1}, "A"),
        Case("a list, and nothing relevant in the truth", "AB", {"A": 0, "B": 0}, "A"),
        Case("a list, and no row in the truth", "AB", {}, "A"),
    ],
    "train": [Case("a list, and no row in `train`", "AB", {"A": 1}, "")],
    "items": [Case("a list of items that `items` does not have", "XY", {"X": 1}, "A")],
    "reference": [Case("a list, and none in the reference", "AB", {"A": 1}, "A")],
}
"""By the frame that makes them a case."""
NO_LIST = Case("no list", "", {}, "A")


def empty(example: Example) -> str:
    """Return a table of what comes out where there is nothing to measure."""
    k = example.metric.k
    if len(example.users) > 1:
        rows = [
            ("one user alone", _value(example, (shop.ME,))),
            ("no lists at all", _value(example, ())),
        ]
        return table(["the segment has", f"value, k = {k}"], rows)
    asked = [one for side in example.sides for one in CASES[side]]
    own = quietly(lambda: example.rec.evaluate(example.metric, support=True))
    alone = own[f"n {example.metric}"].item()
    without = [] if example.needs.reads_relevance else [NO_LIST]
    rows = [(one.title, *_of_user(example, one, alone)) for one in [*without, *asked]]
    rows.append(("nobody is counted", _value(example, ()), "`n_users` is 0"))
    return table(["a user has", f"value, k = {k}", "in the mean"], rows)


def _value(example: Example, users: tuple[str, ...]) -> str:
    """Return the value over some users' lists, or nobody's."""
    sides = {side: example.frame(side) for side in example.sides}
    kept = {
        side: frame.filter(pl.col("user").is_in(users)) if side in {"truth", "reference"} else frame
        for side, frame in sides.items()
    }
    recs = example.frame("recs").filter(pl.col("user").is_in(users))
    found = quietly(lambda: recs.rec(**kept).evaluate(example.metric, by=example.by))
    return shown(found, str(example.metric), example.by)


def _of_user(example: Example, case: Case, alone: int) -> tuple[str, str]:
    """Return the value of a user beside the example's own, and whether they are in the mean of more than those."""
    name = str(example.metric)
    rec = _with(example, case)
    each = quietly(lambda: rec.evaluate(example.metric, by="user").filter(user=NEW))
    both = quietly(lambda: rec.evaluate(example.metric, support=True))
    counted = both[f"n {name}"].item() > alone
    value = number(each[name].item()) if each.height else "no row"
    return value, "yes" if counted else "no"


def _with(example: Example, case: Case):  # noqa: ANN202  what `.rec` is, which depends on the frame
    """Return the example's frames with one more user."""
    rows = {
        "recs": {"item": [*case.recs], "rank": [*range(1, len(case.recs) + 1)]},
        "truth": {"item": [*case.truth], "relevance": [*case.truth.values()]},
        "train": {"item": [*case.train]},
    }
    frames = {}
    for side in ("recs", *example.sides):
        frames[side] = example.frame(side)
        if side in rows and rows[side]["item"]:
            more = pl.DataFrame({"user": [NEW] * len(rows[side]["item"]), **rows[side]})
            frames[side] = pl.concat([frames[side], more], how="vertical_relaxed")
    return frames.pop("recs").rec(**frames)
