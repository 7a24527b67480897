"""Calls within a bound on memory that run in a number of buckets, however few rows they have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import polars as pl
import pytest

from recframe.engines import bucket_store, memory_bound


@contextmanager
def buckets_of_users(n: int = 3) -> Iterator[None]:
    """Run calls within a bound on memory in so many buckets."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(memory_bound, "MOST_IN_ONE_PLAN", -1)
        patched.setattr(memory_bound.Bound, "n_buckets", lambda *_: n)
        patched.setattr(memory_bound.Bound, "rows_of_bucket", lambda *_: 2**60)
        for name, value in (("FAN_OUT", n), ("MOST_AT_ONCE", n), ("MOST_ROWS", 0)):
            patched.setattr(bucket_store, name, value)
        yield


def in_buckets(rec: Any, *metrics: Any, n: int = 3, **options: Any) -> pl.DataFrame:
    """Evaluate in so many buckets of users."""
    with buckets_of_users(n):
        found: pl.DataFrame = rec(memory="1GB").evaluate(*metrics, **options)
    return found
