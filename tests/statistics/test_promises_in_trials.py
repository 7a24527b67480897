"""Promises in trials: their scenes have the means that they say, and a few samples agree with what is stored of many."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
sys.path.append(str(BENCHMARKS))
import promises_in_trials as trials  # noqa: E402
import scenes_in_trials as scenes  # noqa: E402

STORED = BENCHMARKS / "promises_in_trials.json"
each_scene = pytest.mark.parametrize("scene", scenes.SCENES, ids=lambda scene: scene.name)


@each_scene
def test_all_models_of_a_scene_have_its_mean_and_values_from_0_to_1(scene):
    values = scene.draw(np.random.default_rng(0), (1, 400_000), 3)[0]

    assert values.min() >= 0
    assert values.max() <= 1
    off = values.mean(axis=0) - scene.mean
    assert np.abs(off / (values.std(axis=0) / 400_000**0.5)).max() < 4
    assert (values[:, 0] != values[:, 1]).any()


@pytest.mark.filterwarnings("ignore:models_of_other_users")
@each_scene
def test_what_is_asked_has_the_values_that_were_drawn(scene):
    random = np.random.default_rng(1)
    values = scenes.lowered(random, scene.draw(random, (3, 50), 2), 0.3)

    found = scenes.asked(values).evaluate("mrr", by=["sample", "user", "model"])

    found = found.sort("user", "model")
    assert found["mrr"].to_numpy() == pytest.approx(values.ravel(), abs=1e-12)
    assert found["sample"].to_list() == np.repeat(np.arange(3), 100).tolist()


@each_scene
def test_clusters_are_whole_and_half_alike(scene):
    values, cluster = scenes.together(np.random.default_rng(2), scene, 200, 30)
    there = cluster >= 0
    names = (cluster + 30 * np.arange(200)[:, None])[there]

    assert len(np.unique(names)) == 200 * 30
    frame = pl.DataFrame({"cluster": names, "value": values[there][:, 0]})
    of = frame.group_by("cluster").agg(pl.col("value").sum(), n=pl.len()).filter(pl.col("n") > 1)
    error = (of["value"] - scene.mean * of["n"]).std() / len(of) ** 0.5
    assert abs((of["value"] - scene.mean * of["n"]).mean()) < 4 * error
    # users of a cluster hang together: its sums vary more than those of as many others
    alone = scene.draw(np.random.default_rng(3), (1, 400_000), 1).var()
    assert ((of["value"] - scene.mean * of["n"]) ** 2).sum() > 1.2 * alone * of["n"].sum()


def test_few_samples_agree_with_what_is_stored_of_each_promise():
    stored = json.loads(STORED.read_text(encoding="utf-8"))["promises"]
    many = {(row["scene"], row["what"]): row for row in stored}

    assert {row["promise"] for row in stored} == {*trials.PROMISES}
    for row in trials.promises(1, 60, ["means", "clusters"]):
        of_many = many[row["scene"], row["what"]]
        assert row["promised"] == of_many["promised"]
        spread = of_many["error"] * of_many["samples"] ** 0.5
        # a share that was never seen in 2,000 samples may be as large as 1 in 400
        error = max(spread, 0.05) / row["samples"] ** 0.5
        assert abs(row["share"] - of_many["share"]) < 4.5 * error, row
