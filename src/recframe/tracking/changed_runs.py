"""Changes of a history: numbers outside the band of the runs before."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import polars as pl

from recframe.errors import ColumnError, DataError
from recframe.frames import options
from recframe.frames.kinds.kind import collected
from recframe.statistics.estimates import np, t_quantile
from recframe.tracking.histories import OF_RUN, OWN, keys_of
from recframe.tracking.histories import history as runs_at

NUMBER = "number of the history"
"""Column of numbers of a name, metric, model and segment."""
OF_NUMBER = ("metric", "value", "low", "high", "n")
"""Columns of a number, before those of its verdict."""
OF_VERDICT = {
    **dict.fromkeys(("expected", "expected_low", "expected_high", "change"), pl.Float64),
    "n_runs": pl.Int64,
    "verdict": pl.String,
    "note": pl.String,
}
"""Columns of the verdict of a number."""
CHANGED, AS_BEFORE, OPEN = "changed", "as before", "open"
WINDOW, LEVEL = 14, 0.99
FEWEST = 5
"""Fewest earlier runs of a verdict, and of a window."""
WIDE = 0.2
"""Share of its middle above which half of a band is too wide to say that nothing changed."""
FAR = 3.0
"""Standard errors of a number by which it leaves the range of the runs before it, at least."""
ROUNDING = 1e-12
"""Share of the middle below which numbers differ by rounding alone."""


def changes(history: Any, *, window: int = WINDOW, level: float = LEVEL) -> pl.DataFrame:
    """Return each number of a history with the band of the runs before it, and whether it changed.

    Of the last n runs before a run, with mean m and standard deviation s, the band is m ± t · error, with t the quantile of
    Student's t with n - 1 degrees of freedom. The squared error is s² (1 + 1/n), or e², with e the standard error of the
    run's own number by its interval, where that is larger.

        history: the frame of `rf.history(...)` or a part of it; or the path of a history.
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

    Raises a RecframeError for a frame that is not a history. It needs NumPy and SciPy, the extra recframe[stats].

    >>> import polars as pl, recframe as rf, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> for day, hits in enumerate([600, 620, 580, 610, 590, 605, 595, 400], 1):
    ...     lists = pl.select(user=pl.int_range(2000), item=1, rank=1)
    ...     lists = lists.with_columns(relevance=(pl.col("user") < hits).cast(pl.Int8))
    ...     tracked = lists.rec.track("hit_rate@1", history=folder, as_of=f"2026-11-{day:02}")
    >>> rf.changes(folder).tail(2).select("as_of", "value", "expected_low", "expected_high", "verdict")
    shape: (2, 5)
    ┌─────────────────────┬────────┬──────────────┬───────────────┬───────────┐
    │ as_of               ┆ value  ┆ expected_low ┆ expected_high ┆ verdict   │
    │ ---                 ┆ ---    ┆ ---          ┆ ---           ┆ ---       │
    │ datetime[μs]        ┆ f64    ┆ f64          ┆ f64           ┆ str       │
    ╞═════════════════════╪════════╪══════════════╪═══════════════╪═══════════╡
    │ 2026-11-07 00:00:00 ┆ 0.2975 ┆ 0.25922      ┆ 0.341613      ┆ as before │
    │ 2026-11-08 00:00:00 ┆ 0.2    ┆ 0.266845     ┆ 0.333155      ┆ changed   │
    └─────────────────────┴────────┴──────────────┴───────────────┴───────────┘

    Source: Hahn 1969 (the interval of one more observation).
    """
    window, level = options.whole("window", window, FEWEST), options.share("level", level, "0.99")
    rows = _numbers(runs_of(history, "changes"))
    earlier: dict[int, list[float]] = defaultdict(list)
    places: dict[tuple[int, str], int] = {}
    verdicts = []
    numbers = rows.select(NUMBER, "fingerprint", "value", _error(rows["n"]))
    for number, data, value, error in numbers.rows():
        before, verdict = earlier[number], {"verdict": OPEN, "note": "it has no value"}
        if value is not None and math.isfinite(value):
            # of the same data as an earlier run: those before that one
            place = places.setdefault((number, data), len(before)) if data else len(before)
            verdict = _verdict(value, error, before[:place], window, level)
            if place < len(before):
                verdict["note"] = "the same data as an earlier run, compared with those before it"
            else:
                before.append(value)
        verdicts.append(verdict)
    judged = rows.hstack(pl.DataFrame(verdicts, schema=OF_VERDICT))
    return judged[[*OF_RUN, *keys_of(rows.drop(NUMBER).columns), *OF_NUMBER, *OF_VERDICT]]


def runs_of(history: Any, call: str) -> pl.DataFrame:
    """Return the runs of a history, a frame or the path of one, or say that it is none."""
    is_path = isinstance(history, str | os.PathLike)
    runs = runs_at(history) if is_path else collected(history, f"the first argument of {call}()")
    for missing in (name for name in OWN if name not in runs.columns):
        msg = f"{call} takes a history, a frame of rf.history('history.parquet') or its path; found a frame without {missing!r}"
        raise ColumnError(f"{msg}, of the columns {', '.join(runs.columns)}")
    return runs


def _numbers(runs: pl.DataFrame) -> pl.DataFrame:
    """Return the numbers of runs by time, each once a time, and which is which in the column `NUMBER`."""
    as_of, value = runs["as_of"], pl.col("value")
    if not as_of.dtype.is_temporal() or as_of.has_nulls():
        msg = f"the column 'as_of' has times, and no null; found {as_of.dtype}: pl.col('as_of').str.to_datetime(), and drop "
        raise DataError(msg + "rows without a time")
    # NOTE: without expressions, since the names of some columns are patterns to Polars
    names = runs[["name", *keys_of(runs.columns), "metric"]].rows()
    places: dict[Any, int] = {}
    number = pl.Series(NUMBER, [places.setdefault(one, len(places)) for one in names])
    rows = runs.with_columns(number).sort("as_of", maintain_order=True)
    mixed = rows.filter((value.min() < value.max()).over(NUMBER, "as_of", "fingerprint"))
    for metric, time in mixed.select("metric", "as_of").rows():
        msg = f"the history has several values of {metric} for {time}, and no column to distinguish them: "
        raise DataError(msg + "keep the columns of models and segments, or filter the rows of one")
    return rows.unique([NUMBER, "as_of"], keep="last", maintain_order=True)


def _error(n: pl.Series) -> pl.Expr:
    """Return the standard error of numbers of n users by their intervals, 0 where there is none."""
    # NOTE: a history does not store the level of its intervals: that of `track`, unless it was called with another
    t = pl.Series(t_quantile(0.95, n.fill_null(0) - 1))
    half = (pl.col("high") - pl.col("low")) / 2
    return (half / t).fill_nan(None).fill_null(0.0)


def _verdict(
    value: float, error: float, before: Sequence[float], window: int, level: float
) -> dict[str, Any]:
    """Return the verdict of a number with a standard error, and the band of the numbers before it."""
    last = before[-window:]
    n = len(last)
    if n < FEWEST:
        return {"n_runs": n, "verdict": OPEN, "note": f"fewer than {FEWEST} runs before it"}
    mean, spread = np.mean(last), np.std(last, ddof=1) * (1 + 1 / n) ** 0.5
    half = float(t_quantile(level, n - 1) * max(spread, error))
    change, rounding = value - mean, ROUNDING * abs(mean)
    lowest, highest = min(before), max(before)
    beyond, width = max(lowest - value, value - highest), max(highest - lowest, FAR * error)
    verdict, note = AS_BEFORE, None
    if abs(change) > half + rounding or beyond > width + rounding:
        verdict, note = CHANGED, "up" if change > 0 else "down"
    elif half > WIDE * abs(mean):
        verdict, note = OPEN, "a fall of a fifth would not show"
    columns = mean, mean - half, mean + half, change, n, verdict, note
    return dict(zip(OF_VERDICT, columns, strict=True))
