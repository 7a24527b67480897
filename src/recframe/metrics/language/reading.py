"""Readers of a list, by their probability to go on.

A reader at place r goes on to the next with probability C_r: the C/W/L family of metrics. Place r + 1 is read with the chance
W_(r+1) = W_r C_r, W_1 = 1, and a list is worth the mean gain of the places read: Σ W_r h_r / Σ W_r.

Source: Moffat, Bailey, Scholer and Thomas 2017, Incorporating user expectations and behavior into the measurement of search
effectiveness.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

import polars as pl
from polars.exceptions import PolarsError

from recframe.errors import RecframeError

DEPTH = 1000
"""Places that a reader reads at most, as in cwl_eval."""
GoesOn = Callable[[pl.Expr, pl.Expr], pl.Expr | float]
PLACE, GAIN, NONE = pl.col("place"), pl.col("gain"), pl.lit(0.0)
SCALED = "scaled gain "
"""Prefix of columns of gains on a scale, followed by its ends."""
EXAMPLE = "at.reader(lambda place, gain: 0.9 * (1 - gain))"


def mean_gain(
    at: Any, gain_of: Callable[[Any], pl.Expr], goes_on: GoesOn, depth: int | None
) -> pl.Expr:
    """Return the mean gain of the places of a list that a reader reads, down to a depth.

    Places without gain are read alike in all lists, so they are looked up in tables of places, and only hits are computed: one
    that makes going on f times as likely as a place without gain adds f - 1 times all that is read below it.
    """
    reach = _reach(goes_on, DEPTH if depth is None else min(depth, DEPTH))
    minds_gain = "gain" in (NONE + goes_on(PLACE, GAIN)).meta.root_names()

    def factor(hit: Any) -> pl.Expr:
        place = hit.rank.ceil()
        return (NONE + goes_on(place, gain_of(hit))) / goes_on(place, NONE)

    def read(hit: Any, table: pl.Series) -> pl.Expr:
        past = _looked_up(hit.rank.ceil(), table)
        if not minds_gain:
            return past
        kept: pl.Expr = hit.running(factor(hit).shift(1, fill_value=1.0).cum_prod())
        return past * kept

    below = reach.sum() - reach.cum_sum()
    changed: pl.Expr = at.sum(lambda hit: read(hit, below) * (factor(hit) - 1))
    gained: pl.Expr = at.sum(lambda hit: read(hit, reach) * gain_of(hit))
    return (gained / (changed + reach.sum())).clip(0.0, 1.0)


def _reach(goes_on: GoesOn, depth: int) -> pl.Series:
    """Return the chance that each place is reached past places without gain."""
    if depth < 1:
        raise RecframeError(f"depth= is the last place that is read, 1 or more; found {depth}")
    grid = pl.select(place=pl.int_range(1, depth + 1).cast(pl.Float64)).join(
        pl.DataFrame({"gain": [0.0, 0.25, 0.5, 0.75, 1.0]}), how="cross"
    )
    try:
        asked = PLACE, GAIN, (NONE + goes_on(PLACE, GAIN)).alias("chance")
        found, some = grid.select(asked), grid[::-3].select(asked)
    except (TypeError, PolarsError) as error:
        raise RecframeError(
            f"{EXAMPLE} takes a function that returns a probability for a place and the gain there, of these two alone and "
            f"not of the gain so far: {error}"
        ) from error
    if not some.equals(found[::-3]):
        raise RecframeError(
            f"{EXAMPLE} knows one place and its gain; found a function of other places too, such as their sum"
        )
    chance = pl.col("chance")
    good = chance.is_between(0, 1) & ((chance > 0) | (GAIN > 0))
    if not (odd := found.filter(~good.fill_null(value=False))).is_empty():
        raise RecframeError(
            f"the reader of {EXAMPLE} goes on with a probability from 0 to 1, above 0 where there is no gain; found "
            f"{odd['chance'][0]}; one that stops at a place has depth="
        )
    return found.filter(GAIN == 0)["chance"].shift(1, fill_value=1.0).cum_prod()


def _looked_up(place: pl.Expr, table: pl.Series) -> pl.Expr:
    """Return the values of places from 1; null beyond the table."""
    number = (place.clip(upper_bound=len(table) + 1) - 1).cast(pl.Int64)
    if not hasattr(place.bin, "slice"):  # Polars 1.35, where a table stands in memory
        return number.replace_strict([*range(len(table))], table, default=None)
    # NOTE: a literal of bytes streams as any value does; a literal series, which replace_strict takes, does not.
    numbers = pl.lit(struct.pack(f"<{len(table)}d", *table))
    return numbers.bin.slice(number * 8, 8).bin.reinterpret(dtype=pl.Float64)


def scaled(name: str, gain: pl.Expr = GAIN) -> pl.Expr:
    """Return a gain from 0 to 1 on the scale that the name of its column has the ends of."""
    low, high = map(float, json.loads(name.removeprefix(SCALED)))
    return (gain.cast(pl.Float64).clip(low, high) - low) / (high - low)
