"""Metrics that need a feature of the items: numbers worked by hand, every form of a vector, and what is no feature."""

from __future__ import annotations

import math
import random
from itertools import combinations
from typing import Any

import polars as pl
import pytest

from asking import ask, ask_one, liked, recommended, rows
from frame_kinds import KINDS, Kind

VECTORS = {"a": [1.0, 0.0], "b": [3.0, 4.0], "c": [0.0, -2.0], "d": [0.0, 0.0], "e": None}
LISTS = {"a": ["p"], "b": ["p", "q"], "c": ["q", "r", "q", None], "d": [], "e": None}
GENRES = {"a": "p", "b": "p", "c": "q", "d": "r", "e": None}


def of(values: dict[str, Any], dtype: Any) -> pl.DataFrame:
    return pl.DataFrame(
        {"item": list(values), "feature": list(values.values())},
        schema={"item": pl.String, "feature": dtype},
    )


WORKED = {
    "vectors": of(VECTORS, pl.List(pl.Float64)),
    "arrays": of(VECTORS, pl.Array(pl.Float32, 2)),
    "lists": of(LISTS, pl.List(pl.String)),
    "genres": of(GENRES, pl.String),
}


def history(**items: str) -> pl.DataFrame:
    return rows(
        *((user, item) for user, own in items.items() for item in own), schema=("user", "item")
    )


@pytest.mark.parametrize(
    ("feature", "metric", "value"),
    [
        # cosines: ab 3/5, ac 0, bc -4/5; d and e have none
        ("vectors", "diversity", (2 / 5 + 1 + 9 / 5) / 3),
        ("arrays", "diversity", (2 / 5 + 1 + 9 / 5) / 3),
        ("vectors", "diversity(scaled=true)", (2 / 5 + 1 + 9 / 5) / 6),
        ("vectors", "diversity@2", 2 / 5),
        ("vectors", "diversity@1", None),
        ("vectors", "diversity(single=zero)@1", 0.0),
        # cosines: ab 1/sqrt(2), ac 0, bc 1/2
        ("lists", "diversity", (1 - math.sqrt(1 / 2) + 1 + 1 / 2) / 3),
        # Jaccard: ab 1/2, ac 0, bc 1/3
        ("lists", "diversity(distance=jaccard)", (1 / 2 + 1 + 2 / 3) / 3),
        ("lists", "diversity(distance=jaccard,scaled=true)@2", 1 / 4),
        # of six pairs one shares its category
        ("genres", "diversity", 5 / 6),
        ("genres", "diversity(distance=jaccard)", 5 / 6),
        # p, q and r are all there are
        ("genres", "category_coverage", 1.0),
        ("genres", "category_coverage@3", 2 / 3),
        ("genres", "category_coverage(denominator=k)@3", 2 / 3),
        ("genres", "category_coverage(denominator=k)", 3 / 5),
        ("lists", "category_coverage@2", 2 / 3),
        # three categories in two items
        ("lists", "category_coverage(denominator=k)@2", 1.0),
    ],
)
def test_a_list_gives_its_worked_number(kind: Kind, feature: str, metric: str, value: float | None):
    found = ask_one(kind, recommended(u="abcde"), metric, items=WORKED[feature])

    assert found[metric] == (None if value is None else pytest.approx(value, abs=1e-7))


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        # hits a (p), b (p again) and c (q) at ranks 1, 2 and 4; the best order takes c before the second p
        (
            "alpha_ndcg@4",
            (1 + 0.5 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3) + 0.5 / 2),
        ),
        ("alpha_ndcg", (1 + 0.5 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3) + 0.5 / 2)),
        ("alpha_ndcg@2", (1 + 0.5 / math.log2(3)) / (1 + 1 / math.log2(3))),
        # with alpha 1 a category counts once, with 0 each time, as in ndcg
        ("alpha_ndcg(alpha=1)@4", (1 + 1 / math.log2(5)) / (1 + 1 / math.log2(3))),
        ("alpha_ndcg(alpha=0)@4", (1 + 1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3) + 1 / 2)),
        # over p and q at every rank, each 1 + 1/4 + 1/12 + 1/32, or over the best order
        ("err_ia@4", (1 + 0.5 / 2 + 1 / 4) / (2 * (1 + 1 / 4 + 1 / 12 + 1 / 32))),
        ("err_ia", (1 + 0.5 / 2 + 1 / 4) / (2 * 2 * math.log(2))),
        ("err_ia(normalizer=best)@4", (1 + 0.5 / 2 + 1 / 4) / (1 + 1 / 2 + 0.5 / 3)),
        # Chapelle's, where a category satisfies for good
        ("err_ia(alpha=1)@4", (1 + 1 / 4) / 2),
        ("nrbp@4", (1 + 0.5 / 2 + 1 / 8) * (1 - 1 / 4) / 2),
        ("nrbp(alpha=0.2,beta=0.8)", (1 + 0.8 * 0.8 + 0.8**3) * (1 - 0.8 * 0.8) / 2),
        ("nrbp(normalizer=best)", (1 + 0.5 / 2 + 1 / 8) / (1 + 1 / 2 + 0.5 / 4)),
    ],
)  # fmt: skip
def test_categories_seen_before_are_worth_less(kind: Kind, metric: str, value: float):
    sides = {"truth": liked(u="abc"), "items": WORKED["genres"]}

    assert ask_one(kind, recommended(u="abdc"), metric, **sides)[metric] == pytest.approx(value)


def test_the_best_order_of_lists_of_categories_takes_what_adds_most(kind: Kind):
    # b and c add 2 each, and c is the last of them; then b adds 1 for p and 1/2 for q, and a, at last, 1/2
    ideal = 2 + 1.5 / math.log2(3) + 0.5 / 2
    # in the list a adds 1, and b and c add 1/2 for the category that was seen, 1 for the other
    found = ask_one(
        kind, recommended(u="abc"), "alpha_ndcg", k=3, truth=liked(u="abc"), items=WORKED["lists"]
    )

    assert found["alpha_ndcg@3"] == pytest.approx((1 + 1.5 / math.log2(3) + 1.5 / 2) / ideal)


@pytest.mark.parametrize(
    ("feature", "value"),
    [
        # the history is a and b; of c, cosines 0 and -4/5; a is not relevant and d has no feature
        ("vectors", (1 + 2 / 5) / 2),
        # cosines of c: 0 and 1/2
        ("lists", (1 - 1 / 4) / 2),
        # nothing of the history is of c's category
        ("genres", 1 / 3),
    ],
)
def test_relevant_items_unlike_the_history_are_serendipitous(
    kind: Kind, feature: str, value: float
):
    sides = {"truth": liked(u="ce", v="a"), "train": history(u="abe"), "items": WORKED[feature]}
    found = ask(kind, recommended(u="acde", v="a"), "serendipity", by="user", **sides)

    assert found["serendipity"].to_list() == [pytest.approx(value), None]


def test_items_better_placed_than_their_popularity_are_serendipitous(kind: Kind):
    # popularities a 3, b 2, c 1: places 1, 2 and 3 of N = 5; of c at rank 1, (3 - 1)/5; of a at 2, nothing; d is cold, at 3
    sides = {
        "truth": liked(u="acd"),
        "train": history(v="abc", w="ab", x="a"),
        "items": WORKED["genres"],
    }
    metric = "serendipity(against=popularity)"

    assert ask_one(kind, recommended(u="cad"), metric, **sides)[metric] == pytest.approx(
        (2 / 5 + 3 / 5) / 3
    )


def test_relevant_items_that_the_reference_has_not_are_serendipitous(kind: Kind):
    # a and c are relevant; the reference has a among its first two
    metric = "serendipity(against=reference)@2"
    found = ask_one(
        kind, recommended(u="ac"), metric, truth=liked(u="ac"), reference=recommended(u="bac")
    )

    assert found[metric] == 1 / 2


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        # history p 3/4, q 1/4; list p 1/2 and q 1/2, or by weights 1 and 1/log2(3), or 1 and 1/2
        ("miscalibration", (3 * math.log2(0.75 / 0.5025) + math.log2(0.25 / 0.4975)) / 4),
        ("miscalibration(alpha=0.5,log_base=10)", (3 * math.log10(0.75 / 0.625) + math.log10(0.25 / 0.375)) / 4),
        ("miscalibration(divergence=hellinger)", math.sqrt(1 - math.sqrt(3 / 8) - math.sqrt(1 / 8))),
        ("miscalibration(divergence=hellinger,weight=reciprocal)", math.sqrt(1 - math.sqrt(1 / 2) - math.sqrt(1 / 12))),
    ],
)  # fmt: skip
def test_a_list_with_other_shares_than_the_history_is_miscalibrated(
    kind: Kind, metric: str, value: float
):
    items = of({"a": "p", "b": "p", "f": "p", "c": "q", "g": "q", "e": None}, pl.String)
    found = ask_one(kind, recommended(u="agee"), metric, train=history(u="abfce"), items=items)

    assert found[metric] == pytest.approx(value)


def brute_force(vectors: dict[str, list[float]]) -> float:
    pairs = [
        1
        - math.fsum(x * y for x, y in zip(one, other, strict=True))
        / math.hypot(*one)
        / math.hypot(*other)
        for one, other in combinations(vectors.values(), 2)
    ]
    return math.fsum(pairs) / len(pairs)


@pytest.mark.parametrize(
    "dtype", [pl.List(pl.Float64), pl.Array(pl.Float64, 7)], ids=["list", "array"]
)
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_the_closed_form_is_the_mean_over_pairs(kind: Kind, dtype: Any, scale: float):
    rng = random.Random("closed form")  # noqa: S311  test data
    vectors = {item: [rng.uniform(-1, 1) for _ in range(7)] for item in "abcdefgh"}
    items = of({item: [scale * x for x in own] for item, own in vectors.items()}, dtype)

    found = ask_one(kind, recommended(u="abcdefgh"), "diversity", items=items)["diversity"]

    assert found == pytest.approx(brute_force(vectors), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS[:4], ids=repr)
@pytest.mark.parametrize(
    "dtype", [pl.List(pl.Float64), pl.Array(pl.Float64, 2)], ids=["list", "array"]
)
@pytest.mark.parametrize(
    "none", [None, [0.0, 0.0], [math.nan, 1.0], [1.0, math.inf], [None, 1.0], [None, None]], ids=str
)
def test_a_vector_without_a_direction_is_no_feature(kind: Kind, dtype: Any, none: Any):
    items = of({"a": [1.0, 0.0], "b": [0.0, 1.0], "c": none}, dtype)

    assert ask_one(kind, recommended(u="abc"), "diversity", items=items)[
        "diversity"
    ] == pytest.approx(1.0)


def test_vectors_of_several_lengths_are_an_error_of_a_plan_that_runs():
    items = of({"a": [1.0, 0.0], "b": [1.0]}, pl.List(pl.Float64)).lazy()
    plan = recommended(u="ab").lazy().rec(items=items).evaluate("diversity")
    with pytest.raises(pl.exceptions.PolarsError, match="have different lengths"):
        plan.collect()


def test_an_array_in_a_lazy_frame_is_not_made_longer():
    items = WORKED["arrays"].lazy()
    plan = recommended(u="abc").lazy().rec(items=items).evaluate("diversity").explain()

    assert "EXPLODE" not in plan


def test_whole_numbers_that_pandas_has_as_floats_are_categories():
    items = of({"a": 1, "b": 1, "c": 2, "d": None}, pl.Int64).to_pandas()
    assert str(items["feature"].dtype) == "float64"

    assert recommended(u="abcd").to_pandas().rec(items=items).diversity() == pytest.approx(2 / 3)


RECS = recommended(u="ab")


def test_the_best_order_of_lists_is_followed_up_to_a_cut_off():
    rec = recommended(u="ab").rec(truth=liked(u="a"), items=WORKED["lists"])
    assert rec.evaluate("alpha_ndcg@2", "err_ia", "hit_rate", "diversity").width == 6
