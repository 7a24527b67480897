"""Sums of users' values by segment, for gaps and slices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any, NamedTuple, cast

import polars as pl

from recframe.errors import RecframeError
from recframe.evaluation import evaluation
from recframe.evaluation.contributions import contributions
from recframe.evaluation.evaluation import Convention
from recframe.evaluation.execution import Run
from recframe.evaluation.segments import SPREAD, SQUARE, TOTAL, N, keys_of, name_beside, numbered
from recframe.frames.dtypes import as_text
from recframe.frames.inputs import GROUP, Inputs, check_is_one_fold
from recframe.frames.roles import Segment
from recframe.frames.rows.exact_sums import ExactSums
from recframe.metrics.language.definition import Metric
from recframe.profiles import under_profile
from recframe.ranking.judged_frame import judge
from recframe.statistics import over_folds
from recframe.statistics.arrays import Flags, Numbers, np, numbers, ratio
from recframe.statistics.moments import added_up
from recframe.statistics.options import CorrectionOfSlices
from recframe.statistics.over_trainings import sums_of_users
from recframe.statistics.pairs import MODEL, NO_SPREAD, Pairing, sums_of_all
from recframe.statistics.remaining_users import BESIDE, SUMS, by_users, cutting, sums_with_rests
from recframe.statistics.resampling import MOST_GROUPS_BY_SEGMENT, groups_of
from recframe.statistics.shrinkage import (
    BORROWED_USERS,
    Pooled,
    borrowed_freedom,
    borrowed_variances,
    pooled,
)

PLAN, APART = "plan", "apart"
MOST_TOGETHER = 1000
"""Most overlapping segments whose groups and pairs are in memory together."""
OF_PARTS = "slices by parts of users' lists take no cluster=; give by= only columns of users"
OF_USERS = {"users", "recommendations", "user id"}
"""Owners of segments that are properties of users."""


@dataclass(frozen=True)
class Crossings:
    """Crossed columns, and the evaluations that hold their sums."""

    plans: list[tuple[str, ...]]
    """Columns of each evaluation, by internal name."""
    of: dict[tuple[str, ...], int]
    """Index of the evaluation, by crossed columns."""


def crossings(inputs: Inputs, depth: int, depth_of_parts: int) -> Crossings:
    """Return the crossings of up to `depth` of the `by` columns, and of `depth_of_parts` where one is no property of users.

    A user has one value of each property of users, so that sums of all of these crossed add up to those of some. With a
    property of items or rows, each crossing is evaluated on its own.
    """
    columns = [segment.inside for segment in inputs.segments]
    of_users = tuple(segment.inside for segment in inputs.segments if segment.owner in OF_USERS)
    plans = [of_users] if of_users else []
    found = {}
    for size in range(1, depth + 1):
        for chosen in combinations(columns, size):
            if {*chosen} <= {*of_users}:
                found[chosen] = 0
            elif size <= depth_of_parts:
                found[chosen] = len(plans)
                plans.append(chosen)
    return Crossings(plans, found)


def cells(  # noqa: PLR0913  those of a plan, and how its users are summed up
    inputs: Inputs,
    conventions: Sequence[Convention],
    baseline: str | None,
    plans: Sequence[Sequence[str]],
    run: Run,
    *,
    rests: bool = False,
    cluster: str | None = None,
) -> pl.LazyFrame:
    """Return one row for each segment of each evaluation: its columns, the model, and each metric's `SUMS`, by its place.

    With a baseline they are sums of the differences from it. Where users may stand in several segments, the rows are those of
    random groups of users, or with `rests` have the sums of what is outside too; `apart` says whether none does. With a
    cluster, a segment too, the rows are those of random groups of clusters.
    """
    inputs = under_profile.at_home(inputs)
    found = []
    for place, columns in enumerate(plans):
        read = {*columns, cluster} - {over_folds.USER}
        segments = tuple(segment for segment in inputs.segments if segment.inside in read)
        one = replace(inputs, segments=segments)
        one = by_users(one, run) if rests and inputs.folds is None else one
        of_users = not cutting(one.segments)
        if rests and not of_users:
            check_is_one_fold(inputs)
            if cluster is not None:
                raise RecframeError(OF_PARTS)
            sums = sums_with_rests(one, conventions, baseline, run)
        else:
            alone = of_users and cluster is None
            drawn = one if alone else one.drawn(MOST_GROUPS_BY_SEGMENT, cluster)
            sums = (
                _of_values(drawn, conventions, run)
                if baseline is None
                else _of_differences(drawn, conventions, baseline, run)
            )
        sums = sums.with_columns(pl.lit(place, pl.Int64).alias(PLAN))
        if inputs.folds is not None:
            found.append(sums)
            continue
        apart = pl.LazyFrame({APART: [True]}) if of_users else _apart(one, conventions, run)
        found.append(sums.join(apart, how="cross"))
    return pl.concat(found, how="diagonal")


def _apart(inputs: Inputs, conventions: Sequence[Convention], run: Run) -> pl.LazyFrame:
    """Return whether each user is in one segment; judged frames may repeat user properties in rows."""
    of_items = any(segment.owner not in {*OF_USERS, "row", "truth"} for segment in inputs.segments)
    if of_items or (
        inputs.truth is not None and any(convention.over == "lists" for convention in conventions)
    ):
        # users have several items; and lists of users who are not in the truth are not looked at
        return pl.LazyFrame({APART: [False]})
    again = (pl.len() - pl.col("user").n_unique()).cast(pl.Int64).alias(APART)
    members = judge(inputs).members().select(again)
    return run.added([members], []).select(pl.col(APART) == 0)


def _of_values(inputs: Inputs, conventions: Sequence[Convention], run: Run) -> pl.LazyFrame:
    metrics = [convention.metric for convention in conventions]
    names = [name_beside(part, metric) for metric in metrics for part in (N, TOTAL, SQUARE)]
    if inputs.folds is not None:
        each = _of_each_user(inputs)
        keys = [*keys_of(each, metrics)]
        wide = sums_of_users(contributions(each, conventions, run), keys)
        return _of_groups(_named(wide, keys, names), keys, len(metrics))
    keys = [*keys_of(inputs, metrics)]
    wide = numbered(evaluation.evaluate(inputs, conventions, run, SPREAD), keys)
    return _named(wide, keys, names)


def _of_each_user(inputs: Inputs) -> Inputs:
    """Return inputs of folds with the user as one more key of the units."""
    user = Segment(over_folds.USER, inputs.context.names[over_folds.USER], "role")
    units = (*inputs.units, over_folds.USER)
    return replace(inputs, segments=(*inputs.segments, user), units=units)


def _of_groups(sums: pl.LazyFrame, keys: Sequence[str], n_metrics: int) -> pl.LazyFrame:
    """Return sums of users over all folds by random groups, as those of as many values as a segment has users.

    `apart` says whether each user is in one segment.
    """
    keys = [key for key in keys if key != over_folds.USER]
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
    found = found.with_columns(scaled).drop(f"users of {name}" for name in n)
    # a user may have another value of a column in another fold
    each = sums.select(*(key for key in segment if key != MODEL), over_folds.USER).unique()
    apart = each.select((pl.len() == pl.col(over_folds.USER).n_unique()).alias(APART))
    return found.join(apart, how="cross")


def _of_differences(
    inputs: Inputs, conventions: Sequence[Convention], baseline: str, run: Run
) -> pl.LazyFrame:
    metrics = [convention.metric for convention in conventions]
    inputs = inputs if inputs.folds is None else _of_each_user(inputs)
    plans = contributions(inputs, conventions, run)
    pairing = Pairing(baseline, inputs.schema[MODEL], inputs.context.names[MODEL])
    sums = sums_of_all(plans, metrics, pairing, run)
    names = [f"{part} {number}" for number in range(len(metrics)) for part in ("n", "d", "dd")]
    keys = plans[0][0].keys
    found = _named(sums, keys, names)
    return found if inputs.folds is None else _of_groups(found, keys, len(metrics))


def _named(sums: pl.LazyFrame, keys: Sequence[str], names: Sequence[str]) -> pl.LazyFrame:
    """Return the sums of one metric after the other under the names of `SUMS`."""
    columns = (
        pl.col(name).cast(pl.Float64).fill_null(0).alias(f"{SUMS[place % 3]} {place // 3}")
        for place, name in enumerate(names)
    )
    return sums.select(*keys, *columns)


@dataclass(frozen=True)
class Moments:
    """Number of users, mean and variance of segments, of any shape."""

    n: Numbers
    sum: Numbers
    square: Numbers

    @property
    def mean(self) -> Numbers:
        """The means; NaN of nobody."""
        return ratio(self.sum, self.n)

    @property
    def squares(self) -> Numbers:
        """The sums of squares about the means."""
        rest = self.square - ratio(self.sum**2, self.n)
        return numbers(np.where(rest > NO_SPREAD * self.square, rest, 0.0 * rest))

    @property
    def variance(self) -> Numbers:
        """The variances over n - 1; NaN below two users."""
        return ratio(self.squares, np.where(self.n > 1, self.n - 1.0, np.nan))

    def at(self, where: Any) -> Moments:
        """Return the moments of some places."""
        return Moments(self.n[where], self.sum[where], self.square[where])

    @property
    def others(self) -> Moments:
        """Those of all other segments together, along the first axis."""
        return Moments(*map(_sum_of_others, (self.n, self.sum, self.square)))


def _sum_of_others(of: Numbers) -> Numbers:
    """Return the sum of those before and behind each; one that is taken from the sum of all would leave its rounding."""
    nothing = np.zeros_like(of[:1])
    before = np.concatenate([nothing, of.cumsum(axis=0)[:-1]])
    behind = np.concatenate([of[::-1].cumsum(axis=0)[::-1][1:], nothing[: len(of)]])
    return numbers(before[: len(of)] + behind)


@dataclass(frozen=True)
class Segmenting:
    """How segments are compared."""

    of: Mapping[tuple[str, ...], int]
    """Index of the evaluation, by crossed columns."""
    names: Mapping[str, str]
    """Own names of the columns, by internal name."""
    min_users: int = 30
    level: float = 0.95
    correction: CorrectionOfSlices | None = None
    """That of the p values of slices."""
    cluster: str | None = None
    """Column of clusters: users within one are correlated."""
    of_differences: bool = False
    """Whether values are differences from a baseline."""


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
    is_shared: bool
    """Whether users may be in several segments."""
    cells: pl.DataFrame | None = None
    """Sums of random groups of users or clusters, where users have several segments or clusters."""
    outside: Moments | None = None
    """Moments of each segment's rest, where users may be in several segments."""
    both: Numbers | None = None
    """Users both in a segment and its rest: number, both sums and sum of products, x segments."""

    @cached_property
    def segments(self) -> pl.DataFrame:
        """The columns' values as text; null is a value that is not known."""
        dtypes = self.keys.schema
        return self.keys.select(as_text(pl.col(name), dtypes[name]) for name in self.columns)

    @property
    def texts(self) -> list[str]:
        """The values of a single column, as text."""
        return self.segments.to_series().to_list()

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

    @cached_property
    def rest(self) -> Moments:
        """The moments of each segment's rest (all other users, if each is in one segment)."""
        return self.whole.others if self.outside is None else self.outside

    @property
    def sign(self) -> float:
        """The factor, 1 or -1, that makes higher values better."""
        return -1.0 if self.metric.direction == "lower" else 1.0

    @property
    def large(self) -> Flags:
        """Whether a segment has users enough to be named."""
        found: Flags = (self.moments.n >= self.how.min_users) & (self.moments.n > 0)
        return found

    def groups(self, chosen: Any) -> list[Numbers]:
        """Return the sums of the metric and the numbers of users, groups x some of the segments."""
        groups = groups_of(cast("pl.DataFrame", self.cells), self.keys[chosen])
        return [groups.matrix([f"{part} {self.number}"]) for part in ("sum", "n")]

    @cached_property
    def clustered(self) -> Clustered | None:
        """The errors of means, and of differences from all others, by groups of clusters, if users are clustered."""
        if self.how.cluster is None:
            return None
        sums, counts = self.groups(np.arange(len(self.keys)))
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

    @property
    def errors_from_rest(self) -> Numbers:
        """The variances of the segments' means minus those of their rests, where a user of both is one cluster."""
        of, rest = self.whole, self.rest
        n, own, others, product = cast("Numbers", self.both)
        of_both = product - of.mean * others - rest.mean * own + n * of.mean * rest.mean
        alone = ratio(of.squares, of.n**2) + ratio(rest.squares, rest.n**2)
        found = alone - 2.0 * ratio(of_both, of.n * rest.n)
        n_users = of.n + rest.n - n
        # what rounding leaves of users who all differ by the same
        found = np.where(found > NO_SPREAD * alone, found, 0.0 * found)
        return numbers(np.where(n_users > 1.0, found, np.nan) * ratio(n_users, n_users - 1.0))

    def errors(self, variances: Numbers) -> Numbers:
        """Return the standard errors of means, from variances between users, at least those of clusters."""
        squared = ratio(variances, self.moments.n)
        if self.clustered is not None:
            squared = np.fmax(squared, self.clustered.mean)
        return np.sqrt(squared)

    def freedom(self, borrowed: float) -> Numbers:
        """Return the degrees of freedom of errors that borrow so many users; of clusters none are borrowed."""
        found = borrowed_freedom(self.moments.n, borrowed)
        return found if self.clustered is None else np.minimum(found, self.clustered.freedom)

    @cached_property
    def pooled(self) -> Pooled:
        """The values, each drawn towards their centre, with intervals."""
        of = self.moments
        error = self.errors(borrowed_variances(of.variance, of.n, borrowed=BORROWED_USERS))
        freedom = self.freedom(BORROWED_USERS)
        return pooled(of.mean, error, freedom=freedom, level=self.how.level)


def every_segment(
    cells: pl.DataFrame, metrics: Sequence[Metric[...]], how: Segmenting
) -> Iterator[Segments]:
    """Yield the segments of each crossing, of one model after the other, by each metric."""
    has_models = MODEL in cells.columns
    models = cells[MODEL].unique().sort(nulls_last=True).to_list() if has_models else [None]
    has_rests = f"{BESIDE[0]} 0" in cells.columns
    parts = (*SUMS, *BESIDE) if has_rests else SUMS
    names = [f"{part} {number}" for number in range(len(metrics)) for part in parts]
    for (columns, plan), (place, model) in product(how.of.items(), enumerate(models)):
        rows = cells.filter(pl.col(PLAN) == plan)
        rows = rows.filter(pl.col(MODEL).eq_missing(model)) if has_models else rows
        totals = added_up(rows, columns, {name: pl.col(name) for name in names})
        sums = totals.select(names).to_numpy().T.reshape(len(metrics), len(parts), -1)
        is_shared = not rows[APART].all()
        more: dict[str, Any] = {}
        if is_shared or how.cluster is not None:
            more = {"cells": rows}
        for number, (metric, found) in enumerate(zip(metrics, sums, strict=True)):
            if has_rests and rows[f"{BESIDE[0]} 0"].null_count() == 0:
                more = {"outside": Moments(*found[3:6]), "both": found[6:]}
            of = columns, model, place, metric, number, how, totals.select(columns)
            yield Segments(*of, Moments(*found[:3]), is_shared, **more)
