"""Sums over users, alone or paired by models, of clusters apart where there are some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import filterfalse
from operator import attrgetter

import polars as pl

from recframe.errors import fails_whole_if, shown_in_plan, worded
from recframe.evaluation.contributions import Contributions, contributions
from recframe.evaluation.plan import Run
from recframe.evaluation.required_columns import Convention
from recframe.evaluation.user_values import bounded_names, n_users_of_segments
from recframe.frames.dtypes import as_text
from recframe.frames.inputs import Frames
from recframe.frames.rows.joins import ExactSums, in_long_form, joined
from recframe.ranking.data_checks import after_checks
from recframe.ranking.judged_frame import rows_of_models

MODEL, BASELINE, PLACE = "model", "baseline", "place"
PARTS = ("n", "wins", "ties", "unpaired", "a", "d", "aa", "ad", "dd", "size")
"""Sums over users: their number, those with d > 0 and d = 0, and those with only one of two values; the other model's values
a, the differences d = b - a (without another model the values themselves), their squares and products, and |a| + |b|."""
COUNTS = PARTS[:4]
SIDES = ("a ", "", "d ")
"""Prefixes of the columns of users' values and differences: `a value 0` of the baseline, `value 0` and `d value 0`."""
MOST_NAMED = 20
ROUNDING = 1e-12
"""Relative tolerance below which a difference of two values is 0."""
USER, USERS = "user", "users"
"""Key of a user's cells over folds, and their number of users with a value in any fold."""


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
        others = rows.filter(is_baseline).rename(names)
        return joined(rows.filter(~is_baseline), others, on, "inner")

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
    asked: Mapping[int, Convention]
    """Metrics by their places in the result, of which several may be of one metric."""
    run: Run
    cluster: str | None = None
    """Internal name of the column of clusters; over folds that of users."""
    pairing: Pairing | None = None

    @property
    def conventions(self) -> list[Convention]:
        """The metrics, each once."""
        return [*{one.metric.text: one for one in self.asked.values()}.values()]

    @property
    def whole(self) -> Frames:
        """The frames without units as segments."""
        inputs = self.inputs
        left = tuple(one for one in inputs.segments if one.inside not in inputs.units)
        return replace(inputs, segments=left, units=())

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


# Sums of a plan


def cells_of(sample: Sample) -> tuple[pl.LazyFrame, list[str]]:
    """Return the sums of users' values, of clusters apart where there are some, and the keys of rows.

    There is one row for each segment (model, baseline) and metric.
    """
    inputs, pairing, run = sample.inputs, sample.pairing, sample.run
    plans, keys = [], list[str]()
    for parts in contributions(inputs, sample.conventions, run):
        first, exact = parts[0], _exact_sums(parts[0], pairing)
        keys = [*first.keys, *[BASELINE] * (pairing is not None)]
        same = [f"{side}{name}" for side in SIDES for name in first.names]
        sums = [_summed(part, pairing, exact, keys) for part in parts]
        rows = _rows_of_places(first, exact, sample.asked)
        plans.append(in_long_form(run.added(sums, keys, same), keys, rows))
    found = pl.concat(plans)
    if len(plans) > 1 and keys:
        # a segment that only some of the plans have has nobody in the others; places are in memory, since Polars 1.35 panics
        # on such joins of two plans that are streamed
        found = found.cache()
        places = pl.LazyFrame({PLACE: [*sample.asked]}, {PLACE: pl.Int64})
        every = found.select(keys).unique().join(places, how="cross")
        found = joined(every, found, [*keys, PLACE]).with_columns(pl.col(*PARTS).fill_null(0))
    own = [*filterfalse(inputs.units.__contains__, keys), PLACE]
    return found if inputs.folds is None else _over_folds(found), own


def _exact_sums(part: Contributions, pairing: Pairing | None) -> ExactSums:
    """Return the exact sums of `PARTS`, by names such as `n value 0`."""
    values, bounded, small = dict[str, pl.Expr](), list[str](), bounded_names(part.metrics)
    for name in part.names:
        a, b, d = pl.col(f"a {name}"), pl.col(name), pl.col(f"d {name}")
        known = d.is_not_null()
        sums = {"n": known, "ties": d == 0, "d": d, "dd": d * d}
        if pairing is not None:
            base = pl.when(known).then(a)
            sums |= {"wins": d > 0, "unpaired": a.is_null().xor(b.is_null())}
            sums |= {"a": base, "aa": base * base, "ad": base * d, "size": a.abs() + b.abs()}
        for of, summand in sums.items():
            values[f"{of} {name}"] = summand.cast(pl.Float64)
            if name in small or of in COUNTS:
                bounded.append(f"{of} {name}")
    return ExactSums(values, bounded)


def _summed(
    part: Contributions, pairing: Pairing | None, exact: ExactSums, keys: Sequence[str]
) -> pl.LazyFrame:
    """Return one row per segment, model and baseline: the keys, and sums that add up with those of other parts.

    Users without a row are counted as `absent`, with the values of an empty list, in columns as those of users.
    """
    rows = part.described(part.rows if pairing is None else _paired(part, pairing))
    rows = _with_differences(rows, part.names, pairing)
    summed = exact.summed(rows, keys, [pl.len().cast(pl.Int64).alias("present")])
    # a segment in which nobody counts has a row, as in `evaluate`; of lists, users count who have no truth
    if part.has_all_users or pairing is None:
        every = n_users_of_segments(part.judged, part.keys)
        if pairing is not None:
            every = every.join(pairing.of(part.models), on=MODEL)
        summed = joined(every, summed, keys, "left" if part.has_all_users else "full")
    if part.values is not None:
        names, absent = pl.col(part.names), pl.col("n_users") - pl.col("present").fill_null(0)
        empty = part.values.empty.select(names, names.name.prefix("a "))
        summed = summed.with_columns(absent=absent)
        summed = summed.join(_with_differences(empty, part.names, pairing), how="cross")
    summed = after_checks(summed, part.judged, "present", pl.Int64, steep=part.steep)
    return summed.drop("n_users", "present", strict=False)


def _with_differences(
    rows: pl.LazyFrame, names: Sequence[str], pairing: Pairing | None
) -> pl.LazyFrame:
    """Return rows of users' values with their differences, without another model the values themselves."""
    columns = {}
    for name in names:
        a, b = pl.col(f"a {name}"), pl.col(name)
        columns[f"d {name}"] = b if pairing is None else exactly_0(b - a, (a + b).abs())
    return rows.with_columns(**columns)


def _paired(part: Contributions, pairing: Pairing) -> pl.LazyFrame:
    """Return each user with a row in one of two models once.

    NOTE: where all models have rows of the same users, neither side can lack one, which takes half the time.
    """
    on, values = [*filter(MODEL.__ne__, part.of_user)], part.values
    # NOTE: held, so that what tells the two sides apart is not asked of each of the plan's frames twice
    rows = part.rows.cache().select(*on, MODEL, *part.names)
    names = dict(zip(part.names, map("a {}".format, part.names), strict=True))
    if part.has_all_users and (values is None or values.aligned):
        return pairing.of(rows, on, names)
    pairs, base = pairing.of(part.models), rows.rename({MODEL: BASELINE, **names})
    there = pl.lit(value=True)
    others = rows.join(pairs, on=MODEL).with_columns(here=there)
    base = base.join(pairs, on=BASELINE).with_columns(there=there)
    both = joined(others, base, [*on, MODEL, BASELINE], "full")
    if values is None:
        return both
    filled = [
        pl.when(side).then(column).otherwise(f"empty {name}").alias(column)
        for name in names
        for side, column in (("here", name), ("there", names[name]))
    ]
    return both.join(values.of_empty_list, how="cross").with_columns(filled)


def _rows_of_places(
    part: Contributions, exact: ExactSums, asked: Mapping[int, Convention]
) -> list[dict[str, pl.Expr]]:
    """Return `PLACE` and `PARTS` of each place that has a metric of a part, from the sums of all users."""
    names, rows = dict(zip(map(attrgetter("text"), part.metrics), part.names, strict=True)), []
    for place, convention in asked.items():
        if (name := names.get(convention.metric.text)) is None:
            continue
        row = dict.fromkeys((PLACE, *PARTS), pl.lit(0.0)) | {PLACE: pl.lit(place, pl.Int64)}
        for of in PARTS:
            if (summand := exact.values.get(f"{of} {name}")) is not None:
                absent = None if part.values is None else (summand, pl.col("absent"))
                row[of] = exact.total(f"{of} {name}", absent)
        rows.append(row)
    return rows


def _over_folds(cells: pl.LazyFrame) -> pl.LazyFrame:
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
