"""Frames of Spark, on a JVM: the numbers of one machine, one shuffle for the rows, and what becomes of failures."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from datetime import date
from functools import partial

import polars as pl
import pytest

import recframe as rf
from asked_twice import COLLECTED, asked_twice, assert_same, eager
from parted_frames import ALL_SIDES, METRICS, every

pytest.importorskip("pyspark")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("there is no Java", allow_module_level=True)

from spark_session import SPARK, made, plan_of, read, session

pytestmark = [
    pytest.mark.spark,
    # its own, of pandas and of Python that are newer than it knows
    pytest.mark.filterwarnings("default"),
    pytest.mark.filterwarnings("error::recframe.RecframeWarning"),
]
asked = partial(asked_twice, SPARK)


@pytest.mark.parametrize(
    ("order", "model", "by"),
    [
        ("rank", False, None),
        ("score", True, "week"),
        ("rank", True, "user"),
        ("rank", False, "item"),
        ("score", True, ["kind", "country"]),
    ],
    ids=str,
)
def test_every_metric_has_the_number_of_one_machine(order, model, by):
    recs, truth = eager(order, model=model)
    options = {"model": "model", "reference": "b"} if model else {}

    one, other = asked(
        "evaluate", recs, truth, options, *every(*ALL_SIDES, **options), sides=ALL_SIDES, by=by
    )

    assert_same(one, other, ordered=by != "user")


@pytest.mark.parametrize(
    "policies",
    [
        {"universe": "all", "relevant_from": "list", "no_relevant": "null"},
        {"universe": "both", "no_relevant": "skip"},
        {"min_relevance": 2, "strict": True},
        {"profile": "trec_eval"},
        {"ties": "pessimistic"},
        {"ties": "expected"},
    ],
    ids=str,
)
def test_every_policy_holds(policies):
    recs, truth = eager("score" if "ties" in policies else "rank", model=True)
    metrics = ("recall@3", "ndcg@3", "mrr", "map", "precision@2")

    one, other = asked(
        "evaluate",
        recs,
        truth,
        policies | {"model": "model"},
        *metrics,
        sides=("users",),
        by="country",
    )

    assert_same(one, other, ordered=True)


def test_intervals_and_comparisons_come_from_sums():
    recs, truth = eager()
    options = {"model": "model"}

    for call, arguments in (
        ("summarize", {}),
        ("summarize", {"cluster": "country"}),
        ("compare", {"by": "country"}),
        ("compare", {"baseline": "b", "test": "permutation", "n_resamples": 99}),
    ):
        one, other = asked(call, recs, truth, options, *METRICS[:4], sides=("users",), **arguments)
        assert_same(one, other, ordered=True)


def test_a_judged_frame_is_made_and_read():
    recs, truth = eager(model=False)

    one, other = asked("judge", recs.drop("week"), truth.drop("week"), {"universe": "all"})
    assert_same(one, other, ordered=False)
    one, other = asked("evaluate", one, None, {}, *METRICS)
    assert_same(one, other, ordered=True)


IDS = {
    "text": lambda n: pl.format("ü {} \u00e9", n),
    "narrow": lambda n: n.cast(pl.Int16),
    "decimal": lambda n: n.cast(pl.Decimal(12, 3)),
    "time": lambda n: pl.datetime(2026, 1, 1) + pl.duration(seconds=n),
    "instant": lambda n: pl.datetime(2026, 1, 1, time_zone="UTC") + pl.duration(seconds=n),
    "day": lambda n: pl.lit(date(2026, 1, 1)) + pl.duration(days=n),
    "bytes": lambda n: pl.format("id {}", n).cast(pl.Binary),
}


@pytest.mark.parametrize(("kind", "of"), IDS.items(), ids=IDS)
def test_ids_of_any_type_compare_as_on_one_machine(kind, of):
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


def test_nulls_and_users_of_one_side_count_as_on_one_machine():
    recs = pl.DataFrame(
        {
            "user": ["a", "a", None, "b", "", "c"],
            "item": ["x", None, "x", "y", "x", "z"],
            "rank": [1.0, 2.0, 1.0, None, float("nan"), 1.0],
        }
    )
    truth = pl.DataFrame(
        {
            "user": ["a", "b", "d", None, ""],
            "item": ["x", "y", "x", "x", "x"],
            "relevance": [1.0, float("nan"), 2.0, 1.0, None],
        }
    )

    for universe in ("truth", "recs", "both", "all"):
        one, other = asked("evaluate", recs, truth, {"universe": universe}, *METRICS, "list_length")
        assert_same(one, other, ordered=True)


@pytest.mark.parametrize("empty", ["both", "recs", "truth"])
def test_nothing_has_one_row(empty):
    recs, truth = eager(model=False)
    recs = recs.clear() if empty in {"recs", "both"} else recs
    truth = truth.clear() if empty in {"truth", "both"} else truth

    one, other = asked("evaluate", recs, truth, {}, *METRICS, "coverage@3", sides=("items",))

    assert_same(one, other, ordered=True)


def test_skewed_and_empty_partitions_change_nothing():
    recs, truth = eager(model=False)
    expected = recs.rec(truth=truth).evaluate(*METRICS)
    frame = made(recs)

    for given in (frame.repartition(40), frame.repartition(1), frame.repartition(5, "week")):
        found = rf.rec(given, truth=made(truth).coalesce(1)).evaluate(*METRICS)
        assert_same(expected, read(found), ordered=True)


def test_rows_travel_once():
    recs, truth = eager(model=False)
    rec = rf.rec(made(recs), truth=made(truth), users=COLLECTED["users"])

    plan = plan_of(rec.evaluate("ndcg@3", "recall@3", by="country"))
    # rows to buckets, as one for each bucket and task; sums to their keys, and these to one task
    assert plan.count("Exchange hashpartitioning(bucket") == 1
    assert plan.count("Exchange hashpartitioning") == 2
    assert plan.count("Exchange SinglePartition") == 1
    assert "week" not in plan.split("Union")[1]

    plan = plan_of(rec.evaluate("ndcg@3", by="user"))
    assert plan.count("Exchange") == 1


def test_ranks_behind_the_largest_cut_off_do_not_travel(tmp_path):
    recs, truth = eager(model=False)
    recs.drop("week").write_parquet(tmp_path / "recs.parquet")
    lists = session().read.parquet(str(tmp_path / "recs.parquet"))
    rec = rf.rec(lists, truth=made(truth))

    assert "<= 3" in plan_of(rec.evaluate("ndcg@2", "recall@3"))
    assert "<= 3" not in plan_of(rec(universe="recs").evaluate("recall@3"))
    assert "<= 3" not in plan_of(rec.evaluate("recall"))


def test_nothing_runs_before_the_result_is_asked_for():
    recs, truth = eager(model=False)
    frames = made(recs), made(truth)
    tracker = session().sparkContext.statusTracker()
    before = tracker.getJobIdsForGroup(None)

    rf.rec(frames[0], truth=frames[1]).evaluate("ndcg@3", by="week")

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


def test_what_only_the_data_shows_fails_with_its_words():
    recs, truth = eager(model=False)
    rec = rf.rec(made(recs.with_columns(pl.col("rank") - 1)), truth=made(truth))

    with pytest.raises(Exception, match="a rank is below 1"):
        read(rec.evaluate("recall@2"))


@pytest.mark.slow
def test_a_user_with_a_million_rows_is_one_user():
    n = 1_000_000
    many = pl.DataFrame({"user": [0], "item": [range(n)]}).explode("item")
    few = pl.DataFrame({"user": range(1, 2001), "item": range(2000)})
    recs = pl.concat([many, few]).with_columns(rank=pl.col("item") + 1)
    truth = recs.filter(pl.col("item") % 7 == 0).select("user", "item")

    one, other = asked("evaluate", recs, truth, {}, "ndcg", "recall@10", "auc")

    assert_same(one, other, ordered=True)


def test_frames_of_several_models_are_one():
    recs, truth = eager()
    frames = {name: recs.filter(pl.col("model") == name).drop("model") for name in "ab"}

    found = rf.rec({name: made(one) for name, one in frames.items()}, made(truth)).compare("ndcg@3")

    assert_same(rf.rec(frames, truth).compare("ndcg@3"), read(found), ordered=True)


def test_findings_are_counted():
    recs, truth = eager(model=False)
    recs = pl.concat([recs, recs.head(7)])
    columns = ["check", "severity", "frame", "rows", "users"]

    one, other = asked("audit", recs, truth, {}, sides=("users",), k=4)

    there = set(other["check"])
    assert "duplicate_items" in there
    assert_same(
        one.filter(pl.col("check").is_in(there)).select(columns),
        other.select(columns),
        ordered=True,
    )


@pytest.mark.parametrize("by", [[], ["--by", "country"], ["--by", "user"]], ids=str)
def test_the_shell_has_the_same_numbers(by, tmp_path):
    pytest.importorskip("click")
    from click.testing import CliRunner  # noqa: PLC0415  an extra

    from recframe.cli.commands import main  # noqa: PLC0415

    recs, truth = eager(model=False)
    recs.write_parquet(tmp_path / "recs.parquet")
    truth.write_csv(tmp_path / "truth.csv")
    COLLECTED["users"].write_parquet(tmp_path / "users.parquet")
    session()
    files = [str(tmp_path / name) for name in ("recs.parquet", "truth.csv")]
    files += ["--users", str(tmp_path / "users.parquet")]

    found = []
    for engine in ([], ["--engine", "spark", "--master", "local[2]"]):
        out = str(tmp_path / "out.parquet")
        result = CliRunner().invoke(
            main, ["evaluate", *files, *by, *engine, "-m", "ndcg@3,mrr", "-o", out]
        )
        assert result.exit_code == 0, result.output
        found.append(pl.read_parquet(out))
    assert_same(*found, ordered=True)


SCRIPT = """
import sys
sys.path[:0] = {path!r}
import spark_session
from asked_twice import asked_twice, assert_same, eager
from frame_kinds import Kind

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
"""


def test_spark_connect_has_the_same_numbers():
    pytest.importorskip("grpc")
    script = SCRIPT.format(path=[one for one in sys.path if one.endswith("support")])

    # a process has either of the two
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=300)  # noqa: S603  ours


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
