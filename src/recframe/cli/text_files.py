"""Forms of text files in columns, and their scans as text."""

from __future__ import annotations

import codecs
import csv
import glob
import gzip
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from recframe.cli.files import is_address, packing_of, temporary
from recframe.errors import RecframeError, short

SEPARATORS = {".csv": ",", ".tsv": "\t"}
QUOTED_BY = (",", ";")
"""Separators of files in which quotes hold a value together."""
HEAD = 1 << 16
"""Bytes by which an encoding and the end of lines are known."""
ROWS = 1_000
"""Rows by which dtypes are guessed where the first bytes are not at hand."""
NO_BYTE = "\x01"
"""A separator that no line has, so that a line is one column."""
NOTHING: Mapping[str, pl.DataType] = {}


@dataclass(frozen=True)
class Form:
    """The form of a text file, as a command says it."""

    separator: str | None = None
    names: tuple[str, ...] | None = None
    """The names of columns where there is no header line; a column without a name is left out."""
    encoding: str | None = None
    decimal: str = "."
    quotes: bool | None = None


def escaped(places: Iterable[str]) -> list[str]:
    """Return paths with glob patterns escaped, for Polars."""
    return [place if is_address(place) else glob.escape(place) for place in places]


@dataclass(frozen=True)
class TextPart:
    """Text files of the same columns."""

    places: tuple[str, ...]
    separator: str
    columns: tuple[str, ...]
    """The names of the fields of a line; a field without a name is left out."""
    has_header: bool
    has_quotes: bool
    line_end: str
    start: bytes = field(default=b"", compare=False)
    """The first whole lines, by which dtypes are guessed; none where only Polars can read the file."""

    @property
    def written(self) -> Sequence[str]:
        """The columns whose values are text."""
        return [name for name in self.columns if name]

    def scan(
        self, dtypes: Mapping[str, pl.DataType] = NOTHING, places: Sequence[str] = ()
    ) -> pl.LazyFrame:
        """Return the rows, with columns as text except those of `dtypes`, which Polars' reader makes."""
        places = escaped(places or self.places)
        if len(self.separator) > 1:
            return pl.concat([self._cut(place) for place in places])
        return self._read(places, dtypes)

    def head(self) -> pl.LazyFrame:
        """Return some of the first rows as text."""
        if not self.start:
            return self.scan().head(ROWS)
        return self._cut(self.start) if len(self.separator) > 1 else self._read(self.start, NOTHING)

    def _read(self, source: list[str] | bytes, dtypes: Mapping[str, pl.DataType]) -> pl.LazyFrame:
        read = partial(
            pl.scan_csv,
            source,
            has_header=self.has_header,
            separator=self.separator,
            quote_char='"' if self.has_quotes else None,
            eol_char=self.line_end,
            infer_schema=False,
        )
        fields = dict(zip(read().collect_schema(), self.columns, strict=True))
        overrides = {column: dtypes[name] for column, name in fields.items() if name in dtypes}
        # nothing between quotes is null too, which a number is without this
        null = None if len(overrides) == len(fields) else ""
        rows = read(schema_overrides=overrides, null_values=null)
        return rows.select(pl.col(column).alias(name) for column, name in fields.items() if name)

    def _cut(self, source: str | bytes) -> pl.LazyFrame:
        """Return the rows of a file whose separator has several characters, of which Polars knows none."""
        lines = _numbered_lines(source, self.line_end).slice(int(self.has_header))
        values = pl.col("line").str.split(self.separator)
        return lines.select(
            values.list.get(number, null_on_oob=True).replace("", None).alias(name)
            for number, name in enumerate(self.columns)
            if name
        )

    def check_lines(self, *, short_ones: bool) -> None:
        """Reject the first line with more fields than the first has, or of `short_ones` with fewer."""
        line, fields = pl.col("line"), len(self.columns)
        quotes = line.str.count_matches('"', literal=True)
        bare = line.str.replace_all('"[^"]*"', "") if self.has_quotes else line
        count = bare.str.count_matches(self.separator, literal=True).cast(pl.Int64) + 1
        wrong = count < fields if short_ones else count > fields
        for place in self.places:
            lines = _numbered_lines(escaped([place])[0], self.line_end).with_columns(count=count)
            if self.has_quotes:
                # NOTE: a value in quotes may go on in the next line, so that a line is no row
                is_row = quotes % 2 == 0
                lines = lines.filter(is_row.all() if short_ones else is_row)
            found = lines.filter(wrong).head(1).collect()
            if len(found):
                number, text, n = found.select("number", "line", "count").row(0)
                first = "its first line has" if self.has_header else "there are names for"
                quoted = "" if self.has_quotes else ", or say that it has quotes: --quotes yes"
                msg = (
                    f"line {number} of {place!r} has {_fields(n)}, and {first} {fields}: {short(text)!r}; mend that "
                    f"line{quoted}"
                )
                raise RecframeError(msg)


def text_parts(path: str, places: Sequence[str], form: Form, ending: str) -> list[TextPart]:
    """Return text files, those of the same columns as a part."""
    separator = form.separator or SEPARATORS[ending]
    parts: dict[TextPart, list[str]] = {}
    for place in places:
        one = _text_part(place, form, separator)
        if one is not None:
            parts.setdefault(replace(one, places=()), []).extend(one.places)
    if not parts:
        msg = f"cannot read {path!r}: it is empty; a table without rows has a header line"
        raise RecframeError(msg)
    return [replace(part, places=tuple(found)) for part, found in parts.items()]


def _text_part(place: str, form: Form, separator: str) -> TextPart | None:
    """Return a file as it is written, None for an empty one."""
    start = _start(place)
    encoding = form.encoding or _encoding_of(start)
    source = place
    if encoding is not None:
        place = _decoded(place, encoding)
        start = _start(place)
    line_end = "\r" if b"\r" in start and b"\n" not in start else "\n"
    whole = start[: start.rfind(line_end.encode()) + 1] if len(start) == HEAD else start
    first = _numbered_lines(whole or escaped([place])[0], line_end).head(1).collect()["line"]
    if not len(first):
        return None
    line = first[0].removeprefix("\ufeff")
    has_quotes = form.quotes
    if has_quotes is None:
        mark = re.escape(separator)
        is_quoted = re.search(rf'(^|{mark})"[^"]*"({mark}|$)', line)
        has_quotes = separator in QUOTED_BY or is_quoted is not None
    fields = _fields_of(line, separator, has_quotes=has_quotes)
    columns = form.names or tuple(fields)
    _check_columns(source, columns, fields, separator, has_names=form.names is not None)
    has_header = form.names is None
    return TextPart((place,), separator, columns, has_header, has_quotes, line_end, whole)


def _fields_of(line: str, separator: str, *, has_quotes: bool) -> list[str]:
    if len(separator) > 1:
        return [field.strip() for field in line.split(separator)]
    settings: dict[str, Any] = {} if has_quotes else {"quoting": csv.QUOTE_NONE}
    return [field.strip() for field in next(csv.reader([line], delimiter=separator, **settings))]


def _check_columns(
    place: str, columns: Sequence[str], fields: Sequence[str], separator: str, *, has_names: bool
) -> None:
    """Reject names that are not those of the fields, a header of another separator, and repeated names."""
    other = separator_in(fields[0])
    if not has_names and len(fields) == 1 and other is not None:
        raise RecframeError(
            f"{place!r} has the one column {fields[0]!r}: it seems to be separated by {other}, where {separator!r} is "
            f"expected between columns; write --separator {other}"
        )
    if has_names and len(columns) != len(fields):
        found = f"{len(fields)} column{'s' * (len(fields) != 1)}"
        hint = f"; write --separator {other}" if other else ""
        if len(columns) < len(fields):
            all_names = ",".join([*columns, *[""] * (len(fields) - len(columns))])
            hint = f"; an empty name leaves a column out: --header {all_names}"
        raise RecframeError(
            f"{place!r} has {found} with {separator!r} between, but --header names {len(columns)}: {', '.join(columns)}{hint}"
        )
    if has_names and any(
        name and name == field for name, field in zip(columns, fields, strict=True)
    ):
        raise RecframeError(
            f"{place!r} has a header line, {separator.join(fields)!r}; leave out --header, or say which file has none: "
            f"--header recs={','.join(columns)}"
        )
    twice = next((name for name in columns if name and columns.count(name) > 1), None)
    if twice is not None:
        check_is_header(place, columns)
        raise RecframeError(
            f"{place!r} has two columns named {twice!r}; drop or rename one of them. If its first line is no header, name "
            "the columns: --header user,item,rank"
        )


def check_is_header(place: str, names: Iterable[str]) -> None:
    """Reject a first line with a number, which is no header."""
    if any(re.fullmatch(r"[+-]?\d+([.,]\d+)?", name) for name in names):
        raise RecframeError(
            f"{place!r} seems to have no header line, as its first line is {', '.join(names)!r}; name its columns: "
            "--header user,item,rank"
        )


def separator_in(text: str) -> str | None:
    """Return the likely column separator of a text, in an option's notation."""
    found = next((mark for mark in (",", ";", "\t", "|", "::") if mark in text), None)
    return None if found is None else "tab" if found == "\t" else repr(found)


def _numbered_lines(source: str | bytes, line_end: str) -> pl.LazyFrame:
    """Return the lines of a file that are not empty, with their numbers."""
    lines = pl.scan_csv(
        source,
        has_header=False,
        separator=NO_BYTE,
        quote_char=None,
        eol_char=line_end,
        encoding="utf8-lossy",
        schema={"line": pl.String},
        row_index_name="number",
        row_index_offset=1,
        raise_if_empty=False,
    )
    return lines.drop_nulls("line")


def _fields(n: int) -> str:
    return "1 field" if n == 1 else f"{n} fields"


# Encodings


def _start(place: str) -> bytes:
    """Return the first bytes of a file, unpacked; none where only Polars can read it."""
    packing = packing_of(place)
    if is_address(place) or packing == ".zst":
        return b""
    with gzip.open(place) if packing else Path(place).open("rb") as file:
        return file.read(HEAD)


def _encoding_of(start: bytes) -> str | None:
    """Return the encoding that the first bytes of a file tell, None for UTF-8 and those that tell none."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if start[:1] == b"\0":
        return "utf-16-be"
    return "utf-16-le" if start[1:2] == b"\0" else None


def _decoded(place: str, encoding: str) -> str:
    """Return the place of a temporary file with the text of a file in UTF-8."""
    packing = packing_of(place)
    if is_address(place) or packing == ".zst":
        msg = f"cannot read {place!r}: of its kind only UTF-8 is read; unpack or download it first"
        raise RecframeError(msg)
    made = temporary(place, Path(place).name.removesuffix(packing))
    read = gzip.open if packing else open
    try:
        with (
            read(place, "rt", encoding=encoding, newline="") as source,
            Path(made).open("w", encoding="utf-8", newline="") as target,
        ):
            shutil.copyfileobj(source, target)
    except UnicodeError as error:
        msg = f"cannot read {place!r} as {encoding}: {error}; write another --encoding"
        raise RecframeError(msg) from None
    return made
