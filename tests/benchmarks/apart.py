"""The benchmark of libraries that want environments of their own: six metrics at k from two long frames, conversion included.

    python tests/benchmarks/apart.py --json tests/benchmarks/apart.json
    python tests/benchmarks/apart.py --models 6 --users 10000 --ids string --json tests/benchmarks/apart_day.json
    python tests/benchmarks/apart.py rectools --users 1000 --repeats 2

It needs the `[test]` extra, and makes the environments that are missing, as `tests/recorders/record.py` does.
Every library runs in a process of its own that reads the same files, starts its clock at the long frame and stops it at the
numbers; recframe too. The processes take turns, and all are checked to give recframe's numbers before any is timed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import bench
import data
import polars as pl
import record
from data import Settings
from given import KINDS
from served import SIX

import recframe as rf

INSTALLED = ["recframe", "oracles"]
APART = ["rectools", "replay", "microsoft", "torchmetrics"]
OURS = "recframe"


@dataclass
class Contender:
    """A road in a process, and its times."""

    name: str
    peer: str
    process: bench.Process
    metrics: list[str]
    tolerance: float
    seconds: list[float] = field(default_factory=list)

    def run(self) -> bench.Figures:
        return self.process.ask(self.name)


def files(settings: Settings, folder: Path, models: int) -> tuple[int, int]:
    """Write recommendations, of one model or of several below each other, and truth without its grades; return their rows."""
    case = data.case(data.numbers(settings), settings)
    recs = case.recs
    if models > 1:
        recs = data.of_models(recs, [f"model_{turn}" for turn in range(models)])
    recs.write_parquet(folder / "recs.parquet")
    case.truth.drop("relevance").write_parquet(folder / "truth.parquet")
    return len(recs), len(case.truth)


def check(contenders: Sequence[Contender], folder: Path, k: int) -> None:
    """Run everybody once, untimed; stop where one differs from recframe."""
    recs, truth = (pl.scan_parquet(folder / f"{name}.parquet") for name in ("recs", "truth"))
    metrics = list(dict.fromkeys(name for one in contenders for name in one.metrics))
    several = {"model": "model"} if "model" in recs.collect_schema() else {}
    values = recs.rec(truth=truth, **several).evaluate(*metrics, k=k).collect()
    for one in contenders:
        tell(f"  {one.name}")
        columns = [str(rf.parse(name) @ k) for name in one.metrics]
        expected = [value for row in values.select(columns).rows() for value in row]
        for place, (value, other) in enumerate(zip(one.run()["numbers"], expected, strict=True)):
            if abs(value - other) > one.tolerance:
                name = one.metrics[place % len(one.metrics)]
                raise SystemExit(f"{one.name}: {name} is {value!r}, not {other!r}")


def interleave(contenders: Sequence[Contender], repeats: int) -> None:
    """Time everybody once in each round; rounds start with another one each."""
    for turn in range(repeats):
        tell(f"  round {turn + 1} of {repeats}")
        first = turn % len(contenders)
        for one in [*contenders[first:], *contenders[:first]]:
            one.seconds.append(one.run()["seconds"])


def measured(
    pythons: dict[str, Path], kind: str, folder: Path, asked_for: argparse.Namespace
) -> dict[str, Any]:
    versions, contenders = {}, list[Contender]()
    with ExitStack() as stack:
        for peer, python in pythons.items():
            started = bench.Process(python, "worker.py", peer, kind, folder, asked_for.k)
            process = stack.enter_context(started)
            versions[peer] = process.about["versions"]
            for name, road in process.about["roads"].items():
                contenders.append(Contender(name, peer, process, **road))
        check(contenders, folder, asked_for.k)
        interleave(contenders, asked_for.repeats)
    return {"frame": kind, "versions": versions, "contenders": entries(contenders)}


def entries(contenders: Sequence[Contender]) -> list[dict[str, Any]]:
    medians = {one.name: statistics.median(one.seconds) for one in contenders}
    return [
        {
            "name": one.name,
            "peer": one.peer,
            "metrics": one.metrics,
            "seconds": one.seconds,
            "median": medians[one.name],
            "ratio": medians[one.name] / medians[OURS],
        }
        for one in contenders
    ]


def tell(line: str) -> None:
    """Say on a terminal what is going on."""
    if sys.stderr.isatty():
        sys.stderr.write(f"{line}\n")


def main() -> None:
    known = [*INSTALLED, *APART]
    parser = bench.parser(__doc__)
    parser.add_argument("peers", nargs="*", metavar="peer", help=f"of {known}; all if none")
    parser.add_argument("--users", type=int, default=20_000, help="how many users (%(default)s)")
    parser.add_argument("--models", type=int, default=1, help="how many models (%(default)s)")
    parser.add_argument("--ids", choices=data.IDS, nargs="+", default=["int", "string"])
    parser.add_argument("-k", type=int, default=10, help="the cut-off (%(default)s)")
    parser.add_argument("--environments", type=Path, default=record.ENVIRONMENTS, metavar="DIR")
    told = parser.parse_args()
    wanted = {OURS, *(told.peers or known)}
    pythons = {peer: Path(sys.executable) for peer in INSTALLED if peer in wanted}
    for peer in APART:
        if peer in wanted:
            pythons[peer] = record.environment(peer, told.environments)
    cases = []
    for ids in told.ids:
        settings = Settings(told.users, ids=ids, shape="two")
        with tempfile.TemporaryDirectory() as folder:
            rows = files(settings, Path(folder), told.models)
            for kind in KINDS:
                tell(f"ids {ids}, {kind} frames")
                case = measured(pythons, kind, Path(folder), told)
                cases.append({"ids": ids, "rows": rows, **case})
                for one in case["contenders"]:
                    shown = f"{one['median']:>10.4f} s{one['ratio']:>9.1f} x"
                    bench.say(f"{ids:8}{kind:8}{one['name']:<30}{shown}")
    result = {
        "settings": asdict(settings) | {"k": told.k, "metrics": SIX, "models": told.models},
        "machine": bench.machine(),
        "cases": cases,
    }
    bench.store(told.json, result)


if __name__ == "__main__":
    main()
