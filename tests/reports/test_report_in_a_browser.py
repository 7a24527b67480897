"""A report in a real browser: every chart drawn, no error, no request, found by keyboard, at three widths."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import recframe as rf
from chromium_of_the_system import chromium
from planted_shop import shop

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.environ.get("CI"), reason="a browser is for .ci/run: CI=true"),
]
SHOP = shop(n=80)
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028 שלום"
TRAIN = pl.DataFrame({"user": [1, 1, 2, 3], "item": [0, 5, 0, 1]})
ITEMS = SHOP.items.with_columns(
    title=pl.when(pl.col("item") == 0).then(pl.lit(EVIL)).otherwise(pl.format("Item {}", "item"))
)
WIDTHS = [360, 768, 1280]
DRAWN = "html[data-charts=drawn]"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    recs = SHOP.recs.with_columns(model=pl.col("model").replace("new", EVIL))
    users = SHOP.users.with_columns(country=pl.col("country").replace("FR", EVIL))
    rec = rf.rec(recs, truth=SHOP.truth, users=users, items=ITEMS, train=TRAIN, model="model")
    path = tmp_path_factory.mktemp("report") / "report.html"
    rec.report("ndcg@3", "recall@5", baseline="old", by=["country", "age"], title=EVIL).save(path)
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    path = chromium()
    with playwright.sync_playwright() as started:
        made = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield made
        made.close()


class Seen:
    """A page that is open, and what went wrong in it."""

    def __init__(self, browser: Any, path: Path, width: int = 1280, scheme: str = "light") -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
        )
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda one: self.wrong.append(one.text))
        self.page.on("pageerror", lambda one: self.wrong.append(str(one)))
        self.page.on("dialog", lambda one: self.wrong.append(one.message))
        self.page.on("request", lambda one: self.asked.append(one.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector(DRAWN, timeout=60_000)

    def evaluate(self, script: str) -> Any:
        return self.page.evaluate(script)


@pytest.fixture
def opened(browser: Any, page_file: Path) -> Iterator[Any]:
    made: list[Seen] = []

    def one(**options: Any) -> Seen:
        made.append(Seen(browser, page_file, **options))
        return made[-1]

    yield one
    for seen in made:
        seen.context.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_every_chart_is_drawn_without_an_error_or_a_request(opened, page_file, width):
    seen = opened(width=width)

    charts = seen.evaluate(
        """[...document.querySelectorAll("figure[data-chart]")].map((figure) => [
            figure.querySelectorAll(".plot svg [class*='mark-'] path, .plot svg [class*='mark-'] line").length,
            figure.querySelector(".plot svg").getBoundingClientRect().width,
            figure.querySelector(".plot").getBoundingClientRect().width])"""
    )
    assert len(charts) == 10
    for marks, drawn, place in charts:
        assert marks > 2
        assert 200 < drawn <= place + 1
    assert seen.evaluate("document.documentElement.scrollWidth") == width
    assert seen.wrong == []
    assert seen.asked == [page_file.as_uri()]


@pytest.mark.parametrize("width", [360, 1280])
def test_the_first_screen_says_what_to_ship_in_tiles_and_a_chart(opened, width):
    page = opened(width=width).page
    said = page.locator(".subtitle").inner_text().replace("\u00a0", " ")
    tiles = page.locator(".tiles div").all()
    ends = [one.bounding_box()["y"] + one.bounding_box()["height"] for one in tiles]

    assert said.startswith(("Ship ", "Keep ", "Do not decide on this: "))
    assert [one.locator("dt").inner_text() for one in tiles] == [
        "Best by ndcg@3",
        "Gain over the baseline",
        "Users worse off",
    ]
    # what is read without scrolling: all of it on a desk, the sentence on a phone
    box = page.locator(".subtitle").bounding_box()
    assert (ends[-1] if width > 1000 else box["y"] + box["height"]) < 900
    assert page.locator("#chart-models svg").bounding_box()["y"] < 2_000
    assert page.locator("#overview .note").count() == 0
    first = page.locator("section#overview tbody th").first
    assert page.evaluate("(one) => getComputedStyle(one).position", first.element_handle()) == (
        "static" if width > 1000 else "sticky"
    )


def test_hostile_texts_do_nothing_and_are_read_as_they_are(opened):
    seen = opened()

    assert seen.wrong == []
    assert "<script>alert(1)</script>" in seen.page.locator("h1").inner_text()
    assert seen.page.locator("img").count() == 0
    seen.page.locator("#case-kind").select_option("")
    seen.page.locator("#case-find").fill("onerror=alert(2)")
    assert seen.page.locator("details.case:not([hidden])").count() > 0
    assert seen.wrong == []


def test_the_theme_follows_the_system_and_a_button_that_is_remembered(opened):
    seen = opened(scheme="dark")
    ground = "getComputedStyle(document.querySelector('section')).backgroundColor"
    dark, light = "rgb(22, 25, 29)", "rgb(255, 255, 255)"

    assert seen.evaluate(ground) == dark
    seen.page.locator("#theme").click()
    assert seen.evaluate(ground) == light
    assert seen.page.locator("#theme").inner_text() == "Dark mode"
    seen.page.reload()
    seen.page.wait_for_selector(DRAWN)
    assert seen.evaluate(ground) == light


def test_cases_are_found_by_keyboard_alone(opened):
    seen = opened()
    page = seen.page
    shown = "details.case:not([hidden])"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"

    before = page.locator(shown).count()
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "case-find":
            break
    user = page.evaluate("document.querySelectorAll('.case .who bdi')[0].textContent")
    page.keyboard.type(user)
    # of all kinds, of which one was shown before
    kinds = {one.inner_text() for one in page.locator(f"{shown} .badge").all()}
    assert len(kinds) > 1
    assert page.evaluate("document.getElementById('case-kind').value") == ""
    assert page.locator("#case-count").inner_text().startswith(f"{page.locator(shown).count()} of ")
    page.keyboard.press("Tab")
    page.keyboard.type("best")
    assert page.locator(f"{shown} .badge").count()
    assert {one.inner_text() for one in page.locator(f"{shown} .badge").all()} <= {"best"}
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    assert page.locator(shown).count() == before
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "SUMMARY":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{shown}[open] .case-body .ranked li", timeout=10_000)
    assert seen.wrong == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_contrast(opened, scheme):
    seen = opened(scheme=scheme)

    low = seen.evaluate(CONTRAST)

    assert low == []
    assert seen.evaluate("document.querySelectorAll('p, td, th, summary, .badge').length") > 50


CONTRAST = """(() => {
    const part = (value) => { const c = value / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
    const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
    const ground = (one) => {
        for (let at = one; at; at = at.parentElement) {
            const found = numbers(getComputedStyle(at).backgroundColor);
            if (found.length < 4 || found[3] > 0) return found;
        }
        return [255, 255, 255];
    };
    const low = [];
    const texts = "p, td, th, dt, dd, h1, h2, h3, h4, a, summary, button, label, .badge, .small, .mark, .id";
    for (const one of document.querySelectorAll(texts)) {
        const [a, b] = [light(numbers(getComputedStyle(one).color)), light(ground(one))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) low.push([one.className || one.tagName, ratio]);
    }
    return low;
})()"""


def test_a_notebook_runs_the_page_in_its_frame(browser, page_file):
    context = browser.new_context(offline=True)
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda one: wrong.append(one.text))
    page.on("pageerror", lambda one: wrong.append(str(one)))
    text = page_file.read_text(encoding="utf-8")
    page.set_content("<iframe id='cell' sandbox='allow-scripts'></iframe>")
    page.evaluate("(text) => { document.getElementById('cell').srcdoc = text; }", text)

    frame = page.frame_locator("#cell")
    frame.locator(DRAWN).wait_for(state="attached", timeout=60_000)
    frame.locator("#theme").click()
    if not frame.locator("#contents").get_attribute("open"):
        frame.locator("#contents summary").click()
    frame.locator("#contents a[href='#findings']").click()
    assert frame.locator(DRAWN).count() == 1
    assert page.frames[1].evaluate("scrollY") > 100
    assert wrong == []
    context.close()
