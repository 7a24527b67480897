"""What ids are called changes no number: those of every dtype, at both ends of its range, count as 0, 1, 2, and come back."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Callable
from functools import cache
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from buckets_of_users import in_buckets

N_USERS, N_ITEMS = 80, 42
METRICS = ["ndcg@10", "recall@2", "map", "auc", "list_length@5", "epc@3", "alpha_ndcg@3", "gini@2"]
DAY, MINUTE = dt.date(1970, 1, 1), dt.timedelta(minutes=1)


def whole(*numbers: int) -> Callable[[int], list[int]]:
    """Ids that follow on the numbers, or lead up to them where these are the highest of a dtype."""

    def ids(n: int) -> list[int]:
        share = n // len(numbers)
        first = [
            number if number <= 0 or number == 2**63 else number + 1 - share for number in numbers
        ]
        return [number + place for number in first for place in range(share)]

    return ids


# As many ids as are asked for, ascending.
IDS: dict[str, tuple[Any, Callable[[int], list[Any]]]] = {
    **{
        f"Int{bits}": (getattr(pl, f"Int{bits}"), whole(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1))
        for bits in (8, 16, 32, 64, 128)
    },
    **{f"UInt{bits}": (getattr(pl, f"UInt{bits}"), whole(0, 2**bits - 1)) for bits in (8, 16, 32, 64)},
    "Int16 around 0": (pl.Int16, lambda n: [*range(-n // 2, n // 2)]),
    "UInt64 from 2^63": (pl.UInt64, whole(2**63)),
    "Int128 from 2^63": (pl.Int128, whole(2**63)),
    "multiples of 2^32": (pl.Int64, lambda n: [(place - n // 2) * 2**32 for place in range(n)]),
    "multiples of 2^64": (pl.Int128, lambda n: [(place - n // 2) * 2**64 for place in range(n)]),
    "Float64": (pl.Float64, lambda n: [(place - n // 2) / 4 for place in range(n)]),
    "Float32": (pl.Float32, lambda n: [(place - n // 2) / 4 for place in range(n)]),
    "Decimal": (pl.Decimal(38, 2), lambda n: [decimal.Decimal(place - n // 2) / 4 for place in range(n)]),
    "String": (pl.String, lambda n: [f"{place:03}" + ("", "\0", "é", "\0中")[place % 4] for place in range(n)]),
    "NUL": (pl.String, lambda n: ["\0" * place for place in range(n)]),
    "Categorical": (pl.Categorical(), lambda n: [f"{place:03}" for place in range(n)]),
    "Enum": (pl.Enum([f"{place:03}" for place in reversed(range(999))]),
        lambda n: [f"{place:03}" for place in range(n)]),
    "Binary": (pl.Binary, lambda n: [b"\xff" * place for place in range(n)]),
    "Date": (pl.Date, lambda n: [DAY + dt.timedelta(place - n // 2) for place in range(n)]),
    "Datetime": (
        pl.Datetime("ns"),
        lambda n: [dt.datetime(1969, 12, 31, 23) + MINUTE * place for place in range(n)],  # noqa: DTZ001
    ),
    "Datetime of ms": (
        pl.Datetime("ms"),
        lambda n: [dt.datetime(1969, 12, 31, 23) + MINUTE * place for place in range(n)],  # noqa: DTZ001
    ),
    "Time": (pl.Time, lambda n: [dt.time(place // 60, place % 60) for place in range(n)]),
    "Duration": (pl.Duration("us"), lambda n: [dt.timedelta(place - n // 2) for place in range(n)]),
    "Struct": (pl.Struct({"a": pl.Int8, "b": pl.Int64}),
        lambda n: [{"a": -1, "b": 2**62 + place} for place in range(n)]),
}  # fmt: skip
every_dtype = pytest.mark.parametrize("name", IDS)


@cache
def plain(order: str) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Large lists by ranks or scores, many of which are the same; a truth; and a history."""
    row = pl.int_range(N_USERS * N_ITEMS)
    user, item = row // N_ITEMS, (row * 37 % N_ITEMS)
    pairs = pl.select(user=user, item=item, place=(row * 7919 + user * 31) % 101)
    place = pl.col("place")
    score = pl.when(place % 6 == 0).then(-0.0).otherwise((place % 6 // 3 * 5).cast(pl.Float64))
    column = score.alias("score") if order == "score" else (place % 35 + 1).alias("rank")
    truth = pairs.filter(place % 5 == 0).select("user", "item", relevance=place % 4)
    train = pairs.filter(place % (pl.col("item") % 9 + 2) == 1).select("user", "item")
    return pairs.select("user", "item", column), truth, train


def called(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """The same frame with other ids, and rows of nobody and of nothing."""
    dtype, ids = IDS[name]
    users, items = (pl.Series(ids(n), dtype=dtype, strict=True) for n in (N_USERS, N_ITEMS))
    found = frame.with_columns(user=users.gather(frame["user"]), item=items.gather(frame["item"]))
    nobody, nothing = (
        found[:1].with_columns(pl.lit(None, dtype=dtype).alias(role)) for role in ("user", "item")
    )
    return pl.concat([found, nobody, nothing]).sample(fraction=1, shuffle=True, seed=1)


def bound(
    order: str, kind: Callable[[pl.DataFrame], Any], name: str | None = None, **options: Any
) -> Any:
    recs, truth, train = (
        kind(frame if name is None else called(frame, name)) for frame in plain(order)
    )
    dtype, ids = (pl.Int64, lambda n: [*range(n)]) if name is None else IDS[name]
    items = pl.DataFrame({"item": pl.Series(ids(N_ITEMS), dtype=dtype)})
    items = items.with_columns(genre=pl.int_range(N_ITEMS) % 7)
    return rf.rec(recs)(truth=truth, train=train, items=kind(items), **options)


@cache
def numbers(order: str, ties: str | None) -> pl.DataFrame:
    return bound(order, pl.DataFrame.lazy, ties=ties).evaluate(*METRICS).collect(engine="in-memory")


FORMS = [("rank", None), ("score", "item")]


@pytest.mark.slow
@pytest.mark.parametrize(("order", "ties"), FORMS)
@every_dtype
def test_ids_of_every_dtype_give_the_numbers_of_plain_ones(name, order, ties):
    expected = numbers(order, ties)
    rec = bound(order, lambda frame: frame, name, ties=ties)
    lazy = bound(order, pl.DataFrame.lazy, name, ties=ties)
    assert rec._kind.asks is not None

    assert_frame_equal(rec.evaluate(*METRICS), expected, rel_tol=1e-12)
    assert_frame_equal(lazy.evaluate(*METRICS).collect(engine="streaming"), expected, rel_tol=1e-12)
    assert_frame_equal(in_buckets(lazy, *METRICS), expected, rel_tol=1e-12)
    dtype, ids = IDS[name]
    for found, n in (
        (rec.evaluate("mrr", by="user")["user"], N_USERS),
        (lazy.evaluate("mrr", by="item").collect()["item"].drop_nulls(), N_ITEMS),
    ):
        assert found.equals(pl.Series(ids(n), dtype=dtype, strict=True).sort(), check_dtypes=True)
    judged = rec.judge()
    assert judged.schema["user"] == judged.schema["item"] == dtype
