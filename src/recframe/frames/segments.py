"""Segments of a call: the places of `by` columns, and their values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import polars as pl

from recframe.errors import ColumnError, NeedsAllUsersError, sentence, suggestion
from recframe.frames.by_expressions import Made
from recframe.frames.hints import A_FRAME, Given, bind
from recframe.frames.options import Context
from recframe.frames.roles import JUDGED, Side, listed, role_named

Place = Literal["rows", "truth", "lists", "users", "items", "id"]
"""Frame that has a segment's column: lists and truth (or a judged frame), the truth alone, the lists alone, a side frame;
or a role of ids, models, trainings or folds."""
Add = Callable[[pl.LazyFrame], pl.LazyFrame]
"""Type of functions that give rows of users, or of items, the segment."""
FRAMES_OF: Mapping[Place, Sequence[str]] = {
    "rows": ("recommendations", "truth"),
    "lists": ("recommendations",),
    "truth": ("truth",),
    "users": ("users",),
    "items": ("items",),
    "id": (),
}
"""The frames whose columns segments of a place are."""
PLACES: Mapping[str, Place] = {
    "recommendations": "lists",
    "truth": "truth",
    "users": "users",
    "items": "items",
}
OF_IDS: Mapping[str | None, Place] = {"user": "users", "item": "items"}


@dataclass(frozen=True)
class Segment:
    """One `by` column: its names inside the plan and in the result, and its place."""

    inside: str
    name: str
    at: Place
    made: Made | None = None
    """Expression that makes the column; None for a plain column."""
    add: Add | None = field(default=None, compare=False)
    """Function that gives rows of users, or of items, the segment, where it is not read from the column."""


@dataclass(frozen=True, eq=False)
class OfUsers:
    """Segments of which each user is in one, as a function of rows."""

    table: pl.LazyFrame
    """Each user once, with the segments."""

    def __call__(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows of users with the segments."""
        return rows.join(self.table, on="user", how="left")


def placed(
    by: Iterable[str | Made], sides: Mapping[str, Side], context: Context
) -> tuple[Segment, ...]:
    """Return the distinct `by` columns with their places; a role and its bound column are the same."""
    found: dict[str, Segment] = {}
    sides = {name: side for name, side in sides.items() if name in PLACES}
    for number, one in enumerate(by):
        segment: Any = _of_column if isinstance(one, str) else _of_expression
        new = segment(f"segment {number}", one, sides, context)
        taken = new.made is not None and new.name == context.model
        if found.setdefault(new.name, new) != new or taken:
            raise ColumnError(
                f"{Given('by', one)} would be a second column {new.name!r} of the result; name it: .alias('...')"
            )
    return tuple(found.values())


def _of_expression(inside: str, by: Made, sides: Mapping[str, Side], context: Context) -> Segment:
    """Return the segment of an expression, in the frame that has all of its columns."""
    role, *others = {role_named(root, context) for root in by.roots}
    if role in OF_IDS and not others and by.reads_own_row:
        add = partial(by.of_ids, role=str(role), inside=inside)
        return Segment(inside, by.name, OF_IDS[role], by, add)
    holders = _holders(by, by.roots, sides, context)
    if len(holders) > 1:
        by.check_reads_own_row("which differ between lists and truth", "a column of each frame")
    if sides["recommendations"].kind.all_users is not None and holders != ["items"]:
        which = "of which a bucket of users has some alone"
        column = f"a column of {sides[holders[0]].title}"
        by.check_reads_own_row(which, column, NeedsAllUsersError)
    return Segment(inside, by.name, _place(by, holders, sides, context), by)


def _of_column(inside: str, by: str, sides: Mapping[str, Side], context: Context) -> Segment:
    """Return the segment of a column: a role, or a column of the frame that has it."""
    role = role_named(by, context)
    if role is not None:
        return Segment(role, context.names[role], "id")
    holders = _holders(by, [by], sides, context)
    _check_is_no_number(by, context)
    # whose ids a frame has under this name of its own
    own: dict[str, str] = {}
    for side in holders:
        for id_role in ("item", "user"):
            if sides[side].names.get(id_role) == by:
                own[side] = id_role
    if by == context.names["relevance"] and "truth" in holders:
        holders = [holder for holder in holders if holder != "recommendations"]
    holders = [holder for holder in holders if holder not in own]
    if holders:
        return Segment(inside, by, _place(by, holders, sides, context))
    id_role, *others = {*own.values()}
    if others:
        raise ColumnError(
            f"{Given('by', by)} names the users of one frame and the items of another; write 'user' or 'item'"
        )
    return Segment(id_role, context.names[id_role], "id")


def _check_is_no_number(by: str, context: Context) -> None:
    """Reject a `by` column of numbers whose values are no segments."""
    for role in ("rank", "score", "propensity", "weight"):
        is_read = role in {"rank", "score"} or getattr(context, role)
        if is_read and by == context.names[role]:
            raise ColumnError(
                f"{Given('by', by)} is the {role}, whose values are not segments; first put them into groups, in a column of "
                f"another name, such as '{role}_group'"
            )


def _holders(
    by: str | Made, roots: Sequence[str], sides: Mapping[str, Side], context: Context
) -> list[str]:
    """Return the frames that have all columns; what is made of ids alone is one of the lists and the truth."""
    of_ids = all(role_named(root, context) for root in roots)
    able = [name for name in sides if name in JUDGED or not of_ids]
    holders = [name for name in able if None not in map(sides[name].root, roots)]
    if holders:
        return holders
    places = []
    for root in roots:
        titles = [side.title for side in sides.values() if side.root(root) is not None]
        if not titles:
            raise _not_found(root, by, sides)
        places.append(f"{root!r} is a column of {' and '.join(titles)}")
    raise ColumnError(f"{Given('by', by)} needs its columns in one frame: {', '.join(places)}")


def _place(
    by: str | Made, holders: Sequence[str], sides: Mapping[str, Side], context: Context
) -> Place:
    """Return the place of a column, among the frames that have it."""
    if len(holders) > 1 and not {*holders} <= JUDGED:
        titles = " and ".join(sides[holder].title for holder in holders)
        raise ColumnError(
            f"{Given('by', by)} is a column of {titles}; drop or rename it in all but one of them"
        )
    is_judged = context.truth is None and holders[0] == "recommendations"
    return "rows" if len(holders) > 1 or is_judged else PLACES[holders[0]]


def _not_found(name: str, by: str | Made, sides: Mapping[str, Side]) -> ColumnError:
    """Return the error of a `by` column, or of one that it is made of, that no frame has."""
    known = dict.fromkeys(column for side in sides.values() for column in side.columns)
    where = ", ".join(side.title for side in sides.values())
    said = f"{Given('by', by)}" if name == by else f"{Given('by', by)}: {name!r}"
    lacks = sentence(f"{said} is not a column of {where}", suggestion(name, known))
    return ColumnError(
        f"{lacks} There are {listed(known)}. {_hint(name, sides)}".removesuffix(". ")
    )


def _hint(name: str, sides: Mapping[str, Side]) -> str:
    """Return the advice on a `by` column that no frame has."""
    for side in sides.values():
        if hint := side.index_hint(name):
            return hint.replace("Its index", f"The index of {side.title}")
    missing = [
        f"if it describes {one}, {bind(**{one: one})}"
        for one in ("users", "items")
        if one not in sides
    ]
    return f"Give the {A_FRAME} that has it: {'; '.join(missing)}" if missing else ""
