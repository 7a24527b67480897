"""recframe against the plain-Python reference: every metric, parameter, policy and kind of frame, on messy random input."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recframe as rf
from conftest import KINDS, Kind, eager, examples, slow_after_the_first
from recframe.frames import collecting
from recframe.metrics.language.registry import registered
from reference import METRICS, Asked, Case, Policy, Row, Rows, evaluate, grouped, has_rank, highest, judge, without_nan

# Random frames may have no rank at all, or a `by` column on some rows of a user alone.
pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
TOLERANCE = 1e-12
KS = [None, 1, 2, 3, 5, 10, 1000]
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in METRICS),
    *(("precision", {"denominator": value}) for value in ("list", "achievable")),
    ("recall", {"denominator": "capped"}),
    *(("f_score", {"beta": value}) for value in (0.5, 2)),
    *(("f_score", {"denominator": value}) for value in ("list", "achievable")),
    ("f_score", {"average": "means"}),
    ("f_score", {"beta": 2, "denominator": "list", "average": "means"}),
    *(("map", {"normalizer": value}) for value in ("min", "list", "hits", "k", "ranks")),
    ("map", {"average": "geometric"}),
    ("map", {"normalizer": "min", "average": "geometric"}),
    *(("interpolated_precision", {"recall": value}) for value in (0, 0.3, 1)),
    ("auc", {"without_pair": "hit"}),
    *(("partial_auc", {"misses": value}) for value in (1, 2.5)),
    *(("partial_auc", {"misses": value, "hits": "first"}) for value in (1, 3)),
    *(("dcg", {"gain": value}) for value in ("exp", "binary")),
    ("dcg", {"gain": "exp", "log_base": 10}),
    ("dcg", {"log_base": 1.5}),
    ("dcg", {"discount": "unshifted"}),
    *(("dcg", {"log_base": value, "discount": "unshifted"}) for value in (1.5, 3.7)),
    *(("dcg", {"gain": value, "offset": -1.5}) for value in ("exp", "binary")),
    ("r_precision", {"without_hit": "null"}),
    ("ndcg", {"discount": "unshifted"}),
    *(("ndcg", {"log_base": 3.7, "ideal": value, "discount": "unshifted"}) for value in ("k", "list", "all")),
    ("ndcg", {"ideal": "all"}),
    *(("ndcg", {"gain": value, "ideal": "all"}) for value in ("exp", "binary")),
    ("ndcg", {"gain": "exp", "offset": 1}),
    ("ndcg", {"offset": -0.5}),
    *(("ndcg", {"gain": value}) for value in ("exp", "binary")),
    *(("ndcg", {"ideal": value}) for value in ("k", "list")),
    *(("ndcg", {"gain": value, "ideal": "list"}) for value in ("exp", "binary")),
    ("ndcg", {"gain": "exp", "ideal": "k"}),
    ("ndcg", {"log_base": 3}),
    *(("rbp", {"p": value}) for value in (0.5, 0.95)),
    *(("err", {"max_grade": value}) for value in (1, 2.5)),
]
EVERYTHING = [Asked(name, k, parameters) for name, parameters in VARIANTS for k in KS]
AT_ONE_CUT = [Asked(name, 3, parameters) for name, parameters in VARIANTS]
UNIVERSES = [None, "truth", "recs", "both", "all"]
TIES = ["item", "item_reverse", "item_desc", "pessimistic", "optimistic", "order"]

SCHEMA = {
    "user": pl.String,
    "item": pl.String,
    "rank": pl.Float64,
    "score": pl.Float64,
    "relevance": pl.Float64,
    "model": pl.String,
    "country": pl.String,
    "genre": pl.String,
}


# ---- the same case asked of recframe


def frame(rows: Rows, dtypes: Mapping[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema={name: dtypes.get(name, SCHEMA[name]) for name in rows[0]})


def bound(case: Case, kind: Kind = KINDS[0], dtypes: Mapping[str, Any] | None = None) -> rf.Rec[Any]:
    options = {name: value for name, value in vars(case.policy).items() if name != "model" and value is not None}
    options |= {"model": "model"} if case.policy.model else {}
    sides = {name: getattr(case, name) for name in ("truth", "users", "items")}
    sides = {name: kind(frame(rows, dtypes or {})) for name, rows in sides.items() if rows}
    return rf.rec(kind(frame(case.recs, dtypes or {})))(**options, **sides)


def check(case: Case, asked: Sequence[Asked], kind: Kind = KINDS[0], dtypes: Mapping[str, Any] | None = None) -> None:
    found = kind.read(bound(case, kind, dtypes).evaluate(*map(str, asked), by=list(case.by) or None))
    compare(found.to_dicts(), evaluate(asked, case), ["model"] * (case.policy.model and "model" not in case.by) + [*case.by])


def compare(found: Sequence[Row], expected: Sequence[Row], keys: Sequence[str]) -> None:
    """Every row, in the order of the keys with nulls last, and every column, in the order asked."""
    expected = sorted(expected, key=lambda row: [(row[name] is None, "" if row[name] is None else row[name]) for name in keys])
    assert [[row[name] for name in keys] for row in found] == [[row[name] for name in keys] for row in expected]
    for ours, theirs in zip(found, expected, strict=True):
        assert set(ours) == set(theirs)
        assert list(ours)[: len(keys)] == list(keys)
        differ = [name for name in ours if not same(ours[name], theirs[name])]
        wrong = {name: {"recframe": ours[name], "reference": theirs[name]} for name in differ}
        assert not wrong, {name: ours[name] for name in keys} | wrong


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, float) and isinstance(theirs, float):
        return math.isclose(ours, theirs, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return type(ours) is type(theirs) and bool(ours == theirs)


def padded(some: pl.DataFrame) -> pl.DataFrame:
    """Add rows of nobody, which count for nothing, until the frame is one that recframe calls large."""
    return pl.concat([some, some.clear(collecting.LARGE + 1)]) if {"rank", "score"} & set(some.columns) else some


ALL_KINDS = [*KINDS, Kind("large", padded, eager)]


def share(cases: Sequence[Case], kind: Kind) -> Sequence[Case]:
    """All cases of Polars' frames and of large ones, which have plans of their own; of others each case once.

    The other kinds differ in how frames come in and go out alone.
    """
    others = [one.name for one in ALL_KINDS[1:-1]]
    return cases[others.index(kind.name) :: len(others)] if kind.name in others else cases


# ---- random cases; `choose` takes one of several values, by a seed or by Hypothesis

Choose = Callable[[Sequence[Any]], Any]
RANKS = [None, math.nan, math.inf, -math.inf, 1.0, 1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 7.0, 11.0, 1.5, 2.25, 2.75]
SCORES = [None, math.nan, math.inf, -math.inf, -2.0, 0.0, 0.25, 0.25, 0.5, 1.0, 3.0]
RELEVANCES = [None, None, math.nan, -1.0, 0.0, 0.0, 0.5, 1.0, 1.0, 2.0, 3.0, 5.0]
COUNTRIES, GENRES = ["AT", "BE", None], ["x", "y", None]
SEGMENTS_OF_JUDGED = [(), (), ("user",), ("country",), ("genre",), ("genre", "country"), ("item",), ("user", "genre")]
SEGMENTS_OF_TWO = [(), (), ("user",), ("country",), ("genre",), ("country", "genre"), ("item",), ("genre", "user")]


def a_policy(choose: Choose, ties: Sequence[str] = ("item",)) -> Policy:
    return Policy(
        universe=choose([None, *UNIVERSES]),
        no_relevant=choose(["zero", "zero", "skip", "null"]),
        min_relevance=choose([None, None, 0.5, 2, "any"]),
        min_relevance_for=choose(["all", "all", "binary"]),
        relevant_from=choose(["truth", "truth", "list"]),
        model=choose([False, False, True]),
        ties=choose(ties),
    )


def some_rows(choose: Choose, n_rows: int, n_users: int, columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Rows of users and items in which about one id in twenty is null."""
    users = [*(f"u{number:03}" for number in range(n_users)), *[None] * max(1, n_users // 20)]
    items = [*"ABCDEFGHIJ", None]
    rows = [{"user": choose(users), "item": choose(items)} for _ in range(n_rows)]
    return [row | {name: choose(values) for name, values in columns.items()} for row in rows]


def described(choose: Choose, column: str, values: Sequence[Any], key: str, rows: Rows) -> list[dict[str, Any]]:
    """One row for each of some of the ids in the rows, and one for an id that no row has."""
    known = [one for one in dict.fromkeys(row[key] for row in rows) if one is not None and choose([True, True, True, False])]
    return [{key: one, column: choose(values)} for one in [*known, "zz"]]


def judged_case(choose: Choose, n_rows: int, n_users: int, order: str = "rank", policy: Policy | None = None) -> Case:
    """A judged frame with its segments as columns of its own or of side frames."""
    policy = policy or a_policy(choose, TIES)
    by = choose(SEGMENTS_OF_JUDGED) if not policy.model else choose([*SEGMENTS_OF_JUDGED, ("country", "model")])
    columns = {order: RANKS if order == "rank" else SCORES, "relevance": RELEVANCES}
    columns |= {"model": ["m1", "m2", "m2", *[None] * (order == "rank")]} if policy.model else {}
    rows = some_rows(choose, n_rows, n_users, columns)
    sides: dict[str, Any] = {}
    for column, key, side, values in (("country", "user", "users", COUNTRIES), ("genre", "item", "items", GENRES)):
        if column in by:
            table = described(choose, column, values, key, rows)
            if choose([True, False]):
                sides[side] = table
            else:  # a property of the row that says the same of each pair
                rows = [row | {column: {one[key]: one[column] for one in table}.get(row[key])} for row in rows]
    if policy.universe == "all" and "users" not in sides and "country" not in by:
        sides["users"] = [{"user": user} for user in ("u000", "zz", None)]
    return Case(rows, by=by, policy=policy, **sides)


def two_frames(choose: Choose, n_rows: int, n_users: int, order: str = "rank", policy: Policy | None = None) -> Case:
    """Recommendations and truth; segments on one of the frames (users'), on both (rows') or on side frames."""
    policy = policy or a_policy(choose, TIES)
    by = choose(SEGMENTS_OF_TWO) if not policy.model else choose([*SEGMENTS_OF_TWO, ("country", "model")])
    models = {"model": ["m1", "m2", "m2", None]} if policy.model else {}
    recs = some_rows(choose, n_rows, n_users, {order: RANKS if order == "rank" else SCORES, **models})
    truth = some_rows(choose, n_rows, n_users, {"relevance": RELEVANCES} if choose([True, True, False]) else {})
    case = Case(recs, truth, by=by, policy=policy)
    case = with_countries(choose, case) if "country" in by else case
    case = with_genres(choose, case) if "genre" in by else case
    if policy.universe == "all" and "country" not in by:
        case = replace(case, users=[{"user": user} for user in ("u000", "zz", None)])
    return case


def with_countries(choose: Choose, case: Case) -> Case:
    """A property of the user, on the side frame or on one of the two frames."""
    table = described(choose, "country", COUNTRIES, "user", [*case.recs, *case.truth])
    values = {one["user"]: one["country"] for one in table}
    where = choose(["users", "recs", "truth"])
    if where == "users":
        return replace(case, users=table)
    if where == "recs":  # null is not a value: a row without it says nothing
        return replace(case, recs=[row | {"country": choose([values.get(row["user"]), None])} for row in case.recs])
    return replace(case, truth=[row | {"country": values.get(row["user"])} for row in case.truth])


def with_genres(choose: Choose, case: Case) -> Case:
    """A property of the item, on the side frame or on the rows of both frames."""
    table = described(choose, "genre", GENRES, "item", [*case.recs, *case.truth])
    if choose([True, False]):
        return replace(case, items=table)
    values = {one["item"]: one["genre"] for one in table}
    recs, truth = ([row | {"genre": values.get(row["item"])} for row in rows] for rows in (case.recs, case.truth))
    return replace(case, recs=recs, truth=truth)


CASES = {"judged": judged_case, "two": two_frames}


def seeded(name: str) -> random.Random:
    return random.Random(f"recframe {name}")  # noqa: S311  no secret


@st.composite
def cases(draw: st.DrawFn, order: str = "rank") -> Case:
    def choose(values: Sequence[Any]) -> Any:
        return draw(st.sampled_from(values))

    return CASES[choose(["judged", "two"])](choose, choose(range(1, 9)), choose([1, 2, 3]), order)


some_metrics = st.lists(st.sampled_from(EVERYTHING), min_size=1, max_size=4, unique_by=str)
exploring = settings(examples(120), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


# ---- the reference itself, and what it covers


OF_PROPENSITIES = {"weights", "exponent", "min_propensity"}  # they have a reference of their own: beyond_propensity.py


def test_the_reference_covers_every_accuracy_metric_and_every_choice_of_its_parameters():
    own = {name: one for name, one in registered().items() if one.definition.family == "accuracy"}
    assert set(own) == set(METRICS)
    for name, metric in own.items():
        for parameter, about in metric.definition.parameters.items():
            if parameter in OF_PROPENSITIES:
                continue
            tried = {settings.get(parameter, about.default) for one, settings in VARIANTS if one == name}
            kind, choices = metric.definition.kind(parameter)
            assert tried >= (set(choices) if kind is Literal else tried)
            assert len(tried) > 1, (name, parameter)


# Worked by hand in the issue: relevant {A, C, F}, ranking [B, A, D, C, E, F].
WORKED = {
    "hit_rate@1": 0.0, "hit_rate@2": 1.0, "precision@5": 0.4, "recall@5": 2 / 3, "mrr": 0.5,
    "dcg@5": 1.061606, "ndcg@5": 0.498189, "ndcg(ideal=list)@5": 0.650921,
}  # fmt: skip


def test_the_reference_gives_the_worked_example():
    ranking = enumerate("BADCEF", start=1)
    rows = [{"user": "u", "item": item, "rank": rank, "relevance": float(item in "ACF")} for rank, item in ranking]
    asked = [Asked(one.name, one.k, dict(one.settings)) for one in map(rf.parse, WORKED)]
    (found,) = evaluate(asked, Case(rows))
    assert {str(one): round(found[str(one)], 6) for one in asked} == {name: round(value, 6) for name, value in WORKED.items()}


# ---- every metric, on every kind of frame


on_all_kinds = pytest.mark.parametrize("kind", slow_after_the_first(ALL_KINDS), ids=repr)
in_both_shapes = pytest.mark.parametrize("shape", CASES)


@on_all_kinds
@in_both_shapes
def test_every_metric_at_every_k_agrees_for_each_user(shape: str, kind: Kind):
    rng = seeded(f"users {shape}")
    case = CASES[shape](rng.choice, 240, 30, policy=Policy())
    check(replace(case, by=("user",), users=None, items=None), EVERYTHING, kind)


@on_all_kinds
@in_both_shapes
def test_means_by_segment_and_model_agree(shape: str, kind: Kind):
    rng = seeded(f"segments {shape}")
    policies = (Policy(), Policy(model=True))
    for case in share([CASES[shape](rng.choice, 120, 25, policy=policy) for policy in policies for _ in range(3)], kind):
        check(case, AT_ONE_CUT, kind)


@pytest.mark.slow
@on_all_kinds
@in_both_shapes
@pytest.mark.parametrize("order", ["rank", "score"])
def test_a_pair_counts_in_each_segment_of_rows_in_which_it_has_a_row(order: str, shape: str, kind: Kind):
    rng, cases = seeded(f"rows {shape} {order}"), []
    for model, by in ((False, ("genre",)), (True, ("genre",)), (True, ("genre", "country")), (False, ("genre", "item"))):
        policy = Policy(rng.choice(UNIVERSES), model=model, ties=rng.choice(TIES[:4]) if order == "score" else "item")
        case = replace(CASES[shape](rng.choice, 90, 9, order, policy), by=by, users=None, items=None)
        cases.append(with_segments_of_rows(rng.choice, case))
    for case in share([*cases, *cases], kind)[: len(cases)]:  # of six other kinds each case has two
        check(case, AT_ONE_CUT, kind)


def with_segments_of_rows(choose: Choose, case: Case) -> Case:
    """A property of the row that says something else of each row of a pair."""
    segments = {"genre": GENRES, "country": COUNTRIES}

    def rows(of: Rows) -> Rows:
        return [row | {name: choose(values) for name, values in segments.items()} for row in of]  # type: ignore[operator]

    return replace(case, recs=rows(case.recs), truth=case.truth and rows(case.truth))


@pytest.mark.slow
@pytest.mark.parametrize("universe", UNIVERSES)
@pytest.mark.parametrize("no_relevant", ["zero", "skip", "null"])
@pytest.mark.parametrize("relevant_from", ["truth", "list"])
@in_both_shapes
def test_every_policy_agrees(shape: str, relevant_from: str, no_relevant: str, universe: str | None):
    rng = seeded(f"policies {shape} {relevant_from} {no_relevant} {universe}")
    policy = Policy(universe, no_relevant, relevant_from=relevant_from)
    for number in range(3):
        policy = replace(policy, min_relevance=rng.choice([None, 0.5, 2, "any"]), model=number == 2)
        policy = replace(policy, min_relevance_for=rng.choice(["all", "binary"]))
        check(CASES[shape](rng.choice, 60, 12, policy=policy), AT_ONE_CUT)


@pytest.mark.slow
@on_all_kinds
@in_both_shapes
def test_ranks_from_scores_agree(shape: str, kind: Kind):
    rng = seeded(f"scores {shape}")
    policies = (Policy(), Policy(model=True), Policy(relevant_from="list", no_relevant="skip"))
    every = [replace(policy, ties=ties) for policy in policies for ties in TIES]
    for case in share([CASES[shape](rng.choice, 120, 20, "score", policy) for policy in every], kind):
        check(case, AT_ONE_CUT, kind)


@pytest.mark.slow
@on_all_kinds
@in_both_shapes
def test_equal_ranks_told_apart_agree(shape: str, kind: Kind):
    rng = seeded(f"ties of ranks {shape}")
    policies = (Policy(), Policy(model=True), Policy(relevant_from="list", no_relevant="skip"))
    every = [replace(policy, ties=ties) for policy in policies for ties in TIES[1:]]
    for case in share([CASES[shape](rng.choice, 120, 20, policy=policy) for policy in every], kind):
        check(case, AT_ONE_CUT, kind)


@exploring
@given(case=cases(), asked=some_metrics, kind=st.sampled_from(ALL_KINDS))
def test_small_random_cases_agree(case: Case, asked: list[Asked], kind: Kind):
    check(case, asked, kind)


@exploring
@given(case=cases(order="score"), asked=some_metrics, kind=st.sampled_from(ALL_KINDS))
def test_small_random_cases_with_scores_agree(case: Case, asked: list[Asked], kind: Kind):
    check(case, asked, kind)


# ---- dtypes and sizes that choose other plans


GRADES = [None, 0, 0, 1, 2, 3]
INTEGERS = {"user": pl.Int32, "item": pl.Int64, "rank": pl.UInt8, "relevance": pl.Int8}


def with_integers(case: Case) -> Case:
    """The case with whole numbers, negative ids among them, where it had text and fractions."""

    def number(name: str, value: Any) -> Any:
        if name in {"user", "item"}:
            return value and (int(value[1:]) - 7 if name == "user" else "DCBAJIHGFE".index(value) - 4)
        return None if value is None or not math.isfinite(value) else math.ceil(value)

    def plain(rows: Rows) -> Rows:
        return [{name: number(name, value) for name, value in row.items()} for row in rows]

    return replace(case, recs=plain(case.recs), truth=case.truth and plain(case.truth))


# NumPy has no null integer: it makes floats of ids with nulls, which match no integers.
@pytest.mark.parametrize("kind", slow_after_the_first(one for one in ALL_KINDS if one.name != "pandas"), ids=repr)
@in_both_shapes
def test_integer_ids_ranks_and_relevances_agree(shape: str, kind: Kind):
    rng = seeded(f"integers {shape}")
    case = CASES[shape](rng.choice, 200, 25, policy=Policy())
    case = with_integers(replace(case, by=(), users=None, items=None))
    check(replace(case, by=("user",)), AT_ONE_CUT, kind, INTEGERS)
    check(case, EVERYTHING[::4], kind, INTEGERS)


def a_crowd(n_users: int, n_items: int) -> list[dict[str, Any]]:
    """Judged lists without anything odd in them, sorted by user."""
    rng = seeded("crowd")
    rows = []
    for user in range(n_users):
        for rank, item in enumerate(rng.sample(range(100), n_items), start=1):
            rows.append({"user": user, "item": item, "rank": rng.choice([*[rank] * 9, None]), "relevance": rng.choice(GRADES)})
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("order", ["sorted", "shuffled", "with duplicates"])
@pytest.mark.parametrize("name", ["polars", "streaming", "pandas-arrow"])
def test_a_large_frame_agrees(name: str, order: str):
    rows = a_crowd(1200, 20)
    if order != "sorted":
        seeded("shuffle").shuffle(rows)
    if order == "with duplicates":
        rows += [{**row, "rank": rank, "relevance": 2} for rank, row in enumerate(rows[:50], start=1)]
    (kind,) = (one for one in KINDS if one.name == name)
    check(Case(rows), AT_ONE_CUT, kind, INTEGERS)


# ---- the expression form, and judge()


def expressions(asked: Sequence[Asked]) -> list[pl.Expr]:
    return [rf.parse(str(one)).expr() for one in asked]


def eighths(asked: Sequence[Asked]) -> list[Sequence[Asked]]:
    """Some expressions at a time: nothing is shared between them in one aggregation, which takes long for many."""
    return [asked[first::8] for first in range(8)]


def judged_lists(name: str, n_rows: int, n_users: int) -> Case:
    case = judged_case(seeded(name).choice, n_rows, n_users, policy=Policy())
    return Case([{role: row[role] for role in ("user", "item", "rank", "relevance")} for row in case.recs], by=("user",))


@pytest.mark.slow
@pytest.mark.parametrize("k", [None, 1, 3, 10])
def test_expressions_in_a_group_by_agree(k: int | None):
    case, asked = judged_lists("expressions", 150, 20), [one for one in EVERYTHING if one.k == k]
    users = pl.col("user").is_in({row["user"] for row in case.recs if row["item"] is not None and row["user"]})
    for few in eighths(asked):
        found = frame(case.recs, {}).group_by("user").agg(expressions(few)).filter(users).sort("user")
        compare(found.to_dicts(), evaluate(few, case), ["user"])


@pytest.mark.slow
def test_expressions_over_users_give_each_row_the_value_of_its_user():
    case = judged_lists("over", 100, 15)
    rows = frame([row for row in case.recs if row["user"] and row["item"]], {})
    for few in eighths(AT_ONE_CUT):
        found = rows.select("user", *(one.over("user") for one in expressions(few)))
        assert found.height == rows.height
        compare(found.unique().sort("user").to_dicts(), evaluate(few, case), ["user"])


@settings(exploring, max_examples=examples(40).max_examples)
@given(case=cases(), asked=some_metrics)
def test_an_expression_over_one_list_agrees(case: Case, asked: list[Asked]):
    rows = [{"relevance": 1.0} | row | {"user": "u"} for row in case.recs]
    rows = [{role: row[role] for role in ("user", "item", "rank", "relevance")} for row in rows]
    (expected,) = evaluate(asked, Case([*rows, {"user": "u", "item": "A", "rank": None, "relevance": None}]))
    (found,) = frame(rows, {}).select(expressions(asked)).to_dicts()
    compare([{"n_users": 1} | found], [expected], [])


def two_plain_frames(rng: random.Random, policy: Policy) -> Case:
    """Two frames whose segments are on side frames, and whose models all have a name."""
    case = two_frames(rng.choice, 60, 10, policy=policy)
    recs = [{name: value for name, value in row.items() if name not in {"country", "genre"}} for row in case.recs]
    recs = [row | {"model": row["model"] or "m1"} if policy.model else row for row in recs]
    truth = [{"relevance": 1.0} | {name: row[name] for name in row if name not in {"country", "genre"}} for row in case.truth]
    users = described(rng.choice, "country", COUNTRIES, "user", [*recs, *truth])
    items = described(rng.choice, "genre", GENRES, "item", [*recs, *truth])
    return replace(case, recs=recs, truth=truth, users=users, items=items)


def policies(rng: random.Random) -> list[Policy]:
    found = [Policy(universe, no_relevant, 0.5, "truth", model) for universe in UNIVERSES for no_relevant, model in NO_RELEVANT]
    return [replace(one, relevant_from=rng.choice(["truth", "list"]), ties=rng.choice(TIES)) for one in found]


NO_RELEVANT = [("zero", False), ("skip", True), ("null", False)]


def lowest_rank(rows: Rows) -> float | None:
    return min((row["rank"] for row in rows if has_rank(row)), default=None)


def test_judge_gives_each_pair_of_a_user_that_counts_once(kind: Kind):
    rng = seeded("pairs")
    for policy in policies(rng):
        case = without_nan(replace(two_plain_frames(rng, policy), by=()))
        expected = judge(case, [])
        keys = ["model"] * policy.model + ["user", "item"]
        pairs = grouped((row for row in expected.rows if row["user"] in expected.universe), *keys)
        best = {key: (lowest_rank(rows), highest(row["relevance"] for row in rows)) for key, rows in pairs.items()}
        found = kind.read(bound(case, kind).judge())
        assert found.columns == [*keys, "rank", "relevance"]
        assert len(found) == len(best)
        for *key, rank, relevance in found.rows():
            assert repr((rank, relevance)) == repr(best[tuple(key)])


SEGMENTS_OF_JUDGING = [("user",), ("country",), ("genre",), ("genre", "country")]


@pytest.mark.parametrize("by", [(), *(pytest.param(by, marks=pytest.mark.slow) for by in SEGMENTS_OF_JUDGING)], ids=str)
def test_judge_then_a_metric_agrees(by: tuple[str, ...]):
    rng = seeded(f"judge {by}")
    for policy in policies(rng):
        case = replace(two_plain_frames(rng, policy), by=by)
        judged_rows = bound(case).judge().to_dicts()
        again = bound(replace(case, recs=judged_rows, truth=None)).evaluate(*map(str, AT_ONE_CUT), by=list(by))
        compare(again.to_dicts(), evaluate(AT_ONE_CUT, case), ["model"] * policy.model + [*by])
