"""Columns of pandas frames of any dtype and name: they go in, and come back in the dtype that they had, in their own order."""

from __future__ import annotations

import datetime as dt
import decimal
import re
import sys
import uuid
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import recframe as rf
from asking import ranking
from lanes import in_turn
from recframe.frames.kinds import pandas_frames

# Two users: u finds the relevant item second, v first, so their reciprocal ranks are 1/2 and 1.
FRAME = pd.concat(
    [ranking([0, 1], user="u").to_pandas(), ranking([1, 0], user="v").to_pandas()],
    ignore_index=True,
)
DAYS = pd.to_datetime(["2026-01-01", "2026-01-02"])
NANOSECONDS = pd.Series(pd.to_datetime([1, 2]))


def in_arrow(values: list[Any], dtype: Any) -> pd.Series[Any]:
    return pd.Series(values, dtype=pd.ArrowDtype(dtype))


# Two values of each dtype, in their own order.
PAIRS = {
    "months": pd.Series(pd.PeriodIndex(["2026-01", "2026-02"], freq="M")),
    "weeks": pd.Series(pd.PeriodIndex(["2026-01-05", "2026-01-12"], freq="W")),
    "years that no nanosecond reaches": pd.Series(pd.PeriodIndex.from_ordinals([-3000, 3000], freq="Y")),
    "intervals": pd.Series(pd.IntervalIndex.from_tuples([(0, 9), (1, 2)])),
    "intervals of one left end": pd.Series(pd.IntervalIndex.from_tuples([(0.5, 2), (0.5, 3)], closed="left")),
    "intervals of days": pd.Series(
        pd.IntervalIndex.from_breaks(pd.date_range("2026-01-01", periods=3, tz="Asia/Tokyo"))
    ),
    "sparse": pd.Series(pd.arrays.SparseArray([0, 2])),
    "sparse floats": pd.Series(pd.arrays.SparseArray([0.5, 2.5])),
    "sparse Booleans": pd.Series(pd.arrays.SparseArray([False, True])),
    "nanoseconds": NANOSECONDS,
    "nanoseconds of a zone": NANOSECONDS.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
    "nanoseconds of time": pd.Series(pd.to_timedelta([1, 2])),
    "seconds": pd.Series(DAYS).astype("datetime64[s]"),
    "offset": pd.Series(pd.to_datetime(["2026-01-01 00:00+02:00", "2026-01-02 00:00+02:00"])),
    "arrow nanoseconds": in_arrow(list(NANOSECONDS), pa.timestamp("ns")),
    "arrow zone": in_arrow(list(DAYS.tz_localize("Asia/Tokyo")), pa.timestamp("ns", tz="Asia/Tokyo")),
    "arrow durations": in_arrow([dt.timedelta(1), dt.timedelta(2)], pa.duration("us")),
    "arrow decimals": in_arrow([decimal.Decimal("1.50"), decimal.Decimal("2.50")], pa.decimal128(5, 2)),
    "arrow dictionary": in_arrow(["a", "b"], pa.dictionary(pa.int32(), pa.string())),
    "arrow Booleans": in_arrow([False, True], pa.bool_()),
    "arrow text": in_arrow(["a", "b"], pa.string()),
    "arrow large text": in_arrow(["a", "b"], pa.large_string()),
    "arrow bytes": in_arrow([b"a", b"b"], pa.binary()),
    "arrow dates": in_arrow([dt.date(2026, 1, 1), dt.date(2026, 1, 2)], pa.date32()),
    "arrow times": in_arrow([dt.time(1), dt.time(2)], pa.time64("us")),
    "cut": pd.Series(pd.cut([1, 5], [0, 3, 10, 99])),
    "categories of periods": pd.Series(
        pd.Categorical(pd.PeriodIndex(["2026-02", "2026-01"], freq="M"), ordered=False)
    )[::-1],
    "categories backwards": pd.Series(pd.Categorical(["b", "a"], categories=["b", "unused", "a"])),
    "categories of numbers": pd.Series(pd.Categorical([10, 2], categories=[10, 99, 2])),
    "text": pd.Series(["a", "b"]),
    "text as objects": pd.Series(["a", "b"], dtype=object),
    "text of pandas": pd.Series(["a", "b"], dtype="string"),
    "dates as objects": pd.Series([dt.date(2026, 1, 1), dt.date(2026, 1, 2)], dtype=object),
    "bytes as objects": pd.Series([b"a", b"b"], dtype=object),
    "decimals as objects": pd.Series([decimal.Decimal(1), decimal.Decimal(2)], dtype=object),
    "small numbers": pd.Series([-1, 2], dtype="int8"),
    "numbers that may be missing": pd.Series([1, 2], dtype="UInt16"),
    "floats": pd.Series([-0.5, 1.5], dtype="float32"),
    "floats that may be missing": pd.Series([0.5, 1.5], dtype="Float64"),
    "Booleans": pd.Series([False, True]),
    "Booleans that may be missing": pd.Series([False, True], dtype="boolean"),
    "ordered categories": pd.Series(
        pd.Categorical(["low", "high"], categories=["low", "unused", "high"], ordered=True)
    ),
    "categories of more than there are rows": pd.Series(pd.Categorical(["b", "a"], categories=list("zbyxwvuta"))),
}  # fmt: skip
on_pairs = pytest.mark.parametrize("pair", in_turn(PAIRS))
# what a dtype does on the way in and out is seen above all in `by`; of the rest the fast lane has some
on_some_pairs = pytest.mark.parametrize("pair", in_turn(PAIRS, fast=8))


def same(found: pd.Series[Any], expected: pd.Series[Any]) -> None:
    assert found.dtype == expected.dtype
    pd.testing.assert_series_equal(found, expected, check_names=False)


@on_pairs
def test_segments_and_models_come_back_in_their_dtype_and_order(pair):
    values = pair.iloc[[1, 0]].reset_index(drop=True)
    of_rows = FRAME.assign(segment=values.iloc[[0, 0, 1, 1]].reset_index(drop=True))
    users = pd.DataFrame({"user": ["u", "v"], "segment": values})

    items = users.assign(item=["a", "b"]).drop(columns="user")
    of_models = of_rows.rename(columns={"segment": "model"}).rec(model="model")
    pair = pair.reset_index(drop=True)

    for found in (of_rows.rec.mrr(by="segment"), FRAME.rec(users=users).mrr(by="segment")):
        same(found["segment"], pair)
        assert found["mrr"].tolist() == [1, 0.5]
    found = FRAME.rec(items=items).n_hits(by="segment")
    same(found["segment"], pair)
    assert found["n_hits"].tolist() == [0.5, 0.5]
    for found in (of_models.evaluate("mrr"), of_models.explain("mrr").frame):
        same(found["model"], pair)
        assert found["mrr"].tolist() == [0.5, 0.25]  # of two users, each of whom only one model has
    none = of_rows.iloc[:0].rec.evaluate("mrr", by="segment")
    assert (len(none), none["segment"].dtype) == (0, pair.dtype)


@on_some_pairs
def test_a_by_column_with_a_missing_value_has_it_last(pair):
    users = pd.DataFrame({"user": ["u"], "segment": pair.iloc[[1]].reset_index(drop=True)})

    found = FRAME.rec(users=users).mrr(by="segment")

    assert found["segment"].isna().tolist() == [False, True]
    assert found["segment"].iloc[0] == pair.iloc[1]
    assert found["mrr"].tolist() == [0.5, 1]


@on_some_pairs
def test_ids_of_any_dtype_match_those_of_a_truth_and_come_back(pair):
    pair = pair.reset_index(drop=True)
    recs = pd.DataFrame({"user": pair, "item": pair, "rank": [1, 1]})
    users, items = (pair.iloc[places].reset_index(drop=True) for places in ([1, 0], [1, 1]))
    truth = pd.DataFrame({"user": users, "item": items})

    found = recs.rec(truth=truth).mrr(by="user")

    same(found["user"], pair)
    assert found["mrr"].tolist() == [0, 1]
    assert recs.rec(truth=truth).judge()["item"].dtype == pair.dtype
    assert recs.rec(truth=truth).audit(k=5)["check"].tolist() == ["short_lists"]


def test_categories_that_read_alike_stay_apart():
    column = pd.Categorical([1, "1"], categories=[1, "1"])
    users = pd.DataFrame({"user": ["u", "v"], "segment": column})

    found = FRAME.rec(users=users).mrr(by="segment")

    assert found["segment"].tolist() == [1, "1"]
    assert found["mrr"].tolist() == [0.5, 1]


def test_a_segment_of_two_frames_that_take_other_categories_of_one_dtype():
    dtype = pd.CategoricalDtype([10, 2, 3, 4, 5, 6, 7])
    recs = pd.DataFrame({"user": ["u", "v"], "item": ["a", "b"], "rank": 1})
    truth = pd.DataFrame({"user": ["v", "v"], "item": ["b", "c"]})
    recs["genre"], truth["genre"] = (pd.Series(own, dtype=dtype) for own in ([2, 10], [10, 3]))

    found = recs.rec(truth=truth).recall(by="genre")

    assert found["genre"].dtype == dtype
    assert found.to_dict("list") == {"genre": [10, 3], "n_users": [1, 1], "recall": [1.0, 0.0]}


@pytest.mark.parametrize("column", ["segment", "user"])
def test_unused_categories_stay_outside(column):
    # With an Enum of a million categories three rows took ten seconds.
    dtype = pd.CategoricalDtype(pd.Index([f"c{number}" for number in range(50_000)]))
    frame = pd.DataFrame({"user": ["u", "v", "w"], "item": 1, "rank": 1, "relevance": 1})
    frame[column] = pd.Series(["c5", "c49999", "c0"], dtype=dtype)

    inside = pandas_frames.series(frame, column, column, is_id=column == "user")
    found = frame.rec.mrr(by=column)

    assert inside.dtype == pl.Enum(["c0", "c5", "c49999"])
    assert found[column].dtype == dtype
    assert found[column].tolist() == ["c0", "c5", "c49999"]


def test_more_categories_than_an_enum_takes_well_are_text_inside(monkeypatch):
    monkeypatch.setattr(pandas_frames, "MOST_CATEGORIES", 3)
    labels = list("abcd")
    users = pd.Categorical(labels, categories=labels[::-1])
    frame = pd.DataFrame({"user": users, "item": 1, "rank": 1, "relevance": 1})

    found = frame.rec.mrr(by="user")

    assert found["user"].dtype == frame["user"].dtype
    assert found["user"].tolist() == labels[::-1]


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")  # of a frame without a rank
@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT], ids=repr)
@pytest.mark.parametrize("role", ["user", "item", "rank", "relevance", "score", "segment"])
def test_objects_that_are_all_missing_are_nulls_in_every_role(role, missing):
    plain = FRAME.drop(columns="rank" if role == "score" else [])
    frame = plain.assign(**{role: pd.Series([missing] * 4, dtype=object)})
    expected = pl.from_pandas(plain).with_columns(pl.lit(None).alias(role))

    found, wanted = frame.rec.evaluate("mrr", "recall"), expected.rec.evaluate("mrr", "recall")
    assert [None if pd.isna(one) else one for one in found.iloc[0]] == list(wanted.row(0))
    if role == "segment":
        assert frame.rec.mrr(by="segment")["mrr"].tolist() == [0.75]


NAMES = ["^user$", "^.*$", "^item$", "literal", "len", "*", "", "a.b", "index", "level_0", "0"]
NAMES += ["two words", "ü", "user ", "count", "rec"]
# of the plans inside
NAMES += ["segment 0", "place", "start", "gain", "value 0", "sum 0", "mean 0", "running 0"]

ROLES = ["user", "item", "rank", "relevance", "model", "segment"]


@pytest.mark.parametrize(("first", "pandas"), in_turn(range(len(NAMES)), [True, False], fast=2))
def test_columns_of_any_name_serve_in_every_method(first, pandas):
    plain = FRAME.assign(model="m", segment=["FR", "FR", "DE", "DE"])
    named = dict(zip(ROLES, (NAMES * 2)[first:], strict=False))
    frame = plain.rename(columns=named)
    names = {role: named[role] for role in ROLES[:-1]}
    if not pandas:
        plain, frame = (pl.DataFrame(one.to_dict("list")) for one in (plain, frame))
    expected, rec, by = plain.rec(model="model"), frame.rec(**names), named["segment"]

    def same_rows(found: Any, wanted: Any) -> None:
        rows = [one.to_dict("records") if pandas else one.to_dicts() for one in (found, wanted)]
        assert [[*one.values()] for one in rows[0]] == [[*one.values()] for one in rows[1]]

    for role in ("segment", "user", "item"):
        found = rec.evaluate("mrr", "ndcg@1", by=named[role])
        same_rows(found, expected.evaluate("mrr", "ndcg@1", by=role))
        assert list(found.columns)[:2] == [named["model"], named[role]]
    both = expected.evaluate("mrr", by=["segment", "user"])
    same_rows(rec.evaluate("mrr", by=[by, "user"]), both)
    checks = [list(one.audit(k=5)["check"]) for one in (rec, expected)]
    assert checks == [["short_lists", "no_relevant_beyond_lists"]] * 2
    explained = rec.explain("precision@4", "ranx", "jurity", by=by).frame
    same_rows(explained, expected.explain("precision@4", "ranx", "jurity", by="segment").frame)
    judged = rec.judge()
    assert [*judged.columns] == [named[role] for role in ("model", *ROLES[:4])]
    same_rows(judged.rec(**names).evaluate("mrr"), expected.evaluate("mrr"))
    assert rec(strict=True).mrr()["mrr"][0] == 0.75


def test_a_role_and_its_column_are_one_segment(kind):
    frame = kind(ranking([0, 1]).rename({"user": "who"}))

    for by in (["who", "user"], ["user", "who"]):
        assert kind.read(frame.rec(user="who").evaluate("mrr", by=by)).rows() == [("u", 0.5)]


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([1, 1, "a", "a"], dtype=object),
        pd.Series([uuid.UUID(int=2)] * 2 + [uuid.UUID(int=1)] * 2),
        pd.Series([2 + 1j, 2 + 1j, 1, 1]),
        pd.Series([frozenset([1])] * 2 + [frozenset([2])] * 2),
        pd.Series([2**70, 2**70, 1, 1], dtype=object),
        pd.Series([pd.Period("2026-01")] * 2 + [pd.Period("2026-02")] * 2, dtype=object),
        pd.Series(pd.Categorical([1, 1, "1", "1"])),
    ],
    ids=["mixed", "uuid", "complex", "frozenset", "long", "periods", "categories"],
)
def test_the_advice_of_a_column_that_cannot_go_in_works(values):
    frame = FRAME.assign(user=values)

    said = r"give it one dtype, for example frame\['user'\] = "
    with pytest.raises(rf.ColumnError, match=said) as found:
        frame.rec.mrr()
    advice = str(found.value).partition("for example ")[2]
    exec(advice, {"frame": frame, "pd": pd})  # noqa: S102  what the message says
    if frame["user"].nunique() == 2:
        assert frame.rec.mrr() == 0.75


@pytest.mark.parametrize(
    "values",
    [pd.Series([0, 1, "1", 0], dtype=object), pd.Series(np.array([0, 1, 1, 0], dtype=np.longdouble))],
    ids=str,
)  # fmt: skip
def test_the_advice_of_a_number_that_cannot_go_in_works(values):
    frame = FRAME.assign(relevance=values)

    with pytest.raises(rf.ColumnError) as found:
        frame.rec.mrr()
    exec(str(found.value).partition("for example ")[2], {"frame": frame, "pd": pd})  # noqa: S102  what the message says
    assert frame.rec.mrr() == 0.75


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("ImportError({!r})", "libarrow.so.1900: cannot open shared object file"),
        ("ModuleNotFoundError({!r}, name='pyarrow.lib')", "No module named 'pyarrow.lib'"),
    ],
)
def test_a_pyarrow_that_cannot_be_imported_is_told_in_its_own_words(
    error, words, monkeypatch, tmp_path
):
    (tmp_path / "pyarrow.py").write_text(f"raise {error.format(words)}")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pyarrow")

    said = f"pandas frames need pyarrow, which is installed and cannot be imported: {words}"
    with pytest.raises(rf.RecframeError, match=f"^{re.escape(said)}$"):
        FRAME.rec.mrr()


def test_pandas_without_pyarrow_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    text = (
        r"^pandas frames need pyarrow, .* not installed; write: pip install 'recframe\[pandas\]'$"
    )
    in_polars = pl.DataFrame({"user": [1], "item": [1], "rank": [1]})
    for call in (
        FRAME.rec.mrr,
        FRAME.convert_dtypes().rec.judge,
        FRAME.assign(user=FRAME["user"].astype("category")).rec.audit,
        lambda: FRAME.rec.evaluate("mrr", by="user"),
        lambda: FRAME.rec(memory="1GB").evaluate("mrr"),
        lambda: FRAME.rec.explain("mrr"),
        lambda: in_polars.rec(truth=FRAME).mrr(),
        lambda: rf.from_lists(pd.DataFrame({"user": [1], "item": [[1, 2]]})),
        lambda: rf.from_scores([[0.5]], users=[1], items=[1], exclude=FRAME[["user", "item"]]),
    ):
        with pytest.raises(rf.RecframeError, match=text):
            call()


class Special(pd.DataFrame):
    """A subclass as others have them, whose columns and slices are of its own kind."""

    @property
    def _constructor(self) -> type[Special]:
        return Special


def test_a_subclass_of_a_frame_is_a_frame():
    special = Special(FRAME)
    special.attrs["source"] = "here"

    assert rf.rec(special).mrr() == special.rec.mrr() == 0.75
    assert type(special.rec.mrr(by="user")) is pd.DataFrame
    assert special.attrs == {"source": "here"}


def test_a_frame_without_rows_and_dtypes():
    frame = pd.DataFrame(columns=["user", "item", "rank", "relevance"])

    assert np.isnan(frame.rec.ndcg(k=10))
    assert frame.rec.evaluate("mrr")["n_users"].tolist() == [0]
    assert frame.astype(object).rec.evaluate("mrr", by="user").columns.tolist() == ["user", "mrr"]
