"""What becomes of the memory of frames that nobody has any more, while Python's collector of circles does not run."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from recframe.demo import simulate

GROWTH = """
import gc
gc.disable()
import polars as pl, recframe

def resident():
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * 4096 / 1e6

def asked(number):
    row = pl.int_range(250_000, eager=True)
    columns = [row // 10, (row * 7919 + number) % 10007, row % 10 + 1, ((row + number) % 10 == 0).cast(pl.Int64)]
    frame = pl.DataFrame(dict(zip(["user", "item", "rank", "relevance"], columns)))
    {call}

sizes = []
for number in range(30):
    asked(number)
    sizes.append(resident())
print(max(sizes[-5:]) - min(sizes[:5]))
"""
OF_A_FRAME = 8
"""Megabytes: 250,000 rows of four numbers of eight bytes."""
CALLS = {
    "eager": "frame.rec.ndcg(k=10)",
    "of a named object": 'rec = frame.rec; rec.evaluate("ndcg@10", by="user")',
    "lazy": 'frame.lazy().rec.evaluate("ndcg@10").collect()',
    "two frames": 'frame.drop("relevance").rec(frame.filter(pl.col("relevance") > 0)).ndcg(k=10)',
    "pandas": "frame.to_pandas().rec.ndcg(k=10)",
}


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux how much memory is held")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_memory_of_thirty_frames_is_that_of_a_few(call):
    done = subprocess.run(  # noqa: S603  the script stands above
        [sys.executable, "-c", GROWTH.replace("{call}", call)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )

    # 25 frames of 8 MB that nothing lets go are 200; what an allocator keeps at hand differs by a few frames from call to call
    assert float(done.stdout) < 10 * OF_A_FRAME


@contextmanager
def without_collector() -> Iterator[None]:
    """Let nothing go that stands in a circle."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


ASKED = {
    "evaluate": lambda rec: rec.evaluate("ndcg@10", by="activity"),
    "compare": lambda rec: rec.compare("ndcg@10", baseline="popularity"),
    "require": lambda rec: rec.require("ndcg@10 >= 0", raises=False),
    "audit": lambda rec: rec.audit(),
    "judge": lambda rec: rec.judge(),
    "explain": lambda rec: rec.explain("ndcg@10", "ranx", "rectools"),
    "plot": lambda rec: rec.plot.curve("ndcg", k=[1, 5]),
    "repr": repr,
}


def test_a_frame_is_gone_with_its_last_name_whatever_it_was_asked(kind):
    shop, n_kept = simulate(n_users=60, n_items=60), {}
    for name, ask in ASKED.items():
        recs, truth, users = (kind(one.clone()) for one in (shop.recs, shop.truth, shop.users))
        held = [weakref.ref(recs), weakref.ref(truth)]
        with without_collector():
            ask(recs.rec(truth, users=users, model="model"))
            del recs, truth
            n_kept[name] = sum(one() is not None for one in held)

    assert n_kept == dict.fromkeys(ASKED, 0)


def test_a_rec_keeps_the_frame_that_nothing_else_holds(kind):
    shop = simulate(n_users=60, n_items=60)
    rec = kind(shop.recs.clone()).rec
    asked = rec(kind(shop.truth.clone()), model="model").evaluate("ndcg@10")

    assert kind.read(asked).height == shop.recs["model"].n_unique()
