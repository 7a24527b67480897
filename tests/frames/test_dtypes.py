"""Columns of several dtypes that match, columns of any name, frames however they are stored, and NaN wherever null can be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from asking import ask, liked, ranking, recommended
from frame_kinds import KINDS
from lanes import in_turn
from recframe.frames.kinds import kind as kinds

INTEGERS = [
    pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64,
]  # fmt: skip
WIDTHS = [(left, right) for left in INTEGERS for right in (pl.Int8, pl.UInt64, pl.Int128)]


def test_boolean_ids(kind):
    columns = {"user": [True, True, False], "item": [False, True, True]}
    frame = pl.DataFrame(columns | {"rank": [1, 2, 1], "relevance": [0, 1, 0]})

    found = ask(kind, frame, "mrr", by="user")
    assert found.rows() == [(False, 0.0), (True, 0.5)]
    assert found.schema["user"] == pl.Boolean


@pytest.mark.parametrize(("left", "right"), WIDTHS, ids=str)
def test_integers_of_any_width_match(left, right):
    recs = pl.DataFrame({"user": [1, 2], "item": [5, 6]}).cast(left).with_columns(rank=1)
    truth = pl.DataFrame({"user": [1, 2], "item": [5, 7]}).cast(right)

    assert recs.rec(truth=truth).mrr() == 0.5
    assert recs.lazy().rec(truth=truth).mrr(by="user").collect().rows() == [(1, 1.0), (2, 0.0)]


def dtyped(values: list[int], dtype: Any) -> pl.DataFrame:
    return pl.DataFrame({"user": pl.Series(values, dtype=dtype), "item": 1, "rank": 1})


@pytest.mark.filterwarnings("ignore:no_common_")
@pytest.mark.parametrize(
    ("recs", "truth", "expected"),
    [
        # -1 and 2^64 - 1 are the same bits
        (dtyped([-1], pl.Int64), dtyped([2**64 - 1], pl.UInt64), [(-1, 0.0), (2**64 - 1, 0.0)]),
        *(
            (dtyped([1, 2**100], pl.UInt128), dtyped([1], other), [(1, 1.0), (2**100, 0.0)])
            for other in (pl.Int64, pl.UInt64, pl.Int128)
            if hasattr(pl, "UInt128")  # which Polars 1 has not
        ),
    ],
)
def test_numbers_that_one_dtype_alone_holds_meet_no_other(recs, truth, expected):
    found = recs.rec(truth=truth.drop("rank"), universe="all").mrr(by="user")
    assert found.rows() == expected


TEXTS = [pl.String, pl.Categorical, pl.Enum(["a", "b", "c"]), pl.Enum(["b", "x", "a"])]


@pytest.mark.parametrize("left", TEXTS, ids=str)
@pytest.mark.parametrize("right", TEXTS, ids=str)
def test_texts_categoricals_and_enums_match(left, right):
    recs, truth = recommended(u="ab").cast({"item": left}), liked(u="b").cast({"item": right})

    assert recs.rec(truth=truth).mrr() == 0.5
    assert recs.lazy().rec(truth=truth.lazy()).mrr().collect().rows() == [(1, 0.5)]


def test_an_id_that_only_one_enum_has_is_not_lost():
    recs = recommended(a="x").with_columns(pl.col("user").cast(pl.Enum(["a"])))
    truth = liked(a="x", b="x").with_columns(pl.col("user").cast(pl.Enum(["b", "a"])))

    found = recs.rec(truth=truth).mrr(by="user").cast({"user": pl.String})
    assert sorted(found.rows()) == [("a", 1.0), ("b", 0.0)]


def test_column_of_nothing_but_nulls_matches_every_dtype():
    recs, truth = recommended(u="a"), pl.DataFrame({"user": [None], "item": [None]})

    assert recs.rec(truth=truth).evaluate("mrr").rows() == [(0, None)]


NAMES = [
    "len", "literal", "^.*$", "a.b", "two words", "", "*", "ü", "user ", "index", "count", "rec",
]  # fmt: skip
INSIDE = [
    "segment 0", "place", "start", "gain", "value 0", "sum 0", "mean 0", "check", "running 0",
    "listed_rank", "model",
]  # fmt: skip


EVERY_NAME = [*NAMES, *INSIDE, "n_users", "mrr"]


@pytest.mark.parametrize("name", EVERY_NAME)
@pytest.mark.parametrize("role", ["user", "item"])
def test_an_id_of_two_frames_has_any_name_beside_columns_of_any_other(role, name):
    others = [pl.lit(7).alias(one) for one in EVERY_NAME if one != name]
    recs, truth = (
        one.rename({role: name}).with_columns(others)
        for one in (recommended(u="ab", v="ab"), liked(u="b", v="a"))
    )
    columns: Any = {role: name}

    rec = recs.rec(truth=truth, **columns)
    assert rec.evaluate("mrr", "auc").rows() == [(2, 0.75, 0.5)]
    assert name in rec.judge().columns


def test_a_column_without_a_name_is_a_segment():
    # pl.from_pandas, which reads the results of pandas elsewhere, would give it a name
    frame = ranking([0, 1]).with_columns(pl.lit("FR").alias(""))
    expected = {"": ["FR"], "n_users": [1], "mrr": [0.5]}

    assert frame.rec.mrr(by="").to_dict(as_series=False) == expected
    assert frame.to_pandas().rec.mrr(by="").to_dict("list") == expected


def test_an_expression_reads_columns_of_any_name():
    names = ["len", "literal", "a.b", "two words"]
    for item, rank, relevance in zip(
        names, names[1:] + names[:1], names[2:] + names[:2], strict=True
    ):
        frame = ranking([0, 1]).rename({"item": item, "rank": rank, "relevance": relevance})
        made = rf.mrr.expr(k=2, item=item, rank=rank, relevance=relevance)
        assert frame.select(made).to_dicts() == [{"mrr@2": 0.5}]


@pytest.mark.parametrize(
    "index", [[7, 7, 7, 7], pd.Index(range(4), name="user"), [*"wxyz"]], ids=str
)
def test_the_index_of_a_pandas_frame_means_nothing(index):
    of_users = [ranking([0, 1], user="u").to_pandas(), ranking([1, 0], user="v").to_pandas()]
    frame = pd.concat(of_users).set_axis(index, axis=0)
    users = pd.DataFrame({"user": ["v", "u"], "country": ["DE", "FR"]}, index=[99, 98])

    found = frame.rec(users=users).mrr(by="country")
    assert found.to_dict("list") == {"country": ["DE", "FR"], "n_users": [1, 1], "mrr": [1.0, 0.5]}
    assert found.index.equals(pd.RangeIndex(2))


def test_pandas_columns_that_nobody_asked_for_may_be_of_any_sort():
    frame = ranking([0, 1]).to_pandas()
    frame[0] = [object(), {}]
    frame["mixed"] = pd.Series([1, "a"], dtype=object)
    frame = pd.concat([frame, frame[["mixed"]]], axis=1)

    assert frame.rec.mrr() == 0.5


TEXT_DTYPES = ["object", "str", "string", "string[python]", "string[pyarrow]", "category"]
NUMBER_DTYPES = [
    "int8", "uint16", "int64", "Int64", "UInt8", "int32[pyarrow]", "uint64[pyarrow]", "category",
]  # fmt: skip
OF_PANDAS = [
    *(
        ([*"uvw"], one, two)
        for one in TEXT_DTYPES
        for two in ("object", "str", "string", "category")
    ),
    *(
        ([1, 2, 3], one, two)
        for one in NUMBER_DTYPES
        for two in ("int8", "Int64", "uint64[pyarrow]", "category")
    ),
]


@pytest.mark.parametrize(("ids", "left", "right"), OF_PANDAS, ids=str)
def test_ids_of_every_pandas_dtype_match(ids, left, right):
    first, second, third = ids
    recs = pd.DataFrame({"user": [second, first, first], "item": [first, first, second]})
    recs = recs.astype(left).assign(rank=[1, 1, 2])
    truth = pd.DataFrame({"user": [first, second, third], "item": [second] * 3}).astype(right)

    found = recs.rec(truth=truth).mrr(by="user")
    assert found["user"].tolist() == ids
    assert found["mrr"].tolist() == [0.5, 0.0, 0.0]
    assert recs.rec(truth=truth, universe="recs").mrr(by="user")["user"].dtype == recs["user"].dtype


def test_ids_that_the_dtype_of_the_recommendations_cannot_hold_are_not_wrapped():
    recs = pd.DataFrame({"user": np.array([1, 2], dtype="int8"), "item": [1, 1], "rank": [1, 1]})
    truth = pd.DataFrame({"user": [2, 1000], "item": [1, 1]})

    found = recs.rec(truth=truth).mrr(by="user")
    assert found.to_dict("list") == {"user": [2, 1000], "mrr": [1.0, 0.0]}
    assert sorted(recs.rec(truth=truth).judge()["user"]) == [2, 1000]


@pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]"])
def test_large_numbers_beside_a_null_segment_are_not_rounded(dtype):
    users = pd.DataFrame({"user": ["u", "v"], "shop": pd.array([2**53 + 1, None], dtype=dtype)})

    frame = pd.concat([ranking([1], user=user).to_pandas() for user in "uv"])
    found = frame.rec(users=users).mrr(by="shop")
    assert found["shop"].dtype == dtype
    assert found["shop"][0] == 2**53 + 1
    assert found["shop"].isna().tolist() == [False, True]


OF_PANDAS_NUMBERS = [
    *(
        {"rank": one, "relevance": one}
        for one in ("float16", "float32", "Float32", "double[pyarrow]")
    ),
    *({"rank": "Int64"}, {"rank": "UInt8", "relevance": "boolean"}),
    {"rank": "int8[pyarrow]", "relevance": "Float32"},
]


@pytest.mark.parametrize("dtypes", OF_PANDAS_NUMBERS, ids=str)
def test_ranks_and_relevances_of_every_pandas_dtype_may_be_missing(dtypes):
    frame = ranking([1, None, 1], [None, 1, 2]).to_pandas().astype(dtypes)

    found = frame.rec.evaluate("mrr", "recall", "judged", "dcg").iloc[0].tolist()
    assert found == pytest.approx([1, 0.5, 0.5, 0.5, 1 / np.log2(3)], rel=1e-12)


# Users 1 and 2, one of whom is no user where a column has a hole; NaN and null are one hole.
HOLED = pl.DataFrame(
    {"user": [1, 1, 2, 2, 1], "item": [1, 2, 1, 2, 3], "rank": [1, 2, 1, 2, None]}
).with_columns(relevance=pl.Series([1, 0, 0, 2, 1]), model=1, half=pl.col("user") - 0.5)
HOLED = HOLED.cast(pl.Float64)
MAY_HAVE_HOLES = ["user", "relevance", "half", "item", "model"]
EAGER = [one for one in KINDS if one.name not in {"lazy", "streaming"}]
OF_HOLES = ["recall", "bpref", "judged", "auc", "ndcg@2", "coverage", "mcc"]


# a hole on the one row that is not listed splits user 1
@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
@pytest.mark.parametrize(
    ("name", "kind", "many"),
    [
        *in_turn(MAY_HAVE_HOLES, KINDS[:1], [False], fast=3),
        *in_turn(MAY_HAVE_HOLES, KINDS[1:], [False], fast=0),
        # the plan of a lazy frame knows nothing of its size
        *in_turn(MAY_HAVE_HOLES, EAGER, [True], fast=0),
    ],
)
def test_nan_is_null_wherever_null_can_be(name, kind, many):
    def asked(missing, at):
        frame = HOLED.with_columns(
            pl.when(pl.int_range(pl.len()) == at).then(missing).otherwise(name).alias(name)
        )
        frame = pl.concat([frame, frame.clear(kinds.LARGE + 1)]) if many else frame
        options = {"model": "model"} if name == "model" else {}
        rec = rf.rec(kind(frame))(train=kind(frame.select("user", "item")), **options)
        judged = kind.read(rf.rec(kind(frame))(**options).judge()).fill_nan(None).sort(pl.all())
        found = [kind.read(rec.evaluate(*OF_HOLES, by=by)) for by in (None, "user", "half")]
        return [*(one.fill_nan(None) for one in found), judged]

    # other kinds differ in how a hole comes in: not in what stands beside it
    places = range(len(HOLED)) if kind.name == "polars" else (2,) if many else (0, 4)
    if name == "model":  # which a row that is listed must have
        places = HOLED["rank"].is_null().arg_true()
        assert len(places)
    for at in places:
        for found, expected in zip(asked(float("nan"), at), asked(None, at), strict=True):
            assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-12)


def test_what_judge_gives_pandas_gives_the_same_numbers():
    # a hit at 1 and a miss at 2 that nobody judged: no judged miss above the hit, and half of the list is judged
    frame = ranking([1.0, float("nan")])

    for one in (frame, frame.to_pandas(), frame.rec.judge().to_pandas()):
        assert one.rec.bpref() == 1
        assert one.rec.judged() == 0.5
    assert frame.select(rf.judged.expr(), rf.bpref.expr()).row(0) == (0.5, 1)


def test_a_truth_of_nan_alone_speaks_of_nobody(kind):
    recs, truth = ranking([1, 1]).drop("relevance"), ranking([float("nan"), None]).drop("rank")

    assert kind.read(kind(recs).rec(truth=kind(truth)).evaluate("recall"))["n_users"].item() == 0
