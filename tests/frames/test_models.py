"""A dict of frames compares models: the numbers are those of one frame with a column of models."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import recframe as rf
from asking import liked, recommended
from frame_kinds import KINDS, Kind
from lanes import in_turn

ARROW = Kind("arrow", pl.DataFrame.to_arrow, pl.DataFrame)
on_kinds = pytest.mark.parametrize("kind", [*KINDS, ARROW], ids=str)
SVD, KNN = recommended(u="ab", v="ab"), recommended(u="ba", w="a")
TRUTH, USERS = liked(u="b", v="a"), pl.DataFrame({"user": ["u", "v"], "country": ["FR", "DE"]})
MODELS = {"svd": SVD, "knn": KNN}
METRICS = ["mrr@2", "recall@1", "list_length"]


def frames(kind, **models: pl.DataFrame) -> dict[str, object]:
    return {name: kind(frame) for name, frame in models.items()}


@pytest.mark.parametrize(
    ("kind", "by"), in_turn([*KINDS, ARROW], [None, "user", "country", ["country", "model"], None])
)
def test_models_of_a_dict_are_those_of_a_column(kind, by):
    rec = rf.rec(frames(kind, **MODELS), kind(TRUTH), users=kind(USERS))
    models = [one.select(pl.lit(name).alias("model"), pl.all()) for name, one in MODELS.items()]
    expected = pl.concat(models).rec(TRUTH, users=USERS, model="model")

    found = kind.read(rec.evaluate(METRICS, by=by))
    assert found.equals(expected.evaluate(METRICS, by=by))
    assert found.schema["model"] == pl.String
    if by is None:
        assert found["model"].to_list() == ["knn", "svd"]
    judged = [
        one.sort("model", "user", "item") for one in (kind.read(rec.judge()), expected.judge())
    ]
    assert judged[0].equals(judged[1])


@on_kinds
def test_the_column_of_models_may_have_another_name(kind):
    rec = rf.rec(frames(kind, svd=SVD), kind(TRUTH), model="system")

    assert kind.read(rec.mrr(k=2)).to_dicts() == [{"system": "svd", "n_users": 2, "mrr@2": 0.75}]


@on_kinds
def test_options_are_bound_later_too(kind):
    recs = {name: kind(one.rename({"user": "id"})) for name, one in {"b": SVD, "a": KNN}.items()}
    rec = rf.rec(recs)(truth=kind(TRUTH.rename({"user": "id"})), user="id", reference="b")

    # a has b first for u, and b nothing for w
    assert kind.read(rec.overlap(k=1))["overlap@1"].to_list() == [0.0, 1.0]


def test_what_a_call_does_not_need_may_differ():
    svd, knn = SVD.with_columns(why=[1], week=pl.lit("one")), KNN.with_columns(why=pl.lit("near"))
    rec = rf.rec({"svd": svd, "knn": knn}, TRUTH)

    assert rec.mrr(k=2)["mrr@2"].to_list() == [0.5, 0.75]
    assert rec.mrr(k=2, by="week").rows() == [("knn", "one", 2, 0.5), ("svd", "one", 2, 0.75)]


NUMBERS = recommended(**{"1": "2", "2": "1"}).cast({"user": pl.Int64, "item": pl.Int64})
TEXT = NUMBERS.cast({"user": pl.String, "item": pl.String})


@pytest.mark.parametrize(
    ("frame", "dtypes"),
    [(NUMBERS, (pl.Int32, pl.Int64)), (NUMBERS, (pl.UInt8, pl.Int64)), (TEXT, (pl.String, pl.Categorical))],
    ids=["narrow", "unsigned", "text"],
)  # fmt: skip
def test_ids_that_match_in_value_are_cast(frame, dtypes):
    several = {str(dtype): frame.cast({"user": dtype, "item": dtype}) for dtype in dtypes}

    assert rf.rec(several, frame).recall(k=1)["recall@1"].to_list() == [1, 1]


def test_ranks_may_be_whole_in_one_frame():
    floats = SVD.with_columns(pl.col("rank").cast(pl.Float32))

    assert rf.rec({"a": SVD, "b": floats}, TRUTH).mrr(k=2)["mrr@2"].to_list() == [0.75, 0.75]


@on_kinds
def test_scores_order_all_models_where_they_are_bound(kind):
    both, scored = SVD.with_columns(score=-pl.col("rank")), KNN.rename({"rank": "score"})
    rec = rf.rec(frames(kind, a=both, b=scored), kind(TRUTH), score="score")

    assert kind.read(rec.mrr(k=1))["mrr@1"].to_list() == [0.5, 0.0]


def test_categories_of_pandas_come_back():
    svd, knn = (frame.to_pandas().astype({"user": "category"}) for frame in (SVD, KNN))

    found = rf.rec({"svd": svd, "knn": svd}, TRUTH).mrr(k=2, by="user")
    assert found["user"].dtype == svd["user"].dtype
    assert found.shape == (4, 3)
    other = rf.rec({"svd": svd, "knn": knn}, TRUTH, universe="all").mrr(k=2, by="user")
    assert other["user"].tolist() == ["u", "v", "w"] * 2
    assert isinstance(other["user"].dtype, type(pd.Series(["u"]).dtype))


def test_relations_and_readers_are_read_once():
    table = SVD.to_arrow()
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())

    rec = rf.rec({"a": reader, "b": KNN}, TRUTH)
    for _ in range(2):
        assert rec.mrr(k=2)["mrr@2"].to_list() == [0.75, 0.5]
