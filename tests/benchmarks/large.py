"""Files larger than memory: one plan, scans of some users and DuckDB within one bound, layout by layout.

    python tests/benchmarks/large.py --folder /somewhere/with/space --json tests/benchmarks/large.json
    python tests/benchmarks/large.py --folder /somewhere/with/space --layouts "more rows than memory" --rows 300000000

Each run is a process of its own, which starts its clocks after its imports. All ways give the same numbers to 1e-9, or it
fails. It needs the `[test]` extra and some gigabyte of disk for ten million rows. More rows than memory holds are read in
scans alone.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

import bench
import polars as pl
from large_layouts import LAYOUTS, OF_SPREAD, SPREAD, write
from large_worker import DUCKDB, ONE_PLAN, SCANS

EVERY = {**LAYOUTS, SPREAD: OF_SPREAD}
TOLERANCE = 1e-9


def run(way: str, name: str, folder: Path, memory: str) -> dict[str, Any]:
    """Return what one way takes in a process of its own, or that it ended."""
    layout = EVERY[name]
    given = (folder, memory, layout.k, layout.n_models > 1, " ".join(layout.by))
    try:
        with bench.Process(Path(sys.executable), "large_worker.py", *given) as process:
            return process.ask(way)
    except ChildProcessError as error:
        return {"error": str(error)}


def taken(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    for one in runs:
        if "error" in one:
            return {"error": one["error"]}
    peak = max(one["peak_bytes"] for one in runs)
    of_clocks = {name: median(one[name] for one in runs) for name in ("seconds", "cpu_seconds")}
    return of_clocks | {"peak_bytes": peak}


def check(name: str, runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Stop where two ways give two numbers."""
    first, *others = (one["found"] for some in runs.values() for one in some if "found" in one)
    for other in others:
        for one, two in zip(chain(*first), chain(*other), strict=True):
            same = one == two if isinstance(one, str) else math.isclose(one, two, rel_tol=TOLERANCE)
            if not same:
                raise SystemExit(f"{name}: {one} and {two}")


def folder_of(layout: str, options: argparse.Namespace) -> Path:
    folder: Path = options.folder.absolute() / f"{options.rows}" / layout.replace(" ", "_")
    return folder


def on_layout(name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Run all ways on a layout by turns, and print what they take."""
    folder = folder_of(name, options)
    if not folder.exists():
        write(folder, options.rows, EVERY[name])
    ways = (SCANS,) if EVERY[name].by else (ONE_PLAN, SCANS, DUCKDB)
    runs: dict[str, list[dict[str, Any]]] = {way: [] for way in ways}
    for _ in range(options.repeats):
        for way, done in runs.items():
            done.append(run(way, name, folder, options.memory))
    check(name, runs)
    found = [{"layout": name, "way": way, **taken(done)} for way, done in runs.items()]
    for one in found:
        bench.say(f"{name:24s} {one}")
    return found


def main() -> None:
    """Write the files that are missing, run every way on them, print and store."""
    parser = bench.parser(__doc__, repeats=3)
    parser.add_argument("--folder", type=Path, required=True, help="where the files are written")
    parser.add_argument("--rows", type=int, default=10_000_000, help="of the lists (%(default)s)")
    parser.add_argument("--memory", default="1GB", help="(%(default)s)")
    parser.add_argument("--layouts", nargs="+", choices=EVERY, default=[*LAYOUTS])
    options = parser.parse_args()
    result = {
        "rows": options.rows,
        "memory": options.memory,
        "repeats": options.repeats,
        "machine": bench.machine(),
        "versions": bench.versions(["recframe", "polars", "duckdb"]),
        "runs": [one for name in options.layouts for one in on_layout(name, options)],
    }
    truth = pl.scan_parquet(folder_of(options.layouts[0], options) / "truth")
    result["truth_rows"] = truth.select(pl.len()).collect().item()
    bench.store(options.json, result)


if __name__ == "__main__":
    main()
