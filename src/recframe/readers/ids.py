"""Ids of any kind as a column, and dtypes of input columns."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import polars as pl

from recframe.errors import ColumnError, DataError, RecframeError, kind_of, shown
from recframe.frames.eager_data import eager
from recframe.frames.kinds.kind import Result
from recframe.frames.kinds.lookup import is_frame, kind_for
from recframe.frames.rows.positions import by_item

NO_SCORE = -3e38
"""Upper bound of masked scores.

NOTE: masks are filled with minus infinity or with the lowest number of a dtype, -3.4e38 where it has 32 bits. implicit fills
lists with it that would be shorter than asked, beside items that it was to leave out.
"""


def has_a_score(name: str) -> pl.Expr:
    """Whether a number is a real score, not a mask; null counts as one."""
    score = pl.col(name).cast(pl.Float64)
    return (score > NO_SCORE) | score.is_null()  # a NaN is above all numbers


def ids_of(values: Any, name: str, size: int | None = None, of: str = "") -> pl.Series:
    """Return the ids that an argument gives, each once; the numbers from 0 where it gives none.

    `size` is how many there have to be, and `of` what they are the ids of, in words.
    """
    if values is None:
        return pl.int_range(size or 0, dtype=pl.Int64, eager=True)
    ids = column_of(_listed(values, name), f"{name}=")
    if size is not None and len(ids) != size:
        found = "1 id" if len(ids) == 1 else f"{len(ids):,} ids"
        msg = f"{name}= has {found}, and there are {size:,} {of}; give one id for each, in their order"
        raise RecframeError(msg)
    if ids.null_count():
        msg = f"{name}= has no id at the place {ids.is_null().arg_max()}; drop that row or column, or give it an id"
        raise DataError(msg)
    if ids.n_unique() < len(ids):
        twice = ids.filter(ids.is_duplicated())[0]
        first, second = (ids == twice).arg_true().head(2)
        msg = f"{name}= has the id {twice!r} twice, at the places {first} and {second}; give each place its own id"
        raise DataError(msg)
    return ids


def in_own_dtype(ids: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return ids in the dtype that they have from each way in: whole numbers are Int64, and categories text.

    NOTE: so that the lists of two models stand in one frame, whatever each of them came from. Int64 does not hold all of
    UInt64, as which hashes come.
    """
    if dtype.is_integer() and dtype not in (pl.UInt64, pl.Int128, pl.UInt128):
        return ids.cast(pl.Int64)
    return ids.cast(pl.String) if dtype in (pl.Categorical, pl.Enum) else ids


def in_own_dtypes(rows: pl.DataFrame, names: dict[str, str]) -> pl.DataFrame:
    """Return the existing columns under their names, in the common dtypes of converters."""
    columns = {
        name: pl.col(name).cast(pl.Float64)
        if name == "number"
        else in_own_dtype(pl.col(name), rows.schema[name])
        for name in names
        if name in rows.columns
    }
    return rows.select(column.alias(names[name]) for name, column in columns.items())


def by_score(rows: Result, key: str, score: str) -> Result:
    """Return the rows of each list by score: the highest first, equal ones by item, NaN and null last."""
    schema: pl.Schema = rows.collect_schema()
    is_float = schema[score].is_float()
    number = pl.col(score).fill_nan(None) if is_float else pl.col(score)
    order = [pl.col(key), number, *by_item(schema)]
    return rows.sort(order, descending=[False, True, False], nulls_last=True)


def _listed(values: Any, name: str) -> Any:
    """Return ids in a form that Polars reads, or say that they have no order."""
    if isinstance(values, Mapping | AbstractSet | str | bytes):
        hint = (
            f"{name}=sorted(mapping, key=mapping.get) for a mapping of ids to places"
            if isinstance(values, Mapping)
            else ""
        )
        msg = f"{name}= is {kind_of(values)}; give the ids as a list, array or series, in the order of their places"
        raise RecframeError("; ".join(filter(None, [msg, hint])))
    if is_frame(values):
        msg = f"{name}= is {kind_of(values)}; give the column of the ids: {name}=frame[...]"
        raise RecframeError(msg)
    if getattr(values, "nlevels", 1) > 1:
        raise _no_plain_values(f"{name}=", values[0])
    if hasattr(values, "to_frame"):
        taken = kind_for(values.to_frame(name="ids"), f"{name}=").take({"ids": "ids"}, ids=["ids"])
        return eager({name: taken})[name]["ids"]
    if hasattr(values, "detach"):
        return values.tolist()
    if hasattr(values, "__array__") and not hasattr(values, "isna"):
        return values
    # pandas' own arrays, as unique() gives them, are read one by one
    try:
        return list(values)
    except TypeError:
        msg = f"{name}= is {kind_of(values)}; give the ids as a list, array or series"
        raise RecframeError(msg) from None


def column_of(values: Any, title: str) -> pl.Series:
    """Return values as a column of ids, or say why they can be none."""
    try:
        ids = pl.Series(values)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        found = {type(value).__name__: value for value in values}
        nested = next(
            (found[kind] for kind in ("tuple", "list", "dict", "set") if kind in found), None
        )
        if nested is not None:
            raise _no_plain_values(title, nested) from None
        kinds = ", ".join(sorted(found))
        msg = f"ids of several kinds in {title}: {kinds}; give ids of one kind: [str(one) for one in ids]"
        raise ColumnError(msg) from None
    if ids.dtype.is_nested() or ids.dtype == pl.Object:
        raise _no_plain_values(title, ids.drop_nulls().first())
    return ids


def _no_plain_values(title: str, value: object) -> ColumnError:
    return ColumnError(
        f"ids that are not plain values in {title}, such as {shown(value)}; write them as text or numbers"
    )


def either(found: str, ids: str, relevances: str) -> RecframeError:
    """Return the error of numbers that may be ids and may be relevances."""
    msg = (
        f"{found} numbers that may be item ids, a row for each user, or relevances, users x items; "
    )
    return RecframeError(
        f"{msg}for ids write rf.from_truth({ids}), for relevances rf.from_truth({relevances})"
    )
