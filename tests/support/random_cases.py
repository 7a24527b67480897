"""Random cases with every oddity that frames have, asked of recframe and of the plain definitions."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf, nan
from typing import Any

import polars as pl
from hypothesis import HealthCheck, settings

import recframe as rf
from plain_calls import evaluate, is_of_accuracy
from plain_policies import Asked, Case, Policy, Row, Rows
from pooled_ranks import apart
from strategies import examples
from ways_to_run import EAGER, Way

TOLERANCE = 1e-12
TIES = ["item", "item_reverse", "item_desc", "pessimistic", "optimistic", "order"]

NUMBERS = ["rank", "score", "relevance", "weight", "propensity", "price"]
SCHEMA: dict[str, Any] = dict.fromkeys(NUMBERS, pl.Float64)
SCHEMA |= {"cost": pl.Int64, "tags": pl.List(pl.String), "vector": pl.List(pl.Float64)}


def frame(rows: Rows, dtypes: Mapping[str, Any]) -> pl.DataFrame:
    schema = {name: dtypes.get(name, SCHEMA.get(name, pl.String)) for name in rows[0]}
    return pl.DataFrame([*rows], schema=schema)


def given(
    case: Case, make: Callable[[pl.DataFrame], Any], dtypes: Mapping[str, Any] | None = None
) -> tuple[Any, dict[str, Any]]:
    """The lists and what `rec(...)` binds, as frames that `make` makes."""
    policies = vars(case.policy) | {"propensity": case.propensity}
    bound = {name: policies.pop(name) for name in ("model", "weight", "propensity")}
    options: dict[str, Any] = {name: one for name, one in policies.items() if one is not None}
    options |= {name: name for name, is_bound in bound.items() if is_bound}
    for name in ("truth", "users", "items", "train", "reference"):
        side = getattr(case, name)
        if side:
            options[name] = side if isinstance(side, str) else make(frame(side, dtypes or {}))
    return make(frame(case.recs, dtypes or {})), options


def bound(case: Case, make: Callable[[pl.DataFrame], Any] = EAGER, **how: Any) -> rf.Rec[Any]:
    lists, options = given(case, make, **how)
    return rf.rec(lists)(**options)


def check(
    case: Case, asked: Sequence[Asked], way: Way = EAGER, dtypes: Mapping[str, Any] | None = None
) -> None:
    """A way to run gives what the plain definitions do: each row, in the order of its keys, and each number."""
    found = way.answer(
        lambda make: given(case, make, dtypes), [*map(str, asked)], list(case.by) or None
    )
    if way.name == "buckets" and "user" in case.by:  # rows of users come in no order
        found = found.sort(case.keys, nulls_last=True)
    rows = [{name: row[name] for name in row if name != "n_lists"} for row in found.to_dicts()]
    # metrics of lists have rows of whoever has one of some length
    more = () if all(map(is_of_accuracy, asked)) else found.select(case.keys).rows()
    compare(rows, evaluate(asked, case, more), case.keys)


def takes(way: Way, case: Case) -> bool:
    """Whether neither the order of rows, nor what a bucket or a batch shows of all, have a part in a case."""
    of_all = case.policy.universe == "all" and bool(case.users)
    refused = [
        way.name == "buckets" and of_all and (case.of_rows or case.of_items),
        # rows of users are no sums
        way.name == "batches" and (of_all or "user" in case.by),
        way.name in {"buckets", "shuffled", "batches"} and case.policy.ties == "order",
    ]
    return not any(refused)


def compare(found: Sequence[Row], expected: Sequence[Row], keys: Sequence[str]) -> None:
    """Every row, in the order of the keys with nulls last, and every column, in the order asked."""

    def in_order(row: Row) -> list[Any]:
        return [(row[name] is None, "" if row[name] is None else row[name]) for name in keys]

    expected = sorted(expected, key=in_order)
    assert [*map(in_order, found)] == [*map(in_order, expected)]
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
RANKS = [None, nan, inf, -inf, 1.0, 1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 7.0, 11.0, 1.5, 2.25, 2.75]
SCORES = [None, nan, inf, -inf, -2.0, 0.0, 0.25, 0.25, 0.5, 1.0, 3.0]
WEIGHTS = [None, nan, 0.25, 1.0, 1.0, 2.5, 10.0]
RELEVANCES = [None, None, nan, -1.0, 0.0, 0.0, 0.5, 1.0, 1.0, 2.0, 3.0, 5.0]
COUNTRIES, SHELVES = ["AT", "BE", None], ["x", "y", None]
GENRES, TAGS = ["x", "y", "z", None], "pqrs"
Size = tuple[int, int]
"""How many rows each frame has, and how many users."""
Segments = tuple[str, ...]
SEGMENTS: list[Segments] = [
    *((), ("user",), ("item",), ("country",), ("shelf",)),
    *(("country", "shelf"), ("shelf", "user")),
]
ANY = Policy()


def some_rows(choose: Choose, size: Size, columns: Mapping[str, Sequence[Any]]) -> list[Any]:
    """Rows of users and items in which about one id in twenty is null."""
    n_rows, n_users = size
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
    ids = [one for one in dict.fromkeys(row[key] for row in rows) if one is not None]
    known = [one for one in ids if choose([True, True, True, False])]
    return [{key: one, column: choose(values)} for one in [*known, "zz"]]


def judged_case(
    choose: Choose, size: Size, order="rank", policy: Policy = ANY, by: Segments = (), **how: Any
) -> Case:
    """A judged frame with its segments as columns of its own or of side frames."""
    del how  # its truth are its lists
    columns = {order: RANKS if order == "rank" else SCORES, "relevance": RELEVANCES}
    columns |= models_of(policy, order)
    rows = ranked_by_models(some_rows(choose, size, columns))
    sides: dict[str, Any] = {}
    of_ids = {"country": ("user", "users", COUNTRIES), "shelf": ("item", "items", SHELVES)}
    for column, (key, side, values) in of_ids.items():
        if column in by:
            table = described(choose, column, values, key, rows)
            if choose([True, False]):
                sides[side] = table
            else:  # a property of the row that says the same of each pair
                known = {one[key]: one[column] for one in table}
                rows = [row | {column: known.get(row[key])} for row in rows]
    if policy.universe == "all" and "users" not in sides and "country" not in by:
        sides["users"] = [{"user": user} for user in ("u000", "zz", None)]
    return weighed(choose, unpooled(Case(rows, by=by, policy=policy, **sides)))


def two_frames(
    choose: Choose, size: Size, order="rank", policy: Policy = ANY, by: Segments = (), **how: Any
) -> Case:
    """Recommendations and truth; segments on one of the frames (users'), on both (rows') or on side frames."""
    ordered = {order: RANKS if order == "rank" else SCORES}
    recs = some_rows(choose, size, ordered | models_of(policy, order))
    recs = ranked_by_models(recs)
    graded = choose([True, True, False])
    truth = some_rows(choose, size, {"relevance": RELEVANCES} if graded else {})
    if not graded and policy.min_relevance != "any":  # a level needs a relevance
        policy = replace(policy, min_relevance=None)
    case = Case(recs, truth, by=by, policy=policy)
    case = with_countries(choose, case, **how) if "country" in by else case
    case = with_shelves(choose, case) if "shelf" in by else case
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


def with_countries(choose: Choose, case: Case, *, cuts_truth: bool = True) -> Case:
    """A property of the user, on the side frame or on one of the two frames."""
    table = described(choose, "country", COUNTRIES, "user", [*case.recs, *case.truth])
    values = {one["user"]: one["country"] for one in table}
    # a truth that is filtered says nothing of the users of lists
    cuts_truth = cuts_truth and case.policy.universe not in {"recs", "all"}
    where = choose(["users", "recs", *["truth"] * cuts_truth])
    if where == "users":
        return replace(case, users=table)
    # null is not a value of a user: a row without it says nothing
    other = {"recs": None, "truth": "BE"}[where]
    rows = getattr(case, where)
    own = [row | {"country": choose([values.get(row["user"]), other])} for row in rows]
    return replace(case, **{where: own})


def with_shelves(choose: Choose, case: Case) -> Case:
    """A property of the item, on the side frame or on the rows of both frames."""
    table = described(choose, "shelf", SHELVES, "item", [*case.recs, *case.truth])
    if choose([True, False]):
        return replace(case, items=table)
    values = {one["item"]: one["shelf"] for one in table}

    def shelved(rows: Rows) -> Rows:
        return [row | {"shelf": values.get(row["item"])} for row in rows]

    return replace(case, recs=shelved(case.recs), truth=shelved(case.truth))


CASES = {"judged": judged_case, "two": two_frames}
ITEMS = "ABCDEFGHIJ"
NOBODY = {
    "recs": {"user": "zz", "item": "A", "rank": None},
    "train": {"user": "zz", "item": "zz"},
    "truth": {"user": "zz", "item": "zz", "relevance": 1.0},
}
"""Frames that have no row of a user who counts."""


def catalogue(choose: Choose) -> list[dict[str, Any]]:
    """Items with features of every kind, some without; item J is not among them, and nobody was given item K."""
    tags = [None, [], [choose(TAGS)], [choose(TAGS), choose(TAGS), None], list(TAGS)]
    vectors = [[choose([-1.0, 0.5, 2.0]) for _ in range(3)] for _ in range(4)]
    vectors = [None, [0.0, 0.0, 0.0], *vectors]
    return [
        {
            "item": item,
            "genre": choose(GENRES),
            "tags": choose(tags),
            "vector": choose(vectors),
            "cost": choose([None, -3, 0, 4]),
            "price": choose([None, nan, inf, 0.0, 2.5, 2.5, 10.0]),
        }
        for item in [*ITEMS[:-1], "K"]
    ]


def with_sides(choose: Choose, case: Case, size: Size) -> Case:
    """Add train, items with features and a reference, none of which has all that the others have."""
    recs = [*case.recs, {**case.recs[0], "user": None, "item": "nobody's"}]
    train = [*some_rows(choose, size, {}), {"user": None, "item": "nobody's in train"}]
    features = {row["item"]: row for row in catalogue(choose)}
    if case.items:
        shelves = {row["item"]: row["shelf"] for row in case.items}
        none = dict.fromkeys(features["A"])
        items = [
            {**none, **features.get(item, {}), "item": item, "shelf": shelves.get(item)}
            for item in features | shelves
        ]
    else:
        items = [*features.values()]
    there = {row.get("model") for row in case.recs if None not in {row["user"], row["item"]}}
    reference = apart(some_rows(choose, size, {"rank": [*RANKS[4:], None, inf]}))
    named = "m1" in there and choose([True, False])
    sides = {"items": items, "train": train, "reference": "m1" if named else reference}
    return replace(case, recs=ranked_by_models(recs), **sides)


def agreeing(choose: Choose, case: Case) -> Case:
    """Rows of a pair that agree: the accuracy metrics take a hit's rank from the relevant ones, and a list its best."""
    relevances = {(row["user"], row["item"]): choose(RELEVANCES) for row in case.recs}
    recs = [{**row, "relevance": relevances[row["user"], row["item"]]} for row in case.recs]
    return replace(case, recs=recs)


def with_propensity(choose: Choose, case: Case, *, is_given: bool) -> Case:
    """Lists of distinct ranks, as the accuracy metrics take repeated ones apart; a propensity for each pair of the truth."""
    seen: set[Any] = set()
    recs = []
    for row in case.recs:
        of_list = (row.get("model"), row["user"])
        keys = {(*of_list, "item", row["item"]), (*of_list, "rank", row["rank"])}
        if seen.isdisjoint(keys):
            whole = row["rank"] is not None and row["rank"] % 1 == 0
            recs.append(row if whole else {**row, "rank": None})
            seen |= keys
    truth = [*{(row["user"], row["item"]): row for row in case.truth or ()}.values()]
    if is_given:
        truth = [{**row, "propensity": choose([0.05, 0.2, 0.5, 1.0])} for row in truth]
    return replace(case, recs=recs, truth=truth, propensity=is_given)


def without(case: Case, side: str) -> Case:
    """Take a frame away, or leave it a row of nobody who counts."""
    if side == "items":
        return replace(case, items=None)
    if side == "features":
        kept = ("item", *(["shelf"] if "shelf" in case.items[0] else []))
        return replace(case, items=[{name: row[name] for name in kept} for row in case.items])
    if side in NOBODY:
        columns = getattr(case, side)[0]
        others = {"model": "m1", "propensity": 0.5, "score": None}
        row = {name: {**others, **NOBODY[side]}.get(name) for name in columns}
        return replace(case, **{side: [row]})
    return case


def seeded(name: str) -> random.Random:
    return random.Random(f"recframe {name}")  # noqa: S311  no secret


exploring = settings(
    examples(90), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def with_segments_of_rows(choose: Choose, case: Case) -> Case:
    """A property of the row that says something else of each row of a pair."""
    segments = {"shelf": SHELVES, "country": COUNTRIES}

    def rows(of: Rows) -> Rows:
        return [row | {name: choose(values) for name, values in segments.items()} for row in of]  # type: ignore[operator]

    return unpooled(replace(case, recs=rows(case.recs), truth=case.truth and rows(case.truth)))


INTEGERS = {"user": pl.Int32, "item": pl.Int64, "rank": pl.UInt8, "relevance": pl.Int8}
"""Dtypes of a case with whole numbers."""
OF_NOBODY = {"K": 97, "nobody's": 98, "nobody's in train": 99, "zz": 100}


def with_integers(case: Case) -> Case:
    """The case with whole numbers, negative ids among them, where it had text and fractions."""

    def number(name: str, value: Any) -> Any:
        if name not in INTEGERS or value is None:
            return value
        if name == "user":
            return int(value[1:]) - 7 if value != "zz" else 100
        if name == "item":
            return OF_NOBODY.get(value) or "DCBAJIHGFE".index(value) - 4
        return math.ceil(value) if math.isfinite(value) else None

    def rows(of: Any) -> Any:
        if not of or isinstance(of, str):
            return of
        return [{name: number(name, value) for name, value in row.items()} for row in of]

    names = ("recs", "truth", "users", "items", "train", "reference")
    sides = {name: rows(getattr(case, name)) for name in names}
    return replace(case, **sides)
