"""The columns of results, the long form of numbers, and stored results that are read again."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import recframe as rf

USERS = pl.DataFrame({"user": range(120), "country": ["DE", "FR"] * 60})
TRUTH = USERS.select("user", item=pl.col("user") % 4)
RECS = pl.concat(
    TRUTH.with_columns(model=pl.lit(model), rank=pl.col("user") % n + 1)
    for model, n in {"a": 3, "b": 4, "c": 6}.items()
)
REC = RECS.rec(truth=TRUTH, users=USERS, model="model")
M = "metric"
VALUES = ["value", "baseline_value", "difference", "difference_low", "difference_high"]
CASES: dict[str, tuple[str, tuple[str, ...], dict[str, Any], list[str]]] = {
    "summary": (*("summarize", ("mrr@3",), {"by": "country"}),
        ["model", "country", M, "value", "value_low", "value_high", "std", "n_users", "note"]),
    "comparison": (
        *("compare", ("mrr@3",), {"baseline": "a", "by": "country", "margin": 0.1}),
        [
            *("model", "baseline", "country", M, "verdict", *VALUES[:2], "relative", "p_value"),
            *("p_adjusted", "p_not_worse", "p_equivalent", "n_users", *VALUES[2:], "note"),
        ],
    ),
    "each two": (
        *("compare", ("mrr@3",), {}),
        [
            *("model", "baseline", M, "verdict", *VALUES[:2], "relative", "p_value", "p_adjusted"),
            *("n_users", *VALUES[2:], "note"),
        ],
    ),
    "gate": (*("require", ("mrr@3 >= 0.1", "mrr@3 >= 0.5 * a"), {"raises": False}),
        [*("model", "requirement", "state", "value", "bound", *VALUES[2:]), *("p_adjusted", "n_users", "note")]),
    "power": (
        *("power", ("mrr@3",), {"baseline": "a"}),
        [
            *("model", "baseline", M, "users_needed", "wanted", "detectable"),
            *("detectable_relative", "baseline_value", "std", "n_users", "note"),
        ],
    ),
    "gaps": (
        *("gaps", ("mrr@3",), {"by": "country"}),
        [
            *("by", "model", M, "best", "worst", "gap", "gap_low", "gap_high", "best_value"),
            *("worst_value", "p_value", "best_n_users", "worst_n_users", "n_segments", "note"),
        ],
    ),
    "slices": (
        *("slices", ("mrr@3",), {"by": "country"}),
        [
            *("model", "segment", M, *VALUES[2:], "value", "rest"),
            *("p_value", "p_adjusted", "n_users", "note"),
        ],
    ),
}  # fmt: skip
"""Calls, and the columns of their results."""


def asked(rec: Any, case: str) -> Any:
    """Return what a case asks of a rec."""
    method, metrics, options, _ = CASES[case]
    return getattr(rec, method)(*metrics, **options)


@pytest.mark.parametrize("case", CASES)
def test_results_have_their_columns_and_plans_stay_plans(case):
    lazy = rf.rec(RECS.lazy(), truth=TRUTH.lazy(), users=USERS.lazy(), model="model")
    plan = asked(lazy, case)

    assert isinstance(plan, pl.LazyFrame)
    assert plan.collect_schema().names() == asked(REC, case).columns == CASES[case][-1]


def test_the_columns_do_not_depend_on_the_data():
    nobody = RECS.clear().rec(truth=TRUTH.clear(), users=USERS, model="model")

    assert asked(nobody, "summary").columns == CASES["summary"][-1]
    gate = nobody.require("mrr@3 >= 0.1", raises=False)
    assert gate.columns == CASES["gate"][-1]


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("case", ["summary", "each two"])
def test_flat_reads_files(case, form, tmp_path):
    result = asked(REC, case)
    getattr(result, f"write_{form}")(tmp_path / "result")
    stored = getattr(pl, f"read_{form}")(tmp_path / "result")

    assert rf.flat(stored) == pytest.approx(rf.flat(result))
    assert any(name.startswith("b/mrr_at_3") for name in rf.flat(stored))


# ---- numbers in long form

FRAME = pl.DataFrame(
    {
        "user": [1, 1, 2, 3],
        "item": [1, 2, 1, 1],
        "rank": [1, 2, 1, None],
        "relevance": [0, 1, 1, 1],
        "country": ["FR", "FR", "DE", None],
    }
)
METRICS = ("ndcg(gain=exp)", "recall@2", "auc", "personalization@1")


@pytest.mark.parametrize("by", [None, "country", ["country", "user"], "user"])
def test_the_long_form_has_the_numbers_of_the_wide_one(kind, by):
    rec = kind(FRAME).rec
    wide = kind.read(rec.evaluate(*METRICS, k=[1, 3], by=by, support=True))
    long = kind.read(rec.evaluate(*METRICS, k=[1, 3], by=by, tidy=True))

    names = [name for name in wide.columns if f"n {name}" in wide.columns]
    keys = [name for name in ("country", "user") if name in wide.columns]
    rows = [
        (*(row[key] for key in keys), *form(name), row[name], row[f"n {name}"])
        for row in wide.to_dicts()
        for name in names
    ]
    assert long.columns == [*keys, "metric", "k", "value", "n"]
    assert long.rows() == rows
    assert long.height == wide.height * 6


def form(name):
    metric, _, k = name.partition("@")
    return metric, int(k) if k else None


def test_a_polars_result_keeps_its_dtypes_where_nothing_has_a_cut_off():
    schema = {"metric": pl.String, "k": pl.Int64, "value": pl.Float64, "n": pl.Int64}

    assert FRAME.rec.evaluate("mrr", tidy=True).schema == schema
    assert FRAME.lazy().rec.evaluate("mrr", tidy=True).collect_schema() == schema


def test_one_column_of_a_plan_over_lists_has_one_row():
    # Polars 1.41 to 1.43 leave out the number of lists, which nothing reads then, and had a row for each list
    for frame in (FRAME.lazy(), FRAME.lazy().clear()):
        plan = frame.rec.evaluate("personalization@1")
        assert plan.select("personalization@1").collect().height == 1
