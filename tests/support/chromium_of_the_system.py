"""Pages in the browser of the system, which is offline, and what goes wrong in them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    named = os.environ.get("CHROMIUM")
    path = named or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("no Chromium: apt-get install chromium, or name one in the variable CHROMIUM")
    with playwright.sync_playwright() as started:
        made = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield made
        made.close()


class Visit:
    """A page that is open, what it asked for, and what it said or showed that is wrong."""

    def __init__(self, browser: Any, address: str, width: int = 1280, **options: Any) -> None:
        view = {"width": width, "height": 900}
        self.context = browser.new_context(viewport=view, offline=True, **options)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda one: self.wrong.append(str(one)))
        self.page.on("dialog", lambda one: self.wrong.append(one.message))
        self.page.on("request", self._asked)
        self.page.goto(address)

    def _said(self, message: Any) -> None:
        # a browser's remarks are of type info and come and go with time, such as on the focus of a search that opens
        if message.type in ("error", "warning", "assert", "log"):
            self.wrong.append(message.text)

    def _asked(self, request: Any) -> None:
        self.asked.append(request.url)
        if not request.url.startswith(("file:", "data:", "blob:", "about:")):
            self.wrong.append(f"asked for {request.url}")


@pytest.fixture
def visit(browser: Any) -> Iterator[Any]:
    """Open pages that are closed at the end."""
    made: list[Visit] = []

    def one(address: str, **options: Any) -> Visit:
        made.append(Visit(browser, address, **options))
        return made[-1]

    yield one
    for seen in made:
        seen.context.close()


CONTRAST = """(texts) => {
    const part = (value) => { const c = value / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const seen = new Map();
    const over = (colour, ground) => {
        const key = `${colour} on ${ground}`;
        if (!seen.has(key)) {
            canvas.fillStyle = `rgb(${ground.join()})`; canvas.fillRect(0, 0, 1, 1);
            canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
            seen.set(key, [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3));
        }
        return seen.get(key);
    };
    const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
    const grounds = new Map();
    const ground = (one) => {
        if (!one) return [255, 255, 255];
        if (!grounds.has(one)) grounds.set(one, over(getComputedStyle(one).backgroundColor, ground(one.parentElement)));
        return grounds.get(one);
    };
    const low = new Set();
    const asked = new Set();
    for (const one of document.querySelectorAll(texts)) {
        // what has the classes of another, and a parent of the same classes, looks alike
        const key = [one, one.parentElement].map((each) => `${each.tagName} ${each.className}`).join(" in ");
        if (asked.has(key)) continue;
        const said = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
        if (!said || !one.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
        asked.add(key);
        const behind = ground(one);
        const [a, b] = [light(over(getComputedStyle(one).color, behind)), light(behind)];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) low.add(`${key}: contrast ${ratio.toFixed(1)}`);
    }
    return [...low];
}"""
"""What has too little contrast among some texts."""
