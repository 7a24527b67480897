"""Means of users' values with their errors, and tests of them.

NaN stands for null: what one user has, or what has no error, has no interval and no p value.

NOTE: the files of this room that compute import this one, and this one imports NumPy and scipy.special, 0.4 seconds. What a
call without intervals runs imports none of them. scipy.stats and statsmodels, four and eight times as slow to import, serve
the tests as oracles alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from recframe.errors import RecframeError
from recframe.evaluation.required_columns import is_of_segment, needs_of
from recframe.evaluation.trainings import N_TRAININGS, SPREAD_OF_TRAININGS
from recframe.metrics.language.definition import Metrics
from recframe.statistics.stored_results import FEW
from recframe.statistics.sums import BASELINE, LACK, PLACE, USERS

try:
    import numpy as np
    import numpy.typing as npt
    from scipy import special
except ModuleNotFoundError as missing:
    message = (
        f"this needs {missing.name}, which is not installed; write: pip install 'recframe[stats]'"
    )
    raise RecframeError(message) from None

__all__ = ["np", "special"]
"""What other files of the room take from here, so that one place says what is missing."""

Numbers: TypeAlias = npt.NDArray[np.float64]
Labels: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Given: TypeAlias = npt.ArrayLike
"""Number, sequence or array that broadcasts."""

NO_SPREAD = 1e-13
"""Share of the squares below which a sum of squares about the mean is rounding."""
FACTS = ("name", "over_lists", "of_each", "share", "higher", "directed", "lowest", "highest")
"""What rows of a metric are judged by; `of_each` says whether it has values of users, which may be shares."""


class Sums:
    """Rows of sums whose columns, and facts of whose metrics, are arrays; NaN is null."""

    def __init__(self, rows: pl.DataFrame, metrics: Metrics) -> None:
        self.rows, facts = rows, []
        for metric in metrics:
            direction, over = metric.definition.direction, needs_of(metric).over
            # as a mean of values within 0 and 1, or a ratio of such means
            is_share = metric.shape != "set" and metric.range == (0.0, 1.0)
            words = (metric.text, over == "lists", not is_of_segment(metric), is_share)
            facts.append((*words, direction != "lower", direction != "", *metric.range))
        for name, values in zip(FACTS, zip(*facts, strict=True), strict=True):
            vars(self)[name] = np.array(values)[rows[PLACE].to_numpy()]
        # users count once over folds
        own, users = self.n, self.users if USERS in rows.columns else np.nan
        self.n_users: Numbers = np.where(np.isnan(users), own, users)

    def __getattr__(self, name: str) -> Any:
        column = self.rows[name]
        found = column.to_numpy() if column.dtype == pl.Boolean else as_numbers(column)
        vars(self)[name] = found
        return found

    @property
    def variance(self) -> Numbers:
        """The variance of users' values, or of their differences; NaN below two."""
        n, squares = self.n, self.squares
        rest = squares - ratio(self.d**2, n)
        exact = np.where(rest <= NO_SPREAD * squares, 0.0, rest)
        return ratio(exact, np.where(n > 1, n - 1.0, np.nan))

    def texts(self, name: str) -> dict[str, Flags]:
        """Return the rows of each text of a column."""
        column = self.rows[name]
        return {text: column.eq_missing(text).to_numpy() for text in column.drop_nulls().unique()}

    def doubts(self) -> tuple[dict[str, Flags], dict[str, Flags]]:
        """Return why rows have no interval, and why it is rough, in words."""
        n, each, effective = self.n, self.of_each, self.effective
        lacks = {
            "one user, so no interval": n == 1,
            "clusters count as fewer than two of one size, so no interval": (n > 1)
            & each
            & ~(effective >= 2.0),  # noqa: PLR2004  a spread
        }
        few = f"clusters count as fewer than {FEW} of one size, so the interval is rough"
        if LACK in self.rows.columns:
            lacks |= self.texts(LACK)
        return lacks, {few: each & (effective < np.minimum(self.n_users, FEW))}


class Estimate(NamedTuple):
    """A mean of each row, its standard error and degrees of freedom, and how many users and differing users it is of."""

    value: Numbers
    error: Numbers
    freedom: Numbers
    n: Numbers
    differ: Numbers


def of_units(of: Sums, factor: Given = 1.0, *, with_ends: bool = False) -> Estimate:
    """Return the mean of b - factor · a over users, with the error of its units.

    `with_ends` adds two users, or clusters of the mean size, with the least and the most that can be, so that a value that few
    users have is not taken for certain; a metric without two ends has no error then, unless many users differ.
    Source: Bell and McCaffrey 2002 (clusters); Agresti and Min 2005 (ends).
    """
    share, n, units, effective = np.subtract(1.0, factor), of.n, of.units, of.effective
    d, dn, nn = of.d + share * of.a, of.dn + share * of.an, of.nn
    dd = of.dd + 2.0 * share * of.ad + share**2 * of.aa
    if with_ends:
        known = np.isfinite(of.lowest) & np.isfinite(of.highest)
        size = np.where(of.of_each & known & (units > 1), ratio(n, units), 0.0)
        least, most = np.where(known, (of.lowest, of.highest), 0.0)
        ends, more = (
            size * np.array([least - factor * most, most - factor * least]),
            2.0 * (size > 0),
        )
        n, units, effective = n + more * size, units + more, effective + more
        d, dn, nn = d + ends.sum(0), dn + size * ends.sum(0), nn + more * size**2
        dd = dd + (ends**2).sum(0)
        units = np.where(of.of_each & ~known & (of.differ < FEW), np.nan, units)
    value = ratio(d, np.where(n > 0, n, np.nan))
    rest = dd - 2.0 * value * dn + value**2 * nn
    # what rounding leaves of values that are the same for all is 0, and no -0, by which infinities change sign
    rest = np.where(rest <= NO_SPREAD * dd, 0.0, rest)
    enough = (units > 1) & (effective >= 2.0)  # noqa: PLR2004  a spread wants two
    units = np.where(enough, units, np.nan)
    squared = ratio(units * rest, (units - 1.0) * n**2)
    freedom = np.where(enough, effective - 1.0, np.nan)
    return Estimate(value, np.sqrt(squared), freedom, n, of.differ)


def of_mean(of: Sums, factor: Given = 1.0, *, with_ends: bool = False) -> Estimate:
    """Return the mean of b - factor · a over users, with the error of trainings too where these are a second sample.

    A fixed model has no training, and no variance of them. Source: Satterthwaite 1946.
    """
    e = of_units(of, factor, with_ends=with_ends)
    for side, times in (("", 1.0), (f"{BASELINE} ", factor)):
        if f"{side}{N_TRAININGS}" in of.rows.columns:
            n = getattr(of, f"{side}{N_TRAININGS}")
            variance = ratio(getattr(of, f"{side}{SPREAD_OF_TRAININGS}"), n)
            e = with_error(e, np.square(times) * np.nan_to_num(variance), n - 1.0)
    return e


def apart(one: Estimate, other: Estimate) -> Estimate:
    """Return the difference of two means of different users. Source: Welch 1947."""
    n = np.minimum(one.n, other.n)
    e = one._replace(value=one.value - other.value, n=n, differ=np.full(n.shape, np.inf))
    return with_error(e, other.error**2, other.freedom)


def with_error(e: Estimate, squared: Numbers, freedom: Numbers) -> Estimate:
    """Return an estimate with another squared error added to its own, and degrees of freedom of their sum."""
    parts, each = np.array([e.error**2, squared]), np.array([e.freedom, freedom])
    whole, terms = parts.sum(0), np.where(parts > 0, ratio(parts**2, each), 0.0).sum(0)
    freedom = np.where(whole > 0, ratio(whole**2, terms), e.freedom)
    return e._replace(error=np.sqrt(whole), freedom=np.where(np.isnan(whole), np.nan, freedom))


class Judged(NamedTuple):
    """The interval of each row, and its p value by itself and among all rows."""

    difference_low: Numbers
    difference_high: Numbers
    p_value: Numbers
    p_adjusted: Numbers


def judged(
    e: Estimate,
    *,
    level: float | Numbers,
    correction: str | None = "holm",
    untested: Flags | bool = False,
    tests: Given | None = None,
) -> Judged:
    """Return t intervals of estimates and p values of their being 0.

        correction: "holm" and "benjamini-hochberg" adjust the p values of all rows, of which those are left out that are
            `untested`; "sidak" the intervals too, so that all of as many `tests` hold at the level.

    No p value is below 2^(1 - m), with m the users who differ: of the 2^m ways in which their signs fall two are as far from 0.
    Source: Student 1908; Fisher 1935; Holm 1979; Benjamini and Hochberg 1995; Sidak 1967.
    """
    p_value = np.maximum(2.0 * p_below(-np.abs(e.value), e.error, e.freedom), least_p(e.differ))
    tested = np.where(untested, np.nan, p_value)
    if correction == "sidak":
        n = np.maximum(np.count_nonzero(~np.isnan(tested)) if tests is None else tests, 1)
        level **= ratio(1.0, n)
        p_adjusted = -special.expm1(n * special.log1p(-np.minimum(tested, 1.0 - 2.0**-53)))
    else:
        p_adjusted = tested if correction is None else adjusted(tested, method=correction)
    half = t_quantile(level, e.freedom) * e.error
    return Judged(e.value - half, e.value + half, p_value, p_adjusted)


def users_of_share(e: Estimate) -> Numbers:
    """Return the effective number of users p (1 - p) / error² of a share p; all users without an error."""
    spread = np.maximum(e.value * (1.0 - e.value), 0.0)
    return np.where(e.error > 0, ratio(spread, e.error**2), e.n)


def interval(e: Estimate, of: Sums, level: float) -> Numbers:
    """Return the lower and upper ends of values within the metrics' ranges: Wilson's for shares, else t's.

    Wilson's is on the effective number of users, with t's quantile. Source: Wilson 1927.
    """
    t = t_quantile(level, e.freedom)
    of_n = np.where(of.share, ratio(t**2, users_of_share(e)), 0.0)
    spread = np.maximum(e.value * (1.0 - e.value), 0.0)
    half = np.where(of.share, np.sqrt(of_n * (spread + of_n / 4.0)), t * e.error)
    middle, half = ratio((e.value + of_n / 2.0, half), 1.0 + of_n)
    ends: Numbers = np.clip((middle - half, middle + half), of.lowest, of.highest)
    return ends


def adjusted(p_values: Numbers, *, method: str) -> Numbers:
    """Return p values that hold for all of them together; NaN is no test, and stays NaN.

    Of m tests, the one of the j-th smallest p: Holm the largest of (m - i + 1) p_(i) over i <= j; Benjamini-Hochberg the
    smallest of m p_(i) / i over i >= j; none above 1.
    """
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


# Student's t, of which SciPy has the normal distribution for infinite freedom, and NaN for none


def p_below(value: Given, error: Given, freedom: Given) -> Numbers:
    """Return P(T <= value / error), whose t is 0 where both are 0; NaN without freedom."""
    t = np.where(np.equal(value, 0) & np.equal(error, 0), 0.0, ratio(value, error))
    return np.asarray(special.stdtr(freedom, t))


def t_quantile(level: Given, freedom: Given) -> Numbers:
    """Return the t that |T| stays below with the probability `level`; NaN without freedom."""
    return np.asarray(special.stdtrit(freedom, 0.5 + np.divide(level, 2.0)))


def least_p(differ: Numbers) -> Numbers:
    """Return the smallest two-sided p value possible with so many users, or clusters, that differ: 2^(1 - m)."""
    return np.minimum(2.0 ** (1.0 - differ), 1.0)


# Arrays and columns


def ratio(numerator: Given, denominator: Given) -> Numbers:
    """Return a / b without a warning: 0 / 0 is NaN, x / 0 is infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(numerator, denominator)


def as_numbers(column: pl.Series) -> Numbers:
    """Return a column as an array, NaN for null."""
    return column.cast(pl.Float64).to_numpy()


def as_columns(found: Mapping[str, Any], dtypes: Mapping[str, Any]) -> pl.DataFrame:
    """Return arrays as columns, those that have a dtype; NaN is null."""
    columns = []
    for name in filter(found.__contains__, dtypes):
        column = pl.Series(name, found[name], nan_to_null=True)
        columns.append(column.cast(dtypes[name]))
    return pl.DataFrame(columns)


def words(lacks: dict[str, Flags], notes: Mapping[str, Flags]) -> list[str | None]:
    """Return the first word on what a row lacks, or else all of its notes joined; None where there is none."""
    text = np.full_like(next(iter(lacks.values())), "", dtype=object)
    for note, holds in notes.items():
        text[holds & (text != "")] += "; "
        text[holds] += note
    for lack, holds in reversed(lacks.items()):
        text[holds] = lack
    text[text == ""] = None
    found: list[str | None] = text.tolist()
    return found
