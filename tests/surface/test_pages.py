"""The pages of the documentation: their blocks give what they show, links lead somewhere, and names are public."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
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
ON_OWN_FILES = {"README.md", "shell.md"}
"""Pages whose commands are on files that the reader has."""
ENGINES = {"pyspark": "spark", "dask": "dask"}


def texts() -> dict[Path, str]:
    return {page: page.read_text(encoding="utf-8") for page in PAGES}


def read_by() -> list:
    """Return a case for each page and kind of frame that it has tabs for; those on engines are of their lanes."""
    cases = []
    engines = {name: getattr(pytest.mark, lane) for name, lane in ENGINES.items()}
    for page, text in texts().items():
        needed = set(re.findall(r"\w+", " ".join(re.findall(r"<!-- needs: (.*) -->", text))))
        marks = [mark for name, mark in engines.items() if name in needed]
        # engines warn of new versions of pandas and of one another, numba of casts when it compiles ranx
        marks += [pytest.mark.filterwarnings("ignore")] if marks or "ranx" in needed else []
        name = page.relative_to(ROOT).as_posix()
        marks += [] if name == "README.md" or needed & {*ENGINES} else [pytest.mark.slow]
        if not any(block.language in page_blocks.RUN for block in page_blocks.blocks(text)):
            continue
        # each block runs once a change, for readers of Polars; for those of pandas at night
        first, *others = page_blocks.kinds(text)
        cases.append(pytest.param(page, first, id=name, marks=marks))
        at_night = [*marks, pytest.mark.nightly]
        cases += [pytest.param(page, one, id=f"{name}-{one}", marks=at_night) for one in others]
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
    languages = ("python",) if page.name in ON_OWN_FILES else page_blocks.RUN

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


def test_links_lead_to_files_of_a_clone_and_to_their_headings():
    listed = subprocess.run(
        ["git", "ls-files"],  # noqa: S607  that of the machine
        cwd=ROOT, capture_output=True, text=True, check=False,
    ).stdout.splitlines()  # fmt: skip
    if not listed:
        pytest.skip("what git tracks is known in a clone alone")
    files = {ROOT / name for name in listed}
    there = files | {folder for file in files for folder in file.parents}

    wrong = []
    for page in (file for file in files if file.suffix == ".md" and file.exists()):
        code = r"^( *)(`{3,}).*?^\1\2|`[^`\n]*`"
        text = re.sub(code, "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\((?![a-z]+:)([^)\s]*)\)", text):
            path, _, anchor = target.partition("#")
            goal = Path(os.path.normpath(page.parent / path)) if path else page
            if goal not in there or (anchor and anchor not in anchors(goal)):
                wrong.append(f"{page.relative_to(ROOT)}: {target}")
    assert wrong == []


def anchors(page: Path) -> set[str]:
    lines = page.read_text(encoding="utf-8").splitlines()
    heads = [line.lstrip("# ").strip() for line in lines if line[:1] == "#"]
    return {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads}


def test_what_a_page_names_is_public():
    for page, text in texts().items():
        names = set(re.findall(r"\brf\.(?!NAME\b)([a-zA-Z]\w*)", text))
        assert names <= {*dir(rf), *rf.__all__}, page
        methods = set(re.findall(r"\brec\.([a-z]\w*)\(", text))
        own = set(re.findall(r"^def (\w+)\(at\b", text, re.MULTILINE))
        assert all(hasattr(rf.Rec, name) for name in methods - own), page
        profiles = set(re.findall(r'profile="(\w+)"', text))
        assert profiles <= {*rf.list_profiles()["profile"], "recframe"}, page


@pytest.mark.apart
def test_typed_code_is_typed(tmp_path):
    pytest.importorskip("mypy")
    (block,) = page_blocks.blocks((DOCS / "how_to" / "typed_code.md").read_text(encoding="utf-8"))
    code = tmp_path / "typed_code.py"
    slip = 'rf.rec(pl.DataFrame()).ndcg(k=10, gain="exponential")\n'
    code.write_text(block.code + slip, encoding="utf-8")

    # in a process of its own, since what mypy has read stays in memory
    strict = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    run = subprocess.run([*strict, str(code)], capture_output=True, text=True, check=False)  # noqa: S603  ours

    (error,) = [line for line in run.stdout.splitlines() if ": error: " in line]
    assert f":{len(block.lines) + 1}: error: " in error


@pytest.mark.apart
def test_a_pool_of_processes_gives_what_its_page_shows(folder):
    page = (DOCS / "how_to" / "process_pools.md").read_text(encoding="utf-8")
    script, shown = page_blocks.blocks(page)[:2]
    (folder / "pool.py").write_text(script.code, encoding="utf-8")

    command = [sys.executable, "-W", "error", "pool.py"]
    run = subprocess.run(  # noqa: S603  ours
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )

    assert (run.stdout, run.stderr) == (shown.code, "")


def test_pages_on_other_libraries_are_named_on_their_first_one():
    index = (DOCS / "from" / "index.md").read_text(encoding="utf-8")

    assert {page.name for page in recorded_tables.PAGES} - {"index.md"} == set(
        re.findall(r"\]\((\w+\.md)\)", index)
    )


def test_metrics_that_stand_beside_those_of_others_can_be_asked_for():
    """Of each row of a table of names, what looks like a metric in the last column; k and n stand for a cut-off."""
    for page in recorded_tables.PAGES:
        rows = re.findall(r"^\|.*\| ([^|]*) \|$", page.read_text(encoding="utf-8"), re.MULTILINE)
        for code in re.findall(r"`([a-z_]+(?:\([^`]*\))?@\w+)`", "\n".join(rows)):
            rf.parse(re.sub(r"@[kn]$", "@5", code).replace("=...", "=1"))
