"""Parameters of a metric: what they take, and what each choice means."""

from __future__ import annotations

from typing import Any, Literal

from metric_text import BELOW, code, table, written

from recframe.metrics.language.definition import Bounds, Definition
from recframe.profiles.switches import words_of

OPTIONS = "[Options of `rec(...)`](index.md#options-of-every-metric), such as `universe=`, hold beside them."


def section(definition: Definition) -> str:
    """Return a table of all parameters of a metric."""
    if not definition.parameters:
        return f"None. {OPTIONS}"
    rows = [
        [code(f"{name}={written(about.default)}"), _takes(definition, name, about.default)]
        for name, about in definition.parameters.items()
    ]
    return "\n\n".join([table(["parameter", "what it takes"], rows), OPTIONS])


def _takes(definition: Definition, name: str, default: Any) -> str:
    """Return what a parameter takes, of choices with the meaning of each."""
    kind, extras = definition.kinds[name]
    choices = (True, False) if isinstance(default, bool) else extras if kind is Literal else ()
    if choices:
        meanings = {code(written(one)): words_of(name, one, definition.family) for one in choices}
        return BELOW.join(": ".join(filter(None, each)) for each in meanings.items())
    if isinstance(default, str):
        return "the name of a column of `items`"
    bounds = next((str(one) for one in extras if isinstance(one, Bounds)), "a number")
    meaning = words_of(name, "x", definition.family)
    return f"{bounds}: with x, {meaning}" if meaning else bounds
