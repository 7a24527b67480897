"""Checks of several models: ids that are none of the truth's, and lists that end before those of the others do."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from recframe.audit.audited import Audited
from recframe.audit.depths import ALIKE, LEAST_LISTS, depths_of
from recframe.audit.notices_of_models import LEAST_IDS
from recframe.audit.rule import Found, check
from recframe.frames.hints import Either, text
from recframe.judging.judged_frame import PAIR


@check(
    "error",
    "the model has no hit",
    "give the rows of the model the ids that the other models have",
    of_all=True,
)
def model_without_common_ids(data: Audited) -> Iterator[Found]:
    """Models whose user or item ids, `rows` of them, are none of the truth's, though those of other models are."""
    for role in PAIR if data.inputs.model else ():
        ids = data.lists.select("model", role).drop_nulls().unique()
        judged = data.truth.select(role).drop_nulls()
        common = ids.join(judged, on=role, how="semi").select("model").unique()
        models = ids.group_by("model").agg(
            pl.len().cast(pl.Int64).alias("rows"), pl.col(role).first().alias("lists")
        )
        there = judged.select(pl.col(role).first().alias("truth"), n_judged=pl.col(role).n_unique())
        others = common.select(n_others=pl.len())
        found = models.join(common, on="model", how="anti").join(there, how="cross")
        found = found.join(others, how="cross").filter(
            (pl.col("rows") >= LEAST_IDS)
            & (pl.col("n_judged") >= LEAST_IDS)
            & (pl.col("n_others") > 0)
        )
        yield Found(data.main, found.sort("model"), ("model", "lists", "truth"))


@check(
    "warning",
    "what a model does not list is a miss, so models with longer lists have more hits",
    text(
        "give all models lists of k items, or compare them up to the shortest: ", Either("k=", "-k")
    ),
)
def models_of_unequal_depth(data: Audited) -> Iterator[Found]:
    """Lists of models whose longest list ends before k, where that of another model ends later."""
    if data.k is None or not data.inputs.model:
        return
    lists = data.lengths.filter(pl.col("model").is_not_null())
    models = depths_of(lists).filter(pl.col("n_lists") >= LEAST_LISTS)
    depth = pl.col("depth").clip(upper_bound=data.k)
    short = models.filter((pl.col("depth") < data.k) & (depth.min() < ALIKE * depth.max()))
    found = lists.join(short, on="model", how="inner").select("model", "user", "depth")
    yield Found(data.main, found.sort("model", "user"), ("model", "depth"))
