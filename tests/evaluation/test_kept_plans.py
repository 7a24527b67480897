"""Plans that are kept for frames with the same columns: every call answers as if nothing had been asked before."""

from __future__ import annotations

import gc
import random
import warnings
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from itertools import product
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from frame_sizes import SIZE
from recframe.evaluation import plan
from recframe.frames.hints import InShell, in_words

FRAME = pl.DataFrame(
    {"user": [1, 1, 2, 2], "item": [1, 2, 1, 3], "rank": [1, 2, 1, 2], "relevance": [0, 1, 3, 1]}
)
# one row more, in another order
OTHER = FRAME.reverse().vstack(FRAME[:1] + 2)
COUNTRIES = pl.DataFrame({"user": [1, 2, 3], "country": ["AT", "BE", None]})


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    plan._kept.clear()
    yield
    plan._kept.clear()


def answer(ask: Callable[[], Any]) -> tuple[Any, list[str]]:
    """What a call answers or fails with, and what it warns of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = ask()
        except (rf.RecframeError, pl.exceptions.PolarsError) as error:
            found = f"{type(error).__name__}: {error}"
    return found, [str(one.message) for one in told]


def made_anew(ask: Callable[[], Any]) -> tuple[Any, list[str]]:
    """What it answers where no plan is kept."""
    with mock.patch.object(plan, "_is_of_columns", return_value=False):
        return answer(ask)


def assert_same(found: tuple[Any, list[str]], expected: tuple[Any, list[str]]) -> None:
    assert found[1] == expected[1]
    if isinstance(expected[0], pl.DataFrame):
        assert_frame_equal(found[0], expected[0], rel_tol=1e-12, abs_tol=1e-12)
    else:
        assert found[0] == expected[0]


def n_kept() -> int:
    return len(plan._kept)


def middling(seed: int) -> dict[str, pl.DataFrame]:
    """Lists of two models, more rows than small frames have, in no order; pairs, ranks and nulls as chance has it."""
    chance = pl.col("row").hash(seed)
    rows = pl.select(row=pl.int_range(SIZE + seed)).select(
        user=chance // 7 % 400,
        item=(chance // 11 % 60).cast(pl.Int16),
        model=pl.lit(pl.Series(["a", "b"])).gather(chance % 2),
        rank=pl.when(chance % 13 > 0).then(chance // 3 % 30 + 1).cast(pl.Int64),
        relevance=pl.when(chance % 5 > 0).then(chance // 17 % 4 / 2),
        side=chance % 3,
    )
    users = rows.select("user").unique().with_columns(segment=pl.col("user") % 4)
    return {"rows": rows, "users": users}


OF_MIDDLING: list[dict[str, Any]] = [
    {"model": "model", "by": ["side"], "universe": "both"},
    {"by": ["segment"], "no_relevant": "null"},
    {"truth": True, "by": ["segment"]},
    {"relevant_from": "list", "min_relevance": 1.5},
]


@pytest.mark.parametrize("options", OF_MIDDLING, ids=str)
def test_some_thousand_rows_have_a_kept_plan_too_and_the_answers_of_frames_that_are_asked(options):
    metrics = ["ndcg@10", "ndcg", "map@3", "mrr", "recall@10", "err@5", "precision@10"]
    by = options.get("by")
    policies = {name: one for name, one in options.items() if name not in {"by", "truth"}}

    def ask(seed: int) -> pl.DataFrame:
        rows, users = middling(seed).values()
        if "truth" in options:
            truth = rows.select("user", "item", "relevance")
            return rows.drop("relevance").rec(truth, users=users).evaluate(*metrics, by=by)
        return rows.rec(users=users, **policies).evaluate(*metrics, by=by)

    asked = [ask(seed) for seed in (1, 2)]
    assert not n_kept()
    with mock.patch.object(plan, "MIDDLING", 8 * SIZE):
        kept = [ask(seed) for seed in (1, 2)]
    assert n_kept() == 1

    for found, expected in zip(kept, asked, strict=True):
        assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-12)


OPTIONS: list[dict[str, Any]] = [
    {},
    *({"universe": one} for one in ("truth", "recs", "both", "all")),
    *({"no_relevant": one} for one in ("skip", "null")),
    *({"min_relevance": one} for one in (2, 2.0, 3, Decimal(2), Decimal(3), "any")),
    {"min_relevance": 2, "min_relevance_for": "binary"},
    {"relevant_from": "list"},
    *({"score": "rank", "ties": one} for one in ("item", "expected", "last", "pessimistic")),
    {"decimals": 1},
    *({"profile": one} for one in ("trec_eval", "ranx", "jurity")),
    {"profile": "jurity", "universe": "truth"},
    {"users": COUNTRIES},
    {"users": COUNTRIES, "universe": "all"},
    {"truth": OTHER.drop("rank")},
    {"truth": rf.frame(OTHER.drop("rank").rename({"user": "who"}), user="who")},
    {"model": "item"},
    {"rank": "user", "user": "rank"},
    {"score": "rank"},
    {"strict": True},
]


def test_what_is_bound_or_asked_never_meets_the_plan_of_something_else():
    asked = {
        "ndcg": lambda rec: rec.evaluate("ndcg", "recall@1", "precision@2"),
        "beta": lambda rec: rec.evaluate("f_score(beta=2)@1"),
        "another beta": lambda rec: rec.evaluate("f_score(beta=2.5)@1"),
        "one": lambda rec: rec.evaluate("ndcg@1"),
        "support": lambda rec: rec.evaluate("ndcg@1", support=True),
        "tidy": lambda rec: rec.evaluate("ndcg@1", tidy=True),
        "by": lambda rec: rec.evaluate("ndcg@1", by="user"),
        "made": lambda rec: rec.evaluate("ndcg@1", by=pl.col("user") % 2),
        "made otherwise": lambda rec: rec.evaluate("ndcg@1", by=pl.col("user") // 2),
        "profile": lambda rec: rec(profile="ranx").evaluate("ndcg@1", "precision@5"),
        "country": lambda rec: rec.evaluate("ndcg@1", by="country"),
        "k": lambda rec: rec.ndcg(k=[1, 2]),
    }
    calls = [
        lambda options=options, ask=ask, frame=frame: ask(frame.rec(**options))
        for options in OPTIONS
        for name, ask in asked.items()
        for frame in (FRAME, OTHER)
        if name in {"ndcg", "country"} or options in ({}, {"users": COUNTRIES})
    ]
    expected = [made_anew(one) for one in calls]
    random.Random(0).shuffle(order := list(range(len(calls))))  # noqa: S311  no secret

    for place in order:
        assert_same(answer(calls[place]), expected[place])


def test_results_and_errors_of_a_kept_plan_have_the_names_of_their_own_call():
    for name in ("system", "variant", "system"):
        found = FRAME.with_columns(pl.lit("x").alias(name)).rec(model=name).evaluate("ndcg@2")
        assert found.columns == [name, "n_users", "ndcg@2"]
    for name in ("country", "city", "country"):
        values = pl.Series(name, ["x", "y", "x", "x"])
        halved = FRAME.drop("relevance").with_columns(values).rec(truth=FRAME.drop("rank"))
        with pytest.raises(rf.DataError, match=f"by='{name}': a user has two values"):
            halved.ndcg(k=2, by=name)
        twice = rf.frame(pl.DataFrame({name: [1, 1]}), user=name)
        with pytest.raises(rf.DataError, match=f"unique\\('{name}'\\)"):
            FRAME.rec(users=twice).ndcg(k=2)


def test_errors_of_a_kept_plan_are_in_the_words_of_their_own_surface():
    below = FRAME.with_columns(pl.col("rank") - 1)
    for _ in range(2):
        with pytest.raises(rf.DataError, match="pandas_frame"):
            below.rec.ndcg(k=2)
        with in_words(InShell({})), pytest.raises(rf.DataError, match="in the file"):
            below.rec.ndcg(k=2)
        assert FRAME.rec.ndcg(k=2) > 0


UNCERTAIN: list[Callable[[Any], pl.DataFrame]] = [
    lambda rec: rec.summarize("ndcg@3", "gauc", "personalization@3"),
    lambda rec: rec.summarize("ndcg@3", level=0.9),
    lambda rec: rec.summarize("ndcg@3", by="segment"),
    lambda rec: rec.summarize("ndcg@3", cluster="segment"),
    lambda rec: rec.compare("ndcg@3", "gauc", "personalization@3"),
    lambda rec: rec.compare("ndcg@3", baseline="a", margin=0.1, by="segment"),
    lambda rec: rec.compare("ndcg@3", baseline="b", cluster="segment"),
    lambda rec: rec.require("ndcg@3 >= 0.1", "gauc <= 0.6", "personalization@3 >= 0", raises=False),
    lambda rec: rec.require("ndcg@3 >= 0.2", by="segment", level=0.9, raises=False),
    lambda rec: rec.require("ndcg@3 >= 0.9 * a", "gauc >= a", cluster="segment", raises=False),
    lambda rec: rec.gaps("ndcg@3", by="segment", baseline="a"),
    lambda rec: rec.slices("ndcg@3", by="segment"),
    lambda rec: rec.power("ndcg@3", baseline="a"),
]


@pytest.mark.slow
def test_summaries_and_comparisons_of_other_frames_make_no_plan_and_have_the_same_bits():
    recs = []
    for seed in (1, 2):
        rows, users = middling(seed).values()
        rows = rows.select("user", "item", "model", "rank", "relevance").head(SIZE // 4)
        recs.append(rows.rec(users=users, model="model"))
    calls = [partial(ask, rec) for rec in recs for ask in UNCERTAIN]
    expected = [made_anew(one) for one in calls]
    random.Random(0).shuffle(order := list(range(len(UNCERTAIN))))  # noqa: S311  no secret
    for place in order:
        answer(calls[place])
    # the two gates of numbers alone have the plans of the summaries of their metrics
    assert n_kept() == len(UNCERTAIN) - 2

    made = AssertionError("a plan is made")
    with (
        mock.patch("recframe.evaluation.evaluation.evaluate", side_effect=made),
        mock.patch("recframe.statistics.sums.contributions", side_effect=made),
    ):
        found = [answer(one) for one in calls]

    for (result, told), (wanted, warned) in zip(found, expected, strict=True):
        assert_frame_equal(result, wanted, check_exact=True)
        assert told == warned


def test_no_frame_outlives_its_call():
    def ask() -> weakref.ref[Any]:
        numbers = np.arange(1, 101)
        buffers = [None, pa.py_buffer(numbers)]
        column = pl.from_arrow(pa.Array.from_buffers(pa.int64(), 100, buffers))
        recs = pl.DataFrame({"user": [1] * 100, "item": column, "rank": column})
        truth = pl.DataFrame({"user": [1] * 50, "item": column[50:]})
        # of the items 51 to 100 those up to 60 stand among the first 60
        assert recs.rec(truth=truth).recall(k=60) == 0.2
        with pytest.raises(rf.DataError):
            recs.with_columns(rank=column - 1).rec(truth=truth).recall(k=60)
        return weakref.ref(numbers)

    found = ask()
    gc.collect()

    # of ranks that hold, and of others, which are checked
    assert n_kept() == 2
    assert found() is None


def test_threads_that_ask_the_same_of_other_frames_get_their_own_answers():
    frames = [FRAME.with_columns(relevance=pl.Series([1, grade, 0, 0])) for grade in range(2, 6)]
    expected = [frame.rec.ndcg(k=2) for frame in frames]
    assert len(set(expected)) == len(frames)

    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(lambda place: frames[place % 4].rec.ndcg(k=2), range(400))]

    assert found == pytest.approx(expected * 100, rel=1e-12)
    assert all(not one.filled for one, _ in plan._kept.values())


@rf.metric
def of_a_global(at):
    """The number of relevant items, times a number that may change."""
    return at.n_relevant * TIMES


TIMES = 1


def test_plans_that_depend_on_more_than_columns_are_not_kept(monkeypatch):
    assert FRAME.rec.evaluate(of_a_global)["of_a_global"].item() == 1.5
    monkeypatch.setitem(globals(), "TIMES", 2)
    assert FRAME.rec.evaluate(of_a_global)["of_a_global"].item() == 3
    items = pl.DataFrame({"item": [1, 2, 3], "price": [1, 2, 3]})
    FRAME.rec(items=items).evaluate("value(of=price)@2")
    FRAME.rec(strict=True).ndcg(k=2)
    many = pl.Enum([str(number) for number in range(plan.FEW + 1)])
    FRAME.with_columns(pl.col("item").cast(pl.String).cast(many)).rec.ndcg(k=2)
    FRAME.lazy().rec.ndcg(k=2)
    FRAME.rec(truth=FRAME.lazy()).ndcg(k=2)
    pl.concat([FRAME] * 600).rec.ndcg(k=2)
    with in_words(InShell({})):
        FRAME.rec.ndcg(k=2)

    assert n_kept() == 0


NUMBERS = [pl.Int64, pl.UInt8, pl.Int128, pl.Float64, pl.Float32, pl.Decimal(10, 2)]
OTHERS = [
    *(pl.Date, pl.String, pl.Categorical, pl.Enum([*"01234"]), pl.Enum([*"43210"]), pl.Binary),
]


def test_columns_of_another_dtype_have_a_plan_of_their_own():
    def ask(name: str, dtype: Any) -> Any:
        by_way_of = pl.Int32 if dtype == pl.Date else pl.Int64 if dtype in NUMBERS else pl.String
        cast = FRAME.with_columns(pl.col(name).cast(by_way_of).cast(dtype))
        return cast.rec.evaluate("ndcg@2", "auc", by="user")

    for name, dtype in product(("user", "item", "rank", "relevance"), [*NUMBERS, *OTHERS]):
        expected = made_anew(partial(ask, name, dtype))
        for _ in range(2):
            assert_same(answer(partial(ask, name, dtype)), expected)
