"""Row sources of metrics over the catalogue."""

from __future__ import annotations

import polars as pl

from recframe.ranking.judged_frame import Judged
from recframe.side_info import attributes
from recframe.side_info.sources import Branches, Fact, Sides

IN_CATALOGUE, N_CATALOGUE = Fact(attributes.in_catalogue), Fact(attributes.n_catalogue)
CUT, HITS, RELEVANT = (
    {"cut_rank", "catalogue_cut_rank"},
    {"catalogue_hit_rank"},
    {"catalogue_relevant"},
)
KINDS = (CUT, HITS, RELEVANT)
TOTAL = "each_n_catalogue"
COLUMNS = CUT | HITS | RELEVANT | {TOTAL}
OF_ITEMS = COLUMNS - {"cut_rank"}
"""Columns that need a catalogue."""


def sides_of(judged: Judged) -> Sides:
    """Return the side frames that define the catalogue."""
    return Sides(judged.inputs.of_all, judged, shown=judged.known.items)


def branches(
    judged: Judged, asked: set[str], deepest: int | None, branches_of: Branches
) -> list[pl.LazyFrame]:
    """Return the requested columns of each kind of rows, as `branches_of` them."""
    sides, found = sides_of(judged), []
    inside = pl.col(IN_CATALOGUE.name).fill_null(value=False)
    if asked & CUT:
        rows = judged.cut(deepest).rename({"rank": "cut_rank"})
        if "catalogue_cut_rank" in asked:
            rows = sides.joined(rows, [IN_CATALOGUE], "item").with_columns(
                catalogue_cut_rank=pl.when(inside).then("cut_rank")
            )
        found += branches_of(rows, CUT)
    if asked & HITS:
        hits = sides.joined(judged.hits(deepest), [IN_CATALOGUE], "item").filter(inside)
        found += branches_of(hits.rename({"rank": "catalogue_hit_rank"}), HITS)
    if asked & RELEVANT:
        relevant = sides.joined(judged.relevant("item"), [IN_CATALOGUE], "item").filter(inside)
        relevant = relevant.with_columns(catalogue_relevant=pl.lit(value=True))
        found += branches_of(relevant, RELEVANT)
    if TOTAL not in asked:
        return found
    total = pl.col(N_CATALOGUE.name).alias(TOTAL)
    lists = found or [judged.cut(deepest).select(judged.list_keys).unique()]
    return [
        sides.joined(one, [N_CATALOGUE], "segment").with_columns(total).drop(N_CATALOGUE.name)
        for one in lists
    ]
