"""Explanations of a metric, and of its differences between two profiles."""

from __future__ import annotations

import inspect
import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Generic, TypeVar

import polars as pl

from recframe.errors import ColumnError, RecframeError, readable
from recframe.evaluation import segments
from recframe.evaluation.evaluation import Convention
from recframe.evaluation.required_columns import needs_of
from recframe.frames.hints import Either, Given
from recframe.frames.inputs import Inputs
from recframe.frames.options import DEFAULTS, Context
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.profiles import library_profiles, under_profile
from recframe.profiles.switches import (
    BY_ITEMS,
    OF_HITS,
    OF_LISTS,
    POLICIES,
    RULES,
    WHERE,
    Switch,
    switch_of,
)

T = TypeVar("T")
WIDTH = 80
MOST_FOR_SHAPLEY = 6
START = "start"
TEXTS = ("switch", "from", "to", "direction")
NEEDED = {
    "catalogue": Either(
        "items= (or train=, for its items)", "--items FILE (or --train FILE, for its items)"
    ),
    "relevance": Either(
        "what is relevant, truth= or a judged frame", "what is relevant, TRUTH or a judged table"
    ),
}


@dataclass(frozen=True)
class Explanation(Generic[T]):
    """Result of `explain`: prints as `text`, as a cell of a notebook does; `frame` is the table."""

    text: str
    frame: T

    def __str__(self) -> str:
        return readable(self.text)

    def __repr__(self) -> str:
        first, *others = str(self).splitlines()
        return f"<{first}: {len(others)} more lines; print() shows them>"

    def _repr_pretty_(self, printer: Any, _: bool) -> None:  # noqa: FBT001  IPython calls it
        """Show the text in a notebook."""
        printer.text(str(self))


def explain(
    metric: str | Metric[...], *names: str, k: int | None = None
) -> Explanation[pl.DataFrame]:
    """Say what a metric means, under one profile or recframe's own conventions, or how two profiles differ in it.

    Prints the definition, the users that count, denominators, ties, duplicates, empty cases and the source. With two profiles
    ("recframe" is a profile too): the switches that differ, and for each whether it moves the number up, down or either way,
    and why. "up" means never lower. `frame` has one row for each switch.

    On a frame, `rec.explain` says the same with numbers.

    Raises a RecframeError for an unknown profile, for more than two, and for a metric that a profile's library lacks.

    >>> import recframe as rf
    >>> print(rf.explain("precision@10", "trec_eval", "jurity"))
    precision@10, from trec_eval to jurity
    <BLANKLINE>
    1. universe: truth -> both, up: users who can only count 0 are left out
         every user of the truth counts, one without a list as an empty list
         -> only users with a list and a truth count
    2. no_relevant: zero -> skip, up: users without relevant items no longer count 0
         a counted user without a relevant item counts 0 in metrics of hits
         -> a user without a relevant item is left out
    3. ties: item_desc -> item, either: equal scores have another order; a profile changes nothing if ranks are given
         equal scores in 32 bits are ordered by item as text, descending
         -> where ranks come from scores, equal scores are ordered by item
    4. denominator: k -> list, up: the denominator is smaller for some users and never larger
         hits are divided by k, by lists shorter than k too
         -> hits are divided by the length of the list up to k
    """
    sides = [_of_two_frames(side) for side in _sides(Context(), metric, names, k)]
    question = Question(names, sides)
    if len(sides) > 1:
        columns: tuple[str, ...] = (*TEXTS, "why")
        rows = [(*difference.row.values(), difference.why) for difference in question.differences]
    else:
        (one,), columns = sides, ("switch", "value", "meaning")
        rows = [
            (name, shown_value(value), words_of(one, name, value))
            for name, value in all_switches(one, moving(one))
        ]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
    return Explanation(question.text(), frame)


def question(
    inputs: Inputs, metric: str | Metric[...], names: Sequence[str], k: int | None
) -> Question:
    """Return the request to a frame that explains a metric under one convention, or between two."""
    sides = [
        replace(side, context=inputs.with_ties(side.context))
        for side in _sides(inputs.context, metric, names, k)
    ]
    if inputs.truth is not None:
        sides = [_of_two_frames(side) for side in sides]
    return Question(names, sides, inputs)


def meaning(inputs: Inputs, metric: Metric[...]) -> str:
    """Explain a metric in words for some frames under the bound options, without computing numbers."""
    return _meaning(question(inputs, metric, (), None).sides[0], ())


def _sides(
    context: Context, metric: str | Metric[...], names: Sequence[str], k: int | None
) -> list[Convention]:
    """Return the metric under each profile, or under the bound one where none is named."""
    if len(names) > 2:  # noqa: PLR2004  a difference has two sides
        raise RecframeError(
            f"explain() compares two profiles; found {len(names)}: {', '.join(map(repr, names))}"
        )
    (one,) = registry.asked([metric], k)[:1]
    contexts = [under_profile.bind(context, {"profile": name}) for name in names] or [context]
    return [under_profile.under(context, one) for context in contexts]


def _of_two_frames(one: Convention) -> Convention:
    """Return the convention with the universe of two frames; on a judged frame none is every user of it."""
    universe = one.context.universe or DEFAULTS["universe"]
    return replace(one, context=replace(one.context, universe=universe))


@dataclass(frozen=True)
class Question:
    """A metric under one convention, or between two; on a frame also with numbers."""

    names: Sequence[str]
    sides: Sequence[Convention]
    inputs: Inputs | None = None

    @cached_property
    def differences(self) -> list[Difference]:
        """The switches that differ between two sides."""
        return differences(*self.sides)

    @property
    def conventions(self) -> list[Convention]:
        """The metric itself; or of two sides the old one, then with each switch in turn, and where they are few each choice."""
        if len(self.sides) == 1:
            return list(self.sides)
        n = len(self.differences)
        chosen = [tuple(range(place)) for place in range(n + 1)]
        if n <= MOST_FOR_SHAPLEY:
            chosen += [some for size in range(n + 1) for some in combinations(range(n), size)]
        return [self._mixed(some) for some in dict.fromkeys(chosen)]

    def _mixed(self, chosen: Sequence[int]) -> Convention:
        """Return the old convention with some of the switches set as in the new one."""
        old: Any = self.sides[0]
        switches = [self.differences[place] for place in chosen]
        policies = {switch.name: switch.new for switch in switches if switch.name in POLICIES}
        parameters = {switch.name: switch.new for switch in switches if switch.name not in POLICIES}
        metric = replace(old.metric(**parameters), label=_label(chosen))
        return Convention(replace(old.context, **policies), metric)

    def table(self, inputs: Inputs, values: pl.LazyFrame) -> pl.LazyFrame:
        """Return one row for each switch, after one of the start: what the switch adds, and the number that it makes."""
        if len(self.sides) == 1:
            return values
        keys = [f"key {place}" for place in range(segments.n_keys(inputs))]
        names = values.collect_schema().names()[: len(keys)]
        values = segments.numbered(values, keys)
        start = dict(zip(TEXTS, (START, "", self.names[0], "same"), strict=True))
        steps = []
        for place, row in enumerate([start, *(difference.row for difference in self.differences)]):
            texts = [pl.lit(row[name]).alias(name) for name in TEXTS]
            numbers = _numbers(place, len(self.differences))
            steps.append(values.select(*keys, *texts, *numbers, place=pl.lit(place)))
        result = pl.concat(steps).sort(*keys, "place", nulls_last=True).drop("place")
        columns = result.collect_schema().names()[len(keys) :]
        for name in {*names} & {*columns}:
            raise ColumnError(
                f"{Given('by', name)} is also the name of a result column; rename the column first"
            )
        named = [pl.col(key).alias(name) for key, name in zip(keys, names, strict=True)]
        return result.select(*named, *columns)

    def text(self, rows: Sequence[Mapping[str, Any]] | None = None) -> str:
        """Return the words; `rows` are those of the result, None where it is lazy."""
        one, values = self.sides[0], None
        if self.inputs is not None and segments.n_keys(self.inputs) == 0:
            values = rows
        if len(self.sides) > 1:
            words = [f"{one.metric}, from {self.names[0]} to {self.names[1]}"]
            if values:
                first, last = (_number(values[place]["value"]) for place in (0, -1))
                words += [f"{first} and {last}; one switch after the other:"]
            words += ["", *_lines(self.differences, values or ()), "", *self._by_items()]
        else:
            words = [_meaning(one, self.names), "", *self._by_items()]
            if values:
                count = f"n_{one.over}"
                value = _number(values[0][str(one.metric)])
                words += [f"Here it is {value}; {count} is {values[0][count]}."]
        if self.inputs is not None and not values:
            where = (
                f"The numbers are in .frame{', a LazyFrame: collect it' if rows is None else ''}."
            )
            words += [str(Either(where, "The numbers are below."))]
        return "\n".join(words).rstrip()

    def _by_items(self) -> Iterator[str]:
        """Yield the paragraph on `by` columns that are properties of items, and an empty line."""
        columns = () if self.inputs is None else self.inputs.segments
        names = [
            column.name for column in columns if column.owner == "items" or column.inside == "item"
        ]
        if names:
            named = " and ".join(str(Given("by", name)) for name in names)
            yield _wrapped(BY_ITEMS[self.sides[0].over].format(by=named))
            yield ""


def _label(chosen: Sequence[int]) -> str:
    return f"value of {', '.join(map(str, chosen))}"


def _numbers(place: int, n: int) -> Iterator[pl.Expr]:
    """Yield a switch's contribution, the value with it, and if there are few switches its Shapley value."""
    value = pl.col(_label(range(place)))
    added = value - pl.col(_label(range(place - 1))) if place else pl.lit(0.0)
    yield from (added.alias("contribution"), value.alias("value"))
    if n <= MOST_FOR_SHAPLEY:
        yield (_shapley(place - 1, n) if place else pl.lit(0.0)).alias("shapley")


def _shapley(place: int, n: int) -> pl.Expr:
    """Return the Shapley value of a switch: its mean contribution over all orders."""
    total: pl.Expr = pl.lit(0.0)
    others = [one for one in range(n) if one != place]
    for size in range(n):
        for chosen in combinations(others, size):
            added = pl.col(_label(sorted((*chosen, place)))) - pl.col(_label(chosen))
            total = total + added / (n * math.comb(n - 1, size))
    return total


# In words


def _meaning(one: Convention, names: Sequence[str]) -> str:
    """Return the explanation of one convention."""
    metric, context = one.metric, one.context
    about = inspect.cleandoc(metric.__doc__ or "").split("\n\n")
    name = names[0] if names else context.profile or library_profiles.OWN
    whose = "recframe's own conventions"
    if name != library_profiles.OWN:
        whose = f"the conventions of {name}"
    parts = [f"{metric}, by {whose}"]
    parts += [part for part in about if not part.startswith((">>>", "Source:"))]
    if metric.definition.needs:
        parts += [f"It needs {' and '.join(map(_needed, metric.definition.needs))}."]
    cut = "The whole list counts." if metric.k is None else f"Only ranks up to {metric.k} count."
    parts += [f"With the default parameters: {metric.definition.formula}. {cut} Here:"]
    parts = [*map(_wrapped, parts), "\n".join(_wrapped(f"- {line}") for line in _rules(one))]
    parts += map(_wrapped, RULES[one.over])
    parts += [_wrapped(part) for part in about if part.startswith("Source:")]
    profile = library_profiles.PROFILES.get(context.profile or "")
    if profile is not None:
        parts += [_wrapped(f"Profile: {'; '.join(filter(None, [profile.source, profile.notes]))}.")]
    return "\n\n".join(parts)


def _rules(one: Convention) -> Iterator[str]:
    """Yield a line on the lists that count, and one on each switch."""
    metric = one.metric
    if one.over == "lists":
        cut = "" if metric.k is None else f" up to {metric.k}"
        followed = {"user": "relevance", "set": "set of relevance"}
        for words in OF_LISTS[followed[metric.shape] if _follows(metric) else metric.shape]:
            yield words.format(cut=cut)
    for name, value in all_switches(one, moving(one)):
        is_described = switch_of(name, metric.definition.family) is not None
        setting = f" ({name}={shown_value(value)})" if is_described else ""
        yield f"{words_of(one, name, value)}{setting}."


def _needed(name: str) -> str:
    return str(NEEDED.get(name, Either(f"{name}=", f"--{name} FILE")))


def _wrapped(text: str) -> str:
    indent = "  " if text.startswith("- ") else ""
    return textwrap.fill(" ".join(text.split()), WIDTH, subsequent_indent=indent)


def _number(value: float | None, sign: str = "") -> str:
    # -0.0 + 0.0 is 0.0
    return "null" if value is None or math.isnan(value) else f"{round(value, 6) + 0.0:{sign}.6f}"


def _lines(switches: Sequence[Difference], rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Give the lines on each difference; `rows` have the numbers, the start before the differences."""
    if not switches:
        yield "No switch differs."
    for place, one in enumerate(switches, 1):
        why = f"{one.direction}: {one.why}" if one.why else one.direction
        yield f"{place}. {one.name}: {shown_value(one.old)} -> {shown_value(one.new)}, {why}"
        if rows:
            added = f"     adds {_number(rows[place]['contribution'], '+')}"
            if "shapley" in rows[place]:
                added += f"; {_number(rows[place]['shapley'], '+')} over all orders"
            yield added
        yield f"     {one.words[0]}"
        yield f"     -> {one.words[1]}"


@dataclass(frozen=True)
class Difference:
    """Switch on which two conventions differ."""

    name: str
    old: Any
    new: Any
    direction: str
    why: str
    words: tuple[str, str]

    @property
    def row(self) -> dict[str, str]:
        """The difference as texts."""
        texts = (self.name, shown_value(self.old), shown_value(self.new), self.direction)
        return dict(zip(TEXTS, texts, strict=True))


OTHER_VALUE = Switch({}, either="another value")
NOT_OF_RELEVANCE = {"listed_rank", "whole_rank", "listed_judged", "cut_rank"}


# What a metric means


def all_switches(one: Convention, policies: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield every switch of a convention in order of application; rounding is last."""
    for name in policies:
        if name != "decimals":
            yield name, getattr(one.context, name)
    yield from one.metric.parameters.items()
    yield "decimals", one.context.decimals


def moving(*sides: Convention) -> list[str]:
    """Return the policies that can change a number of some conventions."""
    still = set.intersection(*(_without_effect(side) for side in sides))
    return [name for name in POLICIES if name not in still]


def _without_effect(one: Convention) -> set[str]:
    """Return the policies that do not concern a metric: those of relevance, of the universe, of the order."""
    has_zeros = one.context.no_relevant == "zero"
    if one.over == "users":
        if not has_zeros or _columns(one.metric) - NOT_OF_RELEVANCE:
            return set()
        return {"relevant_from", "min_relevance"}
    needs = needs_of(one.metric)
    is_read = needs.reads_relevance
    without = set() if needs.reads_ranks else {"ties"}
    without |= set() if _follows(one.metric) else {"universe", "no_relevant"}
    without |= set() if is_read else {"min_relevance"}
    return without if is_read and not has_zeros else {*without, "relevant_from"}


def _follows(metric: Metric[...]) -> bool:
    """Return whether a metric over lists runs over the users of the accuracy metrics alone; a set metric says so by a fact."""
    needs = needs_of(metric)
    says_so = any(fact.name.startswith("member ") for fact in needs.facts)
    return says_so or (metric.shape == "user" and needs.reads_relevance)


def words_of(one: Convention, name: str, value: Any) -> str:
    """Return the meaning of a switch's value, or the value of an undescribed parameter."""
    switch = switch_of(name, one.metric.definition.family)
    if switch is None:
        return f"{name} is {value}"
    return switch.words(value, WHERE[one.context.relevant_from])


def shown_value(value: Any) -> str:
    """Return a switch's value as text."""
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


# How two conventions differ


def differences(old: Convention, new: Convention) -> list[Difference]:
    """Return the switches that differ, in the order in which they are switched."""
    policies = moving(old, new) if old.over == "lists" else [*POLICIES]
    before, after = dict(all_switches(old, policies)), dict(all_switches(new, policies))
    read = _columns(old.metric) | _columns(new.metric)
    holding = {
        "binary": {before.get("gain"), after.get("gain")} == {"binary"},
        "cut": old.metric.k is not None,
    }
    switched = []
    for name, value in before.items():
        other = after[name]
        if value == other:
            continue
        switch = switch_of(name, old.metric.definition.family) or OTHER_VALUE
        metrics = (old.metric, new.metric)
        chained = name not in POLICIES or all(_holds(switch, metric, read) for metric in metrics)
        direction, why = switch.direction(value, other, chained=chained, **holding)
        words = (words_of(old, name, value), words_of(new, name, other))
        # what differs in this is switched after the users
        why = why.format(where=WHERE[old.context.relevant_from])
        switched.append(Difference(name, value, other, direction, why, words))
    return switched


def _columns(metric: Metric[...]) -> set[str]:
    """Return the columns that a user metric requests, itself or through metrics it averages."""
    return set(needs_of(metric).columns)


def _holds(switch: Switch, metric: Metric[...], read: set[str]) -> bool:
    """Return whether a policy's chains hold of a metric: they speak of users who can only count 0."""
    return (
        metric.direction == "higher"
        and metric.parameters.get("without_relevant") != "one"
        and bool(read & OF_HITS)
        and not read & switch.unless
    )
