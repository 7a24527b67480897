"""TREC run and qrels files: readers and writers."""

from __future__ import annotations

import gzip
import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from recframe.errors import RecframeError, fails_if, shown_in_plan, worded
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
    _check_place(place, path)
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


def _check_place(place: Path, path: File) -> None:
    """Say that a place has no file, or one that cannot be read."""
    if not place.is_file():
        raise _unreadable(path, "it is a directory" if place.is_dir() else "there is no such file")
    if not place.stat().st_size:
        raise _unreadable(path, "it is empty")
    if not atomic_write.is_utf8(str(place)):
        raise _unreadable(path, "its name is not UTF-8, which Polars needs; rename it")


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
    orders = [role for role in ("rank", "score") if side.has(role)]
    if not orders:
        side.require(
            "rank",
            "Name the column of the ranks or of the scores: rf.write_trec_run(..., rank='...')",
        )
    rows = _with_ids(side, ["user", "item", *orders], "rf.write_trec_run")
    rows = _checked(_ranked(rows, orders), _checks_of_a_run())
    if tag.split() != [tag]:
        msg = f"tag= is {tag!r}; it is a field of each line: give one word without white space"
        raise RecframeError(msg)
    q0, whole = pl.lit("Q0").alias("Q0"), pl.col("rank").cast(pl.Int64)
    lines = rows.sort("user", "rank", maintain_order=True)
    _write(lines.select("user", q0, "item", whole, "score", pl.lit(tag).alias("tag")), path)


def _ranked(rows: pl.LazyFrame, orders: list[str]) -> pl.LazyFrame:
    """Return the rows that have a rank, each with a rank and a score; what is not given comes from the other."""
    if "rank" not in orders:
        place = pl.int_range(1, pl.len() + 1).over("user")
        rows = by_score(rows, "user", "score").with_columns(rank=place)
    number = pl.col("rank").cast(pl.Float64)
    score = pl.col("score") if "score" in orders else -number
    return rows.filter(number.is_finite()).with_columns(score=score)


def _checks_of_a_run() -> list[pl.Expr]:
    """Return checks that fail for a rank that is no whole number, and where a score is missing."""
    item, user, rank = pl.col("item"), pl.col("user"), pl.col("rank")
    parts = worded("the rank ", rank, " is not a whole number, which a run needs")
    missing = "' has no score; fill it, or drop the row"
    unscored = worded(
        "the item '", shown_in_plan(item), "' of the user '", shown_in_plan(user), missing
    )
    score = pl.col("score").cast(pl.Float64).fill_nan(None)
    return [fails_if(rank.cast(pl.Int64) != rank, parts), fails_if(score.is_null(), unscored)]


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
    rows = _with_ids(
        side, ["user", "item", *["relevance"] * side.has("relevance")], "rf.write_trec_qrels"
    )
    if not side.has("relevance"):
        rows = rows.with_columns(relevance=pl.lit(1))
    number = pl.col("relevance").cast(pl.Float64)
    rows = rows.filter(number.is_not_null() & number.is_not_nan())
    message = worded(
        "the relevance ",
        pl.col("relevance"),
        " is not a whole number, which qrels need; round it, or give grades",
    )
    rows = _checked(rows, [fails_if(number.floor() != number, message)])
    grades = pl.col("relevance").cast(pl.Int64)
    _write(rows.select("user", pl.lit(0).alias("iteration"), "item", grades), path)


def _with_ids(side: Side, roles: list[str], call: str) -> pl.LazyFrame:
    """Return the columns of roles, of the rows that have a user and an item."""
    for role in roles:
        side.require(role, f"Name the column of the {role}: {call}(..., {role}='...')")
    return side.take(roles).lazy().drop_nulls(["user", "item"])


def _checked(rows: pl.LazyFrame, checks: list[pl.Expr]) -> pl.LazyFrame:
    """Return rows with ids as text, after checks, and those that fail where an id would be no field of a line."""
    why = "' is empty or has white space in it, which separates the fields of a line; replace it"
    ids, schema = {role: pl.col(role) for role in IDS.values()}, rows.collect_schema()
    of_ids = [
        fails_if(~one.str.contains(f"^{FIELD}$"), worded(f"the {role} '", shown_in_plan(one), why))
        for role, one in ids.items()
    ]
    texts = rows.with_columns(as_text(one, schema[role]).alias(role) for role, one in ids.items())
    return texts.filter(pl.sum_horizontal(*checks, *of_ids) == 0)


def _write(lines: pl.LazyFrame, path: File) -> None:
    found = stream(lines)
    is_packed = Path(path).suffix.lower() == ".gz"

    def fill(file: BinaryIO) -> None:
        packed: Any = gzip.GzipFile(fileobj=file, mode="wb") if is_packed else nullcontext(file)
        with packed as inner:
            found.write_csv(inner, separator=" ", include_header=False, quote_style="never")

    atomic_write.write(path, fill)
