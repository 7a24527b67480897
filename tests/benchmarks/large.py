"""Files larger than memory: one plan, buckets of users and DuckDB within one bound, layout by layout.

    python tests/benchmarks/large.py --folder /somewhere/with/space --json tests/benchmarks/large.json

Each run is a process of its own, which starts its clocks after its imports. All ways give the same numbers to 1e-9, or it
fails. It needs the `[test]` extra and some gigabyte of disk for ten million rows.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

import machine
from large_layouts import LAYOUTS, LENGTH, TRUTH, write
from large_worker import BUCKETS, DUCKDB, ONE_PLAN

WAYS = (ONE_PLAN, BUCKETS, DUCKDB)
WORKER = Path(__file__).with_name("large_worker.py")
TOLERANCE = 1e-9


def run(way: str, name: str, folder: Path, memory: str) -> dict[str, Any]:
    """Return what one way takes in a process of its own, or the last line of its error."""
    layout = LAYOUTS[name]
    done = subprocess.run(  # noqa: S603  of this file
        [
            sys.executable,
            str(WORKER),
            way,
            str(folder),
            memory,
            str(layout.k),
            str(layout.n_models > 1),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return {"error": lines[-1] if lines else f"status {done.returncode}"}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def taken(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the medians of several runs, or an error."""
    for one in runs:
        if "error" in one:
            return {"error": one["error"]}
    return {
        "seconds": median(one["seconds"] for one in runs),
        "cpu_seconds": median(one["cpu_seconds"] for one in runs),
        "peak_bytes": max(one["peak_bytes"] for one in runs),
    }


def check(name: str, runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Raise where two ways give two numbers."""
    first, *others = (one["values"] for some in runs.values() for one in some if "values" in one)
    for other in others:
        for one, two in zip(chain(*first), chain(*other), strict=True):
            same = one == two if isinstance(one, str) else math.isclose(one, two, rel_tol=TOLERANCE)
            if not same:
                raise SystemExit(f"{name}: {one} and {two}")


def on_layout(name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Run all ways on a layout by turns, and print what they take."""
    folder = options.folder / f"{options.rows}" / name.replace(" ", "_")
    if not folder.exists():
        write(folder, options.rows // LENGTH, LAYOUTS[name])
    runs: dict[str, list[dict[str, Any]]] = {way: [] for way in WAYS}
    for _ in range(options.repeats):
        for way, done in runs.items():
            done.append(run(way, name, folder, options.memory))
    check(name, runs)
    found = [{"layout": name, "way": way, **taken(done)} for way, done in runs.items()]
    for one in found:
        figures = one.get("error") or (
            f"{one['seconds']:6.2f} s {one['cpu_seconds']:7.2f} CPU s {one['peak_bytes'] / 1e9:6.2f} GB"
        )
        sys.stdout.write(f"{name:24s} {one['way']:10s} {figures}\n")
        sys.stdout.flush()
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the files that are missing, run every way on them, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, required=True, help="where the files are written")
    parser.add_argument("--rows", type=int, default=10_000_000, help="of the lists (%(default)s)")
    parser.add_argument("--memory", default="1GB", help="(%(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="(%(default)s)")
    parser.add_argument("--layouts", nargs="+", choices=LAYOUTS, default=[*LAYOUTS])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to a JSON file")
    options = parser.parse_args(arguments)
    runs = [one for name in options.layouts for one in on_layout(name, options)]
    result = {
        "rows": options.rows,
        "truth_rows": options.rows // LENGTH * TRUTH,
        "memory": options.memory,
        "repeats": options.repeats,
        "machine": machine.describe(),
        "versions": {name: version(name) for name in ("recframe", "polars", "duckdb")},
        "runs": runs,
    }
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
