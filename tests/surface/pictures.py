"""Draws the pictures of README and of the site's home, `python tests/surface/pictures.py [part of a name]`; tests compare.

Each has a fingerprint of its numbers and words in it, which tells when the library would draw others. It takes Pillow, which
makes pictures small, and for a report Chromium.
"""

from __future__ import annotations

import hashlib
import html
import io
import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import recframe as rf

FRONT = Path(__file__).parents[2] / "docs" / "images" / "segments.png"
"""What README shows; its fingerprint stands in it."""
REPORT = FRONT.with_name("report.png")
"""The first screen of the site's live report, which README and home show."""
SCALE = 2
"""Pixels of a picture for each pixel of its chart: screens have two and more."""
COLOURS = 48
VIEW, SECONDS = {"width": 860, "height": 1120}, 3
"""How much of a report is seen, and how long its charts may take."""
FIRST_SCREEN = {"width": 1280, "height": 860}
DIGITS = 6
"""So many digits of a number count, since the last ones depend on the machine."""


@dataclass(frozen=True)
class Chart:
    """A chart by its specification."""

    spec: dict[str, Any]

    @property
    def words(self) -> str:
        title = self.spec["title"]
        return ": ".join(" ".join(title[part]) for part in ("text", "subtitle"))

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [row for rows in self.spec["datasets"].values() for row in rows]

    def png(self) -> bytes:
        import vl_convert  # noqa: PLC0415  tests that compare draw nothing

        drawn: bytes = vl_convert.vegalite_to_png(json.dumps(self.spec), scale=SCALE)
        return drawn


@dataclass(frozen=True)
class Report:
    """A report by its page."""

    page: str
    view: Mapping[str, int] = field(default_factory=lambda: VIEW)
    rows: Sequence[dict[str, Any]] = ()
    """None: what is seen first is said in words."""

    @property
    def words(self) -> str:
        found = re.search(r"<h1[^>]*>(.*?)</h1>\s*<p[^>]*>(.*?)</p>", self.page, re.DOTALL)
        lines = [re.sub(r"<[^>]*>", "", one) for one in found.groups()] if found else []
        return ": ".join(" ".join(html.unescape(line).split()) for line in lines)

    def png(self) -> bytes:
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


def image(one: Chart | Report) -> Any:
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


def badges() -> dict[Path, str]:
    """Return the badges of README, of what pyproject.toml says."""
    project = (FRONT.parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    versions = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', project)
    found = {
        "python": ("Python", f"{versions[0]} to {versions[-1]}"),
        "licence": ("licence", re.findall(r'^license = "(.*)"', project, re.MULTILINE)[0]),
        "typed": ("typed", "mypy, strict" if "\nstrict = true" in project else "no"),
        "status": ("status", re.findall(r"Development Status :: \d - (\w+)", project)[0].lower()),
    }
    return {FRONT.with_name(f"{name}.svg"): _badge(*texts) for name, texts in found.items()}


def _badge(name: str, said: str) -> str:
    """Return a text on grey and one on green, as an SVG that needs no font in particular."""
    widths = [round(6.4 * len(text)) for text in (name, said)]
    left, right = (width + 14 for width in widths)
    boxes = f'<path fill="#3c4650" d="M0 0h{left}v20H0z"/><path fill="#0b6e4f" d="M{left} 0h{right}v20H{left}z"/>'
    texts = "".join(
        f'<text x="{start + 7}" y="14" textLength="{width}">{text}</text>'
        for start, width, text in ((0, widths[0], name), (left, widths[1], said))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{name}: {said}">'
        f'<clipPath id="corners"><rect width="{left + right}" height="20" rx="4"/></clipPath>'
        f'<g clip-path="url(#corners)">{boxes}<g fill="#fff" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11">'
        f"{texts}</g></g></svg>\n"
    )


def main(part: str = "") -> None:
    """Store the pictures whose names have a part in them."""
    for path, text in badges().items():
        if part in path.name:
            path.write_text(text, encoding="utf-8")
    for path, made in ((FRONT, front), (REPORT, front_report)):
        if part in path.name:
            one = made()
            path.write_bytes(small(image(one), fingerprint=fingerprint(one)))


if __name__ == "__main__":
    main(*sys.argv[1:])
