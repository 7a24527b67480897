"""Explanations of metrics, and of the difference of one between two profiles."""

from __future__ import annotations

import inspect
import math
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

import polars as pl

from recframe.errors import ColumnError, RecframeError, readable, shown
from recframe.evaluation.required_columns import Convention, Conventions, n_keys, needs_of, numbered
from recframe.frames.hints import Given
from recframe.frames.inputs import Frames
from recframe.frames.options import DEFAULTS, Context
from recframe.frames.rows.joins import in_long_form
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric, signature_of
from recframe.profiles import library_profiles, under_profile
from recframe.profiles.switches import (
    OF_LISTS,
    POLICIES,
    RULES,
    WHERE,
    words_of,
)

T = TypeVar("T")
WIDTH = 80
TEXTS = ("switch", "from", "to")
AFTER = "value after switch {}"
"""Name of a value inside the plan."""
COLUMNS = (*TEXTS, "contribution", "value")
NOT_OF_RELEVANCE = {"listed_rank", "whole_rank", "listed_judged", "cut_rank"}
"""Columns of metrics over users that no relevance changes."""


@dataclass(frozen=True)
class Explanation(Generic[T]):
    """Result of `explain`: prints as `text`; `frame` is the table."""

    text: str
    frame: T

    def __repr__(self) -> str:
        return readable(self.text)


def explain(
    metric: str | Metric[...], *names: str, k: int | None = None
) -> Explanation[pl.DataFrame]:
    """Say what a metric means, under one profile or recframe's own conventions, or how two profiles differ in it.

    Prints the definition, the users that count, denominators, ties, duplicates, empty cases and the source. With two profiles
    ("recframe" is a profile too): the switches that differ, with the meaning of both values. `frame` has one row for each
    switch. On a frame, `rec.explain` also says by how much each switch changes the number.

    Raises a RecframeError for an unknown profile, for more than two, and for a metric that a profile's library lacks.

    >>> import recframe as rf
    >>> print(rf.explain("precision@10", "trec_eval", "jurity"))
    precision@10, from trec_eval to jurity
    <BLANKLINE>
    1. universe: truth -> both
         every user of the truth counts, one without a list as an empty list
         -> only users with a list and a truth count
    2. no_relevant: zero -> skip
         a counted user without a relevant item counts 0 in metrics of hits
         -> a user without a relevant item is left out
    3. ties: item_desc -> item
         equal scores in 32 bits are ordered by item as text, descending
         -> where ranks come from scores, equal scores are ordered by item
    4. denominator: k -> list
         hits are divided by k, by lists shorter than k too
         -> hits are divided by the length of the list up to k
    """
    asked = question(None, metric, names, k)
    if len(asked.sides) > 1:
        columns = TEXTS
        rows = [(name, str(old), str(new)) for name, old, new in asked.switched]
    else:
        (one,), columns = asked.sides, ("switch", "value", "meaning")
        settings = _settings(one, _concerning(one)).items()
        rows = [(name, str(value), _words(one, name, value)) for name, value in settings]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
    return Explanation(asked.text(), frame)


def question(
    inputs: Frames | None, metric: str | Metric[...], names: Sequence[str], k: int | None
) -> Question:
    """Return the request that explains a metric under one convention, or between two, on frames also in numbers."""
    if len(names) > 2:  # noqa: PLR2004  a difference has two sides
        raise RecframeError(
            f"explain() compares two profiles; found {len(names)}: {', '.join(map(repr, names))}"
        )
    one, *others = registry.asked([metric], k)
    if others:
        raise RecframeError(f"k={shown(k)}: explain takes one cut-off; write k=10")
    bound = Context() if inputs is None else inputs.context
    contexts = [under_profile.bind(bound, {"profile": name}) for name in names] or [bound]
    sides = [under_profile.under(context, one) for context in contexts]
    return Question([_here(side, inputs) for side in sides])


def _here(one: Convention, inputs: Frames | None) -> Convention:
    """Return a convention as it holds of some frames, of a judged one without a universe."""
    context = one.context if inputs is None else inputs.with_ties(one.context)
    if inputs is None or inputs.truth is not None:
        context = context.having(universe=context.universe or DEFAULTS["universe"])
    return replace(one, context=context)


@dataclass(frozen=True)
class Question:
    """A metric under one convention, or between two; on a frame also with numbers."""

    sides: Conventions

    @cached_property
    def switched(self) -> list[tuple[str, Any, Any]]:
        """The switches that differ between two sides with both values, in the order in which they are switched."""
        old, new = self.sides
        policies = _concerning(old) | _concerning(new)
        after = _settings(new, policies)
        each = _settings(old, policies).items()
        return [(name, value, after[name]) for name, value in each if value != after[name]]

    @property
    def conventions(self) -> list[Convention]:
        """The metric itself; or of two sides the old one, and then with each switch in turn."""
        if len(self.sides) == 1:
            return list(self.sides)
        old: Any = self.sides[0]
        found, parameters, policies = [old], dict[str, Any](), dict[str, Any]()
        for name, _, new in self.switched:
            (policies if name in POLICIES else parameters)[name] = new
            found.append(Convention(replace(old.context, **policies), old.metric(**parameters)))
        return [
            replace(one, metric=replace(one.metric, label=AFTER.format(place)))
            for place, one in enumerate(found)
        ]

    def table(self, inputs: Frames, values: pl.LazyFrame) -> pl.LazyFrame:
        """Return a row for the start and for each switch: what the switch adds, and the value after it."""
        if len(self.sides) == 1:
            return values
        n = n_keys(inputs)
        names, keys = values.collect_schema().names()[:n], [f"key {place}" for place in range(n)]
        for name in {*names} & {*COLUMNS}:
            raise ColumnError(
                f"{Given('by', name)} is also the name of a result column; rename the column first"
            )
        steps = [("start", "", self.sides[0].context.profile), *self.switched]
        rows = [_step(place, *switch) for place, switch in enumerate(steps)]
        long = in_long_form(numbered(values, keys), keys, rows)
        if keys:
            long = long.sort(keys, nulls_last=True, maintain_order=True)
        return long.rename(dict(zip(keys, names, strict=True)))

    def text(self, rows: Sequence[Mapping[str, Any]] = ()) -> str:
        """Return the words; `rows` are those of the result, where they are known and of all users."""
        one = self.sides[0]
        if len(self.sides) > 1:
            return "\n".join(self._steps(rows))
        value, count = str(one.metric), f"n_{one.over}"
        numbers = [f"Here it is {_number(row[value])}; {count} is {row[count]}." for row in rows]
        return "\n\n".join([_meaning(one), *numbers])

    def _steps(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        """Yield the lines on each switch; `rows` have the numbers, that of the start first."""
        one, other = self.sides
        yield f"{one.metric}, from {one.context.profile} to {other.context.profile}"
        values = [_number(row["value"]) for row in rows]
        if values:
            yield f"{values[0]} and {values[-1]}; one switch after the other:"
        yield ""
        if not self.switched:
            yield "No switch differs."
        for place, (name, old, new) in enumerate(self.switched, 1):
            adds = f", adds {_number(rows[place]['contribution'], '+')}" if rows else ""
            yield f"{place}. {name}: {old} -> {new}{adds}"
            yield f"     {_words(one, name, old)}"
            yield f"     -> {_words(one, name, new)}"


def _step(place: int, name: str, old: Any, new: Any) -> dict[str, pl.Expr]:
    """Return the row of a switch, or of the start."""
    texts = zip(TEXTS, (name, str(old), str(new)), strict=True)
    value, before = (pl.col(AFTER.format(one)) for one in (place, max(place - 1, 0)))
    row = {title: pl.lit(text) for title, text in texts}
    return {**row, "contribution": value - before, "value": value}


# Switches of a convention


def _concerning(one: Convention) -> set[str]:
    """Return the policies that can change a number of a metric."""
    needs, of_users = one.needs, one.over == "users"
    has_zeros = one.context.no_relevant == "zero"
    is_alike = of_users and has_zeros and needs.columns <= NOT_OF_RELEVANCE
    is_read = needs.reads_relevance and not is_alike
    are_users = of_users or _follows(one)
    concerned = {
        "universe": are_users,
        "no_relevant": are_users,
        "relevant_from": is_read and (of_users or not has_zeros),
        "min_relevance": is_read,
        "ties": needs.reads_ranks,
        "decimals": True,
    }
    return {name for name in concerned if concerned[name]}


def _follows(one: Convention) -> bool:
    """Return whether a metric over lists runs over the users of the accuracy metrics alone; a set metric says so by a fact."""
    says_so = any(fact.name.startswith("member ") for fact in one.needs.facts)
    return says_so or (one.metric.shape == "user" and one.needs.reads_relevance)


def _settings(one: Convention, policies: Collection[str]) -> dict[str, Any]:
    """Return the switches of a convention in the order in which they apply; rounding is last."""
    found = {name: getattr(one.context, name) for name in POLICIES if name in policies}
    decimals = found.pop("decimals")
    return {**found, **one.metric.parameters, "decimals": decimals}


# In words


def _meaning(one: Convention) -> str:
    """Return the explanation of one convention."""
    metric, name = one.metric, one.context.profile or library_profiles.OWN
    profile = library_profiles.PROFILES.get(name)
    whose = f"the conventions of {name}" if profile else "recframe's own conventions"
    about = inspect.cleandoc(metric.__doc__ or "").split("\n\n")
    parts = [f"{metric}, by {whose}", *(part for part in about if not part.startswith(">>>"))]
    cut = "The whole list counts." if metric.k is None else f"Only ranks up to {metric.k} count."
    parts.append(f"With the default parameters: {metric.definition.formula}. {cut} Here:")
    rules = "\n".join(_wrapped(f"- {line}") for line in _rules(one))
    below = [*RULES[one.over]]
    if profile:
        below.append(f"Profile: {profile.source}; {profile.notes}.")
    return "\n\n".join([*map(_wrapped, parts), rules, *map(_wrapped, below)])


def _rules(one: Convention) -> Iterator[str]:
    """Yield the lines on which lists count, and one on each switch."""
    metric = one.metric
    yield from OF_LISTS[metric.shape, _follows(one)] if one.over == "lists" else ()
    for name, value in _settings(one, _concerning(one)).items():
        words = _words(one, name, value)
        yield f"{words}." if words.startswith(f"{name} is ") else f"{words} ({name}={value})."


def _words(one: Convention, name: str, value: Any) -> str:
    """Return the meaning of a switch's value, or the value of an undescribed parameter."""
    family, where = one.metric.definition.family, WHERE[one.context.relevant_from]
    return words_of(name, value, family, where) or f"{name} is {value}"


def _wrapped(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), WIDTH)


def _number(value: float | None, sign: str = "") -> str:
    # -0.0 + 0.0 is 0.0
    return "null" if value is None or math.isnan(value) else f"{round(value, 6) + 0.0:{sign}.6f}"


# The registry


def list_metrics() -> pl.DataFrame:
    """Return the registry as a frame, one row for each metric.

    Columns: name, aliases, parameters, range, direction, family, shape, over, formula and needs. `shape` is "user" for a mean
    of values, "set" for one function of a segment; `over` says whether it runs over the "users" of the universe or over
    "lists". `needs` names the side frames that a metric cannot do without; the catalogue is the items frame, or the train
    frame for its items. A metric over lists that needs relevance runs over lists of the universe's users alone. An open end
    of a range is infinite.

    >>> import recframe as rf
    >>> rf.list_metrics().height >= 17
    True
    """
    return pl.DataFrame([*map(_row, registry.registered().values())])


def _row(metric: Metric[...]) -> dict[str, str]:
    """Return what the registry says of a metric, and what its words need."""
    about = metric.definition
    return {
        "name": metric.name,
        "aliases": ", ".join(about.aliases),
        "parameters": signature_of(about),
        "range": "[{:g}, {:g}]".format(*about.range),
        "direction": metric.direction,
        "family": about.family,
        "shape": about.shape,
        "over": about.over,
        "formula": about.formula,
        "needs": ", ".join(needs_of(metric @ 10).sources),
    }
