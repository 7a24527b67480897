"""Commands with `--engine`: the same files, and the same output as of Polars."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

pytest.importorskip("click")

from asked_twice import COLLECTED, eager
from engines_here import OWN, engines
from shop_files import run

pytestmark = OWN


@pytest.fixture(params=engines())
def engine(request) -> list[str]:
    """The options of an engine, whose session is that of other tests."""
    request.param(pl.DataFrame({"user": [0]}))
    master = ["--master", "local[2]"] if request.param.name == "spark" else []
    return ["--engine", request.param.name, *master]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder that has the tables, the lists also by folders of their weeks."""
    monkeypatch.chdir(tmp_path)
    recs, truth = eager()
    judged = truth.with_columns(rank=pl.int_range(1, pl.len() + 1).over("user"))
    tables = {"recs": recs, "truth": truth, "judged": judged, **COLLECTED}
    for name, frame in tables.items():
        frame.write_parquet(f"{name}.parquet")
        frame.write_csv(f"{name}.csv")
    for week in (0, 1):
        # another folder below, which is no column
        place = Path(f"weeks/week={week}") / "part"
        place.mkdir(parents=True)
        recs.filter(pl.col("week") == week).drop("week").write_parquet(place / "of.parquet")


FILES = ("recs.parquet", "truth.parquet", "--model", "model")
SIDES = [f"--{name}={name}.parquet" for name in COLLECTED]
TEXT = ("recs.parquet", "truth.csv")
COUNTRY = ("--users", "users.csv", "--by", "country")
COMMANDS = {
    "segments": ["evaluate", *FILES, *SIDES, "--by", "kind,week", "-m", "ndcg@3,novelty@2"],
    "users": ["evaluate", *FILES, *COUNTRY, "--by", "user", "-m", "ndcg@3", "--decimals", "3"],
    "text": ["evaluate", *TEXT, "--model", "model", "--by", "user", "-m", "mrr", "--ids-as-text"],
    "no Parquet": ["evaluate", "recs.csv", "truth.csv", "--model", "model", "-m", "mrr"],
    "folders": ["evaluate", "weeks", *FILES[1:], "--by", "week", "-m", "mrr,ndcg@3", "--support"],
    "a pattern": ["evaluate", "weeks/*/*/*.parquet", *FILES[1:], "--by", "week", "-m", "mrr"],
    "a judged table": ["evaluate", "judged.parquet", "-m", "ndcg@2,map"],
    "summarize": ["summarize", *FILES, *COUNTRY, "-m", "ndcg@3,mrr"],
    "compare": ["compare", *FILES, "--baseline", "b", "-m", "ndcg@3,mrr"],
    "power": ["power", *FILES, "--baseline", "b", "-m", "mrr"],
    "winner": ["winner", *FILES, "--baseline", "b", "-m", "ndcg@3,mrr"],
    "gaps": ["gaps", *FILES, *COUNTRY, "-m", "ndcg@3", "--min-users", "3"],
    "require": ["require", *FILES, "ndcg@3 >= 0.01", "mrr >= 0.9 * b", "--store", "stored.json"],
}
NEAR = {"rel_tol": 1e-12, "abs_tol": 1e-12}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_command_gives_what_it_gives_of_polars(engine, command):
    found = []
    for options in ([], engine):
        result = run(*command, *options, "-o", "found.parquet")
        assert result.exit_code == 0, result.output
        found.append(pl.read_parquet("found.parquet"))

    assert_frame_equal(*found, **NEAR)
    assert found[0].height > 0


def test_what_is_printed_is_the_same(engine):
    command = ["summarize", *FILES, *COUNTRY, "-m", "ndcg@3"]
    one, other = run(*command), run(*command, *engine)

    assert (other.exit_code, other.stdout) == (0, one.stdout)


def test_a_later_result_is_held_against_one_that_was_stored(engine):
    command = ["require", *FILES, "ndcg@3 >= 0.9 * reference"]
    first = run("require", *FILES, "ndcg@3 >= 0", "--store", "a.csv", "--users-values", *engine)
    assert first.exit_code == 0, first.output
    users = run(*command, "--reference", "a.csv", *engine)
    assert users.exit_code == 2
    assert users.stderr == (
        "error: an earlier result's values of users need all lists at once, but buckets hold only some users; give "
        "--reference a result that was stored without --users-values\n"
    )

    Path("a.users.parquet").unlink()
    one, other = (run(*command, "--reference", "a.csv", *options) for options in ([], engine))
    assert (other.exit_code, other.stdout, other.stderr) == (0, one.stdout, one.stderr)


def test_the_audit_counts_the_same_and_says_what_it_leaves_out(engine):
    command = ["audit", *FILES, *SIDES, "-k", "4"]
    found = []
    for options in ([], engine):
        result = run(*command, *options, "-o", "found.parquet")
        assert result.exit_code == 0, result.output
        found.append(pl.read_parquet("found.parquet").drop("example"))

    assert result.stderr.startswith(f"note: {engine[1].title()} makes no checks of all users at")
    left = result.stderr.partition("once: ")[2].splitlines()[0].split(", ")
    assert_frame_equal(found[0].filter(~pl.col("check").is_in(left)), found[1])


def test_what_is_wrong_is_said_in_one_line_and_words_of_the_shell(engine):
    recs = pl.read_parquet("recs.parquet")
    recs.with_columns(pl.col("rank") - 1).write_parquet("zero.parquet")
    truth = pl.read_parquet("truth.parquet").with_columns(pl.col("user").cast(pl.String))
    truth.write_parquet("text.parquet")
    Path("broken.parquet").write_bytes(b"PAR1 and no more PAR1")
    asked = ["-m", "mrr", "--model", "model"]
    commands = [
        ["evaluate", "zero.parquet", "truth.parquet", *asked],
        ["evaluate", "recs.parquet", "text.parquet", *asked],
        ["evaluate", "recs.parquet", "nothing.parquet", *asked],
        ["evaluate", "broken.parquet", "truth.parquet", *asked],
        ["summarize", *FILES, "--by", "country"],
    ]
    for command in commands:
        one, other = run(*command), run(*command, *engine)
        assert other.exit_code == 1
        assert other.stderr == one.stderr
        assert other.stdout == ""


def test_what_an_engine_cannot_do_is_said(engine):
    asked = ["evaluate", *FILES, "-m", "mrr"]
    ties = run(*asked, "--ties", "order", *engine)
    assert "ties='order' needs an order of rows, but those of" in ties.stderr
    assert ties.exit_code == 1
    interval = run("summarize", *FILES, "--items", "items.parquet", "-m", "coverage@3", *engine)
    assert "evaluate() has its values, without intervals" in interval.stderr
    assert interval.exit_code == 1
