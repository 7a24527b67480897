"""What a shell completes, in bash as it cuts words: metrics, profiles, and the columns of the files on the line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import recframe as rf
from recframe.cli import values as completion
from recframe.cli.commands import main
from shop_files import TWO, write_tables

EVALUATE = "evaluate two.parquet two_truth.parquet"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that has the tables as Parquet files."""
    monkeypatch.chdir(tmp_path)
    write_tables()
    return tmp_path


def asked(line: str, shell: str) -> list[str]:
    """Return what a shell is told of the last word of a line."""
    words = ["recframe", *line.split(" ")]
    if shell == "bash":  # which has a word for each sign that it cuts at
        words = [piece for word in words for piece in re.findall("[=@:]+|[^=@:]+", word) or [""]]
    place = words[-1] if shell == "fish" else str(len(words) - 1)
    environment = {
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": place,
        "_RECFRAME_COMPLETE": f"{shell}_complete",
    }
    shown = CliRunner(env=environment).invoke(main, prog_name="recframe").stdout
    return shown.splitlines() if shown.strip() else []


def completed(line: str) -> list[str]:
    """Return how the last word of a line can end in bash; what zsh and fish say is the whole word."""
    found = [value.partition(",")[2] for value in asked(line, "bash")]
    piece = re.split("[=@:]", line.rpartition(" ")[2])[-1]
    before = line.rpartition(" ")[2].removesuffix(piece)
    whole = [value.partition(",")[2].partition("\t")[0] for value in asked(line, "fish")]
    assert [before + value for value in found] == whole
    assert asked(line, "zsh")[1::3] == [value.replace(":", "\\:") for value in whole]
    return whole


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (f"{EVALUATE} -m nd", ["ndcg"]),
        (f"{EVALUATE} -m ndcg@10,precision@5,nd", ["ndcg@10,precision@5,ndcg"]),
        (f"{EVALUATE} -m succ", ["success"]),
        ("metrics mrr", ["mrr"]),
        (f"{EVALUATE} --profile tre", ["trec_eval"]),
        ("profiles jur", ["jurity"]),
        ("explain map@10 jur", ["jurity"]),
        ("explain map@10 recf", ["recframe"]),
        (f"{EVALUATE} --by rel", ["relevance"]),
        (f"{EVALUATE} --users users.parquet --by user,cou", ["user,country"]),
        (f"{EVALUATE} --by nothing", []),
        (f"{EVALUATE} --columns us", ["user="]),
        (f"{EVALUATE} --columns user=us", ["user=user"]),
        (f"{EVALUATE} --columns user=user,relevance=rel", ["user=user,relevance=relevance"]),
        ("audit two.parquet two_truth.parquet --model ra", ["rank"]),
        ("explain mrr ranx two.parquet two_truth.parquet --by rel", ["relevance"]),
        (f"{EVALUATE} --format nd", ["ndjson"]),
    ],
)
def test_the_last_word_of_a_line_is_completed(line, words):
    assert completed(line) == words


def test_all_columns_are_offered_where_nothing_is_begun():
    assert completed(f"{EVALUATE} --columns user=") == [
        f"user={name}" for name in ("user", "item", "rank", "relevance")
    ]


def test_all_metrics_and_profiles_are_offered_where_nothing_is_begun():
    names = [line.partition(",")[2] for line in asked("metrics ", "bash")]
    assert names == rf.list_metrics()["name"].to_list()
    names = [line.partition(",")[2] for line in asked("profiles ", "bash")]
    assert names == list(dict.fromkeys(rf.list_profiles()["profile"]))


@pytest.mark.parametrize("line", ["evaluate tw", f"{EVALUATE} --users us", "explain mrr two.p"])
def test_files_are_left_to_the_shell(line):
    assert asked(line, "bash") == [f"file,{line.rpartition(' ')[2]}"]


def test_files_that_cannot_be_read_or_are_long_have_no_columns(monkeypatch):
    Path("broken.parquet").write_bytes(b"PAR1")
    assert completed("evaluate broken.parquet nowhere.csv --by us") == []
    TWO.write_json("two.json")
    assert completed("evaluate two.json --by us") == ["user"]
    monkeypatch.setattr(completion, "MOST_BYTES", 10)
    assert completed("evaluate two.json --by us") == []


def test_files_without_a_header_have_the_columns_that_are_given():
    TWO.write_csv("bare.csv", include_header=False)
    assert completed("evaluate bare.csv --header user,thing,rank --columns item=th") == [
        "item=thing"
    ]


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


def test_no_column_is_completed_that_a_terminal_would_obey():
    TWO.rename({"rank": "rank\x1b]52;c;aGk=\x07", "item": "ranks"}).write_parquet("two.parquet")
    assert completed(f"{EVALUATE} --by r") == ["ranks", "relevance"]
