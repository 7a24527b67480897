"""TREC runs and qrels: what is read is what trec_eval reads, and lines that are none are named."""

from __future__ import annotations

import gzip

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe as rf
from lanes import in_turn
from strategies import examples

RUN = "q1 Q0 d1 1 2.5 svd\nq1 Q0 d2 2 1e-3 svd\nq2 Q0 d1 1 -4 svd\n"
RUN_ROWS = [("q1", "d1", 1, 2.5), ("q1", "d2", 2, 0.001), ("q2", "d1", 1, -4.0)]
QRELS = "q1 0 d1 2\nq1 0 d3 0\nq2 0 d1 -1\n"
QRELS_ROWS = [("q1", "d1", 2), ("q1", "d3", 0), ("q2", "d1", -1)]

# White space is that of ASCII, as trec_eval has it: a no-break space is a part of an id.
words = st.text(
    st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters=" "),
    min_size=1,
    max_size=4,
)
finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("trec")


LAYOUTS = {
    "spaces": RUN,
    "tabs": RUN.replace(" ", "\t"),
    "several and CRLF": RUN.replace(" ", "  ").replace("\n", " \r\n"),
    "blank lines": "\n" + RUN.replace("\n", "\n\n").replace("q1", " q1"),
    "no end": RUN.rstrip(),
}


@pytest.mark.parametrize(("text", "ending"), in_turn(LAYOUTS, ["run", "gz"]))
def test_a_run_is_read_whatever_stands_between_its_fields(tmp_path, text, ending):
    path = tmp_path / f"a[1]*.{ending}"
    path.write_bytes(gzip.compress(text.encode()) if ending == "gz" else text.encode())

    found = rf.read_trec_run(path)

    dtypes = {"user": pl.String, "item": pl.String, "rank": pl.Int64, "score": pl.Float64}
    assert found.schema == dtypes
    assert found.rows() == rf.read_trec_run(str(path)).rows() == RUN_ROWS


def test_qrels_are_read_and_ids_stay_text(tmp_path):
    (tmp_path / "a.qrels").write_text(QRELS + '007 0 "7 1\n')

    found = rf.read_trec_qrels(tmp_path / "a.qrels")

    assert found.schema == {"user": pl.String, "item": pl.String, "relevance": pl.Int64}
    assert found.rows() == [*QRELS_ROWS, ("007", '"7', 1)]


@examples(25)
@given(rows=st.lists(st.tuples(words, words, st.integers(1, 9), finite), min_size=1, max_size=8))
def test_what_polars_writes_is_read_again(folder, rows):
    frame = pl.DataFrame(rows, schema=["user", "item", "rank", "score"], orient="row")
    run = frame.select("user", pl.lit("Q0"), "item", "rank", "score", tag=pl.lit("svd"))
    qrels = frame.select("user", pl.lit(0), "item", "rank")

    for lines, name in ((run, "again.run"), (qrels, "again.qrels")):
        lines.write_csv(folder / name, separator=" ", include_header=False, quote_style="never")

    assert rf.read_trec_run(folder / "again.run").rows() == rows
    assert rf.read_trec_qrels(folder / "again.qrels").rows() == [row[:3] for row in rows]


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="No such file"):
        rf.read_trec_run(tmp_path / "none")
