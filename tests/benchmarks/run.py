"""The benchmark: six metrics at k from a long dataframe, by recframe, a compiled loop, pytrec_eval and ranx, in one run.

    python tests/benchmarks/run.py --users 100000 --length 100 --relevant 0.12 --repeats 5
    python tests/benchmarks/run.py --small

It needs the `[test]` extra. All are checked to give the same six numbers before any is timed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import data
import memory
import polars as pl
import report
from contenders import CONTENDERS, LOOP
from data import Settings
from timing import Timed, check, interleave

SMALL = {"users": 2_000, "peer_users": 2_000, "repeats": 3}


def options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    usual = Settings()
    parser.add_argument(
        "--users", type=int, default=usual.users, help="how many users (%(default)s)"
    )
    parser.add_argument(
        "--length", type=int, default=usual.length, help="rows of each user (%(default)s)"
    )
    parser.add_argument(
        "--relevant",
        type=float,
        default=usual.relevant,
        help="share of relevant rows (%(default)s)",
    )
    parser.add_argument(
        "--ids", choices=data.IDS, default=usual.ids, help="dtype of users and items (%(default)s)"
    )
    parser.add_argument(
        "--order", choices=data.ORDERS, default=usual.order, help="order of the rows (%(default)s)"
    )
    parser.add_argument(
        "--shape",
        choices=data.SHAPES,
        default=usual.shape,
        help="judged frame, or two frames (%(default)s)",
    )
    parser.add_argument(
        "--seed", type=int, default=usual.seed, help="of the random data (%(default)s)"
    )
    parser.add_argument("-k", type=int, default=10, help="the cut-off (%(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="interleaved rounds (%(default)s)")
    parser.add_argument(
        "--peer-users",
        type=int,
        default=20_000,
        help="peers' users, time scaled; 0: no peers (%(default)s)",
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="TEXT",
        help="the loop, and who has TEXT in the name",
    )
    parser.add_argument(
        "--memory",
        action="store_true",
        help="measure peak memory too (Linux; a process for each contender)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to a JSON file")
    parser.add_argument("--small", action="store_true", help=f"a few seconds: {SMALL}")
    if parser.parse_args(arguments).small:
        parser.set_defaults(**SMALL)
    return parser.parse_args(arguments)


def entries(settings: Settings, peer_users: int, only: Sequence[str]) -> list[Timed]:
    """Return the contenders that are asked for, each with its case; peers have the first users of the same rows."""
    numbers = data.numbers(settings)
    whole = data.case(numbers, settings)
    peer_users = min(peer_users, settings.users)
    part = whole
    if 0 < peer_users < settings.users:
        part = data.case(
            numbers.filter(pl.col("user") < peer_users), replace(settings, users=peer_users)
        )
    asked = [
        one
        for one in CONTENDERS
        if one.name == LOOP or not only or any(text in one.name for text in only)
    ]
    return [
        Timed(
            one, part if one.is_peer else whole, settings.users / peer_users if one.is_peer else 1
        )
        for one in asked
        if peer_users or not one.is_peer
    ]


def measure_memory(result: dict[str, Any], timed: Sequence[Timed], k: int) -> None:
    """Write the peak memory of each contender into the result; the loop takes none."""
    result["input_bytes"] = sum(int(frame.estimated_size()) for frame in timed[0].case.given)
    for entry, row in zip(timed, result["contenders"], strict=True):
        tell(f"memory of {entry.contender.name}")
        row["peak_bytes"] = (
            0 if entry.contender.name == LOOP else memory.peak(entry.contender.name, entry.case, k)
        )


def tell(line: str) -> None:
    """Say on a terminal what is going on."""
    if sys.stderr.isatty():
        sys.stderr.write(f"{line}\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the data, check, time, and print."""
    asked = options(arguments)
    settings = Settings(**{name: getattr(asked, name) for name in Settings.__dataclass_fields__})
    tell("making the data")
    timed = entries(settings, asked.peer_users, asked.only)
    tell("checking that all give the same numbers (compiles what is compiled)")
    numbers = check(timed, asked.k, timed[0].contender)
    interleave(timed, asked.k, asked.repeats, tell)
    result = report.collect(settings, asked.k, timed, numbers)
    if asked.memory:
        measure_memory(result, timed, asked.k)
    sys.stdout.write(f"{report.text(result)}\n")
    if asked.json:
        asked.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
