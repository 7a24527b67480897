"""The switches on which two conventions differ, and which way each moves a number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from recframe.conventions.switches import OF_HITS, POLICIES, WHERE, Switch, switch_of
from recframe.metrics.language.definition import Metric
from recframe.plan.evaluation import Convention
from recframe.plan.needs import needs_of

OTHER_VALUE = Switch({}, either="another value")
NOT_OF_RELEVANCE = {"listed_rank", "whole_rank", "listed_judged", "cut_rank"}


@dataclass(frozen=True)
class Difference:
    """A switch on which two conventions differ."""

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
    """Give every switch of a convention in the order in which they are switched: rounding comes last."""
    for name in policies:
        if name != "decimals":
            yield name, getattr(one.context, name)
    yield from one.metric.parameters.items()
    yield "decimals", one.context.decimals


def moving(*sides: Convention) -> list[str]:
    """Return the policies that can change the number of any of some conventions."""
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
    """Return what the value of a switch means; of a parameter that nobody described, the value."""
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
    """Return the columns that a metric over users asks for, itself or in what it takes the means of."""
    return set(needs_of(metric).columns)


def _holds(switch: Switch, metric: Metric[...], read: set[str]) -> bool:
    """Return whether a policy's chains hold of a metric: they speak of users who can only count 0."""
    return (
        metric.definition.direction == "higher"
        and metric.parameters.get("without_relevant") != "one"
        and bool(read & OF_HITS)
        and not read & switch.unless
    )
