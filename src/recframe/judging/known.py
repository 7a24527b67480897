"""What a plan may rely on: what a large eager frame answered ahead of it. No answer changes a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from recframe.frames.rows.packing import joined_as_numbers


@dataclass(frozen=True)
class Known:
    """What is known of the relevant rows, of the users and of the lists; nothing of what was not asked."""

    pairs: pl.LazyFrame | None = None
    """The relevant rows, where they were taken from the frame that has the relevance ahead of the plan."""
    hits: pl.LazyFrame | None = None
    """The hits up to the largest k, where lists were held against a truth ahead of the plan."""
    distinct: bool = False
    """Whether every relevant pair of a user and an item is known to stand once in the frame that has the relevance."""
    narrow: bool = False
    """Whether the relevant rows' users and gains are known to fit into one number of 64 bits; see `packing.fits_64_bits`."""
    packs: bool = False
    """Whether the ids of the relevant rows are known to fit into one number, which joins in half the time of two columns."""
    in_order: bool = False
    """Whether the relevant rows are known to stand list by list by rank, the ranks at least 1 apart."""
    n_users: int | None = None
    """How many users there are in `users`, where that is known."""
    crowd: pl.LazyFrame | None = None
    """The users again, each once."""
    n_of_segments: pl.LazyFrame | None = None
    """The number of users in each segment, where all segments are columns of rows, or all of items."""
    first: pl.LazyFrame | None = None
    """The rows up to the largest k of the lists of the universe's users, where they are at hand, no item of a list twice."""
    items: pl.LazyFrame | None = None
    """The items of all frames, each once, where they are at hand."""
    once: bool = False
    """Whether no item stands twice among the rows of a list up to the largest k, and those with a relevance."""
    graded: pl.LazyFrame | None = None
    """The truth with each pair of a user and an item once, where it was taken ahead of the plan."""
    packs_graded: bool = False
    """Whether the ids of those pairs are known to fit into one number."""
    checked: bool = False
    """Whether the frames have passed the checks of what only the data can show."""
    names: pl.LazyFrame | None = None
    """The users by their numbers, where lists are told apart by a number."""


NOTHING = Known()
"""What is known of a frame that was asked nothing."""


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
