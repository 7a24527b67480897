"""Readers of files by their endings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote

import polars as pl

import recframe as rf
from recframe.cli.files import (
    ARROW_STREAM,
    JSON,
    KNOWN,
    PARQUET,
    TABLES,
    ending_of,
    escaped,
    first_line,
    is_address,
)
from recframe.cli.text_files import NOTHING, SEPARATORS, Form, TextPart, text_part
from recframe.errors import RecframeError, plan_errors, wrong_ending

ROWS = 1_000
"""Rows that are looked at first."""
NO_KEY = "__HIVE_DEFAULT_PARTITION__"
"""Hive's word for a value that is missing."""
NO_FORM = Form()


@dataclass(frozen=True)
class FramePart:
    """A file whose columns have dtypes."""

    place: str
    frame: pl.LazyFrame
    written: Sequence[str] = ()
    """The columns whose values are text of whatever dtype, such as keys of Hive folders."""

    def scan(self, _: Mapping[str, pl.DataType] = NOTHING) -> pl.LazyFrame:
        """Return the rows."""
        return self.frame


Part: TypeAlias = TextPart | FramePart


@dataclass(frozen=True)
class Table:
    """The rows of a path: files of one kind, by the columns that all of them have."""

    path: str
    parts: Sequence[Part]
    is_binary: bool = False
    """Whether its columns have dtypes of their own, which are not to be changed."""
    decimal: str = "."

    @cached_property
    def lacking(self) -> dict[str, str]:
        """The columns that some files have, with a file that has them not."""
        of_files = {part.place: {*part.scan().collect_schema()} for part in self.parts}
        every = set().union(*of_files.values())
        return {name: place for place, found in of_files.items() for name in every - found}

    @cached_property
    def schema(self) -> pl.Schema:
        """The dtypes of its columns, those of text files String."""
        return self.scan().collect_schema()

    @property
    def written(self) -> list[str]:
        """The columns of text, whose dtypes their values decide."""
        names = {name for part in self.parts for name in part.written}
        return [name for name, dtype in self.schema.items() if name in names and dtype == pl.String]

    def scan(self, dtypes: Mapping[str, pl.DataType] = NOTHING) -> pl.LazyFrame:
        """Return the rows in the common dtypes of all files, with those of `dtypes` where Polars reads text so."""
        frames = [part.scan(dtypes) for part in self.parts]
        if len(frames) == 1:
            return frames[0]
        names = [name for name in frames[0].collect_schema() if name not in self.lacking]
        return pl.concat([frame.select(names) for frame in frames], how="vertical_relaxed")

    def head(self) -> pl.LazyFrame:
        """Return some of the first rows."""
        return replace(self, parts=self.parts[:1]).scan().head(ROWS)

    def first(self, column: str, is_wanted: Callable[[pl.Expr], pl.Expr]) -> tuple[str, int, Any]:
        """Return the file, the row and the value of a column's first value that is wanted."""
        for part in self.parts:
            rows = part.scan().select(value=column).with_row_index("row", 1)
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
    ending = _ending(places, path, form)
    parts: list[Part | None]
    with reading_of(path):
        if is_text(ending, form):
            mark = form.separator or SEPARATORS[ending]
            parts = [text_part(place, form, mark) for place in places]
        elif ending in TABLES:
            has_keys = path != places[0]
            parts = [_binary_part(place, has_keys=has_keys) for place in places]
        elif ending == ".json":
            parts = [_as_written(place, _json(place, of_users)) for place in places]
        elif ending in JSON:
            parts = [_as_written(place, _ndjson(place)) for place in places]
        else:
            parts = [_as_written(place, _trec(place, is_named=len(places) > 1)) for place in places]
        held = [part for part in parts if part is not None]
        if not held:
            msg = f"cannot read {path!r}: it is empty; a table without rows has a header line"
            raise RecframeError(msg)
        table = Table(path, held, ending in TABLES, form.decimal)
        _ = table.schema  # which says what is wrong with a file
    return table


def is_text(ending: str, form: Form) -> bool:
    """Return whether files of an ending are text in columns: those of any other too, where their separator is given."""
    return ending in SEPARATORS or (form.separator is not None and ending not in (*TABLES, *JSON))


def _ending(places: Sequence[str], path: str, form: Form) -> str:
    """Return the ending that all files have, in lower case and without that of a compression."""
    endings = map(ending_of, places)
    ending, *others = dict.fromkeys(endings)
    if others:
        kinds = ", ".join([ending, *others])
        msg = f"{path!r} stands for files of several kinds ({kinds}); give a pattern of one kind"
        raise RecframeError(msg)
    if ending not in KNOWN and not is_text(ending, form):
        msg = (
            f"cannot read {path!r}: {wrong_ending(ending)}; known are {', '.join(KNOWN)}. If it is text in columns, say what "
            "stands between them: --separator tab"
        )
        raise RecframeError(msg)
    return ending


def _as_written(place: str, rows: pl.LazyFrame) -> FramePart | None:
    """Return a part whose texts are as written, None for a file without columns."""
    schema = rows.collect_schema()
    written = [name for name, dtype in schema.items() if dtype == pl.String]
    return FramePart(place, rows, written) if schema else None


def _binary_part(place: str, *, has_keys: bool) -> FramePart:
    """Return a Parquet or Arrow file with the columns that Hive's folders of it are, `column=value`."""
    rows = _parquet(place) if ending_of(place) in PARQUET else _ipc(place)
    columns: dict[str, pl.Expr] = {}
    for folder in Path(place).parent.parts if has_keys else ():
        name, is_key, value = unquote(folder).partition("=")
        if name and is_key:
            columns[name] = pl.lit(None if value == NO_KEY else value, pl.String)
    return FramePart(place, rows.with_columns(**columns), [*columns])


def _parquet(place: str) -> pl.LazyFrame:
    """Return the rows of a Parquet file."""
    return pl.scan_parquet(escaped(place), hive_partitioning=False)


def _ipc(place: str) -> pl.LazyFrame:
    """Return the rows of an Arrow file, or of a stream in one."""
    if not is_address(place):
        with Path(place).open("rb") as file:
            if file.read(4) == ARROW_STREAM:
                return pl.read_ipc_stream(place).lazy()
    return pl.scan_ipc(escaped(place))


def _ndjson(place: str) -> pl.LazyFrame:
    """Return the rows of a file with one in each line."""
    return pl.scan_ndjson(escaped(place), infer_schema_length=None)


def _json(place: str, of_users: Callable[[Any], pl.DataFrame]) -> pl.LazyFrame:
    """Return the rows of a JSON file: a list of them, one in each line, or a dictionary of users' items."""
    if is_address(place):
        msg = f"cannot read {place!r}: .json is read from files alone; write NDJSON or Parquet"
        raise RecframeError(msg)
    try:
        frame = pl.read_json(place, infer_schema_length=None)
    except pl.exceptions.ComputeError as error:
        try:
            return _ndjson(place).collect().lazy()
        except (pl.exceptions.PolarsError, OSError):
            raise error from None
    is_dictionary = frame.height == 1 and all(dtype.is_nested() for dtype in frame.dtypes)
    if not is_dictionary:
        return frame.lazy()
    users = frame.row(0, named=True)
    is_of_columns = not ROLES.isdisjoint(users)
    is_of_rows = all("0" in found for found in users.values())
    if is_of_columns or is_of_rows:
        msg = (
            f'cannot read {place!r}: it is no list of rows such as [{{"user": 1, "item": 2, "rank": 1}}]; pandas writes one '
            "with to_json(orient='records')"
        )
        raise RecframeError(msg)
    return of_users(users).lazy()


ROLES = {"user", "item", "items", "rank", "relevance"}
"""Names by which a JSON dictionary is one of columns, and not of users."""


def _trec(place: str, *, is_named: bool) -> pl.LazyFrame:
    """Return the rows of a TREC file; of a run among several with a column `model`, which has the file's name."""
    if ending_of(place) != ".run":
        return rf.scan_trec_qrels(place)
    name = Path(place).name.removesuffix(".gz").removesuffix(".run")
    rows = rf.scan_trec_run(place)
    return rows.with_columns(model=pl.lit(name)) if is_named else rows


REMEDIES = {
    "invalid utf-8": "it is no UTF-8; write its encoding, such as --encoding latin-1, or convert it",
    "could not parse": "a value is no number; write Parquet",
}
"""What to write, by the words of Polars' errors."""


@contextmanager
def reading_of(path: str, parts: Sequence[Part] = ()) -> Iterator[None]:
    """Turn errors of reading into sentences with the file, the line where it is known, and the remedy."""
    try:
        with plan_errors():
            yield
    except (pl.exceptions.PolarsError, OSError, EOFError, UnicodeError) as error:
        found = first_line(error)
        for part in parts if "more fields" in found else ():
            if isinstance(part, TextPart):
                part.check_lines(short_ones=False)
        why = next((remedy for words, remedy in REMEDIES.items() if words in found), found)
        msg = f"cannot read {path!r}: {why}"
        raise RecframeError(msg) from None
