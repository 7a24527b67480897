"""Metrics over batches of users: sums as state, merged across processes."""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe.api import argument_errors
from recframe.api.bound_metric import Asked, By, Cutoffs
from recframe.api.engine_plan import LISTS, Divided, EngineSide, Replayed
from recframe.api.rec_class import Rec
from recframe.engines.tasks import Trial, added_of, schema_of
from recframe.errors import ColumnError, DataError, NeedsAllUsersError, RecframeError, shown
from recframe.evaluation.required_columns import is_of_segment
from recframe.frames.collecting import run_as_it_is, stream
from recframe.frames.hints import FrameOf, Given
from recframe.frames.kinds.engine import MODELS, Table
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

VERSION = 1
"""Version of the state."""
OF_BATCH = {LISTS, "truth"}
"""Frames of a batch; of the bound ones it reads the rows of its own users."""
ALONG = {Level.ALONG, Level.ALONG_ALL}
"""Levels that compare each list with all others, so that no sums of batches make them."""
FRAMES = {"catalogue": "items", **{name: name for name in SIDES if name != "truth"}}
"""Bound frames that facts need, of which no batch has all rows."""
TEXTS = (pl.Categorical, pl.Enum)
"""Dtypes whose order is not that of their texts."""
FEWEST_ROWS = 64
"""Rows of sums that wait to be added up, so that not every update runs a query for them."""
MOST_BATCHES = 1_000_000
"""Batches that pieces of sums have room for; see `tasks.PIECE`."""
SAID = (*DEFAULTS, "profile", "strict", "relevance", "model", "propensity", "weight")
"""Options that make another number of the same batches."""
NOT_BOUND = {
    "truth": "each batch has its own, update(lists, truth)",
    "memory": "a batch is in memory, and no other is kept",
    "training": "trainings are compared user by user; name a column of both, model and training, as model=",
}
"""Options of `rec(...)` that an accumulator does not take, with the alternative."""
IN_LISTS = "its interval needs all lists at once, which sums have not"


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
        self._tables: dict[Table, pl.DataFrame] = {}
        self._check()
        self.reset()

    def reset(self) -> None:
        """Forget all batches."""
        self._replayed: dict[Any, Replayed] = {}
        self._sums: list[pl.DataFrame] = []
        self._kind = kind_for(pl.DataFrame())
        self.n_batches = self._n_rows = 0
        self._tables.pop((MODELS, None), None)
        self._seen = None if self._seen is None else set()

    def update(self, lists: Any, truth: Any = None, *, users: Any = None) -> Accumulator:
        """Add a batch of whole users, and return this accumulator.

        `lists` and `truth` are frames that `rec()` takes, or one judged frame; or arrays or tensors with a row for each user.
        Floats are scores of all items; beside them the truth has a column for each item too, of relevances, or the ids of the
        relevant items. Whole numbers are the ids of each user's items, best first, beside ids of the relevant ones, or beside
        a matrix of Booleans or fractions. Ids of items are the numbers of columns from 0; NaN and minus infinity score none.

            users: the ids of the rows of arrays, which otherwise are numbered on from batch to batch.

        A user who comes in two batches counts twice; with check_users=True it raises a DataError.
        """
        from recframe.api.batches_of_arrays import frames_of, is_array  # noqa: PLC0415  where arrays come in

        n_rows = 0
        if is_array(lists):
            if users is None and (bound := _bound(self._context, SIDES)) not in ([], ["items"]):
                msg = f"{bound[0]}= has users by their ids; name those of the rows: update(lists, truth, users=ids)"
                raise RecframeError(msg)
            if users is None:
                n_rows = lists.shape[0] if hasattr(lists, "shape") else len(lists)
            ids = range(self._n_rows, self._n_rows + n_rows) if users is None else users
            depth = None if self._reads_whole_lists else max(one.k or 0 for one in self.metrics)
            lists, truth = frames_of(
                lists, truth, ids, pad=self._pad, k=depth, context=self._context
            )
        elif users is not None:
            raise RecframeError(
                "users= names the rows of arrays; a frame has its users in a column"
            )
        divided = self._divided(lists, truth)
        one = self._replay(divided)
        self._check_models(divided)
        batch = {
            name: _columns(divided.sides[name], one.none[name]) for name in OF_BATCH & {*one.none}
        }
        of_users = [name for name, none in one.none.items() if none.columns and name not in batch]
        if of_users or self._seen is not None:
            ids = [batch[name].get_column(divided.sides[name].column("user")) for name in batch]
            users = _distinct(ids)
        seen = None if self._seen is None or n_rows else self._new({*users.to_list()})
        for name in of_users:
            batch[name] = self._rows_of(divided, name, one.none[name]).of(users)
        self._add(one, one.of_bucket(batch), 1, n_rows, seen)
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
        one = next(iter(self._replayed.values()), None)
        none = {} if one is None else one.none
        return {
            **self._said,
            "n_batches": self.n_batches,
            "n_rows": self._n_rows,
            "users": None if self._seen is None else [*self._seen],
            "models": _packed(self._tables[MODELS, None])
            if (MODELS, None) in self._tables
            else None,
            "frames": {name: _packed(none[name]) for name in OF_BATCH & {*none}},
            "sums": _packed(self._added()) if self._sums else None,
        }

    def merge(self, other: Accumulator | Mapping[str, Any]) -> Accumulator:
        """Add what another accumulator or its state has added up, and return this one; in any order it is the same.

        Raises a RecframeError that says what differs, for a state of another version or of other metrics, cut-offs, segments,
        policies or models, or of a train= of other items, and a DataError for users of both with check_users=True.
        """
        state = other.state() if isinstance(other, Accumulator) else other
        for name, mine in self._said.items():
            if (theirs := state.get(name)) != mine:
                msg = f"the states have different {name}: {mine} and {theirs}; merge those of one call"
                raise RecframeError(msg)
        if state["sums"] is None:
            return self
        rows = {name: _unpacked(one) for name, one in state["frames"].items()}
        # first, since the frames of a state have no rows to find models in
        if state["models"] is not None:
            self._take_models(_unpacked(state["models"]), both=True)
        one = self._replay(self._divided(rows[LISTS], rows.get("truth")))
        seen = None if self._seen is None else self._new({*state["users"]})
        self._add(one, _unpacked(state["sums"]), state["n_batches"], state["n_rows"], seen)
        return self

    def __repr__(self) -> str:
        return f"Accumulator({', '.join(map(str, self.metrics))}; {self.n_batches:,} batches)"

    @cached_property
    def _said(self) -> dict[str, Any]:
        """The call in words, which states share that are added up."""
        options = {name: getattr(self._context, name) for name in SAID}
        bound = {
            name: len(getattr(self._context, name).frame)
            for name in _bound(self._context, ["items", "train"])
        }
        return {
            "version": VERSION,
            "metrics": [one.in_full for one in self.metrics],
            "by": [str(one) for one in self._by],
            "policies": {name: value for name, value in options.items() if value is not None},
            "check_users": self._seen is not None,
            "rows of frames": bound,
        }

    @property
    def _reads_whole_lists(self) -> bool:
        """Whether more of a list is read than the first k."""
        context = self._context
        plain = context.ties == "item" and context.profile is None and not self._by
        return not plain or any(one.k is None for one in self.metrics)

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

    def _divided(self, lists: Any, truth: Any) -> Divided:
        """Return the call of a batch in buckets of users, of which it is one."""
        context = self._context
        if isinstance(lists, NamedFrame):
            lists, context = lists.frame, context.bind(lists.names)
        lists, model = held(in_memory(lists), {"model": context.model})
        kind = kind_for(lists, str(FrameOf(LISTS)))
        if kind.engine is not None:
            msg = f"a batch is in memory, and {kind.engine.name} adds up its own; write rf.rec(frame, truth).evaluate(...)"
            raise RecframeError(msg)
        self._kind = type(kind.results or kind)(())
        context = replace(context, **model, truth=in_memory(truth))
        rec = Rec(lists)._with(context)  # noqa: SLF001  a call's own
        return Divided(rec, "evaluate", tuple(self.metrics), {"by": self._by or None})

    def _replay(self, divided: Divided) -> Replayed:
        """Return the call that is made over each batch of the same columns, after a dry run."""
        sides = {name: side for name, side in divided.sides.items() if name in OF_BATCH}
        key = tuple(
            (name, *side.side.context.names.values(), *side.schema.items())
            for name, side in sides.items()
        )
        if key not in self._replayed:
            found = self._tried(divided)
            if self._replayed and schema_of(found.plans) != schema_of(
                next(iter(self._replayed.values())).plans
            ):
                msg = "the columns of this batch have other dtypes than those of the first, or others are there; give the same"
                raise ColumnError(msg)
            self._replayed[key] = found
        return self._replayed[key]

    def _tried(self, divided: Divided) -> Replayed:
        trial = Trial(divided=True, is_here=True)
        trial.in_one_round = True
        try:
            whole, none = divided.tried(trial)
        except NeedsAllUsersError as error:
            msg = f"an accumulator sees some users at a time: {error}"
            raise RecframeError(msg) from None
        if any(plan.round for plan in trial.plans):
            msg = "one of the metrics looks at lists a second time, after sums over all of them; ask evaluate() of all lists"
            raise RecframeError(msg)
        asked = {} if trial.tables is None else trial.tables.asked
        self._tables |= divided.tables([key for key in asked if key not in self._tables])
        read = {name: divided.sides[name].read(columns) for name, columns in whole.items()}
        tables = {key: self._tables[key] for key in asked}
        return Replayed(
            divided.call, trial.plans, trial.result, tables, none, read, in_one_round=True
        )

    def _check_models(self, divided: Divided) -> None:
        if divided.context.model is not None:
            self._take_models(divided.tables([(MODELS, None)])[MODELS, None])

    def _take_models(self, models: pl.DataFrame, *, both: bool = False) -> None:
        """Reject models that the first batch did not have, whose users then count without a list."""
        known = self._tables.setdefault((MODELS, None), models)
        new = models.join(known, on=models.columns, how="anti", nulls_equal=True)
        if len(new) or (both and len(models) < len(known)):
            names = ", ".join(map(shown, known["model"]))
            msg = f"the first batch has lists of all models, and others are found than {names}; give it a list of each"
            raise DataError(msg)

    def _rows_of(self, divided: Divided, name: str, none: pl.DataFrame) -> RowsOfUsers:
        key = (name, *none.columns)
        if key not in self._users:
            side = divided.sides[name]
            self._users[key] = RowsOfUsers(side.read(none.columns), side.column("user"))
        return self._users[key]

    def _new(self, users: set[Any]) -> set[Any]:
        """Return users of a batch, or say which of them an earlier one had."""
        if twice := users & (self._seen or set()):
            msg = f"the user {shown(min(twice, key=repr))} is in two batches, and would count twice; give all rows in one"
            raise DataError(msg)
        return users

    def _add(
        self, one: Replayed, sums: pl.DataFrame, n_batches: int, n_rows: int, seen: set[Any] | None
    ) -> None:
        if self.n_batches + n_batches > MOST_BATCHES:
            raise RecframeError(f"an accumulator takes {MOST_BATCHES:,} batches; give larger ones")
        self._sums.append(sums)
        if sum(map(len, self._sums[1:])) > max(len(self._sums[0]), FEWEST_ROWS):
            self._sums = [added_of(one.plans).up(pl.concat(self._sums))]
        self.n_batches, self._n_rows = self.n_batches + n_batches, self._n_rows + n_rows
        if self._seen is not None:
            self._seen |= seen or set()

    def _added(self) -> pl.DataFrame:
        """Return the sums of all batches."""
        plans = next(iter(self._replayed.values())).plans
        self._sums = [added_of(plans).up(pl.concat(self._sums))]
        return self._sums[0]

    def _result(self, method: str, options: Mapping[str, Any]) -> Any:
        if not self._sums:
            raise RecframeError(
                "no batch was given, so there is no number; first write update(lists, truth)"
            )
        one = next(iter(self._replayed.values()))
        call = replace(one.call, method=method, options={**one.call.options, **options})
        trial = Trial(divided=True, is_here=True)
        trial.in_one_round = True
        call.made(trial, one.none, one.whole)
        if schema_of(trial.plans) != schema_of(one.plans):
            msg = f"{method}() with {options} is not made of sums; ask it of all lists"
            raise RecframeError(msg)
        found = replace(one, call=call, result=trial.result).finished(self._added())
        if "note" in found.columns:
            sets = [str(metric) for metric in self.metrics if is_of_segment(metric)]
            without = (
                pl.col("metric").is_in(sets)
                & pl.col("value_low").is_null()
                & (pl.col("n_users") > 1)
            )
            found = found.with_columns(
                note=pl.when(without).then(pl.lit(IN_LISTS)).otherwise("note")
            )
        return self._kind.in_kind(found, {})


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


def _columns(side: EngineSide, none: pl.DataFrame) -> pl.DataFrame:
    """Return the columns that are read of a frame of a batch."""
    rows: Any = side.local
    # by place, since names such as "^.*$" are patterns to Polars
    plan = rows.select(pl.nth(side.schema.names().index(name)) for name in none.columns)
    return run_as_it_is(plan) if side.in_memory else stream(plan)


def _distinct(ids: Sequence[pl.Series]) -> pl.Series:
    """Return the distinct ids of several columns, categories as text."""
    is_text = any(one.dtype in TEXTS for one in ids)
    frames = [(one.cast(pl.String) if is_text else one).alias("user").to_frame() for one in ids]
    return pl.concat(frames, how="vertical_relaxed")["user"].unique().drop_nulls()


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
