"""Hypothesis strategies: pairs of frames with every oddity that real ones have."""

from __future__ import annotations

import polars as pl
from hypothesis import settings
from hypothesis import strategies as st

from pooled_ranks import frame_apart

users = st.integers(1, 5)
items = st.sampled_from("abcdefgh")
grades = st.sampled_from([0.0, 1.0, 2.0, 3.0, 0.5])
odd_relevance = st.one_of(grades, st.none(), st.sampled_from([-1.0, float("nan")]))
ranks = st.one_of(st.none(), st.integers(1, 12))


def examples(number: int) -> settings:
    """So many examples of a law where others have ten; in the fast lane few of them, and two at least."""
    return settings(max_examples=max(2, number * settings.default.max_examples // 10))


@st.composite
def frame_pairs(draw: st.DrawFn) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Recommendations of two models, and a truth, with duplicates, repeated ranks and users that only one of them has."""
    recs = draw(st.lists(st.tuples(st.sampled_from(["x", "y"]), users, items, ranks), max_size=30))
    truth = draw(st.lists(st.tuples(users, items, odd_relevance), max_size=20))
    return (
        frame_apart(
            pl.DataFrame(
                recs,
                schema={"model": pl.String, "user": pl.Int64, "item": pl.String, "rank": pl.Int64},
                orient="row",
            )
        ),
        pl.DataFrame(
            truth,
            schema={"user": pl.Int64, "item": pl.String, "relevance": pl.Float64},
            orient="row",
        ),
    )
