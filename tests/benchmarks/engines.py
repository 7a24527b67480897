"""recframe on Spark beside other ways to the six metrics on Spark, from Parquet files to the numbers at the driver.

    python tests/benchmarks/engines.py --json tests/benchmarks/engines.json
    python tests/benchmarks/engines.py --small
    python tests/benchmarks/engines.py --parts slopes --slopes 5000000 --ids string

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
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import engines_data
import machine
import polars as pl

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "roads" / "engines"), str(HERE.parent / "agreement" / "recorded")]

import record  # noqa: E402  it makes the environments
from road import SIX  # noqa: E402  what is asked

import recframe as rf  # noqa: E402

OURS = "recframe"
TOLERANCE = 1e-9
CORES = 2
PARTS = ["contenders", "slopes"]
IDS = ["int", "string"]
SMALL = {
    "rows": 200_000,
    "slow_rows": 100_000,
    "slopes": [100_000, 200_000],
    "rounds": 1,
    "repeats": 1,
}


@dataclass(frozen=True)
class Team:
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


@dataclass
class Timed:
    """What the runs of a road over some files took."""

    name: str
    metrics: list[str]
    universe: str
    rows: int
    ids: str
    first: list[dict[str, Any]] = field(default_factory=list)
    warm: list[dict[str, Any]] = field(default_factory=list)

    def told(self) -> dict[str, Any]:
        """Return the figures, of the runs behind the first of a process."""
        last = self.warm[-1]
        seconds, cpu = ([one[name] for one in self.warm] for name in ("seconds", "cpu_seconds"))
        return {
            "name": self.name,
            "ids": self.ids,
            "rows": self.rows,
            "metrics": self.metrics,
            "universe": self.universe,
            "first": [one["seconds"] for one in self.first],
            "seconds": seconds,
            "minimum": min(seconds),
            "median": statistics.median(seconds),
            "cpu_seconds": min(cpu),
            "shuffle_bytes": last["shuffle_bytes"],
            "shuffle_records": last["shuffle_records"],
            "stages": last["stages"],
            "python_peak_bytes": max(one["python_peak_bytes"] for one in self.warm),
        }


class Bench:
    """The files, the environments and the settings."""

    def __init__(self, told: argparse.Namespace) -> None:
        self.told = told
        self.versions: dict[str, dict[str, str]] = {}
        self.failed: list[str] = []

    def files(self, rows: int, ids: str) -> Path:
        """Return the folder of files of a size."""
        tell(f"files of {rows:,} rows, ids {ids}")
        return engines_data.folder_of(self.told.folder, rows, self.told.length, ids)

    @property
    def settings(self) -> dict[str, str]:
        """The settings of Spark, the same for all."""
        return {
            "spark.master": f"local[{CORES}]",
            "spark.driver.memory": self.told.memory,
            "spark.sql.shuffle.partitions": str(self.told.partitions),
            "spark.sql.execution.arrow.pyspark.enabled": "true",
            "spark.ui.showConsoleProgress": "false",
            "spark.ui.retainedStages": "100000",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
        }

    def run(self, team: Team, rows: int, ids: str, repeats: int, into: dict[str, Timed]) -> None:
        """Run the roads of a team in a process each: once, and then `repeats` times."""
        folder = self.files(rows, ids)
        told = self._asked(team, folder, [])[0]
        for name, road in told["roads"].items():
            tell(f"  {name}")
            answers = self._asked(team, folder, [name] * (repeats + 1))
            timed = into.setdefault(name, Timed(name, road["metrics"], road["universe"], rows, ids))
            self.versions[team.module.removesuffix("_road")] = answers[0]["versions"]
            timed.first.append(answers[1])
            timed.warm += answers[2:]
            tell(f"    {', '.join(format(one['seconds'], '.2f') for one in answers[1:])} s")

    def _asked(self, team: Team, folder: Path, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return what a process of its own answers."""
        python = record.environment(team.environment, self.told.environments)
        worker = [python, HERE / "engines_worker.py", team.module, folder, str(self.told.k)]
        here = {
            "PYTHONPATH": str(Path(rf.__file__).parents[1]),
            "POLARS_MAX_THREADS": str(team.threads),
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        done = subprocess.run(  # noqa: S603  a script of ours
            [*worker, json.dumps(self.settings)],
            input="".join(f"{name}\n" for name in names),
            stdout=subprocess.PIPE,
            stderr=None if self.told.loud else subprocess.DEVNULL,
            env=os.environ | here,
            text=True,
            check=True,
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    def contenders(self) -> list[dict[str, Any]]:
        """Return what everybody took, and how far their numbers are from recframe's on one machine."""
        found = []
        for ids in self.told.ids:
            timed: dict[str, Timed] = {}
            slow: dict[str, Timed] = {}
            for turn in range(self.told.rounds):
                tell(f"round {turn + 1} of {self.told.rounds}")
                for team in [one for one in TEAMS if not one.slow]:
                    self._tried(team, self.told.rows, ids, self.told.repeats, timed)
            for team in [one for one in TEAMS if one.slow]:
                self._tried(team, self.told.slow_rows, ids, 1, slow)
            found += self._compared([*timed.values(), *slow.values()])
        return found

    def _tried(self, team: Team, rows: int, ids: str, repeats: int, into: dict[str, Timed]) -> None:
        """Run the roads of a team; one that fails does not cost what the others took."""
        try:
            self.run(team, rows, ids, repeats, into)
        except subprocess.CalledProcessError:
            self.failed.append(team.module)
            sys.stderr.write(f"{team.module} has failed; --loud shows why\n")

    def _compared(self, everybody: Sequence[Timed]) -> list[dict[str, Any]]:
        ours = next(one for one in everybody if one.name == OURS).told()
        return [self._entry(one, ours) for one in everybody]

    def _entry(self, one: Timed, ours: dict[str, Any]) -> dict[str, Any]:
        told, scale = one.told(), ours["rows"] / one.rows
        ratios = {
            f"{name}_ratio": told[name] * scale / ours[name]
            for name in ("minimum", "median", "cpu_seconds")
        }
        return told | {"scale": scale, **ratios, "differences": self._differences(one)}

    def _differences(self, one: Timed) -> dict[str, float]:
        """Return the largest distance of each metric to recframe's on one machine."""
        expected = numbers(self.files(one.rows, one.ids), one.universe, self.told.k)
        runs = [run["numbers"] for run in [*one.first, *one.warm]]
        return {
            name: max(abs(run[place] - expected[f"{name}@{self.told.k}"]) for run in runs)
            for place, name in enumerate(one.metrics)
        }

    def slopes(self) -> list[dict[str, Any]]:
        """Return what recframe takes on Spark, by the number of rows."""
        found = []
        for ids in IDS:
            for rows in self.told.slopes:
                timed: dict[str, Timed] = {}
                self.run(TEAMS[0], rows, ids, max(self.told.repeats - 1, 1), timed)
                found.append(timed[OURS].told())
        return found


@cache
def numbers(folder: Path, universe: str, k: int) -> dict[str, float]:
    """Return recframe's numbers on one machine: the six, and other forms of them that others have."""
    recs, truth = (pl.scan_parquet(folder / kind / "*.parquet") for kind in ("recs", "truth"))
    rec = rf.rec(recs, truth=truth, universe=universe)
    found = rec.evaluate(*SIX, "map(normalizer=min)", "ndcg(gain=binary)", k=k)
    row: dict[str, float] = found.collect(engine="streaming").row(0, named=True)
    return row


def text(result: dict[str, Any]) -> str:
    """Return the readable form of a result."""
    lines = []
    for one in result.get("contenders", []):
        worst = max(one["differences"].values())
        lines.append(
            f"{one['name']:<22}{one['ids']:>7}{one['rows']:>12,} rows{one['minimum']:>8.2f} s "
            f"({one['first'][0]:.1f} first){one['minimum_ratio']:>6.1f} x, CPU {one['cpu_seconds_ratio']:.1f} x, "
            f"shuffle {one['shuffle_bytes'] / 1e6:.1f} MB, {one['shuffle_records']:,} records, "
            f"{len(one['metrics'])} metrics, off by {worst:.1e}"
        )
    lines += [
        f"{one['ids']:<7}{one['rows']:>12,} rows{one['minimum']:>8.2f} s{one['shuffle_bytes'] / 1e6:>8.1f} MB"
        f"{one['shuffle_records']:>12,} records, worker {one['python_peak_bytes'] / 1e6:.0f} MB"
        for one in result.get("slopes", [])
    ]
    return "\n".join(lines)


def options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--rows", type=int, default=20_000_000, help="recommendations (%(default)s)")
    add("--length", type=int, default=20, help="of each list; 20 or 100, say (%(default)s)")
    add("--slow-rows", type=int, default=2_000_000, help="for those that are slow (%(default)s)")
    add(
        "--slopes",
        type=int,
        nargs="+",
        default=[5_000_000, 20_000_000, 80_000_000],
        help="(%(default)s)",
    )
    add(
        "--ids", choices=IDS, nargs="+", default=["int"], help="ids of the contenders (%(default)s)"
    )
    add("--rounds", type=int, default=2, help="processes of each contender (%(default)s)")
    add("--repeats", type=int, default=3, help="runs of a process behind its first (%(default)s)")
    add("-k", type=int, default=10, help="the cut-off (%(default)s)")
    add("--memory", default="6g", help="of Spark's driver (%(default)s)")
    add("--partitions", type=int, default=16, help="spark.sql.shuffle.partitions (%(default)s)")
    add("--parts", choices=PARTS, nargs="+", default=PARTS, help="(%(default)s)")
    add(
        "--folder",
        type=Path,
        default=record.ENVIRONMENTS.parent / "engines",
        help="of the files (%(default)s)",
    )
    add("--environments", type=Path, default=record.ENVIRONMENTS, help="their folder (%(default)s)")
    add(
        "--json",
        type=Path,
        metavar="FILE",
        help="write everything to a JSON file; parts not run stay as they are",
    )
    add("--loud", action="store_true", help="show what Spark says")
    add("--small", action="store_true", help=f"some minutes: {SMALL}")
    if parser.parse_args(arguments).small:
        parser.set_defaults(**SMALL)
    return parser.parse_args(arguments)


def tell(line: str) -> None:
    """Say on a terminal what is going on."""
    if sys.stderr.isatty():
        sys.stderr.write(f"{line}\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the parts, print and store them."""
    told = options(arguments)
    bench = Bench(told)
    kept = told.json is not None and told.json.exists()
    result: dict[str, Any] = json.loads(told.json.read_text(encoding="utf-8")) if kept else {}
    result["machine"] = machine.describe()
    result["settings"] = {
        "length": told.length,
        "k": told.k,
        "metrics": SIX,
        "cores": CORES,
        "rounds": told.rounds,
        "repeats": told.repeats,
        "spark": bench.settings,
    }
    for part in told.parts:
        result[part] = getattr(bench, part)()
        result["versions"] = result.get("versions", {}) | bench.versions
        result["failed"] = bench.failed
        if told.json:
            told.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(f"{text(result)}\n")


if __name__ == "__main__":
    main()
