"""What segments cost: six metrics at 10 by columns of every frame, each as a ratio to the same without them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import data
import numpy as np
import polars as pl
from contenders import METRICS
from data import Case, Settings
from works import Work, asked, bound

import recframe as rf

SIX = "six metrics at 10"
SIX_OF_TWO = "two frames, six metrics at 10"
FIRST_DAY = dt.date(2026, 1, 1)
COLUMNS: dict[str, Any] = {
    "a column of 100 values": "segment",
    "two columns": ["segment", "age"],
    "a text column": "country",
    "a categorical column": "device",
    "a column of dates": "day",
    "10,000 segments": "city",
}
ITEM_COLUMNS = {"20 values": "genre", "10,000 values": "maker"}


def segments(numbers: pl.DataFrame, settings: Settings) -> Iterator[list[Work]]:
    """Yield the works by properties of users: as columns of the judged frame, of its users, of lists, and of the truth."""
    users = described_users(settings)
    whole = data.case(numbers, settings)
    yield _of_users(whole, users, SIX)
    two = data.case(numbers, replace(settings, shape="two"))
    yield _of_users(two, users, SIX_OF_TWO, [*COLUMNS][:1])
    recs, truth = two.given
    six = asked(two)
    with_column = users.select("user", "segment")
    lists = recs.join(with_column, on="user", how="left", maintain_order="left")
    yield [
        _by("the recommendations", rf.rec(lists)(truth=truth), six),
        _by("the truth", rf.rec(recs)(truth=truth.join(with_column, on="user")), six),
        _by("both frames", rf.rec(lists)(truth=truth.join(with_column, on="user")), six),
    ]
    items = described_items(settings)
    yield [
        Work(
            f"by= a property of items, {name}{frames}",
            yardstick,
            partial(bound(case)(items=items).evaluate, *METRICS, k=10, by=column),
            asked(case),
        )
        for case, frames, yardstick in ((whole, "", SIX), (two, ", two frames", SIX_OF_TWO))
        for name, column in ITEM_COLUMNS.items()
    ]
    yield _of_rows(whole, two, items)
    yield _by_user(settings)


def _of_rows(whole: Case, two: Case, items: pl.DataFrame) -> list[Work]:
    """Return the works by columns that cut lists: what rows say of their items, and what differs from row to row."""
    genre = items.select("item", "genre")
    week = (pl.col("user") * 7 + pl.col("item")) % 20

    def described(frame: pl.DataFrame) -> pl.DataFrame:
        beside = frame.join(genre, on="item", how="left", maintain_order="left")
        return beside.with_columns(week=week)

    recs, truth = map(described, two.given)
    judged = rf.rec(described(whole.judged)), SIX, "the judged frame", asked(whole)
    both = rf.rec(recs)(truth=truth), SIX_OF_TWO, "both frames", asked(two)
    return [
        Work(
            f"by= a column of {name}, {said}",
            yardstick,
            partial(rec.evaluate, *METRICS, k=10, by=column),
            six,
        )
        for rec, yardstick, name, six in (judged, both)
        for column, said in (("genre", "which tells of items"), ("week", "of each row"))
    ]


def _of_users(case: Case, users: pl.DataFrame, yardstick: str, names: Any = COLUMNS) -> list[Work]:
    """Return the works by columns of a users frame, and of a judged frame that has them."""
    six, works = asked(case), []
    judged = case.judged.join(users, on="user", how="left", maintain_order="left")
    for name in names:
        by, of_users = COLUMNS[name], bound(case)(users=users)
        call = partial(of_users.evaluate, *METRICS, k=10, by=by)
        works.append(Work(f"by= {name} of users{_frames(case)}", yardstick, call, six))
        if not case.two_frames:
            call = partial(rf.rec(judged).evaluate, *METRICS, k=10, by=by)
            works.append(Work(f"by= {name} of the judged frame", yardstick, call, six))
    return works


def _frames(case: Case) -> str:
    return ", two frames" if case.two_frames else ""


def _by(owner: str, rec: Any, six: Any) -> Work:
    call = partial(rec.evaluate, *METRICS, k=10, by="segment")
    return Work(f"by= a column of {owner}", SIX_OF_TWO, call, six)


def _by_user(settings: Settings) -> list[Work]:
    """Return the work that gives a row for each of ten times as many users, with lists of a tenth of the length."""
    short = replace(settings, users=settings.users * 10, length=settings.length // 10)
    case = data.case(data.numbers(short), short)
    call = partial(bound(case).evaluate, *METRICS, k=10, by="user")
    return [Work(f'by="user", {short.users:,} users', "the same without", call, asked(case))]


def described_users(settings: Settings) -> pl.DataFrame:
    """Return a row for each user with properties of every kind."""
    random = np.random.default_rng(settings.seed)
    one_of = partial(random.integers, 0, size=settings.users)
    segment, day = pl.col("segment"), pl.col("segment").cast(pl.Int64)
    users = {"user": np.arange(settings.users), "segment": one_of(100), "age": one_of(12)}
    return pl.DataFrame(users | {"city": one_of(10_000)}).with_columns(
        country=pl.format("country {}", segment),
        device=pl.format("device {}", segment).cast(pl.Categorical),
        day=FIRST_DAY + pl.duration(days=day),
    )


def described_items(settings: Settings) -> pl.DataFrame:
    """Return a row for each item with properties of few and of many values."""
    random = np.random.default_rng(settings.seed)
    genre, maker = (random.integers(0, most, data.N_ITEMS) for most in (20, 10_000))
    return pl.DataFrame({"item": np.arange(data.N_ITEMS), "genre": genre, "maker": maker})
