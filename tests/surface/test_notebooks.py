"""The notebooks run from top to bottom, and are committed as they were written: without output or traces of a machine."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
MACHINE = re.compile(r"/(home|Users|root|tmp|work|mnt|opt|var)/|[A-Z]:\\", re.ASCII)

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
def test_a_notebook_runs_without_a_warning(path: Path, kernel: str, tmp_path: Path):
    notebook = nbformat.read(path, as_version=4)
    working = tmp_path / "working"
    working.mkdir()
    client = NotebookClient(
        notebook, kernel_name=kernel, timeout=120, resources={"metadata": {"path": str(working)}}
    )
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert [output["text"] for output in outputs if output.get("name") == "stderr"] == []
    assert any(output["output_type"] == "execute_result" for output in outputs)


@each_notebook
def test_a_notebook_is_committed_as_it_was_written(path: Path):
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    assert (notebook.nbformat, notebook.nbformat_minor) >= (4, 5)
    nbformat.validate(notebook)
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.id for cell in code if cell.outputs or cell.execution_count is not None] == []
    assert MACHINE.search(path.read_text(encoding="utf-8")) is None


@each_notebook
def test_a_notebook_opens_with_a_title_and_what_the_reader_will_be_able_to_do(path: Path):
    first = nbformat.read(path, as_version=4).cells[0]
    title, _, aim = first.source.partition("\n\n")
    assert first.cell_type == "markdown"
    assert re.fullmatch(r"# \S.*", title)
    assert re.fullmatch(r"After this notebook you can [^.]+\.", aim)
