"""Collection of plans by the fastest engine for their size."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import polars as pl

from recframe.errors import END, START, DataError, RecframeError

_PROCESS = Path("/proc/self")
_FORKED = 0x40
"""Process flag PF_FORKNOEXEC of Linux: forked, without a later exec."""
_MARKS = 6
"""Index of the flags in `stat`, counted after the program's name."""
_MOST_SIGNS = 15
"""Characters of a thread's name that Linux keeps."""
_PATIENCE = 1.0
"""Seconds for started threads to take their names."""


@cache
def check_threads() -> None:
    """Reject a forked process in which queries would deadlock; the check runs once per process.

    NOTE: Polars starts its threads where it is asked how many it has, unless it has started them, or believes to have. It is
    asked in forked processes alone: elsewhere they are started by a query, and processes that are forked before work.
    """
    if _is_forked() and not _has_threads():
        msg = (
            "this process was forked from one in which Polars had started its threads; a fork does not copy them, so a "
            "query would wait for ever: start processes with multiprocessing.get_context('spawn'), workers of a data loader "
            "with multiprocessing_context='spawn', or fork them before the first query"
        )
        raise RecframeError(msg)


if hasattr(os, "register_at_fork"):  # which Windows does not have
    os.register_at_fork(after_in_child=check_threads.cache_clear)


def _is_forked() -> bool:
    """Return whether the process began with a fork, and False where nothing tells, as elsewhere than on Linux."""
    try:
        state = (_PROCESS / "stat").read_text(encoding="utf-8", errors="replace")
        return bool(int(state.rpartition(")")[2].split()[_MARKS]) & _FORKED)
    except (OSError, ValueError, IndexError):
        return False


def _has_threads() -> bool:
    """Return whether Polars' threads are in this process."""
    n_threads = pl.thread_pool_size()
    first = f"{os.environ.get('POLARS_THREAD_NAME', 'polars')}-0"[:_MOST_SIGNS]
    end = time.monotonic() + _PATIENCE
    while True:
        names = []
        for thread in (_PROCESS / "task").iterdir():
            with suppress(OSError):  # it has ended
                names.append(
                    (thread / "comm").read_text(encoding="utf-8", errors="replace").strip()
                )
        # with fewer threads they are not there: they and the process' own would be more
        if first in names or len(names) <= n_threads or time.monotonic() > end:
            return first in names
        time.sleep(0.001)


Ask = Callable[[list[pl.LazyFrame]], list[pl.DataFrame]]
"""Type of functions that collect precomputed plans together."""
Collect = Callable[[pl.LazyFrame], pl.DataFrame]
"""Type of functions that collect a plan."""
LARGE = 20_000
_STREAMED = 2_000_000
IS_POLARS_1 = pl.__version__.startswith("1.")
# Polars 1 does not know the dtype of some literals without its optimizer.
_NO_OPTIMIZER = pl.QueryOptFlags() if IS_POLARS_1 else pl.QueryOptFlags.none()


@contextmanager
def plan_errors() -> Iterator[None]:
    """Turn the Polars error of a failed check into a DataError with the check's own words."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        found = re.search(f"{re.escape(START)}(.*?){re.escape(END)}", str(error), re.DOTALL)
        if found is None:
            raise
        raise DataError(found.group(1)) from None


def stream(plan: pl.LazyFrame) -> pl.DataFrame:
    """Collect a plan for frames that are lazy or that have many rows."""
    check_threads()
    with plan_errors():
        return plan.collect(engine="streaming")


def stream_all(plans: list[pl.LazyFrame]) -> list[pl.DataFrame]:
    """Collect plans of large frames together."""
    check_threads()
    with plan_errors():
        return pl.collect_all(plans, engine="streaming")


def run_by_size(plan: pl.LazyFrame, size: int) -> pl.DataFrame:
    """Collect a plan with the engine that suits an eager frame's number of rows.

    NOTE: the streaming engine takes longer to start than a plan of two million rows to run, and the optimizer takes longer
    than one of a few thousand.
    """
    if size > _STREAMED:
        return stream(plan)
    if size <= LARGE:
        return run_as_it_is(plan)
    with plan_errors():
        return plan.collect(engine="in-memory")


def run_all_by_size(plans: list[pl.LazyFrame], size: int) -> list[pl.DataFrame]:
    """Collect plans together, by the engine that suits the number of rows."""
    if len(plans) == 1:
        return [run_by_size(plans[0], size)]
    return (stream_all if size > _STREAMED else ask)(plans)


def run_as_it_is(plan: pl.LazyFrame) -> pl.DataFrame:
    """Collect a plan without optimizations, which cost more than they save on small frames."""
    with plan_errors():
        return plan.collect(engine="in-memory", optimizations=_NO_OPTIMIZER)


def ask(plans: list[pl.LazyFrame]) -> list[pl.DataFrame]:
    """Collect the precomputed plans of a large eager frame."""
    with plan_errors():
        return pl.collect_all(plans, engine="in-memory")
