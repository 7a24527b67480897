"""What is generated on the README and on other pages is up to date; the README's two commands are there."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap

import pytest

import benchmark_tables as tables
import pictures
import public_api
import readme
from recframe.statistics import comparison

TEXT = readme.README.read_text(encoding="utf-8")
UNCERTAINTY = readme.UNCERTAINTY.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", readme.PAGES, ids=lambda page: page.name)
def test_the_generated_parts_of_a_page_are_up_to_date(page):
    text = page.read_text(encoding="utf-8")

    assert readme.written(text) == text, "run: python tests/surface/readme.py"


def test_every_part_that_is_generated_stands_on_a_page():
    texts = [page.read_text(encoding="utf-8") for page in readme.PAGES]

    for name in readme.PARTS:
        assert any(f"<!-- {name}: " in text for text in texts), name


def test_the_files_that_are_generated_are_up_to_date():
    files = {
        readme.METHODS: readme.methods(),
        readme.METHODS.with_suffix(".pyi"): readme.stubs(),
        # whoever changes what is public sees it in a diff; what is taken away warns first: docs/releasing.md
        public_api.LISTED: public_api.listed(),
    }
    for path, text in files.items():
        assert path.read_text(encoding="utf-8") == text, "run: python tests/surface/readme.py"


def test_the_commands_of_a_newcomer_are_there():
    for mark in ("try", "test"):
        command = re.search(rf"^<!-- {mark} -->\n```sh\n(.+)\n```$", TEXT, re.MULTILINE)
        assert command, mark
        assert ".venv/bin/" in command[1]


def fences(text, language):
    return re.findall(rf"^ *```{language}\n(.*?)\n *```$", text, re.MULTILINE | re.DOTALL)


def test_the_first_screen_has_a_claim_badges_a_report_and_five_lines():
    first = TEXT.partition("\n## Three proofs")[0]
    claim, picture, code = (first.index(one) for one in ("**recframe says", "report.png", "```"))
    (lines,) = fences(first, "python")

    assert claim < picture < code
    assert len([line for line in lines.splitlines() if line]) == 5
    assert "pip install recframe" not in TEXT, "there is no release yet"
    for path in re.findall(r"\]\((docs/images/[^)]*)\)", TEXT):
        assert (readme.ROOT / path).is_file(), path


def test_badges_say_what_is_declared():
    for path, text in pictures.badges().items():
        assert path.read_text(encoding="utf-8") == text, "run: python tests/surface/pictures.py svg"
        said = re.search(r'aria-label="(.*?)"', text)[1]
        assert f"![{said[0].upper()}{said[1:]}](docs/images/{path.name})" in TEXT


def test_a_promise_that_is_missed_is_bold_on_its_scene():
    names = ("what", "column", "share", "promised", "least", "most", "samples")
    each = [
        ("errs", "one", 0.0599, "≤ 5", 0.0, 0.06, 2000),
        ("errs", "other", 0.0611, "≤ 5", 0.0, 0.06, 2000),
        ("covers", "one", 0.9299, "95", 0.93, 1.0, 2000),
        ("covers", "other", 0.5, "95", 0.93, 1.0, 14),
    ]

    assert tables.simulated([dict(zip(names, row, strict=True)) for row in each]).splitlines()[2:] == [
        "| errs | ≤ 5 | 6.0 | **6.1** |",
        "| covers | 95 | **93.0** | - |",
    ]  # fmt: skip


def test_the_table_of_verdicts_has_those_that_there_are():
    table = UNCERTAINTY.partition("| verdict |")[2].partition("\n\n")[0]
    told = {
        word
        for words in re.findall(r"^\| ([a-z][^|]*) \|", table, re.MULTILINE)
        for word in words.split(", ")
    }
    tree = ast.parse(textwrap.dedent(inspect.getsource(comparison._shown)))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    keys = [node.keys for node in ast.walk(tree) if isinstance(node, ast.Dict)]
    chosen = {one.value for nodes in keys for one in nodes} - {"shown"}

    assert chosen < told <= texts
    assert told == chosen | {"better", "worse", "higher", "lower", "open"}
