"""Checks of what stands beside the lists and the truth: train, items, propensities, the reference."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from recframe.audit.audited import Audited
from recframe.audit.rule import Found, check
from recframe.audit.words_of_checks import (
    item,
)
from recframe.facts.features import are_bits, may_be_bits
from recframe.frames.hints import A_FRAME, Either, bind, text
from recframe.judging.judged_frame import PAIR

WEIGHT = pl.col("weight").cast(pl.Float64).fill_nan(None)


@check(
    "warning",
    "the item counts as any other",
    "leave out what the user already had, unless it is meant to come again",
)
def recommended_in_train(data: Audited) -> Iterator[Found]:
    """Items recommended to users who have them in train."""
    if data.inputs.train is not None:
        yield Found(data.main, data.lists.join(data.inputs.train, on=PAIR, how="semi"))


@check(
    "warning",
    "the pair counts as any other",
    "split the truth from train, so that no pair is in both",
)
def truth_in_train(data: Audited) -> Iterator[Found]:
    """Relevant pairs that stand in train."""
    if data.inputs.train is not None:
        rows = data.truth.filter(data.relevant)
        yield Found(data.judging[0], rows.join(data.inputs.train, on=PAIR, how="semi"))


@check(
    "warning",
    "the item counts as any other; by= finds it in the null segment",
    text("add the item to ", Either("items=", "the file of --items"), ", or drop the row"),
)
def unknown_items(data: Audited) -> Iterator[Found]:
    """Items that the catalogue, `items=`, does not have."""
    if data.inputs.items is not None:
        for name, rows in data.pairs.items():
            listed = rows.filter(item.is_not_null())
            yield Found(name, listed.join(data.inputs.items, on="item", how="anti"))


@check(
    "info",
    "it counts as an item that nobody knows: popularity 0, novelty and propensity as if one user had it",
    "nothing, if it is new",
)
def cold_items(data: Audited) -> Iterator[Found]:
    """Recommended items that nobody has in train."""
    if data.inputs.train is not None:
        known = data.items_of_train()
        yield Found(data.main, data.lists.join(known, on="item", how="anti"))


@check(
    "info",
    "repeat_rate is 0, and what compares with the history leaves the user out",
    "nothing, if the user is new; else look for the user's rows in train",
)
def users_without_history(data: Audited) -> Iterator[Found]:
    """Users who have a list and no item in train."""
    if data.inputs.train is not None:
        known = data.inputs.train.drop_nulls(PAIR).select("user").unique()
        yield Found(data.main, data.lengths.join(known, on="user", how="anti"), ("user",))


@check(
    "info",
    "metrics of this column leave the item out",
    "describe the item, or ask for another column: of=...",
)
def items_without_features(data: Audited) -> Iterator[Found]:
    """Items of the catalogue, `items=`, for which a column of categories or of an embedding is empty."""
    for name, rows in data.features.items():
        value = pl.col("value")
        if rows.collect_schema()["value"].is_nested():
            value = pl.when(value.list.drop_nulls().list.len() > 0).then(value)
        found = rows.filter(value.is_null()).select("item", column=pl.lit(name))
        yield Found("items", found, ("item", "column"))


@check(
    "warning",
    "a metric of the column raises; in a LazyFrame each list counts as the categories 0 and 1",
    "cast it to a vector, pl.col('...').cast(pl.Array(pl.Float64, n)), or give the names of each item's categories",
)
def multi_hot_lists(data: Audited) -> Iterator[Found]:
    """Columns of items with lists of 0 and 1, all of one length, which look like vectors and are no categories."""
    for name, rows in data.features.items():
        if may_be_bits(rows.collect_schema()["value"]):
            found = rows.filter(are_bits(pl.col("value")) & (pl.col("value").list.len() > 0))
            yield Found("items", found.select("item", column=pl.lit(name)), ("item", "column"))


@check(
    "warning",
    "n_users counts the user, and weighted means leave the user out",
    "give each user a weight, such as 1 or 0",
)
def users_without_weight(data: Audited) -> Iterator[Found]:
    """Users with judged rows who have no weight."""
    if data.context.weight is not None and data.inputs.users is not None:
        known = data.inputs.users.filter(WEIGHT.is_not_null()).select("user")
        rows = data.judged_users.join(known, on="user", how="anti")
        yield Found(data.judging[0], rows, ("user",))


@check(
    "error",
    "weighted means are 0 or NaN",
    "divide all weights by the largest one, which changes no mean",
    of_all=True,
)
def weights_overflow(data: Audited) -> Iterator[Found]:
    """Weights whose sum is infinite, or the sum of their fourth powers, which intervals are made of."""
    if data.context.weight is not None and data.inputs.users is not None:
        users = data.inputs.users.filter(WEIGHT.is_finite()).with_columns(weight=WEIGHT)
        total, powers = WEIGHT.sum().is_infinite(), (WEIGHT**4).sum().is_infinite()
        yield Found("users", users.filter(total), ("user", "weight"))
        said = "weighted means have no interval"
        yield Found("users", users.filter(~total & powers), ("user", "weight"), "warning", said)


@check(
    "error",
    "the pair counts as observed with the probability min_propensity",
    "give each relevant pair a number above 0",
)
def missing_propensity(data: Audited) -> Iterator[Found]:
    """Relevant pairs whose propensity is null, NaN, 0 or below."""
    if data.inputs.has_propensity:
        given = pl.col("propensity").cast(pl.Float64).fill_nan(None)
        rows = data.truth.filter(data.relevant).filter((given > 0).fill_null(value=False).not_())
        yield Found(data.judging[0], rows, ("user", "item", "propensity"))


@check(
    "error",
    "a metric raises",
    text(
        "name a model that there is, or give a ",
        A_FRAME,
        " of lists: ",
        bind(reference="reference"),
    ),
    of_all=True,
)
def unknown_reference(data: Audited) -> Iterator[Found]:
    """Lists of models none of which is the one that `reference=` names."""
    if isinstance(data.inputs.reference, str):
        others = data.inputs.lists.filter(~data.inputs.is_reference.any())
        yield Found(data.main, others, ("user", "model"))
