"""Options of `rec(...)` and of its methods, each checked."""

from __future__ import annotations

import functools
import math
import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, TypedDict, get_args

from recframe.errors import RecframeError, kind_of, sentence, shown, suggestion
from recframe.frames.hints import NAMED_COLUMNS, ROLES, FrameOf, Given
from recframe.frames.kinds.kind import in_memory, is_frame, kind_for

Universe = Literal["truth", "recs", "both", "all"]
NoRelevant = Literal["zero", "skip", "null"]
RelevantFrom = Literal["truth", "list"]
MinRelevance = float | Literal["any"]
Relevance = str | Literal[False]
"""The name of a column, or False: each row counts, whatever its columns say."""
MinRelevanceFor = Literal["all", "binary"]
Ties = Literal[
    "item",
    "item_reverse",
    "item_text",
    "item_text_reverse",
    "item_desc",
    "pessimistic",
    "optimistic",
    "order",
    "expected",
    "last",
]
Sharing = Literal["expected", "last"]
"""Values of `ties` under which tied items are unordered and share a rank."""

Correction = Literal["holm", "benjamini-hochberg"]

SIDES = ("truth", "users", "items", "train", "reference")
"""The options that take a frame."""
_OF_ITEMS = {"truth": "rf.from_truth", "train": "rf.from_truth", "reference": "rf.from_lists"}
"""The readers of nested items of users, by the side frames that they make."""
CHOICES = {
    "universe": Universe,
    "no_relevant": NoRelevant,
    "relevant_from": RelevantFrom,
    "min_relevance_for": MinRelevanceFor,
    "ties": Ties,
}
"""The policies that take one of some words."""
FOLD = "fold"
"""Role of the column of folds."""
OF_LISTS = ("model", "training")
"""Roles that distinguish lists of one user; only in lists, and only if bound."""
MOST_DECIMALS = 15
DEFAULTS: Mapping[str, Any] = {
    "universe": "truth",  # of two frames; every user of a judged frame
    "no_relevant": "zero",
    "relevant_from": "truth",
    "min_relevance": None,  # above 0
    "min_relevance_for": "all",
    "ties": "item",
    "decimals": None,
}
"""The policies that a profile may set, and recframe's own values of them."""


class Options(TypedDict, total=False):
    """The options of `rec(...)` but the truth and the model, for type checkers; `Context` says what each is."""

    user: str | None
    item: str | None
    rank: str | None
    score: str | None
    relevance: Relevance | None
    training: str | None
    propensity: str | None
    weight: str | None
    time: str | None
    users: Any
    items: Any
    train: Any
    reference: Any
    universe: Universe | None
    no_relevant: NoRelevant | None
    min_relevance: MinRelevance | None
    relevant_from: RelevantFrom | None
    strict: bool | None
    min_relevance_for: MinRelevanceFor | None
    ties: Ties | None
    decimals: int | None
    profile: str | None
    memory: int | str | None


@dataclass(frozen=True)
class Folds:
    """Folds of a split, whose column cuts every frame that has it."""

    numbers: tuple[int, ...]
    """The folds; frames have one of them in each row."""
    column: str = "fold"


@dataclass(frozen=True)
class Context:
    """Options bound by `rec(...)`; a column name of None means the role's."""

    truth: Any = None
    user: str | None = None
    item: str | None = None
    rank: str | None = None
    score: str | None = None
    relevance: Relevance | None = None
    model: str | None = None
    training: str | None = None
    propensity: str | None = None
    weight: str | None = None
    time: str | None = None
    users: Any = None
    items: Any = None
    train: Any = None
    reference: Any = None
    universe: Universe | None = None
    no_relevant: NoRelevant = "zero"
    min_relevance: MinRelevance | None = None
    relevant_from: RelevantFrom = "truth"
    strict: bool = False
    min_relevance_for: MinRelevanceFor = "all"
    ties: Ties = "item"
    decimals: int | None = None
    profile: str | None = None
    memory: int | None = None
    by: tuple[Any, ...] = ()
    """Column names and expressions."""
    folds: Folds | None = None
    """Folds of the split that bound the frames."""
    bounds: tuple[str, ...] = ()
    """Models that no other can beat, such as the truth itself: verdicts leave them out."""
    split: Any = None
    """The labels of the split that bound the frames."""
    without: tuple[str, ...] = ()
    """Models whose lists are not read."""
    given: frozenset[str] = frozenset()
    """Options bound explicitly, which a profile does not change."""

    names: dict[str, str] = field(init=False, repr=False, compare=False)
    """The column name of each role."""
    of_lists: list[str] = field(init=False, repr=False, compare=False)
    """The roles that distinguish lists of one user, where they are bound."""
    frames: list[Any] = field(init=False, repr=False, compare=False)
    """The side frames that are bound."""
    policies: tuple[object, ...] = field(init=False, repr=False, compare=False)
    """The values of all policies; metrics that share a plan share them."""
    without_frames: tuple[object, ...] = field(init=False, repr=False, compare=False)
    """The bound options other than frames."""

    def __post_init__(self) -> None:
        """Set what the options say together."""
        names, of_lists = {}, []
        for role in NAMED_COLUMNS:
            name = getattr(self, role)
            names[role] = name if isinstance(name, str) else role
            if role in OF_LISTS and name is not None:
                of_lists.append(role)
        if self.folds is not None:
            names[FOLD] = self.folds.column
        reference = self.reference if isinstance(self.reference, str) else None
        vars(self).update(
            names=names,
            of_lists=of_lists,
            frames=[*filter(_is_bound, _SIDES(self))],
            policies=_POLICIES(self),
            without_frames=(*_WITHOUT_FRAMES(self), reference),
        )

    def bind(self, options: Mapping[str, Any]) -> Context:
        """Return the context with new values of some options, validated; None is none."""
        held = {}
        for name, value in options.items():
            if value is not None:
                check_option(name, value)
                held[name] = _side(name, value) if name in SIDES else _plain(name, value)
        bound = replace(self, **held, given=self.given.union(held))
        _check_roles(bound)
        _check_threshold(bound)
        return bound

    def assuming(self, policies: Mapping[str, Any]) -> Context:
        """Return the context with values for policies that are not bound."""
        unbound = dict(policies)
        for name in self.given & policies.keys():
            del unbound[name]
        return self.having(**unbound)

    def having(self, **policies: Any) -> Context:
        """Return the context with other values for some policies."""
        for name, value in policies.items():
            if getattr(self, name) != value:
                return replace(self, **policies)
        return self

    def grouped(self, by: Iterable[Any]) -> Context:
        """Return the context with `by` columns bound."""
        return replace(self, by=(*self.by, *by))


TYPES = {one.name: str(one.type) for one in fields(Context) if one.init}
OPTIONS = tuple(
    name for name in TYPES if name not in {"by", "folds", "bounds", "split", "without", "given"}
)
"""Names of the options of `rec(...)`."""
_is_bound = functools.partial(operator.is_not, None)
_SIDES: Callable[[Context], tuple[object, ...]] = operator.attrgetter(*SIDES)
_POLICIES: Callable[[Context], tuple[object, ...]] = operator.attrgetter(*DEFAULTS)
_WITHOUT_FRAMES: Callable[[Context], tuple[object, ...]] = operator.attrgetter(
    *(name for name in TYPES if name not in {*SIDES, "split"})
)


def _check_roles(context: Context) -> None:
    """Reject a column with two roles, one of them that of an id."""
    roles_of: dict[str, list[str]] = {}
    for role in ROLES:
        is_named = role in {"user", "item"} or isinstance(getattr(context, role), str)
        if not is_named or role == "propensity":  # whose dtype says more
            continue
        column = context.names[role]
        for other in roles_of.setdefault(column, []):
            # a rank, or a score, may be a relevance as well
            if {other, role} - {"rank", "score"} != {"relevance"}:
                raise RecframeError(
                    f"column {column!r} has two roles, {other}= and {role}=; name a column for each"
                )
        roles_of[column].append(role)


def _check_threshold(context: Context) -> None:
    """Reject a relevance threshold where relevance is not read."""
    if context.relevance is False and context.min_relevance not in {None, "any"}:
        every, some = Given("relevance", value=False), Given("min_relevance", context.min_relevance)
        raise RecframeError(
            f"{every} says that each row counts, and {some} that only some grades do; leave one of them out"
        )


def check_option(name: str, value: object) -> None:
    """Reject an invalid value of an option."""
    if name in NAMED_COLUMNS:
        or_false = ", or False, so that each row counts" * (name == "relevance")
        if not (value is None or isinstance(value, str) or (or_false and value is False)):
            raise RecframeError(
                f"{name}= takes the name of a column as text{or_false}; found {shown(value)}{_renamed(name, value)}"
            )
    elif name in CHOICES and not (name == "universe" and value is None):
        allowed = get_args(CHOICES[name])
        if not isinstance(value, str) or value not in allowed:
            close = suggestion(value, allowed) if isinstance(value, str) else ""
            raise RecframeError(
                f"{sentence(f'{name}={shown(value)} is not known', close)} Write one of {', '.join(map(repr, allowed))}"
            )
    elif name in _VALUES:
        is_right, wanted = _VALUES[name]
        if not is_right(value):
            raise RecframeError(f"{Given(name, value)}: write {wanted}")


def _side(name: str, value: Any) -> Any:
    """Return a side frame as it is held, or say what makes a frame of something else."""
    title = str(FrameOf(name))
    held = in_memory(value, title)
    is_a_model = name == "reference" and isinstance(held, str)
    if not (held is None or is_a_model or isinstance(held, NamedFrame)):
        reader = _OF_ITEMS.get(name)
        nested = "" if reader is None else f"{reader}({{...}}) of the items of each user, "
        kind_for(held, title, f": {nested}pl.DataFrame({{...}}) of columns")
    return held


def _renamed(role: str, name: object) -> str:
    """Return how a column that is not named by text gets such a name; pandas has them."""
    if isinstance(name, list) and all(isinstance(one, str) for one in name):
        several = ", ".join(map(repr, name))
        if role in {"user", "item"}:
            return f"; make one column of them in each frame: frame.with_columns({role}=pl.struct({several}))"
        if role in {"score", "rank"}:
            return (
                f"; give each model rows of its own: frame.unpivot([{several}], index=['user', 'item'], "
                f"variable_name='model', value_name={role!r}), and bind model='model'"
            )
    if isinstance(name, tuple):
        return "; name the columns by text first: frame.columns = ['_'.join(map(str, names)) for names in frame.columns]"
    is_number = isinstance(name, int) and not isinstance(name, bool)
    return f"; rename it first: frame.rename(columns={{{name}: {role!r}}})" if is_number else ""


def _is_threshold(value: object) -> bool:
    number = plain_number(value)
    is_none = value is None or (isinstance(value, str) and value == "any")
    return is_none if number is None else 0 < number < math.inf


_VALUES: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "strict": (
        lambda value: isinstance(value, bool),
        "True, so that findings of severity error raise, or False",
    ),
    "min_relevance": (
        _is_threshold,
        "a number above 0; rows with at least this relevance are relevant",
    ),
    "memory": (
        lambda value: (bytes_of(value) or 0) >= FEWEST_BYTES,
        "the most bytes that the call may take as a number with a unit, such as '2GB' or '500MB'",
    ),
    "decimals": (
        lambda value: (
            hasattr(value, "__index__") and plain_number(value) in range(MOST_DECIMALS + 1)
        ),
        f"a whole number from 0 to {MOST_DECIMALS}; means are rounded to this number of decimals",
    ),
}
"""The options of which a function tells right values, and the words for these."""


def _plain(name: str, value: Any) -> Any:
    """Return the value of an option, a number in the one form that all equal ones have."""
    if name == "memory":
        return bytes_of(value)
    number = plain_number(value) if name in {"min_relevance", "decimals"} else None
    return value if number is None else number


FEWEST_BYTES = 1_000
"""Bytes below which a bound on memory is a number without its unit."""
UNITS = ("", *"kmgt")
_BYTES = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?) ?(?:([kmgt])(i?))?b?", re.IGNORECASE)


def bytes_of(value: object) -> int | None:
    """Return a number of bytes, such as 500MB, 20GB or 2GiB; None where a value is none."""
    found = _BYTES.fullmatch(value if isinstance(value, str) else str(plain_number(value)))
    if found is None:
        return None
    number, unit, is_binary = found.groups()
    size = 1024 if is_binary else 1000
    return int(float(number) * size ** UNITS.index((unit or "").lower())) or None


EXACT = 2**53
"""Largest magnitude up to which floats represent all integers."""


def plain_number(value: object) -> int | float | None:
    """Return a number of any library as Python's, a whole one as an int; None where it is no number."""
    if is_bool(value) or isinstance(value, str):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        pass
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return int(number) if number.is_integer() and abs(number) <= EXACT else number


def is_bool(value: object) -> bool:
    """Return whether a value is a Boolean, NumPy's too, which says that it is an index."""
    return isinstance(value, bool) or type(value).__name__ in {"bool", "bool_"}


@dataclass(frozen=True)
class NamedFrame:
    """Frame with its own column names by role; False: no relevance is read."""

    frame: Any
    names: Mapping[str, Any]
    rec: ClassVar[Any]
    """The `.rec` of the frame with these names bound, put here by the room that has it."""

    def __repr__(self) -> str:
        names = ", ".join(f"{role}={shown(name)}" for role, name in self.names.items())
        return f"<{kind_of(self.frame)} with {names}>"


def size_of(frame: Any) -> int:
    """Return the number of rows of a side frame if known; 0 for other objects."""
    given = frame.frame if isinstance(frame, NamedFrame) else frame
    return kind_for(given).size if is_frame(given) else 0


def frame(  # noqa: PLR0913  a name for each role
    frame: Any,
    *,
    user: str | None = None,
    item: str | None = None,
    rank: str | None = None,
    score: str | None = None,
    relevance: Relevance | None = None,
    propensity: str | None = None,
    time: str | None = None,
) -> NamedFrame:
    """Return a frame to bind as `truth=`, `users=`, `items=`, `train=` or `reference=`, with its own column names.

    They hold only for this frame and override those of `rec(...)`, which hold for all frames. Results have the names of the
    call. Its `.rec` has the names bound: `log = rf.frame(events, user="customer", item="sku")`, `log.rec(time="day").split`.

    Raises a ColumnError for a missing column when a metric is computed.

    >>> import polars as pl, recframe as rf
    >>> recs = pl.DataFrame({"user": [1, 1], "item": [10, 11], "rank": [1, 2]})
    >>> sales = pl.DataFrame({"customer": [1], "isbn": [11], "stars": [5]})
    >>> recs.rec(truth=rf.frame(sales, user="customer", item="isbn", relevance="stars")).mrr(k=2)
    0.5
    """
    title = "the first argument of rf.frame()"
    frame = in_memory(frame, title)
    kind_for(frame, title)
    names: dict[str, Any] = {"user": user, "item": item, "rank": rank, "score": score}
    names |= {"relevance": relevance, "propensity": propensity, "time": time}
    names = {role: name for role, name in names.items() if name is not None}
    for role, name in names.items():
        check_option(role, name)
    return NamedFrame(frame, names)


def is_side(thing: object) -> bool:
    """Whether an object can be bound as a side frame."""
    return isinstance(thing, NamedFrame) or is_frame(thing)


# Options of methods


def one_of(name: str, value: object, choices: Collection[str | None]) -> None:
    """Raise an error that lists the values of an option."""
    if value not in choices:
        takes = " or ".join(repr(choice) for choice in choices)
        raise RecframeError(f"{name}={shown(value)}: {name} takes {takes}")


def share(name: str, value: object, example: str) -> float:
    """Return a number between 0 and 1, or say that it has to be one."""
    number = plain_number(value)
    if number is None or not 0 < number < 1:
        raise RecframeError(
            f"{name}={shown(value)}: {name} takes a number between 0 and 1, such as {name}={example}"
        )
    return float(number)


def whole(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return a whole number within two ends, or say that it has to be one."""
    number = plain_number(value)
    if not isinstance(number, int) or number < least or (most is not None and number > most):
        end = "up" if most is None else f"to {most}"
        raise RecframeError(
            f"{name}={shown(value)}: {name} takes a whole number from {least} {end}"
        )
    return number


def text(name: str, value: object, takes: str = "text") -> str:
    """Return a text, or say what is taken."""
    if not isinstance(value, str):
        raise RecframeError(f"{name}={shown(value)}: {name} takes {takes}")
    return value


def per_cent(level: float) -> str:
    """Return a level in per cent, with all of its digits: 0.995 is 99.5%, and no 100%."""
    return f"{level * 100:.10g}%"
