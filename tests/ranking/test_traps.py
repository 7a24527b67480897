"""The traps that other libraries fall into, and each row of the table of empty cases: one small test each, worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recframe as rf
from asking import ask, ask_one, liked, ranking, recommended, rows

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


def exactly(value):
    return pytest.approx(value, rel=1e-12, abs=1e-12)


def test_an_empty_frame_has_no_users_and_null_means(kind):
    found = ask_one(kind, ranking([]), *EVERY_UNIT, "dcg", "n_hits", k=10)

    assert found.pop("n_users") == 0
    assert len(found) == len(EVERY_UNIT) + 2
    assert set(found.values()) == {None}


def test_an_empty_frame_by_segment_has_no_rows(kind):
    assert ask(kind, ranking([]), "ndcg@10", by="user").shape == (0, 2)
    assert ask(kind, ranking([]), "ndcg@10", by="item").columns == ["item", "n_users", "ndcg@10"]


def test_a_pandas_frame_without_rows_and_dtypes_is_empty():
    assert math.isnan(pd.DataFrame(columns=["user", "item", "rank", "relevance"]).rec.ndcg(k=10))


def test_empty_recommendations_give_every_user_of_the_truth_zero(kind):
    found = ask_one(kind, recommended(), *ACCURACY, *READERS, k=5, truth=liked(u="ab", v="c"))

    assert found.pop("n_users") == 2
    assert set(found.values()) == {0.0}


def test_an_empty_truth_counts_nobody(kind):
    assert ask_one(kind, recommended(u="ab"), "recall@5", truth=liked()) == {
        "n_users": 0,
        "recall@5": None,
    }


def test_one_relevant_row_scores_the_best_of_everything(kind):
    found = ask_one(kind, ranking([1]), *ACCURACY, k=1)

    assert found.pop("rbp@1") == exactly(0.2)  # 1 - p
    assert found.pop("err@1") == exactly(1 / 16)  # (2^1 - 1) / 2^4
    assert set(found.values()) == {1}


def test_one_irrelevant_row_scores_zero(kind):
    found = ask_one(kind, ranking([0]), *ACCURACY, *READERS, k=1)

    assert found.pop("n_users") == 1
    assert set(found.values()) == {0.0}


def test_a_user_whose_truth_is_all_zero_counts_zero_is_skipped_or_null(kind):
    frame = pl.concat([ranking([0, 0], user="none"), ranking([1, 0], user="some")])

    assert ask_one(kind, frame, "ndcg@2", "precision@2") == {
        "n_users": 2,
        "ndcg@2": 0.5,
        "precision@2": 0.25,
    }
    assert ask_one(kind, frame, "ndcg@2", "precision@2", no_relevant="skip") == {
        "n_users": 1,
        "ndcg@2": 1,
        "precision@2": 0.5,
    }
    assert ask_one(kind, frame, "ndcg@2", "precision@2", no_relevant="null") == {
        "n_users": 2,
        "ndcg@2": 1,
        "precision@2": 0.5,
    }
    assert ask(kind, frame, "ndcg@2", no_relevant="null", by="user").rows() == [
        ("none", None),
        ("some", 1.0),
    ]
    assert ask(kind, frame, "ndcg@2", no_relevant="skip", by="user").rows() == [("some", 1.0)]


@pytest.mark.parametrize("no_relevant", ["skip", "null"])
def test_a_truth_that_is_all_zero_for_everybody_has_null_means(kind, no_relevant):
    found = ask_one(kind, ranking([0, 0]), *ACCURACY, k=2, no_relevant=no_relevant)

    assert found.pop("n_users") == (0 if no_relevant == "skip" else 1)
    assert set(found.values()) == {None}


# One user of both frames with a hit, two of the truth alone, one with a list alone, one of `users` alone.
@pytest.mark.filterwarnings("ignore:2 of the 3 users of the frame truth= have no list")
@pytest.mark.parametrize(
    ("universe", "n_users", "hit_rate"),
    [
        (None, 3, 1 / 3),
        ("truth", 3, 1 / 3),
        ("recs", 2, 1 / 2),
        ("both", 1, 1.0),
        ("all", 5, 1 / 5),
    ],
)
def test_the_universe_says_which_users_count(kind, universe, n_users, hit_rate):
    users = pl.DataFrame({"user": ["both", "nobody"]})
    options = {
        "truth": liked(both="a", truth="a", truth2="b"),
        "users": users,
        "universe": universe,
    }
    recs = recommended(both="a", lists="a")

    assert ask_one(kind, recs, "hit_rate@1", **options) == {
        "n_users": n_users,
        "hit_rate@1": exactly(hit_rate),
    }


@pytest.mark.parametrize(
    ("universe", "n_users", "hit_rate"),
    [
        (None, 4, 1 / 4),
        ("truth", 3, 1 / 3),
        ("recs", 2, 1 / 2),
        ("both", 1, 1.0),
        ("all", 5, 1 / 5),
    ],
)
def test_the_universe_of_a_judged_frame_is_everybody_in_it(kind, universe, n_users, hit_rate):
    frame = rows(
        ("both", "a", 1, 1),
        ("truth", "a", None, 1),
        ("truth2", "b", None, 1),
        ("lists", "a", 1, None),
    )
    users = pl.DataFrame({"user": ["both", "nobody"]})

    found = ask_one(kind, frame, "hit_rate@1", users=users, universe=universe)

    assert found == {"n_users": n_users, "hit_rate@1": exactly(hit_rate)}


@pytest.mark.parametrize(
    ("universe", "users"),
    [(None, ["both", "truth"]), ("recs", ["both", "lists"]), ("both", ["both"]), ("all", None)],
)
def test_judge_leaves_out_the_users_that_do_not_count(kind, universe, users):
    rec = kind(recommended(both="a", lists="a")).rec(
        truth=kind(liked(both="a", truth="a")), universe=universe
    )

    assert sorted(kind.read(rec.judge())["user"]) == (users or ["both", "lists", "truth"])


def test_k_of_1_is_the_first_place_alone(kind):
    found = ask_one(kind, ranking([1, 0, 1]), *ACCURACY, k=1)

    expected = {
        "hit_rate": 1,
        "precision": 1,
        "recall": 1 / 2,
        "f_score": 2 / 3,
        "map": 1 / 2,
        "mrr": 1,
        "ncrr": 1,
        "ndcg": 1,
    }
    expected |= {"r_precision": 1 / 2, "rbp": 0.2, "err": 1 / 16, "bpref": 1 / 2}
    # one of two relevant items is found, and it stands above all of the first ten misses
    expected |= {"interpolated_precision": 1, "partial_auc": 1 / 2}
    # one of two items is common at depth 1, and still at depth 2, of two
    expected |= {"infap": 1 / 2, "compatibility": (1 + 0.95 / 2) / (1 + 0.95)}
    # recalls from 0 to 0.5 are reached
    expected |= {"eleven_point_precision": 6 / 11}
    assert found == exactly({"n_users": 1} | {f"{name}@1": expected[name] for name in ACCURACY})


def test_k_beyond_every_list_is_the_whole_list(kind):
    frame = ranking([0, 1, 1, 0])
    whole, beyond = ask_one(kind, frame, *ACCURACY), ask_one(kind, frame, *ACCURACY, k=30)

    assert beyond["precision@30"] == exactly(2 / 30)
    assert beyond["f_score@30"] == exactly(2 * (2 / 30) * 1 / (2 / 30 + 1))
    for name in set(ACCURACY) - {"precision", "f_score"}:
        assert beyond[f"{name}@30"] == exactly(whole[name])


@pytest.mark.parametrize("k", [10**9, 10**12, 2**53])
def test_k_takes_no_memory_in_proportion_to_itself(k):
    found = (
        ranking([0, 1])
        .rec.evaluate("n_hits", "mrr", "precision", "ndcg", "list_length", k=k)
        .row(0)
    )

    assert found == exactly((1, 1, 0.5, 1 / k, 1 / log2(3), 2))
    assert 0 < ranking([0, 1]).rec.ndcg(k=k, ideal="k") < 1e-4


@pytest.mark.parametrize("k", [2**53 + 1, 2**63, 10**30, 10**400])
def test_k_beyond_which_ranks_are_no_longer_told_apart_is_an_error(k):
    rec = ranking([0, 1]).rec
    calls = [
        lambda: rec.precision(k=k),
        lambda: rec.evaluate("n_hits", k=[5, k]),
        lambda: rf.ndcg @ k,
        lambda: rf.recall.expr(k=k),
    ]
    for call in calls:
        with pytest.raises(rf.RecframeError, match=r"^k is at most 9007199254740992 \(2\^53\)"):
            call()


def test_a_metric_in_text_has_the_same_bound():
    with pytest.raises(rf.RecframeError, match=r"k is at most 9007199254740992"):
        rf.parse("precision@9007199254740993")


def test_ragged_lists_each_count_to_their_own_end(kind):
    # map@10 is 2.75 in another library: the last target of a short list goes on counting
    frame = pl.concat([ranking([0, 1, 0], user="u"), ranking([1], user="v")])

    assert ask_one(kind, frame, "map@10", "precision@2", "list_length") == {
        "n_users": 2,
        "map@10": 0.75,  # (1/2 + 1) / 2
        "precision@2": 0.5,  # one of two places each
        "list_length": 2.0,
    }


def test_a_list_longer_than_k_is_cut(kind):
    assert ask_one(kind, ranking([0, 0, 1, 1]), "n_hits", "recall", k=3) == {
        "n_users": 1,
        "n_hits@3": 1,
        "recall@3": 0.5,
    }


def test_ranks_with_gaps_count_as_they_are(kind):
    found = ask_one(
        kind,
        ranking([0, 1, 1], [1, 3, 7]),
        "mrr",
        "map",
        "precision@5",
        "dcg@7",
        "list_length",
        "auc",
    )

    assert found == exactly(
        {
            "n_users": 1,
            "mrr": 1 / 3,
            "map": (1 / 3 + 2 / 7) / 2,
            "precision@5": 1 / 5,
            "dcg@7": 1 / 2 + 1 / 3,  # log2(4) and log2(8)
            "list_length": 3,
            "auc": 0,
        }
    )


def test_the_order_of_rows_is_not_the_order_of_the_list(kind):
    frame = ranking([1, 0, 0, 1])
    expected = {
        "n_users": 1,
        "map": (1 + 2 / 4) / 2,
        "mrr": 1.0,
        "ndcg": (1 + 1 / log2(5)) / (1 + 1 / log2(3)),
    }

    for order in ([3, 2, 1, 0], [2, 0, 3, 1]):
        assert ask_one(kind, frame[order], "map", "mrr", "ndcg") == exactly(expected)


def test_without_k_precision_divides_by_the_length_of_the_list(kind):
    assert (
        ask_one(kind, ranking([1, 0, 0, 1, 1], [1, 2, 3, 9, None]), "precision")["precision"] == 0.5
    )


def test_k_cuts_the_list_before_r_precision_bpref_and_auc(kind):
    # relevant at 2 and 3, not relevant at 1 and 4; up to 2 the list is: miss, hit
    found = ask_one(kind, ranking([0, 1, 1, 0]), "r_precision", "bpref", "auc", k=[2, 3, 4])

    r_precision = {"r_precision@2": 1 / 2, "r_precision@3": 1 / 2, "r_precision@4": 1 / 2}
    # each hit 1 - 1/min(2, 2), over two relevant
    bpref = {"bpref@2": 1 / 4, "bpref@3": 1 / 2, "bpref@4": 1 / 2}
    assert found == exactly(
        {"n_users": 1} | r_precision | bpref | {"auc@2": 0, "auc@3": 0, "auc@4": 1 / 2}
    )


def test_an_item_listed_twice_counts_once_at_its_best_rank(kind):
    recs = recommended(u="axa")
    found = ask_one(
        kind, recs, "precision@3", "map", "recall", "ndcg", "list_length", truth=liked(u="ab")
    )

    assert found == exactly(
        {
            "n_users": 1,
            "precision@3": 1 / 3,
            "map": 1 / 2,
            "recall": 1 / 2,
            "ndcg": 1 / (1 + 1 / log2(3)),
            "list_length": 2,
        }
    )


def test_an_item_twice_in_a_judged_frame_counts_at_the_best_rank_of_its_relevant_rows(kind):
    frame = rows(("u", "a", 1, 0), ("u", "a", 3, 1), ("u", "a", 5, 1), ("u", "b", 2, 0))

    assert ask_one(kind, frame, "mrr", "n_hits", "list_length", "auc", "recall") == exactly(
        {"n_users": 1, "mrr": 1 / 3, "n_hits": 1, "list_length": 2, "auc": 0, "recall": 1}
    )


def test_a_pair_twice_in_the_truth_counts_once(kind):
    # recall .75 and ndcg above 1 in other libraries
    found = ask_one(
        kind, recommended(u="a"), "recall", "ndcg", "map", "r_precision", truth=liked(u="aa")
    )

    assert found == {"n_users": 1, "recall": 1, "ndcg": 1, "map": 1, "r_precision": 1}


@pytest.mark.parametrize("lazy", [False, True])
def test_pairs_of_the_lowest_and_the_highest_ids_are_told_apart(lazy):
    """Every user likes every item, twice, at its rank and better: ndcg is 1 and n_hits the number of items."""
    ids = [-(2**63), -(2**63) + 1, -1, 0, 1, 2**63 - 1]
    recs = pl.DataFrame(
        [(user, item, rank) for user in ids for rank, item in enumerate(ids, 1)],
        ["user", "item", "rank"],
        orient="row",
    )
    grade = 10 - pl.col("rank")
    truth = pl.concat(
        [
            recs.select("user", "item", relevance=gain.cast(pl.Float64))
            for gain in (grade, pl.col("rank") * 0.5)
        ]
    )

    found = (
        (recs.lazy() if lazy else recs)
        .rec(truth=truth.lazy() if lazy else truth)
        .evaluate("ndcg", "n_hits", "recall")
    )

    assert found.lazy().collect().row(0) == exactly((6, 1.0, 6.0, 1.0))


def test_a_pair_twice_in_the_truth_counts_at_its_highest_relevance(kind):
    truth = rows(
        ("u", "a", 1),
        ("u", "a", 3),
        ("u", "a", None),
        ("u", "b", 0),
        ("u", "b", 2),
        schema=("user", "item", "relevance"),
    )

    assert ask_one(kind, recommended(u="ab"), "dcg", "ndcg", truth=truth) == exactly(
        {"n_users": 1, "dcg": 3 + 2 / log2(3), "ndcg": 1}
    )


def test_rows_that_a_join_repeated_change_nothing(kind):
    frame = ranking([0, 2, None, 1], [1, 2, 3, None])
    once, thrice = (
        ask_one(kind, one, *ACCURACY, *(f"{name}@3" for name in READERS), "dcg", "n_hits")
        for one in (frame, pl.concat([frame] * 3))
    )

    assert thrice == exactly(once)
    assert once["n_hits"] == 1


def test_a_relevance_that_the_recommendations_have_does_not_count_beside_a_truth(kind):
    assert ask_one(kind, ranking([1, 0]), "mrr", truth=liked(u="b")) == {"n_users": 1, "mrr": 0.5}


def test_rows_without_a_user_or_an_item_are_ignored(kind):
    frame = rows(
        ("u", "a", 1, 0),
        ("u", "b", 2, 1),
        (None, "a", 1, 1),
        ("u", None, 1, 1),
        ("v", None, 1, 1),
        (None, None, 0, 1),
    )
    assert ask_one(kind, frame, "mrr", "recall", "list_length") == {
        "n_users": 1,
        "mrr": 0.5,
        "recall": 1,
        "list_length": 2,
    }

    truth = rows(("u", "b"), ("u", None), (None, "a"), ("v", None), schema=("user", "item"))
    recs = frame.select("user", "item", "rank")
    assert ask_one(kind, recs, "mrr", "recall", truth=truth) == {
        "n_users": 1,
        "mrr": 0.5,
        "recall": 1,
    }


@infinite
@pytest.mark.parametrize("rank", [None, nan, inf, -inf])
def test_a_rank_that_is_no_finite_number_means_judged_but_not_recommended(kind, rank):
    frame = (
        ranking([1, 1], [2, rank])
        if rank is None
        else ranking([1, 1]).with_columns(rank=pl.Series([2.0, rank]))
    )

    assert ask_one(kind, frame, "mrr", "recall", "list_length", "judged") == {
        "n_users": 1,
        "mrr": 0.5,
        "recall": 0.5,
        "list_length": 1,
        "judged": 1,
    }
    truth = liked(u="ab")
    assert ask_one(kind, frame.drop("relevance"), "recall", "mrr", truth=truth) == {
        "n_users": 1,
        "recall": 0.5,
        "mrr": 0.5,
    }


def scored(scores, items="abcdefgh"):
    return pl.DataFrame(
        {"user": ["u"] * len(scores), "item": list(items[: len(scores)]), "score": scores}
    )


@infinite
@pytest.mark.parametrize(("item", "rank"), [("b", 1), ("d", 2), ("a", 3), ("c", 4), ("e", 5)])
def test_scores_that_are_no_number_rank_behind_every_number(kind, item, rank):
    # inf, 0.5 and -inf are numbers, in this order; c (NaN) and e (null) follow, by item
    recs = scored([-inf, inf, nan, 0.5, None])

    assert ask_one(kind, recs, "first_rank", truth=liked(u=item))["first_rank"] == rank


def test_a_negative_score_is_a_score(kind):
    assert ask_one(kind, scored([-2.0, -1.0]), "mrr", "list_length", truth=liked(u="a")) == {
        "n_users": 1,
        "mrr": 0.5,
        "list_length": 2,
    }


def test_the_best_score_of_an_item_listed_twice_counts(kind):
    recs = scored([0.1, 0.5, 0.9], items="aba")

    assert ask_one(kind, recs, "mrr", "list_length", truth=liked(u="b")) == {
        "n_users": 1,
        "mrr": 0.5,
        "list_length": 2,
    }


def test_a_rank_goes_before_a_score_unless_the_score_is_bound_by_name(kind):
    recs = scored([0.1, 0.9]).with_columns(rank=pl.Series([1, 2]))

    assert ask_one(kind, recs, "mrr", truth=liked(u="a"))["mrr"] == 1
    assert ask_one(kind, recs, "mrr", truth=liked(u="a"), score="score")["mrr"] == 0.5


def test_a_negative_relevance_is_listed_and_judged_but_gains_nothing(kind):
    found = ask_one(kind, ranking([-1, 2, nan]), "dcg", "ndcg", "recall", "list_length", "n_hits")

    assert found == exactly(
        {
            "n_users": 1,
            "dcg": 2 / log2(3),
            "ndcg": 1 / log2(3),
            "recall": 1,
            "list_length": 3,
            "n_hits": 1,
        }
    )


def test_a_relevance_between_0_and_1_is_relevant_and_gains_itself(kind):
    assert ask_one(kind, ranking([0.5]), "dcg", "dcg(gain=exp)", "recall") == exactly(
        {"n_users": 1, "dcg": 0.5, "dcg(gain=exp)": 2**0.5 - 1, "recall": 1}
    )


def test_min_relevance_takes_the_threshold_itself(kind):
    found = ask_one(kind, ranking([2, 3, 4]), "mrr", "n_hits", "dcg", min_relevance=3)

    assert found == exactly({"n_users": 1, "mrr": 0.5, "n_hits": 2, "dcg": 3 / log2(3) + 4 / 2})
    assert ask_one(kind, ranking([0.5, 1]), "n_hits", min_relevance=0.5)["n_hits"] == 2


def test_relevant_from_the_list_forgets_what_was_not_recommended(kind):
    frame = ranking([0, 1, 1], [1, 2, None])

    assert ask_one(kind, frame, "recall", "map", relevant_from="list") == {
        "n_users": 1,
        "recall": 1,
        "map": 0.5,
    }
    assert ask_one(kind, frame, "recall", "map") == {"n_users": 1, "recall": 0.5, "map": 0.25}


def test_a_boolean_relevance_counts_1_and_0(kind):
    frame = ranking([0, 1]).with_columns(pl.Series("relevance", [False, True]))

    assert ask_one(kind, frame, "dcg", "mrr", "judged") == exactly(
        {"n_users": 1, "dcg": 1 / log2(3), "mrr": 0.5, "judged": 1}
    )


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.Int16, pl.Float32], ids=str)
def test_two_to_the_power_of_a_small_integer_does_not_overflow(kind, dtype):
    frame = ranking([100, 100]).with_columns(pl.col("relevance").cast(dtype))

    found = ask_one(kind, frame, "dcg", "dcg(gain=exp)", "ndcg(gain=exp)")
    assert found["dcg"] == exactly(100 + 100 / log2(3))
    assert found["dcg(gain=exp)"] == exactly((2**100 - 1) * (1 + 1 / log2(3)))
    assert found["ndcg(gain=exp)"] == 1


@pytest.mark.parametrize(("dtype", "last"), [(pl.Int8, 127), (pl.UInt8, 255)], ids=str)
def test_the_last_rank_that_a_small_integer_holds_does_not_overflow(kind, dtype, last):
    frame = ranking([1, 1, 1], [1, last, last]).with_columns(pl.col("rank").cast(dtype))

    # the second of the last rank moves on by one: 128 or 256
    found = ask_one(kind, frame, "precision@1000", "dcg", "map", "r_precision")
    assert found == exactly(
        {
            "n_users": 1,
            "precision@1000": 3 / 1000,
            "dcg": 1 + 1 / log2(last + 1) + 1 / log2(last + 2),
            "map": (1 + 2 / last + 3 / (last + 1)) / 3,
            "r_precision": 1 / 3,
        }
    )


def test_more_hits_than_a_small_integer_counts(kind):
    items = [f"{item:03}" for item in range(300)]
    frame = pl.DataFrame(
        {"user": ["u"] * 300, "item": items, "rank": [1] * 300, "relevance": [1] * 300}
    )
    frame = frame.with_columns(pl.col("rank", "relevance").cast(pl.UInt8))

    assert ask_one(kind, frame, "n_hits", "n_hits@299", "map", "precision@300") == exactly(
        {"n_users": 1, "n_hits": 300, "n_hits@299": 299, "map": 1, "precision@300": 1}
    )


def test_the_largest_rank_of_an_unsigned_integer_is_a_rank():
    frame = ranking([0, 1]).with_columns(rank=pl.Series([1, 2**64 - 1], dtype=pl.UInt64))

    assert frame.rec.mrr() == exactly(2.0**-64)
    assert frame.rec.list_length() == 2


def test_float32_is_summed_as_float64(kind):
    # 2^24 + 1 is the first whole number that Float32 does not hold
    frame = pl.concat([ranking([2**24], user="u"), ranking([1], user="v")])
    frame = frame.with_columns(pl.col("relevance", "rank").cast(pl.Float32))

    assert ask_one(kind, frame, "dcg")["dcg"] == (2**24 + 1) / 2


def test_a_fractional_rank_counts_as_it_is(kind):
    frame = ranking([1, 1]).with_columns(rank=pl.Series([1.5, 4.5]))

    assert ask_one(kind, frame, "mrr", "map", "n_hits@4") == exactly(
        {"n_users": 1, "mrr": 1 / 1.5, "map": (1 / 1.5 + 2 / 4.5) / 2, "n_hits@4": 1}
    )


def test_a_relevance_of_1000_is_not_too_steep(kind):
    found = ask_one(kind, ranking([1000, 1000]), "dcg(gain=exp)@1", "ndcg(gain=exp)")

    assert found == exactly({"n_users": 1, "dcg(gain=exp)@1": 2.0**1000, "ndcg(gain=exp)": 1})


def test_numpy_integers_are_cut_offs():
    frame = ranking([0, 1])

    assert frame.rec.mrr(k=np.int64(2)) == 0.5
    assert frame.rec.mrr(k=np.array([1, 2], dtype=np.uint8)).columns == [
        "n_users",
        "mrr@1",
        "mrr@2",
    ]
    assert str(rf.mrr @ np.int8(2)) == "mrr@2"
