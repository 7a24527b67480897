"""Frames of Dask: dtypes of pandas, what runs when, and a worker process that is killed."""

from __future__ import annotations

import os
import pickle
import signal
from decimal import Decimal
from functools import partial

import pandas as pd
import polars as pl
import pytest

import recframe as rf
from asked_twice import COLLECTED, assert_same, eager
from dask_cluster import client, made, read
from parted_frames import METRICS

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.dask,
    # its own, of pandas and of Python that are newer than it knows
    pytest.mark.filterwarnings("default"),
    pytest.mark.filterwarnings("error::recframe.RecframeWarning"),
]


def in_partitions(frame: pd.DataFrame):
    client()
    return dd.from_pandas(frame, npartitions=3, sort=False)


# what a column of ids becomes in pandas, and what one of Dask's does to it
DTYPES = {
    "object": (lambda one: one.map("ü{}".format).astype(object), None),
    "text": (lambda one: one.map("ü{}".format).astype("string"), None),
    "numbers as text": (lambda one: one.astype(str), None),
    "nullable": (lambda one: one.astype("Int32"), None),
    "float": (lambda one: one.astype(float), None),
    "categories": (lambda one: one.map("c{}".format).astype("category"), None),
    "unknown categories": (
        lambda one: one.map("c{}".format).astype("category"),
        lambda column: column.cat.as_unknown(),
    ),
    "categories of numbers": (lambda one: one.astype("category"), None),
    "decimal": (
        lambda one: one.map(lambda n: Decimal(n) / 4).astype(
            pd.ArrowDtype(pl.Series([Decimal("0.25")], dtype=pl.Decimal(12, 3)).to_arrow().type)
        ),
        None,
    ),
    "instant": (
        lambda one: pd.Timestamp("2026-01-01", tz="Europe/Berlin") + pd.to_timedelta(one, unit="h"),
        None,
    ),
}


@pytest.mark.parametrize(("of", "then"), DTYPES.values(), ids=DTYPES)
def test_ids_of_pandas_compare_as_on_one_machine(of, then):
    frames = [one.to_pandas() for one in (*eager(model=False), COLLECTED["users"])]
    for frame in frames:
        for name in {"user", "item"} & {*frame.columns}:
            frame[name] = of(frame[name])
    recs, truth, users = frames
    held = [in_partitions(one) for one in frames]
    if then is not None:
        held = [one.assign(user=then(one["user"])) for one in held]

    expected = rf.rec(recs, truth=truth, users=users).evaluate(*METRICS, by="country")
    found = rf.rec(held[0], truth=held[1], users=held[2]).evaluate(*METRICS, by="country")
    assert_same(pl.from_pandas(expected), read(found), ordered=True)

    by_user = rf.rec(held[0], truth=held[1]).evaluate("ndcg@3", by="user").compute()
    assert len(by_user) == truth["user"].nunique()


def test_a_worker_that_is_killed_changes_nothing(tmp_path):
    flag, driver = tmp_path / "killed", os.getpid()

    def kills_its_worker_once(at):
        if os.getpid() != driver and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return at.n_hits.cast(pl.Float64)

    recs, truth = eager(model=False)
    metric = rf.metric(kills_its_worker_once)
    rec = rf.rec(made(recs), truth=made(truth), users=made(COLLECTED["users"]))
    before = {one["pid"] for one in client().run(lambda: {"pid": os.getpid()}).values()}

    found = read(rec.evaluate(metric @ 3, "ndcg@3", by="country"))

    assert flag.exists()
    expected = recs.rec(truth=truth, users=COLLECTED["users"])
    assert_same(expected.evaluate(metric @ 3, "ndcg@3", by="country"), found, ordered=True)
    client().wait_for_workers(2, timeout=30)
    assert before != {one["pid"] for one in client().run(lambda: {"pid": os.getpid()}).values()}


def test_nothing_runs_before_rows_of_users_are_computed():
    ran = []

    def seen(rows):
        ran.append(len(rows))
        return rows

    recs, truth = (one.to_pandas() for one in eager(model=False))
    lists = in_partitions(recs).map_partitions(seen, meta=recs)
    with dask.config.set({"scheduler": "sync", "dataframe.shuffle.method": "tasks"}):
        result = rf.rec(lists, truth=truth).evaluate("ndcg@3", by="user")
        assert not ran
        assert len(result.compute()) == truth["user"].nunique()
    assert sum(ran) == len(recs)


def test_columns_that_nobody_reads_stay_where_they_are(tmp_path):
    recs, truth = eager(model=False)
    recs.write_parquet(tmp_path / "recs.parquet")
    lists = dd.read_parquet(tmp_path / "recs.parquet")

    plan = rf.rec(lists, truth=made(truth)).evaluate("ndcg@3", by="user").optimize(fuse=False)

    assert "week" not in plan.expr.tree_repr()
    assert plan.expr.tree_repr().count("Shuffle") <= 1


@pytest.mark.parametrize("n_buckets", [1, 2, 7])
def test_the_number_of_buckets_changes_nothing(n_buckets):
    recs, truth = eager(model=False)

    lists, relevant = (made(one).repartition(npartitions=n_buckets) for one in (recs, truth))
    found = rf.rec(lists, truth=relevant).evaluate(*METRICS)
    by_user = rf.rec(lists, truth=relevant).evaluate("ndcg@3", by="user")

    assert by_user.npartitions == n_buckets
    assert_same(recs.rec(truth=truth).evaluate(*METRICS), read(found), ordered=True)
    assert_same(recs.rec(truth=truth).evaluate("ndcg@3", by="user"), read(by_user), ordered=False)


@pytest.mark.parametrize(("scheduler", "method"), [("sync", "tasks"), ("threads", "disk")])
def test_no_cluster_is_needed(scheduler, method):
    recs, truth = eager(model=False)
    frames = made(recs), made(truth)

    with dask.config.set({"scheduler": scheduler, "dataframe.shuffle.method": method}):
        found = read(rf.rec(frames[0], truth=frames[1]).evaluate(*METRICS))

    assert_same(recs.rec(truth=truth).evaluate(*METRICS), found, ordered=True)


def test_partitions_that_are_not_what_the_frame_says_fail_with_what_to_write():
    recs, truth = (one.to_pandas() for one in eager(model=False))
    meta = recs.astype({"user": object})
    lists = in_partitions(recs).map_partitions(lambda one: one, meta=meta)
    sides = in_partitions(truth.astype({"user": "string"}))

    with pytest.raises(
        rf.RecframeError, match=r"column 'user' is int64 in a partition, and string"
    ):
        rf.rec(lists, truth=sides).evaluate("mrr").compute()


def test_a_metric_as_an_expression_makes_no_column():
    recs, truth = eager(model=False)
    judged = recs.rec(truth=truth).judge()
    expression = rf.ndcg.expr(k=2)
    says = partial(
        pytest.raises, rf.RecframeError, match=r"'ndcg@2' is an expression of Polars, .*rf\.rec\("
    )

    for frame in (made(judged), judged.to_pandas()):
        with says():
            frame.assign(x=expression)
    with says():
        made(judged)["x"] = expression
    by_user = judged.group_by("user").agg(pickle.loads(pickle.dumps(expression)))  # noqa: S301  our own
    assert_same(recs.rec(truth=truth).ndcg(k=2, by="user"), by_user, ordered=False)
