"""Readers of files by their kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl

import recframe as rf
from recframe.cli.files import (
    ARROW_STREAM,
    JSON,
    KNOWN,
    PARQUET,
    TABLES,
    TREC,
    escaped,
    first_line,
    is_address,
    kind_of,
)
from recframe.cli.text_files import SEPARATORS, Form, TextFile, text_file
from recframe.errors import RecframeError, plan_errors, wrong_ending

ROWS = 1_000
"""Rows that are looked at first."""
NO_KEY = "__HIVE_DEFAULT_PARTITION__"
"""Hive's word for a value that is missing."""
NO_FORM = Form()
ROLES = {"user", "item", "items", "rank", "relevance"}
"""Names by which a JSON dictionary is one of columns, and not of users."""
REMEDIES = {
    "invalid utf-8": "it is no UTF-8; write its encoding, such as --encoding latin-1, or convert it",
    "could not parse": "a value is no number; write Parquet",
}
"""Remedies, by the words of Polars' errors."""


@dataclass(frozen=True)
class Part:
    """A file, with the columns of text whose dtypes their values decide."""

    place: str
    rows: pl.LazyFrame
    written: Sequence[str]
    text: TextFile | None = None

    def renamed(self, names: Mapping[str, str]) -> Part:
        """Return it with columns under other names; what had such a name before is left out."""
        left_out = {*names.values()} - names.keys()
        rows = self.rows.drop(left_out, strict=False).rename(names, strict=False)
        kept = (name for name in self.written if name not in left_out)
        return replace(self, rows=rows, written=[names.get(name, name) for name in kept])


@dataclass(frozen=True)
class Table:
    """The rows of a path: files of one kind, by the columns that all of them have."""

    path: str
    parts: Sequence[Part]
    kind: str
    decimal: str = "."

    @cached_property
    def lacking(self) -> dict[str, str]:
        """The columns that some files have, with a file that has them not."""
        of_files = {part.place: {*part.rows.collect_schema()} for part in self.parts}
        every = set().union(*of_files.values())
        return {name: place for place, found in of_files.items() for name in every - found}

    @cached_property
    def rows(self) -> pl.LazyFrame:
        """The rows of all files, in their common dtypes."""
        if len(self.parts) == 1:
            return self.parts[0].rows
        first = self.parts[0].rows.collect_schema()
        names = [name for name in first if name not in self.lacking]
        frames = [part.rows.select(names) for part in self.parts]
        return pl.concat(frames, how="vertical_relaxed")

    @cached_property
    def schema(self) -> pl.Schema:
        """The dtypes of its columns, those of text files String."""
        return self.rows.collect_schema()

    @property
    def written(self) -> list[str]:
        """The columns of text whose dtypes their values decide."""
        names = {name for part in self.parts for name in part.written}
        return [name for name, dtype in self.schema.items() if name in names and dtype == pl.String]

    def first(self, column: str, is_wanted: Callable[[pl.Expr], pl.Expr]) -> tuple[str, int, Any]:
        """Return the file, the row and the value of a column's first value that is wanted."""
        for part in self.parts:
            rows = part.rows.select(value=column).with_row_index("row", 1)
            for row in rows.filter(is_wanted(pl.col("value"))).head(1).collect().iter_rows():
                return part.place, *row
        return self.path, 0, None


def table_of(
    path: str,
    places: Sequence[str],
    form: Form = NO_FORM,
    of_users: Callable[[Any], pl.DataFrame] = rf.from_lists,
) -> Table:
    """Return the table of a path's files; `of_users` reads a dictionary of users' items, as JSON has it.

    Raises a RecframeError for files of several kinds, of an unknown ending, and for those that cannot be read.
    """
    with reading_of(path):
        kind = _kind(path, places, form)
        mark = None if kind in (*TABLES, *JSON) else form.separator or SEPARATORS.get(kind)
        if mark is not None:
            parts = [_text(place, form, mark) for place in places]
        elif kind in TABLES:
            parts = [_binary(place, kind, has_keys=path != places[0]) for place in places]
        elif kind in TREC:
            parts = [_trec(place, kind, is_named=len(places) > 1) for place in places]
        else:
            parts = [_json(place, kind, of_users) for place in places]
        held = [part for part in parts if part is not None]
        if not held:
            msg = f"cannot read {path!r}: it is empty; a table without rows has a header line"
            raise RecframeError(msg)
        table = Table(path, held, kind, form.decimal)
        _ = table.schema  # which says what is wrong with a file
    return table


def _kind(path: str, places: Sequence[str], form: Form) -> str:
    """Return the ending that says how all files are read; a separator is for text in columns of any ending."""
    kind, *others = dict.fromkeys(map(kind_of, places))
    if others:
        kinds = ", ".join([kind, *others])
        msg = f"{path!r} stands for files of several kinds ({kinds}); give a pattern of one kind"
        raise RecframeError(msg)
    if kind not in KNOWN and not form.separator:
        msg = (
            f"cannot read {path!r}: {wrong_ending(kind)}; known are {', '.join(KNOWN)}. If it is text in columns, say what "
            "stands between them: --separator tab"
        )
        raise RecframeError(msg)
    return kind


def _text(place: str, form: Form, mark: str) -> Part | None:
    """Return a file of text in columns, None for an empty one."""
    text = text_file(place, form, mark)
    return None if text is None else Part(place, text.rows(), [*filter(None, text.fields)], text)


def _as_written(place: str, rows: pl.LazyFrame) -> Part | None:
    """Return a part whose texts are as written, None for a file without columns."""
    schema = rows.collect_schema()
    written = [name for name, dtype in schema.items() if dtype == pl.String]
    return Part(place, rows, written) if schema else None


def _binary(place: str, kind: str, *, has_keys: bool) -> Part:
    """Return a Parquet or Arrow file with the columns that Hive's folders of it are, `column=value`."""
    columns: dict[str, pl.Expr] = {}
    for folder in Path(place).parent.parts if has_keys else ():
        name, is_key, value = unquote(folder).partition("=")
        if name and is_key:
            columns[name] = pl.lit(None if value == NO_KEY else value, pl.String)
    rows = _parquet(place) if kind in PARQUET else _arrow(place)
    return Part(place, rows.with_columns(**columns), [*columns])


def _parquet(place: str) -> pl.LazyFrame:
    """Return the rows of a Parquet file."""
    return pl.scan_parquet(escaped(place), hive_partitioning=False)


def _arrow(place: str) -> pl.LazyFrame:
    """Return the rows of an Arrow file, or of a stream in one."""
    if not is_address(place):
        with Path(place).open("rb") as file:
            if file.read(4) == ARROW_STREAM:
                return pl.read_ipc_stream(place).lazy()
    return pl.scan_ipc(escaped(place))


def _json(place: str, kind: str, of_users: Callable[[Any], pl.DataFrame]) -> Part | None:
    """Return the rows of a JSON file: one in each line, a list of them, or a dictionary of users' items."""
    frame: pl.DataFrame | None = None
    if kind == JSON[0]:
        with suppress(pl.exceptions.ComputeError):
            frame = pl.read_json(place, infer_schema_length=None)
    if frame is None:
        return _as_written(place, pl.scan_ndjson(escaped(place), infer_schema_length=None))
    is_dictionary = frame.height == 1 and all(dtype.is_nested() for dtype in frame.dtypes)
    if not is_dictionary:
        return _as_written(place, frame.lazy())
    users = frame.row(0, named=True)
    if not ROLES.isdisjoint(users):
        msg = (
            f'cannot read {place!r}: it is no list of rows such as [{{"user": 1, "item": 2, "rank": 1}}]; pandas writes one '
            "with to_json(orient='records')"
        )
        raise RecframeError(msg)
    return _as_written(place, of_users(users).lazy())


def _trec(place: str, kind: str, *, is_named: bool) -> Part | None:
    """Return the rows of a TREC file; of a run among several with a column `model`, which has the file's name."""
    if kind != TREC[0]:
        return _as_written(place, rf.scan_trec_qrels(place))
    rows = rf.scan_trec_run(place)
    name = Path(place).name.removesuffix(".gz").removesuffix(".run")
    return _as_written(place, rows.with_columns(model=pl.lit(name)) if is_named else rows)


@contextmanager
def reading_of(path: str, parts: Sequence[Part] = ()) -> Iterator[None]:
    """Turn errors of reading into sentences with the file, the line where it is known, and the remedy."""
    try:
        with plan_errors():
            yield
    except (pl.exceptions.PolarsError, OSError, EOFError, UnicodeError) as error:
        found = first_line(error)
        for part in parts:
            if part.text is not None and "more fields" in found:
                part.text.check_lines()
        why = next((remedy for words, remedy in REMEDIES.items() if words in found), found)
        msg = f"cannot read {path!r}: {why}"
        raise RecframeError(msg) from None
