"""`rec.gaps` and `rec.slices`: comparisons of segments of users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from recframe.errors import short, worded
from recframe.frames.dtypes import as_text
from recframe.frames.kinds.kind import run_all_by_size
from recframe.frames.rows.joins import ExactSums, joined
from recframe.metrics.language.definition import Metrics
from recframe.statistics.estimates import (
    Estimate,
    Sums,
    apart,
    as_columns,
    as_numbers,
    judged,
    np,
    of_mean,
    ratio,
    words,
)
from recframe.statistics.stored_results import FEW
from recframe.statistics.sums import PARTS, USER, USERS, exactly_0, over_units

BY, SEGMENT, LARGE = "by", "segment", "large"
known, users = pl.col(SEGMENT).is_not_null(), pl.col(USERS)
WORST = "worst"
ENDS = ("best", WORST)
"""The two segments of a gap, the first and the last of the large segments from the best on."""


@dataclass(frozen=True)
class Segmenting:
    """How segments are compared."""

    names: Mapping[str, str]
    """Own names of the columns, by internal name."""
    order: Sequence[str]
    """Columns that the rows of a segment are sorted by: the model, where one is bound, and the place of the metric."""
    metrics: Metrics
    min_users: int
    level: float
    cluster: str | None
    """Column of clusters, within which users are correlated."""


def _segments(
    cells: pl.DataFrame, columns: Sequence[str], how: Segmenting, *, with_rest: bool = False
) -> list[pl.DataFrame]:
    """Return the sums and users of each segment of some columns, by model and metric, with `BY` and the text `SEGMENT`.

    The text is null where a column is. `with_rest` has the columns' names in the text, and the sums of all other users and of
    all too, in frames of the same rows.
    """
    on, cluster, plan = how.order, how.cluster, cells.lazy()
    keys = [*columns, *on]
    units = [] if cluster is None else [cluster]
    counts = [*filter(cells.columns.__contains__, (*PARTS, USERS))]
    exact = ExactSums({name: pl.col(name) for name in counts})
    each = exact.of(plan, [*keys, *units])
    found, texts = [over_units(each, keys, cluster)], list[str | pl.Expr]()
    if with_rest:
        every, there = exact.of(plan, [*on, *units]), each.select(keys).unique()
        own = each.select(*keys, *units, pl.col(*counts).name.prefix("own "))
        parts = joined(joined(there, every, on, "inner"), own, [*keys, *units])
        found.append(over_units(parts.with_columns(map(_less_own, counts)), keys, cluster))
        # over folds a user is a cluster, of which there is no variance within
        whole = every if cluster == USER else exact.of(plan, on)
        whole = over_units(whole, on, USER if cluster == USER else None)
        found.append(joined(there, whole, on, "inner"))
    for name in columns:
        text = as_text(pl.col(name), cells.schema[name])
        texts += [f"{', ' * bool(texts)}{how.names[name]}=", text]
    segment = worded(*texts[not with_rest :]).alias(SEGMENT)
    # who count once over folds
    n_users = pl.col(USERS if USERS in counts else "n").cast(pl.Int64).alias(USERS)
    named = (segment, n_users, pl.lit(how.names[columns[0]]).alias(BY))
    rows = [one.sort(*on, *columns, nulls_last=True).with_columns(named) for one in found]
    return [one.drop(columns) for one in run_all_by_size(rows, len(cells))]


def _less_own(name: str) -> pl.Expr:
    """Return a sum of all users less that of a segment, without what rounding leaves."""
    rest = pl.col(name) - pl.col(f"own {name}").fill_null(0.0)
    return exactly_0(rest, pl.col(name).abs()).alias(name)


# Gaps


def gaps(
    cells: pl.DataFrame, crossed: Sequence[tuple[str, ...]], how: Segmenting, schema: pl.Schema
) -> pl.DataFrame:
    """Return a row for each column, model and metric, from the sums of cells.

    The interval has t at level^(1 / m), where m is the number of all pairs of segments of `min_users` users: the two were
    picked among them. The p value is 1 - (1 - p)^m. Both hold for any correlation of the pairs. Where all users of one of the
    two have the same value, nothing is known of its error. Source: Welch 1947; Sidak 1967.
    """
    rows = _best_and_worst(cells, crossed, how)
    columns = (map(f"{end} {{}}".format, Estimate._fields) for end in ENDS)
    best, worst = (Estimate(*map(as_numbers, rows.select(names))) for names in columns)
    gap, n_large = apart(best, worst), as_numbers(rows[LARGE])
    error = np.where((best.error > 0) & (worst.error > 0), gap.error, np.nan)
    gap = gap._replace(value=np.abs(gap.value), error=error)
    n_pairs = n_large * (n_large - 1.0) / 2.0
    low, high, _, p_value = judged(gap, level=how.level, correction="sidak", tests=n_pairs)
    sizes = {f"{end}_n_users": as_numbers(rows[f"{end} {USERS}"]) for end in ENDS}
    few = f"fewer than two segments of at least {how.min_users} users, so no gap"
    constant = "all users of the best or the worst segment have the same value, so no interval"
    lacks = {
        "nobody has a value": as_numbers(rows["known"]) == 0,
        few: np.isnan(gap.value),
        constant: np.isnan(low),
    }
    rough = np.fmin(*sizes.values()) < FEW
    told = words(lacks, {f"segments of fewer than {FEW} users, so the interval is rough": rough})
    found = {
        "gap": gap.value,
        "gap_low": low,
        "gap_high": high,
        "best_value": best.value,
        "worst_value": worst.value,
        "p_value": p_value,
        "note": [*map(_with_unknown, told, rows[BY], rows["unknown"])],
        **sizes,
    }
    ends = (rows[f"{end} {SEGMENT}"].alias(end) for end in ENDS)
    return rows.with_columns(*as_columns(found, schema), *ends).select(*schema)


def _best_and_worst(
    cells: pl.DataFrame, crossed: Sequence[tuple[str, ...]], how: Segmenting
) -> pl.DataFrame:
    """Return the means of the best and the worst large segments of each column, model and metric, where there are two."""
    segments = pl.concat(_segments(cells, columns, how)[0] for columns in crossed)
    on = [BY, *how.order]
    of = Sums(segments, how.metrics)
    e = of_mean(of)
    score = np.where(of.higher, -1.0, 1.0) * e.value
    made = {"metric": of.name, "score": score, **e._asdict()}
    segments = segments.select(*on, SEGMENT, USERS, *map(pl.Series, made, made.values()))
    groups = segments.group_by(on, maintain_order=True).agg(
        pl.col("metric").first(),
        known=users.filter(known).sum(),
        unknown=users.filter(~known).sum(),
        n_segments=(known & (users > 0)).sum().cast(pl.Int64),
    )
    large = segments.filter(known, users >= how.min_users).sort("score", maintain_order=True)
    columns = pl.col(SEGMENT, USERS, *Estimate._fields)
    best, worst = columns.first().name.prefix("best "), columns.last().name.prefix("worst ")
    ends = large.group_by(on, maintain_order=True).agg(best, worst, pl.len().alias(LARGE))
    ends = ends.filter(pl.col(LARGE) > 1)
    return groups.join(ends, on=on, how="left", nulls_equal=True, maintain_order="left")


def _with_unknown(note: str | None, column: str, unknown: int) -> str | None:
    """Return a note with the number of users whose segment is not known."""
    if not unknown:
        return note
    more = f"{unknown} users are in no segment, as their {short(repr(column))} is null"
    return f"{note}; {more}" if note else more


# Slices


def slices(
    cells: pl.DataFrame, crossed: Sequence[tuple[str, ...]], how: Segmenting, schema: pl.Schema
) -> pl.DataFrame:
    """Return a row for each slice, model and metric, from the sums of cells; first those with the worst end of the interval.

    NOTE: no variance is taken to be below that of all users together, since of slices with sparse values those with few hits
    have a small variance by chance, and would be found lower.
    """
    parts = [_segments(cells, columns, how, with_rest=True) for columns in crossed]
    each: list[pl.DataFrame] = [*map(pl.concat, zip(*parts, strict=True))]
    are_slices = each[0].select(known & (users >= how.min_users)).to_series()
    rows, *others = (one.filter(are_slices) for one in each)
    of, (rest, every) = Sums(rows, how.metrics), (of_mean(Sums(one, how.metrics)) for one in others)
    own, rest = _at_least(of_mean(of), every), _at_least(rest, every)
    e = apart(own, rest)
    tested = judged(e, level=how.level, correction="sidak")
    found = {
        "metric": of.name,
        "difference": e.value,
        **tested._asdict(),
        "value": own.value,
        "rest": rest.value,
        "n_users": rows[USERS],
        "note": words({"nobody is outside": np.isnan(rest.value)}, {}),
        WORST: np.where(of.higher, tested.difference_high, -tested.difference_low),
    }
    made = as_columns(found, {**schema, WORST: pl.Float64})
    result = rows.select(*how.order, SEGMENT).hstack(made)
    return result.sort([*how.order, WORST], nulls_last=True, maintain_order=True).select(*schema)


def _at_least(e: Estimate, every: Estimate) -> Estimate:
    """Return means with errors of at least that of users with the variance of all; one user's error is that."""
    variance = every.error**2 * every.n
    squared = np.fmax(e.error**2, ratio(variance, np.where(e.n > 0, e.n, np.nan)))
    freedom = np.where(np.isnan(e.freedom), 1.0, e.freedom)
    return e._replace(error=np.sqrt(squared), freedom=freedom)
