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
each_profile = pytest.mark.parametrize("profile", NAMES)


# u3 has no truth, u4 no list, u5 a short one
LISTS = recommended(u1="axbyc", u2="xyz", u3="abc", u5="ab")
TRUTH = liked(u1="abc", u2="a", u4="ab", u5="abcdef")
ITEMS = pl.DataFrame({"item": [*"abcdefxyz"]})
FIXTURE = {
    "rectools": {"precision": 0.3333, "recall": 0.25, "map": 0.2222, "mrr": 0.5, "ndcg": 0.3673, "hit_rate": 0.5},
    "replay": {"precision": 0.3333, "recall": 0.25, "map": 0.3056, "mrr": 0.5, "ndcg": 0.3673, "hit_rate": 0.5},
    "ranx": {"precision": 0.3333, "recall": 0.25, "map": 0.2222, "mrr": 0.5, "ndcg": 0.3673, "hit_rate": 0.5},
    "ir_measures": {"precision": 0.3333, "recall": 0.25, "map": 0.2222, "mrr": 0.5, "ndcg": 0.3673, "hit_rate": 0.5},
    "trec_eval": {"precision": 0.3333, "recall": 0.25, "map": 0.2222, "mrr": 0.5, "ndcg": 0.3673, "hit_rate": 0.5},
    "recbole": {"precision": 0.3333, "recall": 0.25, "map": 0.3056, "mrr": 0.5, "ndcg": 0.3673, "hit_rate": 0.5},
    "recpack": {
        "precision": 0.3333,
        "recall": 0.25,
        "recall(denominator=capped)": 0.3333,
        "mrr": 0.5,
        "ndcg": 0.3673,
    }
    | {"n_hits": 1.0},
    # precision over u1, u2, u3 and u5: (2/3 + 0 + 0 + 1) / 4; the others leave u3 out, recall (2/3 + 0 + 2/3) / 3
    "lenskit": {"precision": 0.4167, "recall": 0.4444, "mrr": 0.6667, "hit_rate": 0.6667}
    # u1 hits ranks 1 and 3 of 3, u5 1 and 2: (1 + 1/log2(3)) and 2, over 2 + 1/log2(3)
    | {"ndcg": 0.4600, "ndcg(discount=shifted)": 0.4898},
    "microsoft": {"precision": 0.4444, "recall": 0.3333, "map": 0.2963, "map(normalizer=min)": 0.4074, "ndcg": 0.3673},
    "jurity": {"precision": 0.5556, "recall": 0.25, "map": 0.4074, "ndcg": 0.2994},
    # of u1, u2 and u5, who have a list and a truth: precision 2/3, 0, 2/3, recall 2/3, 0, 2/6, F 2/3, 0, 4/9
    "elliot": {"precision": 0.4444, "recall": 0.3333, "mrr": 0.6667, "hit_rate": 0.6667, "f_score": 0.3704},
}  # fmt: skip


def accuracy(profile: str) -> dict[str, Any]:
    """The entries of a profile but those beyond accuracy, which recorded numbers hold: test_recorded.py."""
    metrics = PROFILES[profile].metrics
    return {
        name: metrics[name]
        for name in metrics
        if registered()[name].definition.family == "accuracy"
    }


@pytest.mark.parametrize(("kind", "profile"), in_turn(KINDS, FIXTURE.keys()))
def test_the_numbers_of_the_fixture_come_out(kind: Kind, profile: str):
    rec = kind(LISTS).rec(truth=kind(TRUTH), profile=profile)
    for metric, value in FIXTURE[profile].items():
        found = kind.read(rec.evaluate(rf.parse(metric) @ 3))
        assert found[str(rf.parse(metric) @ 3)].item() == pytest.approx(value, abs=5e-5), metric


def test_rectools_average_precision_divided_by_k_comes_out():
    assert LISTS.rec(truth=TRUTH, profile="rectools").map(k=3, normalizer="k") == pytest.approx(
        0.3056, abs=5e-5
    )


def test_pytrec_eval_has_the_three_users_with_a_list_and_a_truth():
    found = LISTS.rec(truth=TRUTH, profile="pytrec_eval").evaluate("recall@3", by="user")
    assert found["user"].to_list() == ["u1", "u2", "u5"]


def test_microsoft_takes_the_mean_of_r_precision_over_users_with_a_hit():
    # R-precision at 3: u1 2 of 3 within rank 3, u5 2 of 6, u2 no hit; u4 has no list. (2/3 + 1/3) / 2
    assert LISTS.rec(truth=TRUTH, profile="microsoft").r_precision(k=3) == pytest.approx(0.5)


def test_torchmetrics_and_evidently_see_the_relevant_items_of_the_list_alone():
    # u1 finds a and b of a, b, c in its list; u2 has none, u3 no truth, u5 both of its two.
    assert LISTS.rec(truth=TRUTH, profile="torchmetrics").recall(k=3) == pytest.approx(
        (2 / 3 + 0 + 0 + 1) / 4
    )
    assert LISTS.rec(truth=TRUTH, profile="evidently").recall(k=3) == pytest.approx((2 / 3 + 1) / 2)
    # Hits alone divide: u1 (1 + 2/3) / 2, u5 1.
    assert LISTS.rec(truth=TRUTH, profile="torchmetrics").map(k=3) == pytest.approx((5 / 6 + 1) / 4)


def test_evidently_has_the_f_of_the_mean_precision_and_the_mean_recall():
    p, r = (2 / 3 + 1) / 2, (2 / 3 + 1) / 2
    found = LISTS.rec(truth=TRUTH, profile="evidently").evaluate(
        "f_score@3", "precision@3", "recall@3"
    )
    assert found.row(0) == pytest.approx((2, 2 * p * r / (p + r), p, r))
    # another F where P and R differ: P of u1 1/2 and u2 1, R of both 1/2 and 1/3; F of means, not the mean of 1/2 and 1/2
    frame = recommended(u1="ab", u2="c")
    truth = liked(u1="ax", u2="cyz")
    assert frame.rec(truth=truth).f_score(
        k=2, denominator="list", average="means"
    ) == pytest.approx(2 * (3 / 4) * (5 / 12) / (3 / 4 + 5 / 12))


def test_elliot_has_the_mean_of_the_precisions_at_every_rank():
    # u1 1, 1/2, 2/3 at ranks 1 to 3; u2 0; u5 1, 1, 2/3; u4 has no list and is left out
    expected = ((1 + 1 / 2 + 2 / 3) / 3 + 0 + (1 + 1 + 2 / 3) / 3) / 3
    assert LISTS.rec(truth=TRUTH, profile="elliot").map(k=3) == pytest.approx(expected)


def test_elliot_raises_gains_from_its_threshold_up():
    frame = rows(("u", "a", 1, 4.0), ("u", "b", 2, 3.0), ("u", "c", 3, 5.0), ("u", "d", None, 3.5))
    found = frame.rec(profile="elliot", min_relevance=3.5).ndcg(k=2, offset=-2.5)
    gain = {4.0: 2**1.5 - 1, 5.0: 2**2.5 - 1}  # 2^(g - 3.5 + 1) - 1
    assert found == pytest.approx(gain[4.0] / (gain[5.0] + gain[4.0] / math.log2(3)))


@pytest.mark.parametrize(
    ("profile", "k"),
    [(one, k) for one in DEFINED for k in (3, None, 1, 10, 40) if expected(one, k)],
)
def test_the_definitions_of_the_library_in_plain_python_agree(profile: str, k: int | None):
    lists, truth = a_crowd()
    recs = [
        {"user": user, "item": item, "rank": rank}
        for user, own in lists.items()
        for rank, item in enumerate(own, 1)
    ]
    judged = [
        {"user": user, "item": item, "relevance": grade}
        for user, own in truth.items()
        for item, grade in own.items()
    ]
    wanted = expected(profile, k)
    found = (
        pl.DataFrame(recs).rec(truth=pl.DataFrame(judged), profile=profile).evaluate(*wanted, k=k)
    )
    ours = dict(zip(wanted, found.row(0)[1:], strict=True))
    decimals = PROFILES[profile].policies.get("decimals")
    for metric, value in wanted.items():
        tolerance = 1e-12 if decimals is None else 0.5 * 10**-decimals + 1e-12
        assert ours[metric] == pytest.approx(value, abs=tolerance, rel=1e-12), metric


def test_lightgbm_counts_a_query_without_a_relevant_row_as_1(kind: Kind):
    # u1's grades by rank are 3, 0, 1: (7 + 1/2) / (7 + 1 / log2(3)); u2 has nothing relevant, u3 no grade at all
    frame = rows(
        ("u1", "a", 1, 3),
        ("u1", "b", 2, 0),
        ("u1", "c", 3, 1),
        ("u2", "a", 1, 0),
        ("u3", "a", 1, None),
    )
    rec = kind(frame).rec(profile="lightgbm")
    graded = (7 + 1 / 2) / (7 + 1 / math.log2(3))
    # map of u1: (1 + 2/3) / 2
    assert kind.read(rec.evaluate("ndcg@3", "map@3")).row(0) == pytest.approx(
        (3, (graded + 2) / 3, (5 / 6 + 2) / 3)
    )
    left_out = rec(no_relevant="skip").evaluate("ndcg@3", "map@3")
    assert kind.read(left_out).row(0) == pytest.approx((1, graded, 5 / 6))


def test_ranx_takes_its_relevance_level_in_gains_too():
    # from 2 up the hits are 3 at rank 1 and 2 at rank 3; the 1 at rank 2 gains nothing, and is none of the best order
    frame = rows(("u", "a", 1, 3), ("u", "b", 2, 1), ("u", "c", 3, 2))
    found = frame.rec(profile="ranx", min_relevance=2)
    assert found.ndcg(k=3) == pytest.approx((3 + 2 / 2) / (3 + 2 / math.log2(3)))


def test_replay_covers_the_first_rows_of_ties_and_ranks_them_otherwise_by_item():
    # a and b are tied: as the rows stand a is first, and the last item by name b
    frame = pl.DataFrame({"user": [1, 1], "item": ["a", "b"], "score": [1, 1]})
    rec = frame.rec(truth=pl.DataFrame({"user": [1], "item": ["b"]}), profile="replay")
    assert rec(items=pl.DataFrame({"item": ["a"]})).coverage(k=1) == 1
    assert rec.mrr(k=1) == 1


@each_profile
def test_every_switch_of_a_profile_is_an_ordinary_one(profile: str):
    about = PROFILES[profile]
    assert about.source
    assert set(about.policies) <= set(DEFAULTS)
    Context().bind(about.policies)
    for name, switches in about.metrics.items():
        parameters = {key: value for key, value in switches.items() if key not in {*DEFAULTS, "k"}}
        registered()[name](**parameters)
        Context().bind({key: value for key, value in switches.items() if key in DEFAULTS})
    assert not set(about.instead) & set(about.metrics)
    assert set(about.instead) <= set(registered())


@pytest.mark.parametrize(("kind", "profile"), in_turn(KINDS, NAMES))
def test_a_profile_keeps_plain_names_and_equals_its_switches_written_out(kind: Kind, profile: str):
    about = PROFILES[profile]
    rec = kind(LISTS).rec(truth=kind(TRUTH), items=kind(ITEMS))
    rounded = about.policies.get("decimals", 15)
    for name, switches in accuracy(profile).items():
        k = None if "k" in switches else 2
        found = kind.read(rec(profile=profile).evaluate(name, k=k))
        policies = {
            **about.policies,
            **{key: value for key, value in switches.items() if key in DEFAULTS},
        }
        policies.pop("ties", None)  # the lists have ranks, so there is no tie to order
        parameters = {key: value for key, value in switches.items() if key not in {*DEFAULTS, "k"}}
        plain = kind.read(rec(**policies).evaluate(registered()[name](**parameters), k=k))
        assert found.columns == ["n_users", name if k is None else f"{name}@{k}"]
        assert found.row(0) == pytest.approx(
            tuple(round(value, rounded) for value in plain.row(0)), abs=1e-12
        )


def test_the_defaults_are_those_of_a_context():
    for name, value in DEFAULTS.items():
        assert name == "universe" or getattr(Context(), name) == value


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


def test_a_parameter_wins_over_the_profile_though_it_be_the_default(kind: Kind):
    rec = kind(LISTS).rec(truth=kind(TRUTH), profile="replay")
    stated = rf.map(normalizer="relevant") @ 3
    for asked in (stated, "map(normalizer=relevant)@3", pickle.loads(pickle.dumps(stated))):  # noqa: S301  our own
        assert kind.read(rec.evaluate(asked))["map@3"].item() == pytest.approx(0.2222, abs=5e-5)
    assert kind.read(rec.evaluate("map@3"))["map@3"].item() == pytest.approx(0.3056, abs=5e-5)


def test_a_policy_wins_over_the_profile_though_it_be_the_default():
    judged = rows(("u", "a", 1, 1), ("v", "a", 1, 0))
    assert judged.rec(profile="recpack").recall() == 1
    assert judged.rec(profile="recpack", no_relevant="zero").recall() == 0.5
    assert judged.rec(no_relevant="zero")(profile="recpack").recall() == 0.5
    # u3 is skipped
    assert LISTS.rec(truth=TRUTH, universe="all", profile="jurity").precision(k=3) == pytest.approx(
        5 / 3 / 4
    )


def test_a_profile_of_the_call_takes_the_place_of_the_bound_one():
    rec = LISTS.rec(truth=TRUTH, profile="lenskit")
    assert rec.precision(k=3) == pytest.approx(5 / 12)
    assert rec(profile="jurity").precision(k=3) == pytest.approx(5 / 9)
    assert (
        rec(profile="recframe").precision(k=3)
        == rec(profile="recframe").precision(k=3)
        == pytest.approx(1 / 3)
    )


def test_metrics_of_lists_alone_need_no_truth_under_a_profile(kind: Kind):
    train = LISTS.select("user", "item")
    rec = kind(LISTS).rec(train=kind(train))
    # RecTools' users are those of the truth, Evidently's those with a relevant item; nobody knows which these are
    for profile, metric, plain in (
        ("rectools", "novelty@3", "novelty@3"),
        ("evidently", "popularity@3", "popularity@3"),
        ("lenskit", "gini@3", "gini(normalizer=n)@3"),
    ):
        found, expected = (
            kind.read(rec(profile=profile).evaluate(metric)),
            kind.read(rec.evaluate(plain)),
        )
        assert found.columns == ["n_users", "n_lists", metric]
        assert found.row(0) == pytest.approx(expected.row(0), abs=1e-12)


@pytest.mark.parametrize("by", [None, "user"])
def test_metrics_of_lists_alone_leave_out_users_without_a_relevant_item(kind: Kind, by: str | None):
    # u1, u2 and u5 of the truth have a relevant item; u4 as well, and no list
    rec = kind(LISTS).rec(truth=kind(TRUTH), train=kind(LISTS.select("user", "item")))
    skipped, counted = (
        kind.read(rec(no_relevant=one).evaluate("novelty@3", by=by)) for one in ("skip", "zero")
    )
    assert skipped["novelty@3"].to_list() == pytest.approx(
        counted["novelty@3"].to_list(), abs=1e-12
    )
    assert by is not None or skipped["n_users"].item() == 4


def test_one_column_has_one_meaning():
    found = LISTS.rec(truth=TRUTH, profile="replay").evaluate(
        "map@3", "map(normalizer=min)@3", "map@3"
    )
    assert found.columns == ["n_users", "map@3", "map(normalizer=min)@3"]
    assert LISTS.rec(truth=TRUTH).evaluate("map@3", "map(normalizer=relevant)@3").columns == [
        "n_users",
        "map@3",
    ]


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_metrics_over_different_users_stand_in_one_result(kind: Kind):
    rec = kind(LISTS).rec(truth=kind(TRUTH), profile="jurity")
    found = kind.read(rec.evaluate("precision@3", "recall@3", by="user"))
    assert found.rows() == [
        ("u1", pytest.approx(2 / 3), pytest.approx(2 / 3)), ("u2", 0, 0), ("u4", None, 0), ("u5", 1, pytest.approx(1 / 3)),
    ]  # fmt: skip
    overall = kind.read(rec.evaluate("precision@3", "recall@3"))
    assert overall.rows() == [(4, pytest.approx(5 / 9), pytest.approx(0.25))]
    assert kind.read(rec.evaluate("precision@3")).rows() == [(3, pytest.approx(5 / 9))]


def test_segments_of_metrics_over_different_users_stand_in_order_with_nulls_last(kind: Kind):
    users = pl.DataFrame({"user": ["u1", "u2", "u4", "u5"], "*": ["b", None, "c", "a"]})
    rec = kind(LISTS).rec(truth=kind(TRUTH), users=kind(users), profile="microsoft")
    found = kind.read(rec.evaluate("ndcg@1", "precision@1", by="*"))
    assert found.columns == ["*", "n_users", "ndcg@1", "precision@1"]
    assert found.rows() == [("a", 1, 1, 1), ("b", 1, 1, 1), ("c", 1, 0, None), (None, 1, 0, 0)]


def test_models_of_metrics_over_different_users_get_their_own_rows(kind: Kind):
    two = pl.concat(
        [
            LISTS.with_columns(model=pl.lit("m")),
            LISTS.filter(user="u1").with_columns(model=pl.lit("n")),
        ]
    )
    found = kind.read(
        kind(two)
        .rec(truth=kind(TRUTH), model="model", profile="jurity")
        .evaluate("precision@3", "recall@3")
    )
    # jurity's users with a list are those that any model has a list for
    assert found.rows() == [
        ("m", 4, pytest.approx(5 / 9), pytest.approx(0.25)), ("n", 4, pytest.approx(2 / 9), pytest.approx(1 / 6)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("profile", "metrics"),
    [("jurity", ["precision@3", "recall@3"]), ("evidently", ["f_score@3", "map@3"])],
)
def test_files_in_buckets_give_the_numbers_of_the_profile(profile: str, metrics: list[str]):
    found = in_buckets(LISTS.lazy().rec(truth=TRUTH.lazy(), profile=profile), *metrics)
    whole = LISTS.rec(truth=TRUTH, profile=profile).evaluate(*metrics)
    assert found.columns == whole.columns
    assert found.row(0) == pytest.approx(whole.row(0), abs=1e-12)


@pytest.mark.parametrize(
    ("profile", "metric", "said"),
    [
        ("ranx", "bpref", "a division by zero there that makes every later user 0"),
        ("lenskit", "mrr", "2025 counts lists without test items 0"),
        ("replay", "coverage", "its Novelty counts a user of train without a list as 1"),
        ("implicit", "auc", "each place up to k without a hit as a miss, also after the end of a list"),
        ("lightgbm", "ndcg", "a query without a relevant row counts 1"),
    ],
)  # fmt: skip
def test_what_a_library_does_beside_its_switches_is_in_the_explanation(
    profile: str, metric: str, said: str
):
    assert said in " ".join(rf.explain(metric, profile).text.split())


def test_a_strict_profile_raises_what_the_audit_finds(kind: Kind):
    twice = pl.concat([LISTS, LISTS[:1]])
    with pytest.raises((rf.DataError, pl.exceptions.PolarsError), match=r"duplicate_items|twice"):
        kind.read(
            kind(twice)
            .rec(truth=kind(TRUTH), strict=True, profile="lenskit")
            .evaluate("precision@3")
        )


def test_judge_keeps_the_users_of_the_profile():
    judged = LISTS.rec(truth=TRUTH, profile="lenskit").judge()
    assert set(judged["user"]) == {"u1", "u2", "u3", "u5"}
    assert judged.rec(profile="lenskit").precision(k=3) == pytest.approx(5 / 12)


def test_means_are_rounded_to_the_decimals_asked_for(kind: Kind):
    found = kind.read(
        kind(LISTS).rec(truth=kind(TRUTH), decimals=2).evaluate("precision@3", "map@3")
    )
    assert found.row(0) == (4, 0.33, 0.22)


def test_any_relevance_makes_a_judged_row_relevant(kind: Kind):
    frame = rows(("u", "a", 1, 0), ("u", "b", 2, -1), ("u", "c", 3, None), ("u", "d", 4, 2))
    found = kind.read(kind(frame).rec(min_relevance="any").evaluate("n_hits", "dcg"))
    # a negative relevance gains nothing
    assert found.row(0) == (1, 3, pytest.approx(2 / math.log2(5)))


def test_a_threshold_can_leave_gains_alone(kind: Kind):
    frame = rows(("u", "a", 1, 1), ("u", "b", 2, 2))
    found = kind.read(
        kind(frame)
        .rec(min_relevance=2, min_relevance_for="binary")
        .evaluate("mrr", "dcg", "dcg(gain=binary)")
    )
    assert found.row(0) == (
        1,
        0.5,
        pytest.approx(1 + 2 / math.log2(3)),
        pytest.approx(1 / math.log2(3)),
    )


def test_lists_without_a_hit_keep_their_own_value_in_segments_of_items_of_large_frames():
    # even users like 8 and odd ones 9, of one genre each, and find neither: 0; the other one has a grade of 0 and counts 1
    users = range(1500)
    lists = pl.DataFrame(
        [(user, item, item) for user in users for item in (1, 2, 3)],
        schema=["user", "item", "rank"],
        orient="row",
    )
    grades = [row for user in users for row in ((user, 8 + user % 2, 1), (user, 9 - user % 2, 0))]
    truth = pl.DataFrame(grades, schema=["user", "item", "relevance"], orient="row")
    items = pl.DataFrame({"item": range(1, 10)}).with_columns(genre=pl.col("item") % 2)
    found = lists.rec(truth=truth, items=items).evaluate(
        rf.ndcg(without_relevant="one"), by="genre"
    )
    assert found.rows() == [(0, 1500, 0.5), (1, 1500, 0.5)]


@pytest.mark.parametrize("kind", ["eager", "lazy", "pandas"])
def test_a_table_formats_the_mean_that_a_profile_has_not_rounded(kind):
    # 137 hits of 547 users are 0.25046, which is 0.250, though four decimals of it, 0.2505, are 0.251
    users = pl.DataFrame({"user": range(547)})
    recs = users.with_columns(item=pl.lit(0), rank=pl.lit(1), model=pl.lit("a"))
    truth = users.with_columns(item=(pl.col("user") >= 137).cast(pl.Int32))
    frames = [recs, truth]
    if kind != "eager":
        frames = [one.lazy() if kind == "lazy" else one.to_pandas() for one in frames]

    table = (
        frames[0].rec(frames[1], model="model", profile="recbole").table("hit_rate@1", decimals=3)
    )

    assert "| 0.250 [" in str(table)
