"""What single lists contribute to set metrics: held against asking again without each list, and the means against evaluate."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

import recframe as rf
from frame_sizes import LARGE
from lanes import crossed, in_turn
from plans import POLARS_2, fallbacks, python_functions
from recframe.evaluation.execution import Run
from recframe.evaluation.jackknife import (
    contributions,
    contributions_of_means,
    reason_without,
)
from recframe.frames.collecting import run_by_size
from recframe.metrics.language import registry

EXACT = [
    "coverage@3", "coverage", "tail_coverage@4", "tail_coverage(tail=items,share=0.5)", "entropy@3",
    "entropy(weight=log,normalized=true)@3", "entropy(weight=geometric)", "personalization@3",
    "personalization", "popularity_lift@4", "efd(average=rows,discount=log)@2",
]  # fmt: skip
GINI = ["gini@10", "gini(normalizer=n)", "gini(weight=log)@10"]
BY = {"all": [], "users": ["country"], "items": ["genre"], "both": ["genre", "country"]}
each_by = pytest.mark.parametrize("by", BY.values(), ids=BY)
Values = dict[tuple[Any, ...], dict[str, float | None]]


class Scene:
    """Ragged lists of two models, some users without any, items outside the catalogue, and side frames that stay."""

    def __init__(self, seed: int, n_users: int = 9, n_items: int = 12, longest: int = 5) -> None:
        choose = random.Random(seed)  # noqa: S311  test data
        everything, users = range(n_items + 2), range(n_users)
        lists = [
            {"model": model, "user": user, "item": item, "rank": rank + choose.randint(0, 1)}
            for model in "ab"
            for user in users
            for rank, item in enumerate(choose.sample(everything, choose.randint(0, longest)), 1)
        ]
        schema = {"model": pl.String, "user": pl.Int64, "item": pl.Int64, "rank": pl.Int64}
        self.recs = pl.DataFrame(lists, schema=schema)
        pairs = [(user, item) for user in users for item in choose.sample(everything, 3)]
        self.truth = pl.DataFrame(pairs, schema=["user", "item"], orient="row")
        known = [pair for pair in pairs[::2] if pair[0] % 4]
        self.sides = {
            "train": pl.DataFrame(known, schema=["user", "item"], orient="row"),
            "items": pl.DataFrame({"item": range(n_items)}).with_columns(
                genre=pl.Series([choose.choice(["x", "y", None]) for _ in range(n_items)])
            ),
            "users": pl.DataFrame({"user": users}).with_columns(
                country=pl.Series([choose.choice(["F", "D", None]) for _ in users])
            ),
        }

    def rec(self, recs: pl.DataFrame | None = None, *, lazy: bool = False) -> Any:
        recs = self.recs if recs is None else recs
        bound: Any = recs.lazy() if lazy else recs
        return bound.rec(truth=self.truth, model="model", **self.sides)


def found(rec: Any, metrics: Sequence[Any], by: Sequence[str], run: Run | None = None) -> Values:
    """The contributions by segment and user, of every metric by its string."""
    asked = registry.asked(metrics)
    inputs = rec._inputs(by, metrics=asked)
    of_means = "f_score(average=means)" in str(asked[0])
    road = contributions_of_means if of_means else contributions
    frame = run_by_size(road(inputs, asked, run or Run(rec._kind.asks)), 1)
    assert frame.columns[-len(asked) :] == [f"value {place}" for place in range(len(asked))]
    assert set(frame.dtypes[-len(asked) :]) == {pl.Float64}
    keys = frame.columns[: -len(asked)]
    assert keys[-1] == "user" or "user" in keys
    return {
        row[: len(keys)]: dict(zip(map(str, asked), row[len(keys) :], strict=True))
        for row in frame.rows()
    }


def asked_again(scene: Scene, metrics: Sequence[str], by: Sequence[str]) -> Values:
    """The same from the frames without each list, one after the other."""
    metrics = [str(rf.parse(metric)) for metric in metrics]
    whole, keys = _evaluated(scene.rec(), metrics, by), ["model", *by]
    described = scene.recs.join(scene.sides["users"], on="user", how="left")
    described = described.join(scene.sides["items"], on="item", how="left")
    made: Values = {}
    for model, user in scene.recs.select("model", "user").unique().rows():
        own = (pl.col("model") == model) & (pl.col("user") == user)
        without = _evaluated(scene.rec(scene.recs.filter(~own)), metrics, by)
        for segment in described.filter(own).select(keys).unique().rows():
            made[(*segment, user)] = {
                metric: _contribution(whole, without, segment, metric) for metric in metrics
            }
    _without_items_up_to_k(described, keys, made)
    return _shifted(made, whole, metrics)


def _evaluated(rec: Any, metrics: Sequence[str], by: Sequence[str]) -> dict[Any, Any]:
    rows = rec.evaluate(*metrics, by=by, support=True).to_dicts()
    return {tuple(row[key] for key in ["model", *by]): row for row in rows}


def _contribution(whole: Any, without: Any, segment: Any, metric: str) -> float | None:
    value, n = whole[segment][metric], whole[segment][f"n {metric}"]
    left = without.get(segment, {}).get(metric)
    if n == 1:
        return value
    return None if value is None or left is None else value + (n - 1) * (value - left)


def _without_items_up_to_k(described: pl.DataFrame, keys: Sequence[str], made: Values) -> None:
    """Lists without an item up to a metric's k contribute nothing to it."""
    first = described.group_by(*keys, "user").agg(pl.col("rank").min()).rows()
    for *key, best in first:
        for metric in made[tuple(key)]:
            k = rf.parse(metric).k
            if k is not None and best > k:
                made[tuple(key)][metric] = None


def _shifted(made: Values, whole: Any, metrics: Sequence[str]) -> Values:
    for metric in metrics:
        for segment in {key[:-1] for key in made}:
            of = [key for key in made if key[:-1] == segment and made[key][metric] is not None]
            total: Any = sum(made[key][metric] for key in of)  # type: ignore[misc]
            for key in of:
                made[key][metric] += whole[segment][metric] - total / len(of)  # type: ignore[operator]
    return made


def assert_same(values: Values, expected: Values, tolerance: float) -> None:
    """Lists without any contribution may have no row."""
    for key, row in expected.items():
        for metric, value in row.items():
            mine = values.get(key, {}).get(metric)
            assert (mine is None) == (value is None), (key, metric)
            if value is not None:
                assert mine == pytest.approx(value, rel=tolerance, abs=tolerance), (key, metric)
    assert values.keys() <= expected.keys()


@pytest.fixture
def own(monkeypatch) -> list[str]:
    """Set metrics of the user's own, in words of items, lists and segments."""
    monkeypatch.setattr(registry, "_registry", registry.registered())

    @rf.metric(shape="set", over="lists")
    def items_with_hits(at: Any) -> pl.Expr:
        hits = at.per_item(at.relevant.cast(pl.Float64))
        return at.over_items((hits > 0) / (1 + at.popularity)) / at.n_lists

    @rf.metric(shape="set", over="lists")
    def spread_by_rank(at: Any) -> pl.Expr:
        mean = at.per_item(at.rank * at.beside(at.n_listed)) / at.n_lists_with
        by_rank = at.over_lists(at.sum(at.discount * at.rank)) / at.over_lists(at.sum(at.discount))
        return at.over_items(pl.when(at.n_lists_with > 0).then(mean.sqrt())) + by_rank

    return ["items_with_hits@3", "spread_by_rank", "spread_by_rank@2"]


@pytest.mark.parametrize(("by", "seed"), in_turn(BY, [0, 1], fast=2))
def test_a_list_contributes_what_the_number_changes_without_it(own, seed, by):
    scene, metrics = Scene(seed), [*EXACT, *own]
    expected = asked_again(scene, metrics, by)

    assert_same(found(scene.rec(), metrics, by), expected, 1e-10)
    assert_same(found(scene.rec(lazy=True), metrics, by), expected, 1e-10)


def test_a_judged_frame_gives_the_contributions_of_the_two_it_is_made_of():
    scene = Scene(2)
    judged = scene.rec().judge()
    rec = judged.rec(model="model", **scene.sides)

    assert_same(found(rec, EXACT, ["country"]), found(scene.rec(), EXACT, ["country"]), 1e-12)


def tied_pairs(scene: Scene, exposures: dict[Any, int], model: str, user: int, k: int) -> int:
    """The pairs of items of the catalogue in a list that stand in equally many lists."""
    own = scene.recs.filter(model=model, user=user).filter(pl.col("rank") <= k)
    of = sorted(exposures[item] for item in own["item"].to_list() if item in exposures)
    return sum(of[:place].count(one) for place, one in enumerate(of))


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 10])
def test_a_gini_is_off_by_the_pairs_of_a_list_that_stand_in_equally_many_lists_alone(k):
    scene, metric = Scene(3, n_users=12, n_items=40), f"gini@{k}"
    values, expected = found(scene.rec(), [metric], []), asked_again(scene, [metric], [])
    inside = scene.recs.filter(pl.col("rank") <= k, pl.col("item") < 40)

    for model in "ab":
        rows = inside.filter(model=model)
        exposures = dict(rows.group_by("item").len().rows())
        users = [user for of, user in expected if of == model and expected[of, user][metric]]
        off = {}
        for user in users:
            left = rows.height - rows.filter(user=user).height
            pairs = tied_pairs(scene, exposures, model, user, k)
            off[user] = (len(users) - 1) * 2 * pairs / (39 * left)
        mean = sum(off.values()) / len(off)
        for user in users:
            mine: Any = values[model, user][metric]
            assert mine + off[user] - mean == pytest.approx(
                expected[model, user][metric], abs=1e-10
            )
        assert max(off.values()) > 0.01  # or the lists say nothing


@pytest.mark.slow
def test_the_deviation_of_a_gini_is_close_with_many_lists():
    scene, most = Scene(4, n_users=150, n_items=400), {"gini@5": 0.01, "gini(weight=log)@5": 0.02}
    sparse = pl.col("model") == "a"
    scene.recs = scene.recs.filter(sparse).with_columns(item=(pl.col("item") ** 2 // 401))
    values, expected = (
        pl.DataFrame([*one.values()]).std().row(0, named=True)
        for one in (found(scene.rec(), [*most], []), asked_again(scene, [*most], []))
    )

    for metric, tolerance in most.items():
        assert values[metric] == pytest.approx(expected[metric], rel=tolerance)


@each_by
def test_the_mean_of_the_contributions_is_the_number_itself(by):
    scene, metrics = Scene(5), [str(rf.parse(one)) for one in [*EXACT, *GINI]]
    values = found(scene.rec(), metrics, by)

    for segment, row in _evaluated(scene.rec(), metrics, by).items():
        for metric in metrics:
            of = [one[metric] for key, one in values.items() if key[:-1] == segment]
            given: list[Any] = [one for one in of if one is not None]
            if given:
                assert sum(given) / len(given) == pytest.approx(row[metric], rel=1e-14, abs=1e-14)


def crowd() -> Scene:
    """More rows than those of frames whose plans are asked nothing ahead; lists of one length, but for some."""
    scene = Scene(6, n_users=400, n_items=300, longest=3)
    choose = random.Random(6)  # noqa: S311  test data
    lists = [
        (model, user, int(300 * choose.random() ** 2), rank)
        for model in "ab"
        for user in range(400)
        for rank in range(1, 6 - (user % 50 == 0))
    ]
    scene.recs = pl.DataFrame(lists, schema=scene.recs.schema, orient="row")
    assert scene.recs.height > LARGE
    return scene


@pytest.mark.slow
def test_large_frames_change_no_contribution():
    scene, metrics = crowd(), [*EXACT, *GINI]
    expected = found(scene.rec(lazy=True), metrics, ["country"])

    assert_same(found(scene.rec(), metrics, ["country"]), expected, 1e-9)


@pytest.mark.slow
def test_a_list_among_many_contributes_what_the_number_changes_without_it():
    scene, metrics = crowd(), ["coverage@3", "entropy@5", "personalization@5", "popularity_lift@5"]
    values, whole = found(scene.rec(), metrics, []), _evaluated(scene.rec(), metrics, [])
    moved = {}
    for user in (0, 7, 399):
        own = (pl.col("model") == "b") & (pl.col("user") == user)
        without = _evaluated(scene.rec(scene.recs.filter(~own)), metrics, [])
        moved[user] = {metric: _contribution(whole, without, ("b",), metric) for metric in metrics}

    for metric in metrics:  # all are shifted by the same
        shifts: list[Any] = [values["b", user][metric] - row[metric] for user, row in moved.items()]
        assert shifts == pytest.approx([shifts[0]] * 3, abs=1e-9)


def test_without_another_list_a_list_contributes_the_number_itself():
    scene = Scene(7)
    metrics = ["coverage", "gini", "entropy(weight=log)", "popularity_lift"]
    whole = scene.rec().evaluate(*metrics, by="user").to_dicts()
    values = found(scene.rec(), metrics, ["user"])

    assert len(values) == scene.recs.n_unique(["model", "user"])
    for row in whole:
        if (row["model"], row["user"]) in values:
            expected = {metric: row[metric] for metric in metrics}
            assert values[row["model"], row["user"]] == pytest.approx(expected, abs=1e-14)


def test_no_list_at_all_contributes_nothing():
    scene = Scene(8)

    assert found(scene.rec(scene.recs.clear()), ["coverage@3", "gini", "personalization"], []) == {}


MEANS = ["f_score(average=means)@3", "f_score(beta=2,average=means)"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policies", "by"),
    crossed([{}, {"universe": "recs"}, {"no_relevant": "null"}], [[], ["country"]]),
)
def test_a_user_contributes_what_the_means_change_without_the_user(policies, by):
    scene, metrics = Scene(9), [str(rf.parse(metric)) for metric in MEANS]
    truth = scene.truth.filter(pl.col("user") > 1).with_columns(
        relevance=pl.when(pl.col("user") == 4).then(0).otherwise(1)
    )

    def rec(*, user: int | None = None) -> Any:
        recs, relevant = (
            one.filter(pl.col("user").ne_missing(user)) for one in (scene.recs, truth)
        )
        return recs.rec(truth=relevant, model="model", **policies, users=scene.sides["users"])

    whole, values = _evaluated(rec(), metrics, by), found(rec(), metrics, by)
    expected: Values = {}
    for *segment, user in values:
        without = _evaluated(rec(user=user), metrics, by)
        expected[(*segment, user)] = {
            metric: _contribution(whole, without, tuple(segment), metric)
            if values[(*segment, user)][metric] is not None
            else None
            for metric in metrics
        }

    assert any(row[metrics[0]] is not None for row in values.values())
    assert_same(values, _shifted(expected, whole, metrics), 1e-10)


def test_every_set_metric_has_contributions_or_says_why_not():
    sets = [one for one in registry.registered().values() if one.shape == "set"]
    without = {one.name: reason for one in sets if (reason := reason_without(one))}

    assert {one.name for one in sets} - without.keys() == {
        "coverage",
        "tail_coverage",
        "gini",
        "entropy",
        "personalization",
        "popularity_lift",
    }
    assert without == {
        "exposure_share": "it compares a segment of items with the others",
        "exposure_disparity": "it compares groups of items with each other",
    }


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        ("personalization(similarity=overlap)@5", "it compares each list with all others"),
        ("personalization(against=all)", "it compares the lists of a segment with those of others"),
        ("popularity_lift(average=users)", "it is a mean over users, who have a value each"),
        ("ndcg@10", "it is a mean over users, who have a value each"),
    ],
)
def test_a_metric_without_contributions_is_refused_with_the_reason(metric, reason):
    assert reason_without(rf.parse(metric)) == reason


def test_places_by_a_metric_of_the_users_own_are_refused(monkeypatch):
    monkeypatch.setattr(registry, "_registry", registry.registered())

    @rf.metric(shape="set", over="lists")
    def own_place(at: Any) -> pl.Expr:
        return at.over_items(at.place(-at.n_lists_with))

    reason = "it reads the places of items, which can all move without one list"
    assert reason_without(own_place) == reason


def test_the_metrics_whose_value_depends_on_the_number_of_users_say_so():
    grow = {name for name, one in registry.registered().items() if one.definition.grows}

    assert grow == {"coverage", "tail_coverage", "gini", "entropy"}


@pytest.mark.parametrize("by", [None, "country", "genre"])
def test_contributions_stream_and_hold_no_python(files, by):
    metrics = registry.asked(["gini@3", "gini(weight=log)@2", "entropy@2", "personalization@3"])
    sides = {"users": files.users, "items": files.items}
    rec = files.recs.rec(truth=files.truth, model="model", **sides)
    plan = contributions(rec._inputs(by, metrics=metrics), metrics, Run())

    assert not python_functions(plan)
    if POLARS_2:
        assert not fallbacks(plan)
