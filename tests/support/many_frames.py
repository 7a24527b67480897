"""An engine of this process, by which the seam to engines is tested: rows go to buckets, and sums are added by Polars."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl
import pyarrow as pa

from frame_kinds import Kind
from recframe.engines.engine_frames import OfTables, in_tables
from recframe.frames.kinds import kind
from recframe.frames.kinds.engine import Added, Routed, Work
from recframe.frames.kinds.pyarrow_frames import in_plain_types, table_of

N_BUCKETS = 4


@dataclass
class ManyFrame:
    """A frame that is read by its engine alone."""

    KIND: ClassVar[type[kind.Kind]]

    rows: pa.Table

    @property
    def collected(self) -> pl.DataFrame:
        return pl.DataFrame(self.rows)


class InProcess(OfTables):
    name = "this process"

    def none(self, frame: ManyFrame) -> pa.Table:
        return frame.rows.slice(0, 0)

    def read(self, frame: ManyFrame, columns: Sequence[str]) -> pl.DataFrame:
        return pl.DataFrame(in_plain_types(frame.rows.select(list(columns))))

    def distinct(
        self,
        frame: ManyFrame,
        columns: Sequence[str],
        present: Sequence[str],
        any_of: Sequence[str],
    ) -> pl.DataFrame:
        rows = frame.collected.drop_nulls(list(present))
        if any_of:
            rows = rows.filter(pl.any_horizontal([_has(rows, name) for name in any_of]))
        return rows.select(columns).unique()

    def counted(self, frame: ManyFrame, user: str, item: str) -> tuple[pl.DataFrame, int]:
        pairs = frame.collected.select(user=user, item=item).drop_nulls().unique()
        return pairs.group_by("item").agg(value=pl.len()), pairs["user"].n_unique()

    def stacked(self, frames: Mapping[str, ManyFrame], model: str) -> ManyFrame:
        named = [
            one.collected.with_columns(pl.lit(name).alias(model)) for name, one in frames.items()
        ]
        return ManyFrame(pl.concat(named, how="diagonal").to_arrow())

    def run(self, frame: ManyFrame, work: Work) -> ManyFrame:
        del frame
        work = in_tables(work)
        taken = {name: _taken(one) for name, one in work.routed.items()}
        made = []
        for number in range(N_BUCKETS):
            rows = {
                name: one.filter(_bucket(work.routed[name].user) == number)
                for name, one in taken.items()
            }
            # as if it ran in another process
            there = pickle.loads(pickle.dumps(work.bucket))  # noqa: S301
            made.append(there(rows))
            assert made[-1].schema == work.of_bucket.schema
        all_made = pa.concat_tables(made)
        if work.added is None:
            return ManyFrame(all_made)
        there = pickle.loads(pickle.dumps(work.finish))  # noqa: S301
        result = there(_added(pl.DataFrame(all_made), work.added).to_arrow())
        assert result.schema == work.result.schema
        return ManyFrame(result)


class Many(kind.Kind):
    engine = InProcess()
    is_lazy = True

    @property
    def columns(self) -> list[str]:
        return self.frame.rows.column_names

    def labels(self) -> list[str]:
        return []

    def numbers(self) -> list[str]:
        return []


ManyFrame.KIND = Many


def _has(rows: pl.DataFrame, name: str) -> pl.Expr:
    column = pl.col(name)
    is_there = column.is_finite() if rows.schema[name].is_float() else column.is_not_null()
    return is_there.fill_null(value=False)


def _bucket(user: str) -> pl.Expr:
    """Go by the text of users, since whole numbers of two widths have different hashes."""
    return pl.col(user).cast(pl.String).hash(seed=7) % N_BUCKETS


def _taken(one: Routed) -> pl.DataFrame:
    is_local = isinstance(one.frame, pl.LazyFrame)
    table = table_of(one.frame.collect()) if is_local else in_plain_types(one.frame.rows)
    rows = pl.DataFrame(table).drop_nulls(list(one.present))
    if one.most is not None:
        rank, most = one.most
        rows = rows.filter(pl.col(rank).le(most) & _has(rows, rank))
    return pl.DataFrame([rows.get_column(name) for name in one.columns])


def _added(rows: pl.DataFrame, how: Added) -> pl.DataFrame:
    summed = [pl.col(name).sum() for name in how.sums]
    # as SQL has it, the sum of nothing is nothing
    summed = [
        pl.when(pl.col(name).count() > 0).then(one)
        for name, one in zip(how.sums, summed, strict=True)
    ]
    same = [pl.col(name).drop_nulls().first() for name in how.same]
    most = [pl.col(name).max() for name in how.most]
    return (
        rows.group_by(how.keys)
        .agg(*summed, *same, *most)
        .select(rows.columns)
        .sample(fraction=1, shuffle=True, seed=1)
    )


def many(frame: pl.DataFrame) -> ManyFrame:
    return ManyFrame(frame.to_arrow())


def read(frame: Any) -> pl.DataFrame:
    assert isinstance(frame, ManyFrame)
    return frame.collected


MANY = Kind("divided", many, read)
Frames = Mapping[str, pl.DataFrame]
