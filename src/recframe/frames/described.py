"""`by` columns of large eager frames that never change within a user or an item: looked up by it, not kept with each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import polars as pl

from recframe.frames.collecting import Ask
from recframe.frames.inputs import Inputs
from recframe.frames.roles import Owner
from recframe.frames.rows.questions import Id, constant_of

Owned = Literal["row", "recommendations", "truth"]
FOUND: dict[Owned, Owner] = {"row": "constant", "recommendations": "user", "truth": "user"}
"""Whose properties segments are found to be, by whose they were."""


def described(inputs: Inputs, ask: Ask | None) -> Inputs:
    """Return the same with those `by` columns as properties of the users which the rows of a large frame show to be.

    No answer changes a number: a user whose rows all say the same stands in that segment alone.
    """
    if ask is None:
        return inputs
    found = {owner: _tables(inputs, owner, ask) for owner in FOUND}
    tables = [table for some in found.values() for table in some]
    if not tables:
        return inputs
    owners = {
        name: FOUND[owner]
        for owner, some in found.items()
        for table in some
        for name in table.columns
        if name != "user"
    }
    return replace(
        inputs,
        segments=tuple(
            replace(one, owner=owners.get(one.inside, one.owner)) for one in inputs.segments
        ),
        of_users=(*inputs.of_users, *(table.lazy() for table in tables)),
        crowd=tables[0].lazy().select("user") if inputs.truth is None else None,
    )


def described_by_items(inputs: Inputs, ask: Ask | None) -> Inputs:
    """Return the same with `by` columns as properties of the items, where the rows of a large frame show all of them to be.

    For numbers that read nothing else of items. None of them changes: an item whose rows all say the same stands in that
    segment alone.
    """
    names = inputs.inside("row")
    if ask is None or not names or inputs.inside("items"):
        return inputs
    table = _table(inputs, "row", "item", names, ask)
    if table is None:
        return inputs
    segments = (
        replace(one, owner="items") if one.inside in names else one for one in inputs.segments
    )
    return replace(inputs, segments=tuple(segments), items=table.lazy())


def _tables(inputs: Inputs, owner: Owned, ask: Ask) -> list[pl.DataFrame]:
    """Return each user once with the segments of an owner that are properties of users: all in one table, or one in each."""
    names = inputs.inside(owner)
    # who has no row is in no segment of rows
    if not names or (
        owner == "row" and inputs.context.universe == "all" and inputs.users is not None
    ):
        return []
    together = _table(inputs, owner, "user", names, ask)
    if together is not None:
        return [together]
    alone = [_table(inputs, owner, "user", [name], ask) for name in names] if len(names) > 1 else []
    return [table for table in alone if table is not None]


def _table(
    inputs: Inputs, owner: Owned, key: Id, names: Sequence[str], ask: Ask
) -> pl.DataFrame | None:
    """Return each user or item of the frames of an owner once, with columns that never change within one.

    None where one does.
    """
    sources = [inputs.identified("truth" if owner == "truth" else "recommendations")]
    if owner == "row" and inputs.truth is not None:
        sources.append(inputs.identified("truth"))
    found = None
    for rows in ask([source.select(key, *names) for source in sources]):
        table = constant_of(key, rows)
        if table is None:
            return None
        found = table if found is None else _of_both(found, table, key)
    return found


def _of_both(lists: pl.DataFrame, truth: pl.DataFrame, key: Id) -> pl.DataFrame | None:
    """Return the users or items of both frames; None where these differ, or one says nothing: rows then decide one by one."""
    table = pl.concat([lists, truth]).unique()
    is_whole = not any(column.null_count() for column in table)
    return table if is_whole and table[key].n_unique() == len(table) else None
