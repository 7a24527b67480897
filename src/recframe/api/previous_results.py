"""Earlier results of `require(last=)`: summaries, and the latest run of a history."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import polars as pl

from recframe.errors import ColumnError, RecframeError, shown
from recframe.frames.dtypes import as_text
from recframe.frames.kinds.lookup import collected, kind_for
from recframe.statistics.requirements import GONE
from recframe.statistics.sums import BASELINE, MODEL, PLACE

NUMBERS = {
    "value": "other",
    "value_low": "other_low",
    "value_high": "other_high",
    "n_users": "other_n",
}
"""Columns that are read, with the names that they get."""
LOST = "lost"
"""Column of the keys' text, where one is no value of today's dtype."""
OTHERS = dict.fromkeys(NUMBERS.values(), pl.Float64)
TIMES = {pl.Date: "%Y-%m-%d", pl.Datetime: "%Y-%m-%d %H:%M:%S%.f"}


def earlier_rows(
    last: Any, names: Mapping[str, str], metrics: Collection[str], today: Callable[[], str]
) -> pl.DataFrame:
    """Return the keys, `metric` and the columns of `NUMBERS` of an earlier result; without a result no row.

    `names` has the keys' own names by those inside. `today` gives the fingerprint of today's data, whose runs in a history are
    not earlier ones.
    """
    from recframe.tracking.histories import OWN  # noqa: PLC0415  importing recframe should take no time

    if last is None:
        return pl.DataFrame(schema={"metric": pl.String, **OTHERS})
    kind_for(last, "last=")
    rows, by = collected(last), [*names.values()]
    if {*OWN} <= {*rows.columns}:
        rows = _latest_run(rows, by, metrics, today())
    for lacking in (name for name in ("metric", *NUMBERS) if name not in rows.columns):
        msg = f"the earlier result has no column {lacking!r}; it comes from summarize(...) or rf.history(...)"
        raise ColumnError(msg)
    keys = rows.columns[: rows.columns.index("metric")]
    for unlike in sorted({*keys}.symmetric_difference(by) - {names.get(MODEL)}):
        msg = f"the earlier result and this one are not both split by {unlike!r}; use the same by= for both"
        raise ColumnError(msg)
    inside = {name: key for key, name in names.items() if name in keys}
    taken = {**inside, "metric": "metric", **NUMBERS}
    found = pl.DataFrame([rows[name].alias(own) for name, own in taken.items()])
    return found.cast(OTHERS)


def _latest_run(
    history: pl.DataFrame, by: Sequence[str], metrics: Collection[str], today: str
) -> pl.DataFrame:
    """Return the latest run of a history that has one of the metrics, split by these columns, as a summary.

    Runs of today's data, which have the fingerprint `today`, do not count: today's run may be tracked already.
    """
    from recframe.tracking.histories import NULL, OF_SUMMARY, keys_of  # noqa: PLC0415  importing recframe should take no time

    keys = keys_of(history.columns)
    counts = history["metric"].is_in(metrics) & history["fingerprint"].ne_missing(today)
    for key in keys:
        counts &= history[key].is_null() != (key in by)
    runs = history.filter(counts).filter(pl.col("as_of") == pl.col("as_of").max())
    names = runs["name"].unique().sort().to_list()
    if len(names) > 1:
        some = f"last=rf.history(...).filter(name={shown(next(filter(None, names)))})"
        msg = f"the latest runs of the history have several names, {', '.join(map(repr, names))}; choose one: {some}"
        raise RecframeError(msg)
    numbers = [runs[OF_SUMMARY.get(name, name)].alias(name) for name in ("metric", *NUMBERS)]
    return pl.DataFrame([*(runs[key].replace(NULL, None) for key in keys if key in by), *numbers])


def with_earlier(
    rows: pl.DataFrame, earlier: pl.DataFrame, asked: pl.DataFrame, min_users: int
) -> pl.DataFrame:
    """Return sums with the numbers of an earlier result, and rows that only that has, with a note in `gone`.

    An earlier row counts for each requirement of its metric, but not for one that is about the row's own model.
    """
    keys = earlier.columns[: earlier.columns.index("metric")]
    on = [*keys, LOST, PLACE]
    then = _in_dtypes(earlier, keys, rows.schema).join(asked, on="metric")
    if MODEL in keys:
        is_baseline = as_text(pl.col(MODEL), then.schema[MODEL]) == pl.col(BASELINE)
        then = then.filter(~is_baseline.fill_null(value=False))
    then = then.select(*on, *NUMBERS.values())
    here = rows.with_columns(pl.lit(None, pl.String).alias(LOST), here=True)
    both = here.join(then, on=on, how="full", coalesce=True, nulls_equal=True)
    n, nobody = pl.col("other_n"), pl.col("n").fill_null(0) == 0
    counts = pl.col("other").is_not_null() & (n.fill_null(min_users) >= min_users)
    users, lost = n.cast(pl.Int64).cast(pl.String).fill_null("some"), pl.col(LOST).fill_null("")
    note = pl.format("in the earlier result, of {} users, but not in today's{}", users, lost)
    gone = pl.when(nobody & counts).then(note)
    return (
        both.with_columns(gone.alias(GONE))
        .filter(pl.col("here") | pl.col(GONE).is_not_null())
        .drop("here")
    )


def _in_dtypes(earlier: pl.DataFrame, keys: Sequence[str], today: pl.Schema) -> pl.DataFrame:
    """Return earlier rows with keys in today's dtypes, and all keys as text where one is no value of its dtype.

    A row that stands twice, as of two runs of one moment, counts as it was written last.
    """
    texts = {key: as_text(pl.col(key), earlier.schema[key]) for key in keys}
    values = {
        key: pl.col(key) if earlier.schema[key] == today[key] else _of_text(text, today[key])
        for key, text in texts.items()
    }
    lost = (value.is_null() & pl.col(key).is_not_null() for key, value in values.items())
    named = pl.concat_str(*texts.values(), pl.lit(""), separator=", ", ignore_nulls=True)
    # NOTE: in one chunk, since Polars 1 panics where it puts texts of empty chunks together
    return (
        earlier.rechunk()
        .with_columns(
            *(value.alias(key) for key, value in values.items()),
            pl.when(pl.any_horizontal(pl.lit(value=False), *lost)).then(named).alias(LOST),
        )
        .unique([*keys, LOST, "metric"], keep="last", maintain_order=True)
    )


def _of_text(text: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return a key in its dtype from its text, null where the dtype has no such value, as a category that is gone."""
    if dtype == pl.Boolean:
        words = {"true": True, "false": False}
        return text.replace_strict(words, default=None, return_dtype=pl.Boolean)
    if dtype.base_type() in TIMES:
        written = text.str.replace("T", " ", literal=True)
        return written.str.strptime(dtype, TIMES[dtype.base_type()], strict=False)
    if dtype.is_nested() or dtype.is_temporal() or dtype == pl.Binary:
        return pl.lit(None, dtype)
    return text.cast(dtype, strict=False)
