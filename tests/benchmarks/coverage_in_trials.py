"""How often intervals cover, and how often tests reject a true null: tables of trials.

    python tests/benchmarks/coverage_in_trials.py --json tests/benchmarks/coverage_in_trials.json
    python tests/benchmarks/coverage_in_trials.py promises --seed 33 --json tests/benchmarks/coverage_in_trials.json
    python tests/benchmarks/coverage_in_trials.py --values values.parquet

It needs the `[stats]` extra. The users come from a simple model: a "rich" user has some 22 relevant items, a "1-out" user has
one, and two systems that are much alike find them. Or they come from a Parquet file with a row for each user and model and a
column for each metric. Either way they are the population that samples are drawn from, with replacement, and its mean is the
truth that intervals are to cover.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import machine
import numpy as np
import polars as pl
import promises_in_trials

from recframe.statistics import p_values

Population = dict[str, np.ndarray]
"""The values of users, users x (a system and another), of each metric."""
CUTOFFS = (1, 5, 10)
SHIFTED = 3
LEVEL = 0.95


def synthetic(random: np.random.Generator, relevant: np.ndarray, users: int) -> Population:
    """Return metrics of two systems whose places of relevant items hang together by user."""
    taste = random.beta(0.6, 3.0, users)
    decay = 1.0 / np.log2(np.arange(10) + 2.0)
    shared = random.random((users, 10))
    found: dict[str, list[np.ndarray]] = {}
    for system in range(2):
        own = np.where(random.random((users, 10)) < 0.6, shared, random.random((users, 10)))
        chance = taste[:, None] * decay * (1.0 + 0.02 * system)
        hits = own < np.where(relevant[:, None] > 1, 1.5, 0.25) * chance
        # no more hits than there are relevant items
        hits &= np.cumsum(hits, axis=1) <= relevant[:, None]
        for name, values in metrics_of(hits, relevant, decay).items():
            found.setdefault(name, []).append(values)
    return {name: np.stack(values, axis=1) for name, values in found.items()}


def metrics_of(hits: np.ndarray, relevant: np.ndarray, decay: np.ndarray) -> Population:
    """Return each user's hit rate, recall, reciprocal rank and nDCG at some cut-offs."""
    found = {}
    first = np.where(hits.any(axis=1), hits.argmax(axis=1) + 1.0, np.inf)
    ideal = np.cumsum(decay)[np.minimum(relevant, 10) - 1]
    for k in CUTOFFS:
        within = hits[:, :k]
        found[f"hit_rate@{k}"] = within.any(axis=1).astype(float)
        # of one relevant item it is the hit rate
        if relevant.max() > 1:
            found[f"recall@{k}"] = within.sum(axis=1) / relevant
    found["mrr@5"] = np.where(first <= CUTOFFS[1], 1.0 / first, 0.0)
    found["mrr@10"] = 1.0 / first
    found["map@10"] = (hits * np.cumsum(hits, axis=1) / np.arange(1, 11)).sum(axis=1) / np.minimum(
        relevant, 10
    )
    found["ndcg@10"] = (hits * decay).sum(axis=1) / ideal
    return found


def populations(told: argparse.Namespace) -> dict[str, Population]:
    """Return the populations that samples are drawn from."""
    if told.values is not None:
        return {told.values.stem: given(told.values)}
    random = np.random.default_rng(told.seed)
    rich = 2 + random.poisson(20, told.users)
    return {
        "rich": synthetic(random, rich, told.users),
        "1-out": synthetic(random, np.ones(told.users, dtype=np.int64), told.users),
    }


def given(path: Path) -> Population:
    """Read values of users: the first two models of a file, the users that both have."""
    frame = pl.read_parquet(path)
    models = frame["model"].unique(maintain_order=True).head(2).to_list()
    one, other = (frame.filter(pl.col("model") == model).drop("model") for model in models)
    paired = one.join(other, on="user", suffix="_other")
    metrics = [name for name, dtype in one.schema.items() if dtype.is_float()]
    found = {}
    for name in metrics:
        pair = paired.select(name, f"{name}_other").drop_nulls()
        if len(pair) and pair[name].is_between(0, 1).all():
            found[name] = pair.to_numpy()
    return found


def drawn(
    random: np.random.Generator,
    values: np.ndarray,
    n: int,
    trials: int,
    chance: np.ndarray | None = None,
) -> np.ndarray:
    """Return samples of n users, n x trials, with what follows of each user."""
    if chance is None:
        return values[random.integers(0, len(values), (n, trials))]
    places = np.searchsorted(np.cumsum(chance), random.random((n, trials)))
    return values[np.minimum(places, len(values) - 1)]


def tilted(differences: np.ndarray) -> np.ndarray:
    """Return chances of users by which all differences, users x metrics, have the mean 0.

    NOTE: exp(theta d) over its sum. To take the mean off instead would make differences of what is 0, as most of a 0/1
    metric's are, and so samples of few users that never vary.
    """
    theta = np.zeros(differences.shape[1])
    for _ in range(50):
        weight = np.exp(differences @ theta)
        chance = weight / weight.sum()
        mean = chance @ differences
        spread = (differences * chance[:, None]).T @ differences - np.outer(mean, mean)
        theta -= np.linalg.lstsq(spread, mean, rcond=1e-10)[0]
    return chance


Bounds = tuple[np.ndarray, np.ndarray]


def by_t(values: np.ndarray) -> Bounds:
    """Return the t interval of each column."""
    mean, n = values.mean(axis=0), len(values)
    half = p_values.t_quantile(LEVEL, n - 1) * values.std(axis=0, ddof=1) / n**0.5
    return mean - half, mean + half


def by_wilson(values: np.ndarray) -> Bounds:
    """Return Wilson's interval on the effective number of users, with the t quantile."""
    mean, n = values.mean(axis=0), len(values)
    squared = values.var(axis=0, ddof=1) / n
    effective = np.where(squared > 0, mean * (1 - mean) / np.where(squared > 0, squared, 1.0), n)
    t = float(p_values.t_quantile(LEVEL, n - 1))
    centre = (mean + t**2 / (2 * effective)) / (1 + t**2 / effective)
    half = t * np.sqrt(mean * (1 - mean) / effective + t**2 / (4 * effective**2))
    half = half / (1 + t**2 / effective)
    return centre - half, centre + half


INTERVALS: dict[str, Callable[[np.ndarray], Bounds]] = {
    "t": by_t,
    "Wilson on effective n": by_wilson,
}


def intervals(told: argparse.Namespace, found: dict[str, Population]) -> Iterator[dict[str, Any]]:
    """Say how often intervals of means cover, and how wide they are."""
    random = np.random.default_rng(told.seed + 1)
    for name, population in found.items():
        for metric, values in population.items():
            truth = values[:, 0].mean()
            for n in told.sizes:
                sample = drawn(random, values[:, 0], n, told.trials)
                row = {"population": name, "metric": metric, "mean": truth, "n": n}
                for method, interval in INTERVALS.items():
                    low, high = interval(sample)
                    row[method] = float(((low <= truth) & (truth <= high)).mean())
                    row[f"{method}, width"] = float((high - low).mean())
                yield row


def t_test(values: np.ndarray, n: int) -> np.ndarray:
    """Return the p values of t of each column."""
    error = values.std(axis=0, ddof=1) / n**0.5
    return p_values.p_two_sided(p_values.t_statistic(values.mean(axis=0), error), n - 1)


def tests(told: argparse.Namespace, found: dict[str, Population]) -> Iterator[dict[str, Any]]:
    """Say how often tests reject at 5 % where users are drawn so that the mean difference is 0."""
    random = np.random.default_rng(told.seed + 2)
    for name, population in found.items():
        for metric, values in population.items():
            differences = values[:, 1] - values[:, 0]
            chance = tilted(differences[:, None])
            for n in told.sizes:
                sample = drawn(random, differences, n, told.trials, chance)
                share = float((t_test(sample, n) <= 1 - LEVEL).mean())
                yield {"population": name, "metric": metric, "n": n, "t": share}


def families(told: argparse.Namespace, found: dict[str, Population]) -> Iterator[dict[str, Any]]:
    """Say how often a family of all metrics errs, and how many of the real differences it finds."""
    random = np.random.default_rng(told.seed + 3)
    n, trials = 300, told.trials // 2
    for name, population in found.items():
        raw = np.stack([pair[:, 1] - pair[:, 0] for pair in population.values()], axis=1)
        nulls = raw / raw.std(axis=0)
        chance = tilted(nulls)
        real = np.arange(nulls.shape[1]) < SHIFTED
        for shifted in (0, SHIFTED):
            sample = drawn(random, nulls, n, trials, chance) + 0.2 * real * (shifted > 0)
            for method, rejected in corrected(sample.reshape(n, -1), trials).items():
                wrong = rejected[:, ~real] if shifted else rejected
                yield {
                    "population": name,
                    "tests": len(real),
                    "real": shifted,
                    "correction": method,
                    "family error": float(wrong.any(axis=1).mean()),
                    "power": float(rejected[:, real].mean()) if shifted else None,
                }


def corrected(values: np.ndarray, trials: int) -> dict[str, np.ndarray]:
    """Return what is rejected at 5 %, trials x tests, by each correction."""
    n, columns = values.shape
    p = t_test(values, n).reshape(trials, columns // trials)
    found = {"none": p, "holm": np.array([p_values.adjusted(one, method="holm") for one in p])}
    return {name: one <= 1 - LEVEL for name, one in found.items()}


def promised(told: argparse.Namespace, _: dict[str, Population]) -> Iterator[dict[str, Any]]:
    """Say how often promises of recframe's own calls hold, on scenes of their own."""
    yield from promises_in_trials.promises(told.seed + 7, told.trials, told.promise)


TABLES = {
    "intervals": intervals,
    "tests": tests,
    "families": families,
    "promises": promised,
}


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows as a table of Markdown, shares with three places."""
    names = [*rows[0]]
    lines = [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]
    for row in rows:
        shown = [
            f"{one:.3f}" if isinstance(one, float) else "" if one is None else str(one)
            for one in row.values()
        ]
        lines.append(f"| {' | '.join(shown)} |")
    return "\n".join(lines)


def options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "tables", nargs="*", metavar="table", help=f"some of {', '.join(TABLES)}; all if none"
    )
    parser.add_argument("--values", type=Path, help="a Parquet file of users' values")
    parser.add_argument("--users", type=int, default=50_000, help="population (%(default)s)")
    parser.add_argument("--trials", type=int, default=2_000, help="samples (%(default)s)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[30, 300, 3_000])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--promise", action="append", help="a promise that is drawn alone; those stored stay"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to a JSON file")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw, count, and print."""
    told = options(arguments)
    found = populations(told)
    result: dict[str, Any] = {
        "settings": {
            "population": [*found],
            "users": told.users,
            "trials": told.trials,
            "seed": told.seed,
        },
        "machine": machine.describe(),
        "versions": {name: version(name) for name in ("recframe", "numpy", "scipy", "polars")},
    }
    if told.tables and told.json is not None and told.json.exists():
        # the other tables stay, and what they were drawn with
        result = json.loads(told.json.read_text(encoding="utf-8"))
    for name in told.tables or TABLES:
        rows = [*TABLES[name](told, found)]
        sys.stdout.write(f"\n{name}\n\n{markdown(rows)}\n")
        sys.stdout.flush()
        others = result.get(name, []) if name == "promises" and told.promise else []
        result[name] = [row for row in others if row["promise"] not in told.promise] + rows
    if told.json is not None:
        text = json.dumps(result, indent=2)
        told.json.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
