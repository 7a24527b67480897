"""Results as pandas frames, their columns in the dtypes that the pandas columns had which they came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recframe.frames.pandas_columns import dtype_name, ends_of, kept_categories, labels_of

TEXT = (pl.String, pl.Categorical, pl.Enum)
NO_PERIOD = -(2**63)
"""The ordinal of a missing period."""


def frame_of(result: pl.DataFrame, by: Mapping[str, pd.Series[Any] | None]) -> pd.DataFrame:
    """Return a result as a pandas frame; `by` has the columns that some of its columns were made of.

    The rows stand in the order of their categories, where the plan could not tell it.
    """
    # By their places, since a column may have any name: Polars reads "^.*$" as a pattern, and pandas would name "" anew.
    names, places = result.columns, [str(place) for place in range(result.width)]
    result = pl.DataFrame(
        [one.alias(place) for place, one in zip(places, result.get_columns(), strict=True)]
    )
    came = {place: by[name] for place, name in zip(places, names, strict=True) if name in by}
    found = {
        place: _codes(result[place], one) for place, one in came.items() if _is_categorical(one)
    }
    codes = {place: one.alias(place) for place, one in found.items() if one is not None}
    in_order = all(isinstance(result.schema[place], pl.Enum) for place in codes)
    result = result.with_columns(codes.values())
    if not in_order:
        result = result.sort(list(came), nulls_last=True, maintain_order=True)
    frame = result.select([place for place in places if place not in came]).to_pandas()
    for place, column in came.items():
        restored = (
            _of_codes(result[place], column) if place in codes else _restored(result[place], column)
        )
        frame.insert(int(place), place, restored)
    frame.columns = pd.Index(names)
    return frame


def _is_categorical(column: pd.Series[Any] | None) -> bool:
    return column is not None and dtype_name(column.dtype) == "CategoricalDtype"


def _codes(values: pl.Series, column: Any) -> pl.Series | None:
    """Return the places of values among the categories of a column, or None where one is not among them."""
    categories = column.cat.categories
    if isinstance(values.dtype, pl.Enum):
        kept = kept_categories(column)
        if values.dtype.categories.to_list() == labels_of(categories[kept]):
            return pl.Series(kept, dtype=pl.Int64).gather(values.to_physical().cast(pl.Int64))
    if values.dtype in TEXT:
        values = values.cast(pl.String)
        labels = pl.Series(labels_of(categories), dtype=pl.String)
        known = pl.DataFrame(
            [labels.alias("value"), pl.Series("code", range(len(labels)), dtype=pl.Int64)]
        )
    else:
        unique = values.drop_nulls().unique()
        found = categories.get_indexer_for(pd.Index(_restored(unique, categories.to_series())))
        known = pl.DataFrame(
            [unique.alias("value"), pl.Series("code", found, dtype=pl.Int64)]
        ).filter(pl.col("code") >= 0)
    codes = pl.DataFrame([values.alias("value")]).join(
        known, on="value", how="left", maintain_order="left"
    )["code"]
    return codes if codes.null_count() == values.null_count() else None


def _of_codes(codes: pl.Series, column: Any) -> pd.Series[Any]:
    return pd.Series(pd.Categorical.from_codes(codes.fill_null(-1).to_numpy(), dtype=column.dtype))


def _restored(values: pl.Series, column: Any) -> Any:
    """Return values in the dtype of the pandas column that they came from, if that holds every one of them."""
    dtype = getattr(column, "dtype", None)
    return values.to_pandas() if dtype is None else _in_dtype(values, dtype)


def _in_dtype(values: pl.Series, dtype: Any) -> Any:
    kind = dtype_name(dtype)
    if kind == "SparseDtype":
        dense = _in_dtype(values, dtype.subtype)
        return dense.astype(dtype) if dense.dtype == dtype.subtype else dense
    if values.dtype == pl.Struct and kind == "PeriodDtype":
        ordinals = values.struct.field(str(dtype)).fill_null(NO_PERIOD).to_numpy()
        index: Any = pd.PeriodIndex
        return pd.Series(index.from_ordinals(ordinals, freq=dtype.freq))
    if values.dtype == pl.Struct and kind == "IntervalDtype":
        left, right = (
            _end_in_dtype(values.struct.field(end), dtype.subtype) for end in ends_of(dtype)
        )
        return pd.Series(pd.arrays.IntervalArray.from_arrays(left, right, closed=dtype.closed))
    if not _holds(values, dtype):
        return pd.Series(values.to_list()) if values.dtype == pl.Int128 else values.to_pandas()
    if values.dtype in (pl.Datetime, pl.Duration) and getattr(dtype, "kind", "") != "O":
        return values.to_pandas().astype(dtype)  # Python's own times have no nanoseconds
    if (
        values.null_count()
        and getattr(dtype, "kind", "") in "iub"
        and not hasattr(dtype, "na_value")
    ):
        # NumPy's integers and Booleans have no null; pandas' nullable ones of the same size do.
        dtype = (
            "boolean"
            if dtype.kind == "b"
            else f"{'U' if dtype.kind == 'u' else ''}Int{dtype.itemsize * 8}"
        )
    return pd.Series(values.to_list(), dtype=dtype)


def _end_in_dtype(ends: pl.Series, dtype: Any) -> Any:
    """Return ends of intervals; a missing interval has none, and makes those that are whole numbers floats, as in pandas."""
    is_whole = ends.null_count() and ends.dtype.is_integer()
    return ends.cast(pl.Float64).to_pandas() if is_whole else _in_dtype(ends, dtype)


def _holds(values: pl.Series, dtype: Any) -> bool:
    """Whether a dtype of pandas holds every value; a match with another frame may have made the column wider."""
    values = values.drop_nulls()
    # values that did not match theirs
    if dtype_name(dtype) in {"CategoricalDtype", "PeriodDtype", "IntervalDtype"}:
        return not len(values)
    if values.dtype.is_integer() and getattr(dtype, "kind", "") in "iu" and len(values):
        bounds = np.iinfo(getattr(dtype, "numpy_dtype", dtype))
        return bool(values.is_between(int(bounds.min), int(bounds.max)).all())
    return True
