"""The repr of a `rec`: frames, options, rows, users and models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from recframe.charts.formatting import counted
from recframe.errors import readable, shown
from recframe.frames.collecting import check_threads
from recframe.frames.eager_data import at_hand
from recframe.frames.hints import ROLES
from recframe.frames.kinds.kind import Kind
from recframe.frames.kinds.lookup import kind_for
from recframe.frames.kinds.several_models import Models
from recframe.frames.options import OPTIONS, Context, NamedFrame
from recframe.frames.roles import IDS

COUNTED = 1_000_000
"""Most rows in which users and models are counted, which takes a hundredth of a second."""
SIDES = ("truth", "users", "items", "train", "reference")


@dataclass(frozen=True)
class Card:
    """Repr card: a title and named lines, in three formats."""

    title: str
    rows: Mapping[str, str]

    @property
    def line(self) -> str:
        """All of it on one line."""
        parts = [f"; {name}: {said}" for name, said in self.rows.items()]
        return readable(f"<{self.title}{''.join(parts)}>")

    @property
    def text(self) -> str:
        """A line for each part."""
        width = max(map(len, self.rows), default=0)
        lines = [self.title, *(f"  {name:<{width}}  {said}" for name, said in self.rows.items())]
        return readable("\n".join(lines))

    @property
    def html(self) -> str:
        """A small table."""
        from html import escape  # noqa: PLC0415  importing recframe should take no time

        cell = 'style="text-align: left"'
        rows = "".join(
            f"<tr><th {cell}>{escape(name)}</th><td {cell}>{escape(said)}</td></tr>"
            for name, said in self.rows.items()
        )
        return f"<div><strong>{escape(self.title)}</strong><table>{rows}</table></div>"


def of(frame: Any, context: Context) -> Card:
    """Return the card of a frame with its options; LazyFrames are not collected."""
    return Card(f"rec of {_described(frame, context)}", dict(_rows(context)))


def _rows(context: Context) -> Iterator[tuple[str, str]]:
    roles = [name for name in ROLES if name in context.given]
    policies = [name for name in OPTIONS if name in context.given - {*ROLES, *SIDES}]
    if roles:
        yield "columns", _options(context, roles)
    for name in SIDES:
        side = getattr(context, name)
        if side is not None:
            yield name, repr(side) if isinstance(side, str) else _described(side, context)
    if policies:
        yield "options", _options(context, policies)
    if context.by:
        yield "by", ", ".join(map(shown, context.by))


def _options(context: Context, names: list[str]) -> str:
    return ", ".join(f"{name}={shown(getattr(context, name))}" for name in names)


def kind_of_frame(frame: Any) -> str:
    """Return the class of a frame, with its library; of several models' frames, that of the first."""
    if isinstance(frame, Models):
        return kind_of_frame(next(iter(frame.frames.values())))
    return f"a {type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"


def _described(frame: Any, context: Context) -> str:
    """Return the class of a frame and, where it is in memory, the number of its rows, users and models."""
    if isinstance(frame, NamedFrame):
        frame, context = frame.frame, replace(context, **frame.names)
    kind, words = kind_for(frame), kind_of_frame(frame)
    if isinstance(frame, Models):
        words = f"{words} for each of {', '.join(map(repr, frame.frames))}"
    if kind.is_lazy:
        return words
    counts = [counted(kind.size, "row")]
    if kind.size <= COUNTED:
        counts += _counts(kind, context)
    return (
        f"{words}, in all {', '.join(counts)}"
        if isinstance(frame, Models)
        else f"{words} of {', '.join(counts)}"
    )


def _counts(kind: Kind, context: Context) -> Iterator[str]:
    """Give the number of each thing that the frame has a column of; an item's only where there are no users."""
    names = {role: context.names[role] for role in IDS}
    has_models = context.model is not None and not isinstance(kind.frame, Models)
    roles = ["user", "model"] if has_models else ["user"]
    roles = roles if names["user"] in kind.columns else ["item"]
    for role in roles:
        if names[role] not in kind.columns:
            continue
        try:
            check_threads()
            column = at_hand(kind.take({role: names[role]}, IDS))
            number = None if column is None else column[role].drop_nulls().n_unique()
        except (ValueError, TypeError, pl.exceptions.PolarsError):
            continue  # what is wrong with a column is said where a metric reads it
        if number is not None:
            yield counted(number, role)
