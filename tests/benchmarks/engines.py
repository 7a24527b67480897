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
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import engines_data
import machine
import polars as pl

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "roads" / "engines"), str(HERE.parent / "recorders")]

import record  # noqa: E402  it makes the environments
from road import SIX  # noqa: E402  what is measured

import recframe as rf  # noqa: E402

OURS = "recframe"
CORES, LENGTH, K = 2, 20, 10
PARTS = ["contenders", "slopes"]
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
    threads: int = 1
    """Of Polars: a task of Spark's has one."""
    slow: bool = False


TEAMS = [
    Team("recframe_road", "recframe_spark"),
    Team("one_machine_road", "recframe_spark", threads=CORES),
    Team("sql_road", "recframe_spark"),
    Team("mllib_road", "recframe_spark", slow=True),
    Team("replay_road", "replay_spark", slow=True),
    Team("microsoft_road", "microsoft_spark", slow=True),
]
Runs = dict[str, dict[str, Any]]
"""By name of a road: what it gives, and what its first runs in a process and those behind them took."""


def run(team: Team, folder: Path, repeats: int, into: Runs, versions: dict[str, Any]) -> None:
    """Run the roads of a team in a process each: once, and then `repeats` times."""
    for name, road in answers(team, folder, [])[0]["roads"].items():
        about, first, *warm = answers(team, folder, [name] * (repeats + 1))
        runs = into.setdefault(name, {**road, "first": [], "warm": []})
        runs["first"].append(first)
        runs["warm"] += warm
        versions[team.module.removesuffix("_road")] = about["versions"]
        seconds = [round(one["seconds"], 2) for one in warm]
        sys.stdout.write(f"{name}: {seconds} s\n")
        sys.stdout.flush()


def answers(team: Team, folder: Path, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return what a process of its own answers."""
    python = record.environment(team.environment, record.ENVIRONMENTS)
    worker = [python, HERE / "engines_worker.py", team.module, folder, str(K), json.dumps(SPARK)]
    here = {
        "PYTHONPATH": str(Path(rf.__file__).parents[1]),
        "POLARS_MAX_THREADS": str(team.threads),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    done = subprocess.run(  # noqa: S603  a script of ours
        worker,
        input="".join(f"{name}\n" for name in names),
        stdout=subprocess.PIPE,
        env=os.environ | here,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


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
    for ids in options.ids:
        for slow, rows, rounds in (
            (False, options.rows, options.rounds),
            (True, options.slow_rows, 1),
        ):
            folder = engines_data.folder_of(options.folder, rows, LENGTH, ids)
            repeats, runs = 1 if slow else options.repeats, Runs()
            for team in [one for one in TEAMS if one.slow == slow] * rounds:
                run(team, folder, repeats, runs, versions)
            for name, of in runs.items():
                entry = figures(name, of, rows, ids)
                ours = (
                    entry
                    if name == OURS
                    else next(one for one in found if (one["name"], one["ids"]) == (OURS, ids))
                )
                scale = ours["rows"] / rows
                ratios = {
                    f"{what}_ratio": entry[what] * scale / ours[what]
                    for what in ("minimum", "cpu_seconds")
                }
                found.append(
                    entry | ratios | {"scale": scale, "differences": differences(of, folder)}
                )
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the parts, print and store them; parts that are not run stay as they were stored."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("--rows", type=int, default=20_000_000, help="recommendations (%(default)s)")
    add("--slow-rows", type=int, default=2_000_000, help="for those that are slow (%(default)s)")
    add("--slopes", type=int, nargs="+", default=[5_000_000, 20_000_000, 80_000_000])
    add("--ids", choices=IDS, nargs="+", default=["int"], help="of the contenders (%(default)s)")
    add("--rounds", type=int, default=2, help="processes of each contender (%(default)s)")
    add("--repeats", type=int, default=3, help="runs of a process behind its first (%(default)s)")
    add("--parts", choices=PARTS, nargs="+", default=PARTS, help="(%(default)s)")
    add("--folder", type=Path, default=FOLDER, help="of the files (%(default)s)")
    add("--json", type=Path, metavar="FILE", help="write everything to a JSON file")
    options = parser.parse_args(arguments)
    kept = options.json is not None and options.json.exists()
    result: dict[str, Any] = json.loads(options.json.read_text(encoding="utf-8")) if kept else {}
    result["machine"] = machine.describe()
    result["settings"] = {"length": LENGTH, "k": K, "metrics": SIX, "cores": CORES, "spark": SPARK}
    versions = result.setdefault("versions", {})
    for part in options.parts:
        result[part] = {"contenders": contenders, "slopes": slopes}[part](options, versions)
        if options.json:
            options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
