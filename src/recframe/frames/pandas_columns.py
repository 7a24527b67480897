"""Columns of pandas frames as Polars' series."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import numpy as np
import pandas as pd
import polars as pl

from recframe.errors import ColumnError, RecframeError

NUMBERS = ("rank", "score", "relevance", "propensity")
"""The columns inside a plan that are numbers."""
MOST_CATEGORIES = 100_000
"""Of so many an Enum is made; Polars' Enum of a million takes seconds."""


def series(frame: pd.DataFrame, name: str, inside: str, *, is_id: bool) -> pl.Series:
    """Return a column of a pandas frame under its name inside the plan; an id is to match those of other frames."""
    _check_arrow()
    column = frame[name]
    if column.ndim > 1:
        msg = f"the pandas frame has {column.shape[1]} columns named {name!r}; drop or rename all but one"
        raise ColumnError(msg)
    try:
        return _read(column, is_id=is_id).alias(inside)
    except Exception as error:
        shown = f"frame[{name!r}]"
        cast = f"{shown}.astype('string')"
        if inside in NUMBERS:
            cast = (
                f"{shown}.astype(float)"
                if getattr(column.dtype, "kind", "") == "f"
                else f"pd.to_numeric({shown})"
            )
        msg = (
            f"column {name!r} of the pandas frame cannot go through Arrow ({error}); "
            f"give it one dtype, for example {shown} = {cast}"
        )
        raise ColumnError(msg) from error


def _check_arrow() -> None:
    try:
        import pyarrow as pa  # type: ignore[import-untyped]  # noqa: F401, PLC0415  columns go through it
    except ImportError as error:
        msg = "pandas frames need pyarrow, which is not installed; write: pip install 'recframe[pandas]'"
        if getattr(error, "name", None) != "pyarrow":
            msg = f"pandas frames need pyarrow, which is installed and cannot be imported: {error}"
        raise RecframeError(msg) from error


def _read(column: pd.Series[Any], *, is_id: bool = False) -> pl.Series:
    readers: dict[str, Callable[..., pl.Series]] = {
        "SparseDtype": lambda: _read(_dense(column), is_id=is_id),
        "CategoricalDtype": lambda: _of_categories(column, is_id=is_id),
        "PeriodDtype": lambda: _of_periods(column),
        "IntervalDtype": lambda: _of_intervals(column),
    }
    reader = readers.get(dtype_name(column.dtype))
    return _through_arrow(column) if reader is None else reader()


def _dense(column: Any) -> pd.Series[Any]:
    dense: pd.Series[Any] = column.sparse.to_dense()
    return dense


def dtype_name(dtype: object) -> str:
    """Return the name of a dtype's class, by which pandas' own dtypes are told apart."""
    return type(dtype).__name__


def _through_arrow(column: pd.Series[Any]) -> pl.Series:
    if _is_arrow_text(column.dtype):
        return _from_text(column)
    if _is_arrow_list(column.dtype):
        # NOTE: Polars 1.35 frees the values of such a column while it holds it, but not those of a frame.
        return pl.from_pandas(column.to_frame("values")).to_series()
    # An empty column has no values to tell a dtype from, and so has one of missing values alone.
    converted = pl.from_pandas(column) if len(column) else pl.Series(dtype=pl.Null)
    if column.dtype != object:
        return converted if len(column) else pl.from_pandas(column)
    if converted.null_count() == len(converted):
        return pl.Series([None] * len(converted), dtype=pl.Null)
    if converted.dtype == pl.Binary:
        _check_bytes(column)
    return converted


def _is_arrow_text(dtype: Any) -> bool:
    in_arrow = dtype.pyarrow_dtype if hasattr(dtype, "pyarrow_dtype") else ""
    return str(in_arrow) in {"string", "large_string"} or (
        dtype == "string" and dtype.storage == "pyarrow"
    )


def _is_arrow_list(dtype: Any) -> bool:
    return "list<" in str(getattr(dtype, "pyarrow_dtype", "")).partition("[")[0]


def _from_text(column: pd.Series[Any]) -> pl.Series:
    """Return a column of text that pandas holds in Arrow.

    NOTE: views share the text, and Arrow makes them four times as fast as Polars does.
    """
    import pyarrow as pa  # noqa: PLC0415  it holds the column, so it is loaded

    from recframe.frames.kinds.plain_tables import VIEWS_ARE_READ  # noqa: PLC0415  likewise

    if not VIEWS_ARE_READ:
        return pl.from_pandas(column)
    return cast("pl.Series", pl.from_arrow(pa.array(column).cast(pa.string_view())))


def _check_bytes(column: pd.Series[Any]) -> None:
    found = column.dropna().iloc[0]
    # Arrow stores a UUID as its bytes, which would come back in its stead
    if not isinstance(found, bytes):
        msg = f"it holds Python objects of the type {type(found).__name__}"
        raise TypeError(msg)


def _of_periods(column: pd.Series[Any]) -> pl.Series:
    """Return periods as their numbers, in a struct that bears the frequency, so that no other one matches them."""
    return _of_parts({str(column.dtype): pl.Series(pd.PeriodIndex(column).asi8)}, column)


def _of_intervals(column: pd.Series[Any]) -> pl.Series:
    """Return intervals as their ends, in the order of pandas: by the left one, then by the right one."""
    left, right = (_read(end.to_series()) for end in (column.array.left, column.array.right))
    return _of_parts(dict(zip(ends_of(column.dtype), (left, right), strict=True)), column)


def ends_of(dtype: Any) -> tuple[str, str]:
    """Return the names of the ends of intervals, with their brackets."""
    opens, closes = (
        "[" if dtype.closed in {"left", "both"} else "(",
        "]" if dtype.closed in {"right", "both"} else ")",
    )
    return f"{opens}left", f"right{closes}"


def _of_parts(parts: Mapping[str, pl.Series], column: pd.Series[Any]) -> pl.Series:
    present = pl.Series("present", column.notna().to_numpy())
    values = pl.DataFrame([one.alias(name) for name, one in parts.items()]).to_struct("value")
    return pl.DataFrame([present, values]).select(pl.when("present").then("value")).to_series()


def _of_categories(column: pd.Series[Any], *, is_id: bool) -> pl.Series:
    """Return categories as an Enum in their order, with their labels as text; ids that are no text as what they are.

    Ids have to match the plain ones of other frames. So many categories that an Enum of them takes long become text.
    """
    codes, kept = column.cat.codes.to_numpy(), kept_categories(column)
    categories = column.cat.categories[kept]
    if not len(categories):
        return pl.Series([None] * len(column), dtype=pl.Null)
    places = (
        codes.astype(np.int64)
        if len(kept) == len(column.cat.categories)
        else np.searchsorted(kept, codes)
    )
    rows = pl.Series(np.where(codes < 0, -1, places)).replace(-1, None)
    if is_id and not all(isinstance(one, str) for one in categories):
        return _read(categories.to_series()).gather(rows)
    labels = labels_of(categories)
    return pl.Series(
        labels, dtype=pl.Enum(labels) if len(labels) <= MOST_CATEGORIES else pl.String
    ).gather(rows)


def kept_categories(column: pd.Series[Any]) -> Any:
    """Return which categories are taken: all of them, unless there are more than rows or very many."""
    n_categories = len(column.cat.categories)
    if n_categories <= min(len(column), MOST_CATEGORIES):
        return np.arange(n_categories)
    used = np.unique(column.cat.codes.to_numpy())
    return used[used >= 0]


def labels_of(categories: Iterable[Any]) -> list[str]:
    """Return categories as text; where two would read alike, such as 1 and '1', as Python writes them."""
    for write in (str, repr):
        labels = [write(one) for one in categories]
        if len(set(labels)) == len(labels):
            return labels
    msg = "two of its categories read alike"
    raise TypeError(msg)
