"""What lets a large frame leave out lists without a hit: they have the values of lists without a row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import polars as pl
import pytest

from recframe.evaluation.required_columns import Recorder, needs_of
from recframe.evaluation.user_values import _is_made_by_hits
from recframe.metrics.language.at import At
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import registered

# of one user nothing is relevant, of others all that is stands outside the list, or far down
LISTS = [
    ("without", 1, 1, 0),
    ("outside", 1, 1, 0),
    *(("outside", item, None, item) for item in range(2, 7)),
    *(("behind", item, item + 3, 8 - item) for item in range(1, 7)),
    ("one", 1, None, 3),
]


def forms(metric: Metric[...]) -> Iterator[Metric[...]]:
    """A metric with each choice of each parameter that has some."""
    yield metric
    for name in metric.parameters:
        kind, choices = metric.definition.kinds[name]
        if kind is Literal:
            yield from (metric(**{name: choice}) for choice in choices)


def of_hits() -> list[Any]:
    """The metrics, or those whose means they are made of, that hits and relevant rows are enough for.

    One that says nothing of a single list for each user, in a choice of its own, is an error there.
    """
    found = {}
    for metric in registered().values():
        for form in () if metric.definition.over_lists else forms(metric):
            if form.parameters.get("part") == "disparity":
                continue
            for one in needs_of(form @ 3).means or (form @ 3,):
                words = Recorder()
                one.value(At(3, words))
                if _is_made_by_hits(one) and not words.reads_lists():
                    found[str(one)] = one
    return [*found.values()]


@pytest.mark.parametrize("metric", of_hits(), ids=str)
def test_a_list_without_a_hit_has_the_value_of_an_empty_one(metric):
    judged = pl.DataFrame(LISTS, schema=["user", "item", "rank", "relevance"], orient="row")

    values = judged.rec.evaluate(metric, by="user")[:, -1].to_list()

    assert values == [values[0]] * 4
