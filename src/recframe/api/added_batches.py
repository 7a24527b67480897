"""Metrics over batches of users: sums as state, merged across processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe.api import argument_errors
from recframe.api.argument_errors import Asked, By, Cutoffs
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
from recframe.evaluation.plan import WHOLE, Step, Sums
from recframe.frames.hints import FrameOf, Given
from recframe.frames.kinds.engine import NamedRows
from recframe.frames.kinds.kind import Kind, chosen, in_memory, is_frame, kind_for, stream
from recframe.frames.kinds.several_models import held
from recframe.frames.options import DEFAULTS, SIDES, Context, NamedFrame, is_side
from recframe.frames.roles import Side, role_named
from recframe.frames.rows.joins import AS_EVER
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.profiles import under_profile
from recframe.side_info.aggregation_levels import Level

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from recframe.frames.options import Options

OF_BATCH = (LISTS, "truth")
"""Frames of a batch; of the bound ones it reads the rows of its own users."""
ALONG = {Level.ALONG, Level.ALONG_ALL}
"""Levels that compare each list with all others, so that no sums of batches make them."""
FRAMES = {"catalogue": "items", **{name: name for name in SIDES if name != "truth"}}
"""Bound frames that facts need, of which no batch has all rows."""
TEXTS = (pl.Categorical, pl.Enum)
"""Dtypes whose order is not that of their texts."""
SAID = (*DEFAULTS, "profile", "strict", "relevance", "model", "propensity", "weight")
"""Options that make another number of the same batches."""
NOT_BOUND = {
    "truth": "each batch has its own, update(lists, truth)",
    "memory": "a batch is in memory, and no other is kept",
    "training": "trainings are compared user by user; name a column of both, model and training, as model=",
}
"""Options of `rec(...)` that an accumulator does not take, with the alternative."""
LIKE_THE_FIRST = "give each batch the columns of the first, in the same dtypes"


class RowsOfUsers:
    """Rows of a bound frame in the order of users, so that those of some are found without a walk over all."""

    def __init__(self, rows: pl.DataFrame, user: str) -> None:
        ids = _text(rows.get_column(user))
        order = ids.arg_sort(nulls_last=True)
        self.rows, self.ids = rows[order], ids[order].drop_nulls()

    def of(self, users: pl.Series) -> pl.DataFrame:
        """Return the rows of some users, each of whom is named once."""
        wanted = users.cast(self.ids.dtype, strict=False)
        low, high = (self.ids.search_sorted(wanted, side) for side in ("left", "right"))
        there = low < high
        places = pl.select(pl.int_ranges(low.filter(there), high.filter(there)).explode(**AS_EVER))
        return self.rows[places.to_series().drop_nulls()]


class Batches:
    """Plan of batches, made of the columns of the first; later ones are brought into its dtypes."""

    def __init__(self, question: Question, columns: Any = None) -> None:
        try:
            self.plan = question.plan()
        except NeedsAllUsersError as error:
            msg = f"an accumulator sees some users at a time: {error}"
            raise RecframeError(msg) from None
        sides, kind = question.sides, question.sides[LISTS].kind
        self.columns, self.model = columns or _columns_of(question), question.context.model
        self.kind: Kind = type(kind.results or kind)(())
        self.users = {name: sides[name].context.names["user"] for name in self.plan.columns}
        read = question.read_by(self.plan)
        rows = {name: question.rows(name, schema) for name, schema in read.items()}
        self.first = {
            name: NamedFrame(rows.pop(name).clear(), _names_of(question, name))
            for name in OF_BATCH
            if name in rows
        }
        self.plan.fill({name: rows.pop(name) for name in WHOLE & {*rows}})
        self._bound = rows
        once = self._step(lambda one: not one.reads & {*OF_BATCH})
        self.models = self._step(lambda one: one.how.keys == ("model",) and one.are_keys)
        known = {*once.places, *self.models.places}
        self.each = self.plan.step(at for at in range(len(self.plan.sums)) if at not in known)
        if any(one.needs & {*self.each.places} for one in self.plan.sums):
            msg = "one of the metrics looks at lists a second time, after sums over all of them; ask evaluate() of all lists"
            raise RecframeError(msg)
        self.plan.take(once, once.added([self.plan.part(rows, once)]))

    def _step(self, holds: Callable[[Sums], bool]) -> Step:
        return self.plan.step(at for at, one in enumerate(self.plan.sums) if holds(one))

    def rows(self, question: Question) -> dict[str, pl.DataFrame]:
        """Return the columns that are read of a batch, as the first has them."""
        if _columns_of(question) != self.columns:
            msg = f"this batch has other columns than the first; {LIKE_THE_FIRST}"
            raise ColumnError(msg)
        found = {}
        for name, first in self.first.items():
            schema = first.frame.schema
            rows = [_like(one, schema[one.name]) for one in question.rows(name, schema)]
            found[name] = pl.DataFrame(rows)
        return found

    def ids(self, batch: NamedRows) -> pl.Series:
        """Return the distinct users of a batch, categories as text."""
        each = [_text(rows.get_column(self.users[name])) for name, rows in batch.items()]
        frames = [one.alias("user").to_frame() for one in each]
        return pl.concat(frames, how="vertical_relaxed")["user"].unique().drop_nulls()

    @cached_property
    def of_users(self) -> dict[str, RowsOfUsers]:
        """The bound frames of users, such as train."""
        return {name: RowsOfUsers(rows, self.users[name]) for name, rows in self._bound.items()}

    @property
    def schemas(self) -> list[pl.Schema]:
        """The columns of the sums of each batch."""
        return [one.rows.collect_schema() for one in self.each.sums]


class Accumulator:
    """Metrics of batches of users, added up; `rf.accumulator` makes it, and says what it takes."""

    def __init__(
        self,
        metrics: Sequence[Metric[...]],
        by: Any,
        context: Context,
        *,
        check_users: bool,
    ) -> None:
        self.metrics, self._by = [*metrics], argument_errors.names(by)
        self._context, self._checks_users = replace(context, **_in_memory(context)), check_users
        self._lock = RLock()
        self._check()
        self.reset()

    def reset(self) -> None:
        """Forget all batches."""
        with self._lock:
            self._of: Batches | None = None
            self._models: Sequence[pl.DataFrame] = []
            self._sums: Sequence[pl.DataFrame] = []
            self._seen: set[Any] = set()
            self.n_batches = 0

    def update(self, lists: Any, truth: Any = None) -> Accumulator:
        """Add a batch of whole users, and return this accumulator; several threads may do so.

        `lists` and `truth` are frames that `rec()` takes, or one judged frame; arrays and tensors become lists by
        `rf.from_scores` and `rf.from_lists`. All batches have the columns of the first, with values that its dtypes hold. A
        user who comes in two batches counts twice; with check_users=True it raises a DataError.
        """
        if hasattr(lists, "shape") and not is_frame(lists):
            msg = (
                f"a batch is of frames, and the lists are {kind_of(lists)}; make one of scores by rf.from_scores(scores, "
                "users=users), and of ids by rf.from_lists(ids, users=users)"
            )
            raise RecframeError(msg)
        with self._lock:
            question = self._question(lists, truth)
            of = self._of or Batches(question)
            batch = of.rows(question)
            models = self._known(of.plan.part(batch, of.models))
            of.plan.take(of.models, models)
            ids = of.ids(batch)
            seen = {*ids.to_list()} if self._checks_users else set()
            batch |= {name: rows.of(ids) for name, rows in of.of_users.items()}
            self._add(of, models, of.plan.part(batch, of.each), seen, 1)
        return self

    def result(self) -> Any:
        """Return the metrics over all batches, as `evaluate` returns them, in the kind of the first batch's lists."""
        with self._lock:
            of = self._of
            if of is None:
                msg = "no batch was given, so there is no number; first write update(lists, truth)"
                raise RecframeError(msg)
            of.plan.take(of.models, self._models)
            of.plan.take(of.each, self._sums)
            return of.kind.in_kind(chosen(of.plan.finish(), of.plan.shown.columns), {})

    def state(self) -> dict[str, Any]:
        """Return what was added up, to be pickled and merged by other processes."""
        with self._lock:
            of = self._of
            return {
                **self._said,
                "n_batches": self.n_batches,
                "users": {*self._seen},
                "models": self._models,
                "first": None if of is None else (of.first, of.model, of.columns),
                "sums": self._sums,
            }

    def merge(self, other: Accumulator | Mapping[str, Any]) -> Accumulator:
        """Add what another accumulator or its state has added up, and return this one; in any order it is the same.

        Raises a RecframeError that says what differs, for a state of other metrics, cut-offs, segments, policies or models, or
        of an items= or train= of other ids, and a DataError for users of both with check_users=True.
        """
        state = other.state() if isinstance(other, Accumulator) else other
        if other is self or not isinstance(state, Mapping) or "metrics" not in state:
            given = "itself" if other is self else kind_of(other)
            msg = f"merge() takes another accumulator or its state(), and was given {given}"
            raise RecframeError(msg)
        for name, mine in self._said.items():
            if (theirs := state.get(name)) != mine:
                msg = f"the states have different {name}: {mine} and {theirs}; merge those of one call"
                raise RecframeError(msg)
        if state["first"] is None:
            return self
        first, model, columns = state["first"]
        with self._lock:
            question = self._question(first[LISTS], first.get("truth"), model)
            of = self._of or Batches(question, columns)
            if [one.schema for one in state["sums"]] != of.schemas:
                msg = f"the states have sums of different dtypes; {LIKE_THE_FIRST}"
                raise ColumnError(msg)
            models = self._known(state["models"], both=True)
            self._add(of, models, state["sums"], state["users"], state["n_batches"])
        return self

    def __repr__(self) -> str:
        return f"Accumulator({', '.join(map(str, self.metrics))}; {self.n_batches:,} batches)"

    @cached_property
    def _said(self) -> dict[str, Any]:
        """The call in words, which states share that are added up."""
        options = {name: getattr(self._context, name) for name in SAID}
        return {
            "metrics": [one.in_full for one in self.metrics],
            "by": [str(one) for one in self._by],
            "policies": {name: value for name, value in options.items() if value is not None},
            "check_users": self._checks_users,
            "ids of frames": {
                name: _digest(getattr(self._context, name), self._context)
                for name in _bound(self._context, ["items", "train"])
            },
        }

    def _check(self) -> None:
        """Reject what no sums over batches have."""
        context = self._context
        if any(isinstance(one, str) and role_named(one, context) == "user" for one in self._by):
            msg = f"{Given('by', 'user')}: rows of users are no sums; write evaluate(..., by='user') of each batch"
            raise RecframeError(msg)
        if under_profile.own(context).universe == "all" and context.users is not None:
            msg = "universe='all' counts users of users= who may be in no batch; leave users= out, or name another universe"
            raise RecframeError(msg)
        for one in under_profile.asked(context, self.metrics):
            needs, metric = one.needs, one.metric
            if needs.levels & ALONG:
                msg = f"{metric} compares each list with all others, which no batch has; ask evaluate() of all lists"
                raise RecframeError(msg)
            wanted = {need for fact in needs.facts for need in fact.builder.needs}
            for need, name in FRAMES.items():
                if need in wanted and getattr(context, name) is None:
                    msg = f"{metric} needs the {need} of all batches: bind it, rf.accumulator(..., {name}={name})"
                    raise ColumnError(msg)

    def _question(self, lists: Any, truth: Any, model: str | None = None) -> Question:
        """Return the call on a batch."""
        context = self._context
        if isinstance(lists, NamedFrame):
            lists, context = lists.frame, context.bind(lists.names)
        lists, bound = held(in_memory(lists), {"model": model or context.model})
        kind = kind_for(lists, str(FrameOf(LISTS)))
        if kind.engine is not None:
            msg = f"a batch is in memory, and {kind.engine.name} adds up its own; write rf.rec(frame, truth).evaluate(...)"
            raise RecframeError(msg)
        context = replace(context, **bound, truth=in_memory(truth))
        rec = Rec(lists)._with(context)  # noqa: SLF001  a call's own
        return Question(rec, "evaluate", tuple(self.metrics), {"by": self._by or None})

    def _known(
        self, models: Sequence[pl.DataFrame], *, both: bool = False
    ) -> Sequence[pl.DataFrame]:
        """Return the models of the first batch, or say which it did not have, whose users then count without a list."""
        known = self._models or models
        for one, first in zip(models, known, strict=True):
            new = one.join(first, on="model", how="anti", nulls_equal=True)
            if len(new) or (both and len(one) < len(first)):
                names = ", ".join(map(shown, first["model"]))
                msg = f"the first batch has lists of all models, and others are found than {names}; give it a list of each"
                raise DataError(msg)
        return known

    def _add(
        self,
        of: Batches,
        models: Sequence[pl.DataFrame],
        sums: Sequence[pl.DataFrame],
        users: set[Any],
        n_batches: int,
    ) -> None:
        """Add the sums of batches to those of all."""
        if twice := users & self._seen:
            msg = f"the user {shown(min(twice, key=repr))} is in two batches, and would count twice; give all rows in one"
            raise DataError(msg)
        self._of, self._models = of, models
        self._sums = of.each.added([self._sums, sums]) if self._sums else sums
        self._seen |= users
        self.n_batches += n_batches


def _bound(context: Context, names: Sequence[str]) -> list[str]:
    """Return the names of the frames that are bound."""
    return [name for name in names if is_side(getattr(context, name))]


def _in_memory(context: Context) -> dict[str, Any]:
    """Return the bound frames as frames of Polars in memory, with the names of their columns."""
    sides = [
        Side(str(FrameOf(one)), getattr(context, one), context, one)
        for one in _bound(context, SIDES)
    ]
    return {side.option: NamedFrame(stream(as_plan(side)), side.names) for side in sides}


def _columns_of(question: Question) -> dict[str, Any]:
    """Return the columns of the frames of a batch, and which of them are those of roles."""
    sides = question.sides
    return {
        name: ({*sides[name].columns}, [*sides[name].context.names.values()])
        for name in OF_BATCH
        if name in sides
    }


def _names_of(question: Question, name: str) -> dict[str, Any]:
    """Return the names of columns by their roles that a frame of a batch has."""
    if name != LISTS:
        return {**question.sides[name].names}
    named = question.context.names.items()
    return {role: own for role, own in named if role not in {own, "model", "weight"}}


def _like(column: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Return a column in the dtype that the first batch has, or say that this does not hold its values."""
    if column.dtype == dtype:
        return column
    values = column.fill_nan(None) if column.dtype.is_float() else column
    found = values.cast(dtype, strict=False)
    if not found.cast(values.dtype, strict=False).eq_missing(values).all():
        msg = (
            f"column {column.name!r} of this batch is {column.dtype}, with values that {dtype}, its dtype in the first batch, "
            f"does not hold; {LIKE_THE_FIRST}"
        )
        raise ColumnError(msg)
    return found


def _text(ids: pl.Series) -> pl.Series:
    """Return ids, of which categories are text."""
    return ids.cast(pl.String) if ids.dtype in TEXTS else ids


def _digest(side: NamedFrame, context: Context) -> str:
    """Return what tells the ids of a bound frame from others, whatever the order of its rows."""
    names = {**context.names, **side.names}
    ids = side.frame.select(
        side.frame.get_column(names[role]).cast(pl.String)
        for role in ("user", "item")
        if names[role] in side.frame.columns
    )
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
            msg = f"rf.accumulator() takes no {name}=: {instead}"
            raise RecframeError(msg)
    argument_errors.check_options(options)
    given = {name: value for name, value in options.items() if value is not None}
    context, asked = under_profile.bind(Context(), given), registry.asked(metrics, k)
    return Accumulator(asked, by, context, check_users=check_users)
