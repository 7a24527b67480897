"""What the package index and others show of a version: addresses from one place, and one version."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import recframe as rf

ROOT = Path(__file__).parents[2]
tomllib = pytest.importorskip("tomllib", reason="a part of Python since 3.11")
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
URLS = DECLARED["project"]["urls"]
CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def on_the_index(text: str) -> str:
    """Return the README as the build writes it into the package."""
    for one in DECLARED["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(one["pattern"], one["replacement"], text)
    return text


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("docs/engines.md", "{site}engines.html"),
        ("docs/how_to/index.md#a", "{site}how_to/index.html#a"),
        ("docs/images/a.png", "{raw}docs/images/a.png"),
        ("ARCHITECTURE.md", "{repository}/blob/main/ARCHITECTURE.md"),
        ("notebooks", "{repository}/blob/main/notebooks"),
        ("#speed", "#speed"),
        ("https://arxiv.org", "https://arxiv.org"),
    ],
)
def test_a_link_becomes_one_of_the_site_or_of_the_repository(link, shown):
    repository = URLS["Repository"]
    raw = repository.replace("//github.com", "//raw.githubusercontent.com") + "/main/"

    goal = shown.format(site=URLS["Documentation"], repository=repository, raw=raw)
    assert on_the_index(f"![a]({link})") == f"![a]({goal})"


def test_addresses_are_those_of_the_project_wherever_they_stand():
    texts = {
        "pyproject.toml": str(DECLARED["tool"]["hatch"]),
        "CITATION.cff": CITATION,
        "README.md": README,
    }
    own = re.compile(
        r"https://[\w.]*(?:github\.io|githubusercontent\.com|github\.com)/[\w./-]*recframe[^\s)'\"]*"
    )
    path = URLS["Repository"].partition("github.com/")[2]
    begins = (
        URLS["Documentation"],
        URLS["Repository"],
        f"https://raw.githubusercontent.com/{path}",
    )

    for name, text in texts.items():
        found = own.findall(text)
        assert found, name
        assert [one for one in found if not one.startswith(begins)] == [], name
    assert all(one.startswith(begins) for one in URLS.values())


def test_the_citation_and_the_changelog_are_of_this_version():
    newest = re.search(
        r"^## (\S+) \((.*)\)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    )

    version, day = newest.groups()
    assert version == rf.__version__
    assert f"\nversion: {version}\n" in CITATION
    released = re.search(r"^date-released: (\S+)$", CITATION, re.MULTILINE)
    assert day == (released[1] if released else "unreleased")


def test_classifiers_name_the_pythons_that_are_tested():
    tested = re.findall(
        r'"(3\.\d+)"', (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
    )

    named = [one.rpartition(" ")[2] for one in DECLARED["project"]["classifiers"] if "3." in one]
    assert named == tested
    assert DECLARED["project"]["requires-python"] == f">={tested[0]}"
