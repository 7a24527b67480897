"""Sums over users, clusters and folds, of one model or of pairs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import isfinite

import polars as pl

from recframe.errors import RecframeError, fails_whole_if, shown_in_plan, worded
from recframe.evaluation import evaluation
from recframe.evaluation.contributions import Contributions, contributions
from recframe.evaluation.evaluation import Convention
from recframe.evaluation.execution import Run
from recframe.evaluation.required_columns import is_of_segment, is_share
from recframe.evaluation.segments import (
    SPREAD,
    SQUARE,
    TOTAL,
    ZERO,
    N,
    keys_of,
    name_beside,
    numbered,
)
from recframe.evaluation.user_values import bounded_names
from recframe.frames.dtypes import as_text
from recframe.frames.hints import bind
from recframe.frames.inputs import Inputs
from recframe.frames.kinds.engine import MOST
from recframe.frames.rows.exact_sums import ExactSums, of_few
from recframe.frames.rows.joins import Frame, in_long_form, joined
from recframe.metrics.language.definition import Metric

MODEL, BASELINE, PLACE = "model", "baseline", "place"
PARTS = {
    **dict.fromkeys(("n", "wins", "ties", "unpaired"), pl.Int64),
    **dict.fromkeys(("a", "d", "aa", "ad", "dd", "size"), pl.Float64),
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
MOST_NAMED = 20
ROUNDING = 1e-12
"""Relative tolerance below which a difference of two values is 0."""
ENDS = ("low", "high")
USER, USERS = "user", "users"
"""Key of a user's cells over folds, and their number of users with a value in any fold."""
OF_UNITS = ("aa", "ad", "dd", "an", "dn", "nn", "units", "effective", "differ", "squares")
"""Sums of squares and products over units (a: the other model's value, d: the difference, n: users); the number of units,
their effective number (sum n)^2 / sum n^2, how many differ in both values; and the squares of users' own differences."""
ALONE, WEIGHT = "alone", "weight"
"""Columns of cells: whether they are of users without a cluster, and the weight of their squares."""


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

    def checks(self, models: pl.LazyFrame) -> list[pl.LazyFrame]:
        """Return frames of one row that fail when the plan runs, without two models or without the baseline."""
        model = as_text(pl.col(MODEL), self.dtype)
        names = model.drop_nulls().sort()
        n_more = names.len().cast(pl.Int64) - MOST_NAMED
        more = pl.when(n_more > 0).then(pl.format(" and {} more", n_more)).otherwise(pl.lit(""))
        named = shown_in_plan(names.slice(0, MOST_NAMED)).str.join(", ")
        found = pl.when(names.len() > 0).then(named + more).otherwise(pl.lit("no model"))
        few = worded(f"there are no two models to compare: the column {self.column!r} has ", found)
        checks = [fails_whole_if(pl.len() < 2, few)]  # noqa: PLR2004  a pair
        if self.baseline is not None:
            given = self.given or f"baseline={self.baseline!r}"
            begin = f"{given} is not a model: the column {self.column!r} has "
            missing = ~(model == self.baseline).fill_null(value=False).any()
            checks.insert(0, fails_whole_if(missing & (pl.len() > 0), worded(begin, found)))
        return [models.select(check=check) for check in checks]


def has_no_ends(metric: Metric[...]) -> bool:
    """Return whether a metric has values of users that are in no range with two ends."""
    return not is_of_segment(metric) and not all(map(isfinite, metric.range))


def difference(b: pl.Expr, a: pl.Expr) -> pl.Expr:
    """Return b - a; 0 where that is rounding, since equal lists may be summed up in another order."""
    d = b - a
    return pl.when(d.abs() <= ROUNDING * (a + b).abs()).then(0.0).otherwise(d)


@dataclass(frozen=True)
class Values:
    """Users' values in rows, by one model or by two side by side, and their sums."""

    names: Sequence[str]
    """Names of the model's values; those of the other model begin with "a"."""
    metrics: Sequence[Metric[...]]
    bounded: Collection[str]
    """Names of values within -1 and 1."""
    paired: bool
    sized: bool = False
    """Whether |a| + |b| is summed up, by which a summed difference is known to be rounding."""

    def summed(
        self, rows: pl.LazyFrame, keys: Sequence[str], also: Sequence[pl.Expr] = ()
    ) -> pl.LazyFrame:
        """Return the sums behind `totals` by the keys, and other sums; those of parts can be added."""
        columns, sums = [], []
        for name, metric in zip(self.names, self.metrics, strict=True):
            a, b, d = pl.col(f"a {name}"), pl.col(name), pl.col(f"d {name}")
            columns.append((difference(b, a) if self.paired else b).alias(f"d {name}"))
            counts = {"n": d.count(), "wins": (d > 0).sum(), "ties": (d == 0).sum()}
            if self.paired:
                columns.append(pl.when(b.is_not_null()).then(a).alias(f"paired {name}"))
                counts["unpaired"] = a.is_null().xor(b.is_null()).sum()
            sums += [one.cast(pl.Int64).alias(f"{part} {name}") for part, one in counts.items()]
            if self.sized:
                sums.append((a.abs() + b.abs()).sum().alias(f"size {name}"))
            if has_no_ends(metric):
                each = (a, b) if self.paired else (b,)
                ends = {"high": each, "low": [-one for one in each]}
                sums += [
                    pl.max_horizontal(of)
                    .filter(d.is_not_null())
                    .max()
                    .alias(f"{MOST} {end} {name}")
                    for end, of in ends.items()
                ]
        return self._exact.summed(rows.with_columns(columns), keys, [*also, *sums])

    @property
    def _exact(self) -> ExactSums:
        values: dict[str, pl.Expr] = {}
        for name in self.names:
            a, d = pl.col(f"paired {name}"), pl.col(f"d {name}")
            parts = {"d": d, "dd": d * d}
            parts |= {"a": a, "aa": a * a, "ad": a * d} if self.paired else {}
            values |= {f"{part} {name}": one for part, one in parts.items()}
        within = {name for name in values if name.partition(" ")[2] in self.bounded}
        return ExactSums(values, within)

    def totals(self, places: Mapping[str, int], *, absent: bool) -> list[pl.Expr]:
        """Return the columns of `PARTS`, and the ends of users' values, by the places of metrics.

        They count users who are `absent` from all models, whose values are those of an empty list.
        """
        exact, found = self._exact, []
        n_absent = pl.col("absent") if absent else pl.lit(0, pl.Int64)
        there = {*exact.values} | {f"{one} {name}" for name in self.names for one in self._counted}
        for name, metric in zip(self.names, self.metrics, strict=True):
            empty = pl.col(f"empty {name}") if absent else pl.lit(None, pl.Float64)
            known = empty.is_not_null()
            of_empty = [(empty, n_absent), (empty * empty, n_absent)]
            more = dict(zip(("a", "aa") if self.paired else ("d", "dd"), of_empty, strict=True))
            sums = {}
            for part, dtype in PARTS.items():
                column = f"{part} {name}"
                if column in exact.values:
                    sums[part] = exact.total(column, more.get(part) if absent else None)
                else:
                    none = pl.lit(0, dtype)
                    sums[part] = pl.col(column).fill_null(0) if column in there else none
            sums["n"] += known * n_absent
            # of pairs the differences of two empty lists are none
            tied = known if self.paired else (empty == 0).fill_null(value=False)
            sums["ties"] += tied * n_absent
            sums["size"] += (2.0 * empty.abs() * n_absent).fill_null(0.0)
            if has_no_ends(metric):
                of_absent = pl.when(n_absent > 0).then(empty)
                low, high = (pl.col(f"{MOST} {end} {name}") for end in ENDS)
                sums["low"] = -pl.max_horizontal(low, -of_absent)
                sums["high"] = pl.max_horizontal(high, of_absent)
            place = places[str(metric)]
            found += [column.alias(f"{part} {place}") for part, column in sums.items()]
        return found

    @property
    def _counted(self) -> list[str]:
        """The names of sums that are no exact ones."""
        others = ["unpaired"] * self.paired + ["size"] * self.sized
        return ["n", "wins", "ties", *others]


@dataclass(frozen=True)
class Summands:
    """Users' contributions to the metrics of a plan, alone or paired by models."""

    users: Contributions
    pairing: Pairing | None
    sized: bool

    @property
    def keys(self) -> list[str]:
        """The keys of the sums."""
        return [*self.users.keys, *([BASELINE] if self.pairing else [])]

    @property
    def values(self) -> Values:
        """The values of users."""
        of, paired = self.users, self.pairing is not None
        bounded = bounded_names(of.metrics)
        return Values(of.names, of.metrics, bounded, paired, self.sized and paired)

    @property
    def models(self) -> pl.LazyFrame:
        """The models, each once."""
        if self.users.judged.models is None:
            msg = f"there are no models to compare: {bind(model=repr('model'))}"
            raise RecframeError(msg)
        return self.users.judged.models.select(MODEL)

    @property
    def empty(self) -> pl.LazyFrame:
        """The values of an empty list, a row."""
        return self.users.empty.rename({name: f"empty {name}" for name in self.users.names})

    def sums(self) -> pl.LazyFrame:
        """Return one row per segment, model and baseline: the keys, and the sums behind `Values.totals`.

        `absent` counts the users without a row in any of the models, whose values are those of an empty list.
        """
        of, keys, pairing = self.users, self.keys, self.pairing
        rows = of.described(of.rows if pairing is None else self._paired(pairing))
        summed = self.values.summed(rows, keys, [pl.len().alias("present")])
        summed = summed.select(*keys, pl.all().exclude(keys))
        if of.counts_absent:
            every = of.n_users()
            if pairing is not None:
                every = every.join(pairing.of(self.models), on=MODEL)
            absent = (pl.col("n_users") - pl.col("present").fill_null(0)).cast(pl.Int64)
            summed = joined(every, summed, keys).join(self.empty, how="cross")
            summed = summed.with_columns(absent=absent).drop("n_users")
        checks = [] if pairing is None else pairing.checks(self.models)
        return of.checked(summed.drop("present"), f"n {of.names[0]}", *checks)

    def _paired(self, pairing: Pairing) -> pl.LazyFrame:
        """Return each user with a row in one of two models once, with both values."""
        of = self.users
        # NOTE: held, so that what tells the two sides apart is not asked of each of the plan's frames twice
        rows = of.rows.cache().select(*of.pairing, MODEL, *of.names)
        if of.aligned:
            sides = (rows, rows)
            if pairing.baseline is not None:
                is_baseline = pairing.is_baseline(MODEL)
                sides = (rows.filter(~is_baseline), rows.filter(is_baseline))
            return self._side_by_side(*sides, of.pairing).filter(pairing.pairs())
        pairs = pairing.of(self.models)
        base = rows.rename({MODEL: BASELINE}).join(pairs, on=BASELINE)
        others = rows.join(pairs, on=MODEL)
        return self._side_by_side(others, base, [*of.pairing, MODEL, BASELINE])

    def _side_by_side(
        self, others: pl.LazyFrame, base: pl.LazyFrame, on: Sequence[str]
    ) -> pl.LazyFrame:
        """Return rows of two models with both values: `value 0` of the model, `a value 0` of the baseline.

        NOTE: where all models have rows of the same users, neither side can lack one, which takes half the time.
        """
        names = {name: f"a {name}" for name in self.users.names}
        base = base.rename({**names, **({} if BASELINE in on else {MODEL: BASELINE})})
        if self.users.aligned:
            return others.join(base, on=on, how="inner", nulls_equal=True)
        here, there = (pl.lit(value=True).alias(side) for side in ("here", "there"))
        both = others.with_columns(here).join(
            base.with_columns(there), on=on, how="full", nulls_equal=True, coalesce=True
        )
        filled = [
            pl.when(pl.col(side).is_null()).then(f"empty {name}").otherwise(column).alias(column)
            for name, of_base in names.items()
            for side, column in (("here", name), ("there", of_base))
        ]
        return both.join(self.empty, how="cross").with_columns(filled)


def wide_sums(
    inputs: Inputs,
    conventions: Sequence[Convention],
    run: Run,
    pairing: Pairing | None,
    *,
    sized: bool,
) -> tuple[pl.LazyFrame, list[str]]:
    """Return one row for each segment (model, baseline) with the sums of all metrics by place, and its keys.

    Of rows that are seen once it is the plan of `evaluate`, whose sums an interval may be made of later.
    """
    metrics = [one.metric for one in conventions]
    places = {str(metric): place for place, metric in enumerate(metrics)}
    if run.in_one_round:
        return _of_evaluate(inputs, conventions, run, places)
    plans = contributions(inputs, conventions, run)
    found = []
    for parts in plans:
        each = [Summands(part, pairing, sized) for part in parts]
        of, keys, absent = each[0].values, each[0].keys, parts[0].counts_absent
        same = [f"empty {name}" for name in of.names] if absent else []
        sums = run.added([one.sums() for one in each], keys, same)
        found.append(sums.select(*keys, *of.totals(places, absent=absent)))
    first = reduce(lambda one, other: joined(one, other, keys, "full"), found)
    # in one order, since arrays of them are added up as they stand
    ends = [
        f"{end} {place}" for place, one in enumerate(metrics) if has_no_ends(one) for end in ENDS
    ]
    filled = first.with_columns(pl.all().exclude([*keys, *ends]).fill_null(0))
    return filled.sort(keys, nulls_last=True) if keys else filled, keys


def _of_evaluate(
    inputs: Inputs, conventions: Sequence[Convention], run: Run, places: Mapping[str, int]
) -> tuple[pl.LazyFrame, list[str]]:
    """Return the sums that `evaluate` has beside its values."""
    metrics = [one.metric for one in conventions]
    keys = [*keys_of(inputs, metrics)]
    wide = numbered(evaluation.evaluate(inputs, conventions, run, SPREAD), keys)
    named = {"n": N, "d": TOTAL, "dd": SQUARE, "ties": ZERO}
    columns = []
    for metric in metrics:
        place = places[str(metric)]
        found = {part: pl.col(name_beside(of, metric)) for part, of in named.items()}
        # of a set metric the value alone is known
        found["d"] = pl.coalesce(found["d"], pl.col(str(metric)) * found["n"])
        columns += [
            found.get(part, pl.lit(0)).fill_null(0).cast(dtype).alias(f"{part} {place}")
            for part, dtype in PARTS.items()
        ]
    return wide.select(*keys, *columns), keys


def by_metric(
    wide: pl.LazyFrame,
    keys: Sequence[str],
    numbers: Mapping[str, int],
    places: Mapping[int, Metric[...]],
) -> pl.LazyFrame:
    """Return sums in long form: a row for each of `places`, with its metric's properties and sums.

    `numbers` has the places of metrics in the wide sums.
    """
    rows = []
    for place, metric in places.items():
        number = numbers[str(metric)]
        sums = {part: pl.col(f"{part} {number}").cast(dtype) for part, dtype in PARTS.items()}
        ends = {}
        if f"low {number}" in wide.collect_schema():
            found = (pl.col(f"low {number}").min(), pl.col(f"high {number}").max())
            given = zip(("least", "most"), metric.range, found, strict=True)
            ends = {name: of for name, end, of in given if not isfinite(end)}
        rows.append(properties_of(place, metric) | ends | sums)
    return in_long_form(wide, keys, rows)


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


def of_users(cells: pl.LazyFrame) -> pl.LazyFrame:
    """Return sums in long form with `OF_UNITS`, for users who are independent."""
    a, d, n, ties = (pl.col(part).cast(pl.Float64) for part in ("a", "d", "n", "ties"))
    units = pl.when("of_each").then(n)
    own = {"an": a, "dn": d, "nn": n, "units": units, "effective": units, "differ": n - ties}
    return cells.with_columns(squares=pl.col("dd"), **own)


def of_clusters(cells: pl.LazyFrame, keys: Sequence[str], cluster: str) -> pl.LazyFrame:
    """Return sums in long form with `OF_UNITS`, by the keys, from cells of the clusters in a column.

    A cluster whose differences cancel has a summed difference of 0. Without a cluster the mean m of all N users moves by
    (S - m n) / (N - n), with the cluster's sum S and its n users. The squares of these, times (G - 1) / G of G clusters, add up
    to G / (G - 1) Σ w (S - m n)² / N² with the weight w = ((G - 1) N / (G (N - n)))², which is 1 for clusters of one size. A
    user whose cluster is null is a cluster alone. Source: Bell and McCaffrey 2002 (CR3).
    """
    cancels = pl.col("d").abs() <= ROUNDING * pl.col("size")
    alone = pl.col(cluster).is_null().alias(ALONE)
    zero = pl.when(cancels & ~alone).then(0.0).otherwise("d").alias("d")
    cells = _weighted(cells.with_columns(alone, zero), keys)
    n, a, d, aa, ad, dd, ties = (
        pl.col(part).cast(pl.Float64) for part in ("n", "a", "d", "aa", "ad", "dd", "ties")
    )
    products = {
        "aa": (aa, a * a),
        "ad": (ad, a * d),
        "dd": (dd, d * d),
        "an": (a, a * n),
        "dn": (d, d * n),
        "nn": (n, n * n),
    }
    schema = cells.collect_schema()
    counts = [USERS] * (USERS in schema)
    sums = {part: pl.col(part).cast(pl.Float64) for part in (*PARTS, *counts)}
    sums |= {part: pl.col(WEIGHT) * _of_cell(*both) for part, both in products.items()}
    sums |= {"squares": dd, "sizes": _of_cell(n, n * n)}
    sums["units"] = _of_cell(n, (n > 0).cast(pl.Float64))
    sums["differ"] = _of_cell(n - ties, (d != 0).cast(pl.Float64))
    # each is the same in all clusters of a row
    same = [pl.col(name).min() for name in PROPERTIES if name in schema and name not in keys]
    found = ExactSums(sums).of(cells, keys, same)
    return found.with_columns(effective=pl.col("n") ** 2 / pl.col("sizes")).drop("sizes")


def _weighted(cells: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return cells with the weight of their squares."""
    n = pl.col("n").cast(pl.Float64)
    n_clusters = _of_cell(n, (n > 0).cast(pl.Float64)).sum().over(keys)
    users, size = n.sum().over(keys), _of_cell(pl.lit(1.0), n)
    found = ((n_clusters - 1.0) * users / (n_clusters * (users - size))) ** 2
    return cells.with_columns(pl.when(n_clusters > 1).then(found).otherwise(1.0).alias(WEIGHT))


def _of_cell(own: pl.Expr, of: pl.Expr) -> pl.Expr:
    """Return the summand of a cell, of users without a cluster or of a cluster."""
    return pl.when(ALONE).then(own).otherwise(of)


def over_folds(cells: pl.LazyFrame, keys: Sequence[str], cluster: str) -> pl.LazyFrame:
    """Return cells of clusters from those of users over all folds, each user counted once; `keys` are those of rows.

    A user is better off, equal or worse off by their sum over folds, and unpaired by the share of their values without another.
    """
    counts = (pl.col("n") > 0).cast(pl.Int64)
    if cluster != USER:  # a user may be in another cluster with each fold
        counts *= counts.cum_sum().over([*keys, USER]) == 1
    n, unpaired, d = (pl.col(part).cast(pl.Float64) for part in ("n", "unpaired", "d"))
    cancels = pl.col("d").abs() <= ROUNDING * pl.col("size")
    cells = cells.with_columns(
        pl.when(cancels).then(0.0).otherwise("d").alias("d"), counts.alias(USERS)
    )
    cells = cells.with_columns(
        wins=pl.col(USERS) * (d > 0),
        ties=pl.col(USERS) * (d == 0),
        unpaired=pl.when(unpaired > 0).then(unpaired / (n + unpaired)).otherwise(0.0),
    )
    if cluster == USER:
        return cells
    alone = pl.when(pl.col(cluster).is_null()).then(USER)
    cells = cells.with_columns(pl.struct(cluster, alone.alias("alone")).alias(cluster))
    schema = cells.collect_schema()
    same = [pl.col(name).min() for name in PROPERTIES if name in schema and name not in keys]
    sums = {name: pl.col(name).cast(pl.Float64) for name in (*PARTS, USERS)}
    return of_few(cells, [*keys, cluster], sums, same)
