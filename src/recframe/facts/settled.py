"""The side frames of a large eager frame, asked ahead of its plan: what several facts are made of, and tables to look up.

No answer changes a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from recframe.facts import reference_lists
from recframe.facts.by_category import Codes, codes_of
from recframe.facts.features import ANY, CATEGORIES
from recframe.facts.sides import Fact, FromSides, Kind, Sides
from recframe.frames.collecting import Ask
from recframe.frames.rows.lookups import Lookup, lookup
from recframe.frames.rows.packing import distinct, fits_31_bits
from recframe.frames.rows.questions import are_distinct, marked_sorted
from recframe.judging.judged_frame import PAIR


def settled(sides: Sides, ask: Ask, rows: pl.DataFrame, facts: Sequence[FromSides]) -> Sides:
    """Return the side frames with what the facts are made of at hand; `rows` are those of the lists, each item once."""
    named = [one for one in facts if isinstance(one, Fact)]
    if sides.inputs.train is not None and any("train" in one.builder.needs for one in facts):
        train: Any = sides.inputs.train
        sides = replace(sides, pairs=_distinct(train, ask).lazy())
        if _reads_popularity(sides, facts):
            sides = replace(sides, popular=ask([sides.popularity])[0].lazy())
    sides = replace(sides, codes=_codes(sides, ask, rows, facts))
    sides = reference_lists.settled(sides, ask, rows, named)
    kept = [one for one in named if one.kind == "pair" or (one.kind == "part" and sides.codes)]
    built = ask([one.build(sides) for one in kept])
    at_hand = {one.name: frame.lazy() for one, frame in zip(kept, built, strict=True)}
    pairs = [frame for one, frame in zip(kept, built, strict=True) if one.kind == "pair"]
    narrow = all(fits_31_bits(one, PAIR) for one in (rows, *pairs))
    sides = replace(sides, at_hand=at_hand, narrow=narrow)
    return replace(sides, lookups=_lookups(sides, ask, rows, named))


def _distinct(train: pl.LazyFrame, ask: Ask) -> pl.DataFrame:
    """Return each pair of train once."""
    pairs = marked_sorted(ask([train.drop_nulls()])[0], "user")
    narrow, in_order = fits_31_bits(pairs, PAIR), pairs["user"].flags["SORTED_ASC"]
    # one sort finds out and mends
    if (narrow and not in_order) or not ask([are_distinct(pairs, ["user"])])[0].item():
        (pairs,) = ask([distinct(pairs.lazy(), PAIR, narrow=narrow)])
    return pairs


def _reads_popularity(sides: Sides, facts: Sequence[FromSides]) -> bool:
    """Return whether what is asked for is made of the popularities; sums over groups of the catalogue may be."""
    sides = replace(sides)
    for one in facts:
        if isinstance(one, Fact):
            one.build(sides)
    of_groups = any("catalogue" in one.builder.needs for one in facts if not isinstance(one, Fact))
    # a property that was read is kept in the instance
    return "popularity" in vars(sides) or of_groups


def _codes(
    sides: Sides, ask: Ask, rows: pl.DataFrame, facts: Sequence[FromSides]
) -> dict[str, Codes]:
    """Return the codes of the categories that are asked for, where lists are told apart by users that are narrow."""
    columns = {str(one.settings[0]) for one in facts if one.builder.takes in {ANY, CATEGORIES}}
    by_user = sides.held.list_keys == ["user"] and fits_31_bits(rows, ["user"])
    train = [] if sides.pairs is None else ask([sides.pairs.select("user")])
    if not (columns and by_user and all(fits_31_bits(one, ["user"]) for one in train)):
        return {}
    features = {of: sides.feature(of) for of in columns}
    if any(one.shape not in CATEGORIES for one in features.values()):
        return {}
    codes = {of: codes_of(one, rows.schema["item"], ask) for of, one in features.items()}
    found = {of: one for of, one in codes.items() if one is not None}
    return found if len(found) == len(codes) else {}


def _lookups(
    sides: Sides, ask: Ask, rows: pl.DataFrame, facts: Sequence[Fact]
) -> dict[str, Lookup]:
    """Return the facts of items, and of users, as tables to be looked up where their ids allow it."""
    found: dict[str, Lookup | None] = {}
    kinds: tuple[Kind, ...] = ("item", "user")
    for kind in kinds:
        (*on, key), table, _ = sides.table(kind, facts)
        if table is not None and not on:
            found[kind] = lookup(ask([table])[0], key, rows.schema[key])
    return {kind: one for kind, one in found.items() if one is not None}
