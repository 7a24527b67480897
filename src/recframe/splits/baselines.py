"""Lists of baselines, from the train of each fold alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from recframe.errors import ColumnError, RecframeError
from recframe.frames.hints import NAMED, bind
from recframe.frames.rows.joins import AS_EVER, joined
from recframe.frames.rows.positions import by_item, with_places
from recframe.splits.hashing import hashed
from recframe.splits.labels import Fold
from recframe.splits.log import FOLD, PAIR
from recframe.splits.times import Length, before

BOUNDS = ("oracle",)
"""The baselines that read the truth, so that no model can beat them."""
place = pl.col("place")


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
    return _first(fold, _by_users(fold, fold.train), asked)


def recent(fold: Fold, asked: Asked) -> pl.LazyFrame:
    """Return the items of most users among the last rows of train."""
    return _first(fold, _by_users(fold, _last_rows(fold, asked.window)), asked)


def random(fold: Fold, asked: Asked) -> pl.LazyFrame:
    """Return train's items in the order of hash64(seed, item), which each user enters at place hash64(seed, user) mod n."""
    items = fold.train.select("item").unique()
    items = _in_order(fold, hashed(items, ["item"], "key", seed=asked.seed), "key")
    return _first(fold, items, asked, hashed(fold.users, ["user"], "entry", seed=asked.seed))


def repeat(fold: Fold, asked: Asked) -> pl.LazyFrame:
    """Return the user's own items, the last first, then those of most rows, then by item; seen ones are never dropped."""
    last = {"last": pl.col("time").max()} if "time" in fold.log.names else {}
    own = joined(fold.known, fold.users, ["user"], "inner")
    pairs = own.group_by("u", "item").agg(**last, n=pl.len())
    return _ranked(_in_order(fold, pairs, *last, "n", users=True), asked.k)


def oracle(fold: Fold, asked: Asked) -> pl.LazyFrame:
    """Return the truth itself, the highest relevance first, equal ones by item."""
    has_relevance = "relevance" in fold.log.names
    truth = joined(fold.truth, fold.users, ["user"], "inner")
    if asked.drops_seen:
        truth = truth.join(fold.known, on=PAIR, how="anti")
    gain = pl.col("relevance").fill_nan(None).max() if has_relevance else pl.lit(1)
    pairs = truth.group_by("u", "item").agg(gain=gain)
    return _ranked(_in_order(fold, pairs, "gain", users=True), asked.k)


Baseline = Callable[[Fold, Asked], pl.LazyFrame]
"""Type of functions that return lists of `u`, `item` and `rank`, in the order of users and ranks."""
BASELINES: Mapping[str, Baseline] = {
    one.__name__: one for one in (popular, recent, random, repeat, oracle)
}


def _by_users(fold: Fold, rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the items of some rows by their number of users."""
    return _in_order(fold, rows.select(PAIR).unique().group_by("item").agg(n=pl.len()), "n")


def _first(
    fold: Fold, items: pl.LazyFrame, asked: Asked, users: pl.LazyFrame | None = None
) -> pl.LazyFrame:
    """Return the first k items of an order for every user, or the first that he has not seen.

    Users may have an `entry`, whose place is their first; behind the last one the order begins anew.
    """
    n, held = pl.col("n"), fold.log.held
    items = items.select("item").with_row_index("place")
    items = held(items.select("item", place.cast(pl.Int64), n=pl.len().cast(pl.Int64)))
    users = fold.users.with_columns(entry=pl.lit(0, pl.UInt64)) if users is None else users
    users = users.join(items.select(n.max()), how="cross", maintain_order="left")
    users = held(
        users.with_columns(
            (pl.col("entry") % n.cast(pl.UInt64)).cast(pl.Int64), most=pl.lit(asked.k, pl.Int64)
        )
    )
    near = _near(fold, items.select("item", "place"), users) if asked.drops_seen else None
    if near is not None:
        counts = near.group_by("u").agg(seen=pl.len())
        users = users.join(counts, on="u", how="left", maintain_order="left")
        users = users.with_columns(pl.col("most") + pl.col("seen").fill_null(0))
    ends = pl.min_horizontal("n", "most")
    rows = users.select("u", "entry", "n", place=pl.int_ranges(0, ends))
    rows = rows.explode("place", **AS_EVER)
    if near is not None:
        rows = joined(rows, near.with_columns(is_seen=True), ["u", "place"], in_order=True)
        rows = rows.filter(pl.col("is_seen").is_null())
    rows = _ranked(rows.with_columns(item=(place + pl.col("entry")) % n), asked.k)
    rows = rows.join(items, left_on="item", right_on="place", maintain_order="left")
    return rows.select("u", item="item_right", rank="rank")


def _near(fold: Fold, items: pl.LazyFrame, users: pl.LazyFrame) -> pl.LazyFrame:
    """Return the places that users have seen, from their entry on, among as many as `most` and all that they have seen.

    What lies behind decides nothing, and there are few others.
    """
    seen = joined(fold.known.select(PAIR), users, ["user"], "inner").join(items, on="item")
    seen = seen.with_columns((place - pl.col("entry")) % pl.col("n"))
    seen = seen.join(seen.group_by("u").len("seen"), on="u")
    near = seen.filter(place < pl.col("most") + pl.col("seen"))
    return fold.log.held(near.select("u", "place").unique())


def _in_order(fold: Fold, rows: pl.LazyFrame, *order: str, users: bool = False) -> pl.LazyFrame:
    """Return rows by an order, the highest first, equal ones by item; before all by their user's number, if told."""
    first, last = ["u"] * users, by_item(fold.log.schema)
    falls = [*[False] * len(first), *[True] * len(order), *[False] * len(last)]
    return rows.sort(*first, *order, *last, descending=falls, nulls_last=True)


def _ranked(rows: pl.LazyFrame, k: int) -> pl.LazyFrame:
    """Return the first k rows of each user, of sorted ones."""
    return with_places(rows, ["u"]).filter(place <= k).select("u", "item", rank="place")


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
        end, inclusive = rule.borders.select(time=f"train end {fold.number}"), rule.inclusive
    start = log.held(end.select(start=before(time, length, log.schema["time"])))
    train = fold.train.join(start, how="cross")
    return train.filter(time > pl.col("start") if inclusive else time >= pl.col("start"))
