"""Intervals of set metrics: values of frames without each random group of users, put together in plain Python."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import recframe as rf
from folded_frames import FOLDS, folded, of_fold, over_folds, rec_of
from lanes import crossed
from plain_keys import plain_key
from plain_uncertainty import wilson
from recframe.evaluation.required_columns import has_interval
from recframe.metrics.language import registry

METRICS = [
    "coverage@3", "tail_coverage@4", "entropy(weight=log,normalized=true)@3", "gini@10", "gini(weight=log)@10",
    "personalization@3", "personalization(against=all)", "popularity_lift@4", "exposure_disparity(of=genre)@5",
    "exposure_disparity(of=genre,target=relevant)@10", "f_score(average=means)@3", "recall(average=pooled)",
]  # fmt: skip
BY = {"all": [], "users": ["country"], "items": ["genre"], "both": ["genre", "country"]}
Row = dict[str, Any]
# the models have lists of other users on purpose
pytestmark = pytest.mark.filterwarnings("ignore:models_of_other_users")


def group_of(user: object) -> int:
    return plain_key(0, user) % 20


class Scene:
    """Ragged lists of two models, some users without any, items outside the catalogue, and side frames that stay."""

    def __init__(self, seed: int, n_users: int = 40) -> None:
        choose = random.Random(seed)  # noqa: S311  test data
        everything, users = range(27), range(n_users)
        lists = [
            {"model": model, "user": user, "item": item, "rank": rank}
            for model in "ab"
            for user in users
            for rank, item in enumerate(choose.sample(everything, choose.randint(0, 5)), 1)
        ]
        self.recs = pl.DataFrame(lists)
        pairs = [(user, item) for user in users for item in choose.sample(everything, 3)]
        self.truth = pl.DataFrame(pairs, schema=["user", "item"], orient="row")
        known = [pair for pair in pairs[::2] if pair[0] % 4]
        genres = [choose.choice(["x", "y", None]) for _ in range(25)]
        self.sides = {
            "train": pl.DataFrame(known, schema=["user", "item"], orient="row"),
            "items": pl.DataFrame({"item": range(25), "genre": genres}),
            "users": pl.DataFrame({"user": users}).with_columns(
                country=pl.Series([choose.choice(["F", "D"]) for _ in users]),
                house=pl.when(pl.col("user") % 5 > 0).then(pl.col("user") // 3),
            ),
        }

    def rec(self, without: Sequence[int] = (), make: Any = lambda frame: frame) -> Any:
        """Bind the frames, those of lists and truth without some users."""
        recs, truth = (
            make(one.filter(~pl.col("user").is_in(list(without))))
            for one in (self.recs, self.truth)
        )
        sides = {name: make(one) for name, one in self.sides.items()}
        return recs.rec(truth=truth, model="model", **sides)


def values(rec: Any, metrics: Sequence[str], by: Sequence[str]) -> dict[Any, Row]:
    rows = rec.evaluate(*metrics, by=by, support=True).to_dicts()
    return {tuple(row[key] for key in ["model", *by]): row for row in rows}


def jackknife(whole: float, left: Mapping[int, tuple[float, float]], n: float) -> tuple[float, int]:
    """Return the squared error of a value from those without groups and the groups' sizes, as Busing has it, and G."""
    found = [(n / size, value) for value, size in left.values() if size > 0]
    g = len(found)
    pseudo = [h * whole - (h - 1) * value for h, value in found]
    centre = g * whole - sum((1 - 1 / h) * value for h, value in found)
    squares = [(one - centre) ** 2 / (h - 1) for one, (h, _) in zip(pseudo, found, strict=True)]
    return sum(squares) / g, g


def expected(
    whole: Mapping[Any, Row], without: Mapping[int, Mapping[Any, Row]], key: Any, metric: str
) -> tuple[float, float, int] | None:
    """Return a value, its squared error and the number of groups."""
    row = whole[key]
    value, n = row[metric], row[f"n {metric}"]
    left = {}
    for group, rows in without.items():
        other = rows.get(key, {})
        left[group] = (other.get(metric), n - (other.get(f"n {metric}") or 0))
    left = {group: one for group, one in left.items() if one[1] > 0}
    if value is None or any(one[0] is None for one in left.values()):
        return None
    changed = sum(abs(one - value) > 1e-12 * abs(value) for one, _ in left.values())
    if len(left) < 5 or changed < 5:
        return None
    return (value, *jackknife(value, left, n))


def assert_interval(row: Row, found: tuple[float, float, int] | None, metric: str) -> bool:
    if found is None:
        assert row["value_low"] is None
        assert row["note"]
        return False
    value, squared, g = found
    t = float(stats.t.ppf(0.975, g - 1))
    least, most = rf.parse(metric).range
    ends = (max(value - t * sqrt(squared), least), min(value + t * sqrt(squared), most))
    if rf.parse(metric).shape != "set":
        ends = wilson(value, squared, row["n_users"], t)
    assert row["value"] == pytest.approx(value, rel=1e-12)
    assert (row["value_low"], row["value_high"]) == pytest.approx(ends, rel=1e-8, abs=1e-9), metric
    return True


@pytest.mark.parametrize(
    ("by", "cluster", "kind"),
    crossed(BY.values(), [None, "house"], ["eager", "lazy"]),
)
def test_an_interval_is_that_of_the_frames_without_each_group(by, cluster, kind):
    scene, metrics = Scene(0), [str(rf.parse(one)) for one in METRICS]
    if "genre" in by:
        metrics = [one for one in metrics if "of=genre" not in one] + ["exposure_share@3"]
    house = dict(scene.sides["users"].select("user", "house").rows())
    unit = {user: house[user] if cluster and house[user] is not None else user for user in house}
    whole = values(scene.rec(), metrics, by)
    without = {
        group: values(
            scene.rec([user for user in house if group_of(unit[user]) == group]), metrics, by
        )
        for group in range(20)
    }

    make = {"eager": pl.DataFrame, "lazy": pl.DataFrame.lazy}[kind]
    found = scene.rec(make=make).summarize(*metrics, by=by, cluster=cluster).lazy().collect()

    known = 0
    for row in found.to_dicts():
        key = tuple(row[name] for name in ["model", *by])
        known += assert_interval(row, expected(whole, without, key, row["metric"]), row["metric"])
    assert known > len(metrics)


def test_a_difference_is_that_of_the_frames_without_each_group():
    scene, metrics = (
        Scene(1),
        ["coverage@3", "gini@10", "personalization@3", "f_score(average=means)@3"],
    )
    users = range(40)
    whole = values(scene.rec(), metrics, [])
    without = {
        group: values(scene.rec([user for user in users if group_of(user) == group]), metrics, [])
        for group in range(20)
    }
    for row in scene.rec().compare(*metrics, baseline="a").to_dicts():
        name = row["metric"]

        def of(rows, name=name):
            both = [rows[model,] for model in "ba"]
            return both[0][name] - both[1][name], sum(one[f"n {name}"] for one in both)

        value, n = of(whole)
        left = {group: (of(rows)[0], n - of(rows)[1]) for group, rows in without.items()}
        squared, g = jackknife(value, left, n)
        assert row["difference"] == pytest.approx(value)
        half = stats.t.ppf(0.975, g - 1) * sqrt(squared)
        assert row["difference_high"] - row["difference"] == pytest.approx(half, rel=1e-8)
        p_value = 2 * stats.t.sf(abs(value) / sqrt(squared), g - 1)
        assert row["p_value"] == pytest.approx(max(p_value, 2.0 ** (1 - g)), rel=1e-7)


def test_over_folds_each_fold_counts_alike_without_each_group():
    frames = folded(4, 60)
    for name in ("recs", "truth"):
        frames[name] = frames[name].filter((pl.col("fold") != 2) | (pl.col("user") < 30))

    def mean(without: int | None = None) -> tuple[float, int]:
        each = []
        for fold in FOLDS.numbers:
            one = of_fold(frames, fold)
            lists = one["recs"].filter(
                pl.col("user").map_elements(group_of, return_dtype=pl.Int64)
                != (without if without is not None else -1)
            )
            each.append(
                rec_of(one | {"recs": lists}).evaluate("gini", support=True).row(0, named=True)
            )
        return float(np.mean([row["gini"] for row in each])), sum(row["n gini"] for row in each)

    value, n = mean()
    left = {group: mean(group) for group in range(20)}
    squared, g = jackknife(value, {group: (one, n - m) for group, (one, m) in left.items()}, n)

    row = over_folds(frames).summarize("gini").row(0, named=True)

    assert row["value"] == pytest.approx(value)
    half = stats.t.ppf(0.975, g - 1) * sqrt(squared)
    assert row["value_high"] == pytest.approx(min(value + half, 1.0), rel=1e-9)
    assert row["n_users"] <= 60


FEW = {
    "four users": (4, lambda user: user, "fewer than 5 groups of users, so no interval"),
    "one item": (40, lambda _: 0, "fewer than 5 of 20 groups of users change it, so no interval"),
    "one user": (1, lambda user: user, "one user, so no interval"),
}  # fmt: skip


@pytest.mark.parametrize(("n", "item", "note"), FEW.values(), ids=FEW)
def test_without_five_groups_there_is_no_interval_and_a_note(n, item, note):
    users = pl.DataFrame({"user": range(n), "item": [item(user) for user in range(n)], "rank": 1})
    items = pl.DataFrame({"item": range(60)})

    truth = users.with_columns(item=59).drop("rank")
    row = users.rec(truth=truth, items=items).summarize("coverage@1").row(0, named=True)

    assert (row["value_low"], row["value_high"], row["note"]) == (None, None, note)


def test_every_set_metric_has_an_interval():
    sets = [one for one in registry.registered().values() if one.shape == "set"]

    assert all(map(has_interval, sets))
    assert not has_interval(rf.parse("personalization(similarity=overlap)@5"))
