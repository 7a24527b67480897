"""What `require(history=)` takes: a history, whose last runs predict the numbers that are asked for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recframe.errors import RecframeError, shown, suggestion, warn
from recframe.frames.hints import Either, Given
from recframe.namespace.question import Question
from recframe.plan.needs import is_of_segment
from recframe.uncertainty.requirements import TRAILING, Gate

if TYPE_CHECKING:
    from recframe.tracking.prediction_bands import Predictions


def predicted(
    history: Any, window: object, gate: Gate, asked: Question, mix: object = None
) -> Predictions | None:
    """Return what the last runs of a history predict of the numbers of a question, as `predictions` does."""
    if history is None:
        _check_no_mix(mix)
        return None
    from recframe.tracking.changed_runs import watched  # noqa: PLC0415  importing recframe should take no time
    from recframe.tracking.definitions import definitions  # noqa: PLC0415
    from recframe.tracking.prediction_bands import predictions  # noqa: PLC0415
    from recframe.tracking.users_of_runs import users_of_runs  # noqa: PLC0415

    _check_trailing(gate)
    meant = definitions(asked.stated, asked.inputs)
    split = list(asked.by.values())
    how = watched(window, gate.level)
    runs, place = _runs_and_place(history)
    name = None if mix is None else _checked(mix, gate, asked)
    if name is not None:
        named = [str(one.metric) for one in gate.requirements if gate.is_trailing(one)]
        meant = {one: words for one, words in meant.items() if one in named}
    found = predictions(runs, how, split, meant, gate.min_users, name)
    _check_definitions(gate, meant, found.others)
    _warn_of_unknown(gate, found.metrics, split)
    kind = asked.rec._kind  # noqa: SLF001  the methods of this room are those of a Rec
    is_divided = kind.engine is not None or kind.adds is not None
    by_run = place is None or is_divided or name is not None
    users = None if by_run else users_of_runs(place, found.known, split, how)
    return replace(found, users=users)


def _check_trailing(gate: Gate) -> None:
    """Say so where nothing is held against the history."""
    if not any(gate.is_trailing(one) for one in gate.requirements):
        given = Either("history=", "--history")
        first = next(iter(gate.requirements)).metric
        msg = f"{given} is there, and nothing is held against it; write for example '{first} >= 0.95 * {TRAILING}'"
        raise RecframeError(msg)


def _check_no_mix(mix: object) -> None:
    """Say so where a mix stands without a history."""
    if mix is not None:
        runs = Either("history='history.parquet'", "--history DIR")
        msg = f"{Given('mix', mix)} needs the runs that values are standardised to; give {runs} too"
        raise RecframeError(msg)


def _checked(mix: object, gate: Gate, asked: Question) -> str:
    """Return the name of a mix, or say what it is no mix of."""
    from recframe.tracking.prediction_bands import check_mix, no_mean  # noqa: PLC0415

    name = check_mix(mix)
    if name in asked.by.values():
        msg = f"mix={name!r} is a column of by= too, whose rows have one value of it each; leave one of them out"
        raise RecframeError(msg)
    if name in asked.clusters:
        msg = f"mix={name!r} is the column of cluster= too, where each segment would be one cluster; name another"
        raise RecframeError(msg)
    named = [str(one.metric) for one in gate.requirements if gate.is_trailing(one)]
    for one in asked.metrics:
        if str(one) in named and is_of_segment(one):
            raise no_mean(str(one), name)
    return name


def _runs_and_place(history: Any) -> tuple[Any, Any]:
    """Return the runs of what `history=` takes, and the path of the history that they are in, where it is given."""
    given = list(history) if isinstance(history, list | tuple) else [history]
    paths = [one for one in given if isinstance(one, str | os.PathLike)]
    frames = [one for one in given if not isinstance(one, str | os.PathLike)]
    frames = frames if len(given) > 1 else given
    if len(given) > 1 and (len(paths), len(frames)) != (1, 1):
        msg = (
            f"history={shown(history)}: history takes a path, a frame of rf.history(...), or both in a list: the path and the "
            "runs that count, history=[path, rf.history(path).filter(...)]"
        )
        raise RecframeError(msg)
    return frames[0], next(iter(paths), None)


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
