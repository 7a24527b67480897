"""Everyone who is timed: recframe on each kind of frame, the compiled loop, the peers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import peers
import polars as pl
from data import METRICS, Case
from loop import compiled_loop, tuned_loop

import recframe  # noqa: F401  registers .rec

LOOP = "compiled loop"
EAGER = "recframe, eager"


@dataclass(frozen=True)
class Contender:
    """One way from the frame to the six numbers."""

    name: str
    run: Callable[[Case, int], list[float]]
    is_peer: bool = False
    takes_pandas: bool = False


def _numbers(row: pl.DataFrame) -> list[float]:
    return [float(value) for value in row.select(pl.exclude("n_users")).row(0)]


def eager(case: Case, k: int) -> list[float]:
    """Polars DataFrame in."""
    return _numbers(case.rec(lambda frame: frame).evaluate(*METRICS, k=k))


def collected(**options: Any) -> Callable[[Case, int], list[float]]:
    """Polars LazyFrame in, collected with options."""
    return lambda case, k: _numbers(
        case.rec(pl.DataFrame.lazy).evaluate(*METRICS, k=k).collect(**options)
    )


def from_pandas(case: Case, k: int) -> list[float]:
    """Pandas DataFrame in and out."""
    result = case.rec_pandas().evaluate(*METRICS, k=k)
    return [float(value) for value in result.drop(columns="n_users").iloc[0]]


CONTENDERS = [
    Contender(LOOP, compiled_loop),
    Contender("compiled loop, tuned", tuned_loop),
    Contender(EAGER, eager),
    Contender("recframe, lazy, collect()", collected()),
    Contender("recframe, lazy, in-memory", collected(engine="in-memory")),
    Contender("recframe, lazy, streaming", collected(engine="streaming")),
    Contender("recframe, pandas", from_pandas, takes_pandas=True),
    Contender("pytrec_eval", peers.pytrec_whole, is_peer=True),
    Contender("pytrec_eval, cut", peers.pytrec_cut, is_peer=True),
    Contender("ranx, objects", peers.ranx_objects_whole, is_peer=True),
    Contender("ranx, objects, cut", peers.ranx_objects_cut, is_peer=True),
    Contender("ranx, dicts", peers.ranx_dicts_whole, is_peer=True),
    Contender("ranx, dicts, cut", peers.ranx_dicts_cut, is_peer=True),
    Contender("ranx, arrays", peers.ranx_arrays_whole, is_peer=True),
    Contender("ranx, arrays, cut", peers.ranx_arrays_cut, is_peer=True),
]
