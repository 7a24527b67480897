"""Numbers worked out by hand, on every kind of frame."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

import recframe as rf
from asking import ask, ask_one, liked, ranking, recommended, rows

log2 = math.log2
Case = tuple[pl.DataFrame, dict[str, float], dict[str, Any]]
"""Lists, numbers of metrics, and what is bound beside the lists."""

# One user; relevant A, C, F; ranking B A D C E F.
ONE_LIST = ranking([0, 1, 0, 1, 0, 1]).with_columns(item=pl.Series([*"BADCEF"]))
OF_ONE_LIST = {
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
OF_A_CURVE = {
    "interpolated_precision(recall=0.7)": 3 / 5,
    "interpolated_precision(recall=0.7,rounding=tenth)": 2 / 3,
    "interpolated_precision(recall=0.7,rounding=nearest)": 2 / 3,
    "interpolated_precision(recall=0.1,rounding=nearest)": 1.0,
    "eleven_point_precision": 8.4 / 11,
    "eleven_point_precision(rounding=tenth)": (4 + 4 * 2 / 3 + 3 * 3 / 5) / 11,
    "eleven_point_precision(rounding=nearest)": (5 + 4 * 2 / 3 + 2 * 3 / 5) / 11,
}
# Graded: ideal order 3 2 1, of which 2 was never recommended.
GRADED = ranking([1.0, None, 3.0, 0.0, 2.0], [1, 2, 3, 4, None])
OF_GRADES = {
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
    "bpref": 2 / 3,  # the fourth item, judged not relevant, stands below both
    "auc": 3 / 4,  # the second stands above the third: one wrong pair of four
}
SINGLE: list[Case] = [
    (ONE_LIST, OF_ONE_LIST, {}),
    (ranking([1, 0, 1, 0, 1]), OF_A_CURVE, {}),
    (GRADED, OF_GRADES, {}),
]
# u finds one of one at k = 1, v one of three
MACRO = pl.concat([ranking([1], user="u"), ranking([1, 1, 1], user="v")])
SECOND, THREE = recommended(u="xa"), {"truth": liked(u="abc")}
# Up to 3: a has 2 of 5 relevant items in a list of 3, b the only one in a list of 1, c none of 2 and no list.
POOLED = {"truth": liked(a="12345", b="6", c="78")}
OF_POOLED = {
    # 3 hits over 3 · 3 places, of which 3 + 1 are filled, and 3 + 1 + 2 could be hits
    "precision(average=pooled)@3": 3 / 9,
    "precision(denominator=list,average=pooled)@3": 3 / 4,
    "precision(denominator=achievable,average=pooled)@3": 3 / 6,
    "recall(average=pooled)@3": 3 / 8,
    "recall(denominator=capped,average=pooled)@3": 3 / 6,
    # 2 P R / (P + R) = 2 hits / (places + n_relevant)
    "f_score(average=pooled)@3": 6 / (9 + 8),
    "f_score(beta=2,average=pooled)@3": 15 / (9 + 4 * 8),
    "f_score(denominator=achievable,average=pooled)@3": 6 / (6 + 8),
    # without a cut-off as many places as the list has
    "precision(average=pooled)": 3 / 4,
}
SEEN = POOLED["truth"].with_columns(seen=pl.Series([0.5, 0.25, 1, 0.5, 1, 0.2, 0.5, 1]))
# a and d are relevant and listed, at ranks 1 and 3; so is e, at no rank
PRICES = pl.DataFrame(
    {"item": [*"abcde"], "price": [10.0, 99.0, 5.0, 4.0, 20.0], "cost": [1, 2, 3, -4, 5]}
)
WORTH = {"truth": liked(u="ade"), "items": PRICES}
DEFINITIONS: dict[str, Case] = {
    # F of u is 1, F of v is 2 · 1 · 1/3 / (1 + 1/3) = 1/2; the F of mean P = 1 and mean R = 2/3 would be 0.8
    "the mean of F is not the F of the means": (MACRO, {"n_users": 2, "f_score@1": 0.75}, {}),
    # relevant items 3 in number, one listed, at rank 2; the ideal@2 has two places, its form for k two, the list's one
    "the ideal order is that of the truth and not of the list": (
        SECOND,
        {"ndcg@2": (1 / log2(3)) / (1 + 1 / log2(3)), "ndcg(ideal=list)@2": 1 / log2(3)}
        | {"ndcg(ideal=k)@5": (1 / log2(3)) / (1 + 1 / log2(3) + 1 / 2 + 1 / log2(5) + 1 / log2(6))}, THREE,
    ),
    "sums of all users": (recommended(a="12x", b="6"), {"n_users": 3} | OF_POOLED, POOLED),
    # hits weigh 2 + 4 + 5, all relevant items 2 + 4 + 1 + 2 + 1 + 5 + 2 + 1 = 18, and there are 8
    "propensities weigh hits and what they are divided by": (
        recommended(a="12x", b="6"),
        {"n_users": 3, "recall(weights=snips,average=pooled)@3": 11 / 18, "recall(weights=ips,average=pooled)@3": 11 / 8},
        {"truth": SEEN, "propensity": "seen"},
    ),
    # the best two are e and a; a margin may be below 0
    "hits are worth what their items are": (
        recommended(u="abd"),
        {"value(of=price)": 14, "value(of=price)@2": 10, "value(of=price,discount=log)@3": 10 + 4 / 2, "value(of=cost)": 1 - 4}
        | {"value(of=price,normalizer=best)@2": 10 / 30, "value(of=price,normalizer=relevant)@1": 10 / 34}
        | {"value(of=price,normalizer=best,discount=log)@3": 12 / (20 + 10 / log2(3) + 4 / 2)}, WORTH,
    ),
}  # fmt: skip

# The rank metrics and readers on a x c b d, where x is not judged, b not relevant, z not listed.
TEN = pl.DataFrame({"item": [*"abcdefghzx"], "genre": [*"ABAA", *[None] * 5, "B"]})
LISTED = {
    "truth": rows(*zip("uuuuu", "abcdz", [1, 0, 1, 1, 2], strict=True), schema=["user", "item", "relevance"]),
    "items": TEN, "reference": recommended(u="acefgxbh"),
}  # fmt: skip
OF_LISTED = {
    # (1 + 1/3 + 1/5) over 1 + 1/2 + 1/3 + 1/4
    "ncrr@5": 0.736,
    # a 1; c (1 + 1 above it, all of it relevant) / 3; d (1 + 3 above it, of which two of three) / 5: over 4
    "infap": 0.566666,
    # the ideal list is z a c d, of depth 5: common are a from depth 2, c from 3, d from 5
    "compatibility(p=0.8)": 0.405048,
    "compatibility": 0.457198,
    # precisions 1, 1/2, 2/3, 1/2, 3/5: the last is reached with three of four
    "recall_at_precision@5": 0.75,
    # 2/3 at 3, with two of four
    "recall_at_precision(precision=0.61)@5": 0.5,
    # the places above are 0, 2, 4 and, on average, 7: of 10 items
    "mean_percentile_rank": 0.325,
    # a, c, d are of A, with 1, .85^2 and .85^4; x, b of B
    "category_entropy(weight=geometric)": 0.967820,
    # three of five, two of five
    "category_entropy": 0.970951,
    # x comes from place 6, and c from 2
    "least_item_promoted@3": 3,
    "least_item_promoted@1": 0,
    # b, the last, comes from place 7: of five items
    "least_item_promoted": 2,
}
OF_READERS = {
    "insq(max_grade=2)": 0.264217, "inst(max_grade=2)": 0.315814, "bpm(max_grade=2)@3": 0.333333,
    "bpm(target=1.4,max_grade=2)@5": 0.3, "nerr(form=gain,max_grade=2)@3": 0.375, "nerr(max_grade=2)": 0.266897,
    "nerr(form=discount,max_grade=2)@3": 0.411765, "nerr(form=target,max_grade=2)": 0.386508, "sdcg(max_grade=2)@3": 0.351959,
}  # fmt: skip

# Three lists at k = 3: c = a3 b2 c1 d1 e1, pop = a3 b2 c1 d1 x1, four users in train, eight items. a, b, c and d are the head:
# 7 of 8 interactions.
LISTS, TRAIN = recommended(u1="abc", u2="ab", u3="dae"), liked(u1="ax", u2="bcd", u3="ab", u4="a")
GENRES = pl.DataFrame({"item": [*"abcdefxy"], "genre": [*"AABBC", None, None, None]})
OF_THREE_LISTS = {
    "coverage@3": 5 / 8,
    # exposures 0 0 0 1 1 1 2 3 times 2j - 9: -1 + 1 + 3 + 10 + 21 = 34, over 7 x 8
    "gini@3": 34 / 56,
    "gini(normalizer=n)@3": 34 / 64,
    "entropy@3": 3 / 8 * log2(8 / 3) + 2 / 8 * 2 + 3 / 8 * 3,
    "entropy(normalized=true)@3": 0.718546,
    "novelty@3": 1.105848,
    # means 6/3, 5/2, 4/3
    "popularity@3": 1.944444,
    "popularity(normalizer=users)@3": 1.944444 / 4,
    "popularity(normalizer=max)@3": 1.944444 / 3,
    "popularity(normalizer=interactions)@3": 1.944444 / 8,
    # pop 1 1 1 2 3 of x c d b a: places 2 2 2 4 5 of 5; 11/15, 9/10, (2 + 5 + 0)/15
    "popularity(normalizer=quantile)@3": (11 / 15 + 9 / 10 + 7 / 15) / 3,
    # 1.138346, 0.707519 x 2/3, 1.471679
    "novelty(denominator=k)@3": (1.138346 + 0.707519 * 2 / 3 + 1.471679) / 3,
    # of 8 pairs: a 3 times log2(8/3), b twice 2, c and d 3, e of none 3 or nothing; eight rows
    "efd(average=rows)@3": (3 * log2(8 / 3) + 4 + 9) / 8,
    "efd(cold=zero,average=rows)@3": (3 * log2(8 / 3) + 4 + 6) / 8,
    "long_tail_share@3": 1 / 9,
    "long_tail_count@3": 1 / 3,
    "tail_coverage@3": 1 / 4,
    # history means 2, 4/3, 5/2: the same mean
    "popularity_lift@3": 0.0,
    "popularity_lift(average=users)@3": 0.136111,
    "repeat_rate@3": (1 / 3 + 1 / 2 + 1 / 3) / 3,
    # 2/3, 0, 1
    "diversity@3": 5 / 9,
    # cosines 2/sqrt(6), 1/3, 1/sqrt(6)
    "personalization@3": 0.480641,
    "personalization(against=all)@3": 0.480641,
    # 2 of 3, 1 of 3 and 3 of 3 categories
    "category_coverage@3": 2 / 3,
    "exposure_share@3": 1.0,
}
SIDES = {"truth": liked(u1="a"), "train": TRAIN, "items": GENRES}
# history A 3/4 and B 1/4, list A 2/3 and C 1/3
CALIBRATED = {
    "train": liked(u="abcf"),
    "items": pl.DataFrame({"item": [*"abcdefx"], "genre": [*"AAAAABC"]}),
}
OF_CALIBRATION = {"miscalibration": 1.787056, "miscalibration(divergence=js)": 0.293436}
ROUNDED: dict[str, Case] = {
    "rank metrics": (recommended(u="axcbd"), OF_LISTED | OF_READERS, LISTED),
    "three lists": (LISTS, {"n_users": 1} | OF_THREE_LISTS, SIDES),
    # 4 of 6 unseen head items are listed, 1 of 11 unseen tail items: (2/3 - 1/11) / (2/3 + 1/11)
    "head and tail": (LISTS, {"exposure_disparity@3": 0.76}, SIDES | {"items": GENRES.select("item")}),
    "histories": (recommended(u="dex"), OF_CALIBRATION, CALIBRATED | {"truth": liked(u="d")}),
    # eight items, three listed, one of the two relevant ones among them: tp 1, fp 2, fn 1, tn 4
    "confusion": (
        recommended(u="abc"), {"mcc": 0.149071, "fall_out": 2 / 6}, {"truth": liked(u="ax"), "items": GENRES.select("item")}
    ),
}  # fmt: skip

EVERY_KIND = True
"""Each test runs on every kind of frame."""


def test_metrics_worked_out_by_hand(kind):
    cases = dict(enumerate(SINGLE)) | DEFINITIONS | ROUNDED
    for name, (frame, expected, options) in cases.items():
        tolerance = 1e-6 if name in ROUNDED else 1e-12
        metrics = [metric for metric in expected if metric != "n_users"]
        found = ask_one(kind, frame, *metrics, **options)
        found.pop("n_lists", None)
        assert found == pytest.approx({"n_users": 1} | expected, abs=tolerance), name


def test_expressions_worked_out_by_hand():
    for frame, expected, _ in SINGLE:
        expressions = [rf.parse(name).expr() for name in expected]
        values = pytest.approx(expected, abs=1e-12)

        assert frame.select(expressions).row(0, named=True) == values
        groups = frame.group_by("user").agg(expressions).drop("user")
        assert groups.row(0, named=True) == values
        over = frame.select(one.over("user") for one in expressions)
        assert over.row(-1, named=True) == values


def test_two_systems_worked_out_by_hand(kind):
    # relevant 2 and 6; A ranks 6 2 1 0 3, B ranks 4 1 7 2 6
    lists = {"A": recommended(u="62103"), "B": recommended(u="41726")}
    both = pl.concat(one.with_columns(system=pl.lit(name)) for name, one in lists.items())
    expected = {
        "precision@5": (0.4, 0.4),
        "recall@5": (1.0, 1.0),
        "map@5": (1.0, (1 / 4 + 2 / 5) / 2),  # 0.325
        "mrr": (1.0, 0.25),
        "ndcg@5": (1.0, (1 / log2(5) + 1 / log2(6)) / (1 + 1 / log2(3))),  # 0.501266
    }
    found = ask(kind, both, *expected, truth=liked(u="26"), model="system")

    assert found["system"].to_list() == ["A", "B"]
    for name, values in expected.items():
        assert found[name].to_list() == pytest.approx(values, abs=1e-12)


def test_a_reader_stops_at_the_first_hit_of_the_highest_of_steep_grades():
    frame, metric = ranking([0.0, 100.0, 100.0]), rf.err(max_grade=100)

    # what is left to read behind it is 2^-100, which 1 - (2^100 - 1) / 2^100 is not in floating point
    assert frame.rec.evaluate(metric).item(0, str(metric)) == pytest.approx(1 / 2, rel=1e-15)
    assert frame.select(metric.expr()).item() == pytest.approx(1 / 2, rel=1e-15)


@pytest.mark.parametrize("k", [1, 2, 9_999, 10_000, 10_001, 300_000])
def test_the_ideal_of_any_cut_off_is_the_sum_of_its_discounts(k):
    for discount, base in (("shifted", 2), ("unshifted", 2), ("unshifted", 10)):
        shifted = discount == "shifted"
        places = range(2, k + 2) if shifted else [max(n, base) for n in range(1, k + 1)]
        ideal = math.fsum(math.log(base) / math.log(place) for place in places)
        metric = rf.ndcg(ideal="k", discount=discount, log_base=base) @ k

        # a hit at rank 1 alone has a gain of 1
        assert ranking([1]).rec.evaluate(metric).row(0)[1] == pytest.approx(1 / ideal, rel=1e-12)


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt64, pl.Float32, pl.Decimal(10, 2)])
def test_prices_of_any_number_count(dtype):
    items = PRICES.select("item", pl.col("price").cast(dtype))

    assert recommended(u="abd").rec(truth=liked(u="ade"), items=items).value() == pytest.approx(14)
