"""Errors of every kind of frame: at the call what names and dtypes show, and when the plan runs what only the data shows.

What they say stands in said.txt, word by word.
"""

from __future__ import annotations

import re
from typing import Any

import polars as pl
import pytest

import recframe as rf
from asking import liked, ranking, recommended
from frame_kinds import KINDS
from recframe.errors import suggestion
from recframe.frames.hints import own_word
from recframe.frames.options import OPTIONS

FRAME = ranking([0, 1])
PAIRS = pl.DataFrame({"user": [1], "item": [2], "rank": [1]})
# what only the way in and out decides; the others are made of these
PLAIN = [kind for kind in KINDS if kind.name in {"polars", "lazy", "pandas"}]
on_plain_kinds = pytest.mark.parametrize("kind", PLAIN, ids=repr)


def test_every_error_is_one_of_recframe_and_a_value_error():
    errors = [value for name, value in vars(rf).items() if name.endswith("Error")]

    assert all(issubclass(one, rf.RecframeError) for one in errors)
    assert issubclass(rf.RecframeError, ValueError)
    assert issubclass(rf.RecframeWarning, UserWarning)


@on_plain_kinds
def test_what_columns_show_is_an_error_of_the_call(kind):
    recs, truth, other = kind(recommended(u="a")), liked(u="a"), pl.DataFrame({"x": [1]})
    asked = [kind(FRAME.drop(role)).rec for role in ("user", "rank", "relevance")]
    asked += [kind(FRAME.drop("rank")).rec(**{one: "none"}) for one in ("item", "score", "model")]
    asked += [
        recs.rec(**{"truth": kind(truth), side: kind(other)})
        for side in ("truth", "users", "items")
    ]
    asked += [
        kind(PAIRS).rec(kind(PAIRS.drop("rank").cast({role: dtype})))
        for role, dtype in (("user", pl.String), ("item", pl.Float64), ("item", pl.Boolean))
    ]
    asked += [kind(FRAME.cast({"rank": dtype})).rec for dtype in (pl.String, pl.Boolean)]

    for rec in asked:
        with pytest.raises(rf.ColumnError):
            rec.evaluate("mrr")
    with pytest.raises(rf.ColumnError):
        kind(FRAME).rec.mrr(by="contry")


def fails_with(kind: Any, text: str, call: Any) -> None:
    """Expect what only the data shows: a DataError of these words, or from a LazyFrame Polars' error when it is collected."""
    if kind.name in {"lazy", "streaming"}:
        with pytest.raises(pl.exceptions.PolarsError, match=re.escape(text)):
            kind.read(call())
    else:
        with pytest.raises(rf.DataError, match=f"^{re.escape(text)}"):
            call()


@pytest.mark.parametrize(
    "ranks",
    [
        *([0, 1], [-3, 1], [0.5, 1.0]),
        *(pl.Series([0, 1], dtype=one) for one in (pl.UInt8, pl.Int8, pl.UInt64, pl.Float32)),
    ],
    ids=str,
)
def test_a_rank_below_1(kind, ranks):
    rec = kind(FRAME.with_columns(rank=pl.Series(ranks))).rec
    said = "a rank is below 1, but ranks start at 1; "

    fails_with(kind, said, lambda: rec.evaluate("mrr"))
    fails_with(kind, said, lambda: rec.evaluate("n_hits", by="user"))
    # the row need not count for anything
    fails_with(kind, said, lambda: rec(truth=kind(liked(v="z"))).judge())


@on_plain_kinds
# pandas 2's convert_dtypes
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
def test_what_only_the_data_shows(kind):
    endless, steep = ranking([0, float("inf")]), kind(ranking([1001, 0]))
    systems = recommended(u="ab").with_columns(system=pl.Series(["x", "y"]))
    rec = kind(systems).rec(truth=kind(liked(u="ab")))

    fails_with(kind, "a relevance is infinite; ", lambda: kind(endless).rec.evaluate("recall"))
    truth = kind(endless.drop("rank"))
    of_truth = kind(recommended(u="z")).rec(truth)
    fails_with(kind, "a relevance is infinite; ", lambda: of_truth.evaluate("mrr"))
    for one in ("dcg(gain=exp)", "ndcg(gain=exp,ideal=list)@1"):
        too_steep = "a relevance is above 1000, too steep for gain='exp'"
        fails_with(kind, too_steep, lambda one=one: steep.rec.evaluate(one))
    assert kind.read(steep.rec.evaluate("ndcg")).rows() == [(1, 1.0)]
    two_values = "by='system': a user has two values of this column"
    fails_with(kind, two_values, lambda: rec.evaluate("mrr", by="system"))
    for side, one in {"users": "a user", "items": "an item"}.items():
        twice = FRAME.select(side[:-1], segment=pl.lit("x"))
        bound = kind(FRAME).rec(**{side: kind(pl.concat([twice, twice]))})
        said = f"the frame {side}= has {one} twice; it takes one row for each"
        for by in ("segment", None):
            fails_with(kind, said, lambda bound=bound, by=by: bound.evaluate("mrr", by=by))


OWN = {
    "k": "top_k topK K_list cutoff n at ks max_k", "by": "group_by segments slice_by per",
    "truth": "ground_truth groundTruth labels targets y_true test test_set qrels actual",
    "relevance": "label target label_col rating_col grades", "min_relevance": "threshold rel_threshold",
    "score": "preds predictions y_score col_prediction", "rank": "position rank_col",
    "user": "user_id user_col col_user query qid", "item": "item_id itemCol doc", "model": "system algorithm",
    "train": "train_set interactions history", "items": "catalog item_features", "profile": "library",
}  # fmt: skip
CLOSE = "trian itens usres profil univers modle relevence refrence memry strct tie no_relevent"
FAR = "rating test seed alpha verbose weights_col data frame axis engine output show fast"


def test_words_of_others_have_their_own_name_and_only_close_names_are_suggested():
    assert {word: own_word(word) for words in OWN.values() for word in words.split()} == {
        word: own for own, words in OWN.items() for word in words.split()
    }
    assert [word for word in CLOSE.split() if not suggestion(word, OPTIONS, closeness=0.8)] == []
    assert [word for word in FAR.split() if suggestion(word, OPTIONS, closeness=0.8)] == []
