"""Sums over users, clusters and folds, of models or of pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import isfinite
from operator import mul
from typing import Any

import polars as pl

from recframe.errors import RecframeError, fails_whole_if, shown_in_plan, worded
from recframe.evaluation.contributions import Contributions, contributions
from recframe.evaluation.plan import Run
from recframe.evaluation.required_columns import Convention, is_of_segment, is_share
from recframe.evaluation.user_values import bounded_names
from recframe.frames.dtypes import as_text
from recframe.frames.hints import bind
from recframe.frames.inputs import Frames
from recframe.frames.kinds.engine import MOST
from recframe.frames.rows.joins import ExactSums, Frame, in_long_form, joined, of_few
from recframe.metrics.language.definition import Metric

MODEL, BASELINE, PLACE = "model", "baseline", "place"
PRODUCTS = ("a", "d", "aa", "ad", "dd")
PARTS = {
    **dict.fromkeys(("n", "wins", "ties", "unpaired"), pl.Int64),
    **dict.fromkeys((*PRODUCTS, "size"), pl.Float64),
}
"""Sums over users: their number, those with d > 0 and d = 0, and those with only one of two values; the other model's values
a, the differences d = b - a (without another model the values themselves), their squares and products, and |a| + |b|."""
PROPERTIES = {
    PLACE: pl.Int64,
    "metric": pl.String,
    "k": pl.Int64,
    **dict.fromkeys(("share", "of_each", "higher", "directed"), pl.Boolean),
    **dict.fromkeys(("least", "most"), pl.Float64),
}
"""Columns of a metric in long form: its place among those of the call, its name and cut-off; whether it is a share, has
users' values, is better where it is higher, and has a better end; and the least and most that a user's value can be."""
SAME = [pl.col(name).min() for name in PROPERTIES if name != PLACE]
"""Properties of metrics, which are the same in all cells of a row."""
MOST_NAMED = 20
ROUNDING = 1e-12
"""Relative tolerance below which a difference of two values is 0."""
USER, USERS = "user", "users"
"""Key of a user's cells over folds, and their number of users with a value in any fold."""
OF_UNITS = ("aa", "ad", "dd", "an", "dn", "nn", "units", "effective", "differ", "squares")
"""Sums of squares and products over units (a: the other model's value, d: the difference, n: users); the number of units,
their effective number (sum n)^2 / sum n^2, how many differ in both values; and the squares of users' own differences."""


@dataclass(frozen=True)
class Pairing:
    """Pairs of models: all with a baseline, or each with the previous ones."""

    baseline: str | None
    dtype: pl.DataType
    """Dtype of the model column."""
    column: str
    """Name of the model column."""
    given: str = ""
    """Source of the baseline, where it is not `baseline=`."""

    def is_baseline(self, model: str) -> pl.Expr:
        """Return whether a column has the baseline's name."""
        return as_text(pl.col(model), self.dtype) == pl.lit(self.baseline)

    def pairs(self) -> pl.Expr:
        """Return whether a row's model is compared with its baseline."""
        if self.baseline is None:
            return pl.col(BASELINE) < pl.col(MODEL)
        return self.is_baseline(BASELINE) & ~self.is_baseline(MODEL)

    def of(self, models: Frame) -> Frame:
        """Return the compared pairs of models: model, baseline."""
        return models.join(models.rename({MODEL: BASELINE}), how="cross").filter(self.pairs())

    def check(self, models: pl.LazyFrame) -> pl.LazyFrame:
        """Return a frame of one row that fails when the plan runs, without two models or without the baseline."""
        model = as_text(pl.col(MODEL), self.dtype)
        names = model.drop_nulls().sort()
        n_more = names.len().cast(pl.Int64) - MOST_NAMED
        more = pl.when(n_more > 0).then(pl.format(" and {} more", n_more)).otherwise(pl.lit(""))
        first = shown_in_plan(names.slice(0, MOST_NAMED)).str.join(", ")
        known = pl.when(names.len() > 0).then(first + more).otherwise(pl.lit("no model"))
        is_there = pl.lit(self.baseline is None)
        if self.baseline is not None:
            is_there = (model == self.baseline).any()
        # NOTE: names are put together once, since that takes as long as a small plan
        found = models.select(n=pl.len(), known=known, lacks=~is_there & (pl.len() > 0))
        n, lacks, of_column = pl.col("n"), pl.col("lacks"), f"the column {self.column!r} has "
        given = self.given or f"baseline={self.baseline!r}"
        few = worded(f"there are no two models to compare: {of_column}", pl.col("known"))
        other = worded(f"{given} is not a model: {of_column}", pl.col("known"))
        is_few = ~lacks & (n < 2)  # noqa: PLR2004  a pair
        return found.select(check=fails_whole_if(is_few, few) + fails_whole_if(lacks, other))


def exactly_0(value: pl.Expr, size: pl.Expr) -> pl.Expr:
    """Return a difference; 0 where it is what rounding leaves of numbers of that size.

    Equal lists may be summed up in another order.
    """
    return pl.when(value.abs() <= ROUNDING * size).then(0.0).otherwise(value)


def properties_of(place: int, metric: Metric[...]) -> dict[str, pl.Expr]:
    """Return the columns of `PROPERTIES` of a metric; ends that it lacks are null."""
    better, of_each = metric.direction, not is_of_segment(metric)
    # of what is made of all lists, or of means, no user has a value
    ends = [one if of_each and isfinite(one) else None for one in metric.range]
    values = (
        *(place, str(metric), metric.k, is_share(metric), of_each),
        *(better != "lower", better != "", *ends),
    )
    known = zip(PROPERTIES.items(), values, strict=True)
    return {name: pl.lit(value, dtype) for (name, dtype), value in known}


@dataclass(frozen=True)
class Summands:
    """Users' contributions to the metrics of a plan, alone or paired by models."""

    users: Contributions
    pairing: Pairing | None

    @cached_property
    def keys(self) -> list[str]:
        """The keys of the sums."""
        return [*self.users.keys, *([BASELINE] if self.pairing else [])]

    @cached_property
    def exact(self) -> ExactSums:
        """The exact sums of values, differences and their products, by the letters of these."""
        of, parts = self.users, ("a", "d", "aa", "ad", "dd") if self.pairing else ("d", "dd")
        letters = {f"{part} {name}": (part, name) for name in of.names for part in parts}
        values = {one: product(*letters[one]) for one in letters}
        bounded = bounded_names(of.metrics)
        return ExactSums(values, {one for one, (_, name) in letters.items() if name in bounded})

    @cached_property
    def empty(self) -> pl.LazyFrame:
        """One row with the values of an empty list."""
        return self.users.empty.select(pl.col(self.users.names).name.prefix("empty "))

    def sums(self) -> pl.LazyFrame:
        """Return one row per segment, model and baseline: the keys, and the sums that `long` reads.

        `absent` counts the users without a row in any of the models, whose values are those of an empty list.
        """
        of, keys, pairing = self.users, self.keys, self.pairing
        summed = self._summed(of.described(of.rows if pairing is None else self._paired(pairing)))
        absent = pl.lit(0, pl.Int64)
        # a segment in which nobody counts has a row, as in `evaluate`
        if of.counts_absent or pairing is None:
            every = of.n_users()
            if pairing is not None:
                every = every.join(pairing.of(self._models), on=MODEL)
            # of lists, users count who have no truth
            summed = joined(every, summed, keys, "left" if of.counts_absent else "full")
        if of.counts_absent:
            absent = (pl.col("n_users") - pl.col("present").fill_null(0)).cast(pl.Int64)
        summed = summed.with_columns(absent=absent).drop("present", "n_users", strict=False)
        checks = [] if pairing is None else [pairing.check(self._models)]
        return of.checked(summed.join(self.empty, how="cross"), f"n {of.names[0]}", *checks)

    def _summed(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return the sums of present users by the keys; those of parts can be added."""
        columns, sums = {}, {"present": pl.len()}
        for name, metric in zip(self.users.names, self.users.metrics, strict=True):
            a, b, d = (pl.col(f"{side}{name}") for side in ("a ", "", "d "))
            columns[f"d {name}"] = b
            counts = {"n": d.count(), "wins": (d > 0).sum(), "ties": (d == 0).sum()}
            if self.pairing is not None:
                columns[f"d {name}"] = exactly_0(b - a, (a + b).abs())
                columns[f"a {name}"] = pl.when(b.is_not_null()).then(a)
                columns[f"unpaired {name}"] = a.is_null().xor(b.is_null())
                counts["unpaired"] = pl.col(f"unpaired {name}").sum()
                sums[f"size {name}"] = (a.abs() + b.abs()).sum()
            sums |= {f"{part} {name}": one.cast(pl.Int64) for part, one in counts.items()}
            if has_no_ends(metric):
                for sign, end in _ENDS:
                    each = [sign * value for value in ([a, b] if self.pairing else [b])]
                    most = pl.max_horizontal(each).filter(d.is_not_null()).max()
                    sums[f"{MOST} {end} {name}"] = most
        named = [one.alias(name) for name, one in sums.items()]
        return self.exact.summed(rows.with_columns(**columns), self.keys, named)

    def long(self, sums: pl.LazyFrame, places: Mapping[int, Metric[...]]) -> pl.LazyFrame:
        """Return sums in long form, once for each place of a metric: the keys, `PROPERTIES` and `PARTS`."""
        names = dict(zip(map(str, self.users.metrics), self.users.names, strict=True))
        rows = [
            self._properties(place, one, names[str(one)]) | self._totals(names[str(one)])
            for place, one in places.items()
            if str(one) in names
        ]
        return in_long_form(sums, self.keys, rows)

    def _properties(self, place: int, metric: Metric[...], name: str) -> dict[str, pl.Expr]:
        """Return the columns of `PROPERTIES`; ends that the metric lacks are those of users' values."""
        found = properties_of(place, metric)
        if has_no_ends(metric):
            of_absent = pl.when(pl.col("absent") > 0).then(f"empty {name}")
            for (sign, end), given in zip(_ENDS, metric.range, strict=True):
                most = pl.max_horizontal(f"{MOST} {end} {name}", sign * of_absent).max()
                found[end] = found[end] if isfinite(given) else sign * most
        return found

    def _totals(self, name: str) -> dict[str, pl.Expr]:
        """Return `PARTS` in which absent users count with the values of an empty list; of pairs their differences are 0."""
        empty, absent = pl.col(f"empty {name}"), pl.col("absent")
        of_each = (
            {"a": empty, "aa": empty * empty} if self.pairing else {"d": empty, "dd": empty * empty}
        )
        alike = empty.is_not_null() if self.pairing else empty == 0
        more = {
            "n": pl.when(empty.is_not_null()).then(absent).otherwise(0),
            "ties": pl.when(alike).then(absent).otherwise(0),
            "size": (2.0 * empty.abs() * absent).fill_null(0.0),
        }
        found = {part: pl.lit(0, dtype) for part, dtype in PARTS.items()}
        for part in ("n", "wins", "ties", *(["unpaired", "size"] if self.pairing else [])):
            found[part] = pl.col(f"{part} {name}").fill_null(0) + more.get(part, 0)
        for part in PRODUCTS:
            if (column := f"{part} {name}") in self.exact.values:
                value = of_each.get(part)
                found[part] = self.exact.total(column, None if value is None else (value, absent))
        return found

    @property
    def _models(self) -> pl.LazyFrame:
        """The models, each once."""
        if self.users.judged.models is None:
            msg = f"there are no models to compare: {bind(model=repr('model'))}"
            raise RecframeError(msg)
        return self.users.judged.models.select(MODEL)

    def _paired(self, pairing: Pairing) -> pl.LazyFrame:
        """Return each user with a row in one of two models once: `value 0` of the model, `a value 0` of the baseline.

        NOTE: where all models have rows of the same users, neither side can lack one, which takes half the time.
        """
        of, on = self.users, self.users.pairing
        # NOTE: held, so that what tells the two sides apart is not asked of each of the plan's frames twice
        rows = of.rows.cache().select(*on, MODEL, *of.names)
        names = {MODEL: BASELINE, **{name: f"a {name}" for name in of.names}}
        if of.aligned:
            others, base = rows, rows
            if pairing.baseline is not None:
                is_baseline = pairing.is_baseline(MODEL)
                others, base = rows.filter(~is_baseline), rows.filter(is_baseline)
            return joined(others, base.rename(names), on, "inner").filter(pairing.pairs())
        pairs, there = pairing.of(self._models), pl.lit(value=True)
        others = rows.join(pairs, on=MODEL).with_columns(here=there)
        base = rows.rename(names).join(pairs, on=BASELINE).with_columns(there=there)
        both = joined(others, base, [*on, MODEL, BASELINE], "full").join(self.empty, how="cross")
        return both.with_columns(
            pl.when(side).then(column).otherwise(f"empty {name}").alias(column)
            for name in of.names
            for side, column in (("here", name), ("there", f"a {name}"))
        )


_ENDS = ((-1.0, "least"), (1.0, "most"))


def product(letters: str, name: str = "") -> pl.Expr:
    """Return the product of the columns of some letters, of one value."""
    return reduce(mul, (pl.col(f"{letter} {name}".strip()) for letter in letters))


def has_no_ends(metric: Metric[...]) -> bool:
    """Return whether a metric has values of users that are in no range with two ends."""
    return not is_of_segment(metric) and not all(map(isfinite, metric.range))


def cells(
    inputs: Frames,
    conventions: Sequence[Convention],
    run: Run,
    places: Mapping[int, Metric[...]],
    pairing: Pairing | None,
) -> tuple[pl.LazyFrame, list[str]]:
    """Return one row for each segment (model, baseline) and metric with `PROPERTIES` and `PARTS`, and the keys."""
    plans, keys = [], []
    for parts in contributions(inputs, conventions, run):
        each = [Summands(part, pairing) for part in parts]
        keys, empty = each[0].keys, each[0].empty.collect_schema().names()
        plans.append(each[0].long(run.added([one.sums() for one in each], keys, empty), places))
    if len(plans) == 1:
        return plans[0], keys
    # a segment that only some of the plans have has nobody in the others
    rows = pl.concat(plans).cache()
    # in memory, since Polars 1.35 panics on such joins of two plans that are streamed
    known = pl.concat(
        [pl.DataFrame().select(**properties_of(at, one)) for at, one in places.items()]
    ).lazy()
    every = joined(rows.select(keys).unique(), known, []) if keys else known
    ends = ("least", "most")
    sums = rows.select(*keys, PLACE, *ends, *PARTS)
    found = joined(every.drop(ends), sums, [*keys, PLACE])
    return found.with_columns(pl.col(*PARTS).fill_null(0)).select(*keys, *PROPERTIES, *PARTS), keys


def over_units(
    cells: pl.LazyFrame, keys: Sequence[str] = (), cluster: str | None = None
) -> pl.LazyFrame:
    """Return sums in long form with `OF_UNITS`, by the keys, from cells of the clusters in a column, or of independent users.

    A cluster whose differences cancel has a summed difference of 0. Without a cluster the mean m of all N users moves by
    (S - m n) / (N - n), with the cluster's sum S and its n users. The squares of these, times (G - 1) / G of G clusters, add up
    to G / (G - 1) Σ w (S - m n)² / N² with the weight w = ((G - 1) N / (G (N - n)))², which is 1 for clusters of one size. A
    user whose cluster is null is a cluster alone. Source: Bell and McCaffrey 2002 (CR3).
    """
    n, d, size = pl.col("n").cast(pl.Float64), pl.col("d"), pl.col("size")
    differ = n - pl.col("ties")
    of_user: dict[str, Any] = {"aa": "aa", "ad": "ad", "dd": "dd", "an": "a", "dn": "d", "nn": n}
    if cluster is None:
        # of a set metric no user has a value
        units = pl.when("of_each").then(n)
        of_user |= {"units": units, "effective": units, "differ": differ, "squares": "dd"}
        return cells.with_columns(**of_user)
    is_alone = pl.col(cluster).is_null()
    n_clusters = pl.when(is_alone).then(n).otherwise(n > 0).sum().over(keys)
    users = n.sum().over(keys)
    rest = users - pl.when(is_alone).then(1.0).otherwise(n)
    weight = ((n_clusters - 1.0) * users / (n_clusters * rest)) ** 2
    cells = cells.with_columns(
        pl.col("n").cast(pl.Float64),
        d=pl.when(is_alone).then(d).otherwise(exactly_0(d, size)),
        weight=pl.when(n_clusters > 1).then(weight).otherwise(1.0),
        alone=is_alone,
    )
    counts = {"units": (n, n > 0), "effective": (n, n * n), "differ": (differ, d != 0)}
    schema = cells.collect_schema()
    sums = {part: pl.col(part).cast(pl.Float64) for part in (*PARTS, USERS) if part in schema}
    sums["squares"] = pl.col("dd")
    for part, own in of_user.items():
        one = pl.when("alone").then(own).otherwise(product(part))
        sums[part] = pl.col("weight") * one
    for part, (own, of) in counts.items():
        sums[part] = pl.when("alone").then(own).otherwise(of.cast(pl.Float64))
    found = ExactSums(sums).of(cells, keys, SAME)
    return found.with_columns(effective=pl.col("n") ** 2 / pl.col("effective"))


def over_folds(cells: pl.LazyFrame, keys: Sequence[str], cluster: str) -> pl.LazyFrame:
    """Return cells of clusters from those of users over all folds, each user counted once; `keys` are those of rows.

    A user is better off, equal or worse off by their sum over folds, and unpaired by the share of their values without another.
    """
    counts = (pl.col("n") > 0).cast(pl.Int64)
    if cluster != USER:  # a user may be in another cluster with each fold
        counts *= counts.cum_sum().over([*keys, USER]) == 1
    n, unpaired, d, users = map(pl.col, ("n", "unpaired", "d", USERS))
    rounding = ROUNDING * pl.col("size")
    cells = cells.with_columns(counts.alias(USERS)).with_columns(
        wins=users * (d > rounding),
        ties=users * (d.abs() <= rounding),
        unpaired=pl.when(unpaired > 0).then(unpaired / (n + unpaired)).otherwise(0.0),
    )
    if cluster == USER:
        return cells
    alone = pl.when(pl.col(cluster).is_null()).then(USER)
    cells = cells.with_columns(pl.struct(cluster, alone.alias("alone")).alias(cluster))
    sums = {name: pl.col(name).cast(pl.Float64) for name in (*PARTS, USERS)}
    return of_few(cells, [*keys, cluster], sums, SAME)
