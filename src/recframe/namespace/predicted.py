"""What `require(history=)` takes: a history, whose last runs predict the numbers that are asked for."""

from __future__ import annotations

from typing import Any

import polars as pl

from recframe.errors import RecframeError
from recframe.frames.hints import Either
from recframe.namespace.question import Question
from recframe.namespace.tracked import definitions
from recframe.uncertainty.requirements import TRAILING, Gate


def predicted(history: Any, window: object, gate: Gate, asked: Question) -> pl.DataFrame | None:
    """Return what the last runs of a history predict of the numbers of a question, as `predictions` does."""
    if history is None:
        return None
    from recframe.tracking.changed_runs import watched  # noqa: PLC0415  importing recframe should take no time
    from recframe.tracking.trailing import predictions  # noqa: PLC0415

    if not any(gate.is_trailing(one) for one in gate.requirements):
        given = Either("history=", "--history")
        first = next(iter(gate.requirements)).metric
        msg = f"{given} is there, and nothing is held against it; write for example '{first} >= 0.95 * {TRAILING}'"
        raise RecframeError(msg)
    meant = definitions(asked.conventions)
    return predictions(history, watched(window, gate.level), list(asked.by.values()), meant)
