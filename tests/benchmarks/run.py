"""Six metrics at k of one judged frame, by recframe from each kind of frame and by two compiled loops, in turns.

    python tests/benchmarks/run.py --json tests/benchmarks/result.json
    python tests/benchmarks/run.py --users 2000 --repeats 2

It needs the `[test]` extra. All are checked to give the same six numbers before any is timed.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import data
import machine
import polars as pl
from data import METRICS, Case, Settings
from loop import compiled_loop, tuned_loop
from timing import times_in_turn

import recframe  # noqa: F401  registers .rec

TOLERANCE = 1e-9


def polars(case: Case, k: int) -> list[float]:
    """Polars DataFrame in."""
    return _numbers(case.judged.rec.evaluate(*METRICS, k=k))


def collected(engine: Any) -> Callable[[Case, int], list[float]]:
    """Polars LazyFrame in, collected by an engine."""
    return lambda case, k: _numbers(
        case.judged.lazy().rec.evaluate(*METRICS, k=k).collect(engine=engine)
    )


def pandas(case: Case, k: int) -> list[float]:
    """Pandas DataFrame in and out."""
    (frame,) = case.given_pandas
    return _numbers(pl.from_pandas(frame.rec.evaluate(*METRICS, k=k)))


def _numbers(row: pl.DataFrame) -> list[float]:
    return [float(value) for value in row.select(pl.exclude("n_users")).row(0)]


LOOP, EAGER = "compiled loop", "recframe, eager"
CONTENDERS = {
    LOOP: compiled_loop,
    "compiled loop, tuned": tuned_loop,
    EAGER: polars,
    "recframe, lazy, collect()": collected("auto"),
    "recframe, lazy, in-memory": collected("in-memory"),
    "recframe, lazy, streaming": collected("streaming"),
    "recframe, pandas": pandas,
}


def check(case: Case, k: int) -> None:
    """Stop where one does not give the numbers of the loop; this compiles what is compiled, too."""
    expected = compiled_loop(case, k)
    for name, run in CONTENDERS.items():
        for metric, value, other in zip(METRICS, run(case, k), expected, strict=True):
            if not math.isclose(value, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
                raise SystemExit(f"{name}: {metric} is {value!r}, not {other!r}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the data, check, time, and print; write the JSON that a page is made from where wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--users", type=int, default=Settings().users, help="(%(default)s)")
    parser.add_argument("-k", type=int, default=10, help="the cut-off (%(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="turns (%(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to a JSON file")
    options = parser.parse_args(arguments)
    settings = Settings(users=options.users)
    case = data.case(data.numbers(settings), settings)
    check(case, options.k)
    works = [partial(run, case, options.k) for run in CONTENDERS.values()]
    taken = times_in_turn(works, options.repeats, [1] * len(works))
    medians = dict(zip(CONTENDERS, map(statistics.median, taken), strict=True))
    contenders = [
        {
            "name": name,
            "median": median,
            "ratio_to_loop": median / medians[LOOP],
            "ratio_to_eager": median / medians[EAGER],
        }
        for name, median in medians.items()
    ]
    for one in contenders:
        shown = f"{one['median']:9.4f} s {one['ratio_to_loop']:7.2f} x {LOOP}"
        sys.stdout.write(f"{one['name']:28s} {shown}\n")
    result = {
        "settings": {"users": options.users, "length": settings.length, "k": options.k},
        "repeats": options.repeats,
        "machine": machine.describe(),
        "versions": machine.versions(),
        "rows": len(case.judged),
        "contenders": contenders,
    }
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
