"""Tasks in threads of this process, a few at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")


def in_threads(tasks: Iterable[Callable[[], T]], n_threads: int) -> Iterator[T]:
    """Run tasks in threads, and walk their results as they come.

    NOTE: a task is asked for when a thread is about to be free. So what is read for tasks is never far ahead of them, and an
    error or Ctrl-C waits for the tasks that run, and for no others.
    """
    pool = ThreadPoolExecutor(n_threads, thread_name_prefix="recframe")
    running: set[Future[T]] = set()
    try:
        for task in tasks:
            running.add(pool.submit(copy_context().run, task))  # which has the words of messages
            while len(running) > n_threads:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (one.result() for one in done)
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (one.result() for one in done)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
