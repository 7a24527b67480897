"""Rows on their way to buckets: what goes in comes out, of whole users, however few are held at a time."""

from __future__ import annotations

from decimal import Decimal

import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

from recframe.engines import sent_rows
from recframe.engines.sent_rows import BUCKET, N_ROWS, Side, received, sending

N_BUCKETS = 5
LISTS = pl.DataFrame({"user": [i % 97 for i in range(5_000)]}).with_columns(
    item=pl.format("ü {}", pl.int_range(pl.len()) % 13),
    price=pl.int_range(pl.len()).cast(pl.Decimal(12, 2)),
    seen=pl.datetime(2026, 1, 1, time_zone="UTC") + pl.duration(seconds="user"),
)
TRUTH = pl.DataFrame({"who`s": [*range(0, 120, 3), None]}, schema={"who`s": pl.Int16}).with_columns(
    text=pl.lit(None, pl.String), data=pl.lit(b"\0\xff")
)
FRAMES = [(LISTS, "user"), (TRUTH, "who`s")]


def side_of(rows: pl.DataFrame, user: str) -> Side:
    return Side(rows.schema, user, pl.Int64())


def sent_of(rows: pl.DataFrame, user: str, number: int) -> pa.Table:
    side = side_of(rows, user)
    to = pl.col(user).cast(pl.Int64).fill_null(0) % N_BUCKETS
    there = rows.with_columns(to.cast(pl.Int32).alias(BUCKET)).to_arrow()
    named = there.rename_columns([*side.names, BUCKET])
    send = sending(side, number, N_BUCKETS)
    return pa.Table.from_batches(send(iter(named.to_batches(max_chunksize=100))))


@pytest.mark.parametrize(("held", "of_part"), [(500_000, 2_000_000), (700, 300), (1, 50)])
def test_rows_come_out_as_they_went_in_and_users_whole(held, of_part, monkeypatch):
    monkeypatch.setattr(sent_rows, "FEWEST_SENT", held)
    monkeypatch.setattr(sent_rows, "ROWS_OF_PIECE", 1)
    monkeypatch.setattr(sent_rows, "ROWS_OF_PART", of_part)
    sides = [side_of(rows, user) for rows, user in FRAMES]
    sent = pa.concat_tables(
        [sent_of(rows, user, number) for number, (rows, user) in enumerate(FRAMES)]
    )
    assert sum(sent[N_ROWS].to_pylist()) == len(LISTS) + len(TRUTH)

    parts = []
    for bucket in range(N_BUCKETS):
        parts += received(sent.filter(pa.compute.equal(sent[BUCKET], bucket)), sides)

    for place, (rows, _) in enumerate(FRAMES):
        found = [part[place] for part in parts]
        assert_frame_equal(pl.concat(found), rows, check_row_order=False)
    seen = [{*part[0]["user"], *part[1]["who`s"]} for part in parts]
    assert sum(map(len, seen)) == len(set().union(*seen))
    if of_part == 300:
        # about 20 users of 52 rows each in a bucket
        assert max(part[0].height for part in parts) < 700


def test_a_bucket_to_which_nothing_is_sent_has_tables_without_rows():
    sides = [side_of(rows, user) for rows, user in FRAMES]

    (found,) = received(sent_rows.SENT.empty_table(), sides)

    assert [one.schema for one in found] == [LISTS.schema, TRUTH.schema]
    assert not any(map(len, found))


def test_decimals_of_two_scales_are_one_user():
    frames = [
        pl.DataFrame(
            {"user": [Decimal(n) for n in range(60)]}, schema={"user": pl.Decimal(12, scale)}
        )
        for scale in (0, 3)
    ]
    sides = [Side(one.schema, "user", pl.Decimal(12, 2)) for one in frames]
    n_parts = 7

    for part in range(n_parts):
        rows = [
            one.received(_pieces(one, frame), part, n_parts)
            for one, frame in zip(sides, frames, strict=True)
        ]
        assert {*rows[0]["user"]} == {*rows[1]["user"]}


def _pieces(side: Side, frame: pl.DataFrame) -> pa.ChunkedArray:
    rows = frame.with_columns(pl.lit(0, pl.Int32).alias(BUCKET))
    rows.columns = [*side.names, BUCKET]
    return pa.Table.from_batches([side.put_in_buckets(rows, 0)])["rows"]
