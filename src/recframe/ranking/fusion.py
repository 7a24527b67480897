"""Scores of fused lists, from ranks or scores.

Symbols in the comments: r is an item's rank in one list, n the length of that list, c the number of lists that have the item,
and C the number of distinct items in all lists of the user.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

from recframe.errors import fails_if
from recframe.frames.rows.joins import (
    ExactSums,
    at_best_rank,
    by_item,
    in_distinct_ranks,
    with_places,
)
from recframe.ranking.data_checks import RANK_BELOW_1
from recframe.ranking.judged_frame import is_rank
from recframe.ranking.scores import scored

By = Literal["rrf", "isr", "borda", "combsum", "combmnz", "weighted"]
Normalize = Literal["min-max", "max", "sum", "zmuv", "rank"]
OF_RANKS = ("rrf", "isr", "borda")
"""Methods that read ranks alone."""
LIST = ["model", "user"]
SCORE, RANK, PLACE, MODEL = (pl.col(name) for name in ("score", "rank", "place", "model"))
LENGTH = pl.len().over(LIST)
N_LISTS = pl.len().over("user", "item")
N_ITEMS = pl.col("item").n_unique().over("user")
LEAST = 1e-9
"""Lower limit of what scores are divided by, as in ranx."""
SCALES = {
    "min-max": (SCORE.min(), SCORE.max() - SCORE.min()),
    "max": (pl.lit(0.0), SCORE.max()),
    "sum": (SCORE.min(), (SCORE - SCORE.min()).sum()),
    "zmuv": (SCORE.mean(), SCORE.std(ddof=0)),
}
"""Where the scale of a list's scores starts, and its unit."""


@dataclass(frozen=True)
class Fusion:
    """How the lists of several models become those of one."""

    method: By
    normalize: Normalize | None
    smoothing: float
    weights: Mapping[str, float] | None
    """The weights of the models, by their names as text."""

    @property
    def reads_ranks(self) -> bool:
        """Whether ranks alone are read, and no scores."""
        return self.method in OF_RANKS or self.normalize == "rank"

    def fused(self, rows: pl.LazyFrame, k: int | None) -> pl.LazyFrame:
        """Return user, item, rank and score of the fused lists, sorted by user and rank, from the rows of all models' lists."""
        rows = rows.drop_nulls(["user", "item"])
        schema = rows.collect_schema()
        rows = _with_ranks(rows, schema) if self.reads_ranks else _with_scores(rows, schema)
        fused = ExactSums({"score": self._worth()}).of(rows, ["user", "item"])
        order = ["user", "score", *by_item(schema)]
        fused = with_places(fused.sort(order, descending=[False, True, False]), ["user"])
        fused = fused.select("user", "item", "score", rank="place")
        return fused if k is None else fused.filter(RANK.le(k))

    def _worth(self) -> pl.Expr:
        """Return what a row of a list adds to its item."""
        if self.method == "rrf":
            return 1 / (self.smoothing + RANK)
        if self.method == "isr":
            return N_LISTS / RANK**2
        if self.method == "borda":
            # C - r + 1, less the mean of what is left for the C - n items that the list lacks
            return (N_ITEMS + LENGTH + 1) / 2 - PLACE
        if self.method == "combmnz":
            return self._on_one_scale() * N_LISTS
        if self.weights is None:
            return self._on_one_scale()
        model = MODEL.cast(pl.String)
        weight = model.replace_strict(self.weights, default=None, return_dtype=pl.Float64)
        message = pl.format("weights= has none for the model {}; give each model one", model)
        return self._on_one_scale() * (weight + fails_if(weight.is_null(), message))

    def _on_one_scale(self) -> pl.Expr:
        """Return a row's score on the scale of its list."""
        if self.normalize == "rank":
            return 1 - (PLACE - 1) / LENGTH
        if self.normalize is None:
            return SCORE
        start, unit = SCALES[self.normalize]
        return ((SCORE - start) / unit.clip(lower_bound=LEAST)).over(LIST)


def _with_scores(rows: pl.LazyFrame, schema: pl.Schema) -> pl.LazyFrame:
    """Return each item of a list that has a finite score once, with the highest, in an order of their own."""
    rows = rows.with_columns(SCORE.cast(pl.Float64)).filter(SCORE.is_finite())
    return rows.group_by(*LIST, "item").agg(SCORE.max()).sort(*LIST, *by_item(schema))


def _with_ranks(rows: pl.LazyFrame, schema: pl.Schema) -> pl.LazyFrame:
    """Return each item of a list once, at its best rank, no two closer than 1, and with its place."""
    if "score" in schema:
        ranked = scored(rows, LIST, "item").ranked(None, lambda: rows)
        return ranked.with_columns(place="rank")
    rank = RANK.cast(pl.Float64)
    rows = rows.filter(is_rank(RANK)).with_columns(rank + fails_if(rank < 1, str(RANK_BELOW_1)))
    return in_distinct_ranks(at_best_rank(rows, LIST), LIST, schema, whole=False)
