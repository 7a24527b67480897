"""Sums of units: users, clusters, and random groups left out in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import filterfalse
from operator import attrgetter
from typing import Any, cast

import polars as pl

from recframe.errors import RecframeError, fails_whole_if, shown_in_plan, worded
from recframe.evaluation import evaluation, trainings
from recframe.evaluation.contributions import Contributions, contributions
from recframe.evaluation.evaluation import values_of_trainings
from recframe.evaluation.metrics_of_lists import N_PLACES, NUMBER, SIGN
from recframe.evaluation.plan import Run
from recframe.evaluation.required_columns import (
    SUPPORT,
    TOTAL,
    Convention,
    has_interval,
    is_of_segment,
    keys_of,
    name_beside,
    needs_of,
    numbered,
    support_of,
)
from recframe.evaluation.trainings import PARTS as OF_TRAININGS
from recframe.evaluation.trainings import TRAINING
from recframe.evaluation.user_values import bounded_names, n_users_of_segments
from recframe.frames.dtypes import as_text
from recframe.frames.inputs import GROUP, Frames
from recframe.frames.options import FOLD
from recframe.frames.rows.joins import ExactSums, aggregate, in_long_form, joined
from recframe.frames.segments import Segment
from recframe.metrics.language.weighing import weights_of_hits
from recframe.ranking.data_checks import after_checks
from recframe.ranking.judged_frame import rows_of_models
from recframe.side_info.aggregation_levels import Level
from recframe.splits.hashing import hashed
from recframe.statistics.stored_results import FEW

MODEL, BASELINE, PLACE = "model", "baseline", "place"
PARTS = ("n", "wins", "ties", "unpaired", "a", "d", "aa", "ad", "dd", "size")
"""Sums over users: their number, those with d > 0 and d = 0, and those with only one of two values; the other model's values
a, the differences d = b - a (without another model the values themselves), their squares and products, and |a| + |b|."""
COUNTS = PARTS[:4]
MOST_NAMED = 20
ROUNDING = 1e-12
"""Relative tolerance below which a difference of two values is 0."""
USER, USERS = "user", "users"
"""Key of a user's cells over folds, and their number of users with a value in any fold."""
SQUARES = ("aa", "ad", "dd")
PRODUCTS = (*SQUARES, "an", "dn", "nn")
"""Sums of squares and products over units (a: the other model's value, d: the difference, n: users)."""
OF_UNITS = (*PRODUCTS, "units", "effective", "differ", "squares")
"""These, the number of units, their effective number (sum n)^2 / sum n^2, how many differ in both values, and the squares of
users' own differences."""
LACK, OF_HITS = "lack", "of hits"
"""Columns of words on set metrics without an interval, and on the weights of hits; not all sums have them."""
N_GROUPS = 20
FEWEST = 5
"""Groups of users below which there is no interval."""
NOBODY = -1
"""Number of the group that leaves nobody out."""
IS_WHOLE = pl.col(GROUP) == NOBODY
OF_ID, OF_CLUSTER = "key of id", "key of cluster"
_AS_TEXT = (pl.Duration, pl.Time)


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
        many = pl.when(n > MOST_NAMED).then(pl.format(" and {} more", n - MOST_NAMED))
        more = many.when(n == 0).then(pl.lit("no model")).otherwise(pl.lit(""))
        is_named = pl.lit(self.baseline is not None) & (pl.len() > 0)
        lacks = is_named & (model != pl.lit(self.baseline, pl.String)).all()
        # NOTE: names are put together once, since that takes as long as a small plan
        known = shown_in_plan(first).str.join(", ") + more
        found = models.select(n=pl.len(), known=known, lacks=lacks)
        given = pl.lit(f"{self.given or f'baseline={self.baseline!r}'} is not a model")
        few = pl.lit("there are no two models to compare")
        reason = pl.when("lacks").then(given).otherwise(few)
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
        each = self.asked.values()
        return [*dict(zip(map(attrgetter("metric.text"), each), each, strict=True)).values()]

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
        if models is not None:  # nothing looks for them again
            inputs = replace(inputs, models=models)
        check = pairing.check(rows_of_models(inputs).unique())
        return replace(
            self, inputs=replace(inputs, checks=(*inputs.checks, check)), pairing=pairing
        )


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
    for parts in contributions(inputs, sample.conventions, run, paired=pairing is not None):
        first, exact = parts[0], _exact_sums(parts[0], pairing)
        names = first.names
        keys = [*first.keys, *[BASELINE] * (pairing is not None)]
        # of empty lists
        same = [*names, *map("a {}".format, names), *map("d {}".format, names)]
        sums = [*map(partial(_summed, pairing=pairing, exact=exact, keys=keys), parts)]
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
    """Return the exact sums of `PARTS`, by names such as `n value 0`.

    They are of the values of the baseline, `a value 0`, those of a model, `value 0`, and the differences, `d value 0`.
    """
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
    rows, pairs = part.rows, None
    if pairing is not None:
        pairs = pairing.of(cast("pl.LazyFrame", part.judged.models).select(MODEL))
        rows = _paired(part, pairing, pairs)
    rows = _with_differences(part.described(rows), part.names, pairing)
    summed = exact.summed(rows, keys, [pl.len().cast(pl.Int64).alias("present")])
    # a segment in which nobody counts has a row, as in `evaluate`; of lists, users count who have no truth
    if part.has_all_users or pairing is None:
        every = n_users_of_segments(part.judged, part.keys)
        if pairs is not None:
            every = every.join(pairs, on=MODEL)
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


def _paired(part: Contributions, pairing: Pairing, pairs: pl.LazyFrame) -> pl.LazyFrame:
    """Return each user with a row in one of two models once.

    NOTE: where all models have rows of the same users, neither side can lack one, which takes half the time.
    """
    on = [*filter(MODEL.__ne__, part.of_user)]
    # NOTE: held, so that what tells the two sides apart is not asked of each of the plan's frames twice
    rows = part.rows.cache().select(*on, MODEL, *part.names)
    names = dict(zip(part.names, map("a {}".format, part.names), strict=True))
    if part.has_all_users:
        return pairing.of(rows, on, names)
    base = rows.rename({MODEL: BASELINE, **names}).join(pairs, on=BASELINE)
    return joined(rows.join(pairs, on=MODEL), base, [*on, MODEL, BASELINE], "full")


def _rows_of_places(
    part: Contributions, exact: ExactSums, asked: Mapping[int, Convention]
) -> list[dict[str, pl.Expr]]:
    """Return `PLACE` and `PARTS` of each place that has a metric of a part, from the sums of all users."""
    names, rows = dict(zip(map(attrgetter("text"), part.metrics), part.names, strict=True)), []
    for place, convention in asked.items():
        row, name = dict.fromkeys(PARTS, pl.lit(0.0)), names.get(convention.metric.text)
        for of in PARTS:
            if (summand := exact.values.get(f"{of} {name}")) is not None:
                absent = None if part.values is None else (summand, pl.col("absent"))
                row[of] = exact.total(f"{of} {name}", absent)
        if name is not None:
            rows.append({PLACE: pl.lit(place, pl.Int64), **row})
    return rows


def _over_folds(cells: pl.LazyFrame) -> pl.LazyFrame:
    """Return the cells of users over all folds, each user counted once.

    A user is better off, equal or worse off by their sum over folds, and unpaired by the share of their values without another.
    """
    n, unpaired, d, size = map(pl.col, ("n", "unpaired", "d", "size"))
    users, rounding = (n > 0).cast(pl.Float64), ROUNDING * size
    return cells.with_columns(
        users.alias(USERS),
        wins=users * (d > rounding),
        ties=users * (d.abs() <= rounding),
        unpaired=pl.when(unpaired > 0).then(unpaired / (n + unpaired)).otherwise(0.0),
    )


# Units


def sums_of(sample: Sample) -> pl.LazyFrame:
    """Return one row for each segment, model, pair and metric: the keys, `PLACE`, `PARTS` and `OF_UNITS`.

    Over trainings there are their number and variance, of the model and of the baseline.
    """
    inputs, asked = sample.inputs, sample.asked
    sets, of_users, found = dict[int, Convention](), dict[int, Convention](), []
    for place, one in asked.items():
        (sets if is_of_segment(one.metric) else of_users)[place] = one
    if of_users:
        rows, keys = cells_of(replace(sample, asked=of_users))
        found.append(over_units(rows, keys, sample.cluster))
    if sets:
        unit = None if sample.cluster == USER else sample.cluster
        found.append(_without_groups(replace(sample, asked=sets, cluster=unit)))
    sums = pl.concat(found, how="diagonal_relaxed")
    if inputs.training:
        sums = _with_trainings(sums, sample)
    return sums if sample.pairing else _with_weights_of_hits(sums, sample)


def _with_trainings(sums: pl.LazyFrame, sample: Sample) -> pl.LazyFrame:
    """Return sums with the number and the variance of the trainings of both models."""
    whole, metrics = sample.whole, [one.metric for one in sample.conventions]
    each = values_of_trainings(whole, sample.conventions, sample.run)
    rows, keys = trainings.rows_of_trainings(each, whole, metrics), [*keys_of(whole, metrics)]
    # a model that has no name of a training is fixed
    value, is_named = pl.col("value"), pl.col(TRAINING).is_not_null().any()
    n, (n_trainings, spread) = (value.count() * is_named).cast(pl.Int64), OF_TRAININGS
    columns = [n.alias(n_trainings), pl.when(n > 1).then(value.var()).alias(spread)]
    values = [
        {PLACE: pl.lit(at, pl.Int64), "value": pl.col(one.metric.text)}
        for at, one in sample.asked.items()
    ]
    long = in_long_form(rows, [*keys, TRAINING], values)
    long = aggregate(long, [*keys, PLACE], columns)
    sums = joined(sums, long, [*keys, PLACE])
    if sample.pairing is None:
        return sums
    theirs = {MODEL: BASELINE, **{part: f"{BASELINE} {part}" for part in OF_TRAININGS}}
    return joined(sums, long.rename(theirs), [*(theirs.get(key, key) for key in keys), PLACE])


def _with_weights_of_hits(sums: pl.LazyFrame, sample: Sample) -> pl.LazyFrame:
    """Return sums with a note where hits weigh as few effective ones, (Σ w)² / Σ w² of their weights w."""
    conventions, notes, whole = [], [], sample.whole
    for place, asked in sample.asked.items():
        if of_hits := weights_of_hits(asked.metric):
            conventions += [replace(asked, metric=one) for one in of_hits]
            n, weight, square = (pl.col(name_beside(TOTAL, one)) for one in of_hits)
            effective = pl.when(square > 0).then(weight**2 / square)
            is_few = (effective < FEW) | (effective < n / 10)
            n, like = (one.round().cast(pl.Int64) for one in (n, effective))
            note = worded("the ", n, " hits weigh as ", like, " alike")
            notes.append({PLACE: pl.lit(place, pl.Int64), OF_HITS: pl.when(is_few).then(note)})
    if not notes:
        return sums
    keys = [*keys_of(whole, [])]
    wide = numbered(evaluation.evaluate(whole, conventions, sample.run, (TOTAL,)), keys)
    return joined(sums, in_long_form(wide, keys, notes), [*keys, PLACE])


# Users and clusters


def over_units(
    cells: pl.LazyFrame, keys: Sequence[str] = (), cluster: str | None = None
) -> pl.LazyFrame:
    """Return sums in long form with `OF_UNITS`, by the keys, from cells of the clusters in a column, or of independent users.

    A cluster whose differences cancel has a summed difference of 0. Without a cluster the mean m of all N users moves by
    (S - m n) / (N - n), with the cluster's sum S and its n users. The squares of these, times (G - 1) / G of G clusters, add up
    to G / (G - 1) Σ w (S - m n)² / N² with the weight w = ((G - 1) N / (G (N - n)))², which is 1 for clusters of one size. A
    user whose cluster is null is a cluster alone. Source: Bell and McCaffrey 2002 (CR3).
    """
    n = pl.col("n")
    counts = {"units": n, "effective": n, "differ": n - pl.col("ties")}
    cells = cells.with_columns(**counts, an="a", dn="d", nn="n", squares="dd")
    if cluster is None:
        return cells
    is_alone, d = pl.col(cluster).is_null(), exactly_0(pl.col("d"), pl.col("size"))
    by = {"a": pl.col("a"), "d": d, "n": n}
    of_clusters = {part: by[part[0]] * by[part[1]] for part in PRODUCTS}
    of_clusters |= {"d": d, "units": n > 0, "effective": n * n, "differ": d != 0}
    cells = cells.with_columns(
        pl.when(is_alone).then(part).otherwise(one.cast(pl.Float64))
        for part, one in of_clusters.items()
    )
    n_users, n_units = n.sum().over(keys), pl.col("units").sum().over(keys)
    others = n_users - pl.when(is_alone).then(1.0).otherwise(n)
    weight = ((n_units - 1.0) * n_users / (n_units * others)) ** 2
    cells = cells.with_columns(pl.col(*PRODUCTS) * pl.when(n_units > 1).then(weight).otherwise(1.0))
    there = filter(cells.collect_schema().__contains__, (*PARTS, *OF_UNITS, USERS))
    found = ExactSums({part: pl.col(part) for part in there}).of(cells, keys)
    return found.with_columns(effective=n**2 / pl.col("effective"))


# Set metrics


def _without_groups(sample: Sample) -> pl.LazyFrame:
    """Return set metrics in long form, with `PARTS` and `OF_UNITS`.

    NOTE: sums are taken by group, so that without one they are the total less the group's.
    """
    whole, run, stated = sample.whole, sample.run, sample.conventions
    metrics = [one.metric for one in stated]
    keys = [*keys_of(whole, metrics)]
    draw = partial(_drawn, inputs=sample.inputs, cluster=sample.cluster)
    each = replace(whole, segments=(*whole.segments, Segment(GROUP, GROUP, "rows", add=draw)))
    for metric in metrics:
        if not has_interval(metric):
            raise RecframeError(
                f"{metric} has no interval, since it compares each list with all others; evaluate() has its values"
            )
    are_changes = all(Level.EVERYWHERE not in needs_of(one).levels for one in metrics)
    left_out = replace(run, adds=partial(_left_out, run, changes=are_changes))
    rows = numbered(evaluation.evaluate(each, stated, left_out, SUPPORT), [*keys, GROUP])
    # over folds each user counts once, in their group
    counts = [USERS] * (whole.folds is not None and FOLD not in keys)
    rows = rows.with_columns(pl.col("n_users").alias(name) for name in counts)
    values = []
    for place, one in sample.asked.items():
        n = pl.col(support_of(one.metric)).cast(pl.Float64)
        values.append({PLACE: pl.lit(place, pl.Int64), "b": pl.col(one.metric.text), "n_b": n})
    long = in_long_form(rows, [*keys, GROUP, *counts], values)
    return _with_squares(long, [*keys, PLACE], counts, sample.pairing)


def _drawn(rows: pl.LazyFrame, *, inputs: Frames, cluster: str | None) -> pl.LazyFrame:
    """Return rows of users with random groups, which divide no cluster.

    A group follows from the value of an id alone, the same in each part, model, run and version.
    """
    names, key = rows.collect_schema().names(), pl.col(OF_ID)
    rows = _keyed(rows, "user", OF_ID)
    if cluster is not None:
        users = inputs.attach(rows.select("user").unique(), "users").drop_nulls(cluster)
        users = _keyed(users, cluster, OF_CLUSTER).group_by("user").agg(pl.col(OF_CLUSTER).min())
        rows, key = rows.join(users, on="user", how="left"), pl.coalesce(OF_CLUSTER, OF_ID)
    return rows.select(*names, (key % N_GROUPS).cast(pl.Int8).alias(GROUP))


def _keyed(rows: pl.LazyFrame, name: str, key: str) -> pl.LazyFrame:
    """Return rows with the key of an id."""
    dtype, own = rows.collect_schema()[name], pl.col(name)
    if dtype == pl.Binary or dtype.is_nested() or dtype.is_decimal() or dtype in _AS_TEXT:
        own = as_text(own, dtype)
    return hashed(rows.with_columns(own.alias(GROUP)), [GROUP], key).drop(GROUP)


def _left_out(
    run: Run, sums: pl.LazyFrame, keys: Sequence[str], same: Sequence[str] = (), *, changes: bool
) -> pl.LazyFrame:
    """Return sums of all users, and of all but each group, in place of those of each group.

    With `changes` those of items are what each group takes from the whole: the items that it lists, as they are and, with the
    sign -1, without the group; sums over them are then less those of the whole.

    NOTE: few of all items are listed by a group, so that this takes a third of the time of all items without each.
    """
    if GROUP not in keys or "user" in keys:
        return run.added([sums], keys, same)
    schema, others = sums.collect_schema(), [*filter(GROUP.__ne__, keys)]
    parts = [*filterfalse({*keys, *same, SIGN}.__contains__, schema)]
    if SIGN in schema:
        sums = sums.cache()
        whole, own = sums.filter(IS_WHOLE).drop(GROUP, SIGN), sums.filter(~IS_WHOLE)
    else:
        own = run.added([sums], keys, same).cache()
        whole = aggregate(own, others, [pl.col(parts).sum(), pl.col(same).first()])
    own = own.select(*keys, pl.col(parts).name.prefix("own "))
    less = [pl.col(name).fill_null(0) - pl.col(f"own {name}").fill_null(0) for name in parts]
    if changes and N_PLACES in schema:
        whole = whole.cache()
        of_groups = joined(own, whole, others).cache()
        rest = of_groups.with_columns(less).filter(pl.col(N_PLACES) > 0)
        of_nobody = whole.with_columns(pl.lit(NOBODY, pl.Int8).alias(GROUP))
        signs = [(of_nobody, 1), (of_groups, 1), (rest, -1)]
        return pl.concat(
            rows.select(*schema, pl.lit(sign, pl.Int32).alias(SIGN)) for rows, sign in signs
        )
    groups = pl.LazyFrame({GROUP: [NOBODY, *range(N_GROUPS)]}, {GROUP: pl.Int8})
    rest = joined(whole.join(groups, how="cross"), own, keys, "full").with_columns(less)
    rest = rest.select(filter(SIGN.__ne__, schema))
    # an item that nobody else has is none of the segment
    there = [pl.col(name) > 0 for name in (N_PLACES, NUMBER) if name in schema]
    return rest.filter(there) if there else rest


def _with_squares(
    rows: pl.LazyFrame, keys: Sequence[str], counts: Sequence[str], pairing: Pairing | None
) -> pl.LazyFrame:
    """Return whole values with sums of squares, from those of all groups and without each.

    With h = n / m of a group of m among n lists, the value T and the value T_ without the group, the pseudo-value is
    h T - (h - 1) T_, and the squared error of T is the mean over the groups of the squares of pseudo-values about their mean
    weighted by 1 / h, over h - 1. Sums of squares are such that `of_mean` gives that. Without a value nobody counts, and
    without a group no unit. Source: Busing, Meijer and van der Leeden 1999 (delete-m jackknife for unequal m).
    """
    if pairing is None:
        pairs = rows.with_columns(a=pl.lit(0.0, pl.Float64), n_a="n_b")
    else:
        on = [*filter(MODEL.__ne__, keys), GROUP]
        pairs, keys = pairing.of(rows.cache(), on, {"b": "a", "n_b": "n_a"}), [*keys, BASELINE]
    a, b, n_a, n_b = map(pl.col, ("a", "b", "n_a", "n_b"))
    pairs = pairs.with_columns(d=exactly_0(b - a, a.abs() + b.abs()), lists=n_a + n_b)
    whole = pl.col("a", "d", "lists", "n_a", "n_b").filter(IS_WHOLE).first()
    pairs = pairs.with_columns(whole.over(keys).name.prefix("all "))
    h, d, lists, moved = pl.col("h"), pl.col("all d"), pl.col("all lists"), {}
    # of the whole, and of groups without a list, h is null and nothing is added
    size = lists - pl.col("lists")
    pairs = pairs.with_columns(h=pl.when(~IS_WHOLE, size > 0).then(lists / size))
    for part in ("a", "d"):
        pseudo = h * pl.col(f"all {part}") - (h - 1.0) * pl.col(part)
        moved[part] = (pseudo - (pseudo / h).sum()) / (h - 1.0).sqrt()
    is_group, change = h.is_not_null(), (pl.col("d") - d).abs()
    is_known = (is_group & pl.col("d").is_null()).sum() == 0
    found = pairs.group_by(keys).agg(
        pl.col("^all .*$").first(),
        pl.col(counts).sum(),
        *((moved[part[0]] * moved[part[1]]).sum().alias(part) for part in SQUARES),
        groups=pl.when(is_known).then(is_group.sum().cast(pl.Float64)),
        differ=(is_group & (change > ROUNDING * d.abs())).sum().cast(pl.Float64),
    )
    groups, n_a, n_b, differ = map(pl.col, ("groups", "all n_a", "all n_b", "differ"))
    n = pl.when(d.is_not_null()).then(pl.min_horizontal(n_a, n_b))
    scale = n * n * (groups - 1.0) / (groups * groups)
    sums: dict[str, Any] = dict.fromkeys((*PARTS, *OF_UNITS), pl.lit(0.0))
    sums |= {part: scale * pl.col(part) for part in SQUARES} | {"squares": scale * pl.col("dd")}
    sums |= {"n": n, "a": n * pl.col("all a"), "d": n * d, "unpaired": (n_a - n_b).abs()}
    sums |= {"differ": differ, "ties": pl.when(d == 0, differ == 0).then(n)}
    found = found.select(*keys, *counts, "groups", **sums)
    found = found.with_columns(pl.col(*sums).fill_null(0.0)).with_columns(_lacks().alias(LACK))
    units = pl.when(pl.col(LACK).is_null()).then("groups")
    return found.with_columns(units=units, effective=units).drop("groups")


def _lacks() -> pl.Expr:
    """Return why a row has no interval, null where it has; two models of one value are the same without any group."""
    groups, a, d, dd, differ = map(pl.col, ("groups", "a", "d", "dd", "differ"))
    is_other = (differ > 0) | (d != 0) | (a == 0)
    is_flat = dd <= (ROUNDING * pl.max_horizontal(a.abs(), d.abs())) ** 2
    cases = {
        f"fewer than {FEWEST} groups of users": (groups < FEWEST).fill_null(value=True),
        f"fewer than {FEWEST} of {N_GROUPS} groups of users change it": is_other
        & (differ < FEWEST),
        "all groups of users change it alike": is_other & is_flat,
    }
    return pl.coalesce(
        pl.when(holds).then(pl.lit(f"{lack}, so no interval")) for lack, holds in cases.items()
    )
