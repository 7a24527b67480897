"""Numbers of runs that are standardised to the shares of users in a window, so that a mix that moves is no change."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path
from statistics import fmean

import polars as pl
import pytest

import recframe as rf
from frame_kinds import Kind

DAYS = [dt.date(2026, 11, day) for day in range(1, 16)]
HITS = {"DE": 0.45, "FR": 0.15}
GATE = "recall@1 >= trailing"


def week(number: int, share: float, n: int = 1000, **hits: float) -> pl.DataFrame:
    """Return a judged frame with a share of the users in DE, who have more hits."""
    chance = random.Random(number)  # noqa: S311
    of = HITS | hits
    countries = ["DE" if chance.random() < share else "FR" for _ in range(n)]
    ranks = [1 if chance.random() < of[country] else 5 for country in countries]
    return pl.DataFrame(
        {"user": range(n), "item": 1, "rank": ranks, "relevance": 1, "country": countries}
    )


def rec_of(frame: pl.DataFrame) -> rf.Rec[pl.DataFrame]:
    """Return the same with the countries in a frame of users."""
    return frame.drop("country").rec(users=frame.select("user", "country"))


SHARES = [0.28 + 0.01 * (number % 5) for number in range(14)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fourteen runs, tracked by country and of all users."""
    place = tmp_path_factory.mktemp("history")
    for number, share in enumerate(SHARES):
        for by in (None, "country"):
            week(number, share).rec.track("recall@1", by=by, history=place, as_of=DAYS[number])
    return place


def plain(frame: pl.DataFrame) -> tuple[dict[str, float], dict[str, float]]:
    """Return the share of users with a hit and the share of all users, by country."""
    users = [(country, rank == 1) for country, rank in frame.select("country", "rank").rows()]
    of = {name: [hit for country, hit in users if country == name] for name in HITS}
    return {name: fmean(hits) for name, hits in of.items()}, {
        name: len(hits) / len(users) for name, hits in of.items()
    }


def test_values_are_weighted_by_the_mean_shares_of_the_window(kind: Kind, place: Path):
    now = week(20, 0.42)
    given = kind(now).rec.require(GATE, history=place, mix="country", raises=False)
    found = kind.read(given).row(0, named=True)

    runs = [plain(week(number, share)) for number, share in enumerate(SHARES)]
    weights = {name: fmean(shares[name] for _, shares in runs) for name in HITS}
    expected = fmean(sum(weights[name] * values[name] for name in HITS) for values, _ in runs)
    values, shares = plain(now)
    assert found["value"] == pytest.approx(sum(weights[name] * values[name] for name in HITS))
    assert found["baseline_value"] == pytest.approx(expected)
    assert found["n_users"] == 1000
    moved = f"shares of country moved: DE 0.30 -> {shares['DE']:.2f}, FR 0.70 -> {shares['FR']:.2f}"
    assert found["note"] == f"standardised to the window's shares of country; {moved}"


def test_a_mix_that_moves_is_no_loss(place):
    """Both countries are what they were: of fewer users in DE a gate fails, of as many it is open."""
    now = rec_of(week(20, 0.1))

    assert now.require(GATE, history=place, raises=False)["state"].to_list() == ["fails"]
    assert now.require(GATE, history=place, mix="country")["state"].to_list() == ["open"]
    lower = rec_of(week(20, 0.42, DE=0.35, FR=0.07))
    assert lower.require(GATE, history=place, mix="country", raises=False)["state"].to_list() == [
        "fails"
    ]


def test_changes_are_those_of_the_same_mix(place, tmp_path):
    for number, share in enumerate([*SHARES, 0.42]):
        week(number, share).rec.track(
            "recall@1", by="country", history=tmp_path, as_of=DAYS[number]
        )
    found = rf.changes(tmp_path, mix="country")

    assert found.columns == rf.changes(place).columns[:3] + found.columns[3:]
    assert "country" not in found.columns
    runs = [plain(week(number, share)) for number, share in enumerate([*SHARES, 0.42])]
    weights = {name: fmean(shares[name] for _, shares in runs[:-1]) for name in HITS}
    values = [sum(weights[name] * of[name] for name in HITS) for of, _ in runs]
    assert found["value"].to_list() == pytest.approx(values)
    assert found["expected"][-1] == pytest.approx(fmean(values[:-1]))
    assert found["note"][-1].startswith("shares of country moved: ")
    assert rf.changes(rf.history(tmp_path).lazy(), mix="country").collect().equals(found)


def test_countries_that_come_and_go_are_named_and_left_out(place):
    now = week(20, 0.3).with_columns(country=pl.col("country").replace("FR", "AT"))
    found = now.rec.require(GATE, history=place, mix="country", raises=False).row(0, named=True)

    de = now.filter(country="DE")
    runs = [plain(week(number, share))[0]["DE"] for number, share in enumerate(SHARES)]
    assert found["n_users"] == de.height
    assert found["value"] == pytest.approx(fmean(rank == 1 for rank in de["rank"]))
    assert found["baseline_value"] == pytest.approx(fmean(runs))
    assert "new and left out: AT" in found["note"]
    assert found["note"].endswith("segments of the window without a user today are left out")


def test_segments_and_models_have_a_mix_of_their_own(tmp_path):
    def rec(number: int, share: float) -> rf.Rec[pl.DataFrame]:
        frame = week(number, share).with_columns(
            device=pl.when(pl.col("user") % 2 == 0).then(pl.lit("tv")).otherwise(pl.lit("web"))
        )
        both = pl.concat([frame.with_columns(model=pl.lit(name)) for name in "ab"])
        return both.rec(model="model")

    for number, share in enumerate(SHARES):
        rec(number, share).track(
            "recall@1", "mrr", by=["country", "device"], history=tmp_path, as_of=DAYS[number]
        )
    found = rec(20, 0.42).require(
        GATE,
        "mrr >= trailing",
        by="device",
        mix="country",
        history=tmp_path,
        raises=False,
        wide=True,
    )

    assert found.select("model", "device", "metric").n_unique() == len(found) == 8
    assert found["baseline_value"].null_count() == 0
    assert found["note"].str.contains("shares of country moved").all()
    of_changes = rf.changes(tmp_path, mix="country")
    assert of_changes.select("model", "device", "metric").n_unique() == 8


def test_runs_without_the_column_are_left_out(tmp_path):
    for number, share in enumerate(SHARES):
        week(number, share).rec.track("recall@1", history=tmp_path, as_of=DAYS[number])
        if number > 4:
            week(number, share).rec.track(
                "recall@1", by="country", history=tmp_path, as_of=DAYS[number]
            )
    found = (
        week(20, 0.3)
        .rec.require(GATE, history=tmp_path, mix="country", raises=False)
        .row(0, named=True)
    )

    assert "without 5 of the runs, which were not tracked by 'country'" in found["note"]
    assert rf.changes(tmp_path, mix="country")["as_of"].n_unique() == 9


def test_what_is_no_mix_is_told(place):
    rec = week(20, 0.3).rec(items=pl.DataFrame({"item": [1], "genre": ["a"]}))
    for asked, options, said in (
        (
            GATE,
            {"mix": "device"},
            r"no run of the history has these metrics by 'device'; track them: rec.track\(\.\.\., by='device'\)",
        ),
        (GATE, {"mix": 3}, "mix=3: mix takes the name of a column of users"),
        (GATE, {"mix": "country", "by": "country"}, "is also a column of by="),
        (GATE, {"mix": "country", "cluster": "country"}, "is also the column of cluster="),
        (
            "coverage@1 >= trailing",
            {"mix": "country"},
            "coverage@1 is not a built-in mean over users",
        ),
        (
            GATE,
            {"mix": "country", "history": None},
            "needs runs to standardise values to; give history=",
        ),
    ):
        with pytest.raises(rf.RecframeError, match=said):
            rec.require(asked, raises=False, **{"history": place, **options})
    with pytest.raises(
        rf.RecframeError, match="no run of the history has these metrics by 'device'"
    ):
        rf.changes(place, mix="device")
    with pytest.raises(rf.RecframeError, match="mix='country' works only for values"):
        rf.changes(place, mix="country", of="std")


def test_a_mix_of_items_is_refused(tmp_path):
    rec = week(1, 0.3).rec(items=pl.DataFrame({"item": [1], "genre": ["a"]}))
    rec.track("recall@1", by="genre", history=tmp_path, as_of=DAYS[0])

    for ask in (
        lambda: rf.changes(tmp_path, mix="genre"),
        lambda: rec.require(GATE, history=tmp_path, mix="genre"),
    ):
        with pytest.raises(
            rf.RecframeError, match="mix='genre' is a column of items or the truth, not of users"
        ):
            ask()
