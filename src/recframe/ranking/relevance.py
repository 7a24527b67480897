"""Row predicates: relevant, ranked, of a model; and gains."""

from __future__ import annotations

from typing import Literal

import polars as pl

from recframe.frames.hints import Either, text
from recframe.frames.inputs import Inputs
from recframe.frames.rows.integer_keys import SMALL_INTEGERS


def is_relevant_row(inputs: Inputs) -> pl.Expr:
    """Return whether a row of the frame that has the relevance is relevant."""
    return is_relevant(pl.col("relevance"), inputs.context.min_relevance, inputs.relevance_dtype)


def gain_of(inputs: Inputs) -> pl.Expr:
    """Return the gain of a relevant row, 0 for a negative relevance."""
    gain = as_number("relevance", inputs.relevance_dtype)
    return (
        gain if inputs.context.min_relevance != "any" else pl.when(gain > 0).then(gain).otherwise(0)
    )


def as_number(name: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column as Int64 where that holds all its values, else as Float64."""
    wide = pl.Int64 if dtype in SMALL_INTEGERS else pl.Float64
    return pl.col(name) if dtype == wide else pl.col(name).cast(wide)


RANK_BELOW_1 = text(
    "a rank is below 1, but ranks start at 1; if they count from 0, add 1 to them",
    Either(
        ": frame.with_columns(pl.col('rank') + 1), or pandas_frame['rank'] += 1", " in the file"
    ),
)
WITHOUT_MODEL = (
    "a ranked row has no model: the column {!r} is null or NaN there; "
    "give each ranked row the name of its model, or drop it"
)
INFINITE_RELEVANCE = "a relevance is infinite; replace it with the highest grade"
STEEP_RELEVANCE = (
    "a relevance is above 1000, too steep for gain='exp' (2^relevance - 1); write gain='linear'"
)
STEEPEST = 1000


def is_relevant(
    relevance: pl.Expr,
    at_least: float | Literal["any"] | None = None,
    dtype: pl.DataType | None = None,
) -> pl.Expr:
    """Return whether a relevance counts as relevant: above 0, from `at_least` up, or any; null and NaN never do.

    With the dtype known, the condition is the plain one that a scan can evaluate.
    """
    if dtype is not None and dtype.is_integer() and at_least is None:
        return relevance > 0
    # A threshold is compared in the column's own precision: 0.7 as Float32 is at least 0.7.
    value = relevance if dtype is not None and dtype.is_float() else relevance.cast(pl.Float64)
    if at_least == "any":
        return value.is_not_nan().fill_null(value=False)
    return (value > 0 if at_least is None else value >= at_least) & value.is_not_nan()


def is_rank(rank: pl.Expr, dtype: pl.DataType | None = None) -> pl.Expr:
    """Return whether a rank puts its item into the list; null, NaN and infinite ranks do not."""
    if dtype is not None and dtype.is_integer():
        return rank.is_not_null()
    return rank.is_not_null() & rank.cast(pl.Float64).is_finite()


def best_rank(rank: pl.Expr, relevant: pl.Expr) -> pl.Expr:
    """Return an item's best rank: that of its relevant rows, or if none of these has one, that of all its rows."""
    return rank.filter(relevant).min().fill_null(rank.min())


def rows_of_models(inputs: Inputs) -> pl.LazyFrame:
    """Return the model of each row that names one; a judged row may name none, and is then one of all models."""
    if inputs.models is not None:
        return inputs.models
    named = pl.col("model").is_not_null()
    if inputs.all_users is not None:
        return named_models(inputs).filter(named)
    return inputs.identified("recommendations", where=named).select("model")


def named_models(inputs: Inputs) -> pl.LazyFrame:
    """Return the models of all users, of whom a plan has some; null where a ranked row names none."""

    def models() -> pl.LazyFrame:
        wanted = pl.col("model").is_not_null() | lacks_model(inputs)
        return inputs.identified("recommendations", where=wanted).select("model").unique()

    of_lists = ("models", inputs.schema["model"], inputs.context.without)
    return inputs.added(of_lists, models, ["model"])


def may_lack_models(inputs: Inputs) -> bool:
    """Return whether a model is bound and a ranked row may have none, as far as eager data shows."""
    lists = inputs.given.get("recommendations")
    if not inputs.model or lists is None:
        return bool(inputs.model)
    return bool(lists["model"].null_count()) and lists.select(lacks_model(inputs).any()).item()


def lacks_model(inputs: Inputs) -> pl.Expr:
    """Return whether a ranked list row has no model; each row with a score is ranked."""
    unnamed = pl.col("model").is_null()
    return unnamed if inputs.scored else unnamed & is_rank(pl.col("rank"), inputs.schema["rank"])
