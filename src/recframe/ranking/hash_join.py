"""Precomputed hits of large eager frames, by a hash join."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from recframe.frames.collecting import Ask
from recframe.frames.rows.integer_keys import SMALL_INTEGERS
from recframe.frames.rows.joins import beside_one_another, distinct_names
from recframe.frames.rows.profiling import are_in_order, marked_sorted, places_where_met
from recframe.ranking.judged_frame import PAIR, Judged


def with_hits(judged: Judged, k: int | None, ask: Ask) -> Judged:
    """Return a judgement with precomputed hits up to k, if its relevant rows allow it.

    NOTE: short texts take four fifths of the time of a join that carries them along, long ones to depth 100 a half. Whole
    numbers stay: those that do not fit into one number may share a hash with many others.
    """
    whole = all(judged.schema[name] in SMALL_INTEGERS for name in PAIR)
    if judged.truth is None or judged.rows or whole or not judged.known.distinct:
        return judged
    up_to = None if judged.context.relevant_from == "list" else k
    plan, is_up_to = judged.rows_to_meet(up_to)
    rows, pairs = ask([plan, judged.relevant_rows()])
    met = places_where_met(rows, is_up_to, pairs, PAIR)
    hits = beside_one_another(
        [
            rows.drop(PAIR)[met["row"]],
            pairs.select(distinct_names(judged.key, "item", "gain"))[met["other"]],
            met.select("other"),
        ]
    )
    hits = marked_sorted(_each_once(judged, hits, ask), judged.key)
    (order,) = ask([are_in_order(hits, judged.list_keys)])
    return replace(judged, known=replace(judged.known, hits=hits.lazy(), in_order=order.item()))


def _each_once(judged: Judged, hits: pl.DataFrame, ask: Ask) -> pl.DataFrame:
    """Return the hits, each of a list once, at its best rank; `other` tells the relevant rows apart, each of which is once."""
    keys = [*judged.model, "other"]
    if hits.select(keys).n_unique() < len(hits):
        best = {"rank": pl.col("rank").min(), "tied": pl.col("tied").max()}
        columns = [
            best.get(name, pl.col(name).first()) for name in hits.columns if name not in keys
        ]
        (hits,) = ask([hits.lazy().group_by(keys).agg(columns)])
    return hits.drop("other")
