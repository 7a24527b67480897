"""Precomputed properties of the input; results do not change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from recframe.frames.rows.integer_keys import joined_as_numbers


@dataclass(frozen=True)
class Known:
    """Precomputed properties of relevant rows, users and lists."""

    pairs: pl.LazyFrame | None = None
    """Precomputed relevant rows."""
    hits: pl.LazyFrame | None = None
    """Precomputed hits up to the largest k, for separate lists and truth."""
    distinct: bool = False
    """Whether relevant (user, item) pairs are known to be unique in the frame with the relevance."""
    narrow: bool = False
    """Whether user and gain of relevant rows fit into one 64-bit integer; see `packing.fits_64_bits`."""
    packs: bool = False
    """Whether the ids of relevant rows fit into one integer, which halves the time of joins."""
    in_order: bool = False
    """Whether relevant rows are known to be sorted by list and rank, with ranks at least 1 apart."""
    n_users: int | None = None
    """Number of users in `users`, if precomputed."""
    crowd: pl.LazyFrame | None = None
    """Distinct users, if precomputed."""
    n_of_segments: pl.LazyFrame | None = None
    """Users per segment, if all segments are columns of rows, or all are columns of items."""
    first: pl.LazyFrame | None = None
    """Top-k rows of the universe's users, items unique per list, if precomputed."""
    items: pl.LazyFrame | None = None
    """Distinct items of all frames, if precomputed."""
    once: bool = False
    """Whether items are unique per list, among rows up to the largest k and rows with a relevance."""
    graded: pl.LazyFrame | None = None
    """Truth with unique (user, item) pairs, if precomputed."""
    packs_graded: bool = False
    """Whether the ids of `graded` fit into one integer."""
    checked: bool = False
    """Whether the data checks have passed."""
    names: pl.LazyFrame | None = None
    """Users by number, where lists are keyed by a number."""


NOTHING = Known()
"""Properties of an input without precomputation."""


def graded(
    rows: pl.LazyFrame, truth: pl.LazyFrame, known: Known, segments: Sequence[str] = ()
) -> pl.LazyFrame:
    """Return rows of the lists with the highest relevance that the truth has of their pairs, in segments of rows."""
    pair, each = [*segments, "user", "item"], known.graded
    if each is not None and known.packs_graded:
        return joined_as_numbers(rows, each, pair, "left")
    if each is None:
        each = truth.group_by(pair).agg(pl.col("relevance").max())
    return rows.join(each, on=pair, how="left", nulls_equal=bool(segments))
