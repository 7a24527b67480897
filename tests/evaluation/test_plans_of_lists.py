"""The plans of metrics over lists: no Python function in them, and that they stream."""

from __future__ import annotations

import polars as pl
import pytest

import recframe as rf
from lanes import in_turn
from plans import (
    POLARS_2,
    Files,
    fallbacks,
    python_functions,
    scans,
)
from recframe.metrics.language.registry import registered

FAMILIES = {
    "catalogue", "popularity", "personalization", "diversity", "calibration", "serendipity",
    "exposure", "reference",
}  # fmt: skip
NAMED = {"of": "genre"}  # the items have other columns too
BEYOND = [
    metric(**{name: value for name, value in NAMED.items() if name in metric.definition.parameters})
    for metric in registered().values()
    if metric.definition.family in FAMILIES
]
VARIANTS = [
    *(metric @ k for metric in BEYOND for k in (5, 10)),
    rf.epc(discount="log", relevance=True) @ 10,
    rf.long_tail_share(tail="items") @ 5,
    rf.personalization(against="all") @ 10,
    rf.popularity_lift(average="users") @ 10,
    rf.popularity(normalizer="quantile") @ 10,
    rf.novelty(denominator="k") @ 10,
    rf.efd(cold="zero", average="rows") @ 10,
    rf.unexpectedness(denominator="k", without_reference="zero") @ 10,
    rf.diversity(of="genre", distance="jaccard") @ 10,
    rf.miscalibration(of="genre", divergence="js", weight="log") @ 10,
    rf.serendipity(against="popularity") @ 10,
    *(
        rf.personalization(similarity="overlap", against=against) @ 10
        for against in ("segment", "all")
    ),
    *(metric for metric in BEYOND if metric.definition.over_lists),
    rf.overlap(reference_k=3) @ 10,
    *(rf.rbo(form=form) @ 5 for form in ("min", "truncated")),
    rf.exposure_share(weight="log") @ 10,
    rf.exposure_disparity(of="genre", target="relevant") @ 10,
]
BY = {
    "items": {"by": "genre"},
    "all": {},
    "users": {"by": "country"},
    "user": {"by": "user"},
    "models": {"model": "model"},
}
# segments of items have the most joins; the rest is thorough
each_by = pytest.mark.parametrize("by", in_turn(BY, fast=1))


def asked(
    files: Files, metrics: list[rf.Metric[...]], *, by: str | None = None, **options: str
) -> pl.LazyFrame:
    sides = {
        "train": files.truth,
        "items": files.items,
        "users": files.users,
        "reference": files.recs,
    }
    return files.recs.rec(truth=files.truth, **sides, **options).evaluate(*metrics, by=by)


@each_by
def test_no_python_function_is_in_the_plan(files, by):
    assert not python_functions(asked(files, VARIANTS, **by))


@pytest.mark.skipif(not POLARS_2, reason="Polars 1 runs windows in memory")
@each_by
def test_every_metric_over_lists_streams(files, by):
    found = {str(metric): fallbacks(asked(files, [metric], **by)) for metric in VARIANTS}

    assert not {metric: nodes for metric, nodes in found.items() if nodes}


@pytest.mark.skipif(not POLARS_2, reason="Polars 1 reads columns that a plan does not need")
def test_metrics_of_the_lists_alone_read_three_columns_of_them(files):
    plan = files.recs.rec(train=files.truth, universe="recs").evaluate(
        "novelty@10", "repeat_rate@10", "gini@5"
    )

    assert {(file, int(columns) <= 3) for file, columns, _ in scans(plan)} == {
        ("recs", True),
        ("truth", True),
    }
