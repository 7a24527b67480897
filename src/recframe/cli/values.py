"""Values of options: read from text, and completed by a shell."""

from __future__ import annotations

import csv
import io
import re
from datetime import datetime
from typing import TypeAlias

import click
from click.shell_completion import CompletionItem

import recframe as rf
from recframe.cli.readers import Form
from recframe.errors import RecframeError, suggestion
from recframe.frames.hints import NAMED_COLUMNS
from recframe.frames.options import MinRelevance
from recframe.frames.options import bytes_of as number_of_bytes
from recframe.tracking.histories import moment

Values: TypeAlias = tuple[str, ...]
"""The texts of an option that may be repeated."""


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


def roles_of(values: Values) -> dict[str, str]:
    """Return the names of columns by their roles."""
    columns = {}
    for pair in values_of(values):
        role, equals, name = pair.partition("=")
        if not equals or not name:
            raise click.BadParameter(
                f"{pair!r} is no role=name; write for example user=user_id,item=movie_id"
            )
        if role not in NAMED_COLUMNS:
            raise click.BadParameter(
                f"unknown role {role!r}{suggestion(role, NAMED_COLUMNS)}; the roles are {', '.join(NAMED_COLUMNS)}"
            )
        columns[role] = name
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


def by_files(values: Values) -> dict[str, str]:
    """Return the values of an option by the files that they are for, those that are for all by ''."""
    found = {}
    for value in values:
        name, equals, rest = value.partition("=")
        is_for_one = bool(equals) and name in FILES
        if equals and not is_for_one and re.fullmatch("[a-z]+", name):
            raise click.BadParameter(
                f"unknown file {name!r}{suggestion(name, FILES)}; the files are {', '.join(FILES)}"
            )
        found[name if is_for_one else ""] = rest if is_for_one else value
    return found


def separators(values: Values) -> dict[str, str]:
    """Return the column separators of text files, by file."""
    found = by_files(values)
    for name, value in found.items():
        mark = (WORDS | {"\\t": "\t"}).get(value, value)
        if len(mark.encode()) != 1:
            raise click.BadParameter(
                f"{value!r} is not one character; write one, such as ';', or a word: {', '.join(WORDS)}"
            )
        found[name] = mark
    return found


def list_separators(values: Values) -> dict[str, str]:
    """Return the separators of ids in list columns, by file."""
    found = by_files(values)
    others = [name for name in found if name not in {"", *OF_LISTS}]
    if others or not all(found.values()):
        example = f"one of the files {', '.join(OF_LISTS)}, as in truth=' '"
        raise click.BadParameter(f"write the text between two ids, such as ' ', or for {example}")
    return {name: WORDS.get(value, value) for name, value in found.items()}


def headers(values: Values) -> dict[str, tuple[str, ...]]:
    """Return the names of the columns of text files without a header line, by the files."""
    found = by_files(values)
    names = {name: _names(value) for name, value in found.items()}
    for given in names.values():
        known = [one for one in given if one]
        if not known or len(set(known)) < len(known):
            raise click.BadParameter(
                f"{','.join(given)!r} names no column, or one twice; write for example user,item,rank"
            )
    return names


def _names(value: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in _cells(value))


def form_of(name: str, marks: dict[str, str], names: dict[str, tuple[str, ...]]) -> Form:
    """Return the text format of one of a command's files, or None."""
    return Form(marks.get(name, marks.get("")), names.get(name, names.get("")))


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
