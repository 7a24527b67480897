"""TREC run and qrels files: readers."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from recframe.errors import fails_if, shown_in_plan, worded
from recframe.frames.kinds.kind import stream

File = str | os.PathLike[str]

RUN = ("user", "Q0", "item", "rank", "score", "tag")
QRELS = ("user", "iteration", "item", "relevance")
DTYPES: dict[str, Any] = {"user": pl.String, "item": pl.String, "rank": pl.Int64}
DTYPES |= {"score": pl.Float64, "relevance": pl.Int64}
"""The fields that are read, each with its dtype."""
SPACE = r"[ \t\r\n\x0b\x0c]"  # the white space of ASCII, as trec_eval has it
WORD = SPACE.replace("[", "[^") + "+"
NO_BYTE = "\x01"  # which no line has, so that a line is one column


def read_trec_run(path: File) -> pl.DataFrame:
    r"""Return a run in the format of trec_eval as a frame: user, item, rank, score.

    A line is `user Q0 item rank score tag`, with white space between; a path that ends in `.gz` is unpacked. Ids are text,
    whatever they look like. Ranks and scores are those of the file.

    trec_eval ignores the ranks: it sorts by score, ties by item, descending. `run.rec(truth=qrels)` uses the ranks;
    `run.rec(truth=qrels, score="score", profile="trec_eval")` ranks by score like trec_eval.

    Raises a DataError for a line that is not a run's, with its number.

    >>> import pathlib, tempfile
    >>> import recframe as rf
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "svd.run"
    >>> _ = path.write_text("ann Q0 emma 1 0.9 svd\nann Q0 dune 2 0.5 svd\n")
    >>> rf.read_trec_run(path)
    shape: (2, 4)
    ┌──────┬──────┬──────┬───────┐
    │ user ┆ item ┆ rank ┆ score │
    │ ---  ┆ ---  ┆ ---  ┆ ---   │
    │ str  ┆ str  ┆ i64  ┆ f64   │
    ╞══════╪══════╪══════╪═══════╡
    │ ann  ┆ emma ┆ 1    ┆ 0.9   │
    │ ann  ┆ dune ┆ 2    ┆ 0.5   │
    └──────┴──────┴──────┴───────┘
    """
    return _read(path, RUN)


def read_trec_qrels(path: File) -> pl.DataFrame:
    r"""Return judgements in the format of trec_eval as a frame: user, item, relevance.

    A line is `user iteration item relevance`, with white space between; a path that ends in `.gz` is unpacked. Ids are
    text, whatever they look like; the iteration is left out.

    Raises a DataError for a line that is not of qrels, with its number.

    >>> import pathlib, tempfile
    >>> import recframe as rf
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "test.qrels"
    >>> _ = path.write_text("ann 0 emma 2\nann 0 ilium 0\n")
    >>> rf.read_trec_qrels(path)
    shape: (2, 3)
    ┌──────┬───────┬───────────┐
    │ user ┆ item  ┆ relevance │
    │ ---  ┆ ---   ┆ ---       │
    │ str  ┆ str   ┆ i64       │
    ╞══════╪═══════╪═══════════╡
    │ ann  ┆ emma  ┆ 2         │
    │ ann  ┆ ilium ┆ 0         │
    └──────┴───────┴───────────┘
    """
    return _read(path, QRELS)


def _read(path: File, fields: Sequence[str]) -> pl.DataFrame:
    pattern = glob.escape(str(Path(path).expanduser()))
    return stream(scan_lines(pattern, os.fspath(path), fields))


def scan_lines(content: str | bytes, name: str, fields: Sequence[str]) -> pl.LazyFrame:
    """Return lines of fields as a LazyFrame, of the file of a pattern or of bytes; errors have a name for it."""
    lines = pl.scan_csv(
        content,
        has_header=False,
        separator=NO_BYTE,
        quote_char=None,
        schema={"line": pl.String},
        row_index_name="number",
        row_index_offset=1,
    )
    line = pl.col("line")
    words = f"{SPACE}+".join(f"(?<{field}>{WORD})" for field in fields)
    parts = line.str.extract_groups(f"^{SPACE}*{words}{SPACE}*$").struct
    values = [
        parts.field(field).cast(dtype, strict=False)
        for field, dtype in DTYPES.items()
        if field in fields
    ]
    is_wrong = pl.any_horizontal(value.is_null() for value in values)
    takes = f"{len(fields)} fields: {' '.join(fields)}; rank and relevance are whole numbers, the score a number"
    message = worded(
        "line ",
        pl.col("number"),
        f" of {name!r} is '",
        shown_in_plan(line),
        "', and a line has ",
        takes,
    )
    # NOTE: a filter, which lets every row through or fails: a column would not be read where nobody asks for it.
    lines = lines.filter(line.str.contains(WORD)).filter(fails_if(is_wrong, message) == 0)
    return lines.select(values)
