"""Precomputed statistics of large side frames, shared by several facts.

No answer changes a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from recframe.frames.collecting import Ask
from recframe.frames.rows.integer_keys import fits_31_bits, sorted_as_numbers
from recframe.frames.rows.profiling import distinct_ids, each_pair_once, marked_sorted
from recframe.ranking.judged_frame import PAIR
from recframe.side_info import reference_lists
from recframe.side_info.attributes import HISTORIES, OF_HISTORIES
from recframe.side_info.by_category import Codes, codes_of
from recframe.side_info.category_counts import History
from recframe.side_info.features import ANY, CATEGORIES
from recframe.side_info.requirements import missing
from recframe.side_info.sources import Fact, FromSides, Sides, Summing

ROWS_FOR_EACH_ITEM = 1.25
"""Rows per item below which a join of categories is faster than encoding them."""


def settled(sides: Sides, ask: Ask, rows: pl.DataFrame, facts: Sequence[FromSides]) -> Sides:
    """Return the side frames with what the facts are made of at hand.

    The rows have each item of a list once.
    """
    facts = [*facts, *_read_beside(sides, facts)]
    named = [fact for fact in facts if isinstance(fact, Fact)]
    if sides.inputs.train is not None and any("train" in fact.builder.needs for fact in facts):
        train: Any = sides.inputs.train
        sides = replace(sides, pairs=_distinct(train, ask))
        if _reads_popularity(sides, facts):
            sides = replace(sides, popular=ask([sides.popularity])[0].lazy())
    if any("catalogue" in fact.builder.needs for fact in facts):
        sides = replace(sides, shown=shown(sides, ask))
    sides = replace(sides, codes=_codes(sides, ask, rows, facts))
    sides = replace(sides, histories=_histories(sides, named))
    of_histories = _of_histories(sides, named)
    sides = replace(sides, at_hand=of_histories)
    named = [one for one in named if one.name not in of_histories]
    sides = reference_lists.settled(sides, ask, rows, named)
    by_part = bool(sides.codes) and not sides.histories
    kinds = {"pair"} if sides.held.of_rows else {"pair", "row"}
    kept = [one for one in named if one.kind in kinds or (one.kind == "part" and by_part)]
    there = [one.name for one in kept if one.name in rows.columns]
    kept = [one for one in kept if one.name not in there]
    built = ask([sides.built(one) for one in kept])
    at_hand = {one.name: frame.lazy() for one, frame in zip(kept, built, strict=True)}
    pairs = [frame for one, frame in zip(kept, built, strict=True) if one.kind in kinds]
    narrow = all(fits_31_bits(one, PAIR) for one in (rows, *pairs))
    at_hand = {**sides.at_hand, **at_hand}
    return replace(sides, at_hand=at_hand, narrow=narrow, beside=frozenset(there))


def shown(sides: Sides, ask: Ask) -> pl.LazyFrame | None:
    """Return the distinct items of all frames, if they are the catalogue."""
    if sides.inputs.items is not None or sides.inputs.tables is not None:
        return None
    items = pl.concat(distinct_ids(one.to_series()) for one in ask(sides.all_items))
    return distinct_ids(items).alias("item").to_frame().lazy()


def _read_beside(sides: Sides, facts: Sequence[FromSides]) -> list[Fact]:
    """Return the facts that sums read, of frames that are there, where they are not asked for as well."""
    sums = [fact.builder for fact in facts if isinstance(fact.builder, Summing)]
    read = dict.fromkeys(Fact(builder) for one in sums for builder in one.reads)
    return [
        one for one in read if one not in facts and not missing(sides.inputs, one.builder.needs)
    ]


def _distinct(train: pl.LazyFrame, ask: Ask) -> pl.LazyFrame:
    """Return each pair of train once."""
    pairs = marked_sorted(ask([train.drop_nulls()])[0], "user")
    if pairs["user"].flags["SORTED_ASC"] or not fits_31_bits(pairs, PAIR):
        return marked_sorted(each_pair_once(pairs, ask), "user").lazy()
    differs = [pl.col(name).ne_missing(pl.col(name).shift()) for name in PAIR]
    ordered = sorted_as_numbers(pairs, PAIR).filter(pl.any_horizontal(differs))
    return marked_sorted(ask([ordered])[0], "user").lazy()


def _reads_popularity(sides: Sides, facts: Sequence[FromSides]) -> bool:
    """Return whether requested facts depend on popularity; sums over groups of the catalogue may."""
    sides = replace(sides)
    for fact in facts:
        if isinstance(fact, Fact):
            fact.build(sides)
    of_groups = any(
        "catalogue" in fact.builder.needs for fact in facts if not isinstance(fact, Fact)
    )
    # a property that was read is kept in the instance
    return "popularity" in vars(sides) or of_groups


def _codes(
    sides: Sides, ask: Ask, rows: pl.DataFrame, facts: Sequence[FromSides]
) -> dict[str, Codes]:
    """Return the codes of the categories that are asked for, where lists are told apart by users that are narrow."""
    columns = {str(fact.settings[0]) for fact in facts if fact.builder.takes in {ANY, CATEGORIES}}
    features = {of: sides.feature(of) for of in columns}
    by_user = sides.held.list_keys == ["user"] and fits_31_bits(rows, ["user"])
    if not (
        columns and by_user and all(feature.shape in CATEGORIES for feature in features.values())
    ):
        return {}
    given = [rows.lazy(), *([] if sides.pairs is None else [sides.pairs])]
    lengths = ask([one.group_by("user").agg(n=pl.len()) for one in given])
    (n_items,) = ask(
        [pl.concat(feature.rows.select(pl.len()) for feature in features.values()).max()]
    )
    n_rows = sum(length["n"].sum() for length in lengths)
    if n_rows < ROWS_FOR_EACH_ITEM * n_items.item() or not all(
        fits_31_bits(length, ["user"]) for length in lengths
    ):
        return {}
    most: list[Any] = [length["n"].max() for length in lengths]
    longest = max(one or 1 for one in most)
    codes = {of: codes_of(one, rows.schema, ask, longest) for of, one in features.items()}
    found = {of: one for of, one in codes.items() if one is not None}
    n_parts = max((one.n_parts for one in found.values()), default=0)
    found = {of: replace(one, n_parts=n_parts) for of, one in found.items()}
    return found if len(found) == len(codes) else {}


def _histories(sides: Sides, facts: Sequence[Fact]) -> dict[str, History]:
    """Return what users had before, as the facts of users and parts need it; nothing if one of these cannot be had of it."""
    of_parts = [fact for fact in facts if fact.kind == "part" and sides.codes]
    found = {
        one.name: sides.codes[str(one.settings[0])].history(sides.train, HISTORIES[one.builder])
        for one in of_parts
    }
    histories = {name: one for name, one in found.items() if one is not None}
    return histories if len(histories) == len(of_parts) else {}


def _of_histories(sides: Sides, facts: Sequence[Fact]) -> dict[str, pl.LazyFrame]:
    """Return the user facts computed from precomputed histories."""
    found, user = {}, sides.inputs.schema["user"]
    for one in (fact for fact in facts if fact.builder in OF_HISTORIES):
        names = [Fact(builder, one.settings).name for builder in HISTORIES]
        histories = [sides.histories[name] for name in names if name in sides.histories]
        if histories:
            found[one.name] = histories[0].of_each_user(OF_HISTORIES[one.builder], user)
    return found
