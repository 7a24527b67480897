"""An engine of this process, by which the seam to engines is tested: rows go to buckets, and sums are added by Polars."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl
import pyarrow as pa

from frame_kinds import Kind
from recframe.engines.engine_frames import OfTables
from recframe.engines.sent_rows import adding, sent_sums, sums_of
from recframe.frames.kinds import kind
from recframe.frames.kinds.engine import Added, Routed, Summing
from recframe.frames.kinds.pyarrow_frames import in_plain_types, table_of, without_rows

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

    def stacked(self, frames: Mapping[str, ManyFrame], model: str) -> ManyFrame:
        named = [
            one.collected.with_columns(pl.lit(name).alias(model)) for name, one in frames.items()
        ]
        return ManyFrame(pl.concat(named, how="diagonal").to_arrow())

    def sums(
        self,
        frame: ManyFrame,
        routed: Mapping[str, Routed],
        summed: Summing,
        added: Sequence[Added],
    ) -> list[list[pl.DataFrame]]:
        del frame
        # as if it ran in another process
        there = pickle.loads(pickle.dumps(summed))  # noqa: S301
        sent = [sent_sums(there(rows), number) for number, rows in enumerate(_buckets(routed))]
        both = adding(pickle.loads(pickle.dumps(added)))  # noqa: S301
        some = [pa.concat_tables(sent[at : at + 2]) for at in range(0, len(sent), 2)]
        return [part for one in some for part in sums_of(both(one), len(added))]

    def rows(
        self,
        frame: ManyFrame,
        routed: Mapping[str, Routed],
        made: Summing,
        schema: pl.Schema,
    ) -> ManyFrame:
        del frame
        there = pickle.loads(pickle.dumps(made))  # noqa: S301
        none = without_rows(schema).schema
        return ManyFrame(
            pa.concat_tables(table_of(*there(rows)).cast(none) for rows in _buckets(routed))
        )

    def give(self, frame: ManyFrame, result: pl.DataFrame) -> ManyFrame:
        del frame
        return ManyFrame(table_of(result))


def _buckets(routed: Mapping[str, Routed]) -> list[dict[str, pl.DataFrame]]:
    taken = {name: _taken(one) for name, one in routed.items()}
    return [
        {name: one.filter(_bucket(routed[name].user) == number) for name, one in taken.items()}
        for number in range(N_BUCKETS)
    ]


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


def many(frame: pl.DataFrame) -> ManyFrame:
    return ManyFrame(frame.to_arrow())


def read(frame: Any) -> pl.DataFrame:
    assert isinstance(frame, ManyFrame)
    return frame.collected


MANY = Kind("divided", many, read)
