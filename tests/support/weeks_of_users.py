"""Weeks of the same users whose values are drawn: many models are many samples, so that one call judges them all."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl


@dataclass(frozen=True)
class Weeks:
    """Users whose values vary around their own means, and weeks that move all of them."""

    samples: int
    users: int = 1000
    weeks: int = 14
    within: float = 0.05
    """The standard deviation of a user's values from week to week."""
    shared: float = 0.0
    """That of what moves all users of a week, in standard errors of the users' own variation."""
    away: float = 0.0
    """The share of users who are not there in a week."""

    def frames(self, seed: int, loss: float = 0.0) -> Iterator[pl.DataFrame]:
        """Give the judged frames of the weeks and of one more, in which users lose a share; `1 / rank` is a user's value."""
        import numpy as np  # noqa: PLC0415  an extra

        chance = np.random.default_rng(seed)
        shape = self.samples, self.users
        means = chance.beta(0.5, 1, shape) * 0.9 + 0.05
        for week in range(self.weeks + 1):
            moved = (
                self.shared * self.within / self.users**0.5 * chance.normal(size=(self.samples, 1))
            )
            values = means + moved + self.within * chance.normal(size=shape)
            values = values * (1.0 - loss) if week == self.weeks else values
            there = chance.random(shape) >= self.away
            model, user = np.nonzero(there)
            yield pl.DataFrame(
                {"model": model, "user": user, "item": 1, "relevance": 1}
            ).with_columns(rank=pl.Series((1.0 / values.clip(0.02, 1.0)[there]).round(3)))


def of_weeks(
    weeks: Weeks, seed: int, place: Any, *requirements: str, loss: float = 0.0, **options: Any
) -> pl.DataFrame:
    """Track all weeks with users' values, and hold the one behind them against these: a row for each sample."""
    *before, now = weeks.frames(seed, loss)
    for week, frame in enumerate(before):
        as_of = dt.date(2026, 1, 5) + dt.timedelta(weeks=week)
        frame.rec(model="model").track("mrr", history=place, as_of=as_of, per_user=True)
    told = {"raises": False, "wide": True, **options}
    return now.rec(model="model").require(*requirements, history=place, **told)


def alarms(found: pl.DataFrame, level: float = 0.95) -> int:
    """Return of how many rows a gate of their own would fail."""
    return found.filter((pl.col("difference") < 0) & (pl.col("p_value") <= 1.0 - level)).height
