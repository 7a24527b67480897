"""Rows on their way to buckets: what goes in comes out, of whole users, however few are held at a time."""

from __future__ import annotations

from decimal import Decimal

import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

from recframe.engines import sent_rows
from recframe.engines.sent_rows import (
    BUCKET,
    N_ROWS,
    Side,
    adding,
    parts_of,
    sending,
    sent_sums,
    sums_of,
)
from recframe.frames.kinds.engine import Added

N_BUCKETS = 5
LISTS = pl.DataFrame({"user": [i % 97 for i in range(5_000)]}).with_columns(
    item=pl.format("ü {}", pl.int_range(pl.len()) % 13),
    price=pl.int_range(pl.len()).cast(pl.Decimal(12, 2)),
    seen=pl.datetime(2026, 1, 1, time_zone="UTC") + pl.duration(seconds="user"),
)
TRUTH = pl.DataFrame({"who`s": [*range(0, 120, 3), None]}, schema={"who`s": pl.Int16}).with_columns(
    text=pl.lit(None, pl.String), data=pl.lit(b"\0\xff")
)
SCHEMA = pl.Schema({"key": pl.Int64, "sum": pl.Int128})
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
    sides = dict(enumerate(side_of(rows, user) for rows, user in FRAMES))
    sent = pa.concat_tables(
        [sent_of(rows, user, number) for number, (rows, user) in enumerate(FRAMES)]
    )
    assert sum(sent[N_ROWS].to_pylist()) == len(LISTS) + len(TRUTH)

    parts = []
    for bucket in range(N_BUCKETS):
        parts += parts_of(sent.filter(pa.compute.equal(sent[BUCKET], bucket)), sides)

    for place, (rows, _) in enumerate(FRAMES):
        found = [part[place] for part in parts]
        assert_frame_equal(pl.concat(found), rows, check_row_order=False)
    seen = [{*part[0]["user"], *part[1]["who`s"]} for part in parts]
    assert sum(map(len, seen)) == len(set().union(*seen))
    if of_part == 300:
        # about 20 users of 52 rows each in a bucket
        assert max(part[0].height for part in parts) < 700


def test_a_bucket_to_which_nothing_is_sent_has_tables_without_rows():
    sides = dict(enumerate(side_of(rows, user) for rows, user in FRAMES))

    (found,) = parts_of(sent_rows.SENT.empty_table(), sides)

    assert [one.schema for one in found.values()] == [LISTS.schema, TRUTH.schema]
    assert not any(map(len, found.values()))


def test_decimals_of_two_scales_are_one_user():
    users = pl.DataFrame({"user": [Decimal(n) for n in range(60)]})
    frames = [users.cast(pl.Decimal(12, scale)) for scale in (0, 3)]
    sent = []
    for frame in frames:
        side = Side(frame.schema, "user", pl.Decimal(12, 2))
        rows = frame.with_columns(pl.lit(0, pl.Int32).alias(BUCKET))
        rows.columns = [*side.names, BUCKET]
        sent.append((side, pa.Table.from_batches([side.put_in_buckets(rows, 0)])["rows"]))

    for part in range(7):
        one, other = ({*side.received(pieces, part, 7)["user"]} for side, pieces in sent)
        assert one == other


def test_sums_of_128_bits_are_exact_in_a_tree():
    # more than 64 bits hold, and not a multiple of what a double has room for
    parts = [2**100 + number for number in range(5)]
    how = [Added(("key",), ())]
    sent = [
        sent_sums([pl.DataFrame({"key": [at % 2, 7], "sum": [one, -1]}, SCHEMA)], at)
        for at, one in enumerate(parts)
    ]
    some = [adding(how)(pa.concat_tables(one)) for one in (sent[:2], sent[2:4], sent[4:])]

    ((found,),) = sums_of(adding(how)(pa.concat_tables(some)), 1)

    expected = {0: sum(parts[::2]), 1: sum(parts[1::2]), 7: -len(parts)}
    assert dict(found.rows()) == expected
    assert found.schema == SCHEMA
