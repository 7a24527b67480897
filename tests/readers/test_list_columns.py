"""Frames with a row for each user: what stands beside the lists is kept or refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recframe as rf
from frame_kinds import KINDS

TWO_MODELS = pl.DataFrame(
    {
        "user": ["ann", "bob", "ann", "bob"],
        "model": ["a", "a", "b", "b"],
        "week": [1, 1, 1, None],
        "items": [["emma", "dune"], ["ilium"], ["dune"], []],
    }
)
LONG = [
    ("ann", "emma", 1, "a", 1),
    ("ann", "dune", 2, "a", 1),
    ("bob", "ilium", 1, "a", 1),
    ("ann", "dune", 1, "b", 1),
]


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_columns_that_are_no_lists_stand_beside_each_item(kind):
    found = rf.from_lists(kind(TWO_MODELS))

    assert [*kind.read(found).columns] == ["user", "item", "rank", "model", "week"]
    assert kind.read(found).rows() == LONG


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


def test_ranks_that_the_lists_do_not_give_are_refused():
    nested = pl.DataFrame({"user": [1], "item": [["a", "b"]], "rank": [3]})

    with pytest.raises(rf.ColumnError, match="the place in a list is the rank, so column 'rank'"):
        rf.from_lists(nested.lazy())


def test_lists_in_text_say_how_they_are_cut():
    texts = pl.DataFrame({"user": [1, 2, 3], "items": [" a b ", "", None]})

    with pytest.raises(rf.ColumnError, match="column 'items' is String; lists are") as caught:
        rf.from_lists(texts)

    assert str(caught.value).endswith(r"in Polars by pl.col(...).str.extract_all(r'\S+')")
    cut = texts.with_columns(pl.col("items").str.extract_all(r"\S+"))
    assert rf.from_lists(cut).rows() == [(1, "a", 1), (1, "b", 2)]
    frame = texts.to_pandas()
    cut = frame.assign(items=frame["items"].str.split())
    assert rf.from_lists(cut).to_numpy().tolist() == [[1, "a", 1], [1, "b", 2]]


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


def test_truths_of_every_way_in_have_one_schema_and_categories_are_text():
    ways = [
        rf.from_truth({"ann": {"dune": 2, "emma": True}}),
        rf.from_truth({"ann": [("dune", np.float32(2)), ("emma", 1.0)]}),
        rf.from_truth(
            pl.DataFrame(
                {"user": ["ann"], "item": [["dune", "emma"]], "relevance": [[2, 1]]}
            ).with_columns(pl.col("item").cast(pl.List(pl.Categorical)))
        ),
    ]

    assert pl.concat(ways).rows() == [("ann", "dune", 2.0), ("ann", "emma", 1.0)] * len(ways)
