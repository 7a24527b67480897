"""What summaries, comparisons, gates and the audit promise in a shell: tables to read, and an exit status to build on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from recframe.audit.report import CHECKS, COLUMNS
from recframe.cli.output import cells_of
from recframe.frames import hints
from recframe.frames.hints import InShell
from shop_files import RECS, TRUTH, failure, run, write_tables

N = 100
FILES = ("lists.parquet", "liked.parquet", "--model", "model")


def hits(**shares: float) -> pl.DataFrame:
    """Make lists of one item each: a hit for the first users, as many as a share says."""
    users = pl.int_range(N, eager=True)
    return pl.concat(
        pl.DataFrame(
            {"model": name, "user": users, "item": (users < share * N).cast(pl.Int64), "rank": 1}
        )
        for name, share in shares.items()
    )


LISTS = hits(svd=0.75, pop=0.5)
LIKED = pl.DataFrame({"user": range(N), "item": [1] * N})
PEOPLE = pl.DataFrame({"user": range(N), "country": ["A&B", None] * (N // 2)})
REC = LISTS.rec(truth=LIKED, users=PEOPLE, model="model")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that has the tables."""
    monkeypatch.chdir(tmp_path)
    write_tables()
    LISTS.write_parquet("lists.parquet")
    LIKED.write_parquet("liked.parquet")
    PEOPLE.write_parquet("people.parquet")
    return tmp_path


def table(text: str) -> list[list[str]]:
    """Return the cells of a printed table, its head first."""
    head, _, *rows = [line for line in text.splitlines() if line]
    return [re.split(r"\s{2,}", line.strip()) for line in [head, *rows]]


def test_a_summary_is_a_number_with_its_interval():
    result = run("summarize", *FILES, "-m", "hit_rate@1")

    assert result.exit_code == 0, result.output
    # Wilson's interval of 50 of 100 with the quantile of t and n - 1, worked out in the tests of require
    assert table(result.stdout) == [
        ["model", "metric", "value", "std", "n_users"],
        ["pop", "hit_rate@1", "0.500 [0.402, 0.598]", "0.503", "100"],
        ["svd", "hit_rate@1", "0.750 [0.655, 0.826]", "0.435", "100"],
    ]


def test_cells_are_counts_shares_and_numbers_to_the_digits_of_their_interval():
    frame = pl.DataFrame(
        {
            "age": [2000, None], "wanted": [0.095, 64.2], "p_value": [0.0001, 0.25], "n_users": [2000, 1],
            "value": [0.002, None], "value_low": [-0.0001, None], "value_high": [0.004, None],
        }
    )  # fmt: skip

    assert [cells[1:] for cells in cells_of(frame).values()] == [
        ["2000", ""], ["+9.5%", "65 x"], ["< 0.001", "0.250"], ["2,000", "1"],
        ["0.0020 [-0.0001, 0.0040]", ""],
    ]  # fmt: skip


def test_formats_of_data_have_all_columns_in_full_precision():
    options = ("--by", "country", "--margin", "0.01", "--correction", "none", "--level", "0.9")
    asked = ("compare", *FILES, "-m", "hit_rate@1", "--users", "people.parquet", *options)

    run(*asked, "-o", "result.parquet")
    expected = REC.compare("hit_rate@1", by="country", margin=0.01, correction=None, level=0.9)
    assert_frame_equal(pl.read_parquet("result.parquet"), expected)
    assert json.loads(run(*asked, "--format", "json").stdout) == json.loads(expected.write_json())


# gates


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        ("hit_rate@1 >= 0.3|hit_rate@1 >= 0.99 * pop", 0, "holds 3"),
        ("hit_rate@1 >= 0.7", 1, "fails 1, open 1"),
        ("hit_rate@1 >= 0.5", 0, "holds 1, open 1"),
        ("hit_rate@1 >= 0.5|--strict", 1, "holds 1, open 1"),
        ("hit_rate >= 0.7|-k|1|--models|svd", 0, "open 1"),
        ("hit_rate@1 >= 0.3|--min-users|101", 1, "open 2"),
        ("", 2, "no requirement was given"),
        ("hit_rate@1 >= 0.7 * none", 2, "'none'"),
        ("hit_rate@1 >= 0.9 * last", 2, "without --last 'last' is not a model: the column 'model' has"),
        ("hit_rate@1 >= 0.7|--nothing", 2, "No such option"),
    ],
)  # fmt: skip
def test_the_exit_status_says_whether_a_requirement_fails(asked, status, said):
    result = run("require", *FILES[:2], *filter(None, asked.split("|")), *FILES[2:])

    assert result.exit_code == status, result.output
    assert said in " ".join(result.stderr.split())


def test_a_gate_is_a_table_and_a_line():
    result = run("require", *FILES, "hit_rate@1 >= 0.7", "hit_rate@1 >= 0.2 * pop")

    head, *rows = table(result.stdout)
    assert " ".join(head) == "model requirement state value bound difference p_adjusted n_users"
    assert [row[:5] for row in rows] == [
        ["pop", "hit_rate@1 >= 0.7", "fails", "0.500", "0.700"],
        ["svd", "hit_rate@1 >= 0.7", "open", "0.750", "0.700"],
        ["svd", "hit_rate@1 >= 0.2 * pop", "holds", "0.750", "0.100"],
    ]
    assert result.stderr == "fails 1, holds 1, open 1\n"


@pytest.mark.parametrize("stored", ["last.json", "last.csv", "last.parquet"])
def test_an_earlier_result_is_what_a_later_one_is_compared_with(stored):
    assert run("summarize", *FILES, "-m", "hit_rate@1", "-o", stored).exit_code == 0
    hits(svd=0.7).write_parquet("lists.parquet")
    asked = ("require", *FILES, "hit_rate@1 >= 0.8 * last", "--last", stored)

    assert run(*asked, "-o", "found.parquet").exit_code == 1
    rec = hits(svd=0.7).rec(truth=LIKED, model="model")
    last = REC.summarize("hit_rate@1")
    expected = rec.require("hit_rate@1 >= 0.8 * last", last=last, raises=False)
    assert_frame_equal(pl.read_parquet("found.parquet"), expected)
    # a model that is gone fails
    assert dict(expected.select("model", "state").rows()) == {"pop": "missing", "svd": "open"}
    assert run(*asked, "-o", stored).exit_code == 2


def test_lists_alone_and_a_reference_are_judged_too():
    hits(svd=0.5).drop("model").write_parquet("other.parquet")
    result = run("require", *FILES, "overlap@1 >= 0.5", "--reference", "other.parquet")
    # svd has another item for a quarter of the users
    assert [row[3][:6] for row in table(result.stdout)[1:]] == ["1.000", "0.750"]
    LISTS.with_columns(relevance=pl.lit(1)).write_parquet("judged.parquet")
    alone = run("require", "judged.parquet", "hit_rate@1 >= 0.5", *FILES[2:])
    assert (alone.exit_code, alone.stderr) == (0, "holds 2\n")
    wrong = run("require", *FILES[:2], "hit_rate@1 >= 0.9 * last")
    said = "needs a column of models: --model model; or an earlier result: --last FILE\n"
    assert (wrong.exit_code, wrong.stderr.endswith(said)) == (2, True)


# the audit


@pytest.mark.parametrize(("shift", "code"), [(1, 1), (0, 0)])
def test_an_error_of_the_audit_is_told_with_its_remedy_and_exits_with_one(shift, code):
    RECS.with_columns(pl.col("rank") - shift).write_parquet("recs.parquet")

    result = run("audit", "recs.parquet", "truth.parquet", "-k", "6")
    assert result.exit_code == code
    if code:
        header, _, row, *_ = result.stdout.splitlines()
        assert header.split() == ["check", "severity", "frame", "rows", "users", "example"]
        assert row.split()[:5] == ["rank_below_1", "error", "recommendations", "1", "1"]
        assert "\nrank_below_1: a metric raises. To mend: ranks start at 1: if " in result.stdout
    else:
        assert result.stdout == "nothing odd was found\n"
    written = run("audit", "recs.parquet", "truth.parquet", "-k", "6", "-o", "findings.csv")
    assert (written.exit_code, written.stdout) == (code, "")
    assert pl.read_csv("findings.csv").columns == list(COLUMNS)
    assert written.stderr == "wrote findings.csv\n"


def test_findings_are_those_of_python_and_warnings_alone_exit_with_zero():
    pl.DataFrame({"user": [1], "item": ["B"]}).write_parquet("train.parquet")
    pl.DataFrame({"item": [*"ABCDE"]}).write_parquet("items.parquet")
    sides = ("--train", "train.parquet", "--items", "items.parquet", "-k", "7")
    result = run("audit", "recs.parquet", "truth.parquet", *sides, "--format", "json")

    assert result.exit_code == 0
    train, items = pl.read_parquet("train.parquet"), pl.read_parquet("items.parquet")
    expected = RECS.rec(TRUTH, train=train, items=items).audit(k=7)
    found = json.loads(result.stdout)
    assert [one["check"] for one in found] == expected["check"].to_list()
    assert {"short_lists", "recommended_in_train", "unknown_items"} <= {*expected["check"]}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_a_remedy_has_none_of_the_words_of_python(check):
    with hints.in_words(InShell({"recs": "recs.parquet"})):
        remedy = str(check.remedy)
    assert not re.search(r"\brec\(|\bframe\b|\b(by|ties|users|items)=|\.unique", remedy)


def test_ids_of_files_that_disagree_are_a_finding_and_a_missing_column_is_an_error():
    TRUTH.with_columns(item=pl.Series([1, 2, 3])).write_parquet("numbers.parquet")
    result = run("audit", "recs.parquet", "numbers.parquet")

    said = "String in 'recs.parquet', Int64 in 'numbers.parquet'; cast them to one dtype, so that they can match"
    assert result.exit_code == 1
    assert "id_dtypes" in result.stdout
    assert said in result.stdout
    TRUTH.select("user").write_parquet("users_only.parquet")
    said = failure("audit", "recs.parquet", "truth.parquet", "--train", "users_only.parquet")
    assert said.startswith(
        "'users_only.parquet' has no column 'item'. It has 'user'. Name the column of the item: --columns item=NAME"
    )
