"""The metrics beyond accuracy against their plain-Python definitions, and those definitions against worked numbers."""

from __future__ import annotations

import math
from typing import Any

import pytest

from beyond_propensity import Propensities, weighted_recall
from beyond_reference import OF_LISTS, overall
from beyond_scene import Scene

PLAIN = 1e-6  # what the worked numbers are rounded to


def letters(**lists: str) -> dict[str, list[tuple[str, float]]]:
    return {user: [(item, float(rank)) for rank, item in enumerate(items, start=1)] for user, items in lists.items()}


def pairs(**items: str) -> frozenset[tuple[str, str]]:
    return frozenset((user, item) for user, own in items.items() for item in own)


def categorised(**categories: str) -> dict[str, dict[str, Any]]:
    """{item: its category}; items named in several are in a list of them."""
    found = {item: {"genre": name} for name, own in categories.items() for item in own}
    return found | {item: {"genre": None} for item in "abcdefxy" if item not in found}


WORKED = Scene(
    letters(u1="abc", u2="ab", u3="dae"),
    train=pairs(u1="ax", u2="bcd", u3="ab", u4="a"),
    items=categorised(A="ab", B="cd", C="e"),
)
# a, b, c and d are the head: 7 of 8 interactions
BY_TAIL = Scene(WORKED.lists, train=WORKED.train, items=categorised(head="abcd", tail="efxy"))

# The fixture at k = 3: c = a3 b2 c1 d1 e1, pop = a3 b2 c1 d1 x1, four users in train, eight items.
FIXTURE = [
    ("coverage", {}, 5 / 8),
    # exposures 0 0 0 1 1 1 2 3 times 2j - 9: -1 + 1 + 3 + 10 + 21 = 34, over 7 x 8
    ("gini", {}, 34 / 56),
    ("gini", {"normalizer": "n"}, 34 / 64),
    # 3/8 log2(8/3) + 2/8 x 2 + 3 x 3/8
    ("entropy", {}, 3 / 8 * math.log2(8 / 3) + 2 / 8 * 2 + 3 / 8 * 3),
    ("entropy", {"normalized": True}, 0.718546),
    ("novelty", {}, 1.105848),
    # means 6/3, 5/2, 4/3
    ("popularity", {}, 1.944444),
    ("popularity", {"normalizer": "users"}, 1.944444 / 4),
    ("popularity", {"normalizer": "max"}, 1.944444 / 3),
    ("popularity", {"normalizer": "interactions"}, 1.944444 / 8),
    ("long_tail_share", {}, 1 / 9),
    ("long_tail_count", {}, 1 / 3),
    ("tail_coverage", {}, 1 / 4),
    # history means 2, 4/3, 5/2: the same mean
    ("popularity_lift", {}, 0.0),
    ("popularity_lift", {"average": "users"}, 0.136111),
    ("repeat_rate", {}, (1 / 3 + 1 / 2 + 1 / 3) / 3),
    # 2/3, 0, 1
    ("diversity", {}, 5 / 9),
    # cosines 2/sqrt(6), 1/3, 1/sqrt(6)
    ("personalization", {}, 0.480641),
    ("personalization", {"against": "all"}, 0.480641),
    # 2 of 3, 1 of 3 and 3 of 3 categories
    ("category_coverage", {}, 2 / 3),
    ("exposure_share", {}, 1.0),
]


@pytest.mark.parametrize(("name", "parameters", "value"), FIXTURE, ids=str)
def test_the_reference_gives_the_worked_numbers(name: str, parameters: dict[str, Any], value: float):
    assert overall(name, WORKED, 3, **parameters) == pytest.approx(value, abs=PLAIN)


def test_the_reference_gives_the_worked_novelty_of_each_list():
    found = [OF_LISTS["novelty"](WORKED, user, 3) for user in ("u1", "u2", "u3")]
    assert found == pytest.approx([1.138346, 0.707519, 1.471679], abs=PLAIN)


def test_the_reference_gives_the_worked_disparity():
    # 4 of 6 unseen head items are listed, 1 of 11 unseen tail items
    assert overall("exposure_disparity", BY_TAIL, 3) == pytest.approx(0.76, abs=PLAIN)


@pytest.mark.parametrize(
    ("one", "other", "value"),
    [("abcdefg", "bacdefg", 0.9), ("abcd", "badc", 0.873), ("abc", "abdec", 0.86122), ("abc", "abc", 1), ("ab", "cd", 0)],
)
def test_the_reference_gives_the_worked_overlaps_of_ranks(one: str, other: str, value: float):
    for first, second in ((one, other), (other, one)):
        scene = Scene(letters(u=first), reference=letters(u=second))
        assert overall("rbo", scene, None) == pytest.approx(value, abs=PLAIN)


def test_the_reference_gives_the_worked_least_overlap_of_ranks():
    scene = Scene(letters(u="abc"), reference=letters(u="abc"))
    assert overall("rbo", scene, None, form="min") == pytest.approx(0.522528, abs=PLAIN)


# p = (A 3/4, B 1/4), q = (A 2/3, C 1/3); smoothed A 0.6675, B 0.0025: 3/4 ln(0.75 / 0.6675) + 1/4 ln 100 = 1.238693 nats
@pytest.mark.parametrize(
    ("parameters", "value"),
    [({"log_base": math.e}, 1.238693), ({}, 1.787056), ({"divergence": "js"}, 0.293436)],
    ids=str,
)
def test_the_reference_gives_the_worked_calibration(parameters: dict[str, Any], value: float):
    items = categorised(A="abcde", B="f", C="x")
    scene = Scene(letters(u="dex"), train=pairs(u="abcf"), items=items)
    assert overall("miscalibration", scene, None, **parameters) == pytest.approx(value, abs=PLAIN)


def test_the_reference_gives_the_worked_confusion():
    # tp 1, fp 2, fn 1, tn 4
    scene = Scene(letters(u="abc"), truth={"u": {"a": 1, "x": 1}}, items=categorised())
    assert overall("mcc", scene, None) == pytest.approx(0.149071, abs=PLAIN)
    assert overall("fall_out", scene, None) == pytest.approx(2 / 6)


def test_the_reference_gives_the_worked_propensities():
    scene = Scene(
        letters(u="a"),
        truth={"u": dict.fromkeys("abc", 1)},
        propensity={("u", "a"): 0.5, ("u", "b"): 0.1, ("u", "c"): 0.25},
    )
    assert weighted_recall(scene, "u", None, "snips", Propensities()) == pytest.approx(2 / 16)
    assert weighted_recall(scene, "u", None, "ips", Propensities()) == pytest.approx(2)


def test_lists_of_the_same_counts_and_lengths_have_one_personalization_by_cosine():
    for lists in (letters(a="ab", b="ab", c="ab", d="cd"), letters(a="ab", b="ab", c="ac", d="bd")):
        assert overall("personalization", Scene(lists), None) == pytest.approx(0.5)


def test_opposite_vectors_are_two_apart():
    items = {"a": {"v": [1.0, 0.0]}, "b": {"v": [-2.0, 0.0]}, "c": {"v": [0.0, 0.0]}, "d": {"v": None}}
    scene = Scene(letters(u="abcd"), items=items)
    assert overall("diversity", scene, None) == pytest.approx(2)
    assert overall("diversity", scene, None, scaled=True) == pytest.approx(1)


def test_gain_of_a_category_is_halved_each_time_it_comes_again():
    # a and b are of A, c of B. Listed a b c: 1 + 0.5 / log2 3 + 1 / 2. Best a c b: 1 + 1 / log2 3 + 0.5 / 2
    scene = Scene(letters(u="abc"), truth={"u": dict.fromkeys("abc", 1)}, items=categorised(A="ab", B="c"))
    third = math.log2(3)
    assert overall("alpha_ndcg", scene, None) == pytest.approx((1.5 + 0.5 / third) / (1.25 + 1 / third))


def test_only_what_stands_higher_than_its_popularity_is_a_surprise():
    # b is second in the list and third by popularity, of 4 items: (3 - 2) / 4; a is first in both; over a list of two
    train = pairs(u1="ac", u2="ac", u3="ab", u4="a")
    scene = Scene(letters(u="ab"), truth={"u": {"a": 1, "b": 1}}, train=train, items={item: {} for item in "abcd"})
    assert overall("serendipity", scene, None, against="popularity") == pytest.approx((0 + 1 / 4) / 2)
