"""What `ties=` does with equal scores and equal ranks; "expected" against brute force over every order of the tied items,
and "last", where no order is taken, against the reference.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product
from typing import Any, get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import recframe as rf
from asking import ask, ask_one, liked, rows
from conftest import KINDS, Kind, slow_after_the_first
from recframe.frames.context import Sharing, Ties
from reference import Asked, Case, Policy, Row, Rows, each_item_once, evaluate, grouped, identified, told_apart, without_nan
from test_reference import (
    ALL_KINDS,
    CASES,
    TOLERANCE,
    VARIANTS,
    a_policy,
    bound,
    check,
    exploring,
    seeded,
    share,
    with_segments_of_rows,
)

# Random frames may have no rank at all, or a `by` column on some rows of a user alone.
pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
log2 = math.log2
# What has no expectation in closed form: metrics, parameters of others, and metrics with a cut-off.
UNCERTAIN = {"err", "bpref", "interpolated_precision", "partial_auc"}
UNCERTAIN_PARAMETERS = [{"normalizer": "hits"}, {"ideal": "list"}, {"average": "means"}, {"without_hit": "null"}]
UNCERTAIN_PARAMETERS += [{"average": "geometric"}]
UNCERTAIN_WHEN_CUT = {"auc"}


def has_expectation(asked: Asked) -> bool:
    parameters = asked.parameters.items()
    uncertain = any(one.items() <= parameters for one in UNCERTAIN_PARAMETERS)
    cut_off_below_0 = asked.parameters.get("offset", 0) < 0 and asked.parameters.get("gain") != "binary"
    return (
        not (uncertain or cut_off_below_0)
        and asked.name not in UNCERTAIN
        and (asked.k is None or asked.name not in UNCERTAIN_WHEN_CUT)
    )


def is_certain_of_ties(asked: Asked) -> bool:
    """Whether it can be told of whole ties: what has an expectation, and means and pairs of items, which are certain."""
    plain = {name: value for name, value in asked.parameters.items() if name != "average"}
    return has_expectation(replace(asked, k=None if asked.name == "auc" else asked.k, parameters=plain))


EVERY = [Asked(name, k, parameters) for name, parameters in VARIANTS for k in (None, 1, 2, 3, 5)]
LINEAR = [asked for asked in EVERY if has_expectation(asked)]
OF_TIES = [asked for asked in EVERY if is_certain_of_ties(asked)]


def exactly(value):
    return pytest.approx(value, rel=1e-12, abs=1e-12)


def scored(*scores: Any, relevance: Any, user: str = "u") -> pl.DataFrame:
    """Make the judged list of one user: items a, b, c and so on."""
    items = "abcdefghijklmnopqrstuvwxyz"[: len(scores)]
    found = [(user, item, score, one) for item, score, one in zip(items, scores, relevance, strict=True)]
    return rows(*found, schema=("user", "item", "score", "relevance"), score=pl.Float64)


# ---- one order of tied items


ONE_SCORE = scored(0.5, 0.5, 0.5, 0.5, relevance=[1, 0, 2, 0])


@pytest.mark.parametrize(
    ("ties", "order"),
    [
        (None, "abcd"),
        ("item", "abcd"),
        ("item_reverse", "dcba"),
        ("item_text", "abcd"),
        ("item_text_reverse", "dcba"),
        ("item_desc", "dcba"),
        ("pessimistic", "bdac"),
        ("optimistic", "cabd"),
        ("order", "dbca"),
    ],
)
def test_the_order_of_tied_items(kind: Kind, ties, order):
    frame = ONE_SCORE[[3, 1, 2, 0]]
    expected = sum({"a": 1, "c": 2}.get(item, 0) / log2(rank + 1) for rank, item in enumerate(order, start=1))

    assert ask_one(kind, frame, "dcg", ties=ties) == exactly({"n_users": 1, "dcg": expected})
    found = kind.read(kind(frame).rec(ties=ties).judge()).sort("rank")
    assert "".join(found["item"]) == order
    assert found["rank"].to_list() == [1, 2, 3, 4]


def test_the_relevance_that_orders_tied_items_is_that_of_the_truth(kind: Kind):
    recs = ONE_SCORE.with_columns(relevance=pl.Series([0.0, 9, 0, 9]))

    assert ask_one(kind, recs, "first_rank", truth=liked(u="c"), ties="pessimistic")["first_rank"] == 4
    assert ask_one(kind, recs, "first_rank", truth=liked(u="c"), ties="optimistic")["first_rank"] == 1


@pytest.mark.parametrize(
    ("ties", "order"),
    [
        ("item", (9, 10, 100)),
        ("item_reverse", (100, 10, 9)),
        ("item_text", (10, 100, 9)),  # "10", "100", "9"
        ("item_text_reverse", (9, 100, 10)),
        ("item_desc", (9, 100, 10)),
    ],
)
def test_integer_items_are_numbers_or_text(kind: Kind, ties, order):
    recs = pl.DataFrame({"user": [1] * 3, "item": [100, 9, 10], "score": [1.0] * 3})

    for rank, item in enumerate(order, start=1):
        truth = pl.DataFrame({"user": [1], "item": [item]})
        assert ask_one(kind, recs, "first_rank", truth=truth, ties=ties)["first_rank"] == rank


@pytest.mark.parametrize("ties", get_args(Ties))
def test_scores_that_are_one_in_32_bits_are_tied_as_trec_eval_compares_alone(kind: Kind, ties):
    frame = scored(1 + 1e-9, 1, relevance=[1, 0])

    assert ask_one(kind, frame, "mrr", ties=ties)["mrr"] == (0.5 if ties == "item_desc" else 1)


@pytest.mark.parametrize("ties", ["item", "order"])
def test_an_item_twice_among_the_first_scores_leaves_its_place_to_the_next(kind: Kind, ties):
    # a, b: the second row of a takes no place
    recs = pl.DataFrame({"user": ["u"] * 3, "item": ["a", "a", "b"], "score": [3, 2, 1]})

    for profile in (None, "ranx"):  # which takes the order of the rows
        found = ask_one(kind, recs, "recall@2", "recall@1", truth=liked(u="b"), ties=ties, profile=profile)
        assert found == {"n_users": 1, "recall@2": 1, "recall@1": 0}


TEXTS = [pl.String(), pl.Categorical(), pl.Enum(["c", "b", "a"])]


@pytest.mark.parametrize("dtype", TEXTS, ids=str)
def test_tied_items_stand_by_what_they_say(kind: Kind, dtype):
    # pandas takes the order of the categories along
    recs = pl.DataFrame({"user": ["u"] * 3, "item": list("cab"), "score": [1.0] * 3}).with_columns(pl.col("item").cast(dtype))
    truth = pl.DataFrame({"user": ["u"] * 2, "item": ["a", "b"], "relevance": [1, 3]}).with_columns(pl.col("item").cast(dtype))
    train = pl.DataFrame({"user": ["v"] * 3, "item": list("cba")}).with_columns(pl.col("item").cast(dtype))
    ranked = recs.select("user", "item", rank=1)

    assert ask_one(kind, recs, "dcg@1", "dcg@2", truth=truth) == exactly({"n_users": 1, "dcg@1": 1, "dcg@2": 1 + 3 / log2(3)})
    assert ask_one(kind, recs, "dcg@2", truth=truth, ties="item_desc")["dcg@2"] == exactly(3 / log2(3))
    assert ask_one(kind, ranked, "dcg@1", truth=truth)["dcg@1"] == 1
    # a and b hold two thirds of the pairs of train
    found = ask_one(kind, recs, "long_tail_share(share=0.5)@1", "long_tail_share(share=0.5)@3", train=train)
    assert list(found.values())[-2:] == exactly([0, 1 / 3])


def test_bytes_are_compared_and_not_letters(kind: Kind):
    # in UTF-8 "é" is C3 A9, behind "z" and before a Chinese character
    recs = pl.DataFrame({"user": ["u"] * 3, "item": ["z", "é", "中"], "score": [1.0] * 3})

    for item, rank in (("中", 1), ("é", 2), ("z", 3)):
        assert ask_one(kind, recs, "first_rank", truth=liked(u=item), ties="item_desc")["first_rank"] == rank


def test_trec_eval_orders_ties_as_item_desc():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(5)
    measures = {
        "map_cut.5": "map@5",
        "P.5": "p@5",
        "recall.5": "recall@5",
        "ndcg_cut.5": "ndcg@5",
        "recip_rank": "mrr",
        "bpref": "bpref",
    }
    pairs = [(f"u{user:02}", item) for user in range(60) for item in rng.choice(200, 12, replace=False)]
    near = rng.integers(0, 4, len(pairs)) + rng.choice([0, 1e-9, 1e-12], len(pairs))
    for name in ("x{}", "{}"):
        frame = pl.DataFrame(pairs, schema={"user": pl.String, "item": pl.Int64}, orient="row")
        frame = frame.with_columns(score=pl.Series(near), relevance=pl.Series(rng.integers(0, 3, len(pairs))))
        run, truth = {}, {}
        for user, item, score, relevance in frame.iter_rows():
            run.setdefault(user, {})[name.format(item)] = score
            truth.setdefault(user, {})[name.format(item)] = relevance
        theirs = pytrec_eval.RelevanceEvaluator(truth, set(measures)).evaluate(run)
        if name == "x{}":
            frame = frame.with_columns(pl.format("x{}", "item").alias("item"))

        ours = frame.rec(ties="item_desc").evaluate(*measures.values(), by="user")

        for row in ours.iter_rows(named=True):
            for theirs_name, name_of_ours in measures.items():
                column = str(rf.parse(name_of_ours))
                assert row[column] == pytest.approx(theirs[row["user"]][theirs_name.replace(".", "_")], abs=1e-9), column


# ---- the expectation, worked by hand (McSherry and Najork's formulas)


@pytest.mark.parametrize(
    ("scores", "relevance", "unlisted", "k", "expected"),
    [
        ([3, 2, 2, 2, 1], [0, 1, 0, 2, 1], 1, 3, (4 / 9, 1 / 3, 1, 4 / 9, 1 / 6, 1.130930, 0.361212)),
        ([1, 1, 1, 1], [1, 0, 0, 0], 0, 2, (1 / 4, 1 / 2, 1 / 2, 3 / 8, 3 / 8, 0.407732, 0.407732)),
        ([2, 2, 1, 1, 1], [1, 1, 0, 3, 0], 0, 4, (2 / 3, 8 / 9, 1, 1, 0.861111, 2.561606, 0.620104)),
    ],
)
def test_expectations_worked_by_hand(kind: Kind, scores, relevance, unlisted, k, expected):
    recs = scored(*scores, relevance=relevance)
    truth = recs.filter(pl.col("relevance") > 0).select("user", "item", "relevance")
    truth = pl.concat([truth, rows(*[("u", "z", 1)] * unlisted, schema=("user", "item", "relevance"))])
    metrics = ["precision", "recall", "hit_rate", "mrr", "map", "dcg", "ndcg"]

    found = ask_one(kind, recs.drop("relevance"), *metrics, k=k, truth=truth, ties="expected")

    assert found.pop("n_users") == 1
    assert list(found.values()) == pytest.approx(expected, abs=1e-6)


def test_the_expected_first_rank(kind: Kind):
    # one better item, then 2 relevant of 5: 1 + (5 + 1) / (2 + 1)
    frame = scored(2, 1, 1, 1, 1, 1, relevance=[0, 1, 1, 0, 0, 0])

    assert ask_one(kind, frame, "first_rank", ties="expected")["first_rank"] == exactly(3)


def test_the_expected_first_rank_with_a_cut_is_that_of_the_orders_with_a_hit(kind: Kind):
    # the relevant one of three stands at 1 or 2 in two of three orders
    frame = scored(1, 1, 1, relevance=[1, 0, 0])

    assert ask_one(kind, frame, "first_rank@2", "hit_rate@2", ties="expected") == exactly(
        {"n_users": 1, "first_rank@2": 1.5, "hit_rate@2": 2 / 3}
    )


def test_two_tied_items_in_auc_are_half_a_pair(kind: Kind):
    # a above c, and half above b
    assert ask_one(kind, scored(1, 1, 0, relevance=[1, 0, 0]), "auc", ties="expected")["auc"] == exactly(0.75)


# ---- the expectation, by brute force


def orders(lists: Rows, keys: tuple[str, ...]) -> Iterator[list[Row]]:
    """The lists with ranks, once for every order of the tied items of each of them."""
    choices = []
    for own in grouped(lists, *keys).values():
        once = each_item_once(own)
        ties = grouped(sorted(once, key=lambda row: (row["score"] is None, -(row["score"] or 0))), "score").values()
        choices += [list(permutations(tie)) for tie in ties]
    for chosen in product(*choices):
        places: dict[Any, int] = {}
        found = []
        for row in (row for tie in chosen for row in tie):
            key = tuple(row.get(name) for name in keys)
            places[key] = places.get(key, 0) + 1
            found.append({name: value for name, value in row.items() if name != "score"} | {"rank": float(places[key])})
        yield found


def orders_of_ranks(case: Case) -> Iterator[list[Row]]:
    """One user's list with effective ranks, once for every order of its rows."""
    policy, own = replace(case.policy, ties="order"), case.truth is None and not case.policy.model
    for chosen in permutations(identified(case.recs)):
        yield told_apart(chosen, ("model", "user") if policy.model else ("user",), [], policy, own=own)


def by_brute_force(asked: list[Asked], case: Case) -> dict[tuple[Any, ...], dict[str, float | None]]:
    """Each segment's mean over the orders in which a value is not null."""
    keys = ["model"] * (case.policy.model and "model" not in case.by) + [*case.by]
    values: dict[tuple[Any, ...], dict[str, list[float]]] = {}
    case = without_nan(case)
    every = orders(identified(case.recs), ("model", "user") if case.policy.model else ("user",))
    for recs in every if "score" in case.recs[0] else orders_of_ranks(case):
        for row in evaluate(asked, replace(case, recs=recs)):
            segment = values.setdefault(tuple(row[name] for name in keys), {str(one): [] for one in asked})
            for one in asked:
                if row[str(one)] is not None:
                    segment[str(one)].append(row[str(one)])
    return {
        key: {name: math.fsum(found) / len(found) if found else None for name, found in segment.items()}
        for key, segment in values.items()
    }


def check_expectation(case: Case, asked: list[Asked], kind: Kind = KINDS[0]) -> None:
    """Compare each segment of the one user's lists, or of the lists of users, with brute force."""
    case = replace(case, policy=replace(case.policy, ties="expected"))
    expected = by_brute_force(asked, case)
    keys = ["model"] * (case.policy.model and "model" not in case.by) + [*case.by]
    result = kind.read(bound(case, kind).evaluate(*map(str, asked), by=list(case.by) or None))
    assert {tuple(row[name] for name in keys) for row in result.iter_rows(named=True)} == expected.keys()
    for row in result.iter_rows(named=True):
        theirs = expected[tuple(row[name] for name in keys)]
        wrong = {name: (row[name], value) for name, value in theirs.items() if not is_close(row[name], value)}
        assert not wrong


def is_close(ours: float | None, theirs: float | None) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    return math.isclose(ours, theirs, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


SCORES_OF_TIES = [[1.0], [0.0, 1.0], [0.5, 1.0, 2.0], [None, 1.0, math.nan, -math.inf]]
RANKS_OF_TIES = [[1.0], [1.0, 2.0], [1.0, 1.0, 2.0, 4.0], [1.0, 3.0, 7.0], [1.0, 1.5, 2.25], [None, 2.0, math.nan, math.inf]]


def a_tied_case(choose: Any, *, n_items: int = 6, order: str = "score") -> Case:
    """One user's list with few scores or ranks, with repeats of items, judged itself or held against a truth."""
    values, grades = choose(SCORES_OF_TIES if order == "score" else RANKS_OF_TIES), [None, 0, 1, 1, 2, 3.0]
    by = choose([("user",), ("user", "genre"), ("user", "item")])
    items = [f"i{number}" for number in range(choose(range(1, n_items + 1)))]
    recs = [{"user": "u", "item": item, order: choose(values)} for item in items]
    if len(items) < n_items and choose([True, False]):
        # a second row of one rank would make its item come first in more than its share of the orders of the rows
        recs.append(recs[0] | {order: choose(values) if order == "score" else None})
    policy = Policy(
        relevant_from=choose(["truth", "list"]), no_relevant=choose(["zero", "null"]), min_relevance=choose([None, 2])
    )
    sides: dict[str, Any] = {"items": [{"item": item, "genre": choose("xy")} for item in items]} if "genre" in by else {}
    if choose([True, False]):
        return Case([row | {"relevance": choose(grades)} for row in recs], by=by, policy=policy, **sides)
    truth = [
        {"user": "u", "item": item, "relevance": choose(grades)} for item in [*items, "j", "k"] if choose([True, True, False])
    ]
    return Case(recs, truth or [{"user": "u", "item": "j", "relevance": 1}], by=by, policy=policy, **sides)


def without_uncertain_counts(case: Case) -> list[Asked]:
    """What can be asked of a case: how many items of a segment of rows are among the first k is uncertain."""
    return (
        LINEAR
        if case.by == ("user",)
        else [one for one in LINEAR if one.k is None or one.name not in {"list_length", "judged"}]
    )


@pytest.mark.slow
def test_every_metric_with_an_expectation_is_that_of_every_order():
    rng = seeded("expectations")
    for number in range(30):
        case = a_tied_case(rng.choice, n_items=6 if number % 10 == 0 else 5)
        check_expectation(case, without_uncertain_counts(case))


@pytest.mark.slow
def test_every_metric_with_an_expectation_is_that_of_every_order_of_equal_ranks():
    rng = seeded("expectations of ranks")
    for _ in range(20):
        case = a_tied_case(rng.choice, n_items=4, order="rank")
        check_expectation(case, without_uncertain_counts(case))


@exploring
@given(data=st.data(), order=st.sampled_from(["score", "rank"]))
def test_small_random_expectations(data, order):
    case = a_tied_case(lambda values: data.draw(st.sampled_from(values)), n_items=4, order=order)
    asked = data.draw(st.lists(st.sampled_from(without_uncertain_counts(case)), min_size=1, max_size=6, unique_by=str))
    check_expectation(case, asked, data.draw(st.sampled_from(ALL_KINDS)))


@pytest.mark.parametrize("kind", slow_after_the_first(ALL_KINDS), ids=repr)
@pytest.mark.parametrize("shape", CASES)
def test_every_kind_of_frame_gives_the_expectation_of_models_and_segments(kind: Kind, shape: str):
    rng = seeded(f"expected {shape}")
    policies = (Policy(), Policy(universe="all"), Policy(model=True), Policy(relevant_from="list"))
    cases = [few_lists(rng, shape, policy, by) for policy in policies for by in ((), ("user",), ("genre",))]
    for case in share(cases, kind):
        check_expectation(
            case, [Asked(name, k) for name in ("ndcg", "map", "mrr", "hit_rate", "rbp", "recall") for k in (None, 2)], kind
        )


def few_lists(rng: random.Random, shape: str, policy: Policy, by: tuple[str, ...]) -> Case:
    """Three users, of whom two have a list of three items in it, for each of one or two models."""
    models = ["m", "n"] if policy.model else [None]
    recs: list[dict[str, Any]] = [
        {"user": user, "item": item, "score": float(rng.randint(0, 1))} | ({"model": model} if model else {})
        for model in models
        for user in ("u", "v")
        for item in rng.sample("abcd", 3)
    ]
    truth = [
        {"user": user, "item": item, "relevance": rng.randint(1, 3)} for user in ("u", "w") for item in rng.sample("abcd", 2)
    ]
    sides: dict[str, Any] = (
        {"items": [{"item": item, "genre": genre} for item, genre in zip("abcd", "xxyy", strict=True)]}
        if by == ("genre",)
        else {}
    )
    if shape == "two":
        return Case(recs, truth, by=by, policy=policy, **sides)
    return Case([row | {"relevance": rng.choice([None, 0, 1, 2])} for row in recs], by=by, policy=policy, **sides)


# ---- all items of a tie at its last place


@pytest.mark.parametrize(
    ("scores", "relevance", "k", "expected"),
    [
        # precision, recall, hit_rate, mrr, map, dcg, list_length: three items at rank 3, two of them hits
        ((1, 1, 1), [1, 2, 0], None, [2 / 3, 1, 1, 1 / 3, 2 / 3, 3 / 2, 3]),
        ((1, 1, 1), [1, 2, 0], 3, [2 / 3, 1, 1, 1 / 3, 2 / 3, 3 / 2, 3]),
        ((1, 1, 1), [1, 2, 0], 2, [0, 0, 0, 0, 0, 0, 0]),
        # a hit at rank 1, a tie of two hits at rank 3, and a hit behind; up to 2 there is one item, and one hit
        ((2, 1, 1, 0), [1, 1, 1, 1], None, [1, 1, 1, 1, 1, 1 + 2 / 2 + 1 / log2(5), 4]),
        ((2, 1, 1, 0), [1, 1, 1, 1], 2, [1 / 2, 1 / 4, 1, 1, 1 / 4, 1, 1]),
        # scores that are none are tied behind all others
        ((2, None, math.nan), [0, 1, 0], None, [1 / 3, 1, 1, 1 / 3, 1 / 3, 1 / 2, 3]),
    ],
)
def test_last_places_worked_by_hand(kind: Kind, scores, relevance, k, expected):
    metrics = ["precision", "recall", "hit_rate", "mrr", "map", "dcg", "list_length"]

    found = ask_one(kind, scored(*scores, relevance=relevance), *metrics, k=k, ties="last")

    assert list(found.values()) == exactly([1, *expected])


@pytest.mark.parametrize("kind", slow_after_the_first(ALL_KINDS), ids=repr)
@pytest.mark.parametrize("shape", CASES)
@pytest.mark.parametrize("order", ["score", "rank"])
def test_every_metric_that_can_be_told_of_whole_ties_is_that_of_the_last_places(order: str, shape: str, kind: Kind):
    rng = seeded(f"last {shape} {order} {kind}")
    asked = [one for one in OF_TIES if one.k in {None, 3}]
    for by, model in ((("user",), False), (("genre",), False), (rng.choice([(), ("item",)]), True)):
        policy = replace(a_policy(rng.choice, ["last"]), model=model)
        case = replace(CASES[shape](rng.choice, 90, 9, order, policy), by=by, users=None, items=None)
        check(with_segments_of_rows(rng.choice, case), asked, kind)


def test_the_last_places_of_large_frames():
    # the first rows of a list are taken ahead of the plan there, ties across the cut-off among them
    rng = np.random.default_rng(6)
    pairs = pl.DataFrame({"user": range(1_500)}).join(pl.DataFrame({"item": range(20)}), how="cross")
    pairs = pairs.with_columns(score=pl.Series(rng.integers(0, 6, len(pairs))), grade=pl.Series(rng.integers(0, 3, len(pairs))))
    rank = pl.col("score").rank("max", descending=True).over("user").cast(pl.Float64)
    hits = pairs.with_columns(rank=rank).filter(pl.col("grade") > 0)
    hits = hits.with_columns(so_far=pl.col("rank").rank("max").over("user"), n=pl.len().over("user"))
    inside = hits.filter(pl.col("rank") <= 5)
    wanted = {
        "map": (hits["so_far"] / hits["rank"] / hits["n"]).sum() / 1_500,
        "map@5": (inside["so_far"] / inside["rank"] / inside["n"]).sum() / 1_500,
        "recall@5": (1 / inside["n"]).sum() / 1_500,
        "dcg@5": (inside["grade"] / (inside["rank"] + 1).log(2)).sum() / 1_500,
        "mrr@5": (1 / inside.group_by("user").agg(pl.col("rank").min())["rank"]).sum() / 1_500,
    }

    truth = pairs.select("user", "item", relevance="grade")
    for recs in (pairs.drop("grade"), pairs.drop("grade").sort("user", "score", descending=[False, True])):
        for names in (list(wanted), [name for name in wanted if "@" in name]):
            of_two = recs.rec(truth=truth, ties="last")
            judged = recs.join(truth, on=["user", "item"], maintain_order="left").rec(ties="last")
            lazy = recs.lazy().rec(truth=truth.lazy(), ties="last")
            for found in (of_two.evaluate(*names), judged.evaluate(*names), lazy.collect(*names, parts=2)):
                assert found.row(0, named=True) == exactly({"n_users": 1_500, **{name: wanted[name] for name in names}})


@pytest.mark.parametrize("n_levels", [2, 4, 30])
def test_scikit_learn_counts_average_precision_at_the_last_places(n_levels: int):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(n_levels)
    relevance, scores = rng.integers(0, 2, (200, 9)), rng.integers(0, n_levels, (200, 9)) / 7 - 1
    relevance[:, 0] = 1  # it gives 1 to a list without relevant items
    users, items = np.divmod(np.arange(relevance.size), relevance.shape[1])
    frame = pl.DataFrame({"user": users, "item": items, "score": scores.ravel(), "relevance": relevance.ravel()})
    by_list = [metrics.label_ranking_average_precision_score([one], [own]) for one, own in zip(relevance, scores, strict=True)]
    averages = [metrics.average_precision_score(one, own) for one, own in zip(relevance, scores, strict=True)]

    for rec in (frame.rec(ties="last"), frame.rec(profile="sklearn")):
        found = rec.evaluate("map", by="user")["map"].to_list()
        assert found == pytest.approx(by_list, abs=1e-9)
        assert found == pytest.approx(averages, abs=1e-9)


def test_scikit_learn_averages_ties_to_the_same_ndcg():
    ndcg_score = pytest.importorskip("sklearn.metrics").ndcg_score
    rng = np.random.default_rng(0)
    relevance, scores = rng.integers(0, 4, (200, 9)), rng.integers(0, 3, (200, 9))
    relevance[:, 0] += 1
    users, items = np.divmod(np.arange(relevance.size), relevance.shape[1])
    frame = pl.DataFrame({"user": users, "item": items, "score": scores.ravel(), "relevance": relevance.ravel()})

    for k in (1, 3, 5, 9, None):
        found = frame.rec(ties="expected").ndcg(k=k)
        assert found == exactly(ndcg_score(relevance, scores, k=k, ignore_ties=False))


def test_a_list_without_ties_has_the_numbers_of_any_order():
    frame = pl.DataFrame(
        {"user": [1] * 6 + [2] * 6, "item": [*range(6)] * 2, "score": [*range(12)], "relevance": [0, 1, 3, 0, 2, None] * 2}
    )
    names = [str(one) for one in LINEAR]

    expected = frame.rec.evaluate(*names)
    for ties in get_args(Ties):
        assert_frame_equal(frame.rec(ties=ties).evaluate(*names), expected, rel_tol=1e-12)


BOUNDED = [
    "hit_rate",
    "precision",
    "recall",
    "f_score",
    "map",
    "map(normalizer=min)",
    "mrr",
    "dcg",
    "ndcg",
    "rbp",
    "n_hits",
    "r_precision",
]


def test_the_expectation_lies_between_the_worst_and_the_best_order():
    rng = np.random.default_rng(1)
    size = 3_000
    frame = pl.DataFrame(
        {
            "user": rng.integers(0, 300, size),
            "item": rng.integers(0, 50, size),
            "score": rng.integers(0, 4, size),
            "relevance": rng.integers(0, 3, size),
        }
    ).unique(["user", "item"])
    names = [f"{name}@{k}" for name in BOUNDED for k in (1, 3, 10)] + [*BOUNDED, "auc"]

    worst, mean, best = (
        frame.rec(ties=ties).evaluate(*names, "first_rank", by="user") for ties in ("pessimistic", "expected", "optimistic")
    )

    for name in names:
        assert (worst[name].is_null() | (worst[name] <= mean[name] + 1e-12)).all(), name
        assert (mean[name].is_null() | (mean[name] <= best[name] + 1e-12)).all(), name
    assert worst["recall@3"].mean() < mean["recall@3"].mean() < best["recall@3"].mean()
    assert (worst["first_rank"].is_null() | (worst["first_rank"] >= mean["first_rank"] - 1e-12)).all()


def test_long_ties_keep_their_precision():
    # one relevant item among 5,000: its expected reciprocal rank is H(5000) / 5000
    frame = pl.DataFrame({"user": [1] * 5_000, "item": range(5_000), "score": [0] * 5_000, "relevance": [1] + [0] * 4_999})

    found = frame.rec(ties="expected").evaluate("mrr", "map", "first_rank", "hit_rate@10").row(0, named=True)

    harmonic = math.fsum(1 / rank for rank in range(1, 5_001)) / 5_000
    assert found == exactly(
        {"n_users": 1, "mrr": harmonic, "map": harmonic, "first_rank": 5_001 / 2, "hit_rate@10": 10 / 5_000}
    )


# ---- what has no expectation, and where ties mean nothing


@pytest.mark.parametrize("metric", [str(asked) for asked in EVERY if not has_expectation(asked)])
def test_a_metric_without_an_expectation_says_so(metric):
    message = f"{re.escape(repr(metric))} has no expectation in closed form \\(ties='expected'\\): .+; write another ties="
    for frame in (ONE_SCORE, ONE_SCORE.lazy()):
        with pytest.raises(rf.RecframeError, match=message):
            frame.rec(ties="expected").evaluate("ndcg@3", metric)


@pytest.mark.parametrize("metric", [*(str(asked) for asked in EVERY if not is_certain_of_ties(asked)), "coverage@2"])
def test_a_metric_that_takes_items_of_a_tie_one_by_one_says_so(metric):
    message = f"{re.escape(repr(metric))} has no value of whole ties \\(ties='last'\\): .+; write another ties="
    for frame in (ONE_SCORE, ONE_SCORE.lazy()):
        with pytest.raises(rf.RecframeError, match=message):
            frame.rec(ties="last").evaluate("ndcg@3", metric)


@pytest.mark.parametrize("metric", ["list_length@3", "judged@3"])
def test_how_many_items_of_a_segment_are_listed_is_uncertain(metric):
    with pytest.raises(rf.RecframeError, match="how many items of a segment are among the first k"):
        ONE_SCORE.rec(ties="expected").evaluate(metric, by="item")


def test_the_judged_frame_has_one_rank_for_each_item(kind: Kind):
    with pytest.raises(rf.RecframeError, match=r"judge\(\) gives each item one rank, and ties='expected' has none"):
        kind(ONE_SCORE).rec(ties="expected").judge()
    with pytest.raises(rf.RecframeError, match=r"ties='last' has one for all items of a tie together; write another ties="):
        kind(ONE_SCORE).rec(ties="last").judge()


@pytest.mark.parametrize("ties", get_args(Ties))
def test_ties_change_nothing_where_no_rank_is_repeated(kind: Kind, ties):
    # gaps stay gaps: ranks 2, 3, 7, 9
    frame = kind(ONE_SCORE.with_columns(rank=pl.Series([7, 3, 2, 9])))
    found = kind.read(frame.rec(ties=ties).evaluate("mrr", "recall@2", "list_length@3", "map"))

    assert found.row(0) == exactly((1, 1 / 2, 1 / 2, 2, (1 / 2 + 2 / 7) / 2))


def test_ranks_of_which_nothing_is_said_stay_as_they_are(kind: Kind):
    # ten items of rank 1, the last one relevant: ties="item" is the default, and a profile's ties wait for scores
    frame = pl.DataFrame({"user": [1] * 10, "item": range(10), "rank": [1] * 10, "relevance": [0] * 9 + [1]})

    for options in ({}, {"ties": "item"}, {"profile": "trec_eval"}):
        assert ask_one(kind, frame, "mrr", "precision@1", **options) == {"n_users": 1, "mrr": 1, "precision@1": 1}
    assert ask_one(kind, frame, "list_length@1", ties="item") == {"n_users": 1, "list_length@1": 10}


@pytest.mark.parametrize(
    ("ties", "place"),
    [("item_desc", 1), ("pessimistic", 10), ("optimistic", 1), ("order", 3), ("expected", None), ("last", 10)],
)
def test_ties_put_each_item_of_a_rank_on_a_place_of_its_own(kind: Kind, ties, place):
    # ten items of rank 1, the last by its id is relevant and stands third
    items = [0, 1, 9, *range(2, 9)]
    frame = pl.DataFrame({"user": 1, "item": items, "rank": 1, "relevance": [int(item == 9) for item in items]})
    metrics = ["mrr", "precision@1", "hit_rate@3", "list_length@3"]
    in_expectation = (1, math.fsum(1 / rank for rank in range(1, 11)) / 10, 0.1, 0.3, 3)
    expected = (1, 1 / place, float(place == 1), float(place <= 3), 3 * (ties != "last")) if place else in_expectation

    assert tuple(ask_one(kind, frame, *metrics, ties=ties).values()) == exactly(expected)
    truth = frame.filter(pl.col("relevance") == 1).select("user", "item")
    assert tuple(ask_one(kind, frame.drop("relevance"), *metrics, truth=truth, ties=ties).values()) == exactly(expected)


@pytest.mark.parametrize(
    ("ranks", "effective"), [([1, 1, 1, 4], [1, 2, 3, 4]), ([1, 1, 2], [1, 2, 3]), ([1, 3, 7], [1, 3, 7]), ([1.0, 1.5], [1, 2])]
)
def test_the_judged_frame_has_the_effective_ranks(kind: Kind, ranks, effective):
    # items a, b, c, d; the last first
    recs = pl.DataFrame({"user": "u", "item": list("dcba"[: len(ranks)]), "rank": ranks})
    found = kind.read(kind(recs).rec(truth=kind(liked(u="a")), ties="item_desc").judge())

    assert found.filter(pl.col("rank").is_not_null()).sort("rank").select("item", "rank").rows() == [
        *zip(recs["item"], effective, strict=True)
    ]


@pytest.mark.parametrize("ties", [ties for ties in get_args(Ties) if ties != "item"])
def test_competition_ranks_of_scores_are_the_scores(ties):
    # as rank() in SQL gives them; large frames, of two models, too
    rng = np.random.default_rng(3)
    for n_users in (30, 1_500):
        pairs = pl.DataFrame({"user": range(n_users)}).join(pl.DataFrame({"item": range(20)}), how="cross")
        frame = pl.concat([pairs.sample(fraction=0.9, seed=seed).with_columns(m=pl.lit(seed)) for seed in (1, 2)])
        frame = frame.with_columns(score=pl.Series(rng.integers(0, 6, len(frame))))
        recs = frame.with_columns(rank=pl.col("score").rank("min", descending=True).over("m", "user"))
        truth = pairs.with_columns(relevance=pl.Series(rng.integers(0, 4, len(pairs)))).sample(fraction=0.4, seed=3)
        of_lists = ["epc@1"] * (ties not in get_args(Sharing))
        metrics = ["ndcg", "recall@3", "map@5", "mrr@2", "list_length@3", "judged@4", *of_lists]
        sides: dict[str, Any] = {"truth": truth, "train": frame.select("user", "item"), "ties": ties}
        scored = frame.rec(**sides, model="m").evaluate(*metrics)
        ranked = recs.drop("score")

        assert_frame_equal(ranked.rec(**sides, model="m").evaluate(*metrics), scored, rel_tol=1e-12)
        if of_lists:
            assert_frame_equal(ranked.lazy().rec(**sides, model="m").collect(*metrics, parts=3), scored, rel_tol=1e-12)
            of_one = scored.filter(m=1).drop("m").select("n_users", *metrics[:-1])
            judged = ranked.filter(m=1).rec(truth=truth, ties=ties).judge()
            assert_frame_equal(judged.rec(ties="item").evaluate(*metrics[:-1]), of_one, rel_tol=1e-12)


def test_an_unknown_order_of_ties():
    with pytest.raises(
        rf.RecframeError, match=r"ties='expect' is not known; did you mean 'expected'\? Write one of 'item', 'item_reverse'"
    ):
        ONE_SCORE.rec(ties="expect")


# ---- a metric of one's own


def test_a_metric_of_ones_own_that_is_a_sum_says_so(kind: Kind):
    @rf.metric(linear=True)
    def gain_on_two(at):
        return pl.when(at.rank <= 2).then(at.gain).sum()

    @rf.metric
    def last_rank(at):
        return at.rank.max()

    # of (1 + 2) / 4 a place, two places
    assert ask_one(kind, ONE_SCORE, "gain_on_two", ties="expected")["gain_on_two"] == exactly(1.5)
    assert ask_one(kind, ONE_SCORE[:2], "gain_on_two", ties="last")["gain_on_two"] == 1
    assert ask_one(kind, ONE_SCORE[:3], "gain_on_two", ties="last")["gain_on_two"] == 0
    with pytest.raises(
        rf.RecframeError, match=r"such as 'last_rank', if it sums up words of the hits .+@rf\.metric\(linear=True\)"
    ):
        ask(kind, ONE_SCORE, "last_rank", ties="expected")


def test_a_count_that_is_not_summed_up_is_certain_or_an_error(kind: Kind):
    @rf.metric(linear=True)
    def all_found(at):
        return (at.certain(at.n_hits) >= at.n_relevant).cast(pl.Float64)

    assert ask_one(kind, ONE_SCORE, "all_found@3", ties="item")["all_found@3"] == 1
    with pytest.raises(rf.RecframeError, match="'all_found@3' has no expectation"):
        ask(kind, ONE_SCORE, "all_found@3", ties="expected")
