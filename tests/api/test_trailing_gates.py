"""Gates against what the last runs of a history predict: by the rule of `rf.changes`, open where it cannot be told."""

from __future__ import annotations

import datetime as dt
import random
from contextlib import nullcontext
from pathlib import Path

import polars as pl
import pytest

import recframe as rf
from frame_kinds import Kind

DAYS = [dt.date(2026, 11, day) for day in range(1, 22)]


def shop(day: int, hits: float = 0.3, n: int = 400) -> pl.DataFrame:
    """Return a judged frame, in which a share of the users has the item first."""
    chance = random.Random(day)  # noqa: S311
    ranks = [1 if chance.random() < hits else 5 for _ in range(n)]
    countries = ["FR" if user % 2 else "DE" for user in range(n)]
    return pl.DataFrame(
        {"user": range(n), "item": 1, "rank": ranks, "relevance": 1, "country": countries}
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history of ten days, by country of three."""
    place = tmp_path_factory.mktemp("history")
    for day, as_of in enumerate(DAYS[:10]):
        shop(day).rec.track("mrr", "recall@1", history=place, as_of=as_of)
    for day, as_of in enumerate(DAYS[:3]):
        shop(day).rec.track("mrr", by="country", history=place, as_of=as_of)
    return place


def test_a_gate_has_the_numbers_of_changes(kind: Kind, place: Path, tmp_path: Path):
    """The run of the next day, held against those before by a gate, and by changes when it has been tracked."""
    now = shop(10)
    found = kind.read(
        kind(now).rec.require("mrr >= trailing", history=place, raises=False, wide=True)
    ).row(0, named=True)
    runs = rf.history(place).filter(pl.col("split_by").is_null(), metric="mrr")
    now.rec.track("mrr", history=tmp_path, as_of=DAYS[10])
    after = pl.concat([runs, rf.history(tmp_path)], how="diagonal")
    row = rf.changes(after, level=0.95).row(-1, named=True)

    assert found["baseline_value"] == pytest.approx(row["expected"])
    assert found["difference"] == pytest.approx(row["change"])
    width = row["expected_high"] - row["expected_low"]
    assert found["difference_high"] - found["difference_low"] == pytest.approx(width, rel=1e-6)
    assert found["state"] == "open"


@pytest.mark.parametrize(
    ("hits", "requirement", "state"),
    [
        (0.3, "mrr >= trailing", "open"),
        (0.3, "mrr >= 0.5 * trailing", "holds"),
        (0.1, "mrr >= trailing", "fails"),
        (0.1, "mrr >= 0.5 * trailing", "holds"),
        (0.6, "mrr >= trailing", "holds"),
        (0.6, "mrr <= trailing", "fails"),
        (0.3, "recall@1 <= 2 * trailing", "holds"),
    ],
)
def test_it_fails_below_the_band_and_holds_where_a_value_of_that_factor_would(
    place, hits, requirement, state
):
    found = shop(10, hits).rec.require(requirement, history=place, raises=False, wide=True)

    assert found["state"].to_list() == [state]


def test_what_fails_raises(place):
    with pytest.raises(rf.RequirementError, match="of 2 requirements, 1 fails"):
        shop(10, 0.1).rec.require("mrr >= trailing", "mrr >= 0.1", history=place, wide=True)


def test_requirements_of_all_kinds_stand_together(place):
    rec = rf.rec({"old": shop(10), "new": shop(10)})
    last = rec.summarize("mrr")
    runs = rf.history(place).with_columns(model=pl.lit("new"), split_by=pl.lit("model"))
    found = rec.require(
        "mrr >= trailing", "mrr >= 0.5 * old", "mrr >= 0.1", "mrr >= 0.5 * last",
        history=runs.filter(pl.col("country").is_null()), last=last, raises=False, wide=True
    )  # fmt: skip

    assert dict(found.group_by("requirement").len().rows()) == {
        "mrr >= trailing": 2, "mrr >= 0.5 * old": 1, "mrr >= 0.1": 2, "mrr >= 0.5 * last": 2,
    }  # fmt: skip
    of_old = found.filter(model="old", requirement="mrr >= trailing").row(0, named=True)
    assert of_old["note"] == "the history has no such number"


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ({"by": "country"}, "the history has 3 runs of it, fewer than 7"),
        ({"k": 3}, None),
        ({"metric": "ndcg@3"}, "the history has no such number"),
        ({"window": 21}, "the history has 10 runs of it, fewer than 11"),
    ],
)
def test_where_it_cannot_be_told_it_is_open_and_says_why(place, change, note):
    metric = change.pop("metric", "mrr")
    rec = shop(10).rec
    if "k" in change:
        note = "the history has no such number"
    unknown = note == "the history has no such number"
    said = "stays open: no run of the history has a '.*@3'"
    with pytest.warns(rf.RecframeWarning, match=said) if unknown else nullcontext():
        found = rec.require(
            f"{metric} >= trailing", history=place, raises=False, **change, wide=True
        )

    assert set(found["state"]) == {"open"}
    assert set(found["note"]) == {note}
    assert found["p_value"].null_count() == found.height
    warned = pytest.warns(rf.RecframeWarning, match=said) if unknown else nullcontext()
    with warned, pytest.raises(rf.RequirementError, match="open"):
        rec.require(f"{metric} >= trailing", history=place, strict=True, **change, wide=True)


@pytest.mark.slow
def test_numbers_that_nobody_knows_the_meaning_of_count(tmp_path):
    for day, as_of in enumerate(DAYS[:8]):
        rf.track(shop(day).rec.summarize("mrr"), tmp_path, as_of=as_of)

    found = shop(10).rec.require("mrr >= 0.5 * trailing", history=tmp_path, wide=True)

    assert found["state"].to_list() == ["holds"]


def test_a_lazy_frame_is_held_against_a_history_when_it_runs(place):
    rec = shop(10, 0.1).lazy().rec

    assert isinstance(
        rec.require("mrr >= trailing", history=place, raises=False, wide=True), pl.LazyFrame
    )
    with pytest.raises(rf.RequirementError, match="1 fails"):
        rec.require("mrr >= trailing", history=place, wide=True)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["history", "history.duckdb"])
def test_a_segment_that_every_run_of_the_window_has_is_missing(tmp_path, where):
    if where.endswith("duckdb"):
        pytest.importorskip("duckdb")
    every = (
        shop(0)
        .with_columns(
            # 200 users of FR, 100 of DE; AT and CH of 50 each, CH not on one of the last 7 days
            country=pl.when(pl.col("user") % 8 < 2).then(pl.lit("AT")).otherwise("country")
        )
        .with_columns(
            country=pl.when(pl.col("user") % 8 == 1).then(pl.lit("CH")).otherwise("country")
        )
    )
    for day, as_of in enumerate(DAYS[:10]):
        now = every.with_columns(rank=shop(day)["rank"])
        rows = now.filter(pl.col("country") != "CH") if day == 5 else now
        rows.rec.track("mrr", by="country", history=tmp_path / where, as_of=as_of)
    rec = every.filter(pl.col("country") == "FR").rec
    asked = {"by": "country", "history": tmp_path / where}

    def found(text: str = "mrr >= 0.1 * trailing", **more: object) -> dict[str, str]:
        result = rec.require(text, raises=False, **asked, **more, wide=True)
        return dict(result.select("country", "state").rows())

    assert found() == {"FR": "holds", "AT": "missing", "DE": "missing"}
    # CH is in each of the last four runs, and AT has 50 users
    assert found(window=5) == {"FR": "holds", "AT": "missing", "DE": "missing"}
    assert found(min_users=60) == {"FR": "holds", "DE": "missing"}
    with pytest.raises(rf.RequirementError, match="of 3 rows, 2 are missing"):
        rec.require("mrr >= 0.1 * trailing", **asked, wide=True)
    open_row = rec.require("mrr >= 0.1 * trailing", missing="open", **asked, wide=True).row(
        0, named=True
    )
    said = "in each of the last 10 runs of the history, but not in today's result"
    assert (open_row["country"], open_row["note"]) == ("AT", said)


def test_what_is_wrong_is_told(place):
    rec = shop(10).rec
    named = rf.history(place).with_columns(
        name=pl.when(pl.col("as_of") > pl.lit(DAYS[4])).then(pl.lit("canary"))
    )
    for requirement, more, said in (
        ("mrr >= trailing", {}, r"the runs before: require\(\.\.\., history='history.parquet'\)"),
        (
            "mrr >= 0.3",
            {"history": place},
            "history= is given, but no requirement uses it; write for example 'mrr >= 0.95",
        ),
        (
            "mrr >= trailing - 5%",
            {"history": place},
            r"write the share as a factor: 'mrr >= 0.95 \* trailing'",
        ),
        ("mrr >= trailing", {"history": "nowhere"}, "there is no history at 'nowhere'"),
        ("mrr >= trailing", {"history": shop(1)}, "this takes a history"),
        (
            "mrr >= trailing",
            {"history": place, "window": 3},
            "window=3: window takes a whole number from 5 up",
        ),
        (
            "mrr >= trailing",
            {"history": named},
            r"runs of several names, None, 'canary'; choose one: .*name='canary'",
        ),
    ):
        with pytest.raises(rf.RecframeError, match=said):
            rec.require(requirement, **more, wide=True)


def test_a_gate_that_no_run_can_decide_is_warned_of(place):
    for requirement, by, said in (
        (
            "mrr@10 >= trailing",
            None,
            r"'mrr@10 >= trailing' stays open: .* 'mrr@10' of all users; did you mean 'mrr'\?",
        ),
        (
            "recall@1 >= trailing",
            "country",
            "no run of the history has a 'recall@1' split by 'country'; it has mrr$",
        ),
    ):
        with pytest.warns(rf.RecframeWarning, match=said):
            found = shop(10).rec.require(requirement, history=place, by=by, raises=False, wide=True)
        assert set(found["state"]) == {"open"}


def test_words_for_earlier_numbers_say_what_they_take():
    rec = rf.rec({"a": shop(1), "b": shop(2)})
    for word, option in (("trailing", "history="), ("last", "last=")):
        said = f"'mrr >= {word}': without {option} '{word}' is not a model: the column 'model' has a, b"
        with pytest.raises(rf.DataError, match=said):
            rec.require(f"mrr >= {word}", wide=True)
