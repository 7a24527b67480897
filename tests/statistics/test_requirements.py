"""What is required: texts and objects, what is wrong with others, and states held against plain definitions."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

import recframe as rf
from plain_uncertainty import wilson
from recframe.api.previous_results import OTHERS
from recframe.statistics import gates
from recframe.statistics.requirements import GONE, Requirement, asked_of, required
from recframe.statistics.sums import OF_UNITS, PARTS, PLACE


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("ndcg@10 >= 0.28", "ndcg@10 >= 0.28"),
        ("nDCG@10>=.280", "ndcg@10 >= 0.28"),
        ("gini@10 <= 1", "gini@10 <= 1"),
        ("map(normalizer=min)@10 >= 3e-1", "map(normalizer=min)@10 >= 0.3"),
        ("ndcg@10 >= 0.99 * popularity", "ndcg@10 >= 0.99 * popularity"),
        ("ndcg@10 >= 1.05*item-knn/v2", "ndcg@10 >= 1.05 * item-knn/v2"),
        ("ndcg@10 >= 0.99 * 'my model'", "ndcg@10 >= 0.99 * 'my model'"),
        ('ndcg@10 >= 0.99 * "it\'s"', 'ndcg@10 >= 0.99 * "it\'s"'),
        ("ndcg@10 >= popularity", "ndcg@10 >= popularity"),
        ("ndcg@10 >= 2 * '2'", "ndcg@10 >= 2 * '2'"),
        ("ndcg@10 >= 'nan'", "ndcg@10 >= nan"),
    ],
)
def test_a_text_is_read_and_written_in_one_form(text, canonical):
    found = Requirement.parse(text)

    assert str(found) == canonical
    assert Requirement.parse(canonical) == found
    assert hash(Requirement.parse(canonical)) == hash(found)
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301  our own


@example(0.5, ">=", "a > b")
@example(0.5, ">=", '"')
@example(0.5, "<=", "it's >= 1")
@given(st.floats(1e-6, 1), st.sampled_from([">=", "<="]), st.none() | st.text(min_size=1))
def test_what_is_written_is_read_again(bound, direction, model):
    if model is not None and {"'", '"'} <= set(model):
        model = model.replace("'", "")
    asked = Requirement(rf.ndcg @ 10, direction, bound, model)

    assert Requirement.parse(str(asked)) == asked


def test_cut_offs_go_to_metrics_without_one_and_each_requirement_comes_once():
    asked = ["ndcg >= 0.2", ["mrr@3 >= 0.1", rf.Requirement("mrr@3", ">=", 0.1)]]

    assert [str(one) for one in required(asked, [5, 10])] == [
        "ndcg@5 >= 0.2",
        "ndcg@10 >= 0.2",
        "mrr@3 >= 0.1",
    ]


# states

SUMS = dict.fromkeys((*PARTS, *OF_UNITS), pl.Float64)
ROW = {PLACE: pl.Int64} | SUMS | OTHERS | {GONE: pl.String}


def rows(
    values: list[np.ndarray], others: list[np.ndarray] | None = None, **also: Any
) -> pl.DataFrame:
    """Make the rows of a gate of one requirement, by the definitions of its columns."""
    found = []
    for segment, value in enumerate(values):
        a = np.zeros(len(value)) if others is None else others[segment]
        n, d = len(value), value - a
        row = dict.fromkeys(ROW) | {PLACE: 0}
        row |= {"a": a.sum(), "d": d.sum(), "aa": (a**2).sum(), "ad": (a * d).sum()}
        row |= {"dd": (d**2).sum(), "an": a.sum(), "dn": d.sum(), "n": n, "nn": n, "units": n}
        row |= {"effective": n, "differ": (d != 0).sum(), "unpaired": 0, "ties": (d == 0).sum()}
        row |= {"squares": (d**2).sum()}
        found.append({"segment": segment, **row, **also})
    return pl.DataFrame(found, schema={"segment": pl.Int64, **ROW})


def judged(rows: pl.DataFrame, needed: Requirement, *, earlier: bool = False) -> pl.DataFrame:
    """Return the states of rows of one requirement."""
    asked = asked_of([needed], {}, has_last=earlier)
    return gates.states(rows, ["segment"], asked, [needed.metric], level=0.95, min_users=5)


def sparse(random: np.random.Generator, n: int) -> np.ndarray:
    """Values of users of whom half have none."""
    return random.random(n) * (random.random(n) < 0.5)


@pytest.mark.parametrize("direction", [">=", "<="])
@pytest.mark.parametrize("factor", [0.9, 1.0, 1.1])
def test_a_share_of_a_model_is_a_t_test_of_each_users_distance(direction, factor):
    random = np.random.default_rng(1)
    others = [sparse(random, n) for n in (6, 30, 300)]
    values = [0.8 * other + 0.2 * sparse(random, len(other)) for other in others]
    asked = Requirement(rf.ndcg, direction, factor, "b")

    found = judged(rows(values, others), asked)

    for row, value, other in zip(found.iter_rows(named=True), values, others, strict=True):
        gap = value - factor * other
        test = stats.ttest_1samp(gap, 0, alternative="less" if direction == ">=" else "greater")
        low, high = stats.ttest_1samp(gap, 0).confidence_interval(0.95)
        differ = (value != other).sum()
        p_value = max(min(1, 2 * test.pvalue), 2.0 ** (1 - differ))
        alone = judged(rows([value], [other]), asked)
        is_wrong = (gap.mean() < 0) == (direction == ">=")
        assert alone["p_adjusted"].item() == (
            pytest.approx(p_value, rel=1e-9) if is_wrong else None
        )
        assert (row["difference_low"], row["difference_high"]) == pytest.approx((low, high))
        assert row["bound"] == pytest.approx(factor * other.mean())
        # with two users more, whose gaps are as far apart as any can be
        ends = stats.ttest_1samp([*gap, -factor, 1], 0).confidence_interval(0.95)
        rights = [low, ends.low] if direction == ">=" else [-high, -ends.high]
        wrong = high if direction == ">=" else -low
        assert (row["state"] == "holds") == (min(rights) >= 0)
        assert row["state"] != "fails" or wrong < 0


def test_a_row_fails_among_all_rows_and_not_by_itself():
    # of twenty rows one has a p value of .01 by itself, and .2 by Holm
    random = np.random.default_rng(3)
    values = [random.normal(0, 1, 100) for _ in range(20)]
    t = stats.t.ppf(0.005, 99)
    values = [one - one.mean() + 5.01 for one in values]
    values[7] += t * values[7].std(ddof=1) / 10 - 0.01

    found = judged(rows(values), Requirement(rf.first_rank, ">=", 5.0))

    assert found["p_adjusted"][7] == pytest.approx(0.2)
    assert found["state"][7] == "open"
    assert found["note"][7] == "significant alone, not after correcting for 20 tests"
    alone = judged(rows(values[7:8]), Requirement(rf.first_rank, ">=", 5.0))
    assert alone["state"].to_list() == ["fails"]
    assert alone["p_adjusted"][0] == pytest.approx(0.01)


def alarms(factor: float, n_tables: int) -> int:
    """Return in how many tables of twenty segments of equal systems something fails."""
    random = np.random.default_rng(20_261)
    asked = Requirement(rf.ndcg, ">=", factor, "b")
    failing = 0
    for _ in range(n_tables):
        others = [sparse(random, 300) for _ in range(20)]
        mixed = [random.random(300) < 0.7 for _ in range(20)]
        values = [np.where(m, o, sparse(random, 300)) for m, o in zip(mixed, others, strict=True)]
        found = judged(rows(values, others), asked)
        failing += "fails" in found["state"].to_list()
    return failing


@pytest.mark.parametrize("factor", [1.0, pytest.param(0.99, marks=pytest.mark.slow)])
def test_equal_systems_fail_in_as_many_tables_as_the_level_says(factor):
    # at most 5 % of 100 tables, whatever the margin: above the quantile one run in ten thousand
    assert alarms(factor, 100) <= stats.binom.ppf(0.9999, 100, 0.05)


def test_an_interval_of_then_is_taken_as_of_other_users():
    # Newcombe's: b - a with ends apart by the root of the sum of squares
    value = np.repeat([0.0, 1.0], [503, 497])
    then = {"other": 0.6, "other_low": 0.57, "other_high": 0.64, "other_n": 500}
    asked = Requirement(rf.hit_rate, ">=", 0.9, "last")

    found = judged(rows([value], **then), asked, earlier=True).row(0, named=True)

    now = value.mean()
    ends = wilson(now, value.var(ddof=1) / 1000, 1000, stats.t.ppf(0.975, 999))
    low = now - 0.54 - math.hypot(now - ends[0], 0.9 * 0.04)
    high = now - 0.54 + math.hypot(ends[1] - now, 0.9 * 0.03)
    assert found["difference"] == pytest.approx(now - 0.54)
    assert (found["difference_low"], found["difference_high"]) == pytest.approx((low, high))
    t = (now - 0.54) / ((high - now + 0.54) / stats.t.ppf(0.975, 499))
    assert found["p_adjusted"] == pytest.approx(2 * stats.t.cdf(t, 499))


ENDS = {
    # of five users all are at the bound; two more could have any value
    "a share": (np.ones(5), Requirement(rf.ndcg, ">=", 0.9), "open"),
    "many": (np.ones(300), Requirement(rf.ndcg, ">=", 0.9), "holds"),
    # a metric without an end, whose users all have one value
    "29 users": (np.full(29, 2.0), Requirement(rf.dcg, ">=", 1.9), "open"),
    "30 users": (np.full(30, 2.0), Requirement(rf.dcg, ">=", 1.9), "holds"),
    "30 users below": (np.full(30, 2.0), Requirement(rf.dcg, ">=", 2.1), "fails"),
}


@pytest.mark.parametrize(("values", "asked", "state"), ENDS.values(), ids=ENDS)
def test_a_gate_holds_with_two_more_users_at_the_ends_of_the_metric(values, asked, state):
    assert judged(rows([values]), asked)["state"].to_list() == [state]
    if asked.bound == 0.9:  # of an earlier value too
        then = {"other": 0.95, "other_low": 0.94, "other_high": 0.96, "other_n": 500}
        last = Requirement(rf.ndcg, ">=", 0.9, "last")
        assert judged(rows([values], **then), last, earlier=True)["state"].to_list() == [state]


@pytest.mark.parametrize("n", [10, 30, 100])
def test_a_number_at_the_bound_holds_as_seldom_as_the_level_says(n):
    # one user in twenty has a hit, where one in twenty is the most: it holds in 2.5 %, give or take
    random = np.random.default_rng(n)
    values = [*(random.random((400, n)) < 0.05).astype(float)]
    found = judged(rows(values), Requirement(rf.hit_rate, "<=", 0.05))

    assert (found["state"] == "holds").sum() <= stats.binom.ppf(0.9999, 400, 0.025)
