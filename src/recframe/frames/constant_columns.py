"""`by` columns constant per user, as a lookup table (eager frames)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import polars as pl

from recframe.frames.collecting import Ask
from recframe.frames.inputs import Inputs
from recframe.frames.roles import Owner
from recframe.frames.rows.profiling import constant_of

Owned = Literal["row", "recommendations", "truth"]
FOUND: dict[Owned, Owner] = {"row": "constant", "recommendations": "user", "truth": "user"}
"""Owner of a segment found to be constant per user, by its previous owner."""


def described(inputs: Inputs, ask: Ask | None) -> Inputs:
    """Return inputs with `by` columns that are constant per user turned into user properties.

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


def _tables(inputs: Inputs, owner: Owned, ask: Ask) -> list[pl.DataFrame]:
    """Return each user once with the segments of an owner that are properties of users: all in one table, or one in each."""
    names = inputs.inside(owner)
    # who has no row is in no segment of rows
    if not names or (
        owner == "row" and inputs.context.universe == "all" and inputs.users is not None
    ):
        return []
    together = _table(inputs, owner, names, ask)
    if together is not None:
        return [together]
    alone = [_table(inputs, owner, [name], ask) for name in names] if len(names) > 1 else []
    return [table for table in alone if table is not None]


def _table(inputs: Inputs, owner: Owned, names: Sequence[str], ask: Ask) -> pl.DataFrame | None:
    """Return each user of the frames of an owner once, with columns that never change within one.

    None where one does.
    """
    sources = [inputs.identified("truth" if owner == "truth" else "recommendations")]
    if owner == "row" and inputs.truth is not None:
        sources.append(inputs.identified("truth"))
    found = None
    for rows in ask([source.select("user", *names) for source in sources]):
        table = constant_of("user", rows)
        if table is None:
            return None
        found = table if found is None else _of_both(found, table)
    return found


def _of_both(lists: pl.DataFrame, truth: pl.DataFrame) -> pl.DataFrame | None:
    """Return the users of both frames; None where the frames differ, so that each row decides."""
    table = pl.concat([lists, truth]).unique()
    return table if table["user"].n_unique() == len(table) else None
