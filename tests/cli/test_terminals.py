"""What a terminal is sent: ids and names move no cursor, set no clipboard and fill no screen; a pipe gets a file's bytes."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from recframe.cli.commands import main
from recframe.errors import LONGEST

# sets the clipboard (OSC 52), clears the screen, colours by a C1 control, turns the direction of text, ends a line
SIGNS = "\x1b]52;c;aGk=\x07\x1b[2J\x9b31m\u202e\u2028"
SEEN = r"\x1b]52;c;aGk=\x07\x1b[2J\x9b31m\u202e\u2028"
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
OWN = re.compile(r"\x1b\[[01]m")
"""Bold heads of tables, which are the command's own."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with tables whose ids, segments, models and columns have signs of control."""
    monkeypatch.chdir(tmp_path)
    users = [f"{name}{SIGNS}" for name in "abcd"]
    recs = pl.DataFrame({"user": users * 2, "item": [f"i{SIGNS}"] * 8, "rank": [1] * 8})
    model = pl.Series("model", [f"m{SIGNS}"] * 4 + ["n"] * 4)
    recs.with_columns(model).write_parquet("recs.parquet")
    truth = pl.DataFrame({"user": users[:2] + users[:1], "item": [f"i{SIGNS}"] * 3})
    truth.write_parquet("truth.parquet")
    countries = pl.DataFrame(
        {"user": users, f"country{SIGNS}": [f"c{SIGNS}\r\n\0", "d", "d", None]}
    )
    countries.write_parquet("users.parquet")
    return tmp_path


def sent(*arguments: str) -> str:
    """Return all that a command sends, in colours, to stdout and stderr."""
    result = CliRunner().invoke(main, arguments, color=True)
    assert not isinstance(result.exception, Exception) or isinstance(result.exception, SystemExit)
    return OWN.sub("", result.output)


FILES = ("recs.parquet", "truth.parquet", "--model", "model")
BY = ("--users", "users.parquet", "--by", f"country{SIGNS}")


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", *FILES, *BY, "-m", "mrr"),
        ("summarize", *FILES, *BY, "-m", "mrr"),
        ("compare", *FILES, "-m", "mrr"),
        ("gaps", *FILES, *BY, "-m", "mrr"),
        ("audit", *FILES),
        ("audit", "recs.parquet", "truth.parquet", "--columns", "rank=rank"),
        ("require", *FILES, *BY, "mrr >= 0.99"),
        ("require", *FILES, f"mrr >= 0.99 * 'm{SIGNS}'"),
        ("evaluate", *FILES, "--columns", f"item=x{SIGNS}", "-m", "mrr"),
        ("evaluate", *FILES, "--users", "users.parquet", "--by", f"contry{SIGNS}", "-m", "mrr"),
        ("evaluate", f"no{SIGNS}.parquet", "truth.parquet"),
        ("explain", "mrr", "trec_eval", *FILES, *BY),
        ("evaluate", *FILES, f"--option{SIGNS}"),
        (f"evaluate{SIGNS}", *FILES),
        (f"--evaluate{SIGNS}",),
    ],
    ids=lambda arguments: arguments[0][:9],
)
def test_what_a_terminal_would_obey_is_seen_as_text(arguments):
    printed = sent(*arguments)
    assert OBEYED.findall(printed) == []
    if arguments[0] != "explain":
        assert r"\x1b]52;c;aGk" in printed


def on_a_terminal(*arguments: str) -> str:
    """Return what a command writes to a terminal."""
    ours, its = pty.openpty()
    command = [sys.executable, "-m", "recframe", *arguments]
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its) as process:  # noqa: S603
        os.close(its)
        found = b"".join(iter(partial(_piece, ours), b""))
        assert process.wait(60) == 0
    os.close(ours)
    return OWN.sub("", found.decode()).replace("\r\n", "\n")


def _piece(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux' end of a terminal
        return b""


def test_a_terminal_of_the_system_is_sent_text_alone_and_csv_too():
    for extra in [(), ("--format", "csv")]:
        printed = on_a_terminal("evaluate", *FILES, *BY, "-m", "mrr", *extra)
        assert OBEYED.findall(printed) == []
        assert SEEN in printed


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "ndjson", "md", "tex"])
def test_a_pipe_gets_the_bytes_of_the_file(form):
    command = ("evaluate", *FILES, *BY, "-m", "mrr")
    piped = CliRunner().invoke(main, (*command, "--format", form)).stdout_bytes
    assert CliRunner().invoke(main, (*command, "-o", f"result.{form}")).exit_code == 0
    assert piped == Path(f"result.{form}").read_bytes()
    if form in {"csv", "tsv"}:
        assert SIGNS.encode() in piped


JUDGED = ("--columns", "relevance=rank", "--model", "model")


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", "lists.parquet", "lists.parquet"),
        ("evaluate", "lists.parquet", "named.parquet"),
        ("evaluate", "lists.parquet", "named.csv"),
        ("require", "lists.parquet", "n_hits >= 900", "--strict", *JUDGED, "-o", "unmet.csv"),
        ("compare", "lists.parquet", "lists.parquet", "--model", "model", "--baseline", "no"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_an_id_of_megabytes_makes_a_short_message(arguments):
    long = "x" * 2_000_000
    lists = pl.DataFrame({"user": [long, long, "b"], "item": [long, long, "j"]})
    lists = lists.with_columns(rank=pl.lit(1), model=pl.lit(long))
    lists.write_parquet("lists.parquet")
    pl.DataFrame({"user": ["b"], long: [1]}).write_parquet("named.parquet")
    pl.DataFrame({"user": ["b"], long: [1]}).write_csv("named.csv")
    result = CliRunner().invoke(main, arguments)
    assert "x" * (LONGEST - 1) + "..." in result.output
    assert len(result.stderr) < 1_000
    assert len(result.output) < 10_000
