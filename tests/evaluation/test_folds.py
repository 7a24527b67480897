"""Values over the folds of a split: each row against its own fold's frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from buckets_of_users import in_buckets
from folded_frames import FOLDS, folded, of_fold, over_folds, rec_of
from parted_frames import LISTS_ARE_NO_SAMPLES, every
from random_cases import seeded
from recframe.evaluation.required_columns import is_of_segment

pytestmark = LISTS_ARE_NO_SAMPLES
# of a fold that is filtered by hand
ITS_WARNINGS = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")

ALL = every("items", "train", "users", "reference")
COMMON = ["ndcg@3", "recall", "coverage@3", "novelty@3", "gini"]


def by_fold(
    frames: Any, metrics: Sequence[Any], by: Sequence[str] = (), **options: Any
) -> pl.DataFrame:
    """What the same call returns on the frames filtered to each fold; a model without a list there is told of it."""
    found = (
        rec_of(of_fold(frames, fold), **options)
        .evaluate(*metrics, by=[*by])
        .with_columns(fold=pl.lit(fold, pl.Int64))
        for fold in FOLDS.numbers
    )
    return pl.concat(found)


OPTIONS = [{}, {"universe": "all"}, {"no_relevant": "skip"}, {"no_relevant": "null"}]


@ITS_WARNINGS
@given(
    seed=st.integers(0, 10**6),
    scored=st.booleans(),
    options=st.sampled_from(OPTIONS),
    whole=st.sampled_from([(), ("train", "items"), ("users", "reference")]),
    by=st.sampled_from([["fold"], ["land", "fold"]]),
)
def test_by_fold_is_what_the_filtered_frames_give(
    seed: int,
    options: dict[str, Any],
    whole: Iterable[str],
    by: list[str],
    *,
    scored: bool,
) -> None:
    frames = folded(seed, 6, scored=scored)
    # frames without the column count in every fold
    frames |= {name: of_fold(frames, 0)[name] for name in whole}
    frames["recs"] = frames["recs"].filter(pl.col("model") == "a")
    metrics = seeded(f"folds {seed}").sample(ALL, 8)

    found = over_folds(frames, **options).evaluate(*metrics, by=by)

    wanted = by_fold(frames, metrics, by[:-1], **options).select(found.columns).sort(by)
    # a fold without truth is none
    wanted = wanted.filter(pl.col("fold").is_in(frames["truth"]["fold"].unique().to_list()))
    assert_frame_equal(found, wanted, rel_tol=1e-12, abs_tol=1e-12)


def mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def test_a_value_over_folds_is_the_mean_over_fold_and_user_and_of_set_metrics_over_folds() -> None:
    frames = folded(2)
    rec = over_folds(frames)

    found = rec.evaluate(*ALL)

    each = by_fold(frames, [one for one in ALL if not is_of_segment(one)], ["user"])
    whole = by_fold(frames, ALL)
    for row in found.rows(named=True):
        users, folds, recs = (
            one.filter(model=row["model"]) for one in (each, whole, frames["recs"])
        )
        for metric in map(str, ALL):
            values = users if metric in users.columns else folds
            assert row[metric] == pytest.approx(mean(values[metric])), metric
        assert row["n_users"] == frames["truth"]["user"].n_unique()
        assert row["n_lists"] == len(recs.unique(["fold", "user"]))


@pytest.mark.parametrize(
    ("options", "also"),
    [({}, ["novelty@3"]), ({"no_relevant": "skip", "relevant_from": "list"}, [])],
)
def test_by_user_is_the_mean_over_the_users_folds(options: dict[str, Any], also: list[str]) -> None:
    frames, metrics = folded(3), ["ndcg@3", "recall", *also]
    found = over_folds(frames, **options).evaluate(*metrics, by="user")

    each = by_fold(frames, metrics, ["user"], **options)
    wanted = each.group_by("model", "user").agg(pl.col(*metrics).mean())
    assert_frame_equal(found, wanted.sort("model", "user"), rel_tol=1e-12, abs_tol=1e-12)


def test_a_model_without_a_list_in_a_fold_gets_nothing_there() -> None:
    # one user, relevant in both folds; b is right in the first, and has no list in the second
    columns = {"user": [1, 1, 2, 1], "item": [1, 2, 3, 1], "rank": 1, "fold": [0, 1, 0, 0]}
    recs = pl.DataFrame({"model": list("aaab"), **columns})
    truth = pl.DataFrame({"user": [1, 1], "item": [1, 2], "fold": [0, 1]})
    items = pl.DataFrame({"item": [1, 2, 3, 4]})
    rec = over_folds({"recs": recs, "truth": truth, "items": items})

    assert rec.evaluate("mrr").rows() == [("a", 1, 1.0), ("b", 1, 0.5)]
    # two of four items, then one; with the lists behind the value
    covered = rec.evaluate("coverage@1", support=True).rows()
    assert covered == [("a", 1, 3, 0.375, 3), ("b", 1, 1, 0.25, 1)]
    by_fold = [("a", 0, 1, 1.0), ("a", 1, 1, 1.0), ("b", 0, 1, 1.0), ("b", 1, 1, 0.0)]
    assert rec.evaluate("mrr", by="fold").rows() == by_fold


def test_weights_are_those_of_user_and_fold() -> None:
    frames = folded(4)

    found = over_folds(frames, weight="sales").evaluate("recall", "precision@3")

    each = by_fold(frames, ["recall", "precision@3"], ["user"])
    each = each.join(frames["users"], on=["user", "fold"])
    for row in found.rows(named=True):
        users = each.filter(model=row["model"])
        for name in ("recall", "precision@3"):
            wanted = (users[name] * users["sales"]).sum() / users["sales"].sum()
            assert row[name] == pytest.approx(wanted)


def test_trainings_are_averaged_after_folds() -> None:
    frames = folded(5)
    frames["recs"] = frames["recs"].rename({"model": "seed"})

    found = over_folds(frames, model=None, training="seed").evaluate(*COMMON)

    each = over_folds(frames, model="seed").evaluate(*COMMON)
    for name in COMMON:
        assert found[name].item() == pytest.approx(mean(each[name]))


@pytest.mark.parametrize("by", [None, "fold", "user", ["genre", "land"]])
def test_every_way_to_run_gives_the_same(by: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    frames = folded(6)
    metrics = ["ndcg@3"] if by == "user" else ALL
    eager, lazy, of_pandas = (
        over_folds(frames, make).evaluate(*metrics, by=by)
        for make in (pl.DataFrame.clone, pl.DataFrame.lazy, pl.DataFrame.to_pandas)
    )
    parts = in_buckets(over_folds(frames, pl.DataFrame.lazy), *metrics, by=by)
    monkeypatch.setattr("recframe.frames.kinds.kind.LARGE", 0)
    large = over_folds(frames).evaluate(*metrics, by=by)

    assert isinstance(lazy, pl.LazyFrame)
    assert "python" not in lazy.explain().lower()
    assert isinstance(of_pandas, pd.DataFrame)
    for one in (lazy.collect(), pl.from_pandas(of_pandas), parts, large):
        assert_frame_equal(one, eager, rel_tol=1e-12, abs_tol=1e-12)


def test_tidy_results_and_supports_are_of_fold_and_user() -> None:
    frames = folded(8)
    rec = over_folds(frames)

    found = rec.evaluate("recall@3", "coverage@3", support=True)
    tidy = rec.evaluate("recall@3", "coverage@3", tidy=True)

    users = len(frames["truth"].unique(["fold", "user"]))
    assert found["n recall@3"].to_list() == [users, users]
    assert found["n coverage@3"].to_list() == found["n_lists"].to_list()
    assert tidy["n"].to_list()[:2] == [users, found["n_lists"][0]]


def test_findings_are_those_of_each_fold() -> None:
    frames = folded(3)

    found = over_folds(frames).audit()

    each = pl.concat([rec_of(of_fold(frames, fold)).audit() for fold in FOLDS.numbers])
    keys = ["check", "severity", "frame"]
    wanted = each.group_by(keys).agg(pl.col("rows").sum()).sort(keys)
    assert_frame_equal(found.select(*keys, "rows").sort(keys), wanted)
    assert found["example"].str.starts_with("fold ").all()
