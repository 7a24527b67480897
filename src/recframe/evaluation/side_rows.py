"""Row sources of user metrics with catalogues, propensities, weights, item features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from recframe.errors import RecframeError, fails_if
from recframe.evaluation.required_columns import (
    CATALOGUE_HITS,
    CATALOGUE_RELEVANT,
    CUT,
    N_CATALOGUE,
    OF_HITS,
    OF_LISTS,
    OF_VALUES,
    PROPENSITIES,
    RELEVANT_PROPENSITIES,
    USER_WEIGHT,
    Recorder,
    columns_of_features,
    settings_of,
)
from recframe.frames.hints import FrameOf, Given
from recframe.frames.kinds.kind import Ask
from recframe.frames.rows.joins import by_item, distinct_names, in_distinct_ranks, with_places
from recframe.ranking.judged_frame import PAIR, Judged
from recframe.side_info import attributes
from recframe.side_info.features import Feature
from recframe.side_info.sources import Fact, Sides

IN_CATALOGUE, SIZE = Fact(attributes.in_catalogue), Fact(attributes.n_catalogue)
MOST_STEPS = 100
"""Deepest cut-off of the best order over category lists, since each rank is a step of the plan."""
LARGEST_WEIGHT = 1e70
"""The fourth powers of weights up to it, of which intervals are made, add up over any number of users."""


def sides_of(judged: Judged) -> Sides:
    """Return the side frames that define the catalogue."""
    return Sides(judged.inputs, judged, shown=judged.known.items)


def branches(
    judged: Judged, words: Recorder, read: set[str], deepest: int | None, ask: Ask | None
) -> list[pl.LazyFrame]:
    """Return the row sources of columns with side frames; `ask` collects steps of large eager ones."""
    found = _of_catalogue(judged, words, deepest) if read & OF_LISTS else []
    if read & RELEVANT_PROPENSITIES:
        rows = with_propensities(judged, judged.relevant("item"))
        rows = rows.rename({name: f"relevant_{name}" for name in PROPENSITIES})
        found += words.branches(judged.list_keys, rows, RELEVANT_PROPENSITIES)
    for prefix, worth in words.worths.items():
        names = {f"{prefix} rank", f"{prefix} worth"}
        rows = _named(_by_worth(judged, worth), names)
        found += words.branches(judged.list_keys, rows, names)
    for source, names in columns_of_features(read).items():
        found += _of_feature(source, names, judged, words, deepest, ask)
    return [*found, weights(judged)] if USER_WEIGHT in words.asked else found


def _named(rows: pl.LazyFrame, names: set[str]) -> pl.LazyFrame:
    """Return rows with the columns of words under their requested names."""
    words = {name: name.rpartition(" ")[2].partition("@")[0] for name in sorted(names)}
    named = [pl.col(word).cast(pl.Float64).alias(name) for name, word in words.items()]
    return rows.with_columns(named).drop("rank", "seen", "value", "worth", strict=False)


# The catalogue


def _of_catalogue(judged: Judged, words: Recorder, deepest: int | None) -> list[pl.LazyFrame]:
    """Return the requested columns of lists, and of their hits and relevant rows in the catalogue."""
    sides, read, keys = sides_of(judged), words.read, judged.list_keys
    inside, found = pl.col(IN_CATALOGUE.name).fill_null(value=False), []
    if read & CUT:
        rows = judged.cut(deepest).rename({"rank": "cut_rank"})
        if "catalogue_cut_rank" in read:
            rows = sides.joined(rows, [IN_CATALOGUE], "item")
            rows = rows.with_columns(catalogue_cut_rank=pl.when(inside).then("cut_rank"))
        found += words.branches(keys, rows, CUT)
    in_catalogue = []
    if read & CATALOGUE_HITS:
        hits = judged.hits(deepest).rename({"rank": "catalogue_hit_rank"})
        in_catalogue.append((hits, CATALOGUE_HITS))
    if read & CATALOGUE_RELEVANT:
        relevant = judged.relevant("item").with_columns(catalogue_relevant=pl.lit(value=True))
        in_catalogue.append((relevant, CATALOGUE_RELEVANT))
    for rows, kind in in_catalogue:
        those = sides.joined(rows, [IN_CATALOGUE], "item").filter(inside)
        found += words.branches(keys, those, kind)
    if N_CATALOGUE not in read:
        return found
    lists = found or [judged.cut(deepest).select(keys).unique()]
    with_total = [sides.joined(rows, [SIZE], "segment") for rows in lists]
    return [rows.rename({SIZE.name: N_CATALOGUE}) for rows in with_total]


# Propensities, and what relevant rows are worth


def with_propensities(judged: Judged, rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return relevant rows with given propensities (0 where not above 0), or with popularities.

    The other one of the two columns is null. NOTE: an item that train does not have counts as one that one user has, as in
    novelty: nothing that is known of it makes a number of its own. A given propensity that is not above 0 is no such
    statement but an error of the data, of a cold item too.
    """
    nothing = pl.lit(None, pl.Float64)
    if not judged.inputs.has_propensity:
        sides = Sides(judged.inputs, judged)
        shares: Any = attributes.popularity_share.build(sides)
        # where train is empty it has no share
        of_one = 1 / pl.col("value").max().fill_null(1.0)
        rows = rows.join(shares, on="item", how="left", maintain_order="left")
        rows = rows.join(sides.popularity.select(of_one=of_one), how="cross", maintain_order="left")
        share = pl.coalesce("value", "of_one").alias("popularity_share")
        return rows.with_columns(share, given_propensity=nothing).drop("value", "of_one")
    given = pl.col("propensity").cast(pl.Float64).fill_nan(None)
    pair = [*judged.of_rows, *PAIR]
    pairs = judged.inputs.counted("truth").group_by(pair).agg(given_propensity=given.max())
    rows = rows.join(pairs, on=pair, how="left", maintain_order="left", nulls_equal=True)
    return rows.with_columns(pl.col("given_propensity").fill_null(0.0), popularity_share=nothing)


def _by_worth(judged: Judged, worth: pl.Expr) -> pl.LazyFrame:
    """Return the relevant rows, listed or not, those that are worth most first: keys, worth, rank."""
    rows = judged.relevant("item").with_columns(rank=pl.lit(1.0))
    if PROPENSITIES & {*worth.meta.root_names()}:
        rows = with_propensities(judged, rows)
    return _highest_first(rows.with_columns(worth=worth), judged.list_keys, "worth")


def _highest_first(rows: pl.LazyFrame, keys: Sequence[str], name: str) -> pl.LazyFrame:
    """Return a number of the rows of lists, the highest first, with its place as `rank`."""
    descending = [*(False for _ in keys), True]
    rows = rows.select(*keys, name).sort(*keys, name, descending=descending)
    return with_places(rows, keys).select(*keys, name, rank="place")


# Features of items


def _of_feature(
    source: str,
    names: set[str],
    judged: Judged,
    words: Recorder,
    deepest: int | None,
    ask: Ask | None,
) -> list[pl.LazyFrame]:
    """Return the requested columns of hits, or of relevant items, by a feature of the items."""
    feature = Sides(judged.inputs, judged).feature(settings_of(source)[0])
    if ask is not None and not source.startswith(OF_VALUES):
        feature = feature.numbered(ask)
    if source.startswith(OF_HITS):
        hits = _hits_by(source, judged, feature, deepest)
        return words.branches(judged.list_keys, _named(hits, names), names)
    # relevant items are the same for every model
    relevant = replace(judged, models=None).relevant("item")
    schema = relevant.collect_schema()
    keys = [key for key in judged.list_keys if key in schema]
    rows = _relevant_by(source, names, relevant, keys, feature)
    found = words.branches(keys, _named(rows, names), names)
    return found if keys == judged.list_keys else [judged.for_each_model(one) for one in found]


def _hits_by(source: str, judged: Judged, feature: Feature, deepest: int | None) -> pl.LazyFrame:
    """Return the hits with their ranks and a number, or how many above have each category."""
    keys = judged.list_keys
    hits = judged.hits(deepest).select(distinct_names(*keys, "item", "rank"))
    if not judged.known.in_order:
        hits = in_distinct_ranks(hits, keys, judged.inputs.schema, whole=judged.whole_ranks)
        hits = hits if deepest is None else hits.filter(pl.col("rank") <= deepest)
    if source.startswith(OF_VALUES):
        return hits.join(feature.numbers(), on="item").select(*keys, "rank", "value")
    hits = hits.join(feature.parts(), on="item").select(*keys, "part", "rank")
    return _numbered(hits, [*keys, "part"], "rank", name="seen")


def _relevant_by(
    source: str,
    names: set[str],
    relevant: pl.LazyFrame,
    keys: list[str],
    feature: Feature,
) -> pl.LazyFrame:
    """Return the categories of the relevant items, or these items in the best order by a feature."""
    of, *alpha = settings_of(source)
    if source.startswith(OF_VALUES):
        valued = relevant.join(feature.numbers(least=0), on="item")
        return _highest_first(valued, keys, "value")
    rows = relevant.join(feature.parts(), on="item")
    if not alpha:
        rows = rows.select(*keys, "part").unique()
        return rows.with_columns(rank=pl.lit(1), seen=pl.lit(0))
    if feature.shape == "category":
        # the first of each category, then the second of each, and so on
        rows = _numbered(_numbered(rows, [*keys, "part"], name="seen"), keys, "seen", name="rank")
        return rows.with_columns(pl.col("rank") + 1)
    rows = rows.select(distinct_names(*keys, "item", "part"))
    return _by_greed(rows, keys, alpha[0], _steps(of, names))


def _numbered(rows: pl.LazyFrame, keys: list[str], *order: str, name: str) -> pl.LazyFrame:
    """Return rows in an order inside some keys, with their numbers from 0."""
    rows = with_places(rows.sort(*keys, *order), keys)
    return rows.with_columns((pl.col("place") - 1).alias(name)).drop("place", "start")


def _steps(of: str, names: set[str]) -> int:
    """Return the deepest cut-off of the best order, or say that lists of categories need one."""
    ks = {name.rpartition("@")[2] for name in names}
    k = None if "" in ks else max(map(int, ks))
    if k is not None and k <= MOST_STEPS:
        return k
    found = "no cut-off" if k is None else f"the cut-off {k}"
    column = f"of={of!r}" if of else "the column beside the item"
    raise RecframeError(
        f"the best order over lists of categories ({column}) is found rank by rank, so it needs a cut-off up to "
        f"{MOST_STEPS}; found {found}: write k=10, or name a column with one category per item"
    )


def _by_greed(rows: pl.LazyFrame, keys: list[str], alpha: float, steps: int) -> pl.LazyFrame:
    """Return the items that add most, one after the other and of equal ones the last: keys, rank, seen.

    A category that was met m times adds (1 - alpha)^m. NOTE: gains are rounded, so that sums of the same numbers in another
    order are equal, and the item decides.
    """
    rows = rows.sort(*keys, *by_item(rows.collect_schema(), keys), "part")
    rows = with_places(rows, keys).rename({"start": "list"})
    rows = with_places(rows, ["list", "item"]).rename({"start": "row"})
    zero = pl.lit(0.0, dtype=pl.Float64)
    rows = rows.with_columns(met=zero, seen=zero, rank=pl.lit(None, dtype=pl.Float64))
    added = pl.lit(1 - alpha, dtype=pl.Float64) ** pl.col("met")
    for step in range(1, steps + 1):
        rows = _with_one_more(rows, added, step)
    return rows.filter(pl.col("rank").is_not_null())


def _with_one_more(rows: pl.LazyFrame, added: pl.Expr, step: int) -> pl.LazyFrame:
    """Return rows with one more item of each list taken."""
    is_left, row, gain = pl.col("rank").is_null(), pl.col("row"), pl.col("gain")
    rows = rows.with_columns(gain=pl.when(is_left).then(added).sum().over("row").round(12))
    rows = rows.with_columns(gain=pl.when(is_left).then(gain))
    rows = rows.with_columns(highest=gain.max().over("list"))
    rows = rows.with_columns(last=pl.when(gain == pl.col("highest")).then(row).max().over("list"))
    rows = rows.with_columns(taken=(row == pl.col("last")).fill_null(value=False))
    rows = rows.with_columns(
        rank=pl.when("taken").then(float(step)).otherwise("rank"),
        seen=pl.when("taken").then("met").otherwise("seen"),
        met_now=pl.col("taken").any().over("list", "part"),
    )
    return rows.with_columns(pl.col("met") + pl.col("met_now").cast(pl.Float64))


# Weights of users


def weights(judged: Judged) -> pl.LazyFrame:
    """Return each list with the weight of its user: the keys, and a null for one without a number or a row.

    NOTE: users without any other row have one here, since a mean counts those without a row as one number of users alike.
    """
    inputs = judged.inputs
    given, of_users = Given("weight", inputs.context.weight), FrameOf("users")
    weight = pl.col("weight").cast(pl.Float64).fill_nan(None)
    message = (
        f"{given} is below 0 or infinite for a user of {of_users}; a weight is a number from 0 up, and null leaves the user "
        "out"
    )
    too_large = (
        f"{given} is above {LARGEST_WEIGHT:g} for a user of {of_users}, so that sums of powers of weights may be infinite; "
        "divide all weights by the largest one, which changes no mean"
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
