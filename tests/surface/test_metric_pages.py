"""The pages of metrics: each metric has one, made from the registry; code, numbers and formulas are right."""

from __future__ import annotations

import doctest
import functools
import re
import sys
from pathlib import Path

import pytest

from recframe.metrics.language.registry import registered
from recframe.profiles.library_profiles import PROFILES

sys.path.append(str(Path(__file__).parents[2] / "docs" / "_build"))

import metrics

BUILTIN = {name: one for name, one in registered().items() if one.definition.builtin}
SECTIONS = [
    "Formula",
    "Worked example",
    "Parameters",
    "In other libraries",
    "Source",
]
PAGES = {f"{name}.md" for name in BUILTIN} | {
    "index.md", "../uncertainty.md", "../equivalents.md", "../reference/profiles.md",
}  # fmt: skip
"""Pages that a page of a metric may link."""


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


def test_every_metric_has_a_page_whose_sections_say_what_it_is():
    mathtext = pytest.importorskip("matplotlib.mathtext").MathTextParser("path")
    for name, metric in BUILTIN.items():
        about, doc, text = metric.definition, metric.__doc__, page(name)
        found = sections(text)
        title, told, when = text.split("\n\n")[:3]
        first, _, use = doc.partition("\n\n")

        assert title.endswith(f" (`{name}`)")
        assert told == first
        assert re.sub(r"\[(`\w+`)\]\(\w+\.md\)", r"\1", when) == " ".join(
            use.partition("\n\n")[0].split()
        )
        assert [*found] == SECTIONS
        assert all(found.values())
        assert all(f"`{alias}`" in text for alias in about.aliases)
        assert examples(found["Worked example"].strip("`")) == examples(doc) != []
        for line in about.latex.split("\n"):
            assert f"$$\n{line}\n$$" in found["Formula"]
            mathtext.parse(f"${line}$")

        told_of = {row[0].strip("`").partition("=")[0]: row[1] for row in rows(found["Parameters"])}
        assert [*told_of] == [*about.parameters]
        for one, (_, extras) in about.kinds.items():
            choices = [choice for choice in extras if isinstance(choice, str)]
            assert all(f'`"{choice}"`' in told_of[one] for choice in choices)

        others = found["In other libraries"]
        of_table = {re.findall(r"`(\w+)`", row[0])[0] for row in rows(others)}
        assert of_table == {one for one, profile in PROFILES.items() if name in profile.metrics}
        assert all(profile.instead.get(name, "") in others for profile in PROFILES.values())
        linked = {one.partition("#")[0] for one in re.findall(r"\]\(([^)\s]+)\)", text)}
        assert linked <= PAGES, name


def examples(text: str) -> list[tuple[str, str]]:
    return [(one.source, one.want) for one in doctest.DocTestParser().get_examples(text)]


def test_each_choice_of_a_parameter_has_its_meaning():
    found = {row[0]: row[1:] for row in rows(sections(page("precision"))["Parameters"])}

    (takes,) = found['`denominator="k"`']
    assert takes.split("<br>")[:2] == [
        '`"k"`: hits are divided by k, by lists shorter than k too',
        '`"list"`: hits are divided by the length of the list up to k',
    ]


def test_a_line_of_a_profile_has_the_metric_that_gives_its_number():
    lines = {row[0]: row[1] for row in rows(sections(page("ndcg"))["In other libraries"])}

    assert lines["[`rectools`](../reference/profiles.md#rectools)"] == (
        "`ndcg(gain=binary, ideal=k)`"
    )
    assert lines["[`trec_eval`](../reference/profiles.md#trec_eval)"] == "`ndcg`"
    # Evidently's Diversity divides by the length of the list
    assert "evidently" not in "".join(
        row[0] for row in rows(sections(page("diversity"))["In other libraries"])
    )


def test_the_index_has_every_metric_under_its_family():
    text = metrics.index()
    found = sections(text)

    for name, metric in BUILTIN.items():
        assert f"| [`{name}`]({name}.md) | " in found[metric.definition.family.capitalize()]
    assert "[0, 1], lower is better; needs `items=` |" in found["Catalogue"]
    assert 'universe="recs"' in found["Options of every metric"]
