"""Order of each user's events or pairs, and their places in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from recframe.frames.rows.joins import distinct_names

PLACE, UNITS = "place in the user's order", "units of the user"
"""Columns with the place of a row's unit among those of its user, from 0, and with their number."""
NEW_USER = "first row of a user"
"""Column in sorted order: whether the row before is another user's."""
SORTED = "sorted "
"""Prefix of a key's values in sorted order."""
_ORDER, _USER, _NUMBER, _FIRST = "sorted order", "code of user", "number of unit", "first unit"


def as_ordered(schema: Mapping[str, pl.DataType], name: str) -> pl.Expr:
    """Return a column as it is ordered: categories as text, so that their codes decide nothing."""
    column = pl.col(name)
    return column.cast(pl.String) if schema[name] in (pl.Categorical, pl.Enum) else column


def placed(
    rows: pl.LazyFrame,
    keys: Sequence[str],
    steps: Sequence[Mapping[str, pl.Expr]] = (),
    given: Sequence[str] = (PLACE, UNITS),
) -> pl.LazyFrame:
    """Return rows with the place of their unit in the order of some keys within the user, and with his number of units.

    Rows of a user with the same keys are one unit. Rows without a user, an item or a key count for nobody. `steps` are columns
    made in sorted order, each from those before it; `given` names what is given back to the rows.

    NOTE: all rows are sorted once, by user and keys, and each column is then a pass over neighbours: faster than ranks in
    windows, and no row moves. Text of users becomes codes, of which any order is right.
    """
    schema = rows.collect_schema()
    is_null = pl.any_horizontal(pl.col(distinct_names("user", "item", *keys)).is_null())
    rows = rows.with_columns(pl.when(~is_null).then(_code(schema["user"])).alias(_USER))
    of_keys = [as_ordered(schema, key) for key in keys]
    rows = rows.with_columns(pl.arg_sort_by(_USER, *of_keys).alias(_ORDER))
    order = pl.col(_ORDER)
    rows = rows.with_columns(
        pl.col(_USER).gather(order),
        *(key.gather(order).alias(SORTED + name) for name, key in zip(keys, of_keys, strict=True)),
    )
    compared = [_USER, *(SORTED + key for key in keys)]
    is_new = pl.any_horizontal(map(differs, compared))
    rows = rows.with_columns(differs(_USER).alias(NEW_USER), is_new.cum_sum().alias(_NUMBER))
    rows = rows.with_columns(at_first(pl.col(NEW_USER), _NUMBER).alias(_FIRST))
    units = at_last(pl.col(NEW_USER), _NUMBER) - pl.col(_FIRST) + 1
    rows = rows.with_columns((pl.col(_NUMBER) - pl.col(_FIRST)).alias(PLACE), units.alias(UNITS))
    for step in steps:
        rows = rows.with_columns(one.alias(name) for name, one in step.items())
    rows = rows.select(*schema.names(), *given, order.arg_sort())
    return rows.select(*schema.names(), pl.col(*given).gather(order).cast(pl.Int64))


def differs(name: str) -> pl.Expr:
    """Whether a value is another than that of the row before."""
    column = pl.col(name)
    return column.ne_missing(column.shift())


def at_first(is_new: pl.Expr, name: str) -> pl.Expr:
    """Return the value of the first of neighbouring rows, up to the next new one."""
    return pl.when(is_new).then(name).forward_fill()


def at_last(is_new: pl.Expr, name: str) -> pl.Expr:
    """Return the value of the last row before the next new one."""
    return pl.when(is_new.shift(-1, fill_value=True)).then(name).backward_fill()


def _code(dtype: pl.DataType) -> pl.Expr:
    """Return users as what is sorted fastest; equal ones are equal, and any order is right."""
    user = pl.col("user")
    if dtype == pl.String:
        return user.cast(pl.Categorical).to_physical()
    return user.to_physical() if dtype in (pl.Categorical, pl.Enum) else user
