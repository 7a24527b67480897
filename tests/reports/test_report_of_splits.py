"""A report of lists that are bound to a split: the split, how far models come, and bounds that are no candidates."""

from __future__ import annotations

import functools
import json
from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest

import recframe as rf
from recframe.reports.report_splits import ways

START = datetime(2024, 3, 1)  # noqa: DTZ001  as logs mostly are
N = 900
LOG = pl.DataFrame(
    {
        "user": [place % 41 for place in range(N)],
        "item": [(place * place // 7) % 23 for place in range(N)],
        "t": [START + timedelta(hours=place) for place in range(N)],
    }
)
METRICS = ["ndcg@5", "recall@5", "first_rank"]
pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")


def split_of(folds: int) -> Any:
    """Return a split of the log."""
    splits = LOG.rec(time="t").split
    return splits.by_time(last="5d") if folds == 1 else splits.rolling(folds, "5d")


@functools.cache
def report_of(folds: int) -> tuple[Any, Any]:
    """Return the rec of a split, and its report."""
    split = split_of(folds)
    rec = split.rec(split.baselines("popular", "random", "repeat", "oracle", k=5))
    return rec, rec.report(METRICS, baseline="popular")


def in_json(rows: list[dict[str, Any]]) -> Any:
    """Return rows as a page has them."""
    return json.loads(json.dumps(rows, default=str))


@pytest.mark.parametrize("folds", [1, 3])
def test_the_oracle_is_in_the_way_and_nowhere_else(folds):
    _, page = report_of(folds)

    models = {"popular", "random", "repeat"}
    assert set(page.data["models"]) == models
    for name in ("summary", "ahead", "compared", "costs", "zeros"):
        assert {row["model"] for row in page.data[name]} <= models
    assert "oracle" not in page.content.subtitle
    assert {row["model"] for row in page.data["way"]} == {*models, "oracle"}


@pytest.mark.parametrize("folds", [1, 3])
def test_the_way_is_the_share_from_popular_to_the_oracle(folds):
    rec, page = report_of(folds)
    values = {row["model"]: row for row in rec.evaluate(METRICS).to_dicts()}

    assert len(page.data["way"]) == 4 * len(METRICS)
    for row in page.data["way"]:
        model, metric = row["model"], row["metric"]
        popular, oracle = (values[name][metric] for name in ("popular", "oracle"))
        assert row["value"] == values[model][metric]
        assert row["way"] == pytest.approx((row["value"] - popular) / (oracle - popular))


def test_there_is_no_way_where_the_oracle_does_not_beat_popular():
    values = {
        "recall@5": {"popular": 0.5, "oracle": 0.5, "a": 0.4},
        "first_rank": {"popular": 1.0, "oracle": 2.0, "a": None},
        "mrr": {"popular": 0.5, "a": 0.4},
        "ndcg": {"popular": 0.2, "oracle": 0.6, "a": 0.4, "b": None},
    }

    rows = ways(values, [rf.parse(name) for name in values])

    assert {row["way"] for row in rows if row["metric"] != "ndcg"} == {None}
    assert "mrr" not in {row["metric"] for row in rows}
    found = {row["model"]: row["way"] for row in rows if row["metric"] == "ndcg"}
    assert found == {"popular": 0.0, "oracle": 1.0, "a": pytest.approx(0.5), "b": None}


@pytest.mark.parametrize("folds", [1, 3])
def test_the_split_is_described_and_audited(folds):
    split, (_, page) = split_of(folds), report_of(folds)
    section = next(one for one in page.content.sections if one.name == "split")

    described = in_json(split.describe().to_dicts())
    shown = in_json(page.data["split"])
    assert [{name: row[name] for name in described[0]} for row in shown] == described
    audited = split.audit().to_dicts()
    assert [
        {name: row[name] for name in audited[0]} for row in page.data["split_findings"]
    ] == audited
    figures = [part.name for part in section.parts if part.kind == "figure"]
    assert figures == ["chart-split", "chart-folds"][: 1 + (folds > 1)]
    facts = dict(page.content.facts)
    assert facts["Split"] == split._labels.rule.words
    assert split._labels.rule.words in page.content.call
    assert split._labels.rule.words in section.lead
    assert page.html.startswith("<!doctype html>") or "<html" in page.html


@pytest.mark.parametrize("folds", [1, 3])
def test_the_ceiling_is_the_recall_of_an_oracle_of_known_items(folds):
    """Of a user's pairs of truth, those of items in train, as a mean over users."""
    log = pl.concat([LOG, LOG.tail(9).with_columns(item=pl.lit(99, pl.Int64))])
    splits = log.rec(time="t").split
    split = splits.by_time(last="5d") if folds == 1 else splits.rolling(folds, "5d")
    page = split.rec(split.baselines("popular", k=5)).report("recall@5")

    for one, row in zip(split.folds, page.data["split"], strict=True):
        oracle = one.rec(one.baselines("oracle", k=100).join(one.train, on="item", how="semi"))
        assert row["ceiling"] == pytest.approx(oracle.recall(k=100)["recall@100"].item(), abs=5e-4)
    assert "baselines" in str(page.content.sections)


def test_lists_of_no_split_have_no_such_section():
    truth = LOG.tail(100).select("user", "item")
    lists = truth.with_columns(rank=1)

    page = lists.rec(truth=truth).report("recall@5")

    assert "split" not in {one.name for one in page.content.sections}
    assert "split" not in page.data
