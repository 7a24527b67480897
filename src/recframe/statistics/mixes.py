"""Standardisation of values to a mix of users, and shares that moved."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.statistics.requirement_rows import Places, at_places, rows_of
from recframe.statistics.summary import joined_notes

SEGMENT = "segment"
MOST_NAMED = 3
FAR = 3.0
"""Standard errors of a segment's share beyond which it has moved."""
LEAST = 0.005
"""Smallest change of a share that is visible in two decimals."""


def shares_moved(
    now: pl.LazyFrame,
    shares: pl.LazyFrame,
    run: Sequence[str],
    of: Sequence[str],
    mix: str,
) -> pl.LazyFrame:
    """Return the notes of runs on segments that have more or fewer of their users than in the window: `run`, `mix_note`.

    `now` has `run`, `segment` and `n` users; `shares` has `of`, `segment` and `weight`.
    """
    n, weight = pl.col("n"), pl.col("weight")
    known = shares.select(*of, SEGMENT, "weight")
    both = now.select(run).unique().join(known, on=of, nulls_equal=True)
    both = both.join(now, on=[*run, SEGMENT], how="full", coalesce=True, nulls_equal=True)
    both = both.with_columns(pl.col("weight", "n").fill_null(0.0))
    both = both.with_columns(every=n.sum().over(run))
    share, of_users = n / pl.col("every"), weight * (1.0 - weight) / pl.col("every")
    # of two segments one gains what the other loses, but for the last bits: such go by their names
    change = (share - weight).abs().round(9)
    by_chance = FAR * of_users.sqrt()
    named = pl.format(
        "{} {} -> {}", pl.col(SEGMENT).fill_null("null"), _decimals(weight), _decimals(share)
    )
    moved = both.with_columns(
        change=change,
        named=pl.when((change > by_chance) & (change >= LEAST)).then(named),
    )
    most = pl.col("named").sort_by("change", SEGMENT, descending=[True, False])
    text = most.drop_nulls().head(MOST_NAMED).str.join(", ")
    noted = pl.when(text != "").then(pl.format("shares of {} moved: {}", pl.lit(mix), text))
    return moved.group_by(run).agg(mix_note=noted)


def _decimals(share: pl.Expr) -> pl.Expr:
    """Return shares with two decimals."""
    hundredths = (share * 100).round().cast(pl.Int64)
    last = (hundredths % 100).cast(pl.String).str.zfill(2)
    return pl.format("{}.{}", hundredths // 100, last)


def standardised(
    rows: pl.LazyFrame,
    keys: Sequence[str],
    required: Places,
    shares: pl.DataFrame,
    name: str,
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Return rows of `from_bounds` by segment as those of all users, and what of the window is gone: weights and values.

    The rows have the key of the segments behind `keys`, and `name` is the column that it was made of. `shares` has the keys
    as text, as `key 0` and on, `metric`, `segment`, `weight` and `mean`. Users of a new segment do not count.
    """
    of = [*(f"key {at}" for at in range(len(keys))), "place"]
    now = rows.with_columns(pl.col(f"key {len(keys)}").alias(SEGMENT))
    now = now.filter(pl.col("mean").is_not_null() & (pl.col("n_users") > 0))
    then = at_places(shares.lazy(), required)
    # in one order, whose sums have the same last bits each time
    both = now.join(then, on=[*of, SEGMENT], how="left", nulls_equal=True).sort(*of, SEGMENT)
    kept = [pl.col(key).first() for key in keys]
    new = pl.col(SEGMENT).fill_null("null").filter(pl.col("weight").fill_null(0.0) == 0)
    summed = both.group_by(*of, maintain_order=True).agg(
        *kept,
        pl.col("of_each").first(),
        **weighted(),
        mean=weighted()["value"],
        new=new.sort().str.join(", "),
    )
    noted = shares_moved(both.select(*of, SEGMENT, n="n_users"), then, of, of, name)
    lost = then.join(now, on=[*of, SEGMENT], how="anti", nulls_equal=True)
    weight = pl.col("weight")
    gone = (
        lost.filter(weight > 0)
        .sort(*of, SEGMENT)
        .group_by(of)
        .agg(gone_weight=weight.sum(), gone_part=(weight * pl.col("mean")).sum())
    )
    standard = summed.join(noted, on=of, how="left", nulls_equal=True)
    freedom = pl.col("n_users").cast(pl.Float64) - 1.0
    return rows_of(standard.with_columns(freedom=freedom, note=_note(name)), keys), gone


def weighted() -> dict[str, pl.Expr]:
    """Return the value of all users with its interval and squared error, from segments' `mean` and so on by their `weight`."""
    weight = pl.col("weight").fill_null(0.0)
    share, half = weight / weight.sum(), (pl.col("value_high") - pl.col("value_low")) / 2
    value = pl.when(weight.sum() > 0).then((share * pl.col("mean")).sum())
    apart = (share**2 * half**2).sum().sqrt()
    return {
        "value": value,
        "value_low": value - apart,
        "value_high": value + apart,
        "error": (share**2 * pl.col("error")).sum(),
        "n_users": pl.col("n_users").filter(weight > 0).sum(),
    }


def _note(name: str) -> pl.Expr:
    said = pl.lit(f"standardised to the window's shares of {name}")
    new = pl.when(pl.col("new") != "").then(pl.format("new and left out: {}", "new"))
    return joined_notes([said, "mix_note", new])


def without_gone(
    rows: pl.LazyFrame, keys: Sequence[str], gone: pl.LazyFrame, left_out: str | None = None
) -> pl.LazyFrame:
    """Return rows of `with_predictions` whose window is without the segments that no user is in today.

    `left_out` is the note on runs that do not count.
    """
    on = [*(f"key {at}" for at in range(len(keys))), "place"]
    found = rows.join(gone, on=on, how="left", nulls_equal=True)
    weight, part = (pl.col(one).fill_null(0.0) for one in ("gone_weight", "gone_part"))
    is_less = pl.when(weight > 0)
    said = is_less.then(pl.lit("segments of the window without a user today are left out"))
    mean = is_less.then((pl.col("window_mean") - part) / (1.0 - weight)).otherwise("window_mean")
    note = joined_notes(["note", said, pl.lit(left_out, pl.String)])
    return rows_of(found.with_columns(window_mean=mean, note=note), keys)
