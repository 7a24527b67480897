"""Scores that are none: what libraries write where a pair is no candidate."""

from __future__ import annotations

import polars as pl

NO_SCORE = -3e38
"""No score is as low as this.

NOTE: masks are filled with minus infinity or with the lowest number of a dtype, -3.4e38 where it has 32 bits. implicit fills
lists with it that would be shorter than asked, beside items that it was to leave out.
"""


def has_a_score(name: str) -> pl.Expr:
    """Whether a number is one; a missing one says nothing of it."""
    score = pl.col(name).cast(pl.Float64)
    return (score > NO_SCORE) | score.is_null()  # a NaN is above all numbers
