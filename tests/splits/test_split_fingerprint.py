"""The fingerprint of a split: of its rows and rule, and of nothing else."""

from __future__ import annotations

from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe as rf
from plain_keys import plain_key

START = datetime(2024, 3, 1)  # noqa: DTZ001  as logs mostly are
LOG = pl.DataFrame(
    {
        "user": [1, 1, 2, 2, 3],
        "item": ["a", "b", "a", "c", "b"],
        "t": [START + timedelta(days=day) for day in (0, 1, 2, 3, 4)],
    }
)
AT = "2024-03-03"


def fingerprint(log: Any, **options: Any) -> str:
    """Return the fingerprint of a split at a point."""
    found: str = rf.rec(log, time="t").split.by_time(AT, **options).fingerprint()
    return found


def in_python(rows: list[tuple[int, str, datetime]], said: str) -> str:
    """Return the fingerprint of one fold by its definition."""
    total = 0
    for user, item, t in rows:
        part = "train" if t < START + timedelta(days=2) else "truth"
        word = int.from_bytes(sha256(part.encode()).digest()[:8], "big")
        total += plain_key(0, user, item, t, word)
    lines = ["recframe split, form 1", said, f"fold 0: {len(rows)} rows, {total % 2**64}"]
    return sha256("\n".join(lines).encode()).hexdigest()[:16]


rows_of_logs = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from("abc"), st.integers(2, 9)), min_size=1, max_size=30
)


@given(rows_of_logs, st.randoms())
def test_a_fingerprint_is_its_definition_in_any_order(rows, random):
    timed = [(user, item, START + timedelta(days=day)) for user, item, day in rows]
    timed.append((0, "a", START))
    expected = in_python(timed, f"by_time(at={AT!r})")
    random.shuffle(timed)
    log = pl.DataFrame(timed, schema=LOG.schema, orient="row")

    assert fingerprint(log) == expected
    assert fingerprint(pl.concat([log[:3], log[3:]], rechunk=False).lazy()) == expected


def test_neither_kind_nor_dtypes_nor_names_change_it():
    expected = fingerprint(LOG)

    assert fingerprint(LOG.to_pandas()) == expected
    assert fingerprint(LOG.to_arrow()) == expected
    for other in (
        LOG.with_columns(pl.col("user").cast(pl.UInt8), pl.col("item").cast(pl.Categorical)),
        LOG.with_columns(pl.col("t").cast(pl.Date)),
        LOG.with_columns(pl.col("t").cast(pl.Datetime("ms"))),
        LOG.with_columns(pl.col("t").dt.replace_time_zone("UTC")),
        LOG.with_columns(note=pl.lit("x")),
    ):
        assert fingerprint(other) == expected
    named = LOG.rename({"user": "customer"}).rec(user="customer", time="t").split.by_time(AT)
    assert named.fingerprint() == expected


def test_numbers_of_time_are_the_same_as_floats_of_them():
    whole = LOG.with_columns(t=pl.Series([1, 2, 3, 4, 5]))
    parts = whole.with_columns(t=pl.Series([1.0, 2.5, 3.0, 4.0, 5.0]))

    whole_found, same, other = (
        log.rec(time="t").split.by_time(3).fingerprint()
        for log in (whole, whole.cast({"t": pl.Float64}), parts)
    )

    assert whole_found == same != other


@pytest.mark.parametrize("place", range(5))
def test_a_row_of_another_user_item_or_time_changes_it(place):
    is_it = pl.int_range(pl.len()) == place
    others = {"user": pl.lit(9), "item": pl.lit("z"), "t": pl.col("t") + timedelta(seconds=1)}
    changed = [
        LOG.with_columns(pl.when(is_it).then(value).otherwise(name).alias(name))
        for name, value in others.items()
    ]

    assert len({fingerprint(log) for log in [LOG, *changed, LOG.filter(~is_it)]}) == 5


def test_the_rule_and_its_filters_change_it():
    split = LOG.rec(time="t").split
    found = [
        split.by_time(AT),
        split.by_time(AT, seen="drop"),
        split.by_time(last="3d"),
        split.rolling(2, "1d"),
        split.rolling(2, "1d").folds[0],
        split.rolling(2, "1d").folds[1],
    ]

    assert len({one.fingerprint() for one in found}) == len(found)


def test_ids_without_words_are_an_error():
    log = LOG.with_columns(pl.col("user").cast(pl.Decimal(10, 2)))

    with pytest.raises(rf.ColumnError, match="'user'"):
        fingerprint(log)
