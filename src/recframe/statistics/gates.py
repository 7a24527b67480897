"""Gates: tests of requirements, and the state of each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import polars as pl
import polars.selectors as cs

from recframe.errors import DataError
from recframe.frames.dtypes import as_text
from recframe.frames.roles import listed
from recframe.frames.rows.joins import beside_one_another
from recframe.statistics.arrays import Flags, Numbers, np, ratio
from recframe.statistics.comparison import BETWEEN, are_selected, first_or_joined, of_unpaired
from recframe.statistics.moments import Ends, Moments, Trainings, as_columns
from recframe.statistics.p_values import adjusted, least_p, p_below, t_quantile, t_statistic
from recframe.statistics.pairs import MODEL, OF_TRAININGS
from recframe.statistics.power import detectable_difference
from recframe.statistics.prediction import Windows, squared_error
from recframe.statistics.requirement_rows import OF_PAIRS, ROUNDING, ROW
from recframe.statistics.requirements import (
    AT_LEAST,
    COLUMNS,
    FAILS,
    HOLDS,
    MISSING,
    OPEN,
    Gate,
    Requirement,
)
from recframe.statistics.summary import FEW_VALUES, Intervals, with_intervals


class GateRows(SimpleNamespace):
    """Columns of `requirement_rows.ROW` as arrays, and what is computed of them, by name."""

    value: Numbers
    value_low: Numbers
    value_high: Numbers
    mean: Numbers
    error: Numbers
    freedom: Numbers
    own_freedom: Numbers
    n: Numbers
    n_users: Numbers
    differ: Numbers
    unpaired: Numbers
    units: Numbers
    sign: Numbers
    factor: Numbers
    gap: Numbers
    gap_error: Numbers
    d: Numbers
    least: Numbers
    most: Numbers
    of_trainings: Numbers
    other: Numbers
    other_low: Numbers
    other_high: Numbers
    other_n: Numbers
    bound: Numbers
    difference: Numbers
    of_more: tuple[Numbers, Numbers, Numbers]
    """The gap of these users and two more, its standard error and its degrees of freedom."""
    absolute: Flags
    earlier: Flags
    trailing: Flags
    by_user: Flags
    others: Flags
    pairs: Flags
    of_each: Flags
    few: Flags
    few_known: Flags
    selected: Flags
    small: Flags
    missing: Flags
    share: Flags
    rounded: Flags
    never_varies: Flags


def judged(
    rows: pl.DataFrame, keys: Sequence[str], gate: Gate, decimals: Mapping[str, int] | None = None
) -> pl.DataFrame:
    """Return a row for each segment, model and requirement: the keys and the columns of `COLUMNS`.

    `rows` has the keys and the columns of `requirement_rows.ROW`; `decimals` are those that some metrics are shown with.

    With t the quantile of Student's t at the level, a row's difference to the bound has the interval difference ± t · error,
    of an absolute bound the value's own less the bound, and against an earlier interval Newcombe's: ends apart by the
    square root of the sum of squares. Its p value is that of the two-sided test where the difference is on the wrong side,
    else 1, so that it is below 1 - level where the interval is beyond the bound. It is adjusted by Holm for all rows.

    Source: Wilson 1927 (the test of a share is its interval's); Newcombe 1998; Holm 1979.
    """
    rows = _with_pairs(_of_models(rows, gate), gate).sort([*keys, "place"], nulls_last=True)
    asked = [gate.requirements[place] for place in rows["place"]]
    taken = _arrays(rows, asked, gate)
    _add_runs(taken, gate.level)
    _add_distance(taken, asked, decimals or {})
    found = _tested(taken, gate)
    found["state"] = _states(taken, found, gate)
    found["note"] = _all_notes(rows, taken, found, gate)
    found |= {
        "requirement": [str(one) for one in asked],
        "metric": [str(one.metric) for one in asked],
        "k": [one.metric.k or np.nan for one in asked],
        "n_users": rows["n_users"],
    }
    return beside_one_another([rows.select(keys), as_columns(found, COLUMNS)])


def _of_models(rows: pl.DataFrame, gate: Gate) -> pl.DataFrame:
    """Return the rows of the requested models, or raise an error for unknown ones."""
    if gate.models is None:
        return rows
    name = as_text(pl.col(MODEL), rows.schema[MODEL])
    known = rows.select(name.drop_nulls().unique().sort()).to_series().to_list()
    # of a model that others are held against nothing may be required
    others = [one.model for one in gate.requirements]
    missing = [one for one in gate.models if one not in [*known, *others]]
    if missing:
        msg = f"models={missing[0]!r} is no model that something is required of; those are {listed(known)}"
        raise DataError(msg)
    return rows.filter(name.is_in(list(gate.models)))


def _with_pairs(rows: pl.DataFrame, gate: Gate) -> pl.DataFrame:
    """Return rows with the values of pairs and their intervals, from sums over users with both values."""
    pairs = rows.filter(pl.col("d").is_not_null())
    if pairs.is_empty():
        return rows
    moments, ranges = (
        _moments(pairs),
        [gate.requirements[one].metric.range for one in pairs["place"]],
    )
    # of b = d + a in place of d
    own = moments.with_share(1.0)
    made = {
        **dict.fromkeys(("value", "mean"), own.difference),
        "error": own.standard_error**2,
        "freedom": own.freedom,
        "own_freedom": moments.effective - 1.0,
        "other": ratio(moments.a, moments.n),
        **dict(zip(("low", "high"), np.array(ranges).reshape(-1, 2).T, strict=True)),
    }
    known = pl.DataFrame(made).fill_nan(None).with_columns(n_zero=pl.lit(None))
    told = pairs.drop(made, strict=False).rename({"note": "told"})
    known = with_intervals(beside_one_another([told, known]), Intervals(gate.level))
    both = pl.concat_str("told", "note", separator=BETWEEN, ignore_nulls=True)
    note = pl.when("missing").then("told").when(both != "").then(both)
    known = known.with_columns(note=note)
    return pl.concat([rows.filter(pl.col("d").is_null()), known.select(rows.columns)])


def _moments(rows: pl.DataFrame) -> Moments:
    """Return the moments of pairs; NaN where values are no pairs."""
    names = ("n_users", *OF_PAIRS)
    columns = {name: rows[name].cast(pl.Float64).to_numpy() for name in names}
    n = np.nan_to_num(columns.pop("n_users"))
    trainings = Trainings(*(columns.pop(part) for part in OF_TRAININGS))
    return Moments(n, **columns, trainings=trainings)


def _arrays(rows: pl.DataFrame, asked: Sequence[Requirement], gate: Gate) -> GateRows:
    """Return the columns of rows as arrays, by the names of `ROW`, with what is required of them.

    `sign` is -1 where a value should be low. A row is `absolute`, or its value is held against that of another model, or of the
    same users in runs (`by_user`), user by user: `pairs`; or against the interval of `earlier` users, or `trailing` runs.
    """
    columns = rows.select(cs.boolean().fill_null(value=False), cs.numeric().cast(pl.Float64))
    found = GateRows(**{name: columns[name].to_numpy() for name in ROW if name in columns})
    found.sign = np.array([1.0 if one.direction == AT_LEAST else -1.0 for one in asked])
    found.factor = np.array([one.bound for one in asked], dtype=np.float64)
    found.absolute = np.array([one.model is None for one in asked], dtype=bool)
    _add_gap(found, _moments(rows))
    is_alone = np.isnan(found.gap)
    is_trailing = np.array([gate.is_trailing(one) for one in asked], dtype=bool)
    found.earlier = np.array([gate.is_earlier(one) for one in asked], dtype=bool) & is_alone
    found.trailing, found.by_user = is_trailing & is_alone, is_trailing & ~is_alone
    found.others = found.earlier | found.trailing
    found.pairs = ~found.absolute & ~found.others
    found.n, found.unpaired = np.nan_to_num(found.n_users), np.nan_to_num(found.unpaired)
    # of a metric without an interval the value alone may be known
    found.mean = np.where(np.isnan(found.mean), found.value, found.mean)
    of_users = np.where(np.isnan(found.own_freedom), found.freedom, found.own_freedom)
    found.units = of_users + 1.0
    unpaired = are_selected(found.n, found.unpaired)
    found.few_known = found.by_user & unpaired
    found.selected = found.pairs & found.of_each & unpaired & ~found.by_user
    found.small = (found.n > 0) & (found.n < gate.min_users)
    return found


def _add_gap(rows: GateRows, moments: Moments) -> None:
    """Add the gap b - f a between users' values with its squared error, and the gap of these users and two more.

    These have the ends of what a user's gap can be. Of a gap over trainings the freedom counts the other model's too.
    """
    gap = moments.with_share(1.0 - rows.factor)
    rows.gap, rows.gap_error = gap.difference, gap.standard_error**2
    rows.of_trainings = vars(rows)[OF_TRAININGS[2]]
    of_users = np.where(np.isnan(rows.d), rows.freedom, rows.own_freedom)
    rows.freedom = np.where(np.isnan(rows.of_trainings), of_users, gap.freedom)
    more = gap.with_ends(*Ends(rows.least, rows.most).of_gap(rows.factor))
    rows.of_more = more.difference, more.standard_error, more.freedom


def _add_runs(rows: GateRows, level: float) -> None:
    """Add the distance to what the last runs of a history predict, where rows are held against that.

    Its error is that of `rf.changes`, with the t of as many runs. Of users who are held against their own means it is their
    own, or what the runs differ by once users are allowed for, whichever is larger.
    """
    windows = Windows(*(vars(rows)[f"window_{one}"] for one in Windows._fields))
    by_interval = (rows.value_high - rows.value_low) / 2 / t_quantile(level, rows.freedom)
    own = np.nan_to_num(np.fmax(rows.error, by_interval**2))
    of_runs = np.where(rows.by_user, np.fmax(windows.spread, windows.errors), 0.0)
    of_users = np.maximum(rows.gap_error, of_runs)
    mean, error, freedom = rows.of_more
    rows.of_more = mean, np.maximum(error, np.sqrt(of_runs)), freedom
    at, runs = rows.trailing, windows.n - 1.0
    rows.gap_error = np.where(at, squared_error(windows, own), of_users)
    by_user = np.where(rows.by_user, np.fmin(rows.freedom, runs), rows.freedom)
    rows.freedom = np.where(at, runs, by_user)
    rows.other = np.where(at, windows.mean, rows.other)
    rows.gap = np.where(at, rows.mean - rows.factor * windows.mean, rows.gap)
    # where all users are the same distance apart, nothing says how far others would be
    rows.never_varies = rows.pairs & (rows.gap_error == 0)


def _add_distance(
    rows: GateRows, asked: Sequence[Requirement], decimals: Mapping[str, int]
) -> None:
    """Add the bound, and the difference of the value to it: 0 where rounding alone parts them.

    That of earlier numbers hides half a unit of the last decimal that they are shown with, times the factor.
    """
    units = np.array([10.0 ** -decimals.get(str(one.metric), np.nan) for one in asked])
    far = np.abs(np.rint(rows.other / units) * units - rows.other)
    are_rounded = rows.trailing | rows.rounded | (rows.earlier & (far <= ROUNDING))
    slack = np.nan_to_num(np.where(are_rounded, 0.5 * units * rows.factor, 0.0))
    rows.bound = np.where(rows.absolute, rows.factor, rows.factor * rows.other)
    found = np.where(rows.absolute | rows.earlier, rows.mean - rows.bound, rows.gap)
    hidden = np.maximum(ROUNDING * np.maximum(1.0, np.abs(rows.bound)), slack)
    rows.difference = np.where(np.abs(found) <= hidden, 0.0, found)


def _tested(rows: GateRows, gate: Gate) -> dict[str, Any]:
    """Return the numbers of each row, its interval and its p values."""
    low, high = _interval(rows, gate.level)
    error, freedom = _error(rows, low, high, gate.level)
    p_value = 2.0 * p_below(rows.sign * t_statistic(rows.difference, error), freedom)
    least = np.where(rows.others, 0.0, least_p(_off_the_bound(rows)))
    p_value = np.maximum(np.minimum(p_value, 1.0), least)
    own = np.where(rows.absolute, np.sqrt(rows.error), error)
    n = np.where(freedom > 0, freedom + 1.0, np.nan)
    spread = np.where(own > 0, own, np.nan) * np.sqrt(n)
    by_value = ~rows.of_each & ~rows.few & np.isnan(error) & (rows.n > 1)
    return {
        "value": rows.value,
        "value_low": rows.value_low,
        "value_high": rows.value_high,
        "bound": rows.bound,
        "baseline_value": rows.other,
        "difference": rows.difference,
        "difference_low": low,
        "difference_high": high,
        "n_differ": np.where(rows.pairs, rows.differ, np.nan),
        "detectable": detectable_difference(n, spread, level=gate.level),
        "p_value": p_value,
        "p_adjusted": adjusted(np.where(rows.small, np.nan, p_value), method="holm"),
        "by_value": by_value & ~np.isnan(rows.difference),
        "worst": np.where(rows.sign > 0, low, -high),
    }


def _off_the_bound(rows: GateRows) -> Numbers:
    """Return the number of users or clusters possibly on the wrong side of the bound: all, or those that differ.

    Where equal values meet the bound, as those of a model that may lose 1 %, no one else is on the wrong side.
    """
    meet = rows.pairs & (rows.sign * (1.0 - rows.factor) >= 0)
    units = np.where(rows.by_user, rows.of_more[2] - 1.0, rows.units)
    return np.where(meet, rows.differ, units)


def _interval(rows: GateRows, level: float) -> tuple[Numbers, Numbers]:
    """Return the interval of the difference to the bound."""
    half = t_quantile(level, rows.freedom) * np.sqrt(rows.gap_error)
    below = np.hypot(rows.mean - rows.value_low, rows.factor * (rows.other_high - rows.other))
    above = np.hypot(rows.value_high - rows.mean, rows.factor * (rows.other - rows.other_low))
    low = np.where(rows.earlier, rows.difference - below, rows.difference - half)
    high = np.where(rows.earlier, rows.difference + above, rows.difference + half)
    return (
        np.where(rows.absolute, rows.value_low - rows.bound, low),
        np.where(rows.absolute, rows.value_high - rows.bound, high),
    )


def _error(rows: GateRows, low: Numbers, high: Numbers, level: float) -> tuple[Numbers, Numbers]:
    """Return the standard error of the difference and its freedom, if the bound is just met.

    Of a share it is that of Wilson: the variance at the bound for as many users as the variance at the value speaks of.
    Against an earlier interval it is the half of the interval on the side of the bound, over its quantile.
    """
    bound, mean = rows.bound, rows.mean
    at_bound = np.maximum(bound * (1.0 - bound), 0.0)
    effective = np.where(rows.error > 0, ratio(mean * (1.0 - mean), rows.error), rows.n)
    of_share = np.where(np.isnan(rows.error), np.nan, np.sqrt(ratio(at_bound, effective)))
    of_bound = np.where(rows.share, of_share, np.sqrt(rows.error))
    freedom = np.where(rows.earlier, np.fmin(rows.freedom, rows.other_n - 1.0), rows.freedom)
    half = np.where(rows.difference < 0, high - rows.difference, rows.difference - low)
    found = np.where(rows.earlier, half / t_quantile(level, freedom), np.sqrt(rows.gap_error))
    return np.where(rows.absolute, of_bound, found), freedom


def _states(rows: GateRows, found: Mapping[str, Any], gate: Gate) -> Any:
    """Return whether each row holds, fails, is open or missing.

    NOTE: a row fails by the p value for all rows, since a gate that fails wherever one of them does would find a false alarm
    among many; it holds by its own interval, since a gate holds where all of its rows do, which no number of them makes easier.
    Of pairs it holds where that of two more users does too, since a few users, or none who differ, say little of others.
    """
    wrong = rows.sign * rows.difference < 0
    by_value = found["by_value"] | ((gate.on == "value") & ~np.isnan(rows.difference))
    mean, error, freedom = rows.of_more
    freedom = np.where(rows.by_user, np.fmin(rows.freedom, freedom), freedom)
    worst = rows.sign * mean - t_quantile(gate.level, freedom) * error
    holds = (found["worst"] >= 0) & (~rows.pairs | ((worst >= 0) & ~rows.never_varies))
    untested = rows.small | (rows.selected & (gate.on == "interval"))
    shown_worse = wrong & (found["p_adjusted"] <= 1.0 - gate.level)
    return np.select(
        [rows.missing, untested, by_value & wrong, by_value, shown_worse, holds & ~rows.few_known],
        [MISSING, OPEN, FAILS, HOLDS, FAILS, HOLDS],
        OPEN,
    )


def _all_notes(
    rows: pl.DataFrame, taken: GateRows, found: Mapping[str, Any], gate: Gate
) -> pl.Series:
    """Return the notes of rows, joined with what is known of their values, unless all is told."""
    by_value = found["by_value"] | (gate.on != "interval")
    is_told = by_value & ~(taken.trailing | taken.by_user)
    told = pl.Series(is_told | taken.missing, dtype=pl.Boolean)
    own = pl.Series(_notes(taken, found, gate), dtype=pl.String)
    notes = rows.select("note", "window_note", "missing").with_columns(own=own, told=told)
    known = pl.when(~pl.col("told")).then("note")
    given = pl.when(pl.col("own") != "").then("own")
    both = pl.concat_str(given, known, separator=BETWEEN, ignore_nulls=True)
    whole = pl.when("missing").then("note").otherwise(pl.coalesce("window_note", both))
    return notes.select(whole.fill_null("")).to_series()


def _notes(rows: GateRows, found: Mapping[str, Any], gate: Gate) -> Any:
    """Return the notes of each row, none where there is nothing."""
    on_interval, pairs, n, new = gate.on == "interval", rows.pairs, rows.n, rows.few_known
    tests = int(np.count_nonzero(~np.isnan(found["p_adjusted"])))
    is_open = (found["state"] == OPEN) & on_interval
    varies = pairs & ~rows.never_varies
    lacks = {
        "the earlier result has no such row": rows.earlier & np.isnan(rows.other),
        "nobody has both values": pairs & (n == 0),
    }
    words = {
        f"fewer than {gate.min_users} users, so not judged": rows.small,
        "no interval of this metric was shown to hold, so judged by its value alone": found[
            "by_value"
        ],
        f"beyond the bound by itself, but not among {tests} rows": is_open
        & (found["p_value"] <= 1.0 - gate.level),
        **of_unpaired(n, np.where(pairs & ~rows.by_user, rows.unpaired, 0.0), rows.selected),
        "more than a fifth of the users are new, so it may fail and never hold": new,
        "held against an interval, as if of other users, so hard to show": rows.earlier
        & on_interval,
        "the distance is the same for all users, so nothing says how far others would be": rows.never_varies
        & (n > 1),
        f"fewer than {FEW_VALUES} users differ, so the interval is rough": varies
        & (rows.differ < FEW_VALUES),
        "one training of the other model, which says nothing of another": rows.of_trainings == 1,
        "two more users could change it": varies & is_open & (found["worst"] >= 0) & ~new,
    }
    return first_or_joined(lacks, words)
