"""Simulated shop for `recframe demo`: items, users, truth, three recommenders."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import date
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from recframe.api.engine_call import rec as rec_of
from recframe.frames import atomic_write
from recframe.frames.collecting import check_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]
    Mask = NDArray[np.bool_]

METRICS = ("ndcg@10", "recall@10", "hit_rate@10", "map@10")
SIDE_EFFECTS = ("coverage@10", "novelty@10", "popularity@10")
LIST_LENGTH = 20
GENRES = ("action", "comedy", "crime", "drama", "family", "fantasy", "horror", "romance")
ACTIVITIES = {"casual": 8, "regular": 20, "heavy": 45}
# The share of users, and what a country likes: the first has the most users, so the charts are made of its taste.
COUNTRIES = {
    "DE": (0.6, (5, 3, 4, 2, 1, 1, 1, 1)),
    "FR": (0.3, (1, 4, 1, 5, 2, 1, 1, 4)),
    "JP": (0.1, (1, 1, 1, 1, 4, 6, 4, 1)),
}
FIRST_DAY = date(2026, 3, 2)
DAYS = 84
"""The days of the log."""
REPEATED = 0.1
"""Share of the pairs that are bought again."""
SHELVES = ("head", "middle", "tail")


@dataclass(frozen=True)
class Simulation:
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
        for field in fields(self):
            frame: pl.DataFrame = getattr(self, field.name)
            atomic_write.write(folder / f"{field.name}.parquet", frame.write_parquet)


@dataclass(frozen=True)
class Answer:
    """One demo table: question, Python line and result frame."""

    question: str
    line: str
    frame: pl.DataFrame


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
    genre, log_popularity = _catalogue(random, n_items)
    country, activity, taste = _people(random, n_users)
    traits = random.normal(size=(n_users, 6)) @ random.normal(size=(6, n_items)) / np.sqrt(6)
    fit = 7 * taste[:, genre] + traits
    kept = _kept(random, fit + log_popularity, activity)
    held_out = _held_out(random, kept)
    train = kept & ~held_out
    grades = 1 + np.digitize(fit, np.quantile(fit[held_out], [1 / 3, 2 / 3]))
    return Simulation(
        recs=pl.concat(
            _lists(name, score(train.astype(float)), train) for name, score in RECOMMENDERS.items()
        ),
        truth=_pairs(held_out).with_columns(relevance=pl.Series(grades[np.nonzero(held_out)])),
        train=_pairs(train),
        users=_pairs(np.ones((n_users, 1), dtype=bool)).select(
            "user",
            country=pl.Series(np.array(list(COUNTRIES))[country]),
            activity=_named(activity, ACTIVITIES),
        ),
        items=_pairs(np.ones((1, n_items), dtype=bool)).select(
            "item", genre=pl.Series(np.array(GENRES)[genre]), shelf=_shelf(train)
        ),
        log=_log(np.random.default_rng([seed, 1]), kept),
    )


def _catalogue(random: np.random.Generator, n_items: int) -> tuple[NDArray[np.intp], Matrix]:
    """Return each item's genre and the logarithm of its popularity, which falls off as a power of its place in the charts."""
    log_popularity = -1.1 * np.log(random.permutation(n_items) + 5.0)
    return random.integers(len(GENRES), size=n_items), log_popularity


def _people(
    random: np.random.Generator, n_users: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], Matrix]:
    """Return each user's country, activity and taste: a share for each genre, near to that of the country."""
    country = random.choice(
        len(COUNTRIES), size=n_users, p=[share for share, _ in COUNTRIES.values()]
    )
    activity = random.choice(len(ACTIVITIES), size=n_users, p=[0.45, 0.4, 0.15])
    likes = np.array([likes for _, likes in COUNTRIES.values()], dtype=float)
    gamma = random.gamma(0.35 * likes[country])
    return country, activity, gamma / gamma.sum(axis=1, keepdims=True)


def _kept(random: np.random.Generator, appeal: Matrix, activity: NDArray[np.intp]) -> Mask:
    """Return which items each user kept: as many as they are active, drawn without replacement by the items' appeal."""
    n_items = appeal.shape[1]
    wanted = random.poisson(np.array(list(ACTIVITIES.values()))[activity])
    wanted = np.clip(wanted, 4, max(4, n_items // 2))
    # The items that come first after adding Gumbel noise are a draw without replacement in proportion to exp(appeal).
    kept: Mask = _places(-(appeal + random.gumbel(size=appeal.shape))) < wanted[:, None]
    return kept


def _held_out(random: np.random.Generator, kept: Mask) -> Mask:
    """Return a random quarter of what each user kept."""
    wanted = np.rint(kept.sum(axis=1) / 4)
    held_out: Mask = _places(np.where(kept, random.random(kept.shape), np.inf)) < wanted[:, None]
    return held_out


def _log(random: np.random.Generator, kept: Mask) -> pl.DataFrame:
    """Return what was bought with its day, in the order of days, of which there are 84.

    A third of the items and of the users come in the course of these days; one pair of ten is bought again, one to four weeks
    later.
    """
    n_users, n_items = kept.shape
    here = [
        np.where(random.random(n) < 2 / 3, 0, random.integers(DAYS, size=n))
        for n in (n_users, n_items)
    ]
    user, item = np.nonzero(kept)
    first = np.maximum(here[0][user], here[1][item])
    day = first + (random.random(len(user)) * (DAYS - first)).astype(int)
    again = np.where(
        random.random(len(user)) < REPEATED, day + random.integers(7, 28, len(user)), DAYS
    )
    pairs = pl.DataFrame({"user": user + 1, "item": item + 1})
    log = pl.concat([pairs.with_columns(day=pl.Series(one)) for one in (day, again)])
    dated = pl.lit(FIRST_DAY) + pl.duration(days="day")
    return log.filter(pl.col("day") < DAYS).sort("day", "user", "item").with_columns(day=dated)


def _places(values: Matrix) -> NDArray[np.intp]:
    """Return the place, from 0, of each value in its row."""
    return values.argsort(axis=1).argsort(axis=1)


def popularity(train: Matrix) -> Matrix:
    """Score items alike for everyone: by the number of users who kept them."""
    return np.broadcast_to(train.sum(axis=0), train.shape)


def item_neighbours(train: Matrix, n_neighbours: int = 40) -> Matrix:
    """Score items by the cosine between the users who kept them and those who kept each item of the user's own."""
    cosine = train.T @ train
    norm = np.sqrt(cosine.diagonal()) + 1e-9
    cosine /= norm[:, None] * norm
    np.fill_diagonal(cosine, 0)
    nearest = _places(-cosine) < n_neighbours
    scores: Matrix = train @ np.where(nearest, cosine, 0).T
    return scores


def matrix_factorisation(train: Matrix, n_factors: int = 16) -> Matrix:
    """Score items by a truncated singular value decomposition of the training matrix, popular columns weighted down."""
    weighted = train / (train.sum(axis=0) + 1) ** 0.25
    _, vectors = np.linalg.eigh(weighted.T @ weighted)
    factors = vectors[:, -n_factors:]
    scores: Matrix = weighted @ factors @ factors.T
    return scores


RECOMMENDERS: dict[str, Callable[[Matrix], Matrix]] = {
    "popularity": popularity,
    "item_neighbours": item_neighbours,
    "matrix_factorisation": matrix_factorisation,
}


def _lists(model: str, scores: Matrix, train: Mask) -> pl.DataFrame:
    """Return the best items of each user, without those of the training part; ties by item."""
    best = np.where(train, np.inf, -scores).argsort(axis=1, kind="stable")[:, :LIST_LENGTH]
    n_users, length = best.shape
    return pl.DataFrame(
        {
            "model": [model] * best.size,
            "user": np.repeat(np.arange(1, n_users + 1), length),
            "item": best.ravel() + 1,
            "rank": np.tile(np.arange(1, length + 1), n_users),
        }
    )


def _pairs(mask: Mask) -> pl.DataFrame:
    user, item = np.nonzero(mask)
    return pl.DataFrame({"user": user + 1, "item": item + 1})


def _named(places: NDArray[np.intp], names: Iterable[str]) -> pl.Series:
    names = list(names)
    return pl.Series(np.array(names)[places], dtype=pl.Enum(names))


def _shelf(train: Mask) -> pl.Series:
    """Return each item's shelf: the items that make up the first, second and last third of the training rows."""
    counts = train.sum(axis=0)
    order = np.argsort(-counts, kind="stable")
    shelves = np.empty(len(counts), dtype=np.intp)
    before = counts[order].cumsum() - counts[order]
    shelves[order] = np.minimum(3 * before // max(1, counts.sum()), len(SHELVES) - 1)
    return _named(shelves, SHELVES)


def python_lines(seed: int, n_users: int, n_items: int) -> str:
    """Return the Python lines that the lines of the answers build on."""
    return f"""\
import recframe as rf
from recframe.demo import simulate

sim = simulate(seed={seed}, n_users={n_users}, n_items={n_items})
rec = sim.recs.rec(truth=sim.truth, train=sim.train, users=sim.users,
                   items=sim.items, model="model")
"""


def answers(simulation: Simulation) -> Iterator[Answer]:
    """Answer the first questions about three recommenders: which model, at what price, for whom."""
    rec = rec_of(
        simulation.recs,
        truth=simulation.truth,
        train=simulation.train,
        users=simulation.users,
        items=simulation.items,
        model="model",
    )
    asked, beyond = map(_quoted, (METRICS, SIDE_EFFECTS))
    yield Answer("Which model is best?", f"rec.evaluate({asked})", rec.evaluate(*METRICS))
    question = "At what price? Share of the items shown, novelty in bits, users who know an item"
    yield Answer(question, f"rec.evaluate({beyond})", rec.evaluate(*SIDE_EFFECTS))
    question = 'For whom? By country; by="activity", "genre" or "shelf" would do as well'
    line = f'rec.evaluate({asked}, by="country")'
    yield Answer(question, line, rec.evaluate(*METRICS, by="country"))


def _quoted(metrics: Iterable[str]) -> str:
    return ", ".join(f'"{metric}"' for metric in metrics)


def conclusion(overall: pl.DataFrame) -> str:
    """Say how far the best model is from popularity."""
    metric = METRICS[0]
    values = dict(overall.sort(metric, descending=True).select("model", metric).iter_rows())
    best, base = next(iter(values)), values["popularity"]
    if best == "popularity" or not base:
        return f"{best} is the best model, with {metric} {values[best]:.3f}."
    times = f"{values[best] / base:.1f} times that of popularity ({base:.3f})"
    return f"{best} is the best model: its {metric} of {values[best]:.3f} is {times}."
