"""`rf.changes`: each number of a history with the band of the runs before it, by the plain definition."""

from __future__ import annotations

import datetime as dt
import math
import random
import statistics
from pathlib import Path

import polars as pl
import pytest
from scipy import stats

import quiet_histories
import recframe as rf
from runs_over_time import FIRST, history

PAGE = Path(__file__).parents[2] / "docs" / "over_time.md"


def day(n: int) -> dt.datetime:
    return FIRST + dt.timedelta(days=n)


def at(found: pl.DataFrame, n: int) -> dict:
    return found.filter(pl.col("as_of") == day(n)).row(0, named=True)


def of_values(values, *, std=None, n=None, fingerprints=None):
    """Return a history of a number, with a run a day."""
    height = len(values)
    return pl.DataFrame({
        "as_of": [day(one) for one in range(height)], "metric": "ndcg@10", "value": values,
        "std": pl.Series([std] * height, dtype=pl.Float64),
        "n": pl.Series([n] * height, dtype=pl.Int64),
        "fingerprint": fingerprints or [f"data {one}" for one in range(height)],
    })  # fmt: skip


def plain(values, place, window, level, error):
    """Return the band and the verdict of a run in plain Python."""
    before, value = values[:place], values[place]
    last = before[-window:]
    if len(last) < 5:
        return None, "open"
    mean, n = statistics.fmean(last), len(last)
    squared = max(statistics.variance(last) * (1 + 1 / n), error**2)
    half = stats.t.ppf(0.5 + level / 2, n - 1) * squared**0.5
    width = max(before) - min(before)
    away = max(min(before) - value, value - max(before))
    if not mean - half <= value <= mean + half or (away > width and away > 3 * error):
        return (mean - half, mean + half), "changed"
    return (mean - half, mean + half), "open" if half > 0.2 * mean else "as before"


@pytest.mark.parametrize("error", [0.0, 0.004, 0.02])
@pytest.mark.parametrize(
    ("window", "level", "spread"), [(5, 0.9, 0.01), (7, 0.95, 0.03), (14, 0.99, 0.01)]
)
def test_bands_and_verdicts_are_those_of_the_plain_definition(window, level, spread, error):
    chance = random.Random(window)  # noqa: S311
    values = [0.3 + chance.gauss(0, spread) + (0.15 if one == 33 else 0) for one in range(40)]
    found = rf.changes(of_values(values, std=error * 100, n=10_000), window=window, level=level)

    for place, row in enumerate(found.to_dicts()):
        band, verdict = plain(values, place, window, level, error)
        assert row["verdict"] == verdict
        if band is not None:
            ends = [row["expected_low"], row["expected_high"]]
            assert ends == pytest.approx(band, rel=1e-12)
            assert row["change"] == pytest.approx(row["value"] - sum(band) / 2, rel=1e-9)
            assert row["n_runs"] == min(place, window)
    assert {"open", "as before", "changed"} >= set(found["verdict"]) > {"open"}


@pytest.mark.parametrize("country", [None, "FR"])
def test_a_fall_of_55_percent_in_one_week_changed(country):
    # the band of these seven, 0.024 to 0.136, would have let it pass
    weeks = [0.066, 0.092, 0.067, 0.091, 0.066, 0.092, 0.079, 0.45 * 0.079]
    runs = of_values(weeks, std=0.2, n=2000).with_columns(country=pl.lit(country, pl.String))
    others = of_values([0.079] * 8).with_columns(country=pl.lit("DE"), value=0.25)
    found = rf.changes(pl.concat([runs, others])).filter(pl.col("expected") < 0.2)
    last = found.filter(as_of=day(7))

    assert last.select("verdict", "note", "n_runs").row(0) == ("changed", "down", 7)
    assert last["expected_low"][0] < 0.45 * 0.079
    # at three times its own error of 0.0045 from the range it is not told from chance
    few = rf.changes(of_values(weeks, std=0.2, n=360))
    assert few["verdict"][-1] == "open"
    assert few["note"][-1] == "a fall of a fifth would not show"


@pytest.mark.slow
def test_few_of_2000_quiet_histories_changed():
    for share, own in quiet_histories.KINDS:
        newest, ever = quiet_histories.rates(share, own)
        assert newest <= 0.025
        assert ever <= 0.25
    assert quiet_histories.table() in PAGE.read_text(encoding="utf-8")


def test_the_error_of_a_number_is_that_of_its_interval_or_of_its_users():
    values = [0.3] * 6
    runs = of_values(values, std=0.05, n=25)
    ends = runs.with_columns(low=0.3 - 0.04, high=0.3 + 0.04)
    t = stats.t.ppf(0.995, 4)
    by_users, by_interval = 0.05 / 5, 0.04 / stats.t.ppf(0.975, 24)

    assert rf.changes(runs)["expected_high"][-1] == pytest.approx(0.3 + t * by_users)
    assert rf.changes(ends)["expected_high"][-1] == pytest.approx(0.3 + t * by_interval)
    # runs that are all the same, of unknown users: any other value changed, and rounding is none
    bare = of_values([*values, 0.3 + 1e-16, 0.3001]).drop("std", "n")
    assert rf.changes(bare)["verdict"].to_list()[5:] == ["as before", "as before", "changed"]


# ---- what is compared with what


def test_any_kind_of_frame_and_a_path_give_the_same(kind, tmp_path):
    runs = history(runs=12, models=("a", "b"))
    expected = rf.changes(runs)
    found = kind.read(rf.changes(kind(runs)))

    assert found.columns == expected.columns
    for name in ("value", "low", "n", "expected", "expected_low", "change"):
        assert found[name].to_list() == pytest.approx(expected[name].to_list(), nan_ok=True)
    rf.track(runs.filter(as_of=FIRST).drop("as_of", "name", "fingerprint"), tmp_path, as_of=FIRST)
    assert rf.changes(str(tmp_path)).equals(rf.changes(rf.history(tmp_path)))


def test_segments_models_names_and_metrics_are_apart():
    runs = history(runs=16, models=("a", "b"), countries=("FR", "DE"), metrics=("ndcg@10", "mrr"))
    of_all = history(runs=16, seed=1).with_columns(name=pl.lit("canary"))
    whole = rf.changes(pl.concat([runs, of_all], how="diagonal_relaxed"))

    for (model, country, metric), rows in runs.group_by("model", "country", "metric"):
        found = whole.filter(model=model, country=country, metric=metric)
        assert found["expected"].to_list() == rf.changes(rows)["expected"].to_list()
    found = whole.filter(name="canary")["expected"].to_list()
    assert found == rf.changes(of_all)["expected"].to_list()


def test_of_several_runs_of_one_time_the_last_counts():
    runs = history(runs=10)
    again = runs[5:6].with_columns(fingerprint=pl.lit("grown"), value=pl.lit(0.31))
    found = rf.changes(pl.concat([runs, again]))

    assert found["value"][5] == 0.31
    assert found["n_runs"].to_list() == [*range(10)]


def test_runs_of_the_same_data_count_once_and_are_compared_alike():
    values = [0.3, 0.31, 0.29, 0.3, 0.31, 0.3, 0.2, 0.2, 0.301, 0.3]
    data = [f"data {min(one, 6)}" for one in range(9)] + ["new"]
    found = rf.changes(of_values(values, fingerprints=data))

    # the third of them has another value, as under other policies
    assert found["verdict"].to_list()[6:9] == ["changed", "changed", "as before"]
    again = "the same data as an earlier run, compared with those before it"
    assert found["note"].to_list()[6:9] == ["down", again, again]
    assert found["n_runs"].to_list()[6:] == [6, 6, 6, 7]
    assert found["expected"][9] == pytest.approx(statistics.fmean(values[:7]))


@pytest.mark.parametrize("nothing", [None, math.nan, math.inf, -math.inf])
def test_a_run_without_a_value_counts_nowhere(nothing):
    is_it = pl.col("as_of") == day(8)
    runs = history(runs=16).with_columns(value=pl.when(is_it).then(nothing).otherwise("value"))
    found = rf.changes(runs)

    assert [at(found, 8)[one] for one in ("verdict", "note")] == ["open", "it has no value"]
    assert at(found, 9)["n_runs"] == 8
    assert not any(found[one].is_nan().any() for one in ("expected", "expected_low", "change"))


def test_columns_of_a_summary_are_read_and_others_may_lack():
    runs = history(runs=10, countries=("FR", None))
    summaries = runs.rename({"low": "value_low", "high": "value_high", "n": "n_users"})
    bare = runs.select("value", "country", "as_of", "metric", k=10, note=pl.lit("x"))

    assert rf.changes(summaries.with_columns(k=10)).equals(rf.changes(runs))
    assert rf.changes(bare)["n_runs"].to_list() == rf.changes(runs)["n_runs"].to_list()
    assert rf.changes(runs.clear()).schema == rf.changes(runs).schema


@pytest.mark.parametrize("zone", [None, "Europe/Paris"])
@pytest.mark.parametrize("dtype", [pl.Date, pl.Datetime("ns"), pl.Datetime("ms")])
def test_times_of_any_dtype_are_in_order(zone, dtype):
    time = pl.col("as_of").cast(dtype)
    zoned = zone and dtype != pl.Date
    runs = history(runs=12).with_columns(time.dt.replace_time_zone(zone) if zoned else time)
    found = rf.changes(runs.sample(fraction=1, shuffle=True, seed=0))

    assert found["as_of"].dtype == runs["as_of"].dtype
    assert found["n_runs"].to_list() == [*range(12)]


@pytest.mark.parametrize("column", ["*", "^.*$", "literal", "key 0", "series", "expected_by"])
def test_a_column_may_have_any_name(column):
    found = rf.changes(history(runs=10, countries=("FR", "DE")).rename({"country": column}))

    assert found.columns[3] == column
    assert found["n_runs"].max() == 9


def test_what_is_wrong_is_told():
    runs = history(runs=8, models=("a", "b"), countries=("FR", "DE"))
    lost = runs.with_columns(pl.when(pl.col("as_of") > day(2)).then("as_of"))
    several = "several values of ndcg@10 for 2026-10-01 00:00:00, and no column to distinguish them"
    for call, error, said in (
        (lambda: rf.changes(runs.drop("metric")), rf.ColumnError,
         "changes takes a history, .* or its path; found a frame without 'metric', of"),
        (lambda: rf.changes(runs.with_columns(pl.col("as_of").cast(pl.String))), rf.DataError,
         "'as_of' has times, and no null; found String: pl.col"),
        (lambda: rf.changes(lost), rf.DataError, "drop rows without a time"),
        (lambda: rf.changes(runs.drop("model")), rf.DataError, several),
        (lambda: rf.changes(runs.drop("country", "fingerprint")), rf.DataError, several),
        (lambda: rf.changes(runs, window=4), rf.RecframeError, "window=4: window takes a whole number from 5 up"),
        (lambda: rf.changes(runs, level=99), rf.RecframeError, "level=99: level takes a number between 0 and 1"),
        (lambda: rf.changes([1]), rf.RecframeError, r"the first argument of changes\(\) is a list"),
        (lambda: rf.changes("nowhere"), rf.RecframeError, "there is no history at 'nowhere'"),
    ):  # fmt: skip
        with pytest.raises(error, match=said):
            call()
    # what is left of one model needs no column of it
    one = runs.filter(model="a", country="FR").drop("model", "country")
    assert rf.changes(pl.concat([one, one]))["value"].to_list() == one["value"].to_list()
