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
    if mark := table.given.option("decimal"):
        bare = bare.str.replace(mark, ".", literal=True)
    if role == "number":
        bare = bare.replace(["true", "false"], ["1", "0"])
    is_text, is_value = text != "", ~bare.is_in(MISSING)
    whole = text.cast(pl.Int64, strict=False)
    number, fraction = (one.cast(pl.Float64, strict=False) for one in (text, bare))
    # NOTE: a comparison of texts takes a third of a pattern's time, and two take less than four
    is_plain = (text >= "1") | (text == "0")
    is_signed = is_plain | text.is_between(pl.lit("-1"), pl.lit("-:"))
    # a zero and another digit begin a code, but where numbers are meant
    is_code = pl.lit(role is None) & (bare >= "00") & (bare < "0:")
    ways = [
        Way(whole, pl.when(fits).then(whole).is_null() & is_text, pl.Int64)
        for fits in (is_plain, is_signed)
    ]
    as_text = Way(pl.when(is_text).then(text), pl.lit(value=False))
    if role == "id":
        return [*ways, as_text]
    ways += [
        Way(number.fill_nan(None), (number.is_null() | is_code) & is_text, pl.Float64),
        Way(fraction.fill_nan(None), (fraction.is_null() | is_code) & is_value),
    ]
    if role == "number":
        return ways
    values = [
        pl.when(bare.is_in(["true", "false"])).then(bare == "true"),
        *(text.str.strptime(dtype, form, strict=False) for form, dtype in TIMES.items()),
    ]
    ways += (Way(value, value.is_null() & is_value) for value in values)
    return ways if role == "time" else [*ways, as_text]


def typed(tables: Mapping[str, Table]) -> dict[str, pl.LazyFrame]:
    """Return the frames of tables, whose columns of text have dtypes.

    A first pass reads each file. Columns of numbers are numbers. Ids are Int64 if all of the call are whole numbers in their
    plain form, else text in all files. Any other column has the dtype that all of its values are written in.
    """
    decided: list[tuple[Table, dict[str, Way]]] = []
    for table in tables.values():
        with reading_of(table.name):
            decided.append((table, _decided(table)))
    for name in {name for table in tables.values() for name in table.given.roles}:
        is_id = (one for one in decided if one[0].given.roles.get(name) == "id")
        _agree(name, [one for one in is_id if name in one[0].schema])
    frames = {}
    for title, (table, ways) in zip(tables, decided, strict=True):
        rows = table.scan({name: way.dtype for name, way in ways.items() if way.dtype})
        frames[title] = rows.with_columns(**{name: way.value for name, way in ways.items()})
    return frames


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


def _lost(table: Table, ways: Mapping[str, Way], n_rows: int | None) -> Sequence[str]:
    """Return the columns with a text that is lost, in the first rows or in all; reject lines that are too short or long."""
    numbers = {name for name, role in table.given.roles.items() if role == "number" and not n_rows}
    # numbers are read as such, or as text where that fails
    quick = {name: way.dtype for name, way in ways.items() if name in numbers and way.dtype}
    lost = {name: way.is_lost.any() for name, way in ways.items() if name not in quick}
    # NOTE: of all columns, since Polars overlooks a long line where a column is not read
    nulls = pl.any_horizontal(pl.col(*ways).has_nulls()).alias("has nulls")
    try:
        rows = table.first if n_rows and table.first is not None else table.scan(quick)
        facts = (
            rows.slice(0, n_rows)
            .select(nulls, **lost)
            .collect(engine="streaming")
            .row(0, named=True)
        )
    except pl.exceptions.PolarsError:
        if quick:
            return [*quick]
        table.check()
        raise
    if facts.pop("has nulls") and n_rows is None:
        table.check()
    return [name for name, is_lost in facts.items() if is_lost]


def _worst(table: Table, name: str, ways: Sequence[Way]) -> Sequence[Any]:
    """Return the file, the row and the value of the first text that most ways lose."""
    lost = pl.sum_horizontal(way.is_lost for way in ways)
    row, value = pl.int_range(1, pl.len() + 1), pl.col(name)
    parts = (
        part.rows.select(lost=lost, place=pl.lit(part.name), row=row, value=value)
        for part in table.parts or [table]
    )
    rows = pl.concat(parts).sort("lost", descending=True, maintain_order=True)
    return rows.head(1).collect().row(0)[1:]


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


def _agree(name: str, decided: Sequence[tuple[Table, dict[str, Way]]]) -> None:
    """Read ids as text in all files where those of a file are text; reject whole numbers of binary files beside these."""
    texts = [table for table, ways in decided if name in ways and ways[name].dtype is None]
    binary = {table.name: table.schema[name] for table, ways in decided if name not in ways}
    if texts or any(dtype in (pl.String, pl.Categorical, pl.Enum) for dtype in binary.values()):
        for table, ways in decided:
            if name in ways:
                ways[name] = _ways(table, name)[-1]
    for path, dtype in binary.items():
        if texts and dtype.is_integer():
            place, row, value = _worst(texts[0], name, _ways(texts[0], name)[1:2])
            raise ColumnError(
                f"column {name!r} of {path!r} is {dtype}, and row {row} of {place!r} has {shown(value)}, so that they cannot "
                "match; make both text or both whole numbers"
            )
