"""Frames of Spark however they lie: buckets of tables, estimates of sizes, settings, types, and the memory of workers."""

from __future__ import annotations

import os
import resource
import shutil
from dataclasses import dataclass, field
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


UNSIGNED = {"n": pl.Int64, "many": pl.UInt64}
TOLD = {
    "Statistics(sizeInBytes=16.0 MiB, rowCount=2.00E+6)": 2_000_000,
    "Statistics(sizeInBytes=48.0 KiB)": 48 * 1024 / 24,
    "Statistics(sizeInBytes=24.0 B)\n+- Relation, Statistics(sizeInBytes=1.0 TiB)": 1,
    "Statistics(sizeInBytes=2.0 PiB)": 2 * 1024**5 / 24,
    "Statistics(sizeInBytes=8.0 EiB)": None,
    "Statistics(sizeInBytes=3.27E+30 B)": None,
    "a plan that tells nothing": None,
}


@dataclass
class Told:
    """What is asked of a frame, and of the settings of its session."""

    plan: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ("user", "item", "rank")

    def explain(self, *, mode):
        assert mode == "cost"
        print(self.plan)  # noqa: T201  as Spark does

    def count(self):
        return 77

    @property
    def conf(self):
        return self.settings


@pytest.mark.parametrize(("plan", "n_rows"), TOLD.items(), ids=str)
def test_rows_are_estimated_from_what_spark_tells_of_a_plan_or_counted(plan, n_rows):
    assert spark_frames._n_rows(Told(plan)) == (77 if n_rows is None else n_rows)


@pytest.mark.parametrize(
    ("n_rows", "settings", "n_buckets"),
    [
        ("0", {}, 1),
        ("99000", {}, 1),
        ("2.5E+5", {}, 2),
        ("5E+6", {}, 25),
        ("5E+6", {"spark.sql.shuffle.partitions": "2"}, 5),
        ("3.2E+9", {}, 3_200),
        ("3.2E+9", {"spark.recframe.buckets": "40"}, 40),
    ],
)
def test_there_are_as_many_buckets_as_millions_of_rows_or_as_are_set(n_rows, settings, n_buckets):
    frame = Told(f"Statistics(sizeInBytes=1.0 B, rowCount={n_rows})", settings)

    assert spark_frames._n_buckets(frame, [frame]) == n_buckets


@pytest.mark.parametrize("wrong", ["many", "0", "-3", "1.5", ""])
def test_a_number_of_buckets_that_is_none_is_said_with_what_to_write(wrong, setting):
    setting("spark.recframe.buckets", wrong)
    recs, truth = eager(model=False)

    with pytest.raises(
        rf.RecframeError, match=r"spark\.conf\.set\('spark\.recframe\.buckets', 4000\)"
    ):
        rf.rec(made(recs), truth=made(truth)).evaluate("mrr")


def test_a_result_that_spark_has_no_type_for_is_said_with_its_column():
    with pytest.raises(rf.ColumnError, match="'many' is uint64, for which Spark has no type; cast"):
        spark_frames._spark_schema(
            pl.DataFrame({"n": [1], "many": [1]}, schema=UNSIGNED).to_arrow()
        )


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


@pytest.mark.slow
def test_memory_stays_bounded_where_buckets_are_too_few(tmp_path, setting):
    setting("spark.recframe.buckets", "1")
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
