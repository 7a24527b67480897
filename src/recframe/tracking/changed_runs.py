"""Changes of a history: numbers outside the band of the runs before."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

import polars as pl

from recframe.errors import ColumnError, DataError
from recframe.frames.collecting import stream
from recframe.frames.kinds.kind import Kind
from recframe.frames.kinds.lookup import kind_for
from recframe.statistics import options
from recframe.statistics.arrays import np
from recframe.statistics.estimates import t_quantile
from recframe.tracking.histories import NUMBERS, OF_RUN, OF_SUMMARY, OWN, keys_of
from recframe.tracking.histories import history as runs_at

if TYPE_CHECKING:
    import pandas as pd

Verdict = dict[str, Any]
F = TypeVar("F", pl.DataFrame, pl.LazyFrame, "pd.DataFrame")
OF_VERDICT = {
    **dict.fromkeys(("expected", "expected_low", "expected_high", "change"), pl.Float64),
    "n_runs": pl.Int64,
    "verdict": pl.String,
    "note": pl.String,
}
"""Columns of the verdict of a number."""
OF_NUMBER = ("metric", "value", "low", "high", "n")
"""Columns of a number, before those of its verdict."""
CHANGED, AS_BEFORE, OPEN = "changed", "as before", "open"
WINDOW, LEVEL = 14, 0.99
FEWEST = 5
"""Fewest earlier runs of a verdict, and of a window."""
WIDE = 0.2
"""Share of its middle above which half of a band is too wide to say that nothing changed."""
FAR = 3.0
"""Standard errors of a number by which it leaves the range of the runs before it, at least."""
USUAL = 0.95
"""Level of tracked intervals, which a history does not store: that of `track`, unless it was called with another."""
ROUNDING = 1e-12
"""Share of the middle below which numbers differ by rounding alone."""


@overload
def changes(
    history: str | os.PathLike[str], *, window: int = ..., level: float = ...
) -> pl.DataFrame: ...
@overload
def changes(history: F, *, window: int = ..., level: float = ...) -> F: ...
def changes(history: Any, *, window: int = WINDOW, level: float = LEVEL) -> Any:
    """Return each number of a history with the band of the runs before it, and whether it changed.

    Of the last n runs before a run, with mean m and standard deviation s, the band is m ± t · error, with t the quantile of
    Student's t with n - 1 degrees of freedom. The squared error is s² (1 + 1/n), or e², with e the standard error of the
    run's own number, where that is larger.

        history: the frame of `rf.history(...)` or a part of it, of any kind; or the path of a history.
        window: the number of earlier runs to compare with, 5 or more.
        level: the probability that one more run like those before lies in the band.

    The verdict of a number is

        changed: it is outside the band, or it left the range of all earlier runs by more than the width of that range and by
            more than 3 e. The sign of `change` says up or down.
        open: there are fewer than 5 earlier runs, or the number is in a band that is wider than ± 20 % of its middle, so that
            a fall of a fifth would not show.
        as before: it is in the band.

    Of 2,000 simulated histories of 8 to 30 runs without a change, in at most 2.5 % the newest run is *changed*, and in at
    most 25 % any run, also where each run depends on the one before (AR(1) of .5). Each number is judged by itself: of many
    numbers some change by chance.

    A number is compared with those of the same `name`, segment, model and metric. Of several runs of one `as_of` the last one
    counts. Of runs with the same fingerprint, the same data, the first one counts, and all are compared with those before it.

    Columns: `as_of`, `name`, `fingerprint`, the columns of segments and models, `metric`, `value`, `low`, `high`, `n`
    (users), `expected` (m) with the band `expected_low` to `expected_high`, `change` (the value minus m), `n_runs`, `verdict`,
    `note`.

    Raises a RecframeError for a frame that is not a history. It needs NumPy and SciPy, the extra recframe[stats]; a LazyFrame
    is collected.

    >>> import polars as pl, recframe as rf
    >>> days = pl.date_range(pl.date(2026, 11, 1), pl.date(2026, 11, 8), eager=True)
    >>> values = [0.30, 0.31, 0.29, 0.30, 0.31, 0.30, 0.29, 0.20]
    >>> runs = pl.DataFrame({"as_of": days, "metric": "ndcg@10", "value": values})
    >>> rf.changes(runs).tail(2).select("as_of", "value", "expected_low", "expected_high", "verdict")
    shape: (2, 5)
    ┌────────────┬───────┬──────────────┬───────────────┬───────────┐
    │ as_of      ┆ value ┆ expected_low ┆ expected_high ┆ verdict   │
    │ ---        ┆ ---   ┆ ---          ┆ ---           ┆ ---       │
    │ date       ┆ f64   ┆ f64          ┆ f64           ┆ str       │
    ╞════════════╪═══════╪══════════════╪═══════════════╪═══════════╡
    │ 2026-11-07 ┆ 0.29  ┆ 0.268882     ┆ 0.334452      ┆ as before │
    │ 2026-11-08 ┆ 0.2   ┆ 0.267639     ┆ 0.332361      ┆ changed   │
    └────────────┴───────┴──────────────┴───────────────┴───────────┘

    Source: Hahn 1969 (the interval of one more observation).
    """
    kind = kind_of(history, "changes")
    return kind.give(changed(kind, window, level).lazy(), {})


def kind_of(history: Any, call: str) -> Kind:
    """Return the kind of a history, a frame or the path of one, or say that it is none."""
    path = isinstance(history, str | os.PathLike)
    kind = kind_for(runs_at(history) if path else history, f"the first argument of {call}()")
    columns = [*map(str, kind.columns)]
    for missing in sorted({"as_of", "metric", "value"} - {*columns}):
        msg = f"{call} takes a history, a frame of rf.history('history.parquet') or its path; found a frame without "
        raise ColumnError(msg + f"{missing!r}, of the columns {', '.join(columns)}")
    return kind


def changed(kind: Kind, window: int = WINDOW, level: float = LEVEL) -> pl.DataFrame:
    """Return the columns of `changes` for the rows of a history."""
    window, level = options.whole("window", window, FEWEST), options.share("level", level, "0.99")
    quantiles = t_quantile(level, np.arange(window + 1) - 1).tolist()
    keys = {f"key {place}": one for place, one in enumerate(keys_of(map(str, kind.columns)))}
    rows = _numbers(kind, keys)
    number = pl.struct("name", *keys, "metric").rank("dense")
    numbers = rows.select(number, "fingerprint", "value", _standard_error(rows["n"]))
    earlier: dict[int, list[float]] = defaultdict(list)
    places: dict[tuple[int, str], int] = {}
    verdicts = []
    for series, data, value, error in numbers.rows():
        before, verdict = earlier[series], {"verdict": OPEN, "note": "it has no value"}
        if value is not None and math.isfinite(value):
            # of the same data as an earlier run: those before that one
            place = places.setdefault((series, data), len(before)) if data else len(before)
            verdict = _verdict(value, error, before[:place], window, quantiles)
            if place == len(before):
                before.append(value)
            else:
                verdict["note"] = "the same data as an earlier run, compared with those before it"
        verdicts.append(verdict)
    judged = rows.hstack(pl.DataFrame(verdicts, schema=OF_VERDICT))
    return judged.select(*OF_RUN, *keys, *OF_NUMBER, *OF_VERDICT).rename(keys)


def _numbers(kind: Kind, keys: dict[str, str]) -> pl.DataFrame:
    """Return the numbers of a history by time, each once a time, with the columns that it may lack."""
    named = {OF_SUMMARY.get(one, one): one for one in kind.columns}
    taken = {name: one for name, one in named.items() if name in OWN} | keys
    rows = stream(kind.take(taken, numbers=NUMBERS).lazy())
    as_of, value = rows["as_of"], pl.col("value")
    if not as_of.dtype.is_temporal() or as_of.has_nulls():
        msg = f"the column 'as_of' has times, and no null; found {as_of.dtype}: pl.col('as_of').str.to_datetime(), and drop "
        raise DataError(msg + "rows without a time")
    lacking = pl.DataFrame(schema=OWN).drop("as_of")
    rows = pl.concat([rows, lacking], how="diagonal_relaxed").sort("as_of", maintain_order=True)
    number = ["as_of", "name", *keys, "metric"]
    mixed = rows.filter((value.min() < value.max()).over("fingerprint", *number))
    for metric, time in mixed.select("metric", "as_of").rows():
        msg = f"the history has several values of {metric} for {time}, and no column to distinguish them: "
        raise DataError(msg + "keep the columns of models and segments, or filter the rows of one")
    return rows.unique(number, keep="last", maintain_order=True)


def _standard_error(n: pl.Series) -> pl.Expr:
    """Return the standard error of numbers of n users, by their interval or their spread, 0 where neither is known.

    The larger counts: Wilson's interval says how far 0 of 20 users may be from the next 20, where the spread says 0.
    """
    t = pl.Series(t_quantile(USUAL, n.fill_null(math.inf) - 1))
    of_interval = (pl.col("high") - pl.col("low")) / 2 / t
    error = pl.max_horizontal(of_interval, pl.col("std") / pl.col("n").sqrt())
    return error.fill_nan(0.0).fill_null(0.0)


def _verdict(
    value: float, error: float, before: Sequence[float], window: int, quantiles: Sequence[float]
) -> Verdict:
    """Return the verdict of a number with a standard error, and the band of the numbers before it."""
    last = before[-window:]
    n = len(last)
    if n < FEWEST:
        return {"n_runs": n, "verdict": OPEN, "note": f"fewer than {FEWEST} runs before it"}
    mean = math.fsum(last) / n
    spread = math.fsum((one - mean) ** 2 for one in last) / (n - 1)
    half = quantiles[n] * math.sqrt(max(spread * (1 + 1 / n), error**2))
    change, rounding = value - mean, ROUNDING * abs(mean)
    lowest, highest = min(before), max(before)
    beyond, gap = max(lowest - value, value - highest), max(highest - lowest, FAR * error)
    verdict, note = AS_BEFORE, None
    if abs(change) > half + rounding or beyond > gap + rounding:
        verdict, note = CHANGED, "up" if change > 0 else "down"
    elif half > WIDE * abs(mean):
        verdict, note = OPEN, "a fall of a fifth would not show"
    found = mean, mean - half, mean + half, change, n, verdict, note
    return dict(zip(OF_VERDICT, found, strict=True))
