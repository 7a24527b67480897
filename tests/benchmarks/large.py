"""More recommendations than memory holds: Parquet files, read by the command line and by a LazyFrame, with peak memory.

    python tests/benchmarks/large.py --users 300000 1000000 3000000 --folder /somewhere/with/space

For each number of users it writes 100 recommendations and 10 truth rows a user, in chunks, unless the files are there, and runs
each road in a process of its own. It needs the `[test]` extra and some 5 bytes of disk for each recommendation.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import machine
import numpy as np
import polars as pl

import recframe as rf

LENGTH = 100
TRUTH = 10
CHUNK = 100_000
N_ITEMS = 49_999
ROADS = ["collect", "4 parts", "command line"]
METRICS = ["hit_rate@10", "precision@10", "recall@10", "map@10", "mrr@10", "ndcg@10"]
SCRIPT = "import large, sys; large.read(*sys.argv[1:])"


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
        columns = {
            "user": np.repeat(user, LENGTH),
            "item": items.ravel(),
            "rank": np.tile(np.arange(1, LENGTH + 1), n),
        }
        pl.DataFrame(columns).write_parquet(folder / "recs" / f"{start:09}.parquet")
        grades = random.integers(1, 6, n * TRUTH)
        liked = ((first + step * places) % N_ITEMS).ravel()
        columns = {"user": np.repeat(user, TRUTH), "item": liked, "relevance": grades}
        pl.DataFrame(columns).write_parquet(folder / "truth" / f"{start:09}.parquet")


def read(road: str, folder: str) -> None:
    """Print the six metrics of a folder's files, by one of the roads."""
    files = [pl.scan_parquet(f"{folder}/{kind}/*.parquet") for kind in ("recs", "truth")]
    rec = rf.rec(files[0])(truth=files[1])
    if road == "collect":
        found = rec.evaluate(*METRICS).collect(engine="streaming")
    else:
        found = rec.collect(*METRICS, parts=int(road.partition(" ")[0]))
    sys.stdout.write(f"{json.dumps(found.row(0))}\n")


def run(road: str, folder: Path) -> dict[str, Any]:
    """Run a road in a process of its own; return its numbers, its seconds and the peak of its resident memory in bytes."""
    script = [sys.executable, "-c", SCRIPT, road, str(folder)]
    command = [
        str(Path(sys.executable).with_name("recframe")),
        "evaluate",
        f"{folder}/recs",
        f"{folder}/truth",
    ]
    start = time.perf_counter()
    with subprocess.Popen(  # noqa: S603  commands of this file
        command if road == "command line" else script,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent,
    ) as process:
        shown = process.stdout.read() if process.stdout else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
    return {
        "road": road,
        "seconds": time.perf_counter() - start,
        "peak_bytes": usage.ru_maxrss * 1024,
        "shown": shown,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the files that are missing, run every road on them, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--users",
        type=int,
        nargs="+",
        default=[300_000, 1_000_000, 3_000_000],
        help="(%(default)s)",
    )
    parser.add_argument(
        "--folder", type=Path, required=True, help="where the files are, or are written"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to a JSON file")
    options = parser.parse_args(arguments)
    rows = []
    for users in options.users:
        folder = options.folder / str(users)
        if not folder.exists():
            write(folder, users)
        for road in ROADS:
            rows.append({"users": users, **run(road, folder)})
            peak = rows[-1]["peak_bytes"] / 1e9
            sys.stdout.write(
                f"{users * LENGTH:13,} rows  {road:14s} {rows[-1]['seconds']:7.1f} s {peak:7.2f} GB\n"
            )
            sys.stdout.flush()
    result = {
        "length": LENGTH,
        "truth": TRUTH,
        "machine": machine.describe(),
        "versions": machine.versions(),
        "runs": rows,
    }
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
