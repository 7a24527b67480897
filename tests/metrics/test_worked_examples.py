"""Numbers worked out by hand, on every kind of frame."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

import recframe as rf
from asking import ask, ask_one, recommended, rows
from frame_kinds import KINDS, Kind
from worked_lists import BY_TAIL, FIXTURE, PLAIN, WORKED

log2 = math.log2

# One user; relevant A, C, F; ranking B A D C E F.
ONE_LIST = pl.DataFrame(
    {
        "user": ["u"] * 6,
        "item": list("BADCEF"),
        "rank": [1, 2, 3, 4, 5, 6],
        "relevance": [0, 1, 0, 1, 0, 1],
    }
)
ONE_LIST_EXPECTED = {
    "hit_rate@1": 0.0,
    "hit_rate@2": 1.0,
    "precision@5": 0.4,  # A and C, of five places
    "precision(denominator=achievable)@5": 2 / 3,
    "recall@5": 2 / 3,
    "recall(denominator=capped)@2": 0.5,  # A, of two places
    "f_score@5": 0.5,  # 2 · 2/5 · 2/3 / (2/5 + 2/3)
    "f_score(beta=2)@5": 5 * 0.4 * (2 / 3) / (4 * 0.4 + 2 / 3),
    "mrr": 0.5,  # A at rank 2
    "map": (1 / 2 + 2 / 4 + 3 / 6) / 3,
    "map@5": (1 / 2 + 2 / 4) / 3,
    "map(normalizer=min)@2": (1 / 2) / 2,
    "map(normalizer=hits)@5": (1 / 2 + 2 / 4) / 2,
    "map(normalizer=k)@5": (1 / 2 + 2 / 4) / 5,
    "dcg@5": 1 / log2(3) + 1 / log2(5),  # 1.061606
    "dcg(log_base=10)@5": 1 / math.log10(3) + 1 / math.log10(5),
    "ndcg@5": 0.4981892574664129,  # 1.061606 / (1 + 1/log2 3 + 1/2) = 1.061606 / 2.130930
    "ndcg(ideal=list)@5": (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3)),  # 0.650921
    "ndcg(ideal=k)@2": (1 / log2(3)) / (1 + 1 / log2(3)),
    "r_precision": 1 / 3,  # A, among the first three
    "r_precision@1": 0.0,
    "rbp(p=0.5)@4": 0.5 * (0.5 + 0.125),
    "err(max_grade=1)": 0.5 / 2 + 0.5 * 0.5 / 4 + 0.5 * 0.25 / 6,
    "bpref": (2 / 3 + 1 / 3 + 0) / 3,  # one, two and three of three misses above
    "auc": 3 / 9,  # A above D and E, C above E: three pairs of nine
    "auc@3": 0.5,  # A above D, below B
    "n_hits@5": 2.0,
    "first_rank": 2.0,
    "list_length": 6.0,
    "list_length@5": 5.0,
    "judged@5": 1.0,
}

# Relevant a, b and c; ranking a x b y c, with precisions of 1, 2/3 and 3/5. Of 0.7 of 3 items, 2.1, trec_eval 9 makes 2, since
# 0.7 * 3 + 0.9 is 2.9999999999999996, and 10 the nearest number. At the recalls from 0 to 1 they want so many items:
#   ours         0 1 1 1 2 2 2 3 3 3 3   4 · 1 + 3 · 2/3 + 4 · 3/5 = 8.4
#   trec_eval 9  0 1 1 1 2 2 2 2 3 3 3   4 · 1 + 4 · 2/3 + 3 · 3/5 = 8.4667
#   trec_eval 10 0 0 1 1 1 2 2 2 2 3 3   5 · 1 + 4 · 2/3 + 2 · 3/5 = 8.8667
CURVE = pl.DataFrame(
    {"user": [1] * 5, "item": list("axbyc"), "rank": range(1, 6), "relevance": [1, 0, 1, 0, 1]}
)
CURVE_EXPECTED = {
    "interpolated_precision(recall=0.7)": 3 / 5,
    "interpolated_precision(recall=0.7,rounding=tenth)": 2 / 3,
    "interpolated_precision(recall=0.7,rounding=nearest)": 2 / 3,
    "interpolated_precision(recall=0.1,rounding=nearest)": 1.0,
    "eleven_point_precision": 8.4 / 11,
    "eleven_point_precision(rounding=tenth)": (4 + 4 * 2 / 3 + 3 * 3 / 5) / 11,
    "eleven_point_precision(rounding=nearest)": (5 + 4 * 2 / 3 + 2 * 3 / 5) / 11,
}

# Relevant 2 and 6; A ranks 6 2 1 0 3, B ranks 4 1 7 2 6.
TWO_SYSTEMS = pl.DataFrame(
    {
        "system": ["A"] * 5 + ["B"] * 5,
        "user": ["u"] * 10,
        "item": [6, 2, 1, 0, 3, 4, 1, 7, 2, 6],
        "rank": [1, 2, 3, 4, 5] * 2,
    }
)
TWO_SYSTEMS_TRUTH = pl.DataFrame({"user": ["u", "u"], "item": [2, 6]})
TWO_SYSTEMS_EXPECTED = {
    "precision@5": (0.4, 0.4),
    "recall@5": (1.0, 1.0),
    "map@5": (1.0, (1 / 4 + 2 / 5) / 2),  # 0.325
    "mrr": (1.0, 0.25),
    "ndcg@5": (1.0, (1 / log2(5) + 1 / log2(6)) / (1 + 1 / log2(3))),  # 0.501266
}

# Graded: ideal order 3 2 1, of which 2 was never recommended.
GRADED = pl.DataFrame(
    {
        "user": [1] * 5,
        "item": [10, 11, 12, 13, 14],
        "rank": [1, 2, 3, 4, None],
        "relevance": [1.0, None, 3.0, 0.0, 2.0],
    }
)
GRADED_EXPECTED = {
    "dcg@3": 1 + 3 / 2,
    "dcg(gain=exp)@3": 1 + 7 / 2,
    "dcg(gain=binary)@3": 1 + 1 / 2,
    "ndcg@3": (1 + 3 / 2) / (3 + 2 / log2(3) + 1 / 2),
    "ndcg(gain=exp)@3": (1 + 7 / 2) / (7 + 3 / log2(3) + 1 / 2),
    "ndcg@1": 1 / 3,
    "ndcg(ideal=list)@3": (1 + 3 / 2) / (3 + 1 / log2(3)),
    "err@3": 1 / 16 + (15 / 16) * (7 / 16) / 3,
    "err(max_grade=2)@3": 1 / 4 + (3 / 4) * (3 / 4) / 3,  # the 3 counts as 2
    "judged@3": 2 / 3,
    "recall@3": 2 / 3,
    "bpref": 2 / 3,  # item 13, judged not relevant, stands below both
    "auc": 3 / 4,  # 11 stands above 12: one wrong pair of four
}

EVERY_KIND = True
"""Each test runs on every kind of frame."""


@pytest.mark.parametrize(
    ("frame", "expected"),
    [(ONE_LIST, ONE_LIST_EXPECTED), (GRADED, GRADED_EXPECTED), (CURVE, CURVE_EXPECTED)],
    ids=["one list", "graded", "curve"],
)
def test_metrics_worked_out_by_hand(kind, frame, expected):
    found = kind.read(kind(frame).rec.evaluate(*expected)).row(0, named=True)

    assert found.pop("n_users") == 1
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (ONE_LIST, ONE_LIST_EXPECTED),
        pytest.param(GRADED, GRADED_EXPECTED, marks=pytest.mark.slow),
        pytest.param(CURVE, CURVE_EXPECTED, marks=pytest.mark.slow),
    ],
    ids=["one list", "graded", "curve"],
)
def test_expressions_worked_out_by_hand(frame, expected):
    expressions = [rf.parse(name).expr() for name in expected]

    assert frame.select(expressions).row(0, named=True) == pytest.approx(expected, abs=1e-12)
    assert frame.group_by("user").agg(expressions).drop("user").row(0, named=True) == pytest.approx(
        expected, abs=1e-12
    )
    over = frame.select(one.over("user") for one in expressions)
    assert over.row(-1, named=True) == pytest.approx(expected, abs=1e-12)


def test_a_reader_stops_at_the_first_hit_of_the_highest_of_steep_grades():
    frame = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, 3]})
    frame = frame.with_columns(relevance=pl.Series([0.0, 100.0, 100.0]))
    metric = rf.err(max_grade=100)

    # what is left to read behind it is 2^-100, which 1 - (2^100 - 1) / 2^100 is not in floating point
    assert frame.rec.evaluate(metric).item(0, str(metric)) == pytest.approx(1 / 2, rel=1e-15)
    assert frame.select(metric.expr()).item() == pytest.approx(1 / 2, rel=1e-15)


def test_two_systems_worked_out_by_hand(kind):
    rec = kind(TWO_SYSTEMS).rec(truth=kind(TWO_SYSTEMS_TRUTH), model="system")

    found = kind.read(rec.evaluate(*TWO_SYSTEMS_EXPECTED))

    assert found["system"].to_list() == ["A", "B"]
    assert found["n_users"].to_list() == [1, 1]
    for name, expected in TWO_SYSTEMS_EXPECTED.items():
        assert found[name].to_list() == pytest.approx(expected, abs=1e-12)


RECS = recommended(**{user: "".join(item for item, _ in own) for user, own in WORKED.lists.items()})
TRAIN = rows(*sorted(WORKED.train), schema=("user", "item"))


def described(scene: Any) -> pl.DataFrame:
    return rows(
        *((item, row["genre"]) for item, row in scene.items.items()), schema=("item", "genre")
    )


SIDES = {
    "truth": rows(("u1", "a"), schema=("user", "item")),
    "train": TRAIN,
    "items": described(WORKED),
}


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_every_metric_gives_its_worked_number(kind: Kind):
    worked = {str(rf.parse(name)(**parameters) @ 3): value for name, parameters, value in FIXTURE}
    found = ask_one(kind, RECS, *worked, **SIDES)
    assert {name: found[name] for name in worked} == pytest.approx(worked, abs=PLAIN)


def test_novelty_gives_the_worked_number_of_each_list(kind: Kind):
    found = ask(kind, RECS, "novelty@3", by="user", **SIDES)
    assert found["novelty@3"].to_list() == pytest.approx([1.138346, 0.707519, 1.471679], abs=PLAIN)


def test_disparity_of_head_and_tail_gives_the_worked_number(kind: Kind):
    # 4 of 6 unseen head items are listed, 1 of 11 unseen tail items
    # (2/3 - 1/11) / (2/3 + 1/11), with the groups in a column of the items, and with those of train's popularity
    for items in (described(BY_TAIL), described(BY_TAIL).select("item")):
        found = ask_one(kind, RECS, "exposure_disparity@3", **SIDES | {"items": items})
        assert found["exposure_disparity@3"] == pytest.approx(0.76, abs=PLAIN)


@pytest.mark.parametrize(
    ("one", "other", "value"),
    [
        ("abcdefg", "bacdefg", 0.9),
        ("abcd", "badc", 0.873),
        ("abc", "abdec", 0.86122),
        ("abc", "abc", 1),
        ("ab", "cd", 0),
    ],
)
def test_the_overlap_of_two_rankings_gives_the_worked_number(
    kind: Kind, one: str, other: str, value: float
):
    for first, second in ((one, other), (other, one)):
        found = ask_one(kind, recommended(u=first), "rbo", reference=recommended(u=second))
        assert found["rbo"] == pytest.approx(value, abs=PLAIN)


@pytest.mark.parametrize(
    ("metric", "value"),
    [("miscalibration", 1.787056), ("miscalibration(divergence=js)", 0.293436)],
    ids=str,
)
def test_miscalibration_gives_the_worked_number(kind: Kind, metric: str, value: float):
    # history A 3/4 and B 1/4, list A 2/3 and C 1/3
    genre = rows(*zip("abcdefx", "AAAAABC", strict=True), schema=("item", "genre"))
    train = rows(*(("u", item) for item in "abcf"), schema=("user", "item"))
    found = ask_one(kind, recommended(u="dex"), metric, train=train, items=genre)
    assert found[metric] == pytest.approx(value, abs=PLAIN)


def test_confusion_over_the_catalogue_gives_the_worked_numbers(kind: Kind):
    # eight items, three listed, one of the two relevant ones among them: tp 1, fp 2, fn 1, tn 4
    sides = {
        "truth": rows(("u", "a"), ("u", "x"), schema=("user", "item")),
        "items": described(WORKED).select("item"),
    }
    found = ask_one(kind, recommended(u="abc"), "mcc", "fall_out", **sides)
    assert found["mcc"] == pytest.approx(0.149071, abs=PLAIN)
    assert found["fall_out"] == pytest.approx(2 / 6)
