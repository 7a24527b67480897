"""Rows of a split with their parts, as its checks read them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import polars as pl

from recframe.errors import ColumnError
from recframe.frames.dtypes import in_frames as shown_in_frames
from recframe.frames.options import FOLD
from recframe.frames.roles import Side, check_time
from recframe.frames.rows.joins import joined

Order = Literal["line", "user", "random"]
"""Orders by which train and truth are parted: the time line, each user's own rows, or chance."""
KNOWN: tuple[Literal["train"], Literal["fold_in"]] = ("train", "fold_in")
"""The parts of which a model knows when it makes lists."""
PAIR = ["user", "item"]
EVENT = [*PAIR, "time"]
HISTORIES = {"user_history": ["user"], "item_history": ["item"], "pair_history": PAIR}
"""Counts of the rows that a model may read, each with the ids that it is of."""
time, n_rows = pl.col("time"), pl.len().cast(pl.Int64)


def is_in(*parts: str) -> pl.Expr:
    """Whether a row is in one of some parts."""
    return pl.any_horizontal([pl.col("part") == part for part in parts])


ENDS = {
    f"{part}_{name}": end(time.filter(is_in(part)))
    for part in ("train", "truth")
    for name, end in (("from", pl.Expr.min), ("to", pl.Expr.max))
}
"""The first and last times of train and truth."""


def as_they_are(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return rows that are made wherever they are read."""
    return rows


@dataclass(frozen=True)
class SplitRows:
    """One fold of a split: one row for each row of the log, or of train and truth, with its part."""

    rows: pl.LazyFrame
    """part, user, item, and time if it is known."""
    order: Order | None = None
    """None where somebody else split the frames."""
    held: Callable[[pl.LazyFrame], pl.LazyFrame] = as_they_are
    """The function that has rows made once."""
    users: pl.LazyFrame | None = None
    """The users whose histories count; None are those of truth."""

    @property
    def needs_met(self) -> set[str]:
        """The needs of checks that the rows meet: a time, and frames that somebody else split."""
        of_others = {"frames"} if self.order is None else set()
        return of_others | ({"time"} & {*self.rows.collect_schema()})

    def in_parts(self, *parts: str) -> pl.LazyFrame:
        """Return the rows of some parts."""
        return self.rows.filter(is_in(*parts))

    @property
    def train(self) -> pl.LazyFrame:
        """The rows of train."""
        return self.in_parts("train")

    @property
    def known(self) -> pl.LazyFrame:
        """The rows that a model may read: train, and what is given of test users."""
        return self.in_parts(*KNOWN)

    @cached_property
    def truth(self) -> pl.LazyFrame:
        """The rows of truth."""
        return self.held(self.in_parts("truth"))

    def with_histories(
        self,
        truth: pl.LazyFrame,
        names: Sequence[str] = tuple(HISTORIES),
        *,
        in_order: bool = True,
    ) -> pl.LazyFrame:
        """Return rows of truth with their histories."""
        for name in names:
            truth = joined(truth, getattr(self, name), HISTORIES[name], in_order=in_order)
        return truth.with_columns(pl.col(name).fill_null(0) for name in names)

    @cached_property
    def known_of_users(self) -> pl.LazyFrame:
        """The pairs of the rows that a model may read, of users who count: to group those of all takes four times as long."""
        users = self.truth.select("user").unique() if self.users is None else self.users
        return self.held(self.known.select(PAIR).join(users, on="user", how="semi"))

    @cached_property
    def user_history(self) -> pl.LazyFrame:
        """The rows that a model may read, counted by those users."""
        return self._counted(self.known_of_users, "user_history")

    @cached_property
    def item_history(self) -> pl.LazyFrame:
        """The rows of train, counted by item."""
        return self._counted(self.train, "item_history")

    @cached_property
    def pair_history(self) -> pl.LazyFrame:
        """The rows that a model may read, counted by pair of truth."""
        pairs = self.known_of_users.join(self.truth, on=PAIR, how="semi")
        return self._counted(pairs, "pair_history")

    def _counted(self, rows: pl.LazyFrame, name: str) -> pl.LazyFrame:
        return self.held(rows.group_by(HISTORIES[name]).agg(n_rows.alias(name)))

    @cached_property
    def pairs(self) -> pl.LazyFrame:
        """The pairs of truth, with their `rows` and histories."""
        return self.held(self.with_histories(self.truth.group_by(PAIR).agg(rows=n_rows)))

    def shares(self, concerned: pl.Expr) -> pl.LazyFrame:
        """Return what pairs of truth make of it: the `share` of its rows, and the `ceiling` of recall without them."""
        rows, is_so = pl.col("rows"), pl.col("is so")
        pairs = self.pairs.with_columns(concerned.alias("is so"))
        users = pairs.group_by("user").agg(
            n=rows.sum(), of_them=rows.filter(is_so).sum(), without=1 - is_so.mean()
        )
        share = pl.col("of_them").sum() / pl.col("n").sum()
        return users.select(share=share.round(3), ceiling=pl.col("without").mean().round(3))

    def compared(
        self, part: str, end: str, holds: Callable[[pl.Expr, pl.Expr], pl.Expr]
    ) -> pl.LazyFrame:
        """Return the rows of a part whose time compares with one of `ENDS`.

        NOTE: joined, since a filter by an end of all rows would hold them in memory.
        """
        ends = self.rows.select(end=ENDS[end])
        rows = self.in_parts(part).select(EVENT).join(ends, how="cross")
        return rows.filter(holds(time, pl.col("end"))).drop("end")


def in_frames(
    train: pl.LazyFrame,
    truth: pl.LazyFrame,
    sides: Sequence[Side],
    order: Order | None,
    folds: Sequence[int] = (),
) -> dict[int, SplitRows]:
    """Return two frames of matching ids as a split, fold by fold where both have a column of them."""
    frames = {"train": train, "truth": truth}
    schemas = [rows.collect_schema() for rows in frames.values()]
    times: list[list[pl.Expr]] = [[], []]
    if all("time" in schema for schema in schemas):
        times = _alike([schema["time"] for schema in schemas], sides)
    keys = [FOLD] * bool(folds)
    parts = [
        rows.select(*keys, *PAIR, *time_of, part=pl.lit(part)).drop_nulls(PAIR)
        for (part, rows), time_of in zip(frames.items(), times, strict=True)
    ]
    both = pl.concat(parts, how="vertical_relaxed")
    of_folds = {fold: both.filter(pl.col(FOLD) == fold).drop(FOLD) for fold in folds}
    return {fold: SplitRows(rows, order) for fold, rows in (of_folds or {0: both}).items()}


def _alike(dtypes: Sequence[pl.DataType], sides: Sequence[Side]) -> list[list[pl.Expr]]:
    """Return the times of both frames so that they compare, or say that they cannot."""
    families, columns = set(), []
    for dtype, side in zip(dtypes, sides, strict=True):
        check_time(dtype, side)
        has_zone = getattr(dtype, "time_zone", None) is not None
        families.add((dtype.is_numeric(), has_zone))
        columns.append([time.dt.convert_time_zone("UTC") if has_zone else time])
    if len(families) > 1 and pl.Null not in dtypes:
        titles = [side.title for side in sides]
        differ = shown_in_frames(dict(zip(titles, dtypes, strict=True)))
        raise ColumnError(
            f"the times have different dtypes: {differ}; cast them to one dtype, so that they compare"
        )
    return columns
