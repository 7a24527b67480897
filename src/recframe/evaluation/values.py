"""Metric values per list, as expressions over the row sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import polars as pl

from recframe.errors import OTHER_TIES, NoOrderError, RecframeError, without_order
from recframe.evaluation import catalogue_rows
from recframe.evaluation.recorder import DTYPES, LISTED, WHOLE, Recorder
from recframe.frames.collecting import Ask
from recframe.frames.options import NoRelevant
from recframe.metrics.language.at import At
from recframe.metrics.language.definition import Metric
from recframe.ranking.hash_join import with_hits
from recframe.ranking.judged_frame import Judged
from recframe.ranking.precompute import settled, with_first, with_listed, with_ranks
from recframe.side_info.precompute import shown


def settled_for(
    judged: Judged,
    metrics: Sequence[Metric[...]],
    words: Recorder,
    deepest: int | None,
    ask: Ask,
) -> Judged:
    """Return the judgement with precomputed properties for its plan (large eager frames)."""
    depth = None if words.read & WHOLE else deepest
    judged = with_ranks(judged, ask, depth)
    by_number = not words.reads_lists()
    by_hits = judged.context.no_relevant == "zero" and all(map(_is_made_by_hits, metrics))
    judged = settled(judged, ask, deepest, by_number=by_number, by_hits=by_hits)
    if words.reads_hits():
        judged = with_hits(judged, deepest, ask)
    if words.read & LISTED:
        judged = with_listed(judged, ask, depth)
    if words.read & catalogue_rows.OF_ITEMS:
        items = shown(catalogue_rows.sides_of(judged), ask)
        judged = replace(judged, known=replace(judged.known, items=items))
    return with_first(judged, ask, deepest) if words.read & catalogue_rows.CUT else judged


def _is_made_by_hits(metric: Metric[...]) -> bool:
    """Return whether a metric of hits and relevant rows has the value of an empty list for each list without a hit.

    NOTE: all of recframe's own have, unless a user without relevant items has 1; one of the user's may say more of relevant
    rows than what hits are divided by.
    """
    return metric.definition.builtin and metric.parameters.get("without_relevant") != "one"


def values_of_lists(
    metrics: Sequence[Metric[...]], words: Recorder, deepest: int | None, judged: Judged
) -> dict[str, pl.Expr]:
    """Return each metric's value of a list, under a name of its own."""
    values = {}
    for number, metric in enumerate(metrics):
        k = metric.k
        value = _value(metric, At(k, words, cut=k == deepest, sharing=judged.sharing)).cast(
            pl.Float64
        )
        if judged.context.no_relevant == "null":
            value = pl.when(_n_relevant(words) > 0).then(value)
        values[f"value {number}"] = value.alias(f"value {number}")
    return values


def _value(metric: Metric[...], at: At) -> pl.Expr:
    """Return a metric's value of a list, or say why it needs an order of tied items."""
    definition = metric.definition
    if at.sharing is not None and not (definition.builtin or definition.linear):
        msg = (
            f"ties={at.sharing!r} takes a metric of your own, such as {metric.name!r}, if it sums up words of the hits "
            f"(see rf.At) and says so: @rf.metric(linear=True); if it does not, {OTHER_TIES}"
        )
        raise RecframeError(msg)
    try:
        return metric.value(at)
    except NoOrderError as error:
        raise without_order(str(metric), str(at.sharing), error) from None


def is_counted(words: Recorder, no_relevant: NoRelevant) -> pl.Expr:
    """Return whether a list counts, by the policy on users without relevant items."""
    return _n_relevant(words) > 0 if no_relevant == "skip" else pl.len() > 0


def _n_relevant(words: Recorder) -> pl.Expr:
    return At(None, words).n_relevant


@lru_cache
def no_rows(names: frozenset[str]) -> pl.LazyFrame:
    """Return an empty frame with the words' columns, to evaluate an empty list."""
    return pl.LazyFrame(schema={name: DTYPES.get(name, pl.Float64) for name in names})


def check_shapes(lists: pl.LazyFrame, metrics: Sequence[Metric[...]]) -> None:
    """Reject users' own metrics with several values per list."""
    for number, metric in enumerate(metrics):
        if (
            not metric.definition.builtin
            and lists.collect_schema()[f"value {number}"] != pl.Float64
        ):
            msg = (
                f"the metric {metric.name!r} has a value for each row of a list; "
                "return one for the list: its sum(), max(), ..."
            )
            raise RecframeError(msg)
