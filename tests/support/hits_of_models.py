"""Lists of one item of several models, of which a share of the users has a hit."""

from __future__ import annotations

import polars as pl

import recframe as rf


def hits(**models: list[int]) -> pl.DataFrame:
    """Make lists of one item each: a hit where a user's number is 1."""
    return pl.concat(
        pl.DataFrame({"model": name, "user": range(len(found)), "item": found, "rank": 1})
        for name, found in models.items()
    )


def truth(n: int) -> pl.DataFrame:
    return pl.DataFrame({"user": range(n), "item": [1] * n})


def first(share: float, n: int = 100) -> list[int]:
    return [int(place < share * n) for place in range(n)]


def rec(frame: pl.DataFrame, n: int = 100, **options: object) -> rf.Rec[pl.DataFrame]:
    return frame.rec(truth=truth(n), model="model", **options)
