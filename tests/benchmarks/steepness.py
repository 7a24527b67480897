"""Where a line of times by size is the steepest, whether it is worse than linear, and where it has a cliff."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

STEEP = 1.15
"""A steeper part of a line is worse than linear, if it has some seconds in it."""
WEIGHTY = 0.05
APART = 1.2
"""Of points that are closer than this multiple, the steepness would be that of noise; cliffs are looked for in all."""
CLIFF = 1.5
"""A row, or whatever there is more of, that takes this multiple of what it took one point before."""


def steepest(points: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the steepest part of a line; of the parts with some seconds in them, where there are such."""
    pairs = pairwise(points)
    parts = [
        {
            "slope": math.log(after["minimum"] / before["minimum"])
            / math.log(after["size"] / before["size"]),
            "from": before["size"],
            "to": after["size"],
            "weighty": after["minimum"] - before["minimum"] > WEIGHTY,
        }
        for before, after in pairs
        if after["size"] >= APART * before["size"]
    ]
    return max(parts, key=lambda part: (part["weighty"], part["slope"]))


def findings(points: Sequence[dict[str, Any]]) -> list[str]:
    """Return what is worse than linear, and cliffs."""
    found = []
    worst = steepest(points)
    if worst["weighty"] and worst["slope"] > STEEP:
        found.append(
            f"worse than linear: slope {worst['slope']:.2f} from {worst['from']:,} to {worst['to']:,}"
        )
    for before, after in pairwise(points):
        each = [one["minimum"] / one["size"] for one in (before, after)]
        if each[1] > CLIFF * each[0]:
            found.append(
                f"cliff: {after['size']:,} take {each[1] / each[0]:.2f} x as long for each as {before['size']:,}"
            )
    return found
