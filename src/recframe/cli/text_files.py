"""Tables of text without dtypes, and those of text in columns."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
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
IN_QUOTES = re.compile('".*"')
START = 1 << 16
"""Bytes by which an encoding and the end of lines are known."""
FIRST_LINES = 100
"""Lines of which one has values."""
NO_BYTE = "\x01"
"""A separator that no line has, so that a line is one column."""
UNIT = "\x1f"
"""The character that Polars separates fields by in place of several characters."""


@dataclass(frozen=True)
class Table:
    """The rows of a file, or of several as its parts."""

    name: str
    """The path, as messages have it."""
    kind: str
    """The ending that says how it is read."""
    scan: Callable[[Dtypes], pl.LazyFrame]
    """Return the rows; text in columns is read in dtypes where they are given."""
    written: Sequence[str] = ()
    """The columns of text whose dtypes their values decide."""
    decimal: str = "."
    check: Callable[[], None] = lambda: None
    """Reject a line of text with other fields than the first."""
    parts: Sequence[Table] = ()

    @cached_property
    def rows(self) -> pl.LazyFrame:
        """The rows with texts as they are written."""
        return self.scan({})

    @cached_property
    def schema(self) -> pl.Schema:
        """The dtypes of the columns, those of text files String."""
        return self.rows.collect_schema()

    def renamed(self, names: Mapping[str, str]) -> Table:
        """Return it with columns under other names; what had such a name before is left out."""
        names = {old: new for old, new in names.items() if old in self.schema}
        left_out = {*names.values()} - names.keys()
        kept = {name: names.get(name, name) for name in self.schema if name not in left_out}

        def scan(dtypes: Dtypes) -> pl.LazyFrame:
            of_old = {old: dtypes[new] for old, new in kept.items() if new in dtypes}
            return self.scan(of_old).select(pl.col(old).alias(new) for old, new in kept.items())

        written = [kept[name] for name in self.written if name in kept]
        return replace(self, scan=scan, written=written)


@dataclass(frozen=True)
class Form:
    """The form of a text file, as a command says it."""

    separator: str | None = None
    header: Sequence[str] | None = None
    """The names of columns where there is no header line; a column without a name is left out."""
    encoding: str | None = None
    decimal: str = "."
    quotes: bool | None = None


def text_table(source: Source, form: Form, mark: str) -> Table | None:
    """Return a text file, with marks between the fields of a line, as a table; None for an empty file."""
    content, sign = _plain(source, form, mark), mark if len(mark) == 1 else UNIT
    lines = _lines(content).head(FIRST_LINES).drop_nulls("line").head(1).collect()
    if lines.is_empty():
        return None
    first, has_quotes = lines["line"][0].removeprefix("\ufeff"), form.quotes
    if has_quotes is None:
        has_quotes = sign in QUOTED_BY or any(map(IN_QUOTES.fullmatch, first.split(sign)))
    cells = next(csv.reader([first], delimiter=sign)) if has_quotes else first.split(sign)
    fields = [cell.strip() for cell in cells]
    names = fields if form.header is None else form.header
    _check_names(source.name, mark.join(fields), fields, form.header)
    settings: dict[str, Any] = {
        "has_header": form.header is None,
        "separator": sign,
        "quote_char": '"' if has_quotes else None,
        "infer_schema": False,
    }
    columns = pl.scan_csv(content, **settings).collect_schema()
    kept = {column: name for column, name in zip(columns, names, strict=True) if name}

    def scan(dtypes: Dtypes) -> pl.LazyFrame:
        """Return the rows; nothing between separators, or between quotes, is null."""
        known = {column: dtypes[name] for column, name in kept.items() if name in dtypes}
        # NOTE: numbers are null by themselves there, and the words for null take time
        empty = "" if len(known) < len(kept) else None
        rows = pl.scan_csv(content, schema_overrides=known, null_values=empty, **settings)
        return rows.select(pl.col(column).alias(name) for column, name in kept.items())

    def check() -> None:
        """Reject a line with more or fewer fields than the first; NOTE: Polars fills up short lines."""
        said = "its first line has" if form.header is None else "there are names for"
        words = f"and {said} {len(fields)}"
        _check_lines(source.name, content, len(fields), words, mark, has_quotes=has_quotes)

    if len(kept) < len(fields):
        # NOTE: Polars overlooks long lines where a column is not read
        check()
    return Table(source.name, source.kind, scan, [*kept.values()], form.decimal, check)


def _check_names(
    place: str, line: str, fields: Sequence[str], header: Sequence[str] | None
) -> None:
    """Reject names that are not those of the fields of a line, that the line has too, or that stand twice."""
    names = [*filter(None, fields if header is None else header)]
    wrong = ""
    if header is not None and len(header) != len(fields):
        wrong = (
            f"has {len(fields)} fields in its first line, {line!r}, and --header has {len(header)} names; an empty name "
            "leaves a field out, and --separator says what stands between"
        )
    elif header is not None and any(name in fields for name in names):
        wrong = (
            f"has a header line, {line!r}; leave out --header, or say which file has none: "
            f"--header recs={','.join(header)}"
        )
    elif len({*names}) < len(names):
        name = max(names, key=names.count)
        wrong = f"has two columns named {name!r}; drop or rename one of them"
        wrong = without_header(names) or wrong
    if wrong:
        msg = f"{place!r} {wrong}"
        raise RecframeError(msg)


def without_header(names: Iterable[str]) -> str:
    """Return what to write where a first line has a number and is no header, nothing where it is a header."""
    if not any(re.fullmatch(r"[+-]?\d+([.,]\d+)?", name) for name in names):
        return ""
    line = ", ".join(names)
    return (
        f"seems to have no header line, as its first line is {line!r}; name its columns: "
        "--header user,item,rank"
    )


def _check_lines(
    place: str, content: str | bytes, n_fields: int, said: str, mark: str, *, has_quotes: bool
) -> None:
    """Reject the first line with more or fewer fields."""
    line, sign = pl.col("line"), mark if len(mark) == 1 else UNIT
    bare = line.str.replace_all('"[^"]*"', "") if has_quotes else line
    count = bare.str.count_matches(sign, literal=True).cast(pl.Int64) + 1
    lines = _lines(content).drop_nulls("line")
    if has_quotes:
        # NOTE: a value in quotes may go on in the next line, so that a line is no row
        lines = lines.filter((line.str.count_matches('"', literal=True) % 2 == 0).all())
    odd = lines.filter(count != n_fields).select("number", line, count=count)
    for number, text, n in odd.head(1).collect().iter_rows():
        shown = short(text.replace(sign, mark))
        quoted = "" if has_quotes else ", or say that it has quotes: --quotes yes"
        msg = f"line {number} of {place!r} has {n} field{'s' * (n != 1)}, {said}: {shown!r}; mend that line{quoted}"
        raise RecframeError(msg)


def _lines(content: str | bytes) -> pl.LazyFrame:
    """Return the lines of a file with their numbers; those without a sign are null."""
    return pl.scan_csv(
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


def _plain(source: Source, form: Form, mark: str) -> str | bytes:
    """Return a file as Polars reads it: in UTF-8, with a separator of a character and lines that end in a line feed."""
    start = b"" if is_address(source.name) else _bytes(source, START)
    is_far = not start or start.startswith(ZSTD)
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
        text = _bytes(source).decode(encoding or "utf-8")
    except UnicodeError as error:
        msg = f"cannot read {source.name!r} as {encoding or 'UTF-8'}: {error}; write another --encoding"
        raise RecframeError(msg) from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return (text if len(mark) == 1 else text.replace(mark, UNIT)).encode()


def _bytes(source: Source, n: int = -1) -> bytes:
    """Return the first bytes, or all, of a file without its packing, or of what a pipe gave."""
    if isinstance(source.content, bytes):
        return source.content[: n if n > 0 else None]
    is_packed = source.name.lower().endswith(".gz")
    with gzip.open(source.name) if is_packed else Path(source.name).open("rb") as file:
        found: bytes = file.read(n)
    return found


def _utf_16(start: bytes) -> str | None:
    """Return the UTF-16 that the first bytes of a file are in, if they are."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" not in start[:2]:
        return None
    return "utf-16-be" if start[0] == 0 else "utf-16-le"
