"""The mix of users: numbers of runs standardised to the shares that the segments of users have in a window."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from recframe.errors import RecframeError, shown
from recframe.frames.collecting import stream
from recframe.frames.dtypes import as_text
from recframe.plan.needs import is_of_segment
from recframe.tracking.bands import squared_errors
from recframe.tracking.definitions import PARTS
from recframe.tracking.read_runs import Runs, Watched, metric_of, numbered
from recframe.uncertainty.mixes import SEGMENT, shares_moved


def check_mix(mix: object) -> str:
    """Return the name of the column of a mix, or say that it is none."""
    if not isinstance(mix, str) or not mix:
        msg = f"mix={shown(mix)}: mix takes the name of a column of users, such as 'country'"
        raise RecframeError(msg)
    return mix


def no_run_by(mix: str) -> RecframeError:
    """Return the error of a history in which no run was tracked by a mix."""
    msg = f"mix={mix!r}: no run of the history has these metrics by {mix!r}; track them: rec.track(..., by={mix!r})"
    return RecframeError(msg)


def no_column_of_users(mix: str) -> RecframeError:
    """Return the error of a mix of items, or of what was liked."""
    msg = f"mix={mix!r} is no column of users, but of items or the truth; name one of users, such as their country"
    return RecframeError(msg)


def no_mean(metric: str, mix: str) -> RecframeError:
    """Return the error of a metric that no shares of users make up."""
    msg = f"mix={mix!r}: {metric} is no mean over users that is known here, so no shares of users make it up; leave it out"
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
    found = _segments(numbered(rows.filter(pl.col("value").is_not_null()), keys), at, of)
    shares = _shares(found.filter(window), of)
    numbers = found.select(*run, SEGMENT, "value", "own", "n_users", "value_low", "value_high")
    first = found.group_by(run, maintain_order=True).agg(pl.col(about).first())
    every = first.select(run).join(shares, on=of, nulls_equal=True)
    every = every.join(numbers, on=[*run, SEGMENT], how="left", nulls_equal=True)
    weight, users, value = pl.col("weight"), pl.col("n_users").sum(), pl.col("value")
    half = (pl.col("value_high") - pl.col("value_low")) / 2
    # in one order, whose sums have the same last bits each time
    whole = (
        every.sort(*run, SEGMENT)
        .group_by(run, maintain_order=True)
        .agg(
            value=(weight * pl.coalesce("value", "mean")).sum(),
            n_users=users,
            std=((weight**2 * pl.col("own")).sum() * users).sqrt(),
            half=(weight**2 * half**2).sum().sqrt(),
        )
    )
    now = found.lazy().select(*run, SEGMENT, n="n_users")
    notes = stream(shares_moved(now, shares.lazy(), run, of, mix))
    standard = whole.join(first, on=run, nulls_equal=True).join(notes, on=run, nulls_equal=True)
    standard = standard.with_columns(
        value_low=value - pl.col("half"),
        value_high=value + pl.col("half"),
        split_by=_without(mix),
        definition=_without_part(pl.col("definition"), mix),
    )
    return standard.drop("half"), shares


def of_mix(runs: Runs, how: Watched, mix: object) -> Runs:
    """Return the runs that were tracked by a mix, standardised to the shares of the window before the last of them."""
    name = check_mix(mix)
    if how.of != "value":
        msg = f"of={how.of!r}: a mix={name!r} is of values, which alone are means over users; leave one of them out"
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


def _segments(rows: pl.DataFrame, at: str, of: Sequence[str]) -> pl.DataFrame:
    """Return runs' numbers of segments with their squared errors, shares of the users, and ages."""
    users = pl.col("n_users")
    return rows.with_columns(
        pl.Series("own", squared_errors(rows), pl.Float64).fill_nan(None),
        as_text(pl.col(at), rows.schema[at]).alias(SEGMENT),
        share=users / users.sum().over(*of, "as_of"),
        age=pl.col("as_of").rank("dense", descending=True).over(of).cast(pl.Int64) - 1,
    )


def _without(mix: str) -> pl.Expr:
    """Return the names of columns without that of the mix, null where there is no other."""
    others = pl.col("split_by").str.split(", ").list.set_difference([mix]).list.join(", ")
    return pl.when(others != "").then(others)


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
    """Say which numbers cannot be standardised: those that are no means over users, or whose mix is no column of users."""
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
        msg = f"mix={mix!r} takes the numbers of users, and runs of the history have none in 'n_users'"
        raise RecframeError(msg)
