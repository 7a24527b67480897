"""How evenly items are shown, in points of curves: what a Lorenz curve and a long tail are drawn of."""

from __future__ import annotations

import polars as pl

POINTS = 100
"""So many steps of each axis have a point of their own, at the most."""
DECADE = 20
"""So many points stand along a factor of e of the places."""
N, ITEMS = pl.col("exposure"), pl.col("items")
OF_MODEL = ["model_place", "is_train"]


def lorenz(found: pl.DataFrame, catalogue: int) -> pl.DataFrame:
    """Return shares of items and of exposure that add up, the least shown items first: model, items, exposure, gini.

    `found` says how many `items` have each `exposure`, of each model and of train; the other items of the catalogue have 0.
    Gini is that of the metric: Σ over j of (2j - N - 1) · e_(j) / ((N - 1) · Σ e).
    """
    ordered = found.filter(N > 0).sort(*OF_MODEL, "exposure")
    unlisted = catalogue - ITEMS.sum().over(OF_MODEL)
    up_to = unlisted + ITEMS.cum_sum().over(OF_MODEL)
    total = (N * ITEMS).sum().over(OF_MODEL)
    ordered = ordered.with_columns(
        up_to=up_to, total=total, taken=(N * ITEMS).cum_sum().over(OF_MODEL), unlisted=unlisted
    )
    before = pl.col("up_to") - ITEMS
    spread = (N * ITEMS * (2 * before + ITEMS - catalogue)).sum().over(OF_MODEL)
    gini = spread / (pl.col("total") * (catalogue - 1))
    ordered = ordered.with_columns(gini=gini.fill_nan(0.0).clip(0.0, 1.0))
    starts = [
        ordered.unique(OF_MODEL, keep="first", maintain_order=True).with_columns(
            up_to=at, taken=pl.lit(0, pl.Int64)
        )
        for at in (pl.lit(0, pl.Int64), pl.col("unlisted"))
    ]
    points = pl.concat([*starts, ordered]).select(
        "model",
        *OF_MODEL,
        "gini",
        items=pl.col("up_to") / catalogue,
        exposure=pl.col("taken") / pl.col("total"),
    )
    points = points.sort(*OF_MODEL, "items", "exposure")
    # the corner up to which nothing is shown has a step of its own
    steps = [(pl.col("items", "exposure") * POINTS).floor(), (pl.col("exposure") > 0).alias("seen")]
    return _thinned(points, steps)


def tail(found: pl.DataFrame) -> pl.DataFrame:
    """Return the share of the exposure that the item at each place has, the most shown items first: model, place, share."""
    ordered = found.filter(N > 0).sort(*OF_MODEL, "exposure", descending=[False, False, True])
    share = N / (N * ITEMS).sum().over(OF_MODEL)
    ordered = ordered.with_columns(place=ITEMS.cum_sum().over(OF_MODEL), share=share)
    first = ordered.unique(OF_MODEL, keep="first", maintain_order=True)
    first = first.filter(pl.col("place") > 1).with_columns(place=pl.lit(1, pl.Int64))
    columns = ["model", *OF_MODEL, "place", "share"]
    points = pl.concat([first, ordered]).select(columns).sort(*OF_MODEL, "place")
    return _thinned(points, [(pl.col("place").log() * DECADE).floor()])


def _thinned(points: pl.DataFrame, steps: list[pl.Expr]) -> pl.DataFrame:
    """Return the last point of each step, and the first and the last of each curve."""
    ends = [(one != one.shift(-1)).over(OF_MODEL).fill_null(value=True) for one in steps]
    differs = pl.any_horizontal(ends)
    first = pl.int_range(pl.len()).over(OF_MODEL) == 0
    return points.filter(differs | first)
