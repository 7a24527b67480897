"""Units of a sample: users, clusters, and 20 random groups left out in turn for set metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from recframe.evaluation import evaluation, trainings
from recframe.evaluation.evaluation import of_each_training, values_of_trainings
from recframe.evaluation.metrics_of_lists import N_PLACES, NUMBER, SIGN
from recframe.evaluation.plan import Run
from recframe.evaluation.required_columns import (
    SUPPORT,
    TOTAL,
    Convention,
    is_of_segment,
    keys_of,
    name_beside,
    needs_of,
    numbered,
    support_of,
)
from recframe.evaluation.trainings import PARTS as OF_TRAININGS
from recframe.evaluation.trainings import TRAINING
from recframe.frames.dtypes import as_text
from recframe.frames.inputs import GROUP, Frames
from recframe.frames.options import FOLD
from recframe.frames.rows.joins import ExactSums, aggregate, in_long_form, joined
from recframe.frames.segments import Segment
from recframe.metrics.language.weighing import weights_of_hits
from recframe.side_info.aggregation_levels import Level
from recframe.splits.hashing import hashed
from recframe.statistics.stored_results import FEW
from recframe.statistics.sums import (
    BASELINE,
    MODEL,
    PARTS,
    PLACE,
    ROUNDING,
    USER,
    USERS,
    Pairing,
    Sample,
    cells_of,
    exactly_0,
)

OF_USERS = {"aa": "aa", "ad": "ad", "dd": "dd", "an": "a", "dn": "d", "nn": "n"}
"""Sums of squares and products over units (a: the other model's value, d: the difference, n: users), as they are of users."""
OF_UNITS = (*OF_USERS, "units", "effective", "differ", "squares")
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


def sums_of(sample: Sample) -> pl.LazyFrame:
    """Return one row for each segment, model, pair and metric: the keys, `PLACE`, `PARTS` and `OF_UNITS`.

    Over trainings there are their number and variance, of the model and of the baseline.
    """
    inputs, asked = sample.inputs, sample.asked
    if inputs.training and any(one.inside == TRAINING for one in inputs.segments):
        each = of_each_training([*asked.values()])
        each_asked = dict(zip(asked, each, strict=True))
        rows = sums_of(replace(sample, inputs=trainings.apart(inputs), asked=each_asked))
        return trainings.told_apart(rows, inputs)
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
    whole, stated = sample.whole, sample.conventions
    metrics = [one.metric for one in stated]
    each = values_of_trainings(whole, stated, sample.run)
    rows, keys = trainings.rows_of_trainings(each, whole, metrics), [*keys_of(whole, metrics)]
    values = [
        {PLACE: pl.lit(at, pl.Int64), "value": pl.col(str(one.metric))}
        for at, one in sample.asked.items()
    ]
    # a model that has no name of a training is fixed
    value, is_named = pl.col("value"), pl.col(TRAINING).is_not_null().any()
    n, (n_trainings, spread) = (value.count() * is_named).cast(pl.Int64), OF_TRAININGS
    columns = [n.alias(n_trainings), pl.when(n > 1).then(value.var()).alias(spread)]
    long = in_long_form(rows, [*keys, TRAINING], values)
    long = aggregate(long, [*keys, PLACE], columns)
    sums = joined(sums, long, [*keys, PLACE])
    if sample.pairing is None:
        return sums
    theirs = {MODEL: BASELINE, **{part: f"{BASELINE} {part}" for part in OF_TRAININGS}}
    keys = [BASELINE if key == MODEL else key for key in keys]
    return joined(sums, long.rename(theirs), [*keys, PLACE])


def _with_weights_of_hits(sums: pl.LazyFrame, sample: Sample) -> pl.LazyFrame:
    """Return sums with a note where hits weigh as few effective ones, (Σ w)² / Σ w² of their weights w."""
    conventions, notes, whole = [], [], sample.whole
    for place, asked in sample.asked.items():
        if of_hits := weights_of_hits(asked.metric):
            conventions += [replace(asked, metric=one) for one in of_hits]
            n, weight, square = (pl.col(name_beside(TOTAL, one)) for one in of_hits)
            effective = pl.when(square > 0).then(weight**2 / square)
            counts = (one.round().cast(pl.Int64) for one in (n, effective))
            note = pl.format("the {} hits weigh as {} alike", *counts)
            is_few = (effective < FEW) | (effective < n / 10)
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
    a, d, n = map(pl.col, ("a", "d", "n"))
    of_users = dict(zip(OF_USERS, map(pl.col, OF_USERS.values()), strict=True))
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
    are_changes = all(Level.EVERYWHERE not in needs_of(one).levels for one in metrics)
    left_out = replace(run, adds=partial(_left_out, run, changes=are_changes))
    rows = numbered(evaluation.evaluate(each, stated, left_out, SUPPORT), [*keys, GROUP])
    # over folds each user counts once, in their group
    counts = [USERS] * (whole.folds is not None and FOLD not in keys)
    rows = rows.with_columns(pl.col("n_users").alias(name) for name in counts)
    values = [
        {
            PLACE: pl.lit(place, pl.Int64),
            "b": pl.col(str(one.metric)),
            "n_b": pl.col(support_of(one.metric)).cast(pl.Float64),
        }
        for place, one in sample.asked.items()
    ]
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
    schema, others = sums.collect_schema(), [key for key in keys if key != GROUP]
    parts = [name for name in schema if name not in {*keys, *same, SIGN}]
    nobody = pl.lit(NOBODY, pl.Int8).alias(GROUP)
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
        signs = [(whole.with_columns(nobody), 1), (of_groups, 1), (rest, -1)]
        return pl.concat(
            rows.select(*schema, pl.lit(sign, pl.Int32).alias(SIGN)) for rows, sign in signs
        )
    groups = pl.LazyFrame({GROUP: [NOBODY, *range(N_GROUPS)]}, {GROUP: pl.Int8})
    rest = joined(whole.join(groups, how="cross"), own, keys, "full").with_columns(less)
    rest = rest.select(name for name in schema if name != SIGN)
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
    pairs, keys = _with_both_values(rows, keys, pairing)
    h, d, moved = pl.col("h"), pl.col("all d"), {}
    for part in ("a", "d"):
        pseudo = h * pl.col(f"all {part}") - (h - 1.0) * pl.col(part)
        moved[part] = (pseudo - (pseudo / h).sum()) / (h - 1.0).sqrt()
    is_group, change = h.is_not_null(), (pl.col("d") - d).abs()
    found = pairs.group_by(keys).agg(
        pl.col("^all .*$").first(),
        pl.col(counts).sum(),
        aa=(moved["a"] ** 2).sum(),
        ad=(moved["a"] * moved["d"]).sum(),
        dd=(moved["d"] ** 2).sum(),
        groups=is_group.sum().cast(pl.Float64),
        known=(is_group & pl.col("d").is_null()).sum() == 0,
        differ=(is_group & (change > ROUNDING * d.abs())).sum().cast(pl.Float64),
    )
    groups, n_a, n_b, differ = map(pl.col, ("groups", "all n_a", "all n_b", "differ"))
    n = pl.when(d.is_not_null()).then(pl.min_horizontal(n_a, n_b))
    scale = n * n * (groups - 1.0) / (groups * groups)
    sums: dict[str, Any] = {"n": n, "a": n * pl.col("all a"), "d": n * d}
    sums |= {part: scale * pl.col(part) for part in ("aa", "ad", "dd")}
    sums |= {"squares": sums["dd"], "differ": differ, "unpaired": (n_a - n_b).abs()}
    sums |= {"ties": pl.when(d == 0, differ == 0).then(n)}
    sums = {part: sums.get(part, pl.lit(0.0)).fill_null(0.0) for part in (*PARTS, *OF_UNITS)}
    found = found.select(*keys, *counts, **sums, groups=pl.when("known").then(groups))
    units = pl.when(_lacks().is_null()).then(groups)
    return found.with_columns(_lacks().alias(LACK), units=units, effective=units).drop("groups")


def _lacks() -> pl.Expr:
    """Return why a row has no interval, null where it has; two models of one value are the same without any group."""
    groups, a, d, dd, differ = map(pl.col, ("groups", "a", "d", "dd", "differ"))
    is_flat = dd <= (ROUNDING * pl.max_horizontal(a.abs(), d.abs())) ** 2
    few = f"fewer than {FEWEST} groups of users, so no interval"
    few_change = f"fewer than {FEWEST} of {N_GROUPS} groups of users change it, so no interval"
    return (
        pl.when((groups < FEWEST).fill_null(value=True))
        .then(pl.lit(few))
        .when((differ < FEWEST) & ((differ > 0) | (d != 0) | (a == 0)))
        .then(pl.lit(few_change))
        .when(is_flat & ((differ > 0) | (d != 0) | (a == 0)))
        .then(pl.lit("all groups of users change it alike, so no interval"))
    )


def _with_both_values(
    rows: pl.LazyFrame, keys: Sequence[str], pairing: Pairing | None
) -> tuple[pl.LazyFrame, Sequence[str]]:
    """Return rows with the baseline's value, 0 of a model alone, with the whole's and with h, and their keys."""
    if pairing is None:
        pairs = rows.with_columns(a=pl.lit(0.0, pl.Float64), n_a="n_b")
    else:
        on = [*(key for key in keys if key != MODEL), GROUP]
        pairs, keys = pairing.of(rows.cache(), on, {"b": "a", "n_b": "n_a"}), [*keys, BASELINE]
    a, b, n_a, n_b = map(pl.col, ("a", "b", "n_a", "n_b"))
    pairs = pairs.with_columns(d=exactly_0(b - a, a.abs() + b.abs()), lists=n_a + n_b)
    numbers, lists = pl.col("a", "d", "lists", "n_a", "n_b"), pl.col("all lists")
    wholes = pairs.filter(IS_WHOLE).select(*keys, numbers.name.prefix("all "))
    # of the whole, and of groups without a list, h is null and nothing is added
    is_group, size = ~IS_WHOLE & (lists > pl.col("lists")), lists - pl.col("lists")
    pairs = joined(pairs, wholes, keys)
    return pairs.with_columns(h=pl.when(is_group).then(lists / size)), keys
