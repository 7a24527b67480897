"""The declaration of a check of the audit and of calls.

A check is a function over `Data` (or, of a split, over `SplitRows`) that yields findings, all of them lazy::

    @check("error", "most lists have no item up to k", "rank each list from 1", needs=("ranks",), warns="low")
    def ranks_over_all_lists(data: Data) -> Findings:
        '''Lists whose first rank is above k, as where the whole frame was ranked at once.'''
        yield Finding("recommendations", rows, ("user", "rank"), column="rank")

The first sentence of its docstring says what it finds, the treatment what recframe does with that, the remedy what to write
instead. These words are the row of `rec.audit()`, the warning of a call and the row of docs/audit.md: nothing says them again.

* `needs` names what the frames and options must have, see `report.needs_met`: a check that lacks one is not run.
* `warns`: None, the audit alone; "always", each call on eager frames, so that its function makes no plan where a look at a few
  rows shows that there is nothing (`Data.looks_well`); "low", calls whose result shows that less than 1 % of the users, or of
  those of a model, have a hit.
* A finding has rows of one frame; a finding without rows is none.
* A check that is no sum over users needs "all users": it is left out where the rows are those of some users.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import polars as pl

from recframe.frames.hints import Text

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
Warns = Literal["always", "low"]


@dataclass(frozen=True)
class Finding:
    """Rows of one frame that break a rule.

    A column `rows` says of how many rows of the frame a row speaks. A frame of sums may have `concerned_users`, and counts of
    further rows: `needed`, without which there is no finding, and `against`, with which there is none. Words that are not
    given are the check's.
    """

    frame: str
    rows: pl.LazyFrame
    shown: Sequence[str] | str = ("user", "item")
    """Columns shown in the example, or its text, or that of each row, of which the first is shown."""
    column: str = ""
    """Role, or name, of the column that a warning names."""
    meaning: str = ""
    """The meaning of the finding, in place of the check's."""
    severity: Severity | None = None
    treatment: str | None = None
    remedy: str | Text | None = None
    without_rows: bool = False
    """Whether it is a finding where it has no row, too."""


Findings: TypeAlias = Iterator[Finding]
Rule = Callable[[Any], Findings]


@dataclass(frozen=True)
class Check:
    """One check of the audit."""

    function: Rule
    severity: Severity
    treatment: str
    remedy: str | Text
    needs: frozenset[str]
    warns: Warns | None

    @property
    def name(self) -> str:
        """The name of the check in findings."""
        return self.function.__name__

    @property
    def meaning(self) -> str:
        """The first sentence of its docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]


def check(
    severity: Severity,
    treatment: str,
    remedy: str | Text,
    *,
    needs: Sequence[str] = (),
    warns: Warns | None = None,
) -> Callable[[Rule], Check]:
    """Turn a function into a check."""
    return lambda rule: Check(rule, severity, treatment, remedy, frozenset(needs), warns)
