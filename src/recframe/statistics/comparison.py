"""`rec.compare`: models compared with a baseline by paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from recframe.frames.dtypes import as_text
from recframe.statistics.arrays import Flags, Numbers, np, ratio
from recframe.statistics.moments import Ends, Moments, Sums, Trainings
from recframe.statistics.options import Correction
from recframe.statistics.p_values import (
    adjusted,
    least_p,
    p_above,
    p_below,
    p_two_sided,
    t_quantile,
    t_statistic,
)
from recframe.statistics.pairs import BASELINE, MODEL, USERS
from recframe.statistics.summary import (
    FEW,
    FEW_VALUES,
    ONE_CLUSTER,
    columns_of,
)

COLUMNS = columns_of(
    "metric verdict difference difference_low difference_high value baseline_value relative "
    "p_value p_adjusted p_not_worse p_equivalent n_users note"
)
"""Columns after the keys; those of a margin only where it is given."""
OF_MARGIN = ("p_not_worse", "p_equivalent")
COUNTS = columns_of("wins ties losses n_differ n_unpaired")
"""Numbers of users, which reports have too: better off, equal and worse off than with the baseline, those whose two values
differ, and those with only one of them."""


@dataclass(frozen=True)
class Comparing:
    """How models are compared."""

    level: float = 0.95
    margin: float | None = None
    correction: Correction | None = "holm"
    min_users: int = 5
    """Minimum users, or clusters, per row to be tested; the numbers are given anyway."""
    cluster: str | None = None
    """Column of clusters: users within one are correlated."""

    @property
    def columns(self) -> dict[str, type[pl.DataType]]:
        """The columns of the result behind its keys."""
        dropped = OF_MARGIN if self.margin is None else ()
        return {name: dtype for name, dtype in COLUMNS.items() if name not in dropped}

    @property
    def units(self) -> str:
        """The independent units in words: users, also where they stand in several folds, or clusters."""
        return "users" if self.cluster in {None, "user"} else "clusters"


def compared(cells: pl.DataFrame, keys: Sequence[str], how: Comparing) -> pl.DataFrame:
    """Return a row for each segment, model and metric, from sums over pairs of users' values; see `Sums`."""
    sums = Sums(cells, keys)
    moments = sums.moments(how.cluster)
    of = Direction.of(sums.rows)
    found = _numbers(sums, moments, of, how)
    found |= _tested(moments, found["few"], how)
    not_worse = not_better = np.full(len(sums.rows), np.nan)
    if how.margin is not None:
        not_worse, not_better = _within(moments, how.margin, of.higher, sums.ends)
    found["p_not_worse"] = np.where(of.directed, not_worse, np.nan)
    found["p_not_better"] = np.where(of.directed, not_better, np.nan)
    found["p_equivalent"] = np.maximum(not_worse, not_better)
    found["verdict"] = verdicts(found, of, 1.0 - how.level)
    single = {} if moments.trainings is None else _of_one_training(sums, moments.trainings)
    found["note"] = _notes(found, moments, of, how, single)
    for name in ("wins", "ties", "losses"):  # of values that users have
        found[name] = np.where(of.of_each, found[name], np.nan)
    return sums.long(found, how.columns | COUNTS)


class Direction(NamedTuple):
    """Better end of each row's metric, and whether it has one."""

    higher: Flags
    directed: Flags
    of_each: Flags
    """Whether the metric has users' values."""

    @classmethod
    def of(cls, rows: pl.DataFrame) -> Direction:
        """Return those of rows in long form."""
        return cls(*(rows[name].to_numpy() for name in cls._fields))


def _numbers(sums: Sums, moments: Moments, of: Direction, how: Comparing) -> dict[str, Any]:
    """Return the numbers that the moments determine."""
    difference = moments.difference
    half = t_quantile(how.level, moments.freedom) * moments.standard_error
    of_users = moments if how.cluster is None else sums.moments()
    n_users = sums.column(USERS) if USERS in sums.rows.columns else moments.n
    above, ties = sums.column("wins"), sums.column("ties")
    below = n_users - above - ties
    return {
        "value": ratio(moments.a + moments.d, moments.n),
        "baseline_value": ratio(moments.a, moments.n),
        "difference": difference,
        "difference_low": difference - half,
        "difference_high": difference + half,
        "relative": moments.relative,
        "varies": of_users.std > 0,
        "wins": np.where(of.higher, above, below),
        "ties": ties,
        "losses": np.where(of.higher, below, above),
        "n_users": n_users,
        "n_differ": moments.differ,
        "n_unpaired": sums.column("unpaired"),
        "few": (moments.n > 0) & (moments.units < how.min_users),
    }


def _tested(moments: Moments, few: Flags, how: Comparing) -> dict[str, Any]:
    """Return the unadjusted and the family-wise p values; rows of few users are left out."""
    t = t_statistic(moments.difference, moments.standard_error)
    p_value = p_two_sided(t, moments.freedom)
    p_value = np.maximum(p_value, least_p(moments.differ))
    judged = np.where(few, np.nan, p_value)
    p_adjusted = judged if how.correction is None else adjusted(judged, method=how.correction)
    return {"p_value": p_value, "p_adjusted": p_adjusted}


def _within(moments: Moments, margin: float, higher: Flags, ends: Ends) -> tuple[Numbers, Numbers]:
    """Return the p values against a margin: not worse, and not better.

    They are of the mean of b - (1 - margin) a, and of b - (1 + margin) a, so of no ratio. Each is that of the users and of two
    more, whose values are as far apart as any can be.
    """
    above, below = (
        moments.with_share(share).with_ends(*ends.of_gap(1.0 - share))
        for share in (margin, -margin)
    )
    at_least = p_above(t_statistic(above.difference, above.standard_error), above.freedom)
    at_most = p_below(t_statistic(below.difference, below.standard_error), below.freedom)
    return np.where(higher, at_least, at_most), np.where(higher, at_most, at_least)


def _of_one_training(sums: Sums, of: Trainings) -> dict[str, Flags]:
    """Return the notes on models with one training, which has no spread."""
    found: dict[str, Flags] = {}
    for side, n in ((MODEL, of.n), (BASELINE, of.n_baseline)):
        names = sums.rows.select(as_text(pl.col(side), sums.rows.schema[side])).to_series()
        for name in names.unique().to_list():
            note = f"one training of {name}, so no spread between trainings"
            single = (n == 1) & (names == name).to_numpy()
            found[note] = found.get(note, np.zeros(n.shape, dtype=bool)) | single
    return found


def verdicts(found: Mapping[str, Any], of: Direction, alpha: float) -> Any:
    """Return the verdict of each row, in a word or two, by the margin too where there are p values against one."""
    difference, shown = found["difference"], found["p_adjusted"] <= alpha
    good = np.where(of.higher, difference > 0, difference < 0)
    words = np.where(good, "better", "worse")
    words = np.where(of.directed, words, np.where(difference > 0, "higher", "lower"))
    same = (found["n_users"] > 1) & (found["ties"] == found["n_users"])
    # on one side, as a gate that holds
    alike, not_worse, not_better = (
        found[name] <= alpha / 2 for name in ("p_equivalent", "p_not_worse", "p_not_better")
    )
    return np.select(
        [found["few"], is_selected(found, of), same | alike, shown, not_worse, not_better],
        ["few", "open", "same", words, "not worse", "not better"],
        "open",
    )


def is_selected(found: Mapping[str, Any], of: Direction) -> Flags:
    """Return whether paired users of each row are so few that they are a biased selection."""
    selected: Flags = of.directed & of.of_each & are_selected(found["n_users"], found["n_unpaired"])
    return selected


def _notes(
    found: Mapping[str, Any],
    moments: Moments,
    of: Direction,
    how: Comparing,
    single: Mapping[str, Flags],
) -> Any:
    """Return the notes of each row, in words."""
    n, same = found["n_users"], found["ties"] == found["n_users"]
    lacks = {
        "nobody has both values": n == 0,
        "one user, so no interval": n == 1,
        "depends on too few lists, so no interval": np.isnan(moments.units),
        ONE_CLUSTER: np.isnan(moments.freedom),
    }
    alpha, tests = 1.0 - how.level, np.count_nonzero(~np.isnan(found["p_adjusted"]))
    by_itself = found["p_value"] <= alpha
    alone = by_itself & (found["p_adjusted"] > alpha) & (found["verdict"] == "open")
    kind = how.units
    rough = ~same & (moments.differ < FEW_VALUES)
    few_clusters = how.cluster is not None and moments.effective < FEW
    words = {
        "both have the same value for all users": same,
        f"fewer than {how.min_users} {kind}, so not judged": found["few"],
        f"significant alone, not after correcting for {tests} comparisons": alone,
        **_within_margin(by_itself & ~same & (found["verdict"] == "same"), found, how),
        **_of_spread(found, moments, same),
        **of_unpaired(n, found["n_unpaired"], is_selected(found, of)),
        f"fewer than {FEW_VALUES} {kind} differ, so the interval is rough": rough,
        f"{kind} count as fewer than {FEW} of one size, so the interval is rough": few_clusters,
        **single,
    }
    return first_or_joined(lacks, words)


def _of_spread(found: Mapping[str, Any], moments: Moments, same: Flags) -> dict[str, Flags]:
    """Return the notes of differences that do not vary, and of a baseline that is 0."""
    without_spread, varies = moments.standard_error == 0, found["varies"]
    of_clusters = without_spread & varies & (found["difference"] != 0)
    return {
        "all clusters have the same mean difference": of_clusters,
        "the difference is the same for all users": without_spread & ~same & ~varies,
        "the baseline is 0, so there is no relative difference": moments.a == 0,
    }


def _within_margin(alike: Flags, found: Mapping[str, Any], how: Comparing) -> dict[str, Flags]:
    """Return the notes of differences that are shown, and shown to be within the margin."""
    if how.margin is None:
        return {}
    within, difference = f"within {how.margin * 100:.10g} %", found["difference"]
    return {
        f"{within}, lower": alike & (difference < 0),
        f"{within}, higher": alike & (difference > 0),
    }


BETWEEN = "; "
MANY_UNPAIRED = 0.05
"""Share of users with only one of two values from which a note is given."""
SELECTED = 0.2
"""Share of users with only one of two values from which the paired users are a biased selection."""
SELECTED_NOTE = "more than a fifth of the users have only one of the two values, so those with both are not representative"


def are_selected(n: Numbers, unpaired: Numbers) -> Flags:
    """Return whether paired users, n, are so few that they are a biased selection."""
    return np.asarray(unpaired > SELECTED * (n + unpaired))


def of_unpaired(n: Numbers, unpaired: Numbers, selected: Flags) -> dict[str, Flags]:
    """Return the notes of rows with many unpaired users."""
    many = unpaired > MANY_UNPAIRED * (n + unpaired)
    return {
        SELECTED_NOTE: selected,
        "many users have only one of the two values, and are left out": many & ~selected,
    }


def first_or_joined(lacks: Mapping[str, Flags], words: Mapping[str, Flags]) -> Any:
    """Return the first note on missing numbers, or else all other notes joined.

    Both have the words of a note, and in which rows it holds. A row without any has an empty text.
    """
    found = np.full(np.broadcast_shapes(*map(np.shape, words.values())), "", dtype=object)
    for note, holds in words.items():
        if note and np.any(holds):
            more = np.where(found == "", note, found + BETWEEN + note)
            found = np.where(holds, more, found)
    return np.select(list(lacks.values()), list(lacks), found.astype(str))
