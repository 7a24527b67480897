"""What a peer's answer to many cases is: a line of the recorded file, with a number for each case."""

from __future__ import annotations

from answers import _rounded, mean
from scenes_cases import N_CASES


def answer(scene, call, metric, found, *, sides=("truth",), bound=None, **others):
    """Return one line of the file.

    call: the peer's own name of the number, with its parameters; metric: the recframe metric that gives it, None of a call.
    found: {k: {case: value}}, k None for the whole list; a case that the peer has no number of is null.
    sides: which of the scene's frames `rec(...)` is told; bound: what it is told beside.
    others: profile, the library where several are asked in one environment; and what a number that is no metric is of. fused:
    what `rf.fuse` is told; a case is then the sum of score x number of the item.
    """
    values = {k: [_number(own.get(case)) for case in range(N_CASES)] for k, own in found.items()}
    line = {"scene": scene, "call": call, "metric": metric, "sides": list(sides), "k": list(found)}
    others = {"bound": bound, **others}
    return {
        **line,
        **{name: value for name, value in others.items() if value},
        "means": [_rounded(mean(own)) for own in values.values()],
        "values": [*values.values()],
    }


def of_fused(items):
    """Return what tells one fused list from others: the sum of score x number of the item."""
    return sum(score * int(item[1:]) for item, score in items.items())


def _number(value):
    return None if value is None or value != value else _rounded(value)  # noqa: PLR0124  NaN
