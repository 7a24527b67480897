"""What `require(history=)` takes: a history, whose last runs predict the numbers that are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from recframe.errors import RecframeError, suggestion, warn
from recframe.frames.hints import Either
from recframe.namespace.question import Question
from recframe.uncertainty.requirements import TRAILING, Gate


def predicted(history: Any, window: object, gate: Gate, asked: Question) -> pl.DataFrame | None:
    """Return what the last runs of a history predict of the numbers of a question, as `predictions` does."""
    if history is None:
        return None
    from recframe.tracking.changed_runs import watched  # noqa: PLC0415  importing recframe should take no time
    from recframe.tracking.definitions import definitions  # noqa: PLC0415
    from recframe.tracking.trailing import predictions  # noqa: PLC0415

    if not any(gate.is_trailing(one) for one in gate.requirements):
        given = Either("history=", "--history")
        first = next(iter(gate.requirements)).metric
        msg = f"{given} is there, and nothing is held against it; write for example '{first} >= 0.95 * {TRAILING}'"
        raise RecframeError(msg)
    meant = definitions(asked.stated, asked.inputs)
    split = list(asked.by.values())
    how = watched(window, gate.level)
    found = predictions(history, how, split, meant, gate.min_users)
    _check_definitions(gate, meant, found.others)
    _warn_of_unknown(gate, found.metrics, split)
    return found.rows


def _check_definitions(gate: Gate, meant: Mapping[str, str], others: Mapping[str, str]) -> None:
    """Say of which metric the history has runs, and none of what it stands for here."""
    for one in gate.requirements:
        name = str(one.metric)
        if gate.is_trailing(one) and name in others:
            msg = (
                f"{str(one)!r}: no run of the history has {name!r} under the definition of this call, {meant[name]!r}; its "
                f"last run has {others[name]!r}. Track one run under the new definition, or give the old one here"
            )
            raise RecframeError(msg)


def _warn_of_unknown(gate: Gate, known: Sequence[str], split: Sequence[str]) -> None:
    """Tell of requirements that no run can ever decide, as where a cut-off was left out."""
    whole = f"split by {', '.join(map(repr, split))}" if split else "of all users"
    for one in gate.requirements:
        name = str(one.metric)
        if gate.is_trailing(one) and name not in known:
            has = f"; it has {', '.join(known)}" if known else ""
            close = suggestion(name, known) or has
            msg = f"{str(one)!r} stays open: no run of the history has a {name!r} {whole}{close}"
            warn(msg)
