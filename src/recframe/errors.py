"""Errors and warnings, and the words in them."""

from __future__ import annotations

import functools
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import cast

import polars as pl

# A check inside a lazy plan fails as a Polars error that quotes our sentence; the marks tell where it begins and ends.
START, END = "for recframe: ", " (end of message)"
_ANY_TIME = datetime(2000, 1, 1)  # noqa: DTZ001  which is given a zone in a plan

LONGEST = 200
"""Characters after which an id or a name in a message is cut."""
LONGEST_MESSAGE = 10_000
CUT = "..."
"""Marker of omitted text."""
# what moves a cursor, sets a clipboard, breaks a line or turns the direction of text; not what joins letters or emojis
_CONTROLS = (
    *((0x00, 0x1F), (0x7F, 0x9F), (0x061C, 0x061C), (0x180E, 0x180E), (0x200B, 0x200B)),
    *((0x200E, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB)),
)
_WRITTEN = {
    chr(code): chr(code).encode("unicode_escape").decode()
    for first, last in _CONTROLS
    for code in range(first, last + 1)
}
# and half characters, which no terminal can be sent and no Polars text has
_CONTROL = re.compile(f"[{''.join(map(re.escape, _WRITTEN))}\ud800-\udfff\U000e0000-\U000e007f]")
# as Python writes them: an apostrophe within words opens and closes none
_QUOTED = re.compile(
    "|".join(rf"(?<!\w){sign}[^{sign}\\]*(?:\\.[^{sign}\\]*)*{sign}" for sign in "'\"`"), re.DOTALL
)
_ONE_WORD = re.compile(rf"(\S{{{LONGEST}}})\S{{{LONGEST},}}")


def visible(text: str) -> str:
    r"""Return text in one line whose signs of control are seen and obeyed by no terminal: an escape is `\x1b`."""
    if text.isprintable():
        return text
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def short(text: str) -> str:
    """Return an id or a name in one line of a bearable length."""
    return visible(text if len(text) <= LONGEST else text[:LONGEST] + CUT)


def readable(text: str) -> str:
    """Return a message to read: ids and names in quotes are cut to a length, and signs of control are seen."""
    if len(text) <= LONGEST and text.isprintable():
        return text
    if len(text) > LONGEST:
        text = _QUOTED.sub(_cut, _without_middle(text, 100 * LONGEST_MESSAGE))
        text = _ONE_WORD.sub(rf"\1{CUT}", text)
    return _without_middle("\n".join(map(visible, text.split("\n"))), LONGEST_MESSAGE)


def _cut(quoted: re.Match[str]) -> str:
    words = quoted[0]
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}{CUT}{words[0]}"


def _without_middle(text: str, most: int) -> str:
    half = most // 2
    return text if len(text) <= most else text[:half] + CUT + text[-half:]


def shown_in_plan(value: pl.Expr) -> pl.Expr:
    """Return the values of a column as `short` shows them, in a plan."""
    text = value.cast(pl.String)
    is_long = text.str.len_chars() > LONGEST
    cut = pl.when(is_long).then(text.str.head(LONGEST) + CUT).otherwise(text)
    return cut.str.replace_many(list(_WRITTEN), list(_WRITTEN.values()))


class RecframeError(ValueError):
    """The base of every error that recframe raises on purpose."""

    def __init__(self, message: object = "") -> None:
        super().__init__(readable(str(message)))


class UnknownMetricError(RecframeError):
    """A metric, or a parameter of one, that is not in the registry."""


class ColumnError(RecframeError):
    """A column that is missing, ambiguous, or of a dtype that cannot be used for its role."""


class DataError(RecframeError):
    """Something that only the data can show, such as a rank below 1."""


class RecframeWarning(UserWarning):
    """A number that comes out, but is rarely meant: what was found in the data, and what to write instead."""


class CallError(RecframeError, TypeError):
    """An argument or option that a call does not take; a TypeError too, as Python's own word on it is."""


class RequirementError(RecframeError, AssertionError):
    """A requirement that is not met; an AssertionError too, so that a test that calls `require` fails and is no error."""


class NoOrderError(RecframeError):
    """A word that needs an order of tied items, where `ties` gives them none; the plan says which metric it is in."""


class NeedsAllUsersError(RecframeError):
    """A number that takes the rows of all users at once, which a bucket of users has where it is the only one."""


OTHER_TIES = "write another ties=, such as 'item', or 'pessimistic' and 'optimistic' for its bounds"


_WITHOUT_ORDER = {
    "expected": "has no expectation in closed form",
    "last": "has no value of whole ties",
}


def without_order(metric: str, ties: str, reason: object) -> RecframeError:
    """Return the error of a metric that needs an order of ties, which `ties` does not define."""
    return RecframeError(
        f"{metric!r} {_WITHOUT_ORDER[ties]} (ties={ties!r}): {reason}; {OTHER_TIES}"
    )


_is_silent: ContextVar[bool] = ContextVar("is_silent", default=False)
_given: ContextVar[set[str] | frozenset[str]] = ContextVar("given", default=frozenset())
"""Warnings that were given, where each is to be given once."""


@contextmanager
def silent() -> Iterator[None]:
    """Warn of nothing within a context, such as a call that is made once more."""
    token = _is_silent.set(True)
    try:
        yield
    finally:
        _is_silent.reset(token)


@contextmanager
def warned_once() -> Iterator[None]:
    """Let several calls inside give a warning once."""
    token = _given.set(set())
    try:
        yield
    finally:
        _given.reset(token)


def warn(message: str) -> None:
    """Warn at the line that called recframe, however deep inside it this is."""
    given = _given.get()
    if _is_silent.get() or message in given:
        return
    if isinstance(given, set):
        given.add(message)
    # in the form that code objects have; a cached property calls us by a function of functools
    here = (os.path.dirname(__file__) + os.sep, functools.__file__)  # noqa: PTH120
    level, frame = 1, sys._getframe()  # noqa: SLF001  the documented way to see one's callers without reading their files
    while frame.f_back is not None and frame.f_code.co_filename.startswith(here):
        level, frame = level + 1, frame.f_back
    warnings.warn(readable(message), RecframeWarning, stacklevel=level)


def wrong_ending(ending: str) -> str:
    """Return the error message on an unknown file ending."""
    return f"its ending is {ending!r}" if ending else "it has no ending"


def folded(name: str) -> str:
    """Return a name without case and separators, which spellings differ in."""
    return re.sub(r"[\W_]+", "", name).casefold()


CLOSE = 0.7
"""The similarity from which a known name is suggested: `user_id` for `user`, and not `rating` for `rank`."""


def suggestion(name: str, known: Iterable[str], closeness: float = CLOSE) -> str:
    """Return `; did you mean 'x'?` for the closest known name, of the same letters first; nothing where none is close."""
    import difflib  # noqa: PLC0415  importing recframe should take no time

    # pandas has columns that are named by numbers and tuples
    folded = {one.casefold(): one for one in known if isinstance(one, str) and len(one) <= LONGEST}
    if len(name) > LONGEST:  # which nobody types, and which would take hours to compare
        return ""
    exchanged = [one for one in folded if sorted(one) == sorted(name.casefold())]
    found = exchanged or difflib.get_close_matches(name.casefold(), folded, 1, closeness)
    return f"; did you mean {folded[found[0]]!r}?" if found else ""


_LIBRARIES = {"polars": "Polars ", "pandas": "pandas ", "numpy": "NumPy ", "pyarrow": "pyarrow "}
_NAMES = {
    "NamedFrame": "rf.frame",
    "NoneType": "None",
    "ndarray": "array",
    "str": "text",
    "Expr": "expression",
    "MetricExpr": "expression",
}
_MOST_SHOWN = 60


def kind_of(thing: object) -> str:
    """Return a description of an object's type: `a list`, `a NumPy array`, `a pandas Series`."""
    if thing is None:
        return "None"
    library = _LIBRARIES.get(type(thing).__module__.partition(".")[0], "")
    words = library + _NAMES.get(type(thing).__name__, type(thing).__name__)
    return words if words == "text" else with_article(words)


def with_article(words: str) -> str:
    """Return words with the article that they are read with: `an item`, `a user`."""
    vowel = words[:1].casefold() in {"a", "e", "i", "o"} or words.startswith(("un", "RDD"))
    return f"{'an' if vowel else 'a'} {words}"


def shown(value: object) -> str:
    """Return a value as it is written, or what it is where that is long: a frame, a column, an array."""
    module = type(value).__module__.partition(".")[0]
    if module in _LIBRARIES and (module != "numpy" or hasattr(value, "__len__")):
        return kind_of(value)
    if isinstance(value, list | tuple | set | dict) and any(
        type(one).__module__ != "builtins" for one in value
    ):
        return kind_of(value)
    words = " ".join(repr(value).split()) if not isinstance(value, str) else repr(value)
    return (
        words
        if isinstance(value, str) or len(words) <= _MOST_SHOWN
        else f"{words[:_MOST_SHOWN]}..."
    )


def dtype_shown(dtype: pl.DataType) -> str:
    """Return a dtype as it is written, or its kind alone where that is long: an Enum names all its categories."""
    words = str(dtype)
    return words if len(words) <= _MOST_SHOWN else str(dtype.base_type())


def fails_if(condition: pl.Expr, message: str | pl.Expr) -> pl.Expr:
    """Return an expression of the value 0 that fails with `message` when the plan runs and `condition` is true.

    NOTE: a strict cast of the message to a number fails inside a plan without a Python function, so that the plan still
    streams and serializes; but Polars' error begins with words on the cast. It takes rows of any number, none included.
    """
    return pl.when(condition).then(_words(message)).cast(pl.Int64).fill_null(0)


def fails_whole_if(condition: pl.Expr, message: str | pl.Expr) -> pl.Expr:
    """Return the same for a one-row frame: Polars' error then begins with the message.

    NOTE: Polars says which word on ambiguous times it does not know, and no more. Over no rows it would panic, so that what
    is asked of each row or group goes by `fails_if`; and so does all on Polars 1, which panics over a chunk without rows.
    """
    if pl.__version__.startswith("1."):
        return fails_if(condition, message)
    time = pl.when(condition).then(pl.lit(_ANY_TIME))
    word = pl.when(condition).then(_words(message)).otherwise(pl.lit("raise"))
    return time.dt.replace_time_zone("Europe/Paris", ambiguous=word).is_null().cast(pl.Int64) * 0


def _words(message: str | pl.Expr) -> pl.Expr:
    """Return a message between its marks."""
    # NOTE: a sum, since Polars 1 panics where it streams pl.concat_str of a literal and a column over no rows.
    return (
        pl.lit(f"{START}{readable(message)}{END}")
        if isinstance(message, str)
        else worded(START, message, END)
    )


def worded(*parts: str | pl.Expr) -> pl.Expr:
    """Return words with values of a row between them, see `shown_in_plan`; null where a value is."""
    words = None
    for part in parts:
        text = pl.lit(part) if isinstance(part, str) else part.cast(pl.String)
        words = text if words is None else words + text
    return cast("pl.Expr", words)


def sentence(statement: str, close: str) -> str:
    """Return a statement as a sentence of its own, with the closest name where there is one."""
    return statement + (close or ".")
