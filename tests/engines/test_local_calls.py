"""Calls on frames of this process in buckets: each gives what it gives in one plan, in the same kind of frame."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from asked_twice import COLLECTED, eager, in_buckets
from parted_frames import ALL_SIDES
from recframe.api.engine_call import REFUSED

RECS, TRUTH = eager()
SIDES = {name: COLLECTED[name] for name in ALL_SIDES}


def in_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """A frame with categories and whole numbers that may be missing."""
    made = frame.to_pandas().astype({"user": "Int64"})
    return made.astype({"model": "category"}) if "model" in made.columns else made


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
    "collect": lambda rec: rec.collect("ndcg@3", "coverage@3", parts=3),
    "summarize": lambda rec: rec.summarize("ndcg@3", "coverage@3", "gini@3", by="country"),
    "require": lambda rec: rec.require("ndcg@3 >= 0.01", "coverage@3 >= 0.5"),
    "no raise": lambda rec: rec.require("ndcg@3 >= 0.99", raises=False, wide=True),
    "explain": lambda rec: rec.explain("precision@4", "ranx", "jurity").frame,
    "table": lambda rec: str(rec.table("ndcg@3", by="country")),
    "slices": lambda rec: rec.slices("ndcg@3", by="country"),
    "gaps": lambda rec: rec.gaps("ndcg@3", by="genre"),
    "fingerprint": lambda rec: rec.fingerprint(),
}
OF_MODELS = {
    "compare": lambda rec: rec.compare("ndcg@3", "coverage@3", "gini@3", by="country"),
    "winner": lambda rec: rec.winner("ndcg@3", baseline="a"),
    "power": lambda rec: rec.power("ndcg@3", "coverage@3"),
    "agreement": lambda rec: rec.agreement("rbo@3", "overlap", by="country"),
    "pareto": lambda rec: rec.pareto("ndcg@3", "coverage@3", by="country"),
    "a share of a model": lambda rec: rec.require("gini@3 <= 1.2 * a", raises=False),
}


@pytest.mark.parametrize("call", [*CALLS, *OF_MODELS])
@pytest.mark.parametrize("kind", KINDS)
def test_calls_give_what_they_give_in_one_plan(kind, call):
    options = [{}] if call in OF_MODELS else [{}, ONE_MODEL]
    for one in options:
        rec, ask = rec_of(kind, **one), (CALLS | OF_MODELS)[call]
        (found, told), (expected, warned) = answer(ask, in_buckets(rec)), answer(ask, rec)

        if isinstance(found, float) and kind == "lazy":  # which one plan gives as a frame
            expected = expected["ndcg@3"].item()
        assert_same(found, expected)
        assert told == warned


SEEDS = {"training": "seed"}
OF_ALL = {
    "an interval over trainings": (SEEDS, lambda rec: rec.summarize("ndcg@3", "coverage@3")),
    "a gate over trainings": (SEEDS, lambda rec: rec.require("ndcg@3 >= 0.01")),
    "power over trainings": (SEEDS, lambda rec: rec.power("ndcg@3")),
    "clusters of a set metric": ({}, lambda rec: rec.summarize("coverage@3", cluster="country")),
    "slices of rows": ({}, lambda rec: rec.slices("ndcg@3", by=["country", "week"])),
    "overlaps": ({}, lambda rec: rec.evaluate("personalization(similarity=overlap)@3")),
    "users' earlier values": (
        {},
        lambda rec: rec.require("ndcg@3 >= 0.9 * last", last=EARLIER, raises=False),
    ),
}
EARLIER = RECS.rec(truth=TRUTH, model="model").evaluate("ndcg@3", by="user")


@pytest.mark.parametrize("call", OF_ALL)
@pytest.mark.parametrize("kind", KINDS)
def test_what_reads_all_users_at_once_runs_in_one_bucket_alone(kind, call):
    (options, ask), make = OF_ALL[call], KINDS[kind]
    recs = RECS.with_columns(seed=pl.col("item") % 2) if options else RECS
    rec = rf.rec(make(recs), make(TRUTH), model="model", **SIDES, **options)

    (found, told), (expected, warned) = answer(ask, rec(memory="1GB")), answer(ask, rec)
    assert_same(found, expected)
    assert told == warned
    with pytest.raises(rf.RecframeError, match=r"all (users|lists) at once|no bucket of users has"):
        ask(in_buckets(rec))


def test_a_gate_that_is_not_met_raises_with_the_words_of_one_plan():
    rec = rec_of("pandas")
    said = []
    for one in (rec, in_buckets(rec)):
        for on in ("interval", "value"):
            with pytest.raises(rf.RequirementError) as error:
                one.require("ndcg@3 >= 0.99", on=on)
            said.append(str(error.value))

    assert said[:2] == said[2:]


def test_a_run_is_tracked_with_the_fingerprint_of_one_plan(tmp_path):
    rec = rec_of("lazy")
    runs = []
    for one in (rec, in_buckets(rec)):
        path = tmp_path / f"{len(runs)}.parquet"
        one.track("ndcg@3", "coverage@3", history=path, as_of="2026-11-28")
        runs.append(rf.history(path).drop("tracked_at"))

    assert_frame_equal(*runs, rel_tol=1e-12)
    with pytest.raises(rf.RecframeError, match="per_user=True keeps the values of all users"):
        in_buckets(rec).track("ndcg@3", history=tmp_path, as_of="2026-11-28", per_user=True)


def test_a_gate_compares_users_with_their_own_means_of_a_history(tmp_path):
    rec = rec_of("lazy", **ONE_MODEL)
    for day in range(1, 9):
        lists = RECS.filter(pl.col("model") == "a").sample(fraction=0.9, seed=day).drop("model")
        once = lists.rec(truth=TRUTH, **SIDES)
        once.track("ndcg@3", history=tmp_path, as_of=f"2026-11-0{day}", per_user=True)

    def gate(one: rf.Rec[Any]) -> Any:
        asked = "ndcg@3 >= 0.5 * trailing"
        return one.require(asked, history=tmp_path, raises=False, wide=True)

    found, _ = answer(gate, rec(memory="1GB"))

    assert "own mean over 8 runs" in found["note"].item()
    assert_same(found, answer(gate, rec)[0])


def test_warnings_are_told_once():
    rec = RECS.rec(truth=TRUTH.with_columns(pl.col("item") + 100))
    for ask in (lambda rec: rec.evaluate("ndcg@3"), lambda rec: rec.summarize("ndcg@3")):
        (_, told), (_, warned) = answer(ask, in_buckets(rec)), answer(ask, rec)

        assert len(told) > 1
        assert told == warned


def test_findings_that_can_be_counted_are_those_of_one_plan():
    rec = rec_of("polars")
    columns = ["check", "severity", "frame", "rows", "users", "treatment", "remedy"]
    found, expected = in_buckets(rec).audit(k=3), rec.audit(k=3)

    assert len(found) > 5
    assert_frame_equal(found.select(columns), expected.select(columns))
    assert str(in_buckets(rec).findings(k=3)).startswith(f"{len(found)} findings")


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_users_are_judged(kind):
    rec = rec_of(kind)
    found, expected = (answer(lambda rec: rec.judge(), one)[0] for one in (in_buckets(rec), rec))

    assert type(found) is type(expected)
    rows = [pl.DataFrame(one).sort("model", "user", "item") for one in (found, expected)]
    assert_frame_equal(*rows, categorical_as_str=True)


NAMES = ["^.*$", "literal", "len", "bucket", "column 0"]


@pytest.mark.parametrize("role", ["user", "item", "rank", "model", "week"])
@pytest.mark.parametrize("name", NAMES)
def test_columns_may_have_any_name(name, role):
    recs, truth = (one.rename({role: name}, strict=False) for one in (RECS, TRUTH))
    sides = {one: SIDES[one].rename({role: name}, strict=False) for one in ("train", "items")}
    named = {"model": "model", **sides}
    rec = recs.rec(truth=truth, **named | ({} if role == "week" else {role: name}))
    by = {"user": [name], "week": [name]}.get(role)
    metrics = ["ndcg@3"] if role == "user" else ["ndcg@3", "novelty@3", "diversity(of=genre)@3"]

    found = in_buckets(rec).evaluate(*metrics, by=by)
    assert_same(found, rec.evaluate(*metrics, by=by))
    keys = [pl.nth(place) for place in range(3)]
    assert_frame_equal(in_buckets(rec).judge().sort(keys), rec.judge().sort(keys))


WHOLE = [
    *(pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
]
TEXTS = [pl.String, pl.Categorical, pl.Enum([*"abcdefgh"]), pl.Enum([*"hgfedcbazyx"])]
TIMES = [pl.Date, pl.Datetime("us"), pl.Datetime("us", "UTC"), pl.Datetime("ms"), pl.Boolean]
PAIRS = [
    *itertools.combinations_with_replacement(WHOLE, 2),
    *itertools.combinations_with_replacement(TEXTS, 2),
    *zip(TIMES, TIMES, strict=True),
]


def users_of(dtype: Any, numbers: list[int | None]) -> pl.Series:
    """Return users by their numbers, in a dtype."""
    if dtype in WHOLE:
        return pl.Series("user", numbers, dtype)
    if dtype == pl.Boolean:
        return pl.Series("user", [None if n is None else n > 2 for n in numbers], dtype)
    if dtype in TEXTS:
        letters = [None if n is None else "abcdefgh"[n] for n in numbers]
        return pl.Series("user", letters, pl.String).cast(dtype)
    return pl.Series("user", numbers, pl.Int32).cast(pl.Date).cast(dtype)


def assert_users_match(recs: Any, truth: Any, users: Any, train: Any, parts: int = 5) -> None:
    rec = rf.rec(recs, truth, users=users, train=train, universe="all")
    expected = rec.evaluate("ndcg", "novelty", by=["country", "user"])
    assert_same(
        in_buckets(rec, parts).evaluate("ndcg", "novelty", by=["country", "user"]), expected
    )


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
    for place in range(4):
        given = [
            one.astype({"user": "category"}) if number == place else one
            for number, one in enumerate(frames)
        ]
        assert_users_match(*given)


def test_zeros_of_two_signs_are_one_user_and_nan_is_none():
    recs = pl.DataFrame({"user": [0.0, -0.0, float("nan"), 1.5, None], "item": [1, 2, 1, 1, 1]})
    recs = recs.with_columns(rank=pl.Series([1, 2, 1, 1, 1]))
    truth = pl.DataFrame({"user": [-0.0, float("nan"), 1.5, 2.5], "item": [2, 1, 1, 1]})
    users = pl.DataFrame({"user": [0.0, 1.5, 2.5], "country": [*"FGG"]})

    assert_users_match(recs, truth, users, truth.select(-pl.col("user"), "item"))


def test_what_is_no_sum_says_what_to_write():
    rec = in_buckets(rec_of("polars"))
    for name in {*REFUSED} - {"plot", "split"}:
        with pytest.raises(rf.RecframeError, match="does not run in buckets: leave memory= out"):
            getattr(rec, name)()
    with pytest.raises(rf.RecframeError, match=r"request evaluate\(\.\.\., by='user'\)"):
        rec.worst("ndcg@3")
