"""Rules of splits: the part of each row, as label expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import polars as pl

from recframe.audit.split_rows import Order
from recframe.splits.hashing import TEXT, hashed, is_whole
from recframe.splits.log import PAIR, Log
from recframe.splits.times import Length, aligned, before

Part = Literal[
    "train",
    "fold_in",
    "truth",
    "gap",
    "earlier",
    "later",
    "not_target",
    "not_relevant",
    "seen",
    "cold_user",
    "cold_item",
    "null",
]
PARTS: tuple[Part, ...] = get_args(Part)
OF_LOG = pl.Enum(list(PARTS))
Per = Literal["user", "log"]
FoldInOrder = Literal["time", "random"]
Added = Callable[[pl.LazyFrame], pl.LazyFrame]
KEYS = 1 << 64
"""The number of keys that there are."""
DIGITS = 9
"""Decimals that shares of counts are rounded to: 100 times 0.29 is 28.999999999999996."""
PLACE, UNITS = "place in the user's order", "units of the user"
"""Columns with the place of a row's unit among those of its user, from 0, and with their number."""
_USER, _ORDER = "user whose rows count", "order of the user's rows"
_KEY, _KEY_OF_USER, _FIRST = "key of the pair", "key of the user", "first time of the user"
time, place, units = pl.col("time"), pl.col(PLACE), pl.col(UNITS)


@dataclass(frozen=True)
class Rule:
    """A rule of splits; `words` are the call that made it."""

    parted_by: Order
    """The order by which train and truth are parted: the time line, each user's own rows, or chance."""
    reads: Sequence[str]
    """The roles without which a row is in no part."""
    parts: Sequence[pl.Expr]
    """The part of any other row, fold by fold."""
    adds: Added | None = None
    """Adds columns that `parts` read."""
    streams: bool = False
    """Whether these are of each row alone, so that a file is read in a stream."""
    borders: pl.LazyFrame | None = None
    """One row of points of time that `parts` read: `train end 0`, `start 0` of the truth, ..."""
    inclusive: bool = False
    """Whether a border is the last instant before it, and not the first one behind it."""
    horizon: Length | None = None
    share: float | None = None
    words: str = ""
    no_truth: str = "write another point or share"
    no_train: str = "every row is truth, or lacks a user or an item"


def is_in(*parts: Part) -> pl.Expr:
    """Whether a row is in one of some parts."""
    return pl.any_horizontal([pl.col("part") == pl.lit(part, OF_LOG) for part in parts])


def label(cases: Mapping[Any, pl.Expr], otherwise: Any, dtype: pl.Enum = OF_LOG) -> pl.Expr:
    """Return the first part, or other word of a dtype, whose case holds."""
    found = pl.lit(otherwise, dtype)
    for part in reversed(cases):
        found = pl.when(cases[part]).then(pl.lit(part, dtype)).otherwise(found)
    return found


def by_borders(
    borders: pl.LazyFrame, folds: int = 1, *, has_gap: bool = False, **options: Any
) -> Rule:
    """Return train from a fold's `first` to its `train end`, and truth from its `start` to its `end`, where it has them."""
    names = borders.collect_schema().names()
    is_after = pl.Expr.gt if options.get("inclusive") else pl.Expr.ge
    points = {"end": "later", "start": "truth"} | ({"train end": "gap"} if has_gap else {})
    points["first"] = "train"
    parts = []
    for fold in range(folds):
        cases = {
            part: is_after(time, pl.col(f"{border} {fold}"))
            for border, part in points.items()
            if f"{border} {fold}" in names
        }
        parts.append(label(cases, "earlier" if "train" in cases else "train"))
    no_train = "no time is before its truth; write a later point, a shorter truth or fewer folds"
    options |= {"streams": True, "borders": borders, "no_train": no_train}
    return Rule("line", [*PAIR, "time"], parts, **options)


def by_point(at: pl.Expr, until: pl.Expr | None = None) -> Rule:
    """Return train before a point of time, and truth from it on, up to a second one."""
    points = [at.alias("start 0"), at.alias("train end 0")]
    points += [] if until is None else [until.alias("end 0")]
    return by_borders(pl.select(points).lazy())


def by_share(log: Log, share: float) -> Rule:
    """Return train before the time of row floor((1 - share) n) + 1 in the order of time."""
    times = log.roles.select("time").drop_nulls().sort("time")
    # rounded, since 10 times 1 - 0.7 is 3.0000000000000004
    row = ((1 - share) * pl.len()).round(DIGITS).floor().cast(pl.Int64)
    start = times.select(time.gather(row).first().alias("start 0"))
    return by_borders(start.with_columns(pl.col("start 0").alias("train end 0")))


def rolling(
    log: Log, folds: int, lengths: Mapping[str, Length | None], align: str | None = None
) -> Rule:
    """Return windows of truth that step back from the end of the log, each with the train before it.

    `lengths` are horizon, step, gap and window: that of the truth, that from one end to the next, those of gap and train.

    NOTE: borders are stepped one by one, so that a fold's start is the next one's end where months differ; each step is a
    `with_columns` of its own, since an expression of an expression is written out twice by each.
    """
    dtype, step = log.schema["time"], lengths.get("step")
    borders = log.roles.select(aligned(time.max(), align, dtype).alias(f"end {folds - 1}"))
    for fold in reversed(range(folds)):
        steps = [("end", f"start {fold}", lengths["horizon"])]
        steps.append(("start", f"train end {fold}", lengths.get("gap")))
        if lengths.get("window") is not None:
            steps.append(("train end", f"first {fold}", lengths["window"]))
        if fold:
            steps.append(("start" if step is None else "end", f"end {fold - 1}", step))
        for of, to, length in steps:
            point = before(pl.col(f"{of} {fold}"), length, dtype)
            borders = borders.with_columns(point.alias(to))
    return by_borders(
        borders,
        folds,
        has_gap=lengths.get("gap") is not None,
        inclusive=align is None,
        horizon=lengths["horizon"],
    )


def last_per_user(n: int, folds: int, keep: int) -> Rule:
    """Return blocks of each user's last events: a fold's truth is one, later what follows it, train what is before.

    A user has a block who has n events for it and for each that follows, and `keep` before them.
    """
    block = (units - 1 - place) // n
    block = pl.when(units >= (block + 1) * n + keep).then(block)
    blocks = reversed(range(folds))
    return Rule(
        "user",
        [*PAIR, "time"],
        [label({"truth": block == own, "later": block < own}, "train") for own in blocks],
        lambda rows: placed(rows, ["time", "item"]),
        no_truth=f"a user needs {n + keep} events, n and keep together; write a smaller n",
    )


def random_of_log(log: Log, share: float, folds: int, seed: int) -> Rule:
    """Return pairs by ranges of their keys."""
    return Rule(
        "random",
        PAIR,
        [label({"truth": _in_range(_KEY, fold, share, folds)}, "train") for fold in range(folds)],
        lambda rows: _with_keys(rows, log, PAIR, seed),
        streams=True,
        share=share,
        no_truth="write a larger share, or another seed",
    )


def random_of_users(
    log: Log, share: float | None, n: int, folds: int, seed: int, keep: int
) -> Rule:
    """Return places of each user's pairs in the order of their keys: a share of them, rounded, halves up; or n."""
    parts = []
    for fold in range(folds):
        first, end = (
            pl.lit(edge * n)
            if share is None
            else ((units * (edge * share)).round(DIGITS) + 0.5).floor()
            for edge in (fold, fold + 1)
        )
        is_truth = (place >= first) & (place < end) & (place < units - keep)
        parts.append(label({"truth": is_truth}, "train"))
    enough = f"a user needs more than keep={keep} items, and a share of them that rounds to 1"
    no_truth = f"{enough}; write a larger share, or n=1"
    added = _of_pairs(log, seed)
    return Rule("random", PAIR, parts, added, share=share, no_truth=no_truth)


def by_user(  # noqa: PLR0913, PLR0917  the options of the rule
    log: Log,
    share: float,
    at: pl.Expr | None,
    folds: int,
    fold_in: float,
    order: FoldInOrder,
    seed: int,
) -> Rule:
    """Return test users by their keys, or new ones from a point on: the first units are fold_in, the rest truth."""
    exact = (units * fold_in).round(DIGITS).floor().cast(pl.Int64)
    n_fold_in = pl.max_horizontal(exact, 1) if fold_in < 1 else pl.lit(int(fold_in))
    parts = []
    for fold in range(folds):
        cases = {"train": ~_in_range(_KEY_OF_USER, fold, share, folds)}
        if at is not None:
            is_old = pl.col(_FIRST) < at
            cases = {"later": is_old & (time >= at), "train": is_old}
        parts.append(label({**cases, "fold_in": place < n_fold_in}, "truth"))
    reads = PAIR if at is None and order == "random" else [*PAIR, "time"]

    def added(rows: pl.LazyFrame) -> pl.LazyFrame:
        # rows that lack what the rule reads count for nobody
        first = pl.when(pl.col("item").is_not_null()).then("time").min().over("user")
        rows = rows.with_columns(first.alias(_FIRST)) if at is not None else rows
        rows = rows if at is not None else _with_keys(rows, log, ["user"], seed, _KEY_OF_USER)
        by_time = order == "time"
        return placed(rows, ["time", "item"]) if by_time else _of_pairs(log, seed, reads)(rows)

    how = "a smaller share or more folds" if at is None else "a later at"
    return Rule(
        "random",
        reads,
        parts,
        added,
        no_truth="no test user has rows after those folded in; write a smaller fold_in, a larger share or an earlier at",
        no_train=f"no other user has rows in it; write {how}",
    )


def placed(rows: pl.LazyFrame, keys: Sequence[str], reads: Sequence[str] = PAIR) -> pl.LazyFrame:
    """Return rows with the place of their unit in the order of some keys within the user, and with his number of units.

    Rows of a user with the same keys are one unit. Rows without a key, or another column that a rule `reads`, count for nobody.
    """
    schema, user = rows.collect_schema(), pl.col("user")
    # a number is grouped faster than a text
    code = user.cast(pl.Categorical) if schema["user"] == pl.String else user
    counts = pl.all_horizontal(pl.col(name).is_not_null() for name in (*reads, *keys))
    rows = rows.with_columns(pl.when(counts).then(code.to_physical()).alias(_USER))
    # categories are text, so that their codes decide nothing
    columns = [pl.col(key).cast(pl.String) if schema[key] in TEXT else pl.col(key) for key in keys]
    order = columns[0] if len(keys) == 1 else pl.struct(columns)
    if len(keys) > 1 and schema[keys[0]] != pl.UInt64 and all(is_whole(schema[k]) for k in keys):
        # one number is sorted in half of the time
        high, low = (one.to_physical().cast(pl.Int128) for one in columns)
        order = high * pl.lit(KEYS, dtype=pl.Int128) + low
    rows = rows.with_columns(order.alias(_ORDER))
    of_row = pl.col(_ORDER).rank("dense").over(_USER).cast(pl.Int64) - 1
    rows = rows.with_columns(of_row.alias(PLACE))
    return rows.with_columns((place.max().over(_USER) + 1).alias(UNITS))


def _with_keys(
    rows: pl.LazyFrame, log: Log, ids: Sequence[str], seed: int, name: str = _KEY
) -> pl.LazyFrame:
    return hashed(rows, ids, name, seed=seed, at_hand=not log.is_lazy)


def _of_pairs(log: Log, seed: int, reads: Sequence[str] = PAIR) -> Added:
    """Return what adds the places of pairs in the order of their keys, and of the item where texts may have the same key."""
    order = [_KEY, "item"] if log.schema["item"] in TEXT else [_KEY]
    return lambda rows: placed(_with_keys(rows, log, PAIR, seed), order, reads)


def _in_range(name: str, fold: int, share: float, folds: int) -> pl.Expr:
    """Whether a key is in a fold's range: share of all keys, of which the last fold has the rest where folds share all."""
    width, key = int(share * KEYS), pl.col(name)
    is_from = key >= pl.lit(fold * width, dtype=pl.UInt64)
    has_rest = fold == folds - 1 and round(share * folds, DIGITS) == 1
    return is_from if has_rest else is_from & (key < pl.lit((fold + 1) * width, dtype=pl.UInt64))
