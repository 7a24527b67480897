"""Metrics over batches of users: sums as state, merged across processes."""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from recframe.api import argument_errors
from recframe.api.bound_metric import Asked, By, Cutoffs
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
from recframe.frames.kinds.kind import chosen
from recframe.frames.kinds.lookup import in_memory, kind_for
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

VERSION = 2
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
OF_DTYPES = "the columns of this batch have other dtypes than those of the first, or others are there; give the same"


class RowsOfUsers:
    """Rows of a bound frame in the order of users, so that those of some are found without a walk over all."""

    def __init__(self, rows: pl.DataFrame, user: str) -> None:
        ids = rows.get_column(user)
        ids = ids.cast(pl.String) if ids.dtype in TEXTS else ids
        order = ids.arg_sort(nulls_last=True)
        self.rows, self.ids = rows[order], ids[order].drop_nulls()

    def of(self, users: pl.Series) -> pl.DataFrame:
        """Return the rows of some users, each of whom is named once."""
        wanted = users.cast(self.ids.dtype, strict=False)
        low, high = (self.ids.search_sorted(wanted, side) for side in ("left", "right"))
        there = low < high
        places = pl.select(pl.int_ranges(low.filter(there), high.filter(there)).explode(**AS_EVER))
        return self.rows[places.to_series().drop_nulls()]


class First(NamedTuple):
    """Columns of the first batch, without rows, by which its plan is made again."""

    frames: dict[str, pl.DataFrame]
    names: dict[str, Mapping[str, Any]]
    """Own names of columns, of frames that name them."""
    model: str | None

    @property
    def given(self) -> list[Any]:
        """The lists and the truth, as they were given."""
        return [
            NamedFrame(self.frames[name], self.names[name]) if name in self.frames else None
            for name in OF_BATCH
        ]


class Batches:
    """Plan of batches that have the same columns."""

    def __init__(self, question: Question) -> None:
        try:
            self.plan = question.plan(in_one_round=True)
        except NeedsAllUsersError as error:
            msg = f"an accumulator sees some users at a time: {error}"
            raise RecframeError(msg) from None
        self.columns = {name: [*schema] for name, schema in question.read_by(self.plan).items()}
        sums = dict(enumerate(self.plan.sums))
        once = [at for at, one in sums.items() if not one.reads & {*OF_BATCH}]
        models = [at for at, one in sums.items() if one.how.keys == ("model",) and one.are_keys]
        each = [at for at in sums if at not in {*once, *models}]
        if any(sums[at].needs & {*each} for at in sums):
            msg = "one of the metrics looks at lists a second time, after sums over all of them; ask evaluate() of all lists"
            raise RecframeError(msg)
        self.models, self.each = self.plan.step(models), self.plan.step(each)
        self.plan.fill({name: self.rows(question, name) for name in WHOLE & {*self.columns}})
        for at in once:
            step = self.plan.step([at])
            bound = {name: self.rows(question, name) for name in sums[at].reads - WHOLE}
            self.plan.take(step, step.added([self.plan.part(bound, step)]))

    def rows(self, question: Question, name: str) -> pl.DataFrame:
        """Return the columns that are read of a frame."""
        columns, kind = question.columns(name, self.columns[name]), question.sides[name].kind
        return stream(columns) if kind.is_lazy else run_by_size(columns, kind.size)

    @property
    def schemas(self) -> list[pl.Schema]:
        """The columns of all sums."""
        return [one.rows.collect_schema() for one in self.plan.sums]


class Accumulator:
    """Metrics of batches of users, added up; `rf.accumulator` makes it, and says what it takes."""

    def __init__(
        self,
        metrics: Sequence[Metric[...]],
        by: Any,
        context: Context,
        *,
        pad: Any = None,
        check_users: bool = False,
    ) -> None:
        self.metrics, self._by, self._pad = [*metrics], argument_errors.names(by), pad
        self._context = replace(context, **_in_memory(context))
        self._seen: set[Any] | None = set() if check_users else None
        self._users: dict[tuple[str, ...], RowsOfUsers] = {}
        self._lock = RLock()
        self._check()
        self.reset()

    def reset(self) -> None:
        """Forget all batches."""
        with self._lock:
            self._batches: dict[Any, Batches] = {}
            self._first: First | None = None
            self._models: list[pl.DataFrame] = []
            self._sums: list[list[pl.DataFrame]] = []
            self._kind = kind_for(pl.DataFrame())
            self.n_batches = self._n_rows = 0
            self._seen = None if self._seen is None else set()

    def update(self, lists: Any, truth: Any = None, *, users: Any = None) -> Accumulator:
        """Add a batch of whole users, and return this accumulator; several threads may do so.

        `lists` and `truth` are frames that `rec()` takes, or one judged frame; or arrays or tensors with a row for each user.
        Floats are scores of all items; beside them the truth has a column for each item too, of relevances, or the ids of the
        relevant items. Whole numbers are the ids of each user's items, best first, beside ids of the relevant ones, or beside
        a matrix of Booleans or fractions. Ids of items are the numbers of columns from 0; NaN and minus infinity score none.

            users: the ids of the rows of arrays, which otherwise are numbered on from batch to batch.

        A user who comes in two batches counts twice; with check_users=True it raises a DataError.
        """
        with self._lock:
            n_rows = 0
            lists, truth, n_rows = self._in_frames(lists, truth, users)
            question = self._question(lists, truth)
            of = self._batches_of(question)
            batch = {name: of.rows(question, name) for name in OF_BATCH if name in of.columns}
            self._take_models(of.plan.part(batch, of.models))
            of.plan.take(of.models, self._models)
            of_users = [name for name in of.columns if name not in {*OF_BATCH, *WHOLE}]
            ids = _distinct(
                [
                    one.get_column(question.sides[name].context.names["user"])
                    for name, one in batch.items()
                ]
            )
            seen = None if self._seen is None or n_rows else self._new({*ids.to_list()})
            batch |= {name: self._of_users(question, of, name).of(ids) for name in of_users}
            self._add(of.plan.part(batch, of.each), 1, n_rows, seen)
        return self

    def result(self) -> Any:
        """Return the metrics over all batches, as `evaluate` returns them, in the kind of the last batch's lists."""
        return self._result("evaluate", {})

    def summarize(self, *, level: float = 0.95) -> Any:
        """Return the metrics over all batches with their intervals, as `summarize` returns them.

        A set metric has no interval, as its note says: that needs what each list changes of all lists' number.
        """
        return self._result("summarize", {"level": level})

    def state(self) -> dict[str, Any]:
        """Return what was added up as plain Python objects, which other processes merge."""
        with self._lock:
            first = self._first
            return {
                **self._said,
                "n_batches": self.n_batches,
                "n_rows": self._n_rows,
                "users": None if self._seen is None else [*self._seen],
                "models": [*map(_packed, self._models)],
                "frames": {} if first is None else {n: _packed(f) for n, f in first.frames.items()},
                "names": {} if first is None else {n: {**own} for n, own in first.names.items()},
                "model": None if first is None else first.model,
                "sums": [*map(_packed, self._added())] if self._sums else None,
            }

    def merge(self, other: Accumulator | Mapping[str, Any]) -> Accumulator:
        """Add what another accumulator or its state has added up, and return this one; in any order it is the same.

        Raises a RecframeError that says what differs, for a state of another version or of other metrics, cut-offs, segments,
        policies or models, or of an items= or train= of other ids, and a DataError for users of both with check_users=True.
        """
        state = other.state() if isinstance(other, Accumulator) else other
        if not isinstance(state, Mapping) or "version" not in state:
            msg = (
                f"merge() takes another accumulator or its state(), and was given {kind_of(other)}"
            )
            raise RecframeError(msg)
        for name, mine in self._said.items():
            if (theirs := state.get(name)) != mine:
                msg = f"the states have different {name}: {mine} and {theirs}; merge those of one call"
                raise RecframeError(msg)
        if state["sums"] is None:
            return self
        frames = {name: _unpacked(one) for name, one in state["frames"].items()}
        with self._lock:
            first = First(frames, state["names"], state["model"])
            of = self._batches_of(self._question_of(first))
            self._take_models([*map(_unpacked, state["models"])], both=True)
            seen = None if self._seen is None else self._new({*state["users"]})
            sums = [*map(_unpacked, state["sums"])]
            of.plan.take(of.models, self._models)
            self._add(sums, state["n_batches"], state["n_rows"], seen)
        return self

    def __repr__(self) -> str:
        return f"Accumulator({', '.join(map(str, self.metrics))}; {self.n_batches:,} batches)"

    def __getstate__(self) -> dict[str, Any]:
        of_call = (self.metrics, self._by, self._context, self._pad, self._seen is not None)
        return {"call": of_call, "state": self.state(), "kind": self._kind}

    def __setstate__(self, held_state: dict[str, Any]) -> None:
        metrics, by, context, pad, check_users = held_state["call"]
        self.__init__(metrics, by, context, pad=pad, check_users=check_users)  # type: ignore[misc]
        self.merge(held_state["state"])
        self._kind = held_state["kind"]

    @cached_property
    def _said(self) -> dict[str, Any]:
        """The call in words, which states share that are added up."""
        options = {name: getattr(self._context, name) for name in SAID}
        return {
            "version": VERSION,
            "metrics": [one.in_full for one in self.metrics],
            "by": [str(one) for one in self._by],
            "policies": {name: value for name, value in options.items() if value is not None},
            "check_users": self._seen is not None,
            "ids of frames": {
                name: _digest(getattr(self._context, name), self._context)
                for name in _bound(self._context, ["items", "train"])
            },
        }

    @property
    def _reads_whole_lists(self) -> bool:
        """Whether more of a list is read than the first k."""
        context = self._context
        plain = context.ties == "item" and context.profile is None and not self._by
        return not plain or any(one.k is None for one in self.metrics)

    def _in_frames(self, lists: Any, truth: Any, users: Any) -> tuple[Any, Any, int]:
        """Return the frames of a batch, and the number of rows of arrays that are numbered."""
        from recframe.api.batches_of_arrays import frames_of, is_array  # noqa: PLC0415  where arrays come in

        if not is_array(lists):
            if users is not None:
                msg = "users= names the rows of arrays; a frame has its users in a column"
                raise RecframeError(msg)
            return lists, truth, 0
        n_rows = 0
        if users is None:
            if (bound := _bound(self._context, SIDES)) not in ([], ["items"]):
                msg = f"{bound[0]}= has users by their ids; name those of the rows: update(lists, truth, users=ids)"
                raise RecframeError(msg)
            n_rows = lists.shape[0] if hasattr(lists, "shape") else len(lists)
            users = range(self._n_rows, self._n_rows + n_rows)
        depth = None if self._reads_whole_lists else max(one.k or 0 for one in self.metrics)
        found = frames_of(lists, truth, users, pad=self._pad, k=depth, context=self._context)
        return *found, n_rows

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
        method: str = "evaluate",
        options: Mapping[str, Any] | None = None,
        *,
        model: str | None = None,
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
        self, first: First, method: str = "evaluate", options: Mapping[str, Any] | None = None
    ) -> Question:
        """Return the call on a batch without rows."""
        lists, truth = first.given
        return self._question(lists, truth, method, options, model=first.model)

    def _batches_of(self, question: Question) -> Batches:
        """Return the plan of batches of such columns, which is made once."""
        if not self._sums:  # and a batch that failed says nothing of the others
            self.reset()
        key = tuple(
            (name, *side.context.names.values(), *question.schemas[name].items())
            for name, side in question.sides.items()
            if name in OF_BATCH
        )
        if key not in self._batches:
            found = Batches(question)
            others = iter(self._batches.values())
            if (other := next(others, None)) is not None and other.schemas != found.schemas:
                raise ColumnError(OF_DTYPES)
            self._batches[key] = found
        found = self._batches[key]
        if self._first is None:
            sides = {name: question.sides[name] for name in OF_BATCH if name in found.columns}
            names: dict[str, Mapping[str, Any]] = {n: {**side.names} for n, side in sides.items()}
            own = {role: name for role, name in question.context.names.items() if role != name}
            names[LISTS] = {
                role: name for role, name in own.items() if role not in {"model", "weight"}
            }
            frames = {
                name: stream(question.columns(name, found.columns[name]).head(0)) for name in sides
            }
            self._first = First(frames, names, question.context.model)
            kind = question.sides[LISTS].kind
            self._kind = type(kind.results or kind)(())
        return found

    def _take_models(self, models: Sequence[pl.DataFrame], *, both: bool = False) -> None:
        """Reject models that the first batch did not have, whose users then count without a list."""
        if not self._models:
            self._models = [*models]
        for one, known in zip(models, self._models, strict=True):
            new = one.join(known, on="model", how="anti", nulls_equal=True)
            if len(new) or (both and len(one) < len(known)):
                names = ", ".join(map(shown, known["model"]))
                msg = f"the first batch has lists of all models, and others are found than {names}; give it a list of each"
                raise DataError(msg)

    def _of_users(self, question: Question, of: Batches, name: str) -> RowsOfUsers:
        key = (name, *of.columns[name])
        if key not in self._users:
            user = question.sides[name].context.names["user"]
            self._users[key] = RowsOfUsers(of.rows(question, name), user)
        return self._users[key]

    def _new(self, users: set[Any]) -> set[Any]:
        """Return users of a batch, or say which of them an earlier one had."""
        if twice := users & (self._seen or set()):
            msg = f"the user {shown(min(twice, key=repr))} is in two batches, and would count twice; give all rows in one"
            raise DataError(msg)
        return users

    def _add(
        self, sums: list[pl.DataFrame], n_batches: int, n_rows: int, seen: set[Any] | None
    ) -> None:
        self._sums.append(sums)
        waiting = sum(len(one) for some in self._sums[1:] for one in some)
        if waiting > max(sum(map(len, self._sums[0])), FEWEST_ROWS):
            self._added()
        self.n_batches, self._n_rows = self.n_batches + n_batches, self._n_rows + n_rows
        if self._seen is not None:
            self._seen |= seen or set()

    def _added(self) -> list[pl.DataFrame]:
        """Return the sums of all batches."""
        of = next(iter(self._batches.values()))
        self._sums = [of.each.added(self._sums)]
        return self._sums[0]

    def _result(self, method: str, options: Mapping[str, Any]) -> Any:
        with self._lock:
            if self._first is None or not self._sums:
                msg = "no batch was given, so there is no number; first write update(lists, truth)"
                raise RecframeError(msg)
            of = next(iter(self._batches.values()))
            made = of
            if method != "evaluate":
                made = Batches(self._question_of(self._first, method, options))
            if made.schemas != of.schemas:
                msg = f"{method}() with {dict(options)} is not made of sums; ask it of all lists"
                raise RecframeError(msg)
            made.plan.take(made.models, self._models)
            made.plan.take(made.each, self._added())
            found = chosen(made.plan.finish(), made.plan.shown.columns)
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


def _distinct(ids: Sequence[pl.Series]) -> pl.Series:
    """Return the distinct ids of several columns, categories as text."""
    is_text = any(one.dtype in TEXTS for one in ids)
    frames = [(one.cast(pl.String) if is_text else one).alias("user").to_frame() for one in ids]
    return pl.concat(frames, how="vertical_relaxed")["user"].unique().drop_nulls()


def _digest(side: NamedFrame, context: Context) -> str:
    """Return what tells the ids of a bound frame from others, whatever the order of its rows."""
    names = {**context.names, **side.names}
    ids = side.frame.select(
        side.frame.get_column(names[role]).cast(pl.String)
        for role in ("user", "item")
        if names[role] in side.frame.columns
    )
    hashes = ids.hash_rows(seed=1)
    # of 32 bits each, whose sums are exact
    parts = [int((hashes % 2**32).sum()), int((hashes // 2**32).sum())]
    return f"{len(ids)} {parts[0]:x} {parts[1]:x}"


def _packed(rows: pl.DataFrame) -> bytes:
    found = io.BytesIO()
    rows.write_ipc_stream(found)
    return zlib.compress(found.getvalue())


def _unpacked(packed: bytes) -> pl.DataFrame:
    return pl.read_ipc_stream(io.BytesIO(zlib.decompress(packed)))


def accumulator(
    *metrics: Asked,
    k: Cutoffs = None,
    by: By = None,
    pad: Any = None,
    check_users: bool = False,
    **options: Unpack[Options],
) -> Accumulator:
    """Return an accumulator: metrics of batches of users, such as those of a training loop, added up exactly.

    `update(lists, truth)` adds a batch of whole users, as frames, arrays or tensors; `result()` is what `evaluate` returns for
    all batches in one call, to the last bit and in any order of them, and `summarize()` has the intervals. `state()` and
    `merge(other)` add up what several processes have, `reset()` begins anew. No batch is kept: the state is counts, sums and
    sums of squares, and of set metrics counts of items.

        metrics, k, by: as in `evaluate`. A metric that compares each list with all others (personalization) has no such sums
            and is refused here, and so is by="user".
        pad: the id that fills the rows of arrays, such as -1 or 0. Below 0 nothing is an id.
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
    context, asked = under_profile.bind(Context(), given), registry.asked(registry.each(metrics), k)
    return Accumulator(asked, by, context, pad=pad, check_users=check_users)
