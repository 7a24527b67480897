"""Parameters of a metric: what they take, and what each choice means."""

from __future__ import annotations

from typing import Any, Literal

from metric_text import BELOW, code, table

from recframe.metrics.language.definition import Bounds, Definition
from recframe.profiles.switches import words_of

OPTIONS = "[Options of `rec(...)`](index.md#options-of-every-metric), such as `universe=`, hold beside them."


def section(definition: Definition) -> str:
    """Return a table of all parameters of a metric."""
    if not definition.parameters:
        return f"None. {OPTIONS}"
    rows = [
        [code(name), code(written(about.default)), _takes(definition, name, about.default)]
        for name, about in definition.parameters.items()
    ]
    return "\n\n".join([table(["parameter", "default", "what it takes"], rows), OPTIONS])


def _takes(definition: Definition, name: str, default: Any) -> str:
    """Return what a parameter takes, of choices with the meaning of each."""
    kind, extras = definition.kinds[name]
    if kind is Literal:
        return BELOW.join(_choice(definition, name, one) for one in extras)
    if isinstance(default, bool):
        return BELOW.join(_choice(definition, name, one) for one in (True, False))
    if isinstance(default, str):
        return "the name of a column of `items`"
    bounds = next((str(one) for one in extras if isinstance(one, Bounds)), "a number")
    meaning = words_of(name, "x", definition.family)
    return f"{bounds}: with x, {meaning}" if meaning else bounds


def _choice(definition: Definition, name: str, value: object) -> str:
    meaning = words_of(name, value, definition.family)
    return f"{code(written(value))}: {meaning}" if meaning else code(written(value))


def written(value: object) -> str:
    """Return a value as Python has it."""
    return f'"{value}"' if isinstance(value, str) else repr(value)
