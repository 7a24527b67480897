"""Lazy plan of a call, cut where sums of users add up.

It is made of the schemas of its frames, whose rows are filled in when it runs. It is what is kept for small repeated calls,
what an engine runs over each bucket of users, what an accumulator adds batches to, and what a bound on memory runs over each
scan:

    plan.run(lambda step: step.added([plan.part(rows_of_some_users, step) for ...]))
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import polars as pl

from recframe.errors import NeedsAllUsersError
from recframe.evaluation.required_columns import LISTED, Conventions
from recframe.frames.hints import WORDS, in_python
from recframe.frames.inputs import Frames
from recframe.frames.kinds.engine import Added, Adds, NamedRows
from recframe.frames.kinds.kind import (
    Ask,
    Kind,
    LazyPolars,
    Named,
    Names,
    Seen,
    Sources,
    Taken,
    chosen,
    run_all_by_size,
    run_as_it_is,
    run_by_size,
)
from recframe.frames.rows.joins import aggregate
from recframe.frames.segments import Place
from recframe.ranking.known import models_of

WHOLE = {"items"}
"""Frames that every part of the users has in full."""
_MARK = "recframe {}."
"""The column by which a placeholder shows in the text of a plan."""
_MARKED = re.compile(r"recframe ([a-z0-9 ]+)\.")


@dataclass(frozen=True)
class Run:
    """Execution of a plan: over all users, or over some of them."""

    ask: Ask | None = None
    """Function that collects precomputed plans of a large eager frame; results do not change."""
    adds: Adds | None = None
    """Function that adds up sums over some users to those of all."""

    @classmethod
    def of(cls, kind: Kind) -> Run:
        """Return the execution of a frame's plans."""
        adds = None if kind.all_users is None else kind.all_users.adds
        return cls(kind.asks, adds)

    @property
    def is_divided(self) -> bool:
        """Whether a plan has some of the users alone."""
        return self.adds is not None

    def models(self, inputs: Frames) -> pl.LazyFrame | None:
        """Return the models, if they are known; None leaves it to the plan to look for them."""
        if self.ask is not None and inputs.model and inputs.all_users is None:
            return models_of(inputs).lazy()
        return None

    def added(
        self, sums: Sequence[pl.LazyFrame], keys: Sequence[str], same: Sequence[str] = ()
    ) -> pl.LazyFrame:
        """Return the sums of all folds and of all users, added up by the keys; columns in `same` are the same in each."""
        found = sums[0]
        if len(sums) > 1:
            rows = pl.concat(sums)
            values = [name for name in rows.collect_schema().names() if name not in keys]
            columns = [
                pl.col(name).first() if name in same else pl.col(name).sum() for name in values
            ]
            found = aggregate(rows, keys, columns)
        return found if self.adds is None else self.adds(found, keys, same)


@dataclass(frozen=True)
class Sums:
    """Sums over some users, and the way in which they add up."""

    rows: pl.LazyFrame
    how: Added
    reads: frozenset[str]
    """Names of the frames that they are made of."""
    needs: frozenset[int] = frozenset()
    """Places of the sums of all users that they are made of."""
    round: int = 0
    """Number of rounds before this one, whose sums these sums are made of."""

    @property
    def are_keys(self) -> bool:
        """Whether they are distinct keys alone, to which rows add up that are not of whole users."""
        return not self.has_users and {*self.rows.collect_schema()} == {*self.how.keys}

    @property
    def has_users(self) -> bool:
        """Whether they are rows of users."""
        return "user" in self.how.keys


@dataclass(frozen=True)
class Step:
    """Sums of one round over all users; each step reads the sums of those before."""

    places: tuple[int, ...]
    sums: tuple[Sums, ...]

    @property
    def are_keys(self) -> bool:
        """Whether rows of users may be parted in any way."""
        return all(one.are_keys for one in self.sums)

    @property
    def reads(self) -> frozenset[str]:
        """Names of the frames that are read."""
        return frozenset().union(*(one.reads for one in self.sums))

    def added(self, parts: Iterable[Sequence[pl.DataFrame]]) -> list[pl.DataFrame]:
        """Return the sums of several parts of all users."""
        each = zip(*parts, strict=True)
        return [one.how.up(some) for one, some in zip(self.sums, each, strict=True)]


class Plan:
    """Lazy plan of a call over frames to come, or over those of all users."""

    result: pl.LazyFrame
    """The plan of the result, made of the frames; it leaves sums of users to `adds` and `of_all`."""
    shown: Shown
    """What the call says on how its result is shown."""

    def __init__(
        self,
        schemas: Mapping[str, Mapping[str, pl.DataType]],
        *,
        whole: Mapping[str, pl.LazyFrame] | None = None,
        keeps_users: bool = False,
    ) -> None:
        self.schemas, self.sums = schemas, list[Sums]()
        self.columns: dict[str, tuple[str, ...]] = dict.fromkeys(schemas, ())
        """The columns that the call takes of each frame, some of them several times."""
        self.keeps_users = keeps_users
        """Whether the result has rows of users, of whom each part gives its own."""
        self.filled: dict[str, pl.DataFrame] = {}
        """The rows that are filled in."""
        self._of_all: dict[Hashable, pl.LazyFrame] = {}
        self._has_all_users = whole is not None
        self.frames = dict(whole or {})
        """Placeholders of the frames, or `whole`, plans of the rows of all users."""
        if whole is None:
            for name, schema in schemas.items():
                self.frames[name] = self._hole(name, schema)

    @property
    def read(self) -> dict[str, pl.Schema]:
        """The schemas of the frames, of the columns that the call takes."""
        found = {}
        for name, columns in self.columns.items():
            schema = self.schemas[name]
            found[name] = pl.Schema({one: schema[one] for one in columns})
        return found

    def _hole(self, name: str, schema: Mapping[str, pl.DataType]) -> pl.LazyFrame:
        """Return a placeholder, whose rows are those that are filled in when it runs.

        NOTE: cached for the run, since each call of a function in a plan waits for Python. Its column of nothing shows in the
        text of a plan which placeholders this reads.
        """
        whole = dict.fromkeys(
            ("predicate_pushdown", "projection_pushdown", "slice_pushdown"), False
        )
        given = partial(_filled, self.filled, name)
        nothing = pl.LazyFrame(schema={_MARK.format(name): pl.Null})
        return nothing.map_batches(given, **whole, schema=pl.Schema(schema)).cache()

    def adds(
        self, rows: pl.LazyFrame, keys: Sequence[str], same: Collection[str] = ()
    ) -> pl.LazyFrame:
        """Return the sums of all users, of sums over some by the keys; columns in `same` are the same in each."""
        if self.keeps_users and "user" in keys:
            return rows
        names, schema, n_sums = _marked(rows), rows.collect_schema(), len(self.sums)
        needs = frozenset(at for at in range(n_sums) if sums_at(at) in names)
        now = max((1 + self.sums[at].round for at in needs), default=0)
        how = Added(tuple(keys), tuple(name for name in same if name in schema))
        self.sums.append(Sums(rows, how, names.intersection(self.columns), needs, now))
        if self._has_all_users:
            return rows
        return self._hole(sums_at(n_sums), schema)

    def of_all(
        self, name: Hashable, rows: Callable[[], pl.LazyFrame], keys: Sequence[str]
    ) -> pl.LazyFrame:
        """Return sums of all users that several parts of the plan read under one name."""
        if name not in self._of_all:
            self._of_all[name] = self.adds(rows(), keys)
        return self._of_all[name]

    @cached_property
    def steps(self) -> list[Step]:
        """The steps of the plan over all users."""
        found = []
        for now in range(1 + max((one.round for one in self.sums), default=-1)):
            for are_keys in (True, False):
                step = self.step(
                    place
                    for place, one in enumerate(self.sums)
                    if one.round == now and one.are_keys is are_keys
                )
                found += [step] * bool(step.places)
        if self.keeps_users:
            rows = chosen(self.result, self.shown.columns)
            reads = _marked(rows).intersection(self.columns)
            found.append(Step((), (Sums(rows, Added(("user",), ()), reads),)))
        return found

    def step(self, places: Iterable[int]) -> Step:
        """Return a step of some of the sums."""
        found = tuple(places)
        return Step(found, tuple(self.sums[place] for place in found))

    def check(self) -> None:
        """Reject a result that is made of rows of users after their sums."""
        of_users = {*self.columns} - WHOLE
        if not self.keeps_users and of_users & _marked(self.result, optimized=True):
            raise NeedsAllUsersError(
                "this call reads rows of all users at once, but buckets hold only some users"
            )

    def fill(self, frames: NamedRows) -> None:
        """Fill in rows, which stay until they are cleared."""
        self.filled.update(frames)

    def part(self, frames: NamedRows, step: Step) -> list[pl.DataFrame]:
        """Return the sums of a step over the users of some frames."""
        self.fill(frames)
        try:
            size = sum(map(len, frames.values()))
            return run_all_by_size([one.rows for one in step.sums], size)
        finally:
            for name in frames:
                del self.filled[name]

    def take(self, step: Step, sums: Sequence[pl.DataFrame]) -> None:
        """Fill in the sums of a step over all users."""
        self.fill({sums_at(place): one for place, one in zip(step.places, sums, strict=True)})

    def run(self, sums: Callable[[Step], Sequence[Any]]) -> Any:
        """Return the result, of the sums of each step over all users, or of rows of users as the last step has them."""
        for step in self.steps:
            found = sums(step)
            if not step.places:
                return found[0]
            self.take(step, found)
        return self.finish()

    def finish(self) -> pl.DataFrame:
        """Return the result, of what is filled in."""
        return run_by_size(self.result, max(map(len, self.filled.values()), default=0))


class Shown(NamedTuple):
    """The form of a call's result in the caller's kind of frame."""

    sources: Sources
    seen: Seen | None
    columns: Sequence[str] | None


@dataclass(frozen=True)
class Part:
    """Frame of a plan, under its name there."""

    KIND: ClassVar[type[Kind]]
    rows: pl.LazyFrame
    name: str
    plan: Plan
    like: Kind | None = None
    """Kind of the frame that it has rows of, where that is of this process."""


class RowsOfSomeUsers(LazyPolars):
    """A frame of a plan."""

    def __init__(self, frame: Part) -> None:
        super().__init__(frame.rows)
        self.part, self.all_users = frame, frame.plan
        self.index_names = () if frame.like is None else frame.like.index_names

    def labels(self) -> list[str]:
        """Return no names: what columns may tell systems apart is looked for over all users."""
        return []

    def take(self, named: Named, ids: Names = (), numbers: Names = ()) -> pl.LazyFrame:
        """Return some columns, which the plan then knows to be read."""
        self.part.plan.columns[self.part.name] += (*named.values(),)
        return super().take(named, ids, numbers)

    def source(self, name: str) -> Any:
        """Return what a result's column is made like."""
        return None if self.part.like is None else self.part.like.source(name)

    def give(
        self,
        plan: Taken,
        sources: Sources,
        seen: Seen | None = None,
        columns: Sequence[str] | None = None,
    ) -> pl.LazyFrame:
        """Return a call's plan with all of its columns, and leave to the plan how its result is shown."""
        self.part.plan.shown = Shown(sources, seen, columns)
        return plan.lazy()


Part.KIND = RowsOfSomeUsers


def sums_at(place: int) -> str:
    """Return the name by which the sums of a place are filled in."""
    return f"sums {place}"


def _marked(rows: pl.LazyFrame, *, optimized: bool = False) -> frozenset[str]:
    """Return the names of the placeholders that rows are made of."""
    return frozenset(_MARKED.findall(rows.explain(optimized=optimized)))


def _filled(frames: NamedRows, name: str, _nothing: pl.DataFrame) -> pl.DataFrame:
    return frames[name]


# Kept plans

MOST_METRICS = 1_000
"""Metrics of all kept plans: 32 MB, twice as much for summaries and comparisons."""
OF_A_PLAN = 5
"""Memory of a plan, in metrics."""
MIDDLING = 500_000
"""Rows up to which a kept plan is used without precomputation; half with several lists per user."""
CUTTING: tuple[Place, ...] = ("rows", "lists", "truth", "items")
"""Places of segments that cut a user's lists into several."""
FEW = 100
"""Most categories of an Enum in the key of a kept plan, since all of them are compared."""
_kept: dict[Hashable, tuple[Plan, int]] = {}
"""Plans with their numbers of metrics, those that ran last at the end."""
Made = Callable[[Frames, Run], pl.LazyFrame]
"""Type of functions that build a plan of frames."""


def planned(
    inputs: Frames,
    conventions: Conventions,
    run: Run,
    made: Made,
    *what: Hashable,
    middling: int | None = None,
) -> Taken:
    """Return a plan of some metrics, or its result where one is kept; `what` tells it from others of the same metrics.

    To make the plan of an eager frame of a few thousand rows takes longer than to run it. `middling` is up to how many rows a
    plan is kept, where that is not `MIDDLING`: each call of more rows has a plan with precomputed lists.

    NOTE: a plan that runs is no longer among those kept, so that no other thread gives it frames meanwhile.
    """
    if not _is_of_columns(inputs, conventions):
        return made(inputs, run)
    if run.ask is not None and _is_middling(inputs, conventions, middling or MIDDLING):
        run = replace(run, ask=None)
    if run.ask is not None or run.is_divided:
        return made(inputs, run)
    key = _key(inputs, conventions, what)
    kept = _kept.pop(key, None)
    is_new = kept is None
    if kept is None:
        plan = Plan({name: frame.schema for name, frame in inputs.given.items()})
        plan.result = made(inputs.standing_in(plan.frames), run)
        # NOTE: Polars then has the plan in the form that it runs in, which is half of what a kept plan saves
        plan.result.collect_schema()
        kept = plan, len(conventions)
    plan, _ = kept
    plan.fill(inputs.given)
    try:
        return run_as_it_is(plan.result)
    finally:
        plan.filled.clear()
        _kept[key] = kept
        if is_new:
            _let_go()


def _let_go() -> None:
    """Keep the plans that ran last; other threads may do the same meanwhile."""
    room = MOST_METRICS
    for key, (_, n_metrics) in reversed(_kept.copy().items()):
        room -= OF_A_PLAN + n_metrics
        if room < 0:
            _kept.pop(key, None)


def _is_of_columns(inputs: Frames, conventions: Conventions) -> bool:
    """Return whether a plan depends on nothing but the columns' dtypes, the options and the metrics.

    Facts of side frames look at data, and so do the checks of strict=True; a command's messages name its files; what a metric
    of the user's own depends on nobody knows.
    """
    is_eager = inputs.given.keys() == inputs.sides.keys() and inputs.all_users is None
    if not is_eager or inputs.context.strict or WORDS.get() is not in_python:
        return False
    for convention in conventions:
        if not convention.metric.definition.builtin or convention.needs.facts:
            return False
    for frame in inputs.given.values():
        for dtype in frame.dtypes:
            if isinstance(dtype, pl.Enum) and len(dtype.categories) > FEW:
                return False
    return True


def _is_middling(inputs: Frames, conventions: Conventions, most: int) -> bool:
    """Return whether all frames are too small for precomputed lists to pay off, and no metric reads whole lists."""
    has_more_lists = inputs.model or inputs.inside(*CUTTING)
    most = most // 2 if has_more_lists else most
    few = all(len(frame) <= most for frame in inputs.given.values())
    needs = [convention.needs for convention in conventions]
    return few and not any(need.columns & LISTED or need.levels for need in needs)


def _key(inputs: Frames, conventions: Conventions, what: Hashable) -> Hashable:
    """Return what tells a plan from others: columns, options, and metrics, whose names distinguish 1 from 1.0."""
    parts: list[Hashable] = [inputs.context.without_frames, what]
    parts += [inputs.segments, inputs.known, inputs.units]
    for name, frame in inputs.given.items():
        parts += [name, *frame.columns, *frame.dtypes]
    for side in inputs.sides.values():
        parts.append(tuple(side.names.items()))
    for convention in conventions:
        metric = convention.metric
        parts += [metric.text, metric.name, metric.settings, metric.k]
        parts.append(convention.context.policies)
    return tuple(parts)
