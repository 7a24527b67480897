"""Parts of messages whose words depend on the surface, Python or shell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from recframe.errors import shown


class InPython(Protocol):
    """What has words in Python."""

    @property
    def python(self) -> str:
        """The words in Python."""


class Hint:
    """A part of a message for which each surface has words of its own."""

    def __str__(self: InPython) -> str:
        return _words.get()(self)


@dataclass(frozen=True)
class Bound(Hint):
    """Options of `rec(...)` to write, each with its value as it stands in Python."""

    options: Mapping[str, str]

    @property
    def python(self) -> str:
        """The words in Python."""
        return f"rec({', '.join(f'{name}={value}' for name, value in self.options.items())})"


@dataclass(frozen=True)
class Given(Hint):
    """An argument or option as it was given."""

    name: str
    value: object

    @property
    def python(self) -> str:
        """The words in Python."""
        return f"{self.name}={shown(self.value)}"


@dataclass(frozen=True)
class FrameOf(Hint):
    """A frame of the call, by the option that binds it; the frame that is asked is "judged" or "recommendations"."""

    name: str

    @property
    def python(self) -> str:
        """The words in Python."""
        asked = {"judged": "the judged frame", "recommendations": "the frame of recommendations"}
        return asked.get(self.name, f"the frame {self.name}=")


@dataclass(frozen=True)
class SideFrame(Hint):
    """A frame that is to be bound, by its option."""

    name: str

    @property
    def python(self) -> str:
        """The words in Python."""
        return "a reference" if self.name == "reference" else f"the {self.name} frame"


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


def _in_python(hint: InPython) -> str:
    return hint.python


_words: ContextVar[Callable[[InPython], str]] = ContextVar("words", default=_in_python)


def words() -> Callable[[InPython], str]:
    """Return what puts hints into words."""
    return _words.get()


def are_in_python() -> bool:
    """Whether hints are put into the words of Python."""
    return _words.get() is _in_python


@contextmanager
def in_words(words: Callable[[InPython], str]) -> Iterator[None]:
    """Have hints put into the words of another surface than Python."""
    token = _words.set(words)
    try:
        yield
    finally:
        _words.reset(token)
