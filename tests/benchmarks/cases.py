"""How the time grows with what is asked, each piece of work as a ratio to another one measured in the same run.

    python tests/benchmarks/cases.py --json tests/benchmarks/cases.json
    python tests/benchmarks/cases.py --users 2000

It needs the `[test]` extra. A piece of work and its yardstick take turns, and the medians are compared.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import cycle
from statistics import median
from typing import Any, NamedTuple

import bench
import data
import numpy as np
import polars as pl
from data import Case, Settings
from loop import compiled_loop
from served import SIX

import recframe as rf

TEN = [*SIX, "f_score", "dcg", "rbp", "r_precision"]
CUTOFFS = [5, 10, 20, 50, 100]
SMALL_ROWS = 1_000
CALLS, MANY_CALLS = 100, 1_000
IMPORT = "import time; import polars; start = time.perf_counter(); import recframe; print(time.perf_counter() - start)"
SIX_AT_10, SIX_OF_TWO = "six metrics at 10", "two frames, six metrics at 10"
LOOP, OF_THESE, OF_INTEGERS = "compiled loop", "six metrics of these", "the same with Int64 ids"
JOIN, ON_POLARS, EAGER = "bare inner join", "the same on Polars", "the same on an eager frame"
BY_HAND = "a Polars expression written by hand"
PANDAS: Any = pl.DataFrame.to_pandas
Run = Callable[[], object]


class Work(NamedTuple):
    """A piece of work, its yardstick, and how often each is run for one timing."""

    name: str
    yardstick: str
    run: Run
    against: Run
    calls: int = 1


def cases(settings: Settings) -> Iterator[list[Work]]:
    """Yield the pieces of work, those of one frame together; frames are made when their turn comes."""
    numbers = data.numbers(settings)

    def made(**changes: Any) -> Case:
        return data.case(numbers, replace(settings, **changes))

    whole = made()
    six, loop = call(whole), partial(compiled_loop, whole, 10)
    ranked = -pl.col("rank").cast(pl.Float64).fill_null(float("inf"))
    scored = whole.judged.with_columns(score=ranked).drop("rank")
    yield [
        Work(SIX_AT_10, LOOP, six, loop),
        Work("recall@10 alone", LOOP, call(whole, "recall"), loop),
        Work("ten metrics at 5 cut-offs", SIX_AT_10, call(whole, *TEN, k=CUTOFFS), six),
        Work("pandas in and out, NumPy columns", ON_POLARS, call(whole, kind=PANDAS), six),
        Work(
            "rank from a score",
            "the same with ranks",
            partial(rf.rec(scored).evaluate, *SIX, k=10),
            six,
        ),
        Work("lazy, collect()", EAGER, lazily(whole, "auto"), six),
        Work("lazy, streaming", EAGER, lazily(whole, "streaming"), six),
        Work("audit", SIX_AT_10, whole.rec().audit, six),
    ]
    del scored
    other = made(order="shuffled")
    yield [
        Work(f"{SIX_AT_10}, rows shuffled", LOOP, call(other), loop),
        Work("audit, rows shuffled", OF_THESE, other.rec().audit, call(other)),
    ]
    other = made(ids="string")
    yield [
        Work("ids as strings", OF_INTEGERS, call(other), six),
        Work("pandas in and out, strings", ON_POLARS, call(other, kind=PANDAS), call(other)),
        Work("audit, ids as strings", OF_THESE, other.rec().audit, call(other)),
    ]
    two = made(shape="two")
    six_of_two = call(two)
    yield [
        Work(SIX_OF_TWO, JOIN, six_of_two, joined(two)),
        Work("two frames, six metrics at 100", JOIN, call(two, k=100), joined(two)),
    ]
    other = made(shape="two", ids="string")
    yield [
        Work("two frames, ids as strings", OF_INTEGERS, call(other), six_of_two),
        Work("two frames, strings, pandas", OF_INTEGERS, call(other, kind=PANDAS), six_of_two),
    ]
    other = made(shape="two", ids="uuid")
    yield [
        Work("two frames, ids as UUIDs", OF_INTEGERS, call(other), six_of_two),
        Work("audit, two frames, UUIDs", OF_THESE, other.rec().audit, call(other)),
    ]
    del other
    yield segments(whole, two)
    # a row for each of ten times as many users, with lists of a tenth of the length
    short = replace(settings, users=settings.users * 10, length=settings.length // 10)
    many = data.case(data.numbers(short), short)
    name = f'by="user", {short.users:,} users'
    yield [Work(name, "the same without", call(many, by="user"), call(many))]
    few = whole.judged.head(SMALL_ROWS)
    name, again = (f"ndcg@10 of 1,000 rows{end}" for end in ("", ", another frame each call"))
    yield [
        Work(name, BY_HAND, lambda: rf.rec(few).ndcg(k=10), by_hand(few), CALLS),
        Work(again, BY_HAND, of_another(whole.judged), by_hand(few), MANY_CALLS),
    ]


def segments(whole: Case, two: Case) -> list[Work]:
    """Return the works by properties of users and of items, and by a column that differs from row to row."""
    random = np.random.default_rng(whole.settings.seed)
    n = whole.settings.users
    of_users = {"user": np.arange(n), "100 values": random.integers(0, 100, n)}
    users = pl.DataFrame(of_users | {"10,000 values": random.integers(0, 10_000, n)})
    of_items = {"item": np.arange(data.N_ITEMS), "20 values": random.integers(0, 20, data.N_ITEMS)}
    many = random.integers(0, 10_000, data.N_ITEMS)
    items = pl.DataFrame(of_items | {"10,000 values": many})
    week = ((pl.col("user") * 7 + pl.col("item")) % 20).alias("week")
    judged = rf.rec(whole.judged.join(users, on="user", how="left", maintain_order="left"))
    by_users, by_items = whole.rec()(users=users), whole.rec()(items=items)
    two_by_items = two.rec()(items=items)
    weeks = rf.rec(whole.judged.with_columns(week))
    of_both = rf.rec(two.recs.with_columns(week), two.truth.with_columns(week))
    rows = [
        ("a column of 100 values of users", by_users, "100 values"),
        ("a column of 100 values of the judged frame", judged, "100 values"),
        ("10,000 segments of users", by_users, "10,000 values"),
        ("10,000 segments of the judged frame", judged, "10,000 values"),
        ("a column of 100 values of users, two frames", two.rec()(users=users), "100 values"),
        ("a property of items, 20 values", by_items, "20 values"),
        ("a property of items, 10,000 values", by_items, "10,000 values"),
        ("a property of items, 20 values, two frames", two_by_items, "20 values"),
        ("a property of items, 10,000 values, two frames", two_by_items, "10,000 values"),
        ("a column of the judged frame, of each row", weeks, "week"),
        ("a column of both frames, of each row", of_both, "week"),
    ]
    alone, both = (SIX_AT_10, call(whole)), (SIX_OF_TWO, call(two))
    works = []
    for name, of, by in rows:
        yardstick, six = both if "two frames" in name or of is of_both else alone
        run = partial(of.evaluate, *SIX, k=10, by=by)
        works.append(Work(f"by= {name}", yardstick, run, six))
    return works


def call(
    case: Case, *metrics: str, k: Any = 10, kind: Any = lambda frame: frame, **options: Any
) -> Run:
    """Return a call on the case's frames of a kind, for the six where no metric is named."""
    return partial(case.rec(kind).evaluate, *(metrics or SIX), k=k, **options)


def lazily(case: Case, engine: Any) -> Run:
    """Return the six at 10 of the case's frames as LazyFrames, collected by an engine."""
    rec = case.rec(pl.DataFrame.lazy)
    return lambda: rec.evaluate(*SIX, k=10).collect(engine=engine)


def joined(case: Case) -> Run:
    """Return Polars' own inner join of the two frames, in memory."""
    plan = case.recs.lazy().join(case.truth.lazy(), on=["user", "item"])
    return lambda: plan.collect(engine="in-memory")


def of_another(frame: pl.DataFrame) -> Run:
    """Return ndcg@10 of the next thousand rows of a frame, from call to call."""
    starts = range(0, len(frame), SMALL_ROWS)[:MANY_CALLS]
    pieces = cycle([frame.slice(start, SMALL_ROWS) for start in starts])
    return lambda: rf.rec(next(pieces)).ndcg(k=10)


def by_hand(frame: pl.DataFrame) -> Run:
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
    compiles = {name: one for name, one in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", IMPORT]
    call = partial(subprocess.check_output, command, text=True, env=compiles)
    return min(float(call()) for _ in range(repeats + 1))


def measure(settings: Settings, repeats: int, only: str) -> list[dict[str, Any]]:
    rows = []
    for together in cases(settings):
        for work in (one for one in together if only in one.name):
            taken = bench.times_in_turn([work.run, work.against], repeats, [work.calls] * 2)
            ours, theirs = map(median, taken)
            about = {"work": work.name, "yardstick": work.yardstick}
            rows.append(about | {"seconds": ours, "yardstick_seconds": theirs})
            bench.say(f"{work.name:52s} {ours:9.4f} s  {ours / theirs:6.2f} x {work.yardstick}")
    return rows


def main() -> None:
    parser = bench.parser(__doc__, repeats=7)
    parser.add_argument("--users", type=int, default=Settings().users, help="100 rows each")
    parser.add_argument("--only", default="", metavar="TEXT", help="works with TEXT in the name")
    options = parser.parse_args()
    settings = Settings(users=options.users)
    result = {
        "settings": {"users": settings.users, "length": settings.length},
        "repeats": options.repeats,
        "machine": bench.machine(),
        "versions": bench.versions(),
        "cases": measure(settings, options.repeats, options.only),
        "import_seconds": import_time(options.repeats),
    }
    bench.say(f"import recframe takes {result['import_seconds'] * 1000:.0f} ms after import polars")
    bench.store(options.json, result)


if __name__ == "__main__":
    main()
