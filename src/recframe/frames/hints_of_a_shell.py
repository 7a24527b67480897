"""Words of a shell for the options and files in messages."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from recframe.errors import shown
from recframe.frames import hints
from recframe.frames.context import NAMED_COLUMNS

FRAMES = ("users", "items", "train", "reference")
ALL_RELEVANT = "--all-relevant"
"""What is written for relevance=False."""
PLACE = "..."
"""The value of an option that is to be filled in."""


@dataclass(frozen=True)
class InShell:
    """Puts hints into words of a command; it travels to the workers of an engine, which need nothing of the shell."""

    paths: Mapping[str, str]
    """The command's files, by their names."""

    def __call__(self, hint: hints.Hint) -> str:
        """Return a hint in words of the command."""
        match hint:
            case hints.Bound(options):
                return ", ".join(_option(name, value) for name, value in options.items())
            case hints.Given(name, value):
                return _given(name, value)
            case hints.FrameOf(name):
                return _file(name, self.paths)
            case hints.SideFrame(name):
                return _option(name, "")
        return hint.elsewhere


def _given(name: str, value: object) -> str:
    """Return an option that was given; those that name columns stand in one."""
    if value is False:
        return ALL_RELEVANT
    if name in NAMED_COLUMNS and name not in {"model", "training"}:
        return f"--columns {name}={value}"
    if isinstance(value, list):  # which a shell has between commas
        value = ",".join(map(str, value))
        return f"-{name} {value}" if len(name) == 1 else f"--{_dashed(name)} {value}"
    return f"--{_dashed(name)} {'COLUMN' if value == PLACE else shown(value)}"


def _file(name: str, paths: Mapping[str, str]) -> str:
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
    if (name, value) == ("relevance", "False"):
        return ALL_RELEVANT
    if name in {"model", "training"}:
        return f"--{name} {_written(value, 'COLUMN')}"
    if name in NAMED_COLUMNS:
        return f"--columns {name}={_written(value, 'NAME')}"
    return f"--{_dashed(name)} {_written(value, 'X')}"


def _written(value: str, place: str) -> str:
    """Return a value as a shell takes it, or a word for one that is to be filled in."""
    text = str(ast.literal_eval(value)) if value[:1] in {"'", '"'} else value
    return place if text == PLACE else shlex.quote(text)


def _dashed(name: str) -> str:
    return name.replace("_", "-")
