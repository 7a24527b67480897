"""Earlier results of `require(last=)`: summaries, and the latest run of a history."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import polars as pl

from recframe.errors import ColumnError, RecframeError, shown, shown_in_plan, worded
from recframe.frames.dtypes import as_text
from recframe.frames.kinds.kind import Kind
from recframe.frames.kinds.lookup import collected, kind_for
from recframe.statistics.requirements import ROW, Gate
from recframe.statistics.sums import BASELINE, MODEL, PLACE, USERS

NUMBERS = {
    "other": "value",
    "other_low": "value_low",
    "other_high": "value_high",
    "other_n": "n_users",
}
"""Columns that are read, by the names of `ROW`."""
NULL = "null"
"""Text of a key that is null, also in the files of histories."""
LOST = "lost"
"""Column of the keys' text where one is no value of today's dtype."""
BEFORE = "in the earlier result, of ", " users, but not in today's"
TEXTUAL = (pl.String, pl.Categorical, pl.Enum)  # a tuple: an Enum's hash is not that of pl.Enum
"""Dtypes other than numbers to which text can be cast."""


def with_earlier(
    rows: pl.LazyFrame, last: Any, names: Mapping[str, str], gate: Gate, today: Callable[[], str]
) -> pl.LazyFrame:
    """Return rows of `requirements.ROW` with the earlier values, and those that only the earlier result has.

    `names` has the keys' own names by those in the rows. Keys are read from text where a file kept no dtypes. `today` gives
    the fingerprint of today's data, whose runs in a history are not earlier ones.
    """
    dtypes, kind = rows.collect_schema(), kind_for(last, "last=")
    if "as_of" in kind.columns:
        metrics = [str(one.metric) for one in gate.requirements]
        kind = kind_for(latest_run(collected(last), [*names.values()], metrics, today()))
    then = _read(kind, names)
    keys = [key for key in names if key in then.collect_schema()]
    earlier = _at_places(_in_dtypes(then, keys, dtypes), gate, dtypes)
    on = [*keys, LOST, PLACE]
    here = rows.drop(NUMBERS).with_columns(pl.lit(None, pl.String).alias(LOST), here=True)
    both = here.join(earlier, on=on, how="full", coalesce=True, nulls_equal=True)
    n, is_here = pl.col("other_n"), pl.col("here").is_not_null()
    was_there = pl.any_horizontal(pl.col(*NUMBERS).is_not_null())
    gone = was_there & pl.col("value").is_null() & (n.is_null() | (n >= gate.min_users))
    places = [place for place, one in enumerate(gate.requirements) if gate.is_earlier(one)]
    # NOTE: sums of texts, since Polars 1 panics where it formats a column with an empty chunk
    told = worded(BEFORE[0], n.cast(pl.Int64).cast(pl.String).fill_null("some"), BEFORE[1])
    told = pl.when(pl.col(LOST).is_null()).then(told).otherwise(worded(told, ": ", pl.col(LOST)))
    return (
        both.filter(is_here | gone)
        .with_columns(
            missing=gone,
            note=pl.when(gone).then(told).otherwise("note"),
            users=pl.when(is_here).then(USERS).otherwise(0),
        )
        .with_columns(pl.when(pl.col(PLACE).is_in(places)).then(pl.col(*NUMBERS)))
        .select(*names, *ROW)
    )


def _in_dtypes(then: pl.LazyFrame, keys: Sequence[str], today: pl.Schema) -> pl.LazyFrame:
    """Return earlier rows with keys in today's dtypes, and all keys as text where one is no value of its dtype."""
    there, lost = then.collect_schema(), [pl.lit(value=False)]
    texts = {key: as_text(pl.col(key), there[key]).fill_null(NULL) for key in keys}
    casts = {}
    for key, text in texts.items():
        is_same = there[key] == today[key]
        known = pl.col(key) if is_same else _of_text(text, today[key])
        casts[key] = pl.when(text != NULL).then(known)
        lost.append(casts[key].is_null() & (text != NULL))
    named = pl.lit(None, pl.String)
    if keys:
        parts = map(shown_in_plan, texts.values())
        named = reduce(lambda one, other: worded(one, ", ", other), parts)
    return then.select(
        *(one.alias(key) for key, one in casts.items()),
        pl.when(pl.any_horizontal(lost)).then(named).alias(LOST),
        "metric",
        *(pl.col(name).cast(ROW[name]) for name in NUMBERS),
    ).unique([*keys, LOST, "metric"], keep="last", maintain_order=True)


def _at_places(rows: pl.LazyFrame, gate: Gate, dtypes: pl.Schema) -> pl.LazyFrame:
    """Return rows of metrics once for each requirement of them, with its place, but those of its baseline."""
    model = as_text(pl.col(MODEL), dtypes[MODEL]) if MODEL in rows.collect_schema() else pl.lit("")
    places = {PLACE: pl.Int64, "metric": pl.String, BASELINE: pl.String}
    asked = [
        (place, str(one.metric), None if gate.is_earlier(one) else one.model)
        for place, one in enumerate(gate.requirements)
    ]
    found = rows.join(pl.LazyFrame(asked, places, orient="row"), on="metric").drop("metric")
    is_baseline = (model == pl.col(BASELINE)).fill_null(value=False)
    return found.filter(~is_baseline).drop(BASELINE)


def _read(kind: Kind, names: Mapping[str, str]) -> pl.LazyFrame:
    """Return the keys, `metric` and the columns of `NUMBERS` of an earlier result."""
    columns = [*map(str, kind.columns)]
    for lacking in (one for one in ("metric", *NUMBERS.values()) if one not in columns):
        msg = f"the earlier result has no column {lacking!r}; it comes from summarize(...) or rf.history(...)"
        raise ColumnError(msg)
    for lacking in (name for key, name in names.items() if name not in columns and key != MODEL):
        msg = f"the earlier result has no column {lacking!r}; use the same by= for both"
        raise ColumnError(msg)
    taken = {key: name for key, name in names.items() if name in columns}
    taken |= {"metric": "metric", **NUMBERS}
    keys = [] if "as_of" in columns else columns[: columns.index("metric")]
    for beyond in (one for one in keys if one not in names.values()):
        msg = (
            f"the earlier result is split by {beyond!r}, this one is not; use the same by= for both"
        )
        raise RecframeError(msg)
    return kind.take(taken).lazy()


def latest_run(
    history: pl.DataFrame, by: Sequence[str], metrics: Sequence[str], today: str
) -> pl.DataFrame:
    """Return the latest run of a history that has one of the metrics, split by these columns, as a summary.

    Runs of today's data, which have the fingerprint `today`, do not count: today's run may be tracked already.
    """
    from recframe.tracking.histories import OF_SUMMARY, OWN, keys_of  # noqa: PLC0415  importing recframe should take no time

    for lacking in sorted({*OWN} - {*history.columns}):
        msg = f"the earlier result has 'as_of', but no column {lacking!r}; a history comes from rf.history(...)"
        raise ColumnError(msg)
    counts = history["metric"].is_in(metrics) & history["fingerprint"].ne_missing(today)
    for key in keys_of(history.columns):
        counts &= history[key].is_null() != (key in by)
    runs = history.filter(counts)
    runs = runs.filter(pl.col("as_of") == pl.col("as_of").max())
    names = runs["name"].unique().sort().to_list()
    if len(names) > 1:
        some = f"last=rf.history(...).filter(name={shown(next(filter(None, names)))})"
        msg = f"the latest runs of the history have several names, {', '.join(map(repr, names))}; choose one: {some}"
        raise RecframeError(msg)
    return runs.rename({name: of_summary for of_summary, name in OF_SUMMARY.items()})


def _of_text(text: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return a key in its dtype from its text, null where the dtype has no such value, as a category that is gone."""
    if dtype == pl.Boolean:
        return pl.when(text.is_in(["true", "false"])).then(text == "true")
    if isinstance(dtype, pl.Datetime):
        read = text.str.to_datetime(time_unit=dtype.time_unit, strict=False)
        return read.dt.replace_time_zone(dtype.time_zone)
    if dtype == pl.Date:
        return text.str.to_date("%Y-%m-%d", strict=False)
    if dtype.is_numeric() or dtype in TEXTUAL:
        return text.cast(dtype, strict=False)
    return pl.lit(None).cast(dtype)
