"""Definition, parameters, cut-off and string form of a metric."""

from __future__ import annotations

import inspect
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import starmap
from operator import attrgetter
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    ParamSpec,
    Protocol,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

import polars as pl

from recframe.errors import (
    RecframeError,
    UnknownMetricError,
    kind_of,
    sentence,
    shown,
    suggestion,
)
from recframe.frames.hints import Given, own_word
from recframe.frames.options import EXACT, is_bool, plain_number
from recframe.metrics.language.at import At
from recframe.metrics.language.at_lists import AtLists
from recframe.metrics.language.judged_list import JudgedList

P = ParamSpec("P")
Bound_co = TypeVar("Bound_co", covariant=True)
T = TypeVar("T")
Value = str | int | float | bool
Shape = Literal["user", "set"]
Over = Literal["users", "lists"]
Direction = Literal["higher", "lower", ""]
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def cutoff(k: object) -> int:
    """Return a cut-off as an int, or say what a cut-off is."""
    try:
        is_plain = type(k) is int
        number = 0 if not is_plain and is_bool(k) else operator.index(k)  # type: ignore[arg-type]
    except TypeError:
        number = 0
    if number < 1:
        raise RecframeError(
            f"k is a positive whole number, a list or range of them, or None for the whole list; found {shown(k)}"
        )
    if number > EXACT:
        raise RecframeError(
            f"k is at most {EXACT} (2^53), beyond which ranks are not distinct; None is the whole list"
        )
    return number


def is_many(k: object) -> bool:
    """Whether a `k` argument is a list or range of cut-offs."""
    return isinstance(k, Iterable) and not isinstance(k, str) and getattr(k, "ndim", 1) > 0


@dataclass(frozen=True, repr=False)
class Bounds:
    """Numeric range of a parameter, open unless `closed`."""

    above: float = -math.inf
    below: float = math.inf
    closed: bool = False

    def __contains__(self, value: float) -> bool:
        return self.above < value < self.below or (
            self.closed and value in (self.above, self.below)
        )

    def read(self, value: object) -> float | None:
        """Return a finite number within the range in its plain form; None of anything else."""
        number = plain_number(value)
        return number if number is not None and math.isfinite(number) and number in self else None

    def __repr__(self) -> str:
        values = {one.name: (getattr(self, one.name), one.default) for one in fields(self)}
        named = [f"{name}={own!r}" for name, (own, usual) in values.items() if own != usual]
        return f"Bounds({', '.join(named)})"

    def __str__(self) -> str:
        if self.closed:
            return f"a number from {self.above:g} to {self.below:g}"
        ends = [f"above {self.above:g}"] * (self.above > -math.inf) + [f"below {self.below:g}"] * (
            self.below < math.inf
        )
        return "a number " + " and ".join(ends)


Positive = Annotated[float, Bounds(above=0)]
Share = Annotated[float, Bounds(above=0, below=1)]
Closed = Annotated[float, Bounds(0, 1, closed=True)]
"""Share from 0 to 1, both ends included."""
LogBase = Annotated[float, Bounds(above=1)]
UNIT, COUNT = (0.0, 1.0), (0.0, math.inf)
"""The ranges of shares and of counts."""


class Binds(Protocol[Bound_co]):
    """Interface of an object that binds a metric to its frame."""

    def _bound(self, metric: Metric[...], /) -> Bound_co: ...


@dataclass(frozen=True, eq=False)
class Definition:
    """Definition of a metric: its function and its registry entries."""

    name: str
    function: Callable[..., pl.Expr]
    aliases: tuple[str, ...] = ()
    formula: str = ""
    latex: str = ""
    """The formula as pages typeset it, with the default parameters: a displayed formula on each line."""
    range: tuple[float, float] = (-math.inf, math.inf)
    ranges: Mapping[tuple[str, Value], tuple[float, float]] = field(default_factory=dict)
    """Other ranges, each under one value of a parameter."""
    direction: Direction = ""
    shape: Shape = "user"
    shapes: Mapping[tuple[str, Value], Shape] = field(default_factory=dict)
    """Other shapes of a list metric, each under one value of a parameter."""
    instead: Mapping[str, str] = field(default_factory=dict)
    """Names of its variants in other libraries, with their string forms."""
    family: str = ""
    over: Over = "users"
    """Whether it runs over the users of the universe, in the words of `At`, or over lists, in those of `AtLists`."""
    linear: bool = False
    """Whether a metric of the user's own says that it holds in expectation over the orders of tied items; see `At`."""
    grows: bool = False
    """Whether the value depends on the number of users, so that segments of different sizes are not comparable."""
    tapers: bool = False
    """Whether deep ranks give values below 2^-42, such as powers of the rank, which need two exact-sum columns."""

    @cached_property
    def over_lists(self) -> bool:
        """Whether the metric is written in the words of `AtLists`: it runs over lists, or is one function of all of them."""
        return self.over == "lists" or self.shape == "set"

    @cached_property
    def builtin(self) -> bool:
        """Whether the metric is recframe's own, defined in a module of `recframe.metrics`."""
        return self.function.__module__.rpartition(".")[0] == "recframe.metrics"

    @cached_property
    def doc(self) -> str | None:
        """The function's docstring."""
        return inspect.getdoc(self.function)

    @cached_property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """The function's parameters after `at`, by name."""
        return dict(list(inspect.signature(self.function).parameters.items())[1:])

    @cached_property
    def defaults(self) -> dict[str, Value]:
        """Every parameter's default."""
        return {name: one.default for name, one in self.parameters.items()}

    def annotation(self, parameter: str) -> Any:
        """Return the parameter's annotation, with what its names stand for."""
        return self._hints.get(parameter, self.parameters[parameter].annotation)

    @cached_property
    def kinds(self) -> dict[str, tuple[Any, tuple[Any, ...]]]:
        """Each parameter's type and what its annotation adds: the choices, or the bounds."""
        found = {}
        for name in self.parameters:
            hint = self._hints.get(name, Any)
            found[name] = (get_origin(hint) or hint), get_args(hint)
        return found

    @cached_property
    def _hints(self) -> dict[str, Any]:
        try:
            return get_type_hints(self.function, include_extras=True)
        except Exception:  # noqa: BLE001  a metric of the user's own may be annotated with names that only its author can resolve
            return {}


class OfEach:
    """Descriptor of instances' attributes that the class itself lacks, for `inspect`."""

    def __init__(self, give: Callable[[Any], Any]) -> None:
        self._give = give

    def __get__(self, thing: object, owner: Any = None) -> Any:
        if thing is None:
            raise AttributeError(owner)
        return self._give(thing)


def _signature(metric: Metric[...]) -> inspect.Signature:
    return inspect.Signature(list(metric.typed_parameters.values()))


@dataclass(frozen=True, eq=False)
class Metric(Generic[P]):
    """A metric with its parameters and, after `@ k`, its cut-off.

    `ndcg @ 10`, `ndcg(gain="exp") @ 10` and the strings `"ndcg@10"`, `"ndcg(gain=exp)@10"` are the same metric: equal,
    hashable, and printed alike. Calling a metric returns it with other parameters.
    """

    definition: Definition
    settings: tuple[tuple[str, Value], ...] = ()
    k: int | None = None
    stated: frozenset[str] = frozenset()
    """Parameters given explicitly, even at their default; a profile does not change them."""
    label: str = ""
    """Column name, where it is not the string form."""

    name: str = field(init=False)
    """The canonical name, without parameters and cut-off."""

    __signature__ = OfEach(_signature)
    __wrapped__ = OfEach(lambda metric: metric.definition.function)

    def __post_init__(self) -> None:
        vars(self).update(name=self.definition.name, __doc__=self.definition.doc)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Metric[P]:
        """Return the metric with some parameters set."""
        definition = self.definition
        if args:
            named = signature_of(definition)
            of_it = f"parameters of {self.name} are given by name: {self.name}({named})"
            raise RecframeError(
                f"{of_it if named else f'{self.name} has no parameters'}; call it on a frame: frame.rec.{self.name}(k=10)"
            )
        if not kwargs:
            return self
        given: dict[str, Any] = {}
        for name, value in kwargs.items():
            default: Any = definition.defaults.get(name, definition)
            given[name] = default if value is default else _checked(definition, name, value)
        chosen = definition.defaults | dict(self.settings) | given
        changed = [one for one in chosen.items() if one[1] != definition.defaults[one[0]]]
        return replace(self, settings=tuple(changed), stated=self.stated.union(given))

    @cached_property
    def parameters(self) -> dict[str, Value]:
        """Every parameter and its value."""
        return self.definition.defaults | dict(self.settings)

    @property
    def typed_parameters(self) -> dict[str, inspect.Parameter]:
        """Every parameter with its value here as the default, and the type that its annotation names."""
        return {
            name: about.replace(
                default=self.parameters[name], annotation=self.definition.annotation(name)
            )
            for name, about in self.definition.parameters.items()
        }

    @cached_property
    def range(self) -> tuple[float, float]:
        """The range of the values, with these parameters."""
        return self._by_setting(self.definition.ranges, self.definition.range)

    @property
    def direction(self) -> Direction:
        """Whether higher or lower values are better."""
        return self.definition.direction

    @cached_property
    def shape(self) -> Shape:
        """Whether it is a mean of values or one function of a segment, with these parameters."""
        return self._by_setting(self.definition.shapes, self.definition.shape)

    @cached_property
    def is_bounded(self) -> bool:
        """Whether no value is above 1 or, unless it is 0, far below 2^-42, by recframe's own word."""
        is_own = self.definition.function.__module__.startswith("recframe.")
        return is_own and not self.definition.tapers and max(map(abs, self.range)) <= 1

    def _by_setting(self, others: Mapping[tuple[str, Value], T], usual: T) -> T:
        for (name, value), other in others.items():
            if self.parameters[name] == value:
                return other
        return usual

    def assuming(self, parameters: Mapping[str, Value]) -> Metric[P]:
        """Return the metric with values for the parameters that were not given; its column keeps its name."""
        chosen = {name: value for name, value in parameters.items() if name not in self.stated}
        if not chosen:
            return self
        assumed: Any = self
        return replace(assumed(**chosen), label=str(self))

    def __matmul__(self, k: int) -> Metric[P]:
        if is_many(k):
            raise RecframeError(
                f"a metric has one cut-off; for several write evaluate(rf.{self.in_python}, k={shown(k)})"
            )
        return replace(self, k=cutoff(k))

    @cached_property
    def text(self) -> str:
        """The string form, which names the metric's column."""
        return self.label or self._written(self.settings)

    def __str__(self) -> str:
        return self.text

    @property
    def as_stated(self) -> str:
        """The string form with every parameter that was given, though it be its default."""
        return self._written(
            (name, value) for name, value in self.parameters.items() if name in self.stated
        )

    @property
    def in_full(self) -> str:
        """The string form with every parameter."""
        return self._written(self.parameters.items())

    @property
    def in_python(self) -> str:
        """How the metric is written in Python, as an attribute of the package or of a frame's `rec`, without a cut-off."""
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings)
        return f"{self.name}({settings})" if settings else self.name

    def _written(self, settings: Iterable[tuple[str, Value]]) -> str:
        shown = ",".join(starmap(_printed, settings))
        return f"{self.name}{f'({shown})' if shown else ''}{f'@{self.k}' if self.k is not None else ''}"

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return self.text == (other.text if isinstance(other, Metric) else other)

    def __hash__(self) -> int:
        return hash(self.text)

    def value(self, at: At | AtLists) -> pl.Expr:
        """Return the expression of one list's value, or of a segment's for a set metric, in the words of `at`."""
        value = self.definition.function(at, **dict(self.settings))
        if not isinstance(value, pl.Expr):
            raise RecframeError(
                f"the metric {self.name!r} returned {shown(value)}; "
                "a metric returns a Polars expression, such as at.hit.sum()"
            )
        return value

    def expr(
        self,
        k: int | None = None,
        *,
        rank: str = "rank",
        relevance: str = "relevance",
        item: str = "item",
    ) -> pl.Expr:
        """Return the metric as a plain Polars expression over one judged list.

        For `frame.group_by("user").agg(...)`, `.over("user")`, or `select` on the list of a single user. The rules are those of
        `rec`: null items are ignored, an item counts once, equal ranks are ordered by item, null and infinite ranks mean not
        recommended. A rank below 1 is an error when the expression runs. Items stand as their column sorts, an Enum's in the
        order of its categories: cast it to text for that of `rec`.

        >>> import polars as pl, recframe as rf
        >>> judged = pl.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "rank": [1, 2, 2], "relevance": [0, 1, 1]})
        >>> judged.group_by("user", maintain_order=True).agg(rf.mrr.expr(k=10))
        shape: (2, 2)
        ┌──────┬────────┐
        │ user ┆ mrr@10 │
        │ ---  ┆ ---    │
        │ i64  ┆ f64    │
        ╞══════╪════════╡
        │ 1    ┆ 0.5    │
        │ 2    ┆ 0.5    │
        └──────┴────────┘
        """
        if self.definition.over_lists:
            raise RecframeError(
                f"{self.name} needs more than one judged list, so it is not an expression; write frame.rec.{self.name}()"
            )
        metric = self if k is None or self.k is not None else self @ k
        words = At(metric.k, JudgedList(pl.col(rank), pl.col(relevance), pl.col(item)))
        found = metric.value(words).cast(pl.Float64).alias(str(metric))
        return MetricExpr._from_pyexpr(found._pyexpr)  # noqa: SLF001  Polars' own way to make one of a class

    @overload
    def __get__(self, rec: None, owner: Any = None) -> Metric[P]: ...
    @overload
    def __get__(self, rec: Binds[Bound_co], owner: Any = None) -> Bound_co: ...
    def __get__(self, rec: Binds[Any] | None, owner: Any = None) -> Any:
        return self if rec is None else rec._bound(self)  # noqa: SLF001  a metric in the body of Rec is one of its methods


Metrics = Sequence[Metric[...]]
"""Type of the metrics of a call."""


class MetricExpr(pl.Expr):
    """Polars expression of a metric; other libraries cannot evaluate it."""

    def __call__(self, frame: object) -> Any:
        """Say what to write instead, where `assign` calls it."""
        raise RecframeError(
            f"{self.meta.output_name()!r} is an expression of Polars, which {kind_of(frame)} does not read; for its value of "
            "each user write rf.rec(frame).evaluate(..., by='user')"
        )


def at_cutoffs(metrics: Metrics, k: object) -> list[Metric[...]]:
    """Return the distinct metrics, those without a cut-off at each of a `k` argument, in the order requested.

    Equal metrics come once; one that states a default is kept beside one that leaves it to a profile.
    """
    found = {}
    ks = cutoffs_for(metrics, k)
    for one in metrics:
        for at in ks if one.k is None else [one.k]:
            of_cut = one if at == one.k else replace(one, k=at)
            found[of_cut.text, one.stated] = of_cut
    return list(found.values())


def cutoffs_for(metrics: Metrics, k: object) -> list[int | None]:
    """Return the cut-offs of a `k` argument, or say that it applies to no metric, since each has its own."""
    if k is None:
        return [None]
    ks: list[int | None] = [cutoff(one) for one in k] if is_many(k) else []  # type: ignore[attr-defined]
    ks = ks or [cutoff(k)]
    if None in map(attrgetter("k"), metrics):
        return ks
    names = [str(one) for one in metrics]
    plain = names[0].rpartition("@")[0]
    msg = f"{Given('k', k)} applies to no metric of the call, as each has its own cut-off: {', '.join(names)}; "
    raise RecframeError(f"{msg}leave one of the two out, as in {plain!r}")


OWNERS: dict[str, dict[str, None]] = {}
"""Metrics that have a parameter, by its name."""
_WHY = {
    "weights": "they correct for relevant items that were not observed, in a sum over hits where none depends on other "
    "relevant items"
}
"""Reason why a parameter is only some metrics', by its name."""


def signature_of(definition: Definition) -> str:
    """Return the parameters with their defaults, as they are written in a call."""
    return ", ".join(starmap(_printed, definition.defaults.items()))


def _printed(name: str, value: Value) -> str:
    """Return a parameter and its value, as the string form has them."""
    if isinstance(value, bool):
        return f"{name}={str(value).lower()}"
    is_word = isinstance(value, str) and NAME.fullmatch(value)
    plain = is_word and str(value).casefold() not in {"true", "false"}
    return f"{name}={value}" if plain else f"{name}={value!r}"


def _of_a_call(metric: str, name: str, value: object) -> str:
    """Return the advice on `k` and `by`, under any of their names; nothing for other names."""
    own, call = own_word(name), f"frame.rec.{metric}"
    if own not in {"k", "by"}:
        return ""
    begin = "" if name == own else f"{name}= is {own}= here; "
    if own == "by":
        by = value if isinstance(value, str) else "country"
        return f"{begin}segments are columns of a frame: {call}(k=10, by={by!r})"
    cut = value if type(value) is int and value > 0 else 10
    behind = f"the cut-off follows the metric: write rf.{metric} @ {cut}, or '{metric}@{cut}'"
    return f"{begin}{behind}, or call it on a frame: {call}(k={cut})"


def _checked(definition: Definition, name: str, value: object) -> Value:
    """Return the value in its plain form, or say what the parameter takes."""
    if name not in definition.parameters:
        if meant := _of_a_call(definition.name, name, value):
            raise UnknownMetricError(meant)
        if name in _WHY:
            owners = ", ".join(sorted(OWNERS[name]))
            raise UnknownMetricError(
                f"{definition.name} takes no {name}: {_WHY[name]}; metrics that take them: {owners}"
            )
        found = sentence(
            f"{definition.name} has no parameter {name!r}", suggestion(name, definition.parameters)
        )
        raise UnknownMetricError(f"{found} It has {signature_of(definition) or 'none'}")
    kind, extras = definition.kinds[name]
    if kind is Literal:
        if isinstance(value, str) and value in extras:
            return value
        takes = " or ".join(repr(choice) for choice in extras)
    elif marks := [extra for extra in extras if isinstance(extra, Bounds)]:
        if (plain := marks[0].read(value)) is not None:
            return plain
        takes = str(marks[0])
    elif isinstance(value, str | bool):
        return value
    elif (number := plain_number(value)) is not None:
        return number
    else:
        takes = "a text, a number, True or False"
    raise RecframeError(f"{definition.name}({name}={shown(value)}): {name} takes {takes}")
