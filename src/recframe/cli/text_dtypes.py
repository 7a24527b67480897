"""Dtypes of columns of text, by their values and roles."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain
from typing import Literal, NamedTuple, TypeAlias

import polars as pl

from recframe.cli.readers import ROWS, Table, reading_of
from recframe.errors import ColumnError, shown

Role: TypeAlias = Literal["id", "number", "time"]
Roles: TypeAlias = Mapping[str, Role]
"""What the columns of a table are for; the dtypes of all others are those of their values."""
Expression: TypeAlias = Callable[[pl.Expr], pl.Expr]
MISSING = ("", "na", "n/a", "nan", "null", "none", "\\n", "#n/a")
"""Words for a number that is missing, in lower case."""
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")


def _same(text: pl.Expr) -> pl.Expr:
    """Return a text as it is."""
    return text


class Way(NamedTuple):
    """A way to read text: the value of a text, null for other text, and the text without what stands around a value."""

    read: Expression
    bare: Expression = _same

    def value(self, text: pl.Expr) -> pl.Expr:
        """Return the value of a text."""
        return self.read(self.bare(text))

    def is_lost(self, text: pl.Expr) -> pl.Expr:
        """Whether a text has no value, and is no word for a missing one."""
        return self.bare(text).is_not_null() & self.value(text).is_null()


def _whole(text: pl.Expr) -> pl.Expr:
    """Return a whole number in its plain form, which begins with no zero, plus or space.

    NOTE: comparisons of texts take a third of a pattern's time.
    """
    is_negative = text.is_between(pl.lit("-1"), pl.lit("-:"))
    is_plain = (text >= "1") | (text == "0") | is_negative
    return pl.when(is_plain).then(text.cast(pl.Int64, strict=False))


def _any_number(text: pl.Expr) -> pl.Expr:
    """Return a number."""
    return text.cast(pl.Float64, strict=False)


def _decimal(text: pl.Expr) -> pl.Expr:
    """Return a finite number; a zero and another digit begin a code."""
    number, is_code = _any_number(text), (text >= "00") & (text < "0:")
    return pl.when(number.is_finite() & ~is_code).then(number)


def _number(text: pl.Expr, *, comma: bool) -> pl.Expr:
    """Return a text without spaces around it and words for a missing number, and true and false as 1 and 0."""
    text = text.str.strip_chars().str.to_lowercase()
    if comma:
        text = text.str.replace(",", ".", literal=True)
    return pl.when(~text.is_in(MISSING)).then(text)


def _as_digits(text: pl.Expr) -> pl.Expr:
    """Return a number, of which true is 1 and false 0."""
    return _any_number(text.replace({"true": "1", "false": "0"}))


def _boolean(text: pl.Expr) -> pl.Expr:
    """Return whether a text is true, of the words true and false."""
    return text.str.to_lowercase().replace_strict({"true": True, "false": False}, default=None)


def _time(text: pl.Expr, form: str) -> pl.Expr:
    """Return a time of a form."""
    return text.str.to_datetime(form, time_unit="us", strict=False)


TEXT = Way(_same)
WHOLE = Way(_whole)
TIMES = (
    Way(_boolean),
    Way(lambda text: text.str.to_date("%Y-%m-%d", strict=False)),
    *(
        Way(partial(_time, form=form))
        for form in (
            "%Y-%m-%dT%H:%M:%S%.f",
            "%Y-%m-%d %H:%M:%S%.f",
            "%Y-%m-%dT%H:%M:%S%.f%#z",
            "%Y-%m-%d %H:%M:%S%.f%#z",
        )
    ),
)


def _ways(role: Role | None, decimal: str) -> list[Way]:
    """Return the ways to read a column, the first of which that loses no text counts."""
    if role == "id":
        return [WHOLE, TEXT]
    bare = partial(_number, comma=decimal == ",")
    if role == "number":
        return [Way(_decimal), Way(_as_digits, bare)]
    values = [WHOLE, Way(_decimal), Way(_decimal, bare), *TIMES]
    return values if role == "time" else [*values, TEXT]


def typed(tables: Mapping[str, Table], roles: Mapping[str, Roles]) -> dict[str, pl.LazyFrame]:
    """Return the frames of tables, whose columns of text have dtypes.

    A first pass reads each file as text. Numbers of a role are Float64. Ids are Int64 if all of the call are whole numbers in
    their plain form, else text in all files. Any other column has the dtype that all of its values are written in.
    """
    ways = {name: _decided(table, roles[name]) for name, table in tables.items()}
    for name in dict.fromkeys(chain.from_iterable(roles.values())):
        if "id" in {of_file.get(name) for of_file in roles.values()}:
            _agree(name, tables, ways)
    return {title: _read(table, ways[title]) for title, table in tables.items()}


def _read(table: Table, ways: Mapping[str, Way]) -> pl.LazyFrame:
    """Return the rows of a table, with the values of its texts."""
    values = (way.value(pl.col(name)) for name, way in ways.items() if way is not TEXT)
    return table.rows.with_columns(values)


def _decided(table: Table, roles: Roles) -> dict[str, Way]:
    """Return the way to read each column of text, by a look at all of its values."""
    ways = {name: _ways(roles.get(name), table.decimal) for name in table.written}
    with reading_of(table.path, table.parts):
        _drop_unfit(table.rows.head(ROWS), ways)
        with_nulls = _drop_unfit(table.rows, ways)
        for part in table.parts:
            if part.text is None:
                continue
            is_whole = len(part.written) == len(part.text.fields)
            if not is_whole or part.written[-1] in with_nulls:
                part.text.check_lines()
    for name, left in ways.items():
        if not left:
            raise _unfit(table, name, roles[name])
    return {name: left[0] for name, left in ways.items()}


def _drop_unfit(rows: pl.LazyFrame, ways: Mapping[str, list[Way]]) -> set[str]:
    """Drop the first ways by which a text is lost, until there are none; return the columns that have nulls."""
    # NOTE: nulls of all columns, since Polars overlooks a long line where a column is not read
    nulls = [pl.col(name).has_nulls().alias(f"null {name}") for name in ways]
    with_nulls, unsure = set[str](), [name for name in ways if ways[name]]
    while unsure:
        lost = [ways[name][0].is_lost(pl.col(name)).any().alias(name) for name in unsure]
        found = rows.select(*nulls, *lost).collect(engine="streaming").row(0, named=True)
        with_nulls = {name for name in ways if found[f"null {name}"]}
        for name in unsure:
            if found[name]:
                del ways[name][0]
        unsure = [name for name in unsure if found[name] and ways[name]]
    return with_nulls


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
    written = [title for title in having if name in ways[title]]
    texts = [title for title in written if ways[title][name] is TEXT]
    dtypes = {title: having[title].schema[name] for title in having if title not in written}
    has_text = any(dtype in (pl.String, pl.Categorical, pl.Enum) for dtype in dtypes.values())
    if not texts and not has_text:
        return
    for title in written:
        ways[title][name] = TEXT
    numbers = [title for title, dtype in dtypes.items() if dtype.is_integer()]
    if texts and numbers and not has_text:
        binary = having[numbers[0]]
        place, row, value = having[texts[0]].first(name, WHOLE.is_lost)
        msg = (
            f"column {name!r} of {binary.path!r} is {binary.schema[name]}, and row {row} of {place!r} has {shown(value)}, so "
            "that they cannot match; make both text or both whole numbers"
        )
        raise ColumnError(msg)
