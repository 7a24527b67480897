"""The plain-Python metrics beyond accuracy against numbers worked by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from plain_beyond import OF_LISTS, overall
from plain_propensity import weighted_recall
from plain_scene import Scene
from worked_lists import BY_TAIL, FIXTURE, PLAIN, WORKED, categorised, letters, pairs


@pytest.mark.parametrize(("name", "parameters", "value"), FIXTURE, ids=str)
def test_the_plain_definition_gives_the_worked_numbers(
    name: str, parameters: dict[str, Any], value: float
):
    assert overall(name, WORKED, 3, **parameters) == pytest.approx(value, abs=PLAIN)


def test_the_plain_definition_gives_the_worked_novelty_of_each_list():
    found = [OF_LISTS["novelty"](WORKED, user, 3) for user in ("u1", "u2", "u3")]
    assert found == pytest.approx([1.138346, 0.707519, 1.471679], abs=PLAIN)


def test_the_plain_definition_gives_the_worked_disparity():
    # 4 of 6 unseen head items are listed, 1 of 11 unseen tail items
    assert overall("exposure_disparity", BY_TAIL, 3) == pytest.approx(0.76, abs=PLAIN)


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
def test_the_plain_definition_gives_the_worked_overlaps_of_ranks(
    one: str, other: str, value: float
):
    for first, second in ((one, other), (other, one)):
        scene = Scene(letters(u=first), reference=letters(u=second))
        assert overall("rbo", scene, None) == pytest.approx(value, abs=PLAIN)


def test_the_plain_definition_gives_the_worked_least_overlap_of_ranks():
    scene = Scene(letters(u="abc"), reference=letters(u="abc"))
    assert overall("rbo", scene, None, form="min") == pytest.approx(0.522528, abs=PLAIN)


# p = (A 3/4, B 1/4), q = (A 2/3, C 1/3); smoothed A 0.6675, B 0.0025: 3/4 ln(0.75 / 0.6675) + 1/4 ln 100 = 1.238693 nats
@pytest.mark.parametrize(
    ("parameters", "value"),
    [({"log_base": math.e}, 1.238693), ({}, 1.787056), ({"divergence": "js"}, 0.293436)],
    ids=str,
)
def test_the_plain_definition_gives_the_worked_calibration(
    parameters: dict[str, Any], value: float
):
    items = categorised(A="abcde", B="f", C="x")
    scene = Scene(letters(u="dex"), train=pairs(u="abcf"), items=items)
    assert overall("miscalibration", scene, None, **parameters) == pytest.approx(value, abs=PLAIN)


def test_the_plain_definition_gives_the_worked_confusion():
    # tp 1, fp 2, fn 1, tn 4
    scene = Scene(letters(u="abc"), truth={"u": {"a": 1, "x": 1}}, items=categorised())
    assert overall("mcc", scene, None) == pytest.approx(0.149071, abs=PLAIN)
    assert overall("fall_out", scene, None) == pytest.approx(2 / 6)


def test_the_plain_definition_gives_the_worked_propensities():
    scene = Scene(
        letters(u="a"),
        truth={"u": dict.fromkeys("abc", 1)},
        propensity={("u", "a"): 0.5, ("u", "b"): 0.1, ("u", "c"): 0.25},
    )
    assert weighted_recall(scene, "u", None, weights="snips") == pytest.approx(2 / 16)
    assert weighted_recall(scene, "u", None, weights="ips") == pytest.approx(2 / 3)


def test_lists_of_the_same_counts_and_lengths_have_one_personalization_by_cosine():
    for lists in (letters(a="ab", b="ab", c="ab", d="cd"), letters(a="ab", b="ab", c="ac", d="bd")):
        assert overall("personalization", Scene(lists), None) == pytest.approx(0.5)


def test_opposite_vectors_are_two_apart():
    items = {
        "a": {"v": [1.0, 0.0]},
        "b": {"v": [-2.0, 0.0]},
        "c": {"v": [0.0, 0.0]},
        "d": {"v": None},
    }
    scene = Scene(letters(u="abcd"), items=items)
    assert overall("diversity", scene, None) == pytest.approx(2)
    assert overall("diversity", scene, None, scaled=True) == pytest.approx(1)


def test_gain_of_a_category_is_halved_each_time_it_comes_again():
    # a and b are of A, c of B. Listed a b c: 1 + 0.5 / log2 3 + 1 / 2. Best a c b: 1 + 1 / log2 3 + 0.5 / 2
    scene = Scene(
        letters(u="abc"), truth={"u": dict.fromkeys("abc", 1)}, items=categorised(A="ab", B="c")
    )
    third = math.log2(3)
    assert overall("alpha_ndcg", scene, None) == pytest.approx(
        (1.5 + 0.5 / third) / (1.25 + 1 / third)
    )


def test_only_what_stands_higher_than_its_popularity_is_a_surprise():
    # b is second in the list and third by popularity, of 4 items: (3 - 2) / 4; a is first in both; over a list of two
    train = pairs(u1="ac", u2="ac", u3="ab", u4="a")
    scene = Scene(
        letters(u="ab"),
        truth={"u": {"a": 1, "b": 1}},
        train=train,
        items={item: {} for item in "abcd"},
    )
    assert overall("serendipity", scene, None, against="popularity") == pytest.approx(
        (0 + 1 / 4) / 2
    )
