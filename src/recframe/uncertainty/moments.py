"""Moments of paired differences: means, their standard errors, and those of clusters, from sums over pairs of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import polars as pl

from recframe.frames.collecting import run_by_size
from recframe.frames.rows.exact_sums import ExactSums
from recframe.metrics.language.definition import Metric
from recframe.plan.needs import is_of_segment, is_share
from recframe.uncertainty import clusters
from recframe.uncertainty.arrays import Numbers, np, ratio
from recframe.uncertainty.clusters import ROUNDING
from recframe.uncertainty.pairs import BASELINE, ENDS, MODEL, SUMS, has_no_ends
from recframe.uncertainty.relative_difference import (
    PairedMeans,
    Quantile,
    Share,
    relative_difference,
)
from recframe.uncertainty.summary import FEWEST


@dataclass(frozen=True)
class Moments:
    """Sums over the users of each row of the result, rows x metrics; of clusters, the squares and products are of theirs."""

    n: Numbers
    """The users with both values."""
    a: Numbers
    """Of the baseline's values, and `d` of the differences."""
    d: Numbers
    aa: Numbers
    """Of products over units: users, or clusters whose values are summed up before."""
    ad: Numbers
    dd: Numbers
    an: Numbers
    """Of products with the number of users in a unit."""
    dn: Numbers
    nn: Numbers
    units: Numbers
    """The number of users, or of clusters; NaN where no interval is known to hold."""
    effective: Numbers
    """As many users, or clusters of one size, say as much: (Σ n)² / Σ n² of clusters of n users."""
    differ: Numbers
    """The users, or clusters, whose two values differ."""

    @property
    def difference(self) -> Numbers:
        """The mean difference."""
        return ratio(self.d, self.n)

    @property
    def freedom(self) -> Numbers:
        """The degrees of freedom."""
        return np.where((self.units > 1) & (self.effective >= 2.0), self.effective - 1.0, np.nan)  # noqa: PLR2004  a spread wants two

    @property
    def standard_error(self) -> Numbers:
        """The standard error of the mean difference: that of independent users, or of leaving out one cluster at a time."""
        mean = self.difference
        rest = self.dd - 2.0 * mean * self.dn + mean**2 * self.nn
        # what rounding leaves of a difference that is the same for all is 0, and no -0, by which infinities change sign
        rest = np.where(rest <= ROUNDING * self.dd, 0.0, rest)
        return np.sqrt(self._of_sample * rest) / np.where(self.n > 0, self.n, np.nan)

    @property
    def _of_sample(self) -> Numbers:
        """G / (G - 1), by which the squares of G units are too small."""
        return ratio(self.units, np.where(self.units > 1, self.units - 1.0, np.nan))

    @property
    def std(self) -> Numbers:
        """The standard deviation of the users' differences; where users hang together, that of as many independent ones."""
        return self.standard_error * np.sqrt(self.n)

    def with_share(self, share: float | Numbers) -> Moments:
        """Return the moments of d + share · a in place of d."""
        return replace(
            self,
            d=self.d + share * self.a,
            ad=self.ad + share * self.aa,
            dd=self.dd + 2.0 * share * self.ad + share**2 * self.aa,
            dn=self.dn + share * self.an,
        )

    def with_ends(self, low: Numbers, high: Numbers) -> Moments:
        """Return the moments with two more users, or clusters of the mean size, whose differences are `low` and `high`.

        So a difference that few users have is not taken for certain. Where the ends are NaN there is none more, and of fewer
        than two users or clusters there are no moments. Source: Agresti and Min 2005.
        """
        known = ~np.isnan(low) & ~np.isnan(high)
        size = np.where(known, ratio(self.n, np.where(self.units > 1, self.units, np.nan)), 0.0)
        low, high, more = np.where(known, low, 0.0), np.where(known, high, 0.0), 2.0 * known
        return replace(
            self,
            n=self.n + more * size,
            d=self.d + size * (low + high),
            dd=self.dd + size**2 * (low**2 + high**2),
            dn=self.dn + size**2 * (low + high),
            nn=self.nn + more * size**2,
            units=self.units + more,
            effective=self.effective + more,
        )

    def relative(self, level: float, quantile: Quantile) -> Share:
        """Return the difference as a share of the baseline, with its interval by the quantile of a difference's own."""
        a, d = ratio(self.a, self.n), self.difference
        scale = ratio(self._of_sample, self.n**2)
        means = PairedMeans(
            a,
            d,
            scale * (self.aa - 2.0 * a * self.an + a**2 * self.nn),
            scale * (self.ad - a * self.dn - d * self.an + a * d * self.nn),
            self.standard_error**2,
            self.freedom,
        )
        return relative_difference(means, level=level, quantile=quantile)


class Ends(NamedTuple):
    """The lowest and the highest value that a user can have of each metric; NaN where there is none."""

    low: Numbers
    high: Numbers

    def of_gap(self, factor: float | Numbers) -> tuple[Numbers, Numbers]:
        """Return the ends of b - f a, with a and b the values of a user and f the factor."""
        return self.low - factor * self.high, self.high - factor * self.low


@dataclass(frozen=True)
class Sums:
    """Sums over pairs of users' values: of each segment, model and baseline, and within it of clusters or random groups."""

    given: pl.DataFrame
    """The keys, `model`, `baseline`, those of the groups, and for each metric, by its place, the sums of `pairs.SUMS`."""
    keys: Sequence[str]
    """The keys of the segments, but the model."""
    metrics: Sequence[Metric[...]]

    @property
    def by(self) -> list[str]:
        """The keys of the rows of a result."""
        return [*self.keys, MODEL, BASELINE]

    def names(self, part: str) -> list[str]:
        """Return the names of the columns of one sum, metric by metric."""
        return [f"{part} {number}" for number in range(len(self.metrics))]

    @cached_property
    def cells(self) -> pl.DataFrame:
        """What is given, without what rounding leaves of set metrics: all of a row's differences, or none of them.

        NOTE: a contribution is n times what a list changes, and so is the rounding of it. Sums of users' values have lost
        theirs before.
        """
        of_sets = [at for at, metric in enumerate(self.metrics) if is_of_segment(metric)]
        return self.given.with_columns(
            column for at in of_sets for column in _without_rounding(at, self.by)
        )

    @cached_property
    def totals(self) -> pl.DataFrame:
        """The rows of the result, with the sums of all groups."""
        names = [name for part in SUMS for name in self.names(part)]
        if {*self.by, *names} >= {*self.cells.columns}:  # a row is its only group
            numbers = (pl.col(name).cast(pl.Float64) + 0.0 for name in names)
            return self.cells.select(*self.by, *numbers).sort(self.by, nulls_last=True)
        return added_up(self.cells, self.by, {name: pl.col(name) for name in names})

    @cached_property
    def rows(self) -> pl.DataFrame:
        """The keys of the rows of the result."""
        return self.totals.select(self.by)

    @cached_property
    def _columns(self) -> dict[str, Numbers]:
        return {part: self._array(self.totals, part) for part in SUMS}

    def column(self, part: str) -> Numbers:
        """Return one of the sums, rows x metrics."""
        return self._columns[part]

    def _array(self, totals: pl.DataFrame, part: str) -> Numbers:
        found = [totals.get_column(name).to_numpy() for name in self.names(part)]
        return np.stack(found, axis=1).astype(np.float64)

    @property
    def ends(self) -> Ends:
        """The ends of the metrics' ranges, or where a range has none the lowest and the highest value of all users and models.

        Of what is made of all lists, or of means, no user has a value.
        """
        found = []
        for number, metric in enumerate(self.metrics):
            if has_no_ends(metric):
                low, high = (pl.col(f"{end} {number}") for end in ENDS)
                found.append(self.given.select(low.min(), high.max()).row(0))
            else:
                found.append((None, None) if is_of_segment(metric) else metric.range)
        return Ends(*np.array(found, dtype=np.float64).reshape(-1, 2).T)

    def moments(self, cluster: str | None = None) -> Moments:
        """Return the moments of users who are independent, or whose squares and products are of the clusters of a column."""
        n, a, d, aa, ad, dd = map(self.column, ("n", "a", "d", "aa", "ad", "dd"))
        if cluster is None:
            differ = n - self.column("ties")
            return Moments(n, a, d, aa, ad, dd, a, d, n, self._sure(n), effective=n, differ=differ)
        plan = clusters.of_clusters(self.cells.lazy(), self.by, cluster, len(self.metrics))
        summed = run_by_size(plan, len(self.cells))
        found = self.rows.join(
            summed, on=self.by, how="left", nulls_equal=True, maintain_order="left"
        )
        taken = {part: self._array(found, part) for part in ("n", "a", "d", *clusters.PARTS)}
        taken["units"] = self._sure(taken["units"])
        return Moments(**taken)

    def _sure(self, units: Numbers) -> Numbers:
        """Return the numbers of units, NaN where a set metric hangs on so few lists that no interval is known to hold."""
        hangs = np.array([not is_share(one) for one in self.metrics], dtype=bool)
        few = self.column("dd") ** 2 < FEWEST * self.column("dddd")
        return np.where(hangs & few, np.nan, units)

    def long(self, found: Mapping[str, Any], columns: Mapping[str, Any]) -> pl.DataFrame:
        """Return a result with a row for each metric of each segment, from arrays of rows x metrics."""
        every = self.rows[np.repeat(np.arange(len(self.rows)), len(self.metrics))]
        return every.hstack(self.metrics_beside(as_columns(found, columns))).select(
            *self.by, *columns
        )

    def metrics_beside(self, made: pl.DataFrame) -> list[pl.Series]:
        """Return columns of rows x metrics, one below the other, with those that name the metrics."""
        n = made.height // len(self.metrics)
        # a result may have no row, from which no dtype can be told
        named = pl.Series("metric", [str(one) for one in self.metrics] * n, dtype=pl.String)
        ks = pl.Series("k", [one.k for one in self.metrics] * n, dtype=pl.Int64)
        return [named, ks, *made]


def added_up(
    rows: pl.DataFrame, keys: Sequence[str], values: Mapping[str, pl.Expr]
) -> pl.DataFrame:
    """Return exact sums of rows, such as those of groups, for each combination of the keys, in their order."""
    exact = ExactSums({name: value.cast(pl.Float64) for name, value in values.items()})
    return run_by_size(exact.of(rows.lazy(), keys).sort(keys, nulls_last=True), len(rows))


def _without_rounding(number: int, by: Sequence[str]) -> list[pl.Expr]:
    n, aa, dd = (pl.col(f"{part} {number}").sum().over(by) for part in ("n", "aa", "dd"))
    is_rounding = dd <= (ROUNDING * n) ** 2 * aa
    same = dict.fromkeys(("d", "ad", "dd", "dddd", "wins"), pl.lit(0))
    same["ties"] = pl.col(f"n {number}")
    return [
        pl.when(is_rounding).then(value).otherwise(f"{part} {number}").alias(f"{part} {number}")
        for part, value in same.items()
    ]


def as_columns(found: Mapping[str, Any], columns: Mapping[str, Any]) -> pl.DataFrame:
    """Return arrays as columns, one below the other; NaN and empty words are null."""
    return pl.DataFrame(
        [
            _column(name, np.asarray(found[name]).reshape(-1), dtype)
            for name, dtype in columns.items()
            if name in found
        ]
    )


def _column(name: str, values: Any, dtype: Any) -> pl.Series:
    if dtype == pl.String:
        return pl.Series(name, [one or None for one in values.tolist()], dtype=dtype)
    return pl.Series(name, values, nan_to_null=True).cast(dtype)
