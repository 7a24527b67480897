"""Set metrics without each of 20 random groups of users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import polars as pl

from recframe.evaluation import evaluation
from recframe.evaluation.metrics_of_lists import N_PLACES, NUMBER, SIGN
from recframe.evaluation.plan import Run
from recframe.evaluation.required_columns import (
    SUPPORT,
    Convention,
    keys_of,
    needs_of,
    numbered,
    support_of,
)
from recframe.frames.dtypes import as_text
from recframe.frames.inputs import GROUP, Frames
from recframe.frames.options import FOLD
from recframe.frames.rows.joins import aggregate, in_long_form, joined
from recframe.frames.segments import Segment
from recframe.metrics.language.definition import Metric
from recframe.ranking.judged_frame import judge, rows_of_models
from recframe.side_info.aggregation_levels import Level
from recframe.splits.hashing import hashed
from recframe.statistics.sums import (
    BASELINE,
    MODEL,
    OF_UNITS,
    PARTS,
    PLACE,
    PROPERTIES,
    ROUNDING,
    USERS,
    Pairing,
    exactly_0,
    properties_of,
)

N_GROUPS = 20
FEWEST = 5
"""Groups of users below which there is no interval."""
NOBODY = -1
"""Number of the group that leaves nobody out."""
KEY, OF_CLUSTER = "key of group", "key of cluster"
_AS_TEXT = (pl.Duration, pl.Time)


def reason_without(metric: Metric[...]) -> str | None:
    """Return why a metric has no value without a group of users by sums; None of one that has."""
    if needs_of(metric).levels & {Level.ALONG, Level.ALONG_ALL}:
        return "it compares each list with all others"
    return None


def grouped(inputs: Frames, cluster: str | None) -> Frames:
    """Return inputs with random groups of users as the last segment, which divide no cluster.

    A group follows from the value of an id alone, the same in each part, model, run and version.
    """
    clusters = None
    if cluster is not None:
        sides = (inputs.lists, inputs.truth, inputs.users)
        users = [one.select("user") for one in sides if one is not None]
        named = inputs.attach(pl.concat(users, how="vertical_relaxed").unique(), "users")
        keyed = _keyed(named.filter(pl.col(cluster).is_not_null()), cluster, OF_CLUSTER)
        clusters = keyed.group_by("user").agg(pl.col(OF_CLUSTER).min())
    left = tuple(one for one in inputs.segments if one.inside not in inputs.units)
    group = Segment(GROUP, GROUP, "rows", add=partial(_drawn, clusters=clusters))
    return replace(inputs, segments=(*left, group), units=())


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
    if dtype == pl.Binary or dtype.is_nested() or dtype.is_decimal() or dtype in _AS_TEXT:
        own = as_text(own, dtype)
    return hashed(rows.with_columns(own.alias(GROUP)), [GROUP], key).drop(GROUP)


def of_groups(
    inputs: Frames,
    conventions: Sequence[Convention],
    run: Run,
    places: Mapping[int, Metric[...]],
    cluster: str | None,
    pairing: Pairing | None,
) -> pl.LazyFrame:
    """Return set metrics in long form, with `PROPERTIES`, `PARTS` and `OF_UNITS`.

    NOTE: sums are taken by group, so that without one they are the total less the group's.
    """
    each, metrics = grouped(inputs, cluster), [one.metric for one in conventions]
    if pairing is not None:
        each = replace(each, checks=(*each.checks, pairing.check(_models(each, run))))
    keys = [key for key in keys_of(each, metrics) if key != GROUP]
    counts = [USERS] * (inputs.folds is not None and FOLD not in keys)
    nobody, found = pl.lit(NOBODY, pl.Int8), []
    for is_known in (True, False):
        of = {at: one for at, one in places.items() if (reason_without(one) is None) is is_known}
        names = {*map(str, of.values())}
        asked = [one for one in conventions if str(one.metric) in names]
        if not of:
            continue
        users = pl.col("n_users")
        if is_known:
            levels = {level for one in of.values() for level in needs_of(one).levels}
            left = partial(_left_out, run, changes=Level.EVERYWHERE not in levels)
            rows = evaluation.evaluate(each, asked, replace(run, adds=left), SUPPORT)
            rows = numbered(rows, [*keys, GROUP])
            # over folds each user counts once, in their group
            users = users.filter(pl.col(GROUP) != NOBODY).sum()
            users = users.over(keys) if keys else users
        else:
            plain = replace(each, segments=each.segments[:-1])
            rows = numbered(evaluation.evaluate(plain, asked, run, SUPPORT), keys)
            rows = rows.with_columns(nobody.alias(GROUP))
        rows = rows.with_columns(users.alias(name) for name in counts)
        long = [_row(*one) for one in of.items()]
        found.append(in_long_form(rows, [*keys, GROUP, *counts], long))
    return _with_squares(pl.concat(found), [*keys, PLACE], counts, pairing)


def _row(place: int, metric: Metric[...]) -> dict[str, pl.Expr]:
    """Return the columns of a metric in long form: `PROPERTIES`, its value and the number of lists."""
    n = pl.col(support_of(metric)).cast(pl.Float64)
    return {**properties_of(place, metric), "b": pl.col(str(metric)), "n_b": n}


def _models(inputs: Frames, run: Run) -> pl.LazyFrame:
    """Return the models, each once."""
    found = None
    if inputs.folds is None and not inputs.training:
        found = judge(inputs, run.models(inputs)).models
    return (rows_of_models(inputs).unique() if found is None else found).select(MODEL)


def _left_out(
    run: Run,
    sums: pl.LazyFrame,
    keys: Sequence[str],
    same: Sequence[str] = (),
    *,
    changes: bool = False,
) -> pl.LazyFrame:
    """Return sums of all users, and of all but each group, in place of those of each group.

    With `changes` those of items have signs, see `_signed`, and sums over such items are what each group takes from the whole.
    """
    if GROUP not in keys or "user" in keys:
        return run.added([sums], keys, same)
    schema, others = sums.collect_schema(), [key for key in keys if key != GROUP]
    parts = [name for name in schema if name not in {*keys, *same, SIGN}]
    firsts = [pl.col(name).first() for name in same]
    added = [*(pl.col(name).sum() for name in parts), *firsts]
    if SIGN in schema:
        sums, is_whole = sums.cache(), pl.col(GROUP) == NOBODY
        whole, own = sums.filter(is_whole).drop(GROUP, SIGN), sums.filter(~is_whole).drop(SIGN)
    else:
        own = run.added([sums], keys, same).cache()
        whole = aggregate(own, others, added)
        if changes and N_PLACES in schema:
            return _signed(whole.cache(), own, parts, keys).select(*schema, SIGN)
    numbers = pl.LazyFrame({GROUP: [NOBODY, *range(N_GROUPS)]}, schema={GROUP: schema[GROUP]})
    names = [name for name in schema if name != SIGN]
    summed = {
        name: pl.Int64 if schema[name].is_unsigned_integer() else schema[name] for name in parts
    }
    signed = [pl.col(name).cast(dtype) for name, dtype in summed.items()]
    less = [
        (pl.lit(0, dtype) - pl.col(name).cast(dtype)).alias(name) for name, dtype in summed.items()
    ]
    each = [whole.join(numbers, how="cross").with_columns(signed), own.with_columns(less)]
    rest = aggregate(pl.concat(one.select(names) for one in each), keys, added)
    rest = rest.select(pl.col(name).cast(schema[name]) for name in names)
    # an item that nobody else has is none of the segment
    there = [name for name in (N_PLACES, NUMBER) if name in schema]
    return rest.filter(pl.col(name) > 0 for name in there) if there else rest


def _signed(
    whole: pl.LazyFrame, own: pl.LazyFrame, parts: Sequence[str], keys: Sequence[str]
) -> pl.LazyFrame:
    """Return the items of all users, and those that each group lists: as they are, and, with the sign -1, without the group.

    NOTE: few of all items are listed by a group, so that this takes a third of the time of all items without each.
    """
    names = whole.collect_schema().names()
    own = own.select(*keys, pl.col(parts).name.prefix("own "))
    of_groups = joined(own, whole, [key for key in keys if key != GROUP]).cache()
    less = [pl.col(name) - pl.col(f"own {name}") for name in parts]
    rest = of_groups.with_columns(less).filter(pl.col(N_PLACES) > 0)
    nobody = whole.with_columns(pl.lit(NOBODY, pl.Int8).alias(GROUP))
    signs = {1: [nobody, of_groups], -1: [rest]}
    return pl.concat(
        rows.select(*names, GROUP, pl.lit(sign).alias(SIGN))
        for sign, frames in signs.items()
        for rows in frames
    )


def _with_squares(
    rows: pl.LazyFrame, keys: Sequence[str], counts: Sequence[str], pairing: Pairing | None
) -> pl.LazyFrame:
    """Return whole values with sums of squares, from those of all groups and without each.

    With h = n / m of a group of m among n lists, the value T and the value T_ without the group, the pseudo-value is
    h T - (h - 1) T_, and the squared error of T is the mean over the groups of the squares of pseudo-values about their mean
    weighted by 1 / h, over h - 1. Sums of squares are such that `of_mean` gives that.
    Source: Busing, Meijer and van der Leeden 1999 (delete-m jackknife for unequal m).
    """
    pairs, keys = _with_both_values(rows, keys, pairing)
    is_whole, h, whole, lists = pl.col(GROUP) == NOBODY, pl.col("h"), pl.col("all d"), "all lists"
    wholes = pl.col("a", "d", "lists").filter(is_whole).first().over(keys).name.prefix("all ")
    pairs = pairs.with_columns(wholes)
    size = pl.col(lists) - pl.col("lists")
    # of the whole, and of groups without a list, h is null and nothing is added
    pairs = pairs.with_columns(h=pl.when(~is_whole & (size > 0)).then(pl.col(lists) / size))
    moved = {}
    for part in ("a", "d"):
        pseudo = h * pl.col(f"all {part}") - (h - 1.0) * pl.col(part)
        moved[part] = (pseudo - (pseudo / h).sum().over(keys)) / (h - 1.0).sqrt()
    pairs = pairs.with_columns(
        aa=moved["a"] ** 2,
        ad=moved["a"] * moved["d"],
        dd=moved["d"] ** 2,
        changes=(pl.col("d") - whole).abs() > ROUNDING * whole.abs(),
    )
    is_group = h.is_not_null()
    same = [name for name in (*PROPERTIES, *counts) if name not in keys]
    found = pairs.group_by(keys).agg(
        pl.col("a", "d", "n_a", "n_b").filter(is_whole).first(),
        pl.col(same).first(),
        pl.col("aa", "ad", "dd").sum(),
        units=is_group.sum().cast(pl.Float64),
        known=pl.col("d").filter(is_group).is_not_null().all(),
        differ=pl.col("changes").filter(is_group).sum().cast(pl.Float64),
    )
    return found.select(*keys, *same, **_columns())


def _with_both_values(
    rows: pl.LazyFrame, keys: Sequence[str], pairing: Pairing | None
) -> tuple[pl.LazyFrame, Sequence[str]]:
    """Return rows with the baseline's value, 0 of a model alone, and their keys."""
    a, b, n_a, n_b = map(pl.col, ("a", "b", "n_a", "n_b"))
    if pairing is None:
        pairs = rows.with_columns(a=pl.lit(0.0), n_a=n_b)
    else:
        on = [*(key for key in keys if key != MODEL), GROUP]
        rows = rows.cache()
        base = rows.select(*on, pl.col(MODEL).alias(BASELINE), b.alias("a"), n_b.alias("n_a"))
        pairs, keys = joined(rows, base, on, "inner").filter(pairing.pairs()), [*keys, BASELINE]
    return pairs.with_columns(d=exactly_0(b - a, a.abs() + b.abs()), lists=n_a + n_b), keys


def _columns() -> dict[str, pl.Expr]:
    """Return `PARTS` and `OF_UNITS`; without a value nobody counts, and without a group no unit."""
    d, groups = pl.col("d"), pl.col("units")
    n = pl.when(d.is_not_null()).then(pl.min_horizontal("n_a", "n_b")).otherwise(0.0)
    scale = n * n * (groups - 1.0) / (groups * groups)
    sums = {name: pl.lit(0.0) for name in (*PARTS, *OF_UNITS)}
    sums |= {part: pl.col(part) * scale for part in ("aa", "ad", "dd")}
    sums |= {"n": n, "a": n * pl.col("a"), "d": n * d, "squares": sums["dd"]}
    sums |= dict.fromkeys(("units", "effective"), pl.when("known").then(groups))
    sums["differ"] = pl.col("differ")
    sums["ties"] = pl.when((d == 0) & (pl.col("differ") == 0)).then(n).otherwise(0.0)
    sums["unpaired"] = (pl.col("n_a") - pl.col("n_b")).abs()
    return sums | {name: sums[name].fill_null(0).cast(dtype) for name, dtype in PARTS.items()}
