"""Names that neither `rec` nor the package has: what is meant by them, and how that is written."""

from __future__ import annotations

from collections.abc import Iterable

from recframe.errors import suggestion
from recframe.metrics.language import registry
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
    msg = f"rec has no method {name!r}"
    if name.casefold() in MEANT:
        return f"{msg}; {MEANT[name.casefold()]}"
    if told := registry.elsewhere(name):
        return f"{msg}; {told}"
    known = [*registry.registered(), *methods]
    # a method in other letters is a typo of it, and no metric's alias
    if close := suggestion(name, known, closeness=0.99):
        return msg + close
    if meant := registry.spelled(name):
        cut = [] if meant.k is None else [f"k={meant.k}"]
        settings = [f"{one}={value!r}" for one, value in meant.settings]
        call = f"{meant.name}({', '.join([*cut, *settings])})"
        return f"{msg}; that is {call!r}"
    return msg + (suggestion(name, known) or "; rf.list_metrics() has the metrics")


def no_attribute(name: str, names: Iterable[str]) -> str:
    """Return the words on a name that the package does not have."""
    msg = f"module 'recframe' has no attribute {name!r}"
    if name.casefold() in OVER_TIME:
        return f"{msg}; {OVER_TIME[name.casefold()]}"
    if name in METHODS:
        return f"{msg}; a frame is asked: frame.rec.{name}({METHODS[name]})"
    if told := registry.elsewhere(name):
        return f"{msg}; {told}"
    if close := suggestion(name, names, closeness=0.99):
        return msg + close
    if meant := registry.spelled(name):
        cut = "" if meant.k is None else f" @ {meant.k}"
        written = f"rf.{meant.in_python}{cut}"
        return f"{msg}; that is {written!r}"
    return msg + suggestion(name, names)
