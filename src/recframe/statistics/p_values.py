"""P values and quantiles of means: Student's t by SciPy, and corrections for many tests.

Arrays broadcast. NaN stands for null and comes back as NaN.
"""

from __future__ import annotations

from recframe.statistics.arrays import Given, Numbers, np, numbers, ratio, special


def adjusted(p_values: Given, *, method: str) -> Numbers:
    """Return p values that hold for all of them together; NaN is no test, and stays NaN.

    Of m tests, the one of the j-th smallest p: Holm the largest of (m - i + 1) p_(i) over i <= j; Benjamini-Hochberg the
    smallest of m p_(i) / i over i >= j; none above 1.
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


def t_statistic(difference: Given, error: Given) -> Numbers:
    """Return difference / error; 0 where both are 0, infinite where the error alone is."""
    difference, error = np.broadcast_arrays(numbers(difference), numbers(error))
    return np.where((difference == 0) & (error == 0), 0.0, ratio(difference, error))


def p_two_sided(t: Given, freedom: Given) -> Numbers:
    """Return P(|T| >= |t|) of Student's t; NaN without freedom."""
    return 2.0 * p_below(-np.abs(numbers(t)), freedom)


def p_below(t: Given, freedom: Given) -> Numbers:
    """Return P(T <= t) of Student's t; NaN without freedom."""
    freedom = numbers(freedom)
    # SciPy has the normal distribution for infinite freedom
    return numbers(special.stdtr(np.where(freedom > 0, freedom, np.nan), numbers(t)))


def least_p(differ: Given) -> Numbers:
    """Return the smallest two-sided p value possible with so many users, or clusters, that differ: 2^(1 - m)."""
    return np.minimum(2.0 ** (1.0 - numbers(differ)), 1.0)


def t_quantile(level: Given, freedom: Given) -> Numbers:
    """Return the t that |T| stays below with the probability `level`; NaN without freedom."""
    freedom, below = numbers(freedom), 0.5 + numbers(level) / 2.0
    return numbers(special.stdtrit(np.where(freedom > 0, freedom, np.nan), below))
