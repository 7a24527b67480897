"""Names that neither `rec` nor the package has: what is meant by them, and how that is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from recframe.errors import suggestion
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.namespace.calls import METHODS

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
"""What others call something that is done with a history, with the call that does it."""
MEANT = {
    **OVER_TIME,
    "history": _HISTORY,
    **dict.fromkeys(("test", "ttest", "t_test", "significance", "significant", "wilcoxon"), _TESTS),
    **dict.fromkeys(
        ("ci", "interval", "intervals", "confidence_interval", "bootstrap"), _INTERVALS
    ),
    **dict.fromkeys(("gate", "check", "assert_", "require_that"), _GATES),
}
"""What others call a method, with the call that does it."""


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
        told = f"a frame is asked: frame.rec.{name}({METHODS[name]})"
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
