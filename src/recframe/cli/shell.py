"""Errors in the words of a shell: options and files where the library speaks of arguments and frames."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
import polars as pl

import recframe as rf
from recframe.cli import files

if TYPE_CHECKING:
    from collections.abc import Iterator


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
    """Turn the Python words of an error's hint into options of the command."""
    try:
        yield
    except rf.RecframeError as error:
        raise type(error)(in_words_of_the_shell(str(error), paths)) from None


def in_words_of_the_shell(text: str, paths: dict[str, str]) -> str:
    """Return a text with options of the command where it has Python's words."""
    said = {
        r": (?:recs|frame)\.rec\([^)]*\)\.\w+\([^)]*\)$": "",
        r"the (train|items|users) frame\b": r"--\1 FILE",
        r"needs a reference\b": "needs --reference FILE",
        r"(the frame of recommendations|the judged frame)": _literally(repr(paths["recs"])),
        **{rf"the frame {name}=": _literally(repr(path)) for name, path in paths.items()},
        r"rec\((\w+)='\.\.\.'\)": r"--columns \1=NAME",
        r"as a frame: rec\(truth=truth\)": "as a second file",
        r"rec\(model='(.*?)'\)": r"--model '\1'",
        r"rec\(model=\.*\)": "--model COLUMN",
        r"a column of rec\(users=\.*\)": "a column of --users FILE",
        r"rec\((users|items)=(?:\.*|\1)\)": r"--\1 FILE",
        r"Give the frame that has it": "Give the file that has it",
        r"\bby='": "--by '",
        r"\bmin_relevance=": "--min-relevance ",
        r"cast them to one dtype, so that they can match": "read them all as text with --ids-as-text",
        r": cast the column before": "; make it one in the file",
        r"(add 1 to them): frame.*": r"\1 in the file",
        r": (users|items)\.unique\('\w+'\)": "",
        r"rec\((universe)='(\w+)'\)": r"--\1 \2",
        r"rec\(no_relevant='(\w+)'\)": r"--no-relevant \1",
        r"rec\(min_relevance=\.*\)": "--min-relevance X",
        r"rec\(truth=\.*\)": "the truth as a second file",
    }
    for python, shell in said.items():
        text = re.sub(python, shell, text)
    return text


def _literally(text: str) -> str:
    """Return text as a replacement in which a backslash is no more than that."""
    return text.replace("\\", r"\\")
