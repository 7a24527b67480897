"""Frames in and out: the one place that knows Polars' eager and lazy frames and pandas' frames apart."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from recframe.errors import RecframeError, kind_of
from recframe.frames import pandas_columns
from recframe.frames.collecting import LARGE, Collect, run_by_size

if TYPE_CHECKING:
    import pandas as pd


def is_pandas(frame: object) -> bool:
    """Whether a frame is pandas'; pandas is not imported to find out."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(frame, getattr(pandas, "DataFrame", ()))


def is_lazy(frame: object) -> bool:
    """Whether results stay lazy."""
    return isinstance(frame, pl.LazyFrame)


def is_frame(thing: object) -> bool:
    """Whether something is a frame that is taken."""
    return isinstance(thing, pl.DataFrame | pl.LazyFrame) or is_pandas(thing)


def eager(taken: Mapping[str, pl.LazyFrame | pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Return those of some frames that are eager."""
    return {name: frame for name, frame in taken.items() if isinstance(frame, pl.DataFrame)}


def check(frame: object, name: str) -> None:
    """Say which frames are taken, where something else was given."""
    if not is_frame(frame):
        msg = f"{name} is {kind_of(frame)}; give a polars.DataFrame, a polars.LazyFrame or a pandas.DataFrame"
        raise RecframeError(msg + _made_a_frame(frame))


def _made_a_frame(thing: Any) -> str:
    """Return how something else becomes a frame, where that is known."""
    library, kind = type(thing).__module__.partition(".")[0], type(thing).__name__
    known = {
        "recframe": ", not what recframe makes of it",
        "pyarrow": ": pl.from_arrow(table)",
        "pyspark": ": spark_frame.toPandas()",
        "Series": ": series.reset_index()" if library == "pandas" else ": series.to_frame()",
        "str": ", not a path: pl.scan_parquet(path), pl.scan_csv(path)",
    }
    known |= dict.fromkeys(
        ("list", "dict", "ndarray"), ", with a column for each of user, item and what is known of both: pl.DataFrame({...})"
    )
    if "GroupBy" in kind:
        return ": the one that was grouped, with the groups as by='...'"
    return known.get(library) or known.get(kind, "")


def columns(frame: Any) -> list[str]:
    """Return a frame's column names."""
    return frame.collect_schema().names() if is_lazy(frame) else list(frame.columns)


def index_names(frame: Any) -> list[object]:
    """Return the names of a pandas frame's index; no other frame has one."""
    return [name for name in frame.index.names if name is not None] if is_pandas(frame) else []


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


def take(
    frame: Any, named: Mapping[str, str], ids: Iterable[str] = (), numbers: Iterable[str] = ()
) -> pl.LazyFrame | pl.DataFrame:
    """Return some columns of a frame under the names that are the keys of `named`, eagerly where the frame is.

    `ids` are the keys whose values must match those of other frames. NaN comes as null, which pandas' floats cannot tell
    from it, but for those `numbers` of which whoever reads them says what NaN is.
    """
    if is_pandas(frame):
        series = (pandas_columns.series(frame, name, inside, is_id=inside in ids) for inside, name in named.items())
        return pl.DataFrame([_without_nan(column, numbers) for column in series])
    # NOTE: by position, since a column may be named "*" or "^.*$", which pl.col() reads as a pattern.
    places = {name: place for place, name in enumerate(columns(frame))}
    if not is_lazy(frame):
        taken = (frame.to_series(places[name]).alias(inside) for inside, name in named.items())
        return pl.DataFrame([_without_nan(column, numbers) for column in taken])
    dtypes = frame.collect_schema().dtypes()
    found = {inside: pl.nth(places[name]) for inside, name in named.items()}
    floats = {inside for inside, name in named.items() if dtypes[places[name]].is_float()}.difference(numbers)
    chosen = ((column.fill_nan(None) if inside in floats else column).alias(inside) for inside, column in found.items())
    return cast("pl.LazyFrame", frame.select(chosen))


def _without_nan(column: pl.Series, numbers: Iterable[str]) -> pl.Series:
    """Return a column with null for NaN.

    NOTE: a sum is NaN where a number is, and is had in less time than a mask.
    """
    if not column.dtype.is_float() or column.name in numbers or not math.isnan(column.sum()):
        return column
    return column.fill_nan(None)


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


def is_large(frame: Any) -> bool:
    """Whether a frame is eager and so large that a question to its data costs less than the plan that does without."""
    return not is_lazy(frame) and len(frame) > LARGE


def give(
    plan: pl.LazyFrame, like: Any, by: Mapping[str, Any], seen: Callable[[pl.DataFrame, Collect], object] | None = None
) -> Any:
    """Return a plan's result as the same kind of frame as `like`; `by` has the pandas columns that its columns came from.

    `seen` is called with the result where it was collected, and with what collects further plans.
    """
    if is_lazy(like):
        return plan
    result = run_by_size(plan, len(like))
    if seen is not None:
        seen(result, lambda plan: run_by_size(plan, len(like)))
    return pandas_columns.frame_of(result, by) if is_pandas(like) else result


def rows(frame: Any) -> list[dict[str, Any]] | None:
    """Return the rows of a small result; None for a lazy one."""
    if is_lazy(frame):
        return None
    found: list[dict[str, Any]] = frame.to_dict("records") if is_pandas(frame) else frame.to_dicts()
    return found


def in_pandas(frame: Any, name: str) -> pd.Series[Any] | None:
    """Return a column of a pandas frame; None for any other frame."""
    return frame[name] if is_pandas(frame) else None
