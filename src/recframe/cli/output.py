"""Words on a terminal, errors and notes."""

from __future__ import annotations

import re
import shutil
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO, TypeAlias

import click
from rich.console import Console, RenderableType

import recframe as rf
from recframe.errors import visible

Options: TypeAlias = Mapping[str, Any]
"""A command's options by their names."""
UNLIMITED = 1_000_000
"""The width of a pipe."""


def is_terminal() -> bool:
    """Return whether stdout is a terminal."""
    return sys.stdout.isatty()


def width_of(stream: TextIO | None = None) -> int:
    """Return the width of a stream, of stdout where none is given."""
    is_seen = (stream or sys.stdout).isatty()
    return shutil.get_terminal_size().columns if is_seen else UNLIMITED


def say(shown: RenderableType | None, *, err: bool = False) -> None:
    """Print prose or a table, or nothing for None: in the width of a terminal, elsewhere in its own.

    NOTE: all that a command prints goes by this function, or by `put` where it is data.
    """
    stream = sys.stderr if err else sys.stdout
    # NOTE: FORCE_COLOR, which many logs set, makes no terminal of a pipe
    console = Console(file=stream, force_terminal=stream.isatty(), width=width_of(stream))
    if isinstance(shown, str):
        shown = "\n".join(map(visible, shown.split("\n")))
    if shown is not None:
        with console.capture() as printed:
            console.print(shown, markup=False, highlight=False, emoji=False)
        text = re.sub(" +$", "", printed.get(), flags=re.MULTILINE)
        click.echo(text, nl=False, err=err)


def put(data: bytes) -> None:
    """Write data to stdout: into a file or a pipe the bytes that `-o` writes, on a terminal as text."""
    if is_terminal():
        say(data.decode(errors="replace").removesuffix("\n"))
    else:
        # NOTE: of text click takes out what is an escape sequence, and Windows writes other line ends
        click.echo(data, nl=False)


def note(text: str) -> None:
    """Print a note to stderr."""
    say(f"note: {' '.join(text.split())}", err=True)


@contextmanager
def noted() -> Iterator[None]:
    """Print recframe's warnings as notes when all is done, each once; others are shown as they are."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", rf.RecframeWarning)
        yield
    for text, warning in {str(one.message): one for one in caught}.items():
        if issubclass(warning.category, rf.RecframeWarning):
            note(text)
        else:
            warnings.showwarning(
                warning.message, warning.category, warning.filename, warning.lineno
            )


class NotJudgedError(rf.RecframeError):
    """An error that keeps requirements from being judged, with a status other than that of one that fails."""
