"""Jackknife contributions of users to set metrics."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from recframe.errors import without_order
from recframe.evaluation.execution import Run
from recframe.evaluation.metrics_of_lists import (
    N_PLACES,
    Cut,
    Lists,
)
from recframe.evaluation.required_columns import Needs, needs_of
from recframe.evaluation.segments import FOURTH, SQUARE, SUPPORT, TOTAL, N, keys_of
from recframe.evaluation.user_values import values_of_users
from recframe.frames.inputs import Inputs
from recframe.frames.rows.exact_sums import ExactSums
from recframe.frames.rows.joins import distinct_names, joined
from recframe.metrics.language.at import ratio
from recframe.metrics.language.definition import Metric
from recframe.ranking.judged_frame import judge
from recframe.side_info.aggregation_levels import Level
from recframe.side_info.requirements import check_needs

_BEYOND = {
    Level.ALONG: "it compares each list with all others",
    Level.ALONG_ALL: "it compares each list with those of other segments",
    Level.EVERYWHERE: "it compares the lists of a segment with those of others",
    Level.IN_ALL: "it compares the lists of a segment with those of others",
    Level.ACROSS: "it compares a segment of items with the others",
    Level.OVER_GROUPS: "it compares groups of items with each other",
}
"""Reasons why metrics on some levels have no contributions, by level."""


OF_CONTRIBUTIONS = (N, TOTAL, SQUARE, FOURTH)


def reason_without(metric: Metric[...]) -> str | None:
    """Return why a metric has no contributions of single lists; None of one that has them.

    A metric made of means has them by `contributions_of_means`, any other by `contributions`.
    """
    needs = needs_of(metric)
    if needs.means:
        return None
    if needs.over == "users" or metric.shape == "user":
        return "it is a mean over users, who have a value each"
    for level, reason in _BEYOND.items():
        if level in needs.levels:
            return reason
    if Level.PLACE in needs.levels and not metric.definition.builtin:
        return "it reads the places of items, which can all move without one list"
    return None


def contributions(inputs: Inputs, metrics: Sequence[Metric[...]], run: Run) -> pl.LazyFrame:
    """Compute each list's contribution to set metrics: keys and user by internal name, `value 0`, ...

    A list u contributes T + (n - 1) (T - T without u), shifted so that the mean is T, the metric's value of the segment. n is
    the number of lists with an item up to k: these alone have a contribution, and a row where k is the largest of the
    metrics'. It is null where there is no T without the list, and T where there is no other list. Without a list its rows
    are gone; the catalogue, the truth and the side frames stay.

    NOTE: gini alone is not exact. What its items lose is added up as if each fell alone, so that a contribution is off by
    2 / (N k) for each pair of the list's items that stand in equally many lists: their standard deviation is off by 3 % with
    30 lists and by 0.5 % with 300. With other weights an item passes others one by one, and pairs with close exposures count.
    """
    lists = Lists.of(inputs, metrics, run, SUPPORT)
    return _of_lists(lists, [*lists.values])


def with_spread(lists: Lists, metrics: Sequence[Metric[...]]) -> Lists:
    """Return the sums of list metrics, with sums of lists' contributions to set metrics.

    Segments of clusters or random groups are none that a metric has a value of: they have contributions of their own.
    """
    served = [str(one) for one in metrics if one.shape == "set" and not reason_without(one)]
    in_one_round = lists.run.in_one_round
    if not served or lists.cut.held.inputs.units or "user" in lists.keys or in_one_round:
        return lists
    rows = _of_lists(lists, served)
    names = [f"of contributions {place}" for place in range(len(served))]
    beside = dict(lists.beside)
    for metric, name in zip(served, names, strict=True):
        beside[metric] = {part: pl.col(f"{part} {name}") for part in OF_CONTRIBUTIONS}
    sums = sums_of_contributions(rows, lists.keys, names).rename(lists.named)
    return replace(lists, spread=sums, beside=beside)


def sums_of_contributions(
    rows: pl.LazyFrame,
    keys: Sequence[str],
    names: Sequence[str],
    parts: Sequence[str] = OF_CONTRIBUTIONS,
) -> pl.LazyFrame:
    """Return the sums over contributions, by metric and column suffix.

    Fourth powers are those about the mean of the rows with the same keys.
    """
    exact: dict[str, pl.Expr] = {}
    others: list[pl.Expr] = []
    for place, name in enumerate(names):
        value = pl.col(f"value {place}")
        apart = (value - value.mean()) ** 2
        exact |= {f"{TOTAL} {name}": value, f"{SQUARE} {name}": value * value}
        counts = {N: value.count().cast(pl.Int64), FOURTH: (apart * apart).sum()}
        others += [one.alias(f"{part} {name}") for part, one in counts.items() if part in parts]
    sums = ExactSums({name: one for name, one in exact.items() if name.partition(" ")[0] in parts})
    return sums.of(rows, keys, others)


def _of_lists(lists: Lists, metrics: Sequence[str]) -> pl.LazyFrame:
    """Return the contributions of lists to metrics, named by their strings."""
    values = [lists.values[name] for name in metrics]
    counts = [lists.beside[name][N] for name in metrics]
    removal = Removal(lists)
    rows = removal.rows(values, counts).with_columns(removal.remaining())
    # a count without the list is one less where it was counted
    entered = [less(count.meta.root_names()[0]) > 0 for count in counts]
    found = _contributed(rows, lists.keys, values, entered)
    return lists.run.own(found, removal.found)


def contributions_of_means(
    inputs: Inputs, metrics: Sequence[Metric[...]], run: Run
) -> pl.LazyFrame:
    """Compute the contributions to metrics made of means over users, all under the inputs' policies.

    Without a user the means run over the others. Each user of the universe has a row, and a contribution where any of the
    metric's means has a value of theirs.
    """
    asked = [needs_of(metric) for metric in metrics]
    for metric, needs in zip(metrics, asked, strict=True):
        check_needs(inputs, metric, needs.facts)
        if inputs.sharing == "expected":
            reason = "it is computed from several means, whose errors are correlated"
            raise without_order(str(metric), inputs.sharing, reason)
    keys = [*keys_of(inputs, metrics)]
    means = {str(mean): mean for needs in asked for mean in needs.means}
    of_user = {label: pl.col(f"value {number}") for number, label in enumerate(means)}
    own = _users(inputs, list(means.values()), keys, run)
    rows = run.added([own], distinct_names(*keys, "user"))
    values = [_of_means(needs) for needs in asked]
    entered = [_has_any(needs, of_user) for needs in asked]
    sums = ExactSums({f"sum of {label}": value for label, value in of_user.items()})
    counts = [value.count().alias(f"n of {label}") for label, value in of_user.items()]
    n_users = [one.sum().alias(f"n {number}") for number, one in enumerate(entered)]
    segments = sums.of(rows, keys, [*counts, *n_users])
    segments = segments.with_columns(_mean(label) for label in means)
    segments = segments.with_columns(
        value.alias(f"whole {number}") for number, value in enumerate(values)
    )
    rows = joined(rows, segments, keys)
    rows = rows.with_columns(_mean(label, value) for label, value in of_user.items())
    return run.own(_contributed(rows, keys, values, entered), own)


def _users(
    inputs: Inputs, means: Sequence[Metric[...]], keys: Sequence[str], run: Run
) -> pl.LazyFrame:
    """Return each segment's users with their values of the averaged metrics."""
    judged = judge(inputs, run.models(inputs))
    return values_of_users(judged, means, keys, run.ask, run.held).each()


def _has_any(needs: Needs, of_user: Mapping[str, pl.Expr]) -> pl.Expr:
    """Return whether a user has a value in any of the means."""
    return pl.any_horizontal(of_user[str(mean)].is_not_null() for mean in needs.means)


def _of_means(needs: Needs) -> pl.Expr:
    """Return the value of a metric of means; null if a mean is."""
    known = [pl.col(str(mean)).is_not_null() for mean in needs.means]
    return pl.when(*known).then(needs.value.cast(pl.Float64))


def _mean(label: str, without: pl.Expr | None = None) -> pl.Expr:
    """Return a mean of a segment, or of its users without one who has a value."""
    total, count = pl.col(f"sum of {label}"), pl.col(f"n of {label}").cast(pl.Float64)
    if without is not None:
        total, count = total - without.fill_null(0.0), count - without.is_not_null()
    return ratio(total, count, empty=None).alias(label)


def _contributed(
    rows: pl.LazyFrame, keys: Sequence[str], values: Sequence[pl.Expr], entered: Sequence[pl.Expr]
) -> pl.LazyFrame:
    """Return the contributions; rows have the whole values, their numbers of users, and what values are made of without one."""
    names = [f"value {number}" for number in range(len(values))]
    made = [_contribution(*one) for one in zip(range(len(values)), values, entered, strict=True)]
    rows = rows.with_columns(made).cache()
    counts = [pl.col(name).count().name.prefix("n of ") for name in names]
    means = ExactSums({f"sum of {name}": pl.col(name) for name in names}).of(rows, keys, counts)
    shifted = (
        pl.col(name) - pl.col(f"sum of {name}") / pl.col(f"n of {name}") + pl.col(f"whole {number}")
        for number, name in enumerate(names)
    )
    return joined(rows, means, keys).select(*distinct_names(*keys, "user"), *shifted)


def _contribution(number: int, without: pl.Expr, enters: pl.Expr) -> pl.Expr:
    whole, n = pl.col(f"whole {number}"), pl.col(f"n {number}").cast(pl.Float64)
    value = pl.when(n > 1).then(whole + (n - 1) * (whole - without)).otherwise(whole)
    return pl.when(enters).then(value).alias(f"value {number}")


def less(name: str) -> pl.Expr:
    """Return the column of a sum's change without the list."""
    return pl.col(f"less {name}")


@dataclass(frozen=True)
class Removal:
    """Segment sums, and the change of each without one list.

    A sum over lists loses the list's own value. A sum over items loses what each item of the list loses, whose value is
    another one once the list's share is gone from the item's own sums.
    """

    lists: Lists

    @property
    def keys(self) -> list[str]:
        """The keys of the segments."""
        return self.lists.keys

    @cached_property
    def found(self) -> pl.LazyFrame:
        """Each list with an item up to the largest k, of a bucket's own users, with the change of each sum without it."""
        return self.lists.cut.described(self._lists(self.lists.cut))

    def rows(self, values: Sequence[pl.Expr], counts: Sequence[pl.Expr]) -> pl.LazyFrame:
        """Return each list with an item up to the largest k: the keys, the user, the sums of the segment and their losses.

        Values are made of such sums; they stand beside as `whole 0`, ..., and counts as `n 0`, ...
        """
        keys = distinct_names(*self.keys, "user")
        lists = self.lists.run.added([self.found.select(*keys, pl.col("^less .*$"))], keys)
        segments = self._segments(lists, values).with_columns(
            *(value.alias(f"whole {number}") for number, value in enumerate(values)),
            *(count.alias(f"n {number}") for number, count in enumerate(counts)),
        )
        return joined(lists, segments, self.keys)

    def _segments(self, lists: pl.LazyFrame, values: Sequence[pl.Expr]) -> pl.LazyFrame:
        """Return each segment with its sums, and the facts that values read."""
        sums = ExactSums({name: less(name) for name in self._over_lists})
        segments = sums.of(lists, self.keys)
        if self._over_items:
            wholes = {name: pl.col(f"whole {name}").cast(pl.Float64) for name in self._over_items}
            steps = {f"step {name}": pl.col(f"step {name}") for name in self._placed}
            found = ExactSums(wholes | steps).of(self._items, self.keys)
            segments = joined(segments, found, self.keys)
        facts = self.lists.facts(values)
        return self.lists.cut.sides.joined(segments, facts, "segment", "whole")

    def remaining(self) -> list[pl.Expr]:
        """Return the sums without the list, from rows with both of the above.

        NOTE: an item without a list had one of the lowest places, so that those of all others are one lower without it.
        """
        names = [*self._over_lists, *self._over_items]
        found = {name: pl.col(name).cast(pl.Float64) - less(name) for name in names}
        for name in self._placed:
            steps = pl.col(f"step {name}") - less(f"step {name}")
            found[name] -= less(f"items of {name}") * steps
        return [one.alias(name) for name, one in found.items()]

    def _lists(self, cut: Cut) -> pl.LazyFrame:
        """Return each list with the change of each sum without it."""
        own = (
            term.cast(pl.Float64).fill_null(0.0).alias(f"less {name}")
            for name, term in self._over_lists.items()
        )
        names = [f"less {name}" for name in self._names_lost(self._over_items)]
        lists = self._with_lost(cut, names) if names else cut.lists()
        return lists.select(*cut.held.list_keys, *names, *own)

    def _with_lost(self, cut: Cut, names: Sequence[str]) -> pl.LazyFrame:
        """Return the lists with the summed changes of their rows; all sums at once, unless others are precomputed."""
        rows, sums, on = self._losing_rows(cut, names), pl.col(names).sum(), cut.held.list_keys
        if cut.summed is None:
            return cut.lists(rows, sums)
        lost = rows.group_by(on).agg(sums)
        return cut.summed.join(lost, on=on, how="left", nulls_equal=True)

    def _losing_rows(self, cut: Cut, lost: Sequence[str]) -> pl.LazyFrame:
        """Return the list rows with the change of item sums without each list."""
        lists, on = cut.held.list_keys, distinct_names(*self.keys, "item")
        shares = self._shares if self._by_row else {}
        rows = cut.places().select(
            *distinct_names(*lists, *on, "rank"),
            *(share.alias(f"share of {name}") for name, share in shares.items()),
        )
        alike = self._items if shares else self._items.select(*on, *lost)
        found = rows.join(alike, on=on, how="left", nulls_equal=True)
        columns = {name: pl.col(f"share of {name}") for name in shares}
        moving = [name for name in self._by_row if name in self._placed]
        if staying := [name for name in self._by_row if name not in moving]:
            found = self._losing(found, staying, columns)
        if moving:
            keys = [*on, *(f"share of {name}" for name in self._read_by(moving) if name in shares)]
            each = rows.select(keys).unique().join(self._items, on=on, nulls_equal=True)
            each = self._losing(each, moving, columns, moved=True)
            names = [f"less {name}" for name in self._names_lost(moving)]
            found = found.join(each.select(*keys, *names), on=keys, how="left", nulls_equal=True)
        return found.select(*distinct_names(*lists, "item", "rank"), *lost)

    @cached_property
    def _items(self) -> pl.LazyFrame:
        """Each item of each segment with its value in each sum over items, and what that loses without a list that has it.

        The latter where it is the same for all of these lists.
        """
        one = self.lists.cut
        items = one.with_places(one.with_facts(self.lists.items())).with_columns(
            *(term.alias(f"whole {name}") for name, term in self._over_items.items()),
            *(pl.col(name).cast(pl.Float64).alias(f"all {name}") for name in self._shares),
            *(value.alias(f"value of {name}") for name, (_, value) in self._placed.items()),
        )
        items = self._valued(one.with_places(items, "min"), "before", self._over_items)
        items = items.rename({f"step before {name}": f"step {name}" for name in self._placed})
        # NOTE: sums that were taken twice may differ in their last digit, and an item then stand below itself.
        items = items.cache()
        for name in self._placed:
            if name in self._by_row:
                items = self._with_those_below(items, items, name, pl.col(f"value of {name}"))
        same = [name for name in self._over_items if name not in self._by_row]
        shares = {name: share for name, share in self._shares.items() if _is_the_same(share)}
        items = self._losing(items, same, shares) if same else items
        return items.cache()

    def _losing(
        self,
        rows: pl.LazyFrame,
        names: Collection[str],
        shares: dict[str, pl.Expr],
        *,
        moved: bool = False,
    ) -> pl.LazyFrame:
        """Return rows with what an item's values in some sums lose without its share; `moved` where it may pass others.

        NOTE: an item that has no other place is then no item of the segment, whatever its value would be.
        """
        others = pl.col(N_PLACES) > 1
        smaller = (
            (pl.col(f"all {name}") - share.fill_null(0.0)).alias(name)
            for name, share in shares.items()
            if name in self._read_by(names)
        )
        rows = rows.with_columns(smaller)
        placed = [name for name in names if name in self._placed]
        for name in placed:
            place, value = self._placed[name]
            left = pl.when(others).then(value)
            gone = pl.col(place).is_not_null() & left.is_null()
            rows = rows.with_columns(gone.cast(pl.Float64).alias(f"less items of {name}"))
            rows = self._moved(rows, name, left) if moved else rows
        rows = self._valued(rows, "after", names)
        before = {name: pl.col(f"before {name}") for name in names}
        after = {name: pl.col(f"after {name}") for name in names}
        for name in placed:
            before[name] -= pl.col(f"passed {name}") if moved else 0.0
            before[f"step {name}"] = pl.col(f"step {name}")
            after[f"step {name}"] = pl.col(f"step after {name}")
        return rows.with_columns(
            (before[name] - pl.when(others).then(after[name]).fill_null(0.0)).alias(f"less {name}")
            for name in before
        )

    def _moved(self, rows: pl.LazyFrame, name: str, left: pl.Expr) -> pl.LazyFrame:
        """Return rows with the place that an item then has, and what those that it passes gain, which are one place up."""
        place, _ = self._placed[name]
        counts = (f"n below {name}", f"steps below {name}")
        first = rows.rename({count: f"first {count}" for count in counts})
        found = self._with_those_below(self._items, first, name, left)
        n, steps = (
            pl.when(pl.col(place).is_not_null())
            .then(pl.col(f"first {count}") - pl.col(count))
            .otherwise(0)
            for count in counts
        )
        return found.with_columns(steps.alias(f"passed {name}"), pl.col(place) - n)

    def _with_those_below(
        self, items: pl.LazyFrame, rows: pl.LazyFrame, name: str, value: pl.Expr
    ) -> pl.LazyFrame:
        """Return rows with the number of items below a value, and the sum of their steps; in order of the segments before.

        NOTE: a sort takes the time of a few items, and counts of earlier segments drop out of differences.
        """
        step = pl.col(f"step {name}")
        marks = items.filter(pl.col(f"value of {name}").is_not_null())
        marks = marks.select(*self.keys, at=f"value of {name}", mark=1, marked=step)
        asked = rows.with_columns(at=value.fill_null(-math.inf), mark=0, marked=0.0)
        both = pl.concat([asked, marks], how="diagonal").sort(*self.keys, "at", "mark")
        both = both.with_columns(
            pl.col("mark").cum_sum().alias(f"n below {name}"),
            pl.col("marked").cum_sum().alias(f"steps below {name}"),
        )
        return both.filter(pl.col("mark") == 0).drop("at", "mark", "marked")

    def _valued(self, rows: pl.LazyFrame, when: str, names: Collection[str]) -> pl.LazyFrame:
        """Return rows with their items' values in some sums, and by how much each would rise with the item one place up."""
        terms = {name: self._over_items[name].cast(pl.Float64).fill_null(0.0) for name in names}
        rows = rows.with_columns(one.alias(f"{when} {name}") for name, one in terms.items())
        if not (placed := {name: self._placed[name][0] for name in names if name in self._placed}):
            return rows
        steps = (
            (terms[name] - pl.col(f"{when} {name}")).alias(f"step {when} {name}") for name in placed
        )
        places = pl.col(list(dict.fromkeys(placed.values())))
        return rows.with_columns(places + 1).with_columns(steps).with_columns(places - 1)

    def _read_by(self, names: Iterable[str]) -> set[str]:
        """Return the columns that sums over items read, and the places in them."""
        terms = [self._over_items[name] for name in names]
        terms += [self._placed[name][1] for name in names if name in self._placed]
        return {root for term in terms for root in term.meta.root_names()}

    def _names_lost(self, names: Iterable[str]) -> list[str]:
        placed = [name for name in names if name in self._placed]
        return [*names, *(f"{what} {name}" for what in ("step", "items of") for name in placed)]

    @cached_property
    def _over_lists(self) -> dict[str, pl.Expr]:
        return self._terms(Level.OVER_LISTS)

    @cached_property
    def _over_items(self) -> dict[str, pl.Expr]:
        return self._terms(Level.OVER_ITEMS)

    @cached_property
    def _shares(self) -> dict[str, pl.Expr]:
        return self._terms(Level.OF_ITEM)

    def _terms(self, level: Level) -> dict[str, pl.Expr]:
        """Return the summands of a level's columns, by name."""
        names = [one.meta.output_name() for one in self.lists.asked.named(level)]
        return {name: self.lists.asked.terms[name] for name in names}

    @cached_property
    def _placed(self) -> dict[str, tuple[str, pl.Expr]]:
        """The sums over items that read an item's place: its column, and the value that it is the place of."""
        named = [one.meta.output_name() for one in self.lists.asked.named(Level.PLACE)]
        places = dict(zip(named, self.lists.asked.columns.get(Level.PLACE, []), strict=True))
        return {
            name: (root, places[root])
            for name, term in self._over_items.items()
            for root in term.meta.root_names()
            if root in places
        }

    @cached_property
    def _by_row(self) -> list[str]:
        """The sums over items that lose more without one list that has the item than without another."""
        vary = {name for name, share in self._shares.items() if not _is_the_same(share)}
        return [name for name in self._over_items if vary & self._read_by([name])]


def _is_the_same(share: pl.Expr) -> bool:
    """Return whether an item has the same share from all lists that have it."""
    return {*share.meta.root_names()} <= {"item"}
