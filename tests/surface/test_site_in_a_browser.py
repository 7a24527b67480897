"""The site as it was built, in a real browser and from the disk: nothing fetched, nothing cut off, all of it readable.

`python docs/_build/site.py` builds it; without it, or without Chromium, these tests are skipped.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote_plus

import pytest

pytest.importorskip("tomllib", reason="the site is built from Python 3.11 on")
import chromium_of_the_system
from chromium_of_the_system import CONTRAST
from recframe.api.plots import CHARTS
from words_of_search import FIRST

browser, visit = chromium_of_the_system.browser, chromium_of_the_system.visit
pytestmark = pytest.mark.nightly
SITE = Path(__file__).parents[2] / "build" / "site"
LIVE = ("live/report.html", "live/dashboard.html")
"""Pages that recframe wrote, which have tests of their own."""
# the page for what is not found stands at any address, so its links are those of the site's own
PAGES = sorted(
    {path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html")} - {"404.html", *LIVE}
)
LOOKS = {"phone": (360, "light"), "desktop": (1280, "dark")}
PARTS = 4
"""In how many parts pages are visited, so that processes share them."""

if not PAGES:
    pytest.skip("no site: python docs/_build/site.py", allow_module_level=True)


def at(name: str) -> str:
    return f"{SITE.as_uri()}/{name}"


TEXTS = "article :is(p, li, td, th, dt, dd, h1, h2, h3, h4, a, summary, label, code, span), nav a, header label, footer *"


@pytest.mark.parametrize("part", range(PARTS))
def test_every_page_is_whole_readable_and_asks_nothing_of_a_network(visit, part):
    first, *others = PAGES[part::PARTS]
    seen = visit(at(first))
    page, found = seen.page, {}
    for name in (first, *others):
        page.goto(at(name))
        for look, (width, scheme) in LOOKS.items():
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.set_viewport_size({"width": width, "height": 900})
            found[name, look] = page.evaluate(CUT_OFF) + page.evaluate(CONTRAST, TEXTS)
        found[name, "log"] = [*seen.wrong]
        seen.wrong.clear()

    assert {place: wrong for place, wrong in found.items() if wrong} == {}


CUT_OFF = """(() => {
    const wrong = [];
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > width) wrong.push(`as wide as ${document.documentElement.scrollWidth}`);
    for (const one of document.querySelectorAll("article *")) {
        const box = one.getBoundingClientRect();
        const scrolled = one.closest(".md-typeset__scrollwrap, pre, .formula, .tabbed-labels, details:not([open])");
        if (box.width && box.right > width + 1 && !scrolled) wrong.push(`${one.tagName} ${one.className} is cut off`);
    }
    for (const one of document.images) {
        if (!one.alt.trim()) wrong.push(`no text: ${one.src}`);
        if (!one.complete || !one.naturalWidth) wrong.push(`no picture: ${one.src}`);
    }
    return wrong;
})()"""


def test_the_search_works_from_the_disk_and_by_keyboard(visit):
    seen = visit(at("index.html"))
    page = seen.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "Skip to content"

    page.keyboard.press("Control+k")
    asked = page.get_by_role("combobox", name="Search")
    asked.wait_for()
    page.keyboard.type("ndcg", delay=20)
    found = page.locator("ol[role=listbox] a")
    found.first.wait_for()

    assert asked.input_value() == "ndcg"
    assert "ndcg" in found.first.inner_text().lower()
    assert seen.wrong == []
    page.keyboard.press("Enter")
    page.wait_for_url("**h=ndcg**")


def test_people_find_the_page_by_their_own_words(visit):
    seen = visit(at("index.html"))
    seen.page.keyboard.press("Control+k")
    asked = seen.page.get_by_role("combobox", name="Search")
    asked.wait_for()
    first = seen.page.locator("ol[role=listbox] a").first
    found = {}
    for words in FIRST:
        asked.fill(words)
        # what was found tells by `h=` for which words
        first.and_(seen.page.locator(f"[href*='h={quote_plus(words)}']")).wait_for()
        address = first.get_attribute("href").rpartition("/build/site/")[2]
        found[words] = re.split(r"[?#]", address)[0]

    assert found == FIRST
    assert '"changelog.html' not in (SITE / "search.json").read_text(encoding="utf-8")


def test_the_theme_is_chosen_and_kept(visit):
    seen = visit(at("index.html"), color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = seen.page.evaluate(ground)

    seen.page.locator("label[title*='light mode']:visible").click()
    light = seen.page.evaluate(ground)
    assert light != dark
    seen.page.reload()
    assert seen.page.evaluate(ground) == light
    assert seen.wrong == []


def test_home_says_its_claim_and_shows_a_report_five_lines_and_how_to_install(visit):
    seen = visit(at("index.html"))
    page = seen.page

    assert page.locator("h1").inner_text().startswith("recframe says which recommender to ship")
    picture = page.locator("article a[href='live/report.html'] img").bounding_box()
    assert picture["y"] + picture["height"] / 2 < page.viewport_size["height"]
    first = page.locator(".language-python pre").first.inner_text()
    assert len([line for line in first.splitlines() if line.strip()]) == 5
    assert "Bold: the best model" in page.locator("article").inner_text()
    assert "pip install" in page.locator(".language-sh pre").first.inner_text()
    assert page.locator(".md-tabs__item").count() <= 6
    search, text = (
        page.locator(one).bounding_box() for one in (".md-search", ".md-sidebar--secondary")
    )
    assert abs(search["x"] + search["width"] - text["x"] - text["width"]) < 20


def test_on_a_phone_what_a_metric_is_has_the_width_of_the_page(visit):
    seen = visit(at("metrics/index.html"), width=360)
    told = seen.page.locator("article table").first.locator("td:nth-child(2)").first

    assert told.bounding_box()["width"] > 300


def test_the_gallery_has_every_chart_as_a_picture_with_its_call(visit):
    seen = visit(at("gallery.html"))
    pictures = seen.page.locator("article img:visible")
    code = seen.page.locator("article pre").all_inner_texts()

    drawn = {Path(one.get_attribute("src")).stem.removesuffix("_light") for one in pictures.all()}
    assert drawn == {*CHARTS}
    assert all(any(f".plot.{name}(" in block for block in code) for name in CHARTS)


@pytest.mark.parametrize("name", LIVE)
def test_a_live_page_opens_from_home(visit, name):
    seen = visit(at("index.html"))
    seen.page.locator(f"article a[href^='{name}']").first.click()
    seen.page.wait_for_url(f"**/{name}")
    seen.page.locator("svg.marks, canvas.marks").first.wait_for()

    assert seen.page.locator("h1").inner_text()
    assert seen.wrong == []
