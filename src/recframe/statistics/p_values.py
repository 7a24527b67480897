"""P values of means: t tests, tests against a margin, corrections.

Arrays broadcast. NaN stands for null and comes back as NaN: a difference of one user (no freedom, no standard error) has no p
value. Direction is the caller's: for a metric whose lower values are better, the difference is negated before.
"""

from __future__ import annotations

from recframe.statistics.arrays import Given, Numbers, np, numbers, ratio, special


def t_statistic(difference: Given, standard_error: Given) -> Numbers:
    """Return difference / standard error; 0 where both are 0, infinite where the standard error alone is.

    So identical systems have t = 0 and p = 1, and a constant difference has p = 0.
    """
    difference, standard_error = np.broadcast_arrays(numbers(difference), numbers(standard_error))
    return np.where(
        (difference == 0) & (standard_error == 0), 0.0, ratio(difference, standard_error)
    )


def p_two_sided(t: Given, freedom: Given) -> Numbers:
    """Return P(|T| >= |t|) of Student's t with so many degrees of freedom: 2 F(-|t|).

        t, freedom: of any shapes that broadcast; infinite freedom is the normal distribution.

    NaN where t is NaN or the freedom is not above 0. Source: Student 1908.
    """
    return 2.0 * p_below(-np.abs(numbers(t)), freedom)


def p_above(t: Given, freedom: Given) -> Numbers:
    """Return P(T >= t), the p value of the alternative that the mean is above; shapes and nulls as `p_two_sided`."""
    return p_below(-numbers(t), freedom)


def p_below(t: Given, freedom: Given) -> Numbers:
    """Return P(T <= t), the p value of the alternative that the mean is below; shapes and nulls as `p_two_sided`."""
    freedom = numbers(freedom)
    # scipy has the normal distribution for infinite freedom, and NaN for none
    return numbers(special.stdtr(np.where(freedom > 0, freedom, np.nan), numbers(t)))


def least_p(differ: Given) -> Numbers:
    """Return the smallest two-sided p value possible with so many users, or clusters, that differ.

    That of the test of all flips of signs: 2 of the 2^m ways in which m signs fall are as far from 0 as any, so 2^(1 - m).
    Source: Fisher 1935.
    """
    return np.minimum(2.0 ** (1.0 - numbers(differ)), 1.0)


def t_quantile(level: Given, freedom: Given) -> Numbers:
    """Return the t that |T| stays below with the probability `level`; NaN without freedom."""
    freedom = numbers(freedom)
    below = 0.5 + numbers(level) / 2.0
    return numbers(special.stdtrit(np.where(freedom > 0, freedom, np.nan), below))


def level_of_all(level: float, n: int) -> float:
    """Return the level at which each of n intervals holds by itself, where all hold at `level`: level^(1 / n).

    For normal or t variables with any correlation. Source: Sidak 1967.
    """
    return float(level ** (1.0 / max(n, 1)))


def simultaneous_interval(
    estimates: Given, standard_errors: Given, *, freedom: Given, level: float
) -> tuple[Numbers, Numbers]:
    """Return the lower and upper bounds of estimates, such as slices against the rest, that all hold at once.

        estimates, standard_errors, freedom: of one shape, or of shapes that broadcast; NaN where there is none.

    x +- t se, with t at `level_of_all` for as many as have a standard error.
    """
    estimates, standard_errors = numbers(estimates), numbers(standard_errors)
    n = int(np.count_nonzero(~np.isnan(estimates + standard_errors)))
    half = t_quantile(level_of_all(level, n), freedom) * standard_errors
    return estimates - half, estimates + half


def adjusted(p_values: Given, *, method: str) -> Numbers:
    """Return p values that hold for all of them together.

        p_values: one dimension; NaN is no test: it stays NaN and counts in no number of tests.
        method: "holm" or "benjamini-hochberg".

    Of m tests, the one of the j-th smallest p: Holm the largest of (m - i + 1) p_(i) over i <= j; Benjamini-Hochberg the
    smallest of m p_(i) / i over i >= j; none above 1. Source: Holm 1979; Benjamini and Hochberg 1995.
    """
    p_values = numbers(p_values)
    found = np.full(len(p_values), np.nan)
    size = np.count_nonzero(~np.isnan(p_values))
    # NaN comes last
    order = np.argsort(p_values, kind="stable")[:size]
    ordered, place = p_values[order], np.arange(size)
    if method == "holm":
        ordered = np.maximum.accumulate(ordered * (size - place))
    else:  # in this order no p value becomes smaller by rounding
        ordered = ordered * (size / (place + 1))
        ordered = np.minimum.accumulate(ordered[::-1])[::-1]
    found[order] = np.minimum(ordered, 1.0)
    return found
