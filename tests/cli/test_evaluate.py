"""What `recframe evaluate` promises: numbers from files of every kind, and tables that are never cut."""

from __future__ import annotations

import gzip
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from rich.cells import cell_len

import recframe as rf
from shop_files import RECS, TRUTH, TWO, TWO_TRUTH, USERS, evaluate, failure, run, write_tables

TIES = {"user": [1, 1], "item": [10, 11], "score": [0.5, 0.5], "relevance": [0, 1]}
JUDGED = {"user": [1, 1], "item": [1, 2], "rank": [1, None], "relevance": [1, 1]}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that has the tables as Parquet files."""
    monkeypatch.chdir(tmp_path)
    write_tables()
    pl.DataFrame(TIES).write_csv("ties.csv")
    pl.DataFrame(JUDGED).write_csv("judged.csv")
    return tmp_path


def test_the_printed_table_has_the_numbers_of_the_worked_example():
    result = run(
        "evaluate", "recs.parquet", "truth.parquet", "-m", "precision@5,recall@5,mrr,ndcg@5"
    )
    assert result.exit_code == 0
    header, _, row, *_ = result.stdout.splitlines()
    assert header.split() == ["n_users", "precision@5", "recall@5", "mrr", "ndcg@5"]
    # 2 / 5; 2 / 3; 1 / 2; (1/log2(3) + 1/log2(5)) / (1 + 1/log2(3) + 1/2) = 1.061606 / 2.130930
    assert row.split() == ["1", "0.400", "0.667", "0.500", "0.498"]


WRITERS = {
    **dict.fromkeys(("parquet", "pq"), pl.DataFrame.write_parquet),
    **dict.fromkeys(("csv", "CSV"), pl.DataFrame.write_csv),
    **dict.fromkeys(("ndjson", "jsonl"), pl.DataFrame.write_ndjson),
    **dict.fromkeys(("arrow", "ipc", "feather"), pl.DataFrame.write_ipc),
    "tsv": partial(pl.DataFrame.write_csv, separator="\t"),
    "csv.gz": lambda frame, path: Path(path).write_bytes(gzip.compress(frame.write_csv().encode())),
}


@pytest.mark.parametrize("ending", WRITERS)
def test_every_kind_of_file_gives_the_same_numbers(ending):
    for name, frame in {"r": RECS, "t": TRUTH}.items():
        WRITERS[ending](frame, f"{name}.{ending}")
    assert evaluate(f"r.{ending}", f"t.{ending}", "-m", "recall@5")["recall@5"].to_list() == [2 / 3]


def test_a_directory_stands_for_its_parquet_files_and_its_folders_for_columns():
    for model, frame in {"new": TWO, "old": TWO[:1]}.items():
        Path(f"lists/model={model}").mkdir(parents=True)
        frame.write_parquet(f"lists/model={model}/part.parquet")
    Path("lists/README.md").write_text("not a table")
    result = evaluate("lists", "two_truth.parquet", "--model", "model", "-m", "recall@2")
    assert result.rows() == [("new", 3, 0.5), ("old", 3, 1 / 3)]


PAIRS = "two.parquet two_truth.parquet"
SIDES = f"{PAIRS} --users users.parquet --items items.parquet"


@pytest.mark.parametrize(
    ("arguments", "rows"),
    [
        ("judged.csv -m recall@1", [(1, 0.5)]),
        # DE: users 2 and 3, 1/2 and 0
        (f"{SIDES} --by country -m recall@2", [("DE", 2, 0.25), ("FR", 1, 1.0)]),
        # the truth has items of a for user 1 (hit), of b for users 2 (hit) and 3
        (f"{SIDES} --by genre -m hit_rate@2", [("a", 1, 1.0), ("b", 2, 0.5)]),
        (f"{SIDES} --by country,user -m mrr", [("DE", 2, 0.5), ("DE", 3, 0.0), ("FR", 1, 1.0)]),
        (f"{SIDES} --by country --by user -m mrr", [("DE", 2, 0.5), ("DE", 3, 0.0), ("FR", 1, 1.0)]),
        # without user 3: 1 and 1/2
        (f"{PAIRS} -m recall@2 --universe recs", [(2, 0.75)]),
        # relevant are (1, 10) and (2, 40), which is not listed; user 3 has none
        (f"{PAIRS} -m recall@2 --min-relevance 2", [(3, 1 / 3)]),
        (f"{PAIRS} -m recall@2 --min-relevance 2 --no-relevant skip", [(2, 0.5)]),
        # of the lists' own items all relevant ones are found: 1, 1, and nothing for user 3
        (f"{PAIRS} -m recall@2 --relevant-from list", [(3, 2 / 3)]),
        ("ties.csv -m mrr --ties item", [(1, 0.5)]),
        ("ties.csv -m mrr --ties optimistic", [(1, 1.0)]),
        ("ties.csv -m mrr --ties expected", [(1, 0.75)]),
        ("recs.parquet truth.parquet -m recall,mrr@3 -k 2,4 -k 6", [(1, 1 / 3, 2 / 3, 1.0, 0.5)]),
    ],
)  # fmt: skip
def test_segments_policies_and_cutoffs_reach_the_evaluation(arguments, rows):
    assert evaluate(*arguments.split()).rows() == rows


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ("-m ndcg(gain=exp,log_base=3)@5,P@5 -m rr", "ndcg(gain=exp,log_base=3)@5 precision@5 mrr"),
        ("", "ndcg@10 recall@10 precision@10 hit_rate@10 mrr@10 map@10"),
        ("-k 3", "ndcg@3 recall@3 precision@3 hit_rate@3 mrr@3 map@3"),
    ],
)
def test_metrics_are_separated_by_commas_outside_of_brackets_and_have_a_default(arguments, names):
    found = evaluate("recs.parquet", "truth.parquet", *arguments.split())
    assert found.columns == ["n_users", *names.split()]


def test_every_row_of_the_truth_counts_where_that_is_said():
    pl.DataFrame({"user": [1, 1], "item": [10, 11], "rank": [1, 2]}).write_csv("lists.csv")
    pl.DataFrame({"user": [1, 1], "item": [10, 11], "clicked": [0, 1]}).write_csv("seen.csv")
    files = ["lists.csv", "seen.csv", "-m", "mrr"]

    plain = run("evaluate", *files)
    assert (
        "write --columns relevance=clicked, or --columns relevance= if each row counts"
        in plain.stderr
    )
    assert plain.stderr.count("note: ") == 1
    clicked = [*files, "--columns", "relevance=clicked"]
    for options in (["--columns", "relevance="], ["--min-relevance", "any"]):
        assert "note: " not in run("evaluate", *files, *options).stderr
        assert evaluate(*files, *options)["mrr"].item() == 1
    assert evaluate(*clicked)["mrr"].item() == 0.5
    assert evaluate(*clicked, "--min-relevance", "any")["mrr"].item() == 1  # 0 is a relevance


# how it is shown and written


def test_a_number_that_there_is_not_is_an_empty_cell():
    judged = {"user": [1, 2, 3], "item": 1, "rank": [8, 1, None], "relevance": 1}
    pl.DataFrame(judged).write_parquet("judged.parquet")
    lines = run("evaluate", "judged.parquet", "-m", "mrr,first_rank", "--by", "user").stdout
    # 1/8, 1, and no hit: mrr is 0 and first_rank is undefined
    assert lines.splitlines()[2:5] == [
        "   1  0.125       8.000",
        "   2  1.000       1.000",
        "   3  0.000",
    ]


def test_a_long_table_keeps_its_columns_one_under_the_other():
    users = [f"日{number}" for number in range(2000)]
    pl.DataFrame({"user": users, "item": 1, "rank": 1, "relevance": 1}).write_parquet("j.parquet")
    lines = run("evaluate", "j.parquet", "-m", "mrr", "--by", "user").stdout.splitlines()
    assert len(lines) == 2 + 2000
    # a column of 6, as the sign is two wide, a gap of 2 and a number of 5
    assert {cell_len(line) for line in lines[2:]} == {13}


@pytest.mark.parametrize("ending", [".CSV", ".parquet"])
def test_a_written_table_has_full_precision(ending):
    path = f"table{ending}"
    result = run("evaluate", *SIDES.split(), "--by", "country", "-m", "ndcg@2", "-o", path)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", f"wrote {path}\n")
    expected = rf.rec(TWO, truth=TWO_TRUTH, users=USERS).evaluate("ndcg@2", by="country")
    read = pl.read_csv if ending == ".CSV" else pl.read_parquet
    assert_frame_equal(read(path), expected, check_exact=True)


def test_a_result_never_overwrites_an_input():
    before = Path("recs.parquet").read_bytes()
    said = failure("evaluate", "*ecs.parquet", "truth.parquet", "-o", "./recs.parquet")
    why = "it is one of the input files, or in a folder of them"
    assert said == f"cannot write './recs.parquet': {why}"
    assert Path("recs.parquet").read_bytes() == before
    Path("parts[1]").mkdir()
    RECS.write_parquet("parts[1]/a.parquet")
    assert failure("evaluate", "parts[1]", "truth.parquet", "-o", "parts[1]/a.parquet").endswith(
        why
    )


def test_users_weigh_what_a_column_that_is_named_says():
    users = pl.DataFrame({"user": [*USERS["user"]], "revenue": range(1, USERS.height + 1)})
    users.write_parquet("weights.parquet")
    files = ("recs.parquet", "truth.parquet", "-m", "mrr", "--columns", "weight=revenue")
    expected = RECS.rec(truth=TRUTH, users=users, weight="revenue").evaluate("mrr")
    assert_frame_equal(evaluate(*files, "--users", "weights.parquet"), expected)
    assert "--columns weight=revenue names a column of --users FILE" in failure("evaluate", *files)
