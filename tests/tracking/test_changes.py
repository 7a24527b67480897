"""`rf.changes`: each number of a history with the band of the runs before it, by the plain definition."""

from __future__ import annotations

import datetime as dt
import math
import random
import statistics

import polars as pl
import pytest
from scipy import stats

import recframe as rf
from runs_over_time import FIRST, history


def day(n: int) -> dt.datetime:
    return FIRST + dt.timedelta(days=n)


def of_values(values, *, error=0.0, n=10_000, fingerprints=None):
    """Return a history of a number with a standard error, with a run a day."""
    half = error * stats.t.ppf(0.975, n - 1)
    return pl.DataFrame({
        "as_of": [day(one) for one in range(len(values))], "metric": "ndcg@10", "value": values, "n": n,
        "name": None, "std": None, "fingerprint": fingerprints or [f"data {one}" for one in range(len(values))],
    }).with_columns(low=pl.col("value") - half, high=pl.col("value") + half)  # fmt: skip


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
    found = rf.changes(of_values(values, error=error), window=window, level=level)

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
    runs = of_values(weeks, error=0.2 / 2000**0.5).with_columns(country=pl.lit(country, pl.String))
    others = of_values([0.079] * 8).with_columns(country=pl.lit("DE"), value=0.25)
    found = rf.changes(pl.concat([runs, others])).filter(pl.col("expected") < 0.2)
    last = found.filter(as_of=day(7))

    assert last.select("verdict", "note", "n_runs").row(0) == ("changed", "down", 7)
    assert last["expected_low"][0] < 0.45 * 0.079
    # at three times its own error of 0.0045 from the range it is not told from chance
    few = rf.changes(of_values(weeks, error=0.2 / 360**0.5))
    assert few["verdict"][-1] == "open"
    assert few["note"][-1] == "a fall of a fifth would not show"


def test_a_number_without_an_interval_has_no_error_and_rounding_is_no_change():
    bare = of_values([*[0.3] * 6, 0.3 + 1e-16, 0.3001]).with_columns(low=None, high=None)

    assert rf.changes(bare)["verdict"].to_list()[5:] == ["as before", "as before", "changed"]


def test_frames_of_any_kind_and_a_path_give_the_same(kind, tmp_path):
    for place, hits in enumerate([[1, 0], [1, 1], [0, 1]]):
        df = pl.DataFrame({"user": [1, 2], "item": 1, "rank": 1, "relevance": hits})
        df.rec.track("mrr", history=tmp_path, as_of=day(place))
    runs = history(runs=12, models=("a", "b"))

    assert rf.changes(kind(runs))["expected"].to_list() == rf.changes(runs)["expected"].to_list()
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

    assert found[8].select("verdict", "note").row(0) == ("open", "it has no value")
    assert found["n_runs"][9] == 8
    assert not any(found[one].is_nan().any() for one in ("expected", "expected_low", "change"))


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


def test_what_is_left_of_one_model_needs_no_column_of_it():
    runs = history(runs=8, models=("a",)).drop("model")

    assert rf.changes(pl.concat([runs, runs]))["value"].to_list() == runs["value"].to_list()
    assert rf.changes(runs.clear()).schema == rf.changes(runs).schema
