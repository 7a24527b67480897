"""What `recframe summarize`, `compare` and `require` promise: tables that one reads, and an exit status to build on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from recframe.cli.tables import cells_of
from shop_files import run

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


def test_shares_are_in_per_cent_and_large_ones_multiples():
    shares = {"metric": "mrr", "wanted": [0.01, 0.095, 64.2, None], "note": None}

    shown = cells_of(pl.DataFrame(shares))

    assert shown["wanted"] == ["+1.0%", "+9.5%", "65 x", ""]


def test_a_comparison_says_what_it_shows():
    result = run("compare", *FILES, "--baseline", "pop", "-m", "hit_rate@1")

    found = REC.compare("hit_rate@1", baseline="pop").row(0, named=True)
    head, row = table(result.stdout)
    assert head == [
        *("model", "baseline", "metric", "verdict", "value", "baseline_value", "relative"),
        *("p_value", "p_adjusted", "n_users", "difference"),
    ]
    # 25 of 100 users are hit by svd alone: 1/4, and half of the baseline
    # half of its interval is 0.09 wide, of which three decimals show two digits
    ends = f"[{found['difference_low']:.3f}, {found['difference_high']:.3f}]"
    assert row == [
        *("svd", "pop", "hit_rate@1", "better", "0.750", "0.500", "+50.0%"),
        *("< 0.001", "< 0.001", "100", f"0.250 {ends}"),
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("summarize",), REC.summarize("hit_rate@1", by="country", level=0.9)),
        (("compare", "--baseline", "pop", "--margin", "0.01", "--correction", "none"),
         REC.compare(*("hit_rate@1",), baseline="pop", by="country", level=0.9, margin=0.01, correction=None)),
        (("compare",), REC.compare("hit_rate@1", by="country", level=0.9)),
    ],
)  # fmt: skip
def test_formats_of_data_have_all_columns_in_full_precision(arguments, expected):
    method, *options = arguments
    asked = (method, *FILES, *options, "--users", "people.parquet", "--by", "country")
    asked = (*asked, "-m", "hit_rate@1", "--level", "0.9")

    run(*asked, "-o", "result.parquet")
    assert_frame_equal(pl.read_parquet("result.parquet"), expected)
    rows = json.loads(run(*asked, "--format", "json").stdout)
    assert rows == json.loads(expected.write_json())
    brief = run(*asked, "--format", "md").stdout
    assert "value_low" not in brief
    assert "[" in brief


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (("hit_rate@1 >= 0.3", "hit_rate@1 >= 0.99 * pop"), 0),
        (("hit_rate@1 >= 0.7",), 1),
        (("hit_rate@1 >= 0.5",), 0),
        (("hit_rate@1 >= 0.5", "--strict"), 1),
        (("hit_rate@1 >= 0.7", "--models", "svd"), 0),
        ((), 2),
        (("hit_rate@1",), 2),
        (("hit_rate@1", "0.7"), 2),
        (("hit_rate@1 >= 0.7 * none",), 2),
        (("hit_rate@1 >= 0.7", "--by", "county"), 2),
        (("hit_rate@1 >= 0.7", "--nothing"), 2),
        (("hit_rate@1 >= 0.7", "--users", "nobody.parquet"), 2),
        (("hit_rate@1 >= 0.7", "-o", "result.xlsx"), 2),
    ],
)
def test_the_exit_status_says_whether_a_requirement_fails(asked, status):
    result = run("require", *FILES[:2], *asked, *FILES[2:])

    assert result.exit_code == status, result.output


def test_a_gate_is_a_table_and_a_line():
    result = run("require", *FILES, "hit_rate@1 >= 0.7", "hit_rate@1 >= 0.2 * pop")

    head, *rows = table(result.stdout)
    assert head == [
        *("model", "requirement", "state", "value", "bound", "difference"),
        *("p_adjusted", "n_users"),
    ]
    assert [row[:5] for row in rows] == [
        ["pop", "hit_rate@1 >= 0.7", "fails", "0.500", "0.700"],
        ["svd", "hit_rate@1 >= 0.7", "open", "0.750", "0.700"],
        ["svd", "hit_rate@1 >= 0.2 * pop", "holds", "0.750", "0.100"],
    ]
    assert result.stderr == "fails 1, holds 1, open 1\n"
    assert run("require", *FILES, "hit_rate@1 >= 0.3").stderr == "holds 2\n"


@pytest.mark.parametrize("stored", ["last.json", "last.csv", "last.parquet"])
def test_an_earlier_result_is_what_a_later_one_is_compared_with(stored):
    assert run("summarize", *FILES, "-m", "hit_rate@1", "-o", stored).exit_code == 0
    hits(svd=0.7, pop=0.2).write_parquet("lists.parquet")
    asked = ("require", *FILES, "hit_rate@1 >= 0.8 * last", "--last", stored)

    assert run(*asked, "-o", "found.parquet").exit_code == 1
    last, after = REC.summarize("hit_rate@1"), hits(svd=0.7, pop=0.2)
    expected = after.rec(truth=LIKED, model="model").require(
        "hit_rate@1 >= 0.8 * last", last=last, raises=False
    )
    assert_frame_equal(pl.read_parquet("found.parquet"), expected)
    assert expected["state"].to_list() == ["fails", "open"]


def test_a_model_that_is_gone_fails():
    run("summarize", *FILES, "-m", "hit_rate@1", "-o", "last.json")
    hits(svd=0.75).write_parquet("lists.parquet")
    asked = ("require", *FILES, "hit_rate@1 >= 0.8 * last", "--last", "last.json")

    fails = run(*asked)
    assert (fails.exit_code, fails.stderr) == (1, "holds 1, missing 1\n")
    pop, svd = table(fails.stdout)[1:]
    assert pop[:3] == ["pop", "hit_rate@1 >= 0.8 * last", "missing"]
    assert svd[2] == "holds"


@pytest.mark.parametrize(
    ("rows", "asked", "said"),
    [
        (0, (), "missing 1\n"),
        (None, ("--min-users", "101"), "open 2\n"),
    ],
)
def test_a_gate_that_judged_nothing_has_its_table_and_a_status_of_failure(rows, asked, said):
    LISTS.head(rows if rows is not None else len(LISTS)).write_parquet("lists.parquet")
    command = ("require", *FILES, "hit_rate@1 >= 0.3", *asked)

    result = run(*command)
    assert result.exit_code == 1
    assert result.stderr.endswith(said)
    assert result.stdout.split()[:3] == ["model", "requirement", "state"]


def test_a_reference_that_is_no_result_is_lists_to_compare_with():
    hits(svd=0.5).drop("model").write_parquet("other.parquet")
    result = run("require", *FILES, "overlap@1 >= 0.5", "--reference", "other.parquet")

    # svd has another item for a quarter of the users
    assert [row[3][:6] for row in table(result.stdout)[1:]] == ["1.000", "0.750"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            ("hit_rate@1", "0.7"),
            (
                "'hit_rate@1' is not a requirement: write a metric, >= or <=, and a number or a share of a model, as "
                "'ndcg@10 >= 0.28' or 'ndcg@10 >= 0.99 * popularity'"
            ),
        ),
        ((), "no requirement was given; write for example 'ndcg@10 >= 0.28'"),
        (("hit_rate@1 >= 0.9 * last",),
         "'hit_rate@1 >= 0.9 * last' needs a column of models: --model model; or an earlier result: --last FILE"),
    ],
)  # fmt: skip
def test_what_is_asked_wrong_is_said_in_words_of_the_shell(asked, said):
    result = run("require", *FILES[:2], *asked)

    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].partition(": ")[2] == said


@pytest.mark.parametrize(
    ("method", "options", "head", "cells"),
    [
        (
            "power", ("--baseline", "pop", "--wanted", "0.05"),
            "model baseline metric users_needed wanted detectable detectable_relative baseline_value std n_users",
            {"wanted": "+5.0%", "model": "svd"},
        ),
        (
            "gaps", ("--by", "country", "--min-users", "10"),
            "by model metric best worst gap best_value worst_value p_value best_n_users worst_n_users n_segments",
            {"by": "country", "best": "A&B", "best_value": "0.500"},
        ),
        (
            "slices", ("--by", "country", "--depth", "1", "--min-users", "10"),
            "model segment metric difference value rest p_value p_adjusted n_users",
            {"segment": "country=A&B", "n_users": "50"},
        ),
    ],
)  # fmt: skip
def test_tables_of_other_methods_have_few_columns(method, options, head, cells):
    PEOPLE.with_columns(pl.col("country").fill_null("C")).write_parquet("people.parquet")
    result = run(method, *FILES, "--users", "people.parquet", *options, "-m", "hit_rate@1")

    assert result.exit_code == 0, result.output
    names, row, *_ = table(result.stdout)
    assert " ".join(names).removesuffix(" note") == head
    assert cells.items() <= dict(zip(names, row, strict=False)).items()


def test_the_help_of_each_command_has_examples():
    for command in ("summarize", "compare", "power", "gaps", "slices", "require"):
        assert f"recframe {command} recs.parquet" in run(command, "--help").stdout
    assert rf.RequirementError.__doc__


@pytest.mark.parametrize(
    "command", [("summarize", "-m", "hit_rate@1"), ("require", "hit_rate@1 >= 0.5")]
)
def test_what_is_rarely_meant_is_told_of(command: tuple[str, ...]):
    name, *asked = command
    result = run(name, "lists.parquet", "liked.parquet", *asked)

    assert "note: pooled_models: " in result.stderr
    assert "write --model model" in result.stderr
