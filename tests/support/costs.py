"""What a case of each test function costs, in CPU milliseconds: it orders the suite and chooses the fast lane."""

from __future__ import annotations

import json
import re
import resource
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

STORED = Path(__file__).parents[1] / "seconds.json"
EVERY_CASE = 20
"""CPU milliseconds up to which the fast lane has every case of a test."""
ONE_CASE = 50
"""CPU milliseconds up to which it has one case."""
OF_A_FUNCTION = 1_000
"""CPU milliseconds that the cases of a test may take together; more than three cases of a dearer one run at night alone."""
LEAST = 3
MEASURED = "cpu_ms"
Costs = Mapping[str, float]
"""CPU milliseconds of a case by the name of the test function."""
START = pytest.StashKey[float]()


def stored() -> dict[str, float]:
    """Read what each function costs a case; functions that are new have no cost yet."""
    if not STORED.exists():
        return {}
    files = json.loads(STORED.read_text(encoding="utf-8"))
    return {f"{file}::{name}": cost for file, some in files.items() for name, cost in some.items()}


def function_of(item: pytest.Item) -> str:
    """Return the name without the case."""
    return item.nodeid.partition("[")[0]


def is_fast(items: Iterable[pytest.Item], costs: Costs) -> Iterator[pytest.Item]:
    """Yield the tests of the fast lane: what is cheap, and a case of what is less so or not yet measured."""
    known = set()
    for item in items:
        name = function_of(item)
        cost = costs.get(name, ONE_CASE)
        is_of_an_engine = item.get_closest_marker("spark") or item.get_closest_marker("dask")
        if is_of_an_engine or cost > ONE_CASE or (cost > EVERY_CASE and name in known):
            continue
        known.add(name)
        yield item


def at_night(items: Iterable[pytest.Item], costs: Costs) -> Iterator[pytest.Item]:
    """Yield the cases of dear tests that the suite leaves to the nightly lane, drawn by their names.

    In the agreement room each case is a row of a table or a peer, and each room says its own: no other stands in for them.
    """
    functions: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if {"agreement", "test_said.py"}.isdisjoint(item.path.parts):
            functions[function_of(item)].append(item)
    for name, cases in functions.items():
        n_kept = max(LEAST, int(OF_A_FUNCTION / max(costs.get(name, 0), 1)))
        yield from sorted(cases, key=lambda item: zlib.crc32(item.nodeid.encode()))[n_kept:]


def long_first(items: list[pytest.Item], costs: Costs) -> None:
    """Put files whose tests cost most at the start, so that no process is left with a long file at the end."""
    of_files: dict[Path, float] = defaultdict(float)
    for item in items:
        of_files[item.path] += costs.get(function_of(item), 0)
    items.sort(key=lambda item: -of_files[item.path])


class Meter:
    """The plugin that measures each test that passes and writes what the cases of a function cost on average."""

    def __init__(self) -> None:
        self._cases: dict[str, list[float]] = defaultdict(list)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        item.stash[START] = cpu()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> None:
        """Note the cost where pytest-xdist takes it from one process to the other."""
        if call.when == "call" and call.excinfo is None:
            item.user_properties.append((MEASURED, 1000 * (cpu() - item.stash[START])))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            name = report.nodeid.partition("[")[0]
            self._cases[name] += [cost for key, cost in report.user_properties if key == MEASURED]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not hasattr(session.config, "workerinput"):
            write({name: fmean(cases) for name, cases in self._cases.items() if cases})


def write(costs: Costs) -> None:
    """Put the costs of some functions in place of those that were stored, and forget functions that are gone."""
    files: dict[str, dict[str, int]] = defaultdict(dict)
    for name, cost in sorted({**stored(), **costs}.items()):
        file, _, function = name.partition("::")
        path = STORED.parents[1] / file
        if path.exists() and re.split(r"::|\.", function)[-1] in path.read_text(encoding="utf-8"):
            files[file][function] = round(cost)
    STORED.write_text(json.dumps(files, indent=1) + "\n", encoding="utf-8")


def cpu() -> float:
    """Return the CPU seconds of this process and of those that it waited for."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)
