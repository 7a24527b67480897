"""The command as a process: however it is stopped, and wherever its output cannot go, it ends without a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from recframe.cli import process
from shop_files import TWO, failure, run, shell, write_tables

COMMAND = (sys.executable, "-m", "recframe")
EVALUATE = f"{sys.executable} -m recframe evaluate two.parquet two_truth.parquet -m mrr"
FULL = "error: cannot write to stdout: No space left on device\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that has the tables as Parquet files."""
    monkeypatch.chdir(tmp_path)
    write_tables()
    return tmp_path


# where stdout goes


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        (f"{EVALUATE} >&-", 74, "error: cannot write to stdout: Bad file descriptor\n"),
        (f"{EVALUATE} > /dev/full", 74, FULL),
        pytest.param(f"{EVALUATE} --format json > /dev/full", 74, FULL, marks=pytest.mark.slow),
        (f"{sys.executable} -m recframe --help > /dev/full", 74, FULL),
        (f"{EVALUATE} -o out.csv >&- 2>&- <&-", 0, ""),
    ],
)
def test_a_stdout_that_is_full_or_closed_is_told_in_a_sentence(line, status, said):
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)  # noqa: S602

    assert (done.returncode, done.stdout, done.stderr) == (status, "", said)
    if "out.csv" in line:
        # user 1 has a hit at 1, user 2 at 2, user 3 no list
        assert pl.read_csv("out.csv").row(0) == (3, 0.5)


def test_a_reader_who_leaves_ends_the_command_quietly():
    rows = pl.DataFrame({"user": range(20_000), "item": 1, "rank": 1, "relevance": 1})
    rows.write_parquet("many.parquet")
    command = [*COMMAND, "evaluate", "many.parquet", "-m", "mrr", "--by", "user", "-o", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:  # noqa: S603
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline() == b"user,mrr\n"
        running.stdout.close()

        assert running.stderr.read() == b""
        # not that of a requirement that fails, or cannot be judged
        assert running.wait(60) == process.LEFT


# Ctrl-C


def interrupted(code: str) -> tuple[int, str]:
    """Return how `python -m recframe` ends, whose code is changed to send itself the signal somewhere, and what it says."""
    done = shell("-c", f"import os, signal, sys\nsys.argv = ['recframe', 'metrics']\n{code}")
    return done.returncode, done.stdout + done.stderr


class Place:
    """Sends the signal where a module is looked for."""

    code = """
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from recframe.cli import main
main()
"""


@pytest.mark.parametrize(
    "module",
    [
        "recframe.cli",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("recframe.cli.process", "click")),
        "polars.functions",
        "recframe.api.engine_call",
    ],
)
def test_an_interrupt_while_modules_are_imported_is_quiet(module):
    assert interrupted(Place.code.format(name=module)) == (130, "")


QUERY = """
from recframe.cli import commands, main, process
def asked(**options):
    import polars as pl
    print("begun", flush=True)
    {query}
    raise AssertionError
commands.metrics.callback = asked
main()
"""


@pytest.mark.parametrize(
    "query",
    [
        # which Polars stops itself, and which nothing stops that is compiled
        "pl.select(a=pl.int_range(10**8).hash()).lazy().sort('a').collect()",
        "import ctypes; ctypes.PyDLL(None).sleep(30)",
    ],
)
def test_an_interrupt_while_compiled_code_runs_is_quiet(query):
    code = f"import sys\nsys.argv = ['recframe', 'metrics']\n{QUERY.format(query=query)}"
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline() == b"begun\n"
        time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        begun = time.monotonic()
        assert running.wait(20) == process.INTERRUPTED
        assert time.monotonic() - begun < process.PATIENCE + 5
        assert running.stderr.read() == b""


@pytest.mark.parametrize(
    ("argv", "orig", "expected"),
    [
        (["/usr/bin/recframe", "metrics"], ["python", "/usr/bin/recframe"], True),
        (["recframe.exe"], ["python", "recframe.exe"], True),
        (["-m"], ["python", "-m", "recframe", "metrics"], True),
        (["-m"], ["python", "-m", "pytest"], False),
        (["job.py", "recframe"], ["python", "job.py", "recframe"], False),
        ([""], ["python"], False),
        ([], [], False),
    ],
)
def test_a_program_that_imports_recframe_keeps_its_own_ctrl_c(monkeypatch, argv, orig, expected):
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.setattr(sys, "orig_argv", orig)

    assert process.is_command() is expected


# words that are no text


def test_a_word_that_is_no_utf8_is_told():
    name = os.fsdecode(b"recs\xff.parquet")
    TWO.write_parquet("two.parquet")
    os.rename("two.parquet", name)  # noqa: PTH104  a name, no path
    for arguments in (
        (name, "two_truth.parquet"),
        ("two_truth.parquet", "--columns", f"user={name}"),
    ):
        said = run("evaluate", *arguments)
        assert said.exit_code == 2
        assert "\\xff" in said.stderr
        assert "is no UTF-8" in said.stderr
    assert failure("evaluate", "recs*.parquet", "two_truth.parquet") == (
        "cannot read 'recs\\xff.parquet': its name is not UTF-8, which Polars needs; rename it"
    )


@pytest.mark.parametrize("time", ["0001-01-01T00:00+14:00", "9999-12-31T23:59-14:00"])
def test_a_time_that_is_none_in_utc_is_told(time):
    track = ("track", "two.parquet", "two_truth.parquet", "-m", "mrr", "--history", "runs")

    assert f"--as-of {time!r} is not a time" in failure(*track, "--as-of", time)
    said = run("history", "runs", "--since", time)
    assert said.exit_code == 2
    assert f"{time!r} is no day or time" in said.stderr


def test_a_line_break_stands_between_values_as_a_comma_does():
    renamed = TWO.rename({"user": "u", "item": "a\nb"})
    renamed.write_parquet("renamed.parquet")
    evaluated: Any = ("evaluate", "renamed.parquet", "renamed.parquet", "--columns")

    assert run(*evaluated, 'user=u\n"item=a\nb"\n').exit_code == 0
    said = run(*evaluated, "user=u\nb,item=u")
    assert said.exit_code == 2
    assert "'b' is no role=name" in said.stderr
    said = run(*evaluated, "x" * 200_000)
    assert said.exit_code == 2
    assert "its values cannot be told apart: field larger than" in said.stderr
