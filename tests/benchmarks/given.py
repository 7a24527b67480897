"""What a road starts from: recommendations and a binary truth, two long frames of Polars or of pandas; and what a road is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
from served import SIX

KINDS = {"polars": pl.read_parquet, "pandas": pd.read_parquet}


@dataclass(frozen=True)
class Given:
    """Recommendations (user, item, rank; model, where there are several) and truth (user, item)."""

    recs: Any
    truth: Any

    @classmethod
    def read(cls, folder: Path, kind: str) -> Given:
        return cls(*(KINDS[kind](folder / f"{name}.parquet") for name in ("recs", "truth")))

    @property
    def is_polars(self) -> bool:
        return isinstance(self.recs, pl.DataFrame)

    def of_models(self) -> list[Given]:
        """Return the lists of each model apart, as the library that evaluates one model at a time has them."""
        if "model" not in self.recs.columns:
            return [self]
        if self.is_polars:
            parts = self.recs.partition_by("model", include_key=False)
        else:
            parts = [part.drop(columns="model") for _, part in self.recs.groupby("model")]
        return [Given(part, self.truth) for part in parts]

    def cut(self, k: int) -> Given:
        if self.is_polars:
            return Given(self.recs.filter(pl.col("rank") <= k), self.truth)
        return Given(self.recs[self.recs["rank"] <= k], self.truth)

    def polars(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        if self.is_polars:
            return self.recs, self.truth
        return pl.from_pandas(self.recs), pl.from_pandas(self.truth)

    def pandas(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        if self.is_polars:
            return self.recs.to_pandas(), self.truth.to_pandas()
        return self.recs, self.truth

    def judged(self) -> pl.DataFrame:
        """Return the rows of the truth's users, listed ones first and then what is relevant and not listed.

        Columns: user as a number from 0, place from 0, rank (null where not listed) and relevant. This is what a library
        needs that looks at one table alone, so that what was not recommended is not forgotten.
        """
        recs, truth = self.polars()
        users = truth.select("user").unique().with_row_index("number")
        marked = truth.with_columns(relevant=pl.lit(value=True))
        rows = recs.join(marked, on=["user", "item"], how="full", coalesce=True)
        relevant = pl.col("relevant").fill_null(value=False)
        rows = rows.join(users, on="user").select("number", "rank", relevant)
        rows = rows.sort("number", "rank", nulls_last=True)
        place = pl.int_range(pl.len()).over("number")
        return rows.with_columns(pl.col("number").cast(pl.Int64), place=place)


@dataclass(frozen=True)
class Road:
    """One way from the frames to the numbers.

    metrics: the recframe metrics whose numbers it gives, in their order; they say which of the six a library has, and in
    which of its forms. can_cut: whether it may be given lists that were cut at k before.
    """

    name: str
    run: Callable[[Given, int], list[float]]
    metrics: tuple[str, ...] = SIX
    can_cut: bool = True
    tolerance: float = 1e-9
