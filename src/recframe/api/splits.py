"""Class `Splits`, the rules of `rec.split`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic

from recframe.api import argument_errors
from recframe.api.bound_metric import F
from recframe.api.split import Split
from recframe.errors import CallError, RecframeError, shown, suggestion
from recframe.frames.options import plain_number
from recframe.splits import times
from recframe.splits.filters import Cold, Filters, Seen, Target
from recframe.splits.labelling import labelled
from recframe.splits.log_rows import Log, check_names, log_of
from recframe.splits.rules import Rule
from recframe.splits.time_rules import AtPoint, Rolling


class Splits(Generic[F]):
    """The rules that split a log into train and truth: `log.rec(time="bought_at").split.by_time(last="7d")`.

    A log has one row for each interaction: user, item, and for most rules its time, bound as `rec(time=...)`. Each method
    returns a `Split`, which has a label on every row: nothing is dropped, and a row in neither train nor truth says why.

    Options of all rules:
        target: which of a user's rows in the window are truth: "all", or his "first" or "last" event; others are not_target.
        cold: "keep", or "drop" from the truth the rows of users and items that are not in train ("drop_users", "drop_items"
            one of them): they are cold_user and cold_item.
        seen: "keep", or "drop" from the truth the pairs that are in train: they are seen.
        min_train: a user of the truth needs so many rows in train, else his rows are cold_user.
        min_relevance: rows below this relevance (or without one) stay in train and are never truth: not_relevant.
        column: the name of the column of parts.

    Each filter goes by the train of the rule, never by what another filter left; of several reasons a row has the first.
    """

    def __init__(self, rec: Any) -> None:
        self._rec = rec

    @argument_errors.understood
    def by_time(  # noqa: PLR0913  the ways to name a point, and the options of all rules
        self,
        at: Any = None,
        *,
        until: Any = None,
        last: Any = None,
        share: float | None = None,
        align: str | None = None,
        target: Target = "all",
        cold: Cold = "keep",
        seen: Seen = "keep",
        min_train: int = 0,
        min_relevance: float | None = None,
        column: str = "part",
    ) -> Split[F]:
        """Split at one point of the time line: train before it, truth from it on.

        Write one of `at`, `last` and `share`:
            at: train has t < at, truth t >= at; with `until` truth has t < until, and rows from it on are `later`. A date, a
                datetime, ISO text, or a number where times are numbers. A date is its first instant; a point without a zone is
                in the zone of the column.
            last: truth is the last "7d": the window (max t - 7d, max t]. Days, weeks ("w"), months ("mo") and years go by the
                calendar of the column's zone; a number where times are numbers. `align="day"` (or "hour") ends the window with
                the whole day that the last row is in.
            share: the point is the time of row floor((1 - share) n) + 1 in the order of time. Rows of one time stay together
                in truth, which has at least this share.

        Raises a ColumnError without a column of times, a RecframeError for a point or length that the times do not have, and a
        DataError where train or truth has no row.

        >>> import polars as pl, recframe
        >>> log = pl.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "day": [1, 2, 3]})
        >>> log.rec(time="day").split.by_time(at=3).labels
        shape: (3, 5)
        ┌──────┬──────┬─────┬──────┬───────┐
        │ user ┆ item ┆ day ┆ fold ┆ part  │
        │ ---  ┆ ---  ┆ --- ┆ ---  ┆ ---   │
        │ i64  ┆ i64  ┆ i64 ┆ i64  ┆ enum  │
        ╞══════╪══════╪═════╪══════╪═══════╡
        │ 1    ┆ 10   ┆ 1   ┆ 0    ┆ train │
        │ 1    ┆ 11   ┆ 2   ┆ 0    ┆ train │
        │ 2    ┆ 10   ┆ 3   ┆ 0    ┆ truth │
        └──────┴──────┴─────┴──────┴───────┘
        """
        given = {"at": at, "last": last, "share": share}
        named = [name for name, value in given.items() if value is not None]
        if len(named) != 1:
            found = " and ".join(f"{name}=" for name in named) or "none"
            msg = f"rec.split.by_time() takes one of at=, last= and share=, but found {found}; write by_time(last='7d')"
            raise CallError(msg)
        log, filters = (
            self._log(min_relevance),
            Filters(target, cold, seen, min_train, min_relevance),
        )
        dtype = log.require_time("by_time")
        _check_with(named[0], until=until, align=align)
        times.check_align(align, dtype)
        said = _said("by_time", filters, **{named[0]: given[named[0]]}, until=until, align=align)
        if last is not None:
            length = times.length_of("last", last, dtype)
            rule: Rule = Rolling("by_time", said, dtype, 1, length, align=align)
        elif share is not None:
            rule = AtPoint(said, None, share=_share("share", share))
        else:
            ends = None if until is None else times.point_of("until", until, dtype)
            rule = AtPoint(said, times.point_of("at", at, dtype), ends)
        return _split(log, rule, filters, column)

    @argument_errors.understood
    def rolling(  # noqa: PLR0913  the windows, and the options of all rules
        self,
        folds: int,
        horizon: Any,
        *,
        step: Any = None,
        gap: Any = None,
        window: Any = None,
        end: Any = None,
        align: str | None = None,
        overlap: bool = False,
        target: Target = "all",
        cold: Cold = "keep",
        seen: Seen = "keep",
        min_train: int = 0,
        min_relevance: float | None = None,
        column: str = "part",
    ) -> Split[F]:
        """Split at several points of the time line: the truth of each fold is a window, its train what is before.

        The last fold ends with the last row (or before `end`), each fold before it one `step` earlier. With e a fold's end:
        truth is [e - horizon, e), `gap` the rows of [e - horizon - gap, e - horizon), train those before; with a `window` train
        is as long as it, and rows before are `earlier`. Rows from e on are `later`.

            folds: their number. Fold 0 is the earliest.
            horizon: the length of the truth: "7d", "1mo", or a number where times are numbers; see `by_time`.
            step: the horizon if left out, so that no row is truth twice. A shorter one needs `overlap=True`.
            gap: a length between train and truth that neither has, such as the time a model needs to be shipped.
            window: the length of train; all the past if left out.
            end: the first point after the last truth. align: "day" or "hour" ends it with the whole day of the last row.

        Raises what `by_time` raises, also of one fold without a row in train.

        >>> import polars as pl, recframe
        >>> log = pl.DataFrame({"user": [1, 1, 2, 2], "item": [10, 11, 10, 12], "day": [1, 2, 3, 4]})
        >>> log.rec(time="day").split.rolling(folds=2, horizon=1).truth
        shape: (2, 4)
        ┌──────┬──────┬─────┬──────┐
        │ user ┆ item ┆ day ┆ fold │
        │ ---  ┆ ---  ┆ --- ┆ ---  │
        │ i64  ┆ i64  ┆ i64 ┆ i64  │
        ╞══════╪══════╪═════╪══════╡
        │ 2    ┆ 10   ┆ 3   ┆ 0    │
        │ 2    ┆ 12   ┆ 4   ┆ 1    │
        └──────┴──────┴─────┴──────┘
        """
        log, filters = (
            self._log(min_relevance),
            Filters(target, cold, seen, min_train, min_relevance),
        )
        dtype = log.require_time("rolling")
        n_folds = _whole("folds", folds)
        times.check_align(align, dtype)
        _check_with("end" if end is not None else "last", align=align)
        length = times.length_of("horizon", horizon, dtype)
        lengths = {
            name: None if one is None else times.length_of(name, one, dtype, zero=name == "gap")
            for name, one in {"step": step, "gap": gap, "window": window}.items()
        }
        _check_step(length, lengths["step"], overlap=overlap)
        given = {"folds": folds, "horizon": horizon, "step": step, "gap": gap, "window": window}
        said = _said("rolling", filters, **given, end=end, align=align)
        ends = None if end is None else times.point_of("end", end, dtype)
        rule = Rolling("rolling", said, dtype, n_folds, length, **lengths, end=ends, align=align)
        return _split(log, rule, filters, column)

    def _log(self, min_relevance: float | None) -> Log:
        return log_of(self._rec._frame, self._rec._context, min_relevance=min_relevance)  # noqa: SLF001  of this room

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say which rule has the closest name."""
            if name.startswith("_"):
                raise AttributeError(name)
            msg = f"rec.split has no rule {name!r}{suggestion(name, RULES) or '; it has ' + ', '.join(RULES)}"
            raise AttributeError(msg, name=name, obj=self)


RULES = ("by_time", "rolling", "last_per_user", "random", "by_user")
"""The rules, in the order in which a message lists them."""


def _split(log: Log, rule: Rule, filters: Filters, column: str) -> Split[Any]:
    check_names(log, column)
    filters.check(log, rule.call)
    return Split(labelled(log, rule, filters, column))


def _said(call: str, filters: Filters, **given: object) -> str:
    """Return the call with the options that were given, in Python."""
    named = {name: value for name, value in given.items() if value is not None} | filters.words
    return f"{call}({', '.join(f'{name}={shown(value)}' for name, value in named.items())})"


def _check_with(way: str, **given: object) -> None:
    """Reject options that belong to another way to name the point."""
    takes = {"at": {"until"}, "last": {"align"}}.get(way, set())
    for name, value in given.items():
        if value is not None and name not in takes:
            msg = f"{name}= does not go with {way}=; leave one of them out"
            raise CallError(msg)


def _check_step(horizon: times.Length, step: times.Length | None, *, overlap: bool) -> None:
    if step is not None and not overlap and times.seconds_of(step) < times.seconds_of(horizon):
        msg = (
            f"step={shown(step)} is shorter than horizon={shown(horizon)}, so that rows would be truth in several folds; write "
            "a longer step, or overlap=True if that is meant"
        )
        raise RecframeError(msg)


def _whole(name: str, value: object) -> int:
    number = plain_number(value)
    if not isinstance(number, int) or number < 1:
        msg = f"{name}={shown(value)}: write a whole number from 1 up"
        raise RecframeError(msg)
    return number


def _share(name: str, value: object) -> float:
    number = plain_number(value)
    if number is None or not 0 < number < 1:
        msg = f"{name}={shown(value)}: write a share between 0 and 1, such as 0.2"
        raise RecframeError(msg)
    return float(number)
