"""Microsoft recommenders on pandas: a share of each user's rows, which is a number of them where all users have as many."""

from __future__ import annotations

from itertools import chain

import pandas as pd
from recommenders.datasets.python_splitters import python_chrono_split
from scenes_splits import answer, moments

NAMES = {"col_user": "user", "col_item": "item", "col_timestamp": "time"}
CALLS = [(0.75, 2, 1), (0.5, 4, 1), (0.875, 1, 1), ([0.5, 0.25, 0.25], 2, 2)]


def answers(name, rows):
    """Give the shares; of three parts, the second and the third are the truths of two folds."""
    if name not in {"eight", "ten"}:
        return
    log = pd.DataFrame([row[:2] for row in rows], columns=["user", "item"])
    log = log.assign(time=moments(rows), row=range(len(rows)))
    for ratio, n, folds in CALLS:
        parts = [[*part["row"]] for part in python_chrono_split(log.copy(), ratio, **NAMES)]
        same = {"rule": "last_per_user", "n": n, "folds": folds, "item": "row"}
        yield answer(
            name,
            f"python_chrono_split(ratio={ratio})",
            [(chain(*parts[:place]), parts[place]) for place in range(1, len(parts))],
            same if name == "eight" else None,
        )
