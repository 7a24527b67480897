"""How often `rf.changes` flags runs where nothing changed, and how often it finds a drop: a table of trials.

    python tests/benchmarks/changes_in_trials.py --json tests/benchmarks/changes_in_trials.json

It needs the `[stats]` extra. Runs are simulated, with a standard deviation of 1 from run to run unless a row says otherwise:
independent, hanging together, with a weekly season, with heavy tails, and as shares of few users.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import machine
import numpy as np
from scipy import signal

from recframe.statistics.prediction import Series, distance, half_width, squared_error

WINDOWS = (7, 14, 28)
LEVELS = (0.95, 0.99)
DROPS = (2, 3, 5)
METRICS = 20
ALIKE = 0.7
"""How metrics of the same users are correlated."""
RUNS = 60
"""As many as are judged behind those of two windows."""
Runs = np.ndarray
"""Runs x trials x metrics."""


def independent(random: np.random.Generator, n: int, trials: int, metrics: int) -> Runs:
    """Return normal runs, whose metrics hang together."""
    shared, own = (random.normal(size=(n, trials, m)) for m in (1, metrics))
    return ALIKE**0.5 * shared + (1 - ALIKE) ** 0.5 * own


def heavy(random: np.random.Generator, n: int, trials: int, metrics: int) -> Runs:
    """Return runs with the tails of t with 3 degrees of freedom: a bad day hits all metrics."""
    mixed = np.sqrt(random.chisquare(3, (n, trials, 1)) / 3)
    return independent(random, n, trials, metrics) / mixed / 3**0.5


def together(share: float) -> Callable[..., Runs]:
    """Return runs that hang together: AR(1)."""

    def made(random: np.random.Generator, n: int, trials: int, metrics: int) -> Runs:
        noise = independent(random, n, trials, metrics) * (1 - share**2) ** 0.5
        noise[0] /= (1 - share**2) ** 0.5
        return np.asarray(signal.lfilter([1], [1, -share], noise, axis=0))

    return made


def weekly(dip: float) -> Callable[..., Runs]:
    """Return runs that are lower on two days of seven."""

    def made(random: np.random.Generator, n: int, trials: int, metrics: int) -> Runs:
        day = (np.arange(n)[:, None, None] + random.integers(0, 7, (1, trials, 1))) % 7
        return independent(random, n, trials, metrics) - dip * (day < 2)

    return made


def wandering(random: np.random.Generator, n: int, trials: int, metrics: int) -> Runs:
    """Return runs whose level wanders off: each step has 0.3 of the runs' own standard deviation."""
    steps = independent(random, n, trials, metrics)
    return independent(random, n, trials, metrics) + 0.3 * np.cumsum(steps, axis=0)


def of_few(users: int, share: float) -> Callable[..., tuple[Runs, Runs]]:
    """Return shares of few users, with their squared standard errors as Wilson's interval has them."""

    def made(random: np.random.Generator, n: int, trials: int, metrics: int) -> tuple[Runs, Runs]:
        found = random.binomial(users, share, (n, trials, metrics)) / users
        half = np.sqrt(found * (1 - found) / users + 1 / users**2) / (1 + 4 / users)
        return found, half**2

    return made


KINDS: dict[str, Callable[..., Any]] = {
    "independent": independent,
    "hanging together, AR(1) of .5": together(0.5),
    "hanging together, AR(1) of .8": together(0.8),
    "a level that wanders": wandering,
    "weekends lower by 1 sd": weekly(1.0),
    "weekends lower by 3 sd": weekly(3.0),
    "heavy tails, t(3)": heavy,
    "hits of 2 % of 50 users": of_few(50, 0.02),
}


def flagged(runs: Any, window: int, level: float) -> np.ndarray:
    """Return which numbers of runs are flagged, as `rf.changes` does it; runs x trials x metrics."""
    values, own = runs if isinstance(runs, tuple) else (runs, np.full(runs.shape, np.nan))
    n, trials, metrics = values.shape
    flat, flat_own = (one.reshape(n, -1) for one in (values, own))
    found = Series(flat, flat_own, window).windows
    squared = squared_error(found, np.nan_to_num(flat_own))
    tests = np.full(squared.size, metrics)
    half = half_width(squared.ravel(), found.n.ravel().astype(int), level, tests)
    with np.errstate(invalid="ignore"):
        apart = np.abs(distance(flat, found.mean)) > half.reshape(squared.shape)
    return apart.reshape(n, trials, metrics)


def false_alarms(told: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Say how many runs have a flag where nothing changed: the first that are judged, and later ones."""
    random = np.random.default_rng(told.seed)
    for kind, made in KINDS.items():
        for window in WINDOWS:
            for metrics in (1, METRICS):
                trials = told.trials // metrics
                runs = made(random, 2 * window + RUNS, trials, metrics)
                for level in LEVELS:
                    some = flagged(runs, window, level).any(axis=2)
                    first, later = some[-(-window // 2) : window], some[2 * window :]
                    yield {
                        "runs": kind,
                        "window": window,
                        "numbers": metrics,
                        "level": level,
                        "flagged": float(later.mean()),
                        "flagged at first": float(first.mean()),
                        "judged": later.size,
                    }


def drops(told: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Say how often a drop of one metric is found: for a run, again four runs later, and for good."""
    random = np.random.default_rng(told.seed + 1)
    for window in WINDOWS:
        for metrics in (1, METRICS):
            for drop in DROPS:
                at = 2 * window
                runs = independent(random, at + window + 5, told.trials // metrics, metrics)
                once, stays = runs.copy(), runs.copy()
                once[[at, at + 4], :, 0] -= drop
                stays[at:, :, 0] -= drop
                for level in LEVELS:
                    found = flagged(once, window, level)[:, :, 0]
                    after = flagged(stays, window, level)[at:, :, 0]
                    yield {
                        "drop": drop,
                        "window": window,
                        "numbers": metrics,
                        "level": level,
                        "found": float(found[at].mean()),
                        "found again": float(found[at + 4].mean()),
                        "runs flagged where it stays": float(after.sum(axis=0).mean()),
                    }


def main() -> None:
    """Run the trials, and print or store their tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    told = parser.parse_args()
    tables = {"false_alarms": list(false_alarms(told)), "drops": list(drops(told))}
    for row in (row for rows in tables.values() for row in rows):
        shown = (f"{one:.4g}" if isinstance(one, float) else str(one) for one in row.values())
        sys.stdout.write(f"{'  '.join(shown)}\n")
    if told.json is not None:
        settings = {"trials": told.trials, "seed": told.seed, "alike": ALIKE, "runs": RUNS}
        versions = {name: version(name) for name in ("numpy", "scipy")}
        whole = {
            "settings": settings,
            "machine": machine.describe(),
            "versions": versions,
            **tables,
        }
        told.json.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
