"""Nested lists and judgements of every form as frames in long form: as plain loops lay them out."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe as rf
from frame_kinds import KINDS
from strategies import examples

sp = pytest.importorskip("scipy.sparse")
users = st.integers(0, 6)
items = st.sampled_from("abcdefg")
of_items = st.dictionaries(users, st.lists(items, max_size=5), max_size=5)
of_scores = st.dictionaries(
    users,
    st.dictionaries(items, st.sampled_from([0.5, 1, 1, 2, -1.5, math.nan, None]), max_size=6),
    max_size=5,
)

LISTS = {"ann": ["emma", "dune"], "bob": [], "cid": ["dune"]}
LONG = [("ann", "emma", 1), ("ann", "dune", 2), ("cid", "dune", 1)]
SCORES = {"ann": [0.9, 0.5], "bob": [], "cid": [0.7]}
SCORED = [("ann", "emma", 1, 0.9), ("ann", "dune", 2, 0.5), ("cid", "dune", 1, 0.7)]


@examples(40)
@given(lists=of_items)
def test_the_place_in_a_list_is_the_rank(lists):
    plain = [
        (user, item, rank) for user, held in lists.items() for rank, item in enumerate(held, 1)
    ]

    assert rf.from_lists(lists).rows() == plain
    assert rf.from_lists({user: tuple(held) for user, held in lists.items()}).rows() == plain
    assert rf.from_lists([*lists.values()], users=[*lists]).rows() == plain


@examples(40)
@given(lists=of_scores)
def test_items_with_scores_stand_by_these_equal_ones_by_item(lists):
    def order(pair):
        item, score = pair
        missing = score is None or math.isnan(score)
        return (missing, 0 if missing else -score, item)

    plain = [
        (user, item, rank, score)
        for user, held in lists.items()
        for rank, (item, score) in enumerate(sorted(held.items(), key=order), 1)
    ]
    found = rf.from_lists(lists)
    number = pl.Float64 if "score" in found.columns and found["score"].len() else pl.Null

    assert found.select("user", "item", "rank").rows() == [row[:3] for row in plain]
    assert number == pl.Null or found["score"].cast(number).equals(
        pl.Series([row[3] for row in plain], dtype=number)
    )


def nested_frames(*, with_scores):
    nested = pl.DataFrame(
        {"user": [*LISTS], "items": [*LISTS.values()], "scores": [*SCORES.values()]}
    )
    return nested if with_scores else nested.drop("scores")


@pytest.mark.parametrize("kind", KINDS, ids=repr)
@pytest.mark.parametrize("with_scores", [False, True])
def test_a_frame_with_list_columns_stays_of_its_kind(kind, with_scores):
    found = rf.from_lists(kind(nested_frames(with_scores=with_scores)))

    assert kind.read(found).rows() == (SCORED if with_scores else LONG)


@pytest.mark.slow
def test_a_large_frame_streams_and_keeps_the_order_of_its_lists():
    nested = pl.DataFrame({"user": range(700_000)}).with_columns(
        item=pl.concat_list(pl.col("user") + n for n in range(3))
    )

    found = rf.from_lists(nested)

    assert len(found) == 2_100_000
    assert found.equals(rf.from_lists(nested.lazy()).collect(engine="streaming"))
    assert (found["item"] - found["user"] + 1).equals(found["rank"])


def test_columns_keep_their_names_and_pandas_its_dtypes():
    nested = pl.DataFrame(
        {"user_id": [1], "movie_id": [[5, 6]], "est": [[0.5, 0.25]]},
        schema_overrides={"user_id": pl.Int16},
    )
    arrays = nested.with_columns(pl.col("movie_id").cast(pl.Array(pl.Int64, 2)))
    frame = nested.to_pandas().astype({"user_id": "category"})

    for one in (nested, arrays):
        found = rf.from_lists(one, user="user_id", item="movie_id", score="est")
        assert found.rows() == [(1, 5, 1, 0.5), (1, 6, 2, 0.25)]
        assert found.schema["user_id"] == pl.Int64
    found = rf.from_lists(frame, user="user_id", item="movie_id", score="est")
    assert [*found.columns] == ["user_id", "movie_id", "rank", "est"]
    assert found["user_id"].dtype == "category"


@pytest.mark.parametrize(
    "make", [np.array, pl.Series, pd.Series, tuple], ids=lambda make: make.__module__
)
def test_lists_of_users_may_be_arrays_and_series(make):
    lists = {user: make(held) if held else [] for user, held in LISTS.items()}

    assert rf.from_lists(lists).rows() == LONG
    assert rf.from_lists(lists, SCORES).rows() == SCORED


def test_pairs_have_their_score_beside_them_and_a_default_dict_is_a_mapping():
    pairs = defaultdict(list)
    for user, held in LISTS.items():
        pairs[user] = [*zip(held, map(np.float32, SCORES[user]), strict=True)]

    found = rf.from_lists(pairs)

    assert found.select("user", "item", "rank").rows() == LONG
    assert found["score"].to_list() == pytest.approx([0.9, 0.5, 0.7])


def test_ids_of_numpy_and_of_python_mix():
    assert rf.from_lists({np.str_("ann"): [np.int64(3), 4], "bob": [np.int32(5)]}).rows() == [
        ("ann", 3, 1),
        ("ann", 4, 2),
        ("bob", 5, 1),
    ]
    assert rf.from_lists({1: np.array([2.0, math.nan])}).rows() == [(1, 2, 1), (1, None, 2)]


def test_an_array_has_a_row_of_places_for_each_user_and_is_padded():
    places, scores = (
        np.array([[2, 0], [1, -1]], dtype=np.int32),
        np.array([[0.9, 0.5], [0.7, 0.0]], dtype=np.float32),
    )

    found = rf.from_lists(
        places, scores, users=["ann", "bob"], items=pd.Index(["dune", "emma", "ilium"])
    )

    assert found.select("user", "item", "rank").rows() == [
        ("ann", "ilium", 1),
        ("ann", "dune", 2),
        ("bob", "emma", 1),
    ]
    # ids, as far as anyone can tell
    assert rf.from_lists(places).rows() == [(0, 2, 1), (0, 0, 2), (1, 1, 1), (1, -1, 2)]


@pytest.mark.parametrize(
    "none", [-math.inf, float(np.finfo(np.float32).min), float(np.finfo(np.float64).min)]
)
def test_a_score_that_is_none_is_padding(none):
    arrays = rf.from_lists([["a", "b"]], [[0.5, none]])
    mapping = rf.from_lists({0: {"b": none, "a": 0.5}})
    frame = rf.from_lists(pl.DataFrame({"user": [0], "item": [["a", "b"]], "score": [[0.5, none]]}))

    assert arrays.rows() == mapping.rows() == frame.rows() == [(0, "a", 1, 0.5)]


def test_repeated_items_and_missing_ones_keep_their_places():
    assert rf.from_lists({1: ["a", None, "a"]}).rows() == [(1, "a", 1), (1, None, 2), (1, "a", 3)]


@pytest.mark.filterwarnings("ignore:no_lists")
@pytest.mark.parametrize(("lists", "dtype"), [({}, pl.Null), ({"ann": []}, pl.String)])
def test_nobody_with_a_list_gives_no_rows_that_can_be_asked(lists, dtype):
    found = rf.from_lists(lists)

    assert found.schema == {"user": dtype, "item": pl.Null, "rank": pl.Int64}
    assert found.rec(truth=rf.from_truth({"ann": {"dune"}})).recall(k=5) == 0.0


def test_scores_that_rise_along_a_list_warn():
    with pytest.warns(
        rf.RecframeWarning,
        match=r"the list of the user 'bob' has a score that is higher .* \{user: \{item: score\}\}",
    ):
        found = rf.from_lists(
            {"ann": ["a", "b"], "bob": ["a", "b"]}, {"ann": [2, 1], "bob": [1, 2]}
        )

    assert found["rank"].to_list() == [1, 2, 1, 2]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: rf.from_lists({"ann": {"a", "b"}}), "the user 'ann' has a set; give a list of items in their order"),
        (lambda: rf.from_lists(pd.DataFrame({"user": [1], "item": [{"a"}]})), "column 'item' holds sets, which have no order"),
        (lambda: rf.from_lists({"ann": "dune"}), "'ann' has text; give a list of items"),
        (lambda: rf.from_lists({"ann": [1, "a"]}), r"several kinds, .* in the lists; give ids of one kind: \[str"),
        (lambda: rf.from_lists({"ann": [("a", "b")]}), "paired with a number, a score or a relevance: .*String"),
        (lambda: rf.from_lists({"ann": {"a": "high"}}), "paired with a number, a score or a relevance: .*high"),
        (lambda: rf.from_lists({"ann": ["a"]}, {"ann": [1, 2]}), "a user has more or fewer numbers than items; give a number"),
        (lambda: rf.from_lists({"ann": ["a"]}, [[1], [2]]), "a user has more or fewer numbers than items"),
        (lambda: rf.from_lists({"ann": ["a"]}, users=["ann"]), "the user 'ann' has text"),
        (lambda: rf.from_lists(np.array([1, 2])), "the user 0 has an int; give a list of items in their order"),
        (lambda: rf.from_lists(np.array([[0.1, 0.9]])), r"0\.1, which is not an item id; a matrix .* rf\.from_scores\("),
        (lambda: rf.from_lists(5), "give a frame with list columns, a mapping of users .* found an int"),
        (lambda: rf.from_lists(nested_frames(with_scores=True), users=[1]), "a frame has its numbers, users and items"),
        (lambda: rf.from_lists(pl.DataFrame({"user": [1], "item": ["a"]})), "column 'item' is String; lists are those of ids"),
        (lambda: rf.from_lists(pl.DataFrame({"user": [1], "itm": [["a"]]})), r"no column 'item'; did you mean 'itm'.*item='"),
        (lambda: rf.from_lists(pl.DataFrame({"user": [1], "recs": [[{"item": 1, "score": 2.0}]]}), item="recs"),
         r"structs become columns by frame\.explode\(\.\.\.\)\.unnest"),
        (lambda: rf.from_lists(pl.DataFrame({"user": [1], "item": [["a"]], "score": [["1"]]})), r"'score' is List\(String"),
        (lambda: rf.from_truth(MATRIX), "found a csr_array; a matrix of users x items .* with truth=True"),
        (lambda: rf.from_truth(MATRIX.toarray()), "a row of ids has one twice; a matrix of users x items .* truth=True"),
        (lambda: rf.from_truth(MATRIX.toarray() > 0), "hold True, which is not an item id; a matrix .* truth=True"),
    ],
)  # fmt: skip
def test_an_error_says_what_to_write_instead(call, words):
    with pytest.raises(rf.RecframeError, match=words):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: rf.from_lists(pl.DataFrame({"user": [1], "item": [["a"]], "score": [[1.0, 2.0]]})),
        lambda: rf.from_lists(pl.DataFrame({"user": [1], "item": [[]], "score": [[1.0]]})),
        lambda: rf.from_lists(
            pl.DataFrame(
                {"user": [1, 2], "item": [["a", "b"], ["c"]], "score": [[2.0], [2.0, 1.0]]}
            )
        ),
    ],
)
def test_lists_of_other_lengths_are_errors_of_polars(call):
    with pytest.raises(pl.exceptions.PolarsError, match="matching element counts"):
        call()


GRADES = [("ann", "dune", 2), ("ann", "emma", 0), ("cid", "dune", 1)]
MATRIX = sp.csr_array(([2, 0, 1], ([0, 0, 2], [0, 1, 0])), shape=(3, 3))


@pytest.mark.parametrize(
    "truth",
    [
        {"ann": {"dune": 2, "emma": 0}, "bob": {}, "cid": {"dune": 1}},
        {"ann": [("dune", 2), ("emma", 0)], "bob": [], "cid": [("dune", 1)]},
        pl.DataFrame(
            {
                "user": ["ann", "bob", "cid"],
                "items": [["dune", "emma"], [], ["dune"]],
                "relevances": [[2, 0], [], [1]],
            }
        ),
    ],
    ids=["mapping", "pairs", "frame"],
)
def test_a_truth_has_its_grades(truth):
    found = rf.from_truth(truth)

    assert found.columns == ["user", "item", "relevance"]
    assert found.rows() == GRADES


@pytest.mark.parametrize(
    "make", [list, set, frozenset, tuple, np.array, lambda held: dict.fromkeys(held).keys()]
)
def test_a_truth_without_grades_is_in_no_order(make):
    found = rf.from_truth({"ann": make(["dune", "emma"]), "bob": make(["emma"])})

    assert found.columns == ["user", "item"]
    assert sorted(found.rows()) == [("ann", "dune"), ("ann", "emma"), ("bob", "emma")]
