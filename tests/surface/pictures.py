"""Draws the pictures that notebooks and README have stored, `python tests/surface/pictures.py [part of a name]`; tests compare.

GitHub shows a stored picture, and no chart or page that a script would draw. So each chart of a notebook is stored as a PNG,
and of a report what is seen first, with a fingerprint of numbers and words, which tells when the cell would show others. Other
outputs are not stored. It takes Pillow, which makes pictures small, and for a report Chromium.
"""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

import recframe as rf

FRONT = Path(__file__).parents[2] / "docs" / "images" / "segments.png"
"""What README shows; its fingerprint stands in it."""
REPORT = FRONT.with_name("report.png")
"""The first screen of the site's live report, which README and home show."""
NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
SPECIFICATION = "application/vnd.vegalite+json"
SCALE = 2
"""Pixels of a picture for each pixel of its chart: screens have two and more."""
COLOURS = 48
VIEW, SECONDS = {"width": 860, "height": 1120}, 3
"""How much of a report is seen, and how long its charts may take."""
FIRST_SCREEN = {"width": 1280, "height": 860}
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


def shown(notebook: nbformat.NotebookNode) -> Iterator[tuple[Any, Chart | Report]]:
    """Walk what a notebook that has been run shows a picture of: the cell, and the chart or the report."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if SPECIFICATION in data:
                yield cell, Chart(data[SPECIFICATION])
            elif data.get("text/html", "").startswith("<iframe"):
                yield cell, Report(html.unescape(data["text/html"].partition('srcdoc="')[2]))


@dataclass(frozen=True)
class Chart:
    """A chart by its specification."""

    spec: dict[str, Any]

    @property
    def words(self) -> str:
        """Its title and what stands below it."""
        title = self.spec["title"]
        return ": ".join(" ".join(title[part]) for part in ("text", "subtitle"))

    @property
    def rows(self) -> list[dict[str, Any]]:
        """What it is drawn of."""
        return [row for rows in self.spec["datasets"].values() for row in rows]

    def png(self) -> bytes:
        """Draw it."""
        import vl_convert  # noqa: PLC0415  tests that compare draw nothing

        drawn: bytes = vl_convert.vegalite_to_png(json.dumps(self.spec), scale=SCALE)
        return drawn


@dataclass(frozen=True)
class Report:
    """A report by its page."""

    page: str
    view: Mapping[str, int] = field(default_factory=lambda: VIEW)

    @property
    def words(self) -> str:
        """Its title and what stands below it."""
        found = re.search(r"<h1[^>]*>(.*?)</h1>\s*<p[^>]*>(.*?)</p>", self.page, re.DOTALL)
        return ": ".join(" ".join(one.split()) for one in found.groups()) if found else ""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The numbers that are seen first."""
        found = re.search(r'id="page-data">(.*?)</script>', self.page, re.DOTALL)
        data = json.loads(found.group(1)) if found else {}
        names = ("model", "metric", "value", "difference")
        rows = [*data.get("summary", []), *data.get("compared", [])]
        return [{name: row[name] for name in names if name in row} for row in rows]

    def png(self) -> bytes:
        """Photograph the top of it."""
        from playwright.sync_api import sync_playwright  # noqa: PLC0415

        path = shutil.which("chromium") or shutil.which("chromium-browser")
        with sync_playwright() as started:
            browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
            seen = browser.new_page(viewport=dict(self.view))
            seen.set_content(self.page)
            seen.wait_for_timeout(SECONDS * 1000)
            return seen.screenshot()


def fingerprint(one: Chart | Report) -> str:
    """Return what changes when there are other numbers or words, whatever drew them."""
    rows = [{name: _rounded(value) for name, value in row.items()} for row in one.rows]
    lines = [one.words, *sorted(json.dumps(row, sort_keys=True) for row in rows)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _rounded(value: Any) -> Any:
    return f"{value + 0.0:.{DIGITS}g}" if isinstance(value, int | float) else value


def small(drawn: Any, **texts: str) -> bytes:
    """Return a picture in few colours, with texts in it that nobody sees."""
    from PIL import Image, PngImagePlugin  # noqa: PLC0415

    told = PngImagePlugin.PngInfo()
    for name, text in texts.items():
        told.add_text(name, text)
    rare_ones_too = Image.Quantize.MAXCOVERAGE
    palette = drawn.quantize(COLOURS, rare_ones_too, kmeans=3, dither=Image.Dither.NONE)
    file = io.BytesIO()
    palette.save(file, "PNG", optimize=True, pnginfo=told)
    return file.getvalue()


def _image(one: Chart | Report) -> Any:
    from PIL import Image  # noqa: PLC0415

    return Image.open(io.BytesIO(one.png())).convert("RGB")


def front() -> Chart:
    """Return the chart that README shows, of the frames of its examples."""
    from recframe.demo import simulate  # noqa: PLC0415  it takes NumPy

    shop = simulate()
    rec = rf.rec(shop.recs, shop.truth, users=shop.users, model="model")
    return Chart(rec.plot(width=640).segments("ndcg@10", by="activity").to_dict())


def front_report() -> Report:
    """Return the live report of the site."""
    sys.path.append(str(FRONT.parents[1] / "_build"))
    import live  # noqa: PLC0415  it is made with the site

    return Report(live.report(), FIRST_SCREEN)


def picture(one: Chart | Report) -> nbformat.NotebookNode:
    """Return a chart or a report as an output that GitHub shows."""
    drawn = _image(one)
    scale = SCALE if isinstance(one, Chart) else 1
    size = {"width": drawn.width // scale, "height": drawn.height // scale}
    data = {"image/png": base64.b64encode(small(drawn)).decode(), "text/plain": one.words}
    metadata = {"image/png": size, "fingerprint": fingerprint(one)}
    return nbformat.v4.new_output("display_data", data=data, metadata=metadata)


def main(part: str = "") -> None:
    """Store the pictures of the notebooks, and of README, whose names have a part in them."""
    for path, made in ((FRONT, front), (REPORT, front_report)):
        if part in path.name:
            one = made()
            path.write_bytes(small(_image(one), fingerprint=fingerprint(one)))
    for path in (each for each in NOTEBOOKS if part in each.name):
        with tempfile.TemporaryDirectory() as working:
            ran = run(path, Path(working))
        stored = nbformat.read(path, as_version=4)
        cells = {cell.id: cell for cell in stored.cells}
        for cell in stored.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        for cell, one in shown(ran):
            cells[cell.id].outputs.append(picture(one))
        text = nbformat.writes(stored).rstrip() + "\n"
        path.write_text(text, encoding="utf-8", newline="\n")
        sys.stdout.write(f"{path.name}: {len(text):,} bytes\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
