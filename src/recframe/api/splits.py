"""Methods of `rec` on a log: the rules of `rec.split`, and `rec.core`."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace
from functools import wraps
from inspect import Parameter
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar, cast, get_args

import polars as pl

from recframe.api import argument_errors, reprs
from recframe.api.argument_errors import F
from recframe.api.split import Split
from recframe.errors import (
    CallError,
    RecframeError,
    dtype_shown,
    shown,
    warn,
)
from recframe.frames import options
from recframe.frames.options import plain_number
from recframe.splits import rules, times
from recframe.splits.labels import CHOICES, Cold, Filters, Seen, Target, labelled
from recframe.splits.log import Log, core_of, log_of
from recframe.splits.rules import FoldInOrder, Per, Rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Unpack

C = TypeVar("C", bound="Callable[..., Any]")
LEAST = {"folds": 1, "n": 1, "keep": 0}
"""The options of rules that take a whole number, each with the smallest."""
LEAKS = (
    "random splits leak the future: train has rows later than rows of truth, which no model has when it is used; "
    "split.by_time(last='7d') has the past alone in train"
)


class Options(TypedDict, total=False):
    """The options of all rules."""

    target: Target
    cold: Cold
    seen: Seen
    min_train: int
    min_relevance: float | None


def _rule(method: C) -> C:
    """Decorate a rule: its signature has the options of all rules, and its splits say how it was called."""
    own = inspect.signature(method)
    named = [one for one in own.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
    common = [
        Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default, annotation=one.type)
        for one in fields(Filters)
    ]

    @wraps(method)
    def called(self: Any, *arguments: Any, **given: Any) -> Any:
        bound = own.bind(self, *arguments, **given)
        for name in bound.arguments.keys() & LEAST.keys():
            if (one := bound.arguments[name]) is not None:
                bound.arguments[name] = options.whole(name, one, LEAST[name])
        values = {**bound.arguments}
        values |= values.pop("common", {})
        written = [f"{name}={shown(one)}" for name, one in [*values.items()][1:] if one is not None]
        self._call = f"{method.__name__}({', '.join(written)})"
        return method(*bound.args, **bound.kwargs)

    vars(called)["__signature__"] = own.replace(parameters=[*named, *common])
    return cast("C", argument_errors.understood(called))


class Splits(Generic[F]):
    """The rules that split a log into train and truth: `log.rec(time="bought_at").split.by_time(last="7d")`.

    A log has one row for each interaction: user, item, and for most rules its time, bound as `rec(time=...)`. Each method
    returns a `Split`, which has a label on every row: nothing is dropped, and a row in neither train nor truth says why.

    Options of all rules:
        target: which of a user's rows in the window are truth: "all", or their "first" or "last" event; others are not_target.
        cold: "keep", or "drop" from the truth the rows of users and items that are not in train ("drop_users", "drop_items"
            one of them): they are cold_user and cold_item.
        seen: "keep", or "drop" from the truth the pairs that are in train: they are seen.
        min_train: a user of the truth needs so many rows in train, else the user's rows are cold_user.
        min_relevance: rows below this relevance (or without one) stay in train and are never truth: not_relevant.

    Each filter goes by the train of the rule, never by what another filter left; of several reasons a row has the first.
    """

    _call = ""
    """The call of a rule, as it is written."""

    def __init__(self, rec: Any) -> None:
        self._rec = rec

    def __repr__(self) -> str:
        frame = reprs.of_frame(self._rec._frame)  # noqa: SLF001  of this room
        return f"<splits of {frame}: {', '.join(RULES)}>"

    @_rule
    def by_time(
        self,
        at: Any = None,
        *,
        until: Any = None,
        last: Any = None,
        share: float | None = None,
        align: str | None = None,
        **common: Unpack[Options],
    ) -> Split[F]:
        """Split at one point of the time line: train before it, truth from it on.

        Write one of `at`, `last` and `share`:
            at: train has t < at, truth t >= at; with `until` truth has t < until, and rows from it on are `later`. A date, a
                datetime, ISO text, or a number where times are numbers. A date is its first instant; a point without a zone is
                in the zone of the column.
            last: truth is the last "7d": the window (max t - 7d, max t]. Days, weeks ("w"), months ("mo") and years go by the
                calendar of the column's zone; a number where times are numbers.
            align: "day" or "hour" ends the window of `last` with the whole day, or hour, that the last row is in.
            share: the point is the time of row floor((1 - share) n) + 1 in the order of time. Rows of one time stay together
                in truth, which has at least this share.
            until: the point where truth ends, with `at`.

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
        if _only("by_time", at=at, last=last, share=share) is None:
            raise CallError(
                "rec.split.by_time() takes one of at=, last= and share=, but found none; write by_time(last='7d')"
            )
        _only("by_time", until=until, last=last, share=share)
        _only("by_time", align=align, at=at, share=share)
        log = self._log(common)
        dtype = log.require_time("by_time")
        _check_align(align, dtype)
        if last is not None:
            lengths = {"horizon": times.length_of("last", last, dtype)}
            rule = rules.rolling(log, 1, lengths, align)
        elif share is not None:
            rule = rules.by_share(log, options.share("share", share, "0.2"))
        else:
            ends = None if until is None else times.point_of("until", until, dtype)
            rule = rules.by_point(times.point_of("at", at, dtype), ends)
        return self._split(log, rule, common)

    @_rule
    def rolling(
        self,
        folds: int,
        horizon: Any,
        *,
        step: Any = None,
        gap: Any = None,
        window: Any = None,
        align: str | None = None,
        **common: Unpack[Options],
    ) -> Split[F]:
        """Split at several points of the time line: the truth of each fold is a window, its train what is before.

        The last fold ends with the last row, each fold before it one `step` earlier. With e a fold's end:
        truth is [e - horizon, e), `gap` the rows of [e - horizon - gap, e - horizon), train those before; with a `window` train
        is as long as it, and rows before are `earlier`. Rows from e on are `later`.

            folds: the number of folds. Fold 0 is the earliest.
            horizon: the length of the truth: "7d", "1mo", or a number where times are numbers; see `by_time`.
            step: the horizon if left out. It is no shorter, so that no row is truth twice.
            gap: a length between train and truth that neither has, such as the time a model needs to be shipped.
            window: the length of train; all the past if left out.
            align: "day" or "hour" ends the last truth with the whole day, or hour, of the last row.

        Raises what `by_time` raises, also of one fold without a row in train.

        >>> import polars as pl, recframe
        >>> log = pl.DataFrame({"user": [1, 1, 2, 2], "item": [10, 11, 10, 12], "day": [1, 2, 3, 4]})
        >>> log.rec(time="day").split.rolling(folds=2, horizon=1).truth.select("user", "item", "day", "fold")
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
        log = self._log(common)
        dtype = log.require_time("rolling")
        _check_align(align, dtype)
        lengths = {"horizon": times.length_of("horizon", horizon, dtype)}
        for name, one in {"step": step, "gap": gap, "window": window}.items():
            if one is not None:
                lengths[name] = times.length_of(name, one, dtype, zero=name == "gap")
        if "step" in lengths and lengths["step"].seconds < lengths["horizon"].seconds:
            raise RecframeError(
                f"step={shown(step)} is shorter than horizon={shown(horizon)}, so that rows would be truth in several folds; "
                "write a longer step"
            )
        rule = rules.rolling(log, folds, lengths, align)
        return self._split(log, rule, common)

    @_rule
    def last_per_user(
        self,
        n: int = 1,
        folds: int = 1,
        *,
        keep: int = 1,
        **common: Unpack[Options],
    ) -> Split[F]:
        """Split off the last n events of each user; an event is a distinct (time, item) of theirs, in this order.

        Users' last events lie at different times, so that train has rows later than most rows of truth: `by_time` does not.

            n: the events of a user in the truth of a fold.
            folds: the number of folds. The last one has each user's last n events, each fold before it the n before; rows after
                a fold's truth are `later`. With two folds, the first is to tune and the last to report.
            keep: a user with fewer than n + keep events is in train alone; one with fewer than m n + keep has truth in fewer
                than m folds.

        Raises a ColumnError without a column of times, and a DataError where no user has n + keep events.

        >>> import polars as pl, recframe
        >>> log = pl.DataFrame({"user": [1, 1, 1, 2], "item": [10, 11, 12, 10], "day": [1, 2, 3, 3]})
        >>> log.rec(time="day").split.last_per_user().labels["part"].to_list()
        ['train', 'train', 'truth', 'train']
        """
        log = self._log(common)
        log.require_time("last_per_user")
        return self._split(log, rules.last_per_user(n, folds, keep), common)

    @_rule
    def leave_one_out(
        self, folds: int = 1, *, keep: int = 1, **common: Unpack[Options]
    ) -> Split[F]:
        """Split off the last event of each user: `last_per_user(n=1)` under the name that papers have for it.

        >>> import polars as pl, recframe
        >>> log = pl.DataFrame({"user": [1, 1, 1, 2], "item": [10, 11, 12, 10], "day": [1, 2, 3, 3]})
        >>> log.rec(time="day").split.leave_one_out().truth["item"].to_list()
        [12]
        """
        return self.last_per_user(1, folds, keep=keep, **common)

    @_rule
    def random(
        self,
        share: float | None = None,
        *,
        n: int | None = None,
        per: Per = "user",
        folds: int | None = None,
        seed: int = 0,
        keep: int = 1,
        **common: Unpack[Options],
    ) -> Split[F]:
        """Split by chance: pairs of user and item are drawn, and all rows of a pair have one label.

        A pair is drawn by its key of 64 bits (splitmix64 over the seed and the ids), so that rows in another order, other
        engines and other versions give the same split. With a column of times bound it warns that train has the future.

            share: the share of the pairs in the truth of a fold; 1 / folds if left out.
            n: pairs of each user, in place of a share.
            per: "user" ranks a user's pairs by key: truth is the first share (rounded, halves up) or n of them, never the last
                `keep` ones. Adding a user changes nobody's rows. "log" takes the pairs whose key is below share 2^64: adding
                rows moves none, and files of any size are read in a stream.
            folds: draws without a common pair; with folds share = 1 and per="log" each pair is truth once.
            seed: another one draws other pairs.
            keep: the pairs of a user that are never truth, with per="user"; so a user of one pair is in train alone.

        Raises a RecframeError for folds share > 1 and for ids without a key, and a DataError where train or truth has no row.

        >>> import polars as pl, recframe
        >>> log = pl.DataFrame({"user": [1, 1, 1, 2, 2], "item": [10, 11, 12, 10, 10]})
        >>> log.rec().split.random(n=1, seed=0).labels["part"].to_list()
        ['truth', 'train', 'train', 'train', 'train']
        """
        options.one_of("per", per, get_args(Per))
        if per == "log" and (n is not None or keep != 1):
            name = "keep" if n is None else "n"
            raise CallError(f"{name}= goes by users; write per='user', or leave it out")
        _only("random", share=share, n=n)
        log = self._log(common)
        n_folds = folds or 1
        part = None if n else _share("random", share, n_folds)
        if per == "log" and part is not None:
            rule = rules.random_of_log(part, n_folds, seed)
        else:
            rule = rules.random_of_users(part, n or 0, n_folds, seed, keep)
        if "time" in log.names:
            warn(LEAKS)
        return self._split(log, rule, common)

    @_rule
    def by_user(
        self,
        share: float | None = None,
        *,
        folds: int | None = None,
        at: Any = None,
        fold_in: float = 0.8,
        order: FoldInOrder | None = None,
        seed: int = 0,
        **common: Unpack[Options],
    ) -> Split[F]:
        """Split by users, to test a model on users that it was not fitted on.

        Train has the rows of all other users. A test user's first events are `fold_in`, which a model may read when it makes
        their list, and the rest truth. Write one of:
            share: the share of the users that are tested, drawn by their keys (splitmix64 over the seed and the id): about
                this share of them.
            folds: each user is a test user once; with a share, folds without a common user.
            at: new users alone, those whose first row is from this point of time on (written as in `by_time`); train has the
                rows of others before it, and their rows from it on are `later`.

            fold_in: the share of a test user's events that is fold_in (rounded down, at least 1), or a whole number of them.
            order: "time" (the default where times are bound): events, each a distinct (time, item), in this order. "random":
                pairs of user and item by their keys.
            seed: another one draws other users.

        Raises a ColumnError where times are needed and not bound, a RecframeError for folds share > 1 and for ids without a
        key, and a DataError where train or truth has no row.

        >>> import polars as pl, recframe
        >>> log = pl.DataFrame({"user": [1, 1, 2, 2, 2], "item": [10, 11, 12, 10, 11], "day": [1, 2, 5, 6, 7]})
        >>> log.rec(time="day").split.by_user(at=5).labels["part"].to_list()
        ['train', 'train', 'fold_in', 'fold_in', 'truth']
        """
        log = self._log(common)
        by = order or ("time" if "time" in log.names else "random")
        options.one_of("order", by, get_args(FoldInOrder))
        _only("by_user", at=at, share=share)
        _only("by_user", at=at, folds=folds)
        point = None
        if by == "time" or at is not None:
            dtype = log.require_time("by_user")
            point = None if at is None else times.point_of("at", at, dtype)
        n_folds = folds or 1
        of_users = 1.0 if at is not None else _share("by_user", share, n_folds)
        number = (
            options.whole("fold_in", fold_in, 1)
            if isinstance(plain_number(fold_in), int)
            else options.share("fold_in", fold_in, "0.8")
        )
        rule = rules.by_user(of_users, point, n_folds, number, by, seed)
        return self._split(log, rule, common)

    def _log(self, common: Options) -> Log:
        rec = self._rec
        return log_of(rec._frame, rec._context, min_relevance=common.get("min_relevance"))  # noqa: SLF001  of this room

    def _split(self, log: Log, rule: Rule, common: Options) -> Split[F]:
        """Return the split of a rule with the options of all rules, after checks of these."""
        filters = Filters(**common)
        for name, known in CHOICES.items():
            options.one_of(name, getattr(filters, name), known)
        options.whole("min_train", filters.min_train, 0)
        if filters.min_relevance is not None and plain_number(filters.min_relevance) is None:
            raise RecframeError(
                f"min_relevance={shown(filters.min_relevance)}: write a number; rows below it are never truth"
            )
        if filters.target != "all":
            log.require_time(self._call.partition("(")[0])
        return Split(labelled(log, replace(rule, words=self._call), filters))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say which rule has the closest name."""
            msg = argument_errors.none_of("rec.split has no rule", name, RULES)
            raise AttributeError(msg, name=name, obj=self)


RULES = [name for name, one in vars(Splits).items() if callable(one) and name[0] != "_"]
"""The rules, in the order in which a message lists them."""


def _only(call: str, **given: object) -> str | None:
    """Return which of several arguments is given, or say that they do not go together."""
    named = [f"{name}=" for name, value in given.items() if value is not None]
    if len(named) > 1:
        *some, last = (f"{name}=" for name in given)
        raise CallError(
            f"rec.split.{call}() takes one of {', '.join(some)} and {last}, but found {' and '.join(named)}; leave one of them "
            "out"
        )
    return named[0] if named else None


def _check_align(align: object, dtype: pl.DataType) -> None:
    """Reject an alignment that the times do not have."""
    options.one_of("align", align, (None, *times.ALIGNED))
    if align and (dtype.is_numeric() or (dtype == pl.Date and align == "hour")):
        raise RecframeError(
            f"align={shown(align)} needs datetimes; the times are {dtype_shown(dtype)}"
        )


def _share(call: str, share: object, n_folds: int) -> float:
    """Return the share of each fold's truth, which folds say where it is left out."""
    if share is None:
        if n_folds == 1:
            raise CallError(
                f"rec.split.{call}() needs a share, or several folds to part all among them; write {call}(share=0.2) or "
                f"{call}(folds=5)"
            )
        return 1 / n_folds
    number = options.share("share", share, "0.2")
    if round(number * n_folds, 9) > 1:
        raise RecframeError(
            f"folds={n_folds} of share={shown(share)} are more than all; write a share up to {1 / n_folds:.4g}, or fewer folds"
        )
    return number


class OfLogs(Generic[F]):
    """Methods of a frame of interactions."""

    @property
    def split(self) -> Splits[F]:
        """Rules that split a log into train and truth: `log.rec(time="bought_at").split.by_time(last="7d")`.

        `split.by_time` and `split.rolling` go by the time line, `split.last_per_user` by each user's last rows, `split.random`
        by chance and `split.by_user` by users. Each returns a `Split`: labels, train, truth, folds, audit and baselines.

        >>> import polars as pl, recframe
        >>> log = pl.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "day": [1, 2, 3]})
        >>> log.rec(time="day").split.by_time(last=1).truth["user"].to_list()
        [2]
        """
        return Splits(self)

    @argument_errors.understood
    def core(
        self,
        users: int = 5,
        items: int = 5,
        *,
        after_split: bool = False,
    ) -> F:
        """Return the rows of a log whose user has at least `users` rows and whose item has at least `items`.

        Users of fewer rows, then items of fewer of the rows that are left, are left out in turn until all that are left have
        enough, the k-core. Rows without a user or an item are left out, the others keep their order and columns. The frame is
        of the kind of the log; of a LazyFrame the counts of (user, item) are collected at the call.

        Of a whole log it warns, since it counts rows that are the future of a split: write `split.by_time(..., min_train=5)`,
        or after the split `split.train.rec().core(after_split=True)`, which does not warn; with several folds for each of
        `split.folds`.

        Raises a ColumnError for a missing column, and a RecframeError for a number below 1.

        >>> import polars as pl, recframe
        >>> train = pl.DataFrame({"user": [1, 1, 2, 2, 3], "item": [10, 11, 10, 11, 10]})
        >>> train.rec().core(users=2, items=2, after_split=True)["user"].to_list()
        [1, 1, 2, 2]
        """
        least = {"user": options.whole("users", users, 1), "item": options.whole("items", items, 1)}
        rec: Any = self
        log = log_of(rec._frame, rec._context)  # noqa: SLF001  the methods of this class are those of a Rec
        if not after_split:
            warn(
                "core() of a whole log counts rows that a split puts into truth, so that train knows the future; write "
                "split.by_time(..., min_train=5), or split.train.rec().core(after_split=True) after the split"
            )
        return cast("F", log.kind.give_held(core_of(log, least), {}))
