"""Gates: tests of requirements, and the state of each row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    MISSING,
    OF_METRIC,
    OPEN,
    Gate,
    Requirement,
)
from recframe.statistics.stored_results import FEW, FEW_VALUES
from recframe.statistics.summary import Sums, interval, notes_of
from recframe.statistics.sums import MODEL, PLACE

ROUNDING = 1e-12
"""Tolerance within which a value meets its bound."""


def states(
    rows: pl.DataFrame,
    keys: Sequence[str],
    gate: Gate,
    metrics: Mapping[int, Metric[...]],
    decimals: Mapping[str, int],
) -> pl.DataFrame:
    """Return a row for each segment, model and requirement: the keys, and the columns of `COLUMNS` and `OF_METRIC`.

    `rows` are sums with the columns of `requirements.ROW`; `decimals` are those that some metrics are shown with.

    NOTE: a row fails by the p value for all rows, since a gate that fails wherever one of them does would find a false alarm
    among many; it holds by its own interval, since a gate holds where all of its rows do, which no number of them makes easier.
    """
    rows = _of_models(rows, gate).sort([*keys, PLACE], nulls_last=True)
    made = Gating(Sums(rows, metrics), gate, decimals)
    wrong = made.sign * made.difference < 0
    found = {
        "requirement": [str(one) for one in made.required],
        "metric": [str(one.metric) for one in made.required],
        "k": [one.metric.k or np.nan for one in made.required],
        "state": made.state,
        "value": made.value,
        "bound": made.bound,
        "difference": made.difference,
        "difference_low": made.low,
        "difference_high": made.high,
        # on the right side there is nothing to test
        "p_adjusted": np.where(wrong, made.p_adjusted, np.nan),
        "n_users": np.nan_to_num(made.of.n_users),
        "note": _notes(made),
    }
    found |= {name: np.array(found[name], dtype=object) for name in ("requirement", "metric")}
    return pl.DataFrame([*(rows[key] for key in keys), *as_columns(found, COLUMNS | OF_METRIC)])


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


@dataclass(frozen=True)
class Gating:
    """Rows of a gate: each about a number, about pairs of values of a user by two models, or about an earlier interval."""

    of: Sums
    gate: Gate
    decimals: Mapping[str, int]

    @cached_property
    def required(self) -> list[Requirement]:
        """The requirement of each row."""
        return [self.gate.requirements[place] for place in self.of.rows[PLACE]]

    def _flags(self, given: Iterable[bool]) -> Flags:
        return np.array([*given], dtype=bool)

    @cached_property
    def number(self) -> Flags:
        """Whether a row is about a number."""
        return self._flags(one.model is None for one in self.required)

    @cached_property
    def earlier(self) -> Flags:
        """Whether it is about an earlier value."""
        return self._flags(map(self.gate.is_earlier, self.required))

    @cached_property
    def pairs(self) -> Flags:
        """Whether it is about pairs of values."""
        found: Flags = ~self.number & ~self.earlier
        return found

    @cached_property
    def sign(self) -> Numbers:
        """-1 where a value should be low, else 1."""
        return np.array([1.0 if one.direction == AT_LEAST else -1.0 for one in self.required])

    @cached_property
    def factor(self) -> Numbers:
        """The number, or the factor of the other value."""
        return numbers([one.bound for one in self.required])

    @cached_property
    def missing(self) -> Flags:
        """Whether an earlier result has the row, and today's does not."""
        return self.of.flags["missing"]

    @cached_property
    def own(self) -> Estimate:
        """The model's values."""
        return of_mean(self.of.moments, 0.0)

    @cached_property
    def value(self) -> Numbers:
        """The model's value, which is known of metrics without an interval too."""
        return self.own.value

    @cached_property
    def gap(self) -> Estimate:
        """The mean of b - f a of pairs, with the factor f; of others the value."""
        return of_mean(self.of.moments, np.where(self.pairs, self.factor, 0.0))

    @cached_property
    def bound(self) -> Numbers:
        """The number, or the other value times its factor."""
        a = ratio(self.of.arrays["a"], self.of.arrays["n"])
        other = np.where(self.earlier, self.of.arrays["other"], a)
        return np.where(self.number, self.factor, self.factor * other)

    @cached_property
    def difference(self) -> Numbers:
        """The value less the bound; 0 where rounding alone parts them.

        That of earlier numbers hides half a unit of the last decimal that they are shown with, times the factor.
        """
        other = self.of.arrays["other"]
        units = [10.0 ** -self.decimals.get(str(one.metric), np.nan) for one in self.required]
        is_rounded = np.abs(np.rint(other / units) * units - other) <= ROUNDING
        slack = np.where(self.earlier & is_rounded, 0.5 * numbers(units) * self.factor, 0.0)
        found = np.where(self.pairs, self.gap.value, self.value - self.bound)
        hidden = np.maximum(ROUNDING * np.maximum(1.0, np.abs(self.bound)), np.nan_to_num(slack))
        return np.where(np.abs(found) <= hidden, 0.0, found)

    @cached_property
    def ends(self) -> tuple[Numbers, Numbers]:
        """The interval of the difference: that of a number is the value's, and of an earlier value Newcombe's.

        Source: Newcombe 1998 (the ends are apart by the root of the sum of squares).
        """
        low, high = interval(self.own, self.of, self.gate.level)
        other, other_low, other_high = (
            self.of.arrays[f"other{end}"] for end in ("", "_low", "_high")
        )
        below = np.hypot(self.value - low, self.factor * (other_high - other))
        above = np.hypot(high - self.value, self.factor * (other - other_low))
        half = t_quantile(self.gate.level, self.gap.freedom) * self.gap.error
        ends = []
        for end, off, sign in ((low, below, -1.0), (high, above, 1.0)):
            of_others = self.difference + sign * np.where(self.earlier, off, half)
            ends.append(np.where(self.number, end - self.bound, of_others))
        return ends[0], ends[1]

    @property
    def low(self) -> Numbers:
        """The lower end of the difference."""
        return self.ends[0]

    @property
    def high(self) -> Numbers:
        """The upper end of the difference."""
        return self.ends[1]

    @cached_property
    def worst(self) -> Numbers:
        """The end on the wrong side, turned so that it is below 0 there."""
        return np.where(self.sign > 0, self.low, -self.high)

    @cached_property
    def worst_of_more(self) -> Numbers:
        """The same of these users and two more, whose values are as far apart as any can be."""
        least, most = self.of.arrays["least"], self.of.arrays["most"]
        factor = np.where(self.pairs, self.factor, 0.0)
        none = np.where(self.earlier, np.nan, 0.0)
        lowest, highest = (np.where(factor > 0, one, 0.0) for one in (least, most))
        ends = (least - factor * highest + none, most - factor * lowest + none)
        e = of_mean(self.of.moments, factor, ends=ends)
        found = e.value - np.where(self.number, self.bound, 0.0)
        found = np.where(self.earlier, self.difference, found)
        half = np.where(self.earlier, 0.0, t_quantile(self.gate.level, e.freedom) * e.error)
        worst: Numbers = self.sign * found - half
        return np.where(self.of.flags["of_each"], worst, self.worst)

    @cached_property
    def is_constant(self) -> Flags:
        """Whether all users have one value, and the metric lacks an end that others could have."""
        lacks = [not np.isfinite(one.metric.range).all() for one in self.required]
        without = (self.gap.error == 0) & self.of.flags["of_each"] & ~self.earlier
        found: Flags = self._flags(lacks) & without
        return found

    @cached_property
    def is_unknown(self) -> Flags:
        """Whether one value of few users says nothing of others; a convention, since no end bounds these."""
        found: Flags = self.is_constant & (self.of.arrays["n"] < FEW)
        return found

    @cached_property
    def few(self) -> Flags:
        """Whether there are fewer users, or clusters, than a row needs to be tested."""
        n = self.of.arrays["n"]
        units = np.where(self.of.flags["of_each"], np.nan_to_num(self.of.n_users), n)
        found: Flags = (n > 0) & (units < self.gate.min_users)
        return found

    @cached_property
    def selected(self) -> Flags:
        """Whether users with both values are a biased selection."""
        selected = are_selected(self.of.n_users, self.of.arrays["unpaired"])
        found: Flags = self.pairs & self.of.flags["of_each"] & selected
        return found

    @cached_property
    def by_value(self) -> Flags:
        """Whether a metric without an interval is judged by its value alone."""
        without = [reason_without(one.metric) is not None for one in self.required]
        found: Flags = self._flags(without) & ~np.isnan(self.difference)
        return found

    @cached_property
    def p_value(self) -> Numbers:
        """The p value of each row by itself, of the difference's being on the right side; below 1 on the wrong side alone."""
        error, freedom = self._error
        p_value = 2.0 * p_below(self.sign * t_statistic(self.difference, error), freedom)
        return np.maximum(np.minimum(p_value, 1.0), least_p(self._off_the_bound))

    @cached_property
    def p_adjusted(self) -> Numbers:
        """The p values for all rows together."""
        return adjusted(np.where(self.few, np.nan, self.p_value), method="holm")

    @cached_property
    def _off_the_bound(self) -> Numbers:
        """The number of users or clusters possibly on the wrong side of the bound: all, or those that differ.

        Where equal values meet the bound, as those of a model that may lose 1 %, nobody with equal values is on the wrong side.
        """
        meet = self.pairs & (self.sign * (1.0 - self.factor) >= 0)
        moments = self.of.moments
        found = np.where(meet, moments.differ, moments.effective)
        return np.where(self.earlier, np.inf, found)

    @cached_property
    def _error(self) -> tuple[Numbers, Numbers]:
        """The standard error of the difference and its freedom, if the bound is just met.

        Of a share it is that of Wilson: the variance at the bound for as many users as the variance at the value speaks of.
        With an earlier interval it is the half of the interval on the side of the bound, over its quantile.
        """
        own, bound, level = self.own, self.bound, self.gate.level
        at_bound = np.maximum(bound * (1.0 - bound), 0.0)
        spread = np.maximum(own.value * (1.0 - own.value), 0.0)
        effective = np.where(own.error > 0, ratio(spread, own.error**2), own.n)
        of_share = np.where(np.isnan(own.error), np.nan, np.sqrt(ratio(at_bound, effective)))
        of_number = np.where(self.of.flags["share"], of_share, own.error)
        freedom = np.where(
            self.earlier, np.fmin(own.freedom, self.of.arrays["other_n"] - 1.0), self.gap.freedom
        )
        difference, (low, high) = self.difference, self.ends
        half = np.where(difference < 0, high - difference, difference - low)
        of_others = np.where(self.earlier, half / t_quantile(level, freedom), self.gap.error)
        return np.where(self.number, of_number, of_others), freedom

    @cached_property
    def state(self) -> Any:
        """Whether each row holds, fails, is open or missing."""
        wrong = self.sign * self.difference < 0
        of_more = (self.worst_of_more >= 0) | self.is_constant
        holds = (self.worst >= 0) & of_more & ~self.is_unknown
        shown_worse = wrong & (self.p_adjusted <= 1.0 - self.gate.level) & ~self.is_unknown
        return np.select(
            [
                *(self.missing, self.few | self.selected, self.by_value & wrong, self.by_value),
                *(shown_worse, holds),
            ],
            [MISSING, OPEN, FAILS, HOLDS, FAILS, HOLDS],
            OPEN,
        )


def _notes(made: Gating) -> Any:
    """Return the notes of rows: on the test, and on the value's interval."""
    of, gate, is_open = made.of, made.gate, made.state == OPEN
    tests = int(np.count_nonzero(~np.isnan(made.p_adjusted)))
    each = of.flags["of_each"]
    lacks = {
        "the earlier result has no such row": made.earlier & np.isnan(of.arrays["other"]),
        "nobody has both values": made.pairs & (of.arrays["n"] == 0),
    }
    unpaired = np.where(made.pairs, of.arrays["unpaired"], 0.0)
    notes = {
        f"fewer than {gate.min_users} users, so not judged": made.few,
        "it has no interval, so it is judged by its value alone": made.by_value,
        f"significant alone, not after correcting for {tests} tests": is_open
        & (made.p_value <= 1.0 - gate.level),
        **of_unpaired(of.n_users, unpaired, made.selected),
        "compared with an interval as if of other users, so hard to show": made.earlier,
        f"fewer than {FEW_VALUES} users differ, so the interval is rough": made.pairs
        & each
        & (of.arrays["differ"] < FEW_VALUES),
        "two more users could change it": is_open
        & (made.worst >= 0)
        & ((made.worst_of_more < 0) | made.is_unknown)
        & ~made.few,
    }
    own, on_value = words(lacks, notes), notes_of(of, made.own, paired=made.pairs)
    lacking = np.any([*lacks.values()], axis=0)
    on_value = np.where(made.by_value | lacking, "", on_value)
    between = np.where((own != "") & (on_value != ""), "; ", "")
    both = np.char.add(np.char.add(own.astype(str), between), on_value.astype(str))
    given = of.rows["note"].fill_null("").to_numpy().astype(str)
    return np.where(made.missing, given, both)
