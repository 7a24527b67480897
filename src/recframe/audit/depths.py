"""The depths at which models' lists end: who has shorter ones than others, and the notes of results on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from recframe.audit.listed_truth import ranked
from recframe.audit.seen import Seen
from recframe.frames.collecting import LARGE
from recframe.frames.inputs import Inputs
from recframe.frames.rows.joins import joined
from recframe.judging.relevance import is_rank

LEAST_LISTS = 10
"""The lists of a model that has fewer are not compared in length."""
ALIKE = 0.95
"""Depths of which the lowest has such a share of the highest are those of lists from which a few items were left out."""
ROUGHLY = 2
"""How many times as deep a model seems by a few lists of different lengths before all are read."""


def unequal_depths(seen: Seen) -> Mapping[Any, int]:
    """Return the models whose lists end before the largest cut-off, unless all models end at about one depth.

    A model's depth is that of its longest list, so that users with short lists make no difference.
    """
    if seen.depths is not None:
        return seen.depths
    inputs, k = seen.inputs, seen.deepest
    if k is None or not {"models", "lists at hand"} <= seen.traits or inputs.tables is not None:
        return {}
    if len(seen.lists) > LARGE and not _may_differ(seen, k):
        return {}
    rows = ranked(inputs).filter(pl.col("model").is_not_null())
    depths = depths_of(_lists(rows, inputs, seen.parts)).filter(pl.col("n_lists") >= LEAST_LISTS)
    found = seen.run(depths.sort("model"))
    short = found.filter(pl.col("depth") < k)
    if _are_alike(found["depth"], k):
        return {}
    return dict(zip(short["model"].to_list(), short["depth"].to_list(), strict=True))


def _are_alike(depths: pl.Series, k: int) -> bool:
    """Return whether all of some depths are about one, up to a cut-off."""
    ends: list[int] = depths.clip(upper_bound=k).to_list()
    return len(ends) < 2 or min(ends) >= ALIKE * max(ends)  # noqa: PLR2004  a pair


def _may_differ(seen: Seen, k: int) -> bool:
    """Return whether some rows of a large frame show models whose lists end at different depths.

    Where the lists of a model have different lengths, those of a few users tell of its depth only roughly.
    """
    inputs = seen.inputs
    if not inputs.scored:
        in_lists = seen.sample.filter(is_rank(pl.col("rank"), inputs.schema["rank"]))
        deepest = in_lists.drop_nulls("model").group_by("model").agg(pl.col("rank").max())
        if len(deepest) >= len(seen.models) and _are_alike(deepest["rank"].cast(pl.Int64), k):
            return False
    some = seen.rows_of_some_users.drop_nulls("model").lazy()
    lists = seen.run(_lists(some, inputs, seen.parts))
    length = pl.col("rows").cast(pl.Int64)
    shown = lists.group_by("model").agg(depth=length.max(), least=length.min())
    if _are_alike(shown["depth"], k):
        return False
    ends: list[int] = shown["depth"].clip(upper_bound=k).to_list()
    return bool((shown["depth"] == shown["least"]).all()) or max(ends) >= ROUGHLY * min(ends)


def _lists(rows: pl.LazyFrame, inputs: Inputs, parts: list[str]) -> pl.LazyFrame:
    """Return each list with its number of rows, `rows`, and without scores its last rank, `last`."""
    last = [] if inputs.scored else [pl.col("rank").max().alias("last")]
    return rows.group_by(*parts, "model", "user").agg(pl.len().alias("rows"), *last)


def depths_of(lists: pl.LazyFrame) -> pl.LazyFrame:
    """Return each model with the depth of its longest list, `depth`, and its number of lists.

    Ranks with gaps are those of a few items among others, which say nothing of the lists' length.
    """
    last = "last" if "last" in lists.collect_schema() else "rows"
    depths = lists.group_by("model").agg(
        pl.col(last).max().cast(pl.Int64).alias("depth"),
        longest=pl.col("rows").max(),
        n_lists=pl.col("user").n_unique(),
    )
    return depths.filter(pl.col("longest") >= pl.col("depth")).drop("longest")


def with_notes(plan: pl.LazyFrame, depths: Mapping[Any, int]) -> pl.LazyFrame:
    """Return a result of models with a note where their lists end at different `depths` below its cut-off, `k`.

    Of a model and a baseline these are their own depths.
    """
    if not depths:
        return plan
    k, schema = pl.col("k"), plan.collect_schema()
    columns = {"own depth": "model"} | ({"other depth": "baseline"} if "baseline" in schema else {})
    for name, role in columns.items():
        models = pl.Series(role, [*depths], dtype=schema[role])
        rows = pl.DataFrame([models, pl.Series(name, [*depths.values()], dtype=pl.Int64)])
        plan = joined(plan, rows.lazy(), [role], in_order=True)
    own, other = (
        pl.min_horizontal(pl.col(name).fill_null(k), k) for name in ("own depth", [*columns][-1])
    )
    if len(columns) > 1:
        is_noted = own != other
        note = pl.format("up to k its longest list has {} items, the baseline's {}", own, other)
    else:
        is_noted = own < k
        note = pl.format("its lists end at {}, before k, and other models' at another depth", own)
    noted = pl.concat_str(["note", pl.when(is_noted).then(note)], separator="; ", ignore_nulls=True)
    return plan.with_columns(note=noted.replace("", None)).select(schema.names())
