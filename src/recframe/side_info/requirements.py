"""Checks for side frames and columns that a metric needs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from recframe.errors import ColumnError
from recframe.frames.hints import A_FRAME, NAMED, Either, FrameOf, SideFrame, bind
from recframe.frames.inputs import Frames
from recframe.side_info import features
from recframe.side_info.sources import Fact


def missing(inputs: Frames, needs: Iterable[str]) -> list[str]:
    """Return the needed side frames that are not bound; the catalogue comes from `items` or `train`."""
    found = {
        name
        for name in ("train", "items", "users", "reference")
        if getattr(inputs, name) is not None
    }
    found |= {"relevance"} | ({"catalogue"} if found & {"train", "items"} else set())
    found |= {"propensity"} if "train" in found or inputs.has_propensity else set()
    return [name for name in dict.fromkeys(needs) if name not in found]


def _without_items(metric: Any) -> ColumnError:
    """Return the error of a metric that needs item ids, where rows have none."""
    found = f"{metric.name} needs to know which rows are the same item, and {FrameOf('judged')} has no item ids"
    return ColumnError(f"{found}; name the column of the ids: {bind(item=NAMED)}")


def check_needs(inputs: Frames, metric: Any, facts: Iterable[Fact]) -> None:
    """Raise an error for a missing side frame, or for an unusable feature."""
    facts = list(facts)
    if inputs.known.rows_are_items and (facts or metric.definition.over_lists):
        raise _without_items(metric)
    lacking = missing(inputs, (need for fact in facts for need in fact.builder.needs))
    if not lacking:
        for of, takes in dict.fromkeys(
            (str(fact.settings[0]), fact.builder.takes) for fact in facts if fact.builder.takes
        ):
            features.check_feature(inputs, of, metric.name, takes)
        return
    titles = {
        "catalogue": f"{SideFrame('items')}, or {SideFrame('train')} for its items",
        "reference": f"{SideFrame('reference')}, which is a {A_FRAME} of lists or the name of a model",
        "propensity": f"a column of propensities, {bind(propensity=NAMED)}, or {SideFrame('train')} for the items' popularity",
    }
    frames = {"catalogue": "items", "propensity": "train"}
    said = " and ".join(titles.get(name, str(SideFrame(name))) for name in lacking)
    bound = [name for name in ("truth", "train", "items") if getattr(inputs, name) is not None]
    options = dict.fromkeys([*bound, *(frames.get(name, name) for name in lacking)])
    cutoff = [] if metric.k is None else [f"k={metric.k}"]
    given = ", ".join([*cutoff, *(f"{name}={value!r}" for name, value in metric.settings)])
    frame, bound_too = (
        "recs" if inputs.truth is not None else "frame",
        ", ".join(f"{option}={option}" for option in options),
    )
    call = Either(f": {frame}.rec({bound_too}).{metric.name}({given})")
    raise ColumnError(f"{metric.name} needs {said}{call}")
