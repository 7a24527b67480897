"""Agreement of lists with the same users' reference lists, by depth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from recframe.frames.inputs import Frames
from recframe.frames.kinds.kind import Ask, stream
from recframe.frames.options import Ties
from recframe.frames.rows.integer_ids import lookup
from recframe.frames.rows.integer_keys import fits_31_bits, sorted_as_numbers
from recframe.frames.rows.joins import AS_EVER, at_best_rank, by_item, distinct_names, with_places
from recframe.frames.rows.profiling import are_in_order, marked_sorted, merged
from recframe.ranking.judged_frame import PAIR, is_rank
from recframe.ranking.scores import scored
from recframe.side_info.reference_ranks import Places, up_to
from recframe.side_info.sources import Fact, Sides, fact

PLACE, DEPTH, RANK = (pl.col(name) for name in ("place", "depth", "rank"))


@dataclass(frozen=True)
class Agreement:
    """Overlap statistics of a list and its reference list, cut at k.

    An item that both have is common from a depth on, the later of its two places. F(n) is the sum of p^d / d over the depths
    d = 1..n.
    """

    shorter: pl.Expr
    """Length of the shorter list."""
    longer: pl.Expr
    common: pl.Expr
    """Number of common items."""
    common_in_shorter: pl.Expr
    """Number of common items within the shorter list's depth."""
    before: pl.Expr
    """Sum of F over the depths just before those of common items."""
    before_in_shorter: pl.Expr
    sum_to_shorter: pl.Expr
    """F at the length of the shorter list."""
    sum_to_longer: pl.Expr


@fact("row", "reference")
def in_reference(sides: Sides, k: int) -> pl.LazyFrame:
    """Whether the reference list of a user has an item, up to k; 0 is no cut-off."""
    return _pairs(sides, k).unique()


@fact("row", "reference")
def reference_rank(sides: Sides) -> pl.LazyFrame:
    """The rank that the reference list of a user gives an item, however far down."""
    pairs = _pairs(sides, 0, RANK.cast(pl.Float64))
    return pairs.group_by(pl.exclude("value")).agg(pl.col("value").min())


@fact("list", "reference")
def has_reference(sides: Sides) -> pl.LazyFrame:
    """Whether the user of a list has a reference list."""
    keys = sides.held.list_keys
    shared, other = _reference(sides, None)
    on = distinct_names(*shared, "user")
    lists = sides.held.ranked().select(keys).unique()
    return lists.join(other.select(on), on=on, how="semi", nulls_equal=True).with_columns(
        value=pl.lit(value=True)
    )


@fact("list", "reference")
def agreement(sides: Sides, p: float, k: int) -> pl.LazyFrame:
    """Compute the `Agreement` of each list with its user's reference list, both cut at k; 0 is no cut-off."""
    keys = sides.held.list_keys
    if sides.places is None:
        schema, deepest = sides.inputs.schema, None
        shared, other = _reference(sides, k or None)
        on = distinct_names(*shared, "user")
        own, other = _placed(sides.held.ranked(k or None), keys, schema), _placed(other, on, schema)
        both, common = _lengths(own, other, keys, on), _common(own, other, keys, on)
        common = common.join(both.select(*keys, "shorter"), on=keys, nulls_equal=True)
    else:
        both, common = sides.places.lengths[k].lazy(), sides.places.common(k)
        deepest = sides.places.deepest
    for depth in ("shorter", "longer"):
        both = _with_sums(both, depth, f"sum_to_{depth}", p, deepest)
    common = _with_sums(common, "depth", "before", p, deepest, before=1)
    both = both.join(_counted(common, keys), on=keys, how="left", nulls_equal=True)
    parts = [pl.col(name).cast(pl.Float64).fill_null(0.0) for name in Agreement.__annotations__]
    return both.select(*keys, value=pl.struct(parts))


def settled(sides: Sides, ask: Ask, rows: pl.DataFrame, facts: Sequence[Fact]) -> Sides:
    """Return the side frames of a large eager frame with each pair of the references once, and the lists in their places.

    The places need users and items that are narrow, and places too.
    """
    sides = _with_pairs(sides, ask, [one for one in facts if one.builder is in_reference])
    depths = [int(one.settings[1]) for one in facts if one.builder is agreement]
    given = sides.inputs.reference
    if not depths or given is None or isinstance(given, str) or sides.held.list_keys != ["user"]:
        return sides
    (others,) = ask([_reference(sides, max(depths) if all(depths) else None)[1]])
    if not all(fits_31_bits(one, PAIR) for one in (rows, others)):
        return sides
    others = merged(others, ["user"], ask)
    own, other = _in_places(rows, ask), _in_places(others, ask)
    bounds = _, n_items, n_places = _bounds((own, other), "user", "item", "place")
    if math.prod(bounds) >= 2**62:
        return sides
    on, cuts = ["user"], list(dict.fromkeys(depths))
    lengths = {k: stream(_lengths(up_to(own, k), up_to(other, k), on, on)) for k in cuts}
    found = {k: lookup(one, "user", rows.schema["user"]) for k, one in lengths.items()}
    of_users = {k: one for k, one in found.items() if one is not None}
    places = Places(own, other, n_items, n_places - 1, lengths, of_users)
    return replace(sides, places=places)


def _with_pairs(sides: Sides, ask: Ask, facts: Sequence[Fact]) -> Sides:
    """Return the side frames with precomputed pairs of the references.

    NOTE: few repeat, which is found list by list in a tenth of the time in which a hash table leaves them out.
    """
    given = ask([_pairs(sides, int(one.settings[0])) for one in facts])
    keys = [*sides.held.of_rows, "user"]
    pairs = {
        one.name: merged(frame, keys, ask).lazy() for one, frame in zip(facts, given, strict=True)
    }
    return replace(sides, at_hand={**sides.at_hand, **pairs})


def _pairs(sides: Sides, k: int, value: pl.Expr | None = None) -> pl.LazyFrame:
    """Return the (user, item) pairs of reference lists up to k, with a value and repetitions; 0 is no cut-off.

    Each has the segments of rows of its list; reference lists that do not have them are the same in all.
    """
    segments = sides.held.of_rows
    shared, rows = _reference(sides, k or None)
    if not {*segments} <= {*shared}:
        lists = sides.held.ranked().select(*segments, "user").unique()
        rows = lists.join(rows, on="user")
    return rows.select(*segments, *PAIR, value=pl.lit(value=True) if value is None else value)


def _in_places(rows: pl.DataFrame, ask: Ask) -> pl.DataFrame:
    """Return rows list by list, with their places."""
    numbers = marked_sorted(rows).with_columns(RANK.cast(pl.Float64))
    ordered = rows.lazy()
    if not ask([are_in_order(numbers, ["user"])])[0].item():
        ordered = sorted_as_numbers(rows, ["user", "rank", "item"])
    return marked_sorted(ask([with_places(ordered, ["user"]).drop("start")])[0])


def _bounds(places: Sequence[pl.DataFrame], *names: str) -> list[int]:
    """Return upper bounds of user numbers, item numbers and positions in lists of narrow ids."""
    together = pl.concat(place.select(pl.col(names).max().cast(pl.Int64)) for place in places)
    return [1 + (highest or 0) for highest in together.max().row(0)]


def _common(own: pl.LazyFrame, other: pl.LazyFrame, keys: list[str], on: list[str]) -> pl.LazyFrame:
    """Return the items that a list and its reference have, with the later of the two places."""
    pair = distinct_names(*on, "item")
    common = own.join(other, on=pair, nulls_equal=True, suffix=" of other")
    return common.select(*keys, depth=pl.max_horizontal("place", "place of other"))


def _reference(sides: Sides, k: int | None) -> tuple[list[str], pl.LazyFrame]:
    """Return the rows of the reference up to k: the segments that they are in, user, item, rank; and these segments' names."""
    given = sides.inputs.reference
    if given is None or isinstance(given, str):
        keys = sides.held.rows
        rows = sides.held.ranked(k).filter(sides.inputs.is_reference)
        return keys, rows.select(*distinct_names(*keys, *PAIR, "rank"))
    rows = _ranked(given.drop_nulls(PAIR), sides.inputs, k).select(*PAIR, "rank")
    rows = rows if k is None else rows.filter(k >= RANK)
    return sides.item_keys, sides.with_item_keys(rows)


def _ranked(rows: pl.LazyFrame, inputs: Frames, k: int | None) -> pl.LazyFrame:
    """Return rows with ranks, from scores where there are none; ties then go by item where the gains would decide."""
    dtype, ties = rows.collect_schema().get("rank"), inputs.context.ties
    if dtype is not None:
        return rows.filter(is_rank(RANK, dtype))
    own: Ties = "item" if ties in {"pessimistic", "optimistic", "expected", "last"} else ties
    return scored(rows, ["user"], own).ranked(k, rows.clear)


def _placed(rows: pl.LazyFrame, keys: list[str], schema: pl.Schema) -> pl.LazyFrame:
    """Return the rows with their places in their lists."""
    rows = at_best_rank(rows, keys).sort(*keys, "rank", *by_item(schema, keys))
    return with_places(rows, keys).select(*distinct_names(*keys, "item"), "place")


def _lengths(
    own: pl.LazyFrame, other: pl.LazyFrame, keys: list[str], on: list[str]
) -> pl.LazyFrame:
    """Return the lengths of each list and its reference, by size: `shorter`, `longer`."""
    lists, others = (
        rows.group_by(by).agg(pl.len().cast(pl.Int32).alias("length"))
        for rows, by in ((own, keys), (other, on))
    )
    both = lists.join(others, on=on, how="left", nulls_equal=True, suffix=" of other")
    lengths = [pl.col("length"), pl.col("length of other").fill_null(0)]
    return both.select(*keys, shorter=pl.min_horizontal(lengths), longer=pl.max_horizontal(lengths))


def _with_sums(
    rows: pl.LazyFrame, depth: str, name: str, p: float, deepest: int | None, before: int = 0
) -> pl.LazyFrame:
    """Return rows with F of a depth of theirs, or so many `before` it, from a table of F, which may be null for 0.

    The `deepest` is looked for where it is not known.
    """
    if deepest is not None:
        terms = pl.select(depth=pl.int_range(1, deepest + 1)).select(_term(DEPTH, p).cum_sum())
        sums = pl.concat([pl.Series([0.0]), terms.to_series().alias("")])
        return rows.with_columns(pl.lit(sums).gather(pl.col(depth) - before).alias(name))
    depths = rows.select(depth=pl.int_ranges(1, pl.col(depth).max() + 1)).explode(
        "depth", **AS_EVER
    )
    table = depths.select((DEPTH + before).alias(depth), _term(DEPTH, p).cum_sum().alias(name))
    return rows.join(table, on=depth, how="left")


def _counted(common: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    """Return the common items of each list, and the sums of F over the depths before theirs."""
    before, inside = pl.col("before").fill_null(0.0), pl.col("depth") <= pl.col("shorter")
    return common.group_by(keys).agg(
        common=pl.len(),
        common_in_shorter=inside.sum(),
        before=before.sum(),
        before_in_shorter=pl.when(inside).then(before).otherwise(0.0).sum(),
    )


def _term(place: pl.Expr, p: float) -> pl.Expr:
    """Return p^d / d."""
    return (place.cast(pl.Float64) * math.log(p)).exp() / place
