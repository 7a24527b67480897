"""The repr of a `rec`: its frames, and the options bound."""

from __future__ import annotations

from typing import Any

from recframe.charts.formatting import counted
from recframe.errors import readable, shown
from recframe.frames.kinds.kind import kind_for
from recframe.frames.kinds.several_models import Models
from recframe.frames.options import OPTIONS, SIDES, Context, NamedFrame


def of(frame: Any, context: Context) -> str:
    """Return the text on a frame with its options; LazyFrames are not collected."""
    parts = [f"rec of {of_frame(frame)}"]
    for name in filter(context.given.__contains__, OPTIONS):
        value = getattr(context, name)
        is_frame = name in SIDES and not isinstance(value, str)
        parts.append(f"{name} {of_frame(value)}" if is_frame else f"{name}={shown(value)}")
    if context.by:
        parts.append(f"by {', '.join(map(shown, context.by))}")
    return readable("; ".join(parts))


def of_frame(frame: Any) -> str:
    """Return the class of a frame with its library and, where it is in memory, the number of its rows."""
    if isinstance(frame, NamedFrame):
        frame = frame.frame
    if isinstance(frame, Models):
        of_first = _class_of(next(iter(frame.frames.values())))
        return f"{of_first} for each of {', '.join(map(repr, frame.frames))}"
    kind, words = kind_for(frame), _class_of(frame)
    return words if kind.is_lazy else f"{words} of {counted(kind.size, 'row')}"


def _class_of(frame: Any) -> str:
    """Return the class of a frame with its library."""
    return f"a {type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
