"""Scans and threads: the same bits for any number of scans, and no call that waits for another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from buckets_of_users import buckets_of_users
from compared_lists import LISTS_ARE_MISSING, frames
from lanes import crossed

pytestmark = LISTS_ARE_MISSING
CALLS = {
    "users": ("evaluate", ["ndcg@5", "map", "auc"], {}),
    "items": ("evaluate", ["coverage@5", "gini@5", "novelty@5"], {}),
    "segments": ("evaluate", ["recall@5", "mrr@5", "coverage@5"], {"by": "country"}),
    "intervals": ("summarize", ["ndcg@5", "hit_rate@3"], {"by": "country"}),
    "models": ("compare", ["ndcg@5", "recall@10"], {"baseline": "a"}),
}


def given() -> dict[str, pl.DataFrame]:
    """Return lists and what they are compared with, with grades whose sums no float has."""
    found = frames(n_users=400, models="ab")
    grade = pl.col("relevance") / 3 + 0.1
    return found | {"truth": found["truth"].with_columns(relevance=grade)}


def answered(call: str, some: dict[str, Any], n_buckets: int | None) -> pl.DataFrame:
    """Return the result of a call in so many buckets, or in one plan."""
    method, metrics, options = CALLS[call]
    rec = rf.rec(some["recs"], **{name: one for name, one in some.items() if name != "recs"})
    if n_buckets is None:
        return getattr(rec(model="model"), method)(*metrics, **options)
    with buckets_of_users(n_buckets):
        return getattr(rec(model="model", memory="1GB"), method)(*metrics, **options)


@pytest.mark.parametrize(("call", "order"), crossed([*CALLS], ["sorted", "shuffled", "lazy"]))
def test_any_number_of_scans_gives_the_same_bits(call, order):
    some: dict[str, Any] = given()
    expected = answered(call, some, None)
    if order != "sorted":
        some = {name: one.sample(fraction=1, shuffle=True, seed=2) for name, one in some.items()}
    if order == "lazy":
        some = {name: one.lazy() for name, one in some.items()}

    for n_buckets in (1, 2, 5, 64):
        found = answered(call, some, n_buckets)
        # no bucket knows which users all models serve
        one, other = (result.drop("note", strict=False) for result in (found, expected))
        assert_frame_equal(one, other, check_exact=True)


AT_ONCE = """
from concurrent.futures import ThreadPoolExecutor
import polars as pl
from polars.io.plugins import register_io_source
from test_cores import buckets_of_users, given
import recframe

recs, truth, *_ = given().values()
recs = recs.filter(recs["model"] == "a").drop("model")
schema = recs.schema
whole = dict.fromkeys(["predicate_pushdown", "projection_pushdown", "slice_pushdown"], False)
sources = [
    recs,
    recs.sample(fraction=1, shuffle=True, seed=1),
    recs.lazy().map_batches(lambda rows: rows, schema=schema, **whole),
    pl.defer(lambda: recs.lazy(), schema=schema),
    register_io_source(io_source=lambda *_: iter([recs.head(999), recs.slice(999)]), schema=schema),
]

def call(n):
    lists = sources[n % len(sources)]
    judged = truth.lazy() if isinstance(lists, pl.LazyFrame) else truth
    return lists.rec(truth=judged, memory="1GB").evaluate("ndcg@5", "recall@5").rows()

with buckets_of_users(5), ThreadPoolExecutor(6) as pool:
    print(len(set(map(tuple, pool.map(call, range(60))))))
"""


@pytest.mark.parametrize("n_threads", [1, 3])
def test_calls_from_several_threads_with_sources_in_python_do_not_wait_for_each_other(n_threads):
    here = Path(__file__).parent
    paths = [str(here), str(here.parent / "support"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    environment["POLARS_MAX_THREADS"] = str(n_threads)

    command = [sys.executable, "-c", AT_ONCE]
    # a call that waits for ever fails
    found = subprocess.check_output(command, env=environment, text=True, timeout=120)  # noqa: S603  our own

    assert found == "1\n"
