"""Values of options, read from text."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Collection, Mapping
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


def pair(text: str) -> tuple[str, str]:
    """Return a name with its word."""
    name, _, word = text.partition("=")
    if not (name and word):
        msg = f"{text!r} is no name=word; write for example user=user_id,item=movie_id"
        raise ValueError(msg)
    return name, word


def pairs(text: str) -> list[tuple[str, str]]:
    """Return names with their words."""
    return [*map(pair, texts(text))]


Given = list[tuple[str, Any]]
"""Values by the files that they are for, "" for all."""


def by_file(read: Callable[[str], Any], others: Collection[str] = ()) -> Callable[[str], Given]:
    """Return a function that reads the value for a file, recs=VALUE, or for all; `others` begin a value of all."""

    def of_file(text: str) -> Given:
        name, equals, rest = text.partition("=")
        if not equals or name in others or not name.isalpha():
            return [("", read(text))]
        if name not in OF_FILES:
            known = [*others, *OF_FILES]
            close = suggestion(name, known)
            msg = f"unknown name {name!r}{close}; known are {', '.join(known)}"
            raise ValueError(msg)
        return [(name, read(rest))]

    return of_file


def _role(text: str) -> tuple[str, str]:
    """Return a role with the name of its column."""
    role, name = pair(text)
    if role not in NAMED_COLUMNS:
        msg = f"unknown role {role!r}{suggestion(role, NAMED_COLUMNS)}; known are {', '.join(NAMED_COLUMNS)}"
        raise ValueError(msg)
    return role, name


def columns(text: str) -> Given:
    """Return roles and the names of their columns, by files."""
    of_file = by_file(_role, NAMED_COLUMNS)
    return [found for one in texts(text) for found in of_file(one)]


def by_role(given: Given) -> dict[str, dict[str, str]]:
    """Return the names of columns by files and roles."""
    found: dict[str, dict[str, str]] = {}
    for file, (role, name) in given:
        found.setdefault(file, {})[role] = name
    return found


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
        columns,
        f"The names of columns, where they differ from the roles: {', '.join(NAMED_COLUMNS)}.",
    ),
    "header": (
        "names",
        by_file(texts),
        "The names of the columns of text without a header line, such as user,item,rank; an empty name leaves a column out.",
    ),
    "separator": (
        "mark",
        by_file(separator),
        "The separator of columns in text, such as ';', tab or '::'.",
    ),
    "encoding": (
        "name",
        by_file(encoding),
        "The encoding of text that is not UTF-8, such as latin-1.",
    ),
    "decimal": (
        "point|comma",
        by_file(partial(word, {"point": ".", "comma": ","})),
        "The sign before the decimals in text.",
    ),
    "quotes": (
        "yes|no",
        by_file(partial(word, {"yes": True, "no": False})),
        "Whether quotes hold a value of text together.",
    ),
    "lists-separator": (
        "mark",
        by_file(separator),
        "The separator of ids where a column has lists as text, ' ' for 'a b c'; a row is then a user's list.",
    ),
}
"""Options on files, for all or for one, recs=VALUE: the word for a value, how it is read, and its help."""
