"""The audit of splits: each check finds what is planted, and nothing in a clean split."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from recframe.audit.report import CHECKS_OF_SPLITS

START = datetime(2024, 3, 1)  # noqa: DTZ001  as logs mostly are
DAY = timedelta(days=1)
HALF = START + 20 * DAY


def clean_log() -> pl.DataFrame:
    """Return rows of 40 users in 40 days, half before day 20; no pair twice, each item and user of truth in train."""
    drawn = random.Random(0)  # noqa: S311  not for secrets
    rows = []
    for user in range(40):
        items = drawn.sample(range(60), 4 + user % 5)
        rows += [(user, item, place < 3) for place, item in enumerate(items)]
    # a user and an item that nobody would have filtered
    rows += [(99, 0, True), (0, 99, True)] + [(user, 98, True) for user in range(40)]
    known = {item for _, item, is_early in rows if is_early}
    rows = [row for row in rows if row[2] or row[1] in known]
    places = drawn.sample(range(1, 20 * 24 * 60), len(rows))
    times = [
        START + timedelta(minutes=place) + (0 if early else 20) * DAY
        for place, (*_, early) in zip(places, rows, strict=True)
    ]
    columns = {"user": [row[0] for row in rows], "item": [row[1] for row in rows], "t": times}
    return pl.DataFrame(columns)


LOG = clean_log()
TRAIN, TRUTH = LOG.filter(pl.col("t") < HALF), LOG.filter(pl.col("t") >= HALF)


def more(*rows: tuple[int, int, datetime], log: pl.DataFrame = LOG) -> pl.DataFrame:
    """Return a log with more rows."""
    return pl.concat([log, pl.DataFrame(rows, schema=log.schema, orient="row")])


def found(audit: Any) -> dict[str, int]:
    """Return the rows of findings, by check, severity and frame."""
    rows = polars(audit).select("check", "severity", "frame", "rows").rows()
    return {" ".join(names): n for *names, n in rows}


def by_time(log: pl.DataFrame, **options: Any) -> dict[str, int]:
    """Return the findings of a split at day 20."""
    return found(log.rec(time="t").split.by_time(HALF, **options).audit())


KINDS: dict[str, Any] = {"eager": pl.DataFrame.clone, "lazy": pl.DataFrame.lazy}
KINDS["pandas"] = pl.DataFrame.to_pandas


def polars(frame: Any) -> pl.DataFrame:
    """Return a frame of any kind as one of Polars."""
    return frame.collect() if isinstance(frame, pl.LazyFrame) else pl.DataFrame(frame)


def audited(train: pl.DataFrame, truth: pl.DataFrame, kind: str = "eager") -> pl.DataFrame:
    """Return what the audit of lists finds about their train and truth."""
    lists = pl.DataFrame({"user": [0], "item": [0], "rank": [1]})
    lists, train, truth = map(KINDS[kind], (lists, train, truth))
    findings = polars(lists.rec(truth, train=train, time="t").audit())
    return findings.filter(pl.col("check").is_in([check.name for check in CHECKS_OF_SPLITS]))


def in_frames(train: pl.DataFrame, truth: pl.DataFrame) -> dict[str, int]:
    """Return the findings of two frames."""
    return found(audited(train, truth))


SOON = HALF + timedelta(seconds=1)
SEEN = TRAIN.row(0)[:2]
OF_SEVEN = LOG.filter((pl.col("t") < HALF) | (pl.col("user") < 7))
LATEST = TRUTH["t"].max()
LATE = [(user, 98, LATEST + user * DAY) for user in (1, 2, 3)]
T = "warning truth"


def future(n_train: int, n_truth: int, **more: int) -> dict[str, int]:
    return {"future_in_train error train": n_train, "future_in_train error truth": n_truth, **more}


AGAIN, FIRST = {f"truth_in_train {T}": 1}, TRUTH.sort("t")[:1]
CASES: dict[str, tuple[Any, dict[str, int]]] = {
    "a pair again": (lambda: by_time(more((*SEEN, SOON))), AGAIN),
    "a new user": (lambda: by_time(more((500, 98, SOON), (500, 99, SOON + DAY))),
        {f"truth_of_cold_users {T}": 2, f"users_wholly_in_truth {T}": 2}),
    "a new item": (lambda: by_time(more((1, 500, SOON))), {f"truth_of_cold_items {T}": 1}),
    "few users": (lambda: by_time(OF_SEVEN), {f"few_truth_users {T}": len(OF_SEVEN) - len(TRAIN)}),
    # all rows of truth are before the third of these, which are three rows of train
    "the future in train": (lambda: in_frames(more(*LATE, log=TRAIN), TRUTH), future(3, len(TRUTH))),
    "an item of the future in train": (
        lambda: in_frames(more((1, 700, LATEST), log=TRAIN), TRUTH), future(1, len(TRUTH))),
    "a row in both": (lambda: in_frames(pl.concat([TRAIN, FIRST]), TRUTH),
        future(1, 1, **{"same_rows error truth": 1}, **AGAIN)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_planted_is_found_and_nothing_else(case):
    call, expected = CASES[case]

    assert call() == expected


def test_every_check_has_a_case():
    planted = {name.partition(" ")[0] for _, findings in CASES.values() for name in findings}

    assert planted == {check.name for check in CHECKS_OF_SPLITS}


@pytest.mark.parametrize("kind", ["lazy", "pandas"])
def test_other_kinds_of_frames_have_the_same_answers(kind):
    log = more((*SEEN, SOON), (500, 501, SOON))
    given = KINDS[kind](log)
    split, expected = (one.rec(time="t").split.rolling(2, "5d") for one in (given, log))

    for name in ("audit", "describe"):
        answer, wanted = getattr(split, name)(), getattr(expected, name)()
        assert type(answer) is type(given)
        assert_frame_equal(polars(answer).cast(dict(wanted.schema)), wanted)
        assert kind != "lazy" or "PYTHON" not in answer.explain().upper()
    assert found(audited(TRAIN, more((*SEEN, SOON), log=TRUTH), kind)) == {f"truth_in_train {T}": 1}


def in_python(rows: list[tuple[int, int, datetime]], end: datetime) -> tuple[Any, ...]:
    """Return the description of a fold of 5 days, with a gap of 1, by its definition."""
    train = [row for row in rows if row[2] <= end - 6 * DAY]
    truth = [row for row in rows if end - 5 * DAY < row[2] <= end]
    users, items, pairs = ({row[part] for row in train} for part in (0, 1, slice(2)))
    ends = [pick(row[2] for row in part) for part in (train, truth) for pick in (min, max)]
    counts = [
        len(part if place is None else {row[place] for row in part})
        for part in (train, truth)
        for place in (None, 0, 1)
    ]
    lacks = [
        sum(one(row) for row in truth) / len(truth)
        for one in (
            lambda row: row[0] not in users,
            lambda row: row[1] not in items,
            lambda row: row[:2] in pairs,
        )
    ]
    return (*ends, *counts, len(truth) / (len(truth) + len(train)), *lacks)


def test_a_description_is_its_definition():
    log = more((*SEEN, LATEST), (500, 501, LATEST), (1, 501, LATEST))
    names = ["from", "to"]
    parts = ["rows_train", "users_train", "items_train", "rows_truth", "users_truth", "items_truth"]

    described = log.rec(time="t").split.rolling(3, "5d", gap="1d").describe()

    times = [f"{part}_{name}" for part in ("train", "truth") for name in names]
    assert described.columns == [
        "fold",
        *times,
        *parts,
        "share",
        "cold_users",
        "cold_items",
        "seen",
    ]
    for fold, *values in described.rows():
        wanted = in_python(log.rows(), log["t"].max() - 5 * DAY * (2 - fold))
        assert values[:10] == [*wanted[:10]]
        assert values[10:] == pytest.approx(wanted[10:])


RECS = TRUTH[:60].select("user", "item", rank=1)


def test_lists_with_train_and_times_are_checked_for_leaks():
    train = more((1, 700, LATEST), log=TRAIN)
    late = pl.DataFrame({"user": [2], "item": [700], "rank": [1]}, schema=RECS.schema)
    lists = pl.concat([RECS, late])
    timed = lists.rec(truth=TRUTH, train=train, time="t")

    without = found(lists.rec(truth=TRUTH, train=train).audit())

    leaks = {"future_in_train error train": 1, "future_in_train error truth": len(TRUTH)}
    assert found(timed.audit()) == without | leaks
    assert found(lists.lazy().rec(truth=TRUTH, train=train, time="t").audit()) == without | leaks
    own = rf.frame(train.rename({"t": "at"}), time="at")
    assert found(lists.rec(truth=TRUTH, train=own, time="t").audit()) == without | leaks
    assert timed.recall(k=1) == lists.rec(truth=TRUTH).recall(k=1)


def test_times_of_other_units_and_dates_compare():
    nanoseconds = TRUTH.with_columns(pl.col("t").cast(pl.Datetime("ns")))
    assert in_frames(TRAIN, nanoseconds) == {}
    dates = [frame.with_columns(pl.col("t").cast(pl.Date)) for frame in (TRAIN, TRUTH)]
    assert "future_in_train error train" not in in_frames(*dates)


def test_frames_without_rows_have_few_users_and_no_more():
    for frames in ((TRAIN[:0], TRUTH[:0]), (TRAIN, TRUTH[:0])):
        assert in_frames(*frames) == {f"few_truth_users {T}": 0}


def test_a_split_is_shown_with_the_rows_of_its_parts():
    split = LOG.rec(time="t").split.by_time(HALF)

    assert repr(split).endswith(f" 277 rows: {len(TRAIN)} train, {len(TRUTH)} truth")
    assert repr(LOG.lazy().rec(time="t").split.rolling(2, "5d")) == (
        "split by rolling(folds=2, horizon='5d') of a polars.LazyFrame in 2 folds"
    )


RULES: dict[str, Any] = {
    "last_per_user": lambda split: split.last_per_user(n=1, folds=2),
    "random": lambda split: split.random(share=0.2),
    "by_user": lambda split: split.by_user(folds=2, fold_in=0.5),
}


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
@pytest.mark.parametrize("name", RULES)
def test_rules_that_do_not_part_the_time_line_have_the_future_in_train_by_design(name):
    split = RULES[name](LOG.rec(time="t").split)
    audit, labels = split.audit(), split.labels

    future = audit.filter(check="future_in_train")
    assert set(future["severity"]) == {"info"}
    ends = labels.filter(part="truth").group_by("fold").agg(first=pl.col("t").min())
    late = labels.filter(part="train").join(ends, on="fold").filter(pl.col("t") >= pl.col("first"))
    assert future.filter(frame="train")["rows"].item() == len(late)
    # a fold of half of the users has at least 20
    assert "error" not in set(audit["severity"])
    assert not {"users_wholly_in_truth", "truth_of_cold_users"} & {*audit["check"]}


def test_cold_and_seen_rows_that_are_dropped_are_not_found():
    log = more((*SEEN, SOON), (500, 98, SOON), (1, 500, SOON), (501, 501, SOON))

    assert by_time(log, cold="drop", seen="drop") == {}
    assert len(by_time(log)) == 4


def test_logs_of_many_rows_have_the_same_answers_on_each_engine():
    """Of 20,000 rows up plans are optimized, and other ones run."""
    log = LOG.lazy().join(pl.LazyFrame({"more": range(100)}), how="cross").collect()
    log = log.select(pl.col("user", "item") + 1_000 * pl.col("more"), "t")
    split = log.rec(time="t").split.rolling(2, "5d", gap="1d")
    lazy = log.lazy().rec(time="t").split.rolling(2, "5d", gap="1d")

    for name in ("audit", "describe"):
        expected = getattr(split, name)()
        for engine in ("in-memory", "streaming"):
            assert_frame_equal(getattr(lazy, name)().collect(engine=engine), expected)
    lists = split.folds[1].truth.select("user", "item", rank=1)
    truth, train = log.filter(pl.col("t") >= HALF), log.filter(pl.col("t") < HALF + DAY)
    timed = lists.rec(truth=truth, train=train, time="t").audit()
    late = train.filter(pl.col("t") >= truth["t"].min())
    assert found(timed)["future_in_train error train"] == len(late)
    assert found(lists.lazy().rec(truth=truth, train=train.lazy(), time="t").audit()) == found(
        timed
    )
