"""Dtypes of columns of text, by their values and roles."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from recframe.cli.files import Role, reading_of
from recframe.cli.text_files import Table
from recframe.errors import ColumnError, shown

ROWS = 1_000
"""Rows that are looked at first."""
MISSING = ("", "na", "n/a", "nan", "null", "none", "\\n", "#n/a")
"""Words for a value that is missing, in lower case."""
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
TIMES: Mapping[str, Any] = {"%Y-%m-%d": pl.Date} | {
    f"%Y-%m-%d{mark}%H:%M:%S%.f{zone}": pl.Datetime("us") for zone in ("", "%#z") for mark in "T "
}
"""Forms of days and times, with their dtypes."""
WRITE: Mapping[Role, str] = {
    "number": "write a number, or leave it empty",
    "time": "write all times as 2024-05-01, or as 2024-05-01T18:30:00",
}
Ways = Mapping[str, "Way"]
"""Ways to read columns, by the names of these."""


class Way(NamedTuple):
    """A way to read a column of text."""

    value: pl.Expr
    """The value of a text, or of what a reader of text has made of it."""
    is_lost: pl.Expr
    """Whether a text is of another form, and stands for no missing value."""
    dtype: type[pl.DataType] | None = None
    """The dtype in which a reader of text has the same values."""


def _ways(table: Table, name: str) -> list[Way]:
    """Return the ways to read a column for its role, the first of which that loses no text counts."""
    role, text = table.given.roles.get(name), pl.col(name)
    bare = text.str.strip_chars().str.to_lowercase()
    if table.given.option("decimal"):
        bare = bare.str.replace(table.given.option("decimal"), ".", literal=True)
    is_text, is_value = text != "", ~bare.is_in(MISSING)
    whole = text.cast(pl.Int64, strict=False)
    # NOTE: a comparison of texts takes a third of a pattern's time; the zeros and the plus of "007" and "+7" would be lost
    is_plain = (text >= "1") | text.is_between(pl.lit("-1"), pl.lit("0"))
    number, fraction = (one.cast(pl.Float64, strict=False) for one in (text, bare))
    # a zero and another digit begin a code, but where numbers are meant
    is_code = pl.lit(role is None) & (bare >= "00") & (bare < "0:")
    values = [
        pl.when(bare.is_in(["true", "false"])).then(bare == "true"),
        *(text.str.strptime(dtype, form, strict=False) for form, dtype in TIMES.items()),
    ]
    ways = [
        Way(whole, (whole.is_null() | ~is_plain) & is_text, pl.Int64),
        Way(number.fill_nan(None), (number.is_null() | is_code) & is_text, pl.Float64),
        Way(fraction.fill_nan(None), (fraction.is_null() | is_code) & is_value),
        *(Way(value, value.is_null() & is_value) for value in values),
    ]
    as_text = Way(pl.when(is_text).then(text), pl.lit(value=False))
    return {
        "id": [ways[0], as_text],
        "number": ways[: -len(TIMES)],
        "time": ways,
        None: [*ways, as_text],
    }[role]


def typed(tables: Mapping[str, Table]) -> dict[str, pl.LazyFrame]:
    """Return the frames of tables, whose columns of text have dtypes.

    A first pass reads each file. Columns of numbers are numbers. Ids are Int64 if all of the call are whole numbers in their
    plain form, else text in all files. Any other column has the dtype that all of its values are written in.
    """
    ways: dict[str, dict[str, Way]] = {}
    for title, table in tables.items():
        with reading_of(table.name):
            ways[title] = _decided(table)
    for name in {name for table in tables.values() for name in table.given.roles}:
        of_ids = (title for title in tables if tables[title].given.roles.get(name) == "id")
        _agree(
            name, {title: tables[title] for title in of_ids if name in tables[title].schema}, ways
        )
    return {title: _read(table, ways[title]) for title, table in tables.items()}


def _read(table: Table, ways: Ways) -> pl.LazyFrame:
    """Return the rows of a table, with the values of its texts."""
    dtypes = {name: way.dtype for name, way in ways.items() if way.dtype}
    return table.scan(dtypes).with_columns(way.value.alias(name) for name, way in ways.items())


def _decided(table: Table) -> dict[str, Way]:
    """Return the way to read each column of text, by a look at its first rows and then at all."""
    ways = {name: _ways(table, name) for name in table.written}
    for n_rows in (ROWS, None) if ways else ():
        while lost := _lost(table, {name: left[0] for name, left in ways.items()}, n_rows):
            for name in lost:
                if len(ways[name]) == 1:
                    raise _unfit(table, name)
                del ways[name][0]
    return {name: left[0] for name, left in ways.items()}


def _lost(table: Table, ways: Ways, n_rows: int | None) -> Sequence[str]:
    """Return the columns with a text that is lost, in the first rows or in all; reject lines that are too short or long."""
    roles = table.given.roles
    numbers = [name for name in ways if n_rows is None and roles.get(name) == "number"]
    # numbers are read as such, or as text where that fails
    quick = {name: dtype for name in numbers if (dtype := ways[name].dtype)}
    lost = {name: way.is_lost.any() for name, way in ways.items() if name not in quick}
    # NOTE: of all columns, since Polars overlooks a long line where a column is not read
    nulls = pl.any_horizontal(pl.col(*ways).has_nulls()).alias("has nulls")
    try:
        rows = table.scan(quick).slice(0, n_rows)
        facts = rows.select(nulls, **lost).collect(engine="streaming").row(0, named=True)
    except pl.exceptions.PolarsError:
        if quick:
            return [*quick]
        table.check()
        raise
    if facts.pop("has nulls") and n_rows is None:
        table.check()
    return [name for name, is_lost in facts.items() if is_lost]


def _worst(table: Table, name: str, ways: Sequence[Way]) -> tuple[str, int, Any]:
    """Return the file, the row and the value of the first text that most ways lose."""
    n_lost = pl.sum_horizontal(way.is_lost for way in ways)
    parts = []
    for part in table.parts or [table]:
        place = pl.lit(part.name).alias("place")
        rows = part.rows.select(name).with_row_index("number of a row", 1)
        parts.append(rows.select(n_lost.alias("lost"), place, "number of a row", value=name))
    found = pl.concat(parts).sort("lost", descending=True, maintain_order=True).head(1).collect()
    place, row, value = found.row(0)[1:]
    return place, row, value


def _unfit(table: Table, name: str) -> ColumnError:
    """Return the error of a value that is no number in a column of numbers, or no time in one of times."""
    role = table.given.roles[name]
    place, row, value = _worst(table, name, _ways(table, name))
    write = WRITE[role]
    if role == "number" and DECIMAL_COMMA.fullmatch(str(value)):
        write = "of decimal commas write --decimal comma"
    msg = (
        f"column {name!r} of {place!r} is of {role}s, and its row {row} has {shown(value)}; {write}"
    )
    return ColumnError(msg)


def _agree(name: str, tables: Mapping[str, Table], ways: Mapping[str, dict[str, Way]]) -> None:
    """Read ids as text in all files where those of a file are text; reject whole numbers of binary files beside these."""
    written = {title: table for title, table in tables.items() if name in ways[title]}
    texts = [table for title, table in written.items() if ways[title][name].dtype is None]
    binary = [table for title, table in tables.items() if title not in written]
    is_text = [table.schema[name] in (pl.String, pl.Categorical, pl.Enum) for table in binary]
    for title, table in written.items():
        if texts or any(is_text):
            ways[title][name] = _ways(table, name)[-1]
    for table in binary:
        dtype = table.schema[name]
        if texts and dtype.is_integer():
            place, row, value = _worst(texts[0], name, _ways(texts[0], name)[:1])
            msg = (
                f"column {name!r} of {table.name!r} is {dtype}, and row {row} of {place!r} has {shown(value)}, so that they "
                "cannot match; make both text or both whole numbers"
            )
            raise ColumnError(msg)
