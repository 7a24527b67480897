"""Means of users' values with their errors, and tests of them.

NaN stands for null: what one user has, or what has no error, has no interval and no p value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from recframe.evaluation.required_columns import is_of_segment, is_share, needs_of
from recframe.evaluation.trainings import N_TRAININGS, SPREAD_OF_TRAININGS
from recframe.metrics.language.definition import Metric
from recframe.statistics.arrays import Flags, Given, Numbers, np, numbers, ratio, special
from recframe.statistics.groups import FEWEST, N_GROUPS, reason_without
from recframe.statistics.stored_results import FEW
from recframe.statistics.sums import BASELINE, PLACE, ROUNDING, USERS

FEW_CLUSTERS = f"clusters count as fewer than {FEW} of one size, so the interval is rough"
NO_SPREAD = 1e-13
"""Share of the squares below which a sum of squares about the mean is rounding."""


def facts_of(metric: Metric[...]) -> dict[str, Any]:
    """Return what rows of a metric are judged by."""
    low, high = metric.range
    return {
        "name": str(metric),
        "over_lists": needs_of(metric).over == "lists",
        # whether it has values of users, which may be shares
        "of_each": not is_of_segment(metric),
        "share": is_share(metric),
        "higher": metric.direction != "lower",
        "directed": metric.direction != "",
        "lowest": low,
        "highest": high,
        "reason": reason_without(metric) or "",
    }


class Sums:
    """Rows of sums whose columns, and facts of whose metrics, are arrays; NaN is null."""

    def __init__(self, rows: pl.DataFrame, metrics: Sequence[Metric[...]]) -> None:
        self.rows, self.facts = rows, [facts_of(one) for one in metrics]

    def __getattr__(self, name: str) -> Any:
        if name in self.facts[0]:
            each = np.array([facts[name] for facts in self.facts])
            found = each[self.rows[PLACE].to_numpy()]
        else:
            column = self.rows[name]
            found = column.to_numpy() if column.dtype == pl.Boolean else as_numbers(column)
        vars(self)[name] = found
        return found

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

    @property
    def known_units(self) -> Numbers:
        """The units; none of a set metric that hangs on too few groups of users, or changes alike without each."""
        units: Numbers = self.units
        if self.of_each.all():
            return units
        flat = self.dd <= (ROUNDING * np.maximum(np.abs(self.d), np.abs(self.a))) ** 2
        few = (units < FEWEST) | (self.differ < FEWEST) | flat
        # two models with one value are the same without any group
        few &= (self.differ > 0) | (self.d != 0) | (self.a == 0) | ~(units >= FEWEST)
        return np.where(few & ~self.of_each, np.nan, units)

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
        for reason in {*self.reason.tolist()} - {""}:
            found[f"{reason}, so no interval"] = self.reason == reason
        without = is_set & np.isnan(self.known_units)
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


def of_units(of: Sums, factor: Given = 1.0, *, with_ends: bool = False) -> Estimate:
    """Return the mean of b - factor · a over users, with the error of its units.

    `with_ends` adds two users, or clusters of the mean size, with the least and the most that can be, so that a value that few
    users have is not taken for certain; a metric without two ends has no error then, unless many users differ.
    Source: Bell and McCaffrey 2002 (clusters); Agresti and Min 2005 (ends).
    """
    share, n, units, effective = 1.0 - numbers(factor), of.n, of.known_units, of.effective
    d, dn, nn = of.d + share * of.a, of.dn + share * of.an, of.nn
    dd = of.dd + 2.0 * share * of.ad + share**2 * of.aa
    if with_ends:
        known = np.isfinite(of.lowest) & np.isfinite(of.highest)
        size = np.where(of.of_each & known & (units > 1), ratio(n, units), 0.0)
        least, most = np.where(known, (of.lowest, of.highest), 0.0)
        low, high, more = (
            size * (least - factor * most),
            size * (most - factor * least),
            2.0 * (size > 0),
        )
        n, units, effective = n + more * size, units + more, effective + more
        d, dn, nn = d + low + high, dn + size * (low + high), nn + more * size**2
        dd = dd + low**2 + high**2
        units = np.where(of.of_each & ~known & (of.differ < FEW), np.nan, units)
    value = ratio(d, np.where(n > 0, n, np.nan))
    rest = dd - 2.0 * value * dn + value**2 * nn
    # what rounding leaves of values that are the same for all is 0, and no -0, by which infinities change sign
    rest = np.where(rest <= NO_SPREAD * dd, 0.0, rest)
    enough = (units > 1) & (effective >= 2.0)  # noqa: PLR2004  a spread wants two
    units = np.where(enough, units, np.nan)
    squared = ratio(units * rest, (units - 1.0) * n**2)
    return Estimate(
        value, np.sqrt(squared), np.where(enough, effective - 1.0, np.nan), n, of.differ
    )


def of_mean(of: Sums, factor: Given = 1.0, *, with_ends: bool = False) -> Estimate:
    """Return the mean of b - factor · a over users, with the error of trainings too where these are a second sample.

    A fixed model has no training, and no variance of them. Source: Satterthwaite 1946.
    """
    e, parts = of_units(of, factor, with_ends=with_ends), []
    for side, times in (("", 1.0), (f"{BASELINE} ", numbers(factor))):
        if f"{side}{N_TRAININGS}" in of.rows.columns:
            n = getattr(of, f"{side}{N_TRAININGS}")
            variance = ratio(getattr(of, f"{side}{SPREAD_OF_TRAININGS}"), n)
            parts.append((times**2 * np.nan_to_num(variance), n - 1.0))
    return with_errors(e, parts) if parts else e


def apart(one: Estimate, other: Estimate) -> Estimate:
    """Return the difference of two means of different users. Source: Welch 1947."""
    n = np.minimum(one.n, other.n)
    e = one._replace(value=one.value - other.value, n=n, differ=np.full(n.shape, np.inf))
    return with_errors(e, [(other.error**2, other.freedom)])


def with_errors(e: Estimate, others: Sequence[tuple[Numbers, Numbers]]) -> Estimate:
    """Return an estimate with other squared errors added to its own, and degrees of freedom of their sum."""
    whole = terms = np.zeros_like(e.error)
    for squared, freedom in ((e.error**2, e.freedom), *others):
        whole = whole + squared
        terms = terms + np.where(squared > 0, ratio(squared**2, freedom), 0.0)
    freedom = np.where(whole > 0, ratio(whole**2, terms), e.freedom)
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


def interval(e: Estimate, of: Sums, level: float) -> tuple[Numbers, Numbers]:
    """Return the intervals of values within the metrics' ranges: Wilson's for shares, else t's.

    Wilson's is on the effective number of users, with t's quantile. Source: Wilson 1927.
    """
    t = t_quantile(level, e.freedom)
    of_n = ratio(t**2, users_of_share(e))
    spread = np.maximum(e.value * (1.0 - e.value), 0.0)
    root = ratio(np.sqrt(of_n * (spread + of_n / 4.0)), 1.0 + of_n)
    middle = np.where(of.share, ratio(e.value + of_n / 2.0, 1.0 + of_n), e.value)
    half = np.where(of.share, root, t * e.error)
    low, high = np.clip([middle - half, middle + half], of.lowest, of.highest)
    return low, high


def adjusted(p_values: Given, *, method: str) -> Numbers:
    """Return p values that hold for all of them together; NaN is no test, and stays NaN.

    Of m tests, the one of the j-th smallest p: Holm the largest of (m - i + 1) p_(i) over i <= j; Benjamini-Hochberg the
    smallest of m p_(i) / i over i >= j; none above 1.
    """
    p_values = numbers(p_values)
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
    # SciPy has the normal distribution for infinite freedom, and NaN for none
    return numbers(special.stdtr(freedom, t))


def least_p(differ: Given) -> Numbers:
    """Return the smallest two-sided p value possible with so many users, or clusters, that differ: 2^(1 - m)."""
    return np.minimum(2.0 ** (1.0 - numbers(differ)), 1.0)


def t_quantile(level: Given, freedom: Given) -> Numbers:
    """Return the t that |T| stays below with the probability `level`; NaN without freedom."""
    return numbers(special.stdtrit(freedom, 0.5 + numbers(level) / 2.0))


def as_numbers(column: pl.Series) -> Numbers:
    """Return a column as an array, NaN for null."""
    return column.cast(pl.Float64).to_numpy()


def as_columns(found: Mapping[str, Any], dtypes: Mapping[str, Any]) -> pl.DataFrame:
    """Return arrays as columns, those that have a dtype; NaN is null."""
    return pl.DataFrame(
        [
            pl.Series(name, found[name], nan_to_null=True).cast(dtype)
            for name, dtype in dtypes.items()
            if name in found
        ]
    )


def words(lacks: Mapping[str, Flags], notes: Mapping[str, Flags]) -> list[str | None]:
    """Return the first word on what a row lacks, or else all of its notes joined; None where there is none."""
    text = np.full(np.shape(next(iter(lacks.values()))), "", dtype=object)
    for note, holds in notes.items():
        text[holds] += f"; {note}"
    for lack, holds in [*lacks.items()][::-1]:
        text[holds] = f"; {lack}"
    return [one[2:] or None for one in text]
