"""Engines as the command line needs them: a session, Parquet files read as frames, and results as rows of this process."""

from __future__ import annotations

import logging
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import polars as pl

from recframe.errors import RecframeError

DEFAULT_MASTER = "local[*]"


class EngineOfFiles(ABC):
    """An engine that reads Parquet files itself."""

    name = ""
    """What messages call it; in lower case it is the option's value, and the extra."""
    modules: tuple[str, ...] = ()
    """What has to be installed."""

    def check(self) -> None:
        """Say what is not installed."""
        missing = [one for one in self.modules if find_spec(one) is None]
        if missing:
            extra = self.name.lower()
            msg = f"--engine {extra} needs {' and '.join(missing)}: pip install 'recframe[{extra}]'"
            raise RecframeError(msg)

    @contextmanager
    def session(self, master: str | None) -> Iterator[Any]:
        """Give what reads files."""
        del master
        yield None

    @abstractmethod
    def read(self, session: Any, places: Sequence[str], folder: str | None) -> Any:
        """Return Parquet files as a frame; folders below `folder`, such as `week=47`, are columns."""

    @abstractmethod
    def made(self, session: Any, table: Any) -> Any:
        """Return a table of Arrow as a frame."""

    @abstractmethod
    def with_text(self, frame: Any, columns: Collection[str]) -> Any:
        """Return a frame with some columns as text."""

    @abstractmethod
    def rows(self, frame: Any) -> pl.DataFrame:
        """Return the rows of a result."""


class SparkFiles(EngineOfFiles):
    """Spark, on this machine or where --master says."""

    name, modules = "Spark", ("pyspark", "pyarrow")

    @contextmanager
    def session(self, master: str | None) -> Iterator[Any]:
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

    def read(self, session: Any, places: Sequence[str], folder: str | None) -> Any:
        """Return Parquet files as a frame."""
        reader = session.read if folder is None else session.read.option("basePath", folder)
        return reader.parquet(*places)

    def made(self, session: Any, table: Any) -> Any:
        """Return a table of Arrow as a frame."""
        return session.createDataFrame(table)

    def with_text(self, frame: Any, columns: Collection[str]) -> Any:
        """Return a frame with some columns as text."""
        return frame.withColumns({name: frame[name].cast("string") for name in columns})

    def rows(self, frame: Any) -> pl.DataFrame:
        """Return the rows of a result."""
        return pl.DataFrame(frame.toArrow())


class DaskFiles(EngineOfFiles):
    """Dask, on the cluster of DASK_SCHEDULER_ADDRESS, or in threads of this process."""

    name, modules = "Dask", ("dask", "distributed", "pandas", "pyarrow")

    @contextmanager
    def session(self, master: str | None) -> Iterator[Any]:
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

    def read(self, session: Any, places: Sequence[str], folder: str | None) -> Any:
        """Return Parquet files as a frame, in dtypes of Arrow, which change no number that is null somewhere."""
        import dask.dataframe as dd  # noqa: PLC0415  an extra

        del session, folder
        # what pandas wrote as an index is a column to everyone else
        return dd.read_parquet(list(places), index=False, dtype_backend="pyarrow")

    def made(self, session: Any, table: Any) -> Any:
        """Return a table of Arrow as a frame."""
        import dask.dataframe as dd  # noqa: PLC0415  an extra
        import pandas as pd  # noqa: PLC0415  comes with the extra

        del session
        rows = table.to_pandas(types_mapper=pd.ArrowDtype)
        return dd.from_pandas(rows, npartitions=os.cpu_count() or 1, sort=False)

    def with_text(self, frame: Any, columns: Collection[str]) -> Any:
        """Return a frame with some columns as text."""
        return frame.astype(dict.fromkeys(columns, "string[pyarrow]"))

    def rows(self, frame: Any) -> pl.DataFrame:
        """Return the rows of a result."""
        found: pl.DataFrame = pl.from_pandas(frame.compute())
        return found


class DaftFiles(EngineOfFiles):
    """Daft, with its own runner, or the one that DAFT_RUNNER names."""

    name, modules = "Daft", ("daft", "pyarrow")

    @contextmanager
    def session(self, master: str | None) -> Iterator[Any]:
        """Have Daft draw no bar beside the command's, and tell of a failure in no lines of its own."""
        del master
        os.environ.setdefault("DAFT_PROGRESS_BAR", "0")
        logging.getLogger("daft_local_execution").setLevel(logging.CRITICAL)
        yield None

    def read(self, session: Any, places: Sequence[str], folder: str | None) -> Any:
        """Return Parquet files as a frame."""
        import daft  # noqa: PLC0415  an extra

        del session
        return daft.read_parquet(list(places), hive_partitioning=folder is not None)

    def made(self, session: Any, table: Any) -> Any:
        """Return a table of Arrow as a frame."""
        import daft  # noqa: PLC0415  an extra

        del session
        return daft.from_arrow(table)

    def with_text(self, frame: Any, columns: Collection[str]) -> Any:
        """Return a frame with some columns as text."""
        from daft import DataType, col  # noqa: PLC0415  an extra

        return frame.with_columns({name: col(name).cast(DataType.string()) for name in columns})

    def rows(self, frame: Any) -> pl.DataFrame:
        """Return the rows of a result."""
        return pl.DataFrame(frame.to_arrow())


ENGINES = {one.name.lower(): one for one in (SparkFiles(), DaskFiles(), DaftFiles())}
