"""recframe beyond accuracy gives the numbers that were worked by hand, on every kind of frame."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import recframe as rf
from asking import ask, ask_one, recommended, rows
from beyond_worked import BY_TAIL, FIXTURE, PLAIN, WORKED
from conftest import Kind

RECS = recommended(**{user: "".join(item for item, _ in own) for user, own in WORKED.lists.items()})
TRAIN = rows(*sorted(WORKED.train), schema=("user", "item"))


def described(scene: Any) -> pl.DataFrame:
    return rows(*((item, row["genre"]) for item, row in scene.items.items()), schema=("item", "genre"))


SIDES = {"truth": rows(("u1", "a"), schema=("user", "item")), "train": TRAIN, "items": described(WORKED)}


@pytest.mark.parametrize(("name", "parameters", "value"), FIXTURE, ids=str)
def test_a_metric_gives_its_worked_number(kind: Kind, name: str, parameters: dict[str, Any], value: float):
    metric = rf.parse(name)(**parameters) @ 3
    assert ask_one(kind, RECS, metric, **SIDES)[str(metric)] == pytest.approx(value, abs=PLAIN)


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
    [("abcdefg", "bacdefg", 0.9), ("abcd", "badc", 0.873), ("abc", "abdec", 0.86122), ("abc", "abc", 1), ("ab", "cd", 0)],
)
def test_the_overlap_of_two_rankings_gives_the_worked_number(kind: Kind, one: str, other: str, value: float):
    for first, second in ((one, other), (other, one)):
        found = ask_one(kind, recommended(u=first), "rbo", reference=recommended(u=second))
        assert found["rbo"] == pytest.approx(value, abs=PLAIN)


@pytest.mark.parametrize(
    ("metric", "value"), [("miscalibration", 1.787056), ("miscalibration(divergence=js)", 0.293436)], ids=str
)
def test_miscalibration_gives_the_worked_number(kind: Kind, metric: str, value: float):
    # history A 3/4 and B 1/4, list A 2/3 and C 1/3
    genre = rows(*zip("abcdefx", "AAAAABC", strict=True), schema=("item", "genre"))
    train = rows(*(("u", item) for item in "abcf"), schema=("user", "item"))
    found = ask_one(kind, recommended(u="dex"), metric, train=train, items=genre)
    assert found[metric] == pytest.approx(value, abs=PLAIN)


def test_confusion_over_the_catalogue_gives_the_worked_numbers(kind: Kind):
    # eight items, three listed, one of the two relevant ones among them: tp 1, fp 2, fn 1, tn 4
    sides = {"truth": rows(("u", "a"), ("u", "x"), schema=("user", "item")), "items": described(WORKED).select("item")}
    found = ask_one(kind, recommended(u="abc"), "mcc", "fall_out", **sides)
    assert found["mcc"] == pytest.approx(0.149071, abs=PLAIN)
    assert found["fall_out"] == pytest.approx(2 / 6)
