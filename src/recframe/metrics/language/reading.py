"""Readers of a list, who go on from place to place with a probability.

A reader at place r goes on to the next with probability C_r: the C/W/L family of metrics. Place r + 1 is reached with
W_(r+1) = W_r C_r, W_1 = 1, and a list is worth the share of what is read that is gain: Σ W_r h_r / Σ W_r.

Source: Moffat, Bailey, Scholer and Thomas 2017, Incorporating user expectations and behavior into the measurement of search
effectiveness.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import polars as pl
from polars.exceptions import PolarsError

from recframe.errors import RecframeError, shown

DEPTH = 1000
"""Places that a reader reads at most, as in cwl_eval."""
GoesOn = Callable[[pl.Expr, pl.Expr], pl.Expr | float]
PLACE, GAIN = pl.col("place"), pl.col("gain")
SCALED = "scaled gain "
"""Prefix of columns of gains on a scale, followed by its ends."""
EXAMPLE = "at.reader(lambda place, gain: 0.9 * (1 - gain))"
GRID = [0.0, 0.25, 0.5, 0.75, 1.0]


class Hits(Protocol):
    """Interface of the words for the hits of a list that a reader finds."""

    @property
    def rank(self) -> pl.Expr:
        """The rank of a hit."""

    def sum(self, value: Callable[[Any], pl.Expr]) -> pl.Expr:
        """Return the sum of a value of a hit."""

    def running(self, expression: pl.Expr) -> pl.Expr:
        """Return a cumulative expression."""


@dataclass(frozen=True)
class Reader:
    """Reader whose probability to go on depends on a place and the gain there.

    Places without gain are read alike in all lists, so they are looked up in tables of places, and only hits are computed: one
    that makes going on f times as likely as a place without gain adds f - 1 times all that is read below it.
    """

    goes_on: GoesOn
    depth: int

    def mean_gain(self, at: Hits, gain_of: Callable[[Any], pl.Expr]) -> pl.Expr:
        """Return the mean gain of the places read of a list."""

        def arrived(hit: Hits) -> pl.Expr | float:
            if not self.minds_gain:
                return 1.0
            factor = self.factor(hit.rank.ceil(), gain_of(hit))
            return hit.running(factor.shift(1, fill_value=1.0).cum_prod())

        def gained(hit: Hits) -> pl.Expr:
            return self.reach(hit.rank.ceil()) * gain_of(hit) * arrived(hit)

        def lost(hit: Hits) -> pl.Expr:
            place = hit.rank.ceil()
            return self.below(place) * (1 - self.factor(place, gain_of(hit))) * arrived(hit)

        read = self.whole - at.sum(lost) if self.minds_gain else self.whole
        return (at.sum(gained) / read).clip(0.0, 1.0)

    @cached_property
    def minds_gain(self) -> bool:
        """Whether the reader's going on depends on the gain, and not on the place alone."""
        return "gain" in self._chance(PLACE, GAIN).meta.root_names()

    def reach(self, place: pl.Expr) -> pl.Expr:
        """Return the probability that a place is reached past places without gain; null beyond the depth."""
        return self._looked_up(place, self._reach)

    def below(self, place: pl.Expr) -> pl.Expr:
        """Return the sum of `reach` over the places below one."""
        return self._looked_up(place, self._reach.sum() - self._reach.cum_sum())

    def factor(self, place: pl.Expr, gain: pl.Expr) -> pl.Expr:
        """Return how many times as likely the reader goes on from a gain as from a place without one."""
        return self._chance(place, gain) / self._chance(place, pl.lit(0.0))

    @cached_property
    def whole(self) -> float:
        """The places that are read of a list without gain."""
        return float(self._reach.sum())

    @cached_property
    def _reach(self) -> pl.Series:
        grid = pl.DataFrame({"place": range(1, self.depth + 1)}).join(
            pl.DataFrame({"gain": GRID}), how="cross"
        )
        grid = grid.with_columns(pl.col("place").cast(pl.Float64))
        chances = self._on(grid)
        some = grid[::-3]
        if not self._on(some).equals(chances[::-3]):
            msg = f"{EXAMPLE} knows one place and its gain; found a function of other places too, such as their sum"
            raise RecframeError(msg)
        without = chances.filter(grid["gain"] == 0)
        odd = chances.filter(~chances.is_between(0, 1).fill_null(value=False))
        for wrong in (odd, without.filter(without == 0)):
            if len(wrong):
                msg = (
                    f"the reader of {EXAMPLE} goes on with a probability from 0 to 1, above 0 where there is no gain; found "
                    f"{wrong[0]}; one that stops at a place has depth="
                )
                raise RecframeError(msg)
        return without.shift(1, fill_value=1.0).cum_prod()

    def _on(self, grid: pl.DataFrame) -> pl.Series:
        try:
            chances = grid.select(PLACE, chance=self._chance(PLACE, GAIN).cast(pl.Float64))
        except PolarsError as error:
            msg = f"{EXAMPLE} takes an expression of the place and the gain alone: {error}"
            raise RecframeError(msg) from error
        return chances["chance"]

    def _chance(self, place: pl.Expr, gain: pl.Expr) -> pl.Expr:
        try:
            chance = self.goes_on(place, gain)
        except TypeError as error:
            msg = f"{EXAMPLE} takes a function of two, the place and the gain there, and not of the gain so far: {error}"
            raise RecframeError(msg) from error
        if isinstance(chance, pl.Expr):
            return chance
        if isinstance(chance, int | float):
            return pl.lit(float(chance))
        msg = f"{EXAMPLE} takes a function that returns a probability; found {shown(chance)}"
        raise RecframeError(msg)

    def _looked_up(self, place: pl.Expr, values: pl.Series) -> pl.Expr:
        number = (place.clip(upper_bound=self.depth + 1) - 1).cast(pl.Int64)
        if not hasattr(place.bin, "slice"):  # Polars 1.35, where a table stands in memory
            return number.replace_strict(
                [*range(self.depth)], values.to_list(), default=None, return_dtype=pl.Float64
            )
        # NOTE: a literal of bytes streams as any value does; a literal series, which replace_strict takes, does not.
        table = pl.lit(struct.pack(f"<{self.depth}d", *values))
        return table.bin.slice(number * 8, 8).bin.reinterpret(dtype=pl.Float64)


def scaled(name: str, gain: pl.Expr = GAIN) -> pl.Expr:
    """Return a gain from 0 to 1 on the scale that the name of its column has the ends of."""
    low, high = map(float, json.loads(name.removeprefix(SCALED)))
    return (gain.cast(pl.Float64).clip(low, high) - low) / (high - low)
