"""Dtypes of columns of text, by their values and roles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl

from recframe.cli.files import reading_of
from recframe.cli.text_files import Table
from recframe.errors import ColumnError, shown

MISSING = ("", "na", "n/a", "nan", "null", "none", "\\n", "#n/a")
"""Words for a value that is missing, in lower case."""
TIMES: dict[str, Any] = {"%Y-%m-%d": pl.Date} | {
    f"%Y-%m-%d{mark}%H:%M:%S%.f{zone}": pl.Datetime("us") for zone in ("", "%#z") for mark in "T "
}
"""Forms of days and times, with their dtypes."""
WRITE = {
    "id": ("whole numbers in another file", "make both text or both whole numbers"),
    "number": (
        "numbers",
        "write a finite number, or leave it empty; for 0,9 write --decimal comma",
    ),
    "time": ("times", "write all times as 2024-05-01"),
}
"""Values that a column of a role has, and advice for other text."""


class Way(NamedTuple):
    """A way to read a column of text."""

    value: pl.Expr
    is_lost: pl.Expr
    """Whether a text is of another form, and stands for no missing value."""
    dtype: type[pl.DataType] | None = None
    """The dtype in which files are read."""


def _ways(table: Table, name: str, known: set[Any]) -> list[Way]:
    """Return the ways to read a column, the first of which that loses no text counts; `known` are its dtypes in other files."""
    role, text = table.given.roles.get(name), pl.col(name)
    bare = text.str.strip_chars().str.to_lowercase()
    if mark := table.given.option("decimal"):
        bare = bare.str.replace(mark, ".", literal=True)
    if role == "number":
        bare = bare.replace(["true", "false"], ["1", "0"])
    whole = text.cast(pl.Int64, strict=False)
    numbers = (form.cast(pl.Float64, strict=False) for form in (text, bare))
    number, fraction = (pl.when(one.is_finite()).then(one) for one in numbers)
    is_value, is_there = ~bare.is_in(MISSING), text.is_not_null()
    if role == "number":
        return [
            Way(text.cast(pl.Int64), whole.is_null() & is_there, pl.Int64),
            Way(number, number.is_null() & is_there, pl.Float64),
            Way(fraction, fraction.is_null() & is_value),
        ]
    # NOTE: a comparison of texts takes a third of a pattern's time, and two ways less than one
    is_odd = (whole.is_null() & is_there) | ((text < "1") & (text != "0"))
    is_minus = whole.is_not_null() & text.is_between(pl.lit("-1"), pl.lit("-:"))
    ways = [Way(text.cast(pl.Int64), lost, pl.Int64) for lost in (is_odd, is_odd & ~is_minus)]
    as_text = Way(pl.when(text != "").then(text), pl.lit(value=False), pl.String)
    if role == "id":
        are_whole = known and all(dtype.is_numeric() for dtype in known)
        return ways if are_whole else [as_text] if known else [*ways, as_text]
    values = [
        # a zero and another digit begin a code
        pl.when((bare < "00") | (bare >= "0:")).then(fraction),
        pl.when(bare.is_in(["true", "false"])).then(bare == "true"),
        *(text.str.strptime(dtype, form, strict=False) for form, dtype in TIMES.items()),
    ]
    ways += [Way(value, value.is_null() & is_value) for value in values]
    return ways if role == "time" else [*ways, as_text]


def typed(tables: Mapping[str, Table]) -> dict[str, pl.LazyFrame]:
    """Return the frames of tables, whose columns of text have dtypes.

    A first pass reads each file. Columns of numbers are numbers. Ids are Int64 if all of the call are whole numbers in their
    plain form, else text in all files. Any other column has the dtype that all of its values are written in.
    """
    every, of_ids = dict[str, Any](), dict[str, Any]()
    for title, table in tables.items():
        left = every[title] = {}
        for name in table.texts:
            known = {other.schema.get(name) for other in tables.values() if name not in other.texts}
            left[name] = _ways(table, name, known - {None})
            if table.given.roles.get(name) == "id":
                # a way that loses an id of a file is that of none
                left[name] = of_ids.setdefault(name, left[name])
        with reading_of(table.name):
            _decide(table, left)
    frames = {}
    for title, table in tables.items():
        ways = {name: left[0] for name, left in every[title].items()}
        rows = table.scan({name: way.dtype for name, way in ways.items() if way.dtype})
        frames[title] = rows.with_columns(way.value for way in ways.values())
    return frames


def _decide(table: Table, left: Mapping[str, list[Way]]) -> None:
    """Take away the ways that lose a text of a column, by a look at the first rows and then at all."""
    for is_whole in (False, True) if left else ():
        while lost := _lost(table, {name: ways[0] for name, ways in left.items()}, is_whole):
            for name in lost:
                way = left[name].pop(0)
                if not left[name]:
                    raise _unfit(table, name, way.is_lost)


def _lost(table: Table, ways: Mapping[str, Way], is_whole: bool) -> list[str]:  # noqa: FBT001  of a loop
    """Return the columns with a text that is lost, in the first rows or in all; reject lines that are too short or long."""
    lost: Any = {name: way.is_lost.any() for name, way in ways.items()}
    # numbers are read as such, or as text where that fails
    numbers = {
        name: way.dtype
        for name, way in ways.items()
        if way.dtype and table.given.roles.get(name) == "number"
    }
    # NOTE: of all columns, since Polars overlooks a long line where a column is not read
    has_nulls = pl.any_horizontal(pl.col(*ways).has_nulls())
    try:
        rows = table.scan(numbers) if is_whole else table.start
        facts = rows.select(nulls=has_nulls, lost=pl.struct(**lost)).collect(engine="streaming")
    except pl.exceptions.PolarsError:
        if is_whole and numbers:
            return [*numbers]
        table.check()
        raise
    if is_whole and facts["nulls"].item():
        table.check()
    return [name for name, is_lost in facts["lost"].item().items() if is_lost]


def _unfit(table: Table, name: str, is_lost: pl.Expr) -> ColumnError:
    """Return the error of the first text of a column that is lost."""
    row = pl.int_range(1, pl.len() + 1)
    parts = (
        part.scan({}).select(lost=is_lost, row=row, file=pl.lit(part.name), value=name)
        for part in table.parts
    )
    _, row, place, value = pl.concat(parts).filter("lost").head(1).collect().row(0)
    kind, write = WRITE[table.given.roles[name]]
    return ColumnError(
        f"column {name!r} is of {kind}, and row {row} of {place!r} has {shown(value)}; {write}"
    )
