"""Gates: tests of requirements, and the state of each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from recframe.metrics.language.definition import Metrics
from recframe.statistics.comparison import SELECTED_NOTE, notes_of, of_unpaired
from recframe.statistics.estimates import (
    Estimate,
    Flags,
    Labels,
    Numbers,
    Sums,
    adjusted,
    as_columns,
    interval,
    least_p,
    np,
    of_mean,
    p_below,
    ratio,
    t_quantile,
    users_of_share,
    words,
)
from recframe.statistics.requirements import COLUMNS, FAILS, GONE, HOLDS, MISSING, OPEN
from recframe.statistics.stored_results import FEW
from recframe.statistics.sums import BASELINE, PLACE, ROUNDING

NO_ROW = "no model and no segment has a row for it"


class Distance(NamedTuple):
    """Distance of each row's value to its bound: the mean of b - f a, less a number or a share of an earlier value."""

    bound: Numbers
    mean: Estimate
    value: Numbers
    below: Numbers
    above: Numbers
    """How far the interval reaches to both sides."""
    worst: Numbers
    """The end of the interval on the wrong side, as a number that is negative there."""
    worst_of_more: Numbers
    """The same of these users and two more, whose values are as far apart as any can be."""


def states(
    rows: pl.DataFrame,
    keys: Sequence[str],
    asked: pl.DataFrame,
    metrics: Metrics,
    *,
    level: float,
    min_users: int,
) -> pl.DataFrame:
    """Return a row for each segment, model and requirement: the keys, the metric, and the columns of `COLUMNS`.

    `rows` are sums with the columns of `previous_results.with_earlier`, `asked` are those of `requirements.asked_of`. A
    requirement without a row is missing.

    NOTE: a row fails by the p value for all rows, since a gate that fails wherever one of them does would find a false alarm
    among many; it holds by its own interval, since a gate holds where all of its rows do, which no number of them makes easier.
    """
    rows = asked.join(rows, on=PLACE, how="left")
    gone = pl.coalesce(GONE, pl.when(pl.col("n").is_null()).then(pl.lit(NO_ROW)))
    rows = rows.with_columns(gone.alias(GONE), paired=pl.col(BASELINE).is_not_null())
    rows = rows.sort([*keys, PLACE], nulls_last=True)
    of = Sums(rows, metrics)
    d, n, of_value = _distance(of, level), of.n_users, of_mean(of, 0.0)
    few, p_value = (n > 0) & (n < min_users), _p_value(of, d, level)
    p_adjusted = adjusted(np.where(few, np.nan, p_value), method="holm")
    state, notes = _judged(of, d, few, p_adjusted <= 1.0 - level)
    tests = np.count_nonzero(~np.isnan(p_adjusted))
    alone = (state == OPEN) & (p_value <= 1.0 - level)
    notes = {
        f"fewer than {min_users} users, so not judged": few,
        f"significant alone, not after correcting for {tests} tests": alone,
        **notes,
    }
    lacks = {"the earlier result has no such row": of.earlier & np.isnan(of.other)}
    each = zip(words(lacks, notes), notes_of(of, of_value, paired=of.paired), strict=True)
    found = {
        "state": state,
        "value": of_value.value,
        "bound": d.bound,
        "difference": d.value,
        "difference_low": d.value - d.below,
        "difference_high": d.value + d.above,
        # on the right side there is nothing to test
        "p_adjusted": np.where(of.sign * d.value < 0, p_adjusted, np.nan),
        "n_users": np.nan_to_num(n),
        # on the test, and on the value's interval
        "note": ["; ".join(filter(None, told)) or None for told in each],
    }
    columns = as_columns(found, COLUMNS).with_columns(note=pl.coalesce(rows[GONE], "note"))
    return rows.select(*keys, "metric", "requirement").hstack(columns)


def _distance(of: Sums, level: float) -> Distance:
    """Return the distances to the bounds.

    The ends of an earlier value's interval are put in as if of other users. Source: Newcombe 1998.
    """
    share, other = of.bound, of.other
    factor = np.where(of.paired, share, 0.0)
    e, more = of_mean(of, factor), of_mean(of, factor, with_ends=True)
    half, of_more = (t_quantile(level, one.freedom) * one.error for one in (e, more))
    bound = share * np.select([of.paired, of.earlier], [ratio(of.a, of.n), other], 1.0)
    beyond = np.where(of.paired, 0.0, bound)
    low, high = np.where(of.paired, (e.value - half, e.value + half), interval(e, of, level))
    then = np.where(of.earlier, (of.other_high - other, other - of.other_low), 0.0) * share
    reach = below, above = np.hypot((e.value - low, high - e.value), then)
    # of sums, or of a value that was stored with few decimals
    rounding = np.fmax(ROUNDING * np.maximum(1.0, np.abs(bound)), 0.5 * of.unit * share)
    value = np.where(np.abs(e.value - beyond) <= rounding, 0.0, e.value - beyond)
    to_worst, then_to_worst = (np.where(of.sign > 0, *ends) for ends in (reach, then))
    worst_of_more = of.sign * (more.value - beyond) - np.hypot(of_more, then_to_worst)
    return Distance(bound, e, value, below, above, of.sign * value - to_worst, worst_of_more)


def _p_value(of: Sums, d: Distance, level: float) -> Numbers:
    """Return the p value of each row by itself, of the value's being on the right side.

    A share's error is Wilson's at the bound, of as many users as its own error speaks of. No p value is below 2^(1 - m), with
    m the units that may be on the wrong side: where equal values meet the bound, as those of a model that may lose 1 %, those
    that differ.
    """
    e = d.mean
    freedom = np.fmin(e.freedom, np.where(of.earlier, of.other_n - 1.0, np.nan))
    to_bound = np.where(d.value < 0, d.above, d.below)
    of_ends = ratio(to_bound, t_quantile(level, freedom))
    of_share = np.sqrt(np.maximum(ratio(d.bound * (1.0 - d.bound), users_of_share(e)), 0.0))
    error = np.select([of.earlier, of.share & ~of.paired], [of_ends, of_share], e.error)
    meet = of.paired & (of.sign * (1.0 - of.bound) >= 0)
    p_value = 2.0 * p_below(of.sign * d.value, error, freedom)
    least = least_p(np.where(meet, of.differ, of.effective))
    return np.maximum(np.minimum(p_value, 1.0), least)


def _judged(of: Sums, d: Distance, few: Flags, shown: Flags) -> tuple[Labels, dict[str, Flags]]:
    """Return the state of each row, and notes on it; `shown` says whether the p value for all rows is small."""
    n, each = of.n_users, of.of_each
    unpaired = of_unpaired(n, np.where(of.paired, of.unpaired, 0.0), each)
    # all users have one value, and no end of the metric says what others could have
    has_ends = np.isfinite(of.lowest) & np.isfinite(of.highest)
    hidden = ~has_ends & (d.mean.error == 0) & each & (n < FEW)
    fails = (of.sign * d.value < 0) & ~hidden & shown
    alone, sure = d.worst >= 0, ~each | (d.worst_of_more >= 0)
    cases = [of.rows[GONE].is_not_null(), few | unpaired[SELECTED_NOTE], fails, alone & sure]
    state = np.select(cases, [MISSING, OPEN, FAILS, HOLDS], OPEN)
    is_open = state == OPEN
    hard = "compared with an interval as if of other users, so hard to show"
    return state, {
        **unpaired,
        hard: is_open & of.earlier,
        "two more users could change it": is_open & alone & ~few & ~sure,
    }
