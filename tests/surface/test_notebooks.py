"""The notebooks run from top to bottom, what is claimed of them holds, and their stored outputs are those that they have."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import nbformat
import pytest

import notebook_outputs
import pictures
from notebook_claims import CLAIMS

NOTEBOOKS = notebook_outputs.NOTEBOOKS
MOST_BYTES = 400_000
"""Of a notebook, tables and pictures included."""
MACHINE = re.compile(r"/(home|Users|root|tmp|work|mnt|opt|var)/|[A-Z]:\\", re.ASCII)

SCRIPT = re.compile(r"<script|<iframe|(src|href)=")
"""What needs a script or a network."""
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


@pytest.mark.apart
@each_notebook
def test_a_notebook_runs_without_a_warning_and_has_the_outputs_that_are_stored(
    path: Path, kernel: str, tmp_path: Path
):
    working = tmp_path / "working"
    working.mkdir()
    notebook = notebook_outputs.run(path, working, kernel)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    told = [output["text"] for output in outputs if output.get("name") == "stderr"]
    assert told == []

    new = notebook_outputs.as_stored(notebook, draws=False)
    assert notebook_outputs.differences(read(path), new) == [], (
        "write: python tests/surface/notebook_outputs.py"
    )


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=nbformat.NO_CONVERT)


def test_a_notebook_is_committed_as_it_was_stored_and_says_first_what_its_readers_can_do_after_it():
    assert len(NOTEBOOKS) >= 5
    for path in NOTEBOOKS:
        notebook = read(path)
        assert (notebook.nbformat, notebook.nbformat_minor) >= (4, 5)
        nbformat.validate(notebook)
        assert len({cell.id for cell in notebook.cells}) == len(notebook.cells), path
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert [cell.execution_count for cell in code] == [*range(1, len(code) + 1)], path
        outputs = [output for cell in code for output in cell.outputs]
        assert {output.output_type for output in outputs} <= {"stream", "execute_result"}, path
        assert path.stat().st_size <= MOST_BYTES, path
        for output in outputs:
            data = output.get("data", {"text/plain": ""})
            assert "text/plain" in data, path
            assert not any(name.startswith("application/") for name in data), path
            assert not re.search(SCRIPT, data.get("text/html", "")), path
            data.pop("image/png", None)
            assert MACHINE.search(json.dumps(output)) is None, path
        title, _, aim = notebook.cells[0].source.partition("\n\n")
        assert re.fullmatch(r"# \S.*", title), path
        assert re.fullmatch(r"After this notebook you can [^.]+\.", aim), path


def test_claims_are_of_cells_that_there_are_and_readers_see_no_assertion():
    cells = {
        path.stem: {cell.id: cell for cell in read(path).cells if cell.cell_type == "code"}
        for path in NOTEBOOKS
    }

    for name, claims in CLAIMS.items():
        assert claims.keys() <= cells[name].keys()
        assert all("assert" in claim for claim in claims.values())
    assert not [one.id for of in cells.values() for one in of.values() if "assert" in one.source]


def outputs(*, text: str = "", **data: object) -> nbformat.NotebookNode:
    made = (
        nbformat.v4.new_output("stream", text=text)
        if text
        else nbformat.v4.new_output("execute_result", data=data)
    )
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1", id="a", outputs=[made])])


def chart(value: float, width: int = 60, title: str = "T") -> dict[str, str]:
    labels = "".join(f'<g aria-label="{one}"/>' for one in (f"Title text '{title}'", value))
    return {"image/svg+xml": f'<svg width="{width}">{labels}</svg>'}


SAME: list[tuple[dict[str, str], dict[str, str]]] = [
    ({"text": "took 1.5 s"}, {"text": "took 12 s"}),
    ({"text": "recframe 0.1.0 in /home/ann/x"}, {"text": "recframe 0.2.0 in /tmp/a/b"}),
    ({"text": "<object at 0x7f3a>"}, {"text": "<object at 0x11>"}),
    ({"text": "0.63504802371046"}, {"text": "0.63504802371047"}),
    # letters are as wide as the machine's fonts
    (chart(1 / 3), chart(1 / 3 + 1e-12, 61)),
]
OTHER = [
    *(({"text": one}, {"text": other}) for one, other in (("better", "worse"), ("-0.1", "0.1"))),
    ({"text": "0.635048"}, {"text": "0.635049"}),
    ({"text/html": "<p>ndcg@10</p>"}, {"text/html": "<p>ndcg@5</p>"}),
    (chart(1 / 3), chart(1 / 3 + 1e-8)),
    (chart(1 / 3), chart(1 / 3, title="U")),
]


@pytest.mark.parametrize(("one", "other", "is_same"), [
    *((*pair, True) for pair in SAME), *((*pair, False) for pair in OTHER),
])  # fmt: skip
def test_outputs_differ_where_they_say_something_else(one, other, is_same):
    found = notebook_outputs.differences(outputs(**one), outputs(**other))

    assert len(found) == (not is_same)
    assert all(told.startswith("a: ") for told in found)


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
