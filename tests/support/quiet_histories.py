"""How often `rf.changes` says *changed* of histories in which nothing changed, and finds a fall: simulated.

    PYTHONPATH=src:tests/support python tests/support/quiet_histories.py

prints the table of docs/over_time.md. Runs have a standard deviation of 1 about 100, so the band is never too wide to judge.
"""

from __future__ import annotations

import datetime as dt
import random

import polars as pl

import recframe as rf

HISTORIES = 2_000
USERS = 10_000
KINDS = [(share, own) for share in (0.0, 0.5) for own in (0.0, 0.5, 1.0)]
"""By how much a run depends on the one before, AR(1), and the standard error of a number, of which the users are known."""
FALLS = (0, 3, 5, 8)


def quiet(share: float, own: float, fall: float = 0.0, seed: int = 0) -> pl.DataFrame:
    """Return 2,000 histories of 8 to 30 runs, of which the newest is lower by a fall."""
    chance = random.Random(seed)  # noqa: S311
    rows = []
    for trial in range(HISTORIES):
        value, runs = chance.gauss(0, 1), chance.randint(8, 30)
        for run in range(runs):
            value = share * value + (1 - share**2) ** 0.5 * chance.gauss(0, 1)
            rows.append((run, trial, 100 + value - fall * (run == runs - 1)))
    first = dt.datetime(2026, 10, 1)  # noqa: DTZ001  as a history has it
    return pl.DataFrame(rows, schema=["run", "trial", "value"], orient="row").select(
        "trial", "value", as_of=first + pl.duration(days="run"), metric=pl.lit("ndcg@10"),
        std=own * USERS**0.5, n=USERS,
    )  # fmt: skip


def rates(share: float, own: float, fall: float = 0.0) -> tuple[float, float]:
    """Return the shares of histories whose newest run is *changed*, and of those with any such run."""
    is_changed = pl.col("verdict") == "changed"
    of_each = rf.changes(quiet(share, own, fall)).group_by("trial")
    found = of_each.agg(newest=is_changed.last(), ever=is_changed.any()).mean()
    return found["newest"].item(), found["ever"].item()


def table() -> str:
    """Return the table of the page."""
    lines = [
        "| AR(1) | e / sd | newest, no fall | any run, no fall | fall of 3 sd | 5 sd | 8 sd |",
        "|---|---|---|---|---|---|---|",
    ]
    for share, own in KINDS:
        found = [rates(share, own, fall) for fall in FALLS]
        numbers = [*found[0], *(newest for newest, _ in found[1:])]
        cells = [f"{share:g}", f"{own:g}", *(f"{100 * one:.1f} %" for one in numbers)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())  # noqa: T201
