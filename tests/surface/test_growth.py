"""The benchmark of growth runs, tells cliffs and what is worse than linear, and its part of the page says what it found."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import growth_tables

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import steepness  # noqa: E402

SIZES = [10, 100, 1_000]


def points(*seconds, sizes=SIZES):
    return [{"size": size, "minimum": one} for size, one in zip(sizes, seconds, strict=True)]


def test_a_line_that_is_linear_has_a_slope_of_one_and_no_finding():
    line = points(0.01, 0.1, 1.0)

    assert steepness.steepest(line)["slope"] == pytest.approx(1)
    assert steepness.findings(line) == []


def test_a_part_that_is_quadratic_is_worse_than_linear_where_it_takes_long():
    # from 100 to 1,000 a hundred times as long, ten times for each
    (worse, cliff) = steepness.findings(points(0.01, 0.02, 2.0))

    assert worse == "worse than linear: slope 2.00 from 100 to 1,000"
    assert cliff == "cliff: 1,000 take 10.00 x as long for each as 100"


def test_the_steepest_part_is_one_that_takes_long_if_there_is_such():
    short = points(0.0001, 0.01, 0.1)
    long = points(0.0001, 0.01, 0.1, sizes=[10, 100, 2_000])

    assert steepness.steepest(short)["from"] == 100
    assert steepness.steepest(long)["slope"] < 1


def test_points_close_to_one_another_have_no_slope_but_cliffs():
    line = points(0.010, 0.011, 0.022, sizes=[10_000, 19_999, 20_001])

    assert steepness.steepest(line)["to"] == 19_999
    assert steepness.findings(line) == ["cliff: 20,001 take 2.00 x as long for each as 19,999"]


def result(findings=()):
    line = {
        "axis": "models",
        "name": "two frames",
        "points": [dict(one, rows=5) for one in points(0.01, 0.1, 0.5)],
        "middle": {"size": 100, "loop_seconds": 0.05},
        "steepest": {"slope": 0.7, "from": 100, "to": 1_000, "weighty": True},
        "findings": list(findings),
    }
    shape = {"shape": "one user", "seconds": 0.3, "plain_seconds": 0.2, "relevant_ratio": 2.0}
    stages = {name: [0.25, 0.2] for name in growth_tables.STAGES} | {"whole": [1.0, 0.8]}
    settings = {"length": 9, "whole": 7, "steep": 1.15, "cliff": 1.5, "weighty": 0.05}
    settings |= {"k_rows": 8, "k_length": 4, "model_rows": 5, "shape_rows": 6, "clock": "wall"}
    return {
        "settings": settings,
        "machine": {"threads": "2"},
        "repeats": 3,
        "lines": [line],
        "shapes": [shape],
        "threads": [
            {
                "kind": "sorted",
                "rows": 5,
                "stages": stages,
                "speed_up": 1.25,
                "serial": 0.6,
                "predicted": {"16": 1.6},
            }
        ],
    }


def test_the_page_has_a_row_for_each_line_shape_and_kind_of_frames():
    text = growth_tables.text(result())

    assert (
        "| models | two frames | 10 | 1,000 | 0.01 to 0.5 | 0.70, 100 to 1,000 | 2.0 at 100 |"
        in text
    )
    assert "| one user | 1.50 | 2.0 |" in text
    assert "| one frame | 1.000 | 0.800 | 1.25 x | 60% | 1.6 x |" in text
    assert "the plan itself 25%, 1.25 x" in text
    assert "Seconds, the fewest of 3 turns (threads 2)" in text


def test_the_page_says_that_nothing_is_worse_than_linear_only_where_nothing_was_found():
    linear = growth_tables.text(result())
    steep = growth_tables.text(result(["cliff: 2 take 3 x"]))

    assert "nothing is worse than linear, and there is no cliff" in linear
    assert "nothing is worse than linear" not in steep
    assert "Worse than linear, or a cliff: models, two frames: cliff: 2 take 3 x." in steep


@pytest.mark.slow
def test_the_benchmark_runs_in_its_small_form(tmp_path):
    for library in ("numba", "pytrec_eval", "ranx"):
        pytest.importorskip(library)
    file = tmp_path / "growth.json"
    command = [sys.executable, str(BENCHMARKS / "growth.py"), "--small", "--json", str(file)]

    said = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603

    found = json.loads(file.read_text(encoding="utf-8"))
    assert "Worse than linear, and cliffs:" in said.stdout
    assert {line["axis"] for line in found["lines"]} == {
        "rows",
        "k",
        "metrics",
        "cut-offs",
        "models",
    }
    assert len(found["shapes"]) > 20
    assert [one["kind"] for one in found["threads"]] == ["two"]
    assert growth_tables.text(found)
