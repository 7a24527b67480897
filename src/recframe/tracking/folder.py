"""A history as a folder of Parquet files, one for each run, which appear whole or not at all."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import polars as pl

from recframe.errors import DataError, RecframeError
from recframe.frames.hints import Either
from recframe.tracking.tracked_run import Run, Table, keys_of

ENDING, UNFINISHED = ".parquet", ".unfinished"
RUNS = f"run-*{ENDING}"
LEFT_AFTER = 3600.0
"""Seconds after which what is unfinished has nobody who writes it."""


def append(place: Path, run: Run) -> None:
    """Write a run, in the place of one of the same key.

    NOTE: it is written beside its place and moved there, which a file system does at once. So a reader sees all of a run or
    none of it, two writers never have a file in common, and of one that is killed a file is left that nobody reads.
    """
    with told(place):
        place.mkdir(parents=True, exist_ok=True)
        _check_own(place, f"*{ENDING}")
        _clean(place)
        whole = place / f"run-{run.key}{ENDING}"
        unfinished = place / f".run-{run.key}-{uuid4().hex}{UNFINISHED}"
        try:
            with unfinished.open("wb") as file:
                run.table().write_parquet(file)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(whole)
        finally:
            unfinished.unlink(missing_ok=True)


def tables(place: Path) -> list[Table]:
    """Return the runs of a folder, those of one schema together."""
    with told(place, "read"):
        # NOTE: the oldest first, so that columns stand in the order in which they came to the history
        paths = sorted(place.glob(RUNS), key=lambda one: (one.stat().st_mtime_ns, one))
        _check_own(place, "[!.]*")
    alike: dict[tuple[tuple[str, pl.DataType], ...], list[Path]] = defaultdict(list)
    for path in paths:
        alike[tuple(_schema(path).items())].append(path)
    return [
        (pl.scan_parquet(some, glob=False), keys_of(list(dict(schema))))
        for schema, some in alike.items()
    ]


def _check_own(place: Path, others: str) -> None:
    """Say so where a folder has other things in it and no run: it is data, or another folder than was meant.

    NOTE: whoever reads the data of a folder as `folder/*.parquet` would read runs that were tracked into it with them.
    """
    found = min((one.name for one in place.glob(others)), default=None)
    if found is not None and not any(place.glob(RUNS)):
        own = Either("history='history.parquet'", "--history history.parquet")
        msg = f"{str(place)!r} is no history: it has {found!r} and no run; a history has a folder of its own, such as {own}"
        raise RecframeError(msg)


def _schema(path: Path) -> dict[str, pl.DataType]:
    try:
        found = dict(pl.read_parquet_schema(path))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(_no_run(path, _reason(error))) from None
    missing = [name for name in ("as_of", "run", "columns", "metric", "k") if name not in found]
    if missing:
        raise DataError(_no_run(path, f"it has no column {missing[0]!r}"))
    return found


def _no_run(path: Path, reason: str) -> str:
    return f"{str(path)!r} is no run of a history that can be read: {reason}; move it elsewhere"


def _clean(place: Path) -> None:
    """Remove what was left unfinished by those who were killed."""
    for path in place.glob(f".run-*{UNFINISHED}"):
        # another process may be faster
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > LEFT_AFTER:
                path.unlink()


@contextmanager
def told(place: Path, what: str = "write") -> Iterator[None]:
    """Say which history cannot be written or read, and why."""
    try:
        yield
    except OSError as error:
        msg = f"cannot {what} the history {str(place)!r}: {_reason(error)}"
        raise RecframeError(msg) from error


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).partition("\n")[0]
