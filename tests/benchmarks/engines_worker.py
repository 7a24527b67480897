"""Roads with a session of Spark, or with none: `python engines_worker.py sql_road FOLDER 10 SETTINGS` runs those it is told to.

An answer has the seconds from the Parquet files to the numbers, the numbers, the CPU seconds of all its processes, what Spark
wrote to shuffles, and the peak memory of a process of Python that works for Spark.
"""

from __future__ import annotations

import contextlib
import http.client
import importlib
import json
import os
import re
import sys
import time
import urllib.request
from functools import cache
from pathlib import Path
from typing import Any

import served

TICKS = os.sysconf("SC_CLK_TCK")
Stages = list[dict[str, Any]]


def main(module: str, folder: str, k: str, settings: str) -> None:
    answer = served.channel()
    sys.path.append(str(Path(__file__).parent / "roads" / "engines"))
    roads = importlib.import_module(module)
    versions = served.versions(roads.DISTRIBUTIONS)
    told = {
        name: {"metrics": road.metrics, "universe": road.universe, "on_spark": road.on_spark}
        for name, road in roads.ROADS.items()
    }

    def run(name: str) -> dict[str, Any]:
        road = roads.ROADS[name]
        session = _session(settings) if road.on_spark else None
        return measured(road.run, session, Path(folder), int(k))

    served.serve(answer, {"versions": versions, "roads": told}, run)


@cache
def _session(settings: str) -> Any:
    from pyspark.sql import SparkSession  # noqa: PLC0415  not every road has it

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName("engines")
    for name, value in json.loads(settings).items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("ERROR")
    return found


def measured(run: Any, session: Any, folder: Path, k: int) -> dict[str, Any]:
    stages = len(_stages(session))
    before, start = _cpu_seconds(), time.perf_counter()
    numbers = run(session, folder, k)
    seconds = time.perf_counter() - start
    # a worker that Spark has ended meanwhile, as it was idle, takes its seconds along
    used = sum(cpu - before.get(one, 0) for one, cpu in _cpu_seconds().items())
    written = _stages(session)[stages:]
    return {
        "seconds": seconds,
        "cpu_seconds": used,
        "numbers": [float(one) for one in numbers],
        "shuffle_bytes": sum(one["shuffleWriteBytes"] for one in written),
        "shuffle_records": sum(one["shuffleWriteRecords"] for one in written),
        "stages": len(written),
        "python_peak_bytes": max(_peaks(), default=0),
    }


def _stages(session: Any) -> Stages:
    """Return the stages that have run so far, the oldest first, as Spark's own page tells of them."""
    if session is None:
        return []
    context = session.sparkContext
    time.sleep(0.2)  # what ran is written down a moment later
    page = re.sub(r"//[^:/]+", "//localhost", context.uiWebUrl)
    page += f"/api/v1/applications/{context.applicationId}/stages?status=complete"
    return sorted(_page(page), key=lambda one: one["stageId"])


def _page(address: str, attempts: int = 5) -> Stages:
    """Return a page of this process' own Spark, which on a busy machine gives up on some answers."""
    try:
        with urllib.request.urlopen(address) as found:  # noqa: S310  of this process
            stages: Stages = json.loads(found.read())
            return stages
    except (OSError, http.client.HTTPException):
        if attempts == 1:
            raise
    time.sleep(1)
    return _page(address, attempts - 1)


def _processes() -> dict[int, list[str]]:
    """Return this process and all below it, with the fields of their status."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            text = path.read_text(encoding="utf-8", errors="replace")
            found[int(path.parent.name)] = text.rpartition(")")[2].split()
    below = {os.getpid()}
    while more := {one for one, fields in found.items() if int(fields[1]) in below} - below:
        below |= more
    return {one: found[one] for one in below}


def _cpu_seconds() -> dict[int, float]:
    """Return the seconds that each of these processes has used of all processors, with those it has waited for."""
    return {one: sum(map(int, fields[11:15])) / TICKS for one, fields in _processes().items()}


def _peaks() -> list[int]:
    """Return the peak of resident memory of each worker of Spark's, in bytes."""
    found = []
    for one in _processes():
        with contextlib.suppress(OSError):  # it has ended
            if b"pyspark.daemon" in Path(f"/proc/{one}/cmdline").read_bytes():
                found.append(served.status("VmHWM", one))
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
