"""Row sources with columns of the catalogue, propensities and user weights."""

from __future__ import annotations

from typing import Any

import polars as pl

from recframe.errors import fails_if
from recframe.frames.hints import FrameOf, Given
from recframe.frames.rows.positions import with_places
from recframe.ranking.judged import PAIR, Judged
from recframe.side_info import attributes
from recframe.side_info.sources import Branches, Fact, Sides

IN_CATALOGUE, N_CATALOGUE = Fact(attributes.in_catalogue), Fact(attributes.n_catalogue)
CUT = {"cut_rank", "catalogue_cut_rank"}
CATALOGUE_HITS, CATALOGUE_RELEVANT = {"catalogue_hit_rank"}, {"catalogue_relevant"}
TOTAL = "each_n_catalogue"
OF_LISTS = CUT | CATALOGUE_HITS | CATALOGUE_RELEVANT | {TOTAL}
"""Columns of lists, and of their items in the catalogue."""
OF_CATALOGUE = OF_LISTS - {"cut_rank"}
"""Columns that need a catalogue."""
PROPENSITIES = {"given_propensity", "popularity_share"}
"""Columns of hits."""
RELEVANT_PROPENSITIES = {f"relevant_{name}" for name in PROPENSITIES}
LISTED_PROPENSITIES = {f"listed_{name}" for name in PROPENSITIES}
OF_PROPENSITIES = PROPENSITIES | RELEVANT_PROPENSITIES | LISTED_PROPENSITIES
USER_WEIGHT = "user_weight"
LARGEST_WEIGHT = 1e70
"""The fourth powers of weights up to it, of which intervals are made, add up over any number of users."""


def sides_of(judged: Judged) -> Sides:
    """Return the side frames that define the catalogue."""
    return Sides(judged.inputs, judged, shown=judged.known.items)


def catalogue_branches(
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
    if asked & CATALOGUE_HITS:
        hits = sides.joined(judged.hits(deepest), [IN_CATALOGUE], "item").filter(inside)
        found += branches_of(hits.rename({"rank": "catalogue_hit_rank"}), CATALOGUE_HITS)
    if asked & CATALOGUE_RELEVANT:
        relevant = sides.joined(judged.relevant("item"), [IN_CATALOGUE], "item").filter(inside)
        relevant = relevant.with_columns(catalogue_relevant=pl.lit(value=True))
        found += branches_of(relevant, CATALOGUE_RELEVANT)
    if TOTAL not in asked:
        return found
    total = pl.col(N_CATALOGUE.name).alias(TOTAL)
    lists = found or [judged.cut(deepest).select(judged.list_keys).unique()]
    return [
        sides.joined(list_, [N_CATALOGUE], "segment").with_columns(total).drop(N_CATALOGUE.name)
        for list_ in lists
    ]


def propensity_branches(judged: Judged, branches_of: Branches) -> list[pl.LazyFrame]:
    """Return the requested propensity columns of relevant rows, as `branches_of` them."""
    rows = with_propensities(judged, judged.relevant("item"))
    return branches_of(
        rows.rename({name: f"relevant_{name}" for name in PROPENSITIES}), RELEVANT_PROPENSITIES
    )


def in_order_of_worth(judged: Judged, worth: pl.Expr, rank: str, name: str) -> pl.LazyFrame:
    """Return the relevant rows, listed or not, those that are worth most first: keys, their places and what they are worth."""
    keys = judged.list_keys
    rows = judged.relevant("item").with_columns(rank=pl.lit(1.0))
    if PROPENSITIES & {*worth.meta.root_names()}:
        rows = with_propensities(judged, rows)
    rows = rows.select(*keys, worth.alias(name))
    rows = rows.sort(*keys, name, descending=[*(False for _ in keys), True])
    return with_places(rows, keys).select(*keys, name, pl.col("place").cast(pl.Float64).alias(rank))


def with_propensities(judged: Judged, rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return relevant rows with given propensities (0 where not above 0), or with popularities.

    The other one of the two columns is null. NOTE: an item that train does not have counts as one that one user has, as in
    novelty: nothing that is known of it makes a number of its own. A given propensity that is not above 0 is no such
    statement but an error of the data, of a cold item too.
    """
    if not judged.inputs.has_propensity:
        sides = Sides(judged.inputs, judged)
        shares: Any = attributes.popularity_share.build(sides)
        # where train is empty it has no share
        of_one = 1 / pl.col("value").max().fill_null(1.0)
        rows = rows.join(shares, on="item", how="left", maintain_order="left")
        rows = rows.join(sides.popularity.select(of_one=of_one), how="cross", maintain_order="left")
        share = pl.coalesce("value", "of_one").alias("popularity_share")
        rows = rows.with_columns(share, given_propensity=pl.lit(None, pl.Float64))
        return rows.drop("value", "of_one")
    given = pl.col("propensity").cast(pl.Float64).fill_nan(None)
    pair = [*judged.of_rows, *PAIR]
    pairs = judged.inputs.counted("truth").group_by(pair).agg(given_propensity=given.max())
    rows = rows.join(pairs, on=pair, how="left", maintain_order="left", nulls_equal=True)
    return rows.with_columns(
        pl.col("given_propensity").fill_null(0.0), popularity_share=pl.lit(None, pl.Float64)
    )


def weights(judged: Judged) -> pl.LazyFrame:
    """Return each list with the weight of its user: the keys, and a null for one without a number or a row.

    NOTE: users without any other row have one here, since a mean counts those without a row as one number of users alike.
    """
    inputs = judged.inputs
    weight = pl.col("weight").cast(pl.Float64).fill_nan(None)
    message = (
        f"{Given('weight', inputs.context.weight)} is below 0 or infinite for a user of {FrameOf('users')}; a weight is a "
        "number from 0 up, and null leaves the user out"
    )
    too_large = (
        f"{Given('weight', inputs.context.weight)} is above {LARGEST_WEIGHT:g} for a user of {FrameOf('users')}, so that sums "
        "of powers of weights may be infinite; divide all weights by the largest one, which changes no mean"
    )
    wrong = fails_if((weight < 0) | weight.is_infinite(), message)
    wrong += fails_if(weight > LARGEST_WEIGHT, too_large)
    if inputs.users is None:
        users = pl.LazyFrame(schema={"user": inputs.schema["user"], USER_WEIGHT: pl.Float64})
    else:
        users = inputs.users.select("user", (weight + wrong).alias(USER_WEIGHT))
    rows = judged.members().join(users, on="user", how="left")
    rows = rows if judged.models is None else rows.join(judged.models, how="cross")
    return rows.select(*judged.list_keys, USER_WEIGHT)
