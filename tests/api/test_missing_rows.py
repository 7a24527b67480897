"""Rows that earlier numbers have and today's frames do not: of every requirement, whatever its value is held against."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

import recframe as rf

TRUTH = pl.DataFrame({"user": range(40), "item": [1] * 40})


def lists(*models: object) -> pl.DataFrame:
    """Return lists of one item for each model, which is a hit of every user."""
    return pl.concat(TRUTH.with_columns(rank=1, model=pl.lit(model)) for model in models)


def rec(*models: object) -> rf.Rec[pl.DataFrame]:
    return lists(*models).rec(truth=TRUTH, model="model")


def told(found: pl.DataFrame) -> list[tuple[object, ...]]:
    return found.select("model", "requirement", "state").rows()


@pytest.mark.parametrize("form", ["summary", "users", "both"])
def test_a_bound_and_a_share_of_a_model_tell_which_model_is_gone(form):
    then = rec("pop", "svd", "knn")
    summary, users = then.summarize("mrr"), then.evaluate("mrr", by="user")
    last = {"summary": summary, "users": users, "both": [summary, users]}[form]
    asked = ("mrr >= 0.5", "mrr >= 0.9 * pop")

    found = rec("pop", "svd").require(*asked, last=last, missing="open")

    # of pop nothing is required by the second
    assert told(found) == [
        ("knn", asked[0], "missing"),
        ("knn", asked[1], "missing"),
        ("pop", asked[0], "holds"),
        ("svd", asked[0], "holds"),
        # of users with the same value by both nothing says how far others would be apart
        ("svd", asked[1], "open"),
    ]
    for one in asked:
        with pytest.raises(rf.RequirementError, match="1 is missing"):
            rec("pop", "svd").require(one, last=last)
        rec("pop", "svd").require(one, last=last, models="svd")


def test_a_baseline_that_is_gone_is_an_error_and_no_missing_row():
    last = rec("pop", "svd", "knn").summarize("mrr")

    with pytest.raises(rf.DataError, match="'pop' is not a model: the column 'model' has knn, svd"):
        rec("svd", "knn").require("mrr >= 0.9 * pop", last=last)


def test_a_metric_that_the_earlier_result_lacks_misses_nothing():
    last = rec("pop", "svd").summarize("recall@1")

    found = rec("svd").require("mrr >= 0.5", last=last)

    assert told(found) == [("svd", "mrr >= 0.5", "holds")]


def test_a_bound_beside_a_requirement_of_a_history_tells_too(tmp_path):
    for day in range(1, 9):
        rec("pop", "svd").track("mrr", history=tmp_path, as_of=dt.date(2026, 11, day))
    asked = ("mrr >= 0.5", "mrr >= 0.5 * trailing")

    found = rec("svd").require(*asked, history=tmp_path, missing="open")

    assert told(found)[:2] == [("pop", one, "missing") for one in asked]
    assert (
        found["note"][0] == "in each of the last 8 runs of the history, but not in today's result"
    )


def test_where_all_is_missing_and_may_be_nothing_was_judged():
    last = rec("svd").summarize("mrr")
    empty = lists("svd").clear().rec(truth=TRUTH, model="model")

    said = "^nothing was judged of 'mrr >= last': no row has 5 users with a value; of 1 row, 1 is "
    with pytest.raises(rf.RequirementError, match=said):
        empty.require("mrr >= last", last=last, missing="open")
    with pytest.raises(rf.RequirementError, match=r"^of 1 row, 1 is missing; missing='open'"):
        empty.require("mrr >= last", last=last)


@pytest.mark.parametrize(
    "name",
    [7, np.int64(7), 7.0, dt.date(2026, 11, 7), dt.datetime(2026, 11, 7, 6)],  # noqa: DTZ001  models have no zone
)
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_names_that_are_no_text_are_those_of_models(name, unit):
    other = name - 1 if isinstance(name, int | float | np.int64) else name - dt.timedelta(1)
    frame = pl.concat([lists(name), lists(other)], how="vertical_relaxed")
    if isinstance(name, dt.datetime):
        frame = frame.with_columns(pl.col("model").dt.cast_time_unit(unit))
    asked = frame.rec(truth=TRUTH, model="model")

    found = asked.require(rf.Requirement("mrr", ">=", 0.9, name))
    # all users have the same value by both, so that nothing says how far others would be apart
    assert (len(found), found["state"].item()) == (1, "open")
    for models in (name, [name]):
        assert len(asked.require("mrr >= 0.5", models=models)) == 1
