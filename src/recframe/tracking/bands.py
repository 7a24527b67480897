"""Predictions of each run of a history from those before it, and squared errors of values."""

from __future__ import annotations

import polars as pl

from recframe.uncertainty.arrays import Numbers, np, numbers
from recframe.uncertainty.p_values import t_quantile
from recframe.uncertainty.windows import Series, Windows

USUAL = 0.95
"""The level that intervals are taken to have, which a history does not say. Of another one they are wider or narrower than
standard errors, but the values' own spread is there as well."""


def windows_of(rows: pl.DataFrame, at: pl.DataFrame, window: int) -> Windows:
    """Return what the runs before some numbers predict of them, or those of a whole series of the next.

    `rows` has for each number the columns `series`, `place` in it, `first` (whether the number stands at its place itself),
    `value`, `value_low`, `value_high`, `std` and `n_users`; `at` has `series` and `place`.
    """
    first = rows["first"].to_numpy()
    series, places = (rows[one].to_numpy() for one in ("series", "place"))
    # NOTE: with a place behind the last one, for what all runs predict of the next
    shape = int(places.max(initial=-1)) + 2, int(series.max(initial=-1)) + 1
    values, own = (np.full(shape, np.nan) for _ in range(2))
    of_first = places[first], series[first]
    values[of_first], own[of_first] = rows["value"].to_numpy()[first], squared_errors(rows)[first]
    windows = Series(values, own, window).windows
    wanted = at["place"].to_numpy(), at["series"].to_numpy()
    return Windows(*(one[wanted] for one in windows))


def squared_errors(rows: pl.DataFrame) -> Numbers:
    """Return the squared standard error of each value: by the spread of users, or by its interval, whichever is larger.

    Wilson's interval says how far 0 of 20 users may be from the next 20, where the spread says 0; and that of clusters is
    wider than the spread of users.
    """
    n = numbers(rows["n_users"].to_numpy())
    by_spread = numbers((rows["std"] ** 2).to_numpy()) / np.where(n > 0, n, np.nan)
    freedom = np.where(np.isnan(n), np.inf, n - 1.0)
    half = numbers(((rows["value_high"] - rows["value_low"]) / 2).to_numpy())
    by_interval = (half / t_quantile(USUAL, freedom)) ** 2
    return np.fmax(by_spread, by_interval)
