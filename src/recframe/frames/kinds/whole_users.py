"""Rows that stay where they are: batches that have all rows of a user one after the other, as tables of whole users."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pyarrow as pa  # type: ignore[import-untyped]  # comes with every engine
import pyarrow.compute as pc  # type: ignore[import-untyped]

from recframe.frames.kinds.sent_rows import ROWS_OF_PART, Side

USER, PLACE, IS_OF = "user", "place", "is of"
"""Columns of the rows: the user, the row's place among the user's, from 1, and that it is of a frame, in that one's column."""
_Batches = Iterator[pa.RecordBatch]


def column_of(number: int) -> str:
    """Return the column that has the rows of a frame, null where a row is of another one."""
    return f"frame {number}"


def by_users(
    sides: Mapping[str, Side], made: Callable[[Mapping[str, pa.Table]], pa.Table]
) -> Callable[[_Batches], _Batches]:
    """Return a function of rows in the order of their users, which makes a table of the frames of some users at a time."""

    def of_rows(batches: _Batches) -> _Batches:
        for rows in whole_users(batches):
            found = {
                name: _of_a_frame(rows, number, side)
                for number, (name, side) in enumerate(sides.items())
            }
            yield from made(found).to_batches()

    return of_rows


def whole_users(batches: _Batches) -> Iterator[pa.Table]:
    """Walk the rows in tables that never cut a user, of little more than `ROWS_OF_PART` rows where users have few."""
    held: list[pa.RecordBatch] = []
    n_held = 0
    for batch in batches:
        rest = batch
        firsts = pc.indices_nonzero(pc.equal(batch[PLACE], 1)) if n_held >= ROWS_OF_PART else []
        if len(firsts):
            start = firsts[0].as_py()
            yield pa.Table.from_batches([*held, batch.slice(0, start)])
            held, n_held, rest = [], 0, batch.slice(start)
        held.append(rest)
        n_held += rest.num_rows
    if n_held:
        yield pa.Table.from_batches(held)


def _of_a_frame(rows: pa.Table, number: int, side: Side) -> pa.Table:
    """Return the rows of a frame, in its own columns and types, where it has none here, too."""
    column = rows[column_of(number)]
    is_mine = pc.is_valid(column)
    _, *columns = column.filter(is_mine).flatten()  # the first is IS_OF
    columns.insert(side.columns.index(side.user), rows[USER].filter(is_mine))
    return pa.table(columns, names=list(side.columns)).cast(side.none.schema)
