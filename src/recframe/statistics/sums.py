"""Sums over users, clusters and folds, of models or of pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite

import polars as pl

from recframe.errors import RecframeError, fails_whole_if, shown_in_plan, worded
from recframe.evaluation.contributions import Contributions, contributions
from recframe.evaluation.evaluation import Convention
from recframe.evaluation.plan import Run
from recframe.evaluation.required_columns import is_of_segment, is_share
from recframe.evaluation.user_values import bounded_names
from recframe.frames.dtypes import as_text
from recframe.frames.hints import bind
from recframe.frames.inputs import Inputs
from recframe.frames.kinds.engine import MOST
from recframe.frames.rows.exact_sums import WHOLE, ExactSums, of_few
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

    @property
    def empty(self) -> dict[str, str]:
        """The names of the values of an empty list, by those of the values."""
        return {name: f"empty {name}" for name in self.users.names}

    @cached_property
    def exact(self) -> ExactSums:
        """The exact sums of values, differences and their products."""
        values: dict[str, pl.Expr] = {}
        for name in self.users.names:
            a, d = pl.col(f"paired {name}"), pl.col(f"d {name}")
            parts = {"d": d, "dd": d * d}
            parts |= {"a": a, "aa": a * a, "ad": a * d} if self.pairing else {}
            values |= {f"{part} {name}": one for part, one in parts.items()}
        bounded = bounded_names(self.users.metrics)
        return ExactSums(values, {name for name in values if name.partition(" ")[2] in bounded})

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
        number = f"n {of.names[0]}"
        return of.checked(summed.join(of.empty.rename(self.empty), how="cross"), number, *checks)

    def _summed(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return the sums of present users by the keys; those of parts can be added."""
        columns, sums = [], [pl.len().alias("present")]
        for name, metric in zip(self.users.names, self.users.metrics, strict=True):
            a, b, d = pl.col(f"a {name}"), pl.col(name), pl.col(f"d {name}")
            counts = {"n": d.count(), "wins": (d > 0).sum(), "ties": (d == 0).sum()}
            if self.pairing is None:
                each = [b]
                columns.append(b.alias(f"d {name}"))
            else:
                each = [a, b]
                paired = pl.when(b.is_not_null()).then(a)
                less = exactly_0(b - a, (a + b).abs())
                columns += [less.alias(f"d {name}"), paired.alias(f"paired {name}")]
                counts["unpaired"] = a.is_null().xor(b.is_null()).sum()
                sums.append((a.abs() + b.abs()).sum().alias(f"size {name}"))
            sums += [one.cast(pl.Int64).alias(f"{part} {name}") for part, one in counts.items()]
            if has_no_ends(metric):
                for sign, end in _ENDS:
                    most = pl.max_horizontal([sign * value for value in each])
                    most = most.filter(d.is_not_null()).max()
                    sums.append(most.alias(f"{MOST} {end} {name}"))
        return self.exact.summed(rows.with_columns(columns), self.keys, sums)

    def long(self, sums: pl.LazyFrame, places: Mapping[int, Metric[...]]) -> pl.LazyFrame:
        """Return sums in long form, once for each place of a metric: the keys, `PROPERTIES` and `PARTS`."""
        wide, columns, each = self.exact, {*self.exact.parts}, []
        values = [part for part in PARTS if f"{part} {self.users.names[0]}" in wide.values]
        # of which those of all metrics are the parts
        bounded = values if len(wide.bounded) == len(wide.values) else ()
        exact = ExactSums({part: pl.col(part) for part in values}, bounded)
        counted = ["n", "wins", "ties", *(["unpaired", "size"] if self.pairing else [])]
        absent = pl.col("absent")
        for name, metric in zip(self.users.names, self.users.metrics, strict=True):
            row = {part: pl.col(f"{part} {name}") for part in [*counted, "empty"]}
            for part in exact.parts:
                column = f"{part} {name}"
                nothing = pl.lit(0, pl.Int128 if part.startswith(WHOLE) else pl.Float64)
                row[part] = pl.col(column) if column in columns else nothing
            same = properties_of(0, metric)
            if has_no_ends(metric):
                of_absent = pl.when(absent > 0).then(row["empty"])
                for (sign, end), given in zip(_ENDS, metric.range, strict=True):
                    most = pl.max_horizontal(pl.col(f"{MOST} {end} {name}"), sign * of_absent)
                    same[end] = same[end] if isfinite(given) else sign * most.max()
            each += [
                {**same, PLACE: pl.lit(place, pl.Int64), "absent": absent, **row}
                for place, one in places.items()
                if str(one) == str(metric)
            ]
        rows = in_long_form(sums, self.keys, each)
        return rows.select(*self.keys, *PROPERTIES, **self._totals(exact, counted))

    def _totals(self, exact: ExactSums, counted: Sequence[str]) -> dict[str, pl.Expr]:
        """Return `PARTS` in which absent users count with the values of an empty list; of pairs their differences are 0."""
        empty, absent = pl.col("empty"), pl.col("absent")
        known = pl.when(empty.is_not_null()).then(absent).otherwise(0)
        value, square = ("a", "aa") if self.pairing else ("d", "dd")
        of_absent = {value: (empty, absent), square: (empty * empty, absent)}
        more = {
            "n": known,
            "ties": known if self.pairing else pl.when(empty == 0).then(absent).otherwise(0),
            "size": (2.0 * empty.abs() * absent).fill_null(0.0),
        }
        found = {part: pl.lit(0, dtype) for part, dtype in PARTS.items()}
        found |= {part: pl.col(part).fill_null(0) for part in counted}
        found |= {part: found[part] + one for part, one in more.items() if part in counted}
        return found | {part: exact.total(part, of_absent.get(part)) for part in exact.values}

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
        both = joined(others, base, [*on, MODEL, BASELINE], "full")
        filled = [
            pl.when(side).then(column).otherwise(empty).alias(column)
            for name, empty in self.empty.items()
            for side, column in (("here", name), ("there", f"a {name}"))
        ]
        return both.join(of.empty.rename(self.empty), how="cross").with_columns(filled)


_ENDS = ((-1.0, "least"), (1.0, "most"))


def has_no_ends(metric: Metric[...]) -> bool:
    """Return whether a metric has values of users that are in no range with two ends."""
    return not is_of_segment(metric) and not all(map(isfinite, metric.range))


def cells(
    inputs: Inputs,
    conventions: Sequence[Convention],
    run: Run,
    places: Mapping[int, Metric[...]],
    pairing: Pairing | None,
) -> tuple[pl.LazyFrame, list[str]]:
    """Return one row for each segment (model, baseline) and metric with `PROPERTIES` and `PARTS`, and the keys."""
    plans, keys = [], []
    for parts in contributions(inputs, conventions, run):
        each = [Summands(part, pairing) for part in parts]
        first, keys = each[0], each[0].keys
        sums = run.added([one.sums() for one in each], keys, [*first.empty.values()])
        plans.append(first.long(sums, places))
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
    n, a, d, ties = (pl.col(part).cast(pl.Float64) for part in ("n", "a", "d", "ties"))
    squares = {part: pl.col(part) for part in ("aa", "ad", "dd")}
    of_user = {**squares, "an": a, "dn": d, "nn": n, "units": n, "effective": n, "differ": n - ties}
    if cluster is None:
        # of a set metric no user has a value
        units = pl.when("of_each").then(n)
        return cells.with_columns(
            **{**of_user, "units": units, "effective": units}, squares=pl.col("dd")
        )
    is_alone = pl.col(cluster).is_null()
    zero = pl.when(is_alone).then("d").otherwise(exactly_0(pl.col("d"), pl.col("size")))
    n_clusters = pl.when(is_alone).then(n).otherwise(n > 0).sum().over(keys)
    users = n.sum().over(keys)
    rest = users - pl.when(is_alone).then(1.0).otherwise(n)
    weight = ((n_clusters - 1.0) * users / (n_clusters * rest)) ** 2
    weight = pl.when(n_clusters > 1).then(weight).otherwise(1.0)
    cells = cells.with_columns(d=zero, weight=weight, alone=is_alone)
    of_cluster = {
        "aa": a * a,
        "ad": a * d,
        "dd": d * d,
        "an": a * n,
        "dn": d * n,
        "nn": n * n,
        "units": n > 0,
        "effective": n * n,
        "differ": d != 0,
    }
    schema = cells.collect_schema()
    sums = {part: pl.col(part).cast(pl.Float64) for part in (*PARTS, USERS) if part in schema}
    for part, of in of_cluster.items():
        one = pl.when("alone").then(of_user[part]).otherwise(of.cast(pl.Float64))
        sums[part] = one if part in {"units", "effective", "differ"} else pl.col("weight") * one
    found = ExactSums({**sums, "squares": pl.col("dd")}).of(cells, keys, SAME)
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
