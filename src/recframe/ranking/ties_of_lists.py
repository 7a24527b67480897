"""Lists re-ranked by the tie policy, lazily or precomputed."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.frames.collecting import Ask
from recframe.frames.inputs import Inputs
from recframe.frames.options import Ties
from recframe.frames.rows.joins import distinct_names
from recframe.frames.rows.profiling import are_distinct, marked_sorted
from recframe.ranking.equal_ranks import RANK, effective, tied, told_apart, with_gains
from recframe.ranking.relevance import as_number, gain_of, is_rank, is_relevant_row
from recframe.ranking.scores import in_order_given


def effective_lists(
    lists: pl.LazyFrame, judged: pl.LazyFrame, inputs: Inputs, segments: Sequence[str]
) -> pl.LazyFrame:
    """Return the lists with effective ranks, if `ties=` asks for them; `judged` has the relevance.

    A list is that of a model's user in one of the `segments`, which both frames have as columns, and of the items.
    """
    if not inputs.tells_ranks_apart:
        return lists
    keys, own = [*segments, *inputs.model, "user"], _own(lists, judged, inputs)
    gains = _gains(judged, inputs, segments)
    return of_item_segments(lists, inputs, keys, inputs.context.ties, gains, own)


def of_item_segments(
    lists: pl.LazyFrame,
    inputs: Inputs,
    keys: Sequence[str],
    ties: Ties,
    gains: pl.LazyFrame,
    relevant: pl.Expr | None = None,
) -> pl.LazyFrame:
    """Return lists with effective ranks among the items of each segment, where segments are properties of items.

    NOTE: a rank that was given stays, so that it is told apart from those of its part alone, as in frames that are filtered.
    """
    columns = distinct_names(*lists.collect_schema().names(), *tied(ties))
    keys = distinct_names(*inputs.item_keys, *keys)
    found = told_apart(inputs.with_item_keys(lists), keys, ties, gains, relevant)
    return found.select(name for name in columns if name != "row")


def effective_up_to(
    k: int | None, truth: pl.LazyFrame | None, inputs: Inputs, ask: Ask
) -> pl.LazyFrame | None:
    """Return the lists of a large eager frame with effective ranks up to k; None where an item of a list repeats."""
    ties = inputs.context.ties
    (rows,) = ask([in_order_given(inputs.identified("recommendations"), ties)])
    lists = rows.lazy()
    judged = lists if truth is None else truth
    return _up_to(k, lists, judged, inputs, ask)


def _up_to(
    k: int | None, lists: pl.LazyFrame, judged: pl.LazyFrame, inputs: Inputs, ask: Ask
) -> pl.LazyFrame | None:
    """Return the rows of `effective_lists` where ranks up to k alone are read; None where an item of a list repeats.

    No rank behind k, which stays as it was given, moves one up to k. An item that repeats may: its best rank is behind k where
    that of its relevant row is, so that these are looked at too.
    """
    keys, ties, schema = [*inputs.model, "user"], inputs.context.ties, lists.collect_schema()
    relevant = _own(lists, judged, inputs)
    listed = is_rank(RANK, schema["rank"])
    first = (listed if k is None else listed & RANK.le(k)).fill_null(value=False)
    looked_at = first if relevant is None else first | relevant
    order = ["row"] * (ties == "order")
    lists = lists.with_columns(is_first=first)
    (rows,) = ask([lists.filter(looked_at).select(*keys, "item", "rank", "is_first", *order)])
    rows = marked_sorted(rows, keys[-1])
    if not ask([are_distinct(rows, keys)])[0].item():
        return None
    number = as_number("rank", schema["rank"])
    items = rows.lazy().filter("is_first").with_row_index("number of row").with_columns(number)
    items = effective(with_gains(items, ties, _gains(judged, inputs)), keys, ties, schema)
    (found,) = ask([items.sort("number of row").select("rank", *tied(ties))])
    place = pl.when("is_first").then(pl.col("is_first").cum_sum().cast(pl.Int64) - 1)
    behind = {"rank": number, "tied": pl.lit(1, dtype=pl.Int64)}
    columns = {
        name: pl.coalesce(pl.lit(found[name]).gather(place), pl.when(listed).then(behind[name]))
        for name in found.columns
    }
    return lists.with_columns(**columns).drop("is_first", *order)


def _gains(judged: pl.LazyFrame, inputs: Inputs, segments: Sequence[str] = ()) -> pl.LazyFrame:
    relevant = judged.filter(is_relevant_row(inputs))
    return relevant.select(*segments, "user", "item", gain=gain_of(inputs))


def _own(lists: pl.LazyFrame, judged: pl.LazyFrame, inputs: Inputs) -> pl.Expr | None:
    """Return the relevance test of a judged frame, where best ranks are those of relevant rows; else None."""
    return is_relevant_row(inputs) if judged is lists else None
