"""What each test costs and which points it reaches; then for each point the cheapest tests until one fails."""

from __future__ import annotations

import functools
import gc
import json
import resource
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from _pytest.warnings import catch_warnings_for_item
from points import Point, switch

SECONDS = 30
"""How long a test may run on a changed source, which may never end."""


class Killing:
    """The run: a first round over all tests, as written; a second over the points.

    Both go on where an earlier run stopped: each line of the file that is kept is a test or a point that is done.
    """

    def __init__(self, drawn: list[Point], kept: Path, most: float) -> None:
        self._drawn = drawn
        self._kept = kept
        self._most = most
        self._caches: list[Any] = []
        self._of_fixtures: dict[Any, set[int]] = {}
        lines = kept.read_text().splitlines() if kept.exists() else []
        records = [json.loads(line) for line in lines]
        self.tests = {one["test"]: one for one in records if "test" in one}
        self.points = {one["point"]: one for one in records if "point" in one}

    def pytest_sessionstart(self) -> None:
        """Give Hypothesis no time to look for smaller examples, and no examples of earlier runs."""
        from hypothesis import Phase, settings  # noqa: PLC0415  after pytest has its hooks on imports

        phases = [Phase.explicit, Phase.generate]
        settings.register_profile("mutants", settings.default, phases=phases, database=None)
        settings.load_profile("mutants")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.config.option.collectonly:
            return None
        gc.unfreeze()
        signal.signal(signal.SIGALRM, _too_long)
        self._first_round(session)
        self._second_round(session)
        self._tell()
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """Note what a fixture reaches that several tests share, since only the first of them makes it."""
        before = set(switch.reached)
        switch.reached.clear()
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                self._of_fixtures[fixturedef] = set(switch.reached)
            switch.reached |= before

    def _first_round(self, session: pytest.Session) -> None:
        """Run each test once, as the sources are written."""
        self._caches = [
            one
            for name, module in [*sys.modules.items()]
            if name.startswith("recframe")
            for one in vars(module).values()
            if isinstance(one, functools._lru_cache_wrapper)
        ]
        chosen = [one for one in session.items if one.nodeid not in self.tests]
        for place, item in enumerate(chosen):
            self._forget_plans()
            outcome, cost, why = self._outcome(item, chosen[place + 1 : place + 2])
            reached = set(switch.reached)
            for some in item._fixtureinfo.name2fixturedefs.values():
                for one in some:
                    reached |= self._of_fixtures.get(one, set())
            record = {"test": item.nodeid, "ms": cost, "is": outcome, "reaches": sorted(reached)}
            self.tests[item.nodeid] = self._put(record | ({"why": why} if why else {}))

    def _second_round(self, session: pytest.Session) -> None:
        """Run the tests that reach a point on its changed source, the cheapest first, until one fails.

        A case of each function comes first, since what passes one case often passes the others.
        """
        items = {one.nodeid: one for one in session.items}
        passed = [one for one in self.tests.values() if one["is"] == "passed"]
        passed.sort(key=lambda one: one["ms"])
        n_cases: Counter[str] = Counter()
        for one in passed:
            name = one["test"].partition("[")[0]
            one["case"] = n_cases[name]
            n_cases[name] += 1
        passed.sort(key=lambda one: one["case"])
        for number, point in enumerate(self._drawn):
            if number in self.points:
                continue
            names = [one["test"] for one in passed if number in one["reaches"]]
            chosen = [items[name] for name in names if name in items]
            self.points[number] = self._put(
                {
                    "point": number,
                    "at": point.text,
                    "of": len(chosen),
                    **self._killed(number, chosen),
                }
            )

    def _killed(self, number: int, chosen: list[pytest.Item]) -> dict[str, Any]:
        spent = 0.0
        switch.active = number
        self._forget_all()
        try:
            for place, item in enumerate(chosen):
                outcome, cost, why = self._outcome(item, chosen[place + 1 : place + 2])
                spent += cost
                if outcome == "failed":
                    return {"killer": item.nodeid, "tried": place + 1, "ms": cost, "why": why}
                if spent > 1000 * self._most:
                    return {"killer": None, "tried": place + 1, "is_cut": True}
            return {"killer": None, "tried": len(chosen)}
        finally:
            if chosen:
                chosen[0].session._setupstate.teardown_exact(None)
            switch.active = -1
            self._forget_all()

    def _outcome(self, item: pytest.Item, after: list[pytest.Item]) -> tuple[str, float, str]:
        """Return how a test ended, its CPU milliseconds and why it failed."""
        before = _cpu()
        switch.reached.clear()
        signal.alarm(SECONDS if switch.active >= 0 else 600)
        try:
            with catch_warnings_for_item(
                config=item.config, ihook=item.ihook, when="runtest", item=item, record=True
            ):
                reports = runtestprotocol(item, nextitem=next(iter(after), None), log=False)
        except TimeoutError as error:
            return "failed", round(1000 * (_cpu() - before), 1), repr(error)
        finally:
            signal.alarm(0)
        cost = round(1000 * (_cpu() - before), 1)
        failed = [one for one in reports if one.failed]
        if failed:
            crash = getattr(failed[0].longrepr, "reprcrash", "")
            return "failed", cost, str(crash or failed[0].longrepr)[-200:]
        return "skipped" if any(one.skipped for one in reports) else "passed", cost, ""

    def _forget_plans(self) -> None:
        """Let each test make its plans, so that it reaches what they are made by."""
        sys.modules["recframe.evaluation.plan"]._kept.clear()
        for one in self._caches:
            one.cache_clear()

    def _forget_all(self) -> None:
        """Let nothing that was computed before the switch was turned be taken again."""
        self._forget_plans()
        for one in gc.get_objects():
            if type(one) is functools._lru_cache_wrapper:
                module = sys.modules.get(getattr(one, "__module__", None) or "")
                if "/tests/" in (getattr(module, "__file__", None) or ""):
                    one.cache_clear()

    def _put(self, record: dict[str, Any]) -> dict[str, Any]:
        with self._kept.open("a") as file:
            file.write(json.dumps(record) + "\n")
        return record

    def _tell(self) -> None:
        alive = [one for _, one in sorted(self.points.items()) if not one["killer"]]
        for one in alive:
            cut = ", and the time was over" if one.get("is_cut") else ""
            sys.stdout.write(f"\nsurvives {one['tried']} of {one['of']} tests{cut}: {one['at']}")
        seconds = sum(one["ms"] for one in self.tests.values()) / 1000
        killed = f"{len(self.points) - len(alive)} of {len(self.points)} are killed"
        sys.stdout.write(f"\n{killed} by {len(self.tests)} tests of {seconds:.0f} CPU seconds\n")


def _too_long(*_: object) -> None:
    raise TimeoutError("the test does not end")


def _cpu() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
