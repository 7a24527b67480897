"""Means of users' values with their errors, and tests of them.

NaN stands for null: what one user has, or what has no error, has no interval and no p value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl

from recframe.evaluation.trainings import PARTS as OF_TRAININGS
from recframe.statistics.arrays import Flags, Given, Numbers, np, numbers, ratio, special
from recframe.statistics.sums import BASELINE

NO_SPREAD = 1e-13
"""Share of the squares below which a sum of squares about the mean is rounding."""


class Moments(NamedTuple):
    """Sums over users, clusters or groups, of each row of a result; see `units.OF_UNITS`."""

    n: Numbers
    a: Numbers
    d: Numbers
    aa: Numbers
    ad: Numbers
    dd: Numbers
    an: Numbers
    dn: Numbers
    nn: Numbers
    units: Numbers
    effective: Numbers
    differ: Numbers

    @classmethod
    def of(cls, rows: pl.DataFrame) -> Moments:
        """Return the sums that stand in columns of these names."""
        return cls(*(as_numbers(rows[name]) for name in cls._fields))

    def less(self, factor: Given) -> Moments:
        """Return the sums of b - factor · a in place of those of b - a."""
        share = 1.0 - np.asarray(factor, dtype=np.float64)
        return self._replace(
            d=self.d + share * self.a,
            dd=self.dd + 2.0 * share * self.ad + share**2 * self.aa,
            ad=self.ad + share * self.aa,
            dn=self.dn + share * self.an,
        )

    def with_ends(self, low: Numbers, high: Numbers) -> Moments:
        """Return the sums with two more users, or clusters of the mean size, whose values are `low` and `high`.

        So a value that few users have is not taken for certain. None is added where an end is NaN.
        Source: Agresti and Min 2005.
        """
        known = ~np.isnan(low + high) & (self.units > 1)
        size, more = np.where(known, ratio(self.n, self.units), 0.0), 2.0 * known
        low, high = np.nan_to_num(low), np.nan_to_num(high)
        return self._replace(
            n=self.n + more * size,
            d=self.d + size * (low + high),
            dd=self.dd + size**2 * (low**2 + high**2),
            dn=self.dn + size**2 * (low + high),
            nn=self.nn + more * size**2,
            units=self.units + more,
            effective=self.effective + more,
        )


class Trainings(NamedTuple):
    """Number and variance of the trainings of two models; a fixed model has none, and no variance."""

    n: Numbers
    variance: Numbers
    n_baseline: Numbers
    variance_baseline: Numbers

    @classmethod
    def of(cls, rows: pl.DataFrame) -> Trainings:
        """Return those of rows that have them, those of one model alone without a baseline's."""
        none = np.full(len(rows), np.nan)
        names = (*OF_TRAININGS, *(f"{BASELINE} {part}" for part in OF_TRAININGS))
        return cls(*(as_numbers(rows[one]) if one in rows.columns else none for one in names))

    def parts(self, factor: Given) -> list[tuple[Numbers, Numbers]]:
        """Return the squared errors of the model's mean and the baseline's, times their factors, with their freedom."""
        sides = [(self.n, self.variance, 1.0), (self.n_baseline, self.variance_baseline, factor)]
        return [
            (numbers(of) ** 2 * np.nan_to_num(ratio(variance, n)), n - 1.0)
            for n, variance, of in sides
        ]


class Estimate(NamedTuple):
    """A mean of each row, its standard error and degrees of freedom, and how many users and differing users it is of."""

    value: Numbers
    error: Numbers
    freedom: Numbers
    n: Numbers
    differ: Numbers


def of_mean(
    sums: Moments,
    factor: Given = 1.0,
    trainings: Trainings | None = None,
    ends: tuple[Numbers, Numbers] | None = None,
) -> Estimate:
    """Return the mean of b - factor · a over users, with the error of its units, and of trainings if these are a second sample.

    With `ends` two more users have these values. Source: Bell and McCaffrey 2002 (clusters); Satterthwaite 1946 (two samples).
    """
    of = sums.less(factor)
    of = of if ends is None else of.with_ends(*ends)
    value = ratio(of.d, np.where(of.n > 0, of.n, np.nan))
    rest = of.dd - 2.0 * value * of.dn + value**2 * of.nn
    # what rounding leaves of values that are the same for all is 0, and no -0, by which infinities change sign
    rest = np.where(rest <= NO_SPREAD * of.dd, 0.0, rest)
    enough = (of.units > 1) & (of.effective >= 2.0)  # noqa: PLR2004  a spread wants two
    units = np.where(enough, of.units, np.nan)
    squared = ratio(units * rest, (units - 1.0) * of.n**2)
    freedom = np.where(enough, of.effective - 1.0, np.nan)
    if trainings is not None:
        squared, freedom = _together([(squared, freedom), *trainings.parts(factor)])
    return Estimate(value, np.sqrt(squared), freedom, of.n, of.differ)


def _together(parts: list[tuple[Numbers, Numbers]]) -> tuple[Numbers, Numbers]:
    """Return the sum of squared errors, and its degrees of freedom."""
    whole = numbers(sum(error for error, _ in parts))
    terms = (np.where(error > 0, ratio(error**2, freedom), 0.0) for error, freedom in parts)
    freedom = np.where(whole > 0, ratio(whole**2, numbers(sum(terms))), parts[0][1])
    return whole, np.where(np.isnan(parts[0][0]), np.nan, freedom)


def apart(one: Estimate, other: Estimate) -> Estimate:
    """Return the difference of two means of different users. Source: Welch 1947."""
    squared, freedom = _together([(e.error**2, e.freedom) for e in (one, other)])
    n = np.minimum(one.n, other.n)
    return Estimate(one.value - other.value, np.sqrt(squared), freedom, n, np.full(n.shape, np.inf))


class Judged(NamedTuple):
    """The interval of each row, and its p value by itself and among all rows."""

    low: Numbers
    high: Numbers
    p_value: Numbers
    p_adjusted: Numbers


def judged(
    e: Estimate,
    *,
    level: float,
    correction: str | None = "holm",
    untested: Flags | None = None,
    tests: Given | None = None,
) -> Judged:
    """Return t intervals of estimates and p values of their being 0.

        correction: "holm" and "benjamini-hochberg" adjust the p values of all rows, of which those are left out that are
            `untested`; "sidak" the intervals too, so that all of as many `tests` hold at the level.

    No p value is below 2^(1 - m), with m the users who differ: of the 2^m ways in which their signs fall two are as far from 0.
    Source: Student 1908; Fisher 1935; Holm 1979; Benjamini and Hochberg 1995; Sidak 1967.
    """
    p_value = p_two_sided(t_statistic(e.value, e.error), e.freedom)
    p_value = np.maximum(p_value, least_p(e.differ))
    tested = p_value if untested is None else np.where(untested, np.nan, p_value)
    level_of_each: Given
    if correction == "sidak":
        n = np.maximum(np.count_nonzero(~np.isnan(tested)) if tests is None else tests, 1)
        level_of_each = numbers(level) ** ratio(1.0, n)
        p_adjusted = -special.expm1(n * special.log1p(-np.minimum(tested, 1.0 - 2.0**-53)))
    else:
        level_of_each = level
        p_adjusted = tested if correction is None else adjusted(tested, method=correction)
    half = t_quantile(level_of_each, e.freedom) * e.error
    return Judged(e.value - half, e.value + half, p_value, p_adjusted)


def wilson(e: Estimate, level: float) -> tuple[Numbers, Numbers]:
    """Return intervals of shares, on the effective number of users p (1 - p) / error², with t's quantile.

    Source: Wilson 1927.
    """
    spread = np.maximum(e.value * (1.0 - e.value), 0.0)
    effective = np.where(e.error > 0, ratio(spread, e.error**2), e.n)
    of_n = ratio(t_quantile(level, e.freedom) ** 2, effective)
    middle = ratio(e.value + of_n / 2.0, 1.0 + of_n)
    half = ratio(np.sqrt(of_n * (spread + of_n / 4.0)), 1.0 + of_n)
    lacks = np.isnan(e.error)
    return np.where(lacks, np.nan, middle - half), np.where(lacks, np.nan, middle + half)


def adjusted(p_values: Given, *, method: str) -> Numbers:
    """Return p values that hold for all of them together; NaN is no test, and stays NaN.

    Of m tests, the one of the j-th smallest p: Holm the largest of (m - i + 1) p_(i) over i <= j; Benjamini-Hochberg the
    smallest of m p_(i) / i over i >= j; none above 1.
    """
    p_values = np.asarray(p_values, dtype=np.float64)
    found = np.full(len(p_values), np.nan)
    size = np.count_nonzero(~np.isnan(p_values))
    # NaN comes last
    order = np.argsort(p_values, kind="stable")[:size]
    ordered, place = p_values[order], np.arange(size)
    if method == "holm":
        ordered = np.maximum.accumulate(ordered * (size - place))
    else:  # in this order no p value becomes smaller by rounding
        ordered = ordered * (size / (place + 1))
        ordered = np.minimum.accumulate(ordered[::-1])[::-1]
    found[order] = np.minimum(ordered, 1.0)
    return found


def t_statistic(difference: Given, error: Given) -> Numbers:
    """Return difference / error; 0 where both are 0, infinite where the error alone is."""
    difference, error = np.broadcast_arrays(numbers(difference), numbers(error))
    return np.where((difference == 0) & (error == 0), 0.0, ratio(difference, error))


def p_two_sided(t: Given, freedom: Given) -> Numbers:
    """Return P(|T| >= |t|) of Student's t; NaN without freedom."""
    return 2.0 * p_below(-np.abs(numbers(t)), freedom)


def p_below(t: Given, freedom: Given) -> Numbers:
    """Return P(T <= t) of Student's t; NaN without freedom."""
    freedom = numbers(freedom)
    # SciPy has the normal distribution for infinite freedom
    return numbers(special.stdtr(np.where(freedom > 0, freedom, np.nan), numbers(t)))


def least_p(differ: Given) -> Numbers:
    """Return the smallest two-sided p value possible with so many users, or clusters, that differ: 2^(1 - m)."""
    return np.minimum(2.0 ** (1.0 - np.asarray(differ, dtype=np.float64)), 1.0)


def t_quantile(level: Given, freedom: Given) -> Numbers:
    """Return the t that |T| stays below with the probability `level`; NaN without freedom."""
    freedom, below = numbers(freedom), 0.5 + numbers(level) / 2.0
    return numbers(special.stdtrit(np.where(freedom > 0, freedom, np.nan), below))


def as_numbers(column: pl.Series) -> Numbers:
    """Return a column as an array, NaN for null."""
    return column.cast(pl.Float64).to_numpy()


def as_columns(found: Mapping[str, Any], columns: Mapping[str, Any]) -> pl.DataFrame:
    """Return arrays as columns; NaN and empty words are null."""
    return pl.DataFrame(
        [_column(name, np.asarray(found[name]), dtype) for name, dtype in columns.items()]
    )


def _column(name: str, values: Any, dtype: Any) -> pl.Series:
    if dtype == pl.String:
        return pl.Series(name, [value or None for value in values.tolist()], dtype=dtype)
    return pl.Series(name, values, nan_to_null=True).cast(dtype)


def words(lacks: Mapping[str, Flags], notes: Mapping[str, Flags]) -> Any:
    """Return the first word on what a row lacks, or else all of its notes joined; an empty text where there is none."""
    texts = [np.where(holds, note, "").tolist() for note, holds in notes.items()]
    joined = ["; ".join(filter(None, row)) for row in zip(*texts, strict=True)]
    return np.select([*lacks.values()], [*lacks], np.array(joined, dtype=str) if notes else "")
