"""What becomes of a call's plans: tried without rows, run over a bucket of users up to their sums, or finished from those."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # comes with every engine
from polars.io.plugins import register_io_source

from recframe.engines.sums import PLAN, Sums, schema_of
from recframe.errors import RecframeError
from recframe.frames.collecting import ask, run_by_size
from recframe.frames.kinds.kind import Applied, Taken
from recframe.frames.kinds.plain_tables import table_of
from recframe.frames.kinds.recframe_bucket import Task
from recframe.frames.kinds.tables import Tables


class Trial(Task):
    """A call over frames without rows, which tells what is read, what is added up and what comes out."""

    def __init__(self, *, divided: bool) -> None:
        self.divided, self.tables = divided, Tables()
        self.columns: dict[str, dict[str, None]] = {}
        self.plans: list[Sums] = []
        self.result = pl.Schema()

    def takes(self, name: str, columns: Collection[str]) -> None:
        """Write down which columns of a frame are read."""
        self.columns.setdefault(name, {}).update(dict.fromkeys(columns))

    def taken(self, columns: Taken) -> pl.LazyFrame:
        """Return columns without rows, which nobody is to take for the data."""
        return columns.lazy()

    def adds(self, sums: pl.LazyFrame, keys: Sequence[str], same: Sequence[str]) -> pl.LazyFrame:
        """Write down the sums of a plan."""
        if "user" in keys:
            msg = (
                "what each list changes in a number of all lists takes all of them at once, which no bucket of users has; "
                "evaluate() has the numbers without their intervals"
            )
            raise RecframeError(msg)
        schema = sums.collect_schema()
        kept = tuple(name for name in same if name in schema)
        self.plans.append(Sums(len(self.plans), schema, tuple(keys), kept))
        return pl.LazyFrame(schema=schema)

    def gives(self, plan: pl.LazyFrame) -> None:
        """Write down the result's schema."""
        self.result = plan.collect_schema()


class Summing(Task):
    """A call over the rows of a bucket, up to the sums that are added to those of others."""

    looks = True

    def __init__(self, plans: Sequence[Sums], tables: Tables, size: int) -> None:
        self.plans, self.tables, self.size = plans, tables, size
        self.found: list[pl.LazyFrame] = []

    def adds(self, sums: pl.LazyFrame, keys: Sequence[str], same: Sequence[str]) -> pl.LazyFrame:
        """Keep the sums of a plan."""
        del keys, same
        self.found.append(sums)
        return pl.LazyFrame(schema=sums.collect_schema())

    def gives(self, plan: pl.LazyFrame) -> None:
        """Make nothing of the plan, which has the sums of no bucket."""

    def table(self) -> pa.Table:
        """Return the sums of all plans, and a row of none: engines make nothing of no rows."""
        sums = [run_by_size(one, self.size) for one in self.found]
        rows = [plan.sent(one) for plan, one in zip(self.plans, sums, strict=True)]
        of_none = pl.DataFrame({PLAN: [None]}, schema={PLAN: pl.Int32})
        return table_of(pl.concat([*rows, of_none], how="diagonal"), schema_of(self.plans))


class Whole(Task):
    """A call over the rows of a bucket whose result's rows are those of the whole result."""

    divided = False
    looks = True

    def __init__(self, result: pl.Schema, tables: Tables, size: int) -> None:
        self.result, self.tables, self.size = result, tables, size
        self.found: pa.Table = None

    def table(self) -> pa.Table:
        """Return the bucket's rows of the result."""
        return self.found

    def applied(self, plan: pl.LazyFrame, to: Applied, schema: pl.Schema) -> pl.LazyFrame:
        """Return what a function makes of a plan's result."""
        del schema
        return to(run_by_size(plan, self.size)).lazy()

    def gives(self, plan: pl.LazyFrame) -> None:
        """Keep the result."""
        rows = run_by_size(plan, self.size)
        self.found = table_of(rows.cast(self.result), self.result)


class Finishing(Task):
    """A call over the sums of all buckets, from there to its result."""

    def __init__(self, plans: Sequence[Sums], tables: Tables, sums: pa.Table) -> None:
        self.tables, self.found = tables, None
        rows = pl.DataFrame(sums)
        self._sums = iter([one.received(rows).lazy() for one in plans])

    def taken(self, columns: Taken) -> Taken:
        """Return columns that nobody is to read, whose rows are gone."""

        def gone(*_: Any) -> Iterator[pl.DataFrame]:
            msg = "a plan reads rows of users behind its sums; this is a defect of recframe"
            raise RecframeError(msg)

        return register_io_source(io_source=gone, schema=columns.collect_schema())

    def adds(self, sums: pl.LazyFrame, keys: Sequence[str], same: Sequence[str]) -> pl.LazyFrame:
        """Return the sums of the next plan."""
        del sums, keys, same
        return next(self._sums)

    def applied(self, plan: pl.LazyFrame, to: Applied, schema: pl.Schema) -> pl.LazyFrame:
        """Return what a function makes of a plan's result."""
        del schema
        return to(ask([plan])[0]).lazy()

    def gives(self, plan: pl.LazyFrame) -> None:
        """Keep the result."""
        rows = ask([plan])[0]
        self.found = table_of(rows, plan.collect_schema())
