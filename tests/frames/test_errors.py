"""Errors of every kind of frame: at the call what names and dtypes show, and when the plan runs what only the data shows.

What they say stands in said.txt, word by word.
"""

from __future__ import annotations

import re
from typing import Any

import polars as pl
import pytest

import recframe as rf
from asking import liked, ranking, recommended, rows
from frame_kinds import KINDS

FRAME = ranking([0, 1])
PAIRS = pl.DataFrame({"user": [1], "item": [2], "rank": [1]})
# what only the way in and out decides; the others are made of these
PLAIN = [kind for kind in KINDS if kind.name in {"polars", "lazy", "pandas"}]
on_plain_kinds = pytest.mark.parametrize("kind", PLAIN, ids=repr)


def fails_with(kind: Any, text: str, call: Any) -> None:
    """Expect what only the data shows: a DataError of these words, or from a LazyFrame Polars' error when it is collected."""
    if kind.name in {"lazy", "streaming"}:
        with pytest.raises(pl.exceptions.PolarsError, match=re.escape(text)):
            kind.read(call())
    else:
        with pytest.raises(rf.DataError, match=f"^{re.escape(text)}"):
            call()


def test_every_error_is_one_of_recframe_and_a_value_error():
    errors = [value for name, value in vars(rf).items() if name.endswith("Error")]

    assert all(issubclass(one, rf.RecframeError) for one in errors)
    assert issubclass(rf.RecframeError, ValueError)
    assert issubclass(rf.RecframeWarning, UserWarning)


@on_plain_kinds
def test_what_columns_show_is_an_error_of_the_call(kind):
    recs, truth = kind(recommended(u="a")), liked(u="a")
    calls = [
        *(
            lambda role=role: kind(FRAME.drop(role)).rec.evaluate("mrr")
            for role in ("user", "rank", "relevance")
        ),
        *(
            lambda role=role: kind(FRAME.drop("rank")).rec(**{role: "none"}).evaluate("mrr")
            for role in ("user", "item", "rank", "score", "relevance", "model")
        ),
        *(
            lambda side=side: recs.rec(
                **{"truth": kind(truth), side: kind(pl.DataFrame({"x": [1]}))}
            ).evaluate("mrr")
            for side in ("truth", "users", "items")
        ),
        *(
            lambda role=role, dtype=dtype: (
                kind(PAIRS).rec(kind(PAIRS.drop("rank").cast({role: dtype}))).evaluate("mrr")
            )
            for role in ("user", "item")
            for dtype in (pl.String, pl.Float64, pl.Boolean)
        ),
        *(
            lambda values=values: kind(FRAME.with_columns(rank=pl.Series(values))).rec.mrr()
            for values in (["1", "2"], [True, False])
        ),
        lambda: kind(FRAME).rec.mrr(by="contry"),
    ]

    for call in calls:
        with pytest.raises(rf.ColumnError):
            call()


@pytest.mark.parametrize(
    ("left", "right"),
    [(pl.Date, pl.Datetime("us")), (pl.Datetime("us"), pl.Datetime("ms")), (pl.String, pl.Binary), (pl.Float32, pl.Float64)],
)  # fmt: skip
def test_ids_that_cannot_match(left, right):
    recs, truth = (
        pl.DataFrame({"user": [None], "item": ["a"], "rank": [1]}, schema_overrides={"user": one})
        for one in (left, right)
    )

    with pytest.raises(rf.ColumnError, match="the user ids have different dtypes: "):
        recs.lazy().rec(truth=truth).mrr()


BELOW_1 = "a rank is below 1, but ranks start at 1; "


@pytest.mark.parametrize("ranks", [[0, 1], [-3, 1], [0.5, 1.0]], ids=str)
def test_a_rank_below_1(kind, ranks):
    frame = FRAME.with_columns(rank=pl.Series(ranks))
    truth = kind(liked(v="z"))  # the row need not count for anything

    fails_with(kind, BELOW_1, lambda: kind(frame).rec.evaluate("mrr"))
    fails_with(kind, BELOW_1, lambda: kind(frame).rec.evaluate("n_hits", by="user"))
    fails_with(kind, BELOW_1, lambda: kind(frame).rec(truth=truth).judge())
    if min(ranks) == 0:
        for dtype in (pl.UInt8, pl.Int8, pl.UInt64, pl.Float32):
            small = kind(frame.cast({"rank": dtype}))
            fails_with(kind, BELOW_1, lambda small=small: small.rec.evaluate("mrr"))


TWICE = "it takes one row for each"
TWO_VALUES = "by='system': a user has two values of this column"


@on_plain_kinds
# pandas 2's convert_dtypes
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
def test_what_only_the_data_shows(kind):
    endless, steep = ranking([0, float("inf")]), ranking([1001, 0])
    recs = recommended(u="ab").with_columns(system=pl.Series(["x", "y"]))
    twice = {
        "users": rows(("u", "x"), ("u", "x"), schema=("user", "segment")),
        "items": rows(("a", "x"), ("a", "x"), schema=("item", "segment")),
    }
    infinite = "a relevance is infinite; "

    fails_with(kind, infinite, lambda: kind(endless).rec.evaluate("recall"))
    truth = kind(endless.drop("rank"))
    fails_with(kind, infinite, lambda: kind(recommended(u="z")).rec(truth).evaluate("mrr"))
    for metric in ("dcg(gain=exp)", "ndcg(gain=exp,ideal=list)@1"):
        call = lambda metric=metric: kind(steep).rec.evaluate(metric)  # noqa: E731
        fails_with(kind, "a relevance is above 1000, too steep for gain='exp'", call)
    assert kind.read(kind(steep).rec.evaluate("ndcg")).rows() == [(1, 1.0)]
    rec = kind(recs).rec(truth=kind(liked(u="ab")))
    fails_with(kind, TWO_VALUES, lambda: rec.evaluate("mrr", by="system"))
    for side, frame in twice.items():
        bound = kind(FRAME).rec(**{side: kind(frame)})
        article = {"users": "a user", "items": "an item"}[side]
        text = f"the frame {side}= has {article} twice; {TWICE}"
        fails_with(kind, text, lambda bound=bound: bound.evaluate("mrr", by="segment"))
        fails_with(kind, text, lambda bound=bound: bound.evaluate("mrr"))
