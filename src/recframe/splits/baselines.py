"""Lists of baselines, from the train of each fold alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from recframe.errors import ColumnError, RecframeError
from recframe.frames.hints import NAMED, bind
from recframe.frames.rows.integer_keys import in_order
from recframe.frames.rows.joins import AS_EVER, joined
from recframe.frames.rows.positions import with_places
from recframe.splits.fold_rows import FoldRows, counted
from recframe.splits.hashing import further, hashed
from recframe.splits.log_rows import FOLD, PAIR
from recframe.splits.times import Length, before

BOUNDS = ("oracle",)
"""The baselines that read the truth, so that no model can beat them."""
place, rank = pl.col("place"), pl.col("rank")


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


def lists_of(each: Sequence[FoldRows], names: Sequence[str], asked: Asked) -> pl.LazyFrame:
    """Return the lists of baselines: fold, model, user, item and rank, in this order of rows."""
    found = []
    for rows in each:
        for name in names:
            lists = BASELINES[name](rows, asked).join(rows.users, on="u", maintain_order="left")
            columns = {FOLD: pl.lit(rows.fold, pl.Int64), "model": pl.lit(name)}
            found.append(
                lists.select(**columns, user="user", item="item", rank=rank.cast(pl.Int64))
            )
    return found[0] if len(found) == 1 else pl.concat(found)


def popular(rows: FoldRows, asked: Asked) -> pl.LazyFrame:
    """Return the items of most users in train, equal ones by item."""
    return _first(rows, rows.popular, asked)


def recent(rows: FoldRows, asked: Asked) -> pl.LazyFrame:
    """Return the items of most users among the last rows of train."""
    counts = counted(_last_rows(rows, asked.window))
    return _first(rows, rows.held(rows.in_order(counts, "n")), asked)


def random(rows: FoldRows, asked: Asked) -> pl.LazyFrame:
    """Return items by chance: draw j of a user is item hash64(seed, user, j) mod n of train's n items, ascending.

    A list is the first k distinct draws of the first 3k + 64 (unseen ones, if seen are dropped), then items in ascending order.

    NOTE: few draws do for most lists; only those that they leave short get all.
    """
    items = rows.train.select("item").unique()
    items = rows.held(rows.in_order(items))
    seen = packed(_taken(rows, rows.users, items, asked)).unique().with_columns(is_seen=True)
    keys = hashed(rows.users, ["user"], "key", seed=asked.seed).select("u", "key")
    keys = keys.join(items.select(n=pl.len()), how="cross").filter(pl.col("n") > 0)
    drawn = rows.held(_drawn(keys, seen, asked.k + asked.k // 4 + 8, asked.k))
    enough = drawn.filter(rank == asked.k).select("u")
    others = rows.held(keys.join(enough, on="u", how="anti"))
    if rows.may_have_rows(others):
        more = _drawn(others, seen, 3 * asked.k + 64, asked.k)
        drawn = pl.concat([drawn.join(enough, on="u", how="semi"), more]).sort("u", "rank")
    return _filled(_listed(drawn, items), rows, items, asked)


def repeat(rows: FoldRows, asked: Asked) -> pl.LazyFrame:
    """Return the user's own items, the last first, then those of most rows, then by item; seen ones are never dropped."""
    last = ["last"] if rows.labels.log.has_time else []
    times = [pl.col("time").max().alias(one) for one in last]
    pairs = rows.own.group_by("u", "item").agg(*times, n=pl.len())
    return _placed(rows.in_lists(pairs, *last, "n"), asked.k)


def oracle(rows: FoldRows, asked: Asked) -> pl.LazyFrame:
    """Return the truth itself, the highest relevance first, equal ones by item."""
    has_relevance = "relevance" in rows.labels.log.names
    truth = joined(rows.truth, rows.users, ["user"], "inner")
    if asked.drops_seen:
        truth = truth.join(rows.known, on=PAIR, how="anti")
    gain = pl.col("relevance").fill_nan(None).max() if has_relevance else pl.lit(1)
    pairs = truth.group_by("u", "item").agg(gain=gain)
    return _placed(rows.in_lists(pairs, "gain"), asked.k)


Baseline = Callable[[FoldRows, Asked], pl.LazyFrame]
"""Type of functions that return lists of `u`, `item` and `rank`, in the order of users and ranks."""
BASELINES: Mapping[str, Baseline] = {
    one.__name__: one for one in (popular, recent, random, repeat, oracle)
}


def _first(rows: FoldRows, items: pl.LazyFrame, asked: Asked) -> pl.LazyFrame:
    """Return the first k items of an order for every user, or the first that he has not seen."""
    if not asked.drops_seen:
        best = items.filter(place < asked.k).select("item", rank=place + 1)
        return rows.users.select("u").join(best, how="cross", maintain_order="left_right")
    end = items.select(end=pl.len().cast(pl.Int64))
    users = rows.users.select("u", had=pl.lit(0, pl.Int64)).join(end, how="cross")
    taken = _taken(rows, rows.users, items, asked)
    return _listed(free_places(users, taken, asked.k), items)


def _filled(lists: pl.LazyFrame, rows: FoldRows, items: pl.LazyFrame, asked: Asked) -> pl.LazyFrame:
    """Return lists of which those of less than k items go on with others, in the order of items."""
    counts = lists.group_by("u").agg(had=pl.len().cast(pl.Int64))
    users = rows.users.join(counts, on="u", how="left", maintain_order="left")
    users = users.with_columns(pl.col("had").fill_null(0))
    users = rows.held(users.filter(pl.col("had") < asked.k))
    if not rows.may_have_rows(users):
        return lists
    users = users.join(items.select(end=pl.len().cast(pl.Int64)), how="cross")
    of_lists = lists.join(users, on="u", how="semi").join(items.select("item", "place"), on="item")
    taken = pl.concat([of_lists.select("u", "place"), _taken(rows, users, items, asked)])
    more = _listed(free_places(users.drop("user"), taken, asked.k), items)
    return pl.concat([lists, more]).sort("u", "rank")


def _listed(places: pl.LazyFrame, items: pl.LazyFrame) -> pl.LazyFrame:
    """Return lists of places as lists of items."""
    found = places.join(items.select("item", "place"), on="place", maintain_order="left")
    return found.select("u", "item", "rank")


def _taken(rows: FoldRows, users: pl.LazyFrame, items: pl.LazyFrame, asked: Asked) -> pl.LazyFrame:
    """Return the places of an order that users have seen, if these are dropped; a pair may stand more than once."""
    if not asked.drops_seen:
        return pl.LazyFrame(schema={"u": pl.UInt32, "place": pl.Int64})
    own = joined(rows.known.select(PAIR), users.select("u", "user"), ["user"], "inner")
    return own.join(items.select("item", "place"), on="item").select("u", "place")


def _drawn(keys: pl.LazyFrame, seen: pl.LazyFrame, n_draws: int, k: int) -> pl.LazyFrame:
    """Return the first k distinct draws of each user: `u`, `place` and `rank`; `seen` are packed places without repeats."""
    draws = keys.select("u", "n", "key", draw=pl.int_ranges(0, n_draws))
    draws = further(draws.explode("draw", **AS_EVER), "key", "draw")
    drawn = draws.select("u", place=pl.col("key") % pl.col("n").cast(pl.UInt64))
    found = joined(packed(drawn), seen, ["key"], in_order=True)
    found = found.filter(pl.col("is_seen").is_null(), pl.col("key").is_first_distinct())
    placed = with_places(unpacked(found).rename({"place": "drawn"}), ["u"])
    return placed.filter(place <= k).select("u", place="drawn", rank="place")


def _placed(pairs: pl.LazyFrame, k: int) -> pl.LazyFrame:
    """Return the first k pairs of each user, of sorted ones."""
    return with_places(pairs, ["u"]).filter(place <= k).select("u", "item", rank="place")


def _last_rows(rows: FoldRows, window: Length | None) -> pl.LazyFrame:
    """Return the rows of train from a length before its end on."""
    labels = rows.labels
    log, rule = labels.log, labels.rule
    if not log.has_time:
        msg = f"the baseline 'recent' reads the time of each row; name its column before the split: {bind(time=NAMED)}"
        raise ColumnError(msg)
    length = rule.horizon if window is None else window
    if length is None:
        msg = (
            f"the split {rule.words} has no horizon, so 'recent' needs a length: baselines('recent', window='7d'), or a "
            "number where times are numbers"
        )
        raise RecframeError(msg)
    time, border = pl.col("time"), f"train end {rows.fold}"
    ends = rule.scalars(log)
    if border in ends.collect_schema():
        is_last = getattr(rule, "ends_with_a_row", False)
        end = ends.select(end=border)
    else:
        is_last, end = True, rows.train.select(end=time.max())
    start = rows.held(end.select(start=before(pl.col("end"), length, log.schema["time"])))
    train = rows.train.join(start, how="cross")
    return train.filter(time > pl.col("start") if is_last else time >= pl.col("start"))


HALF = 2**32
"""Factor of the user in a packed number of a user and a place."""


def packed(rows: pl.LazyFrame, shift: int = 0) -> pl.LazyFrame:
    """Return as `key` one number for a user's number `u` and a place, whose order is theirs."""
    key = pl.col("u").cast(pl.UInt64) * HALF + (place.cast(pl.Int64) + shift).cast(pl.UInt64)
    return rows.select(key=key)


def unpacked(rows: pl.LazyFrame, shift: int = 0) -> pl.LazyFrame:
    """Return `u` and `place` of packed numbers."""
    key = pl.col("key")
    return rows.select(u=(key // HALF).cast(pl.UInt32), place=(key % HALF).cast(pl.Int64) - shift)


def free_places(users: pl.LazyFrame, taken: pl.LazyFrame, k: int) -> pl.LazyFrame:
    """Return the first free places of each user, up to k: `u`, `rank` and `place`, in the order of users and ranks.

    `users` has `u`, the `end` behind the last place of the order, and `had`, the ranks that the user has already; `taken` has
    `u` and `place`, where a pair may stand more than once.

    NOTE: the places between two taken ones are a run, made as a range. So no list is longer than k, however many are taken.
    """
    begins = users.select("u", place=pl.lit(-1, pl.Int64))
    ends = users.select("u", place="end")
    of_users = [packed(frame, 1) for frame in (begins, ends)]
    keys = in_order(pl.concat([*of_users, packed(taken, 1)]), "key")
    rows = unpacked(keys.filter(pl.col("key").ne_missing(pl.col("key").shift())), 1)
    same = pl.col("u").eq_missing(pl.col("u").shift(-1))
    rows = rows.with_row_index("row").with_columns(
        pl.col("row").cast(pl.Int64),
        next=pl.when(same).then(place.shift(-1)),
        is_first=pl.col("u").ne_missing(pl.col("u").shift()),
    )
    start = pl.when("is_first").then("row").otherwise(0).cum_max()
    rows = rows.with_columns(n_taken=pl.col("row") - start)
    rows = rows.filter(pl.col("next") > place + 1).join(users, on="u", maintain_order="left")
    # the rank of a free place is its own place from 1 in the order, less those taken before it
    behind = pl.col("n_taken") - pl.col("had") - 1
    rows = rows.with_columns(behind=behind)
    most = pl.min_horizontal("next", pl.col("behind") + k + 1)
    runs = rows.with_columns(end=most).filter(pl.col("end") > place + 1)
    runs = runs.select("u", "behind", place=pl.int_ranges(place + 1, pl.col("end")))
    found = runs.explode("place", **AS_EVER)
    return found.select("u", "place", rank=place - pl.col("behind"))
