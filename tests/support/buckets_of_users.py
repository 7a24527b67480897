"""Calls within a bound on memory that read their frames in several scans, however few rows they have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import polars as pl
import pytest

from recframe.engines import scans


@contextmanager
def buckets_of_users(n: int = 3) -> Iterator[None]:
    """Run calls within a bound on memory in so many scans."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(scans, "GROUPS", n)
        patched.setattr(scans.Scans, "hold_all", False)
        patched.setattr(scans.Scans, "_ranges", [(group, group) for group in range(n)])
        yield


def in_buckets(rec: Any, *metrics: Any, n: int = 3, **options: Any) -> pl.DataFrame:
    """Evaluate in so many scans, each of some users."""
    with buckets_of_users(n):
        found: pl.DataFrame = rec(memory="1GB").evaluate(*metrics, **options)
    return found
