"""Scenes of trials: users' values by models of one mean, which is known, and recframe's own calls asked about samples of them.

A value v is the reciprocal rank of an item at the rank 1 / v, and many samples are the segments of one call where that is the
same number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl

import recframe as rf

Values: TypeAlias = np.ndarray
"""Samples x users x models."""
Draw: TypeAlias = Callable[[np.random.Generator, tuple[int, int], int], Values]
BATCH = 300_000
"""So many users are asked about in one call."""


def rare(random: np.random.Generator, shape: tuple[int, int], models: int) -> Values:
    """Return reciprocal ranks of which 4 % are not 0, seven tenths of them alike in all models."""
    drawn = random.random((*shape, models + 1)) < 0.04
    placed = drawn / random.integers(1, 7, drawn.shape)
    return np.where(random.random((*shape, models)) < 0.7, placed[..., :1], placed[..., 1:])


def graded(random: np.random.Generator, shape: tuple[int, int], models: int) -> Values:
    """Return skewed gains with a lump at 0, of which by each model but the first a fifth rises and the others fall."""
    gains = np.where(random.random(shape) < 0.4, 0.0, 0.6 * random.beta(0.7, 3.5, shape))
    changed = np.where(random.random((*shape, models)) < 0.2, 1.6, 0.85)
    changed[..., 0] = 1.0
    return gains[..., None] * changed


def head(random: np.random.Generator, shape: tuple[int, int], models: int) -> Values:
    """Return precisions of lists of unlike lengths: those of few heavy users rise, and those of all others fall a little."""
    heavy = random.random(shape) < 0.1
    length = np.where(heavy, random.integers(40, 61, shape), random.geometric(0.3, shape))
    old = np.where(heavy, random.beta(6, 4, shape), 0.05)
    new = np.where(heavy, old + 0.18 * (1 - old), 0.042)
    chance = np.stack([old, *[new] * (models - 1)], axis=-1)
    return random.binomial(length[..., None], chance) / length[..., None]


class Scene(NamedTuple):
    """Users' values by models of one mean, and how many users a cluster has."""

    name: str
    draw: Draw
    mean: float
    sizes: Callable[[np.random.Generator, int], np.ndarray]


SCENES = (
    Scene(
        "rare hits",
        rare,
        0.04 * (1 / np.arange(1, 7)).mean(),
        lambda random, n: np.minimum(1 + random.pareto(1.3, n).astype(int), 80),
    ),
    Scene(
        "skewed gains",
        graded,
        0.6 * 0.6 * 0.7 / 4.2,
        lambda random, n: np.where(np.arange(n) % 25 == 0, 40, random.integers(1, 4, n)),
    ),
    Scene(
        "few heavy users",
        head,
        0.1 * 0.6 + 0.9 * 0.05,
        lambda random, n: random.geometric(0.25, n),
    ),
)


class Seen(NamedTuple):
    """How often something happened, with the error of so many samples, and how often it is promised to happen, if it is."""

    what: str
    share: float
    error: float
    samples: int
    promised: float | None


def seen(what: str, rows: pl.DataFrame, of: pl.Expr, promised: float | None = None) -> Seen:
    """Return the mean of what an expression says of each sample."""
    found = rows.select(of.cast(pl.Float64).fill_null(0.0)).to_series()
    return Seen(what, found.mean(), found.std() / len(found) ** 0.5, len(found), promised)


def asked(values: Values, trainings: int = 0, **columns: Any) -> rf.Rec:
    """Return what asks about samples of users' values: a judged frame, with more columns of samples x users.

    With `trainings`, so many in turn are those of one model.
    """
    samples, users, models = values.shape
    frame = pl.DataFrame(
        {"sample": np.repeat(np.arange(samples), users), "user": np.arange(samples * users)}
    )
    frame = frame.with_columns(pl.Series(name, np.ravel(one)) for name, one in columns.items())
    names = [f"m{one // max(trainings, 1)}" for one in range(models)]
    found = frame.join(pl.DataFrame({"model": names, "training": range(models)}), how="cross")
    worth = pl.Series("worth", values.ravel())
    rank = pl.when(worth > 0).then(1.0 / worth)
    found = found.with_columns(rank=rank, item=pl.lit(1), relevance=pl.lit(1))
    if trainings:
        return rf.rec(found, model="model", training="training")
    return rf.rec(found.drop("training"), model="model")


def batches(trials: int, users: int) -> Iterator[int]:
    """Give numbers of samples that are asked about at once."""
    most = max(BATCH // users, 1)
    for start in range(0, trials, most):
        yield min(most, trials - start)


def in_batches(trials: int, users: int, ask: Callable[[int], pl.DataFrame]) -> pl.DataFrame:
    """Return the rows of all samples."""
    return pl.concat(ask(samples) for samples in batches(trials, users))


def covers(name: str, truth: float | pl.Expr) -> pl.Expr:
    """Say whether an interval covers."""
    return (pl.col(f"{name}_low") <= truth) & (pl.col(f"{name}_high") >= truth)


def lowered(random: np.random.Generator, values: Values, by: float) -> Values:
    """Return the first two models, the values of the second being lost so often that their mean is lower by a share."""
    kept = random.random(values.shape[:2]) >= by
    return np.stack([values[..., 0], values[..., 1] * kept], axis=-1)


def together(
    random: np.random.Generator, scene: Scene, samples: int, clusters: int
) -> tuple[Values, np.ndarray]:
    """Return users of clusters of unlike sizes, half of whom are as the first of their cluster, and their clusters.

    Samples are filled up to one number of users, and users of no cluster have the number -1.
    """
    sizes = np.stack([scene.sizes(random, clusters) for _ in range(samples)])
    most = sizes.sum(axis=1).max()
    cluster = np.full((samples, most), -1)
    for row, of in zip(cluster, sizes, strict=True):
        row[: of.sum()] = np.repeat(np.arange(clusters), of)
    values = scene.draw(random, cluster.shape, 2)
    firsts = scene.draw(random, (samples, clusters), 2)
    alike = np.take_along_axis(firsts, np.maximum(cluster, 0)[..., None], axis=1)
    copied = random.random(cluster.shape)[..., None] < 0.5
    return np.where(copied, alike, values), cluster


def of_clusters(values: Values, cluster: np.ndarray) -> tuple[rf.Rec, float]:
    """Return what asks about samples of clusters, and how many users a cluster has."""
    there, sample = cluster >= 0, np.arange(len(cluster))[:, None]
    names = cluster + (cluster.max() + 1) * sample
    told = {"sample": np.broadcast_to(sample, cluster.shape)[there], "cluster": names[there]}
    return asked(values[there][None], **told), there.sum() / len(np.unique(names[there]))
