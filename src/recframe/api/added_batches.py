"""Metrics over batches of users: sums as state, merged across processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from recframe.api import argument_errors
from recframe.api.argument_errors import Asked, By, Cutoffs, names
from recframe.api.divided_calls import LISTS, Question, as_plan
from recframe.api.rec_class import Rec
from recframe.errors import (
    ColumnError,
    DataError,
    NeedsAllUsersError,
    RecframeError,
    kind_of,
    shown,
)
from recframe.evaluation.plan import WHOLE
from recframe.frames.hints import ROLES, FrameOf, Given
from recframe.frames.kinds.kind import Kind, chosen, in_memory, kind_for, stream
from recframe.frames.kinds.several_models import held
from recframe.frames.options import DEFAULTS, SIDES, Context, NamedFrame, is_side
from recframe.frames.roles import Side, role_named
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metrics
from recframe.profiles import under_profile
from recframe.side_info.aggregation_levels import Level

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from recframe.frames.options import Options

OF_BATCH = {LISTS, "truth"}
"""Frames of a batch; of the bound ones it reads the rows of its own users."""
ALONG = {Level.ALONG, Level.ALONG_ALL}
"""Levels that compare each list with all others, so that no sums of batches make them."""
FRAMES = {"catalogue": "items", **{name: name for name in SIDES if name != "truth"}}
"""Bound frames that facts need, of which no batch has all rows."""
SAID = (*DEFAULTS, "profile", "strict", "relevance", "model", "propensity", "weight")
"""Options that make another number of the same batches."""
NOT_BOUND = {
    "truth": "each batch has its own, update(lists, truth)",
    "memory": "a batch is in memory, and no other is kept",
    "training": "trainings are compared user by user; name a column of both, model and training, as model=",
}
"""Options of `rec(...)` that an accumulator does not take, with the alternative."""
A_SECOND_TIME = "one of the metrics looks at lists a second time, after sums over all of them; ask evaluate() of all lists"
Rows = Sequence[pl.DataFrame]
LIKE_THE_FIRST = "give each batch the columns of the first, in the same dtypes"


class Batches:
    """Plan of batches, made of the columns of the first; later ones are brought into its dtypes."""

    def __init__(self, question: Question) -> None:
        try:
            self.plan = question.plan()
        except NeedsAllUsersError as error:
            raise RecframeError(f"an accumulator sees some users at a time: {error}") from None
        kind, read = question.sides[LISTS].kind, self.plan.schemas
        self.kind: Kind = type(kind.results or kind)(())
        self.first = {name: _form(question, name) for name in OF_BATCH if name in read}
        self.columns = _columns_of(question)
        self.users = {name: side.context.names["user"] for name, side in question.sides.items()}
        bound = {name: question.rows(name, read[name]) for name in read.keys() - OF_BATCH}
        self.plan.fill({name: bound.pop(name) for name in WHOLE & bound.keys()})
        of_bound, of_models, each = list[int](), list[int](), list[int]()
        for place, one in enumerate(self.plan.sums):
            are_models = one.how.keys == ("model",) and one.are_keys
            is_known = of_models if are_models else each
            (is_known if one.reads & OF_BATCH else of_bound).append(place)
            if one.needs & {*each}:
                raise RecframeError(A_SECOND_TIME)
        once, self.models, self.each = map(self.plan.step, (of_bound, of_models, each))
        self.plan.take(once, once.added([self.plan.part(bound, once)]))
        self.bound = {name: bound[name] for name in bound.keys() & self.each.reads}

    def rows(self, question: Question) -> tuple[dict[str, pl.DataFrame], pl.Series]:
        """Return what is read of a batch, as the first has it, the rows of its users in bound frames, and these users."""
        if _columns_of(question) != self.columns:
            raise ColumnError(f"this batch has other columns than the first; {LIKE_THE_FIRST}")
        schemas = self.plan.schemas
        found = {name: question.rows(name, schemas[name], _like) for name in self.first}
        ids = [_text(rows[self.users[name]]).alias("user") for name, rows in found.items()]
        each = pl.concat(map(pl.Series.to_frame, ids), how="vertical_relaxed")
        users = each["user"].unique().drop_nulls()
        for name, rows in self.bound.items():
            own = _text(rows[self.users[name]])
            found[name] = rows.filter(own.is_in(users.cast(own.dtype, strict=False)))
        return found, users


class Totals(NamedTuple):
    """Counts and sums of some batches."""

    users: set[Any]
    """Users of all batches, where these are checked."""
    n_batches: int = 0
    models: Rows = ()
    """Models of the first batch."""
    sums: Rows = ()


class Accumulator:
    """Metrics of batches of users, added up; `rf.accumulator` makes it, and says what it takes."""

    def __init__(self, metrics: Metrics, by: Any, context: Context, *, check_users: bool) -> None:
        self.metrics, self._by, self._checks_users = [*metrics], names(by), check_users
        frames = dict[str, Any]()
        for name in _bound(context, SIDES):
            side = Side(str(FrameOf(name)), getattr(context, name), context, name)
            frames[name] = NamedFrame(stream(as_plan(side)), side.names)
        self._context, self._lock = replace(context, **frames), RLock()
        self._check()
        self.reset()

    def reset(self) -> None:
        """Forget all batches."""
        with self._lock:
            self._of: Batches | None = None
            self._totals = Totals(set())

    @property
    def n_batches(self) -> int:
        """The number of batches that were added up."""
        return self._totals.n_batches

    def update(self, lists: Any, truth: Any = None) -> Accumulator:
        """Add a batch of whole users, and return this accumulator; several threads may do so.

        `lists` and `truth` are frames that `rec()` takes, or one judged frame; arrays and tensors become lists by
        `rf.from_scores` and `rf.from_lists`. All batches have the columns of the first, with values that its dtypes hold. A
        user who comes in two batches counts twice; with check_users=True it raises a DataError.
        """
        with self._lock:
            question = self._question(lists, truth)
            of = self._of or Batches(question)
            batch, ids = of.rows(question)
            models = self._known(of.plan.part(batch, of.models))
            of.plan.take(of.models, models)
            self._add(
                of,
                Totals(
                    {*ids} if self._checks_users else set(), 1, models, of.plan.part(batch, of.each)
                ),
            )
        return self

    def result(self) -> Any:
        """Return the metrics over all batches, as `evaluate` returns them, in the kind of the first batch's lists."""
        with self._lock:
            of, totals = self._of, self._totals
            if of is None:
                raise RecframeError(
                    "no batch was given, so there is no number; first write update(lists, truth)"
                )
            of.plan.take(of.models, totals.models)
            of.plan.take(of.each, totals.sums)
            return of.kind.in_kind(chosen(of.plan.finish(), of.plan.shown.columns), {})

    def state(self) -> dict[str, Any]:
        """Return what was added up, to be pickled and merged by other processes."""
        with self._lock:
            totals = self._totals._replace(users={*self._totals.users})
            first = None if self._of is None else self._of.first
            return {**self._said, **totals._asdict(), "first": first}

    def merge(self, other: Accumulator | Mapping[str, Any]) -> Accumulator:
        """Add what another accumulator or its state has added up, and return this one; in any order it is the same.

        Raises a RecframeError that says what differs, for a state of other metrics, cut-offs, segments, policies or models, or
        of an items= or train= of other ids, and a DataError for users of both with check_users=True.
        """
        state = other.state() if isinstance(other, Accumulator) else other
        if other is self or not isinstance(state, Mapping) or "metrics" not in state:
            given = "itself" if other is self else kind_of(other)
            raise RecframeError(
                f"merge() takes another accumulator or its state(), and was given {given}"
            )
        for name, mine in self._said.items():
            if (theirs := state.get(name)) != mine:
                raise RecframeError(
                    f"the states have different {name}: {mine} and {theirs}; merge those of one call"
                )
        if state["first"] is None:
            return self
        more = Totals(*(state[name] for name in Totals._fields))
        with self._lock:
            empty = {
                name: NamedFrame(pl.DataFrame(schema=schema), own)
                for name, (schema, own) in state["first"].items()
            }
            of = self._of or Batches(self._question(**empty))
            schemas = [one.rows.collect_schema() for one in of.each.sums]
            if [one.schema for one in more.sums] != schemas:
                raise ColumnError(f"the states have sums of different dtypes; {LIKE_THE_FIRST}")
            self._add(of, more._replace(models=self._known(more.models, both=True)))
        return self

    def __repr__(self) -> str:
        return f"Accumulator({', '.join(map(str, self.metrics))}; {self.n_batches:,} batches)"

    @cached_property
    def _said(self) -> dict[str, Any]:
        """The call in words, which states share that are added up."""
        context = self._context
        options = {name: getattr(context, name) for name in SAID}
        of_ids = _bound(context, ["items", "train"])
        return {
            "metrics": [one.in_full for one in self.metrics],
            "by": [*map(str, self._by)],
            "policies": {name: value for name, value in options.items() if value is not None},
            "check_users": self._checks_users,
            "ids of frames": {name: _digest(getattr(context, name), context) for name in of_ids},
        }

    def _check(self) -> None:
        """Reject what no sums over batches have."""
        context = self._context
        if any(isinstance(one, str) and role_named(one, context) == "user" for one in self._by):
            raise RecframeError(
                f"{Given('by', 'user')}: rows of users are no sums; write evaluate(..., by='user') of each batch"
            )
        if under_profile.own(context).universe == "all" and context.users is not None:
            raise RecframeError(
                "universe='all' counts users of users= who may be in no batch; leave users= out, or name another universe"
            )
        for one in under_profile.asked(context, self.metrics):
            if one.needs.levels & ALONG:
                raise RecframeError(
                    f"{one.metric} compares each list with all others, which no batch has; ask evaluate() of all lists"
                )
            for need, name in FRAMES.items():
                if need in one.needs.sources and getattr(context, name) is None:
                    raise ColumnError(
                        f"{one.metric} needs the {need} of all batches: bind it, rf.accumulator(..., {name}={name})"
                    )

    def _question(self, recommendations: Any, truth: Any = None) -> Question:
        """Return the call on a batch."""
        lists, context = recommendations, self._context
        if isinstance(lists, NamedFrame):
            lists, context = lists.frame, context.bind(lists.names)
        lists, bound = held(in_memory(lists), {"model": context.model})
        kind = kind_for(lists, str(FrameOf(LISTS)))
        if kind.engine is not None:
            raise RecframeError(
                f"a batch is in memory, and {kind.engine.name} adds up its own; write rf.rec(frame, truth).evaluate(...)"
            )
        rec = Rec(lists)._with(replace(context, **bound, truth=in_memory(truth)))  # noqa: SLF001  a call's own
        return Question(rec, "evaluate", tuple(self.metrics), {"by": self._by})

    def _known(self, models: Rows, *, both: bool = False) -> Rows:
        """Return the models of the first batch, or say which it did not have, whose users then count without a list."""
        known = self._totals.models or models
        for one, first in zip(models, known, strict=True):
            new = one.join(first, on="model", how="anti", nulls_equal=True)
            if len(new) or (both and len(one) < len(first)):
                there = ", ".join(map(shown, first["model"]))
                raise DataError(
                    f"the first batch has lists of all models, and others are found than {there}; give it a list of each"
                )
        return known

    def _add(self, of: Batches, more: Totals) -> None:
        """Add the sums of batches to those of all."""
        mine = self._totals
        if twice := more.users & mine.users:
            raise DataError(
                f"the user {shown(min(twice, key=repr))} is in two batches, and would count twice; give all rows in one"
            )
        sums = of.each.added([mine.sums, more.sums]) if mine.n_batches else more.sums
        mine.users.update(more.users)
        n_batches = mine.n_batches + more.n_batches
        self._of, self._totals = of, Totals(mine.users, n_batches, more.models, sums)


def _bound(context: Context, options: Sequence[str]) -> list[str]:
    """Return the names of the frames that are bound."""
    return [name for name in options if is_side(getattr(context, name))]


def _columns_of(question: Question) -> dict[str, Any]:
    """Return the columns of the frames of a batch, and which of them are those of roles."""
    return {
        side.title: ({*side.columns}, side.context.names, side.context.relevance is False)
        for name, side in question.sides.items()
        if name in OF_BATCH
    }


def _form(question: Question, name: str) -> tuple[pl.Schema, dict[str, Any]]:
    """Return the columns of a frame of a batch with their dtypes, and their names by role."""
    schema, context = question.schemas[name], question.sides[name].context
    named = {role: getattr(context, role) for role in ROLES}
    return schema, {role: own for role, own in named.items() if own is False or own in schema}


def _like(column: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Return a column in the dtype that the first batch has, or say that this does not hold its values."""
    if column.dtype == dtype:
        return column
    values = column.fill_nan(None) if column.dtype.is_float() else column
    found = values.cast(dtype, strict=False)
    if not found.cast(values.dtype, strict=False).eq_missing(values).all():
        raise ColumnError(
            f"column {column.name!r} of this batch is {column.dtype}, with values that {dtype}, its dtype in the first batch, "
            f"does not hold; {LIKE_THE_FIRST}"
        )
    return found


def _text(ids: pl.Series) -> pl.Series:
    """Return ids, of which categories are text."""
    return ids.cast(pl.String) if isinstance(ids.dtype, pl.Categorical | pl.Enum) else ids


def _digest(side: NamedFrame, context: Context) -> str:
    """Return what tells the ids of a bound frame from others, whatever the order of its rows."""
    rows, names = side.frame, {**context.names, **side.names}
    columns = [names[role] for role in ("user", "item") if names[role] in rows.columns]
    ids = pl.DataFrame([rows[name].cast(pl.String) for name in columns])
    # of 128 bits, so that the sum is exact
    return f"{len(ids)} {ids.hash_rows(seed=1).cast(pl.Int128).sum():x}"


def accumulator(
    *metrics: Asked,
    k: Cutoffs = None,
    by: By = None,
    check_users: bool = False,
    **options: Unpack[Options],
) -> Accumulator:
    """Return an accumulator: metrics of batches of users, such as those of a training loop, added up exactly.

    `update(lists, truth)` adds a batch of whole users, as frames; `result()` is what `evaluate` returns for
    all batches in one call, to the last bit and in any order of them. `state()` and `merge(other)` add up what several
    processes have, `reset()` begins anew. No batch is kept: the state is counts and sums, and of set metrics counts of items.

        metrics, k, by: as in `evaluate`. A metric that compares each list with all others (personalization) has no such sums
            and is refused here, and so is by="user".
        check_users: True makes a user who comes in two batches an error. The state then has all ids, and grows with them;
            without it, such a user counts twice.
        options: those of `rec(...)`, bound once, but truth=, training= and memory=. Of users=, train= and reference= a batch
            reads the rows of its own users. Metrics of the catalogue, such as coverage, need items=.

    Each batch has lists of all models, where these are bound. Raises a RecframeError for what is refused.

    >>> import polars as pl, recframe as rf
    >>> seen = rf.accumulator("recall@2", "mrr@2")
    >>> for users in ([1, 2], [3]):
    ...     lists = pl.DataFrame({"user": users, "item": [10, 11][: len(users)], "rank": 1})
    ...     _ = seen.update(lists, pl.DataFrame({"user": users, "item": 10}))
    >>> seen.result()
    shape: (1, 3)
    ┌─────────┬──────────┬──────────┐
    │ n_users ┆ recall@2 ┆ mrr@2    │
    │ ---     ┆ ---      ┆ ---      │
    │ i64     ┆ f64      ┆ f64      │
    ╞═════════╪══════════╪══════════╡
    │ 3       ┆ 0.666667 ┆ 0.666667 │
    └─────────┴──────────┴──────────┘
    """
    for name, instead in NOT_BOUND.items():
        if name in options:
            raise RecframeError(f"rf.accumulator() takes no {name}=: {instead}")
    argument_errors.check_options(options)
    given = {name: value for name, value in options.items() if value is not None}
    context, asked = under_profile.bind(Context(), given), registry.asked(metrics, k)
    return Accumulator(asked, by, context, check_users=check_users)
