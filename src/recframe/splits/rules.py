"""Rules of splits: the part of each row, as label expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import polars as pl

from recframe.audit.split_rows import PAIR, Order
from recframe.frames.kinds.kind import ask
from recframe.splits.hashing import KEYS, TEXT, hashed, is_whole
from recframe.splits.log import Log
from recframe.splits.times import Length, before

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
OF_LOG = pl.Enum(get_args(Part))
Per = Literal["user", "log"]
FoldInOrder = Literal["time", "random"]
DIGITS = 9
"""Decimals that shares of counts are rounded to: 100 times 0.29 is 28.999999999999996."""
_KEY, _KEY_OF_USER = "key of the pair", "key of the user"
IDS = {_KEY: PAIR, _KEY_OF_USER: ["user"]}
"""The columns of keys, each with the ids that it is of."""
UNIT, UNITS = "place of the unit", "units of the user"
"""Columns with the place of a row's unit among those of its user, from 1, and with their number."""
_USER, _ORDER = "user whose rows count", "order of the user's rows"
IS_WHOLE = "row has what the rule reads"
time, unit, units = pl.col("time"), pl.col(UNIT), pl.col(UNITS)


@dataclass(frozen=True)
class Rule:
    """A rule of splits; `words` are the call that made it."""

    parted_by: Order
    """The order by which train and truth are parted: the time line, each user's own rows, or chance."""
    parts: Sequence[pl.Expr]
    """The part of a row that has what the rule reads, fold by fold."""
    order: Sequence[str] = ()
    """The columns that order a user's rows, where `parts` read their places."""
    seed: int = 0
    borders: pl.LazyFrame | None = None
    """One row of points of time that `parts` read."""
    horizon: Length | None = None
    words: str = ""

    def parted(self, log: Log, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows with their parts: a column for each fold."""
        names = rows.collect_schema().names()
        reads = {*PAIR, *self.order}.union(*(part.meta.root_names() for part in self.parts))
        is_there = pl.col(sorted(reads & log.names.keys())).is_not_null()
        rows = rows.with_columns(pl.all_horizontal(is_there).alias(IS_WHOLE))
        for name, ids in IDS.items():
            if name in reads:
                rows = hashed(rows, ids, name, seed=self.seed, at_hand=not log.is_lazy)
        rows = placed(rows, self.order) if self.order else rows
        if self.borders is not None and log.is_lazy:
            rows = rows.join(self.borders, how="cross", maintain_order="left")
        elif self.borders is not None:
            rows = rows.with_columns(pl.lit(point).first() for point in ask([self.borders])[0])
        parts = {
            f"part {fold}": pl.when(IS_WHOLE).then(part).otherwise(pl.lit("null", OF_LOG))
            for fold, part in enumerate(self.parts)
        }
        return rows.select(*names, **parts)


def label(cases: Mapping[Any, pl.Expr], otherwise: Any, dtype: pl.Enum = OF_LOG) -> pl.Expr:
    """Return the first part, or other word of a dtype, whose case holds."""
    found = pl.lit(otherwise, dtype)
    for part in reversed(cases):
        found = pl.when(cases[part]).then(pl.lit(part, dtype)).otherwise(found)
    return found


def by_point(at: pl.Expr, until: pl.Expr | None) -> Rule:
    """Return train before a point of time, and truth from it on, up to a second one."""
    ends = {} if until is None else {"later": time >= until}
    return Rule("line", [label({**ends, "truth": time >= at}, "train")])


def by_share(log: Log, share: float) -> Rule:
    """Return train before the time of row floor((1 - share) n) + 1 in the order of time."""
    # rounded, since 10 times 1 - 0.7 is 3.0000000000000004
    row = ((1 - share) * time.count()).round(DIGITS).floor().cast(pl.Int64)
    borders = log.roles.select(start=time.drop_nulls().sort().slice(row, 1).first())
    return Rule("line", [label({"truth": time >= pl.col("start")}, "train")], borders=borders)


LENGTHS = {"truth": "horizon", "gap": "gap", "train": "window"}
"""The parts ahead of a fold's end, the last first, each with its length."""


def rolling(log: Log, folds: int, lengths: Mapping[str, Length], align: str | None = None) -> Rule:
    """Return windows of truth that step back from the end of the log, each with the train before it.

    `lengths` are horizon, step, gap and window: that of the truth, that from one end to the next, those of gap and train.

    NOTE: borders are stepped one by one, so that a fold's start is the next one's end where months differ; each step is a
    `with_columns` of its own, since an expression of an expression is written out twice by each.
    """
    horizon, dtype = lengths["horizon"], log.schema["time"]
    # without `align` the end is the log's last time, whose row is in the truth
    end, is_after = time.max(), pl.Expr.gt
    if align is not None:
        whole = f"1{align[0]}"
        end, is_after = end.dt.truncate(whole).dt.offset_by(whole), pl.Expr.ge
    borders = log.roles.select(end.alias(f"end {folds - 1}"))
    parts = list[pl.Expr]()
    for fold in reversed(range(folds)):
        border = f"end {fold}"
        cases = {"later": is_after(time, pl.col(border))}
        earlier = before(pl.col(border), lengths.get("step", horizon), dtype)
        borders = borders.with_columns(earlier.alias(f"end {fold - 1}"))
        for part, name in LENGTHS.items():
            if name in lengths:
                earlier = before(pl.col(border), lengths[name], dtype)
                border = f"{part} {fold}"
                borders = borders.with_columns(earlier.alias(border))
                cases[part] = is_after(time, pl.col(border))
        parts.insert(0, label(cases, "earlier" if "train" in cases else "train"))
    return Rule("line", parts, borders=borders, horizon=horizon)


def last_per_user(n: int, folds: int, keep: int) -> Rule:
    """Return blocks of each user's last events: a fold's truth is one, later what follows it, train what is before.

    A user has a block who has n events for it and for each that follows, and `keep` before them.
    """
    block = (units - unit) // n
    block = pl.when(units >= (block + 1) * n + keep).then(block)
    blocks = reversed(range(folds))
    parts = [label({"truth": block == own, "later": block < own}, "train") for own in blocks]
    return Rule("user", parts, ["time", "item"])


def _fold_of(key: str, share: float, folds: int) -> pl.Expr:
    """Return the fold in whose range a key is: share of all keys, and of the last one the rest where folds share all."""
    fold = (pl.col(key) // pl.lit(int(share * KEYS), pl.UInt64)).cast(pl.UInt32, strict=False)
    return fold.clip(upper_bound=folds - 1) if round(share * folds, DIGITS) == 1 else fold


def _by_fold(fold: pl.Expr, folds: int) -> list[pl.Expr]:
    """Return train, and truth where a row is of the fold."""
    return [label({"truth": fold == own}, "train") for own in range(folds)]


def random_of_log(share: float, folds: int, seed: int) -> Rule:
    """Return pairs by ranges of their keys."""
    return Rule("random", _by_fold(_fold_of(_KEY, share, folds), folds), seed=seed)


def random_of_users(share: float | None, n: int, folds: int, seed: int, keep: int) -> Rule:
    """Return places of each user's pairs in the order of their keys: a share of them, rounded, halves up; or n."""
    ends = [
        pl.lit(end * n) if share is None else ((units * (end * share)).round(DIGITS) + 0.5).floor()
        for end in range(1, folds + 1)
    ]
    fold = pl.when(unit <= units - keep).then(pl.sum_horizontal(unit > end for end in ends))
    return Rule("random", _by_fold(fold, folds), [_KEY], seed)


def by_user(
    share: float,
    at: pl.Expr | None,
    folds: int,
    fold_in: float,
    order: FoldInOrder,
    seed: int,
) -> Rule:
    """Return test users by their keys, or new ones from a point on: the first units are fold_in, the rest truth."""
    share_of_them = (units * fold_in).round(DIGITS).floor().clip(lower_bound=1)
    number: Any = share_of_them if fold_in < 1 else fold_in
    if at is None:
        fold = _fold_of(_KEY_OF_USER, share, folds)
        of_others = [{"train": fold != own} for own in range(folds)]
    else:
        is_old = pl.when(IS_WHOLE).then("time").min().over("user") < at
        of_others = [{"later": is_old & (time >= at), "train": is_old}]
    parts = [label({**cases, "fold_in": unit <= number}, "truth") for cases in of_others]
    return Rule("random", parts, ["time", "item"] if order == "time" else [_KEY], seed)


def placed(rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return rows with the place of their unit in the order of some keys within the user, and with the user's number of units.

    Rows of a user with the same keys are one unit; where texts may have the same key, the item parts them.
    """
    schema = rows.collect_schema()
    keys = [*keys, "item"] if keys == [_KEY] and schema["item"] in TEXT else keys
    # categories are text, so that their codes decide nothing
    columns = [pl.col(key).cast(pl.String) if schema[key] in TEXT else pl.col(key) for key in keys]
    order = pl.struct(columns)
    if all(is_whole(schema[key]) for key in keys):
        # one number is sorted in half of the time
        order, *lower = (column.to_physical() for column in columns)
        for column in lower:
            order = order.cast(pl.Int128) * pl.lit(KEYS, dtype=pl.Int128) + column.cast(pl.Int128)
    user: pl.Expr = pl.when(IS_WHOLE).then("user")
    if schema["user"] == pl.String:
        user = user.cast(pl.Categorical).to_physical()  # a number is grouped faster
    rows = rows.with_columns(user.alias(_USER), order.alias(_ORDER))
    rows = rows.with_columns(pl.col(_ORDER).rank("dense").over(_USER).cast(pl.Int64).alias(UNIT))
    return rows.with_columns(unit.max().over(_USER).alias(UNITS))
