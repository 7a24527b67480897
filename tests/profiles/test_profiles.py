"""Profiles: the switches of each library and its numbers on a fixture; its recorded numbers are those of test_recorded.py."""

from __future__ import annotations

import math
import pickle
from typing import Any

import polars as pl
import pytest

import recframe as rf
from asking import liked, recommended, rows
from buckets_of_users import in_buckets
from frame_kinds import KINDS, Kind
from lanes import in_turn
from plain_profiles import DEFINED, a_crowd, expected
from recframe.frames.options import DEFAULTS, Context
from recframe.metrics.language.registry import registered
from recframe.profiles.library_profiles import PROFILES

NAMES = list(PROFILES)
LOG2_3 = math.log2(3)
# u3 has no truth, u4 no list, u5 a short one
LISTS = recommended(u1="axbyc", u2="xyz", u3="abc", u5="ab")
TRUTH = liked(u1="abc", u2="a", u4="ab", u5="abcdef")
ITEMS = pl.DataFrame({"item": [*"abcdefxyz"]})
OF_LISTS = LISTS.rec(truth=TRUTH)
P, R = (2 / 3 + 1) / 2, (2 / 3 + 1) / 2
GRADED = rows(
    *(("u1", "a", 1, 3), ("u1", "b", 2, 0), ("u1", "c", 3, 1)),
    *(("u2", "a", 1, 0), ("u3", "a", 1, None)),
)
ABOVE = rows(("u", "a", 1, 4.0), ("u", "b", 2, 3.0), ("u", "c", 3, 5.0), ("u", "d", None, 3.5))
LOW = rows(("u", "a", 1, 3), ("u", "b", 2, 1), ("u", "c", 3, 2))
# a and b are tied: as the rows stand a is first, and the last item by name b
TIED = pl.DataFrame({"user": [1, 1], "item": ["a", "b"], "score": [1, 1]})
TIED = TIED.rec(truth=pl.DataFrame({"user": [1], "item": ["b"]}), items=ITEMS.head(1))
# P of u1 1/2 and u2 1, R of both 1/2 and 1/3
UNLIKE = recommended(u1="ab", u2="c").rec(truth=liked(u1="ax", u2="cyz"))
# u1's grades by rank are 3, 0, 1; u2 has nothing relevant, u3 no grade at all
OF_GRADES = (7 + 1 / 2) / (7 + 1 / LOG2_3)
WORKED: list[tuple[Any, str, dict[str, Any], dict[str, float]]] = [
    (OF_LISTS, "rectools", {}, {"map(normalizer=k)@3": 0.3056}),
    # 2 of 3 within rank 3, 2 of 6, u2 without a hit, u4 without a list: (2/3 + 1/3) / 2
    (OF_LISTS, "microsoft", {}, {"r_precision@3": 0.5}),
    # u1 finds a and b of a, b, c in its list; u2 has none, u3 no truth, u5 both of its two. Hits alone divide map
    (OF_LISTS, "torchmetrics", {}, {"recall@3": (2 / 3 + 0 + 0 + 1) / 4, "map@3": (5 / 6 + 1) / 4}),
    (OF_LISTS, "evidently", {}, {"n_users": 2, "precision@3": P, "recall@3": R, "f_score@3": 2 * P * R / (P + R)}),
    (UNLIKE, "recframe", {}, {"f_score(denominator=list,average=means)@2": 2 * (3 / 4) * (5 / 12) / (3 / 4 + 5 / 12)}),
    # of u1, u2 and u5: precisions 1, 1/2, 2/3 at ranks 1 to 3, none, and 1, 1, 2/3; u4 has no list and is left out
    (OF_LISTS, "elliot", {}, {"map@3": ((1 + 1 / 2 + 2 / 3) / 3 + 0 + (1 + 1 + 2 / 3) / 3) / 3}
     | {"precision@3": 4 / 9, "recall@3": 1 / 3, "mrr@3": 2 / 3, "hit_rate@3": 2 / 3, "f_score@3": (2 / 3 + 4 / 9) / 3}),
    # gains are 2^(g - 3.5 + 1) - 1
    (ABOVE.rec, "elliot", {"min_relevance": 3.5}, {
        "ndcg(offset=-2.5)@2": (2**1.5 - 1) / (2**2.5 - 1 + (2**1.5 - 1) / LOG2_3)
    }),
    # 1 for a query without a relevant row
    (GRADED.rec, "lightgbm", {}, {"n_users": 3, "ndcg@3": (OF_GRADES + 2) / 3, "map@3": (5 / 6 + 2) / 3}),
    (GRADED.rec, "lightgbm", {"no_relevant": "skip"}, {"n_users": 1, "ndcg@3": OF_GRADES, "map@3": 5 / 6}),
    # from 2 up the hits are 3 at rank 1 and 2 at rank 3; the 1 at rank 2 gains nothing, and is none of the best order
    (LOW.rec, "ranx", {"min_relevance": 2}, {"ndcg@3": (3 + 2 / 2) / (3 + 2 / LOG2_3)}),
    # which covers the first rows of ties, and ranks them otherwise by item
    (TIED, "replay", {}, {"coverage@1": 1, "mrr@1": 1}),
    (OF_LISTS, "recframe", {"decimals": 2}, {"n_users": 4, "precision@3": 0.33, "map@3": 0.22}),
    # a policy, a parameter and a profile of the call win over the profile, though they be the default; u3 is skipped
    (OF_LISTS, "jurity", {"universe": "all"}, {"precision@3": 5 / 3 / 4}),
    (rows(("u", "a", 1, 1), ("v", "a", 1, 0)).rec, "recpack", {}, {"recall": 1}),
    (rows(("u", "a", 1, 1), ("v", "a", 1, 0)).rec, "recpack", {"no_relevant": "zero"}, {"recall": 0.5}),
    (rows(("u", "a", 1, 1), ("v", "a", 1, 0)).rec(no_relevant="zero"), "recpack", {}, {"recall": 0.5}),
    (OF_LISTS, "replay", {}, {"map@3": 0.3056, "map(normalizer=min)@3": 0.3056}),
    (OF_LISTS, "replay", {}, {"map(normalizer=relevant)@3": 0.2222}),
    (OF_LISTS(profile="lenskit"), "jurity", {}, {"precision@3": 5 / 9}),
    (OF_LISTS(profile="lenskit"), "recframe", {}, {"precision@3": 1 / 3}),
    # as other users count, each metric has its own: here the three with a list for precision, all four for recall
    (OF_LISTS, "jurity", {}, {"n_users": 4, "precision@3": 5 / 9, "recall@3": 0.25}),
    (OF_LISTS, "jurity", {}, {"n_users": 3, "precision@3": 5 / 9}),
]  # fmt: skip


def test_numbers_worked_by_hand_come_out():
    for rec, profile, options, values in WORKED:
        metrics = [rf.parse(name) for name in values if name != "n_users"]
        found = rec(profile=profile, **options).evaluate(*metrics).row(0, named=True)
        names = [*(["n_users"] if "n_users" in values else []), *map(named, metrics)]
        mine = [found[name] for name in names]
        assert mine == pytest.approx([*values.values()], abs=5e-5), (profile, options, found)


def named(metric: rf.Metric[...]) -> str:
    """The column of a metric, in which a default is not written."""
    return "map@3" if str(metric) == "map(normalizer=relevant)@3" else str(metric)


@pytest.mark.parametrize(
    ("profile", "k"),
    [(one, k) for one in DEFINED for k in (3, None, 1, 10, 40) if expected(one, k)],
)
def test_the_definitions_of_the_library_in_plain_python_agree(profile: str, k: int | None):
    crowd, wanted = a_crowd(), expected(profile, k)
    rec = pl.DataFrame(crowd.recs).rec(truth=pl.DataFrame(crowd.truth), profile=profile)
    ours = dict(zip(wanted, rec.evaluate(*wanted, k=k).row(0)[1:], strict=True))
    decimals = PROFILES[profile].policies.get("decimals")
    tolerance = 1e-12 if decimals is None else 0.5 * 10**-decimals + 1e-12
    assert ours == pytest.approx(wanted, abs=tolerance, rel=1e-12)


@pytest.mark.parametrize(("kind", "profile"), in_turn(KINDS, NAMES))
def test_a_profile_keeps_plain_names_and_equals_its_switches_written_out(kind: Kind, profile: str):
    about = PROFILES[profile]
    rec = kind(LISTS).rec(truth=kind(TRUTH), items=kind(ITEMS))
    rounded = about.policies.get("decimals", 15)
    for name, switches in about.metrics.items():
        if registered()[name].definition.family != "accuracy":
            continue
        k = None if "k" in switches else 2
        found = kind.read(rec(profile=profile).evaluate(name, k=k))
        policies = about.policies | {n: one for n, one in switches.items() if n in DEFAULTS}
        policies.pop("ties", None)  # the lists have ranks, so there is no tie to order
        own = registered()[name](**{n: switches[n] for n in switches.keys() - {*DEFAULTS, "k"}})
        plain = kind.read(rec(**policies).evaluate(own, k=k)).row(0)
        assert found.columns == ["n_users", name if k is None else f"{name}@{k}"]
        assert found.row(0) == pytest.approx([round(one, rounded) for one in plain], abs=1e-12)


def test_the_table_of_profiles_is_a_frame():
    table = rf.list_profiles()
    assert table["profile"].to_list() == NAMES
    assert table.columns == ["profile", *DEFAULTS, "metrics", "notes", "source"]
    assert table.filter(profile="recbole").row(0, named=True) | {"notes": "", "source": ""} == {
        "profile": "recbole", "universe": "truth", "no_relevant": "zero", "relevant_from": "truth", "min_relevance": "any",
        "min_relevance_for": "all", "ties": "item", "decimals": "4", "notes": "", "source": "",
        "metrics": "hit_rate, precision, recall, map(normalizer=min), mrr, ndcg(gain=binary), coverage, gini(normalizer=n), "
        "popularity, long_tail_share(tail=items, share=0.9)",
    }  # fmt: skip
    for name, value in DEFAULTS.items():
        assert name == "universe" or getattr(Context(), name) == value


def test_a_parameter_that_was_written_out_is_so_after_it_was_pickled_too(kind: Kind):
    rec = kind(LISTS).rec(truth=kind(TRUTH), profile="replay")
    again = pickle.loads(pickle.dumps(rf.map(normalizer="relevant") @ 3))  # noqa: S301  our own
    assert kind.read(rec.evaluate(again))["map@3"].item() == pytest.approx(0.2222, abs=5e-5)
    found = OF_LISTS.evaluate(
        "map@3", "map(normalizer=relevant)@3", "map(normalizer=min)@3", "map@3"
    )
    assert found.columns == ["n_users", "map@3", "map(normalizer=min)@3"]


def test_metrics_of_lists_alone_need_no_truth_under_a_profile(kind: Kind):
    rec = kind(LISTS).rec(train=kind(LISTS.select("user", "item")))
    # RecTools' users are those of the truth, Evidently's those with a relevant item; nobody knows which these are
    for profile, metric, plain in (
        ("rectools", "novelty@3", "novelty@3"),
        ("evidently", "popularity@3", "popularity@3"),
        ("lenskit", "gini@3", "gini(normalizer=n)@3"),
    ):
        found = kind.read(rec(profile=profile).evaluate(metric))
        assert found.columns == ["n_users", "n_lists", metric]
        expected = kind.read(rec.evaluate(plain)).row(0)
        assert found.row(0) == pytest.approx(expected, abs=1e-12)


USERS = pl.DataFrame({"user": ["u1", "u2", "u4", "u5"], "*": ["b", None, "c", "a"]})
TWO = [LISTS.with_columns(model=pl.lit("m")), LISTS[:5].with_columns(model=pl.lit("n"))]


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_metrics_over_different_users_stand_in_one_result(kind: Kind):
    rec = kind(LISTS).rec(truth=kind(TRUTH), users=kind(USERS), profile="jurity")
    found = kind.read(rec.evaluate("precision@3", "recall@3", by="user"))
    third, most = pytest.approx(1 / 3), pytest.approx(2 / 3)
    assert found.rows() == [("u1", most, most), ("u2", 0, 0), ("u4", None, 0), ("u5", 1, third)]
    # nulls stand last
    found = kind.read(rec(profile="microsoft").evaluate("ndcg@1", "precision@1", by="*"))
    assert found.columns == ["*", "n_users", "ndcg@1", "precision@1"]
    assert found.rows() == [("a", 1, 1, 1), ("b", 1, 1, 1), ("c", 1, 0, None), (None, 1, 0, 0)]
    # jurity's users with a list are those that any model has a list for
    rec = kind(pl.concat(TWO)).rec(truth=kind(TRUTH), model="model", profile="jurity")
    found = kind.read(rec.evaluate("precision@3", "recall@3")).rows()
    values = [pytest.approx(one) for one in (5 / 9, 1 / 4, 2 / 9, 1 / 6)]
    assert found == [("m", 4, *values[:2]), ("n", 4, *values[2:])]


def test_files_in_buckets_give_the_numbers_of_the_profile():
    for profile, metrics in (("jurity", ["precision@3", "recall@3"]), ("evidently", ["f_score@3"])):
        rec = LISTS.lazy().rec(truth=TRUTH.lazy(), profile=profile)
        found, whole = in_buckets(rec, *metrics), rec.evaluate(*metrics).collect()
        assert found.columns == whole.columns
        assert found.row(0) == pytest.approx(whole.row(0), abs=1e-12)


def test_what_a_library_does_beside_its_switches_is_in_the_explanation():
    for profile, metric, said in (
        ("ranx", "bpref", "a division by zero there that makes every later user 0"),
        ("lenskit", "mrr", "2025 counts lists without test items 0"),
        ("replay", "coverage", "its Novelty counts a user of train without a list as 1"),
        ("implicit", "auc", "each place up to k without a hit as a miss, also after the end of a list"),
        ("lightgbm", "ndcg", "a query without a relevant row counts 1"),
    ):  # fmt: skip
        assert said in " ".join(rf.explain(metric, profile).text.split())


def test_judge_keeps_the_users_of_the_profile():
    judged = OF_LISTS(profile="lenskit").judge()
    assert set(judged["user"]) == {"u1", "u2", "u3", "u5"}
    assert judged.rec(profile="lenskit").precision(k=3) == pytest.approx(5 / 12)
    found = OF_LISTS(profile="pytrec_eval").evaluate("recall@3", by="user")
    assert found["user"].to_list() == ["u1", "u2", "u5"]


@pytest.mark.parametrize("make", [pl.DataFrame.clone, pl.DataFrame.lazy, pl.DataFrame.to_pandas])
def test_a_table_formats_the_mean_that_a_profile_has_not_rounded(make: Any):
    # 137 hits of 547 users are 0.25046, which is 0.250, though four decimals of it, 0.2505, are 0.251
    users = pl.DataFrame({"user": range(547)})
    recs = users.with_columns(item=pl.lit(0), rank=pl.lit(1), model=pl.lit("a"))
    truth = users.with_columns(item=(pl.col("user") >= 137).cast(pl.Int32))
    rec = make(recs).rec(make(truth), model="model", profile="recbole")

    assert "| 0.250 [" in str(rec.table("hit_rate@1", decimals=3))
