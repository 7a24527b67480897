"""What intervals, comparisons and power are, in plain Python and by SciPy and statsmodels, from the users' values.

The values come from `evaluate(by="user")`, which other tests hold; how many there are and what is made of them is defined here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy import stats
from statsmodels.stats.power import TTestPower

Values = Mapping[Any, float | None]
"""A value of each user, None where it is undefined."""
Row = dict[str, Any]
LEVEL = 0.95


def values_of(
    rec: Any, metric: str, by: Sequence[str] = (), model: str = "model", user: str = "user"
) -> dict[tuple[Any, ...], dict[Any, float | None]]:
    """Return the users' values of each segment and model: the key columns but the user's, and the values by user.

    NOTE: each metric is asked by itself, since with others a user who counts for some alone has a row.
    """
    result = rec.evaluate(metric, by=[*by, user])
    is_polars = isinstance(result, (pl.DataFrame, pl.LazyFrame))
    result = result.lazy().collect() if is_polars else pl.from_pandas(result)
    found: dict[tuple[Any, ...], dict[Any, float | None]] = {}
    for row in result.to_dicts():
        segment = tuple(row[name] for name in [model, *by] if name in row)
        found.setdefault(segment, {})[row[user]] = row[metric]
    return found


def quantile(freedom: float, level: float = LEVEL) -> float:
    return float(stats.t.ppf((1 + level) / 2, freedom))


def wilson(mean: float, squared_error: float, n: int, t: float) -> tuple[float, float]:
    """Return Wilson's interval with t for z and the users that a share would take to be as uncertain for n."""
    effective = mean * (1 - mean) / squared_error if squared_error > 0 else n
    middle = mean + t * t / (2 * effective)
    half = t * math.sqrt(mean * (1 - mean) / effective + t * t / (4 * effective**2))
    whole = 1 + t * t / effective
    return (middle - half) / whole, (middle + half) / whole


def interval(
    mean: float, squared_error: float, n: int, freedom: float, scale: tuple[float | None, ...]
) -> tuple[float, float]:
    """Return the interval of a mean: Wilson's where values are from 0 to 1, and t's within the scale elsewhere."""
    t = quantile(freedom)
    if scale == (0.0, 1.0):
        return wilson(mean, squared_error, n, t)
    low, high = (-math.inf if scale[0] is None else scale[0], scale[1])
    half = t * math.sqrt(squared_error)
    return max(mean - half, low), min(mean + half, math.inf if high is None else high)


def clustered_error(values: Sequence[float], clusters: Sequence[Any]) -> tuple[float, float]:
    """Return the squared error of a mean of users in clusters, by leaving each out, and the degrees of freedom.

    A null is a cluster alone.
    """
    named = [("", place) if one is None else (one, "") for place, one in enumerate(clusters)]
    numbers, groups = np.asarray(values), dict.fromkeys(named)
    sizes = [named.count(one) for one in groups]
    freedom = sum(sizes) ** 2 / sum(size**2 for size in sizes) - 1 if sizes else math.nan
    if len(groups) < 2 or freedom < 1:
        return math.nan, math.nan
    without = [numbers[[other != one for other in named]].mean() for one in groups]
    moved = sum((one - numbers.mean()) ** 2 for one in without)
    return moved * (len(groups) - 1) / len(groups), freedom


def summary(
    values: Values, scale: tuple[float | None, ...], clusters: Mapping[Any, Any] | None = None
) -> Row:
    """Return a row of `summarize` but its keys and note; what cannot be said is None."""
    known = {user: value for user, value in values.items() if value is not None}
    numbers, n = list(known.values()), len(known)
    row: Row = {"value": math.fsum(numbers) / n if n else None, "n_users": n}
    row |= {"value_low": None, "value_high": None}
    row["std"] = float(np.std(numbers, ddof=1)) if n > 1 else None
    squared, freedom = (row["std"] ** 2 / n if n > 1 else math.nan), n - 1
    if clusters is not None and n:
        squared, freedom = clustered_error(numbers, [clusters.get(user) for user in known])
    if freedom > 0:
        bounds = interval(row["value"], squared, n, freedom, scale)
        row["value_low"], row["value_high"] = bounds
    return row


def comparison(
    b: Values, a: Values, *, margin=None, direction="higher", ends=(0.0, 1.0), level=LEVEL
) -> Row:
    """Return a row of `compare` but its keys, what a family decides, and its words."""
    users = dict.fromkeys([*a, *b])
    pairs = [(b.get(user), a.get(user)) for user in users]
    both = np.array([pair for pair in pairs if None not in pair]).reshape(-1, 2)
    n, d = len(both), both[:, 0] - both[:, 1]
    # what rounding leaves is no difference
    d = np.where(np.isclose(both[:, 0], both[:, 1], rtol=1e-12, atol=0), 0.0, d)
    row: Row = dict.fromkeys(
        ["value", "baseline_value", "difference", "difference_low", "difference_high", "relative"]
    )
    row["p_value"] = None
    better, worse = (d < 0, d > 0) if direction == "lower" else (d > 0, d < 0)
    row |= {"wins": int(better.sum()), "ties": int((d == 0).sum()), "losses": int(worse.sum())}
    row["n_users"] = n
    if n:
        row |= {"value": both[:, 0].mean(), "baseline_value": both[:, 1].mean()}
        row["difference"] = d.mean()
        row["relative"] = d.mean() / both[:, 1].mean() if both[:, 1].sum() else None
    if n > 1:
        row |= _tested(both, d, row, level)
        row |= _against_margin(both, margin, direction, ends) if margin is not None else {}
    elif margin is not None:
        row |= {"p_not_worse": None, "p_equivalent": None}
    return row


def _tested(both: Any, d: Any, row: Row, level: float) -> Row:
    n, std, mean = len(d), np.std(d, ddof=1), row["difference"]
    half = quantile(n - 1, level) * std / math.sqrt(n)
    least = min(1, 2 / 2.0 ** (d != 0).sum())
    p_value = max(_p_value(both[:, 0], both[:, 1], "two-sided"), least)
    return {"difference_low": mean - half, "difference_high": mean + half, "p_value": p_value}


def _p_value(b: Any, a: Any, alternative: str) -> float:
    """Return SciPy's p value, which is NaN where all differences are the same."""
    d = b - a
    if np.ptp(d) == 0:
        if d[0] == 0:
            return 1.0 if alternative == "two-sided" else 0.5
        shown = alternative == "two-sided" or (d[0] > 0) == (alternative == "greater")
        return 0.0 if shown else 1.0
    return float(stats.ttest_rel(b, a, alternative=alternative).pvalue)


def _against_margin(both: Any, margin: float, direction: str, ends: Any) -> Row:
    """Return the p values of b being within a margin of a, which is a share of a: of the mean of b - (1 - m) a, and so on.

    Two users more have values at the ends of the metric; without ends it takes 30 users who differ.
    """
    if ends is None and (both[:, 0] != both[:, 1]).sum() < 30:
        return {"p_not_worse": None, "p_equivalent": None}
    pairs = both if ends is None else np.vstack([both, [ends, ends[::-1]]])
    b, a = pairs[:, 0], pairs[:, 1]
    above = _p_value(b, (1 - margin) * a, "greater")
    below = _p_value(b, (1 + margin) * a, "less")
    not_worse = {"higher": above, "lower": below}.get(direction)
    return {"p_not_worse": not_worse, "p_equivalent": max(above, below)}


def power(std: float, n: int, value: float, wanted: float = 0.01) -> Row:
    """Return what so many users can show, by statsmodels."""
    solve = TTestPower().solve_power
    effect = solve(nobs=n, alpha=0.05, power=0.8)
    needed = solve(effect_size=wanted * abs(value) / std, alpha=0.05, power=0.8)
    row = {"std": std, "detectable": effect * std, "detectable_relative": effect * std / abs(value)}
    return row | {"users_needed": math.ceil(needed)}


def differing(found: Row, expected: Row, tolerance: float = 1e-9) -> Row:
    """Return what a row has otherwise than is expected."""
    return {
        name: {"recframe": found[name], "plain": value}
        for name, value in expected.items()
        if not _same(found[name], value, tolerance)
    }


def _same(ours: Any, theirs: Any, tolerance: float) -> bool:
    if ours is None or theirs is None:
        return ours is None and theirs is None
    return math.isclose(ours, theirs, rel_tol=tolerance, abs_tol=tolerance)
