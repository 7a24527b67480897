"""What a report says of its models in its first sentence, on a dozen data sets, held against plain statistics."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any

import polars as pl
import pytest
from scipy import stats

import recframe as rf

N = 200
HALF = [rank for _ in range(N // 2) for rank in (1, 2)]
"""A mean reciprocal rank of 3/4."""


def rec(ranks: dict[str, Sequence[int]], **options: Any) -> Any:
    """Bind models of which each user's only relevant item stands at a rank."""
    n = len(next(iter(ranks.values())))
    truth = pl.DataFrame({"user": range(n), "item": 0})
    lists = {name: truth.with_columns(rank=pl.Series(of)) for name, of in ranks.items()}
    return rf.rec(lists, truth=truth, **options)


def said(found: Any, metric: str = "mrr", *more: str, **options: Any) -> str:
    return str(found.report(metric, *more, sections="costs", **options).headline)


def interval(differences: Sequence[float], decimals: int, level: float = 0.95) -> list[str]:
    """The mean of paired differences and its interval by Student's t, as written."""
    n, mean = len(differences), fmean(differences)
    half = stats.t.ppf((1 + level) / 2, n - 1) * stdev(differences) / n**0.5
    return [
        f"{one:.{decimals}f}".replace("-", "\u2212") for one in (mean, mean - half, mean + half)
    ]


def differences(better: Sequence[int], worse: Sequence[int]) -> list[float]:
    return [1 / a - 1 / b for a, b in zip(better, worse, strict=True)]


def test_a_model_that_beats_the_runner_up_and_the_baseline_is_shipped():
    ranks = {"new": [1] * N, "next": HALF, "old": [2] * N}
    gain, low, high = interval(differences(ranks["new"], HALF), 3)

    # 1 against 3/4 and against 1/2; a difference without spread has no interval wider than it
    assert said(rec(ranks), baseline="old").startswith(
        f"Ship new. It beats the runner-up, next, by 33 % in mrr ({gain}, 95 % interval {low} to {high})"
        " and the baseline, old, by 100 % in mrr (0.500, 95 % interval 0.500 to 0.500)."
    )
    assert said(rec(ranks)) == (
        f"Ship new. It beats the runner-up, next, by 33 % in mrr ({gain}, 95 % interval {low} to {high})."
    )


def test_the_best_model_is_kept_where_it_is_the_baseline():
    gain, low, high = interval(differences([1] * N, HALF), 3)
    found = rec({"new": HALF, "old": [1] * N})

    assert said(found, baseline="old") == (
        "Keep old, the baseline. It beats the runner-up, new, by 33 % in mrr "
        f"({gain}, 95 % interval {low} to {high})."
    )


def turns(n: int, wins: int) -> dict[str, list[int]]:
    """Two models who win in turn; one of them in some more."""
    a = [1 + user % 2 for user in range(n)]
    b = [3 - rank for rank in a]
    return {"a": [1] * wins + a, "b": [2] * wins + b}


def test_models_that_cannot_be_told_apart_are_not_decided_on():
    ranks = turns(N, wins=4)
    gain, low, high = interval(differences(ranks["a"], ranks["b"]), 3)

    assert said(rec(ranks)) == (
        f"Do not decide on this: a and b cannot be told apart in mrr ({gain}, {low} to {high})."
    )
    assert said(rec({"old": ranks["a"], "new": ranks["b"]}), baseline="old") == (
        "Keep old, the baseline. No model is shown to beat it: old and new cannot be told apart in mrr "
        f"({gain}, {low} to {high})."
    )


def test_two_that_beat_the_baseline_replace_it_though_they_cannot_be_told_apart():
    ranks = turns(N, wins=4) | {"old": [9] * (N + 4)}
    of_a, of_b = (differences(ranks[name], ranks["old"]) for name in "ab")
    (gain, low, high), (other, low_b, high_b) = interval(of_a, 3), interval(of_b, 3)
    size, size_b = (f"{100 * fmean(of) * 9:,.0f} % in mrr" for of in (of_a, of_b))

    assert said(rec(ranks), baseline="old").startswith(
        f"Replace old, the baseline, by a or b: a beats it by {size} ({gain}, 95 % interval {low} to {high}) and "
        f"b beats it by {size_b} ({other}, 95 % interval {low_b} to {high_b}). But a and b cannot be told apart in mrr ("
    )


@pytest.mark.filterwarnings("ignore:short_lists")  # of one item each
def test_what_the_catalogue_loses_is_said():
    ranks = {"a": [1] * N, "b": HALF}
    users, items = pl.DataFrame({"user": range(N)}), pl.DataFrame({"item": range(4)})
    found = rec(ranks)(users=users, items=items)

    assert said(found, "mrr@5").endswith(" a shows 25 % of the catalogue, b 25 %.")


def test_one_model_has_a_value_and_no_verb():
    found = rec({"only": HALF})
    low, high = found.summarize("mrr").select("value_low", "value_high").row(0)

    assert said(found) == f"mrr is 0.750 ({low:.3f} to {high:.3f}), over {N} users."


def test_lower_values_are_better_where_the_metric_says_so():
    gain, low, high = interval([1 - rank for rank in HALF], 3)
    text = said(rec({"near": [1] * N, "far": HALF}), "first_rank")

    assert text == (
        "Ship near. It beats the runner-up, far, by 33 % in first_rank "
        f"({gain[1:]} lower, 95 % interval {high[1:]} to {low[1:]})."
    )


def test_thirty_models_are_held_against_the_best_alone():
    ranks = {f"m{one:02}": [2 + one] * N for one in range(29)} | {"best": HALF}
    page = rec(ranks).report("mrr")

    assert page.headline.startswith("Ship best. It beats the runner-up, m00, by 50 % in mrr")
    assert {row["baseline"] for row in page.data["compared"]} == {"best"}
    assert len(page.data["compared"]) == 29


@pytest.mark.parametrize("which", ["user", "item"])
def test_ids_that_do_not_meet_make_a_red_page_that_decides_nothing(which):
    recs = {name: pl.DataFrame({"user": range(9), "item": 0, "rank": 1}) for name in "ab"}
    truth = recs["a"].drop("rank").with_columns(pl.col(which) + 100)

    with pytest.warns(rf.RecframeWarning):
        page = rf.rec(recs, truth=truth).report("mrr", baseline="a")

    assert page.headline.endswith("Nothing is decided on these numbers.")
    assert f"no_common_{which}s" in {row["check"] for row in page.data["findings"]}
    assert 'role="alert"' in page.html
    assert [section.name for section in page.sections[:2]] == ["overview", "audit"]
    assert "The best value" not in page.html


def lists_of(share: float, *, other: bool = False) -> Any:
    """Two models, of which one has lists for the first or the last users alone."""
    truth = pl.DataFrame({"user": range(100), "item": 0})
    served = pl.col("user") < 100 * share
    few = truth.filter(~served if other else served).with_columns(rank=1)
    whole = truth.filter(served) if other else truth
    return rf.rec({"few": few, "all": whole.with_columns(rank=2)}, truth=truth)


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
def test_missing_lists_and_arms_are_the_first_sentence_and_nothing_is_decided():
    missing = lists_of(0.2).report("mrr", baseline="all")
    assert missing.headline == (
        "20 % of the users have a list of 'few', 100 % of 'all'; the others count 0. Nothing is decided on these numbers."
    )
    assert [section.name for section in missing.sections[:1]] == ["overview"]
    assert not missing.data.get("compared")
    arms = lists_of(0.5, other=True).report("mrr")
    assert "as in arms of an experiment, which are no models" in arms.headline
    assert arms.headline.endswith("Nothing is decided on these numbers.")


LIKED = pl.DataFrame({"user": range(9), "item": 0})
FIRST = LIKED.with_columns(rank=1)
STOPS: dict[str, tuple[Any, pl.DataFrame, dict[str, str], str]] = {
    "pooled models": (
        pl.concat([FIRST.with_columns(system=pl.lit(one), item=place)
                   for place, one in enumerate("ab")]),
        LIKED, {},
        "Most users have ranks or scored items several times, once per value of a column, as with several models (",
    ),
    "a model of other ids": (
        {"a": FIRST, "b": FIRST.with_columns(pl.col("user") + 100)}, LIKED, {},
        "Models without a user or item id in common with the truth, unlike other models;",
    ),
    "models of the truth": (
        pl.concat([FIRST.with_columns(model=pl.lit(one)) for one in "ab"]),
        pl.concat([LIKED.with_columns(model=pl.lit(one)) for one in "ab"]), {"model": "model"},
        "A column of models that the truth has too, where it is not read (",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
@pytest.mark.parametrize("name", STOPS)
def test_pooled_and_disjoint_data_are_the_first_sentence_and_nothing_is_decided(name):
    recs, truth, options, first = STOPS[name]
    page = rf.rec(recs, truth=truth, **options).report("mrr")

    assert page.headline.startswith(first)
    assert page.headline.endswith(". Nothing is decided on these numbers.")
    assert [section.name for section in page.sections] == ["overview", "audit", "definitions"]
    assert not page.data.keys() & {"ahead", "compared"}


@pytest.mark.filterwarnings("ignore:short_lists")  # of one item each
def test_models_beyond_accuracy_stand_in_the_order_of_the_decision():
    ranks = {"a": [3] * N, "b": [1] * N, "c": HALF}
    users, items = pl.DataFrame({"user": range(N)}), pl.DataFrame({"item": range(4)})
    page = rec(ranks)(users=users, items=items).report("mrr@5", sections=["overview", "costs"])
    shown = [part for section in page.sections for part in section.parts if part.kind == "table"]

    for table in shown:
        assert [row[0].text for row in table.rows] == ["b", "c", "a"]
    assert len(shown) == 2


def test_five_users_decide_nothing():
    ranks = {"a": [1, 1, 1, 1, 1], "b": [2, 2, 2, 2, 1]}
    gain, low, high = interval(differences(ranks["a"], ranks["b"]), 2)

    # four users differ: no p value is below 2 ** -3
    assert said(rec(ranks)).startswith(
        f"Do not decide on this: a and b cannot be told apart in mrr ({gain}, {low} to {high})"
    )
    few = {name: of[:4] for name, of in ranks.items()}
    assert said(rec(few)).startswith("Do not decide on this: a and b cannot be told apart in mrr (")


def test_few_clusters_decide_nothing_whatever_the_number_of_users():
    users = pl.DataFrame({"user": range(N), "house": [user % 3 for user in range(N)]})
    found = rec({"a": [1] * N, "b": HALF}, users=users)

    text = said(found, cluster="house")
    assert text.startswith("Do not decide on this: a and b cannot be told apart in mrr (")
    assert "clusters" in text


def segmented(n: int = 120, **ranks: tuple[int, int]) -> Any:
    """Two models with a rank in each of two groups of users, one rank more for each third of them."""
    every = {
        name: [first + user % 3 for user in range(n)]
        + [second + user % 3 for user in range(n // 2)]
        for name, (first, second) in ranks.items()
    }
    groups = ["large"] * n + ["small"] * (n // 2)
    users = pl.DataFrame({"user": range(n + n // 2), "group": groups})
    return rec(every, users=users)


def test_the_segment_that_loses_is_named():
    loses = segmented(new=(1, 3), old=(3, 2))
    lost = fmean(1 / (3 + third) - 1 / (2 + third) for third in range(3))

    won = fmean(1 / (1 + third) - 1 / (3 + third) for third in range(3))
    assert said(loses, by="group").endswith(
        f" new is better for group large (by {won:.3f}), old is better for group small (by {-lost:.3f}). "
        "33 % of users get a worse list than with old."
    )
    open_ = segmented(new=(1, 3), old=(3, 3))
    assert "group" not in said(open_, by="group")


def test_models_that_cannot_be_told_apart_are_better_for_different_users():
    text = said(segmented(a=(1, 9), b=(2, 1), old=(20, 20)), baseline="old", by="group")
    large = fmean(1 / (1 + third) - 1 / (2 + third) for third in range(3))
    small = fmean(1 / (1 + third) - 1 / (9 + third) for third in range(3))

    # the two best by segment, though neither is the baseline
    assert text.startswith("Replace old, the baseline, by a or b: ")
    assert " But b and a cannot be told apart in mrr (" in text
    assert text.endswith(
        f" b is better for group small (by {small:.3f}), a is better for group large (by {large:.3f})."
    )


def test_equal_lists_are_said_to_be_equal():
    text = said(rec({"a": HALF, "b": HALF, "c": [2] * N}))

    assert text == f"Do not decide on this: a and b have the same mrr for each of {N} users."


def test_a_margin_says_what_does_not_matter():
    n = 40_000
    ranks = {"a": [1 + (user % 2) for user in range(n)], "b": [2 - (user % 2) for user in range(n)]}
    ranks["a"][1] = 1
    text = said(rec(ranks), margin=0.05)

    assert text.startswith("Do not decide on this: a and b are the same in mrr, within 5 % (")


def test_a_better_mean_of_other_users_is_no_win():
    # for 170 users a is worse; 30 hard ones have a first rank with b alone, and lift the mean of b
    truth = pl.DataFrame({"user": range(N), "item": 0})
    hard = pl.col("user") >= 170
    a = truth.with_columns(item=hard.cast(pl.Int64), rank=1 + pl.col("user") % 2)
    b = truth.with_columns(rank=pl.when(hard).then(40).otherwise(1))
    gain, low, high = interval([-(user % 2) for user in range(170)], 3)
    page = rf.rec({"a": a, "b": b}, truth=truth).report("first_rank")

    assert page.headline == (
        "Do not decide on this: a has the better first_rank, but is worse for 170 users with both values "
        f"({gain}, {low} to {high})."
    )


def test_weights_of_a_metric_are_its_own():
    ranks = {"a": HALF, "b": [2] * N}
    n = pl.Series([0.2 + 0.6 * (user % 2) for user in range(N)])
    truth = pl.DataFrame({"user": range(N), "item": 0, "propensity": n})
    lists = {name: truth.select("user", "item", rank=pl.Series(of)) for name, of in ranks.items()}
    found = rf.rec(lists, truth=truth, propensity="propensity")
    text = said(found, "recall(weights=ips)@1")

    # a hits every other user, whose propensity is 0.2
    values = [0.0 if user % 2 else 1 / 0.2 for user in range(N)]
    gain, low, high = interval(values, 2)
    assert text == (
        f"Ship a. It beats the runner-up, b, by {gain} in recall(weights=ips)@1 (95 % interval {low} to {high})."
    )


def test_a_metric_that_says_the_contrary_is_named_in_the_second_sentence():
    item = pl.DataFrame({"user": [*range(N)] * 2, "item": [0] * N + [1] * N})
    first = item.with_columns(rank=1 + pl.col("item") * 20)
    both = item.with_columns(rank=2 + pl.col("item"))
    page = rf.rec({"first": first, "both": both}, truth=item).report("mrr", "recall@3")

    assert page.headline.split(". ")[1:] == [
        "It beats the runner-up, both, by 100 % in mrr (0.500, 95 % interval 0.500 to 0.500)",
        "But recall@3 (\u22120.500, \u22120.500 to \u22120.500) says the contrary.",
    ]


def test_the_verdict_on_the_runner_up_is_that_of_a_comparison_of_the_two_alone():
    ranks = turns(N, wins=30) | {"old": [9] * (N + 30), "far": [5] * (N + 30)}
    found = rec(ranks)
    ahead = found.report("mrr", baseline="old").data["ahead"][0]
    alone = found.compare("mrr", baseline=ahead["baseline"], correction=None)
    row = alone.row(by_predicate=pl.col("model") == ahead["model"], named=True)

    assert ahead["baseline"] != "old"
    assert ahead["verdict"] == row["verdict"]
    assert ahead["p_value"] == pytest.approx(row["p_value"], rel=1e-9)


def test_models_stand_by_value_and_bounds_below_them():
    log = pl.DataFrame(
        {
            "user": [u for u in range(40) for _ in range(3)],
            "item": [(u * d) % 7 for u in range(40) for d in (1, 2, 3)],
            "day": [1, 2, 3] * 40,
        }
    )
    split = log.rec(time="day").split.last_per_user(1)
    lists = split.baselines("popular", "random", "oracle", k=2, seen="keep")
    page = split.rec(lists, model="model").report("mrr", sections="overview")
    *charts, table = page.sections[0].parts

    assert [chart.name for chart in charts] == ["chart-models", "chart-compare"]
    assert {row[0].text for row in table.rows} == {"popular", "random"}
    assert [*table.notes] == ["Bounds of mrr, which are no candidates: oracle 1.000."]
