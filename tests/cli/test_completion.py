"""What a shell completes: words of options and files."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

import recframe as rf
from recframe.cli.commands import main

EVALUATE = "evaluate two.parquet two_truth.parquet"


def completed(line: str) -> list[str]:
    """Return how the last word of a line can end, each with its type."""
    words = ["recframe", *line.split(" ")]
    environment = {
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
        "_RECFRAME_COMPLETE": "bash_complete",
    }
    return CliRunner(env=environment).invoke(main, prog_name="recframe").stdout.splitlines()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (f"{EVALUATE} --format nd", ["plain,ndjson"]),
        ("evaluate tw", ["file,tw"]),
        (f"{EVALUATE} --users us", ["file,us"]),
    ],
)
def test_the_last_word_of_a_line_is_completed(line, found):
    assert completed(line) == found


def test_the_command_starts_where_click_has_no_generic_classes():
    # as those of click 8.2 to 8.4 are, which Python cannot subscript
    script = """
from click import shell_completion

class Plain:
    def __init__(self, value, type="plain", help=None):
        self.value, self.type, self.help = value, type, help

shell_completion.CompletionItem = Plain
from recframe.cli.commands import main
main(["--version"])
"""
    done = subprocess.run(  # noqa: S603  the script stands above
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )

    assert (done.stdout.strip(), done.stderr) == (f"recframe, version {rf.__version__}", "")
