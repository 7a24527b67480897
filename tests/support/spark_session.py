"""A session of Spark on this machine, and frames of it."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import shutil
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import polars as pl

import recframe as rf
from frame_kinds import Kind

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.driver.bindAddress": "127.0.0.1",
}


@cache
def session(*, connect: bool = False) -> Any:
    """The session, whose workers read the sources that this process does."""
    sources = str(Path(rf.__file__).parents[1])
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join([sources, os.environ.get("PYTHONPATH", "")])
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession  # noqa: PLC0415  where it is installed

    builder = SparkSession.builder.appName("recframe")
    builder = (
        builder.remote("local[2]") if connect else builder.master("local[2,3]")
    )  # a task may fail twice
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return builder.getOrCreate()


def made(frame: pl.DataFrame) -> Any:
    """A frame of Spark's."""
    return session().createDataFrame(frame.to_arrow())


def read(frame: Any) -> pl.DataFrame:
    """The rows of a frame of Spark's."""
    return pl.DataFrame(frame.toArrow())


def in_a_bucketed_table(frame: Any) -> Any:
    """The rows of a frame of Spark's, in a table that is bucketed by user."""
    name = f"rows_{uuid4().hex}"
    writer = frame.write.bucketBy(4, "user").sortBy("user")
    writer.option("path", str(Path(_tables(), name))).saveAsTable(name)
    return session().table(name)


@cache
def _tables() -> str:
    """A folder for the tables of this process."""
    place = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place


def plan_of(frame: Any) -> str:
    """What Spark tells of how a frame is made."""
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        frame.explain()
    return told.getvalue()


SPARK = Kind("spark", made, read)
