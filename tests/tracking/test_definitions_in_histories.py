"""Definitions of a history: equal numbers are one, old runs are read as they were meant, and other parts are told."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import recframe as rf

DAYS = [dt.date(2026, 11, day) for day in range(1, 12)]
USERS = pl.DataFrame({"user": range(60), "country": ["FR", "DE"] * 30})


def shop(day: int = 0) -> pl.DataFrame:
    """Return a judged frame of 60 users with grades, in which a few users of each day have their item second."""
    ranks = [2 if (user + day) % 11 == 0 else 1 for user in range(60)]
    return pl.DataFrame(
        {"user": range(60), "item": 1, "rank": ranks, "relevance": [3, 4, 5] * 20, "week": [1] * 60}
    )


def history(place: Path, by: str | None = None, **options: object) -> pl.DataFrame:
    for day, as_of in enumerate(DAYS[:10]):
        shop(day).rec(**options).track("mrr", by=by, history=place, as_of=as_of)
    return rf.history(place)


def without_parts(runs: pl.DataFrame) -> pl.DataFrame:
    return runs.with_columns(pl.col("definition").str.replace("; by .*$", ""))


@pytest.mark.parametrize(
    "four", [4.0, np.int8(4), np.float32(4), Fraction(4), Decimal(4), Decimal("4.00")]
)
def test_numbers_that_are_equal_make_one_definition(tmp_path, four):
    for as_of, number in zip(DAYS, (4, four), strict=False):
        shop().rec(min_relevance=number).track("mrr", history=tmp_path, as_of=as_of)

    (definition,) = set(rf.history(tmp_path)["definition"])
    assert "min_relevance=4," in definition


def test_parameters_that_are_equal_make_one_definition(tmp_path):
    betas = (2, 2.0, np.float32(2), Fraction(2), Decimal("2.0"))
    for as_of, beta in zip(DAYS, betas, strict=False):
        metric = rf.f_score(beta=beta) @ np.int64(3)
        shop().rec.track(metric, history=tmp_path, as_of=as_of)
    shop().rec.track("f_score(beta=2.)@3", history=tmp_path, as_of=DAYS[9])

    runs = rf.history(tmp_path)
    assert runs.select("metric", "k", "definition").n_unique() == 1
    assert len(runs) == len(betas) + 1


def test_a_boolean_is_no_number():
    for yes in (True, np.True_):
        with pytest.raises(rf.RecframeError, match="min_relevance="):
            shop().rec(min_relevance=yes)
        with pytest.raises(rf.RecframeError, match="beta takes a number above 0"):
            rf.f_score(beta=yes)
    with pytest.raises(rf.RecframeError, match="min_relevance="):
        shop().rec(min_relevance=pl.Series([4]))


@pytest.fixture(scope="module")
def of_grade_four(tmp_path_factory):
    return history(tmp_path_factory.mktemp("history"), min_relevance=4)


@pytest.mark.slow
@pytest.mark.parametrize("stored", ["4", "4.0", "4.00"])
@pytest.mark.parametrize("four", [4, 4.0])
def test_runs_of_a_number_in_another_spelling_count(of_grade_four, stored, four):
    runs = of_grade_four.with_columns(
        pl.col("definition").str.replace("min_relevance=4,", f"min_relevance={stored},")
    )
    half = runs.head(5).with_columns(
        pl.col("definition").str.replace(r"min_relevance=[0-9.]+,", "min_relevance=4,")
    )
    both = pl.concat([half, runs.tail(5)])

    found = shop().rec(min_relevance=four).require("mrr >= 0.5 * trailing", history=both, wide=True)

    assert found["state"].to_list() == ["holds"]
    assert rf.changes(both)["n_runs"].to_list() == list(range(10))


def test_a_definition_without_what_the_metric_and_the_policies_have_now_has_their_defaults(
    tmp_path,
):
    shop().rec.track("f_score@3", history=tmp_path, as_of=DAYS[0])
    now = rf.history(tmp_path)
    old = now.with_columns(definition=pl.lit("f_score(beta=1)@3; no_relevant=zero"))

    later = now.with_columns(pl.col("as_of") + pl.duration(days=1), fingerprint=pl.lit("other"))
    both = pl.concat([old, later])

    assert rf.changes(both)["n_runs"].to_list() == [0, 1]


def test_no_run_of_a_definition_is_an_error_that_shows_both(tmp_path):
    runs = history(tmp_path)
    rec = shop().rec(min_relevance=4)

    with pytest.raises(rf.RecframeError) as caught:
        rec.require("mrr >= 0.5 * trailing", history=runs, wide=True)

    said = str(caught.value)
    assert "'mrr; no_relevant=zero, relevant_from=truth, min_relevance=4, min_" in said
    assert f"last run has {runs['definition'][0]!r}" in said
    assert "Track one run under the new definition, or give the old one" in said
    # the old one, none at all, and one run of the new one
    assert (
        shop().rec.require("mrr >= 0.5 * trailing", history=runs, wide=True)["state"].item()
        == "holds"
    )
    with pytest.warns(rf.RecframeWarning, match="stays open"):
        assert (
            rec.require("mrr >= trailing", history=runs.clear(), wide=True)["state"].item()
            == "open"
        )
    rec.track("mrr", history=tmp_path, as_of=DAYS[10])
    assert rec.require("mrr >= trailing", history=tmp_path, wide=True)["state"].item() == "open"


@pytest.mark.slow
def test_a_model_of_another_definition_is_open_beside_one_of_this(tmp_path):
    both = pl.concat([shop().with_columns(model=pl.lit(name)) for name in ("old", "new")])
    for day, as_of in enumerate(DAYS[:10]):
        for name, options in (("old", {}), ("new", {"min_relevance": 4})):
            lists = shop(day).with_columns(model=pl.lit(name))
            lists.rec(model="model", **options).track("mrr", history=tmp_path, as_of=as_of)

    found = both.rec(model="model", min_relevance=4).require(
        "mrr >= 0.5 * trailing", history=tmp_path, wide=True
    )

    otherwise = "the metric has another definition than in the history"
    assert found.select("model", "state", "note").rows() == [
        ("new", "holds", None),
        ("old", "open", otherwise),
    ]


def test_a_bound_beside_one_of_a_history_may_be_of_any_definition(tmp_path):
    runs = history(tmp_path)
    rec = shop().rec(min_relevance=4)
    rec.track("recall@1", history=tmp_path / "other", as_of=DAYS[0])
    both = pl.concat([runs, rf.history(tmp_path / "other")], how="diagonal")

    found = rec.require("mrr >= 0.1", "recall@1 >= trailing", history=both, wide=True)

    assert found["state"].to_list() == ["holds", "open"]


@pytest.mark.slow
@pytest.mark.parametrize("of", ["rows", "items", "truth"])
def test_runs_of_filtered_parts_are_not_mixed_with_runs_of_others(tmp_path, of):
    rec, by = of_parts(of)
    for day, as_of in enumerate(DAYS[:10]):
        rec(day).track("mrr", by=by, history=tmp_path, as_of=as_of)
    old = without_parts(rf.history(tmp_path))

    with pytest.raises(rf.RecframeError, match="no run of the history has 'mrr' by the definition"):
        rec().require("mrr >= 0.5 * trailing", by=by, history=old)
    rec().track("mrr", by=by, history=tmp_path / "new", as_of=DAYS[10])
    both = pl.concat([old, rf.history(tmp_path / "new")])

    last = rf.changes(both).row(-1, named=True)
    told = "the metric had another definition before; 0 runs before it, fewer than 7"
    assert (last["n_runs"], last["note"]) == (0, told)
    # runs that say whose column it is count
    new = rf.history(tmp_path)
    assert (
        rec().require("mrr >= 0.5 * trailing", by=by, history=new, wide=True)["state"].item()
        == "holds"
    )


def of_parts(of: str):
    """Return a call on a day's frames, and a column by which it has one part: of rows, of items or of the truth."""
    truth = shop().select("user", "item", "relevance", event=pl.lit("order"))
    items = pl.DataFrame({"item": [1], "genre": ["art"]})

    def rec(day: int = 0) -> rf.Rec[pl.DataFrame]:
        if of == "truth":
            return shop(day).drop("relevance", "week").rec(truth=truth)
        return shop(day).rec(items=items)

    return rec, {"rows": "week", "items": "genre", "truth": "event"}[of]


@pytest.mark.slow
@pytest.mark.parametrize("place_of_it", ["users", "lists"])
def test_runs_by_a_column_of_users_go_on_being_compared(tmp_path, place_of_it):
    truth = shop().select("user", "item", "relevance")

    def rec(day: int = 0) -> rf.Rec[pl.DataFrame]:
        lists = shop(day).drop("relevance")
        if place_of_it == "users":
            return lists.rec(truth=truth, users=USERS)
        return lists.join(USERS, on="user").rec(truth=truth)

    for day, as_of in enumerate(DAYS[:10]):
        rec(day).track("mrr", by="country", history=tmp_path, as_of=as_of)
    runs = rf.history(tmp_path)

    assert runs["definition"].str.contains("; by ").any() is False
    found = rec().require("mrr >= 0.5 * trailing", by="country", history=runs, wide=True)
    assert found["state"].to_list() == ["holds", "holds"]
