"""What becomes of the memory of frames that nobody has any more, while Python's collector of circles does not run."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from recframe.demo import simulate


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


@pytest.mark.nightly
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
