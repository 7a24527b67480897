"""The rows of train and truth against those that other libraries gave.

`tests/recorders/record.py --splits` asked them, each in an environment of its own. A line names the rule of recframe that is
to give a peer's rows; one without a rule is told apart below.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

RECORDERS = Path(__file__).parents[1] / "recorders"
sys.path.append(str(RECORDERS))

import scenes_splits  # noqa: E402  the logs that the peers were run on

VALUES = json.loads((RECORDERS / "values_splits.json").read_text(encoding="utf-8"))
LINES = [(peer, line) for peer, told in VALUES.items() for line in told["rows"]]
TEN = {(peer, line["call"]): line["folds"] for peer, line in LINES if line["scene"] == "ten"}
LETTERS = {"train": scenes_splits.TRAIN, "truth": scenes_splits.TRUTH}


def log(scene: str) -> pl.DataFrame:
    """Return a log with the number of each row."""
    rows = scenes_splits.SCENES[scene]()
    frame = pl.DataFrame(rows, schema=["user", "item", "time"], orient="row")
    return frame.with_columns(time=pl.Series(scenes_splits.moments(rows))).with_row_index("row")


def folds(scene: str, rule: str, item: str = "item", **options: Any) -> list[str]:
    """Return a letter for each row of each fold; with the row's number as the item, ties are in the order of rows."""
    bound = log(scene).rec(user="user", item=item, time="time")
    labels = getattr(bound.split, rule)(**options).labels.sort("fold", "row")
    return [
        "".join(LETTERS.get(part, scenes_splits.NEITHER) for part in fold["part"].to_list())
        for fold in labels.partition_by("fold", maintain_order=True)
    ]


@pytest.mark.parametrize("peer", VALUES)
def test_rows_are_those_of_the_peer(peer: str) -> None:
    """Where the rules agree, every row is in the same part; each peer shares a rule on a log with ties."""
    lines = [line for line in VALUES[peer]["rows"] if line["ours"]]
    differ = [one["call"] for one in lines if folds(one["scene"], **one["ours"]) != one["folds"]]
    assert differ == []
    assert {line["scene"] for line in lines} & {"tied", "eight"}


def ten(rule: str, **options: Any) -> str:
    """Return the letters of ten rows: users 1 (seven rows), 2 (two) and 3 (one); rows 4 to 8 are of one time."""
    (only,) = folds("ten", rule, **options)
    return only


def told(peer: str, call: str) -> str:
    """Return what a peer makes of the ten rows."""
    (only,) = TEN[peer, call]
    return only


def test_users_of_few_rows_are_not_wholly_truth() -> None:
    """Users of one or two rows: all truth in the peers, all train here, where one row is to be left of them."""
    rectools = [f"filter_{what}=False" for what in ("cold_users", "cold_items", "already_seen")]
    for peer, call in (
        ("rectools", f"LastNSplitter(2, n_splits=1, {', '.join(rectools)})"),
        ("replay", "LastNSplitter(2) on pandas"),
    ):
        assert told(peer, call) == "tttxtxtxxx"
    assert told("microsoft", "python_chrono_split(ratio=0.5)")[-1] == "x"
    assert told("replay", "RatioSplitter(0.25) on pandas")[-1] == "x"
    assert ten("last_per_user", n=2) == "tttttttxxt"


def test_replay_on_polars_takes_a_user_with_fewer_rows_as_train() -> None:
    """1 - 2 wraps around in unsigned counts, so the last row is in train on Polars alone; the user of two rows is all truth."""
    assert told("replay", "LastNSplitter(2) on Polars") == "tttxtxtxxt"


def test_ties_at_a_share_stay_together() -> None:
    """RePlay on Polars cuts the rows of one time by their number; on pandas they are truth, as here."""
    assert told("replay", "TimeSplitter(0.3) on Polars") == "tttttttxxx"
    assert told("replay", "TimeSplitter(0.3) on pandas") == "ttttxxxxxx"
    assert ten("by_time", share=0.3) == "ttttxxxxxx"


def test_a_share_is_rounded_before_rows_are_counted() -> None:
    """(1 - .9) * 10 is .9999999999999998: RePlay takes 0 rows for train, where .1 of ten is one."""
    assert told("replay", "TimeSplitter(0.9) on pandas") == "xxxxxxxxxx"
    assert ten("by_time", share=0.9) == "txxxxxxxxx"


def test_truth_is_at_least_the_share() -> None:
    """LensKit interpolates between the times of rows 2 and 3, which leaves seven rows for a share of .75; here it is eight."""
    assert told("lenskit", "split_temporal_fraction(0.75)") == "tttxxxxxxx"
    assert ten("by_time", share=0.75) == "ttxxxxxxxx"
