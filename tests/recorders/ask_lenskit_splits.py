"""LensKit: a point of time, several of them, and a share by linear interpolation of the times."""

from __future__ import annotations

import logging
from datetime import timedelta
from fractions import Fraction

import pandas as pd
from lenskit.data import DatasetBuilder
from lenskit.splitting import split_global_time, split_temporal_fraction
from scenes_splits import START, answer, moments

POINTS = (12, 19, 22, 27)  # days after `START`
FRACTIONS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.5)


def answers(name, rows):
    """Give a point, three points whose last window is open, users who are known alone, and shares."""
    logging.disable()
    if name == "ten":
        yield answer(
            name, "split_temporal_fraction(0.75)", [_parts(rows, split_temporal_fraction, 0.75)]
        )
        return
    first, *others = [START + timedelta(days=days) for days in POINTS]
    yield answer(
        name,
        f"split_global_time('{others[0]}')",
        [_parts(rows, split_global_time, others[0])],
        {"rule": "by_time", "at": others[0].isoformat()},
    )
    yield answer(
        name,
        f"split_global_time('{first}', end='{others[0]}', filter_test_users=True)",
        [_parts(rows, split_global_time, first, end=others[0], filter_test_users=True)],
        {
            "rule": "by_time",
            "at": first.isoformat(),
            "until": others[0].isoformat(),
            "cold": "drop_users",
        },
    )
    for share in FRACTIONS:
        yield answer(
            name,
            f"split_temporal_fraction({share})",
            [_parts(rows, split_temporal_fraction, share)],
            {"rule": "by_time", "share": share} if _between(share, len(rows)) else None,
        )


def _between(share, n_rows):
    """Whether the interpolated time lies before the first row that a share of exactly so many rows would have."""
    kept = 1 - Fraction(str(share))
    return kept * n_rows % 1 <= kept


def _parts(rows, split, *arguments, **options):
    log = pd.DataFrame([row[:2] for row in rows], columns=["user_id", "item_id"])
    log = log.assign(timestamp=moments(rows), row=range(len(rows)))
    building = DatasetBuilder()
    building.add_interactions(
        "log", log, entities=["user", "item"], missing="insert", allow_repeats=True, default=True
    )
    done = split(building.build(), *arguments, **options)
    return done.train.interaction_table(format="pandas")["row"], done.test_df["row"]
