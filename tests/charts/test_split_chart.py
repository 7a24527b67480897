"""The chart of a split: all rows of each fold, by part, in the stretch of their time."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest

import recframe as rf

START = datetime(2024, 3, 1)  # noqa: DTZ001  as logs mostly are
LOG = pl.DataFrame(
    {
        "user": [place % 7 for place in range(400)],
        "item": [place % 11 for place in range(400)],
        "t": [START + timedelta(hours=place) for place in range(400)],
    }
)
GROUPS = {
    "gap": "neither",
    "earlier": "neither",
    "later": "neither",
    "seen": "left out by a filter",
}


def counts_of(chart: Any) -> dict[tuple[int, str], int]:
    """Return the rows of a chart by fold and group."""
    found = chart.data.group_by("fold", "group").agg(pl.col("rows").sum())
    return {(fold, group): rows for fold, group, rows in found.rows()}


def counts_in(labels: pl.DataFrame) -> dict[tuple[int, str], int]:
    """Return the rows of labels by fold and group."""
    found: dict[tuple[int, str], int] = {}
    for fold, part in labels.select("fold", pl.col("part").cast(pl.String)).rows():
        key = fold, GROUPS.get(part, part)
        found[key] = found.get(key, 0) + 1
    return found


TIMES = {
    "datetimes": pl.col("t"),
    "dates": pl.col("t").cast(pl.Date),
    "seconds": pl.col("t").dt.epoch("s"),
    "zone": pl.col("t").dt.replace_time_zone("Europe/Paris"),
    "floats": pl.col("t").dt.epoch("s") / 7,
}


@pytest.mark.parametrize("times", TIMES)
def test_each_row_is_in_the_chart_once_a_fold(times):
    log = LOG.with_columns(TIMES[times].alias("t"))
    whole = {"seconds": 86_400, "floats": 86_400 / 7}.get(times)
    horizon, gap = (whole * 2, whole) if whole else ("2d", "1d")
    split = log.rec(time="t").split.rolling(3, horizon, gap=gap, seen="drop")

    chart = split.plot()

    assert counts_of(chart) == counts_in(split.labels)
    assert len(chart.data) <= 3 * 5 * 81
    assert chart.data.filter(pl.col("high") <= pl.col("low")).is_empty()
    spec = chart.to_dict()
    assert "in train and" in spec["description"]
    assert counts_of(log.lazy().rec(time="t").split.rolling(3, horizon, gap=gap).plot(width=300))
    assert len(chart.to_dict()["title"]["subtitle"])


def test_bars_of_a_stretch_stand_on_one_another():
    split = LOG.rec(time="t").split.by_time(last="2d", seen="drop")

    for (_, _), bars in split.plot(theme="dark").data.group_by("fold", "low"):
        ends = bars.sort("_from_row", descending=True)
        assert ends["_from_row"][0] == 1
        assert ends["_to_row"][:-1].to_list() == ends["_from_row"][1:].to_list()


def test_the_chart_of_one_fold_is_named_by_it():
    split = LOG.rec(time="t").split.rolling(3, "2d")

    assert set(split.folds[2].plot().data["fold"]) == {2}
    assert "fold 2" in split.plot().to_dict()["layer"][0]["encoding"]["y"]["axis"]["labelExpr"]


def test_rows_of_one_time_are_drawn():
    log = pl.DataFrame({"user": [1, 2, 3], "item": [1, 2, 3], "t": [1, 1, 2]})

    assert log.rec(time="t").split.by_time(2).plot().data["rows"].to_list() == [2, 1]


def test_a_picture_is_made_of_it():
    chart = LOG.rec(time="t").split.rolling(2, "2d").plot()

    assert chart._repr_mimebundle_()


def test_a_log_without_times_cannot_be_drawn():
    split = LOG.rec(time="t").split.by_time(last="2d")
    labels = split._labels
    names = {name: own for name, own in labels.log.names.items() if name != "time"}
    without = type(split)(replace(labels, log=replace(labels.log, names=names)))

    with pytest.raises(rf.ColumnError, match="time"):
        without.plot()


def layers_of(chart: Any) -> dict[str, pl.DataFrame]:
    """Return the data of the dashed layers of a chart, by the type of their marks."""
    return {
        layer.mark.type: layer.data for layer in chart.layer if "strokeDash" in layer.mark.to_dict()
    }


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
def test_values_of_folds_are_those_of_the_summary_and_a_bound_is_a_line():
    split = LOG.rec(time="t").split.rolling(3, "2d")
    lists = split.baselines("popular", "random", "oracle", k=5)
    rec = split.rec(lists)
    rows = rec.summarize("ndcg@5", by="fold", wide=True)
    candidates = rows.filter(pl.col("model") != "oracle").sort("fold", "model")

    chart = rec.plot.folds("ndcg@5")

    data = chart.data.sort("place", "model")
    assert (
        data.select("model", pl.col("segment").cast(pl.Int64)).rows()
        == candidates.select("model", "fold").rows()
    )
    for name, own in {"value": "value", "low": "value_low", "high": "value_high"}.items():
        assert data[name].to_list() == candidates[own].to_list()
    bound = layers_of(chart)["line"]
    assert set(bound["model"]) == {"oracle"}
    assert (
        bound["value"].to_list()
        == rows.filter(pl.col("model") == "oracle").sort("fold")["value"].to_list()
    )
    assert "oracle" in " ".join(chart.to_dict()["title"]["subtitle"])

    models = rec.plot.models("ndcg@5")

    assert set(models.data["model"]) == {"popular", "random"}
    assert layers_of(models)["rule"]["model"].to_list() == ["oracle"]
    assert set(rec.plot.curve("ndcg", k=[1, 5]).data["model"]) == {"popular", "random"}


def test_lists_without_folds_have_no_chart_of_them():
    split = LOG.rec(time="t").split.by_time(last="2d")

    with pytest.raises(rf.RecframeError, match="folds"):
        split.rec(split.baselines("popular", k=5)).plot.folds("ndcg@5")
