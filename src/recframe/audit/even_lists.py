"""Lists of one length, as they are where k items or fewer were drawn for each user."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

LEAST_LISTS, LEAST_LENGTH = 20, 5
SAME_LENGTH = 0.95
"""The share of lists of one length from which on it is no accident."""


def even_lists(lengths: pl.LazyFrame, model: Sequence[str]) -> pl.LazyFrame:
    """Return the models nearly all of whose lists have one length, and that length."""
    lists = lengths.with_columns(pl.lit(0).alias("all lists"))
    counts = lists.group_by(*model, "all lists", "rows").agg(lists=pl.len().cast(pl.Float64))
    most = pl.col("lists").max()
    models = counts.group_by(*model, "all lists").agg(
        same=most / pl.col("lists").sum(),
        n_lists=pl.col("lists").sum(),
        length=pl.col("rows").filter(pl.col("lists") == most).max(),
    )
    return models.filter(
        (pl.col("same") >= SAME_LENGTH)
        & (pl.col("n_lists") >= LEAST_LISTS)
        & (pl.col("length") >= LEAST_LENGTH)
    )
