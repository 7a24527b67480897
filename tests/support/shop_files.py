"""Tables in files, and commands run on them: in this process, or in a shell."""

from __future__ import annotations

import os
import subprocess
import sys

import polars as pl
from click.testing import CliRunner, Result

from recframe.cli.commands import main

# The worked example: relevant are A, C and F; the list is B A D C E F. Up to 5 the hits are A at 2 and C at 4.
RECS = pl.DataFrame({"user": [1] * 6, "item": list("BADCEF"), "rank": [1, 2, 3, 4, 5, 6]})
TRUTH = pl.DataFrame({"user": [1] * 3, "item": list("ACF")})

# Two users: user 1 has a hit at 1 and nothing missed; user 2 has a hit at 2 of 2 relevant items. User 3 has no list.
TWO = pl.DataFrame({"user": [1, 2, 2], "item": [10, 20, 30], "rank": [1, 1, 2]})
TWO_TRUTH = pl.DataFrame(
    {"user": [1, 2, 2, 3], "item": [10, 30, 40, 50], "relevance": [3, 1, 2, 1]}
)
USERS = pl.DataFrame({"user": [1, 2, 3], "country": ["FR", "DE", "DE"]})
ITEMS = pl.DataFrame({"item": [10, 20, 30, 40, 50], "genre": ["a", "a", "b", "b", "b"]})


def write_tables() -> None:
    """Write the tables as Parquet files into the folder that is worked in."""
    tables = {
        "recs": RECS,
        "truth": TRUTH,
        "two": TWO,
        "two_truth": TWO_TRUTH,
        "users": USERS,
        "items": ITEMS,
    }
    for name, frame in tables.items():
        frame.write_parquet(f"{name}.parquet")


def run(*arguments: str, **environment: str) -> Result:
    return CliRunner(env=environment).invoke(main, arguments)


def evaluate(*arguments: str) -> pl.DataFrame:
    """Return the table that a command writes."""
    result = run("evaluate", *arguments, "-o", "result.parquet")
    assert result.exit_code == 0, result.output
    return pl.read_parquet("result.parquet")


def failure(*arguments: str) -> str:
    """Return the one line of a command that fails on what it was given."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("Error: ")
    return result.stderr.removeprefix("Error: ").rstrip()


def shell(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command, environment = [sys.executable, *arguments], {**os.environ, **environment}
    return subprocess.run(  # noqa: S603
        command, capture_output=True, text=True, check=False, timeout=60, env=environment
    )
