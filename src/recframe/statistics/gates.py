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
from recframe.statistics.arrays import Numbers, np, numbers, ratio
from recframe.statistics.comparison import are_selected, first_or_joined, of_unpaired
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
from recframe.statistics.summary import FEW_VALUES, joined_notes, with_intervals


class GateRows(SimpleNamespace):
    """Rows of requirements as arrays, by the names of `ROW` and of the result's columns.

    A row is `absolute`, or its value is compared with that of another model, or of the same users in runs (`by_user`), user by
    user: `pairs`; or with the interval of `earlier` users, or with `trailing` runs. `sign` is -1 where a value should be low.
    `gap` is b - f a, with `factor` f, and has the squared error `gap_error`; `of_more` is the gap of these users and two more,
    with its standard error and its degrees of freedom.
    """


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
    required = [gate.requirements[place] for place in rows["place"]]
    found = _arrays(rows, required, gate)
    _add_gap(found, _moments(rows))
    _add_runs(found, gate)
    _add_difference(found, required, decimals or {})
    _add_tests(found, gate)
    _add_states(found, gate)
    found.note = _notes(rows, found, gate)
    found.requirement = [str(one) for one in required]
    found.metric = [str(one.metric) for one in required]
    found.k = [one.metric.k or np.nan for one in required]
    return beside_one_another([rows.select(keys), as_columns(vars(found), COLUMNS)])


def _of_models(rows: pl.DataFrame, gate: Gate) -> pl.DataFrame:
    """Return the rows of the requested models, or raise an error for unknown ones."""
    if gate.models is None:
        return rows
    name = as_text(pl.col(MODEL), rows.schema[MODEL])
    known = rows.select(name.drop_nulls().unique().sort()).to_series().to_list()
    # of a baseline nothing may be required
    others = [requirement.model for requirement in gate.requirements]
    missing = [model for model in gate.models if model not in [*known, *others]]
    if missing:
        msg = f"models={missing[0]!r}: no requirement is about this model; those with one are {listed(known)}"
        raise DataError(msg)
    return rows.filter(name.is_in(list(gate.models)))


def _with_pairs(rows: pl.DataFrame, gate: Gate) -> pl.DataFrame:
    """Return rows with the values of pairs and their intervals, from sums over users with both values."""
    pairs = rows.filter(pl.col("d").is_not_null())
    if pairs.is_empty():
        return rows
    moments = _moments(pairs)
    # of b = d + a in place of d
    own = moments.with_share(1.0)
    low, high = zip(*(gate.requirements[at].metric.range for at in pairs["place"]), strict=True)
    of_users = {
        **dict.fromkeys(("value", "mean"), own.difference),
        "error": own.standard_error**2,
        "freedom": own.freedom,
        "own_freedom": moments.effective - 1.0,
        "other": ratio(moments.a, moments.n),
    }
    known = pl.DataFrame(of_users).fill_nan(None).with_columns(told=pairs["note"])
    known = pairs.drop("note").with_columns(
        *known, n_zero=None, low=pl.Series(low), high=pl.Series(high)
    )
    note = pl.when("missing").then("told").otherwise(joined_notes(["told", "note"]))
    known = with_intervals(known, gate.level).with_columns(note=note)
    return pl.concat([rows.filter(pl.col("d").is_null()), known.select(rows.columns)])


def _moments(rows: pl.DataFrame) -> Moments:
    """Return the moments of pairs; NaN where values are no pairs."""
    names = ("n_users", *OF_PAIRS)
    columns = {name: rows[name].cast(pl.Float64).to_numpy() for name in names}
    n = np.nan_to_num(columns.pop("n_users"))
    trainings = Trainings(*(columns.pop(part) for part in OF_TRAININGS))
    return Moments(n, **columns, trainings=trainings)


def _arrays(rows: pl.DataFrame, required: Sequence[Requirement], gate: Gate) -> GateRows:
    """Return the columns of rows as arrays, by the names of `ROW`, with what is required of them."""
    columns = rows.select(cs.boolean().fill_null(value=False), cs.numeric().cast(pl.Float64))
    found = GateRows(**{name: columns[name].to_numpy() for name in ROW if name in columns})
    found.sign = np.array(
        [1.0 if requirement.direction == AT_LEAST else -1.0 for requirement in required]
    )
    found.factor = np.array([requirement.bound for requirement in required], dtype=np.float64)
    found.absolute = np.array([requirement.model is None for requirement in required], dtype=bool)
    is_trailing = np.array([gate.is_trailing(requirement) for requirement in required], dtype=bool)
    found.n, found.unpaired = np.nan_to_num(found.n_users), np.nan_to_num(found.unpaired)
    is_alone = np.isnan(found.d) | (found.n == 0)
    found.earlier = (
        np.array([gate.is_earlier(requirement) for requirement in required], dtype=bool) & is_alone
    )
    found.trailing, found.by_user = is_trailing & is_alone, is_trailing & ~is_alone
    found.others = found.earlier | found.trailing
    found.pairs = ~found.absolute & ~found.others
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
    """Add the gap between users' values, and that of these users and two more at the ends of what it can be.

    Of a gap over trainings the freedom counts the other model's too.
    """
    gap = moments.with_share(1.0 - rows.factor)
    rows.gap, rows.gap_error = gap.difference, gap.standard_error**2
    rows.of_trainings = vars(rows)[OF_TRAININGS[2]]
    of_users = np.where(np.isnan(rows.d), rows.freedom, rows.own_freedom)
    rows.freedom = np.where(np.isnan(rows.of_trainings), of_users, gap.freedom)
    more = gap.with_ends(*Ends(rows.least, rows.most).of_gap(rows.factor))
    rows.of_more = more.difference, more.standard_error, more.freedom


def _add_runs(rows: GateRows, gate: Gate) -> None:
    """Add the gap to what the last runs of a history predict, where rows are compared with that.

    Its error is that of `rf.changes`, with the t of as many runs. Of users who are compared with their own means it is their
    own, or what the runs differ by once users are allowed for, whichever is larger.
    """
    windows = Windows(*(vars(rows)[f"window_{field}"] for field in Windows._fields))
    by_interval = (rows.value_high - rows.value_low) / 2 / t_quantile(gate.level, rows.freedom)
    own = np.nan_to_num(np.fmax(rows.error, by_interval**2))
    of_runs = np.where(rows.by_user, np.fmax(windows.spread, windows.errors), 0.0)
    mean, error, freedom = rows.of_more
    rows.of_more = mean, np.maximum(error, np.sqrt(of_runs)), freedom
    at, runs = rows.trailing, windows.n - 1.0
    rows.runs = np.where(rows.by_user, runs, np.nan)
    rows.gap_error = np.where(at, squared_error(windows, own), np.maximum(rows.gap_error, of_runs))
    rows.freedom = np.where(at, runs, np.fmin(rows.freedom, rows.runs))
    rows.other = np.where(at, windows.mean, rows.other)
    rows.gap = np.where(at, rows.mean - rows.factor * windows.mean, rows.gap)
    # where all users are the same distance apart, nothing says how far others would be
    rows.never_varies = rows.pairs & (rows.gap_error == 0)


def _add_difference(
    rows: GateRows, required: Sequence[Requirement], decimals: Mapping[str, int]
) -> None:
    """Add the bound, and the difference of the value to it: 0 where rounding alone parts them.

    That of earlier numbers hides half a unit of the last decimal that they are shown with, times the factor.
    """
    units = np.array(
        [10.0 ** -decimals.get(str(requirement.metric), np.nan) for requirement in required]
    )
    far = np.abs(np.rint(rows.other / units) * units - rows.other)
    are_rounded = rows.trailing | rows.rounded | (rows.earlier & (far <= ROUNDING))
    slack = np.nan_to_num(np.where(are_rounded, 0.5 * units * rows.factor, 0.0))
    rows.baseline_value = rows.other
    rows.bound = np.where(rows.absolute, rows.factor, rows.factor * rows.other)
    found = np.where(rows.absolute | rows.earlier, rows.mean - rows.bound, rows.gap)
    hidden = np.maximum(ROUNDING * np.maximum(1.0, np.abs(rows.bound)), slack)
    rows.difference = np.where(np.abs(found) <= hidden, 0.0, found)


def _add_tests(rows: GateRows, gate: Gate) -> None:
    """Add the interval of the difference, its p values, and whether the value alone decides."""
    _add_interval(rows, gate.level)
    error, freedom = _error(rows, gate.level)
    p_value = 2.0 * p_below(rows.sign * t_statistic(rows.difference, error), freedom)
    least = np.where(rows.others, 0.0, least_p(_off_the_bound(rows)))
    rows.p_value = np.maximum(np.minimum(p_value, 1.0), least)
    rows.p_adjusted = adjusted(np.where(rows.small, np.nan, rows.p_value), method="holm")
    own = np.where(rows.absolute, np.sqrt(rows.error), error)
    n = np.where(freedom > 0, freedom + 1.0, np.nan)
    spread = np.where(own > 0, own, np.nan) * np.sqrt(n)
    rows.detectable = detectable_difference(n, spread, level=gate.level)
    rows.n_differ = np.where(rows.pairs, rows.differ, np.nan)
    by_value = ~rows.of_each & ~rows.few & np.isnan(error) & (rows.n > 1)
    rows.by_value = by_value & ~np.isnan(rows.difference)
    rows.worst = np.where(rows.sign > 0, rows.difference_low, -rows.difference_high)


def _off_the_bound(rows: GateRows) -> Numbers:
    """Return the number of users or clusters possibly on the wrong side of the bound: all, or those that differ.

    Where equal values meet the bound, as those of a model that may lose 1 %, no one else is on the wrong side.
    """
    meet = rows.pairs & (rows.sign * (1.0 - rows.factor) >= 0)
    units = np.where(rows.by_user, rows.of_more[2] - 1.0, rows.units)
    return numbers(np.where(meet, rows.differ, units))


def _add_interval(rows: GateRows, level: float) -> None:
    """Add the interval of the difference to the bound."""
    half = t_quantile(level, rows.freedom) * np.sqrt(rows.gap_error)
    below = np.hypot(rows.mean - rows.value_low, rows.factor * (rows.other_high - rows.other))
    above = np.hypot(rows.value_high - rows.mean, rows.factor * (rows.other - rows.other_low))
    low = rows.difference - np.where(rows.earlier, below, half)
    high = rows.difference + np.where(rows.earlier, above, half)
    rows.difference_low = np.where(rows.absolute, rows.value_low - rows.bound, low)
    rows.difference_high = np.where(rows.absolute, rows.value_high - rows.bound, high)


def _error(rows: GateRows, level: float) -> tuple[Numbers, Numbers]:
    """Return the standard error of the difference and its freedom, if the bound is just met.

    Of a share it is that of Wilson: the variance at the bound for as many users as the variance at the value speaks of.
    Against an earlier interval it is the half of the interval on the side of the bound, over its quantile.
    """
    bound, mean, difference = rows.bound, rows.mean, rows.difference
    at_bound = np.maximum(bound * (1.0 - bound), 0.0)
    spread = np.maximum(mean * (1.0 - mean), 0.0)
    effective = np.where(rows.error > 0, ratio(spread, rows.error), rows.n)
    of_share = np.where(np.isnan(rows.error), np.nan, np.sqrt(ratio(at_bound, effective)))
    of_bound = np.where(rows.share, of_share, np.sqrt(rows.error))
    freedom = np.where(rows.earlier, np.fmin(rows.freedom, rows.other_n - 1.0), rows.freedom)
    low, high = rows.difference_low, rows.difference_high
    half = np.where(difference < 0, high - difference, difference - low)
    of_gap = np.where(rows.earlier, half / t_quantile(level, freedom), np.sqrt(rows.gap_error))
    return np.where(rows.absolute, of_bound, of_gap), freedom


def _add_states(rows: GateRows, gate: Gate) -> None:
    """Add whether each row holds, fails, is open or missing.

    NOTE: a row fails by the p value for all rows, since a gate that fails wherever one of them does would find a false alarm
    among many; it holds by its own interval, since a gate holds where all of its rows do, which no number of them makes easier.
    Of pairs it holds where that of two more users does too, since a few users, or none who differ, say little of others.
    """
    wrong = rows.sign * rows.difference < 0
    by_value = rows.by_value | ((gate.on == "value") & ~np.isnan(rows.difference))
    mean, error, freedom = rows.of_more
    t = t_quantile(gate.level, np.fmin(freedom, rows.runs))
    worst = rows.sign * mean - t * error
    holds = (rows.worst >= 0) & (~rows.pairs | ((worst >= 0) & ~rows.never_varies))
    untested = rows.small | (rows.selected & (gate.on == "interval"))
    shown_worse = wrong & (rows.p_adjusted <= 1.0 - gate.level)
    rows.state = np.select(
        [rows.missing, untested, by_value & wrong, by_value, shown_worse, holds & ~rows.few_known],
        [MISSING, OPEN, FAILS, HOLDS, FAILS, HOLDS],
        OPEN,
    )


def _notes(rows: pl.DataFrame, found: GateRows, gate: Gate) -> pl.Series:
    """Return the notes of rows, joined with what is known of their values, unless all is told."""
    by_value = found.by_value | (gate.on != "interval")
    is_told = by_value & ~(found.trailing | found.by_user)
    own = pl.Series(_own_notes(found, gate), dtype=pl.String)
    notes = rows.select("note", "window_note", "missing").with_columns(
        own=own, told=pl.Series(is_told, dtype=pl.Boolean)
    )
    given = pl.when(pl.col("own") != "").then("own")
    both = joined_notes([given, pl.when(~pl.col("told")).then("note")])
    whole = pl.when("missing").then("note").otherwise(pl.coalesce("window_note", both))
    return notes.select(whole.fill_null("")).to_series()


def _own_notes(rows: GateRows, gate: Gate) -> Any:
    """Return the notes on each row's test, none where there is nothing."""
    on_interval, pairs, n, new = gate.on == "interval", rows.pairs, rows.n, rows.few_known
    tests = int(np.count_nonzero(~np.isnan(rows.p_adjusted)))
    is_open = (rows.state == OPEN) & on_interval
    varies = pairs & ~rows.never_varies
    lacks = {
        "the earlier result has no such row": rows.earlier & np.isnan(rows.other),
        "nobody has both values": pairs & (n == 0),
    }
    words = {
        f"fewer than {gate.min_users} users, so not judged": rows.small,
        "no interval of this metric was shown to hold, so judged by its value alone": rows.by_value,
        f"significant alone, not after correcting for {tests} tests": is_open
        & (rows.p_value <= 1.0 - gate.level),
        **of_unpaired(n, np.where(pairs & ~rows.by_user, rows.unpaired, 0.0), rows.selected),
        "more than a fifth of the users are new, so it can fail but not hold": new,
        "compared with an interval as if of other users, so hard to show": rows.earlier
        & on_interval,
        "the difference is the same for all users, so its spread is unknown": rows.never_varies
        & (n > 1),
        f"fewer than {FEW_VALUES} users differ, so the interval is rough": varies
        & (rows.differ < FEW_VALUES),
        "one training of the other model, so no spread between trainings": rows.of_trainings == 1,
        "two more users could change it": varies & is_open & (rows.worst >= 0) & ~new,
    }
    return first_or_joined(lacks, words)
