"""Suspicious truths: joined with the lists, or with unused relevance columns."""

from __future__ import annotations

import re
from itertools import chain
from typing import Any

import polars as pl

from recframe.frames.inputs import Inputs
from recframe.frames.roles import Segment, Side, has_relevance
from recframe.frames.rows.joins import beside_one_another, joined
from recframe.ranking.relevance import is_rank, is_relevant_row

LEAST_USERS = 10
"""Minimum users; of fewer all relevant items may be listed by chance."""
NEARLY_ALL = 0.95
"""The share of lists of one length, and of users with one number of relevant items, that a fixed draw of items has."""
OF_ALL_ITEMS = 0.8
"""A list with so large a share of the truth's items is one of all items but those of the user's history."""


def listed_truth(inputs: Inputs, users: pl.Series | None = None) -> pl.LazyFrame:
    """Return one row, `users` and `rows`, where lists have every relevant row of a truth; none where that may be meant.

    It is meant of lists of nearly all items, and of sampled ones: all of one length, with one number of relevant items. Of
    some users, where these are given.
    """
    keys = [*inputs.inside("row"), "user"]
    truth = inputs.counted("truth").filter(is_relevant_row(inputs)).select(*keys, "item").unique()
    lists = ranked(inputs)
    if users is not None:
        truth, lists = (one.filter(pl.col("user").is_in(users.implode())) for one in (truth, lists))
    n, items = pl.len(), truth.select("item").unique()
    by_list = lists.group_by(*inputs.model, *keys).agg(length=n)
    shares = lists.join(items, on="item", how="semi").group_by(*inputs.model, *keys)
    counts = [
        truth.select(users=pl.col("user").n_unique(), rows=n),
        truth.join(lists, on=[*keys, "item"], how="anti", nulls_equal=True).select(missing=n),
        items.select(items=n),
        shares.agg(known=pl.col("item").n_unique()).select(pl.col("known").median()),
        joined(by_list, truth.group_by(keys).agg(relevant=n), keys).select(is_drawn=_are_drawn()),
    ]
    is_joined = (
        (pl.col("missing") == 0)
        & (pl.col("users") >= LEAST_USERS)
        & (pl.col("known") < OF_ALL_ITEMS * pl.col("items"))
        & ~pl.col("is_drawn")
    )
    return beside_one_another(counts).filter(is_joined).select("users", "rows")


def ranked(inputs: Inputs) -> pl.LazyFrame:
    """Return the rows of the lists that have a rank or a score."""
    rows = inputs.identified("recommendations")
    if inputs.scored:
        return rows
    return rows.filter(is_rank(pl.col("rank"), inputs.schema["rank"]))


def _are_drawn() -> pl.Expr:
    """Return whether lists have one length and one number of relevant items, as those of a fixed number of drawn items."""
    shares = [
        (column == column.median()).mean() for column in (pl.col("length"), pl.col("relevant"))
    ]
    shares += [pl.col("relevant").is_not_null().mean()]
    return (pl.min_horizontal(shares) >= NEARLY_ALL).fill_null(value=False)


SOME = 1_000
"""Rows at the start of a column that mostly show numbers other than 0 and 1."""
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
    """Return the columns of numbers and Booleans of a truth that no role and no segment has, under names inside a plan."""
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
    names = [name for name in truth.kind.numbers() if name not in used]
    return [Segment(f"unbound {place}", name, "truth") for place, name in enumerate(names)]


def are_two_values(values: pl.Series) -> bool:
    """Return whether a column has exactly the values 0 and 1, or False and True.

    NOTE: most columns are told by their first rows; the smallest and the largest number take a tenth of a count of values.
    """
    if values.dtype == pl.Boolean:
        return bool(values.any()) and not values.all()
    if not _are_bits(values.head(SOME)) or values.min() != 0 or values.max() != 1:
        return False
    return values.dtype.is_integer() or _are_bits(values)


def _are_bits(values: pl.Series) -> bool:
    return bool(((values == 0) | (values == 1)).all())


def is_called_as_grades(name: str) -> bool:
    """Return whether a column's name is one of grades: `rating`, `Book-Rating`, but not `n_ratings`."""
    words = [word.casefold() for word in _WORD.findall(name)]
    if words[-2:] == ["y", "true"]:
        return True
    while words and (words[-1] in BEHIND or words[-1].isdecimal()):
        words.pop()
    return bool(words) and words[-1] in GRADES and NO_GRADES.isdisjoint(words)


def bounds_of(values: pl.Series) -> tuple[Any, Any]:
    """Return the smallest and the largest of some numbers."""
    return values.min(), values.max()


def may_be_grades(values: pl.Series) -> bool:
    """Return whether a column's numbers may be grades: several small ones, and not only 0 and 1."""
    lowest, highest = bounds_of(values)
    if values.dtype == pl.Boolean or lowest is None:
        return False
    return -FURTHEST <= lowest < highest <= FURTHEST and not are_two_values(values)
