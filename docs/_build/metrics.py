"""A page for each metric, and an index by family: all of it made from the registry, nothing by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

import metric_facts
import metric_libraries
import metric_parameters
import metric_shop as shop
from metric_example import SIDES, Example, example_of
from metric_text import (
    BELOW,
    code,
    own_metrics,
    page_of,
    prose_of,
    sentence_of,
    source_of,
    symbols_of,
    table,
    title_of,
    use_of,
)

from recframe.metrics.language.definition import Definition, Metric
from recframe.profiles.switches import POLICIES

INTRODUCTION = (
    'Every metric is a method of `.rec`, a string and an object: `df.rec.ndcg(k=10)`, `"ndcg@10"`, `rf.ndcg @ 10`. '
    "Each page has the formula, an example, its parameters, and which profiles have it."
)
NAMES = re.compile(r"(?<!\[)`([a-z_]+)`")


def pages() -> dict[str, str]:
    """Return the pages of all metrics, by their paths on the site."""
    each = {f"metrics/{name}.md": page(metric) for name, metric in own_metrics().items()}
    return {"metrics/index.md": index()} | each


def page(metric: Metric[...]) -> str:
    """Return the page of a metric."""
    definition, example = metric.definition, example_of(metric)
    told = [sentence_of(definition), _linked(use_of(definition), definition.name)]
    parts = [f"# {title_of(metric.name)}", *told, metric_facts.glance(example)]
    for title, text in _sections(definition, example):
        parts += [f"## {title}", text]
    return "\n\n".join(parts) + "\n"


def _sections(definition: Definition, example: Example) -> Iterator[tuple[str, str]]:
    yield "Formula", _formula(definition)
    yield "Worked example", _worked(example)
    yield "Parameters", metric_parameters.section(definition)
    yield "In other libraries", metric_libraries.section(example.metric)
    yield "Source", source_of(definition) or "None: it is a plain count."


def _formula(definition: Definition) -> str:
    """Return the formula, what its symbols are, and what the docstring says."""
    told = [f"$$\n{line}\n$$" for line in filter(None, definition.latex.split("\n"))]
    if definition.formula.partition(",")[0] not in " ".join(prose_of(definition)):
        told.append(f"In plain text: {definition.formula}.")
    if symbols := symbols_of(definition):
        told.append(f"Symbols: {symbols}")
    if definition.parameters:
        told.append("That is with the default parameters. In full:")
    told += [_linked(one, definition.name) for one in prose_of(definition)]
    return "\n\n".join(told)


def _linked(text: str, own: str) -> str:
    """Return a text that links the metrics it names."""
    known = own_metrics().keys() - {own}
    return NAMES.sub(lambda one: f"[{one[0]}]({one[1]}.md)" if one[1] in known else one[0], text)


def _worked(example: Example) -> str:
    """Return the code and what it shows."""
    who = f"{shop.ME}'s list" if len(example.users) == 1 else "three users' lists"
    head = f"{who[0].upper()}{who[1:]}, cut at k = {shop.K}."
    code = f"```python\n{example.code}\n```"
    return "\n\n".join([head, code, f"```text\n{example.output}\n```"])


def index() -> str:
    """Return the index of all metrics, family by family, and the options that hold for every one."""
    parts = ["# Metrics", INTRODUCTION]
    metrics = own_metrics().values()
    order = [*dict.fromkeys(one.definition.family for one in metrics)]
    sorted_by_family = sorted(metrics, key=lambda one: order.index(one.definition.family))
    for family, members in groupby(sorted_by_family, key=lambda one: one.definition.family):
        some = [*members]
        parts += [f"## {family.capitalize()}", page_of(some[0].definition), _members(some)]
    return "\n\n".join([*parts, "## Options of every metric", _options()]) + "\n"


def _members(metrics: list[Metric[...]]) -> str:
    rows = [
        [f"[`{one.name}`]({one.name}.md)", f"{sentence_of(one.definition)}{BELOW}{_in_short(one)}"]
        for one in metrics
    ]
    return table(["metric", "what it is"], rows)


def _in_short(metric: Metric[...]) -> str:
    """Return the range of a metric, which way is better, and what it needs."""
    better = metric_facts.BETTER[metric.direction].partition(":")[0]
    sides = [SIDES.get(one, one) for one in metric_facts.needed(example_of(metric))]
    needed = [code(f"{side}=") for side in dict.fromkeys(sides)]
    needs = f"; needs {' and '.join(needed)}" if needed else ""
    told = "no direction" if better == "neither" else f"{better} is better"
    return f"{metric_facts.interval(metric.definition.range)}, {told}{needs}"


def _options() -> str:
    """Return the policies that hold for metrics of all kinds, with what their values mean."""
    rows = [
        [code(_option(name, value)), words.format(value="t", where="")]
        for name, meanings in POLICIES.items()
        for value, words in meanings.items()
    ]
    return "\n\n".join(
        [
            '`rec(...)` takes them once for all metrics, and each call for itself: `df.rec(universe="recs").ndcg(k=10)`.',
            table(["option", "what it does"], rows),
        ]
    )


def _option(name: str, value: object) -> str:
    if isinstance(value, str):
        return f'{name}="{value}"'
    return f"{name}=None" if value is None else f"{name}=t"
