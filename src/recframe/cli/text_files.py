"""Tables of files, and text in columns as one."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import polars as pl

from recframe.cli.files import Given, Source, without_header
from recframe.errors import RecframeError, short

Dtypes: TypeAlias = Mapping[str, type[pl.DataType]]
"""The dtypes of columns of text, where they are known."""
QUOTED_BY = (",", ";")
"""Separators of files in which quotes hold a value together."""
IN_QUOTES = re.compile('".*"')
FIRST_LINES = 100
"""Lines of which one has values."""
NO_BYTE = "\x01"
"""A separator that no line has, so that a line is one column."""
UNIT = "\x1f"
"""The character that Polars separates fields by in place of several characters."""


@dataclass(frozen=True)
class Table:
    """The rows of a file, or of several as its parts."""

    given: Given
    name: str
    """The path, as messages have it."""
    scan: Callable[[Dtypes], pl.LazyFrame]
    """Return the rows; text in columns is read in dtypes where they are given."""
    written: Sequence[str] = ()
    """The columns of text whose dtypes their values decide."""
    check: Callable[[], object] = lambda: None
    """Reject a line of text with other fields than the first."""
    parts: Sequence[Table] = ()
    first: pl.LazyFrame | None = None
    """The first rows, where they are at hand."""

    @cached_property
    def rows(self) -> pl.LazyFrame:
        """The rows with texts as they are written."""
        return self.scan({})

    @cached_property
    def schema(self) -> pl.Schema:
        """The dtypes of the columns, those of text files String."""
        return self.rows.collect_schema()


def _head(source: Source, content: str | bytes) -> str | bytes:
    """Return whole lines from the start of a text file, or all of it where it is not at hand as it is."""
    start = source.start or b""
    # NOTE: for some lines of a file Polars reads many; a value in quotes may be cut off
    is_start = content is source.content and b"\n" in start.strip() and b'"' not in start
    return start[: start.rfind(b"\n") + 1] if is_start else content


def text_table(given: Given, source: Source, mark: str) -> Table | None:
    """Return a text file, with marks between the fields of a line, as a table; None for an empty file."""
    sign = mark if len(mark) == 1 else UNIT
    header, has_quotes = map(given.option, ("header", "quotes"))
    content = _plain(given, source, mark, sign)
    head = _head(source, content)
    lines = _lines(head).head(FIRST_LINES).drop_nulls("line").head(1).collect()["line"]
    if lines.is_empty():
        return None
    first = lines[0].removeprefix("\ufeff")
    if has_quotes is None:
        has_quotes = sign in QUOTED_BY or any(map(IN_QUOTES.fullmatch, first.split(sign)))
    cells = next(csv.reader([first], delimiter=sign)) if has_quotes else first.split(sign)
    fields = [cell.strip() for cell in cells]
    if wrong := _wrong_names(fields, header, mark):
        raise RecframeError(f"{source.name!r} {wrong}")
    settings: dict[str, Any] = {
        "has_header": header is None,
        "separator": sign,
        "quote_char": '"' if has_quotes else None,
        "infer_schema": False,
    }
    columns = pl.scan_csv(content, **settings).collect_schema()
    in_file = dict(zip(columns, header or fields, strict=True))
    names = given.names(source, [name for name in in_file.values() if name])
    kept = {column: names[name] for column, name in in_file.items() if name in names}

    def scan(dtypes: Dtypes, content: str | bytes = content) -> pl.LazyFrame:
        known = {column: dtypes[name] for column, name in kept.items() if name in dtypes}
        rows = pl.scan_csv(content, schema_overrides=known, **settings)
        return rows.select(pl.col(column).alias(name) for column, name in kept.items())

    def check() -> None:
        for number, line, n in _odd_lines(content, sign, len(fields), has_quotes=has_quotes):
            said = "its first line has" if header is None else "there are names for"
            quoted = "" if has_quotes else ", or say that it has quotes: --quotes yes"
            raise RecframeError(
                f"line {number} of {source.name!r} has {n} field{'s' * (n != 1)}, and {said} {len(fields)}: "
                f"{short(line.replace(sign, mark))!r}; mend that line{quoted}"
            )

    if len(kept) < len(fields):
        # NOTE: Polars overlooks long lines where a column is not read
        check()
    return Table(given, source.name, scan, [*kept.values()], check, first=scan({}, head))


def _wrong_names(fields: Sequence[str], header: Sequence[str] | None, mark: str) -> str:
    """Return what is wrong with names that are not those of a line's fields, that the line has too, or that stand twice."""
    line, names = mark.join(fields), [*filter(None, header or fields)]
    if header is not None and len(header) != len(fields):
        return (
            f"has {len(fields)} fields in its first line, {line!r}, and --header has {len(header)} names; an empty name "
            "leaves a field out, and --separator says what stands between"
        )
    if header is not None and not {*names}.isdisjoint(fields):
        return (
            f"has a header line, {line!r}; leave out --header, or say which file has none: "
            f"--header recs={','.join(header)}"
        )
    if len({*names}) == len(names):
        return ""
    name = max(names, key=names.count)
    return without_header(names) or f"has two columns named {name!r}; drop or rename one of them"


def _odd_lines(
    content: str | bytes, sign: str, n_fields: int, *, has_quotes: bool
) -> list[tuple[Any, ...]]:
    """Return the number, the text and the fields of the first line with more or fewer fields, if there is one.

    NOTE: Polars fills up short lines.
    """
    line, lines = pl.col("line"), _lines(content).drop_nulls("line")
    bare = line.str.replace_all('"[^"]*"', "") if has_quotes else line
    count = bare.str.count_matches(sign, literal=True).cast(pl.Int64) + 1
    if has_quotes:
        # NOTE: a value in quotes may go on in the next line, so that a line is no row
        lines = lines.filter((line.str.count_matches('"', literal=True) % 2 == 0).all())
    return lines.filter(count != n_fields).with_columns(count=count).head(1).collect().rows()


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


def _plain(given: Given, source: Source, mark: str, sign: str) -> str | bytes:
    """Return a file as Polars reads it: in UTF-8, with a sign between fields and lines that end in a line feed."""
    start, encoding = source.start or b"", given.option("encoding")
    if encoding is None and b"\0" in start[:2]:
        encoding = "utf-16-le" if start[0] else "utf-16-be"
    elif encoding is None and start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
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
