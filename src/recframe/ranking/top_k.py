"""Candidate rows for the top k of scored lists."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import polars as pl

from recframe.frames.collecting import Ask
from recframe.frames.rows.integer_keys import READS_BITS, SMALL_INTEGERS

SCORE = pl.col("score")
SPARE = 3
"""Factor of k for the first guess of rows per list: the level of scores varies between lists."""
MOST = 0.9
"""Share of lists with k rows from which the first guess suffices; the other lists keep all rows."""
ONE_OF = 1_000
"""Sampling interval of rows, to estimate a quantile of scores."""
_NO_LIMIT = 2**63 - 1
# below minus infinity, which is -2,139,095,040
_NO_SCORE = -2_139_095_041


@dataclass(frozen=True)
class Reach:
    """Filter of the candidates for the top k, and their sort key."""

    first: pl.Expr
    """Whether a row is a candidate for the top k of its list."""
    place: pl.Expr | None = None
    """Integer sort key by rank, except for scores equal in 32 bits; None where ties need more bits."""


@dataclass(frozen=True)
class _Lists:
    """Lists keyed by integer users in a small range, and k."""

    lowest: int
    n_users: int
    k: int
    ask: Ask

    @property
    def number(self) -> pl.Expr:
        """The number of a row's user, from 0."""
        return pl.col("user").cast(pl.Int64) - self.lowest

    def packed(self, height: pl.Expr) -> pl.Expr:
        """Return a number that sorts rows by user, then the highest first; heights lie within 32 bits."""
        return self.number * 2**32 - height

    def limit(self, limits: pl.Series) -> pl.Expr:
        """Return the limit of the row's list."""
        return pl.lit(limits).gather(self.number)

    def limits(self, rows: pl.LazyFrame, height: pl.Expr, size: int) -> tuple[pl.Series, bool]:
        """Return the packed number of each list's k-th row, and whether k more rows of a list have the number of its k-th.

        NOTE: sorting one packed number and looking up each list's k-th takes a third of ranking all scores.
        """
        # A list with k rows above some height has its first k there; one without keeps all of its rows.
        for above in (self._reached(rows, height, SPARE * self.n_users * self.k / size), -math.inf):
            packed = rows.filter(height >= above).select(packed=self.packed(height))
            places = self.ask([packed])[0].to_series().sort().to_frame()
            last = self._last(places)
            if len(last) > MOST * self.n_users:
                break
        limits = pl.Series([_NO_LIMIT]).new_from_index(0, self.n_users)
        limits = limits.scatter(last["number"], last["packed"])
        return limits, bool(last["tied"].any())

    def _last(self, places: pl.DataFrame) -> pl.DataFrame:
        """Return the k-th packed number of each list that has so many, the number of its user, and whether k more are tied."""
        packed, number, k = pl.col("packed"), pl.col("number"), self.k
        is_last = (number == number.shift(k - 1)) & number.ne_missing(number.shift(k))
        tied = (packed == packed.shift(-k)).fill_null(value=False)
        rows = places.lazy().with_columns(number=(packed + 2**31) // 2**32, tied=tied)
        return self.ask([rows.filter(is_last)])[0]

    def _reached(self, rows: pl.LazyFrame, height: pl.Expr, share: float) -> float:
        """Return the score level that a given share of rows reaches, from a sample."""
        some = self.ask([rows.gather_every(ONE_OF).select(height.alias("height"))])[0].to_series()
        found: Any = some.quantile(max(0.0, 1 - share))
        return -math.inf if found is None else found


def within_reach(
    rows: pl.LazyFrame, tie: tuple[pl.Expr, bool] | None, k: int, ask: Ask
) -> Reach | None:
    """Return the candidate rows for the top k; None unless users are integers of a small range.

    `tie` is what tied rows sort by, and whether that is descending, where it is one expression.
    """
    if not READS_BITS or rows.collect_schema()["user"] not in SMALL_INTEGERS:
        return None
    user = pl.col("user").cast(pl.Int64)
    low, high, size = ask([rows.select(low=user.min(), high=user.max(), size=pl.len())])[0].row(0)
    if low is None or high - low >= min(size, 2**31):
        return None
    lists = _Lists(low, high - low + 1, k, ask)
    score = _height_of_score()
    limits, many_tied = lists.limits(rows, score, size)
    packed, limit = lists.packed(score), lists.limit(limits)
    below = None if tie is None else _height_of_tie(rows, *tie, ask)
    if below is None:
        return Reach(packed <= limit)
    place = packed.cast(pl.Int128) * 2**32 - below
    if not many_tied:
        return Reach(packed <= limit, place)
    tied = rows.filter(packed == limit).select("user", "score", below=below)
    behind = lists.limit(_limits_of_tied(lists, tied))
    return Reach((packed < limit) | ((packed == limit) & (lists.packed(below) <= behind)), place)


def _limits_of_tied(lists: _Lists, tied: pl.LazyFrame) -> pl.Series:
    """Return the limit of each list among those tied with its k-th row: no more than the first k of these are reached.

    NOTE: of scores that differ and are one in 32 bits, the best may be of the last item; such lists keep all of these rows.
    """
    (rows,) = lists.ask([tied])
    limits, _ = lists.limits(rows.lazy(), pl.col("below"), len(rows))
    score = rows["score"]
    if score.cast(pl.Float32).cast(score.dtype, strict=False).eq_missing(score).all():
        return limits
    number = rows.select(lists.number).to_series()
    one = pl.Series([0], dtype=pl.UInt32).new_from_index(0, lists.n_users)
    one = one.scatter(number, pl.int_range(len(rows), dtype=pl.UInt32, eager=True))
    differing = number.filter(score.ne_missing(score.gather(one.gather(number))))
    return limits.scatter(differing, _NO_LIMIT)


def _height_of_score() -> pl.Expr:
    """Return a number of 32 bits that orders as the scores do, but for new ties; those without one are behind all."""
    bits = SCORE.cast(pl.Float32).reinterpret(dtype=pl.Int32)
    # Those of positive numbers order as these do, those of negative ones the other way round, and -0.0 is no lower than 0.0.
    height = pl.when(bits < 0).then(-(2**31) - bits).otherwise(bits)
    return height.cast(pl.Int64).fill_null(_NO_SCORE)


def _height_of_tie(rows: pl.LazyFrame, tie: pl.Expr, turned: bool, ask: Ask) -> pl.Expr | None:  # noqa: FBT001
    """Return a number of 32 bits that is the highest for the first of tied rows; None where these need more."""
    if rows.select(tie.alias("tie")).collect_schema()["tie"] not in SMALL_INTEGERS:
        return None
    low, high = ask([rows.select(low=tie.min(), high=tie.max())])[0].row(0)
    if high - low >= 2**31:
        return None
    number = tie.cast(pl.Int64)
    height: pl.Expr = number - high if turned else low - number
    return height
