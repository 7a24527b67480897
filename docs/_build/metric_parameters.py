"""A metric's parameters: what they take, what each choice means, and what it makes of the worked example."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import metric_shop as shop
from metric_example import Example
from metric_text import BELOW, code, prose_of, sentences, table

import recframe as rf
from recframe.metrics.language.definition import Bounds, Definition
from recframe.profiles.switches import words_of

Settings = dict[str, Any]
Row = tuple[Settings, list[str]]
"""The settings of a choice, and the values under them."""
OTHER_CUTS = (3, 1)
"""Where more choices differ than at the cut-off of the examples, as in lists shorter than what is relevant."""
TINY = 0.001
OPTIONS = "[Options of `rec(...)`](index.md#options-of-every-metric), such as `universe=`, hold beside them."


@dataclass(frozen=True)
class Parameter:
    """A parameter of a metric."""

    definition: Definition
    name: str

    @property
    def default(self) -> Any:
        """Its value where nothing is said."""
        return self.definition.parameters[self.name].default

    @property
    def choices(self) -> list[Any]:
        """What it may be, the default first; of numbers two more; nothing of a name of a column."""
        kind, extras = self.definition.kinds[self.name]
        if kind is Literal:
            return [self.default, *(one for one in extras if one != self.default)]
        if isinstance(self.default, bool):
            return [self.default, not self.default]
        if isinstance(self.default, str):
            return []
        bounds = next((one for one in extras if isinstance(one, Bounds)), Bounds())
        return [self.default, *_other_numbers(self.default, bounds)]

    @property
    def takes(self) -> str:
        """What it takes, in words."""
        kind, extras = self.definition.kinds[self.name]
        if kind is Literal:
            return ", ".join(code(_quoted(one)) for one in extras)
        if isinstance(self.default, bool):
            return "`True` or `False`"
        if isinstance(self.default, str):
            return "the name of a column of `items`"
        bounds = [one for one in extras if isinstance(one, Bounds)]
        return str(bounds[0]) if bounds else "a number"

    @property
    def others(self) -> list[Settings]:
        """Settings of the other parameters under which this one may change more."""
        rest = [Parameter(self.definition, one) for one in self.definition.parameters]
        named = [one for one in rest if one.name != self.name and not _is_number(one.default)]
        return [{}, *({one.name: choice} for one in named for choice in one.choices[1:])]


def section(example: Example) -> str:
    """Return what is to be said of all parameters, with a table of each one's values."""
    definition = example.metric.definition
    if not definition.parameters:
        return f"None. {OPTIONS}"
    told: set[str] = set()
    found = [Parameter(definition, name) for name in definition.parameters]
    return "\n\n".join([part for one in found for part in _of(one, example, told)] + [OPTIONS])


def _of(parameter: Parameter, example: Example, told: set[str]) -> Iterator[str]:
    """Walk the paragraphs on a parameter; what was told of one before is not told again."""
    yield f"### `{parameter.name}`"
    yield f"Takes {parameter.takes}. Default: {code(_quoted(parameter.default))}."
    every = sentences(prose_of(parameter.definition))
    new = [
        one
        for one in every
        if _speaks(one, parameter) and one not in told and not one.startswith("Raises ")
    ]
    told.update(new)
    if new:
        yield " ".join(new)
    if parameter.choices:
        yield _values(parameter, example)


def _speaks(sentence: str, parameter: Parameter) -> bool:
    """Return whether a sentence names a parameter, or one of its choices in quotation marks."""
    names = [rf"`{parameter.name}[`=]", *(f'"{re.escape(str(one))}"' for one in _texts(parameter))]
    return any(re.search(name, sentence) for name in names)


def _texts(parameter: Parameter) -> list[str]:
    return [one for one in parameter.choices if isinstance(one, str)]


def _values(parameter: Parameter, example: Example) -> str:
    """Return a table with a row for each choice: the example's value, and what the choice means."""
    shown, context, rows = _telling(parameter, example)
    lines = []
    for choice, (settings, values) in zip(parameter.choices, rows, strict=True):
        others = {name: value for name, value in settings.items() if name != parameter.name}
        bound = [f"{side}=" for side in _more_sides(settings, context, shown)]
        beside = [code(one) for one in (*bound, _written(others)) if one]
        with_others = f" with {' and '.join(beside)}" if beside else ""
        words = words_of(parameter.name, choice, parameter.definition.family)
        meaning = f"{BELOW}{words}" if words else ""
        lines.append([f"{code(_quoted(choice))}{with_others}{meaning}", *values])
    titles = [code(parameter.name), *_titles(shown)]
    head = f"At k = {shown.metric.k}"
    head += f", with {code(_written(context))}, without which it changes nothing here" * bool(
        context
    )
    same = "" if _distinct(rows) > 1 else ". It changes nothing in this example"
    return f"{head}{same}:\n\n{table(titles, lines)}"


def _more_sides(settings: Settings, context: Settings, example: Example) -> list[str]:
    """Return the frames that a choice needs beside those of the example."""
    try:
        sides = example.having(example.metric(**context, **settings)).sides
    except rf.RecframeError:
        return []  # of a choice that is an error in this example
    return [side for side in sides if side not in example.sides]


def _titles(example: Example) -> list[str]:
    return ["three lists"] if len(example.users) > 1 else [f"{shop.ME}'s list", "three users"]


def _telling(parameter: Parameter, example: Example) -> tuple[Example, Settings, list[Row]]:
    """Return where the choices differ the most: the example at a cut-off, settings of other parameters, and the rows."""
    tried: list[tuple[Example, Settings, list[Row]]] = []
    for k in (shop.K, *OTHER_CUTS):
        cut = example.having(example.metric @ k)
        tried.append((cut, {}, _rows(parameter, cut)))
        if _distinct(tried[-1][2]) == len(parameter.choices):
            break
    best = max(tried, key=lambda found: _distinct(found[2]))
    if _distinct(best[2]) > 1:
        return best
    for context in parameter.others[1:]:
        settings = [{parameter.name: one} for one in parameter.choices]
        found = _asked([{**context, **one} for one in settings], example)
        rows = [*zip(settings, found or [], strict=False)]
        if _distinct(rows) > 1:
            return example, context, rows
    return tried[0]


def _rows(parameter: Parameter, example: Example) -> list[Row]:
    """Return the values of all choices, asked together where recframe takes each as it is."""
    settings = [{parameter.name: choice} for choice in parameter.choices]
    if found := _asked(settings, example):
        return [*zip(settings, found, strict=True)]
    return [_first_that_works(parameter, choice, example) for choice in parameter.choices]


def _first_that_works(parameter: Parameter, choice: Any, example: Example) -> Row:
    """Return the values of a choice, with the setting of another parameter beside it where it cannot be without."""
    for context in parameter.others:
        settings = {parameter.name: choice, **context}
        if found := _asked([settings], example):
            return settings, found[0]
    return {parameter.name: choice}, ["an error"] * len(_titles(example))


def _asked(settings: list[Settings], example: Example) -> list[list[str]] | None:
    """Return the example's values under settings, and those of all three users; None where recframe refuses."""
    metrics = [example.metric(**one) for one in settings]
    try:
        sides = {side for metric in metrics for side in example.having(metric).sides}
        asked = [replace(example, more=(*sides,))]
        if len(example.users) == 1:
            asked.append(replace(asked[0], users=shop.ALL))
        found = [one.values(metrics) for one in asked]
    except rf.RecframeError:
        return None
    return [[*values] for values in zip(*found, strict=True)]


def _distinct(rows: list[Row]) -> int:
    return len({tuple(values) for _, values in rows})


def _written(settings: Settings) -> str:
    return ", ".join(f"{name}={_quoted(value)}" for name, value in settings.items())


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _other_numbers(default: float, bounds: Bounds) -> list[float]:
    """Return two numbers beside a default, within the bounds."""
    tried = [default / 2, default * 2, (1 + default) / 2] if default else [1, 2]
    if 0 < default < TINY:
        tried = [0.1, 0.5]
    plain = [int(one) if float(one).is_integer() else round(one, 6) for one in tried]
    return [one for one in dict.fromkeys(plain) if one in bounds and one != default][:2]
