"""The report of a `rec`: sections, each a function of facts."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import recframe
from recframe.charts.formatting import counted
from recframe.charts.long_format import Result
from recframe.charts.themes import MOST_COLOURED
from recframe.errors import (
    DataError,
    RecframeError,
    RecframeWarning,
    shown,
    suggestion,
    warned_once,
)
from recframe.profiles import explanation
from recframe.reports.cases import Cases
from recframe.reports.cases import cases as cases_of
from recframe.reports.facts import CUTOFFS, Facts
from recframe.reports.page import Findings, Page, Section, Text, figure
from recframe.reports.tables import differences_table, measured, values_table
from recframe.tracking.fingerprints import fingerprint

MOST_MARKS = 60
MOST_SEGMENTS = 30
MOST_LACKS = 3
"""Most dots of a chart, segments of a chart, and sentences on missing lists."""
STOPS = (
    *("no_common_users", "no_common_items", "model_without_common_ids"),
    *("pooled_lists", "pooled_models", "models_of_the_truth"),
)
"""Findings on which nothing is decided."""


def report(rec: Any, columns: Sequence[Any], title: str, only: Sequence[str], **asked: Any) -> Page:
    """Return the report of a `rec`."""
    for name in only:
        if name not in SECTIONS:
            close = suggestion(name, SECTIONS) or f"; there are {', '.join(SECTIONS)}"
            raise RecframeError(f"sections={shown(name)} is no section of a report{close}")
    facts = Facts(rec, columns, **asked)
    notes = list[str]()
    with warned_once():
        facts.stop = _stop(facts)
        sections = [_made(facts, name, notes) for name in only or SECTIONS]
    sections.append(Section("notes", "Notes", [Text([notes])]) if notes else None)
    day = datetime.now().astimezone()
    data = fingerprint(facts.inputs)
    footer = f"Made by recframe {recframe.__version__} on {day.day} {day:%B %Y}, of the data with the fingerprint {data}."
    headline = _headline(facts)
    there = [one for one in sections if one is not None]
    return Page(title, headline, there, facts.about, facts.data, footer, bool(facts.stop))


def _made(facts: Facts, name: str, notes: list[str]) -> Section | None:
    """Return a section; of several folds, and of cases with ties, it is noted why there is none."""
    try:
        return SECTIONS[name](facts)
    except DataError:
        raise
    except RecframeError as error:
        if facts.inputs.folds is None and name != "cases":
            raise
        notes.append(str(error))
        return None


def _stop(facts: Facts) -> str:
    """Return why nothing is decided on the numbers of a page, or "" where they may mean something."""
    if not facts.summary:
        return ""
    if not any(row["n_users"] for row in facts.summary):
        return "No user is counted, so that nothing is decided."
    lines = [*facts.lacks[:MOST_LACKS]]
    for row in facts.findings:
        if row["check"] in STOPS and row["severity"] != "info":
            meaning = row["what"].replace("`", "").rstrip(".")
            lines.append(f"{meaning} ({row['example']}): {row['remedy']}.")
    return " ".join([*lines, "Nothing is decided on these numbers."] if lines else [])


def _headline(facts: Facts) -> str:
    """Return why nothing is decided, or what to ship by the first metric, or else its best value."""
    if facts.stop or not facts.metrics:
        return facts.stop
    if facts.decision is not None:
        rows = [row for row in facts.costs if row["metric"].startswith("coverage")]
        return facts.decision.text({row["model"]: row["value"] for row in rows})
    metric = facts.metrics[0]
    rows = facts.of_first(facts.summary)
    if not rows or rows[0]["value"] is None:
        return f"No user has a value of {metric}."
    value, ends, _ = measured(rows[0])
    is_first = f"{rows[0]['model']} is first by {metric}:" if len(rows) > 1 else f"{metric} is"
    users = counted(rows[0]["n_users"], "user")
    return f"{is_first} {value}{f' ({ends})' if ends else ''}, over {users}."


def overview(facts: Facts) -> Section | None:
    """Return the values of all models, and their differences."""
    if not facts.summary:
        return None
    parts = list[Any]()
    if len(facts.models) > 1 and not facts.stop:
        parts.append(_figure(facts, "models", "models", facts.metrics[0], **facts.how))
    of = facts.compared_all
    if of is not None:
        firsts = of._replace(data=of.data.filter(metric=str(facts.metrics[0])))
        if 0 < len(firsts.data) <= MOST_MARKS:
            parts.append(_differences(facts, "compare", firsts, facts.against))
    caption = f"Mean of each metric, with its interval at {facts.at}"
    table = values_table(facts.summary, [*map(str, facts.metrics)], caption)
    parts.append(table._replace(notes=[facts.bounds] * bool(facts.bounds)))
    return Section("overview", "Overview", parts)


def comparison(facts: Facts) -> Section | None:
    """Return the differences of models from the baseline, or from the best model."""
    of = facts.compared_all
    if of is None or of.data.is_empty():
        return None
    rows = facts.by_value(facts.keep("compared", of.data))
    caption = f"Differences from {facts.against}, with intervals at {facts.at}"
    return Section("comparison", "Comparison of models", [differences_table(rows, caption)])


def segments(facts: Facts) -> Section | None:
    """Return the best model less the runner-up in each segment, and the values of all models."""
    if facts.stop or not facts.columns or not facts.of_users:
        return None
    parts = []
    of = facts.decision
    for place, found in enumerate(of.by_column.values() if of else ()):
        parts.append(_differences(facts, f"pair-{place}", found, of.runner_up if of else ""))
    most = min(max(MOST_MARKS // len(facts.models), 3), MOST_SEGMENTS)
    for place, by in enumerate(facts.columns):
        asked = {"by": by, "most": most, **facts.how}
        parts.append(_figure(facts, f"segments-{place}", "segments", facts.of_users[0], **asked))
    return Section("segments", "Segments", parts)


def curves(facts: Facts) -> Section | None:
    """Return metrics over the cut-off."""
    if facts.stop:
        return None
    asked = {"k": sorted({*CUTOFFS, *filter(None, [facts.k])}), **facts.how}
    parts = []
    # the cut-offs of a curve are nobody's question, and the others are answered
    with suppress(RecframeError), warnings.catch_warnings():
        warnings.simplefilter("ignore", RecframeWarning)
        for one in facts.over_cutoffs:
            parts += [_figure(facts, f"curve-{one.name}", "curve", one, **asked)]
    return Section("curves", "Over the cut-off", parts) if parts else None


def cases(facts: Facts) -> Section | None:
    """Return users whose lists differ most between the best model and the runner-up, and those of the best."""
    if facts.stop or not facts.of_users or not facts.summary:
        return None
    first = facts.of_users[0]
    of = facts.decision
    pair = (of.best, of.runner_up) if of else (facts.summary[0]["model"], None)
    whom = f" of {pair[0]}, against {pair[1]}" if of else ""
    made = Cases(cases_of(facts, *pair))
    lead = f"Lists of real users by {first}{whom}."
    return Section("cases", "Cases", [made], lead) if made.cases else None


def costs(facts: Facts) -> Section | None:
    """Return what is beyond accuracy, and who is shown what."""
    if facts.stop or not facts.costs:
        return None
    names = [*dict.fromkeys(row["metric"] for row in facts.costs)]
    table = values_table(facts.costs, names, "What the lists are like")
    chart = _figure(facts, "exposure", "exposure", k=facts.k)
    return Section("costs", "Beyond accuracy", [chart, table])


def audit(facts: Facts) -> Section | None:
    """Return the findings of the audit."""
    if facts.inputs.folds is not None or not facts.inputs.judged:
        return None
    lead = "" if facts.findings else "The audit finds nothing odd in the data."
    return Section("audit", "Audit of the data", [Findings(facts.findings)] * (not lead), lead)


def definitions(facts: Facts) -> Section | None:
    """Return how each metric is computed, with all of its options."""
    parts = []
    for metric in facts.metrics:
        meaning = explanation.question(facts.inputs, metric, (), None).text().replace("`", "")
        parts.append(Text(meaning.split("\n\n"), f"{metric}"))
    return Section("definitions", "How the numbers are computed", parts) if parts else None


SECTIONS = {
    one.__name__: one
    for one in (overview, comparison, segments, curves, cases, costs, audit, definitions)
}
"""The sections, by name and in their order."""


def _figure(facts: Facts, name: str, call: str, *given: Any, **options: Any) -> Any:
    """Return a chart of a `rec`, in which best, runner-up and baseline stand out among many."""
    named = facts.decision.named if facts.decision and len(facts.models) > MOST_COLOURED else []

    def draw(width: int) -> Any:
        return getattr(facts.rec.plot(width=width, highlight=named), call)(*given, **options)

    return figure(f"chart-{name}", draw)


def _differences(facts: Facts, name: str, found: Result, baseline: str) -> Any:
    """Return the chart of comparisons of a metric."""
    metric = next(one for one in facts.metrics if str(one) == found.data["metric"][0])
    return _figure(
        facts, name, "_differences", found._replace(at=facts.at), metric, baseline, facts.margin
    )
