"""A question asked in one plan and in buckets, of an engine or of this process, whose answers are to be the same."""

from __future__ import annotations

from typing import Any

import polars as pl
from polars.testing import assert_frame_equal

import recframe as rf
from buckets_of_users import buckets_of_users
from frame_kinds import KINDS, Kind
from parted_frames import ALL_SIDES, rows_of, sides_of

COLLECTED = {name: one.collect() for name, one in sides_of(*ALL_SIDES).items()}
HOME = KINDS[0]
LOCAL = Kind("this machine", HOME.make, HOME.read)
"""Frames of this process, whose calls run in buckets; each answer is one of the same kind as in one plan."""


def eager(order: str = "rank", *, model: bool = True) -> tuple[pl.DataFrame, pl.DataFrame]:
    recs, truth = rows_of(order, model=model)
    return recs.collect(), truth.collect()


def asked_twice(
    kind: Kind,
    call: str,
    recs: pl.DataFrame,
    truth: pl.DataFrame | None,
    options: dict[str, Any],
    /,
    *metrics: Any,
    sides: Any = (),
    **arguments: Any,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The answer of one machine, and that of an engine; `sides` names frames, or has them by their names."""
    sides = sides if isinstance(sides, dict) else {name: COLLECTED[name] for name in sides}
    found = []
    for one in (HOME, kind):
        given = {name: one(frame) for name, frame in sides.items()}
        given |= {} if truth is None else {"truth": one(truth)}
        rec = rf.rec(one(recs), **given, **options)
        rec = rec(memory="1GB") if one is LOCAL else rec
        with buckets_of_users():
            found.append(one.read(getattr(rec, call)(*metrics, **arguments)))
    return found[0], found[1]


def assert_same(one: pl.DataFrame, other: pl.DataFrame, *, ordered: bool) -> None:
    """Both have the same rows, in their order where they have one."""
    if not ordered:
        columns = one.columns[:4]
        one, other = one.sort(columns, nulls_last=True), other.sort(columns, nulls_last=True)
    assert_frame_equal(other, one, rel_tol=1e-12, abs_tol=1e-12)
