"""Points and lengths of time, in the dtype of a log's times."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Any

import polars as pl

from recframe.errors import RecframeError, dtype_shown, shown
from recframe.frames.options import plain_number

SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86_400.0,
    "w": 604_800.0,
    "mo": 2_629_746.0,
    "q": 7_889_238.0,
    "y": 31_556_952.0,
}
"""The units of lengths, each with its seconds, those of months and years on average."""
MOST_SECONDS = 1e4 * SECONDS["y"]
"""The longest length: ten thousand years."""
OF_DATES = {"d", "w", "mo", "q", "y"}
"""The units of whole days, whose lengths go by the calendar."""
_ONE = re.compile(r"(\d+)(ns|us|ms|mo|[smhdwqy])")
Length = str | int | float
"""A length as text, such as "7d", of dates; a number of numbers."""
ALIGNED = {"day": "1d", "hour": "1h"}


def is_number(dtype: pl.DataType) -> bool:
    """Whether times are numbers."""
    return dtype.is_numeric()


def length_of(name: str, value: object, dtype: pl.DataType, *, zero: bool = False) -> Length:
    """Return a length in the form of a column's dtype: text of dates, a number of numbers."""
    if is_number(dtype):
        number = plain_number(value)
        fits = number is not None and (number > 0 or (zero and number == 0))
        if not fits or (dtype.is_integer() and not isinstance(number, int)):
            kind = "whole numbers" if dtype.is_integer() else "numbers"
            takes = f"the times are {kind}, so write a length in their unit, such as 604800"
            msg = f"{name}={shown(value)}: {takes}, or make them datetimes: pl.from_epoch"
            raise RecframeError(msg)
        return number  # type: ignore[return-value]  # none is no number
    if isinstance(value, timedelta):
        value = _written(value, dtype)
    parts = _ONE.findall(value) if isinstance(value, str) else []
    is_whole = bool(parts) and "".join(map("".join, parts)) == value
    has_length = zero or any(int(number) for number, _ in parts)
    if not is_whole or not has_length or seconds_of(str(value)) > MOST_SECONDS:
        msg = f"{name}={shown(value)}: write a length such as '7d', '12h', '1w' or '1mo'"
        raise RecframeError(msg)
    if dtype == pl.Date and any(unit not in OF_DATES for _, unit in parts):
        msg = f"{name}={shown(value)}: the times are dates, so write a length of whole days, such as '7d' or '1mo'"
        raise RecframeError(msg)
    return str(value)


def _written(length: timedelta, dtype: pl.DataType) -> str:
    """Return a length of Python as text: of dates in days where it is whole ones."""
    is_of_days = dtype == pl.Date and length % timedelta(days=1) == timedelta(0)
    return f"{length.days}d" if is_of_days else f"{length // timedelta(microseconds=1)}us"


def seconds_of(length: Length) -> float:
    """Return the seconds of a length, months and years on average; a number as it is."""
    if not isinstance(length, str):
        return float(length)
    return sum(int(number) * SECONDS[unit] for number, unit in _ONE.findall(length))


def before(point: pl.Expr, length: Length, dtype: pl.DataType) -> pl.Expr:
    """Return the point of time that is a length before another, by the calendar of the column's zone.

    NOTE: days, weeks, months and years are stepped on the clock of the zone; where a clock change leaves a time out, it is
    the hour behind.
    """
    if not isinstance(length, str):
        return point - pl.lit(length, dtype=dtype)
    units = {unit for _, unit in _ONE.findall(length)}
    zone = getattr(dtype, "time_zone", None)
    if zone is None or not units <= OF_DATES:
        return point.dt.offset_by(f"-{length}")
    local = point.dt.replace_time_zone(None).dt.offset_by(f"-{length}")
    return in_zone(local, zone)


def in_zone(local: pl.Expr, zone: str) -> pl.Expr:
    """Return times on the clock of a zone; an hour that a clock change leaves out is the next one."""
    how: Any = {"ambiguous": "earliest", "non_existent": "null"}
    later = local.dt.offset_by("1h").dt.replace_time_zone(zone, **how)
    return local.dt.replace_time_zone(zone, **how).fill_null(later)


def aligned(point: pl.Expr, align: str, dtype: pl.DataType) -> pl.Expr:
    """Return the end of the whole day or hour that a point is in."""
    if dtype == pl.Date:
        return point.dt.offset_by("1d")
    unit = ALIGNED[align]
    return point.dt.truncate(unit).dt.offset_by(unit)


def check_align(align: object, dtype: pl.DataType) -> None:
    """Reject an alignment that the times do not have."""
    if align is None:
        return
    if not isinstance(align, str) or align not in ALIGNED:
        msg = f"align={shown(align)}: write 'day' or 'hour', so that the last window ends with it"
        raise RecframeError(msg)
    if is_number(dtype) or (dtype == pl.Date and align == "hour"):
        msg = f"align={shown(align)} needs datetimes; the times are {dtype_shown(dtype)}"
        raise RecframeError(msg)


def point_of(name: str, value: object, dtype: pl.DataType) -> pl.Expr:
    """Return a point of time in a column's own dtype.

    A date is its first instant. A point without a zone is in the zone of the column; a point with one needs a column with
    one.
    """
    if is_number(dtype):
        return pl.lit(_number(name, value, dtype), dtype=dtype)
    when = _moment(name, value)
    if dtype == pl.Date:
        if isinstance(when, datetime):
            if when.tzinfo is not None or when.time().isoformat() != "00:00:00":
                msg = f"{name}={shown(value)}: the times are dates, so write a date, such as '2024-05-01'"
                raise RecframeError(msg)
            when = when.date()
        return pl.lit(when, dtype=pl.Date)
    at = when if isinstance(when, datetime) else datetime(when.year, when.month, when.day)  # noqa: DTZ001  of the column
    zone = dtype.time_zone  # type: ignore[attr-defined]  # the rest are datetimes
    unit = dtype.time_unit  # type: ignore[attr-defined]
    if at.tzinfo is None:
        local = pl.lit(at, dtype=pl.Datetime(unit))
        return local if zone is None else in_zone(local, zone)
    if zone is None:
        msg = f"{name}={shown(value)} has a time zone and the times have none; write it without, on their clock"
        raise RecframeError(msg)
    return pl.lit(at, dtype=pl.Datetime(unit, "UTC")).dt.convert_time_zone(zone)


def _number(name: str, value: object, dtype: pl.DataType) -> int | float:
    number = plain_number(value)
    if number is None or (dtype.is_integer() and not isinstance(number, int)):
        kind = "whole numbers" if dtype.is_integer() else "numbers"
        msg = f"{name}={shown(value)}: the times are {kind}, so write a number in their unit, such as 1714521600"
        raise RecframeError(msg)
    return number


def _moment(name: str, value: object) -> datetime | date:
    """Return a date or a datetime of what is given: one of Python, NumPy or pandas, or ISO text."""
    if isinstance(value, datetime | date):
        return value
    if type(value).__name__ == "datetime64":  # NumPy's, whose nanoseconds Python does not have
        found: Any = value
        return _moment(name, found.astype("datetime64[us]").item())
    if isinstance(value, str):
        with suppress(ValueError):
            return date.fromisoformat(value)
        with suppress(ValueError):
            return datetime.fromisoformat(value.replace("Z", "+00:00"))
    length = f"; a length is last={shown(value)}" * (
        isinstance(value, str) and bool(_ONE.match(value))
    )
    msg = f"{name}={shown(value)}: write a date or a datetime, or one as ISO text, such as '2024-05-01'{length}"
    raise RecframeError(msg)
