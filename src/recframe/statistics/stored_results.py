"""Columns of results, and numbers as they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

TEXTS = {"metric", "best", "worst", "verdict", "note", "by", "segment"}
COUNTS = {"wins", "ties", "losses", "users_needed", "n_lists", "n_segments"}
FEW = 30
"""Equal-sized clusters, or users of a segment, below which a t interval is rough."""
FEW_VALUES = 15
"""Users with a non-zero value, or differing values, below which intervals under-cover."""


def columns_of(names: str) -> dict[str, type[pl.DataType]]:
    """Return the columns of a result with their dtypes, which follow from their names."""
    found: dict[str, type[pl.DataType]] = {}
    for name in names.split():
        is_count = name in COUNTS or name.endswith("n_users")
        found[name] = pl.String if name in TEXTS else pl.Int64 if is_count else pl.Float64
    return found


SUMMARY = columns_of("metric value value_low value_high std n_users n_lists note")
"""Columns of a summary; the number of lists where a metric runs over lists."""
# the last columns stand in what Polars prints: the difference with its interval
COMPARISON = columns_of(
    "metric verdict value baseline_value relative p_value p_adjusted p_not_worse p_equivalent n_users "
    "difference difference_low difference_high note"
)
OF_MARGIN = ("p_not_worse", "p_equivalent")
"""Columns of a comparison with a margin."""
OF_USERS = columns_of("wins ties losses")
"""Numbers of users, which reports have too: better off, equal and worse off than with the baseline."""
GAPS = columns_of(
    "metric best worst gap gap_low gap_high best_value worst_value p_value best_n_users worst_n_users "
    "n_segments note"
)
SLICES = columns_of(
    "segment metric difference difference_low difference_high value rest p_value p_adjusted n_users note"
)
POWER = columns_of(
    "metric users_needed wanted detectable detectable_relative baseline_value std n_users note"
)


def joined_notes(notes: Iterable[pl.Expr | str]) -> pl.Expr:
    """Return notes as one text, null without any."""
    text = pl.concat_str(*notes, separator="; ", ignore_nulls=True)
    return pl.when(text != "").then(text)


def as_shown(rows: pl.LazyFrame, decimals: Mapping[str, int]) -> pl.LazyFrame:
    """Return rows rounded to their metrics' decimals; intervals still contain their value."""
    names, is_metric = {*rows.collect_schema()}, pl.col("metric").eq
    for name in names & {"value", "baseline_value"}:
        value = pl.col(name)
        rounded = [pl.when(is_metric(one)).then(value.round(n)) for one, n in decimals.items()]
        rows = rows.with_columns(pl.coalesce(*rounded, value))
    ends = {"value_low": pl.min_horizontal, "value_high": pl.max_horizontal}
    for end in names & ends.keys():
        known = pl.when(pl.col(end).is_not_null()).then("value")
        rows = rows.with_columns(ends[end](end, known))
    return rows
