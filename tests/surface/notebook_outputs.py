"""Runs the notebooks and stores their outputs, `python tests/surface/notebook_outputs.py [part of a name]`; tests compare them.

An output is stored as it comes: tables as text and HTML, charts as SVG. A report, which is a megabyte of script, is a picture
of its first screen. Outputs are compared without what changes from run to run, and of images the texts for those who do not see
them, since letters are as wide as the machine's fonts; numbers agree to nine digits.
"""

from __future__ import annotations

import base64
import html
import json
import math
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

import pictures
from notebook_claims import CLAIMS

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
MASKED = {
    r"\b\d+(\.\d+)? (s|ms|MB|kB)\b": "<measured>",
    r"\b0x[0-9a-f]+": "<address>",
    r"(?<!\w)/\w+/[^\s'\"]+": "<path>",
    r"\b\d+\.\d+\.\d+\b": "<version>",
}
"""What changes from run to run, by its pattern."""
NUMBER = re.compile(r"((?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]\d+)?(?![\w.]))")
LABEL = re.compile(r'aria-label="([^"]*)"')
MARKUP = re.compile(r"<style.*?</style>|<[^>]*>", re.DOTALL)


def run(path: Path, working: Path, kernel: str = "python3") -> nbformat.NotebookNode:
    """Return a notebook as it has been run in a folder; what is claimed of its cells is checked on the way."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [one for cell in notebook.cells for one in (cell, *_claims(path, cell))]
    resources = {"metadata": {"path": str(working)}}
    options = {"timeout": 300, "record_timing": False, "resources": resources}
    NotebookClient(notebook, kernel_name=kernel, **options).execute()
    notebook.cells = [cell for cell in notebook.cells if not cell.id.startswith("claim-")]
    return notebook


def _claims(path: Path, cell: Any) -> Iterator[Any]:
    """Give a cell that checks what is claimed of another one; its names do not reach those that follow."""
    claims = CLAIMS.get(path.stem, {}).get(cell.id)
    if claims:
        yield nbformat.v4.new_code_cell(f"exec({claims!r}, dict(globals()))", id=f"claim-{cell.id}")


def as_stored(notebook: nbformat.NotebookNode, *, draws: bool) -> nbformat.NotebookNode:
    """Return a notebook that has been run with its outputs as they are stored; pictures of reports may be left out."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for place, cell in enumerate(code, start=1):
        cell.execution_count = place
        cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr"]
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = place
            page = output.get("data", {}).get("text/html", "").partition('srcdoc="')[2]
            if page:
                _photograph(output, html.unescape(page.partition('"')[0]), draws=draws)
    return notebook


def _photograph(output: Any, page: str, *, draws: bool) -> None:
    """Put a picture of a report in place of its page."""
    report = pictures.Report(page)
    drawn = base64.b64encode(pictures.small(pictures.image(report))).decode() if draws else ""
    output.data = {"image/png": drawn, "text/plain": report.words}
    output.metadata = {"fingerprint": pictures.fingerprint(report)}


def differences(stored: nbformat.NotebookNode, new: nbformat.NotebookNode) -> list[str]:
    """Return what other outputs a notebook has than those that are stored."""
    if [cell.id for cell in stored.cells] != [cell.id for cell in new.cells]:
        return ["other cells"]
    found = []
    for before, after in zip(stored.cells, new.cells, strict=True):
        kept, made = ([*map(comparable, cell.get("outputs", []))] for cell in (before, after))
        if not same(kept, made):
            found.append(f"{before.id}: {json.dumps(kept)[:300]} is now {json.dumps(made)[:300]}")
    return found


def comparable(output: Any) -> Any:
    """Return an output with all that is compared of it."""
    if output.output_type == "stream":
        return words(output.text)
    said = {"image/svg+xml": lambda svg: "; ".join(LABEL.findall(svg)), "image/png": lambda _: ""}
    forms = {name: words(said.get(name, str)(one)) for name, one in dict(output.data).items()}
    return [output.output_type, forms, output.metadata.get("fingerprint", "")]


def words(text: str) -> list[Any]:
    """Return a text as words and numbers, without markup and without what changes from run to run."""
    for pattern, instead in MASKED.items():
        text = re.sub(pattern, instead, text)
    parts = NUMBER.split(MARKUP.sub(" ", text) if text.lstrip().startswith("<") else text)
    return [float(one) if place % 2 else " ".join(one.split()) for place, one in enumerate(parts)]


def same(one: Any, other: Any) -> bool:
    """Whether two outputs say the same, their numbers to nine digits."""
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def main(part: str = "") -> None:
    """Store the outputs of the notebooks whose names have a part in them."""
    for path in (one for one in NOTEBOOKS if part in one.name):
        with tempfile.TemporaryDirectory() as working:
            notebook = as_stored(run(path, Path(working)), draws=True)
        text = nbformat.writes(notebook).rstrip() + "\n"
        path.write_text(text, encoding="utf-8", newline="\n")
        sys.stdout.write(f"{path.name}: {len(text):,} bytes\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
