"""The traps that other libraries fall into, and each row of the table of empty cases: one small test each, worked by hand."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import recframe as rf
from asking import ask, ask_one, liked, ranking, recommended
from frame_kinds import KINDS, sharp_and_thorough
from tied_lists import exactly

log2, nan, inf = math.log2, math.nan, math.inf
UNIT = rf.list_metrics().filter(range="[0, 1]", family="accuracy")["name"]
EVERY_UNIT = [str(rf.parse(name)) for name in UNIT]
# auc is null, judged does not ask for relevance; readers, who compare with a highest grade, have tests of their own
READERS = ["insq", "inst", "bpm", "nerr", "sdcg"]
# which tries every cut-off up to k
READERS.append("recall_at_precision")
ACCURACY = [name for name in EVERY_UNIT if name not in {"auc", "gauc", "judged", *READERS}]


# pandas 2's convert_dtypes, which makes the nullable kind of frame, warns of infinities.
infinite = pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")


def scored(scores, items="abcdefgh"):
    return pl.DataFrame({"user": "u", "item": [*items[: len(scores)]], "score": scores})


RANKED = scored([0.1, 0.9]).with_columns(rank=pl.Series([1, 2]))
MANY = pl.DataFrame({"user": "u", "item": range(300), "rank": 1, "relevance": 1})
MANY = MANY.cast({"rank": pl.UInt8, "relevance": pl.UInt8})
FLOATS = pl.concat([ranking([2**24], user="u"), ranking([1], user="v")]).with_columns(
    pl.col("relevance", "rank").cast(pl.Float32)
)


def with_rank(*ranks, dtype=pl.Float64):
    return ranking([1] * len(ranks)).with_columns(rank=pl.Series(ranks, dtype=dtype))


def last_of(dtype, last):
    # the second of the last rank moves on by one: 128 or 256
    found = {"precision@1000": 3 / 1000, "dcg": 1 + 1 / log2(last + 1) + 1 / log2(last + 2)}
    found |= {"map": (1 + 2 / last + 3 / (last + 1)) / 3, "r_precision": 1 / 3}
    return with_rank(1, last, last, dtype=dtype), found, {}


TIED = ranking([1, 3], [1, 1])
CASES = {
    # map@10 is 2.75 in another library: the last target of a short list goes on counting; here (1/2 + 1) / 2
    "ragged lists each count to their own end": (
        pl.concat([ranking([0, 1, 0], user="u"), ranking([1], user="v")]),
        {"n_users": 2, "map@10": 0.75, "precision@2": 0.5, "list_length": 2.0}, {},
    ),
    # relevant at 2 and 3, not at 1 and 4; up to 2 the list is: miss, hit. Of bpref each hit 1 - 1/min(2, 2), over two relevant
    "k cuts the list before r_precision, bpref and auc": (
        ranking([0, 1, 1, 0]),
        {"r_precision@2": 1 / 2, "r_precision@3": 1 / 2, "r_precision@4": 1 / 2, "bpref@2": 1 / 4, "bpref@3": 1 / 2}
        | {"bpref@4": 1 / 2, "auc@2": 0, "auc@3": 0, "auc@4": 1 / 2}, {},
    ),
    # recall .75 and ndcg above 1 in other libraries
    "a pair twice in the truth counts once": (
        recommended(u="a"), {"recall": 1, "ndcg": 1, "map": 1, "r_precision": 1}, {"truth": liked(u="aa")}
    ),
    "a rank goes before a score": (RANKED, {"mrr": 1}, {"truth": liked(u="a")}),
    "unless the score is bound": (RANKED, {"mrr": 0.5}, {"truth": liked(u="a"), "score": "score"}),
    "a relevance below 1 is relevant and gains itself": (
        ranking([0.5]), {"dcg": 0.5, "dcg(gain=exp)": 2**0.5 - 1, "recall": 1}, {}
    ),
    "a Boolean relevance counts 1 and 0": (
        ranking([0, 1]).with_columns(relevance=pl.Series([False, True])),
        {"dcg": 1 / log2(3), "mrr": 0.5, "judged": 1}, {},
    ),
    "the last rank of Int8 does not overflow": last_of(pl.Int8, 127),
    "nor that of UInt8": last_of(pl.UInt8, 255),
    "more hits than a small integer counts": (
        MANY, {"n_hits": 300, "n_hits@299": 299, "map": 1, "precision@300": 1}, {}
    ),
    # 2^24 + 1 is the first whole number that Float32 does not hold
    "Float32 is summed as Float64": (FLOATS, {"n_users": 2, "dcg": (2**24 + 1) / 2}, {}),
    "a fractional rank counts as it is": (
        with_rank(1.5, 4.5), {"mrr": 1 / 1.5, "map": (1 / 1.5 + 2 / 4.5) / 2, "n_hits@4": 1}, {}
    ),
    "a relevance of 1000 is not too steep": (
        ranking([1000, 1000]), {"dcg(gain=exp)@1": 2.0**1000, "ndcg(gain=exp)": 1}, {}
    ),
    # ten items of rank 1, the last one relevant; a profile's ties wait for scores
    **{
        f"items of one rank all count at it, {options}": (
            ranking([0] * 9 + [1], [1] * 10), {"mrr": 1, "precision@1": 1, "list_length@1": 10}, options
        )
        for options in ({}, {"ties": "item"})
    },
    # one library gives map 1.34 here
    "relevant items of one rank take one place each": (
        ranking([1, 1, 1], [1, 1, 1]),
        {"map@1": 1 / 3, "map@2": 2 / 3, "map@3": 1}
        | {f"{name}@{k}": 1 for name in ("ndcg", "precision", "mrr") for k in (1, 2, 3)}
        | {f"n_hits@{k}": k for k in (1, 2, 3)}, {},
    ),
    "a tie across the cut-off lets in what has a place": (ranking([0, 1, 1], [1, 2, 2]), {"n_hits@2": 1, "recall@2": 0.5}, {}),
    # a (relevance 1) and b (relevance 3) share rank 1: a is first, b second
    "items of one rank stand by their ids": (TIED, {"dcg@1": 1, "dcg@2": 1 + 3 / log2(3)}, {}),
    "in any order of the rows": (TIED.reverse(), {"dcg@1": 1, "dcg@2": 1 + 3 / log2(3)}, {}),
    # in auc half a right order
    "an irrelevant item leaves the rank": (ranking([0, 1], [1, 1]), {"mrr": 1, "precision@1": 1, "auc": 0.5}, {}),
    # 1.5 moves to 2 and 2.25 to 3
    "ranks closer than 1 are pushed apart": (
        ranking([1, 1, 1]).with_columns(rank=pl.Series([1.0, 1.5, 2.25])),
        {"n_hits@2": 2, "n_hits@3": 3, "dcg": 1 + 1 / log2(3) + 1 / 2}, {},
    ),
    # 1, 2, 3 by the tie, and 9 stays 9
    "a gap behind a tie ends the push": (ranking([1, 1, 1, 1], [1, 1, 1, 9]), {"map": (1 + 1 + 1 + 4 / 9) / 4}, {}),
}  # fmt: skip


@infinite
@pytest.mark.parametrize("kind", sharp_and_thorough(KINDS), ids=repr)
def test_each_trap_has_the_numbers_worked_by_hand(kind):
    for name, (frame, expected, options) in CASES.items():
        metrics = [metric for metric in expected if metric != "n_users"]
        found = ask_one(kind, frame, *metrics, **options)
        assert found == exactly({"n_users": 1} | expected), name


def test_an_empty_frame_has_no_users_and_null_means(kind):
    found = ask_one(kind, ranking([]), *EVERY_UNIT, "dcg", "n_hits", k=10)

    assert found.pop("n_users") == 0
    assert len(found) == len(EVERY_UNIT) + 2
    assert set(found.values()) == {None}
    # and no rows by segment
    assert ask(kind, ranking([]), "ndcg@10", by="user").shape == (0, 2)
    assert ask(kind, ranking([]), "ndcg@10", by="item").columns == ["item", "n_users", "ndcg@10"]


@pytest.mark.filterwarnings("ignore:no_lists")
def test_empty_recommendations_give_every_user_of_the_truth_zero(kind):
    found = ask_one(kind, recommended(), *ACCURACY, *READERS, k=5, truth=liked(u="ab", v="c"))

    assert found.pop("n_users") == 2
    assert set(found.values()) == {0.0}


def test_one_row_scores_the_best_or_nothing(kind):
    best = ask_one(kind, ranking([1]), *ACCURACY, k=1)

    assert best.pop("rbp@1") == exactly(0.2)  # 1 - p
    assert best.pop("err@1") == exactly(1 / 16)  # (2^1 - 1) / 2^4
    assert set(best.values()) == {1}
    none = ask_one(kind, ranking([0]), *ACCURACY, *READERS, k=1)
    assert none.pop("n_users") == 1
    assert set(none.values()) == {0.0}
    for no_relevant, n_users in (("skip", 0), ("null", 1)):
        found = ask_one(kind, ranking([0, 0]), *ACCURACY, k=2, no_relevant=no_relevant)
        assert found.pop("n_users") == n_users
        assert set(found.values()) == {None}


@pytest.mark.parametrize("k", [10**9, 10**12, 2**53])
def test_k_takes_no_memory_in_proportion_to_itself(k):
    metrics = ("n_hits", "mrr", "precision", "ndcg", "list_length")
    found = ranking([0, 1]).rec.evaluate(*metrics, k=k)

    assert found.row(0) == exactly((1, 1, 0.5, 1 / k, 1 / log2(3), 2))
    assert 0 < ranking([0, 1]).rec.ndcg(k=k, ideal="k") < 1e-4


@pytest.mark.parametrize("lazy", [False, True])
def test_pairs_of_the_lowest_and_the_highest_ids_are_told_apart(lazy):
    """Every user likes every item, twice, at its rank and better: ndcg is 1 and n_hits the number of items."""
    ids = [-(2**63), -(2**63) + 1, -1, 0, 1, 2**63 - 1]
    pairs = [(user, item, rank) for user in ids for rank, item in enumerate(ids, 1)]
    recs = pl.DataFrame(pairs, ["user", "item", "rank"], orient="row")
    gains = (10.0 - pl.col("rank"), pl.col("rank") * 0.5)
    truth = pl.concat(recs.select("user", "item", relevance=gain) for gain in gains)
    recs, truth = (one.lazy() if lazy else one for one in (recs, truth))
    found = recs.rec(truth=truth).evaluate("ndcg", "n_hits", "recall")

    assert found.lazy().collect().row(0) == exactly((6, 1.0, 6.0, 1.0))


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.Int16, pl.Float32], ids=str)
def test_two_to_the_power_of_a_small_integer_does_not_overflow(kind, dtype):
    frame = ranking([100, 100]).with_columns(pl.col("relevance").cast(dtype))

    found = ask_one(kind, frame, "dcg", "dcg(gain=exp)", "ndcg(gain=exp)")
    assert found["dcg"] == exactly(100 + 100 / log2(3))
    assert found["dcg(gain=exp)"] == exactly((2**100 - 1) * (1 + 1 / log2(3)))
    assert found["ndcg(gain=exp)"] == 1


@pytest.mark.parametrize(
    ("dtype", "rank"), [(pl.Int64, 2**63 - 1), (pl.UInt64, 2**64 - 1), (pl.Int128, 2**100)], ids=str
)
def test_behind_the_highest_rank_of_a_dtype_no_item_comes_first(dtype, rank):
    frame = ranking([1, 1, 1]).with_columns(rank=pl.Series([1, rank, rank], dtype=dtype))

    for given in (frame, pl.concat([frame, frame.clear(30_000)])):
        found = given.rec.evaluate("mrr", "map", "recall@2", "n_hits")
        assert found.row(0) == exactly((1, 1, 1 / 3, 1 / 3, 3))


def test_numpy_integers_are_cut_offs():
    frame = ranking([0, 1])

    assert frame.rec.mrr(k=np.int64(2)) == 0.5
    found = frame.rec.mrr(k=np.array([1, 2], dtype=np.uint8))
    assert found.columns == ["n_users", "mrr@1", "mrr@2"]
    assert str(rf.mrr @ np.int8(2)) == "mrr@2"
