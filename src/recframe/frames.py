"""Frames in and out: the one place that knows Polars' eager and lazy frames and pandas' frames apart."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from recframe.errors import ColumnError, RecframeError, plan_errors

if TYPE_CHECKING:
    import pandas as pd

Ask = Callable[[list[pl.LazyFrame]], list[pl.DataFrame]]
"""Collects plans together, from which a plan for a large eager frame starts."""
Run = Callable[[pl.LazyFrame], pl.DataFrame]
"""Collects a plan."""
_LARGE = 20_000
_STREAMED = 2_000_000
IS_POLARS_1 = pl.__version__.startswith("1.")
# Polars 1 does not know the dtype of some literals without its optimizer.
_NO_OPTIMIZER = pl.QueryOptFlags() if IS_POLARS_1 else pl.QueryOptFlags.none()


def is_pandas(frame: object) -> bool:
    """Whether a frame is pandas'; pandas is not imported to find out."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(frame, getattr(pandas, "DataFrame", ()))


def is_lazy(frame: object) -> bool:
    """Whether results stay lazy."""
    return isinstance(frame, pl.LazyFrame)


def check(frame: object, name: str) -> None:
    """Say which frames are taken, where something else was given."""
    if not (isinstance(frame, pl.DataFrame | pl.LazyFrame) or is_pandas(frame)):
        kind = f"{type(frame).__module__}.{type(frame).__qualname__}"
        msg = f"{name} is a {kind}; give a polars.DataFrame, a polars.LazyFrame or a pandas.DataFrame"
        raise RecframeError(msg)


def columns(frame: Any) -> list[str]:
    """Return a frame's column names."""
    return frame.collect_schema().names() if is_lazy(frame) else list(frame.columns)


def labels(frame: Any) -> list[str]:
    """Return the names of the columns whose values may be labels: text, categories, whole numbers and Booleans."""
    if is_pandas(frame):
        kinds = {name: _kind(frame[name]) for name in frame.columns if isinstance(name, str) and frame[name].ndim == 1}
        return [name for name, kind in kinds.items() if kind in {"string", "categorical", "integer", "boolean"}]
    text = (pl.String, pl.Categorical, pl.Enum, pl.Boolean)
    return [name for name, dtype in frame.collect_schema().items() if dtype.is_integer() or dtype in text]


def _kind(column: pd.Series[Any]) -> str:
    from pandas.api.types import infer_dtype  # noqa: PLC0415  a pandas frame came in, so it is loaded

    return infer_dtype(column, skipna=True)


def take(frame: Any, named: Mapping[str, str], ids: Iterable[str] = ()) -> pl.LazyFrame | pl.DataFrame:
    """Return some columns of a frame under the names that are the keys of `named`, eagerly where the frame is.

    `ids` are the keys whose values must match those of other frames.
    """
    if is_pandas(frame):
        return pl.DataFrame([_from_pandas(frame, name, inside, inside in ids) for inside, name in named.items()])
    # NOTE: by position, since a column may be named "*" or "^.*$", which pl.col() reads as a pattern.
    places = {name: place for place, name in enumerate(columns(frame))}
    if is_lazy(frame):
        return cast("pl.LazyFrame", frame.select(pl.nth(places[name]).alias(inside) for inside, name in named.items()))
    return pl.DataFrame([frame.to_series(places[name]).alias(inside) for inside, name in named.items()])


def with_own_dtype(frame: pl.LazyFrame | pl.DataFrame, name: str) -> pl.LazyFrame | pl.DataFrame:
    """Return a frame with a column in the dtype that its values show to be meant; those of an eager frame alone can tell.

    Lists of floats of one length become arrays, and empty ones null. Whole numbers in floats become integers, since pandas
    has integers as floats where one is missing.
    """
    dtype, column = frame.collect_schema()[name], pl.col(name)
    if isinstance(frame, pl.LazyFrame):
        return frame
    if isinstance(dtype, pl.List) and dtype.inner.is_float():
        widths = frame[name].list.len().unique().drop_nulls()
        widths = widths.filter(widths > 0)
        present = pl.when(column.list.len() > 0).then(column)
        return frame.with_columns(present.list.to_array(widths[0])) if len(widths) == 1 else frame
    if dtype.is_float():
        numbers = frame[name].drop_nulls().drop_nans()
        whole = bool((numbers == numbers.floor()).all()) and bool(numbers.is_between(-(2**53), 2**53).all())
        return frame.with_columns(column.fill_nan(None).cast(pl.Int64)) if whole else frame
    return frame


def at_hand(frame: pl.LazyFrame | pl.DataFrame) -> pl.DataFrame | None:
    """Return a frame whose data may be looked at before a plan runs; None where it is lazy."""
    return None if isinstance(frame, pl.LazyFrame) else frame


def is_complete(frame: pl.LazyFrame | pl.DataFrame, names: Iterable[str]) -> bool:
    """Whether a frame is known to have no null in some columns; only an eager one knows it."""
    return isinstance(frame, pl.DataFrame) and not any(frame[name].null_count() for name in names)


def _from_pandas(frame: pd.DataFrame, name: str, inside: str, is_id: bool) -> pl.Series:  # noqa: FBT001
    column = frame[name]
    if column.ndim > 1:
        msg = f"the pandas frame has {column.shape[1]} columns named {name!r}; drop or rename all but one"
        raise ColumnError(msg)
    if _is_categorical(column.dtype):
        labels = [str(label) for label in column.cat.categories]
        if not is_id or column.cat.categories.map(lambda label: isinstance(label, str)).all():
            places = pl.Series(column.cat.codes.to_numpy()).cast(pl.Int64)
            return pl.Series(labels, dtype=pl.Enum(labels)).gather(places.replace(-1, None)).alias(inside)
        column = column.astype(column.cat.categories.dtype)
    if column.dtype == object and not len(column):
        return pl.Series(inside, [], dtype=pl.Null)
    try:
        if _is_arrow_list(column.dtype):
            # NOTE: Polars 1.35 frees the values of such a column while it holds it, but not those of a frame.
            converted = pl.from_pandas(column.to_frame(inside)).to_series()
        else:
            converted = (_from_text(column) if _is_arrow_text(column.dtype) else pl.from_pandas(column)).alias(inside)
        if converted.dtype == pl.Binary and column.dtype == object:
            _check_bytes(column)
    except Exception as error:
        msg = (
            f"column {name!r} of the pandas frame cannot go through Arrow ({error}); "
            f"give it one dtype, for example frame[{name!r}] = frame[{name!r}].astype(str)"
        )
        raise ColumnError(msg) from error
    return converted


def _is_arrow_text(dtype: Any) -> bool:
    in_arrow = dtype.pyarrow_dtype if hasattr(dtype, "pyarrow_dtype") else ""
    return str(in_arrow) in {"string", "large_string"} or (dtype == "string" and dtype.storage == "pyarrow")


def _is_arrow_list(dtype: Any) -> bool:
    return "list<" in str(getattr(dtype, "pyarrow_dtype", "")).partition("[")[0]


def _from_text(column: pd.Series[Any]) -> pl.Series:
    """Return a column of text that pandas holds in Arrow.

    NOTE: views share the text, and Arrow makes them four times as fast as Polars does.
    """
    import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415  it holds the column, so it is loaded

    try:
        views = pa.array(column).cast(pa.string_view())
    except (pa.ArrowException, AttributeError):  # an older pyarrow
        return pl.from_pandas(column)
    return cast("pl.Series", pl.from_arrow(views))


def _check_bytes(column: pd.Series[Any]) -> None:
    found = column.dropna().iloc[0]
    if not isinstance(found, bytes):  # Arrow stores a UUID as its bytes, which would come back in its stead
        msg = f"it holds Python objects of the type {type(found).__name__}"
        raise TypeError(msg)


def _is_categorical(dtype: object) -> bool:
    return type(dtype).__name__ == "CategoricalDtype"


def is_large(frame: Any) -> bool:
    """Whether a frame is eager and so large that a question to its data costs less than the plan that does without."""
    return not is_lazy(frame) and len(frame) > _LARGE


def stream(plan: pl.LazyFrame) -> pl.DataFrame:
    """Collect a plan for frames that are lazy or that have many rows."""
    with plan_errors():
        return plan.collect(engine="streaming")


def _run(plan: pl.LazyFrame, size: int) -> pl.DataFrame:
    """Collect a plan for an eager frame of so many rows.

    NOTE: the streaming engine takes longer to start than a plan of two million rows to run, and the optimizer takes longer
    than one of a few thousand.
    """
    if size > _STREAMED:
        return stream(plan)
    with plan_errors():
        optimizations = pl.QueryOptFlags() if size > _LARGE else _NO_OPTIMIZER
        return plan.collect(engine="in-memory", optimizations=optimizations)


def ask(plans: list[pl.LazyFrame]) -> list[pl.DataFrame]:
    """Collect what a plan for a large eager frame starts from."""
    with plan_errors():
        return pl.collect_all(plans, engine="in-memory")


def give(plan: pl.LazyFrame, like: Any, by: Mapping[str, Any]) -> Any:
    """Return a plan's result as the same kind of frame as `like`; `by` has the dtypes that pandas columns had."""
    if is_lazy(like):
        return plan
    result = _run(plan, len(like))
    return _to_pandas(result, by) if is_pandas(like) else result


def rows(frame: Any) -> list[dict[str, Any]] | None:
    """Return the rows of a small result; None for a lazy one."""
    if is_lazy(frame):
        return None
    found: list[dict[str, Any]] = frame.to_dict("records") if is_pandas(frame) else frame.to_dicts()
    return found


def dtype_in_pandas(frame: Any, name: str) -> Any:
    """Return the dtype of a column of a pandas frame; None for any other frame."""
    return frame[name].dtype if is_pandas(frame) else None


def _to_pandas(result: pl.DataFrame, by: Mapping[str, Any]) -> pd.DataFrame:
    # By position and not by name: a column may be named "*", which Polars reads as a pattern.
    frame = result[:, [place for place, name in enumerate(result.columns) if name not in by]].to_pandas()
    for name, dtype in by.items():
        place = result.columns.index(name)
        frame.insert(place, name, _restored(result.to_series(place), dtype))
    if any(_is_categorical(dtype) for dtype in by.values()):
        frame = frame.sort_values(list(by), na_position="last", ignore_index=True, kind="stable")
    return frame


def _restored(column: pl.Series, dtype: Any) -> Any:
    """Return a column in the dtype that it had in pandas, if that holds every value."""
    import pandas as pd  # noqa: PLC0415  a pandas frame came in, so it is loaded

    if _is_categorical(dtype) and isinstance(column.dtype, pl.Enum):
        codes = column.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
        return pd.Series(pd.Categorical.from_codes(codes, dtype=dtype))
    if dtype is None or not _holds(column, dtype):
        return pd.Series(column.to_list()) if column.dtype == pl.Int128 else column.to_pandas()
    if column.null_count() and getattr(dtype, "kind", "") in "iub" and not hasattr(dtype, "na_value"):
        # NumPy's integers and Booleans have no null; pandas' nullable ones of the same size do.
        dtype = "boolean" if dtype.kind == "b" else f"{'U' if dtype.kind == 'u' else ''}Int{dtype.itemsize * 8}"
    return pd.Series(column.to_list(), dtype=dtype)


def _holds(column: pl.Series, dtype: Any) -> bool:
    """Whether a dtype of pandas holds every value; a match with another frame may have made the column wider."""
    import numpy as np  # noqa: PLC0415  pandas is loaded, and NumPy with it

    values = column.drop_nulls()
    if _is_categorical(dtype):
        return set(values.unique().to_list()) <= set(dtype.categories)
    if values.dtype.is_integer() and getattr(dtype, "kind", "") in "iu" and len(values):
        bounds = np.iinfo(getattr(dtype, "numpy_dtype", dtype))
        return bool(values.is_between(int(bounds.min), int(bounds.max)).all())
    return True
