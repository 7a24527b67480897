"""Plans collected: by the engine that is the fastest for their size, and questions to large eager frames."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from recframe.errors import plan_errors
from recframe.frames.forked import check_threads

Ask = Callable[[list[pl.LazyFrame]], list[pl.DataFrame]]
"""Collects plans together, from which a plan for a large eager frame starts."""
Collect = Callable[[pl.LazyFrame], pl.DataFrame]
"""Collects a plan."""
LARGE = 20_000
_STREAMED = 2_000_000
IS_POLARS_1 = pl.__version__.startswith("1.")
# Polars 1 does not know the dtype of some literals without its optimizer.
_NO_OPTIMIZER = pl.QueryOptFlags() if IS_POLARS_1 else pl.QueryOptFlags.none()


def stream(plan: pl.LazyFrame) -> pl.DataFrame:
    """Collect a plan for frames that are lazy or that have many rows."""
    check_threads()
    with plan_errors():
        return plan.collect(engine="streaming")


def run_by_size(plan: pl.LazyFrame, size: int) -> pl.DataFrame:
    """Collect a plan for an eager frame of so many rows.

    NOTE: the streaming engine takes longer to start than a plan of two million rows to run, and the optimizer takes longer
    than one of a few thousand.
    """
    if size > _STREAMED:
        return stream(plan)
    if size <= LARGE:
        return run_as_it_is(plan)
    with plan_errors():
        return plan.collect(engine="in-memory")


def run_as_it_is(plan: pl.LazyFrame) -> pl.DataFrame:
    """Collect a plan as it was made: the optimizer takes longer than it saves where no frame of it is large."""
    with plan_errors():
        return plan.collect(engine="in-memory", optimizations=_NO_OPTIMIZER)


def ask(plans: list[pl.LazyFrame]) -> list[pl.DataFrame]:
    """Collect what a plan for a large eager frame starts from."""
    with plan_errors():
        return pl.collect_all(plans, engine="in-memory")
