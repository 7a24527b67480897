"""Scores of fused lists, from the ranks or the scores in several lists of a user.

Symbols in the comments: r is an item's rank in one list, n the length of that list, c the number of lists that have the item,
and C the number of distinct items in all lists of the user.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

from recframe.errors import fails_if
from recframe.frames.dtypes import as_text, text_of
from recframe.frames.rows.exact_sums import ExactSums
from recframe.frames.rows.integer_keys import SMALL_INTEGERS
from recframe.frames.rows.joins import at_best_rank
from recframe.frames.rows.positions import by_item, spread_ranks, with_places
from recframe.ranking.relevance import RANK_BELOW_1, as_number, is_rank
from recframe.ranking.scores import scored

By = Literal["rrf", "isr", "borda", "combsum", "combmnz", "weighted"]
Normalize = Literal["min-max", "max", "sum", "zmuv", "rank"]
OF_RANKS = ("rrf", "isr", "borda")
"""Methods that read ranks alone."""
TIMES_LISTS = ("isr", "combmnz")
"""Methods that count an item once more for each list that has it."""
LIST = ["model", "user"]
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
        rows = _ranked(rows, schema) if self.reads_ranks else _each_scored_once(rows, schema)
        # a window inside of a group would see no other rows
        rows = rows.with_columns(beside=self._of_all_lists())
        total = ExactSums({"score": self._worth(schema["model"])})
        counted = [pl.len().alias("n_lists"), pl.col("beside").first()]
        found = total.of(rows, ["user", "item"], counted)
        score = pl.col("score") * (pl.col("n_lists") if self.method in TIMES_LISTS else 1)
        found = found.with_columns(score=score + pl.col("beside"))
        order = ["user", pl.col("score"), *by_item(schema)]
        found = with_places(found.sort(order, descending=[False, True, False]), ["user"])
        found = found.select("user", "item", pl.col("place").alias("rank"), "score")
        return found if k is None else found.filter(pl.col("rank") <= k)

    def _worth(self, model: pl.DataType) -> pl.Expr:
        """Return what a row of a list adds to its item."""
        rank, place = pl.col("rank"), pl.col("place")
        if self.method == "rrf":
            return 1 / (self.smoothing + rank)
        if self.method == "isr":
            return 1 / rank**2
        if self.method == "borda":
            # C - r + 1, less what a list without the item adds
            return (_n_items() + _length() + 1) / 2 - place
        if self.method == "weighted":
            return self._normalized() * self._weight(as_text(pl.col("model"), model))
        return self._normalized()

    def _of_all_lists(self) -> pl.Expr:
        """Return what an item has from the lists without it, were they all: (C - n + 1) / 2 of each in borda."""
        if self.method != "borda":
            return pl.lit(0.0)
        n_models = pl.col("model").n_unique() if self.n_models is None else self.n_models
        return (n_models * (_n_items() + 1) - pl.len().over("user")) / 2

    def _normalized(self) -> pl.Expr:
        """Return a row's score on the scale of its list."""
        score = pl.col("score")
        lowest, highest = score.min().over(LIST), score.max().over(LIST)
        if self.normalize == "rank":
            return 1 - (pl.col("place") - 1) / _length()
        if self.normalize == "min-max":
            return (score - lowest) / (highest - lowest).clip(lower_bound=LEAST)
        if self.normalize == "max":
            return score / highest.clip(lower_bound=LEAST)
        if self.normalize == "sum":
            whole = (score - lowest).sum().over(LIST)
            return (score - lowest) / whole.clip(lower_bound=LEAST)
        if self.normalize == "zmuv":
            return (score - score.mean().over(LIST)) / score.std(ddof=0).over(LIST).clip(
                lower_bound=LEAST
            )
        return score

    def _weight(self, model: pl.Expr) -> pl.Expr:
        """Return the weight of a row's model, or fail for one without."""
        weights = {text_of(name): weight for name, weight in (self.weights or {}).items()}
        found = pl.coalesce(pl.when(model == name).then(one) for name, one in weights.items())
        message = pl.format("weights= has none for the model {}; give each model one", model)
        return found + fails_if(found.is_null(), message)


def _n_items() -> pl.Expr:
    return pl.col("item").n_unique().over("user").cast(pl.Float64)


def _length() -> pl.Expr:
    return pl.len().over(LIST).cast(pl.Float64)


def _each_scored_once(rows: pl.LazyFrame, schema: pl.Schema) -> pl.LazyFrame:
    """Return each item of a list that has a finite score once, with the highest, in an order of their own."""
    score = pl.col("score").cast(pl.Float64)
    rows = rows.with_columns(score).filter(score.is_finite())
    return rows.group_by(*LIST, "item").agg(pl.col("score").max()).sort(*LIST, *by_item(schema))


def _ranked(rows: pl.LazyFrame, schema: pl.Schema) -> pl.LazyFrame:
    """Return each item of a list once, at its best rank, no two closer than 1, and with its place."""
    if "score" in schema:
        ranked = scored(rows, LIST, [], "item").ranked(None, lambda: rows)
        return ranked.with_columns(place="rank")
    dtype, rank = schema["rank"], pl.col("rank")
    number = as_number("rank", dtype)
    rows = rows.filter(is_rank(rank, dtype)).with_columns(
        number + fails_if(number < 1, str(RANK_BELOW_1))
    )
    rows = at_best_rank(rows, LIST).sort(*LIST, "rank", *by_item(schema))
    return spread_ranks(with_places(rows, LIST), LIST, whole=dtype in SMALL_INTEGERS)
