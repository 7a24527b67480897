"""Facts of the rows of large eager frames, for cheaper plans.

Results do not change: a plan without `ask` gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from recframe.frames.collecting import Ask, stream
from recframe.frames.inputs import Inputs
from recframe.frames.rows.integer_ids import (
    SPARE,
    integer_ids,
    lookup,
    n_numbers_of_codes,
    small_codes,
)
from recframe.frames.rows.integer_keys import (
    HASH,
    SMALL_INTEGERS,
    are_small_integers,
    fits_31_bits,
    joined_as_numbers,
    ranges_in_one_number,
    sorted_as_numbers,
    with_hash,
)
from recframe.frames.rows.joins import beside_one_another, distinct_names
from recframe.frames.rows.positions import heads
from recframe.frames.rows.profiling import (
    are_distinct,
    are_in_order,
    distinct_ids,
    marked_sorted,
    merged,
    places_where_met,
)
from recframe.ranking.judged import PAIR, Judged, Known
from recframe.ranking.relevance import as_number, is_rank, is_relevant_row, rows_of_models

_BLOCK = 2**17
"""Rows compared at a time, which stay in a processor's cache."""
_FAR = 2**38
"""Range of user numbers: times as many segments as there are rows they are no more than Int64 holds."""
RANK, GAIN, NUMBER = pl.col("rank"), pl.col("gain"), pl.col("number")


@dataclass(frozen=True)
class Reads:
    """Row sources of a plan, which decide on the facts."""

    k: int | None
    """Largest cut-off."""
    whole_lists: bool = False
    """Whether lists are read behind the cut-off too."""
    hits: bool = False
    listed: bool = False
    first: bool = False
    """Whether the rows up to the cut-off are read."""
    by_number: bool = False
    """Whether lists may be keyed by a number, which no branch but the hits and the relevant rows has."""
    by_hits: bool = False
    """Whether a list without a hit has the values of an empty one."""


def ask(judged: Judged, reads: Reads | None, collect: Ask) -> Known:
    """Return what is known of the rows that a plan reads; of the users alone where it reads no other."""
    # pairs of two frames meet inside a segment, which takes keys of their own
    if reads is None or (judged.truth is not None and judged.of_rows):
        known = _of_users(judged, collect)
    else:
        known = _of_relevant_rows(judged, reads, collect)
    if reads is None:
        return known
    judged = replace(judged, known=known)
    # an item has one segment, so that segments of items put none into a list a second time
    if reads.listed and not judged.of_rows and "item" not in judged.rows:
        known = _with_listed(judged, None if reads.whole_lists else reads.k, collect)
        judged = replace(judged, known=known)
    if reads.first:
        (rows,) = collect([judged.counted(judged.ranked(reads.k), {"truth", "both"})])
        rows = merged(marked_sorted(rows, "user"), judged.list_keys, collect)
        known = replace(known, first=rows.lazy())
    return known


def models_of(inputs: Inputs) -> pl.DataFrame:
    """Return the models, where one is bound, of an eager frame.

    NOTE: streamed whatever the size, since in memory the whole column would be copied. Lists mostly stand model by model.
    """
    return stream(heads(rows_of_models(inputs), "model").unique())


def ranked_or_relevant(judged: Judged, k: int | None) -> pl.LazyFrame:
    """Return the rows of a judged frame with a rank up to k, and those relevant, without one: user, item, rank, relevant."""
    up_to, relevant = judged.up_to(k), is_relevant_row(judged.inputs).fill_null(value=False)
    rank = pl.when(up_to).then(as_number("rank", judged.schema["rank"]))
    rows = judged.lists.filter(up_to | relevant)
    return rows.select(*PAIR, rank.alias("rank"), relevant=relevant)


def ranked_with_relevance(rows: pl.DataFrame, collect: Ask) -> pl.DataFrame:
    """Return those of such rows with a rank, each item of a list once, relevant if one of its rows is, ranked or not.

    NOTE: to look up all pairs that are relevant takes four times as long.
    """
    best = [RANK.min(), pl.col("relevant").any()]
    return merged(rows, ["user"], collect, best).filter(RANK.is_not_null())


# Users


def _of_users(judged: Judged, collect: Ask) -> Known:
    """Return the distinct users, or the numbers of users of segments that cut rows."""
    if judged.rows:
        return Known(n_users=_n_users_of_segments(judged, collect))
    return Known(users=_distinct_users(collect([judged.users])[0]))


def _distinct_users(rows: pl.DataFrame) -> pl.LazyFrame:
    """Return the distinct users of rows; those of a sorted column by slices of it."""
    users = marked_sorted(rows, "user")["user"]
    if not users.flags["SORTED_ASC"]:
        return distinct_ids(users).to_frame().lazy()
    later = [
        part.filter(part != users.slice(start - 1, len(part)))
        for start in range(1, len(users), _BLOCK)
        for part in [users.slice(start, _BLOCK)]
    ]
    return pl.concat([users.head(1), *later]).to_frame().lazy()


def _n_users_of_segments(judged: Judged, collect: Ask) -> pl.LazyFrame | None:
    """Return n_users of each segment that has any; None where other columns are requested too, or users are in no one frame."""
    columns = {segment.inside for segment in judged.inputs.segments} - {"model"}
    plans = judged.rows_of_users()
    if not columns or columns != {*judged.rows} or plans is None:
        return None
    read = [*judged.of_rows, "user", *(["item"] if judged.inputs.item_keys else [])]
    codes = _segment_codes(judged, collect([plan.select(read) for plan in plans]), collect)
    if codes is None:
        return None
    frames, segments = codes
    numbers = integer_ids([frame["user"] for frame in frames], sum(map(len, frames)))
    highest: list[Any] = [one.max() for one in numbers if len(one)]
    rows = [one.select("code", number=number) for one, number in zip(frames, numbers, strict=True)]
    n_users = n_numbers_of_codes(rows, 1 + max(highest, default=0), len(segments))
    counts = segments.lazy().with_columns(n_users=n_users)
    return counts.filter(pl.col("n_users") > 0).drop("code")


# Relevant rows and hits


def _of_relevant_rows(judged: Judged, reads: Reads, collect: Ask) -> Known:
    """Return what is known of relevant rows, hits and users."""
    by_number = reads.by_number and judged.universe not in {"recs", "both"}
    known = _of_pairs(judged, reads, collect, by_number=by_number)
    if judged.rows:
        codes = _by_codes(replace(judged, known=known), reads, collect) if by_number else None
        n_users = _n_users_of_segments(judged, collect)
        return replace(codes or replace(known, in_order=False), n_users=n_users)
    judged = replace(judged, known=known)
    if not (reads.hits and _is_hashed(judged)):
        return known
    hits = _hits(judged, reads.k, collect)
    in_order = collect([are_in_order(hits, judged.list_keys)])[0].item()
    return replace(known, hits=hits.lazy(), in_order=in_order)


def _of_pairs(judged: Judged, reads: Reads, collect: Ask, *, by_number: bool) -> Known:
    """Return the relevant rows, each item of a list once, and outside of segments the users."""
    pairs, *users = collect([judged.relevant_rows(), *([] if judged.rows else [judged.users])])
    known = Known(users=_distinct_users(users[0]) if users else None)
    if by_number and pairs.schema["user"] not in SMALL_INTEGERS:
        pairs = pairs.with_columns(number=integer_ids([pairs["user"]], _FAR)[0])
        names = heads(pairs, "number", "user").unique("number").lazy()
        known = replace(known, names=names)
    schemas = (judged.schema, pairs.schema)
    are_whole = all(schema[name] in SMALL_INTEGERS for schema in schemas for name in PAIR)
    packs = are_whole and fits_31_bits(pairs, PAIR)
    # whole numbers that do not fit may share a hash with many
    if judged.truth is not None and not are_whole:
        pairs = stream(with_hash(pairs.lazy(), PAIR))
    key = "user" if known.names is None else "number"
    keys, pairs = [*judged.of_rows, key], marked_sorted(pairs, key)
    once = marked_sorted(_each_once(judged, pairs, keys, collect, packs=packs), key)
    in_order = collect([are_in_order(pairs, keys)])[0].item() and len(once) == len(pairs)
    if judged.given_scores is not None:
        known = replace(known, scores=judged.given_scores.with_first_rows(collect, reads.k))
    elif by_number and not judged.rows and not in_order and "rank" in once.columns:
        ranked = _by_rank(once, key, collect)
        in_order = ranked is not None and collect([are_in_order(ranked, keys)])[0].item()
        once = ranked if ranked is not None and in_order else once
    return replace(known, pairs=once.lazy(), packs=packs, in_order=in_order)


def _each_once(
    judged: Judged, pairs: pl.DataFrame, keys: list[str], collect: Ask, *, packs: bool
) -> pl.DataFrame:
    """Return the relevant rows, each item of a list (of the truth: each pair) once, at its best rank, with its highest gain."""
    # each model of a judged frame has the rows of all
    repeats = judged.models is not None and judged.inputs.truth is None
    is_sorted = pairs[keys[-1]].flags["SORTED_ASC"]
    if judged.truth is not None and packs and (repeats or not is_sorted):
        ordered = _in_order(pairs, [*PAIR, "gain"])
        if ordered is not None:
            is_last = [pl.col(name) != pl.col(name).shift(-1) for name in PAIR]
            return collect([ordered.filter(pl.any_horizontal(is_last).fill_null(value=True))])[0]
    values = {"gain": GAIN.max(), "rank": pl.when(is_rank(RANK)).then(RANK).min()}
    others = [name for name in pairs.columns if name not in {*keys, "item"}]
    return merged(pairs, keys, collect, [values.get(name, pl.col(name).first()) for name in others])


def _in_order(rows: pl.DataFrame, keys: list[str]) -> pl.LazyFrame | None:
    """Return some keys of rows, of which the last is the gain, in their order; None where these are no small whole numbers.

    NOTE: lists that stand row by row are summed up in a third of the time of scattered ones, and this sort takes less.
    """
    if not are_small_integers(rows["gain"]):
        return None
    whole = rows.select(*keys[:-1], GAIN.cast(pl.Int64))
    if ranges_in_one_number(whole, keys) is None:
        return None
    return sorted_as_numbers(whole, keys).with_columns(GAIN.cast(rows.schema["gain"]))


def _by_rank(rows: pl.DataFrame, key: str, collect: Ask) -> pl.DataFrame | None:
    """Return list, rank and gain of rows list by list, the best rank first; None where these are no small whole numbers."""
    if not rows.schema["rank"].is_integer():
        return None
    last: Any = rows["rank"].max()
    behind = 1 if last is None else last + 1
    ordered = _in_order(rows.with_columns(RANK.fill_null(behind)), [key, "rank", "gain"])
    if ordered is None:
        return None
    return marked_sorted(collect([ordered.with_columns(pl.when(behind > RANK).then(RANK))])[0], key)


def _is_hashed(judged: Judged) -> bool:
    """Return whether lists meet the relevant rows by the hash of both ids."""
    return judged.truth is not None and HASH in judged.pairs.collect_schema()


def _hits(judged: Judged, k: int | None, collect: Ask) -> pl.DataFrame:
    """Return the hits up to k, each of a list once, at its best rank.

    NOTE: short texts take four fifths of the time of a join that carries them along, long ones to depth 100 a half.
    """
    if judged.context.relevant_from == "list":
        k = None  # hits of a list's own rows are its relevant ones, up to k or not
    if _is_hashed(judged):
        plan, is_up_to = judged.rows_to_meet(k)
        rows, pairs = collect([plan, judged.pairs])
        met = places_where_met(rows, is_up_to, pairs, PAIR)
        own = pairs.select(distinct_names(judged.key, "item", "gain"))[met["other"]]
        hits = beside_one_another([rows.drop(PAIR)[met["row"]], own, met.select("other")])
        # each relevant row is one pair, and has one list of a model
        if not hits.select(*judged.model, "other").is_duplicated().any():
            return marked_sorted(hits.drop("other"), judged.key)
    return collect([judged.hits(k)])[0]


# Rows of the lists


def _with_listed(judged: Judged, k: int | None, collect: Ask) -> Known:
    """Return also whether items repeat in the lists up to k, and of two frames the rows with their relevance."""
    known, keys = judged.known, [*judged.model, judged.key]
    # what a list has that is not relevant is read of whole lists
    k = None if judged.context.relevant_from == "list" else k
    if judged.truth is None:
        up_to = judged.up_to(k)
        plan = judged.lists.filter(up_to | pl.col("relevance").is_not_null())
        plan = plan.select(*keys, "item", rank=pl.when(up_to).then("rank"))
    else:
        plan, up_to = judged.rows_to_meet(k)
        plan = plan.filter(up_to)
    rows = marked_sorted(collect([plan])[0], "user")
    known = replace(known, once=collect([are_distinct(rows, keys)])[0].item())
    if judged.truth is None:
        return known
    (truth,) = collect([judged.truth.select(*PAIR, "relevance")])
    truth = merged(marked_sorted(truth, "user"), ["user"], collect, [pl.col("relevance").max()])
    dtypes = [frame.schema[name] for frame in (rows, truth) for name in PAIR]
    if all(dtype in SMALL_INTEGERS for dtype in dtypes) and fits_31_bits(truth, PAIR):
        listed = joined_as_numbers(rows.lazy(), truth.lazy(), PAIR, "left")
    else:
        listed = rows.lazy().join(truth.lazy(), on=PAIR, how="left")
    return replace(known, listed=listed)


# Segments


def _segment_codes(
    judged: Judged, frames: Sequence[pl.DataFrame], collect: Ask
) -> tuple[list[pl.DataFrame], pl.DataFrame] | None:
    """Return rows with an integer `code` per combination of segments, and the segments' values of each code.

    None for segments of rows and items mixed, or of the item itself, and where there may be too many.
    """
    names, items = judged.rows, judged.inputs.items
    if judged.of_rows == names:
        by_rows = small_codes([frame.select(names) for frame in frames])
        if by_rows is None:
            return None
        codes, segments = by_rows
    elif judged.inputs.inside("items") == names and items is not None:
        (table,) = collect([items.select("item", *names).filter(pl.col("item").is_not_null())])
        null = table.select(names).clear(1)
        others = table.select(names).unique().filter(~pl.all_horizontal(pl.col(names).is_null()))
        segments = pl.concat([null, others]).with_row_index("code")
        table = table.join(segments, on=names, nulls_equal=True).select("item", "code")
        own, *ids = integer_ids([one["item"] for one in (table, *frames)], SPARE * len(table))
        code_of = lookup(table.with_columns(item=own), "item", own.dtype)
        if code_of is None:
            return None
        value = code_of.value("code", 0)
        codes = [one.alias("item").to_frame().select(value).to_series() for one in ids]
    else:
        return None
    rows = [frame.with_columns(code=code) for frame, code in zip(frames, codes, strict=True)]
    return [frame.drop(judged.of_rows) for frame in rows], segments


def _by_codes(judged: Judged, reads: Reads, collect: Ask) -> Known | None:
    """Return the relevant rows and hits of lists that segments cut, keyed by a number; None where segments have no small codes.

    Where a list without a hit has the values of an empty one, its relevant rows are left out.

    NOTE: a user has several times as many lists as there are hits, and most of the time went into lists without one.
    """
    known = judged.known
    codes = _segment_codes(judged, collect([judged.pairs]), collect)
    if codes is None:
        return None
    (pairs,), segments = codes
    if known.names is None:
        pairs = pairs.with_columns(number=integer_ids([pairs["user"]], _FAR)[0])
    pairs = pairs.with_columns(NUMBER * len(segments) + pl.col("code").cast(pl.Int64))

    def names(rows: pl.DataFrame) -> pl.LazyFrame:
        keys = heads(rows.lazy(), "number", "code", "user")
        return keys.join(segments.lazy(), on="code").drop("code")

    known = replace(known, pairs=pairs.lazy(), names=names(pairs))
    hits = _hits(replace(judged, known=known), reads.k, collect)
    if reads.by_hits:
        pairs = pairs.filter(NUMBER.is_in(hits["number"].implode()))
    pairs = pairs.sort("number", maintain_order=True)
    known = replace(known, pairs=pairs.lazy(), names=names(pairs))
    return known if judged.truth is None else replace(known, hits=hits.lazy())
