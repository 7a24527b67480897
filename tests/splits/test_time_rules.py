"""Splits by the time line, against their definition in plain Python."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recframe as rf
from logs_to_split import labels_are

START = datetime(2024, 3, 1)  # noqa: DTZ001  as logs mostly are
rows_of_logs = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(0, 5)), st.integers(0, 6), st.one_of(st.none(), st.integers(0, 30))),
    min_size=1,
    max_size=40,
)  # fmt: skip


def log_of(rows: list[tuple[int | None, int, int | None]]) -> pl.DataFrame:
    """Return rows of user, item and day as a log."""
    times = [None if day is None else START + timedelta(days=day) for *_, day in rows]
    columns = {"user": [row[0] for row in rows], "item": [row[1] for row in rows], "t": times}
    schema = {"user": pl.Int64, "item": pl.Int64, "t": pl.Datetime("us")}
    return pl.DataFrame(columns, schema=schema)


def window_of(day: int | None, user: int | None, last: int, gap: int, window: int | None) -> str:
    """Return the part of a row whose truth is the days from `last - 6` to `last`, by the definition."""
    if day is None or user is None:
        return "null"
    if day > last:
        return "later"
    if day > last - 7:
        return "truth"
    if day > last - 7 - gap:
        return "gap"
    if window is not None and day <= last - 7 - gap - window:
        return "earlier"
    return "train"


@given(rows_of_logs, st.integers(1, 3), st.integers(0, 3), st.one_of(st.none(), st.integers(1, 9)))
def test_rolling_is_its_definition(rows, folds, gap, window):
    days = [day for *_, day in rows if day is not None]
    ends = [max(days, default=0) - 7 * (folds - 1 - fold) for fold in range(folds)]
    expected = [[window_of(day, user, end, gap, window) for user, _, day in rows] for end in ends]
    lengths = {"gap": f"{gap}d"} | ({} if window is None else {"window": f"{window}d"})

    labels_are(log_of(rows), "rolling", expected, folds=folds, horizon="7d", **lengths)


@given(rows_of_logs, st.integers(1, 99))
def test_a_share_is_cut_between_two_times(rows, percent):
    days = sorted(day for *_, day in rows if day is not None)
    point = days[round((100 - percent) * len(days), 6) // 100] if days else 0
    expected = ["null" if None in row else "truth" if row[2] >= point else "train" for row in rows]

    labels_are(log_of(rows), "by_time", [expected], share=percent / 100)


def plain_filters(rows: list[Any], at: int, options: dict[str, Any]) -> list[str]:
    """Return the part of each row by the definition of the filters: the first reason that holds."""

    def event(row: Any) -> tuple[int, int]:
        return row[2], row[1]

    parts = ["null" if None in row else "truth" if row[2] >= at else "train" for row in rows]
    train = [row for row, part in zip(rows, parts, strict=True) if part == "train"]
    truth = [row for row, part in zip(rows, parts, strict=True) if part == "truth"]
    least = max(options["min_train"], options["cold"] in {"drop", "drop_users"})

    def reason(row: Any) -> str:
        own = [event(one) for one in truth if one[0] == row[0]]
        picked = {"all": event(row), "first": min(own), "last": max(own)}[options["target"]]
        if event(row) != picked:
            return "not_target"
        if options["seen"] == "drop" and any(one[:2] == row[:2] for one in train):
            return "seen"
        if sum(one[0] == row[0] for one in train) < least:
            return "cold_user"
        is_cold = all(one[1] != row[1] for one in train)
        return "cold_item" if options["cold"] in {"drop", "drop_items"} and is_cold else "truth"

    return [reason(row) if part == "truth" else part for row, part in zip(rows, parts, strict=True)]


FILTERS = st.fixed_dictionaries({
    "target": st.sampled_from(["all", "first", "last"]),
    "cold": st.sampled_from(["keep", "drop", "drop_users", "drop_items"]),
    "seen": st.sampled_from(["keep", "drop"]),
    "min_train": st.integers(0, 3),
})  # fmt: skip


@given(rows_of_logs, st.integers(0, 29), FILTERS)
def test_filters_are_their_definition(rows, place, options):
    times = {row[2] for row in rows if None not in row} or {0}
    assume(len(times) > 1)  # whether there is train and truth goes by the rule alone
    at = max(times) - place % (max(times) - min(times))
    split = log_of(rows).rec(time="t").split.by_time(START + timedelta(days=at), **options)

    assert split.labels["part"].to_list() == plain_filters(rows, at, options)


def test_grades_below_the_least_stay_in_train_and_are_no_truth():
    log = pl.DataFrame(
        {"user": 1, "item": [1, 2, 3, 4], "day": [1, 2, 3, 4], "stars": [1, 5, 2, 5]}
    )
    rec = log.rec(time="day", relevance="stars")

    split = rec.split.by_time(last=2, min_relevance=4)

    assert split.labels["part"].to_list() == ["train", "train", "not_relevant", "truth"]
    assert split.train["stars"].to_list() == [1, 5]


MARCH = ["2024-03-01", "2024-03-24", "2024-03-30", "2024-03-31", "2024-04-07"]
BEFORE = [  # the length, the zone, and what is after the last row minus the length
    ("7d", None, ["2024-04-07"]),
    ("167h", "Europe/Paris", ["2024-04-07"]),
    ("168h", "Europe/Paris", ["2024-03-31", "2024-04-07"]),
    ("1mo", "Europe/Paris", MARCH[1:]),
    ("1 Month", "Europe/Paris", MARCH[1:]),
    ("7D", "Europe/Paris", ["2024-04-07"]),
    ("8 days", None, ["2024-03-31", "2024-04-07"]),
    ("1 week 24 hours", None, ["2024-03-31", "2024-04-07"]),
    (timedelta(days=7), "Europe/Paris", ["2024-04-07"]),
    (timedelta(days=7, seconds=1), None, ["2024-03-31", "2024-04-07"]),
]


@pytest.mark.parametrize(("length", "zone", "expected"), BEFORE)
def test_lengths_go_by_the_calendar_of_the_zone(length, zone, expected):
    """The clocks of Paris go forward on 31 March, so that the week before 7 April has 167 hours."""
    times = pl.Series(MARCH).str.to_datetime("%Y-%m-%d", time_zone=zone)
    log = pl.DataFrame({"user": 1, "item": range(5), "t": times})

    truth = log.rec(time="t").split.by_time(last=length).truth

    assert truth["t"].dt.strftime("%Y-%m-%d").to_list() == expected


@pytest.mark.parametrize(
    "dtype", [pl.Date, pl.Datetime("ms"), pl.Datetime("ns"), pl.Int64, pl.Float64]
)
def test_the_last_row_is_truth_and_the_one_a_length_before_is_not(dtype):
    days = pl.Series([0, 3, 4, 10, 11, None], dtype=pl.Int32)
    times = days.cast(dtype) if dtype in (pl.Int64, pl.Float64) else days.cast(pl.Date).cast(dtype)
    log = pl.DataFrame({"user": 1, "item": range(6), "t": times})
    length = 7 if dtype in (pl.Int64, pl.Float64) else "7d"

    parts = log.rec(time="t").split.by_time(last=length).labels["part"].to_list()

    assert parts == ["train", "train", "train", "truth", "truth", "null"]


def test_a_frame_with_names_of_its_own_is_a_log():
    events = pl.DataFrame({"customer": 1, "sku": range(5), "day": range(5)})
    log = rf.frame(events, user="customer", item="sku")

    split = log.rec(time="day").split.by_time(last=2)

    assert split.truth.select(events.columns).equals(events.tail(2))
    assert rf.rec(log, time="day").split.by_time(last=2).truth.equals(split.truth)


def test_folds_whose_trains_have_a_row_in_common_repeat_it_alone():
    log = pl.DataFrame({"user": [1, 2], "item": [1, 2], "t": [0, 5]})
    split = log.rec(time="t").split.rolling(folds=2, horizon=1)
    assert split.train["t"].to_list() == [0, 0]
