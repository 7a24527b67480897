"""Rows of a split with their parts, as its checks read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import polars as pl
from polars import selectors

from recframe.errors import ColumnError, dtype_shown
from recframe.frames.kinds.kind import run_by_size
from recframe.frames.options import FOLD
from recframe.frames.roles import Side, check_time

Order = Literal["line", "user", "random"]
"""Orders by which train and truth are parted: the time line, each user's own rows, or chance."""
KNOWN: tuple[Literal["train"], Literal["fold_in"]] = ("train", "fold_in")
"""The parts of which a model knows when it makes lists."""
PAIR = ("user", "item")
EVENT = (*PAIR, "time")
time = pl.col("time")


ENDS = {
    f"{part}_{name}": end(time.filter(pl.col("part") == part))
    for part in ("train", "truth")
    for name, end in (("from", pl.Expr.min), ("to", pl.Expr.max))
}
"""The first and last times of train and truth."""


@dataclass(frozen=True)
class SplitRows:
    """One fold of a split: one row for each row of the log, or of train and truth, with its part."""

    rows: pl.LazyFrame
    """part, user, item, and time if it is known."""
    order: Order | None = None
    """None where somebody else split the frames."""
    size: int = 0
    """Number of rows of an eager log; 0 of a lazy one."""

    @property
    def held(self) -> set[str]:
        """Needs of checks that the rows meet: a time, and frames that somebody else split."""
        of_others = {"frames"} if self.order is None else set()
        return of_others | ({"time"} & {*self.rows.collect_schema()})

    def in_parts(self, *parts: str) -> pl.LazyFrame:
        """Return the rows of some parts."""
        return self.rows.filter(pl.any_horizontal([pl.col("part") == part for part in parts]))

    @property
    def train(self) -> pl.LazyFrame:
        """The rows of train."""
        return self.in_parts("train")

    @property
    def truth(self) -> pl.LazyFrame:
        """The rows of truth."""
        return self.in_parts("truth")

    @cached_property
    def pairs(self) -> pl.LazyFrame:
        """The pairs of truth: their `rows`; whether `seen` in train; `of_user` and `of_item`, whether train has these."""
        known = self.in_parts(*KNOWN)
        pairs = self.truth.group_by(PAIR).agg(pl.len().cast(pl.Int64).alias("rows"))
        seen = pairs.select(PAIR).join(known, on=PAIR, how="semi")
        tables = {
            "seen": seen,
            "of_user": known.select("user"),
            "of_item": self.train.select("item"),
        }
        for name, rows in tables.items():
            keys = rows.collect_schema().names()
            table = rows.unique().with_columns(pl.lit(value=True).alias(name))
            pairs = pairs.join(table, on=keys, how="left")
        pairs = pairs.with_columns(pl.col(*tables).fill_null(value=False))
        # collected once where the log is in memory, since several checks read it
        return run_by_size(pairs, self.size).lazy() if self.size else pairs

    def shares(self, concerned: pl.Expr) -> pl.LazyFrame:
        """Return what pairs of truth make of it: the `share` of its rows, and the `ceiling` of recall without them."""
        n_rows, is_so = pl.col("rows"), pl.col("is so")
        pairs = self.pairs.select("user", "rows", concerned.alias("is so"))
        users = pairs.group_by("user").agg(
            n=n_rows.sum(), of_them=n_rows.filter(is_so).sum(), without=1 - is_so.mean()
        )
        share = pl.col("of_them").sum() / pl.col("n").sum()
        return users.select(share=share.round(3), ceiling=pl.col("without").mean().round(3))

    @property
    def ends(self) -> pl.LazyFrame:
        """One row with the first and last times of train and truth."""
        return self.rows.select(**ENDS)

    def compared(
        self, part: str, end: str, holds: Callable[[pl.Expr, pl.Expr], pl.Expr]
    ) -> pl.LazyFrame:
        """Return the rows of a part whose time compares with one of the `ends`.

        NOTE: of rows in memory by one filter, at a tenth of a join's time; of others that would hold them all in memory.
        """
        if self.size:
            return self.rows.filter((pl.col("part") == part) & holds(time, ENDS[end]))
        rows = self.in_parts(part).join(self.ends.select(end), how="cross")
        return rows.filter(holds(time, pl.col(end))).drop(end)


def in_frames(
    train: pl.LazyFrame,
    truth: pl.LazyFrame,
    sides: tuple[Side, Side],
    folds: Sequence[int] = (),
) -> dict[int, SplitRows]:
    """Return two frames of matching ids that somebody split, fold by fold where both have a column of them."""
    schemas = [train.collect_schema(), truth.collect_schema()]
    casts = []
    if all("time" in schema for schema in schemas):
        _check_times(schemas, sides)
        casts = [time.cast(_common([schema["time"] for schema in schemas]))]
    keys = [FOLD] * bool(folds)
    parts = [
        rows.select(*keys, *PAIR, *casts, part=pl.lit(part)).drop_nulls([*PAIR])
        for part, rows in (("train", train), ("truth", truth))
    ]
    both = pl.concat(parts)
    if not folds:
        return {0: SplitRows(both)}
    return {fold: SplitRows(both.filter(pl.col(FOLD) == fold).drop(FOLD)) for fold in folds}


def in_folds(
    by_fold: Mapping[int, pl.LazyFrame],
    order: Order,
    *,
    size: int = 0,
) -> dict[int, SplitRows]:
    """Return the folds of a split: the rows of its log with their parts."""
    columns = selectors.by_name(*EVENT, "part", require_all=False)
    return {
        fold: SplitRows(rows.select(columns), order, size=size) for fold, rows in by_fold.items()
    }


def _common(dtypes: Sequence[pl.DataType]) -> pl.DataType:
    """Return the dtype of two columns of times that compare."""
    first, second = dtypes
    if pl.Null in (first, second) or first == second:
        return second if first == pl.Null else first
    if first.is_numeric():
        return pl.Int64() if first.is_integer() and second.is_integer() else pl.Float64()
    zone = next((one.time_zone for one in dtypes if isinstance(one, pl.Datetime)), None)
    return pl.Datetime("ns" if "ns" in str(dtypes) else "us", zone)


def _check_times(schemas: Sequence[pl.Schema], sides: Sequence[Side]) -> None:
    """Reject times that are none, or of which those of train do not compare with those of truth."""
    families = []
    for schema, side in zip(schemas, sides, strict=True):
        check_time(schema["time"], side)
        dtype = schema["time"]
        zone = getattr(dtype, "time_zone", None) is not None
        families.append("number" if dtype.is_numeric() else "zone" if zone else "clock")
    if families[0] != families[1] and pl.Null not in [schema["time"] for schema in schemas]:
        found = [
            f"{dtype_shown(schema['time'])} in {side.title}"
            for schema, side in zip(schemas, sides, strict=True)
        ]
        msg = f"the times have different dtypes: {', '.join(found)}; cast them to one dtype, so that they compare"
        raise ColumnError(msg)
