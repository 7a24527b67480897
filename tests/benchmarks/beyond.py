"""What metrics beyond accuracy take beside the six accuracy metrics on the same lists: processor time, and peak memory.

    python tests/benchmarks/beyond.py --json tests/benchmarks/beyond.json
    python tests/benchmarks/beyond.py --users 250000 --only rbo miscalibration

It needs the `[test]` extra. A piece of work and the six metrics take turns, and the fewest seconds of all threads are compared;
the memory is that of a process of its own (Linux only).
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import data
import machine
import numpy as np
import polars as pl
import pyarrow as pa
from contenders import METRICS
from data import N_ITEMS, Settings
from memory import RESET_PEAK, read_through, status
from pyarrow import ipc

import recframe as rf

SIX = [f"{name}@10" for name in METRICS]
PLAIN = [
    *("coverage", "gini", "entropy", "personalization", "user_coverage", "fall_out", "mcc"),
    *("novelty", "popularity", "epc", "efd", "repeat_rate", "popularity_lift"),
    *("long_tail_share", "long_tail_count", "tail_coverage"),
]
"""The metrics beyond accuracy for which a train frame is enough; the whole lists count."""
WARM_UP_USERS = 3_000
"""Enough rows for the plans of large frames."""
FEW = 10
"""One so many times shorter has the users of the whole lists."""


@dataclass(frozen=True)
class Work:
    """Metrics, asked of lists with frames beside them, which have their roles."""

    name: str
    metrics: list[str]
    sides: Mapping[str, str] = field(default_factory=dict)
    whole: bool = False
    """Whether the lists have a hundred rows, of a tenth of the users."""

    def run(self, frames: Mapping[str, pl.DataFrame]) -> object:
        """Return the metrics' numbers."""
        beside: Any = {role: frames[name] for role, name in self.sides.items()}
        return rf.rec(frames["lists"])(**beside).evaluate(*self.metrics)


SIX_METRICS = Work("six metrics at 10", SIX)
MANY, ONE, TRAIN = {"items": "categories"}, {"items": "category"}, {"train": "train"}
WORKS = [
    Work("16 metrics of whole lists", PLAIN, TRAIN, whole=True),
    Work("miscalibration, lists of categories", ["miscalibration@10"], TRAIN | MANY),
    Work("miscalibration, one category", ["miscalibration@10"], TRAIN | ONE),
    Work("alpha_ndcg, lists of categories", ["alpha_ndcg@10"], MANY),
    Work("alpha_ndcg, one category", ["alpha_ndcg@10"], ONE),
    Work("diversity, lists of categories", ["diversity@10"], MANY),
    Work("diversity, one category", ["diversity@10"], ONE),
    Work("rbo", ["rbo@10"], {"reference": "reference"}),
    Work("serendipity, lists of categories", ["serendipity@10"], TRAIN | MANY),
    Work("serendipity, one category", ["serendipity@10"], TRAIN | ONE),
]


def frames(users: int, *, whole: bool, seed: int = 0) -> dict[str, pl.DataFrame]:
    """Return a judged frame, with ten rows a user or a hundred, 20 rows of train a user, references and categories of items."""
    random = np.random.default_rng(seed)
    users = users // FEW if whole else users
    lists = data.numbers(Settings(users=users, length=100 if whole else 10, seed=seed))
    # a popular item has a low number
    first, step = random.random((users, 1)), random.random((users, 1))
    places = (first + step * np.arange(1, 21)) % 1
    train = {"user": np.repeat(np.arange(users), 20), "item": (N_ITEMS * places**3).ravel()}
    return {
        "lists": lists,
        "train": pl.DataFrame(train).with_columns(pl.col("item").cast(pl.Int64)),
        "reference": _changed(lists.drop("relevance").drop_nulls(), random),
        **_described(random),
    }


def _changed(lists: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    """Return the lists with half of their items replaced, sorted by user and rank."""
    kept, other = random.random(len(lists)) < 0.5, random.integers(0, N_ITEMS, len(lists))
    return lists.with_columns(pl.when(pl.Series(kept)).then("item").otherwise(pl.Series(other)))


def _described(random: np.random.Generator) -> dict[str, pl.DataFrame]:
    """Return items with one to three of twenty genres, and with one."""
    names = [f"genre {number}" for number in range(20)]
    picked = [random.choice(20, size, replace=False) for size in random.integers(1, 4, N_ITEMS)]
    items = pl.DataFrame({"item": range(N_ITEMS)})
    lists = pl.Series("genres", [[names[one] for one in genres] for genres in picked])
    return {
        "categories": items.with_columns(lists),
        "category": items.with_columns(genre=lists.list.first()),
    }


def cpu_seconds(
    works: Sequence[Work], given: Mapping[str, pl.DataFrame], repeats: int
) -> list[float]:
    """Return the fewest seconds of all threads that each takes, after one untimed turn."""
    taken: list[list[float]] = [[] for _ in works]
    for turn in range(repeats + 1):
        for work, times in zip(works, taken, strict=True):
            gc.collect()
            start = time.process_time()
            work.run(given)
            if turn:
                times.append(time.process_time() - start)
    return [min(times) for times in taken]


def peak(work: Work, given: Mapping[str, pl.DataFrame]) -> int:
    """Return the bytes by which a piece of work raises the resident memory at its peak, in a process that maps the frames."""
    names = ["lists", *work.sides.values()]
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            given[name].write_ipc(Path(folder) / name, compression="uncompressed")
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            return pool.apply(_peak_here, (work, Path(folder), names))


def _peak_here(work: Work, folder: Path, names: list[str]) -> int:
    work.run(frames(WARM_UP_USERS, whole=work.whole))
    given = {}
    for name in names:
        table = ipc.open_file(pa.memory_map(str(folder / name))).read_all()
        read_through(table)
        given[name] = pl.DataFrame(table)
    given["lists"] = given["lists"].with_columns(pl.col("user").set_sorted())
    gc.collect()
    RESET_PEAK.write_text("5", encoding="ascii")
    before = status("VmRSS")
    work.run(given)
    return status("VmHWM") - before


def measure(users: int, repeats: int, only: Sequence[str]) -> list[dict[str, Any]]:
    """Return a row for each piece of work."""
    rows = []
    for whole in (True, False):
        works = [one for one in WORKS if one.whole == whole and any(map(one.name.count, only))]
        given = frames(users, whole=whole) if works else {}
        for work in works:
            seconds, six = cpu_seconds([work, SIX_METRICS], given, repeats)
            rows.append({"work": work.name, "seconds": seconds, "six_seconds": six})
            rows[-1] |= {"peak_bytes": peak(work, given)}
            shown = f"{seconds:8.3f} s  {seconds / six:6.2f} x six  {rows[-1]['peak_bytes'] / 1e6:8.0f} MB"
            sys.stdout.write(f"{work.name:38s} {shown}\n")
            sys.stdout.flush()
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; write a JSON file where asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    shown = "how many users, 10 rows each; whole lists have 100 of a tenth of them (%(default)s)"
    parser.add_argument("--users", type=int, default=1_000_000, help=shown)
    parser.add_argument("--repeats", type=int, default=5, help="turns (%(default)s)")
    parser.add_argument("--only", nargs="+", default=[""], help="parts of names of the works")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to a JSON file")
    options = parser.parse_args(arguments)
    result = {
        "users": options.users,
        "repeats": options.repeats,
        "machine": machine.describe(),
        "versions": machine.versions(),
        "works": measure(options.users, options.repeats, options.only),
    }
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
