"""Expected hits under ties: average over orders, or last place.

In expectation there is a row for each place that a tied hit may take.

Of a tie of n items, h of them hits, behind s items with H hits: each of its places is a hit's with probability h / n, so a
sum over hits of something that depends on the place alone is, in expectation, the sum over places of h / n times it.

Source: McSherry and Najork 2008, Computing information retrieval performance measures efficiently in the presence of tied
scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from recframe.frames.rows.joins import AS_EVER

TIED, RANK, PLACE = pl.col("tied"), pl.col("rank"), pl.col("place")
H, BEFORE = pl.col("h"), pl.col("H")


def ties_with_hits(
    hits: pl.LazyFrame, keys: Sequence[str], worth: Mapping[str, pl.Expr]
) -> pl.LazyFrame:
    """Return the ties with a hit: keys, rank, `tied` if hits have it, their hits `h`, and sums of gains and of other values."""
    gain = pl.col("gain").cast(pl.Float64)
    sums = {"gain": gain.sum(), "exp_gain": (pl.lit(2.0) ** gain - 1).sum()}
    sums |= {name: value.sum() for name, value in worth.items()}
    return hits.group_by(*keys, "rank").agg(
        pl.col("^tied$").first(), h=pl.len().cast(pl.Float64), **sums
    )


def at_last_places(ties: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return ties whose rank is that of their last place, with the hit words' sums over their hits, all of them there.

    Up to and with each of these there are the hits before their tie and all of it.
    """
    return _best_first(ties, keys).with_columns(
        RANK.cast(pl.Float64),
        hit=H,
        hits_so_far=H * (BEFORE + H),
        first_hit=(BEFORE == 0).cast(pl.Float64),
    )


def over_places(
    ties: pl.LazyFrame, keys: Sequence[str], deepest: int | None, worth: Sequence[str]
) -> pl.LazyFrame:
    """Return the places up to `deepest` that hits may take, as ranks, with each hit word's expectation there.

    The rank of a tie is that of its first place. Other words are sums of the values of `worth`.
    """
    inside = TIED if deepest is None else pl.min_horizontal(TIED, deepest + 1 - RANK)
    places = _best_first(ties, keys).with_columns(place=pl.int_ranges(1, inside + 1))
    # Given a hit at one place, each of the others is a hit's with this probability.
    another = pl.when(TIED > 1).then((H - 1) / (TIED - 1)).otherwise(0.0)
    return places.explode("place", **AS_EVER).with_columns(
        pl.col("gain", "exp_gain", *worth) / TIED,
        rank=(RANK + PLACE - 1).cast(pl.Float64),
        hit=H / TIED,
        hits_so_far=H / TIED * (BEFORE + 1 + (PLACE - 1) * another),
        first_hit=_first_hit(keys),
    )


def _best_first(ties: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return ties list by list from the best, with the hits before in `H`."""
    return ties.sort(*keys, "rank", nulls_last=True).with_columns(H=(H.cum_sum() - H).over(keys))


def _first_hit(keys: Sequence[str]) -> pl.Expr:
    """Return the probability that a place holds the first hit: no hit before it, times a hit at it.

    It is 0 but in the first tie with a hit, whose place j is free of the others' hits and comes to a hit of the h among the
    n - j + 1 items that are left.
    """
    left = TIED - PLACE + 1
    none_before = ((left - H) / left).cum_prod().shift(1, fill_value=1.0).over(*keys, "rank")
    return pl.when(BEFORE == 0).then(none_before * (H / left)).otherwise(0.0)
