"""Looks as often as one likes: the mixture worked out by integration, what is refused, and trials of twelve weekly looks."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import integrate, optimize, stats

import recframe as rf
from recframe.statistics import looks

ALPHA = 0.05


def width(variance, n):
    """Return the reach of the sequence of Waudby-Smith et al. 2024, in standard errors, with a mixture of a variance."""
    one = n * variance + 1
    return np.sqrt(2 * one / (n * variance) * np.log(np.sqrt(one) / ALPHA))


def tightest():
    """Return the variance of the mixture that is the tightest at 1,000 users."""
    found = optimize.minimize_scalar(
        lambda log: width(np.exp(log), 1_000), bounds=(-12, 0), options={"xatol": 1e-10}
    )
    return np.exp(found.x)


@pytest.mark.parametrize("n", [20, 1_000, 30_000])
def test_p_values_are_those_of_the_mixture(n):
    spread = np.sqrt(tightest())

    for z in (-1.5, 0.3, 2.2, 4.0):
        # exp(λ S - λ² V / 2) of the sum S and the variance V of n values whose standard deviation is 1, over λ
        def grown(one, z=z):
            return np.exp(one * z * np.sqrt(n) - one**2 * n / 2) * stats.norm.pdf(one, 0, spread)

        below, above = (
            2 * integrate.quad(grown, *ends, points=[z / np.sqrt(n)], limit=500)[0]
            for ends in ((-9 * spread, 0), (0, 9 * spread))
        )
        expected = [min(1, 1 / one) for one in ((below + above) / 2, above, below)]
        functions = (looks.p_two_sided, looks.p_above, looks.p_below)
        assert [float(one(z, n - 1)) for one in functions] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("n", [10, 1_000, 1e6])
def test_an_interval_reaches_as_far_as_p_values_are_above_its_level(n):
    reach = looks.quantile(1 - ALPHA, n - 1)

    assert reach == pytest.approx(width(tightest(), n), rel=1e-6)
    for level in (0.5, 0.95, 0.999):
        reach = looks.quantile(level, n - 1)
        assert looks.p_two_sided(reach, n - 1) == pytest.approx(1 - level, rel=1e-9)
        # one side, at half of it, is as sure to a hundredth
        assert looks.p_above(reach, n - 1) == pytest.approx((1 - level) / 2, rel=0.35 * (1 - level))


def test_what_has_no_spread_or_no_freedom_is_told_apart():
    z, freedom = [np.inf, -np.inf, 0.0, 90.0, np.nan, 1.0], [9, 9, 9, 9, 9, np.nan]

    assert looks.p_two_sided(z, freedom).tolist() == pytest.approx(
        [0, 0, 1, 0, np.nan, np.nan], nan_ok=True
    )
    assert looks.p_above(z, freedom).tolist() == pytest.approx(
        [0, 1, 1, 0, np.nan, np.nan], nan_ok=True
    )


WEEKS, SAMPLES, USERS = 12, 300, 60


def told_apart(lift, **how):
    """Return in which samples, users so far by week, some look says that two models differ, and the last look."""
    random, n = np.random.default_rng(33), WEEKS * SAMPLES * USERS
    users = pl.DataFrame(
        {
            "user": np.arange(n),
            "sample": np.arange(n) % SAMPLES,
            "week": np.arange(n) // (SAMPLES * USERS),
        }
    )
    truth = users.select("user", "week", item=1)
    models = {
        name: truth.select("user", "item", rank=pl.Series(random.geometric(chance, n)))
        for name, chance in (("a", 0.3), ("b", 0.3 + lift))
    }
    found = []
    for week in range(WEEKS):
        so_far = truth.filter(pl.col("week") <= week).drop("week")
        rec = rf.rec(models, truth=so_far, users=users.drop("week"))
        rows = rec.compare("mrr@10", baseline="a", by="sample", correction=None, **how, wide=True)
        found.append(rows.sort("sample"))
    return np.array([(one["verdict"] != "open").to_numpy() for one in found]), found


@pytest.mark.slow
def test_twelve_looks_err_as_seldom_as_one_is_said_to_where_students_do_not():
    by_t, _ = told_apart(0.0)
    told, _ = told_apart(0.0, looks="any")

    assert by_t.any(axis=0).mean() > 0.12
    # at most 6 of 100, which 300 samples show with 29 or fewer
    assert told.any(axis=0).sum() <= stats.binom.isf(1e-3, SAMPLES, ALPHA + 0.01)
    assert told.any(axis=0).mean() <= ALPHA


def test_what_is_better_is_found_by_some_look_and_stays_in_the_interval():
    told, rows = told_apart(0.06, looks="any")
    last = rows[-1]
    truth = float(last["difference"].mean())
    error = float(last["difference"].std())
    n = WEEKS * USERS

    # the last look alone finds it where z is beyond its reach
    assert told.any(axis=0).mean() > stats.norm.sf(width(tightest(), n) - truth / error) - 0.08
    assert set(pl.concat(rows)["verdict"]) <= {"better", "open"}
    covered = [
        ((one["difference_low"] <= truth) & (one["difference_high"] >= truth)).to_numpy()
        for one in rows
    ]
    assert np.all(covered, axis=0).mean() >= 1 - ALPHA


def test_corrections_margins_and_clusters_take_the_p_values_of_all_looks():
    random, n = np.random.default_rng(1), 400
    truth = pl.DataFrame({"user": np.arange(n), "item": 1})
    ranks = {name: random.geometric(chance, n) for name, chance in (("a", 0.25), ("b", 0.4))}
    models = {name: truth.with_columns(rank=pl.Series(one)) for name, one in ranks.items()}
    people = truth.select("user", home=pl.col("user") // 2, side=pl.col("user") % 2)
    rec = rf.rec(models, truth=truth, users=people)
    hits = {name: 1 / one * (one <= 10) for name, one in ranks.items()}

    row = rec.compare("mrr@10", margin=0.01, looks="any", wide=True).row(0, named=True)
    homes = rec.compare("mrr@10", cluster="home", looks="any", wide=True).row(0, named=True)
    parts = rec.compare("mrr@10", by="side", looks="any", wide=True)

    d = hits["b"] - hits["a"]
    error = d.std(ddof=1) / np.sqrt(n)
    reach = width(tightest(), n)
    ends = [d.mean() - reach * error, d.mean() + reach * error]
    assert [row["difference_low"], row["difference_high"]] == pytest.approx(ends, rel=1e-6)
    assert row["p_value"] == pytest.approx(float(looks.p_two_sided(d.mean() / error, n - 1)))
    # the shares of the baseline that the same sequence leaves open
    shares = np.array([[row["relative_low"]], [row["relative_high"]]])
    rest = d - shares * hits["a"]
    z = rest.mean(axis=1) / (rest.std(axis=1, ddof=1) / np.sqrt(n))
    assert z == pytest.approx([reach, -reach], rel=1e-6)
    # b - .99 a, and two users more at its ends
    gap = np.append(hits["b"] - 0.99 * hits["a"], [-0.99, 1.0])
    z = gap.mean() / (gap.std(ddof=1) / np.sqrt(n + 2))
    assert row["p_not_worse"] == pytest.approx(float(looks.p_above(z, n + 1)))
    # homes of two each: n of them, by the means
    means = d.reshape(-1, 2).mean(axis=1)
    error, n_homes = means.std(ddof=1) / np.sqrt(n / 2), n // 2
    reach = width(tightest(), n_homes)
    assert homes["difference_high"] == pytest.approx(means.mean() + reach * error, rel=1e-6)
    small = parts["p_value"].sort()
    assert parts["p_adjusted"].sort()[0] == pytest.approx(min(1, 2 * small[0]))


REFUSED = [
    (
        "looks='any' has its own p values, and takes no test='permutation'; leave that out",
        {"test": "permutation"},
    ),
    (
        "looks='any' has its own p values, and takes no test='bootstrap'; leave that out",
        {"test": "bootstrap"},
    ),
    (
        "looks='any' has its own p values, which correction='max_t' does not; write correction='holm'",
        {"correction": "max_t"},
    ),
    ("looks='weekly': looks takes 'any' or None", {"looks": "weekly"}),
]


@pytest.mark.parametrize(("said", "how"), REFUSED)
def test_what_goes_with_one_look_alone_is_refused_in_words(said, how):
    truth = pl.DataFrame({"user": range(9), "item": 1})
    rec = rf.rec({"a": truth.with_columns(rank=1), "b": truth.with_columns(rank=2)}, truth=truth)

    with pytest.raises(rf.RecframeError) as told:
        rec.compare("mrr", **({"looks": "any"} | how), wide=True)
    assert str(told.value) == said
    with pytest.raises(rf.RecframeError, match="looks='any' takes no 'gini', which grows with"):
        rec.compare("mrr", "gini", looks="any", wide=True)
