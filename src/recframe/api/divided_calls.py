"""Calls whose plan runs over some users at a time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import polars as pl

from recframe.api import argument_errors
from recframe.api.rec_class import Rec
from recframe.engines.scans import Scans
from recframe.errors import NeedsAllUsersError, RecframeError, silent
from recframe.evaluation.plan import WHOLE, Part, Plan, Step
from recframe.evaluation.required_columns import LISTED, Convention, needs_of
from recframe.frames.hints import Given
from recframe.frames.kinds.engine import Engine, NamedRows, Routed, columns_of
from recframe.frames.kinds.kind import (
    Kind,
    chosen,
    collected,
    is_frame,
    kind_for,
    stream,
    stream_all,
    with_results_of_polars,
)
from recframe.frames.options import SIDES, Context, NamedFrame
from recframe.frames.roles import IDS, READ_AS_GIVEN, Side, role_named, sides_of
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Definition, Metric, is_many
from recframe.profiles import under_profile
from recframe.side_info.aggregation_levels import Level
from recframe.statistics.requirements import Requirement, metrics_of, required

LISTS = "recommendations"
WITHOUT_METRICS = ("judge", "audit")
GATE = "_states"
"""Method that makes the result of `require`, which is checked on the driver."""
OF_ROWS = ("judge",)
"""Methods whose results have rows of users."""
OF_ALL_LISTS = (
    "the interval of a number of all lists needs all lists at once, but buckets hold only some users; evaluate() has its "
    "values, without intervals"
)
OF_OTHERS = {Level.IN_ALL, Level.EVERYWHERE, Level.ALONG_ALL}
"""Levels at which a user's value is made of all users' lists."""


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

    def planned(self, plan: Plan, kinds: Mapping[str, Kind] | None = None) -> Plan:
        """Return a plan with the result of the call, whose columns are made like those of their frames' kinds."""
        for definition in self.own:
            registry.know(definition)
        kinds, frames = kinds or {}, plan.frames
        given = {name: Part(rows, name, plan, kinds.get(name)) for name, rows in frames.items()}
        sides: dict[str, Any] = {
            name: NamedFrame(given[name], self._names_of(name, frames[name]))
            for name in SIDES
            if name in given
        }
        rec: Rec[Any] = Rec(given[LISTS])
        bound = rec._with(replace(self.context, **sides))  # noqa: SLF001  a call's own frames
        with silent():
            plan.result = getattr(bound, self.method)(*self.arguments, **self.options)
        return plan

    def _names_of(self, name: str, frame: pl.LazyFrame) -> dict[str, str]:
        """Return a side frame's own column names, of the columns that are read."""
        columns = frame.collect_schema().names()
        return {role: own for role, own in self.names.get(name, {}).items() if own in columns}


class Question:
    """Method of `rec` over frames of which a plan has some users at a time."""

    def __init__(
        self, rec: Any, method: str, arguments: tuple[Any, ...], options: Mapping[str, Any]
    ) -> None:
        self.rec, self.context = rec, rec._context  # noqa: SLF001  a Rec's own
        self.method, self.arguments, self.options = method, arguments, dict(options)
        k: Any = self.options.get("k")
        by: Any = self.options.get("by")
        if is_many(k):  # which is read several times, as the columns are
            self.options["k"] = [*k]
        if by is not None:
            self.options["by"] = argument_errors.names(by)
        self.sides: dict[str, Side] = sides_of(rec._frame, self.context)  # noqa: SLF001
        self.engine: Engine | None = self.sides[LISTS].kind.engine

    @cached_property
    def frames(self) -> dict[str, Any]:
        """The frames of the engine, and those of this process as plans, with all of their columns."""
        engines = {side.kind.engine.name for side in self.sides.values() if side.kind.engine}
        if len(engines) > 1:
            msg = f"the lists and a side frame are of several engines, {' and '.join(engines)}; give frames of one"
            raise RecframeError(msg)
        return {
            name: side.kind.frame if self._is_there(name) else as_plan(side)
            for name, side in self.sides.items()
        }

    @cached_property
    def schemas(self) -> dict[str, pl.Schema]:
        """The columns of the frames, in the dtypes that they have in a bucket."""
        return {name: self._schema(name, frame) for name, frame in self.frames.items()}

    def _schema(self, name: str, frame: Any) -> pl.Schema:
        if self.engine is not None and self._is_there(name):
            return self.engine.schema(frame)
        schema: pl.Schema = frame.collect_schema()
        return schema if self.engine is None else self.engine.sent(schema)

    def _is_there(self, name: str) -> bool:
        """Return whether a frame is the engine's, and none of this process."""
        return self.engine is not None and self.sides[name].kind.engine is not None

    def plan(self, *, keeps_users: bool = False) -> Plan:
        """Return the plan of the call over the columns that it reads, which a first plan tells."""
        first = self._planned(self.schemas, keeps_users=keeps_users)
        first.check()
        return self._planned(self.read_by(first), keeps_users=keeps_users)

    def plan_of_all(self, whole: Mapping[str, pl.LazyFrame]) -> Plan:
        """Return the plan of the call over the rows of all users."""
        return self._planned(self.schemas, whole=whole, keeps_users=self.method in OF_ROWS)

    def _planned(self, schemas: Mapping[str, pl.Schema], **options: Any) -> Plan:
        kinds = {name: side.kind for name, side in self.sides.items()}
        return self.call.planned(Plan(schemas, **options), kinds)

    def read_by(self, plan: Plan) -> dict[str, pl.Schema]:
        """Return the columns of the frames that a plan reads."""
        found = {}
        for name, read in plan.columns.items():
            schema = self.schemas[name]
            found[name] = pl.Schema({one: schema[one] for one in read})
        return found

    def rows(self, name: str, columns: Collection[str]) -> pl.DataFrame:
        """Return columns of a frame, of which this process reads all rows."""
        frame, kind = self.frames[name], self.sides[name].kind
        if not columns:
            return pl.DataFrame()
        if self.engine is not None and self._is_there(name):
            return self.engine.read(frame, [*columns])
        return kind.run(columns_of(frame, columns))

    def in_full(self, schemas: Mapping[str, Mapping[str, pl.DataType]]) -> dict[str, pl.DataFrame]:
        """Return the columns that are read of the frames that every part of the users has in full."""
        found = {}
        for name in WHOLE & {*schemas}:
            schema = schemas[name]
            # column by column, since names may be patterns to Polars
            rows = [one.cast(schema[one.name]) for one in self.rows(name, schema)]
            found[name] = pl.DataFrame(rows)
        return found

    @cached_property
    def call(self) -> Call:
        """The call without its frames."""
        none: dict[str, Any] = dict.fromkeys(SIDES)
        if isinstance(self.context.reference, str):
            del none["reference"]
        own = {one.name: one.definition for one in self.metrics if not one.definition.builtin}
        return Call(
            self.method,
            tuple(map(_sent, self.arguments)),
            {name: _sent(one) for name, one in self.options.items()},
            replace(self.context, memory=None, **none),
            {name: side.names for name, side in self.sides.items()},
            tuple(own.values()),
        )

    @cached_property
    def metrics(self) -> list[Metric[...]]:
        """The metrics of the call."""
        if self.method in WITHOUT_METRICS:
            return []
        if self.method == GATE:
            return metrics_of(required(self.arguments, self.options.get("k")))
        return registry.asked(self.arguments, self.options.get("k"))

    @property
    def _by(self) -> list[Any]:
        return [*self.context.by, *argument_errors.names(self.options.get("by"))]

    @cached_property
    def _conventions(self) -> list[Convention]:
        return under_profile.asked(self.context, self.metrics)

    @cached_property
    def _contexts(self) -> list[Context]:
        """The policies of the call and of each metric under the profile."""
        own = under_profile.own(self.context)
        return [own, *(convention.context for convention in self._conventions)]

    @property
    def is_scored(self) -> bool:
        """Whether ranks are made from scores."""
        return not self.sides[LISTS].has("rank")

    @property
    def has_rows_of_users(self) -> bool:
        """Whether the result has rows of users."""
        users = {side.names.get("user") for side in self.sides.values()}
        names = [one for one in self._by if isinstance(one, str)]
        by_user = any(name in users or role_named(name, self.context) == "user" for name in names)
        return self.method in OF_ROWS or by_user

    def check(self, engine: Engine) -> None:
        """Reject what goes by an order of rows, or is a user's by all other users, which a bucket has not."""
        if self.is_scored and any(context.ties == "order" for context in self._contexts):
            msg = (
                f"ties='order' needs an order of rows, but those of {engine.name} have none; give each row a rank, or write "
                "another ties="
            )
            raise RecframeError(msg)
        if self.method == "judge" and self.sides[LISTS].rows_are_items:
            msg = (
                "a judged frame without ids of items is numbered row by row, which no bucket can do; name their column: "
                "rec(item='item_id')"
            )
            raise RecframeError(msg)
        for metric in self.metrics if self.has_rows_of_users else []:
            if needs_of(metric).levels & OF_OTHERS:
                msg = (
                    f"{metric} by user compares each user with all others, but a bucket has only some users; leave out "
                    "by='user'"
                )
                raise NeedsAllUsersError(msg)

    def routed(self, name: str, schema: pl.Schema) -> Routed:
        """Return the rows and columns that are read of a frame."""
        side, columns = self.sides[name], schema.names()
        roles = {"users": ("user",), "truth": ("user", "item", "relevance")}
        present = (side.context.names[role] for role in roles.get(name, ("user", "item")))
        kept = tuple(one for one in present if one in columns and self.method != "audit")
        most = self._deepest({*columns}) if name == LISTS else None
        return Routed(self.frames[name], schema, side.context.names["user"], kept, most)

    def _deepest(self, columns: set[str]) -> tuple[str, float] | None:
        """Return the column of ranks and the largest that is read; None where rows behind it say something.

        NOTE: those tell which users have a list and how long it is, who has a row in a segment of items, what is relevant by
        the list alone, what `by` columns of the lists are, and where ranks come from scores, which rank a row has.
        """
        rank = self.context.names["rank"]
        roles = {self.sides[LISTS].context.names[role] for role in (*IDS, "rank")}
        needs = [needs_of(convention.metric) for convention in self._conventions]
        ks = [convention.metric.k for convention in self._conventions]
        reads_hits_alone = (
            self.method in {"evaluate", "summarize", "compare"}
            and "truth" in self.sides
            and "reference" not in self.sides
            and rank in columns <= roles
            and not self.context.strict
            and all(context.universe in {None, "truth"} for context in self._contexts)
            and all(context.relevant_from == "truth" for context in self._contexts)
            and all(need.over == "users" and not need.columns & LISTED for need in needs)
            and self._is_by_users
        )
        if not reads_hits_alone or None in ks:
            return None
        return rank, max(k for k in ks if k is not None)

    @property
    def _is_by_users(self) -> bool:
        """Whether all segments are of users: in one of items a user counts by rows of any rank."""
        columns = self.sides["users"].columns if "users" in self.sides else []
        others = [one for one in self._by if one not in columns]
        return all(role_named(str(one), self.context) in {"user", "model"} for one in others)


def _sent(given: Any) -> Any:
    """Return an argument as it travels: metrics and requirements as texts, and earlier results with their rows."""
    if isinstance(given, Requirement):
        return str(given)
    if isinstance(given, Metric):
        return given.as_stated
    if is_frame(given) and kind_for(given).is_lazy:
        return collected(given)
    return [_sent(one) for one in given] if isinstance(given, list | tuple) else given


def within_memory(
    rec: Any, method: str, arguments: tuple[Any, ...], options: Mapping[str, Any]
) -> Any:
    """Return the result of a method, whose frames are read in as many scans as the bound on memory takes."""
    question = Question(rec, method, arguments, options)
    keeps, why = method in OF_ROWS, None
    schemas: Mapping[str, Mapping[str, pl.DataType]] = question.schemas
    try:
        plan = question.plan(keeps_users=keeps)
        schemas = question.read_by(plan)
    except NeedsAllUsersError as error:
        why = error
    read = {
        name: question.routed(name, pl.Schema(schema))
        for name, schema in schemas.items()
        if schema and name not in WHOLE
    }
    with closing(Scans(read, rec._context.memory)) as scans:  # noqa: SLF001  a Rec's own
        if scans.hold_all:
            return _in_one_plan(rec, method, arguments, question.options)
        if why is not None:
            room = Given("memory", scans.least(scans.needed))
            raise NeedsAllUsersError(
                f"{why}; ask it with room for all rows, {room}, or leave memory= out"
            )
        scans.write_files()
        items = question.in_full(schemas)
        whole = question.plan_of_all(scans.whole() | {one: items[one].lazy() for one in items})

        def sums(step: Step) -> list[pl.DataFrame]:
            if step.are_keys:  # those of the whole plan take the least time
                return stream_all([whole.sums[place].rows for place in step.places])
            # a map, since a loop would hold the rows of one scan while those of the next are read
            return step.added(map(partial(plan.part, step=step), scans.parts(step.reads)))

        plan.fill(items)
        return _shown(rec, whole, plan.run(sums))


@dataclass(frozen=True)
class Task:
    """Some of the sums of a call's plan, which a worker makes again for each bucket of users."""

    call: Call
    schemas: Mapping[str, pl.Schema]
    filled: NamedRows
    """Frames that every bucket has in full, and sums of all users."""
    places: tuple[int, ...] = ()
    """Places of the sums; without any the result is made, of which a bucket has the rows of its users."""
    keeps_users: bool = False

    def sums(self, frames: NamedRows) -> list[pl.DataFrame]:
        """Return the sums of a bucket."""
        plan = self._plan()
        return plan.part(frames, plan.step(self.places))

    def rows(self, frames: NamedRows) -> pl.DataFrame:
        """Return a bucket's rows of the result."""
        plan = self._plan()
        return chosen(plan.part(frames, plan.steps[-1])[0], plan.shown.columns)

    def _plan(self) -> Plan:
        plan = self.call.planned(Plan(self.schemas, keeps_users=self.keeps_users))
        plan.fill({name: pl.DataFrame(schema=schema) for name, schema in self.schemas.items()})
        plan.fill(self.filled)
        return plan


def on_engine(rec: Any, method: str, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """Return the result of a method on an engine's frames, whose rows stay where they are."""
    question, frame = Question(rec, method, arguments, options), rec._frame  # noqa: SLF001  a Rec's own
    engine = question.engine
    if engine is None:
        return within_memory(rec, method, arguments, options)
    question.check(engine)
    keeps = question.has_rows_of_users
    plan = question.plan(keeps_users=keeps)
    schemas = question.read_by(plan)

    def sums(step: Step) -> Sequence[Any]:
        task = Task(question.call, schemas, plan.filled, step.places, keeps)
        names = schemas.keys() & step.reads - WHOLE
        routed = {name: question.routed(name, schemas[name]) for name in names}
        if not step.places:
            schema = chosen(plan.result, plan.shown.columns).collect_schema()
            return [engine.rows(frame, routed, task.rows, schema)]
        if any(one.has_users for one in step.sums):
            raise NeedsAllUsersError(OF_ALL_LISTS)
        if step.are_keys:  # which may stand behind the largest cut-off
            routed = {name: replace(one, most=None) for name, one in routed.items()}
        how = [one.how for one in step.sums]
        parts = engine.sums(frame, routed, task.sums, how) if routed else []
        return step.added(parts or [task.sums({})])

    plan.fill(question.in_full(schemas))
    found = plan.run(sums)
    return found if keeps else engine.give(frame, chosen(found, plan.shown.columns))


def as_plan(side: Side) -> pl.LazyFrame:
    """Return a frame of this process as a plan, with all of its columns."""
    kind = side.kind
    if hasattr(kind.frame, "lazy"):  # as it is, since a scan of files then reads some rows alone
        found: pl.LazyFrame = kind.frame.lazy()
        return found
    names = side.context.names
    ids, numbers = [names[role] for role in IDS], [names[role] for role in READ_AS_GIVEN]
    return kind.take({name: name for name in kind.columns}, ids, numbers).lazy()


def _in_one_plan(
    rec: Any, method: str, arguments: tuple[Any, ...], options: Mapping[str, Any]
) -> Any:
    """Return the result of the same method without a bound, collected."""
    bound: Any = Rec(rec._frame)._with(replace(rec._context, memory=None))  # noqa: SLF001  a Rec's own
    is_lazy = kind_for(rec._frame).is_lazy  # noqa: SLF001
    bound._answers = rec._answers or (with_results_of_polars if is_lazy else None)  # noqa: SLF001
    return getattr(bound, method)(*arguments, **options)


def _shown(rec: Any, whole: Plan, result: pl.DataFrame) -> Any:
    """Return a result as a frame of the caller's kind, after warnings of what it shows."""
    kind, (sources, seen, columns) = rec._kind, whole.shown  # noqa: SLF001  a Rec's own
    if seen is not None:
        seen(result, stream)
    return (kind.results or kind).in_kind(chosen(result, columns), sources)
