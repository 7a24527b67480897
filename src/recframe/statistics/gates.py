"""Gates: tests of requirements, and the state of each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from recframe.errors import DataError
from recframe.frames.dtypes import as_text
from recframe.frames.roles import listed
from recframe.metrics.language.definition import Metric
from recframe.statistics.arrays import Flags, Numbers, np, numbers, ratio
from recframe.statistics.comparison import are_selected, of_unpaired
from recframe.statistics.estimates import (
    Estimate,
    adjusted,
    as_columns,
    least_p,
    of_mean,
    p_below,
    t_quantile,
    t_statistic,
    words,
)
from recframe.statistics.groups import reason_without
from recframe.statistics.requirements import (
    AT_LEAST,
    COLUMNS,
    FAILS,
    HOLDS,
    LOST,
    MISSING,
    OF_EARLIER,
    OPEN,
    Gate,
    Requirement,
)
from recframe.statistics.stored_results import FEW, FEW_VALUES
from recframe.statistics.summary import Sums, interval, notes_of
from recframe.statistics.sums import MODEL, PLACE, ROUNDING

@dataclass(frozen=True)
class Distances:
    """Distances of a gate's rows to their bounds: means of b - f a, less a number or a share of an earlier value."""

    of: Sums
    gate: Gate
    asked: Sequence[Requirement]
    """The requirement of each row."""
    units: Numbers
    """Unit of the last decimal that each row's metric is shown with; NaN without one."""

    @cached_property
    def sign(self) -> Numbers:
        """-1 where a value should be low, else 1."""
        return numbers([1.0 if one.direction == AT_LEAST else -1.0 for one in self.asked])

    @cached_property
    def factor(self) -> Numbers:
        """The factor of the other value, or the number."""
        return numbers([one.bound for one in self.asked])

    @cached_property
    def number(self) -> Flags:
        """Whether a row is about a number."""
        return np.array([one.model is None for one in self.asked], dtype=bool)

    @cached_property
    def earlier(self) -> Flags:
        """Whether a row is about an earlier value."""
        return np.array([*map(self.gate.is_earlier, self.asked)], dtype=bool)

    @property
    def pairs(self) -> Flags:
        """Whether a row is about pairs of values of a user."""
        found: Flags = ~self.number & ~self.earlier
        return found

    @cached_property
    def mean(self) -> Estimate:
        """The mean of b - f a; without another model a is 0."""
        return of_mean(self.of.moments, self.factor)

    @cached_property
    def own(self) -> Estimate:
        """The mean of the model's own values."""
        return of_mean(self.of.moments, 0.0)

    @cached_property
    def bound(self) -> Numbers:
        """The bound of the value."""
        arrays = self.of.arrays
        of_pairs = ratio(arrays["a"], arrays["n"])
        return self.factor * np.select([self.number, self.pairs], [1.0, of_pairs], arrays["other"])

    @property
    def beyond(self) -> Numbers:
        """What is subtracted from the mean."""
        return np.where(self.pairs, 0.0, self.bound)

    @cached_property
    def value(self) -> Numbers:
        """The distance; 0 where that is rounding, of sums or of an earlier value that was stored with few decimals."""
        other, units = self.of.arrays["other"], self.units
        is_rounded = self.earlier & (np.abs(np.rint(other / units) * units - other) <= ROUNDING)
        hidden = np.where(is_rounded, 0.5 * units * self.factor, 0.0)
        hidden = np.maximum(hidden, ROUNDING * np.maximum(1.0, np.abs(self.bound)))
        found = self.mean.value - self.beyond
        return np.where(np.abs(found) <= hidden, 0.0, found)

    @cached_property
    def halves(self) -> tuple[Numbers, Numbers]:
        """The parts of the interval below and above the distance.

        Those of an earlier value are put in as if of other users. Source: Newcombe 1998.
        """
        e, level = self.mean, self.gate.level
        half, (low, high) = t_quantile(level, e.freedom) * e.error, interval(e, self.of, level)
        own = (np.where(self.pairs, half, part) for part in (e.value - low, high - e.value))
        below, above = map(np.hypot, own, self.of_earlier)
        return below, above

    @property
    def of_earlier(self) -> tuple[Numbers, Numbers]:
        """The parts of an earlier value's interval that widen the distance's below and above; 0 of other rows."""
        other, low, high = (self.of.arrays[f"other{end}"] for end in ("", "_low", "_high"))
        found = (np.where(self.earlier, self.factor * part, 0.0) for part in (high - other, other - low))
        below, above = found
        return below, above

    @cached_property
    def worst(self) -> Numbers:
        """The end of the interval on the wrong side, as a distance that is negative there."""
        return self.sign * self.value - np.where(self.sign > 0, *self.halves)

    @property
    def worst_of_more(self) -> Numbers:
        """The worst end of these users and two more, whose values are as far apart as any can be."""
        factor = np.where(self.pairs, self.factor, 0.0)
        least, most = (self.of.arrays[end] for end in ("least", "most"))
        ends = least - factor * most, most - factor * least
        e = of_mean(self.of.moments, factor, ends=ends)
        half = t_quantile(self.gate.level, e.freedom) * e.error
        half = np.hypot(half, np.where(self.sign > 0, *self.of_earlier))
        return self.sign * (e.value - self.beyond) - half

    @cached_property
    def p_value(self) -> Numbers:
        """The p value of each row by itself, of the distance's being on the right side.

        A share's error is Wilson's at the bound, of as many users as its own error speaks of. No p value is below 2^(1 - m), with
        m the units that may be on the wrong side: where equal values meet the bound, as those of a model that may lose 1 %, those
        that differ.
        """
        of, own, level = self.of, self.own, self.gate.level
        at_bound, spread = (np.maximum(one * (1.0 - one), 0.0) for one in (self.bound, own.value))
        effective = np.where(own.error > 0, ratio(spread, own.error**2), own.n)
        of_share = np.where(np.isnan(own.error), np.nan, np.sqrt(ratio(at_bound, effective)))
        of_then = np.where(self.earlier, of.arrays["other_n"] - 1.0, np.nan)
        freedom = np.fmin(self.mean.freedom, of_then)
        below, above = self.halves
        of_ends = ratio(np.where(self.value < 0, above, below), t_quantile(level, freedom))
        kinds = [self.earlier, self.number & of.flags["share"]]
        error = np.select(kinds, [of_ends, of_share], self.mean.error)
        meet = self.pairs & (self.sign * (1.0 - self.factor) >= 0)
        units = np.where(meet, of.moments.differ, of.moments.effective)
        p_value = 2.0 * p_below(self.sign * t_statistic(self.value, error), freedom)
        return np.maximum(np.minimum(p_value, 1.0), least_p(units))


def states(
    rows: pl.DataFrame,
    keys: Sequence[str],
    gate: Gate,
    metrics: Mapping[int, Metric[...]],
    decimals: Mapping[str, int],
) -> pl.DataFrame:
    """Return a row for each segment, model and requirement: the keys, the metric, and the columns of `COLUMNS`.

    `rows` are sums, which may have the columns `OF_EARLIER`; `decimals` are those that some metrics are shown with.

    NOTE: a row fails by the p value for all rows, since a gate that fails wherever one of them does would find a false alarm
    among many; it holds by its own interval, since a gate holds where all of its rows do, which no number of them makes easier.
    """
    rows = _with_every(_of_models(rows, gate), gate).sort([*keys, PLACE], nulls_last=True)
    asked = [gate.requirements[at] for at in rows[PLACE]]
    units = numbers([10.0 ** -decimals.get(str(one.metric), np.nan) for one in asked])
    d = Distances(Sums(rows, metrics), gate, asked, units)
    found = _judged(d) | {
        "requirement": np.array([*map(str, asked)], dtype=object),
        "metric": np.array([str(one.metric) for one in asked], dtype=object),
        "value": d.own.value,
        "bound": d.bound,
        "difference": d.value,
        "difference_low": d.value - d.halves[0],
        "difference_high": d.value + d.halves[1],
        "n_users": np.nan_to_num(d.of.n_users),
    }
    made = as_columns(found, {**COLUMNS, "metric": pl.String})
    return pl.DataFrame([*(rows[key] for key in keys), *made])


def _judged(d: Distances) -> dict[str, Any]:
    """Return what is judged of each row: its state, its p value for all rows, and its note."""
    of, gate, n = d.of, d.gate, d.of.n_users
    each, missing = of.flags["of_each"], of.flags["missing"]
    few, wrong = (n > 0) & (n < gate.min_users), d.sign * d.value < 0
    unpaired = np.where(d.pairs, of.arrays["unpaired"], 0.0)
    selected = each & are_selected(n, unpaired)
    without = [reason_without(of.metrics[at]) is not None for at in of.rows[PLACE]]
    by_value = np.array(without, dtype=bool) & ~np.isnan(d.value)
    p_adjusted = adjusted(np.where(few, np.nan, d.p_value), method="holm")
    # all users have one value, and no end of the metric says what others could have
    constant = ~np.isfinite(of.ranges).all(axis=0) & (d.mean.error == 0) & each
    known = ~constant | (n >= FEW)
    sure = ~each | constant | (d.worst_of_more >= 0)
    alone, alpha = d.worst >= 0, 1.0 - gate.level
    fails = wrong & (by_value | (known & (p_adjusted <= alpha)))
    holds = by_value | (known & sure & alone)
    cases = [missing, few | selected, fails, holds]
    state = np.select(cases, [MISSING, OPEN, FAILS, HOLDS], OPEN)
    is_open, tests = state == OPEN, np.count_nonzero(~np.isnan(p_adjusted))
    lacks = {
        "the earlier result has no such row": d.earlier & np.isnan(of.arrays["other"]),
        "nobody has both values": d.pairs & (n == 0),
    }
    notes = {
        f"fewer than {gate.min_users} users, so not judged": few,
        "judged by its value alone": by_value,
        f"significant alone, not after correcting for {tests} tests": is_open
        & (d.p_value <= alpha),
        **of_unpaired(n, unpaired, selected),
        "compared with an interval as if of other users, so hard to show": is_open & d.earlier,
        f"fewer than {FEW_VALUES} users differ, so the interval is rough": d.pairs
        & each
        & (of.arrays["differ"] < FEW_VALUES),
        "two more users could change it": is_open & alone & ~few & ~(known & sure),
    }
    of_value = np.where(np.any([*lacks.values()], axis=0), "", notes_of(of, d.own, paired=d.pairs))
    told = zip(words(lacks, notes), of_value, strict=True)
    note = np.where(missing, _of_missing(of.rows), ["; ".join(filter(None, both)) for both in told])
    # on the right side there is nothing to test
    return {"state": state, "p_adjusted": np.where(wrong, p_adjusted, np.nan), "note": note}


def _of_missing(rows: pl.DataFrame) -> list[str]:
    """Return the notes of rows that today's result does not have."""
    found = []
    for value, n, lost in rows.select("other", "other_n", LOST).rows():
        users = "some" if n is None else f"{n:.0f}"
        note = f"in the earlier result, of {users} users, but not in today's"
        note = f"{note}: {lost}" if lost else note
        found.append("no model and no segment has a row for it" if value is None else note)
    return found


def _with_every(rows: pl.DataFrame, gate: Gate) -> pl.DataFrame:
    """Return rows with the columns `OF_EARLIER`, and those of requirements without a row, which are missing."""
    without = sorted({*range(len(gate.requirements))} - {*rows[PLACE]})
    missing = pl.DataFrame({PLACE: without}, {PLACE: pl.Int64}).with_columns(missing=True)
    return pl.concat([rows, missing, pl.DataFrame(schema=OF_EARLIER)], how="diagonal")


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
