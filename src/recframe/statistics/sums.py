"""Sums over users, clusters and folds, of models or of pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import polars as pl

from recframe.errors import fails_whole_if, shown_in_plan, worded
from recframe.evaluation.contributions import Contributions, contributions
from recframe.evaluation.plan import Run
from recframe.evaluation.required_columns import Convention
from recframe.evaluation.user_values import bounded_names
from recframe.frames.dtypes import as_text
from recframe.frames.inputs import Frames
from recframe.frames.rows.joins import (
    ExactSums,
    in_long_form,
    joined,
)
from recframe.metrics.language.definition import Metric
from recframe.ranking.judged_frame import rows_of_models

MODEL, BASELINE, PLACE = "model", "baseline", "place"
PARTS = ("n", "wins", "ties", "unpaired", "a", "d", "aa", "ad", "dd", "size")
"""Sums over users: their number, those with d > 0 and d = 0, and those with only one of two values; the other model's values
a, the differences d = b - a (without another model the values themselves), their squares and products, and |a| + |b|."""
MOST_NAMED = 20
ROUNDING = 1e-12
"""Relative tolerance below which a difference of two values is 0."""
USER, USERS = "user", "users"
"""Key of a user's cells over folds, and their number of users with a value in any fold."""
OF_USERS = {"aa": "aa", "ad": "ad", "dd": "dd", "an": "a", "dn": "d", "nn": "n"}
"""Sums of squares and products over units (a: the other model's value, d: the difference, n: users), as they are of users."""
OF_UNITS = (*OF_USERS, "units", "effective", "differ", "squares")
"""These, the number of units, their effective number (sum n)^2 / sum n^2, how many differ in both values, and the squares of
users' own differences."""


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

    def of(
        self, rows: pl.LazyFrame, on: Sequence[str] = (), names: Mapping[str, str] | None = None
    ) -> pl.LazyFrame:
        """Return the rows of models with those of their baselines, whose columns get other names."""
        names = {MODEL: BASELINE, **(names or {})}
        if self.baseline is None:
            pairs = joined(rows, rows.rename(names), on, "inner")
            return pairs.filter(pl.col(BASELINE) < pl.col(MODEL))
        is_baseline = as_text(pl.col(MODEL), self.dtype) == self.baseline
        return joined(
            rows.filter(~is_baseline), rows.filter(is_baseline).rename(names), on, "inner"
        )

    def check(self, models: pl.LazyFrame) -> pl.LazyFrame:
        """Return a frame of one row that fails when the plan runs, without two models or without the baseline."""
        model = as_text(pl.col(MODEL), self.dtype)
        n, first = model.count().cast(pl.Int64), model.drop_nulls().sort().head(MOST_NAMED)
        none = pl.when(n == 0).then(pl.lit("no model")).otherwise(pl.lit(""))
        more = pl.when(n > MOST_NAMED).then(pl.format(" and {} more", n - MOST_NAMED))
        known = shown_in_plan(first).str.join(", ") + more.otherwise(none)
        lacks = pl.lit(value=False)
        if self.baseline is not None:
            lacks = (model != self.baseline).all() & (pl.len() > 0)
        # NOTE: names are put together once, since that takes as long as a small plan
        found = models.select(n=pl.len(), known=known, lacks=lacks)
        given = f"{self.given or f'baseline={self.baseline!r}'} is not a model"
        few = pl.lit("there are no two models to compare")
        reason = pl.when("lacks").then(pl.lit(given)).otherwise(few)
        message = worded(reason, f": the column {self.column!r} has ", pl.col("known"))
        is_wrong = pl.col("lacks") | (pl.col("n") < 2)  # noqa: PLR2004  a pair
        return found.select(check=fails_whole_if(is_wrong, message))


@dataclass(frozen=True)
class Sample:
    """Metrics of a call over its frames, and the unit that is independent."""

    inputs: Frames
    conventions: Sequence[Convention]
    run: Run
    places: Mapping[int, Metric[...]]
    """Metrics by their places in the result, of which several may be of one metric."""
    cluster: str | None = None
    """Internal name of the column of clusters; over folds that of users."""
    over_trainings: bool = False
    """Whether trainings are a second sample, without rows of their own."""
    pairing: Pairing | None = None

    @property
    def whole(self) -> Frames:
        """The frames without units as segments."""
        inputs = self.inputs
        left = tuple(one for one in inputs.segments if one.inside not in inputs.units)
        return replace(inputs, segments=left, units=())

    def of(self, holds: Callable[[Metric[...]], object]) -> Sample:
        """Return the sample of those metrics of which a condition holds."""
        conventions = [one for one in self.conventions if holds(one.metric)]
        places = {at: one for at, one in self.places.items() if holds(one)}
        return replace(self, conventions=conventions, places=places)

    def paired(self, pairing: Pairing | None) -> Sample:
        """Return the sample of pairs, with a check that there are models to pair."""
        if pairing is None:
            return self
        inputs, models = self.inputs, None
        if inputs.folds is None and not inputs.training:
            models = self.run.models(inputs)
        # where models are known nothing looks for them again
        inputs = inputs if models is None else replace(inputs, models=models)
        checks = (*inputs.checks, pairing.check(rows_of_models(inputs).unique()))
        return replace(self, inputs=replace(inputs, checks=checks), pairing=pairing)


def exactly_0(value: pl.Expr, size: pl.Expr) -> pl.Expr:
    """Return a difference; 0 where it is what rounding leaves of numbers of that size.

    Equal lists may be summed up in another order.
    """
    return pl.when(value.abs() <= ROUNDING * size).then(0.0).otherwise(value)


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
    def values(self) -> list[str]:
        """The columns of users' values and differences: `a value 0` of the baseline, `value 0` and `d value 0`."""
        sides = ("a ", "", "d ") if self.pairing else ("", "d ")
        return [f"{side}{name}" for side in sides for name in self.users.names]

    @cached_property
    def exact(self) -> ExactSums:
        """The exact sums of `PARTS`, by names such as `n value 0`."""
        values: dict[str, pl.Expr] = {}
        bounded: list[str] = []
        small = bounded_names(self.users.metrics)
        for name in self.users.names:
            a, b, d = (pl.col(f"{side}{name}") for side in ("a ", "", "d "))
            known = d.is_not_null()
            counts, sums = {"n": known, "ties": d == 0}, {"d": d, "dd": d * d}
            if self.pairing is not None:
                base = pl.when(known).then(a)
                counts |= {"wins": d > 0, "unpaired": a.is_null().xor(b.is_null())}
                sums |= {"a": base, "aa": base * base, "ad": base * d, "size": a.abs() + b.abs()}
            own = {f"{part} {name}": one for part, one in (counts | sums).items()}
            values |= own
            bounded += own if name in small else [f"{part} {name}" for part in counts]
        return ExactSums({name: one.cast(pl.Float64) for name, one in values.items()}, bounded)

    def sums(self) -> pl.LazyFrame:
        """Return one row per segment, model and baseline: the keys, and the sums that `long` reads; those of parts add up.

        Users without a row are counted as `absent`, with the values of an empty list, in columns as those of users.
        """
        of, pairing = self.users, self.pairing
        rows = of.described(of.rows if pairing is None else self._paired(pairing))
        present = pl.len().cast(pl.Int64).alias("present")
        summed = self.exact.summed(self._with_differences(rows), self.keys, [present])
        # a segment in which nobody counts has a row, as in `evaluate`; of lists, users count who have no truth
        if of.has_all_users or pairing is None:
            every = of.n_users()
            if pairing is not None:
                every = every.join(pairing.of(self._models), on=MODEL)
            summed = joined(every, summed, self.keys, "left" if of.has_all_users else "full")
        if of.values is not None:
            absent = pl.col("n_users") - pl.col("present").fill_null(0)
            names = pl.col(of.names)
            empty = of.values.empty.select(names, names.name.prefix("a "))
            summed = summed.with_columns(absent=absent)
            summed = summed.join(self._with_differences(empty), how="cross")
        return of.checked(summed, self.exact.parts[0]).drop("n_users", "present", strict=False)

    def _with_differences(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows of users' values with their differences, without another model the values themselves."""
        columns = {}
        for name in self.users.names:
            a, b = pl.col(f"a {name}"), pl.col(name)
            columns[f"d {name}"] = exactly_0(b - a, (a + b).abs()) if self.pairing else b
        return rows.with_columns(**columns)

    @property
    def _models(self) -> pl.LazyFrame:
        """The models, each once."""
        return cast("pl.LazyFrame", self.users.judged.models).select(MODEL)

    def _paired(self, pairing: Pairing) -> pl.LazyFrame:
        """Return each user with a row in one of two models once.

        NOTE: where all models have rows of the same users, neither side can lack one, which takes half the time.
        """
        of, on = self.users, self.users.pairing
        # NOTE: held, so that what tells the two sides apart is not asked of each of the plan's frames twice
        rows = of.rows.cache().select(*on, MODEL, *of.names)
        names = {name: f"a {name}" for name in of.names}
        if of.has_all_users and (of.values is None or of.values.aligned):
            return pairing.of(rows, on, names)
        pairs, base = pairing.of(self._models), rows.rename({MODEL: BASELINE, **names})
        there = pl.lit(value=True)
        others = rows.join(pairs, on=MODEL).with_columns(here=there)
        base = base.join(pairs, on=BASELINE).with_columns(there=there)
        both = joined(others, base, [*on, MODEL, BASELINE], "full")
        if of.values is None:
            return both
        filled = [
            pl.when(side).then(column).otherwise(f"empty {name}").alias(column)
            for name in names
            for side, column in (("here", name), ("there", names[name]))
        ]
        return both.join(of.values.of_empty_list, how="cross").with_columns(filled)

    def long(self, sums: pl.LazyFrame, places: Mapping[int, Metric[...]]) -> pl.LazyFrame:
        """Return sums in long form, once for each place of a metric: the keys, `PLACE` and `PARTS`."""
        names, rows = dict(zip(map(str, self.users.metrics), self.users.names, strict=True)), []
        values, is_whole = self.exact.values, self.users.values is None
        for place, metric in places.items():
            name = names.get(str(metric))
            if name is None:
                continue
            row = {PLACE: pl.lit(place, pl.Int64)}
            for part in PARTS:
                column, total = f"{part} {name}", pl.lit(0.0)
                if column in values:
                    absent = None if is_whole else (values[column], pl.col("absent"))
                    total = self.exact.total(column, absent)
                row[part] = total
            rows.append(row)
        return in_long_form(sums, self.keys, rows)


def cells_of(sample: Sample) -> tuple[pl.LazyFrame, list[str]]:
    """Return the sums of users' values, of clusters apart where there are some, and the keys of rows.

    There is one row for each segment (model, baseline) and metric.
    """
    inputs, plans, keys = sample.inputs, [], list[str]()
    for parts in contributions(inputs, sample.conventions, sample.run):
        each = [Summands(part, sample.pairing) for part in parts]
        keys = each[0].keys
        added = sample.run.added([one.sums() for one in each], keys, each[0].values)
        plans.append(each[0].long(added, sample.places))
    found = pl.concat(plans)
    if len(plans) > 1 and keys:
        # a segment that only some of the plans have has nobody in the others; places are in memory, since Polars 1.35 panics
        # on such joins of two plans that are streamed
        found = found.cache()
        places = pl.LazyFrame({PLACE: [*sample.places]}, {PLACE: pl.Int64})
        every = found.select(keys).unique().join(places, how="cross")
        found = joined(every, found, [*keys, PLACE]).with_columns(pl.col(*PARTS).fill_null(0))
    own = [*(key for key in keys if key not in inputs.units), PLACE]
    return found if inputs.folds is None else over_folds(found), own


def over_units(
    cells: pl.LazyFrame, keys: Sequence[str] = (), cluster: str | None = None
) -> pl.LazyFrame:
    """Return sums in long form with `OF_UNITS`, by the keys, from cells of the clusters in a column, or of independent users.

    A cluster whose differences cancel has a summed difference of 0. Without a cluster the mean m of all N users moves by
    (S - m n) / (N - n), with the cluster's sum S and its n users. The squares of these, times (G - 1) / G of G clusters, add up
    to G / (G - 1) Σ w (S - m n)² / N² with the weight w = ((G - 1) N / (G (N - n)))², which is 1 for clusters of one size. A
    user whose cluster is null is a cluster alone. Source: Bell and McCaffrey 2002 (CR3).
    """
    a, d, n = map(pl.col, ("a", "d", "n"))
    of_users: dict[str, Any] = {part: pl.col(of) for part, of in OF_USERS.items()}
    counts = {"units": n, "effective": n, "differ": n - pl.col("ties")}
    cells = cells.with_columns(**of_users, **counts, squares="dd")
    if cluster is None:
        return cells
    is_alone, d = pl.col(cluster).is_null(), exactly_0(d, pl.col("size"))
    of_clusters = {"aa": a * a, "ad": a * d, "dd": d * d, "an": a * n, "dn": d * n, "nn": n * n}
    of_clusters |= {"d": d, "units": n > 0, "effective": n * n, "differ": d != 0}
    cells = cells.with_columns(
        pl.when(is_alone).then(part).otherwise(one.cast(pl.Float64)).alias(part)
        for part, one in of_clusters.items()
    )
    n_users, n_units = n.sum().over(keys), pl.col("units").sum().over(keys)
    others = n_users - pl.when(is_alone).then(1.0).otherwise(n)
    weight = ((n_units - 1.0) * n_users / (n_units * others)) ** 2
    cells = cells.with_columns(pl.col(*OF_USERS) * pl.when(n_units > 1).then(weight).otherwise(1.0))
    there = cells.collect_schema()
    parts = [part for part in (*PARTS, *OF_UNITS, USERS) if part in there]
    found = ExactSums({part: pl.col(part) for part in parts}).of(cells, keys)
    return found.with_columns(effective=n**2 / pl.col("effective"))


def over_folds(cells: pl.LazyFrame) -> pl.LazyFrame:
    """Return the cells of users over all folds, each user counted once.

    A user is better off, equal or worse off by their sum over folds, and unpaired by the share of their values without another.
    """
    n, unpaired, d, users = map(pl.col, ("n", "unpaired", "d", USERS))
    rounding = ROUNDING * pl.col("size")
    return cells.with_columns((n > 0).cast(pl.Float64).alias(USERS)).with_columns(
        wins=users * (d > rounding),
        ties=users * (d.abs() <= rounding),
        unpaired=pl.when(unpaired > 0).then(unpaired / (n + unpaired)).otherwise(0.0),
    )
