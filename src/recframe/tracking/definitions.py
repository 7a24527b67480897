"""Definitions of tracked numbers: the metric in full, the policies it is under, and whose columns cut it into parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from recframe.errors import RecframeError
from recframe.frames.context import DEFAULTS
from recframe.frames.inputs import Inputs
from recframe.frames.plain_numbers import plain_number
from recframe.metrics.language.registry import parse
from recframe.plan.evaluation import Convention

PARTS = "; by "
"""What stands before the columns that filter rows, items or the truth.

NOTE: runs tracked before `by=` was a filter do not say it, so that their numbers are not taken for those of a filter. Columns
of users are never named: their numbers are what they were.
"""
OTHER_PARTS = "its parts were made in another way before by= was a filter"
"""The note of numbers whose earlier runs are not compared, since the same columns cut them otherwise."""
FILTERED = {
    "row": "rows",
    "items": "items",
    "item": "items",
    "role": "items",
    "truth": "the truth",
}
"""The words for what a `by` column filters, by whose property it is; the model and users have none."""


def definitions(conventions: Sequence[Convention], inputs: Inputs) -> dict[str, str]:
    """Return what each metric stands for, by its string: all of its parameters, the policies it is under, and its parts."""
    parts = _parts(inputs)
    return {
        str(one.metric): f"{one.metric.in_full}; {_policies(one)}{parts}" for one in conventions
    }


def _policies(convention: Convention) -> str:
    context = convention.context
    given = {name: getattr(context, name) for name in DEFAULTS}
    if context.universe is None and context.truth is None:
        # every user of a judged frame counts
        del given["universe"]
    elif context.universe is None:
        given["universe"] = DEFAULTS["universe"]
    return _written(given | {"profile": context.profile})


def _written(policies: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in policies.items() if value is not None)


def _parts(inputs: Inputs) -> str:
    """Return the columns that filter rows, items or the truth, in the order of their names."""
    found = [
        f"{one.name!r} of {FILTERED[one.owner]}"
        for one in sorted(inputs.segments, key=lambda one: one.name)
        if one.owner in FILTERED and one.inside not in {"user", "model", *inputs.units}
    ]
    return f"{PARTS}{', '.join(found)}" if found else ""


def read_definition(definition: str) -> str:
    """Return a definition as it is written now, whichever version wrote it: 4.0 is 4, and what it did not know its default.

    Of a metric that nobody knows now the parameters stay as they are.
    """
    whole, by, parts = definition.partition(PARTS)
    metric, about, policies = whole.rpartition("; ")
    if not about:
        # a result at hand, of which nothing but the metric is known
        return definition
    given = dict(one.partition("=")[::2] for one in policies.split(", "))
    known = {name: value for name, value in DEFAULTS.items() if name != "universe"} | given
    ordered = {name: known.pop(name) for name in DEFAULTS if name in known} | known
    return f"{_in_full(metric)}{about}{_written(_plain(ordered))}{by}{parts}"


def _in_full(metric: str) -> str:
    try:
        return parse(metric).in_full
    except RecframeError:
        return metric


def _plain(policies: Mapping[str, object]) -> dict[str, object]:
    """Return policies whose numbers are in the one form that equal ones have."""
    return {name: _number(value) for name, value in policies.items()}


def _number(value: object) -> object:
    try:
        number = plain_number(float(value)) if isinstance(value, str) else None
    except ValueError:
        return value
    return value if number is None else number


def without_parts(definition: pl.Expr) -> pl.Expr:
    """Return definitions without the columns that cut their numbers into parts."""
    return definition.str.replace(rf"{PARTS}.*$", "")


def as_now(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of a history with their definitions as they are written now."""
    known = rows["definition"].drop_nulls().unique().to_list()
    now = [read_definition(one) for one in known]
    return rows.with_columns(pl.col("definition").replace(known, now))
