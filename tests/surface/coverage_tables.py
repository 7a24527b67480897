"""The part of docs/uncertainty.md that is written from what `benchmarks/coverage_in_trials.py` has stored."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

SHOWN_AT = 0.05
HALF = 0.5
HEAD_OF_PROMISES = (
    "Promises of recframe's calls, tested on three hard scenes. *Rare hits*: reciprocal ranks, 4 % of them not 0; clusters "
    "of one to 80 users. *Skewed gains*: values, 40 % of them 0; the new model lifts a fifth of the others by 60 % and "
    "lowers the rest by 15 %; one cluster in 25 has 40 users, the others one to three. *Few heavy users*: precisions of "
    "lists of one to 60 items; a tenth of the users have long lists and gain, all others lose a little; clusters of four on "
    "average. Half of a cluster's users share the values of its first user. Models are equal on average; *at the bound* the "
    "new one is worse by the 5 % that a gate allows. Each training loses a random share of its values, 0 to 40 %."
)


USERS = {"rich": "many", "1-out": "one"}
"""The populations of the trials, by how many relevant items a user has."""
METHODS_OF_TRIALS = {"t": "t", "Wilson on effective n": "Wilson"}
TESTS_OF_TRIALS = {"t": "t"}


def text(result: dict[str, Any]) -> str:
    """Return a run of `benchmarks/coverage_in_trials.py` as text and Markdown tables."""
    settings, n_metrics = result["settings"], len({row["metric"] for row in result["intervals"]})
    head = (
        f"Two simulated populations of {settings['users']:,} users, whose means are known: in one a user has some 22 relevant "
        f"items, in the other just one. From each, {settings['trials']:,} samples of n users were drawn (half as many for the "
        "table of corrections). A cell says in how many of 100 samples something happened, "
        f"from the metric with the fewest to that with the most, of up to {n_metrics} metrics: hit rate, recall, mrr, map and "
        "nDCG at several k."
    )
    parts = [
        promises(result["promises"]),
        head,
        "How often the interval of a mean covers it, where 95 are promised:",
        shares(result["intervals"], METHODS_OF_TRIALS),
        "How often a test finds a difference that does not exist, where 5 are promised:",
        shares(result["tests"], TESTS_OF_TRIALS),
        "How often a table of several metrics errs at least once, and how many of 100 real differences it finds:",
        _families(result["families"]),
    ]
    return "\n\n".join(parts)


def promises(rows: Sequence[dict[str, Any]]) -> str:
    """Return what was seen of each promise, a column for each scene; what misses its promise is bold."""
    scenes = list(dict.fromkeys(row["scene"] for row in rows))
    error = 100 * max(row["error"] for row in rows if row["promised"] in {SHOWN_AT, 1 - SHOWN_AT})
    samples = max(row["samples"] for row in rows)
    titles = ["asked", "promised", *scenes]
    head = (
        f"{HEAD_OF_PROMISES} Cells are per cent of up to {samples:,} samples; where 5 or 95 are promised, standard errors "
        f"are up to {error:.1f} points. Bold: misses the promise by more than a point, for intervals by two."
    )
    lines = [
        head,
        "",
        _row(titles),
        f"|{'---|' * len(titles)}",
    ]
    for what in dict.fromkeys(row["what"] for row in rows):
        of = {row["scene"]: row for row in rows if row["what"] == what}
        promised = next(iter(of.values()))["promised"]
        cells = [_seen(of[scene]) if scene in of else "-" for scene in scenes]
        lines.append(_row([what, _promised(promised), *cells]))
    return "\n".join(lines)


def _promised(share: float | None) -> str:
    """Say what is promised: errors are at most as many, intervals hold as often or more often."""
    if share is None:
        return "-"
    return f"at most {100 * share:g}" if share < HALF else f"{100 * share:g}"


def _seen(row: dict[str, Any]) -> str:
    shown, promised = f"{100 * row['share']:.1f}", row["promised"]
    if promised is None:
        return shown
    errs = promised < HALF
    missed = row["share"] > promised + 0.01 if errs else row["share"] < promised - 0.02
    return f"**{shown}**" if missed else shown


def shares(rows: list[dict[str, Any]], methods: dict[str, str]) -> str:
    """Return the range of shares over metrics, a row for each population and size, a column for each method."""
    titles = ["relevant items", "n", *methods.values()]
    lines = [_row(titles), f"|{'---|' * len(titles)}"]
    for population, shown in USERS.items():
        of_population = [row for row in rows if row["population"] == population]
        for one in dict.fromkeys(row["n"] for row in of_population):
            of_size = [row for row in of_population if row["n"] == one]
            cells = [_range(row[method] for row in of_size) for method in methods]
            lines.append(_row([shown, f"{one:,}", *cells]))
    return "\n".join(lines)


def _range(shares: Iterable[float]) -> str:
    found = [100 * share for share in shares]
    return f"{min(found):.0f} to {max(found):.0f}"


def _families(rows: list[dict[str, Any]]) -> str:
    titles = [
        "relevant items",
        "tests",
        "correction",
        "errs, none real",
        "errs, three real",
        "finds",
    ]
    lines = [_row(titles), f"|{'---|' * len(titles)}"]
    for none, some in itertools.product(rows, rows):
        names = [(row["population"], row["correction"]) for row in (none, some)]
        if names[0] != names[1] or none["real"] or not some["real"]:
            continue
        shares = [none["family error"], some["family error"], some["power"]]
        cells = [f"{100 * share:.0f}" for share in shares]
        lines.append(_row([USERS[names[0][0]], str(none["tests"]), names[0][1], *cells]))
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
