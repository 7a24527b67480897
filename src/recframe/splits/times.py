"""Points and lengths of time, in the dtype of a log's times."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple

import polars as pl

from recframe.errors import RecframeError, shown
from recframe.frames.options import plain_number

YEAR = 31_556_952.0
SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86_400.0,
    "w": 604_800.0,
    "mo": YEAR / 12,
    "q": YEAR / 4,
    "y": YEAR,
}
"""The units of lengths, each with its seconds, those of months and years on average."""
OF_DATES = {"d", "w", "mo", "q", "y"}
"""The units of whole days, whose lengths go by the calendar."""
MOST_SECONDS = 1e4 * YEAR
"""The longest length: ten thousand years."""
_NAMES = "(second|minute|hour|day|week|month|quarter|year)s?"
_LENGTH = re.compile(rf"(\s*\d+\s*([num]s|s|(?-i:m)|h|d|w|mo|q|y|{_NAMES})\s*)+", re.IGNORECASE)
_PIECE = re.compile(r"(\d+)\s*([num]s|mo|[smhdwqy])")
ALIGNED = ("day", "hour")
"""The units whose whole ends a log may have, by their first letters those of Polars."""


class Length(NamedTuple):
    """A length of time."""

    value: Any
    """Text as Polars writes it, such as "7d", where times are dates; a number where they are numbers."""
    seconds: float
    """Months and years on average; a number as it is."""
    by_calendar: bool = False
    """Whether it is of whole days, which the clock of a zone counts."""


def length_of(name: str, value: Any, dtype: pl.DataType, *, zero: bool = False) -> Length:
    """Return a length in the form of a column's dtype."""
    length = _read(value)
    wrong = f"{name}={shown(value)}"
    right = "such as '7d', '12h', '1w' or '1mo' (1m is a minute)"
    if dtype.is_numeric():
        number = _number(wrong, value, dtype)
        length, right = Length(number, number), "above 0"
    if length is None or length.seconds < 0 or not (zero or length.seconds):
        raise RecframeError(f"{wrong}: write a length {right}")
    if dtype == pl.Date and not length.by_calendar:
        raise RecframeError(
            f"{wrong}: the times are dates, so write a length of whole days, such as '7d' or '1mo'"
        )
    return length


def _read(value: Any) -> Length | None:
    """Return the length that "7d", "7D", "7 days" or a timedelta is; None of anything else.

    NOTE: "M" is no unit, since it may be a minute or a month.
    """
    if isinstance(value, timedelta):
        rest = value % timedelta(days=1)
        value = f"{value.days}d" + (f"{rest // timedelta.resolution}us" if rest else "")
    if not isinstance(value, str) or not _LENGTH.fullmatch(value):
        return None
    pieces = [(int(number), unit) for number, unit in _PIECE.findall(value.casefold())]
    seconds = sum(number * SECONDS[unit] for number, unit in pieces)
    text = "".join(f"{number}{unit}" for number, unit in pieces)
    by_calendar = {unit for _, unit in pieces} <= OF_DATES
    return Length(text, seconds, by_calendar) if seconds <= MOST_SECONDS else None


def before(point: pl.Expr, length: Length, dtype: pl.DataType) -> pl.Expr:
    """Return the point of time that is a length before another, by the calendar of the column's zone.

    NOTE: days, weeks, months and years are stepped on the clock of the zone; where a clock change leaves a time out, it is
    the hour behind.
    """
    if dtype.is_numeric():
        return point - pl.lit(length.value, dtype=dtype)
    zone = getattr(dtype, "time_zone", None) if length.by_calendar else None
    local = point if zone is None else point.dt.replace_time_zone(None)
    return in_zone(local.dt.offset_by(f"-{length.value}"), zone)


def in_zone(local: pl.Expr, zone: str | None) -> pl.Expr:
    """Return times on the clock of a zone; an hour that a clock change leaves out is the next one."""
    if zone is None:
        return local
    how: Any = {"ambiguous": "earliest", "non_existent": "null"}
    later = local.dt.offset_by("1h").dt.replace_time_zone(zone, **how)
    return local.dt.replace_time_zone(zone, **how).fill_null(later)


def point_of(name: str, value: Any, dtype: pl.DataType) -> pl.Expr:
    """Return a point of time in a column's own dtype: of a date its first instant, without a zone in that of the column."""
    wrong = f"{name}={shown(value)}"
    if dtype.is_numeric():
        return pl.lit(_number(wrong, value, dtype), dtype=dtype)
    at, zone = _moment(value), getattr(dtype, "time_zone", None)
    msg = ""
    if at is None:
        length = f"; a length is last={shown(value)}" if _read(value) else ""
        msg = f": write a date or a datetime, or ISO text such as '2024-05-01'{length}"
    elif dtype == pl.Date and at.timetz() != time():  # also where it has a zone
        msg = ": the times are dates, so write a date, such as '2024-05-01'"
    elif at.tzinfo is not None and zone is None:
        msg = " has a time zone and the times have none; write it without, on their clock"
    if msg or at is None:
        raise RecframeError(wrong + msg)
    if not isinstance(dtype, pl.Datetime):
        return pl.lit(at.date())
    point = pl.lit(at, dtype=pl.Datetime(dtype.time_unit, "UTC" if at.tzinfo else None))
    if zone is None or at.tzinfo is None:
        return in_zone(point, zone)
    return point.dt.convert_time_zone(zone)


def _moment(value: Any) -> datetime | None:
    """Return the datetime of a date, a datetime or ISO text; None of anything else."""
    if isinstance(value, str | date) and not isinstance(value, datetime):
        with suppress(ValueError):
            return datetime.fromisoformat(str(value).replace("Z", "+00:00"))
    return value if isinstance(value, datetime) else None


def _number(wrong: str, value: object, dtype: pl.DataType) -> int | float:
    """Return a number in the unit of the times, or say that it has to be one."""
    number = plain_number(value)
    if number is None or (dtype.is_integer() and not isinstance(number, int)):
        kind = "whole numbers" if dtype.is_integer() else "numbers"
        takes = f"the times are {kind}, so write a number in their unit"
        raise RecframeError(f"{wrong}: {takes}, or make them datetimes: pl.from_epoch")
    return number
