"""Columns of a truth that may be its relevance."""

from __future__ import annotations

import re
from itertools import chain

import polars as pl

from recframe.frames.inputs import Inputs
from recframe.frames.roles import Segment, Side, has_relevance

SOME = 1_000
"""Rows at the start of a column that mostly show values that are no relevance."""
GRADES = {"rating", "ratings", "star", "stars", "grade", "grades", "label", "labels", "rel", "qrel"}
GRADES |= {"relevance", "relevances", "relevancy", "score", "scores", "target", "targets"}
GRADES |= {"gain", "gains", "judgement", "judgements", "judgment", "judgments", "feedback"}
GRADES |= {"preference", "preferences", "overall"}
"""Names of grades: the last word of a column's name."""
NO_GRADES = {"n", "num", "number", "count", "total", "sum", "avg", "average", "mean", "median"}
NO_GRADES |= {"min", "max", "std", "age", "credit", "popularity", "pred", "predicted"}
"""Preceding words that make it another quantity, such as a count or a mean of ratings."""
BEHIND = {"value", "values", "given", "raw", "x", "y"}
"""Trailing words without meaning, such as the suffixes of pandas' merge."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
FURTHEST = 100
"""Largest absolute value of a grade: stars, tenths and per cents are within it."""


def truth_without_relevance(inputs: Inputs) -> Side | None:
    """Return the truth of a call where nobody said what is relevant, so that each row counts; None where it was said."""
    side, context = inputs.sides.get("truth"), inputs.context
    if side is None or side.kind.frame is inputs.sides["recommendations"].kind.frame:
        return None
    was_said = side.context.relevance is False or context.min_relevance == "any"
    return None if was_said or has_relevance(side) else side


def unbound_columns(inputs: Inputs, truth: Side) -> list[Segment]:
    """Return the columns of a truth that may be a relevance, which no role and no segment has, each as `value`."""
    context = truth.context
    named = ("model", "propensity", "weight")
    roles = ["user", "item", *(one for one in named if getattr(context, one) is not None)]
    used = {context.names[role] for role in roles} | {segment.name for segment in inputs.segments}
    made = chain.from_iterable(
        segment.made.roots for segment in inputs.segments if segment.made is not None
    )
    used |= {truth.root(root) or root for root in made}
    if used.issuperset(truth.columns):
        return []
    numbers = truth.kind.numbers()
    texts = [name for name in truth.kind.labels() if name not in numbers]
    # any text may be an answer, so that its name must say so, or nothing else stand beside the ids
    is_alone = len({*truth.columns} - used) == 1
    texts = [name for name in texts if is_alone or is_called_as_grades(name)]
    names = [name for name in (*numbers, *texts) if name not in used]
    names.sort(key=lambda name: not is_called_as_grades(name))
    return [Segment("value", name, "truth") for name in names]


def is_called_as_grades(name: str) -> bool:
    """Return whether a column's name is one of grades: `rating`, `Book-Rating`, but not `n_ratings`."""
    words = [word.casefold() for word in _WORD.findall(name)]
    if words[-2:] == ["y", "true"]:
        return True
    while words and (words[-1] in BEHIND or words[-1].isdecimal()):
        words.pop()
    return bool(words) and words[-1] in GRADES and NO_GRADES.isdisjoint(words)


ANSWERS = {"true": "1", "yes": "1", "y": "1", "t": "1", "false": "0", "no": "0", "n": "0", "f": "0"}
"""Texts that answer whether a row counts."""


def as_number(dtype: pl.DataType) -> pl.Expr:
    """Return the values of a column as numbers: those of text where it is an answer or a number, null otherwise."""
    value = pl.col("value")
    if dtype.is_numeric() or dtype == pl.Boolean:
        return value.cast(pl.Float64)
    words = value.cast(pl.String).str.strip_chars().str.to_lowercase()
    return words.replace(ANSWERS).cast(pl.Float64, strict=False)
