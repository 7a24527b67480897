"""`rec.gaps` and `rec.slices`: comparisons of segments of users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from recframe.errors import fails_whole_if, short
from recframe.evaluation.required_columns import not_of_users
from recframe.frames.dtypes import as_text
from recframe.frames.inputs import Frames
from recframe.frames.kinds.kind import run_by_size
from recframe.frames.rows.joins import ExactSums, joined
from recframe.metrics.language.definition import Metric
from recframe.statistics.arrays import np, ratio
from recframe.statistics.estimates import (
    Estimate,
    Sums,
    apart,
    as_columns,
    as_numbers,
    judged,
    of_mean,
    words,
)
from recframe.statistics.stored_results import FEW
from recframe.statistics.sums import (
    MODEL,
    OF_UNITS,
    PARTS,
    PLACE,
    USER,
    USERS,
    exactly_0,
    over_units,
)

BY, SEGMENT, LARGE = "by", "segment", "large"
ENDS: dict[str, Literal["first", "last"]] = {"best": "first", "worst": "last"}
"""The two segments of a gap, by their place among the large segments from the best on."""
WORST = "worst"
REST, ALL = "rest ", "all "
"""Prefixes of the sums of all users outside of a segment, and of all users."""


@dataclass(frozen=True)
class Segmenting:
    """How segments are compared."""

    names: Mapping[str, str]
    """Own names of the columns, by internal name."""
    metrics: Sequence[Metric[...]]
    min_users: int
    level: float
    cluster: str | None
    """Column of clusters, within which users are correlated."""


def checks(inputs: Frames, call: str) -> Iterator[pl.LazyFrame]:
    """Give frames of one row that fail when the plan runs, if a column of rows puts a user into several segments."""
    for segment in inputs.segments:
        if segment.at not in {"rows", "truth"}:
            continue
        name = segment.inside
        frames = [inputs.truth] if segment.at == "truth" else [inputs.lists, inputs.truth]
        users = [
            frame.filter(pl.col("user").is_not_null()).select("user", name).unique()
            for frame in frames
            if frame is not None
        ]
        in_several = pl.len() > pl.col("user").n_unique()
        each = pl.concat(users, how="vertical_relaxed").unique()
        message = not_of_users(call, segment, inputs.units)
        yield each.select(check=fails_whole_if(in_several, message))


def segments_of(
    cells: pl.DataFrame, columns: Sequence[str], how: Segmenting, *, with_rest: bool = False
) -> pl.DataFrame:
    """Return each segment of some columns with its sums and users, by model and metric, those without a known value too.

    The columns come as text. `with_rest` has the sums of all other users and of all too, under the prefixes `REST` and `ALL`.
    """
    on = [*([MODEL] if MODEL in cells.columns else []), PLACE]
    keys, units = [*columns, *on], [] if how.cluster is None else [how.cluster]
    counts = [name for name in (*PARTS, USERS) if name in cells.columns]
    exact, plan = ExactSums({name: pl.col(name) for name in counts}), cells.lazy()
    each = exact.of(plan, [*keys, *units])
    rows = over_units(each, keys, how.cluster)
    if with_rest:
        own = each.select(*keys, *units, pl.col(*counts).name.prefix("own "))
        every = exact.of(plan, [*on, *units])
        parts = joined(joined(rows.select(keys), every, on, "inner"), own, [*keys, *units])
        rest = over_units(parts.with_columns(map(_less_own, counts)), keys, how.cluster)
        # over folds a user is a cluster, of which there is no variance within
        user = how.cluster if how.cluster == USER else None
        whole = over_units(every if user else exact.of(plan, on), on, user)
        for prefix, others, by in ((REST, rest, keys), (ALL, whole, on)):
            sums = pl.col(*dict.fromkeys([*counts, *OF_UNITS])).name.prefix(prefix)
            rows = joined(rows, others.select(*by, sums), by)
    rows = rows.sort(*on, *columns, nulls_last=True)
    texts = [as_text(pl.col(name), cells.schema[name]).alias(name) for name in columns]
    # who count once over folds
    users = pl.col(USERS if USERS in counts else "n").cast(pl.Int64).alias(USERS)
    return run_by_size(rows.with_columns(*texts, users), len(cells))


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
    segments = pl.concat([_of_column(cells, column, how) for (column,) in crossed])
    on = [BY, *([MODEL] if MODEL in schema else []), PLACE]
    known, users = pl.col(SEGMENT).is_not_null(), pl.col(USERS)
    groups = segments.group_by(on, maintain_order=True).agg(
        known=users.filter(known).sum(),
        unknown=users.filter(~known).sum(),
        n_segments=(known & (users > 0)).sum().cast(pl.Int64),
    )
    of = Sums(segments, how.metrics)
    score = pl.Series(np.where(of.higher, -1.0, 1.0) * of_mean(of).value)
    large = segments.with_columns(score=score).filter(known & (users >= max(how.min_users, 1)))
    large = large.with_columns(pl.len().over(on).alias(LARGE)).filter(pl.col(LARGE) > 1)
    large = large.sort("score", maintain_order=True)
    ends = {}
    for end, keep in ENDS.items():
        rows = large.unique(on, keep=keep, maintain_order=True)
        ends[end] = groups.join(rows, on=on, how="left", nulls_equal=True, maintain_order="left")
    made = _between(groups, ends, schema, how)
    names = (rows[SEGMENT].alias(end) for end, rows in ends.items())
    return groups.with_columns(*made, *names).select(*schema)


def _between(
    groups: pl.DataFrame, ends: Mapping[str, pl.DataFrame], schema: pl.Schema, how: Segmenting
) -> pl.DataFrame:
    """Return the gaps between best and worst segments, with their intervals and notes."""
    best, worst = (of_mean(Sums(rows, how.metrics)) for rows in ends.values())
    gap, n_large = apart(best, worst), as_numbers(ends["best"][LARGE])
    error = np.where((best.error > 0) & (worst.error > 0), gap.error, np.nan)
    gap = gap._replace(value=np.abs(gap.value), error=error)
    tested = judged(gap, level=how.level, correction="sidak", tests=n_large * (n_large - 1.0) / 2.0)
    sizes = {f"{end}_n_users": as_numbers(rows[USERS]) for end, rows in ends.items()}
    few = f"fewer than two segments of at least {how.min_users} users, so no gap"
    constant = "all users of the best or the worst segment have the same value, so no interval"
    lacks = {
        "nobody has a value": as_numbers(groups["known"]) == 0,
        few: np.isnan(gap.value),
        constant: np.isnan(tested.low),
    }
    rough = np.fmin(*sizes.values()) < FEW
    told = words(lacks, {f"segments of fewer than {FEW} users, so the interval is rough": rough})
    columns = {
        "metric": Sums(groups, how.metrics).name,
        "gap": gap.value,
        "gap_low": tested.low,
        "gap_high": tested.high,
        "best_value": best.value,
        "worst_value": worst.value,
        "p_value": tested.p_adjusted,
        "note": [*map(_with_unknown, told, groups[BY], groups["unknown"])],
        **sizes,
    }
    return as_columns(columns, schema)


def _of_column(cells: pl.DataFrame, column: str, how: Segmenting) -> pl.DataFrame:
    """Return the segments of a column, which is named in `by`."""
    rows = segments_of(cells, [column], how)
    return rows.rename({column: SEGMENT}).with_columns(pl.lit(how.names[column]).alias(BY))


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
    rows = pl.concat([_crossed(cells, columns, how) for columns in crossed])
    of, others = Sums(rows, how.metrics), (Sums(_of(rows, one), how.metrics) for one in (REST, ALL))
    own, rest, every = map(of_mean, (of, *others))
    own, rest = _at_least(own, every), _at_least(rest, every)
    e = apart(own, rest)
    tested = judged(e, level=how.level, correction="sidak")
    found = {
        "metric": of.name,
        "difference": e.value,
        "difference_low": tested.low,
        "difference_high": tested.high,
        "value": own.value,
        "rest": rest.value,
        "p_value": tested.p_value,
        "p_adjusted": tested.p_adjusted,
        "n_users": rows[USERS],
        "note": words({"nobody is outside": np.isnan(rest.value)}, {}),
    }
    made = as_columns(found, schema)
    worst = pl.Series(WORST, np.where(of.higher, tested.high, -tested.low), nan_to_null=True)
    order = [*([MODEL] if MODEL in schema else []), PLACE]
    result = rows.select(*order, SEGMENT).hstack([*made, worst])
    return result.sort([*order, WORST], nulls_last=True, maintain_order=True).select(*schema)


def _crossed(cells: pl.DataFrame, columns: Sequence[str], how: Segmenting) -> pl.DataFrame:
    """Return the slices of some columns that have users enough, with their own sums and those of all users outside."""
    rows = segments_of(cells, columns, how, with_rest=True)
    texts = [pl.format("{}{}", pl.lit(f"{how.names[name]}="), pl.col(name)) for name in columns]
    rows = rows.filter(pl.all_horizontal(pl.col(*columns).is_not_null()))
    rows = rows.with_columns(pl.concat_str(texts, separator=", ").alias(SEGMENT))
    return rows.filter(pl.col(USERS) >= max(how.min_users, 1)).drop(columns)


def _of(rows: pl.DataFrame, prefix: str) -> pl.DataFrame:
    """Return the sums under a prefix by their own names."""
    own = pl.col(f"^{prefix}.*$").name.map(lambda name: name.removeprefix(prefix))
    return rows.select(PLACE, own)


def _at_least(e: Estimate, every: Estimate) -> Estimate:
    """Return means with errors of at least that of users with the variance of all; one user's error is that."""
    variance = every.error**2 * every.n
    squared = np.fmax(e.error**2, ratio(variance, np.where(e.n > 0, e.n, np.nan)))
    freedom = np.where(np.isnan(e.freedom), 1.0, e.freedom)
    return e._replace(error=np.sqrt(squared), freedom=freedom)
