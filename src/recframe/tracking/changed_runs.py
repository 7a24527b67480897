"""Changes of a history (`rf.changes`): runs outside the band of earlier runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

import polars as pl

from recframe.frames.kinds.lookup import kind_for
from recframe.statistics import options
from recframe.statistics.arrays import Numbers, np, numbers
from recframe.statistics.p_values import p_two_sided, t_quantile, t_statistic
from recframe.statistics.prediction import (
    FEWEST_RUNS,
    PARTS,
    Windows,
    distance,
    half_width,
    least,
    squared_error,
    widest,
    windows_of,
)
from recframe.statistics.summary import joined_notes
from recframe.tracking.histories import history as runs_at
from recframe.tracking.time_series import Runs, metric_of, runs_of, time_shown

if TYPE_CHECKING:
    import pandas as pd

F = TypeVar("F", pl.DataFrame, pl.LazyFrame, "pd.DataFrame")
COLUMNS = {
    **dict.fromkeys(("value", "value_low", "value_high"), pl.Float64),
    **dict.fromkeys(("expected", "expected_low", "expected_high", "change"), pl.Float64),
    "n_runs": pl.Int64,
    **dict.fromkeys(("p_value", "p_adjusted"), pl.Float64),
    "flagged": pl.Boolean,
    **dict.fromkeys(("verdict", "rule", "note"), pl.String),
}
"""Columns behind the keys."""
EXPECTED, OPEN = "as expected", "open"
WINDOW, LEVEL = 14, 0.99
USUAL = 0.95
"""Assumed level of tracked intervals, which a history does not store. Intervals of another level scale the standard
errors, but the spread between values counts as well."""


class Watched(NamedTuple):
    """Options of a watched history."""

    window: int
    level: float


@overload
def changes(
    history: str | os.PathLike[str], *, window: int = ..., level: float = ...
) -> pl.DataFrame: ...
@overload
def changes(history: F, *, window: int = ..., level: float = ...) -> F: ...
def changes(history: Any, *, window: int = WINDOW, level: float = LEVEL) -> Any:
    """Return each number of a history with its prediction from earlier runs, and whether it is flagged as a change.

    Of the last n runs of the window before a run, with mean m and standard deviation s, the band is m ± t · error, with t the
    quantile of Student's t with n - 1 degrees of freedom. The squared error is the largest of three:

        s² (1 + 1/n): the spread of these runs;
        the mean squared error of the predictions of these runs: larger where runs drift or are correlated;
        e² + ē²/n: the users of the run, with e its standard error and ē² the mean square of theirs.

    If e is above ē, as for a run of few users, e² - ē² is added to the first two. A run outside the band is *flagged*. The band
    is corrected for all numbers of the run (Bonferroni over the rows of one `as_of` and `name`), so that a run of m numbers
    raises false alarms as rarely as a single number; to watch few numbers, pass only these.

        history: the frame of `rf.history(...)` or a part of it, of any kind; or the path of a history.
        window: the number of earlier runs to compare with, 5 or more. Half of them are enough to begin.
        level: at 0.99 about one run in 100 is flagged without a change. Simulated, for one number and windows of 7 to 28 runs:
            0.6 to 1.1 in 100, whether runs are independent, correlated (AR(1) of .5 and .8) or their level drifts (up to 2.3 of
            the first ones, until prediction errors are known), and 2 to 4 where tails are heavy. A drop of 5 standard
            deviations is found by 14 runs in 94 of 100 cases, one of 3 in 46.

    A number is compared with those of the same `name`, segment, model and metric, in the order of `as_of`. Of several runs of
    one `as_of` the last one counts. Runs with the same fingerprint count as one, the first of them.
    Flagged runs stay in the window, but a run with a p value below .001 is left out of later windows, so that a broken day does
    not hide the next, until most runs of the window are like that: then the level is new.

    Columns: `as_of`, `name`, `fingerprint`, the columns of segments and models, `metric`, the value with its interval,
    `expected` with the band `expected_low` to `expected_high`, `change` (the value minus the expected one), `n_runs` in the
    window, `p_value`, `p_adjusted` for all numbers of the run, `flagged`, `verdict`, `rule`, `note`. The verdict is better or
    worse (higher or lower, for a metric without a direction), "as expected", or "open" with too few earlier runs, whose
    `flagged` is null.

    Raises a RecframeError for a frame that is not a history. It needs NumPy and SciPy, the extra recframe[stats]; a LazyFrame
    is collected.

    >>> import polars as pl, recframe as rf
    >>> days = pl.date_range(pl.date(2026, 11, 1), pl.date(2026, 11, 8), eager=True)
    >>> values = [0.30, 0.31, 0.29, 0.30, 0.31, 0.30, 0.29, 0.20]
    >>> runs = pl.DataFrame({"as_of": days, "metric": "ndcg@10", "value": values})
    >>> rf.changes(runs).tail(1).select("as_of", "value", "expected_low", "expected_high", "verdict")
    shape: (1, 5)
    ┌────────────┬───────┬──────────────┬───────────────┬─────────┐
    │ as_of      ┆ value ┆ expected_low ┆ expected_high ┆ verdict │
    │ ---        ┆ ---   ┆ ---          ┆ ---           ┆ ---     │
    │ date       ┆ f64   ┆ f64          ┆ f64           ┆ str     │
    ╞════════════╪═══════╪══════════════╪═══════════════╪═════════╡
    │ 2026-11-08 ┆ 0.2   ┆ 0.267639     ┆ 0.332361      ┆ worse   │
    └────────────┴───────┴──────────────┴───────────────┴─────────┘

    Source: Shewhart 1931 (charts of runs); Hahn 1969 (the interval of one more observation).
    """
    how, path = watched(window, level), isinstance(history, str | os.PathLike)
    kind = kind_for(runs_at(history) if path else history, "the first argument of changes()")
    runs = runs_of(kind)
    return kind.give(changed(runs, judged(runs, how)).lazy(), {})


def watched(window: object, level: object) -> Watched:
    """Return the window and the level, or raise an error where they are invalid."""
    sure = options.share("level", level, "0.99")
    return Watched(options.whole("window", window, FEWEST_RUNS), sure)


def judged(runs: Runs, how: Watched) -> pl.DataFrame:
    """Return the rows of a history with the columns of `changes`."""
    rows = _with_bands(runs.rows, how)
    return rows.with_columns(verdict=_verdict(), rule=_rule(how), note=_note(how))


def changed(runs: Runs, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of `changes` for rows that are judged."""
    inside = ["as_of", "name", "fingerprint", *runs.inside, "metric", *COLUMNS]
    names = ["as_of", "name", "fingerprint", *runs.keys, "metric", *COLUMNS]
    return pl.DataFrame(dict(zip(names, rows.select(inside), strict=True)))


def _with_bands(rows: pl.DataFrame, how: Watched) -> pl.DataFrame:
    """Return rows with predictions and the p values of deviations."""
    tested = pl.col("first") & (pl.col("place") >= least(how.window))
    tests = tested.sum().over("as_of", "name").cast(pl.Int64).clip(1)
    rows = rows.with_columns(tests=tests)
    own = _squared_errors(rows)
    found, own = _windows_of(rows, own, how.window), np.nan_to_num(own)
    n, squared = found.n.astype(np.int64), squared_error(found, own)
    half = half_width(squared, n, how.level, rows["tests"].to_numpy())
    change = distance(numbers(rows["value"].to_numpy()), found.mean)
    bands = {
        "expected": found.mean,
        "expected_low": found.mean - half,
        "expected_high": found.mean + half,
        "change": change,
        "n_runs": n,
        "p_value": p_two_sided(t_statistic(change, np.sqrt(squared)), found.n - 1.0),
        "n_far": np.minimum(rows["place"].to_numpy(), how.window) - n,
        "part": widest(found, own),
        "alike": squared == 0,
    }
    rows = rows.with_columns(*pl.DataFrame(bands).fill_nan(None))
    rows = rows.join(_metrics(rows), on="metric", how="left", maintain_order="left")
    return rows.with_columns(
        expected_low=pl.col("expected_low").clip(lower_bound=pl.col("least")),
        expected_high=pl.col("expected_high").clip(upper_bound=pl.col("most")),
        p_adjusted=(pl.col("p_value") * pl.col("tests")).clip(upper_bound=1.0),
    ).with_columns(flagged=pl.col("p_adjusted") <= 1.0 - how.level)


def _windows_of(rows: pl.DataFrame, errors: Numbers, window: int) -> Windows:
    """Return what the runs before each number predict of it."""
    places, series, values = (rows[one].to_numpy() for one in ("place", "series", "value"))
    first = rows["first"].to_numpy()
    windows = windows_of(places[first], series[first], values[first], errors[first], window)
    # of what stands behind the last run too
    return Windows(*(one[places, series] for one in windows))


def _squared_errors(rows: pl.DataFrame) -> Numbers:
    """Return the squared standard error of each value: by the spread of users, or by its interval, whichever is larger.

    Wilson's interval says how far 0 of 20 users may be from the next 20, where the spread says 0; and that of clusters is
    wider than the spread of users.
    """
    n = numbers(rows["n_users"].to_numpy())
    by_spread = numbers((rows["std"] ** 2).to_numpy()) / np.where(n > 0, n, np.nan)
    freedom = np.where(np.isnan(n), np.inf, n - 1.0)
    half = numbers(((rows["value_high"] - rows["value_low"]) / 2).to_numpy())
    by_interval = (half / t_quantile(USUAL, freedom)) ** 2
    return np.fmax(by_spread, by_interval)


def _metrics(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the metrics with their ranges, which limit bands, and their better ends."""
    names = rows["metric"].drop_nulls().unique(maintain_order=True).to_list()
    found = [(name, metric_of(name)) for name in names]
    known = [(one, *metric.range, metric.direction) for one, metric in found if metric]
    schema = {"metric": pl.String, "least": pl.Float64, "most": pl.Float64, "direction": pl.String}
    return pl.DataFrame(known, schema=schema, orient="row")


def _verdict() -> pl.Expr:
    """Return each row's verdict, in a word."""
    up, direction, flagged = pl.col("change") > 0, pl.col("direction"), pl.col("flagged")
    has_good, good = direction.is_in(["higher", "lower"]), (direction == "higher") == up
    words = {
        OPEN: flagged.is_null(),
        EXPECTED: ~flagged,
        "better": has_good & good,
        "worse": has_good,
        "higher": up,
    }
    told = [pl.when(holds).then(pl.lit(word)) for word, holds in words.items()]
    return pl.coalesce(*told, pl.lit("lower"))


def _rule(how: Watched) -> pl.Expr:
    """Return the rule that judges each row, null without one."""
    tests, level = pl.col("tests"), f"{how.level * 100:.6g} %"
    several = pl.format("{} numbers", tests)
    number = pl.when(tests == 1).then(pl.lit("one number")).otherwise(several)
    part = pl.col("part").replace_strict(dict(enumerate(PARTS)), return_dtype=pl.String)
    words = pl.format("t of {} runs, {} for {}: {}", "n_runs", pl.lit(level), number, part)
    return pl.when(pl.col("p_value").is_not_null()).then(words)


def _note(how: Watched) -> pl.Expr:
    """Return each row's note, null without one."""
    few, tests, known = pl.col("expected").is_null(), pl.col("tests"), pl.col("known")
    alone = (pl.col("p_value") <= 1.0 - how.level) & ~pl.col("flagged")
    n_runs = pl.col("n_runs")
    words = pl.when(n_runs == 1).then(pl.lit("run")).otherwise(pl.lit("runs"))
    before = pl.format("{} {} before it, fewer than {}", n_runs, words, pl.lit(least(how.window)))
    far = pl.format("without {} of the runs before, which are far off", "n_far")
    again = pl.format("the same data as on {}, and judged as then", time_shown(pl.col("of")))
    told = [
        pl.when(~known).then(pl.lit("it has no value")),
        pl.when(few).then(before),
        pl.when(~pl.col("first") & known).then(again),
        pl.when("twice").then(pl.lit("tracked with several data; the last one counts")),
        pl.when((pl.col("n_far") > 0) & ~few).then(far),
        pl.when(alone).then(
            pl.format("outside the band for one number, not after correcting for {}", tests)
        ),
        pl.when(pl.col("alike") & ~few).then(pl.lit("the runs before are all the same")),
    ]
    return joined_notes(told)
