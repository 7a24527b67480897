"""Values of options: read from text, and completed by a shell."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeAlias, TypeVar

import click
from click.shell_completion import CompletionItem

import recframe as rf
from recframe.cli.text_files import Form
from recframe.errors import RecframeError, suggestion
from recframe.frames.hints import NAMED_COLUMNS
from recframe.frames.options import MinRelevance
from recframe.frames.options import bytes_of as number_of_bytes
from recframe.tracking.histories import moment

Values: TypeAlias = tuple[str, ...]
"""The texts of an option that may be repeated."""
_Value = TypeVar("_Value")


def values_of(values: Values) -> list[str]:
    """Return the values of an option that is repeated, has several separated by commas, or both."""
    return [name for value in values for name in _cells(value)]


def _cells(value: str) -> list[str]:
    """Return values that are separated by commas or line breaks, which stand in quotes where they are part of one."""
    try:
        lines = csv.reader(io.StringIO(value, newline=""), skipinitialspace=True)
        return [cell for line in lines for cell in line]
    except csv.Error as error:
        raise click.BadParameter(f"its values cannot be told apart: {error}") from None


def metrics_of(values: Values) -> list[str]:
    """Return metrics, which have commas of their own inside brackets."""
    return [name.strip() for value in values for name in re.split(r",(?![^(]*\))", value)]


def cutoffs_of(values: Values) -> list[int]:
    """Return cut-offs, or say what is none."""
    names = values_of(values)
    # NOTE: a number of thousands of digits is none to Python
    wrong = [name for name in names if not re.fullmatch(r"0*[1-9][0-9]{0,99}", name)]
    if wrong:
        raise click.BadParameter(
            f"{wrong[0]!r} is no cut-off; write whole numbers from 1, such as -k 5,10"
        )
    return [int(name) for name in names]


class Columns(dict[str, str]):
    """The names of columns by their roles; those of one file by its name."""

    def __init__(self) -> None:
        super().__init__()
        self.of_files: dict[str, dict[str, str]] = {}


def roles_of(values: Values) -> Columns:
    """Return the names of columns by their roles, in all files or in one."""
    columns = Columns()
    for pair in values_of(values):
        role, equals, name = pair.partition("=")
        named: dict[str, str] = columns
        if role in FILES and "=" in name:
            named = columns.of_files.setdefault(role, {})
            role, _, name = name.partition("=")
        if not equals or not name:
            raise click.BadParameter(
                f"{pair!r} is no role=name; write for example user=user_id,item=movie_id, or for one file "
                "truth=item=article_id"
            )
        if role not in NAMED_COLUMNS:
            raise click.BadParameter(
                f"unknown role {role!r}{suggestion(role, NAMED_COLUMNS)}; the roles are {', '.join(NAMED_COLUMNS)}"
            )
        named[role] = name
    return columns


def bytes_of(value: str) -> int:
    """Return a number of bytes, or say what is none."""
    n = number_of_bytes(value)
    if n is None:
        raise click.BadParameter(
            f"{value!r} is no number of bytes; write for example 500MB or 20GB"
        )
    return n


def threshold(value: str) -> MinRelevance:
    """Return the relevance from which rows are relevant, or say what is none."""
    if value == "any":
        return "any"
    try:
        return float(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is no number; write one above 0, or any") from None


FILES = ("recs", "truth", "users", "items", "train", "reference", "log")
"""Files of a command, which an option can name, as in --header recs=user,item,rank."""
OF_LISTS = ("recs", "truth", "reference", "train")
"""Files with users' items, which may be in list form."""
WORDS = {"tab": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}


def by_files(values: Values, read: Callable[[str], _Value]) -> dict[str, _Value]:
    """Return the values of an option by the files that they are for, those that are for all by ''."""
    found = {}
    for value in values:
        name, equals, rest = value.partition("=")
        is_for_one = bool(equals) and name in FILES
        if equals and not is_for_one and re.fullmatch("[a-z]+", name):
            raise click.BadParameter(
                f"unknown file {name!r}{suggestion(name, FILES)}; the files are {', '.join(FILES)}"
            )
        found[name if is_for_one else ""] = read(rest if is_for_one else value)
    return found


def separator(value: str) -> str:
    """Return the text that separates columns, or ids in a list."""
    if not value:
        raise click.BadParameter(
            f"write the text between two ids or columns, or a word: {', '.join(WORDS)}"
        )
    return (WORDS | {"\\t": "\t"}).get(value, value)


def encoding(value: str) -> str:
    """Return the name of an encoding, or say that it is none."""
    try:
        return codecs.lookup(value).name
    except LookupError:
        msg = f"{value!r} is no encoding that Python knows; write for example latin-1 or utf-16"
        raise click.BadParameter(msg) from None


def one_of(words: Mapping[str, _Value], value: str) -> _Value:
    """Return what a word means."""
    if value not in words:
        raise click.BadParameter(f"{value!r} is none of {', '.join(words)}")
    return words[value]


def header(value: str) -> tuple[str, ...]:
    """Return the names of the columns of a text file without a header line."""
    names = tuple(cell.strip() for cell in _cells(value))
    known = [name for name in names if name]
    if not known or len({*known}) < len(known):
        raise click.BadParameter(
            f"{','.join(names)!r} names no column, or one twice; write for example user,item,rank"
        )
    return names


FORM_OPTIONS = {
    "separator": "separator",
    "header": "names",
    "encoding": "encoding",
    "decimal": "decimal",
    "quotes": "quotes",
}
"""The options that say how a text file is written, and their words in its form."""


def form_of(name: str, options: Mapping[str, Any]) -> Form:
    """Return how one of a command's files is written, where it is text."""
    given = {word: options[option] for option, word in FORM_OPTIONS.items()}
    found = {word: values.get(name, values.get("")) for word, values in given.items()}
    return Form(**{word: value for word, value in found.items() if value is not None})


def one_truth(values: Values) -> str | None:
    """Return the second path, or say that a shell has made several of one."""
    if len(values) > 1:
        raise one_path_each(len(values) + 1)
    return values[0] if values else None


def one_path_each(n: int) -> click.UsageError:
    """Return the error of more paths than two."""
    return click.UsageError(
        f"RECS and TRUTH are one path each, but there are {n}; put a pattern in quotes, so that the shell leaves it as it is: "
        "'recs/*.parquet'"
    )


def time_of(value: str) -> datetime:
    """Return a time, or say what is none."""
    try:
        return moment(value)
    except RecframeError:
        raise click.BadParameter(f"{value!r} is no day or time; write 2026-11-22") from None


def tags_of(values: Values) -> dict[str, str]:
    """Return tags by their names."""
    pairs = [one.partition("=") for one in values_of(values)]
    for name, equals, value in pairs:
        if not (name and equals and value):
            raise click.BadParameter(
                f"{name + equals + value!r} is no name=word; write commit=3f2a1c"
            )
    return {name: value for name, _, value in pairs}


def complete_metrics(_: object, __: object, begun: str) -> list[CompletionItem[str]]:
    """Return metrics with their formulas."""
    known = rf.list_metrics().select("name", "formula").iter_rows()
    return [CompletionItem(one, help=said) for one, said in known if one.startswith(begun)]


def complete_profiles(_: object, __: object, begun: str) -> list[CompletionItem[str]]:
    """Return the names of profiles, or where none begins so leave it to the shell as a file."""
    known = dict.fromkeys(["recframe", *rf.list_profiles()["profile"]])
    names = [CompletionItem(one) for one in known if one.startswith(begun)]
    return names or [CompletionItem(begun, type="file")]
