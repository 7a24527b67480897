"""The threads of this process as an engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import cached_property, partial
from itertools import chain
from typing import Any

import polars as pl

from recframe.engines.bucket_store import Store, cut, height, slices
from recframe.engines.memory_bound import Bound, default_memory
from recframe.frames.collecting import batches, in_threads, stream
from recframe.frames.kinds.engine import Added, Engine, Routed, Work, counted, rows_with
from recframe.frames.kinds.lookup import kind_for


class Local(Engine):
    """The threads of this process."""

    name = "this machine"
    is_here = True

    def __init__(self, memory: int | None = None) -> None:
        self.memory = memory

    @cached_property
    def bound(self) -> Bound:
        """The bound on the memory of a call; by default half of what is free."""
        return Bound(default_memory() if self.memory is None else self.memory)

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
        at_once = self.bound.rows_at_once(schema)
        found = [pl.DataFrame(schema={column: schema[column] for column in columns})]
        for part in slices(frame, at_once):
            rows = rows_with(part, present, any_of).select(named)
            more = (batch.unique() for batch in batches(rows, at_once))
            found = [pl.concat([*found, *more]).unique()]
        return found[0]

    def counted(self, frame: Any, user: str, item: str) -> tuple[pl.DataFrame, int]:
        """Return each item with its number of users, and the number of users."""
        schema = pl.Schema({name: frame.collect_schema()[name] for name in (user, item)})
        pairs = Routed(frame, schema, user, (user, item))
        how, n_users = Added(("item",), ("value",), ()), 0
        items: list[pl.DataFrame] = []
        with closing(Store({"pairs": pairs}, self.bound)) as store:
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
        schemas = [one.schema for one in routed.values()]
        heights = [height(one.frame) for one in routed.values()]
        return self.bound.holds(schemas, heights)

    def run(self, frame: Any, work: Work) -> Any:
        """Return the result of a call."""
        del frame
        n_threads, in_one = self.bound.n_threads, work.alone is not None
        buckets = None if in_one else cut(work.routed, self.bound)
        if buckets is not None:
            tasks = [partial(work.bucket, one) for one in buckets]
            return work.finish(_sums(in_threads(tasks, n_threads), work))
        with closing(Store(work.routed, self.bound, in_one=in_one)) as store:
            store.fill()
            if work.alone is not None:
                store.check_is_one(work.alone)
            alone = (partial(_run, work, store, [one]) for one in store.of_one_user)
            together = (partial(_run, work, store, some) for some in store.together())
            found = chain(in_threads(alone, 1), in_threads(together, n_threads))
            sums, fits = _sums(found, work), not store.has_spilled
        return work.finish(sums, fits=fits)


def _sums(found: Iterable[pl.DataFrame], work: Work) -> pl.DataFrame:
    """Return the sums of all buckets, or their rows of the result."""
    sums = [pl.DataFrame(schema=work.of_bucket)]
    for one in found:
        sums = [*sums, one]
        if sum(map(len, sums[1:])) > max(len(sums[0]), 10_000):
            sums = [_added(sums, work)]
    return _added(sums, work)


def _run(work: Work, store: Store, buckets: Sequence[int]) -> pl.DataFrame:
    return work.bucket(store.take(buckets))


def _added(sums: Sequence[pl.DataFrame], work: Work) -> pl.DataFrame:
    found = pl.concat(sums)
    return found if work.added is None else work.added.up(found)
