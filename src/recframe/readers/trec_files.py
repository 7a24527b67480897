"""TREC run and qrels files: readers and writers."""

from __future__ import annotations

import glob
import gzip
import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from recframe import atomic_write
from recframe.errors import DataError, RecframeError, fails_if, shown_in_plan, worded
from recframe.frames.dtypes import as_text
from recframe.frames.kinds.kind import stream
from recframe.frames.options import Context
from recframe.frames.roles import Side
from recframe.readers.ids import by_score

File = str | os.PathLike[str]

RUN = ("topic", "Q0", "document", "rank", "score", "tag")
QRELS = ("topic", "iteration", "document", "relevance")
COLUMNS: Mapping[str, tuple[str, Any]] = {
    "topic": ("user", pl.String),
    "document": ("item", pl.String),
    "rank": ("rank", pl.Int64),
    "score": ("score", pl.Float64),
    "relevance": ("relevance", pl.Int64),
}
"""The fields that are read, each with its column and dtype."""
FIELD = r"[^ \t\r\n\x0b\x0c]+"  # what stands between white space of ASCII, as trec_eval has it
NO_BYTE = "\x01"  # which no line has, so that a line is one column


def read_trec_run(path: File) -> pl.DataFrame:
    r"""Return a run in the format of trec_eval as a frame: user, item, rank, score.

    A line is `topic Q0 document rank score tag`, with white space between; a path that ends in `.gz` is unpacked. Ids are
    text, whatever they look like. Ranks and scores are those of the file.

    trec_eval ignores the ranks: it sorts by score, ties by document, descending. `run.rec(truth=qrels)` uses the ranks;
    `run.rec(truth=qrels, score="score", profile="trec_eval")` ranks by score like trec_eval.

    Raises a RecframeError for a file that cannot be read, and for a line that is not a run's, with its number.

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
    return _read(scan_trec_run(path), path)


def read_trec_qrels(path: File) -> pl.DataFrame:
    r"""Return judgements in the format of trec_eval as a frame: user, item, relevance.

    A line is `topic iteration document relevance`, with white space between; a path that ends in `.gz` is unpacked. Ids are
    text, whatever they look like; the iteration is left out.

    Raises a RecframeError for a file that cannot be read, and for a line that is not of qrels, with its number.

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
    return _read(scan_trec_qrels(path), path)


def scan_trec_run(path: File) -> pl.LazyFrame:
    """Return what `read_trec_run` does as a LazyFrame; an invalid line fails when it is collected."""
    return _scan(path, RUN)


def scan_trec_qrels(path: File) -> pl.LazyFrame:
    """Return what `read_trec_qrels` does as a LazyFrame; an invalid line fails when it is collected."""
    return _scan(path, QRELS)


def _read(lines: pl.LazyFrame, path: File) -> pl.DataFrame:
    try:
        return stream(lines)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _unreadable(path, str(error).strip().partition("\n")[0]) from None


def _unreadable(path: File, why: str) -> RecframeError:
    return RecframeError(f"cannot read {os.fspath(path)!r}: {why}")


def _scan(path: File, fields: Sequence[str]) -> pl.LazyFrame:
    place = Path(path).expanduser()
    if not place.is_file() or not place.stat().st_size:
        raise _unreadable(path, "there is no such file, or it is empty")
    return scan_lines(glob.escape(str(place)), str(place), fields)


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
    lines = lines.with_columns(held=pl.col("line").str.extract_all(FIELD))
    held, values = pl.col("held").list, {}
    for place, field in enumerate(fields):
        if field in COLUMNS:
            column, dtype = COLUMNS[field]
            values[column] = held.get(place, null_on_oob=True).cast(dtype, strict=False)
    has_null = pl.any_horizontal(value.is_null() for value in values.values())
    takes = f"{len(fields)} fields: {' '.join(fields)}; rank and relevance are whole numbers, the score a number"
    line = shown_in_plan(pl.col("line"))
    words = worded(
        "line ", pl.col("number"), f" of {name!r} is '", line, f"', and a line has {takes}"
    )
    is_wrong = fails_if((held.len() != len(fields)) | has_null, words)
    # NOTE: a filter, which lets every row through or fails: a column would not be read where nobody asks for it.
    return lines.filter(held.len() > 0).filter(is_wrong == 0).select(**values)


def write_trec_run(  # noqa: PLR0913  the names of the columns
    frame: Any,
    path: File,
    *,
    tag: str = "recframe",
    user: str = "user",
    item: str = "item",
    rank: str = "rank",
    score: str = "score",
) -> None:
    """Write recommendations as a run in the format of trec_eval, a line for each row: topic Q0 document rank score tag.

    The frame is of any kind. A row without a user, an item or a rank is not in a list and has no line; lines are sorted by user
    and rank. A path that ends in `.gz` is compressed.

    trec_eval sorts by score, so a frame without scores gets minus the rank as scores, which keeps its order. Without ranks
    these come from the scores, ties by item, ascending; trec_eval itself orders ties by document, descending.

    Raises a RecframeError for ids that are empty or have white space in them, for missing scores, for ranks that are not whole
    numbers, and for a path that cannot be written.
    """
    side = Side("the frame", frame, Context(user=user, item=item, rank=rank, score=score))
    numbers = [role for role in ("rank", "score") if side.has(role)] or ["rank"]
    rows = _rows(side, numbers)
    if "rank" not in numbers:
        place = pl.int_range(1, pl.len() + 1).over("user")
        rows = by_score(rows, "user", "score").with_columns(rank=place)
    elif "score" not in numbers:
        rows = rows.with_columns(score=-pl.col("rank"))
    rows = rows.filter(pl.col("rank").is_finite()).sort("user", "rank", maintain_order=True)
    _write(rows.with_columns(Q0=pl.lit("Q0"), tag=pl.lit(tag)), RUN, path)


def write_trec_qrels(
    frame: Any, path: File, *, user: str = "user", item: str = "item", relevance: str = "relevance"
) -> None:
    """Write a truth as qrels in the format of trec_eval, a line for each row: topic iteration document relevance.

    The frame is of any kind. A row without a user, an item or a relevance has no line, and without a column of relevances every
    row counts 1. A path that ends in `.gz` is compressed.

    Raises a RecframeError for ids that are empty or have white space in them, for relevances that are not whole numbers, which
    trec_eval cannot read, and for a path that cannot be written.
    """
    side = Side("the truth", frame, Context(user=user, item=item, relevance=relevance))
    rows = _rows(side, ["relevance"] * side.has("relevance")).with_columns(iteration=pl.lit("0"))
    if not side.has("relevance"):
        rows = rows.with_columns(relevance=pl.lit(1))
    _write(rows.drop_nulls("relevance"), QRELS, path)


def _rows(side: Side, numbers: Sequence[str]) -> pl.LazyFrame:
    """Return users, items and some numbers as floats, of the rows that have a user and an item."""
    roles = ["user", "item", *numbers]
    for role in roles:
        side.require(role, f"Name the column of the {role}: {role}='...'")
    rows = side.take(roles).lazy().drop_nulls(["user", "item"])
    return rows.with_columns(pl.col(name).cast(pl.Float64).fill_nan(None) for name in numbers)


def _write(rows: pl.LazyFrame, fields: Sequence[str], path: File) -> None:
    """Write lines of fields, each a word without white space, ranks and relevances whole numbers."""
    schema = rows.collect_schema()
    names = [COLUMNS[field][0] if field in COLUMNS else field for field in fields]
    lines = stream(rows.select(as_text(pl.col(name), schema[name]).alias(name) for name in names))
    for column in lines.iter_columns():
        is_whole = column.name in {"rank", "relevance"}
        pattern = "-?[0-9]+" if is_whole else FIELD
        wrong = column.filter(~column.str.contains(f"^{pattern}$").fill_null(value=False))
        if len(wrong):
            value = "no value" if wrong[0] is None else repr(wrong[0])
            why = "is a whole number" if is_whole else "is a word without white space"
            msg = f"the {column.name} of a row is {value}, but the field of a TREC file {why}; replace it, or drop the row"
            raise DataError(msg)
    is_packed = Path(path).suffix.lower() == ".gz"

    def fill(file: BinaryIO) -> None:
        packed: Any = gzip.GzipFile(fileobj=file, mode="wb") if is_packed else nullcontext(file)
        with packed as inner:
            lines.write_csv(inner, separator=" ", include_header=False, quote_style="never")

    atomic_write.write(path, fill)
