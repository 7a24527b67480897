"""The notebooks run from top to bottom, and are committed as they were written, with pictures of charts and no other output."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

import pictures
from engines_here import is_here

NOTEBOOKS = pictures.NOTEBOOKS
MACHINE = re.compile(r"/(home|Users|root|tmp|work|mnt|opt|var)/|[A-Z]:\\", re.ASCII)

OF_A_JVM = re.compile(r"^WARNING: |WARN |log level|^$")
"""What a JVM writes beside the notebook when it begins, before any of Spark's settings holds."""

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Name a kernel of the interpreter that runs the tests, whatever kernels are installed, with all of its files aside."""
    name = "the-running-interpreter"
    folder = tmp_path / "jupyter" / "kernels" / name
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (folder / "kernel.json").write_text(
        json.dumps({"argv": command, "display_name": name, "language": "python"})
    )
    for variable in ("JUPYTER_PATH", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / "jupyter"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    return name


def test_the_notebooks_are_found():
    assert len(NOTEBOOKS) >= 5


@pytest.mark.slow
@each_notebook
def test_a_notebook_runs_without_a_warning_and_its_pictures_show_what_it_draws(
    path: Path, kernel: str, tmp_path: Path
):
    if "pyspark" in path.read_text(encoding="utf-8") and not is_here("spark"):
        pytest.skip("there is no pyspark, or no Java")
    working = tmp_path / "working"
    working.mkdir()
    notebook = pictures.run(path, working, kernel)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    told = [output["text"].splitlines() for output in outputs if output.get("name") == "stderr"]
    assert [line for lines in told for line in lines if not OF_A_JVM.search(line)] == []
    assert any(output["output_type"] == "execute_result" for output in outputs)

    drawn = [(cell.id, pictures.fingerprint(one)) for cell, one in pictures.shown(notebook)]
    shown = [(cell.id, output.metadata["fingerprint"]) for cell, output in stored(path)]
    assert shown == drawn, "write: python tests/surface/pictures.py"


def stored(path: Path) -> list[tuple[Any, Any]]:
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    return [(cell, output) for cell in notebook.cells for output in cell.get("outputs", [])]


@each_notebook
def test_a_notebook_is_committed_as_it_was_written(path: Path):
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    assert (notebook.nbformat, notebook.nbformat_minor) >= (4, 5)
    nbformat.validate(notebook)
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.id for cell in code if cell.execution_count is not None] == []
    text = path.read_text(encoding="utf-8")
    for _, output in stored(path):
        text = text.replace(output.data["image/png"], "")
    assert MACHINE.search(text) is None


@each_notebook
def test_a_notebook_has_pictures_that_are_small_and_said_in_words(path: Path):
    outputs = [output for _, output in stored(path)]
    assert outputs
    for output in outputs:
        assert set(output.data) == {"image/png", "text/plain"}
        assert len(output.data["image/png"]) <= pictures.MOST_BYTES
        assert re.search(r"\w: \w", output.data["text/plain"])
    assert path.stat().st_size <= pictures.MOST_OF_ALL


@pytest.mark.slow
def test_the_picture_of_the_front_page_shows_what_the_library_draws():
    now = pictures.fingerprint(pictures.front())

    assert f"fingerprint\0{now}".encode() in pictures.FRONT.read_bytes(), (
        "write: python tests/surface/pictures.py segments.png"
    )


def test_a_fingerprint_is_that_of_words_and_numbers_but_for_their_last_digits():
    def of(value: float, title: str = "Title") -> str:
        rows = {"a name": [{"x": value, "y": None}]}
        spec = {"title": {"text": [title], "subtitle": ["below"]}, "datasets": rows}
        return pictures.fingerprint(pictures.Chart(spec))

    assert of(1 / 3) == of(1 / 3 + 1e-12)
    assert len({of(1 / 3), of(0.33333), of(-1 / 3), of(1 / 3, "Another")}) == 4


@each_notebook
def test_a_notebook_opens_with_a_title_and_what_the_reader_will_be_able_to_do(path: Path):
    first = nbformat.read(path, as_version=4).cells[0]
    title, _, aim = first.source.partition("\n\n")
    assert first.cell_type == "markdown"
    assert re.fullmatch(r"# \S.*", title)
    assert re.fullmatch(r"After this notebook you can [^.]+\.", aim)
