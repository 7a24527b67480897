"""Frames that Arrow's interface gives: pyarrow's tables come back as tables, what is read once is read once."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import recframe as rf
from asking import liked, recommended
from buckets_of_users import in_buckets

RECS, TRUTH = recommended(u="ab", v="ab"), liked(u="b", v="a", w="a")
USERS = pl.DataFrame({"user": ["u", "v"], "country": ["FR", "DE"]})


class Relation:
    """A frame of a library that recframe does not know, like DuckDB's, Modin's or cuDF's."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame, self.columns, self.n_reads = frame, frame.columns, 0

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        self.n_reads += 1
        return self.frame.__arrow_c_stream__(requested_schema)


def reader(frame: pl.DataFrame) -> Any:
    table = frame.to_arrow()
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches())


GIVEN = {
    "table": pl.DataFrame.to_arrow,
    "reader": reader,
    "batch": lambda frame: frame.to_arrow().to_batches()[0],
    "relation": Relation,
}
each_given = pytest.mark.parametrize("make", GIVEN.values(), ids=GIVEN)
METRICS = ["ndcg@2", "recall", "coverage@2"]


@each_given
def test_a_frame_of_arrow_gives_the_numbers_of_polars(make):
    rec = rf.rec(make(RECS), make(TRUTH), users=make(USERS), train=make(TRUTH))
    expected = RECS.rec(TRUTH, users=USERS, train=TRUTH)

    for asked in ({}, {"by": "country"}, {"by": ["user", "country"], "k": [1, 2]}):
        found = rec.evaluate(METRICS, **asked)
        assert isinstance(found, pa.Table if make is GIVEN["table"] else pl.DataFrame)
        assert pl.DataFrame(found).equals(expected.evaluate(METRICS, **asked))
    judged = [pl.DataFrame(one.judge()).sort("user", "item") for one in (rec, expected)]
    assert judged[0].equals(judged[1])
    assert pl.DataFrame(rec.audit()).equals(expected.audit())
    assert rec.mrr(k=2) == expected.mrr(k=2) == 0.5
    assert pl.DataFrame(in_buckets(rec, "mrr@2"))["mrr@2"].item() == 0.5


def test_a_frame_that_is_bound_is_read_once():
    recs, truth = Relation(RECS), Relation(TRUTH)
    rec = rf.rec(recs)(truth)
    for _ in range(2):
        rec.evaluate("mrr", by="user")
        rec.audit()

    assert (recs.n_reads, truth.n_reads) == (1, 1)


def test_an_empty_table_is_a_frame():
    rec = rf.rec(RECS.clear().to_arrow(), Relation(TRUTH.clear()))

    assert rec.evaluate("mrr").to_pylist() == [{"n_users": 0, "mrr": None}]
    assert rec.mrr() != rec.mrr()


@pytest.mark.parametrize(
    "wanted",
    [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.string_view()],
    ids=str,
)
def test_a_key_column_comes_back_in_its_type(wanted):
    columns = [["v", "u", "u"], [1, 2, 3], [1, 1, 2], [1, 0, 1]]
    table = pa.table(columns, names=["user", "item", "rank", "relevance"])
    table = table.set_column(0, "user", table["user"].cast(pa.string()).cast(wanted))

    found = rf.rec(table).mrr(by="user")
    assert found.schema.field("user").type == wanted
    assert found.to_pylist() == [{"user": "u", "mrr": 0.5}, {"user": "v", "mrr": 1.0}]
    assert rf.rec(table).judge().schema.field("user").type == wanted


@pytest.mark.parametrize("index", [pa.int16(), pa.int64()])
def test_integers_come_back_in_their_width_where_it_holds_them(index):
    recs = pa.table({"user": pa.array([1, 2], index), "item": [1, 1], "rank": [1, 1]})
    near = pl.DataFrame({"user": [1, 2], "item": [1, 2]})
    far = pl.DataFrame({"user": [1, 2**40], "item": [1, 2]})

    assert rf.rec(recs, near).mrr(by="user").schema.field("user").type == index
    assert rf.rec(recs, far).mrr(by="user")["user"].to_pylist() == [1, 2**40]


def test_a_column_of_a_type_that_polars_has_not_is_left_out():
    table = RECS.to_arrow()
    odd = table.append_column("due", pa.array([pa.MonthDayNano([1, 1, 1])] * 4))

    with pytest.raises(rf.ColumnError, match="'due' of the pyarrow table is month_day_nano"):
        rf.rec(odd, TRUTH).mrr(by="due")
    assert rf.rec(odd, TRUTH).mrr(k=2) == 0.5


def test_lists_and_excluded_pairs_may_be_of_arrow():
    nested = pl.DataFrame({"user": ["u"], "item": [["a", "b"]]})

    assert rf.from_lists(nested.to_arrow()).to_pylist() == rf.from_lists(nested).to_dicts()
    assert rf.from_lists(Relation(nested)).equals(rf.from_lists(nested))
    options = {"users": ["u"], "items": ["a", "b"], "k": 1}
    seen = pl.DataFrame({"user": ["u"], "item": ["b"]})
    for exclude in (seen.to_arrow(), Relation(seen), reader(seen)):
        assert rf.from_scores([[1, 2]], exclude=exclude, **options)["item"].to_list() == ["a"]
