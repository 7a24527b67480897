"""Sums over the best order of relevant rows, from counts of grades."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import polars as pl

from recframe.frames.by_expressions import is_elementwise
from recframe.frames.kinds.kind import Ask, stream
from recframe.frames.rows.integer_keys import ends_of
from recframe.metrics.language.at import discount

MOST_GRADES = 13
_SAMPLE = 10_000
"""Rows that mostly show whether there are more grades."""
_BITS, _PACKED = 15, 4
"""Bits of a count, and counts in one number."""


def by_grades(
    rows: pl.LazyFrame, keys: Sequence[str], values: Sequence[pl.Expr], ask: Ask
) -> pl.LazyFrame | None:
    """Return sums over each list's relevant rows in their best order, unsorted; None where grades are many.

    NOTE: in the best order the rows of a grade stand below all of a higher one, so that a sum follows from how many rows have
    each grade or a higher one, and from tables of the sums over the first places.
    """
    summands = {value.meta.output_name(): _summand(value.meta.undo_aliases()) for value in values}
    terms = {name: term for name, term in summands.items() if term is not None}
    if len(terms) < len(values):
        return None
    (found,) = ask([rows.select(*keys, "relevant_gain")])
    grades = _grades(found["relevant_gain"])
    if grades is None:
        return None
    lists = stream(
        found.lazy().group_by(keys).agg(pl.col("relevant_gain").count().alias("n"), *_packs(grades))
    )
    longest = int(lists.select(pl.max("n")).item())
    if longest >= 2**_BITS:
        return None
    tables = _tables(terms, grades, longest)
    # what a grade adds to the next lower one, on the places of rows that have it or a higher one
    added = [tables[0], *(higher - lower for lower, higher in pairwise(tables))]
    counts = _counts(len(grades))
    sums = []
    for name in terms:
        of_grades = [
            pl.lit(table[name]).gather(count) for table, count in zip(added, counts, strict=True)
        ]
        sums.append(pl.sum_horizontal(of_grades).alias(name))
    return ask([lists.lazy().select(*keys, *sums)])[0].lazy()


def _grades(gain: pl.Series) -> pl.Series | None:
    """Return the distinct gains, the lowest first, and whole numbers between them; None where there are none or many."""
    if gain.head(_SAMPLE).n_unique() > MOST_GRADES:
        return None
    ends = ends_of(gain)
    if ends is not None and ends[1] - ends[0] < MOST_GRADES:
        return pl.Series([*range(ends[0], ends[1] + 1)], dtype=gain.dtype)
    grades = gain.unique().drop_nulls().sort()
    return grades if 0 < len(grades) <= MOST_GRADES else None


def _packs(grades: pl.Series) -> list[pl.Expr]:
    """Return the counts of rows with each grade but the lowest, or a higher one: several in a number."""
    packs = []
    for first in range(1, len(grades), _PACKED):
        counts = [
            pl.when(pl.col("relevant_gain") >= grade).then(1 << _BITS * place).otherwise(0)
            for place, grade in enumerate(grades[first : first + _PACKED])
        ]
        pack = pl.sum_horizontal(count.cast(pl.Int64) for count in counts)
        packs.append(pack.sum().alias(f"pack {first}"))
    return packs


def _counts(n_grades: int) -> list[pl.Expr]:
    """Return how many rows have each grade, the lowest first, or a higher one."""
    places = [divmod(grade, _PACKED) for grade in range(n_grades - 1)]
    packed = [
        pl.col(f"pack {1 + _PACKED * pack}") // (1 << _BITS * place) % (1 << _BITS)
        for pack, place in places
    ]
    return [pl.col("n").cast(pl.Int64), *packed]


def _tables(terms: dict[str, pl.Expr], grades: pl.Series, longest: int) -> list[pl.DataFrame]:
    """Return for each grade the sums of each term over the first 0, 1, 2 and so on places, where all rows have it."""
    rank, n = pl.col("ideal_rank"), longest + 1
    ranks = pl.int_range(n, eager=True).cast(pl.Float64).alias("ideal_rank").to_frame()
    places = grades.alias("relevant_gain").to_frame().join(ranks, how="cross")
    places = places.with_columns(
        ideal_gain=pl.col("relevant_gain").cast(pl.Float64), ideal_discount=discount(rank)
    )
    sums = {
        name: pl.when(rank > 0)
        .then(term.cast(pl.Float64))
        .fill_null(0.0)
        .cum_sum()
        .over("relevant_gain")
        for name, term in terms.items()
    }
    summed = places.select(**sums)
    return [summed.slice(place * n, n) for place in range(len(grades))]


def _summand(value: pl.Expr) -> pl.Expr | None:
    """Return what a sum over rows, or a multiple of it, sums up; None of other values."""
    inputs = value.meta.pop()
    if len(inputs) == 1 and inputs[0].sum().meta.eq(value):
        return inputs[0] if is_elementwise(inputs[0]) else None
    if len(inputs) == 2 and inputs[0].meta.is_literal():  # noqa: PLR2004  a factor and a sum
        inner = _summand(inputs[1])
        is_product = (inputs[1] * inputs[0]).meta.eq(value)
        return inner * inputs[0] if inner is not None and is_product else None
    return None
