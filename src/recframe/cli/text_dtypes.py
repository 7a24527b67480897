"""Dtypes of columns of text, by their values and roles."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
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


class Way(NamedTuple):
    """A way to read text: the values, and which texts have none."""

    dtype: pl.DataType
    value: Expression
    is_lost: Expression
    by_reader: bool = False
    """Whether Polars' reader gives the same values by itself."""


def _way(dtype: pl.DataType, value: Expression, *, by_reader: bool = False) -> Way:
    """Return a way by which a text is lost where its value is null."""
    return Way(dtype, value, lambda text: text.is_not_null() & value(text).is_null(), by_reader)


def _whole(text: pl.Expr) -> pl.Expr:
    return text.cast(pl.Int64, strict=False)


def _is_no_plain_number(text: pl.Expr) -> pl.Expr:
    """Whether a text is no whole number, or begins with a zero or a sign.

    NOTE: what Polars reads as a number and stands before "1" begins so. This takes a third of a pattern's time, which the next
    way has where there are numbers below 0.
    """
    return text.is_not_null() & (_whole(text).is_null() | ((text < "1") & (text != "0")))


def _is_no_number(text: pl.Expr) -> pl.Expr:
    return text.is_not_null() & (_whole(text).is_null() | ~text.str.contains(r"^(0|-?[1-9]\d*)$"))


def _decimal(text: pl.Expr) -> pl.Expr:
    return text.cast(pl.Float64, strict=False)


def _is_nan(value: pl.Expr) -> pl.Expr:
    """Whether a number, or a text of one, is NaN or no number at all."""
    return value.is_not_null() & ~_decimal(value).is_not_nan().fill_null(value=False)


def _is_code(text: pl.Expr) -> pl.Expr:
    """Whether a text is a zero and another digit, as a code begins and no number."""
    return (text >= "00") & (text < "0:")


def _is_no_decimal(text: pl.Expr) -> pl.Expr:
    is_number = _decimal(text).is_finite().fill_null(value=False)
    return text.is_not_null() & (~is_number | _is_code(text))


def _number(*, comma: bool, is_role: bool) -> Way:
    """Return the way of numbers with spaces around them and words for a missing one; for a role, of true and false too."""

    def bare(text: pl.Expr) -> pl.Expr:
        text = text.str.strip_chars().str.to_lowercase()
        text = pl.when(~text.is_in(NOTHING)).then(text)
        text = text.str.replace(",", ".", literal=True) if comma else text
        return text.replace({"true": "1", "false": "0"}) if is_role else text

    def is_lost(text: pl.Expr) -> pl.Expr:
        found = bare(text)
        lost = found.is_not_null() & _decimal(found).is_null()
        return lost if is_role else lost | _is_code(found)

    return Way(pl.Float64(), lambda text: _decimal(bare(text)), is_lost)


def _boolean(text: pl.Expr) -> pl.Expr:
    word = text.str.to_lowercase()
    return pl.when(word.is_in(["true", "false"])).then(word == "true")


def _time(form: str) -> Way:
    dtype = pl.Datetime("us", "UTC" if form.endswith("z") else None)
    return _way(dtype, lambda text: text.str.to_datetime(form, time_unit="us", strict=False))


TEXT = Way(pl.String(), lambda text: text.cast(pl.String), lambda _: pl.lit(value=False))
WHOLE = Way(pl.Int64(), _whole, _is_no_plain_number, by_reader=True)
WHOLE_BELOW_ZERO = Way(pl.Int64(), _whole, _is_no_number, by_reader=True)
FLOAT = Way(pl.Float64(), _decimal, _is_nan, by_reader=True)
"""The way of a role's numbers, which are numbers in the first pass too, since that takes a third of the time."""
DECIMAL = Way(pl.Float64(), _decimal, _is_no_decimal, by_reader=True)
TIMES = (
    _way(pl.Boolean(), _boolean),
    _way(pl.Date(), lambda text: text.str.to_date("%Y-%m-%d", strict=False)),
    *(_time(f"%Y-%m-%d{sign}%H:%M:%S%.f{zone}") for zone in ("", "%#z") for sign in "T "),
    TEXT,
)


def _ways(role: Role | None, decimal: str) -> list[Way]:
    """Return the ways to read a column, the first of which that loses no text counts."""
    if role == "id":
        return [WHOLE, WHOLE_BELOW_ZERO, TEXT]
    number = _number(comma=decimal == ",", is_role=role == "number")
    if role == "number":
        return [number] if decimal == "," else [FLOAT, number]
    plain = [] if decimal == "," else [DECIMAL]
    return [WHOLE, WHOLE_BELOW_ZERO, *plain, number, *TIMES]


def typed(tables: Mapping[str, Table], roles: Mapping[str, Roles]) -> dict[str, pl.LazyFrame]:
    """Return the frames of tables, whose columns of text have dtypes.

    A first pass reads each file as text. Numbers of a role are Float64. Ids are Int64 if all of the call are whole numbers in
    their plain form, else text in all files. Any other column has the dtype that all of its values are written in.
    """
    ways = {name: _decided(table, roles[name]) for name, table in tables.items()}
    ids = dict.fromkeys(
        name for of_table in roles.values() for name, role in of_table.items() if role == "id"
    )
    for name in ids:
        _agree(name, tables, ways)
    return {name: _read(table, ways[name]) for name, table in tables.items()}


def _read(table: Table, ways: Mapping[str, Way]) -> pl.LazyFrame:
    rows = table.scan({name: way.dtype for name, way in ways.items() if way.by_reader})
    read = {name for name, dtype in rows.collect_schema().items() if dtype != pl.String}
    left = {name: way for name, way in ways.items() if name not in read or way is TEXT}
    return rows.with_columns(way.value(pl.col(name)) for name, way in left.items())


def _decided(table: Table, roles: Roles) -> dict[str, Way]:
    """Return the way to read each column of text, by a look at all of its values."""
    ways = {name: _ways(roles.get(name), table.decimal) for name in table.written}
    with reading_of(table.path, table.parts):
        texts = [part for part in table.parts if isinstance(part, TextPart)]
        for part in texts:
            if len(part.separator) > 1 or "" in part.columns:
                # NOTE: Polars overlooks a long line where a column is not read
                part.check_lines(short_ones=False)
        head = table.head()
        _drop_unfit(lambda _: head, ways)
        with_nulls = _drop_unfit(table.scan, ways)
        for part in texts:
            if part.columns[-1] in with_nulls:
                part.check_lines(short_ones=True)
    wrong = next((name for name, found in ways.items() if not found), None)
    if wrong is not None:
        raise _no_number(table, wrong)
    return {name: found[0] for name, found in ways.items()}


def _drop_unfit(
    scan: Callable[[Mapping[str, pl.DataType]], pl.LazyFrame], ways: Mapping[str, list[Way]]
) -> set[str]:
    """Drop the first ways by which a text is lost, until there are none; return the columns that have nulls."""
    fitting, with_nulls = set[str](), set[str]()
    while left := [name for name, found in ways.items() if found and name not in fitting]:
        numbers = {name: FLOAT.dtype for name in left if ways[name][0] is FLOAT}
        lost = [ways[name][0].is_lost(pl.col(name)).any() for name in left]
        # NOTE: of all columns, since Polars overlooks a long line where a column is not read
        nulls = [pl.col(name).has_nulls() for name in left]
        columns = [one.alias(str(place)) for place, one in enumerate([*lost, *nulls])]
        try:
            found = scan(numbers).select(columns).collect(engine="streaming").row(0)
        except pl.exceptions.ComputeError:
            if not numbers:
                raise
            # a number in another form, or a line that is wrong as text too
            for name in numbers:
                del ways[name][0]
            continue
        for name, is_lost, has_nulls in zip(left, found, found[len(left) :], strict=False):
            if is_lost:
                del ways[name][0]
            else:
                fitting.add(name)
            if has_nulls:
                with_nulls.add(name)
    return with_nulls


def _no_number(table: Table, name: str) -> ColumnError:
    """Return the error of a value that is no number in a column of numbers."""
    number = _number(comma=table.decimal == ",", is_role=True)
    place, row, value = table.first(name, number.is_lost)
    is_comma = re.fullmatch(r"\s*[+-]?\d+,\d+\s*", str(value))
    write = (
        "of decimal commas write --decimal comma"
        if is_comma
        else "write a number, or leave it empty"
    )
    msg = (
        f"column {name!r} of {place!r} is of numbers, and its row {row} has {shown(value)}; {write}"
    )
    return ColumnError(msg)


def _agree(name: str, tables: Mapping[str, Table], ways: Mapping[str, dict[str, Way]]) -> None:
    """Read ids as text in all files where those of one are text; reject ids that no file can match."""
    having = [title for title, table in tables.items() if name in table.schema]
    dtypes = {title: tables[title].schema[name] for title in having}
    dtypes |= {title: ways[title][name].dtype for title in having if name in ways[title]}
    texts = [title for title in having if ways[title].get(name) is TEXT]
    numbers = [title for title in having if dtypes[title].is_integer()]
    fixed = [title for title in having if tables[title].is_binary and name not in ways[title]]
    is_text_fixed = any(dtypes[title] in (pl.String, pl.Categorical, pl.Enum) for title in fixed)
    if not texts and not is_text_fixed:
        return
    for title in texts:
        _check_form(name, tables[title], [tables[number].path for number in numbers])
    for title in numbers:
        if title not in fixed:
            ways[title][name] = TEXT
        elif not is_text_fixed:
            place, row, value = tables[texts[0]].first(name, WHOLE_BELOW_ZERO.is_lost)
            raise ColumnError(
                f"column {name!r} of {tables[title].path!r} is {dtypes[title]}, and row {row} of {place!r} has "
                f"{shown(value)}, so that they cannot match; make both text or both whole numbers"
            )


def _check_form(name: str, table: Table, others: Sequence[str]) -> None:
    """Reject whole numbers in a form such as 1.0, where another file has them in the plain one."""
    form, is_odd = r"^\s*\+?[1-9]\d*(\.0+)?\s*$", WHOLE_BELOW_ZERO.is_lost
    if not others or table.first(name, lambda text: is_odd(text) & ~text.str.contains(form))[1]:
        return
    place, row, value = table.first(name, is_odd)
    raise ColumnError(
        f"column {name!r} of {place!r} has {shown(value)} in row {row}, and {others[0]!r} has plain whole numbers, so that "
        "they cannot match; write 1 in place of 1.0, without spaces around it"
    )
