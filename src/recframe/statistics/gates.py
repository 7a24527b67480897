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
from recframe.statistics.arrays import Flags, Numbers, np, numbers, ratio
from recframe.statistics.comparison import are_selected, first_or_joined, of_unpaired
from recframe.statistics.moments import Ends, Moments, as_columns, as_numbers
from recframe.statistics.p_values import adjusted, least_p, p_below, t_quantile, t_statistic
from recframe.statistics.pairs import MODEL, OF_UNITS
from recframe.statistics.requirements import (
    AT_LEAST,
    COLUMNS,
    FAILS,
    HOLDS,
    MISSING,
    OF_METRIC,
    OPEN,
    Gate,
    Requirement,
)
from recframe.statistics.summary import FEW_VALUES, joined_notes, with_intervals

ROUNDING = 1e-12
"""Tolerance within which a value meets its bound."""


def judged(
    rows: pl.DataFrame, keys: Sequence[str], gate: Gate, decimals: Mapping[str, int]
) -> pl.DataFrame:
    """Return a row for each segment, model and requirement: the keys, and the columns of `COLUMNS` and `OF_METRIC`.

    `rows` has the keys and the columns of `requirements.ROW`; `decimals` are those that some metrics are shown with.

    With t the quantile of Student's t at the level, a row's difference to the bound has the interval difference ± t · error,
    of a number the value's own less the bound, and against an earlier interval Newcombe's: ends apart by the square root of
    the sum of squares. Its p value is that of the two-sided test where the difference is on the wrong side, else 1, so that it
    is below 1 - level where the interval is beyond the bound. It is adjusted by Holm for all rows.

    NOTE: a row fails by the p value for all rows, since a gate that fails wherever one of them does would find a false alarm
    among many; it holds by its own interval, since a gate holds where all of its rows do, which no number of them makes easier.
    Of pairs it holds where that of two more users does too, since a few users, or none who differ, say little of others.

    Source: Wilson 1927 (the test of a share is its interval's); Newcombe 1998; Holm 1979.
    """
    rows = _with_pairs(_of_models(rows, gate), gate).sort([*keys, "place"], nulls_last=True)
    required = [gate.requirements[place] for place in rows["place"]]
    of = _arrays(rows, required, gate)
    _add_difference(of, _moments(rows), required, gate, decimals)
    _add_tests(of, gate)
    _add_states(of, gate)
    of.note = _notes(rows, of, gate)
    of.requirement = [str(one) for one in required]
    of.metric = [str(one.metric) for one in required]
    of.k = [one.metric.k or np.nan for one in required]
    return beside_one_another([rows.select(keys), as_columns(vars(of), COLUMNS | OF_METRIC)])


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
    """Return rows with the values of pairs and the notes on them, from sums over users with both values."""
    pairs = rows.filter(pl.col("d").is_not_null())
    if pairs.is_empty():
        return rows
    moments = _moments(pairs)
    # of b = d + a in place of d
    own = moments.with_share(1.0)
    low, high = zip(*(gate.requirements[at].metric.range for at in pairs["place"]), strict=True)
    of_users = {
        "mean": own.difference,
        "error": own.standard_error**2,
        **dict.fromkeys(("freedom", "own_freedom"), moments.effective - 1.0),
        "other": ratio(moments.a, moments.n),
    }
    known = pairs.with_columns(*pl.DataFrame(of_users).fill_nan(None)).with_columns(
        n_zero=None, n_trainings=None, low=pl.Series(low), high=pl.Series(high)
    )
    known = with_intervals(known, gate.level)
    return pl.concat([rows.filter(pl.col("d").is_null()), known.select(rows.columns)])


def _moments(rows: pl.DataFrame) -> Moments:
    """Return the moments of pairs; NaN where values are no pairs."""
    parts: Any = {name: as_numbers(rows[name]) for name in ("a", "d", *OF_UNITS)}
    return Moments(np.nan_to_num(as_numbers(rows["n_users"])), **parts)


def _arrays(rows: pl.DataFrame, required: Sequence[Requirement], gate: Gate) -> SimpleNamespace:
    """Return the columns of rows as arrays, with what is required of them.

    A row is about a `number`, about `pairs` of values of a user by two models, or about an `earlier` interval of other users.
    `sign` is -1 where a value should be low.
    """
    columns = rows.select(cs.boolean().fill_null(value=False), cs.numeric().cast(pl.Float64))
    of = SimpleNamespace(**{one.name: one.to_numpy() for one in columns})
    of.sign = np.array([1.0 if one.direction == AT_LEAST else -1.0 for one in required])
    of.factor = np.array([one.bound for one in required], dtype=np.float64)
    of.number = np.array([one.model is None for one in required], dtype=bool)
    of.earlier = np.array([gate.is_earlier(one) for one in required], dtype=bool)
    of.pairs = ~of.number & ~of.earlier
    of.n, of.unpaired = np.nan_to_num(of.n_users), np.nan_to_num(of.unpaired)
    # of a metric without an interval the value alone may be known
    of.mean = np.where(np.isnan(of.mean), of.value, of.mean)
    of.selected = of.pairs & of.of_each & are_selected(of.n, of.unpaired)
    of.small = (of.n > 0) & (of.n < gate.min_users)
    return of


def _add_difference(
    of: SimpleNamespace,
    moments: Moments,
    required: Sequence[Requirement],
    gate: Gate,
    decimals: Mapping[str, int],
) -> None:
    """Add the bound, and the difference of the value to it with its error and interval: 0 where rounding alone parts them.

    That of earlier numbers hides half a unit of the last decimal that they are shown with, times the factor. Of pairs the gap
    is b - f a, with the factor f; `worst_of_more` is the end on the wrong side of the gap of these users and two more, at the
    ends of what a gap can be.
    """
    gap = moments.with_share(1.0 - of.factor)
    of.gap_error = gap.standard_error
    more = gap.with_ends(*Ends(of.least, of.most).of_gap(of.factor))
    half_of_more = t_quantile(gate.level, more.freedom) * more.standard_error
    of.worst_of_more = of.sign * more.difference - half_of_more
    # where all users are the same distance apart, nothing says how far others would be
    of.never_varies = of.pairs & (of.gap_error == 0)
    of.bound = np.where(of.number, of.factor, of.factor * of.other)
    units = np.array([10.0 ** -decimals.get(str(one.metric), np.nan) for one in required])
    is_rounded = np.abs(np.rint(of.other / units) * units - of.other) <= ROUNDING
    slack = np.nan_to_num(np.where(of.earlier & is_rounded, 0.5 * units * of.factor, 0.0))
    found = np.where(of.pairs, gap.difference, of.mean - of.bound)
    hidden = np.maximum(ROUNDING * np.maximum(1.0, np.abs(of.bound)), slack)
    of.difference = np.where(np.abs(found) <= hidden, 0.0, found)
    half = t_quantile(gate.level, of.freedom) * of.gap_error
    below = np.hypot(of.mean - of.value_low, of.factor * (of.other_high - of.other))
    above = np.hypot(of.value_high - of.mean, of.factor * (of.other - of.other_low))
    low = of.difference - np.where(of.earlier, below, half)
    high = of.difference + np.where(of.earlier, above, half)
    of.difference_low = np.where(of.number, of.value_low - of.bound, low)
    of.difference_high = np.where(of.number, of.value_high - of.bound, high)


def _add_tests(of: SimpleNamespace, gate: Gate) -> None:
    """Add the p values, and whether the value alone decides."""
    error, freedom = _error(of, gate.level)
    p_value = 2.0 * p_below(of.sign * t_statistic(of.difference, error), freedom)
    least = np.where(of.earlier, 0.0, least_p(_off_the_bound(of)))
    of.p_value = np.maximum(np.minimum(p_value, 1.0), least)
    of.p_adjusted = adjusted(np.where(of.small, np.nan, of.p_value), method="holm")
    by_value = ~of.of_each & ~of.few & np.isnan(error) & (of.n > 1)
    of.by_value = by_value & ~np.isnan(of.difference)


def _off_the_bound(of: SimpleNamespace) -> Numbers:
    """Return the number of users or clusters possibly on the wrong side of the bound: all, or those that differ.

    Where equal values meet the bound, as those of a model that may lose 1 %, no one else is on the wrong side.
    """
    meet = of.pairs & (of.sign * (1.0 - of.factor) >= 0)
    freedom = np.where(np.isnan(of.own_freedom), of.freedom, of.own_freedom)
    return numbers(np.where(meet, of.differ, freedom + 1.0))


def _error(of: SimpleNamespace, level: float) -> tuple[Numbers, Numbers]:
    """Return the standard error of the difference and its freedom, if the bound is just met.

    Of a share it is that of Wilson: the variance at the bound for as many users as the variance at the value speaks of.
    Against an earlier interval it is the half of the interval on the side of the bound, over its quantile.
    """
    bound, mean, difference = of.bound, of.mean, of.difference
    at_bound = np.maximum(bound * (1.0 - bound), 0.0)
    spread = np.maximum(mean * (1.0 - mean), 0.0)
    effective = np.where(of.error > 0, ratio(spread, of.error), of.n)
    of_share = np.where(np.isnan(of.error), np.nan, np.sqrt(ratio(at_bound, effective)))
    of_number = np.where(of.share, of_share, np.sqrt(of.error))
    freedom = np.where(of.earlier, np.fmin(of.freedom, of.other_n - 1.0), of.freedom)
    low, high = of.difference_low, of.difference_high
    half = np.where(difference < 0, high - difference, difference - low)
    of_others = np.where(of.earlier, half / t_quantile(level, freedom), of.gap_error)
    return np.where(of.number, of_number, of_others), freedom


def _add_states(of: SimpleNamespace, gate: Gate) -> None:
    """Add whether each row holds, fails, is open or missing."""
    wrong = of.sign * of.difference < 0
    of.worst = np.where(of.sign > 0, of.difference_low, -of.difference_high)
    holds = (of.worst >= 0) & (~of.pairs | ((of.worst_of_more >= 0) & ~of.never_varies))
    shown_worse = wrong & (of.p_adjusted <= 1.0 - gate.level)
    of.state = np.select(
        [of.missing, of.small | of.selected, of.by_value & wrong, of.by_value, shown_worse, holds],
        [MISSING, OPEN, FAILS, HOLDS, FAILS, HOLDS],
        OPEN,
    )


def _notes(rows: pl.DataFrame, of: SimpleNamespace, gate: Gate) -> pl.Series:
    """Return the notes of rows, joined with what is known of their values, unless their own tell all."""
    own = pl.Series("own", _own_notes(of, gate), dtype=pl.String)
    alone = pl.Series("alone", of.by_value, dtype=pl.Boolean)
    given = pl.when(pl.col("own") != "").then("own")
    both = joined_notes([given, pl.when(~pl.col("alone")).then("note")])
    whole = pl.when("missing").then("note").otherwise(both)
    return rows.with_columns(own, alone).select(whole.fill_null("")).to_series()


def _own_notes(of: SimpleNamespace, gate: Gate) -> Any:
    """Return the notes on each row's test, none where there is nothing."""
    tests = int(np.count_nonzero(~np.isnan(of.p_adjusted)))
    is_open: Flags = of.state == OPEN
    varies = of.pairs & ~of.never_varies
    lacks = {
        "the earlier result has no such row": of.earlier & np.isnan(of.other),
        "nobody has both values": of.pairs & (of.n == 0),
    }
    words = {
        f"fewer than {gate.min_users} users, so not judged": of.small,
        "no interval of this metric was shown to hold, so judged by its value alone": of.by_value,
        f"significant alone, not after correcting for {tests} tests": is_open
        & (of.p_value <= 1.0 - gate.level),
        **of_unpaired(of.n, np.where(of.pairs, of.unpaired, 0.0), of.selected),
        "compared with an interval as if of other users, so hard to show": of.earlier,
        "the difference is the same for all users, so its spread is unknown": of.never_varies
        & (of.n > 1),
        f"fewer than {FEW_VALUES} users differ, so the interval is rough": varies
        & (of.differ < FEW_VALUES),
        "two more users could change it": varies & is_open & (of.worst >= 0),
    }
    return first_or_joined(lacks, words)
