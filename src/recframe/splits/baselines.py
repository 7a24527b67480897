"""Lists of baselines, from the train of each fold alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from recframe.errors import ColumnError, RecframeError
from recframe.frames.hints import NAMED, bind
from recframe.frames.rows.joins import AS_EVER, joined
from recframe.frames.rows.positions import with_places
from recframe.splits.hashing import hashed, mixed
from recframe.splits.labels import Fold
from recframe.splits.log import FOLD, PAIR
from recframe.splits.times import Length, before

BOUNDS = ("oracle",)
"""The baselines that read the truth, so that no model can beat them."""
HALF = 2**32
"""Factor of the user in a packed number of a user and a place."""
place, key = pl.col("place"), pl.col("key")


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
    found = []
    for fold in folds:
        for name in names:
            lists = BASELINES[name](fold, asked).join(fold.users, on="u", maintain_order="left")
            columns = {FOLD: pl.lit(fold.number, pl.Int64), "model": pl.lit(name)}
            rank = pl.col("rank").cast(pl.Int64)
            found.append(lists.select(**columns, user="user", item="item", rank=rank))
    return pl.concat(found)


def popular(fold: Fold, asked: Asked) -> pl.LazyFrame:
    """Return the items of most users in train, equal ones by item."""
    return _first(fold, fold.train, asked)


def recent(fold: Fold, asked: Asked) -> pl.LazyFrame:
    """Return the items of most users among the last rows of train."""
    return _first(fold, _last_rows(fold, asked.window), asked)


def random(fold: Fold, asked: Asked) -> pl.LazyFrame:
    """Return items by chance: draw j of a user is item hash64(seed, user, j) mod n of train's n items, ascending.

    A list is the first k distinct draws of the first 3k + 64 (unseen ones, if seen are dropped), then items in ascending order.

    NOTE: few draws do for most lists; only those that they leave short get all.
    """
    k, held = asked.k, fold.log.held
    items = _numbered(fold, fold.train.select("item").unique())
    seen = held(_packed(_seen(fold, items, asked)).unique())
    users = hashed(fold.users, ["user"], "key", seed=asked.seed)
    users = held(users.join(items.select(n=pl.len()), how="cross", maintain_order="left"))
    first = held(_unseen(_drawn(users, k + k // 4 + 8), seen, k))
    full = held(first.filter(pl.col("rank") == k).select("u"))
    short = users.join(full, on="u", how="anti")
    draws = pl.concat([_drawn(short, 3 * k + 64), _ascending(short, items, seen, k)])
    others = _unseen(draws.sort("u", maintain_order=True), seen, k)
    lists = pl.concat([first.join(full, on="u", how="semi"), others]).sort("u", "rank")
    return _of_items(lists, items)


def repeat(fold: Fold, asked: Asked) -> pl.LazyFrame:
    """Return the user's own items, the last first, then those of most rows, then by item; seen ones are never dropped."""
    last = {"last": pl.col("time").max()} if "time" in fold.log.names else {}
    own = joined(fold.known, fold.users, ["user"], "inner")
    pairs = own.group_by("u", "item").agg(**last, n=pl.len())
    return _ranked(fold.in_order(pairs, *last, "n", users=True), asked.k)


def oracle(fold: Fold, asked: Asked) -> pl.LazyFrame:
    """Return the truth itself, the highest relevance first, equal ones by item."""
    has_relevance = "relevance" in fold.log.names
    truth = joined(fold.truth, fold.users, ["user"], "inner")
    if asked.drops_seen:
        truth = truth.join(fold.known, on=PAIR, how="anti")
    gain = pl.col("relevance").fill_nan(None).max() if has_relevance else pl.lit(1)
    pairs = truth.group_by("u", "item").agg(gain=gain)
    return _ranked(fold.in_order(pairs, "gain", users=True), asked.k)


Baseline = Callable[[Fold, Asked], pl.LazyFrame]
"""Type of functions that return lists of `u`, `item` and `rank`, in the order of users and ranks."""
BASELINES: Mapping[str, Baseline] = {
    one.__name__: one for one in (popular, recent, random, repeat, oracle)
}


def _first(fold: Fold, rows: pl.LazyFrame, asked: Asked) -> pl.LazyFrame:
    """Return the items of most users among some rows for every user, or the first that he has not seen."""
    counts = rows.select(PAIR).unique().group_by("item").agg(n=pl.len())
    items = _numbered(fold, counts, "n")
    if not asked.drops_seen:
        best = items.filter(place < asked.k).select("item", rank=place + 1)
        return fold.users.select("u").join(best, how="cross", maintain_order="left_right")
    seen, k = _seen(fold, items, asked), asked.k
    # what lies behind as many places as k and all of a user's seen ones decides nothing, and there are few others
    near = seen.join(seen.group_by("u").len("most"), on="u").filter(place < pl.col("most") + k)
    seen = fold.log.held(_packed(near).unique())
    return _of_items(_unseen(_ascending(fold.users, items, seen, k), seen, k), items)


def _numbered(fold: Fold, items: pl.LazyFrame, *order: str) -> pl.LazyFrame:
    """Return items in an order, with their `place` from 0."""
    items = fold.in_order(items, *order).with_row_index("place")
    return fold.log.held(items.select("item", place.cast(pl.Int64)))


def _seen(fold: Fold, items: pl.LazyFrame, asked: Asked) -> pl.LazyFrame:
    """Return users and the places of what they have seen, a pair for each row; none where they are not dropped."""
    known = fold.known.select(PAIR)
    own = joined(known if asked.drops_seen else known.clear(), fold.users, ["user"], "inner")
    return own.join(items, on="item").select("u", "place")


def _packed(rows: pl.LazyFrame) -> pl.LazyFrame:
    return rows.select(key=pl.col("u").cast(pl.UInt64) * HALF + place.cast(pl.UInt64))


def _drawn(users: pl.LazyFrame, n_draws: int) -> pl.LazyFrame:
    """Return the first places that users with their `key` draw of n: `u` and `place`."""
    draws = users.select("u", "n", "key", draw=pl.int_ranges(0, n_draws, dtype=pl.UInt64))
    draws = mixed(draws.explode("draw", **AS_EVER), "key", pl.col("draw"))
    return draws.select("u", place=(key % pl.col("n").cast(pl.UInt64)).cast(pl.Int64))


def _ascending(
    users: pl.LazyFrame, items: pl.LazyFrame, seen: pl.LazyFrame, k: int
) -> pl.LazyFrame:
    """Return for each user as many places from 0 on as have k unseen ones among them, or all: `u` and `place`."""
    counts = seen.group_by(u=(key // HALF).cast(pl.UInt32)).agg(seen=pl.len().cast(pl.Int64))
    rows = users.select("u").join(counts, on="u", how="left", maintain_order="left")
    size = items.select(end=pl.len().cast(pl.Int64))
    rows = rows.join(size, how="cross", maintain_order="left")
    end = pl.min_horizontal("end", pl.col("seen").fill_null(0) + k)
    rows = rows.select("u", place=pl.int_ranges(0, end)).filter(place.list.len() > 0)
    return rows.explode("place", **AS_EVER)


def _unseen(places: pl.LazyFrame, seen: pl.LazyFrame, k: int) -> pl.LazyFrame:
    """Return the first k places of each user that are distinct and unseen: `u`, `place` and `rank`."""
    rows = joined(_packed(places), seen.with_columns(is_seen=True), ["key"], in_order=True)
    rows = rows.filter(pl.col("is_seen").is_null(), key.is_first_distinct())
    rows = rows.select(u=(key // HALF).cast(pl.UInt32), item=(key % HALF).cast(pl.Int64))
    return _ranked(rows, k).rename({"item": "place"})


def _ranked(rows: pl.LazyFrame, k: int) -> pl.LazyFrame:
    """Return the first k rows of each user, of sorted ones."""
    return with_places(rows, ["u"]).filter(place <= k).select("u", "item", rank="place")


def _of_items(places: pl.LazyFrame, items: pl.LazyFrame) -> pl.LazyFrame:
    """Return lists of places as lists of items."""
    found = places.join(items, on="place", maintain_order="left")
    return found.select("u", "item", "rank")


def _last_rows(fold: Fold, window: Length | None) -> pl.LazyFrame:
    """Return the rows of train from a length before its end on."""
    log, rule, time = fold.log, fold.rule, pl.col("time")
    if "time" not in log.names:
        msg = f"the baseline 'recent' reads the time of each row; name its column before the split: {bind(time=NAMED)}"
        raise ColumnError(msg)
    length = rule.horizon if window is None else window
    if length is None:
        msg = (
            f"the split {rule.words} has no horizon, so 'recent' needs a length: baselines('recent', window='7d'), or a "
            "number where times are numbers"
        )
        raise RecframeError(msg)
    end, inclusive = fold.train.select(time.max()), True
    if rule.borders is not None:
        names, inclusive = rule.borders.collect_schema().names(), rule.inclusive
        trained = f"train end {fold.number}"
        end = rule.borders.select(time=trained if trained in names else f"start {fold.number}")
    start = before(time, length, log.schema["time"])
    train = fold.train.join(log.held(end.select(start=start)), how="cross")
    return train.filter(time > pl.col("start") if inclusive else time >= pl.col("start"))
