"""What the command line says: notes, errors of one line, help, and what a shell completes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import click
import polars as pl
import pytest

import recframe as rf
from recframe.cli.commands import main
from recframe.cli.options import clauses_of, options_of
from shop_files import RECS, evaluate, failure, run, shell

FILES = "recs.parquet truth.parquet"
PAIRS = "two.parquet two_truth.parquet"


pytestmark = pytest.mark.usefixtures("folder")


# notes


def test_models_that_are_put_together_are_noted():
    named = [RECS.with_columns(model=pl.lit(name)) for name in "ab"]
    pl.concat(named).write_parquet("models.parquet")
    for method in ("evaluate", "summarize"):
        said = run(method, "models.parquet", "truth.parquet").stderr
        assert re.fullmatch("note: pooled_models: .* names systems, write --model model\n", said)
    assert run("evaluate", "models.parquet", "truth.parquet", "--model", "model").stderr == ""
    named[0].write_parquet("model.parquet")  # one system, and so no mistake
    assert run("evaluate", "model.parquet", "truth.parquet").stderr == ""


# what goes wrong


def test_an_error_is_one_line_and_exit_code_two():
    said = failure("evaluate", "rec.parquet", "truth.parquet")
    assert said == "there is no file 'rec.parquet'; did you mean 'recs.parquet'?"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("evaluate", "Missing argument 'RECS'"),
        (f"evaluate {FILES} --columns usr=x", "Invalid value for '--columns': 'usr=x' is not [FILE=]ROLE=NAME"),
        (f"evaluate {FILES} --universe world", "'world' is not one of"),
        ("evaluate a.parquet b.parquet c.parquet", "unexpected extra argument (c.parquet)"),
        ("evalute", "No such command 'evalute'"),
        ("split by-time log.parquet --gap 1d", "No such option"),
        (f"track {FILES} --history h", "Missing option '--as-of'"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_options_is_exit_code_two(arguments, said):
    result = run(*arguments.split())
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


# options


def test_a_profile_gives_the_numbers_of_its_library():
    # user 1 has 1 hit in a list of one, user 2 one in a list of two; user 3 has no list
    found = evaluate(*PAIRS.split(), "-m", "precision", "-k", "4", "--profile", "jurity")
    assert found.row(0) == (2, 0.75)
    rounded = evaluate(*PAIRS.split(), "-m", "precision@4", "--decimals", "2")
    assert rounded.row(0) == (3, 0.17)


def test_a_metric_and_a_difference_are_explained():
    for words in (["map@10"], ["map@10", "ranx", "recbole"]):
        assert run("explain", *words).stdout == f"{rf.explain(*words)}\n"


Per = Literal["user", "log"]


def test_values_of_options_follow_from_annotations_and_defaults():
    def rule(  # noqa: PLR0913  kinds of options
        n: int, share: float = 0.5, per: Per | None = "user", *, by: str | Sequence[str] | None = None,
        at: Any = None, plain: bool = False, tags: Mapping[str, object] | None = None,
    ) -> None:  # fmt: skip
        """Draw rows.

        n, share, per, by, at, plain, tags: kinds of options.
        """

    words = "--n 3 --per none --by a,b --by c --at 7 --plain --tag x=y"
    context = click.Command("rule", params=options_of(rule)).make_context("rule", words.split())

    assert context.params == {
        "n": 3, "share": 0.5, "per": None, "by": ["a", "b", "c"], "at": 7, "plain": True,
        "tags": {"x": "y"},
    }  # fmt: skip


# as a program


def test_the_program_has_its_exit_code_and_no_traceback():
    bad = shell("-m", "recframe", "evaluate", "recs.parquet", "truth.csv")
    assert (bad.returncode, bad.stderr) == (2, "Error: there is no file 'truth.csv'\n")


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
    said = f"error: the command line needs {missing}: pip install 'recframe[cli]'\n"
    assert (result.returncode, result.stderr) == (1, said)


PLAIN = """
from click import shell_completion

class Plain:
    def __init__(self, value, type="plain", help=None):
        self.value, self.type, self.help = value, type, help

shell_completion.CompletionItem = Plain
from recframe.cli.commands import main
main(["--version"])
"""


def test_the_command_starts_where_click_has_no_generic_classes():
    # as those of click 8.2 to 8.4 are, which Python cannot subscript
    done = shell("-c", PLAIN)
    assert (done.stdout.strip(), done.stderr) == (f"recframe, version {rf.__version__}", "")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (f"evaluate {PAIRS} --format nd", "plain,ndjson"),
        ("evaluate tw", "file,tw"),
        (f"evaluate {PAIRS} --users us", "file,us"),
    ],
)
def test_the_last_word_of_a_line_is_completed(line, found):
    words = ["recframe", *line.split(" ")]
    environment = {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    result = run(**environment, _MAIN_COMPLETE="bash_complete")
    assert result.stdout.splitlines() == [found]


# help

METHODS = [
    name for name in main.commands if hasattr(rf.Rec, name) and name not in {"explain", "split"}
]
UNNAMED = {"self", "tidy", "raises", "requirements"}
"""Parameters of methods that are no options."""


@pytest.mark.parametrize("name", METHODS)
def test_a_command_is_a_method_an_option_its_parameter_and_its_help_a_clause(name):
    method = getattr(rf.Rec, name)
    options = {one.name: one for one in main.commands[name].params}
    parameters = inspect.signature(method).parameters.keys() - UNNAMED

    assert parameters <= options.keys()
    for parameter, clause in clauses_of(method).items():
        if parameter in parameters - {"last"}:
            assert options[parameter].help == f"{clause[0].upper()}{clause[1:]}."


@pytest.mark.parametrize(
    "words",
    [[name] for name in main.commands]
    + [["split", name] for name in main.commands["split"].commands],
    ids=" ".join,
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
