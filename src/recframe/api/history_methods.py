"""Histories in calls of `rec`: `track`, `fingerprint`, and the predictions of `require(history=)`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, Generic, cast

import polars as pl

from recframe.api import argument_errors
from recframe.api.bound_metric import Asked, By, Cutoffs, F
from recframe.api.request import Question, question, values_of_users
from recframe.errors import NeedsAllUsersError, RecframeError, shown, suggestion, warn
from recframe.evaluation.required_columns import is_of_segment
from recframe.frames.hints import Either, Given
from recframe.frames.kinds.lookup import kind_for
from recframe.statistics.requirements import TRAILING, Gate
from recframe.statistics.stored_results import tidy

if TYPE_CHECKING:
    from recframe.tracking.histories import History
    from recframe.tracking.prediction_bands import Predictions


class Tracked(Generic[F]):
    """`rec.track` and `rec.fingerprint`: results kept in a history."""

    @argument_errors.understood
    def track(  # noqa: PLR0913  those of summarize, and what is known of the run
        self,
        *metrics: Asked,
        history: History,
        as_of: date | str,
        name: str | None = None,
        tags: Mapping[str, object] | None = None,
        per_user: bool = False,
        k: Cutoffs = None,
        by: By = None,
        level: float = 0.95,
        cluster: str | None = None,
    ) -> F:
        """Return `summarize(...)`, and append it to a history, with its definition and versions.

        Each number is stored with the fingerprint of the data (see `fingerprint`), its metric with every parameter and policy,
        and the versions of recframe and Polars. `history`, `as_of`, `name` and `tags` are those of `rf.track`, which says how
        runs are replaced; `rf.history(...)` has all runs as a frame.

        `per_user=True` keeps the users' values of the metrics too, so that `require("ndcg@10 >= 0.98 * trailing", history=...)`
        compares each user with their own mean over the last runs. A user takes 8 bytes and a metric up to 8 more, before
        compression; the note of the result has the size. Ids are hashed with the history's salt.

        A LazyFrame is collected, and the result is a LazyFrame.

        Raises what `summarize` and `rf.track` raise, and a RecframeError if no metric has values of users.

        >>> import polars as pl, recframe as rf, tempfile
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for day in ("2026-11-21", "2026-11-22"):
        ...         tracked = df.rec.track("mrr", history=folder, as_of=day)
        ...     rf.history(folder).select("as_of", "value", "n_users")
        shape: (2, 3)
        ┌─────────────────────┬───────┬─────────┐
        │ as_of               ┆ value ┆ n_users │
        │ ---                 ┆ ---   ┆ ---     │
        │ datetime[μs]        ┆ f64   ┆ i64     │
        ╞═════════════════════╪═══════╪═════════╡
        │ 2026-11-21 00:00:00 ┆ 0.75  ┆ 2       │
        │ 2026-11-22 00:00:00 ┆ 0.75  ┆ 2       │
        └─────────────────────┴───────┴─────────┘
        """
        from recframe.tracking.definitions import definitions, fingerprint  # noqa: PLC0415  importing recframe should take no time
        from recframe.tracking.histories import append, check, rows_of  # noqa: PLC0415
        from recframe.tracking.runs import run_of  # noqa: PLC0415

        rec: Any = self
        # what is wrong with these is said before any work is done
        check(history, as_of)
        result = rec.summarize(*metrics, k=k, by=by, cluster=cluster, level=level)
        asked = question(self, metrics, k, by, cluster)
        kind = kind_for(result)
        rows = rows_of(kind)
        run = run_of(
            tidy(rows),
            as_of=as_of,
            fingerprint=fingerprint(asked.inputs, asked.metrics),
            name=name,
            tags=tags,
            definitions=definitions(asked.stated, asked.inputs),
            tracked_from=kind.library,
        )
        if per_user:
            packed, note = _values_of_users(self, asked, argument_errors.names(by), history)
            append(history, replace(run, users=packed))
            both = pl.concat_str(pl.lit(note), "note", separator="; ", ignore_nulls=True)
            return cast("F", kind.give(rows.lazy().with_columns(note=both), {}))
        append(history, run)
        back: Any = rows.lazy() if kind.is_lazy else result
        return cast("F", back)

    @argument_errors.understood
    def fingerprint(self, *, by: By = None) -> str:
        """Return a short text that identifies the data.

        It depends on the rows of all bound frames, in the columns that a call reads: the roles, and `by`. Row order, kind of
        frame and dtype do not matter. It is stable within one version of Polars, whose hashes it uses. Unread columns and
        policies do not change it.

        Of LazyFrames the plan runs, in a streaming pass.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rec.fingerprint() == df.reverse().rec.fingerprint()
        True
        >>> df.rec.fingerprint() == df.head(1).rec.fingerprint()
        False
        """
        from recframe.tracking.definitions import fingerprint  # noqa: PLC0415  importing recframe should take no time

        rec: Any = self
        return fingerprint(rec._inputs(by))  # noqa: SLF001  the methods of this room are those of a Rec


def _values_of_users(
    rec: Any, asked: Question, by: Sequence[Any], history: History
) -> tuple[bytes, str]:
    """Return users' values as a history keeps them, and what is to be known of them; or say that no metric has any."""
    from recframe.tracking.histories import salt_of  # noqa: PLC0415  importing recframe should take no time
    from recframe.tracking.user_values import packed_users, table  # noqa: PLC0415

    conventions = [
        convention for convention in asked.conventions if not is_of_segment(convention.metric)
    ]
    if not conventions:
        msg = f"per_user=True: {asked.metrics[0]} is one number of all lists, so users have no values; leave it out"
        raise RecframeError(msg)
    here = rec._in_polars()  # noqa: SLF001
    plan = values_of_users(replace(asked, rec=here, cluster=None), by, conventions)
    values = here._kind.give(plan, {})  # noqa: SLF001
    named = {f"value {at}": str(one.metric) for at, one in enumerate(conventions)}
    salt = salt_of(history, make=True)
    kept = table(values.rename(named), asked.by, salt)
    packed = packed_users(kept, salt)
    n = kept["user"].n_unique()
    return packed, f"values of {n:,} users kept, {len(packed):,} bytes"


def predicted(
    history: Any, window: object, gate: Gate, asked: Question, mix: object = None
) -> Predictions | None:
    """Return a history's predictions of the requested numbers, as `predictions` does."""
    if history is None:
        if mix is not None:
            runs = Either("history='history.parquet'", "--history DIR")
            msg = f"{Given('mix', mix)} needs runs to standardise values to; give {runs} too"
            raise RecframeError(msg)
        return None
    from recframe.tracking.changed_runs import watched  # noqa: PLC0415  importing recframe should take no time
    from recframe.tracking.definitions import definitions  # noqa: PLC0415
    from recframe.tracking.prediction_bands import predictions  # noqa: PLC0415
    from recframe.tracking.user_values import users_of_runs  # noqa: PLC0415

    trailing = {
        str(requirement): str(requirement.metric)
        for requirement in gate.requirements
        if gate.is_trailing(requirement)
    }
    if not trailing:
        given = Either("history=", "--history")
        first = next(iter(gate.requirements)).metric
        msg = f"{given} is given, but no requirement uses it; write for example '{first} >= 0.95 * {TRAILING}'"
        raise RecframeError(msg)
    meant = definitions(asked.stated, asked.inputs)
    split, how = list(asked.by.values()), watched(window, gate.level)
    runs, place = _runs_and_place(history)
    name = None if mix is None else _checked(mix, [*trailing.values()], asked)
    if name is not None:
        meant = {one: words for one, words in meant.items() if one in trailing.values()}
    found = predictions(runs, how, split, meant, gate.min_users, name)
    _check_runs(trailing, meant, found, split)
    by_run = place is None or name is not None
    users = None if by_run else users_of_runs(place, found.known, split, how)
    if users is not None and asked.kind.adds is not None:
        of_runs = Either(", or give the runs alone: history=rf.history(path)")
        msg = f"{Given('history', shown(history))} compares users with their own means, which buckets cannot tell{of_runs}"
        raise NeedsAllUsersError(msg)
    return replace(found, users=users)


def _checked(mix: object, named: Sequence[str], asked: Question) -> str:
    """Return the name of a mix, or raise an error where it is invalid."""
    from recframe.tracking.prediction_bands import check_mix, no_mean  # noqa: PLC0415

    name = check_mix(mix)
    if name in asked.by.values():
        msg = f"mix={name!r} is also a column of by=, where each row has one value of it; leave one of them out"
        raise RecframeError(msg)
    if name in asked.clusters:
        msg = f"mix={name!r} is also the column of cluster=, so each segment would be one cluster; name another"
        raise RecframeError(msg)
    for metric in asked.metrics:
        if str(metric) in named and is_of_segment(metric):
            raise no_mean(str(metric), name)
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
                f"{one!r}: no run of the history has {name!r} by the definition of this call, {meant[name]!r}; its "
                f"last run has {found.others[name]!r}. Track one run under the new definition, or give the old one here"
            )
            raise RecframeError(msg)
    for one, name in trailing.items():
        if name not in found.metrics:
            has = f"; it has {', '.join(found.metrics)}" if found.metrics else ""
            close = suggestion(name, found.metrics) or has
            warn(f"{one!r} stays open: no run of the history has a {name!r} {whole}{close}")
