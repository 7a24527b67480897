"""Text files in columns: their form, and their rows as text."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from recframe.cli.files import PACKED, escaped, is_address, temporary
from recframe.errors import RecframeError, short

SEPARATORS = {".csv": ",", ".tsv": "\t"}
QUOTED_BY = (",", ";")
"""Separators of files in which quotes hold a value together."""
START = 1 << 16
"""Bytes by which an encoding and the end of lines are known."""
NO_BYTE = "\x01"
"""A separator that no line has, so that a line is one column."""
UNIT = "\x1f"
"""The character that Polars separates fields by in place of several characters."""


@dataclass(frozen=True)
class Form:
    """The form of a text file, as a command says it."""

    separator: str | None = None
    header: Sequence[str] | None = None
    """The names of columns where there is no header line; a column without a name is left out."""
    encoding: str | None = None
    decimal: str = "."
    quotes: bool | None = None


class TextFile(NamedTuple):
    """A text file, as Polars reads it."""

    place: str
    mark: str
    """The text between fields, which may have several characters."""
    fields: Sequence[str]
    """The names of the fields of a line; a field without a name is left out."""
    has_header: bool
    has_quotes: bool

    def rows(self) -> pl.LazyFrame:
        """Return the rows, with all columns as text; nothing between separators, or between quotes, is null."""
        rows = pl.scan_csv(
            escaped(self.place),
            has_header=self.has_header,
            separator=_character(self.mark),
            quote_char='"' if self.has_quotes else None,
            infer_schema=False,
            null_values="",
        )
        columns = zip(rows.collect_schema(), self.fields, strict=True)
        return rows.select(pl.col(column).alias(name) for column, name in columns if name)

    def check_lines(self) -> None:
        """Reject the first line with more or fewer fields than the first has.

        NOTE: Polars fills up short lines, and overlooks long ones where a column is not read.
        """
        line, sign = pl.col("line"), _character(self.mark)
        bare = line.str.replace_all('"[^"]*"', "") if self.has_quotes else line
        count = bare.str.count_matches(sign, literal=True).cast(pl.Int64) + 1
        lines = _lines(self.place)
        if self.has_quotes:
            # NOTE: a value in quotes may go on in the next line, so that a line is no row
            quotes = line.str.count_matches('"', literal=True)
            lines = lines.filter((quotes % 2 == 0).all())
        odd = lines.filter(count != len(self.fields)).select("number", line, count=count)
        for number, text, n in odd.head(1).collect().iter_rows():
            first = "its first line has" if self.has_header else "there are names for"
            quoted = "" if self.has_quotes else ", or say that it has quotes: --quotes yes"
            msg = (
                f"line {number} of {self.place!r} has {n} field{'s' * (n != 1)}, and {first} {len(self.fields)}: "
                f"{short(text.replace(sign, self.mark))!r}; mend that line{quoted}"
            )
            raise RecframeError(msg)


def _character(mark: str) -> str:
    """Return the character that stands for the text between fields."""
    return mark if len(mark) == 1 else UNIT


def text_file(source: str, form: Form, mark: str) -> TextFile | None:
    """Return a file as it is written, None for an empty one."""
    place = _plain(source, form, mark)
    first = _lines(place).head(1).collect()["line"]
    if first.is_empty():
        return None
    line, sign = first[0].removeprefix("\ufeff"), _character(mark)
    has_quotes = form.quotes
    if has_quotes is None:
        between = re.escape(sign)
        is_quoted = re.search(rf'(^|{between})"[^"]*"({between}|$)', line)
        has_quotes = mark in QUOTED_BY or is_quoted is not None
    found = next(csv.reader([line], delimiter=sign)) if has_quotes else line.split(sign)
    fields = [field.strip() for field in found]
    names = fields if form.header is None else form.header
    if form.header is not None:
        _check_names(source, fields, names, mark)
    for name in filter(None, names):
        if [*names].count(name) > 1:
            twice = f"{source!r} has two columns named {name!r}; drop or rename one of them"
            raise RecframeError(no_header(source, names) or twice)
    return TextFile(place, mark, names, form.header is None, has_quotes)


def _check_names(place: str, fields: Sequence[str], names: Sequence[str], mark: str) -> None:
    """Reject names that are not those of the fields of a line, or that a header has too."""
    if len(names) != len(fields):
        msg = (
            f"{place!r} has {len(fields)} fields in its first line, {mark.join(fields)!r}, and --header has {len(names)} "
            "names; an empty name leaves a field out, and --separator says what stands between"
        )
        raise RecframeError(msg)
    if any(name and name == field for name, field in zip(names, fields, strict=True)):
        msg = (
            f"{place!r} has a header line, {mark.join(fields)!r}; leave out --header, or say which file has none: "
            f"--header recs={','.join(names)}"
        )
        raise RecframeError(msg)


def no_header(place: str, names: Iterable[str]) -> str:
    """Return what to write where a first line has a number and is no header, nothing where it is a header."""
    if not any(re.fullmatch(r"[+-]?\d+([.,]\d+)?", name) for name in names):
        return ""
    return (
        f"{place!r} seems to have no header line, as its first line is {', '.join(names)!r}; name its columns: "
        "--header user,item,rank"
    )


def _lines(place: str) -> pl.LazyFrame:
    """Return the lines of a file that are not empty, with their numbers."""
    lines = pl.scan_csv(
        escaped(place),
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


def _utf_16(start: bytes) -> str | None:
    """Return the UTF-16 that the first bytes of a file are in, if they are."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" not in start[:2]:
        return None
    return "utf-16-be" if start[0] == 0 else "utf-16-le"


def _plain(place: str, form: Form, mark: str) -> str:
    """Return a file as Polars reads it: in UTF-8, with a separator of a character and lines that end in a line feed.

    Any other file is written anew, as a temporary file.
    """
    is_packed = place.lower().endswith(PACKED[0])
    is_far = is_address(place) or place.lower().endswith(PACKED[1])
    read, start = gzip.open if is_packed else open, b""
    if not is_far:
        with read(place, "rb") as file:
            start = file.read(START)
    encoding = form.encoding or _utf_16(start)
    has_returns = b"\r" in start and b"\n" not in start
    if encoding is None and len(mark) == 1 and not has_returns:
        return place
    if is_far:
        msg = f"cannot read {place!r}: of its kind only UTF-8 with a separator of one character is read; unpack or download it"
        raise RecframeError(msg)
    made = temporary(place, "text")
    try:
        with (
            read(place, "rt", encoding=encoding or "utf-8") as source,
            made.open("w", encoding="utf-8") as target,
        ):
            target.writelines(line.replace(mark, _character(mark)) for line in source)
    except UnicodeError as error:
        msg = f"cannot read {place!r} as {encoding or 'UTF-8'}: {error}; write another --encoding"
        raise RecframeError(msg) from None
    return str(made)
