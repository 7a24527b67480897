"""What a page is made of: sections with text, tables and figures, as plain data that templates write down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal


@dataclass(frozen=True)
class Column:
    """A column of a table: its title, and whether its cells are text or numbers, which stand to the right."""

    title: str
    kind: Literal["text", "number", "verdict"] = "text"
    told: str = ""
    """What the title means, shown on pointing at it."""


@dataclass(frozen=True)
class Cell:
    """What stands in a table: text, and small behind or below it what belongs to it, such as an interval."""

    text: str
    small: str = ""
    mark: str = ""
    """A word for how it looks: "best", "better", "worse", "open", "error", "warning", "info"."""


@dataclass(frozen=True)
class Table:
    """Rows of cells; the first cell of a row names it."""

    kind: ClassVar[str] = "table"
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    """What is said below it, such as how many rows were left out."""


@dataclass(frozen=True)
class Figure:
    """A chart with its title, what is told of it, and the words for those who do not see it."""

    kind: ClassVar[str] = "figure"
    name: str
    """An id of the page, such as "chart-curve-ndcg"."""
    title: str
    told: str
    alt: str
    spec: Mapping[str, Any]
    """As `specs.of_page` makes it."""


@dataclass(frozen=True)
class Text:
    """Paragraphs and lists, which unfold below a title where there is one."""

    kind: ClassVar[str] = "text"
    blocks: Sequence[str | Sequence[str]]
    title: str = ""


@dataclass(frozen=True)
class Section:
    """A section: its heading, a plain sentence of what is seen, and its parts."""

    name: str
    """An id of the page."""
    title: str
    lead: str
    parts: Sequence[Any] = ()
    notes: Sequence[str] = ()
    """Warnings and remarks, below the lead."""
    missing: Sequence[str] = ()
    """What is not shown, and what to bind to see it."""


@dataclass(frozen=True)
class Content:
    """All of a page."""

    title: str
    subtitle: str
    sections: Sequence[Section]
    facts: Sequence[tuple[str, str]] = ()
    """What the page is of, as names and values below the title."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Numbers for the page's scripts and for other programs, as JSON."""
    footer: str = ""

    @property
    def specs(self) -> dict[str, Mapping[str, Any]]:
        """The charts by their names."""
        parts = [part for section in self.sections for part in section.parts]
        return {part.name: part.spec for part in parts if part.kind == "figure"}
