"""Registry of metrics: decorator, names, aliases and string forms."""

from __future__ import annotations

import ast
import copyreg
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Concatenate, overload

import polars as pl

from recframe.errors import RecframeError, UnknownMetricError, folded, shown, suggestion
from recframe.metrics.language.definition import (
    NAME,
    OWNERS,
    Definition,
    Direction,
    Metric,
    Over,
    P,
    Shape,
    Value,
    at_cutoffs,
    signature_of,
)

Cutoffs = int | Iterable[int] | None
By = str | pl.Expr | Iterable[str | pl.Expr] | None
Asked = str | Metric[...] | Sequence[str | Metric[...]]
"""One metric, or several in a list."""
_DIGITS = 4000  # Python reads no longer number
_EXAMPLE = 10
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_SETTING = re.compile(rf"(?:{_QUOTED.pattern}|[^,])+")
"""A parameter and its value, in which commas stand within quotes alone."""
_TEXT = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*(?:\((.*)\))?\s*(?:@\s*(\S+))?\s*")


_NAMES = {
    "hit_rate": "hit ratio, hits rate, hit_rate_score, success rate, hit_at, any_hit, "
    "top k accuracy, top_k_accuracy_score",
    "n_hits": "number of hits, num_hits, hit count, true positives, tp",
    "precision": "prec, precision score, positive predictive value",
    "precision(average=pooled)": "micro precision, micro averaged precision, pooled precision",
    "recall": "recall score, sensitivity, true positive rate, tpr",
    "recall(denominator=capped)": "recall_cap, capped recall",
    "recall(average=pooled)": "micro recall, micro averaged recall, pooled recall",
    "f_score": "f1 score, f measure, f1 measure, fmeasure, f beta",
    "f_score(beta=2)": "f2, f2 score",
    "f_score(average=pooled)": "micro f1, micro f1 score, micro f score, micro averaged f1, pooled f1",
    "map": "mean average precision, average precision, avg precision, mean ap, average_precision_score",
    "map(average=geometric)": "gmap, gm_map, geometric map, geometric mean average precision",
    "eleven_point_precision": "11pt_avg, 11 point average precision, eleven point average precision, "
    "eleven point interpolated average precision",
    "interpolated_precision": "iprec_at_recall, interpolated recall precision",
    "hit_rate@1": "success at first, hit at first, hits at first, top 1 accuracy, top1 hit rate",
    "mrr": "reciprocal rank, mean reciprocal rank, recip rank, inverse rank",
    "dcg": "discounted cumulative gain, discounted gain, dcg score",
    "dcg(gain=exp)": "exponential dcg",
    "ndcg": "normalized discounted cumulative gain, normalised discounted cumulative gain, normalized dcg, ndcg score, "
    "ndcg_cut",
    "ndcg(gain=exp)": "exponential ndcg, ndcg_exp",
    "rbp": "rank biased precision",
    "err": "expected reciprocal rank",
    "insq": "inverse squares",
    "bpm": "bejeweled player model",
    "sdcg": "scaled dcg, scaled discounted cumulative gain",
    "bpref": "binary preference",
    "gauc": "nauc, group auc, grouped auc, wuauc, weighted user auc, impression weighted auc",
    "auc": "uauc, user auc, roc auc, area under curve, area under the curve, roc auc score, auroc",
    "first_rank": "rank of first hit, first relevant rank, first hit",
    "list_length": "n_recommendations, number of recommendations, list size",
    "judged": "judged share",
    "coverage": "catalog coverage, catalogue coverage, item coverage, item space coverage, aggregate diversity, "
    "prediction coverage, aggdiv",
    "user_coverage": "user space coverage",
    "gini": "gini index, gini coefficient",
    "entropy": "shannon entropy, item entropy",
    "fall_out": "false positive rate, fpr",
    "mcc": "matthews correlation, matthews correlation coefficient, matthews",
    "diversity": "intra list diversity, intralist diversity, intra list distance",
    "miscalibration": "calibration error, kl calibration, c_kl",
    "alpha_ndcg": "andcg, a_ndcg",
    "personalization": "personalisation, inter list diversity, inter user diversity, interlist diversity",
    "novelty": "mean self information, surprisal, mean inverse user frequency",
    "epc": "expected popularity complement",
    "efd": "expected free discovery",
    "popularity": "average popularity, average recommendation popularity, avg popularity, mean popularity",
    "long_tail_share": "long tail, average percentage of long tail items, tail percentage, long tail percentage",
    "popularity_lift": "pop lift",
    "rbo": "rank biased overlap",
    "value": "revenue per user, price weighted hits, profit, gmv, basket value",
}


FORMS = {folded(name): form for form, names in _NAMES.items() for name in names.split(",")}
"""String form of each synonym, by case-folded name."""


_ELSEWHERE = {
    "sklearn.metrics.root_mean_squared_error(rating, prediction)": "rmse, root mean squared error, root mean square error",
    "sklearn.metrics.mean_squared_error(rating, prediction)": "mse, mean squared error",
    "sklearn.metrics.mean_absolute_error(rating, prediction)": "mae, mean absolute error",
    "sklearn.metrics.median_absolute_error(rating, prediction)": "median absolute error",
    "sklearn.metrics.mean_absolute_percentage_error(rating, prediction)": "mape, mean absolute percentage error",
    "sklearn.metrics.r2_score(rating, prediction)": "r2, r2 score, r squared, coefficient of determination",
    "sklearn.metrics.explained_variance_score(rating, prediction)": "explained variance, explained variance score, exp var",
    "sklearn.metrics.log_loss(clicked, probability)": "logloss, log loss, cross entropy, binary cross entropy, bce",
    "sklearn.metrics.brier_score_loss(clicked, probability)": "brier, brier score",
    "sklearn.metrics.roc_auc_score(clicked, score)": "pooled auc, global auc, overall auc, stacked auc, micro auc",
}
CALLS = {folded(name): call for call, names in _ELSEWHERE.items() for name in names.split(",")}
"""Call in another library for each prediction metric, by case-folded name."""


def _of_predictions(name: object) -> str:
    """Return the advice on a metric of predictions rather than rankings; nothing for other names."""
    call = CALLS.get(folded(name), "") if isinstance(name, str) else ""
    if not call:
        return ""
    what = "the errors of predictions, row by row"
    return f"not here: recframe measures rankings, not {what}; use {call}"


def form_of(name: str) -> str:
    """Return the string form of a metric with a foreign name; nothing for other names."""
    return FORMS.get(folded(name), "")


_WITH_CUT = re.compile(r"(.*?[^\W\d])[\W_]*(?:at|@)[\W_]*(\d+|k)", re.IGNORECASE)
_WITH_NUMBER = re.compile(r"(.*?[^\W\d])[\W_]*()(\d+)")


def cut_off(name: str) -> tuple[str, str]:
    """Return a name and the cut-off that is written into it, as in `ndcg_at_10`, `recall_at_k` or `ndcg_10`."""
    parts = _WITH_CUT.fullmatch(name) or _WITH_NUMBER.fullmatch(name)
    return (parts[1], parts[parts.lastindex or 0]) if parts else (name, "")


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
    latex: str = "",
    range: tuple[float, float] = ...,
    ranges: Mapping[tuple[str, Value], tuple[float, float]] = ...,
    direction: Direction = "",
    instead: Mapping[str, str] = ...,
    family: str = "",
    shape: Shape = "user",
    shapes: Mapping[tuple[str, Value], Shape] = ...,
    over: Over = "users",
    linear: bool = False,
    grows: bool = False,
    tapers: bool = False,
) -> Callable[[Callable[Concatenate[Any, P], pl.Expr]], Metric[P]]: ...
def metric(function: Any = None, /, **about: Any) -> Any:
    """Register a function as a metric; it then works wherever a built-in one does.

    The function takes `at`, the words for writing metrics (see `recframe.At`), and keyword parameters with defaults. It returns
    a Polars expression with one value per list. Its name is the metric's name. `linear=True` says that it is a sum of words of
    the hits, in the sense of `At`, and so holds with `ties="expected"` and `"last"`; `grows=True` that its value depends on how
    many users there are, as that of coverage does; `tapers=True` that hits far down may add less than 2^-42, as in rbp.
    `latex=` is its formula for typesetting, if `formula=`, in plain text, is not enough.

    Raises a RecframeError if the name is taken, by another metric or by a method of `rec`. Defining your own metric again, as
    notebooks do, replaces it.

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
    """Check a metric and register it; the page of a metric of recframe's own names its family."""
    name = getattr(function, "__name__", "")
    about = {
        key: tuple(value) if key in {"aliases", "range"} else value for key, value in about.items()
    }
    definition = Definition(name, function, **about)
    if definition.builtin:  # pages of metrics are of a family
        page = function.__module__.rpartition(".")[2]
        definition = replace(definition, family=page.partition("_")[0])
    _check_names(definition)
    _check_signature(definition)
    for parameter in definition.defaults:
        OWNERS.setdefault(parameter, {})[name] = None
    return know(definition)


def know(definition: Definition) -> Metric[...]:
    """Register a metric by its definition, which another process may have sent, in place of an older one of its name."""
    new: Metric[...] = Metric(definition)
    _registry[definition.name] = new
    _parsed.cache_clear()
    return new


def _check_names(definition: Definition) -> None:
    """Reject a name that cannot be written, or that something else has."""
    reserved = frozenset() if definition.builtin else frozenset(_reserved)
    taken = _spellings(without="" if definition.name in reserved else definition.name)
    for name in (definition.name, *definition.aliases):
        if not NAME.fullmatch(name):
            raise RecframeError(
                f"{name!r} cannot name a metric; write the metric as a function with `def`"
            )
        if name in reserved:
            raise RecframeError(
                f"{name!r} is a name that recframe uses; give the metric another name"
            )
        if name.casefold() in taken:
            raise RecframeError(
                f"{name!r} already names the metric {taken[name.casefold()].name!r}; give the metric another name"
            )


def _check_signature(definition: Definition) -> None:
    """Reject a metric that takes no words, or a parameter without a default."""
    if not (definition.parameters or inspect.signature(definition.function).parameters):
        raise RecframeError(
            f"a metric takes the words for writing it: def {definition.name}(at): ..."
        )
    for name, parameter in definition.parameters.items():
        if parameter.default is parameter.empty or parameter.kind is not parameter.KEYWORD_ONLY:
            raise RecframeError(
                f"parameter {name!r} of {definition.name} needs a default and a star before it: (at, *, {name}=...)"
            )


def _spellings(without: str = "") -> dict[str, Metric[...]]:
    """Return every name and alias, case folded, with its metric."""
    known = [one for one in _registry.values() if one.name != without]
    return {name.casefold(): one for one in known for name in (one.name, *one.definition.aliases)}


def parse(text: str) -> Metric[...]:
    """Return the metric that a string names, such as `"ndcg@10"`, `"P@5"` or `"map(normalizer=min)@10"`.

    Names and aliases are read in any case. Raises an UnknownMetricError that gives the closest name.

    >>> import recframe as rf
    >>> str(rf.parse("nDCG(gain=exp)@10"))
    'ndcg(gain=exp)@10'
    """
    parts = _TEXT.fullmatch(text) if isinstance(text, str) else None
    if parts is None:
        if meant := meant_by(text):
            raise UnknownMetricError(f"{text!r} is not a metric; that is {str(meant)!r}")
        what = "already a metric, not text" if isinstance(text, Metric) else "not a metric"
        raise UnknownMetricError(
            f"{shown(text)} is {what}; write a name, parameters and a cut-off, as in 'map(normalizer=min)@10'"
        )
    name, settings, k = parts.groups()
    if k is None and not settings and "at" in name:
        base, cut = cut_off(name)
        if cut.isdecimal() and base.casefold() in _spellings():
            name, k = base, cut
    found = lookup(name, shown=text)
    chosen = found
    if settings:
        stated = [part for part in _SETTING.findall(settings) if part.strip()]
        chosen = found(**dict(_setting(found, part) for part in stated))
    if k is not None and (not k.isdecimal() or len(k) > _DIGITS):
        raise UnknownMetricError(
            f"{text!r}: the cut-off after @ is a positive whole number, as in '{name}@10'{_as_parameter(found, k)}"
        )
    return chosen if k is None else chosen @ int(k)


_parsed = lru_cache(parse)
"""`parse` of texts, which a small call would spend a tenth of its own time on."""


def _as_parameter(found: Metric[...], text: str) -> str:
    """Return the spelling of a number after @ that sets the first parameter, as the recall of `iprec@0.1`."""
    if not found.definition.parameters or not re.fullmatch(r"[01]?\.\d+", text):
        return ""
    try:
        form: Any = found(**{next(iter(found.definition.parameters)): float(text)})
    except RecframeError:
        return ""
    return f"; that number is a parameter, {form.as_stated!r}"


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
    if told := elsewhere(name):
        raise UnknownMetricError(f"unknown metric {shown or name!r}; {told}")
    if meant := meant_by(name):
        cut = (shown or name).partition("@")[2].strip()
        meant = meant @ int(cut) if cut.isdecimal() and len(cut) <= _DIGITS and int(cut) else meant
        raise UnknownMetricError(f"unknown metric {shown or name!r}; that is {str(meant)!r}")
    close = suggestion(name, known, closeness=0.65)  # two of three letters of 'mrr'
    close = (
        close.replace("'?", f"{shown[shown.find(name) + len(name) :]}'?")
        if close and shown
        else close
    )
    raise UnknownMetricError(
        f"unknown metric {shown or name!r}{close or '; rf.list_metrics() has the metrics'}"
    )


def meant_by(name: object) -> Metric[...] | None:
    """Return the metric that a foreign name means; None for other names.

    A cut-off that is written into the name, as in `ndcg_at_10`, comes with it; `recall_at_k` has that of an example.
    """
    if not isinstance(name, str):
        return None
    if form := _form_of(name):
        return parse(form)
    base, cut = cut_off(name)
    spelled = {folded(one): metric.name for one, metric in _spellings().items()}
    form = _form_of(base) or spelled.get(folded(base), "")
    if not cut:  # `hit-rate`, which no string form or attribute can be
        return parse(form) if form and re.search(r"[\s-]", name.strip()) else None
    if not form or len(cut) > _DIGITS or cut.strip("0") == "":
        return None
    return parse(form) @ (int(cut) if cut.isdecimal() else _EXAMPLE)


def elsewhere(name: str) -> str:
    """Return the advice on a metric that other libraries measure; nothing for other names."""
    return _of_predictions(cut_off(name)[0]) or _of_predictions(name)


def spelled(name: str) -> Metric[...] | None:
    """Return the metric of a name or alias in any case, or the one that is meant by it; None for any other name."""
    return _spellings().get(name.casefold()) or meant_by(name)


def _form_of(name: str) -> str:
    """Return the own spelling of a metric with a foreign name; nothing for other names."""
    forms = {
        other: form for one in _registry.values() for other, form in one.definition.instead.items()
    }
    return forms.get(name.casefold()) or form_of(name)


def _setting(found: Metric[...], part: str) -> tuple[str, Value]:
    """Return a parameter of a written metric and its value."""
    name, equals, text = (piece.strip() for piece in part.partition("="))
    if not equals:
        raise UnknownMetricError(
            f"{part!r} is not a parameter; write {found.name}({signature_of(found.definition) or '...'})"
        )
    if _QUOTED.fullmatch(text):
        try:
            return name, str(ast.literal_eval(text))  # as `repr` printed it
        except (SyntaxError, ValueError):
            return name, text[1:-1]
    if text.casefold() in {"true", "false"}:
        return name, text.casefold() == "true"
    try:
        return name, int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
    except ValueError:
        return name, text


def each(metrics: Iterable[object]) -> Iterator[object]:
    """Give metrics one after another, those of a list or tuple among them too."""
    for one in metrics:
        yield from one if isinstance(one, list | tuple) else (one,)


def asked(metrics: Iterable[object], k: object = None) -> list[Metric[...]]:
    """Return the distinct requested metrics with each cut-off, in the order requested."""
    stated = list[Metric[...]]()
    for one in each(metrics):
        if not isinstance(one, str | Metric):
            raise RecframeError(
                f"{shown(one)} is not a metric; write names or metric objects, as arguments or in a list: "
                "evaluate('ndcg@10', rf.recall @ 20)"
            )
        stated.append(_parsed(one) if isinstance(one, str) else one)
    if not stated:
        raise RecframeError(
            'no metric was requested; write for example evaluate("ndcg@10", "recall@20"); rf.list_metrics() has them all'
        )
    return at_cutoffs(stated, k)
