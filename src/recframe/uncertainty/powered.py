"""What so many users can show, and how many it takes: what `rec.power` returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from recframe.metrics.language.definition import Metric
from recframe.uncertainty.arrays import Given, np, numbers, ratio
from recframe.uncertainty.moments import Sums, as_columns
from recframe.uncertainty.paired_power import detectable_difference, users_needed

COLUMNS = {
    "metric": pl.String,
    "k": pl.Int64,
    "value": pl.Float64,
    "n_users": pl.Int64,
    "std": pl.Float64,
    "detectable": pl.Float64,
    "detectable_relative": pl.Float64,
    "wanted": pl.Float64,
    "users_needed": pl.Int64,
    "note": pl.String,
}
"""What follows the keys."""
MOST = 2**62
"""More users than that are no number of users."""


@dataclass(frozen=True)
class Power:
    """What is asked of a test: a difference that is wanted, as a share of the value, and how sure it has to be."""

    wanted: float = 0.01
    power: float = 0.8
    level: float = 0.95
    correlation: float = 0.5
    """Between two systems' values of one user, where there is no second system."""
    cluster: str | None = None


def of_pairs(
    cells: pl.DataFrame, keys: Sequence[str], metrics: Sequence[Metric[...]], how: Power
) -> pl.DataFrame:
    """Return what the differences at hand can show, from the sums over pairs of users' values."""
    sums = Sums(cells, keys, metrics)
    moments = sums.moments(how.cluster)
    found = _found(ratio(moments.a, moments.n), moments.n, moments.std, how)
    return sums.long(found, COLUMNS)


def of_one(long: pl.DataFrame, how: Power) -> pl.DataFrame:
    """Return what differences to a second system could show, from a summary of the first.

    With the correlation r of two systems' values of a user and the same spread in both, a difference has the standard
    deviation s · √(2 (1 - r)).
    """
    # where no interval is known, the spread of the contributions is none to go by
    known = pl.col("value_low").is_not_null()
    std = long.select(pl.when(known).then("std")).to_series().to_numpy()
    std = std * np.sqrt(2.0 * (1.0 - how.correlation))
    found = _found(long["value"].to_numpy(), long["n_users"].to_numpy(), std, how)
    keys = long.columns[: long.columns.index("metric")]
    return long.with_columns(as_columns(found, COLUMNS)).select(*keys, *COLUMNS)


def _found(value: Given, n: Given, std: Given, how: Power) -> Mapping[str, Any]:
    """Return the columns of the result, as arrays of one shape."""
    value, n, std = numbers(value), numbers(n), numbers(std)
    asked = {"level": how.level, "power": how.power}
    detectable = detectable_difference(n, np.where(std > 0, std, np.nan), **asked)
    needed = users_needed(how.wanted * np.abs(value), std, **asked)
    return {
        "value": value,
        "n_users": n,
        "std": std,
        "detectable": detectable,
        "detectable_relative": np.where(value == 0, np.nan, ratio(detectable, np.abs(value))),
        "wanted": np.full(np.shape(value), how.wanted),
        "users_needed": np.where(needed < MOST, needed, np.nan),
        "note": _notes(value, n, std, needed),
    }


def _notes(value: Any, n: Any, std: Any, needed: Any) -> Any:
    words = {
        "nobody has a value": n == 0,
        "one user, so no spread": n == 1,
        "no spread of this metric is known": np.isnan(std),
        "no difference between users, so nothing to go by": std == 0,
        "the value is 0, of which no share is wanted": value == 0,
        "what is wanted takes more users than there are": needed >= MOST,
    }
    return np.select(list(words.values()), list(words), "")
