"""Roles of columns, and the frames of a call that have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal, Protocol

import polars as pl

from recframe.errors import (
    ColumnError,
    RecframeError,
    dtype_shown,
    folded,
    sentence,
    suggestion,
)
from recframe.frames.by_expressions import ROOT, Made, with_made
from recframe.frames.dtypes import is_time
from recframe.frames.hints import A_FRAME, NAMED, ROLES, Either, FrameOf, Given, SideFrame, bind
from recframe.frames.kinds.kind import Taken, kind_for
from recframe.frames.options import FOLD, OF_LISTS, SIDES, Context, NamedFrame

IDS = ("user", "item", "model", "training")
DESCRIBES = {"users": "user", "items": "item"}
"""Frames with one row per id, and the role of the id."""
JUDGED = {"recommendations", "truth"}
ROLES_OF_ALL = tuple(role for role in ROLES if role not in OF_LISTS)
"""The roles of columns that a name always means."""
TRAININGS = {"seed", "seeds", "random_seed", "seed_id", "random_state", "training", "training_id"}
TRAININGS |= {"trial", "replicate", "repetition"}
"""Names of columns that identify trainings of one model."""
SCORES = {"rating", "ratings", "estimate", "estimatedrating", "predictedrating", "similarity"}
SCORES |= {"prediction", "predictions", "pred", "preds", "probability", "prob", "proba"}
SCORES |= {"logit", "logits", "confidence"}
"""Names of columns that order items, the highest first."""
IN_ORDER = Either(
    "; if the rows of each user are in order, number them: frame.with_columns(rank=pl.int_range(1, pl.len() + 1)"
    ".over('user')) in Polars, frame.groupby('user').cumcount() + 1 in pandas"
)
READ_AS_GIVEN = ("rank", "score", "propensity")
"""Numeric roles whose NaN is kept, since the reader interprets it."""
NUMBERS = {
    "rank": "a number from 1 up",
    "score": "a number",
    "relevance": "a number or Boolean",
    "propensity": "a number above 0",
    "weight": "a number from 0 up",
    FOLD: "a whole number",
}
"""The roles of numbers, and the numbers that they take."""
PARSED = "parse it first: pl.col({0!r}).str.to_datetime() in Polars, pd.to_datetime(frame[{0!r}]) in pandas"


class Named(Protocol):
    """Column that has another name inside the plan, such as a segment."""

    @property
    def inside(self) -> str:
        """The name inside the plan."""

    @property
    def name(self) -> str:
        """The own name."""

    @property
    def made(self) -> Made | None:
        """Expression that makes the column; None for a plain column."""


class Side:
    """One frame of the call, with its name in messages."""

    def __init__(self, title: object, frame: Any, context: Context, option: str = "") -> None:
        self.names: Mapping[str, Any] = {}
        self.option, self.bound, self._title = option, context, title
        if isinstance(frame, NamedFrame):
            self.names, frame = frame.names, frame.frame
            context = context.bind(self.names)
        self.context = context
        self.kind = kind_for(frame, title)
        self.columns = self.kind.columns
        for role, own in self.names.items():
            if isinstance(own, str):
                self.require(role)

    @property
    def title(self) -> str:
        """The name of the frame in messages."""
        return str(self._title)

    def has(self, role: str) -> bool:
        """Whether the frame has the column of a role."""
        return self.context.names[role] in self.columns

    @cached_property
    def rows_are_items(self) -> bool:
        """Whether each row of a judged frame is an item of its own: it has no ids of items, and nothing else of the call does.

        NOTE: rows of learning to rank have none. Models that are compared on one truth are told apart by ids of items.
        """
        names, bound = self.context.names, self.context
        others = (bound.item, bound.model, bound.truth, bound.items, bound.train, bound.reference)
        if names["item"] in self.columns or any(other is not None for other in others):
            return False
        is_judged = self.has("user") and self.has("relevance")
        return is_judged and not suggestion("item", self.columns) and not self.index_hint("item")

    def root(self, name: str) -> str | None:
        """Return the column that an expression means by a name, that of a role or one of this name; None without one."""
        role = role_named(name, self.bound)
        column = name if role is None else self.context.names[role]
        return column if column in self.columns else None

    def require(self, role: str, hint: str = "") -> str:
        """Return the role's name, or raise an error for its missing column."""
        name = self.context.names[role]
        if name in self.columns:
            return name
        found = sentence(f"{self.title} has no column {name!r}", suggestion(name, self.columns))
        own = f"Name the column: rf.frame(..., {role}={NAMED})" if role in self.names else ""
        hint = self.index_hint(name) or self._flattening or own or hint or self._hint(role)
        raise ColumnError(f"{found} It has {listed(self.columns)}. {hint}")

    def _hint(self, role: str) -> str:
        """Return how the column of a role is named."""
        is_judged = self.context.truth is None and not self.option
        if role == "rank":
            scores = [name for name in map(str, self.columns) if folded(name) in SCORES]
            if scores:
                return f"If {scores[0]!r} orders the lists, the highest first: {bind(score=repr(scores[0]))}"
            return f"Name the column of the ranks or of the scores: {bind(rank=NAMED)} or {bind(score=NAMED)}{IN_ORDER}"
        if role == "relevance" and is_judged:
            as_frame = Either("as a frame: rec(truth=truth)", "as a second file")
            return f"Name the column: {bind(relevance=NAMED)}, or give the truth {as_frame}"
        if role == FOLD:
            return "A split of several folds needs to know of each row which fold it is of"
        of_models = self.context.truth is None and self.context.model is not None
        if role == "item" and of_models and not suggestion("item", self.columns):
            return f"Models are compared by item ids of one truth; name their column: {bind(item=NAMED)}"
        alone = f", or of this frame alone: {self.option}=rf.frame({self.option}, {role}={NAMED})"
        of_this = str(Either(alone)) if self.option else ""
        return f"Name the column of the {role}: {bind(**{role: NAMED})}{of_this}"

    def index_hint(self, name: str) -> str:
        """Return how the index of a pandas frame becomes columns, where it has a name that no column has."""
        names = self.kind.index_names
        if name not in names:
            return ""
        call = f"reset_index({name!r})" if set(names) & set(self.columns) else "reset_index()"
        return f"Its index has that name: write frame.{call}, which makes a column of it"

    @property
    def _flattening(self) -> str:
        """Return how columns of several levels, as pandas has them, get a name each."""
        if not any(isinstance(name, tuple) for name in self.columns):
            return ""
        return "Name each column by a text first: frame.columns = ['_'.join(map(str, names)) for names in frame.columns]"

    def take(self, roles: Iterable[str], segments: Sequence[Named] = ()) -> Taken:
        """Return the columns of roles and segments, under their names inside the plan.

        Without a relevance that is read each judged row has 1, and of a frame whose rows are items each has its number.
        """
        roles = [*roles]
        numbered = "item" in roles and self.rows_are_items
        named: dict[str, str] = {}
        made: dict[str, Made] = {}
        read: dict[str, str] = {}
        for role in roles:
            if not (numbered and role == "item"):
                name = self.context.names[role]
                named[role] = name if name in self.columns else self.require(role)
        for one in segments:
            if one.made is None:
                named[one.inside] = one.name
            else:
                made[one.inside] = one.made
                read |= {ROOT + root: self.root(root) or root for root in one.made.roots}
        taken = self.kind.take(named | read, IDS, READ_AS_GIVEN)
        if self.context.relevance is False and "relevance" in named:
            judged = pl.col("relevance").is_not_null()
            taken = taken.with_columns(relevance=pl.when(judged).then(pl.lit(1, pl.Int64)))
        if made:
            taken = with_made(taken, list(named), made, self.title)
        elif segments:  # 0 and -0.0 are one segment
            schema = taken.collect_schema()
            floats = [one.inside for one in segments if schema[one.inside].is_float()]
            taken = taken.with_columns(pl.col(floats) + 0.0) if floats else taken
        return taken.with_row_index("item") if numbered else taken


def listed(names: Iterable[str], most: int = 20) -> str:
    """Return names as a short list."""
    names = [repr(name) for name in names]
    return (", ".join(names[:most]) or "no columns") + (
        f" and {len(names) - most} more" if len(names) > most else ""
    )


def sides_of(frame: Any, context: Context) -> dict[str, Side]:
    """Return every frame of the call."""
    if context.weight is not None and context.users is None:
        call = bind(users="users", weight=repr(context.weight))
        raise ColumnError(
            f"{Given('weight', context.weight)} names a column of {SideFrame('users')}, which is missing: {call}"
        )
    title = FrameOf("judged" if context.truth is None else "recommendations")
    sides = {"recommendations": Side(title, frame, context)}
    for name in SIDES:
        side = getattr(context, name)
        if name == "reference" and isinstance(side, str):
            _check_named_reference(side, context)
        elif side is not None:
            sides[name] = Side(FrameOf(name), side, context, name)
    return sides


def _check_named_reference(reference: str, context: Context) -> None:
    """Say that a reference names a model, where there are none, or several lists of each."""
    named = Given("reference", reference)
    if context.model is None:
        raise RecframeError(
            f"{named} names a model, but no column of models is bound: {bind(model=NAMED)}"
        )
    if context.training is not None:
        raise RecframeError(
            f"{named} names a model with several lists for each user, by {Given('training', context.training)}; give the "
            f"lists of one training as a {A_FRAME}"
        )


def roles_of(name: str, side: Side, *, judged: bool) -> list[str]:
    """Return the roles that are taken from a side."""
    context = side.context
    if name in DESCRIBES:
        has_weight = name == "users" and context.weight is not None
        return [DESCRIBES[name], *["weight"] * has_weight, *fold_of(name, side)]
    roles = ["user", "item"]
    if name == "reference":  # it may have ranks where the lists have scores
        roles.append("rank" if side.has("rank") and not side.has("score") else order_of(side))
    if name == "recommendations":
        roles += [order_of(side), *context.of_lists]
    if name == ("recommendations" if context.truth is None else "truth"):
        is_graded = has_relevance(side) if name == "truth" else judged or side.has("relevance")
        roles += ["relevance"] * is_graded + ["propensity"] * (context.propensity is not None)
    return roles if context.folds is None else roles + fold_of(name, side)


def fold_of(name: str, side: Side) -> list[str]:
    """Return the role of folds, where a split has bound them and a side has them; lists and truth must."""
    if side.context.folds is None or not (name in JUDGED or side.has(FOLD)):
        return []
    return [FOLD]


def check_dtypes(
    schemas: Mapping[str, pl.Schema], sides: Mapping[str, Side], segments: Sequence[Named] = ()
) -> None:
    """Reject columns whose dtype does not suit their role, or a segment."""
    by = dict(map(attrgetter("inside", "name"), segments))
    read = {*IDS, *NUMBERS, *by}
    for name, schema in schemas.items():
        titles = by | sides[name].context.names
        for inside, dtype in schema.items():
            if dtype.is_numeric() or dtype == pl.Null or inside not in read:
                continue
            # a tuple: their hashes are not those of pl.List
            is_nested = inside in IDS and dtype in (pl.List, pl.Array)
            is_number = inside == "relevance" and dtype == pl.Boolean
            if is_number or not (inside in NUMBERS or is_nested or dtype == pl.Object):
                continue
            column = f"column {titles[inside]!r} of {sides[name].title}"
            if is_nested:
                raise ColumnError(_nested(column, dtype, titles[inside], name))
            if inside in NUMBERS:
                cast = Either(": cast the column first", "; make it one in the file")
                raise ColumnError(
                    f"{column} is {dtype_shown(dtype)}; a {inside} is {NUMBERS[inside]}{cast}"
                )
            raise ColumnError(
                f"{column} holds Python objects, which no frame can join or group; cast it to text"
            )


def _nested(column: str, dtype: pl.DataType, role_name: str, side: str) -> str:
    """Return the advice to turn rows with many ids into one row per id."""
    is_of_lists = side == "recommendations"
    call = f"{'recs' if is_of_lists else side}.explode({role_name!r})"
    msg = f"{column} is {dtype_shown(dtype)}, but a row has one id; give each id a row: {call}"
    if is_of_lists:
        counted = f"{call}.with_columns(rank=pl.int_range(1, pl.len() + 1).over('user'))"
        msg = f"{msg}, and where the lists are in order, with their ranks: {counted}"
    return msg


def check_time(dtype: pl.DataType | None, side: Side) -> None:
    """Reject a column of times that is neither of dates nor of numbers."""
    if dtype is None or dtype == pl.Null or is_time(dtype):
        return
    name = side.context.names["time"]
    msg = f"column {name!r} of {side.title} is {dtype_shown(dtype)}; a time is a date, a datetime or a number"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        msg = f"{msg}; {PARSED.format(name)}"
    raise ColumnError(msg)


def has_relevance(truth: Side) -> bool:
    """Whether a truth has a relevance that counts, or say that there is none that a threshold could be of."""
    context = truth.context
    if context.relevance is not False and (context.relevance or truth.has("relevance")):
        return True
    if context.min_relevance not in {None, "any"}:
        raise ColumnError(
            f"{Given('min_relevance', context.min_relevance)}: {truth.title} has no relevance, so each of its rows counts 1; "
            f"name the column of the grades, {bind(relevance=NAMED)}, or leave the threshold out. It has "
            f"{listed(truth.columns)}"
        )
    return False


def names_trainings(name: str) -> bool:
    """Return whether a column's name is one of trainings: `seed`, `random_seed`, `training`."""
    return str(name).casefold().replace("-", "_").replace(" ", "_") in TRAININGS


def unbound_labels(main: Side, segments: Sequence[Named]) -> list[str]:
    """Return the names of unbound columns of the lists whose values may be labels."""
    context = main.context
    bound = map(context.names.__getitem__, (*ROLES_OF_ALL, *context.of_lists))
    unbound = {*main.columns}.difference(bound, map(attrgetter("name"), segments))
    return [name for name in main.kind.labels() if name in unbound] if unbound else []


def order_of(side: Side) -> Literal["rank", "score"]:
    """Return whether the order is given by ranks or scores; a bound score precedes an unbound rank."""
    context = side.context
    # What judge() returns has ranks and no score, whichever of them was bound.
    scored = context.score is not None and (
        context.truth is not None or side.has("score") or not side.has("rank")
    )
    if context.rank is None and (scored or (side.has("score") and not side.has("rank"))):
        return "score"
    return "rank"


def role_named(name: str, context: Context) -> str | None:
    """Return the role of ids, models or trainings that a name means: its own, or that of the column that is bound to it."""
    roles = ["user", "item", *context.of_lists, *[FOLD] * (context.folds is not None)]
    return next((role for role in roles if name in {role, context.names[role]}), None)
