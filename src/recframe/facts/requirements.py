"""Which side frames and columns a metric lacks, said with the call that gives them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from recframe.errors import ColumnError
from recframe.facts import features
from recframe.facts.sides import Fact
from recframe.frames.inputs import Inputs


def missing(inputs: Inputs, needs: Iterable[str]) -> list[str]:
    """Return the side frames that are needed and not there; the catalogue is that of `items`, or of all items of `train`."""
    found = {name for name in ("train", "items", "users", "reference") if getattr(inputs, name) is not None}
    found |= {"relevance"} | ({"catalogue"} if found & {"train", "items"} else set())
    found |= {"propensity"} if "train" in found or inputs.context.propensity is not None else set()
    return [name for name in dict.fromkeys(needs) if name not in found]


def check(inputs: Inputs, metric: Any, facts: Iterable[Fact]) -> None:
    """Say which side frame a metric lacks, and show the call; or what is wrong with a feature that it names."""
    facts = list(facts)
    lacking = missing(inputs, (need for one in facts for need in one.builder.needs))
    if not lacking:
        for of, takes in dict.fromkeys((str(one.settings[0]), one.builder.takes) for one in facts if one.builder.takes):
            features.check(inputs, of, metric.name, takes)
        return
    titles = {
        "catalogue": "the items frame, or the train frame for its items",
        "reference": "a reference, which is a frame of lists or the name of a model",
        "propensity": "a column of propensities, rec(propensity='...'), or the train frame for the items' popularity",
    }
    frames = {"catalogue": "items", "propensity": "train"}
    said = " and ".join(titles.get(name, f"the {name} frame") for name in lacking)
    bound = [name for name in ("truth", "train", "items") if getattr(inputs, name) is not None]
    options = dict.fromkeys([*bound, *(frames.get(name, name) for name in lacking)])
    call = f"{'recs' if inputs.truth is not None else 'frame'}.rec({', '.join(f'{one}={one}' for one in options)})"
    cutoff = [] if metric.k is None else [f"k={metric.k}"]
    given = ", ".join([*cutoff, *(f"{name}={value!r}" for name, value in metric.settings)])
    msg = f"{metric.name} needs {said}: {call}.{metric.name}({given})"
    raise ColumnError(msg)
