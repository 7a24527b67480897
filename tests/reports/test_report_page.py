"""What a report promises: the numbers of the calls that it is made of, plain text whatever it says, one small file."""

from __future__ import annotations

import functools
import json
import os
import re
import stat
import sys
import warnings
from collections.abc import Callable
from datetime import date
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import recframe as rf
from planted_shop import shop
from recframe.charts import formatting
from recframe.reports.page import (
    in_json,
)

SHOP = shop(n=80)
TRAIN = pl.DataFrame({"user": [1, 1, 2, 3], "item": [0, 5, 0, 1]})
ITEMS = SHOP.items.with_columns(title=pl.format("Item {}", "item"))
METRICS = ["ndcg@3", "recall@5"]
EVIL = (
    "</script><script>alert(1)</script>{{7*7}}<img src=x onerror=alert(2)>\"'\u2028 \U0001f600 שלום"
)


def rec(make: Any = lambda frame: frame, **options: Any) -> Any:
    sides = {"truth": SHOP.truth, "users": SHOP.users, "items": ITEMS, "train": TRAIN}
    made = {name: make(frame) for name, frame in sides.items()}
    return make(SHOP.recs).rec(model="model", **made, **options)


@functools.cache
def the_report() -> Any:
    return rec().report(METRICS, baseline="old", by=["country", "age"], min_users=3, title="A shop")


class Read(HTMLParser):
    """The elements and the texts of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.blocks: dict[str, str] = {}
        self._inside: str | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in {"script", "style"}:
            self._inside = dict(attrs).get("id") or tag

    def handle_endtag(self, tag: str) -> None:
        if tag in {"script", "style"}:
            self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside is None:
            self.text += data
        else:
            self.blocks[self._inside] = self.blocks.get(self._inside, "") + data

    @property
    def data(self) -> Any:
        return json.loads(self.blocks["page-data"])


@functools.cache
def the_page() -> Read:
    return Read(the_report().html)


def rows(frame: pl.DataFrame, *columns: str) -> Any:
    return close(frame.select(columns).rows())


def close(value: Any) -> Any:
    """Return what is equal but for the last bits of its numbers, which hang on the order of sums."""
    if isinstance(value, float):
        return pytest.approx(value, rel=1e-9, abs=1e-12)
    if isinstance(value, dict):
        return {name: close(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(close, value))
    return value


def told(name: str, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row[column] for column in columns) for row in the_page().data[name]]


def test_the_numbers_of_a_page_are_those_of_the_calls():
    asked = rec()
    values = ("model", "metric", "value", "value_low", "value_high", "n_users")
    differences = ("model", "baseline", "metric", "difference", "difference_low", "p_adjusted")

    assert told("summary", *values) == rows(asked.summarize(METRICS), *values)
    found = asked.compare(METRICS, baseline="old")
    assert told("compared", *differences, "verdict") == rows(found, *differences, "verdict")
    found = asked.audit(3, by=["country", "age"])
    assert told("findings", "check", "rows", "users") == rows(found, "check", "rows", "users")
    costs = asked.evaluate("coverage@3", "gini@3", "novelty@3", "popularity_lift@3")
    by_model = {row["model"]: row for row in costs.to_dicts()}
    for row in the_page().data["costs"]:
        assert row["value"] == close(by_model[row["model"]][row["metric"]])


@pytest.mark.slow
def test_a_report_of_clusters_has_their_intervals_and_verdicts_and_says_so():
    users = SHOP.users.with_columns(household=pl.col("user") // 3)
    asked, given = rec()(users=users), {"cluster": "household", "level": 0.9}
    page = asked.report(METRICS, baseline="old", by="country", min_users=3, **given)
    values = ("metric", "value", "value_low", "value_high")
    differences = ("metric", "difference_low", "p_adjusted", "verdict")

    def shown(name: str, *columns: str) -> list[tuple[Any, ...]]:
        return [tuple(row[column] for column in columns) for row in page.data[name]]

    assert shown("summary", *values) == rows(asked.summarize(METRICS, **given), *values)
    found = asked.compare(METRICS, baseline="old", **given)
    assert shown("compared", *differences) == rows(found, *differences)
    assert page.data["cluster"] == "household"
    text = Read(page.html).text
    assert "Mean of each metric, with its interval at 90% (users in clusters, by household)" in text
    assert "Pairwise differences, with intervals at 90% (users in clusters, by household)" in text


def test_charts_of_a_page_have_the_numbers_of_the_calls():
    specs_of = json.loads(the_page().blocks["page-charts"])

    curve = specs_of["chart-curve-ndcg"]
    found = [row for one in curve["datasets"].values() for row in one]
    value = next(row["value"] for row in found if row["model"] == "new" and row["k"] == 3)
    assert value == close(rec().evaluate("ndcg@3").filter(model="new")["ndcg@3"].item())
    assert {tag["data-chart"] for name, tag in the_page().tags if name == "figure"} == {*specs_of}


def test_cases_are_those_of_worst_and_best_with_lists_truth_and_history():
    cases = the_page().data["cases"]
    items = cases["items"]
    worst = [one for one in cases["cases"] if one["kind"] == "worst" and one["model"] == "new"]
    found = rec().worst("ndcg@3", n=len(worst)).filter(model="new")
    listed = found.filter(pl.col("rank") <= 3)

    assert [one["user"] for one in worst] == [
        str(user) for user in found.unique("place", maintain_order=True)["user"]
    ]
    for one in worst:
        of_user = listed.filter(pl.col("user") == int(one["user"]))
        shown = [(rank, items[place][1], hit) for rank, place, hit in one["list"]]
        assert shown == of_user.select("rank", "title", "hit").rows()
        beyond = found.filter((pl.col("user") == int(one["user"])) & ~pl.col("hit"))
        missed = beyond.filter(pl.col("relevance") > 0)["title"].to_list()
        assert sorted(items[place][1] for place, _ in one["missed"]) == sorted(missed)
        history = TRAIN.filter(pl.col("user") == int(one["user"]))["item"].to_list()
        assert [int(items[place][0]) for place in one["history"]] == history


def test_the_most_changed_users_are_those_whose_values_are_the_furthest_from_the_baseline():
    values = rec().evaluate("ndcg@3", by="user")
    wide = values.pivot("model", index="user", values="ndcg@3")
    change = {user: new - old for user, new, old in wide.select("user", "new", "old").rows()}
    cases = the_page().data["cases"]["cases"]
    lost, won = (
        [one for one in cases if one["kind"] == kind] for kind in ("lost most", "gained most")
    )

    assert lost
    assert all(one["model"] == "new" for one in [*lost, *won])
    for one in [*lost, *won]:
        assert one["value"] - one["other"] == pytest.approx(change[int(one["user"])])
    assert lost[0]["value"] - lost[0]["other"] == pytest.approx(min(change.values()))
    assert won[0]["value"] - won[0]["other"] == pytest.approx(max(change.values()))


@pytest.mark.slow
@pytest.mark.parametrize(
    "make", [pl.DataFrame.lazy, pl.DataFrame.to_pandas], ids=["lazy", "pandas"]
)
def test_every_kind_of_frame_makes_the_same_report(make):
    other = rec(make).report(METRICS, baseline="old", by=["country", "age"], min_users=3)

    for name in ("summary", "compared", "cases"):
        assert json.loads(in_json(other.data[name])) == close(the_page().data[name]), name


def test_each_section_begins_with_a_sentence_of_its_numbers():
    leads = {one.name: one.lead for one in the_report().content.sections}
    best = rec().summarize("ndcg@3").sort("value").tail(1).row(0, named=True)

    assert f"{best['model']} has the highest ndcg@3: {best['value']:.3f} (" in leads["overview"]
    assert leads["overview"].endswith(f"over {best['n_users']} users.")
    assert all(lead.endswith(".") for lead in leads.values())
    assert [*leads] == [
        *("overview", "comparison", "segments", "curves", "costs", "cases"),
        *("findings", "definitions"),
    ]


def test_what_does_not_apply_is_left_out_and_the_page_says_what_to_bind():
    new = SHOP.recs.filter(model="new").drop("model")
    alone = new.rec(SHOP.truth).report("ndcg@3")
    names = [one.name for one in alone.content.sections]
    text = Read(alone.html).text

    assert names == [
        *("overview", "curves", "cases", "findings", "definitions", "more"),
    ]
    for name in ("model=", "by=", "items=", "train="):
        assert name in text
    lists = new.rec(items=ITEMS, train=TRAIN)
    assert [one.name for one in lists.report().content.sections] == ["costs", "more"]


def test_no_users_make_a_page_that_says_so():
    page = SHOP.recs.clear().rec(SHOP.truth.clear(), model="model").report("ndcg@3")

    assert "There" in page.html
    assert page.data["summary"] == []


ODD_USERS = SHOP.users.select(
    "user",
    nan=pl.when(pl.col("age") == 20).then(float("nan")).otherwise(pl.col("age").cast(pl.Float64)),
    day=pl.lit(date(2026, 11, 22)),
    null=pl.lit(None, pl.String),
)
ODD: dict[str, Callable[[], Any]] = {
    "a model of another name": lambda: (
        SHOP.recs.with_columns(model=pl.col("model").replace("new", "</td>"))
        .rec(SHOP.truth, model="model")
        .report("ndcg@3", baseline="old")
    ),
    "segments of every kind": lambda: (
        SHOP.recs.filter(model="new")
        .drop("model")
        .rec(SHOP.truth, users=ODD_USERS)
        .report("ndcg@3", by=["nan", "day", "null", pl.col("nan").is_nan().alias("is nan")])
    ),
    "scores with ties": lambda: (
        SHOP.recs.drop("rank")
        .with_columns(score=0.5)
        .rec(SHOP.truth, model="model", ties="expected")
        .report("ndcg@3", baseline="old")
    ),
    "a judged frame": lambda: rec().judge().rec(model="model").report("ndcg@3", baseline="old"),
    "metrics of lists": lambda: rec().report("novelty@3", "coverage@3", baseline="old", by="age"),
    "less is better": lambda: rec().report("first_rank", baseline="old", by="age"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_frames_make_a_page_of_plain_data(name):
    page = ODD[name]()
    read = Read(page.html)

    assert read.data["summary"]
    assert read.data["metrics"] == [str(one) for one in page.data["metrics"]]
    assert all(section.lead for section in page.content.sections)


HOSTILE_ITEMS = ITEMS.with_columns(title=pl.lit(EVIL + "x" * 1_000_000))


def test_hostile_texts_stay_texts():
    report = (
        SHOP.recs.with_columns(model=pl.col("model").replace("new", EVIL))
        .rec(
            truth=SHOP.truth,
            items=HOSTILE_ITEMS,
            users=SHOP.users.rename({"country": EVIL}).with_columns(pl.lit(EVIL).alias("one")),
            train=TRAIN,
            model="model",
        )
        .report("ndcg@3", baseline="old", by=[EVIL, "one"], min_users=3, title=EVIL)
    )
    page = Read(report.html)
    scripts = [attributes for name, attributes in page.tags if name == "script"]

    assert EVIL.replace("\u2028", "") in page.text.replace("\u2028", "")
    assert not [name for name, _ in page.tags if name == "img"]
    assert not [name for _, found in page.tags for name in found if name.startswith("on")]
    assert len(scripts) == len([one for one, _ in the_page().tags if one == "script"])
    assert "49" not in page.text.partition("Overview")[0]
    assert page.data["models"][0] == EVIL or EVIL in page.data["models"]
    assert "\u2028" not in page.blocks["page-data"]
    assert "<" not in page.blocks["page-data"]


def test_a_page_asks_for_nothing():
    policy = next(tag["content"] for name, tag in the_page().tags if "http-equiv" in tag)
    addresses = [
        found[name]
        for _, found in the_page().tags
        for name in ("src", "href", "action")
        if name in found
    ]

    assert policy.startswith("default-src 'none'; ")
    assert all(one.startswith("#") for one in addresses)
    ids = [found["id"] for _, found in the_page().tags if "id" in found]
    assert len(ids) == len(set(ids))
    assert {one.removeprefix("#") for one in addresses} <= {*ids}


def test_pages_are_small_with_many_segments_and_many_models():
    n = 20_000
    users = pl.DataFrame({"user": range(n), "city": [f"City {one}" for one in range(n)]})
    recs = pl.DataFrame({"user": range(n), "item": [0, 1] * (n // 2), "rank": 1})
    truth = pl.DataFrame({"user": range(n), "item": 0})
    page = recs.rec(truth, users=users).report("ndcg@1", by="city")

    assert len(page.html.encode()) < 2_000_000
    assert "30 of 20,000 segments" in page.html


def test_warnings_stand_in_the_page_and_are_not_lost():
    recs = SHOP.recs.filter(model="new").drop("model")
    other = SHOP.truth.with_columns(user=pl.col("user") + 1_000_000)

    with pytest.warns(rf.RecframeWarning) as caught:
        page = recs.rec(other).report("ndcg@3")

    words_of_it = [str(one.message) for one in caught]
    assert page.data["warnings"] == words_of_it
    assert words_of_it[0] in Read(page.html).text
    with warnings.catch_warnings(record=True) as of_lazy:
        warnings.simplefilter("always")
        assert recs.lazy().rec(other.lazy()).report("ndcg@3").data["warnings"] == words_of_it
    assert len(of_lazy) == len(words_of_it)


def test_a_report_of_a_profile_is_that_of_its_conventions():
    page = rec(profile="trec_eval").report("ndcg@3")
    found = rec(profile="trec_eval").summarize("ndcg@3")

    assert [row["value"] for row in page.data["summary"]] == close(found["value"].to_list())


@pytest.mark.slow
def test_titles_are_of_the_column_that_is_named_or_called_so():
    titled = ITEMS.rename({"title": "Name"}).with_columns(film=pl.col("item").cast(pl.String))
    bound = SHOP.recs.rec(SHOP.truth, items=titled, model="model")

    assert bound.report("ndcg@3").data["cases"]["title_of"] == "Name"
    named = bound.report("ndcg@3", title_of="film").data["cases"]
    assert named["title_of"] == "film"
    assert all(name == title for name, title in named["items"])
    with pytest.raises(rf.ColumnError, match=r"title_of='titel' is no column .* it has 'item'"):
        bound.report("ndcg@3", title_of="titel")
    with pytest.raises(rf.ColumnError, match=r"there are none: rec\(items=items\)"):
        SHOP.recs.rec(SHOP.truth, model="model").report("ndcg@3", title_of="film")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 95}, "level=95: level takes a number between 0 and 1"),
        ({"title": 3}, "title=3: title takes text"),
        ({"title_of": 3}, "title_of=3: title_of takes the name of a column"),
        ({"min_users": 0}, "min_users=0"),
        ({"baseline": "nope"}, "baseline='nope' is not a model: the column 'model' has new, old"),
        ({"by": "user"}, "one user has no interval"),
        ({"by": "model"}, "compare(...) compares models"),
        ({"by": "nope"}, "'nope' is not a column"),
        ({"titel": "x"}, "has no option 'titel'; did you mean 'title'?"),
    ],
    ids=str,
)
def test_what_is_wrong_with_a_call_is_said(options, message):
    with pytest.raises(rf.RecframeError, match=re.escape(message)):
        rec().report("ndcg@3", **options)


@pytest.mark.parametrize("name", ["jinja2", "altair", "vl_convert"])
def test_what_is_not_installed_is_said_before_anything_is_asked(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)

    with pytest.raises(rf.RecframeError, match=rf"needs {name}, .* 'recframe\[report\]'"):
        rec().report("ndcg@3")


def test_many_models_make_charts_of_a_size_that_is_read():
    new = SHOP.recs.filter(model="new")
    recs = pl.concat([new.with_columns(model=pl.lit(f"m{one}")) for one in range(20)])
    page = recs.rec(SHOP.truth, users=SHOP.users, model="model").report("ndcg@3", by="country")
    sizes = {name: spec["height"] for name, spec in page.content.specs.items() if "height" in spec}

    # each with the best
    assert len(page.data["compared"]) == 19
    assert max(sizes.values()) < 2_500


def test_a_page_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "report.html"

    the_report().save(path)
    assert path.read_text(encoding="utf-8") == the_report().html
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    assert stat.S_IMODE(path.stat().st_mode) & 0o044 == 0o044 & ~_umask()

    monkeypatch.setattr(Path, "replace", _full)
    with pytest.raises(rf.RecframeError, match=r"cannot write .*report\.html': No space left"):
        the_report().save(str(path))
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def _full(*_: Any) -> None:
    raise OSError(28, "No space left on device")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_bad_path_is_told_of(tmp_path):
    with pytest.raises(rf.RecframeError, match=r"its ending is '\.pdf'; a page is an \.html file"):
        the_report().save("report.pdf")
    with pytest.raises(rf.RecframeError, match=r"cannot write .*: it has no ending; a page is an"):
        the_report().save("report")
    with pytest.raises(rf.RecframeError, match="there is no directory"):
        the_report().save(tmp_path / "none" / "report.html")


def test_a_notebook_shows_a_report_in_a_frame_of_its_own():
    shown = Read(the_report()._repr_html_())
    frame = next(attributes for name, attributes in shown.tags if name == "iframe")

    assert frame["srcdoc"] == the_report().html
    assert frame["sandbox"] == "allow-scripts"
    assert repr(the_report()) == "<A shop: 8 sections; .save('report.html') writes it>"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        *(
            (0.5, "0.500"),
            (None, formatting.NONE),
            (-0.25, f"{formatting.MINUS}0.250"),
            (12.345, "12.3"),
            (12345.6, "12,346"),
        ),
        *(
            (0.00042, "0.00042"),
            (1e-5, "0.00001"),
            (0.0, "0.000"),
            (1e-9, "0.000"),
            (-0.0, "0.000"),
        ),
    ],
)
def test_numbers_are_written_as_they_are_read(value, written):
    assert formatting.number(value) == written


def test_json_of_a_page_ends_no_script_and_knows_no_nan():
    text = in_json({"a": [float("nan"), float("inf"), "</script>\u2028\ud800", date(2026, 11, 22)]})

    assert json.loads(text) == {"a": [None, None, "</script>\u2028?", "2026-11-22"]}
    assert "<" not in text
    assert "\u2028" not in text


@pytest.mark.slow
def test_a_level_is_told_with_all_of_its_digits():
    asked = rec()
    told = {
        "report": asked.report("ndcg@3", baseline="old", level=0.9975).html,
        "table": asked.table("ndcg@3", level=0.99999).markdown(),
        **{
            name: json.dumps(chart.to_dict()["title"])
            for name, chart in {
                "curve": asked.plot.curve("ndcg", k=[1, 3], level=0.9975),
                "segments": asked.plot.segments("ndcg@3", by="country", level=0.9975),
                "compare": asked.plot.compare("ndcg@3", level=0.9975),
                "tradeoff": asked.plot.tradeoff("ndcg@3", "recall@3", level=0.9975),
            }.items()
        },
    }

    assert "interval at 0.99999 of" in told.pop("table")
    for name, text in told.items():
        assert "99.75%" in text, name
        assert "at 100%" not in text, name
