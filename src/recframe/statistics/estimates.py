"""Means of users' values with their errors, and tests of them.

NaN stands for null: what one user has, or what has no error, has no interval and no p value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import polars as pl

from recframe.evaluation.required_columns import is_of_segment, is_share
from recframe.evaluation.trainings import PARTS as OF_TRAININGS
from recframe.metrics.language.definition import Metric
from recframe.statistics.arrays import Flags, Given, Numbers, np, numbers, ratio, special
from recframe.statistics.groups import FEWEST, N_GROUPS, reason_without
from recframe.statistics.stored_results import FEW
from recframe.statistics.sums import BASELINE, ENDS, PLACE, ROUNDING, USERS

FEW_CLUSTERS = f"clusters count as fewer than {FEW} of one size, so the interval is rough"
NO_SPREAD = 1e-13
"""Share of the squares below which a sum of squares about the mean is rounding."""
OF_METRIC: dict[str, Callable[[Metric[...]], bool]] = {
    "share": is_share,
    "of_each": lambda metric: not is_of_segment(metric),
    "higher": lambda metric: metric.direction != "lower",
    "directed": lambda metric: metric.direction != "",
}
"""Flags of a row by its metric: whether it is a share, has users' values, is better where higher, and has a better end."""


class Sums:
    """Rows of sums of a result; their columns are arrays: numbers, NaN for null, and flags."""

    def __init__(self, rows: pl.DataFrame, **arrays: Any) -> None:
        vars(self).update(arrays, rows=rows)

    def __getattr__(self, name: str) -> Any:
        rows = vars(self)["rows"]
        if name in OF_METRIC:
            found = self.of_metrics(OF_METRIC[name], bool)
        elif rows.schema[name] == pl.Boolean:
            found = rows[name].fill_null(value=False).to_numpy()
        else:
            found = as_numbers(rows[name])
        vars(self)[name] = found
        return found

    def having(self, **arrays: Numbers) -> Sums:
        """Return the same rows with other arrays."""
        return Sums(**{**vars(self), **arrays})

    def less(self, factor: Given) -> Sums:
        """Return the sums of b - factor · a in place of those of b - a."""
        share, a, aa = 1.0 - numbers(factor), self.a, self.aa
        return self.having(
            d=self.d + share * a,
            dd=self.dd + 2.0 * share * self.ad + share**2 * aa,
            ad=self.ad + share * aa,
            dn=self.dn + share * self.an,
        )

    def with_ends(self, low: Numbers, high: Numbers) -> Sums:
        """Return the sums with two more users, or clusters of the mean size, whose values are `low` and `high`.

        So a value that few users have is not taken for certain. None is added where an end is NaN.
        Source: Agresti and Min 2005.
        """
        known = ~np.isnan(low + high) & (self.units > 1)
        size, more = np.where(known, ratio(self.n, self.units), 0.0), 2.0 * known
        low, high = size * np.nan_to_num(low), size * np.nan_to_num(high)
        return self.having(
            n=self.n + more * size,
            d=self.d + low + high,
            dd=self.dd + low**2 + high**2,
            dn=self.dn + size * (low + high),
            nn=self.nn + more * size**2,
            units=self.units + more,
            effective=self.effective + more,
        )

    @property
    def moments(self) -> Sums:
        """The sums; a set metric that hangs on too few groups of users, or changes alike without each, has no units."""
        is_set, units, differ = ~self.of_each, self.units, self.differ
        if not is_set.any():
            return self
        flat = self.dd <= (ROUNDING * np.maximum(np.abs(self.d), np.abs(self.a))) ** 2
        few = is_set & ((units < FEWEST) | (differ < FEWEST) | flat)
        # two models with one value are the same without any group
        few &= (differ > 0) | (self.d != 0) | (self.a == 0) | ~(units >= FEWEST)
        return self.having(units=np.where(few, np.nan, units))

    @property
    def n_users(self) -> Numbers:
        """The number of users, who count once over folds."""
        n: Numbers = self.n
        return np.where(np.isnan(self.users), n, self.users) if USERS in self.rows.columns else n

    @property
    def variance(self) -> Numbers:
        """The variance of users' values, or of their differences; NaN below two."""
        n, squares = self.n, self.squares
        rest = squares - ratio(self.d**2, n)
        exact = np.where(rest <= NO_SPREAD * squares, 0.0, rest)
        return ratio(exact, np.where(n > 1, n - 1.0, np.nan))

    def ends(self, factor: Given) -> tuple[Numbers, Numbers]:
        """Return the least and the most that a user's b - factor · a can be; where a metric has no end, by users' values."""
        ends = self.of_metrics(lambda metric: metric.range, float).reshape(-1, 2).T
        if {*ENDS} <= {*self.rows.columns}:
            ends = np.fmax(ends[0], self.least), np.fmin(ends[1], self.most)
        least, most = np.where(self.of_each & np.isfinite(ends), ends, np.nan)
        return least - factor * most, most - factor * least

    def of_metrics(self, say: Callable[[Metric[...]], Any], dtype: type) -> Any:
        """Return what a function says of each row's metric."""
        each = {place: say(metric) for place, metric in self.metrics.items()}
        return np.array([each[place] for place in self.rows[PLACE]], dtype=dtype)

    @property
    def few_clusters(self) -> Flags:
        """Whether clusters of users count as so few that a t interval is rough."""
        found: Flags = self.of_each & (self.effective < np.minimum(self.n_users, FEW))
        return found

    def without_interval(self) -> dict[str, Flags]:
        """Return why rows have no interval, in words."""
        is_set, n = ~self.of_each, self.n
        one_cluster = (n > 1) & ~is_set & ~(self.effective >= 2.0)  # noqa: PLR2004  a spread
        found = {
            "one user, so no interval": n == 1,
            "clusters count as fewer than two of one size, so no interval": one_cluster,
        }
        if not is_set.any():
            return found
        reason = self.of_metrics(lambda metric: reason_without(metric) or "", str)
        found |= {f"{one}, so no interval": reason == one for one in {*reason.tolist()} - {""}}
        without = is_set & np.isnan(self.moments.units)
        few = f"fewer than {FEWEST} of {N_GROUPS} groups of users change it, so no interval"
        return found | {
            f"fewer than {FEWEST} groups of users, so no interval": is_set
            & ~(self.units >= FEWEST),
            few: without & (self.differ < FEWEST),
            "all groups of users change it alike, so no interval": without,
        }


class Estimate(NamedTuple):
    """A mean of each row, its standard error and degrees of freedom, and how many users and differing users it is of."""

    value: Numbers
    error: Numbers
    freedom: Numbers
    n: Numbers
    differ: Numbers


def of_users(
    sums: Sums, factor: Given = 1.0, ends: tuple[Numbers, Numbers] | None = None
) -> Estimate:
    """Return the mean of b - factor · a over users, with the error of its units.

    With `ends` two more users have these values. Source: Bell and McCaffrey 2002 (clusters).
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
    return Estimate(value, np.sqrt(squared), freedom, of.n, of.differ)


def of_mean(
    sums: Sums, factor: Given = 1.0, ends: tuple[Numbers, Numbers] | None = None
) -> Estimate:
    """Return the mean of b - factor · a over users, with the error of trainings too where these are a second sample.

    A fixed model has no training, and no variance of them. Source: Satterthwaite 1946.
    """
    e, there = of_users(sums, factor, ends), sums.rows.columns
    parts = []
    for side, times in {"": numbers(1.0), f"{BASELINE} ": numbers(factor)}.items():
        names = [f"{side}{part}" for part in OF_TRAININGS]
        if {*names} <= {*there}:
            n, variance = (getattr(sums, name) for name in names)
            parts.append((times**2 * np.nan_to_num(ratio(variance, n)), n - 1.0))
    return _with_errors(e, parts) if parts else e


def apart(one: Estimate, other: Estimate) -> Estimate:
    """Return the difference of two means of different users. Source: Welch 1947."""
    n = np.minimum(one.n, other.n)
    e = one._replace(value=one.value - other.value, n=n, differ=np.full(n.shape, np.inf))
    return _with_errors(e, [(other.error**2, other.freedom)])


def _with_errors(e: Estimate, others: list[tuple[Numbers, Numbers]]) -> Estimate:
    """Return an estimate with other squared errors added to its own, and degrees of freedom of their sum."""
    parts = [(e.error**2, e.freedom), *others]
    whole = numbers(sum(error for error, _ in parts))
    terms = (np.where(error > 0, ratio(error**2, freedom), 0.0) for error, freedom in parts)
    freedom = np.where(whole > 0, ratio(whole**2, numbers(sum(terms))), e.freedom)
    known = np.where(np.isnan(e.error), np.nan, freedom)
    return e._replace(error=np.sqrt(whole), freedom=known)


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
    p_value = np.maximum(p_two_sided(t_statistic(e.value, e.error), e.freedom), least_p(e.differ))
    tested = p_value if untested is None else np.where(untested, np.nan, p_value)
    level_of_each: Given = level
    if correction == "sidak":
        n = np.maximum(np.count_nonzero(~np.isnan(tested)) if tests is None else tests, 1)
        level_of_each = level ** ratio(1.0, n)
        p_adjusted = -special.expm1(n * special.log1p(-np.minimum(tested, 1.0 - 2.0**-53)))
    else:
        p_adjusted = tested if correction is None else adjusted(tested, method=correction)
    half = t_quantile(level_of_each, e.freedom) * e.error
    return Judged(e.value - half, e.value + half, p_value, p_adjusted)


def users_of_share(e: Estimate) -> Numbers:
    """Return the effective number of users p (1 - p) / error² of a share p; all users without an error."""
    spread = np.maximum(e.value * (1.0 - e.value), 0.0)
    return np.where(e.error > 0, ratio(spread, e.error**2), e.n)


def wilson(e: Estimate, level: float) -> tuple[Numbers, Numbers]:
    """Return intervals of shares, on their effective number of users, with t's quantile. Source: Wilson 1927."""
    spread = np.maximum(e.value * (1.0 - e.value), 0.0)
    of_n = ratio(t_quantile(level, e.freedom) ** 2, users_of_share(e))
    middle = ratio(e.value + of_n / 2.0, 1.0 + of_n)
    half = ratio(np.sqrt(of_n * (spread + of_n / 4.0)), 1.0 + of_n)
    return middle - half, middle + half


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


def as_columns(found: Mapping[str, Any], dtypes: Mapping[str, Any]) -> pl.DataFrame:
    """Return arrays as columns, those that have a dtype; NaN and empty words are null."""
    known = {name: values for name, values in found.items() if name in dtypes}
    rows = pl.DataFrame(known, nan_to_null=True)
    words = pl.col(pl.String)
    return rows.with_columns(pl.when(words != "").then(words)).cast(
        {name: dtypes[name] for name in known}
    )


def words(lacks: Mapping[str, Flags], notes: Mapping[str, Flags]) -> Any:
    """Return the first word on what a row lacks, or else all of its notes joined; an empty text where there is none."""
    texts = [np.where(holds, note, "").tolist() for note, holds in notes.items()]
    joined = ["; ".join(filter(None, row)) for row in zip(*texts, strict=True)]
    return np.select([*lacks.values()], [*lacks], np.array(joined, dtype=str) if notes else "")
