"""What a metric is: a definition, its parameters and its cut-off; the decorator, the registry and the string form."""

from __future__ import annotations

import copyreg
import inspect
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import (
    Annotated,
    Any,
    Concatenate,
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

from recframe.cutoffs import cutoff, cutoffs, reach
from recframe.errors import RecframeError, UnknownMetricError, sentence, shown, suggestion
from recframe.expression import JudgedList
from recframe.list_terms import AtLists
from recframe.terms import At

P = ParamSpec("P")
Bound_co = TypeVar("Bound_co", covariant=True)
Value = str | int | float | bool
Shape = Literal["user", "set"]
Over = Literal["users", "lists"]

_DIGITS = 4000  # Python reads no longer number
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TEXT = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*(?:\((.*)\))?\s*(?:@\s*(\S+))?\s*")


@dataclass(frozen=True)
class Bounds:
    """The numbers that a parameter may take, between two ends that are left out unless they are closed."""

    above: float = -math.inf
    below: float = math.inf
    closed: bool = False

    def __contains__(self, value: float) -> bool:
        return self.above < value < self.below or (self.closed and value in (self.above, self.below))

    def __str__(self) -> str:
        if self.closed:
            return f"a number from {self.above:g} to {self.below:g}"
        ends = [f"above {self.above:g}"] * (self.above > -math.inf) + [f"below {self.below:g}"] * (self.below < math.inf)
        return "a number " + " and ".join(ends)


class Binds(Protocol[Bound_co]):
    """What a metric is a method of: an object that binds it to its frame."""

    def _bound(self, metric: Metric[...], /) -> Bound_co: ...


Positive = Annotated[float, Bounds(above=0)]
Share = Annotated[float, Bounds(above=0, below=1)]


@dataclass(frozen=True, eq=False)
class Definition:
    """A metric as it was written: one function of the words in `recframe.terms`, and what the registry says of it."""

    name: str
    function: Callable[..., pl.Expr]
    aliases: tuple[str, ...] = ()
    formula: str = ""
    range: tuple[float, float] = (-math.inf, math.inf)
    ranges: Mapping[tuple[str, Value], tuple[float, float]] = field(default_factory=dict)
    """Other ranges, each under one value of a parameter."""
    direction: Literal["higher", "lower", ""] = ""
    shape: Shape = "user"
    shapes: Mapping[tuple[str, Value], Shape] = field(default_factory=dict)
    """Other shapes of a metric over lists, each under one value of a parameter."""
    needs: tuple[str, ...] = ()
    instead: Mapping[str, str] = field(default_factory=dict)
    """Names by which other libraries have a form of it, and how that form is written."""
    family: str = ""
    over: Over = "users"
    """Whether it runs over the users of the universe, in the words of `At`, or over lists, in those of `AtLists`."""
    linear: bool = False
    """Whether a metric of the user's own says that it holds in expectation over the orders of tied items; see `At`."""

    @property
    def over_lists(self) -> bool:
        """Whether the metric is written in the words of `AtLists`: it runs over lists, or is one function of all of them."""
        return self.over == "lists" or self.shape == "set"

    @property
    def builtin(self) -> bool:
        """Whether the metric is recframe's own."""
        return self.function.__module__.startswith("recframe.metrics.")

    @cached_property
    def doc(self) -> str | None:
        """The function's docstring."""
        return inspect.getdoc(self.function)

    @cached_property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """The function's parameters after `at`, by name."""
        return dict(list(inspect.signature(self.function).parameters.items())[1:])

    def kind(self, parameter: str) -> tuple[Any, tuple[Any, ...]]:
        """Return the parameter's type and what its annotation adds: the choices, or the bounds."""
        hint = self._hints.get(parameter, Any)
        return (get_origin(hint) or hint), get_args(hint)

    @cached_property
    def _hints(self) -> dict[str, Any]:
        try:
            return get_type_hints(self.function, include_extras=True)
        except Exception:  # noqa: BLE001  a metric of the user's own may be annotated with names that only its author can resolve
            return {}


@dataclass(frozen=True, eq=False)
class Metric(Generic[P]):
    """A metric with its parameters and, after `@ k`, its cut-off.

    `ndcg @ 10`, `ndcg(gain="exp") @ 10` and the strings `"ndcg@10"`, `"ndcg(gain=exp)@10"` are the same thing:
    equal, hashable, and printed alike. Calling a metric returns it with other parameters.
    """

    definition: Definition
    settings: tuple[tuple[str, Value], ...] = ()
    k: int | None = None
    stated: frozenset[str] = frozenset()
    """The parameters that were given, though it be their default: a profile does not change them."""
    label: str = ""
    """The name of the metric's column, where it is not the string form."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.definition.doc)

    @property
    def name(self) -> str:
        """The canonical name, without parameters and cut-off."""
        return self.definition.name

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Metric[P]:
        """Return the metric with some parameters set."""
        if args:
            msg = f"parameters of {self.name} are given by name: {self.name}({_signature(self.definition)})"
            raise RecframeError(msg)
        chosen = dict(self.settings) | {name: _checked(self.definition, name, value) for name, value in kwargs.items()}
        defaults = {name: parameter.default for name, parameter in self.definition.parameters.items()}
        settings = tuple((name, chosen[name]) for name in defaults if name in chosen and chosen[name] != defaults[name])
        return replace(self, settings=settings, stated=self.stated.union(kwargs))

    @property
    def parameters(self) -> dict[str, Value]:
        """Every parameter and its value."""
        return {name: about.default for name, about in self.definition.parameters.items()} | dict(self.settings)

    @property
    def range(self) -> tuple[float, float]:
        """The range of the values, with these parameters."""
        chosen = self.parameters.items()
        return next((found for one, found in self.definition.ranges.items() if one in chosen), self.definition.range)

    @property
    def shape(self) -> Shape:
        """Whether it is a mean of values or one function of a segment, with these parameters."""
        chosen = self.parameters.items()
        return next((found for one, found in self.definition.shapes.items() if one in chosen), self.definition.shape)

    def assuming(self, parameters: Mapping[str, Value]) -> Metric[P]:
        """Return the metric with values for the parameters that were not given; its column keeps its name."""
        chosen = {name: value for name, value in parameters.items() if name not in self.stated}
        if not chosen:
            return self
        assumed: Any = self
        return replace(assumed(**chosen), label=str(self))

    def __matmul__(self, k: int) -> Metric[P]:
        return replace(self, k=cutoff(k))

    def __str__(self) -> str:
        return self.label or self._written(self.settings)

    @property
    def as_stated(self) -> str:
        """The string form with every parameter that was given, though it be its default."""
        return self._written((name, value) for name, value in self.parameters.items() if name in self.stated)

    def _written(self, settings: Iterable[tuple[str, Value]]) -> str:
        shown = ",".join(f"{name}={_printed(value)}" for name, value in settings)
        return f"{self.name}{f'({shown})' if shown else ''}{f'@{self.k}' if self.k is not None else ''}"

    def __repr__(self) -> str:
        return f"<metric {self}>"

    def __eq__(self, other: object) -> bool:
        return str(self) == (str(other) if isinstance(other, Metric) else other)

    def __hash__(self) -> int:
        return hash(str(self))

    def value(self, at: At | AtLists) -> pl.Expr:
        """Return the expression of one list's value, or of a segment's for a set metric, in the words of `at`."""
        value = self.definition.function(at, **dict(self.settings))
        if not isinstance(value, pl.Expr):
            msg = (
                f"the metric {self.name!r} returned {shown(value)}; a metric returns a Polars expression, such as at.hit.sum()"
            )
            raise RecframeError(msg)
        return value

    def expr(self, k: int | None = None, *, rank: str = "rank", relevance: str = "relevance", item: str = "item") -> pl.Expr:
        """Return the metric as a plain Polars expression over one judged list.

        For `frame.group_by("user").agg(...)`, `.over("user")`, or `select` on the list of a single user. The rules are
        those of `rec`: null items are ignored, an item counts once, repeated ranks follow one another in the order
        (rank, item), null and infinite ranks mean not recommended. A rank below 1 is an error when the expression runs.
        Items stand as their column sorts, an Enum's in the order of its categories: cast it to text for that of `rec`.

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
            msg = f"{self.name} needs more than one judged list, so it is no expression over it; ask frame.rec.{self.name}()"
            raise RecframeError(msg)
        metric = self if k is None or self.k is not None else self @ k
        words = At(reach(metric.k), JudgedList(pl.col(rank), pl.col(relevance), pl.col(item)))
        return metric.value(words).cast(pl.Float64).alias(str(metric))

    @overload
    def __get__(self, rec: None, owner: Any = None) -> Metric[P]: ...
    @overload
    def __get__(self, rec: Binds[Bound_co], owner: Any = None) -> Bound_co: ...
    def __get__(self, rec: Binds[Any] | None, owner: Any = None) -> Any:
        return self if rec is None else rec._bound(self)  # noqa: SLF001  a metric in the body of Rec is one of its methods


_registry: dict[str, Metric[...]] = {}
_reserved: set[str] = set()


def reserve(names: Iterable[str]) -> None:
    """Keep names from metrics of the user's own."""
    _reserved.update(names)


def registered() -> dict[str, Metric[...]]:
    """Return every metric by its canonical name, in the order of definition."""
    return dict(_registry)


@overload
def metric(function: Callable[Concatenate[Any, P], pl.Expr], /) -> Metric[P]: ...
@overload
def metric(
    *,
    aliases: Iterable[str] = (),
    formula: str = "",
    range: tuple[float, float] = ...,
    ranges: Mapping[tuple[str, Value], tuple[float, float]] = ...,
    direction: Literal["higher", "lower", ""] = "",
    needs: Iterable[str] = (),
    instead: Mapping[str, str] = ...,
    family: str = "",
    shape: Shape = "user",
    shapes: Mapping[tuple[str, Value], Shape] = ...,
    over: Over = "users",
    linear: bool = False,
) -> Callable[[Callable[Concatenate[Any, P], pl.Expr]], Metric[P]]: ...
def metric(function: Any = None, /, **about: Any) -> Any:
    """Register a function as a metric; it then works wherever a built-in one does.

    The function takes `at`, the words that metrics are written in (see `recframe.At`), and keyword parameters with
    defaults. It returns a Polars expression with one value per list. Its name is the metric's name. `linear=True` says that
    it is a sum of words of the hits, in the sense of `At`, and so holds with `ties="expected"` and `"last"`.

    Raises a RecframeError where the name is taken, by another metric or by a method of `rec`. Defining a metric of
    your own again, as notebooks do, replaces it.

    >>> import polars as pl, recframe as rf
    >>> @rf.metric
    ... def first_page_hits(at):
    ...     "Number of hits on the first page of five."
    ...     return (at.rank <= 5).sum()
    >>> df = pl.DataFrame({"user": [1, 1, 1], "item": [1, 2, 3], "rank": [1, 2, 7], "relevance": [1, 0, 1]})
    >>> df.rec.first_page_hits()
    1.0
    """
    if function is None:
        return lambda written: _register(written, **about)
    return _register(function, **about)


def _register(function: Callable[..., pl.Expr], **about: Any) -> Metric[...]:
    name = getattr(function, "__name__", "")
    about = {key: tuple(value) if key in {"aliases", "needs", "range"} else value for key, value in about.items()}
    definition = Definition(name, function, **about)
    if definition.builtin and not definition.family:  # a page of metrics is a family
        page = function.__module__.rpartition(".")[2].removesuffix("_metrics")
        definition = replace(definition, family=page)
    _check_names(definition)
    _check_signature(definition)
    new: Metric[...] = Metric(definition)
    _registry[name] = new
    return new


def _check_names(definition: Definition) -> None:
    reserved = frozenset() if definition.builtin else frozenset(_reserved)
    taken = _spellings(without="" if definition.name in reserved else definition.name)
    for name in (definition.name, *definition.aliases):
        if not _NAME.fullmatch(name):
            msg = f"{name!r} cannot name a metric; write the metric as a function with `def`"
            raise RecframeError(msg)
        if name in reserved:
            msg = f"{name!r} is a name of recframe's own; give the metric another name"
            raise RecframeError(msg)
        if name.casefold() in taken:
            msg = f"{name!r} already names the metric {taken[name.casefold()].name!r}; give the metric another name"
            raise RecframeError(msg)


def _check_signature(definition: Definition) -> None:
    if not inspect.signature(definition.function).parameters:
        msg = f"a metric takes the words it is written in: def {definition.name}(at): ..."
        raise RecframeError(msg)
    for name, parameter in definition.parameters.items():
        if parameter.default is parameter.empty or parameter.kind is not parameter.KEYWORD_ONLY:
            msg = f"parameter {name!r} of {definition.name} needs a default and a star before it: (at, *, {name}=...)"
            raise RecframeError(msg)


def _spellings(without: str = "") -> dict[str, Metric[...]]:
    """Return every name and alias, case folded, with its metric."""
    known = [one for one in _registry.values() if one.name != without]
    return {name.casefold(): one for one in known for name in (one.name, *one.definition.aliases)}


def _signature(definition: Definition) -> str:
    return ", ".join(f"{name}={_printed(p.default)}" for name, p in definition.parameters.items())


def _printed(value: Value) -> str:
    if isinstance(value, str):
        return value if _NAME.fullmatch(value) and value.casefold() not in {"true", "false"} else repr(value)
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _checked(definition: Definition, name: str, value: object) -> Value:
    """Return the value in its plain form, or say what the parameter takes."""
    if name not in definition.parameters:
        found = sentence(f"{definition.name} has no parameter {name!r}", suggestion(name, definition.parameters))
        msg = f"{found} It has {_signature(definition) or 'none'}"
        raise UnknownMetricError(msg)
    kind, extras = definition.kind(name)
    if kind is Literal:
        if isinstance(value, str) and value in extras:
            return value
        takes = " or ".join(repr(choice) for choice in extras)
    elif bounds := [extra for extra in extras if isinstance(extra, Bounds)]:
        number = _number(value)
        if number is not None and math.isfinite(number) and number in bounds[0]:
            return number
        takes = str(bounds[0])
    elif isinstance(value, str | bool):
        return value
    elif (number := _number(value)) is not None:
        return number
    else:
        takes = "a text, a number, True or False"
    msg = f"{definition.name}({name}={shown(value)}): {name} takes {takes}"
    raise RecframeError(msg)


def _number(value: object) -> int | float | None:
    if isinstance(value, bool | str):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        pass
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return int(number) if number.is_integer() else number


def parse(text: str) -> Metric[...]:
    """Return the metric that a string names, such as `"ndcg@10"`, `"P@5"` or `"map(normalizer=min)@10"`.

    Names and aliases are read in any case. Raises an UnknownMetricError that gives the closest name.

    >>> import recframe as rf
    >>> str(rf.parse("nDCG(gain=exp)@10"))
    'ndcg(gain=exp)@10'
    """
    parts = _TEXT.fullmatch(text) if isinstance(text, str) else None
    if parts is None:
        msg = f"{shown(text)} is not a metric; write a name, parameters and a cut-off, as in 'map(normalizer=min)@10'"
        raise UnknownMetricError(msg)
    name, settings, k = parts.groups()
    found = lookup(name, shown=text)
    chosen = found(**dict(_setting(found, part) for part in re.split(r",\s*", settings) if part.strip())) if settings else found
    if k is not None and (not k.isdecimal() or len(k) > _DIGITS):
        msg = f"{text!r}: the cut-off behind @ is a positive whole number, as in '{name}@10'"
        raise UnknownMetricError(msg)
    return chosen if k is None else chosen @ int(k)


def _pickled(metric: Metric[...]) -> tuple[Callable[[str], Metric[...]], tuple[str]]:
    return parse, (metric.as_stated,)


copyreg.pickle(Metric, _pickled)  # by its string form, as functions are by their names


def lookup(name: str, shown: str = "") -> Metric[...]:
    """Return the metric of a name or alias; `shown` is what the user wrote."""
    if name in _registry:
        return _registry[name]
    known = _spellings()
    if name.casefold() in known:
        return known[name.casefold()]
    if form := form_of(name):
        msg = f"unknown metric {shown or name!r}; that is {form!r}"
        raise UnknownMetricError(msg)
    close = suggestion(name, known, closeness=0.5)  # two letters of 'ndcg' exchanged
    close = close.replace("'?", f"{shown[shown.find(name) + len(name) :]}'?") if close and shown else close
    msg = f"unknown metric {shown or name!r}{close or '; known are ' + ', '.join(_registry)}"
    raise UnknownMetricError(msg)


def form_of(name: str) -> str:
    """Return how a metric is written that other libraries have under a name of its own; nothing for any other name."""
    forms = {other: form for one in _registry.values() for other, form in one.definition.instead.items()}
    return forms.get(name.casefold(), "")


def _setting(found: Metric[...], part: str) -> tuple[str, Value]:
    name, equals, text = (piece.strip() for piece in part.partition("="))
    if not equals:
        msg = f"{part!r} is not a parameter; write {found.name}({_signature(found.definition) or '...'})"
        raise UnknownMetricError(msg)
    if text[:1] in {"'", '"'} and text[-1:] == text[:1]:
        return name, text[1:-1]
    if text.casefold() in {"true", "false"}:
        return name, text.casefold() == "true"
    try:
        return name, int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
    except ValueError:
        return name, text


def asked(metrics: Iterable[object], k: object = None) -> list[Metric[...]]:
    """Return the metrics asked for, each with each cut-off, once and in the order asked."""
    found = [one if isinstance(one, Metric) else parse(one) if isinstance(one, str) else _not_a_metric(one) for one in metrics]
    if not found:
        msg = 'no metric was asked for; write for example evaluate("ndcg@10", "recall@20"); rf.list_metrics() has them all'
        raise RecframeError(msg)
    ks = cutoffs(k)
    each = [one if one.k is not None or at is None else one @ at for one in found for at in ks]
    # Equal metrics come once; one that states a default is kept beside one that leaves it to a profile.
    return list({(one, one.stated): one for one in each}.values())


def _not_a_metric(one: object) -> Metric[...]:
    msg = f"{shown(one)} is not a metric; write names or metric objects one after another: evaluate('ndcg@10', rf.recall @ 20)"
    raise RecframeError(msg)


def list_metrics() -> pl.DataFrame:
    """Return the registry as a frame, one row for each metric.

    Columns: name, aliases, parameters, range, direction, family, shape, over, formula and needs. `shape` is "user" for a mean
    of values, "set" for one function of a segment; `over` says whether it runs over the "users" of the universe or over
    "lists". `needs` names the side frames that a metric cannot do without; the catalogue is the items frame, or the train
    frame for its items. A metric over lists that needs relevance runs over lists of the universe's users alone. An open end
    of a range is infinite.

    >>> import recframe as rf
    >>> rf.list_metrics().height >= 17
    True
    """
    rows = [
        {
            "name": one.name,
            "aliases": ", ".join(one.definition.aliases),
            "parameters": _signature(one.definition),
            "range": "[{:g}, {:g}]".format(*one.definition.range),
            "direction": one.definition.direction,
            "family": one.definition.family,
            "shape": one.definition.shape,
            "over": one.definition.over,
            "formula": one.definition.formula,
            "needs": ", ".join(one.definition.needs),
        }
        for one in _registry.values()
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.String))
