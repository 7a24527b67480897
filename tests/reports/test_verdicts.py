"""The verdict of a pair in a report, a comparison and a table, for one family of tests."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

import recframe as rf

N = 240
USERS = pl.DataFrame(
    {"user": range(N), "country": [("DE", "FR", "IT")[one % 3] for one in range(N)]}
)
TRUTH = USERS.select("user", item=0)


def hits(share: float, shift: int) -> pl.Expr:
    """Return rank 1 for a share of the users, else 2."""
    return pl.when((pl.col("user") * 7 + shift) % 100 < 100 * share).then(1).otherwise(2)


RANKS = {"old": hits(0.5, 0), "new": hits(0.65, 31), "next": hits(0.61, 31), "worst": hits(0.49, 5)}
MODELS = {name: TRUTH.with_columns(rank=rank) for name, rank in RANKS.items()}
METRICS, WORDS = ["hit_rate@1", "mrr", "first_rank"], ["verdict", "p_adjusted", "note"]


def rec(*names: str) -> Any:
    return rf.rec({name: MODELS[name] for name in names or MODELS}, truth=TRUTH, users=USERS)


def words(found: pl.DataFrame) -> dict[tuple[str, str], tuple[Any, ...]]:
    """Return the words on each model and metric."""
    return {row[:2]: row[2:] for row in found.select("model", "metric", *WORDS).rows()}


def of_data(rows: Any) -> dict[tuple[str, str], tuple[Any, ...]]:
    return words(pl.DataFrame(rows))


@pytest.mark.parametrize("margin", [None, 0.2])
def test_a_report_and_a_table_have_the_verdicts_of_compare(margin: float | None):
    expected = rec().compare(*METRICS, baseline="old", margin=margin)
    page = rec().report(*METRICS, baseline="old", margin=margin)

    assert of_data(page.data["compared"]) == words(expected)
    if margin is not None:
        assert "not worse" in expected["verdict"]
    else:
        told = "significant alone, not after correcting for 9 comparisons"
        assert any(told in (note or "") for note in expected["note"])
        table = rec().table(*METRICS, baseline="old")
        marks = {"better": "*", "worse": "†"}
        for model, *cells in table.rows:
            for metric, cell in zip(METRICS, cells, strict=True):
                verdict = words(expected).get((model, metric), ("",))[0]
                value, _, _ = cell.partition(" [")
                assert value.lstrip("*0123456789.").replace("\\", "") == marks.get(verdict, "")
        assert "Holm's correction for the 9 tests of the table" in table.notes[-1]


@pytest.mark.parametrize("margin", [None, 0.2])
def test_the_best_and_the_runner_up_are_compared_as_these_two_models_alone(margin: float | None):
    page, pair = rec().report(*METRICS, margin=margin), rec("new", "next")
    first, *others = METRICS
    expected = [pair.compare(*of, baseline="next", margin=margin) for of in ([first], others)]

    assert of_data(page.data["ahead"]) == words(pl.concat(expected))


def test_segments_of_a_report_are_corrected_as_those_of_compare():
    expected = rec("new", "next").compare("hit_rate@1", baseline="next", by="country", min_users=30)
    page = rec().report("hit_rate@1", baseline="old", by="country")

    # the two best models, whatever the baseline
    rows = page.data["segments"]
    assert {(row["model"], row["baseline"], row["by"]) for row in rows} == {
        ("new", "next", "country")
    }
    found = {row["segment"]: (row["verdict"], row["p_adjusted"], row["note"]) for row in rows}
    assert found == {row[0]: row[1:] for row in expected.select("country", *WORDS).rows()}
    # by hand: a paired t test in each country, whose p value is no lower than that of the signs of the users who differ,
    # and Holm's correction of the three
    joined = MODELS["new"].join(MODELS["next"], on="user").join(USERS, on="user").sort("user")
    both = joined.with_columns(new=2 - pl.col("rank"), old=2 - pl.col("rank_right"))
    parts = {of: both.filter(pl.col("country") == of) for of in ("DE", "FR", "IT")}
    p_values = [
        max(
            stats.ttest_rel(one["new"], one["old"]).pvalue,
            2.0 ** (1 - one.filter(pl.col("new") != pl.col("old")).height),
        )
        for one in parts.values()
    ]
    by_hand = multipletests(p_values, method="holm")[1]
    assert [found[of][1] for of in parts] == pytest.approx(by_hand.tolist(), rel=1e-9)
