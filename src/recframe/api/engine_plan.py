"""A call in buckets of users: dry run, buckets, final result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from recframe.api import argument_errors
from recframe.api.rec_class import Rec
from recframe.engines.local_buckets import Local
from recframe.engines.tasks import (
    WHOLE,
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
from recframe.errors import DataError, RecframeError, silent
from recframe.evaluation.evaluation import Convention
from recframe.evaluation.recorder import LISTED
from recframe.evaluation.required_columns import needs_of
from recframe.frames.hints import Hint, in_words, words
from recframe.frames.kinds.engine import (
    CATALOGUE,
    FOLDS,
    MODELS,
    POPULARITY,
    TRAININGS,
    Engine,
    Frames,
    Routed,
    Table,
    Tables,
    Work,
)
from recframe.frames.kinds.kind import Kind
from recframe.frames.kinds.lookup import collected, is_frame, kind_for
from recframe.frames.options import FOLD, SIDES, Context, NamedFrame, is_side
from recframe.frames.roles import IDS, READ_AS_GIVEN, Side, role_named, sides_of
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Definition, Metric
from recframe.profiles import under_profile
from recframe.ranking.relevance import WITHOUT_MODEL
from recframe.side_info.aggregation_levels import Level
from recframe.statistics.requirements import Requirement, metrics_of, required

LISTS = "recommendations"
NO_FRAMES: Frames = {}


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
    answers: Callable[[Kind], Kind] | None
    """Function that wraps the kind of the lists, so that results have another one."""

    def made(
        self, task: Task, frames: Mapping[str, Any], whole: Mapping[str, Any] = NO_FRAMES
    ) -> Any:
        """Make the call over buckets of some frames, and over others that every bucket has in full."""
        for definition in self.own:
            registry.know(definition)
        given = {name: Bucket(rows, name, task) for name, rows in frames.items()} | {**whole}
        sides: dict[str, Any] = {
            name: NamedFrame(given[name], self._names_of(name, given[name]))
            for name in SIDES
            if name in given
        }
        rec: Rec[Any] = Rec(given[LISTS])
        bound = rec._with(replace(self.context, **sides))  # noqa: SLF001  a call's own frames
        bound._answers = self.answers if task.warns else None  # noqa: SLF001  a call's own
        options = dict(self.options)
        if self.method == "require" and not (task.looks or task.sees_all):
            options["raises"] = False
        with in_words(self.words), silent(be=not task.warns):
            return getattr(bound, self.method)(*self.arguments, **options)

    def _names_of(self, name: str, frame: Any) -> dict[str, str]:
        """Return a side frame's own column names, of the columns that travel."""
        columns = kind_for(frame).columns
        return {role: own for role, own in self.names.get(name, {}).items() if own in columns}


@dataclass(frozen=True)
class Replayed:
    """Call with its dry-run results, ready to run on workers."""

    call: Call
    plans: Sequence[Sums]
    """Sums that are added up; empty where the buckets' rows are the result."""
    result: pl.Schema
    tables: Mapping[Table, pl.DataFrame] | None
    """Tables about all users; None where a bucket has all of these."""
    none: Frames
    """The shuffled frames without rows."""
    whole: Frames
    """Frames that every bucket has in full."""
    known: tuple[pl.DataFrame, ...] = ()
    """The sums of all buckets from the rounds before."""
    in_one_round: bool = False
    """Whether each bucket is seen once, when it comes."""

    @property
    def _tables(self) -> Tables | None:
        return None if self.tables is None else Tables(self.tables)

    def of_bucket(self, frames: Frames) -> pl.DataFrame:
        """Return a bucket's sums, or its rows of the result."""
        given = {**self.none, **frames}
        size, tables = sum(map(len, given.values())), self._tables
        task: Summing | Whole = Whole(self.result, tables, size)
        if self.plans:
            task = Summing(self.plans, tables, size, self.known)
        task.in_one_round = self.in_one_round
        self.call.made(task, given, self.whole)
        return task.table()

    def finished(self, sums: pl.DataFrame, *, fits: bool = True) -> Any:
        """Return the result, from the sums of all buckets; of frames of this process as their call gives it."""
        found, tables = (*self.known, sums), self._tables
        del fits
        task = Finishing(self.result, tables, self.plans, found)
        task.in_one_round = self.in_one_round
        self.call.made(task, self.none, self.whole)
        return task.table()


def _unfinished(sums: pl.DataFrame, *, fits: bool = True) -> pl.DataFrame:
    """Return the sums of a round that others come after."""
    del fits
    return sums


WITHOUT_METRICS = ("judge", "audit")
OF_ROWS = ("judge",)
"""Methods with result rows per user."""
OF_OTHERS = (Level.IN_ALL, Level.EVERYWHERE, Level.ALONG_ALL)
"""Levels that compare a user's lists with those of others."""


def run(rec: Any, method: str, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """Run a method and return its result as a frame of the engine."""
    return Divided(rec, method, arguments, options).result()


@dataclass(frozen=True)
class EngineSide:
    """Frame of a call in buckets: the engine's, or one of this process."""

    side: Side
    engine: Engine
    local: pl.LazyFrame | None
    in_memory: bool = False
    """Whether it is in the memory of this process."""

    @property
    def frame(self) -> Any:
        """The engine's frame, or that of this process."""
        return self.side.kind.frame if self.local is None else self.local

    @cached_property
    def schema(self) -> pl.Schema:
        """The dtypes that the columns have in a bucket."""
        if self.local is None:
            return self.engine.schema(self.frame)
        return self.engine.sent(self.local.collect_schema())

    @property
    def none(self) -> pl.DataFrame:
        """The frame without its rows."""
        return pl.DataFrame(schema=self.schema)

    def column(self, role: str) -> str:
        """Return the name of a role's column."""
        return self.side.context.names[role]

    def present(self, *roles: str) -> tuple[str, ...]:
        """Return the columns of some roles, of those that it has."""
        columns = map(self.column, roles)
        return tuple(column for column in columns if column in self.schema)

    @property
    def _reader(self) -> Engine:
        """The engine that reads the frame; one of this process is read by its threads."""
        is_sent = self.local is not None and not self.engine.is_here
        return Local() if is_sent else self.engine

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return some columns with all rows, in the dtypes of a bucket."""
        rows = self._reader.read(self.frame, columns)
        # column by column, since names such as "^.*$" are patterns to Polars
        return pl.DataFrame([one.cast(self.schema[one.name]) for one in rows])

    def values(
        self, roles: Sequence[str], present: Sequence[str], any_of: Sequence[str] = ()
    ) -> pl.DataFrame:
        """Return the values of roles' columns once, under the roles' names, of rows that have some columns."""
        columns = [self.column(role) for role in roles]
        found = self._reader.distinct(self.frame, columns, present, any_of)
        return found.select(pl.nth(place).alias(role) for place, role in enumerate(roles)).unique()

    def folds(self) -> pl.DataFrame:
        """Return each fold that has rows."""
        folds = self.side.context.folds
        columns = [] if folds is None else [folds.column]
        found = self._reader.distinct(self.frame, columns, self.present("user", "item"), ())
        return found.select(pl.first().alias(FOLD)).unique()

    def counted(self) -> tuple[pl.DataFrame, int]:
        """Return each item with its number of users, and the number of users."""
        return self._reader.counted(self.frame, self.column("user"), self.column("item"))

    def of_fold(self, number: int | None) -> EngineSide:
        """Return the rows of a fold, of a frame that has folds; those of all where no fold is named."""
        folds = self.side.context.folds
        if number is None or folds is None or folds.column not in self.schema:
            return self
        if self.local is None:
            msg = (
                f"the frames of a split have {folds.column!r}, and {self.engine.name} cannot count the items of each fold; "
                "give the frames to Polars or pandas"
            )
            raise RecframeError(msg)
        place = self.local.collect_schema().names().index(folds.column)
        mine = pl.nth(place) == pl.lit(number, self.schema[folds.column])
        return replace(self, local=self.local.filter(mine))


def _only(schema: pl.Schema, names: Sequence[str]) -> pl.DataFrame:
    """Return a frame of some columns without rows."""
    return pl.DataFrame(schema={name: schema[name] for name in names})


class Divided:
    """Call that runs in buckets of users."""

    def __init__(
        self, rec: Any, method: str, arguments: tuple[Any, ...], options: Mapping[str, Any]
    ) -> None:
        self.frame, self.context, self.answers = rec._frame, rec._context, rec._answers  # noqa: SLF001  a Rec's own
        self.method, self.arguments, self.options = method, arguments, dict(options)
        for name in ("k", "by"):  # which are read several times
            given = self.options.get(name)
            is_one = isinstance(given, str) or is_side(given)
            if isinstance(given, Iterable) and not is_one:
                self.options[name] = list(given)
        self.engine: Engine = kind_for(self.frame).engine or Local()

    def result(self) -> Any:
        """Return the result of the method: of one bucket of all users, where no other has it."""
        divided = not self._has_rows_of_users
        self._check(divided=divided)
        trial = Trial(divided=divided, is_here=self.engine.is_here)
        of_whole, none = self.tried(trial)
        routed = {
            name: self._routed(name, read.schema) for name, read in none.items() if read.columns
        }
        whole = {name: self.sides[name].read(read) for name, read in of_whole.items()}
        tables = None if trial.tables is None else self.tables(trial.tables.asked)
        replayed = Replayed(self.call, trial.plans, trial.result, tables, none, whole)
        return self._ran(routed, replayed)

    def tried(self, trial: Trial) -> tuple[dict[str, list[str]], dict[str, pl.DataFrame]]:
        """Make the dry run; return the columns of frames that all buckets have, and the other frames without rows."""
        self.call.made(trial, {name: one.none for name, one in self.sides.items()})
        columns = {name: list(trial.columns.get(name, {})) for name in self.sides}
        of_whole = {name: columns.pop(name) for name in WHOLE & {*columns}}
        none = {name: _only(self.sides[name].schema, read) for name, read in columns.items()}
        return of_whole, none

    def _ran(
        self,
        routed: Mapping[str, Routed],
        replayed: Replayed,
    ) -> Any:
        """Return the result of all rounds, each of which reads the sums of those before."""
        plans, result = replayed.plans, replayed.result
        of_bucket, added = (schema_of(plans), added_of(plans)) if plans else (result, None)
        n_rounds = 1 + max((plan.round for plan in plans), default=0)
        for _ in range(n_rounds - 1):
            work = Work(routed, replayed.of_bucket, of_bucket, added, _unfinished, of_bucket)
            sums = collected(self.engine.run(self.frame, work))
            replayed = replace(replayed, known=(*replayed.known, sums))
        finish = replayed.finished
        work = Work(routed, replayed.of_bucket, of_bucket, added, finish, result)
        return self.engine.run(self.frame, work)

    @cached_property
    def call(self) -> Call:
        """The call without its frames."""
        none: dict[str, Any] = dict.fromkeys(SIDES)
        if isinstance(self.context.reference, str):
            del none["reference"]
        own = {
            metric.name: metric.definition
            for metric in self.metrics
            if not metric.definition.builtin
        }
        return Call(
            self.method,
            tuple(map(self._sent, self.arguments)),
            {name: self._sent(one) for name, one in self.options.items()},
            replace(self.context, memory=None, **none),
            {name: one.side.names for name, one in self.sides.items()},
            tuple(own.values()),
            words(),
            self.answers,
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
        named = self.arguments[:1] if self.method == "explain" else self.arguments
        return registry.asked(registry.each(named), self.options.get("k"))

    @property
    def _by(self) -> list[Any]:
        return [*self.context.by, *argument_errors.names(self.options.get("by"))]

    @property
    def _has_rows_of_users(self) -> bool:
        """Whether the result has rows of users, so that a bucket's are those of the result."""
        users = {side.side.names.get("user") for side in self.sides.values()}
        names = [one for one in self._by if isinstance(one, str)]
        by_user = any(name in users or role_named(name, self.context) == "user" for name in names)
        return self.method in OF_ROWS or (by_user and not self.engine.is_here)

    def _check(self, *, divided: bool) -> None:
        """Reject metrics that are no sums over the users of a bucket."""
        if self._goes_by_order and not self.engine.is_here:
            msg = (
                f"ties='order' needs an order of rows, but those of {self.engine.name} have none; give each row a rank, or "
                "write another ties="
            )
            raise RecframeError(msg)
        if self.method == "judge" and self.sides[LISTS].side.rows_are_items:
            msg = (
                "a judged frame without ids of items is numbered row by row, which no bucket can do; name their column: "
                "rec(item='item_id')"
            )
            raise RecframeError(msg)
        for one in () if divided else self.metrics:
            if {*OF_OTHERS} & needs_of(one).levels:
                msg = (
                    f"{one} by user compares each user with all others, but buckets hold only some users; request it by "
                    "segment"
                )
                raise RecframeError(msg)

    @property
    def _goes_by_order(self) -> bool:
        """Whether ties are broken by row order."""
        return self._is_scored and any(context.ties == "order" for context in self._contexts)

    @cached_property
    def _conventions(self) -> list[Convention]:
        return under_profile.asked(self.context, self.metrics)

    @cached_property
    def _contexts(self) -> list[Context]:
        """The policies of the call and of each metric under the profile."""
        own = under_profile.own(self.context)
        return [own, *(convention.context for convention in self._conventions)]

    @cached_property
    def sides(self) -> dict[str, EngineSide]:
        """The frames of the call, by their names."""
        sides = sides_of(self.frame, self.context)
        return {name: self._side(side) for name, side in sides.items()}

    def _side(self, side: Side) -> EngineSide:
        """Return a frame of the call, a local one as a table; another engine's is rejected."""
        kind, names = side.kind, side.context.names
        if kind.engine is None:
            ids = [names[role] for role in IDS]
            numbers = [names[role] for role in READ_AS_GIVEN]
            rows = kind.take({name: name for name in kind.columns}, ids, numbers)
            return EngineSide(side, self.engine, rows.lazy(), in_memory=not kind.is_lazy)
        if kind.engine.name != self.engine.name:
            msg = (
                f"the lists are a frame of {self.engine.name}, and a side frame of {kind.engine.name}; give both as frames "
                "of one engine"
            )
            raise RecframeError(msg)
        return EngineSide(side, self.engine, None)

    def _routed(self, name: str, schema: pl.Schema) -> Routed:
        """Return a frame that travels, without the rows that no plan reads."""
        side, columns = self.sides[name], schema.names()
        roles = {"users": ("user",), "truth": ("user", "item", "relevance")}
        present = side.present(*roles.get(name, ("user", "item")))
        present = tuple(one for one in present if one in columns and self.method != "audit")
        most = self._deepest({*columns}) if name == LISTS else None
        user = side.column("user")
        return Routed(side.frame, schema, user, present, most, in_memory=side.in_memory)

    def _deepest(self, columns: set[str]) -> tuple[str, float] | None:
        """Return the column of ranks and the largest that is read; None where rows behind it say something.

        NOTE: those tell which users have a list and how long it is, who has a row in a segment of items, what is relevant by
        the list alone, what `by` columns of the lists are, and where ranks come from scores, which rank a row has.
        """
        rank = self.context.names["rank"]
        roles = {self.sides[LISTS].column(role) for role in (*IDS, "rank")}
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
        columns = self.sides["users"].schema.names() if "users" in self.sides else []
        roles = [role_named(one, self.context) for one in self._by if isinstance(one, str)]
        others = [one for one in self._by if not isinstance(one, str) or one not in columns]
        return len(others) == len([role for role in roles if role in {"user", "model"}])

    def tables(self, requested: Iterable[Table]) -> dict[Table, pl.DataFrame]:
        """Return the tables about all users that the dry run requested."""
        return {table: self._table(*table) for table in requested}

    def _table(self, name: str, fold: int | None) -> pl.DataFrame:
        if name in {MODELS, TRAININGS}:
            return self._models()
        if name == FOLDS:
            return self.sides["truth"].folds()
        if name == CATALOGUE:
            judging = [self.sides[name] for name in (LISTS, "truth", "train") if name in self.sides]
            each = [one.of_fold(fold) for one in judging]
            items = [one.values(["item"], one.present("user", "item")) for one in each]
            return pl.concat(items, how="vertical_relaxed").unique()
        counts, n_users = self.sides["train"].of_fold(fold).counted()
        return counts if name == POPULARITY else pl.DataFrame({"value": [float(n_users)]})

    def _models(self) -> pl.DataFrame:
        """Return the models of all lists, or say that a ranked row has none, which a cut-off may keep from the buckets."""
        lists, context = self.sides[LISTS], self.context
        roles = [role for role in ("model", "training") if getattr(context, role) is not None]
        ranked = () if self._is_scored else lists.present(*roles, "rank")
        found = lists.values(roles, lists.present("user", "item"), ranked)
        floats = [name for name, dtype in found.schema.items() if dtype.is_float()]
        found = found.with_columns(pl.col(floats).fill_nan(None))
        if "model" in roles and found["model"].null_count() and self.method != "audit":
            raise DataError(WITHOUT_MODEL.format(lists.column("model")))
        return found

    @property
    def _is_scored(self) -> bool:
        return not self.sides[LISTS].present("rank")
