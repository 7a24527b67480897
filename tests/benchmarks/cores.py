"""Speed-up of a call in buckets by a second thread: a process for each number of threads, in turns.

`python cores.py --record` writes what docs/benchmarks.md shows.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import growth_threads
import machine

RECORD = Path(__file__).with_name("cores.json")
CALLS = {
    "files": "files, in buckets",
    "texts": "files with ids as text, in buckets",
    "shuffled": "two frames, shuffled, in buckets",
    "sorted": "two frames, sorted, in buckets",
    "judged": "one judged frame, sorted, in buckets",
    "plan of files": "files, one plan",
    "plan of sorted": "two frames, sorted, one plan",
    "plan of judged": "one judged frame, sorted, one plan",
}
MEMORY = "8GB"
SERVE = "serve"
"""Argument of a process that runs calls."""


def measured(folder: Path, rows: int, repeats: int) -> list[dict[str, Any]]:
    """Return the medians of wall and processor seconds of each call by the number of threads."""
    found = []
    with ExitStack() as stack:
        workers = {
            n: stack.enter_context(growth_threads.worker(n, [__file__, SERVE]))
            for n in growth_threads.THREADS
        }
        for call, title in CALLS.items():
            runs: dict[int, list[dict[str, float]]] = {n: [] for n in workers}
            for repeat in range(repeats + 1):
                for n, process in workers.items():
                    taken = growth_threads.answered(process, json.dumps([call, str(folder), rows]))
                    runs[n] += [taken] if repeat else []  # the first of all warms up
            found.append({"call": title, **_medians(runs)})
            sys.stderr.write(f"{said(found[-1])}\n")
    return found


def _medians(runs: dict[int, list[dict[str, float]]]) -> dict[str, Any]:
    taken = {
        what: [statistics.median(run[what] for run in one) for one in runs.values()]
        for what in ("whole", "cpu")
    }
    return growth_threads.amdahl(taken)


def said(one: dict[str, Any]) -> str:
    """Return the seconds of a call as text."""
    (wall, two), (cpu, both) = one["stages"]["whole"], one["stages"]["cpu"]
    return (
        f"{one['call']:40s} {wall:6.2f} s, 2 threads {two:6.2f} s: {one['speed_up']:.2f} x, serial {one['serial']:.0%}; "
        f"processor {cpu:.2f} and {both:.2f} s; {one['predicted']['64']:.0f} x on 64 cores"
    )


def make(folder: Path, rows: int) -> None:
    """Write the lists, 20 items each, and the truth, half as many rows, as files of numbers and of texts."""
    import polars as pl  # noqa: PLC0415  in a process of its own threads

    row = pl.int_range(rows, eager=False)
    lists = pl.select(user=row // 20, item=row.hash(1) % 2_000, rank=(row % 20 + 1).cast(pl.Int32))
    row = pl.int_range(rows // 2, eager=False)
    truth = pl.select(user=row // 10, item=row.hash(2) % 2_000, relevance=(row % 5).cast(pl.Int32))
    for name, frame in (("recs", lists), ("truth", truth.unique(["user", "item"]))):
        spread = frame.sample(fraction=1, shuffle=True, seed=1)
        spread.write_parquet(folder / f"{name}.parquet", row_group_size=500_000)
        texts = [
            pl.col(key).hash(3).cast(pl.String).str.zfill(36).alias(key) for key in ("user", "item")
        ]
        spread.with_columns(texts).write_parquet(
            folder / f"{name} texts.parquet", row_group_size=500_000
        )


def serve() -> None:
    """Run calls until the input ends, on as many cores as Polars has threads."""
    n_threads = int(os.environ["POLARS_MAX_THREADS"])
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:n_threads])
    made: dict[str, Any] = {}
    for line in sys.stdin:
        call, folder, rows = json.loads(line)
        if call not in made:
            made = {call: _call(call, Path(folder), rows)}
        start, cpu = time.perf_counter(), time.process_time()
        made[call]()
        taken = {"whole": time.perf_counter() - start, "cpu": time.process_time() - cpu}
        sys.stdout.write(f"{json.dumps(taken)}\n")
        sys.stdout.flush()


def _call(call: str, folder: Path, rows: int) -> Any:
    import growth_data  # noqa: PLC0415  in a process of its own threads
    import polars as pl  # noqa: PLC0415  likewise

    from recframe.engines import memory_bound  # noqa: PLC0415  likewise

    memory_bound.MOST_IN_ONE_PLAN = -1  # of which calls some would otherwise run in one plan
    how = {} if call.startswith("plan") else {"memory": MEMORY}
    kind = call.removeprefix("plan of ")
    if kind == "judged":
        return growth_data.asked(growth_data.judged(rows // 2), **how)
    names = ("recs texts", "truth texts") if kind == "texts" else ("recs", "truth")
    files = [pl.scan_parquet(folder / f"{name}.parquet") for name in names]
    if kind in ("files", "texts"):
        asked = growth_data.asked(files[0], truth=files[1], **how)
        return asked if how else lambda: asked().collect(engine="streaming")
    recs, truth = (one.sort("user") if kind == "sorted" else one for one in files)
    return growth_data.asked(recs.collect(), truth=truth.collect(), **how)


def main() -> None:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        make(Path(name), given.rows)
        found = measured(Path(name), given.rows, given.repeats)
    if given.record:
        record = {"rows": given.rows, "machine": machine.describe(), "calls": found}
        RECORD.write_text(f"{json.dumps(record, indent=1)}\n", encoding="utf-8")


if __name__ == "__main__":
    serve() if sys.argv[1:] == [SERVE] else main()
