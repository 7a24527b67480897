"""A page for each metric, and an index by family: all of it made from the registry, nothing by hand."""

from __future__ import annotations

import re

import metric_facts
import metric_libraries
import metric_parameters
from metric_text import (
    BELOW,
    code,
    example_of,
    own_metrics,
    page_of,
    prose_of,
    sentence_of,
    source_of,
    symbols_of,
    table,
    title_of,
    use_of,
    written,
)

from recframe.metrics.language.definition import Definition, Metric
from recframe.profiles.switches import POLICIES

INTRODUCTION = (
    'Every metric is a method of `.rec`, a string and an object: `df.rec.ndcg(k=10)`, `"ndcg@10"`, `rf.ndcg @ 10`. '
    "Each page has the formula, an example, its parameters, and which profiles have it."
)
OPTIONS = '`rec(...)` takes them once for all metrics, and each call for itself: `df.rec(universe="recs").ndcg(k=10)`.'
SIDES = {"catalogue": "items"}
NAMES = re.compile(r"(?<!\[)`([a-z_]+)`")


def pages() -> dict[str, str]:
    """Return the pages of all metrics, by their paths on the site."""
    each = {f"metrics/{name}.md": page(metric) for name, metric in own_metrics().items()}
    return {"metrics/index.md": index()} | each


def page(metric: Metric[...]) -> str:
    """Return the page of a metric."""
    about = metric.definition
    use, at_a_glance = _linked(use_of(about), metric.name), metric_facts.glance(metric)
    sections = {
        "Formula": _formula(about),
        "Worked example": f"```python\n{example_of(about)}\n```",
        "Parameters": metric_parameters.section(about),
        "In other libraries": metric_libraries.section(metric),
        "Source": source_of(about) or "None: it is a plain count.",
    }
    parts = [f"## {title}\n\n{text}" for title, text in sections.items()]
    head = [f"# {title_of(metric.name)}", sentence_of(about), use, at_a_glance]
    return "\n\n".join([*head, *parts]) + "\n"


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


def index() -> str:
    """Return the index of all metrics, family by family, and the options that hold for every one."""
    families: dict[str, list[Metric[...]]] = {}
    for metric in own_metrics().values():
        families.setdefault(metric.definition.family, []).append(metric)
    parts = ["# Metrics", INTRODUCTION]
    for family, metrics in families.items():
        parts += [f"## {family.capitalize()}", page_of(metrics[0].definition), _members(metrics)]
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
    needed = [code(f"{SIDES.get(one, one)}=") for one in metric_facts.needed(metric)]
    needs = f"; needs {' and '.join(dict.fromkeys(needed))}" if needed else ""
    said = "no direction" if better == "neither" else f"{better} is better"
    return f"{metric_facts.interval(metric.definition.range)}, {said}{needs}"


def _options() -> str:
    """Return the policies that hold for metrics of all kinds, with what their values mean."""
    rows = [
        [
            code(f"{name}={written(value) if isinstance(value, str | None) else 't'}"),
            words.format(value="t", where=""),
        ]
        for name, meanings in POLICIES.items()
        for value, words in meanings.items()
    ]
    return f"{OPTIONS}\n\n{table(['option', 'what it does'], rows)}"
