"""Simulated shop for `recframe demo`: items, users, truth, three recommenders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from recframe import atomic_write
from recframe.api.engine_call import rec as rec_of
from recframe.frames.kinds.kind import check_threads

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Random = np.random.Generator

LIST_LENGTH = 20
N_NEIGHBOURS, N_FACTORS = 40, 16
GENRES = ("action", "comedy", "crime", "drama", "family", "fantasy", "horror", "romance")
ACTIVITIES = {"casual": 8, "regular": 20, "heavy": 45}
# The share of users, and what a country likes: the first has the most users, so the charts are made of its taste.
COUNTRIES = {
    "DE": (0.6, (5, 3, 4, 2, 1, 1, 1, 1)),
    "FR": (0.3, (1, 4, 1, 5, 2, 1, 1, 4)),
    "JP": (0.1, (1, 1, 1, 1, 4, 6, 4, 1)),
}
FIRST_DAY = np.datetime64("2026-03-02")
DAYS = 84
"""The days of the log."""
REPEATED = 0.1
"""Share of the pairs that are bought again."""
QUESTIONS = {
    "Which model is best?": """rec.evaluate("ndcg@10", "recall@10", "hit_rate@10", "map@10")""",
    "At what price? Share of the items shown, novelty in bits, users who know an item": (
        """rec.evaluate("coverage@10", "novelty@10", "popularity@10")"""
    ),
    """For whom? By country; by="activity" or "genre" would do as well""": (
        """rec.evaluate("ndcg@10", "recall@10", "hit_rate@10", "map@10", by="country")"""
    ),
}
"""The questions of the tables, with the Python lines that answer them."""


class Simulation(NamedTuple):
    """A simulated shop: recommendations by model, held-out truth, training rows, users, items, and a log with days.

    The log has what train and truth have, each pair with the day on which it was bought, and some pairs bought again. It is for
    splits: train and truth are a random split of its pairs.
    """

    recs: pl.DataFrame
    truth: pl.DataFrame
    train: pl.DataFrame
    users: pl.DataFrame
    items: pl.DataFrame
    log: pl.DataFrame

    def save(self, folder: Path) -> None:
        """Write each frame as a Parquet file into a folder, which is made where it is missing."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, frame in self._asdict().items():
            atomic_write.write(folder / f"{name}.parquet", frame.write_parquet)


def simulate(seed: int = 0, n_users: int = 1000, n_items: int = 400) -> Simulation:
    """Return a simulated shop with three recommenders' lists; the same seed gives the same frames.

    A user meets items in proportion to popularity, which is long-tailed, and keeps those that fit their taste in genres
    (of their country and of their own) and in finer traits. A quarter of what each user kept is held out as the truth,
    with a relevance of 1 to 3 by how well the item fits; the recommenders see the rest, and never list it again.

        seed: the same seed gives the same numbers.
        n_users: how many users.
        n_items: how many items.

    >>> simulate(seed=1, n_users=50, n_items=60).recs["model"].unique().sort().to_list()
    ['item_neighbours', 'matrix_factorisation', 'popularity']
    """
    check_threads()
    random = np.random.default_rng(seed)
    # popularity falls off as a power of an item's place in the charts
    log_popularity = -1.1 * np.log(random.permutation(n_items) + 5.0)
    genre = random.integers(len(GENRES), size=n_items)
    country, activity, taste = _people(random, n_users)
    traits = random.normal(size=(n_users, 6)) @ random.normal(size=(6, n_items)) / np.sqrt(6)
    fit = 7 * taste[:, genre] + traits
    kept = _kept(random, fit + log_popularity, activity)
    # a random quarter of what each user kept
    held_out = _first(
        np.where(kept, random.random(kept.shape), np.inf), np.rint(kept.sum(axis=1) / 4)
    )
    train = kept & ~held_out
    liked = fit[held_out]
    grades = 1 + np.digitize(liked, np.quantile(liked, [1 / 3, 2 / 3]))
    levels = pl.Series([*ACTIVITIES], dtype=pl.Enum([*ACTIVITIES]))
    return Simulation(
        recs=pl.concat(
            _lists(name, score(train.astype(float)), train) for name, score in RECOMMENDERS.items()
        ),
        truth=_pairs(held_out).with_columns(relevance=pl.Series(grades)),
        train=_pairs(train),
        users=pl.DataFrame(
            {
                "user": np.arange(1, n_users + 1),
                "country": pl.Series([*COUNTRIES])[country],
                "activity": levels[activity],
            }
        ),
        items=pl.DataFrame({"item": np.arange(1, n_items + 1), "genre": pl.Series(GENRES)[genre]}),
        log=_log(np.random.default_rng([seed, 1]), kept),
    )


def _people(random: Random, n: int) -> tuple[Array, Array, Array]:
    """Return each user's country, activity and taste: a share for each genre, near to that of the country."""
    shares, likes = zip(*COUNTRIES.values(), strict=True)
    country = random.choice(len(shares), size=n, p=shares)
    activity = random.choice(len(ACTIVITIES), size=n, p=[0.45, 0.4, 0.15])
    gamma = random.gamma(0.35 * np.array(likes, dtype=float)[country])
    return country, activity, gamma / gamma.sum(axis=1, keepdims=True)


def _kept(random: Random, appeal: Array, activity: Array) -> Array:
    """Return which items each user kept: as many as they are active, drawn without replacement by the items' appeal."""
    wanted = random.poisson(np.array([*ACTIVITIES.values()])[activity])
    wanted = np.clip(wanted, 4, max(4, appeal.shape[1] // 2))
    # the first items after adding Gumbel noise are a draw without replacement in proportion to exp(appeal)
    return _first(-(appeal + random.gumbel(size=appeal.shape)), wanted)


def _log(random: Random, kept: Array) -> pl.DataFrame:
    """Return what was bought with its day, in the order of days, of which there are 84.

    A third of the items and of the users come in the course of these days; one pair of ten is bought again, one to four weeks
    later.
    """
    came = [
        np.where(random.random(n) < 2 / 3, 0, random.integers(DAYS, size=n)) for n in kept.shape
    ]
    first = np.maximum.outer(*came)[kept]
    day = first + (random.random(first.shape) * (DAYS - first)).astype(int)
    is_again = random.random(first.shape) < REPEATED
    again = np.where(is_again, day + random.integers(7, 28, first.shape), DAYS)
    log = pl.concat(
        [_pairs(kept).with_columns(day=pl.Series(FIRST_DAY + one)) for one in (day, again)]
    )
    return log.filter(pl.col("day").lt(FIRST_DAY + DAYS)).sort("day", "user", "item")


def _first(values: Array, wanted: Array) -> Array:
    """Return which values are among the lowest of their row, so many as are wanted in each."""
    return values.argsort(axis=1).argsort(axis=1) < wanted[:, None]


def popularity(train: Array) -> Array:
    """Score items alike for everyone: by the number of users who kept them."""
    return np.broadcast_to(train.sum(axis=0), train.shape)


def item_neighbours(train: Array) -> Array:
    """Score items by the cosine between the users who kept them and those who kept each item of the user's own."""
    cosine = train.T @ train
    norm = np.sqrt(cosine.diagonal()) + 1e-9
    cosine /= np.outer(norm, norm)
    np.fill_diagonal(cosine, 0)
    nearest = _first(-cosine, np.array([N_NEIGHBOURS]))
    scores: Array = train @ np.where(nearest, cosine, 0).T
    return scores


def matrix_factorisation(train: Array) -> Array:
    """Score items by a truncated singular value decomposition of the training matrix, popular columns weighted down."""
    weighted = train / (train.sum(axis=0) + 1) ** 0.25
    _, vectors = np.linalg.eigh(weighted.T @ weighted)
    factors = vectors[:, -N_FACTORS:]
    scores: Array = weighted @ factors @ factors.T
    return scores


RECOMMENDERS = {
    "popularity": popularity,
    "item_neighbours": item_neighbours,
    "matrix_factorisation": matrix_factorisation,
}


def _lists(model: str, scores: Array, train: Array) -> pl.DataFrame:
    """Return the best items of each user, without those of the training part; ties by item."""
    ranked: Array = np.where(train, np.inf, -scores).argsort(axis=1, kind="stable")
    best = ranked[:, :LIST_LENGTH] + 1
    user, rank = np.indices(best.shape).reshape(2, -1) + 1
    return pl.DataFrame({"model": model, "user": user, "item": best.ravel(), "rank": rank})


def _pairs(mask: Array) -> pl.DataFrame:
    return pl.DataFrame(np.argwhere(mask) + 1, ["user", "item"], orient="row")


def python_lines(seed: int, n_users: int, n_items: int) -> str:
    """Return the Python lines that the lines of the answers build on."""
    return f"""\
import recframe as rf
from recframe.demo import simulate

sim = simulate(seed={seed}, n_users={n_users}, n_items={n_items})
rec = sim.recs.rec(truth=sim.truth, train=sim.train, users=sim.users,
                   items=sim.items, model="model")
"""


def answers(simulation: Simulation) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """Answer the first questions about three recommenders, each with its Python line: which model, at what price, for whom."""
    sides = simulation._asdict()
    del sides["log"]
    rec = rec_of(sides.pop("recs"), **sides, model="model")
    for question, line in QUESTIONS.items():
        yield question, line, eval(line, {"rec": rec})  # noqa: S307  our own


def conclusion(overall: pl.DataFrame) -> str:
    """Say how far the best model is from the runner-up."""
    (best, value), (second, less), *_ = (
        overall.sort("ndcg@10", descending=True).select("model", "ndcg@10").rows()
    )
    return f"{best} is the best model: its ndcg@10 is {value:.3f}, that of {second}, the runner-up, {less:.3f}."
