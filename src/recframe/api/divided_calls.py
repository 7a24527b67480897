"""Calls whose plan runs over some users at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from recframe.frames.kinds.kind import Kind, chosen, collected, is_frame, kind_for, stream_all
from recframe.frames.options import Context, NamedFrame
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
OF_MEANS = {"evaluate", "summarize", "compare"}
"""Methods that read no more of a list than their metrics do."""
Arguments = tuple[Any, ...]
Named = Mapping[str, Any]
Schemas = Mapping[str, pl.Schema]
Cast = Callable[[pl.Series, pl.DataType], pl.Series]
"""Type of functions that bring a column into a dtype."""
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
    arguments: Arguments
    options: Named
    context: Context
    """The options of `rec(...)`, with the side frames' own column names in place of the frames."""
    own: tuple[Definition, ...]
    """Users' own metrics in the call."""

    def planned(self, plan: Plan, kinds: Mapping[str, Kind] | None = None) -> Plan:
        """Return a plan with the result of the call, whose columns are made like those of their frames' kinds."""
        for definition in self.own:
            registry.know(definition)
        parts, sides = {}, dict[str, Any]()
        for name, rows in plan.frames.items():
            parts[name] = part = Part(rows, name, plan, (kinds or {}).get(name))
            if name != LISTS:  # which has the names of the call
                columns, names = rows.collect_schema(), getattr(self.context, name).names
                read = {role: own for role, own in names.items() if own is False or own in columns}
                sides[name] = NamedFrame(part, read)
        rec: Any = Rec(parts[LISTS])
        bound = rec._with(replace(self.context, **sides))  # noqa: SLF001  a call's own frames
        with silent():
            plan.result = getattr(bound, self.method)(*self.arguments, **self.options)
        return plan


class Question:
    """Method of `rec` over frames of which a plan has some users at a time."""

    def __init__(self, rec: Any, method: str, arguments: Arguments, options: Named) -> None:
        self.rec, self.context = rec, rec._context  # noqa: SLF001  a Rec's own
        self.method, self.arguments, self.options = method, arguments, dict(options)
        k: Any = self.options.get("k")
        if is_many(k):  # which is read several times, as the columns are
            self.options["k"] = [*k]
        given = argument_errors.names(self.options.get("by"))
        if given:
            self.options["by"] = given
        self.by = [*self.context.by, *given]
        self.sides: dict[str, Side] = sides_of(rec._frame, self.context)  # noqa: SLF001
        self.engine: Engine | None = self.sides[LISTS].kind.engine
        engines = {side.kind.engine.name for side in self.sides.values() if side.kind.engine}
        if len(engines) > 1:
            raise RecframeError(
                f"the lists and a side frame are of several engines, {' and '.join(engines)}; give frames of one"
            )
        self.frames: dict[str, Any] = {}
        """The frames of the engine, and those of this process as plans, with all of their columns."""
        self.schemas: dict[str, pl.Schema] = {}
        """The columns of the frames, in the dtypes that they have in a bucket."""
        for name, side in self.sides.items():
            frame, engine = side.kind.frame, self.engine
            if engine is not None and side.kind.engine is not None:
                schema = engine.schema(frame)
            else:
                frame = as_plan(side)
                schema = frame.collect_schema()
                schema = schema if engine is None else engine.sent(schema)
            self.frames[name], self.schemas[name] = frame, schema

    def plan(self, *, keeps_users: bool = False) -> Plan:
        """Return the plan of the call over the columns that it reads, which a first plan tells."""
        first = self.planned(self.schemas, keeps_users=keeps_users)
        first.check()
        return self.planned(first.read, keeps_users=keeps_users)

    def planned(self, schemas: Schemas, **options: Any) -> Plan:
        """Return the plan of the call over some columns, or over the rows of all users."""
        kinds = {name: side.kind for name, side in self.sides.items()}
        return self.call.planned(Plan(schemas, **options), kinds)

    def rows(
        self, name: str, schema: Mapping[str, pl.DataType], cast: Cast = pl.Series.cast
    ) -> pl.DataFrame:
        """Return columns of a frame, of which this process reads all rows, in some dtypes."""
        frame, kind, names = self.frames[name], self.sides[name].kind, [*schema]
        if not names:
            return pl.DataFrame()
        own = kind.engine
        rows = kind.run(columns_of(frame, names)) if own is None else own.read(frame, names)
        # column by column, since names may be patterns to Polars
        return pl.DataFrame([cast(one, schema[one.name]) for one in rows])

    def in_full(self, schemas: Schemas) -> dict[str, pl.DataFrame]:
        """Return the columns that are read of the frames that every part of the users has in full."""
        return {name: self.rows(name, schemas[name]) for name in WHOLE & schemas.keys()}

    @cached_property
    def call(self) -> Call:
        """The call without its frames."""
        named = {
            name: NamedFrame(None, side.names) for name, side in self.sides.items() if name != LISTS
        }
        definitions = (metric.definition for metric in self.metrics)
        return Call(
            self.method,
            tuple(map(_sent, self.arguments)),
            {name: _sent(one) for name, one in self.options.items()},
            replace(self.context, memory=None, **named),
            tuple(one for one in definitions if not one.builtin),
        )

    @cached_property
    def metrics(self) -> list[Metric[...]]:
        """The metrics of the call."""
        if self.method in WITHOUT_METRICS:
            return []
        if self.method == GATE:
            return metrics_of(required(self.arguments, self.options.get("k")))
        return registry.asked(self.arguments, self.options.get("k"))

    @cached_property
    def _conventions(self) -> list[Convention]:
        return under_profile.asked(self.context, self.metrics)

    @property
    def _contexts(self) -> list[Context]:
        """The policies of the call and of each metric under the profile."""
        own = under_profile.own(self.context)
        return [own, *(convention.context for convention in self._conventions)]

    @property
    def has_rows_of_users(self) -> bool:
        """Whether the result has rows of users."""
        users = {side.names.get("user") for side in self.sides.values()}
        names = {one for one in self.by if isinstance(one, str)}
        roles = {role_named(name, self.context) for name in names}
        return self.method in OF_ROWS or "user" in roles or not users.isdisjoint(names)

    def check(self, engine: Engine) -> None:
        """Reject what goes by an order of rows, or is a user's by all other users, which a bucket has not."""
        lists = self.sides[LISTS]
        if not lists.has("rank") and "order" in {context.ties for context in self._contexts}:
            raise RecframeError(
                f"ties='order' needs an order of rows, but those of {engine.name} have none; give each row a rank, or write "
                "another ties="
            )
        if self.method == "judge" and lists.rows_are_items:
            raise RecframeError(
                "a judged frame without ids of items is numbered row by row, which no bucket can do; name their column: "
                "rec(item='item_id')"
            )
        for metric in self.metrics if self.has_rows_of_users else []:
            if needs_of(metric).levels & OF_OTHERS:
                raise NeedsAllUsersError(
                    f"{metric} by user compares each user with all others, but a bucket has only some users; leave out "
                    "by='user'"
                )

    def routed(self, schemas: Schemas) -> dict[str, Routed]:
        """Return the rows and columns that are read of the frames that are parted by users."""
        roles = {"users": ("user",), "truth": ("user", "item", "relevance")}
        found = {}
        for name, schema in schemas.items():
            if not schema or name in WHOLE:
                continue
            names = self.sides[name].context.names
            present = (names[role] for role in roles.get(name, ("user", "item")))
            kept = tuple(one for one in present if one in schema and self.method != "audit")
            most = self._deepest({*schema}) if name == LISTS else None
            found[name] = Routed(self.frames[name], schema, names["user"], kept, most)
        return found

    def _deepest(self, columns: set[str]) -> tuple[str, float] | None:
        """Return the column of ranks and the largest that is read; None where rows behind it say something.

        NOTE: those tell which users have a list and how long it is, who has a row in a segment of items, what is relevant by
        the list alone, what `by` columns of the lists are, and where ranks come from scores, which rank a row has.
        """
        context, names = self.context, self.sides[LISTS].context.names
        ks = [convention.metric.k or 0 for convention in self._conventions]
        needs = [convention.needs for convention in self._conventions]
        reads_hits_alone = (
            self.method in OF_MEANS
            and "truth" in self.sides
            and "reference" not in self.sides
            and not context.strict
            and names["rank"] in columns <= {names[role] for role in (*IDS, "rank")}
            and {one.universe for one in self._contexts} <= {None, "truth"}
            and {one.relevant_from for one in self._contexts} == {"truth"}
            and all(need.over == "users" and not need.columns & LISTED for need in needs)
            and self._is_by_users
        )
        return (names["rank"], max(ks)) if reads_hits_alone and all(ks) else None

    @property
    def _is_by_users(self) -> bool:
        """Whether all segments are of users: in one of items a user counts by rows of any rank."""
        columns = self.sides["users"].columns if "users" in self.sides else []
        others = [str(one) for one in self.by if one not in columns]
        return {role_named(one, self.context) for one in others} <= {"user", "model"}


def _sent(given: Any) -> Any:
    """Return an argument as it travels: metrics and requirements as texts, and earlier results with their rows."""
    if isinstance(given, Requirement):
        return str(given)
    if isinstance(given, Metric):
        return given.as_stated
    if is_frame(given) and kind_for(given).is_lazy:
        return collected(given)
    return [*map(_sent, given)] if isinstance(given, list | tuple) else given


def as_plan(side: Side) -> pl.LazyFrame:
    """Return a frame of this process as a plan, with all of its columns."""
    kind, names = side.kind, side.context.names
    if hasattr(kind.frame, "lazy"):  # as it is, since a scan of files then reads some rows alone
        found: pl.LazyFrame = kind.frame.lazy()
        return found
    ids, numbers = [names[role] for role in IDS], [names[role] for role in READ_AS_GIVEN]
    return kind.take({name: name for name in kind.columns}, ids, numbers).lazy()


def within_memory(question: Question) -> Any:
    """Return the result of a call, whose frames are read in as many scans as the bound on memory takes."""
    rec, why, schemas = question.rec, None, question.schemas
    keeps = question.method in OF_ROWS
    try:
        plan = question.plan(keeps_users=keeps)
        schemas = plan.read
    except NeedsAllUsersError as error:
        why = error
    with closing(Scans(question.routed(schemas), question.context.memory)) as scans:
        if scans.hold_all:
            bound = rec._with(replace(question.context, memory=None))  # noqa: SLF001  a Rec's own
            bound._is_collected |= rec._kind.is_lazy  # noqa: SLF001  as above
            return getattr(bound, question.method)(*question.arguments, **question.options)
        if why is not None:
            room = Given("memory", scans.least(scans.needed))
            raise NeedsAllUsersError(
                f"{why}; ask it with room for all rows, {room}, or leave memory= out"
            )
        scans.write_files()
        items = question.in_full(schemas)
        all_rows = scans.whole() | {name: rows.lazy() for name, rows in items.items()}
        whole = question.planned(question.schemas, whole=all_rows, keeps_users=keeps)

        def sums(step: Step) -> list[pl.DataFrame]:
            if step.are_keys:  # those of the whole plan take the least time
                return stream_all([whole.sums[place].rows for place in step.places])
            # a map, since a loop would hold the rows of one scan while those of the next are read
            return step.added(map(partial(plan.part, step=step), scans.parts(step.reads)))

        plan.fill(items)
        return rec._kind.give(plan.run(sums), *whole.shown)  # noqa: SLF001  a Rec's own


@dataclass(frozen=True)
class Task:
    """Step of a call's plan, which a worker makes again for each bucket of users."""

    call: Call
    schemas: Schemas
    filled: NamedRows
    """Frames that every bucket has in full, and sums of all users."""
    keeps_users: bool
    places: tuple[int, ...]
    """Places of the step's sums; without any it has rows of users."""

    def __call__(self, frames: NamedRows) -> list[pl.DataFrame]:
        """Return the sums of a bucket, or its rows of the result."""
        plan = self.call.planned(Plan(self.schemas, keeps_users=self.keeps_users))
        plan.fill(self.filled)
        return plan.part(frames, plan.step(self.places) if self.places else plan.steps[-1])


def on_engine(rec: Any, method: str, arguments: Arguments, options: Named) -> Any:
    """Return the result of a method on an engine's frames, whose rows stay where they are."""
    question, frame = Question(rec, method, arguments, options), rec._frame  # noqa: SLF001  a Rec's own
    engine = question.engine
    if engine is None:
        return within_memory(question)
    question.check(engine)
    keeps = question.has_rows_of_users
    plan = question.plan(keeps_users=keeps)
    schemas = plan.read
    sides = question.routed(schemas)

    def sums(step: Step) -> Sequence[Any]:
        task = Task(question.call, schemas, {**plan.filled}, keeps, step.places)
        routed = {name: one for name, one in sides.items() if name in step.reads}
        if not step.places:
            (rows,) = step.sums
            return [engine.rows(frame, routed, task, rows.rows.collect_schema())]
        if any(one.has_users for one in step.sums):
            raise NeedsAllUsersError(OF_ALL_LISTS)
        if step.are_keys:  # which may stand behind the largest cut-off
            routed = {name: replace(one, most=None) for name, one in routed.items()}
        how = [one.how for one in step.sums]
        parts = engine.sums(frame, routed, task, how) if routed else []
        return step.added(parts or [task({})])

    plan.fill(question.in_full(schemas))
    found = plan.run(sums)
    return found if keeps else engine.give(frame, chosen(found, plan.shown.columns))
