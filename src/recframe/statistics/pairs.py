"""Per-segment sums over paired user values of two models."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import isfinite

import polars as pl

from recframe.errors import RecframeError, fails_whole_if, shown_in_plan, worded
from recframe.evaluation.contributions import Contributions
from recframe.evaluation.execution import Run
from recframe.evaluation.required_columns import is_of_segment, is_share
from recframe.evaluation.trainings import PARTS
from recframe.evaluation.user_values import bounded_names
from recframe.frames.dtypes import as_text
from recframe.frames.hints import bind
from recframe.frames.kinds.engine import MOST
from recframe.frames.rows.exact_sums import ExactSums
from recframe.frames.rows.joins import Frame, in_long_form, joined
from recframe.metrics.language.definition import Metric

MODEL, BASELINE = "model", "baseline"
MOST_NAMED = 20
SUMS = ("n", "a", "d", "aa", "ad", "dd", "dddd", "wins", "ties", "unpaired")
"""Sums over paired users: their number, the baseline's A, d = B - A, squares and products, fourth powers of d for
set metrics, d > 0 and d = 0; and the number of users with only one value."""
PLACE = "place"
PROPERTIES = {
    PLACE: pl.Int64,
    "metric": pl.String,
    "k": pl.Int64,
    **dict.fromkeys(("share", "of_each", "higher", "directed"), pl.Boolean),
}
"""Columns of sums in long form: the place of a metric, or of a requirement, among those of the call; the metric with its
cut-off; and whether it is a share, has users' values, is better where it is higher, and has a better end at all."""
ENDS = ("low", "high")
"""Prefixes of the range of users' values, for metrics without a bounded range."""
OF_TRAININGS = (*PARTS, *(f"{BASELINE} {part}" for part in PARTS))
"""Number and variance of trainings, of the model and of the baseline."""
OF_ROWS = (*(name for name in PROPERTIES if name != PLACE), "least", "most", *OF_TRAININGS)
"""Columns of sums in long form that are the same in all groups of a row."""
USERS = "users"
"""Number of users with a pair of values in any fold, where there are several."""
MOST_APART = 60
"""Most pairs with plans of their own; more share one plan, since each takes time to build."""
OF_UNITS = ("aa", "ad", "dd", "an", "dn", "nn", "units", "effective", "differ")
"""Additional sums of a comparison: squares and products over users or clusters (a: baseline's value,
d: difference, n: users); number of users or clusters; their effective number; and how many differ in both values."""
NO_SPREAD = 1e-13
"""Share of the squares below which a sum is rounding error of equal values."""
ALONE, WEIGHT = "alone", "weight"
"""Columns of cells: whether they are of users without a cluster, and the weight of their squares."""
Product = tuple[pl.Expr, pl.Expr]
"""Summands for users without a cluster, each by themself, and for a cluster."""
ROUNDING = 1e-12
"""Relative tolerance below which a difference of two values is 0."""


@dataclass(frozen=True)
class Pairing:
    """Pairs of models: all against a baseline, or each against previous."""

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

    def checks(self, models: pl.LazyFrame) -> list[pl.LazyFrame]:
        """Return frames of one row that fail when the plan runs, if there are no models to compare, or no baseline."""
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


@dataclass(frozen=True)
class PairedValues:
    """Values of the same users by two models, in rows, and their sums."""

    names: Sequence[str]
    """Names of the model's values; those of the baseline's begin with "a"."""
    metrics: Sequence[Metric[...]]
    bounded: Collection[str] = ()
    """Names of values within -1 and 1."""
    of_sets: bool = False
    """Whether values are what lists change of set metrics."""

    def summed(
        self, rows: pl.LazyFrame, keys: Sequence[str], also: Sequence[pl.Expr] = ()
    ) -> pl.LazyFrame:
        """Return the sums behind `totals` for each combination of the keys, and other sums; those of parts can be added."""
        columns, counts = [], []
        for name, metric in zip(self.names, self.metrics, strict=True):
            a, b, d = pl.col(f"a {name}"), pl.col(name), pl.col(f"d {name}")
            columns += [
                difference(b, a).alias(f"d {name}"),
                pl.when(b.is_not_null()).then(a).alias(f"paired {name}"),
            ]
            found = {
                f"n {name}": d.count(),
                f"wins {name}": (d > 0).sum(),
                f"ties {name}": (d == 0).sum(),
                f"unpaired {name}": a.is_null().xor(b.is_null()).sum(),
            }
            counts += [count.cast(pl.Int64).alias(of) for of, count in found.items()]
            # which tells whether a set metric hangs on few lists
            fourth = (d**4).sum() if self.of_sets else pl.lit(0.0)
            counts.append(fourth.alias(f"dddd {name}"))
            if has_no_ends(metric):
                ends = {"high": pl.max_horizontal(a, b), "low": pl.max_horizontal(-a, -b)}
                counts += [
                    end.filter(d.is_not_null()).max().alias(f"{MOST} {side} {name}")
                    for side, end in ends.items()
                ]
        return self._exact.summed(rows.with_columns(columns), keys, [*also, *counts])

    @property
    def _exact(self) -> ExactSums:
        values: dict[str, pl.Expr] = {}
        for name in self.names:
            a, d = pl.col(f"paired {name}"), pl.col(f"d {name}")
            products = {"a": a, "d": d, "aa": a * a, "ad": a * d, "dd": d * d}
            values |= {f"{part} {name}": one for part, one in products.items()}
        return ExactSums(
            values, {value for value in values if value.partition(" ")[2] in self.bounded}
        )

    def totals(self, places: Sequence[int], *, absent: bool = False) -> list[pl.Expr]:
        """Return the columns of `SUMS`, and of `ENDS` where a metric has none, by the places of metrics.

        They count users who are `absent` from both models, whose values are those of an empty list, each a tie.
        """
        exact, found = self._exact, []
        n_absent = pl.col("absent")
        for name, metric, place in zip(self.names, self.metrics, places, strict=True):
            empty = pl.col(f"empty {name}")
            more = {"a": (empty, n_absent), "aa": (empty * empty, n_absent)} if absent else {}
            sums = {part: pl.col(f"{part} {name}") for part in SUMS}
            for part in ("a", "d", "aa", "ad", "dd"):
                sums[part] = exact.total(f"{part} {name}", more.get(part))
            if absent:
                ties = empty.is_not_null() * n_absent
                sums |= {part: sums[part].fill_null(0) + ties for part in ("n", "ties")}
            if has_no_ends(metric):
                low, high = (pl.col(f"{MOST} {end} {name}") for end in ENDS)
                if absent:
                    of_absent = pl.when(n_absent > 0).then(empty)
                    low, high = (
                        pl.max_horizontal(low, -of_absent),
                        pl.max_horizontal(high, of_absent),
                    )
                sums |= {"low": -low, "high": high}
            found += [column.alias(f"{part} {place}") for part, column in sums.items()]
        return found


def has_no_ends(metric: Metric[...]) -> bool:
    """Return whether a metric has values of users that are in no range with two ends."""
    return not is_of_segment(metric) and not all(map(isfinite, metric.range))


def difference(b: pl.Expr, a: pl.Expr) -> pl.Expr:
    """Return b - a; 0 where that is rounding, since lists that are worth the same may be summed up in another order."""
    d = b - a
    return pl.when(d.abs() <= ROUNDING * (a + b).abs()).then(0.0).otherwise(d)


@dataclass(frozen=True)
class Pairs:
    """Users' contributions to the metrics of a plan, paired by models."""

    users: Contributions
    pairing: Pairing

    @property
    def keys(self) -> list[str]:
        """The keys of the sums."""
        return [*self.users.keys, BASELINE]

    @property
    def values(self) -> PairedValues:
        """The values of a pair."""
        of, of_sets = self.users, self.users.placed is not None
        bounded = frozenset[str]() if of_sets else bounded_names(of.metrics)
        return PairedValues(of.names, of.metrics, bounded, of_sets)

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
        """Return one row per segment, model and baseline: the keys, and the sums behind `PairedValues.totals`.

        `absent` counts the users who are absent from both models, whose values are those of an empty list.
        """
        of, keys = self.users, self.keys
        summed = self._summed().select(*keys, pl.exclude(keys))
        checks = self.pairing.checks(self.models)
        if of.counts_absent:
            every = of.n_users().join(self._pairs(self.models), on=MODEL)
            absent = (pl.col("n_users") - pl.col("present").fill_null(0)).cast(pl.Int64)
            summed = every.join(summed, on=keys, how="left", nulls_equal=True)
            summed = summed.join(self.empty, how="cross")
            summed = summed.with_columns(absent=absent).drop("n_users")
        return of.checked(summed.drop("present"), f"n {of.names[0]}", *checks)

    def _pairs(self, models: Frame) -> Frame:
        """Return the compared pairs of models: model, baseline."""
        others = models.rename({MODEL: BASELINE})
        return models.join(others, how="cross").filter(self.pairing.pairs())

    def _summed(self) -> pl.LazyFrame:
        """Return the sums over users with a row in one of two models.

        NOTE: where the models are known, pair by pair: sums of whole columns take a seventh of the time of sums by group.
        """
        of = self.users
        # NOTE: held, so that what tells the two sides apart is not asked of each of the plan's frames twice
        rows = of.rows.cache().select(*of.pairing, MODEL, *of.names)
        pairs = pl.DataFrame() if of.known is None else self._pairs(of.known)
        if not 0 < len(pairs) <= MOST_APART:
            return self._sums_by(self._paired(rows), self.keys)
        keys = [key for key in of.keys if key != MODEL]
        found = []
        for pair in (pairs.slice(place, 1) for place in range(len(pairs))):
            others, base = (rows.filter(self._is(side, pair)) for side in (MODEL, BASELINE))
            paired = self._side_by_side(others, base, of.pairing).drop(MODEL, BASELINE)
            found.append(self._sums_by(paired, keys).join(pair.lazy(), how="cross"))
        return pl.concat(found)

    def _is(self, side: str, pair: pl.DataFrame) -> pl.Expr:
        """Return whether rows are of a side's model."""
        dtype = self.pairing.dtype
        name = pair.select(as_text(pl.col(side), dtype)).item()
        return as_text(pl.col(MODEL), dtype).eq_missing(pl.lit(name, pl.String))

    def _sums_by(self, paired: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
        rows = self.users.described(paired)
        return self.values.summed(rows, keys, [pl.len().alias("present")])

    def _paired(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return each user of two models once, with both values."""
        of, pairing = self.users, self.pairing
        if of.aligned:
            sides = (rows, rows)
            if pairing.baseline is not None:
                is_baseline = pairing.is_baseline(MODEL)
                sides = (rows.filter(~is_baseline), rows.filter(is_baseline))
            return self._side_by_side(*sides, of.pairing).filter(pairing.pairs())
        pairs = self._pairs(self.models)
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


def sums_of_all(
    plans: Sequence[Sequence[Contributions]],
    metrics: Sequence[Metric[...]],
    pairing: Pairing,
    run: Run,
) -> pl.LazyFrame:
    """Return one row for each segment, model and baseline, with the sums of all metrics by their places."""
    places = {str(metric): place for place, metric in enumerate(metrics)}
    keys, found = [*plans[0][0].keys, BASELINE], []
    for parts in plans:
        each = [Pairs(part, pairing) for part in parts]
        of, absent = each[0].values, parts[0].counts_absent
        same = [f"empty {name}" for name in of.names] if absent else []
        sums = run.added([pairs.sums() for pairs in each], keys, same)
        totals = of.totals([places[str(metric)] for metric in of.metrics], absent=absent)
        found.append(sums.select(*keys, *totals))
    first = reduce(lambda one, other: joined(one, other, keys, "full"), found)
    # in one order, since arrays of them are added up as they stand
    ends = [
        f"{end} {place}" for place, one in enumerate(metrics) if has_no_ends(one) for end in ENDS
    ]
    return first.with_columns(pl.exclude(*keys, *ends).fill_null(0)).sort(keys, nulls_last=True)


def by_metric(
    sums: pl.LazyFrame,
    keys: Sequence[str],
    metrics: Mapping[int, Metric[...]],
    numbers: Mapping[str, int] | None = None,
) -> pl.LazyFrame:
    """Return sums in long form: a row for each place in `metrics`, whose metric has its own or another number in `sums`.

    The columns are the keys, those of `properties_of`, the ends of what a user's value can be, `SUMS`, and where there are any
    those of trainings.
    """
    there = sums.collect_schema().names()
    parts = [*SUMS, *(part for part in OF_TRAININGS if f"{part} 0" in there)]
    rows = []
    for place, metric in metrics.items():
        number = place if numbers is None else numbers[str(metric)]
        sums_of = {part: pl.col(f"{part} {number}") for part in parts}
        ends = dict(zip(("least", "most"), _ends_of(metric, number), strict=True))
        rows.append(properties_of(place, metric) | ends | sums_of)
    return in_long_form(sums, keys, rows)


def properties_of(place: int, metric: Metric[...]) -> dict[str, pl.Expr]:
    """Return the columns of `PROPERTIES` of a metric."""
    better = metric.direction
    values = (
        *(place, str(metric), metric.k, is_share(metric), not is_of_segment(metric)),
        *(better != "lower", better != ""),
    )
    known = zip(PROPERTIES.items(), values, strict=True)
    return {name: pl.lit(value, dtype) for (name, dtype), value in known}


def _ends_of(metric: Metric[...], number: int) -> tuple[pl.Expr, pl.Expr]:
    """Return the ends of a metric's range, or where it has none the lowest and the highest value of all users and models.

    Of what is made of all lists, or of means, no user has a value.
    """
    if has_no_ends(metric):
        return pl.col(f"low {number}").min(), pl.col(f"high {number}").max()
    low, high = (None, None) if is_of_segment(metric) else metric.range
    return pl.lit(low, pl.Float64), pl.lit(high, pl.Float64)


def with_weights(cells: pl.LazyFrame, keys: Sequence[str], cluster: str, n: str) -> pl.LazyFrame:
    """Return cells with the jackknife weight of the squares of a cluster of n users; `n` names that column.

    Without it the mean of all N users moves by (S - m n) / (N - n), with m the mean and S the cluster's sum. The sum of the
    squares of these, times (G - 1) / G of G clusters, is that of G / (G - 1) Σ w (S - m n)² / N² with the weight
    w = ((G - 1) N / (G (N - n)))², which is 1 for clusters of one size. Source: Bell and McCaffrey 2002 (CR3).
    """
    of_cell, alone = pl.col(n).cast(pl.Float64), pl.col(ALONE)
    cells = cells.with_columns(pl.col(cluster).is_null().alias(ALONE))
    is_there = (of_cell > 0).cast(pl.Float64)
    n_clusters = pl.when(alone).then(of_cell).otherwise(is_there).sum().over(keys)
    users, size = of_cell.sum().over(keys), pl.when(alone).then(1.0).otherwise(of_cell)
    found = ((n_clusters - 1.0) * users / (n_clusters * (users - size))) ** 2
    return cells.with_columns(pl.when(n_clusters > 1).then(found).otherwise(1.0).alias(WEIGHT))


def products_of_cells(n: pl.Expr, squares: Mapping[str, Product]) -> dict[str, pl.Expr]:
    """Return the summands of weighted cells: squares, the number of clusters, `units`, and their squared `sizes`."""
    weighted = {part: pl.col(WEIGHT) * of_cell(*both) for part, both in squares.items()}
    return weighted | {"units": of_cell(n, (n > 0).cast(pl.Float64)), "sizes": of_cell(n, n * n)}


def of_cell(own: pl.Expr, of: pl.Expr) -> pl.Expr:
    """Return the summand of a cell, of users without a cluster or of a cluster."""
    return pl.when(ALONE).then(own).otherwise(of)


def units_of_users(sums: pl.LazyFrame) -> pl.LazyFrame:
    """Return sums of pairs in long form extended with `OF_UNITS`, for independent users."""
    a, d, n = (pl.col(part).cast(pl.Float64) for part in ("a", "d", "n"))
    return sums.with_columns(
        an=a, dn=d, nn=n, units=n, effective=n, differ=n - pl.col("ties").cast(pl.Float64)
    )


def units_of_clusters(cells: pl.LazyFrame, keys: Sequence[str], cluster: str) -> pl.LazyFrame:
    """Return sums of pairs in long form, by keys that end with the place, extended with `OF_UNITS`, from those of clusters."""
    n, a, d, aa, ad, dd, ties = (
        pl.col(part).cast(pl.Float64) for part in ("n", "a", "d", "aa", "ad", "dd", "ties")
    )
    squares = {
        "aa": (aa, a * a),
        "ad": (ad, a * d),
        "dd": (dd, d * d),
        "an": (a, a * n),
        "dn": (d, d * n),
        "nn": (n, n * n),
    }
    summed = {part: pl.col(part).cast(pl.Float64) for part in SUMS}
    summed |= products_of_cells(n, squares) | {
        "differ": of_cell(n - ties, (d != 0).cast(pl.Float64))
    }
    if USERS in cells.collect_schema():
        summed[USERS] = pl.col(USERS).cast(pl.Float64)
    # each is the same in all clusters of a row
    others = {*cells.collect_schema()} - {*keys, cluster, *summed}
    same = [pl.col(other).min() for other in sorted(others)]
    found = ExactSums(summed).of(with_weights(cells, keys, cluster, "n"), keys, same)
    return found.with_columns(effective=pl.col("n") ** 2 / pl.col("sizes"))
