"""Lists of a large eager frame cut by segments of items or rows: each by one number; those without a hit may be left out."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from recframe.frames.collecting import Ask
from recframe.frames.rows.packing import fits_64_bits
from recframe.frames.rows.questions import heads, may_be_among, numbered
from recframe.judging.judged_frame import Judged
from recframe.judging.known import Known

NUMBER, CODE = pl.col("number"), pl.col("code")


def uncut(judged: Judged) -> Judged:
    """Return a judgement of the lists as they are before segments of items cut them."""
    inputs = judged.inputs
    others = tuple(one for one in inputs.segments if one.owner != "items")
    return replace(judged, inputs=replace(inputs, segments=others))


def in_segments_of_items(judged: Judged, whole: Judged) -> Judged:
    """Return a judgement of lists that segments of items cut, with what is known of the relevant rows of the whole lists."""
    known, pairs = whole.known, whole.relevant_rows()
    if judged.truth is None:
        pairs = judged.in_segments(pairs)
    return replace(judged, known=replace(known, pairs=pairs, in_order=False, narrow=False))


def cut_by_codes(
    judged: Judged, whole: Judged, segments: pl.DataFrame, ask: Ask, k: int | None, *, by_hits: bool
) -> Judged:
    """Return a judgement of lists that segments of items or rows cut, made of what is known of the whole lists.

    The relevant rows of these have the `code` of their segments, and `segments` says what each code stands for.
    `by_hits` says that a list without a hit up to k has the values of an empty one: its relevant rows are then left out.

    NOTE: a user has several times as many lists as there are hits, and most of the time went into lists without one.
    """
    (pairs,) = ask([whole.relevant_rows()])
    pairs = pairs if whole.key == "number" else numbered(pairs)
    pairs = pairs.with_columns(number=NUMBER * len(segments) + CODE.cast(pl.Int64))
    cut = replace(judged, known=_known(whole, pairs, segments))
    # hits of a list's own rows are its relevant ones, up to k or not
    (hits,) = ask([cut.hits(None if judged.context.relevant_from == "list" else k)])
    if by_hits:
        pairs = pairs.filter(may_be_among(pairs["number"], hits["number"]))
    pairs = pairs.sort("number", maintain_order=True)
    known = replace(
        _known(whole, pairs, segments),
        hits=None if judged.truth is None else hits.lazy(),
        in_order=whole.known.in_order and judged.truth is None,
        narrow=fits_64_bits(pairs["number"], pairs["gain"]),
    )
    return replace(judged, known=known)


def _known(whole: Judged, pairs: pl.DataFrame, segments: pl.DataFrame) -> Known:
    """Return what is known of cut lists by their relevant rows."""
    names = heads(pairs.lazy(), "number", "code", "user").join(segments.lazy(), on="code")
    return Known(
        pairs=pairs.lazy(),
        distinct=True,
        packs=whole.known.packs,
        n_users=whole.known.n_users,
        crowd=whole.known.crowd,
        names=names.drop("code"),
    )
