"""Draws the pictures that notebooks have stored, `python tests/surface/pictures.py [part of a name]`; tests compare them.

GitHub shows a stored picture, and no chart that a script of the page would draw. So each chart of a notebook is stored as a
PNG, with a fingerprint of its numbers and words, which tells when it no longer shows what the cell would draw. Other outputs
are not stored. It takes Pillow, which makes pictures small.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
SPECIFICATION = "application/vnd.vegalite+json"
SCALE = 2
"""Pixels of a picture for each pixel of its chart: screens have two and more."""
COLOURS = 48
MOST_BYTES, MOST_OF_ALL = 60_000, 300_000
"""Of a picture as it is stored, and of a notebook."""
DIGITS = 6
"""So many digits of a number count, since the last ones depend on the machine."""
RENDERED = f"""\
import altair
altair.renderers.register("specification", lambda spec, **_: {{{SPECIFICATION!r}: spec}})
altair.renderers.enable("specification");"""


def run(path: Path, working: Path, kernel: str = "python3") -> nbformat.NotebookNode:
    """Return a notebook as it has been run, with charts as specifications."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(RENDERED))
    resources = {"metadata": {"path": str(working)}}
    NotebookClient(notebook, kernel_name=kernel, timeout=180, resources=resources).execute()
    notebook.cells.pop(0)
    return notebook


def charts(notebook: nbformat.NotebookNode) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Walk the charts of a notebook that has been run: the cell, and the specification."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            spec = output.get("data", {}).get(SPECIFICATION)
            if spec is not None:
                yield cell, spec


def words(spec: dict[str, Any]) -> str:
    """Return the title of a chart and what stands below it."""
    title = spec["title"]
    return ": ".join(" ".join(title[part]) for part in ("text", "subtitle"))


def fingerprint(spec: dict[str, Any]) -> str:
    """Return what changes when a chart has other numbers or words, whatever drew it."""
    rows = [_rounded(row) for rows in spec["datasets"].values() for row in rows]
    shown = [words(spec), *sorted(json.dumps(row, sort_keys=True) for row in rows)]
    return hashlib.sha256("\n".join(shown).encode()).hexdigest()[:16]


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: f"{value + 0.0:.{DIGITS}g}" if isinstance(value, int | float) else value
        for name, value in row.items()
    }


def picture(spec: dict[str, Any]) -> nbformat.NotebookNode:
    """Return a chart as an output that GitHub shows."""
    import vl_convert  # noqa: PLC0415  tests that compare draw nothing
    from PIL import Image  # noqa: PLC0415

    drawn = Image.open(io.BytesIO(vl_convert.vegalite_to_png(json.dumps(spec), scale=SCALE)))
    small = io.BytesIO()
    palette = drawn.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    palette.save(small, "PNG", optimize=True)
    size = {"width": drawn.width // SCALE, "height": drawn.height // SCALE}
    data = {"image/png": base64.b64encode(small.getvalue()).decode(), "text/plain": words(spec)}
    metadata = {"image/png": size, "fingerprint": fingerprint(spec)}
    return nbformat.v4.new_output("display_data", data=data, metadata=metadata)


def main(part: str = "") -> None:
    """Store the pictures of the notebooks whose names have a part in them."""
    for path in (one for one in NOTEBOOKS if part in one.name):
        with tempfile.TemporaryDirectory() as working:
            ran = run(path, Path(working))
        stored = nbformat.read(path, as_version=4)
        cells = {cell.id: cell for cell in stored.cells}
        for cell in stored.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        for cell, spec in charts(ran):
            cells[cell.id].outputs.append(picture(spec))
        text = json.dumps(stored, indent=1, ensure_ascii=False, sort_keys=False) + "\n"
        path.write_text(text, encoding="utf-8", newline="\n")
        sys.stdout.write(f"{path.name}: {len(text):,} bytes\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
