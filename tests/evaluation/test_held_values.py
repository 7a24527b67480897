"""Users' values that are held: every question is answered from them as from the frames."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from lanes import in_turn
from planted_shop import shop
from recframe.evaluation.caching import held_values
from recframe.metrics.language import registry
from recframe.profiles import under_profile

METRICS = ["ndcg@3", "recall@5", "judged@3", "f_score(average=means)@3", "list_length"]
ALONE = METRICS[:2]
SHOP = shop(n=60)
POLICIES: list[dict[str, Any]] = [
    {},
    {"no_relevant": "skip"},
    {"no_relevant": "null", "universe": "all"},
    {"relevant_from": "list"},
]
QUESTIONS = {
    "evaluate": lambda rec: rec.evaluate(METRICS),
    "by": lambda rec: rec.evaluate(ALONE, by=["country", "age"]),
    "by items": lambda rec: rec.evaluate(ALONE, by=["genre", "age"]),
    "summarize": lambda rec: rec.summarize(METRICS, by="country"),
    "compare": lambda rec: rec.compare(ALONE, baseline="old", by="age"),
    "gaps": lambda rec: rec.gaps(ALONE, by=["country", "age"], min_users=2),
    "slices": lambda rec: rec.slices(ALONE, by=["country", "age"], min_users=2, baseline="old"),
    "users": lambda rec: rec.evaluate(METRICS[:3], by="user"),
}


def holding(rec: Any, metrics: list[str]) -> Any:
    """Return the same with the users' values of some metrics collected."""
    rec = rec._in_polars()
    asked = registry.asked(metrics, None)
    inputs = rec._inputs(None, asked)
    conventions = under_profile.asked(inputs.context, asked)
    home = under_profile.at_home(inputs)
    rec._held = held_values(home, conventions, rec._run(), rec._kind.run)
    return rec


def answers(rec: Any, ask: Any) -> pl.DataFrame | str:
    try:
        return ask(rec)
    except rf.RecframeError as error:
        return str(error)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policies", "lazy"), in_turn(POLICIES, {"eager": False, "lazy": True}, fast=2)
)
def test_held_values_answer_as_the_frames_do(policies, lazy, monkeypatch):
    # as of a large frame, which is asked questions first
    monkeypatch.setattr("recframe.frames.kinds.kind.LARGE", 10)
    rec = SHOP.rec(pl.DataFrame.lazy if lazy else lambda frame: frame, **policies)
    held = holding(rec, METRICS)

    for name, ask in QUESTIONS.items():
        plain, found = answers(rec._in_polars(), ask), answers(held, ask)
        assert type(plain) is type(found), name
        if isinstance(plain, str):
            assert plain == found
        else:
            assert_frame_equal(plain, found, rel_tol=1e-9, abs_tol=1e-12)


def test_what_is_bound_anew_holds_nothing():
    held = holding(SHOP.rec(), METRICS)
    other = SHOP.truth.head(1)

    assert held(truth=other).evaluate(ALONE)["n_users"].to_list() == [1, 1]
    assert held._held is not None
    assert held.group_by("age")._held is None
