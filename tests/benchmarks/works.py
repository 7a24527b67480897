"""A piece of work and its yardstick, and the calls that most are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from contenders import METRICS
from data import Case


@dataclass(frozen=True)
class Work:
    """A piece of work, its yardstick, and how often each is run for one timing."""

    name: str
    yardstick: str
    run: Callable[[], object]
    against: Callable[[], object]
    calls: int = 1


def bound(case: Case) -> Any:
    """Return `.rec` of the case's Polars frames."""
    return case.rec(lambda frame: frame)


def asked(case: Case, *metrics: str) -> Callable[[], object]:
    """Return the call for some metrics, or for the six at 10."""
    return partial(bound(case).evaluate, *(metrics or [f"{name}@10" for name in METRICS]))
