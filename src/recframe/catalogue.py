"""The branches of the judged frame that metrics over the catalogue read: listed rows, hits and relevant rows of its items."""

from __future__ import annotations

import polars as pl

from recframe import beside
from recframe.beside import Fact, Sides
from recframe.judge import Judged

IN_CATALOGUE, N_CATALOGUE = Fact(beside.in_catalogue), Fact(beside.n_catalogue)
OF_ITEMS = {"cut_in_catalogue", "catalogue_hit_rank", "catalogue_relevant", "each_n_catalogue"}
COLUMNS = OF_ITEMS | {"cut_rank"}


def branches(judged: Judged, asked: set[str], deepest: int | None) -> list[pl.LazyFrame]:
    """Return the rows that were asked for, one branch for each kind of row."""
    sides = Sides(judged.inputs, judged)
    rows = {"cut_rank": judged.cut, "catalogue_hit_rank": judged.hits}
    found = [_branch(sides, rows[name](deepest), name, pl.col("rank"), asked) for name in rows if name in asked]
    if "catalogue_relevant" in asked:
        found.append(_branch(sides, judged.relevant("item"), "catalogue_relevant", pl.col("item").is_not_null(), asked))
    return found


def _branch(sides: Sides, rows: pl.LazyFrame, name: str, column: pl.Expr, asked: set[str]) -> pl.LazyFrame:
    """Return rows with a column; of all items where it is the rank of listed rows, else of those of the catalogue."""
    inside, total = pl.col(IN_CATALOGUE.name).fill_null(value=False), pl.col(N_CATALOGUE.name)
    columns = {name: column}
    if asked & OF_ITEMS:
        rows = sides.joined(rows, [IN_CATALOGUE], "item")
        whole = name == "cut_rank"
        rows = rows if whole else rows.filter(inside)
        columns |= {"cut_in_catalogue": inside} if whole else {}
    if "each_n_catalogue" in asked:
        rows = sides.joined(rows, [N_CATALOGUE], "segment")
        columns["each_n_catalogue"] = total
    return rows.select(*sides.held.list_keys, *(one.alias(other) for other, one in columns.items() if other in asked))
