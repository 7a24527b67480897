"""Sums of users' values by segment, for gaps and slices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import polars as pl

from recframe.errors import fails_whole_if
from recframe.evaluation import evaluation
from recframe.evaluation.contributions import contributions
from recframe.evaluation.evaluation import Convention
from recframe.evaluation.execution import Run
from recframe.evaluation.segments import (
    OF_ROWS,
    SPREAD,
    SQUARE,
    TOTAL,
    N,
    keys_of,
    name_beside,
    not_of_users,
    numbered,
)
from recframe.frames.dtypes import as_text
from recframe.frames.inputs import GROUP, Inputs
from recframe.frames.rows.exact_sums import ExactSums
from recframe.metrics.language.definition import Metric
from recframe.profiles import under_profile
from recframe.statistics.arrays import Flags, Numbers, np, numbers, ratio
from recframe.statistics.moments import added_up
from recframe.statistics.over_folds import USER
from recframe.statistics.over_trainings import sums_of_users
from recframe.statistics.pairs import MODEL, NO_SPREAD, Pairing, sums_of_all

SUMS = ("n", "sum", "square")
N_GROUPS = 2_000
"""Random groups of clusters; more change no digit that is shown."""


def sums_by_segment(
    inputs: Inputs,
    conventions: Sequence[Convention],
    baseline: str | None,
    run: Run,
    *,
    call: str,
    cluster: str | None,
) -> pl.LazyFrame:
    """Return one row for each segment and model: the columns, the model, and each metric's `SUMS`, by its place.

    With a baseline they are sums of the differences from it. With a cluster, a segment too, the rows are those of random groups
    of clusters. It fails where a user is in several segments.
    """
    inputs = under_profile.at_home(inputs)
    inputs = replace(inputs, checks=(*inputs.checks, *_checks(inputs, call)))
    inputs = inputs if cluster is None else inputs.drawn(N_GROUPS, cluster)
    metrics = [convention.metric for convention in conventions]
    keys = [*keys_of(inputs, metrics)]
    parts: Sequence[str] = (N, TOTAL, SQUARE)
    if baseline is not None:
        parts = ("n", "d", "dd")
        names = [f"{part} {number}" for number in range(len(metrics)) for part in parts]
        pairing = Pairing(baseline, inputs.schema[MODEL], inputs.context.names[MODEL])
        plans = contributions(inputs, conventions, run)
        sums, keys = sums_of_all(plans, metrics, pairing, run), plans[0][0].keys
    else:
        names = [name_beside(part, metric) for metric in metrics for part in parts]
        if inputs.folds is None:
            sums = numbered(evaluation.evaluate(inputs, conventions, run, SPREAD), keys)
        else:
            sums = sums_of_users(contributions(inputs, conventions, run), keys)
    columns = (
        pl.col(name).cast(pl.Float64).fill_null(0).alias(f"{SUMS[place % 3]} {place // 3}")
        for place, name in enumerate(names)
    )
    sums = sums.select(*keys, *columns)
    return sums if inputs.folds is None else _of_folds(sums, keys, len(metrics))


def _checks(inputs: Inputs, call: str) -> Iterator[pl.LazyFrame]:
    """Give frames of one row that fail when the plan runs, if a column of rows puts a user into several segments."""
    for segment in inputs.segments:
        if segment.owner not in OF_ROWS:
            continue
        name = segment.inside
        frames = [inputs.truth] if segment.owner == "truth" else [inputs.lists, inputs.truth]
        users = [
            frame.filter(pl.col("user").is_not_null()).select("user", name).unique()
            for frame in frames
            if frame is not None
        ]
        in_several = pl.len() > pl.col("user").n_unique()
        each = pl.concat(users, how="vertical_relaxed").unique()
        message = not_of_users(call, segment, inputs.units)
        yield each.select(check=fails_whole_if(in_several, message))


def _of_folds(sums: pl.LazyFrame, keys: Sequence[str], n_metrics: int) -> pl.LazyFrame:
    """Return sums of users over all folds by random groups, as those of as many values as a segment has users."""
    keys = [key for key in keys if key != USER]
    segment = [key for key in keys if key != GROUP]
    values = {
        f"{part} {number}": pl.col(f"{part} {number}")
        for number, part in product(range(n_metrics), SUMS)
    }
    n = [f"{SUMS[0]} {number}" for number in range(n_metrics)]
    users = [(pl.col(name) > 0).sum().alias(f"users of {name}") for name in n]
    found = ExactSums(values).of(sums, keys, users)
    factors = [
        (pl.col(f"users of {name}").sum() / pl.col(name).sum()).over(segment).fill_nan(0.0)
        for name in n
    ]
    scaled = (
        (pl.col(f"{part} {number}") * factors[number]).alias(f"{part} {number}")
        for number, part in product(range(n_metrics), SUMS)
    )
    return found.with_columns(scaled).drop(f"users of {name}" for name in n)


@dataclass(frozen=True)
class Moments:
    """Number of users, mean and variance of segments."""

    n: Numbers
    sum: Numbers
    square: Numbers

    @property
    def mean(self) -> Numbers:
        """The means; NaN of nobody."""
        return ratio(self.sum, self.n)

    @property
    def variance(self) -> Numbers:
        """The variances over n - 1; NaN below two users."""
        rest = self.square - ratio(self.sum**2, self.n)
        squares = np.where(rest > NO_SPREAD * self.square, rest, 0.0 * rest)
        return ratio(squares, np.where(self.n > 1, self.n - 1.0, np.nan))

    @property
    def others(self) -> Moments:
        """Those of all other segments together."""
        return Moments(*map(_sum_of_others, (self.n, self.sum, self.square)))


def _sum_of_others(of: Numbers) -> Numbers:
    """Return the sum of those before and behind each; one that is taken from the sum of all would leave its rounding."""
    before, behind = of.cumsum(), of[::-1].cumsum()[::-1]
    return numbers(np.append(0.0, before[:-1]) + np.append(behind[1:], 0.0))[: len(of)]


@dataclass(frozen=True)
class Segmenting:
    """How segments are compared."""

    crossed: Sequence[tuple[str, ...]]
    """Columns by internal name, alone and crossed."""
    names: Mapping[str, str]
    """Own names of the columns, by internal name."""
    min_users: int
    level: float
    has_clusters: bool
    """Whether users within one cluster are correlated."""


class Clustered(NamedTuple):
    """Squared errors and degrees of freedom of clustered segments."""

    mean: Numbers
    difference: Numbers
    freedom: Numbers


def _moves_of_means(sums: Numbers, counts: Numbers) -> Numbers:
    """Return the jackknife change of a mean per group: (G - 1) / G (s - m n) / (N - n), groups x segments."""
    total, n_groups = counts.sum(axis=0), np.count_nonzero(counts, axis=0)
    off = sums - ratio(sums.sum(axis=0), total) * counts
    return ratio((n_groups - 1.0) * off, n_groups * (total - counts))


@dataclass(frozen=True)
class Segments:
    """The segments of some columns, by one metric of one model."""

    columns: tuple[str, ...]
    model: Any
    model_place: int
    """Position among the models."""
    metric: Metric[...]
    number: int
    """Position among the metrics."""
    how: Segmenting
    keys: pl.DataFrame
    """The columns' values, a row for each segment, in their own order."""
    whole: Moments
    """Moments of all segments, also of those whose value is not known."""
    cells: pl.DataFrame
    """Sums of random groups of clusters, where there are clusters."""

    @cached_property
    def segments(self) -> pl.DataFrame:
        """The columns' values as text; null is a value that is not known."""
        dtypes = self.keys.schema
        return self.keys.select(as_text(pl.col(name), dtypes[name]) for name in self.columns)

    @cached_property
    def known(self) -> Any:
        """Whether all values of each segment are known."""
        are_known = pl.all_horizontal(pl.all().is_not_null())
        return self.segments.select(are_known).to_series().to_numpy()

    @cached_property
    def moments(self) -> Moments:
        """The moments of segments with a known value; the others have no users."""
        of = self.whole
        return Moments(*(np.where(self.known, one, 0.0) for one in (of.n, of.sum, of.square)))

    @property
    def sign(self) -> float:
        """The factor, 1 or -1, that makes higher values better."""
        return -1.0 if self.metric.direction == "lower" else 1.0

    @property
    def large(self) -> Flags:
        """Whether a segment has users enough to be named."""
        found: Flags = (self.moments.n >= self.how.min_users) & (self.moments.n > 0)
        return found

    @cached_property
    def clustered(self) -> Clustered | None:
        """The errors of means, and of differences from all others, by groups of clusters, if users are clustered."""
        if not self.how.has_clusters:
            return None
        sums, counts = self._by_group()
        everybody = sums.sum(axis=1, keepdims=True), counts.sum(axis=1, keepdims=True)
        own = _moves_of_means(sums, counts)
        rest = _moves_of_means(everybody[0] - sums, everybody[1] - counts)
        n_groups = np.count_nonzero(counts, axis=0).astype(np.float64)
        n_all = np.count_nonzero(everybody[1])
        return Clustered(
            ratio(n_groups, n_groups - 1.0) * (own**2).sum(axis=0),
            ratio(n_all, n_all - 1.0) * ((own - rest) ** 2).sum(axis=0),
            ratio(counts.sum(axis=0) ** 2, (counts**2).sum(axis=0)) - 1.0,
        )

    def _by_group(self) -> tuple[Numbers, Numbers]:
        """Return the sums of the metric and the numbers of users, groups x segments."""
        placed = self.keys.with_row_index("place")
        rows = self.cells.join(placed, on=self.columns, nulls_equal=True)
        groups = (rows[GROUP].rank("dense") - 1).to_numpy()
        shape = int(groups.max()) + 1 if len(rows) else 0, len(placed)
        found = np.zeros(shape), np.zeros(shape)
        for sums, part in zip(found, ("sum", "n"), strict=True):
            values = rows[f"{part} {self.number}"].to_numpy()
            np.add.at(sums, (groups, rows["place"].to_numpy()), values)
        return found

    def squared_errors(self, variances: Numbers) -> Numbers:
        """Return the squared standard errors of means, from variances between users, at least those of clusters."""
        squared = ratio(variances, self.moments.n)
        return squared if self.clustered is None else np.fmax(squared, self.clustered.mean)

    @property
    def freedom(self) -> Numbers:
        """The degrees of freedom of errors, of users or of clusters."""
        found = numbers(np.maximum(self.moments.n - 1.0, 0.0))
        return found if self.clustered is None else np.minimum(found, self.clustered.freedom)


def every_segment(
    cells: pl.DataFrame, metrics: Sequence[Metric[...]], how: Segmenting
) -> Iterator[Segments]:
    """Yield the segments of each crossing, of one model after the other, by each metric."""
    has_models = MODEL in cells.columns
    models = cells[MODEL].unique().sort(nulls_last=True).to_list() if has_models else [None]
    names = [f"{part} {number}" for number in range(len(metrics)) for part in SUMS]
    for columns, (place, model) in product(how.crossed, enumerate(models)):
        rows = cells.filter(pl.col(MODEL).eq_missing(model)) if has_models else cells
        totals = added_up(rows, columns, {name: pl.col(name) for name in names})
        sums = totals.select(names).to_numpy().T.reshape(len(metrics), len(SUMS), -1)
        for number, (metric, found) in enumerate(zip(metrics, sums, strict=True)):
            of = columns, model, place, metric, number, how, totals.select(columns)
            yield Segments(*of, Moments(*found), rows)
