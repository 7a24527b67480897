"""Tables of files, and text in columns as one."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple, TypeAlias

import polars as pl

from recframe.cli.files import Given, Source
from recframe.errors import RecframeError, short

Dtypes: TypeAlias = Mapping[str, type[pl.DataType]]
"""The dtypes of columns of text, where they are known."""
ROWS = 1_000
"""Rows that are looked at first."""
QUOTED_BY = (",", ";")
"""Separators of files in which quotes hold a value together."""
IN_QUOTES = re.compile('".*"')
REPEATED = re.compile(r"_duplicated_\d+\Z")
"""Suffix that Polars adds to a repeated name."""
NO_BYTE = "\x01"
"""A separator that no line has, so that a line is one column."""
UNIT = "\x1f"
"""The character that Polars separates fields by in place of several characters."""


class Part(NamedTuple):
    """A file of a table."""

    name: str
    """The path, as messages have it."""
    scan: Callable[[Dtypes], pl.LazyFrame]
    check: Callable[[], None] = lambda: None
    """Reject a line of text with other fields than the first."""


@dataclass(frozen=True)
class Table:
    """The rows of files, by the names of their columns and in the common dtypes of these."""

    given: Given
    name: str
    """The path, as messages have it."""
    parts: Sequence[Part]
    keys: Collection[str] | None
    """The columns that folders are, where of all text these alone have dtypes by their values."""

    def scan(self, dtypes: Dtypes) -> pl.LazyFrame:
        """Return the rows; text is read in dtypes where they are given."""
        return pl.concat([part.scan(dtypes) for part in self.parts], how="diagonal_relaxed")

    def check(self) -> None:
        """Reject a line of text with other fields than the first of its file."""
        for part in self.parts:
            part.check()

    @cached_property
    def rows(self) -> pl.LazyFrame:
        """The rows with texts as they are written."""
        return self.scan({})

    @cached_property
    def start(self) -> pl.LazyFrame:
        """The first rows, since Polars reads many for some."""
        return self.rows.head(ROWS).collect().lazy()

    @cached_property
    def schema(self) -> pl.Schema:
        """The dtypes of the columns, those of text files String."""
        return self.rows.collect_schema()

    @cached_property
    def texts(self) -> list[str]:
        """The columns of text that have dtypes by their values."""
        names = [name for name, dtype in self.schema.items() if dtype == pl.String]
        return names if self.keys is None else [name for name in names if name in self.keys]


def text_part(given: Given, source: Source, mark: str) -> Part | None:
    """Return a text file, with marks between the fields of a line; None for an empty file."""
    sign = mark if len(mark) == 1 else UNIT
    header, has_quotes = map(given.option, ("header", "quotes"))
    content = _plain(given, source, mark, sign)
    read = partial(pl.scan_csv, separator=sign, infer_schema=False, raise_if_empty=False)
    first = read(content, quote_char=None).collect_schema()
    if not first:
        return None
    if has_quotes is None:
        has_quotes = sign in QUOTED_BY or any(map(IN_QUOTES.fullmatch, first))
    read = partial(read, quote_char='"' if has_quotes else None)
    fields = [REPEATED.sub("", field).strip() for field in read(content).collect_schema()]
    _check_names(source.name, fields, header, mark)
    read = partial(read, has_header=header is None)
    names = header or fields
    renamed = given.names(source, names)
    columns = zip(read(content).collect_schema(), names, strict=True)
    kept = {column: renamed[name] for column, name in columns if name in renamed}

    def scan(dtypes: Dtypes) -> pl.LazyFrame:
        known = {column: dtypes[name] for column, name in kept.items() if name in dtypes}
        return read(content, schema_overrides=known).select([*kept]).rename(kept)

    def check() -> None:
        lines = _lines(content, sign, has_quotes=has_quotes).filter(pl.col("n") != len(fields))
        for number, line, n in lines.head(1).collect().rows():
            raise RecframeError(
                f"line {number} of {source.name!r} has {n} fields, and its first line has {len(fields)}: "
                f"{short(line.replace(sign, mark))!r}; mend that line, or say how values are quoted: --quotes yes|no"
            )

    if len(kept) < len(fields):
        # NOTE: Polars overlooks long lines where a column is not read
        check()
    return Part(source.name, scan, check)


def _check_names(name: str, fields: Sequence[str], header: Sequence[str] | None, mark: str) -> None:
    """Reject names that are not those of a line's fields, that the line has too, or that stand twice."""
    line, names = mark.join(fields), [*filter(None, header or fields)]
    if header and (len(header) != len(fields) or not {*names}.isdisjoint(fields)):
        raise RecframeError(
            f"the first line of {name!r} is {line!r}, and --header has {','.join(header)!r}: write a name for each of its "
            f"{len(fields)} fields, an empty one to leave it out, for files without a header line: --header recs=user,item"
        )
    if len({*names}) < len(names):
        twice = max(names, key=names.count)
        raise RecframeError(
            f"{name!r} has two columns named {twice!r}; drop or rename one of them, or name all: --header user,item,rank"
        )


def _lines(content: str | bytes, sign: str, *, has_quotes: bool) -> pl.LazyFrame:
    """Return the lines of a file with their numbers and those of their fields; without quotes where a value goes on."""
    rows = pl.scan_csv(
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
    line, lines = pl.col("line"), rows.drop_nulls("line")
    bare = line.str.replace_all('"[^"]*"', "") if has_quotes else line
    if has_quotes:
        # NOTE: a value in quotes may go on in the next line, so that a line is no row
        lines = lines.filter((line.str.count_matches('"', literal=True) % 2 == 0).all())
    return lines.with_columns(n=bare.str.count_matches(sign, literal=True).cast(pl.Int64) + 1)


def _plain(given: Given, source: Source, mark: str, sign: str) -> str | bytes:
    """Return a file as Polars reads it: in UTF-8, with a sign between fields and lines that end in a line feed."""
    start = source.start or b""
    encoding = given.option("encoding")
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    has_returns = b"\r" in start and b"\n" not in start
    if encoding is None and mark == sign and not has_returns:
        return source.content
    if source.start is None:
        raise RecframeError(
            f"cannot read {source.name!r}: of its kind only UTF-8 with a separator of one character is read; unpack or "
            "download it"
        )
    try:
        text = source.read().decode(encoding or "utf-8")
    except UnicodeError as error:
        raise RecframeError(
            f"cannot read {source.name!r} as {encoding or 'UTF-8'}: {error}; write another --encoding"
        ) from None
    return re.sub("\r\n?", "\n", text).replace(mark, sign).encode()
