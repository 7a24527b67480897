"""Benchmarks run, on few rows, and print what they measured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
SMALL = {
    "run": ["--users", "500", "--repeats", "1"],
    "cases": ["--users", "500", "--repeats", "1"],
    "simulations": ["--samples", "20"],
    "large": ["--folder", ".", "--rows", "20000", "--repeats", "1", "--memory", "200MB",
              "--layouts", "sorted by user", "more rows than memory"],
    "splits": ["--rows", "60000", "--libraries", "recframe", "--repeats", "1", "--rounds", "1"],
}  # fmt: skip


@pytest.mark.nightly
@pytest.mark.parametrize("name", SMALL)
def test_a_benchmark_runs_on_few_rows(name, tmp_path):
    pytest.importorskip("numba")
    command = [sys.executable, str(FOLDER / f"{name}.py"), *SMALL[name]]

    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path)  # noqa: S603

    assert len(done.stdout.splitlines()) >= 1
