"""Repeated looks at a test: confidence sequences beside Student's t.

A confidence sequence holds at all numbers of users together, so that one may look each week and stop at will. Its interval is
mean ± z · se with z² = (1 + x) / x · (log(1 + x) - 2 log(1 - level)). x grows with the users, and z is the smallest at 1,000.
It comes from a mixture of normal distributions, and holds as t does: with users enough for their standard error.

Source: Robbins 1970; Waudby-Smith et al. 2024, Time-uniform central limit theory and asymptotic confidence sequences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from recframe.errors import RecframeError
from recframe.frames.hints import Given
from recframe.metrics.language.definition import Metric
from recframe.statistics import p_values
from recframe.statistics.arrays import Given as Array
from recframe.statistics.arrays import Numbers, np, numbers, ratio, special

TIGHTEST = 1_000.0
"""Users, or clusters of one size, with whom an interval of 95 % is 1.55 times as wide as that of one look, the least there is.

With 300 users it is 1.6 times as wide, with 100 2.0, with 10,000 1.7 and with a million 2.0. NOTE: it depends on no data,
since then looks would not be paid for, and on no level, so that an interval leaves 0 out where p is at most 1 - level.
"""
_LEAST = -float(special.lambertw(-(0.05**2) / np.e, -1).real) - 1.0
"""The x of which z is the smallest at 95 %: x = log(1 + x) - 2 log .05."""


class Law(NamedTuple):
    """Quantile and p values of a mean over its standard error, by degrees of freedom."""

    quantile: Callable[[Array, Array], Numbers]
    p_two_sided: Callable[[Array, Array], Numbers]
    p_above: Callable[[Array, Array], Numbers]
    p_below: Callable[[Array, Array], Numbers]


def _strength(freedom: Array) -> Numbers:
    """Return x of n users, one more than the degrees of freedom."""
    return (numbers(freedom) + 1.0) * (_LEAST / TIGHTEST)


def quantile(level: Array, freedom: Array) -> Numbers:
    """Return the |z| that stays below at all numbers of users together with the probability `level`."""
    x = _strength(freedom)
    squared = (1.0 + 1.0 / x) * (np.log1p(x) - 2.0 * np.log1p(-numbers(level)))
    return numbers(np.sqrt(squared))


def p_two_sided(z: Array, freedom: Array) -> Numbers:
    """Return 1 / M, at most 1, of the mixture M = exp(y² / 2) / √(1 + x) with y² = z² x / (1 + x).

    If the mean is 0, the chance that it is ever as small as some p is at most p.
    """
    x = _strength(freedom)
    grown = numbers(np.exp(-0.5 * numbers(z) ** 2 * x / (1.0 + x)))
    return np.minimum(np.sqrt(1.0 + x) * grown, 1.0)


def p_above(z: Array, freedom: Array) -> Numbers:
    """Return the p value of the alternative that the mean is above 0, of the half of the mixture that is above.

    That is 2 Φ(y) exp(y² / 2) / √(1 + x), with Φ of the normal distribution.
    """
    x = _strength(freedom)
    above = special.erfcx(-numbers(z) * np.sqrt(0.5 * x / (1.0 + x)))
    return np.minimum(ratio(np.sqrt(1.0 + x), above), 1.0)


def p_below(z: Array, freedom: Array) -> Numbers:
    """Return the p value of the alternative that the mean is below 0."""
    return p_above(-numbers(z), freedom)


ONE_LOOK = Law(p_values.t_quantile, p_values.p_two_sided, p_values.p_above, p_values.p_below)
"""Student's t, for a single look."""
ANY_LOOK = Law(quantile, p_two_sided, p_above, p_below)


def check(test: str, correction: str | None, metrics: Sequence[Metric[...]]) -> None:
    """Reject options that need a single look."""
    looks = Given("looks", "any")
    if test != "t":
        msg = f"{looks} has its own p values, and takes no {Given('test', test)}; leave that out"
        raise RecframeError(msg)
    if correction == "max_t":
        instead = Given("correction", "holm")
        msg = f"{looks} has its own p values, which {Given('correction', correction)} does not; write {instead}"
        raise RecframeError(msg)
    for metric in metrics:
        if metric.definition.grows:
            msg = (
                f"{looks} takes no {metric.name!r}, which grows with the number of users, so each look has another true "
                f"value; without {looks} it is compared once"
            )
            raise RecframeError(msg)
