"""What a peer's answer beyond accuracy is: a line of the recorded file, and the recframe call that should give the same."""

from __future__ import annotations

from answers import _rounded
from scenes import moment


def answer(scene, call, metric, values, *, users=None, sides=("train",), factor=None):  # noqa: PLR0913  the fields of a line
    """Return one line of the file.

    call: the peer's own name of the number, with its parameters; metric: the recframe metric that gives it.
    values: {k: mean}; users: {k: {user: value}}, of which `scenes.moment` is kept.
    sides: which of the scene's frames `rec(...)` is told; "items of train" are the items that train has.
    factor: {k: number} that the peer's mean is multiplied by, where its definition is another one by that.
    """
    means = [_rounded(value * (factor or {}).get(k, 1)) for k, value in values.items()]
    line = {
        "scene": scene, "call": call, "metric": metric, "sides": list(sides), "k": list(values),
        "means": means,
    }  # fmt: skip
    return {
        **line,
        **({"moments": [_rounded(moment(own)) for own in users.values()]} if users else {}),
    }
