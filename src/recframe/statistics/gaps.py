"""`rec.gaps`: the gap between the best and the worst segment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import polars as pl

from recframe.errors import short
from recframe.statistics.arrays import np
from recframe.statistics.estimates import (
    Sums,
    apart,
    as_columns,
    as_numbers,
    judged,
    of_mean,
    words,
)
from recframe.statistics.segments import Segmenting, segments_of
from recframe.statistics.stored_results import FEW
from recframe.statistics.sums import MODEL, PLACE, USERS

BY, SEGMENT, LARGE = "by", "segment", "large"
ENDS: dict[str, Literal["first", "last"]] = {"best": "first", "worst": "last"}
"""The two segments of a gap, by their place among the large segments from the best on."""


def gaps(
    cells: pl.DataFrame, crossed: Sequence[tuple[str, ...]], how: Segmenting, schema: pl.Schema
) -> pl.DataFrame:
    """Return a row for each column, model and metric, from the sums of cells.

    The interval has t at level^(1 / m), where m is the number of all pairs of segments of `min_users` users: the two were
    picked among them. The p value is 1 - (1 - p)^m. Both hold for any correlation of the pairs. Where all users of one of the
    two have the same value, nothing is known of its error. Source: Welch 1947; Sidak 1967.
    """
    if cells.is_empty() and MODEL not in schema:
        metrics = [str(one) for one in how.metrics.values()]
        none = {"n_segments": 0, "note": "nobody has a value"}
        empty = [none | {BY: how.names[one], "metric": of} for (one,) in crossed for of in metrics]
        return pl.DataFrame(empty, schema=schema)
    segments = pl.concat([_of_column(cells, column, how) for (column,) in crossed])
    on = [BY, *([MODEL] if MODEL in schema else []), PLACE]
    known, users = pl.col(SEGMENT).is_not_null(), pl.col(USERS)
    groups = segments.group_by(on, maintain_order=True).agg(
        pl.col("metric").first(),
        known=users.filter(known).sum(),
        unknown=users.filter(~known).sum(),
        n_segments=(known & (users > 0)).sum().cast(pl.Int64),
    )
    large = _best_first(segments.filter(known & (users >= max(how.min_users, 1))), on)
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
    best, worst = (of_mean(Sums(rows)) for rows in ends.values())
    gap, n_large = apart(best, worst), as_numbers(ends["best"][LARGE])
    error = np.where((best.error > 0) & (worst.error > 0), gap.error, np.nan)
    gap = gap._replace(value=np.abs(gap.value), error=error)
    n_pairs = n_large * (n_large - 1.0) / 2.0
    tested = judged(gap, level=how.level, correction="sidak", tests=n_pairs)
    sizes = {f"{end}_n_users": as_numbers(rows[USERS]) for end, rows in ends.items()}
    constant = "all users of the best or the worst segment have the same value, so no interval"
    lacks = {
        "nobody has a value": as_numbers(groups["known"]) == 0,
        f"fewer than two segments of at least {how.min_users} users, so no gap": np.isnan(
            gap.value
        ),
        constant: np.isnan(tested.low),
    }
    rough = np.fmin(*sizes.values()) < FEW
    told = words(lacks, {f"segments of fewer than {FEW} users, so the interval is rough": rough})
    notes = map(_with_unknown, told, groups[BY], groups["unknown"])
    columns = {
        "gap": gap.value,
        "gap_low": tested.low,
        "gap_high": tested.high,
        "best_value": best.value,
        "worst_value": worst.value,
        "p_value": tested.p_adjusted,
        "note": [*notes],
        **sizes,
    }
    return as_columns(columns, schema)


def _best_first(segments: pl.DataFrame, on: Sequence[str]) -> pl.DataFrame:
    """Return large segments from the best on, with their number; none where there is only one."""
    value = pl.col("d") / pl.col("n")
    score = pl.when("higher").then(value).otherwise(-value)
    large = segments.with_columns(pl.len().over(on).alias(LARGE)).filter(pl.col(LARGE) > 1)
    return large.sort(score, descending=True, maintain_order=True).drop("metric")


def _of_column(cells: pl.DataFrame, column: str, how: Segmenting) -> pl.DataFrame:
    """Return the segments of a column, which is named in `by`."""
    rows = segments_of(cells, [column], how)
    return rows.rename({column: SEGMENT}).with_columns(pl.lit(how.names[column]).alias(BY))


def _with_unknown(note: str, column: str, unknown: int) -> str:
    """Return a note with the number of users whose segment is not known."""
    if not unknown:
        return note
    more = f"{unknown} users are in no segment, as their {short(repr(column))} is null"
    return "; ".join(filter(None, [note, more]))
