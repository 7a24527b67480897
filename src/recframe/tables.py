"""Rows of the lists' own that are made of a feature of their items, and summed up over each list.

A table is one function of `Rows`, which returns some of the lists' keys and the sums that words of `AtLists` asked for. It is
made once for all cut-offs: its sums are cut by the rank of its rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe import beside
from recframe.beside import Fact, Sides, fact
from recframe.errors import RecframeError
from recframe.features import ANY, CATEGORIES
from recframe.order import by_item, spread_ranks, with_places

if TYPE_CHECKING:
    from recframe.list_terms import Asked

MOST_STEPS = 100
"""The deepest cut-off for the best order over lists of categories, which takes one step of the plan for each rank."""


BESIDE = "beside categories"
"""The level of the values of a list that stand beside each of its categories."""


def level_of(word: str, *settings: object) -> str:
    """Return the level of the sums over each list that a word asks for."""
    return " ".join(map(str, ("of list", word, *settings)))


def within_category(of: str) -> str:
    """Return the level of the sums over the items that a list has of each category."""
    return f"in category {of}"


@dataclass(frozen=True)
class Rows:
    """The rows of the lists, each item of a list once, what is asked of them, and the side frames."""

    sides: Sides
    asked: Asked
    keys: list[str]
    rows: pl.LazyFrame
    lists: pl.LazyFrame
    """Each list with its plain sums."""

    def beside_lists(self) -> pl.LazyFrame:
        """Return the lists with the sums of every table that was asked for."""
        lists = self.lists
        for table in (one for one in self.asked.facts.values() if one.kind == "table"):
            sums: Any = table.builder.build(self, *table.settings)
            on = [key for key in self.keys if key in sums.collect_schema()]
            lists = lists.join(sums, on=on, how="left", nulls_equal=True)
        return lists

    def with_facts(self, *levels: str) -> pl.LazyFrame:
        """Return the rows with the facts that some levels ask for."""
        return self.sides.joined(self.rows, self.asked.facts_in(*levels), "pair", "item", "segment", "whole")


@fact("table", "items", takes=ANY)
def vectors(rows: Rows, of: str) -> pl.LazyFrame:
    """The sum of the items' unit vectors, each times a value: its square, or its product with the sum over the history.

    NOTE: a column for each dimension where the schema tells their number, which takes a twentieth of the time and a quarter of
    the memory of a row for each.
    """
    sides, feature = rows.sides, rows.sides.feature(of)
    units, columns, parts = feature.units()
    levels = [level_of("square", of), level_of("product", of)]
    squares, products = map(rows.asked.named, levels)
    names = [value.meta.output_name() for value in [*squares, *products]]
    values = rows.with_facts(*levels).join(units, on="item").with_columns(*squares, *products)
    sums = values.group_by(*rows.keys, *parts).agg(
        (pl.col(name) * pl.col(column)).sum().alias(f"{name} {column}") for name in names for column in columns
    )
    if products:
        history = sides.with_item_keys(sides.train.join(units, on="item"))
        history = history.group_by(*sides.user_keys, *parts).agg(pl.col(columns).sum())
        sums = sums.join(history, on=[*sides.user_keys, *parts], how="left", nulls_equal=True)
    factors = [(name, name if place < len(squares) else "") for place, name in enumerate(names)]
    totals = [
        pl.sum_horizontal(pl.col(f"{name} {column}") * pl.col(f"{other} {column}".strip()) for column in columns).alias(name)
        for name, other in factors
    ]
    return sums.group_by(rows.keys).agg(one.sum() for one in totals) if parts else sums.select(*rows.keys, *totals)


@fact("table", "items", takes=CATEGORIES)
def categories(rows: Rows, of: str) -> pl.LazyFrame:
    """The categories of the items, with sums over the items of each, and what the history has of it."""
    inner, outer = within_category(of), level_of("categories", of)
    found = rows.with_facts(inner).join(rows.sides.feature(of).parts(), on="item")
    found = found.group_by(*rows.keys, "part").agg(rows.asked.named(inner))
    roots = {name for one in rows.asked.named(outer) for name in one.meta.root_names()}
    if whole := [one for one in rows.asked.named(BESIDE) if one.meta.output_name() in roots]:
        lists = rows.lists.select(*rows.keys, *whole)
        found = found.join(lists, on=rows.keys, how="left", nulls_equal=True)
    found = rows.sides.joined(found, rows.asked.facts_in(outer), "part", "user", "segment", "whole")
    return found.group_by(rows.keys).agg(rows.asked.named(outer))


@fact("table", "items", takes=CATEGORIES)
def pairs(rows: Rows, of: str) -> pl.LazyFrame:
    """The pairs of items that share a category, each with itself too: the rank of the lower one, and their likeness."""
    found = rows.rows.join(rows.sides.feature(of).parts(), on="item")
    one, other = (found.select(*rows.keys, "part", "rank", "share", pl.col("item").alias(name)) for name in ("one", "other"))
    both = one.join(other, on=[*rows.keys, "part"], nulls_equal=True)
    union = (1 / pl.col("share") + 1 / pl.col("share_right")).max() - pl.len()
    both = both.group_by(*rows.keys, "one", "other").agg(
        rank=pl.max_horizontal("rank", "rank_right").max(), likeness=pl.len() / union
    )
    return both.group_by(rows.keys).agg(rows.asked.named(level_of("pairs", of)))


# ---- categories in the order of the list


@fact("table", "items", "relevance", takes=CATEGORIES)
def hits(rows: Rows, of: str) -> pl.LazyFrame:
    """The relevant items of a list by category: their ranks, at least 1 apart, and how many above have the category."""
    keys, relevant = rows.keys, Fact(beside.relevant)
    found = rows.sides.joined(rows.rows, [relevant], "pair").filter(pl.col(relevant.name))
    found = found.sort(*keys, "rank", *by_item(rows.sides.inputs.schema, keys))
    found = spread_ranks(with_places(found, keys), keys, whole=rows.sides.held.whole_ranks)
    found = found.select(*dict.fromkeys([*keys, "item", "rank"]))
    found = _numbered(found.join(rows.sides.feature(of).parts(), on="item"), [*keys, "part"], "rank", name="seen")
    return found.group_by(keys).agg(rows.asked.named(level_of("hits", of)))


@fact("table", "items", "relevance", takes=CATEGORIES)
def best(rows: Rows, of: str, alpha: float) -> pl.LazyFrame:
    """The user's relevant items by category, in the order that takes the one that adds most next."""
    sides, feature, keys = rows.sides, rows.sides.feature(of), rows.sides.user_keys
    level = level_of("best", of, alpha)
    found = sides.with_item_keys(sides.held.relevant_pairs()).join(feature.parts(), on="item")
    found = found.select(*dict.fromkeys([*keys, "item", "part"]))
    if feature.shape == "category":  # the first of each category, then the second of each, and so on
        found = _numbered(_numbered(found, [*keys, "part"], name="seen"), keys, "seen", name="rank")
        found = found.with_columns(pl.col("rank") + 1)
    else:
        found = _by_greed(found, keys, alpha, _steps(of, rows.asked.deepest[level]))
    return found.group_by(keys).agg(rows.asked.named(level))


def _numbered(rows: pl.LazyFrame, keys: list[str], *order: str, name: str) -> pl.LazyFrame:
    """Return rows in an order inside some keys, with their numbers from 0."""
    rows = with_places(rows.sort(*keys, *order), keys).drop("start").rename({"place": name})
    return rows.with_columns(pl.col(name) - 1)


def _steps(of: str, k: int | None) -> int:
    if k is not None and k <= MOST_STEPS:
        return k
    found = "no cut-off" if k is None else f"the cut-off {k}"
    msg = (
        f"the best order over lists of categories ({f'of={of!r}' if of else 'the column beside the item'}) is followed rank by "
        f"rank, with a cut-off up to {MOST_STEPS}; found {found}: write k=10, or name a column of one category"
    )
    raise RecframeError(msg)


def _by_greed(rows: pl.LazyFrame, keys: list[str], alpha: float, steps: int) -> pl.LazyFrame:
    """Return rank and seen of the rows of the items that are taken in some steps, the last of those that add most each time."""
    rows = with_places(rows.sort(*keys, *by_item(rows.collect_schema(), keys)), keys).rename({"start": "list"})
    rows = with_places(rows, [*dict.fromkeys(["list", "item"])]).rename({"start": "row"})
    zero = pl.lit(0.0, dtype=pl.Float64)
    rows = rows.with_columns(met=zero, seen=zero, rank=pl.lit(None, dtype=pl.Float64))
    return reduce(lambda taken, step: _taken(taken, alpha, step), range(1, steps + 1), rows).filter(
        pl.col("rank").is_not_null()
    )


def _taken(rows: pl.LazyFrame, alpha: float, step: int) -> pl.LazyFrame:
    """Return the rows with one more item of each user taken.

    NOTE: gains are rounded, so that sums of the same numbers in another order are equal, and the item decides.
    """
    gain, row, added = pl.col("gain"), pl.col("row"), pl.lit(1 - alpha, dtype=pl.Float64) ** pl.col("met")
    rows = rows.with_columns(gain=pl.when(pl.col("rank").is_null()).then(added).sum().over("row").round(12))
    rows = rows.with_columns(gain=pl.when(pl.col("rank").is_null()).then(gain))
    rows = rows.with_columns(highest=gain.max().over("list"))
    rows = rows.with_columns(last=pl.when(gain == pl.col("highest")).then(row).max().over("list"))
    rows = rows.with_columns(taken=(row == pl.col("last")).fill_null(value=False))
    rows = rows.with_columns(met_now=pl.col("taken").any().over("list", "part"))
    return rows.with_columns(
        rank=pl.when("taken").then(float(step)).otherwise("rank"),
        seen=pl.when("taken").then("met").otherwise("seen"),
        met=pl.col("met") + pl.col("met_now").cast(pl.Float64),
    )
