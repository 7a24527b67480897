"""Tables of files whose texts have no dtypes yet, and those of text in columns."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from recframe.cli.files import ZSTD, Source, is_address
from recframe.errors import RecframeError, short

Dtypes: TypeAlias = Mapping[str, type[pl.DataType]]
"""The dtypes of columns of text, where they are known."""
SEPARATORS = {".csv": ",", ".tsv": "\t"}
QUOTED_BY = (",", ";")
"""Separators of files in which quotes hold a value together."""
START = 1 << 16
"""Bytes by which an encoding and the end of lines are known."""
NO_BYTE = "\x01"
"""A separator that no line has, so that a line is one column."""
UNIT = "\x1f"
"""The character that Polars separates fields by in place of several characters."""


def _nothing(_: Collection[str]) -> None:
    """Check nothing."""


@dataclass(frozen=True)
class Table:
    """The rows of a file, or of several as its parts."""

    name: str
    """The path, as messages have it."""
    kind: str
    """The ending that says how it is read."""
    scan: Callable[[Dtypes], pl.LazyFrame]
    """Return the rows; a file of text in columns is read in dtypes where they are given."""
    written: Sequence[str]
    """The columns of text whose dtypes their values decide."""
    decimal: str = "."
    check: Callable[[Collection[str]], None] = _nothing
    """Reject a line of text with other fields than the first, by the columns that have nulls."""
    parts: Sequence[Table] = ()

    @property
    def files(self) -> Sequence[Table]:
        """The tables of single files."""
        return self.parts or [self]

    @cached_property
    def rows(self) -> pl.LazyFrame:
        """The rows with texts as they are written."""
        return self.scan({})

    @cached_property
    def schema(self) -> pl.Schema:
        """The dtypes of the columns, those of text files String."""
        return self.rows.collect_schema()

    def first(self, column: str, is_wanted: Callable[[pl.Expr], pl.Expr]) -> tuple[str, int, Any]:
        """Return the file, the row and the value of a column's first value that is wanted."""
        for part in self.files:
            rows = part.rows.select(value=column).with_row_index("row", 1)
            for row in rows.filter(is_wanted(pl.col("value"))).head(1).collect().iter_rows():
                return part.name, *row
        return self.name, 0, None


@dataclass(frozen=True)
class Form:
    """The form of a text file, as a command says it."""

    separator: str | None = None
    header: Sequence[str] | None = None
    """The names of columns where there is no header line; a column without a name is left out."""
    encoding: str | None = None
    decimal: str = "."
    quotes: bool | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    """The names in all files of columns that have others in this one."""


def renamed(columns: Iterable[str], names: Mapping[str, str]) -> dict[str, str]:
    """Return columns with their names in all files; what had such a name before is left out.

    >>> renamed(["who", "item", "liked"], {"liked": "item"})
    {'who': 'who', 'liked': 'item'}
    """
    columns = [*columns]
    new = {names[name] for name in columns if name in names}
    return {name: names.get(name, name) for name in columns if name in names or name not in new}


def text_table(source: Source, form: Form, mark: str) -> Table | None:
    """Return a text file, with marks between the fields of a line, as a table; None for an empty file."""
    content = _plain(source, form, mark)
    sign = mark if len(mark) == 1 else UNIT
    first = _lines(content).head(1).collect()["line"].str.strip_prefix("\ufeff")
    if first.is_empty():
        return None
    has_quotes = _has_quotes(first[0], sign) if form.quotes is None else form.quotes
    fields = _fields(first[0], sign, has_quotes=has_quotes)
    named = fields if form.header is None else form.header
    _check_names(source.name, fields, named, mark, is_header=form.header is None)
    settings: dict[str, Any] = {
        "has_header": form.header is None,
        "separator": sign,
        "quote_char": '"' if has_quotes else None,
        "infer_schema": False,
    }
    names = renamed(filter(None, named), form.names)
    columns = pl.scan_csv(content, **settings).collect_schema()
    pairs = zip(columns, named, strict=True)
    kept = {column: names[name] for column, name in pairs if name in names}

    def scan(dtypes: Dtypes) -> pl.LazyFrame:
        """Return the rows; nothing between separators, or between quotes, is null."""
        known = {column: dtypes[name] for column, name in kept.items() if name in dtypes}
        # NOTE: numbers are null by themselves there, and the words for null take time
        empty = "" if len(known) < len(kept) else None
        rows = pl.scan_csv(content, schema_overrides=known, null_values=empty, **settings)
        return rows.select(pl.col(column).alias(name) for column, name in kept.items())

    def check(with_nulls: Collection[str]) -> None:
        """Reject a line with more or fewer fields than the first.

        NOTE: Polars fills up short lines, and overlooks long ones where a column is not read.
        """
        if len(kept) < len(fields) or [*kept.values()][-1] in with_nulls:
            said = "its first line has" if form.header is None else "there are names for"
            _check_lines(source.name, content, len(fields), said, mark, has_quotes=has_quotes)

    return Table(source.name, source.kind, scan, [*kept.values()], form.decimal, check)


def _has_quotes(line: str, sign: str) -> bool:
    """Return whether quotes hold values together in a file, by its first line."""
    between = re.escape(sign)
    return sign in QUOTED_BY or bool(re.search(rf'(^|{between})"[^"]*"({between}|$)', line))


def _fields(line: str, sign: str, *, has_quotes: bool) -> list[str]:
    """Return the fields of a line."""
    cells = next(csv.reader([line], delimiter=sign)) if has_quotes else line.split(sign)
    return [cell.strip() for cell in cells]


def _check_names(
    place: str, fields: Sequence[str], names: Sequence[str], mark: str, *, is_header: bool
) -> None:
    """Reject names that are not those of the fields of a line, that a header has too, or that stand twice."""
    line = mark.join(fields)
    if len(names) != len(fields):
        msg = (
            f"{place!r} has {len(fields)} fields in its first line, {line!r}, and --header has {len(names)} "
            "names; an empty name leaves a field out, and --separator says what stands between"
        )
        raise RecframeError(msg)
    has_names = any(name and name == field for name, field in zip(names, fields, strict=True))
    if has_names and not is_header:
        msg = (
            f"{place!r} has a header line, {line!r}; leave out --header, or say which file has none: "
            f"--header recs={','.join(names)}"
        )
        raise RecframeError(msg)
    for name in filter(None, names):
        if [*names].count(name) > 1:
            twice = f"{place!r} has two columns named {name!r}; drop or rename one of them"
            raise RecframeError(no_header(place, names) or twice)


def no_header(place: str, names: Iterable[str]) -> str:
    """Return what to write where a first line has a number and is no header, nothing where it is a header."""
    if not any(re.fullmatch(r"[+-]?\d+([.,]\d+)?", name) for name in names):
        return ""
    return (
        f"{place!r} seems to have no header line, as its first line is {', '.join(names)!r}; name its columns: "
        "--header user,item,rank"
    )


def _check_lines(
    place: str, content: str | bytes, n_fields: int, said: str, mark: str, *, has_quotes: bool
) -> None:
    """Reject the first line with more or fewer fields."""
    line, sign = pl.col("line"), mark if len(mark) == 1 else UNIT
    bare = line.str.replace_all('"[^"]*"', "") if has_quotes else line
    count = bare.str.count_matches(sign, literal=True).cast(pl.Int64) + 1
    lines = _lines(content)
    if has_quotes:
        # NOTE: a value in quotes may go on in the next line, so that a line is no row
        quotes = line.str.count_matches('"', literal=True)
        lines = lines.filter((quotes % 2 == 0).all())
    odd = lines.filter(count != n_fields).select("number", line, count=count)
    for number, text, n in odd.head(1).collect().iter_rows():
        quoted = "" if has_quotes else ", or say that it has quotes: --quotes yes"
        msg = (
            f"line {number} of {place!r} has {n} field{'s' * (n != 1)}, and {said} {n_fields}: "
            f"{short(text.replace(sign, mark))!r}; mend that line{quoted}"
        )
        raise RecframeError(msg)


def _lines(content: str | bytes) -> pl.LazyFrame:
    """Return the lines of a file that are not empty, with their numbers."""
    lines = pl.scan_csv(
        content,
        has_header=False,
        separator=NO_BYTE,
        quote_char=None,
        encoding="utf8-lossy",
        schema={"line": pl.String},
        row_index_name="number",
        row_index_offset=1,
        raise_if_empty=False,
    )
    return lines.drop_nulls("line")


def _plain(source: Source, form: Form, mark: str) -> str | bytes:
    """Return a file as Polars reads it: in UTF-8, with a separator of a character and lines that end in a line feed."""
    start, is_far = b"", is_address(source.name)
    if not is_far:
        with _opened(source) as file:
            start = file.read(START)
        is_far = start.startswith(ZSTD)
    encoding = form.encoding or (None if is_far else _utf_16(start))
    has_returns = not is_far and b"\r" in start and b"\n" not in start
    if encoding is None and len(mark) == 1 and not has_returns:
        return source.content
    if is_far:
        msg = (
            f"cannot read {source.name!r}: of its kind only UTF-8 with a separator of one character is read; unpack or "
            "download it"
        )
        raise RecframeError(msg)
    try:
        with _opened(source) as file:
            text = TextIOWrapper(file, encoding or "utf-8").read()
    except UnicodeError as error:
        msg = f"cannot read {source.name!r} as {encoding or 'UTF-8'}: {error}; write another --encoding"
        raise RecframeError(msg) from None
    return (text if len(mark) == 1 else text.replace(mark, UNIT)).encode()


def _opened(source: Source) -> Any:
    """Open a file without its packing, or what a pipe gave."""
    if isinstance(source.content, bytes):
        return BytesIO(source.content)
    is_packed = source.name.lower().endswith(".gz")
    return gzip.open(source.name) if is_packed else Path(source.name).open("rb")


def _utf_16(start: bytes) -> str | None:
    """Return the UTF-16 that the first bytes of a file are in, if they are."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" not in start[:2]:
        return None
    return "utf-16-be" if start[0] == 0 else "utf-16-le"
