"""Ids of every dtype, columns of any name, and frames however they are stored."""

from __future__ import annotations

import datetime as dt
import decimal
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

POLARS = [kind for kind in KINDS if kind.name in {"polars", "streaming"}]
on_plain_kinds = pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.name in {"lazy", "pandas"}], ids=repr
)

INTEGERS = [
    pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64,
]  # fmt: skip
NOON = dt.datetime(2026, 1, 2, 12)  # noqa: DTZ001  a time without a zone is a dtype of its own
HOUR = dt.timedelta(hours=1)

# Three ids of each dtype, in the order of the dtype.
IDS: list[tuple[Any, list[Any]]] = [
    *((dtype, [1, 2, 100]) for dtype in INTEGERS),
    (pl.Int64, [-(2**63), -1, 2**63 - 1]),
    (pl.Int64, [2**53, 2**53 + 1, 2**53 + 2]),  # one and the same as Float64
    (pl.UInt64, [1, 2**63 + 1, 2**64 - 1]),
    (pl.Int128, [-(2**100), 0, 2**100]),
    (pl.Float32, [-0.5, 0.25, 3.0]),
    (pl.Float64, [-0.5, 0.1, 3.0]),
    (pl.String, ["", "a", "ü"]),
    (pl.Categorical(), ["a", "b", "c"]),
    (pl.Enum(["c", "b", "a", "unused"]), ["c", "b", "a"]),
    (pl.Binary, [b"", b"\x00", b"\xff"]),
    (pl.Date, [dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(2026, 1, 2)]),
    (pl.Datetime("ns"), [NOON - HOUR, NOON, NOON + HOUR]),
    (pl.Datetime("ms"), [NOON - HOUR, NOON, NOON + HOUR]),
    (pl.Time, [dt.time(0), dt.time(12, 30), dt.time(23)]),
    (pl.Duration("us"), [-HOUR, HOUR, 2 * HOUR]),
    (pl.Decimal(10, 2), [decimal.Decimal("-0.50"), decimal.Decimal("0.10"), decimal.Decimal("7.00")]),
    (pl.Struct({"shop": pl.String, "number": pl.Int64}), [{"shop": shop, "number": 1} for shop in "abc"]),
]  # fmt: skip
OF_EACH_DTYPE = {f"{dtype}-{ids[1]!r}": (dtype, ids) for dtype, ids in IDS}
every_dtype = pytest.mark.parametrize(("dtype", "ids"), OF_EACH_DTYPE.values(), ids=OF_EACH_DTYPE)
in_polars = pytest.mark.parametrize(("of_a_dtype", "kind"), in_turn(OF_EACH_DTYPE, POLARS))

# Lists: u finds its item at 1, v at 2, w not at all; places in the list of ids stand for users and items.
PLACES = [(0, 0, 1, 1), (0, 1, 2, 0), (1, 0, 1, 0), (1, 1, 2, 1), (2, 0, 1, 0), (2, 2, None, 1)]
MRR = [1.0, 0.5, 0.0]


def judged_by(values: pl.Series) -> pl.DataFrame:
    users, items, ranks, relevance = zip(*PLACES, strict=True)
    columns = {"user": values.gather(list(users)), "item": values.gather(list(items))}
    return pl.DataFrame(columns | {"rank": list(ranks), "relevance": list(relevance)})


def two_frames(frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    recs = frame.filter(pl.col("rank").is_not_null()).drop("relevance")
    return recs, frame.filter(pl.col("relevance") == 1).select("user", "item")


@in_polars
def test_ids_of_a_judged_frame_come_back_in_their_dtype(of_a_dtype, kind):
    dtype, ids = of_a_dtype
    found = ask(kind, judged_by(pl.Series(ids, dtype=dtype)), "mrr", by="user")

    assert found.schema["user"] == dtype
    assert found["user"].to_list() == ids
    assert found["mrr"].to_list() == MRR


@in_polars
def test_ids_of_two_frames_come_back_in_their_dtype(of_a_dtype, kind):
    dtype, ids = of_a_dtype
    recs, truth = two_frames(judged_by(pl.Series(ids, dtype=dtype)))
    users = pl.DataFrame({"user": pl.Series(ids, dtype=dtype), "country": ["FR", "DE", "FR"]})

    found = ask(kind, recs, "mrr", "ndcg", truth=truth, by="user")
    assert found.schema["user"] == dtype
    assert found["user"].to_list() == ids
    assert found["mrr"].to_list() == MRR
    assert ask(kind, recs, "mrr", truth=truth, users=users, by="country").rows() == [
        ("DE", 1, 0.5),
        ("FR", 2, 0.5),
    ]
    assert ask(kind, recs, "mrr", truth=truth, by="item").schema["item"] == dtype


@every_dtype
def test_ids_of_the_judged_frame_that_judge_gives_have_their_dtype(dtype, ids):
    recs, truth = two_frames(judged_by(pl.Series(ids, dtype=dtype)))

    found = recs.rec(truth=truth).judge()
    assert found.schema["user"] == found.schema["item"] == dtype
    assert found.height == len(PLACES)
    assert found.rec.mrr() == 0.5


def test_boolean_ids(kind):
    frame = pl.DataFrame(
        {
            "user": [True, True, False],
            "item": [False, True, True],
            "rank": [1, 2, 1],
            "relevance": [0, 1, 0],
        }
    )

    found = ask(kind, frame, "mrr", by="user")
    assert found.rows() == [(False, 0.0), (True, 0.5)]
    assert found.schema["user"] == pl.Boolean


@pytest.mark.parametrize("left", INTEGERS, ids=str)
@pytest.mark.parametrize("right", [pl.Int8, pl.UInt64, pl.Int128], ids=str)
def test_integers_of_any_width_match(left, right):
    recs = pl.DataFrame({"user": [1, 2], "item": [5, 6], "rank": [1, 1]}).with_columns(
        pl.col("user", "item").cast(left)
    )
    truth = pl.DataFrame({"user": [1, 2], "item": [5, 7]}).with_columns(
        pl.col("user", "item").cast(right)
    )

    assert recs.rec(truth=truth).mrr() == 0.5
    assert recs.lazy().rec(truth=truth).mrr(by="user").collect().rows() == [(1, 1.0), (2, 0.0)]


@pytest.mark.skipif(not hasattr(pl, "UInt128"), reason="Polars 1 has none")
@pytest.mark.parametrize("other", [pl.Int64, pl.UInt64, pl.Int128], ids=str)
def test_the_widest_integers_match_too(other):
    recs = pl.DataFrame(
        {"user": [1, 2**100], "item": [5, 6], "rank": [1, 1]}, schema_overrides={"user": pl.UInt128}
    )
    truth = pl.DataFrame({"user": [1, 2], "item": [5, 6]}, schema_overrides={"user": other})

    assert recs.rec(truth=truth, universe="all").mrr(by="user").rows() == [
        (1, 1.0),
        (2, 0.0),
        (2**100, 0.0),
    ]


@pytest.mark.filterwarnings("ignore:no_common_")
def test_negative_and_huge_integers_do_not_meet():
    # -1 and 2^64 - 1 are the same bits
    recs = pl.DataFrame({"user": [-1], "item": [1], "rank": [1]})
    truth = pl.DataFrame({"user": pl.Series([2**64 - 1], dtype=pl.UInt64), "item": [1]})

    assert recs.rec(truth=truth, universe="all").mrr(by="user").rows() == [
        (-1, 0.0),
        (2**64 - 1, 0.0),
    ]


TEXTS = [pl.String, pl.Categorical, pl.Enum(["a", "b", "c"]), pl.Enum(["b", "x", "a"])]


@pytest.mark.parametrize("left", TEXTS, ids=str)
@pytest.mark.parametrize("right", TEXTS, ids=str)
def test_texts_categoricals_and_enums_match(left, right):
    recs, truth = (
        recommended(u="ab").with_columns(pl.col("item").cast(left)),
        liked(u="b").with_columns(pl.col("item").cast(right)),
    )

    assert recs.rec(truth=truth).mrr() == 0.5
    assert recs.lazy().rec(truth=truth.lazy()).mrr().collect().rows() == [(1, 0.5)]


def test_an_id_that_only_one_enum_has_is_not_lost():
    recs = recommended(a="x").with_columns(pl.col("user").cast(pl.Enum(["a"])))
    truth = liked(a="x", b="x").with_columns(pl.col("user").cast(pl.Enum(["b", "a"])))

    assert sorted(recs.rec(truth=truth).mrr(by="user").cast({"user": pl.String}).rows()) == [
        ("a", 1.0),
        ("b", 0.0),
    ]


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


@pytest.mark.parametrize("name", [*NAMES, *INSIDE, "n_users", "mrr"])
@pytest.mark.parametrize("role", ["user", "item"])
def test_an_id_of_two_frames_has_any_name(role, name):
    recs, truth = (
        one.rename({role: name}) for one in (recommended(u="ab", v="ab"), liked(u="b", v="a"))
    )
    columns: Any = {role: name}

    rec = recs.rec(truth=truth, **columns)
    assert rec.evaluate("mrr", "auc").rows() == [(2, 0.75, 0.5)]
    assert name in rec.judge().columns


def test_a_column_without_a_name_is_a_segment():
    # pl.from_pandas, which reads the results of pandas elsewhere, would give it a name
    frame = ranking([0, 1]).with_columns(pl.lit("FR").alias(""))

    assert frame.rec.mrr(by="").to_dict(as_series=False) == {
        "": ["FR"],
        "n_users": [1],
        "mrr": [0.5],
    }
    assert frame.to_pandas().rec.mrr(by="").to_dict("list") == {
        "": ["FR"],
        "n_users": [1],
        "mrr": [0.5],
    }


@on_plain_kinds
def test_columns_of_any_name_may_stand_by(kind):
    frame = ranking([0, 1]).with_columns(
        pl.lit(7).alias(name) for name in [*NAMES, *INSIDE, "n_users", "mrr"]
    )

    assert ask(kind, frame, "mrr").rows() == [(1, 0.5)]
    truth = liked(u="b").with_columns(
        frame.select(pl.exclude("user", "item", "rank", "relevance"))[:1]
    )
    assert ask(kind, frame.drop("relevance"), "mrr", truth=truth).rows() == [(1, 0.5)]


def test_the_name_of_a_role_may_be_bound_to_another_role():
    frame = ranking([0, 1]).rename({"rank": "position"}).rename({"item": "rank"})

    assert frame.rec(item="rank", rank="position").mrr() == 0.5
    assert frame.rec(item="rank", rank="position").mrr(by="rank").columns == [
        "rank",
        "n_users",
        "mrr",
    ]


def test_an_expression_reads_columns_of_any_name():
    for name in ("len", "literal", "a.b", "two words"):
        frame = ranking([0, 1]).rename({"item": name})
        assert frame.select(rf.mrr.expr(item=name)).item() == 0.5


def test_a_slice_reads_its_own_rows():
    frame = pl.concat([ranking([1, 1]), ranking([0, 1]), ranking([1, 1])])

    assert frame.slice(2, 2).rec.mrr() == frame[2:4].rec.mrr() == 0.5
    assert frame.lazy().slice(2, 2).rec.mrr().collect().rows() == [(1, 0.5)]
    assert frame.to_pandas().iloc[2:4].rec.mrr() == 0.5


def test_a_frame_of_many_chunks_is_one_frame():
    frame = pl.concat([ranking([0, 0, 1])[row : row + 1] for row in (2, 0, 1)], rechunk=False)

    assert frame.n_chunks() == 3
    assert frame.rec.evaluate("mrr", "auc").rows() == [(1, 1 / 3, 0.0)]


def test_a_lazy_frame_of_a_scan_and_of_a_query(tmp_path):
    ranking([0, 1]).write_parquet(tmp_path / "a.parquet")
    ranking([1, 0], user="v").write_parquet(tmp_path / "b.parquet")
    scan = pl.scan_parquet(tmp_path / "*.parquet")

    assert scan.rec.mrr().collect().rows() == [(2, 0.75)]
    assert scan.filter(pl.col("user") == "u").with_columns(
        pl.col("rank") + 1
    ).rec.mrr().collect().rows() == [(1, 1 / 3)]


@pytest.mark.parametrize(
    "index",
    [
        range(5, 9),
        range(8, 0, -2),
        [7, 7, 7, 7],
        list("wxyz"),
        pd.Index(range(4), name="user"),
        pd.Index(list("abcd"), name="item"),
    ],
    ids=["offset", "backwards", "repeated", "text", "named as a column", "named as another"],
)
def test_the_index_of_a_pandas_frame_means_nothing(index):
    frame = pd.concat(
        [ranking([0, 1], user="u").to_pandas(), ranking([1, 0], user="v").to_pandas()]
    ).set_axis(index, axis=0)
    users = pd.DataFrame({"user": ["v", "u"], "country": ["DE", "FR"]}, index=[99, 98])

    assert frame.rec.mrr() == 0.75
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


@pytest.mark.parametrize("left", TEXT_DTYPES)
@pytest.mark.parametrize("right", ["object", "str", "string", "category"])
def test_texts_of_every_pandas_dtype_match(left, right):
    recs = recommended(u="ab", v="a").to_pandas().astype({"user": left, "item": left})
    truth = liked(v="b", u="b", w="b").to_pandas().astype({"user": right, "item": right})

    found = recs.rec(truth=truth).mrr(by="user")
    assert found["user"].tolist() == ["u", "v", "w"]
    assert found["mrr"].tolist() == [0.5, 0.0, 0.0]
    assert recs.rec(truth=truth, universe="recs").mrr(by="user")["user"].dtype == recs["user"].dtype


NUMBER_DTYPES = [
    "int8", "uint16", "int64", "Int64", "UInt8", "int32[pyarrow]", "uint64[pyarrow]", "category",
]  # fmt: skip


@pytest.mark.parametrize("left", NUMBER_DTYPES)
@pytest.mark.parametrize("right", ["int8", "Int64", "uint64[pyarrow]", "category"])
def test_integers_of_every_pandas_dtype_match(left, right):
    recs = pd.DataFrame({"user": [2, 1, 1], "item": [7, 7, 8], "rank": [1, 1, 2]}).astype(
        {"user": left, "item": left}
    )
    truth = pd.DataFrame({"user": [1, 2, 3], "item": [8, 8, 8]}).astype(
        {"user": right, "item": right}
    )

    found = recs.rec(truth=truth).mrr(by="user")
    assert found["user"].tolist() == [1, 2, 3]
    assert found["mrr"].tolist() == [0.5, 0.0, 0.0]
    assert recs.rec(truth=truth, universe="recs").mrr(by="user")["user"].dtype == recs["user"].dtype


def test_ids_that_the_dtype_of_the_recommendations_cannot_hold_are_not_wrapped():
    recs = pd.DataFrame({"user": np.array([1, 2], dtype="int8"), "item": [1, 1], "rank": [1, 1]})
    truth = pd.DataFrame({"user": [2, 1000], "item": [1, 1]})

    assert recs.rec(truth=truth).mrr(by="user").to_dict("list") == {
        "user": [2, 1000],
        "mrr": [1.0, 0.0],
    }
    assert sorted(recs.rec(truth=truth).judge()["user"]) == [2, 1000]


@pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]"])
def test_large_numbers_beside_a_null_segment_are_not_rounded(dtype):
    users = pd.DataFrame({"user": ["u", "v"], "shop": pd.array([2**53 + 1, None], dtype=dtype)})

    found = (
        pd.concat([ranking([1], user=user).to_pandas() for user in "uv"])
        .rec(users=users)
        .mrr(by="shop")
    )
    assert found["shop"].dtype == dtype
    assert found["shop"][0] == 2**53 + 1
    assert found["shop"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "Float32", "Int8", "uint8", "double[pyarrow]"]
)
def test_ranks_and_relevances_of_every_pandas_dtype(dtype):
    frame = ranking([0, 1]).to_pandas().astype({"rank": dtype, "relevance": dtype})

    assert frame.rec.mrr() == 0.5
    assert frame.rec.dcg() == pytest.approx(1 / np.log2(3), rel=1e-12)


def test_missing_ranks_and_relevances_of_every_pandas_dtype():
    frame = ranking([1, None, 1], [None, 1, 2]).to_pandas()
    for dtypes in (
        {"rank": "Int64"},
        {"rank": "UInt8", "relevance": "boolean"},
        {"rank": "int8[pyarrow]", "relevance": "Float32"},
    ):
        assert frame.astype(dtypes).rec.evaluate("mrr", "recall", "judged").iloc[0].tolist() == [
            1, 0.5, 0.5, 0.5,
        ]  # fmt: skip


# Users 1 and 2, one of whom is no user where a column has a hole; NaN and null are one hole.
HOLED = pl.DataFrame(
    {
        "user": [1.0, 1.0, 2.0, 2.0, 1.0],
        "item": [1.0, 2.0, 1.0, 2.0, 3.0],
        "rank": [1.0, 2.0, 1.0, 2.0, None],
        "relevance": [1.0, 0.0, 0.0, 2.0, 1.0],
        "model": [1.0, 1.0, 1.0, 1.0, 1.0],
        "half": [0.5, 0.5, 1.5, 1.5, 0.5],
    }
)
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
        return [
            kind.read(rec.evaluate(*OF_HOLES, by=by)).fill_nan(None)
            for by in (None, "user", "half")
        ] + [judged]

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
