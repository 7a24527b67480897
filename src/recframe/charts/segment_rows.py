"""Rows of segments on charts: choice, order and ends of their axis."""

from __future__ import annotations

import polars as pl

from recframe.errors import worded

FEW_USERS = 10
"""Users below which a segment's interval does not stretch an axis."""


def labelled(data: pl.DataFrame) -> pl.DataFrame:
    """Return rows with the label of their segment: its name and its number of users."""
    users = pl.col("n_users").max().over("place")
    counts = data.select(users).to_series().unique().to_list()
    written = users.replace_strict(counts, [f"{n:,}" for n in counts], return_dtype=pl.String)
    # NOTE: a sum, since Polars 1 panics where it formats a column with an empty chunk
    return data.with_columns(label=worded(pl.col("segment"), " (", written, ")"))


def largest(data: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return the segments with the most users, with their labels."""
    sizes = data.group_by("place").agg(pl.col("n_users").max()).sort("n_users", "place")
    kept = sizes.tail(most)["place"]
    return labelled(data.filter(pl.col("place").is_in(kept.implode())))


def segments_shown(n: int, most: int) -> str:
    """Return the words of a chart that does not show all segments."""
    return f" {most} of {n:,} segments, those with the most users." if n > most else ""


def in_order(
    data: pl.DataFrame, value: str = "value", *, own: bool, lower: bool = False
) -> pl.DataFrame:
    """Return rows with their segments in an order of their own, an enum's, or by the mean of a value, the best first."""
    if own:
        return data.sort("place", maintain_order=True)
    mean = pl.col(value).mean().over("place")
    sorted_rows = data.with_columns(_mean=mean).sort(
        "_mean", "place", descending=[not lower, False], nulls_last=True, maintain_order=True
    )
    return sorted_rows.drop("_mean")


def ends_of(data: pl.DataFrame, value: str = "value", *, zero: bool = False) -> list[float] | None:
    """Return the ends of an axis that intervals of few users do not stretch, where there are some.

    It has all values, and the intervals of segments with at least `FEW_USERS` users.
    """
    known = data.filter(pl.col("low").is_not_null())
    large = known.filter(pl.col("n_users") >= FEW_USERS)
    if len(large) in {0, len(known)}:
        return None
    every = pl.concat([large["low"], large["high"], data[value].drop_nulls()])
    every = pl.concat([every, pl.Series([0.0])]) if zero else every
    low, high = every.min(), every.max()
    return [low, high] if low < high else None  # type: ignore[operator, list-item]


CUT = f" Intervals of fewer than {FEW_USERS} users may end beyond the axis."
