"""A shop of two models, frames of lists with one item each, and plain statistics of users' values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import Any

import numpy as np
import polars as pl
from scipy import stats


@dataclass(frozen=True)
class Shop:
    recs: pl.DataFrame
    truth: pl.DataFrame
    users: pl.DataFrame
    items: pl.DataFrame

    def rec(self, make: Any = lambda frame: frame, **options: Any) -> Any:
        """Bind the frames, of one kind."""
        sides = {"truth": self.truth, "users": self.users, "items": self.items}
        made = {name: make(frame) for name, frame in sides.items()}
        return make(self.recs).rec(model="model", **made, **options)


def shop(seed: int = 0, n: int = 400) -> Shop:
    """Return two models' lists of five items, and users with countries of unlike size, some of them null, and an age."""
    draw = np.random.default_rng(seed)
    country = draw.choice(["DE", "FR", "JP", "LI", None], n, p=[0.5, 0.25, 0.15, 0.05, 0.05])
    users = pl.DataFrame(
        {"user": range(n), "country": country.tolist(), "age": draw.choice([20, 30, 40], n)}
    )
    items = pl.DataFrame({"item": range(30), "genre": ["a", "b", "c"] * 10})
    lists = [_lists(draw, name, n) for name in ("old", "new")]
    truth = pl.DataFrame({"user": np.repeat(range(n), 3), "item": draw.integers(0, 30, 3 * n)})
    return Shop(pl.concat(lists), truth.unique(), users, items)


def _lists(draw: np.random.Generator, model: str, n: int) -> pl.DataFrame:
    items = np.argsort(draw.random((n, 30)), axis=1)[:, :5]
    columns = {"user": np.repeat(range(n), 5), "item": items.ravel(), "rank": [*range(1, 6)] * n}
    return pl.DataFrame(columns).with_columns(model=pl.lit(model))


def hits(values: Sequence[int], **columns: Sequence[Any]) -> pl.DataFrame:
    """Return a judged frame of lists with one item, which is liked or not: each user's hit_rate@1 is given."""
    n = len(values)
    given = {"user": [*range(n)], "item": [1] * n, "rank": [1] * n, "relevance": [*values]}
    return pl.DataFrame(given | {name: [*one] for name, one in columns.items()})


# Plain statistics


@dataclass(frozen=True)
class Apart:
    """Two groups' difference, as Welch has it."""

    difference: float
    error: float
    freedom: float

    @property
    def p_value(self) -> float:
        return float(2 * stats.t.sf(abs(self.difference) / self.error, self.freedom))

    def half(self, level: float) -> float:
        return float(stats.t.ppf((1 + level) / 2, self.freedom)) * self.error


def apart(groups: Sequence[Sequence[float]]) -> Apart:
    """Compare two groups of users by Welch; no variance is below that of all of them together."""
    together = variance([value for group in groups for value in group])
    squared = [max(variance(group), together) / len(group) for group in groups]
    free = [len(group) - 1 for group in groups]
    shared = sum(squared) ** 2 / sum(e**2 / f for e, f in zip(squared, free, strict=True))
    one, other = map(fmean, groups)
    return Apart(one - other, math.sqrt(sum(squared)), shared)
