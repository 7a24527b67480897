"""Facts of the rows of large eager frames, for cheaper plans.

Results do not change: a plan without `ask` gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from recframe.frames.inputs import Frames
from recframe.frames.kinds.kind import Ask, stream
from recframe.frames.rows.integer_ids import (
    SPARE,
    integer_ids,
    lookup,
    n_numbers_of_codes,
    small_codes,
)
from recframe.frames.rows.integer_keys import SMALL_INTEGERS, fits_31_bits, joined_as_numbers
from recframe.frames.rows.joins import heads
from recframe.frames.rows.profiling import (
    are_in_order,
    distinct_ids,
    marked_sorted,
    merged,
)
from recframe.ranking.judged_frame import (
    GAIN,
    PAIR,
    RANK,
    RELEVANCE,
    TIED,
    Judged,
    Known,
    rows_of_models,
)

_FAR = 2**38
"""Range of user numbers: times as many segments as there are rows they are no more than Int64 holds."""
NUMBER = pl.col("number")


@dataclass(frozen=True)
class Reads:
    """Row sources of a plan, which decide on the facts."""

    k: int | None
    """Largest cut-off."""
    whole_lists: bool = False
    """Whether lists are read behind the cut-off too."""
    listed: bool = False
    first: bool = False
    """Whether the rows up to the cut-off are read."""
    by_number: bool = False
    """Whether lists may be keyed by a number, which no branch but the hits and the relevant rows has."""
    by_hits: bool = False
    """Whether a list without a hit has the values of an empty one."""


def ask(judged: Judged, reads: Reads | None, collect: Ask) -> Known:
    """Return what is known of the rows that a plan reads; of the users alone where it reads no other.

    NOTE: much of it runs on one thread, so that the users are collected in another.
    """
    with ThreadPoolExecutor(1) as other:
        of_users = other.submit(_of_users, judged, collect)
        # pairs of two frames meet inside a segment, which takes keys of their own
        meet = judged.truth is None or not judged.of_rows
        known = _with_pairs(judged, reads, collect, other) if reads and meet else Known()
        known = replace(known, **of_users.result())
    if reads is None:
        return known
    # an item has one segment, so that segments of items put none into a list a second time
    if reads.listed and not judged.of_rows and "item" not in judged.rows:
        listed = _listed(judged, None if reads.whole_lists else reads.k, collect)
        known = replace(known, listed=listed)
    if reads.first:
        judged = replace(judged, known=known)
        (rows,) = collect([judged.counted(judged.ranked(reads.k), {"truth", "both"})])
        known = replace(known, first=merged(rows, judged.list_keys, collect).lazy())
    return known


def models_of(inputs: Frames) -> pl.DataFrame:
    """Return the models, where one is bound, of an eager frame.

    NOTE: streamed whatever the size, since in memory the whole column would be copied. Lists mostly stand model by model.
    """
    return stream(heads(rows_of_models(inputs), "model").unique())


# Users


def _of_users(judged: Judged, collect: Ask) -> dict[str, Any]:
    """Return the distinct users of lists that no segment cuts, or the number of users of each segment."""
    if judged.rows:
        return {"n_users": _n_users_of_segments(judged, collect)}
    return {"users": _distinct_users(collect([judged.users])[0])}


def _distinct_users(rows: pl.DataFrame) -> pl.LazyFrame:
    """Return the distinct users of rows; those of a sorted column in groups, which then are slices of it."""
    users = marked_sorted(rows.select("user"))
    if not users["user"].flags["SORTED_ASC"]:
        return distinct_ids(users["user"]).to_frame().lazy()
    return stream(users.lazy().group_by("user").agg()).lazy()


def _n_users_of_segments(judged: Judged, collect: Ask) -> pl.LazyFrame | None:
    """Return n_users of each segment that has any; None where other columns are requested too, or users are in no one frame."""
    columns = {segment.inside for segment in judged.inputs.segments} - {"model"}
    sources = judged.sources_of_users()
    is_one = len(sources) == 1 and judged.universe != "all"
    if not (columns and columns == {*judged.rows} and is_one):
        return None
    read = [*judged.of_rows, "user", *["item"] * bool(judged.inputs.item_keys)]
    coded = _with_codes(judged, collect([sources[0].select(read)])[0], collect)
    if coded is None:
        return None
    rows, segments = coded
    (number,) = integer_ids([rows["user"]], len(rows))
    highest: Any = number.max()
    rows = rows.select("code", number=number)
    n_users = n_numbers_of_codes(rows, 1 + (highest or 0), len(segments))
    counts = segments.lazy().with_columns(n_users=n_users)
    return counts.filter(pl.col("n_users") > 0).drop("code")


# Relevant rows


def _with_pairs(judged: Judged, reads: Reads, collect: Ask, other: ThreadPoolExecutor) -> Known:
    """Return what is known with the relevant rows, each item of a list once, and the first rows of lists with scores.

    NOTE: their order is looked at in the other thread, while one looks for items that lists repeat.
    """
    known, scores, keys = judged.known, judged.scores, [*judged.of_rows, "user"]
    (pairs,) = collect([judged.relevant_rows()])
    packs, pairs = _packs(judged.schema, pairs), marked_sorted(pairs)
    are_ranked = other.submit(collect, [are_in_order(pairs, keys)])
    values = [pl.col("^rank$").min(), GAIN.max()]
    once = merged(pairs, keys, collect, values)
    in_order = len(once) == len(pairs) and are_ranked.result()[0].item()
    if scores is not None:
        scores = scores.with_first_rows(collect, reads.k)
    known = replace(known, pairs=once.lazy(), packs=packs, in_order=in_order, scores=scores)
    if not judged.rows:
        return known
    by_number = reads.by_number and judged.universe not in {"recs", "both"}
    codes = _by_codes(replace(judged, known=known), reads, collect) if by_number else None
    return codes or replace(known, in_order=False)


def _packs(schema: Mapping[str, pl.DataType], pairs: pl.DataFrame) -> bool:
    """Return whether both ids of a pair fit into one 64-bit integer, beside those of a frame of some schema."""
    dtypes = {one[name] for one in (schema, pairs.schema) for name in PAIR}
    return dtypes <= SMALL_INTEGERS and fits_31_bits(pairs, PAIR)


def _listed(judged: Judged, k: int | None, collect: Ask) -> pl.LazyFrame:
    """Return the rows of the lists up to k, each item once, with the highest relevance that the truth has of it."""
    keys = [*judged.model, "user"]
    # what a list has that is not relevant is read of whole lists
    k = None if judged.context.relevant_from == "list" else k
    if judged.truth is None:
        (rows,) = collect([judged.rows_with_relevance(k)])
        return merged(rows, keys, collect, judged.values_of_repeated()).lazy()
    truth = judged.truth.select(*PAIR, "relevance")
    rows, given = collect([judged.rows_to_meet(k), truth])
    best = [RANK.min(), TIED.max()]
    rows = merged(rows, keys, collect, best)
    given = merged(given, ["user"], collect, [RELEVANCE.max()])
    if _packs(rows.schema, given):
        return joined_as_numbers(rows.lazy(), given.lazy(), PAIR, "left")
    return rows.lazy().join(given.lazy(), on=PAIR, how="left")


# Segments


def _with_codes(
    judged: Judged, rows: pl.DataFrame, collect: Ask
) -> tuple[pl.DataFrame, pl.DataFrame] | None:
    """Return rows with an integer `code` per combination of segments, and the segments' values of each code.

    None for segments of rows and items mixed, or of the item itself, and where there may be too many.
    """
    names, items = judged.rows, judged.inputs.items
    if judged.of_rows == names:
        by_rows = small_codes([rows.select(names)])
        if by_rows is None:
            return None
        (code,), segments = by_rows
        return rows.drop(names).with_columns(code=code), segments
    if items is None or judged.inputs.inside("items") != names:
        return None
    (table,) = collect([items.select("item", *names).drop_nulls("item")])
    # the first are null, as those of an item that the table does not have
    values = table.select(names)
    segments = (
        pl.concat([values.clear(1), values]).unique(maintain_order=True).with_row_index("code")
    )
    table = table.join(segments, on=names, nulls_equal=True).select("item", "code")
    own, number = integer_ids([table["item"], rows["item"]], SPARE * len(table))
    code_of = lookup(table.with_columns(item=own), "item", own.dtype)
    if code_of is None:
        return None
    code = number.alias("item").to_frame().select(code_of.value("code", 0)).to_series()
    return rows.with_columns(code=code), segments


def _by_codes(judged: Judged, reads: Reads, collect: Ask) -> Known | None:
    """Return the relevant rows and hits of lists that segments cut, keyed by a number; None where segments have no small codes.

    Where a list without a hit has the values of an empty one, its relevant rows are left out.

    NOTE: a user has several times as many lists as there are hits, and most of the time went into lists without one.
    """
    coded = _with_codes(judged, collect([judged.pairs])[0], collect)
    if coded is None:
        return None
    pairs, segments = coded
    (user,) = integer_ids([pairs["user"]], _FAR)
    pairs = pairs.with_columns(number=user * len(segments) + pl.col("code").cast(pl.Int64))

    def named(rows: pl.DataFrame) -> Known:
        keys = heads(rows.lazy(), "number", "code", "user")
        names = keys.join(segments.lazy(), on="code").drop("code")
        return replace(judged.known, pairs=rows.lazy(), names=names)

    # hits of a list's own rows are its relevant ones, up to k or not
    k = None if judged.context.relevant_from == "list" else reads.k
    (hits,) = collect([replace(judged, known=named(pairs)).hits(k)])
    if reads.by_hits:
        pairs = pairs.filter(NUMBER.is_in(hits["number"].implode()))
    known = named(pairs.sort("number", maintain_order=True))
    return known if judged.truth is None else replace(known, hits=hits.lazy())
