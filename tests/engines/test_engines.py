"""Calls in buckets of users: of this process, of an engine in it, of Spark, of Dask on two workers."""

from __future__ import annotations

import re
import warnings
from datetime import date
from functools import partial

import polars as pl
import pytest

import recframe as rf
from asked_twice import COLLECTED, LOCAL, asked_twice, assert_same, eager
from engines_here import OWN, engines
from frame_kinds import slow_after_the_first
from lanes import crossed, thorough
from many_frames import MANY
from parted_frames import ALL_SIDES, METRICS, every
from spark_session import in_a_bucketed_table

pytestmark = OWN


IN_PROCESS = pytest.param(MANY, id="in process")


@pytest.fixture(params=[IN_PROCESS, *engines()])
def engine(request):
    return request.param


@pytest.fixture(params=[pytest.param(LOCAL, id="local"), IN_PROCESS, *engines()])
def asked(request):
    return partial(asked_twice, request.param)


def is_quick(asked) -> bool:
    """Whether calls are made by no engine of others."""
    return asked.args[0] in {LOCAL, MANY}


@pytest.mark.parametrize(
    ("order", "model", "by"),
    [("rank", False, "item"), ("score", True, ["kind", "country"])],
    ids=str,
)
def test_every_metric_has_the_number_of_one_machine(asked, order, model, by):
    recs, truth = eager(order, model=model)
    options = {"model": "model", "reference": "b"} if model else {}

    metrics = every(*ALL_SIDES, **options)
    with warnings.catch_warnings():
        # these lists are not of samples, and one machine says so
        warnings.filterwarnings("ignore", "lists_of_other_samples", rf.RecframeWarning)
        one, other = asked("evaluate", recs, truth, options, *metrics, sides=ALL_SIDES, by=by)

    assert_same(one, other, ordered=by != "user")


POLICIES = [
    {"universe": "all", "relevant_from": "list", "no_relevant": "null"},
    {"universe": "both", "no_relevant": "skip"},
    {"min_relevance": 2, "strict": True},
    {"ties": "pessimistic"},
    {"ties": "expected"},
    {"profile": "trec_eval"},
]
THOROUGH = ("optimistic", "item_desc", "last")
POLICIES += [pytest.param({"ties": ties}, marks=pytest.mark.slow) for ties in THOROUGH]
OF_PROFILES = ("recall@3", "ndcg@3", "mrr@2", "hit_rate@1", "precision@2", "map@4", "map", "auc")


def has(rec, metric) -> bool:
    try:
        rec.evaluate(metric)
    except rf.RecframeError:
        return False
    return True


@pytest.mark.parametrize("policies", POLICIES, ids=str)
def test_every_policy_and_profile_holds(asked, policies):
    recs, truth = eager("score" if "ties" in policies else "rank", model=True)
    options = policies | {"model": "model"}
    metrics = [one for one in OF_PROFILES if has(recs.rec(truth=truth, **options), one)]

    one, other = asked(
        "evaluate", recs, truth, options, *metrics, support=True, sides=("users",), by="country"
    )

    assert_same(one, other, ordered=True)


CALLS = [
    ("summarize", {}),
    ("summarize", {"cluster": "country"}),
    ("compare", {"by": "country"}),
    ("compare", {"baseline": "b", "cluster": "country"}),
    ("gaps", {"by": "country", "min_users": 2, "level": 0.9}),
    ("power", {}),
    ("gaps", {"by": "country"}),
    ("slices", {"by": "country", "min_users": 2}),
    ("summarize", {"level": 0.9, "by": "week"}),
    ("summarize", {"cluster": "country", "by": "week"}),
    ("compare", {"baseline": "b", "margin": 0.1, "by": "week"}),
    ("compare", {"by": "week", "cluster": "country"}),
    ("gaps", {"by": "country", "baseline": "a"}),
    ("require", {"cluster": "country"}),
    ("require", {"by": "country"}),
]
OF_USERS = [{}, {"universe": "recs", "relevant_from": "list", "no_relevant": "skip"}]
SETS = ("novelty@3", "diversity(of=genre)@3")


@pytest.mark.parametrize("question", thorough(CALLS, 10), ids=str)
def test_intervals_and_comparisons_come_from_sums(asked, question):
    recs, truth = eager()
    call, arguments = question
    arguments = arguments | ({"raises": False} if call == "require" else {})
    metrics = ["ndcg@3 >= 0.2", "recall@3 >= 0.9 * a"] if call == "require" else METRICS[:4]
    lists = SETS if call in {"summarize", "compare"} and is_quick(asked) else ()

    options = {"model": "model", **OF_USERS[CALLS.index(question) % 2]}
    one, other = asked(call, recs, truth, options, *metrics, *lists, sides=ALL_SIDES, **arguments)
    assert_same(one, other, ordered=True)


JUDGED = [{}, {"universe": "all"}, {"universe": "recs", "model": "model"}]


@pytest.mark.parametrize(
    ("order", "options"),
    [("rank", {"universe": "all"}), *crossed(["score", "rank"], JUDGED)[::2]],
    ids=str,
)
def test_a_judged_frame_is_made_and_read(asked, order, options):
    recs, truth = eager(order, model="model" in options)

    one, other = asked("judge", recs.drop("week"), truth.drop("week"), options)
    assert_same(one, other, ordered=False)
    judged = one.filter(pl.col("model") == "a").drop("model") if "model" in options else one
    one, other = asked("evaluate", judged, None, {}, *METRICS)
    assert_same(one, other, ordered=True)


IDS = {
    "text": lambda n: pl.format("ü {} \u00e9", n),
    "narrow": lambda n: n.cast(pl.Int16),
    "large": lambda n: n.cast(pl.Int64) + 2**62,
    "unsigned": lambda n: n.cast(pl.UInt32),
    "decimal": lambda n: n.cast(pl.Decimal(12, 3)),
    "time": lambda n: pl.datetime(2026, 1, 1) + pl.duration(seconds=n),
    "instant": lambda n: pl.datetime(2026, 1, 1, time_zone="UTC") + pl.duration(seconds=n),
    "day": lambda n: pl.lit(date(2026, 1, 1)) + pl.duration(days=n),
    "bytes": lambda n: pl.format("id {}", n).cast(pl.Binary),
}


@pytest.mark.parametrize(("kind", "of"), IDS.items(), ids=IDS)
def test_ids_of_any_type_compare_as_on_one_machine(asked, kind, of):
    if (asked.args[0].name, kind) == ("spark", "unsigned"):
        pytest.skip("Spark has no unsigned numbers")
    recs, truth = eager("score", model=False)
    ids = [of(pl.col(name)).alias(name) for name in ("user", "item")]
    recs, truth = recs.with_columns(ids), truth.with_columns(ids)
    users = COLLECTED["users"].with_columns(ids[0])
    if kind == "narrow":  # whole numbers of any width match
        truth = truth.with_columns(pl.col("user").cast(pl.Int64))

    one, other = asked("evaluate", recs, truth, {}, *METRICS, sides={"users": users}, by="country")
    assert_same(one, other, ordered=True)
    one, other = asked("evaluate", recs, truth, {}, "ndcg@3", by="user")
    assert_same(one, other.cast(dict(one.schema)), ordered=False)


def test_a_column_that_is_a_pattern_to_polars_is_read_from_a_frame_of_this_process(engine):
    recs, truth = eager(model=False)
    users = COLLECTED["users"].select("user", pl.col("country").alias("^.*$"), n=1)

    found = rf.rec(engine(recs), truth=engine(truth), users=users).evaluate("mrr", by="^.*$")

    expected = recs.rec(truth=truth, users=users).evaluate("mrr", by="^.*$")
    assert_same(expected, engine.read(found), ordered=True)


def test_nulls_and_users_of_one_side_count_as_on_one_machine(asked):
    nan, names = float("nan"), ["user", "item", "rank", "relevance"]
    rows = [("a", "x", 1.0), ("a", None, 2.0), (None, "x", 1.0), ("b", "y", None), ("", "x", nan)]
    recs = pl.DataFrame([*rows, ("c", "z", 1.0)], names[:3], orient="row")
    rows = [("a", "x", 1.0), ("b", "y", nan), ("d", "x", 2.0), (None, "x", 1.0), ("", "x", None)]
    truth = pl.DataFrame(rows, [*names[:2], names[3]], orient="row")

    for universe in ("truth", "recs", "both", "all"):
        one, other = asked("evaluate", recs, truth, {"universe": universe}, *METRICS, "list_length")
        assert_same(one, other, ordered=True)


@pytest.mark.parametrize("empty", slow_after_the_first(["both", "ids", "recs", "truth"]))
@pytest.mark.parametrize("by", [None, "user"])
def test_nothing_is_what_nothing_is_on_one_machine(asked, empty, by):
    recs, truth = eager(model=False)
    if empty == "ids":
        recs, truth = (one.with_columns(user=pl.lit(None, pl.Int64)) for one in (recs, truth))
    recs = recs.clear() if empty in {"recs", "both"} else recs
    truth = truth.clear() if empty in {"truth", "both"} else truth
    metrics = METRICS if by else [*METRICS, "coverage@3"]

    with warnings.catch_warnings():
        # these lists are not of samples, or have no row, and one machine says so
        warnings.filterwarnings("ignore", "lists_of_other_samples|no_lists", rf.RecframeWarning)
        one, other = asked("evaluate", recs, truth, {}, *metrics, sides=ALL_SIDES, by=by)

    assert_same(one, other, ordered=by is None)


def only(frame, users):
    return frame.filter(pl.col("user").is_in(users.implode()))


USERS = eager(model=False)[1]["user"].unique().sort()
SCENES = {
    "whole": lambda recs, truth: (recs, truth),
    "two users in the truth": lambda recs, truth: (recs, only(truth, USERS[:2])),
    "one list": lambda recs, truth: (only(recs, USERS[:1]), truth),
    "users of one side": lambda recs, truth: (only(recs, USERS[::2]), only(truth, USERS[1::2])),
}
LAYOUTS = {
    "spark": {
        "hash": lambda one: one.repartition(4, "user"),
        "range": lambda one: one.repartitionByRange(4, "user"),
        "bucketed": in_a_bucketed_table,
        "mostly empty": lambda one: one.repartition(12),
        "by week": lambda one: one.repartition(5, "week"),
    },
    "dask": {
        "hash": lambda one: one.shuffle("user", npartitions=4),
        "range": lambda one: one.set_index("user", drop=False, npartitions=4),
        "mostly empty": lambda one: one.repartition(npartitions=12),
        "by week": lambda one: one.shuffle("week", npartitions=5),
    },
}


@pytest.mark.parametrize(
    ("engine", "lies"),
    [
        pytest.param(*one.values, lies, marks=one.marks, id=f"{one.id} {lies}")
        for one in engines()
        for lies in LAYOUTS[one.id]
    ],
)
@pytest.mark.parametrize("scene", SCENES)
def test_rows_that_lie_in_any_way_have_the_numbers_of_one_machine(engine, lies, scene):
    recs, truth = SCENES[scene](*eager(model=False))
    laid = LAYOUTS[engine.name][lies]
    rec = rf.rec(laid(engine(recs)), truth=laid(engine(truth)))
    with warnings.catch_warnings():
        # of users without a list, as one machine says
        warnings.simplefilter("ignore", rf.RecframeWarning)
        expected = recs.rec(truth=truth).evaluate(*METRICS)
        of_users = recs.rec(truth=truth).evaluate("ndcg@3", by="user")

    assert_same(expected, engine.read(rec.evaluate(*METRICS)), ordered=True)
    assert_same(of_users, engine.read(rec.evaluate("ndcg@3", by="user")), ordered=False)


def test_nobody_who_counts_has_no_gaps(asked):
    recs, truth = eager(model=False)

    one, other = asked("gaps", recs, truth.clear(), {}, "ndcg@3", sides=("users",), by="country")

    assert other.is_empty()
    assert_same(one, other, ordered=True)


GROUPED = {"spark": "groupBy", "dask": "groupby"}
FRAMES = {
    "spark": "pyspark.sql.DataFrame",
    "dask": "dask.dataframe.DataFrame",
}


@pytest.mark.parametrize("engine", engines())
def test_what_is_no_frame_is_told_of_the_frames_of_the_engine(engine):
    recs, truth = eager(model=False)
    lists = engine(recs)
    given = re.escape(f", a {FRAMES[engine.name]}")

    for side in ("truth", "users", "items"):
        sides = {"truth": truth, side: 3}
        with pytest.raises(rf.RecframeError, match=rf"the frame {side}= is an int; .*{given}"):
            rf.rec(lists, **sides).evaluate("coverage")
    with pytest.raises(rf.RecframeError, match=rf"{given}.*: the one that was grouped"):
        rf.rec(getattr(lists, GROUPED[engine.name])("user"))


def test_ranks_behind_the_largest_cut_off_change_nothing(asked):
    recs, truth = eager(model=False)

    one, other = asked("evaluate", recs.drop("week"), truth.drop("week"), {}, "ndcg@2", "recall@3")

    assert_same(one, other, ordered=True)


def test_frames_of_several_models_are_one(engine):
    recs, truth = eager()
    frames = {name: recs.filter(pl.col("model") == name).drop("model") for name in "ab"}
    frames["b"] = frames["b"].drop("week")

    held = {name: engine(one) for name, one in frames.items()}
    for call in ("evaluate", "compare"):
        expected = getattr(rf.rec(frames, truth), call)("ndcg@3")
        found = getattr(rf.rec(held, engine(truth)), call)("ndcg@3")
        assert_same(expected, engine.read(found), ordered=True)


def test_side_frames_of_this_process_travel(engine):
    recs, truth = eager(model=False)
    sides = {name: COLLECTED[name] for name in ALL_SIDES}
    metrics = every(*ALL_SIDES)

    expected = recs.rec(truth=truth, **sides).evaluate(*metrics, by="country")
    sides["users"] = sides["users"].to_pandas()
    found = rf.rec(engine(recs), truth=truth.lazy(), **sides).evaluate(*metrics, by="country")

    assert_same(expected, engine.read(found), ordered=True)
    if engine is MANY:  # which a frame of this process does not read
        return
    said = rf"a side frame is a frame of {engine.name.title()}"
    with pytest.raises(rf.RecframeError, match=said):
        recs.rec(truth=engine(truth)).evaluate("mrr")


def test_findings_are_counted(asked):
    recs, truth = eager(model=False)
    recs = pl.concat([recs, recs.head(7)])
    columns = ["check", "severity", "frame", "rows", "users"]

    one, other = asked("audit", recs, truth, {}, sides=("users",), k=4)

    there = set(other["check"])
    assert "duplicate_items" in there
    one = one.filter(pl.col("check").is_in(there))
    assert_same(one.select(columns), other.select(columns), ordered=True)


@pytest.mark.parametrize("bound", [{"model": "model"}, {}], ids=["models", "no models"])
def test_trainings_have_the_numbers_of_one_machine(asked, bound):
    recs, truth = eager()
    recs = recs.with_columns(seed=pl.col("item") % 2).filter(pl.col("user") != 7)
    recs = recs if bound else recs.filter(pl.col("model") == "a").drop("model")
    options = {**bound, "training": "seed", "universe": "all"}

    for call in ["evaluate", "compare"] if bound else ["evaluate"]:
        one, other = asked(call, recs, truth, options, "ndcg@3", "novelty@3", sides=ALL_SIDES)
        assert_same(one, other, ordered=True)


@pytest.mark.parametrize("by", ["week", ["genre", "week"], "genre"], ids=str)
def test_all_users_count_in_the_segments_of_any_user(asked, by):
    recs, truth = eager()
    options = {"model": "model", "universe": "all"}

    one, other = asked("evaluate", recs, truth, options, "ndcg@3", by=by, sides=ALL_SIDES)

    assert_same(one, other, ordered=True)


def test_an_expression_that_reads_other_rows_than_its_own_is_refused(engine):
    recs, truth = eager(model=False)
    users = COLLECTED["users"].with_columns(age=pl.col("user"))
    rec = rf.rec(engine(recs), truth=engine(truth), users=users, items=COLLECTED["items"])

    said = "of which a bucket of users has some alone; first"
    for made in (pl.col("age").rank(), pl.col("age").mean().over("country")):
        with pytest.raises(rf.RecframeError, match=said):
            rec.evaluate("ndcg@3", by=made)
    of_items = pl.col("price").rank("dense").cast(pl.Int64)  # each bucket has all items
    home = recs.rec(truth=truth, items=COLLECTED["items"]).evaluate("ndcg@3", by=of_items)
    assert_same(home, engine.read(rec.evaluate("ndcg@3", by=of_items)), ordered=True)


def test_a_metric_of_the_users_own_is_sent_to_the_workers(asked):
    if asked.args[0] is MANY:
        pytest.skip("its functions are pickled by name")

    def halved_hits(at):
        return at.n_hits / 2

    metric = rf.metric(halved_hits)
    recs, truth = eager(model=False)

    one, other = asked("evaluate", recs, truth, {}, metric @ 3)

    assert_same(one, other, ordered=True)


def test_what_only_the_data_shows_fails_with_its_words(engine):
    recs, truth = eager(model=False)
    rec = rf.rec(engine(recs.with_columns(pl.col("rank") - 1)), truth=engine(truth))

    with pytest.raises(Exception, match="a rank is below 1"):
        engine.read(rec.evaluate("recall@2"))


def test_an_earlier_result_is_one_of_the_engine_or_of_a_file(engine, tmp_path):
    recs, truth = eager(model=False)
    rec, held = recs.rec(truth=truth), rf.rec(engine(recs), truth=engine(truth))
    earlier = rec.summarize("ndcg@3")
    earlier.write_parquet(tmp_path / "earlier.parquet")
    asked = partial(held.require, "ndcg@3 >= 0.9 * last", raises=False)

    expected = rec.require("ndcg@3 >= 0.9 * last", last=earlier, raises=False)
    for last in (engine(earlier), pl.scan_parquet(tmp_path / "earlier.parquet")):
        assert_same(expected, engine.read(asked(last=last)), ordered=True)
    with pytest.raises(rf.RecframeError, match="it comes from summarize"):
        asked(last=rec.evaluate("ndcg@3", by="user"))


@pytest.mark.slow
def test_a_user_with_a_million_rows_is_one_user(asked):
    n = 1_000_000
    many = pl.DataFrame({"user": [0], "item": [range(n)]}).explode("item")
    few = pl.DataFrame({"user": range(1, 2001), "item": range(2000)})
    recs = pl.concat([many, few]).with_columns(rank=pl.col("item") + 1)
    truth = recs.filter(pl.col("item") % 7 == 0).select("user", "item")

    with warnings.catch_warnings():
        # every seventh item of the lists is relevant, and no other
        warnings.filterwarnings("ignore", "no_relevant_beyond_lists", rf.RecframeWarning)
        one, other = asked("evaluate", recs, truth, {}, "ndcg", "recall@10", "auc")

    assert_same(one, other, ordered=True)
