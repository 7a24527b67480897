"""Parts of messages whose words depend on the surface, Python or shell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from recframe.errors import shown


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
