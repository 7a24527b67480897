"""RecTools: windows of whole days and hours to the end of the last, and the last rows of a user in the order of the file."""

from __future__ import annotations

import pandas as pd
from rectools import Columns
from rectools.dataset import Interactions
from rectools.model_selection import LastNSplitter, TimeRangeSplitter
from scenes_splits import answer, moments

FILTERS = ("filter_cold_users", "filter_cold_items", "filter_already_seen")
OURS = {
    (False, False, False): {},
    (True, False, False): {"cold": "drop_users"},
    (False, True, False): {"cold": "drop_items"},
    (False, False, True): {"seen": "drop"},
    (True, True, True): {"cold": "drop", "seen": "drop"},
}
WINDOWS = (("7D", 1), ("3D", 3), ("36H", 3))


def answers(name, rows):
    """Give every window with every filter; the last rows of users who all have enough of them."""
    log = pd.DataFrame([row[:2] for row in rows], columns=[Columns.User, Columns.Item])
    log = Interactions(log.assign(**{Columns.Weight: 1.0, Columns.Datetime: moments(rows)}))
    for chosen, options in OURS.items():
        filters = dict(zip(FILTERS, chosen, strict=True))
        shown = ", ".join(f"{key}={value}" for key, value in filters.items())
        for size, n_splits in WINDOWS if name != "ten" else ():
            horizon = size.lower()
            window = (
                {"rule": "rolling", "folds": n_splits, "horizon": horizon}
                if n_splits > 1
                else {"rule": "by_time", "last": horizon}
            )
            yield answer(
                name,
                f"TimeRangeSplitter('{size}', n_splits={n_splits}, {shown})",
                _folds(TimeRangeSplitter(size, n_splits, *chosen), log),
                {**window, "align": "day" if "D" in size else "hour", **options},
            )
        for n, n_splits in ((1, 1), (2, 1), (2, 3)) if name in {"eight", "ten"} else ():
            same = {"rule": "last_per_user", "n": n, "folds": n_splits, "item": "row", **options}
            yield answer(
                name,
                f"LastNSplitter({n}, n_splits={n_splits}, {shown})",
                _folds(LastNSplitter(n, n_splits, *chosen), log),
                same if name == "eight" and not any(chosen[1:]) else None,
            )


def _folds(splitter, log):
    return [(train, truth) for train, truth, _ in splitter.split(log)]
