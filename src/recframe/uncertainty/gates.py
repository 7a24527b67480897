"""What holds, fails or is open of what is required: from distances to states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import polars as pl

from recframe.errors import DataError
from recframe.frames.dtypes import as_text
from recframe.frames.roles import listed
from recframe.frames.rows.joins import beside_one_another
from recframe.uncertainty.arrays import Flags, Numbers, np, ratio
from recframe.uncertainty.corrections import adjusted
from recframe.uncertainty.distances import OF_GAP
from recframe.uncertainty.moments import Moments, Trainings
from recframe.uncertainty.notes import BETWEEN, are_selected, first_or_joined, of_unpaired
from recframe.uncertainty.p_values import least_p, p_below, t_quantile, t_statistic
from recframe.uncertainty.pairs import MODEL, OF_TRAININGS
from recframe.uncertainty.power import detectable_difference
from recframe.uncertainty.requirements import (
    AT_LEAST,
    COLUMNS,
    FAILS,
    HOLDS,
    MISSING,
    OPEN,
    Gate,
    Requirement,
)
from recframe.uncertainty.summary import FEW_VALUES
from recframe.uncertainty.windows import Windows, squared_error

ROUNDING = 1e-12
"""A value this near to its bound meets it."""


class Gap(NamedTuple):
    """The mean gap of users to a share of the other's value, with its standard error and degrees of freedom."""

    mean: Numbers
    error: Numbers
    freedom: Numbers
    differ: Numbers
    """The users, or clusters, whose two values differ."""


class Rows(NamedTuple):
    """The rows of a gate as arrays, one value each; `sign` is -1 where a value should be low."""

    value: Numbers
    low: Numbers
    high: Numbers
    mean: Numbers
    error: Numbers
    freedom: Numbers
    units: Numbers
    """How many users, or clusters of one size, there are."""
    n: Numbers
    other: Numbers
    gap: Numbers
    gap_error: Numbers
    """Squared."""
    two_more: Gap
    """The gap of these users and two more, at the ends of what a user's can be."""
    of_trainings: Numbers
    """How many trainings the other model has; NaN where none are bound."""
    other_low: Numbers
    other_high: Numbers
    other_n: Numbers
    unpaired: Numbers
    of_each: Flags
    share: Flags
    few: Flags
    sign: Numbers
    factor: Numbers
    absolute: Flags
    earlier: Flags
    """Whether it is held against an interval of other users, or of unknown ones."""
    trailing: Flags
    """Whether it is held against what the last runs of a history predict."""
    by_user: Flags
    """Whether its users are held against their own means of these runs."""
    missing: Flags
    """Whether earlier numbers have it and today's do not."""
    slack: Numbers
    """How far the rounding of earlier numbers alone may put the value and its bound apart."""

    @property
    def others(self) -> Flags:
        """Which are held against numbers of an earlier result or a history, of other users or of unknown ones."""
        return self.earlier | self.trailing

    @property
    def pairs(self) -> Flags:
        """Which are held against another value of the same users."""
        return ~self.absolute & ~self.others

    @property
    def selected(self) -> Flags:
        """Which pairs are of so few of the users that those with both values are chosen by what is measured."""
        found: Flags = self.pairs & self.of_each & are_selected(self.n, self.unpaired)
        return found & ~self.by_user

    @property
    def never_varies(self) -> Flags:
        """Which pairs are the same distance apart for all users, so that nothing says how far others would be."""
        found: Flags = self.pairs & (self.gap_error == 0)
        return found

    @property
    def bound(self) -> Numbers:
        """The number that the value is held against."""
        return np.where(self.absolute, self.factor, self.factor * self.other)

    @property
    def difference(self) -> Numbers:
        """The difference to the bound, 0 where rounding alone parts them."""
        found = np.where(self.absolute | self.earlier, self.mean - self.bound, self.gap)
        near = np.abs(found) <= np.maximum(
            ROUNDING * np.maximum(1.0, np.abs(self.bound)), self.slack
        )
        return np.where(near, 0.0, found)


def judged(rows: pl.DataFrame, keys: Sequence[str], gate: Gate) -> pl.DataFrame:
    """Return a row for each segment, model and requirement: the keys and the columns of `COLUMNS`.

    `rows` has the keys and the columns of `distances.ROW`.

    With t the quantile of Student's t at the level, a row's difference to the bound has the interval difference ± t · error,
    of an absolute bound the value's own less the bound, and against an earlier interval Newcombe's: ends apart by the
    square root of the sum of squares. Its p value is that of the two-sided test where the difference is on the wrong side,
    else 1, so that it is below 1 - level where the interval is beyond the bound. It is adjusted by Holm for all rows.

    Source: Wilson 1927 (the test of a share is its interval's); Newcombe 1998; Holm 1979.
    """
    rows = _of_models(rows, gate).sort([*keys, "place"], nulls_last=True)
    taken = _with_windows(_arrays(rows, gate), rows, gate)
    found = _tested(taken, gate)
    found["state"] = _states(taken, found, gate)
    notes = rows["window_note"].fill_null(_notes(taken, found, rows["note"], gate))
    found["note"] = rows["note"].zip_with(pl.Series(taken.missing, dtype=pl.Boolean), notes)
    asked = [gate.requirements[place] for place in rows["place"]]
    found |= {
        "requirement": [str(one) for one in asked],
        "metric": [str(one.metric) for one in asked],
        "k": [one.metric.k for one in asked],
        "n_users": rows["n_users"],
    }
    columns = pl.DataFrame({name: found[name] for name in COLUMNS}, strict=False).select(
        pl.col(name).cast(dtype).fill_nan(None) if dtype == pl.Float64 else pl.col(name).cast(dtype)
        for name, dtype in COLUMNS.items()
    )
    return beside_one_another([rows.select(keys), columns])


def _tested(rows: Rows, gate: Gate) -> dict[str, Any]:
    """Return the numbers of each row, its interval and its p values."""
    low, high = _interval(rows, gate.level)
    error, freedom = _error(rows, low, high, gate.level)
    t = t_statistic(rows.difference, error)
    p_value = np.minimum(2.0 * p_below(rows.sign * t, freedom), 1.0)
    p_value = np.maximum(p_value, np.where(rows.others, 0.0, least_p(_off_the_bound(rows))))
    return {
        "value": rows.value,
        "value_low": rows.low,
        "value_high": rows.high,
        "bound": rows.bound,
        "baseline_value": rows.other,
        "difference": rows.difference,
        "difference_low": low,
        "difference_high": high,
        "n_differ": pl.Series(np.where(rows.pairs, rows.two_more.differ, np.nan)).fill_nan(None),
        "detectable": _detectable(rows, error, freedom, gate.level),
        "p_value": p_value,
        "p_adjusted": adjusted(np.where(_is_small(rows, gate), np.nan, p_value), method="holm"),
        "by_value": ~rows.of_each
        & ~rows.few
        & np.isnan(error)
        & (rows.n > 1)
        & ~np.isnan(rows.difference),
    }


def _off_the_bound(rows: Rows) -> Numbers:
    """Return how many users, or clusters, may be on the wrong side of the bound: all, or those whose two values differ.

    Where equal values meet the bound, as those of a model that may lose 1 %, no one else is on the wrong side.
    """
    meet = rows.pairs & (rows.sign * (1.0 - rows.factor) >= 0)
    units = np.where(rows.by_user, rows.two_more.freedom - 1.0, rows.units)
    return np.where(meet, rows.two_more.differ, units)


def _is_small(rows: Rows, gate: Gate) -> Flags:
    """Return which rows have too few users to be tested."""
    return (rows.n > 0) & (rows.n < gate.min_users)


def _are_new(rows: Rows) -> Flags:
    """Return which rows have so many users whom the runs before do not know that the others show nothing of all."""
    return rows.by_user & are_selected(rows.n, rows.unpaired)


def _of_models(rows: pl.DataFrame, gate: Gate) -> pl.DataFrame:
    """Return the rows of the models that are asked about, or say which of them there is not."""
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


def _arrays(rows: pl.DataFrame, gate: Gate) -> Rows:
    column = partial(_column, rows)
    asked = [gate.requirements[place] for place in rows["place"]]
    factor = np.array([one.bound for one in asked])
    gap = _gap(column, factor)
    return Rows(
        *_three(column, "value"),
        # of a metric without an interval the value alone may be known
        _known(column("mean"), column("value")),
        column("error"),
        _freedom(column, gap),
        _known(column("own_freedom"), column("freedom")) + 1.0,
        np.nan_to_num(column("n_users")),
        column("other"),
        column("gap"),
        *_of_gap(gap, column),
        column(OF_TRAININGS[2]),
        *_three(column, "other")[1:],
        column("other_n"),
        np.nan_to_num(column("unpaired")),
        _flags(rows, "of_each"),
        _flags(rows, "share"),
        _flags(rows, "few"),
        np.array([1.0 if one.direction == AT_LEAST else -1.0 for one in asked]),
        factor,
        np.array([one.model is None for one in asked], dtype=bool),
        np.array([gate.is_earlier(one) for one in asked], dtype=bool) & np.isnan(column("gap")),
        *_by_run_or_user(asked, column("gap"), gate),
        _flags(rows, "missing"),
        np.nan_to_num(column("slack")),
    )


def _column(rows: pl.DataFrame, name: str) -> Numbers:
    return rows[name].cast(pl.Float64).to_numpy().astype(np.float64)


def _by_run_or_user(asked: Sequence[Requirement], gap: Numbers, gate: Gate) -> tuple[Flags, Flags]:
    """Return which rows are held against what runs predict, and which against users' own means of these."""
    is_trailing = np.array([gate.is_trailing(one) for one in asked], dtype=bool)
    return is_trailing & np.isnan(gap), is_trailing & ~np.isnan(gap)


def _gap(column: Callable[[str], Numbers], factor: Numbers) -> Moments:
    """Return the moments of the gap of users, b - f a with f the factor."""
    n, gap = np.nan_to_num(column("n_users")), column("gap")
    *own, _, _ = (column(f"gap_{one}") for one in OF_GAP)
    named = dict(zip(OF_GAP, own, strict=False))
    unknown = dict.fromkeys(("a", "aa", "ad", "an"), np.full_like(gap, np.nan))
    trainings = Trainings(*map(column, OF_TRAININGS))._replace(factor=factor)
    return Moments(n, d=n * gap, **named, **unknown, trainings=trainings)


def _of_gap(gap: Moments, column: Callable[[str], Numbers]) -> tuple[Numbers, Gap]:
    """Return the squared error of the gap of users, and their gap with two more at its ends."""
    more = gap.with_ends(column("gap_low"), column("gap_high"))
    two_more = Gap(more.difference, more.standard_error, more.freedom, gap.differ)
    return gap.standard_error**2, two_more


def _three(column: Callable[[str], Numbers], name: str) -> tuple[Numbers, Numbers, Numbers]:
    """Return a number and the ends of its interval."""
    return column(name), column(f"{name}_low"), column(f"{name}_high")


def _known(first: Numbers, other: Numbers) -> Numbers:
    """Return the first of two numbers, or where it is NaN the other."""
    return np.where(np.isnan(first), other, first)


def _freedom(column: Callable[[str], Numbers], gap: Moments) -> Numbers:
    """Return the degrees of freedom: of a gap over trainings its own, since they count the other model's too."""
    of_gap = ~np.isnan(column(OF_TRAININGS[2]))
    return np.where(of_gap, gap.freedom, column("freedom"))


def _flags(rows: pl.DataFrame, name: str) -> Flags:
    return rows[name].fill_null(value=False).to_numpy().astype(bool)


def _with_windows(rows: Rows, found: pl.DataFrame, gate: Gate) -> Rows:
    """Return rows with their distance to what the last runs of a history predict, where they are held against that.

    Its error is that of `rf.changes`, with the t of as many runs. Of users who are held against their own means it is their
    own, or what the runs differ by once users are allowed for, whichever is larger.
    """
    if not (rows.trailing | rows.by_user).any():
        return rows
    windows = Windows(
        *(found[f"window_{one}"].cast(pl.Float64).to_numpy() for one in Windows._fields)
    )
    by_interval = (rows.high - rows.low) / 2 / t_quantile(gate.level, rows.freedom)
    own = np.nan_to_num(np.fmax(rows.error, by_interval**2))
    at, of_users = rows.trailing, rows.by_user
    of_runs = np.where(of_users, np.fmax(windows.spread, windows.errors), 0.0)
    more = rows.two_more
    rows = rows._replace(
        gap_error=np.maximum(rows.gap_error, of_runs),
        freedom=np.where(of_users, np.fmin(rows.freedom, windows.n - 1.0), rows.freedom),
        two_more=more._replace(error=np.maximum(more.error, np.sqrt(of_runs))),
    )
    return rows._replace(
        other=np.where(at, windows.mean, rows.other),
        gap=np.where(at, rows.mean - rows.factor * windows.mean, rows.gap),
        gap_error=np.where(at, squared_error(windows, own), rows.gap_error),
        freedom=np.where(at, windows.n - 1.0, rows.freedom),
    )


def _interval(rows: Rows, level: float) -> tuple[Numbers, Numbers]:
    """Return the interval of the difference to the bound."""
    half = t_quantile(level, rows.freedom) * np.sqrt(rows.gap_error)
    below, above = rows.mean - rows.low, rows.high - rows.mean
    low = rows.difference - np.hypot(below, rows.factor * (rows.other_high - rows.other))
    high = rows.difference + np.hypot(above, rows.factor * (rows.other - rows.other_low))
    kinds = [rows.absolute, rows.earlier]
    return (
        np.select(kinds, [rows.low - rows.bound, low], rows.difference - half),
        np.select(kinds, [rows.high - rows.bound, high], rows.difference + half),
    )


def _error(rows: Rows, low: Numbers, high: Numbers, level: float) -> tuple[Numbers, Numbers]:
    """Return the standard error of the difference under the null that the bound is just met, and its freedom.

    Of a share it is that of Wilson: the variance at the bound for as many users as the variance at the value speaks of.
    Against an earlier interval it is the half of the interval on the side of the bound, over its quantile.
    """
    bound, mean = rows.bound, rows.mean
    at_bound = np.maximum(bound * (1.0 - bound), 0.0)
    effective = np.where(rows.error > 0, ratio(mean * (1.0 - mean), rows.error), rows.n)
    of_share = np.where(np.isnan(rows.error), np.nan, np.sqrt(ratio(at_bound, effective)))
    of_bound = np.where(rows.share, of_share, np.sqrt(rows.error))
    freedom = np.where(rows.earlier, np.fmin(rows.freedom, rows.other_n - 1.0), rows.freedom)
    half = np.where(
        rows.difference < 0,
        high - rows.difference,
        rows.difference - low,
    )
    of_earlier = half / t_quantile(level, freedom)
    error = np.select(
        [rows.absolute, rows.earlier], [of_bound, of_earlier], np.sqrt(rows.gap_error)
    )
    return error, freedom


def _detectable(rows: Rows, error: Numbers, freedom: Numbers, level: float) -> Numbers:
    """Return the smallest difference to the bound that so many users show with a power of .8."""
    own = np.where(rows.absolute, np.sqrt(rows.error), error)
    own = np.where(own > 0, own, np.nan)
    n = np.where(freedom > 0, freedom + 1.0, np.nan)
    return detectable_difference(n, own * np.sqrt(n), level=level)


def _states(rows: Rows, found: Mapping[str, Any], gate: Gate) -> Any:
    """Return whether each row holds, fails, is open or missing.

    NOTE: a row fails by the p value for all rows, since a gate that fails wherever one of them does would find a false alarm
    among many; it holds by its own interval, since a gate holds where all of its rows do, which no number of them makes easier.
    Of pairs it holds where that of two more users does too, since a few users, or none who differ, say little of others.
    """
    wrong = rows.sign * rows.difference < 0
    by_value = found["by_value"] | ((gate.on == "value") & ~np.isnan(rows.difference))
    worst = np.where(rows.sign > 0, found["difference_low"], -found["difference_high"])
    two_more = rows.two_more
    freedom = np.where(rows.by_user, np.fmin(rows.freedom, two_more.freedom), two_more.freedom)
    of_two_more = rows.sign * two_more.mean - t_quantile(gate.level, freedom) * two_more.error
    holds = (worst >= 0) & (~rows.pairs | ((of_two_more >= 0) & ~rows.never_varies))
    holds &= ~_are_new(rows)
    untested = _is_small(rows, gate) | (rows.selected & (gate.on == "interval"))
    shown_worse = wrong & (found["p_adjusted"] <= 1.0 - gate.level)
    return np.select(
        [rows.missing, untested, by_value & wrong, by_value, shown_worse, holds],
        [MISSING, OPEN, FAILS, HOLDS, FAILS, HOLDS],
        OPEN,
    )


def _notes(rows: Rows, found: Mapping[str, Any], known: pl.Series, gate: Gate) -> Any:
    """Return what is to be known of each row, in words; none where there is nothing."""
    on_interval, by_value = gate.on == "interval", found["by_value"]
    tests = int(np.count_nonzero(~np.isnan(found["p_adjusted"])))
    is_open = found["state"] == OPEN
    alone = is_open & (found["p_value"] <= 1.0 - gate.level)
    pairs, n = rows.pairs, rows.n
    worst = np.where(rows.sign > 0, found["difference_low"], -found["difference_high"])
    could_hold = is_open & on_interval & (worst >= 0)
    few, varies = rows.two_more.differ < FEW_VALUES, pairs & ~rows.never_varies
    lacks = {
        "the earlier result has no such row": rows.earlier & np.isnan(rows.other),
        "nobody has both values": pairs & (n == 0),
    }
    words = {
        f"fewer than {gate.min_users} users, so not judged": _is_small(rows, gate),
        "no interval of this metric was shown to hold, so judged by its value alone": by_value,
        f"beyond the bound by itself, but not among {tests} rows": alone & on_interval,
        **of_unpaired(n, np.where(pairs & ~rows.by_user, rows.unpaired, 0.0), rows.selected),
        "more than a fifth of the users are new, so it may fail and never hold": _are_new(rows),
        "held against an interval, as if of other users, so hard to show": rows.earlier
        & on_interval,
        "the distance is the same for all users, so nothing says how far others would be": rows.never_varies
        & (n > 1),
        f"fewer than {FEW_VALUES} users differ, so the interval is rough": varies & few,
        "one training of the other model, which says nothing of another": rows.of_trainings == 1,
        "two more users could change it": varies & could_hold & ~_are_new(rows),
    }
    told = (by_value | (not on_interval)) & ~(rows.trailing | rows.by_user)
    return _with_known(first_or_joined(lacks, words), known, told)


def _with_known(notes: Any, known: pl.Series, told: Flags) -> pl.Series:
    """Return notes joined with what is known of the values, unless all is told."""
    given = pl.Series(notes, dtype=pl.String).replace("", None)
    known = known.zip_with(pl.Series(~told, dtype=pl.Boolean), pl.Series([None], dtype=pl.String))
    both = pl.concat_str(pl.lit(given), pl.lit(known), separator=BETWEEN, ignore_nulls=True)
    return pl.select(both).to_series().replace("", None)
