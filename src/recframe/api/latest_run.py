"""The latest run of a history, with which `require(last=)` compares."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.errors import ColumnError, RecframeError, shown
from recframe.tracking.histories import OF_SUMMARY, OWN, keys_of


def latest_run(
    history: pl.DataFrame, by: Sequence[str], metrics: Sequence[str], today: str
) -> pl.DataFrame:
    """Return the latest run of a history that has one of the metrics, split by these columns, as a summary.

    Runs of today's data, which have the fingerprint `today`, do not count: today's run may be tracked already.
    """
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
