"""The command as a process: however it is stopped, and wherever its output cannot go, it ends without a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from recframe.cli.commands import INTERRUPTED, LEFT
from shop_files import TWO, failure, run

COMMAND = (sys.executable, "-m", "recframe")


pytestmark = pytest.mark.usefixtures("folder")


def test_a_stdout_that_is_full_is_told_in_a_sentence():
    command = [*COMMAND, "evaluate", "two.parquet", "two_truth.parquet", "-m", "mrr"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603

    said = "Error: cannot write to stdout: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_a_reader_who_leaves_ends_the_command_quietly():
    rows = pl.DataFrame({"user": range(20_000), "item": 1, "rank": 1, "relevance": 1})
    rows.write_parquet("many.parquet")
    command = [*COMMAND, "evaluate", "many.parquet", "-m", "mrr", "--by", "user", "-o", "-"]
    # without buffers Python takes what a pipe has taken before its reader left for all of it
    with subprocess.Popen(  # noqa: S603
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": ""},
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline() == b"user,mrr\n"
        running.stdout.close()

        assert running.stderr.read() == b""
        # not that of a requirement that fails, or cannot be judged
        assert running.wait(60) == LEFT


QUERY = """
import sys
sys.argv = ['recframe', 'metrics']
from recframe.cli import commands, main
def asked(**options):
    import polars as pl
    print("begun", flush=True)
    pl.select(a=pl.int_range(10**8).hash()).lazy().sort('a').collect()
    raise AssertionError
commands.main.commands['metrics'].callback = asked
main()
"""


def test_an_interrupt_of_a_query_is_quiet():
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", QUERY], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline() == b"begun\n"
        time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == INTERRUPTED
        assert running.stderr.read().strip() == b""


# words that are no text


def test_a_word_that_is_no_utf8_is_told():
    name = os.fsdecode(b"recs\xff.parquet")
    TWO.write_parquet("two.parquet")
    os.rename("two.parquet", name)  # noqa: PTH104  a name, no path
    said = run("evaluate", name, "two_truth.parquet")
    assert said.exit_code == 2
    assert "'recs\\udcff.parquet'" in said.stderr
    assert "surrogates not allowed" in failure("evaluate", "recs*.parquet", "two_truth.parquet")


@pytest.mark.parametrize("time", ["0001-01-01T00:00+14:00", "9999-12-31T23:59-14:00"])
def test_a_time_that_is_none_in_utc_is_told(time):
    track = ("track", "two.parquet", "two_truth.parquet", "-m", "mrr", "--history", "runs")

    assert f"--as-of {time!r} is not a time" in failure(*track, "--as-of", time)
