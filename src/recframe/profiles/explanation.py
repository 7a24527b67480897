"""Explanations of a metric, and of its differences between two profiles."""

from __future__ import annotations

import html
import inspect
import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
WIDTH = 100
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
    """Result of `explain`: prints as `text`; `frame` is the table."""

    text: str
    frame: T

    def __str__(self) -> str:
        return readable(self.text)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


def explain(
    metric: str | Metric[...], *names: str, k: int | None = None
) -> Explanation[pl.DataFrame]:
    """Say what a metric means, under one profile or recframe's own conventions, or how two profiles differ in it.

    Prints the definition, the users that count, denominators, ties, duplicates, empty cases and the source. With two
    profiles ("recframe" is one of them): the switches that differ, and for each whether it moves the number up, down or
    either way, and why. "up" is never lower, and can be the same. `frame` has one row for each switch.

    On a frame, `rec.explain` says the same with numbers.

    Raises a RecframeError for an unknown profile, for more than two, and for a metric that a profile's library lacks.

    >>> import recframe as rf
    >>> print(rf.explain("precision@10", "trec_eval", "jurity"))
    precision@10, from trec_eval to jurity
    <BLANKLINE>
    1. universe: truth -> both, up: users who can only count 0 are left out
         every user of the truth counts, one without a list as an empty list
         -> users with a list and a truth count, no others
    2. no_relevant: zero -> skip, up: users without relevant items no longer count 0
         a counted user without a relevant item counts 0 in metrics of hits
         -> a user without a relevant item is left out
    3. ties: item_desc -> item, either: equal scores stand in another order; a profile changes nothing where ranks are given
         equal scores (with ties= bound, equal ranks too) in 32 bits stand in the order of their items as text, the last first
         -> where ranks come from scores, equal scores stand in the order of their items
    4. denominator: k -> list, up: the denominator is smaller for some users and never larger
         hits are divided by k, by lists shorter than k too
         -> hits are divided by the length of the list up to k
    """
    sides = [_of_two_frames(one) for one in _sides(Context(), metric, names, k)]
    if len(sides) == 1:
        one = sides[0]
        told = all_switches(one, moving(one))
        rows = [
            {"switch": name, "value": shown_value(value), "meaning": words_of(one, name, value)}
            for name, value in told
        ]
        return Explanation(
            _meaning(one, names), pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.String))
        )
    old, new = sides
    found = differences(old, new)
    schema = dict.fromkeys([*TEXTS, "why"], pl.String)
    rows = [one.row | {"why": one.why} for one in found]
    return Explanation(
        "\n".join([_title(old, names), "", *_lines(found)]), pl.DataFrame(rows, schema=schema)
    )


def _sides(
    context: Context, metric: str | Metric[...], names: Sequence[str], k: int | None
) -> list[Convention]:
    """Return the metric under each profile, or under the bound one where none is named."""
    if len(names) > 2:  # noqa: PLR2004  a difference has two sides
        msg = f"explain() compares two profiles; found {len(names)}: {', '.join(map(repr, names))}"
        raise RecframeError(msg)
    (one,) = registry.asked([metric], k)[:1]
    if not names:
        return [under_profile.under(context, one)]
    return [
        under_profile.under(under_profile.bind(context, {"profile": name}), one) for name in names
    ]


def _of_two_frames(one: Convention) -> Convention:
    """Return the convention with the universe of two frames; on a judged frame none is every user of it."""
    universe = one.context.universe or DEFAULTS["universe"]
    return replace(one, context=replace(one.context, universe=universe))


def _told(one: Convention) -> Iterator[str]:
    """Yield a line on the lists that count, and one on each switch."""
    metric = one.metric
    if one.over == "lists":
        cut = "" if metric.k is None else f" up to {metric.k}"
        follows = metric.shape == "user" and needs_of(metric).reads_relevance
        yield from (
            words.format(cut=cut) for words in OF_LISTS["relevance" if follows else metric.shape]
        )
    for name, value in all_switches(one, moving(one)):
        described = switch_of(name, metric.definition.family) is not None
        yield words_of(one, name, value) + (
            f" ({name}={shown_value(value)})." if described else "."
        )


def meaning(inputs: Inputs, metric: Metric[...]) -> str:
    """Explain a metric in words for some frames under the bound options, without computing numbers."""
    return _meaning(question(inputs, metric, (), None).sides[0], ())


def _meaning(one: Convention, names: Sequence[str]) -> str:
    """Return the explanation of one convention."""
    metric = one.metric
    about = inspect.cleandoc(metric.__doc__ or "").split("\n\n")
    prose = [part for part in about if not part.startswith((">>>", "Source:"))]
    source = [part for part in about if part.startswith("Source:")]
    title = f"{metric}, {_profile_of(one, names)}"
    told = "\n".join(_wrapped(f"- {line}") for line in _told(one))
    cut = "The whole list counts." if metric.k is None else f"Only ranks up to {metric.k} count."
    needs = [f"It needs {' and '.join(map(_needed, metric.definition.needs))}."]
    profile = library_profiles.PROFILES.get(one.context.profile or "")
    notes = (
        [f"Profile: {'; '.join(filter(None, [profile.source, profile.notes]))}."] if profile else []
    )
    formula = f"With the default parameters: {metric.definition.formula}. {cut} Here:"
    parts = [
        title,
        *prose,
        *(needs if metric.definition.needs else ()),
        formula,
        told,
        *RULES[one.over],
        *source,
        *notes,
    ]
    return "\n\n".join(part if part.startswith("- ") else _wrapped(part) for part in parts)


def _needed(name: str) -> str:
    return str(NEEDED.get(name, Either(f"{name}=", f"--{name} FILE")))


def _profile_of(one: Convention, names: Sequence[str]) -> str:
    name = names[0] if names else one.context.profile or library_profiles.OWN
    return (
        "by recframe's own conventions"
        if name == library_profiles.OWN
        else f"by the conventions of {name}"
    )


def _wrapped(text: str) -> str:
    return textwrap.fill(
        " ".join(text.split()), WIDTH, subsequent_indent="  " if text.startswith("- ") else ""
    )


def _title(one: Convention, names: Sequence[str]) -> str:
    return f"{one.metric}, from {names[0]} to {names[1]}"


def _number(value: float | None, sign: str = "") -> str:
    # -0.0 + 0.0 is 0.0
    return "null" if value is None or math.isnan(value) else f"{round(value, 6) + 0.0:{sign}.6f}"


def _lines(found: Sequence[Difference], rows: Sequence[Mapping[str, Any]] = ()) -> Iterator[str]:
    """Give the lines on each difference; `rows` have the numbers, the start before the differences."""
    if not found:
        yield "No switch differs."
    for place, one in enumerate(found, 1):
        why = f"{one.direction}: {one.why}" if one.why else one.direction
        yield f"{place}. {one.name}: {shown_value(one.old)} -> {shown_value(one.new)}, {why}"
        if rows:
            shapley = (
                f"; {_number(rows[place]['shapley'], '+')} over all orders"
                if "shapley" in rows[place]
                else ""
            )
            yield f"     adds {_number(rows[place]['contribution'], '+')}{shapley}"
        yield f"     {one.words[0]}"
        yield f"     -> {one.words[1]}"


# With numbers


@dataclass(frozen=True)
class Question:
    """Explanation that also needs numbers computed from a frame."""

    inputs: Inputs
    names: Sequence[str]
    sides: Sequence[Convention]
    found: Sequence[Difference]

    @property
    def conventions(self) -> list[Convention]:
        """The metric itself; or of two sides the old one, then with each switch in turn, and where they are few each choice."""
        if len(self.sides) == 1:
            return list(self.sides)
        return [self._mixed(chosen) for chosen in _choices(len(self.found))]

    def _mixed(self, chosen: Sequence[int]) -> Convention:
        """Return the old convention with some of the switches set as in the new one."""
        old, new = self.sides
        names = [self.found[place].name for place in chosen]
        policies = {name: getattr(new.context, name) for name in names if name in POLICIES}
        parameters = {name: new.metric.parameters[name] for name in names if name not in POLICIES}
        metric: Any = old.metric
        return Convention(
            replace(old.context, **policies), replace(metric(**parameters), label=_label(chosen))
        )

    def table(self, values: pl.LazyFrame) -> pl.LazyFrame:
        """Return one row for each switch, after one of the start: what the switch adds, and the number that it makes."""
        if len(self.sides) == 1:
            return values
        n_keys = segments.n_keys(self.inputs)
        names, keys = (
            values.collect_schema().names()[:n_keys],
            [f"key {place}" for place in range(n_keys)],
        )
        values = segments.numbered(values, keys)
        start = dict(zip(TEXTS, (START, "", self.names[0], "same"), strict=True))
        rows = [start, *(one.row for one in self.found)]
        steps = [
            values.select(
                *keys, *_texts(row), *_numbers(place, len(self.found)), place=pl.lit(place)
            )
            for place, row in enumerate(rows)
        ]
        result = pl.concat(steps).sort(*keys, "place", nulls_last=True).drop("place")
        columns = result.collect_schema().names()[n_keys:]
        for name in names:
            if name in columns:
                msg = f"{Given('by', name)} is also the name of a result column; rename the column before"
                raise ColumnError(msg)
        named = [pl.col(key).alias(name) for key, name in zip(keys, names, strict=True)]
        return result.select(*named, *columns)

    @property
    def by_items(self) -> list[str]:
        """The paragraph on `by` columns that are properties of items."""
        names = [
            one.name for one in self.inputs.segments if one.owner == "items" or one.inside == "item"
        ]
        if not names:
            return []
        said = BY_ITEMS[self.sides[0].over]
        named = " and ".join(str(Given("by", name)) for name in names)
        return [_wrapped(said.format(by=named)), ""]

    def text(self, rows: Sequence[Mapping[str, Any]] | None) -> str:
        """Return the words; `rows` are those of the result, None where it is lazy."""
        one = self.sides[0]
        alone = rows if segments.n_keys(self.inputs) == 0 else None
        where = f"The numbers are in .frame{', a LazyFrame: collect it' if rows is None else ''}."
        where = str(Either(where, "The numbers stand below."))
        if len(self.sides) == 1:
            words = [_meaning(one, self.names), "", *self.by_items]
            count = f"n_{one.over}"
            words += [
                f"Here it is {_number(alone[0][str(one.metric)])}; {count} is {alone[0][count]}."
                if alone
                else where
            ]
            return "\n".join(words)
        words = [_title(one, self.names)]
        if alone:
            first, last = (_number(alone[place]["value"]) for place in (0, -1))
            words += [f"{first} and {last}; one switch after the other:"]
        return "\n".join(
            [
                *words,
                "",
                *_lines(self.found, alone or ()),
                "",
                *self.by_items,
                *([] if alone else [where]),
            ]
        ).rstrip()


def question(
    inputs: Inputs, metric: str | Metric[...], names: Sequence[str], k: int | None
) -> Question:
    """Return the request to a frame that explains a metric under one convention, or between two."""
    sides = [_of_frame(one, inputs) for one in _sides(inputs.context, metric, names, k)]
    return Question(inputs, names, sides, differences(*sides) if len(sides) > 1 else ())


def _of_frame(one: Convention, inputs: Inputs) -> Convention:
    """Return the convention with the universe that it has on this frame, and the ties that concern it."""
    one = replace(one, context=inputs.with_ties(one.context))
    return one if inputs.truth is None else _of_two_frames(one)


def _choices(n: int) -> list[tuple[int, ...]]:
    """Return the sets of switches to evaluate: cumulative ones, and all subsets if there are few."""
    in_turn = [tuple(range(place)) for place in range(n + 1)]
    if n > MOST_FOR_SHAPLEY:
        return in_turn
    every = [chosen for size in range(n + 1) for chosen in combinations(range(n), size)]
    return list(dict.fromkeys([*in_turn, *every]))


def _label(chosen: Sequence[int]) -> str:
    return f"value of {', '.join(map(str, chosen))}"


def _texts(row: Mapping[str, str]) -> list[pl.Expr]:
    """Return the text columns of a switch."""
    return [pl.lit(row[name]).alias(name) for name in TEXTS]


def _numbers(place: int, n: int) -> list[pl.Expr]:
    """Return a switch's contribution, the value with it, and if there are few switches its Shapley value."""
    value = pl.col(_label(range(place)))
    added = value - pl.col(_label(range(place - 1))) if place else pl.lit(0.0)
    shapley = [_shapley(place - 1, n).alias("shapley")] if n <= MOST_FOR_SHAPLEY else []
    return [added.alias("contribution"), value.alias("value"), *shapley]


def _shapley(place: int, n: int) -> pl.Expr:
    """Return the Shapley value of a switch: its mean contribution over all orders."""
    total: pl.Expr = pl.lit(0.0)
    others = [one for one in range(n) if one != place]
    for size in range(n if place >= 0 else 0):
        for chosen in combinations(others, size):
            added = pl.col(_label(sorted((*chosen, place)))) - pl.col(_label(chosen))
            total = total + added / (n * math.comb(n - 1, size))
    return total


OTHER_VALUE = Switch({}, either="another value")
NOT_OF_RELEVANCE = {"listed_rank", "whole_rank", "listed_judged", "cut_rank"}


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
        return {
            "switch": self.name,
            "from": shown_value(self.old),
            "to": shown_value(self.new),
            "direction": self.direction,
        }


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
    still = set.intersection(*(_without_effect(one) for one in sides))
    return [name for name in POLICIES if name not in still]


def _without_effect(one: Convention) -> set[str]:
    """Return the policies that do not concern a metric: those of relevance, of the universe, of the order."""
    if one.over == "lists":
        needs = needs_of(one.metric)
        found = {"universe", "no_relevant", "relevant_from", "min_relevance"}
        if needs.reads_relevance:
            of_users = (
                {"universe", "no_relevant"} if one.metric.definition.shape == "user" else set()
            )
            found -= {"min_relevance", *of_users} | (
                {"relevant_from"} if one.context.no_relevant != "zero" else set()
            )
        return found if needs.reads_ranks else {*found, "ties"}
    relevance = one.context.no_relevant != "zero" or _words_of(one.metric) - NOT_OF_RELEVANCE
    return set() if relevance else {"relevant_from", "min_relevance"}


def words_of(one: Convention, name: str, value: Any) -> str:
    """Return the meaning of a switch's value, or the value of an undescribed parameter."""
    switch = switch_of(name, one.metric.definition.family)
    return (
        f"{name} is {value}"
        if switch is None
        else switch.words(value, WHERE[one.context.relevant_from])
    )


def shown_value(value: Any) -> str:
    """Return a switch's value as text."""
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


# How two conventions differ


def differences(old: Convention, new: Convention) -> list[Difference]:
    """Return the switches that differ, in the order in which they are switched."""
    policies = moving(old, new) if old.over == "lists" else [*POLICIES]
    before, after = dict(all_switches(old, policies)), dict(all_switches(new, policies))
    read = _words_of(old.metric) | _words_of(new.metric)
    holding = {
        "binary": {before.get("gain"), after.get("gain")} == {"binary"},
        "cut": old.metric.k is not None,
    }
    found = []
    for name, value in before.items():
        if value != after[name]:
            switch = switch_of(name, old.metric.definition.family) or OTHER_VALUE
            metrics = (old.metric, new.metric)
            chained = name not in POLICIES or all(_holds(switch, one, read) for one in metrics)
            direction, why = switch.direction(value, after[name], chained=chained, **holding)
            words = (words_of(old, name, value), words_of(new, name, after[name]))
            # what differs in this is switched after the users
            why = why.format(where=WHERE[old.context.relevant_from])
            found.append(Difference(name, value, after[name], direction, why, words))
    return found


def _words_of(metric: Metric[...]) -> set[str]:
    """Return the columns that a user metric requests, itself or through metrics it averages."""
    return set(needs_of(metric).columns)


def _holds(switch: Switch, metric: Metric[...], read: set[str]) -> bool:
    """Return whether a policy's chains hold of a metric: they speak of users who can only count 0."""
    return (
        metric.definition.direction == "higher"
        and metric.parameters.get("without_relevant") != "one"
        and bool(read & OF_HITS)
        and not read & switch.unless
    )
