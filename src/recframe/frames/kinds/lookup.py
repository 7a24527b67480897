"""Lookup of a frame's kind, with errors for unsupported objects."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module
from pathlib import PurePath
from typing import Any, Protocol, cast

import polars as pl

from recframe.errors import RecframeError, kind_of, shown
from recframe.frames.collecting import check_threads, stream
from recframe.frames.hints import Either
from recframe.frames.kinds.kind import Kind

OF_ENGINES = ("pyspark.sql.DataFrame", "dask.dataframe.DataFrame")
"""The classes of the frames that engines hold."""
KINDS = {
    "polars.DataFrame": "frames.kinds.kind.EagerPolars",
    "polars.LazyFrame": "frames.kinds.kind.LazyPolars",
    "pandas.DataFrame": "frames.kinds.pandas_frames.Pandas",
    "pyarrow.Table": "frames.kinds.pyarrow_frames.Arrow",
    "pyspark.DataFrame": "engines.spark_frames.SparkFrame",
    "dask.DataFrame": "engines.dask_frames.DaskFrame",
}
"""The kinds of the frames of libraries, by their path below recframe."""
READERS = {
    ".parquet": "pl.scan_parquet({})",
    ".csv": "pl.scan_csv({})",
    ".tsv": "pl.scan_csv({}, separator='\\t')",
    ".arrow": "pl.scan_ipc({})",
    ".ipc": "pl.scan_ipc({})",
    ".feather": "pl.scan_ipc({})",
    ".jsonl": "pl.scan_ndjson({})",
    ".ndjson": "pl.scan_ndjson({})",
    ".json": "pl.read_json({})",
    ".qrels": "rf.scan_trec_qrels({})",
    ".run": "rf.scan_trec_run({})",
}
"""The calls that read files, by the files' suffixes."""
OF_COLUMNS = ", with columns of users, items and ranks or scores: pl.DataFrame({...})"
"""How lists, dictionaries and arrays become recommendations."""


class ArrowStream(Protocol):
    """Frame of any library that exports Arrow's PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Give the columns as a stream."""


def kind_for(frame: Any, title: object = "the frame", of_values: str = OF_COLUMNS) -> Kind:
    """Return a frame's kind, or raise an error that lists the supported frames.

    `of_values` are the words on how a list, a dictionary or an array becomes this frame.
    """
    found = kind_of_class(type(frame))  # type: ignore[arg-type]  # a class can be hashed
    if found is None:
        loaded = "".join(f", a {one}" for one in OF_ENGINES if _is_loaded(one))
        taken = (
            f"a polars.DataFrame, a polars.LazyFrame, a pandas.DataFrame{loaded} or an Arrow table"
        )
        msg = f"{title} is {kind_of(frame)}; give {taken}{_made_a_frame(frame, of_values)}"
        raise RecframeError(msg)
    return found(frame)


def collected(frame: Any, title: str = "the frame") -> pl.DataFrame:
    """Return the rows of a small frame of any kind; the plan of a LazyFrame runs, and that of an engine's frame."""
    kind = kind_for(frame, title)
    if kind.engine is not None:
        return pl.DataFrame(kind.engine.read(frame, kind.columns))
    return stream(kind.take({name: name for name in kind.columns}).lazy())


def is_frame(thing: object) -> bool:
    """Whether an object is a supported frame."""
    return _kind_of(thing) is not None or _is_stream(thing)


def in_memory(thing: Any, title: str = "the frame") -> Any:
    """Return a frame that is known by Arrow's interface alone as a frame of Polars, and anything else as it is.

    NOTE: what is bound is read several times, and a stream can be read once, a query costs anew each time. So it is read
    here, where it is bound. It becomes a frame of Polars, since that needs no other library and has the same interface.
    """
    if _kind_of(thing) is not None or not _is_stream(thing):
        return thing
    check_threads()
    try:
        found = pl.DataFrame(thing)
    except Exception as error:
        msg = f"{title} is {kind_of(thing)}, which gives no table through Arrow's interface ({error}); give a frame of columns"
        raise RecframeError(msg) from error
    if found.is_empty() and not hasattr(thing, "columns"):
        msg = (
            f"{title} is {kind_of(thing)} without rows; a stream can be read only once: first hold it in memory, as a "
            "pyarrow.Table or a polars.DataFrame"
        )
        raise RecframeError(msg)
    return found


def _is_stream(thing: object) -> bool:
    """Whether something gives a table through Arrow's interface; a column does too, and has a dtype of its own."""
    if not hasattr(thing, "__arrow_c_stream__"):
        return False
    is_column = hasattr(thing, "dtype") or hasattr(thing, "type")
    return hasattr(thing, "columns") or not is_column


def _kind_of(thing: object) -> type[Kind] | None:
    return kind_of_class(type(thing))  # type: ignore[arg-type]  # a class can be hashed


@cache
def kind_of_class(frame_class: type) -> type[Kind] | None:
    """Return the kind of a class or of one that it is made from; a frame of recframe's own says it itself.

    NOTE: a file is imported for a frame of its own library alone, which is then loaded, so that no kind costs anything
    where it is not used.
    """
    for base in frame_class.__mro__:
        library = base.__module__.partition(".")[0]
        path, _, name = KINDS.get(f"{library}.{base.__name__}", "").rpartition(".")
        if name:
            return cast("type[Kind]", getattr(import_module(f"recframe.{path}"), name))
        if "KIND" in vars(base):
            return cast("type[Kind]", vars(base)["KIND"])
    return None


def _is_loaded(frame_class: str) -> bool:
    """Whether the library of an engine's frames is loaded, as it is where there is one."""
    return frame_class.rpartition(".")[0] in sys.modules


def _made_a_frame(thing: Any, of_values: str) -> str:
    """Return how something else becomes a frame, where that is known."""
    library, kind = type(thing).__module__.partition(".")[0], type(thing).__name__
    if _is_stream(thing):
        return str(Either(": rf.rec(frame) reads it"))
    if isinstance(thing, str | os.PathLike):
        return _read_from(os.fsdecode(thing))
    known = {
        "recframe": ", not what recframe makes of it",
        "NamedFrame": str(Either(", and name its columns in the call: rf.rec(frame, user='...')")),
        "pyarrow": ": one column of a table is none",
        "Column": ": one column of a table is none",
        "Series": ": series.reset_index()" if library == "pandas" else ": series.to_frame()",
    }
    rows = ": spark.createDataFrame(rdd, ['user', 'item', 'rank'])"
    known |= dict.fromkeys(("RDD", "PipelinedRDD"), rows)
    known |= dict.fromkeys(("list", "dict", "ndarray"), of_values)
    if "Group" in kind:
        return ": the one that was grouped, with the groups as by='...'"
    return known.get(kind) or known.get(library, "")


def _read_from(path: str) -> str:
    """Return how the file of a path is read, by its suffix."""
    for suffix in reversed(PurePath(path).suffixes):  # that of data.csv.gz is before the last
        if call := READERS.get(suffix.lower()):
            return f", not a path: {call.format(shown(path))}"
    or_table = ", or a table's name: spark.table(name)" if _is_loaded(OF_ENGINES[0]) else ""
    return f", not a path: pl.scan_parquet(path), pl.scan_csv(path){or_table}"
