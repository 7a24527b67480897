"""The frames of one call under the names of their roles, with every check that their schemas allow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, Literal

import polars as pl

from recframe import frames
from recframe.context import ROLES, Context, Sharing
from recframe.errors import ColumnError, RecframeError, fails_if, sentence, suggestion, with_article

IDS = ("user", "item", "model")
READ_AS_GIVEN = ("rank", "score", "propensity")
"""The roles whose numbers are read by what says what a NaN among them is."""
Owner = Literal["role", "row", "recommendations", "truth", "users", "items", "train", "reference"]


@dataclass(frozen=True)
class Segment:
    """One `by` column: its name inside the plan, its name in the result, and whose property it is."""

    inside: str
    name: str
    owner: Owner


@dataclass(frozen=True)
class Inputs:
    """The frames of one call, lazy and under their roles' names: what `judge` and `plan` build on."""

    lists: pl.LazyFrame
    """user, item, rank or score, relevance where it is a judged frame, model where bound, and segments of its rows."""
    truth: pl.LazyFrame | None
    """user, item, relevance and segments of its rows; None where the lists are a judged frame."""
    users: pl.LazyFrame | None
    items: pl.LazyFrame | None
    train: pl.LazyFrame | None
    reference: pl.LazyFrame | str | None
    """user, item and rank or score; or the name of a model."""
    segments: tuple[Segment, ...]
    checks: tuple[pl.LazyFrame, ...]
    context: Context
    pandas_columns: Mapping[str, Any]
    """The columns of pandas frames that segments are made of."""
    labels: Mapping[str, str]
    """Columns of the lists that nothing was bound to and that may name systems: their names inside the plan, and their own."""
    described: Side | None = None
    """The frame of the items with all its columns."""
    complete: frozenset[str] = frozenset()
    """The frames whose every row is known to have a user and an item."""
    given: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """The frames that are eager, by their names."""
    whole: Inputs | None = None
    """The frames that these are a part of the users of."""
    judged: bool = True
    """Whether anything is known of what is relevant."""

    @cached_property
    def schema(self) -> pl.Schema:
        """The columns of the lists and their dtypes."""
        return self.lists.collect_schema()

    @cached_property
    def relevance_dtype(self) -> pl.DataType:
        """The dtype of the relevances."""
        return self.schema["relevance"] if self.truth is None else self.truth.collect_schema()["relevance"]

    def feature(self, of: str, call: str) -> pl.LazyFrame:
        """Return a column of the items frame: item, value; the only one beside the item, where `of` is empty.

        `call` is the metric's name, to show how to name a column.
        """
        taken = frames.with_own_dtype(self._feature(of, call), "value").lazy()
        dtype = self.items.collect_schema()["item"] if self.items is not None else pl.Null
        return taken.with_columns(pl.col("item").cast(dtype)).drop_nulls("item")

    def feature_at_hand(self, of: str, call: str) -> pl.DataFrame | None:
        """Return the same where the frame of the items is eager; nothing of a LazyFrame is collected."""
        return frames.at_hand(self._feature(of, call))

    def _feature(self, of: str, call: str) -> pl.LazyFrame | pl.DataFrame:
        if self.described is None or self.items is None:
            msg = f"{call} needs the items frame"
            raise ColumnError(msg)
        item = self.context.name_of("item")
        others = [name for name in self.described.columns if name != item]
        if (of and of not in others) or (not of and len(others) != 1):
            found = f"{self.described.title} has no column {of!r} beside {item!r}" if of else f"{call} does not know its column"
            shown = next(iter(others), "column")
            msg = f"{sentence(found, suggestion(of, others))} There are {listed(others)}: {call}(of={shown!r})"
            raise ColumnError(msg)
        return self.described.take(["item"], [Segment("value", of or others[0], "items")])

    @property
    def scored(self) -> bool:
        """Whether ranks are made from scores."""
        return "score" in self.schema

    @property
    def tells_ranks_apart(self) -> bool:
        """Whether `ties` says how items of one rank stand: where it was bound; a profile's ties wait for scores.

        NOTE: ties="item" is the default, so that it leaves ranks as they are; of one rank, relevant items alone then follow
        one another by item.
        """
        return not self.scored and self.context.ties != "item" and "ties" in self.context.given

    def with_ties(self, context: Context) -> Context:
        """Return a context with the ties that concern these frames, the default where none do."""
        return context if self.scored or self.under(context).tells_ranks_apart else context.having(ties="item")

    @property
    def sharing(self) -> Sharing | None:
        """How tied items count where `ties` gives them no order; None where each has a rank of its own."""
        ties = self.context.ties
        return ties if ties in {"expected", "last"} and (self.scored or self.tells_ranks_apart) else None

    def identified(self, owner: Literal["recommendations", "truth"], where: pl.Expr | None = None) -> pl.LazyFrame:
        """Return the rows of the lists or of the truth that have a user and an item, those of a condition alone.

        NOTE: with a condition it is a filter of its own, that Polars 2 does not share with the others' scan. What shares a
        scan with a side of a join that has to wait is held in memory meanwhile. Polars 1 would share the scan of all columns.
        """
        rows = self.truth if owner == "truth" and self.truth is not None else self.lists
        conditions = [] if owner in self.complete else [pl.col("user").is_not_null() & pl.col("item").is_not_null()]
        conditions += [] if where is None else [where]
        if frames.IS_POLARS_1:
            for condition in conditions:
                rows = rows.filter(condition)
            return rows
        return rows.filter(pl.all_horizontal(conditions)) if conditions else rows

    def counted(self, owner: Literal["recommendations", "truth"]) -> pl.LazyFrame:
        """Return the rows of the lists or of the truth that are not ignored: of a truth, those with a relevance alone."""
        if owner == "truth" and self.truth is not None:
            return self.identified(owner, where=pl.col("relevance").is_not_null())
        return self.identified(owner)

    def check(self, owner: Literal["recommendations", "truth"], wrong: pl.Expr, message: str) -> pl.LazyFrame:
        """Return a frame of one row that fails when the plan runs, if a row of the lists or of the truth is wrong."""
        if frames.IS_POLARS_1:
            return self.identified(owner).select(check=fails_if(wrong.any(), message))
        return self.identified(owner, where=wrong).select(_fails_with_rows(message))

    def in_two_halves(self, segment: Segment) -> pl.LazyFrame:
        """Return the users of a judged frame who have a value of a segment on some rows and null on others.

        There are none where a user has two values, which makes it a property of the row.
        """
        value = pl.col(segment.inside)
        pairs = self.identified("recommendations").select("user", segment.inside).unique()
        users = pairs.group_by("user").agg(values=value.count(), halves=pl.len())
        values, one_each = pl.col("values"), pl.col("values").max() <= 1
        return users.filter(one_each & (values > 0) & (pl.col("halves") > values)).select("user").sort("user")

    def part(self, number: int, of: int) -> Inputs:
        """Return the rows of one of several parts of the users; together they have every row that has a user."""
        mine = pl.col("user").hash() % of == number
        frames = {name: getattr(self, name) for name in ("lists", "truth", "users")}
        kept: dict[str, Any] = {name: frame.filter(mine) for name, frame in frames.items() if frame is not None}
        return replace(self, **kept, whole=self, checks=self.checks if number == 0 else ())  # they read the whole frames

    @property
    def of_all(self) -> Inputs:
        """The frames with the rows of all users, where these have those of a part."""
        return self if self.whole is None else self.whole

    @property
    def model(self) -> list[str]:
        """The model as a key, where one is bound."""
        return ["model"] * (self.context.model is not None)

    def under(self, context: Context) -> Inputs:
        """Return the same under other policies."""
        return self if context is self.context else replace(self, context=context)

    @property
    def is_reference(self) -> pl.Expr:
        """Whether a row of the lists is of the model that the reference names."""
        return _is_of_model(self.lists, str(self.reference))

    def without_labels(self) -> Inputs:
        """Return the same without the columns that may name systems."""
        return replace(self, lists=self.lists.drop(list(self.labels)), labels={})

    def inside(self, *owners: Owner) -> list[str]:
        """Return the names, inside the plan, of the segments that some owners have."""
        return [segment.inside for segment in self.segments if segment.owner in owners]


@cache
def _fails_with_rows(message: str) -> pl.Expr:
    return fails_if(pl.len() > 0, message).alias("check")


class Side:
    """One frame of the call, and how the messages name it."""

    def __init__(self, title: str, frame: Any, context: Context) -> None:
        frames.check(frame, title)
        self.title, self.frame, self.context = title, frame, context
        self.columns = frames.columns(frame)

    def has(self, role: str) -> bool:
        """Whether the frame has the column of a role."""
        return self.context.name_of(role) in self.columns

    def require(self, role: str, hint: str = "") -> str:
        """Return the role's name, or say that its column is missing."""
        name = self.context.name_of(role)
        if name not in self.columns:
            found = sentence(f"{self.title} has no column {name!r}", suggestion(name, self.columns))
            hint = self.index_hint(name) or self._flattening or hint or f"Name the column of the {role}: rec({role}='...')"
            msg = f"{found} It has {listed(self.columns)}. {hint}"
            raise ColumnError(msg)
        return name

    def index_hint(self, name: str) -> str:
        """Return how the index of a pandas frame becomes columns, where it has a name that no column has."""
        names = frames.index_names(self.frame)
        if name not in names:
            return ""
        call = f"reset_index({name!r})" if set(names) & set(self.columns) else "reset_index()"
        return f"Its index has that name: write frame.{call}, which makes a column of it"

    @property
    def _flattening(self) -> str:
        """Return how columns of several levels, as pandas has them, get a name each."""
        if not any(isinstance(name, tuple) for name in self.columns):
            return ""
        return "Name each column by a text before: frame.columns = ['_'.join(map(str, names)) for names in frame.columns]"

    def take(self, roles: Iterable[str], segments: Iterable[Segment] = ()) -> pl.LazyFrame | pl.DataFrame:
        """Return the columns of roles and segments, under their names inside the plan."""
        named = {role: self.require(role) for role in roles} | {one.inside: one.name for one in segments}
        return frames.take(self.frame, named, IDS, READ_AS_GIVEN)


def listed(names: Iterable[str], most: int = 20) -> str:
    """Return names as a short list."""
    names = [repr(name) for name in names]
    return (", ".join(names[:most]) or "no columns") + (f" and {len(names) - most} more" if len(names) > most else "")


def read(
    frame: Any,
    context: Context,
    by: Sequence[str] = (),
    *,
    judged: bool = True,
    labelled: bool = False,
    clashes: dict[str, str] | None = None,
) -> Inputs:
    """Check a call's frames against their schemas and return them under their roles' names.

    `judged` says whether it must be known what is relevant; where it need not and is not, no row is judged.

    Columns whose dtypes cannot match raise a ColumnError. Where `clashes` is given they become text, and the error's words
    are written into it, under the names of the columns inside the plan. `labelled` takes the columns that may name systems.
    """
    sides = _sides(frame, context)
    described = {name: side for name, side in sides.items() if name not in {"train", "reference"}}
    segments = _segments(by, described, context)
    labels = _labels(sides["recommendations"], segments) if labelled and context.model is None else []
    columns = [*segments, *labels]
    given = {name: side.take(_roles(name, side, judged=judged), _of(columns, name)) for name, side in sides.items()}
    taken = {name: rows.lazy() for name, rows in given.items()}
    _fill_relevance(taken, given)
    schemas = {name: rows.collect_schema() for name, rows in taken.items()}
    _check_dtypes(schemas, sides)
    taken = _matched(taken, schemas, sides, segments, clashes)
    came_from = {one.name: frames.in_pandas(_holder(one, sides).frame, one.name) for one in segments}
    if context.model is not None:  # it is the first `by` column, asked for or not
        came_from[context.model] = frames.in_pandas(frame, context.model)
    return Inputs(
        lists=taken["recommendations"],
        truth=taken.get("truth"),
        users=taken.get("users"),
        items=taken.get("items"),
        train=taken.get("train"),
        reference=context.reference if isinstance(context.reference, str) else taken.get("reference"),
        described=sides.get("items"),
        segments=segments,
        checks=_repeated_keys(taken, context) + _unknown_reference(taken["recommendations"], context),
        context=context,
        pandas_columns=came_from,
        labels={label.inside: label.name for label in labels},
        complete=_complete(given),
        given=frames.eager(given),
        judged="truth" in given or "relevance" in frames.columns(given["recommendations"]),
    )


def _complete(given: Mapping[str, Any]) -> frozenset[str]:
    """Return which of the frames of lists and of the truth are known to have all their ids."""
    named = (name for name in ("recommendations", "truth") if name in given)
    return frozenset(name for name in named if frames.is_complete(given[name], ["user", "item"]))


def _fill_relevance(taken: dict[str, pl.LazyFrame], given: Mapping[str, Any]) -> None:
    """Give every row of a truth without a relevance 1, and of a frame of which nothing is known none."""
    main, missing = ("truth", pl.lit(1, dtype=pl.Int64)) if "truth" in taken else ("recommendations", pl.lit(None, pl.Float64))
    if "relevance" not in frames.columns(given[main]):
        taken[main] = taken[main].with_columns(relevance=missing)


def _sides(frame: Any, context: Context) -> dict[str, Side]:
    """Return every frame of the call."""
    title = "the judged frame" if context.truth is None else "the frame of recommendations"
    given = {name: getattr(context, name) for name in ("truth", "users", "items", "train", "reference")}
    if isinstance(context.reference, str):
        if context.model is None:
            msg = f"reference={context.reference!r} names a model, but no column of models is bound: rec(model='...')"
            raise RecframeError(msg)
        del given["reference"]
    sides = {name: Side(f"the frame {name}=", side, context) for name, side in given.items() if side is not None}
    return {"recommendations": Side(title, frame, context)} | sides


def _roles(name: str, side: Side, *, judged: bool) -> list[str]:
    """Return the roles that are taken from a side."""
    context = side.context
    propensity = ["propensity"] * (context.propensity is not None)
    if name in {"users", "items"}:
        return [name.removesuffix("s")]
    if name == "train":
        return ["user", "item"]
    if name == "truth":
        return ["user", "item"] + ["relevance"] * (side.has("relevance") or context.relevance is not None) + propensity
    if name == "reference":  # it may have ranks where the lists have scores
        return ["user", "item", "rank" if side.has("rank") and not side.has("score") else _order(side)]
    roles = ["user", "item", _order(side)]
    roles += ["model"] * (context.model is not None)
    if context.truth is None and (judged or side.has("relevance")):
        side.require("relevance", "Name the column: rec(relevance='...'), or give the truth as a frame: rec(truth=truth)")
        roles.append("relevance")
    return roles + (propensity if context.truth is None else [])


def _labels(main: Side, segments: Sequence[Segment]) -> list[Segment]:
    """Return the columns of the lists that nothing is bound to and whose values may be the names of systems."""
    bound = {main.context.name_of(role) for role in ROLES if role != "model"} | {segment.name for segment in segments}
    names = [name for name in frames.labels(main.frame) if name not in bound]
    return [Segment(f"label {number}", name, "recommendations") for number, name in enumerate(names)]


def _order(side: Side) -> Literal["rank", "score"]:
    """Return whether ranks are given or come from scores; a score that is bound by name goes before an unbound rank."""
    context = side.context
    # What judge() returns has ranks and no score, whichever of them was bound.
    scored = context.score is not None and (context.truth is not None or side.has("score") or not side.has("rank"))
    if context.rank is None and (scored or (side.has("score") and not side.has("rank"))):
        side.require("score")
        return "score"
    side.require("rank", "Name the column of the ranks or of the scores: rec(rank='...') or rec(score='...')")
    return "rank"


def _of(segments: Sequence[Segment], name: str) -> list[Segment]:
    """Return the segments whose columns are taken from a side."""
    owners = {name, "row"} if name in {"recommendations", "truth"} else {name}
    return [one for one in segments if one.owner in owners]


def _segments(by: Iterable[str], sides: Mapping[str, Side], context: Context) -> tuple[Segment, ...]:
    """Return the `by` columns, each once: a role and the column that is bound to it are the same."""
    found = [_segment(number, name, sides, context) for number, name in enumerate(by)]
    return tuple({one.name: one for one in found}.values())


def _segment(number: int, name: str, sides: Mapping[str, Side], context: Context) -> Segment:
    """Find out whose property a `by` column is."""
    for role in ("user", "item", "model"):
        if name in {role, context.name_of(role)} and (role != "model" or context.model is not None):
            return Segment(role, context.name_of(role), "role")
    holders = [owner for owner, side in sides.items() if name in side.columns]
    if not holders:
        known = dict.fromkeys(column for side in sides.values() for column in side.columns)
        where = ", ".join(side.title for side in sides.values())
        found = sentence(f"by={name!r} is not a column of {where}", suggestion(name, known))
        msg = f"{found} There are {listed(known)}. {_hint_of_by(name, sides)}"
        raise ColumnError(msg.removesuffix(". "))
    judged = {"recommendations", "truth"}
    if len(holders) > 1 and not set(holders) <= judged:
        found = " and ".join(sides[owner].title for owner in holders)
        msg = f"by={name!r} is a column of {found}; drop or rename it in all but one of them"
        raise ColumnError(msg)
    alone = context.truth is None and holders == ["recommendations"]
    owner: Any = "row" if alone or set(holders) == judged else holders[0]
    return Segment(f"segment {number}", name, owner)


def _hint_of_by(name: str, sides: Mapping[str, Side]) -> str:
    """Return where a `by` column that no frame has may be, or come from."""
    for side in sides.values():
        if hint := side.index_hint(name):
            return hint.replace("Its index", f"The index of {side.title}")
    calls = {"users": "if it describes users, rec(users=users)", "items": "if it describes items, rec(items=items)"}
    missing = [call for owner, call in calls.items() if owner not in sides]
    return f"Give the frame that has it: {'; '.join(missing)}" if missing else ""


def _holder(segment: Segment, sides: Mapping[str, Side]) -> Side:
    return sides[segment.owner] if segment.owner in sides else sides["recommendations"]


def _check_dtypes(schemas: Mapping[str, pl.Schema], sides: Mapping[str, Side]) -> None:
    wanted = {"rank": "a number from 1 up", "score": "a number", "relevance": "a number or Boolean"}
    wanted["propensity"] = "a number above 0"
    for name, schema in schemas.items():
        for role in [*IDS, *wanted]:
            dtype = schema.get(role, pl.Null())
            column = f"column {sides[name].context.name_of(role)!r} of {sides[name].title}"
            number = dtype.is_numeric() or dtype == pl.Null or (role == "relevance" and dtype == pl.Boolean)
            if role in wanted and not number:
                msg = f"{column} is {dtype}; a {role} is {wanted[role]}: cast the column before"
                raise ColumnError(msg)
            if role in IDS and dtype == pl.Object:
                msg = f"{column} holds Python objects, which no frame can join; cast it to text"
                raise ColumnError(msg)


def _matched(
    taken: Mapping[str, pl.LazyFrame],
    schemas: Mapping[str, pl.Schema],
    sides: Mapping[str, Side],
    segments: Iterable[Segment],
    clashes: dict[str, str] | None,
) -> dict[str, pl.LazyFrame]:
    """Cast the columns that match in value but not in dtype, such as Int32 and Int64, or say that they cannot match."""
    result = dict(taken)
    shared = {"user": "the user ids", "item": "the item ids"}
    shared |= {one.inside: f"the values of {one.name!r}" for one in segments if one.owner == "row"}
    for inside, title in shared.items():
        dtypes = {name: schema[inside] for name, schema in schemas.items() if inside in schema}
        dtype = _common(dtypes)
        if dtype is None:
            found = _clash(dtypes, title, sides)
            if clashes is None:
                raise ColumnError(found)
            clashes[inside] = found
        for name, found_dtype in dtypes.items():
            if dtype is None or found_dtype != dtype:
                column = pl.col(inside)
                cast = as_text(column, found_dtype) if dtype is None else column.cast(dtype)
                result[name] = result[name].with_columns(cast.alias(inside))
    return result


def as_text(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return values of any dtype as text, whole numbers without a point."""
    if dtype.is_float():
        whole = column.cast(pl.Int64, strict=False)
        return pl.when(whole.cast(dtype) == column).then(whole.cast(pl.String)).otherwise(column.cast(pl.String))
    if dtype == pl.Binary:
        return column.bin.encode("hex")
    if dtype == pl.Struct:
        return column.struct.json_encode()
    if dtype == pl.Duration:
        return column.dt.to_string("iso")
    return column.hash().cast(pl.String) if dtype.is_nested() else column.cast(pl.String)


def _common(dtypes: Mapping[str, pl.DataType]) -> pl.DataType | None:
    """Return the dtype in which columns match in value, if there is one."""
    found = list(dict.fromkeys(dtype for dtype in dtypes.values() if dtype != pl.Null))
    if len(found) <= 1:
        return found[0] if found else pl.Int64()
    if all(dtype.is_integer() for dtype in found):
        signed = any(dtype.is_signed_integer() for dtype in found)
        widest = next((dtype for dtype in found if str(dtype) == "UInt128"), pl.UInt64())  # which Polars 1 does not have
        wide = any(dtype in (pl.UInt64, pl.Int128, widest) for dtype in found)
        return (pl.Int128() if wide else pl.Int64()) if signed else widest
    if all(dtype in (pl.String, pl.Categorical, pl.Enum) for dtype in found):  # a tuple: an Enum's hash is not that of pl.Enum
        return pl.String()
    return None


def _clash(dtypes: Mapping[str, pl.DataType], title: str, sides: Mapping[str, Side]) -> str:
    kinds = {name: dtype for name, dtype in dtypes.items() if dtype != pl.Null}
    shown = ", ".join(f"{dtype} in {sides[name].title}" for name, dtype in kinds.items())
    msg = f"{title} have different dtypes: {shown}; cast them to one dtype, so that they can match"
    if any(dtype.is_float() for dtype in kinds.values()):
        msg += ". A missing id makes a pandas column Float64: drop the rows without an id and cast to int"
    return msg


def _repeated_keys(taken: Mapping[str, pl.LazyFrame], context: Context) -> tuple[pl.LazyFrame, ...]:
    sides = {"users": "user", "items": "item"}
    return tuple(_repeated_key(taken[name], name, context.name_of(role)) for name, role in sides.items() if name in taken)


def _repeated_key(frame: pl.LazyFrame, name: str, column: str) -> pl.LazyFrame:
    role = name.removesuffix("s")
    once = f"{name}.unique({column!r}), or in pandas {name}.drop_duplicates({column!r})"
    message = f"the frame {name}= has {with_article(role)} twice; it takes one row for each: {once}"
    keys = frame.filter(pl.col(role).is_not_null())
    return keys.select(check=fails_if(pl.col(role).n_unique() < pl.len(), message))


def _is_of_model(lists: pl.LazyFrame, name: str) -> pl.Expr:
    return (as_text(pl.col("model"), lists.collect_schema()["model"]) == pl.lit(name)).fill_null(value=False)


def _unknown_reference(lists: pl.LazyFrame, context: Context) -> tuple[pl.LazyFrame, ...]:
    if not isinstance(context.reference, str):
        return ()
    message = (
        f"reference={context.reference!r} names no model: the column {context.name_of('model')!r} does not have it; "
        "name one of its models, or give lists as a frame: rec(reference=reference)"
    )
    missing = ~_is_of_model(lists, context.reference).any() & (pl.len() > 0)
    return (lists.select(check=fails_if(missing, message)),)
