"""Two small frames without a defect, and short ways to break and to audit them."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import recframe as rf
from asking import bound, rows
from frame_kinds import Kind

# Two users with lists of two items; each likes one item of the list and one beyond it.
RECS = rows(
    ("u", "a", 1), ("u", "b", 2), ("v", "c", 1), ("v", "a", 2), schema=("user", "item", "rank")
)
TRUTH = rows(
    ("u", "a", 1), ("u", "d", 2), ("v", "a", 1), ("v", "e", 1), schema=("user", "item", "relevance")
)
JUDGED = RECS.rec(truth=TRUTH).judge().sort("user", "item")
ITEMS = pl.DataFrame({"item": list("abcde"), "genre": list("xxyyx")})
USERS = pl.DataFrame({"user": ["u", "v"], "country": ["FR", "DE"]})
TRAIN = rows(("u", "f"), ("v", "b"), ("w", "a"), ("w", "c"), schema=("user", "item"))
SCORED = RECS.select("user", "item", score=10.0 - pl.col("rank"))
NAN, INF = math.nan, math.inf
POOLED = pl.concat(
    [
        RECS.with_columns(system=pl.lit("old")),
        RECS.with_columns(item=pl.col("item") + "2", system=pl.lit("new")),
    ]
)


def audit(
    kind: Kind, frame: pl.DataFrame, *, k: int | None = None, by: Any = None, **options: Any
) -> pl.DataFrame:
    return kind.read(bound(kind, frame, **options).audit(k, by=by))


def found(kind: Kind, frame: pl.DataFrame, **options: Any) -> list[tuple[Any, ...]]:
    """Return check, severity, frame, rows and users of every finding."""
    names = ("check", "severity", "frame", "rows", "users")
    return audit(kind, frame, **options).select(names).rows()


def with_row(frame: pl.DataFrame, *more: tuple[Any, ...]) -> pl.DataFrame:
    return pl.concat([frame, rows(*more, schema=frame.columns, **frame.schema)])


def floats(frame: pl.DataFrame, **values: list[Any]) -> pl.DataFrame:
    return frame.with_columns(
        pl.Series(name, column, dtype=pl.Float64) for name, column in values.items()
    )


def told(ask: Callable[[], object]) -> list[str]:
    """Return the words of the warnings of a call, all of which name the file of the test."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        ask()
    assert {one.filename for one in found} <= {sys._getframe(1).f_code.co_filename}
    assert {one.category for one in found} <= {rf.RecframeWarning}
    return [str(one.message) for one in found]


def raises(kind: Kind, call: Any, *words: str) -> None:
    """Expect an error with some words, which a LazyFrame raises when it is collected."""
    error: Any = pl.exceptions.PolarsError if kind.name in {"lazy", "streaming"} else rf.DataError
    with pytest.raises(error) as caught:
        kind.read(call())
    assert all(word in str(caught.value) for word in words)
