"""Errors as one line, and the words of a shell for what messages tell to write: options of the command, and files."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
import polars as pl

import recframe as rf
from recframe.cli import files, pipes
from recframe.cli.printing import say
from recframe.cli.readers import ROWS_TO_INFER
from recframe.errors import readable
from recframe.frames import hints
from recframe.frames.hints_of_a_shell import InShell

if TYPE_CHECKING:
    from collections.abc import Iterator


class Failure(click.ClickException):
    """What went wrong with files, columns, metrics or data, in one line."""

    def __init__(self, message: str) -> None:
        super().__init__(pipes.in_words(message))

    def show(self, file: Any = None) -> None:
        """Print the line to stderr."""
        del file
        say(f"error: {' '.join(readable(self.message).split())}", err=True)


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
    say(f"note: {' '.join(text.split())}", err=True)


@contextmanager
def words_of_the_shell(paths: dict[str, str]) -> Iterator[None]:
    """Have messages speak of options of the command and of files, where they have Python's words for others."""
    with hints.in_words(InShell(paths)):
        yield
