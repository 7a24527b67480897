"""Estimates from sampled lists: those of the definition, right on average where they can be, and near the truth elsewhere."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import recframe as rf
from asking import liked, recommended
from frame_kinds import KINDS, Kind
from plain_corrections import COUNTS, estimates
from strategies import examples


@st.composite
def samplings(draw: st.DrawFn) -> tuple[str, int, int, int, float]:
    n = draw(st.integers(1, 12))
    return (
        draw(st.sampled_from(sorted(COUNTS))),
        draw(st.integers(1, 8)),
        n,
        n + draw(st.integers(1, 15)),
        draw(st.sampled_from([0.001, 0.1, 0.5, 1])),
    )


def sampled(ranks: list[int], n: int) -> pl.DataFrame:
    """A list of item 0, the relevant one, and n others for each of some ranks of it."""
    return pl.DataFrame(
        {
            "user": [user for user in range(len(ranks)) for _ in range(n + 1)],
            "item": [*range(n + 1)] * len(ranks),
            "rank": [one for rank in ranks for one in (rank, *sorted({*range(1, n + 2)} - {rank}))],
            "relevance": [1, *[0] * n] * len(ranks),
        }
    )


@given(samplings())
@examples(30)
def test_estimates_are_those_that_equations_give(sampling):
    name, k, n, n_items, gamma = sampling
    metric = rf.corrected(metric=name, n_items=n_items, n_negatives=n, gamma=gamma)
    found = sampled([*range(1, n + 2)], n).rec.evaluate(metric @ k, by="user")

    expected = estimates(name, k, n, n_items, gamma)
    assert found.to_series(1).to_list() == pytest.approx(expected, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("name", COUNTS)
def test_of_all_items_drawn_it_is_the_metric_itself(name: str):
    metrics = [name, rf.corrected(metric=name, n_items=30, n_negatives=29)]
    metrics.append(metrics[1](estimator="rank"))
    found = sampled([1, 3, 7, 30], 29).rec.evaluate(*metrics, k=[1, 5, 30], by="user")

    real, *others = (found.select(pl.nth(range(start, start + 3))) for start in (1, 4, 7))
    for one in others:
        assert one.to_numpy() == pytest.approx(real.to_numpy(), abs=1e-12)


def test_the_mean_over_many_users_is_near_that_of_full_rankings():
    rng = np.random.default_rng(3)
    n_users, n_items, n, k = 2_000, 1_000, 100, 10
    ranks = np.minimum(rng.geometric(0.01, n_users), n_items)
    above = rng.hypergeometric(ranks - 1, n_items - ranks, n)
    metric = rf.corrected(n_items=n_items, n_negatives=n, gamma=0.01) @ k
    # one row of misses less for each list would do, but lists are as they come
    lists = sampled((above + 1).tolist(), n)
    found = lists.rec.summarize(metric).row(0, named=True)

    real, naive = float((ranks <= k).mean()), float((above < k).mean())
    table = sampled([*range(1, n + 2)], n).rec.evaluate(metric, by="user").to_series(1).to_numpy()
    places = np.arange(n + 1)[None]
    chances = stats.hypergeom.pmf(places, n_items - 1, ranks[:, None] - 1, n)
    bias = float((chances @ table - (ranks <= k)).mean())
    half = (found["value_high"] - found["value_low"]) / 2
    assert abs(found["value"] - real - bias) < 2 * half
    assert abs(bias) < 0.02
    assert naive > 4 * real


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_models_segments_and_ties_come_with_it(kind: Kind):
    frame = pl.concat(
        [
            sampled([1, 2, 3], 4).with_columns(model=pl.lit("a")),
            # the relevant item and one other share a rank
            sampled([2, 2, 5], 4).with_columns(
                model=pl.lit("b"),
                rank=pl.when(pl.col("rank") > 1).then(pl.col("rank") - 1).otherwise(1),
            ),
        ]
    )
    metric = rf.corrected(n_items=20, n_negatives=4) @ 2
    found = kind.read(rf.rec(kind(frame))(model="model").evaluate(metric, by=["model", "user"]))

    table = estimates("recall", 2, 4, 20, 0.1)
    half = (table[0] + table[1]) / 2
    expected = [*table[:3], half, half, table[4]]
    assert found[str(metric)].to_list() == pytest.approx(expected)


def test_lists_of_a_full_ranking_are_no_zeros_without_a_warning():
    recs = recommended(u="abcde", v="abcde")

    with pytest.warns(rf.RecframeWarning, match="lists_of_other_samples"):
        # 0 of the third user, who has no list
        found = recs.rec(truth=liked(u="a", v="z", w="b")).evaluate("corrected@2")
    assert found["corrected@2"].to_list() == [0.0]
    # nothing of a LazyFrame is looked at
    found = sampled([1, 2, 3], 4).lazy().rec.evaluate("corrected@2").collect()
    assert found.row(0) == (3, None)


def test_estimates_of_many_negatives_keep_their_precision():
    # where the recurrence of the polynomials has lost every digit of a float; by least squares in NumPy
    n_items, n, k, gamma = 400, 200, 10, 0.1
    above, ranks = np.arange(n + 1)[None], np.arange(n_items)[:, None]
    matrix = stats.hypergeom.pmf(above, n_items - 1, ranks, n)
    counts = np.array([1 / math.log2(rank + 1) * (rank <= k) for rank in range(1, n_items + 1)])
    normal = (1 - gamma) * matrix.T @ matrix + gamma * np.diag(matrix.sum(0))
    expected = np.linalg.solve(normal, matrix.T @ counts)
    metric = rf.corrected(metric="ndcg", n_items=n_items, n_negatives=n, gamma=gamma) @ k
    places = [1, 2, 50, n, n + 1]
    found = sampled(places, n).rec.evaluate(metric, by="user").to_series(1).to_numpy()

    assert found == pytest.approx(expected[[place - 1 for place in places]], rel=1e-8, abs=1e-11)
