"""The pages of metrics: each metric has one, made from the registry; code, numbers and formulas are right."""

from __future__ import annotations

import ast
import functools
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import recframe as rf
from lanes import in_turn
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Definition
from recframe.metrics.language.registry import registered
from recframe.profiles.library_profiles import PROFILES

sys.path.append(str(Path(__file__).parents[2] / "docs" / "_build"))

import metric_formula
import metrics

BUILTIN = {name: one for name, one in registered().items() if one.definition.builtin}
SECTIONS = [
    "Formula", "Worked example", "Parameters", "Empty cases", "In other libraries", "See also",
    "Source",
]  # fmt: skip

# a page takes some thirty calls: the fast lane has a few
each_metric = pytest.mark.parametrize("name", in_turn(BUILTIN.keys(), fast=8))


@functools.cache
def page(name: str) -> str:
    return metrics.page(BUILTIN[name])


def sections(text: str) -> dict[str, str]:
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], (part.strip() for part in parts[1::2]), strict=True))


def rows(table: str) -> list[list[str]]:
    """The cells of a table's rows, without its titles."""
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


def ran(code: str) -> Any:
    """Run a block as a reader who pastes it, and return what its last line is."""
    known: dict[str, Any] = {}
    tree = ast.parse(code)
    last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, "page", "exec"), known)  # noqa: S102  code of our own pages
    return eval(compile(last, "page", "eval"), known)  # noqa: S307


@each_metric
def test_every_metric_has_a_page_with_every_section(name):
    text = page(name)
    found = sections(text)

    first, _, use = BUILTIN[name].__doc__.partition("\n\n")
    title, told, when = text.split("\n\n")[:3]
    assert title.endswith(f" (`{name}`)")
    assert told == first
    assert re.sub(r"\[(`\w+`)\]\(\w+\.md\)", r"\1", when) == " ".join(
        use.partition("\n\n")[0].split()
    )
    assert [*found] == SECTIONS
    assert all(found.values())
    for alias in BUILTIN[name].definition.aliases:
        assert f"`{alias}`" in text


@each_metric
def test_the_example_runs_and_gives_what_the_page_shows(name):
    code, shown = re.search(
        r"```python\n(.+?)\n```\n\n```text\n(.+?)\n```", page(name), re.DOTALL
    ).groups()

    assert repr(ran(code)) == shown


@each_metric
def test_the_formula_can_be_typeset(name):
    mathtext = pytest.importorskip("matplotlib.mathtext").MathTextParser("path")
    for line in metric_formula.lines_of(BUILTIN[name].definition):
        assert f"$$\n{line}\n$$" in sections(page(name))["Formula"]
        mathtext.parse(f"${line}$")


def test_each_choice_of_a_parameter_has_the_value_that_it_gives():
    found = sections(page("precision"))["Parameters"]
    found, _, of_average = found.partition("### `average`")
    of_denominator = found.partition("### `weights`")[0]

    # hits: two of ana's five; one in the lists of five and one in that of three of ben and cleo
    assert {row[0].partition("<br>")[0]: row[1:] for row in rows(of_denominator)} == {
        '`"k"`': ["0.4", "0.3333"],  # (2/5 + 2/5 + 1/5) / 3
        '`"list"`': ["0.4", "0.3778"],  # (2/5 + 2/5 + 1/3) / 3
        '`"achievable"`': ["0.5", "0.6667"],  # (2/4 + 2/2 + 1/2) / 3
    }
    # of the lists' own lengths, since k places of each are the same in a mean and in a sum
    assert {row[0].partition("<br>")[0]: row[1:] for row in rows(of_average)} == {
        '`"users"`': ["0.4", "0.3778"],
        '`"pooled"`': ["0.4", "0.3846"],  # (2 + 2 + 1) / (5 + 5 + 3)
    }
    assert "hits are divided by the length of the list up to k" in found


@pytest.mark.slow
def test_every_parameter_is_told_with_its_choices():
    for name, metric in BUILTIN.items():
        text = sections(page(name))["Parameters"]
        assert re.findall(r"^### `(\w+)`$", text, re.MULTILINE) == [*metric.definition.parameters]
        for parameter in metric.definition.parameters:
            choices = [one for one in metric.definition.kinds[parameter][1] if isinstance(one, str)]
            part = text.partition(f"### `{parameter}`")[2].partition("\n### ")[0]
            assert {f'`"{one}"`' for one in choices} <= {
                re.split("<br>| with ", row[0])[0] for row in rows(part)
            }
        # of one list a user it is a constant, which it refuses to tell
        assert "| an error |" not in text.replace('`"disparity"` | an error | an error |', "")


@pytest.mark.slow
def test_every_profile_that_has_a_metric_stands_on_its_page():
    for name in BUILTIN:
        text = sections(page(name))["In other libraries"]
        of_table = {one for row in rows(text) for one in re.findall(r"`(\w+)`", row[1])}
        assert of_table >= {one for one, profile in PROFILES.items() if name in profile.metrics}
        for one, profile in PROFILES.items():
            assert profile.instead.get(name, "") in text, one


def test_a_line_of_the_libraries_gives_its_number():
    lines = rows(sections(page("ndcg"))["In other libraries"])
    by_name = {row[0].partition("<br>")[2]: row for row in lines if "RecTools" in row[0]}

    # hits at ranks 2 and 4; RecTools' ideal has five items of gain 1, or with the option four
    dcg = 1 / 1.584962500721156 + 1 / 2.321928094887362
    four = 1 + 1 / 1.584962500721156 + 1 / 2 + 1 / 2.321928094887362
    five = four + 1 / 2.584962500721156
    assert by_name["`NDCG`"][1:3] == ["`rectools`<br>`ndcg@10`", f"{dcg / five:.4f}"]
    achievable = by_name["`NDCG(divide_by_achievable=True)`"]
    assert achievable[1:3] == ["`rectools`<br>`ndcg(ideal=relevant)@10`", f"{dcg / four:.4f}"]


def test_what_no_switch_says_is_noted():
    assert "`recbole`: coverage and gini count one more item" in page("gini")
    assert "`recbole`" not in sections(page("dcg"))["In other libraries"]
    (snips,) = [
        row for row in rows(sections(page("recall"))["In other libraries"]) if "SNIPS" in row[0]
    ]
    assert snips[1].startswith("`propensity=` a column<br>`recall(weights=snips")


def test_what_is_another_number_elsewhere_is_in_no_table():
    # Evidently's Diversity is recorded too, and divides by the length of the list
    lines = rows(sections(page("diversity"))["In other libraries"])

    assert lines
    assert not [row for row in lines if "vidently" in row[0]]


def test_empty_cases_are_told_as_they_come_out():
    cases = {row[0]: row[1:] for row in rows(sections(page("auc"))["Empty cases"])}

    # a user without a list has no pair: undefined, and so not in the mean
    assert cases["relevant items, and no list"] == ["null", "no"]
    assert {row[0]: row[1:] for row in rows(sections(page("ndcg"))["Empty cases"])} == {
        "relevant items, and no list": ["0", "yes"],
        "a list, and nothing relevant in the truth": ["0", "yes"],
        "a list, and no row in the truth": ["no row", "no"],
        "nobody is counted": ["null", "`n_users` is 0"],
    }


def test_the_index_has_every_metric_under_its_family():
    text = metrics.index()
    found = sections(text)

    for name, metric in BUILTIN.items():
        assert f"| [`{name}`]({name}.md) | " in found[metric.definition.family.capitalize()]
    assert "[0, 1], lower is better; needs `items=` |" in found["Catalogue"]
    assert 'universe="recs"' in found["Options of every metric"]


@pytest.mark.slow
def test_links_of_a_page_lead_to_pages_that_there_are():
    names = {f"{name}.md" for name in BUILTIN} | {
        "index.md",
        "../uncertainty.md",
        "../engines.md",
    }
    for name in BUILTIN:
        linked = {one.partition("#")[0] for one in re.findall(r"\]\(([^)\s]+)\)", page(name))}
        assert linked <= names, name


def test_a_formula_is_that_of_the_definition_or_made_of_its_plain_text():
    written = Definition("written", len, formula="hits / k", latex="a\nb")
    plain = Definition("plain", len, formula="Σ over hits of p^(r - 1) / log2(r + 1) <= n_relevant")

    assert metric_formula.lines_of(written) == ["a", "b"]
    assert metric_formula.lines_of(plain) == [
        r"\sum_{\text{hits}} p^{r\;-\;1}\;/\;\log_2 (r\;+\;1)\;\leq \;n_{\text{relevant}}"
    ]


def test_formulas_in_plain_text_can_be_typeset():
    mathtext = pytest.importorskip("matplotlib.mathtext").MathTextParser("path")
    for name, metric in BUILTIN.items():
        (line,) = metric_formula.lines_of(replace(metric.definition, latex=""))
        assert "\\" in line, name
        mathtext.parse(f"${line}$")


def two_of_three(at: rf.At, *, at_least: int = 2) -> pl.Expr:
    """Share of the users with `at_least` hits.

    1 with so many hits, else 0.

    Source: nobody.
    """
    return (at.n_hits >= at_least).cast(pl.Float64)


def test_a_new_metric_gets_its_page_by_itself(monkeypatch):
    formula = "min(hits², 1) · Σ over hits of p^(r - 1) / log2(r + 1) <= n_relevant"
    definition = Definition(
        "two_of_three", two_of_three, ("both",), formula, range=(0.0, 1.0), direction="higher"
    )
    monkeypatch.setattr(registry, "_registry", registered())
    registry.know(definition)
    new = registered()["two_of_three"]
    text = metrics.page(new)
    found = sections(text)

    assert [*found] == SECTIONS
    assert all(found.values())
    assert "two_of_three" in found["Worked example"]
    assert [row[:2] for row in rows(found["Parameters"])] == [
        ["`2`", "1"],
        ["`1`", "1"],
        ["`4`", "0"],
    ]
    pytest.importorskip("matplotlib.mathtext").MathTextParser("path").parse(
        f"${metric_formula.lines_of(definition)[0]}$"
    )
