"""Text files in columns: their form, and their rows as text."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from recframe.cli.files import escaped, is_address, packing_of, temporary
from recframe.errors import RecframeError, short

SEPARATORS = {".csv": ",", ".tsv": "\t"}
QUOTED_BY = (",", ";")
"""Separators of files in which quotes hold a value together."""
HEAD = 1 << 16
"""Bytes by which an encoding and the end of lines are known."""
NO_BYTE = "\x01"
"""A separator that no line has, so that a line is one column."""
UNIT = "\x1f"
"""The character that Polars separates fields by in place of several characters."""
NOTHING: Mapping[str, pl.DataType] = {}


@dataclass(frozen=True)
class Form:
    """The form of a text file, as a command says it."""

    separator: str | None = None
    header: Sequence[str] | None = None
    """The names of columns where there is no header line; a column without a name is left out."""
    encoding: str | None = None
    decimal: str = "."
    quotes: bool | None = None


@dataclass(frozen=True)
class TextPart:
    """A text file, as Polars reads it."""

    place: str
    mark: str
    """The text between fields, which may have several characters."""
    fields: Sequence[str]
    """The names of the fields of a line; a field without a name is left out."""
    has_header: bool
    has_quotes: bool

    @property
    def written(self) -> Sequence[str]:
        """The columns whose values are text."""
        return [name for name in self.fields if name]

    def scan(self, dtypes: Mapping[str, pl.DataType] = NOTHING) -> pl.LazyFrame:
        """Return the rows, with columns as text except those of `dtypes`, which Polars' reader makes."""
        read = partial(
            pl.scan_csv,
            escaped(self.place),
            has_header=self.has_header,
            separator=self._separator,
            quote_char='"' if self.has_quotes else None,
            infer_schema=False,
        )
        names = dict(zip(read().collect_schema(), self.fields, strict=True))
        overrides = {column: dtypes[name] for column, name in names.items() if name in dtypes}
        # nothing between quotes is null too, which a number is without this
        rows = read(
            schema_overrides=overrides, null_values=None if len(overrides) == len(names) else ""
        )
        return rows.select(pl.col(column).alias(name) for column, name in names.items() if name)

    def check_lines(self, *, short_ones: bool) -> None:
        """Reject the first line with more fields than the first has, or of `short_ones` with fewer.

        NOTE: Polars fills up short lines, and overlooks long ones where a column is not read.
        """
        line, wanted = pl.col("line"), len(self.fields)
        bare = line.str.replace_all('"[^"]*"', "") if self.has_quotes else line
        count = bare.str.count_matches(self._separator, literal=True).cast(pl.Int64) + 1
        lines = _numbered_lines(self.place).with_columns(count=count)
        if self.has_quotes:
            # NOTE: a value in quotes may go on in the next line, so that a line is no row
            quotes = line.str.count_matches('"', literal=True)
            lines = lines.filter((quotes % 2 == 0).all())
        is_wrong = (count > wanted) | ((count < wanted) & short_ones)
        for number, text, n in lines.filter(is_wrong).head(1).collect().iter_rows():
            first = "its first line has" if self.has_header else "there are names for"
            quoted = "" if self.has_quotes else ", or say that it has quotes: --quotes yes"
            shown = short(text.replace(self._separator, self.mark))
            msg = (
                f"line {number} of {self.place!r} has {n} field{'s' * (n != 1)}, and {first} {wanted}: {shown!r}; mend that "
                f"line{quoted}"
            )
            raise RecframeError(msg)

    @property
    def _separator(self) -> str:
        """The character that Polars separates fields by."""
        return _character(self.mark)


def _character(mark: str) -> str:
    """Return the character that stands for the text between fields."""
    return mark if len(mark) == 1 else UNIT


def text_part(source: str, form: Form, mark: str) -> TextPart | None:
    """Return a file as it is written, None for an empty one."""
    place = _plain(source, form, mark)
    sign = _character(mark)
    first = _numbered_lines(place).head(1).collect()["line"]
    if not len(first):
        return None
    line = first[0].removeprefix("\ufeff")
    has_quotes = form.quotes
    if has_quotes is None:
        between = re.escape(sign)
        is_quoted = re.search(rf'(^|{between})"[^"]*"({between}|$)', line)
        has_quotes = mark in QUOTED_BY or is_quoted is not None
    read = partial(csv.reader, [line], delimiter=sign)
    (found,) = read() if has_quotes else read(quoting=csv.QUOTE_NONE)
    fields = [field.strip() for field in found]
    has_header = form.header is None
    if has_header:
        names: Sequence[str] = fields
        _check_separator(source, fields, mark)
    else:
        names = form.header or []
        _check_names(source, fields, mark, names)
    for name in names:
        if name and [*names].count(name) > 1:
            check_is_header(source, names)
            msg = f"{source!r} has two columns named {name!r}; drop or rename one of them"
            raise RecframeError(msg)
    return TextPart(place, mark, names, has_header, has_quotes)


def _separator_in(field: str) -> str:
    """Return the option for the separator that is likely in a field, nothing where there is none."""
    for sign in (",", ";", "|", "::"):
        if sign in field:
            return f"; write --separator {sign!r}"
    return "; write --separator tab" if "\t" in field else ""


def _check_separator(place: str, fields: Sequence[str], mark: str) -> None:
    """Reject a header of a single column that has another separator in it."""
    write = _separator_in(fields[0])
    if len(fields) == 1 and write:
        msg = f"{place!r} has the one column {fields[0]!r}, where {mark!r} is expected between columns"
        raise RecframeError(msg + write)


def _check_names(place: str, fields: Sequence[str], mark: str, names: Sequence[str]) -> None:
    """Reject names that are not those of the fields of a line, or that a header has too."""
    n = len(fields)
    if len(names) != n:
        columns = "1 column" if n == 1 else f"{n} columns"
        write = _separator_in(fields[0])
        if len(names) < n:
            left_out = ",".join([*names, *[""] * (n - len(names))])
            write = f"; an empty name leaves a column out: --header {left_out}"
        msg = f"{place!r} has {columns} with {mark!r} between, but --header names {len(names)}"
        raise RecframeError(msg + write)
    if any(name and name == field for name, field in zip(names, fields, strict=True)):
        msg = (
            f"{place!r} has a header line, {mark.join(fields)!r}; leave out --header, or say which file has none: "
            f"--header recs={','.join(names)}"
        )
        raise RecframeError(msg)


def check_is_header(place: str, names: Iterable[str]) -> None:
    """Reject a first line with a number, which is no header."""
    if any(re.fullmatch(r"[+-]?\d+([.,]\d+)?", name) for name in names):
        msg = (
            f"{place!r} seems to have no header line, as its first line is {', '.join(names)!r}; name its columns: "
            "--header user,item,rank"
        )
        raise RecframeError(msg)


def _numbered_lines(place: str) -> pl.LazyFrame:
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
    packing, encoding, start = packing_of(place), form.encoding, b""
    is_far = is_address(place) or packing == ".zst"
    read = gzip.open if packing else open
    if not is_far:
        with read(place, "rb") as file:
            start = file.read(HEAD)
    if encoding is None:
        encoding = _utf_16(start)
    has_returns = b"\r" in start and b"\n" not in start
    if encoding is None and len(mark) == 1 and not has_returns:
        return place
    if is_far:
        msg = f"cannot read {place!r}: of its kind only UTF-8 with a separator of one character is read; unpack or download it"
        raise RecframeError(msg)
    made = temporary(place, Path(place).name.removesuffix(packing))
    try:
        with (
            read(place, "rt", encoding=encoding or "utf-8") as source,
            Path(made).open("w", encoding="utf-8") as target,
        ):
            target.writelines(line.replace(mark, _character(mark)) for line in source)
    except UnicodeError as error:
        msg = f"cannot read {place!r} as {encoding or 'UTF-8'}: {error}; write another --encoding"
        raise RecframeError(msg) from None
    return made
