"""Earlier results of `require(last=)`: summaries, and the latest run of a history."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import polars as pl

from recframe.api.request import Question
from recframe.charts.long_format import texts
from recframe.errors import ColumnError, DataError, RecframeError, shown
from recframe.frames.dtypes import as_text
from recframe.frames.kinds.kind import collected, kind_for
from recframe.statistics.requirements import GONE
from recframe.statistics.sums import BASELINE, MODEL, PLACE

NUMBERS = {
    "value": "other",
    "value_low": "other_low",
    "value_high": "other_high",
    "n_users": "other_n",
}
"""Columns that are read, with the names that they get."""
OTHERS = dict.fromkeys(NUMBERS.values(), pl.Float64)
TRUTHS = {"true": True, "false": False}


def earlier_rows(last: Any, of: Question, dtypes: pl.Schema) -> pl.DataFrame:
    """Return the keys in today's dtypes, `metric` and the columns `OTHERS` of an earlier result; without a result no row.

    A row that stands twice, as of two runs of one moment, counts as it was written last.
    """
    from recframe.tracking.histories import OWN  # noqa: PLC0415  importing recframe should take no time

    if last is None:
        return pl.DataFrame(schema={"metric": pl.String, **OTHERS})
    kind_for(last, "last=")
    rows, by = collected(last), [*of.by.values()]
    if {*OWN} <= {*rows.columns}:
        rows = _latest_run(rows, of, by)
    lacking = [name for name in ("metric", *NUMBERS) if name not in rows.columns]
    if lacking:
        raise ColumnError(
            f"the earlier result has no column {lacking[0]!r}; it comes from summarize(...) or rf.history(...)"
        )
    split = rows.columns[: rows.columns.index("metric")]
    unlike = sorted(({*split} ^ {*by}) - {str(of.by.get(MODEL))})
    if unlike:
        raise ColumnError(
            f"the earlier result and this one are not both split by {unlike[0]!r}; use the same by= for both"
        )
    keys = {key: _in_dtype(rows[name], dtypes[key]) for key, name in of.by.items() if name in split}
    numbers = {own: rows[name].cast(pl.Float64) for name, own in NUMBERS.items()}
    found = pl.DataFrame({**keys, "metric": rows["metric"], **numbers})
    return found.unique([*keys, "metric"], keep="last", maintain_order=True)


def _latest_run(history: pl.DataFrame, of: Question, by: Sequence[str]) -> pl.DataFrame:
    """Return the latest run of a history that has one of the metrics, split by these columns, as a summary.

    Runs of today's data, by their fingerprint, do not count: today's run may be tracked already.
    """
    from recframe.tracking.fingerprints import fingerprint  # noqa: PLC0415  importing recframe should take no time
    from recframe.tracking.histories import NULL, OF_SUMMARY, keys_of  # noqa: PLC0415

    # frames of engines have none
    today = "" if of.kind.all_users is not None else fingerprint(of.inputs)
    keys = keys_of(history.columns)
    counts = history["metric"].is_in([*map(str, of.metrics)])
    counts &= history["fingerprint"].ne_missing(today)
    for key in keys:
        counts &= history[key].is_null() != (key in by)
    runs = history.filter(counts).filter(pl.col("as_of") == pl.col("as_of").max())
    names = runs["name"].unique().sort().to_list()
    if len(names) > 1:
        one = next(filter(None, names))
        raise RecframeError(
            f"the latest runs of the history have several names, {', '.join(map(repr, names))}; choose one: "
            f"last=rf.history(...).filter(name={shown(one)})"
        )
    split = [pl.col(key).replace(NULL, None) for key in keys if key in by]
    named = {own: name for name, own in OF_SUMMARY.items()}
    return runs.rename(named).select(*split, "metric", *NUMBERS)


def _in_dtype(column: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Return a column in another dtype by the text of its values, or say that it has none of them."""
    if column.dtype == dtype:
        return column
    text = texts(column)
    found = text.clear(len(text))
    with suppress(pl.exceptions.PolarsError):  # where no text is a value of it
        if dtype == pl.Boolean:
            found = text.replace_strict(TRUTHS, default=None, return_dtype=dtype)
        elif isinstance(dtype, pl.Date | pl.Datetime):
            found = text.str.strptime(dtype, strict=False)
        else:
            found = text.cast(dtype, strict=False)
    lost = text.filter(found.is_null() & text.is_not_null())
    if len(lost):
        raise DataError(
            f"the earlier result has {column.name} {lost[0]!r}, which is no value of today's dtype, {dtype}; cast one of them"
        )
    return found


def with_earlier(
    rows: pl.DataFrame, earlier: pl.DataFrame, asked: pl.DataFrame, min_users: int
) -> pl.DataFrame:
    """Return sums with the numbers of an earlier result, and rows that only that has, with a note in `gone`.

    An earlier row counts for each requirement of its metric, but not for one that is about the row's own model.
    """
    on = [*earlier.columns[: earlier.columns.index("metric")], PLACE]
    then = earlier.join(asked, on="metric")
    if MODEL in on:
        is_baseline = as_text(pl.col(MODEL), then.schema[MODEL]) == pl.col(BASELINE)
        then = then.filter(~is_baseline.fill_null(value=False))
    then = then.select(*on, *OTHERS)
    here = rows.with_columns(here=True)
    both = here.join(then, on=on, how="full", coalesce=True, nulls_equal=True)
    n, nobody = pl.col("other_n"), pl.col("n").fill_null(0) == 0
    counts = pl.col("other").is_not_null() & (n.fill_null(min_users) >= min_users)
    users = n.cast(pl.Int64).cast(pl.String).fill_null("some")
    note = pl.format("in the earlier result, of {} users, but not in today's", users)
    gone = pl.when(nobody & counts).then(note)
    return both.with_columns(gone.alias(GONE)).filter(pl.col("here") | pl.col(GONE).is_not_null())
