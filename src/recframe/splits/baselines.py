"""Lists of baselines, from the train of each fold alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from recframe.errors import RecframeError
from recframe.frames.rows.joins import AS_EVER, by_item, joined, with_places
from recframe.splits.hashing import hashed
from recframe.splits.labels import Fold
from recframe.splits.log import FOLD, PAIR
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
            own = BASELINES[name](fold, asked).join(fold.users, on="u", maintain_order="left")
            columns = {FOLD: pl.lit(fold.number, pl.Int64), "model": pl.lit(name)}
            rank = place.cast(pl.Int64)
            lists.append(own.select(**columns, user="user", item="item", rank=rank))
    return pl.concat(lists)


def popular(fold: Fold, asked: Asked) -> pl.LazyFrame:
    """Return the items of most users in train, equal ones by item."""
    return _of_all(fold, _by_users(fold.in_parts("train")), fold.users, asked)


def recent(fold: Fold, asked: Asked) -> pl.LazyFrame:
    """Return the items of most users among the last rows of train."""
    return _of_all(fold, _by_users(_last_rows(fold, asked.window)), fold.users, asked)


def random(fold: Fold, asked: Asked) -> pl.LazyFrame:
    """Return train's items in the order of hash64(seed, item), which each user enters at place hash64(seed, user) mod n."""
    items = hashed(fold.items.select("item"), ["item"], "score", seed=asked.seed)
    users = hashed(fold.users, ["user"], "entry", seed=asked.seed)
    return _of_all(fold, items, users, asked)


def repeat(fold: Fold, asked: Asked) -> pl.LazyFrame:
    """Return the user's own items, the last first, then those of most rows, then by item; seen ones are never dropped."""
    last = {"last": time.max()} if "time" in fold.log.names else {}
    return _own(fold, fold.known, asked, **last, n=pl.len())


def oracle(fold: Fold, asked: Asked) -> pl.LazyFrame:
    """Return the truth itself, the highest relevance first, equal ones by item."""
    truth, has_relevance = fold.in_parts("truth"), "relevance" in fold.log.names
    if asked.drops_seen:
        truth = truth.join(fold.known, on=PAIR, how="anti")
    gain = pl.col("relevance").fill_nan(None).max() if has_relevance else pl.lit(1)
    return _own(fold, truth, asked, gain=gain)


Baseline = Callable[[Fold, Asked], pl.LazyFrame]
"""Type of functions that return lists of `u`, `item` and `place`, in the order of users and places."""
BASELINES: Mapping[str, Baseline] = {
    one.__name__: one for one in (popular, recent, random, repeat, oracle)
}


def _own(fold: Fold, rows: pl.LazyFrame, asked: Asked, **scores: pl.Expr) -> pl.LazyFrame:
    """Return each user's own items of some rows by their scores, the highest first, equal ones by item."""
    pairs = joined(rows, fold.users, ["user"], "inner").group_by("u", "item").agg(**scores)
    items = by_item(fold.log.schema)
    falls = [False, *[True] * len(scores), *[False] * len(items)]
    pairs = pairs.sort("u", *scores, *items, descending=falls, nulls_last=True)
    return with_places(pairs, ["u"]).filter(place <= asked.k)


def _of_all(fold: Fold, items: pl.LazyFrame, users: pl.LazyFrame, asked: Asked) -> pl.LazyFrame:
    """Return the items of the highest scores for every user, equal ones by item, or the first that they have not seen.

    Users may have an `entry`, whose place is their first; behind the last one the order begins anew. Each has a place more
    for an item that they have seen among their first ones.
    """
    held, by = fold.log.held, by_item(fold.log.schema)
    items = items.sort("score", *by, descending=[True, *[False] * len(by)])
    items = held(items.select("item").with_row_index("place"))
    known = fold.known if asked.drops_seen else fold.known.limit(0)
    seen = joined(known.select(PAIR).unique(), users, ["user"], "inner")
    seen = held(seen.select("u", "item", is_seen=True))
    counts = seen.group_by("u").agg(n_seen=pl.len().cast(pl.Int64))
    users = joined(users, counts, ["u"], in_order=True)
    n_items = items.select(n=pl.len().cast(pl.Int64))
    users = users.join(n_items, how="cross", maintain_order="left")
    has_entry = "entry" in users.collect_schema()
    # of whole numbers alone, since Polars 1 takes both kinds of them as floats
    number = pl.col("entry") % pl.col("n").cast(pl.UInt64)
    entry = number.cast(pl.Int64) if has_entry else pl.lit(0)
    most = pl.min_horizontal("n", pl.col("n_seen").fill_null(0) + asked.k)
    rows = users.select("u", "n", entry=entry, place=pl.int_ranges(0, most))
    rows = rows.explode("place", **AS_EVER)
    rows = rows.select("u", place=((place + pl.col("entry")) % pl.col("n")).cast(pl.UInt32))
    rows = rows.join(items, on="place", maintain_order="left").select("u", "item")
    rows = joined(rows, seen, ["u", "item"], in_order=True)
    rows = rows.filter(pl.col("is_seen").is_null())
    return with_places(rows, ["u"]).filter(place <= asked.k)


def _by_users(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the items of some rows, their score the number of their users."""
    return rows.select(PAIR).unique().group_by("item").agg(score=pl.len())


def _last_rows(fold: Fold, window: Length | None) -> pl.LazyFrame:
    """Return the rows of train from a length before its end on."""
    rule, dtype = fold.rule, fold.log.require_time("baselines")
    length = rule.horizon if window is None else window
    if length is None:
        msg = (
            f"the split {rule.words} has no horizon, so 'recent' needs a length: baselines('recent', window='7d'), or a "
            "number where times are numbers"
        )
        raise RecframeError(msg)
    end = fold.in_parts("train").select(time.max())
    if rule.borders is not None:
        there = rule.borders.collect_schema()
        names = [f"{point} {fold.number}" for point in ("train end", "start")]
        end = rule.borders.select(time=next(name for name in names if name in there))
    start = fold.log.held(end.select(start=before(time, length, dtype)))
    is_late = time > pl.col("start")
    if rule.borders is not None and not rule.inclusive:
        is_late = time >= pl.col("start")
    return fold.in_parts("train").join(start, how="cross").filter(is_late)
