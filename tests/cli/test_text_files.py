"""Files without a header, with another separator, in JSON, and of TREC's tools give the numbers of the same rows in Parquet."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

import recframe as rf
from shop_files import TWO, TWO_TRUTH, evaluate, failure, run, write_tables

GAIN = 1.0
"""dcg@1 of the two lists: user 1 has gain 3 at rank 1, users 2 and 3 have none: 3 / 3."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that has the tables as Parquet files."""
    monkeypatch.chdir(tmp_path)
    write_tables()
    return tmp_path


def gain(*arguments: str) -> float:
    return float(evaluate(*arguments, "-m", "dcg@1")["dcg@1"].item())


def bare(frame: pl.DataFrame, path: str, separator: str = ",") -> None:
    frame.write_csv(path, include_header=False, separator=separator)


def test_a_separator_is_for_all_text_files_or_for_one():
    TWO.write_csv("recs.csv", separator=";")
    TWO_TRUTH.write_csv("truth.csv", separator=";")
    TWO_TRUTH.write_csv("truth.tsv", separator="\t")
    assert gain("recs.csv", "truth.csv", "--separator", ";") == GAIN
    assert gain("recs.csv", "truth.csv", "--separator", "semicolon") == GAIN
    assert gain("recs.csv", "truth.tsv", "--separator", "recs=;") == GAIN
    assert gain("recs.csv", "truth.tsv", "--separator", ";", "--separator", "truth=tab") == GAIN


def lists_in_text() -> None:
    """Write two users' lists and what they liked, each in a text; items are numbers to a reader."""
    recs = pl.DataFrame({"user": [1, 2], "model": ["m", "m"], "items": ["5 6", "7"]})
    recs.write_csv("lists.csv")
    pl.DataFrame({"user": [1, 2], "items": ["6", "7"]}).write_csv("liked.csv")
    pl.DataFrame({"user": [1, 2], "item": [6, 7]}).write_csv("long.csv")


@pytest.mark.parametrize(
    "arguments",
    [
        ("liked.csv", "--lists-separator", " "),
        ("liked.csv", "--lists-separator", "space"),
        ("long.csv", "--lists-separator", " "),
        ("long.csv", "--lists-separator", "recs= "),
        ("liked.csv", "--lists-separator", " ", "--model", "model"),
    ],
)
def test_lists_in_text_are_cut_by_their_own_separator(arguments):
    lists_in_text()

    # 6 stands second in the first list, 7 first in the second: (1/2 + 1) / 2
    assert evaluate("lists.csv", *arguments, "-m", "mrr")["mrr"].item() == 0.75


def test_a_truth_of_lists_stands_beside_lists_with_ranks():
    lists_in_text()
    ranked = pl.DataFrame({"user": [1, 1, 2], "item": ["5", "6", "7"], "rank": [1, 2, 1]})
    ranked.write_parquet("ranked.parquet")

    found = evaluate("ranked.parquet", "liked.csv", "--lists-separator", "truth= ", "-m", "mrr")

    assert found["mrr"].item() == 0.75
    said = failure("evaluate", "ranked.parquet", "liked.csv", "--lists-separator", " ")
    assert "'ranked.parquet' has a rank 'rank' in each row" in said
    assert "--lists-separator truth=' '" in said


@pytest.mark.parametrize(
    ("mark", "words"),
    [("users= ", "one of the files recs, truth, reference, train"), ("", "write the text between two ids")],
)  # fmt: skip
def test_a_separator_of_lists_that_cannot_be_one_is_told(mark, words):
    lists_in_text()

    found = run("evaluate", "lists.csv", "liked.csv", "--lists-separator", mark, "-m", "mrr")

    assert words in " ".join(found.stderr.split())


def test_a_mark_that_no_text_of_the_lists_has_is_noted():
    lists_in_text()

    said = run("evaluate", "lists.csv", "long.csv", "--lists-separator", "|", "-m", "mrr").stderr

    assert "note: no text of the column 'items' has '|' in it, so each list has one item" in said
    assert said.count("note: ") == 1
    assert "; --lists-separator takes the text between two ids" in said


def test_text_without_an_order_may_be_lists():
    lists_in_text()

    said = failure("evaluate", "lists.csv", "long.csv", "-m", "mrr")

    assert said.startswith("'lists.csv' has no column 'rank'. It has 'user', 'model', 'items'.")
    assert said.endswith("say what separates its ids: --lists-separator ' '")


def test_a_header_is_for_all_text_files_or_for_one():
    bare(TWO, "recs.csv")
    bare(TWO_TRUTH, "truth.csv")
    TWO_TRUTH.write_csv("headed.csv")
    names = ("--header", "recs=user,item,rank")
    assert gain("recs.csv", "headed.csv", *names) == GAIN
    assert gain("recs.csv", "two_truth.parquet", "--header", "user,item,rank") == GAIN
    assert gain("recs.csv", "truth.csv", *names, "--header", "user,item,relevance") == GAIN
    assert gain("recs.csv", "truth.csv", *names, "--header", "truth=user,item,relevance") == GAIN


def test_a_header_leaves_out_columns_without_a_name_and_those_behind_its_last():
    wide = TWO_TRUTH.select("user", "item", time=pl.lit(9), relevance="relevance", seen=pl.lit("x"))
    bare(wide, "u1.test", "\t")
    options = ("--separator", "tab", "--header", "user,item,,relevance")
    assert gain("two.parquet", "u1.test", *options) == GAIN


def test_ids_of_files_without_a_header_are_read_as_text_as_they_stand():
    bare(TWO.with_columns(item=pl.format("0{}", "item")), "recs.csv")
    TWO_TRUTH.with_columns(pl.format("0{}", "item").alias("item")).write_parquet("truth.parquet")
    command = ("recs.csv", "truth.parquet", "--header", "user,item,rank")
    assert gain(*command) == GAIN


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            "",
            (
                "'recs.csv' seems to have no header line, as its first line is '1, 10, 1'; "
                "name its columns: --header user,item,rank"
            ),
        ),
        ("--header user,item,rank,score",
         "'recs.csv' has 3 columns with ',' between, but --header names 4: user, item, rank, score"),
        ("--header user,item,rank --separator ;",
         "'recs.csv' has 1 column with ';' between, but --header names 3: user, item, rank; write --separator ','"),
    ],
)  # fmt: skip
def test_a_file_without_a_header_says_what_to_write(options, said):
    bare(TWO, "recs.csv")
    assert failure("evaluate", "recs.csv", "two_truth.parquet", *options.split()) == said


def test_a_header_of_a_file_that_has_one_is_one_line():
    bare(TWO, "recs.csv")
    TWO_TRUTH.write_csv("truth.csv")
    assert failure("evaluate", "recs.csv", "truth.csv", "--header", "user,item,rank") == (
        "'truth.csv' has a header line, 'user,item,relevance'; leave out --header, or say which file "
        "has none: --header recs=user,item,rank"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--separator ::", "'::' is not one character; write one, such as ';', or a word: tab,"),
        ("--header usr=a,b", "unknown file 'usr'; did you mean 'users'?"),
        ("--header user,item,user", "'user,item,user' names no column, or one twice"),
    ],
)
def test_a_mistake_in_what_text_is_like_is_exit_code_two(options, said):
    result = run("evaluate", "two.parquet", "two_truth.parquet", *options.split())
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--header truth=a,b", "--header is for text files, such as .csv; none is: 'two_truth.parquet'"),
        ("--separator ;", "--separator is for text files, such as .csv; none is: 'two.parquet', "),
        ("--header items=a,b", "--header items=...: there is no file ITEMS in the command"),
    ],
)  # fmt: skip
def test_what_is_for_text_files_alone_says_so(options, said):
    assert failure("evaluate", "two.parquet", "two_truth.parquet", *options.split()).startswith(
        said
    )


# TREC files


def write_trec() -> None:
    rf.write_trec_run(TWO, "two.run", tag="two")
    rf.write_trec_qrels(TWO_TRUTH, "two.qrels")


@pytest.mark.parametrize("endings", ["run qrels", "run.gz qrel.gz", "RUN.gz qrels"])
def test_runs_and_qrels_are_known_by_their_endings(endings):
    write_trec()
    run_ending, qrels_ending = endings.split()
    for name, path in {"two.run": f"a.{run_ending}", "two.qrels": f"b.{qrels_ending}"}.items():
        content = Path(name).read_bytes()
        Path(path).write_bytes(gzip.compress(content) if path.endswith(".gz") else content)
    assert gain(f"a.{run_ending}", f"b.{qrels_ending}") == GAIN


def test_a_run_matches_text_files_with_numbers():
    write_trec()
    TWO_TRUTH.write_csv("truth.csv")
    assert gain("two.run", "truth.csv") == GAIN
    assert failure("evaluate", "two.run", "two_truth.parquet") == (
        "the user ids have different dtypes: String in 'two.run', Int64 in 'two_truth.parquet'; "
        "cast them to one dtype, so that they can match"
    )


def test_several_runs_are_models_by_the_names_of_their_files():
    write_trec()
    rf.write_trec_run(TWO.with_columns(pl.col("item") + 1), "one.run")
    found = evaluate("*.run", "two.qrels", "--model", "model", "-m", "dcg@1")
    assert found.rows() == [("one", 3, 0.0), ("two", 3, GAIN)]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [("a.run", "1 0 10 3\n", "line 1 of 'a.run' is '1 0 10 3', and a line has 6 fields")],
)
def test_a_trec_file_that_is_none_is_one_line(name, content, said):
    Path(name).write_text(content)
    write_trec()
    assert said in failure("evaluate", name, "two.qrels")


# JSON


@pytest.mark.parametrize("packed", [False, True])
def test_json_is_a_list_of_rows_or_one_in_each_line(packed):
    lines = "\n".join(map(json.dumps, TWO_TRUTH.to_dicts()))
    for name, text in {"a.json": json.dumps(TWO.to_dicts(), indent=1), "b.json": lines}.items():
        path = Path(f"{name}.gz" if packed else name)
        path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    end = ".gz" if packed else ""
    assert gain(f"a.json{end}", f"b.json{end}") == GAIN


def test_json_of_columns_says_what_pandas_writes():
    Path("a.json").write_text(TWO.to_pandas().to_json())
    said = failure("evaluate", "a.json", "two_truth.parquet")
    assert said.startswith("cannot read 'a.json': it is no list of rows such as [{")
    assert said.endswith("to_json(orient='records')")


TWICE = ["user,item,rank,item", "1,5,1,6"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("twice.csv", "\n".join(TWICE)),
        ("twice.tsv", "\n".join(TWICE).replace(",", "\t")),
        ("twice.csv", '\ufeff\n\n"user","item",rank,"item"\n1,5,1,6'),
        ("twice.csv.gz", "\n".join(TWICE)),
    ],
)
def test_two_columns_of_one_name_are_an_error(path, text):
    content = text.encode()
    Path(path).write_bytes(gzip.compress(content) if path.endswith(".gz") else content)
    told = failure("evaluate", path, "truth.parquet")
    assert told.startswith(f"'{path}' has two columns named 'item'; drop or rename one of them.")


@pytest.mark.parametrize(
    "head", ["user,item,rank,x_duplicated_0", "user,item,rank,", "user,item,rank,,"]
)
def test_a_name_that_looks_like_a_second_one_and_columns_without_a_name_are_read(head):
    row = ",".join(["1", "A", "1", "9", "9"][: head.count(",") + 1])
    Path("named.csv").write_text(f"{head}\n{row}\n")
    assert gain("named.csv", "truth.parquet") == 1.0
