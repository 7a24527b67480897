"""Parts of messages whose words depend on the surface: those of Python and of a shell."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from recframe.errors import shown

ROLES = ("user", "item", "rank", "score", "relevance", "model", "training", "propensity")
NAMED_COLUMNS = (*ROLES, "weight")
"""The options that name a column; a weight is one of the users frame alone, and in no frame unless it is named."""


class Hint:
    """A part of a message for which each surface has words of its own."""

    python = elsewhere = ""

    def __str__(self) -> str:
        return _words.get()(self)


@dataclass(frozen=True)
class Bound(Hint):
    """Options of `rec(...)` to write, each with its value as it stands in Python."""

    options: Mapping[str, str]


@dataclass(frozen=True)
class Given(Hint):
    """An argument or option as it was given."""

    name: str
    value: object


@dataclass(frozen=True)
class FrameOf(Hint):
    """A frame of the call, by the option that binds it; the frame that is asked is "judged" or "recommendations"."""

    name: str


@dataclass(frozen=True)
class SideFrame(Hint):
    """A frame that is to be bound, by its option."""

    name: str


@dataclass(frozen=True)
class Either(Hint):
    """Words that hold in Python alone, and what stands in their place elsewhere."""

    python: str
    elsewhere: str = ""


@dataclass(frozen=True)
class Text:
    """Words and hints that are written once, and put into words when they are needed."""

    parts: tuple[str | Hint | Text, ...]

    def __str__(self) -> str:
        return "".join(map(str, self.parts))


NAMED = "'...'"
"""The value of an option that names a column."""
A_FRAME = Either("frame", "file")


def bind(**options: str) -> Bound:
    """Return the hint to bind options."""
    return Bound(options)


def text(*parts: str | Hint | Text) -> Text:
    """Return a text of words and hints."""
    return Text(parts)


ASKED = {"judged": "the judged frame", "recommendations": "the frame of recommendations"}
"""The names of the frame that is asked."""


def _in_python(hint: Hint) -> str:
    match hint:
        case Bound(options):
            return f"rec({', '.join([f'{name}={value}' for name, value in options.items()])})"
        case Given(name, value):
            return f"{name}={shown(value)}"
        case FrameOf(name):
            return ASKED.get(name, f"the frame {name}=")
        case SideFrame(name):
            return "a reference" if name == "reference" else f"the {name} frame"
    return hint.python


_words: ContextVar[Callable[[Hint], str]] = ContextVar("words", default=_in_python)


def words() -> Callable[[Hint], str]:
    """Return what puts hints into words."""
    return _words.get()


def are_in_python() -> bool:
    """Whether hints are put into the words of Python."""
    return _words.get() is _in_python


@contextmanager
def in_words(words: Callable[[Hint], str]) -> Iterator[None]:
    """Have hints put into the words of another surface than Python."""
    token = _words.set(words)
    try:
        yield
    finally:
        _words.reset(token)


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

    def __call__(self, hint: Hint) -> str:
        """Return a hint in words of the command."""
        match hint:
            case Bound(options):
                return ", ".join(_option(name, value) for name, value in options.items())
            case Given(name, value):
                return _given(name, value)
            case FrameOf(name):
                return _file(name, self.paths)
            case SideFrame(name):
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
