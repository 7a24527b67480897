"""A call of every chart, on a small shop of two models, and what stands in a chart's specification."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import polars as pl
import pytest
from altair.utils import schemapi

import recframe as rf
from planted_shop import shop
from runs_over_time import history

SHOP = shop(n=60)
TRAIN = pl.DataFrame({"user": [1, 2, 3], "item": [0, 0, 1]})
REC = rf.rec(
    SHOP.recs,
    truth=SHOP.truth,
    users=SHOP.users,
    items=SHOP.items,
    train=TRAIN,
    model="model",
)
RUNS = history(runs=30, models=("new", "old"), drop={20: -0.05, 25: 0.05})
WIDTH = 400


def of_history(plot: Any) -> Any:
    """Ask for the chart of a history, in the look of another chart."""
    look = plot._look
    runs = RUNS if plot._of._context.model else history()
    return runs.rec.plot(theme=look.theme, width=look.width).timeline("ndcg@10")


ASKED: dict[str, Callable[[Any], Any]] = {
    "curve": lambda plot: plot.curve("ndcg", k=[1, 2, 5]),
    "hits_by_rank": lambda plot: plot.hits_by_rank(k=5),
    "precision_recall": lambda plot: plot.precision_recall(k=[1, 2, 5]),
    "models": lambda plot: plot.models("ndcg@5"),
    "segments": lambda plot: plot.segments("ndcg@5", by="country"),
    "distribution": lambda plot: plot.distribution("ndcg@5"),
    "compare": lambda plot: plot.compare("ndcg@5", baseline="old", by="age", margin=0.02),
    "tradeoff": lambda plot: plot.tradeoff("ndcg@5", "novelty@5"),
    "exposure": lambda plot: plot.exposure(k=5),
    "timeline": of_history,
}


OF_FAMILIES = ["curve", "segments", "tradeoff", "exposure", "distribution"]
"""One of each file that draws: the others are drawn in the same ways."""


def each_sharply(names: Iterable[str], sharp: Sequence[str] = OF_FAMILIES) -> Any:
    """Parametrize by charts, of which some are sharp and the others thorough."""
    every = [one if one in sharp else pytest.param(one, marks=pytest.mark.slow) for one in names]
    return pytest.mark.parametrize("name", every)


@cache
def chart_of(name: str) -> Any:
    """Return a chart as narrow as it has to be readable, which is drawn once, with all checks of Altair."""
    with schemapi.debug_mode(arg=True):
        return ASKED[name](REC.plot(width=WIDTH))


@cache
def spec_of(name: str) -> dict[str, Any]:
    """Return its specification."""
    return chart_of(name).to_dict()


def parts(spec: Any) -> Iterator[dict[str, Any]]:
    """Walk a specification, but for its data."""
    if isinstance(spec, dict):
        yield spec
        for name, one in spec.items():
            if name not in {"datasets", "data"}:
                yield from parts(one)
    elif isinstance(spec, list):
        for one in spec:
            yield from parts(one)


def channels(chart: Any, *names: str) -> list[dict[str, Any]]:
    """Return the encodings of some channels, of a chart or of its specification."""
    spec = chart if isinstance(chart, dict) else chart.to_dict()
    encodings = [one["encoding"] for one in parts(spec) if "encoding" in one]
    return [one[name] for one in encodings for name in names if name in one]


def colours_of(spec: Any) -> list[dict[str, str]]:
    """Return the colour of each model, of each mark that has one."""
    scales = [
        one["scale"] for one in channels(spec, "color", "fill") if one.get("field") == "model"
    ]
    return [dict(zip(one["domain"], one["range"], strict=True)) for one in scales]
