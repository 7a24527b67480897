"""Lists of sampled items are found, and rankings of all items are not taken for them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import recframe as rf
from recframe.frames.rows.joins import AS_EVER

N_USERS, N_ITEMS = 300, 500


def scores(seed: int) -> np.ndarray:
    """Scores of all items for all users: some items are liked by most, some by users of a taste."""
    rng = np.random.default_rng(seed)
    tastes, kinds = rng.normal(size=(N_USERS, 4)), rng.normal(size=(N_ITEMS, 4))
    return tastes @ kinds.T + 2 * rng.normal(size=N_ITEMS) + rng.normal(size=(N_USERS, N_ITEMS))


def truth_of(found: np.ndarray, rng: np.random.Generator) -> list[int]:
    """One item that each user likes: one of the best hundred, the better the likelier."""
    best = np.argsort(-found, axis=1)
    return [int(best[user, min(int(rng.geometric(0.05)) - 1, 99)]) for user in range(N_USERS)]


def frame(lists: list[list[int]]) -> pl.DataFrame:
    return (
        pl.DataFrame({"user": range(len(lists)), "item": lists})
        .explode("item", **AS_EVER)
        .with_columns(rank=pl.int_range(1, pl.len() + 1).over("user"))
    )


def truth(liked: list[int]) -> pl.DataFrame:
    return pl.DataFrame({"user": range(len(liked)), "item": liked})


def sampled(found: np.ndarray, liked: list[int], n: int) -> pl.DataFrame:
    rng = np.random.default_rng(7)
    lists = []
    for user, one in enumerate(liked):
        drawn = rng.choice(np.delete(np.arange(N_ITEMS), one), n, replace=False)
        lists.append(sorted([one, *drawn.tolist()], key=lambda item: -found[user, item]))
    return frame(lists)


def is_found(recs: pl.DataFrame, liked: pl.DataFrame, **options: object) -> bool:
    return "sampled_lists" in rf.rec(recs)(truth=liked, **options).audit()["check"]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("n", [5, 20, 99])
def test_lists_of_sampled_items_are_found(seed: int, n: int):
    found = scores(seed)
    liked = truth_of(found, np.random.default_rng(seed))

    assert is_found(sampled(found, liked, n), truth(liked))


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("length", [5, 20, 100])
def test_rankings_of_all_items_are_not_taken_for_sampled(seed: int, length: int):
    found = scores(seed)
    liked = truth_of(found, np.random.default_rng(seed))
    recs = frame(np.argsort(-found, axis=1)[:, :length].tolist())

    assert not is_found(recs, truth(liked))
    # nor where the truth is what of the lists was clicked
    clicked = [one[place % length] for place, one in enumerate(recs["item"].reshape((-1, length)))]
    assert not is_found(recs, truth([int(one) for one in clicked]))


def test_a_ranking_of_the_whole_catalogue_is_none_of_a_sample():
    found = scores(1)
    recs = frame(np.argsort(-found, axis=1).tolist())

    assert not is_found(recs, truth(truth_of(found, np.random.default_rng(1))))


def test_the_remedy_is_a_call_that_gives_an_estimate_near_the_real_number():
    found = scores(1)
    liked = truth_of(found, np.random.default_rng(1))
    recs, real = sampled(found, liked, 99), frame(np.argsort(-found, axis=1)[:, :20].tolist())
    findings = recs.rec(truth=truth(liked)).audit().filter(check="sampled_lists")
    metric = rf.corrected(metric="ndcg", n_items=N_ITEMS, n_negatives=99) @ 20

    assert "rf.corrected(metric='ndcg', n_items=..., n_negatives=...) @ 10" in findings["remedy"][0]
    estimate = recs.rec(truth=truth(liked)).evaluate(metric)[str(metric)][0]
    exact = real.rec(truth=truth(liked)).ndcg(k=20)
    naive = recs.rec(truth=truth(liked)).ndcg(k=20)
    assert abs(estimate - exact) < 0.2 * abs(naive - exact)
