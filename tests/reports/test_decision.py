"""What a report says of its models in its first sentence, on a dozen data sets, held against plain statistics."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any

import polars as pl
import pytest
from scipy import stats

import recframe as rf

# of lists of one item each
pytestmark = pytest.mark.filterwarnings("ignore:short_lists")
N = 200
FIRST, HALF, SECOND = [1] * N, [1, 2] * (N // 2), [2] * N
"""Mean reciprocal ranks of 1, 3/4 and 1/2."""
OPEN = "Do not decide on this: a and b cannot be told apart in mrr "
NOTHING = " Nothing is decided on these numbers."


def rec(ranks: dict[str, Sequence[int]], **options: Any) -> Any:
    """Bind models of which each user's only relevant item stands at a rank."""
    n = len(next(iter(ranks.values())))
    truth = pl.DataFrame({"user": range(n), "item": 0})
    lists = {name: truth.with_columns(rank=pl.Series(of)) for name, of in ranks.items()}
    return rf.rec(lists, truth=truth, **options)


def said(found: Any, metric: str = "mrr", *more: str, **options: Any) -> str:
    return str(found.report(metric, *more, sections="costs", **options).headline)


def ends(differences: Sequence[float], decimals: int) -> list[str]:
    """The mean of paired differences and its interval at 95 % by Student's t, as written."""
    n, mean = len(differences), fmean(differences)
    half = stats.t.ppf(0.975, n - 1) * stdev(differences) / n**0.5
    return [
        f"{one:.{decimals}f}".replace("-", "\u2212") for one in (mean, mean - half, mean + half)
    ]


def gain(better: Sequence[int], worse: Sequence[int], words: str = "", decimals: int = 3) -> str:
    """What one model has more than another in mrr, in brackets."""
    pairs = zip(better, worse, strict=True)
    mean, low, high = ends([1 / a - 1 / b for a, b in pairs], decimals)
    return f"({mean}, {words}{low} to {high})"


AT_95 = "95 % interval "


def turns(n: int, wins: int) -> dict[str, list[int]]:
    """Two models who win in turn; one of them in some more."""
    a = [1 + user % 2 for user in range(n)]
    return {"a": [1] * wins + a, "b": [2] * wins + [3 - rank for rank in a]}


def test_a_model_that_beats_the_runner_up_and_the_baseline_is_shipped():
    found = rec({"new": FIRST, "next": HALF, "old": SECOND})
    ship = f"Ship new. It beats the runner-up, next, by 33 % in mrr {gain(FIRST, HALF, AT_95)}"

    # 1 against 3/4 and against 1/2; a difference without spread has no interval wider than it
    assert said(found, baseline="old").startswith(
        f"{ship} and the baseline, old, by 100 % in mrr (0.500, 95 % interval 0.500 to 0.500)."
    )
    assert said(found) == f"{ship}."


def test_the_best_model_is_kept_where_it_is_the_baseline():
    text = said(rec({"new": HALF, "old": FIRST}), baseline="old")

    beats = f"It beats the runner-up, new, by 33 % in mrr {gain(FIRST, HALF, AT_95)}."
    assert text == f"Keep old, the baseline. {beats}"


def test_models_that_cannot_be_told_apart_are_not_decided_on():
    a, b = turns(N, wins=4).values()
    five = [1] * 5, [2, 2, 2, 2, 1]

    assert said(rec({"a": a, "b": b})) == f"{OPEN}{gain(a, b)}."
    assert said(rec({"old": a, "new": b}), baseline="old") == (
        "Keep old, the baseline. No model is shown to beat it: old and new cannot be told apart in mrr "
        f"{gain(a, b)}."
    )
    # four users differ: no p value is below 2 ** -3
    assert said(rec(dict(zip("ab", five, strict=True)))).startswith(OPEN + gain(*five, decimals=2))
    assert said(rec({"a": [1] * 4, "b": [2] * 4})).startswith(OPEN)
    # few clusters, whatever the number of users
    users = pl.DataFrame({"user": range(N), "house": [user % 3 for user in range(N)]})
    text = said(rec({"a": FIRST, "b": HALF}, users=users), cluster="house")
    assert text.startswith(OPEN)
    assert "clusters" in text


def test_equal_lists_and_those_within_a_margin_are_said_to_be_the_same():
    n = 40_000
    a = [1 + (user % 2) for user in range(n)]
    b = [3 - rank for rank in a]
    a[1] = 1

    assert said(rec({"a": HALF, "b": HALF, "c": SECOND})) == (
        f"Do not decide on this: a and b have the same mrr for each of {N} users."
    )
    same = "Do not decide on this: a and b are the same in mrr, within 5 % ("
    assert said(rec({"a": a, "b": b}), margin=0.05).startswith(same)


def test_two_that_beat_the_baseline_replace_it_though_they_cannot_be_told_apart():
    ranks = turns(N, wins=4) | {"old": [9] * (N + 4)}
    a, b = (gain(ranks[name], ranks["old"], AT_95) for name in "ab")
    size, size_b = (f"{100 * (9 * fmean(1 / r for r in ranks[x]) - 1):,.0f} %" for x in "ab")

    assert said(rec(ranks), baseline="old").startswith(
        f"Replace old, the baseline, by a or b: a beats it by {size} in mrr {a} and "
        f"b beats it by {size_b} in mrr {b}. But a and b cannot be told apart in mrr ("
    )


def test_what_the_catalogue_loses_is_said_and_tables_have_the_order_of_the_decision():
    users, items = pl.DataFrame({"user": range(N)}), pl.DataFrame({"item": range(4)})
    found = rec({"a": [3] * N, "b": FIRST, "c": HALF})(users=users, items=items)
    page = found.report("mrr@5", sections=["overview", "costs"])
    tables = [part for one in page.sections for part in one.parts if part.kind == "table"]

    assert page.headline.endswith(" b shows 25 % of the catalogue, c 25 %.")
    assert [[row[0].text for row in table.rows] for table in tables] == [["b", "c", "a"]] * 2


def test_one_model_has_a_value_and_no_verb():
    found = rec({"only": HALF})
    low, high = found.summarize("mrr").select("value_low", "value_high").row(0)

    assert said(found) == f"mrr is 0.750 ({low:.3f} to {high:.3f}), over {N} users."


def test_lower_values_are_better_where_the_metric_says_so():
    mean, low, high = ends([1 - rank for rank in HALF], 3)

    assert said(rec({"near": FIRST, "far": HALF}), "first_rank") == (
        "Ship near. It beats the runner-up, far, by 33 % in first_rank "
        f"({mean[1:]} lower, 95 % interval {high[1:]} to {low[1:]})."
    )


def test_thirty_models_are_held_against_the_best_alone():
    ranks = {f"m{one:02}": [2 + one] * N for one in range(29)} | {"best": HALF}
    page = rec(ranks).report("mrr")

    assert page.headline.startswith("Ship best. It beats the runner-up, m00, by 50 % in mrr")
    assert {row["baseline"] for row in page.data["compared"]} == {"best"}
    assert len(page.data["compared"]) == 29


def lists_of(share: float, *, other: bool = False) -> Any:
    """Two models, of which one has lists for the first or the last users alone."""
    truth = pl.DataFrame({"user": range(100), "item": 0})
    served = pl.col("user") < 100 * share
    few = truth.filter(~served if other else served).with_columns(rank=1)
    whole = truth.filter(served) if other else truth
    return rf.rec({"few": few, "all": whole.with_columns(rank=2)}, truth=truth)


LIKED = pl.DataFrame({"user": range(9), "item": 0})
TOP = LIKED.with_columns(rank=1)
OTHER_USERS = TOP.with_columns(pl.col("user") + 100)


def both(frame: pl.DataFrame, column: str = "model") -> pl.DataFrame:
    """Return a frame of two models below each other."""
    return pl.concat([frame.with_columns(pl.lit(name).alias(column)) for name in "ab"])


STOPS: dict[str, tuple[Any, str]] = {
    "missing lists": (
        lists_of(0.2), "20 % of the users have a list of 'few', 100 % of 'all'; the others count 0."
    ),
    "arms": (
        lists_of(0.5, other=True),
        "50 % of the users have a list of 'all', 50 % of 'few'; the others count 0; hardly a user has both,",
    ),
    "pooled models": (
        rf.rec(both(TOP, "system").with_columns(item=pl.int_range(18) // 9), truth=LIKED),
        "Most users have ranks or scored items several times, once per value of a column, as with several models (",
    ),
    "a model of other ids": (
        rf.rec({"a": TOP, "b": OTHER_USERS}, truth=LIKED),
        "Models without a user or item id in common with the truth, unlike other models;",
    ),
    "models of the truth": (
        rf.rec(both(TOP), truth=both(LIKED), model="model"),
        "A column of models that the truth has too, where it is not read (",
    ),
    "no common users": (
        rf.rec({"a": TOP, "b": TOP}, truth=LIKED.with_columns(pl.col("user") + 100)), ""
    ),
    "no common items": (
        rf.rec({"a": TOP, "b": TOP}, truth=LIKED.with_columns(pl.col("item") + 100)), ""
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
@pytest.mark.parametrize("name", STOPS)
def test_pooled_disjoint_and_missing_data_are_the_first_sentence_and_nothing_is_decided(name):
    found, first = STOPS[name]
    page = found.report("mrr")

    assert page.headline.startswith(first)
    assert page.headline.endswith(NOTHING)
    assert [section.name for section in page.sections][:2] == ["overview", "audit"]
    assert not page.data.keys() & {"ahead", "compared"}
    assert "The best value" not in page.html
    if name.startswith("no common"):
        assert name.replace(" ", "_") in {row["check"] for row in page.data["findings"]}
        assert 'role="alert"' in page.html


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


def ahead(better: int, worse: int) -> str:
    """How much more one model has than another in a group, by their first ranks in it."""
    return f"{fmean(1 / (better + third) - 1 / (worse + third) for third in range(3)):.3f}"


def test_the_segment_that_loses_is_named():
    loses = segmented(new=(1, 3), old=(3, 2))

    assert said(loses, by="group").endswith(
        f" new is better for group large (by {ahead(1, 3)}), old is better for group small (by {ahead(2, 3)}). "
        "33 % of users get a worse list than with old."
    )
    assert "group" not in said(segmented(new=(1, 3), old=(3, 3)), by="group")


def test_models_that_cannot_be_told_apart_are_better_for_different_users():
    text = said(segmented(a=(1, 9), b=(2, 1), old=(20, 20)), baseline="old", by="group")

    # the two best by segment, though neither is the baseline
    assert text.startswith("Replace old, the baseline, by a or b: ")
    assert " But b and a cannot be told apart in mrr (" in text
    assert text.endswith(
        f" b is better for group small (by {ahead(1, 9)}), a is better for group large (by {ahead(1, 2)})."
    )


def test_a_better_mean_of_other_users_is_no_win():
    # for 170 users a is worse; 30 hard ones have a first rank with b alone, and lift the mean of b
    truth = pl.DataFrame({"user": range(N), "item": 0})
    hard = pl.col("user") >= 170
    a = truth.with_columns(item=hard.cast(pl.Int64), rank=1 + pl.col("user") % 2)
    b = truth.with_columns(rank=pl.when(hard).then(40).otherwise(1))
    mean, low, high = ends([-(user % 2) for user in range(170)], 3)

    assert said(rf.rec({"a": a, "b": b}, truth=truth), "first_rank") == (
        "Do not decide on this: a has the better first_rank, but is worse for 170 users with both values "
        f"({mean}, {low} to {high})."
    )


def test_weights_of_a_metric_are_its_own():
    n = pl.Series([0.2 + 0.6 * (user % 2) for user in range(N)])
    truth = pl.DataFrame({"user": range(N), "item": 0, "propensity": n})
    lists = {
        name: truth.select("user", "item", rank=pl.Series(of))
        for name, of in {"a": HALF, "b": SECOND}.items()
    }
    found = rf.rec(lists, truth=truth, propensity="propensity")

    # a hits every other user, whose propensity is 0.2
    mean, low, high = ends([0.0 if user % 2 else 1 / 0.2 for user in range(N)], 2)
    assert said(found, "recall(weights=ips)@1") == (
        f"Ship a. It beats the runner-up, b, by {mean} in recall(weights=ips)@1 (95 % interval {low} to {high})."
    )


def test_a_metric_that_says_the_contrary_is_named_in_the_second_sentence():
    item = pl.DataFrame({"user": [*range(N)] * 2, "item": [0] * N + [1] * N})
    lists = {"first": 1 + pl.col("item") * 20, "both": 2 + pl.col("item")}
    frames = {name: item.with_columns(rank=rank) for name, rank in lists.items()}

    assert said(rf.rec(frames, truth=item), "mrr", "recall@3").split(". ")[1:] == [
        "It beats the runner-up, both, by 100 % in mrr (0.500, 95 % interval 0.500 to 0.500)",
        "But recall@3 (\u22120.500, \u22120.500 to \u22120.500) says the contrary.",
    ]


def test_models_stand_by_value_and_bounds_below_them():
    users, days = [user for user in range(40) for _ in range(3)], [1, 2, 3] * 40
    items = [(user * day) % 7 for user, day in zip(users, days, strict=True)]
    log = pl.DataFrame({"user": users, "item": items, "day": days})
    split = log.rec(time="day").split.last_per_user(1)
    lists = split.baselines("popular", "random", "oracle", k=2, seen="keep")
    page = split.rec(lists, model="model").report("mrr", sections="overview")
    *charts, table = page.sections[0].parts

    assert [chart.name for chart in charts] == ["chart-models", "chart-compare"]
    assert {row[0].text for row in table.rows} == {"popular", "random"}
    assert [*table.notes] == ["Bounds of mrr, which are no candidates: oracle 1.000."]
