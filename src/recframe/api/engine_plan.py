"""A call on an engine's frame: dry run, buckets, final result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # comes with every engine

from recframe.api import argument_errors
from recframe.api.rec_class import Rec
from recframe.engines.tasks import (
    Bucket,
    Finishing,
    Summing,
    Sums,
    Task,
    Trial,
    Whole,
    added_of,
    schema_of,
)
from recframe.errors import DataError, RecframeError
from recframe.evaluation.evaluation import Convention
from recframe.evaluation.recorder import LISTED
from recframe.evaluation.required_columns import is_of_segment, needs_of
from recframe.frames.collecting import stream
from recframe.frames.hints import Either, FrameOf, Hint, in_words, words
from recframe.frames.hints import Given as Option
from recframe.frames.kinds.engine import (
    CATALOGUE,
    MODELS,
    POPULARITY,
    TRAIN_USERS,
    Engine,
    Routed,
    Tables,
    Work,
)
from recframe.frames.kinds.lookup import collected, is_frame, kind_for
from recframe.frames.kinds.pyarrow_frames import (
    counted,
    in_plain_types,
    rows_with,
    table_of,
    without_rows,
)
from recframe.frames.options import SIDES, Context, NamedFrame, is_side
from recframe.frames.roles import IDS, READ_AS_GIVEN, role_named
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Definition, Metric
from recframe.profiles import under_profile
from recframe.ranking.relevance import WITHOUT_MODEL
from recframe.side_info.aggregation_levels import Level
from recframe.statistics.requirements import Requirement, metrics_of, required
from recframe.statistics.stored_results import is_summary

LISTS = "recommendations"
WHOLE = ("items",)
"""Frames that every bucket has in full."""


@dataclass(frozen=True)
class Call:
    """Method of `rec` with arguments and options, without frames."""

    method: str
    arguments: tuple[Any, ...]
    options: Mapping[str, Any]
    context: Context
    names: Mapping[str, Mapping[str, str]]
    """Side frames' own column names."""
    own: tuple[Definition, ...]
    """Users' own metrics in the call."""
    words: Callable[[Hint], str]
    """Function that words hints in messages as on the driver."""

    def made(self, task: Task, frames: Mapping[str, pa.Table], plain: Sequence[str] = WHOLE) -> Any:
        """Make the call over some frames; those in `plain` are taken as they are."""
        for one in self.own:
            registry.know(one)
        given = {
            name: rows if name in plain else Bucket(rows, name, task)
            for name, rows in frames.items()
        }
        sides: dict[str, Any] = {
            name: NamedFrame(given[name], self.names[name]) if name in self.names else given[name]
            for name in SIDES
            if name in given
        }
        rec: Rec[Any] = Rec(given[LISTS])
        bound = rec._with(replace(self.context, **sides))  # noqa: SLF001  a call's own frames
        with in_words(self.words):
            return getattr(bound, self.method)(*self.arguments, **self.options)


@dataclass(frozen=True)
class Replayed:
    """Call with its dry-run results, ready to run on workers."""

    call: Call
    plans: tuple[Sums, ...]
    """Sums that are added up; empty where the buckets' rows are the result."""
    result: pl.Schema
    tables: Mapping[str, pl.DataFrame]
    none: Mapping[str, pa.Table]
    """Empty tables of the shuffled frames."""
    whole: Mapping[str, pa.Table]
    """Frames that every bucket has in full."""

    def of_bucket(self, frames: Mapping[str, pa.Table]) -> pa.Table:
        """Return a bucket's sums, or its rows of the result."""
        given = {**self.none, **frames}
        size, tables = sum(rows.num_rows for rows in given.values()), Tables(self.tables)
        task = Summing(self.plans, tables, size) if self.plans else Whole(self.result, tables, size)
        self.call.made(task, {**given, **self.whole})
        return task.table()

    def finished(self, sums: pa.Table) -> pa.Table:
        """Return the result, from the sums of all buckets."""
        task = Finishing(self.plans, Tables(self.tables), sums)
        self.call.made(task, {**self.none, **self.whole})
        return task.found


WITHOUT_METRICS = ("judge", "audit")
OF_ROWS = ("judge",)
"""Methods with result rows per user."""
OF_OTHERS = (Level.IN_ALL, Level.EVERYWHERE, Level.ALONG_ALL)
"""Levels that compare a user's lists with those of others."""


def run(rec: Any, method: str, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """Run a method and return its result as a frame of the engine."""
    if rec._context.training is not None:  # noqa: SLF001  a Rec's own context
        msg = (
            f"{Option('training', rec._context.training)}: buckets of users know no trainings; give the frames in memory "  # noqa: SLF001
            "or as LazyFrames, or bind a column that has model and training as model=, which are then models of their own"
        )
        raise RecframeError(msg)
    return Divided(rec, method, arguments, options).result()


@dataclass(frozen=True)
class Given:
    """Input frame of an engine call: remote, or a local table."""

    frame: Any
    names: Mapping[str, Any]
    context: Context
    engine: Engine
    is_engines: bool

    @cached_property
    def none(self) -> pa.Table:
        """A table without its rows.

        NOTE: no slice of it, which would be sent to the workers with all rows.
        """
        given = self.frame
        return in_plain_types(
            self.engine.none(given) if self.is_engines else given.schema.empty_table()
        )

    def column(self, role: str) -> str:
        """Return the name of a role's column."""
        return self.context.names[role]

    def present(self, *roles: str) -> tuple[str, ...]:
        """Return the columns of some roles, of those that it has."""
        return tuple(
            self.column(role) for role in roles if self.column(role) in self.none.column_names
        )

    def read(self, columns: Sequence[str]) -> pa.Table:
        """Return some columns with all rows."""
        if self.is_engines:
            return in_plain_types(self.engine.read(self.frame, columns))
        return self.frame.select(list(columns))

    def values(self, role: str, present: Sequence[str], any_of: Sequence[str] = ()) -> pl.DataFrame:
        """Return the values of a role's column once, of rows that have some columns: `value`."""
        column = self.column(role)
        if self.is_engines:
            found = pl.DataFrame(self.engine.distinct(self.frame, column, present, any_of))
        else:
            found = rows_with(pl.DataFrame(self.frame), present, any_of)
        return found.select(pl.col(column).alias("value")).unique()

    def counted(self) -> tuple[pl.DataFrame, int]:
        """Return each item with its number of users, and the number of users."""
        user, item = self.column("user"), self.column("item")
        if self.is_engines:
            found, n_users = self.engine.counted(self.frame, user, item)
            return pl.DataFrame(found), n_users
        return counted(pl.DataFrame(self.frame).select(user=user, item=item).drop_nulls())


class Divided:
    """Call on a frame that an engine holds."""

    def __init__(
        self, rec: Any, method: str, arguments: tuple[Any, ...], options: Mapping[str, Any]
    ) -> None:
        self.frame, self.context = rec._frame, rec._context  # noqa: SLF001  a Rec's own
        self.method, self.arguments, self.options = method, arguments, dict(options)
        for name in ("k", "by"):  # which are read several times
            given = self.options.get(name)
            is_one = isinstance(given, str) or is_side(given)
            if isinstance(given, Iterable) and not is_one:
                self.options[name] = list(given)
        self.engine: Engine = kind_for(self.frame).engine  # type: ignore[assignment]  # the frame is an engine's

    def result(self) -> Any:
        """Return the result of the method."""
        divided = not self._has_rows_of_users
        self._check(divided=divided)
        trial = Trial(divided=divided)
        self.call.made(trial, {name: one.none for name, one in self.given.items()}, plain=())
        columns = {name: list(trial.columns.get(name, {})) for name in self.given}
        whole = {name: self.given[name].read(columns.pop(name)) for name in {*WHOLE} & {*columns}}
        routed = {name: self._routed(name, trial) for name, wanted in columns.items() if wanted}
        none = {name: self.given[name].none.select(wanted) for name, wanted in columns.items()}
        plans, tables = tuple(trial.plans), self._tables(trial)
        replayed = Replayed(self.call, plans, trial.result, tables, none, whole)
        result = without_rows(trial.result)
        of_bucket = without_rows(schema_of(trial.plans)) if trial.plans else result
        added = added_of(trial.plans) if trial.plans else None
        work = Work(routed, replayed.of_bucket, of_bucket, added, replayed.finished, result)
        return self.engine.run(self.frame, work)

    @cached_property
    def call(self) -> Call:
        """The call without its frames."""
        none = dict.fromkeys(SIDES)
        none["reference"] = (
            self.context.reference if isinstance(self.context.reference, str) else None
        )
        own = {one.name: one.definition for one in self.metrics if not one.definition.builtin}
        names = {name: one.names for name, one in self.given.items() if one.names}
        return Call(
            self.method,
            tuple(self._sent(one) for one in self.arguments),
            {name: self._sent(one) for name, one in self.options.items()},
            replace(self.context, **none),
            names,
            tuple(own.values()),
            words(),
        )

    def _sent(self, given: Any) -> Any:
        """Return an argument as it travels: metrics and requirements as texts, and earlier results with their rows."""
        if isinstance(given, Requirement):
            return str(given)
        if isinstance(given, Metric):
            return given.as_stated
        if is_frame(given) and kind_for(given).is_lazy:
            return collected(given)
        return [self._sent(one) for one in given] if isinstance(given, list | tuple) else given

    @cached_property
    def metrics(self) -> list[Metric[...]]:
        """The requested metrics."""
        if self.method in WITHOUT_METRICS:
            return []
        if self.method == "require":
            return metrics_of(required(self.arguments, self.options.get("k")))
        return registry.asked(registry.each(self.arguments), self.options.get("k"))

    @property
    def _by(self) -> list[Any]:
        return [*self.context.by, *argument_errors.names(self.options.get("by"))]

    @property
    def _has_rows_of_users(self) -> bool:
        """Whether the result has rows of users, so that a bucket's are those of the result."""
        users = {one.names["user"] for one in self.given.values() if "user" in one.names}
        names = [one for one in self._by if isinstance(one, str)]
        by_user = any(one in users or role_named(one, self.context) == "user" for one in names)
        return self.method in OF_ROWS or by_user

    def _check(self, *, divided: bool) -> None:
        """Reject metrics that are no sums over the users of a bucket."""
        if self._goes_by_order:
            msg = (
                f"ties='order' goes by how rows stand, and those of {self.engine.name} stand in no order; give each row a "
                "rank, or write another ties="
            )
            raise RecframeError(msg)
        self._check_earlier()
        for one in self.metrics if self.method in {"summarize", "compare", "winner"} else ():
            if is_of_segment(one):
                msg = (
                    f"what each list changes in {one} takes all lists at once, which no bucket of users has; evaluate() has "
                    "its values, without intervals"
                )
                raise RecframeError(msg)
        for one in () if divided else self.metrics:
            if {*OF_OTHERS} & needs_of(one).levels:
                msg = f"{one} by user holds each user against all others, whom no bucket has; ask it by segment"
                raise RecframeError(msg)

    def _check_earlier(self) -> None:
        """Reject earlier results with users' values."""
        last = self.options.get("last")
        for one in last if isinstance(last, list | tuple) else [last]:
            if is_frame(one) and not is_summary(kind_for(one).columns):
                alone = Either(
                    "give its summary alone as last=",
                    "give --reference a result that was stored without --users-values",
                )
                msg = "an earlier result's values of users are held against all lists at once, which no bucket of users has; "
                raise RecframeError(f"{msg}{alone}")

    @property
    def _goes_by_order(self) -> bool:
        """Whether ties are broken by row order; under a profile only where ranks come from scores."""
        contexts = [
            under_profile.own(self._context_of_call),
            *(one.context for one in self._conventions),
        ]
        bound = self.context.ties == "order"
        return bound or (self._is_scored and any(one.ties == "order" for one in contexts))

    @property
    def _context_of_call(self) -> Context:
        profile = self.options.get("profile")
        return under_profile.bind(self.context, {"profile": profile}) if profile else self.context

    @cached_property
    def _conventions(self) -> list[Convention]:
        return under_profile.asked(self._context_of_call, self.metrics)

    @cached_property
    def given(self) -> dict[str, Given]:
        """The frames of the call, by their names."""
        sides = {name: getattr(self.context, name) for name in SIDES}
        frames = {LISTS: self.frame} | {
            name: one for name, one in sides.items() if one is not None and not isinstance(one, str)
        }
        return {name: self._given(name, one) for name, one in frames.items()}

    def _given(self, name: str, frame: Any) -> Given:
        names: Mapping[str, Any] = {}
        if isinstance(frame, NamedFrame):
            names, frame = frame.names, frame.frame
        context = self.context.bind(names) if names else self.context
        kind = kind_for(frame, str(FrameOf(name)))
        if kind.engine is not None and kind.engine.name != self.engine.name:
            msg = f"the lists are a frame of {self.engine.name}, and a side frame of {kind.engine.name}; give both of one"
            raise RecframeError(msg)
        if kind.engine is not None:
            return Given(frame, names, context, self.engine, is_engines=True)
        ids = [context.names[role] for role in IDS]
        numbers = [context.names[role] for role in READ_AS_GIVEN]
        taken = kind.take({name: name for name in kind.columns}, ids, numbers)
        table = table_of(stream(taken.lazy()))
        return Given(table, names, context, self.engine, is_engines=False)

    def _routed(self, name: str, trial: Trial) -> Routed:
        """Return a frame that travels, without the rows that no plan reads."""
        one, columns = self.given[name], tuple(trial.columns[name])
        roles = {"users": ("user",), "truth": ("user", "item", "relevance")}
        present = one.present(*roles.get(name, ("user", "item")))
        present = tuple(one for one in present if one in columns and self.method != "audit")
        most = self._deepest(trial) if name == LISTS else None
        return Routed(one.frame, columns, one.column("user"), present, most)

    def _deepest(self, trial: Trial) -> tuple[str, float] | None:
        """Return the column of ranks and the largest that is read; None where rows behind it say something.

        NOTE: those tell which users have a list and how long it is, who has a row in a segment of items, what is relevant by
        the list alone, what `by` columns of the lists are, and where ranks come from scores, which rank a row has.
        """
        lists, rank = self.given[LISTS], self.context.names["rank"]
        columns = {*trial.columns[LISTS]}
        roles = {lists.column(role) for role in (*IDS, "rank")}
        if (
            self.method not in {"evaluate", "summarize", "compare", "winner"}
            or "truth" not in self.given
        ):
            return None
        if rank not in columns or not columns <= roles or self.context.strict:
            return None
        contexts = [under_profile.own(self._context_of_call)]
        contexts += [one.context for one in self._conventions]
        plain = all(one.universe in {None, "truth"} for one in contexts)
        plain &= all(one.relevant_from == "truth" for one in contexts)
        needs = [needs_of(one.metric) for one in self._conventions]
        plain &= all(one.over == "users" and not one.columns & LISTED for one in needs)
        ks = [one.metric.k for one in self._conventions]
        if not plain or None in ks or "reference" in self.given or not self._is_by_users:
            return None
        return rank, max(k for k in ks if k is not None)

    @property
    def _is_by_users(self) -> bool:
        """Whether all segments are of users: in one of items a user counts by rows of any rank."""
        columns = self.given["users"].none.column_names if "users" in self.given else []
        roles = [role_named(one, self.context) for one in self._by if isinstance(one, str)]
        others = [one for one in self._by if not isinstance(one, str) or one not in columns]
        return len(others) == len([role for role in roles if role in {"user", "model"}])

    def _tables(self, trial: Trial) -> dict[str, pl.DataFrame]:
        """Return the tables about all users that the dry run requested."""
        asked, found = trial.tables.asked, {}
        if MODELS in asked:
            found[MODELS] = self._models().rename({"value": "model"})
        if CATALOGUE in asked:
            items = [one.values("item", one.present("user", "item")) for one in self._judging()]
            found[CATALOGUE] = (
                pl.concat(items, how="vertical_relaxed").unique().rename({"value": "item"})
            )
        if asked & {POPULARITY, TRAIN_USERS}:
            counts, n_users = self.given["train"].counted()
            found[POPULARITY] = counts
            found[TRAIN_USERS] = pl.DataFrame({"value": [float(n_users)]})
        return found

    def _models(self) -> pl.DataFrame:
        """Return the models of all lists, or say that a ranked row has none, which a cut-off may keep from the buckets."""
        lists = self.given[LISTS]
        ranked = () if self._is_scored else lists.present("model", "rank")
        found = lists.values("model", lists.present("user", "item"), ranked)
        if found.schema["value"].is_float():
            found = found.fill_nan(None)
        if found["value"].null_count() and self.method != "audit":
            raise DataError(WITHOUT_MODEL.format(lists.column("model")))
        return found

    @property
    def _is_scored(self) -> bool:
        lists = self.given[LISTS]
        return lists.column("rank") not in lists.none.column_names

    def _judging(self) -> Iterable[Given]:
        """Return the frames whose items are those of the catalogue, where there is no frame of items."""
        return [self.given[name] for name in (LISTS, "truth", "train") if name in self.given]
