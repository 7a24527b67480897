"""The rule on several lists in one, in plain Python, and random ranks that it leaves alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import polars as pl

Row = Mapping[str, Any]
NO_KEYS = {"rank", "relevance", "score"}


def are_pooled(rows: Sequence[Row], keys: Sequence[str] = ("user",)) -> bool:
    """Whether most lists with two items or more have more than 1.25 for each rank, of those ahead of the last rank and one."""
    best: dict[tuple[Any, ...], dict[Any, float]] = {}
    for row in ranked(rows):
        own = best.setdefault(tuple(row[key] for key in keys), {})
        own[row["item"]] = min(row["rank"], own.get(row["item"], math.inf))
    lists = [[*own.values()] for own in best.values() if len(own) > 1]
    several = [
        sum(rank < max(own) for rank in own) + 1 > 1.25 * math.ceil(max(own)) for own in lists
    ]
    return 2 * sum(several) > len(several)


def ranked(rows: Sequence[Row]) -> list[Row]:
    there = [row for row in rows if None not in {row["user"], row["item"], row["rank"]}]
    return [row for row in there if math.isfinite(row["rank"])]


def apart(rows: Sequence[Row], keys: Sequence[str] = ("user", "model")) -> list[dict[str, Any]]:
    """Move ranks down, by whole places, where a part of a list would be several in one.

    The order, ties, ranks closer than 1 and missing ranks stay. Rows that differ in a segment may be counted apart.
    """
    moved: dict[int, float] = {}
    own = [(tuple(row.get(key) or "" for key in keys), row) for row in ranked(rows)]
    own.sort(key=lambda one: (one[0], one[1]["rank"]))
    for _, of_list in groupby(own, key=lambda one: one[0]):
        above, by = set(), 0
        for rank, tied in groupby((row for _, row in of_list), key=lambda row: row["rank"]):
            by = max(by, math.ceil(0.8 * (len(above) + 1)) - math.ceil(rank))
            for row in tied:
                moved[id(row)] = rank + by
                above.add(tuple(row[name] for name in row if name not in NO_KEYS))
    return [{**row, "rank": moved.get(id(row), row["rank"])} for row in rows]


def frame_apart(frame: pl.DataFrame, keys: Sequence[str] = ("user", "model")) -> pl.DataFrame:
    return pl.DataFrame(apart(frame.to_dicts(), keys), schema=frame.schema)
