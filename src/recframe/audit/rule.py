"""What a check of the audit is: a function that finds rows, how severe that is, what is done, and how to mend it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import polars as pl

from recframe.audit.audited import Audited
from recframe.frames.hints import Text

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


@dataclass(frozen=True)
class Found:
    """The rows of one frame that break a rule.

    A column `rows` says of how many rows of the frame a row speaks, where that is not one. A frame that is summed up already
    may have `concerned_users`, and counts of further rows: `needed`, without which nothing is found, and `against`, with
    which nothing is. What is not given is the check's own.
    """

    frame: str
    rows: pl.LazyFrame
    shown: Sequence[str] = ("user", "item")
    """The columns that the example shows, or its text."""
    severity: Severity | None = None
    treatment: str | None = None
    remedy: str | Text | None = None
    always: bool = False
    """Whether the schemas alone make it a finding, whatever the rows."""


Finding = Callable[[Audited], Iterator[Found]]


@dataclass(frozen=True)
class Check:
    """One rule: its name is the function's, what it finds is the first sentence of its docstring."""

    function: Finding
    severity: Severity
    treatment: str
    remedy: str | Text
    of_all: bool = False
    """Whether it asks of all users at once, so that what it finds among some of them does not add up."""

    @property
    def name(self) -> str:
        """The name that a finding has."""
        return self.function.__name__

    @property
    def meaning(self) -> str:
        """What it finds."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    def findings(self, data: Audited) -> list[Found]:
        """Return what the check may have found, each with a severity, a treatment and a remedy."""
        return [
            replace(
                found,
                severity=found.severity or self.severity,
                treatment=found.treatment or self.treatment,
                remedy=str(found.remedy or self.remedy),
            )
            for found in self.function(data)
        ]


def check(
    severity: Severity, treatment: str, remedy: str | Text, *, of_all: bool = False
) -> Callable[[Finding], Check]:
    """Make a check of a function, which gives nothing where the rule does not apply."""
    return lambda function: Check(function, severity, treatment, remedy, of_all)
