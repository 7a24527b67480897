"""What the last runs of a history predict of the next: what a gate holds the numbers of a run against."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe.errors import RecframeError, shown
from recframe.frames.dtypes import as_text
from recframe.frames.hints import Either
from recframe.frames.kinds.lookup import kind_for
from recframe.tracking import kept
from recframe.tracking.definitions import OTHER_PARTS, read_definition, without_parts
from recframe.tracking.read_runs import Runs, Watched, numbered, read

if TYPE_CHECKING:
    from recframe.tracking.users_of_runs import UsersOfRuns

PREDICTED = {
    "window_n": pl.Float64,
    "window_mean": pl.Float64,
    "window_spread": pl.Float64,
    "window_errors": pl.Float64,
    "window_own": pl.Float64,
    "window_note": pl.String,
}
"""What is said of a number of the next run: see `windows.Windows`; and why it cannot be said."""
OTHERWISE = "the metric stands for something else than in the history"


@dataclass(frozen=True)
class Predictions:
    """What the last runs of a history predict of the next."""

    rows: pl.DataFrame
    """The columns that runs are split by, as text in their order, as `key 0` and on; `metric`, those of `PREDICTED`, and
    `in_each`: how many runs the window has, where each of them has the number of enough users, else null."""
    metrics: list[str]
    """The metrics that the history has."""
    known: pl.DataFrame
    """The numbers of runs that count, as `numbered` has them."""
    others: Mapping[str, str]
    """The last definition of each metric that no run has under the definition that is asked for, or with other parts."""
    shares: pl.DataFrame | None = None
    """Of a mix the shares of its segments in the window, as `mixes.Mixed` has them."""
    left_out: str | None = None
    """The note on runs that were not tracked by the mix."""
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
    """Return what the last runs predict of the next, for each segment, model and metric.

    Runs count that were split by these columns, and whose metric stood for the same, or for what nobody knows. `least` is how
    many users a number is of at least, for its absence to be told.
    """
    path = isinstance(given, str | os.PathLike)
    runs = read(kind_for(kept.runs(given) if path else given, "history="), how)
    wanted = set(definitions)
    rows = _of_split(runs, split if mix is None else [*split, mix])
    rows, shares = (
        (rows, None) if mix is None else _standardised(rows, len(split), mix, wanted, how)
    )
    names = rows["metric"].unique().sort().to_list()
    rows = rows.join(_meant(definitions), on="metric", maintain_order="left")
    definition, asked = pl.col("definition"), pl.col("meant")
    # of a result at hand nothing but the metric's name is known
    same = ((definition == asked) | (definition == pl.col("metric"))).fill_null(value=True)
    recut = without_parts(definition) == without_parts(asked)
    rows = rows.with_columns(same=same, recut=recut)
    keys = [f"key {place}" for place in range(len(split))]
    known = rows.filter("same").with_columns(definition=pl.lit(None, pl.String))
    known = numbered(known, keys)
    found = _next(known, [*keys, "metric"], how)
    why = pl.when(pl.col("recut").any()).then(pl.lit(OTHER_PARTS)).otherwise(pl.lit(OTHERWISE))
    others = rows.filter(~pl.col("same")).group_by(*keys, "metric").agg(window_note=why)
    otherwise = others.join(found, on=[*keys, "metric"], how="anti", nulls_equal=True)
    empty = [pl.lit(None, one).alias(name) for name, one in PREDICTED.items() if one != pl.String]
    whole = pl.concat([found, otherwise.with_columns(empty).select(found.columns)])
    in_each = _in_each_run(known, [*keys, "metric"], how, least)
    whole = whole.join(in_each, on=[*keys, "metric"], how="left", nulls_equal=True)
    left_out = None if mix is None else _left_out(_of_split(runs, split), known, mix)
    return Predictions(whole, names, known, _of_others(rows), shares, left_out)


def _meant(definitions: Mapping[str, str]) -> pl.DataFrame:
    return pl.DataFrame(
        {"metric": list(definitions), "meant": list(map(read_definition, definitions.values()))},
        schema={"metric": pl.String, "meant": pl.String},
    )


def _standardised(
    rows: pl.DataFrame, at: int, mix: str, metrics: set[str], how: Watched
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return runs that were tracked by a mix, standardised to the shares of the last window; or say that there are none."""
    from recframe.tracking.mixes import mixed, no_run_by  # noqa: PLC0415

    rows = rows.filter(pl.col("metric").is_in(list(metrics)))
    if rows.is_empty():
        raise no_run_by(mix)
    keys = [f"key {place}" for place in range(at + 1)]
    found = mixed(rows, keys, keys[-1], mix, pl.col("age") < how.window)
    return found.rows, found.shares


def _left_out(rows: pl.DataFrame, by_mix: pl.DataFrame, mix: str) -> str | None:
    """Return the note on runs that were tracked without a mix alone."""
    n = len(set(rows["as_of"]) - set(by_mix["as_of"]))
    return f"without {n} of the runs, which were not tracked by {mix!r}" if n else None


def _of_others(rows: pl.DataFrame) -> dict[str, str]:
    """Return the last definition of each metric of which no run counts, nor would with other parts."""
    of_metric = rows.group_by("metric").agg(
        pl.col("definition").sort_by("as_of", "tracked_at").last(),
        counts=(pl.col("same") | pl.col("recut")).any(),
    )
    return dict(of_metric.filter(~pl.col("counts")).select("metric", "definition").rows())


def _in_each_run(rows: pl.DataFrame, keys: Sequence[str], how: Watched, least: int) -> pl.DataFrame:
    """Return the numbers that every run of the trailing window has of enough users, with the number of these runs."""
    place = pl.col("as_of").rank("dense", descending=True).over("metric")
    window = rows.filter(place <= how.window)
    n_runs = window.group_by("metric").agg(in_each=pl.col("as_of").n_unique().cast(pl.Int64))
    enough = pl.col("n_users").is_null() | (pl.col("n_users") >= least)
    there = window.filter(pl.col("value").is_not_null() & enough)
    counts = there.group_by(keys).agg(n=pl.col("as_of").n_unique())
    found = counts.join(n_runs, on="metric").filter(pl.col("n") == pl.col("in_each"))
    return found.drop("n")


def _of_split(runs: Runs, split: Sequence[str]) -> pl.DataFrame:
    """Return the rows that were split by some columns alone, these as text under the names of their places."""
    names = runs.rows["split_by"].unique().to_list()
    wanted = sorted(", ".join(split).split(", ")) if split else None
    # a name may be empty, which is not none
    alike = [one for one in names if (one if one is None else sorted(one.split(", "))) == wanted]
    inside = dict(zip(runs.keys, runs.inside, strict=True))
    rows = runs.rows.filter(pl.col("split_by").is_in(alike, nulls_equal=True))
    schema = rows.schema
    # without a row there may be no column either
    keys = [
        as_text(pl.col(inside[one]), schema[inside[one]])
        if one in inside
        else pl.lit(None, pl.String)
        for one in split
    ]
    names = rows["name"].unique().sort().to_list()
    if len(names) > 1:
        some = f"history=rf.history(...).filter(name={shown(next(filter(None, names)))})"
        msg = f"the history has runs of several names, {', '.join(map(repr, names))}; take those of one: "
        raise RecframeError(msg + str(Either(some, "--name WORD")))
    taken = [one for one in rows.columns if not one.startswith("key ")]
    return rows.select(*taken, *(key.alias(f"key {place}") for place, key in enumerate(keys)))


def _next(rows: pl.DataFrame, keys: Sequence[str], how: Watched) -> pl.DataFrame:
    """Return what is said of the run behind the last one of each series."""
    from recframe.tracking.bands import Bands  # noqa: PLC0415  NumPy and SciPy are an extra
    from recframe.uncertainty.windows import least  # noqa: PLC0415

    last = rows.group_by("series", maintain_order=True).agg(
        pl.col(*keys).first(), place=pl.col("first").sum().cast(pl.Int64)
    )
    windows = Bands(rows, how.window).at(last["series"].to_numpy(), last["place"].to_numpy())
    columns = dict(zip(PREDICTED, windows, strict=False))
    found = last.select(*keys).with_columns(
        pl.Series(name, one, pl.Float64).fill_nan(None) for name, one in columns.items()
    )
    n = pl.col("window_n").cast(pl.Int64)
    runs = pl.when(n == 1).then(pl.lit("run")).otherwise(pl.lit("runs"))
    few = pl.format(
        "the history has {} {} of it, fewer than {}", n, runs, pl.lit(least(how.window))
    )
    return found.with_columns(window_note=pl.when(pl.col("window_mean").is_null()).then(few))
