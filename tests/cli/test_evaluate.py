"""What `recframe evaluate` promises: numbers from files of every kind, and tables that are never cut."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from rich.cells import cell_len

import recframe as rf
from shop_files import RECS, TRUTH, TWO, TWO_TRUTH, USERS, evaluate, failure, run, write_tables


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that has the tables as Parquet files."""
    monkeypatch.chdir(tmp_path)
    write_tables()
    return tmp_path


def test_the_printed_table_has_the_numbers_of_the_worked_example():
    result = run(
        *[
            "evaluate", "recs.parquet", "truth.parquet", "-m", "precision@5", "-m", "recall@5",
            "-m", "mrr", "-m", "ndcg@5",
        ]
    )  # fmt: skip
    assert result.exit_code == 0
    header, _, row, *_ = result.stdout.splitlines()
    assert header.split() == ["n_users", "precision@5", "recall@5", "mrr", "ndcg@5"]
    # 2 / 5; 2 / 3; 1 / 2; (1/log2(3) + 1/log2(5)) / (1 + 1/log2(3) + 1/2) = 1.061606 / 2.130930
    assert row.split() == ["1", "0.400", "0.667", "0.500", "0.498"]


@pytest.mark.parametrize(
    "ending",
    ["parquet", "pq", "csv", "CSV", "csv.gz", "tsv", "ndjson", "jsonl", "arrow", "ipc", "feather"],
)
def test_every_kind_of_file_gives_the_same_numbers(ending):
    writers = {
        "pq": "parquet", "arrow": "ipc", "feather": "ipc", "jsonl": "ndjson", "tsv": "csv",
        "CSV": "csv",
    }  # fmt: skip
    for name, frame in {"r": RECS, "t": TRUTH}.items():
        path = f"{name}.{ending}"
        if ending == "csv.gz":
            Path(path).write_bytes(gzip.compress(frame.write_csv().encode()))
        else:
            options = {"separator": "\t"} if ending == "tsv" else {}
            getattr(frame, f"write_{writers.get(ending, ending)}")(path, **options)
    assert evaluate(f"r.{ending}", f"t.{ending}", "-m", "recall@5")["recall@5"].to_list() == [2 / 3]


def test_a_directory_stands_for_its_parquet_files_and_its_folders_for_columns():
    for model, frame in {"new": TWO, "old": TWO[:1]}.items():
        Path(f"lists/model={model}").mkdir(parents=True)
        frame.write_parquet(f"lists/model={model}/part.parquet")
    Path("lists/README.md").write_text("not a table")
    result = evaluate("lists", "two_truth.parquet", "--model", "model", "-m", "recall@2")
    assert result.rows() == [("new", 3, 0.5), ("old", 3, 1 / 3)]


def test_one_table_alone_is_a_judged_table():
    pl.DataFrame(
        {"user": [1, 1], "item": [1, 2], "rank": [1, None], "relevance": [1, 1]}
    ).write_csv("judged.csv")
    assert evaluate("judged.csv", "-m", "recall@1")["recall@1"].to_list() == [0.5]


def test_by_takes_columns_of_users_and_of_items():
    users = evaluate(
        *[
            "two.parquet", "two_truth.parquet", "--users", "users.parquet", "--by", "country", "-m",
            "recall@2",
        ]
    )  # fmt: skip
    assert users.rows() == [("DE", 2, 0.25), ("FR", 1, 1.0)]  # DE: users 2 and 3, 1/2 and 0
    items = evaluate(
        *[
            "two.parquet", "two_truth.parquet", "--items", "items.parquet", "--by", "genre", "-m",
            "hit_rate@2",
        ]
    )  # fmt: skip
    # the truth has items of a for user 1 (hit), of b for users 2 (hit) and 3
    assert items.rows() == [("a", 1, 1.0), ("b", 2, 0.5)]


def test_by_is_repeated_or_separated_by_commas():
    files = ["two.parquet", "two_truth.parquet", "--users", "users.parquet", "-m", "mrr"]
    repeated = evaluate(*files, "--by", "country", "--by", "user")
    assert repeated.columns == ["country", "user", "mrr"]
    assert_frame_equal(evaluate(*files, "--by", "country,user"), repeated)


def test_metrics_are_repeated_or_separated_by_commas_outside_of_brackets():
    found = evaluate(
        "recs.parquet", "truth.parquet", "-m", "ndcg(gain=exp,log_base=3)@5,P@5", "-m", "rr"
    )
    assert found.columns == ["n_users", "ndcg(gain=exp,log_base=3)@5", "precision@5", "mrr"]


def test_without_a_metric_there_is_a_default_set_at_ten():
    names = ["ndcg", "recall", "precision", "hit_rate", "mrr", "map"]
    assert evaluate("recs.parquet", "truth.parquet").columns == [
        "n_users",
        *(f"{name}@10" for name in names),
    ]


def test_cutoffs_go_to_the_metrics_without_one():
    found = evaluate(
        "recs.parquet", "truth.parquet", "-m", "recall", "-m", "mrr@3", "-k", "2,4", "-k", "6"
    )
    assert found.columns == ["n_users", "recall@2", "recall@4", "recall@6", "mrr@3"]
    assert found.row(0)[1:4] == (1 / 3, 2 / 3, 1.0)


def test_the_policies_reach_the_evaluation():
    files = ["two.parquet", "two_truth.parquet", "-m", "recall@2"]
    assert evaluate(*files, "--universe", "recs").row(0) == (2, 0.75)  # without user 3: 1 and 1/2
    # relevant are (1, 10) and (2, 40), which is not listed; user 3 has none
    assert evaluate(*files, "--min-relevance", "2").row(0) == (3, 1 / 3)
    assert evaluate(*files, "--min-relevance", "2", "--no-relevant", "skip").row(0) == (2, 0.5)
    # of the lists' own items all relevant ones are found: 1, 1, and nothing for user 3
    assert evaluate(*files, "--relevant-from", "list").row(0) == (3, 2 / 3)


def test_every_row_of_the_truth_counts_where_that_is_said():
    pl.DataFrame({"user": [1, 1], "item": [10, 11], "rank": [1, 2]}).write_csv("lists.csv")
    pl.DataFrame({"user": [1, 1], "item": [10, 11], "clicked": [0, 1]}).write_csv("seen.csv")
    files = ["lists.csv", "seen.csv", "-m", "mrr"]

    plain = run("evaluate", *files)
    assert "write --columns relevance=clicked, or --all-relevant if each row counts" in plain.stderr
    assert plain.stderr.count("note: ") == 1
    clicked = [*files, "--columns", "relevance=clicked"]
    for options in (["--all-relevant"], ["--min-relevance", "any"]):
        assert "note: " not in run("evaluate", *files, *options).stderr
        assert evaluate(*files, *options)["mrr"].item() == 1
    assert evaluate(*clicked)["mrr"].item() == 0.5
    assert evaluate(*clicked, "--min-relevance", "any")["mrr"].item() == 1  # 0 is a relevance
    refused = run("evaluate", *clicked, "--all-relevant")
    assert (refused.exit_code, "--columns relevance=clicked names one" in refused.stderr) == (
        1,
        True,
    )
    wrong = run("evaluate", *files, "--min-relevance", "many")
    assert "--min-relevance 'many': write a number above 0" in wrong.stderr
    own = run("evaluate", *files, "-m", "mrr@3", "-k", "1,2")
    assert own.exit_code == 0
    own = run("evaluate", *files[:2], "-m", "mrr@3", "-k", "1,2")
    assert "-k 1,2 applies to no metric of the call" in own.stderr


def test_the_order_of_ties_reaches_the_evaluation():
    scored = {"user": [1, 1], "item": [10, 11], "score": [0.5, 0.5], "relevance": [0, 1]}
    pl.DataFrame(scored).write_csv("ties.csv")
    wanted = {"item": 0.5, "optimistic": 1.0, "expected": 0.75, "last": 0.5}
    found = {
        ties: evaluate("ties.csv", "-m", "mrr", "--ties", ties)["mrr"].item() for ties in wanted
    }
    assert found == wanted


# how it is shown and written


def test_a_number_that_there_is_not_is_an_empty_cell():
    frame = pl.DataFrame(
        {"user": [1, 2, 3], "item": [1, 1, 1], "rank": [8, 1, None], "relevance": [1, 1, 1]}
    )
    frame.write_parquet("judged.parquet")
    lines = run(
        "evaluate", "judged.parquet", "-m", "mrr,first_rank", "--by", "user"
    ).stdout.splitlines()
    # 1/8, 1, and no hit: mrr is 0 and first_rank is undefined
    assert lines[2:5] == [
        "   1  0.125       8.000",
        "   2  1.000       1.000",
        "   3  0.000",
    ]


def test_a_long_table_keeps_its_columns_one_under_the_other():
    frame = pl.DataFrame(
        {"user": [f"日{number}" for number in range(2000)], "item": 1, "rank": 1, "relevance": 1}
    )
    frame.write_parquet("judged.parquet")
    lines = run("evaluate", "judged.parquet", "-m", "mrr", "--by", "user").stdout.splitlines()
    assert len(lines) == 2 + 2000
    # a column of 6, as the sign is two wide, a gap of 2 and a number of 5
    assert {cell_len(line) for line in lines[2:]} == {13}


@pytest.mark.parametrize(
    ("ending", "read"),
    [
        (".CSV", pl.read_csv),
        (".ndjson", pl.read_ndjson),
        (".parquet", pl.read_parquet),
        (".arrow", lambda path: pl.read_ipc(Path(path).read_bytes())),
    ],
)
def test_a_written_table_has_full_precision(ending, read):
    path = f"table{ending}"
    command = [
        "evaluate", "two.parquet", "two_truth.parquet", "--users", "users.parquet", "--by",
        "country",
    ]  # fmt: skip
    result = run(*command, "-m", "ndcg@2", "-o", path)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", f"wrote {path} (2 rows)\n")
    expected = rf.rec(TWO, truth=TWO_TRUTH, users=USERS).evaluate("ndcg@2", by="country")
    assert_frame_equal(read(path), expected, check_exact=True)


def test_markdown_keeps_a_value_in_its_cell():
    pl.DataFrame(
        {"user": [1, 2], "item": 1, "rank": 1, "relevance": [1, 0], "a|b": ["x|y\nz", None]}
    ).write_parquet("j.parquet")
    text = run("evaluate", "j.parquet", "-m", "mrr", "--by", "a|b", "--format", "md").stdout
    cells = [[cell.strip() for cell in line.strip("|\n").split(" |")] for line in text.splitlines()]
    assert [cells[0], *cells[2:]] == [
        ["a\\|b", "n_users", "mrr"],
        ["x\\|y\\\\nz", "1", "1.000"],
        ["null", "1", "0.000"],
    ]
    assert set(text.splitlines()[1]) <= set("|-: ")


def test_a_result_never_overwrites_an_input():
    before = Path("recs.parquet").read_bytes()
    said = failure("evaluate", "*ecs.parquet", "truth.parquet", "-o", "./recs.parquet")
    assert said == "cannot write './recs.parquet': it is one of the input files"
    assert Path("recs.parquet").read_bytes() == before


def test_users_weigh_what_a_column_that_is_named_says():
    users = pl.DataFrame({"user": [*USERS["user"]], "revenue": range(1, USERS.height + 1)})
    users.write_parquet("weights.parquet")
    files = ("recs.parquet", "truth.parquet", "-m", "mrr", "--columns", "weight=revenue")
    found = run("evaluate", *files, "--users", "weights.parquet", "-o", "found.parquet")
    assert found.exit_code == 0
    expected = RECS.rec(truth=TRUTH, users=users, weight="revenue").evaluate("mrr")
    assert_frame_equal(pl.read_parquet("found.parquet"), expected)
    assert "--columns weight=revenue names a column of --users FILE" in failure("evaluate", *files)
