"""Sums of random groups of users as matrices, which resamples are drawn from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from recframe.frames.inputs import GROUP
from recframe.uncertainty.arrays import Labels, Numbers, np

PLACE = "row of the result"


@dataclass(frozen=True)
class Groups:
    """The cells of a table of sums: in which group each is, and in which row of the result."""

    cells: pl.DataFrame
    groups: Labels
    rows: Labels
    n_rows: int

    def matrix(self, names: Iterable[str]) -> Numbers:
        """Return sums as groups x (rows x names), those of clusters of a group added up."""
        columns = self.cells.select(names).to_numpy().astype(np.float64)
        n_groups = int(self.groups.max(initial=-1)) + 1
        found = np.zeros((n_groups * self.n_rows, columns.shape[1]))
        np.add.at(found, self.groups * self.n_rows + self.rows, columns)
        return found.reshape(n_groups, -1)


def groups_of(sums: pl.DataFrame, rows: pl.DataFrame) -> Groups:
    """Return the groups of a table of sums, which has the keys of the result's rows and the random group."""
    if rows.width:
        placed = rows.with_row_index(PLACE)
        sums = sums.join(placed, on=rows.columns, how="inner", nulls_equal=True)
    else:
        sums = sums.with_columns(pl.lit(0).alias(PLACE))
    groups = (sums[GROUP].rank("dense") - 1).cast(pl.Int64).to_numpy()
    return Groups(sums, groups, sums[PLACE].cast(pl.Int64).to_numpy(), max(len(rows), 1))
