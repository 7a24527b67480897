"""Forms of text files in columns, and their scans as text."""

from __future__ import annotations

import codecs
import csv
import glob
import gzip
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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
UNIT = "\x1f"
"""The separator between fields of which Polars does not know the separator, since it has several characters."""
NOTHING: Mapping[str, pl.DataType] = {}


@dataclass(frozen=True)
class Form:
    """The form of a text file, as a command says it."""

    separator: str | None = None
    header: tuple[str, ...] | None = None
    """The names of columns where there is no header line; a column without a name is left out."""
    encoding: str | None = None
    decimal: str = "."
    quotes: bool | None = None


def escaped(places: Iterable[str]) -> list[str]:
    """Return paths with glob patterns escaped, for Polars."""
    return [place if is_address(place) else glob.escape(place) for place in places]


@dataclass(frozen=True)
class TextPart:
    """Text files of the same columns, as Polars reads them."""

    places: tuple[str, ...]
    mark: str
    """The text between fields, which may have several characters."""
    columns: tuple[str, ...]
    """The names of the fields of a line; a field without a name is left out."""
    has_header: bool
    has_quotes: bool

    @property
    def separator(self) -> str:
        """The character between fields."""
        return self.mark if len(self.mark) == 1 else UNIT

    @property
    def written(self) -> Sequence[str]:
        """The columns whose values are text."""
        return [name for name in self.columns if name]

    def scan(
        self, dtypes: Mapping[str, pl.DataType] = NOTHING, places: Sequence[str] = ()
    ) -> pl.LazyFrame:
        """Return the rows, with columns as text except those of `dtypes`, which Polars' reader makes."""
        read = partial(
            pl.scan_csv,
            escaped(places or self.places),
            has_header=self.has_header,
            separator=self.separator,
            quote_char='"' if self.has_quotes else None,
            infer_schema=False,
        )
        fields = dict(zip(read().collect_schema(), self.columns, strict=True))
        overrides = {column: dtypes[name] for column, name in fields.items() if name in dtypes}
        # nothing between quotes is null too, which a number is without this
        null = None if len(overrides) == len(fields) else ""
        rows = read(schema_overrides=overrides, null_values=null)
        return rows.select(pl.col(column).alias(name) for column, name in fields.items() if name)

    def check_lines(self, *, short_ones: bool) -> None:
        """Reject the first line with more fields than the first has, or of `short_ones` with fewer.

        NOTE: Polars fills up short lines, and overlooks long ones where a column is not read.
        """
        line, fields = pl.col("line"), len(self.columns)
        quotes = line.str.count_matches('"', literal=True)
        bare = line.str.replace_all('"[^"]*"', "") if self.has_quotes else line
        count = bare.str.count_matches(self.separator, literal=True).cast(pl.Int64) + 1
        for place in self.places:
            lines = _numbered_lines(escaped([place])[0]).with_columns(count=count)
            if self.has_quotes:
                # NOTE: a value in quotes may go on in the next line, so that a line is no row
                lines = lines.filter((quotes % 2 == 0).all())
            wrong = (
                lines.filter((count > fields) | ((count < fields) & short_ones)).head(1).collect()
            )
            if len(wrong):
                number, text, n = wrong.select("number", "line", "count").row(0)
                text = short(text.replace(self.separator, self.mark))
                first = "its first line has" if self.has_header else "there are names for"
                quoted = "" if self.has_quotes else ", or say that it has quotes: --quotes yes"
                msg = (
                    f"line {number} of {place!r} has {_fields(n)}, and {first} {fields}: {text!r}; mend that "
                    f"line{quoted}"
                )
                raise RecframeError(msg)


def text_parts(path: str, places: Sequence[str], form: Form, ending: str) -> list[TextPart]:
    """Return text files, those of the same columns as a part."""
    parts: dict[TextPart, list[str]] = {}
    for place in places:
        one = _text_part(place, form, form.separator or SEPARATORS[ending])
        if one is not None:
            parts.setdefault(replace(one, places=()), []).extend(one.places)
    if not parts:
        msg = f"cannot read {path!r}: it is empty; a table without rows has a header line"
        raise RecframeError(msg)
    return [replace(part, places=tuple(held)) for part, held in parts.items()]


def _text_part(source: str, form: Form, separator: str) -> TextPart | None:
    """Return a file as it is written, None for an empty one."""
    place = _plain(source, form, separator)
    mark = separator if len(separator) == 1 else UNIT
    first = _numbered_lines(escaped([place])[0]).head(1).collect()["line"]
    if not len(first):
        return None
    line, has_quotes = first[0].removeprefix("\ufeff"), form.quotes
    if has_quotes is None:
        sign = re.escape(mark)
        is_quoted = re.search(rf'(^|{sign})"[^"]*"({sign}|$)', line)
        has_quotes = mark in QUOTED_BY or is_quoted is not None
    settings: dict[str, Any] = {} if has_quotes else {"quoting": csv.QUOTE_NONE}
    fields = [field.strip() for field in next(csv.reader([line], delimiter=mark, **settings))]
    columns = tuple(form.header or fields)
    _check_columns(source, columns, fields, separator, has_names=form.header is not None)
    return TextPart((place,), separator, columns, form.header is None, has_quotes)


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


def _numbered_lines(place: str) -> pl.LazyFrame:
    """Return the lines of a file that are not empty, with their numbers."""
    lines = pl.scan_csv(
        place,
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


def _fields(n: int) -> str:
    return "1 field" if n == 1 else f"{n} fields"


def _plain(place: str, form: Form, separator: str) -> str:
    """Return a file as Polars reads it: in UTF-8, with a separator of a character and lines that end in a line feed.

    Any other file is written anew, as a temporary file.
    """
    packing, encoding, start = packing_of(place), form.encoding, b""
    is_far = is_address(place) or packing == ".zst"
    read = gzip.open if packing else open
    if not is_far:
        with read(place, "rb") as file:
            start = file.read(HEAD)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = encoding or "utf-16"
    elif b"\0" in start[:2]:
        encoding = encoding or ("utf-16-be" if start[0] == 0 else "utf-16-le")
    has_returns = b"\r" in start and b"\n" not in start
    if encoding is None and len(separator) == 1 and not has_returns:
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
            target.writelines(
                line.replace(separator, UNIT) if len(separator) > 1 else line for line in source
            )
    except UnicodeError as error:
        msg = f"cannot read {place!r} as {encoding or 'UTF-8'}: {error}; write another --encoding"
        raise RecframeError(msg) from None
    return made
