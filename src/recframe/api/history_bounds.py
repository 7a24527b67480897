"""Histories given to `require(history=)`, and their predictions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recframe.api.request import Question
from recframe.errors import RecframeError, shown, suggestion, warn
from recframe.evaluation.required_columns import is_of_segment
from recframe.frames.hints import Either, Given
from recframe.statistics.requirements import TRAILING, Gate

if TYPE_CHECKING:
    from recframe.tracking.prediction_bands import Predictions


def predicted(
    history: Any, window: object, gate: Gate, asked: Question, mix: object = None
) -> Predictions | None:
    """Return a history's predictions of the requested numbers, as `predictions` does."""
    if history is None:
        if mix is not None:
            runs = Either("history='history.parquet'", "--history DIR")
            msg = f"{Given('mix', mix)} needs the runs that values are standardised to; give {runs} too"
            raise RecframeError(msg)
        return None
    from recframe.tracking.changed_runs import watched  # noqa: PLC0415  importing recframe should take no time
    from recframe.tracking.definitions import definitions  # noqa: PLC0415
    from recframe.tracking.prediction_bands import predictions  # noqa: PLC0415
    from recframe.tracking.user_values import users_of_runs  # noqa: PLC0415

    trailing = {str(one): str(one.metric) for one in gate.requirements if gate.is_trailing(one)}
    if not trailing:
        given = Either("history=", "--history")
        first = next(iter(gate.requirements)).metric
        msg = f"{given} is there, and nothing is held against it; write for example '{first} >= 0.95 * {TRAILING}'"
        raise RecframeError(msg)
    meant = definitions(asked.stated, asked.inputs)
    split, how = list(asked.by.values()), watched(window, gate.level)
    runs, place = _runs_and_place(history)
    name = None if mix is None else _checked(mix, [*trailing.values()], asked)
    if name is not None:
        meant = {one: words for one, words in meant.items() if one in trailing.values()}
    found = predictions(runs, how, split, meant, gate.min_users, name)
    _check_runs(trailing, meant, found, split)
    is_divided = asked.kind.engine is not None or asked.kind.adds is not None
    by_run = place is None or is_divided or name is not None
    users = None if by_run else users_of_runs(place, found.known, split, how)
    return replace(found, users=users)


def _checked(mix: object, named: Sequence[str], asked: Question) -> str:
    """Return the name of a mix, or raise an error where it is invalid."""
    from recframe.tracking.prediction_bands import check_mix, no_mean  # noqa: PLC0415

    name = check_mix(mix)
    if name in asked.by.values():
        msg = f"mix={name!r} is a column of by= too, whose rows have one value of it each; leave one of them out"
        raise RecframeError(msg)
    if name in asked.clusters:
        msg = f"mix={name!r} is the column of cluster= too, where each segment would be one cluster; name another"
        raise RecframeError(msg)
    for one in asked.metrics:
        if str(one) in named and is_of_segment(one):
            raise no_mean(str(one), name)
    return name


def _runs_and_place(history: Any) -> tuple[Any, Any]:
    """Return the runs from `history=`, and the history's path where it is given."""
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


def _check_runs(
    trailing: Mapping[str, str], meant: Mapping[str, str], found: Predictions, split: Sequence[str]
) -> None:
    """Say of which metric the history has no run under its definition, and warn where it has none at all."""
    whole = f"split by {', '.join(map(repr, split))}" if split else "of all users"
    for one, name in trailing.items():
        if name in found.others:
            msg = (
                f"{one!r}: no run of the history has {name!r} under the definition of this call, {meant[name]!r}; its "
                f"last run has {found.others[name]!r}. Track one run under the new definition, or give the old one here"
            )
            raise RecframeError(msg)
    for one, name in trailing.items():
        if name not in found.metrics:
            has = f"; it has {', '.join(found.metrics)}" if found.metrics else ""
            close = suggestion(name, found.metrics) or has
            warn(f"{one!r} stays open: no run of the history has a {name!r} {whole}{close}")
