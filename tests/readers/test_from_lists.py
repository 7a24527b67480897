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

    assert found.select("user", "item", "rank").rows() == [row[:3] for row in plain]
    if plain:
        assert found["score"].equals(pl.Series([row[3] for row in plain], dtype=pl.Float64))


NESTED = pl.DataFrame({"user": [*LISTS], "items": [*LISTS.values()], "scores": [*SCORES.values()]})


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_a_frame_with_list_columns_stays_of_its_kind(kind):
    assert kind.read(rf.from_lists(kind(NESTED))).rows() == SCORED
    assert kind.read(rf.from_lists(kind(NESTED.drop("scores")))).rows() == LONG


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
    mixed = {np.str_("ann"): [np.int64(3), 4], "bob": [np.int32(5)]}

    assert rf.from_lists(mixed).rows() == [("ann", 3, 1), ("ann", 4, 2), ("bob", 5, 1)]
    assert rf.from_lists({1: np.array([2.0, math.nan])}).rows() == [(1, 2, 1), (1, None, 2)]


def test_an_array_has_a_row_of_places_for_each_user_and_is_padded():
    places = np.array([[2, 0], [1, -1]], dtype=np.int32)
    scores = np.array([[0.9, 0.5], [0.7, 0.0]], dtype=np.float32)
    ids = pd.Index(["dune", "emma", "ilium"])

    found = rf.from_lists(places, scores, users=["ann", "bob"], items=ids)

    rows = [("ann", "ilium", 1), ("ann", "dune", 2), ("bob", "emma", 1)]
    assert found.select("user", "item", "rank").rows() == rows
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


@pytest.mark.filterwarnings("ignore:the list of the user 'bob'")
def test_scores_that_rise_along_a_list_change_no_rank():
    lists, scores = {"ann": ["a", "b"], "bob": ["a", "b"]}, {"ann": [2, 1], "bob": [1, 2]}

    assert rf.from_lists(lists, scores)["rank"].to_list() == [1, 2, 1, 2]


GRADES = [("ann", "dune", 2), ("ann", "emma", 0), ("cid", "dune", 1)]


TRUTHS = {
    "mapping": {"ann": {"dune": 2, "emma": 0}, "bob": {}, "cid": {"dune": True}},
    "pairs": {"ann": [("dune", np.float32(2)), ("emma", 0.0)], "bob": [], "cid": [("dune", 1)]},
    "frame": pl.DataFrame({
        "user": ["ann", "bob", "cid"],
        "items": [["dune", "emma"], [], ["dune"]],
        "relevances": [[2, 0], [], [1]],
    }, schema_overrides={"items": pl.List(pl.Categorical)}),
}  # fmt: skip


@pytest.mark.parametrize("truth", TRUTHS.values(), ids=TRUTHS)
def test_a_truth_has_its_grades_in_one_schema(truth):
    found = rf.from_truth(truth)

    assert found.schema == {"user": pl.String, "item": pl.String, "relevance": pl.Float64}
    assert found.rows() == GRADES


@pytest.mark.parametrize(
    "make", [list, set, frozenset, tuple, np.array, lambda held: dict.fromkeys(held).keys()]
)
def test_a_truth_without_grades_is_in_no_order(make):
    found = rf.from_truth({"ann": make(["dune", "emma"]), "bob": make(["emma"])})

    assert found.columns == ["user", "item"]
    assert sorted(found.rows()) == [("ann", "dune"), ("ann", "emma"), ("bob", "emma")]


# Frames with a row for each user: what stands beside the lists is kept

TWO_MODELS = pl.DataFrame(
    {
        "user": ["ann", "bob", "ann", "bob"],
        "model": ["a", "a", "b", "b"],
        "week": [1, 1, 1, None],
        "items": [["emma", "dune"], ["ilium"], ["dune"], []],
    }
)
OF_MODELS = [
    ("ann", "emma", 1, "a", 1),
    ("ann", "dune", 2, "a", 1),
    ("bob", "ilium", 1, "a", 1),
    ("ann", "dune", 1, "b", 1),
]


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_columns_that_are_no_lists_stand_beside_each_item(kind):
    found = kind.read(rf.from_lists(kind(TWO_MODELS)))

    assert found.columns == ["user", "item", "rank", "model", "week"]
    assert found.rows() == OF_MODELS


def test_two_models_of_one_frame_have_a_number_each():
    truth = rf.from_truth({"ann": ["dune"], "bob": ["ilium"]})

    found = rf.from_lists(TWO_MODELS).rec(truth=truth, model="model").mrr()

    # a: dune stands second and ilium first, (1/2 + 1) / 2; b: dune stands first and bob has no list, (1 + 0) / 2
    assert found.select("model", "mrr").rows() == [("a", 0.75), ("b", 0.5)]


def test_pandas_columns_beside_lists_keep_their_dtypes():
    frame = pd.DataFrame(
        {
            "user": pd.Series([7, 8], dtype="int32"),
            "model": pd.Categorical(["b", "a"], categories=["b", "a"]),
            "week": pd.Series([1, 2], dtype="int16"),
            "at": pd.to_datetime(["2026-11-21", "2026-11-22"]),
            "items": [np.array([5, 6]), np.array([5])],
        }
    )

    found = rf.from_lists(frame)

    assert found[["user", "item", "rank"]].to_numpy().tolist() == [[7, 5, 1], [7, 6, 2], [8, 5, 1]]
    assert found["model"].tolist() == ["b", "b", "a"]
    for name in ("user", "model", "week", "at"):
        assert found[name].dtype == frame[name].dtype


def test_structs_beside_lists_are_kept_and_a_truth_keeps_its_columns_too():
    nested = pl.DataFrame(
        {"user": [1], "item": [["a", "b"]], "relevance": [[1, 2]], "about": [{"week": 3}]}
    )

    assert rf.from_truth(nested).rows() == [(1, "a", 1.0, {"week": 3}), (1, "b", 2.0, {"week": 3})]


def test_lists_in_text_are_cut_as_the_error_says():
    texts = pl.DataFrame({"user": [1, 2, 3], "items": [" a b ", "", None]})
    frame = texts.to_pandas()

    cut = rf.from_lists(texts.with_columns(pl.col("items").str.extract_all(r"\S+")))
    of_pandas = rf.from_lists(frame.assign(items=frame["items"].str.split()))

    assert cut.rows() == [(1, "a", 1), (1, "b", 2)]
    assert of_pandas.to_numpy().tolist() == [[1, "a", 1], [1, "b", 2]]


WAYS = {
    "mapping": lambda: rf.from_lists({1: {7: 2, 8: 1}}),
    "arrays": lambda: rf.from_lists(
        np.array([[7, 8]], dtype=np.int32),
        np.array([[2, 1]], dtype=np.float32),
        users=np.array([1], dtype=np.int16),
    ),
    "frame": lambda: rf.from_lists(
        pl.DataFrame(
            {"user": [1], "item": [[7, 8]], "score": [[2, 1]]},
            schema={"user": pl.UInt8, "item": pl.List(pl.Int32), "score": pl.List(pl.Float32)},
        )
    ),
    "matrix": lambda: rf.from_scores(
        np.array([[2, 1]], dtype=np.float32), users=[1], items=pl.Series([7, 8], dtype=pl.Int32)
    ),
}


def test_lists_of_every_way_in_have_one_schema():
    dtypes = {"user": pl.Int64, "item": pl.Int64, "rank": pl.Int64, "score": pl.Float64}
    rows = [(1, 7, 1, 2.0), (1, 8, 2, 1.0)]

    found = {name: way() for name, way in WAYS.items()}

    assert {name: one.schema for name, one in found.items()} == dict.fromkeys(WAYS, dtypes)
    assert pl.concat(found.values()).rows() == rows * len(WAYS)
