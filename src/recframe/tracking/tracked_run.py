"""A run as it stands in a history: its rows, with when they hold, what they were made of, and a key that a rerun has too."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timezone
from hashlib import sha256
from typing import Any

import polars as pl

import recframe
from recframe.errors import ColumnError, RecframeError, shown
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
"""What stands before the columns of a result, behind which those of its tags stand. `columns` are those of the result: rows of
a summary and of a comparison that speak of one thing are apart by it. `split_by` follows from them where a history is read.
`tracked_from` is the library whose frames were tracked, null for Polars."""
UNSEEN = ("columns", "tracked_from")
"""Those that a history is read by, and does not show."""
LAST_KEY = "k"
"""The column of a tidy result up to which its columns say what the numbers are about."""
TAG = re.compile(r"[A-Za-z_]\w*", re.ASCII)
KEY_DIGITS = 16
Table = tuple[pl.LazyFrame, list[str]]
"""Rows of a history, and those of their columns that say what numbers are about."""
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
    """What is tracked at once: the rows of a tidy result, and what is known of them all."""

    rows: pl.DataFrame
    as_of: datetime
    fingerprint: str | None
    name: str | None
    tags: Mapping[str, str]
    definitions: Mapping[str, str]
    """What each metric stands for, by its string."""
    tracked_from: str | None = None
    """The library whose frames were tracked; None for Polars."""

    @property
    def key(self) -> str:
        """What a rerun has too, so that it replaces this one.

        NOTE: the metrics and the columns are part of it, since one day's data may be tracked in several calls; that rows of
        both are the latest of their kind alone is seen to where they are read.
        """
        asked = self.rows.select("metric", LAST_KEY).unique().sort("metric", LAST_KEY).rows()
        said = [self.as_of.isoformat(), self.fingerprint, self.name, self.rows.columns, asked]
        return sha256("\n".join(map(str, said)).encode()).hexdigest()[:KEY_DIGITS]

    def table(self, now: datetime | None = None) -> pl.DataFrame:
        """Return the rows as a history has them."""
        about = {
            "as_of": self.as_of,
            "name": self.name,
            "run": self.key,
            "fingerprint": self.fingerprint,
            "tracked_at": now or _in_utc(datetime.now(timezone.utc)),
            "recframe": recframe.__version__,
            "polars": pl.__version__,
        }
        before = [pl.lit(value, ABOUT[name]).alias(name) for name, value in about.items()]
        metric = pl.col("metric").cast(pl.String)
        known = list(self.definitions)
        meant = metric.replace(known, [self.definitions[one] for one in known])
        columns = pl.lit(json.dumps(self.rows.columns, ensure_ascii=False)).alias("columns")
        library = pl.lit(self.tracked_from, pl.String).alias("tracked_from")
        tags = [pl.lit(value).alias(f"tag_{name}") for name, value in self.tags.items()]
        about_each = self.rows.select("metric").select(
            *before, meant.alias("definition"), columns, library, *tags
        )
        # NOTE: as columns, since names such as "^.*$" are patterns to Polars
        return pl.DataFrame([*about_each.get_columns(), *map(_portable, self.rows.get_columns())])


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
    """Return a run, or say what is wrong with what is told of it."""
    missing = [one for one in ("metric", LAST_KEY) if one not in rows.columns]
    if missing:
        msg = f"{TO_TRACK}; found a frame without {missing[0]!r}, of the columns {', '.join(rows.columns)}"
        raise RecframeError(msg)
    if name is not None and (not isinstance(name, str) or not name):
        msg = f"name={shown(name)}: name takes a word for the run, such as name='nightly'"
        raise RecframeError(msg)
    words = _tags({} if tags is None else tags)
    for column in rows.columns:
        if column in ABOUT or column.startswith("tag_"):
            msg = f"column {column!r} is also the name of one that a history has; rename the column before"
            raise ColumnError(msg)
    return Run(rows, moment(as_of), fingerprint, name, words, definitions or {}, tracked_from)


def keys_of(columns: Sequence[str]) -> list[str]:
    """Return the columns of a tidy result, or of a history's table, that say what its numbers are about."""
    own = [one for one in columns if one not in ABOUT and not one.startswith("tag_")]
    return own[: own.index(LAST_KEY) + 1]


def moment(as_of: object) -> datetime:
    """Return the time that a result holds for, in UTC without a zone; a date is its first moment, text is ISO 8601."""
    found = _parsed(as_of) if isinstance(as_of, str) else as_of
    # NOTE: pandas' NaT is a datetime, and the one that is not itself
    if isinstance(found, datetime) and found == found:  # noqa: PLR0124
        return _in_utc(datetime.fromisoformat(found.isoformat(timespec="microseconds")))
    if isinstance(found, date) and not isinstance(found, datetime):
        return datetime(found.year, found.month, found.day)  # noqa: DTZ001  which is UTC
    msg = f"{Given('as_of', as_of)} is no time that a result holds for; write {AS_OF}"
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
    """Return tags as text by their names, or say what they are to be."""
    if not isinstance(tags, Mapping):
        msg = f"tags={shown(tags)}: tags takes words by their names, such as tags={{'team': 'search'}}"
        raise RecframeError(msg)
    for name in tags:
        if not isinstance(name, str) or not TAG.fullmatch(name):
            msg = f"tags={shown(dict(tags))}: {shown(name)} is no name of a tag; write letters, digits and _"
            raise RecframeError(msg)
    return {name: str(value) for name, value in tags.items()}


def _portable(column: pl.Series) -> pl.Series:
    """Return a column with its categories as text, which stands in files whose categories differ."""
    return column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum) else column
