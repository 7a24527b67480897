"""What the command line says: notes, errors of one line, and the pages of metrics, profiles and differences."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pytest

import recframe as rf
from recframe.cli.commands import main
from recframe.cli.options import Command, clauses_of, options_of
from shop_files import RECS, TWO, evaluate, failure, run, shell, write_tables


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that has the tables as Parquet files."""
    monkeypatch.chdir(tmp_path)
    write_tables()
    return tmp_path


def test_models_that_are_put_together_are_noted():
    named = [RECS.with_columns(model=pl.lit(name)) for name in "ab"]
    pl.concat(named).write_parquet("models.parquet")
    result = run("evaluate", "models.parquet", "truth.parquet")
    assert result.exit_code == 0
    assert re.fullmatch(
        "note: pooled_models: .* names systems, write --model model\n", result.stderr
    )
    assert run("evaluate", "models.parquet", "truth.parquet", "--model", "model").stderr == ""
    named[0].write_parquet("model.parquet")  # one system, and so no mistake
    assert run("evaluate", "model.parquet", "truth.parquet").stderr == ""


def test_a_truth_with_ranks_is_noted():
    RECS.write_parquet("more.parquet")
    assert run("evaluate", "recs.parquet", "more.parquet").stderr == (
        "note: TRUTH has ranks, as lists have; "
        "if it comes from a pattern, quote it: 'recs/*.parquet'\n"
    )


def test_one_file_that_is_given_twice_is_noted():
    said = run("evaluate", "recs.parquet", "recs.parquet").stderr
    assert said.startswith("note: truth_is_the_lists: ")
    assert said.count("note: ") == 1


def test_lists_of_one_segment_are_noted_in_words_of_the_shell():
    TWO.head(1).write_parquet("first.parquet")  # two of the three users have no list
    said = run("evaluate", "first.parquet", "two_truth.parquet").stderr
    assert said.startswith("note: users_without_lists: ")
    assert said.endswith("or leave the user out: --universe both\n")


# what goes wrong


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("rec.parquet truth.parquet", "there is no file 'rec.parquet'; did you mean 'recs.parquet'?"),
        ("recs.parquet away/truth.csv", "there is no file 'away/truth.csv'; there is no directory 'away'"),
        ("recs.parquet truth.parquet -m ndgc@10", "unknown metric 'ndgc@10'; did you mean 'ndcg@10'?"),
        ("recs.parquet truth.parquet --min-relevance 0",
         "--min-relevance 0: write a number above 0; rows with at least this relevance are relevant"),
        (
            "recs.parquet truth.parquet -o table.xlsx",
            (
                "cannot write 'table.xlsx': its ending is '.xlsx'; "
                "known are .csv, .tsv, .json, .ndjson, .md, .parquet, .arrow, .tex, .html"
            ),
        ),
        ("recs.parquet truth.parquet -o away/table.md", "cannot write 'away/table.md': there is no directory 'away'"),
    ],
)  # fmt: skip
def test_an_error_is_one_line_that_says_what_to_do(arguments, said):
    assert failure("evaluate", *arguments.split()) == said


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ("recs.parquet truth.parquet --columns item=movie",
         ["'recs.parquet' has no column 'movie'", "--columns item=NAME"]),
        ("recs.parquet truth.parquet --model system", ["'recs.parquet' has no column 'system'", "--model COLUMN"]),
        ("recs.parquet",
         ["'recs.parquet' has no column 'relevance'", "--columns relevance=NAME", "give the truth as a second file"]),
        (
            "two.parquet two_truth.parquet --users users.parquet --by county",
            [
                "--by 'county' is not a column of 'two.parquet', 'two_truth.parquet', 'users.parquet'",
                "did you mean 'country'?",
            ],
        ),
        ("two.parquet two_truth.parquet --by item,rank", ["--by 'rank' is the rank, whose values are not segments"]),
        ("two.parquet two_truth.parquet --users truth.parquet",
         ["'truth.parquet' has a user twice; it takes one row for each"]),
    ],
)  # fmt: skip
def test_an_error_names_the_files_and_the_options(arguments, parts):
    said = failure("evaluate", *arguments.split())
    assert [part for part in parts if part not in said] == []
    assert "rec(" not in said
    assert "the frame" not in said


def test_ranks_that_begin_at_zero_are_an_error_of_the_data():
    RECS.with_columns(pl.col("rank") - 1).write_csv("zero.csv")
    said = failure("evaluate", "zero.csv", "truth.parquet")
    assert (
        said
        == "a rank is below 1, but ranks start at 1; if they count from 0, add 1 to them in the file"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("evaluate", "Missing argument 'RECS'"),
        ("evaluate recs.parquet truth.parquet --columns usr=x", "'usr=x' is not [FILE=]ROLE=NAME; write for example user="),
        ("evaluate recs.parquet truth.parquet --columns user", "'user' is not [FILE=]ROLE=NAME; write for example user="),
        ("evaluate recs.parquet truth.parquet -k x", "'x' is not N; write for example 5,10"),
        ("summarize recs.parquet truth.parquet --level x", "'x' is not a valid float"),
        ("evaluate recs.parquet truth.parquet --universe world", "'world' is not one of"),
        ("evaluate a.parquet b.parquet c.parquet", "unexpected extra argument (c.parquet)"),
        ("evalute", "No such command 'evalute'"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_options_is_exit_code_two(arguments, said):
    result = run(*arguments.split())
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


# the list of metrics


def test_a_profile_gives_the_numbers_of_its_library():
    # user 1 has 1 hit in a list of one, user 2 one in a list of two; user 3 has no list
    found = evaluate(
        "two.parquet", "two_truth.parquet", "-m", "precision", "-k", "4", "--profile", "jurity"
    )
    assert found.row(0) == (2, 0.75)
    rounded = evaluate("two.parquet", "two_truth.parquet", "-m", "precision@4", "--decimals", "2")
    assert rounded.row(0) == (3, 0.17)


def test_an_unknown_profile_is_one_line():
    close = "'recbol'; did you mean 'recbole'?"
    files = ("two.parquet", "two_truth.parquet")
    assert failure("evaluate", *files, "--profile", "recbol") == f"unknown profile {close}"


def test_a_metric_and_a_difference_are_explained():
    assert run("explain", "map@10").stdout == f"{rf.explain('map@10')}\n"
    assert (
        run("explain", "map@10", "ranx", "recbole").stdout
        == f"{rf.explain('map@10', 'ranx', 'recbole')}\n"
    )


def test_an_unknown_metric_is_one_line():
    assert failure("explain", "ndgc") == "unknown metric 'ndgc'; did you mean 'ndcg'?"


# as a program


def test_the_program_has_its_exit_code_and_no_traceback():
    bad = shell("-m", "recframe", "evaluate", "recs.parquet", "truth.csv")
    assert (bad.returncode, bad.stderr) == (
        1,
        "error: there is no file 'truth.csv'\n",
    )


@pytest.mark.slow
def test_an_encoding_without_the_signs_of_a_table_is_no_error():
    result = shell("-m", "recframe", "metrics", PYTHONIOENCODING="ascii")
    assert (result.returncode, result.stderr) == (0, "")
    assert "hit_rate" in result.stdout


@pytest.mark.parametrize("missing", ["click", pytest.param("rich", marks=pytest.mark.slow)])
def test_without_the_extra_the_command_says_how_to_install_it(missing):
    result = shell(
        "-c", f"import sys; sys.modules[{missing!r}] = None; from recframe.cli import main; main()"
    )
    assert (result.returncode, result.stderr) == (
        1,
        f"error: the command line needs {missing}: pip install 'recframe[cli]'\n",
    )


# help

METHODS = [
    "evaluate",
    "summarize",
    "compare",
    "power",
    "gaps",
    "slices",
    "audit",
    "track",
    "report",
    "require",
]
UNNAMED = {"self", "tidy", "raises", "requirements", "k"}
"""Arguments of methods that are no options everywhere: arguments, and cut-offs of requirements."""


@pytest.mark.parametrize("name", METHODS)
def test_a_command_is_a_method_an_option_its_parameter_and_its_help_a_clause(name):
    method = getattr(rf.Rec, name)
    options = {one.name: one for one in main.commands[name].params}
    parameters = inspect.signature(method).parameters

    assert parameters.keys() - UNNAMED <= options.keys()
    for parameter, clause in clauses_of(method).items():
        if parameter in parameters and parameter in options and parameter != "last":
            assert options[parameter].help == f"{clause[0].upper()}{clause[1:]}."


Per = Literal["user", "log"]


def test_values_of_options_follow_from_annotations_and_defaults():
    def rule(  # noqa: PLR0913  kinds of options
        n: int, share: float = 0.5, per: Per | None = "user", *, by: str | Sequence[str] | None = None,
        at: Any = None, plain: bool = False, tags: Mapping[str, object] | None = None,
    ) -> None: ...  # fmt: skip

    words = "--n 3 --per none --by a,b --by c --at 7 --plain --tag x=y"
    context = Command("rule", params=options_of(rule)).make_context("rule", words.split())

    found = {
        "n": 3,
        "share": 0.5,
        "per": None,
        "by": ["a", "b", "c"],
        "at": 7,
        "plain": True,
        "tags": {"x": "y"},
    }
    assert context.params == found


@pytest.mark.parametrize(
    "words",
    [[name] for name in main.commands]
    + [["split", name] for name in main.commands["split"].commands],
)
def test_help_is_short_and_says_where_all_of_it_is(words):
    shown = run(*words, "--help", COLUMNS="80").stdout

    assert len(shown.splitlines()) <= 60
    assert max(map(len, shown.splitlines())) <= 80
    if words[0] not in {"split", "demo"}:
        assert f"recframe {words[0]} " in shown.partition("Examples:")[2]
    if "Files (--help-all" in shown:
        everything = " ".join(run(*words, "--help-all", COLUMNS="80").stdout.split())
        assert "The names of columns, where they differ from the" not in shown
        assert "The names of columns, where they differ from the" in everything
        assert {*re.findall(r" (--[a-z-]+)", shown)} <= {*re.findall(r" (--[a-z-]+)", everything)}
