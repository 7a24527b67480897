"""P values of means: the t test on two sides or one, and tests against a margin.

Arrays broadcast. NaN stands for null and comes back as NaN: a difference of one user (no freedom, no standard error) has no p
value. Direction is the caller's: for a metric whose lower values are better, the difference is negated before.
"""

from __future__ import annotations

from recframe.uncertainty.arrays import Given, Numbers, np, numbers, ratio, special


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


def p_not_worse(difference: Given, standard_error: Given, freedom: Given, margin: Given) -> Numbers:
    """Return the p value of "not worse by the margin or more": of the null difference <= -margin.

        margin: how much worse does not matter, at least 0, in units of the difference.

    P(T >= (difference + margin) / standard error). Without any spread it is 0 above -margin, 1 below, and 1/2 at it.
    Source: Schuirmann 1987 (one of his two sides).
    """
    return p_above(t_statistic(numbers(difference) + numbers(margin), standard_error), freedom)


def p_equivalent(
    difference: Given, standard_error: Given, freedom: Given, margin: Given
) -> Numbers:
    """Return the p value of "apart by less than the margin": the larger one of two one-sided tests (TOST).

    Shapes, nulls and source as `p_not_worse`.
    """
    not_worse = p_not_worse(difference, standard_error, freedom, margin)
    not_better = p_not_worse(-numbers(difference), standard_error, freedom, margin)
    return np.maximum(not_worse, not_better)


def t_quantile(level: Given, freedom: Given) -> Numbers:
    """Return the t that |T| stays below with the probability `level`; NaN without freedom."""
    freedom = numbers(freedom)
    below = 0.5 + numbers(level) / 2.0
    return numbers(special.stdtrit(np.where(freedom > 0, freedom, np.nan), below))
