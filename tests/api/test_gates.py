"""What `rec.require` promises: three states, and errors that show what fails."""

from __future__ import annotations

import unittest

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import recframe as rf
from hits_of_models import first, hits, rec, truth
from recframe.statistics.requirements import COLUMNS


def wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's interval with the quantile of t, for the variance over n - 1."""
    t, n = stats.t.ppf(0.975, n - 1) ** 2, n - 1
    middle, half = (share + t / (2 * n)), np.sqrt(t * share * (1 - share) / n + (t / (2 * n)) ** 2)
    return (middle - half) / (1 + t / n), (middle + half) / (1 + t / n)


def test_a_number_has_three_states_by_wilsons_interval(kind):
    low, high = wilson(0.75, 100)
    assert 0.65 < low < 0.7
    assert 0.8 < high < 0.85
    asked = ["hit_rate@1 >= 0.65", "hit_rate@1 >= 0.7", "hit_rate@1 >= 0.8", "hit_rate@1 >= 0.85"]
    asked += ["hit_rate@1 <= 0.85", "hit_rate@1 <= 0.7", "hit_rate@1 <= 0.6"]

    found = kind(hits(svd=first(0.75))).rec(truth=kind(truth(100)), model="model")
    result = kind.read(found.require(*asked, raises=False))

    assert result.columns == ["model", *COLUMNS]
    assert result["requirement"].to_list() == asked
    assert result["state"].to_list() == [
        *("holds", "open", "open", "fails"),
        *("holds", "open", "fails"),
    ]
    assert result["difference_high"][0] == pytest.approx(high - 0.65)
    assert result["difference_low"][0] == pytest.approx(low - 0.65)
    # the test of a share is that of its interval, here of seven rows with four of p 1
    alone = kind.read(found.require("hit_rate@1 >= 0.85", raises=False))
    t = (0.75 - 0.85) / np.sqrt(0.85 * 0.15 / 99)
    assert alone["p_adjusted"][0] == pytest.approx(2 * stats.t.cdf(t, 99))


def test_the_interval_of_a_number_is_beyond_it_where_the_p_value_says_so():
    asked = [f"hit_rate@1 >= {bound / 1000}" for bound in range(760, 1000, 3)]
    svd = rec(hits(svd=first(0.75)))
    result = pl.concat(svd.require(one, raises=False) for one in asked)
    beyond = result["difference_high"] < 0

    assert 0 < beyond.sum() < len(asked)
    assert ((result["p_adjusted"] <= 0.05) == beyond).all()


def test_what_fails_raises_with_a_table_of_it(kind):
    models = hits(svd=first(0.75), pop=first(0.5))
    found = kind(models).rec(truth=kind(truth(100)), model="model")

    low, high = (end - 0.7 for end in wilson(0.5, 100))

    with pytest.raises(rf.RequirementError) as error:
        kind.read(found.require("hit_rate@1 >= 0.7", "hit_rate@1 >= 0.2"))

    assert str(error.value).splitlines() == [
        "requirements are not met in 1 of 4 rows (fails 1):",
        " model  requirement        state  value   bound   difference  difference_low  difference_high  n_users  note",
        f" pop    hit_rate@1 >= 0.7  fails  0.5000  0.7000  -0.2000     {low:.4f}         {high:.4f}          100",
    ]  # fmt: skip


def test_the_error_is_a_failure_of_a_test_and_an_error_of_recframe():
    assert issubclass(rf.RequirementError, (AssertionError))
    assert issubclass(rf.RequirementError, rf.RecframeError)
    assert issubclass(rf.RequirementError, unittest.TestCase.failureException)


def test_a_lazy_frame_runs_where_a_gate_may_raise_and_is_a_plan_where_it_may_not():
    read = []

    def source(columns, predicate, *_):
        read.append(1)
        rows = hits(svd=first(0.5))
        rows = rows if predicate is None else rows.filter(predicate)
        yield rows if columns is None else rows.select(columns)

    lazy = pl.io.plugins.register_io_source(source, schema=hits(svd=[1]).schema)
    asked = lazy.rec(truth=truth(100).lazy(), model="model")
    plan = asked.require("hit_rate@1 >= 0.9", raises=False)

    assert not read
    assert isinstance(plan, pl.LazyFrame)
    assert plan.collect_schema().names() == ["model", *COLUMNS]
    assert plan.collect()["state"].to_list() == ["fails"]
    read.clear()
    with pytest.raises(rf.RequirementError, match="not met in 1 of 1 rows"):
        asked.require("hit_rate@1 >= 0.9")
    assert read
    met = asked.require("hit_rate@1 >= 0.1")
    assert isinstance(met, pl.DataFrame)
    assert_frame_equal(met, rec(hits(svd=first(0.5))).require("hit_rate@1 >= 0.1"))


def test_segments_of_users_have_the_numbers_of_compare():
    random, n = np.random.default_rng(0), 20_100
    models = hits(svd=random.integers(0, 2, n).tolist(), pop=random.integers(0, 2, n).tolist())
    users = pl.DataFrame({"user": range(n), "country": [None, *"ABD"] * (n // 4)})
    asked = rec(models, n, users=users)

    result = asked.require("hit_rate@1 >= pop", by="country", raises=False)
    compared = asked.compare("hit_rate@1", baseline="pop", by="country")

    same = ["country", "value", "difference", "difference_low", "difference_high", "n_users"]
    assert_frame_equal(result.select(same), compared.select(same))
    assert result["bound"].to_list() == pytest.approx(compared["baseline_value"].to_list())
    lazy = models.lazy().rec(truth=truth(n).lazy(), model="model", users=users.lazy())
    found = lazy.require("hit_rate@1 >= pop", by="country", raises=False)
    assert_frame_equal(found.collect(engine="streaming"), result)


def test_small_segments_are_open_and_a_strict_gate_asks_for_one_that_is_not():
    users = pl.DataFrame({"user": range(100), "country": ["A"] * 95 + ["B"] * 5})
    asked = rec(hits(svd=first(0.95)), users=users)

    result = asked.require("hit_rate@1 >= 0.9", by="country", min_users=10, strict=True)

    assert result["state"].to_list() == ["holds", "open"]
    assert result["p_adjusted"][1] is None
    assert result["note"][1] == "fewer than 10 users, so not judged; all users have the same value"
    asked.require("hit_rate@1 >= 0.95")
    with pytest.raises(rf.RequirementError, match="open 1"):
        asked.require("hit_rate@1 >= 0.95", strict=True)
    with pytest.raises(rf.RequirementError, match=r"2 of 2 rows \(open 2\)"):
        asked.require("hit_rate@1 >= 0.9", by="country", min_users=96, strict=True)


def test_one_user_is_open_and_what_nobody_has_is_not_met():
    asked = rec(hits(svd=[1]), 1)
    needed = ("hit_rate@1 >= 0.5", "auc >= 0.5")
    result = asked.require(*needed, min_users=1, raises=False)

    assert result["state"].to_list() == ["open", "open"]
    assert result["note"].to_list() == ["one user, so no interval", "nobody has a value"]
    asked.require(needed[0], min_users=1)
    with pytest.raises(rf.RequirementError, match=r"1 of 2 rows \(open 1\)"):
        asked.require(*needed, min_users=1)
    with pytest.raises(rf.RequirementError, match="open 2"):
        asked.require(*needed, min_users=1, strict=True)


@pytest.mark.filterwarnings("ignore:no_lists")
@pytest.mark.parametrize("strict", [False, True])
def test_a_gate_that_judged_nothing_raises(kind, strict):
    users = pl.DataFrame({"user": range(100), "country": ["A", "B"] * 50})
    none, some = hits(svd=[1])[:0], hits(svd=first(0.5))
    no_row = ("missing", "no model and no segment has a row for it")
    nobody, few = ("open", "nobody has a value"), ("open", "fewer than 60 users, so not judged")
    of_models, by_country = {"model": "model"}, {"by": "country", "min_users": 60}
    for recs, liked, bound, asked, found in (
        (none, truth(100), of_models, {}, no_row),
        (none, truth(100)[:0], of_models, {}, no_row),
        (none.drop("model"), truth(100)[:0], {}, {}, nobody),
        (some, truth(100)[:0], of_models, {}, nobody),
        (some, truth(100), of_models, by_country, few),
    ):
        rec_of = kind(recs).rec(truth=kind(liked), users=kind(users), **bound)
        with pytest.raises(rf.RequirementError, match=found[1]):
            rec_of.require("hit_rate@1 >= 0.3", strict=strict, **asked)
        rows = pl.DataFrame(kind.read(rec_of.require("hit_rate@1 >= 0.3", raises=False, **asked)))
        assert {*rows.select("state", "note").rows()} == {found}


def test_models_are_those_that_are_asked_and_a_requirement_of_others_is_missing():
    asked = rec(hits(svd=first(0.5), pop=first(0.1)))
    of_pop, of_all = "hit_rate@1 >= 0.9 * pop", "hit_rate@1 >= 0.01"

    assert asked.require(of_pop, models=["svd"])["model"].to_list() == ["svd"]
    with pytest.raises(rf.RequirementError, match=r"missing 1"):
        asked.require(of_pop, models="pop")
    found = asked.require(of_pop, of_all, models="pop", raises=False)
    assert found.select("model", "requirement", "state").rows() == [
        ("pop", of_all, "holds"),
        (None, of_pop, "missing"),
    ]


def test_models_that_are_numbers_may_be_required_against():
    numbers = pl.col("model").replace_strict({"svd": 2, "pop": 1}, return_dtype=pl.Int64)
    numbered = hits(svd=first(0.72), pop=first(0.7)).with_columns(numbers)
    one = rf.Requirement("hit_rate@1", ">=", 0.9, 1)

    assert str(one) == "hit_rate@1 >= 0.9 * '1'"
    assert rf.Requirement.parse(str(one)) == one
    assert one == rf.Requirement("hit_rate@1", ">=", 0.9, np.int64(1))
    asked = [one, rf.Requirement("hit_rate@1", ">=", 0.9, 1.0)]
    found = numbered.rec(truth=truth(100), model="model").require(*asked, models=2)
    assert found.select("model", "state").rows() == [(2, "holds")]


def test_a_value_at_its_bound_meets_it_though_rounding_parts_them():
    # 0.1 + 0.2 is above 0.3 by a bit, and so are sums of tenths
    asked = rec(hits(svd=first(0.3), pop=first(0.1)))

    result = asked.require("hit_rate@1 <= 3 * pop", raises=False)
    assert result["difference"].to_list() == [0]


def test_set_metrics_are_judged_without_groups_of_users():
    random = np.random.default_rng(5)
    drawn = {"svd": random.integers(0, 200, 400), "pop": random.integers(0, 20, 400)}
    lists = {name: truth(400).with_columns(item=own, rank=1) for name, own in drawn.items()}
    asked = rf.rec(lists, truth=truth(400), items=pl.DataFrame({"item": range(300)}))
    asked_for = ["gini@1 <= 0.9", "gini@1 <= 0.95 * pop", "coverage@1 >= 0.5", "gini@1 <= pop"]

    found = asked.require(*asked_for, raises=False)

    states = dict(zip(found["model"] + " " + found["requirement"], found["state"], strict=True))
    assert states == {
        "pop gini@1 <= 0.9": "fails",
        # so few items that hardly any group changes it
        "pop coverage@1 >= 0.5": "open",
        **{f"svd {one}": "holds" for one in asked_for},
    }
    alone = found.filter(requirement="gini@1 <= 0.9")["difference_low"]
    expected = asked.summarize("gini@1")["value_low"] - 0.9
    assert alone.to_list() == pytest.approx(expected.to_list())
    same = ["value", "difference", "difference_low", "difference_high", "n_users"]
    compared = asked.compare("gini@1", baseline="pop").select(same)
    assert_frame_equal(found.filter(requirement="gini@1 <= pop").select(same), compared)


def test_a_number_above_1_has_no_share_that_its_error_could_be_that_of():
    # NumPy warns of the root of x (1 - x), which is negative
    lists = pl.select(user=pl.int_range(400), item=pl.int_range(400) % 97, rank=1)
    rec = lists.rec(truth=truth(400), items=lists.select("item").unique())

    found = rec.require("entropy@1 >= 0.5", "list_length <= 3", raises=False)

    assert found["state"].to_list() == ["holds", "holds"]


def test_a_metric_of_those_who_hit_by_both_decides_nothing_where_many_do_not():
    # 40 of 100 users hit by both, 30 by one alone, each at rank 1 in place of 2
    users = truth(100)
    old = users[:70].with_columns(rank=2, model=pl.lit("old"))
    new = pl.concat([users[:40], users[70:]]).with_columns(rank=1, model=pl.lit("new"))
    asked = pl.concat([old, new]).rec(truth=users, model="model")
    told = "more than a fifth of the users have only one of the two values, so those with both are not representative"

    gate = asked.require("first_rank <= 0.9 * old", "first_rank >= 1.1 * old", raises=False)
    compared = asked.compare("first_rank", baseline="old")

    assert gate["state"].to_list() == ["open"] * 2
    assert compared["verdict"].to_list() == ["open"]
    assert all(told in note for note in gate["note"])
    assert told in compared["note"][0]


def test_clusters_of_a_gate_are_those_of_compare():
    random, n = np.random.default_rng(3), 300
    users = truth(n).select("user").with_columns(household=pl.col("user") // 3, country=pl.lit("A"))
    lists = {one: truth(n).with_columns(rank=random.integers(1, 5, n)) for one in ("old", "new")}
    asked = rf.rec(lists, truth=truth(n), users=users)
    options = {"by": "country", "cluster": "household"}

    gate = asked.require("dcg@3 >= old", "mrr >= old", "mrr >= 0.1", raises=False, **options)
    compared = asked.compare("dcg@3", "mrr", baseline="old", **options)
    summary = asked.summarize("mrr", **options)

    pairs = gate.filter(pl.col("requirement").str.contains("old")).sort("requirement")
    same = ["difference", "difference_low", "difference_high", "n_users"]
    assert_frame_equal(pairs.select(same), compared.sort("metric").select(same))
    bound = gate.filter(requirement="mrr >= 0.1").sort("model")["difference_low"]
    expected = summary.sort("model")["value_low"] - 0.1
    assert bound.to_list() == pytest.approx(expected.to_list())
