"""The sections of a report beside accuracy: what it costs, the cases of users, and the findings of the audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from recframe.audit.data import SEVERITIES
from recframe.look.pages import words
from recframe.look.pages.findings_of_a_report import Gathered
from recframe.look.pages.parts import Cell, Column, Section, Table
from recframe.look.pages.report_models import figures
from recframe.metrics.language import registry

Row = Mapping[str, Any]
NOUNS = {"error": "error", "warning": "warning", "info": "note"}


def costs(found: Gathered) -> Section | None:
    """Return what is beyond accuracy."""
    missing = found.missing.get("costs", ())
    if found.costs is None or found.costs.is_empty():
        return None
    rows = found.costs.to_dicts()
    parts = [_values(found, rows), *figures(found, "costs")]
    return Section("costs", "Beyond accuracy", _cost(found, rows), parts, missing=missing)


def _cost(found: Gathered, rows: list[Any]) -> str:
    """Return the first number of each model in a sentence."""
    first = [one for one in rows if one["metric"] == rows[0]["metric"] and one["value"] is not None]
    told = [
        words.of_model(words.number(one["value"]), one["model"] if found.has_models else "")
        for one in first
    ]
    return (
        f"What the lists are like besides being right: {rows[0]['metric']} is {words.listed(told)}."
        if told
        else ""
    )


def _values(found: Gathered, rows: list[Any]) -> Table:
    by_model: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_model.setdefault(row["model"], {})[row["metric"]] = row
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    columns = [Column("model" if found.has_models else "")]
    columns += [Column(one, "number", registry.parse(one).definition.formula) for one in metrics]
    lines = [_line(model, values, metrics) for model, values in by_model.items()]
    notes = [f"{one}: {_first_sentence(one)}" for one in metrics]
    return Table("What the lists are like", columns, lines, notes)


def _line(model: str, values: Mapping[str, Row], metrics: list[str]) -> list[Cell]:
    numbers = (Cell(words.number(values[one]["value"])) for one in metrics if one in values)
    return [Cell(model), *numbers]


def _first_sentence(metric: str) -> str:
    text = (registry.parse(metric).__doc__ or "").strip().partition("\n\n")[0]
    return " ".join(text.split())


@dataclass(frozen=True)
class Cases:
    """Where the page's script shows the cases that stand in its data."""

    kind: ClassVar[str] = "cases"
    models: tuple[str, ...]
    kinds: tuple[str, ...]
    n: int


def cases(found: Gathered) -> Section | None:
    """Return the cases of users."""
    if found.cases is None:
        return None
    told = found.cases["cases"]
    kinds = tuple(dict.fromkeys(one["kind"] for one in told))
    models = tuple(dict.fromkeys(one["model"] for one in told))
    lead = (
        f"{len(told)} lists of real users by {found.cases['metric']}: {words.listed(list(kinds))}."
    )
    titled = found.cases["title_of"]
    notes = [f"Items are named by the column {titled!r} of the items frame."] if titled else []
    missing = [*notes, *found.missing.get("cases", ())]
    return Section("cases", "Cases", lead, [Cases(models, kinds, len(told))], missing=missing)


def findings(found: Gathered) -> Section | None:
    """Return what the audit finds."""
    if found.findings is None:
        return None
    rows = found.findings.to_dicts()
    if not rows:
        return Section("findings", "Audit of the data", "The audit finds nothing odd in the data.")
    counts = Counter(row["severity"] for row in rows)
    each = [words.counted(counts[one], NOUNS[one]) for one in SEVERITIES if counts[one]]
    lead = f"What the audit finds in the data: {words.listed(each)}."
    columns = [Column("finding"), Column("severity", "verdict"), Column("in")]
    columns += [Column("rows", "number"), Column("users", "number")]
    columns += [Column("example"), Column("what recframe does"), Column("remedy")]
    table = Table("Findings", columns, [_finding(row) for row in rows])
    return Section("findings", "Audit of the data", lead, [table])


def _finding(row: Row) -> list[Cell]:
    return [
        Cell(row["check"].replace("_", " "), row["what"].replace("`", "")),
        Cell(row["severity"], "", row["severity"]),
        Cell(row["frame"]),
        Cell(words.count(row["rows"])),
        Cell(words.count(row["users"])),
        Cell(row["example"] or ""),
        Cell(row["treatment"]),
        Cell(row["remedy"]),
    ]
