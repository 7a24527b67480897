"""The repr of a `rec`: its frames, and the options bound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from recframe.charts.formatting import counted
from recframe.errors import readable, shown
from recframe.frames.hints import ROLES
from recframe.frames.kinds.lookup import kind_for
from recframe.frames.kinds.several_models import Models
from recframe.frames.options import OPTIONS, SIDES, Context, NamedFrame


def card(title: str, rows: Mapping[str, str]) -> str:
    """Return a title and what is said of each part, in one line."""
    return readable("; ".join([title, *(f"{name} {said}" for name, said in rows.items())]))


def of(frame: Any, context: Context) -> str:
    """Return the text on a frame with its options; LazyFrames are not collected."""
    return card(f"rec of {of_frame(frame)}", dict(_rows(context)))


def _rows(context: Context) -> Iterator[tuple[str, str]]:
    roles = [name for name in ROLES if name in context.given]
    policies = [name for name in OPTIONS if name in context.given - {*ROLES, *SIDES}]
    if roles:
        yield "columns", _options(context, roles)
    for name in SIDES:
        side = getattr(context, name)
        if side is not None:
            yield name, repr(side) if isinstance(side, str) else of_frame(side)
    if policies:
        yield "options", _options(context, policies)
    if context.by:
        yield "by", ", ".join(map(shown, context.by))


def _options(context: Context, names: list[str]) -> str:
    return ", ".join(f"{name}={shown(getattr(context, name))}" for name in names)


def of_frame(frame: Any) -> str:
    """Return the class of a frame with its library and, where it is in memory, the number of its rows."""
    if isinstance(frame, NamedFrame):
        return of_frame(frame.frame)
    kind, of_each = kind_for(frame), ""
    if isinstance(frame, Models):
        of_each = f" for each of {', '.join(map(repr, frame.frames))}, in all"
        frame = next(iter(frame.frames.values()))
    words = f"a {type(frame).__module__.partition('.')[0]}.{type(frame).__name__}{of_each}"
    return (
        words.removesuffix(", in all")
        if kind.is_lazy
        else f"{words} of {counted(kind.size, 'row')}"
    )
