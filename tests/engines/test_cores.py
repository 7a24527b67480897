"""Scans and threads: the same bits for any number of scans, and no call that waits for another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from buckets_of_users import buckets_of_users
from lanes import crossed

N_USERS, N_ITEMS = 400, 60
CALLS = {
    "users": ("evaluate", ["ndcg@5", "map", "auc"], {}),
    "items": ("evaluate", ["coverage@5", "gini@5", "novelty@5"], {}),
    "segments": ("evaluate", ["recall@5", "mrr@5", "coverage@5"], {"by": "country"}),
    "intervals": ("summarize", ["ndcg@5", "hit_rate@3"], {"by": "country"}),
    "models": ("compare", ["ndcg@5", "recall@10"], {"baseline": "a"}),
}


def frames() -> dict[str, pl.DataFrame]:
    """Return lists of two models, sorted by user, with scores of many digits, and what they are compared with."""
    row = pl.int_range(N_USERS * 24)
    user, rank = row // 24, row % 12 + 1
    recs = pl.select(
        user=user,
        item=(row * 17 + row // 24 * 5 + (row % 24 // 12) * 3) % N_ITEMS,
        rank=rank,
        model=pl.when(row % 24 < 12).then(pl.lit("a")).otherwise(pl.lit("b")),
    )
    row = pl.int_range(N_USERS * 8)
    truth = pl.select(
        user=row // 8 + 5, item=(row * 7 + row // 8) % N_ITEMS, relevance=row % 4 / 3 + 0.1
    )
    users = pl.select(user=pl.int_range(N_USERS + 5)).with_columns(
        country=(pl.col("user") * 7 % 11 % 3).cast(pl.String)
    )
    train = pl.select(user=row // 8, item=(row * 11 + row // 8) % N_ITEMS)
    items = pl.select(item=pl.int_range(N_ITEMS))
    return {"recs": recs, "truth": truth, "users": users, "train": train, "items": items}


def answered(call: str, given: dict[str, pl.DataFrame], n_buckets: int | None) -> pl.DataFrame:
    """Return the result of a call in so many buckets, or in one plan."""
    method, metrics, options = CALLS[call]
    recs, sides = given["recs"], {name: one for name, one in given.items() if name != "recs"}
    if method == "compare":
        rec = recs.rec(**sides, model="model")
    else:
        rec = recs.filter(pl.col("model") == "a").drop("model").rec(**sides)
    if n_buckets is None:
        return getattr(rec, method)(*metrics, **options)
    with buckets_of_users(n_buckets):
        return getattr(rec(memory="1GB"), method)(*metrics, **options)


@pytest.mark.parametrize(("call", "order"), crossed([*CALLS], ["sorted", "shuffled", "lazy"]))
def test_any_number_of_scans_gives_the_same_bits(call, order):
    given = frames()
    expected = answered(call, given, None)
    if order != "sorted":
        given = {
            name: one.sample(fraction=1, shuffle=True, seed=n)
            for n, (name, one) in enumerate(given.items())
        }
    if order == "lazy":
        given = {name: one.lazy() for name, one in given.items()}

    for n_buckets in (1, 2, 5, 64):
        found = answered(call, given, n_buckets)
        assert_frame_equal(found, expected, check_exact=True)


AT_ONCE = """
from concurrent.futures import ThreadPoolExecutor
import polars as pl
from polars.io.plugins import register_io_source
from test_cores import buckets_of_users, frames
import recframe

recs, truth, *_ = frames().values()
recs = recs.filter(recs["model"] == "a")
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
