"""Rules of splits: the part of each row, as label expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
KEYS = 1 << 64
"""The number of keys that there are."""
DIGITS = 9
"""Decimals that shares of counts are rounded to: 100 times 0.29 is 28.999999999999996."""
PLACE, UNITS = "place in the user's order", "units of the user"
"""Columns with the place of a row's unit among those of its user, from 0, and with their number."""
_KEY, _KEY_OF_USER = "key of the pair", "key of the user"
_USER, _ORDER = "user whose rows count", "order of the user's rows"
IS_WHOLE = "row has what the rule reads"
time, place, units = pl.col("time"), pl.col(PLACE), pl.col(UNITS)


@dataclass(frozen=True)
class Rule:
    """A rule of splits; `words` are the call that made it."""

    parted_by: Order
    """The order by which train and truth are parted: the time line, each user's own rows, or chance."""
    reads: Sequence[str]
    """The roles without which a row is in no part, and counts for nobody."""
    parts: Sequence[pl.Expr]
    """The part of any other row, fold by fold."""
    keys: Sequence[tuple[str, Sequence[str]]] = ()
    """Columns of keys, each with the ids that it is of."""
    seed: int = 0
    order: Sequence[str] = ()
    """The columns that order a user's rows, where `parts` read their places."""
    borders: pl.LazyFrame | None = None
    """One row of points of time that `parts` read: `end 0`, `start 0` of the truth, ..."""
    inclusive: bool = False
    """Whether a border is the last instant before it, and not the first one behind it."""
    horizon: Length | None = None
    share: float | None = None
    words: str = ""
    no_truth: str = "write another point or share"
    no_train: str = "every row is truth, or lacks a user or an item"

    @property
    def streams(self) -> bool:
        """Whether parts are of each row alone, so that a file is read in a stream."""
        return not self.order

    def added(self, log: Log, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows with `IS_WHOLE` and the keys and places that `parts` read."""
        is_whole = pl.all_horizontal(pl.col(name).is_not_null() for name in self.reads)
        rows = rows.with_columns(is_whole.alias(IS_WHOLE))
        for name, ids in self.keys:
            rows = hashed(rows, ids, name, seed=self.seed, at_hand=not log.is_lazy)
        return placed(rows, self.order) if self.order else rows


def is_in(*parts: Part) -> pl.Expr:
    """Whether a row is in one of some parts."""
    return pl.any_horizontal([pl.col("part") == pl.lit(part, OF_LOG) for part in parts])


def label(cases: Mapping[Any, pl.Expr], otherwise: Any, dtype: pl.Enum = OF_LOG) -> pl.Expr:
    """Return the first part, or other word of a dtype, whose case holds."""
    found = pl.lit(otherwise, dtype)
    for part in reversed(cases):
        found = pl.when(cases[part]).then(pl.lit(part, dtype)).otherwise(found)
    return found


POINTS = {"end": "later", "start": "truth", "train end": "gap", "first": "train"}
"""The borders of a fold, the last first, each with the part of the rows from it on."""


def by_borders(borders: pl.LazyFrame, folds: int = 1, **options: Any) -> Rule:
    """Return the parts of rows between the borders that folds have."""
    names = borders.collect_schema().names()
    is_after = pl.Expr.gt if options.get("inclusive") else pl.Expr.ge
    parts = []
    for fold in range(folds):
        there = {f"{point} {fold}": part for point, part in POINTS.items()}
        cases = {there[name]: is_after(time, pl.col(name)) for name in there if name in names}
        parts.append(label(cases, "earlier" if "train" in cases else "train"))
    no_train = "no time is before its truth; write a later point, a shorter truth or fewer folds"
    options |= {"borders": borders, "no_train": no_train}
    return Rule("line", [*PAIR, "time"], parts, **options)


def by_point(at: pl.Expr, until: pl.Expr | None = None) -> Rule:
    """Return train before a point of time, and truth from it on, up to a second one."""
    ends = [] if until is None else [until.alias("end 0")]
    return by_borders(pl.select(at.alias("start 0"), *ends).lazy())


def by_share(log: Log, share: float) -> Rule:
    """Return train before the time of row floor((1 - share) n) + 1 in the order of time."""
    times = log.roles.select("time").drop_nulls().sort("time")
    # rounded, since 10 times 1 - 0.7 is 3.0000000000000004
    row = ((1 - share) * pl.len()).round(DIGITS).floor().cast(pl.Int64)
    return by_borders(times.select(time.gather(row).first().alias("start 0")))


def rolling(
    log: Log, folds: int, lengths: Mapping[str, Length | None], align: str | None = None
) -> Rule:
    """Return windows of truth that step back from the end of the log, each with the train before it.

    `lengths` are horizon, step, gap and window: that of the truth, that from one end to the next, those of gap and train.

    NOTE: borders are stepped one by one, so that a fold's start is the next one's end where months differ; each step is a
    `with_columns` of its own, since an expression of an expression is written out twice by each.
    """
    dtype, step = log.schema["time"], lengths.get("step")
    steps = {"start": "horizon", "train end": "gap", "first": "window"}
    borders = log.roles.select(aligned(time.max(), align).alias(f"end {folds - 1}"))
    for fold in reversed(range(folds)):
        last = f"end {fold}"
        for point, name in steps.items():
            if lengths.get(name) is not None:
                border = before(pl.col(last), lengths[name], dtype)
                last = f"{point} {fold}"
                borders = borders.with_columns(border.alias(last))
        if fold:
            of = f"start {fold}" if step is None else f"end {fold}"
            border = before(pl.col(of), step, dtype)
            borders = borders.with_columns(border.alias(f"end {fold - 1}"))
    return by_borders(borders, folds, inclusive=align is None, horizon=lengths["horizon"])


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
        order=["time", "item"],
        no_truth=f"a user needs {n + keep} events, n and keep together; write a smaller n",
    )


def random_of_log(share: float, folds: int, seed: int) -> Rule:
    """Return pairs by ranges of their keys."""
    return Rule(
        "random",
        PAIR,
        [label({"truth": _in_range(_KEY, fold, share, folds)}, "train") for fold in range(folds)],
        [(_KEY, PAIR)],
        seed,
        share=share,
        no_truth="write a larger share, or another seed",
    )


def random_of_users(share: float | None, n: int, folds: int, seed: int, keep: int) -> Rule:
    """Return places of each user's pairs in the order of their keys: a share of them, rounded, halves up; or n."""
    parts = []
    for fold in range(folds):
        first, end = (
            pl.lit(edge * n)
            if share is None
            else ((units * (edge * share)).round(DIGITS) + 0.5).floor()
            for edge in (fold, fold + 1)
        )
        is_truth = (place >= first) & (place < pl.min_horizontal(end, units - keep))
        parts.append(label({"truth": is_truth}, "train"))
    enough = f"a user needs more than keep={keep} items, and a share of them that rounds to 1"
    no_truth = f"{enough}; write a larger share, or n=1"
    return Rule("random", PAIR, parts, [(_KEY, PAIR)], seed, [_KEY], share=share, no_truth=no_truth)


def by_user(
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
    keys, how = [(_KEY_OF_USER, ["user"])], "a smaller share or more folds"
    of_others = [{"train": ~_in_range(_KEY_OF_USER, fold, share, folds)} for fold in range(folds)]
    if at is not None:
        keys, how = [], "a later at"
        is_old = pl.when(IS_WHOLE).then("time").min().over("user") < at
        of_others = [{"later": is_old & (time >= at), "train": is_old}]
    by_time = order == "time"
    return Rule(
        "random",
        PAIR if at is None and not by_time else [*PAIR, "time"],
        [label({**cases, "fold_in": place < n_fold_in}, "truth") for cases in of_others],
        keys if by_time else [*keys, (_KEY, PAIR)],
        seed,
        ["time", "item"] if by_time else [_KEY],
        no_truth="no test user has rows after those folded in; write a smaller fold_in, a larger share or an earlier at",
        no_train=f"no other user has rows in it; write {how}",
    )


def placed(rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return rows with the place of their unit in the order of some keys within the user, and with the user's number of units.

    Rows of a user with the same keys are one unit; where texts may have the same key, the item parts them.
    """
    schema = rows.collect_schema()
    # a number is grouped faster than a text
    user = pl.col("user").cast(pl.Categorical) if schema["user"] == pl.String else pl.col("user")
    user = pl.when(IS_WHOLE).then(user.to_physical())
    keys = [*keys, "item"] if keys == [_KEY] and schema["item"] in TEXT else keys
    # categories are text, so that their codes decide nothing
    columns = [pl.col(key).cast(pl.String) if schema[key] in TEXT else pl.col(key) for key in keys]
    order = columns[0] if keys == [_KEY] else pl.struct(columns)
    if _KEY not in keys and all(is_whole(schema[key]) for key in keys):
        # one number is sorted in half of the time
        high, low = (column.to_physical().cast(pl.Int128) for column in columns)
        order = high * pl.lit(KEYS, dtype=pl.Int128) + low
    rows = rows.with_columns(user.alias(_USER), order.alias(_ORDER))
    of_row = pl.col(_ORDER).rank("dense").over(_USER).cast(pl.Int64)
    rows = rows.with_columns(of_row.alias(UNITS))
    return rows.with_columns((units - 1).alias(PLACE), units.max().over(_USER))


def _in_range(name: str, fold: int, share: float, folds: int) -> pl.Expr:
    """Whether a key is in a fold's range: share of all keys, of which the last fold has the rest where folds share all."""
    width, key = int(share * KEYS), pl.col(name)
    is_from = key >= pl.lit(fold * width, dtype=pl.UInt64)
    has_rest = fold == folds - 1 and round(share * folds, DIGITS) == 1
    return is_from if has_rest else is_from & (key < pl.lit((fold + 1) * width, dtype=pl.UInt64))
