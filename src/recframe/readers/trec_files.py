"""TREC run and qrels files: readers and writers."""

from __future__ import annotations

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
VALUES = {"topic": pl.String(), "document": pl.String(), "rank": pl.Int64(), "score": pl.Float64()}
VALUES |= {"relevance": pl.Int64()}
KINDS = {"rank": "a whole number", "score": "a number", "relevance": "a whole number"}
IDS = {"topic": "user", "document": "item"}
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
    lines = pl.scan_csv(
        place,
        glob=False,
        has_header=False,
        separator=NO_BYTE,
        quote_char=None,
        schema={"line": pl.String},
        row_index_name="number",
        row_index_offset=1,
    )
    found, parts = lines.with_columns(found=pl.col("line").str.extract_all(FIELD)), pl.col("found")
    values = {
        one: parts.list.get(place, null_on_oob=True).cast(VALUES[one], strict=False)
        for place, one in enumerate(fields)
        if one in VALUES
    }
    is_wrong = [parts.list.len() != len(fields), *(one.is_null() for one in values.values())]
    wrong = pl.any_horizontal(is_wrong)
    # NOTE: a filter, which lets every row through or fails: a column would not be read where nobody asks for it.
    checked = found.filter(parts.list.len() > 0).filter(fails_if(wrong, _words(place, fields)) == 0)
    return checked.select(value.alias(IDS.get(one, one)) for one, value in values.items())


def _words(place: Path, fields: tuple[str, ...]) -> pl.Expr:
    """Return the error message for a line."""
    numbers = ", ".join(f"the {field} {KINDS[field]}" for field in fields if field in KINDS)
    form = f"a line has {len(fields)} fields: {' '.join(fields)}; {numbers}"
    return worded(
        "line ",
        pl.col("number"),
        f" of {str(place)!r} is '",
        shown_in_plan(pl.col("line")),
        f"', and {form}",
    )


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
    rows = _rows(side, orders, "rf.write_trec_run")
    if "rank" not in orders:
        place = pl.int_range(1, pl.len() + 1).over("user")
        rows = by_score(rows, "user", "score").with_columns(rank=place)
    elif "score" not in orders:
        rows = rows.with_columns(score=-pl.col("rank").cast(pl.Float64))
    finite = pl.col("rank").cast(pl.Float64).is_finite()
    lines = rows.filter(finite).sort("user", "rank", maintain_order=True)
    score_of = pl.col("score").cast(pl.Float64).fill_nan(None)
    fields: list[Any] = ["user", pl.lit("Q0").alias("Q0"), "item", _whole("rank").alias("rank")]
    _write(lines.select(*fields, score_of, pl.lit(tag).alias("tag")), path)


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
    rows = _rows(side, roles, "rf.write_trec_qrels")
    rows = rows if roles else rows.with_columns(relevance=pl.lit(1))
    judged = rows.filter(pl.col("relevance").cast(pl.Float64).is_not_nan())
    grade = _whole("relevance")
    _write(judged.select("user", pl.lit("0").alias("iteration"), "item", relevance=grade), path)


def _rows(side: Side, roles: list[str], call: str) -> pl.LazyFrame:
    """Return the columns of roles, of the rows that have a user and an item."""
    for role in ("user", "item", *roles):
        side.require(role, f"Name the column of the {role}: {call}(..., {role}='...')")
    return side.take(["user", "item", *roles]).lazy().drop_nulls(["user", "item"])


def _whole(name: str) -> pl.Expr:
    """Return whole numbers as text, and what is none as it is, with a blank, which no field has."""
    number = pl.col(name)
    whole = number.cast(pl.Int64)
    return (
        pl.when(whole == number).then(whole.cast(pl.String)).otherwise(number.cast(pl.String) + " ")
    )


def _write(lines: pl.LazyFrame, path: File) -> None:
    """Write lines of fields, each a word without white space and each number of them whole but a score."""
    schema = lines.collect_schema()
    ids = [as_text(pl.col(one), schema[one]).alias(one) for one in IDS.values()]
    found = stream(lines.with_columns(ids))
    for column in found.iter_columns():
        words = column.cast(pl.String)
        wrong = words.filter(~words.str.contains(f"^{FIELD}$").fill_null(value=False))
        if len(wrong):
            value = "no value" if wrong[0] is None else repr(wrong[0].strip())
            why = (
                "is a whole number"
                if column.name in KINDS and column.name != "score"
                else "is a word without white space"
            )
            msg = f"the {column.name} of a row is {value}, but the field of a TREC file {why}; replace it, or drop the row"
            raise DataError(msg)
    is_packed = Path(path).suffix.lower() == ".gz"

    def fill(file: BinaryIO) -> None:
        packed: Any = gzip.GzipFile(fileobj=file, mode="wb") if is_packed else nullcontext(file)
        with packed as inner:
            found.write_csv(inner, separator=" ", include_header=False, quote_style="never")

    atomic_write.write(path, fill)
