"""recframe on Spark beside other ways to the six metrics on Spark, from Parquet files to the numbers at the driver.

    python tests/benchmarks/engines.py --json tests/benchmarks/engines.json
    python tests/benchmarks/engines.py --rows 200000 --slow-rows 100000 --slopes 100000 200000 --repeats 1

It needs the `[test]` extra and Java 17, makes the environments that are missing, and writes the files that are missing, about
7 bytes for each recommendation. Its two parts:

contenders   every way over the same files, each in a process of its own with the same settings of Spark, and recframe without
             Spark; processes take turns. In each the first run stands apart. Those that are slow run over fewer rows.
slopes       recframe on Spark over files of several sizes.
"""

from __future__ import annotations

import argparse
import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import bench
import engines_data
import polars as pl
import record
from served import SIX

import recframe as rf

OURS = "recframe"
CORES, LENGTH, K = 2, 20, 10
IDS = ["int", "string"]
FOLDER = record.ENVIRONMENTS.parent / "engines"
SPARK = {
    "spark.master": f"local[{CORES}]",
    "spark.driver.memory": "6g",
    "spark.sql.shuffle.partitions": "16",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.retainedStages": "100000",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}
"""The settings of Spark, the same for all."""


class Team(NamedTuple):
    """The roads of a module, which run in one environment; a slow one runs over fewer rows, and less often."""

    module: str
    environment: str
    slow: bool = False


TEAMS = [
    Team("recframe_road", "recframe_spark"),
    Team("sql_road", "recframe_spark"),
    Team("mllib_road", "recframe_spark", slow=True),
    Team("replay_road", "replay_spark", slow=True),
    Team("microsoft_road", "microsoft_spark", slow=True),
]
Runs = dict[str, dict[str, Any]]
"""By name of a road: what it gives, and what its first runs in a process and those behind them took."""


def started(team: Team, folder: Path, threads: int = 1) -> bench.Process:
    """Start a process with the roads of a team; a task of Spark's has one thread of Polars'."""
    python = record.environment(team.environment, record.ENVIRONMENTS)
    here = {
        "PYTHONPATH": str(Path(rf.__file__).parents[1]),
        "POLARS_MAX_THREADS": str(threads),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    given = (team.module, folder, K, json.dumps(SPARK))
    return bench.Process(python, "engines_worker.py", *given, **here)


def run(team: Team, folder: Path, repeats: int, into: Runs, versions: dict[str, Any]) -> None:
    """Run the roads of a team in a process each: once, and then `repeats` times."""
    with started(team, folder) as process:
        roads = process.about["roads"]
        versions[team.module.removesuffix("_road")] = process.about["versions"]
    for name, road in roads.items():
        threads = 1 if road.pop("on_spark") else CORES
        with started(team, folder, threads) as process:
            first, *warm = [process.ask(name) for _ in range(repeats + 1)]
        runs = into.setdefault(name, {**road, "first": [], "warm": []})
        runs["first"].append(first)
        runs["warm"] += warm
        bench.say(f"{name}: {[round(one['seconds'], 2) for one in warm]} s")


def figures(name: str, runs: dict[str, Any], rows: int, ids: str) -> dict[str, Any]:
    """Return what the runs behind the first of a process took."""
    warm = runs["warm"]
    seconds = [one["seconds"] for one in warm]
    return {
        "name": name,
        "ids": ids,
        "rows": rows,
        "metrics": runs["metrics"],
        "universe": runs["universe"],
        "first": [one["seconds"] for one in runs["first"]],
        "seconds": seconds,
        "minimum": min(seconds),
        "cpu_seconds": min(one["cpu_seconds"] for one in warm),
        **{what: warm[-1][what] for what in ("shuffle_bytes", "shuffle_records", "stages")},
        "python_peak_bytes": max(one["python_peak_bytes"] for one in warm),
    }


def contenders(options: argparse.Namespace, versions: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what everybody took, and how far their numbers are from recframe's on one machine."""
    found = []
    speeds = (
        (False, options.rows, options.rounds, options.repeats),
        (True, options.slow_rows, 1, 1),
    )
    for ids in options.ids:
        ours: dict[str, Any] = {}
        for slow, rows, rounds, repeats in speeds:
            folder = engines_data.folder_of(options.folder, rows, LENGTH, ids)
            runs = Runs()
            for team in [one for one in TEAMS if one.slow == slow] * rounds:
                run(team, folder, repeats, runs, versions)
            for name, of in runs.items():
                entry = figures(name, of, rows, ids)
                ours = ours or entry
                entry["scale"] = ours["rows"] / rows
                for what in ("minimum", "cpu_seconds"):
                    entry[f"{what}_ratio"] = entry[what] * entry["scale"] / ours[what]
                found.append(entry | {"differences": differences(of, folder)})
    return found


def differences(runs: dict[str, Any], folder: Path) -> dict[str, float]:
    """Return the largest distance of each metric to recframe's on one machine."""
    expected = numbers(folder, runs["universe"])
    given = [one["numbers"] for one in [*runs["first"], *runs["warm"]]]
    return {
        name: max(abs(one[place] - expected[f"{name}@{K}"]) for one in given)
        for place, name in enumerate(runs["metrics"])
    }


@cache
def numbers(folder: Path, universe: str) -> dict[str, float]:
    """Return recframe's numbers on one machine: the six, and other forms of them that others have."""
    recs, truth = (pl.scan_parquet(folder / kind / "*.parquet") for kind in ("recs", "truth"))
    rec = rf.rec(recs, truth=truth, universe=universe)
    found = rec.evaluate(*SIX, "map(normalizer=min)", "ndcg(gain=binary)", k=K)
    row: dict[str, float] = found.collect(engine="streaming").row(0, named=True)
    return row


def slopes(options: argparse.Namespace, versions: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what recframe takes on Spark, by the number of rows."""
    found = []
    for ids in IDS:
        for rows in options.slopes:
            folder, runs = engines_data.folder_of(options.folder, rows, LENGTH, ids), Runs()
            run(TEAMS[0], folder, max(options.repeats - 1, 1), runs, versions)
            found.append(figures(OURS, runs[OURS], rows, ids))
    return found


PARTS = {"contenders": contenders, "slopes": slopes}


def main() -> None:
    """Run the parts, print and store them; parts that are not run stay as they were stored."""
    parser = bench.parser(__doc__, repeats=3)
    add = parser.add_argument
    add("--rows", type=int, default=20_000_000, help="recommendations (%(default)s)")
    add("--slow-rows", type=int, default=2_000_000, help="for those that are slow (%(default)s)")
    add("--slopes", type=int, nargs="+", default=[5_000_000, 20_000_000, 80_000_000])
    add("--ids", choices=IDS, nargs="+", default=["int"], help="of the contenders (%(default)s)")
    add("--rounds", type=int, default=2, help="processes of each contender (%(default)s)")
    add("--parts", choices=PARTS, nargs="+", default=[*PARTS], help="(%(default)s)")
    add("--folder", type=Path, default=FOLDER, help="of the files (%(default)s)")
    options = parser.parse_args()
    result = bench.stored(options.json)
    result["machine"] = bench.machine()
    result["settings"] = {"length": LENGTH, "k": K, "metrics": SIX, "cores": CORES, "spark": SPARK}
    versions = result.setdefault("versions", {})
    for part in options.parts:
        result[part] = PARTS[part](options, versions)
        bench.store(options.json, result)


if __name__ == "__main__":
    main()
