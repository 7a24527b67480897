"""Rules by users' last events, by chance and by users, against their definitions in plain Python."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from logs_to_split import (
    labels_are,
    log_of,
    plain_by_user,
    plain_last_per_user,
    plain_random,
    rows_of_logs,
)
from recframe.frames.rows.joins import IS_POLARS_1
from strategies import examples

seeds = st.integers(0, 3)
shares = st.sampled_from([0.1, 0.2, 0.25, 0.29, 0.5])


@examples(100)
@given(rows_of_logs(), st.integers(1, 3), st.integers(1, 3), st.integers(0, 2))
def test_last_per_user_is_its_definition(log, n, folds, keep):
    form, rows = log
    options = {"n": n, "folds": folds, "keep": keep}

    labels_are(log_of(form, rows), "last_per_user", plain_last_per_user(rows, **options), **options)


def test_leaving_one_out_is_the_last_event_of_each_user():
    rows = [(1, 1, 1), (1, 2, 2), (1, 3, 2), (2, 1, 5), (3, 1, 1), (3, 2, 9)]
    expected = [["train", "train", "truth", "train", "train", "truth"]]

    labels_are(log_of("Int32", rows), "leave_one_out", expected)
    rules = log_of("Int32", rows).rec(user="u", item="i", time="t").split
    names = "by_time, rolling, last_per_user, leave_one_out, random, by_user"
    assert repr(rules).endswith(f"6 rows: {names}>")


@examples(200)
@given(
    rows_of_logs(),
    st.one_of(st.none(), shares, st.sampled_from([1, 3])),
    st.sampled_from(["user", "log"]),
    st.integers(1, 10),
    seeds,
    st.integers(0, 2),
)
def test_random_is_its_definition(log, size, per, folds, seed, keep):
    form, rows = log
    n = size if isinstance(size, int) else None
    share = None if n else size
    folds = min(folds, int(1 / share)) if share else max(folds, 2)
    options = {"share": share, "n": n, "folds": folds, "seed": seed}
    options |= (
        {"per": "log", "keep": 1} if per == "log" and n is None else {"per": "user", "keep": keep}
    )

    labels_are(log_of(form, rows), "random", plain_random(rows, **options), **options)


@examples(100)
@given(
    rows_of_logs(),
    st.one_of(st.none(), shares),
    st.integers(1, 4),
    st.sampled_from([0.29, 0.5, 0.8, 1, 3]),
    st.sampled_from(["time", "random"]),
    seeds,
)
def test_by_user_is_its_definition(log, share, folds, fold_in, order, seed):
    form, rows = log
    folds = max(folds, 2) if share is None else min(folds, int(1 / share))
    options = {"share": share, "folds": folds, "fold_in": fold_in, "order": order, "seed": seed}

    labels_are(log_of(form, rows), "by_user", plain_by_user(rows, at=None, **options), **options)


@examples(50)
@given(
    rows_of_logs(),
    st.integers(0, 20),
    st.sampled_from([0.5, 0.8, 2]),
    st.sampled_from(["time", "random"]),
)
def test_new_users_are_their_definition(log, at, fold_in, order):
    form, rows = log
    options = {"at": at, "fold_in": fold_in, "order": order, "seed": 1}
    expected = plain_by_user(rows, share=None, folds=1, **options)

    labels_are(log_of(form, rows), "by_user", expected, **options)


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["b", "a"])])
def test_targets_at_one_time_are_in_the_order_of_text(dtype):
    log = pl.DataFrame({"user": [1, 1, 1], "item": ["a", "b", "a"], "day": [1, 2, 2]})
    log = log.cast({"item": dtype})

    labels = log.rec(time="day").split.by_time(at=2, target="last").labels

    assert labels["part"].to_list() == ["train", "truth", "not_target"]


@pytest.mark.parametrize(
    "dtype", [pl.Date, pl.Datetime("ms"), pl.Datetime("ns", "Asia/Tokyo"), pl.UInt64, pl.Float64]
)
@pytest.mark.parametrize("item", [pl.Int8, pl.Boolean, pl.Float32, pl.Date])
def test_events_are_in_order_whatever_their_dtypes(dtype, item):
    rows = [(1, 1, 9), (1, 0, 9), (1, 1, 3), (1, 1, 3), (1, 0, 4), (2, 1, 1), (2, 0, 1)]
    log = pl.DataFrame(rows, schema=["u", "i", "t"], orient="row")
    log = log.cast({"t": pl.Int32 if dtype == pl.Date else pl.Int64, "i": pl.Int32})
    options = {"n": 1, "folds": 2, "keep": 1}

    labels = log.cast({"t": dtype, "i": item}).rec(user="u", item="i", time="t").split

    expected = plain_last_per_user(rows, **options)
    found = labels.last_per_user(n=1, folds=2).labels["part"].to_list()
    assert found == [part for parts in expected for part in parts]


@pytest.mark.parametrize("rule", ["random(0.5)", "random(0.5, per='log')", "by_time(40)"])
def test_a_lazy_plan_is_native_and_a_rule_of_each_row_alone_streams(rule, tmp_path):
    log = pl.DataFrame({"user": [n % 7 for n in range(80)], "item": range(80), "day": range(80)})
    log.write_parquet(tmp_path / "log.parquet")
    frames = (pl.scan_parquet(tmp_path / "log.parquet"), log)
    time = "time='day'" if "time" in rule else ""
    call = f"log.rec({time}).split.{rule}.labels"
    lazy, eager = (eval(call, {"log": one}) for one in frames)  # noqa: S307  rows above

    plan, has_windows = lazy.explain(engine="streaming"), rule == "random(0.5)"
    assert "PYTHON" not in plan.upper().replace("PYTHON SCAN", "PYTHON")
    assert (".over(" in plan) == has_windows
    assert IS_POLARS_1 or ("CACHE" in plan) == has_windows  # Polars 1 holds rows read twice
    assert lazy.collect(engine="streaming").equals(eager)


@pytest.mark.skipif(IS_POLARS_1, reason="it writes a cache out wherever it is read")
def test_filters_of_a_lazy_log_make_its_labels_no_second_time():
    log = pl.LazyFrame({"user": [n % 7 for n in range(80)], "item": range(80), "day": range(80)})
    lists = pl.LazyFrame({"user": [1], "item": [1], "rank": [1], "fold": [0]})

    def size(**filters: str) -> int:
        split = log.rec(time="day").split.last_per_user(folds=4, **filters)
        return len(split.rec(lists).evaluate("rbp").explain())

    assert size(cold="drop", seen="drop") < 1.5 * size()


# The core of a log

ids = st.one_of(st.none(), st.integers(0, 6))
rows_of_pairs = st.lists(st.tuples(ids, ids), max_size=50)


def frame_of(rows: list[Any]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema={"user": pl.Int64, "item": pl.Int64}, orient="row")
    return frame.with_row_index("n")


def core_of(rows: list[Any], least: tuple[int, int]) -> list[int]:
    """The numbers of the rows that are left when users and items of fewer are left out in turn."""
    left = [(n, row) for n, row in enumerate(rows) if None not in row]
    for _ in rows:
        for role in (0, 1):
            counts = Counter(row[role] for _, row in left)
            left = [(n, row) for n, row in left if counts[row[role]] >= least[role]]
    return [n for n, _ in left]


@given(rows_of_pairs, st.integers(1, 4), st.integers(1, 4))
def test_a_core_is_its_definition(rows, users, items):
    log = frame_of(rows)
    call = {"users": users, "items": items, "after_split": True}

    found = log.rec().core(**call)

    assert found["n"].to_list() == core_of(rows, (users, items))
    assert found.schema == log.schema
    assert_frame_equal(log.lazy().rec().core(**call).collect(), found)


def test_a_core_of_a_lazy_log_is_native():
    log = frame_of([(row % 5, row % 7) for row in range(60)] + [(9, 9)])
    found = log.rec().core(after_split=True)

    lazy = log.lazy().rec().core(after_split=True)

    assert "python" not in lazy.explain().lower()
    assert_frame_equal(lazy.collect(engine="streaming"), found)
