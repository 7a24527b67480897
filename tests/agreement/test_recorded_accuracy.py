"""recframe against numbers that other libraries gave, each in an environment of its own; `recorded/record.py` stored them.

Each line of `recorded/values.json` has two tests: with the profile that is to give a peer's numbers by itself, and with the
parameters that spell the same out, where there are any.
"""

from __future__ import annotations

import functools
import json
import math
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import recframe as rf

RECORDED = Path(__file__).parent / "recorded"
sys.path.append(str(RECORDED))

import scenes  # noqa: E402  the users that the peers were run on

# some record a level that no grade of the fixture reaches
pytestmark = pytest.mark.filterwarnings("ignore:unreached_min_relevance:recframe.RecframeWarning")

VALUES = json.loads((RECORDED / "values.json").read_text(encoding="utf-8"))
USUAL = {"k": scenes.KS, "moments": [], "options": {}, "bound": {}, "decimals": 10}
ROWS = [
    (peer, {"plain": row["metric"], **USUAL, **row})
    for peer, told in VALUES.items()
    for row in told["rows"]
]
FLOAT32 = {"torchmetrics"}
TIES = {"tied", "numbered"}

# What a peer has under one of our names and is not held against ours, and why.
NOT_SHARED = {
    ("torchmetrics", "RetrievalAUROC"): "0 for a list without a pair; ours is null, and the mean runs over the others",
    (
        "torchmetrics",
        "scores of 0 and below",
    ): "not retrieved in its precision, recall, MAP and MRR; ours ranks every score",
    ("rectools", "Accuracy, MCC"): "need a catalogue",
    ("recbole", "AUC, GAUC, LogLoss"): "need the scores of all items; GAUC weighs users by their relevant items",
    ("recbole", "short lists"): "its lists are full; the fixture's are filled up with misses",
    ("evidently", "MAP, MAR"): "depends on the order of the rows and exceeds 1 on lists of different lengths",
    ("evidently", "k beyond the longest list"): "an error there",
    ("evidently", "its column `rank`"): "one too high; values are taken by their place",
    ("lenskit", "users without truth"): "an error in AveragePrecision; run on the others there",
    (
        "implicit",
        "auc with k beyond the misses",
    ): "takes more misses than there are, and falls below 0; recorded on fewer places",
    ("kaggle", "users without an answer"): "1 in ml_metrics; they are not in its answers",
    ("lightgbm", "auc"): "of the pairs of all rows, whatever their query",
    ("microsoft", "by_threshold"): "takes its threshold for a k",
    ("microsoft", "auc, logloss, rmse"): "of scores, not of lists",
    ("spark", "graded nDCG"): "from Python, 4.0 takes a list of relevances and gives the number without them",
    ("sklearn", "label_ranking_average_precision_score"): "1 for a list without a relevant item",
    ("sklearn", "average_precision_score of ties"): "compared live, in test_tied_scores.py",
    ("ranx", "rbp, graded"): "weighs a hit with its grade, so that it can exceed 1; recorded on binary relevance",
    ("ranx", "ties in lists of more than 15 items"): "an unstable sort; recorded on shorter ones",
    (
        "ir_measures",
        "nDCG(dcg='exp-log2') of scores that are one in 32 bits",
    ): "from gdeval, which compares 64; ours as nDCG",
    ("elliot", "all"): "not on PyPI, so not run",
    ("all", "repeated items"): "several peers then give values above 1; no item is repeated here",
}  # fmt: skip


@functools.cache
def frames(scene: str, column: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Recommendations, with ranks or with scores, and truth."""
    made = scenes.SCENES[scene]()
    rows = made.recs if column == "score" else made.ranked()
    recs = pl.DataFrame(rows, schema=["user", "item", column], orient="row")
    return recs, pl.DataFrame(made.truth, schema=["user", "item", "relevance"], orient="row")


def named(row: tuple[str, dict[str, Any]]) -> str:
    peer, line = row
    return f"{peer}-{line['scene']}-{line['call']}"


def check(row: tuple[str, dict[str, Any]], metric: str, **options: Any) -> None:
    """A metric gives the recorded means, and the recorded moments of the users' values."""
    peer, line = row
    recs, truth = frames(line["scene"], "score" if line["scene"] in TIES else "rank")
    items = pl.concat([recs, truth], how="diagonal").select("item").unique()
    rec = recs.rec(truth=truth, **{"items": items} if line.get("catalogue") else {}, **options)
    tolerance = max(1e-6 if peer in FLOAT32 else 1e-9, 10.0 ** -line["decimals"])
    metrics = [rf.parse(metric) if k is None else rf.parse(metric) @ k for k in line["k"]]
    means = rec.evaluate(*metrics)[:, -len(metrics) :].row(0)
    assert means == pytest.approx(tuple(line["means"]), rel=tolerance, abs=tolerance)
    if line["moments"]:
        by_user = rec.evaluate(*metrics, by="user")
        values = by_user[:, -len(metrics) :]
        moments = [scenes.moment(dict(zip(by_user["user"], own, strict=True))) for own in values]
        assert moments == pytest.approx(
            line["moments"], rel=tolerance, abs=tolerance * scenes.N_USERS
        )


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in ROWS if row[1]["plain"]], ids=named)
def test_parameters_give_the_recorded_numbers(row: tuple[str, dict[str, Any]]):
    check(row, row[1]["plain"], **row[1]["options"])


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in ROWS if row[1]["metric"]], ids=named)
def test_the_profile_gives_the_recorded_numbers(row: tuple[str, dict[str, Any]]):
    check(row, row[1]["metric"], profile=row[1]["profile"], **row[1]["bound"])


def test_the_users_are_of_every_kind():
    made = scenes.graded()
    lists, judged = made.lists(), made.relevances()
    assert len(lists.keys() & judged) > 200
    assert len(lists.keys() - judged) > 30
    assert len(judged.keys() - lists) > 30
    assert sum(not any(found.values()) for found in judged.values()) > 30
    assert {relevance for found in judged.values() for relevance in found.values()} == {
        0,
        1,
        2,
        3,
        4,
    }
    assert {len(items) for items in lists.values()} == set(scenes.LENGTHS) - {0}
    assert max(scenes.LENGTHS) < max(scenes.KS)
    tied = scenes.tied().lists()
    assert sum(len(set(items.values())) < len(items) for items in tied.values()) > 150


def test_the_moment_of_values_tells_users_apart():
    assert math.isclose(scenes.moment({"u1": 0.0, "u3": 1.0, "u9": None}), 1.5)
    assert math.isclose(scenes.moment({"u1": 1.0, "u3": 0.0, "u9": None}), 0.5)
