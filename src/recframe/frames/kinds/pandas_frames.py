"""Frames of pandas, read and returned through Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np
import pandas as pd
import polars as pl
from pandas.api.types import infer_dtype, is_bool_dtype, is_complex_dtype, is_numeric_dtype

from recframe.errors import ColumnError, RecframeError
from recframe.frames.kinds.kind import EagerKind, Sources

NUMBERS = ("rank", "score", "relevance", "propensity")
"""Internal columns that are numeric."""
MOST_CATEGORIES = 100_000
"""Most categories for an Enum; Polars takes seconds to build one of a million."""


def series(frame: pd.DataFrame, name: str, inside: str, *, is_id: bool) -> pl.Series:
    """Return a column of a pandas frame under its name inside the plan; an id is to match those of other frames."""
    _check_arrow()
    column = frame[name]
    if column.ndim > 1:
        raise ColumnError(
            f"the pandas frame has {column.shape[1]} columns named {name!r}; drop or rename all but one"
        )
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
        raise ColumnError(
            f"column {name!r} of the pandas frame cannot go through Arrow ({error}); "
            f"give it one dtype, for example {shown} = {cast}"
        ) from error


def _check_arrow() -> None:
    """Say how pyarrow is installed where it is missing or broken."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped]  # noqa: F401, PLC0415  columns go through it
    except ImportError as error:
        msg = "pandas frames need pyarrow, which is not installed; write: pip install 'recframe[pandas]'"
        if getattr(error, "name", None) != "pyarrow":
            msg = f"pandas frames need pyarrow, which is installed and cannot be imported: {error}"
        raise RecframeError(msg) from error


def _read(column: Any, *, is_id: bool = False) -> pl.Series:
    kind = dtype_name(column.dtype)
    if kind == "SparseDtype":
        return _read(column.sparse.to_dense(), is_id=is_id)
    return _of_categories(column, is_id=is_id) if kind in OF_CATEGORIES else _through_arrow(column)


def dtype_name(dtype: object) -> str:
    """Return the name of a dtype's class, which identifies pandas' own dtypes."""
    return type(dtype).__name__


def _through_arrow(column: pd.Series[Any]) -> pl.Series:
    """Return a pandas column as Polars has it; one of missing values alone has no dtype."""
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

    from recframe.frames.kinds.pyarrow_frames import VIEWS_ARE_READ  # noqa: PLC0415  likewise

    if not VIEWS_ARE_READ:
        return pl.from_pandas(column)
    return cast("pl.Series", pl.from_arrow(pa.array(column).cast(pa.string_view())))


def _check_bytes(column: pd.Series[Any]) -> None:
    found = column.dropna().iloc[0]
    # Arrow stores a UUID as its bytes, which would come back in its stead
    if not isinstance(found, bytes):
        raise TypeError(f"it holds Python objects of the type {type(found).__name__}")


def _of_categories(column: pd.Series[Any], *, is_id: bool) -> pl.Series:
    """Return categories as an Enum in their order, with their labels as text; ids that are no text as what they are.

    Ids have to match the plain ones of other frames. So many categories that an Enum of them takes long become text.
    """
    column = in_categories(column)
    if len(column.cat.categories) > len(column):  # an Enum of many takes long
        column = column.cat.remove_unused_categories()
    categories = column.cat.categories
    if not len(categories):
        return pl.Series([None] * len(column), dtype=pl.Null)
    rows = pl.Series(column.cat.codes.to_numpy()).cast(pl.Int64).replace(-1, None)
    if is_id and not all(isinstance(category, str) for category in categories):
        return _read(categories.to_series()).gather(rows)
    labels = labels_of(categories)
    dtype = pl.Enum(labels) if len(labels) <= MOST_CATEGORIES else pl.String()
    return pl.Series(labels, dtype=dtype).gather(rows)


def in_categories(column: Any) -> Any:
    """Return a column with its values as categories, in their order."""
    return column if dtype_name(column.dtype) == "CategoricalDtype" else column.astype("category")


def labels_of(categories: Iterable[Any]) -> list[str]:
    """Return categories as text; where two would read alike, such as 1 and '1', as Python writes them."""
    for write in (str, repr):
        labels = [write(category) for category in categories]
        if len(set(labels)) == len(labels):
            return labels
    raise TypeError("two of its categories read alike")


TEXT = (pl.String, pl.Categorical, pl.Enum)
OF_CATEGORIES = {"CategoricalDtype", "PeriodDtype", "IntervalDtype"}
"""Dtypes that are read as categories: Arrow has no periods and no intervals."""


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
    codes: dict[str, pl.Series] = {}
    for place, source in came.items():
        if source is not None and dtype_name(source.dtype) in OF_CATEGORIES:
            code = _codes(result[place], source)
            codes |= {} if code is None else {place: code.alias(place)}
    in_order = all(isinstance(result.schema[place], pl.Enum) for place in codes)
    result = result.with_columns(codes.values())
    if not in_order:
        result = result.sort(list(came), nulls_last=True, maintain_order=True)
    restored = {
        place: (_of_codes if place in codes else _restored)(result[place], came.get(place))
        for place in places
    }
    frame = pd.DataFrame(restored)
    frame.columns = pd.Index(names)
    return frame


def _codes(values: pl.Series, column: Any) -> pl.Series | None:
    """Return the places of values among the categories of a column, or None where one is not among them."""
    categories = in_categories(column).cat.categories
    if values.dtype in TEXT:
        known = pl.Series(labels_of(categories), dtype=pl.String)
        if isinstance(values.dtype, pl.Enum) and values.dtype.categories.equals(known):
            return values.to_physical().cast(pl.Int64)
        values, places = values.cast(pl.String), pl.int_range(len(known), eager=True)
    else:
        known = values.drop_nulls().unique()
        numbers = categories.get_indexer_for(pd.Index(_restored(known, categories.to_series())))
        places = pl.Series(numbers, dtype=pl.Int64)
    is_known = places >= 0
    known, places = known.filter(is_known), places.filter(is_known)
    codes = values.replace_strict(known, places, default=None, return_dtype=pl.Int64)
    return codes if codes.null_count() == values.null_count() else None


def _of_codes(codes: pl.Series, column: Any) -> pd.Series[Any]:
    """Return a pandas column of categories by their places, as the categories of a column; -1 is none."""
    places, own = codes.fill_null(-1).to_numpy(), in_categories(column)
    found = pd.Series(pd.Categorical.from_codes(places, dtype=own.dtype))
    if own is column:
        return found
    # a missing interval makes ends that are whole numbers floats, as in pandas
    return (
        found.astype(column.dtype) if (places >= 0).all() else pd.Series(pd.array(found.tolist()))
    )


def _restored(values: pl.Series, column: Any) -> Any:
    """Return values in the dtype of the pandas column that they came from, if that holds every one of them."""
    dtype = getattr(column, "dtype", None)
    return values.to_pandas() if dtype is None else _in_dtype(values, dtype)


def _in_dtype(values: pl.Series, dtype: Any) -> Any:
    """Return values as a pandas column of a dtype, or of the nearest that holds their nulls."""
    kind = dtype_name(dtype)
    if kind == "SparseDtype":
        dense = _in_dtype(values, dtype.subtype)
        return dense.astype(dtype) if dense.dtype == dtype.subtype else dense
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
        size = dtype.itemsize * 8
        dtype = {"b": "boolean", "i": f"Int{size}", "u": f"UInt{size}"}[dtype.kind]
    return pd.Series(values.to_list(), dtype=dtype)


def _holds(values: pl.Series, dtype: Any) -> bool:
    """Whether a dtype of pandas holds every value; a match with another frame may have made the column wider."""
    values = values.drop_nulls()
    # values that did not match theirs
    if dtype_name(dtype) in OF_CATEGORIES:
        return not len(values)
    if values.dtype.is_integer() and getattr(dtype, "kind", "") in "iu" and len(values):
        bounds = np.iinfo(getattr(dtype, "numpy_dtype", dtype))
        return bool(values.is_between(int(bounds.min), int(bounds.max)).all())
    return True


SOME = 1_000
"""Rows sampled: mostly enough to show that an object column has no Booleans."""
LABELS = {"string", "categorical", "integer", "boolean"}
"""Inferred pandas types of columns whose values may be labels."""


class Pandas(EagerKind):
    """A pandas.DataFrame."""

    frame: pd.DataFrame

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
        """The names that are text, each of one column."""
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

    def gathered(self, places: pl.Series, beside: pl.DataFrame) -> pd.DataFrame:
        """Return the rows of some places, numbered anew, with more columns beside."""
        rows = self.frame.iloc[places.to_numpy()].reset_index(drop=True)
        more = frame_of(beside, {})
        return rows.assign(**{name: more[name] for name in beside.columns})

    def in_kind(self, result: pl.DataFrame, sources: Sources) -> pd.DataFrame:
        """Return a result with the dtypes of the columns that it came from."""
        return frame_of(result, sources)


def _has_numbers(column: pd.Series[Any]) -> bool:
    """Return whether a column has numbers or Booleans, which pandas holds as objects where one is missing."""
    if column.dtype == object:
        return all(
            infer_dtype(one, skipna=True) == "boolean" for one in (column.head(SOME), column)
        )
    is_plain = not isinstance(column.dtype, pd.CategoricalDtype)
    is_of_numbers = is_numeric_dtype(column.dtype) or is_bool_dtype(column.dtype)
    return is_plain and is_of_numbers and not is_complex_dtype(column.dtype)
