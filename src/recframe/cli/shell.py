"""Errors as one line, and the words of a shell for what messages tell to write: options of the command, and files."""

from __future__ import annotations

import ast
import shlex
import warnings
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click
import polars as pl

import recframe as rf
from recframe.cli import files
from recframe.cli.readers import ROWS_TO_INFER
from recframe.errors import shown
from recframe.frames import hints
from recframe.frames.context import NAMED_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator


FRAMES = ("users", "items", "train", "reference")
PLACE = "..."
"""The value of an option that is to be filled in."""


class Failure(click.ClickException):
    """What went wrong with files, columns, metrics or data, in one line."""

    def show(self, file: Any = None) -> None:
        """Print the line to stderr."""
        click.echo(f"error: {' '.join(self.message.split())}", file=file, err=True)


@contextmanager
def read_errors() -> Iterator[None]:
    """Say which files cannot be read."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        text = files.first_line(error)
        hint = ""
        if "could not parse" in text:
            hint = f"; the first {ROWS_TO_INFER} rows are otherwise. Use --ids-as-text for ids, or write Parquet"
        raise rf.DataError(f"the files cannot be read: {text}{hint}") from None


APART = " ids in common"
"""What the library's warning says where two files have other ids."""


@contextmanager
def noted(*, ids_as_text: bool = False) -> Iterator[None]:
    """Print recframe's warnings as notes when all is done; others are shown as they are."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", rf.RecframeWarning)
        yield
    for one in caught:
        if issubclass(one.category, rf.RecframeWarning):
            note(str(one.message))
            if ids_as_text and APART in str(one.message):
                note("--ids-as-text compares ids sign by sign: '7.0' and '007' are not '7'")
        else:
            warnings.showwarning(one.message, one.category, one.filename, one.lineno)


def note(text: str) -> None:
    """Print what is rarely meant to stderr."""
    click.echo(f"note: {text}", err=True)


@contextmanager
def words_of_the_shell(paths: dict[str, str]) -> Iterator[None]:
    """Have messages speak of options of the command and of files, where they have Python's words for others."""
    with hints.in_words(partial(in_words_of_the_shell, paths=paths)):
        yield


def in_words_of_the_shell(hint: hints.InPython, paths: dict[str, str]) -> str:
    """Return a hint in words of the command, whose files have paths."""
    match hint:
        case hints.Bound(options):
            return ", ".join(_option(name, value) for name, value in options.items())
        case hints.Given(name, value):
            return _given(name, value)
        case hints.FrameOf(name):
            return _file(name, paths)
        case hints.SideFrame(name):
            return _option(name, "")
        case hints.Either():
            return hint.elsewhere
    return hint.python


def _given(name: str, value: object) -> str:
    """Return an option that was given; those that name columns stand in one."""
    if name in NAMED_COLUMNS and name != "model":
        return f"--columns {name}={value}"
    return f"--{_dashed(name)} {'COLUMN' if value == PLACE else shown(value)}"


def _file(name: str, paths: dict[str, str]) -> str:
    """Return the path of a file, or its place in the command where two have one path."""
    recs = paths.get("recs", "RECS")
    is_twice = name == "truth" and paths.get("truth") == recs
    return "TRUTH" if is_twice else repr(paths.get(name, recs))


def _option(name: str, value: str) -> str:
    """Return an option of `rec(...)`, with its value as it stands in Python, as an option of the command."""
    if name == "truth":
        return "the truth as a second file"
    if name in FRAMES:
        return f"--{name} FILE"
    if name == "model":
        return f"--model {_written(value, 'COLUMN')}"
    if name in NAMED_COLUMNS:
        return f"--columns {name}={_written(value, 'NAME')}"
    return f"--{_dashed(name)} {_written(value, 'X')}"


def _written(value: str, place: str) -> str:
    """Return a value as a shell takes it, or a word for one that is to be filled in."""
    text = str(ast.literal_eval(value)) if value[:1] in {"'", '"'} else value
    return place if text == PLACE else shlex.quote(text)


def _dashed(name: str) -> str:
    return name.replace("_", "-")
