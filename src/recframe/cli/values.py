"""Values of options, read from text."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from recframe.errors import suggestion
from recframe.frames.hints import NAMED_COLUMNS

OF_FILES = ("recs", "truth", "users", "items", "train", "reference", "log")
"""Files of a command, which an option can name, as in --header recs=user,item,rank."""
WORDS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}
"""Words for separators."""


def texts(text: str) -> list[str]:
    """Return values between commas or line breaks, which stand in quotes where they are part of a value."""
    try:
        lines = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
        return [cell.strip(" ") for line in lines for cell in line]
    except csv.Error as error:
        msg = f"its values cannot be told apart: {error}"
        raise ValueError(msg) from None


def whole_numbers(text: str) -> list[int]:
    """Return whole numbers between commas."""
    return [*map(int, texts(text))]


def number_or_text(text: str) -> float | str:
    """Return the number that a text is, or the text."""
    for read in (int, float):
        with suppress(ValueError):
            return read(text)
    return text


def metrics(text: str) -> list[str]:
    """Return metrics, which have commas of their own inside brackets."""
    return [name.strip() for name in re.split(r",(?![^(]*\))", text)]


def pairs(text: str) -> list[tuple[str, str]]:
    """Return names with their words."""
    found = []
    for pair in texts(text):
        name, _, word = pair.partition("=")
        if not (name and word):
            msg = f"{pair!r} is no name=word; write for example user=user_id,item=movie_id"
            raise ValueError(msg)
        found.append((name, word))
    return found


def roles(text: str) -> dict[str, str]:
    """Return the names of columns by their roles."""
    found = dict(pairs(text))
    for role in found:
        if role not in NAMED_COLUMNS:
            close = suggestion(role, NAMED_COLUMNS)
            msg = f"unknown role {role!r}{close}; the roles are {', '.join(NAMED_COLUMNS)}"
            raise ValueError(msg)
    return found


def merged(given: Iterable[tuple[str, dict[str, str]]]) -> dict[str, dict[str, str]]:
    """Return the names of columns by file."""
    found: dict[str, dict[str, str]] = {}
    for file, named in given:
        found.setdefault(file, {}).update(named)
    return found


def by_file(read: Callable[[str], Any]) -> Callable[[str], list[tuple[str, Any]]]:
    """Return a function that reads the value for a file, recs=VALUE, or for all files."""

    def of_file(text: str) -> list[tuple[str, Any]]:
        name, equals, rest = text.partition("=")
        is_role = name in NAMED_COLUMNS and read is roles
        if equals and name.isalpha() and name not in OF_FILES and not is_role:
            msg = f"unknown file {name!r}{suggestion(name, OF_FILES)}; the files are {', '.join(OF_FILES)}"
            raise ValueError(msg)
        is_named = bool(equals) and name in OF_FILES
        return [(name if is_named else "", read(rest if is_named else text))]

    return of_file


def word(meanings: Mapping[str, Any], text: str) -> Any:
    """Return what a word means."""
    if text not in meanings:
        msg = f"{text!r} is none of {', '.join(meanings)}"
        raise ValueError(msg)
    return meanings[text]


def separator(text: str) -> str:
    """Return the text that separates columns, or ids in a list."""
    return WORDS.get(text, text)


def encoding(text: str) -> str:
    """Return the name of an encoding."""
    try:
        return codecs.lookup(text).name
    except LookupError as error:
        msg = f"{error}; write for example latin-1 or utf-16"
        raise ValueError(msg) from None


OF_TEXT: Mapping[str, tuple[str, Callable[[str], Any], str]] = {
    "columns": (
        "role=name",
        roles,
        f"The names of columns, where they differ from the roles: {', '.join(NAMED_COLUMNS)}.",
    ),
    "header": (
        "names",
        texts,
        "The names of the columns of text without a header line, such as user,item,rank; an empty name leaves a column out.",
    ),
    "separator": ("mark", separator, "The separator of columns in text, such as ';', tab or '::'."),
    "encoding": ("name", encoding, "The encoding of text that is not UTF-8, such as latin-1."),
    "decimal": (
        "point|comma",
        partial(word, {"point": ".", "comma": ","}),
        "The sign before the decimals in text.",
    ),
    "quotes": (
        "yes|no",
        partial(word, {"yes": True, "no": False}),
        "Whether quotes hold a value of text together; else they do where commas or semicolons separate columns, or the "
        "first line has quotes.",
    ),
    "lists-separator": (
        "mark",
        separator,
        "The separator of ids where a column has lists as text, ' ' for 'a b c'; a row is then a user's list.",
    ),
}
"""Options on files, for all or for one, recs=VALUE: the word for a value, how it is read, and its help."""
