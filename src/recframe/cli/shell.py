"""Errors as one line, and the words of a shell for what messages tell to write: options of the command, and files."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click
import polars as pl

import recframe as rf
from recframe.cli import files
from recframe.errors import shown
from recframe.frames import hints
from recframe.frames.context import ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator


FRAMES = ("users", "items", "train", "reference")
QUOTE = "'"


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
            hint = f"; the first {files.ROWS_TO_INFER} rows are otherwise. Use --ids-as-text for ids, or write Parquet"
        raise rf.DataError(f"the files cannot be read: {text}{hint}") from None


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
            return f"--{_dashed(name)} {shown(value)}"
        case hints.FrameOf(name):
            return repr(paths.get(name, paths["recs"]))
        case hints.SideFrame(name):
            return _option(name, "")
        case hints.Either():
            return hint.elsewhere
    return hint.python


def _option(name: str, value: str) -> str:
    """Return an option of `rec(...)`, with its value as it stands in Python, as an option of the command."""
    if name == "truth":
        return "the truth as a second file"
    if name in FRAMES:
        return f"--{name} FILE"
    if name in ROLES and value == hints.NAMED:
        return f"--columns {name}=NAME"
    if name == "model":
        return f"--model {'COLUMN' if value == '...' else value}"
    return f"--{_dashed(name)} {'X' if value == '...' else value.strip(QUOTE)}"


def _dashed(name: str) -> str:
    return name.replace("_", "-")
