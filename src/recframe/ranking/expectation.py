"""Expected hits under ties: average over orders, or last place.

In expectation there is a row for each place that a tied hit may take.

Of a tie of n items, h of them hits, behind s items with H hits: each of its places is a hit's with probability h / n, so a
sum over hits of something that depends on the place alone is, in expectation, the sum over places of h / n times it.

Source: McSherry and Najork 2008, Computing information retrieval performance measures efficiently in the presence of tied
scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from recframe.frames.rows.joins import AS_EVER


def over_places(
    hits: pl.LazyFrame,
    keys: Sequence[str],
    deepest: int | None,
    beside: Callable[[pl.LazyFrame], pl.LazyFrame],
    worth: Mapping[str, pl.Expr],
) -> pl.LazyFrame:
    """Return the places up to `deepest` that hits may take: keys, rank, and each hit word's expectation there.

    `hits` have the first rank of their tie and `tied`, its length; `beside` joins what stands beside every row of a list. So
    have other values of a hit, its `worth` by names.
    """
    tied, rank = pl.col("tied"), pl.col("rank")
    ties = _ties(hits, keys, beside, worth, tied.first())
    inside = (
        tied
        if deepest is None
        else pl.min_horizontal(tied, (deepest + 1 - rank).floor().cast(pl.Int64))
    )
    places = ties.with_columns(place=pl.int_ranges(1, inside + 1)).explode("place", **AS_EVER)
    hit, place = pl.col("h") / tied, pl.col("place")
    # Given a hit at one place, each of the others is a hit's with this probability.
    another = pl.when(tied > 1).then((pl.col("h") - 1) / (tied - 1)).otherwise(0.0)
    return places.with_columns(
        rank=(rank + place - 1).cast(pl.Float64),
        hit=hit,
        gain=pl.col("gain") / tied,
        exp_gain=pl.col("exp_gain") / tied,
        hits_so_far=hit * (pl.col("H") + 1 + (place - 1) * another),
        first_hit=_first_hit(keys),
        **{name: pl.col(name) / tied for name in worth},
    )


def at_last_places(
    hits: pl.LazyFrame,
    keys: Sequence[str],
    beside: Callable[[pl.LazyFrame], pl.LazyFrame],
    worth: Mapping[str, pl.Expr],
) -> pl.LazyFrame:
    """Return a row for each tie with a hit: keys, rank, and each hit word's sum over its hits, all of them at its last place.

    `hits` have that place as their rank. Up to and with each of them there are the hits before their tie and all of it.
    """
    h, before = pl.col("h"), pl.col("H")
    return _ties(hits, keys, beside, worth).with_columns(
        pl.col("rank").cast(pl.Float64),
        hit=h,
        hits_so_far=h * (before + h),
        first_hit=(before == 0).cast(pl.Float64),
    )


def _ties(
    hits: pl.LazyFrame,
    keys: Sequence[str],
    beside: Callable[[pl.LazyFrame], pl.LazyFrame],
    worth: Mapping[str, pl.Expr],
    *also: pl.Expr,
) -> pl.LazyFrame:
    """Return the ties with a hit, list by list from the best: their hits `h`, the hits before in `H`, and sums of gains."""
    gain = pl.col("gain").cast(pl.Float64)
    sums = {
        "h": pl.len().cast(pl.Float64),
        "gain": gain.sum(),
        "exp_gain": (pl.lit(2.0) ** gain - 1).sum(),
        **{name: value.sum() for name, value in worth.items()},
    }
    ties = hits.group_by(*keys, "rank").agg(*also, **sums)
    before = (pl.col("h").cum_sum() - pl.col("h")).over(keys)
    return beside(ties).sort(*keys, "rank", nulls_last=True).with_columns(H=before)


def _first_hit(keys: Sequence[str]) -> pl.Expr:
    """Return the probability that a position holds the first hit: no hit before it, times a hit at it.

    Only the first tie with a hit has places that may be; its place j is free of the others' hits and comes to a hit of the
    h among the n - j + 1 items that are left.
    """
    left, h = pl.col("tied") - pl.col("place") + 1, pl.col("h")
    is_first = pl.col("H") == 0
    missed = pl.when(is_first).then(((left - h) / left).clip(lower_bound=0.0)).otherwise(1.0)
    none_before = missed.cum_prod().shift(1, fill_value=1.0).over(keys)
    return pl.when(is_first).then(none_before * (h / left).clip(upper_bound=1.0)).otherwise(0.0)
