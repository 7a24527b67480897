"""Gates against what the last runs predict, user by user: what is kept of users, and what it shows."""

from __future__ import annotations

import datetime as dt
import random
import stat
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev, variance

import polars as pl
import pytest

import recframe as rf
from weeks_of_users import Weeks, alarms, of_weeks

DAYS = [dt.date(2026, 11, day) for day in range(1, 12)]
GATE = "mrr >= 0.98 * trailing"
SHOWN = "{} of {} users, each compared with their own mean over {} runs"


def week(number: int, n: int = 60, first: int = 0, worse: int = 0) -> pl.DataFrame:
    """Return a judged frame whose users have one of four ranks, most often their own."""
    users = range(first, first + n)
    chance = random.Random(number)  # noqa: S311
    ranks = [1 + (user * 7 + (chance.random() < 0.2)) % 4 + worse for user in users]
    country = ["FR" if user % 3 else "DE" for user in users]
    return pl.DataFrame(
        {"user": users, "item": 1, "rank": ranks, "relevance": 1, "country": country}
    )


def tracked(place: str | Path, runs: int = 8, **options: object) -> None:
    options = {"per_user": True, **options}
    for number, as_of in enumerate(DAYS[:runs]):
        week(number + 1).rec.track("mrr", history=place, as_of=as_of, **options)


def row(rec: rf.Rec[pl.DataFrame], place: object, *requirements: str, **options: object) -> dict:
    options = {"raises": False, "wide": True, **options}
    found = rec.require(*requirements or [GATE], history=place, **options)
    assert len(found) == 1
    return found.row(0, named=True)


def test_each_user_is_held_against_their_own_mean(place):
    tracked(place)
    found = row(week(9).rec, place, level=0.9)

    runs = [[1 / rank for rank in week(number)["rank"]] for number in range(1, 9)]
    now = [1 / rank for rank in week(9)["rank"]]
    means = [fmean(run[user] for run in runs) for user in range(60)]
    gaps = [one - 0.98 * mean for one, mean in zip(now, means, strict=True)]
    # how far the runs are apart: of the same users, they are so by their means
    of_runs = variance(map(fmean, runs)) * (1 + 1 / 8)
    error = sqrt(max(variance(gaps) / 60, of_runs))
    t = 1.8945786050613054  # of 7 degrees of freedom, at 90 %
    assert found["difference"] == pytest.approx(fmean(gaps))
    assert found["baseline_value"] == pytest.approx(fmean(means))
    assert found["bound"] == pytest.approx(0.98 * fmean(means))
    assert found["value"] == pytest.approx(fmean(now))
    assert found["difference_low"] == pytest.approx(fmean(gaps) - t * error)
    assert found["n_users"] == 60
    assert found["n_differ"] == sum(abs(a - b) > 1e-12 for a, b in zip(now, means, strict=True))
    assert found["note"].endswith(SHOWN.format(60, 60, 8))


@pytest.mark.slow
def test_it_finds_a_loss_that_the_band_does_not(tmp_path):
    """1,000 users who are there each week lose 3 %."""
    found = of_weeks(Weeks(40), 1, tmp_path, "mrr >= trailing", loss=0.03)
    by_band = (
        list(Weeks(40).frames(1, loss=0.03))[-1]
        .rec(model="model")
        .require("mrr >= trailing", history=rf.history(tmp_path), raises=False, wide=True)
    )

    assert alarms(found) >= 38
    assert alarms(by_band) <= 12


@pytest.mark.parametrize(
    "weeks",
    [
        pytest.param(Weeks(400, users=60), marks=pytest.mark.slow),
        pytest.param(Weeks(400, users=60, shared=3.0), marks=pytest.mark.slow),
        pytest.param(Weeks(400, users=60, shared=1.0, away=0.3), marks=pytest.mark.slow),
    ],
)
def test_where_nothing_changed_it_hardly_fails(tmp_path, weeks):
    found = of_weeks(weeks, 2, tmp_path, "mrr >= trailing")

    assert found["note"].str.contains("each compared with their own mean").all()
    # 2.5 % of 400 are 10; 22 or more are seen once in 2,000 times
    assert alarms(found) < 22


@pytest.mark.slow
def test_runs_with_a_common_mood_are_apart_by_more_than_their_users(tmp_path):
    """Without what runs have in common more than one gate in four would fail."""
    found = of_weeks(Weeks(200, users=200, shared=3.0), 3, tmp_path, "mrr >= trailing")
    alone = found.with_columns(
        # the squared error of 200 users whose values and means of 14 runs vary
        z=pl.col("difference") / (0.05 * sqrt((1 + 1 / 14) / 200))
    )

    assert alone.filter(pl.col("z") < -1.96).height > 50
    assert alarms(found) < 14


@pytest.mark.slow
def test_few_known_users_are_held_against_the_band(place):
    tracked(place)
    for first, known, by_users in ((0, 60, True), (20, 40, True), (40, 20, False), (60, 0, False)):
        found = row(week(9, first=first).rec, place, "mrr >= 0.2 * trailing")

        of_band = (
            f"the history knows {known} of 60 users, fewer than half, so compared with the band"
        )
        said = SHOWN.format(known, 60, 8) if by_users else of_band
        assert said in found["note"]
        assert found["n_users"] == (known if by_users else 60)
        assert found["state"] == ("open" if first == 20 else "holds")
        if first == 20:
            assert "more than a fifth of the users are new" in found["note"]


def test_runs_without_users_values_count_in_the_band_alone(place):
    tracked(place, per_user=False)
    for number, as_of in enumerate(DAYS[8:11], 9):
        week(number).rec.track("mrr", history=place, as_of=as_of, per_user=True)
    found = row(week(12).rec, place, window=8)

    assert (
        found["note"]
        == "3 of its runs have users' values, fewer than 4, so compared with the band of runs"
    )
    assert found["n_differ"] is None
    assert "3 of" not in (row(week(12).rec, place, window=5)["note"])


def test_a_history_of_rows_is_the_same_with_and_without_users_values(tmp_path):
    for name in ("with", "without"):
        tracked(tmp_path / name, per_user=name == "with")
    given, other = (
        rf.history(tmp_path / name).drop("tracked_at", "note") for name in ("with", "without")
    )

    assert given.equals(other)
    assert rf.changes(tmp_path / "with").equals(rf.changes(tmp_path / "without"))


def test_a_part_of_a_history_stands_beside_its_path(place):
    tracked(place)
    before = rf.history(place).filter(pl.col("as_of") < DAYS[6])
    found = row(week(9).rec, [place, before], window=8)

    assert found["note"].endswith(SHOWN.format(60, 60, 6))
    assert "each compared" not in (row(week(9).rec, before, window=8)["note"] or "")
    with pytest.raises(
        rf.RecframeError, match=r"history takes a path, a frame .* or both in a list"
    ):
        week(9).rec.require(GATE, history=[before, before])


def test_segments_models_and_metrics_have_users_of_their_own(place):
    def rec(number: int) -> rf.Rec[pl.DataFrame]:
        both = [
            week(number).with_columns(model=pl.lit(name), rank=pl.col("rank") + at)
            for at, name in enumerate("ab")
        ]
        return pl.concat(both).rec(model="model")

    for number, as_of in enumerate(DAYS[:8], 1):
        rec(number).track(
            "mrr", "recall@1", by="country", history=place, as_of=as_of, per_user=True
        )
    found = rec(9).require(
        "mrr >= trailing",
        "recall@1 >= trailing",
        by="country",
        history=place,
        raises=False,
        wide=True,
    )

    assert found.select("model", "country", "requirement").n_unique() == 8
    assert found["note"].str.contains("users, each compared with their own mean over 8 runs").all()
    one = found.filter(model="b", country="DE", metric="mrr").row(0, named=True)
    runs = [week(number).filter(country="DE")["rank"] + 1 for number in range(1, 9)]
    assert one["n_users"] == 20
    assert one["baseline_value"] == pytest.approx(
        fmean(fmean(1 / rank for rank in run) for run in runs)
    )


@pytest.mark.parametrize("dtype", [pl.Int16, pl.UInt64, pl.String, pl.Categorical])
def test_ids_of_dtypes_that_match_are_one_user(tmp_path, dtype):
    text = dtype in (pl.String, pl.Categorical)
    for number, as_of in enumerate(DAYS[:8], 1):
        then = week(number).with_columns(pl.col("user").cast(pl.String if text else pl.Int64))
        then.rec.track("mrr", history=tmp_path, as_of=as_of, per_user=True)
    now = week(9).with_columns(pl.col("user").cast(pl.String).cast(dtype))

    assert row(now.rec, tmp_path)["note"].endswith(SHOWN.format(60, 60, 8))
    other = week(9).with_columns(pl.col("user").cast(pl.Int64 if text else pl.String))
    assert "the history knows 0 of 60 users" in row(other.rec, tmp_path)["note"]


def test_ids_are_hashed_with_a_salt_of_the_historys_own(tmp_path):
    for name in ("one", "other"):
        tracked(tmp_path / name, runs=2)
    salts = [tmp_path / name / "users" / "salt" for name in ("one", "other")]
    first, second = ({path.read_bytes() for path in salt.parent.glob("*.values")} for salt in salts)

    assert salts[0].read_bytes() != salts[1].read_bytes()
    assert all(stat.S_IMODE(salt.stat().st_mode) == 0o600 for salt in salts)
    assert not first & second
    users = [
        pl.read_parquet(path.read_bytes()[40:])["user"] for path in salts[0].parent.glob("*.values")
    ]
    assert users[0].sort().equals(users[1].sort())
    assert not set(users[0]) & set(week(1)["user"].cast(pl.UInt64))


def test_what_is_damaged_is_named(tmp_path):
    tracked(tmp_path)
    path = min((tmp_path / "users").glob("*.values"))
    salt = tmp_path / "users" / "salt"
    whole, known = path.read_bytes(), salt.read_bytes()

    for content in (whole[:-9], whole[:50] + b"?" + whole[51:], b"", b"nothing of this kind"):
        path.write_bytes(content)
        with pytest.raises(
            rf.DataError, match=rf"{path.name}' were damaged after they were tracked"
        ):
            week(9).rec.require(GATE, history=tmp_path)
    path.write_bytes(whole)
    salt.write_bytes(known[::-1])
    with pytest.raises(rf.DataError, match="hashed with another salt than the history has now"):
        week(9).rec.require(GATE, history=tmp_path)
    salt.unlink()
    with pytest.raises(rf.DataError, match="the salt of their hashed ids is not at"):
        week(9).rec.require(GATE, history=tmp_path)
    # the numbers are there, and users who are forgotten are in no gate
    for values in (tmp_path / "users").glob("*.values"):
        values.unlink()
    assert row(week(9).rec, tmp_path, "mrr >= 0.5 * trailing")["state"] == "holds"


def test_a_run_that_is_tracked_again_without_users_values_forgets_them(place):
    tracked(place)
    tracked(place, per_user=False)

    assert "users" not in (row(week(9).rec, place)["note"] or "")


def test_their_size_is_said(place):
    found = week(1).rec.track("mrr", history=place, as_of=DAYS[0], per_user=True)

    assert found["note"].str.contains(r"^values of 60 users kept, [\d,]+ bytes").all()


def test_they_are_kept_where_that_is_said_and_not_by_another_word(place):
    with pytest.raises(rf.RecframeError, match="per_user='all': per_user takes True or False"):
        week(1).rec.track("mrr", history=place, as_of=DAYS[0], per_user="all")


def test_users_values_are_those_of_metrics_that_have_some(place):
    rec = week(1).rec(items=pl.DataFrame({"item": [1, 2]}))
    rec.track("mrr", "coverage@1", history=place, as_of=DAYS[0], per_user=True)

    with pytest.raises(rf.RecframeError, match="coverage@1 is one number of all lists"):
        rec.track("coverage@1", history=place, as_of=DAYS[0], per_user=True)


def test_clusters_are_of_users_who_are_known(place):
    def rec(number: int) -> rf.Rec[pl.DataFrame]:
        return week(number).with_columns(house=pl.col("user") // 3).rec

    for number, as_of in enumerate(DAYS[:8], 1):
        rec(number).track("mrr", history=place, as_of=as_of, per_user=True)
    one, many = (row(rec(9), place, **given) for given in ({}, {"cluster": "house"}))

    assert many["difference"] == pytest.approx(one["difference"])
    assert (one["n_differ"], many["n_differ"] <= 20) == (one["n_differ"], True)


def test_a_lazy_frame_and_pandas_are_held_against_users(place, kind):
    for number, as_of in enumerate(DAYS[:8], 1):
        kind(week(number)).rec.track("mrr", history=place, as_of=as_of, per_user=True)
    found = kind.read(kind(week(9)).rec.require(GATE, history=place, raises=False))

    assert found["note"].str.contains(SHOWN.format(60, 60, 8)).all()


def test_a_week_that_is_far_off_is_left_out_of_users_means(tmp_path):
    for number, as_of in enumerate(DAYS[:10], 1):
        week(number, worse=3 * (number == 9)).rec.track(
            "mrr", history=tmp_path, as_of=as_of, per_user=True
        )
    found = row(week(11).rec, tmp_path)

    runs = [week(number)["rank"] for number in (1, 2, 3, 4, 5, 6, 7, 8, 10)]
    assert found["baseline_value"] == pytest.approx(
        fmean(fmean(1 / rank for rank in run) for run in runs)
    )
    assert stdev(map(fmean, runs)) > 0
