"""The segments of rows of the lists and the truth: where one of them alone says in which a pair stands, it says so for both."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl


def in_known_segments(
    lists: pl.LazyFrame, truth: pl.LazyFrame, keys: Sequence[str], names: Sequence[str]
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Return the rows of both frames in their segments; those that have none stand in those of the same keys of the other."""
    for name in names:
        lists, truth = _filled(lists, truth, keys, name), _filled(truth, lists, keys, name)
    return lists, truth


def _filled(
    rows: pl.LazyFrame, others: pl.LazyFrame, keys: Sequence[str], segment: str
) -> pl.LazyFrame:
    """Return the rows of one frame in their segments, those without one in those in which the other frame has their pair."""
    known = pl.col(segment).is_not_null()
    without = rows.filter(~known).drop(segment)
    # rows without a segment are few, if there are any: no table of all others is made for them
    segments = others.filter(known).select(*keys, segment)
    segments = segments.join(without, on=keys, how="semi", nulls_equal=True).unique()
    unknown = without.join(segments, on=keys, how="left", nulls_equal=True)
    return pl.concat([rows.filter(known), unknown], how="diagonal")
