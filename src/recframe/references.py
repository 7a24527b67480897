"""The reference lists that lists are held against."""

from __future__ import annotations

import polars as pl

from recframe.beside import Sides, fact
from recframe.context import Ties
from recframe.inputs import Inputs, as_text
from recframe.judge import PAIR
from recframe.scores import in_order_given, scored
from recframe.terms import is_rank

RANK = pl.col("rank")


@fact("pair", "reference")
def in_reference(sides: Sides, k: int) -> pl.LazyFrame:
    """Whether the reference list of a user has an item, up to k; 0 is no cut-off."""
    return _reference(sides, k or None).select(*PAIR, value=pl.lit(value=True)).unique()


def _is_of(inputs: Inputs) -> pl.Expr:
    """Return whether a row is the reference's, where that is the name of a model."""
    model = as_text(pl.col("model"), inputs.lists.collect_schema()["model"])
    return (model == pl.lit(inputs.reference)).fill_null(value=False)


def _reference(sides: Sides, k: int | None) -> pl.LazyFrame:
    """Return the rows of the reference up to k."""
    given = sides.inputs.reference
    if given is None or isinstance(given, str):
        return sides.held.ranked(k).filter(_is_of(sides.inputs))
    rows = _ranked(given.drop_nulls(PAIR), sides.inputs.context.ties, k).select(*PAIR, "rank")
    return rows if k is None else rows.filter(k >= RANK)


def _ranked(rows: pl.LazyFrame, ties: Ties, k: int | None) -> pl.LazyFrame:
    """Return rows with ranks, from scores where there are none; ties then go by item where the gains would decide."""
    dtype = rows.collect_schema().get("rank")
    if dtype is not None:
        return rows.filter(is_rank(RANK, dtype))
    ties = ties if ties in {"item_desc", "order"} else "item"
    return scored(in_order_given(rows, ties), ["user"], [], ties).ranked(k, rows.clear)
