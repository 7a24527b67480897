"""Frames of Spark however they lie: buckets of tables, settings, types, and the memory of workers."""

from __future__ import annotations

import os
import resource
import shutil
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
