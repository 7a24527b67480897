"""Metrics over batches of users: sums as state, merged across processes."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe.api import argument_errors
from recframe.api.argument_errors import Asked, By, Cutoffs
from recframe.api.divided_calls import LISTS, Question
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
from recframe.evaluation.required_columns import is_of_segment
from recframe.frames.collecting import run_by_size, stream
from recframe.frames.hints import FrameOf, Given
from recframe.frames.kinds.engine import columns_of
from recframe.frames.kinds.kind import chosen, in_memory, is_frame, kind_for
from recframe.frames.kinds.several_models import held
from recframe.frames.options import DEFAULTS, SIDES, Context, NamedFrame, is_side
from recframe.frames.roles import IDS, READ_AS_GIVEN, Side, role_named
from recframe.frames.rows.joins import AS_EVER
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.profiles import under_profile
from recframe.side_info.aggregation_levels import Level

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from recframe.frames.options import Options

VERSION = 3
"""Version of the state."""
OF_BATCH = (LISTS, "truth")
"""Frames of a batch; of the bound ones it reads the rows of its own users."""
ALONG = {Level.ALONG, Level.ALONG_ALL}
"""Levels that compare each list with all others, so that no sums of batches make them."""
FRAMES = {"catalogue": "items", **{name: name for name in SIDES if name != "truth"}}
"""Bound frames that facts need, of which no batch has all rows."""
TEXTS = (pl.Categorical, pl.Enum)
"""Dtypes whose order is not that of their texts."""
FEWEST_ROWS = 64
"""Rows of sums that wait to be added up, so that not every update runs a query for them."""
SAID = (*DEFAULTS, "profile", "strict", "relevance", "model", "propensity", "weight")
"""Options that make another number of the same batches."""
NOT_BOUND = {
    "truth": "each batch has its own, update(lists, truth)",
    "memory": "a batch is in memory, and no other is kept",
    "training": "trainings are compared user by user; name a column of both, model and training, as model=",
}
"""Options of `rec(...)` that an accumulator does not take, with the alternative."""
IN_LISTS = "its interval needs all lists at once, which sums have not"
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
            self.plan = question.plan(in_one_round=True)
        except NeedsAllUsersError as error:
            msg = f"an accumulator sees some users at a time: {error}"
            raise RecframeError(msg) from None
        read, sides = question.read_by(self.plan), question.sides
        self.columns, self.names = columns or _columns_of(question), _names_of(question)
        self.model = question.context.model
        self.users = {name: sides[name].context.names["user"] for name in read}
        rows = {name: _rows(question, name, [*schema]) for name, schema in read.items()}
        self.frames = {name: rows.pop(name).clear() for name in OF_BATCH if name in rows}
        items = {name: rows.pop(name) for name in WHOLE & {*rows}}
        self.of_users = rows
        sums = dict(enumerate(self.plan.sums))
        once = [at for at, one in sums.items() if not one.reads & {*OF_BATCH}]
        models = [at for at, one in sums.items() if one.how.keys == ("model",) and one.are_keys]
        each = [at for at in sums if at not in {*once, *models}]
        if any(sums[at].needs & {*each} for at in sums):
            msg = "one of the metrics looks at lists a second time, after sums over all of them; ask evaluate() of all lists"
            raise RecframeError(msg)
        self.models, self.each = self.plan.step(models), self.plan.step(each)
        self.plan.fill(items)
        for at in once:
            step = self.plan.step([at])
            bound = {name: rows[name] for name in step.reads - WHOLE}
            self.plan.take(step, step.added([self.plan.part(bound, step)]))

    def rows(self, question: Question) -> dict[str, pl.DataFrame]:
        """Return the columns that are read of a batch, as the first has them."""
        if _columns_of(question) != self.columns:
            msg = f"this batch has other columns than the first; {LIKE_THE_FIRST}"
            raise ColumnError(msg)
        found = {}
        for name, first in self.frames.items():
            rows = _rows(question, name, first.columns)
            found[name] = pl.DataFrame([_like(one, first.schema[one.name]) for one in rows])
        return found

    def ids(self, batch: Mapping[str, pl.DataFrame]) -> pl.Series:
        """Return the distinct users of a batch, categories as text."""
        each = [_text(rows.get_column(self.users[name])) for name, rows in batch.items()]
        frames = [one.alias("user").to_frame() for one in each]
        return pl.concat(frames, how="vertical_relaxed")["user"].unique().drop_nulls()

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
        check_users: bool = False,
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
            self._of_users: dict[str, RowsOfUsers] = {}
            self._models: list[pl.DataFrame] = []
            self._sums: list[list[pl.DataFrame]] = []
            self._seen: set[Any] = set()
            self._kind = kind_for(pl.DataFrame())
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
            seen = self._new({*ids.to_list()} if self._checks_users else set())
            of_users = self._of_users or {
                name: RowsOfUsers(rows, of.users[name]) for name, rows in of.of_users.items()
            }
            batch |= {name: rows.of(ids) for name, rows in of_users.items()}
            sums = of.plan.part(batch, of.each)
            if self._of is None:
                kind = question.sides[LISTS].kind
                self._kind = type(kind.results or kind)(())
            self._of_users = of_users
            self._add(of, models, sums, seen)
            self.n_batches += 1
        return self

    def result(self) -> Any:
        """Return the metrics over all batches, as `evaluate` returns them, in the kind of the first batch's lists."""
        return self._result("evaluate", {})

    def summarize(self, *, level: float = 0.95) -> Any:
        """Return the metrics over all batches with their intervals, as `summarize` returns them.

        A set metric has no interval, as its note says: that needs what each list changes of all lists' number.
        """
        return self._result("summarize", {"level": level})

    def state(self) -> dict[str, Any]:
        """Return what was added up as plain Python objects, which other processes merge."""
        with self._lock:
            of = self._of
            first = {} if of is None else {name: _packed(one) for name, one in of.frames.items()}
            return {
                **self._said,
                "n_batches": self.n_batches,
                "users": [*self._seen],
                "models": [*map(_packed, self._models)],
                "first": None if of is None else (first, of.names, of.model, of.columns),
                "sums": [] if of is None else [*map(_packed, self._added(of))],
            }

    def merge(self, other: Accumulator | Mapping[str, Any]) -> Accumulator:
        """Add what another accumulator or its state has added up, and return this one; in any order it is the same.

        Raises a RecframeError that says what differs, for a state of another version or of other metrics, cut-offs, segments,
        policies or models, or of an items= or train= of other ids, and a DataError for users of both with check_users=True.
        """
        state = other.state() if isinstance(other, Accumulator) else other
        if other is self or not isinstance(state, Mapping) or "version" not in state:
            given = "itself" if other is self else kind_of(other)
            msg = f"merge() takes another accumulator or its state(), and was given {given}"
            raise RecframeError(msg)
        for name, mine in self._said.items():
            if (theirs := state.get(name)) != mine:
                msg = f"the states have different {name}: {mine} and {theirs}; merge those of one call"
                raise RecframeError(msg)
        if state["first"] is None:
            return self
        packed, *names, columns = state["first"]
        first = {name: _unpacked(one) for name, one in packed.items()}
        sums, models = ([*map(_unpacked, state[name])] for name in ("sums", "models"))
        with self._lock:
            of = self._of or Batches(self._question_of(first, *names), columns)
            if [one.schema for one in sums] != of.schemas:
                msg = f"the states have sums of different dtypes; {LIKE_THE_FIRST}"
                raise ColumnError(msg)
            known = self._known(models, both=True)
            of.plan.take(of.models, known)
            self._add(of, known, sums, self._new({*state["users"]}))
            self.n_batches += state["n_batches"]
        return self

    def __repr__(self) -> str:
        return f"Accumulator({', '.join(map(str, self.metrics))}; {self.n_batches:,} batches)"

    @cached_property
    def _said(self) -> dict[str, Any]:
        """The call in words, which states share that are added up."""
        options = {name: getattr(self._context, name) for name in SAID}
        return {
            "version": VERSION,
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

    def _question(
        self,
        lists: Any,
        truth: Any,
        model: str | None = None,
        method: str = "evaluate",
        options: Mapping[str, Any] | None = None,
    ) -> Question:
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
        return Question(
            rec, method, tuple(self.metrics), {"by": self._by or None, **(options or {})}
        )

    def _question_of(
        self,
        first: Mapping[str, pl.DataFrame],
        names: Mapping[str, Mapping[str, Any]],
        model: str | None,
        *method: Any,
    ) -> Question:
        """Return the call, or that of another method, on the first batch without its rows."""
        given = {name: NamedFrame(rows, names[name]) for name, rows in first.items()}
        return self._question(given[LISTS], given.get("truth"), model, *method)

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

    def _new(self, users: set[Any]) -> set[Any]:
        """Return users of a batch, or say which of them an earlier one had."""
        if twice := users & self._seen:
            msg = f"the user {shown(min(twice, key=repr))} is in two batches, and would count twice; give all rows in one"
            raise DataError(msg)
        return users

    def _add(
        self,
        of: Batches,
        models: Sequence[pl.DataFrame],
        sums: list[pl.DataFrame],
        seen: set[Any],
    ) -> None:
        """Keep the sums of a batch, of which those of few rows wait to be added up."""
        self._of, self._models = of, [*models]
        self._sums.append(sums)
        self._seen |= seen
        waiting = sum(len(one) for some in self._sums[1:] for one in some)
        if waiting > max(sum(map(len, self._sums[0])), FEWEST_ROWS):
            self._added(of)

    def _added(self, of: Batches) -> list[pl.DataFrame]:
        """Return the sums of all batches."""
        self._sums = [of.each.added(self._sums)]
        return self._sums[0]

    def _result(self, method: str, options: Mapping[str, Any]) -> Any:
        with self._lock:
            of = self._of
            if of is None:
                msg = "no batch was given, so there is no number; first write update(lists, truth)"
                raise RecframeError(msg)
            sums, schemas = self._added(of), of.schemas
            if method != "evaluate":
                of = Batches(self._question_of(of.frames, of.names, of.model, method, options))
            if of.schemas != schemas:
                msg = f"{method}() with {dict(options)} is not made of sums; ask it of all lists"
                raise RecframeError(msg)
            of.plan.take(of.models, self._models)
            of.plan.take(of.each, sums)
            found = chosen(of.plan.finish(), of.plan.shown.columns)
        return self._kind.in_kind(self._with_notes(found), {})

    def _with_notes(self, found: pl.DataFrame) -> pl.DataFrame:
        """Return a result that says where a set metric has no interval."""
        if "note" not in found.columns:
            return found
        sets = [str(metric) for metric in self.metrics if is_of_segment(metric)]
        without = (
            pl.col("metric").is_in(sets) & pl.col("value_low").is_null() & (pl.col("n_users") > 1)
        )
        return found.with_columns(note=pl.when(without).then(pl.lit(IN_LISTS)).otherwise("note"))


def _bound(context: Context, names: Sequence[str]) -> list[str]:
    """Return the names of the frames that are bound."""
    return [name for name in names if is_side(getattr(context, name))]


def _in_memory(context: Context) -> dict[str, Any]:
    """Return the bound frames as frames of Polars in memory, with the names of their columns."""
    found = {}
    for name in _bound(context, SIDES):
        side = Side(str(FrameOf(name)), getattr(context, name), context, name)
        names = side.context.names
        ids, numbers = [names[role] for role in IDS], [names[role] for role in READ_AS_GIVEN]
        taken = side.kind.take({one: one for one in side.columns}, ids, numbers)
        found[name] = NamedFrame(stream(taken.lazy()), side.names)
    return found


def _columns_of(question: Question) -> dict[str, Any]:
    """Return the columns of the frames of a batch, and which of them are those of roles."""
    sides = question.sides
    return {
        name: ({*sides[name].columns}, [*sides[name].context.names.values()])
        for name in OF_BATCH
        if name in sides
    }


def _names_of(question: Question) -> dict[str, dict[str, Any]]:
    """Return the names of columns by their roles that the frames of a batch have."""
    names = {name: {**side.names} for name, side in question.sides.items() if name in OF_BATCH}
    named = question.context.names.items()
    own = {role: name for role, name in named if role not in {name, "model", "weight"}}
    return {**names, LISTS: own}


def _rows(question: Question, name: str, columns: Sequence[str]) -> pl.DataFrame:
    """Return columns of a frame."""
    if not columns:
        return pl.DataFrame()
    rows, kind = columns_of(question.frames[name], columns), question.sides[name].kind
    return stream(rows) if kind.is_lazy else run_by_size(rows, kind.size)


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


def _packed(rows: pl.DataFrame) -> bytes:
    return rows.write_ipc_stream(None, compression="zstd").getvalue()


def _unpacked(packed: bytes) -> pl.DataFrame:
    return pl.read_ipc_stream(io.BytesIO(packed))


def accumulator(
    *metrics: Asked,
    k: Cutoffs = None,
    by: By = None,
    check_users: bool = False,
    **options: Unpack[Options],
) -> Accumulator:
    """Return an accumulator: metrics of batches of users, such as those of a training loop, added up exactly.

    `update(lists, truth)` adds a batch of whole users, as frames; `result()` is what `evaluate` returns for
    all batches in one call, to the last bit and in any order of them, and `summarize()` has the intervals. `state()` and
    `merge(other)` add up what several processes have, `reset()` begins anew. No batch is kept: the state is counts, sums and
    sums of squares, and of set metrics counts of items.

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
