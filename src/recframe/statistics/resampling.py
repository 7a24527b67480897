"""Random groups of users, or of clusters, and their sums.

A group is a set of users by a stable hash, the same in all rows of a result; with clusters, it is a set of whole clusters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from recframe.frames.inputs import GROUP
from recframe.statistics.arrays import Given, Labels, Numbers, np, numbers, ratio

MOST_GROUPS_BY_SEGMENT = 2_000
"""Most groups of a table with many segments."""


def covariance_of_means(sums: Given, counts: Given) -> Numbers:
    """Return the covariance of the columns' means, columns x columns, by groups that share users.

        sums: groups x columns, 0 where a group has nobody.
        counts: groups x columns, or one dimension where the columns have the same users.

    G / (G - 1) sum r r' over the G groups that have users, r = (s - mean n) / sum n. NaN for a column without users; it wants
    some hundred groups. Source: Liang and Zeger 1986.
    """
    sums, counts = numbers(sums), _columns(counts)
    total = counts.sum(axis=0)
    rest = ratio(sums - ratio(sums.sum(axis=0), total) * counts, total)
    n_groups = np.count_nonzero(counts.any(axis=1))
    return numbers(rest.T @ rest) * ratio(n_groups, n_groups - 1.0)


def _columns(counts: Given) -> Numbers:
    """Return counts as groups x columns, a single one where the columns have the same users."""
    counts = numbers(counts)
    return counts if counts.ndim > 1 else counts[:, None]


PLACE = "row of the result"


@dataclass(frozen=True)
class Groups:
    """Cells of a table of sums, by group and result row."""

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
