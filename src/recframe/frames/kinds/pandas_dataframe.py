"""pandas' frames: columns go through Arrow, and come back in the dtypes that they had."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
from pandas.api.types import infer_dtype, is_bool_dtype, is_complex_dtype, is_numeric_dtype

from recframe.frames.kinds.kind import EagerKind, Sources
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
    def index_names(self) -> list[object]:  # type: ignore[override]  # of a frame, and of no kind
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

    def column(self, name: str, inside: str, *, is_id: bool) -> pl.Series:
        """Return a column."""
        return series(self.frame, name, inside, is_id=is_id)

    def source(self, name: str) -> pd.Series[Any]:
        """Return a column, whose dtype a result's column is to have."""
        return self.frame[name]

    def in_kind(self, result: pl.DataFrame, sources: Sources) -> pd.DataFrame:
        """Return a result with the dtypes of the columns that it came from."""
        return frame_of(result, sources)


def _has_numbers(column: pd.Series[Any]) -> bool:
    """Return whether a column has numbers or Booleans, which pandas holds as objects where one is missing."""
    if column.dtype == object:
        is_of_booleans = infer_dtype(column.head(SOME), skipna=True) == "boolean"
        return is_of_booleans and infer_dtype(column, skipna=True) == "boolean"
    is_plain = not isinstance(column.dtype, pd.CategoricalDtype)
    is_of_numbers = is_numeric_dtype(column.dtype) or is_bool_dtype(column.dtype)
    return is_plain and is_of_numbers and not is_complex_dtype(column.dtype)


KIND = Pandas
