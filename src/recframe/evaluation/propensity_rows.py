"""Propensities of relevant rows: truth column, or estimate from popularity."""

from __future__ import annotations

from typing import Any

import polars as pl

from recframe.ranking.judged_frame import PAIR, Judged
from recframe.side_info.attributes import popularity_share
from recframe.side_info.sources import Branches, Builder, Sides, fact

OF_HITS = {"given_propensity", "popularity_share"}
OF_RELEVANT = {f"relevant_{name}" for name in OF_HITS}
COLUMNS = OF_HITS | OF_RELEVANT


@fact("whole", "propensity")
def share_of_one(sides: Sides) -> pl.LazyFrame:
    """The share of one user in the highest popularity; 1 where train is empty."""
    return sides.popularity.select(value=1 / pl.col("value").max().fill_null(1.0))


def branches(judged: Judged, asked: set[str], branches_of: Branches) -> list[pl.LazyFrame]:
    """Return the requested propensity columns of relevant rows, as `branches_of` them."""
    if not asked & OF_RELEVANT:
        return []
    rows = beside(judged, judged.relevant("item"))
    return branches_of(rows.rename({name: f"relevant_{name}" for name in OF_HITS}), OF_RELEVANT)


def beside(judged: Judged, rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return relevant rows with given propensities (0 where not above 0), or with popularities.

    The other one of the two columns is null. NOTE: an item that train does not have counts as one that one user has, as in
    novelty: nothing that is known of it makes a number of its own. A given propensity that is not above 0 is no such
    statement but an error of the data, of a cold item too.
    """
    if not judged.inputs.has_propensity:
        sides = Sides(judged.inputs.of_all, judged)
        shares, one = (_built(fact, sides) for fact in (popularity_share, share_of_one))
        rows = rows.join(shares, on="item", how="left", maintain_order="left")
        rows = rows.join(one, how="cross", maintain_order="left")
        share = pl.coalesce("popularity_share", "share_of_one").alias("popularity_share")
        return rows.with_columns(share, given_propensity=pl.lit(None, pl.Float64)).drop(
            "share_of_one"
        )
    given = pl.col("propensity").cast(pl.Float64).fill_nan(None)
    pair = [*judged.of_rows, *PAIR]
    pairs = judged.inputs.counted("truth").group_by(pair).agg(given_propensity=given.max())
    rows = rows.join(pairs, on=pair, how="left", maintain_order="left", nulls_equal=True)
    return rows.with_columns(
        pl.col("given_propensity").fill_null(0.0), popularity_share=pl.lit(None, pl.Float64)
    )


def _built(fact: Builder, sides: Sides) -> pl.LazyFrame:
    table: Any = fact.build(sides)
    renamed: pl.LazyFrame = table.rename({"value": fact.build.__name__})
    return renamed
