"""Roles of columns, and the frames that `by` columns describe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Literal, cast

import polars as pl

from recframe.errors import (
    ColumnError,
    NeedsAllUsersError,
    RecframeError,
    folded,
    sentence,
    suggestion,
)
from recframe.frames.by_expressions import ROOT, Made, with_made
from recframe.frames.hints import A_FRAME, NAMED, ROLES, Either, FrameOf, Given, SideFrame, bind
from recframe.frames.kinds.kind import Taken
from recframe.frames.kinds.lookup import kind_for
from recframe.frames.options import FOLD, SIDES, Context, NamedFrame

IDS = ("user", "item", "model", "training")
DESCRIBES = {"users": "user", "items": "item"}
"""Frames with one row per id, and the role of the id."""
JUDGED = {"recommendations", "truth"}
OF_LISTS = ("model", "training")
"""Roles that distinguish lists of one user; only in lists, and only if bound."""
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
# NOTE: "user id" and "item id" are made of an id by an expression. "user" and "constant" are nobody's frames: a segment that
# was found to be a property of the user, and one that cuts lists and truth into parts, of which each user was found to have
# one; see `described`.
Owner = Literal[
    "role",
    "row",
    "recommendations",
    "truth",
    "user",
    "constant",
    "users",
    "items",
    "train",
    "reference",
    "draw",
    "user id",
    "item id",
]
OF_IDS: dict[str, Owner] = {"user": "user id", "item": "item id"}


@dataclass(frozen=True)
class Segment:
    """One `by` column: internal name, result name, owner."""

    inside: str
    name: str
    owner: Owner
    made: Made | None = None
    """Expression that makes the column; None for a plain column."""


class Side:
    """One frame of the call, with its name in messages."""

    def __init__(self, title: str, frame: Any, context: Context, option: str = "") -> None:
        self.names: Mapping[str, Any] = {}
        self.option = option
        if isinstance(frame, NamedFrame):
            self.names, frame = frame.names, frame.frame
        self.bound = context
        self.title, self.context = title, context.bind(self.names) if self.names else context
        self.kind = kind_for(frame, title)
        self.columns = self.kind.columns
        for role, own in self.names.items():
            if isinstance(own, str):
                self.require(role)

    def has(self, role: str) -> bool:
        """Whether the frame has the column of a role."""
        return self.context.names[role] in self.columns

    @cached_property
    def rows_are_items(self) -> bool:
        """Whether each row of a judged frame is an item of its own: it has no ids of items, and nothing else of the call does.

        NOTE: rows of learning to rank have none. Models that are held against one truth are told apart by ids of items.
        """
        context = self.context
        others = (context.truth, context.items, context.train, context.reference, context.model)
        if (
            self.has("item")
            or context.item is not None
            or any(other is not None for other in others)
        ):
            return False
        if not (self.has("user") and self.has("relevance")):
            return False
        return not suggestion("item", self.columns) and not self.index_hint("item")

    def own_role(self, name: str) -> str | None:
        """Return whose ids a column has that bears a name of this frame's own."""
        return next((role for role in ("user", "item") if self.names.get(role) == name), None)

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
        msg = f"{found} It has {listed(self.columns)}. {hint}"
        raise ColumnError(msg)

    def _hint(self, role: str) -> str:
        """Return how the column of a role is named."""
        is_judged = self.context.truth is None and not self.option
        if role == "rank":
            scores = [name for name in map(str, self.columns) if folded(name) in SCORES]
            if scores:
                return f"If {scores[0]!r} orders the lists, the highest first: {bind(score=repr(scores[0]))}"
            either = f"{bind(rank=NAMED)} or {bind(score=NAMED)}"
            return f"Name the column of the ranks or of the scores: {either}{IN_ORDER}"
        if role == "relevance" and is_judged:
            as_frame = Either("as a frame: rec(truth=truth)", "as a second file")
            return f"Name the column: {bind(relevance=NAMED)}, or give the truth {as_frame}"
        if role == FOLD:
            return "A split of several folds needs to know of each row which fold it is of"
        of_models = self.context.truth is None and self.context.model is not None
        if role == "item" and of_models and not suggestion("item", self.columns):
            told = "Models are compared by item ids of one truth; name their column"
            return f"{told}: {bind(item=NAMED)}"
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

    def take(self, roles: Iterable[str], segments: Iterable[Segment] = ()) -> Taken:
        """Return the columns of roles and segments, under their names inside the plan."""
        segments, roles = list(segments), list(roles)
        if "item" in roles and self.rows_are_items:
            roles.remove("item")
            return self.take(roles, segments).with_row_index("item")
        named = {role: self.require(role) for role in roles}
        made = {}
        for segment in segments:
            if segment.made is None:
                named[segment.inside] = segment.name
            else:
                made[segment.inside] = segment.made
        if not made:
            return _with_one_zero(self._read(named), segments)
        roots = chain.from_iterable(one.roots for one in made.values())
        read = {ROOT + root: self.root(root) or root for root in roots}
        taken = self._read(named | read)
        return with_made(taken, list(named), made, self.title)

    def _read(self, named: Mapping[str, str]) -> Taken:
        """Return columns under their names inside the plan; where no relevance is to be read, each judged row has 1."""
        taken = self.kind.take(named, IDS, READ_AS_GIVEN)
        if "relevance" not in named or self.context.relevance is not False:
            return taken
        judged = pl.col("relevance").is_not_null()
        return taken.with_columns(relevance=pl.when(judged).then(pl.lit(1, pl.Int64)))


def _with_one_zero(taken: Taken, segments: Sequence[Segment]) -> Taken:
    """Return a frame whose columns of segments have 0 for -0.0."""
    if not segments:
        return taken
    schema = taken.collect_schema()
    floats = [segment.inside for segment in segments if schema[segment.inside].is_float()]
    return taken.with_columns(pl.col(floats) + 0.0) if floats else taken


def listed(names: Iterable[str], most: int = 20) -> str:
    """Return names as a short list."""
    names = [repr(name) for name in names]
    return (", ".join(names[:most]) or "no columns") + (
        f" and {len(names) - most} more" if len(names) > most else ""
    )


def sides_of(frame: Any, context: Context) -> dict[str, Side]:
    """Return every frame of the call."""
    _check_weight(context)
    reference = context.reference
    if isinstance(reference, str):
        _check_named_reference(reference, context)
    title = str(FrameOf("judged" if context.truth is None else "recommendations"))
    sides = {"recommendations": Side(title, frame, context)}
    for name in SIDES:
        side = getattr(context, name)
        if side is not None and not (name == "reference" and isinstance(side, str)):
            sides[name] = Side(str(FrameOf(name)), side, context, name)
    return sides


def _check_named_reference(reference: str, context: Context) -> None:
    """Say that a reference names a model, where there are none, or several lists of each."""
    named = Given("reference", reference)
    if context.model is None:
        msg = f"{named} names a model, but no column of models is bound: {bind(model=NAMED)}"
        raise RecframeError(msg)
    if context.training is not None:
        several = Given("training", context.training)
        msg = (
            f"{named} names a model with several lists for each user, by {several}; give the lists of one training as a "
            f"{A_FRAME}"
        )
        raise RecframeError(msg)


def _check_weight(context: Context) -> None:
    """Reject weights without a users frame."""
    if context.weight is not None and context.users is None:
        call = bind(users="users", weight=repr(context.weight))
        msg = f"{Given('weight', context.weight)} names a column of {SideFrame('users')}, which is missing: {call}"
        raise ColumnError(msg)


def roles_of(name: str, side: Side, *, judged: bool) -> list[str]:
    """Return the roles that are taken from a side."""
    context = side.context
    propensity = ["propensity"] * (context.propensity is not None)
    if name in DESCRIBES:
        return [DESCRIBES[name]] + ["weight"] * (name == "users" and context.weight is not None)
    if name == "train":
        return ["user", "item"]
    if name == "truth":
        return ["user", "item"] + ["relevance"] * has_relevance(side) + propensity
    if name == "reference":  # it may have ranks where the lists have scores
        return [
            "user",
            "item",
            "rank" if side.has("rank") and not side.has("score") else order_of(side),
        ]
    roles = ["user", "item", order_of(side)]
    roles += [one for one in OF_LISTS if getattr(context, one) is not None]
    if context.truth is None and (judged or side.has("relevance")):
        side.require("relevance")
        roles.append("relevance")
    return roles + (propensity if context.truth is None else [])


def fold_of(name: str, side: Side) -> list[str]:
    """Return the role of folds, where a split has bound them and a side has them; lists and truth must."""
    bound = side.context.folds is not None
    return [FOLD] if bound and (name in JUDGED or side.has(FOLD)) else []


def has_relevance(truth: Side) -> bool:
    """Whether a truth has a relevance that counts, or say that there is none that a threshold could be of."""
    context = truth.context
    if context.relevance is not False and (context.relevance or truth.has("relevance")):
        return True
    if context.min_relevance not in {None, "any"}:
        msg = (
            f"{Given('min_relevance', context.min_relevance)}: {truth.title} has no relevance, so each of its rows counts 1; "
            f"name the column of the grades, {bind(relevance=NAMED)}, or leave the threshold out. It has "
            f"{listed(truth.columns)}"
        )
        raise ColumnError(msg)
    return False


def names_trainings(name: str) -> bool:
    """Return whether a column's name is one of trainings: `seed`, `random_seed`, `training`."""
    return str(name).casefold().replace("-", "_").replace(" ", "_") in TRAININGS


def label_columns(main: Side, segments: Sequence[Segment]) -> list[Segment]:
    """Return the unbound columns of the lists whose values may name systems.

    Where these are bound, those that may tell trainings of one apart.
    """
    context = main.context
    has_model = context.model is not None
    if has_model and (context.training or not any(map(names_trainings, main.columns))):
        return []
    names = unbound_labels(main, segments)
    names = names if not has_model else list(filter(names_trainings, names))
    return [
        Segment(f"label {number}", name, "recommendations") for number, name in enumerate(names)
    ]


def unbound_labels(main: Side, segments: Sequence[Segment]) -> list[str]:
    """Return the names of unbound columns of the lists whose values may be labels."""
    context = main.context
    roles = [role for role in ROLES if role not in OF_LISTS or getattr(context, role)]
    bound = {context.names[role] for role in roles} | {segment.name for segment in segments}
    if bound.issuperset(main.columns):
        return []
    return [name for name in main.kind.labels() if name not in bound]


def order_of(side: Side) -> Literal["rank", "score"]:
    """Return whether the order is given by ranks or scores; a bound score precedes an unbound rank."""
    context = side.context
    # What judge() returns has ranks and no score, whichever of them was bound.
    scored = context.score is not None and (
        context.truth is not None or side.has("score") or not side.has("rank")
    )
    if context.rank is None and (scored or (side.has("score") and not side.has("rank"))):
        side.require("score")
        return "score"
    side.require("rank")
    return "rank"


def segments_of(segments: Sequence[Segment], name: str) -> list[Segment]:
    """Return the segments whose columns are taken from a side."""
    owners = {name, "row"} if name in {"recommendations", "truth"} else {name}
    return [segment for segment in segments if segment.owner in owners]


def role_named(name: str, context: Context) -> str | None:
    """Return the role of ids, models or trainings that a name means: its own, or that of the column that is bound to it."""
    roles = ["user", "item", *(one for one in OF_LISTS if getattr(context, one) is not None)]
    roles += [FOLD] * (context.folds is not None)
    return next((role for role in roles if name in {role, context.names[role]}), None)


def segment_of(number: int, by: str | Made, sides: Mapping[str, Side], context: Context) -> Segment:
    """Determine the owner of a `by` column."""
    if not isinstance(by, str):
        role, *others = {role_named(root, context) for root in by.roots}
        if role in OF_IDS and not others and by.reads_own_row:
            return Segment(f"segment {number}", by.name, OF_IDS[role], by)
        holders = _holders_of_roots(by, sides, context)
        if len(holders) > 1:
            by.check_reads_own_row("which differ between lists and truth", "a column of each frame")
        lists = sides["recommendations"].kind
        if lists.all_users is not None and holders != ["items"]:
            found = "of which a bucket of users has some alone"
            column = f"a column of {sides[holders[0]].title}"
            by.check_reads_own_row(found, column, NeedsAllUsersError)
        return Segment(f"segment {number}", by.name, _owner(by, holders, sides, context), by)
    role = role_named(by, context)
    if role is not None:
        return Segment(role, context.names[role], "role")
    _check_is_no_number(by, sides, context)
    own = {owner: side.own_role(by) for owner, side in sides.items()}
    holders = [owner for owner, side in sides.items() if by in side.columns and not own[owner]]
    roles = [role for role in dict.fromkeys(own.values()) if role is not None]
    if by == context.names["relevance"] and "truth" in holders:
        holders = [holder for holder in holders if holder != "recommendations"]
    if len(roles) > 1 and not holders:
        msg = f"{Given('by', by)} names the users of one frame and the items of another; write 'user' or 'item'"
        raise ColumnError(msg)
    if roles and not holders:
        return Segment(roles[0], context.names[roles[0]], "role")
    if not holders:
        raise _not_found(by, by, sides)
    return Segment(f"segment {number}", by, _owner(by, holders, sides, context))


def _check_is_no_number(by: str, sides: Mapping[str, Side], context: Context) -> None:
    """Reject a `by` column of numbers whose values are no segments."""
    roles = ["rank", "score"] + [one for one in ("propensity", "weight") if getattr(context, one)]
    role = next((one for one in roles if by == context.names[one]), None)
    if role is not None and any(by in side.columns for side in sides.values()):
        msg = (
            f"{Given('by', by)} is the {role}, whose values are not segments; first put them into groups, in a column of "
            f"another name, such as '{role}_group'"
        )
        raise ColumnError(msg)


def _holders_of_roots(made: Made, sides: Mapping[str, Side], context: Context) -> list[str]:
    """Return the frames that have all columns of an expression; what is made of ids alone is one of the lists and the truth."""
    of_ids = all(role_named(root, context) for root in made.roots)
    able = {owner: side for owner, side in sides.items() if owner in JUDGED or not of_ids}
    holders = [owner for owner, side in able.items() if None not in {*map(side.root, made.roots)}]
    if holders:
        return holders
    found = []
    for root in made.roots:
        titles = [side.title for side in sides.values() if side.root(root) is not None]
        if not titles:
            raise _not_found(root, made, sides)
        found.append(f"{root!r} is a column of {' and '.join(titles)}")
    msg = f"{Given('by', made)} needs its columns in one frame: {', '.join(found)}"
    raise ColumnError(msg)


def _owner(
    by: str | Made, holders: Sequence[str], sides: Mapping[str, Side], context: Context
) -> Owner:
    """Return the frame that a `by` column describes, among those that have it."""
    if len(holders) > 1 and not {*holders} <= JUDGED:
        found = " and ".join(sides[owner].title for owner in holders)
        msg = f"{Given('by', by)} is a column of {found}; drop or rename it in all but one of them"
        raise ColumnError(msg)
    alone = context.truth is None and list(holders) == ["recommendations"]
    owner: Any = "row" if alone or {*holders} == JUDGED else holders[0]
    return cast("Owner", owner)


def _not_found(name: str, by: str | Made, sides: Mapping[str, Side]) -> ColumnError:
    """Return the error of a `by` column, or of one that it is made of, that no frame has."""
    known = dict.fromkeys(column for side in sides.values() for column in side.columns)
    where = ", ".join(side.title for side in sides.values())
    said = f"{Given('by', by)}" if name == by else f"{Given('by', by)}: {name!r}"
    found = sentence(f"{said} is not a column of {where}", suggestion(name, known))
    msg = f"{found} There are {listed(known)}. {_hint_of_by(name, sides)}"
    return ColumnError(msg.removesuffix(". "))


def _hint_of_by(name: str, sides: Mapping[str, Side]) -> str:
    """Return the advice on a `by` column that no frame has."""
    for side in sides.values():
        if hint := side.index_hint(name):
            return hint.replace("Its index", f"The index of {side.title}")
    missing = [
        f"if it describes {one}, {bind(**{one: one})}"
        for one in ("users", "items")
        if one not in sides
    ]
    return f"Give the {A_FRAME} that has it: {'; '.join(missing)}" if missing else ""


def holder_of(segment: Segment, sides: Mapping[str, Side]) -> Side:
    """Return the frame that a segment's column is taken from."""
    return sides[segment.owner] if segment.owner in sides else sides["recommendations"]
