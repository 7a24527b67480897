"""How popular the listed items are among the users of train: novelty, popularity and the long tail.

Symbols in the formulas: L is a user's list up to k, n its number of items; pop(i) is the number of train users of item i,
0 for a cold one; U is the number of train users. A metric is null for a list without an item up to k, and the mean runs
over the others.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

import polars as pl

from recframe.list_terms import AtLists, share
from recframe.registry import Bounds, metric

LogBase = Annotated[float, Bounds(above=1)]
HeadShare = Annotated[float, Bounds(above=0, below=1)]
UNIT, COUNT = (0.0, 1.0), (0.0, float("inf"))


@metric(
    over="lists",
    aliases=("miuf", "self_information"),
    needs=("train",),
    range=COUNT,
    direction="higher",
    formula="1/n · Σ over L of -log2(max(pop(i), 1) / U)",
)
def novelty(at: AtLists, *, cold: Literal["one", "drop"] = "one", normalized: bool = False, log_base: LogBase = 2) -> pl.Expr:
    """Mean self-information of the listed items, in bits: what is known to few users is new to most.

    1/n · Σ over L of -log_b(max(pop(i), 1) / U), b = `log_base`; at most log_b(U), by which `normalized=True` divides (null
    where U is 1). An item that nobody has in train counts as one that one user has; `cold="drop"` leaves it out of the sum
    and of n. Null without a list, and where no item is left.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2]})
    >>> train = pl.DataFrame({"user": [1, 2, 3, 4], "item": [1, 1, 2, 3]})
    >>> df.rec(train=train).novelty(k=10)
    1.5

    Source: Zhou et al. 2010, Solving the apparent diversity-accuracy dilemma of recommender systems; Castells, Vargas and
    Wang 2011.
    """
    known = at.popularity > 0 if cold == "drop" else pl.lit(value=True)
    informed = pl.when(known).then(at.popularity.clip(lower_bound=1.0).log())
    nats = at.n_train_users.log() - share(at.sum(informed), at.sum(known.cast(pl.Float64)))
    if normalized:
        return share(nats, at.n_train_users.log()).clip(0.0, 1.0)
    return pl.when(at.n_train_users > 0).then(nats.clip(lower_bound=0.0)) / math.log(log_base)


@metric(over="lists", aliases=("arp",), needs=("train",), range=COUNT, direction="lower", formula="1/n · Σ over L of pop(i)")
def popularity(at: AtLists, *, normalizer: Literal["none", "users", "max", "interactions"] = "none") -> pl.Expr:
    """Average popularity of the listed items: by how many train users they are known.

    1/n · Σ over L of pop(i); `normalizer` divides by U (`"users"`), by the popularity of the most popular item (`"max"`) or
    by the number of pairs in train (`"interactions"`). A cold item counts 0. Null without a list.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2]})
    >>> train = pl.DataFrame({"user": [1, 2, 3, 4], "item": [1, 1, 2, 3]})
    >>> df.rec(train=train).popularity(k=10)
    1.5

    Source: Yin, Cui, Li, Yao and Chen 2012, Challenging the long tail recommendation.
    """
    whole = {
        "none": lambda: pl.lit(1.0, dtype=pl.Float64),
        "users": lambda: at.n_train_users,
        "max": lambda: at.max_popularity,
        "interactions": lambda: at.n_interactions,
    }
    return share(at.mean(at.popularity), whole[normalizer]())


@metric(over="lists", needs=("train",), range=UNIT, formula="items of L that the user has in train / n")
def repeat_rate(at: AtLists) -> pl.Expr:
    """Share of the list that the user already has in train.

    |L and train items of the user| / n. 0 for a user who is not in train; null without a list.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2]})
    >>> df.rec(train=pl.DataFrame({"user": [1, 2], "item": [1, 2]})).repeat_rate(k=10)
    0.5

    Source: Castells, Hurley and Vargas 2022, Novelty and diversity in recommender systems.
    """
    return at.mean(at.in_history.cast(pl.Float64))
