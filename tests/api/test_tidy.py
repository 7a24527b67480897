"""`tidy=True`: the numbers of a result in long form, whatever the kind of frame."""

from __future__ import annotations

import polars as pl
import pytest

from buckets_of_users import in_buckets

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


def test_buckets_and_profiles_have_a_long_form_too():
    rec = FRAME.lazy().rec(profile="ranx")
    whole = rec.evaluate("ndcg", "recall", k=[1, 2], by="country", tidy=True).collect()

    found = in_buckets(rec, "ndcg", "recall", k=[1, 2], by="country", tidy=True)

    assert found.equals(whole)
    assert whole["metric"].unique(maintain_order=True).to_list() == ["ndcg", "recall"]


def test_one_column_of_a_plan_over_lists_has_one_row():
    # Polars 1.41 to 1.43 leave out the number of lists, which nothing reads then, and had a row for each list
    for frame in (FRAME.lazy(), FRAME.lazy().clear()):
        plan = frame.rec.evaluate("personalization@1")
        assert plan.select("personalization@1").collect().height == 1
