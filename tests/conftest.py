"""How examples of laws are counted, which kinds of frame a test runs on, and which tests are of the fast lane."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

import costs
import frame_sizes
from frame_kinds import KINDS, kinds_in_turn, sharp_and_thorough
from recframe.engines import scans
from recframe.evaluation import plan
from recframe.frames.kinds import kind as kinds_of_frame

# what ranx compiles when it is first called takes ten times as long as the tests that call it
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
# An example runs a hundred metrics, so no deadline; a failure in CI must come again where somebody looks at it.
settings.register_profile(
    "recframe",
    deadline=None,
    max_examples=int(os.environ.get("EXAMPLES", "10")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "ci",
    settings.get_profile("recframe"),
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],  # smaller examples are looked for at a desk
)
settings.load_profile("ci" if os.environ.get("CI") else "recframe")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that has the tables of commands as Parquet files."""
    from shop_files import write_tables  # noqa: PLC0415  not each lane has the shell's extra

    monkeypatch.chdir(tmp_path)
    write_tables()
    return tmp_path


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the nightly lane say what the tests cost."""
    words = "measure the tests that run and write tests/seconds.json"
    parser.addoption("--write-seconds", action="store_true", help=words)


def pytest_configure(config: pytest.Config) -> None:
    """Leave every law in the fast lane (`-m "not slow"`), with few of its examples; keep tests of a file in one process."""
    if config.option.write_seconds:
        config.pluginmanager.register(costs.Meter())
    # what a file makes once for all of its tests is made once, and who is done early takes from the other
    if getattr(config.option, "dist", "no") == "load":
        config.option.dist = "worksteal"
    if "not slow" in config.option.markexpr:
        settings.register_profile("fast", settings.default, max_examples=2)
        settings.load_profile("fast")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    """Mark the fast lane by what tests cost, and put long files first, after all others have had their say."""
    known = costs.stored()
    for item in costs.at_night(items, known):
        item.add_marker("nightly")
    _leave_out_other_lanes(config, items)
    for item in costs.is_fast(items, known):
        item.add_marker("fast")
    yield
    costs.long_first(items, known)
    _leave_two_cases(config, items)


def _leave_out_other_lanes(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what `.ci/run` and the nightly lane run for themselves, unless the lane or the file is named."""
    named = {Path(one.partition("::")[0]).resolve() for one in config.args}
    others = [lane for lane in ("apart", "nightly") if lane not in config.option.markexpr]
    out = [
        item
        for item in items
        if item.path not in named and any(map(item.get_closest_marker, others))
    ]
    config.hook.pytest_deselected(items=out)
    left_out = {*out}
    items[:] = [item for item in items if item not in left_out]


def _leave_two_cases(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave two cases of each test of `-m "not slow"`, as far apart as they can be; lanes of `.ci/run` have them all."""
    if config.option.markexpr != "not slow" or os.environ.get("CI"):
        return
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left = [one for some in cases.values() for one in some[:: max(1, -(-len(some) // 2))]]
    config.hook.pytest_deselected(items=[*{*items} - {*left}])
    items[:] = left


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Leave the million objects of collected tests, which stay to the end, out of what is looked through for garbage."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _more_than_a_few_rows_are_asked() -> Iterator[None]:
    """Let a frame be asked ahead of its plan from 2,000 rows, so that no test needs fifty times as many."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(kinds_of_frame, "LARGE", frame_sizes.LARGE)
        patched.setattr(plan, "MIDDLING", 0)
        yield


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that takes a `kind` two kinds of frame: each one of them where frames are what it is about."""
    marks = metafunc.definition.iter_markers("parametrize")
    if "kind" in metafunc.fixturenames and not any("kind" in mark.args[0] for mark in marks):
        is_of_frames = "frames" in metafunc.definition.path.parts
        every = is_of_frames or getattr(metafunc.module, "EVERY_KIND", False)
        kinds = KINDS if every else kinds_in_turn(metafunc.definition.originalname)
        metafunc.parametrize("kind", sharp_and_thorough(kinds), ids=repr)


@pytest.fixture
def in_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run calls with a bound on memory in buckets, however few rows they have."""
    monkeypatch.setattr(scans.Scans, "hold_all", False)
