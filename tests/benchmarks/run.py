"""Six metrics at k of one judged frame, by recframe from each kind of frame and by two compiled loops, in turns.

    python tests/benchmarks/run.py --json tests/benchmarks/result.json
    python tests/benchmarks/run.py --users 2000 --repeats 2

It needs the `[test]` extra. All are checked to give the same six numbers before any is timed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import Any

import bench
import data
from data import Case, Settings
from loop import compiled_loop, tuned_loop
from served import SIX

import recframe  # noqa: F401  registers .rec

TOLERANCE = 1e-9
LOOP, EAGER = "compiled loop", "recframe, eager"


def contenders(case: Case, k: int) -> dict[str, Callable[[], Any]]:
    lazy, pandas = case.judged.lazy(), case.judged.to_pandas()

    def collected(engine: Any) -> Callable[[], Any]:
        return lambda: lazy.rec.evaluate(*SIX, k=k).collect(engine=engine)

    return {
        LOOP: partial(compiled_loop, case, k),
        "compiled loop, tuned": partial(tuned_loop, case, k),
        EAGER: lambda: case.judged.rec.evaluate(*SIX, k=k),
        "recframe, lazy, collect()": collected("auto"),
        "recframe, lazy, in-memory": collected("in-memory"),
        "recframe, lazy, streaming": collected("streaming"),
        "recframe, pandas": lambda: pandas.rec.evaluate(*SIX, k=k),
    }


def check(works: Mapping[str, Callable[[], Any]], k: int) -> None:
    """Stop where one does not give the numbers of the loop; this compiles what is compiled, too."""
    expected = works[LOOP]()
    for name, run in works.items():
        found = run()
        values = found if isinstance(found, list) else [found[f"{one}@{k}"][0] for one in SIX]
        for metric, value, other in zip(SIX, values, expected, strict=True):
            if not math.isclose(value, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
                raise SystemExit(f"{name}: {metric} is {value!r}, not {other!r}")


def main() -> None:
    parser = bench.parser(__doc__)
    parser.add_argument("--users", type=int, default=Settings().users, help="(%(default)s)")
    parser.add_argument("-k", type=int, default=10, help="the cut-off (%(default)s)")
    options = parser.parse_args()
    settings = Settings(users=options.users)
    case = data.case(data.numbers(settings), settings)
    works = contenders(case, options.k)
    check(works, options.k)
    taken = bench.times_in_turn([*works.values()], options.repeats, [1] * len(works))
    medians = dict(zip(works, map(median, taken), strict=True))
    entries = []
    for name, one in medians.items():
        ratios = {"ratio_to_loop": one / medians[LOOP], "ratio_to_eager": one / medians[EAGER]}
        entries.append({"name": name, "median": one, **ratios})
        bench.say(f"{name:28s} {one:9.4f} s {ratios['ratio_to_loop']:7.2f} x {LOOP}")
    result = {
        "settings": {"users": options.users, "length": settings.length, "k": options.k},
        "repeats": options.repeats,
        "machine": bench.machine(),
        "versions": bench.versions(),
        "rows": len(case.judged),
        "contenders": entries,
    }
    bench.store(options.json, result)


if __name__ == "__main__":
    main()
