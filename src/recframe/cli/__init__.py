"""The command line: files in, tables out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from recframe.cli import process

__all__ = ["main"]


def main() -> NoReturn:
    """Run the command that this process was given."""
    process.begin()
    process.run(_command())


def _command() -> Callable[[], Any]:
    try:
        from recframe.cli.commands import main as command  # noqa: PLC0415  which imports much
    except ModuleNotFoundError as missing:
        name = str(missing.name).partition(".")[0]
        message = f"error: the command line needs {name}: pip install 'recframe[cli]'"
        raise SystemExit(message) from None
    return partial(command, prog_name="recframe")
