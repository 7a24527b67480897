"""Engines of the command line: sessions, and files as their frames."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import polars as pl

from recframe.errors import RecframeError

DEFAULT_MASTER = "local[*]"


@dataclass(frozen=True)
class EngineOfFiles:
    """Engine that reads Parquet files itself."""

    name: str
    """Its name in messages; in lower case it is the option's value, and the extra."""
    modules: tuple[str, ...]
    """The modules that it needs."""
    session: Callable[[str | None], AbstractContextManager[Any]]
    """Opens a session where --master says."""
    read: Callable[[Any, Sequence[str], str | None], Any]
    """Reads Parquet files in a session; folders below a given one, such as `week=47`, are columns."""
    made: Callable[[Any, Any], Any]
    """Makes a frame of a table of Arrow."""
    with_text: Callable[[Any, Collection[str]], Any]
    """Casts some columns to text."""
    rows: Callable[[Any], pl.DataFrame]
    """Collects the rows of a result."""

    def check(self) -> None:
        """Raise an error for missing modules."""
        missing = [module for module in self.modules if find_spec(module) is None]
        if missing:
            extra = self.name.lower()
            msg = f"--engine {extra} needs {' and '.join(missing)}: pip install 'recframe[{extra}]'"
            raise RecframeError(msg)


@contextmanager
def _spark(master: str | None) -> Iterator[Any]:
    """Give a session, which is stopped again unless it was there before."""
    from pyspark.sql import SparkSession  # noqa: PLC0415  an extra

    place = master or DEFAULT_MASTER
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # one thread for each task, of which Spark runs as many as there are cores
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    there = SparkSession.getActiveSession()
    builder = SparkSession.builder.appName("recframe")
    builder = builder.remote(place) if place.startswith("sc:") else builder.master(place)
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    try:
        yield session
    finally:
        if there is None:
            session.stop()


def _read_by_spark(session: Any, places: Sequence[str], folder: str | None) -> Any:
    reader = session.read if folder is None else session.read.option("basePath", folder)
    return reader.parquet(*places)


@contextmanager
def _dask(master: str | None) -> Iterator[Any]:
    """Give a client of the cluster that Dask's own settings name, or none."""
    import dask  # noqa: PLC0415  an extra

    del master
    address = dask.config.get("scheduler-address", None)
    if address is None:
        yield None
        return
    from distributed import Client  # noqa: PLC0415  an extra

    with Client(address) as client:
        yield client


def _made_by_dask(_: object, table: Any) -> Any:
    import pandas as pd  # noqa: PLC0415  comes with the extra

    rows = table.to_pandas(types_mapper=pd.ArrowDtype)
    frames = import_module("dask.dataframe")
    return frames.from_pandas(rows, npartitions=os.cpu_count() or 1, sort=False)


@contextmanager
def _daft(master: str | None) -> Iterator[Any]:
    """Have Daft draw no bar beside the command's, and tell of a failure in no lines of its own."""
    del master
    os.environ.setdefault("DAFT_PROGRESS_BAR", "0")
    logging.getLogger("daft_local_execution").setLevel(logging.CRITICAL)
    yield import_module("daft")


def _text_in_daft(frame: Any, columns: Collection[str]) -> Any:
    from daft import DataType, col  # noqa: PLC0415  an extra

    return frame.with_columns({name: col(name).cast(DataType.string()) for name in columns})


ENGINES = {
    "spark": EngineOfFiles(
        "Spark",
        ("pyspark", "pyarrow"),
        _spark,
        read=_read_by_spark,
        made=lambda session, table: session.createDataFrame(table),
        with_text=lambda frame, columns: frame.withColumns(
            {name: frame[name].cast("string") for name in columns}
        ),
        rows=lambda frame: pl.DataFrame(frame.toArrow()),
    ),
    "dask": EngineOfFiles(
        "Dask",
        ("dask", "distributed", "pandas", "pyarrow"),
        _dask,
        # dtypes of Arrow change no number that is null somewhere; an index of pandas is a column to everyone else
        read=lambda _session, places, _folder: import_module("dask.dataframe").read_parquet(
            list(places), index=False, dtype_backend="pyarrow"
        ),
        made=_made_by_dask,
        with_text=lambda frame, columns: frame.astype(dict.fromkeys(columns, "string[pyarrow]")),
        rows=lambda frame: pl.from_pandas(frame.compute()),
    ),
    "daft": EngineOfFiles(
        "Daft",
        ("daft", "pyarrow"),
        _daft,
        read=lambda daft, places, folder: daft.read_parquet(
            list(places), hive_partitioning=folder is not None
        ),
        made=lambda daft, table: daft.from_arrow(table),
        with_text=_text_in_daft,
        rows=lambda frame: pl.DataFrame(frame.to_arrow()),
    ),
}
