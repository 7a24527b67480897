"""Row sources of hits by item category or item value."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from recframe.errors import RecframeError
from recframe.frames.collecting import Ask
from recframe.frames.rows.integer_keys import SMALL_INTEGERS, packed, sorted_as_numbers
from recframe.frames.rows.joins import distinct_names
from recframe.frames.rows.positions import by_item, spread_ranks, with_places
from recframe.metrics.language.at import (
    BEST_BY_CATEGORY,
    BEST_BY_VALUE,
    HITS_BY_CATEGORY,
    HITS_BY_VALUE,
    RELEVANT_BY_CATEGORY,
)
from recframe.ranking.judged import Judged
from recframe.side_info import attributes
from recframe.side_info.features import Feature
from recframe.side_info.sources import Fact, Sides

BranchesOf = Callable[[Sequence[str], pl.LazyFrame, set[str]], list[pl.LazyFrame]]
"""Type of functions that return requested row sources, by list keys and columns."""
OF_HITS, OF_VALUES = (HITS_BY_CATEGORY, HITS_BY_VALUE), (HITS_BY_VALUE, BEST_BY_VALUE)
KINDS = (*OF_HITS, BEST_BY_CATEGORY, RELEVANT_BY_CATEGORY, BEST_BY_VALUE)
MOST_STEPS = 100
"""Deepest cut-off of the ideal ranking over category lists, since each rank is a step of the plan."""


def columns_of(names: set[str]) -> dict[str, set[str]]:
    """Return the columns that are of such row sources, by their common prefix."""
    found: dict[str, set[str]] = {}
    for name in sorted(names):
        if name.startswith(KINDS):
            found.setdefault(name.rpartition(" ")[0], set()).add(name)
    return found


def facts(names: set[str]) -> list[Fact]:
    """Return the item facts that the columns need."""
    kinds = {True: attributes.number, False: attributes.n_categories}
    columns = [(branch.startswith(OF_VALUES), _settings(branch)[0]) for branch in columns_of(names)]
    return [Fact(kinds[is_number], (of,)) for is_number, of in dict.fromkeys(columns)]


def branches(
    judged: Judged,
    columns: dict[str, set[str]],
    deepest: int | None,
    branches_of: BranchesOf,
    ask: Ask | None = None,
) -> list[pl.LazyFrame]:
    """Return the requested columns of hits, ideal ranking and relevant items, as `branches_of` them.

    `ask` collects the steps of the best order of a large eager frame.
    """
    found = []
    for branch, names in columns.items():
        feature = Sides(judged.inputs, judged).feature(_settings(branch)[0])
        if ask is not None and not branch.startswith(OF_VALUES):
            feature = feature.numbered(ask)
        if branch.startswith(OF_HITS):
            hits = _of_hits(branch, judged, feature, deepest, ask)
            found += branches_of(judged.list_keys, _named(hits, names), names)
            continue
        # relevant items are the same for every model
        relevant = replace(judged, models=None).relevant("item")
        schema = relevant.collect_schema()
        keys = [key for key in judged.list_keys if key in schema]
        rows = _of_relevant(branch, names, relevant, keys, feature, ask)
        sums = branches_of(keys, _named(rows, names), names)
        found += sums if keys == judged.list_keys else [judged.for_each_model(one) for one in sums]
    return found


def _of_relevant(
    branch: str,
    names: set[str],
    relevant: pl.LazyFrame,
    keys: list[str],
    feature: Feature,
    ask: Ask | None,
) -> pl.LazyFrame:
    """Return the relevant items of a row source: each category once, or items in ideal order."""
    of, *alpha = _settings(branch)
    if branch.startswith(OF_VALUES):
        return _most_valuable(relevant, keys, feature)
    if not alpha:
        rows = relevant.join(feature.parts(), on="item").select(*keys, "part").unique()
        return rows.select(*keys, rank=pl.lit(1), seen=pl.lit(0))
    steps = 0 if feature.shape == "category" else _steps(of, names)
    return _best(relevant, keys, feature, alpha[0], steps, ask)


def _settings(branch: str) -> list[Any]:
    settings: list[Any] = json.loads(branch[branch.index("[") :])
    return settings


def _named(rows: pl.LazyFrame, names: set[str]) -> pl.LazyFrame:
    """Return rows with `rank`, `seen` and `value` under their requested names."""
    words = {name: name.rpartition(" ")[2].partition("@")[0] for name in sorted(names)}
    return rows.with_columns(
        pl.col(word).cast(pl.Float64).alias(name) for name, word in words.items()
    ).drop("rank", "seen", "value", strict=False)


def _of_hits(
    branch: str, judged: Judged, feature: Feature, deepest: int | None, ask: Ask | None
) -> pl.LazyFrame:
    """Return the hits: keys, their ranks, at least 1 apart, and a number, or how many above have each category of theirs."""
    keys = judged.list_keys
    if branch.startswith(OF_VALUES):
        hits = _ranked_hits(judged, deepest).join(feature.numbers(), on="item")
        return hits.select(*keys, "rank", "value")
    hits = _ranked_hits(judged, deepest).join(feature.parts(), on="item")
    hits = _in_order(hits, keys, ["part", "rank"], ask)
    return _numbers(hits, [*keys, "part"], name="seen").select(*keys, "rank", "seen")


def _most_valuable(relevant: pl.LazyFrame, keys: list[str], feature: Feature) -> pl.LazyFrame:
    """Return the relevant items that have a number, the highest first: keys, rank, value."""
    rows = relevant.join(feature.numbers(least=0), on="item").select(*keys, "value")
    rows = rows.sort(*keys, "value", descending=[*(False for _ in keys), True])
    return with_places(rows, keys).select(*keys, "value", rank=pl.col("place"))


def _ranked_hits(judged: Judged, deepest: int | None) -> pl.LazyFrame:
    """Return the hits: keys, item and rank, at least 1 apart."""
    names = distinct_names(*judged.list_keys, "item", "rank")
    hits = judged.hits(deepest).select(names)
    return with_distinct_ranks(judged, hits, deepest).select(names)


def with_distinct_ranks(
    judged: Judged, hits: pl.LazyFrame, deepest: int | None, *, numbered: bool = False
) -> pl.LazyFrame:
    """Return hits with ranks of each list at least 1 apart, and with their numbers in its order where these are requested."""
    keys = judged.list_keys
    if judged.known.in_order:
        return with_places(hits, keys) if numbered else hits
    hits = hits.sort(*keys, "rank", *by_item(judged.inputs.schema, keys))
    hits = spread_ranks(with_places(hits, keys), keys, whole=judged.whole_ranks)
    return hits if deepest is None else hits.filter(pl.col("rank") <= deepest)


def _best(
    relevant: pl.LazyFrame,
    keys: list[str],
    feature: Feature,
    alpha: float,
    steps: int,
    ask: Ask | None,
) -> pl.LazyFrame:
    """Return the relevant items by category, in the order that takes the one that adds most next: keys, rank, seen."""
    rows = relevant.join(feature.parts(), on="item")
    # the first of each category, then the second of each, and so on
    if feature.shape == "category":
        rows = _numbered(_numbered(rows, [*keys, "part"], name="seen"), keys, "seen", name="rank")
        rows = rows.with_columns(pl.col("rank") + 1)
    else:
        rows = _by_greed(rows, keys, alpha, steps, ask)
    return rows.select(*keys, "rank", "seen")


def _numbered(rows: pl.LazyFrame, keys: list[str], *order: str, name: str) -> pl.LazyFrame:
    """Return rows in an order inside some keys, with their numbers from 0."""
    return _numbers(rows.sort(*keys, *order), keys, name=name)


def _numbers(rows: pl.LazyFrame, keys: list[str], *, name: str) -> pl.LazyFrame:
    """Return rows that stand by some keys with their numbers from 0."""
    rows = with_places(rows, keys).drop("start").rename({"place": name})
    return rows.with_columns(pl.col(name) - 1)


def _in_order(
    rows: pl.LazyFrame, keys: list[str], columns: Sequence[str], ask: Ask | None
) -> pl.LazyFrame:
    """Return columns of rows list by list in their order; of a large eager frame they are sorted as one number, if they can."""
    rows = rows.select(distinct_names(*keys, *columns))
    schema = rows.collect_schema()
    if ask is None or len(keys) > 1 or {*schema.dtypes()} - SMALL_INTEGERS:
        order = {
            column: by_item(schema, keys) if column == "item" else [column] for column in columns
        }
        return rows.sort(*keys, *(by for column in columns for by in order[column]))
    return sorted_as_numbers(ask([rows])[0], [*keys, *columns])


def _steps(of: str, names: set[str]) -> int:
    ks = {name.rpartition("@")[2] for name in names}
    k = None if "" in ks else max(map(int, ks))
    if k is not None and k <= MOST_STEPS:
        return k
    found = "no cut-off" if k is None else f"the cut-off {k}"
    msg = (
        f"the best order over lists of categories ({f'of={of!r}' if of else 'the column beside the item'}) is found rank by "
        f"rank, so it needs a cut-off up to {MOST_STEPS}; found {found}: write k=10, or name a column with one category per "
        "item"
    )
    raise RecframeError(msg)


def _by_greed(
    rows: pl.LazyFrame, keys: list[str], alpha: float, steps: int, ask: Ask | None
) -> pl.LazyFrame:
    """Return rank and seen of the rows of the items that are taken in some steps, the last of those that add most each time."""
    rows = _in_order(rows, keys, ["item", "part"], ask)
    rows = with_places(rows, keys).rename({"start": "list"})
    rows = with_places(rows, ["list", "item"]).rename({"start": "row"})
    zero = pl.lit(0.0, dtype=pl.Float64)
    rows = rows.with_columns(met=zero, seen=zero, rank=pl.lit(None, dtype=pl.Float64))
    if ask is not None:
        return _step_by_step(rows, alpha, steps, ask)
    for step in range(1, steps + 1):
        taken = _taken(rows, alpha, step)
        rows = _met(taken.with_columns(met_now=pl.col("taken").any().over("list", "part")))
    return rows.filter(pl.col("rank").is_not_null())


def _step_by_step(rows: pl.LazyFrame, alpha: float, steps: int, ask: Ask) -> pl.LazyFrame:
    """Return the same with no more rows in each step than are left: most lists have few relevant items.

    NOTE: items and lists are numbered as they stand, since windows take more than twice as long.
    """
    found = []
    (left,) = ask([rows.drop("place", "rank")])
    for step in range(1, steps + 1):
        last = _last_of_the_best(left, alpha, ask)
        taken = left.with_columns(taken=pl.lit(last).gather(_number("row")))
        taken, left = taken.filter("taken"), taken.filter(~pl.col("taken"))
        found.append(taken.lazy().with_columns(pl.col("met").alias("seen"), rank=float(step)))
        if left.is_empty():
            break
        both = packed(["list", "part"]).alias("both")
        met_now = taken.lazy().select(both, met_now="taken")
        rows = left.lazy().with_columns(both)
        rows = rows.join(met_now, on="both", how="left", maintain_order="left").drop("both")
        (left,) = ask([_met(rows)])
    return pl.concat(found)


def _last_of_the_best(rows: pl.DataFrame, alpha: float, ask: Ask) -> pl.Series:
    """Return of each item, as they stand list by list, whether it is the last of those of its list that add most."""
    in_order = (pl.col(name).set_sorted() for name in ("list", "row"))
    items = rows.lazy().with_columns(in_order).group_by("row", maintain_order=True)
    (gains,) = ask([items.agg(pl.col("list").first(), gain=_added(alpha).sum().round(12))])
    lists = gains.lazy().with_columns(pl.col("list").set_sorted())
    (highest,) = ask([lists.group_by("list", maintain_order=True).agg(pl.col("gain").max())])
    best = pl.col("gain") == pl.lit(highest["gain"]).gather(_number("list"))
    best_items = gains.lazy().with_row_index("number").filter(best)
    of_next = pl.col("list").shift(-1)
    (last,) = ask([best_items.filter(pl.col("list").ne_missing(of_next)).select("number")])
    return pl.Series([False]).new_from_index(0, len(gains)).scatter(last["number"], values=True)


def _number(name: str) -> pl.Expr:
    """Return the number, from 0, of the run of rows alike in a column that a row is in."""
    return pl.col(name).ne_missing(pl.col(name).shift()).cum_sum() - 1


def _added(alpha: float) -> pl.Expr:
    """Return the discounted gain of a category that occurred before."""
    return pl.lit(1 - alpha, dtype=pl.Float64) ** pl.col("met")


def _taken(rows: pl.LazyFrame, alpha: float, step: int) -> pl.LazyFrame:
    """Return the rows with one more item of each user taken.

    NOTE: gains are rounded, so that sums of the same numbers in another order are equal, and the item decides.
    """
    gain, row, added = pl.col("gain"), pl.col("row"), _added(alpha)
    rows = rows.with_columns(
        gain=pl.when(pl.col("rank").is_null()).then(added).sum().over("row").round(12)
    )
    rows = rows.with_columns(gain=pl.when(pl.col("rank").is_null()).then(gain))
    rows = rows.with_columns(highest=gain.max().over("list"))
    rows = rows.with_columns(last=pl.when(gain == pl.col("highest")).then(row).max().over("list"))
    rows = rows.with_columns(taken=(row == pl.col("last")).fill_null(value=False))
    return rows.with_columns(
        rank=pl.when("taken").then(float(step)).otherwise("rank"),
        seen=pl.when("taken").then("met").otherwise("seen"),
    )


def _met(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return rows of which those whose category was met now are met once more."""
    now = pl.col("met_now").fill_null(value=False).cast(pl.Float64)
    return rows.with_columns(met=pl.col("met") + now).drop("met_now")
