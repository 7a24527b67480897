"""Dtypes that match in value, their common one, and values as text."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from recframe.errors import dtype_shown


def is_time(dtype: pl.DataType) -> bool:
    """Whether a dtype is of times: dates, datetimes, whole numbers or floats."""
    return dtype in (pl.Date, pl.Datetime) or dtype.is_integer() or dtype.is_float()


def as_text(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return values of any dtype as text, whole numbers without a point and whole seconds without one."""
    if dtype.is_float():
        whole = column.cast(pl.Int64, strict=False)
        return (
            pl.when(whole.cast(dtype) == column)
            .then(whole.cast(pl.String))
            .otherwise(column.cast(pl.String))
        )
    if dtype == pl.Binary:
        return column.bin.encode("hex")
    if dtype == pl.Struct:
        return column.struct.json_encode()
    if dtype == pl.Duration:
        return column.dt.to_string("iso")
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is None:
        # in whatever unit it is, pandas' nanoseconds too
        return column.dt.to_string("%Y-%m-%d %H:%M:%S%.f")
    return column.hash().cast(pl.String) if dtype.is_nested() else column.cast(pl.String)


def text_of(value: object) -> str:
    """Return one value as text, as `as_text` does for a column, such as a numeric model name."""
    if isinstance(value, str):
        return value
    try:
        column = pl.Series("value", [value])
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        return str(value)
    text = column.to_frame().select(as_text(pl.col("value"), column.dtype)).item()
    return str(value) if text is None else str(text)


def common(dtypes: Mapping[str, pl.DataType]) -> pl.DataType | None:
    """Return the dtype in which columns match in value, if there is one."""
    found = [dtype for dtype in dict.fromkeys(dtypes.values()) if dtype != pl.Null]
    if len(found) <= 1:
        return found[0] if found else pl.Int64()
    if all(dtype.is_integer() for dtype in found):
        signed = any(dtype.is_signed_integer() for dtype in found)
        # which Polars 1 does not have
        widest = next((dtype for dtype in found if str(dtype) == "UInt128"), pl.UInt64())
        wide = any(dtype in (pl.UInt64, pl.Int128, widest) for dtype in found)
        return (pl.Int128() if wide else pl.Int64()) if signed else widest
    # a tuple: an Enum's hash is not that of pl.Enum
    if all(dtype in (pl.String, pl.Categorical, pl.Enum) for dtype in found):
        return pl.String()
    return None


def in_frames(dtypes: Mapping[str, pl.DataType]) -> str:
    """Return dtypes with the titles of their frames."""
    found = {title: dtype for title, dtype in dtypes.items() if dtype != pl.Null}
    return ", ".join(f"{dtype_shown(dtype)} in {title}" for title, dtype in found.items())
