"""How the time grows with what is asked, each piece of work as a ratio to another one measured in the same run.

    python tests/benchmarks/cases.py --json tests/benchmarks/cases.json
    python tests/benchmarks/cases.py --users 2000

It needs the `[test]` extra. A piece of work and its yardstick take turns, and the medians are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import data
import machine
import polars as pl
from contenders import METRICS
from data import Case, Settings
from loop import compiled_loop
from segment_cases import segments
from timing import seconds_in_turn
from works import Work, asked, bound

import recframe as rf

TEN = [*METRICS, "f_score", "dcg", "rbp", "r_precision"]
CUTOFFS = [5, 10, 20, 50, 100]
SMALL_ROWS = 1_000
CALLS, MANY_CALLS = 100, 1_000
IMPORT = "import time; import polars; start = time.perf_counter(); import recframe; print(time.perf_counter() - start)"


def cases(settings: Settings) -> Iterator[list[Work]]:
    """Yield the pieces of work, those of one frame together; frames are made when their turn comes."""
    numbers = data.numbers(settings)
    whole = data.case(numbers, settings)
    six = asked(whole)
    scored = whole.judged.with_columns(
        score=-pl.col("rank").cast(pl.Float64).fill_null(float("inf"))
    ).drop("rank")
    yield [
        Work("six metrics at 10", "compiled loop", six, lambda: compiled_loop(whole, 10)),
        Work(
            "recall@10 alone",
            "compiled loop",
            asked(whole, "recall@10"),
            lambda: compiled_loop(whole, 10),
        ),
        Work(
            "ten metrics at 5 cut-offs",
            "six metrics at 10",
            lambda: rf.rec(whole.judged).evaluate(*TEN, k=CUTOFFS),
            six,
        ),
        Work("pandas in and out, NumPy columns", "the same on Polars", pandas(whole), six),
        Work(
            "rank from a score",
            "the same with ranks",
            partial(rf.rec(scored).evaluate, *METRICS, k=10),
            six,
        ),
        Work("lazy, collect()", "the same on an eager frame", lazily(whole, "auto"), six),
        Work("lazy, streaming", "the same on an eager frame", lazily(whole, "streaming"), six),
        Work("audit", "six metrics at 10", bound(whole).audit, six),
    ]
    del scored
    shuffled = data.case(numbers, replace(settings, order="shuffled"))
    yield [
        Work(
            "six metrics at 10, rows shuffled",
            "compiled loop",
            asked(shuffled),
            lambda: compiled_loop(whole, 10),
        ),
        Work(
            "audit, rows shuffled", "six metrics of these", bound(shuffled).audit, asked(shuffled)
        ),
    ]
    del shuffled
    text = data.case(numbers, replace(settings, ids="string"))
    yield [
        Work("ids as strings", "the same with Int64 ids", asked(text), six),
        Work("pandas in and out, strings", "the same on Polars", pandas(text), asked(text)),
        Work("audit, ids as strings", "six metrics of these", bound(text).audit, asked(text)),
    ]
    del text
    two = data.case(numbers, replace(settings, shape="two"))
    yield [
        Work("two frames, six metrics at 10", "bare inner join", asked(two), joined(two)),
        Work(
            "two frames, six metrics at 100",
            "bare inner join",
            partial(bound(two).evaluate, *METRICS, k=100),
            joined(two),
        ),
    ]
    text = data.case(numbers, replace(settings, shape="two", ids="string"))
    yield [
        Work("two frames, ids as strings", "the same with Int64 ids", asked(text), asked(two)),
        Work("two frames, strings, pandas", "the same with Int64 ids", pandas(text), asked(two)),
    ]
    text = data.case(numbers, replace(settings, shape="two", ids="uuid"))
    yield [
        Work("two frames, ids as UUIDs", "the same with Int64 ids", asked(text), asked(two)),
        Work("audit, two frames, UUIDs", "six metrics of these", bound(text).audit, asked(text)),
    ]
    del text, two
    yield from segments(numbers, settings)
    few = whole.judged.head(SMALL_ROWS)
    yield [
        Work(
            "ndcg@10 of 1,000 rows",
            "a Polars expression written by hand",
            lambda: rf.rec(few).ndcg(k=10),
            by_hand(few),
            CALLS,
        ),
        Work(
            "ndcg@10 of 1,000 rows, another frame each call",
            "a Polars expression written by hand",
            of_another(whole.judged),
            by_hand(few),
            MANY_CALLS,
        ),
    ]


def lazily(case: Case, engine: Any) -> Callable[[], object]:
    """Return the six at 10 of the case's frames as LazyFrames, collected by an engine."""
    rec = case.rec(lambda frame: frame.lazy())
    return lambda: rec.evaluate(*METRICS, k=10).collect(engine=engine)


def pandas(case: Case) -> Callable[[], object]:
    """Return the call for the six at 10 on pandas frames."""
    return partial(case.rec_pandas().evaluate, *METRICS, k=10)


def joined(case: Case) -> Callable[[], object]:
    """Return Polars' own inner join of the two frames, in memory."""
    plan = case.recs.lazy().join(case.truth.lazy(), on=["user", "item"])
    return lambda: plan.collect(engine="in-memory")


def of_another(frame: pl.DataFrame) -> Callable[[], object]:
    """Return ndcg@10 of the next thousand rows of a frame, from call to call."""
    pieces = cycle(
        [frame.slice(start, SMALL_ROWS) for start in range(0, len(frame), SMALL_ROWS)][:MANY_CALLS]
    )
    return lambda: rf.rec(next(pieces)).ndcg(k=10)


def by_hand(frame: pl.DataFrame) -> Callable[[], object]:
    """Return ndcg@10 as one writes it for a frame without duplicates, ties and empty users."""

    def ndcg() -> object:
        rank, relevance = pl.col("rank"), pl.col("relevance").fill_null(0)
        gain = pl.when((rank <= 10) & (relevance > 0)).then(relevance / (rank + 1).log(2))
        ideal = relevance.sort(descending=True).head(10) / pl.int_range(2, 12).log(2).head(pl.len())
        lists = frame.lazy().group_by("user").agg(gain=gain.sum(), ideal=ideal.sum())
        value = pl.when(pl.col("ideal") > 0).then(pl.col("gain") / pl.col("ideal")).otherwise(0)
        return lists.select(value.mean()).collect().item()

    return ndcg


def import_time(repeats: int) -> float:
    """Return the fewest seconds that `import recframe` takes after Polars, each in a process of its own.

    The first of them may compile it, as the installation of a package does.
    """
    compiling = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    call: Any = partial(
        subprocess.run,
        [sys.executable, "-c", IMPORT],
        capture_output=True,
        text=True,
        check=True,
        env=compiling,
    )
    return min(float(call().stdout) for _ in range(repeats + 1))


def measure(settings: Settings, repeats: int, only: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return a row for each piece of work."""
    rows = []
    for together in cases(settings):
        for work in (one for one in together if not only or any(text in one.name for text in only)):
            ours, theirs = seconds_in_turn([work.run, work.against], repeats, work.calls)
            rows.append(
                {
                    "work": work.name,
                    "yardstick": work.yardstick,
                    "seconds": ours,
                    "yardstick_seconds": theirs,
                }
            )
            sys.stdout.write(
                f"{work.name:52s} {ours:9.4f} s  {ours / theirs:6.2f} x {work.yardstick}\n"
            )
            sys.stdout.flush()
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; write the JSON that the README is made from where asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--users",
        type=int,
        default=Settings().users,
        help="how many users, 100 rows each (%(default)s)",
    )
    parser.add_argument("--repeats", type=int, default=7, help="turns (%(default)s)")
    parser.add_argument(
        "--only", action="append", default=[], metavar="TEXT", help="works with TEXT in the name"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to a JSON file")
    options = parser.parse_args(arguments)
    settings = Settings(users=options.users)
    result = {
        "settings": {
            "users": settings.users,
            "length": settings.length,
            "relevant": settings.relevant,
        },
        "repeats": options.repeats,
        "machine": machine.describe(),
        "versions": machine.versions(),
        "cases": measure(settings, options.repeats, options.only),
        "import_seconds": import_time(options.repeats),
    }
    sys.stdout.write(
        f"import recframe takes {result['import_seconds'] * 1000:.0f} ms after import polars\n"
    )
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
