"""Earlier results as baselines: summaries, gates or users' values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from recframe.errors import ColumnError, RecframeError, suggestion
from recframe.evaluation.required_columns import is_of_segment
from recframe.frames.hints import Either, bind
from recframe.frames.inputs import Inputs
from recframe.frames.kinds.kind import Kind
from recframe.frames.kinds.lookup import kind_for
from recframe.metrics.language.definition import Metric
from recframe.statistics import requirements, summary
from recframe.statistics.pairs import MODEL
from recframe.statistics.requirements import EARLIER, TRAILING
from recframe.statistics.stored_results import is_summary, with_intervals

NAMES = ("metric", "value", "value_low", "value_high", "n_users")
"""Columns read from a summary."""
OF_SHORT = {"requirement", "bound", "difference_low", "difference_high"}
"""Columns of a short `require` result from which `NAMES` are computed."""


@dataclass(frozen=True)
class Earlier:
    """Earlier result: intervals, users' values, or both."""

    summary: pl.LazyFrame | None = None
    """Some of the keys under their names inside the plan, and the columns of `NAMES`."""
    users: pl.LazyFrame | None = None
    """Some of the keys, `user`, and the metrics under their strings."""

    def has_users_of(self, metric: Metric[...]) -> bool:
        """Return whether users' values of a metric are known; one function of a segment has none."""
        is_there = self.users is not None and str(metric) in self.users.collect_schema()
        return is_there and not is_of_segment(metric)

    def check(self, metric: Metric[...]) -> None:
        """Reject metrics that the earlier result lacks."""
        if self.summary is None and not self.has_users_of(metric):
            names = [] if self.users is None else self.users.collect_schema().names()
            close = suggestion(str(metric), names)
            instead = close or "; request that metric by user, or summarize it"
            msg = f"the earlier result has nothing of {str(metric)!r}{instead}"
            raise ColumnError(msg)


def earlier(
    given: object, keys: Mapping[str, str], inputs: Inputs, metrics: Sequence[Metric[...]]
) -> Earlier | None:
    """Return the earlier result from `last=`, a frame or several; `keys` maps internal key names to own names."""
    if given is None:
        return None
    found, user = Earlier(), inputs.context.names["user"]
    # a user stands in one segment of these, so that nothing is to be told apart by them
    of_users = {MODEL, *inputs.inside("users", "recommendations", "user id")}
    for one in given if isinstance(given, list | tuple) else (given,):
        kind = kind_for(one, "last=")
        if is_summary(kind.columns):
            found = Earlier(_summary(kind, keys, [*map(str, metrics)]), found.users)
        else:
            _check_users(kind, user)
            asked = {str(metric): str(metric) for metric in metrics if str(metric) in kind.columns}
            users = _taken(kind, keys, {"user": user, **asked}, of_users, ids=["user"])
            found = Earlier(found.summary, users)
    return found


def _summary(kind: Kind, keys: Mapping[str, str], metrics: Sequence[str]) -> pl.LazyFrame:
    is_short = {*kind.columns} >= OF_SHORT and "metric" not in kind.columns
    names = sorted({*OF_SHORT, "value", "n_users"}) if is_short else NAMES
    missing = [name for name in names if name not in kind.columns]
    if missing:
        msg = f"the earlier result has no column {missing[0]!r}; it comes from summarize(...) or require(...)"
        raise ColumnError(msg)
    known = {
        *summary.COLUMNS,
        *requirements.COLUMNS,
        *keys.values(),
        "baseline",
    }
    beyond = [name for name in kind.columns if name not in known]
    if beyond:
        msg = f"the earlier result is split by {beyond[0]!r}, this one is not; use the same by= for both"
        raise RecframeError(msg)
    taken = _taken(kind, keys, {name: name for name in names}, {MODEL})
    return with_intervals(taken, metrics) if is_short else taken


def _check_users(kind: Kind, user: str) -> None:
    if user not in kind.columns:
        msg = (
            f"last= takes the result of summarize(...), or of evaluate(..., by={user!r}) for values of users; found a frame "
            f"with the columns {', '.join(map(repr, kind.columns))}"
        )
        raise ColumnError(msg)


def _taken(
    kind: Kind,
    keys: Mapping[str, str],
    columns: Mapping[str, str],
    may_lack: Collection[str],
    ids: Sequence[str] = (),
) -> pl.LazyFrame:
    """Return some columns and the existing keys, or raise an error for a missing column."""
    shared = {inside: name for inside, name in keys.items() if name in kind.columns}
    for inside, name in keys.items():
        if inside not in shared and inside not in may_lack:
            msg = f"the earlier result has no column {name!r}; use the same by= for both"
            raise ColumnError(msg)
    return kind.take(shared | dict(columns), ids).lazy()


def lacking(model: str) -> str:
    """Return what a name is no model without: what the words for earlier numbers take."""
    options = dict.fromkeys(EARLIER, Either("last=", "--reference"))
    options[TRAILING] = Either("history=", "--history")
    return f"without {options[model]} " if model in options else ""


def without_model(what: str, model: str = "") -> str:
    """Return what a requirement about another model lacks: the models, or the earlier numbers."""
    frames = Either(", or a frame for each: rf.rec({'a': a, 'b': b}, truth=truth)")
    msg = f"{what} needs a column of models: {bind(model=repr('model'))}{frames}"
    result = Either("require(..., last=frame)", "--reference FILE")
    history = Either("require(..., history='history.parquet')", "--history DIR")
    msg += f"; or an earlier result: {result}" * (model in EARLIER)
    return msg + f"; or the runs before: {history}" * (model == TRAILING)
