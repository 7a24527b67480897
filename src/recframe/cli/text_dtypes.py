"""Dtypes of columns of text, by their values and roles."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Literal, NamedTuple, TypeAlias

import polars as pl

from recframe.cli.readers import Table, reading_of
from recframe.cli.text_files import TextPart
from recframe.errors import ColumnError, shown

Role: TypeAlias = Literal["id", "number"]
Roles: TypeAlias = Mapping[str, Role]
"""What the columns of a table are for; the dtypes of all others are those of their values."""
Expression: TypeAlias = Callable[[pl.Expr], pl.Expr]
NOTHING = ("", "na", "n/a", "nan", "null", "none", "\\n", "#n/a")
"""Words for a number that is missing, in lower case."""
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")


class Way(NamedTuple):
    """A way to read text: the values, and which texts have none."""

    dtype: pl.DataType
    value: Expression
    is_lost: Expression
    by_reader: bool = False
    """Whether Polars' reader gives the same values by itself."""


def _way(dtype: pl.DataType, value: Expression) -> Way:
    """Return a way by which a text is lost where its value is null."""
    return Way(dtype, value, lambda text: text.is_not_null() & value(text).is_null())


def _whole(text: pl.Expr) -> pl.Expr:
    """Return a whole number, null for other text."""
    return text.cast(pl.Int64, strict=False)


def _is_no_plain_number(text: pl.Expr) -> pl.Expr:
    """Whether a text is no whole number, or begins with a zero, a plus or a space.

    NOTE: comparisons of texts take a third of a pattern's time.
    """
    is_negative = text.is_between(pl.lit("-1"), pl.lit("-:"))
    is_plain = (text >= "1") | (text == "0") | is_negative
    return text.is_not_null() & (_whole(text).is_null() | ~is_plain)


def _decimal(text: pl.Expr) -> pl.Expr:
    """Return a number, null for other text."""
    return text.cast(pl.Float64, strict=False)


def _is_no_decimal(text: pl.Expr) -> pl.Expr:
    """Whether a text is no finite number, or a zero and another digit, as a code begins."""
    is_number = _decimal(text).is_finite().fill_null(value=False)
    is_code = (text >= "00") & (text < "0:")
    return text.is_not_null() & (~is_number | is_code)


def _number(*, comma: bool, is_role: bool) -> Way:
    """Return the way of numbers with spaces around them and words for a missing one; for a role, of true and false too."""

    def bare(text: pl.Expr) -> pl.Expr:
        text = text.str.strip_chars().str.to_lowercase()
        text = pl.when(~text.is_in(NOTHING)).then(text)
        if comma:
            text = text.str.replace(",", ".", literal=True)
        if is_role:
            text = text.replace({"true": "1", "false": "0"})
        return text

    def is_lost(text: pl.Expr) -> pl.Expr:
        held = bare(text)
        if is_role:
            return held.is_not_null() & _decimal(held).is_null()
        return _is_no_decimal(held)

    return Way(pl.Float64(), lambda text: _decimal(bare(text)), is_lost)


def _boolean(text: pl.Expr) -> pl.Expr:
    """Return whether a text is true, null for other text than true and false."""
    word = text.str.to_lowercase()
    is_word = word.is_in(["true", "false"])
    return pl.when(is_word).then(word == "true")


def _date(text: pl.Expr) -> pl.Expr:
    """Return a day, null for other text."""
    return text.str.to_date("%Y-%m-%d", strict=False)


def _time(form: str) -> Way:
    """Return the way of times of a form."""
    zone = "UTC" if form.endswith("z") else None
    dtype = pl.Datetime("us", zone)
    return _way(dtype, lambda text: text.str.to_datetime(form, time_unit="us", strict=False))


TEXT = Way(pl.String(), lambda text: text.cast(pl.String), lambda _: pl.lit(value=False))
WHOLE = Way(pl.Int64(), _whole, _is_no_plain_number, by_reader=True)
DECIMAL = Way(pl.Float64(), _decimal, _is_no_decimal, by_reader=True)
TIMES = (
    _way(pl.Boolean(), _boolean),
    _way(pl.Date(), _date),
    _time("%Y-%m-%dT%H:%M:%S%.f"),
    _time("%Y-%m-%d %H:%M:%S%.f"),
    _time("%Y-%m-%dT%H:%M:%S%.f%#z"),
    _time("%Y-%m-%d %H:%M:%S%.f%#z"),
)


def _ways(role: Role | None, decimal: str) -> list[Way]:
    """Return the ways to read a column, the first of which that loses no text counts."""
    if role == "id":
        return [WHOLE, TEXT]
    is_role, comma = role == "number", decimal == ","
    numbers = [_number(comma=comma, is_role=is_role)]
    if not comma:
        numbers.insert(0, DECIMAL)
    return numbers if is_role else [WHOLE, *numbers, *TIMES, TEXT]


def typed(tables: Mapping[str, Table], roles: Mapping[str, Roles]) -> dict[str, pl.LazyFrame]:
    """Return the frames of tables, whose columns of text have dtypes.

    A first pass reads each file as text. Numbers of a role are Float64. Ids are Int64 if all of the call are whole numbers in
    their plain form, else text in all files. Any other column has the dtype that all of its values are written in.
    """
    ways = {name: _decided(table, roles[name]) for name, table in tables.items()}
    for name in dict.fromkeys(chain.from_iterable(roles.values())):
        of_files = {of_file.get(name) for of_file in roles.values()}
        if "id" in of_files:
            _agree(name, tables, ways)
    return {name: _read(table, ways[name]) for name, table in tables.items()}


def _read(table: Table, ways: Mapping[str, Way]) -> pl.LazyFrame:
    """Return a table's rows, read by Polars' reader or else by an expression."""
    rows = table.scan({name: way.dtype for name, way in ways.items() if way.by_reader})
    schema = rows.collect_schema()
    return rows.with_columns(
        way.value(pl.col(name))
        for name, way in ways.items()
        if schema[name] == pl.String or way is TEXT
    )


def _decided(table: Table, roles: Roles) -> dict[str, Way]:
    """Return the way to read each column of text, by a look at all of its values."""
    ways = {name: _ways(roles.get(name), table.decimal) for name in table.written}
    with reading_of(table.path, table.parts):
        _drop_unfit(table.head(), ways)
        with_nulls = _drop_unfit(table.scan(), ways)
        for part in table.parts:
            if isinstance(part, TextPart) and {"", *with_nulls} & {*part.fields}:
                part.check_lines(short_ones=part.fields[-1] in with_nulls)
    for name, left in ways.items():
        if not left:
            raise _no_number(table, name)
    return {name: left[0] for name, left in ways.items()}


def _drop_unfit(rows: pl.LazyFrame, ways: Mapping[str, list[Way]]) -> set[str]:
    """Drop the first ways by which a text is lost, until there are none; return the columns that have nulls."""
    # NOTE: nulls of all columns, since Polars overlooks a long line where a column is not read
    nulls = [pl.col(name).has_nulls().alias(f"null {name}") for name in ways]
    with_nulls, unsure = set[str](), [name for name in ways if ways[name]]
    while unsure:
        lost = [ways[name][0].is_lost(pl.col(name)).any().alias(name) for name in unsure]
        answers = rows.select(*nulls, *lost).collect(engine="streaming")
        found = answers.row(0, named=True)
        with_nulls = {name for name in ways if found[f"null {name}"]}
        for name in unsure:
            if found[name]:
                del ways[name][0]
        unsure = [name for name in unsure if found[name] and ways[name]]
    return with_nulls


def _no_number(table: Table, name: str) -> ColumnError:
    """Return the error of a value that is no number in a column of numbers."""
    number = _number(comma=table.decimal == ",", is_role=True)
    place, row, value = table.first(name, number.is_lost)
    write = "write a number, or leave it empty"
    if DECIMAL_COMMA.fullmatch(str(value)):
        write = "of decimal commas write --decimal comma"
    msg = f"column {name!r} of {place!r} is of numbers, and its row {row} has {shown(value)}; "
    return ColumnError(msg + write)


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
