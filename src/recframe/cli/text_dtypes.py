"""Dtypes of columns of text, by their values and roles."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple, TypeAlias

import polars as pl

from recframe.cli.files import reading_of
from recframe.cli.text_files import Dtypes, Table
from recframe.errors import ColumnError, shown

Role: TypeAlias = Literal["id", "number", "time"]
Roles: TypeAlias = Mapping[str, Role]
"""What the columns of a table are for; the dtypes of all others are those of their values."""
Expression: TypeAlias = Callable[[pl.Expr], pl.Expr]
ROWS = 1_000
"""Rows that are looked at first."""
MISSING = ("", "na", "n/a", "nan", "null", "none", "\\n", "#n/a")
"""Words for a number that is missing, in lower case."""
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
BOOLEANS = {"true": True, "false": False}
TIMES = (
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f%#z",
    "%Y-%m-%d %H:%M:%S%.f%#z",
)
"""Forms of times."""


def _same(text: pl.Expr) -> pl.Expr:
    """Return a text as it is."""
    return text


class Way(NamedTuple):
    """A way to read text."""

    value: Expression
    """The value of a text, null for other text."""
    fits: Expression = pl.Expr.is_not_null
    """Whether a text with a value is written as such values are."""
    bare: Expression = _same
    """A text without what stands around its value, null for a word that is no value."""
    dtype: type[pl.DataType] | None = None
    """The dtype in which a reader has the same values, of texts that fit."""

    def read(self, text: pl.Expr) -> pl.Expr:
        """Return the values of texts that fit."""
        return self.value(self.bare(text))

    def is_lost(self, text: pl.Expr) -> pl.Expr:
        """Whether a text has no value, and is no word for a missing one."""
        bare = self.bare(text)
        return bare.is_not_null() & (self.value(bare).is_null() | ~self.fits(bare))


def _whole(text: pl.Expr) -> pl.Expr:
    """Return a whole number."""
    return text.cast(pl.Int64, strict=False)


def _number(text: pl.Expr) -> pl.Expr:
    """Return a number."""
    return text.cast(pl.Float64, strict=False)


def _without_words(text: pl.Expr) -> pl.Expr:
    """Return a number's text in lower case without spaces around it, null for words for a missing number."""
    text = text.str.strip_chars().str.to_lowercase()
    return pl.when(~text.is_in(MISSING)).then(text)


def _time(form: str) -> Way:
    """Return the way to read times of a form."""
    return Way(lambda text: text.str.to_datetime(form, time_unit="us", strict=False))


TEXT = Way(_same)
# NOTE: a comparison of texts takes a third of a pattern's time
WHOLE = Way(_whole, lambda text: (text >= "1") | (text == "0"), dtype=pl.Int64)
SIGNED = Way(
    _whole,
    lambda text: WHOLE.fits(text) | text.is_between(pl.lit("-1"), pl.lit("-:")),
    dtype=pl.Int64,
)
NUMBER = Way(_number, lambda text: _number(text).is_finite(), dtype=pl.Float64)
# a zero and another digit begin a code
DECIMAL = Way(
    _number,
    lambda text: _number(text).is_finite() & ((text < "00") | (text >= "0:")),
    dtype=pl.Float64,
)
SPELLED = Way(lambda text: _number(text.replace({"true": "1", "false": "0"})), bare=_without_words)
BARE = Way(_number, DECIMAL.fits, _without_words)
BOOLEAN = Way(lambda text: text.str.to_lowercase().replace_strict(BOOLEANS, default=None))
DAY = Way(lambda text: text.str.to_date("%Y-%m-%d", strict=False))
WAYS: Mapping[Role, Sequence[Way]] = {
    "id": (WHOLE, SIGNED, TEXT),
    "number": (NUMBER, SPELLED),
    "time": (WHOLE, SIGNED, DECIMAL, BARE, BOOLEAN, DAY, *map(_time, TIMES)),
}
"""The ways to read columns by their roles, the first of which that loses no text counts."""


def _with_point(text: pl.Expr) -> pl.Expr:
    """Return a number's text with a point for a decimal comma."""
    return _without_words(text).str.replace(",", ".", literal=True)


def _ways(role: Role | None, decimal: str) -> list[Way]:
    """Return the ways to read a column."""
    ways = WAYS[role] if role else (*WAYS["time"], TEXT)
    is_bare = decimal == ","
    return [
        way._replace(bare=_with_point) if is_bare and way.bare is _without_words else way
        for way in ways
    ]


def typed(tables: Mapping[str, Table], roles: Mapping[str, Roles]) -> dict[str, pl.LazyFrame]:
    """Return the frames of tables, whose columns of text have dtypes.

    A first pass reads each file. Numbers of a role are Float64. Ids are Int64 if all of the call are whole numbers in their
    plain form, else text in all files. Any other column has the dtype that all of its values are written in.
    """
    ways = {name: _decided(table, roles[name]) for name, table in tables.items()}
    of_files = chain.from_iterable(of_file.items() for of_file in roles.values())
    for name in dict.fromkeys(name for name, role in of_files if role == "id"):
        _agree(name, tables, ways)
    return {title: _read(table, ways[title]) for title, table in tables.items()}


def _read(table: Table, ways: Mapping[str, Way]) -> pl.LazyFrame:
    """Return the rows of a table, with the values of its texts."""
    dtypes = {name: way.dtype for name, way in ways.items() if way.dtype is not None}
    values = [way.read(pl.col(name)) for name, way in ways.items() if way is not TEXT]
    rows = table.scan(dtypes)
    return rows.with_columns(values) if values else rows


def _decided(table: Table, roles: Roles) -> dict[str, Way]:
    """Return the way to read each column of text, by a look at all of its values."""
    ways = {name: _ways(roles.get(name), table.decimal) for name in table.written}
    if not ways:
        return {}
    with reading_of(table.name):
        _drop_unfit(table, ways, ROWS)
        with_nulls = _drop_unfit(table, ways)
        for part in table.files:
            part.check(with_nulls)
    for name, left in ways.items():
        if not left:
            raise _unfit(table, name, roles[name])
    return {name: left[0] for name, left in ways.items()}


def _drop_unfit(
    table: Table, ways: Mapping[str, list[Way]], n_rows: int | None = None
) -> list[str]:
    """Drop the first ways by which a text is lost, until there are none; return the columns that have nulls."""
    while True:
        first = {name: left[0] for name, left in ways.items() if left}
        numbers = [name for name, way in first.items() if way is NUMBER]
        lost = [way.is_lost(pl.col(name)).any().alias(name) for name, way in first.items()]
        # NOTE: nulls of all columns, since Polars overlooks a long line where a column is not read
        nulls = pl.col(*ways).has_nulls().name.prefix("null ")
        facts = _facts(table, [nulls, *lost], numbers, n_rows)
        unfit = [name for name in first if facts[name]]
        if not unfit:
            return [name for name in ways if facts[f"null {name}"]]
        for name in unfit:
            del ways[name][0]


def _facts(
    table: Table, checks: list[pl.Expr], numbers: list[str], n_rows: int | None
) -> dict[str, Any]:
    """Return what checks say of the first rows, or of all; numbers are read as such, or as text where that fails."""
    quick: Dtypes = dict.fromkeys(numbers, pl.Float64)
    as_text: Dtypes = {}
    for dtypes in (quick, as_text):
        rows = table.scan(dtypes)
        rows = rows if n_rows is None else rows.head(n_rows)
        try:
            return rows.select(checks).collect(engine="streaming").row(0, named=True)
        except pl.exceptions.PolarsError as error:
            if "more fields" in str(error):
                for part in table.files:
                    part.check(part.written)
            if not dtypes:
                raise
    return {}


def _unfit(table: Table, name: str, role: Role) -> ColumnError:
    """Return the error of a value that is no number in a column of numbers, or no time in one of times."""
    ways = _ways(role, table.decimal)
    place, row, value = table.first(
        name, lambda text: pl.all_horizontal(way.is_lost(text) for way in ways)
    )
    if not row:
        # values of several forms, each of which is fit alone
        place, row, value = table.first(name, ways[-1].is_lost)
    write = "write a number, or leave it empty"
    if role == "time":
        write = "write all times as 2024-05-01, or as 2024-05-01T18:30:00"
    elif DECIMAL_COMMA.fullmatch(str(value)):
        write = "of decimal commas write --decimal comma"
    msg = (
        f"column {name!r} of {place!r} is of {role}s, and its row {row} has {shown(value)}; {write}"
    )
    return ColumnError(msg)


def _agree(name: str, tables: Mapping[str, Table], ways: Mapping[str, dict[str, Way]]) -> None:
    """Read ids as text in all files where those of a file are text; reject whole numbers of binary files beside these."""
    having = {title: table for title, table in tables.items() if name in table.schema}
    texts = [title for title in having if ways[title].get(name) is TEXT]
    binary = {title: table for title, table in having.items() if name not in ways[title]}
    dtypes = [table.schema[name] for table in binary.values()]
    has_text = any(dtype in (pl.String, pl.Categorical, pl.Enum) for dtype in dtypes)
    if not texts and not has_text:
        return
    for title in having.keys() - binary.keys():
        ways[title][name] = TEXT
    numbers = [table for table in binary.values() if table.schema[name].is_integer()]
    if numbers and not has_text:
        path, dtype = numbers[0].name, numbers[0].schema[name]
        place, row, value = having[texts[0]].first(name, SIGNED.is_lost)
        msg = (
            f"column {name!r} of {path!r} is {dtype}, and row {row} of {place!r} has {shown(value)}, so that they cannot "
            "match; make both text or both whole numbers"
        )
        raise ColumnError(msg)
