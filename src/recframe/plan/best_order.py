"""The best order of the relevant rows; where grades are few, its values from how many rows a list has of each, unsorted.

A value that is a sum over the rows, each by its place and its gain alone, is one for all lists with n₁ rows of the highest
grade, n₂ of the next, ...: these stand on places 1 to n₁, n₁ + 1 to n₁ + n₂, ..., so that running sums over the places, one
for each grade, give it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from recframe.frames.collecting import IS_POLARS_1, Ask, stream
from recframe.frames.rows.places import best_first, with_places
from recframe.judging.judged_frame import Judged
from recframe.metrics.language.at import At, Source, Valued
from recframe.metrics.language.formulas import discount

MOST_GRADES = 13
"""As many grades as still take less time to count than the rows to sort: stars and half stars are fewer."""
_LOOKED_AT = 10_000
_BITS, _IN_ONE = 15, 4
"""The bits of a count, and how many counts one Int64 holds."""


def by_grades(
    rows: pl.LazyFrame,
    keys: Sequence[str],
    values: Mapping[str, Callable[[Source], pl.Expr]],
    ask: Ask,
) -> pl.LazyFrame | None:
    """Return values of each list's relevant rows in their best order; None where they are no sums, or grades are many."""
    totals = _Totals()
    made = {name: value(totals) for name, value in values.items()}
    names = set(totals.columns)
    if IS_POLARS_1 or not all(
        names.issuperset(value.meta.root_names()) and _is_of_each_row(value)
        for value in made.values()
    ):
        return None
    # a literal alone is one value, and not one of each row
    if not all(one.meta.root_names() and _is_of_each_row(one) for one in totals.columns.values()):
        return None
    (rows_at_hand,) = ask([rows.select(*keys, "relevant_gain")])
    grades = _few_grades(rows_at_hand["relevant_gain"])
    lists = None if grades is None else _counted(rows_at_hand, keys, grades)
    if grades is None or lists is None:
        return None
    looked_up = _looked_up(totals.columns, grades, lists)
    columns = [value.alias(name) for name, value in made.items()]
    (found,) = ask([lists.lazy().with_columns(looked_up).select(*keys, *columns)])
    return found.lazy()


def placed(
    rows: pl.LazyFrame, keys: Sequence[str], judged: Judged, asked: set[str]
) -> pl.LazyFrame:
    """Return the relevant rows list by list in their best order, with the columns that are asked for."""
    rows = best_first(rows, keys, judged.key_dtype, "relevant_gain", narrow=judged.known.narrow)
    rank = pl.col("place").cast(pl.Float64)
    built = {
        "ideal_rank": rank,
        "ideal_gain": pl.col("relevant_gain"),
        "ideal_discount": discount(rank),
    }
    columns = [column.alias(name) for name, column in built.items() if name in asked]
    return with_places(rows, keys).select(*keys, "relevant_gain", *columns)


@dataclass
class _Totals:
    """A source of words whose sums over the rows are columns, of one row for each list."""

    columns: dict[str, pl.Expr] = field(default_factory=dict)
    """What each column is the sum of."""

    def column(self, name: str) -> pl.Expr:
        """Return the column of a name."""
        return pl.lit(0) if name == "steepness" else pl.col(name)

    def total(self, value: pl.Expr) -> pl.Expr:
        """Return the column of a sum."""
        name = f"total {len(self.columns)}"
        self.columns[name] = value
        return pl.col(name)

    def running(self, expression: pl.Expr) -> pl.Expr:
        """Return the expression as it is, which is not of one row alone."""
        return expression

    def of_rows(self, value: Callable[[Source], pl.Expr]) -> pl.Expr:
        """Return the value as it is."""
        return value(self)

    def mean(self, metric: Valued, at: At) -> pl.Expr:
        """Return the list's own value."""
        return metric.value(at)


def _is_of_each_row(value: pl.Expr) -> bool:
    """Return whether an expression gives each row a value that no other row has a part in."""
    try:
        here = value.meta.is_row_separable() and (
            value.meta.is_length_preserving() or value.meta.is_literal()
        )
    except (
        pl.exceptions.PolarsError
    ):  # of a function in Python, Polars asks which columns there are
        return False
    return here and all(map(_is_of_each_row, value.meta.pop()))


def _few_grades(gains: pl.Series) -> pl.Series | None:
    """Return the grades from the lowest up, where there are a few; of whole numbers those between them too."""
    if gains.head(_LOOKED_AT).n_unique() > MOST_GRADES:
        return None
    lowest: Any = gains.min()
    highest: Any = gains.max()
    if gains.dtype.is_integer() and lowest is not None and highest - lowest < MOST_GRADES:
        return pl.Series([*range(lowest, highest + 1)], dtype=gains.dtype)
    grades = gains.unique().sort()
    return grades if 0 < len(grades) <= MOST_GRADES else None


def _counted(rows: pl.DataFrame, keys: Sequence[str], grades: pl.Series) -> pl.DataFrame | None:
    """Return the lists, with how many rows of each grade or a higher one they have: `n 0` of the lowest, and so on.

    None where a list is too long for its counts to stand in parts of one number.

    NOTE: in parts of one number, since a sum costs more than the comparisons do; streamed, which in no order takes half of
    the time.
    """
    places = {f"n {grade}": divmod(grade - 1, _IN_ONE) for grade in range(1, len(grades))}
    packs: dict[str, list[pl.Expr]] = {}
    for (pack, place), grade in zip(places.values(), grades[1:], strict=True):
        count = pl.when(pl.col("relevant_gain") >= grade).then(1 << _BITS * place).otherwise(0)
        packs.setdefault(f"pack {pack}", []).append(count)
    packed = rows.lazy().with_columns(
        pl.sum_horizontal(counts).cast(pl.Int64).alias(pack) for pack, counts in packs.items()
    )
    sums = [pl.col(pack).sum() for pack in packs]
    lists = stream(packed.group_by(keys).agg(*sums, pl.len().alias("n 0")))
    longest: Any = lists["n 0"].max()
    if packs and longest >= 1 << _BITS:
        return None
    return lists.with_columns(
        (pl.col(f"pack {pack}") // (1 << _BITS * place) % (1 << _BITS)).alias(name)
        for name, (pack, place) in places.items()
    )


def _looked_up(
    totals: Mapping[str, pl.Expr], grades: pl.Series, lists: pl.DataFrame
) -> list[pl.Expr]:
    """Return the sums over each list's rows, from running sums over the places, one for each grade."""
    longest: Any = lists["n 0"].max()
    row = pl.int_range(len(grades) * (longest + 1))
    grade = pl.lit(grades).gather(row // (longest + 1))
    places = pl.select(
        ideal_rank=(row % (longest + 1)).cast(pl.Float64),
        relevant_gain=grade,
        ideal_gain=grade.cast(pl.Float64),
    )
    place = pl.col("ideal_rank")
    sums = places.with_columns(ideal_discount=discount(pl.max_horizontal(place, 1.0))).select(
        pl.when(place > 0).then(value.cast(pl.Float64)).fill_null(0).alias(name)
        for name, value in totals.items()
    )
    up_to = pl.all().cum_sum().over(pl.int_range(pl.len()) // (longest + 1))
    # what a grade adds, on the places that have it or a higher one, to the next lower grade
    added = sums.select(up_to).select(pl.all() - pl.all().shift(longest + 1, fill_value=0))
    rows = [pl.col(f"n {number}") + number * (longest + 1) for number in range(len(grades))]
    return [_summed(added[name], rows).alias(name) for name in totals]


def _summed(values: pl.Series, rows: Sequence[pl.Expr]) -> pl.Expr:
    return pl.sum_horizontal(pl.lit(values).gather(row) for row in rows)
