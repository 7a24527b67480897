"""Users' values of every metric, before aggregation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import polars as pl

from recframe.errors import OTHER_TIES, NoOrderError, RecframeError, without_order
from recframe.evaluation import side_rows
from recframe.evaluation.recorder import DTYPES, LISTED, RELEVANT, WHOLE, Recorder
from recframe.evaluation.required_columns import needs_of
from recframe.evaluation.row_sources import rows_of_branches
from recframe.evaluation.segments import (
    deepest_of,
    n_users_of_segments,
    users_in_segments,
)
from recframe.frames.collecting import Ask
from recframe.frames.rows.joins import ExactSums, beside_one_another, distinct_names
from recframe.metrics.language.at import At
from recframe.metrics.language.definition import Metric
from recframe.ranking import known
from recframe.ranking.data_checks import after_checks
from recframe.ranking.judged import Judged
from recframe.side_info.precompute import shown


@dataclass(frozen=True)
class UserValues:
    """Users' values as `value 0`, `value 1`, ..., in metric order.

    A user without a row in the branches that the metrics read is absent from `present`, and has the values of an empty list.
    There may be millions of such users, so that `sums` counts them, and `each` alone has a row for every one.
    """

    judged: Judged
    keys: list[str]
    """The keys of the segments."""
    names: list[str]
    """The names of the values."""
    present: pl.LazyFrame
    """Counted lists with rows in the row sources: keys and values."""
    empty: pl.LazyFrame
    """One row: the values of an empty list."""
    steep: bool
    """Whether gains may overflow at high grades."""
    aligned: bool
    """Whether users are the same in all models."""
    bounded: Collection[str] = ()
    """Names of the values within -1 and 1."""

    def each(self) -> pl.LazyFrame:
        """Return every user of each segment, once: the keys, the user, and the values."""
        judged, names = self.judged, self.names
        on = [*judged.rows, *judged.model, "user"]
        present = judged.named(self.present).select(*on, *names, present=pl.lit(value=True))
        skips = judged.context.no_relevant == "skip"
        how: Literal["inner", "left"] = "inner" if skips else "left"
        users = users_in_segments(judged).join(present, on=on, how=how, nulls_equal=True)
        if names and not skips:
            users = users.join(self._empty, how="cross").with_columns(
                pl.when("present").then(name).otherwise(f"empty {name}").alias(name)
                for name in names
            )
        keys = distinct_names(*self.keys, "user")
        users = users.select(*keys, *names, n_users=pl.lit(1, dtype=pl.Int64))
        return self._checked(users).select(*keys, *names)

    def sums(self, spread: Collection[str] = ()) -> pl.LazyFrame:
        """Return one row per segment: keys, n_users, sums for means, and the spread of some values.

        The sums are in the parts that `sums_of_values` has.
        """
        names, keys = self.names, self.keys
        counts = [pl.col(name).count().alias(f"count {name}") for name in names]
        counts += [(pl.col(name) == 0).sum().alias(f"zero {name}") for name in spread]
        n_present = pl.len().cast(pl.Int64).alias("n_present")
        exact = sums_of_values(names, self.bounded, spread=spread)
        sums = exact.summed(self._present_in_segments(), keys, [n_present, *counts])
        segments = n_users_of_segments(self.judged, keys)
        if keys:
            segments = segments.join(sums, on=keys, how="left", nulls_equal=True)
            # a frame without columns has no row
            segments = segments.join(self._empty, how="cross") if names else segments
        else:
            segments = beside_one_another([segments, sums, self._empty])
        others = [f"{part} {name}" for part in ("count", "empty") for name in names]
        others += [f"zero {name}" for name in spread]
        columns = [*keys, "n_users", "n_present", *exact.parts, *others]
        return self._checked(segments).select(columns)

    @property
    def _empty(self) -> pl.LazyFrame:
        """One row: the values of an empty list, as `empty value 0`, ..."""
        return self.empty.rename({name: f"empty {name}" for name in self.names})

    def _present_in_segments(self) -> pl.LazyFrame:
        if {*self.keys} <= {*self.judged.model}:
            return self.present
        return self.judged.inputs.attach(self.judged.named(self.present), "users")

    def _checked(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        return after_checks(rows, self.judged, "n_users", pl.Int64, steep=self.steep)


def names_of(metrics: Sequence[Metric[...]]) -> list[str]:
    """Return the names of metrics' values."""
    return [f"value {number}" for number in range(len(metrics))]


def bounded_names(metrics: Sequence[Metric[...]]) -> frozenset[str]:
    """Return the names of those of metrics' values that are never above 1 or far below 2^-42, by recframe's own word."""
    named = zip(names_of(metrics), metrics, strict=True)
    return frozenset([name for name, one in named if one.is_bounded])


def sums_of_values(
    names: Sequence[str], bounded: Collection[str], *, spread: Collection[str]
) -> ExactSums:
    """Return the sums of values, and of the squares of some: `sum value 0`, ..., `square value 0`, ..."""
    values = {f"sum {name}": pl.col(name) for name in names}
    values |= {f"square {name}": pl.col(name) * pl.col(name) for name in spread}
    return ExactSums(values, {name for name in values if name.partition(" ")[2] in bounded})


@dataclass(frozen=True)
class HeldPlan:
    """Collected values of metrics that share policies."""

    columns: Mapping[tuple[object, ...], str]
    """Column names of values, by metric identity."""
    values: UserValues
    models: pl.DataFrame | None

    @staticmethod
    def key(metric: Metric[...]) -> tuple[object, ...]:
        """Return the identity of a metric, regardless of its column name."""
        return id(metric.definition), metric.settings, metric.k


@dataclass(frozen=True)
class HeldValues:
    """Cached users' values of some metrics, by policies."""

    plans: Mapping[tuple[object, ...], HeldPlan]

    @property
    def models(self) -> pl.DataFrame | None:
        """The models, where there are some."""
        return next((plan.models for plan in self.plans.values()), None)

    def of(
        self, judged: Judged, metrics: Sequence[Metric[...]], keys: Sequence[str]
    ) -> UserValues | None:
        """Return the values of some metrics, unless one is not held, or segments cut through the lists."""
        plan = self.plans.get(judged.context.policies)
        wanted = [HeldPlan.key(metric) for metric in metrics]
        if plan is None or judged.rows or not {*wanted} <= plan.columns.keys():
            return None
        values, names = plan.values, names_of(metrics)
        named = zip(wanted, names, strict=True)
        taken = [pl.col(plan.columns[key]).alias(name) for key, name in named]
        # the checks of the frames are passed
        inputs = replace(judged.inputs, checks=())
        return replace(
            values,
            judged=replace(values.judged, inputs=inputs),
            keys=list(keys),
            names=names,
            present=values.present.select(*judged.model, "user", *taken),
            empty=values.empty.select(taken),
            bounded=bounded_names(metrics),
        )


def values_of_users(
    judged: Judged,
    metrics: Sequence[Metric[...]],
    keys: Sequence[str],
    ask: Ask | None = None,
    held: HeldValues | None = None,
) -> UserValues:
    """Return the values of some metrics for the users of a judgement, in the segments of some keys."""
    found = None if held is None else held.of(judged, metrics, keys)
    return _planned(judged, metrics, keys, ask) if found is None else found


def _planned(
    judged: Judged, metrics: Sequence[Metric[...]], keys: Sequence[str], ask: Ask | None
) -> UserValues:
    """Return the values as a plan makes them."""
    words, context = Recorder(), judged.context
    # relevant rows count at any rank, or without one
    deepest = deepest_of([one for one in metrics if one.k or not needs_of(one).columns <= RELEVANT])
    values = values_of_lists(metrics, words, deepest, judged)
    skips = context.no_relevant == "skip"
    counted = At(None, words).n_relevant > 0 if skips else pl.len() > 0
    if ask is not None:
        judged = known_for(judged, metrics, words, deepest, ask)
    # the branches that the words above have asked for
    rows = rows_of_branches(judged, words, deepest, ask)
    lists = rows.group_by(judged.list_keys).agg(*values.values(), counted=counted)
    check_shapes(lists, metrics)
    roots = {name for value in values.values() for name in value.meta.root_names()}
    has_one_truth = judged.truth is not None and context.relevant_from == "truth"
    return UserValues(
        judged=judged,
        keys=list(keys),
        names=list(values),
        # NOTE: a name as text has Polars look it up in the whole plan's schema, which is a tenth of a small call
        present=lists.filter(pl.col("counted")),
        empty=no_rows(frozenset(roots)).select(values.values()),
        steep="steepness" in words.asked,
        aligned=has_one_truth and words.reads_relevant_alone(),
        bounded=bounded_names(metrics),
    )


def known_for(
    judged: Judged,
    metrics: Sequence[Metric[...]],
    words: Recorder,
    deepest: int | None,
    ask: Ask,
) -> Judged:
    """Return the judgement with what is known of the rows that its plan reads (large eager frames)."""
    reads = known.Reads(
        k=deepest,
        whole_lists=bool(words.read & WHOLE),
        listed=bool(words.read & LISTED),
        first=bool(words.read & side_rows.CUT),
        by_number=not (words.reads_lists() or words.worths),
        by_hits=judged.context.no_relevant == "zero" and all(map(_is_made_by_hits, metrics)),
    )
    judged = replace(judged, known=known.ask(judged, reads, ask))
    if not words.read & side_rows.OF_CATALOGUE:
        return judged
    items = shown(side_rows.sides_of(judged), ask)
    return replace(judged, known=replace(judged.known, items=items))


def _is_made_by_hits(metric: Metric[...]) -> bool:
    """Return whether a metric of hits and relevant rows has the value of an empty list for each list without a hit.

    NOTE: all of recframe's own have, unless a user without relevant items has 1; one of the user's may say more of relevant
    rows than what hits are divided by.
    """
    return metric.definition.builtin and metric.parameters.get("without_relevant") != "one"


def values_of_lists(
    metrics: Sequence[Metric[...]], words: Recorder, deepest: int | None, judged: Judged
) -> dict[str, pl.Expr]:
    """Return each metric's value of a list, under a name of its own."""
    values = {}
    for name, metric in zip(names_of(metrics), metrics, strict=True):
        at = At(metric.k, words, cut=metric.k == deepest, sharing=judged.sharing)
        value = _value(metric, at).cast(pl.Float64)
        if judged.context.no_relevant == "null":
            value = pl.when(At(None, words).n_relevant > 0).then(value)
        values[name] = value.alias(name)
    return values


def _value(metric: Metric[...], at: At) -> pl.Expr:
    """Return a metric's value of a list, or say why it needs an order of tied items."""
    definition = metric.definition
    if at.sharing is not None and not (definition.builtin or definition.linear):
        msg = (
            f"ties={at.sharing!r} needs your metric {metric.name!r} to be a sum over hits (see rf.At), declared by "
            f"@rf.metric(linear=True); otherwise {OTHER_TIES}"
        )
        raise RecframeError(msg)
    try:
        return metric.value(at)
    except NoOrderError as error:
        raise without_order(str(metric), str(at.sharing), error) from None


@lru_cache
def no_rows(names: frozenset[str]) -> pl.LazyFrame:
    """Return an empty frame with the words' columns, to evaluate an empty list."""
    return pl.LazyFrame(schema={name: DTYPES.get(name, pl.Float64) for name in names})


def check_shapes(lists: pl.LazyFrame, metrics: Sequence[Metric[...]]) -> None:
    """Reject users' own metrics with several values per list."""
    for name, metric in zip(names_of(metrics), metrics, strict=True):
        if not metric.definition.builtin and lists.collect_schema()[name] != pl.Float64:
            msg = (
                f"the metric {metric.name!r} has a value for each row of a list; "
                "return one for the list: its sum(), max(), ..."
            )
            raise RecframeError(msg)
