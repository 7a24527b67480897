"""Precomputation for large eager frames: statistics that allow a cheaper plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from recframe.frames.collecting import Ask, stream
from recframe.frames.inputs import Inputs
from recframe.frames.rows.integer_keys import (
    SMALL_INTEGERS,
    each_once,
    fits_31_bits,
    fits_64_bits,
    with_hash,
)
from recframe.frames.rows.profiling import (
    are_distinct,
    are_in_order,
    distinct_ids,
    each_item_once,
    heads,
    marked_sorted,
    merged,
    numbered,
    numbered_with_hash,
)
from recframe.ranking.judged_frame import PAIR, Judged
from recframe.ranking.precomputed import Known
from recframe.ranking.relevance import as_number, is_rank, is_relevant_row, rows_of_models
from recframe.ranking.segment_codes import coding, cut_by_codes, n_users_of_codes
from recframe.ranking.ties_of_lists import effective_up_to


def models_of(inputs: Inputs) -> pl.DataFrame:
    """Return the models, where one is bound, of an eager frame.

    NOTE: streamed whatever the size, since in memory the whole column would be copied. Lists mostly stand model by model.
    """
    return stream(heads(rows_of_models(inputs), "model").unique())


def with_users(judged: Judged, ask: Ask) -> Judged:
    """Return a judgement with precomputed users only."""
    if judged.rows:
        return replace(
            judged, known=replace(judged.known, n_of_segments=n_users_of_codes(judged, ask))
        )
    crowd, n_users = _crowd(judged, ask([judged.users]), ask)
    return replace(judged, known=replace(judged.known, n_users=n_users, crowd=crowd))


def with_first(judged: Judged, ask: Ask, k: int | None) -> Judged:
    """Return a judgement with precomputed top-k rows, each list item once."""
    (rows,) = ask([judged.counted(judged.ranked(k), {"truth", "both"})])
    first = each_item_once(marked_sorted(rows, "user"), judged.list_keys, ask).lazy()
    return replace(judged, known=replace(judged.known, first=first))


def with_listed(judged: Judged, ask: Ask, k: int | None) -> Judged:
    """Return a judgement whose rows of the lists, up to k, were asked whether an item repeats."""
    # an item has one segment, so that segments of items put none into a list a second time
    whole = _uncut(judged)
    if whole.rows:
        return judged
    return replace(judged, known=_known_of_lists(whole, ask, k))


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


def _up_to(judged: Judged, k: int | None) -> pl.Expr:
    """Return whether a list row has a rank up to k."""
    ranked = is_rank(pl.col("rank"), judged.schema["rank"])
    return ranked if k is None else ranked & (pl.col("rank") <= k)


def _known_of_lists(judged: Judged, ask: Ask, k: int | None) -> Known:
    # what a list has that is not relevant is read of whole lists
    whole = judged.context.relevant_from == "list"
    rows, keys = judged.ranked(None if whole else k), judged.list_keys
    if judged.truth is None:
        up_to = _up_to(judged, k)
        rows = judged.lists.filter(up_to | pl.col("relevance").is_not_null())
        rows = rows.select(*keys, "item", rank=pl.when(up_to).then("rank"))
    (found,) = ask([rows])
    found = marked_sorted(found, "user")
    known = replace(judged.known, once=ask([are_distinct(found, keys)])[0].item())
    if judged.truth is not None:
        (truth,) = ask([judged.truth.select(*PAIR, "relevance")])
        graded = merged(marked_sorted(truth, "user"), ["user"], ask, [pl.col("relevance").max()])
        known = replace(known, graded=graded.lazy(), packs_graded=_packs(judged, graded))
    return known


def settled(
    judged: Judged, ask: Ask, k: int | None, *, by_number: bool, by_hits: bool = False
) -> Judged:
    """Return a judgement with precomputed properties for a plan up to k.

    `by_number` allows lists to be told apart by a number in place of their user, which no branch but the hits and the
    relevant rows has; `by_hits` says that a list without a hit has the values of an empty one.
    """
    if judged.truth is not None and judged.of_rows:
        # pairs meet inside a segment, which takes keys of their own
        return with_users(judged, ask)
    by_number = by_number and judged.universe not in {"recs", "both"}
    if not judged.rows:
        return _settled(judged, ask, k, by_number=by_number)
    found = _in_segments(judged, ask, k, by_number=by_number, by_hits=by_hits)
    counts = n_users_of_codes(judged, ask)
    return replace(found, known=replace(found.known, n_of_segments=counts))


def _uncut(judged: Judged) -> Judged:
    """Return a judgement of the lists without item segments."""
    inputs = judged.inputs
    others = tuple(one for one in inputs.segments if one.owner != "items")
    return replace(judged, inputs=replace(inputs, segments=others))


def _in_segments(
    judged: Judged, ask: Ask, k: int | None, *, by_number: bool, by_hits: bool
) -> Judged:
    """Return a judgement of segmented lists, from the relevant rows of the whole lists."""
    of_items = judged.inputs.inside("items") == judged.rows and judged.scores is None
    whole = _settled(_uncut(judged) if of_items else judged, ask, k, by_number=by_number)
    coded = coding(judged, ask) if by_number else None
    cut = coded and cut_by_codes(judged, whole, coded, ask, k, by_hits=by_hits)
    if cut is not None or not of_items:
        return cut or whole
    pairs = whole.relevant_rows()
    pairs = judged.in_segments(pairs) if judged.truth is None else pairs
    return replace(judged, known=replace(whole.known, pairs=pairs, in_order=False))


def _settled(judged: Judged, ask: Ask, k: int | None, *, by_number: bool) -> Judged:
    # by segment, users are counted on a road of their own
    pairs, *users = ask([judged.relevant_rows(), *([] if judged.rows else [judged.users])])
    if by_number:
        judged, pairs = _with_numbers(judged, pairs, users)
    keys = judged.list_keys if judged.truth is None else [judged.key]
    packs = judged.truth is not None and _packs(judged, pairs)
    if judged.truth is not None and not packs:
        pairs = stream(with_hash(pairs.lazy(), PAIR))
    pairs = marked_sorted(pairs, judged.key)
    once = _each_once(judged, pairs, keys, ask)
    stands = ask([are_in_order(pairs, keys)])[0].item()
    crowd, n_users = _crowd(judged, users, ask)
    distinct = len(once) == len(pairs)
    scores = judged.scores and judged.scores.settled(ask, k, distinct=distinct)
    known = Known(
        pairs=once.lazy(),
        distinct=True,
        in_order=(stands and distinct)
        or (scores is not None and scores.gains_at_hand(k) and not judged.rows),
        packs=packs,
        narrow=fits_64_bits(once[judged.key], once["gain"]),
        n_users=n_users,
        crowd=crowd,
        names=judged.known.names,
    )
    return replace(judged, scores=scores, known=known)


def with_ranks(judged: Judged, ask: Ask, k: int | None) -> Judged:
    """Return a judgement with precomputed effective ranks up to k, under the tie policy."""
    inputs = judged.inputs
    if not inputs.tells_ranks_apart or judged.rows:
        return judged
    found = effective_up_to(k, judged.truth, inputs, ask)
    return replace(judged, lists=ask([judged.lists if found is None else found])[0].lazy())


def _with_numbers(
    judged: Judged, pairs: pl.DataFrame, users: Sequence[pl.DataFrame]
) -> tuple[Judged, pl.DataFrame]:
    """Return the relevant rows with a number for each list of a model, where its user is no whole number."""
    # a frame of what is relevant alone names each user whom the truth has
    are_all = judged.universe == "truth" and [len(pairs)] == [len(one) for one in users]
    if pairs.schema["user"] in SMALL_INTEGERS:
        return judged, pairs
    pairs = numbered(pairs) if judged.truth is None else numbered_with_hash(pairs)
    names = heads(pairs, "number", "user").unique("number")
    known = Known(names=names.lazy())
    if are_all:
        known = replace(known, crowd=names.lazy().select("user"), n_users=len(names))
    return replace(judged, known=known), pairs


def _each_once(judged: Judged, pairs: pl.DataFrame, keys: list[str], ask: Ask) -> pl.DataFrame:
    """Return the relevant rows, each item of a list (of the truth: each pair) once, at its best rank, with its highest gain."""
    if judged.models is not None and judged.inputs.truth is None and judged.key == "user":
        # each model has the rows of all
        dtypes = {name: pairs.schema[name] for name in PAIR}
        return marked_sorted(ask([each_once(pairs.lazy(), dtypes, "gain")])[0], "user")
    rank = pl.col("rank")
    values = {name: pl.col(name).first() for name in pairs.columns if name not in {*keys, "item"}}
    values |= {name: pl.col(name).max() for name in {"gain", "tied"} & values.keys()}
    if "rank" in values:
        values["rank"] = pl.when(is_rank(rank, pairs.schema["rank"])).then(rank).min()
    return marked_sorted(merged(pairs, keys, ask, [*values.values()]), judged.key)


def _crowd(
    judged: Judged, found: Sequence[pl.DataFrame], ask: Ask
) -> tuple[pl.LazyFrame | None, int | None]:
    """Return the distinct users and their number; nothing where users were not requested."""
    if judged.known.crowd is not None or not found:
        return judged.known.crowd, judged.known.n_users
    users = marked_sorted(found[0], "user")
    if users["user"].flags["SORTED_ASC"]:
        (n_users,) = ask([users.lazy().select(pl.col("user").n_unique())])
        return heads(users.lazy()), n_users.item()
    once = distinct_ids(users["user"]).to_frame()
    return once.lazy(), len(once)


def _packs(judged: Judged, pairs: pl.DataFrame) -> bool:
    dtypes = [frame[name] for frame in (judged.schema, pairs.schema) for name in PAIR]
    return all(dtype in SMALL_INTEGERS for dtype in dtypes) and fits_31_bits(pairs, PAIR)
