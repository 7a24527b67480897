"""Moments of paired differences: means, standard errors, clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import polars as pl

from recframe.frames.collecting import run_by_size
from recframe.frames.rows.exact_sums import ExactSums
from recframe.statistics.arrays import Numbers, np, numbers, ratio
from recframe.statistics.over_folds import of_each_user
from recframe.statistics.pairs import (
    BASELINE,
    MODEL,
    NO_SPREAD,
    OF_ROWS,
    OF_TRAININGS,
    OF_UNITS,
    PLACE,
    SUMS,
    USERS,
    units_of_clusters,
    units_of_users,
)
from recframe.statistics.summary import FEWEST


@dataclass(frozen=True)
class Moments:
    """Sums over users or clusters, of each row of a result."""

    n: Numbers
    """Number of users with both values."""
    a: Numbers
    """Sum of the baseline's values; `d` is that of the differences."""
    d: Numbers
    aa: Numbers
    """Sums of products over units: users, or clusters with summed values."""
    ad: Numbers
    dd: Numbers
    an: Numbers
    """Sums of products with the number of users per unit."""
    dn: Numbers
    nn: Numbers
    units: Numbers
    """Number of users or clusters; NaN where no valid interval is known."""
    effective: Numbers
    """Effective number of users or clusters: (Σ n)² / Σ n² for clusters of n users."""
    differ: Numbers
    """Number of users, or clusters, whose two values differ."""
    trainings: Trainings | None = None
    """Variance between trainings of both models, where they are a sample too."""

    @classmethod
    def of(cls, rows: pl.DataFrame) -> Moments:
        """Return the moments of rows that have them as columns, and those of trainings where these are a sample too."""
        known = {part: as_numbers(rows[part]) for part in ("n", "a", "d", *OF_UNITS)}
        of_trainings = [as_numbers(rows[part]) for part in OF_TRAININGS if part in rows.columns]
        return cls(**known, trainings=Trainings(*of_trainings) if of_trainings else None)

    @property
    def difference(self) -> Numbers:
        """The mean difference."""
        return ratio(self.d, self.n)

    @property
    def freedom(self) -> Numbers:
        """The degrees of freedom, by Satterthwaite where trainings are a sample too."""
        users = self.freedom_of_users
        return users if self.trainings is None else self.trainings.freedom(self._error**2, users)

    @property
    def freedom_of_users(self) -> Numbers:
        """Those of users, or of clusters, alone."""
        return np.where((self.units > 1) & (self.effective >= 2.0), self.effective - 1.0, np.nan)  # noqa: PLR2004  a spread wants two

    @property
    def standard_error(self) -> Numbers:
        """The standard error of the mean difference: of users, and of trainings where these are a sample too."""
        if self.trainings is None:
            return self._error
        return np.sqrt(self._error**2 + self.trainings.squared_error)

    @property
    def _error(self) -> Numbers:
        """The error of users alone: that of independent ones, or of leaving out one cluster at a time."""
        mean = self.difference
        rest = self.dd - 2.0 * mean * self.dn + mean**2 * self.nn
        # what rounding leaves of a difference that is the same for all is 0, and no -0, by which infinities change sign
        rest = np.where(rest <= NO_SPREAD * self.dd, 0.0, rest)
        return np.sqrt(self._of_sample * rest) / np.where(self.n > 0, self.n, np.nan)

    @property
    def _of_sample(self) -> Numbers:
        """The correction G / (G - 1) for sums of squares of G units."""
        return ratio(self.units, np.where(self.units > 1, self.units - 1.0, np.nan))

    @property
    def std(self) -> Numbers:
        """The standard deviation of users' differences; for clusters, that of equivalent independent users."""
        return self._error * np.sqrt(self.n)

    def with_share(self, share: float | Numbers) -> Moments:
        """Return the moments of d + share · a in place of d."""
        return replace(
            self,
            d=self.d + share * self.a,
            ad=self.ad + share * self.aa,
            dd=self.dd + 2.0 * share * self.ad + share**2 * self.aa,
            dn=self.dn + share * self.an,
            trainings=None if self.trainings is None else self.trainings.with_share(share),
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

    @property
    def relative(self) -> Numbers:
        """The difference as a share of the baseline's value; NaN where that is 0."""
        return ratio(self.difference, np.where(self.a == 0, np.nan, ratio(self.a, self.n)))


class Trainings(NamedTuple):
    """Variance between trainings of two models (unpaired), of each row of a result.

    The squared error of the mean of n values with the variance s² is s² / n, of n - 1 degrees of freedom. One training says
    nothing of others: it adds no error.
    """

    n: Numbers
    variance: Numbers
    n_baseline: Numbers
    variance_baseline: Numbers
    factor: float | Numbers = 1.0
    """Weight of the baseline's value."""

    @property
    def of_model(self) -> Numbers:
        """The squared error of the model's mean over its trainings."""
        return np.nan_to_num(ratio(self.variance, self.n))

    @property
    def of_baseline(self) -> Numbers:
        """The squared error of the baseline's mean over its trainings, times its squared weight."""
        return self.factor**2 * np.nan_to_num(ratio(self.variance_baseline, self.n_baseline))

    @property
    def squared_error(self) -> Numbers:
        """The squared error of the difference."""
        return self.of_model + self.of_baseline

    def freedom(self, users: Numbers, freedom: Numbers) -> Numbers:
        """Return the degrees of freedom of the error of trainings and of users, whose squared error and freedom are given.

        Source: Satterthwaite 1946.
        """
        parts = (
            (users, freedom),
            (self.of_model, self.n - 1),
            (self.of_baseline, self.n_baseline - 1),
        )
        spread = sum(np.where(error > 0, ratio(error**2, of), 0.0 * freedom) for error, of in parts)
        whole = users + self.squared_error
        return np.where(self.squared_error > 0, ratio(whole**2, numbers(spread)), freedom)

    def with_share(self, share: float | Numbers) -> Trainings:
        """Return those of b - (1 - share) a in place of b - a."""
        return self._replace(factor=self.factor - share)


class Ends(NamedTuple):
    """Range of users' values, of each row of a result; NaN where unknown."""

    low: Numbers
    high: Numbers

    def of_gap(self, factor: float | Numbers) -> tuple[Numbers, Numbers]:
        """Return the ends of b - f a, with a and b the values of a user and f the factor."""
        return self.low - factor * self.high, self.high - factor * self.low


@dataclass(frozen=True)
class Sums:
    """Sums over paired users' values, by segment, model, baseline and metric."""

    given: pl.DataFrame
    """Keys, `model`, `baseline`, group keys, and the columns of `pairs.by_metric`."""
    keys: Sequence[str]
    """Keys of the segments, without the model."""

    @property
    def by(self) -> list[str]:
        """The keys of the rows of a result."""
        return [*self.keys, MODEL, BASELINE, PLACE]

    @cached_property
    def cells(self) -> pl.DataFrame:
        """The given sums without rounding errors of set metrics: for all of a row's differences, or none of them.

        NOTE: a contribution is n times what a list changes, and so is the rounding of it. Sums of users' values have lost
        theirs before.
        """
        n, aa, dd = (pl.col(part).sum().over(self.by) for part in ("n", "aa", "dd"))
        is_rounding = ~pl.col("of_each") & (dd <= (NO_SPREAD * n) ** 2 * aa)
        same = dict.fromkeys(("d", "ad", "dd", "dddd", "wins"), pl.lit(0)) | {"ties": pl.col("n")}
        return self.given.with_columns(
            pl.when(is_rounding).then(value).otherwise(part).alias(part)
            for part, value in same.items()
        )

    @cached_property
    def rows(self) -> pl.DataFrame:
        """The rows of the result in order, with the sums of all groups and the columns that are the same in all of them."""
        sums = pl.col(SUMS).cast(pl.Float64)
        same = [part for part in OF_ROWS if part in self.given.columns]
        if {*self.given.columns} == {*self.by, *SUMS, *same}:  # a row is its only group
            return self.cells.with_columns(sums + 0.0).sort(self.by, nulls_last=True)
        parts = [part for part in (*SUMS, USERS) if part in self.given.columns]
        return added_up(self.cells, self.by, {part: pl.col(part) for part in parts}, same)

    def column(self, part: str) -> Numbers:
        """Return one of the sums of the rows, or another of their columns."""
        return as_numbers(self.rows[part])

    @property
    def ends(self) -> Ends:
        """The ends of what a user's value can be, of each row."""
        return Ends(self.column("least"), self.column("most"))

    def moments(self, cluster: str | None = None, *, of_users: bool = False) -> Moments:
        """Return the moments of users who are independent, or whose squares and products are of the clusters of a column.

        `of_users` has one pair for each user, where there are several by folds; means and errors stay.
        """
        plan = units_of_users(self.rows.lazy())
        if cluster is not None:
            plan = units_of_clusters(self.cells.lazy(), self.by, cluster)
            plan = plan.sort(self.by, nulls_last=True)
        if of_users and USERS in self.given.columns:
            plan = of_each_user(plan)
        moments = Moments.of(run_by_size(plan, len(self.cells)))
        # a set metric may hang on so few lists that no interval is known to hold
        few = (self.column("dd") ** 2 < FEWEST * self.column("dddd")) & ~self.rows[
            "share"
        ].to_numpy()
        return replace(moments, units=np.where(few, np.nan, moments.units))

    def long(self, found: Mapping[str, Any], columns: Mapping[str, Any]) -> pl.DataFrame:
        """Return a result: the keys, and arrays of its rows as columns; who stands in several folds is one user."""
        if USERS in self.rows.columns:
            found = {**found, "n_users": self.column(USERS)}
        made = as_columns(found, columns)
        return self.rows.select(*self.by, "metric", "k").hstack(made).drop(PLACE)


def added_up(
    rows: pl.DataFrame,
    keys: Sequence[str],
    values: Mapping[str, pl.Expr],
    same: Sequence[str] = (),
) -> pl.DataFrame:
    """Return exact sums of rows, such as those of groups, for each combination of the keys, in their order.

    `same` names columns that are the same in all rows of a combination.
    """
    exact = ExactSums({name: value.cast(pl.Float64) for name, value in values.items()})
    sums = exact.of(rows.lazy(), keys, [pl.col(name).first() for name in same])
    return run_by_size(sums.sort(keys, nulls_last=True), len(rows))


def as_numbers(column: pl.Series) -> Numbers:
    """Return a column as an array, NaN for null."""
    return column.cast(pl.Float64).to_numpy()


def as_columns(found: Mapping[str, Any], columns: Mapping[str, Any]) -> pl.DataFrame:
    """Return arrays as columns; NaN and empty words are null."""
    return pl.DataFrame(
        [
            _column(name, np.asarray(found[name]), dtype)
            for name, dtype in columns.items()
            if name in found
        ]
    )


def _column(name: str, values: Any, dtype: Any) -> pl.Series:
    if dtype == pl.String:
        return pl.Series(name, [value or None for value in values.tolist()], dtype=dtype)
    return pl.Series(name, values, nan_to_null=True).cast(dtype)
