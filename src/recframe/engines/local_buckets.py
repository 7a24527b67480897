"""The threads of this machine as an engine: rows are read once, and each bucket of users is run by one thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import polars as pl

from recframe.engines.bucket_store import FAN_OUT, Store
from recframe.frames.kinds.engine import Engine, Work
from recframe.frames.kinds.lookup import kind_for
from recframe.frames.options import Limit


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
        raise NotImplementedError

    def distinct(
        self, frame: Any, columns: Sequence[str], present: Sequence[str], any_of: Sequence[str]
    ) -> pl.DataFrame:
        """Return columns' values."""
        raise NotImplementedError

    def counted(self, frame: Any, user: str, item: str) -> tuple[pl.DataFrame, int]:
        """Return each item with its number of users."""
        raise NotImplementedError

    def stacked(self, frames: Mapping[str, Any], model: str) -> Any:
        """Return frames of one kind below each other."""
        raise NotImplementedError

    def run(self, frame: Any, work: Work) -> Any:
        """Return the result of a call."""
        del frame
        store = Store(work.routed, self.limit.parts or FAN_OUT)
        store.fill()
        return work.finish(self._sums(store, work))

    def _sums(self, store: Store, work: Work) -> pl.DataFrame:
        """Return the sums of all buckets, or their rows of the result."""
        tasks = store.together(self.limit.parts)
        sums = [pl.DataFrame(schema=work.of_bucket)]
        n_threads = min(pl.thread_pool_size(), len(tasks))
        with ThreadPoolExecutor(n_threads) as pool:
            running = [
                pool.submit(lambda some: work.bucket(store.take(some)), some) for some in tasks
            ]
            try:
                for n_done, one in enumerate(as_completed(running), 1):
                    sums = _with(sums, one.result(), work)
                    if self.limit.tell is not None:
                        self.limit.tell(n_done / len(tasks))
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return _added(sums, work)


def _with(sums: list[pl.DataFrame], more: pl.DataFrame, work: Work) -> list[pl.DataFrame]:
    """Return sums with those of another bucket, added up where there are many."""
    sums = [*sums, more]
    if len(sums) > 1 and sum(map(len, sums[1:])) > max(len(sums[0]), 10_000):
        return [_added(sums, work)]
    return sums


def _added(sums: Sequence[pl.DataFrame], work: Work) -> pl.DataFrame:
    found = pl.concat(sums)
    return found if work.added is None else work.added.up(found)
