"""Two small frames without a defect, and short ways to break and to audit them."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

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
