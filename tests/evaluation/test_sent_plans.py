"""Plans that are sent to other machines, as Polars' own distributed engine does: they hold no Python, and give the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from parted_frames import ALL_SIDES, every, rows_of, sides_of
from plans import python_functions

RANKS, TRUTH = rows_of("rank", model=True)
SCORES = rows_of("score", model=True)[0]
MODELS = {"model": "model", "reference": "b"}
SIDES = sides_of(*ALL_SIDES)
METRICS = ("ndcg@3", "recall", "mrr@2", "map")
REC = RANKS.rec(truth=TRUTH, **MODELS, **SIDES)
SCORED = SCORES.rec(truth=TRUTH, model="model", **SIDES)
EVERY = every(*ALL_SIDES, **MODELS)

WITHOUT_PYTHON = {
    **{f"by {by}": REC.evaluate(*EVERY, by=by) for by in (None, "user", "week", "kind")},
    **{
        f"ties {ties}": SCORED(ties=ties).evaluate(*METRICS, by="country")
        for ties in ("order", "pessimistic", "expected")
    },
    **{
        f"profile {name}": REC(profile=name).evaluate("ndcg@3", by="country")
        for name in ("trec_eval", "sklearn", "microsoft")
    },
    "judged": REC.judge(),
    "audited": REC.audit(),
}
WITH_PYTHON = {
    "summary": REC.summarize(*METRICS, "coverage@3", by="country"),
    "summary of weeks": REC.summarize(*METRICS, by=["country", "week"]),
    "comparison": REC.compare(*METRICS, by="country"),
    "power": REC.power(*METRICS),
    "gaps": REC.gaps(*METRICS, by="country", min_users=2),
}
SCRIPT = """
import sys, pathlib, polars
for sent in pathlib.Path(sys.argv[1]).glob("*.plan"):
    polars.LazyFrame.deserialize(sent).collect().write_parquet(sent.with_suffix(".parquet"))
print("recframe" in sys.modules)
"""


def sent(plans: dict[str, pl.LazyFrame], folder: Path, **environment: str) -> str:
    """Have another process run plans, and return what it prints."""
    for name, plan in plans.items():
        (folder / f"{name}.plan").write_bytes(plan.serialize())
    command = [sys.executable, "-c", SCRIPT, str(folder)]
    done = subprocess.run(  # noqa: S603  our own script
        command, capture_output=True, text=True, timeout=120, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def assert_same_numbers(plans: dict[str, pl.LazyFrame], folder: Path) -> None:
    for name, plan in plans.items():
        found, expected = pl.read_parquet(folder / f"{name}.parquet"), plan.collect()
        if name in {"by user", "judged"}:
            found, expected = (one.sort(one.columns[:3]) for one in (found, expected))
        if name == "audited":
            found, expected = (one.drop("example") for one in (found, expected))
        assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-12)


@pytest.mark.parametrize("plan", WITHOUT_PYTHON.values(), ids=WITHOUT_PYTHON)
def test_a_plan_holds_no_python(plan, monkeypatch):
    # Polars takes it to send functions
    monkeypatch.setitem(sys.modules, "cloudpickle", None)

    assert not python_functions(plan)
    assert b"recframe." not in plan.serialize()


@pytest.mark.slow
def test_a_process_without_recframe_has_the_same_numbers(tmp_path):
    assert sent(WITHOUT_PYTHON, tmp_path) == "False"
    assert_same_numbers(WITHOUT_PYTHON, tmp_path)


@pytest.mark.parametrize("plan", WITH_PYTHON.values(), ids=WITH_PYTHON)
def test_intervals_and_p_values_are_one_function_of_a_plan(plan):
    assert len(python_functions(plan)) == 1


@pytest.mark.slow
def test_a_process_with_recframe_has_the_same_intervals_and_p_values(tmp_path):
    pytest.importorskip("cloudpickle")
    sources = str(Path(rf.__file__).parents[1])

    assert sent(WITH_PYTHON, tmp_path, PYTHONPATH=sources, PATH=os.environ["PATH"]) == "True"
    assert_same_numbers(WITH_PYTHON, tmp_path)
