"""Prediction of runs from windows of earlier ones, many series at once."""

from __future__ import annotations

from typing import NamedTuple

from recframe.statistics.arrays import Flags, Labels, Numbers, np, ratio
from recframe.statistics.estimates import t_quantile

FAR = 0.001
"""A run whose own p value is below this is left out of the windows of later runs.

NOTE: not one that is flagged. What is flagged at 95 % is one run in twenty by chance alone, the outermost: without it the
spread of the others is too small, more runs are flagged for that, and 12 % of them are where 5 are promised.
"""
FEWEST_RUNS = 5
"""Fewest runs of a window."""
ROUNDING = 1e-12
"""Relative difference below which numbers differ by rounding alone."""


class Windows(NamedTuple):
    """Statistics of the windows of some runs, one number each; the mean is NaN where a window has too few runs."""

    n: Numbers
    """Number of runs that count."""
    mean: Numbers
    spread: Numbers
    """Variance of a run and of the window's mean, from the spread between runs: s² (1 + 1/n)."""
    errors: Numbers
    """Mean squared error of earlier predictions in the window; 0 where too few are known."""
    own: Numbers
    """Mean squared standard error of the runs, 0 where none is known."""


def least(window: int) -> int:
    """Return the minimum number of runs of a window: half of its size."""
    return -(-window // 2)


def parts(windows: Windows, own: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return three estimates of a prediction's squared error, given the run's squared standard error.

    They are how much the runs of the window differ, how far they were from what was expected of them, and how much the users
    of a run make it vary. To the first two is added by how much the users of this run make it vary more than those of the
    window. A standard error that is not known is 0.
    """
    more = np.maximum(own - windows.own, 0.0)
    return windows.spread + more, windows.errors + more, own + ratio(windows.own, windows.n)


def squared_error(windows: Windows, own: Numbers) -> Numbers:
    """Return the squared error of a prediction: the largest of its parts."""
    spread, errors, of_users = parts(windows, own)
    return np.maximum(np.maximum(spread, errors), of_users)


def widest(windows: Windows, own: Numbers) -> Labels:
    """Return the index in `PARTS` of the largest part of a prediction's error."""
    return np.asarray(np.stack(parts(windows, own)).argmax(axis=0), dtype=np.int64)


PARTS = ("spread of these runs", "errors of earlier predictions", "users of the run")
"""Causes of a band's width."""


class Series:
    """Series of runs, places x series, each with its trailing window."""

    def __init__(self, values: Numbers, own: Numbers, window: int) -> None:
        """Go from run to run; `own` are squared standard errors of the values, NaN where they are not known."""
        self._window, self._least = window, least(window)
        self._there, self._values = ~np.isnan(values), np.nan_to_num(values)
        self._known, self._own = self._there & ~np.isnan(own), np.nan_to_num(own)
        self._far = np.zeros(values.shape, dtype=bool)
        self._judged = np.zeros(values.shape, dtype=bool)
        self._error = np.zeros(values.shape)
        # how many standard errors are far, by the number of runs in the window
        self._bound = t_quantile(1.0 - FAR, np.arange(window + 1) - 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            places = [self._at(place) for place in range(len(values))]
        self.windows = Windows(*map(np.stack, zip(*places, strict=True)))

    def _at(self, place: int) -> Windows:
        """Return the window statistics at a place, and record its run's error."""
        found = self._of(slice(max(place - self._window, 0), place))
        squared = squared_error(found, self._own[place])
        error = distance(self._values[place], found.mean)
        self._judged[place] = judged = self._there[place] & ~np.isnan(error)
        self._error[place] = np.where(judged, error, 0.0)
        bound = self._bound[found.n.astype(np.int64)] * np.sqrt(squared)
        self._far[place] = judged & (np.abs(error) > bound)
        return found

    def _of(self, places: slice) -> Windows:
        values, counts = self._values[places], self._counted(places)
        n = counts.sum(axis=0).astype(np.float64)
        mean = np.where(n >= self._least, (values * counts).sum(axis=0) / n, np.nan)
        apart = distance(values, mean) * counts
        spread = (apart**2).sum(axis=0) * (n + 1.0) / ((n - 1.0) * n)
        was_judged = counts & self._judged[places]
        n_judged = was_judged.sum(axis=0)
        errors = (self._error[places] ** 2 * was_judged).sum(axis=0) / n_judged
        known = counts & self._known[places]
        own = (self._own[places] * known).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        return Windows(n, mean, spread, np.where(n_judged >= self._least, errors, 0.0), own)

    def _counted(self, places: slice) -> Flags:
        """Return a mask of the runs that count: those without outliers, or all at a new level, if most are outliers."""
        there = self._there[places]
        near = there & ~self._far[places]
        few = near.sum(axis=0) < self._least
        return np.where(few, there, near) if few.any() else near


def windows_of(
    places: Labels, series: Labels, values: Numbers, own: Numbers, window: int
) -> Windows:
    """Return the windows of runs, places x series, with one behind the last place of all."""
    shape = int(places.max(initial=-1)) + 2, int(series.max(initial=-1)) + 1
    runs, errors = np.full(shape, np.nan), np.full(shape, np.nan)
    runs[places, series], errors[places, series] = values, own
    return Series(runs, errors, window).windows


def distance(values: Numbers, expected: Numbers) -> Numbers:
    """Return the difference of values from predictions, 0 within rounding."""
    found = values - expected
    return np.where(np.abs(found) <= ROUNDING * np.abs(expected), 0.0, found)


def half_width(squared: Numbers, n: Labels, level: float, tests: Labels) -> Numbers:
    """Return the half width of a simultaneous prediction band at the given level, for predictions from n runs."""
    # NOTE: there are few pairs of a number of runs and one of tests, and many rows
    pairs, place = np.unique(tests * (n.max(initial=0) + 1) + n, return_inverse=True)
    tests, n = np.divmod(pairs, n.max(initial=0) + 1)
    return t_quantile(1.0 - (1.0 - level) / tests, n - 1.0)[place] * np.sqrt(squared)
