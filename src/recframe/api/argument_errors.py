"""Errors of arguments, and of names that nothing has."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import wraps
from inspect import Parameter
from typing import TYPE_CHECKING, Any, TypeVar, cast

import polars as pl

from recframe.errors import CallError, RecframeError, kind_of, sentence, shown, suggestion
from recframe.frames import options
from recframe.frames.by_expressions import Made, made_by
from recframe.frames.hints import Given, own_word
from recframe.frames.options import OPTIONS, SIDES, TYPES, is_side
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import Asked, By, Cutoffs

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Asked", "By", "Cutoffs"]

F = TypeVar("F", bound="pl.DataFrame | pl.LazyFrame | pd.DataFrame")
"""The kind of a frame, and of its results."""
OF_A_CALL = {"k": "10", "by": "'country'"}
"""Arguments of a metric that `rec(...)` does not take, each with an example."""

ONE_LIST = ("power", "gaps", "slices", "pareto", "require", "worst", "best", "plot.exposure")
"""Methods that need one list of each user and model."""

PLAIN = (str, int, float, list, tuple, range, Metric, type(None))
"""Types of arguments that are surely no frames."""
SHARES = {"level": "0.95", "margin": "0.01", "wanted": "0.01"}
"""The options that take a number between 0 and 1, each with an example."""
NUMBERS = {"seed": 0} | dict.fromkeys(("min_users", "depth", "bins", "most"), 1)
"""The options that take a whole number, each with the smallest."""
OF_ALL_METHODS = {*SHARES, *NUMBERS}
"""The options that mean the same in all methods."""
CLOSE = 0.8
"""The similarity from which an option is suggested: `test` is none of `ties`."""
VARIABLE = {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD}
C = TypeVar("C", bound=Callable[..., Any])


def check_call(
    call: str, arguments: Sequence[object], given: Mapping[str, Any], named: Sequence[str]
) -> None:
    """Reject frames that are not bound, and unknown options; those that a metric does not have are its own to reject."""
    for argument in (*arguments, given.get("k"), given.get("by")):
        if not isinstance(argument, PLAIN) and is_side(argument):
            first = f"bind it first: frame.rec(truth=truth).{call}(...)"
            msg = f"rec.{call}() takes no frame, but found {kind_of(argument)}; {first}"
            raise CallError(msg)
    for name in given:
        if name not in named:
            _reject(name, given[name], named, call)


def check_options(given: Mapping[str, Any]) -> None:
    """Reject unknown options of `rec(...)`."""
    for name in given:
        if name not in OPTIONS:
            _reject(name, given[name], OPTIONS, "")


def _reject(name: str, value: Any, named: Collection[str], call: str) -> None:
    """Reject an option that a call does not have, with how it is written, or the closest that it has."""
    said = f"{f'rec.{call}' if call else 'rec'}() has no option {name!r}"
    if words := _written(name, value, named, call):
        raise CallError(f"{said}, {words}")
    if call not in registry.registered():
        close = suggestion(name, named, closeness=CLOSE)
        raise CallError(f"{sentence(said, close)} It has {', '.join(named) or 'none'}")


def _written(name: str, value: Any, named: Collection[str], call: str) -> str:
    """Return how an option is written that a call has under another name, or that is given elsewhere."""
    own = name if name in OPTIONS else own_word(name)
    if own in named:
        return f"which is {own}= here; write {own}={own if own in SIDES else shown(value)}"
    if own in OF_A_CALL and not call:
        return f"which is given with the metric: frame.rec(...).ndcg({own}={OF_A_CALL[own]})"
    if own in OPTIONS and (own == name or own not in SIDES or is_side(value)):
        given = own if own in SIDES else "..."
        return f"which is bound first: frame.rec({own}={given}).{call}(...)"
    if name in {"metric", "metrics"} and call:
        metric = next(iter(registry.each([value])), "ndcg")
        return f"since metrics are named by position: {call}({shown(metric)}, ...)"
    return ""


def _check_one_list(name: str, rec: Any) -> None:
    """Say that a method goes by one list of each user, where trainings give several."""
    training = rec._context.training  # noqa: SLF001  the methods of this room are those of a Rec
    if training is not None:
        msg = (
            f"rec.{name}() needs one list of each user, but {Given('training', training)} gives several; summarize(...) and "
            "compare(...) are over users and trainings; or call it for one training: leave training= out of a frame filtered "
            f"to one value of {training!r}"
        )
        raise RecframeError(msg)


def names(by: object, bound: Iterable[str | Made] = ()) -> list[str | Made]:
    """Return the distinct column names and expressions of a `by` argument, behind those that are bound."""
    if by is None:
        return [*bound]
    single = isinstance(by, str) or is_side(by) or not isinstance(by, Iterable)
    given = map(_name, [by] if single else by)  # type: ignore[call-overload]
    return [*dict.fromkeys([*bound, *given])]


def _name(one: object) -> str | Made:
    if isinstance(one, pl.Expr):
        return made_by(one)
    if not isinstance(one, str | Made):
        msg = f"by= takes the names of columns as text, and Polars expressions; found {shown(one)}"
        raise RecframeError(msg)
    return one


def plain(name: str, value: Any) -> Any:
    """Return the value of an option that means the same in all methods in its plain form, or say what it takes."""
    if value is None and name == "margin":
        return None
    if name in SHARES:
        return options.share(name, value, SHARES[name])
    return options.whole(name, value, NUMBERS[name])


def understood(method: C) -> C:
    """Decorate a method to answer unknown options with the right spelling, and to check those of all methods."""
    takes = inspect.signature(method).parameters.items()
    own = [one for one, how in takes if how.kind not in VARIABLE and one != "self"]
    owner = method.__qualname__.partition(".")[0]
    place = "split." if owner == "Splits" else "plot." * owner.startswith("Plot")
    name = "plot" if method.__qualname__ == "Plot.__call__" else place + method.__name__

    @wraps(method)
    def called(self: Any, *arguments: Any, **given: Any) -> Any:
        check_call(name, arguments, given, own)
        if name in ONE_LIST:
            _check_one_list(name, vars(self).get("_of", self))
        for option in given.keys() & OF_ALL_METHODS:
            given[option] = plain(option, given[option])
        return method(self, *arguments, **given)

    return cast("C", called)


def bound(method: C) -> C:
    """Decorate `rec(...)` to answer unknown options with the right spelling, and to show all options it has."""

    @wraps(method)
    def called(self: Any, *truth: Any, **given: Any) -> Any:
        check_options(given)
        return method(self, *truth, **given)

    vars(called)["__signature__"] = _signature_of_rec(inspect.signature(method).parameters)
    return cast("C", called)


def _signature_of_rec(takes: Mapping[str, Parameter]) -> inspect.Signature:
    """Return the parameters of `rec(...)`: the truth by position too, and each option by its name."""
    types = {name: f"{of.removesuffix(' | None')} | None" for name, of in TYPES.items()}
    named = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=types[name])
        for name in OPTIONS
        if name != "truth"
    ]
    return inspect.Signature([takes["self"], takes["truth"], *named], return_annotation="Rec[F]")


def no_method(name: str, methods: Iterable[str]) -> str:
    """Return the words on a method that `rec` does not have."""
    told = registry.elsewhere(name)
    known = [*registry.registered(), *methods]
    found = f"; {told}" if told else _meant(name, known, _call)
    return f"rec has no method {name!r}{found or '; rf.list_metrics() has the metrics'}"


def none_of(whose: str, name: str, known: Sequence[str]) -> str:
    """Return the words on a name that a room of `rec` does not have, such as a chart."""
    if name.startswith("_"):
        return name
    return f"{whose} {name!r}{suggestion(name, known) or '; it has ' + ', '.join(known)}"


def no_attribute(name: str, names: Iterable[str], methods: Iterable[str]) -> str:
    """Return the words on a name that the package does not have, which may be one of the methods of `rec`."""
    told = (
        f"call it on a frame: frame.rec.{name}(...)"
        if name in methods
        else registry.elsewhere(name)
    )
    found = f"; {told}" if told else _meant(name, [*names], _attribute)
    return f"module 'recframe' has no attribute {name!r}{found}"


def _meant(name: str, known: Sequence[str], written: Callable[[Metric[...]], str]) -> str:
    """Return the name that is meant, as it is written: of a typo in letters' cases, then of a metric, then the closest."""
    # a name in other letters is a typo of it, and no metric's alias
    if close := suggestion(name, known, closeness=0.99):
        return close
    meant = registry.spelled(name)
    return f"; that is {written(meant)!r}" if meant else suggestion(name, known)


def _call(metric: Metric[...]) -> str:
    cut = [] if metric.k is None else [f"k={metric.k}"]
    settings = [f"{one}={value!r}" for one, value in metric.settings]
    return f"{metric.name}({', '.join([*cut, *settings])})"


def _attribute(metric: Metric[...]) -> str:
    return f"rf.{metric.in_python}" + ("" if metric.k is None else f" @ {metric.k}")
