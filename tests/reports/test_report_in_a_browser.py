"""A report in a real browser: charts that fit, sentences of points, no error and no request."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import chromium_of_the_system
import recframe as rf
from chromium_of_the_system import CONTRAST, Visit
from planted_shop import shop

browser, visit = chromium_of_the_system.browser, chromium_of_the_system.visit
pytestmark = pytest.mark.apart
SHOP = shop(n=80)
EVIL = (
    "</script><script>alert(1)</script>{{7*7}}<img src=x onerror=alert(2)>\"'\u2028 \U0001f600 שלום"
)
TRAIN = pl.DataFrame({"user": [1, 1, 2, 3], "item": [0, 5, 0, 1]})
ITEMS = SHOP.items.with_columns(
    title=pl.when(pl.col("item") == 0)
    .then(pl.lit(EVIL + "x" * 1_000_000))
    .otherwise(pl.format("Item {}", "item"))
)
WIDTHS = [360, 768, 1280]
SCRIPTS = 1
"""What shows the sentences of points."""


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    recs = SHOP.recs.with_columns(model=pl.col("model").replace("new", EVIL))
    country = pl.col("country").replace("FR", EVIL)
    users = SHOP.users.with_columns(country).rename({"country": EVIL})
    rec = rf.rec(recs, truth=SHOP.truth, users=users, items=ITEMS, train=TRAIN, model="model")
    path = tmp_path_factory.mktemp("report") / "report.html"
    rec.report("ndcg@3", "recall@5", baseline="old", by=[EVIL, "age"], title=EVIL).save(path)
    return path


def sheets(seen: Visit) -> int:
    """Return how many sheets of paper a page is printed on."""
    return len(re.findall(rb"/Type\s*/Page[^s]", seen.page.pdf(format="A4")))


@pytest.fixture
def opened(visit: Any, page_file: Path) -> Callable[..., Visit]:
    return functools.partial(visit, page_file.as_uri())


@pytest.mark.parametrize("width", WIDTHS)
def test_charts_fit_without_an_error_or_a_request(opened, page_file, width):
    seen = opened(width=width)

    charts = seen.page.evaluate(
        """[...document.querySelectorAll("figure")].map((figure) => {
            const shown = [...figure.querySelectorAll("svg")].filter((svg) => svg.checkVisibility());
            const letter = shown[0].querySelector("text").getBoundingClientRect().height;
            const card = figure.parentElement.getBoundingClientRect().width;
            const drawn = shown[0].getBoundingClientRect();
            return [shown.length, shown[0].querySelectorAll(".point").length,
                drawn.right, letter, drawn.width / card];
        })"""
    )
    assert len(charts) == 9
    for n, points, right, letter, share in charts:
        assert n == 1
        assert points
        assert right <= width
        assert letter >= 8
        # one or two fill their card
        assert share * round(1 / share) > 0.95
    assert seen.page.evaluate("document.documentElement.scrollWidth") == width
    assert seen.wrong == []
    assert seen.asked == [page_file.as_uri()]


@pytest.mark.parametrize("is_touched", [False, True])
def test_a_point_says_its_sentence_where_a_pointer_is_near_and_where_it_is_tapped(
    opened, is_touched
):
    page = opened(has_touch=is_touched).page
    point = page.locator("#chart-models svg:visible .point").first
    box = point.bounding_box()
    place = box["x"] + box["width"] / 2 + 5, box["y"] + box["height"] / 2

    assert not page.locator("#said").is_visible()
    (page.touchscreen.tap if is_touched else page.mouse.move)(*place)
    said = page.locator("#said").inner_text().split()
    assert said == point.get_attribute("aria-label").split()
    assert said[-1] == "users"
    (page.touchscreen.tap if is_touched else page.mouse.move)(place[0] + 60, place[1])
    assert not page.locator("#said").is_visible()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_first_screen_says_what_to_ship(opened, width):
    page = opened(width=width).page
    headline = page.locator(".headline")

    words = headline.inner_text().replace("\u00a0", " ")
    assert words.startswith(("Ship ", "Keep ", "Replace ", "Do not decide on this: "))
    assert headline.bounding_box()["y"] + headline.bounding_box()["height"] < 900
    # what a verdict stands on is seen without scrolling to the side
    for row in page.locator("#comparison tbody tr").all():
        verdict = row.locator("td.verdict").bounding_box()
        assert verdict["x"] + verdict["width"] <= width
        assert row.locator("td.number").first.is_visible()


def test_a_verdict_is_seen_on_a_telephone_beside_long_names_and_numbers(visit, tmp_path):
    truth = pl.DataFrame({"user": range(60), "item": 0})
    ranks = {"old": 1_234_567, "new": 7_654_321}
    lists = {
        f"two_tower_{name}_without_sampled_negatives_2026_11_29": truth.with_columns(rank=rank + pl.col("user"))
        for name, rank in ranks.items()
    }  # fmt: skip
    path = tmp_path / "report.html"
    rf.rec(lists, truth=truth).report("first_rank", sections=["overview", "comparison"]).save(path)
    seen = visit(path.as_uri(), width=390)

    (row,) = seen.page.locator("#comparison tbody tr").all()
    places = [row.locator(one).bounding_box() for one in ("th", "td.number >> nth=0", ".badge")]
    ends = [(place["x"], place["x"] + place["width"]) for place in places]
    # the name, the difference and the verdict, none behind another
    assert all(before[1] <= after[0] for before, after in pairwise(ends))
    assert ends[-1][1] <= 390
    assert "6,419,754" in row.inner_text()


DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.skipif(not DATA.is_dir(), reason="the lists of goodbooks are no part of the project")
def test_a_page_of_real_lists_is_short_and_small(visit, tmp_path):
    names = ("recs", "truth", "train", "users", "items")
    frames = {name: pl.read_parquet(DATA / f"goodbooks_{name}.parquet") for name in names}
    rec = rf.rec(frames.pop("recs"), model="model", relevance="rating", **frames)
    path = tmp_path / "report.html"
    rec.report("ndcg@10", "recall@20", baseline="popularity", by="segment").save(path)
    seen = visit(path.as_uri())

    assert path.stat().st_size <= 500_000
    assert seen.page.evaluate("document.documentElement.scrollHeight") <= 6_000
    # two charts side by side, and a table below them
    for drawn in ("figure:last-of-type svg:visible", "table"):
        place = seen.page.locator(f"#overview {drawn}").last.bounding_box()
        assert place["x"] + place["width"] > 0.9 * 1280
    assert sheets(seen) <= 5


def test_hostile_texts_do_nothing_and_a_page_asks_for_nothing(opened, page_file):
    seen = opened()
    title = seen.page.locator("h1").inner_text()
    found = seen.page.evaluate(
        """(() => {
            const every = [...document.querySelectorAll("*")];
            const ids = every.map((one) => one.id).filter(Boolean);
            const names = every.flatMap((one) => one.getAttributeNames());
            const leads = every.flatMap((one) => ["src", "href", "action"].map((name) => one.getAttribute(name)));
            const nowhere = leads.filter((one) => one !== null && !(one[0] === "#" && ids.includes(one.slice(1))));
            const scripts = document.scripts.length, policy = document.querySelector("meta[http-equiv]").content;
            const twice = ids.filter((one, place) => ids.indexOf(one) !== place);
            return {scripts, policy, nowhere, twice, handlers: names.filter((name) => name.startsWith("on"))};
        })()"""
    )

    assert "<script>alert(1)</script>{{7*7}}<img" in title
    assert seen.page.locator("img").count() == 0
    assert found.pop("scripts") == SCRIPTS
    assert found.pop("policy").startswith("default-src 'none'; ")
    assert found == {"nowhere": [], "twice": [], "handlers": []}
    assert page_file.stat().st_size < 1_000_000
    assert seen.wrong == []


def test_the_ground_follows_the_system_and_a_page_prints_on_few_sheets(opened):
    seen = opened(color_scheme="dark")
    ground = "getComputedStyle(document.querySelector('section')).backgroundColor"

    assert seen.page.evaluate(ground) == "rgb(22, 25, 29)"
    assert sheets(seen) <= 5
    seen.page.emulate_media(media="print")
    assert not seen.page.locator("nav").is_visible()


def test_the_content_is_reached_by_keyboard(opened):
    page = opened().page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_contrast(opened, scheme):
    seen = opened(color_scheme=scheme)

    texts = (
        "p, td, th, dt, dd, h1, h2, h3, h4, a, summary, button, label, .badge, .small, .mark, .id"
    )
    assert seen.page.evaluate(CONTRAST, texts) == []
    assert seen.page.evaluate("document.querySelectorAll('p, td, th, summary, .badge').length") > 50
