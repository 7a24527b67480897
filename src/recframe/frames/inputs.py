"""Frames of one call, lazy and under the names of their roles."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from operator import methodcaller
from typing import Any, Literal

import polars as pl

from recframe.errors import (
    CallError,
    ColumnError,
    RecframeError,
    fails_whole_if,
    sentence,
    suggestion,
    with_article,
)
from recframe.frames.by_expressions import Made
from recframe.frames.dtypes import as_text, common, in_frames
from recframe.frames.hints import A_FRAME, NAMED, Either, FrameOf, Given, SideFrame, bind
from recframe.frames.kinds.engine import AllUsers
from recframe.frames.kinds.kind import Known, Taken, check_threads, eager
from recframe.frames.options import FOLD, SIDES, Context, Folds, Sharing
from recframe.frames.roles import (
    DESCRIBES,
    Side,
    check_dtypes,
    fold_of,
    listed,
    names_trainings,
    roles_of,
    sides_of,
    unbound_labels,
)
from recframe.frames.rows.joins import IS_POLARS_1
from recframe.frames.segments import FRAMES_OF, Place, Segment, placed

GROUP = "random group"
LABEL = "label "
"""Prefix of unbound columns of the lists that may name systems."""
Owner = Literal["recommendations", "truth"]


class Facts:
    """Facts that follow from frames and options, set once for all that read them."""

    schema: pl.Schema
    """The columns of the lists and their dtypes."""
    scored: bool
    """Whether ranks are made from scores."""
    sharing: Sharing | None
    """The tie policy under which tied items share a rank; None where each has its own."""
    folds: Folds | None
    """The folds that the frames have; None where they have none, or one alone."""
    all_users: AllUsers | None
    """The sums of all users, for inputs that have rows of some."""
    model: list[str]
    """The model as a key, where one is bound."""
    training: list[str]
    """The training as a key, where one is bound."""
    row_keys: list[str]
    """The segments that are columns of the lists, of the truth, or of both, as keys."""
    item_keys: list[str]
    """The segments that are properties of the item, or the item itself, as keys."""


@dataclass(frozen=True)
class Frames(Facts):
    """Frames of one call, lazy, under their roles' names."""

    lists: pl.LazyFrame
    """user, item, rank or score, relevance if it is a judged frame, model and training if bound, and segments of its rows."""
    truth: pl.LazyFrame | None
    """user, item, relevance and segments of its rows; None where the lists are a judged frame."""
    users: pl.LazyFrame | None
    items: pl.LazyFrame | None
    train: pl.LazyFrame | None
    reference: pl.LazyFrame | str | None
    """user, item and rank or score; or the name of a model."""
    segments: tuple[Segment, ...]
    context: Context
    sides: Mapping[str, Side]
    """The frames as they were given, with all their columns."""
    given: Mapping[str, pl.DataFrame]
    """Eager frames by name."""
    known: Known
    """Facts of the eager frames."""
    checks: tuple[pl.LazyFrame, ...]
    units: tuple[str, ...] = ()
    """Segments that are clusters or random groups, which get no result rows."""
    models: pl.LazyFrame | None = None
    """All models, where the lists may lack some."""
    fold: pl.Expr | None = None
    """The fold that all rows are of, where these are the inputs of one."""

    def __post_init__(self) -> None:
        """Set the facts that follow from the fields."""
        main = self.sides.get("recommendations")
        of_items = (one for one in self.segments if one.at == "items" or one.inside == "item")
        schema, ties = self.lists.collect_schema(), self.context.ties
        scored = "score" in schema
        vars(self).update(
            schema=schema,
            scored=scored,
            sharing=ties if scored and ties in {"expected", "last"} else None,
            folds=self.context.folds if self.fold is None else None,
            all_users=None if main is None else main.kind.all_users,
            model=["model"] * (self.context.model is not None),
            training=["training"] * (self.context.training is not None),
            row_keys=self.inside("rows", "truth"),
            item_keys=[one.inside for one in of_items],
        )

    @property
    def sources(self) -> dict[str, Any]:
        """Origin of key columns by name, to restore their dtypes in the result."""
        sources: dict[str, Any] = {}
        for one in self.segments:
            holder, *_ = (*FRAMES_OF[one.at], "recommendations")
            sources[one.name] = None if one.made else self.sides[holder].kind.source(one.name)
        if self.context.model is not None:  # it is the first `by` column, asked for or not
            lists = self.sides["recommendations"]
            sources[self.context.model] = lists.kind.source(self.context.model)
        return sources

    @property
    def labels(self) -> dict[str, str]:
        """Unbound columns of the lists that may name systems, by internal name, where they were read."""
        names = self.schema.names()
        return {name: name.removeprefix(LABEL) for name in names if name.startswith(LABEL)}

    @property
    def judged(self) -> bool:
        """Whether any relevance is known."""
        return "truth" in self.sides or self.sides["recommendations"].has("relevance")

    def added(
        self, name: Hashable, rows: Callable[[], pl.LazyFrame], keys: Sequence[str]
    ) -> pl.LazyFrame:
        """Return sums by keys, of some users those of all; other folds have others of the same name."""
        if self.all_users is None:
            return rows()
        return self.all_users.of_all((name, str(self.fold)), rows, keys)

    def of_all(self, keys: pl.LazyFrame) -> pl.LazyFrame:
        """Return distinct keys of some users' rows with those of all others."""
        if self.all_users is None:
            return keys
        return self.all_users.adds(keys, keys.collect_schema().names())

    @cached_property
    def relevance_dtype(self) -> pl.DataType:
        """The dtype of the relevances."""
        judging = self.lists if self.truth is None else self.truth
        return judging.collect_schema()["relevance"]

    @cached_property
    def has_propensity(self) -> bool:
        """Whether the frame that has the relevance has propensities too."""
        judging = self.lists if self.truth is None else self.truth
        return "propensity" in judging.collect_schema()

    def feature(self, of: str, call: str) -> Taken:
        """Return a column of the items frame: item, value; the only one beside the item, where `of` is empty.

        `call` is the metric's name, to show how to name a column.
        """
        if self.items is None:
            raise ColumnError(f"{call} needs {SideFrame('items')}")
        side = self.sides["items"]
        names = side.context.names
        others = [name for name in side.columns if name not in {names["item"], names.get(FOLD)}]
        name = of or (others[0] if len(others) == 1 else "")
        if name not in others:
            lacks = f"{side.title} has no column {of!r} beside {names['item']!r}"
            lacks = (
                sentence(lacks, suggestion(of, others))
                if of
                else f"{call} does not know its column."
            )
            shown = next(iter(others), "column")
            raise ColumnError(f"{lacks} There are {listed(others)}: {call}(of={shown!r})")
        return self.feature_rows(Segment("value", name, "items"))

    def feature_rows(self, segment: Segment) -> Taken:
        """Return a column of the items frame, with the item; of a fold its own rows."""
        side = self.sides["items"]
        folds = fold_of("items", side)
        taken = side.take(["item", *folds], [segment])
        if folds and self.fold is not None:
            return taken.filter(pl.col(FOLD) == self.fold).drop(FOLD)
        return taken

    def with_ties(self, context: Context) -> Context:
        """Return a context with the ties that concern these frames: a profile's concern scores alone."""
        return context if self.scored else context.having(ties="item")

    def identified(self, owner: Owner, where: pl.Expr | None = None) -> pl.LazyFrame:
        """Return the rows of the lists or of the truth that have a user and an item, those of a condition alone.

        NOTE: with a condition it is a filter of its own, that Polars 2 does not share with the others' scan. What shares a
        scan with a side of a join that has to wait is held in memory meanwhile. Polars 1 would share the scan of all columns.
        """
        rows = self.truth if owner == "truth" and self.truth is not None else self.lists
        has_ids = pl.col("user").is_not_null() & pl.col("item").is_not_null()
        conditions = [has_ids] * (owner not in self.known.complete)
        conditions += [] if where is None else [where]
        if IS_POLARS_1:
            for condition in conditions:
                rows = rows.filter(condition)
            return rows
        return rows.filter(pl.all_horizontal(conditions)) if conditions else rows

    def counted(self, owner: Owner) -> pl.LazyFrame:
        """Return the rows of the lists or of the truth that are not ignored: of a truth, those with a relevance alone."""
        if owner == "truth" and self.truth is not None:
            return self.identified(owner, where=pl.col("relevance").is_not_null())
        return self.identified(owner)

    def check(self, owner: Owner, wrong: pl.Expr, message: str) -> pl.LazyFrame:
        """Return a frame of one row that fails when the plan runs, if a row of the lists or of the truth is wrong."""
        if IS_POLARS_1:
            return self.identified(owner).select(check=fails_whole_if(wrong.any(), message))
        return self.identified(owner, where=wrong).select(_fails_with_rows(message))

    def under(self, context: Context) -> Frames:
        """Return the inputs under other policies."""
        return self if context is self.context else replace(self, context=context)

    @property
    def is_reference(self) -> pl.Expr:
        """Whether a row of the lists is of the model that the reference names."""
        return as_text(pl.col("model"), self.schema["model"]).eq_missing(pl.lit(self.reference))

    def standing_in(self, frames: Mapping[str, pl.LazyFrame]) -> Frames:
        """Return the inputs with placeholder frames, without any data in memory."""
        schemas = dict(zip(frames, map(pl.LazyFrame.collect_schema, frames.values()), strict=True))
        laid = _laid(frames, schemas, self.sides, self.segments, self.context)
        return replace(self, **laid, sides={}, given={})

    @property
    def candidates(self) -> Frames:
        """The inputs without the lists of models that are bounds.

        NOTE: not cached, since inputs that hold themselves are not gone with their last name.
        """
        bounds = self.context.bounds
        if not self.model or not {*bounds} - {*self.context.without}:
            return self
        context = replace(self.context, without=bounds)
        return replace(self, context=context).with_lists(partial(without_models, models=bounds))

    def with_lists(self, made: Callable[[Any], Any]) -> Frames:
        """Return the inputs with other rows or columns of lists, as they were given too."""
        given = dict(self.given)
        if (name := "recommendations") in given:
            given[name] = made(given[name])
        return replace(self, lists=made(self.lists), given=given)

    def without_labels(self) -> Frames:
        """Return the inputs without what the audit alone reads: the columns that may name systems, and times."""
        frames = {"lists": self.lists, "truth": self.truth, "train": self.train}
        unread: dict[str, Any] = {
            name: rows.drop(*self.labels, "time", strict=False)
            for name, rows in frames.items()
            if rows is not None
        }
        return replace(self, **unread)

    def inside(self, *places: Place) -> list[str]:
        """Return the internal names of the segments whose columns are read at some places."""
        return [one.inside for one in self.segments if one.at in places and one.add is None]

    def attach(self, rows: pl.LazyFrame, at: Literal["users", "items"]) -> pl.LazyFrame:
        """Return rows of users or of items with the segments that are properties of these."""
        if not self.segments:
            return rows
        frame, role = (self.users, "user") if at == "users" else (self.items, "item")
        names = self.inside(at)
        if names and frame is not None:
            rows = rows.join(frame.select(role, *names), on=role, how="left")
        for name in self.inside("lists") if at == "users" else ():
            pairs = self.counted("recommendations").select("user", name).drop_nulls().unique()
            own = pairs.group_by("user").agg(pl.col(name).first())
            rows = rows.join(own, on="user", how="left")
        return self.added_to(rows, at)

    def added_to(self, rows: pl.LazyFrame, at: Literal["users", "items"]) -> pl.LazyFrame:
        """Return rows of users or of items with the segments that functions give them."""
        adds = {one.add: None for one in self.segments if (one.at == "items") is (at == "items")}
        for add in adds:
            rows = rows if add is None else add(rows)
        return rows


@cache
def _fails_with_rows(message: str) -> pl.Expr:
    return fails_whole_if(pl.len() > 0, message).alias("check")


def read(
    frame: Any,
    context: Context,
    by: Sequence[str | Made] = (),
    *,
    judged: bool = True,
    labelled: bool = False,
    clashes: dict[str, str] | None = None,
) -> Frames:
    """Check a call's frames against their schemas and return them under their roles' names.

    `judged` says whether it must be known what is relevant; where it need not and is not, no row is judged.

    Columns whose dtypes cannot match raise a ColumnError. Where `clashes` is given they become text, and the error's words
    are written into it, under the names of the columns inside the plan. `labelled` takes the columns that may name systems.
    """
    check_threads()
    sides = sides_of(frame, context)
    main, has_truth = sides["recommendations"], "truth" in sides
    segments = placed(by, sides, context) if by else ()
    if main.rows_are_items and any(segment.inside == "item" for segment in segments):
        raise ColumnError(
            f"{Given('by', 'item')}: the judged frame has no ids of items; name their column: {bind(item=NAMED)}"
        )
    columns = [*segments, *label_columns(main, segments)] if labelled else [*segments]
    timed = _timed(sides, context) if labelled else ()
    given: dict[str, Taken] = {}
    schemas: dict[str, pl.Schema] = {}
    finite: dict[str, Collection[str]] = {}
    for name, side in sides.items():
        roles = roles_of(name, side, judged=judged)
        roles += ["time"] * (name in timed)
        own = columns and [one for one in columns if one.add is None and name in FRAMES_OF[one.at]]
        taken = side.take(roles, own)
        if context.without and "model" in roles:
            taken = without_models(taken, context.without)
        # each row of a truth without a relevance is relevant; of a frame without any nothing is known
        if "relevance" not in roles and name == ("truth" if has_truth else "recommendations"):
            missing = pl.lit(1, pl.Int64) if has_truth else pl.lit(None, pl.Float64)
            taken = taken.with_columns(relevance=missing)
        given[name], schemas[name] = taken, taken.collect_schema()
        finite[name] = side.kind.finite
    check_dtypes(schemas, sides, segments)
    is_ranked = "rank" in schemas["recommendations"]
    if is_ranked and "ties" in context.given and context.ties != "item":
        raise RecframeError(
            f"{Given('ties', context.ties)} orders items of equal scores, but {main.title} has ranks, in column "
            f"{main.context.names['rank']!r}; leave it out, or name the scores: {bind(score=NAMED)}"
        )
    return Frames(
        given=eager(given),
        known=Known.of(given, finite, rows_are_items=main.rows_are_items),
        **_laid(given, schemas, sides, segments, context, clashes),
        sides=sides,
        segments=segments,
        context=context,
    )


def label_columns(main: Side, segments: Sequence[Segment]) -> list[Segment]:
    """Return the unbound columns of the lists whose values may name systems.

    Where these are bound, those that may tell trainings of one apart.
    """
    names = unbound_labels(main, segments)
    if not names:
        return []
    if main.context.model is not None:
        names = [] if main.context.training else [*filter(names_trainings, names)]
    return [Segment(LABEL + name, name, "lists") for name in names]


def _timed(sides: Mapping[str, Side], context: Context) -> set[str]:
    """Return the frames whose times the audit reads: train and truth, where both are there and a time is bound."""
    names = {"train", "truth" if context.truth is not None else "recommendations"}
    timed = {name for name, side in sides.items() if side.context.time is not None}
    return names if names <= timed else set()


def without_models(lists: Taken, models: Sequence[str]) -> Taken:
    """Return lists without those of some models; the null model is none of them."""
    is_one = pl.col("model").cast(pl.String).is_in(models).fill_null(value=False)
    return lists.filter(~is_one)


def _laid(
    given: Mapping[str, Taken],
    schemas: Mapping[str, pl.Schema],
    sides: Mapping[str, Side],
    segments: Sequence[Segment],
    context: Context,
    clashes: dict[str, str] | None = None,
) -> dict[str, Any]:
    """Return frames whose dtypes match as the inputs have them, and the checks of them."""
    frames: dict[str, Any] = {
        **dict.fromkeys(SIDES),
        **_matched(given, schemas, sides, segments, clashes),
    }
    lists, checks = frames.pop("recommendations"), []
    for name, role in DESCRIBES.items():
        if name in given:
            checks.append(_repeated_key(frames[name], name, sides[name].context.names[role]))
    if context.folds is not None:
        checks.append(_unknown_fold(lists, sides["recommendations"], context.folds))
    if isinstance(context.reference, str):
        frames["reference"] = context.reference
        checks.append(_unknown_reference(lists, context, sides["recommendations"].kind.all_users))
    return {**frames, "lists": lists, "checks": tuple(checks)}


def _matched(
    given: Mapping[str, Taken],
    schemas: Mapping[str, pl.Schema],
    sides: Mapping[str, Side],
    segments: Sequence[Segment],
    clashes: dict[str, str] | None,
) -> dict[str, pl.LazyFrame]:
    """Cast the columns that match in value but not in dtype, such as Int32 and Int64, or say that they cannot match."""
    shared = {"user": "the user ids", "item": "the item ids"}
    for one in segments:
        if one.at == "rows":
            shared[one.inside] = f"the values of {one.name!r}"
    dtypes: dict[str, dict[str, pl.DataType]] = {}
    for name, schema in schemas.items():
        for inside in filter(schema.__contains__, shared):
            dtypes.setdefault(inside, {})[name] = schema[inside]
    frames = dict(zip(given, map(methodcaller("lazy"), given.values()), strict=True))
    for inside, of_frames in dtypes.items():
        if len({*of_frames.values()}) == 1 and pl.Null not in of_frames.values():
            continue
        wanted = common(of_frames)
        if wanted is None:
            _tell_clash(inside, shared[inside], of_frames, sides, clashes)
        for name, own in of_frames.items():
            column = pl.col(inside)
            cast = as_text(column, own) if wanted is None else column.cast(wanted)
            frames[name] = frames[name].with_columns(cast.alias(inside))
    return frames


def _tell_clash(
    inside: str,
    title: str,
    dtypes: Mapping[str, pl.DataType],
    sides: Mapping[str, Side],
    clashes: dict[str, str] | None,
) -> None:
    """Raise the error of dtypes that cannot match, or write its words into `clashes`."""
    kinds = {sides[name].title: dtype for name, dtype in dtypes.items() if dtype != pl.Null}
    msg = f"{title} have different dtypes: {in_frames(kinds)}; cast them to one dtype, so that they can match"
    if any(dtype.is_float() for dtype in kinds.values()):
        msg += ". A missing id makes a pandas column Float64: drop the rows without an id and cast to int"
    if clashes is None:
        raise ColumnError(msg)
    clashes[inside] = msg


def _repeated_key(frame: pl.LazyFrame, name: str, column: str) -> pl.LazyFrame:
    """Return a frame of one row that fails when the plan runs, if a user or an item has two rows."""
    role = DESCRIBES[name]
    once = Either(f": {name}.unique({column!r}), or in pandas {name}.drop_duplicates({column!r})")
    message = f"{FrameOf(name)} has {with_article(role)} twice; it takes one row for each{once}"
    keys = frame.filter(pl.col(role).is_not_null())
    key = pl.struct(role, FOLD) if FOLD in frame.collect_schema() else pl.col(role)
    return keys.select(check=fails_whole_if(key.n_unique() < pl.len(), message))


def _unknown_fold(lists: pl.LazyFrame, side: Side, folds: Folds) -> pl.LazyFrame:
    """Return a frame of one row that fails when the plan runs, if a row of the lists is of none of the folds."""
    message = (
        f"column {folds.column!r} of {side.title} has a value that is none of the folds, which are "
        f"{', '.join(map(str, folds.numbers))}"
    )
    wrong = ~pl.col(FOLD).is_in(folds.numbers, nulls_equal=True)
    return lists.select(check=fails_whole_if(wrong.any(), message))


def _unknown_reference(
    lists: pl.LazyFrame, context: Context, all_users: AllUsers | None
) -> pl.LazyFrame:
    """Return a frame of one row that fails when the plan runs, if a reference names no model."""
    models = lists.select("model")
    if all_users is not None:
        models = all_users.adds(models.unique(), ["model"])
    message = (
        f"{Given('reference', context.reference)} names no model: the column {context.names['model']!r} does not have it; "
        f"name one of its models, or give lists as a {A_FRAME}: {bind(reference='reference')}"
    )
    name = as_text(pl.col("model"), lists.collect_schema()["model"])
    missing = ~name.eq_missing(pl.lit(context.reference)).any() & (pl.len() > 0)
    return models.select(check=fails_whole_if(missing, message))


def check_is_one_fold(inputs: Frames) -> None:
    """Reject several folds where one is asked for: rows of different folds are no one list."""
    if inputs.folds is not None:
        raise CallError(
            f"this has no answer over the {len(inputs.folds.numbers)} folds of a split; ask each fold"
            f"{Either(': [fold.rec(lists) for fold in split.folds]')}"
        )
