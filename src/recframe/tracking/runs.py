"""Runs of a history: rows with their time, data, definitions and key."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from hashlib import sha256
from typing import Any
from urllib.parse import unquote

import polars as pl

import recframe
from recframe.errors import ColumnError, RecframeError, shown
from recframe.frames.dtypes import as_text
from recframe.frames.hints import Either, Given

ABOUT: dict[str, Any] = {
    "as_of": pl.Datetime("us"),
    "name": pl.String,
    "run": pl.String,
    "fingerprint": pl.String,
    "tracked_at": pl.Datetime("us"),
    "recframe": pl.String,
    "polars": pl.String,
    "definition": pl.String,
    "split_by": pl.String,
    "columns": pl.String,
    "tracked_from": pl.String,
}
"""Columns before those of a result, behind which those of its tags stand. `columns` are those of the result: rows of
a summary and of a comparison that speak of one thing are apart by it. They are an object of JSON, each by the name
that a store has for it. `split_by` follows from them where a history is read. `tracked_from` is the library whose frames were
tracked, null for Polars."""
UNSEEN = ("columns", "tracked_from")
"""Internal columns, which a history is read by and does not show."""
LAST_KEY = "k"
LAST_KEYS = ("metric", LAST_KEY)
"""Last key columns of a tidy result."""
TAG = re.compile(r"[A-Za-z_]\w*", re.ASCII)
TAGS, SEGMENTS = "tag_", "by_"
"""Prefixes of tags and of the columns that results are split by in a store: those are the user's words, and
meet none of the history's own."""
KEY_DIGITS = 16
Table = tuple[pl.DataFrame, list[str]]
"""Rows of a history under the results' column names, and the names of key columns."""
TO_TRACK = (
    "track takes a tidy result, a row for each number with its columns metric and k: "
    "of summarize, compare, gaps or slices, or of evaluate(..., tidy=True)"
)
AS_OF = Either(
    "as_of=datetime.date(2026, 11, 22), a datetime, or text such as as_of='2026-11-22'",
    "2026-11-22, or 2026-11-22T06:00+01:00",
)


@dataclass(frozen=True)
class Run:
    """One tracked result: the rows of a tidy result, and what is known of them all."""

    rows: pl.DataFrame
    as_of: datetime
    fingerprint: str | None
    name: str | None
    tags: Mapping[str, str]
    definitions: Mapping[str, str]
    """Definitions of the metrics, by their strings."""
    tracked_from: str | None = None
    """Library of the tracked frames; None for Polars."""
    users: bytes | None = None
    """Users' values from `packed_users`."""

    @property
    def key(self) -> str:
        """The key, which a rerun has too, so that it replaces this one.

        NOTE: the metrics and the columns are part of it, since one day's data may be tracked in several calls; that rows of
        both are the latest of their kind alone is seen to where they are read. In JSON None is no text, nor two texts one.
        """
        metrics = self.rows.select("metric", LAST_KEY).unique().sort("metric", LAST_KEY).rows()
        parts = [self.as_of.isoformat(), self.fingerprint, self.name, self.rows.columns, metrics]
        return sha256(json.dumps(parts, default=str).encode()).hexdigest()[:KEY_DIGITS]

    def table(self, tracked_at: datetime) -> pl.DataFrame:
        """Return the rows as a store has them: each column by a name of which none is another's in other case."""
        split = {*keys_of(self.rows.columns)} - {"metric", LAST_KEY}
        stored = {
            column: stored_name(column, is_split=column in split) for column in self.rows.columns
        }
        about = {
            "as_of": self.as_of,
            "name": self.name,
            "run": self.key,
            "fingerprint": self.fingerprint,
            "tracked_at": tracked_at,
            "recframe": recframe.__version__,
            "polars": pl.__version__,
            "columns": json.dumps({new: name for name, new in stored.items()}, ensure_ascii=False),
            "tracked_from": self.tracked_from,
        }
        before = [pl.lit(value, ABOUT[name]).alias(name) for name, value in about.items()]
        meant = pl.col("metric").cast(pl.String).replace(self.definitions)
        names = {stored_name(TAGS + name, is_split=False): tag for name, tag in self.tags.items()}
        tags = [pl.lit(value).alias(name) for name, value in names.items()]
        about_each = self.rows.select("metric").select(*before, meant.alias("definition"), *tags)
        own = [_portable(row).alias(stored[row.name]) for row in self.rows]
        return pl.DataFrame([*about_each, *own])


def stored_name(name: str, *, is_split: bool) -> str:
    """Return the name that a store has for a tag, or for a column of a result, which may be one that it is split by."""
    if name.startswith(TAGS):
        return TAGS + _quoted(name[len(TAGS) :])
    if is_split:
        return SEGMENTS + _quoted(name)
    # of another column that begins like one of a segment, the first letter is written otherwise
    return re.sub(f"^{SEGMENTS}", "%62y_", _quoted(name))


def _quoted(name: str) -> str:
    """Return a name whose capital letters, and what is not printed, are written in hexadecimal digits: `Name` is `%4eame`."""
    # an empty name is none to DuckDB
    return "".join(map(_sign, name)) or "%"


def _sign(sign: str) -> str:
    if sign.isprintable() and sign == sign.casefold() and sign != "%":
        return sign
    return "".join(f"%{byte:02x}" for byte in sign.encode())


def named(rows: pl.DataFrame) -> list[Table]:
    """Return the rows of a store under the names that their results had, those of one result's columns together."""
    names = {column: column for column in rows.columns if column in ABOUT}
    names |= {
        column: TAGS + unquote(column[len(TAGS) :])
        for column in rows.columns
        if column.startswith(TAGS)
    }
    tables = []
    for (columns,), some in rows.group_by("columns", maintain_order=True):
        of_result = names | dict(json.loads(columns))
        # NOTE: as columns by their names, since such as "^.*$" are patterns to Polars, and one may be empty
        frame = {new: some.get_column(old) for old, new in of_result.items() if old in rows.columns}
        keys = keys_of(list(frame))
        split_by = ", ".join(keys[: -len(LAST_KEYS)]) if len(keys) > len(LAST_KEYS) else None
        frame["split_by"] = pl.repeat(split_by, some.height, dtype=pl.String, eager=True)
        tables.append((pl.DataFrame(frame), keys))
    return tables


def time_behind(last: datetime | None) -> datetime:
    """Return the time of tracking: now, or just after the history's last run if the clock was set back."""
    now = _in_utc(datetime.now(timezone.utc))
    return now if last is None else max(now, last + timedelta(microseconds=1))


def run_of(  # noqa: PLR0913  what is known of a run
    rows: pl.DataFrame,
    *,
    as_of: object,
    fingerprint: str | None,
    name: str | None,
    tags: Mapping[str, object] | None,
    definitions: Mapping[str, str] | None = None,
    tracked_from: str | None = None,
) -> Run:
    """Return a run, or raise an error for invalid metadata."""
    missing = [one for one in ("metric", LAST_KEY) if one not in rows.columns]
    if missing:
        msg = f"{TO_TRACK}; found a frame without {missing[0]!r}, of the columns {', '.join(rows.columns)}"
        raise RecframeError(msg)
    if name is not None and (not isinstance(name, str) or not name):
        msg = f"name={shown(name)}: name takes a word for the run, such as name='nightly'"
        raise RecframeError(msg)
    words = _tags({} if tags is None else tags)
    for column in rows.columns:
        if column in ABOUT or column.startswith(TAGS):
            msg = (
                f"column {column!r} has the name of a history's own column; rename the column first"
            )
            raise ColumnError(msg)
    return Run(rows, moment(as_of), fingerprint, name, words, definitions or {}, tracked_from)


def keys_of(columns: Sequence[str]) -> list[str]:
    """Return the key columns of a tidy result, or of a history's table."""
    own = [column for column in columns if column not in ABOUT and not column.startswith(TAGS)]
    return own[: own.index(LAST_KEY) + 1]


def moment(as_of: object) -> datetime:
    """Return the time that a result holds for, in UTC without a zone; a date is its first moment, text is ISO 8601."""
    found = _parsed(as_of) if isinstance(as_of, str) else as_of
    # NOTE: pandas' NaT is a datetime, and the one that is not itself
    if isinstance(found, datetime) and found == found:  # noqa: PLR0124
        with suppress(OverflowError):  # in UTC it is before the year 1, or after 9999
            return _in_utc(datetime.fromisoformat(found.isoformat(timespec="microseconds")))
    if isinstance(found, date) and not isinstance(found, datetime):
        return datetime(found.year, found.month, found.day)  # noqa: DTZ001  which is UTC
    msg = f"{Given('as_of', as_of)} is not a time; write {AS_OF}"
    raise RecframeError(msg)


def _parsed(text: str) -> datetime | None:
    try:
        # which Python 3.10 does not take
        return datetime.fromisoformat(re.sub("[Zz]$", "+00:00", text.strip()))
    except ValueError:
        return None


def _in_utc(time: datetime) -> datetime:
    """Return a time in UTC, which one without a zone is taken to be, without its zone."""
    return time if time.tzinfo is None else time.astimezone(timezone.utc).replace(tzinfo=None)


def _tags(tags: Mapping[str, object]) -> dict[str, str]:
    """Return tags as text by name, or raise an error where they are invalid."""
    if not isinstance(tags, Mapping):
        msg = f"tags={shown(tags)}: tags takes words by their names, such as tags={{'team': 'search'}}"
        raise RecframeError(msg)
    for name in tags:
        if not isinstance(name, str) or not TAG.fullmatch(name):
            msg = f"tags={shown(dict(tags))}: {shown(name)} cannot name a tag; write letters, digits and _"
            raise RecframeError(msg)
    return {name: str(value) for name, value in tags.items()}


def _portable(column: pl.Series) -> pl.Series:
    """Return a column with its categories as text, which stands in files whose categories differ."""
    return column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum) else column


def text(column: pl.Series) -> pl.Series:
    """Return a column of any dtype as text."""
    values = pl.DataFrame({"values": column}).select(as_text(pl.col("values"), column.dtype))
    return values.to_series().alias(column.name)
