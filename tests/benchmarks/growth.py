"""How the time grows with rows, k, metrics, cut-offs and models; the points of a line take turns.

    python tests/benchmarks/growth.py --json tests/benchmarks/growth.json
    python tests/benchmarks/growth.py --small --only rows

It needs the `[test]` extra and five gigabytes. Of each line it says the steepest part on axes that are both logarithmic, where
1 is linear.
"""

from __future__ import annotations

import json
import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import bench
import data
import polars as pl
from data import Settings
from loop import compiled_loop
from served import SIX

import recframe as rf

SORTED, SHUFFLED, TWO = "one frame", "one frame, shuffled", "two frames"
"""The frames of a line; the judged frames are sorted by user where nothing is said."""
SHORT = 0.02
"""Seconds below which a call is run several times for one timing."""
WEIGHTY = 0.05
APART = 1.2
"""Of points that are closer than this multiple, the steepness would be that of noise."""
CHUNK = 50_000
"""So many users are made at a time, which takes a gigabyte."""
MANY_METRICS = [
    *SIX,
    *("f_score", "dcg", "r_precision", "err", "n_hits", "first_rank"),
    *("precision(denominator=achievable)", "recall(denominator=capped)"),
    *("map(normalizer=min)", "map(normalizer=hits)", "map(normalizer=k)"),
    *("dcg(gain=exp)", "dcg(gain=binary)", "ndcg(gain=exp)", "ndcg(gain=binary)"),
    *(f"f_score(beta={beta})" for beta in (0.25, 0.5, 2, 4, 8)),
    *(f"rbp(p={number / 100})" for number in range(50, 98, 4)),
    *("ndcg(log_base=10)", "ndcg(ideal=list)"),
]
"""Metrics of the hits and of the relevant rows, the six first."""
SIZES: dict[str, Any] = {
    "length": Settings().length,
    "relevant": Settings().relevant,
    "weighty": WEIGHTY,
    "rows": [
        *(10_000, 19_999, 20_001, 100_000, 499_999, 500_001, 1_990_000, 2_010_000),
        *(5_000_000, 10_000_000, 20_000_000, 50_000_000),
    ],
    "whole": 10_000_000,
    "k": [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000],
    "k_rows": 2_000_000,
    "k_length": 1_000,
    "metrics": [1, 2, 6, 10, 20, 40],
    "cutoffs": [1, 2, 5, 10, 20],
    "models": [1, 2, 5, 10, 20],
    "model_rows": 500_000,
}
SMALL = {"rows": [10_000, 20_001], "whole": 21_000, "k": [1, 1_000], "k_rows": 21_000}
SMALL |= {"metrics": [1, 40], "cutoffs": [1, 20], "models": [1, 2], "model_rows": 11_000}
Run = Callable[[], object]


class Line(NamedTuple):
    """Calls that differ in one size, and the compiled loop over the rows of the call in their middle."""

    axis: str
    name: str
    sizes: Sequence[int]
    calls: Sequence[Run]
    loop: Run


def judged(rows: int, length: int = Settings().length) -> pl.DataFrame:
    """Return a judged frame of so many rows, sorted and known to be."""
    users, parts = -(-rows // length), []
    for first in range(0, users, CHUNK):
        part = data.numbers(Settings(min(CHUNK, users - first), length, seed=first))
        parts.append(part.with_columns(pl.col("user") + first))
    return pl.concat(parts).rechunk().with_columns(pl.col("user").set_sorted()).head(rows)


def of_models(frame: pl.DataFrame, n_models: int) -> pl.DataFrame:
    """Return the lists of several models of the same users and items, each with other ranks."""
    found = data.of_models(frame, [f"model {number:02}" for number in range(n_models)])
    return found.sort("model", "user", "rank", nulls_last=True)


def call(frame: pl.DataFrame, metrics: Sequence[str] = (), **bound: object) -> Run:
    return partial(rf.rec(frame)(**bound).evaluate, *(metrics or [f"{one}@10" for one in SIX]))


def looped(frame: pl.DataFrame, k: int = 10) -> Run:
    return partial(compiled_loop, data.case(frame, Settings()), k)


def lines_of_rows(sizes: dict[str, Any]) -> Iterator[Line]:
    """Yield the lines by the number of rows: sorted, recommendations with a truth, and shuffled."""
    whole = judged(max(sizes["rows"]))
    frames = [whole.head(rows) for rows in sizes["rows"]]
    loop = looped(frames[len(frames) // 2])
    yield Line("rows", SORTED, sizes["rows"], [call(one) for one in frames], loop)
    pairs = [data.case(one, Settings()) for one in frames]
    both = [len(one.recs) + len(one.truth) for one in pairs]
    yield Line("rows", TWO, both, [call(one.recs, truth=one.truth) for one in pairs], loop)
    del pairs, whole
    frames = [one.sample(fraction=1, shuffle=True, seed=0) for one in frames]
    yield Line("rows", SHUFFLED, sizes["rows"], [call(one) for one in frames], loop)


def lines_of_k(sizes: dict[str, Any]) -> Iterator[Line]:
    """Yield the line by the cut-off, over long lists."""
    whole, ks = judged(sizes["k_rows"], sizes["k_length"]), sizes["k"]
    calls = [call(whole, [f"{name}@{k}" for name in SIX]) for k in ks]
    yield Line("k", SORTED, ks, calls, looped(whole, ks[len(ks) // 2]))


def lines_of_metrics(sizes: dict[str, Any]) -> Iterator[Line]:
    """Yield the lines by the number of metrics, and of cut-offs, of which the deepest is always the same."""
    whole, deepest = judged(sizes["whole"]), sizes["length"]
    loop = looped(whole)
    calls = [call(whole, [f"{one}@10" for one in MANY_METRICS[:n]]) for n in sizes["metrics"]]
    yield Line("metrics", SORTED, sizes["metrics"], calls, loop)
    cuts = [[deepest * (place + 1) // n for place in range(n)] for n in sizes["cutoffs"]]
    calls = [call(whole, [f"{name}@{k}" for name in SIX for k in ks]) for ks in cuts]
    yield Line("cut-offs", SORTED, sizes["cutoffs"], calls, loop)


def lines_of_models(sizes: dict[str, Any]) -> Iterator[Line]:
    """Yield the lines by the number of models, each with as many rows: of judged frames, and of two frames."""
    one, models = judged(sizes["model_rows"]), sizes["models"]
    truth = data.case(one, Settings()).truth
    frames = [of_models(one, n) for n in models]
    loop = looped(judged(len(frames[len(frames) // 2])))
    yield Line("models", SORTED, models, [call(each, model="model") for each in frames], loop)
    lists = [each.drop("relevance").drop_nulls("rank") for each in frames]
    calls = [call(each, model="model", truth=truth) for each in lists]
    yield Line("models", TWO, models, calls, loop)


LINES = {
    "rows": lines_of_rows,
    "k": lines_of_k,
    "metrics": lines_of_metrics,
    "models": lines_of_models,
}


def measured(line: Line, repeats: int) -> dict[str, Any]:
    """Return CPU seconds of a line's points and of the loop, and where the line is steepest."""
    works, n_calls = [*line.calls, line.loop], [*map(_calls, line.calls), 10]
    *taken, loop = bench.times_in_turn(works, repeats, n_calls, time.process_time)
    points = [
        {"size": size, "median": statistics.median(times), "minimum": min(times)}
        for size, times in zip(line.sizes, taken, strict=True)
    ]
    middle = {"size": line.sizes[len(line.sizes) // 2], "loop_seconds": min(loop)}
    found = {"axis": line.axis, "name": line.name, "points": points, "middle": middle}
    return found | {"steepest": steepest(points)}


def _calls(run: Run) -> int:
    """Return how often a call is run for one timing; what it loads and compiles comes before."""
    run()
    start = time.perf_counter()
    run()
    return max(1, min(20, round(SHORT / (time.perf_counter() - start))))


def steepest(points: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the steepest part of a line; of the parts with some seconds in them, where there are such."""
    parts = []
    for before, after in pairwise(points):
        if after["size"] >= APART * before["size"]:
            rise, run = (math.log(after[one] / before[one]) for one in ("minimum", "size"))
            part = {"slope": rise / run, "from": before["size"], "to": after["size"]}
            parts.append(part | {"weighty": after["minimum"] - before["minimum"] > WEIGHTY})
    return max(parts, key=lambda part: (part["weighty"], part["slope"]))


def main() -> None:
    parser = bench.parser(__doc__)
    parser.add_argument("--small", action="store_true", help="a few seconds: few rows, one turn")
    parser.add_argument("--only", choices=LINES, nargs="+", default=[*LINES])
    options = parser.parse_args()
    sizes, repeats = (SIZES | SMALL, 1) if options.small else (SIZES, options.repeats)
    lines = []
    for name in options.only:
        for line in LINES[name](sizes):
            lines.append(measured(line, repeats))
            bench.say(json.dumps(lines[-1]))
    result = {"settings": sizes, "repeats": repeats, "machine": bench.machine(), "lines": lines}
    bench.store(options.json, result)


if __name__ == "__main__":
    main()
