"""The pages of the documentation: their blocks give what they show, links lead somewhere, and names are public."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

import page_blocks
import recframe as rf
import recorded_tables
from recframe.metrics.language import registry

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# what a model gave stands behind the blocks of the ways in, which their own test has
ELSEWHERE = {"WAYS_IN.md", "ways_in.md"}
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    if "_build" not in page.parts and page.name not in ELSEWHERE
]
MADE = {"audit.md", "benchmarks.md", "other_libraries.md", "ways_in.md", "metrics/index.md"}
"""Pages that are made when the site is built, or stand elsewhere in some versions."""


def texts() -> dict[Path, str]:
    return {page: page.read_text(encoding="utf-8") for page in PAGES}


def read_by() -> list:
    """Return a case for each page and kind of frame that it has tabs for; those on Spark are of its lane.

    ranx is compiled when it is first called, which takes longer than all other pages together.
    """
    cases = []
    for page, text in texts().items():
        lanes = {"pyspark": pytest.mark.spark, "ranx": pytest.mark.slow}
        marks = [lane for name, lane in lanes.items() if f"<!-- needs: {name} -->" in text]
        # pyspark warns of new versions of pandas
        marks += [pytest.mark.filterwarnings("ignore")] if pytest.mark.spark in marks else []
        name = page.relative_to(ROOT).as_posix()
        if not any(block.language in page_blocks.RUN for block in page_blocks.blocks(text)):
            continue
        cases += [
            pytest.param(page, kind, id=f"{name}-{kind}" if kind else name, marks=marks)
            for kind in page_blocks.kinds(text)
        ]
    return cases


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("numpy")
    folder = tmp_path_factory.mktemp("shop")
    page_blocks.shop(folder)
    return folder / "shop"


@pytest.fixture
def folder(shop: Path, tmp_path: Path) -> Path:
    """A folder with the shop, in which nothing that a page leaves behind stays."""
    shutil.copytree(shop, tmp_path / "shop")
    return tmp_path


@pytest.fixture
def _own_metrics():
    before = dict(registry._registry)
    yield
    registry._registry.clear()
    registry._registry.update(before)


@pytest.mark.usefixtures("_own_metrics")
@pytest.mark.parametrize(("page", "kind"), read_by())
def test_every_block_gives_what_it_shows(page, kind, folder, monkeypatch):
    text = page.read_text(encoding="utf-8")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    # the README's commands are on files of the reader's own
    languages = page_blocks.RUN if page.parent != ROOT else ("python",)

    outcomes = page_blocks.run(text, folder, kind, languages=languages)

    if not outcomes:
        pytest.skip("what all of its blocks need is not installed")
    failed = [str(one) for one in outcomes if not one.good]
    assert not failed, "\n".join([f"{page.name}: python tests/support/page_blocks.py", *failed])


def test_what_is_left_out_says_why():
    for page, text in texts().items():
        for block in page_blocks.blocks(text):
            if "not run" in block.marks:
                assert block.marks["not run"], page


@pytest.mark.parametrize("page", recorded_tables.PAGES, ids=lambda page: page.stem)
def test_what_other_libraries_gave_is_what_was_recorded_and_what_their_profile_gives(page):
    text = page.read_text(encoding="utf-8")

    assert recorded_tables.written(text) == text, "run: python tests/surface/recorded_tables.py"
    rows = re.findall(r"^\| `[^`]+` \| ([\d.]+) \| `[^`]+` \| ([\d.]+) \|", text, re.MULTILINE)
    assert all(gave == ours for gave, ours in rows), rows


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = re.sub(
        r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    for target in re.findall(r"\]\(([^)\s]*)\)", text):
        path, _, anchor = target.partition("#")
        goal = (page.parent / path).resolve() if path else page
        if "://" in path or (goal.is_relative_to(DOCS) and str(goal.relative_to(DOCS)) in MADE):
            continue
        assert goal.exists(), target
        assert not anchor or anchor in anchors(goal), target


def anchors(page: Path) -> set[str]:
    lines = page.read_text(encoding="utf-8").splitlines()
    heads = [line.lstrip("# ").strip() for line in lines if line[:1] == "#"]
    return {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_names_is_public(page):
    text = page.read_text(encoding="utf-8")

    names = set(re.findall(r"\brf\.(?!NAME\b)([a-zA-Z]\w*)", text))
    assert names <= {*dir(rf), *rf.__all__}
    methods = set(re.findall(r"\brec\.([a-z]\w*)\(", text))
    own = set(re.findall(r"^def (\w+)\(at\b", text, re.MULTILINE))
    assert all(hasattr(rf.Rec, name) for name in methods - own), methods
    profiles = set(re.findall(r'profile="(\w+)"', text))
    assert profiles <= {*rf.list_profiles()["profile"], "recframe"}


def test_pages_on_other_libraries_are_named_on_their_first_one():
    index = (DOCS / "from" / "index.md").read_text(encoding="utf-8")

    assert {page.name for page in recorded_tables.PAGES} - {"index.md"} == set(
        re.findall(r"\]\((\w+\.md)\)", index)
    )
