"""A report: its sections, and the page that they stand in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

import recframe
from recframe.errors import short
from recframe.look.pages import report_beside, report_models, report_segments
from recframe.look.pages.findings_of_a_report import Gathered
from recframe.look.pages.page import Page
from recframe.look.pages.parts import Content, Section, Text

SECTIONS: tuple[Callable[[Gathered], Section | None], ...] = (
    report_models.overview,
    report_models.comparison,
    report_segments.segments,
    report_models.curves,
    report_models.distributions,
    report_beside.costs,
    report_beside.cases,
    report_beside.findings,
)
"""The sections in their order; those of which there is nothing to show are left out."""


class Report(Page):
    """A report: a notebook shows it, `.save("report.html")` writes it as one file, `.html` and `.data` are what is in it."""

    def __repr__(self) -> str:
        n = len(self.content.sections)
        return f"<{short(self.content.title)}: {n} section{'s' * (n != 1)}; .save('report.html') writes it>"


def report(found: Gathered) -> Report:
    """Return the report of some numbers."""
    made = [section for make in SECTIONS if (section := make(found)) is not None]
    sections = [*made, *_left_out(found, [one.name for one in made])]
    day = datetime.now().astimezone()
    content = Content(
        title=found.asked.title,
        subtitle=report_models.headline(found),
        sections=sections,
        facts=found.facts,
        data=dict(_data(found)),
        footer=f"Made by recframe {recframe.__version__} on {day.day} {day:%B %Y}. This page is one file and asks nothing of "
        "any network.",
    )
    return Report(content, "report.html.j2", ("report.css",), ("report.js",))


def _left_out(found: Gathered, shown: Sequence[str]) -> Iterator[Section]:
    """Give a section on the sections that are not shown, and what to bind to see them."""
    lines = [words for name, told in found.missing.items() if name not in shown for words in told]
    if lines:
        yield Section(
            "more", "What else a report can show", "What to bind to see more.", [Text([lines])]
        )


def _data(found: Gathered) -> Iterator[tuple[str, Any]]:
    """Give the numbers as plain data."""
    yield "metrics", [str(one) for one in found.asked.metrics]
    yield "models", list(found.models)
    yield "baseline", found.asked.baseline
    yield "by", list(found.asked.by)
    yield "level", found.asked.level
    yield "cluster", found.asked.cluster
    for name in ("summary", "compared", "gaps", "slices", "costs", "zeros", "findings"):
        frame = getattr(found, name)
        yield (
            name,
            []
            if frame is None
            else frame.drop("place", "model_place", "known", strict=False).to_dicts(),
        )
    yield "cases", found.cases
    yield "warnings", list(found.warnings)
