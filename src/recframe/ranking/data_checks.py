"""Data checks: lazy rows that fail, and the judged frame behind them."""

from __future__ import annotations

import math
from collections.abc import Iterator

import polars as pl

from recframe.errors import RecframeError, fails_whole_if
from recframe.frames.hints import FrameOf, Given, bind
from recframe.frames.inputs import Inputs
from recframe.frames.roles import Segment
from recframe.frames.rows.joins import beside_one_another
from recframe.ranking.judged_frame import PAIR, Judged
from recframe.ranking.relevance import (
    INFINITE_RELEVANCE,
    RANK_BELOW_1,
    STEEP_RELEVANCE,
    STEEPEST,
    WITHOUT_MODEL,
    lacks_model,
    may_lack_models,
)

FIRST_INEXACT = 2.0**53
FLOAT_IDS = "{} has ids that are floats from 2^53 up, where two ids may have become one; read the column as integers or text"


def after_checks(
    rows: pl.LazyFrame,
    judged: Judged,
    number: str,
    dtype: pl.DataType | type[pl.DataType],
    *,
    steep: bool,
) -> pl.LazyFrame:
    """Return rows in no certain column order, after checks that fail when the plan runs and the data breaks a rule.

    `number` names a column of numbers that the rows have, of a dtype.

    NOTE: the checks stand before the rows, as rows of a column of numbers that are filtered out again. Joined with the rows
    they would not run where there are none, as in a part of the users that has no user.
    """
    checks = [
        check.rename({"check": f"check {place}"})
        for place, check in enumerate(_checks(judged, steep=steep))
    ]
    if not checks:
        return rows
    passed = beside_one_another(checks).select(
        pl.sum_horizontal(pl.all()).cast(dtype).alias(number)
    )
    return pl.concat([passed.filter(pl.col(number) != 0), rows], how="diagonal")


def _checks(judged: Judged, *, steep: bool) -> list[pl.LazyFrame]:
    """Return one-row frames that fail when the plan runs, for errors that no schema shows."""
    rank, relevance = pl.col("rank"), pl.col("relevance")
    highest = relevance.cast(pl.Float64).max()
    found = [*_of_models(judged), *judged.inputs.checks, *_of_float_ids(judged.inputs)]
    source = judged.inputs.identified("truth")
    if steep:
        found.append(source.select(check=fails_whole_if(highest > STEEPEST, STEEP_RELEVANCE)))
    if judged.precomputed.checked:
        return [*found, *_of_segments(judged)]
    if judged.context.strict:  # the audit's errors, which have what follows among them
        return found
    if not (judged.inputs.scored or judged.inputs.ranks_hold):
        below = rank < 1
        if judged.inputs.schema["rank"].is_float():
            below &= rank > -math.inf  # which is no rank
        found.append(judged.inputs.check("recommendations", below, str(RANK_BELOW_1)))
    if judged.inputs.relevance_dtype.is_float():
        found.append(source.select(check=fails_whole_if(highest == math.inf, INFINITE_RELEVANCE)))
    return [*found, *_of_segments(judged)]


def _of_models(judged: Judged) -> list[pl.LazyFrame]:
    """Return the check of models, which comes first: where some rows have none, others would say that there are too few."""
    inputs = judged.inputs
    if judged.precomputed.checked or judged.context.strict or not may_lack_models(inputs):
        return []
    message = WITHOUT_MODEL.format(judged.context.model)
    return [inputs.check("recommendations", lacks_model(inputs), message)]


def _of_float_ids(inputs: Inputs) -> Iterator[pl.LazyFrame]:
    """Give the checks of ids that are floats, which hold each whole number up to 2^53 alone."""
    for name in ("lists", "truth", "users", "items", "train", "reference"):
        rows = getattr(inputs, name)
        schema = {} if rows is None or isinstance(rows, str) else rows.collect_schema()
        for role in PAIR:
            if role in schema and schema[role].is_float():
                found = f"{FrameOf('recommendations' if name == 'lists' else name)}, column {inputs.context.names[role]!r}"
                wrong = (pl.col(role).cast(pl.Float64).abs() >= FIRST_INEXACT).any()
                yield rows.select(check=fails_whole_if(wrong, FLOAT_IDS.format(found)))


def _of_segments(judged: Judged) -> list[pl.LazyFrame]:
    """Return the checks of properties of users that the lists alone have."""
    frame = judged.inputs.counted("recommendations")
    segments = (segment for segment in judged.inputs.segments if segment.owner == "recommendations")
    return [_two_values(frame, segment) for segment in segments]


def _two_values(frame: pl.LazyFrame, segment: Segment) -> pl.LazyFrame:
    message = (
        f"{Given('by', segment.name)}: a user has two values of this column, so it is not a property of the user. If it "
        f"names systems, write {bind(model=repr(segment.name))}; if it describes items, give it as {bind(items='...')}; if "
        "it cuts lists and truth into parts, such as weeks, give the truth the column too: each part is then a list"
    )
    pairs = frame.select("user", segment.inside).drop_nulls().unique()
    return pairs.select(check=fails_whole_if(pl.col("user").n_unique() < pl.len(), message))


def as_frame(judged: Judged) -> pl.LazyFrame:
    """Return the judged frame under the bound column names, after the same checks as a metric."""
    if judged.sharing is not None:
        of_ties = {
            "expected": "none for tied items",
            "last": "one for all items of a tie together",
        }[judged.sharing]
        msg = f"judge() gives each item one rank, and ties={judged.sharing!r} has {of_ties}; write another ties= for it"
        raise RecframeError(msg)
    names = {
        role: judged.context.names[role]
        for role in [*judged.model, "user", "item", "rank", "relevance"]
    }
    frame = judged.frame()
    frame = after_checks(frame, judged, "rank", frame.collect_schema()["rank"], steep=False)
    return frame.select(pl.col(role).alias(name) for role, name in names.items())
