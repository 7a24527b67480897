"""The lists of a large eager frame whose rows stand in any order: from one number for each row's list and rank."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.frames import collecting
from recframe.frames.rows.packing import SMALL_INTEGERS, in_order
from recframe.frames.rows.questions import MARKS, distinct_ids, runs_of_numbers

MOST = 2**62
"""A product of spans below it leaves room for every number."""


def lists_by_number(rows: pl.DataFrame, keys: Sequence[str]) -> tuple[pl.DataFrame, bool] | None:
    """Return the lists, keys, rows and last rank, and whether a list has a rank twice; None where no number holds a row.

    Rows without a rank are none of a list; ranks are whole numbers, of floats too.

    NOTE: a bit for each number that there may be takes a tenth of the time of a hash table of lists, sorted numbers a
    third, and both find repeated ranks too.
    """
    schema = rows.schema
    if schema["user"] not in SMALL_INTEGERS or not _are_whole(rows["rank"]):
        return None
    models = _models(rows, keys)
    user, rank = pl.col("user").cast(pl.Int64), pl.col("rank").cast(pl.Int64)
    ends = {"user": user.min(), "users": user.max(), "rank": rank.min(), "ranks": rank.max()}
    first, last_user, lowest, highest = rows.select(**ends).row(0)
    if models is None or first is None or lowest is None:
        return None
    # the place behind the last rank is free, so that no rank follows one of another list
    n_users, n_places = last_user - first + 1, highest - lowest + 2
    if len(models) * n_users * n_places >= MOST:
        return None
    number = user * n_places + rank - _wrapped(first * n_places + lowest)
    if len(keys) > 1:
        place = pl.int_range(len(models), eager=True)
        model = pl.col("model").replace_strict(models, place, return_dtype=pl.Int64)
        number += model * (n_users * n_places)
    runs, has_ties = _runs(rows, number, len(models) * n_users * n_places)
    found = _lists(runs, n_places)
    made = {
        "model": models.gather(found["list"] // n_users),
        "user": (found["list"] % n_users + first).cast(schema["user"]),
        "rows": found["rows"],
        "last": (found["last"] + lowest).cast(schema["rank"]),
    }
    lists = pl.DataFrame({name: made[name] for name in [*keys, "rows", "last"]})
    return lists, has_ties


def _models(rows: pl.DataFrame, keys: Sequence[str]) -> pl.Series | None:
    """Return the models, each once, a null where none is bound; None where one is null or of an unusual dtype."""
    if "model" not in keys:
        return pl.Series([None])
    models = rows["model"]
    is_usual = models.dtype == pl.String or models.dtype.is_integer()
    return distinct_ids(models) if is_usual and not models.null_count() else None


def _are_whole(ranks: pl.Series) -> bool:
    """Return whether all ranks are whole numbers, which Int64 holds."""
    if not ranks.dtype.is_float():
        return ranks.dtype in SMALL_INTEGERS
    return bool(((ranks == ranks.floor()) & ranks.is_between(-(2**53), 2**53)).all())


def _runs(rows: pl.DataFrame, number: pl.Expr, n: int) -> tuple[pl.DataFrame, bool]:
    """Return runs of the rows' numbers, and whether one is of two rows; each number is a run then."""
    runs = runs_of_numbers(rows, number, n) if n <= MARKS * len(rows) else None
    if runs is not None and runs["rows"].sum() == rows["rank"].count():
        return runs, False
    numbers = rows.lazy().select(last=number).drop_nulls()
    last = collecting.ask([in_order(numbers, "last")])[0].to_series()
    return last.to_frame().with_columns(rows=1), bool((last == last.shift()).any())


def _wrapped(number: int) -> int:
    """Return what Int64 makes of a number: sums that overflow on the way come out right."""
    return (number + 2**63) % 2**64 - 2**63


def _lists(runs: pl.DataFrame, n_places: int) -> pl.DataFrame:
    """Return the lists of runs of numbers, in order: the list's own, how many rows it has, and its last rank from 0."""
    last = pl.col("last")
    lists = runs.group_by(list=(last // n_places).set_sorted())
    return lists.agg(pl.col("rows").sum().cast(pl.Int64), last.last() % n_places)
