"""What stands on stdout: the data alone, as JSON, CSV or Markdown, or a table to look at on a terminal or in a pipe."""

from __future__ import annotations

import io
import json
from pathlib import Path

import click
import polars as pl
import pytest
from click.testing import _NamedTextIOWrapper
from polars.testing import assert_frame_equal

import recframe as rf
from recframe.cli.output import cells_of
from shop_files import TWO, TWO_TRUTH, USERS, failure, run

BY_COUNTRY = (
    *("evaluate", "two.parquet", "two_truth.parquet", "--users", "users.parquet"),
    *("--by", "country", "-m", "ndcg@2,first_rank"),
)
READERS = {
    "json": lambda text: pl.DataFrame(json.loads(text)),
    "ndjson": lambda text: pl.DataFrame([json.loads(line) for line in text.splitlines()]),
    "csv": lambda text: pl.read_csv(io.StringIO(text)),
}


pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("where", [(), ("-o", "-"), ("-o", "result.text")])
def test_a_format_has_the_data_alone_in_full_precision(name, where):
    # user 3 has no hit, and user 2 of the same country has the first one at rank 2
    result = run(*BY_COUNTRY, "--format", name, *where)
    text = Path("result.text").read_text() if "result.text" in where else result.stdout
    expected = rf.rec(TWO, truth=TWO_TRUTH, users=USERS)
    assert_frame_equal(
        READERS[name](text),
        expected.evaluate("ndcg@2", "first_rank", by="country"),
        check_exact=True,
    )


def test_stdout_without_a_format_is_csv():
    assert run(*BY_COUNTRY, "-o", "-").stdout == run(*BY_COUNTRY, "--format", "csv").stdout


def test_notes_do_not_stand_between_the_data():
    pl.concat([TWO, TWO]).with_columns(model=pl.Series(list("aaabbb"))).write_parquet(
        "both.parquet"
    )
    result = run("evaluate", "both.parquet", "two_truth.parquet", "--format", "json")
    assert result.stderr.startswith("note: ")
    assert len(json.loads(result.stdout)) == 1


def test_findings_metrics_and_profiles_have_formats():
    found = json.loads(run("audit", "recs.parquet", "two_truth.parquet", "--format", "json").stdout)
    assert {"check", "severity", "treatment", "remedy"} <= found[0].keys()
    assert json.loads(run("audit", "two.parquet", "two_truth.parquet", "--format", "json").stdout)
    listed = READERS["csv"](run("metrics", "--format", "csv").stdout)
    assert listed["name"].to_list() == rf.list_metrics()["name"].to_list()
    assert json.loads(run("profiles", "--format", "json").stdout) == rf.list_profiles().to_dicts()


def test_values_are_written_as_the_table_to_publish_of_the_call(folder):
    models = {"first": TWO, "next": TWO.with_columns(pl.col("rank") + 1)}
    both = pl.concat(one.with_columns(model=pl.lit(name)) for name, one in models.items())
    both.write_parquet("both.parquet")
    asked = ("both.parquet", "two_truth.parquet", "--model", "model", "-m", "mrr")
    table = rf.rec(both, truth=TWO_TRUTH, model="model").table("mrr")

    assert run("evaluate", *asked, "-o", "t.md").stderr == "wrote t.md\n"
    assert (folder / "t.md").read_text() == str(table)
    assert run("evaluate", *asked, "-o", "t.tex").stderr == "wrote t.tex\n"
    assert (folder / "t.tex").read_text() == table.latex()
    assert run("evaluate", *asked, "-o", "t.html").stderr == "wrote t.html\n"
    # not the same text: each has a random name in it
    assert ">first</td>" in (folder / "t.html").read_text()
    assert failure("summarize", *asked, "-o", "s.tex").startswith("cannot write 's.tex'")
    assert not (folder / "s.tex").exists()


# tables


def test_a_null_is_a_group_and_an_empty_number():
    frame = pl.DataFrame(
        {
            "model": ["a", None], "age": [20, None], "metric": ["mrr", "gini"], "value": [0.25, None],
            "value_low": [0.2, None], "value_high": [0.3, None], "n": [1_000, None], "note": [None, None],
        }
    )  # fmt: skip

    assert [cells[2] for cells in cells_of(frame).values()] == ["null", "", "gini", "", ""]


@pytest.mark.parametrize("command", [("metrics",), ("profiles",)])
def test_a_row_of_a_list_is_a_line_of_a_pipe(command):
    table = {"metrics": rf.list_metrics(), "profiles": rf.list_profiles()}[command[0]]
    result = run(*command, COLUMNS="40")
    lines = result.stdout.splitlines()
    assert len(lines) == 2 + table.height
    assert [line.split()[0] for line in lines[2:]] == table.to_series().to_list()
    assert "\x1b" not in result.stdout
    assert "…" not in result.stdout


@pytest.mark.parametrize(("height", "lines"), [(100, 100), (181, 100)])
def test_a_long_table_is_cut_on_a_terminal_and_nowhere_else(monkeypatch, height, lines):
    judged = {"user": range(height), "item": 1, "rank": 1, "relevance": 1}
    pl.DataFrame(judged).write_parquet("judged.parquet")
    command = ["evaluate", "judged.parquet", "-m", "mrr", "--by", "user"]
    piped = run(*command, FORCE_COLOR="1", TERM="xterm")  # as logs of builds have it
    assert len(piped.stdout.splitlines()) == 2 + height
    assert "\x1b" not in piped.stdout
    monkeypatch.setattr(_NamedTextIOWrapper, "isatty", lambda _: True)
    shown = click.unstyle(run(*command).stdout).splitlines()
    said = ["the first 100 of 181 rows: -o FILE has all"] * (lines < height)
    assert shown[2 + lines :] == said
