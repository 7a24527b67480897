"""Points and lengths of time, in the dtype of a log's times."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Any

import polars as pl

from recframe.errors import RecframeError, shown
from recframe.frames.options import plain_number

_UNITS = ("ns", "us", "ms", "s", "m", "h", "d", "w", "mo", "q", "y")
_SECONDS = (1e-9, 1e-6, 1e-3, 1.0, 60.0, 3600.0, 86_400.0, 604_800.0, 2_629_746.0, 7_889_238.0)
SECONDS = dict(zip(_UNITS, (*_SECONDS, 31_556_952.0), strict=True))
"""The units of lengths, each with its seconds, those of months and years on average."""
_NAMES = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
NAMED = dict(zip(_NAMES, _UNITS[3:], strict=True)) | {one.upper(): one for one in "dwhqys"}
"""Units by other names; "M" is none, which may be a minute or a month."""
OF_DATES = {"d", "w", "mo", "q", "y"}
"""The units of whole days, whose lengths go by the calendar."""
MOST_SECONDS = 1e4 * SECONDS["y"]
"""The longest length: ten thousand years."""
_LENGTH = re.compile(r"(\s*\d+\s*[A-Za-z]+)+\s*")
_PIECE = re.compile(r"(\d+)\s*([A-Za-z]+)")
Length = str | int | float
"""A length as text, such as "7d", of dates; a number of numbers."""
ALIGNED = {"day": "1d", "hour": "1h"}


def length_of(name: str, value: Any, dtype: pl.DataType, *, zero: bool = False) -> Length:
    """Return a length in the form of a column's dtype: text such as "7d" of dates, a number of numbers."""
    if dtype.is_numeric():
        number = _number(name, value, dtype, "length", 604800)
        if number < 0 or (number == 0 and not zero):
            msg = f"{name}={shown(value)}: write a length above 0"
            raise RecframeError(msg)
        return number
    length = _in_polars(value)
    seconds = seconds_of(length)
    if not length or seconds > MOST_SECONDS or not (zero or seconds):
        units = " (1m is a minute)" * ("m" in str(value).casefold())
        msg = f"{name}={shown(value)}: write a length such as '7d', '12h', '1w' or '1mo'{units}"
        raise RecframeError(msg)
    if dtype == pl.Date and not _is_of_days(length):
        msg = f"{name}={shown(value)}: the times are dates, so write a length of whole days, such as '7d' or '1mo'"
        raise RecframeError(msg)
    return length


def _in_polars(length: Any) -> str:
    """Return a length as Polars writes it: "7d" of "7D", "7 days" and timedelta(days=7); nothing of what is no length."""
    if isinstance(length, timedelta):
        rest = length - timedelta(days=length.days)
        length = f"{length.days}d" + f"{rest // timedelta(microseconds=1)}us" * bool(rest)
    if not isinstance(length, str) or not _LENGTH.fullmatch(length):
        return ""
    pieces = [
        (number, NAMED.get(unit) or NAMED.get(unit.casefold().removesuffix("s")) or unit)
        for number, unit in _PIECE.findall(length)
    ]
    is_known = all(unit in SECONDS for _, unit in pieces)
    return "".join(number + unit for number, unit in pieces) * is_known


def seconds_of(length: Length) -> float:
    """Return the seconds of a length, months and years on average; a number as it is."""
    if not isinstance(length, str):
        return float(length)
    return sum(int(number) * SECONDS[unit] for number, unit in _PIECE.findall(length))


def _is_of_days(length: str) -> bool:
    return {unit for _, unit in _PIECE.findall(length)} <= OF_DATES


def before(point: pl.Expr, length: Length | None, dtype: pl.DataType) -> pl.Expr:
    """Return the point of time that is a length before another, by the calendar of the column's zone.

    NOTE: days, weeks, months and years are stepped on the clock of the zone; where a clock change leaves a time out, it is
    the hour behind.
    """
    if not isinstance(length, str):
        return point if length is None else point - pl.lit(length, dtype=dtype)
    zone = getattr(dtype, "time_zone", None)
    if zone is None or not _is_of_days(length):
        return point.dt.offset_by(f"-{length}")
    return in_zone(point.dt.replace_time_zone(None).dt.offset_by(f"-{length}"), zone)


def in_zone(local: pl.Expr, zone: str) -> pl.Expr:
    """Return times on the clock of a zone; an hour that a clock change leaves out is the next one."""
    how: Any = {"ambiguous": "earliest", "non_existent": "null"}
    later = local.dt.offset_by("1h").dt.replace_time_zone(zone, **how)
    return local.dt.replace_time_zone(zone, **how).fill_null(later)


def aligned(point: pl.Expr, align: str | None, dtype: pl.DataType) -> pl.Expr:
    """Return the end of the whole day or hour that a point is in; without either the point."""
    if align is None:
        return point
    whole = point if dtype == pl.Date else point.dt.truncate(ALIGNED[align])
    return whole.dt.offset_by(ALIGNED[align])


def point_of(name: str, value: Any, dtype: pl.DataType) -> pl.Expr:
    """Return a point of time in a column's own dtype: of a date its first instant, without a zone in that of the column."""
    if dtype.is_numeric():
        return pl.lit(_number(name, value, dtype, "number", 1714521600), dtype=dtype)
    at, wrong = _moment(value), f"{name}={shown(value)}"
    if at is None:
        is_length = isinstance(value, str) and _LENGTH.fullmatch(value)
        length = f"; a length is last={shown(value)}" if is_length else ""
        msg = (
            f"{wrong}: write a date or a datetime, or one as ISO text, such as '2024-05-01'{length}"
        )
        raise RecframeError(msg)
    if dtype == pl.Date:
        if at.tzinfo is not None or at != datetime(at.year, at.month, at.day):  # noqa: DTZ001  it has none
            msg = f"{wrong}: the times are dates, so write a date, such as '2024-05-01'"
            raise RecframeError(msg)
        return pl.lit(at.date(), dtype=pl.Date)
    zone, unit = dtype.time_zone, dtype.time_unit  # type: ignore[attr-defined]  # the rest are datetimes
    if at.tzinfo is None:
        local = pl.lit(at, dtype=pl.Datetime(unit))
        return local if zone is None else in_zone(local, zone)
    if zone is None:
        msg = f"{wrong} has a time zone and the times have none; write it without, on their clock"
        raise RecframeError(msg)
    return pl.lit(at, dtype=pl.Datetime(unit, "UTC")).dt.convert_time_zone(zone)


def _moment(value: Any) -> datetime | None:
    """Return the datetime of what is given: one of Python, NumPy or pandas, a date, or ISO text; None of anything else."""
    if type(value).__name__ == "datetime64":  # NumPy's, whose nanoseconds Python does not have
        value = value.astype("datetime64[us]").item()
    if isinstance(value, str):
        with suppress(ValueError):
            return datetime.fromisoformat(value.replace("Z", "+00:00"))
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)  # noqa: DTZ001  in the zone of the column
    return value if isinstance(value, datetime) else None


def _number(name: str, value: object, dtype: pl.DataType, noun: str, example: int) -> int | float:
    """Return a number in the unit of the times, or say that it has to be one."""
    number = plain_number(value)
    if number is None or (dtype.is_integer() and not isinstance(number, int)):
        kind = "whole numbers" if dtype.is_integer() else "numbers"
        takes = f"the times are {kind}, so write a {noun} in their unit, such as {example}"
        msg = f"{name}={shown(value)}: {takes}, or make them datetimes: pl.from_epoch"
        raise RecframeError(msg)
    return number
