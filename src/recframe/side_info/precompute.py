"""Precomputed statistics of large side frames, shared by several facts.

No answer changes a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from recframe.frames.kinds.kind import Ask
from recframe.frames.rows.integer_keys import fits_31_bits, sorted_as_numbers
from recframe.frames.rows.profiling import distinct_ids, marked_sorted, merged
from recframe.ranking.judged_frame import PAIR
from recframe.side_info import reference_lists
from recframe.side_info.features import ANY, CATEGORIES, Feature
from recframe.side_info.sources import Fact, Sides


def settled(sides: Sides, ask: Ask, rows: pl.DataFrame, facts: Sequence[Fact]) -> Sides:
    """Return the side frames with what the facts are made of at hand.

    The rows have each item of a list once.
    """
    used = {name for one in facts for name in (*one.builder.needs, *one.builder.uses)}
    if sides.inputs.train is not None and "train" in used:
        train: Any = sides.inputs.train
        sides = replace(sides, pairs=_distinct(train, ask))
        sides = replace(sides, popular=ask([sides.popularity])[0].lazy())
    if "catalogue" in used:
        sides = replace(sides, shown=shown(sides, ask))
    sides = replace(sides, numbered=_numbered(sides, ask, rows, facts))
    sides = reference_lists.settled(sides, ask, rows, facts)
    kinds = {"pair"} if sides.held.of_rows else {"pair", "row"}
    parts = {"part"} if sides.numbered else set()
    kept = [one for one in facts if one.kind in kinds | parts]
    there = {one.name for one in kept} & {*rows.columns}
    kept = [one for one in kept if one.name not in there]
    built = ask([sides.built(one) for one in kept])
    pairs = [frame for one, frame in zip(kept, built, strict=True) if one.kind in kinds]
    narrow = all(fits_31_bits(one, PAIR) for one in (rows, *pairs))
    at_hand = {one.name: frame.lazy() for one, frame in zip(kept, built, strict=True)}
    at_hand = {**sides.at_hand, **at_hand}
    return replace(sides, at_hand=at_hand, narrow=narrow, beside=frozenset(there))


def shown(sides: Sides, ask: Ask) -> pl.LazyFrame | None:
    """Return the distinct items of all frames, if they are the catalogue."""
    if sides.inputs.items is not None or sides.inputs.all_users is not None:
        return None
    items = pl.concat(distinct_ids(one.to_series()) for one in ask(sides.all_items))
    return distinct_ids(items).alias("item").to_frame().lazy()


def _distinct(train: pl.LazyFrame, ask: Ask) -> pl.LazyFrame:
    """Return each pair of train once."""
    pairs = marked_sorted(ask([train.drop_nulls()])[0])
    if pairs["user"].flags["SORTED_ASC"] or not fits_31_bits(pairs, PAIR):
        return merged(pairs, ["user"], ask).lazy()
    differs = [pl.col(name).ne_missing(pl.col(name).shift()) for name in PAIR]
    ordered = sorted_as_numbers(pairs, PAIR).filter(pl.any_horizontal(differs))
    return marked_sorted(ask([ordered])[0]).lazy()


def _numbered(
    sides: Sides, ask: Ask, rows: pl.DataFrame, facts: Sequence[Fact]
) -> dict[str, Feature]:
    """Return the requested features with their categories as numbers, if users are narrow too and tell lists apart."""
    columns = {str(fact.settings[0]) for fact in facts if fact.builder.takes in {ANY, CATEGORIES}}
    found = {of: sides.feature(of) for of in columns}
    if sides.held.list_keys != ["user"] or any(one.shape == "vector" for one in found.values()):
        return {}
    frames = [rows, *ask([] if sides.pairs is None else [sides.pairs])]
    narrow = bool(found) and all(fits_31_bits(one, ["user"]) for one in frames)
    return {of: one.numbered(ask) for of, one in found.items()} if narrow else {}
