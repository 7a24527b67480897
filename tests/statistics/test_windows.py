"""What the runs before a run predict: the numbers of the plain definition, and false alarms as seldom as promised."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from plain_windows import bands
from recframe.statistics.prediction import Series, half_width, least, squared_error

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import changes_in_trials as trials  # noqa: E402

STORED = BENCHMARKS / "changes_in_trials.json"


def judged(values: np.ndarray, window: int, errors: np.ndarray | None = None):
    own = np.full(values.shape, np.nan) if errors is None else errors**2
    found = Series(values, own, window).windows
    return found, np.sqrt(squared_error(found, np.nan_to_num(own)))


@pytest.mark.parametrize("window", [5, 7, 14])
@pytest.mark.parametrize("with_errors", [False, True])
def test_windows_are_those_of_the_plain_definition(window, with_errors):
    random = np.random.default_rng(window)
    values = random.normal(0.3, 0.01, (40, 6))
    # days that are far off, a new level, one that wanders, and one that hardly varies
    values[20, 1] += 0.2
    values[22:, 2] -= 0.2
    values[:, 3] += np.cumsum(random.normal(0, 0.01, 40))
    values[:, 4] = 0.3 + 1e-5 * values[:, 4]
    errors = random.uniform(0.001, 0.03, values.shape) if with_errors else None

    found, error = judged(values, window, errors)

    for series in range(values.shape[1]):
        own = None if errors is None else errors[:, series].tolist()
        for place, one in enumerate(bands(values[:, series].tolist(), window, own)):
            assert found.n[place, series] == one.n
            if one.expected is None:
                assert np.isnan(found.mean[place, series])
                continue
            assert found.mean[place, series] == pytest.approx(one.expected, abs=1e-12)
            assert error[place, series] == pytest.approx(one.error, rel=1e-9)


def test_a_broken_day_is_left_out_and_a_new_level_is_one_when_most_runs_have_it():
    random = np.random.default_rng(0)
    values = random.normal(0.3, 0.001, (40, 1))
    values[20] -= 0.1
    values[25:] += 0.1
    found, _ = judged(values, 10)

    # the run behind the broken one has nine runs, and expects what was before
    assert found.n[21, 0] == 9
    assert found.mean[21, 0] == pytest.approx(0.3, abs=0.001)
    # of the new level, runs are left out as long as five others are there
    assert found.n[29, 0] == 5
    assert found.mean[29, 0] == pytest.approx(0.3, abs=0.001)
    assert found.n[30, 0] == 10
    assert found.mean[35, 0] == pytest.approx(0.4, abs=0.001)


def test_runs_of_few_users_have_wider_bands():
    values = np.array([0.30, 0.31, 0.29, 0.30, 0.31, 0.30, 0.29, 0.25])[:, None]
    errors = np.full(values.shape, 0.002)
    _, as_before = judged(values, 7, errors)
    errors[-1] = 0.02
    _, of_few = judged(values, 7, errors)

    # of 0, 1, -1, 0, 1, 0, -1 hundredths about their mean: four squares of 1e-4 over six
    squared = 4e-4 / 6 * (1 + 1 / 7)
    assert as_before[-1, 0] ** 2 == pytest.approx(squared, rel=1e-9)
    assert of_few[-1, 0] ** 2 == pytest.approx(squared + 0.02**2 - 0.002**2, rel=1e-9)


def test_shares_that_never_varied_have_bands_of_their_users():
    # nobody of 50 had a hit so far, and today one has: that is no change, though the runs before never varied
    values = np.zeros((10, 1))
    values[-1] = 1 / 50
    errors = np.full(values.shape, 0.018)
    _, error = judged(values, 7, errors)

    assert error[-1, 0] == pytest.approx((0.018**2 * (1 + 1 / 7)) ** 0.5)
    n, one = np.array([7]), np.array([1])
    assert half_width(error[-1] ** 2, n, 0.99, one)[0] > 1 / 50


def test_rounding_is_no_change():
    values = np.full((12, 1), 0.1 + 0.2)
    values[-1] = 0.3
    found, error = judged(values, 7)

    assert error[-1, 0] == 0
    assert least(7) == 4
    assert found.n[-1, 0] == 7


@pytest.mark.parametrize("window", trials.WINDOWS)
@pytest.mark.parametrize("level", trials.LEVELS)
def test_independent_runs_raise_false_alarms_as_seldom_as_promised(window, level):
    random = np.random.default_rng(window)
    # one run of each series, so that they are independent of each other
    runs = trials.independent(random, 2 * window + 1, 4_000, 1)
    n = int(trials.flagged(runs, window, level)[-1].sum())

    assert stats.binomtest(n, 4_000, 1 - level, alternative="greater").pvalue > 1e-4


@pytest.mark.parametrize("kind", ["hanging together, AR(1) of .8", "a level that wanders"])
def test_runs_that_hang_together_raise_few_more(kind):
    runs = trials.KINDS[kind](np.random.default_rng(1), 29, 4_000, 1)
    n = int(trials.flagged(runs, 14, 0.99)[-1].sum())

    assert stats.binomtest(n, 4_000, 0.0125, alternative="greater").pvalue > 1e-4


def test_the_stored_trials_keep_what_the_docstring_says():
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    rows = stored["false_alarms"]
    at = [row for row in rows if row["level"] == 0.99]
    usual = [row for row in at if row["numbers"] == 1 and "heavy" not in row["runs"]]
    heavy = [row["flagged"] for row in at if "heavy" in row["runs"]]

    assert max(row["flagged"] for row in usual) < 0.0115
    assert max(row["flagged at first"] for row in usual) < 0.025
    assert 0.02 < min(heavy) < max(heavy) < 0.08
    wanted = {"window": 14, "numbers": 1, "level": 0.99}
    found = {row["drop"]: row["found"] for row in stored["drops"] if wanted.items() <= row.items()}
    assert {drop: round(100 * share) for drop, share in found.items()} == {2: 18, 3: 46, 5: 94}
