"""The columns of results, on all kinds of frames, and what reads stored results again."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

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
def test_frames_of_other_kinds_give_the_same_columns_and_plans_stay_plans(case):
    lazy = rf.rec(RECS.lazy(), truth=TRUTH.lazy(), users=USERS.lazy(), model="model")
    pandas = rf.rec(RECS.to_pandas(), truth=TRUTH, users=USERS, model="model")

    plan = asked(lazy, case)
    assert isinstance(plan, pl.LazyFrame)
    assert_frame_equal(plan.collect(), asked(REC, case), rel_tol=1e-12)
    assert list(asked(pandas, case).columns) == CASES[case][-1]


def test_the_columns_do_not_depend_on_the_data():
    nobody = RECS.clear().rec(truth=TRUTH.clear(), users=USERS, model="model")

    assert asked(nobody, "summary").columns == CASES["summary"][-1]
    gate = nobody.require("mrr@3 >= 0.1", raises=False)
    assert gate.columns == CASES["gate"][-1]


def test_a_gate_of_a_plan_that_raises_has_the_same_columns():
    lazy = rf.rec(RECS.lazy(), truth=TRUTH.lazy(), model="model")

    assert lazy.require("mrr@3 >= 0.1").columns == CASES["gate"][-1]


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("case", ["summary", "each two"])
def test_flat_reads_files(case, form, tmp_path):
    result = asked(REC, case)
    getattr(result, f"write_{form}")(tmp_path / "result")
    stored = getattr(pl, f"read_{form}")(tmp_path / "result")

    assert rf.flat(stored) == pytest.approx(rf.flat(result))
    assert any(name.startswith("b/mrr_at_3") for name in rf.flat(stored))
