"""`rf.flat`: numbers under names that experiment trackers take."""

from __future__ import annotations

import re

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import recframe as rf

DF = pl.DataFrame(
    {
        "user": [1, 2, 3],
        "item": [1, 1, 1],
        "rank": [1, 2, 4],
        "relevance": [1, 1, 1],
        "country": ["FR", "DE", "FR"],
    }
)
# what TensorBoard takes, which MLflow does too, in parts that are no folder's names
TAKEN = re.compile(r"(?!\.+(/|$))[\w.-]+(/(?!\.+(/|$))[\w.-]+)*")


def tidy(**columns):
    """Return a result in long form, its columns before the metric given."""
    return pl.DataFrame(columns).with_columns(metric=pl.lit("ndcg"), k=10, value=0.5)


def test_a_summary_of_models_by_segment(kind):
    other = DF.with_columns(rank=1)
    result = rf.rec({"svd": kind(DF), "knn": kind(other)}).summarize(
        "mrr", "recall@2", by="country"
    )
    rows = kind.read(result)
    found = rf.flat(result)

    expected = {}
    for row in rows.to_dicts():
        metric = {"mrr": "mrr", "recall@2": "recall_at_2"}[row["metric"]]
        for end in ("", "_low", "_high"):
            expected[f"{row['model']}/{metric}/country_{row['country']}{end}"] = row[f"value{end}"]
    assert found == {name: value for name, value in expected.items() if value is not None}
    # one user has no interval
    assert "svd/mrr/country_DE" in found
    assert "svd/mrr/country_DE_low" not in found
    assert all(type(value) is float for value in found.values())


def test_the_long_form_of_evaluate_has_the_cut_off_too():
    result = DF.rec.evaluate("ndcg(gain=exp)", "recall", k=[1, 2], tidy=True)

    assert list(rf.flat(result)) == [
        "ndcg_gain_exp_at_1", "ndcg_gain_exp_at_2", "recall_at_1", "recall_at_2",
    ]  # fmt: skip


def test_a_comparison_has_the_differences():
    rec = rf.rec({"a": DF, "b": DF.with_columns(rank=pl.Series([1, 1, 3]))})
    result = rec.compare("mrr", baseline="a")
    found = rf.flat(result)

    assert found["b/mrr/baseline_a"] == result["value"][0]
    assert found["b/mrr/baseline_a_difference"] == result["difference"][0]
    assert found["b/mrr/baseline_a_difference_low"] == result["difference_low"][0]
    assert "b/mrr/baseline_a_p_value" not in found


def test_the_column_of_models_may_have_another_name():
    result = tidy(system=["svd"])

    assert rf.flat(result, model="system") == {"svd/ndcg_at_10": 0.5}
    assert rf.flat(result) == {"ndcg_at_10/system_svd": 0.5}


@given(st.text(), st.text(min_size=1, max_size=5))
@example("..", "..")
@example("a/../b", ".")
@example("", "a b")
@example("=", "%")
@example("é/ü", "é")
def test_every_name_is_taken(value, column):
    own = {} if column in {"model", "metric", "k", "value"} else {column: [value]}

    assert all(TAKEN.fullmatch(name) for name in rf.flat(tidy(model=[value], **own)))


def test_null_is_a_segment_and_a_null_value_is_left_out():
    rows = tidy(country=["FR", None]).with_columns(value=pl.Series([0.5, 0.25]))

    assert rf.flat(rows) == {"ndcg_at_10/country_FR": 0.5, "ndcg_at_10/country_null": 0.25}
    assert rf.flat(rows.with_columns(value=None)) == {}
    assert rf.flat(rows[:0]) == {}


@pytest.mark.filterwarnings("ignore")
def test_a_store_of_mlflow_takes_it(tmp_path, monkeypatch):
    pytest.importorskip("mlflow")
    from mlflow.tracking import MlflowClient  # noqa: PLC0415

    # which newer versions ask for, where the store is made of files
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    odd = DF.with_columns(country=pl.Series(["a=b/../c", "é ü", "x"]))
    numbers = rf.flat(rf.rec({"svd v2.1": odd}).summarize("mrr", "recall@2", by="country"))
    client = MlflowClient(tracking_uri=tmp_path.as_uri())
    run = client.create_run(client.create_experiment("evaluation"))

    for name, value in numbers.items():
        client.log_metric(run.info.run_id, name, value)

    assert client.get_run(run.info.run_id).data.metrics == pytest.approx(numbers)


def test_a_run_of_a_history_is_a_result(tmp_path):
    df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
    options = {"as_of": "2026-11-22", "name": "n", "tags": {"a": "b"}}
    tracked = df.rec.track("mrr", history=tmp_path, **options)

    summary = rf.flat(df.rec.summarize("mrr"))
    assert rf.flat(tracked) == summary
    assert [*summary] == ["mrr", "mrr_low", "mrr_high"]
