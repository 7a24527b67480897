"""`rf.changes`: each number of a history beside what the runs before it predict, and what is compared with what."""

from __future__ import annotations

import datetime as dt
import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe as rf
from plain_windows import bands
from runs_over_time import FIRST, history

ABS = 1e-12


def day(n: int) -> dt.datetime:
    return FIRST + dt.timedelta(days=n)


def at(found: pl.DataFrame, n: int) -> dict:
    return found.filter(pl.col("as_of") == day(n)).row(0, named=True)


def test_numbers_are_those_of_the_plain_definition():
    runs = history(runs=30, drop={20: -0.05, 25: 0.01})
    found = rf.changes(runs, window=7, level=0.95)
    # a standard error is the larger of the spread over the root of the users and the interval over its t
    plain = bands(runs["value"].to_list(), 7, [0.2 / 6147**0.5] * 30)

    for row, one in zip(found.to_dicts(), plain, strict=True):
        assert row["n_runs"] == one.n
        if one.expected is None:
            assert row["expected"] is None
            assert row["flagged"] is None
            assert row["verdict"] == "open"
            continue
        assert row["expected"] == pytest.approx(one.expected)
        assert [row["expected_low"], row["expected_high"]] == pytest.approx(
            one.ends(0.95), rel=1e-6
        )
        assert row["change"] == pytest.approx(row["value"] - one.expected, abs=ABS)
        assert row["p_value"] == pytest.approx(one.p_value, rel=1e-4)
        assert row["flagged"] == (one.p_value <= 0.05)
    assert at(found, 20)["verdict"] == "worse"


def test_any_kind_of_frame_gives_the_same(kind):
    runs = history(runs=12, models=("a", "b"))
    expected = rf.changes(runs)
    found = kind.read(rf.changes(kind(runs)))

    assert found.columns == expected.columns
    for name in ("value", "expected", "expected_low", "p_adjusted"):
        assert found[name].to_list() == pytest.approx(expected[name].to_list(), nan_ok=True)


def test_a_path_is_read(tmp_path):
    df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
    df.rec.track("mrr", history=tmp_path, as_of="2026-11-21")
    df[:1].rec.track("mrr", history=tmp_path, as_of="2026-11-22")

    found = rf.changes(str(tmp_path))

    assert found["note"].to_list() == [
        "0 runs before it, fewer than 7",
        "1 run before it, fewer than 7",
    ]
    assert found.equals(rf.changes(rf.history(tmp_path)))
    assert rf.changes(tmp_path).columns[:5] == ["as_of", "name", "fingerprint", "metric", "value"]


# ---- the family


@given(st.integers(0, 10**6), st.sampled_from([5, 7, 14]), st.sampled_from([0.9, 0.95, 0.99]))
def test_what_is_flagged_lies_outside_its_band_and_nothing_else_does(seed, window, level):
    metrics = [f"ndcg@{k}" for k in range(1, 6)]
    runs = history(runs=25, metrics=metrics, drop={18: -0.02}, seed=seed)
    found = rf.changes(runs, window=window, level=level).drop_nulls("flagged")

    value, low, high = (pl.col(one) for one in ("value", "expected_low", "expected_high"))
    assert found.filter(pl.col("flagged") != ~value.is_between(low, high)).is_empty()
    assert (found["p_adjusted"] == (found["p_value"] * 5).clip(upper_bound=1.0)).all()


def test_the_band_allows_for_all_numbers_of_a_run():
    one = rf.changes(history(runs=20))
    five = rf.changes(history(runs=20, countries=("a", "b", "c", "d", "e")))

    # numbers of other names are those of another run
    named = pl.concat([history(runs=20).with_columns(name=pl.lit(one)) for one in "abcde"])
    assert at(five, 19)["rule"].startswith("t of 14 runs, 99 % for 5 numbers: ")
    assert at(rf.changes(named), 19)["rule"] == at(one, 19)["rule"]
    assert "99 % for one number" in at(one, 19)["rule"]


def test_what_is_outside_by_itself_alone_is_told():
    metrics = [f"ndcg@{k}" for k in range(1, 21)]
    runs = history(runs=20, metrics=metrics[:1], drop={19: -0.018}, spread=0.004, seed=1)
    others = history(runs=20, metrics=metrics[1:], seed=2)
    assert at(rf.changes(runs), 19)["flagged"]

    row = rf.changes(pl.concat([runs, others])).filter(metric="ndcg@1").row(19, named=True)
    assert not row["flagged"]
    assert row["note"] == "outside the band for one number, not after correcting for 20"


# ---- what is compared with what


def test_segments_models_names_and_metrics_are_apart():
    runs = history(runs=16, models=("a", "b"), countries=("FR", "DE"), metrics=("ndcg@10", "mrr"))
    whole = rf.changes(runs)

    for (model, country, metric), rows in runs.group_by("model", "country", "metric"):
        alone = rf.changes(rows)["expected"].to_list()
        found = whole.filter(model=model, country=country, metric=metric)["expected"]
        assert found.to_list() == pytest.approx(alone)


def test_all_users_and_those_of_a_segment_are_apart():
    of_all = history(runs=10)
    of_segments = history(runs=10, countries=("null", "FR"), seed=1)
    found = rf.changes(pl.concat([of_all, of_segments], how="diagonal"))

    assert found.height == 30
    apart = [rf.changes(one)["expected"] for one in (of_all, of_segments)]
    expected = pl.concat(apart).drop_nulls().sort().to_list()
    assert found["expected"].drop_nulls().sort().to_list() == pytest.approx(expected)


def test_of_several_runs_of_one_time_the_last_counts():
    runs = history(runs=10)
    again = runs[5:6].with_columns(fingerprint=pl.lit("grown"), value=pl.lit(0.5))
    found = rf.changes(pl.concat([runs, again]))

    assert found.height == 10
    assert at(found, 5)["value"] == 0.5
    assert at(found, 5)["note"].endswith("tracked with several data; the last one counts")


def test_runs_of_the_same_data_are_one():
    runs = history(runs=16)
    stuck = runs.with_columns(
        pl.when(pl.col("as_of") > day(9)).then(pl.col(name).get(9)).otherwise(name).alias(name)
        for name in ("fingerprint", "value", "value_low", "value_high")
    )
    found = rf.changes(stuck)

    first, later = (
        [at(found, n)[name] for name in ("expected", "n_runs", "flagged")] for n in (9, 12)
    )
    assert later == first
    assert at(found, 12)["note"] == "the same data as on 2026-10-10, and judged as then"


def test_runs_of_unknown_data_are_all_there():
    runs = history(runs=16).with_columns(fingerprint=pl.lit(None, pl.String))

    assert rf.changes(runs)["n_runs"].to_list() == [*range(14), 14, 14]


@pytest.mark.parametrize("nothing", [None, math.nan, math.inf, -math.inf])
def test_a_run_without_a_value_counts_nowhere(nothing):
    runs = history(runs=16).with_columns(
        value=pl.when(pl.col("as_of") == day(8)).then(nothing).otherwise("value")
    )
    found = rf.changes(runs)

    assert at(found, 8)["note"] == "it has no value"
    assert at(found, 8)["expected"] is not None
    assert at(found, 8)["flagged"] is None
    assert at(found, 9)["n_runs"] == 8


def test_a_run_that_is_far_off_is_left_out_of_later_windows():
    found = rf.changes(history(runs=30, drop={20: -0.1}))

    assert at(found, 20)["flagged"]
    assert at(found, 21)["n_runs"] == 13
    assert at(found, 21)["note"] == "without 1 of the runs before, which are far off"
    assert at(found, 25)["expected"] == pytest.approx(0.3, abs=0.003)


# ---- verdicts and numbers


@pytest.mark.parametrize(
    ("metric", "up", "down"),
    [
        ("ndcg@10", "better", "worse"),
        ("gini@10", "better", "worse"),
        ("list_length", "higher", "lower"),
        ("of_a_shop@10", "higher", "lower"),
    ],
)
def test_a_verdict_goes_by_the_better_end_of_the_metric(metric, up, down):
    lower = metric.startswith("gini")
    for change, word in ((0.1, down if lower else up), (-0.1, up if lower else down)):
        found = rf.changes(history(runs=16, metrics=(metric,), drop={15: change}))
        assert at(found, 15)["verdict"] == word
        assert at(found, 14)["verdict"] == "as expected"


def test_no_band_goes_beyond_the_range_of_its_metric():
    found = rf.changes(history(runs=20, spread=0.3)).drop_nulls("expected")

    assert found["expected_low"].min() >= 0
    assert found["expected_high"].max() <= 1


# ---- histories of other kinds


def test_an_older_history_lacks_columns():
    runs = history(runs=10, countries=("FR", None))
    bare = runs.select("as_of", "country", "metric", "value")
    found = rf.changes(bare)

    assert found["n_runs"].to_list() == rf.changes(runs)["n_runs"].to_list()
    assert found["rule"].str.ends_with("users of the run").any() is not True


@pytest.mark.parametrize("zone", [None, "Europe/Paris"])
@pytest.mark.parametrize("dtype", [pl.Date, pl.Datetime("ns"), pl.Datetime("ms")])
def test_times_of_any_dtype_are_in_order(zone, dtype):
    if zone and dtype == pl.Date:
        pytest.skip("days have no zone")
    time = pl.col("as_of").cast(dtype)
    runs = history(runs=12).with_columns(time.dt.replace_time_zone(zone) if zone else time)
    found = rf.changes(runs.sample(fraction=1, shuffle=True, seed=0))

    assert found["as_of"].dtype == runs["as_of"].dtype
    assert found["n_runs"].to_list() == [*range(12)]


@pytest.mark.parametrize("column", ["*", "^.*$", "literal", "key 0", "series", "expected_by"])
def test_a_column_may_have_any_name(column):
    runs = history(runs=10, countries=("FR", "DE")).rename({"country": column})
    found = rf.changes(runs)

    assert found.columns[3] == column
    assert found["n_runs"].max() == 9


def test_an_empty_history_has_no_changes(tmp_path):
    found = rf.changes(tmp_path)

    assert found.is_empty()
    assert found.columns == rf.changes(history(runs=3)).columns


def test_what_is_wrong_is_told():
    runs = history(runs=3)
    for call, said in (
        (lambda: rf.changes(runs.drop("metric")),
         "this takes a history, .* or its path; found a frame without 'metric', of"),
        (lambda: rf.changes(runs.with_columns(pl.col("as_of").cast(pl.String))),
         "'as_of' has times; found String: pl.col"),
        (lambda: rf.changes(runs, window=4), "window=4: window takes a whole number from 5 up"),
        (lambda: rf.changes(runs, level=99), "level=99: level takes a number between 0 and 1"),
        (lambda: rf.changes([1]), r"the first argument of changes\(\) is a list"),
        (lambda: rf.changes("nowhere"), "there is no history at 'nowhere'"),
    ):  # fmt: skip
        with pytest.raises(rf.RecframeError, match=said):
            call()


def test_nothing_is_nan():
    found = rf.changes(history(runs=20, drop={3: math.nan}))

    assert not any(
        found[name].is_nan().any() for name in found.columns if found[name].dtype.is_float()
    )


def test_numbers_that_nothing_tells_apart_are_told_and_not_one_of_them_taken():
    runs = history(runs=8, models=("a", "b"), countries=("FR", "DE"))
    said = "several values of ndcg@10 for 2026-10-01, such as .* and no column to distinguish them"
    for lacking in (runs.drop("model"), runs.drop("country"), runs.drop("country", "fingerprint")):
        with pytest.raises(rf.DataError, match=said):
            rf.changes(lacking)
        with pytest.raises(rf.DataError, match=said):
            lacking.rec.plot.timeline("ndcg@10")
    # what is left of one model needs no column of it, and twice the same is no contradiction
    one = runs.filter(model="a", country="FR").drop("model", "country")
    assert rf.changes(pl.concat([one, one]))["value"].to_list() == one["value"].to_list()


def test_columns_may_stand_in_any_order():
    runs = history(runs=12, models=("a", "b"), countries=("FR", "DE"))
    asked = ["as_of", "model", "country", "value", "expected", "n_runs"]
    expected = rf.changes(runs).select(asked)

    assert rf.changes(runs.select(reversed(runs.columns))).select(asked).equals(expected)
    first = ["as_of", "n_users", "std", "value", "model", "country", "metric"]
    assert rf.changes(runs.select(first))["n_runs"].max() == 11


def test_a_number_without_a_time_is_told():
    runs = history(runs=8)
    lost = runs.with_columns(pl.when(pl.col("as_of") > day(2)).then("as_of"))

    with pytest.raises(rf.DataError, match=r"'as_of' is null in 3 of 8 rows, .* drop those rows"):
        rf.changes(lost)
