"""Set metrics without each of 20 random groups of users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from recframe.evaluation import evaluation
from recframe.evaluation.evaluation import Convention
from recframe.evaluation.execution import Run
from recframe.evaluation.metrics_of_lists import N_PLACES
from recframe.evaluation.required_columns import needs_of
from recframe.evaluation.segments import SUPPORT, keys_of, numbered, support_of, with_attributes
from recframe.frames.inputs import GROUP, Inputs
from recframe.frames.options import FOLD
from recframe.frames.roles import Segment
from recframe.frames.rows.joins import aggregate, joined
from recframe.metrics.language.definition import Metric
from recframe.ranking.judged_frame import judge
from recframe.ranking.relevance import rows_of_models
from recframe.side_info.aggregation_levels import Level
from recframe.splits.hashing import hashed
from recframe.statistics.sums import (
    BASELINE,
    MODEL,
    OF_UNITS,
    PARTS,
    ROUNDING,
    USERS,
    Pairing,
    properties_of,
)

N_GROUPS = 20
FEWEST = 5
"""Groups of users below which there is no interval."""
NOBODY = -1
"""Number of the group that leaves nobody out."""
KEY, OF_CLUSTER = "key of group", "key of cluster"


def reason_without(metric: Metric[...]) -> str | None:
    """Return why a metric has no value without a group of users by sums; None of one that has."""
    if needs_of(metric).levels & {Level.ALONG, Level.ALONG_ALL}:
        return "it compares each list with all others"
    return None


def grouped(inputs: Inputs, cluster: str | None) -> Inputs:
    """Return inputs with random groups of users as the last segment, which divide no cluster.

    A group follows from the value of an id alone, the same in each part, model, run and version.
    """
    clusters = None
    if cluster is not None:
        sides = (inputs.lists, inputs.truth, inputs.users)
        users = [one.select("user") for one in sides if one is not None]
        named = with_attributes(pl.concat(users, how="vertical_relaxed").unique(), inputs)
        keyed = _keyed(named.filter(pl.col(cluster).is_not_null()), cluster, OF_CLUSTER)
        clusters = keyed.group_by("user").agg(pl.col(OF_CLUSTER).min())
    left = tuple(one for one in inputs.segments if one.inside not in inputs.units)
    segments = (*left, Segment(GROUP, GROUP, "constant"))
    return replace(inputs, segments=segments, units=(), draw=partial(_drawn, clusters=clusters))


def _drawn(rows: pl.LazyFrame, *, clusters: pl.LazyFrame | None) -> pl.LazyFrame:
    """Return rows of users with their groups."""
    names = rows.collect_schema().names()
    rows, key = _keyed(rows, "user", KEY), pl.col(KEY)
    if clusters is not None:
        rows, key = rows.join(clusters, on="user", how="left"), pl.coalesce(OF_CLUSTER, KEY)
    return rows.select(*names, (key % N_GROUPS).cast(pl.Int8).alias(GROUP))


def _keyed(rows: pl.LazyFrame, name: str, key: str) -> pl.LazyFrame:
    """Return rows with the key of an id."""
    dtype, own = rows.collect_schema()[name], pl.col(name)
    if dtype == pl.Binary:
        own = own.bin.encode("hex")
    elif dtype.is_nested() or dtype.is_decimal() or dtype in (pl.Duration, pl.Time):
        own = pl.format("{}", own)
    hashed_rows = hashed(rows.with_columns(own.alias(GROUP)), [GROUP], key)
    return hashed_rows.drop(GROUP)


def without_groups(
    inputs: Inputs,
    conventions: Sequence[Convention],
    run: Run,
    cluster: str | None,
    pairing: Pairing | None,
) -> tuple[pl.LazyFrame, list[str]]:
    """Return set metrics without each group of users, and as they are: a row for each segment, model and group; its keys.

    NOTE: sums are taken by group, so that without one they are the total less the group's.
    """
    metrics = [one.metric for one in conventions]
    each = grouped(inputs, cluster)
    if pairing is not None:
        each = replace(each, checks=(*each.checks, *pairing.checks(_models(each, run))))
    keys = [key for key in keys_of(each, metrics) if key != GROUP]
    served = [one for one in conventions if not reason_without(one.metric)]
    found = []
    if served:
        left = replace(run, adds=partial(_left_out, run))
        rows = evaluation.evaluate(each, served, left, SUPPORT)
        found.append(numbered(rows, [*keys_of(each, metrics)]))
    if rest := [one for one in conventions if one not in served]:
        plain = evaluation.evaluate(replace(each, segments=each.segments[:-1]), rest, run, SUPPORT)
        found.append(numbered(plain, keys).with_columns(pl.lit(NOBODY, pl.Int8).alias(GROUP)))
    both = found[0] if len(found) == 1 else joined(found[0], found[1], [*keys, GROUP], "full")
    columns = [name for one in metrics for name in (str(one), support_of(one))]
    users = pl.col("n_users").filter(pl.col(GROUP) != NOBODY).sum()
    # over folds each user counts once, in their group
    counted = [(users.over(keys) if keys else users).alias(USERS)] * (
        inputs.folds is not None and FOLD not in keys
    )
    return both.with_columns(counted).select(
        *keys, GROUP, *columns, *(one.meta.output_name() for one in counted)
    ), keys


def _models(inputs: Inputs, run: Run) -> pl.LazyFrame:
    """Return the models, each once."""
    found = None
    if inputs.folds is None and not inputs.training:
        found = judge(inputs, run.models(inputs)).models
    return (rows_of_models(inputs).unique() if found is None else found).select(MODEL)


def _left_out(
    run: Run, sums: pl.LazyFrame, keys: Sequence[str], same: Sequence[str] = ()
) -> pl.LazyFrame:
    """Return sums of all users, and of all but each group, in place of those of each group."""
    added = run.added([sums], keys, same)
    if GROUP not in keys or "user" in keys:
        return added
    added = added.cache()
    schema, others = added.collect_schema(), [key for key in keys if key != GROUP]
    parts = [name for name in schema if name not in {*keys, *same}]
    totals = aggregate(
        added,
        others,
        [*(pl.col(name).sum() for name in parts), *(pl.col(name).first() for name in same)],
    )
    numbers = pl.LazyFrame({GROUP: [NOBODY, *range(N_GROUPS)]}, schema={GROUP: schema[GROUP]})
    own = added.select(*keys, *(pl.col(name).alias(f"own {name}") for name in parts))
    every = totals.join(numbers, how="cross").join(own, on=keys, how="left", nulls_equal=True)
    rest = every.with_columns(
        (pl.col(name) - pl.col(f"own {name}").fill_null(0)).cast(schema[name]).alias(name)
        for name in parts
    )
    rest = rest.select(schema.names())
    # an item that nobody else has is none of the segment
    return rest.filter(pl.col(N_PLACES) > 0) if N_PLACES in schema else rest


def of_groups(
    rows: pl.LazyFrame,
    keys: Sequence[str],
    place: int,
    metric: Metric[...],
    pairing: Pairing | None,
) -> pl.LazyFrame:
    """Return a set metric's value in long form, with `PARTS` and `OF_UNITS`.

    `rows` are those of `without_groups`. With h = n / m of a group of m among n lists, the value T and the value T_ without
    the group, the pseudo-value is h T - (h - 1) T_, and the squared error of T is the mean over the groups of the squares of
    pseudo-values about their mean weighted by 1 / h, over h - 1. Sums of squares are such that `of_mean` gives that.
    Source: Busing, Meijer and van der Leeden 1999 (delete-m jackknife for unequal m).
    """
    value, support = pl.col(str(metric)), pl.col(support_of(metric))
    users = [name for name in rows.collect_schema() if name == USERS]
    each = rows.select(*keys, GROUP, *users, b=value, n=support.cast(pl.Float64))
    on = [key for key in keys if key != MODEL]
    if pairing is None:
        pairs = each.with_columns(a=pl.lit(0.0, pl.Float64), n_other=pl.col("n"))
    else:
        base = each.drop(users).rename({MODEL: BASELINE, "b": "a", "n": "n_other"})
        pairs = each.join(base, on=[*on, GROUP], how="inner", nulls_equal=True)
        pairs = pairs.filter(pairing.pairs())
        keys = [*keys, BASELINE]
    pairs = pairs.with_columns(
        d=_less(pl.col("b"), pl.col("a")), lists=pl.col("n") + pl.col("n_other")
    )
    sums = _pseudo_values(pairs, [*keys, *users])
    return sums.select(*keys, *users, **_columns(place, metric))


def _pseudo_values(pairs: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return values of whole segments, with the squares and products of their pseudo-values, and the number of groups."""
    is_whole, both = pl.col(GROUP) == NOBODY, ("a", "d")
    names = (*both, "lists", "n", "n_other")
    wholes = pairs.filter(is_whole)
    wholes = wholes.select(*keys, *(pl.col(name).alias(f"all {name}") for name in names))
    left = joined(pairs.filter(~is_whole), wholes, keys)
    n, size, h = pl.col("all lists"), pl.col("all lists") - pl.col("lists"), pl.col("h")
    left = left.filter(size > 0).with_columns(h=n / size)
    pseudo = {part: h * pl.col(f"all {part}") - (h - 1.0) * pl.col(part) for part in both}
    left = left.with_columns(one.alias(f"pseudo {part}") for part, one in pseudo.items())
    centres = [(pl.col(f"pseudo {part}") / h).sum().alias(f"centre {part}") for part in both]
    left = joined(left, aggregate(left, keys, centres), keys)
    a, d = ((pl.col(f"pseudo {one}") - pl.col(f"centre {one}")) / (h - 1.0).sqrt() for one in both)
    changes = (pl.col("d") - pl.col("all d")).abs() > ROUNDING * pl.col("all d").abs()
    sums = {"units": pl.len(), "differ": changes.sum(), "known": pl.col("d").is_not_null().all()}
    sums |= {"aa": (a * a).sum(), "ad": (a * d).sum(), "dd": (d * d).sum()}
    squares = aggregate(left, keys, [one.alias(name) for name, one in sums.items()])
    return joined(wholes, squares, keys)


def _less(b: pl.Expr, a: pl.Expr) -> pl.Expr:
    d = b - a
    return pl.when(d.abs() <= ROUNDING * (a.abs() + b.abs())).then(0.0).otherwise(d)


def _columns(place: int, metric: Metric[...]) -> dict[str, Any]:
    """Return the columns of long form; without a value nobody counts, and without a group no unit."""
    whole, groups = pl.col("all d"), pl.col("units").cast(pl.Float64)
    least = pl.min_horizontal("all n", "all n_other")
    n = pl.when(whole.is_not_null()).then(least).otherwise(0.0)
    scale = n * n * (groups - 1.0) / (groups * groups)
    squares: Mapping[str, pl.Expr] = {part: pl.col(part) * scale for part in ("aa", "ad", "dd")}
    units = pl.when("known").then(groups)
    same = pl.when((whole == 0) & (pl.col("differ") == 0)).then(n).otherwise(0.0)
    sums = {
        "n": n,
        "a": n * pl.col("all a"),
        "d": n * whole,
        "wins": pl.lit(0),
        "ties": same,
        "unpaired": (pl.col("all n") - pl.col("all n_other")).abs(),
        "size": pl.lit(0.0),
        **squares,
    }
    of_units = {
        **dict.fromkeys(("an", "dn", "nn"), pl.lit(0.0)),
        "units": units,
        "effective": units,
        "differ": pl.col("differ"),
        "squares": squares["dd"],
    }
    typed = {name: one.fill_null(0).cast(PARTS[name]) for name, one in sums.items()}
    typed |= {name: of_units[name].cast(pl.Float64) for name in OF_UNITS if name not in typed}
    return properties_of(place, metric) | typed
