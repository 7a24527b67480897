"""Values of list metrics, and their sums by item, group and segment."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from recframe.errors import NeedsAllUsersError, RecframeError, without_order
from recframe.evaluation.plan import Run
from recframe.evaluation.required_columns import keys_of, needs_of
from recframe.evaluation.user_values import deepest_of, names_of
from recframe.frames.inputs import Frames
from recframe.frames.kinds.kind import Ask
from recframe.frames.rows.integer_ids import lookup
from recframe.frames.rows.joins import (
    ExactSums,
    aggregate,
    at_best_rank,
    changes,
    distinct_names,
    joined,
    of_few,
)
from recframe.frames.rows.profiling import distinct_ids, marked_sorted, merged
from recframe.metrics.language.at import ratio
from recframe.metrics.language.at_lists import AtLists
from recframe.metrics.language.definition import Metric, Metrics
from recframe.ranking.judged_frame import Judged, judge
from recframe.side_info.aggregation_levels import Level, Levels
from recframe.side_info.precompute import settled
from recframe.side_info.requirements import check_needs
from recframe.side_info.sources import Fact, Sides, has_relevant, in_universe
from recframe.side_info.sums_by_feature import Rows

OF_SEGMENTS = {
    Level.OVER_LISTS,
    Level.OVER_ITEMS,
    Level.OVER_GROUPS,
    Level.IN_ALL,
    Level.ACROSS,
    "segment",
    "whole",
}
OF_LISTS = {Level.OF_LIST, "list", "user", "segment", "whole"}
N_PLACES = "n places"
"""Column with the number of an item's rows in a segment's lists."""
SIGN = "sign"
"""Column with the sign of an item in sums over items, where these are changes."""
NUMBER = "number"
"""Column with the number of items that are alike in all that sums over items read."""


def values_of_each(inputs: Frames, metrics: Metrics, run: Run) -> tuple[Judged, pl.LazyFrame]:
    """Return the lists with an item up to k and the metrics' values of each: `value 0`, ..."""
    check(inputs, metrics)
    most, asked = deepest_of(metrics), Levels()
    values = [_value(one, AtLists(one.k, asked, cut=one.k == most)) for one in metrics]
    rows, _ = _rows_up_to(most, inputs, asked, [], run)
    named = dict(zip(names_of(metrics), values, strict=True))
    return rows.sides.held, lists_of(rows).select(*rows.keys, **named)


def evaluate(inputs: Frames, metrics: Metrics, run: Run, *, with_support: bool) -> Lists:
    """Return the values of the metrics in each segment, `with_support` with the number of lists in each."""
    check(inputs, metrics)
    keys, most, asked = [*keys_of(inputs, metrics)], deepest_of(metrics), Levels()
    values, counts = {}, {}
    for metric in metrics:
        at, name = AtLists(metric.k, asked, cut=metric.k == most), str(metric)
        value = _value(metric, at)
        if metric.shape != "set":
            total = at.over_lists(value)
            counts[name] = at.over_lists(value.is_not_null(), counts=True)
            value = ratio(total, counts[name], empty=None)
        elif with_support:
            counts[name] = at.n_lists
        values[name] = value
    if run.is_divided and {Level.ALONG, Level.ALONG_ALL} & asked.columns.keys():
        shown = f"one of {', '.join(values)} compares each list with all others"
        raise NeedsAllUsersError(
            f"{shown}, which no bucket of users has; request it of frames in memory, in one plan, without memory="
        )
    rows, every_list = _rows_up_to(most, inputs, asked, keys, run)
    support = {name: of.fill_null(0).cast(pl.Int64) for name, of in counts.items()}
    return Lists(values, support, rows, every_list, run)


def check(inputs: Frames, metrics: Metrics) -> None:
    """Reject metrics without a value under unbroken ties, or without a required side frame."""
    for metric in metrics:
        if inputs.sharing is not None:
            uncertain = ", which is uncertain" * (inputs.sharing == "expected")
            reason = f"it describes the items that are among the first k{uncertain}"
            raise without_order(str(metric), inputs.sharing, reason)
        check_needs(inputs, metric, needs_of(metric).facts)


# Values


def _value(metric: Metric[...], at: AtLists) -> pl.Expr:
    """Return a metric's value, of a segment where it is of set shape, else the column of that of a list."""
    value, is_set = metric.value(at), metric.shape == "set"
    spoken_of = {at.asked.speaks_of.get(name) for name in value.meta.root_names()}
    if not spoken_of <= (OF_SEGMENTS if is_set else OF_LISTS):
        whose, how = "list", "at.sum(...) or at.mean(...)"
        if is_set:
            whose, how = "segment", "at.over_items(...) or at.over_lists(...)"
        raise RecframeError(
            f"the metric {metric.name!r} has no value for each {whose}; return one: {how}"
        )
    value = value.cast(pl.Float64)
    if is_set:
        return value
    # NOTE: beside an accuracy metric it is to speak of the same users
    if needs_of(metric).reads_relevance:
        counted = in_universe, has_relevant
        value = pl.when(*(at.fact(one).fill_null(value=False) for one in counted)).then(value)
    return at.asked.column(Level.VALUE, value)


# Rows of the lists


def _rows_up_to(
    k: int | None, inputs: Frames, asked: Levels, keys: list[str], run: Run
) -> tuple[Rows, pl.LazyFrame]:
    """Return the rows of the lists up to k, each item of a list once, and the lists with a ranked row."""
    judged = judge(inputs, run.models(inputs))
    sides = Sides(inputs, judged)
    if run.ask is not None:
        return _precomputed(k, sides, asked, keys, run.ask)
    rows = judged.ranked(k)
    rows = rows if judged.scores is not None else at_best_rank(rows, judged.list_keys)
    every_list = judged.ranked().select(judged.list_keys).unique()
    return Rows(sides, asked, rows, keys), every_list


def _precomputed(
    k: int | None, sides: Sides, asked: Levels, segment_keys: list[str], ask: Ask
) -> tuple[Rows, pl.LazyFrame]:
    """Return the same of a large eager frame, with facts of items beside rows; results do not change."""
    judged, keys = sides.held, sides.held.list_keys
    heads = judged.ranked().select(keys).filter(pl.any_horizontal(map(changes, keys)))
    rows, every_list = ask([judged.ranked(k), heads])
    rows = marked_sorted(rows) if judged.scores is not None else merged(rows, keys, ask)
    every_list = (
        distinct_ids(every_list["user"]).to_frame() if keys == ["user"] else every_list.unique()
    )
    sides = settled(sides, ask, rows, asked.of_sides)
    _, facts, _ = sides.table("item", asked.facts_in(Level.OF_LIST, Level.OF_ITEM))
    of_items = None if facts is None else lookup(ask([facts])[0], "item", rows.schema["item"])
    if of_items is not None:
        names = [name for name in of_items.table.columns if name != "item"]
        (rows,) = ask([of_items.beside(rows.lazy(), names)])
        sides = replace(sides, beside=sides.beside | {*names})
    return Rows(sides, asked, rows.lazy(), segment_keys), every_list.lazy()


def lists_of(rows: Rows) -> pl.LazyFrame:
    """Return each list with an item up to k, its sums, and the values of the metrics that have one for each list."""
    asked = rows.asked
    exact, counts = asked.sums(Level.OF_LIST)
    lists = of_few(rows.with_facts(Level.OF_LIST), rows.keys, exact.values, counts)
    lists = rows.beside(lists)
    facts = asked.facts_in(Level.VALUE, Level.OVER_LISTS, Level.BESIDE)
    lists = rows.sides.joined(lists, facts, "list", "user", "member", "segment", "whole")
    return lists.with_columns(asked.named(Level.VALUE))


# Sums of segments


@dataclass(frozen=True)
class Lists:
    """List metrics of a call: their values, and the sums that these are made of."""

    values: dict[str, pl.Expr]
    """Each metric's value of a segment."""
    support: dict[str, pl.Expr]
    """Number of lists that each metric is averaged over, or reads."""
    rows: Rows
    every_list: pl.LazyFrame
    """The lists with a ranked row."""
    run: Run

    @property
    def keys(self) -> list[str]:
        """The keys of the segments."""
        return self.rows.segment_keys

    @property
    def asked(self) -> Levels:
        """The requested columns."""
        return self.rows.asked

    @cached_property
    def named(self) -> dict[str, str]:
        """The numbered names of the keys."""
        return {key: f"key {place}" for place, key in enumerate(self.keys)}

    @cached_property
    def frame(self) -> pl.LazyFrame:
        """The keys, numbered, n_lists, and sums of lists, of items and of groups of items."""
        asked, keys = self.asked, self.keys
        segments = self.run.added([self._over_lists()], keys)
        segments = asked.sums(Level.OVER_LISTS)[0].put_together(segments)
        if asked.columns.get(Level.OVER_ITEMS):
            segments = joined(segments, self._over_items(), keys)
        for groups in asked.sums_of_groups.values():
            segments = joined(segments, self._over_groups(groups), keys)
        segments = self._with_sums(segments, Level.IN_ALL, self._keys_of_all).rename(self.named)
        return segments.drop("n_lists") if "user" in keys else segments

    def with_facts(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return segments joined with their facts, those without a list included."""
        sides = self.rows.sides
        of_users = [self.named[key] for key in self.keys if key not in sides.item_keys]
        rows = self._with_sums(rows, Level.ACROSS, of_users, of=self.frame)
        read = {name for value in self.values.values() for name in value.meta.root_names()}
        facts = [fact for name, fact in self.asked.facts.items() if name in read]
        return sides.joined(rows, facts, "segment", "whole", named=self.named)

    def _with_sums(
        self, rows: pl.LazyFrame, level: Level, keys: list[str], of: pl.LazyFrame | None = None
    ) -> pl.LazyFrame:
        """Return rows joined with sums over all rows of the same keys, theirs or those `of` another frame."""
        named = self.asked.named(level)
        if not named:
            return rows
        sums = ExactSums({one.meta.output_name(): one.cast(pl.Float64) for one in named})
        return joined(rows, sums.of(rows if of is None else of, keys), keys)

    @cached_property
    def _keys_of_all(self) -> list[str]:
        """The segment keys of rows, and the model, without properties of users."""
        held = self.rows.sides.held
        of_rows = [one.inside for one in held.inputs.segments if one.at == "rows"]
        kept = {*held.rows, *of_rows, "model"}
        return [key for key in self.keys if key in kept]

    def _over_lists(self) -> pl.LazyFrame:
        """Return each segment with its number of lists, and the sums over them."""
        n_lists = pl.len().cast(pl.Int64).alias("n_lists")
        segments = aggregate(self.rows.described(self.every_list), self.keys, [n_lists])
        segments = self._of_all_models(segments)
        if not self.asked.columns.get(Level.OVER_LISTS):
            return segments
        exact, counts = self.asked.sums(Level.OVER_LISTS)
        lists = self.rows.described(lists_of(self.rows))
        return joined(segments, exact.summed(lists, self.keys, counts), self.keys)

    def _of_all_models(self, segments: pl.LazyFrame) -> pl.LazyFrame:
        """Return the segments with every model, since a segment of one model's lists is one of all models."""
        parts, models = [key for key in self.keys if key != "model"], self.rows.sides.held.models
        if not parts or len(parts) == len(self.keys) or models is None:
            return segments
        every = segments.select(parts).unique().join(models, how="cross")
        found = joined(every, segments, self.keys)
        return found.with_columns(pl.col("n_lists").fill_null(0))

    def _items(self) -> pl.LazyFrame:
        """Return each item of each segment with its sums over the lists, all segments' sums, facts and places."""
        asked, sides, keys = self.asked, self.rows.sides, distinct_names(*self.keys, "item")
        exact, counts = asked.sums(Level.OF_ITEM)
        n_places = pl.len().cast(pl.Int64).alias(N_PLACES)
        sums = exact.summed(self._places(), keys, [*counts, n_places])
        items = exact.put_together(self.run.added([sums], keys))
        facts = asked.facts_in(Level.PLACE, Level.EVERYWHERE, Level.OVER_ITEMS)
        items = sides.joined(items, facts, "item", "segment", "whole")
        everywhere = distinct_names(*self._keys_of_all, "item")
        return self._with_sums(items, Level.EVERYWHERE, everywhere)

    def _places(self) -> pl.LazyFrame:
        """Return the rows with all columns that sums over an item's places need."""
        asked, sides, own = self.asked, self.rows.sides, self.rows.keys
        rows = sides.joined(self.rows.rows, asked.facts_in(Level.OF_ITEM), "pair", "row", "item")
        if beside := asked.named(Level.BESIDE):
            lists = lists_of(self.rows).select(*own, *beside)
            rows = joined(rows, lists, own)
        rows = self.rows.described(rows)
        for level, keys in {Level.ALONG: self.keys, Level.ALONG_ALL: self._keys_of_all}.items():
            rows = rows.with_columns(
                _running(share, others=level is Level.ALONG_ALL)
                .over(*distinct_names(*keys, "item"), order_by=share)
                .alias(f"{level} {number}")
                for number, share in enumerate(asked.columns.get(level, []))
            )
        return rows

    def _over_items(self) -> pl.LazyFrame:
        """Return the sums over the items of each segment."""
        items, (exact, counts) = self._items(), self.asked.sums(Level.OVER_ITEMS)
        if Level.PLACE in self.asked.columns:
            items = self._placed(items)
        times = next((name for name in (NUMBER, SIGN) if name in items.collect_schema()), None)
        if times is None:
            return exact.of(items, self.keys, counts)
        number, terms = pl.col(times), self.asked.terms
        exact = replace(exact, values={name: one * number for name, one in exact.values.items()})
        names = [one.meta.output_name() for one in counts]
        counts = [(terms[name].cast(pl.Int64) * number).sum().alias(name) for name in names]
        if times == NUMBER:
            return exact.of(items, self.keys, counts)
        sums = exact.summed(items, self.keys, [*counts, number.first()])
        return exact.put_together(self.run.added([sums], self.keys))

    def _placed(self, items: pl.LazyFrame) -> pl.LazyFrame:
        """Return items that are alike as one row, with their number and the mean of their places.

        NOTE: of most catalogues few rows are left, so that places without each group of users take little.
        """
        columns, schema = self.asked.columns, items.collect_schema()
        values = {f"{Level.PLACE} {n}": one for n, one in enumerate(columns[Level.PLACE])}
        asked = [*values.values(), *columns[Level.OVER_ITEMS]]
        read = {name for one in asked for name in one.meta.root_names()} - {*values}
        alike, is_signed = [*self.keys, *sorted(read)], SIGN in schema
        number = pl.col(SIGN).sum() if is_signed else pl.len()
        items = aggregate(items, alike, [number.cast(pl.Int64).alias(NUMBER)])
        if is_signed:
            items = self.run.added([items.with_columns(pl.lit(1).alias(SIGN))], alike)
        # a window over no column at all does not stream
        items, among = items.with_columns(**values, all=pl.lit(0)), self.keys or ["all"]
        for name in values:
            known = pl.when(pl.col(name).is_not_null()).then(NUMBER)
            last = known.cum_sum().over(among, order_by=name).alias("last")
            mean = pl.col("last").max() - (known.sum() - 1) / 2
            items = items.with_columns(last).with_columns(mean.over(*among, name).alias(name))
        return items

    def _over_groups(self, groups: Fact) -> pl.LazyFrame:
        """Return the aggregates over the groups of items of each segment."""
        sums = self.run.added([groups.build(self.rows)], [*self.keys, "group"])
        parts = [name for name in sums.collect_schema() if name not in {*self.keys, "group"}]
        # in one order, in which sums of the few shares of groups have the same bits
        sums = sums.sort("group").select(*self.keys, pl.struct(parts).alias(groups.name))
        asked = self.asked.named(Level.OVER_GROUPS)
        read = [one for one in asked if groups.name in one.meta.root_names()]
        return aggregate(sums, self.keys, read)


def _running(share: pl.Expr, *, others: bool) -> pl.Expr:
    """Return the cumulative overlap with previous lists, as long or longer; or with the following ones too."""
    before = (share.is_not_null().cum_sum() - 1) * share
    return before + share.sum() - share.cum_sum() if others else before
