"""What users contribute to metrics: in parts and in one piece, by both roads of pairing; and the plans that summaries are."""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from compared_lists import LISTS_ARE_MISSING, asked_of, some_policies
from lanes import thorough
from plain_uncertainty import values_of
from plans import python_functions
from recframe.api.request import question
from recframe.evaluation.contributions import contributions
from recframe.evaluation.plan import Run

pytestmark = LISTS_ARE_MISSING

METRICS = ["ndcg@3", "recall", "first_rank", "hit_rate@2", "judged@4", "list_length", "novelty@3"]
SETS = ["coverage@3", "entropy@3", "personalization@3", "f_score(average=means)@3"]
BYS = [None, "country", "genre", "week", ["country", "genre"]]


def lazy(frame):
    return frame.lazy()


def asked(rec, metrics, by=None):
    return question(rec, metrics, None, by, None)


@some_policies
@pytest.mark.parametrize("metric", ["recall", "hit_rate@2", "first_rank", "novelty@3"])
def test_contributions_are_the_users_values_and_absent_users_have_those_of_an_empty_list(
    metric, policy
):
    rec = asked_of(make=lazy, **policy)
    one = asked(rec, [metric])
    ((made,),) = contributions(one.inputs, one.conventions, Run())
    rows = made.described(made.rows).select("model", "user", "value 0").collect()
    (empty,) = (None,) if made.values is None else made.values.empty.collect().row(0)

    found = {(model, user): value for model, user, value in rows.rows()}

    assert len(found) == len(rows)
    for (model,), values in values_of(rec, metric).items():
        for user, value in values.items():
            assert found.pop((model, user), empty) == pytest.approx(value, abs=1e-15)
    assert not found


def test_contributions_are_taken_before_they_are_rounded():
    plain, rounded = (
        asked_of(decimals=decimals).summarize("ndcg@3").row(0, named=True) for decimals in (None, 2)
    )

    assert rounded["value"] == round(plain["value"], 2) != plain["value"]
    for name in ("value_low", "value_high", "std"):
        assert rounded[name] == pytest.approx(plain[name], rel=1e-12)


@pytest.fixture(scope="module")
def scanned(tmp_path_factory):
    """Frames in files."""
    folder = tmp_path_factory.mktemp("plans")
    written = iter(range(100))

    def scan(frame):
        path = folder / f"{next(written)}.parquet"
        frame.write_parquet(path)
        return pl.scan_parquet(path)

    return asked_of(make=scan)


CALLS = {
    "summarize": lambda rec, *metrics, **options: rec.summarize(*metrics, **options),
    "compare": lambda rec, *metrics, **options: rec.compare(*metrics, baseline="a", **options),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("by", thorough(BYS, 2))
def test_of_lazy_frames_it_is_a_plan_whose_last_step_alone_is_python(scanned, call, by):
    plan = call(scanned, *METRICS, *SETS, by=by)
    assert isinstance(plan, pl.LazyFrame)

    (step,) = python_functions(plan)
    above = plan.explain().partition(step.strip())[0]
    # the notes on models of a comparison, a row for each pair
    assert above.count("JOIN") == (call is CALLS["compare"])
    assert "AGGREGATE" not in above
    eager = call(asked_of(), *METRICS, *SETS, by=by)
    assert plan.collect_schema() == eager.schema
    for engine in ("in-memory", "streaming"):
        assert_frame_equal(plan.collect(engine=engine), eager, rel_tol=1e-9, abs_tol=1e-9)
