"""Errors of arguments, and of names that nothing has."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import Parameter
from typing import Any, TypeVar, cast

import polars as pl

from recframe.errors import CallError, RecframeError, kind_of, sentence, shown, suggestion
from recframe.frames.by_expressions import Made, made_by
from recframe.frames.hints import Given
from recframe.frames.options import OPTIONS, SIDES, TYPES, is_side
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric, argument_of
from recframe.statistics import options

ASKED = {"k": "10", "by": "'country'"}
"""Arguments of a metric that `rec(...)` does not take, with an example value."""
METHODS = {
    "evaluate": "'ndcg@10'",
    "summarize": "'ndcg@10'",
    "compare": "'ndcg@10', baseline='popularity'",
    "power": "'ndcg@10', baseline='popularity'",
    "agreement": "'rbo@10'",
    "pareto": "'ndcg@10', 'novelty@10', 'coverage@10'",
    "track": "'ndcg@10', history='history.parquet', as_of='2026-11-22'",
    "fingerprint": "",
    "table": "'ndcg@10'",
    "report": "'ndcg@10', by='country', baseline='popularity'",
    "judge": "",
    "audit": "",
    "explain": "'ndcg@10'",
    "worst": "'ndcg@10'",
    "best": "'ndcg@10'",
    "require": "'ndcg@10 >= 0.28'",
    "gaps": "'ndcg@10', by='country'",
    "slices": "'ndcg@10', by=['country', 'age']",
    "plot": "theme='dark').curve('ndcg'",
    "plot.curve": "'ndcg', k=range(1, 51)",
    "plot.hits_by_rank": "",
    "plot.precision_recall": "",
    "plot.segments": "'ndcg@10', by='country'",
    "plot.distribution": "'ndcg@10'",
    "plot.compare": "'ndcg@10', baseline='popularity'",
    "plot.tradeoff": "'ndcg@10', 'novelty@10'",
    "plot.pareto": "'ndcg@10', 'novelty@10', 'coverage@10'",
    "plot.exposure": "",
    "plot.overlap": "'rbo@10'",
    "plot.timeline": "'ndcg@10'",
    "split": "",
    "core": "",
    "split.by_time": "last='7d'",
    "split.rolling": "folds=4, horizon='7d'",
    "split.last_per_user": "",
    "split.random": "share=0.2, seed=0",
    "split.by_user": "folds=5",
}
"""Methods other than metrics, with example arguments."""

OF_ONE_TRAINING = {
    "power": "compare('ndcg@10', baseline='old') tests models over users and trainings, and summarize('ndcg@10') has intervals",
    "gaps": "summarize('ndcg@10', by='country') has segments' values over users and trainings",
    "slices": "summarize('ndcg@10', by='country') has segments' values over users and trainings",
    **dict.fromkeys(("worst", "best"), "evaluate('ndcg@10', by='user') has each user's mean"),
    **dict.fromkeys(("agreement", "plot.exposure", "plot.overlap"), ""),
}
"""Methods that need one list per user and model, with the alternative over trainings."""

PLAIN = (str, int, float, list, tuple, range, Metric, type(None))
"""Placeholder of a missing frame."""
SHARES = {"level": "0.95", "margin": "0.01", "wanted": "0.01"}
"""The options that take a number between 0 and 1, each with an example."""
NUMBERS = {"seed": 0} | dict.fromkeys(("min_users", "depth", "bins", "most"), 1)
"""The options that take a whole number, each with the smallest."""
FLAGS = {"wide", "per_user"}
"""The options that take True or False."""
CHECKED = {*SHARES, *NUMBERS, *FLAGS}
Takes = Mapping[str, Parameter]
C = TypeVar("C", bound=Callable[..., Any])


def check_call(
    call: str, arguments: Sequence[object], options: Mapping[str, Any], takes: Takes
) -> None:
    """Reject invalid arguments of a method or metric."""
    asks = f"{call}({METHODS.get(call, 'k=10')})"
    for argument in (*arguments, *map(options.get, ASKED)):
        if not isinstance(argument, PLAIN) and is_side(argument):
            msg = f"rec.{call}() takes no frame, but found {kind_of(argument)}; bind it first: frame.rec(truth=truth).{asks}"
            raise CallError(msg)
    own = {name: one for name, one in takes.items() if name != "self"}
    named = [name for name, one in own.items() if one.kind is not Parameter.VAR_POSITIONAL]
    for name in options:
        if name in named:
            continue
        if name in OPTIONS:
            value = name if name in SIDES else "'...'"
            msg = f"rec.{call}() has no option {name!r}, which is bound first: frame.rec({name}={value}).{asks}"
            raise CallError(msg)
        if (meant := argument_of(name)) in named:
            msg = f"rec.{call}() has no option {name!r}, which is {meant}= here; write {meant}={shown(options[name])}"
            raise CallError(msg)
        if call in METHODS:
            found = sentence(f"rec.{call}() has no option {name!r}", suggestion(name, named))
            msg = f"{found} It has {', '.join(named) or 'none'}"
            raise CallError(msg)
    if call in METHODS:
        _check_places(call, arguments, options, own)


def _check_places(
    call: str, arguments: Sequence[object], options: Mapping[str, Any], takes: Takes
) -> None:
    """Reject too many or too few positional arguments."""
    example = f"write rec.{call}({METHODS[call]})"
    kinds = {name: one.kind for name, one in takes.items()}
    places = [name for name, kind in kinds.items() if kind is Parameter.POSITIONAL_OR_KEYWORD]
    given = {*options, *places[: len(arguments)]}
    lacking = [
        name
        for name, one in takes.items()
        if one.default is Parameter.empty
        and one.kind is not Parameter.VAR_POSITIONAL
        and name not in given
    ]
    if len(arguments) > len(places) and Parameter.VAR_POSITIONAL not in kinds.values():
        takes_some = f"takes {', '.join(places) or 'nothing'} by position"
        beyond = ", ".join(map(shown, arguments[len(places) :]))
        msg = f"rec.{call}() {takes_some}, but found {beyond} after it; {example}"
        raise CallError(msg if places else msg.replace(" after it", ""))
    if lacking:
        msg = f"rec.{call}() needs {' and '.join(lacking)}; {example}"
        raise CallError(msg)


def check_options(
    _call: str, arguments: Sequence[object], options: Mapping[str, Any], _takes: Takes
) -> None:
    """Reject invalid arguments of `rec(...)`: the truth, and named options."""
    if arguments:
        _check_truth(arguments, options)
    for name in options:
        own = argument_of(name)
        if own in ASKED:
            msg = f"rec() has no option {name!r}, which is given with the metric: frame.rec(...).ndcg({own}={ASKED[own]})"
            raise CallError(msg)
        if name not in OPTIONS:
            msg = f"{sentence(f'rec() has no option {name!r}', suggestion(name, OPTIONS))} It has {', '.join(OPTIONS)}"
            raise CallError(msg)


def _check_truth(arguments: Sequence[object], options: Mapping[str, Any]) -> None:
    """Reject positional arguments of `rec(...)` other than the truth."""
    first, *others = arguments
    by_name = "rec() takes the truth by position and its options by name"
    if others:
        option = "train=train" if is_side(others[0]) else "user='user_id'"
        msg = (
            f"{by_name}, but found {kind_of(others[0])} after the truth: frame.rec(truth, {option})"
        )
        raise CallError(msg)
    if first is not None and not is_side(first):
        msg = f"{by_name}, but found {kind_of(first)} in its place: frame.rec(user='user_id')"
        raise CallError(msg)
    if "truth" in options:
        msg = "rec() got the truth twice, by position and as truth=; write one of them: frame.rec(truth)"
        raise CallError(msg)


def _check_one_list(name: str, rec: Any) -> None:
    """Say that a method goes by one list of each user, where trainings give several."""
    training = rec._context.training  # noqa: SLF001  the methods of this room are those of a Rec
    if training is not None:
        instead = f"{OF_ONE_TRAINING[name]}; or " * bool(OF_ONE_TRAINING[name])
        msg = (
            f"rec.{name}() needs one list of each user, but {Given('training', training)} gives several; {instead}call it "
            f"for one training: leave training= out of a frame filtered to one value of {training!r}"
        )
        raise RecframeError(msg)


def names(by: object) -> list[str | Made]:
    """Return the column names and expressions of a `by` argument."""
    if by is None:
        return []
    single = isinstance(by, str) or is_side(by) or not isinstance(by, Iterable)
    return [_name(one) for one in ([by] if single else by)]  # type: ignore[attr-defined]


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
    if name in NUMBERS:
        return options.whole(name, value, NUMBERS[name])
    return options.yes_or_no(name, value)


def understood(method: C) -> C:
    """Decorate a method to answer unknown arguments with the right spelling; its signature stays."""
    takes = inspect.signature(method).parameters
    owner = method.__qualname__.partition(".")[0]
    place = "split." if owner == "Splits" else "plot." * owner.startswith("Plot")
    binds = method.__qualname__ == "Rec.__call__"
    checked = check_options if binds else check_call

    @wraps(method)
    def called(self: Any, *arguments: Any, **given: Any) -> Any:
        # of a metric that is bound; a Rec would look for a metric of that name
        metric = vars(self).get("metric")
        own_name = "plot" if method.__qualname__ == "Plot.__call__" else place + method.__name__
        name, own = (
            (own_name, {}) if metric is None else (metric.name, metric.definition.parameters)
        )
        checked(name, arguments, given, {**takes, **own})
        if name in OF_ONE_TRAINING:
            _check_one_list(name, vars(self).get("_of", self))
        for option in CHECKED.intersection(given):
            given[option] = plain(option, given[option])
        return method(self, *arguments, **given)

    if binds:
        vars(called)["__signature__"] = _signature_of_rec(takes)
    return cast("C", called)


def _signature_of_rec(takes: Takes) -> inspect.Signature:
    """Return the parameters of `rec(...)`: the truth by position too, and each option by its name."""
    named = []
    for name in OPTIONS:
        annotation = f"{TYPES[name].removesuffix(' | None')} | None"
        kind = TYPES[name] if TYPES[name] == "Any" else annotation
        named.append(Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind))
    of_position = [takes[name] for name in ("self", "truth")]
    return inspect.Signature([*of_position, *named[1:]], return_annotation="Rec[F]")


_TESTS = "compare('ndcg@10', baseline='...') tests differences of models"
_INTERVALS = "summarize('ndcg@10') gives intervals"
_GATES = "require('ndcg@10 >= 0.28') is a gate"
_TIMELINE = "rf.history('history.parquet').rec.plot.timeline('ndcg@10') draws a history"
_CHANGES = "rf.changes('history.parquet') flags the runs of a history that are not as expected"
_HISTORY = "rf.history('history.parquet') has the runs that were tracked"
OVER_TIME = {
    **dict.fromkeys(("timeline", "plot_timeline", "plot_history"), _TIMELINE),
    **dict.fromkeys(("changes", "drift", "alerts", "anomalies", "monitor", "flagged"), _CHANGES),
}
"""Foreign names of history functions, with the own call."""
MEANT = {
    **OVER_TIME,
    "history": _HISTORY,
    **dict.fromkeys(("test", "ttest", "t_test", "significance", "significant", "wilcoxon"), _TESTS),
    **dict.fromkeys(
        ("ci", "interval", "intervals", "confidence_interval", "bootstrap"), _INTERVALS
    ),
    **dict.fromkeys(("gate", "check", "assert_", "require_that"), _GATES),
}
"""Foreign names of methods, with the own call."""


def no_method(name: str, methods: Iterable[str]) -> str:
    """Return the words on a method that `rec` does not have."""
    told = MEANT.get(name.casefold()) or registry.elsewhere(name)
    known = [*registry.registered(), *methods]
    found = f"; {told}" if told else _meant(name, known, _call)
    return f"rec has no method {name!r}{found or '; rf.list_metrics() has the metrics'}"


def no_attribute(name: str, names: Iterable[str]) -> str:
    """Return the words on a name that the package does not have."""
    told = OVER_TIME.get(name.casefold())
    if told is None and name in METHODS:
        told = f"call it on a frame: frame.rec.{name}({METHODS[name]})"
    told = told or registry.elsewhere(name)
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
