"""Gates: tests of requirements, and the state of each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from recframe.errors import DataError
from recframe.frames.dtypes import as_text
from recframe.frames.roles import listed
from recframe.metrics.language.definition import Metric
from recframe.statistics.arrays import Flags, Numbers, np, numbers, ratio
from recframe.statistics.comparison import are_selected, of_unpaired
from recframe.statistics.estimates import (
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
from recframe.statistics.sums import MODEL, PLACE, ROUNDING


class Distance(NamedTuple):
    """Difference of each row's value to its bound, with its interval, and its error and freedom where the bound is just met."""

    bound: Numbers
    value: Numbers
    low: Numbers
    high: Numbers
    error: Numbers
    freedom: Numbers


@dataclass(frozen=True)
class Rows:
    """Sums of a gate's rows, and what is required of each: a number, a share of an earlier value or of another model's."""

    of: Sums
    gate: Gate
    sign: Numbers
    """-1 where a value should be low, else 1."""
    factor: Numbers
    """The number, or the factor of the other value."""
    number: Flags
    earlier: Flags

    @property
    def pairs(self) -> Flags:
        """Whether a row is about pairs of values of a user."""
        found: Flags = ~self.number & ~self.earlier
        return found

    def to_number(self) -> Distance:
        """Return the distances to numbers; the error of a share is Wilson's, of as many users as its own error speaks of."""
        of, bound, own = self.of, self.factor, of_mean(self.of.moments, 0.0)
        at_bound, spread = (np.maximum(one * (1.0 - one), 0.0) for one in (bound, own.value))
        effective = np.where(own.error > 0, ratio(spread, own.error**2), own.n)
        of_share = np.where(np.isnan(own.error), np.nan, np.sqrt(ratio(at_bound, effective)))
        error = np.where(of.flags["share"], of_share, own.error)
        low, high = interval(own, of, self.gate.level)
        return Distance(bound, own.value - bound, low - bound, high - bound, error, own.freedom)

    def to_models(self) -> Distance:
        """Return the distances to shares of other models' values: means of b - f a, with the factor f."""
        of, e = self.of, of_mean(self.of.moments, self.factor)
        half = t_quantile(self.gate.level, e.freedom) * e.error
        bound = self.factor * ratio(of.arrays["a"], of.arrays["n"])
        return Distance(bound, e.value, e.value - half, e.value + half, e.error, e.freedom)

    def to_earlier(self, units: Numbers) -> Distance:
        """Return the distances to shares of earlier values, which may be rounded to units of their last decimal.

        The ends are apart by the root of the sum of squares, as if of other users. Source: Newcombe 1998.
        """
        of, own, level = self.of, of_mean(self.of.moments, 0.0), self.gate.level
        other, other_low, other_high = (of.arrays[f"other{end}"] for end in ("", "_low", "_high"))
        low, high = interval(own, of, level)
        below = np.hypot(own.value - low, self.factor * (other_high - other))
        above = np.hypot(high - own.value, self.factor * (other - other_low))
        found, is_rounded = (
            own.value - self.factor * other,
            np.abs(np.rint(other / units) * units - other),
        )
        hidden = np.where(is_rounded <= ROUNDING, 0.5 * units * self.factor, 0.0)
        found = np.where(np.abs(found) <= hidden, 0.0, found)
        freedom = np.fmin(own.freedom, of.arrays["other_n"] - 1.0)
        error = np.where(found < 0, above, below) / t_quantile(level, freedom)
        return Distance(self.factor * other, found, found - below, found + above, error, freedom)

    def worst_of_more(self, worst: Numbers, bound: Numbers) -> Numbers:
        """Return the worst ends of these users and two more, whose values are as far apart as any can be."""
        of, factor = self.of, np.where(self.pairs, self.factor, 0.0)
        least, most = of.arrays["least"], of.arrays["most"]
        a_least, a_most = (np.where(factor > 0, one, 0.0) for one in (least, most))
        e = of_mean(of.moments, factor, ends=(least - factor * a_most, most - factor * a_least))
        half = t_quantile(self.gate.level, e.freedom) * e.error
        found = self.sign * (e.value - np.where(self.number, bound, 0.0)) - half
        return np.where(of.flags["of_each"] & ~self.earlier, found, worst)

    def p_value(self, d: Distance) -> Numbers:
        """Return the p value of each row by itself, of the difference's being on the right side.

        No p value is below 2^(1 - m), with m the units that may be on the wrong side: where equal values meet the bound, as
        those of a model that may lose 1 %, those that differ.
        """
        moments, meet = self.of.moments, self.pairs & (self.sign * (1.0 - self.factor) >= 0)
        units = np.where(meet, moments.differ, moments.effective)
        p_value = 2.0 * p_below(self.sign * t_statistic(d.value, d.error), d.freedom)
        least = least_p(np.where(self.earlier, np.inf, units))
        return np.maximum(np.minimum(p_value, 1.0), least)


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
    asked = [gate.requirements[at] for at in rows[PLACE]]
    of = _required(Sums(rows, metrics), gate, asked)
    units = numbers([10.0 ** -decimals.get(str(one.metric), np.nan) for one in asked])
    kinds = zip(of.to_number(), of.to_earlier(units), of.to_models(), strict=True)
    d = Distance(*(np.select([of.number, of.earlier], [a, b], c) for a, b, c in kinds))
    is_rounding = np.abs(d.value) <= ROUNDING * np.maximum(1.0, np.abs(d.bound))
    d = d._replace(value=np.where(is_rounding, 0.0, d.value))
    verdicts = _judged(of, d)
    found = {
        "requirement": [str(one) for one in asked],
        "metric": [str(one.metric) for one in asked],
        "k": [one.metric.k or np.nan for one in asked],
        "state": verdicts.state,
        "value": of_mean(of.of.moments, 0.0).value,
        "bound": d.bound,
        **dict(zip(("difference", "difference_low", "difference_high"), d[1:4], strict=True)),
        # on the right side there is nothing to test
        "p_adjusted": np.where(of.sign * d.value < 0, verdicts.p_adjusted, np.nan),
        "n_users": np.nan_to_num(of.of.n_users),
        "note": _notes(of, verdicts),
    }
    found |= {name: np.array(found[name], dtype=object) for name in ("requirement", "metric")}
    return pl.DataFrame([*(rows[key] for key in keys), *as_columns(found, COLUMNS | OF_METRIC)])


class Verdicts(NamedTuple):
    """State of each row, its p value by itself and for all rows, and what its note tells."""

    state: Any
    p_value: Numbers
    p_adjusted: Numbers
    few: Flags
    selected: Flags
    by_value: Flags
    unsure: Flags
    """Whether the interval alone holds, and two more users could change it."""


def _required(of: Sums, gate: Gate, asked: Sequence[Requirement]) -> Rows:
    """Return rows of sums with what is required of each."""
    signs = [1.0 if one.direction == AT_LEAST else -1.0 for one in asked]
    number = np.array([one.model is None for one in asked], dtype=bool)
    earlier = np.array([*map(gate.is_earlier, asked)], dtype=bool)
    return Rows(of, gate, numbers(signs), numbers([one.bound for one in asked]), number, earlier)


def _judged(rows: Rows, d: Distance) -> Verdicts:
    """Return what is judged of each row."""
    of, gate = rows.of, rows.gate
    each, n, n_users = of.flags["of_each"], of.arrays["n"], of.n_users
    few = (n > 0) & (np.where(each, np.nan_to_num(n_users), n) < gate.min_users)
    selected = rows.pairs & each & are_selected(n_users, of.arrays["unpaired"])
    without = [reason_without(of.metrics[at]) is not None for at in of.rows[PLACE]]
    by_value = np.array(without, dtype=bool) & ~np.isnan(d.value)
    p_value = rows.p_value(d)
    p_adjusted = adjusted(np.where(few, np.nan, p_value), method="holm")
    # all users have one value, and no end of the metric says what others could have
    constant = ~np.isfinite(of.ranges).all(axis=0) & (d.error == 0) & each & ~rows.earlier
    unknown = constant & (n < FEW)
    worst = np.where(rows.sign > 0, d.low, -d.high)
    holds = (worst >= 0) & ((rows.worst_of_more(worst, d.bound) >= 0) | constant) & ~unknown
    wrong = rows.sign * d.value < 0
    fails = wrong & (by_value | ((p_adjusted <= 1.0 - gate.level) & ~unknown))
    cases = [of.flags["missing"], few | selected, fails, holds | by_value]
    state = np.select(cases, [MISSING, OPEN, FAILS, HOLDS], OPEN)
    return Verdicts(
        state, p_value, p_adjusted, few, selected, by_value, (worst >= 0) & ~holds & ~few
    )


def _notes(rows: Rows, found: Verdicts) -> Any:
    """Return the notes of rows: on the test, and on the value's interval."""
    of, gate, is_open = rows.of, rows.gate, found.state == OPEN
    tests = np.count_nonzero(~np.isnan(found.p_adjusted))
    unpaired = np.where(rows.pairs, of.arrays["unpaired"], 0.0)
    few_differ = rows.pairs & of.flags["of_each"] & (of.arrays["differ"] < FEW_VALUES)
    alone = is_open & (found.p_value <= 1.0 - gate.level)
    lacks = {
        "the earlier result has no such row": rows.earlier & np.isnan(of.arrays["other"]),
        "nobody has both values": rows.pairs & (of.arrays["n"] == 0),
    }
    notes = {
        f"fewer than {gate.min_users} users, so not judged": found.few,
        "it has no interval, so it is judged by its value alone": found.by_value,
        f"significant alone, not after correcting for {tests} tests": alone,
        **of_unpaired(of.n_users, unpaired, found.selected),
        "compared with an interval as if of other users, so hard to show": rows.earlier,
        f"fewer than {FEW_VALUES} users differ, so the interval is rough": few_differ,
        "two more users could change it": is_open & found.unsure,
    }
    of_value = notes_of(of, of_mean(of.moments, 0.0), paired=rows.pairs)
    of_value = np.where(np.any([found.by_value, *lacks.values()], axis=0), "", of_value)
    told = ["; ".join(filter(None, one)) for one in zip(words(lacks, notes), of_value, strict=True)]
    gone = of.rows["note"].fill_null("").to_numpy().astype(str)
    return np.where(of.flags["missing"], gone, told)


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
