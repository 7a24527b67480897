"""What a peer's answer is: a line of the recorded file, and the recframe call that should give the same numbers.

What is as usual is left out of a line: every k of `scenes.KS`, no options, nothing bound, plain as metric, ten digits.
"""

from __future__ import annotations

import scenes

DIGITS = 10


def answer(  # noqa: PLR0913  the fields of a line
    scene,
    call,
    metric,
    values,
    *,
    users=None,
    profile=None,
    plain="",
    options=None,
    bound=None,
    decimals=DIGITS,
    catalogue=False,
):
    """Return one line of the file.

    call: the peer's own name of the number, with its parameters.
    metric: what should give it under the peer's profile; plain: what gives it without one, None where nothing does yet;
    options: what `rec(...)` must be told without the profile; bound: what it must be told beside it, about the data.
    decimals: how many the peer gives; catalogue: whether `rec(...)` is told the items, those of the lists and of the truth.
    values: {k: mean}, k None for the whole list; users: {k: {user: value}}, of which `scenes.moment` is kept.
    """
    line = {"scene": scene, "call": call, "profile": profile, "metric": metric}
    if plain != "":
        line["plain"] = plain
    if list(values) != list(scenes.KS):
        line["k"] = list(values)
    line["means"] = [_rounded(value) for value in values.values()]
    moments = [_rounded(scenes.moment(found)) for found in (users or {}).values()]
    others = {
        "moments": moments,
        "options": options,
        "bound": bound,
        "decimals": None if decimals == DIGITS else decimals,
        "catalogue": catalogue,
    }
    return {**line, **{name: value for name, value in others.items() if value}}


def mean(values):
    """Return the mean of the values that are there."""
    found = [value for value in values if value is not None]
    return sum(found) / len(found)


def _rounded(value):
    return float(f"{float(value):.{DIGITS}g}")
