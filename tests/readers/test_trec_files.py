"""TREC runs and qrels: what is written is read, what is read is what trec_eval reads, and lines that are none are named."""

from __future__ import annotations

import gzip

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe as rf
from frame_kinds import KINDS
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


@pytest.mark.parametrize(
    "text",
    [
        RUN,
        RUN.replace(" ", "\t"),
        RUN.replace(" ", "  ").replace("\n", " \r\n"),
        "\n" + RUN.replace("\n", "\n\n").replace("q1", " q1"),
        RUN.rstrip(),
    ],
    ids=["spaces", "tabs", "several and CRLF", "blank lines", "no end"],
)
@pytest.mark.parametrize("ending", ["run", "gz"])
def test_a_run_is_read_whatever_stands_between_its_fields(tmp_path, text, ending):
    path = tmp_path / f"a[1]*.{ending}"
    path.write_bytes(gzip.compress(text.encode()) if ending == "gz" else text.encode())

    found = rf.read_trec_run(path)

    assert found.schema == {
        "user": pl.String,
        "item": pl.String,
        "rank": pl.Int64,
        "score": pl.Float64,
    }
    assert (
        found.rows()
        == rf.read_trec_run(str(path)).rows()
        == rf.scan_trec_run(path).collect().rows()
        == RUN_ROWS
    )


def test_qrels_are_read_and_ids_stay_text(tmp_path):
    (tmp_path / "a.qrels").write_text(QRELS + '007 0 "7 1\n')

    found = rf.read_trec_qrels(tmp_path / "a.qrels")

    assert found.schema == {"user": pl.String, "item": pl.String, "relevance": pl.Int64}
    assert (
        found.rows()
        == rf.scan_trec_qrels(tmp_path / "a.qrels").collect().rows()
        == [*QRELS_ROWS, ("007", '"7', 1)]
    )


@examples(25)
@given(rows=st.lists(st.tuples(words, words, st.integers(1, 9), finite), min_size=1, max_size=8))
def test_a_run_that_is_written_is_read_again(folder, rows):
    frame = pl.DataFrame(rows, schema=["user", "item", "rank", "score"], orient="row")

    for path in (folder / "again.run", folder / "again.run.gz"):
        rf.write_trec_run(frame, path, tag="svd")
        assert rf.read_trec_run(path).rows() == sorted(
            rows, key=lambda row: (row[0].encode(), row[2])
        )


@examples(25)
@given(rows=st.lists(st.tuples(words, words, st.integers(-(2**40), 2**40)), min_size=1, max_size=8))
def test_qrels_that_are_written_are_read_again(folder, rows):
    frame = pl.DataFrame(rows, schema=["user", "item", "relevance"], orient="row")

    rf.write_trec_qrels(frame, folder / "again.qrels")

    assert rf.read_trec_qrels(folder / "again.qrels").rows() == rows


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_every_kind_of_frame_is_written(tmp_path, kind):
    recs = pl.DataFrame(
        {"person": [2, 1, 1, 1], "item": ["a", "b", "a", "c"], "rank": [1, 2, 1, None]}
    )
    truth = pl.DataFrame({"user": [1, 1], "item": ["a", "b"], "relevance": [2.0, None]})

    rf.write_trec_run(kind(recs), tmp_path / "a.run", user="person")
    rf.write_trec_qrels(kind(truth), tmp_path / "a.qrels")
    rf.write_trec_qrels(kind(truth.drop("relevance")), tmp_path / "b.qrels")

    # Without scores the rank counts down; the row without a rank was judged and never recommended.
    assert (tmp_path / "a.run").read_text().splitlines() == [
        "1 Q0 a 1 -1 recframe",
        "1 Q0 b 2 -2 recframe",
        "2 Q0 a 1 -1 recframe",
    ]
    assert (tmp_path / "a.qrels").read_text() == "1 0 a 2\n"
    assert (tmp_path / "b.qrels").read_text() == "1 0 a 1\n1 0 b 1\n"


def test_ranks_of_a_run_without_any_come_from_the_scores_equal_ones_by_item(tmp_path):
    recs = pl.DataFrame({"user": [1] * 4, "item": [10, 9, 8, 7], "score": [0.5, 0.5, 0.25, 0.75]})

    rf.write_trec_run(recs, tmp_path / "a.run")

    assert rf.read_trec_run(tmp_path / "a.run")["item"].to_list() == ["7", "9", "10", "8"]


@examples(30)
@given(
    scores=st.lists(st.lists(st.sampled_from([1.0, 0.5, 0.5, 0.25]), min_size=1, max_size=8), min_size=1, max_size=4),
    grades=st.lists(st.integers(0, 3), min_size=8, max_size=8),
)  # fmt: skip
def test_what_is_read_has_the_numbers_of_trec_eval_with_ties_too(folder, scores, grades):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rows = [
        (f"q{user}", f"d{item}", item + 1, one)
        for user, held in enumerate(scores)
        for item, one in enumerate(held)
    ]
    judged = [
        (f"q{user}", f"d{item}", grade)
        for user in range(len(scores))
        for item, grade in enumerate(grades)
    ]
    rf.write_trec_run(
        pl.DataFrame(rows, schema=["user", "item", "rank", "score"], orient="row"),
        folder / "tied.run",
    )
    rf.write_trec_qrels(
        pl.DataFrame(judged, schema=["user", "item", "relevance"], orient="row"),
        folder / "tied.qrels",
    )
    with (folder / "tied.run").open() as run, (folder / "tied.qrels").open() as qrels:
        parsed = pytrec_eval.parse_run(run), pytrec_eval.parse_qrel(qrels)
    theirs = pytrec_eval.RelevanceEvaluator(
        parsed[1], {"ndcg_cut_3", "recip_rank", "map"}
    ).evaluate(parsed[0])

    rec = rf.read_trec_run(folder / "tied.run").rec(
        truth=rf.read_trec_qrels(folder / "tied.qrels"), score="score"
    )
    ours = rec(profile="trec_eval").evaluate("ndcg@3", "mrr", "map", by="user")

    for user, ndcg, mrr, average in ours.rows():
        assert (ndcg, mrr, average) == pytest.approx(
            tuple(theirs[user][name] for name in ("ndcg_cut_3", "recip_rank", "map")), abs=1e-9
        )
    assert len(ours) == len(scores)


@pytest.mark.parametrize(
    ("read", "line", "words"),
    [
        (rf.read_trec_run, "q1 Q0 d1 1 2.5",
         "a line has 6 fields: topic Q0 document rank score tag; rank and relevance are whole numbers"),
        (rf.read_trec_run, "q1 Q0 d1 first 2.5 svd",
         ".*: topic Q0 document rank score tag; .* whole numbers, the score a number"),
        (rf.read_trec_qrels, "q1 d1 1",
         "a line has 4 fields: topic iteration document relevance; rank and relevance are whole"),
        (rf.read_trec_qrels, "q1 0 d1 0.5", ".*rank and relevance are whole numbers"),
    ],
)  # fmt: skip
def test_a_line_that_is_none_is_named_with_its_number(tmp_path, read, line, words):
    good = RUN if read is rf.read_trec_run else QRELS
    path = tmp_path / "a.txt"
    path.write_text(f"\n{good}{line}\n")
    scan = rf.scan_trec_run if read is rf.read_trec_run else rf.scan_trec_qrels

    with pytest.raises(rf.DataError, match=f"line 5 of '.*a.txt' is '{line}', and {words}"):
        read(path)
    with pytest.raises(pl.exceptions.PolarsError, match="line 5 of"):
        scan(path).select("user").collect()


def frame(**columns):
    return pl.DataFrame({"user": ["q"], "item": ["d"], "rank": [1], **columns})
