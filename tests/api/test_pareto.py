"""Models by several metrics at once, held against plain loops over the answers of `evaluate` and `compare`."""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import recframe as rf
from planted_shop import shop

SHOP = shop(n=60)
# one model that is worse than another for everybody who has a hit, and one that is the same as the other
LATER = SHOP.recs.filter(pl.col("model") == "old").with_columns(
    rank=6 - pl.col("rank"), model=pl.lit("turned")
)
AS_OLD = SHOP.recs.filter(pl.col("model") == "old").with_columns(model=pl.lit("twin"))
RECS = pl.concat([SHOP.recs, LATER, AS_OLD])
TRAIN = pl.DataFrame({"user": [1, 2, 3, 3], "item": [0, 1, 2, 5]})
SIDES = {"truth": SHOP.truth, "users": SHOP.users, "items": SHOP.items, "train": TRAIN}

EVERY_KIND = True
"""Each test runs on every kind of frame."""


def ahead(one: list[float], other: list[float], signs: list[int]) -> bool:
    """Whether a model equals or beats another in all metrics, and beats it in one."""
    leads = [sign * (a - b) for a, b, sign in zip(one, other, signs, strict=True)]
    return min(leads) >= 0 and max(leads) > 0


def fronts(rec: Any, metrics: list[str], signs: list[int]) -> dict[str, Any]:
    """Return each model's state and those that dominate it, by the definition and the verdicts of `compare`."""
    values = {
        row[0]: list(row[1:]) for row in rec.evaluate(metrics).select("model", *metrics).rows()
    }
    verdict = {
        (row["model"], row["baseline"], row["metric"]): row["verdict"]
        for row in rec.compare(metrics).to_dicts()
    }
    turned = {"better": "worse", "worse": "better", "same": "same"}

    def said(one: str, other: str, metric: str) -> str | None:
        found = verdict.get((one, other, metric))
        return found or turned.get(verdict.get((other, one, metric), ""))

    result = {}
    for name, own in values.items():
        others = [one for one in sorted(values) if ahead(values[one], own, signs)]
        shown = []
        for one in others:
            words = [said(one, name, metric) for metric in metrics]
            if set(words) <= {"better", "same"} and "better" in words:
                shown.append(one)
        state = "dominated" if shown else "open" if others else "front"
        result[name] = (state, ", ".join(shown or others) or None)
    return result


@given(st.lists(st.tuples(*[st.integers(1, 4)] * 8), min_size=2, max_size=4))
def test_fronts_are_those_of_plain_loops_over_values_and_verdicts(ranks):
    frames = {
        f"m{place}": pl.DataFrame({"user": range(8), "item": 0, "rank": of})
        for place, of in enumerate(ranks)
    }
    rec = rf.rec(frames, pl.DataFrame({"user": range(8), "item": 0}))
    found = rec.pareto("mrr", "hit_rate@2", "first_rank")

    states = dict(zip(found["model"], found.select("front", "dominated_by").rows(), strict=True))
    assert states == fronts(rec, ["mrr", "hit_rate@2", "first_rank"], [1, 1, -1])


def test_a_front_has_the_numbers_of_evaluate_and_the_verdicts_of_compare(kind):
    rec = kind(RECS).rec(model="model", **{name: kind(one) for name, one in SIDES.items()})
    metrics = ["ndcg@5", "mrr@5", "novelty@5"]
    found = kind.read(rec.pareto(metrics))
    plain = RECS.rec(model="model", **SIDES)

    values = plain.evaluate(metrics)
    assert_frame_equal(found.select(values.columns), values, abs_tol=1e-12)
    rows = found.select("model", "front", "dominated_by").rows()
    assert {row[0]: row[1:] for row in rows} == fronts(plain, metrics, [1, 1, 1])
    assert set(found["note"]) == {""}


def test_by_segment_who_is_dominated_is_so_by_the_verdicts_of_the_segment():
    users = pl.DataFrame({"user": range(80)}).with_columns(half=pl.col("user") // 40)
    lists = users.select("user", item=0)
    frames = {"a": lists.with_columns(rank=1 + 2 * (pl.col("user") // 40))}
    frames["b"] = lists.with_columns(rank=2)
    found = rf.rec(frames, lists, users=users).pareto("mrr", "recall@3", by="half")

    # in the first half a stands at rank 1 and b at 2, in the second a at 3 and b at 2
    states = found.select("half", "model", "front", "dominated_by").rows()
    assert sorted(states) == [
        (0, "a", "front", None),
        (0, "b", "dominated", "a"),
        (1, "a", "dominated", "b"),
        (1, "b", "front", None),
    ]


def test_a_lead_that_is_open_in_one_metric_dominates_nobody():
    liked = pl.DataFrame({"user": range(40), "item": 0})
    # a is better by mrr for everybody; by recall@3 it is ahead for one user
    ranks = pl.when(pl.col("user") == 0).then(4).otherwise(2)
    frames = {"a": liked.with_columns(rank=1), "b": liked.with_columns(rank=ranks)}
    found = rf.rec(frames, liked).pareto("mrr", "recall@3")

    assert found.select("front", "dominated_by").rows() == [("front", None), ("open", "a")]


def test_a_model_without_a_value_is_on_no_front_and_says_why(kind):
    liked = pl.DataFrame({"user": [1, 2], "item": 1})
    frames = {"a": liked.with_columns(rank=pl.Series([1, 2]))}
    frames |= {"b": liked.with_columns(rank=pl.Series([2, 3])), "nobody": frames["a"][:1]}
    frames["nobody"] = frames["nobody"].with_columns(item=2)
    made = {name: kind(one.cast(pl.Int64)) for name, one in frames.items()}
    found = kind.read(rf.rec(made, kind(liked.cast(pl.Int64))).pareto("dcg@3", "first_rank"))

    # nobody hits, so its first rank is not known
    assert found["front"].to_list() == ["front", "open", None]
    assert found["dominated_by"].to_list() == [None, "a", None]
    assert found["note"].to_list() == ["", "", "no value of first_rank"]
