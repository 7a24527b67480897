"""Short ways to write a list and to ask something of it, for tests whose numbers are worked out by hand."""

from __future__ import annotations

import os
import shlex
import tempfile
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

import recframe as rf
from frame_kinds import Kind

SCHEMA = {"user": pl.String, "item": pl.String, "rank": pl.Int64, "relevance": pl.Float64}


def ask(
    kind: Kind, frame: pl.DataFrame, *metrics: Any, k: Any = None, by: Any = None, **options: Any
) -> pl.DataFrame:
    """Evaluate on one kind of frame, side frames included, and read the result back as a Polars frame."""
    return kind.read(bound(kind, frame, **options).evaluate(*metrics, k=k, by=by))


def bound(kind: Kind, frame: pl.DataFrame, **options: Any) -> Any:
    """Bind options to one kind of frame, of which side frames are too."""
    frames = {name: kind(one) for name, one in options.items() if isinstance(one, pl.DataFrame)}
    return kind(frame).rec(**options | frames)


def ask_one(kind: Kind, frame: pl.DataFrame, *metrics: Any, **asked: Any) -> dict[str, Any]:
    """Evaluate without segments: the one row of the result."""
    return ask(kind, frame, *metrics, **asked).row(0, named=True)


def rows(
    *rows: tuple[Any, ...], schema: Any = ("user", "item", "rank", "relevance"), **dtypes: Any
) -> pl.DataFrame:
    """Make a frame of rows; columns have the usual dtypes where no other is given."""
    known = SCHEMA | dtypes
    return pl.DataFrame(rows, {name: known.get(name, pl.String) for name in schema}, orient="row")


def ranking(
    relevance: Sequence[Any], ranks: Sequence[Any] | None = None, user: str = "u"
) -> pl.DataFrame:
    """Make the judged list of one user: items a, b, c and so on at ranks 1, 2, 3 and so on, or at those given."""
    ranks = ranks or range(1, len(relevance) + 1)
    pairs = zip(ranks, relevance, strict=True)
    return rows(*((user, chr(ord("a") + at), *pair) for at, pair in enumerate(pairs)))


def recommended(**lists: str) -> pl.DataFrame:
    """Make recommendations: each user's items from rank 1 down, one letter each."""
    found = [(user, item, rank) for user in lists for rank, item in enumerate(lists[user], start=1)]
    return rows(*found, schema=("user", "item", "rank"))


def liked(**items: str) -> pl.DataFrame:
    """Make a truth: each user's relevant items, one letter each."""
    pairs = [(user, item) for user, own in items.items() for item in own]
    return rows(*pairs, schema=("user", "item"))


def shell(command: str, **written: pl.DataFrame) -> None:
    """Run a command in a folder with tables of the shop, and others as CSV; it raises its error, and warns of its notes."""
    import click  # noqa: PLC0415  few of those that ask need it
    from click.testing import CliRunner  # noqa: PLC0415

    import shop_files  # noqa: PLC0415

    before = Path.cwd()
    with (
        tempfile.TemporaryDirectory() as folder,
        CliRunner().isolation() as (_, printed, _),
        suppress(SystemExit),
    ):
        os.chdir(folder)
        shop_files.write_tables()
        for name, frame in written.items():
            frame.write_csv(f"{name}.csv")
        try:
            words = shlex.split(command)
            click.Group.main(shop_files.main, words, "recframe", standalone_mode=False)
        finally:
            os.chdir(before)
            for line in printed.getvalue().decode().splitlines():
                warnings.warn(line, rf.RecframeWarning, stacklevel=2)
