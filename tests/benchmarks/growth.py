"""How the time grows: with rows, k, metrics, cut-offs and models, in odd shapes, and with one thread more.

    python tests/benchmarks/growth.py --json tests/benchmarks/growth.json
    python tests/benchmarks/growth.py --small --only rows

It needs the `[test]` extra and five gigabytes. The points of a line take turns. Said of each line are its steepest part on axes
that are both logarithmic, where 1 is linear, and whatever is worse than linear or a cliff.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import data
import growth_data
import growth_threads
import machine
import polars as pl
from data import METRICS
from growth_data import asked
from growth_shapes import Shape, shapes
from loop import compiled_loop
from steepness import CLIFF, STEEP, WEIGHTY, findings, steepest
from timing import times_in_turn

import recframe as rf

SORTED, SHUFFLED, TWO = "one frame", "one frame, shuffled", "two frames"
"""The frames of a line; the judged frames stand user by user where nothing is said."""
SHORT = 0.02
"""Seconds below which a call is run several times for one timing."""
METRICS_ASKED = [
    *METRICS,
    *("f_score", "dcg", "r_precision", "err", "n_hits", "first_rank"),
    *("precision(denominator=achievable)", "recall(denominator=capped)"),
    *("map(normalizer=min)", "map(normalizer=hits)", "map(normalizer=k)"),
    *("dcg(gain=exp)", "dcg(gain=binary)", "ndcg(gain=exp)", "ndcg(gain=binary)"),
    *(f"f_score(beta={beta})" for beta in (0.25, 0.5, 2, 4, 8)),
    *(f"rbp(p={number / 100})" for number in range(50, 98, 4)),
    *("ndcg(log_base=10)", "ndcg(ideal=list)"),
]
"""Metrics of the hits and of the relevant rows, the six first."""


@dataclass(frozen=True)
class Sizes:
    """Where the points of each line stand, and how many rows there are."""

    rows: Sequence[int] = (
        *(10_000, 19_999, 20_001, 100_000, 499_999, 500_001, 1_990_000, 2_010_000),
        *(5_000_000, 10_000_000, 20_000_000, 50_000_000),
    )
    whole: int = 10_000_000
    k: Sequence[int] = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
    k_rows: int = 2_000_000
    k_length: int = 1_000
    metrics: Sequence[int] = (1, 2, 6, 10, 20, 40)
    cutoffs: Sequence[int] = (1, 2, 5, 10, 20)
    models: Sequence[int] = (1, 2, 5, 10, 20)
    model_rows: int = 500_000
    shape_rows: int = 5_000_000
    threads_rows: int = 10_000_000
    kinds: Sequence[str] = tuple(growth_threads.KINDS)


SMALL = Sizes(
    rows=(10_000, 19_999, 20_001),
    whole=21_000,
    k=(1, 1_000),
    k_rows=21_000,
    metrics=(1, 40),
    cutoffs=(1, 20),
    models=(1, 2),
    model_rows=11_000,
    shape_rows=21_000,
    threads_rows=600_000,  # more than have a kept plan, so that they are asked
    kinds=("two",),
)


@dataclass(frozen=True)
class Line:
    """Calls that differ in one size, and the compiled loop over as many rows as the one in their middle has."""

    axis: str
    name: str
    sizes: Sequence[int]
    rows: Sequence[int]
    calls: Sequence[Callable[[], object]]
    loop: Callable[[], object]

    @property
    def middle(self) -> int:
        """The place of the point that is held against the loop."""
        return len(self.sizes) // 2


def looped(frame: pl.DataFrame, k: int = 10) -> Callable[[], object]:
    """Return the compiled loop over the rows of a sorted frame."""
    return partial(compiled_loop, data.case(frame, growth_data.PLAIN), k)


def lines_of_rows(sizes: Sizes) -> Iterator[Line]:
    """Yield the lines by the number of rows: sorted, shuffled, and recommendations with a truth."""
    whole = growth_data.judged(max(sizes.rows))
    frames = [whole.head(rows) for rows in sizes.rows]
    loop = looped(frames[len(frames) // 2])
    yield Line("rows", SORTED, sizes.rows, sizes.rows, [asked(one) for one in frames], loop)
    pairs = [growth_data.two_frames(one) for one in frames]
    both = [len(recs) + len(truth) for recs, truth in pairs]
    calls = [asked(recs, truth=truth) for recs, truth in pairs]
    del pairs
    yield Line("rows", TWO, both, both, calls, loop)
    del calls
    frames = [growth_data.shuffled(one) for one in frames]
    del whole
    yield Line("rows", SHUFFLED, sizes.rows, sizes.rows, [asked(one) for one in frames], loop)


def lines_of_k(sizes: Sizes) -> Iterator[Line]:
    """Yield the line by the cut-off, over long lists."""
    whole = growth_data.judged(sizes.k_rows, sizes.k_length)
    calls = [asked(whole, *(f"{name}@{k}" for name in METRICS)) for k in sizes.k]
    loop = looped(whole, sizes.k[len(sizes.k) // 2])
    yield Line("k", SORTED, sizes.k, [len(whole)] * len(sizes.k), calls, loop)


def lines_of_metrics(sizes: Sizes) -> Iterator[Line]:
    """Yield the lines by the number of metrics, and of cut-offs, of which the deepest is always the same."""
    whole = growth_data.judged(sizes.whole)
    calls = [asked(whole, *(f"{one}@10" for one in METRICS_ASKED[:n])) for n in sizes.metrics]
    loop = looped(whole)
    yield Line("metrics", SORTED, sizes.metrics, [len(whole)] * len(calls), calls, loop)
    deepest = growth_data.PLAIN.length
    cuts = [[deepest * (place + 1) // n for place in range(n)] for n in sizes.cutoffs]
    calls = [asked(whole, *(f"{name}@{k}" for name in METRICS for k in ks)) for ks in cuts]
    yield Line("cut-offs", SORTED, sizes.cutoffs, [len(whole)] * len(calls), calls, loop)


def lines_of_models(sizes: Sizes) -> Iterator[Line]:
    """Yield the lines by the number of models, each with as many rows: of judged frames, and of two frames."""
    one = growth_data.judged(sizes.model_rows)
    _, truth = growth_data.two_frames(one)
    frames = [growth_data.of_models(one, n) for n in sizes.models]
    rows = [len(frame) for frame in frames]
    loop = looped(growth_data.judged(rows[len(rows) // 2]))
    calls = [asked(frame, model="model") for frame in frames]
    yield Line("models", SORTED, sizes.models, rows, calls, loop)
    recs = [frame.drop("relevance").drop_nulls("rank") for frame in frames]
    calls = [asked(frame, model="model", truth=truth) for frame in recs]
    yield Line("models", TWO, sizes.models, list(map(len, recs)), calls, loop)


LINES = {
    "rows": lines_of_rows,
    "k": lines_of_k,
    "metrics": lines_of_metrics,
    "models": lines_of_models,
}


@dataclass(frozen=True)
class How:
    """How often all take turns, by which clock, and which parts are asked for."""

    repeats: int
    clock: Callable[[], float]
    only: Sequence[str]

    def times(
        self, works: Sequence[Callable[[], object]], calls: Sequence[int]
    ) -> list[list[float]]:
        """Return the seconds of one call of each in every turn."""
        return times_in_turn(works, self.repeats, calls, self.clock)

    def wants(self, part: str) -> bool:
        """Return whether a part is asked for."""
        return not self.only or part in self.only


def measured(line: Line, how: How) -> dict[str, Any]:
    """Return the times of a line's points, how it grows, and the loop beside the point in its middle."""
    n_calls = [_calls(one) for one in line.calls]
    works = [*line.calls, line.loop]
    *taken, loop = how.times(works, [*n_calls, 10])
    points = [
        {"size": size, "rows": rows, "median": statistics.median(times), "minimum": min(times)}
        for size, rows, times in zip(line.sizes, line.rows, taken, strict=True)
    ]
    middle = {"size": line.sizes[line.middle], "loop_seconds": min(loop)}
    found = {"axis": line.axis, "name": line.name, "points": points, "middle": middle}
    return found | {"steepest": steepest(points), "findings": findings(points)}


def _calls(run: Callable[[], object]) -> int:
    """Return how often a call is run for one timing; what it loads and compiles comes before."""
    run()
    start = time.perf_counter()
    run()
    return max(1, min(20, round(SHORT / (time.perf_counter() - start))))


def measured_shape(shape: Shape, how: How) -> dict[str, Any]:
    """Return the times of a shape and of the plain frames, and whether it is a cliff.

    More rows, or more relevant rows, may take as much more time.
    """
    with warnings.catch_warnings():
        # few lists beside a large truth are meant
        warnings.simplefilter("ignore", rf.RecframeWarning)
        times = how.times([shape.run, shape.run_plain], [1, 1])
    seconds, plain = map(min, times)
    rows, relevant = (of[0] / max(of[1], 1) for of in (shape.rows, shape.relevant))
    ratio = seconds / plain
    due = max(1.0, rows, relevant)
    says = f"cliff: {ratio:.2f} x the time, {rows:.2f} x the rows, {relevant:.2f} x relevant"
    return {
        "shape": shape.name,
        "rows": shape.rows[0],
        "seconds": seconds,
        "plain_seconds": plain,
        "rows_ratio": rows,
        "relevant_ratio": relevant,
        "findings": [says] if ratio > CLIFF * due else [],
    }


def all_lines(sizes: Sizes, how: How) -> list[dict[str, Any]]:
    """Measure and print every line."""
    found = []
    for name, lines in LINES.items():
        for line in lines(sizes) if how.wants(name) else ():
            found.append(measured(line, how))
            tell(said(found[-1]))
    return found


def all_shapes(sizes: Sizes, how: How) -> list[dict[str, Any]]:
    """Measure and print every shape."""
    found = []
    for shape in shapes(sizes.shape_rows) if how.wants("shapes") else ():
        found.append(measured_shape(shape, how))
        one = found[-1]
        ratio = one["seconds"] / one["plain_seconds"]
        tell(f"{one['shape']:42s} {one['seconds']:8.4f} s {ratio:6.2f} x plain")
        tell("".join(f"  {finding}\n" for finding in one["findings"]), "")
    return found


def said(line: dict[str, Any]) -> str:
    """Return a line as text."""
    points = [
        f"  {one['size']:12,} {one['minimum']:9.4f} s {one['minimum'] / one['rows'] * 1e9:9.2f} ns a row"
        for one in line["points"]
    ]
    middle = next(one for one in line["points"] if one["size"] == line["middle"]["size"])
    worst = line["steepest"]
    loop = middle["minimum"] / line["middle"]["loop_seconds"]
    summary = (
        f"  steepest: {worst['slope']:.2f} from {worst['from']:,} to {worst['to']:,}; "
        f"{loop:.2f} x the compiled loop at {middle['size']:,}"
    )
    told = [f"  {one.upper()}" for one in line["findings"]]
    return "\n".join([f"{line['axis']}, {line['name']}", *points, summary, *told])


def tell(text: str, end: str = "\n") -> None:
    """Print at once."""
    sys.stdout.write(f"{text}{end}")
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; write the JSON that a part of the page of benchmarks is made from where asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=5, help="turns (%(default)s)")
    parser.add_argument("--small", action="store_true", help="a few seconds: few rows, one turn")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        choices=[*LINES, "shapes", "threads"],
        help="this part alone; can be given several times",
    )
    parser.add_argument(
        "--cpu",
        action="store_true",
        help="count the time of all threads, on a machine that does other things",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to a JSON file")
    options = parser.parse_args(arguments)
    sizes, repeats = (SMALL, 1) if options.small else (Sizes(), options.repeats)
    how = How(repeats, time.process_time if options.cpu else time.perf_counter, options.only)
    result = {
        "settings": {
            "length": growth_data.PLAIN.length,
            "relevant": growth_data.PLAIN.relevant,
            "clock": "cpu" if options.cpu else "wall",
            "steep": STEEP,
            "cliff": CLIFF,
            "weighty": WEIGHTY,
            **asdict(sizes),
        },
        "repeats": repeats,
        "machine": machine.describe(),
        "versions": machine.versions(),
        "lines": all_lines(sizes, how),
        "shapes": all_shapes(sizes, how),
        "threads": growth_threads.measured(sizes.kinds, sizes.threads_rows, repeats, tell)
        if how.wants("threads")
        else [],
    }
    tell(summary(result))
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


def summary(result: dict[str, Any]) -> str:
    """Return everything that is worse than linear, and every cliff."""
    names = [f"{one['axis']}, {one['name']}" for one in result["lines"]]
    names += [one["shape"] for one in result["shapes"]]
    found = [
        f"  {name}: {finding}"
        for name, one in zip(names, [*result["lines"], *result["shapes"]], strict=True)
        for finding in one["findings"]
    ]
    return "\n".join(["Worse than linear, and cliffs:", *(found or ["  none"])])


if __name__ == "__main__":
    main()
