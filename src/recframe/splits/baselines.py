"""Lists of baselines, from the train of each fold alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from recframe.audit.split_rows import PAIR
from recframe.errors import RecframeError
from recframe.frames.rows.joins import AS_EVER, by_item, joined, with_places
from recframe.splits.hashing import hashed
from recframe.splits.labels import Fold
from recframe.splits.log import FOLD
from recframe.splits.times import Length, before

BOUNDS = ("oracle",)
"""The baselines that read the truth, so that no model can beat them."""
place, time = pl.col("place"), pl.col("time")


@dataclass(frozen=True)
class Asked:
    """Arguments of baselines."""

    k: int
    """The length of the lists."""
    window: Length | None = None
    """The length of the end of train that `recent` reads."""
    seed: int = 0
    drops_seen: bool = False
    """Whether lists leave out what their user has in train or fold_in."""


def lists_of(folds: Sequence[Fold], names: Sequence[str], asked: Asked) -> pl.LazyFrame:
    """Return the lists of baselines: fold, model, user, item and rank, in this order of rows."""
    lists = []
    for fold in folds:
        for name in names:
            own, n = BASELINES[name](fold, asked), pl.lit(fold.number, pl.Int64)
            lists.append(
                own.select(n.alias(FOLD), pl.lit(name).alias("model"), *PAIR, rank="place")
            )
    return pl.concat(lists)


def popular(fold: Fold, asked: Asked) -> pl.LazyFrame:
    """Return the items of most users in train, equal ones by item."""
    return _popular_in(fold, fold.by_rule.train, asked)


def recent(fold: Fold, asked: Asked) -> pl.LazyFrame:
    """Return the items of most users among the rows of train within a length before its last one."""
    length, train = asked.window or fold.rule.horizon, fold.by_rule.train
    if length is None:
        raise RecframeError(
            f"the split {fold.rule.words} has no horizon, so 'recent' needs a length: baselines('recent', window='7d'), or a "
            "number where times are numbers"
        )
    first = before(time.max(), length, fold.log.require_time("baselines"))
    start = fold.log.held(train.select(start=first))
    return _popular_in(fold, train.join(start, how="cross").filter(time > pl.col("start")), asked)


def random(fold: Fold, asked: Asked) -> pl.LazyFrame:
    """Return train's items in the order of hash64(seed, item), which each user enters at place hash64(seed, user) mod n."""
    items = hashed(fold.by_rule.item_history.select("item"), ["item"], "score", seed=asked.seed)
    users = hashed(fold.users, ["user"], "entry", seed=asked.seed)
    return _of_all(fold, items, users, asked)


def repeat(fold: Fold, asked: Asked) -> pl.LazyFrame:
    """Return the user's own items, the last first, then those of most rows, then by item; seen ones are never dropped."""
    return _own(fold, fold.by_rule.known, asked, pl.col("^time$").max(), pl.len())


def oracle(fold: Fold, asked: Asked) -> pl.LazyFrame:
    """Return the truth itself, the highest relevance first, equal ones by item."""
    truth = fold.in_parts("truth")
    if asked.drops_seen:
        truth = truth.join(fold.by_rule.known, on=PAIR, how="anti")
    gain = pl.col("^relevance$").fill_nan(None).max()
    return _own(fold, truth, asked, gain)


Baseline = Callable[[Fold, Asked], pl.LazyFrame]
"""Type of functions that return lists of `user`, `item` and `place`, in the order of users and places."""
BASELINES: Mapping[str, Baseline] = {
    one.__name__: one for one in (popular, recent, random, repeat, oracle)
}


def _own(fold: Fold, rows: pl.LazyFrame, asked: Asked, *scores: pl.Expr) -> pl.LazyFrame:
    """Return each user's own items of some rows by their scores, the highest first, equal ones by item."""
    pairs = rows.join(fold.users, on="user", how="semi").group_by(PAIR).agg(scores)
    _, _, *of_scores = pairs.collect_schema()
    order = ["user", *of_scores, *by_item(fold.log.schema)]
    falls = [False, *[True] * len(of_scores), False]
    pairs = pairs.sort(order, descending=falls, nulls_last=True)
    return with_places(pairs, ["user"]).filter(place <= asked.k)


def _popular_in(fold: Fold, rows: pl.LazyFrame, asked: Asked) -> pl.LazyFrame:
    """Return the items of most users among some rows, equal ones by item."""
    items = rows.select(PAIR).unique().group_by("item").agg(score=pl.len())
    users = fold.users.with_columns(entry=pl.lit(0, pl.UInt64))
    return _of_all(fold, items, users, asked)


def _of_all(fold: Fold, items: pl.LazyFrame, users: pl.LazyFrame, asked: Asked) -> pl.LazyFrame:
    """Return the items of the highest scores for every user, equal ones by item, or the first that they have not seen.

    A user begins at the place `entry` mod n of the n items; behind the last one the order begins anew. Each has a place more
    for an item that they have seen among their first ones.
    """
    held = fold.log.held
    items = items.sort("score", *by_item(fold.log.schema), descending=[True, False])
    items = held(items.select("item").with_row_index("place"))
    known = fold.by_rule.known if asked.drops_seen else fold.by_rule.known.limit(0)
    seen = held(known.join(users, on="user", how="semi").select(*PAIR, is_seen=True).unique())
    n_seen = seen.group_by("user").agg(n_seen=pl.len().cast(pl.UInt64))
    users = joined(users, n_seen, ["user"], in_order=True)
    users = users.join(items.select(n=pl.len().cast(pl.UInt64)), how="cross", maintain_order="left")
    # whole numbers of one kind, since Polars 1 takes two of them as floats
    first, k = pl.col("entry") % pl.col("n"), pl.lit(asked.k, pl.UInt64)
    end = first + pl.min_horizontal("n", pl.col("n_seen").fill_null(0) + k)
    rows = users.select("user", "n", place=pl.int_ranges(first, end, dtype=pl.UInt64))
    rows = rows.explode("place", **AS_EVER)
    rows = rows.with_columns((place % pl.col("n")).cast(pl.UInt32))
    rows = joined(rows.join(items, on="place", maintain_order="left"), seen, PAIR, in_order=True)
    rows = rows.filter(pl.col("is_seen").is_null()).select(PAIR)
    return with_places(rows, ["user"]).filter(place <= asked.k)
