"""Calls on frames of this process in buckets: each gives what it gives in one plan, in the same kind of frame."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from asked_twice import COLLECTED, eager
from buckets_of_users import buckets_of_users
from parted_frames import ALL_SIDES
from recframe.api.engine_call import REFUSED

RECS, TRUTH = eager()
BOUND = {"memory": "1GB"}
SIDES = {name: COLLECTED[name] for name in ALL_SIDES}


def in_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """A frame with categories and whole numbers that may be missing."""
    made = frame.to_pandas().astype({"user": "Int64"})
    return made.astype({"model": "category"}) if "model" in made.columns else made


@pytest.fixture(autouse=True)
def _buckets():
    with buckets_of_users():
        yield


KINDS = {"polars": lambda one: one, "lazy": pl.DataFrame.lazy, "pandas": in_pandas}
ONE_MODEL = {"model": None}


def rec_of(kind: str, **options: Any) -> rf.Rec[Any]:
    make, options = KINDS[kind], {"model": "model", **SIDES, **options}
    recs = RECS if options["model"] else RECS.filter(pl.col("model") == "a").drop("model")
    return rf.rec(make(recs), make(TRUTH), **options)


def answer(call: Any, rec: rf.Rec[Any]) -> tuple[Any, list[str]]:
    """Return what a call gives, a plan collected, and what it warns of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = call(rec)
    if isinstance(found, pl.LazyFrame):
        found = found.collect()
    return found, sorted(str(one.message) for one in told)


def assert_same(found: Any, expected: Any) -> None:
    assert type(found) is type(expected)
    if isinstance(found, pl.DataFrame):
        assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-12)
    elif isinstance(found, pd.DataFrame):
        pd.testing.assert_frame_equal(found, expected, rtol=1e-12)
    else:
        assert found == expected


CALLS = {
    "a metric": lambda rec: rec.ndcg(k=3),
    "a metric by country": lambda rec: rec.group_by("country").ndcg(k=3),
    "evaluate": lambda rec: rec.evaluate("ndcg@3", "coverage@3", "novelty@3", by=["genre", "week"]),
    "tidy": lambda rec: rec.evaluate("ndcg", "gini", k=[2, 3], tidy=True),
    "by user": lambda rec: rec.evaluate("ndcg@3", "novelty@3", by="user"),
    "against all": lambda rec: rec.evaluate(rf.personalization(against="all") @ 3),
    "a truth whose rows all count": lambda rec: rec(
        truth=rf.frame(TRUTH, relevance=False)
    ).evaluate("recall@3"),
    "require": lambda rec: rec.require("ndcg@3 >= 0.01", "coverage@3 >= 0.5"),
    "table": lambda rec: str(rec.table("ndcg@3", by="country")),
    "pareto": lambda rec: rec.pareto("ndcg@3", "coverage@3", by="country"),
    "fingerprint": lambda rec: rec.fingerprint(),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", ["lazy", "pandas"])
def test_calls_give_what_they_give_in_one_plan(kind, call):
    for options in [{}] if call == "pareto" else [{}, ONE_MODEL]:
        rec, ask = rec_of(kind, **options), CALLS[call]
        (found, told), (expected, warned) = answer(ask, rec(**BOUND)), answer(ask, rec)

        if isinstance(found, float) and kind == "lazy":  # which one plan gives as a frame
            expected = expected["ndcg@3"].item()
        assert_same(found, expected)
        assert told == warned


OF_ALL = {
    "ranks of users": lambda rec: rec.evaluate("ndcg@3", by=pl.col("country").rank("dense") > 1),
    "overlaps": lambda rec: rec.evaluate("personalization(similarity=overlap)@3"),
}


@pytest.mark.parametrize("call", OF_ALL)
def test_what_reads_all_users_at_once_says_how_much_memory_holds_them(call):
    rec = rf.rec(RECS.lazy(), TRUTH.lazy(), model="model", **SIDES)

    with pytest.raises(rf.RecframeError, match=r"room for all rows, memory='\d+MB'"):
        OF_ALL[call](rec(**BOUND))


def test_warnings_are_told_once():
    rec = RECS.unique(["user", "rank"]).rec(truth=TRUTH.with_columns(pl.col("item") + 100))
    for ask in (lambda rec: rec.evaluate("ndcg@3"), lambda rec: rec.summarize("ndcg@3")):
        (_, told), (_, warned) = answer(ask, rec(**BOUND)), answer(ask, rec)

        assert len(told) == 1
        assert told == warned


@pytest.mark.parametrize(
    ("name", "role"),
    [("^.*$", "user"), ("literal", "item"), ("len", "rank"), ("bucket", "model"), ("^.*$", "week")],
)
def test_columns_may_have_any_name(name, role):
    recs, truth = (one.rename({role: name}, strict=False) for one in (RECS, TRUTH))
    sides = {one: SIDES[one].rename({role: name}, strict=False) for one in ("train", "items")}
    named = {"model": "model", **sides}
    rec = recs.rec(truth=truth, **named | ({} if role == "week" else {role: name}))
    by = {"user": [name], "week": [name]}.get(role)
    metrics = ["ndcg@3"] if role == "user" else ["ndcg@3", "novelty@3", "diversity(of=genre)@3"]

    found = rec(**BOUND).evaluate(*metrics, by=by)
    assert_same(found, rec.evaluate(*metrics, by=by))
    keys = [pl.nth(place) for place in range(3)]
    assert_frame_equal(rec(**BOUND).judge().sort(keys), rec.judge().sort(keys))


WHOLE = [
    *(pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
]
TEXTS = [pl.String, pl.Categorical, pl.Enum([*"01234567"]), pl.Enum([*"76543210xyz"])]
TIMES = [pl.Date, pl.Datetime("us"), pl.Datetime("us", "UTC"), pl.Datetime("ms"), pl.Boolean]
PAIRS = [*pairwise(WHOLE), *pairwise(TEXTS), (TEXTS[0], TEXTS[-1]), *zip(TIMES, TIMES, strict=True)]


def users_of(dtype: Any, numbers: list[int | None]) -> pl.Series:
    """Return users by their numbers, in a dtype."""
    users = pl.Series("user", numbers, pl.Int32)
    if dtype == pl.Boolean:
        return users > 2
    return users.cast(pl.String if dtype in TEXTS else pl.Date if dtype in TIMES else dtype).cast(
        dtype
    )


def assert_users_match(recs: Any, truth: Any, users: Any, train: Any) -> None:
    rec = rf.rec(recs, truth, users=users, train=train, universe="all")
    asked = {"by": ["country", "user"]}
    expected = rec.evaluate("ndcg", "novelty", **asked)
    with buckets_of_users(5):
        assert_same(rec(**BOUND).evaluate("ndcg", "novelty", **asked), expected)


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=str)
def test_users_of_dtypes_that_match_are_in_one_bucket(one, other):
    numbers = [0, 1, 2, 3, 4, None, 6, 7]
    recs = pl.DataFrame({"item": [1, 2, 3, 1, 2, 3, 1, 2]}).with_columns(rank=1)
    truth = pl.DataFrame({"item": [1, 3, 3, 1, 1, 3, 2, 1]})
    users = pl.DataFrame({"country": [*"FFGGF"]})

    assert_users_match(
        recs.with_columns(users_of(one, numbers)),
        truth.with_columns(users_of(other, numbers)),
        users.with_columns(users_of(other, [0, 1, 2, 3, 4])).unique("user", keep="first"),
        truth.with_columns(users_of(one, numbers[::-1])),
    )


def test_users_are_categories_of_pandas_on_one_side():
    frames = [
        pd.DataFrame({"user": [*"abcab"], "item": [1, 2, 3, 2, 1], "rank": [1, 1, 1, 2, 2]}),
        pd.DataFrame({"user": ["c", "a", None, "b", "z"], "item": [1, 2, 3, 2, 1]}),
        pd.DataFrame({"user": [*"abz"], "country": [*"FGF"]}),
        pd.DataFrame({"user": [*"abca"], "item": [1, 2, 2, 3]}),
    ]
    for place, one in enumerate(frames):
        category = one.astype({"user": "category"})
        assert_users_match(*frames[:place], category, *frames[place + 1 :])


def test_zeros_of_two_signs_are_one_user_and_nan_is_none():
    recs = pl.DataFrame({"user": [0.0, -0.0, float("nan"), 1.5, None], "item": [1, 2, 1, 1, 1]})
    recs = recs.with_columns(rank=pl.Series([1, 2, 1, 1, 1]))
    truth = pl.DataFrame({"user": [-0.0, float("nan"), 1.5, 2.5], "item": [2, 1, 1, 1]})
    users = pl.DataFrame({"user": [0.0, 1.5, 2.5], "country": [*"FGG"]})

    assert_users_match(recs, truth, users, truth.select(-pl.col("user"), "item"))


def test_what_is_no_sum_says_what_to_write():
    rec = rec_of("polars", **BOUND)
    for name in {*REFUSED} - {"plot", "split"}:
        with pytest.raises(rf.RecframeError, match="does not run in buckets: leave memory= out"):
            getattr(rec, name)()
    with pytest.raises(rf.RecframeError, match=r"request evaluate\(\.\.\., by='user'\)"):
        rec.worst("ndcg@3")
