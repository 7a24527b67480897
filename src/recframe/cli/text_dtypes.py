"""Dtypes of columns of text, by their values and roles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import polars as pl

from recframe.cli.files import reading_of
from recframe.cli.text_files import Dtypes, Table
from recframe.errors import ColumnError, shown

Role: TypeAlias = Literal["id", "number", "time"]
Roles: TypeAlias = Mapping[str, Role]
"""What the columns of a table are for; the dtypes of all others are those of their values."""
ROWS = 1_000
"""Rows that are looked at first."""
MISSING = ("", "na", "n/a", "nan", "null", "none", "\\n", "#n/a")
"""Words for a number that is missing, in lower case."""
BOOLEANS = {"true": "1", "false": "0"}
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
TIMES = [f"%Y-%m-%d{mark}%H:%M:%S%.f{zone}" for zone in ("", "%#z") for mark in "T "]
"""Forms of times."""
WRITE: Mapping[Role, str] = {
    "number": "write a number, or leave it empty",
    "time": "write all times as 2024-05-01, or as 2024-05-01T18:30:00",
}


class Way(NamedTuple):
    """A way to read a column of text."""

    value: pl.Expr
    """The value of a text, null for a text of another form."""
    is_missing: pl.Expr
    """Whether a text stands for no value."""
    dtype: type[pl.DataType] | None = None
    """The dtype in which a reader of text has the same values."""

    @property
    def is_lost(self) -> pl.Expr:
        """Whether a text has no value, and does not stand for a missing one."""
        return self.value.is_null() & ~self.is_missing


def _ways(name: str, role: Role | None, decimal: str = ".") -> list[Way]:
    """Return the ways to read a column, the first of which that loses no text counts."""
    text, whole = pl.col(name), pl.col(name).cast(pl.Int64, strict=False)
    bare = text.str.strip_chars().str.to_lowercase().str.replace(decimal, ".", literal=True)
    number, fraction = (one.cast(pl.Float64, strict=False) for one in (text, bare))
    logical = bare.replace(BOOLEANS).cast(pl.Float64, strict=False)
    is_null, is_word = text.is_null(), text.is_null() | bare.is_in(MISSING)
    # NOTE: a comparison of texts takes a third of a pattern's time
    is_plain = (text >= "1") | (text == "0")
    is_signed = is_plain | text.is_between(pl.lit("-1"), pl.lit("-:"))
    # a zero and another digit begin a code
    is_code = bare.is_between(pl.lit("00"), pl.lit("0:"), closed="left")
    wholes = [Way(pl.when(fits).then(whole), is_null, pl.Int64) for fits in (is_plain, is_signed)]
    as_text = Way(text, is_null, pl.String)
    if role == "id":
        return [*wholes, as_text]
    if role == "number":
        quick = Way(pl.when(number.is_finite()).then(number), is_null, pl.Float64)
        return [quick, Way(pl.when(logical.is_finite()).then(logical), is_word)]
    others = [
        pl.when(fraction.is_finite() & ~is_code).then(fraction),
        pl.when(bare.is_in([*BOOLEANS])).then(bare == "true"),
        text.str.to_date("%Y-%m-%d", strict=False),
        *(text.str.to_datetime(form, time_unit="us", strict=False) for form in TIMES),
    ]
    missing = [is_word, *[is_null] * len(others)]
    ways = [*wholes, *map(Way, others, missing)]
    return ways if role == "time" else [*ways, as_text]


def typed(tables: Mapping[str, Table], roles: Mapping[str, Roles]) -> dict[str, pl.LazyFrame]:
    """Return the frames of tables, whose columns of text have dtypes.

    A first pass reads each file. Numbers of a role are Float64. Ids are Int64 if all of the call are whole numbers in their
    plain form, else text in all files. Any other column has the dtype that all of its values are written in.
    """
    ways = {}
    for title, table in tables.items():
        with reading_of(table.name):
            ways[title] = _decided(table, roles[title])
    for name in {name for of_file in roles.values() for name in of_file if of_file[name] == "id"}:
        _agree(name, tables, ways)
    return {title: _read(table, ways[title]) for title, table in tables.items()}


def _read(table: Table, ways: Mapping[str, Way]) -> pl.LazyFrame:
    """Return the rows of a table, with the values of its texts."""
    dtypes = {name: way.dtype for name, way in ways.items() if way.dtype is not None}
    values = (way.value.alias(name) for name, way in ways.items() if way.dtype is None)
    return table.scan(dtypes).cast(dict(dtypes)).with_columns(values)  # type: ignore[arg-type]


def _decided(table: Table, roles: Roles) -> dict[str, Way]:
    """Return the way to read each column of text, by a look at its first rows and then at all."""
    ways = {name: _ways(name, roles.get(name), table.decimal) for name in table.written}
    for n_rows in (ROWS, None) if ways else ():
        while lost := _lost(table, {name: left[0] for name, left in ways.items()}, n_rows):
            for name in lost:
                if len(ways[name]) == 1:
                    raise _unfit(table, name, roles[name])
                del ways[name][0]
    return {name: left[0] for name, left in ways.items()}


def _lost(table: Table, ways: Mapping[str, Way], n_rows: int | None) -> list[str]:
    """Return the columns with a text that is lost, in the first rows or in all; reject lines that are too short or long."""
    # numbers are read as such, or as text where that fails
    quick: Dtypes = {name: pl.Float64 for name, way in ways.items() if way.dtype == pl.Float64}
    rows = table.scan(quick)
    lost = [way.is_lost.any().alias(name) for name, way in ways.items()]
    # NOTE: of all columns, since Polars overlooks a long line where a column is not read
    nulls = pl.any_horizontal(pl.col(*ways).has_nulls()).alias("has nulls")
    try:
        facts = (rows if n_rows is None else rows.head(n_rows)).select(*lost, nulls)
        *are_lost, has_nulls = facts.collect(engine="streaming").row(0)
    except pl.exceptions.PolarsError as error:
        if "more fields" not in str(error) and quick:
            return [*quick]
        table.check()
        raise
    if has_nulls and n_rows is None:
        table.check()
    return [name for name, is_lost in zip(ways, are_lost, strict=True) if is_lost]


def _first(table: Table, name: str, wanted: pl.Expr) -> tuple[str, int, Any]:
    """Return the file, the row and the value of a column's first value that is wanted."""
    for part in table.parts or [table]:
        rows = part.rows.with_row_index("number of a row", 1).filter(wanted).head(1)
        for row in rows.select("number of a row", name).collect().iter_rows():
            return part.name, *row
    return table.name, 0, None


def _unfit(table: Table, name: str, role: Role) -> ColumnError:
    """Return the error of a value that is no number in a column of numbers, or no time in one of times."""
    lost = [way.is_lost for way in _ways(name, role, table.decimal)]
    place, row, value = _first(table, name, pl.all_horizontal(lost))
    if not row:
        # values of several forms, each of which is fit alone
        place, row, value = _first(table, name, lost[-1])
    write = WRITE[role]
    if role == "number" and DECIMAL_COMMA.fullmatch(str(value)):
        write = "of decimal commas write --decimal comma"
    msg = (
        f"column {name!r} of {place!r} is of {role}s, and its row {row} has {shown(value)}; {write}"
    )
    return ColumnError(msg)


def _agree(name: str, tables: Mapping[str, Table], ways: Mapping[str, dict[str, Way]]) -> None:
    """Read ids as text in all files where those of a file are text; reject whole numbers of binary files beside these."""
    having = {title: table for title, table in tables.items() if name in table.schema}
    written = [title for title in having if name in ways[title]]
    binary = [table for title, table in having.items() if title not in written]
    texts = [having[title] for title in written if ways[title][name].dtype == pl.String]
    dtypes = [table.schema[name] for table in binary]
    has_text = any(dtype in (pl.String, pl.Categorical, pl.Enum) for dtype in dtypes)
    if not texts and not has_text:
        return
    _, signed, as_text = _ways(name, "id")
    for title in written:
        ways[title][name] = as_text
    for table in binary:
        if has_text or not table.schema[name].is_integer():
            continue
        place, row, value = _first(texts[0], name, signed.is_lost)
        msg = (
            f"column {name!r} of {table.name!r} is {table.schema[name]}, and row {row} of {place!r} has {shown(value)}, so "
            "that they cannot match; make both text or both whole numbers"
        )
        raise ColumnError(msg)
