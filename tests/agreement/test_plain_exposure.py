"""Exposure over several lists a user against the plain definition, and distances of shares against SciPy's."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

import recframe as rf
from plain_exposure import expected_exposure, targets
from plain_scene import Scene
from strategies import examples

# Random lists and truths may have no user in common, or hardly any hit.
pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")

ITEMS = [*"abcdefgh"]
LISTED = {"user": pl.Int64, "draw": pl.Int64, "item": pl.String, "rank": pl.Int64}
PARTS = ("loss", "disparity", "relevance")


@st.composite
def draws(draw: Any) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Up to three lists of each user, some of them short, a graded truth and groups of items."""
    own = st.lists(st.sampled_from(ITEMS), unique=True, max_size=5)
    rows = [
        (user, number, item, rank)
        for user, number in ((user, number) for user in range(3) for number in range(3))
        for rank, item in enumerate(draw(own), start=1)
    ]
    pairs = st.tuples(st.integers(0, 3), st.sampled_from([*ITEMS, "z"]))
    grades = draw(st.dictionaries(pairs, st.sampled_from([0, 1, 1, 2]), min_size=1))
    truth = [(*pair, grade) for pair, grade in grades.items()]
    groups = [draw(st.sampled_from([None, "x", "y"])) for _ in ITEMS]
    return (
        pl.DataFrame(rows, LISTED, orient="row"),
        pl.DataFrame(
            truth, {"user": pl.Int64, "item": pl.String, "relevance": pl.Int64}, orient="row"
        ),
        pl.DataFrame({"item": ITEMS, "group": groups}, {"item": pl.String, "group": pl.String}),
    )


def scene_of(truth: pl.DataFrame, items: pl.DataFrame) -> Scene:
    gains: dict[Any, dict[Any, float]] = {}
    for user, item, gain in truth.rows():
        if gain:
            gains.setdefault(user, {})[item] = float(gain)
    return Scene({}, gains, items={row["item"]: row for row in items.to_dicts()})


def plain(scene: Scene, lists: pl.DataFrame, user: int, k: int, of: str, part: str) -> float:
    """The definition, of the mean over the user's lists of what each item gets."""
    if not scene.catalogue() & set(scene.relevant(user)):
        return 0.0
    own = lists.filter(user=user)
    n = own["draw"].n_unique()
    wanted, sums = targets(scene, user, 0.6), {}
    for item in scene.catalogue():
        ranks = own.filter((pl.col("item") == item) & (pl.col("rank") <= k))["rank"]
        exposed = math.fsum(0.6 ** (rank - 1) for rank in ranks) / n if n else 0.0
        for group in scene.categories(item, of) if of else [item]:
            before = sums.get(group, (0.0, 0.0))
            sums[group] = (before[0] + exposed, before[1] + wanted[item])
    added = {
        "loss": [(e - t) ** 2 for e, t in sums.values()],
        "disparity": [e * e for e, _ in sums.values()],
        "relevance": [e * t for e, t in sums.values()],
    }
    return math.fsum(added[part])


@examples(40)
@given(frames=draws(), k=st.integers(1, 5), of=st.sampled_from(["", "group"]))
def test_the_exposure_of_several_lists_is_the_plain_one(frames: Any, k: int, of: str):
    lists, truth, items = frames
    asked = [rf.expected_exposure(part=part, of=of, p=0.6, sample="draw") for part in PARTS]
    rec = lists.rec(truth=truth, items=items)

    found = rec.evaluate(*asked, k=k, by="user")
    lazy = lists.lazy().rec(truth=truth.lazy(), items=items.lazy()).evaluate(*asked, k=k, by="user")

    scene = scene_of(truth, items)
    for user, *values in found.rows():
        for part, value in zip(PARTS, values, strict=True):
            assert value == pytest.approx(plain(scene, lists, user, k, of, part), abs=1e-9)
    assert lazy.collect().equals(found)


@examples(40)
@given(frames=draws())
def test_one_list_is_a_sample_of_one(frames: Any):
    lists, truth, items = frames
    rec = lists.filter(draw=0).rec(truth=truth, items=items)

    one, sampled = (rec.expected_exposure(by="user", sample=name) for name in ("", "draw"))

    assert one.rows() == sampled.rows()
    scene, own = scene_of(truth, items), lists.filter(draw=0)
    for user, value in one.rows():
        mine = own.filter(user=user).select("item", "rank").rows()
        expected = expected_exposure(
            Scene({user: mine}, scene.truth, items=scene.items), user, None
        )
        assert value == pytest.approx(expected, abs=1e-9)


@examples(40)
@given(frames=draws())
def test_the_divergence_is_that_of_scipy(frames: Any):
    lists, _, items = frames
    own = lists.filter(draw=0).join(items, on="item").drop_nulls("group")
    n_groups = items["group"].drop_nulls().n_unique()

    found = (
        lists.filter(draw=0)
        .rec(items=items)
        .awrf(of="group", discount="unshifted", distance="js", by="user")
    )

    for user, value in found.rows():
        weights = {"x": 0.0, "y": 0.0}
        for group, rank in own.filter(user=user).select("group", "rank").rows():
            weights[group] += 1 / math.log2(max(rank, 2))
        if n_groups < 2 or not any(weights.values()):
            assert value == (None if not any(weights.values()) else pytest.approx(1.0))
            continue
        apart = jensenshannon([weights["x"], weights["y"]], [0.5, 0.5]) ** 2
        assert value == pytest.approx(1 - apart, abs=1e-9)
