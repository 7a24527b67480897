"""Numbers of a history as series of runs, and what these predict: what `rf.changes` and gates of a history have in common."""

from __future__ import annotations

from typing import Any

import polars as pl

from recframe.uncertainty.arrays import Numbers, np, numbers
from recframe.uncertainty.p_values import p_two_sided, t_quantile, t_statistic
from recframe.uncertainty.windows import (
    Series,
    Windows,
    distance,
    half_width,
    squared_error,
    widest,
)

USUAL = 0.95
"""The level that intervals are taken to have, which a history does not say. Of another one they are wider or narrower than
standard errors, but the values' own spread is there as well."""


class Bands:
    """What the runs before each number predict of it.

    `rows` has for each number the columns `series`, `place` in it, `first` (whether the number stands at its place itself),
    `value`, `value_low`, `value_high`, `std` and `n_users`.
    """

    def __init__(self, rows: pl.DataFrame, window: int) -> None:
        self._rows = rows
        self._own = squared_errors(rows)
        value, series, place = (rows[name].to_numpy() for name in ("value", "series", "place"))
        n, n_places = (int(at.max(initial=-1)) + 1 for at in (series, place))
        # NOTE: with a place behind the last one, for what all runs predict of the next
        values, own = (np.full((n_places + 1, n), np.nan) for _ in range(2))
        first = rows["first"].to_numpy()
        at = place[first], series[first]
        values[at], own[at] = value[first], self._own[first]
        self._window = window
        self._all = Series(values, own, window).windows

    def at(self, series: Any, place: Any) -> Windows:
        """Return what the window of a place says."""
        return Windows(*(one[place, series] for one in self._all))

    def judged(self, level: float) -> dict[str, Any]:
        """Return what is expected of each number, its band, and how sure it is that it is apart from it.

        The band is one of the level for as many numbers as `tests` says.
        """
        rows = self._rows
        place = rows["place"].to_numpy()
        found = self.at(rows["series"].to_numpy(), place)
        n, own = found.n.astype(np.int64), np.nan_to_num(self._own)
        squared = squared_error(found, own)
        half = half_width(squared, n, level, rows["tests"].to_numpy())
        change = distance(numbers(rows["value"].to_numpy()), found.mean)
        there = np.minimum(place, self._window)
        return {
            "expected": found.mean,
            "expected_low": found.mean - half,
            "expected_high": found.mean + half,
            "change": change,
            "n_runs": n,
            "p_value": p_two_sided(t_statistic(change, np.sqrt(squared)), found.n - 1.0),
            "n_far": there - n,
            "part": widest(found, own),
            "alike": squared == 0,
        }


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
