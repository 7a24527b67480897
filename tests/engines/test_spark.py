"""Frames of Spark, on a JVM: one shuffle for the rows, tasks that fail, Spark Connect, and frames however they lie."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import partial

import polars as pl
import pytest

import recframe as rf
from asked_twice import COLLECTED, asked_twice, assert_same, eager
from parted_frames import METRICS

pytest.importorskip("pyspark")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("there is no Java", allow_module_level=True)

from recframe.engines import spark_frames
from spark_session import SPARK, made, plan_of, read, session

pytestmark = [
    pytest.mark.spark,
    # its own, of pandas and of Python that are newer than it knows
    pytest.mark.filterwarnings("default"),
    pytest.mark.filterwarnings("error::recframe.RecframeWarning"),
]
asked = partial(asked_twice, SPARK)


@pytest.fixture
def plans(monkeypatch):
    """The plans of the sums that calls ask of Spark."""
    found = []

    def seen(sums, *_):
        found.append(plan_of(sums))
        return sums

    monkeypatch.setattr(spark_frames, "_in_a_tree", seen)
    return found


def test_rows_travel_once(plans):
    recs, truth = eager(model=False)
    rec = rf.rec(made(recs), truth=made(truth), users=COLLECTED["users"])

    rec.evaluate("ndcg@3", "recall@3", by="country")
    (plan,) = plans
    # rows to buckets, as one for each bucket and task
    assert plan.count("Exchange hashpartitioning(bucket") == plan.count("Exchange") == 1
    assert "week" not in plan.split("Union")[1]

    plan = plan_of(rec.evaluate("ndcg@3", by="user"))
    assert plan.count("Exchange") == 1


def test_ranks_behind_the_largest_cut_off_do_not_travel(tmp_path, plans):
    recs, truth = eager(model=False)
    recs.drop("week").write_parquet(tmp_path / "recs.parquet")
    lists = session().read.parquet(str(tmp_path / "recs.parquet"))
    rec = rf.rec(lists, truth=made(truth))

    rec.evaluate("ndcg@2", "recall@3")
    rec(universe="recs").evaluate("recall@3")
    rec.evaluate("recall")
    assert ["<= 3" in plan for plan in plans] == [True, False, False]


def test_nothing_runs_before_rows_of_users_are_asked_for():
    recs, truth = eager(model=False)
    frames = made(recs), made(truth)
    tracker = session().sparkContext.statusTracker()
    before = tracker.getJobIdsForGroup(None)

    rf.rec(frames[0], truth=frames[1]).evaluate("ndcg@3", by="user")

    assert tracker.getJobIdsForGroup(None) == before


def test_a_task_that_fails_once_changes_nothing(tmp_path):
    flag, driver = tmp_path / "failed", os.getpid()

    def fails_once(at):
        if os.getpid() != driver and not flag.exists():
            flag.touch()
            msg = "a worker is lost"
            raise OSError(msg)
        return at.n_hits.cast(pl.Float64)

    metric = rf.metric(fails_once)
    recs, truth = eager(model=False)

    one, other = asked("evaluate", recs, truth, {}, metric @ 3)

    assert flag.exists()
    assert_same(one, other, ordered=True)


SCRIPT = """
import sys
sys.path[:0] = {path!r}
import spark_session
from asked_twice import asked_twice, assert_same, eager
from frame_kinds import Kind

import recframe as rf
connected = spark_session.session(connect=True)
kind = Kind("connect", lambda one: connected.createDataFrame(one.to_arrow()), spark_session.read)
recs, truth = eager()
for call, metrics, by, ordered in (
    ("evaluate", ("ndcg@3", "coverage@3"), "country", True),
    ("evaluate", ("ndcg@3",), "user", False),
    ("compare", ("ndcg@3",), None, True),
):
    one, other = asked_twice(kind, call, recs, truth, {{"model": "model"}}, *metrics, by=by, sides=("users", "items"))
    assert_same(one, other, ordered=ordered)
assert "connect" in type(connected).__module__
lists = kind(recs)
connected.stop()
try:
    rf.rec(lists, truth=truth, model="model").evaluate("mrr")
except rf.RecframeError as error:
    assert "was stopped; start one" in str(error)
else:
    raise AssertionError("nothing was raised")
"""


def test_spark_connect_has_the_same_numbers():
    pytest.importorskip("grpc")
    script = SCRIPT.format(path=[one for one in sys.path if one.endswith("support")])

    # a process has either of the two
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=300)  # noqa: S603  ours


def test_a_stream_of_spark_is_asked_batch_by_batch():
    _, truth = eager(model=False)
    stream = session().readStream.format("rate").load()
    lists = stream.selectExpr("value AS user", "value AS item", "value + 1 AS rank")
    says = partial(pytest.raises, rf.RecframeError, match=r"no last row; .*\.foreachBatch\(")

    for recs, relevant in ((lists, truth), (made(truth), lists)):
        with says():
            rf.rec(recs, truth=relevant).evaluate("mrr")
    with says():
        rf.rec({"a": lists, "b": lists}, truth=truth).compare("mrr")


def test_a_table_and_an_rdd_are_told_how_they_become_frames():
    recs, _ = eager(model=False)

    with pytest.raises(rf.RecframeError, match=r"is text; .* a table's name: spark\.table\(name\)"):
        rf.rec("recs")
    for rows in (made(recs).rdd, session().sparkContext.parallelize([1])):
        with pytest.raises(
            rf.RecframeError, match=r"is an? \w*RDD; .*: spark\.createDataFrame\(rdd"
        ):
            rf.rec(rows)


def test_a_session_that_was_stopped_is_said_in_words():
    recs, truth = eager(model=False)
    lists, relevant = made(recs), made(truth)
    rec, earlier = (
        rf.rec(lists, truth=relevant),
        made(recs.rec(truth=truth).summarize("mrr")),
    )
    session().stop()
    session.cache_clear()
    says = partial(pytest.raises, rf.RecframeError, match="session .* was stopped; start one, ")

    try:
        with says():
            rec.evaluate("mrr")
        with says():
            rec.audit()
        with says():
            rf.rec({"a": lists, "b": lists}, truth=relevant)
        with says():
            rf.rec(made(recs), truth=relevant).evaluate("mrr")
        with says():
            rf.rec(made(recs), truth=truth).require("mrr >= 0.9 * last", last=earlier)
        assert "pyspark.DataFrame" in repr(rec)
    finally:
        session()


def test_rec_can_be_registered():
    from pyspark.sql import DataFrame  # noqa: PLC0415  where it is installed

    recs, truth = eager(model=False)
    rf.register(DataFrame)

    assert_same(
        recs.rec(truth=truth).evaluate("mrr"),
        read(made(recs).rec(truth=made(truth)).mrr()),
        ordered=True,
    )
    assert made(recs.rename({"week": "rec"})).rec.__class__ is made(recs)["week"].__class__


# ---- however frames lie: buckets of tables, settings, types, and the memory of workers


@pytest.fixture
def setting():
    """Set what the session is to do, until a test is over."""
    before = {}

    def set_to(name, value):
        before.setdefault(name, session().conf.get(name, None))
        session().conf.set(name, value)

    yield set_to
    for name, value in before.items():
        _ = session().conf.unset(name) if value is None else session().conf.set(name, value)


@pytest.mark.parametrize(
    ("bucketed", "adaptive"), [("recs truth users", "true"), ("recs", "false")]
)
def test_tables_bucketed_by_user_have_the_same_numbers(bucketed, adaptive, tmp_path, setting):
    setting("spark.sql.adaptive.enabled", adaptive)
    recs, truth = eager(model=False)
    frames = {"recs": recs, "truth": truth, "users": COLLECTED["users"]}
    expected = recs.rec(truth=truth, users=COLLECTED["users"]).evaluate(*METRICS, by="country")
    given = {name: made(one) for name, one in frames.items()}
    for name in bucketed.split():
        writer = given[name].write.bucketBy(4, "user").sortBy("user").mode("overwrite")
        writer.option("path", str(tmp_path / name)).saveAsTable(name)
        given[name] = session().table(name)

    lists = given.pop("recs")
    found = rf.rec(lists, **given).evaluate(*METRICS, by="country")
    assert_same(expected, read(found), ordered=True)
    found = rf.rec(lists, **given).ndcg(k=3, by="user")
    assert plan_of(found).count("Exchange hashpartitioning(bucket") == 1
    expected_of_users = recs.rec(truth=truth, users=COLLECTED["users"]).ndcg(k=3, by="user")
    assert_same(expected_of_users, read(found), ordered=False)
    found = rf.rec(lists.cache(), **given).evaluate(*METRICS, by="country")
    assert_same(expected, read(found), ordered=True)
    # Spark would read the same rows of other tests from there
    lists.unpersist()


@pytest.mark.parametrize(("partitions", "n_buckets"), [("7", 7), ("auto", 200)])
def test_there_are_as_many_buckets_as_spark_has_partitions(partitions, n_buckets):
    @dataclass
    class Session:
        conf: dict[str, str]

    told = Session({"spark.sql.shuffle.partitions": partitions})

    assert spark_frames._n_buckets(told) == n_buckets


def test_columns_of_types_that_arrow_lacks_are_left_out():
    recs, truth = eager(model=False)
    lists = made(recs).selectExpr("*", "make_ym_interval(1, 1) AS months", "user AS other")

    found = rf.rec(lists, truth=made(truth)).evaluate("mrr")

    assert_same(recs.rec(truth=truth).evaluate("mrr"), read(found), ordered=True)
    with pytest.raises(rf.ColumnError, match="months"):
        rf.rec(lists, truth=made(truth)).evaluate("mrr", by="months")


@pytest.mark.parametrize(
    "of",
    [pl.duration(days="user"), pl.col("user") % 2 == 0, pl.concat_list("user")],
    ids=["duration", "boolean", "list"],
)
def test_segments_of_any_type_are_those_of_one_machine(of):
    recs, truth = eager(model=False)
    users = COLLECTED["users"].select("user", of=of)

    one, other = asked("evaluate", recs, truth, {}, "mrr", sides={"users": users}, by="of")

    assert_same(one, other, ordered=True)


# the truth is made of the lists
@pytest.mark.filterwarnings("ignore:no_relevant_beyond_lists:recframe.RecframeWarning")
@pytest.mark.slow
def test_memory_stays_bounded_where_buckets_are_too_few(tmp_path, setting):
    setting("spark.sql.shuffle.partitions", "1")
    peaks, driver = tmp_path / "peaks", os.getpid()

    def writes_memory(at):
        if os.getpid() != driver:
            with peaks.open("a") as file:
                file.write(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}\n")
        return at.n_hits.cast(pl.Float64)

    users = pl.DataFrame({"user": range(300_000)})
    lists = users.join(pl.DataFrame({"rank": range(1, 21)}), how="cross")
    lists = lists.with_columns(item=(pl.col("user") * 31 + pl.col("rank") * 17) % 5_000)
    truth = lists.filter(pl.col("item") % 7 == 0).select("user", "item")
    for name, rows in (("lists", lists), ("truth", truth)):
        rows.write_parquet(tmp_path / name)
    metrics = (rf.metric(writes_memory) @ 10, "ndcg@20", "recall", "map")

    held = (session().read.parquet(str(tmp_path / name)) for name in ("lists", "truth"))
    found = read(rf.rec(next(held), truth=next(held)).evaluate(*metrics))

    assert_same(lists.rec(truth=truth).evaluate(*metrics), found, ordered=True)
    kilobytes = [int(one) for one in peaks.read_text().split()]
    # one run for about a million rows of seven
    assert len(kilobytes) > 4
    assert max(kilobytes) < 800_000
