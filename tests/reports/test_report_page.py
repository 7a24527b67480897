"""What a report promises: the numbers of the calls that it is made of, plain text whatever it says, one small file."""

from __future__ import annotations

import functools
import html
import json
import re
from collections.abc import Callable
from datetime import date
from typing import Any

import polars as pl
import pytest

import recframe as rf
from planted_shop import shop

SHOP = shop(n=80)
TRAIN = pl.DataFrame({"user": [1, 1, 2, 3], "item": [0, 5, 0, 1]})
ITEMS = SHOP.items.with_columns(title=pl.format("Item {}", "item"))
NEW = SHOP.recs.filter(model="new").drop("model")
METRICS = ["ndcg@3", "recall@5"]


def rec(make: Any = lambda frame: frame, **options: Any) -> Any:
    sides = {"truth": SHOP.truth, "users": SHOP.users, "items": ITEMS, "train": TRAIN}
    made = {name: make(frame) for name, frame in sides.items()}
    return make(SHOP.recs).rec(model="model", **made, **options)


@functools.cache
def the_report() -> Any:
    return rec().report(METRICS, baseline="old", by=["country", "age"], min_users=3, title="A shop")


def text_of(page: Any) -> str:
    """Return what stands on a page beside its charts."""
    return html.unescape(
        re.sub(r"<(style|script|svg).*?</\1>|<[^>]*>", "", page.html, flags=re.DOTALL)
    )


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


OF_CLUSTERS = {"cluster": "household", "level": 0.9}


@pytest.mark.parametrize("given", [{}, pytest.param(OF_CLUSTERS, marks=pytest.mark.slow)], ids=str)
def test_the_numbers_of_a_page_are_those_of_the_calls(given):
    asked = rec()(users=SHOP.users.with_columns(household=pl.col("user") // 3))
    found = asked.report(METRICS, baseline="old", by=["country", "age"], min_users=3, **given)
    values = ("model", "metric", "value", "value_low", "value_high", "n_users")
    differences = ("model", "baseline", "metric", "difference", "difference_low", "p_adjusted")

    def told(name: str, *columns: str) -> list[tuple[Any, ...]]:
        return [tuple(row[column] for column in columns) for row in found.data[name]]

    assert told("summary", *values) == rows(asked.summarize(METRICS, **given), *values)
    expected = asked.compare(METRICS, baseline="old", **given)
    assert told("compared", *differences, "verdict") == rows(expected, *differences, "verdict")
    expected = asked.audit(3, by=["country", "age"])
    assert told("findings", "check", "rows", "users") == rows(expected, "check", "rows", "users")
    costs = asked.evaluate("coverage@3", "gini@3", "novelty@3", "popularity_lift@3")
    by_model = {row["model"]: row for row in costs.to_dicts()}
    for row in found.data["costs"]:
        assert row["value"] == close(by_model[row["model"]][row["metric"]])
    text = text_of(found)
    for said in ("Mean of each metric, with its interval", "Differences from old, with intervals"):
        of_clusters = f"{said} at 90% (users in clusters, by household)"
        assert (of_clusters in text) == bool(given)


def charts(page: Any) -> dict[str, Any]:
    parts = [part for one in page.sections for part in one.parts]
    return {part.name: part for part in parts if part.kind == "figure"}


def test_points_of_a_chart_say_the_numbers_of_the_calls_at_both_widths():
    value = rec().evaluate("ndcg@3").filter(model="new")["ndcg@3"].item()
    users = rec().summarize("ndcg@3")["n_users"][0]

    for drawing in charts(the_report())["chart-models"].drawings.values():
        labels = re.findall(r'class="point" aria-label="([^"]*)"', drawing)
        assert len(labels) == 2
        (said,) = [label for label in labels if label.startswith("new, ")]
        assert said.startswith(f"new, ndcg@3 {value:.3f}"[:-1])
        assert said.endswith(f", {users} users")
    assert {*charts(the_report())} == {
        *("chart-models", "chart-compare", "chart-pair-0", "chart-pair-1", "chart-segments-0"),
        *("chart-segments-1", "chart-curve-ndcg", "chart-curve-recall"),
        "chart-exposure",
    }


def cases(page: Any) -> Any:
    return next(one for one in page.sections if one.name == "cases").parts[0].cases


def test_cases_of_a_model_are_those_of_worst_with_lists_truth_and_history():
    train = SHOP.users.select("user").join(pl.DataFrame({"item": [0, 5]}), how="cross")
    alone = NEW.rec(truth=SHOP.truth, items=ITEMS, train=train)
    page = alone.report("ndcg@3", sections="cases")
    worst = [one for one in cases(page) if one.group == "worst"]
    found = alone.worst("ndcg@3", n=len(worst))
    listed = found.filter(pl.col("rank") <= 3)

    assert [int(one.user) for one in worst] == found["user"].unique(maintain_order=True).to_list()
    for one in worst:
        of_user, mine = (frame.filter(user=int(one.user)) for frame in (listed, found))
        own, missed, history = one.lists.values()
        shown = [(float(line.rank), line.name, line.is_hit) for line in own]
        assert shown == of_user.select("rank", "title", "hit").rows()
        beyond = mine.filter(~pl.col("hit"), pl.col("relevance") > 0)["title"].to_list()
        assert sorted(line.name for line in missed) == sorted(beyond)
        assert [int(line.id) for line in history] == [5, 0]


@pytest.mark.parametrize(("metric", "sign"), [("ndcg@3", 1), ("first_rank", -1)])
def test_the_most_changed_users_are_those_whose_values_are_the_furthest_apart(metric, sign):
    page = rec().report(metric, baseline="old", sections=["overview", "cases"])
    ahead = page.data["ahead"][0]
    wide = rec().evaluate(metric, by="user").pivot("model", index="user", values=metric)
    pairs = wide.select("user", ahead["model"], ahead["baseline"]).drop_nulls().rows()
    change = {user: sign * (one - two) for user, one, two in pairs}
    lost, won = (
        [change[int(one.user)] for one in cases(page) if one.group == group]
        for group in ("lost most", "gained most")
    )

    assert lost
    assert lost == pytest.approx(sorted(change.values())[: len(lost)])
    assert won == pytest.approx(sorted(change.values(), reverse=True)[: len(won)])


@pytest.mark.slow
@pytest.mark.parametrize(
    "make", [pl.DataFrame.lazy, pl.DataFrame.to_pandas], ids=["lazy", "pandas"]
)
def test_every_kind_of_frame_makes_the_same_report(make):
    other = rec(make).report(METRICS, baseline="old", by=["country", "age"], min_users=3)

    for name in ("summary", "compared", "segments"):
        assert other.data[name] == close(the_report().data[name]), name


def sections(page: Any) -> list[str]:
    return [one.name for one in page.sections if one.name != "notes"]


def test_sections_are_left_out_where_they_are_not_asked_for_or_do_not_apply():
    few = rec().report("ndcg@3", sections=["overview", "audit"])
    none = SHOP.recs.clear().rec(SHOP.truth.clear(), model="model").report("ndcg@3")
    *every, audit, definitions = (
        *("overview", "comparison", "segments", "curves", "cases", "costs"),
        *("audit", "definitions"),
    )

    assert sections(the_report()) == [*every, audit, definitions]
    assert sections(few) == ["overview", "audit"]
    alone = sections(NEW.rec(SHOP.truth).report("ndcg@3"))
    assert alone == ["overview", "curves", "cases", audit, definitions]
    assert sections(NEW.rec(items=ITEMS, train=TRAIN).report()) == ["costs"]
    assert none.headline
    assert none.data["summary"] == []


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
    "segments of every kind": lambda: NEW.rec(SHOP.truth, users=ODD_USERS).report(
        "ndcg@3", by=["nan", "day", "null", pl.col("nan").is_nan().alias("is nan")]
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

    assert page.data["summary"]
    assert text_of(page)
    assert page.sections[0].name == "overview"


def test_pages_are_small_with_many_segments_and_many_models():
    n = 20_000
    users = pl.DataFrame({"user": range(n), "city": [f"City {one}" for one in range(n)]})
    recs = pl.DataFrame({"user": range(n), "item": [0, 1] * (n // 2), "rank": 1})
    truth = pl.DataFrame({"user": range(n), "item": 0})
    page = recs.rec(truth, users=users).report("ndcg@1", by="city")

    assert len(page.html.encode()) < 500_000
    assert "30 of 20,000 segments" in page.html


def test_a_warning_is_given_and_stands_in_the_audit_of_the_page():
    other = SHOP.truth.with_columns(user=pl.col("user") + 1_000_000)

    for lists, truth in ((NEW, other), (NEW.lazy(), other.lazy())):
        with pytest.warns(rf.RecframeWarning, match="no_common_users"):
            page = lists.rec(truth).report("ndcg@3")
        assert "hardly any user id in common" in text_of(page)
        assert page.headline.endswith("Nothing is decided on these numbers.")
        # in the audit, and not once more in a note
        assert [one.name for one in page.sections][-1] != "notes"


def test_a_report_of_a_profile_is_that_of_its_conventions():
    page = rec(profile="trec_eval").report("ndcg@3")
    found = rec(profile="trec_eval").summarize("ndcg@3")

    assert [row["value"] for row in page.data["summary"]] == close(found["value"].to_list())


def test_items_are_named_by_a_column_that_is_called_so():
    titled = ITEMS.rename({"title": "Name"})
    page = SHOP.recs.rec(SHOP.truth, items=titled, model="model").report("ndcg@3", sections="cases")
    lines = [line for case in cases(page) for of in case.lists.values() for line in of]

    assert lines
    assert all(line.name == f"Item {line.id}" for line in lines)


def test_many_models_make_charts_of_a_size_that_is_read():
    models = {f"m{one}": NEW for one in range(20)}
    page = rf.rec(models, SHOP.truth, users=SHOP.users).report("ndcg@3", by="country")
    drawn = [one for chart in charts(page).values() for one in chart.drawings.values()]

    # each with the best
    assert len(page.data["compared"]) == 19
    assert max(int(re.findall(r'height="(\d+)"', one)[0]) for one in drawn) < 2_500


def test_a_notebook_shows_a_report_in_a_frame_of_its_own():
    frame = the_report()._repr_html_()

    assert html.unescape(re.search(r'srcdoc="([^"]*)"', frame)[1]) == the_report().html
    assert ' sandbox="allow-scripts"' in frame
    assert repr(the_report()) == "<A shop: 8 sections; .save('report.html') writes it>"


@pytest.mark.slow
def test_a_level_is_told_with_all_of_its_digits():
    asked = rec()
    charts = [
        asked.plot.curve("ndcg", k=[1, 3], level=0.9975),
        asked.plot.segments("ndcg@3", by="country", level=0.9975),
        asked.plot.compare("ndcg@3", baseline="old", level=0.9975),
        asked.plot.tradeoff("ndcg@3", "recall@3", level=0.9975),
    ]
    report = asked.report("ndcg@3", baseline="old", level=0.9975).html

    assert "interval at 0.99999 of" in asked.table("ndcg@3", level=0.99999).markdown()
    for text in (report, *(json.dumps(chart.to_dict()["title"]) for chart in charts)):
        assert "99.75%" in text
        assert "at 100%" not in text
