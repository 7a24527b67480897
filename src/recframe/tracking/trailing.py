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
from recframe.tracking.bands import windows_of
from recframe.tracking.changed_runs import counted_runs
from recframe.tracking.definitions import OTHER_PARTS, read_definition, without_parts
from recframe.tracking.mixes import mixed, no_run_by
from recframe.tracking.read_runs import Runs, Watched, numbered, read
from recframe.uncertainty.windows import least as fewest

if TYPE_CHECKING:
    from recframe.tracking.users_of_runs import UsersOfRuns

OTHERWISE = "the metric stands for something else than in the history"


@dataclass(frozen=True)
class Predictions:
    """What the last runs of a history predict of the next."""

    rows: pl.DataFrame
    """The columns that runs are split by, as text in their order, as `key 0` and on; `metric`, those of `windows.Windows`
    behind `window_`, `window_note`, which says why there are none, and
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
    why = pl.when(pl.col("recut").any()).then(pl.lit(OTHER_PARTS)).otherwise(pl.lit(OTHERWISE))
    others = rows.filter(~pl.col("same")).group_by(of).agg(window_note=why)
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
        counts=(pl.col("same") | pl.col("recut")).any(),
    )
    unlike = dict(last_of.filter(~pl.col("counts")).select("metric", "definition").rows())
    return Predictions(whole, names, known, unlike, shares, left_out, mix)


def _compared(rows: pl.DataFrame, definitions: Mapping[str, str]) -> pl.DataFrame:
    """Return rows of metrics with whether they stood for the same as now, or for the same with other parts."""
    meant = {"metric": list(definitions), "meant": list(map(read_definition, definitions.values()))}
    wanted = pl.DataFrame(meant, schema={"metric": pl.String, "meant": pl.String})
    definition, asked = pl.col("definition"), pl.col("meant")
    # of a result at hand nothing but the metric's name is known
    same = (definition == asked) | (definition == pl.col("metric"))
    recut = without_parts(definition) == without_parts(asked)
    rows = rows.join(wanted, on="metric", maintain_order="left")
    return rows.with_columns(same=same.fill_null(value=True), recut=recut)


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
    names = runs.rows["split_by"].unique().to_list()
    wanted = sorted(", ".join(split).split(", ")) if split else None
    # a name may be empty, which is not none
    alike = [one for one in names if (one if one is None else sorted(one.split(", "))) == wanted]
    inside = dict(zip(runs.keys, runs.inside, strict=True))
    rows = runs.rows.filter(pl.col("split_by").is_in(alike, nulls_equal=True))
    named = rows["name"].unique().sort().to_list()
    if len(named) > 1:
        some = f"history=rf.history(...).filter(name={shown(next(filter(None, named)))})"
        msg = f"the history has runs of several names, {', '.join(map(repr, named))}; take those of one: "
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
    """Return what is said of the run behind the last one of each series."""
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
