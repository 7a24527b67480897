"""Plan of list metrics: sums per list, item and segment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import polars as pl

from recframe.errors import NeedsAllUsersError, RecframeError, without_order
from recframe.evaluation.plan import Run
from recframe.evaluation.required_columns import needs_of
from recframe.evaluation.segments import (
    SQUARE,
    TOTAL,
    ZERO,
    N,
    deepest_of,
    keys_of,
)
from recframe.evaluation.user_values import CutsTaken
from recframe.frames.collecting import Ask, stream
from recframe.frames.inputs import Inputs
from recframe.frames.rows.exact_sums import ExactSums, of_few
from recframe.frames.rows.joins import aggregate, at_best_rank, distinct_names, joined
from recframe.frames.rows.lookups import Lookup, lookup
from recframe.frames.rows.profiling import distinct_ids, marked_sorted, merged
from recframe.metrics.language.at import ratio
from recframe.metrics.language.at_lists import AtLists
from recframe.metrics.language.definition import Metric
from recframe.ranking.judged import Judged, judge
from recframe.ranking.known import ranked_or_relevant, ranked_with_relevance
from recframe.side_info import attributes
from recframe.side_info.aggregation_levels import Level, Levels
from recframe.side_info.groups_of_items import Listed
from recframe.side_info.precompute import settled
from recframe.side_info.requirements import check_needs
from recframe.side_info.sources import Fact, FromSides, Sides, has_relevant, in_universe
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
RELEVANT = Fact(attributes.relevant)
N_PLACES = "n places"
"""Column with the number of an item's rows in a segment's lists."""
SIGN = "sign"
"""Column with the sign of an item in sums over items, where these are changes."""
SETS = ("segment", "at.over_items(...) or at.over_lists(...)")
USERS = ("list", "at.sum(...) or at.mean(...)")


@dataclass(frozen=True)
class Lists:
    """List metrics of a call: their values, and the lists that these are made of."""

    values: dict[str, pl.Expr]
    """Each metric's value of a segment."""
    beside: dict[str, dict[str, pl.Expr]]
    """Extra columns of each metric: number of lists averaged over or read, and sums."""
    asked: Levels
    keys: list[str]
    cut: Cut
    """The lists, up to the largest k."""
    run: Run

    @classmethod
    def of(
        cls, inputs: Inputs, metrics: Sequence[Metric[...]], run: Run, beside: Sequence[str] = ()
    ) -> Lists:
        """Return the values of the metrics, and their extra columns named in `beside`."""
        check(inputs, metrics)
        keys = [*keys_of(inputs, metrics)]
        most, asked = deepest_of(metrics), Levels()
        made = {str(metric): value_of(metric, asked, most, beside) for metric in metrics}
        values = {name: value for name, (value, _) in made.items()}
        found = {name: parts for name, (_, parts) in made.items()}
        return cls(values, found, asked, keys, cut_of(inputs, asked, keys, most, run), run)

    @property
    def named(self) -> dict[str, str]:
        """The numbered names of the keys."""
        return {key: f"key {place}" for place, key in enumerate(self.keys)}

    @cached_property
    def frame(self) -> pl.LazyFrame:
        """The keys, numbered, n_lists, and sums of lists and of items."""
        frame = self._segments().rename(self.named)
        return frame.drop("n_lists") if "user" in self.keys else frame

    def _segments(self) -> pl.LazyFrame:
        """Return each segment with the sums over its lists, its items and its groups of items."""
        one, asked, keys = self.cut, self.asked, self.keys
        segments = self.run.added([one.segments()], keys)
        segments = asked.sums(Level.OVER_LISTS)[0].put_together(segments)
        if asked.columns.get(Level.OF_ITEM):
            items = self.items()
            if asked.columns.get(Level.OVER_ITEMS):
                segments = joined(segments, one.over_items(items, self.run), keys)
        for groups in asked.sums_of_groups.values():
            sums = self.run.added([one.groups(groups)], [*keys, "group"])
            segments = joined(segments, one.over_groups(sums, groups), keys)
        return one.in_all(segments)

    def items(self) -> pl.LazyFrame:
        """Return each item of each segment with its sums over the lists."""
        keys = distinct_names(*self.keys, "item")
        items = self.run.added([self.cut.items()], keys)
        return self.asked.sums(Level.OF_ITEM)[0].put_together(items)

    def facts(self, values: Iterable[pl.Expr]) -> list[Fact]:
        """Return the facts that are read by values of segments."""
        roots = {name for value in values for name in value.meta.root_names()}
        return [fact for name, fact in self.asked.facts.items() if name in roots]

    def with_facts(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return segments joined with their facts, those without a list included."""
        sides, named = self.cut.sides, self.named
        if across := self.asked.named(Level.ACROSS):
            of_users = [named[key] for key in self.keys if key not in sides.item_keys]
            sums = {one.meta.output_name(): one.cast(pl.Float64) for one in across}
            rows = joined(rows, ExactSums(sums).of(self.frame, of_users), of_users)
        facts = self.facts(self.values.values())
        return sides.joined(rows, facts, "segment", "whole", named=named)


def evaluate(
    inputs: Inputs, metrics: Sequence[Metric[...]], run: Run, beside: Sequence[str] = ()
) -> Lists:
    """Return the sums of the metrics, and their extra columns named in `beside`."""
    lists = Lists.of(inputs, metrics, run, beside)
    if run.is_divided and {Level.ALONG, Level.ALONG_ALL} & lists.asked.columns.keys():
        shown = f"one of {', '.join(lists.values)} compares each list with all others"
        msg = f"{shown}, which no bucket of users has; request it of frames in memory, in one plan, without memory="
        raise NeedsAllUsersError(msg)
    if SQUARE not in beside:
        return lists
    return replace(lists, cut=lists.cut.with_items_held())


def values_of_each(
    inputs: Inputs, metrics: Sequence[Metric[...]], run: Run
) -> tuple[Judged, pl.LazyFrame]:
    """Return the lists with an item up to k and the metrics' values of each: `value 0`, ..."""
    check(inputs, metrics)
    most, asked = deepest_of(metrics), Levels()
    words = [_words(metric, asked, most) for metric in metrics]
    values = [
        _of_a_list(metric, at, metric.value(at)) for metric, at in zip(metrics, words, strict=True)
    ]
    cut = cut_of(inputs, asked, [], most, run)
    named = [value.alias(f"value {number}") for number, value in enumerate(values)]
    return cut.held, cut.lists().select(*cut.held.list_keys, *named)


def cut_of(inputs: Inputs, asked: Levels, keys: list[str], most: int | None, run: Run) -> Cut:
    """Return the lists, cut at the largest k, with the requested columns."""
    judged = judge(inputs, run.models(inputs))
    cut = Cut(Sides(inputs, judged), asked, keys, most)
    if run.ask is None:
        return cut
    return cut.settled(run.ask, None if run.held is None else run.held.cuts)


def check(inputs: Inputs, metrics: Sequence[Metric[...]]) -> None:
    """Reject metrics without a value under unbroken ties, or without a required side frame."""
    for metric in metrics:
        if inputs.sharing is not None:
            uncertain = ", which is uncertain" * (inputs.sharing == "expected")
            reason = f"it describes the items that are among the first k{uncertain}"
            raise without_order(str(metric), inputs.sharing, reason)
        check_needs(inputs, metric, needs_of(metric).facts)


def value_of(
    metric: Metric[...], asked: Levels, most: int | None, beside: Sequence[str]
) -> tuple[pl.Expr, dict[str, pl.Expr]]:
    """Return a metric's value of a segment (for user shape the mean over lists), and its extra columns.

    `most` is where the rows of the lists are cut, the largest k of all metrics.
    """
    at = _words(metric, asked, most)
    value = metric.value(at)
    is_set = metric.shape == "set"
    spoken_of = {at.asked.speaks_of.get(name) for name in value.meta.root_names()}
    if not spoken_of <= (OF_SEGMENTS if is_set else OF_LISTS):
        whose, how = SETS if is_set else USERS
        msg = f"the metric {metric.name!r} has no value for each {whose}; return one: {how}"
        raise RecframeError(msg)
    if is_set:
        return value.cast(pl.Float64), {N: _number(at.n_lists)} if N in beside else {}
    value = _of_a_list(metric, at, value)
    total, count = at.over_lists(value), at.over_lists(value.is_not_null(), counts=True)
    found = {N: _number(count)} if N in beside else {}
    if TOTAL in beside:
        found |= {TOTAL: total, SQUARE: at.over_lists(value * value)}
        found |= {ZERO: _number(at.over_lists(value == 0, counts=True))}
    return ratio(total, count, empty=None), found


def _words(metric: Metric[...], asked: Levels, most: int | None) -> AtLists:
    k = metric.k
    return AtLists(k, asked, cut=k == most)


def _of_a_list(metric: Metric[...], at: AtLists, value: pl.Expr) -> pl.Expr:
    """Return the column of a metric's value of each list."""
    value = value.cast(pl.Float64)
    # NOTE: beside an accuracy metric it is to speak of the same users
    if needs_of(metric).reads_relevance:
        counted = in_universe, has_relevant
        value = pl.when(*(at.fact(one).fill_null(value=False) for one in counted)).then(value)
    return at.asked.column(Level.VALUE, value)


def _number(of: pl.Expr) -> pl.Expr:
    return of.fill_null(0).cast(pl.Int64)


def _running(share: pl.Expr, *, others: bool) -> pl.Expr:
    """Return the cumulative overlap with previous lists, as long or longer; or with the following ones too."""
    before = (share.is_not_null().cum_sum() - 1) * share
    return before + share.sum() - share.cum_sum() if others else before


@dataclass(frozen=True)
class Cut:
    """Lists of one part of the users, cut at k, with sums."""

    sides: Sides
    asked: Levels
    keys: list[str]
    k: int | None
    given: pl.LazyFrame | None = None
    """Rows, if precomputed."""
    crowd: pl.LazyFrame | None = None
    """Distinct lists with a ranked row, if precomputed."""
    summed: pl.LazyFrame | None = None
    """Lists with their sums, if precomputed."""
    itemed: pl.LazyFrame | None = None
    """Items of the segments with their sums, if requested repeatedly."""
    of_lists: Lookup | None = None
    """List values in a lookup table, where users are integers of a small range."""

    def settled(self, ask: Ask, kept: CutsTaken | None = None) -> Cut:
        """Return the cut with rows taken once from a large eager frame; results do not change.

        `kept` has what was taken from the same frame before, and keeps what is.
        """
        keys = self.held.list_keys
        cut_as = (self.held.context.policies, *self.held.rows, self.k, self._says_relevance)
        rows, crowd = (kept or {}).get(cut_as) or self._taken(ask)
        if kept is not None:
            kept[cut_as] = rows, crowd
        sides = settled(self.sides, ask, rows, self.asked.of_sides)
        sides, rows = self._with_facts_of_items(sides, rows, ask)
        cut = replace(self, sides=sides, given=rows.lazy(), crowd=crowd.lazy())
        if not (beside := self.asked.named(Level.BESIDE)):
            return cut
        summed = stream(cut.lists())
        if keys != ["user"]:
            return replace(cut, summed=summed.lazy())
        (values,) = ask([summed.lazy().select(*keys, *beside)])
        found = lookup(values, "user", rows.schema["user"])
        return replace(cut, summed=summed.lazy(), of_lists=found)

    def _with_facts_of_items(
        self, sides: Sides, rows: pl.DataFrame, ask: Ask
    ) -> tuple[Sides, pl.DataFrame]:
        """Return rows with the facts of their items, where these are integers of a small range."""
        facts = self.asked.facts_in(Level.OF_LIST, Level.OF_ITEM)
        on, facts_of_items, _ = sides.table("item", facts)
        if facts_of_items is None:
            return sides, rows
        (table,) = ask([facts_of_items])
        found = lookup(table, "item", rows.schema["item"])
        if found is None:
            return sides, rows
        names = [name for name in table.columns if name not in on]
        (rows,) = ask([found.beside(rows.lazy(), names)])
        return replace(sides, beside=sides.beside | {*names}), rows

    def _taken(self, ask: Ask) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the rows up to k, and the lists with a ranked row, each once."""
        keys = self.held.list_keys
        changes = [pl.col(key).ne_missing(pl.col(key).shift()) for key in keys]
        heads = (
            self.held.ranked().select(keys).filter(pl.any_horizontal(changes).fill_null(value=True))
        )
        says = self._says_relevance
        given = ranked_or_relevant(self.held, self.k) if says else self.held.ranked(self.k)
        rows, crowd = ask([given, heads])
        rows = marked_sorted(rows, "user")
        if says:
            rows = ranked_with_relevance(rows, ask).rename({"relevant": RELEVANT.name})
        elif self.held.scores is None:
            rows = merged(rows, keys, ask)
        rows = marked_sorted(rows, "user")
        crowd = distinct_ids(crowd["user"]).to_frame() if keys == ["user"] else crowd.unique()
        return rows, crowd

    @property
    def _says_relevance(self) -> bool:
        """Whether the rows' relevance is requested, and available in their frame."""
        in_one = self.held.truth is None and self.held.list_keys == ["user"]
        return in_one and RELEVANT.name in self.asked.facts

    @property
    def held(self) -> Judged:
        """The lists joined with the truth."""
        return self.sides.held

    @property
    def rows(self) -> pl.LazyFrame:
        """The rows of the lists up to k, each item of a list once, at its best rank."""
        if self.given is not None:
            return self.given
        rows = self.held.ranked(self.k)
        return rows if self.held.scores is not None else at_best_rank(rows, self.held.list_keys)

    def lists(self, given: pl.LazyFrame | None = None, *also: pl.Expr) -> pl.LazyFrame:
        """Return each list with an item up to k, its sums, and the values of the metrics that have one for each list.

        `also` is summed up too, of rows that have more columns.
        """
        if self.summed is not None and given is None:
            return self.summed
        rows = self.sides.joined(
            self.rows if given is None else given,
            self.asked.facts_in(Level.OF_LIST),
            "pair",
            "row",
            "item",
            "segment",
            "whole",
        )
        of_features = Rows(self.sides, self.asked, self.held.list_keys, self.rows)
        exact, counts = self.asked.sums(Level.OF_LIST)
        lists = of_few(
            rows,
            self.held.list_keys,
            exact.values,
            [*counts, *also],
        )
        lists = of_features.beside(lists)
        facts = self.asked.facts_in(Level.VALUE, Level.OVER_LISTS, Level.BESIDE)
        lists = self.sides.joined(lists, facts, "list", "user", "member", "segment", "whole")
        return lists.with_columns(self.asked.named(Level.VALUE))

    def segments(self) -> pl.LazyFrame:
        """Return each segment with its number of lists, and the sums over them."""
        crowd = self.crowd
        if crowd is None:
            crowd = self.held.ranked().select(self.held.list_keys).unique()
        support = aggregate(
            self.described(crowd), self.keys, [pl.len().cast(pl.Int64).alias("n_lists")]
        )
        support = self._of_all_models(support)
        if not self.asked.columns.get(Level.OVER_LISTS):
            return support
        exact, counts = self.asked.sums(Level.OVER_LISTS)
        sums = exact.summed(self.described(self.lists()), self.keys, counts)
        return joined(support, sums, self.keys)

    def _of_all_models(self, support: pl.LazyFrame) -> pl.LazyFrame:
        """Return the segments with every model, since a segment of one model's lists is one of all models."""
        parts = [key for key in self.keys if key != "model"]
        if not parts or len(parts) == len(self.keys) or self.held.models is None:
            return support
        every = support.select(parts).unique().join(self.held.models, how="cross")
        found = every.join(support, on=self.keys, how="left", nulls_equal=True)
        return found.with_columns(pl.col("n_lists").fill_null(0))

    def items(self) -> pl.LazyFrame:
        """Return each item of each segment with its number of rows, and its sums over the lists."""
        if self.itemed is not None:
            return self.itemed
        n_places = pl.len().cast(pl.Int64).alias(N_PLACES)
        exact, counts = self.asked.sums(Level.OF_ITEM)
        return exact.summed(self.places(), distinct_names(*self.keys, "item"), [*counts, n_places])

    def with_items_held(self) -> Cut:
        """Return the same with the sums of the items taken once, however many ask for them."""
        return replace(self, itemed=self.items().cache())

    def places(self) -> pl.LazyFrame:
        """Return the rows with all columns that sums over an item's places need."""
        rows = self.sides.joined(
            self.rows, self.asked.facts_in(Level.OF_ITEM), "pair", "row", "item"
        )
        rows = self.described(self._with_beside(rows))
        among = {Level.ALONG: self.keys, Level.ALONG_ALL: self._keys_of_all}
        for level, keys in among.items():
            shares = self.asked.columns.get(level, [])
            running = (_running(share, others=level is Level.ALONG_ALL) for share in shares)
            rows = rows.with_columns(
                one.over(*distinct_names(*keys, "item"), order_by=share).alias(f"{level} {number}")
                for number, (one, share) in enumerate(zip(running, shares, strict=True))
            )
        return rows

    def _with_beside(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows with the values of their lists."""
        beside, keys = self.asked.named(Level.BESIDE), self.held.list_keys
        if not beside:
            return rows
        if self.of_lists is not None:
            names = [one.meta.output_name() for one in beside]
            return self.of_lists.beside(rows, names)
        lists = self.lists().select(*keys, *beside)
        return rows.join(lists, on=keys, how="left", nulls_equal=True)

    def over_items(self, items: pl.LazyFrame, run: Run) -> pl.LazyFrame:
        """Return the sums over the items of each segment."""
        items = self.with_places(self.with_facts(items))
        exact, counts = self.asked.sums(Level.OVER_ITEMS)
        if SIGN not in items.collect_schema():
            return exact.of(items, self.keys, counts)
        sign, terms = pl.col(SIGN), self.asked.terms
        exact = replace(exact, values={name: one * sign for name, one in exact.values.items()})
        names = [one.meta.output_name() for one in counts]
        counts = [(terms[name].cast(pl.Int64) * sign).sum().alias(name) for name in names]
        sums = exact.summed(items, self.keys, [*counts, sign.first()])
        return exact.put_together(run.added([sums], self.keys))

    def with_facts(self, items: pl.LazyFrame) -> pl.LazyFrame:
        """Return the items of the segments with their facts, and their sums over all segments of users."""
        facts = self.asked.facts_in(Level.PLACE, Level.EVERYWHERE, Level.OVER_ITEMS)
        items = self.sides.joined(items, facts, "item", "segment", "whole")
        if everywhere := self.asked.named(Level.EVERYWHERE):
            keys = distinct_names(*self._keys_of_all, "item")
            sums = {one.meta.output_name(): one.cast(pl.Float64) for one in everywhere}
            items = joined(items, ExactSums(sums).of(items, keys), keys)
        return items

    def with_places(
        self, items: pl.LazyFrame, method: Literal["ordinal", "min"] = "ordinal"
    ) -> pl.LazyFrame:
        """Return the items with their places in their segments; those of one value share the lowest, or each has its own."""
        if not (places := self.asked.columns.get(Level.PLACE)):
            return items
        # a window over no column at all does not stream
        items, among = items.with_columns(all=pl.lit(0)), self.keys or ["all"]
        ranks = (
            one.rank(method).over(among).alias(f"{Level.PLACE} {number}")
            for number, one in enumerate(places)
        )
        return items.with_columns(ranks)

    def groups(self, of: FromSides) -> pl.LazyFrame:
        """Return each group of items of each segment with its sums over the lists."""
        sums: pl.LazyFrame = of.build(Listed(self.sides, self.rows, self.keys, self.described))
        return sums

    def over_groups(self, sums: pl.LazyFrame, of: FromSides) -> pl.LazyFrame:
        """Return the aggregates over the groups of each segment."""
        parts = [
            name for name in sums.collect_schema().names() if name not in {*self.keys, "group"}
        ]
        # in one order, in which sums of the few shares of groups have the same bits
        groups = sums.sort("group").select(*self.keys, pl.struct(parts).alias(of.name))
        asked = [
            one for one in self.asked.named(Level.OVER_GROUPS) if of.name in one.meta.root_names()
        ]
        return aggregate(groups, self.keys, asked)

    def in_all(self, segments: pl.LazyFrame) -> pl.LazyFrame:
        """Return the segments with sums over those of all users in place of their own."""
        if not (found := self.asked.named(Level.IN_ALL)):
            return segments
        sums = {one.meta.output_name(): one.cast(pl.Float64) for one in found}
        keys = self._keys_of_all
        return joined(segments, ExactSums(sums).of(segments, keys), keys)

    @property
    def _keys_of_all(self) -> list[str]:
        """The segment keys of rows, and the model, without properties of users."""
        of_rows = {
            *self.held.rows,
            *(one.inside for one in self.held.inputs.segments if one.at == "rows"),
        }
        return [key for key in self.keys if key in {*of_rows, "model"}]

    def described(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows with the segments that are properties of their users."""
        return self.held.inputs.attach(rows, "users")
