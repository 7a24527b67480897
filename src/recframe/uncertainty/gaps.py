"""The best and the worst segment of each column, and how sure it is that they differ: what `rec.gaps` returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from recframe.errors import short
from recframe.metrics.language.definition import Metric
from recframe.uncertainty.arrays import Flags, Numbers, np, ratio
from recframe.uncertainty.cells import (
    MOST_TOGETHER,
    Clustered,
    Moments,
    Table,
    borrowed_freedom,
    cautious_variances,
    tables,
)
from recframe.uncertainty.pairs import MODEL
from recframe.uncertainty.paradox import Looking, named, reversal
from recframe.uncertainty.pooling import (
    BORROWED_FOR_GAPS,
    BORROWED_USERS,
    borrowed_variances,
    pooled,
)
from recframe.uncertainty.simultaneous import NO_GAP, Gap, gap
from recframe.uncertainty.summary import FEW

COLUMNS = {
    "metric": pl.String,
    "k": pl.Int64,
    "n_segments": pl.Int64,
    "n_small": pl.Int64,
    "best": pl.String,
    "best_value": pl.Float64,
    "best_n_users": pl.Int64,
    "worst": pl.String,
    "worst_value": pl.Float64,
    "worst_n_users": pl.Int64,
    "gap": pl.Float64,
    "gap_low": pl.Float64,
    "gap_high": pl.Float64,
    "gap_pooled": pl.Float64,
    "ratio": pl.Float64,
    "spread": pl.Float64,
    "p_value": pl.Float64,
    "note": pl.String,
}
"""What follows the keys."""
SHORT = (
    *("metric", "best", "worst", "best_value", "worst_value", "p_value"),
    *("gap", "gap_low", "gap_high", "note"),
)
"""What follows the keys in the short form."""


@dataclass(frozen=True)
class Gaps:
    """How gaps are found."""

    of: Mapping[tuple[str, ...], int]
    """The columns, alone and in pairs, with the places of their evaluations."""
    names: Mapping[str, str]
    """The columns' own names, by those inside the plan."""
    min_users: int = 30
    level: float = 0.95
    cluster: str | None = None
    """The column of the sums that names clusters, whose users hang together."""
    of_differences: bool = False
    """Whether values are differences from a baseline."""


def gaps(
    cells: pl.DataFrame, metrics: Sequence[Metric[...]], how: Gaps, schema: pl.Schema
) -> pl.DataFrame:
    """Return a row for each column, model and metric, from the sums of `cells`."""
    found = list(tables(cells, how.of, len(metrics), how.cluster))
    alone = [one for one in found if len(one.columns) == 1]
    rows = [
        {"by": how.names[one.columns[0]], MODEL: one.model.name, **row}
        for one in alone
        for row in _rows(one, found, metrics, how)
    ]
    kept = [tuple(map(row.get, schema)) for row in rows]
    return pl.DataFrame(kept, schema=schema, orient="row")


def _rows(
    table: Table, every: Sequence[Table], metrics: Sequence[Metric[...]], how: Gaps
) -> Iterator[dict[str, Any]]:
    others = [
        one
        for one in every
        if len(one.columns) > 1 and table.columns[0] in one.columns and one.model == table.model
    ]
    for number, metric in enumerate(metrics):
        segments = Segments(table, number, metric, how)
        row = segments.row()
        notes = [*segments.notes(), *_paradoxes(segments, others)]
        yield row | {"note": "; ".join(notes) or None}


@dataclass(frozen=True)
class Segments:
    """The segments of a column by one metric; those whose value is not known stand apart."""

    table: Table
    number: int
    metric: Metric[...]
    how: Gaps

    @cached_property
    def moments(self) -> Moments:
        """Of the segments whose value is known; the others have nobody."""
        known, of = self.table.known, self.table.moments.at(np.s_[:, self.number])
        return Moments(*(np.where(known, one, 0.0) for one in (of.n, of.sum, of.square)))

    @property
    def sign(self) -> float:
        """What a value is multiplied by for the best to be the largest."""
        return -1.0 if self.metric.definition.direction == "lower" else 1.0

    @property
    def large(self) -> Flags:
        """Whether a segment has users enough to be named."""
        found: Flags = (self.moments.n >= self.how.min_users) & (self.moments.n > 0)
        return found

    @property
    def names(self) -> list[str]:
        """The segments' values as text."""
        return self.table.segments.to_series().to_list()

    def errors(self, variances: Numbers) -> Numbers:
        """Return the standard errors of the means, from variances between users, and no smaller than those of clusters."""
        squared = ratio(variances, self.moments.n)
        if self.clustered is not None:
            squared = np.fmax(squared, self.clustered.mean)
        return np.sqrt(squared)

    @cached_property
    def clustered(self) -> Clustered | None:
        """Where users hang together, the errors of their clusters."""
        return self.table.of_groups(self.number) if self.table.of_clusters else None

    def freedom(self, borrowed: float) -> Numbers:
        """Return the degrees of freedom of errors that borrow so many users; of clusters none are borrowed."""
        found = borrowed_freedom(self.moments.n, borrowed)
        return found if self.clustered is None else np.minimum(found, self.clustered.freedom)

    @cached_property
    def gap(self) -> Gap:
        """Return the best and the worst of the large segments, though nothing be known of the spread of their users."""
        of, large = self.moments, self.large
        if np.count_nonzero(large) < 2:  # noqa: PLR2004  a gap is between two
            return NO_GAP
        error = self.errors(cautious_variances(of.variance, of.n))
        value = np.where(large, self.sign * of.mean, np.nan)
        if self.too_many:
            error = np.full_like(error, np.nan)
        found = gap(
            value[large],
            error[large],
            freedom=self.freedom(BORROWED_FOR_GAPS)[large],
            level=self.how.level,
            covariance=self._covariance(error),
        )
        places = np.flatnonzero(large)
        if found.best >= 0:
            return found._replace(best=int(places[found.best]), worst=int(places[found.worst]))
        order = np.argsort(-value, kind="stable")[: np.count_nonzero(large)]
        best, worst = int(order[0]), int(order[-1])
        return found._replace(best=best, worst=worst, gap=float(value[best] - value[worst]))

    @property
    def too_many(self) -> bool:
        """Whether so many segments share users that their pairs are not looked at."""
        return self.table.cells is not None and bool(self.large.sum() > MOST_TOGETHER)

    def _covariance(self, error: Numbers) -> Numbers | None:
        """Return the covariance of the large segments' means, where they share users."""
        if self.table.cells is None or self.too_many:
            return None
        found = self.table.covariance(self.number, np.flatnonzero(self.large))
        return np.where(np.eye(len(found)) > 0, error[self.large] ** 2, found)

    def row(self) -> dict[str, Any]:
        """Return what is found, but for what is to be known of it."""
        of, found = self.moments, self.gap
        error = self.errors(borrowed_variances(of.variance, of.n, borrowed=BORROWED_USERS))
        shrunk = pooled(of.mean, error, freedom=self.freedom(BORROWED_USERS))
        best, worst = self._end("best", found.best), self._end("worst", found.worst)
        of_values = found.best >= 0 and not self.how.of_differences
        there = of.n > 0
        return {
            "metric": str(self.metric),
            "k": self.metric.k,
            "n_segments": int(np.count_nonzero(there)),
            "n_small": int(np.count_nonzero(there & ~self.large)),
            **best,
            **worst,
            "gap": _number(found.gap),
            "gap_low": _number(found.low),
            "gap_high": _number(found.high),
            "gap_pooled": self._range(shrunk.value) if found.best >= 0 else None,
            "ratio": _ratio(worst["worst_value"], best["best_value"]) if of_values else None,
            "spread": _number(float(shrunk.spread)),
            "p_value": _number(found.p_value),
        }

    def _end(self, name: str, place: int) -> dict[str, Any]:
        if place < 0:
            return {name: None, f"{name}_value": None, f"{name}_n_users": None}
        of = self.moments
        value, n = float(of.mean[place]), int(of.n[place])
        return {name: self.names[place], f"{name}_value": value, f"{name}_n_users": n}

    def _range(self, value: Numbers) -> float | None:
        kept = value[self.large & ~np.isnan(value)]
        return float(kept.max() - kept.min()) if kept.size else None

    def notes(self) -> Iterator[str]:
        """Give what is to be known of the row, in words."""
        of, found = self.moments, self.gap
        unknown = self.table.moments.n[~self.table.known, self.number].sum()
        if (of_gap := self._note()) is not None:
            yield of_gap
        if found.least > 0 >= found.low:
            yield f"two other segments are shown to be {found.least:.3g} apart"
        if found.best >= 0 and not self.how.of_differences and not of.mean[found.best]:
            yield "the best value is 0, so no ratio"
        if self.table.is_shared:
            yield "users stand in several segments"
        if unknown:
            column = self.how.names[self.table.columns[0]]
            yield f"{int(unknown)} users are in no segment, as their {short(repr(column))} is null"

    def _note(self) -> str | None:
        """Return what is to be known of the gap and its interval."""
        of, found = self.moments, self.gap
        if not of.n.sum():
            return "nobody has a value"
        if found.best < 0:
            return f"fewer than two segments of at least {self.how.min_users} users, so no gap"
        if self.too_many:
            return f"more than {MOST_TOGETHER:,} segments share users, so no interval"
        if np.isnan(found.low):
            return "no segment has two users, so no interval"
        if found.low == found.high:
            return "all users of a segment have the same value"
        rough = of.n[self.large].min() < FEW
        return f"segments of fewer than {FEW} users, so the interval is rough" if rough else None


def _paradoxes(segments: Segments, others: Sequence[Table]) -> Iterator[str]:
    """Give the reversals of segments within the levels of the other columns."""
    how = Looking(segments.how.min_users, 1.0 - segments.how.level)
    own = segments.table.columns[0]
    for table in others:
        (other,) = set(table.columns) - {own}
        within = _levels(table, own, other, segments.names)
        at = np.s_[:, :, segments.number]
        found = reversal(segments.moments, within.at(at), how, len(others))
        if found is not None:
            yield named(found, segments.names, segments.how.names[other])


def _levels(table: Table, own: str, other: str, names: Sequence[str]) -> Moments:
    """Return the moments of two columns crossed, segments x levels; values that are not known are none."""
    named = {own: names, "segment": range(len(names))}
    places = pl.DataFrame(named, schema={own: pl.String, "segment": pl.Int64})
    rows = table.segments.join(places, on=own, how="left", maintain_order="left")
    rows = rows.with_columns(level=pl.col(other).rank("dense") - 1)
    known = table.known
    first, second = (rows[name].to_numpy()[known].astype(np.int64) for name in ("segment", "level"))
    shape = len(names), int(second.max(initial=-1)) + 1

    def placed(of: Numbers) -> Numbers:
        found = np.zeros((*shape, of.shape[1]))
        found[first, second] = of[known]
        return found

    of = table.moments
    return Moments(*(placed(one) for one in (of.n, of.sum, of.square)))


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value
