"""Simulations: their scenes have the means that they say, and a few samples agree with what is stored of many."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
sys.path.append(str(BENCHMARKS))
import simulations  # noqa: E402

STORED = json.loads((BENCHMARKS / "simulations.json").read_text(encoding="utf-8"))["rows"]
ENOUGH = 100
pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")


@pytest.mark.parametrize("scene", simulations.SCENES, ids=lambda scene: scene.name)
def test_all_models_of_a_scene_have_its_mean_which_calls_read(scene):
    values = scene.draw(np.random.default_rng(0), (1, 400_000), 3)[0]
    off = values.mean(axis=0) - scene.mean

    assert 0 <= values.min() <= values.max() <= 1
    assert np.abs(off / (values.std(axis=0) / 400_000**0.5)).max() < 4
    few = simulations.bound(values[None, :50]).evaluate("mrr", by=["user", "model"])
    assert few["mrr"].to_numpy() == pytest.approx(values[:50].ravel(), abs=1e-12)


@pytest.mark.nightly
@pytest.mark.parametrize("table", simulations.TABLES)
def test_a_few_samples_agree_with_what_is_stored_of_many(table):
    # of five users some metrics hardly ever have an interval
    stored = [row for row in STORED if row["table"] == table and row["samples"] >= ENOUGH]
    found = simulations.TABLES[table][1](np.random.default_rng(1), 60)
    few = {(row.what, row.column): row for row in found}

    for row in stored:
        share, one = row["share"], few[row["what"], row["column"]]
        # what never happened in 2,000 samples may happen in 1 of 400
        spread = max(share * (1 - share), 0.0025) ** 0.5
        assert abs(one.share - share) < 4.5 * spread / one.samples**0.5, one


@pytest.mark.parametrize("table", ["sets", "trainings", "histories"])
def test_what_is_stored_keeps_its_promise(table):
    rows = [row for row in STORED if row["table"] == table and row["samples"] >= ENOUGH]

    assert rows
    assert all(row["least"] <= row["share"] <= row["most"] for row in rows)
