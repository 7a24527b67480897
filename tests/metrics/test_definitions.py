"""The definitions that libraries disagree about, each worked by hand."""

from __future__ import annotations

import math

import polars as pl
import pytest

import recframe as rf
from asking import ask, ask_one, liked, ranking, recommended

log2 = math.log2


def exactly(value):
    return pytest.approx(value, rel=1e-12, abs=1e-12)


# u finds one of one at k = 1, v one of three
MACRO = pl.concat([ranking([1], user="u"), ranking([1, 1, 1], user="v")])
HALVES = pl.concat([ranking([1, 0], user="u"), ranking([0, 1], user="v")])
SECOND, THREE = recommended(u="xa"), {"truth": liked(u="abc")}
CASES = {
    # F of u is 1, F of v is 2 · 1 · 1/3 / (1 + 1/3) = 1/2; the F of mean P = 1 and mean R = 2/3 would be 0.8
    "the mean of F is not the F of the means": (MACRO, {"n_users": 2, "f_score@1": 0.75}, {}),
    # pooled it would be 2 of 4
    "means run over users and not over rows": (MACRO, {"n_users": 2, "recall@1": (1 + 1 / 3) / 2}, {}),
    # one library averages r_precision over the users with a hit: .5 there
    "users without a hit are in the mean": (HALVES, {"n_users": 2, "r_precision": 0.5, "mrr@1": 0.5, "hit_rate@1": 0.5}, {}),
    "F is 0 at 0 of 0": (ranking([0]), {"f_score@1": 0, "f_score(beta=2)": 0, "precision": 0, "recall": 0}, {}),
    # two of relevance 5 give 1.8 in another library
    "rbp of grades stays below 1": (ranking([5, 5]), {"rbp": 0.2 * (1 + 0.8)}, {}),
    "hit_rate counts users and not hits": (ranking([1, 1, 1]), {"hit_rate": 1, "n_hits": 3}, {}),
    # relevant items 3 in number, one listed, at rank 2; the ideal@2 has two places, its form for k two, the list's one
    "the ideal order is that of the truth and not of the list": (
        SECOND,
        {"ndcg@2": (1 / log2(3)) / (1 + 1 / log2(3)), "ndcg(ideal=list)@2": 1 / log2(3)}
        | {"ndcg(ideal=k)@5": (1 / log2(3)) / (1 + 1 / log2(3) + 1 / 2 + 1 / log2(5) + 1 / log2(6))}, THREE,
    ),
    # one relevant item, k = 5: the ideal is 1, not the sum of five discounts
    "the ideal is no longer than the relevant items": (SECOND, {"ndcg@5": 1 / log2(3)}, {"truth": liked(u="a")}),
    # three relevant, k = 2, one hit at rank 2
    "each normalizer of map": (
        SECOND,
        {"map@2": 0.5 / 3, "map(normalizer=min)@2": 0.5 / 2, "map(normalizer=hits)@2": 0.5, "map(normalizer=k)@2": 0.5 / 2},
        THREE,
    ),
    "bpref without an item judged not relevant is recall": (ranking([None, 1, 1], [1, 2, None]), {"bpref": 0.5}, {}),
    "judged is the share of the places that were looked at": (
        ranking([1, None, 0, None]), {"judged@1": 1, "judged@2": 0.5, "judged@4": 0.5}, {}
    ),
}  # fmt: skip


def test_each_definition_has_the_number_worked_by_hand(kind):
    for name, (frame, expected, options) in CASES.items():
        metrics = [metric for metric in expected if metric != "n_users"]
        found = ask_one(kind, frame, *metrics, **options)
        assert found == exactly({"n_users": 1} | expected), name


def test_first_rank_is_the_mean_over_lists_with_a_hit(kind):
    frame = pl.concat([ranking([0, 0, 1], user="u"), ranking([0], user="v")])
    found = ask_one(kind, frame, "first_rank", "first_rank@2")

    assert found == {"n_users": 2, "first_rank": 3, "first_rank@2": None}


def test_err_takes_its_highest_grade_from_its_parameter_and_not_from_other_users(kind):
    alone = ask(kind, ranking([2], user="u"), "err", by="user")
    beside = ask(
        kind, pl.concat([ranking([2], user="u"), ranking([4], user="v")]), "err", by="user"
    )

    assert alone.row(0) == beside.row(0) == ("u", exactly(3 / 16))  # (2^2 - 1) / 2^4


def test_auc_without_a_pair_is_null_and_not_in_the_mean(kind):
    frame = pl.concat(
        [ranking([1, 0], user="u"), ranking([1, 1], user="v"), ranking([0], user="w")]
    )

    assert ask_one(kind, frame, "auc") == {"n_users": 3, "auc": 1}
    assert ask(kind, frame, "auc", by="user").rows() == [("u", 1.0), ("v", None), ("w", None)]


@pytest.mark.parametrize("k", [1, 2, 9_999, 10_000, 10_001, 20_000, 300_000])
@pytest.mark.parametrize(
    ("discount", "base"), [("shifted", 2), ("unshifted", 2), ("unshifted", 10)]
)
def test_the_ideal_of_any_cut_off_is_the_sum_of_its_discounts(k, discount, base):
    places = range(2, k + 2) if discount == "shifted" else [max(n, base) for n in range(1, k + 1)]
    ideal = math.fsum(math.log(base) / math.log(place) for place in places)
    metric = rf.ndcg(ideal="k", discount=discount, log_base=base) @ k

    # a hit at rank 1 alone has a gain of 1
    assert ranking([1]).rec.evaluate(metric).row(0)[1] == pytest.approx(1 / ideal, rel=1e-12)
