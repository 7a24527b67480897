"""TREC run and qrels files: readers and writers."""

from __future__ import annotations

import glob
import gzip
import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from recframe.errors import DataError, RecframeError, fails_if, shown_in_plan, worded
from recframe.frames import atomic_write
from recframe.frames.collecting import stream
from recframe.frames.dtypes import as_text
from recframe.frames.options import Context
from recframe.frames.roles import Side
from recframe.readers.ids import by_score

File = str | os.PathLike[str]

RUN = ("topic", "Q0", "document", "rank", "score", "tag")
QRELS = ("topic", "iteration", "document", "relevance")
NAMES = {"topic": "user", "document": "item"}
NUMBERS = {"rank": pl.Int64(), "score": pl.Float64(), "relevance": pl.Int64()}
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


def _scan(path: File, fields: tuple[str, ...]) -> pl.LazyFrame:
    place = Path(path).expanduser()
    if not atomic_write.is_utf8(str(place)):
        raise _unreadable(path, "its name is not UTF-8, which Polars needs; rename it")
    if not place.is_file() or not place.stat().st_size:
        raise _unreadable(path, "there is no such file, or it is empty")
    return scan_lines(glob.escape(str(place)), str(place), fields)


def scan_lines(content: str | bytes, name: str, fields: tuple[str, ...]) -> pl.LazyFrame:
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
    held = pl.col("line").str.extract_all(FIELD)
    lines = lines.with_columns(held=held).filter(held.list.len() > 0)
    values = {
        NAMES.get(field, field): pl.col("held")
        .list.get(number, null_on_oob=True)
        .cast(NUMBERS.get(field, pl.String()), strict=False)
        for number, field in enumerate(fields)
        if field in NAMES | NUMBERS
    }
    is_wrong = (pl.col("held").list.len() != len(fields)) | pl.any_horizontal(
        value.is_null() for value in values.values()
    )
    words = worded(
        "line ",
        pl.col("number"),
        f" of {name!r} is '",
        shown_in_plan(pl.col("line")),
        f"', and a line has {len(fields)} fields: {' '.join(fields)}; rank and relevance are whole numbers, the score a number",
    )
    # NOTE: a filter, which lets every row through or fails: a column would not be read where nobody asks for it.
    return lines.filter(fails_if(is_wrong, words) == 0).select(**values)


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
    orders = [role for role in ("rank", "score") if side.has(role)] or ["rank"]
    rows, minus_rank = _rows(side, orders), -pl.col("rank").cast(pl.Float64)
    if orders == ["score"]:
        place = pl.int_range(1, pl.len() + 1).over("user")
        rows = by_score(rows, "user", "score").with_columns(rank=place)
    rows = rows if "score" in orders else rows.with_columns(score=minus_rank)
    rows = rows.filter(minus_rank.is_finite()).sort("user", "rank", maintain_order=True)
    rows = rows.with_columns(pl.col("score").cast(pl.Float64).fill_nan(None))
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
    roles = ["relevance"] * side.has("relevance")
    rows = _rows(side, roles).with_columns(pl.lit("0").alias("iteration"))
    rows = rows if roles else rows.with_columns(relevance=pl.lit(1))
    _write(rows.filter(pl.col("relevance").cast(pl.Float64).is_not_nan()), QRELS, path)


def _rows(side: Side, roles: list[str]) -> pl.LazyFrame:
    """Return the columns of roles, of the rows that have a user and an item."""
    for role in ("user", "item", *roles):
        side.require(role, f"Name the column of the {role}: {role}='...'")
    return side.take(["user", "item", *roles]).lazy().drop_nulls(["user", "item"])


def _write(rows: pl.LazyFrame, fields: tuple[str, ...], path: File) -> None:
    """Write lines of fields, each a word without white space, ranks and relevances whole numbers."""
    schema = rows.collect_schema()
    found = stream(rows.select(_text(NAMES.get(field, field), schema) for field in fields))
    for column in found.iter_columns():
        wrong = column.filter(~column.str.contains(f"^{FIELD}$").fill_null(value=False))
        if len(wrong):
            value = "no value" if wrong[0] is None else repr(wrong[0].strip())
            is_whole = column.name in {"rank", "relevance"}
            why = "is a whole number" if is_whole else "is a word without white space"
            msg = f"the {column.name} of a row is {value}, but the field of a TREC file {why}; replace it, or drop the row"
            raise DataError(msg)
    is_packed = Path(path).suffix.lower() == ".gz"

    def fill(file: BinaryIO) -> None:
        packed: Any = gzip.GzipFile(fileobj=file, mode="wb") if is_packed else nullcontext(file)
        with packed as inner:
            found.write_csv(inner, separator=" ", include_header=False, quote_style="never")

    atomic_write.write(path, fill)


def _text(name: str, schema: pl.Schema) -> pl.Expr:
    """Return a column as text; a number that is to be whole and is not has a blank, which no field has."""
    if name not in ("rank", "relevance"):
        return as_text(pl.col(name), schema[name])
    number = pl.col(name)
    whole, text = number.cast(pl.Int64, strict=False), number.cast(pl.String)
    return pl.when(whole == number).then(whole.cast(pl.String)).otherwise(text + " ").alias(name)
