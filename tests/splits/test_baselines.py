"""Lists of baselines, against their definitions in plain Python."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import plain_baselines as plain
import recframe as rf
from split_logs import LAST, LOG, log_of, rows_of_logs, split_of

WINDOW = 5
NAMES = ["popular", "recent", "random", "repeat", "oracle"]


def lists_are(lists: pl.DataFrame, expected: dict[str, dict[Any, list[Any]]]) -> None:
    """Assert the lists of models, whose ranks are 1 to n in the order of rows."""
    for model, of_users in expected.items():
        found = lists.filter(model=model)
        ranks = found.select(place=pl.int_range(1, pl.len() + 1).over("user"), rank="rank")
        assert ranks["place"].to_list() == ranks["rank"].to_list()
        groups = found.group_by("user", maintain_order=True).agg("item").rows()
        assert dict(groups) == {user: one for user, one in of_users.items() if one}, model


@given(rows_of_logs, st.integers(1, 9), st.booleans(), st.integers(0, 3))
def test_baselines_are_their_definitions(rows, k, drop, seed):
    split = split_of(log_of(rows))
    labelled = split.labels.to_dicts()
    seen = "drop" if drop else "keep"
    end = max(row["t"] for row in labelled if row["part"] == "train")

    found = split.baselines(*NAMES, k=k, seen=seen, seed=seed, window=WINDOW)

    expected = {
        "popular": plain.popular(labelled, k, drop=drop, within=lambda _: True),
        "recent": plain.popular(labelled, k, drop=drop, within=lambda row: row["t"] > end - WINDOW),
        "random": plain.random(labelled, k, drop=drop, seed=seed),
        "repeat": plain.repeat(labelled, k),
        "oracle": plain.oracle(labelled, k, drop=drop),
    }
    lists_are(found, expected)


@given(rows_of_logs, st.booleans())
def test_what_is_folded_in_is_the_users_own(rows, drop):
    try:
        split = log_of(rows).rec(time="t").split.by_user(folds=2, fold_in=0.5)
    except rf.DataError:  # no user has rows after those folded in
        return

    found = split.baselines("popular", "random", "repeat", k=4, seen="drop" if drop else "keep")

    for fold in range(2):
        labelled = split.labels.filter(fold=fold).to_dicts()
        expected = {
            "popular": plain.popular(labelled, 4, drop=drop, within=lambda _: True),
            "random": plain.random(labelled, 4, drop=drop, seed=0),
            "repeat": plain.repeat(labelled, 4),
        }
        lists_are(found.filter(fold=fold), expected)


@given(rows_of_logs)
def test_lists_come_from_train_alone(rows):
    log = log_of(rows)
    end = log["t"].max() - LAST
    # truth has other items, and its users are the same
    other = log.with_columns(
        item=pl.when(pl.col("t") > end).then(pl.col("item") + 100).otherwise("item")
    )
    of_train = NAMES[:4]

    found = split_of(log).baselines(*of_train, k=5, window=WINDOW)

    assert found.equals(split_of(other).baselines(*of_train, k=5, window=WINDOW))
    no_twice = found.select(pl.struct("fold", "model", "user", "item").n_unique()).item()
    assert no_twice == found.height


def test_lazy_frames_stay_lazy_and_pandas_is_pandas():
    named = LOG.rename({"user": "customer", "item": "sku"})
    options = {"time": "t", "user": "customer", "item": "sku"}
    asked = {"k": 5, "seen": "drop"}
    found = named.rec(**options).split.rolling(folds=2, horizon=3).baselines(*NAMES, **asked)

    lazy = named.lazy().rec(**options).split.rolling(folds=2, horizon=3).baselines(*NAMES, **asked)
    pandas = named.to_pandas().rec(**options).split.rolling(folds=2, horizon=3)

    assert isinstance(lazy, pl.LazyFrame)
    assert "python" not in lazy.explain().lower()
    assert found.columns == ["fold", "model", "customer", "sku", "rank"]
    assert found.schema["model"] == pl.String
    assert_frame_equal(lazy.collect(), found)
    assert_frame_equal(lazy.collect(engine="streaming"), found)
    assert_frame_equal(pl.from_pandas(pandas.baselines(*NAMES, **asked)), found)


@pytest.mark.parametrize("cast", [pl.String, pl.Categorical, pl.Int32, pl.UInt8])
def test_ids_of_any_dtype_are_themselves(cast):
    log = LOG.with_columns(pl.col("user", "item").cast(pl.String).cast(cast))

    found = split_of(log).baselines(*NAMES, k=5, seen="drop")

    plain_ids = split_of(LOG).baselines(*NAMES, k=5, seen="drop")
    assert found.schema["user"] == cast
    # text has other words for its hash
    shown = pl.col("user", "item").cast(pl.String).cast(pl.Int64)
    kept = pl.col("model") != "random"
    assert found.filter(kept).with_columns(shown).equals(plain_ids.filter(kept))


def test_a_split_that_drops_seen_pairs_drops_them_from_lists():
    assert (
        split_of(LOG, seen="drop")
        .baselines(k=5)
        .equals(split_of(LOG, seen="drop").baselines("oracle", "popular", k=5, seen="drop"))
    )


def test_the_oracle_goes_by_relevance_and_drops_what_is_seen():
    log = pl.DataFrame(
        {"user": [1, 1, 1], "item": [1, 1, 2], "t": [0, 9, 9], "relevance": [1, 1, 3]}
    )
    split = split_of(log)

    assert split.baselines("oracle")["item"].to_list() == [2, 1]
    assert split.baselines("oracle", seen="drop")["item"].to_list() == [2]


@pytest.mark.parametrize("dates", [False, True])
@pytest.mark.parametrize("gap", [None, 1])
def test_recent_reads_as_long_a_window_before_each_kind_of_border(dates, gap):
    # item d is bought on day d alone, by a user of its own
    log = pl.DataFrame({"user": range(14), "item": range(14), "t": range(14)})
    days: Any = int
    if dates:
        log = log.with_columns(pl.lit(datetime(2024, 3, 1)).alias("t") + pl.duration(days="t"))  # noqa: DTZ001
        days = "{}d".format
    split = log.rec(time="t").split
    rolled = split.rolling(folds=1, horizon=days(4), gap=gap and days(gap))

    for one in (split.by_time(last=days(4)), split.by_time(at=log["t"][10]), rolled):
        last = 9 - (gap or 0) if one is rolled else 9
        found = one.baselines("recent", k=9, window=days(3))["item"].unique().sort()
        assert found.to_list() == [last - 2, last - 1, last]
