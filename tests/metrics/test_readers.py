"""Readers of a list: the values of the papers' formulas, readers of a user's own, and what is no reader."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import plain_readers
import recframe as rf
from asking import ask, ask_one, ranking, rows
from recframe.metrics.language import registry
from strategies import examples

LISTED = pl.DataFrame({"user": ["u"] * 5, "item": [*"axcbd"], "rank": range(1, 6)})
TRUTH = pl.DataFrame({"user": ["u"] * 5, "item": [*"abcdz"], "relevance": [1, 0, 1, 1, 2]})


def exactly(value: Any) -> Any:
    return pytest.approx(value, rel=1e-12, abs=1e-12)


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    """What a test registers is gone after it."""
    monkeypatch.setattr(registry, "_registry", registry.registered())


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("insq(max_grade=2)", 0.264217), ("inst(max_grade=2)", 0.315814),
        ("bpm(max_grade=2)@3", 0.333333), ("bpm(target=1.4,max_grade=2)@5", 0.3),
        ("nerr(form=gain,max_grade=2)@3", 0.375), ("nerr(form=discount,max_grade=2)@3", 0.411765),
        ("nerr(max_grade=2)", 0.266897), ("nerr(form=target,max_grade=2)", 0.386508),
        ("sdcg(max_grade=2)@3", 0.351959),
    ],
)  # fmt: skip
def test_the_list_worked_by_hand_has_its_value(kind, metric: str, expected: float):
    found = ask_one(kind, LISTED, metric, truth=kind(TRUTH))

    assert found[metric] == pytest.approx(expected, abs=5e-7)


@given(
    st.lists(st.sampled_from([0, 0, 0, 1, 2.5, 3, 4, 7]), min_size=1, max_size=26),
    st.integers(0, 1000),
    st.sampled_from([1, 1.7, 5]),
    st.sampled_from([None, 1, 4, 1000, 5000]),
)
@examples(40)
def test_a_list_however_deep_is_read_as_place_by_place(grades, above, target, k):
    frame = ranking(grades).with_columns(pl.col("rank") + above)
    hits = [(rank, grade) for rank, grade in enumerate(grades, start=1 + above) if grade]
    hits = [hit for hit in hits if hit[0] <= (k or math.inf)]

    of_k = {f"bpm(target={target})@{k}": plain_readers.bpm(hits, k, target)} if k else {}
    expected = {
        f"insq(target={target})": plain_readers.insq(hits, target),
        f"inst(target={target})": plain_readers.inst(hits, target),
        "nerr": plain_readers.nerr(hits, k),
    }
    found = frame.rec.evaluate(*expected, *of_k, k=k).row(0)[1:]

    assert found == exactly(tuple((expected | of_k).values()))


def test_ties_have_the_mean_over_their_orders():
    frame = rows(
        ("u", "a", 5, 1), ("u", "b", 5, 9), ("u", "c", 5, 0), ("u", "d", 1, 3),
        schema=("user", "item", "score", "relevance"), score=pl.Int64,
    )  # fmt: skip
    orders = [(1, 4, 0), (1, 0, 4), (0, 1, 4), (0, 4, 1), (4, 0, 1), (4, 1, 0)]
    values = [plain_readers.sdcg([*enumerate((*order, 3), start=1)], 3) for order in orders]

    assert frame.rec(ties="expected").sdcg(k=3) == exactly(sum(values) / 6)
    for name in ("inst", "nerr", "bpm@3"):
        with pytest.raises(rf.RecframeError, match="ties='expected'"):
            frame.rec(ties="expected").evaluate(name)


def test_the_names_of_ir_measures_that_are_the_same_are_read():
    assert [str(rf.parse(name)) for name in ("INST", "INSQ", "BPM@5", "SDCG@5")] == [
        *("inst", "insq"),
        *("bpm@5", "sdcg@5"),
    ]


# A reader of a user's own


def test_a_reader_of_one_s_own_is_three_lines(kind):
    @rf.metric
    def hurried(at: Any, *, p: float = 0.6) -> pl.Expr:
        return at.reader(lambda place, gain: p * (1 - gain / 2) / place**0.5, max_grade=2)

    hits = [(1, 1.0), (3, 1.0), (5, 1.0)]
    expected = plain_readers.read(hits, lambda r, h, _g: 0.6 * (1 - h / 2) / r**0.5, max_grade=2)
    found = ask(kind, LISTED, "hurried", by="user", truth=kind(TRUTH))

    assert found["hurried"].to_list() == [exactly(expected)]
    assert str(rf.parse("hurried(p=0.5)@3")) == "hurried(p=0.5)@3"
    judged = LISTED.rec(truth=TRUTH).judge()
    assert judged.select(rf.parse("hurried").expr()).item() == exactly(expected)
    plan = LISTED.lazy().rec(truth=TRUTH.lazy()).evaluate("hurried").serialize()
    again = pl.LazyFrame.deserialize(io.BytesIO(plan))
    assert again.collect()["hurried"].item() == exactly(expected)


def test_a_reader_of_one_s_own_may_stop_and_need_not_mind_the_gain():
    @rf.metric(linear=True)
    def steady(at: Any) -> pl.Expr:
        return at.reader(lambda _place, _gain: 0.5, depth=at.k, max_grade=1)

    tied = rows(
        ("u", "a", 5, 1), ("u", "b", 5, 0),
        schema=("user", "item", "score", "relevance"), score=pl.Int64,
    )  # fmt: skip

    assert ranking([1, 0, 1, 1]).rec.evaluate("steady@3").row(0)[1] == exactly(1.25 / 1.75)
    assert tied.rec(ties="expected").evaluate("steady@2").row(0)[1] == exactly(0.5)


WRONG: dict[str, tuple[Callable[..., Any], str]] = {
    "of the gain so far": (lambda _place, _gain, so_far: 1 / so_far, "not of the gain so far"),
    "of the place alone": (lambda place: 1 / place, "of these two alone"),
    "above 1": (lambda _place, gain: 1 + gain, "found 1.25"),
    "below 0": (lambda _place, gain: 0.5 - gain, "found -0.25"),
    "no number": (lambda place, _gain: (place - 5).sqrt(), "found nan"),
    "a stop without gain": (lambda _place, gain: gain, "found 0.0; one that stops at a place has depth="),
    "of places above": (lambda _place, gain: 1 / (1 + gain.cum_sum()), "of other places too"),
    "of all places": (lambda place, _gain: place / place.sum(), "of other places too"),
    "of another column": (lambda _place, gain: pl.col("price") * gain, "of these two alone"),
    "text": (lambda _place, _gain: "often", "of these two alone"),
}  # fmt: skip


@pytest.mark.parametrize(("goes_on", "said"), WRONG.values(), ids=WRONG)
def test_what_is_no_reader_is_an_error_that_says_why(goes_on: Callable[..., Any], said: str):
    @rf.metric
    def odd(at: Any) -> pl.Expr:
        return at.reader(goes_on)

    with pytest.raises(rf.RecframeError) as error:
        ranking([1, 0, 1]).rec.evaluate("odd")
    assert said in str(error.value)
