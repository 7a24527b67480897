"""Fingerprints of the data of a call."""

from __future__ import annotations

from hashlib import sha256

import polars as pl

from recframe.frames.inputs import Frames
from recframe.frames.kinds.kind import stream
from recframe.frames.rows.joins import beside_one_another

FRAMES = ("lists", "truth", "users", "items", "train", "reference")
SEED = 20_261
HALF = 2**32
NUMBERS = ("rank", "score", "relevance", "propensity")
"""Numeric roles, whatever their dtype."""
TEXTS = (pl.String, pl.Categorical, pl.Enum)


def fingerprint(inputs: Frames) -> str:
    """Return the fingerprint of the frames of a call, by the columns that it reads: roles, and those of `by`.

    The rows of each frame become numbers, which are summed up: so their order, chunks and threads change nothing, and it
    streams. Ids count as what they say, whatever the dtype: whole numbers of any width, categories as text.
    """
    frames = {name: getattr(inputs, name) for name in FRAMES}
    if inputs.known.rows_are_items:
        # numbers of rows are in the order in which these stand
        frames["lists"] = inputs.lists.drop("item")
    # a model that is the reference has no rows of its own
    names = [one for one in frames.values() if isinstance(one, str)]
    plans = {name: one for name, one in frames.items() if not isinstance(one, str | None)}
    columns = {name: sorted(rows.collect_schema()) for name, rows in plans.items()}
    sums = stream(beside_one_another([_sums(name, rows) for name, rows in plans.items()]))
    whole = repr((names, columns, sums.fill_null(0).row(0)))
    # of a million such texts, two collide once in forty million times
    return sha256(whole.encode()).hexdigest()[:16]


def _sums(name: str, rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the number of rows, and the sums of the halves of each row's number, which none of them overflows."""
    schema = rows.collect_schema()
    number = pl.lit(SEED, pl.UInt64)
    # NOTE: one after the other, since a sum or a xor of the columns' own numbers would not tell which stand together.
    for seed, column in enumerate(sorted(schema), SEED):
        number = (number ^ _plain(column, schema[column]).hash(seed)).hash(seed)
    sums = rows.select(n=pl.len(), low=(number % HALF).sum(), high=(number // HALF).sum())
    return sums.select(pl.all().name.prefix(name))


def _plain(column: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column's values in one canonical dtype."""
    value = pl.col(column)
    if dtype.is_nested() and getattr(dtype, "inner", None) in TEXTS:
        # Polars 1 has no hash of a list of text
        texts = value.cast(pl.List(pl.String)).list.eval(pl.element().fill_null("\x00"))
        return texts.list.join("\x1f")
    if dtype in TEXTS:
        return value.cast(pl.String)
    if column in NUMBERS or dtype.is_float() or dtype.is_decimal():
        # where 0.0 and -0.0 are one number, and so are all that are none
        return value.cast(pl.Float64) + 0.0
    # UInt64 has numbers that Int64 does not
    return value.cast(pl.Int64) if dtype.is_integer() and dtype != pl.UInt64 else value
