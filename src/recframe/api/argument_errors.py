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
"""The options of all methods that take a number between 0 and 1, each with an example."""
NUMBERS = {"seed": 0} | dict.fromkeys(("min_users", "depth", "bins", "most"), 1)
"""The options of all methods that take a whole number, each with the smallest."""
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
            raise CallError(
                f"rec.{call}() takes no frame, but found {kind_of(argument)}; bind it first: frame.rec(truth=truth).{call}(...)"
            )
    check_options(given, named, call)


def check_options(
    given: Mapping[str, Any], named: Collection[str] = OPTIONS, call: str = ""
) -> None:
    """Reject an option that a call, or `rec(...)`, does not have, with how it is written, or the closest that it has."""
    for name, value in given.items():
        if name in named:
            continue
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
        return (
            f"which is bound first: frame.rec({own}={own if own in SIDES else '...'}).{call}(...)"
        )
    if name in {"metric", "metrics"} and call:
        metric = next(iter(registry.each([value])), "ndcg")
        return f"since metrics are named by position: {call}({shown(metric)}, ...)"
    return ""


def names(by: object, bound: Iterable[str | Made] = ()) -> list[str | Made]:
    """Return the distinct column names and expressions of a `by` argument, behind those that are bound."""
    if by is None:
        return [*bound]
    single = isinstance(by, str) or is_side(by) or not isinstance(by, Iterable)
    given: Any = [by] if single else by
    found = [*bound]
    for one in given:
        made = made_by(one) if isinstance(one, pl.Expr) else one
        if not isinstance(made, str | Made):
            raise RecframeError(
                f"by= takes the names of columns as text, and Polars expressions; found {shown(one)}"
            )
        found.append(made)
    return [*dict.fromkeys(found)]


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
        rec = vars(self).get("_of", self)
        if name in ONE_LIST and (training := rec._context.training) is not None:  # noqa: SLF001  those of a Rec
            raise RecframeError(
                f"rec.{name}() needs one list of each user, but {Given('training', training)} gives several; summarize(...) "
                "and compare(...) are over users and trainings; or call it for one training: leave training= out of a frame "
                f"filtered to one value of {training!r}"
            )
        for option in given.keys() & SHARES.keys():
            if given[option] is not None or option != "margin":
                given[option] = options.share(option, given[option], SHARES[option])
        for option in given.keys() & NUMBERS.keys():
            given[option] = options.whole(option, given[option], NUMBERS[option])
        return method(self, *arguments, **given)

    return cast("C", called)


def signature_of_rec(first: str) -> inspect.Signature:
    """Return the parameters of `rec(...)`: the first and the truth by position too, and each option by its name."""
    own = Parameter(first, Parameter.POSITIONAL_OR_KEYWORD)
    found = [own, own.replace(name="truth", default=None, annotation="Any")]
    for name in OPTIONS[1:]:
        annotation = f"{TYPES[name].removesuffix(' | None')} | None"
        found.append(Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation))
    return inspect.Signature(found, return_annotation="Rec[F]")


def no_method(name: str, methods: Iterable[str]) -> str:
    """Return the words on a method that `rec` does not have."""
    known = [*registry.registered(), *methods]
    found = _meant(name, known, registry.elsewhere(name), _call)
    return f"rec has no method {name!r}{found or '; rf.list_metrics() has the metrics'}"


def none_of(whose: str, name: str, known: Sequence[str]) -> str:
    """Return the words on a name that a room of `rec` does not have, such as a chart."""
    if name.startswith("_"):
        return name
    return f"{whose} {name!r}{suggestion(name, known) or '; it has ' + ', '.join(known)}"


def no_attribute(name: str, names: Iterable[str], methods: Iterable[str]) -> str:
    """Return the words on a name that the package does not have, which may be one of the methods of `rec`."""
    of_frame = f"call it on a frame: frame.rec.{name}(...)"
    told = of_frame if name in methods else registry.elsewhere(name)
    return f"module 'recframe' has no attribute {name!r}{_meant(name, names, told, _attribute)}"


def _meant(
    name: str, known: Iterable[str], told: str, written: Callable[[Metric[...]], str]
) -> str:
    """Return the advice on a name, or what is meant as it is written: a typo in letters' cases, a metric, the closest name."""
    if told:
        return f"; {told}"
    # a name in other letters is a typo of it, and no metric's alias
    known = [*known]
    close, meant = suggestion(name, known, closeness=0.99), registry.spelled(name)
    written_so = f"; that is {written(meant)!r}" if meant else ""
    return close or written_so or suggestion(name, known)


def _call(metric: Metric[...]) -> str:
    given = {"k": metric.k, **dict(metric.settings)}
    settings = [f"{name}={value!r}" for name, value in given.items() if value is not None]
    return f"{metric.name}({', '.join(settings)})"


def _attribute(metric: Metric[...]) -> str:
    return f"rf.{metric.in_python}" + ("" if metric.k is None else f" @ {metric.k}")
