"""The threads of this process as an engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from typing import Any

import polars as pl

from recframe.engines.bucket_store import Store, cut, height, slices
from recframe.engines.memory_bound import Bound
from recframe.frames.collecting import batches, in_threads, stream
from recframe.frames.kinds.engine import Added, Engine, Routed, Work, counted, rows_with
from recframe.frames.kinds.lookup import kind_for
from recframe.frames.options import Limit

READING = 0.3
"""Share of a call's time that reads rows and puts them into buckets, for a bar (docs/benchmarks.md)."""


class Local(Engine):
    """The threads of this process."""

    name = "this machine"
    is_here = True

    def __init__(self, limit: Limit) -> None:
        self.limit = limit

    def schema(self, frame: Any) -> pl.Schema:
        """Return the dtypes of a frame's columns."""
        return pl.Schema(kind_for(frame).schema)

    def read(self, frame: Any, columns: Sequence[str]) -> pl.DataFrame:
        """Return some columns of a small frame."""
        names = frame.collect_schema().names()
        return stream(frame.select(pl.nth(names.index(column)) for column in columns))

    def distinct(
        self, frame: Any, columns: Sequence[str], present: Sequence[str], any_of: Sequence[str]
    ) -> pl.DataFrame:
        """Return columns' values, of rows that have others."""
        schema = frame.collect_schema()
        named = [pl.nth(schema.names().index(column)) for column in columns]
        at_once = Bound(self.limit.memory).rows_at_once(schema)
        found = [pl.DataFrame(schema={column: schema[column] for column in columns})]
        for part in slices(frame, at_once):
            rows = rows_with(part, present, any_of).select(named)
            more = (batch.unique() for batch in batches(rows, at_once))
            found = [pl.concat([*found, *more]).unique()]
        return found[0]

    def counted(self, frame: Any, user: str, item: str) -> tuple[pl.DataFrame, int]:
        """Return each item with its number of users, and the number of users."""
        schema = pl.Schema({name: frame.collect_schema()[name] for name in (user, item)})
        pairs, bound = Routed(frame, schema, user, (user, item)), Bound(self.limit.memory)
        how, n_users = Added(("item",), ("value",), ()), 0
        items: list[pl.DataFrame] = []
        with closing(Store({"pairs": pairs}, bound)) as store:
            store.fill()
            for some in [*([one] for one in store.of_one_user), *store.together()]:
                rows = store.take(some)["pairs"].lazy()
                counts, n_more = counted(
                    rows.select(pl.nth(0).alias("user"), pl.nth(1).alias("item"))
                )
                items, n_users = [how.up(pl.concat([*items, counts]))], n_users + n_more
        return items[0], n_users

    def stacked(self, frames: Mapping[str, Any], model: str) -> Any:
        """Return frames of one kind below each other."""
        raise NotImplementedError

    def holds(self, routed: Mapping[str, Routed]) -> bool:
        """Return whether a call runs in one plan, since the bound holds all of its rows at once."""
        if self.limit.parts is not None:
            return False
        schemas = [one.schema for one in routed.values()]
        heights = [height(one.frame) for one in routed.values()]
        return Bound(self.limit.memory).holds(schemas, heights)

    def run(self, frame: Any, work: Work) -> Any:
        """Return the result of a call."""
        del frame
        bound = Bound(self.limit.memory)
        n_parts = self.limit.parts if work.alone is None else 1
        buckets = cut(work.routed, bound, n_parts) if work.alone is None else None
        if buckets is not None:
            tasks = [partial(work.bucket, one) for one in buckets]
            found = in_threads(tasks, bound.n_threads)
            return work.finish(self._sums(found, len(tasks), work, told=0))
        with closing(Store(work.routed, bound, n_parts)) as store:
            store.fill(lambda share: self._tell(READING * share, work))
            if work.alone is not None:
                store.check_is_one(work.alone)
            alone, together = [[one] for one in store.of_one_user], store.together()
            found = chain(
                in_threads((partial(_run, work, store, one) for one in alone), 1),
                in_threads(
                    (partial(_run, work, store, some) for some in together), bound.n_threads
                ),
            )
            sums = self._sums(found, len(alone) + len(together), work, told=READING)
            fits = not store.has_spilled
        return work.finish(sums, fits=fits)

    def _sums(
        self, found: Iterable[pl.DataFrame], n_buckets: int, work: Work, told: float
    ) -> pl.DataFrame:
        """Return the sums of all buckets, or their rows of the result."""
        sums = [pl.DataFrame(schema=work.of_bucket)]
        for n_done, one in enumerate(found, 1):
            sums = _with(sums, one, work)
            self._tell(1 - (1 - told) * (1 - n_done / n_buckets), work)
        return _added(sums, work)

    def _tell(self, share: float, work: Work) -> None:
        n_before, n_rounds = work.rounds
        self.tell((n_before + share) / n_rounds)

    def tell(self, share: float) -> None:
        """Tell the share of the call that is done."""
        if self.limit.tell is not None:
            self.limit.tell(share)


def _run(work: Work, store: Store, buckets: Sequence[int]) -> pl.DataFrame:
    return work.bucket(store.take(buckets))


def _with(sums: list[pl.DataFrame], more: pl.DataFrame, work: Work) -> list[pl.DataFrame]:
    """Return sums with those of another bucket, added up where there are many."""
    sums = [*sums, more]
    if len(sums) > 1 and sum(map(len, sums[1:])) > max(len(sums[0]), 10_000):
        return [_added(sums, work)]
    return sums


def _added(sums: Sequence[pl.DataFrame], work: Work) -> pl.DataFrame:
    found = pl.concat(sums)
    return found if work.added is None else work.added.up(found)
