"""Dtypes that match in value, and their common one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from recframe.errors import ColumnError, dtype_shown
from recframe.frames.hints import Either
from recframe.frames.roles import IDS, Side
from recframe.frames.segments import Segment

WANTED = {
    "rank": "a number from 1 up",
    "score": "a number",
    "relevance": "a number or Boolean",
    "propensity": "a number above 0",
    "weight": "a number from 0 up",
}
"""The roles of numbers, and the numbers that they take."""


def check_dtypes(
    schemas: Mapping[str, pl.Schema], sides: Mapping[str, Side], segments: Iterable[Segment] = ()
) -> None:
    """Reject columns whose dtype does not suit their role, or a segment."""
    by = {segment.inside: segment.name for segment in segments if segment.at != "id"}
    for name, schema in schemas.items():
        titles = by | sides[name].context.names
        for inside in (*by, *IDS, *WANTED):
            dtype = schema.get(inside)
            if dtype is None or dtype == pl.Null or dtype.is_numeric():
                continue
            column = f"column {titles[inside]!r} of {sides[name].title}"
            if dtype == pl.Object and inside not in WANTED:
                verb = "group" if inside in by else "join"
                msg = f"{column} holds Python objects, which no frame can {verb}; cast it to text"
                raise ColumnError(msg)
            # a tuple: their hashes are not those of pl.List
            if inside in IDS and dtype in (pl.List, pl.Array):
                raise ColumnError(_nested(column, dtype, titles[inside], name))
            if inside in WANTED and not (inside == "relevance" and dtype == pl.Boolean):
                cast = Either(": cast the column first", "; make it one in the file")
                msg = f"{column} is {dtype_shown(dtype)}; a {inside} is {WANTED[inside]}{cast}"
                raise ColumnError(msg)


PARSED = "parse it first: pl.col({0!r}).str.to_datetime() in Polars, pd.to_datetime(frame[{0!r}]) in pandas"


def check_time(dtype: pl.DataType | None, side: Side) -> None:
    """Reject a column of times that is neither of dates nor of numbers."""
    if dtype is None or dtype == pl.Null or is_time(dtype):
        return
    name = side.context.names["time"]
    found = f"column {name!r} of {side.title} is {dtype_shown(dtype)}; a time is a date, a datetime or a number"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        found = f"{found}; {PARSED.format(name)}"
    raise ColumnError(found)


def is_time(dtype: pl.DataType) -> bool:
    """Whether a dtype is of times: dates, datetimes, whole numbers or floats."""
    return dtype in (pl.Date, pl.Datetime) or dtype.is_integer() or dtype.is_float()


def _nested(column: str, dtype: pl.DataType, role_name: str, side: str) -> str:
    """Return the advice to turn rows with many ids into one row per id."""
    frame = "recs" if side == "recommendations" else side
    msg = f"{column} is {dtype_shown(dtype)}, but a row has one id; give each id a row: {frame}.explode({role_name!r})"
    counted = f"{frame}.explode({role_name!r}).with_columns(rank=pl.int_range(1, pl.len() + 1).over('user'))"
    return (
        f"{msg}, and where the lists are in order, with their ranks: {counted}"
        if side == "recommendations"
        else msg
    )


def matched(
    taken: Mapping[str, pl.LazyFrame],
    schemas: Mapping[str, pl.Schema],
    sides: Mapping[str, Side],
    segments: Iterable[Segment],
    clashes: dict[str, str] | None,
) -> dict[str, pl.LazyFrame]:
    """Cast the columns that match in value but not in dtype, such as Int32 and Int64, or say that they cannot match."""
    result = dict(taken)
    shared = {"user": "the user ids", "item": "the item ids"}
    shared |= {one.inside: f"the values of {one.name!r}" for one in segments if one.at == "rows"}
    for inside, title in shared.items():
        dtypes = {name: schema[inside] for name, schema in schemas.items() if inside in schema}
        if len(set(dtypes.values())) <= 1 and pl.Null not in dtypes.values():
            continue
        dtype = common(dtypes)
        if dtype is None:
            found = _clash(dtypes, title, sides)
            if clashes is None:
                raise ColumnError(found)
            clashes[inside] = found
        for name, own in dtypes.items():
            if own != dtype:
                column = pl.col(inside)
                cast = as_text(column, own) if dtype is None else column.cast(dtype)
                result[name] = result[name].with_columns(cast.alias(inside))
    return result


def as_text(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return values of any dtype as text, whole numbers without a point and whole seconds without one."""
    if dtype.is_float():
        whole = column.cast(pl.Int64, strict=False)
        return (
            pl.when(whole.cast(dtype) == column)
            .then(whole.cast(pl.String))
            .otherwise(column.cast(pl.String))
        )
    if dtype == pl.Binary:
        return column.bin.encode("hex")
    if dtype == pl.Struct:
        return column.struct.json_encode()
    if dtype == pl.Duration:
        return column.dt.to_string("iso")
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is None:
        # in whatever unit it is, pandas' nanoseconds too
        return column.dt.to_string("%Y-%m-%d %H:%M:%S%.f")
    return column.hash().cast(pl.String) if dtype.is_nested() else column.cast(pl.String)


def text_of(value: object) -> str:
    """Return one value as text, as `as_text` does for a column, such as a numeric model name."""
    if isinstance(value, str):
        return value
    try:
        column = pl.Series("value", [value])
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        return str(value)
    text = column.to_frame().select(as_text(pl.col("value"), column.dtype)).item()
    return str(value) if text is None else str(text)


def common(dtypes: Mapping[str, pl.DataType]) -> pl.DataType | None:
    """Return the dtype in which columns match in value, if there is one."""
    found = [dtype for dtype in dict.fromkeys(dtypes.values()) if dtype != pl.Null]
    if len(found) <= 1:
        return found[0] if found else pl.Int64()
    if all(dtype.is_integer() for dtype in found):
        signed = any(dtype.is_signed_integer() for dtype in found)
        # which Polars 1 does not have
        widest = next((dtype for dtype in found if str(dtype) == "UInt128"), pl.UInt64())
        wide = any(dtype in (pl.UInt64, pl.Int128, widest) for dtype in found)
        return (pl.Int128() if wide else pl.Int64()) if signed else widest
    # a tuple: an Enum's hash is not that of pl.Enum
    if all(dtype in (pl.String, pl.Categorical, pl.Enum) for dtype in found):
        return pl.String()
    return None


def _clash(dtypes: Mapping[str, pl.DataType], title: str, sides: Mapping[str, Side]) -> str:
    kinds = {sides[name].title: dtype for name, dtype in dtypes.items() if dtype != pl.Null}
    msg = f"{title} have different dtypes: {in_frames(kinds)}; cast them to one dtype, so that they can match"
    if any(dtype.is_float() for dtype in kinds.values()):
        msg += ". A missing id makes a pandas column Float64: drop the rows without an id and cast to int"
    return msg


def in_frames(dtypes: Mapping[str, pl.DataType]) -> str:
    """Return dtypes with the titles of their frames."""
    found = {title: dtype for title, dtype in dtypes.items() if dtype != pl.Null}
    return ", ".join(f"{dtype_shown(dtype)} in {title}" for title, dtype in found.items())
