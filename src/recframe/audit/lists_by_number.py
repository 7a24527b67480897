"""The lists of a large eager frame whose rows stand in any order: from one number for each row's list and rank."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.audit.numbers_of_rows import MOST_BITS, in_order
from recframe.frames.collecting import Collect
from recframe.frames.rows.packing import SMALL_INTEGERS
from recframe.frames.rows.questions import distinct_numbers, heads

MOST = 2**62
"""A product of spans below it leaves room for every number."""


def lists_by_number(
    rows: pl.LazyFrame, keys: Sequence[str], run: Collect
) -> tuple[pl.DataFrame, bool] | None:
    """Return the lists, keys, rows and last rank, and whether a list has a rank twice; None where no number holds a row.

    Rows without a rank are none of a list; ranks are whole numbers, of floats too.

    NOTE: a bit for each number that there may be takes a tenth of the time of a hash table of lists, sorted numbers a
    third, and both find repeated ranks too.
    """
    schema = rows.collect_schema()
    if schema["user"] not in SMALL_INTEGERS or not _are_whole(rows, run):
        return None
    models = _models(rows, keys, run)
    user, rank = pl.col("user").cast(pl.Int64), pl.col("rank").cast(pl.Int64)
    ends = {"user": user.min(), "users": user.max(), "rank": rank.min(), "ranks": rank.max()}
    first, last_user, lowest, highest = run(rows.select(**ends)).row(0)
    if models is None or first is None or lowest is None:
        return None
    n_users, n_ranks = last_user - first + 1, highest - lowest + 1
    if len(models) * n_users * n_ranks >= MOST:
        return None
    named = pl.col("model").replace_strict(models, list(range(len(models))), return_dtype=pl.Int64)
    model = named if len(keys) > 1 else pl.lit(0, pl.Int64)
    number = ((model * n_users + (user - first)) * n_ranks + (rank - lowest)).alias("number")
    numbers = run(rows.select(number)).to_series()
    distinct = distinct_numbers(numbers, MOST_BITS * len(numbers))
    has_ties = distinct is None or len(distinct) < numbers.count()
    ascending = in_order(numbers.drop_nulls()) if distinct is None or has_ties else distinct
    found = run(_lists(ascending.to_frame().lazy(), n_ranks))
    made = {
        "model": models.gather(found["list"] // n_users),
        "user": (found["list"] % n_users + first).cast(schema["user"]),
        "rows": found["rows"],
        "last": (found["last"] + lowest).cast(schema["rank"]),
    }
    lists = pl.DataFrame({name: made[name] for name in [*keys, "rows", "last"]})
    return lists, has_ties and bool((ascending == ascending.shift()).any())


def _models(rows: pl.LazyFrame, keys: Sequence[str], run: Collect) -> pl.Series | None:
    """Return the models, each once, a null where none is bound; None where one is null or of an unusual dtype."""
    if "model" not in keys:
        return pl.Series([None])
    dtype = rows.collect_schema()["model"]
    if dtype != pl.String and not dtype.is_integer():
        return None
    models = run(heads(rows, "model").unique()).to_series()
    return None if models.null_count() else models


def _are_whole(rows: pl.LazyFrame, run: Collect) -> bool:
    """Return whether all ranks are whole numbers, which Int64 holds."""
    rank, dtype = pl.col("rank"), rows.collect_schema()["rank"]
    if not dtype.is_float():
        return dtype in SMALL_INTEGERS
    whole = (rank == rank.floor()) & rank.is_between(-(2**53), 2**53)
    return bool(run(rows.select(whole.all())).item())


def _lists(numbers: pl.LazyFrame, n_ranks: int) -> pl.LazyFrame:
    """Return the lists of sorted numbers: the list's own, how many rows it has, and its last rank from 0."""
    number, row = pl.col("number"), pl.col("row").cast(pl.Int64)
    of_list = number // n_ranks
    ends = numbers.with_row_index("row").filter(
        (of_list != of_list.shift(-1)).fill_null(value=True)
    )
    n_rows = row - row.shift(fill_value=-1)
    return ends.select(list=of_list, rows=n_rows, last=number % n_ranks)
