"""Columns of results with their dtypes, and the sizes below which notes warn."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

TEXTS = {"metric", "best", "worst", "verdict", "note", "by", "segment"}
COUNTS = {"wins", "ties", "losses", "users_needed"}
FEW = 30
"""Equal-sized clusters, or users of a segment, below which a t interval is rough."""
FEW_VALUES = 15
"""Users with a non-zero value, or differing values, below which intervals under-cover."""


def columns_of(names: str) -> dict[str, type[pl.DataType]]:
    """Return the columns of a result with their dtypes, which follow from their names."""
    return {name: _dtype_of(name) for name in names.split()}


def _dtype_of(name: str) -> type[pl.DataType]:
    if name in TEXTS:
        return pl.String
    is_count = name in COUNTS or name.startswith("n_") or name.endswith("_n_users")
    return pl.Int64 if is_count else pl.Float64


SUMMARY = columns_of("metric value value_low value_high std n_users n_lists note")
"""Columns of a summary; the number of lists where a metric runs over lists."""
COMPARISON = columns_of(
    "metric verdict difference difference_low difference_high value baseline_value relative "
    "p_value p_adjusted p_not_worse p_equivalent n_users note"
)
OF_MARGIN = ("p_not_worse", "p_equivalent")
"""Columns of a comparison with a margin."""
OF_USERS = columns_of("wins ties losses n_differ n_unpaired")
"""Numbers of users, which reports have too: better off, equal and worse off than with the baseline, those whose two values
differ, and those with only one of them."""
GAPS = columns_of(
    "metric best worst gap gap_low gap_high best_value worst_value p_value best_n_users worst_n_users "
    "n_segments note"
)
SLICES = columns_of(
    "segment metric difference difference_low difference_high value rest pooled p_value p_adjusted n_users note"
)
POWER = columns_of(
    "metric users_needed wanted detectable detectable_relative value std n_users note"
)


def joined_notes(notes: Iterable[pl.Expr | str]) -> pl.Expr:
    """Return notes as one text, null without any."""
    text = pl.concat_str(*notes, separator="; ", ignore_nulls=True)
    return pl.when(text != "").then(text)
