"""Words of other libraries, and what a hurried person passes in a wrong place: each is answered with what to write."""

from __future__ import annotations

from recframe.errors import suggestion
from recframe.frames.hints import own_word
from recframe.frames.options import OPTIONS

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
