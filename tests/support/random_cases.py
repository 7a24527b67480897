"""Random cases with every oddity that frames have, asked of recframe and of the plain-Python definitions."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
from hypothesis import HealthCheck, settings

import recframe as rf
from plain_accuracy import METRICS
from plain_policies import Asked, Case, Policy, Row, Rows, evaluate, parts_of
from pooled_ranks import apart
from strategies import examples
from ways_to_run import EAGER, Way

TOLERANCE = 1e-12
KS = [None, 1, 2, 3, 5, 10, 1000]
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in METRICS),
    *(("precision", {"denominator": value}) for value in ("list", "achievable")),
    *(
        ("precision", {"denominator": value, "average": "pooled"})
        for value in ("list", "achievable")
    ),
    ("precision", {"average": "pooled"}),
    ("recall", {"denominator": "capped"}),
    ("recall", {"average": "pooled"}),
    ("recall", {"denominator": "capped", "average": "pooled"}),
    *(("f_score", {"beta": value}) for value in (0.5, 2)),
    *(("f_score", {"denominator": value}) for value in ("list", "achievable")),
    ("f_score", {"average": "means"}),
    ("f_score", {"beta": 2, "denominator": "list", "average": "means"}),
    ("f_score", {"average": "pooled"}),
    ("f_score", {"beta": 2, "denominator": "achievable", "average": "pooled"}),
    *(("map", {"normalizer": value}) for value in ("min", "list", "hits", "k", "ranks")),
    ("map", {"average": "geometric"}),
    ("map", {"normalizer": "min", "average": "geometric"}),
    ("map", {"average": "geometric", "without_relevant": "one"}),
    *(("map", {"normalizer": value, "without_relevant": "one"}) for value in ("min", "ranks")),
    ("ncrr", {"denominator": "list"}),
    *(("recall_at_precision", {"precision": value}) for value in (0.2, 1 / 3)),
    ("recall_at_precision", {"denominator": "list"}),
    ("compatibility", {"p": 0.5}),
    ("compatibility", {"normalize": False}),
    *(("interpolated_precision", {"recall": value}) for value in (0, 0.3, 1)),
    *(
        (name, {"rounding": value})
        for name in ("interpolated_precision", "eleven_point_precision")
        for value in ("tenth", "nearest")
    ),
    ("auc", {"without_pair": "hit"}),
    *(("gauc", {"weight": value}) for value in ("relevant", "pairs")),
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
    *(
        ("ndcg", {"log_base": 3.7, "ideal": value, "discount": "unshifted"})
        for value in ("k", "list", "all")
    ),
    ("ndcg", {"ideal": "all"}),
    *(("ndcg", {"gain": value, "ideal": "all"}) for value in ("exp", "binary")),
    ("ndcg", {"gain": "exp", "offset": 1}),
    ("ndcg", {"offset": -0.5}),
    *(("ndcg", {"gain": value}) for value in ("exp", "binary")),
    *(("ndcg", {"ideal": value}) for value in ("k", "list")),
    *(("ndcg", {"gain": value, "ideal": "list"}) for value in ("exp", "binary")),
    ("ndcg", {"gain": "exp", "ideal": "k"}),
    ("ndcg", {"without_relevant": "one"}),
    *(("ndcg", {"ideal": value, "without_relevant": "one"}) for value in ("k", "list")),
    ("ndcg", {"log_base": 3}),
    *(("rbp", {"p": value}) for value in (0.5, 0.95)),
    *(("err", {"max_grade": value}) for value in (1, 2.5)),
    *(("insq", {"target": value, "max_grade": 2, "min_grade": 1}) for value in (0.3, 3)),
    ("inst", {"target": 3}),
    ("inst", {"max_grade": 2, "min_grade": 0.5}),
    ("bpm", {"target": 0.4}),
    ("bpm", {"target": 2, "max_grade": 1.5, "min_grade": 1}),
    *(("nerr", {"form": form}) for form in ("target", "discount", "gain")),
    ("nerr", {"p": 0.5, "max_grade": 1}),
    *(
        ("nerr", {"form": form, "target": 2.5, "max_grade": 2, "min_grade": 1})
        for form in ("target", "discount", "gain")
    ),
    ("sdcg", {"max_grade": 2, "min_grade": 1}),
]


def stops_at_k(name: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a metric has no value without a cut-off, as those of readers who stop there."""
    return name in {"bpm", "sdcg", "recall_at_precision"} or parameters.get("form") in {
        "discount",
        "gain",
    }


EVERYTHING = [
    Asked(name, k, parameters)
    for name, parameters in VARIANTS
    for k in KS
    if (k or not stops_at_k(name, parameters)) and (k != 1000 or name != "recall_at_precision")
]
TIES = ["item", "item_reverse", "item_desc", "pessimistic", "optimistic", "order"]

SCHEMA = {
    "user": pl.String,
    "item": pl.String,
    "rank": pl.Float64,
    "score": pl.Float64,
    "relevance": pl.Float64,
    "weight": pl.Float64,
    "model": pl.String,
    "country": pl.String,
    "genre": pl.String,
}


def frame(rows: Rows, dtypes: Mapping[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(
        list(rows), schema={name: dtypes.get(name, SCHEMA[name]) for name in rows[0]}
    )


def given(
    case: Case, make: Callable[[pl.DataFrame], Any], dtypes: Mapping[str, Any] | None = None
) -> tuple[Any, dict[str, Any]]:
    """The lists and what `rec(...)` binds, as frames that `make` makes."""
    options: dict[str, Any] = {
        name: value
        for name, value in vars(case.policy).items()
        if name not in {"model", "weight"} and value is not None
    }
    options |= {name: name for name in ("model", "weight") if getattr(case.policy, name)}
    sides = {name: getattr(case, name) for name in ("truth", "users", "items")}
    options |= {name: make(frame(rows, dtypes or {})) for name, rows in sides.items() if rows}
    return make(frame(case.recs, dtypes or {})), options


def bound(case: Case, make: Callable[[pl.DataFrame], Any] = EAGER, **how: Any) -> rf.Rec[Any]:
    lists, options = given(case, make, **how)
    return rf.rec(lists)(**options)


def check(
    case: Case, asked: Sequence[Asked], way: Way = EAGER, dtypes: Mapping[str, Any] | None = None
) -> None:
    """A way to run gives what the plain definitions do: each row, in the order of its keys, and each number."""
    keys = ["model"] * (case.policy.model and "model" not in case.by) + [*case.by]
    found = way.answer(
        lambda make: given(case, make, dtypes), [*map(str, asked)], list(case.by) or None
    )
    if way.name == "buckets" and "user" in case.by:  # rows of users come in no order
        found = found.sort(keys, nulls_last=True)
    compare(found.to_dicts(), evaluate(asked, case), keys)


def takes(way: Way, case: Case) -> bool:
    """Whether neither the order of rows, nor what a bucket or a batch shows of all, have a part in a case."""
    parts, of_all = parts_of(case), case.policy.universe == "all" and bool(case.users)
    refused = [
        way.name == "buckets" and of_all and (parts.of_rows or parts.of_items),
        # rows of users are no sums
        way.name == "batches" and (of_all or "user" in case.by),
        way.name in {"buckets", "shuffled", "batches"} and case.policy.ties == "order",
    ]
    return not any(refused)


def compare(found: Sequence[Row], expected: Sequence[Row], keys: Sequence[str]) -> None:
    """Every row, in the order of the keys with nulls last, and every column, in the order asked."""
    expected = sorted(
        expected,
        key=lambda row: [
            (row[name] is None, "" if row[name] is None else row[name]) for name in keys
        ],
    )
    assert [[row[name] for name in keys] for row in found] == [
        [row[name] for name in keys] for row in expected
    ]
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


Choose = Callable[[Sequence[Any]], Any]
RANKS = [
    None,
    math.nan,
    math.inf,
    -math.inf,
    1.0,
    1.0,
    2.0,
    2.0,
    3.0,
    4.0,
    5.0,
    7.0,
    11.0,
    1.5,
    2.25,
    2.75,
]
SCORES = [None, math.nan, math.inf, -math.inf, -2.0, 0.0, 0.25, 0.25, 0.5, 1.0, 3.0]
WEIGHTS = [None, math.nan, 0.25, 1.0, 1.0, 2.5, 10.0]
RELEVANCES = [None, None, math.nan, -1.0, 0.0, 0.0, 0.5, 1.0, 1.0, 2.0, 3.0, 5.0]
COUNTRIES, GENRES = ["AT", "BE", None], ["x", "y", None]
Segments = tuple[str, ...]
SEGMENTS: list[Segments] = [
    *((), ("user",), ("item",), ("country",), ("genre",)),
    *(("country", "genre"), ("genre", "user")),
]


ANY = Policy()


def some_rows(
    choose: Choose, n_rows: int, n_users: int, columns: Mapping[str, Sequence[Any]]
) -> list[dict[str, Any]]:
    """Rows of users and items in which about one id in twenty is null."""
    users = [*(f"u{number:03}" for number in range(n_users)), *[None] * max(1, n_users // 20)]
    items = [*"ABCDEFGHIJ", None]
    rows = [{"user": choose(users), "item": choose(items)} for _ in range(n_rows)]
    return [row | {name: choose(values) for name, values in columns.items()} for row in rows]


def models_of(policy: Policy, order: str) -> dict[str, list[str | None]]:
    """Two models, one of them more often, and where rows may be unranked also none."""
    return {"model": ["m1", "m2", "m2", *[None] * (order == "rank")]} if policy.model else {}


def ranked_by_models(rows: Rows) -> list[dict[str, Any]]:
    """Return rows of which those without a model have no rank, since a ranked one is an error."""
    return [{**row, "rank": None} if row.get("model", "") is None else row for row in rows]


def described(
    choose: Choose, column: str, values: Sequence[Any], key: str, rows: Rows
) -> list[dict[str, Any]]:
    """One row for each of some of the ids in the rows, and one for an id that no row has."""
    known = [
        one
        for one in dict.fromkeys(row[key] for row in rows)
        if one is not None and choose([True, True, True, False])
    ]
    return [{key: one, column: choose(values)} for one in [*known, "zz"]]


def judged_case(
    choose: Choose,
    n_rows: int,
    n_users: int,
    order: str = "rank",
    policy: Policy = ANY,
    by: Segments = (),
) -> Case:
    """A judged frame with its segments as columns of its own or of side frames."""
    columns = {order: RANKS if order == "rank" else SCORES, "relevance": RELEVANCES}
    columns |= models_of(policy, order)
    rows = ranked_by_models(some_rows(choose, n_rows, n_users, columns))
    sides: dict[str, Any] = {}
    for column, key, side, values in (
        ("country", "user", "users", COUNTRIES),
        ("genre", "item", "items", GENRES),
    ):
        if column in by:
            table = described(choose, column, values, key, rows)
            if choose([True, False]):
                sides[side] = table
            else:  # a property of the row that says the same of each pair
                rows = [
                    row | {column: {one[key]: one[column] for one in table}.get(row[key])}
                    for row in rows
                ]
    if policy.universe == "all" and "users" not in sides and "country" not in by:
        sides["users"] = [{"user": user} for user in ("u000", "zz", None)]
    return weighed(choose, unpooled(Case(rows, by=by, policy=policy, **sides)))


def two_frames(
    choose: Choose,
    n_rows: int,
    n_users: int,
    order: str = "rank",
    policy: Policy = ANY,
    by: Segments = (),
) -> Case:
    """Recommendations and truth; segments on one of the frames (users'), on both (rows') or on side frames."""
    ordered = {order: RANKS if order == "rank" else SCORES}
    recs = some_rows(choose, n_rows, n_users, ordered | models_of(policy, order))
    recs = ranked_by_models(recs)
    graded = choose([True, True, False])
    truth = some_rows(choose, n_rows, n_users, {"relevance": RELEVANCES} if graded else {})
    if not graded and policy.min_relevance != "any":  # a level needs a relevance
        policy = replace(policy, min_relevance=None)
    case = Case(recs, truth, by=by, policy=policy)
    case = with_countries(choose, case) if "country" in by else case
    case = with_genres(choose, case) if "genre" in by else case
    if policy.universe == "all" and "country" not in by:
        case = replace(case, users=[{"user": user} for user in ("u000", "zz", None)])
    return weighed(choose, unpooled(case))


def weighed(choose: Choose, case: Case) -> Case:
    """A weight for most users, if they weigh."""
    if not case.policy.weight:
        return case
    rows = [*case.recs, *(case.truth or ())]
    table = case.users or described(choose, "country", [None], "user", rows)
    drawn = [{"user": row["user"], "weight": choose(WEIGHTS)} for row in table]
    users = [own | row for own, row in zip(drawn, table, strict=True)]
    if not case.users:
        users = [{name: row[name] for name in ("user", "weight")} for row in users]
    return replace(case, users=users)


def unpooled(case: Case) -> Case:
    """Ranks that repeat as ties do, not as those of several lists."""
    return replace(case, recs=apart(case.recs)) if "rank" in case.recs[0] else case


def with_countries(choose: Choose, case: Case) -> Case:
    """A property of the user, on the side frame or on one of the two frames."""
    table = described(choose, "country", COUNTRIES, "user", [*case.recs, *case.truth])
    values = {one["user"]: one["country"] for one in table}
    # a truth that is filtered says nothing of the users of lists
    cuts_truth = case.policy.universe not in {"recs", "all"}
    where = choose(["users", "recs", *["truth"] * cuts_truth])
    if where == "users":
        return replace(case, users=table)
    if where == "recs":  # null is not a value: a row without it says nothing
        return replace(
            case,
            recs=[row | {"country": choose([values.get(row["user"]), None])} for row in case.recs],
        )
    return replace(
        case,
        truth=[row | {"country": choose([values.get(row["user"]), "BE"])} for row in case.truth],
    )


def with_genres(choose: Choose, case: Case) -> Case:
    """A property of the item, on the side frame or on the rows of both frames."""
    table = described(choose, "genre", GENRES, "item", [*case.recs, *case.truth])
    if choose([True, False]):
        return replace(case, items=table)
    values = {one["item"]: one["genre"] for one in table}
    recs, truth = (
        [row | {"genre": values.get(row["item"])} for row in rows]
        for rows in (case.recs, case.truth)
    )
    return replace(case, recs=recs, truth=truth)


CASES = {"judged": judged_case, "two": two_frames}


def seeded(name: str) -> random.Random:
    return random.Random(f"recframe {name}")  # noqa: S311  no secret


exploring = settings(
    examples(90), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def with_segments_of_rows(choose: Choose, case: Case) -> Case:
    """A property of the row that says something else of each row of a pair."""
    segments = {"genre": GENRES, "country": COUNTRIES}

    def rows(of: Rows) -> Rows:
        return [row | {name: choose(values) for name, values in segments.items()} for row in of]  # type: ignore[operator]

    return unpooled(replace(case, recs=rows(case.recs), truth=case.truth and rows(case.truth)))


INTEGERS = {"user": pl.Int32, "item": pl.Int64, "rank": pl.UInt8, "relevance": pl.Int8}
"""Dtypes of a case with whole numbers."""


def with_integers(case: Case) -> Case:
    """The case with whole numbers, negative ids among them, where it had text and fractions."""

    def number(name: str, value: Any) -> Any:
        if value in {None, "zz"}:
            return value and 100
        if name == "user":
            return int(value[1:]) - 7
        if name == "item":
            return "DCBAJIHGFE".index(value) - 4
        if name in {"rank", "relevance"}:
            return math.ceil(value) if math.isfinite(value) else None
        return value

    def rows(of: Rows | None) -> Any:
        return of and [{name: number(name, value) for name, value in row.items()} for row in of]

    sides = {name: rows(getattr(case, name)) for name in ("recs", "truth", "users", "items")}
    return replace(case, **sides)
