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
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import data
import machine
import polars as pl
from data import Settings
from given import KINDS, SIX

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "recorders"))

import record  # noqa: E402  it makes the environments

import recframe as rf  # noqa: E402

INSTALLED = ["recframe", "oracles"]
APART = ["rectools", "replay", "microsoft", "torchmetrics"]
OURS = "recframe"


@dataclass
class Contender:
    """A road in a process, and its times."""

    name: str
    peer: str
    process: subprocess.Popen[str]
    metrics: list[str]
    tolerance: float
    seconds: list[float] = field(default_factory=list)

    def run(self) -> dict[str, Any]:
        """Run once."""
        return asked(self.process, self.name)


def asked(process: subprocess.Popen[str], line: str | None = None) -> dict[str, Any]:
    """Send a line to a worker, if there is one to send, and return its answer."""
    if process.stdin is None or process.stdout is None:
        raise SystemExit("a worker has no pipes")
    if line is not None:
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        raise SystemExit(f"the worker {process.args} has ended; what it said is above")
    found: dict[str, Any] = json.loads(answer)
    return found


@contextmanager
def worker(
    python: Path, peer: str, kind: str, folder: Path, k: int
) -> Iterator[subprocess.Popen[str]]:
    """Start a process in an environment, and end it."""
    command = [str(python), str(HERE / "worker.py"), peer, kind, str(folder), str(k)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603  ours
    try:
        yield process
    finally:
        process.communicate()


def files(settings: Settings, folder: Path, models: int) -> tuple[int, int]:
    """Write recommendations and truth, without its grades, and return how many rows they have.

    Several models have the items of each list in turned order, below each other under text names.
    """
    case = data.case(data.numbers(settings), settings)
    recs = case.recs
    if models > 1:
        last, rank = pl.col("rank").max().over("user"), pl.col("rank")
        turned = [recs.with_columns((rank + 7 * turn) % last + 1) for turn in range(models)]
        names = [f"model_{turn}" for turn in range(models)]
        each = zip(turned, names, strict=True)
        recs = pl.concat(
            lists.select(pl.lit(name).alias("model"), pl.all()) for lists, name in each
        )
    recs.write_parquet(folder / "recs.parquet")
    case.truth.drop("relevance").write_parquet(folder / "truth.parquet")
    return len(recs), len(case.truth)


def check(contenders: Sequence[Contender], folder: Path, k: int) -> None:
    """Run everybody once, untimed; stop where one differs from recframe."""
    recs, truth = (pl.scan_parquet(folder / f"{name}.parquet") for name in ("recs", "truth"))
    metrics = list(dict.fromkeys(name for one in contenders for name in one.metrics))
    several = {"model": "model"} if "model" in recs.collect_schema() else {}
    values = recs.rec(truth=truth, **several).evaluate(*metrics, k=k).collect()
    columns = {name: values[str(rf.parse(name) @ k)] for name in metrics}
    for one in contenders:
        tell(f"  {one.name}")
        asked_for = [(name, place) for place in range(len(values)) for name in one.metrics]
        for (name, place), value in zip(asked_for, one.run()["numbers"], strict=True):
            expected = columns[name][place]
            if abs(value - expected) > one.tolerance:
                raise SystemExit(f"{one.name}: {name} is {value!r}, not {expected!r}")


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
    """Return the times of everybody from frames of one kind."""
    with ExitStack() as stack:
        contenders: list[Contender] = []
        versions = {}
        for peer, python in pythons.items():
            process = stack.enter_context(worker(python, peer, kind, folder, asked_for.k))
            told = asked(process)
            versions[peer] = told["versions"]
            contenders += [
                Contender(name, peer, process, **road) for name, road in told["roads"].items()
            ]
        check(contenders, folder, asked_for.k)
        interleave(contenders, asked_for.repeats)
    return {"frame": kind, "versions": versions, "contenders": entries(contenders)}


def entries(contenders: Sequence[Contender]) -> list[dict[str, Any]]:
    """Return each contender's metrics, seconds, median and ratio to recframe."""
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the data, check, time, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    known = [*INSTALLED, *APART]
    parser.add_argument("peers", nargs="*", metavar="peer", help=f"of {known}; all if none")
    parser.add_argument("--users", type=int, default=20_000, help="how many users (%(default)s)")
    parser.add_argument("--models", type=int, default=1, help="how many models (%(default)s)")
    parser.add_argument("--ids", choices=data.IDS, nargs="+", default=["int", "string"])
    parser.add_argument("-k", type=int, default=10, help="the cut-off (%(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="interleaved rounds (%(default)s)")
    parser.add_argument("--environments", type=Path, default=record.ENVIRONMENTS, metavar="DIR")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to a JSON file")
    told = parser.parse_args(arguments)
    wanted = [
        peer
        for peer in [*INSTALLED, *APART]
        if peer == OURS or not told.peers or peer in told.peers
    ]
    here = Path(sys.executable)
    pythons = {
        peer: here if peer in INSTALLED else record.environment(peer, told.environments)
        for peer in wanted
    }
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
                    sys.stdout.write(f"{ids:8}{kind:8}{one['name']:<30}{shown}\n")
    result = {
        "settings": asdict(settings) | {"k": told.k, "metrics": SIX, "models": told.models},
        "machine": machine.describe(),
        "cases": cases,
    }
    if told.json:
        told.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
