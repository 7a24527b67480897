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
from statistics import median
from typing import Any, NamedTuple

import data
import machine
import numpy as np
import polars as pl
from data import METRICS, Case, Settings
from loop import compiled_loop
from timing import times_in_turn

import recframe as rf

TEN = [*METRICS, "f_score", "dcg", "rbp", "r_precision"]
CUTOFFS = [5, 10, 20, 50, 100]
SMALL_ROWS = 1_000
CALLS, MANY_CALLS = 100, 1_000
IMPORT = "import time; import polars; start = time.perf_counter(); import recframe; print(time.perf_counter() - start)"
SIX, SIX_OF_TWO = "six metrics at 10", "two frames, six metrics at 10"
LOOP, OF_THESE, OF_INTEGERS = "compiled loop", "six metrics of these", "the same with Int64 ids"
ON_POLARS, EAGER = "the same on Polars", "the same on an eager frame"
BY_HAND = "a Polars expression written by hand"


class Work(NamedTuple):
    """A piece of work, its yardstick, and how often each is run for one timing."""

    name: str
    yardstick: str
    run: Callable[[], object]
    against: Callable[[], object]
    calls: int = 1


def cases(settings: Settings) -> Iterator[list[Work]]:
    """Yield the pieces of work, those of one frame together; frames are made when their turn comes."""
    numbers = data.numbers(settings)
    whole = data.case(numbers, settings)
    six, loop = call(whole), partial(compiled_loop, whole, 10)
    ranked = -pl.col("rank").cast(pl.Float64).fill_null(float("inf"))
    scored = whole.judged.with_columns(score=ranked).drop("rank")
    of_scores = partial(rf.rec(scored).evaluate, *METRICS, k=10)
    yield [
        Work(SIX, LOOP, six, loop),
        Work("recall@10 alone", LOOP, partial(bound(whole).evaluate, "recall@10"), loop),
        Work(
            "ten metrics at 5 cut-offs",
            SIX,
            partial(rf.rec(whole.judged).evaluate, *TEN, k=CUTOFFS),
            six,
        ),
        Work("pandas in and out, NumPy columns", ON_POLARS, pandas(whole), six),
        Work("rank from a score", "the same with ranks", of_scores, six),
        Work("lazy, collect()", EAGER, lazily(whole, "auto"), six),
        Work("lazy, streaming", EAGER, lazily(whole, "streaming"), six),
        Work("audit", SIX, bound(whole).audit, six),
    ]
    del scored, of_scores
    shuffled = data.case(numbers, replace(settings, order="shuffled"))
    yield [
        Work(f"{SIX}, rows shuffled", LOOP, call(shuffled), loop),
        Work("audit, rows shuffled", OF_THESE, bound(shuffled).audit, call(shuffled)),
    ]
    del shuffled
    text = data.case(numbers, replace(settings, ids="string"))
    yield [
        Work("ids as strings", OF_INTEGERS, call(text), six),
        Work("pandas in and out, strings", ON_POLARS, pandas(text), call(text)),
        Work("audit, ids as strings", OF_THESE, bound(text).audit, call(text)),
    ]
    two = data.case(numbers, replace(settings, shape="two"))
    at_100 = partial(bound(two).evaluate, *METRICS, k=100)
    yield [
        Work(SIX_OF_TWO, "bare inner join", call(two), joined(two)),
        Work("two frames, six metrics at 100", "bare inner join", at_100, joined(two)),
    ]
    text = data.case(numbers, replace(settings, shape="two", ids="string"))
    yield [
        Work("two frames, ids as strings", OF_INTEGERS, call(text), call(two)),
        Work("two frames, strings, pandas", OF_INTEGERS, pandas(text), call(two)),
    ]
    text = data.case(numbers, replace(settings, shape="two", ids="uuid"))
    yield [
        Work("two frames, ids as UUIDs", OF_INTEGERS, call(text), call(two)),
        Work("audit, two frames, UUIDs", OF_THESE, bound(text).audit, call(text)),
    ]
    del text
    yield segments(whole, two)
    # a row for each of ten times as many users, with lists of a tenth of the length
    short = replace(settings, users=settings.users * 10, length=settings.length // 10)
    many = data.case(data.numbers(short), short)
    name = f'by="user", {short.users:,} users'
    yield [Work(name, "the same without", call(many, by="user"), call(many))]
    few = whole.judged.head(SMALL_ROWS)
    name, other = (f"ndcg@10 of 1,000 rows{end}" for end in ("", ", another frame each call"))
    yield [
        Work(name, BY_HAND, lambda: rf.rec(few).ndcg(k=10), by_hand(few), CALLS),
        Work(other, BY_HAND, of_another(whole.judged), by_hand(few), MANY_CALLS),
    ]


def segments(whole: Case, two: Case) -> list[Work]:
    """Return the works by properties of users and of items, and by a column that differs from row to row."""
    random = np.random.default_rng(whole.settings.seed)
    n = whole.n_users
    of_users = {"user": np.arange(n), "100 values": random.integers(0, 100, n)}
    users = pl.DataFrame(of_users | {"10,000 values": random.integers(0, 10_000, n)})
    of_items = {"item": np.arange(data.N_ITEMS), "20 values": random.integers(0, 20, data.N_ITEMS)}
    many = random.integers(0, 10_000, data.N_ITEMS)
    items = pl.DataFrame(of_items | {"10,000 values": many})
    week = ((pl.col("user") * 7 + pl.col("item")) % 20).alias("week")
    recs, truth = two.given
    judged = whole.judged.join(users, on="user", how="left", maintain_order="left")
    alone, both = (SIX, call(whole)), (SIX_OF_TWO, call(two))
    rows = [
        ("a column of 100 values of users", bound(whole)(users=users), "100 values", alone),
        ("a column of 100 values of the judged frame", rf.rec(judged), "100 values", alone),
        ("10,000 segments of users", bound(whole)(users=users), "10,000 values", alone),
        ("10,000 segments of the judged frame", rf.rec(judged), "10,000 values", alone),
        (
            "a column of 100 values of users, two frames",
            bound(two)(users=users),
            "100 values",
            both,
        ),
        ("a property of items, 20 values", bound(whole)(items=items), "20 values", alone),
        ("a property of items, 10,000 values", bound(whole)(items=items), "10,000 values", alone),
        ("a property of items, 20 values, two frames", bound(two)(items=items), "20 values", both),
        (
            "a property of items, 10,000 values, two frames",
            bound(two)(items=items),
            "10,000 values",
            both,
        ),
        (
            "a column of the judged frame, of each row",
            rf.rec(whole.judged.with_columns(week)),
            "week",
            alone,
        ),
        (
            "a column of both frames, of each row",
            rf.rec(recs.with_columns(week))(truth=truth.with_columns(week)),
            "week",
            both,
        ),
    ]
    return [
        Work(f"by= {name}", yardstick, partial(rec.evaluate, *METRICS, k=10, by=by), six)
        for name, rec, by, (yardstick, six) in rows
    ]


def bound(case: Case) -> Any:
    """Return `.rec` of the case's Polars frames."""
    return case.rec(lambda frame: frame)


def call(case: Case, **options: Any) -> Callable[[], object]:
    """Return the call for the six at 10."""
    return partial(bound(case).evaluate, *METRICS, k=10, **options)


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


def measure(settings: Settings, repeats: int, only: str) -> list[dict[str, Any]]:
    """Return a row for each piece of work."""
    rows = []
    for together in cases(settings):
        for work in (one for one in together if only in one.name):
            taken = times_in_turn([work.run, work.against], repeats, [work.calls] * 2)
            ours, theirs = map(median, taken)
            about = {"work": work.name, "yardstick": work.yardstick}
            rows.append(about | {"seconds": ours, "yardstick_seconds": theirs})
            shown = f"{ours:9.4f} s  {ours / theirs:6.2f} x {work.yardstick}"
            sys.stdout.write(f"{work.name:52s} {shown}\n")
            sys.stdout.flush()
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; write the JSON that a page is made from where wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--users", type=int, default=Settings().users, help="100 rows each")
    parser.add_argument("--repeats", type=int, default=7, help="turns (%(default)s)")
    parser.add_argument("--only", default="", metavar="TEXT", help="works with TEXT in the name")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to a JSON file")
    options = parser.parse_args(arguments)
    settings = Settings(users=options.users)
    result = {
        "settings": {"users": settings.users, "length": settings.length},
        "repeats": options.repeats,
        "machine": machine.describe(),
        "versions": machine.versions(),
        "cases": measure(settings, options.repeats, options.only),
        "import_seconds": import_time(options.repeats),
    }
    shown = f"{result['import_seconds'] * 1000:.0f} ms after import polars"
    sys.stdout.write(f"import recframe takes {shown}\n")
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
