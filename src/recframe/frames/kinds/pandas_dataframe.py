"""pandas' frames: columns go through Arrow, and come back in the dtypes that they had."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd
import polars as pl
from pandas.api.types import infer_dtype, is_bool_dtype, is_complex_dtype, is_numeric_dtype

from recframe.frames.kinds.kind import EagerKind
from recframe.frames.kinds.polars_dataframe import without_nan
from recframe.frames.pandas_columns import series
from recframe.frames.pandas_results import frame_of

SOME = 1_000
"""So many rows most often tell that a column of objects has no Booleans."""
LABELS = {"string", "categorical", "integer", "boolean"}
"""What pandas infers of columns whose values may be labels."""


class Pandas(EagerKind):
    """A pandas.DataFrame."""

    frame: pd.DataFrame
    library = "pandas"

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.frame.columns)

    @property
    def index_names(self) -> list[object]:
        """The names that its index has."""
        return [name for name in self.frame.index.names if name is not None]

    def labels(self) -> list[str]:
        """Return the names of the columns whose values may be labels."""
        return [
            name
            for name in self._plain_columns
            if infer_dtype(self.frame[name], skipna=True) in LABELS
        ]

    def numbers(self) -> list[str]:
        """Return the names of the columns of numbers and Booleans."""
        return [name for name in self._plain_columns if _has_numbers(self.frame[name])]

    @property
    def _plain_columns(self) -> list[str]:
        return [
            name
            for name in self.frame.columns
            if isinstance(name, str) and self.frame[name].ndim == 1
        ]

    def take(
        self, named: Mapping[str, str], ids: Collection[str] = (), numbers: Collection[str] = ()
    ) -> pl.DataFrame:
        """Return some columns, with null for NaN."""
        columns = (
            series(self.frame, name, inside, is_id=inside in ids) for inside, name in named.items()
        )
        return pl.DataFrame([without_nan(column, numbers) for column in columns])

    def source(self, name: str) -> pd.Series[Any]:
        """Return a column, whose dtype a result's column is to have."""
        return self.frame[name]

    def in_kind(self, result: pl.DataFrame, sources: Mapping[str, Any]) -> pd.DataFrame:
        """Return a result with the dtypes of the columns that it came from."""
        return frame_of(result, sources)

    def rows(self, result: pd.DataFrame) -> list[dict[str, Any]]:
        """Return the rows of a result.

        NOTE: pandas' own records take as long as a small plan.
        """
        names = list(result.columns)
        values = zip(*(result[name].tolist() for name in names), strict=True)
        return [dict(zip(names, row, strict=True)) for row in values]


def _has_numbers(column: pd.Series[Any]) -> bool:
    """Return whether a column has numbers or Booleans, which pandas holds as objects where one is missing."""
    if column.dtype == object:
        is_of_booleans = infer_dtype(column.head(SOME), skipna=True) == "boolean"
        return is_of_booleans and infer_dtype(column, skipna=True) == "boolean"
    is_plain = not isinstance(column.dtype, pd.CategoricalDtype)
    is_of_numbers = is_numeric_dtype(column.dtype) or is_bool_dtype(column.dtype)
    return is_plain and is_of_numbers and not is_complex_dtype(column.dtype)


KIND = Pandas
