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
    frame = audit.collect() if isinstance(audit, pl.LazyFrame) else audit
    columns = [frame[name].to_list() for name in ("check", "severity", "frame", "rows")]
    return {" ".join(row[:3]): row[3] for row in zip(*columns, strict=True)}


def by_time(log: pl.DataFrame, **options: Any) -> dict[str, int]:
    """Return the findings of a split at day 20."""
    return found(log.rec(time="t").split.by_time(HALF, **options).audit())


def frames_of(kind: str, *frames: pl.DataFrame) -> list[Any]:
    """Return frames of a kind."""
    if kind == "pandas":
        return [frame.to_pandas() for frame in frames]
    return [frame.lazy() if kind == "lazy" else frame for frame in frames]


def polars(frame: Any) -> pl.DataFrame:
    """Return a frame of any kind as one of Polars."""
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    return frame if isinstance(frame, pl.DataFrame) else pl.from_pandas(frame)


def kind_of(frame: Any) -> str:
    """Return the name of a frame's kind."""
    return {pl.LazyFrame: "lazy", pl.DataFrame: "eager"}.get(type(frame), "pandas")


def audited(train: Any, truth: Any) -> Any:
    """Return what the audit of lists finds about their train and truth."""
    lists = pl.DataFrame({"user": [0], "item": [0], "rank": [1]})
    lists = frames_of(kind_of(truth), lists)[0]
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


CASES: dict[str, tuple[Any, dict[str, int]]] = {
    "a pair again": (lambda: by_time(more((*SEEN, SOON))), {f"truth_in_train {T}": 1}),
    "a new user": (lambda: by_time(more((500, 98, SOON), (500, 99, SOON + DAY))),
        {f"truth_of_cold_users {T}": 2, f"users_wholly_in_truth {T}": 2}),
    "a new item": (lambda: by_time(more((1, 500, SOON))), {f"truth_of_cold_items {T}": 1}),
    "few users": (lambda: by_time(OF_SEVEN), {f"few_truth_users {T}": len(OF_SEVEN) - len(TRAIN)}),
    # all rows of truth are before the third of these, which are three rows of train
    "the future in train": (
        lambda: in_frames(more(*LATE, log=TRAIN), TRUTH),
        {"future_in_train error train": 3, "future_in_train error truth": len(TRUTH)},
    ),
    "an item of the future in train": (lambda: in_frames(more((1, 700, LATEST), log=TRAIN), TRUTH),
        {"future_in_train error train": 1, "future_in_train error truth": len(TRUTH)}),
    "a row in both": (
        lambda: in_frames(pl.concat([TRAIN, TRUTH.sort("t")[:1]]), TRUTH),
        {
            "future_in_train error train": 1,
            "future_in_train error truth": 1,
            "same_rows error truth": 1,
            f"truth_in_train {T}": 1,
        },
    ),
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
    (given,) = frames_of(kind, log)
    split = given.rec(time="t").split.rolling(2, "5d")
    expected = log.rec(time="t").split.rolling(2, "5d")
    two, same = frames_of(kind, TRAIN, more((*SEEN, SOON), log=TRUTH))

    audit, described = split.audit(), split.describe()

    assert type(audit) is type(described) is type(given)
    assert_frame_equal(polars(audit), expected.audit())
    assert_frame_equal(
        polars(described).cast(dict(expected.describe().schema)), expected.describe()
    )
    assert found(audited(two, same)) == {f"truth_in_train {T}": 1}


def test_a_lazy_audit_runs_no_python():
    split = LOG.lazy().rec(time="t").split.rolling(2, "5d")

    for plan in (split.audit(), split.describe()):
        assert "PYTHON" not in plan.explain().upper()


def in_python(rows: list[tuple[int, int, datetime]], folds: int) -> list[dict[str, Any]]:
    """Return the description of folds of 5 days, with a gap of 1, by its definition."""
    last = max(t for *_, t in rows)
    each = []
    for fold in range(folds):
        end = last - 5 * DAY * (folds - 1 - fold)
        train = [row for row in rows if row[2] <= end - 6 * DAY]
        truth = [row for row in rows if end - 5 * DAY < row[2] <= end]
        users, items = {row[0] for row in train}, {row[1] for row in train}
        pairs = {row[:2] for row in train}
        n = len(truth)
        each.append(
            {
                "fold": fold,
                "train_from": min(row[2] for row in train),
                "train_to": max(row[2] for row in train),
                "truth_from": min(row[2] for row in truth),
                "truth_to": max(row[2] for row in truth),
                "rows_train": len(train),
                "users_train": len(users),
                "items_train": len(items),
                "rows_truth": n,
                "users_truth": len({row[0] for row in truth}),
                "items_truth": len({row[1] for row in truth}),
                "share": n / (n + len(train)),
                "cold_users": sum(row[0] not in users for row in truth) / n,
                "cold_items": sum(row[1] not in items for row in truth) / n,
                "seen": sum(row[:2] in pairs for row in truth) / n,
            }
        )
    return each


def test_a_description_is_its_definition():
    log = more((*SEEN, LATEST), (500, 501, LATEST), (1, 501, LATEST))

    described = log.rec(time="t").split.rolling(3, "5d", gap="1d").describe()

    expected = in_python(log.rows(), 3)
    for row, wanted in zip(described.to_dicts(), expected, strict=True):
        assert row.keys() == wanted.keys()
        for name, value in wanted.items():
            assert row[name] == (pytest.approx(value) if isinstance(value, float) else value)


RECS = TRUTH[:60].select("user", "item", rank=1)


def test_lists_with_train_and_times_are_checked_for_leaks():
    train = more((1, 700, LATEST), log=TRAIN)
    lists = pl.concat(
        [RECS, pl.DataFrame({"user": [2], "item": [700], "rank": [1]}, schema=RECS.schema)]
    )

    without = lists.rec(truth=TRUTH, train=train).audit()
    timed = lists.rec(truth=TRUTH, train=train, time="t").audit()

    more_found = {name: rows for name, rows in found(timed).items() if name not in found(without)}
    assert more_found == {
        "future_in_train error train": 1,
        "future_in_train error truth": len(TRUTH),
    }
    assert found(without).items() <= found(timed).items()
    assert found(lists.lazy().rec(truth=TRUTH, train=train, time="t").audit()) == found(timed)
    own = rf.frame(train.rename({"t": "at"}), time="at")
    assert found(lists.rec(truth=TRUTH, train=own, time="t").audit()) == found(timed)
    with pytest.raises(rf.DataError, match="future_in_train"):
        lists.rec(truth=TRUTH, train=train, time="t", strict=True).recall(k=1)
    assert lists.rec(truth=TRUTH, train=train, time="t").recall(k=1) == lists.rec(
        truth=TRUTH
    ).recall(k=1)


def test_frames_with_folds_are_checked_fold_by_fold():
    split = LOG.rec(time="t").split.rolling(2, "5d")

    both = split.rec(split.baselines("popular", k=3), model="model", time="t").audit()

    own = both.filter(pl.col("check").is_in([check.name for check in CHECKS_OF_SPLITS]))
    assert found(own) == found(split.audit())


def test_times_that_do_not_compare_are_errors():
    text = TRUTH.with_columns(pl.col("t").cast(pl.String))
    for truth in (text, TRUTH.with_columns(pl.col("t").cast(pl.Int64))):
        with pytest.raises(rf.ColumnError, match="time"):
            audited(TRAIN, truth)
    with pytest.raises(rf.ColumnError, match="no column 't'"):
        RECS.rec(truth=TRUTH.drop("t"), train=TRAIN, time="t").audit()
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
    audit = split.audit()

    future = audit.filter(pl.col("check") == "future_in_train")
    assert set(future["severity"]) == {"info"}
    labels = split.labels
    truth, train = (labels.filter(pl.col("part") == part) for part in ("truth", "train"))
    ends = truth.group_by("fold").agg(first=pl.col("t").min())
    late = train.join(ends, on="fold").filter(pl.col("t") >= pl.col("first"))
    assert future.filter(pl.col("frame") == "train")["rows"].item() == len(late)
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
