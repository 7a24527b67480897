"""Precomputation for large eager frames: statistics that allow a cheaper plan.

Results do not change: a plan without `precompute` gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from recframe.frames.collecting import Ask, stream
from recframe.frames.inputs import Inputs
from recframe.frames.rows.distinct_counts import n_numbers_of_codes
from recframe.frames.rows.integer_ids import integer_ids, small_codes
from recframe.frames.rows.integer_keys import (
    HASH,
    SMALL_INTEGERS,
    fits_31_bits,
    fits_64_bits,
    joined_as_numbers,
    ranges_in_one_number,
    sorted_as_numbers,
    with_hash,
)
from recframe.frames.rows.joins import beside_one_another, distinct_names
from recframe.frames.rows.lookups import SPARE, lookup
from recframe.frames.rows.profiling import (
    are_distinct,
    are_in_order,
    distinct_ids,
    heads,
    marked_sorted,
    may_be_among,
    merged,
    places_where_met,
)
from recframe.ranking.judged_frame import PAIR, Judged, Precomputed
from recframe.ranking.relevance import as_number, is_rank, is_relevant_row, rows_of_models

_BLOCK = 2**17
"""Rows compared at a time, which stay in a processor's cache."""
_FAR = 2**38
"""Range of user numbers: times as many segments as there are rows they are no more than Int64 holds."""


@dataclass(frozen=True)
class Reads:
    """Row sources of a plan, which decide on its precomputation."""

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


def precompute(judged: Judged, reads: Reads, ask: Ask) -> Judged:
    """Return a judgement with precomputed properties for a plan."""
    depth = None if reads.whole_lists else reads.k
    judged = _with_relevant_rows(judged, reads, ask)
    if reads.hits and not judged.rows and _meets_by_hash(judged):
        hits = _hits(judged, reads.k, ask)
        order = ask([are_in_order(hits, judged.list_keys)])[0].item()
        judged = _with(judged, hits=hits.lazy(), in_order=order)
    # an item has one segment, so that segments of items put none into a list a second time
    if reads.listed and not _uncut(judged).rows:
        judged = _with_listed(judged, depth, ask)
    if not reads.first:
        return judged
    (rows,) = ask([judged.counted(judged.ranked(reads.k), {"truth", "both"})])
    return _with(judged, first=merged(marked_sorted(rows, "user"), judged.list_keys, ask).lazy())


def with_users(judged: Judged, ask: Ask) -> Judged:
    """Return a judgement with precomputed users only."""
    if judged.rows:
        return _with(judged, n_of_segments=_n_users_of_segments(judged, ask))
    return _with(judged, crowd=_crowd(ask([judged.users])[0]))


def models_of(inputs: Inputs) -> pl.DataFrame:
    """Return the models, where one is bound, of an eager frame.

    NOTE: streamed whatever the size, since in memory the whole column would be copied. Lists mostly stand model by model.
    """
    return stream(heads(rows_of_models(inputs), "model").unique())


def ranked_or_relevant(judged: Judged, k: int | None) -> pl.LazyFrame:
    """Return the rows of a judged frame with a rank up to k, and those relevant, without one: user, item, rank, relevant."""
    up_to, relevant = _up_to(judged, k), is_relevant_row(judged.inputs).fill_null(value=False)
    rank = pl.when(up_to).then(as_number("rank", judged.schema["rank"]))
    rows = judged.lists.filter(up_to | relevant)
    return rows.select(*PAIR, rank.alias("rank"), relevant=relevant)


def ranked_with_relevance(rows: pl.DataFrame, ask: Ask) -> pl.DataFrame:
    """Return those of such rows with a rank, each item of a list once, relevant if one of its rows is, ranked or not.

    NOTE: to look up all pairs that are relevant takes four times as long.
    """
    best = [pl.col("rank").min(), pl.col("relevant").any()]
    return merged(rows, ["user"], ask, best).filter(pl.col("rank").is_not_null())


def _with(judged: Judged, **properties: Any) -> Judged:
    """Return a judgement with more precomputed properties."""
    return replace(judged, precomputed=replace(judged.precomputed, **properties))


def _uncut(judged: Judged) -> Judged:
    """Return a judgement of the lists without item segments."""
    inputs = judged.inputs
    others = tuple(segment for segment in inputs.segments if segment.at != "items")
    return replace(judged, inputs=replace(inputs, segments=others))


def _up_to(judged: Judged, k: int | None) -> pl.Expr:
    """Return whether a list row has a rank up to k."""
    ranked = is_rank(pl.col("rank"), judged.schema["rank"])
    return ranked if k is None else ranked & (pl.col("rank") <= k)


def _crowd(rows: pl.DataFrame) -> pl.LazyFrame:
    """Return the distinct users of rows."""
    users = marked_sorted(rows, "user")
    if users["user"].flags["SORTED_ASC"]:
        ids = users["user"]
        later = [
            part.filter(part != ids.slice(start - 1, len(part)))
            for start in range(1, len(ids), _BLOCK)
            for part in [ids.slice(start, _BLOCK)]
        ]
        return pl.concat([ids.head(1), *later]).to_frame().lazy()
    return distinct_ids(users["user"]).to_frame().lazy()


# Relevant rows


def _with_relevant_rows(judged: Judged, reads: Reads, ask: Ask) -> Judged:
    """Return a judgement with its relevant rows and users, in segments too."""
    if judged.truth is not None and judged.of_rows:
        # pairs meet inside a segment, which takes keys of their own
        return with_users(judged, ask)
    by_number = reads.by_number and judged.universe not in {"recs", "both"}
    if not judged.rows:
        return _with_distinct_pairs(judged, ask, reads.k, by_number=by_number, by_rank=by_number)
    of_items = judged.inputs.inside("items") == judged.rows and judged.scores is None
    uncut = _uncut(judged) if of_items else judged
    whole = _with_distinct_pairs(uncut, ask, reads.k, by_number=by_number)
    found = _cut_by_codes(judged, whole, reads, ask) if by_number else None
    if found is None and of_items:
        pairs = whole.relevant_rows()
        pairs = judged.in_segments(pairs) if judged.truth is None else pairs
        found = replace(judged, precomputed=replace(whole.precomputed, pairs=pairs, in_order=False))
    return _with(found or whole, n_of_segments=_n_users_of_segments(judged, ask))


def _with_distinct_pairs(
    judged: Judged, ask: Ask, k: int | None, *, by_number: bool, by_rank: bool = False
) -> Judged:
    """Return a judgement with its relevant rows, each item of a list once, and outside of segments with its users.

    With `by_rank` those of a judged frame may be put in the order of lists and ranks, and then have no items.
    """
    pairs, *users = ask([judged.relevant_rows(), *([] if judged.rows else [judged.users])])
    if by_number and pairs.schema["user"] not in SMALL_INTEGERS:
        pairs = pairs.with_columns(number=integer_ids([pairs["user"]], _FAR)[0])
        judged = _with(judged, names=heads(pairs, "number", "user").unique("number").lazy())
    whole = all(
        frame[name] in SMALL_INTEGERS for frame in (judged.schema, pairs.schema) for name in PAIR
    )
    packs = whole and fits_31_bits(pairs, PAIR)
    keys = judged.list_keys if judged.truth is None else [judged.key]
    # whole numbers that do not fit may share a hash with many
    if judged.truth is not None and not whole:
        pairs = stream(with_hash(pairs.lazy(), PAIR))
    pairs = marked_sorted(pairs, judged.key)
    once = marked_sorted(_each_once(judged, pairs, keys, ask, packs=packs), judged.key)
    in_order = ask([are_in_order(pairs, keys)])[0].item() and len(once) == len(pairs)
    if judged.scores is not None:
        scores = judged.scores.settled(ask, k, distinct=len(once) == len(pairs))
        judged = replace(judged, scores=scores)
        in_order = in_order or (scores.gains_at_hand(k) and not judged.rows)
    judged = judged if judged.rows else _with(judged, crowd=_crowd(users[0]))
    narrow = fits_64_bits(once[judged.key], once["gain"])
    if by_rank and narrow and keys == [judged.key] and "rank" in once.columns and not in_order:
        ranked = _by_rank(once, judged.key, ask)
        in_order = ranked is not None and ask([are_in_order(ranked, keys)])[0].item()
        once = ranked if ranked is not None and in_order else once
    return _with(judged, pairs=once.lazy(), packs=packs, in_order=in_order, narrow=narrow)


def _each_once(
    judged: Judged, pairs: pl.DataFrame, keys: list[str], ask: Ask, *, packs: bool
) -> pl.DataFrame:
    """Return the relevant rows, each item of a list (of the truth: each pair) once, at its best rank, with its highest gain."""
    # each model of a judged frame has the rows of all
    repeats = judged.models is not None and judged.inputs.truth is None
    is_sorted = pairs[judged.key].flags["SORTED_ASC"]
    if judged.truth is not None and packs and (repeats or not is_sorted):
        ordered = _in_order(pairs, [*PAIR, "gain"])
        if ordered is not None:
            is_last = [pl.col(name) != pl.col(name).shift(-1) for name in PAIR]
            return ask([ordered.filter(pl.any_horizontal(is_last).fill_null(value=True))])[0]
    rank = pl.col("rank")
    values = {name: pl.col(name).first() for name in pairs.columns if name not in {*keys, "item"}}
    values |= {name: pl.col(name).max() for name in {"gain", "tied"} & values.keys()}
    if "rank" in values:
        values["rank"] = pl.when(is_rank(rank, pairs.schema["rank"])).then(rank).min()
    return merged(pairs, keys, ask, [*values.values()])


def _in_order(rows: pl.DataFrame, keys: list[str]) -> pl.LazyFrame | None:
    """Return some keys of rows, of which the last is the gain, in their order; None where these are no small whole numbers.

    NOTE: lists that stand row by row are summed up in a third of the time of scattered ones, and this sort takes less.
    """
    if not fits_64_bits(rows[keys[0]], rows["gain"]):
        return None
    whole = rows.select(*keys[:-1], pl.col("gain").cast(pl.Int64))
    if ranges_in_one_number(whole, keys) is None:
        return None
    gain = pl.col("gain").cast(rows.schema["gain"])
    return sorted_as_numbers(whole, keys).with_columns(gain)


def _by_rank(rows: pl.DataFrame, key: str, ask: Ask) -> pl.DataFrame | None:
    """Return list, rank and gain of rows list by list, the best rank first; None where these are no small whole numbers."""
    if not rows.schema["rank"].is_integer():
        return None
    rank = pl.col("rank")
    last: Any = rows["rank"].max()
    behind = 1 if last is None else last + 1
    ordered = _in_order(rows.with_columns(rank.fill_null(behind)), [key, "rank", "gain"])
    if ordered is None:
        return None
    ranked = ordered.with_columns(pl.when(rank < behind).then(rank))
    return marked_sorted(ask([ranked])[0], key)


# Hits


def _meets_by_hash(judged: Judged) -> bool:
    """Return whether lists meet precomputed relevant rows by the hash of both ids."""
    pairs, scores = judged.precomputed.pairs, judged.scores
    if judged.truth is None or pairs is None or (scores is not None and scores.gained):
        return False
    return HASH in pairs.collect_schema()


def _hits(judged: Judged, k: int | None, ask: Ask) -> pl.DataFrame:
    """Return the hits up to k, each of a list once, at its best rank.

    NOTE: short texts take four fifths of the time of a join that carries them along, long ones to depth 100 a half.
    """
    if judged.context.relevant_from == "list":
        k = None  # hits of a list's own rows are its relevant ones, up to k or not
    if not _meets_by_hash(judged):
        return ask([judged.hits(k)])[0]
    plan, is_up_to = judged.rows_to_meet(k)
    rows, pairs = ask([plan, judged.relevant_rows()])
    met = places_where_met(rows, is_up_to, pairs, PAIR)
    hits = beside_one_another(
        [
            rows.drop(PAIR)[met["row"]],
            pairs.select(distinct_names(judged.key, "item", "gain"))[met["other"]],
            met.select("other"),
        ]
    )
    # each relevant row is one pair, and has one list of a model
    hits = _at_best_rank(hits, [*judged.model, "other"], ask).drop("other")
    return marked_sorted(hits, judged.key)


def _at_best_rank(hits: pl.DataFrame, keys: list[str], ask: Ask) -> pl.DataFrame:
    """Return hits, those of the same keys as one at their best rank."""
    if hits.select(keys).n_unique() == len(hits):
        return hits
    best = {"rank": pl.col("rank").min(), "tied": pl.col("tied").max()}
    columns = [best.get(name, pl.col(name).first()) for name in hits.columns if name not in keys]
    return ask([hits.lazy().group_by(keys).agg(columns)])[0]


# Rows of the lists


def _with_listed(judged: Judged, k: int | None, ask: Ask) -> Judged:
    """Return a judgement that knows whether items repeat in its lists up to k, and of two frames with the rows' relevance."""
    whole = _uncut(judged)
    # what a list has that is not relevant is read of whole lists
    k = None if judged.context.relevant_from == "list" else k
    if judged.truth is None:
        up_to = _up_to(judged, k)
        rows = judged.lists.filter(up_to | pl.col("relevance").is_not_null())
        plan = rows.select(*whole.list_keys, "item", rank=pl.when(up_to).then("rank"))
    else:
        plan, up_to = whole.rows_to_meet(k)
        plan = plan.filter(up_to)
    found = marked_sorted(ask([plan])[0], "user")
    judged = _with(judged, once=ask([are_distinct(found, whole.list_keys)])[0].item())
    if judged.truth is None:
        return judged
    (truth,) = ask([judged.truth.select(*PAIR, "relevance")])
    truth = merged(marked_sorted(truth, "user"), ["user"], ask, [pl.col("relevance").max()])
    dtypes = [frame.schema[name] for frame in (found, truth) for name in PAIR]
    if all(dtype in SMALL_INTEGERS for dtype in dtypes) and fits_31_bits(truth, PAIR):
        return _with(judged, listed=joined_as_numbers(found.lazy(), truth.lazy(), PAIR, "left"))
    return _with(judged, listed=found.lazy().join(truth.lazy(), on=PAIR, how="left"))


# Segments


def _segment_codes(
    judged: Judged, frames: Sequence[pl.DataFrame], ask: Ask
) -> tuple[list[pl.DataFrame], pl.DataFrame] | None:
    """Return rows with an integer `code` per combination of segments, and the segments' values of each code.

    None for segments of rows and items mixed, or of the item itself, and where there may be too many.
    """
    names, items = judged.rows, judged.inputs.items
    if judged.of_rows == names:
        found = small_codes([frame.select(names) for frame in frames])
        if found is None:
            return None
        codes, segments = found
        return [
            one.drop(names).with_columns(code=code) for one, code in zip(frames, codes, strict=True)
        ], segments
    if judged.inputs.inside("items") != names or items is None:
        return None
    (table,) = ask([items.select("item", *names).filter(pl.col("item").is_not_null())])
    null = table.select(names).clear(1)
    others = table.select(names).unique().filter(~pl.all_horizontal(pl.col(names).is_null()))
    segments = pl.concat([null, others]).with_row_index("code")
    table = table.join(segments, on=names, nulls_equal=True).select("item", "code")
    own, *ids = integer_ids([one["item"] for one in (table, *frames)], SPARE * len(table))
    codes_of = lookup(table.with_columns(item=own), "item", own.dtype)
    if codes_of is None:
        return None
    return [
        one.with_columns(
            code=number.alias("item").to_frame().select(codes_of.value("code", 0)).to_series()
        )
        for one, number in zip(frames, ids, strict=True)
    ], segments


def _n_users_of_segments(judged: Judged, ask: Ask) -> pl.LazyFrame | None:
    """Return n_users of each segment that has any; None where other columns are requested too, or users are in no one frame."""
    columns = {segment.inside for segment in judged.inputs.segments} - {"model"}
    plans = judged.rows_of_users()
    if not columns or columns != {*judged.rows} or plans is None:
        return None
    read = [*judged.of_rows, "user", *(["item"] if judged.inputs.item_keys else [])]
    codes = _segment_codes(judged, ask([plan.select(read) for plan in plans]), ask)
    if codes is None:
        return None
    frames, segments = codes
    numbers = integer_ids([frame["user"] for frame in frames], sum(map(len, frames)))
    highest: list[Any] = [one.max() for one in numbers if len(one)]
    rows = [one.select("code", number=number) for one, number in zip(frames, numbers, strict=True)]
    counts = segments.lazy().with_columns(
        n_users=n_numbers_of_codes(rows, 1 + max(highest, default=0), len(segments))
    )
    return counts.filter(pl.col("n_users") > 0).drop("code")


def _cut_by_codes(judged: Judged, whole: Judged, reads: Reads, ask: Ask) -> Judged | None:
    """Return a judgement of lists that segments cut, keyed by one number; None where the segments have no small codes.

    `whole` has the relevant rows of the lists before items cut them. Where a list without a hit has the values of an empty
    one, its relevant rows are left out.

    NOTE: a user has several times as many lists as there are hits, and most of the time went into lists without one.
    """
    codes = _segment_codes(judged, ask([whole.relevant_rows()]), ask)
    if codes is None:
        return None
    (pairs,), segments = codes
    if whole.key != "number":
        pairs = pairs.with_columns(number=integer_ids([pairs["user"]], _FAR)[0])
    pairs = pairs.with_columns(pl.col("number") * len(segments) + pl.col("code").cast(pl.Int64))
    names = heads(pairs.lazy(), "number", "code", "user").join(segments.lazy(), on="code")
    packs = whole.precomputed.packs
    properties = Precomputed(pairs=pairs.lazy(), packs=packs, names=names.drop("code"))
    hits = _hits(replace(judged, precomputed=properties), reads.k, ask)
    if reads.by_hits:
        pairs = pairs.filter(may_be_among(pairs["number"], hits["number"]))
    pairs = pairs.sort("number", maintain_order=True)
    names = heads(pairs.lazy(), "number", "code", "user").join(segments.lazy(), on="code")
    properties = Precomputed(
        pairs=pairs.lazy(),
        names=names.drop("code"),
        hits=None if judged.truth is None else hits.lazy(),
        in_order=whole.precomputed.in_order and judged.truth is None,
        narrow=fits_64_bits(pairs["number"], pairs["gain"]),
    )
    return replace(judged, precomputed=properties)
