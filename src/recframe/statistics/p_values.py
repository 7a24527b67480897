"""P values of means: t tests, tests against a margin, corrections.

Arrays broadcast. NaN stands for null and comes back as NaN: a difference of one user (no freedom, no standard error) has no p
value. Direction is the caller's: for a metric whose lower values are better, the difference is negated before.
"""

from __future__ import annotations

from recframe.statistics.arrays import Given, Labels, Numbers, np, numbers, ratio, special


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


def adjusted(p_values: Given, *, method: str, families: Given | None = None) -> Numbers:
    """Return p values that hold for their whole family.

        p_values: one dimension; NaN is no test: it stays NaN and its family is smaller by it.
        method: "holm", "bonferroni" or "benjamini-hochberg".
        families: a label of each p value, whole numbers; None for one family.

    Of m tests, the one of the j-th smallest p: Bonferroni m p; Holm the largest of (m - i + 1) p_(i) over i <= j;
    Benjamini-Hochberg the smallest of m p_(i) / i over i >= j; none above 1. An empty family gives nothing.
    Source: Holm 1979; Benjamini and Hochberg 1995.
    """
    p_values = numbers(p_values)
    labels = labels_of(families, len(p_values))
    tests = np.flatnonzero(~np.isnan(p_values))
    order = tests[np.lexsort((p_values[tests], labels[tests]))]
    place, size = _places(labels[order])
    found = np.full(len(p_values), np.nan)
    ordered = p_values[order]
    if method == "bonferroni":
        ordered = ordered * size
    elif method == "holm":
        ordered = _largest_so_far(ordered * (size - place), place)
    else:  # in this order no p value becomes smaller by rounding
        ordered = ordered * (size / (place + 1))
        ordered = -_largest_so_far(-ordered[::-1], (size - 1 - place)[::-1])[::-1]
    found[order] = np.minimum(ordered, 1.0)
    return found


def labels_of(families: Given | None, n: int) -> Labels:
    """Return n labels of families as whole numbers, in the order of the families' own labels."""
    if families is None:
        return np.zeros(n, dtype=np.int64)
    return np.unique(np.asarray(families), return_inverse=True)[1].reshape(n).astype(np.int64)


def _places(labels: Labels) -> tuple[Labels, Labels]:
    """Return the place of each within its family, from 0, and the family's size; families lie together."""
    _, first, size = np.unique(labels, return_index=True, return_counts=True)
    return np.arange(len(labels)) - np.repeat(first, size), np.repeat(size, size)


def _largest_so_far(values: Numbers, place: Labels) -> Numbers:
    """Return the running maximum within each family, whose first has the place 0.

    NOTE: of ranks and not of values. Families are kept apart by an offset, in which small p values would be lost.
    """
    distinct, rank = np.unique(values, return_inverse=True)
    offset = np.cumsum(place == 0) * len(distinct)
    return np.asarray(distinct[np.maximum.accumulate(rank + offset) - offset], dtype=np.float64)


TOLERANCE = 1e-12
"""By so little a resampled statistic that is the observed one may be below it."""


class StepDown:
    """Westfall and Young's step-down max-t, over streamed blocks of statistics.

    A family's tests are ordered by their observed |t|. A resample counts against a test where the largest resampled |t| of
    it and of all tests with a smaller observed one reaches its own. So p values are adjusted for as many tests as there are
    left, and for their correlation. Source: Westfall and Young 1993, algorithm 2.8; Romano and Wolf 2016.

    A test without a statistic (NaN) counts in no family and has the p value NaN.
    """

    def __init__(self, observed: Given, families: Given | None = None) -> None:
        """Order the tests; `observed` are their statistics of one dimension, `families` labels, or None for one family."""
        size = np.abs(numbers(observed))
        labels = labels_of(families, len(size))
        tests = np.flatnonzero(~np.isnan(size))
        self._order = tests[np.lexsort((size[tests], labels[tests]))]
        self._bounds = size[self._order]
        self._place, self._size = _places(labels[self._order])
        self._single = np.zeros(len(self._order))
        self._stepped = np.zeros(len(self._order))
        self._of_all = len(size)
        self._seen = 0

    def add(self, resampled: Numbers) -> None:
        """Count a block, resamples x tests, of statistics under the null; those within a tolerance reach the observed.

        NaN, of a test that a resample says nothing of, counts against this test and against no other.
        """
        size = np.abs(resampled[:, self._order])
        bounds = self._bounds - TOLERANCE
        self._single += len(size) - np.count_nonzero(size < bounds, axis=0)
        starts = np.flatnonzero(self._place == 0)
        for start, end in zip(starts, starts + self._size[starts], strict=True):
            family = size[:, start:end]
            np.fmax.accumulate(family, axis=1, out=family)
        self._stepped += np.count_nonzero(size >= bounds, axis=0)
        self._seen += len(size)

    def p_values(self, *, exact: bool = False) -> Numbers:
        """Return the p value of each test by itself: (1 + count) / (1 + resamples), or count / resamples of all there are."""
        return self._in_place(self._share(self._single, exact=exact))

    def p_adjusted(self, *, exact: bool = False) -> Numbers:
        """Return the p values for the family, none below its own or that of a test with a larger statistic."""
        share = self._share(np.maximum(self._single, self._stepped), exact=exact)
        from_the_end = self._size - 1 - self._place
        return self._in_place(_largest_so_far(share[::-1], from_the_end[::-1])[::-1])

    def _share(self, counts: Numbers, *, exact: bool) -> Numbers:
        extra = 0 if exact else 1
        return (counts + extra) / (self._seen + extra)

    def _in_place(self, ordered: Numbers) -> Numbers:
        found = np.full(self._of_all, np.nan)
        found[self._order] = ordered
        return found
