"""Words of other libraries, and what a hurried person passes in a wrong place: each is answered with what to write."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest

import recframe as rf
from recframe.errors import suggestion
from recframe.frames.hints import own_word
from recframe.frames.options import OPTIONS

RECS = pl.DataFrame({"user": [1], "item": [5], "rank": [1]})
TRUTH = pl.DataFrame({"user": [1], "item": [5]})
KINDS = pytest.mark.parametrize(
    "make", [pl.DataFrame, pl.LazyFrame, pl.DataFrame.to_pandas], ids=["eager", "lazy", "pandas"]
)

CALLS = {
    "an option of another library": (lambda make: make(RECS).rec(make(TRUTH), ground_truth=TRUTH),
        "rec() has no option 'ground_truth', which is truth= here; write truth=truth"),
    "an option that is bound": (lambda make: make(RECS).rec(make(TRUTH)).evaluate("mrr", threshold=3),
        "which is bound first: frame.rec(min_relevance=...).evaluate(...)"),
    "a word for a frame without one": (lambda make: make(RECS).rec(make(TRUTH)).summarize("mrr", test="t"),
        "rec.summarize() has no option 'test'. It has k, by, level, cluster"),
    "an argument of another library": (lambda make: make(RECS).rec(make(TRUTH)).evaluate("mrr", top_k=3),
        "rec.evaluate() has no option 'top_k', which is k= here; write k=3"),
    "metrics by name": (lambda make: make(RECS).rec(make(TRUTH)).evaluate(metrics=["mrr"]),
        "metrics are named by position: evaluate('mrr', ...)"),
    "ids of two columns": (lambda make: make(RECS).rec(make(TRUTH), user=["user", "step"]).mrr(),
        "make one column of them in each frame: frame.with_columns(user=pl.struct('user', 'step'))"),
    "scores of two models": (lambda make: make(RECS).rec(make(TRUTH), score=["als", "bpr"]),
        "give each model rows of its own: frame.unpivot(['als', 'bpr'], index=['user', 'item']"),
    "a rating for a rank": (lambda make: make(RECS.rename({"rank": "rating"})).rec(make(TRUTH)).evaluate("mrr"),
        "If 'rating' orders the lists, the highest first: rec(score='rating')"),
    "no rank": (lambda make: make(RECS.drop("rank")).rec(make(TRUTH)).evaluate("mrr"),
        "if the rows of each user are in order, number them: frame.with_columns(rank=pl.int_range("),
}  # fmt: skip


@KINDS
@pytest.mark.parametrize("name", CALLS)
def test_a_hurried_call_says_what_to_write(name, make):
    call, words = CALLS[name]
    with pytest.raises(rf.RecframeError) as raised:
        call(make)

    assert words in str(raised.value)


def test_frames_that_are_no_lists_and_no_matrix_say_how_they_are_read():
    wide = pl.DataFrame({"user": [1], "rec_1": [10], "rec_2": [11]})
    with pytest.raises(
        rf.ColumnError, match=r"items in several columns give frame\[\[\.\.\.\]\]\.to_numpy"
    ):
        rf.from_lists(wide)
    long = pd.DataFrame({"user": [1, 1], "item": [5, 6], "score": [0.1, 0.5]})
    with pytest.raises(rf.RecframeError, match=r"a long frame is used as it is, frame\.rec"):
        rf.from_scores(long)
    matrix = pd.DataFrame({5: [0.1, 0.9]}, index=[1, 2])
    assert rf.from_scores(matrix)["item"].to_list() == [5, 5]


def test_models_that_are_not_there_leave_no_hole_in_the_message():
    empty = RECS.with_columns(model=pl.lit("a")).clear()
    with pytest.raises(rf.DataError, match="the column 'model' has no model"):
        empty.rec(TRUTH, model="model").compare("mrr")


def test_two_requirements_in_one_text_are_written_apart():
    with pytest.raises(rf.RecframeError, match=r"as 'ndcg@10 >= 0.1', 'recall@10 >= 0.1'$"):
        RECS.rec(TRUTH).require("ndcg@10 >= 0.1 and recall@10 >= 0.1")


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
