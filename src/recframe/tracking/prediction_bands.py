"""Predictions of runs from earlier ones, standardised to a mix if wanted."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe.errors import RecframeError, shown
from recframe.evaluation.required_columns import is_of_segment
from recframe.frames.collecting import stream
from recframe.frames.dtypes import as_text
from recframe.frames.hints import Either
from recframe.frames.kinds.lookup import kind_for
from recframe.statistics.arrays import Numbers, np, numbers
from recframe.statistics.mixes import SEGMENT, shares_moved, weighted
from recframe.statistics.p_values import t_quantile
from recframe.statistics.prediction import Windows, series_of
from recframe.statistics.prediction import least as fewest
from recframe.tracking import histories
from recframe.tracking.definitions import PARTS, read_definition
from recframe.tracking.time_series import Runs, Watched, metric_of, numbered, read

if TYPE_CHECKING:
    from recframe.tracking.user_values import UsersOfRuns

USUAL = 0.95
"""Assumed level of tracked intervals, which a history does not store. Intervals of another level scale the standard
errors, but the spread between values counts as well."""


def windows_of(rows: pl.DataFrame, at: pl.DataFrame, window: int) -> Windows:
    """Return what the runs before some numbers predict of them, or those of a whole series of the next.

    `rows` has for each number the columns `series`, `place` in it, `first` (whether the number stands at its place itself),
    `value`, `value_low`, `value_high`, `std` and `n_users`; `at` has `series` and `place`.
    """
    rows = rows.filter("first")
    places, series, values = (rows[one].to_numpy() for one in ("place", "series", "value"))
    windows = series_of(places, series, values, squared_errors(rows), window).windows
    wanted = at["place"].to_numpy(), at["series"].to_numpy()
    return Windows(*(one[wanted] for one in windows))


def squared_errors(rows: pl.DataFrame) -> Numbers:
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


def counted_runs(n: pl.Expr) -> pl.Expr:
    """Return a number of runs in words."""
    return pl.format("{} {}", n, pl.when(n == 1).then(pl.lit("run")).otherwise(pl.lit("runs")))


def check_mix(mix: object) -> str:
    """Return the name of the column of a mix, or say that it is none."""
    if not isinstance(mix, str) or not mix:
        msg = f"mix={shown(mix)}: mix takes the name of a column of users, such as 'country'"
        raise RecframeError(msg)
    return mix


def no_run_by(mix: str) -> RecframeError:
    """Return the error of a history without a run tracked by a mix."""
    msg = f"mix={mix!r}: no run of the history has these metrics by {mix!r}; track them: rec.track(..., by={mix!r})"
    return RecframeError(msg)


def no_column_of_users(mix: str) -> RecframeError:
    """Return the error of a mix that is a property of items or of the truth."""
    msg = f"mix={mix!r} is a column of items or the truth, not of users; name one of users, such as their country"
    return RecframeError(msg)


def no_mean(metric: str, mix: str) -> RecframeError:
    """Return the error of a metric that no shares of users make up."""
    msg = (
        f"mix={mix!r}: {metric} is not a built-in mean over users, so it cannot be standardised by shares of users; leave it "
        "out"
    )
    return RecframeError(msg)


def mixed(
    rows: pl.DataFrame, keys: Sequence[str], at: str, mix: str, window: pl.Expr
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return runs that were split by a mix as those of all its users, who are as many in each segment as in the window.

    `at` is the column of the mix among the rows' keys; `window` says by `age`, 0 for the last run of a series, which runs are
    in the window. A segment that a run lacks counts in it with the mean of its values. A note says which shares moved. The
    second frame has the shares: the other keys, `metric`, `segment` as text, its `weight`, and the `mean` of its values.
    """
    _check(rows, mix)
    of = ["name", "split_by", *(key for key in keys if key != at), "metric", "k", "definition"]
    run, about = [*of, "as_of"], ["run", "fingerprint", "tracked_at"]
    users = pl.col("n_users")
    rows = numbered(rows.filter(pl.col("value").is_not_null()), keys)
    rows = rows.with_columns(
        pl.Series("error", squared_errors(rows), pl.Float64).fill_nan(None),
        as_text(pl.col(at), rows.schema[at]).alias(SEGMENT),
        share=users / users.sum().over(*of, "as_of"),
        age=pl.col("as_of").rank("dense", descending=True).over(of).cast(pl.Int64) - 1,
    )
    shares = _shares(rows.filter(window), of)
    numbers = rows.select(*run, SEGMENT, "value", "error", "n_users", "value_low", "value_high")
    runs = rows.select(*run, *about).unique(run, keep="first", maintain_order=True)
    every = runs.join(shares, on=of, nulls_equal=True)
    every = every.join(numbers, on=[*run, SEGMENT], how="left", nulls_equal=True)
    # in one order, whose sums have the same last bits each time
    ordered = every.with_columns(mean=pl.coalesce("value", "mean")).sort(*run, SEGMENT)
    whole = ordered.group_by(run, maintain_order=True).agg(pl.col(about).first(), **weighted())
    now = rows.lazy().select(*run, SEGMENT, n="n_users")
    others = pl.col("split_by").str.split(", ").list.set_difference([mix]).list.join(", ")
    notes = stream(shares_moved(now, shares.lazy(), run, of, mix))
    standard = whole.join(notes, on=run, nulls_equal=True).with_columns(
        std=(pl.col("error") * users).sqrt(),
        split_by=pl.when(others != "").then(others),
        definition=_without_part(pl.col("definition"), mix),
    )
    return standard.drop("error"), shares


def of_mix(runs: Runs, how: Watched, mix: object) -> Runs:
    """Return the runs that were tracked by a mix, standardised to the shares of the window before the last of them."""
    name = check_mix(mix)
    if how.of != "value":
        msg = f"of={how.of!r}: mix={name!r} works only for values, which are means over users; leave one of them out"
        raise RecframeError(msg)
    is_by_mix = pl.col("split_by").str.split(", ").list.contains(name)
    rows = runs.rows.filter(is_by_mix.fill_null(value=False))
    if rows.is_empty():
        raise no_run_by(name)
    at = dict(zip(runs.keys, runs.inside, strict=True))[name]
    age = pl.col("age")
    in_window = age.is_between(1, how.window) | (age.max() == 0)
    found, _ = mixed(rows, runs.inside, at, name, in_window)
    kept = {one: key for one, key in zip(runs.inside, runs.keys, strict=True) if one != at}
    again = {one: f"key {place}" for place, one in enumerate(kept)}
    return Runs(numbered(found.rename(again), [*again.values()]), [*kept.values()])


def _without_part(definition: pl.Expr, mix: str) -> pl.Expr:
    """Return definitions of parts that are not cut by a mix."""
    rest = definition.str.replace(f"{mix!r} of rows", "", literal=True)
    rest = rest.str.replace(f"{PARTS}, ", PARTS, literal=True).str.replace(
        ", , ", ", ", literal=True
    )
    return rest.str.strip_suffix(", ").str.strip_suffix(PARTS)


def _shares(window: pl.DataFrame, of: Sequence[str]) -> pl.DataFrame:
    """Return the mean share of each segment in the runs of a window, 0 where a run lacks it, and the mean of its values."""
    runs = window.with_columns(n_runs=pl.col("as_of").n_unique().over(of))
    # in one order, whose sums have the same last bits each time
    sums = runs.sort(*of, SEGMENT, "as_of").group_by(*of, SEGMENT, maintain_order=True)
    share = pl.col("share").sum() / pl.col("n_runs").first()
    return sums.agg(weight=share, mean=pl.col("value").mean())


def _check(rows: pl.DataFrame, mix: str) -> None:
    """Reject numbers that cannot be standardised: no means over users, or a mix that is no column of users."""
    for text in rows["metric"].unique().sort().to_list():
        metric = metric_of(text)
        if metric is None or is_of_segment(metric):
            raise no_mean(text, mix)
    named = pl.col("definition").str
    of_users = ~named.contains(f"{mix!r} of items", literal=True)
    of_users &= ~named.contains(f"{mix!r} of the truth", literal=True)
    if not rows.filter(pl.col("definition").is_not_null()).select(of_users.all()).item():
        raise no_column_of_users(mix)
    if rows["n_users"].null_count():
        msg = f"mix={mix!r} needs numbers of users, but runs of the history have none in 'n_users'"
        raise RecframeError(msg)


OTHERWISE = "the metric has another definition than in the history"


@dataclass(frozen=True)
class Predictions:
    """Predictions of the next run from the last runs of a history."""

    rows: pl.DataFrame
    """The columns that runs are split by, as text in their order, as `key 0` and on; `metric`, those of `prediction.Windows`
    behind `window_`, `window_note`, which says why there are none, and
    `in_each`: how many runs the window has, where each of them has the number of enough users, else null."""
    metrics: list[str]
    """The metrics that the history has."""
    known: pl.DataFrame
    """Numbers of the runs that count, from `numbered`."""
    others: Mapping[str, str]
    """Last definition of each metric without runs of the requested definition."""
    shares: pl.DataFrame | None = None
    """Segment shares of a mix in the window, from `mixes.Mixed`."""
    left_out: str | None = None
    """Note on runs tracked without the mix."""
    mix: str | None = None
    """The column of users whose shares values are standardised to."""
    users: UsersOfRuns | None = None
    """Users' means; None where the history has no users' values, or no plan has all users at once."""


def predictions(
    given: Any,
    how: Watched,
    split: Sequence[str],
    definitions: Mapping[str, str],
    least: int = 1,
    mix: str | None = None,
) -> Predictions:
    """Predict the next run from the last ones, for each segment, model and metric.

    Runs count that were split by these columns, and whose metric stood for the same, or for what nobody knows. `least` is how
    many users a number is of at least, for its absence to be told.
    """
    path = isinstance(given, str | os.PathLike)
    runs = read(kind_for(histories.runs(given) if path else given, "history="), how)
    keys = [f"key {place}" for place in range(len(split))]
    of = [*keys, "metric"]
    rows, shares = _of_split(runs, split if mix is None else [*split, mix]), None
    if mix is not None:
        rows = rows.filter(pl.col("metric").is_in(list(definitions)))
        if rows.is_empty():
            raise no_run_by(mix)
        last = f"key {len(keys)}"
        rows, shares = mixed(rows, [*keys, last], last, mix, pl.col("age") < how.window)
    names = rows["metric"].unique().sort().to_list()
    rows = _compared(rows, definitions)
    known = rows.filter("same").with_columns(definition=pl.lit(None, pl.String))
    known = numbered(known, keys)
    found = _next(known, of, how)
    others = (
        rows.filter(~pl.col("same")).select(of).unique().with_columns(window_note=pl.lit(OTHERWISE))
    )
    otherwise = others.join(found, on=of, how="anti", nulls_equal=True)
    whole = pl.concat([found, otherwise], how="diagonal")
    in_each = _in_each_run(known, of, how, least)
    whole = whole.join(in_each, on=of, how="left", nulls_equal=True)
    left_out = None
    if mix is not None:
        n = len(set(_of_split(runs, split)["as_of"]) - set(known["as_of"]))
        left_out = f"without {n} of the runs, which were not tracked by {mix!r}" if n else None
    last_of = rows.group_by("metric").agg(
        pl.col("definition").sort_by("as_of", "tracked_at").last(),
        counts=pl.col("same").any(),
    )
    unlike = dict(last_of.filter(~pl.col("counts")).select("metric", "definition").rows())
    return Predictions(whole, names, known, unlike, shares, left_out, mix)


def _compared(rows: pl.DataFrame, definitions: Mapping[str, str]) -> pl.DataFrame:
    """Return rows of metrics with whether they stood for the same as now."""
    meant = {metric: read_definition(one) for metric, one in definitions.items()}
    definition, metric = pl.col("definition"), pl.col("metric")
    # of a result at hand nothing but the metric's name is known
    same = definition == metric.replace_strict(meant, default=None, return_dtype=pl.String)
    return rows.with_columns(same=(same | (definition == metric)).fill_null(value=True))


def _in_each_run(rows: pl.DataFrame, of: Sequence[str], how: Watched, least: int) -> pl.DataFrame:
    """Return the numbers that every run of the trailing window has of enough users, with the number of these runs."""
    place, n_runs = pl.col("as_of").rank("dense", descending=True), pl.col("as_of").n_unique()
    window = rows.filter(place.over("metric") <= how.window)
    window = window.with_columns(in_each=n_runs.over("metric").cast(pl.Int64))
    enough = pl.col("n_users").fill_null(least) >= least
    there = window.filter(pl.col("value").is_not_null() & enough)
    found = there.group_by(of).agg(pl.col("in_each").first(), n=n_runs)
    return found.filter(pl.col("n") == pl.col("in_each")).drop("n")


def _of_split(runs: Runs, split: Sequence[str]) -> pl.DataFrame:
    """Return the rows that were split by some columns alone, these as text under the names of their places."""
    names, split_by = sorted(", ".join(split).split(", ")), pl.col("split_by")
    # a name may be empty, which is not none
    is_same = split_by.str.split(", ").list.sort().list.join(", ") == ", ".join(names)
    rows = runs.rows.filter(is_same if split else split_by.is_null())
    inside = dict(zip(runs.keys, runs.inside, strict=True))
    named = rows["name"].unique().sort().to_list()
    if len(named) > 1:
        some = f"history=rf.history(...).filter(name={shown(next(filter(None, named)))})"
        msg = f"the history has runs of several names, {', '.join(map(repr, named))}; choose one: "
        raise RecframeError(msg + str(Either(some, "--name WORD")))
    # without a row there may be no column either
    texts = {
        f"key {place}": as_text(pl.col(inside[one]), rows.schema[inside[one]])
        if one in inside
        else pl.lit(None, pl.String)
        for place, one in enumerate(split)
    }
    return rows.select(pl.exclude(runs.inside), **texts)


def _next(rows: pl.DataFrame, of: Sequence[str], how: Watched) -> pl.DataFrame:
    """Return the window statistics after the last run of each series."""
    last = rows.group_by("series", maintain_order=True).agg(
        pl.col(*of).first(), place=pl.col("first").sum().cast(pl.Int64)
    )
    windows = windows_of(rows, last, how.window)._asdict()
    found = last.select(of).with_columns(
        pl.Series(f"window_{part}", one, pl.Float64).fill_nan(None) for part, one in windows.items()
    )
    runs = counted_runs(pl.col("window_n").cast(pl.Int64))
    few = pl.format("the history has {} of it, fewer than {}", runs, pl.lit(fewest(how.window)))
    return found.with_columns(window_note=pl.when(pl.col("window_mean").is_null()).then(few))
