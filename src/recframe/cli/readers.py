"""Readers of files by their endings, as tables of parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
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
    TREC,
    ending_of,
    first_line,
    is_address,
)
from recframe.cli.text_files import NOTHING, ROWS, SEPARATORS, Form, TextPart, escaped, text_parts
from recframe.errors import RecframeError, plan_errors, wrong_ending

NO_FORM = Form()


@dataclass(frozen=True)
class FramePart:
    """Files of the same columns, which are scanned with their dtypes."""

    places: tuple[str, ...]
    frame: Callable[[Sequence[str]], pl.LazyFrame]
    written: Sequence[str] = ()
    """The columns whose values are text of whatever dtype, such as keys of Hive folders."""

    def scan(
        self, dtypes: Mapping[str, pl.DataType] = NOTHING, places: Sequence[str] = ()
    ) -> pl.LazyFrame:
        """Return the rows."""
        del dtypes
        return self.frame(places or self.places)


Part: TypeAlias = TextPart | FramePart


@dataclass(frozen=True)
class Table:
    """The rows of a path: files of one kind, by the columns that all of them have."""

    path: str
    parts: Sequence[Part]
    is_binary: bool = False
    """Whether its columns have dtypes of their own, which are not to be changed."""
    decimal: str = "."
    names: Mapping[str, str] = field(default_factory=dict)
    """Other names of columns; what had such a name before is left out."""

    @cached_property
    def lacking(self) -> dict[str, str]:
        """The columns that some parts have, with a file of a part that has them not."""
        of_parts = {part.places[0]: {*part.scan().collect_schema()} for part in self.parts}
        every = set().union(*of_parts.values())
        return {name: place for place, found in of_parts.items() for name in every - found}

    @cached_property
    def schema(self) -> pl.Schema:
        """The dtypes of its columns, those of text files String."""
        return self.scan().collect_schema()

    @property
    def written(self) -> list[str]:
        """The columns of text, whose dtypes their values decide."""
        names = {self.names.get(name, name) for part in self.parts for name in part.written}
        return [name for name, dtype in self.schema.items() if name in names and dtype == pl.String]

    def scan(self, dtypes: Mapping[str, pl.DataType] = NOTHING) -> pl.LazyFrame:
        """Return the rows in the common dtypes of all parts, with those of `dtypes` where Polars reads them so."""
        own = {shown: name for name, shown in self.names.items()}
        read = {own.get(name, name): dtype for name, dtype in dtypes.items()}
        return self._together([part.scan(read) for part in self.parts])

    def head(self) -> pl.LazyFrame:
        """Return some of the first rows."""
        return self._together([self.parts[0].scan().head(ROWS)])

    def _together(self, parts: Sequence[pl.LazyFrame]) -> pl.LazyFrame:
        """Return parts as one frame of the columns that all have, under their names."""
        taken = self.names.values() - self.names.keys()
        names = [name for name in parts[0].collect_schema() if name not in {*taken, *self.lacking}]
        columns = [pl.col(name).alias(self.names.get(name, name)) for name in names]
        selected = [part.select(columns) for part in parts]
        return pl.concat(selected, how="vertical_relaxed") if len(parts) > 1 else selected[0]

    def first(self, column: str, is_wanted: Callable[[pl.Expr], pl.Expr]) -> tuple[str, int, Any]:
        """Return the file, the row and the value of a column's first value that is wanted."""
        for part in self.parts:
            for place in part.places:
                rows = replace(self, parts=[replace(part, places=(place,))]).scan()
                numbered = rows.select(value=column).with_row_index("row", 1)
                found = numbered.filter(is_wanted(pl.col("value"))).head(1).collect()
                if len(found):
                    return place, *found.row(0)
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
    with reading_of(path):
        if is_text(ending, form):
            return Table(path, text_parts(path, places, form, ending), decimal=form.decimal)
        if ending == ".json":
            return Table(path, _parts(places, partial(_json, of_users=of_users)))
        if ending in JSON:
            return Table(path, _parts(places, _ndjson))
        if ending in TREC:
            return Table(path, _parts(places, partial(_trec, is_named=len(places) > 1)))
        read = _parquet if ending in PARQUET else _ipc
        parts = _binary_parts(places, read, has_keys=[path] != [*places])
        return Table(path, parts, is_binary=True)


def is_text(ending: str, form: Form) -> bool:
    """Return whether files of an ending are text in columns: those of any other too, where their separator is given."""
    return ending in SEPARATORS or (form.separator is not None and ending not in (*TABLES, *JSON))


def _ending(places: Sequence[str], path: str, form: Form) -> str:
    """Return the ending that all files have, in lower case and without that of a compression."""
    ending, *others = dict.fromkeys(map(ending_of, places))
    if others:
        kinds = ", ".join([ending, *others])
        raise RecframeError(
            f"{path!r} stands for files of several kinds ({kinds}); give a pattern of one kind"
        )
    if ending not in KNOWN and not is_text(ending, form):
        raise RecframeError(
            f"cannot read {path!r}: {wrong_ending(ending)}; known are {', '.join(KNOWN)}. If it is text "
            "in columns, say what stands between them: --separator tab"
        )
    return ending


def _parts(places: Sequence[str], read: Callable[[str], pl.LazyFrame]) -> list[FramePart]:
    """Return a part for each file that has columns, whose texts are as written."""
    parts = []
    for place in places:
        rows = read(place)
        written = [name for name, dtype in rows.collect_schema().items() if dtype == pl.String]
        parts.append(FramePart((place,), _same(rows), written))
    return [part for part in parts if part.scan().collect_schema()] or parts


def _same(rows: pl.LazyFrame) -> Callable[[Sequence[str]], pl.LazyFrame]:
    """Return the frame of files that are read already."""
    return lambda _: rows


# Parquet and Arrow


def _binary_parts(
    places: Sequence[str], read: Callable[[Sequence[str]], pl.LazyFrame], *, has_keys: bool
) -> list[FramePart]:
    """Return a part for the files of each schema, and of the same keys of Hive's folders."""
    groups: dict[Any, list[str]] = {}
    for place in places:
        keys = _keys(place) if has_keys else ()
        groups.setdefault((keys, *read([place]).collect_schema().items()), []).append(place)
    return [
        FramePart(tuple(found), partial(_with_keys, read, dict(keys)), [*dict(keys)])
        for (keys, *_), found in groups.items()
    ]


def _with_keys(
    read: Callable[[Sequence[str]], pl.LazyFrame], keys: Mapping[str, str], places: Sequence[str]
) -> pl.LazyFrame:
    columns = {name: pl.lit(value).replace(NO_KEY, None) for name, value in keys.items()}
    return read(places).with_columns(**columns)


NO_KEY = "__HIVE_DEFAULT_PARTITION__"
"""Hive's word for a value that is missing."""


def _keys(place: str) -> tuple[tuple[str, str], ...]:
    """Return the columns that Hive's folders of a file are, `column=value`."""
    pairs = (unquote(folder).partition("=") for folder in Path(place).parent.parts)
    return tuple((name, value) for name, is_key, value in pairs if name and is_key)


def _parquet(places: Sequence[str]) -> pl.LazyFrame:
    return pl.scan_parquet(escaped(places), hive_partitioning=False)


def _ipc(places: Sequence[str]) -> pl.LazyFrame:
    if len(places) > 1:
        return pl.concat([_ipc([place]) for place in places])
    if not is_address(places[0]):
        with Path(places[0]).open("rb") as file:
            if file.read(4) == ARROW_STREAM:
                return pl.read_ipc_stream(places[0]).lazy()
    return pl.scan_ipc(escaped(places))


# JSON and TREC


def _ndjson(place: str) -> pl.LazyFrame:
    return pl.scan_ndjson(escaped([place]), infer_schema_length=None)


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
    if frame.height != 1 or not all(dtype.is_nested() for dtype in frame.dtypes):
        return frame.lazy()
    users = frame.row(0, named=True)
    if not ROLES.isdisjoint(users) or all("0" in found for found in users.values()):
        raise RecframeError(
            f'cannot read {place!r}: it is no list of rows such as [{{"user": 1, "item": 2, "rank": 1}}]; pandas writes '
            "one with to_json(orient='records')"
        )
    return of_users(users).lazy()


ROLES = {"user", "item", "items", "rank", "relevance"}
"""Names by which a JSON dictionary is one of columns, and not of users."""


def _trec(place: str, *, is_named: bool) -> pl.LazyFrame:
    """Return the rows of a TREC file; of a run among several with a column `model`, which has the file's name."""
    if ending_of(place) != ".run":
        return rf.scan_trec_qrels(place)
    name = Path(place).name.removesuffix(".gz").rpartition(".")[0]
    rows = rf.scan_trec_run(place)
    return rows.with_columns(model=pl.lit(name)) if is_named else rows


# Errors


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
        if "more fields" in found:
            for part in parts:
                if isinstance(part, TextPart):
                    part.check_lines(short_ones=False)
        why = next((remedy for words, remedy in REMEDIES.items() if words in found), found)
        msg = f"cannot read {path!r}: {why}"
        raise RecframeError(msg) from None
