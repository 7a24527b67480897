"""Warnings on ranks and scores: scores that give no order, ranks over all lists at once, ranks that are means over ties."""

from __future__ import annotations

from math import prod
from typing import Any

import polars as pl

from recframe.audit.seen import SOME, Seen
from recframe.frames.dtypes import text_of
from recframe.frames.hints import NAMED, Either, bind
from recframe.frames.inputs import Inputs
from recframe.frames.rows.joins import aggregate, beside_one_another
from recframe.judging.relevance import is_rank

HALF = 0.5
"""What a mean over a tie of an even number of ranks ends with."""
LEAST_EQUAL = 10
"""Fewer scores may be equal because they are few."""
FEWEST_LISTS = 5
"""With fewer lists it may be by chance that none begins up to the cut-off."""

OF_ONE_VALUE = pl.col("lowest").eq_missing(pl.col("highest")) & (
    (pl.col("known") == 0) | (pl.col("known") == pl.col("rows"))
)
"""Whether all scores are missing, or all are there and equal."""


def lists_without_ranks(seen: Seen) -> str | None:
    """No row has a rank, so every list is empty."""
    if "lists at hand" in seen.traits:
        n_rows = 0 if _has_rank(seen.lists["rank"]) else len(seen.lists)
    elif seen.found_nothing:
        ranked = is_rank(pl.col("rank"), seen.inputs.schema["rank"])
        n_rows = seen.run(seen.inputs.lists.select(pl.len() * ~ranked.any())).item()
    else:
        return None
    if not n_rows:
        return None
    name = seen.inputs.context.names["rank"]
    return (
        f"column {name!r} of {seen.title} is null, NaN or infinite in all of its {n_rows:,} rows, so every list is empty; "
        f"rank each list from 1, or name a column of scores: {bind(score=NAMED)}"
    )


def _has_rank(column: pl.Series) -> bool:
    """Return whether a column has a rank, which most often stands among its first ones."""
    if not column.dtype.is_float():
        return column.null_count() < len(column)
    return bool(column.head(SOME).is_finite().any() or column.is_finite().any())


def scores_without_order(seen: Seen) -> str | None:
    """Warn of a model whose scores are all missing, or all equal where nobody said how ties stand."""
    keys = seen.inputs.model
    flat = seen.run(_spread(seen.sample.lazy(), seen.inputs).filter(OF_ONE_VALUE))
    if flat.is_empty():
        return None
    rows = seen.inputs.identified("recommendations")
    if keys:
        rows = rows.join(flat.select("model").lazy(), on="model", how="semi")
    found = seen.run(scores_of_one_value(rows, seen.inputs).sort(keys or ["lowest"]))
    if found.is_empty():
        return None
    model, value = found["model"][0] if keys else None, found["lowest"][0]
    whose = f" of model {text_of(model)!r}" if keys else f" of {seen.title}"
    what = "null or NaN" if value is None else f"equal, {value:g}"
    name = seen.inputs.context.names["score"]
    return (
        f"all {found['rows'][0]:,} scores{whose} in column {name!r} are {what}, so its lists are in the order of the item ids; "
        f"give the model's own scores or a rank{_or_ties(value)}"
    )


def _or_ties(value: object) -> str:
    ties = bind(ties="'expected'")
    return "" if value is None else f", or with {ties} the mean over all orders of such items"


def scores_of_one_value(rows: pl.LazyFrame, inputs: Inputs) -> pl.LazyFrame:
    """Return the models all of whose scores are one value or missing, though a list of theirs has several items.

    Equal scores are none of these where `ties` was bound, which says how they stand.
    """
    found = _spread(rows, inputs).filter(pl.col("rows") > pl.col("lists"))
    is_missing = pl.col("lowest").is_null()
    if "ties" in inputs.context.given and inputs.context.ties != "item":
        return found.filter(is_missing)
    return found.filter(is_missing | (OF_ONE_VALUE & (pl.col("rows") >= LEAST_EQUAL)))


def _spread(rows: pl.LazyFrame, inputs: Inputs) -> pl.LazyFrame:
    """Return each model with its lowest and highest score, and how many rows and lists it has."""
    score, list_keys = pl.col("score"), [*inputs.inside("row"), "user"]
    score = score.fill_nan(None) if inputs.schema["score"].is_float() else score
    lists = pl.struct(list_keys).n_unique() if len(list_keys) > 1 else pl.col("user").n_unique()
    counts = [
        score.min().alias("lowest"),
        score.max().alias("highest"),
        score.count().alias("known"),
        pl.len().alias("rows"),
        lists.alias("lists"),
    ]
    # a judged row that nobody lists may name no model
    named = rows.filter(pl.col("model").is_not_null()) if inputs.model else rows
    return aggregate(named, inputs.model, counts)


def ranks_over_all_lists(seen: Seen) -> str | None:
    """Warn of ranks that were made over the whole frame, so that most lists begin beyond the cut-off."""
    k = seen.deepest
    if not _may_be_distinct(seen):
        return None
    found = seen.run(ranked_at_once(seen.inputs, k))
    if found.is_empty():
        return None
    name, user = (seen.inputs.context.names[role] for role in ("rank", "user"))
    until = f"up to {k}" if k else "within their own length"
    over = Either(f": .rank('ordinal').over({user!r})")
    return (
        f"column {name!r} of {seen.title} has no rank twice, and {found['late'][0]:,} of {found['lists'][0]:,} lists have "
        f"none {until}, as where all rows were ranked at once; rank each list from 1{over}, or name a column of scores: "
        f"{bind(score=NAMED)}"
    )


def _may_be_distinct(seen: Seen) -> bool:
    """Return whether the ranks of eager lists go so far that none of a model need be there twice."""
    ranks = seen.lists["rank"]
    n_models = len(seen.models) if seen.inputs.model else 1
    highest: Any = ranks.max()
    names = [one.name for one in seen.inputs.segments if one.inside in seen.parts]
    n_parts = prod(seen.result[name].n_unique() for name in names if name in seen.result.columns)
    return (
        len(ranks) >= FEWEST_LISTS
        and highest is not None
        and highest * n_models * n_parts >= len(ranks) - ranks.null_count()
    )


def ranked_at_once(
    inputs: Inputs, k: int | None, lists: pl.LazyFrame | None = None
) -> pl.LazyFrame:
    """Return one row, `late` and `lists`, where ranks were made over the whole frame; none otherwise.

    `lists` have `rows` and the `first` and `last` rank of each list, where that is known.

    No rank is there twice, most lists begin beyond `k` or, without one, beyond their own length, and lists have several
    items or ranks leave few numbers out: ranks of single items among all are distinct by chance too.
    """
    keys = [*inputs.inside("row"), *inputs.model]
    rank, n_rows = pl.col("rank"), pl.col("rows").sum()
    rows = inputs.identified("recommendations").filter(is_rank(rank, inputs.schema["rank"]))
    if lists is None:
        ends = {"first": rank.min(), "last": rank.max()}
        lists = rows.group_by(*keys, "user").agg(rows=pl.len(), **ends)
    limit = pl.col("rows") if k is None else k
    whole = (n_rows >= 2 * pl.len()) | (pl.col("last").max() <= 2 * n_rows)
    late = lists.select(
        late=(pl.col("first") > limit).sum(), lists=pl.len(), n_rows=n_rows, whole=whole
    )
    distinct = rows.select(
        distinct=pl.struct(*keys, "rank").n_unique() if keys else rank.n_unique()
    )
    found = beside_one_another([late, distinct]).filter(
        (pl.col("distinct") == pl.col("n_rows"))
        & (pl.col("late") * 2 > pl.col("lists"))
        & (pl.col("lists") >= FEWEST_LISTS)
        & pl.col("whole")
    )
    return found.select("late", "lists")


def _are_shared(seen: Seen) -> bool:
    """Return whether two items of a list have one rank that is no whole number; of large frames, of some lists."""
    rows = seen.rows_of_some_users
    broken = rows.filter(pl.col("rank") != pl.col("rank").floor())
    sizes = broken.group_by(*seen.parts, *seen.inputs.model, "user", "rank").len()["len"]
    return bool((sizes > 1).any())


def ranks_as_means(seen: Seen) -> str | None:
    """Warn of ranks that are means over ties, such as 1.5 for two first items."""
    ranks = seen.sample["rank"].drop_nulls()
    ranks = ranks.filter(ranks.is_finite())
    parts = ranks - ranks.floor()
    broken = ranks.filter(parts > 0)
    if broken.is_empty() or (parts.filter(parts > 0) != HALF).any() or not _are_shared(seen):
        return None
    name = seen.inputs.context.names["rank"]
    over = Either(": .rank('ordinal') in Polars, .rank(method='first') in pandas")
    return (
        f"column {name!r} of {seen.title} has ranks such as {broken[0]:g}, which are means over ties: an item of rank 1.5 "
        f"is no hit at 1, and no item is the first; rank each list without ties{over}, or name the column of scores: "
        f"{bind(score=NAMED)}"
    )
