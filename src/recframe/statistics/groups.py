"""Set metrics without each of 20 random groups of users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import polars as pl

from recframe.evaluation import evaluation
from recframe.evaluation.metrics_of_lists import N_PLACES, NUMBER, SIGN
from recframe.evaluation.plan import Run
from recframe.evaluation.required_columns import SUPPORT, keys_of, needs_of, numbered, support_of
from recframe.frames.dtypes import as_text
from recframe.frames.inputs import GROUP, Frames
from recframe.frames.options import FOLD
from recframe.frames.rows.joins import aggregate, in_long_form, joined
from recframe.frames.segments import Segment
from recframe.metrics.language.definition import Metric
from recframe.side_info.aggregation_levels import Level
from recframe.splits.hashing import hashed
from recframe.statistics.sums import (
    BASELINE,
    MODEL,
    OF_UNITS,
    PARTS,
    PLACE,
    ROUNDING,
    USERS,
    Pairing,
    Sample,
    exactly_0,
)

N_GROUPS = 20
FEWEST = 5
"""Groups of users below which there is no interval."""
NOBODY = -1
"""Number of the group that leaves nobody out."""
IS_WHOLE = pl.col(GROUP) == NOBODY
OF_ID, OF_CLUSTER = "key of id", "key of cluster"
_AS_TEXT = (pl.Duration, pl.Time)


def reason_without(metric: Metric[...]) -> str | None:
    """Return why a metric has no value without a group of users by sums; None of one that has."""
    if needs_of(metric).levels & {Level.ALONG, Level.ALONG_ALL}:
        return "it compares each list with all others"
    return None


def of_groups(sample: Sample) -> pl.LazyFrame:
    """Return set metrics in long form, with `PARTS` and `OF_UNITS`.

    NOTE: sums are taken by group, so that without one they are the total less the group's.
    """
    whole, run = sample.whole, sample.run
    draw = partial(_drawn, inputs=sample.inputs, cluster=sample.cluster)
    each = replace(whole, segments=(*whole.segments, Segment(GROUP, GROUP, "rows", add=draw)))
    keys = [*keys_of(whole, [*sample.places.values()])]
    # over folds each user counts once, in their group
    counts = [USERS] * (whole.folds is not None and FOLD not in keys)
    found = []
    by_sums, by_lists = sample.of(lambda one: not reason_without(one)), sample.of(reason_without)
    for some in (by_sums, by_lists):
        if not some.places:
            continue
        if some is by_sums:
            levels = {level for one in some.places.values() for level in needs_of(one).levels}
            left = partial(_left_out, run, changes=Level.EVERYWHERE not in levels)
            run_of_each = replace(run, adds=left)
            rows = evaluation.evaluate(each, some.conventions, run_of_each, SUPPORT)
            rows = numbered(rows, [*keys, GROUP])
        else:
            rows = numbered(evaluation.evaluate(whole, some.conventions, run, SUPPORT), keys)
            rows = rows.with_columns(pl.lit(NOBODY, pl.Int8).alias(GROUP))
        values = [
            {
                PLACE: pl.lit(place, pl.Int64),
                "b": pl.col(str(metric)),
                "n_b": pl.col(support_of(metric)).cast(pl.Float64),
            }
            for place, metric in some.places.items()
        ]
        rows = rows.with_columns(pl.col("n_users").alias(name) for name in counts)
        found.append(in_long_form(rows, [*keys, GROUP, *counts], values))
    return _with_squares(pl.concat(found), [*keys, PLACE], counts, sample.pairing)


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
    groups, n_a, n_b = map(pl.col, ("groups", "all n_a", "all n_b"))
    n = pl.when(d.is_not_null()).then(pl.min_horizontal(n_a, n_b))
    scale = n * n * (groups - 1.0) / (groups * groups)
    is_same = (d == 0) & (pl.col("differ") == 0)
    sums = {"n": n, "a": n * pl.col("all a"), "d": n * d, "unpaired": (n_a - n_b).abs()}
    sums |= {part: scale * pl.col(part) for part in ("aa", "ad", "dd")}
    sums |= {"squares": sums["dd"], "differ": pl.col("differ"), "ties": pl.when(is_same).then(n)}
    nothing = dict.fromkeys((*PARTS, *OF_UNITS), pl.lit(0.0, pl.Float64))
    sums = {part: one.fill_null(0.0) for part, one in (nothing | sums).items()}
    units = dict.fromkeys(("units", "effective"), pl.when("known").then(groups))
    return found.select(*keys, *counts, **{**sums, **units})


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
