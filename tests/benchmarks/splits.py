"""The benchmark of splits: a log of ten million rows, each work in recframe and in the libraries that have it.

    python tests/benchmarks/splits.py --json tests/benchmarks/splits.json
    python tests/benchmarks/splits.py --rows 200000 --works by_time rolling

Every work of every library runs in a process of its own, in the library's environment (those that are missing are made, as
`tests/recorders/record.py` does), and processes take turns. Where rules agree, rows of train and truth are checked to
be as many as recframe's. A library that takes minutes is given a tenth of the rows.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

import bench
import numpy as np
import polars as pl
import record

ROADS = [
    ("recframe", "polars"),
    ("recframe", "pandas"),
    ("replay", "polars"),
    ("replay", "pandas"),
    ("rectools", "pandas"),
    ("microsoft", "pandas"),
]
WORKS = {
    "by_time": ["replay", "rectools"],
    "by_time, labels": [],
    "rolling": ["rectools"],
    "rolling, labels": [],
    "last_per_user": ["replay", "rectools", "microsoft"],
    "random per user": ["microsoft"],
    "random per log": ["replay", "rectools", "microsoft"],
    "popular": ["rectools"],
}
SAME = {"by_time", "rolling"}
"""Works whose rows all libraries have in common."""
SLOW = {
    ("rectools", "last_per_user"),
    ("rectools", "popular"),
    ("microsoft", "last_per_user"),
    ("microsoft", "random per user"),
    ("replay", "last_per_user"),
}
"""What takes long at ten million rows; it is given a tenth of them."""
DAYS = 365


def log(rows: int, seed: int = 0) -> pl.DataFrame:
    """Return a log of a year: 26 rows a user on average, few items have most of the rows, users and items come over time."""
    random = np.random.default_rng(seed)
    users, items = max(1, rows // 26), 20_000
    weights = random.lognormal(0, 1, users)
    user = random.choice(users, rows, p=weights / weights.sum())
    item = np.minimum((items * random.random(rows) ** 3).astype(np.int64), items - 1)
    second = np.sort(random.integers(0, DAYS * 86_400, rows))
    start = pl.lit(datetime(2024, 1, 1))  # noqa: DTZ001  peers refuse time zones
    columns = {"user": user, "item": random.permutation(items)[item], "second": second}
    frame = pl.DataFrame(columns).sample(fraction=1.0, shuffle=True, seed=seed)
    return frame.select("user", "item", time=start + pl.duration(seconds="second"))


def measured(
    pythons: dict[str, Path], work: str, files: dict[int, Path], told: argparse.Namespace
) -> list[dict[str, Any]]:
    """Return the minimum of the seconds of everybody who has a work, in rounds, and the peak of their memory."""
    roads = [road for road in ROADS if road[0] in {"recframe", *WORKS[work]} & {*pythons}]
    found: dict[tuple[str, str], list[dict[str, Any]]] = {road: [] for road in roads}
    for turn in range(told.rounds):
        for road in [*roads[turn:], *roads[:turn]]:
            rows = told.rows // 10 if (road[0], work) in SLOW else told.rows
            given = (*road, files[rows], told.repeats)
            with bench.Process(pythons[road[0]], "splits_worker.py", *given) as process:
                found[road].append({"log_rows": rows, **process.about, **process.ask(work)})
    if work in SAME:
        counts = {(one["log_rows"], str(one["rows"])) for runs in found.values() for one in runs}
        if len(counts) > len({rows for rows, _ in counts}):
            raise SystemExit(f"{work}: libraries differ: {counts}")
    return [
        {
            "work": work,
            "library": library,
            "frame": kind,
            "log_rows": runs[0]["log_rows"],
            "rows": runs[0]["rows"],
            "seconds": min(second for one in runs for second in one["seconds"]),
            "peak_bytes": min(one["peak_bytes"] for one in runs),
            "versions": runs[0]["versions"],
        }
        for (library, kind), runs in found.items()
    ]


def main() -> None:
    parser = bench.parser(__doc__, repeats=3)
    parser.add_argument("--rows", type=int, default=10_000_000, help="of the log (%(default)s)")
    parser.add_argument("--works", nargs="+", choices=WORKS, default=[*WORKS], metavar="WORK")
    parser.add_argument("--libraries", nargs="+", default=["recframe", *record.PEERS])
    parser.add_argument("--rounds", type=int, default=2, help="processes of each (%(default)s)")
    told = parser.parse_args()
    pythons = {
        name: record.environment(name, record.ENVIRONMENTS)
        for name in sorted({library for library, _ in ROADS[2:]} & {*told.libraries})
    } | {"recframe": Path(sys.executable)}
    entries: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        files = {rows: Path(folder) / f"{rows}.parquet" for rows in (told.rows // 10, told.rows)}
        for rows, file in files.items():
            made = log(rows)
            made.write_parquet(file)
        result = {
            "rows": told.rows,
            "log_bytes": int(made.estimated_size()),
            "machine": bench.machine(),
            "works": entries,
        }
        del made
        for work in told.works:
            found = measured(pythons, work, files, told)
            entries += found
            for one in found:
                road = f"{one['library']} ({one['frame']}), {one['log_rows']:,} rows"
                bench.say(f"{work:<18}{road:<40}{one['seconds']:>9.3f} s")
            # after each work, so that a run that is stopped leaves what it has
            bench.store(told.json, result)


if __name__ == "__main__":
    main()
