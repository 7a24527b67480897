"""Files read by Spark, and results of it as tables of this process."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import polars as pl

from recframe.cli import files
from recframe.cli.declared import Decorator, declared
from recframe.cli.given import bound, columns_of, scanned
from recframe.cli.readers import ending_of, is_address
from recframe.errors import RecframeError
from recframe.frames.collecting import stream

SPARK, HERE = "spark", "polars"
DEFAULT_MASTER = "local[*]"
_OURS = re.compile(r"recframe\.errors\.\w+: (.*)")
PARQUET = {".parquet", ".pq"}
ENGINE: Decorator = declared(
    click.option(
        "--engine",
        type=click.Choice([HERE, SPARK]),
        default=HERE,
        show_default=True,
        help="What computes: Polars in this process, or Spark, which reads Parquet files itself; its workers need recframe.",
    ),
    click.option(
        "--master",
        metavar="URL",
        help=f"Where Spark is: {DEFAULT_MASTER}, spark://host:7077, yarn, or sc://host of Spark Connect.  "
        f"[default: {DEFAULT_MASTER}]",
    ),
)


def is_on_spark(options: Mapping[str, Any]) -> bool:
    """Return whether Spark is to compute, or say what is missing for it."""
    if options["engine"] != SPARK and options["master"] is not None:
        msg = "--master says where Spark is; add --engine spark"
        raise RecframeError(msg)
    if options["engine"] == SPARK and importlib.util.find_spec("pyspark") is None:
        msg = "--engine spark needs pyspark: pip install 'recframe[spark]'"
        raise RecframeError(msg)
    return bool(options["engine"] == SPARK)


def on_spark(
    paths: dict[str, str], options: dict[str, Any], asked: Any, arguments: dict[str, Any]
) -> pl.DataFrame:
    """Return what Spark evaluates, its rows by their keys as on one machine."""
    with _session(options["master"] or DEFAULT_MASTER) as session, _words_of_failures():
        frames = _read_all(session, paths, options)
        found = pl.DataFrame(bound(frames, options).evaluate(*asked, **arguments).toArrow())
    names, model = {*options["by"]}, columns_of(options).get("model")
    n_keys = len(names) + (model is not None and not names & {model, "model"})
    # users' rows come as buckets are done
    keys = found.columns[:n_keys]
    return found.sort(keys, nulls_last=True) if keys else found


@contextmanager
def _words_of_failures() -> Iterator[None]:
    """Have a task's failure told in the words of the task, without the machine's."""
    from pyspark.errors import PySparkException  # noqa: PLC0415  an extra

    try:
        yield
    except PySparkException as error:
        found = _OURS.search(str(error))
        said = files.first_line(error) if found is None else found.group(1)
        raise RecframeError(said if found else f"Spark fails: {said}") from None


@contextmanager
def _session(master: str) -> Iterator[Any]:
    """Give a session of Spark, which is stopped again unless it was there before."""
    from pyspark.sql import SparkSession  # noqa: PLC0415  an extra

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # one thread for each task, of which Spark runs as many as there are cores
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    there = SparkSession.getActiveSession()
    builder = SparkSession.builder.appName("recframe")
    builder = builder.remote(master) if master.startswith("sc:") else builder.master(master)
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    try:
        yield session
    finally:
        if there is None:
            session.stop()


def _read_all(session: Any, paths: dict[str, str], options: dict[str, Any]) -> dict[str, Any]:
    """Return the files as frames of Spark, which reads Parquet itself; others are read here, where their types are known."""
    parquet = {name: places for name, path in paths.items() if (places := _parquet(path))}
    others = scanned({name: path for name, path in paths.items() if name not in parquet}, options)
    found = {name: session.read.parquet(*places) for name, places in parquet.items()}
    if options["ids_as_text"]:
        columns = columns_of(options)
        ids = {columns.get(role, role) for role in ("user", "item")}
        found = {name: _as_text(frame, ids) for name, frame in found.items()}
    return found | {name: session.createDataFrame(_table(one)) for name, one in others.items()}


def _parquet(path: str) -> list[str]:
    """Return what Spark reads of a path to Parquet files; nothing of others. An address may be one of Spark's alone."""
    if is_address(path):
        return [path] if ending_of(path) in {*PARQUET, ""} else []
    places = files.places(path)
    if any(ending_of(one) not in PARQUET for one in places):
        return []
    # columns that are names of folders are found from the folder on
    return [path] if Path(path).is_dir() else places


def _as_text(frame: Any, ids: set[str]) -> Any:
    """Return a frame with its ids as text."""
    for name in ids.intersection(frame.columns):
        frame = frame.withColumn(name, frame[name].cast("string"))
    return frame


def _table(rows: pl.LazyFrame) -> Any:
    """Return rows as a table of Arrow."""
    from recframe.frames.kinds.plain_tables import table_of  # noqa: PLC0415  pyarrow comes with Spark

    return table_of(stream(rows))
