"""`rec.gaps`: the gap between the best and the worst segment."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.errors import short
from recframe.statistics.arrays import np
from recframe.statistics.estimates import (
    Estimate,
    Moments,
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

BY, SEGMENT, ROW, SCORE = "by", "segment", "row", "score"
ENDS = ("best", "worst")


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
        rows = [none | {BY: how.names[one], "metric": of} for (one,) in crossed for of in metrics]
        return pl.DataFrame(rows, schema=schema)
    segments = pl.concat([_of_column(cells, column, how) for (column,) in crossed])
    e = of_mean(Moments.of(segments))
    lower = [how.metrics[place].direction == "lower" for place in segments[PLACE]]
    score = pl.Series(SCORE, np.where(np.array(lower, dtype=bool), -e.value, e.value))
    found = _ends(segments.with_columns(score), schema, how)
    at = {end: found[f"{ROW} {end}"] for end in ENDS}
    best, worst = (_at(e, rows) for rows in at.values())
    gap, n_large = apart(best, worst), as_numbers(found["large"])
    error = np.where((best.error > 0) & (worst.error > 0), gap.error, np.nan)
    gap = gap._replace(value=np.abs(gap.value), error=error)
    n_pairs = n_large * (n_large - 1.0) / 2.0
    tested = judged(gap, level=how.level, correction="sidak", tests=n_pairs)
    sizes = {f"{end}_n_users": as_numbers(segments[USERS].gather(rows)) for end, rows in at.items()}
    constant = "all users of the best or the worst segment have the same value, so no interval"
    lacks = {
        "nobody has a value": as_numbers(found["known"]) == 0,
        f"fewer than two segments of at least {how.min_users} users, so no gap": np.isnan(
            gap.value
        ),
        constant: np.isnan(tested.low),
    }
    rough = np.fmin(*sizes.values()) < FEW
    told = words(lacks, {f"segments of fewer than {FEW} users, so the interval is rough": rough})
    notes = map(_with_unknown, told, found[BY], found["unknown"])
    columns = {
        "gap": gap.value,
        "gap_low": tested.low,
        "gap_high": tested.high,
        "best_value": best.value,
        "worst_value": worst.value,
        "p_value": tested.p_adjusted,
        "note": np.array([*notes], dtype=object),
        **sizes,
    }
    made = as_columns(columns, {name: schema[name] for name in columns})
    ends = (segments[SEGMENT].gather(rows).alias(end) for end, rows in at.items())
    return found.with_columns(*made, *ends).select(*schema)


def with_users(rows: pl.DataFrame) -> pl.DataFrame:
    """Return segments with their numbers of users, who count once over folds."""
    users = pl.col(USERS if USERS in rows.columns else "n")
    return rows.with_columns(users.cast(pl.Int64).alias(USERS))


def _of_column(cells: pl.DataFrame, column: str, how: Segmenting) -> pl.DataFrame:
    """Return the segments of a column, which is named in `by`."""
    rows = with_users(segments_of(cells, [column], how))
    return rows.rename({column: SEGMENT}).with_columns(pl.lit(how.names[column]).alias(BY))


def _ends(segments: pl.DataFrame, schema: pl.Schema, how: Segmenting) -> pl.DataFrame:
    """Return the rows of the best and worst segment of each column, model and metric, and numbers of users and segments."""
    known, users = pl.col(SEGMENT).is_not_null(), pl.col(USERS)
    large = known & (users >= max(how.min_users, 1))
    score = pl.col(SCORE).filter(large)
    rows = pl.col(ROW).filter(large).sort_by(score, descending=True, maintain_order=True)
    on = [BY, *([MODEL] if MODEL in schema else []), PLACE]
    return (
        segments.with_row_index(ROW)
        .group_by(on, maintain_order=True)
        .agg(
            pl.col("metric").first(),
            *(
                pl.when(large.sum() > 1).then(row).alias(f"{ROW} {end}")
                for end, row in zip(ENDS, (rows.first(), rows.last()), strict=True)
            ),
            large=large.sum(),
            known=users.filter(known).sum(),
            unknown=users.filter(~known).sum(),
            n_segments=(known & (users > 0)).sum().cast(pl.Int64),
        )
    )


def _at(e: Estimate, rows: pl.Series) -> Estimate:
    """Return the estimates of some rows, NaN for none."""
    places, is_none = rows.fill_null(0).to_numpy(), rows.is_null().to_numpy()
    return Estimate(*(np.where(is_none, np.nan, part[places]) for part in e))


def _with_unknown(note: str, column: str, unknown: int) -> str:
    """Return a note with the number of users whose segment is not known."""
    if not unknown:
        return note
    more = f"{unknown} users are in no segment, as their {short(repr(column))} is null"
    return "; ".join(filter(None, [note, more]))
