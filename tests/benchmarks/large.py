"""More recommendations than memory holds: Parquet files, read by the command line and by a LazyFrame, with peak memory.

    python tests/benchmarks/large.py --users 300000 1000000 3000000 --folder /somewhere/with/space

For each number of users it writes 100 recommendations and 10 truth rows a user, in chunks, unless the files are there, and runs
each road in a process of its own. It needs the `[test]` extra and some 5 bytes of disk for each recommendation.
"""

from __future__ import annotations

import resource
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

LENGTH = 100
TRUTH = 10
CHUNK = 100_000
N_ITEMS = 49_999
METRICS = ["hit_rate@10", "precision@10", "recall@10", "map@10", "mrr@10", "ndcg@10"]
LAZY = """
import sys, polars as pl, recframe
recs, truth, *metrics = sys.argv[1:]
plan = pl.scan_parquet(recs).rec(truth=pl.scan_parquet(truth)).evaluate(*metrics)
print(plan.collect(engine="streaming"))
"""


def write(folder: Path, users: int, seed: int = 0) -> None:
    """Write recommendations and graded truth, a file for each chunk of users; a third of the truth is recommended."""
    random = np.random.default_rng(seed)
    for kind in ("recs", "truth"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    for start in range(0, users, CHUNK):
        n = min(CHUNK, users - start)
        first, step = random.integers(1, N_ITEMS, (2, n, 1))
        user = np.arange(start, start + n)[:, None]
        items = (first + step * np.arange(LENGTH)) % N_ITEMS
        # places in the list up to LENGTH are hits, those behind it were not recommended
        places = (random.integers(0, 3 * LENGTH, (n, 1)) + 7 * np.arange(TRUTH)) % (3 * LENGTH)
        columns = {"user": np.repeat(user, LENGTH), "item": items.ravel(), "rank": np.tile(np.arange(1, LENGTH + 1), n)}
        pl.DataFrame(columns).write_parquet(folder / "recs" / f"{start:09}.parquet")
        grades = random.integers(1, 6, n * TRUTH)
        liked = ((first + step * places) % N_ITEMS).ravel()
        columns = {"user": np.repeat(user, TRUTH), "item": liked, "relevance": grades}
        pl.DataFrame(columns).write_parquet(folder / "truth" / f"{start:09}.parquet")


def run(command: Sequence[str]) -> dict[str, Any]:
    """Run a command in a process of its own; return its seconds, the peak of its resident memory in bytes, what it printed."""
    start = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  commands of this file
        shown = process.stdout.read() if process.stdout else ""
        _, status, usage = __import__("os").wait4(process.pid, 0)
        process.returncode = status
    del before
    return {"seconds": time.perf_counter() - start, "peak": usage.ru_maxrss * 1024, "status": status, "shown": shown}
