"""Values of options, read from text."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from recframe.errors import suggestion
from recframe.frames.hints import NAMED_COLUMNS

T = TypeVar("T")
OF_FILES = ("recs", "truth", "users", "items", "train", "reference", "log")
"""Files of a command, which an option can name, as in --header recs=user,item,rank."""
WORDS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}


def texts(text: str) -> list[str]:
    """Return values between commas or line breaks, which stand in quotes where they are part of a value."""
    try:
        lines = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
        return [cell for line in lines for cell in line]
    except csv.Error as error:
        msg = f"its values cannot be told apart: {error}"
        raise ValueError(msg) from None


def metrics(text: str) -> list[str]:
    """Return metrics, which have commas of their own inside brackets."""
    return [name.strip() for name in re.split(r",(?![^(]*\))", text)]


def number(text: str) -> float:
    """Return a number, a whole one as an int."""
    with suppress(ValueError):
        return int(text)
    try:
        return float(text)
    except ValueError:
        msg = f"{text!r} is no number"
        raise ValueError(msg) from None


def number_or(words: Sequence[str], text: str) -> float | str:
    """Return a word, or a number."""
    return text if text in words else number(text)


def number_or_text(text: str) -> float | str:
    """Return the number that a text is, or the text."""
    with suppress(ValueError):
        return number(text)
    return text


def whole_numbers(text: str) -> list[int]:
    """Return whole numbers between commas."""
    found = [*map(number, texts(text))]
    wrong = [one for one in found if not isinstance(one, int)]
    if wrong:
        msg = f"{wrong[0]} is no whole number; write for example 5,10"
        raise ValueError(msg)
    return found  # type: ignore[return-value]  # which are whole


def pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield names with their words."""
    for pair in texts(text):
        name, _, word = pair.partition("=")
        if not (name and word):
            msg = f"{pair!r} is no name=word; write for example commit=3f2a1c"
            raise ValueError(msg)
        yield name, word


def roles(text: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield files, "" for all, and roles with the names of their columns."""
    for pair in texts(text):
        *file, role, name = ["", "", *pair.split("=", 2)][-3:]
        is_of_file = file[0] in OF_FILES
        if not is_of_file:
            role, _, name = pair.partition("=")
        if not name:
            msg = (
                f"{pair!r} is no role=name; write for example user=user_id,item=movie_id, or for one file "
                "truth=item=article_id"
            )
            raise ValueError(msg)
        if role not in NAMED_COLUMNS:
            close = suggestion(role, NAMED_COLUMNS)
            msg = f"unknown role {role!r}{close}; the roles are {', '.join(NAMED_COLUMNS)}"
            raise ValueError(msg)
        yield (file[0] if is_of_file else "", role), name


def by_file(read: Callable[[str], T]) -> Callable[[str], list[tuple[str, T]]]:
    """Return a function that reads the value for a file, recs=VALUE, or for all."""

    def of_file(text: str) -> list[tuple[str, T]]:
        name, equals, rest = text.partition("=")
        if equals and name in OF_FILES:
            return [(name, read(rest))]
        if equals and re.fullmatch("[a-z]+", name):
            close = suggestion(name, OF_FILES)
            msg = f"unknown file {name!r}{close}; the files are {', '.join(OF_FILES)}"
            raise ValueError(msg)
        return [("", read(text))]

    return of_file


def separator(text: str) -> str:
    """Return the text that separates columns, or ids in a list."""
    if not text:
        msg = f"write the text between two ids or columns, or a word: {', '.join(WORDS)}"
        raise ValueError(msg)
    return WORDS.get(text, text)


def encoding(text: str) -> str:
    """Return the name of an encoding."""
    try:
        return codecs.lookup(text).name
    except LookupError:
        msg = f"{text!r} is no encoding that Python knows; write for example latin-1 or utf-16"
        raise ValueError(msg) from None


def word(meanings: Mapping[str, Any], text: str) -> Any:
    """Return what a word means."""
    if text not in meanings:
        msg = f"{text!r} is none of {', '.join(meanings)}"
        raise ValueError(msg)
    return meanings[text]


def header(text: str) -> tuple[str, ...]:
    """Return the names of the columns of a text file without a header line."""
    names = tuple(map(str.strip, texts(text)))
    known = [*filter(None, names)]
    if not known or len({*known}) < len(known):
        msg = f"{text!r} names no column, or one twice; write for example user,item,rank"
        raise ValueError(msg)
    return names


OF_TEXT: Mapping[str, tuple[str, Callable[[str], Any], str]] = {
    "header": (
        "names",
        header,
        "The names of the columns of text without a header line, such as user,item,rank; an empty name leaves a column out.",
    ),
    "separator": ("mark", separator, "The separator of columns in text, such as ';', tab or '::'."),
    "encoding": ("name", encoding, "The encoding of text that is not UTF-8, such as latin-1."),
    "decimal": (
        "sign",
        partial(word, {"point": ".", "comma": ","}),
        "The sign before the decimals in text, point or comma.",
    ),
    "quotes": (
        "yes|no",
        partial(word, {"yes": True, "no": False}),
        "Whether quotes hold a value of text together.  [default: yes where commas or semicolons separate columns, or the "
        "first line has quotes]",
    ),
    "lists-separator": (
        "mark",
        separator,
        "The separator of ids where a column has lists as text, ' ' for 'a b c'; a row is then a user's list.",
    ),
}
"""Options on text in files: the word for a value, how it is read, and its help."""
