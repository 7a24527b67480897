"""What benchmarks share: arguments, works in turn, processes that are asked, the machine, and the file of figures."""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "recorders"))  # where `record` makes environments
DISTRIBUTIONS = ["recframe", "polars", "pandas", "numpy", "pyarrow", "numba"]
Figures = dict[str, Any]


def parser(doc: str | None, *, repeats: int = 5) -> argparse.ArgumentParser:
    """Return the arguments that every benchmark has."""
    made = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    made.add_argument("--repeats", type=int, default=repeats, help="timed runs (%(default)s)")
    made.add_argument("--json", type=Path, metavar="FILE", help="write everything to a JSON file")
    return made


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def stored(path: Path | None) -> Figures:
    """Return what a file of figures has, nothing where there is none."""
    found: Figures = {}
    if path is not None and path.exists():
        found = json.loads(path.read_text(encoding="utf-8"))
    return found


def store(path: Path | None, result: Figures) -> None:
    """Write the file of figures that a page is made from, where it is wanted."""
    if path is not None:
        path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


def times_in_turn(
    works: Sequence[Callable[[], object]],
    repeats: int,
    calls: Sequence[int],
    clock: Callable[[], float] = time.perf_counter,
) -> list[list[float]]:
    """Return the seconds of one call of each in every turn, after one untimed; `calls` are those of a turn.

    Works take turns, so that noise hits all alike. What is loaded by then is no garbage: to look through it before each call
    would take longer than most calls, and in such a pause Polars gives its memory back to the system.
    """
    taken: list[list[float]] = [[] for _ in works]
    gc.collect()
    gc.freeze()
    for turn in range(repeats + 1):
        for work, times, n_calls in zip(works, taken, calls, strict=True):
            gc.collect()
            start = clock()
            for _ in range(n_calls):
                work()
            if turn:
                times.append((clock() - start) / n_calls)
    gc.unfreeze()
    return taken


class Process(AbstractContextManager["Process"]):
    """A script of ours in an environment, as `served` has it: its first answer is `about`."""

    def __init__(self, python: Path, script: str, *arguments: object, **variables: str) -> None:
        self._process = subprocess.Popen(  # noqa: S603  a script of ours
            [str(python), str(HERE / script), *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | variables,
            text=True,
        )
        self.about = self._answer()

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def ask(self, line: str) -> Figures:
        if self._process.stdin is not None:
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Figures:
        line = self._process.stdout.readline() if self._process.stdout is not None else ""
        if not line:
            raise ChildProcessError(f"{self._process.args} has ended; what it said is above")
        found: Figures = json.loads(line)
        return found


def machine() -> dict[str, str]:
    """Return the machine without a name or path of it: processor, threads that Polars uses, memory, system."""
    kibibytes = _field("/proc/meminfo", "MemTotal").removesuffix("kB").strip()
    return {
        "processor": _field("/proc/cpuinfo", "model name")
        or platform.processor()
        or platform.machine(),
        "threads": str(pl.thread_pool_size()),
        "memory": f"{int(kibibytes) / 2**20:.0f} GiB" if kibibytes else "unknown",
        "system": f"{platform.system()} {platform.release().partition('-')[0]} {platform.machine()}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def _field(path: str, name: str) -> str:
    """Return a field of one of Linux' text files on the machine; nothing on other systems."""
    lines = Path(path).read_text(encoding="utf-8").splitlines() if Path(path).exists() else []
    pairs = (line.partition(":") for line in lines)
    return next((value.strip() for key, _, value in pairs if key.strip() == name), "")


def versions(names: Iterable[str] = DISTRIBUTIONS) -> dict[str, str]:
    """Return the version of every library that is timed or reads the frames."""
    return {name: version(name) for name in names}
