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
from recframe.frames.rows.integer_keys import SMALL_INTEGERS
from recframe.frames.rows.joins import (
    ExactSums,
    at_best_rank,
    by_item,
    in_distinct_ranks,
    with_places,
)
from recframe.ranking.data_checks import RANK_BELOW_1
from recframe.ranking.judged_frame import as_number, is_rank
from recframe.ranking.scores import scored

By = Literal["rrf", "isr", "borda", "combsum", "combmnz", "weighted"]
Normalize = Literal["min-max", "max", "sum", "zmuv", "rank"]
OF_RANKS = ("rrf", "isr", "borda")
"""Methods that read ranks alone."""
LIST = ["model", "user"]
LENGTH = pl.len().over(LIST).cast(pl.Float64)
N_ITEMS = pl.col("item").n_unique().over("user").cast(pl.Float64)
LEAST = 1e-9
"""Lower limit of what scores are divided by, as in ranx."""


@dataclass(frozen=True)
class Fusion:
    """How the lists of several models become those of one."""

    method: By
    normalize: Normalize | None
    smoothing: float
    weights: Mapping[object, float] | None
    n_models: int | None
    """The number of models; None where the rows alone say it."""

    @property
    def reads_ranks(self) -> bool:
        """Whether ranks alone are read, and no scores."""
        return self.method in OF_RANKS or self.normalize == "rank"

    def fused(self, rows: pl.LazyFrame, k: int | None) -> pl.LazyFrame:
        """Return user, item, rank and score of the fused lists, sorted by user and rank, from the rows of all models' lists."""
        rows = rows.drop_nulls(["user", "item"])
        schema = rows.collect_schema()
        # NOTE: scores take two steps, since Polars 1 has no window over a window.
        scores = None if self.reads_ranks else _each_scored_once(rows, schema)
        rows = _ranked(rows, schema) if scores is None else scores.with_columns(score=self._above())
        # a window inside of a group would see no other rows
        rows = rows.with_columns(beside=self._of_all_lists())
        total = ExactSums({"score": self._worth()})
        found = total.of(rows, ["user", "item"], [pl.col("beside").first()])
        found = found.with_columns(pl.col("score") + pl.col("beside"))
        order = ["user", "score", *by_item(schema)]
        found = with_places(found.sort(order, descending=[False, True, False]), ["user"])
        found = found.select("user", "item", pl.col("place").alias("rank"), "score")
        return found if k is None else found.filter(pl.col("rank") <= k)

    def _worth(self) -> pl.Expr:
        """Return what a row of a list adds to its item."""
        rank, n_lists = pl.col("rank"), pl.len().over("user", "item")
        if self.method == "rrf":
            return 1 / (self.smoothing + rank)
        if self.method == "isr":
            return n_lists / rank**2
        if self.method == "borda":
            # C - r + 1, less what a list without the item adds
            return (N_ITEMS + LENGTH + 1) / 2 - pl.col("place")
        if self.method == "weighted":
            return self._normalized() * self._weight()
        return self._normalized() * (n_lists if self.method == "combmnz" else 1)

    def _of_all_lists(self) -> pl.Expr:
        """Return what an item has from the lists without it, were they all: (C - n + 1) / 2 of each in borda."""
        if self.method != "borda":
            return pl.lit(0.0)
        n_models = pl.col("model").n_unique() if self.n_models is None else self.n_models
        return (n_models * (N_ITEMS + 1) - pl.len().over("user")) / 2

    def _above(self) -> pl.Expr:
        """Return what a row's score is above the level of its list."""
        score = pl.col("score")
        levels = {"max": pl.lit(0.0), None: pl.lit(0.0), "zmuv": score.mean().over(LIST)}
        return score - levels.get(self.normalize, score.min().over(LIST))

    def _normalized(self) -> pl.Expr:
        """Return a row's score on the scale of its list; the score is that of `_above`."""
        if self.normalize == "rank":
            return 1 - (pl.col("place") - 1) / LENGTH
        above = pl.col("score")
        if self.normalize is None:
            return above
        widths = {"sum": above.sum(), "zmuv": above.std(ddof=0)}
        return above / widths.get(self.normalize, above.max()).over(LIST).clip(lower_bound=LEAST)

    def _weight(self) -> pl.Expr:
        """Return the weight of a row's model, or fail for one without."""
        model = pl.col("model").cast(pl.String)
        weights = (self.weights or {}).items()
        found = pl.coalesce(pl.when(model == str(name)).then(one) for name, one in weights)
        message = pl.format("weights= has none for the model {}; give each model one", model)
        return found + fails_if(found.is_null(), message)


def _each_scored_once(rows: pl.LazyFrame, schema: pl.Schema) -> pl.LazyFrame:
    """Return each item of a list that has a finite score once, with the highest, in an order of their own."""
    score = pl.col("score").cast(pl.Float64)
    rows = rows.with_columns(score).filter(score.is_finite())
    return rows.group_by(*LIST, "item").agg(pl.col("score").max()).sort(*LIST, *by_item(schema))


def _ranked(rows: pl.LazyFrame, schema: pl.Schema) -> pl.LazyFrame:
    """Return each item of a list once, at its best rank, no two closer than 1, and with its place."""
    if "score" in schema:
        ranked = scored(rows, LIST, "item").ranked(None, lambda: rows)
        return ranked.with_columns(place="rank")
    dtype, rank = schema["rank"], pl.col("rank")
    number = as_number("rank", dtype)
    rows = rows.filter(is_rank(rank, dtype)).with_columns(
        number + fails_if(number < 1, str(RANK_BELOW_1))
    )
    whole = dtype in SMALL_INTEGERS
    return in_distinct_ranks(at_best_rank(rows, LIST), LIST, schema, whole=whole)
